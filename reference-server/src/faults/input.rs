//! Faults in the way the server takes in what it is sent: garbage, odd requests, several at once, batches.

use serde_json::{Value, json};

use crate::edge::{Act, Hook::*, Memory, Row, row, stdio_row};
use crate::edit::*;
use crate::lines::Frame;
use crate::revision::Revision;

pub(super) const TABLE: &[Row] = &[
    row(
        "notification-answered",
        "An unknown notification is answered",
        &[In(|_, message| {
            let known = notifies(message, "notifications/initialized") || notifies(message, CANCELLED);
            let unknown = message["method"].is_string() && message.get("id").is_none() && !known;
            if unknown { Act::Answer(vec![nobody(json!({}))]) } else { Act::Pass }
        })],
    ),
    row(
        "garbage-kills",
        "Text that is no JSON ends the server",
        &[Line(|_, frame| die_if(is_garbage(frame)))],
    ),
    row(
        "garbage-deafens",
        "After text that is no JSON nothing is answered",
        &[Line(|memory, frame| {
            memory.flag |= is_garbage(frame);
            drop_if(memory.flag)
        })],
    ),
    row(
        "parse-error-wrong-code",
        "Text that is no JSON is answered by an internal error",
        &[Line(|_, frame| {
            let error = json!({ "code": -32603, "message": "Internal error" });
            let reply = json!({ "jsonrpc": "2.0", "id": null, "error": error });
            if is_garbage(frame) { Act::Answer(vec![reply]) } else { Act::Pass }
        })],
    ),
    row(
        "garbage-served",
        "Text that is no JSON is answered with a result",
        &[Line(|_, frame| if is_garbage(frame) { Act::Answer(vec![nobody(json!({}))]) } else { Act::Pass })],
    ),
    row(
        "invalid-request-served",
        "A request that does not say which JSON-RPC it follows is served",
        &[In(|_, message| {
            if is_request(message) {
                set(message, "jsonrpc", json!("2.0"));
            }
            Act::Pass
        })],
    ),
    row(
        "invalid-request-wrong-code",
        "JSON that is no request is refused as an internal error",
        &[Reply(|_, _, mut reply| {
            if code(&reply) == -32600 {
                reply["error"]["code"] = json!(-32603);
            }
            vec![reply]
        })],
    ),
    row(
        "invalid-params-wrong-code",
        "Ill-typed parameters of a completion are refused as an internal error",
        &[Error(COMPLETE, |_, error| set(error, "code", json!(-32603)))],
    ),
    row(
        "unknown-params-refused",
        "Parameters with a member that no revision defines are refused",
        &[In(|memory, message| {
            let params = message["params"].as_object();
            let unknown =
                params.is_some_and(|params| params.keys().any(|key| !KNOWN.contains(&key.as_str())));
            refuse_if(is_request(message) && unknown, memory, message, -32602)
        })],
    ),
    row(
        "positional-params-kill",
        "Parameters in an array end the server",
        &[In(|_, message| die_if(message["params"].is_array()))],
    ),
    row(
        "null-id-kills",
        "A request with the id null ends the server",
        &[In(|_, message| die_if(is_request(message) && message["id"].is_null()))],
    ),
    row(
        "reused-id-refused",
        "An id that was answered before is refused though the revision allows it",
        &[In(|memory, message| {
            let reused = memory.answered.contains(&message["id"].to_string());
            refuse_if(reused && is_stateless(memory, message), memory, message, -32600)
        })],
    ),
    row(
        "pipeline-loses-one",
        "Of several requests that come in one piece, the second is lost",
        &[In(|memory, message| drop_if(is_request(message) && memory.place.0 == 1))],
    ),
    row(
        "burst-loses-one",
        "Of many requests that come in one piece, the eighth is lost",
        &[In(|memory, message| drop_if(is_request(message) && memory.place.0 == 7))],
    ),
    row(
        "pipeline-swaps-answers",
        "Of several requests that come in one piece, the first two get each other's answer",
        &[Reply(|memory, x, mut reply| {
            if let Some(mut other) = memory.held.pop() {
                let (one, two) = (other["id"].take(), reply["id"].take());
                (other["id"], reply["id"]) = (two, one);
                return vec![other, reply];
            }
            if memory.place == (0, true) && !x.is(INITIALIZE) {
                memory.held.push(reply);
                return Vec::new();
            }
            vec![reply]
        })],
    ),
    row(
        "batch-refused",
        "A batch is refused",
        &[In(
            |memory, message| {
                if is_batch(memory, message) { Act::Answer(vec![refusal(-32600)]) } else { Act::Pass }
            },
        )],
    ),
    row(
        "batch-loses-one",
        "One answer to a batch is missing",
        &[Out(|_, message| {
            if let Some(answers) = message.as_array_mut().filter(|answers| answers.len() > 1) {
                answers.pop();
            }
        })],
    ),
    row(
        "batch-answers-notification",
        "A notification in a batch is answered",
        &[
            In(|memory, message| {
                memory.flag |=
                    message.as_array().is_some_and(|all| all.iter().any(|one| one.get("id").is_none()));
                Act::Pass
            }),
            Out(|memory, message| {
                if let Some(answers) = message.as_array_mut().filter(|_| memory.flag) {
                    answers.push(refusal(-32601));
                }
            }),
        ],
    ),
    row(
        "notification-batch-answered",
        "A batch of notifications is answered, with an empty array",
        &[In(|memory, message| {
            let all = message.as_array().filter(|all| !all.is_empty());
            let silent =
                all.is_some_and(|all| all.iter().all(|one| one.get("id").is_none() && one.is_object()));
            if silent && is_batch(memory, message) { Act::Answer(vec![json!([])]) } else { Act::Pass }
        })],
    ),
    row(
        "empty-batch-served",
        "An empty array is answered with an empty array",
        &[In(|memory, message| {
            let empty = *message == json!([]) && memory.session == Some(Revision::V2025_03_26);
            if empty { Act::Answer(vec![json!([])]) } else { Act::Pass }
        })],
    ),
    row(
        "scalar-kills",
        "JSON that is neither an object nor an array ends the server",
        &[In(|_, message| die_if(!message.is_object() && !message.is_array()))],
    ),
    row(
        "deep-nesting-kills",
        "A thousand open brackets end the server",
        &[Line(|_, frame| die_if(frame.bytes.iter().filter(|byte| b"[{".contains(byte)).count() > 1000))],
    ),
    stdio_row(
        "blank-input-kills",
        "A blank line ends the server",
        &[Line(|_, frame| die_if(frame.bytes.iter().all(u8::is_ascii_whitespace)))],
    ),
    row("array-kills", "An array ends the server", &[In(|_, message| die_if(message.is_array()))]),
    stdio_row(
        "bom-input-kills",
        "A byte order mark ends the server",
        &[Line(|_, frame| die_if(frame.bytes.starts_with(b"\xef\xbb\xbf")))],
    ),
    row(
        "stray-object-kills",
        "An object that is no message ends the server",
        &[In(|_, message| {
            let message = message.as_object();
            die_if(
                message
                    .is_some_and(|m| !["method", "result", "error"].iter().any(|key| m.contains_key(*key))),
            )
        })],
    ),
    row(
        "request-without-id-served",
        "A request without an id, which is a notification, is answered with a result",
        &[In(|_, message| {
            let known = ["ping", LIST, READ].iter().any(|method| notifies(message, method));
            if known { Act::Answer(vec![nobody(json!({}))]) } else { Act::Pass }
        })],
    ),
    row(
        "roots-notification-kills",
        "The notification of changed roots ends the server",
        &[In(|_, message| die_if(notifies(message, "notifications/roots/list_changed")))],
    ),
    row(
        "empty-params-array-kills",
        "Parameters in an empty array end the server",
        &[In(|_, message| die_if(message["params"] == json!([])))],
    ),
    row(
        "hostile-uri-hangs",
        "A read of a URI with many commas takes for ever",
        &[In(|_, message| drop_if(asks(message, READ) && uri(message).matches(',').count() > 30))],
    ),
    row(
        "hostile-uri-kills",
        "A read of a URI with many segments ends the server",
        &[In(|_, message| die_if(asks(message, READ) && uri(message).matches('/').count() > 30))],
    ),
];

/// The parameters that some revision defines.
const KNOWN: [&str; 15] = [
    "_meta",
    "uri",
    "cursor",
    "ref",
    "argument",
    "context",
    "level",
    "notifications",
    "name",
    "arguments",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "inputResponses",
    "requestState",
];

fn is_garbage(frame: &Frame) -> bool {
    let blank = frame.bytes.iter().all(u8::is_ascii_whitespace);
    !blank && serde_json::from_slice::<Value>(&frame.bytes).is_err()
}

fn is_batch(memory: &Memory, message: &Value) -> bool {
    message.as_array().is_some_and(|all| !all.is_empty()) && memory.session == Some(Revision::V2025_03_26)
}

fn nobody(result: Value) -> Value {
    crate::message::reply(&Value::Null, result)
}

fn refusal(code: i64) -> Value {
    crate::message::Refusal::new(code, "Refused").reply(&Value::Null)
}
