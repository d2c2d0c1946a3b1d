//! What does a request go out with? Its headers, as the revision and the conversation have them.

use super::{Exchanges, Known};
use crate::dialect::Dialect;
use crate::peer::Exchange;
use crate::session::state::State;
use crate::transcript::{Channel, Ending};
use crate::wire::{self, Limits, Message};

pub(super) const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// The headers that a message goes out with.
fn headers(dialect: Dialect, exchanges: &Exchanges, message: Option<&Message>) -> Vec<(String, Vec<u8>)> {
    let mut headers = vec![
        ("content-type".to_owned(), b"application/json".to_vec()),
        ("accept".to_owned(), b"application/json, text/event-stream".to_vec()),
    ];
    headers.extend(standing_headers(exchanges));
    for (name, value) in dialect.mirrored(message) {
        headers.retain(|(known, _)| known != name);
        headers.push((name.to_owned(), value.into_bytes()));
    }
    headers
}

/// An exchange that differs from an ordinary one.
pub struct Wanted<'a> {
    pub method: &'a str,
    /// In place of the ordinary ones, spelt as they are to go out; none leaves one out.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    pub body: Option<Vec<u8>>,
    pub deliberate: bool,
}

fn wanted_headers(
    dialect: Dialect,
    exchanges: &Exchanges,
    own: Vec<(String, Option<Vec<u8>>)>,
    body: Option<&[u8]>,
) -> Vec<(String, Vec<u8>)> {
    let mut all = match body {
        Some(body) => {
            let message = wire::read(body, &Limits::default()).message;
            headers(dialect, exchanges, message.as_ref())
        }
        None => stream_headers(exchanges, None),
    };
    all.retain(|(name, _)| !own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    all.extend(own.into_iter().filter_map(|(name, value)| Some((name, value?))));
    all
}

/// The headers that a stream is asked for with, whole or behind an event.
pub(super) fn stream_headers(exchanges: &Exchanges, last_event: Option<String>) -> Vec<(String, Vec<u8>)> {
    let mut headers = vec![("accept".to_owned(), b"text/event-stream".to_vec())];
    headers.extend(standing_headers(exchanges));
    headers.extend(last_event.map(|event| ("last-event-id".to_owned(), event.into_bytes())));
    headers
}

/// The headers of every request of a conversation.
fn standing_headers(exchanges: &Exchanges) -> Vec<(String, Vec<u8>)> {
    let mut headers = vec![("host".to_owned(), exchanges.authority.clone().into_bytes())];
    if let Some(session) = &exchanges.session {
        headers.push((SESSION.to_owned(), session.clone().into_bytes()));
    }
    if let Some(version) = exchanges.version {
        headers.push((VERSION.to_owned(), version.as_str().as_bytes().to_vec()));
    }
    headers
}

/// A head as the transcript holds it: the first line, then a line for each header.
pub(super) fn head_text(first: &str, headers: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut text = first.as_bytes().to_vec();
    for (name, value) in headers {
        for part in [b"\n", name.as_bytes(), b": ", value] {
            text.extend_from_slice(part);
        }
    }
    text
}

impl State {
    /// Begins an exchange: records it, and gives the order for the peer.
    pub(super) fn begin_exchange(
        &mut self,
        method: &str,
        headers: Vec<(String, Vec<u8>)>,
        body: Option<Vec<u8>>,
        deliberate: bool,
    ) -> Option<Exchange> {
        let exchanges = self.http.as_mut()?;
        exchanges.newest += 1;
        let (number, target) = (exchanges.newest, exchanges.target.clone());
        let mut known = Known { listens: method == "GET", ..Known::default() };
        let head = head_text(&format!("{method} {target}"), &headers);
        self.record_of(number, Channel::Request, head, Ending::None);
        self.mark_deliberate(deliberate);
        if let Some(body) = &body {
            let message = wire::read(body, &Limits::default()).message;
            known.asks = matches!(message, Some(Message::Request { .. }));
            known.awaits = known.asks;
            known.opens = matches!(&message, Some(Message::Request { method, .. }) if method == "initialize");
            self.kept += body.len();
            known.sent = Some(self.record_of(number, Channel::Stdin, body.clone(), Ending::None));
            self.mark_deliberate(deliberate);
        }
        if let Some(exchanges) = self.http.as_mut() {
            exchanges.known.insert(number, known);
        }
        Some(Exchange { number, method: method.to_owned(), target, headers, body })
    }

    /// Begins to send a message as the body of a POST; none where the conversation is not held over HTTP.
    pub(in crate::session) fn begin_post(
        &mut self,
        dialect: Dialect,
        frame: Vec<u8>,
        deliberate: bool,
    ) -> Option<Exchange> {
        let message = wire::read(&frame, &Limits::default()).message;
        let headers = headers(dialect, self.http.as_ref()?, message.as_ref());
        self.begin_exchange("POST", headers, Some(frame), deliberate)
    }

    /// Begins to ask for the stream of what belongs to no request; `lasts`: wherever it ends, it is asked for again.
    pub(in crate::session) fn begin_stream(&mut self, lasts: bool) -> Option<Exchange> {
        let http = self.http.as_ref().filter(|http| !http.old)?;
        let headers = stream_headers(http, None);
        let order = self.begin_exchange("GET", headers, None, false)?;
        if let Some(known) = self.known_mut(order.number) {
            known.lasts = lasts;
        }
        Some(order)
    }

    /// Begins to end the session that the server began, if any.
    pub(in crate::session) fn begin_leaving(&mut self) -> Option<Exchange> {
        let http = self.http.as_ref().filter(|http| http.session.is_some())?;
        let headers = standing_headers(http);
        self.begin_exchange("DELETE", headers, None, false)
    }

    /// Begins an exchange as a case wants it.
    pub(in crate::session) fn begin_wanted(
        &mut self,
        dialect: Dialect,
        wanted: Wanted<'_>,
    ) -> Option<Exchange> {
        let Wanted { method, headers, body, deliberate } = wanted;
        let headers = wanted_headers(dialect, self.http.as_ref()?, headers, body.as_deref());
        self.begin_exchange(method, headers, body, deliberate)
    }
}
