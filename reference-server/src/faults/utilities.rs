//! Faults of completion, cancellation, progress, ping and logging, and of resources in the results of tools.

use std::time::Duration;

use serde_json::{Value, json};

use crate::catalogue::SLOW;
use crate::edge::{Act, Hook::*, Memory, Row, row, stdio_row};
use crate::edit::*;
use crate::logging::Level;
use crate::message::Refusal;
use crate::opening::LOG_LEVEL;

pub(super) const TABLE: &[Row] = &[
    row(
        "values-missing",
        "A completion has no values",
        &[Result(COMPLETE, |_, r| unset(&mut r["completion"], "values"))],
    ),
    row(
        "value-number",
        "A value of a completion is a number",
        &[Result(COMPLETE, |_, r| at(r, "/completion/values/0", |value| *value = json!(1)))],
    ),
    row(
        "values-too-many",
        "A completion has more than a hundred values",
        &[Result(COMPLETE, |_, r| {
            let values: Vec<String> = (0..150).map(|n| n.to_string()).collect();
            r["completion"] = json!({ "values": values, "total": 150, "hasMore": false });
        })],
    ),
    row(
        "total-string",
        "The total of a completion is a text",
        &[Result(COMPLETE, |_, r| at(r, "/completion/total", |total| *total = json!("many")))],
    ),
    row(
        "total-too-small",
        "The total of a completion is less than its values",
        &[Result(COMPLETE, |_, r| {
            if r["completion"]["values"].as_array().is_some_and(|values| values.len() > 1) {
                at(r, "/completion/total", |total| *total = json!(1));
            }
        })],
    ),
    row(
        "has-more-wrong",
        "A completion says that nothing is left out though it is",
        &[Result(COMPLETE, |_, r| at(r, "/completion/hasMore", |more| *more = json!(false)))],
    ),
    row(
        "has-more-string",
        "A completion says in words whether something is left out",
        &[Result(COMPLETE, |_, r| at(r, "/completion/hasMore", |more| *more = json!("no")))],
    ),
    row(
        "completion-missing",
        "completion/complete is an unknown method though it is declared",
        &[In(|memory, message| refuse(memory, message, COMPLETE, -32601))],
    ),
    row(
        "template-ref-refused",
        "A completion for a listed template is refused",
        &[In(|memory, message| {
            let reference = message["params"]["ref"]["uri"].as_str().is_some_and(|uri| uri.contains('{'));
            refuse_if(reference && asks(message, COMPLETE), memory, message, -32602)
        })],
    ),
    row(
        "completion-undeclared",
        "Completions are served though no capability says so",
        &[Result("*", |x, r| capabilities(x, r, |c| unset(c, "completions")))],
    ),
    row(
        "bad-ref-served",
        "A completion for nothing in particular is served",
        &[Reply(|_, x, reply| {
            let bad = x.is(COMPLETE) && reply.get("error").is_some();
            instead(bad, reply, || x.result(json!({ "completion": { "values": [] } })))
        })],
    ),
    row(
        "unknown-ref-kills",
        "A completion for an unknown template ends the server",
        &[In(|_, message| {
            let uri = message["params"]["ref"]["uri"].as_str();
            let known = |uri: &str| crate::catalogue::TEMPLATES.iter().any(|item| item.uri_template == uri);
            die_if(asks(message, COMPLETE) && uri.is_some_and(|uri| !known(uri)))
        })],
    ),
    row(
        "context-refused",
        "A completion with the values chosen so far is refused",
        &[In(|memory, message| {
            refuse_if(
                asks(message, COMPLETE) && message["params"].get("context").is_some(),
                memory,
                message,
                -32602,
            )
        })],
    ),
    row(
        "chosen-values-refused",
        "A completion with the value of another variable is refused",
        &[In(|memory, message| {
            let chosen = message["params"]["context"]["arguments"].as_object().is_some_and(|a| !a.is_empty());
            refuse_if(chosen && asks(message, COMPLETE), memory, message, -32602)
        })],
    ),
    row(
        "unknown-cancel-answered",
        "A cancellation of what was never asked is answered with an error",
        &[In(|memory, message| {
            let id = &message["params"]["requestId"];
            let unknown = !id.is_null() && !memory.answered.contains(&id.to_string());
            cancel_error(unknown && notifies(message, CANCELLED), &Value::Null)
        })],
    ),
    row(
        "unknown-cancel-kills",
        "A cancellation of what was never asked ends the server",
        &[In(|memory, message| {
            let known = memory.answered.contains(&message["params"]["requestId"].to_string());
            die_if(notifies(message, CANCELLED) && !known)
        })],
    ),
    row(
        "malformed-cancel-kills",
        "A cancellation that does not say of what ends the server",
        &[In(|_, message| {
            die_if(notifies(message, CANCELLED) && !crate::message::is_id(&message["params"]["requestId"]))
        })],
    ),
    row(
        "malformed-cancel-answered",
        "A cancellation that does not say of what is answered with an error",
        &[In(|_, message| {
            let malformed = !crate::message::is_id(&message["params"]["requestId"]);
            cancel_error(malformed && notifies(message, CANCELLED), &Value::Null)
        })],
    ),
    row(
        "late-cancel-answered",
        "A cancellation of what was answered is answered with an error",
        &[In(|memory, message| {
            let id = &message["params"]["requestId"];
            cancel_error(notifies(message, CANCELLED) && memory.answered.contains(&id.to_string()), id)
        })],
    ),
    row(
        "late-cancel-refused",
        "A cancellation of what was answered is answered with an error without an id",
        &[In(|memory, message| {
            let late = memory.answered.contains(&message["params"]["requestId"].to_string());
            cancel_error(notifies(message, CANCELLED) && late, &Value::Null)
        })],
    ),
    row(
        "late-cancel-kills",
        "A cancellation of what was answered ends the server",
        &[In(|memory, message| {
            let late = memory.answered.contains(&message["params"]["requestId"].to_string());
            die_if(notifies(message, CANCELLED) && late)
        })],
    ),
    row(
        "slow-cancel-kills",
        "A cancellation of what is being worked on ends the server",
        &[In(|memory, message| die_if(cancels_slow_read(memory, message)))],
    ),
    stdio_row(
        "cancelled-read-goes-on",
        "A read that was cancelled goes on, without a session",
        &[
            In(|memory, message| {
                let goes_on = cancels_slow_read(memory, message) && memory.stateless();
                // Until the next slow read begins.
                memory.flag = goes_on || (memory.flag && !asks(message, READ));
                drop_if(goes_on)
            }),
            Linger(|memory, message| {
                let of_read = memory.kept.contains_key(&message["id"].to_string())
                    || message["method"] == "notifications/progress";
                Duration::from_secs(if memory.flag && of_read { 2 } else { 0 })
            }),
        ],
    ),
    row(
        "server-cancels-foreign",
        "The server cancels a request of the client",
        &[Reply(|_, x, reply| {
            let cancel = notice(CANCELLED, json!({ "requestId": x.id() }), None);
            if x.is(LIST) { vec![reply, cancel] } else { vec![reply] }
        })],
    ),
    row(
        "progress-unasked",
        "Progress is told though nobody gave a token",
        &[Reply(|_, x, reply| {
            let unasked = x.is(READ) && x.param("_meta").get("progressToken").is_none();
            if unasked { vec![progress(&json!("own"), 1), reply] } else { vec![reply] }
        })],
    ),
    row(
        "progress-token-altered",
        "Progress names another token than the one given",
        &[Notice(|_, message| on_progress(message, |params| set(params, "progressToken", json!("other"))))],
    ),
    row(
        "progress-after-answer",
        "Progress is told after the answer",
        &[Reply(|_, x, reply| match x.param("_meta").get("progressToken") {
            Some(token) if x.is(READ) => vec![reply, progress(token, 99)],
            _ => vec![reply],
        })],
    ),
    row(
        "progress-not-increasing",
        "Progress stays where it is",
        &[Notice(|_, message| on_progress(message, |params| set(params, "progress", json!(1))))],
    ),
    row(
        "progress-value-string",
        "The value of progress is a text",
        &[Notice(|_, message| on_progress(message, |params| set(params, "progress", json!("half"))))],
    ),
    row(
        "progress-total-string",
        "The total of progress is a text",
        &[Notice(|_, message| on_progress(message, |params| set(params, "total", json!("3"))))],
    ),
    row(
        "progress-message-number",
        "The message of progress is a number",
        &[Notice(|_, message| {
            on_progress(message, |params| at(params, "/message", |text| *text = json!(7)))
        })],
    ),
    row(
        "ping-missing",
        "ping is an unknown method in a session",
        &[In(|memory, message| {
            refuse_if(asks(message, "ping") && !is_stateless(memory, message), memory, message, -32601)
        })],
    ),
    row(
        "ping-result-null",
        "The result of ping is null",
        &[Result("ping", |_, result| *result = Value::Null)],
    ),
    row(
        "ping-before-initialized-refused",
        "ping is refused until the client is ready",
        &[In(|memory, message| {
            let early = asks(message, "ping") && !memory.initialized && !is_stateless(memory, message);
            refuse_if(early, memory, message, -32600)
        })],
    ),
    row(
        "log-undeclared",
        "Log messages are sent though no capability says so",
        &[
            Result("*", |x, r| capabilities(x, r, |c| unset(c, "logging"))),
            Reply(|memory, x, reply| {
                if x.is(READ) && (memory.initialized || x.stateless()) {
                    vec![log("info"), reply]
                } else {
                    vec![reply]
                }
            }),
        ],
    ),
    row(
        "log-level-unknown",
        "A log message has a level that does not exist",
        &[Notice(|_, message| on_log(message, |params| set(params, "level", json!("fatal"))))],
    ),
    row(
        "log-data-missing",
        "A log message says nothing",
        &[Notice(|_, message| on_log(message, |params| unset(params, "data")))],
    ),
    row(
        "logger-number",
        "The logger of a log message is a number",
        &[Notice(|_, message| on_log(message, |params| set(params, "logger", json!(7))))],
    ),
    row(
        "log-unasked-in-stateless",
        "A log message is sent for a request that did not ask for any",
        &[Reply(|_, x, reply| {
            let unasked = x.stateless() && x.is(READ) && x.param("_meta").get(LOG_LEVEL).is_none();
            if unasked { vec![log("info"), reply] } else { vec![reply] }
        })],
    ),
    row(
        "log-level-ignored",
        "Log messages below the level asked for are sent",
        &[Reply(|memory, x, reply| {
            if x.is("logging/setLevel") {
                memory.flag = true;
            }
            let asked = x.param("_meta").get(LOG_LEVEL).is_some() || (memory.flag && !x.stateless());
            if x.is(READ) && asked { vec![log("debug"), reply] } else { vec![reply] }
        })],
    ),
    stdio_row(
        "log-after-answer",
        "A log message for a request comes after its answer",
        &[Reply(|_, x, reply| {
            let asked = x.stateless() && x.param("_meta").get(LOG_LEVEL).is_some();
            if x.is(READ) && asked { vec![reply, log("emergency")] } else { vec![reply] }
        })],
    ),
    row(
        "bad-log-level-served",
        "A level that does not exist is accepted",
        &[In(|memory, message| {
            let bad = |level: &Value| Level::read(level).is_none();
            if asks(message, "logging/setLevel") && !is_stateless(memory, message) {
                return serve_if(bad(&message["params"]["level"]), memory, message, json!({}));
            }
            at(message, "/params/_meta", |meta| {
                if meta.get(LOG_LEVEL).is_some_and(bad) {
                    unset(meta, LOG_LEVEL);
                }
            });
            Act::Pass
        })],
    ),
    row(
        "link-without-uri",
        "A link to a resource has no URI",
        &[Result(CALL, |_, r| block(r, "resource_link", |block| unset(block, "uri")))],
    ),
    row(
        "link-without-name",
        "A link to a resource has no name",
        &[Result(CALL, |_, r| block(r, "resource_link", |block| unset(block, "name")))],
    ),
    row(
        "embedding-undeclared",
        "Tools embed resources, of which no capability tells",
        &[Result("*", |x, r| capabilities(x, r, |c| unset(c, "resources")))],
    ),
    row(
        "embedded-text-and-blob",
        "An embedded resource has text and blob at once",
        &[Result(CALL, |_, r| {
            block(r, "resource", |block| {
                set(&mut block["resource"], "text", json!(""));
                set(&mut block["resource"], "blob", json!(""));
            })
        })],
    ),
    row(
        "embedded-uri-missing",
        "An embedded resource has no URI",
        &[Result(CALL, |_, r| block(r, "resource", |block| unset(&mut block["resource"], "uri")))],
    ),
    row(
        "embedded-blob-not-base64",
        "An embedded resource has a blob that is no base64",
        &[Result(CALL, |_, r| {
            block(r, "resource", |block| {
                unset(&mut block["resource"], "text");
                set(&mut block["resource"], "blob", json!("***"));
            })
        })],
    ),
    row(
        "constant-tool",
        "A tool that only reads takes no arguments and always answers alike",
        &[
            Result("tools/list", |_, r| {
                at(r, "/tools", |tools| {
                    if let Some(tools) = tools.as_array_mut() {
                        let schema = json!({ "type": "object" });
                        let hints = json!({ "readOnlyHint": true });
                        tools.push(json!({ "name": STATUS, "inputSchema": schema, "annotations": hints }));
                    }
                });
            }),
            In(|memory, message| {
                let content = json!([{ "type": "text", "text": "All is well" }]);
                let status = asks(message, CALL) && message["params"]["name"] == STATUS;
                serve_if(status, memory, message, json!({ "content": content }))
            }),
        ],
    ),
];

const CALL: &str = "tools/call";
const STATUS: &str = "status";

/// Whether this is the cancellation of a slow read; takes note of those that begin.
fn cancels_slow_read(memory: &mut Memory, message: &Value) -> bool {
    if asks(message, READ) && uri(message) == SLOW {
        memory.kept.insert(message["id"].to_string(), Value::Null);
    }
    let id = message["params"]["requestId"].to_string();
    notifies(message, CANCELLED) && memory.kept.contains_key(&id) && !memory.answered.contains(&id)
}

fn cancel_error(when: bool, id: &Value) -> Act {
    let error = || Refusal::new(-32602, "No such request").reply(id);
    if when { Act::Answer(vec![error()]) } else { Act::Pass }
}

fn progress(token: &Value, value: u32) -> Value {
    notice("notifications/progress", json!({ "progressToken": token, "progress": value }), None)
}

fn log(level: &str) -> Value {
    notice("notifications/message", json!({ "level": level, "data": "A read" }), None)
}

fn on_progress(mut message: Value, change: impl FnOnce(&mut Value)) -> Vec<Value> {
    if message["method"] == "notifications/progress" {
        change(&mut message["params"]);
    }
    vec![message]
}

fn on_log(mut message: Value, change: impl FnOnce(&mut Value)) -> Vec<Value> {
    if message["method"] == "notifications/message" {
        change(&mut message["params"]);
    }
    vec![message]
}

/// The first block of a tool's result, if it is of this kind.
fn block(result: &mut Value, kind: &str, change: impl FnOnce(&mut Value)) {
    at(result, "/content/0", |block| {
        if block["type"] == kind {
            change(block);
        }
    });
}
