//! Faults of HTTP: what it adds to messages, and what it does to them.

use axum::http::StatusCode;
use serde_json::Value;

use crate::edge::Meeting;
use crate::http::{Arrival, Content, Departure};

pub(super) mod headers;
pub(super) mod old;
pub(super) mod sessions;
pub(super) mod status;
pub(super) mod streams;

/// What a body says at a pointer, if it is a text.
fn said(arrival: &Arrival, pointer: &str) -> Option<String> {
    arrival.message()?.pointer(pointer)?.as_str().map(str::to_owned)
}

/// The URI or the name that a request is about.
fn subject(arrival: &Arrival) -> Option<String> {
    said(arrival, "/params/uri").or_else(|| said(arrival, "/params/name"))
}

/// Whether a body is something, and no JSON.
fn is_malformed(arrival: &Arrival) -> bool {
    arrival.path == "/mcp" && arrival.method == "POST" && arrival.message().is_none()
}

fn set_status(departure: &mut Departure, when: bool, status: StatusCode) {
    if when {
        departure.status = status;
    }
}

/// Alters the message that a response holds.
fn alter(departure: &mut Departure, when: bool, change: impl FnOnce(&mut Value)) {
    if let Some(mut message) = departure.message().filter(|_| when) {
        change(&mut message);
        departure.content = Content::Bytes(message.to_string().into_bytes());
    }
}

/// Answers a request by a status alone where `when` holds.
fn answer_if(when: bool, status: StatusCode) -> Meeting {
    if when { Meeting::Answer(Departure::empty(status)) } else { Meeting::Pass }
}
