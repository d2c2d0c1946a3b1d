//! What have we asked in a conversation, and what became of each request? Which of them an answer belongs to.

use crate::transcript::Entry;
use crate::wire::{Id, Json, Message, Number, Object};
use std::cmp::Ordering;
use std::ops::Index;
use std::sync::Arc;
use std::time::Duration;

/// A request of ours.
pub(super) struct Asked {
    pub id: Id,
    pub method: String,
    pub params: Option<Arc<Json>>,
    pub sequence: u64,
    pub at: Duration,
    pub deliberate: bool,
    /// Sent before the opening was complete, where servers may do as they like.
    pub early: bool,
    pub results: usize,
    pub errors: usize,
    pub mistyped: usize,
    pub cancelled: bool,
    /// Over HTTP: the exchange that carries it.
    pub exchange: Option<u64>,
    /// The status of the response.
    pub status: Option<u16>,
    /// That response is a stream of events.
    pub streams: bool,
    /// The response came to its end.
    pub whole: bool,
    /// The connection broke without a response.
    pub closed: bool,
    /// The newest value of progress that was reported for it.
    pub progress: Option<Number>,
    /// For a listen request: acknowledged.
    pub acknowledged: bool,
    /// For a listen request: a message with its tag has come.
    pub tag_seen: bool,
}

impl Asked {
    pub fn answered(&self) -> bool {
        self.results + self.errors > 0
    }

    /// Whether HTTP has answered in place of a message: by a status, or by a body that holds none.
    pub fn is_refused(&self) -> bool {
        let with_body = self.whole && !self.streams;
        self.status.is_some_and(|status| status >= 400 || status == 200 && with_body)
    }

    pub fn is_listen(&self) -> bool {
        self.method == "subscriptions/listen"
    }

    fn progress_token(&self) -> Option<&Json> {
        self.params.as_ref()?.pointer("/_meta/progressToken")
    }

    /// How a listen request stands: the fact `tag` of what carries its id.
    pub fn listen_state(&self) -> &'static str {
        if self.answered() {
            "ended"
        } else if self.cancelled {
            "cancelled"
        } else if self.acknowledged {
            "acknowledged"
        } else {
            "open"
        }
    }
}

/// All that was asked, in order.
#[derive(Default)]
pub(super) struct Requests {
    asked: Vec<Asked>,
    /// We have ended the session: what is said of its requests from then on is owed to that.
    left: bool,
    /// Frames malformed on purpose that are no request to us, yet may hold an id that the server can read.
    oddities: Vec<String>,
}

/// Odd frames of ours that are remembered, and how much of each: an id stands near the beginning.
const ODDITIES_KEPT: usize = 1024;
const ODDITY_HEAD: usize = 512;

impl Requests {
    /// A request of ours went out.
    pub fn ask(&mut self, entry: &Entry, id: Id, method: String, params: Option<Json>, early: bool) {
        self.asked.push(Asked {
            id,
            method,
            early,
            progress: None,
            params: params.map(Arc::new),
            sequence: entry.sequence,
            at: entry.at,
            deliberate: entry.deliberate,
            results: 0,
            errors: 0,
            mistyped: 0,
            cancelled: false,
            exchange: entry.exchange,
            status: None,
            streams: false,
            whole: false,
            closed: false,
            acknowledged: false,
            tag_seen: false,
        });
    }

    /// A frame that is malformed on purpose went out.
    pub fn remember_oddity(&mut self, bytes: &[u8]) {
        if self.oddities.len() < ODDITIES_KEPT {
            let head = &bytes[..bytes.len().min(ODDITY_HEAD)];
            self.oddities.push(String::from_utf8_lossy(head).split_whitespace().collect());
        }
    }

    /// We no longer want the answer to the newest request of this id.
    pub fn cancel(&mut self, id: &Id) {
        if let Some(asked) = self.asked.iter_mut().rev().find(|asked| asked.id == *id) {
            asked.cancelled = true;
        }
    }

    /// Over HTTP we begin an exchange.
    pub fn leave(&mut self, entry: &Entry) {
        self.left |= entry.bytes.starts_with(b"DELETE ") && !entry.deliberate;
    }

    /// Over HTTP a response has begun; it may be a stream of events.
    pub fn meet_response(&mut self, exchange: Option<u64>, status: Option<u16>, streams: bool) {
        if self.left {
            return;
        }
        if let Some(asked) = self.asked.iter_mut().rev().find(|asked| asked.exchange == exchange) {
            asked.status = status;
            asked.streams = streams;
        }
    }

    /// Over HTTP an exchange has ended.
    pub fn close(&mut self, entry: &Entry) {
        if self.left {
            return;
        }
        let abandoned = entry.bytes == b"abandoned";
        let carried = self.asked.iter_mut().rev().find(|asked| asked.exchange == entry.exchange);
        if let Some(asked) = carried {
            asked.cancelled |= abandoned;
            asked.whole = entry.bytes.is_empty();
            // The old transport accepts a request with 202, and answers elsewhere. What a response lacks is for the cases
            // of HTTP to say; without any, nobody has answered.
            asked.closed = entry.bytes.starts_with(b"broken") && asked.status.is_none();
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Asked> {
        self.asked.iter()
    }

    /// The newest listen request of this id.
    pub fn listen(&mut self, id: &Id) -> Option<&mut Asked> {
        self.asked.iter_mut().rev().find(|asked| asked.is_listen() && asked.id == *id)
    }

    /// Whether a listen request's id differs from this one in type alone.
    pub fn is_alike_a_listen(&self, id: &Id) -> bool {
        self.asked.iter().any(|asked| asked.is_listen() && spelled_alike(&asked.id, id))
    }

    /// Which of our requests does it answer? Counts it there.
    ///
    /// Where it came over HTTP in a response whose status says that the request failed, it needs no id.
    pub fn account(
        &mut self,
        message: &Message,
        whole: &Json,
        exchange: Option<u64>,
        facts: &mut Object,
    ) -> Option<usize> {
        if !message.is_response() {
            return None;
        }
        let id = message.id();
        let refused =
            |asked: &Asked| asked.exchange == exchange && asked.status.is_some_and(|status| status >= 400);
        let exact = match (id, exchange) {
            (Some(id), _) => self.asked.iter().rposition(|asked| asked.id == *id),
            (None, Some(_)) => self.asked.iter().rposition(refused),
            (None, None) => None,
        };
        let alike = |id: &Id| self.asked.iter().rposition(|asked| spelled_alike(&asked.id, id));
        let loose = id.filter(|_| exact.is_none()).and_then(alike);
        let address = match (exact, id) {
            (Some(index), _) if self.asked[index].answered() => "answered",
            (Some(_), _) => "pending",
            (None, Some(id)) if self.is_in_an_oddity(id) => "pending",
            (None, Some(_)) if loose.is_some() => "mistyped",
            (None, Some(_)) => "never-sent",
            (None, None) => match whole.get("id") {
                Some(Json::Null) => "null",
                Some(_) => "never-sent",
                None => "absent",
            },
        };
        facts.push("address", address);
        facts.push("answers", exact.map(|index| self.asked[index].method.clone()));
        match (exact, loose) {
            (Some(index), _) if matches!(message, Message::Result { .. }) => self.asked[index].results += 1,
            (Some(index), _) => self.asked[index].errors += 1,
            (None, Some(index)) => self.asked[index].mistyped += 1,
            (None, None) => {}
        }
        exact
    }

    /// Whether an odd frame of ours holds this id, so that an error may repeat it.
    fn is_in_an_oddity(&self, id: &Id) -> bool {
        let member = format!("\"id\":{id}");
        self.oddities.iter().any(|oddity| {
            oddity.match_indices(&member).any(|(at, _)| {
                // `"id":3` is not in `"id":31`.
                !oddity[at + member.len()..]
                    .starts_with(|next: char| next.is_ascii_digit() || ".eE".contains(next))
            })
        })
    }

    pub fn token(&self, token: Option<&Json>) -> &'static str {
        let Some(token) = token else { return "unknown" };
        let carries = |asked: &&Asked| asked.progress_token().is_some_and(|sent| sent.same(token));
        match self.asked.iter().rev().find(carries) {
            Some(asked) if asked.answered() => "ended",
            Some(_) => "active",
            None => "unknown",
        }
    }

    /// Whether progress goes beyond what was reported for the same token before; takes note of it.
    pub fn progresses(&mut self, params: &Json) -> Option<bool> {
        let token = params.get("progressToken")?;
        let value = params.get("progress")?.as_number()?;
        let carries = |asked: &&mut Asked| asked.progress_token().is_some_and(|sent| sent.same(token));
        let asked = self.asked.iter_mut().rev().find(carries)?;
        let before = asked.progress.replace(value.clone());
        before.map(|before| value.compare(&before) == Ordering::Greater)
    }
}

impl Index<usize> for Requests {
    type Output = Asked;

    fn index(&self, index: usize) -> &Asked {
        &self.asked[index]
    }
}

/// Whether two ids differ in type alone: 7 and "7".
fn spelled_alike(left: &Id, right: &Id) -> bool {
    left != right && left.to_string().trim_matches('"') == right.to_string().trim_matches('"')
}
