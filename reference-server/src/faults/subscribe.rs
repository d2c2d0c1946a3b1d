//! Faults of `resources/subscribe` and of the notifications that a session gets.

use serde_json::{Value, json};

use crate::edge::{Hook::*, Memory, Row, row};
use crate::edit::*;
use crate::store::Change as Changed;

pub(super) const TABLE: &[Row] = &[
    row(
        "subscribe-missing",
        "resources/subscribe is an unknown method though it is declared",
        &[In(|memory, message| refuse(memory, message, SUBSCRIBE, -32601))],
    ),
    row(
        "subscribe-refused",
        "Every subscription is refused",
        &[In(|memory, message| refuse(memory, message, SUBSCRIBE, -32603))],
    ),
    row(
        "subscribe-result-null",
        "The result of a subscription is null",
        &[Result(SUBSCRIBE, |_, result| *result = Value::Null)],
    ),
    row(
        "subscribe-without-uri",
        "A subscription to no URI is accepted",
        &[In(|memory, message| {
            let bare = asks(message, SUBSCRIBE) && !message["params"]["uri"].is_string();
            serve_if(bare, memory, message, json!({}))
        })],
    ),
    row(
        "subscribe-unknown-kills",
        "A subscription to what does not exist ends the server",
        &[In(|_, message| die_if(asks(message, SUBSCRIBE) && is_unknown(message)))],
    ),
    row(
        "subscribe-unknown-unanswered",
        "A subscription to what does not exist is not answered",
        &[In(|_, message| drop_if(asks(message, SUBSCRIBE) && is_unknown(message)))],
    ),
    row(
        "subscribe-twice-kills",
        "A second subscription to the same URI ends the server",
        &[In(|memory, message| die_if(asks(message, SUBSCRIBE) && memory.subscribed.contains(uri(message))))],
    ),
    row(
        "unsubscribe-missing",
        "resources/unsubscribe is an unknown method though subscriptions are declared",
        &[In(|memory, message| refuse(memory, message, UNSUBSCRIBE, -32601))],
    ),
    row(
        "unsubscribe-refused",
        "The end of a subscription is refused",
        &[In(|memory, message| refuse(memory, message, UNSUBSCRIBE, -32603))],
    ),
    row(
        "unsubscribe-result-null",
        "The result of the end of a subscription is null",
        &[Result(UNSUBSCRIBE, |_, result| *result = Value::Null)],
    ),
    row(
        "unsubscribe-without-uri",
        "The end of a subscription to no URI is accepted",
        &[In(|memory, message| {
            let bare = asks(message, UNSUBSCRIBE) && !message["params"]["uri"].is_string();
            serve_if(bare, memory, message, json!({}))
        })],
    ),
    row(
        "unsubscribe-forgotten",
        "Updates go on after the subscription ended",
        &[In(|memory, message| {
            let ends = asks(message, UNSUBSCRIBE) && message["params"]["uri"].is_string();
            serve_if(ends && !is_stateless(memory, message), memory, message, json!({}))
        })],
    ),
    row(
        "unsubscribe-unknown-kills",
        "The end of a subscription that never was ends the server",
        &[In(|memory, message| {
            die_if(
                asks(message, UNSUBSCRIBE)
                    && !memory.subscribed.contains(uri(message))
                    && !uri(message).is_empty(),
            )
        })],
    ),
    row(
        "updates-never",
        "A session hears nothing of changed contents",
        &[Notice(|_, message| if is_own(&message, UPDATED) { Vec::new() } else { vec![message] })],
    ),
    row(
        "updates-unasked",
        "A session hears of changed contents before it subscribed to any",
        &[Change(|memory, change| {
            if memory.subscribed.is_empty() && memory.initialized { updated(change) } else { Vec::new() }
        })],
    ),
    row(
        "updates-for-others",
        "A session hears of changed contents that it did not subscribe to, once it subscribed to some",
        &[Change(|memory, change| {
            let other = matches!(change, Changed::Updated(uri) if !memory.subscribed.contains(uri));
            if other && !memory.subscribed.is_empty() { updated(change) } else { Vec::new() }
        })],
    ),
    row(
        "updated-uri-missing",
        "An update does not say of what",
        &[Notice(|_, mut message| {
            if message["method"] == UPDATED {
                unset(&mut message["params"], "uri");
            }
            vec![message]
        })],
    ),
    row(
        "updated-uri-number",
        "The URI of an update is a number",
        &[Notice(|_, mut message| {
            if message["method"] == UPDATED {
                message["params"]["uri"] = json!(7);
            }
            vec![message]
        })],
    ),
    row(
        "updated-uri-unrelated",
        "An update names another URI than the one that changed",
        &[Notice(|_, mut message| {
            if message["method"] == UPDATED {
                message["params"]["uri"] = json!("litmus://elsewhere");
            }
            vec![message]
        })],
    ),
    row(
        "updated-before-change",
        "The first read after an update still shows what was before",
        &[
            Change(|memory, change| {
                if let Changed::Updated(uri) = change {
                    memory.seen.insert(uri.clone());
                }
                Vec::new()
            }),
            Reply(|memory, x, mut reply| {
                let uri = uri(&x.request).to_owned();
                if !x.is(READ) || reply.get("result").is_none() {
                    return vec![reply];
                }
                let contents = reply["result"]["contents"].clone();
                match memory.kept.get(&uri).filter(|_| memory.seen.remove(&uri)) {
                    Some(before) => reply["result"]["contents"] = before.clone(),
                    None => _ = memory.kept.insert(uri, contents),
                }
                vec![reply]
            }),
        ],
    ),
    row(
        "list-change-unannounced",
        "A session hears nothing of a changed list",
        &[Notice(|_, message| if is_own(&message, LIST_CHANGED) { Vec::new() } else { vec![message] })],
    ),
    row(
        "list-changed-params-array",
        "The parameters of a list change are an array",
        &[Notice(|_, mut message| {
            if is_own(&message, LIST_CHANGED) {
                message["params"] = json!([]);
            }
            vec![message]
        })],
    ),
    row(
        "list-changed-too-early",
        "The first list after its change was told is still the old one",
        &[
            Change(|memory, change| {
                if *change == Changed::List {
                    memory.seen = memory.kept.keys().cloned().collect();
                }
                Vec::new()
            }),
            Reply(|memory, x, mut reply| {
                if !x.is(LIST) || reply.get("result").is_none() {
                    return vec![reply];
                }
                let page = x.param("cursor").to_string();
                match memory.kept.get(&page).filter(|_| memory.seen.remove(&page)) {
                    Some(before) => reply["result"] = before.clone(),
                    None => _ = memory.kept.insert(page, reply["result"].clone()),
                }
                vec![reply]
            }),
        ],
    ),
    row(
        "undeclared-updates",
        "Updates are sent without a subscription, and the capability does not tell of any",
        &[
            Result(INITIALIZE, |_, r| at(r, "/capabilities/resources", |c| unset(c, "subscribe"))),
            Change(|memory, change| if is_ready(memory) { updated(change) } else { Vec::new() }),
        ],
    ),
    row(
        "undeclared-list-changed",
        "List changes are told though the capability does not say so",
        &[Result(INITIALIZE, |_, r| at(r, "/capabilities/resources", |c| unset(c, "listChanged")))],
    ),
];

fn is_ready(memory: &Memory) -> bool {
    memory.initialized && memory.subscribed.is_empty()
}

/// Whether a notification is one to the session, not to a stream.
fn is_own(message: &Value, method: &str) -> bool {
    message["method"] == method && tag(message).is_none()
}

fn updated(change: &Changed) -> Vec<Value> {
    match change {
        Changed::Updated(uri) => vec![notice(UPDATED, json!({ "uri": uri }), None)],
        Changed::List => Vec::new(),
    }
}

fn is_unknown(message: &Value) -> bool {
    !uri(message).is_empty() && !is_listed(uri(message)) && made_from(uri(message)).is_none()
}
