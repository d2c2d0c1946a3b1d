//! What is known of each exchange of a conversation over HTTP? Its status, what came in it, and whether it has ended.
//!
//! What a request goes out with is in `head`, what becomes of a response in `body`, and when a stream is taken up again
//! in `resuming`. Whether any of it is right is for the cases to say.

use super::state::State;
use crate::peer::{Closing, Endpoint};
use crate::revision::Revision;
use crate::wire::events::EventReader;
use std::collections::HashMap;
use std::time::Duration;

mod body;
mod head;
mod resuming;

pub(crate) use body::{EVENTS_KEPT, media_type};
pub use head::Wanted;
pub(super) use resuming::come_back;

/// Bytes of a body that are shown in words.
const SHOWN: usize = 200;

/// The exchanges of a conversation.
pub struct Exchanges {
    /// Host and port.
    pub(super) authority: String,
    /// Where messages are sent: the endpoint of the site, or the one that the old transport names.
    pub(super) target: String,
    /// The session that the server began, if any; then every request names it.
    pub session: Option<String>,
    /// The revision that was agreed on, where every request is to name it.
    pub(super) version: Option<Revision>,
    /// The server turned out to speak HTTP+SSE, where answers come on the stream of the first GET.
    pub old: bool,
    /// The GET that asked for that stream.
    pub(super) seeks_endpoint: Option<u64>,
    /// Why what that stream named is not followed.
    pub misled: Option<String>,
    /// The conversation is being ended: no stream is taken up again.
    pub(super) left: bool,
    /// The number of the newest exchange.
    newest: u64,
    known: HashMap<u64, Known>,
}

/// What is known of an exchange.
#[derive(Default)]
struct Known {
    /// The entry of our message, if it carries one.
    sent: Option<u64>,
    /// It is a request, and so is met by an answer.
    asks: bool,
    /// It is `initialize`.
    opens: bool,
    /// It asks for what belongs to no request.
    listens: bool,
    /// It is listened to as long as the conversation lasts, so that it is taken up again wherever it ends.
    lasts: bool,
    /// The entry of the head of its response.
    head: Option<u64>,
    status: Option<u16>,
    /// Where a redirect leads.
    location: Option<String>,
    form: Form,
    /// Its response is an event stream.
    streams: bool,
    /// Bytes that are kept of that.
    raw: usize,
    /// Messages that came in it.
    messages: usize,
    /// It is to bring an answer: a request, or the stream that goes on where that of a request broke off.
    awaits: bool,
    answered: bool,
    /// The newest event id of its stream.
    last_event: Option<String>,
    /// How long to wait before the stream is taken up again.
    retry: Option<u64>,
    /// The entry that ended it, and how.
    closed: Option<(u64, Closing)>,
    /// How its stream goes on, where it broke off.
    onward: Option<Onward>,
    /// How often its stream was taken up again since there was a message on it.
    turns: u32,
    /// How long the server had its stream left alone so far, between its parts.
    paused: Duration,
    /// The beginning of a body that is neither JSON nor events.
    text: Vec<u8>,
}

/// What a body is made of.
#[derive(Default)]
enum Form {
    #[default]
    Unknown,
    Json(Vec<u8>),
    Events(EventReader),
    Other,
}

/// How a stream that broke off goes on.
#[derive(Clone, Copy, PartialEq)]
enum Onward {
    /// It is taken up again after so long.
    After(Duration),
    /// In this exchange.
    In(u64),
    /// The server asks for a pause that is longer than anybody waits.
    TooLate(Duration),
}

/// A request of ours that HTTP gave no answer to.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub status: Option<u16>,
    /// What the body said, or how the connection ended.
    pub words: String,
    /// The entry that ended it.
    pub sequence: u64,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status {
            Some(status) => write!(f, "HTTP status {status}")?,
            None => f.write_str("no HTTP response")?,
        }
        if self.words.is_empty() { Ok(()) } else { write!(f, " ({})", self.words) }
    }
}

impl Exchanges {
    pub(super) fn new(Endpoint { authority, target }: Endpoint) -> Self {
        Self {
            authority,
            target,
            session: None,
            version: None,
            old: false,
            seeks_endpoint: None,
            misled: None,
            left: false,
            newest: 0,
            known: HashMap::new(),
        }
    }

    /// The status of the response that an exchange has met with.
    pub fn status(&self, exchange: u64) -> Option<u16> {
        self.known.get(&exchange)?.status
    }

    /// Our message in an exchange: its entry, and whether it is a request.
    pub(super) fn carried(&self, exchange: u64) -> Option<(u64, bool)> {
        let known = self.known.get(&exchange)?;
        Some((known.sent?, known.asks))
    }

    /// The exchange that carried this entry.
    pub(super) fn carrying(&self, sent: u64) -> Option<u64> {
        self.known.iter().find(|(_, known)| known.sent == Some(sent)).map(|(number, _)| *number)
    }

    /// What became of a message of ours that nothing answers any more: its exchange has ended.
    pub fn refusal(&self, sent: u64) -> Option<Refusal> {
        self.refusal_of(self.known.get(&self.carrying(sent)?)?)
    }

    /// As [`Exchanges::refusal`], of whatever was sent between two entries, once all of it has ended.
    pub(super) fn refusal_between(&self, since: u64, until: u64) -> Option<Refusal> {
        if !self.is_over_between(since, until) {
            return None;
        }
        let mut sent: Vec<&Known> = self.sent_between(since, until).collect();
        sent.sort_by_key(|known| known.sent);
        sent.into_iter().find_map(|known| self.refusal_of(known))
    }

    /// Whether all that was sent between two entries has ended; what the old transport accepts is answered elsewhere.
    pub(super) fn is_over_between(&self, since: u64, until: u64) -> bool {
        self.sent_between(since, until).all(|known| !self.last_part(known).is_open())
    }

    fn sent_between(&self, since: u64, until: u64) -> impl Iterator<Item = &Known> {
        self.known.values().filter(move |known| known.sent.is_some_and(|sent| sent > since && sent <= until))
    }

    fn refusal_of(&self, first: &Known) -> Option<Refusal> {
        let last = self.last_part(first);
        let (sequence, closing) = last.closed.as_ref().filter(|_| !last.is_open())?;
        let accepted = first.status.is_some_and(|status| (200..300).contains(&status));
        let has_more = first.messages > 0 && !first.asks;
        if has_more || (self.old && accepted) || self.parts(first).any(|part| part.answered) {
            return None;
        }
        let words = match (last.onward, closing) {
            (_, Closing::Abandoned) => return None,
            (Some(Onward::TooLate(pause)), _) => {
                format!("its stream broke off, and asks to come back after {} s", pause.as_secs())
            }
            _ if !std::ptr::eq(first, last) && !last.streams => match last.status {
                Some(status) => format!("its stream broke off, and coming back met HTTP status {status}"),
                None => "its stream broke off, and coming back met no response".to_owned(),
            },
            (_, Closing::Complete) if first.streams => "its stream ended without an answer".to_owned(),
            (_, Closing::Complete) if first.messages > 0 => "its messages are no answer".to_owned(),
            _ => last.words(closing),
        };
        Some(Refusal { status: first.status, words, sequence: *sequence })
    }

    /// An exchange, and those in which its stream was taken up again.
    fn parts<'a>(&'a self, first: &'a Known) -> impl Iterator<Item = &'a Known> {
        std::iter::successors(Some(first), |known| match known.onward {
            Some(Onward::In(number)) => self.known.get(&number),
            _ => None,
        })
    }

    fn last_part<'a>(&'a self, first: &'a Known) -> &'a Known {
        self.parts(first).last().unwrap_or(first)
    }

    /// Whether the stream on which a request is answered ended without an answer, and not by our doing.
    pub fn is_cut(&self, sent: u64) -> bool {
        let known = self.carrying(sent).and_then(|number| self.known.get(&number));
        known.is_some_and(|first| {
            let last = self.last_part(first);
            let by_us = matches!(last.closed, Some((_, Closing::Abandoned)));
            !last.is_open() && !by_us && !self.parts(first).any(|part| part.answered)
        })
    }

    /// Why what belongs to no request may have been missed since an entry, if it may have been: only what comes on an
    /// open stream is heard.
    pub fn missed_since(&self, since: u64) -> Option<&'static str> {
        // There it comes on the one stream that the conversation lives by.
        if self.old {
            return None;
        }
        let asked: Vec<&Known> = self.known.values().filter(|known| known.listens).collect();
        let served = |known: &&&Known| known.streams && known.status == Some(200);
        let in_time = |known: &&Known| known.closed.is_none() && known.head.is_some_and(|head| head <= since);
        if asked.iter().filter(served).any(in_time) {
            return None;
        }
        Some(if asked.iter().any(|known| served(&known)) {
            "the stream on which the server could tell broke off meanwhile"
        } else if asked.iter().any(|known| known.status == Some(200)) {
            "the server offers no stream on which it could tell: what GET opens is none of events"
        } else if asked.iter().any(|known| known.status.is_none() && known.closed.is_none()) {
            "the stream on which the server could tell has not begun: GET is not answered"
        } else {
            "the server offers no stream on which it could tell: GET is refused"
        })
    }

    /// Whether the stream on which everything comes in the old transport has ended.
    pub(super) fn has_lost_old_stream(&self) -> bool {
        self.old && self.seeks_endpoint.is_some_and(|number| self.is_over(number))
    }

    /// Whether an exchange has ended.
    pub(super) fn is_over(&self, exchange: u64) -> bool {
        self.known.get(&exchange).is_none_or(|known| known.closed.is_some())
    }

    /// Whether an exchange was met by a response, or will be by none.
    pub(super) fn is_met(&self, exchange: u64) -> bool {
        self.status(exchange).is_some() || self.is_over(exchange)
    }
}

impl Known {
    /// Whether more may come in it, or where its stream is taken up again.
    fn is_open(&self) -> bool {
        self.closed.is_none() || matches!(self.onward, Some(Onward::After(_) | Onward::In(_)))
    }

    /// What the body said, or how the connection ended.
    fn words(&self, closing: &Closing) -> String {
        match closing {
            Closing::Complete => match &self.location {
                Some(location) => {
                    let location = crate::check::phrase::clipped(location, SHOWN);
                    format!("it leads to {location}, and redirects are not followed: give that URL")
                }
                None => {
                    let head = String::from_utf8_lossy(&self.text[..self.text.len().min(4 * SHOWN)]);
                    crate::check::phrase::clipped(head.trim(), SHOWN)
                }
            },
            Closing::Abandoned => "we closed the connection".to_owned(),
            Closing::TooLong => "a message longer than is read".to_owned(),
            Closing::Flooded => "more than is kept of a conversation".to_owned(),
            Closing::Unreachable(reason) | Closing::Broken(reason) | Closing::Unsendable(reason) => {
                reason.clone()
            }
        }
    }
}

impl State {
    /// Over HTTP: whether an exchange has ended.
    pub(super) fn is_over(&self, exchange: u64) -> bool {
        self.http.as_ref().is_none_or(|http| http.is_over(exchange))
    }

    fn known(&self, exchange: u64) -> Option<&Known> {
        self.http.as_ref()?.known.get(&exchange)
    }

    fn known_mut(&mut self, exchange: u64) -> Option<&mut Known> {
        self.http.as_mut()?.known.get_mut(&exchange)
    }

    pub(super) fn count_message(&mut self, exchange: u64, is_response: bool) {
        if let Some(known) = self.known_mut(exchange) {
            known.messages += 1;
            known.answered |= is_response;
        }
    }
}
