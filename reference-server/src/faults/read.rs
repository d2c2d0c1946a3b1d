//! Faults of `resources/read`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::catalogue::GREETING;
use crate::edge::{Act, Exchange, Hook::*, Row, row};
use crate::edit::*;
use crate::store::Store;

pub(super) const TABLE: &[Row] = &[
    row("contents-missing", "A read has no contents", &[Result(READ, |_, r| unset(r, "contents"))]),
    row(
        "contents-not-array",
        "The contents of a read are an object",
        &[Result(READ, |_, r| set(r, "contents", json!({})))],
    ),
    row(
        "text-and-blob",
        "Contents have text and blob at once",
        &[Result(READ, |_, r| {
            item(r, |item| {
                if item.get("text").is_some() {
                    set(item, "blob", json!(""));
                } else {
                    set(item, "text", json!(""));
                }
            })
        })],
    ),
    row(
        "neither-text-nor-blob",
        "Contents have neither text nor blob",
        &[Result(READ, |_, r| {
            item(r, |item| {
                unset(item, "text");
                unset(item, "blob");
            })
        })],
    ),
    row(
        "text-number",
        "A text is a number",
        &[Result(READ, |_, r| item(r, |i| at(i, "/text", |t| *t = json!(7))))],
    ),
    row(
        "text-null",
        "A text is null",
        &[Result(READ, |_, r| item(r, |i| at(i, "/text", |t| *t = Value::Null)))],
    ),
    row("blob-not-base64", "A blob is no base64", &[Result(READ, |_, r| blob(r, |_| "***".to_owned()))]),
    row(
        "blob-url-safe",
        "A blob uses the alphabet for URLs",
        &[Result(READ, |_, r| blob(r, |text| text.replace('+', "-").replace('/', "_")))],
    ),
    row(
        "blob-unpadded",
        "A blob lacks its padding",
        &[Result(READ, |_, r| blob(r, |text| text.trim_end_matches('=').to_owned()))],
    ),
    row(
        "blob-wrapped",
        "A blob is broken into lines",
        &[Result(READ, |_, r| {
            blob(r, |text| {
                let mut text = text.to_owned();
                if text.len() > 76 {
                    text.insert(76, '\n');
                }
                text
            })
        })],
    ),
    row(
        "blob-pad-bits",
        "The bits of a blob behind its last byte are not zero",
        &[Result(READ, |_, r| {
            blob(r, |text| match text.strip_suffix("w==") {
                Some(start) => format!("{start}x=="),
                None => text.to_owned(),
            })
        })],
    ),
    row(
        "blob-data-url",
        "A blob is written as a data URL",
        &[Result(READ, |_, r| blob(r, |text| format!("data:application/octet-stream;base64,{text}")))],
    ),
    row(
        "contents-uri-missing",
        "Contents have no URI",
        &[Result(READ, |_, r| item(r, |item| unset(item, "uri")))],
    ),
    row(
        "contents-uri-relative",
        "The URI of contents has no scheme",
        &[Result(READ, |_, r| item(r, |item| set(item, "uri", json!("greeting"))))],
    ),
    row(
        "contents-uri-unrelated",
        "The only contents bear the URI of something else",
        &[Result(READ, |_, r| {
            if r["contents"].as_array().is_some_and(|items| items.len() == 1) {
                item(r, |item| set(item, "uri", json!("litmus://elsewhere")));
            }
        })],
    ),
    row(
        "contents-mime-number",
        "The media type of contents is a number",
        &[Result(READ, |_, r| item(r, |item| set(item, "mimeType", json!(7))))],
    ),
    row(
        "contents-mime-bare",
        "The media type of contents has no subtype",
        &[Result(READ, |_, r| item(r, |item| set(item, "mimeType", json!("text"))))],
    ),
    row(
        "contents-mime-null",
        "The media type of contents is null",
        &[Result(READ, |_, r| item(r, |item| set(item, "mimeType", Value::Null)))],
    ),
    row(
        "contents-meta-not-object",
        "The _meta of contents is a text",
        &[Result(READ, |x, r| {
            if x.revision.is_some_and(crate::revision::Revision::has_titles) {
                item(r, |item| set(item, "_meta", json!("none")));
            }
        })],
    ),
    row(
        "listed-unreadable",
        "No listed resource can be found",
        &[In(|memory, message| absent_if(is_listed(uri(message)), memory, message))],
    ),
    row(
        "large-contents-cut",
        "Of a large resource only the first 8 KiB are sent",
        &[Result(LIST, list_large), In(|memory, message| serve_large(memory, message, 8 * 1024))],
    ),
    row(
        "large-contents-unanswered",
        "The read of a large resource is not answered",
        &[Result(LIST, list_large), In(|_, message| drop_if(asks_for_large(message)))],
    ),
    row(
        "read-needs-list",
        "Nothing can be found before the list was asked for on the same connection",
        &[In(|memory, message| {
            memory.flag |= asks(message, LIST);
            absent_if(!memory.flag, memory, message)
        })],
    ),
    row(
        "percent-uri-unreadable",
        "A listed resource with an escape in its URI cannot be found",
        &[In(|memory, message| {
            absent_if(is_listed(uri(message)) && uri(message).contains('%'), memory, message)
        })],
    ),
    row(
        "empty-text-unreadable",
        "A listed resource without a character in it cannot be read",
        &[In(|memory, message| {
            let empty = asks(message, READ) && uri(message) == "litmus://text/empty";
            refuse_if(empty, memory, message, -32600)
        })],
    ),
    row(
        "read-mime-differs",
        "Contents have another media type than the list says",
        &[Result(READ, |_, r| {
            having(r, "contents", "mimeType", |mime| *mime = json!("application/x-other"))
        })],
    ),
    row(
        "binary-as-text",
        "Bytes are squeezed into a text",
        &[Result(READ, |_, r| {
            item(r, |item| {
                if let Some(bytes) = item["blob"].as_str().and_then(|blob| BASE64.decode(blob).ok()) {
                    unset(item, "blob");
                    set(item, "text", json!(String::from_utf8_lossy(&bytes)));
                }
            })
        })],
    ),
    row(
        "absent-as-empty",
        "What does not exist is read as nothing",
        &[Reply(|_, x, reply| instead(is_absent(x, &reply), reply, || x.result(json!({ "contents": [] }))))],
    ),
    row(
        "absent-wrong-code",
        "What does not exist is refused as an internal error",
        &[Reply(|_, x, reply| instead(is_absent(x, &reply), reply, || x.error(-32603, "Internal error")))],
    ),
    row(
        "absent-old-code",
        "What does not exist is refused with the code of the older revisions",
        &[Reply(|_, x, reply| {
            instead(x.stateless() && is_absent(x, &reply), reply, || x.error(-32002, "Resource not found"))
        })],
    ),
    row(
        "absent-unanswered",
        "A read of what does not exist is not answered",
        &[Reply(|_, x, reply| if is_absent(x, &reply) { Vec::new() } else { vec![reply] })],
    ),
    row(
        "missing-uri-served",
        "A read without a URI is served",
        &[In(|_, message| {
            if asks(message, READ) && message["params"].get("uri").is_none() {
                set(&mut message["params"], "uri", json!(GREETING));
            }
            Act::Pass
        })],
    ),
    row(
        "missing-uri-wrong-code",
        "A read without a URI is refused as an internal error",
        &[Error(READ, |x, error| {
            if x.param("uri").is_null() {
                set(error, "code", json!(-32603))
            }
        })],
    ),
    row(
        "missing-uri-kills",
        "A read without a URI ends the server",
        &[In(|_, message| die_if(asks(message, READ) && message["params"]["uri"].is_null()))],
    ),
    row(
        "number-uri-served",
        "A read whose URI is no text is served",
        &[In(|_, message| {
            if asks(message, READ) && message["params"].get("uri").is_some_and(|uri| !uri.is_string()) {
                set(&mut message["params"], "uri", json!(GREETING));
            }
            Act::Pass
        })],
    ),
    row(
        "malformed-uri-served",
        "A read of what is no URI is served",
        &[In(|_, message| {
            let text = message["params"]["uri"].as_str().filter(|uri| Store::check(uri).is_err());
            if asks(message, READ) && text.is_some_and(|uri| !climbs(uri)) {
                set(&mut message["params"], "uri", json!(GREETING));
            }
            Act::Pass
        })],
    ),
    row(
        "traversal-served",
        "A URI that climbs out of the tree reaches a file",
        &[In(|memory, message| {
            let contents =
                json!([{ "uri": "file:///etc/passwd", "text": "root:x:0:0:root:/root:/bin/sh\n" }]);
            let climbs = asks(message, READ) && climbs(uri(message));
            serve_if(climbs, memory, message, json!({ "contents": contents }))
        })],
    ),
    row(
        "non-ascii-damaged",
        "Characters beyond ASCII come back as question marks",
        &[Result(READ, |_, r| {
            having(r, "contents", "text", |text| {
                let damaged: String =
                    text.as_str().unwrap_or("").chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
                *text = json!(damaged);
            })
        })],
    ),
    row(
        "internal-error-wrong-code",
        "A read that goes wrong inside the server is answered by a code of its own",
        &[Error(READ, |_, error| {
            if error["code"] == -32603 {
                set(error, "code", json!(-31999))
            }
        })],
    ),
    row(
        "progress-token-refused",
        "A read with a progress token is refused",
        &[In(|memory, message| {
            let token = message["params"]["_meta"].get("progressToken").is_some();
            refuse_if(token && asks(message, READ), memory, message, -32602)
        })],
    ),
    row(
        "blob-overpadded",
        "A blob has a padding character too many",
        &[Result(READ, |_, r| blob(r, |text| format!("{text}=")))],
    ),
    row(
        "blob-spaced",
        "A blob begins with a space",
        &[Result(READ, |_, r| blob(r, |text| format!(" {text}")))],
    ),
    row(
        "blob-joined",
        "A blob was encoded in parts, with padding between them",
        &[Result(READ, |_, r| blob(r, |text| format!("AA=={text}")))],
    ),
    row(
        "blob-cut",
        "A blob lacks its last character",
        &[Result(READ, |_, r| {
            blob(r, |text| {
                text.trim_end_matches('=')
                    .split_at_checked(text.trim_end_matches('=').len().saturating_sub(1))
                    .map_or(String::new(), |(start, _)| start.to_owned())
            })
        })],
    ),
    row(
        "absent-as-unknown-method",
        "What does not exist is refused as an unknown method",
        &[Reply(|_, x, reply| instead(is_absent(x, &reply), reply, || x.error(-32601, "Not found")))],
    ),
    row(
        "absent-http-code",
        "What does not exist is refused with the code 404",
        &[Reply(|_, x, reply| instead(is_absent(x, &reply), reply, || x.error(404, "Not found")))],
    ),
    row(
        "read-changes-list",
        "Once something was read, the list is another in sessions too",
        &[Reply(|memory, x, reply| shorten_after(READ, "/result/resources", memory, x, reply))],
    ),
    row(
        "read-changes-templates",
        "Once something was read, the list of templates is another",
        &[Reply(|memory, x, reply| shorten_after(READ, "/result/resourceTemplates", memory, x, reply))],
    ),
    row(
        "read-changes-others",
        "A text tells how many other resources were read",
        &[Reply(|memory, x, mut reply| {
            if x.is(READ) {
                memory.seen.insert(x.param("uri").to_string());
                let others = memory.seen.len();
                at(&mut reply, "/result", |r| {
                    having(r, "contents", "text", |text| *text = json!(others.to_string()))
                });
            }
            vec![reply]
        })],
    ),
    row(
        "read-announced-as-change",
        "A read of what is followed is announced as its change",
        &[Reply(|memory, x, reply| {
            let uri = x.param("uri");
            if !x.is(READ) {
                return vec![reply];
            }
            let update = |stream| notice(UPDATED, json!({ "uri": uri }), stream);
            let follows = |(_, filter): &&(Value, Value)| {
                filter["resourceSubscriptions"].as_array().is_some_and(|uris| uris.contains(uri))
            };
            let streams = memory.streams.iter().filter(follows).map(|(id, _)| update(Some(id)));
            let session = memory.subscribed.contains(uri.as_str().unwrap_or("")).then(|| update(None));
            let updates: Vec<Value> = streams.chain(session).collect();
            std::iter::once(reply).chain(updates).collect()
        })],
    ),
    row(
        "read-never-alike",
        "A text is another one at each read",
        &[Reply(|memory, x, mut reply| {
            memory.count += 1;
            let count = memory.count;
            if x.is(READ) {
                at(&mut reply, "/result", |r| {
                    having(r, "contents", "text", |text| *text = json!(count.to_string()))
                });
            }
            vec![reply]
        })],
    ),
];

/// The first item of a read.
fn item(result: &mut Value, change: impl FnOnce(&mut Value)) {
    at(result, "/contents/0", change);
}

fn blob(result: &mut Value, change: impl Fn(&str) -> String) {
    having(result, "contents", "blob", |blob| *blob = json!(change(blob.as_str().unwrap_or(""))));
}

fn is_absent(x: &Exchange, reply: &Value) -> bool {
    x.is(READ) && reply["error"]["message"] == "Resource not found"
}

/// Whether a file URI has dot segments, escaped or not.
fn climbs(uri: &str) -> bool {
    uri.starts_with("file:") && (uri.contains("..") || uri.to_ascii_lowercase().contains("%2e"))
}
