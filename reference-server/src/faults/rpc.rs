//! Faults of what the server says: versions, ids, results, errors, and whom it answers.

use serde_json::{Value, json};

use crate::edge::{Hook::*, Row, row};
use crate::edit::*;

pub(super) const TABLE: &[Row] = &[
    row("jsonrpc-missing", "Replies lack jsonrpc", &[Reply(|_, _, reply| vec![without(reply, "jsonrpc")])]),
    row(
        "jsonrpc-one-zero",
        "Replies say that they are JSON-RPC 1.0",
        &[Reply(|_, _, reply| vec![with(reply, "jsonrpc", json!("1.0"))])],
    ),
    row(
        "jsonrpc-number",
        "jsonrpc is a number in replies",
        &[Reply(|_, _, reply| vec![with(reply, "jsonrpc", json!(2.0))])],
    ),
    row(
        "result-and-error",
        "A list reply has an error, null, beside its result",
        &[Reply(|_, x, reply| {
            let both = with(reply.clone(), "error", Value::Null);
            instead(x.is(LIST) && reply.get("result").is_some(), reply, || both)
        })],
    ),
    row(
        "neither-result-nor-error",
        "A template list reply has neither result nor error",
        &[Reply(|_, x, reply| vec![if x.is(TEMPLATE_LIST) { without(reply, "result") } else { reply }])],
    ),
    row(
        "result-null",
        "The result of a template list is null",
        &[Result(TEMPLATE_LIST, |_, result| *result = Value::Null)],
    ),
    row(
        "result-array",
        "The result of a template list is an array",
        &[Result(TEMPLATE_LIST, |_, result| *result = json!([]))],
    ),
    row(
        "id-as-string",
        "Numbers come back as strings in ids, after the first request",
        &[Reply(|memory, _, reply| {
            let text = reply["id"].to_string();
            let wrong = memory.requests > 1 && reply["id"].is_number();
            instead(wrong, reply.clone(), || with(reply, "id", json!(text)))
        })],
    ),
    row(
        "id-as-number",
        "Strings of digits come back as numbers in ids",
        &[Reply(|_, _, reply| {
            let number = reply["id"].as_str().and_then(|id| id.parse::<i64>().ok());
            vec![match number {
                Some(number) => with(reply, "id", json!(number)),
                None => reply,
            }]
        })],
    ),
    row(
        "id-missing",
        "Replies have no id, after the first request",
        &[Reply(|memory, _, reply| vec![if memory.requests > 1 { without(reply, "id") } else { reply }])],
    ),
    row(
        "id-rounded",
        "Ids beyond 31 bits come back in another value",
        &[Reply(|_, _, reply| {
            let big = reply["id"].as_f64().filter(|id| id.abs() > f64::from(i32::MAX));
            vec![match big {
                Some(_) => with(reply, "id", json!(i32::MAX)),
                None => reply,
            }]
        })],
    ),
    row(
        "string-id-ignored",
        "Requests with a string as id are not answered",
        &[In(|_, message| drop_if(is_request(message) && message["id"].is_string()))],
    ),
    row(
        "empty-id-ignored",
        "A request whose id is the empty text is taken for a notification",
        &[In(|_, message| drop_if(is_request(message) && message["id"] == ""))],
    ),
    row(
        "zero-id-ignored",
        "A request with the id 0 is taken for a notification",
        &[In(|_, message| drop_if(is_request(message) && message["id"] == 0))],
    ),
    row(
        "answered-twice",
        "A list request is answered twice",
        &[Reply(|_, x, reply| if x.is(LIST) { vec![reply.clone(), reply] } else { vec![reply] })],
    ),
    row(
        "list-unanswered",
        "A list request is not answered",
        &[In(|_, message| drop_if(asks(message, LIST)))],
    ),
    row(
        "error-code-string",
        "The code of an error is a string",
        &[Error("*", |_, error| {
            let text = error["code"].to_string();
            set(error, "code", json!(text));
        })],
    ),
    row(
        "error-code-fraction",
        "The code of an error is no whole number",
        &[Error("*", |_, error| set(error, "code", json!(-32602.5)))],
    ),
    row("error-message-missing", "Errors have no message", &[Error("*", |_, error| unset(error, "message"))]),
    row(
        "error-message-number",
        "The message of an error is a number",
        &[Error("*", |_, error| set(error, "message", json!(7)))],
    ),
    row(
        "error-message-multiline",
        "The message of an error is a stack trace",
        &[Error("*", |_, error| {
            set(error, "message", json!("Exception\n    at read (server.js:12)\n    at main (server.js:99)"));
        })],
    ),
    row(
        "error-not-object",
        "An error is a text, not an object",
        &[Error("*", |_, error| *error = json!("Something went wrong"))],
    ),
    row(
        "unknown-method-result",
        "An unknown method is answered with a result",
        &[Reply(|_, x, reply| instead(code(&reply) == -32601, reply, || x.result(json!({}))))],
    ),
    row(
        "unknown-method-wrong-code",
        "An unknown method is refused as an internal error",
        &[Reply(|_, x, reply| instead(code(&reply) == -32601, reply, || x.error(-32603, "Internal error")))],
    ),
    row(
        "unknown-method-silent",
        "An unknown method is not answered",
        &[Reply(|_, _, reply| if code(&reply) == -32601 { Vec::new() } else { vec![reply] })],
    ),
    row(
        "notification-with-null-id",
        "Notifications have an id, null",
        &[Notice(|_, message| vec![with(message, "id", Value::Null)])],
    ),
    row(
        "parse-error-invented-id",
        "The reply to text that is no JSON has an id that nobody sent",
        &[Reply(|_, _, reply| {
            vec![if code(&reply) == -32700 { with(reply, "id", json!("server-error")) } else { reply }]
        })],
    ),
    row(
        "invented-error-id",
        "The reply to JSON that is no request has an id that nobody sent",
        &[Reply(|_, _, reply| {
            let wrong = code(&reply) == -32600 && reply["id"].is_null();
            vec![if wrong { with(reply, "id", json!("server-error")) } else { reply }]
        })],
    ),
    row(
        "unasked-batch",
        "The reply to a list request comes in an array",
        &[Reply(|_, x, reply| vec![if x.is(LIST) { json!([reply]) } else { reply }])],
    ),
    row(
        "request-in-stateless",
        "The server sends a request though the revision has none",
        &[Reply(|_, x, reply| {
            let request = json!({ "jsonrpc": "2.0", "id": "server-1", "method": "ping" });
            if x.stateless() && x.is(LIST) { vec![reply, request] } else { vec![reply] }
        })],
    ),
    row(
        "own-request-id-null",
        "A request of the server has the id null",
        &[Reply(|memory, x, reply| {
            let request = json!({ "jsonrpc": "2.0", "id": null, "method": "ping" });
            if memory.initialized && x.is(LIST) { vec![reply, request] } else { vec![reply] }
        })],
    ),
    row(
        "own-request-id-reused",
        "Requests of the server all have the same id",
        &[Reply(|memory, x, reply| {
            let request = json!({ "jsonrpc": "2.0", "id": "server-1", "method": "ping" });
            if memory.initialized && x.is(LIST) { vec![request.clone(), reply, request] } else { vec![reply] }
        })],
    ),
    row(
        "undefined-reserved-code",
        "A bad cursor is refused with a reserved code that means nothing",
        &[Error(LIST, |x, error| {
            if x.stateless() {
                set(error, "code", json!(-32050))
            }
        })],
    ),
    row(
        "retired-code",
        "A bad cursor is refused with a code that was retired",
        &[Error(LIST, |x, error| {
            if x.stateless() {
                set(error, "code", json!(-32042))
            }
        })],
    ),
    row(
        "legacy-range-code",
        "A bad cursor is refused with a code that only old servers use",
        &[Error(LIST, |x, error| {
            if x.stateless() {
                set(error, "code", json!(-32010))
            }
        })],
    ),
    row(
        "reserved-range-code",
        "A bad cursor is refused with a code of our own inside the range of JSON-RPC",
        &[Error(LIST, |x, error| {
            if x.stateless() {
                set(error, "code", json!(-32500))
            }
        })],
    ),
    row(
        "string-id-lowercased",
        "Strings come back in small letters in ids",
        &[Reply(|_, _, reply| respelt(reply, str::to_lowercase))],
    ),
    row(
        "string-id-trimmed",
        "Strings come back without the spaces around them in ids",
        &[Reply(|_, _, reply| respelt(reply, |id| id.trim().to_owned()))],
    ),
    row(
        "string-id-cut",
        "Strings come back in ids with 16 characters at most",
        &[Reply(|_, _, reply| respelt(reply, |id| id.chars().take(16).collect()))],
    ),
    row(
        "negative-id-ignored",
        "A request with a negative id is not answered",
        &[In(|_, message| drop_if(is_request(message) && message["id"].as_i64().is_some_and(|id| id < 0)))],
    ),
    row(
        "large-id-ignored",
        "A request with an id beyond 31 bits is not answered",
        &[In(|_, message| {
            let large = message["id"].as_i64().is_some_and(|id| id > i64::from(i32::MAX));
            drop_if(is_request(message) && large)
        })],
    ),
    row(
        "id-null",
        "Replies have the id null, after the first request",
        &[Reply(|memory, _, reply| {
            instead(memory.requests > 1, reply.clone(), || with(reply, "id", Value::Null))
        })],
    ),
    row("error-code-missing", "Errors have no code", &[Error("*", |_, error| unset(error, "code"))]),
    row(
        "error-code-null",
        "The code of an error is null",
        &[Error("*", |_, error| set(error, "code", Value::Null))],
    ),
    row(
        "unknown-method-as-invalid-params",
        "An unknown method is refused as a bad parameter",
        &[Reply(|_, x, reply| instead(code(&reply) == -32601, reply, || x.error(-32602, "Invalid request")))],
    ),
];

/// A reply whose id, if it is a string, is spelt in another way.
fn respelt(reply: Value, spell: impl Fn(&str) -> String) -> Vec<Value> {
    let id = reply["id"].as_str().map(spell);
    vec![match id {
        Some(id) => with(reply, "id", json!(id)),
        None => reply,
    }]
}
