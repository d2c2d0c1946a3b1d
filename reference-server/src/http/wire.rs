//! What passes through the door of an HTTP server: requests, responses and events, before and after HTTP's own work.

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::revision::Revision;

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// Asks proxies not to hold events back.
pub(crate) const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A request, complete with its body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arrival {
    pub method: Method,
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Arrival {
    /// The value of a header; none where it is absent, given twice, or not visible ASCII.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next().filter(|_| values.next().is_none());
        value.and_then(|value| value.to_str().ok())
    }

    /// Sets a header; a value that no header can have is left out.
    pub fn set(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            self.headers.insert(name, value);
        }
    }

    /// The body as JSON, if it is that.
    pub fn message(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Whether the body is one message without an id.
    pub fn notifies(&self) -> bool {
        let message = self.message().unwrap_or_default();
        message["method"].is_string() && message.get("id").is_none()
    }

    /// Whether it names a session, of whatever id.
    pub fn has_session(&self) -> bool {
        self.headers.contains_key(SESSION)
    }

    /// Whether it follows the revision without sessions, as its header says.
    pub fn is_stateless(&self) -> bool {
        self.header(&VERSION) == Some(Revision::V2026_07_28.name())
    }
}

/// A response, before it is sent.
pub(crate) struct Departure {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub content: Content,
    /// By HTTP/1.0, where a body ends with its connection.
    pub old: bool,
}

/// What a response holds.
pub(crate) enum Content {
    Bytes(Vec<u8>),
    /// Events, as they come.
    Stream(Body),
}

impl Departure {
    /// A response without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), content: Content::Bytes(Vec::new()), old: false }
    }

    pub fn json(status: StatusCode, body: Vec<u8>) -> Self {
        Self { content: Content::Bytes(body), ..Self::empty(status) }.with(CONTENT_TYPE, JSON)
    }

    pub fn stream(body: Body) -> Self {
        let departure = Self { content: Content::Stream(body), ..Self::empty(StatusCode::OK) };
        departure
            .with(CONTENT_TYPE, EVENTS)
            .with(axum::http::header::CACHE_CONTROL, "no-cache")
            .with(BUFFERING, "no")
    }

    /// What of it can be compared: all but the events.
    pub fn outline(&self) -> (StatusCode, HeaderMap, Option<Vec<u8>>, bool) {
        let bytes = match &self.content {
            Content::Bytes(bytes) => Some(bytes.clone()),
            Content::Stream(_) => None,
        };
        (self.status, self.headers.clone(), bytes, self.old)
    }

    pub fn is_stream(&self) -> bool {
        matches!(self.content, Content::Stream(_))
    }

    /// The message that it holds, if it holds one.
    pub fn message(&self) -> Option<Value> {
        match &self.content {
            Content::Bytes(bytes) => serde_json::from_slice(bytes).ok(),
            Content::Stream(_) => None,
        }
    }

    /// The code of the error that it holds, if it holds one.
    pub fn code(&self) -> Option<i64> {
        self.message()?.pointer("/error/code")?.as_i64()
    }

    /// Sets a header; a value that no header can have is left out.
    pub fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            self.headers.insert(name, value);
        }
        self
    }
}

impl IntoResponse for Departure {
    fn into_response(self) -> Response {
        let body = match self.content {
            Content::Bytes(bytes) => Body::from(Bytes::from(bytes)),
            Content::Stream(body) => body,
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        if self.old {
            *response.version_mut() = Version::HTTP_10;
        }
        response
    }
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub name: Option<&'static str>,
    pub id: Option<String>,
    /// After how many milliseconds a client may come back.
    pub retry: Option<u64>,
    pub data: Option<Vec<u8>>,
    /// Whether the connection ends behind it, though the stream does not.
    pub breaks: bool,
}

/// Where an event passes.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    /// The number of the stream.
    pub stream: u64,
    /// The place of the event on it.
    pub place: u64,
    /// Whether the stream belongs to no request.
    pub listens: bool,
    /// Whether the stream is that of a session by the transport of 2024-11-05.
    pub old: bool,
    /// The revision of the session; none without one.
    pub revision: Option<Revision>,
    /// The method of the message, of what is not a reply.
    pub method: Option<String>,
    /// Whether the event carries a reply.
    pub reply: bool,
}

impl Event {
    /// The event that carries a message.
    pub fn message(line: &[u8]) -> Self {
        Self { data: Some(line.strip_suffix(b"\n").unwrap_or(line).to_vec()), ..Self::default() }
    }

    /// As it is sent: a line for each field, for data one for each of its lines, and a blank line.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut field = |name: &str, value: &[u8]| {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.push(b'\n');
        };
        if let Some(name) = self.name {
            field("event", name.as_bytes());
        }
        if let Some(id) = &self.id {
            field("id", id.as_bytes());
        }
        if let Some(retry) = self.retry {
            field("retry", retry.to_string().as_bytes());
        }
        if let Some(data) = &self.data {
            data.split(|byte| *byte == b'\n').for_each(|line| field("data", line));
        }
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_line_for_each_line_of_its_data() {
        let event = Event {
            name: Some("message"),
            id: Some("1-2".to_owned()),
            retry: Some(50),
            data: Some(b"{\n}".to_vec()),
            breaks: false,
        };
        assert_eq!(event.to_bytes(), b"event: message\nid: 1-2\nretry: 50\ndata: {\ndata: }\n\n");
        assert_eq!(Event::message(b"{}\n").to_bytes(), b"data: {}\n\n");
    }
}
