//! What is each message of a conversation about? Which request an answer belongs to, which subscription a
//! notification serves, who ended the process: the facts that standing cases check beside the message itself.

use super::exchanges::Exchanges;
use super::requests::{Asked, Requests};
use super::subscriptions::{Subscriptions, filter_asks, uri_of};
use crate::case::model::Subject;
use crate::dialect::META_SUBSCRIPTION;
use crate::transcript::{Channel, Ending, Entry, Exit, Transcript};
use crate::wire::{self, Id, Json, Limits, Message, Object, Reading, json};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// One thing that a standing case can look at.
pub struct Observed<'a> {
    pub kind: Kind,
    /// The method that `on: {...: METHOD}` selects by.
    pub method: Option<&'a str>,
    pub value: &'a Json,
    pub facts: &'a Arc<Json>,
    /// The params of the request that this answers.
    pub request: Option<&'a Arc<Json>>,
    /// The entry of the request that this answers, or that it is.
    pub sent: Option<u64>,
    /// The entry that it came in.
    pub got: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Frame,
    Message,
    Result,
    Error,
    Notification,
    Request,
    Exchange,
    Http,
    Session,
}

impl Observed<'_> {
    pub fn is_meant_by(&self, subject: &Subject) -> bool {
        let (kind, method) = match subject {
            Subject::Frame => (Kind::Frame, &None),
            Subject::Message => (Kind::Message, &None),
            Subject::ResultOf(method) => (Kind::Result, method),
            Subject::ErrorOf(method) => (Kind::Error, method),
            Subject::Notification(method) => (Kind::Notification, method),
            Subject::Request(method) => (Kind::Request, method),
            Subject::Exchange(method) => (Kind::Exchange, method),
            Subject::Http => (Kind::Http, &None),
            Subject::Session => (Kind::Session, &None),
        };
        self.kind == kind && method.as_deref().is_none_or(|method| self.method == Some(method))
    }
}

/// How long an answer may take before its absence is silence.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For the answer to an ordinary request.
    pub request: Duration,
    /// As long as nothing has come from the server: it may still be starting.
    pub start: Duration,
}

/// Walks a transcript.
///
/// `meet` is called for every observation, in order of arrival; exchanges and the session come last.
///
/// Exchanges over HTTP are put together only where somebody `looks_at_http`.
pub fn walk(
    transcript: &Transcript,
    patience: Patience,
    looks_at_http: bool,
    mut meet: impl FnMut(&Observed<'_>),
) {
    let mut conversation = Conversation::new(transcript.head.revision.is_stateless());
    let mut exchanges = Exchanges::default();
    for entry in &transcript.entries {
        if looks_at_http {
            exchanges.take(entry);
        }
        match entry.channel {
            Channel::Stdin => conversation.take_sent(entry),
            Channel::Stdout => {
                conversation.first_heard.get_or_insert(entry.at);
                // What comes once more to who takes up a stream says nothing new.
                if !conversation.replays.repeats(entry) {
                    conversation.take_line(entry, &mut meet);
                }
            }
            Channel::EndOfInput => conversation.input_ended = true,
            Channel::EndOfOutput => conversation.output_ended_early |= !conversation.input_ended,
            Channel::Exit => conversation.take_exit(entry),
            Channel::Response => conversation.take_status(entry),
            Channel::Closed => conversation.requests.close(entry),
            Channel::Request => {
                conversation.requests.leave(entry);
                conversation.replays.begin(entry);
            }
            Channel::Stderr | Channel::Body => {}
        }
        conversation.last = entry.at;
    }
    conversation.close(patience, &exchanges, &mut meet);
}

#[derive(Default)]
struct Conversation {
    requests: Requests,
    subscriptions: Subscriptions,
    /// Ids of the server's own requests.
    server_ids: Vec<Id>,
    /// Notifications heard, by method.
    heard: Vec<(String, u64)>,
    opened: bool,
    initialized: bool,
    /// A deliberate frame was sent, and no ordinary answer has come since.
    deliberate_open: bool,
    deliberate_since: u64,
    last_method: Option<String>,
    input_ended: bool,
    output_ended_early: bool,
    unfinished_line: bool,
    exit: Option<Exit>,
    died: bool,
    /// The newest line that was too long to be read whole.
    unread: Option<u64>,
    replays: Replays,
    /// When the first of its output came: until then it may have been starting.
    first_heard: Option<Duration>,
    last: Duration,
}

/// Streams that were taken up again, and what was heard before.
#[derive(Default)]
struct Replays {
    resumed: HashSet<u64>,
    heard: HashSet<u64>,
}

impl Replays {
    fn begin(&mut self, request: &Entry) {
        let head = request.bytes.to_ascii_lowercase();
        if head.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"last-event-id:")) {
            self.resumed.extend(request.exchange);
        }
    }

    /// Whether this message came before, and comes again on a stream that was taken up.
    fn repeats(&mut self, entry: &Entry) -> bool {
        let mut hasher = DefaultHasher::new();
        entry.bytes.hash(&mut hasher);
        let is_new = self.heard.insert(hasher.finish());
        !is_new && entry.exchange.is_some_and(|exchange| self.resumed.contains(&exchange))
    }
}

/// Methods of the server's own invention that are counted by name; the rest would only cost memory.
const METHODS_COUNTED: usize = 256;

impl Conversation {
    fn new(stateless: bool) -> Self {
        Self { opened: stateless, initialized: stateless, ..Self::default() }
    }

    fn take_sent(&mut self, entry: &Entry) {
        if entry.deliberate {
            self.deliberate_open = true;
            self.deliberate_since = entry.sequence;
        }
        let whole = wire::read(&entry.bytes, &Limits::default());
        if entry.deliberate {
            self.requests.remember_oddity(&entry.bytes);
        }
        for reading in messages_of(whole, &entry.bytes) {
            match reading.message {
                Some(Message::Request { id: Some(id), method, params }) => {
                    self.ask(entry, id, method, params);
                }
                Some(Message::Notification { method, params }) => {
                    self.last_method = Some(method.clone());
                    self.initialized |= method == "notifications/initialized";
                    if method == "notifications/cancelled"
                        && let Some(id) =
                            params.as_ref().and_then(|params| Id::from_json(params.get("requestId")?))
                    {
                        self.requests.cancel(&id);
                    }
                }
                _ => {}
            }
        }
    }

    fn ask(&mut self, entry: &Entry, id: Id, method: String, params: Option<Json>) {
        self.last_method = Some(method.clone());
        if method == "resources/subscribe"
            && let Some(uri) = uri_of(params.as_ref())
        {
            self.subscriptions.begin(uri.to_owned());
        }
        let early = !self.initialized && method != "initialize";
        self.requests.ask(entry, id, method, params, early);
    }

    fn take_status(&mut self, entry: &Entry) {
        self.first_heard.get_or_insert(entry.at);
        let head = String::from_utf8_lossy(&entry.bytes).to_ascii_lowercase();
        let streams = head.contains("\ncontent-type: text/event-stream");
        self.requests.meet_response(entry.exchange, status_of(entry), streams);
    }

    fn take_line(&mut self, entry: &Entry, meet: &mut impl FnMut(&Observed<'_>)) {
        self.unfinished_line |= entry.ending == Ending::Unfinished;
        let blank = entry.bytes.iter().all(u8::is_ascii_whitespace);
        // Of a line beyond the limit only the head is there, which says nothing about the whole.
        let is_cut = matches!(entry.ending, Ending::TooLong(_));
        let whole = wire::read(&entry.bytes, &Limits::default());
        let defects: Vec<&str> = match (blank, is_cut) {
            (true, _) => Vec::new(),
            (false, true) => vec!["too-long"],
            (false, false) => whole.defects.iter().map(wire::Defect::name).collect(),
        };
        let frame = json!({
            "defects": defects,
            "ending": ending_name(entry.ending),
            "length": entry.bytes.len(),
            "blank": blank,
            "text": String::from_utf8_lossy(&entry.bytes[..entry.bytes.len().min(200)]).as_ref(),
        });
        meet(&Observed {
            kind: Kind::Frame,
            method: None,
            value: &frame,
            facts: &Arc::new(json!({ "after_deliberate": self.deliberate_open })),
            request: None,
            sent: None,
            got: Some(entry.sequence),
        });
        if is_cut {
            self.unread = Some(entry.sequence);
        }
        if blank || is_cut {
            return;
        }
        for reading in messages_of(whole, &entry.bytes) {
            if let (Some(message), Some(json)) = (reading.message, reading.json) {
                self.take_message(entry, &message, &json, meet);
            }
        }
    }

    fn take_message(
        &mut self,
        entry: &Entry,
        message: &Message,
        whole: &Json,
        meet: &mut impl FnMut(&Observed<'_>),
    ) {
        let got = entry.sequence;
        let mut facts = Object::new();
        facts.push("kind", message.kind());
        facts.push("method", message.method());
        facts.push("opened", self.opened);
        facts.push("initialized", self.initialized);
        let answered = self.requests.account(message, whole, entry.exchange, &mut facts);
        facts.push("after_deliberate", self.is_after_deliberate(answered));
        match message {
            Message::Notification { method, params } => self.note(method, params.as_ref(), &mut facts),
            Message::Request { id, method, .. } => {
                let repeated = id.as_ref().is_some_and(|id| self.server_ids.contains(id));
                facts.push("id_repeated", repeated);
                facts.push("declared", method == "ping");
                self.server_ids.extend(id.clone());
            }
            Message::Result { .. } | Message::Error { .. } => {}
        }
        let asked = answered.map(|index| &self.requests[index]);
        let empty = Json::Object(Object::new());
        let (kind, method, value) = match message {
            Message::Result { result, .. } => {
                (Kind::Result, asked.map(|asked| asked.method.as_str()), result)
            }
            Message::Error { error, .. } => (Kind::Error, asked.map(|asked| asked.method.as_str()), error),
            Message::Notification { method, params } => {
                (Kind::Notification, Some(method.as_str()), params.as_ref().unwrap_or(&empty))
            }
            Message::Request { method, params, .. } => {
                (Kind::Request, Some(method.as_str()), params.as_ref().unwrap_or(&empty))
            }
        };
        let sent = asked.map(|asked| asked.sequence);
        let request = asked.and_then(|asked| asked.params.as_ref());
        let facts = Arc::new(Json::Object(facts));
        // An answer that belongs to no request has no method and no params to be judged by.
        if kind != Kind::Result || asked.is_some() {
            meet(&Observed { kind, method, value, facts: &facts, request, sent, got: Some(got) });
        }
        meet(&Observed {
            kind: Kind::Message,
            method: None,
            value: whole,
            facts: &facts,
            request,
            sent,
            got: Some(got),
        });
        self.settle(message, answered);
    }

    /// Whether it answers a deliberate frame, or came before the next ordinary answer after one.
    fn is_after_deliberate(&mut self, answered: Option<usize>) -> bool {
        match answered.map(|index| &self.requests[index]) {
            Some(asked) if asked.deliberate => true,
            Some(asked) => {
                self.deliberate_open &= asked.sequence < self.deliberate_since;
                false
            }
            None => self.deliberate_open,
        }
    }

    /// The facts of a notification, and what it changes.
    fn note(&mut self, method: &str, params: Option<&Json>, facts: &mut Object) {
        let known = self.heard.iter().position(|(heard, _)| heard == method);
        match known {
            Some(index) => self.heard[index].1 += 1,
            None if self.heard.len() < METHODS_COUNTED => self.heard.push((method.to_owned(), 1)),
            None => {}
        }
        let uri = uri_of(params);
        self.note_tag(method, params, uri, facts);
        facts.push("subscribed", self.subscriptions.standing(uri));
        let open = self.requests.iter().filter(|asked| !asked.answered() && !asked.is_listen());
        facts.push("pending", open.count());
        if method == "notifications/progress" {
            facts.push("token", self.requests.token(params.and_then(|params| params.get("progressToken"))));
            if let Some(increases) = params.and_then(|params| self.requests.progresses(params)) {
                facts.push("increases", increases);
            }
        }
        if method == "notifications/cancelled" {
            facts.push(
                "cancels",
                self.cancels(params.and_then(|params| Id::from_json(params.get("requestId")?))),
            );
        }
    }

    fn note_tag(&mut self, method: &str, params: Option<&Json>, uri: Option<&str>, facts: &mut Object) {
        let Some(tag) = params.and_then(|params| params.get("_meta")?.get(META_SUBSCRIPTION)) else {
            facts.push("tag", "none");
            return;
        };
        let id = Id::from_json(tag);
        let Some(asked) = id.as_ref().and_then(|id| self.requests.listen(id)) else {
            let alike = id.is_some_and(|id| self.requests.is_alike_a_listen(&id));
            facts.push("tag", if alike { "mistyped" } else { "unknown" });
            return;
        };
        facts.push("tag", asked.listen_state());
        facts.push("first_of_tag", !asked.tag_seen);
        facts.push("asked", filter_asks(asked.params.as_deref(), method, uri));
        asked.tag_seen = true;
        asked.acknowledged |= method == "notifications/subscriptions/acknowledged";
    }

    fn cancels(&self, id: Option<Id>) -> &'static str {
        let Some(id) = id else { return "unknown" };
        if self.server_ids.contains(&id) {
            return "own";
        }
        match self.requests.iter().rev().find(|asked| asked.id == id) {
            Some(asked) if asked.is_listen() => "listen",
            Some(_) => "foreign",
            None => "unknown",
        }
    }

    /// What an answer changes for what comes after it.
    fn settle(&mut self, message: &Message, answered: Option<usize>) {
        let (Message::Result { .. }, Some(index)) = (message, answered) else { return };
        let asked = &self.requests[index];
        match asked.method.as_str() {
            "initialize" => self.opened = true,
            "resources/unsubscribe" => {
                self.subscriptions.leave(uri_of(asked.params.as_deref()));
            }
            _ => {}
        }
    }

    fn take_exit(&mut self, entry: &Entry) {
        self.exit = entry.exit;
        let by_itself = !self.input_ended && !entry.exit.is_some_and(|exit| exit.by_us);
        // A server may end by itself while nothing is asked of it.
        let owes = |asked: &Asked| !asked.answered() && !asked.is_listen() && !asked.cancelled;
        self.died = by_itself && (self.deliberate_open || self.requests.iter().any(owes));
    }

    fn close(&self, patience: Patience, exchanges: &Exchanges<'_>, meet: &mut impl FnMut(&Observed<'_>)) {
        let no_facts = Arc::new(Json::Object(Object::new()));
        for (exchange, value) in exchanges.views() {
            let (sent, got) = (exchange.sent(), exchange.got());
            let request = None;
            meet(&Observed {
                kind: Kind::Http,
                method: None,
                value: &value,
                facts: &no_facts,
                request,
                sent,
                got,
            });
        }
        let mut meet_end = |kind, method, value: &Json, asked: Option<&Asked>| {
            meet(&Observed {
                kind,
                method,
                value,
                facts: &no_facts,
                request: asked.and_then(|asked| asked.params.as_ref()),
                sent: asked.map(|asked| asked.sequence),
                got: None,
            });
        };
        for asked in self.requests.iter() {
            let unanswered = !asked.answered() && asked.mistyped == 0;
            // Where HTTP broke off nobody will answer any more; what it answered itself is for its own cases to judge.
            let is_spent = unanswered && asked.exchange.is_some_and(|number| exchanges.is_spent(number));
            let waited = |waited| waited || asked.closed || is_spent;
            let unread = self.unread.is_some_and(|unread| unread > asked.sequence);
            let is_late = match self.first_heard {
                Some(first) => self.last.saturating_sub(asked.at.max(first)) >= patience.request,
                None => self.last.saturating_sub(asked.at) >= patience.request.max(patience.start),
            };
            let value = json!({
                           "method": asked.method.as_str(),
                           "id": asked.id.to_string(),
                           "answers": asked.results + asked.errors,
                           "results": asked.results,
                           "errors": asked.errors,
                           "mistyped": asked.mistyped,
                           "deliberate": asked.deliberate,
                           "cancelled": asked.cancelled,
                           "acknowledged": asked.acknowledged,
                           "stopped": self.input_ended && self.exit.is_some_and(|exit| !exit.by_us),
                           "early": asked.early,
            "silent": unanswered && !asked.is_refused() && waited(is_late) && !self.died && !unread,
                           "died": unanswered && self.died,
                       });
            meet_end(Kind::Exchange, Some(asked.method.as_str()), &value, Some(asked));
        }
        let heard: Object =
            self.heard.iter().map(|(method, count)| (method.as_str(), Json::from(*count))).collect();
        let exit = self
            .exit
            .map(|exit| json!({ "status": exit.status, "signal": exit.signal, "by_us": exit.by_us }));
        let (event_ids, repeated_event_ids) = exchanges.event_ids();
        let died_after = if self.died { self.last_method.as_deref() } else { None };
        let value = json!({
            "died": self.died,
            "died_after": died_after,
            "after_deliberate": self.deliberate_open,
            "exit": exit,
            "input_ended": self.input_ended,
            "output_ended_early": self.output_ended_early,
            "unfinished_line": self.unfinished_line,
            "heard": heard,
            "requests": self.server_ids.len(),
            "listens": self.requests.iter().filter(|asked| asked.is_listen()).count(),
            "event_ids": event_ids,
            "repeated_event_ids": repeated_event_ids,
            "in_session": exchanges.in_session(),
            "notifications": self.heard.iter().map(|(_, count)| count).sum::<u64>(),
        });
        meet_end(Kind::Session, None, &value, None);
    }
}

/// The messages of a frame: itself, or those of a batch.
pub(super) fn messages_of(whole: Reading, bytes: &[u8]) -> Vec<Reading> {
    match whole.json {
        Some(Json::Array(_)) => wire::read_batch(bytes, &Limits::default()),
        _ => vec![whole],
    }
}

/// The status of a response, from its head.
pub(super) fn status_of(head: &Entry) -> Option<u16> {
    let first = head.bytes.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(first).ok()?.parse().ok()
}

fn ending_name(ending: Ending) -> &'static str {
    match ending {
        Ending::Lf => "lf",
        Ending::CrLf => "crlf",
        Ending::Unfinished => "unfinished",
        Ending::TooLong(_) => "too-long",
        Ending::None => "none",
    }
}
