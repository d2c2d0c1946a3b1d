//! What happened in each exchange over HTTP? Its request, the response's status, headers and body, and the messages and
//! events in it, as one object that cases check.

use super::conversation::{messages_of, status_of};
use crate::transcript::{Channel, Entry};
use crate::wire::events::{Event, EventReader};
use crate::wire::{self, Id, Json, Limits, Message, Object, Reading, json};
use std::collections::{HashMap, HashSet};

mod relations;

use relations::{Said, shared, strays};

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
    /// A stream for what belongs to no request was open when it began.
    listening: bool,
    /// Such a stream had been opened before, whether or not it was still open.
    reopens: bool,
    /// The client has cancelled the request in it, or ended the session.
    cancelled: bool,
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
        if entry.channel == Channel::Request {
            if entry.bytes.starts_with(b"DELETE ") && !entry.deliberate {
                // With the session ends what is open in it.
                let open = self.0.iter_mut().filter(|exchange| exchange.closed.is_none());
                open.for_each(|exchange| exchange.cancelled = true);
            }
            self.0[at].listening = self.0.iter().any(|other| other.is_listener() && other.closed.is_none());
            self.0[at].reopens = self.0.iter().any(Exchange::is_listener);
        }
        if entry.channel == Channel::Stdin {
            self.cancel(entry);
        }
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

    /// Marks the request that a notification of ours cancels.
    fn cancel(&mut self, entry: &Entry) {
        const CANCELLED: &[u8] = b"notifications/cancelled";
        if !entry.bytes.windows(CANCELLED.len()).any(|window| window == CANCELLED) {
            return;
        }
        let Some(Message::Notification { params: Some(params), .. }) = read(entry).message else { return };
        let Some(id) = params.get("requestId").and_then(Id::from_json) else { return };
        for exchange in &mut self.0 {
            let sent = exchange.sent.and_then(|sent| read(sent).message);
            exchange.cancelled |= sent.as_ref().and_then(Message::id) == Some(&id);
        }
    }

    /// How many events have an id, and how many of the ids stood before. What is replayed keeps its id, so that
    /// conversations in which a stream was resumed tell nothing.
    pub fn event_ids(&self) -> (usize, usize) {
        if self.0.iter().any(|exchange| exchange.header("last-event-id").is_some()) {
            return (0, 0);
        }
        let mut seen = HashSet::new();
        let ids = self.0.iter().flat_map(Exchange::events).filter_map(|event| event.id);
        let (mut count, mut repeated) = (0, 0);
        for id in ids.filter(|id| !id.is_empty()) {
            count += 1;
            repeated += usize::from(!seen.insert(id));
        }
        (count, repeated)
    }

    /// Whether an exchange was a stream of events, and has ended without a name to come back by: what it has not brought
    /// will not come.
    pub fn is_spent(&self, number: u64) -> bool {
        self.0.iter().find(|exchange| exchange.number == number).is_some_and(|exchange| {
            let accepted = exchange.response.and_then(status_of).is_some_and(|status| status < 300);
            let has_ended = matches!(exchange.ended(), "whole" | "broken") && !exchange.cancelled;
            let is_named = |event: &Event| event.id.as_ref().is_some_and(|id| !id.is_empty());
            let streams = exchange.media_type() == "text/event-stream";
            streams && accepted && has_ended && !exchange.events().iter().any(is_named)
        })
    }

    /// Whether the server has begun a session.
    pub fn in_session(&self) -> bool {
        self.0.iter().any(|exchange| exchange.header("mcp-session-id").is_some())
    }

    /// Each exchange as cases see it; `docs/cases.md` lists the members.
    pub fn views(&self) -> impl Iterator<Item = (&Exchange<'a>, Json)> {
        let said = self.said();
        self.0.iter().enumerate().map(move |(at, exchange)| (exchange, self.view(&said, at)))
    }

    /// One exchange as cases see it.
    pub fn view_of(&self, number: u64) -> Option<(&Exchange<'a>, Json)> {
        let at = self.0.iter().position(|exchange| exchange.number == number)?;
        Some((&self.0[at], self.view(&self.said(), at)))
    }

    fn view(&self, said: &[Said], at: usize) -> Json {
        let mut view = self.0[at].view(&said[at]);
        // What was tried before is no part of it.
        let mut begun = self.0.iter().zip(said).take(at + 1);
        view.push("old", begun.any(|(exchange, said)| exchange.is_old(said)));
        view.push("strays", strays(said, at));
        view.push("shared", shared(said, at));
        Json::Object(view)
    }

    fn said(&self) -> Vec<Said> {
        let mut all: Vec<Said> = self.0.iter().map(Exchange::said).collect();
        for at in 0..all.len() {
            let last = self.0[at].header("last-event-id");
            all[at].resumes = last.and_then(|id| all[..at].iter().position(|said| said.has_event_id(&id)));
        }
        all
    }
}

fn read(entry: &Entry) -> Reading {
    wire::read(&entry.bytes, &Limits::default())
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
        crate::session::exchanges::media_type(
            headers.get("content-type").and_then(Json::as_str).unwrap_or_default(),
        )
    }

    fn events(&self) -> Vec<Event> {
        if self.media_type() != "text/event-stream" {
            return Vec::new();
        }
        let mut reader = EventReader::new(Limits::default().length);
        let mut events: Vec<Event> = self.bodies.iter().flat_map(|body| reader.push(&body.bytes)).collect();
        // What is still open, or was not kept, may be in the middle of an event.
        let kept: usize = self.bodies.iter().map(|body| body.bytes.len()).sum();
        let is_whole = self.closed.is_some() && kept < crate::session::exchanges::EVENTS_KEPT;
        events.extend(reader.finish().filter(|_| is_whole));
        events
    }

    /// A stream for what belongs to no request.
    fn is_listener(&self) -> bool {
        let is_get = self.request.is_some_and(|request| request.bytes.starts_with(b"GET "));
        let is_served = self.response.and_then(status_of) == Some(200);
        is_get && is_served && self.media_type() == "text/event-stream"
    }

    /// Whether it is the stream of the transport of 2024-11-05.
    fn is_old(&self, said: &Said) -> bool {
        self.sent.is_none() && said.events.iter().any(|event| event.name.as_deref() == Some("endpoint"))
    }

    fn said(&self) -> Said {
        let documents = self.got.iter().map(|entry| document(&read(entry))).collect();
        let messages: Vec<_> = self.messages().collect();
        let mut notices = HashMap::new();
        // Others, logs for instance, may well come twice in the same words.
        let is_change =
            |method: &str| method == "notifications/resources/updated" || method.ends_with("/list_changed");
        let notifications = messages.iter().filter(
            |(message, _)| matches!(message, Message::Notification { method, .. } if is_change(method)),
        );
        for (_, json) in notifications.take(SHOWN) {
            *notices.entry(json.to_string()).or_default() += 1;
        }
        Said {
            ours: self.sent.map(read),
            documents,
            messages,
            events: self.events(),
            notices,
            resumes: None,
            began: self.request.map_or(0, |request| request.sequence),
            ended: self.closed.map_or(u64::MAX, |closed| closed.sequence),
        }
    }

    fn view(&self, said: &Said) -> Object {
        let first_line = self.request.map(|request| first_line(&request.bytes)).unwrap_or_default();
        let (method, target) = first_line.split_once(' ').unwrap_or((&first_line, ""));
        let our_message = said.ours.as_ref().and_then(|reading| reading.message.as_ref());
        let is_batch = said.ours.as_ref().is_some_and(|reading| matches!(reading.json, Some(Json::Array(_))));
        let kind = match our_message {
            Some(Message::Request { .. }) => "request",
            Some(Message::Notification { .. }) => "notification",
            Some(Message::Result { .. } | Message::Error { .. }) => "response",
            None if is_batch => "batch",
            None if self.sent.is_some() => "other",
            None => "none",
        };
        let status = self.response.and_then(status_of);
        let messages = &said.messages;
        let answers = messages.iter().filter(|(message, _)| message.is_response()).count();
        let id = our_message.and_then(Message::id);
        let answer = messages.iter().find(|(message, _)| answers_to(message, id, status));
        let media_type = self.media_type();
        let text: Vec<u8> =
            self.bodies.iter().flat_map(|body| body.bytes.iter().copied()).take(TEXT).collect();
        let is_empty = self.got.is_empty() && text.iter().all(u8::is_ascii_whitespace);
        let body = match media_type.as_str() {
            "text/event-stream" if !is_empty || self.closed.is_none() => "events",
            _ if is_empty => "empty",
            "application/json" => "json",
            _ => "other",
        };
        let notifications = messages.iter().filter_map(|(message, _)| match message {
            Message::Notification { method, .. } => Some(Json::from(method.as_str())),
            _ => None,
        });
        let mut view = Object::new();
        view.push("number", self.number);
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
        view.push("notifications", Json::Array(notifications.take(SHOWN).collect()));
        view.push(
            "messages",
            Json::Array(messages.iter().take(SHOWN).map(|(_, json)| json.clone()).collect()),
        );
        let documents = said.documents.iter().take(SHOWN).map(|document| Json::from(*document));
        view.push("documents", Json::Array(documents.collect()));
        view.push("events", Json::Array(said.events.iter().take(SHOWN).map(event_view).collect()));
        view.push("resumable", said.events.iter().any(|event| event.id.is_some()));
        view.push("retry", said.events.iter().rev().find_map(|event| event.retry));
        view.push("listening", self.listening);
        view.push("reopens", self.reopens);
        view.push("cancelled", self.cancelled);
        view.push("ended", self.ended());
        view
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
            b"too-long" => "too-long",
            b"flooded" => "flooded",
            _ => "broken",
        }
    }
}

/// What a JSON body, or the data of an event, is as a whole.
fn document(reading: &Reading) -> &'static str {
    let broken = reading.defects.iter().any(|defect| matches!(defect.name(), "not-json" | "trailing-text"));
    match &reading.json {
        _ if broken => "broken",
        Some(Json::Object(_)) => "object",
        Some(Json::Array(_)) => "array",
        Some(_) => "other",
        None => "broken",
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
