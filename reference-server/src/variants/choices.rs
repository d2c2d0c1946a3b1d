//! Lawful differences in what a server offers and whom it answers.

use std::time::Duration;

use serde_json::{Value, json};

use crate::asking::INPUT_REQUIRED;
use crate::catalogue::README;
use crate::edge::{Act, Hook::*, Memory, Row, row, stdio_row};
use crate::edit::*;
use crate::message::{Refusal, code::MISSING_CAPABILITY};
use crate::opening::{CLIENT_CAPABILITIES, PROTOCOL_VERSION};
use crate::revision::Revision;
use crate::settings::Settings;
use crate::store::Change as Changed;

pub(super) const TABLE: &[Row] = &[
    row("one-page", "Each list fits on one page", &[Choose(|settings| settings.page_size = usize::MAX)]),
    row(
        "empty-lists",
        "There are no resources and no templates, though there could be",
        &[Choose(|s| s.empty = true)],
    ),
    row(
        "official-fixtures",
        "There are also the resources that the official conformance suite looks for",
        &[Choose(|settings| settings.official = true)],
    ),
    row("no-resources", "The server has nothing to do with resources", &[Choose(|s| s.resources = false)]),
    row("templates-unsupported", "Templates are an unknown method", &[Choose(|s| s.templates = false)]),
    row(
        "no-templates",
        "Templates can be listed, but there are none",
        &[Result(TEMPLATE_LIST, |_, r| {
            set(r, "resourceTemplates", json!([]));
            unset(r, "nextCursor");
        })],
    ),
    row("pages-of-one", "Each page holds a single item", &[Choose(|settings| settings.page_size = 1)]),
    row("no-subscribe", "Nobody is told of changed contents", &[Choose(|s| s.subscribe = false)]),
    row("no-list-changed", "Nobody is told of a changed list", &[Choose(|s| s.list_changed = false)]),
    row(
        "no-changes-told",
        "Nobody is told of changes, and the capability has no flags",
        &[
            Choose(|settings| (settings.subscribe, settings.list_changed) = (false, false)),
            Result("*", |x, r| capabilities(x, r, |c| set(c, "resources", json!({})))),
        ],
    ),
    row(
        "listen-unsupported",
        "Nobody is told of changes, and streams are an unknown method",
        &[
            Choose(|settings| (settings.subscribe, settings.list_changed) = (false, false)),
            In(|memory, message| refuse(memory, message, LISTEN, -32601)),
        ],
    ),
    row("no-completions", "No values are suggested", &[Choose(|settings| settings.completions = false)]),
    row(
        "subscribe-unknown-accepted",
        "One may subscribe to what does not exist",
        &[Choose(|settings| settings.subscribe_unknown = true)],
    ),
    row(
        "unsubscribe-unknown-refused",
        "A subscription that never was cannot be ended",
        &[In(|memory, message| {
            let never = !uri(message).is_empty() && !memory.subscribed.contains(uri(message));
            refuse_if(
                never && asks(message, UNSUBSCRIBE) && memory.session.is_some(),
                memory,
                message,
                -32602,
            )
        })],
    ),
    row(
        "stateful-only",
        "Only revisions with sessions are spoken",
        &[Choose(|settings| keep(settings, |revision| !revision.is_stateless()))],
    ),
    row(
        "modern-only",
        "Only revisions without sessions are spoken",
        &[Choose(|settings| keep(settings, Revision::is_stateless))],
    ),
    row(
        "oldest-only",
        "Only the oldest revision is spoken",
        &[Choose(|settings| settings.revisions = vec![Revision::V2024_11_05])],
    ),
    row(
        "one-revision-midway",
        "Only a revision from between the others is spoken",
        &[Choose(|settings| settings.revisions = vec![Revision::V2025_03_26])],
    ),
    row(
        "dual-era-bound",
        "The first request decides on the era, and requests of the other are refused",
        &[In(|memory, message| {
            let era = json!(message["params"]["_meta"].get(PROTOCOL_VERSION).is_some());
            let both = memory.offered.contains(&Revision::V2026_07_28) && memory.offered.len() > 1;
            if !is_request(message) || !both {
                return Act::Pass;
            }
            let bound = memory.kept.entry("era".into()).or_insert_with(|| era.clone()).clone();
            refuse_if(bound != era, memory, message, -32600)
        })],
    ),
    row(
        "unknown-version-refused",
        "A version that does not exist is refused as a bad parameter",
        &[In(|memory, message| {
            let version = message["params"]["protocolVersion"].as_str();
            let unknown = version.is_some_and(|version| version.parse::<Revision>().is_err());
            refuse_if(unknown && asks(message, INITIALIZE), memory, message, -32602)
        })],
    ),
    row(
        "supported-versions-all",
        "server/discover lists the revisions with sessions too",
        &[Result(DISCOVER, |_, r| set(r, "supportedVersions", json!(Revision::ALL.map(Revision::name))))],
    ),
    row(
        "silent-on-garbage",
        "Text that is no JSON is not answered",
        &[Reply(|_, _, reply| if code(&reply) == -32700 { Vec::new() } else { vec![reply] })],
    ),
    row(
        "silent-on-invalid",
        "JSON that is no request is not answered",
        &[Reply(|_, _, reply| {
            let invalid = reply["error"]["message"] == "Invalid request";
            if invalid { Vec::new() } else { vec![reply] }
        })],
    ),
    row(
        "stays-silent-before-initialized",
        "Nothing but initialize is answered before the client is ready",
        &[In(|memory, message| {
            let early = is_request(message) && !memory.initialized && !asks(message, INITIALIZE);
            drop_if(early && !is_stateless(memory, message))
        })],
    ),
    row(
        "not-found-as-invalid-params",
        "What does not exist is refused as a bad parameter in sessions too",
        &[Error("*", |_, error| {
            if error["code"] == -32002 {
                set(error, "code", json!(-32602))
            }
        })],
    ),
    row(
        "batch-answered-singly",
        "The answers to a batch come one by one",
        &[In(|memory, message| take_apart(memory, message, true))],
    ),
    row(
        "arrays-executed",
        "Arrays are served where the revision does not know them",
        &[In(|memory, message| take_apart(memory, message, false))],
    ),
    row(
        "ignores-unknown-cursor-on-one-page",
        "Each list fits on one page, whatever the cursor",
        &[
            Choose(|settings| settings.page_size = usize::MAX),
            In(|_, message| {
                let cursor = message["params"]["cursor"].is_string();
                if cursor && (asks(message, LIST) || asks(message, TEMPLATE_LIST)) {
                    unset(&mut message["params"], "cursor");
                }
                Act::Pass
            }),
        ],
    ),
    row(
        "absent-uris-dropped-from-ack",
        "A stream leaves out what does not exist",
        &[In(|_, message| {
            if asks(message, LISTEN) {
                at(message, "/params/notifications/resourceSubscriptions", |uris| {
                    if let Some(uris) = uris.as_array_mut() {
                        let exists = |uri: &str| is_listed(uri) || made_from(uri).is_some();
                        uris.retain(|uri| uri.as_str().is_none_or(exists));
                    }
                });
            }
            Act::Pass
        })],
    ),
    row(
        "cancelled-reads-finish",
        "In a session a cancelled read is answered all the same",
        &[In(|memory, message| drop_if(notifies(message, CANCELLED) && memory.session.is_some()))],
    ),
    row(
        "listen-torn-down-by-cancelling",
        "A server that stops cancels its streams in place of answering them",
        &[Reply(|_, x, reply| {
            let ended = x.is(LISTEN) && reply.get("result").is_some();
            instead(ended, reply, || notice(CANCELLED, json!({ "requestId": x.id() }), None))
        })],
    ),
    row(
        "template-change-announced",
        "With each touch there is one template more, and a changed list is announced",
        &[
            Change(|memory, change| {
                let Changed::Updated(_) = change else { return Vec::new() };
                memory.count += 1;
                let session = memory.initialized.then(|| notice(LIST_CHANGED, json!({}), None));
                let asked = memory.streams.iter().filter(|(_, f)| f["resourcesListChanged"] == json!(true));
                let streams = asked.map(|(id, _)| notice(LIST_CHANGED, json!({}), Some(id)));
                session.into_iter().chain(streams).collect()
            }),
            Reply(|memory, x, mut reply| {
                if x.is(TEMPLATE_LIST) && reply["result"].get("nextCursor").is_none() {
                    at(&mut reply, "/result/resourceTemplates", |items| {
                        for count in 0..memory.count {
                            let uri = format!("litmus://notes/{{touched{count}}}");
                            let more = json!({ "uriTemplate": uri, "name": "touched" });
                            items.as_array_mut().into_iter().for_each(|items| items.push(more.clone()));
                        }
                    });
                }
                vec![reply]
            }),
        ],
    ),
    row(
        "reads-ask-first",
        "A read hands out a state, and shows the contents to who comes back with it",
        &[
            In(|_, message| {
                if asks(message, READ) && message["params"]["requestState"] == LATER {
                    unset(&mut message["params"], "requestState");
                    set(&mut message["params"], "later", json!(true));
                }
                Act::Pass
            }),
            Result(READ, |x, r| {
                if x.stateless() && r.get("contents").is_some() && x.param("later").is_null() {
                    for member in ["contents", "ttlMs", "cacheScope"] {
                        unset(r, member);
                    }
                    set(r, "resultType", json!(INPUT_REQUIRED));
                    set(r, "requestState", json!(LATER));
                }
            }),
        ],
    ),
    row(
        "listed-needs-capability",
        "A listed resource can be read only by a client that can be asked",
        &[In(|memory, message| {
            let able = message["params"]["_meta"][CLIENT_CAPABILITIES].get("elicitation").is_some();
            if !asks(message, READ) || uri(message) != README || able || !is_stateless(memory, message) {
                return Act::Pass;
            }
            let needed = json!({ "requiredCapabilities": { "elicitation": {} } });
            let refusal = Refusal::new(MISSING_CAPABILITY, "The user has to be asked").with(needed);
            Act::Answer(vec![refusal.reply(&message["id"])])
        })],
    ),
    stdio_row(
        "logs-to-stderr",
        "Each message is logged on standard error, at length and as if something were wrong",
        &[Log(|message| format!("ERROR: {}\n{}\n", message["method"], "at line 1\n".repeat(200)))],
    ),
    row("slow", "Each message takes 300 ms", &[Delay(|_, _| Duration::from_millis(300))]),
    row(
        "starts-slowly",
        "The first message takes 3 s",
        &[Delay(|memory, _| {
            memory.count += 1;
            Duration::from_secs(if memory.count == 1 { 3 } else { 0 })
        })],
    ),
    row(
        "answers-out-of-order",
        "Every other answer is overtaken by the next",
        &[Linger(|memory, message| {
            memory.count += u64::from(message.get("id").is_some());
            let waits = message.get("id").is_some() && memory.count % 2 == 1;
            Duration::from_millis(if waits { 20 } else { 0 })
        })],
    ),
];

/// The state that such reads hand out.
const LATER: &str = "later";

/// Leaves the revisions that fit; if none does, all.
fn keep(settings: &mut Settings, fits: impl Fn(Revision) -> bool) {
    if settings.revisions.iter().any(|revision| fits(*revision)) {
        settings.revisions.retain(|revision| fits(*revision));
    }
}

/// Serves the messages of an array one by one, where the revision has batches or where it has none.
fn take_apart(memory: &Memory, message: &Value, batches: bool) -> Act {
    let has_batches = memory.session.is_some_and(Revision::has_batches);
    let fits = has_batches == batches && (memory.session.is_some() || memory.stateless());
    match message.as_array() {
        Some(messages) if fits && !messages.is_empty() => Act::Instead(messages.clone()),
        _ => Act::Pass,
    }
}
