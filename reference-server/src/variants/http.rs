//! Lawful differences of HTTP: what its transport leaves to the server, and in how many ways one can say the same.

use axum::http::StatusCode;
use axum::http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::edge::{Hook::*, Meeting, Row, http_row};
use crate::edit::set;
use crate::http::{Arrival, Content, Departure, Event as Sent, LAST_EVENT, Passage, Replies, SESSION};

pub(super) const TABLE: &[Row] = &[
    http_row(
        "always-events",
        "Each request is answered by a stream",
        &[Choose(|settings| settings.http.replies = Replies::Events)],
    ),
    http_row(
        "always-json",
        "No request but a subscription is answered by a stream, so nothing is said of progress",
        &[Choose(|settings| settings.http.replies = Replies::Messages)],
    ),
    http_row(
        "no-session-ids",
        "Sessions have no ids, and so nobody is told of changes",
        &[Choose(|settings| {
            settings.http.sessions = false;
            (settings.subscribe, settings.list_changed) = (false, false);
        })],
    ),
    http_row(
        "no-get-stream",
        "A GET opens no stream, and nobody is told of changes",
        &[Choose(|settings| {
            settings.http.listening = false;
            (settings.subscribe, settings.list_changed) = (false, false);
        })],
    ),
    http_row(
        "get-refused-though-changes-declared",
        "A GET opens no stream, so that in sessions the changes that are declared cannot be told",
        &[Choose(|settings| settings.http.listening = false)],
    ),
    http_row(
        "second-get-refused",
        "A session has one stream for what belongs to no request, and a second is refused",
        &[Choose(|settings| settings.http.lone_listener = true)],
    ),
    http_row(
        "no-event-ids",
        "Events have no ids, and nobody can come back for them",
        &[Choose(|settings| settings.http.resuming = false)],
    ),
    http_row(
        "last-event-id-ignored",
        "Who comes back to a stream gets a new one, whatever the last event was",
        &[Arrive(|_, arrival| {
            arrival.headers.remove(LAST_EVENT);
            Meeting::Pass
        })],
    ),
    http_row(
        "no-priming-event",
        "A stream begins with its first message",
        &[Choose(|settings| settings.http.priming = false)],
    ),
    http_row(
        "polled-streams",
        "At 2025-11-25, a stream breaks off at once, and says when to come back",
        &[Event(|_, passage, mut event| {
            if event.data.as_ref().is_some_and(Vec::is_empty) && !passage.listens {
                event.retry = Some(50);
                event.breaks = true;
            }
            vec![event]
        })],
    ),
    http_row(
        "get-streams-break-off",
        "The stream of a GET ends after each message, and says when to come back",
        &[Event(|_, passage, event| vec![broken_off(passage, event)])],
    ),
    http_row(
        "get-streams-end-unnamed",
        "The stream of a GET ends after each message, and events have no ids to come back by",
        &[
            Choose(|settings| settings.http.resuming = false),
            Event(|_, passage, event| vec![broken_off(passage, event)]),
        ],
    ),
    http_row(
        "subscriptions-cut-off",
        "At 2026-07-28, the connection of a subscription does not outlive its acknowledgement",
        &[Event(|_, passage, mut event| {
            event.breaks |= passage.method.as_deref() == Some("notifications/subscriptions/acknowledged");
            vec![event]
        })],
    ),
    http_row(
        "leaving-unnoticed",
        "Without a session, the server goes on when a client leaves",
        &[Choose(|settings| settings.http.noticing = false)],
    ),
    http_row(
        "version-header-optional-for-older-clients",
        "A request without a version in a header is taken for one of an older client",
        &[Choose(|settings| settings.http.version_optional = true)],
    ),
    http_row(
        "accept-required",
        "A request whose client does not take both types is refused with 406",
        &[Arrive(|_, arrival| {
            let takes = |kind| has(arrival, &ACCEPT, kind) || has(arrival, &ACCEPT, "*/*");
            let takes_all =
                takes("text/event-stream") && (arrival.method != "POST" || takes("application/json"));
            answer_if(arrival.method != "DELETE" && !takes_all, StatusCode::NOT_ACCEPTABLE)
        })],
    ),
    http_row(
        "content-type-required",
        "A body that is not said to be JSON is refused with 415",
        &[Arrive(|_, arrival| {
            let posts = arrival.method == "POST";
            let is_json = has(arrival, &CONTENT_TYPE, "application/json");
            answer_if(posts && !is_json, StatusCode::UNSUPPORTED_MEDIA_TYPE)
        })],
    ),
    http_row(
        "errors-as-bad-request",
        "Each error has status 400, unless another one is prescribed",
        &[Depart(|_, _, departure| {
            if departure.status == StatusCode::OK && departure.code().is_some() {
                departure.status = StatusCode::BAD_REQUEST;
            }
        })],
    ),
    http_row(
        "not-found-as-404",
        "A resource that is not there has status 404",
        &[Depart(|_, _, departure| {
            let absent = departure.message().is_some_and(|reply| reply["error"]["data"]["uri"].is_string());
            if departure.status == StatusCode::OK && absent {
                departure.status = StatusCode::NOT_FOUND;
            }
        })],
    ),
    http_row(
        "malformed-as-415",
        "A body that is no JSON is refused with 415 and in plain words",
        &[Depart(|_, arrival, departure| {
            if arrival.method == "POST" && arrival.message().is_none() {
                *departure = plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "This is no JSON");
            }
        })],
    ),
    http_row(
        "plain-refusals",
        "What HTTP alone refuses in a session is refused in plain words",
        &[Depart(|_, arrival, departure| {
            let unread = matches!(departure.code(), Some(-32600 | -32700));
            if departure.status.is_client_error() && unread && !arrival.is_stateless() {
                *departure = plain(departure.status, "No");
            }
        })],
    ),
    http_row(
        "null-ids-in-refusals",
        "An error that answers no request has the id null",
        &[Depart(|_, _, departure| {
            let mut message = departure.message().unwrap_or_default();
            if message.get("error").is_some() && message.get("id").is_none() {
                set(&mut message, "id", Value::Null);
                departure.content = Content::Bytes(message.to_string().into_bytes());
            }
        })],
    ),
    http_row(
        "refusals-without-ids",
        "An error whose status says that the request failed has the id null, whatever it answers",
        &[Depart(|_, _, departure| {
            let mut message = departure.message().unwrap_or_default();
            if departure.status.is_client_error() && message.get("error").is_some() {
                set(&mut message, "id", Value::Null);
                departure.content = Content::Bytes(message.to_string().into_bytes());
            }
        })],
    ),
    http_row(
        "refusals-in-other-json",
        "What HTTP alone refuses in a session is refused in JSON of a framework",
        &[Depart(|_, arrival, departure| {
            let unread = matches!(departure.code(), Some(-32600 | -32700));
            if departure.status.is_client_error() && unread && !arrival.is_stateless() {
                departure.content = Content::Bytes(br#"{"detail":"No"}"#.to_vec());
            }
        })],
    ),
    http_row(
        "unknown-session-as-bad-request",
        "A request that names a session that never was is refused with 400",
        &[Depart(|memory, arrival, departure| {
            if let Some(id) = departure.headers.get(SESSION).and_then(|id| id.to_str().ok()) {
                memory.seen.insert(id.to_owned());
            }
            let unknown = arrival.header(&SESSION).is_some_and(|id| !memory.seen.contains(id));
            if unknown && departure.status == StatusCode::NOT_FOUND && !arrival.is_stateless() {
                departure.status = StatusCode::BAD_REQUEST;
            }
        })],
    ),
    http_row(
        "notifications-refused-without-session",
        "Without a session, no notification is taken",
        &[Arrive(|_, arrival| {
            answer_if(arrival.notifies() && arrival.is_stateless(), StatusCode::BAD_REQUEST)
        })],
    ),
    http_row(
        "delete-as-ok",
        "The end of a session is confirmed with status 200",
        &[Depart(|_, arrival, departure| {
            if arrival.method == "DELETE" && departure.status == StatusCode::NO_CONTENT {
                departure.status = StatusCode::OK;
            }
        })],
    ),
    http_row(
        "delete-refused",
        "Clients may not end their sessions",
        &[Arrive(|_, arrival| answer_if(arrival.method == "DELETE", StatusCode::METHOD_NOT_ALLOWED))],
    ),
    http_row(
        "session-header-in-capitals",
        "The header with the id of a session is spelt MCP-Session-Id",
        &[Writing(|bytes| {
            let (old, new) = (b"\r\nmcp-session-id:", b"\r\nMCP-Session-Id:");
            let found = bytes.windows(old.len()).position(|window| window == old);
            let found = found.and_then(|place| bytes.get_mut(place..place + new.len()));
            if let Some(name) = found {
                name.copy_from_slice(new);
            }
        })],
    ),
    http_row(
        "charset-in-content-type",
        "Types name the character set",
        &[Depart(|_, _, departure| {
            let named = departure.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
            let named = named.map(|kind| format!("{kind}; charset=utf-8"));
            if let Some(named) = named.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
                departure.headers.insert(CONTENT_TYPE, named);
            }
        })],
    ),
    http_row(
        "connection-closes",
        "Each response closes its connection",
        &[Depart(|_, _, departure| {
            departure.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        })],
    ),
    http_row(
        "bodies-end-with-connection",
        "Responses are of HTTP/1.0, and a stream ends with its connection",
        &[Depart(|_, _, departure| departure.old = true)],
    ),
    http_row(
        "events-in-crlf",
        "Lines of events end in CR LF",
        &[Pieces(|_, _, bytes| vec![replaced(&bytes, "\n", "\r\n")])],
    ),
    http_row(
        "events-in-cr",
        "Lines of events end in CR",
        &[Pieces(|_, _, bytes| vec![replaced(&bytes, "\n", "\r")])],
    ),
    http_row(
        "events-byte-by-byte",
        "Each byte of an event is sent alone",
        &[Pieces(|_, _, bytes| {
            // What is long is cut less finely, or it would never end.
            bytes.chunks(1 + bytes.len() / 256).map(<[u8]>::to_vec).collect()
        })],
    ),
    http_row(
        "events-without-space",
        "No space stands between a field of an event and its value",
        &[Pieces(|_, _, bytes| vec![replaced(&bytes, "data: ", "data:")])],
    ),
    http_row(
        "bom-before-events",
        "A stream begins with a byte order mark",
        &[Pieces(|_, passage, bytes| {
            vec![if passage.place == 0 { [b"\xef\xbb\xbf", bytes.as_slice()].concat() } else { bytes }]
        })],
    ),
    http_row(
        "comments-between-events",
        "Comments keep streams open",
        &[Pieces(|_, _, bytes| vec![[b": still here\n\n:\n", bytes.as_slice()].concat()])],
    ),
    http_row(
        "data-on-several-lines",
        "The data of an event are on several lines",
        &[Event(|_, passage, mut event| {
            let message = event.data.as_deref().and_then(|data| serde_json::from_slice::<Value>(data).ok());
            if let Some(text) = message.and_then(|message| serde_json::to_vec_pretty(&message).ok()) {
                event.data = Some(text).filter(|_| carries(passage)).or(event.data);
            }
            vec![event]
        })],
    ),
    http_row(
        "events-named-message",
        "Each event with a message is named so",
        &[Event(|_, passage, mut event| {
            if carries(passage) {
                event.name = Some("message");
            }
            vec![event]
        })],
    ),
    http_row(
        "other-events-between",
        "Between messages come events of other names",
        &[Event(|_, passage, event| {
            let ping = Sent { name: Some("ping"), data: Some(b"not for you".to_vec()), ..Sent::default() };
            if carries(passage) { vec![ping, event] } else { vec![event] }
        })],
    ),
    http_row(
        "retry-in-events",
        "Each event says when to come back",
        &[Event(|_, _, mut event| {
            event.retry = Some(1000);
            vec![event]
        })],
    ),
    http_row(
        "event-ids-without-sessions",
        "Events have ids even where nobody can come back for them",
        &[Event(|_, passage, mut event| {
            if passage.revision.is_none() && !passage.old {
                event.id = Some(format!("{}.{}", passage.stream, passage.place));
            }
            vec![event]
        })],
    ),
    http_row(
        "old-messages-unnamed",
        "In the old transport, messages have the name that is understood",
        &[Event(|_, passage, mut event| {
            if passage.old && event.name == Some("message") {
                event.name = None;
            }
            vec![event]
        })],
    ),
    http_row(
        "old-endpoint-absolute",
        "In the old transport, the place to post to is a whole URI",
        &[
            Arrive(|memory, arrival| {
                if let Some(host) = arrival.header(&HOST) {
                    memory.kept.insert("host".to_owned(), json!(host));
                }
                Meeting::Pass
            }),
            Event(|memory, passage, mut event| {
                let host = memory.kept.get("host").and_then(Value::as_str).unwrap_or("127.0.0.1");
                if passage.old && event.name == Some("endpoint") {
                    let path =
                        String::from_utf8_lossy(event.data.as_deref().unwrap_or_default()).into_owned();
                    event.data = Some(format!("http://{host}{path}").into_bytes());
                }
                vec![event]
            }),
        ],
    ),
    http_row(
        "old-accepted-in-words",
        "In the old transport, a message is taken with a word",
        &[Depart(|_, arrival, departure| {
            if arrival.path == "/messages" && departure.status == StatusCode::ACCEPTED {
                *departure = plain(StatusCode::ACCEPTED, "Accepted");
            }
        })],
    ),
];

/// The stream of a GET ends behind a message.
fn broken_off(passage: &Passage, mut event: Sent) -> Sent {
    if passage.listens && !passage.old && passage.method.is_some() {
        event.retry = Some(50);
        event.breaks = true;
    }
    event
}

fn has(arrival: &Arrival, name: &HeaderName, part: &str) -> bool {
    arrival.headers.get_all(name).iter().any(|value| value.to_str().is_ok_and(|value| value.contains(part)))
}

fn answer_if(when: bool, status: StatusCode) -> Meeting {
    if when { Meeting::Answer(plain(status, "No")) } else { Meeting::Pass }
}

fn plain(status: StatusCode, text: &str) -> Departure {
    let departure = Departure { content: Content::Bytes(text.into()), ..Departure::empty(status) };
    departure.with(CONTENT_TYPE, "text/plain")
}

fn carries(passage: &Passage) -> bool {
    passage.reply || passage.method.is_some()
}

fn replaced(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    String::from_utf8_lossy(bytes).replace(old, new).into_bytes()
}
