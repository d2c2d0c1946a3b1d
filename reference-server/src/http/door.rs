//! What is answered to each HTTP request? The rules of both eras of Streamable HTTP at one endpoint, and those of the
//! transport of 2024-11-05 at two others.

use axum::http::header::ALLOW;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::room::Kind;
use super::rules;
use super::state::{Key, State};
use super::stream::{Answer, Events};
use super::wire::{Arrival, Departure, Event, LAST_EVENT, SESSION, VERSION};
use crate::edit::is_request;
use crate::message::{Refusal, code};
use crate::opening::is_described;
use crate::revision::Revision;

/// Where a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// Streamable HTTP.
    Mcp,
    /// The stream of the transport of 2024-11-05.
    OldStream,
    /// Where its messages are posted.
    OldMessages,
}

/// What becomes of a request.
pub(super) enum Turn {
    Answered(Departure),
    /// The answer comes later.
    Waits(Waiting),
    /// The answer is a stream, from now on.
    Streams {
        events: Events,
        line: Line,
    },
}

/// A stream as its client holds it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub key: Key,
    pub number: u64,
    pub connections: u64,
}

/// A POST whose answer is on its way.
pub(super) struct Waiting {
    pub answer: oneshot::Receiver<Answer>,
    pub line: Line,
    /// The id of the session that this request opens.
    pub opens: Option<String>,
    /// Whether it lacks what each request holds from 2026-07-28 on.
    undescribed: bool,
}

impl Waiting {
    /// The response to a request that is answered by one message.
    pub fn respond(&self, line: Vec<u8>, error: Option<i64>) -> Departure {
        let status = match (error, self.line.key.is_none()) {
            (Some(code::UNKNOWN_METHOD), true) => StatusCode::NOT_FOUND,
            (Some(code::INVALID_PARAMS), true) if self.undescribed => StatusCode::BAD_REQUEST,
            (
                Some(
                    code::PARSE
                    | code::INVALID_REQUEST
                    | code::HEADER_MISMATCH
                    | code::MISSING_CAPABILITY
                    | code::UNSUPPORTED_VERSION,
                ),
                _,
            ) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        let departure = Departure::json(status, line);
        match self.opens.as_ref().filter(|_| error.is_none()) {
            Some(id) => departure.with(SESSION, id),
            None => departure,
        }
    }
}

/// Hears a request.
pub(super) fn hear(state: &mut State, endpoint: Endpoint, arrival: Arrival, now: Instant) -> Turn {
    if !rules::is_local(&arrival.headers) {
        return refuse(StatusCode::FORBIDDEN, "Only clients of this machine are served");
    }
    match (endpoint, &arrival.method) {
        (Endpoint::Mcp, &Method::POST) => post(state, arrival, now),
        (Endpoint::Mcp, &Method::GET) => in_session(state, &arrival, listen),
        (Endpoint::Mcp, &Method::DELETE) => in_session(state, &arrival, |state, _, id| {
            state.close(id);
            Turn::Answered(Departure::empty(StatusCode::NO_CONTENT))
        }),
        (Endpoint::Mcp, _) => not_allowed(state),
        (_, _) if state.settings.serves(Revision::V2024_11_05.name()).is_none() => {
            Turn::Answered(Departure::empty(StatusCode::NOT_FOUND))
        }
        (Endpoint::OldStream, &Method::GET) => open_old(state),
        (Endpoint::OldMessages, &Method::POST) => post_old(state, arrival, now),
        (Endpoint::OldStream, _) => allow("GET"),
        (Endpoint::OldMessages, _) => allow("POST"),
    }
}

fn post(state: &mut State, arrival: Arrival, now: Instant) -> Turn {
    let message = arrival.message();
    if rules::is_stateless(&state.settings, &arrival, message.as_ref()) {
        return post_alone(state, arrival, message, now);
    }
    if !rules::is_version_served(&state.settings, &arrival) {
        return refuse(StatusCode::BAD_REQUEST, "Unsupported protocol version");
    }
    let opens = message.as_ref().is_some_and(|message| message["method"] == "initialize");
    if !state.door.choices.sessions {
        return post_single(state, arrival, message, opens, now);
    }
    match arrival.header(&SESSION).map(str::to_owned) {
        None if !arrival.has_session() && opens => {
            let number = state.number();
            let id = state.open(Kind::Session, Some(number));
            submit(state, Some(id.clone()), number, arrival.body, message, Some(id), now)
        }
        None if !arrival.has_session() && message.is_none() => {
            // Nobody knows whose it is; that it is no JSON can be said all the same.
            let number = state.number();
            submit(state, None, number, arrival.body, None, None, now)
        }
        None => refuse_to(message.as_ref(), StatusCode::BAD_REQUEST, "A session id is required"),
        Some(id) if state.room(&Some(id.clone())).is_some_and(|room| room.kind == Kind::Session) => {
            let number = state.number();
            submit(state, Some(id), number, arrival.body, message, None, now)
        }
        Some(_) => refuse_to(message.as_ref(), StatusCode::NOT_FOUND, "There is no such session"),
    }
}

/// A message to a server whose sessions have no ids: all that it can know of the client is the version.
fn post_single(
    state: &mut State,
    arrival: Arrival,
    message: Option<Value>,
    opens: bool,
    now: Instant,
) -> Turn {
    let number = state.number();
    let named = arrival.header(&VERSION).and_then(|name| state.settings.serves(name));
    let revision = named.unwrap_or(Revision::V2025_03_26);
    let key = if opens { state.open(Kind::Single, None) } else { state.open_single(revision) };
    submit(state, Some(key), number, arrival.body, message, None, now)
}

/// A message of the revision without sessions.
fn post_alone(state: &mut State, arrival: Arrival, message: Option<Value>, now: Instant) -> Turn {
    if let Some(message) = message.as_ref().filter(|message| is_request(message)) {
        // Who opens a session has not heard of these headers yet, and is to learn which revisions there are.
        let greets = message["method"] == "initialize" && !arrival.headers.contains_key(VERSION);
        if let Err(refusal) =
            rules::check_mirrors(&arrival, message).or_else(|r| if greets { Ok(()) } else { Err(r) })
        {
            let body = refusal.reply(&message["id"]).to_string().into_bytes();
            return Turn::Answered(Departure::json(StatusCode::BAD_REQUEST, body));
        }
    } else if message.as_ref().is_some_and(|message| message["method"] == "notifications/cancelled") {
        // Requests are cancelled by leaving; their ids are those of many clients.
        return Turn::Answered(Departure::empty(StatusCode::ACCEPTED));
    }
    let number = state.number();
    submit(state, None, number, arrival.body, message, None, now)
}

/// Passes a body on to a room.
fn submit(
    state: &mut State,
    key: Key,
    number: u64,
    body: Vec<u8>,
    message: Option<Value>,
    opens: Option<String>,
    now: Instant,
) -> Turn {
    let Some((room, door)) = state.at(&key) else {
        return refuse(StatusCode::NOT_FOUND, "There is no such session");
    };
    let answer = room.expect(number, door);
    if body.iter().all(u8::is_ascii_whitespace) {
        room.server.refuse(Refusal::new(code::PARSE, "Parse error"), number, now);
        state.settle(now);
    } else {
        state.receive(&key, number, body, now);
    }
    let asks = message.as_ref().is_some_and(asks);
    let undescribed = !message.as_ref().is_some_and(is_described);
    if let Some(room) = state.room(&key).filter(|_| !asks)
        && !room.has_answer(number)
    {
        room.dismiss(number);
        return Turn::Answered(Departure::empty(StatusCode::ACCEPTED));
    }
    let line = Line { key, number, connections: 1 };
    Turn::Waits(Waiting { answer, line, opens, undescribed })
}

/// Whether a body holds a request that is owed a reply.
fn asks(message: &Value) -> bool {
    match message {
        Value::Array(messages) => messages.iter().any(is_request),
        message => is_request(message),
    }
}

/// What only a session offers: GET and DELETE.
fn in_session(state: &mut State, arrival: &Arrival, serve: fn(&mut State, &Arrival, &str) -> Turn) -> Turn {
    if rules::is_stateless(&state.settings, arrival, None) || !state.door.choices.sessions {
        return not_allowed(state);
    }
    let Some(id) = arrival.header(&SESSION) else {
        return refuse(StatusCode::BAD_REQUEST, "A session id is required");
    };
    if state.room(&Some(id.to_owned())).is_none_or(|room| room.kind != Kind::Session) {
        return refuse(StatusCode::NOT_FOUND, "There is no such session");
    }
    if !rules::is_version_served(&state.settings, arrival) {
        return refuse(StatusCode::BAD_REQUEST, "Unsupported protocol version");
    }
    serve(state, arrival, id)
}

/// Opens the stream for what belongs to no request, or takes up one that broke off.
fn listen(state: &mut State, arrival: &Arrival, id: &str) -> Turn {
    let (key, number) = (Some(id.to_owned()), state.number());
    if !state.door.choices.listening {
        return not_allowed(state);
    }
    let Some((room, door)) = state.at(&key) else { return not_allowed(state) };
    let resumed = arrival.header(&LAST_EVENT).and_then(|last| room.resume(last, door));
    if resumed.is_none() && door.choices.lone_listener && room.has_listener() {
        return refuse(StatusCode::CONFLICT, "Somebody listens already");
    }
    let (events, number, connections) = resumed.unwrap_or_else(|| {
        let (events, connections) = room.listen(number, door);
        (events, number, connections)
    });
    room.catch_up(door);
    Turn::Streams { events, line: Line { key, number, connections } }
}

/// Opens a session of the old transport: the first event says where to post.
fn open_old(state: &mut State) -> Turn {
    let number = state.number();
    let id = state.open(Kind::Old, None);
    let key = Some(id.clone());
    let Some((room, door)) = state.at(&key) else { return not_allowed(state) };
    let (events, connections) = room.listen(number, door);
    let endpoint = format!("/messages?session={id}").into_bytes();
    room.send(number, Event { name: Some("endpoint"), data: Some(endpoint), ..Event::default() }, door);
    Turn::Streams { events, line: Line { key, number, connections } }
}

/// A message of the old transport: whatever there is to say comes on the stream.
fn post_old(state: &mut State, arrival: Arrival, now: Instant) -> Turn {
    let id = arrival.query.split('&').find_map(|pair| pair.strip_prefix("session="));
    let key = Some(id.unwrap_or("").to_owned());
    if state.room(&key).is_none_or(|room| room.kind != Kind::Old) {
        return refuse(StatusCode::NOT_FOUND, "There is no such session");
    }
    if arrival.message().is_none() {
        return refuse_by(code::PARSE, None, StatusCode::BAD_REQUEST, "This is no JSON");
    }
    let number = state.number();
    state.receive(&key, number, arrival.body, now);
    Turn::Answered(Departure::empty(StatusCode::ACCEPTED))
}

/// Says what the endpoint of both eras takes.
fn not_allowed(state: &State) -> Turn {
    let sessions = state.settings.newest_stateful().is_some() && state.door.choices.sessions;
    allow(match (sessions, state.door.choices.listening) {
        (true, true) => "POST, GET, DELETE",
        (true, false) => "POST, DELETE",
        (false, _) => "POST",
    })
}

fn allow(methods: &str) -> Turn {
    Turn::Answered(Departure::empty(StatusCode::METHOD_NOT_ALLOWED).with(ALLOW, methods))
}

/// Refuses what names no request.
fn refuse(status: StatusCode, why: &str) -> Turn {
    refuse_to(None, status, why)
}

/// Refuses a request by its id, or whatever else it is without one.
fn refuse_to(message: Option<&Value>, status: StatusCode, why: &str) -> Turn {
    refuse_by(code::INVALID_REQUEST, message, status, why)
}

fn refuse_by(code: i64, message: Option<&Value>, status: StatusCode, why: &str) -> Turn {
    let mut error = json!({ "jsonrpc": "2.0", "error": { "code": code, "message": why } });
    if let Some(id) = message.filter(|message| is_request(message)).and_then(|message| message.get("id")) {
        error["id"] = id.clone();
    }
    Turn::Answered(Departure::json(status, error.to_string().into_bytes()))
}
