//! Faults of pagination, and of the hints for how long to keep a result.

use serde_json::{Value, json};

use crate::edge::{Act, Exchange, Hook::*, Row, row};
use crate::edit::*;

pub(super) const TABLE: &[Row] = &[
    row(
        "next-cursor-number",
        "The cursor of the next page is a number",
        &[Result(LIST, |_, r| at(r, "/nextCursor", |cursor| *cursor = json!(3)))],
    ),
    row(
        "next-cursor-null",
        "The last page has a cursor, null",
        &[Result(LIST, |_, r| {
            if r.get("nextCursor").is_none() {
                set(r, "nextCursor", Value::Null)
            }
        })],
    ),
    row(
        "cursor-refused",
        "A cursor is refused that the server gave",
        &[In(|memory, message| {
            refuse_if(asks(message, LIST) && has_cursor(message), memory, message, -32602)
        })],
    ),
    row(
        "cursor-loops",
        "The second page leads to itself",
        &[Result(LIST, |x, r| {
            if has_cursor(&x.request) {
                set(r, "nextCursor", x.param("cursor").clone())
            }
        })],
    ),
    row(
        "empty-cursor-restarts",
        "The cursor of the second page is empty, and leads to the first",
        &[
            Result(LIST, |x, r| {
                if x.param("cursor").is_null() {
                    set(r, "nextCursor", json!(""))
                }
            }),
            In(|_, message| {
                if asks(message, LIST) && message["params"]["cursor"] == "" {
                    unset(&mut message["params"], "cursor");
                }
                Act::Pass
            }),
        ],
    ),
    row(
        "page-repeats-item",
        "Each page repeats an item of the page before",
        &[Reply(|memory, x, mut reply| {
            if x.is(LIST) {
                let last = reply["result"]["resources"].as_array().and_then(|items| items.last().cloned());
                let before = memory.kept.get("last").cloned().filter(|_| has_cursor(&x.request));
                at(&mut reply, "/result/resources", |items| {
                    if let (Some(items), Some(before)) = (items.as_array_mut(), before) {
                        items.insert(0, before);
                    }
                });
                if let Some(last) = last {
                    memory.kept.insert("last".into(), last);
                }
            }
            vec![reply]
        })],
    ),
    row(
        "page-drops-item",
        "A page lacks an item when it is fetched again",
        &[Reply(|memory, x, mut reply| {
            if x.is(LIST) && has_cursor(&x.request) && !memory.seen.insert(x.param("cursor").to_string()) {
                at(&mut reply, "/result/resources", |items| _ = items.as_array_mut().and_then(Vec::pop));
            }
            vec![reply]
        })],
    ),
    row(
        "bogus-cursor-served",
        "A cursor that the server never gave leads to the first page",
        &[
            Reply(|memory, x, reply| {
                if x.is(LIST) {
                    memory.seen.extend(reply["result"]["nextCursor"].as_str().map(str::to_owned));
                }
                vec![reply]
            }),
            In(|memory, message| {
                let unknown =
                    message["params"]["cursor"].as_str().is_some_and(|cursor| !memory.seen.contains(cursor));
                if asks(message, LIST) && unknown {
                    unset(&mut message["params"], "cursor");
                }
                Act::Pass
            }),
        ],
    ),
    row(
        "bogus-cursor-empty",
        "A cursor that the server never gave leads to an empty page",
        &[Reply(|_, x, reply| {
            let bogus = x.is(LIST) && has_cursor(&x.request) && reply.get("error").is_some();
            instead(bogus, reply, || x.result(json!({ "resources": [] })))
        })],
    ),
    row(
        "bogus-cursor-kills",
        "A cursor that the server never gave ends it",
        &[
            Reply(|memory, x, reply| {
                if x.is(LIST) {
                    memory.seen.extend(reply["result"]["nextCursor"].as_str().map(str::to_owned));
                }
                vec![reply]
            }),
            In(|memory, message| {
                let unknown =
                    message["params"]["cursor"].as_str().is_some_and(|cursor| !memory.seen.contains(cursor));
                die_if(asks(message, LIST) && unknown)
            }),
        ],
    ),
    row(
        "bogus-cursor-wrong-code",
        "A cursor that the server never gave is refused as an internal error",
        &[Error(LIST, |x, error| {
            if has_cursor(&x.request) {
                set(error, "code", json!(-32603))
            }
        })],
    ),
    row(
        "number-cursor-served",
        "A cursor that is a number leads to the first page",
        &[In(|_, message| {
            if asks(message, LIST)
                && message["params"].get("cursor").is_some_and(|cursor| !cursor.is_string())
            {
                unset(&mut message["params"], "cursor");
            }
            Act::Pass
        })],
    ),
    row(
        "number-cursor-kills",
        "A cursor that is a number ends the server",
        &[In(|_, message| die_if(asks(message, LIST) && message["params"]["cursor"].is_number()))],
    ),
    row(
        "cursor-works-once",
        "A cursor is refused when it is used again",
        &[In(|memory, message| {
            let cursor = message["params"]["cursor"].to_string();
            let again = asks(message, LIST) && has_cursor(message) && !memory.seen.insert(cursor);
            refuse_if(again, memory, message, -32602)
        })],
    ),
    row(
        "templates-cursor-refused",
        "A cursor for templates is refused that the server gave",
        &[In(|memory, message| {
            refuse_if(asks(message, TEMPLATE_LIST) && has_cursor(message), memory, message, -32602)
        })],
    ),
    row(
        "templates-cursor-loops",
        "The second page of templates leads to itself",
        &[Result(TEMPLATE_LIST, |x, r| {
            if has_cursor(&x.request) {
                set(r, "nextCursor", x.param("cursor").clone());
            }
        })],
    ),
    row("list-ttl-missing", "A list does not say how long it holds", &[Result(LIST, |_, r| unset(r, TTL))]),
    row("list-scope-missing", "A list does not say who may keep it", &[Result(LIST, |_, r| unset(r, SCOPE))]),
    row(
        "templates-ttl-missing",
        "A template list does not say how long it holds",
        &[Result(TEMPLATE_LIST, |_, r| unset(r, TTL))],
    ),
    row("read-scope-missing", "A read does not say who may keep it", &[Result(READ, |_, r| unset(r, SCOPE))]),
    row(
        "discover-ttl-missing",
        "server/discover does not say how long its result holds",
        &[Result(DISCOVER, |_, r| unset(r, TTL))],
    ),
    row(
        "ttl-negative",
        "A list holds for less than no time",
        &[Result(LIST, |x, r| hint(x, r, TTL, json!(-1)))],
    ),
    row(
        "ttl-string",
        "The time that a list holds is a text",
        &[Result(LIST, |x, r| hint(x, r, TTL, json!("1000")))],
    ),
    row(
        "ttl-fraction",
        "The time that a list holds is no whole number",
        &[Result(LIST, |x, r| hint(x, r, TTL, json!(0.5)))],
    ),
    row(
        "scope-unknown",
        "A list may be kept by nobody that the protocol knows",
        &[Result(LIST, |x, r| hint(x, r, SCOPE, json!("shared")))],
    ),
    row(
        "scope-varies",
        "Later pages of a list may be kept by others than the first",
        &[Result(LIST, |x, r| {
            if has_cursor(&x.request) {
                hint(x, r, SCOPE, json!("private"))
            }
        })],
    ),
    row(
        "next-cursor-object",
        "The cursor of the next page is an object",
        &[Result(LIST, |_, r| at(r, "/nextCursor", |cursor| *cursor = json!({ "offset": 3 })))],
    ),
    row(
        "last-page-restarts",
        "The last page leads to the first",
        &[
            Result(LIST, |_, r| {
                if r.get("nextCursor").is_none() {
                    set(r, "nextCursor", json!("start"));
                }
            }),
            In(|_, message| {
                if asks(message, LIST) && message["params"]["cursor"] == "start" {
                    unset(&mut message["params"], "cursor");
                }
                Act::Pass
            }),
        ],
    ),
    row(
        "cursor-ignored",
        "A cursor that the server gave leads to the first page",
        &[In(|_, message| {
            if asks(message, LIST) {
                unset(&mut message["params"], "cursor");
            }
            Act::Pass
        })],
    ),
    row(
        "cursor-unanswered",
        "A list with a cursor is not answered",
        &[In(|_, message| drop_if(asks(message, LIST) && has_cursor(message)))],
    ),
    row(
        "empty-cursor-kills",
        "A cursor that is empty ends the server",
        &[In(|_, message| die_if(asks(message, LIST) && message["params"]["cursor"] == ""))],
    ),
    row(
        "null-cursor-kills",
        "A cursor that is null ends the server",
        &[In(|_, message| {
            die_if(asks(message, LIST) && message["params"].get("cursor").is_some_and(Value::is_null))
        })],
    ),
    row(
        "templates-number-cursor-kills",
        "A cursor for templates that is a number ends the server",
        &[In(|_, message| die_if(asks(message, TEMPLATE_LIST) && message["params"]["cursor"].is_number()))],
    ),
    row(
        "templates-next-cursor-number",
        "The cursor of the next page of templates is a number",
        &[Result(TEMPLATE_LIST, |_, r| at(r, "/nextCursor", |cursor| *cursor = json!(3)))],
    ),
    row(
        "templates-next-cursor-null",
        "The last page of templates has a cursor, null",
        &[Result(TEMPLATE_LIST, |_, r| {
            if r.get("nextCursor").is_none() {
                set(r, "nextCursor", Value::Null)
            }
        })],
    ),
    row(
        "templates-page-repeats-item",
        "The second page of templates repeats the first of them",
        &[Reply(|memory, x, mut reply| {
            if x.is(TEMPLATE_LIST) {
                at(&mut reply, "/result/resourceTemplates", |items| {
                    let Some(items) = items.as_array_mut() else { return };
                    match memory.held.first().filter(|_| has_cursor(&x.request)) {
                        Some(first) => items.insert(0, first.clone()),
                        None => memory.held.extend(items.first().cloned()),
                    }
                });
            }
            vec![reply]
        })],
    ),
];

const TTL: &str = "ttlMs";
const SCOPE: &str = "cacheScope";

fn has_cursor(request: &Value) -> bool {
    request["params"]["cursor"].is_string()
}

fn hint(x: &Exchange, result: &mut Value, member: &str, value: Value) {
    if x.stateless() {
        set(result, member, value);
    }
}
