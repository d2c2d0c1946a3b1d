//! Faults of `_meta`, in requests and in results.

use serde_json::json;

use crate::edge::{Act, Hook::*, Row, row};
use crate::edit::*;
use crate::opening::{CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION, SERVER_INFO};

pub(super) const TABLE: &[Row] = &[
    row(
        "meta-not-object",
        "The _meta of a list is a text",
        &[Result(LIST, |_, r| set(r, "_meta", json!("none")))],
    ),
    row(
        "meta-bad-key",
        "The _meta of a list has a key with a space",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "my key", json!(1)))],
    ),
    row(
        "meta-bad-prefix",
        "The _meta of a list has a key whose prefix begins with a hyphen",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "-x/key", json!(1)))],
    ),
    row(
        "reserved-prefix-used",
        "The _meta of a list has a key of our own under the prefix of the protocol",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "io.modelcontextprotocol/litmus", json!(1)))],
    ),
    row(
        "traceparent-malformed",
        "The _meta of a list has a trace context that is none",
        &[Result(LIST, |x, r| {
            if x.stateless() {
                set(&mut r["_meta"], "traceparent", json!("here"))
            }
        })],
    ),
    row(
        "meta-missing-served",
        "A request without _meta is served",
        &[In(|memory, message| {
            if is_stateless(memory, message) && message["params"].get("_meta").is_none() {
                fill_meta(message, &[PROTOCOL_VERSION, CLIENT_CAPABILITIES]);
            }
            Act::Pass
        })],
    ),
    row(
        "meta-version-missing-served",
        "A request whose _meta lacks the version is served",
        &[In(|memory, message| {
            if is_request(message) && memory.stateless() && message["params"]["_meta"].is_object() {
                fill_meta(message, &[PROTOCOL_VERSION]);
            }
            Act::Pass
        })],
    ),
    row(
        "meta-capabilities-missing-served",
        "A request whose _meta lacks the client's capabilities is served",
        &[In(|memory, message| {
            if is_stateless(memory, message) && message["params"]["_meta"].is_object() {
                fill_meta(message, &[CLIENT_CAPABILITIES]);
            }
            Act::Pass
        })],
    ),
    row(
        "meta-version-number-served",
        "A version that is no text is served",
        &[In(|_, message| {
            at(message, "/params/_meta", |meta| {
                if meta.get(PROTOCOL_VERSION).is_some_and(|version| !version.is_string()) {
                    set(meta, PROTOCOL_VERSION, json!("2026-07-28"));
                }
            });
            Act::Pass
        })],
    ),
    row(
        "meta-capabilities-array-served",
        "Capabilities that are no object are served",
        &[In(|_, message| {
            at(message, "/params/_meta", |meta| {
                if meta.get(CLIENT_CAPABILITIES).is_some_and(|capabilities| !capabilities.is_object()) {
                    set(meta, CLIENT_CAPABILITIES, json!({}));
                }
            });
            Act::Pass
        })],
    ),
    row(
        "client-info-demanded",
        "A request that does not name the client is refused",
        &[In(|memory, message| {
            let nameless = message["params"]["_meta"].get(CLIENT_INFO).is_none();
            refuse_if(nameless && is_stateless(memory, message), memory, message, -32602)
        })],
    ),
    row(
        "server-info-absent",
        "Results do not name the server",
        &[Result("*", |_, r| at(r, "/_meta", |meta| unset(meta, SERVER_INFO)))],
    ),
    row(
        "server-info-nameless",
        "The server in results has no name",
        &[Result("*", |_, r| {
            at(r, "/_meta/io.modelcontextprotocol~1serverInfo", |info| unset(info, "name"))
        })],
    ),
    row(
        "metadata-remembered",
        "Metadata of an earlier request serves for one that lacks it",
        &[In(|memory, message| {
            if is_request(message) && memory.stateless() {
                let meta = &message["params"]["_meta"];
                let whole = meta.get(PROTOCOL_VERSION).is_some() && meta.get(CLIENT_CAPABILITIES).is_some();
                memory.flag |= whole;
                if memory.flag && !whole {
                    fill_meta(message, &[PROTOCOL_VERSION, CLIENT_CAPABILITIES]);
                }
            }
            Act::Pass
        })],
    ),
    row(
        "foreign-meta-refused",
        "A request with an unknown key in _meta is refused",
        &[In(|memory, message| {
            let meta = message["params"]["_meta"].as_object();
            let known = |key: &String| key.starts_with("io.modelcontextprotocol/") || key == "progressToken";
            let foreign = meta.is_some_and(|meta| !meta.keys().all(known));
            refuse_if(foreign && is_request(message), memory, message, -32602)
        })],
    ),
    row(
        "client-name-heeded",
        "Clients of an unknown name get a shorter list",
        &[Reply(|memory, x, mut reply| {
            let name = x.param("_meta")[CLIENT_INFO]["name"].to_string();
            let first = memory.kept.entry("name".into()).or_insert_with(|| json!(name)).clone();
            if x.is(LIST) && first != json!(name) {
                at(&mut reply, "/result/resources", |items| _ = items.as_array_mut().and_then(Vec::pop));
            }
            vec![reply]
        })],
    ),
    row("meta-array", "The _meta of a list is an array", &[Result(LIST, |_, r| set(r, "_meta", json!([])))]),
    row(
        "meta-empty-label",
        "The _meta of a list has a key whose prefix has two dots in a row",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "com..example/key", json!(1)))],
    ),
    row(
        "meta-label-with-digit-first",
        "The _meta of a list has a key whose prefix begins with a digit",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "1com.example/key", json!(1)))],
    ),
    row(
        "meta-label-with-hyphen-last",
        "The _meta of a list has a key whose prefix ends with a hyphen",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "com.example-/key", json!(1)))],
    ),
    row(
        "meta-two-slashes",
        "The _meta of a list has a key with two slashes",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "com.example/a/b", json!(1)))],
    ),
    row(
        "meta-name-with-dot-last",
        "The _meta of a list has a key whose name ends with a dot",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "com.example/key.", json!(1)))],
    ),
    row(
        "meta-name-beyond-ascii",
        "The _meta of a list has a key beyond ASCII",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "com.example/größe", json!(1)))],
    ),
    row(
        "reserved-second-label-used",
        "The _meta of a list has a key whose prefix has mcp as its second label",
        &[Result(LIST, |_, r| set(&mut r["_meta"], "com.mcp.litmus/key", json!(1)))],
    ),
    row(
        "template-meta-not-object",
        "The _meta of a template is a number",
        &[Result(TEMPLATE_LIST, |_, r| one(r, "resourceTemplates", |item| set(item, "_meta", json!(7))))],
    ),
    row(
        "notice-meta-not-object",
        "The _meta of a notification in a session is a text",
        &[Notice(|memory, mut message| {
            if memory.session.is_some() && message["params"].is_object() {
                set(&mut message["params"], "_meta", json!("none"));
            }
            vec![message]
        })],
    ),
    row(
        "traceparent-uppercase",
        "The _meta of a list has a trace context in capital letters",
        &[Result(LIST, |x, r| {
            if x.stateless() {
                let context = "00-0AF7651916CD43DD8448EB211C80319C-00F067AA0BA902B7-01";
                set(&mut r["_meta"], "traceparent", json!(context))
            }
        })],
    ),
    row(
        "server-info-versionless",
        "The server in results has no version",
        &[Result("*", |_, r| {
            at(r, "/_meta/io.modelcontextprotocol~1serverInfo", |info| unset(info, "version"))
        })],
    ),
];
