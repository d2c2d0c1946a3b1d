//! Faults of `subscriptions/listen` and of what streams deliver.

use serde_json::{Value, json};

use crate::edge::{Act, Hook::*, Memory, Row, row, stdio_row};
use crate::edit::*;
use crate::message::reply as reply_to;
use crate::opening::{SERVER_INFO, SUBSCRIPTION_ID, server_info};
use crate::revision::Revision;
use crate::store::Change as Changed;

pub(super) const TABLE: &[Row] = &[
    row(
        "listen-missing",
        "subscriptions/listen is an unknown method though changes are declared",
        &[In(|memory, message| refuse(memory, message, LISTEN, -32601))],
    ),
    row(
        "listen-refused",
        "subscriptions/listen is refused as an internal error",
        &[In(|memory, message| refuse(memory, message, LISTEN, -32603))],
    ),
    row(
        "ack-missing",
        "A stream is not acknowledged",
        &[Notice(|_, message| acknowledged(message, |_| Vec::new()))],
    ),
    row(
        "ack-late",
        "An update precedes the acknowledgement of its stream",
        &[Notice(|_, message| {
            acknowledged(message, |message| {
                let uri = message["params"]["notifications"]["resourceSubscriptions"][0].clone();
                let early = match uri {
                    Value::Null => notice(LIST_CHANGED, json!({}), tag(&message)),
                    uri => notice(UPDATED, json!({ "uri": uri }), tag(&message)),
                };
                vec![early, message]
            })
        })],
    ),
    row(
        "ack-id-as-string",
        "The acknowledgement names the stream by a string though its id is a number",
        &[Notice(|_, message| {
            acknowledged(message, |mut message| {
                let id = &mut message["params"]["_meta"][SUBSCRIPTION_ID];
                if id.is_number() {
                    *id = json!(id.to_string());
                }
                vec![message]
            })
        })],
    ),
    row(
        "ack-untagged",
        "The acknowledgement does not say of which stream",
        &[Notice(|_, message| acknowledged(message, untagged))],
    ),
    row(
        "ack-overclaims",
        "The acknowledgement promises what was not asked for",
        &[Notice(|_, message| {
            acknowledged(message, |mut message| {
                let filter = &mut message["params"]["notifications"];
                set(filter, "resourcesListChanged", json!(true));
                set(filter, "toolsListChanged", json!(true));
                vec![message]
            })
        })],
    ),
    row(
        "ack-adds-uri",
        "The acknowledgement promises a URI that was not asked for",
        &[Notice(|_, message| {
            acknowledged(message, |mut message| {
                let uris = &mut message["params"]["notifications"]["resourceSubscriptions"];
                let mut all = uris.as_array().cloned().unwrap_or_default();
                all.push(json!("litmus://unasked"));
                *uris = json!(all);
                vec![message]
            })
        })],
    ),
    row(
        "ack-drops-list-changed",
        "The acknowledgement leaves out a kind of change that is declared",
        &[Notice(|_, message| {
            acknowledged(message, |mut message| {
                unset(&mut message["params"]["notifications"], "resourcesListChanged");
                vec![message]
            })
        })],
    ),
    row(
        "ack-drops-uris",
        "The acknowledgement leaves out every URI",
        &[Notice(|_, message| {
            acknowledged(message, |mut message| {
                unset(&mut message["params"]["notifications"], "resourceSubscriptions");
                vec![message]
            })
        })],
    ),
    row(
        "ack-denies-the-unasked",
        "The acknowledgement says no to what was not asked for",
        &[Notice(|_, message| {
            acknowledged(message, |mut message| {
                let filter = &mut message["params"]["notifications"];
                for (kind, no) in
                    [("resourcesListChanged", json!(false)), ("resourceSubscriptions", json!([]))]
                {
                    if filter.get(kind).is_none() {
                        set(filter, kind, no);
                    }
                }
                vec![message]
            })
        })],
    ),
    row(
        "ack-claims-undeclared",
        "The acknowledgement promises list changes though they are not declared",
        &[Result(DISCOVER, |_, r| at(r, "/capabilities/resources", |c| unset(c, "listChanged")))],
    ),
    row(
        "ack-without-filter",
        "The acknowledgement does not say what will be delivered",
        &[Notice(|_, message| {
            acknowledged(message, |mut message| {
                unset(&mut message["params"], "notifications");
                vec![message]
            })
        })],
    ),
    row(
        "listen-updates-never",
        "A stream hears nothing of changed contents",
        &[Notice(|_, message| if is_on_stream(&message, UPDATED) { Vec::new() } else { vec![message] })],
    ),
    row(
        "listen-list-change-never",
        "A stream hears nothing of a changed list",
        &[Notice(|_, message| if is_on_stream(&message, LIST_CHANGED) { Vec::new() } else { vec![message] })],
    ),
    row(
        "updates-untagged",
        "An update does not say for which stream it is",
        &[Notice(
            |_, message| if is_on_stream(&message, UPDATED) { untagged(message) } else { vec![message] },
        )],
    ),
    row(
        "updates-misrouted",
        "An update names another stream than the one that asked for it",
        &[Notice(|memory, mut message| {
            let own = tag(&message).cloned();
            let other = memory.streams.iter().map(|(id, _)| id).find(|id| Some(*id) != own.as_ref());
            if let Some(other) = other.filter(|_| is_on_stream(&message, UPDATED)) {
                message["params"]["_meta"][SUBSCRIPTION_ID] = other.clone();
            }
            vec![message]
        })],
    ),
    row(
        "other-type-delivered",
        "A stream delivers a kind of change that it did not ask for",
        &[Change(|memory, change| {
            let unasked = |filter: &Value| match change {
                Changed::List => filter.get("resourcesListChanged").is_none() && is_set(filter),
                Changed::Updated(_) => filter.get("resourceSubscriptions").is_none() && is_set(filter),
            };
            deliver(memory, change, unasked)
        })],
    ),
    row(
        "other-uri-delivered",
        "A stream delivers updates of a URI that it did not ask for",
        &[Change(|memory, change| {
            let unasked = |filter: &Value| match (change, filter["resourceSubscriptions"].as_array()) {
                (Changed::Updated(uri), Some(uris)) => !uris.is_empty() && !uris.contains(&json!(uri)),
                _ => false,
            };
            deliver(memory, change, unasked)
        })],
    ),
    row(
        "empty-filter-delivers",
        "A stream that asked for nothing delivers everything",
        &[Change(|memory, change| deliver(memory, change, |filter| !is_set(filter)))],
    ),
    stdio_row(
        "delivered-without-listen",
        "Changes are told though no stream is open",
        &[Change(|memory, change| {
            let alone = memory.streams.is_empty() && memory.stateless() && memory.requests > 0;
            if alone { vec![told(change, None)] } else { Vec::new() }
        })],
    ),
    row(
        "missing-filter-accepted",
        "A stream without a filter is accepted",
        &[In(|_, message| {
            if asks(message, LISTEN) && message["params"].get("notifications").is_none() {
                set(&mut message["params"], "notifications", json!({}));
            }
            Act::Pass
        })],
    ),
    row(
        "bad-filter-accepted",
        "A stream with an ill-typed filter is accepted",
        &[In(|_, message| {
            let filter = &message["params"]["notifications"];
            let flags = ["resourcesListChanged", "toolsListChanged", "promptsListChanged"];
            let uris = filter.get("resourceSubscriptions");
            let strings =
                |uris: &Value| uris.as_array().is_some_and(|uris| uris.iter().all(Value::is_string));
            let sound = flags.iter().all(|flag| filter.get(flag).is_none_or(Value::is_boolean))
                && uris.is_none_or(strings);
            if asks(message, LISTEN) && filter.is_object() && !sound {
                message["params"]["notifications"] = json!({});
            }
            Act::Pass
        })],
    ),
    row(
        "empty-filter-refused",
        "A stream with an empty filter is refused",
        &[In(|memory, message| {
            let empty = asks(message, LISTEN) && message["params"]["notifications"] == json!({});
            refuse_if(empty, memory, message, -32602)
        })],
    ),
    row(
        "listen-blocks",
        "While a stream is open nothing else is answered",
        &[In(|memory, message| drop_if(is_request(message) && !memory.streams.is_empty()))],
    ),
    row(
        "listen-ends-at-once",
        "A stream ends as soon as it is acknowledged",
        &[Notice(|memory, message| match tag(&message).cloned() {
            Some(id) if message["method"] == ACKNOWLEDGED => {
                memory.seen.insert(id.to_string());
                vec![message, end_of_stream(&id)]
            }
            Some(id) if memory.seen.contains(&id.to_string()) => Vec::new(),
            _ => vec![message],
        })],
    ),
    stdio_row(
        "updates-after-end",
        "A stream that was ended by the server still delivers",
        &[Notice(|_, message| match tag(&message).cloned() {
            Some(id) if message["method"] == ACKNOWLEDGED => vec![message, end_of_stream(&id)],
            _ => vec![message],
        })],
    ),
    stdio_row(
        "listen-result-untagged",
        "The result that ends a stream does not name it",
        &[Result(LISTEN, |_, r| at(r, "/_meta", |meta| unset(meta, SUBSCRIPTION_ID)))],
    ),
    stdio_row(
        "listen-result-never",
        "A server that stops leaves its streams unanswered",
        &[Reply(
            |_, x, reply| {
                if x.is(LISTEN) && reply.get("result").is_some() { Vec::new() } else { vec![reply] }
            },
        )],
    ),
    stdio_row(
        "cancel-ignored",
        "A stream goes on though it was cancelled",
        &[
            In(|memory, message| {
                let id = message["params"]["requestId"].to_string();
                drop_if(notifies(message, CANCELLED) && memory.kept.contains_key(&id))
            }),
            Notice(remember),
        ],
    ),
    stdio_row(
        "cancel-ends-all",
        "Cancelling one stream ends all",
        &[
            In(|memory, message| {
                let id = message["params"]["requestId"].to_string();
                if !notifies(message, CANCELLED) || !memory.kept.contains_key(&id) {
                    return Act::Pass;
                }
                let cancel = |id: &Value| json!({ "jsonrpc": "2.0", "method": CANCELLED, "params": { "requestId": id } });
                Act::Instead(memory.kept.values().map(cancel).collect())
            }),
            Notice(remember),
        ],
    ),
    row(
        "second-listen-refused",
        "A second stream is refused while one is open",
        &[In(|memory, message| {
            refuse_if(asks(message, LISTEN) && !memory.streams.is_empty(), memory, message, -32603)
        })],
    ),
    row(
        "tag-on-progress",
        "Progress of a read names a stream",
        &[Notice(|_, mut message| {
            if message["method"] == "notifications/progress" {
                message["params"]["_meta"] = json!({ SUBSCRIPTION_ID: 1 });
            }
            vec![message]
        })],
    ),
    row(
        "logs-on-listen",
        "A stream delivers log messages",
        &[Notice(|_, message| {
            let log = json!({ "level": "info", "data": "changed" });
            let log = notice("notifications/message", log, tag(&message));
            if is_on_stream(&message, UPDATED) { vec![log, message] } else { vec![message] }
        })],
    ),
];

fn acknowledged(message: Value, change: impl FnOnce(Value) -> Vec<Value>) -> Vec<Value> {
    if message["method"] == ACKNOWLEDGED { change(message) } else { vec![message] }
}

fn untagged(mut message: Value) -> Vec<Value> {
    unset(&mut message["params"], "_meta");
    vec![message]
}

fn is_on_stream(message: &Value, method: &str) -> bool {
    message["method"] == method && tag(message).is_some()
}

/// Whether a filter asks for anything.
fn is_set(filter: &Value) -> bool {
    let asks = |value: &Value| *value == json!(true) || value.as_array().is_some_and(|uris| !uris.is_empty());
    filter.as_object().is_some_and(|filter| filter.values().any(asks))
}

/// Tells of a change on each stream with such a filter.
fn deliver(memory: &Memory, change: &Changed, such: impl Fn(&Value) -> bool) -> Vec<Value> {
    memory.streams.iter().filter(|(_, filter)| such(filter)).map(|(id, _)| told(change, Some(id))).collect()
}

fn told(change: &Changed, stream: Option<&Value>) -> Value {
    match change {
        Changed::Updated(uri) => notice(UPDATED, json!({ "uri": uri }), stream),
        Changed::List => notice(LIST_CHANGED, json!({}), stream),
    }
}

fn end_of_stream(id: &Value) -> Value {
    let meta = json!({ SUBSCRIPTION_ID: id, SERVER_INFO: server_info(Revision::V2026_07_28) });
    reply_to(id, json!({ "resultType": "complete", "_meta": meta }))
}

/// Keeps the ids of the streams that were opened.
fn remember(memory: &mut Memory, message: Value) -> Vec<Value> {
    if let Some(id) = tag(&message).filter(|_| message["method"] == ACKNOWLEDGED) {
        memory.kept.insert(id.to_string(), id.clone());
    }
    vec![message]
}
