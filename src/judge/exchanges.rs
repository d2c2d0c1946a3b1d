//! What happened in each exchange over HTTP? Its request, the response's status, headers and body, and the messages and
//! events in it, as one object that cases check.

use super::conversation::{messages_of, status_of};
use crate::transcript::{Channel, Entry};
use crate::wire::events::{Event, EventReader};
use crate::wire::{self, Id, Json, Limits, Message, Object, json};
use std::collections::HashSet;

/// Messages and events of one exchange that are shown to cases; the rest is counted.
const SHOWN: usize = 256;
/// Characters of a body that is no message.
const TEXT: usize = 2_000;

/// The entries of one exchange.
#[derive(Default)]
pub struct Exchange<'a> {
    pub number: u64,
    request: Option<&'a Entry>,
    /// Our message.
    sent: Option<&'a Entry>,
    response: Option<&'a Entry>,
    bodies: Vec<&'a Entry>,
    /// Messages of the server's.
    got: Vec<&'a Entry>,
    closed: Option<&'a Entry>,
}

/// All exchanges of a conversation, in order.
#[derive(Default)]
pub struct Exchanges<'a>(Vec<Exchange<'a>>);

impl<'a> Exchanges<'a> {
    pub fn of(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut exchanges = Self::default();
        entries.into_iter().for_each(|entry| exchanges.take(entry));
        exchanges
    }

    pub fn take(&mut self, entry: &'a Entry) {
        let Some(number) = entry.exchange else { return };
        let at = match self.0.iter().rposition(|exchange| exchange.number == number) {
            Some(at) => at,
            None => {
                self.0.push(Exchange { number, ..Exchange::default() });
                self.0.len() - 1
            }
        };
        let exchange = &mut self.0[at];
        match entry.channel {
            Channel::Request => exchange.request = Some(entry),
            Channel::Stdin => exchange.sent = Some(entry),
            Channel::Response => exchange.response = Some(entry),
            Channel::Body => exchange.bodies.push(entry),
            Channel::Stdout => exchange.got.push(entry),
            Channel::Closed => exchange.closed = Some(entry),
            Channel::Stderr | Channel::EndOfInput | Channel::EndOfOutput | Channel::Exit => {}
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Exchange<'a>> {
        self.0.iter()
    }

    /// How many event ids were given to more than one event. What is replayed keeps its id, so conversations in which a
    /// stream was resumed are not counted.
    pub fn repeated_ids(&self) -> usize {
        if self.0.iter().any(|exchange| exchange.header("last-event-id").is_some()) {
            return 0;
        }
        let mut seen = HashSet::new();
        let ids = self.0.iter().flat_map(Exchange::events).filter_map(|event| event.id);
        ids.filter(|id| !id.is_empty() && !seen.insert(id.clone())).count()
    }
}

impl Exchange<'_> {
    /// The entry that stands for our side in a finding.
    pub fn sent(&self) -> Option<u64> {
        self.sent.or(self.request).map(|entry| entry.sequence)
    }

    /// The entry that stands for the server's side.
    pub fn got(&self) -> Option<u64> {
        self.response.or(self.closed).map(|entry| entry.sequence)
    }

    /// A header of our request.
    fn header(&self, name: &str) -> Option<String> {
        let headers = headers(self.request?);
        headers.get(name).and_then(Json::as_str).map(str::to_owned)
    }

    fn media_type(&self) -> String {
        let headers = self.response.map(headers).unwrap_or_default();
        crate::session::http::media_type(
            headers.get("content-type").and_then(Json::as_str).unwrap_or_default(),
        )
    }

    fn events(&self) -> Vec<Event> {
        if self.media_type() != "text/event-stream" {
            return Vec::new();
        }
        let mut reader = EventReader::new(Limits::default().length);
        let mut events: Vec<Event> = self.bodies.iter().flat_map(|body| reader.push(&body.bytes)).collect();
        // What is still open may be in the middle of an event.
        events.extend(reader.finish().filter(|_| self.closed.is_some()));
        events
    }

    /// As cases see it; `docs/cases.md` lists the members.
    pub fn view(&self) -> Json {
        let first_line = self.request.map(|request| first_line(&request.bytes)).unwrap_or_default();
        let (method, target) = first_line.split_once(' ').unwrap_or((&first_line, ""));
        let ours = self.sent.map(|sent| wire::read(&sent.bytes, &Limits::default()));
        let our_message = ours.as_ref().and_then(|reading| reading.message.as_ref());
        let is_batch = ours.as_ref().is_some_and(|reading| matches!(reading.json, Some(Json::Array(_))));
        let kind = match our_message {
            Some(Message::Request { .. }) => "request",
            Some(Message::Notification { .. }) => "notification",
            Some(Message::Result { .. } | Message::Error { .. }) => "response",
            None if is_batch => "batch",
            None if self.sent.is_some() => "other",
            None => "none",
        };
        let status = self.response.and_then(status_of);
        let messages: Vec<_> = self.messages().collect();
        let answers = messages.iter().filter(|(message, _)| message.is_response()).count();
        let id = our_message.and_then(Message::id);
        let answer = messages.iter().find(|(message, _)| answers_to(message, id, status));
        let media_type = self.media_type();
        let text: Vec<u8> =
            self.bodies.iter().flat_map(|body| body.bytes.iter().copied()).take(TEXT).collect();
        let body = match media_type.as_str() {
            "text/event-stream" => "events",
            _ if self.got.is_empty() && text.iter().all(u8::is_ascii_whitespace) => "empty",
            "application/json" => "json",
            _ => "other",
        };
        let mut view = Object::new();
        view.push("method", method);
        view.push("target", target);
        view.push("sent", self.request.map(headers).unwrap_or_default());
        view.push("kind", kind);
        view.push("asks", our_message.and_then(Message::method).map(Json::from));
        view.push("deliberate", self.request.is_some_and(|request| request.deliberate));
        view.push("status", status.map(|status| Json::from(i64::from(status))));
        view.push("headers", self.response.map(headers).unwrap_or_default());
        view.push("type", media_type.as_str());
        view.push("body", body);
        view.push("text", String::from_utf8_lossy(&text).as_ref());
        view.push("answers", answers);
        view.push("answer", answer.map(|(_, json)| json.clone()));
        view.push("messages", Json::Array(messages.into_iter().take(SHOWN).map(|(_, json)| json).collect()));
        view.push("events", Json::Array(self.events().iter().take(SHOWN).map(event_view).collect()));
        view.push("ended", self.ended());
        Json::Object(view)
    }

    fn messages(&self) -> impl Iterator<Item = (Message, Json)> {
        let read = |entry: &&Entry| messages_of(wire::read(&entry.bytes, &Limits::default()), &entry.bytes);
        self.got.iter().flat_map(read).filter_map(|reading| Some((reading.message?, reading.json?)))
    }

    fn ended(&self) -> &'static str {
        let Some(closed) = self.closed else { return "open" };
        match closed.bytes.as_slice() {
            b"" => "whole",
            b"abandoned" => "abandoned",
            words if words.starts_with(b"unreachable") => "unreachable",
            _ => "broken",
        }
    }
}

/// An answer to our request: by its id, or in a response that refuses the request, where it needs none.
fn answers_to(message: &Message, id: Option<&Id>, status: Option<u16>) -> bool {
    let refused = status.is_some_and(|status| status >= 400);
    message.is_response()
        && (message.id().is_some() && message.id() == id || message.id().is_none() && refused)
}

fn event_view(event: &Event) -> Json {
    let defects: Vec<String> = event.defects.iter().map(ToString::to_string).collect();
    json!({
        "name": event.name.as_deref(),
        "id": event.id.as_deref(),
        "retry": event.retry,
        "data": event.data.is_some(),
        "blank": event.data.as_ref().is_some_and(|data| data.iter().all(u8::is_ascii_whitespace)),
        "defects": defects,
    })
}

fn first_line(head: &[u8]) -> String {
    String::from_utf8_lossy(head.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned()
}

/// The headers of a head, by name in lower case; of those that stand twice, the values joined as HTTP joins them.
fn headers(head: &Entry) -> Object {
    let text = String::from_utf8_lossy(&head.bytes);
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in text.lines().skip(1).filter_map(|line| line.split_once(": ")) {
        let name = name.to_ascii_lowercase();
        match headers.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = format!("{known}, {value}"),
            None => headers.push((name, value.to_owned())),
        }
    }
    headers.iter().map(|(name, value)| (name.as_str(), Json::from(value.as_str()))).collect()
}
