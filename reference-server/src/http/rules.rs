//! Which HTTP requests are refused before their message is heard? Origin and Host, the version of a session, and the
//! headers that mirror the body from 2026-07-28 on. Pure functions of one request.

use axum::http::HeaderMap;
use axum::http::header::{HOST, HeaderName, ORIGIN};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::wire::{Arrival, METHOD, NAME, VERSION};
use crate::message::{Refusal, code};
use crate::opening::PROTOCOL_VERSION;
use crate::revision::Revision;
use crate::settings::Settings;

/// Whether the request comes from this machine as far as its headers tell, so that no web page elsewhere reaches us
/// by a name that it made point here.
pub(super) fn is_local(headers: &HeaderMap) -> bool {
    let all = |name: HeaderName, is_good: fn(&str) -> bool| {
        headers.get_all(name).iter().all(|value| value.to_str().is_ok_and(is_good))
    };
    all(HOST, is_loopback) && all(ORIGIN, is_origin_loopback)
}

fn is_origin_loopback(origin: &str) -> bool {
    let authority = ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme));
    authority.is_some_and(is_loopback)
}

/// Whether a host, with or without a port, names this machine.
fn is_loopback(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, port)) => (host, port.strip_prefix(':').or(port.is_empty().then_some("0"))),
            None => return false,
        },
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, Some("0")),
        },
    };
    let known = ["127.0.0.1", "localhost", "::1"].iter().any(|name| host.eq_ignore_ascii_case(name));
    known && port.is_some_and(|port| port.parse::<u16>().is_ok())
}

/// Whether a request follows the revision without sessions.
pub(super) fn is_stateless(settings: &Settings, arrival: &Arrival, message: Option<&Value>) -> bool {
    if settings.stateless().is_empty() || settings.newest_stateful().is_none() {
        return !settings.stateless().is_empty();
    }
    if settings.http.version_optional && !arrival.headers.contains_key(VERSION) {
        return false;
    }
    let described = message.and_then(|message| message.pointer("/params/_meta"));
    if described.is_some_and(|meta| meta.get(PROTOCOL_VERSION).is_some()) {
        return true;
    }
    let method = message.map_or(&Value::Null, |message| &message["method"]);
    let names_it = || {
        let named = arrival.header(&VERSION).and_then(|name| name.parse::<Revision>().ok());
        named.is_some_and(Revision::is_stateless)
    };
    method != "initialize" && (names_it() || (method == "server/discover" && !arrival.has_session()))
}

/// Whether the version that a request of a session names, if it names one, is served in sessions.
pub(super) fn is_version_served(settings: &Settings, arrival: &Arrival) -> bool {
    if !arrival.headers.contains_key(VERSION) {
        return true;
    }
    let served = arrival.header(&VERSION).and_then(|name| settings.serves(name));
    served.is_some_and(|revision| !revision.is_stateless())
}

/// Compares the headers of a request without session with what its body says. What the body lacks or has in a wrong
/// type is not compared: that is the body's fault.
pub(super) fn check_mirrors(arrival: &Arrival, message: &Value) -> Result<(), Refusal> {
    let version = message.pointer("/params/_meta").and_then(|meta| meta.get(PROTOCOL_VERSION));
    compare(arrival, &VERSION, version, plain)?;
    let method = message.get("method");
    compare(arrival, &METHOD, method, plain)?;
    let source = match method.and_then(Value::as_str) {
        Some("resources/read") => "/params/uri",
        Some("tools/call" | "prompts/get") => "/params/name",
        _ => return Ok(()),
    };
    match message.pointer(source) {
        None | Some(Value::String(_)) => compare(arrival, &NAME, message.pointer(source), decoded),
        Some(_) => Ok(()),
    }
}

fn compare(
    arrival: &Arrival,
    header: &HeaderName,
    body: Option<&Value>,
    read: fn(&str) -> Option<String>,
) -> Result<(), Refusal> {
    let wrong = |what: &str| Refusal::new(code::HEADER_MISMATCH, format!("Header mismatch: {header} {what}"));
    let body = body.and_then(Value::as_str);
    if !arrival.headers.contains_key(header) {
        // Where the body has nothing either, the body is refused.
        return if body.is_some() || *header == VERSION { Err(wrong("is missing")) } else { Ok(()) };
    }
    let value = arrival.header(header).and_then(read).ok_or_else(|| wrong("cannot be read"))?;
    match body {
        Some(body) if body != value => Err(wrong("differs from the body")),
        _ => Ok(()),
    }
}

fn plain(value: &str) -> Option<String> {
    Some(value.to_owned())
}

/// A value that may be hidden in Base64, because a header cannot hold it otherwise.
pub(crate) fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(hidden) => String::from_utf8(BASE64.decode(hidden).ok()?).ok(),
        None => plain(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn only_this_machine_is_local() {
        for host in ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]", "[::1]:80"] {
            assert!(is_loopback(host), "{host}");
            assert!(is_origin_loopback(&format!("http://{host}")), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.evil.example", "localhost:x", "[::1]x", "[::1", "", "127.0.0.1:"]
        {
            assert!(!is_loopback(host), "{host}");
        }
        for origin in ["null", "localhost", "file://localhost", "http://localhost@evil.example", "http://"] {
            assert!(!is_origin_loopback(origin), "{origin}");
        }
    }

    #[test]
    fn names_are_hidden_in_base64_by_lower_case_marks_only() {
        let mut arrival = Arrival {
            method: axum::http::Method::POST,
            path: "/mcp".to_owned(),
            query: String::new(),
            headers: HeaderMap::new(),
            body: Vec::new(),
        };
        arrival.headers.insert(VERSION, HeaderValue::from_static("2026-07-28"));
        arrival.headers.insert(METHOD, HeaderValue::from_static("resources/read"));
        let uri = "x://é";
        let message = serde_json::json!({
            "method": "resources/read",
            "params": { "uri": uri, "_meta": { PROTOCOL_VERSION: "2026-07-28" } },
        });
        let mut check = |name: &str| {
            arrival.headers.insert(NAME, HeaderValue::from_str(name).unwrap());
            check_mirrors(&arrival, &message).is_ok()
        };
        let hidden = BASE64.encode(uri);
        assert!(check(&format!("=?base64?{hidden}?=")));
        assert!(!check(&format!("=?BASE64?{hidden}?=")));
        assert!(!check("=?base64?***?="));
        assert!(!check("=?base64?/w==?="));
        assert!(!check("x://e"));
    }
}
