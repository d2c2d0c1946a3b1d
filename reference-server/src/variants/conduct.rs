//! Lawful differences in how a server conducts itself over time: what changes by itself, what comes early or late, and
//! what differs between the eras.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::catalogue::README;
use crate::edge::{Act, Exchange, Hook::*, Memory, Row, row, stdio_row};
use crate::edit::*;
use crate::message::reply;
use crate::opening::{PROTOCOL_VERSION, SERVER_INFO, SUBSCRIPTION_ID, server_info};
use crate::revision::Revision;

pub(super) const TABLE: &[Row] = &[
    row(
        "starts-very-slowly",
        "The first message takes 25 s",
        &[Delay(|memory, _| {
            memory.count += 1;
            Duration::from_secs(if memory.count == 1 { 25 } else { 0 })
        })],
    ),
    row(
        "serves-early",
        "A list is served before the opening, though it is empty",
        &[In(|memory, message| {
            let result = json!({ "resources": [] });
            serve_if(is_early(memory, message) && asks(message, LIST), memory, message, result)
        })],
    ),
    row(
        "early-as-invalid-params",
        "What comes before the opening is refused as a bad parameter",
        &[In(|memory, message| {
            let early = is_early(memory, message) && !asks(message, "ping");
            refuse_if(early, memory, message, -32602)
        })],
    ),
    row(
        "second-opening-served",
        "A second opening of a session is answered like the first",
        &[In(|memory, message| {
            let revision = memory.session.unwrap_or(Revision::V2025_11_25);
            let result = json!({
                "protocolVersion": revision.name(),
                "capabilities": { "resources": {} },
                "serverInfo": server_info(revision),
            });
            let again = memory.session.is_some() && asks(message, INITIALIZE);
            serve_if(again, memory, message, result)
        })],
    ),
    row(
        "pings-before-initialized",
        "The server pings, and logs, before the client is ready",
        &[Reply(|_, x, reply| {
            if !x.is(INITIALIZE) || reply.get("result").is_none() {
                return vec![reply];
            }
            let ping = json!({ "jsonrpc": "2.0", "id": "early-ping", "method": "ping" });
            let log = json!({ "level": "info", "data": "Ready" });
            vec![reply, ping, notice("notifications/message", log, None)]
        })],
    ),
    row(
        "older-revisions-without-session",
        "Requests that name an older revision in their _meta are served too",
        &[
            Result(DISCOVER, |_, r| set(r, "supportedVersions", json!(Revision::ALL.map(Revision::name)))),
            In(|memory, message| {
                let known = message["params"]["_meta"][PROTOCOL_VERSION]
                    .as_str()
                    .and_then(|version| version.parse::<Revision>().ok());
                if memory.session.is_none() && known.is_some_and(|revision| !revision.is_stateless()) {
                    message["params"]["_meta"][PROTOCOL_VERSION] = json!(Revision::V2026_07_28.name());
                }
                Act::Pass
            }),
        ],
    ),
    row(
        "eras-differ",
        "Changed contents are told in sessions only",
        &[
            Result(DISCOVER, |_, r| at(r, "/capabilities/resources", |c| set(c, "subscribe", json!(false)))),
            In(|_, message| {
                if asks(message, LISTEN) {
                    at(message, "/params/notifications", |filter| unset(filter, "resourceSubscriptions"));
                }
                Act::Pass
            }),
        ],
    ),
    row(
        "nothing-to-listen-to",
        "Nobody is told of changes, and a stream ends as soon as it is acknowledged",
        &[
            Choose(|settings| (settings.subscribe, settings.list_changed) = (false, false)),
            Notice(|_, message| {
                if message["method"] != ACKNOWLEDGED {
                    return vec![message];
                }
                let id = message["params"]["_meta"][SUBSCRIPTION_ID].clone();
                let info = server_info(Revision::V2026_07_28);
                let result = json!({
                    "resultType": "complete",
                    "_meta": { SUBSCRIPTION_ID: id, SERVER_INFO: info },
                });
                vec![message, reply(&id, result)]
            }),
            // It has ended already.
            Reply(|_, x, reply| if ends_stream(x, &reply) { Vec::new() } else { vec![reply] }),
        ],
    ),
    stdio_row(
        "streams-end-without-a-word",
        "Streams that the server ends have no result",
        &[Reply(|_, x, reply| if ends_stream(x, &reply) { Vec::new() } else { vec![reply] })],
    ),
    row(
        "list-changes-by-itself",
        "A resource of the list has a new URI each time, and nobody is told",
        &[
            Choose(|settings| settings.list_changed = false),
            Reply(|memory, x, mut reply| {
                if x.is(LIST) && x.param("cursor").is_null() {
                    memory.count += 1;
                    let uri = format!("{CLOCK}{}", memory.count);
                    at(&mut reply, "/result/resources", |items| {
                        if let Some(items) = items.as_array_mut() {
                            items.push(json!({ "uri": uri, "name": "clock" }));
                        }
                    });
                }
                vec![reply]
            }),
            In(|memory, message| {
                let uri = uri(message);
                let contents = json!([{ "uri": uri, "text": "tick" }]);
                let clock = asks(message, READ) && uri.starts_with(CLOCK);
                serve_if(clock, memory, message, json!({ "contents": contents }))
            }),
        ],
    ),
    row(
        "announces-list-unchanged",
        "A session hears of a changed list with each list that it asks for",
        &[Reply(|memory, x, reply| {
            let changed = || notice(LIST_CHANGED, Value::Null, None);
            if in_session(memory, x) && x.is(LIST) { vec![changed(), reply] } else { vec![reply] }
        })],
    ),
    row(
        "private-notifications",
        "A session hears notifications of methods that no revision defines",
        &[Reply(|memory, x, reply| {
            let tick = || notice("com.example/tick", json!({ "n": 1 }), None);
            if in_session(memory, x) { vec![tick(), reply] } else { vec![reply] }
        })],
    ),
    row(
        "contents-differ-at-each-read",
        "A text is another one at each read",
        &[Reply(|memory, x, mut reply| {
            memory.count += 1;
            if x.is(READ) {
                let count = memory.count;
                at(&mut reply, "/result", |r| {
                    having(r, "contents", "text", |text| {
                        *text = json!(format!("{} (read {count})", text.as_str().unwrap_or("")));
                    });
                });
            }
            vec![reply]
        })],
    ),
    row(
        "text-as-blob",
        "Texts are read as bytes",
        &[Result(READ, |_, r| {
            for item in r.get_mut("contents").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(text) = item["text"].as_str().map(|text| BASE64.encode(text)) {
                    unset(item, "text");
                    set(item, "blob", json!(text));
                }
            }
        })],
    ),
    row(
        "contents-of-a-collection",
        "A read returns several items, none of which bears the URI asked for",
        &[Result(READ, |x, r| {
            if *x.param("uri") == README {
                let part = |n: u8| json!({ "uri": format!("litmus://part/{n}"), "text": "A part" });
                set(r, "contents", json!([part(1), part(2)]));
            }
        })],
    ),
    row(
        "one-unreadable-for-now",
        "A listed resource cannot be reached at present",
        &[In(|memory, message| {
            let guide = asks(message, READ) && uri(message) == "file:///litmus/docs/guide.md";
            refuse_if(guide, memory, message, -32603)
        })],
    ),
    row(
        "some-cannot-be-followed",
        "A subscription to a file is refused in a session",
        &[In(|memory, message| {
            let file = asks(message, SUBSCRIBE) && uri(message).starts_with("file:");
            refuse_if(file && memory.session.is_some(), memory, message, -32602)
        })],
    ),
    row(
        "updates-begin-at-once",
        "A subscription in a session brings an update at once, even before its answer",
        &[Reply(|_, x, reply| {
            if !x.is(SUBSCRIBE) || reply.get("result").is_none() {
                return vec![reply];
            }
            let update = notice(UPDATED, json!({ "uri": x.param("uri") }), None);
            vec![update.clone(), reply, update]
        })],
    ),
    row(
        "updates-late",
        "Each update takes 3 s",
        &[Linger(|_, message| Duration::from_secs(if message["method"] == UPDATED { 3 } else { 0 }))],
    ),
    stdio_row(
        "log-instead-of-parse-error",
        "In a session text that is no JSON is met by a log message, which no capability announces",
        &[
            Result(INITIALIZE, |_, r| at(r, "/capabilities", |c| unset(c, "logging"))),
            Reply(|memory, _, reply| {
                let log = || notice("notifications/message", json!({ "level": "error", "data": "?" }), None);
                instead(code(&reply) == -32700 && memory.session.is_some(), reply, log)
            }),
        ],
    ),
    row(
        "not-found-in-a-code-of-its-own",
        "What does not exist is refused in a session with the code 0",
        &[Error("*", |_, error| {
            if error["code"] == -32002 {
                set(error, "code", json!(0))
            }
        })],
    ),
];

const CLOCK: &str = "litmus://clock/";

fn ends_stream(x: &Exchange, reply: &Value) -> bool {
    x.is(LISTEN) && reply.get("result").is_some()
}

/// Whether this is a request of a session that is not open yet.
fn is_early(memory: &Memory, message: &Value) -> bool {
    let opens = asks(message, INITIALIZE) || asks(message, DISCOVER);
    is_request(message) && memory.session.is_none() && !opens && !is_stateless(memory, message)
}
