//! Lawful differences in how the same is said: bytes, members, order, repetition.

use iri_string::types::UriStr;
use serde_json::{Value, json};

use crate::edge::{Act, Hook::*, Leave, Row, row, stdio_row};
use crate::edit::*;
use crate::opening::SERVER_INFO;

pub(super) const TABLE: &[Row] = &[
    row(
        "parse-error-without-id",
        "An error for what could not be read has no id at all",
        &[Reply(|_, _, reply| vec![if reply["id"].is_null() { without(reply, "id") } else { reply }])],
    ),
    stdio_row(
        "crlf-output",
        "Lines end in CR LF",
        &[Bytes(|_, _, line| {
            line.pop();
            line.extend_from_slice(b"\r\n");
        })],
    ),
    row(
        "key-order-reversed",
        "The members of objects stand in another order",
        &[Bytes(|_, message, line| {
            *line = reversed(message).into_bytes();
            line.push(b'\n');
        })],
    ),
    row(
        "unicode-escapes",
        "Characters beyond ASCII are escaped",
        &[Bytes(|_, _, line| *line = escaped(line))],
    ),
    row(
        "large-contents",
        "A listed resource holds 256 KiB",
        &[Result(LIST, list_large), In(|memory, message| serve_large(memory, message, LARGE_SIZE))],
    ),
    row(
        "line-separators-in-text",
        "Texts hold characters that some take for ends of lines",
        &[
            Result(LIST, |_, r| {
                having(r, "resources", "description", |text| {
                    *text = json!("One\u{2028}two\u{85}three\u{2029}four")
                });
            }),
            Error("*", |_, error| at(error, "/message", |text| *text = json!("No\u{2028}way"))),
        ],
    ),
    row(
        "huge-ids-kept",
        "Ids beyond 64 bits are kept digit by digit",
        &[
            Line(|_, frame| {
                hide_huge_id(&mut frame.bytes);
                Act::Pass
            }),
            Bytes(|_, _, line| show_huge_ids(line)),
        ],
    ),
    row(
        "whole-numbers-as-fractions",
        "Whole numbers are written with a point",
        &[
            Result(LIST, |_, r| having(r, "resources", "size", |size| *size = json!(size.as_f64()))),
            Error("*", |_, error| at(error, "/code", |code| *code = json!(code.as_f64()))),
        ],
    ),
    row(
        "extra-members",
        "Objects have members that no revision defines",
        &[
            Result("*", |_, r| {
                set(r, "extra", json!({ "a": [1, null] }));
                for list in ["resources", "resourceTemplates", "contents"] {
                    for item in r.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                        set(item, "extra", json!(true));
                    }
                }
            }),
            Error("*", |_, error| set(error, "extra", json!(1))),
        ],
    ),
    row(
        "meta-everywhere",
        "Results, items and notifications have a _meta of their own",
        &[
            Result("*", |x, r| {
                set(&mut r["_meta"], "com.example/", json!(1));
                let items = x.revision.is_some_and(crate::revision::Revision::has_titles);
                for list in ["resources", "resourceTemplates", "contents"] {
                    for item in
                        r.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().filter(|_| items)
                    {
                        set(&mut item["_meta"], "com.example/some.key_1", json!("value"));
                    }
                }
            }),
            Notice(|_, mut message| {
                set(&mut message["params"]["_meta"], "com.example/sent", json!(true));
                vec![message]
            }),
        ],
    ),
    row(
        "newer-members-everywhere",
        "Sessions get members that only later revisions define",
        &[Result("*", |x, r| {
            if !x.stateless() {
                set(r, "resultType", json!("complete"));
                set(r, "ttlMs", json!(0));
                set(r, "cacheScope", json!("private"));
                for list in ["resources", "resourceTemplates"] {
                    for item in r.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                        set(item, "title", json!("A title"));
                    }
                }
                capabilities(x, r, |c| set(c, "completions", json!({})));
            }
        })],
    ),
    row(
        "no-optional-members",
        "Objects have what they must and nothing else",
        &[
            Result("*", |_, r| {
                for (list, kept) in [
                    ("resources", ["uri", "name", ""]),
                    ("resourceTemplates", ["uriTemplate", "name", ""]),
                    ("contents", ["uri", "text", "blob"]),
                ] {
                    for item in r.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                        if let Some(item) = item.as_object_mut() {
                            item.retain(|member, _| kept.contains(&member.as_str()));
                        }
                    }
                }
                unset(r, "instructions");
                at(r, "/completion", |completion| {
                    unset(completion, "total");
                    unset(completion, "hasMore");
                });
            }),
            Error("*", |_, error| {
                if ![json!(-32021), json!(-32022)].contains(&error["code"]) {
                    unset(error, "data")
                }
            }),
        ],
    ),
    row(
        "meta-prefix-not-reversed",
        "A prefix of _meta is a domain name, not turned round",
        &[Result("*", |x, r| {
            if x.revision.is_some_and(crate::revision::Revision::has_titles) {
                set(&mut r["_meta"], "example.com/kind", json!(1));
            }
        })],
    ),
    row(
        "ttl-per-page",
        "Each page of a list may be kept for a time of its own",
        &[Result(LIST, |x, r| {
            let time = x.param("cursor").as_str().map_or(9000, |cursor| 10 * cursor.len());
            at(r, "/ttlMs", |ttl| *ttl = json!(time));
        })],
    ),
    row(
        "ttl-outlived",
        "Contents may be kept for an hour, though they change before",
        &[Result(READ, |_, r| at(r, "/ttlMs", |ttl| *ttl = json!(3_600_000)))],
    ),
    row(
        "link-unlisted",
        "A tool links to a resource that is not listed",
        &[Result("tools/call", |_, r| {
            at(r, "/content/0", |block| {
                if block["type"] == "resource_link" {
                    set(block, "uri", json!("litmus://notes/unlisted"));
                }
            });
        })],
    ),
    row(
        "no-server-info",
        "Results do not name the server",
        &[Result("*", |_, r| {
            at(r, "/_meta", |meta| unset(meta, SERVER_INFO));
            if r.get("_meta") == Some(&json!({})) {
                unset(r, "_meta");
            }
        })],
    ),
    row(
        "error-data",
        "Errors carry data of some other type",
        &[Error("*", |_, error| {
            if error.get("data").is_none() {
                set(error, "data", json!(["detail", 1, null]))
            }
        })],
    ),
    row(
        "reordered-lists",
        "The items of a page change their order each time",
        &[Reply(|memory, _, mut reply| {
            memory.count += 1;
            for list in ["/result/resources", "/result/resourceTemplates"] {
                at(&mut reply, list, |items| {
                    if let Some(items) = items.as_array_mut().filter(|_| memory.count % 2 == 0) {
                        items.reverse();
                    }
                });
            }
            vec![reply]
        })],
    ),
    row(
        "empty-page-midway",
        "The second page of a list is empty",
        &[
            Reply(|_, x, mut reply| {
                if x.param("cursor").is_null() && (x.is(LIST) || x.is(TEMPLATE_LIST)) {
                    at(&mut reply, "/result/nextCursor", |cursor| {
                        *cursor = json!(format!("{MIDWAY}{}", cursor.as_str().unwrap_or("")));
                    });
                }
                vec![reply]
            }),
            In(|memory, message| {
                let cursor =
                    message["params"]["cursor"].as_str().and_then(|cursor| cursor.strip_prefix(MIDWAY));
                let (Some(cursor), true) = (cursor, is_request(message)) else { return Act::Pass };
                let list = if asks(message, LIST) { "resources" } else { "resourceTemplates" };
                serve_if(true, memory, message, json!({ list: [], "nextCursor": cursor }))
            }),
        ],
    ),
    row(
        "empty-string-cursor",
        "The cursor of the second page is the empty text",
        &[
            Reply(|memory, x, mut reply| {
                if x.param("cursor").is_null() && (x.is(LIST) || x.is(TEMPLATE_LIST)) {
                    at(&mut reply, "/result/nextCursor", |cursor| {
                        memory.kept.insert(x.method().to_owned(), cursor.take());
                        *cursor = json!("");
                    });
                }
                vec![reply]
            }),
            In(|memory, message| {
                let method = message["method"].as_str().unwrap_or("");
                if let Some(cursor) = memory.kept.get(method).filter(|_| message["params"]["cursor"] == "") {
                    message["params"]["cursor"] = cursor.clone();
                }
                Act::Pass
            }),
        ],
    ),
    row(
        "strange-cursors",
        "Cursors are long, and hold quotes, spaces and characters beyond ASCII",
        &[
            Reply(|_, x, mut reply| {
                if x.is(LIST) || x.is(TEMPLATE_LIST) {
                    at(&mut reply, "/result/nextCursor", |cursor| {
                        *cursor = json!(format!("{STRANGE}{}", cursor.as_str().unwrap_or("")));
                    });
                }
                vec![reply]
            }),
            In(|_, message| {
                at(message, "/params/cursor", |cursor| {
                    if let Some(plain) = cursor.as_str().and_then(|cursor| cursor.strip_prefix(STRANGE)) {
                        *cursor = json!(plain);
                    }
                });
                Act::Pass
            }),
        ],
    ),
    row(
        "uris-unescaped",
        "A listed URI holds characters beyond ASCII, unescaped",
        &[
            Bytes(|_, _, line| exchange(line, ESCAPED, UNESCAPED)),
            Line(|_, frame| {
                exchange(&mut frame.bytes, UNESCAPED, ESCAPED);
                Act::Pass
            }),
        ],
    ),
    row(
        "first-uri-beyond-ascii",
        "The first listed URI holds characters beyond ASCII, unescaped",
        &[Choose(|settings| settings.unescaped = true)],
    ),
    row(
        "optional-members-null",
        "What a resource or an item does not have is null",
        &[
            Result(LIST, |_, r| {
                for item in r.get_mut("resources").and_then(Value::as_array_mut).into_iter().flatten() {
                    for member in ["description", "mimeType", "size", "annotations"] {
                        if item.get(member).is_none() {
                            set(item, member, Value::Null);
                        }
                    }
                }
            }),
            Result(READ, |_, r| {
                for item in r.get_mut("contents").and_then(Value::as_array_mut).into_iter().flatten() {
                    for member in ["mimeType", "text", "blob"] {
                        if item.get(member).is_none() {
                            set(item, member, Value::Null);
                        }
                    }
                }
            }),
        ],
    ),
    row(
        "names-alike",
        "All resources have the same name",
        &[Result(LIST, |_, r| having(r, "resources", "name", |name| *name = json!("resource")))],
    ),
    row(
        "annotations-empty",
        "Annotations say nothing",
        &[
            Result(LIST, |_, r| having(r, "resources", "annotations", |a| *a = json!({ "audience": [] }))),
            Result(TEMPLATE_LIST, |_, r| having(r, "resourceTemplates", "annotations", |a| *a = json!({}))),
        ],
    ),
    row(
        "members-out-of-place",
        "Lists hold contents, contents hold names, and other objects what some SDKs add to them",
        &[
            Result(LIST, |_, r| {
                for item in r.get_mut("resources").and_then(Value::as_array_mut).into_iter().flatten() {
                    set(item, "text", json!("The contents"));
                    set(item, "blob", json!("AA=="));
                    set(&mut item["_meta"], "fastmcp", json!({ "tags": [] }));
                }
            }),
            Result(READ, |_, r| {
                for item in r.get_mut("contents").and_then(Value::as_array_mut).into_iter().flatten() {
                    set(item, "name", json!("A name"));
                    set(item, "title", json!("A title"));
                    set(item, "size", json!(7));
                }
            }),
            Result(INITIALIZE, |_, r| {
                set(r, "adapter", json!({ "name": "schema" }));
                set(r, "pagination", json!({ "size": 3 }));
            }),
            Notice(|_, mut message| {
                if message["method"] == UPDATED {
                    set(&mut message["params"], "title", json!("A title"));
                }
                vec![message]
            }),
        ],
    ),
    row(
        "extra-capabilities",
        "Capabilities are declared that have nothing to do with resources, or that no revision defines",
        &[Result("*", |x, r| {
            capabilities(x, r, |c| {
                set(c, "tasks", json!({ "list": {} }));
                set(c, "experimental", json!({ "com.example/thing": {} }));
                set(c, "extensions", json!({ "com.example/thing": {} }));
                set(c, "x-future", json!({ "a": 1 }));
            });
        })],
    ),
    row(
        "server-version-empty",
        "The server's version is the empty text",
        &[
            Result(INITIALIZE, |_, r| at(r, "/serverInfo/version", |version| *version = json!(""))),
            Result("*", |_, r| {
                at(r, "/_meta/io.modelcontextprotocol~1serverInfo/version", |version| *version = json!(""));
            }),
        ],
    ),
    row(
        "uris-normalised",
        "URIs come back in their normal form",
        &[
            Result(READ, |_, r| having(r, "contents", "uri", normalise)),
            Notice(|_, mut message| {
                at(&mut message, "/params/uri", normalise);
                vec![message]
            }),
        ],
    ),
    row(
        "contents-empty-for-one",
        "A listed resource has no contents at all, in a session",
        &[Result(READ, |x, r| {
            if !x.stateless() && *x.param("uri") == "litmus://text/empty" {
                set(r, "contents", json!([]));
            }
        })],
    ),
    row(
        "several-contents-elsewhere",
        "A read returns something from elsewhere besides",
        &[Result(READ, |_, r| {
            at(r, "/contents", |contents| {
                if let Some(contents) = contents.as_array_mut() {
                    contents.push(json!({ "uri": "litmus://appendix/1", "text": "" }));
                }
            });
        })],
    ),
    row(
        "mime-defaulted-on-read",
        "Contents have a media type though the list tells none",
        &[
            Result(LIST, |_, r| {
                for item in r.get_mut("resources").and_then(Value::as_array_mut).into_iter().flatten() {
                    unset(item, "mimeType");
                }
            }),
            Result(READ, |_, r| {
                for item in r.get_mut("contents").and_then(Value::as_array_mut).into_iter().flatten() {
                    let default =
                        if item.get("text").is_some() { "text/plain" } else { "application/octet-stream" };
                    if item.get("mimeType").is_none() {
                        set(item, "mimeType", json!(default));
                    }
                }
            }),
        ],
    ),
    row(
        "embedded-with-annotations",
        "An embedded resource has annotations, inside and outside",
        &[Result("tools/call", |_, r| {
            at(r, "/content/0", |block| {
                if block["type"] == "resource" {
                    set(block, "annotations", json!({ "priority": 1 }));
                    set(&mut block["resource"], "annotations", json!({ "priority": 1 }));
                }
            });
        })],
    ),
    row(
        "chatty-logs",
        "A session hears log messages at any time",
        &[Reply(|memory, x, reply| {
            let log = || {
                notice("notifications/message", json!({ "level": "emergency", "data": { "n": [1] } }), None)
            };
            if in_session(memory, x) { vec![log(), reply, log()] } else { vec![reply] }
        })],
    ),
    row(
        "server-pings",
        "The server pings the client of a session",
        &[Reply(|memory, x, reply| {
            memory.count += 1;
            let ping = json!({ "jsonrpc": "2.0", "id": format!("ping-{}", memory.count), "method": "ping" });
            if in_session(memory, x) { vec![ping, reply] } else { vec![reply] }
        })],
    ),
    row(
        "announces-tools-changed",
        "A session hears that the tools changed",
        &[
            Result(INITIALIZE, |_, r| {
                at(r, "/capabilities/tools", |tools| set(tools, "listChanged", json!(true)))
            }),
            Reply(|memory, x, reply| {
                let changed = || notice("notifications/tools/list_changed", Value::Null, None);
                if in_session(memory, x) && x.is(LIST) { vec![changed(), reply] } else { vec![reply] }
            }),
        ],
    ),
    row(
        "updates-doubled",
        "Each update comes twice",
        &[Notice(
            |_, message| {
                if message["method"] == UPDATED { vec![message.clone(), message] } else { vec![message] }
            },
        )],
    ),
    row(
        "updates-for-child",
        "An update names a part of the resource",
        &[Notice(|_, mut message| {
            if message["method"] == UPDATED {
                at(&mut message, "/params/uri", |uri| {
                    *uri = json!(format!("{}/part", uri.as_str().unwrap_or("").trim_end_matches('/')));
                });
            }
            vec![message]
        })],
    ),
    row(
        "progress-never",
        "No progress is told",
        &[Notice(
            |_, message| {
                if message["method"] == "notifications/progress" { Vec::new() } else { vec![message] }
            },
        )],
    ),
    stdio_row(
        "listen-closed-with-result-and-cancelled",
        "Streams that the server ends are also cancelled",
        &[End(|memory| {
            let cancel = |(id, _): &(Value, Value)| notice(CANCELLED, json!({ "requestId": id }), None);
            Leave::After(memory.streams.iter().map(cancel).collect())
        })],
    ),
];

const MIDWAY: &str = "midway~";
const STRANGE: &str =
    "page \"two\" \\ ☃\u{2028} ++// ........................................................";
const ESCAPED: &[u8] = b"%E4%B8%96%E7%95%8C";
const UNESCAPED: &[u8] = "世界".as_bytes();
const HUGE: &str = "litmus-huge-id:";

fn normalise(uri: &mut Value) {
    if let Some(parsed) = uri.as_str().and_then(|uri| UriStr::new(uri).ok()) {
        *uri = json!(parsed.normalize().to_string());
    }
}

fn reversed(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(reversed).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{}:{}", json!(name), reversed(value));
            format!("{{{}}}", members.iter().rev().map(member).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

fn escaped(line: &[u8]) -> Vec<u8> {
    let mut escaped = String::with_capacity(line.len());
    for c in String::from_utf8_lossy(line).chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped.into_bytes()
}

/// Puts some bytes in the place of others, wherever those stand in a URI of a file.
fn exchange(line: &mut Vec<u8>, old: &[u8], new: &[u8]) {
    let mark = [b"file:///litmus/", old].concat();
    while let Some(start) = line.windows(mark.len()).position(|window| window == mark) {
        let start = start + mark.len() - old.len();
        line.splice(start..start + old.len(), new.iter().copied());
    }
}

/// Makes a string of an id that no number of ours can hold.
fn hide_huge_id(line: &mut Vec<u8>) {
    let mark = b"\"id\":";
    let Some(start) = line.windows(mark.len()).position(|window| window == mark).map(|at| at + mark.len())
    else {
        return;
    };
    let end = start + line[start..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let digits = String::from_utf8_lossy(&line[start..end]).into_owned();
    if digits.len() >= 19 && digits.parse::<i64>().is_err() && digits.parse::<u64>().is_err() {
        line.splice(start..end, format!("\"{HUGE}{digits}\"").into_bytes());
    }
}

fn show_huge_ids(line: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(line).into_owned();
    let mark = format!("\"{HUGE}");
    let Some((start, rest)) = text.split_once(&mark) else { return };
    let Some((digits, end)) = rest.split_once('"') else { return };
    *line = format!("{start}{digits}{end}").into_bytes();
    show_huge_ids(line);
}
