//! Faults of `initialize` and of what it agrees on.

use serde_json::{Value, json};

use crate::asking::INPUT_REQUIRED;
use crate::edge::{Hook::*, Memory, Row, row, stdio_row};
use crate::edit::*;
use crate::revision::Revision;

pub(super) const TABLE: &[Row] = &[
    row(
        "version-not-echoed",
        "The session follows another version than the one asked for and known",
        &[Result(INITIALIZE, |x, r| {
            if r["protocolVersion"] == *x.param("protocolVersion") {
                let newest = r["protocolVersion"] == "2025-11-25";
                set(r, "protocolVersion", json!(if newest { "2025-06-18" } else { "2025-11-25" }));
            }
        })],
    ),
    row(
        "bogus-version-echoed",
        "A version that does not exist is agreed to",
        &[Result(INITIALIZE, |x, r| set(r, "protocolVersion", x.param("protocolVersion").clone()))],
    ),
    row(
        "bogus-version-refused",
        "A version that does not exist is refused as an internal error",
        &[In(|memory, message| refuse_if(asks_bogus(message), memory, message, -32603))],
    ),
    row(
        "bogus-version-silent",
        "A version that does not exist is not answered",
        &[In(|_, message| drop_if(asks_bogus(message)))],
    ),
    row(
        "fallback-oldest",
        "For a version that does not exist the oldest is offered",
        &[Result(INITIALIZE, |x, r| {
            if asks_bogus(&x.request) {
                set(r, "protocolVersion", json!("2024-11-05"));
            }
        })],
    ),
    row(
        "protocol-version-missing",
        "The result of initialize names no version",
        &[Result(INITIALIZE, |_, r| unset(r, "protocolVersion"))],
    ),
    row(
        "protocol-version-number",
        "The version in the result of initialize is a number",
        &[Result(INITIALIZE, |_, r| set(r, "protocolVersion", json!(20_251_125)))],
    ),
    row(
        "capabilities-missing",
        "The result of initialize has no capabilities",
        &[Result(INITIALIZE, |_, r| unset(r, "capabilities"))],
    ),
    row(
        "capability-not-object",
        "The logging capability is true, not an object",
        &[Result("*", |x, r| capabilities(x, r, |c| set(c, "logging", json!(true))))],
    ),
    row(
        "resources-capability-true",
        "The resources capability is true, not an object",
        &[Result("*", |x, r| capabilities(x, r, |c| set(c, "resources", json!(true))))],
    ),
    row(
        "subscribe-flag-string",
        "The flag of the resources capability is a text",
        &[Result("*", |x, r| capabilities(x, r, |c| set(&mut c["resources"], "subscribe", json!("yes"))))],
    ),
    row(
        "resources-undeclared",
        "Resources are served though no capability says so",
        &[Result("*", |x, r| capabilities(x, r, |c| unset(c, "resources")))],
    ),
    row(
        "subscribe-undeclared-served",
        "A subscription is accepted though the capability lacks it",
        &[Result(INITIALIZE, |_, r| at(r, "/capabilities/resources", |c| unset(c, "subscribe")))],
    ),
    row(
        "init-server-info-missing",
        "The result of initialize does not name the server",
        &[Result(INITIALIZE, |_, r| unset(r, "serverInfo"))],
    ),
    row(
        "init-server-version-missing",
        "The server in the result of initialize has no version",
        &[Result(INITIALIZE, |_, r| at(r, "/serverInfo", |info| unset(info, "version")))],
    ),
    row(
        "init-server-title-number",
        "The title of the server is a number",
        &[Result(INITIALIZE, |_, r| at(r, "/serverInfo/title", |title| *title = json!(7)))],
    ),
    row(
        "instructions-number",
        "The instructions in the result of initialize are a number",
        &[Result(INITIALIZE, |_, r| set(r, "instructions", json!(7)))],
    ),
    row(
        "initialized-not-heeded",
        "Every request is refused as too early",
        &[In(|memory, message| {
            let early = memory.session.is_some() && is_request(message) && !asks(message, "ping");
            refuse_if(early && !is_stateless(memory, message), memory, message, -32600)
        })],
    ),
    row(
        "initialize-refused",
        "A correct initialize is refused",
        &[In(|memory, message| refuse(memory, message, INITIALIZE, -32603))],
    ),
    stdio_row(
        "roots-before-initialized",
        "The server asks for roots before the client is ready",
        &[Reply(|_, x, reply| {
            let request = json!({ "jsonrpc": "2.0", "id": "roots-1", "method": "roots/list" });
            if x.is(INITIALIZE) { vec![reply, request] } else { vec![reply] }
        })],
    ),
    row(
        "undeclared-request",
        "The server asks for what the client did not declare",
        &[Reply(|memory, x, reply| {
            let asked =
                if memory.client.get("roots").is_none() { "roots/list" } else { "sampling/createMessage" };
            let params =
                if asked == "roots/list" { json!({}) } else { json!({ "messages": [], "maxTokens": 1 }) };
            let request =
                json!({ "jsonrpc": "2.0", "id": "undeclared-1", "method": asked, "params": params });
            if memory.flag || !memory.initialized || !x.is(LIST) {
                return vec![reply];
            }
            memory.flag = true;
            vec![reply, request]
        })],
    ),
    row(
        "unknown-capability-refused",
        "A client with a capability that no revision defines is refused",
        &[In(|memory, message| {
            let known = ["roots", "sampling", "elicitation", "tasks"];
            let declared = message["params"]["capabilities"].as_object();
            let odd = declared.is_some_and(|all| all.keys().any(|key| !known.contains(&key.as_str())));
            refuse_if(odd && asks(message, INITIALIZE), memory, message, -32602)
        })],
    ),
    row(
        "extra-client-info-refused",
        "A client that tells more than its name and version is refused",
        &[In(|memory, message| {
            let told = message["params"]["clientInfo"].as_object();
            let more = told.is_some_and(|all| all.keys().any(|key| key != "name" && key != "version"));
            refuse_if(more && asks(message, INITIALIZE), memory, message, -32602)
        })],
    ),
    row(
        "empty-initialize-silent",
        "An initialize with something missing is not answered",
        &[In(|_, message| drop_if(asks(message, INITIALIZE) && is_incomplete(&message["params"])))],
    ),
    row(
        "empty-initialize-kills",
        "An initialize with something missing ends the server",
        &[In(|_, message| die_if(asks(message, INITIALIZE) && is_incomplete(&message["params"])))],
    ),
    row(
        "string-id-opening-refused",
        "An initialize with a string as id is refused",
        &[In(|memory, message| {
            refuse_if(asks(message, INITIALIZE) && message["id"].is_string(), memory, message, -32600)
        })],
    ),
    row(
        "second-initialize-kills",
        "A second initialize ends the server",
        &[In(|memory, message| die_if(asks(message, INITIALIZE) && memory.session.is_some()))],
    ),
    row(
        "early-request-kills",
        "A request before initialize ends the server",
        &[In(|memory, message| die_if(is_early(memory, message)))],
    ),
    row(
        "early-request-spoils-opening",
        "After a request before initialize, initialize is refused",
        &[In(|memory, message| {
            memory.flag |= is_early(memory, message);
            refuse_if(memory.flag && asks(message, INITIALIZE), memory, message, -32600)
        })],
    ),
    row(
        "modern-result-in-stateful",
        "A read in a session has a result of a kind that only 2026-07-28 defines",
        &[Result(READ, |x, r| {
            if !x.stateless() {
                set(r, "resultType", json!(INPUT_REQUIRED));
            }
        })],
    ),
    row(
        "modern-notice-in-stateful",
        "A session hears a notification that only 2026-07-28 defines",
        &[Reply(|memory, x, reply| {
            let message = notice(ACKNOWLEDGED, json!({ "notifications": {} }), None);
            if memory.initialized && x.is(LIST) { vec![reply, message] } else { vec![reply] }
        })],
    ),
    row(
        "oldest-version-refused",
        "The oldest version is refused as an internal error",
        &[In(|memory, message| refuse_if(asks_oldest(message), memory, message, -32603))],
    ),
    row(
        "oldest-version-kills",
        "The oldest version ends the server",
        &[In(|_, message| die_if(asks_oldest(message)))],
    ),
    row(
        "oldest-version-misspelt",
        "To the oldest version the answer is one that does not exist",
        &[Result(INITIALIZE, |x, r| {
            if asks_oldest(&x.request) {
                set(r, "protocolVersion", json!("1.0"));
            }
        })],
    ),
    row(
        "list-before-initialized-kills",
        "A list that does not wait for the opening to be over ends the server",
        &[In(|memory, message| {
            die_if(asks(message, LIST) && memory.session.is_some() && !memory.initialized)
        })],
    ),
];

fn asks_oldest(message: &Value) -> bool {
    asks(message, INITIALIZE) && message["params"]["protocolVersion"] == "2024-11-05"
}

fn asks_bogus(message: &Value) -> bool {
    let version = message["params"]["protocolVersion"].as_str();
    asks(message, INITIALIZE) && version.is_some_and(|version| version.parse::<Revision>().is_err())
}

fn is_incomplete(params: &Value) -> bool {
    ["protocolVersion", "capabilities", "clientInfo"].iter().any(|member| params.get(member).is_none())
}

fn is_early(memory: &Memory, message: &Value) -> bool {
    let other = is_request(message) && !asks(message, INITIALIZE) && !asks(message, "ping");
    other && !asks(message, DISCOVER) && memory.session.is_none() && !is_stateless(memory, message)
}
