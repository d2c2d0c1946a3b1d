//! What has one exchange to do with the others? Messages that belong to the request of another one, and those that came
//! on several streams.

use crate::wire::events::Event;
use crate::wire::{Id, Json, Message, Reading};
use std::collections::HashMap;

/// What the messages of one exchange say.
pub(super) struct Said {
    pub ours: Option<Reading>,
    /// What each JSON body, and each event with a message, is as a whole.
    pub documents: Vec<&'static str>,
    pub messages: Vec<(Message, Json)>,
    pub events: Vec<Event>,
    /// Notifications, and how often each came just so.
    pub notices: HashMap<String, usize>,
    /// The exchange whose stream it takes up again.
    pub resumes: Option<usize>,
    /// Its first and its last entry.
    pub began: u64,
    pub ended: u64,
}

impl Said {
    fn id(&self) -> Option<&Id> {
        self.ours.as_ref()?.message.as_ref()?.id()
    }

    fn token(&self) -> Option<&Json> {
        match self.ours.as_ref()?.message.as_ref()? {
            Message::Request { params: Some(params), .. } => params.pointer("/_meta/progressToken"),
            _ => None,
        }
    }

    /// Whether both were open at some time.
    fn overlaps(&self, other: &Self) -> bool {
        self.began < other.ended && other.began < self.ended
    }

    pub fn has_event_id(&self, id: &str) -> bool {
        self.events.iter().any(|event| event.id.as_deref() == Some(id))
    }
}

/// How many messages in an exchange belong to the request of another one: answers to it, and its progress, where it
/// has a stream of its own. What comes on a stream that is taken up again belongs to the first of it.
pub(super) fn strays(all: &[Said], at: usize) -> usize {
    let mut own = at;
    while let Some(earlier) = all[own].resumes {
        own = earlier;
    }
    let belongs_elsewhere = |(message, _): &&(Message, Json)| match message {
        Message::Result { .. } | Message::Error { .. } => {
            let id = message.id();
            id.is_some() && id != all[own].id() && all.iter().any(|said| said.id() == id)
        }
        Message::Notification { method, params: Some(params) } if method == "notifications/progress" => {
            let token = params.get("progressToken");
            let has_stream =
                |said: &Said| token.is_some() && said.token() == token && !said.events.is_empty();
            token != all[own].token() && all.iter().any(has_stream)
        }
        _ => false,
    };
    all[at].messages.iter().filter(belongs_elsewhere).count()
}

/// How many notifications in an exchange came just so on another stream as well that was open beside it: counting alike
/// ones as often as they came on both.
pub(super) fn shared(all: &[Said], at: usize) -> usize {
    let own = &all[at].notices;
    if own.is_empty() || all[at].resumes.is_some() {
        return 0;
    }
    let is_beside = |said: &Said| said.resumes.is_none() && said.overlaps(&all[at]);
    let others = all.iter().enumerate().filter(|(other, said)| *other != at && is_beside(said));
    let on_both = others
        .map(|(_, said)| own.iter().map(|(text, n)| said.notices.get(text).map_or(0, |m| *n.min(m))).sum());
    on_both.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::Exchanges;
    use crate::transcript::{Channel, Ending, Entry};
    use crate::wire::Json;
    use std::time::Duration;

    /// A conversation: exchange, channel, text.
    fn entries(entries: &[(u64, Channel, &str)]) -> Vec<Entry> {
        let entry = |(sequence, (exchange, channel, text)): (u64, &(u64, Channel, &str))| Entry {
            sequence,
            at: Duration::ZERO,
            channel: *channel,
            bytes: text.as_bytes().to_vec(),
            exchange: Some(*exchange),
            ending: Ending::None,
            case: None,
            deliberate: false,
            exit: None,
        };
        (1..).zip(entries).map(entry).collect()
    }

    fn view(told: &[(u64, Channel, &str)], number: u64, pointer: &str) -> Option<Json> {
        let entries = entries(told);
        let exchanges = Exchanges::of(&entries);
        let (_, view) = exchanges.view_of(number)?;
        view.pointer(pointer).cloned()
    }

    const EVENTS: &str = "200\ncontent-type: text/event-stream";
    const UPDATED: &str =
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#;

    #[test]
    fn a_message_is_astray_on_the_stream_of_another_request() {
        let ask = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:b","_meta":{"progressToken":"t"}}}"#;
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let mut entries = vec![
            (1, Channel::Request, "POST /mcp"),
            (1, Channel::Stdin, ask),
            (1, Channel::Response, EVENTS),
            (1, Channel::Body, "id: 7\ndata:\n\n"),
            (2, Channel::Request, "GET /mcp"),
            (2, Channel::Response, EVENTS),
            (2, Channel::Stdout, progress),
            (2, Channel::Stdout, answer),
        ];
        assert_eq!(view(&entries, 2, "/strays"), Some(Json::from(2_u64)));
        assert_eq!(view(&entries, 1, "/strays"), Some(Json::from(0_u64)));
        // Who takes the stream up again gets what belongs to it.
        entries[4].2 = "GET /mcp\nlast-event-id: 7";
        assert_eq!(view(&entries, 2, "/strays"), Some(Json::from(0_u64)));
        // Without a stream of its own, progress has to go somewhere.
        entries[3].2 = "";
        entries[4].2 = "GET /mcp";
        assert_eq!(view(&entries, 2, "/strays"), Some(Json::from(1_u64)));
    }

    #[test]
    fn what_comes_on_two_streams_is_shared_as_often_as_on_both() {
        let entries = [
            (1, Channel::Request, "GET /mcp"),
            (1, Channel::Response, EVENTS),
            (2, Channel::Request, "GET /mcp"),
            (2, Channel::Response, EVENTS),
            (1, Channel::Stdout, UPDATED),
            (2, Channel::Stdout, UPDATED),
            (1, Channel::Stdout, UPDATED),
        ];
        assert_eq!(view(&entries, 1, "/shared"), Some(Json::from(1_u64)));
        assert_eq!(view(&entries, 2, "/shared"), Some(Json::from(1_u64)));
        assert_eq!(view(&entries[..5], 1, "/shared"), Some(Json::from(0_u64)));
        assert_eq!(view(&entries, 2, "/listening"), Some(Json::from(true)));
        assert_eq!(view(&entries, 1, "/listening"), Some(Json::from(false)));
        assert_eq!(view(&entries, 1, "/reopens"), Some(Json::from(false)));
    }

    #[test]
    fn a_stream_is_spent_once_it_has_ended_without_a_name() {
        let is_spent = |body, ending| {
            let entries = entries(&[
                (1, Channel::Request, "POST /mcp"),
                (1, Channel::Stdin, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
                (1, Channel::Response, EVENTS),
                (1, Channel::Body, body),
                (1, Channel::Closed, ending),
            ]);
            Exchanges::of(&entries).is_spent(1)
        };
        assert!(is_spent("data:\n\n", "") && is_spent("data:\n\n", "broken: reset"));
        assert!(!is_spent("id: 1\ndata:\n\n", "") && !is_spent("data:\n\n", "abandoned"));
    }

    #[test]
    fn one_stream_after_the_other_shares_nothing() {
        let entries = [
            (1, Channel::Request, "GET /mcp"),
            (1, Channel::Response, EVENTS),
            (1, Channel::Stdout, UPDATED),
            (1, Channel::Closed, ""),
            (2, Channel::Request, "GET /mcp"),
            (2, Channel::Response, EVENTS),
            (2, Channel::Stdout, UPDATED),
        ];
        assert_eq!(view(&entries, 1, "/shared"), Some(Json::from(0_u64)));
        assert_eq!(view(&entries, 2, "/shared"), Some(Json::from(0_u64)));
        assert_eq!(view(&entries, 2, "/listening"), Some(Json::from(false)));
        assert_eq!(view(&entries, 2, "/reopens"), Some(Json::from(true)));
    }

    #[test]
    fn a_request_is_cancelled_by_its_id_and_a_body_is_told_as_a_whole() {
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let entries = [
            (1, Channel::Request, "POST /mcp"),
            (1, Channel::Stdin, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            (1, Channel::Response, "200\ncontent-type: application/json"),
            (1, Channel::Stdout, "[]"),
            (2, Channel::Request, "POST /mcp"),
            (2, Channel::Stdin, cancel),
            (1, Channel::Stdout, "{} {}"),
        ];
        assert_eq!(view(&entries, 1, "/cancelled"), Some(Json::from(true)));
        assert_eq!(view(&entries, 2, "/cancelled"), Some(Json::from(false)));
        assert_eq!(view(&entries, 1, "/documents/0"), Some(Json::from("array")));
        assert_eq!(view(&entries, 1, "/documents/1"), Some(Json::from("broken")));
    }
}
