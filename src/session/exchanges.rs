//! What is known of each exchange of a conversation over HTTP? Its status, what came in it, and whether it has ended.
//!
//! What a request goes out with is in `head`, what becomes of a response in `body`, and when a stream is taken up again
//! in `resuming`. Whether any of it is right is for the cases to say.

use super::state::State;
use crate::peer::{Closing, Endpoint};
use crate::revision::Revision;
use crate::wire::events::EventReader;
use std::collections::HashMap;

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
    authority: String,
    /// Where messages are sent: the endpoint of the site, or the one that the old transport names.
    pub(super) target: String,
    /// The session that the server began, if any; then every request names it.
    pub session: Option<String>,
    /// The revision that was agreed on, where every request is to name it.
    pub(super) version: Option<Revision>,
    /// The server turned out to speak HTTP+SSE, where answers come on the stream of the first GET.
    pub old: bool,
    /// The number of the newest exchange.
    newest: u64,
    /// How often a stream was taken up again.
    resumptions: usize,
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
    status: Option<u16>,
    /// Where a redirect leads.
    location: Option<String>,
    form: Form,
    /// Bytes that are kept of its event stream.
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
            newest: 0,
            resumptions: 0,
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
        self.known.get(&self.carrying(sent)?)?.refusal(self.old)
    }

    /// As [`Exchanges::refusal`], of whatever was sent between two entries, once all of it has ended.
    pub(super) fn refusal_between(&self, since: u64, until: u64) -> Option<Refusal> {
        if !self.is_over_between(since, until) {
            return None;
        }
        let mut sent: Vec<&Known> = self.sent_between(since, until).collect();
        sent.sort_by_key(|known| known.sent);
        sent.into_iter().find_map(|known| known.refusal(self.old))
    }

    /// Whether all that was sent between two entries has ended; what the old transport accepts is answered elsewhere.
    pub(super) fn is_over_between(&self, since: u64, until: u64) -> bool {
        self.sent_between(since, until).all(|known| known.closed.is_some())
    }

    fn sent_between(&self, since: u64, until: u64) -> impl Iterator<Item = &Known> {
        self.known.values().filter(move |known| known.sent.is_some_and(|sent| sent > since && sent <= until))
    }

    /// Whether no GET has opened a stream.
    pub(super) fn lacks_stream(&self) -> bool {
        !self.known.values().any(|known| known.sent.is_none() && known.status == Some(200))
    }

    /// Whether an exchange has ended.
    pub(super) fn is_over(&self, exchange: u64) -> bool {
        self.known.get(&exchange).is_none_or(|known| known.closed.is_some())
    }
}

impl Known {
    fn refusal(&self, old: bool) -> Option<Refusal> {
        let (sequence, closing) = self.closed.as_ref()?;
        let accepted = self.status.is_some_and(|status| (200..300).contains(&status));
        if self.messages > 0 || self.last_event.is_some() || (old && accepted) {
            return None;
        }
        let text = || {
            let head = String::from_utf8_lossy(&self.text[..self.text.len().min(4 * SHOWN)]);
            crate::check::phrase::clipped(head.trim(), SHOWN)
        };
        let words = match closing {
            Closing::Complete => match &self.location {
                Some(location) => {
                    let location = crate::check::phrase::clipped(location, SHOWN);
                    format!("it leads to {location}, and redirects are not followed: give that URL")
                }
                None => text(),
            },
            Closing::Abandoned => return None,
            Closing::TooLong => "a message longer than is read".to_owned(),
            Closing::Flooded => "more than is kept of a conversation".to_owned(),
            Closing::Unreachable(reason) | Closing::Broken(reason) | Closing::Unsendable(reason) => {
                reason.clone()
            }
        };
        Some(Refusal { status: self.status, words, sequence: *sequence })
    }
}

impl State {
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
