//! Faults of `server/discover`, of the version on each request, and of the kinds of result.

use serde_json::{Value, json};

use crate::asking::INPUT_REQUIRED;
use crate::edge::{Act, Hook::*, Row, row};
use crate::edit::*;
use crate::opening::PROTOCOL_VERSION;
use crate::revision::Revision;

pub(super) const TABLE: &[Row] = &[
    row(
        "discover-missing",
        "server/discover is an unknown method",
        &[In(|memory, message| refuse(memory, message, DISCOVER, -32601))],
    ),
    row(
        "versions-missing",
        "server/discover lists no versions",
        &[Result(DISCOVER, |_, r| unset(r, "supportedVersions"))],
    ),
    row(
        "versions-lack-current",
        "server/discover leaves out the version of the request",
        &[Result(DISCOVER, |_, r| set(r, "supportedVersions", json!(["2099-01-01"])))],
    ),
    row(
        "versions-disagree",
        "A version error lists other versions than server/discover",
        &[Error("*", |_, error| {
            at(error, "/data/supported", |versions| *versions = json!(["2026-07-28", "2099-01-01"]));
        })],
    ),
    row(
        "version-data-lacks-current",
        "A version error lists no version that works",
        &[Error("*", |_, error| at(error, "/data/supported", |versions| *versions = json!(["2099-01-01"])))],
    ),
    row(
        "discover-capabilities-missing",
        "server/discover tells no capabilities",
        &[Result(DISCOVER, |_, r| unset(r, "capabilities"))],
    ),
    row(
        "discover-instructions-number",
        "The instructions in the result of server/discover are a number",
        &[Result(DISCOVER, |_, r| set(r, "instructions", json!(7)))],
    ),
    row(
        "extension-unprefixed",
        "An extension has a key without a prefix",
        &[Result(DISCOVER, |_, r| at(r, "/capabilities", |c| set(c, "extensions", json!({ "litmus": {} }))))],
    ),
    row(
        "wrong-version-served",
        "A request of a version that does not exist is served",
        &[In(|_, message| {
            if is_request(message) && !asks(message, DISCOVER) {
                correct_version(message);
            }
            Act::Pass
        })],
    ),
    row(
        "wrong-version-code",
        "A version that does not exist is refused as a bad parameter",
        &[Error("*", |_, error| {
            if error["code"] == -32022 {
                set(error, "code", json!(-32602))
            }
        })],
    ),
    row(
        "version-data-missing",
        "A version error does not tell the versions",
        &[Error("*", |_, error| {
            if error["code"] == -32022 {
                unset(error, "data")
            }
        })],
    ),
    row(
        "version-requested-wrong",
        "A version error repeats another version than the one asked for",
        &[Error("*", |_, error| at(error, "/data/requested", |version| *version = json!("2026-07-28")))],
    ),
    row(
        "initialize-refused-bare",
        "initialize is refused without a word about versions",
        &[Error(INITIALIZE, |_, error| *error = json!({ "code": -32601, "message": "Method not found" }))],
    ),
    row(
        "discover-demanded-first",
        "Requests before server/discover are refused",
        &[In(|memory, message| {
            memory.flag |= asks(message, DISCOVER);
            refuse_if(!memory.flag && is_stateless(memory, message), memory, message, -32600)
        })],
    ),
    row(
        "discover-ignores-version",
        "server/discover answers in any version",
        &[In(|_, message| {
            if asks(message, DISCOVER) {
                correct_version(message);
            }
            Act::Pass
        })],
    ),
    row(
        "removed-ping-served",
        "ping is answered though the revision has none",
        &[In(|memory, message| {
            let removed = asks(message, "ping") && is_stateless(memory, message);
            serve_if(removed, memory, message, json!({}))
        })],
    ),
    row(
        "removed-subscribe-served",
        "resources/subscribe is answered though the revision has none",
        &[In(|memory, message| {
            let removed = asks(message, SUBSCRIBE) && is_stateless(memory, message);
            serve_if(removed, memory, message, json!({}))
        })],
    ),
    row(
        "removed-set-level-kills",
        "logging/setLevel ends the server though the revision has none",
        &[In(|memory, message| die_if(asks(message, "logging/setLevel") && is_stateless(memory, message)))],
    ),
    row(
        "result-type-missing",
        "Lists do not say what kind of result they are",
        &[Result(LIST, |_, r| unset(r, KIND))],
    ),
    row(
        "result-type-number",
        "The kind of result of a list is a number",
        &[Result(LIST, |x, r| {
            if x.stateless() {
                set(r, KIND, json!(7))
            }
        })],
    ),
    row(
        "result-type-unknown",
        "The kind of result of a list is one that nobody defined",
        &[Result(LIST, |x, r| {
            if x.stateless() {
                set(r, KIND, json!("done"))
            }
        })],
    ),
    row(
        "input-required-on-list",
        "A template list asks for input",
        &[Result(TEMPLATE_LIST, |x, r| {
            if x.stateless() {
                *r = json!({ KIND: INPUT_REQUIRED, "requestState": "s" })
            }
        })],
    ),
    row(
        "list-varies-after-read",
        "Once something was read, the list is another",
        &[Reply(|memory, x, reply| {
            if x.stateless() {
                shorten_after(READ, "/result/resources", memory, x, reply)
            } else {
                vec![reply]
            }
        })],
    ),
    row(
        "older-version-kills",
        "A request whose _meta names an older version ends the server",
        &[In(|_, message| die_if(names_older(message)))],
    ),
    row(
        "older-version-unanswered",
        "A request whose _meta names an older version is not answered",
        &[In(|_, message| drop_if(names_older(message)))],
    ),
    row(
        "list-varies-after-completion",
        "Once a value was suggested, the list is another",
        &[Reply(|memory, x, reply| shorten_after(COMPLETE, "/result/resources", memory, x, reply))],
    ),
];

fn names_older(message: &Value) -> bool {
    let version = message["params"]["_meta"][PROTOCOL_VERSION].as_str();
    version.and_then(|version| version.parse::<Revision>().ok()).is_some_and(|known| !known.is_stateless())
}

const KIND: &str = "resultType";

fn correct_version(message: &mut Value) {
    at(message, "/params/_meta", |meta| {
        if meta.get(PROTOCOL_VERSION).is_some_and(Value::is_string) {
            set(meta, PROTOCOL_VERSION, json!("2026-07-28"));
        }
    });
}
