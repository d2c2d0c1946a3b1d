//! Faults of responses: their status, their type and their body.

use axum::http::StatusCode;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::{alter, answer_if, is_malformed, said, set_status};
use crate::edge::{Hook::*, Meeting, Row, http_row};
use crate::http::{Arrival, BUFFERING, Content, Departure, LAST_EVENT};

pub(in crate::faults) const TABLE: &[Row] = &[
    http_row(
        "post-not-allowed",
        "The endpoint takes no POST but one that opens a conversation",
        &[Arrive(|_, arrival| {
            let opening = ["initialize", "notifications/initialized", "server/discover"];
            let opens = said(arrival, "/method").is_some_and(|method| opening.contains(&method.as_str()));
            let posts = arrival.path == "/mcp" && arrival.method == "POST";
            answer_if(posts && !opens, StatusCode::METHOD_NOT_ALLOWED)
        })],
    ),
    http_row(
        "reply-as-text",
        "A reply is said to be plain text",
        &[Depart(|_, _, departure| {
            if departure.status == StatusCode::OK && !departure.is_stream() {
                departure.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
            }
        })],
    ),
    http_row(
        "reply-untyped",
        "A reply does not say what it is",
        &[Depart(|_, _, departure| {
            if departure.status == StatusCode::OK && !departure.is_stream() {
                departure.headers.remove(CONTENT_TYPE);
            }
        })],
    ),
    http_row(
        "events-as-json",
        "A stream that answers a request is said to be JSON",
        &[Depart(|_, arrival, departure| {
            if departure.is_stream() && arrival.method == "POST" {
                departure.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
        })],
    ),
    http_row(
        "accepted-as-ok",
        "A notification is taken with status 200",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_taken(arrival, departure), StatusCode::OK)
        })],
    ),
    http_row(
        "accepted-as-no-content",
        "A notification is taken with status 204",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_taken(arrival, departure), StatusCode::NO_CONTENT);
        })],
    ),
    http_row(
        "accepted-with-body",
        "The status 202 comes with a body",
        &[Depart(|_, arrival, departure| {
            if is_taken(arrival, departure) {
                *departure = Departure::json(StatusCode::ACCEPTED, b"{}".to_vec());
            }
        })],
    ),
    http_row(
        "accepted-with-reply",
        "A notification is answered like a request",
        &[Depart(|_, arrival, departure| {
            if is_taken(arrival, departure) {
                *departure = Departure::json(StatusCode::OK, nothing());
            }
        })],
    ),
    http_row(
        "bad-notification-accepted",
        "A notification to no session is taken",
        &[Depart(|_, arrival, departure| {
            if goes_nowhere(arrival, departure) {
                *departure = Departure::empty(StatusCode::ACCEPTED);
            }
        })],
    ),
    http_row(
        "bad-notification-answered",
        "A notification to no session is answered with a result",
        &[Depart(|_, arrival, departure| {
            if goes_nowhere(arrival, departure) {
                *departure = Departure::json(StatusCode::OK, nothing());
            }
        })],
    ),
    http_row(
        "reply-in-array",
        "A reply is the one element of an array",
        &[Depart(|_, _, departure| {
            alter(departure, true, |reply| {
                if reply.get("result").is_some() {
                    *reply = json!([reply]);
                }
            });
        })],
    ),
    http_row(
        "reply-twice-in-body",
        "A body holds its reply twice",
        &[Depart(|_, _, departure| {
            let holds = departure.message().is_some_and(|reply| reply.get("result").is_some());
            if let Content::Bytes(bytes) = &mut departure.content
                && holds
            {
                let twice = bytes.repeat(2);
                *bytes = twice;
            }
        })],
    ),
    http_row(
        "list-without-body",
        "A list is answered with status 200 and no body",
        &[Depart(|_, arrival, departure| {
            if lists(arrival) {
                departure.content = Content::Bytes(Vec::new());
            }
        })],
    ),
    http_row(
        "list-fails-bare",
        "A list makes the server fail with status 500 and no body",
        &[Depart(|_, arrival, departure| {
            if lists(arrival) {
                departure.status = StatusCode::INTERNAL_SERVER_ERROR;
                departure.content = Content::Bytes(Vec::new());
            }
        })],
    ),
    http_row(
        "unknown-method-as-ok",
        "Without a session, an unknown method is refused with status 200",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_unknown_method(arrival, departure), StatusCode::OK);
        })],
    ),
    http_row(
        "unknown-method-as-bad-request",
        "Without a session, an unknown method is refused with status 400",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_unknown_method(arrival, departure), StatusCode::BAD_REQUEST);
        })],
    ),
    http_row(
        "unknown-method-without-body",
        "Without a session, an unknown method is refused without a word",
        &[Depart(|_, arrival, departure| {
            if is_unknown_method(arrival, departure) {
                *departure = Departure::empty(StatusCode::NOT_FOUND);
            }
        })],
    ),
    http_row(
        "missing-meta-as-ok",
        "A request that does not describe itself is refused with status 200",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_undescribed(arrival, departure), StatusCode::OK);
        })],
    ),
    http_row(
        "missing-meta-as-server-error",
        "A request that does not describe itself is refused with status 500",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_undescribed(arrival, departure), StatusCode::INTERNAL_SERVER_ERROR);
        })],
    ),
    http_row(
        "unsupported-version-as-ok",
        "A version that is not served is refused with status 200",
        &[Depart(|_, _, departure| {
            set_status(departure, departure.code() == Some(-32022), StatusCode::OK);
        })],
    ),
    http_row(
        "missing-capability-as-ok",
        "What the client is not able to is refused with status 200",
        &[Depart(|_, _, departure| {
            set_status(departure, departure.code() == Some(-32021), StatusCode::OK);
        })],
    ),
    http_row(
        "malformed-as-ok",
        "A body that is no JSON is refused with status 200",
        &[Depart(|_, arrival, departure| set_status(departure, is_malformed(arrival), StatusCode::OK))],
    ),
    http_row(
        "malformed-accepted",
        "A body that is no JSON is taken as if it were a notification",
        &[Arrive(|_, arrival| answer_if(is_malformed(arrival), StatusCode::ACCEPTED))],
    ),
    http_row(
        "malformed-as-server-error",
        "A body that is no JSON makes the server fail with 500",
        &[Arrive(|_, arrival| answer_if(is_malformed(arrival), StatusCode::INTERNAL_SERVER_ERROR))],
    ),
    http_row(
        "malformed-unanswered",
        "A body that is no JSON is never answered",
        &[Arrive(|_, arrival| if is_malformed(arrival) { Meeting::Silence } else { Meeting::Pass })],
    ),
    http_row(
        "accept-incomplete-as-server-error",
        "A client that does not take streams makes the server fail with 500",
        &[Arrive(|_, arrival| {
            let takes = arrival.headers.get(ACCEPT).and_then(|takes| takes.to_str().ok()).unwrap_or_default();
            let fails = arrival.method == "POST" && !takes.contains("text/event-stream");
            answer_if(fails, StatusCode::INTERNAL_SERVER_ERROR)
        })],
    ),
    http_row(
        "other-body-type-as-server-error",
        "A body that is said to be text makes the server fail with 500",
        &[Arrive(|_, arrival| {
            let kind = arrival.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
            let fails = kind.is_some_and(|kind| kind.starts_with("text/"));
            answer_if(fails, StatusCode::INTERNAL_SERVER_ERROR)
        })],
    ),
    http_row(
        "not-found-without-body",
        "A resource that is not there is refused with 404 and no body",
        &[Depart(|_, arrival, departure| {
            let absent = matches!(departure.code(), Some(-32002 | -32602));
            if absent && said(arrival, "/params/uri").is_some() {
                *departure = Departure::empty(StatusCode::NOT_FOUND);
            }
        })],
    ),
    http_row(
        "get-as-json",
        "A GET in a session is answered with JSON",
        &[Arrive(|_, arrival| {
            if listens(arrival) {
                return Meeting::Answer(Departure::json(StatusCode::OK, b"{}".to_vec()));
            }
            Meeting::Pass
        })],
    ),
    http_row(
        "get-not-found",
        "A GET in a session is answered with 404",
        &[Arrive(|_, arrival| answer_if(listens(arrival), StatusCode::NOT_FOUND))],
    ),
    http_row(
        "get-untyped",
        "The stream of a GET does not say what it is",
        &[Depart(|_, arrival, departure| {
            if departure.is_stream() && listens(arrival) {
                departure.headers.remove(CONTENT_TYPE);
            }
        })],
    ),
    http_row(
        "get-not-found-without-sessions",
        "A server without sessions answers a GET with 404",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_not_allowed(arrival, departure, "GET"), StatusCode::NOT_FOUND);
        })],
    ),
    http_row(
        "delete-taken-without-sessions",
        "A server without sessions takes a DELETE",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_not_allowed(arrival, departure, "DELETE"), StatusCode::OK);
        })],
    ),
    http_row(
        "last-event-id-refused",
        "Without a session, a request that names a last event is refused",
        &[Arrive(|_, arrival| answer_if(comes_back(arrival), StatusCode::BAD_REQUEST))],
    ),
    http_row(
        "last-event-id-obeyed",
        "Without a session, a request that names a last event gets a stream with nothing on it",
        &[Arrive(|_, arrival| {
            if comes_back(arrival) {
                return Meeting::Answer(Departure::stream(axum::body::Body::empty()));
            }
            Meeting::Pass
        })],
    ),
    http_row(
        "buffering-allowed",
        "A stream does not ask proxies not to hold it back",
        &[Depart(|_, _, departure| _ = departure.headers.remove(BUFFERING))],
    ),
];

fn nothing() -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": Value::Null, "result": {} }).to_string().into_bytes()
}

/// Whether a notification to the endpoint of both eras was taken.
fn is_taken(arrival: &Arrival, departure: &Departure) -> bool {
    arrival.path == "/mcp" && departure.status == StatusCode::ACCEPTED
}

/// Whether a request asks for the list of resources.
fn lists(arrival: &Arrival) -> bool {
    said(arrival, "/method").as_deref() == Some("resources/list")
}

/// Whether a notification was refused because its session is not known.
fn goes_nowhere(arrival: &Arrival, departure: &Departure) -> bool {
    arrival.notifies() && arrival.has_session() && departure.status == StatusCode::NOT_FOUND
}

/// Whether a request opens a stream of a session.
fn listens(arrival: &Arrival) -> bool {
    arrival.path == "/mcp" && arrival.method == "GET" && arrival.has_session()
}

/// Whether a request without a session names the last event that its client had.
fn comes_back(arrival: &Arrival) -> bool {
    arrival.is_stateless() && arrival.headers.contains_key(LAST_EVENT)
}

fn is_unknown_method(arrival: &Arrival, departure: &Departure) -> bool {
    arrival.is_stateless() && departure.code() == Some(-32601)
}

fn is_undescribed(arrival: &Arrival, departure: &Departure) -> bool {
    arrival.is_stateless() && departure.status == StatusCode::BAD_REQUEST && departure.code() == Some(-32602)
}

fn is_not_allowed(arrival: &Arrival, departure: &Departure, method: &str) -> bool {
    arrival.method == method && departure.status == StatusCode::METHOD_NOT_ALLOWED
}
