//! What becomes of a response? Its pieces are put together to the messages that they carry, and its end is kept.

use super::head::{SESSION, head_text};
use super::{Form, SHOWN};
use crate::peer::Closing;
use crate::session::state::State;
use crate::transcript::{Channel, Ending};
use crate::wire;
use crate::wire::events::EventReader;

/// Bytes that are kept of a body that is neither JSON nor events: the beginning says what it is.
const OTHER_KEPT: usize = 64 * 1024;
/// Bytes that are kept of an event stream as it came. Its messages are kept besides.
pub(crate) const EVENTS_KEPT: usize = 8 << 20;
/// Bytes of the id of a session that we would name in every request.
const SESSION_ID: usize = 4096;

impl State {
    /// A response has begun.
    pub(in crate::session) fn take_head(
        &mut self,
        exchange: u64,
        status: u16,
        headers: &[(String, Vec<u8>)],
        limit: usize,
    ) {
        if self.is_over(exchange) {
            return;
        }
        let head = self.record_of(
            exchange,
            Channel::Response,
            head_text(&status.to_string(), headers),
            Ending::None,
        );
        let value = |name: &str| {
            let found = headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        let Some(exchanges) = &mut self.http else { return };
        let Some(known) = exchanges.known.get_mut(&exchange) else { return };
        (known.head, known.status) = (Some(head), Some(status));
        known.location = value("location").filter(|_| (300..400).contains(&status));
        known.form = match media_type(value("content-type").as_deref().unwrap_or_default()).as_str() {
            "application/json" => Form::Json(Vec::new()),
            "text/event-stream" => Form::Events(EventReader::new(limit)),
            _ => Form::Other,
        };
        known.streams = matches!(known.form, Form::Events(_));
        if known.opens && (200..300).contains(&status) && exchanges.session.is_none() {
            exchanges.session = value(SESSION).filter(|session| session.len() <= SESSION_ID);
        }
    }

    /// A piece of a body. Gives back the messages that it completes.
    pub(in crate::session) fn take_body(
        &mut self,
        exchange: u64,
        bytes: Vec<u8>,
        limit: usize,
    ) -> Vec<(Vec<u8>, Ending)> {
        self.kept += bytes.len();
        let Some(known) = self.known_mut(exchange).filter(|known| known.closed.is_none()) else {
            return Vec::new();
        };
        match &mut known.form {
            Form::Json(body) => {
                // One byte more than the limit shows that it was passed.
                let room = (limit + 1).saturating_sub(body.len()).min(bytes.len());
                body.extend_from_slice(&bytes[..room]);
                return Vec::new();
            }
            Form::Events(reader) => {
                let events = reader.push(&bytes);
                let room = EVENTS_KEPT.saturating_sub(known.raw).min(bytes.len());
                known.raw += room;
                if room > 0 {
                    self.record_of(exchange, Channel::Body, bytes[..room].to_vec(), Ending::None);
                }
                return self.messages_of_events(exchange, events);
            }
            Form::Unknown | Form::Other => {
                let room = OTHER_KEPT.saturating_sub(known.text.len()).min(bytes.len());
                known.text.extend_from_slice(&bytes[..room]);
                if room > 0 {
                    self.record_of(exchange, Channel::Body, bytes[..room].to_vec(), Ending::None);
                }
            }
        }
        Vec::new()
    }

    fn messages_of_events(
        &mut self,
        exchange: u64,
        events: Vec<wire::events::Event>,
    ) -> Vec<(Vec<u8>, Ending)> {
        let mut messages = Vec::new();
        for event in events {
            let unfinished = event.defects.contains(&wire::events::EventDefect::Unfinished);
            if let Some(known) = self.known_mut(exchange).filter(|_| !unfinished) {
                if let Some(id) = &event.id {
                    // An empty one takes the name from what follows.
                    known.last_event = Some(id.clone()).filter(|id| !id.is_empty());
                }
                known.retry = event.retry.or(known.retry);
            }
            let is_endpoint = event.name.as_deref() == Some("endpoint");
            if let (true, Some(data)) = (is_endpoint, &event.data) {
                self.point_to(exchange, &String::from_utf8_lossy(data));
                continue;
            }
            let is_cut = event.is_too_long();
            let (length, is_message) = (event.length, event.is_message());
            if let (true, Some(data)) = (is_message && !data_is_blank(&event.data), event.data) {
                let ending = match (is_cut, unfinished) {
                    (true, _) => Ending::TooLong(length),
                    (_, true) => Ending::Unfinished,
                    _ => Ending::None,
                };
                messages.push((data, ending));
            }
        }
        messages
    }

    /// An exchange has ended. Gives back the message that its body was.
    pub(in crate::session) fn close_exchange(
        &mut self,
        exchange: u64,
        closing: &Closing,
        limit: usize,
    ) -> Vec<(Vec<u8>, Ending)> {
        let Some(known) = self.known_mut(exchange) else {
            return Vec::new();
        };
        let whole = *closing == Closing::Complete;
        // What refuses a request without a message says something of HTTP, and answers nothing.
        let is_refusal = known.sent.is_none() && known.status.is_some_and(|status| status >= 400);
        if let Form::Json(body) = &known.form {
            // Should it turn out to be no message, these are the words of a refusal.
            known.text = body[..body.len().min(SHOWN)].to_vec();
        }
        if let (true, Form::Json(body)) = (is_refusal, &mut known.form) {
            let body = std::mem::take(body);
            self.record_of(exchange, Channel::Body, body, Ending::None);
            return Vec::new();
        }
        match std::mem::take(&mut known.form) {
            Form::Json(body) if body.iter().all(u8::is_ascii_whitespace) => Vec::new(),
            Form::Json(body) if body.len() > limit => {
                vec![(body[..limit].to_vec(), Ending::TooLong(body.len() as u64))]
            }
            Form::Json(body) => vec![(body, if whole { Ending::None } else { Ending::Unfinished })],
            Form::Events(mut reader) => {
                // What a connection cuts in the middle is lost to clients, and comes again where a stream is taken up.
                let is_cut = matches!(closing, Closing::Broken(_) | Closing::Abandoned);
                let rest = reader.finish().filter(|_| !is_cut).into_iter().collect();
                self.messages_of_events(exchange, rest)
            }
            Form::Unknown | Form::Other => Vec::new(),
        }
    }

    /// The last entry of an exchange.
    pub(in crate::session) fn record_closing(&mut self, exchange: u64, closing: Closing) {
        let words = match &closing {
            Closing::Complete => String::new(),
            Closing::Abandoned => "abandoned".to_owned(),
            Closing::TooLong => "too-long".to_owned(),
            Closing::Flooded => "flooded".to_owned(),
            Closing::Unreachable(reason) => format!("unreachable: {reason}"),
            Closing::Broken(reason) => format!("broken: {reason}"),
            Closing::Unsendable(reason) => format!("unsendable: {reason}"),
        };
        let known = self.known(exchange);
        if known.is_some_and(|known| known.closed.is_some()) {
            return;
        }
        let sequence = self.record_of(exchange, Channel::Closed, words.into_bytes(), Ending::None);
        if let Closing::Unreachable(reason) = &closing {
            self.unreachable = Some(reason.clone());
        }
        if let Some(known) = self.known_mut(exchange) {
            known.closed = Some((sequence, closing));
        }
    }

    /// Whether a message of the exchange has become longer than is read: then its end need not be waited for.
    pub(in crate::session) fn is_too_long(&self, exchange: u64, limit: usize) -> bool {
        let known = self.known(exchange);
        known.is_some_and(|known| match &known.form {
            Form::Json(body) => body.len() > limit,
            Form::Events(reader) => reader.is_too_long(),
            Form::Unknown | Form::Other => false,
        })
    }

    /// Ends every exchange that is open.
    pub(in crate::session) fn close_all(&mut self, closing: &Closing) {
        let open = self.http.iter().flat_map(|http| &http.known).filter(|(_, known)| known.closed.is_none());
        let mut open: Vec<u64> = open.map(|(number, _)| *number).collect();
        open.sort_unstable();
        open.into_iter().for_each(|number| self.record_closing(number, closing.clone()));
    }
}

fn data_is_blank(data: &Option<Vec<u8>>) -> bool {
    data.as_ref().is_none_or(|data| data.iter().all(u8::is_ascii_whitespace))
}

/// The type of a body, without its parameters, in lower case.
pub(crate) fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
