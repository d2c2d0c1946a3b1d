//! Faults of sessions: their ids, and what is said to those who name none, a wrong one, or one that has ended.

use axum::http::StatusCode;
use axum::http::header::HeaderValue;
use serde_json::{Value, json};

use super::{answer_if, said, set_status};
use crate::edge::{Hook::*, Meeting, Memory, Row, http_row};
use crate::http::{Arrival, Departure, SESSION};

pub(in crate::faults) const TABLE: &[Row] = &[
    http_row(
        "session-id-with-space",
        "The id of a session holds a space",
        &[
            Arrive(|_, arrival| {
                let id = arrival.header(&SESSION).map(|id| id.replace(' ', ""));
                id.into_iter().for_each(|id| arrival.set(SESSION, &id));
                Meeting::Pass
            }),
            Depart(|_, _, departure| {
                reissue(departure, |id| {
                    let (start, end) = id.split_at(id.len() / 2);
                    format!("{start} {end}")
                });
            }),
        ],
    ),
    http_row(
        "session-id-beyond-ascii",
        "The id of a session ends in a character beyond ASCII",
        &[
            Arrive(|_, arrival| {
                let id = arrival.headers.get(SESSION).map(HeaderValue::as_bytes);
                let id = id.map(|id| id.iter().copied().filter(u8::is_ascii).collect());
                let id = id.and_then(|id: Vec<u8>| String::from_utf8(id).ok());
                id.into_iter().for_each(|id| arrival.set(SESSION, &id));
                Meeting::Pass
            }),
            Depart(|_, _, departure| reissue(departure, |id| format!("{id}é"))),
        ],
    ),
    http_row(
        "session-id-short",
        "The id of a session has four characters",
        &[
            Arrive(translate),
            Depart(|memory, _, departure| {
                rename(memory, departure, |_, id| id.chars().take(4).collect());
            }),
        ],
    ),
    http_row(
        "session-ids-in-sequence",
        "The ids of sessions are numbers in sequence",
        &[
            Arrive(translate),
            Depart(|memory, _, departure| {
                rename(memory, departure, |count, _| format!("session-{count:012}"))
            }),
        ],
    ),
    http_row(
        "session-id-the-same-for-all",
        "All sessions have the same id",
        &[Depart(|memory, _, departure| {
            reissue(departure, |id| {
                let first = memory.kept.entry("first".to_owned()).or_insert_with(|| json!(id));
                first.as_str().unwrap_or("").to_owned()
            });
        })],
    ),
    http_row(
        "session-id-unneeded",
        "A request that names no session is taken for one of the session opened last",
        &[
            Arrive(|memory, arrival| {
                let opens = said(arrival, "/method").as_deref() == Some("initialize");
                if !arrival.has_session() && !opens && !arrival.is_stateless() {
                    enter_last(memory, arrival);
                }
                Meeting::Pass
            }),
            Depart(|memory, _, departure| remember(memory, departure)),
        ],
    ),
    http_row(
        "session-missing-as-not-found",
        "A request that names no session is refused with 404",
        &[Depart(|_, arrival, departure| {
            let missing = !arrival.has_session() && departure.status == StatusCode::BAD_REQUEST;
            set_status(departure, missing && departure.code() == Some(-32600), StatusCode::NOT_FOUND);
        })],
    ),
    http_row(
        "ended-session-served",
        "A session that its client has ended goes on",
        &[Arrive(|_, arrival| {
            answer_if(arrival.method == "DELETE" && arrival.has_session(), StatusCode::NO_CONTENT)
        })],
    ),
    http_row(
        "ended-session-as-bad-request",
        "A request of a session that has ended is refused with 400",
        &[
            Arrive(note_end),
            Depart(|memory, arrival, departure| end_as(memory, arrival, departure, StatusCode::BAD_REQUEST)),
        ],
    ),
    http_row(
        "ended-session-as-ok",
        "A request of a session that has ended is refused with status 200",
        &[
            Arrive(note_end),
            Depart(|memory, arrival, departure| end_as(memory, arrival, departure, StatusCode::OK)),
        ],
    ),
    http_row(
        "ended-session-as-server-error",
        "A request of a session that has ended makes the server fail with 500",
        &[
            Arrive(note_end),
            Depart(|memory, arrival, departure| {
                end_as(memory, arrival, departure, StatusCode::INTERNAL_SERVER_ERROR);
            }),
        ],
    ),
    http_row(
        "unknown-session-served",
        "A request that names a session that never was is served in the one opened last",
        &[
            Arrive(|memory, arrival| {
                let id = arrival.header(&SESSION);
                if id.is_some_and(|id| !memory.seen.contains(id)) && !arrival.is_stateless() {
                    enter_last(memory, arrival);
                }
                Meeting::Pass
            }),
            Depart(|memory, _, departure| remember(memory, departure)),
        ],
    ),
    http_row(
        "session-id-minted-without-sessions",
        "A response to a request without a session bears the id of one",
        &[Depart(|_, arrival, departure| {
            if arrival.is_stateless() {
                departure.headers.insert(SESSION, HeaderValue::from_static("d2f1c0a4e5b6978812345678"));
            }
        })],
    ),
    http_row(
        "session-id-echoed-without-sessions",
        "Without sessions, the id of one is sent back",
        &[Depart(|_, arrival, departure| {
            if let Some(id) = arrival.headers.get(SESSION).filter(|_| arrival.is_stateless()) {
                departure.headers.insert(SESSION, id.clone());
            }
        })],
    ),
    http_row(
        "session-id-looked-at-without-sessions",
        "Without sessions, a request that names one is refused",
        &[Arrive(|_, arrival| {
            answer_if(arrival.is_stateless() && arrival.has_session(), StatusCode::NOT_FOUND)
        })],
    ),
];

/// Changes the id of a session as it is issued.
fn reissue(departure: &mut Departure, change: impl FnOnce(&str) -> String) {
    let id = departure.headers.get(SESSION).and_then(|id| id.to_str().ok()).map(change);
    // As Latin-1, so that each character is one byte.
    let bytes: Option<Vec<u8>> =
        id.map(|id| id.chars().map(|char| u8::try_from(u32::from(char)).unwrap_or(b'?')).collect());
    if let Some(id) = bytes.and_then(|bytes| HeaderValue::from_bytes(&bytes).ok()) {
        departure.headers.insert(SESSION, id);
    }
}

/// Issues the id of a session under another name, made from how many there are and the id.
fn rename(memory: &mut Memory, departure: &mut Departure, name: fn(u64, &str) -> String) {
    reissue(departure, |id| {
        memory.count += 1;
        let new = name(memory.count, id);
        memory.kept.insert(new.clone(), json!(id));
        new
    });
}

/// Finds the session behind such a name.
fn translate(memory: &mut Memory, arrival: &mut Arrival) -> Meeting {
    let id = arrival.header(&SESSION).and_then(|name| memory.kept.get(name)).and_then(Value::as_str);
    id.into_iter().for_each(|id| arrival.set(SESSION, id));
    Meeting::Pass
}

/// Takes a request for one of the session that was opened last.
fn enter_last(memory: &Memory, arrival: &mut Arrival) {
    let last = memory.kept.get("last").and_then(Value::as_str);
    last.into_iter().for_each(|id| arrival.set(SESSION, id));
}

/// Remembers the sessions that were opened, and which of them last.
fn remember(memory: &mut Memory, departure: &Departure) {
    if let Some(id) = departure.headers.get(SESSION).and_then(|id| id.to_str().ok()) {
        memory.kept.insert("last".to_owned(), json!(id));
        memory.seen.insert(id.to_owned());
    }
}

fn note_end(memory: &mut Memory, arrival: &mut Arrival) -> Meeting {
    if let Some(id) = arrival.header(&SESSION).filter(|_| arrival.method == "DELETE") {
        memory.seen.insert(id.to_owned());
    }
    Meeting::Pass
}

/// Refuses a request of a session that has ended by this status.
fn end_as(memory: &Memory, arrival: &Arrival, departure: &mut Departure, status: StatusCode) {
    let known = arrival.header(&SESSION).is_some_and(|id| memory.seen.contains(id));
    set_status(departure, known && departure.status == StatusCode::NOT_FOUND, status);
}
