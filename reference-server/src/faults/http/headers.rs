//! Faults of the headers of requests: where they come from, which version they name, and what they mirror.

use axum::http::StatusCode;
use axum::http::header::{HOST, HeaderName, ORIGIN};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::{alter, said, set_status, subject};
use crate::edge::{Hook::*, Meeting, Row, http_row};
use crate::edit::{set, unset};
use crate::http::{Arrival, Content, Departure, METHOD, NAME, VERSION, decoded};
use crate::message::Refusal;
use crate::opening::PROTOCOL_VERSION;
use crate::revision::Revision;

pub(in crate::faults) const TABLE: &[Row] = &[
    http_row(
        "origin-unchecked",
        "A page of another site is served",
        &[Arrive(|_, arrival| forget(arrival, &ORIGIN, |_| true))],
    ),
    http_row(
        "origin-unchecked-on-get",
        "A page of another site may listen",
        &[Arrive(|_, arrival| forget(arrival, &ORIGIN, |arrival| arrival.method == "GET"))],
    ),
    http_row(
        "origin-refused-as-bad-request",
        "A page of another site is refused with 400",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_foreign(arrival, departure), StatusCode::BAD_REQUEST);
        })],
    ),
    http_row(
        "origin-refused-as-unauthorized",
        "A page of another site is refused with 401",
        &[Depart(|_, arrival, departure| {
            set_status(departure, is_foreign(arrival, departure), StatusCode::UNAUTHORIZED);
        })],
    ),
    http_row(
        "origin-refusal-names-request",
        "The refusal of a page of another site bears the id of its request",
        &[Depart(|_, arrival, departure| {
            let id = arrival.message().and_then(|message| message.get("id").cloned());
            if let Some(id) = id {
                alter(departure, is_foreign(arrival, departure), |error| set(error, "id", id));
            }
        })],
    ),
    http_row(
        "host-unchecked",
        "A request to a name that is none of this machine is served",
        &[Arrive(|_, arrival| {
            arrival.set(HOST, "localhost");
            Meeting::Pass
        })],
    ),
    http_row(
        "version-header-unchecked",
        "In a session, any version will do",
        &[Arrive(|_, arrival| forget(arrival, &VERSION, names_bad_version))],
    ),
    http_row(
        "version-header-refused-as-not-found",
        "In a session, an unknown version is refused with 404",
        &[Depart(|_, arrival, departure| {
            set_status(departure, names_bad_version(arrival), StatusCode::NOT_FOUND);
        })],
    ),
    http_row(
        "version-header-required",
        "In a session, a request without a version is refused",
        &[Arrive(|_, arrival| {
            if arrival.has_session() && !arrival.headers.contains_key(VERSION) {
                let error = Refusal::new(-32600, "A version is required").reply(&Value::Null);
                let body = error.to_string().into_bytes();
                return Meeting::Answer(Departure::json(StatusCode::BAD_REQUEST, body));
            }
            Meeting::Pass
        })],
    ),
    http_row(
        "header-version-unchecked",
        "The version in the header may differ from that in the body",
        &[Arrive(|_, arrival| mend(arrival, &VERSION, version_of(arrival), |_, _| true))],
    ),
    http_row(
        "header-version-optional",
        "A request without a version in a header is served all the same",
        &[Arrive(|_, arrival| supply(arrival, &VERSION, version_of(arrival)))],
    ),
    http_row(
        "header-method-unchecked",
        "The method in the header may differ from that in the body",
        &[Arrive(|_, arrival| mend(arrival, &METHOD, said(arrival, "/method"), |_, _| true))],
    ),
    http_row(
        "header-method-caseless",
        "The method in the header may be spelt in capitals",
        &[Arrive(|_, arrival| {
            mend(arrival, &METHOD, said(arrival, "/method"), |header, body| header.eq_ignore_ascii_case(body))
        })],
    ),
    http_row(
        "header-method-optional",
        "A request without a method in a header is served all the same",
        &[Arrive(|_, arrival| supply(arrival, &METHOD, said(arrival, "/method")))],
    ),
    http_row(
        "header-name-unchecked",
        "The name in the header may differ from that in the body",
        &[Arrive(|_, arrival| {
            let is_plain = |header: &str, _: &str| hidden(header).is_none();
            mend(arrival, &NAME, subject(arrival).map(|name| encode(&name)), is_plain)
        })],
    ),
    http_row(
        "header-name-optional",
        "A request without a name in a header is served all the same",
        &[Arrive(|_, arrival| supply(arrival, &NAME, subject(arrival).map(|name| encode(&name))))],
    ),
    http_row(
        "header-name-prevails",
        "What is read is what the header names, not the body",
        &[Arrive(|_, arrival| {
            let name = arrival.header(&NAME).filter(|name| hidden(name).is_none()).map(str::to_owned);
            let mut message = arrival.message().unwrap_or_default();
            if let Some(name) = name.filter(|_| message["method"] == "resources/read") {
                set(&mut message["params"], "uri", json!(name));
                arrival.body = message.to_string().into_bytes();
            }
            Meeting::Pass
        })],
    ),
    http_row(
        "header-name-undecoded",
        "A name hidden in Base64 is compared as it stands",
        &[Arrive(|_, arrival| spoil(arrival, |_| true))],
    ),
    http_row(
        "header-name-beyond-ascii-refused",
        "A name hidden in Base64 is refused if it is beyond ASCII",
        &[Arrive(|_, arrival| spoil(arrival, |name| !name.is_ascii()))],
    ),
    http_row(
        "header-names-in-capitals-unknown",
        "Headers whose names are all in capitals are not seen",
        &[Reading(|bytes| {
            for name in ["MCP-NAME:", "MCP-METHOD:", "MCP-PROTOCOL-VERSION:"] {
                let found = bytes.windows(name.len()).position(|window| window == name.as_bytes());
                if let Some(first) = found.and_then(|place| bytes.get_mut(place)) {
                    *first = b'X';
                }
            }
        })],
    ),
    http_row(
        "base64-marks-caseless",
        "The marks of a name hidden in Base64 may be in capitals",
        &[Arrive(|_, arrival| {
            let marked = arrival.header(&NAME).and_then(|name| name.strip_prefix("=?BASE64?"));
            if let Some(rest) = marked.map(str::to_owned) {
                arrival.set(NAME, &format!("=?base64?{rest}"));
            }
            Meeting::Pass
        })],
    ),
    http_row(
        "undecodable-name-served",
        "A name whose Base64 cannot be decoded is passed over",
        &[Arrive(|_, arrival| {
            let own = subject(arrival).map(|name| encode(&name));
            mend(arrival, &NAME, own, |header, _| is_undecodable(header))
        })],
    ),
    http_row(
        "undecodable-name-as-invalid-params",
        "A name whose Base64 cannot be decoded is refused as a bad parameter",
        &[Depart(|_, arrival, departure| {
            let bad = arrival.header(&NAME).is_some_and(is_undecodable);
            alter(departure, bad, |reply| set(&mut reply["error"], "code", json!(-32602)));
        })],
    ),
    http_row(
        "header-mismatch-as-ok",
        "Headers that differ from the body are refused with status 200",
        &[Depart(|_, _, departure| {
            set_status(departure, departure.code() == Some(-32020), StatusCode::OK);
        })],
    ),
    http_row(
        "header-mismatch-as-invalid-request",
        "Headers that differ from the body are refused in a code of older revisions",
        &[Depart(|_, _, departure| {
            let mismatch = departure.code() == Some(-32020);
            alter(departure, mismatch, |reply| set(&mut reply["error"], "code", json!(-32600)));
        })],
    ),
    http_row(
        "header-mismatch-without-body",
        "Headers that differ from the body are refused without a word",
        &[Depart(|_, _, departure| {
            if departure.code() == Some(-32020) {
                departure.content = Content::Bytes(Vec::new());
            }
        })],
    ),
    http_row(
        "unsupported-version-without-list",
        "Who asks for a version that is not served does not learn of those that are",
        &[Depart(|_, _, departure| {
            let unsupported = departure.code() == Some(-32022);
            alter(departure, unsupported, |reply| unset(&mut reply["error"], "data"));
        })],
    ),
];

fn is_foreign(arrival: &Arrival, departure: &Departure) -> bool {
    arrival.headers.contains_key(ORIGIN) && departure.status == StatusCode::FORBIDDEN
}

/// Whether a request of a session names a version that nobody serves there.
fn names_bad_version(arrival: &Arrival) -> bool {
    let named = arrival.header(&VERSION).and_then(|name| name.parse::<Revision>().ok());
    arrival.has_session() && arrival.headers.contains_key(VERSION) && named.is_none()
}

fn version_of(arrival: &Arrival) -> Option<String> {
    let message = arrival.message()?;
    message.pointer("/params/_meta")?.get(PROTOCOL_VERSION)?.as_str().map(str::to_owned)
}

/// Takes a header away from requests that are such.
fn forget(arrival: &mut Arrival, header: &HeaderName, such: fn(&Arrival) -> bool) -> Meeting {
    if such(arrival) {
        arrival.headers.remove(header);
    }
    Meeting::Pass
}

/// Sets a header to what the body says, where it is there and such.
fn mend(
    arrival: &mut Arrival,
    header: &HeaderName,
    body: Option<String>,
    such: fn(&str, &str) -> bool,
) -> Meeting {
    if let (Some(value), Some(body)) = (arrival.header(header), body)
        && such(value, &body)
    {
        arrival.set(header.clone(), &body);
    }
    Meeting::Pass
}

/// Adds a header that is missing.
fn supply(arrival: &mut Arrival, header: &HeaderName, body: Option<String>) -> Meeting {
    let described = version_of(arrival).is_some();
    if let Some(body) = body.filter(|_| described && !arrival.headers.contains_key(header)) {
        arrival.set(header.clone(), &body);
    }
    Meeting::Pass
}

fn hidden(name: &str) -> Option<&str> {
    name.strip_prefix("=?base64?")?.strip_suffix("?=")
}

fn is_undecodable(name: &str) -> bool {
    decoded(name).is_none()
}

fn encode(name: &str) -> String {
    format!("=?base64?{}?=", BASE64.encode(name))
}

/// Makes a hidden name differ from any other.
fn spoil(arrival: &mut Arrival, such: fn(&str) -> bool) -> Meeting {
    let name = arrival.header(&NAME).filter(|name| hidden(name).is_some()).and_then(decoded);
    if name.is_some_and(|name| such(&name)) && arrival.is_stateless() {
        arrival.set(NAME, "not decoded");
    }
    Meeting::Pass
}
