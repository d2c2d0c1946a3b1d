//! That each fault and each variant does something, and that nothing a client says makes the server panic with it.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests too

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use reference_server::{Ending, Fault, Firings, Options, Revision, Transport, Variant, serve};
use serde_json::{Value, json};
use support::{CAPABILITIES, SUBSCRIPTION, VERSION, run};
use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use tokio::time::{sleep, timeout};

const GREETING: &str = "litmus://text/greeting";
const EMPTY: &str = "litmus://text/empty";
const PERSONAL: &str = "litmus://text/personal";
const BROKEN: &str = "litmus://text/broken";
const SLOW: &str = "litmus://text/slow";

/// One request. Inlined into the tour, which makes hundreds of them, it would need more stack than a test has.
#[inline(never)]
fn request(revision: Revision, id: u64, method: &str, mut params: Value) -> String {
    if revision.is_stateless() {
        let mut meta = params.get("_meta").cloned().unwrap_or_else(|| json!({}));
        let version = meta.get(VERSION).cloned().unwrap_or_else(|| revision.name().into());
        meta[VERSION] = version;
        let capabilities = meta.get(CAPABILITIES).cloned().unwrap_or_else(|| json!({}));
        meta[CAPABILITIES] = capabilities;
        params["_meta"] = meta;
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Lines of a client that tries everything; a line that is empty stands for a pause.
fn tour(revision: Revision) -> Vec<String> {
    let stateless = revision.is_stateless();
    let mut lines = Vec::new();
    let mut id = 0;
    let mut ask = |method: &str, params: Value| {
        id += 1;
        request(revision, id, method, params)
    };
    let pause = String::new;
    let note = |method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
    };
    let tool = |name: &str, uri: &str| json!({ "name": name, "arguments": { "uri": uri } });

    if stateless {
        lines.push(ask("resources/read", json!({ "uri": GREETING })));
        lines.push(ask("resources/list", json!({})));
    }
    lines.push(ask("server/discover", json!({})));
    let initialize = |version: &str| {
        json!({
            "protocolVersion": version,
            "capabilities": { "odd": {} },
            "clientInfo": { "name": "t", "version": "1", "title": "T" },
        })
    };
    if !stateless {
        lines.push(ask("resources/list", json!({})));
        lines.push(ask("ping", json!({})));
        lines.push(pause());
        lines.push(ask("initialize", json!({})));
        lines.push(pause());
        let version = if revision == Revision::V2025_11_25 { "1999-01-01" } else { revision.name() };
        lines.push(ask("initialize", initialize(version)).replace(r#""id":5"#, r#""id":"open""#));
        lines.push(pause());
        lines.push(ask("resources/list", json!({})));
        lines.push(pause());
        lines.push(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned());
        lines.push(pause());
    }
    // Lists, page by page, with the cursors that were heard last.
    for method in ["resources/list", "resources/templates/list"] {
        lines.push(ask(method, json!({})));
        // Once more often than there are pages, so that the last cursor is used twice.
        for _ in 0..4 {
            lines.push(format!("PAGE {}", ask(method, json!({ "cursor": "CURSOR" }))));
        }
        lines.push(ask(method, json!({ "cursor": "bogus" })));
        lines.push(pause());
        for cursor in [json!(7), json!(""), Value::Null] {
            lines.push(ask(method, json!({ "cursor": cursor })));
            lines.push(pause());
        }
    }
    for uri in [
        GREETING,
        EMPTY,
        "litmus://data/all-bytes",
        "file:///litmus/readme.md",
        "file:///litmus/two%20words.txt",
        "file:///litmus/docs/",
        "file:///litmus/docs/guide.md",
        "litmus://search",
        "litmus://search?query=x",
        "litmus://notes/..%2Fb",
        "litmus://notes/a%20b",
        "litmus://notes/%C3%A9%2Fx",
        "litmus://notes/%c3%a9",
        "litmus://users/a/posts/b",
        "litmus://notes/{id}",
        "litmus://text/absent",
        "no uri",
        "file:///litmus/../etc/passwd",
    ] {
        lines.push(ask("resources/read", json!({ "uri": uri })));
        lines.push(pause());
    }
    for tail in [",".repeat(40), "/".repeat(40)] {
        lines.push(ask("resources/read", json!({ "uri": format!("{GREETING}{tail}") })));
        lines.push(pause());
    }
    lines.push(ask("resources/read", json!({})));
    lines.push(pause());
    lines.push(ask("resources/read", json!({ "uri": 7 })));
    lines.push(ask(
        "resources/read",
        json!({ "uri": SLOW, "_meta": { "progressToken": "p", "traceparent": "x" } }),
    ));
    lines.push(pause());
    lines.push(ask("resources/read", json!({ "uri": GREETING, "requestState": "x", "odd": 1 })));
    // Reads that are asked something first.
    let able = json!({ CAPABILITIES: { "elicitation": {} } });
    lines.push(ask("resources/read", json!({ "uri": PERSONAL, "requestState": "early", "_meta": able })));
    lines.push(pause());
    lines.push(ask("resources/read", json!({ "uri": PERSONAL })));
    lines.push(ask("resources/read", json!({ "uri": PERSONAL, "_meta": able })));
    lines.push(ask("resources/read", json!({ "uri": PERSONAL, "_meta": able })));
    for answers in [json!({}), json!({ "other": 1 }), json!({ "name": "x" }), json!(5)] {
        lines.push(ask(
            "resources/read",
            json!({ "uri": PERSONAL, "requestState": "x", "inputResponses": answers, "_meta": able }),
        ));
    }
    lines.push(ask("resources/read", json!({ "uri": PERSONAL })));
    lines.push(ask("resources/read", json!({ "uri": BROKEN })));
    lines.push(pause());
    lines.push(ask("resources/list", json!({})));
    // Changes, with and without anybody who asked for them.
    for change in ["touch_resource", "add_resource"] {
        lines.push(ask(
            "tools/call",
            tool(change, if change == "add_resource" { "litmus://new/1" } else { EMPTY }),
        ));
    }
    lines.push(ask("resources/list", json!({})));
    for uri in [GREETING, GREETING, "file:///litmus/readme.md", "litmus://text/absent"] {
        lines.push(ask("resources/subscribe", json!({ "uri": uri })));
    }
    lines.push(ask("resources/subscribe", json!({})));
    let listen = |filter: Value| json!({ "notifications": filter });
    for filter in [
        json!({}),
        json!({ "resourceSubscriptions": [GREETING, "litmus://text/absent"] }),
        json!({ "resourcesListChanged": true }),
    ] {
        let line = ask("subscriptions/listen", listen(filter));
        lines.push(line);
        lines.push(pause());
        lines.push(ask("resources/list", json!({})));
    }
    for uri in [GREETING, EMPTY] {
        lines.push(ask("tools/call", tool("touch_resource", uri)));
        lines.push(ask("resources/read", json!({ "uri": uri })));
        lines.push(pause());
    }
    lines.push(ask("tools/call", tool("remove_resource", "litmus://new/1")));
    lines.push(ask("resources/unsubscribe", json!({ "uri": GREETING })));
    lines.push(ask("resources/unsubscribe", json!({ "uri": EMPTY })));
    lines.push(ask("resources/unsubscribe", json!({})));
    lines.push("LISTENS".to_owned());
    lines.push(ask("tools/call", tool("touch_resource", GREETING)));
    lines.push(ask("subscriptions/listen", json!({})));
    lines.push(ask("subscriptions/listen", listen(json!({ "resourcesListChanged": 7 }))));
    lines.push(ask("tools/list", json!({})));
    lines.push(ask("tools/call", tool("link_resource", GREETING)));
    lines.push(ask("tools/call", tool("embed_resource", GREETING)));
    // The rest of the protocol.
    let complete = |uri: &str| {
        let reference = json!({ "type": "ref/resource", "uri": uri });
        json!({ "ref": reference, "argument": { "name": "id", "value": "" }, "context": { "arguments": {} } })
    };
    lines.push(ask("completion/complete", complete("litmus://notes/{id}")));
    lines.push(ask("completion/complete", complete("litmus://nothing/{id}")));
    let mut chosen = complete("litmus://users/{user}/posts/{post}");
    chosen["argument"]["name"] = "post".into();
    chosen["context"]["arguments"]["user"] = "ada".into();
    lines.push(ask("completion/complete", chosen));
    lines.push(ask("completion/complete", json!({})));
    lines.push(ask("ping", json!({})));
    lines.push(ask("no/such", json!({})));
    lines.push(ask("logging/setLevel", json!({ "level": "debug" })));
    lines.push(ask("logging/setLevel", json!({ "level": "fatal" })));
    for level in ["debug", "fatal"] {
        let meta = json!({ "io.modelcontextprotocol/logLevel": level });
        lines.push(ask("resources/read", json!({ "uri": GREETING, "_meta": meta })));
    }
    lines.push(ask("resources/list", json!({ "_meta": { VERSION: "1900-01-01" } })));
    lines.push(ask("resources/list", json!({ "_meta": { VERSION: "2025-11-25" } })));
    lines.push(ask("server/discover", json!({ "_meta": { VERSION: "1900-01-01" } })));
    lines.push(ask("resources/list", json!({ "_meta": { VERSION: 7 } })));
    lines.push(ask(
        "resources/list",
        json!({ "_meta": { "io.modelcontextprotocol/clientInfo": { "name": "u", "version": "1" } } }),
    ));
    lines.push(ask("initialize", initialize("2025-06-18")));
    for text in [
        r#"{"jsonrpc":"2.0","id":"7","method":"resources/list"}"#,
        r#"{"jsonrpc":"2.0","id":0,"method":"resources/list","params":{"_meta":{}}}"#,
        r#"{"jsonrpc":"2.0","id":"v","method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        r#"{"jsonrpc":"2.0","id":"c","method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"x\u2028","method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":"old","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"resources/list","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"subscriptions/listen","params":[7]}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"resources/read","params":"x"}"#,
        r#"{"jsonrpc":"2.0","id":-7,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":" An Id of some length ","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"hello":1}"#,
        "\u{feff}{}",
        "7",
        r#"{"jsonrpc":"2.0","id":"","method":"ping"}"#,
        " ",
        &"[".repeat(2000),
        "{}",
        "[]",
        r#"[{"jsonrpc":"2.0","method":"no/such"}]"#,
        r#"[{"jsonrpc":"2.0","id":"b1","method":"ping"},{"jsonrpc":"2.0","method":"no/such"},{"jsonrpc":"2.0","id":"b2","method":"ping"},7,[]]"#,
        "nonsense",
        "\u{2028}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"crlf\",\"method\":\"ping\"}\r",
    ] {
        lines.push(text.to_owned());
        lines.push(pause());
    }
    let slow = ask("resources/read", json!({ "uri": SLOW }));
    let id = serde_json::from_str::<Value>(&slow).unwrap()["id"].clone();
    lines.push(slow);
    lines.push(note("notifications/cancelled", json!({ "requestId": id })));
    lines.push(note("notifications/cancelled", json!({ "requestId": 1 })));
    lines.push(note("notifications/cancelled", json!({ "requestId": "nobody" })));
    lines.push(note("notifications/cancelled", json!({})));
    lines.push(format!(
        r#"{{"jsonrpc":"2.0","id":"long","method":"ping","params":{{"x":"{}"}}}}"#,
        "x".repeat(70_000)
    ));
    lines.push(ask("resources/list", json!({})));
    lines.push(ask("resources/templates/list", json!({})));
    lines
}

/// Takes the tour. Whether the server ended as it should is up to the fault; what matters is that it does not panic.
async fn take(options: Options, revision: Revision, firings: &Firings) -> (Option<Ending>, String) {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (input, output) = split(far);
    let server = tokio::spawn(serve(input, output, options, firings.clone()));
    let (mut input, mut output) = split(near);
    let (told, heard) = tokio::sync::watch::channel(String::new());
    tokio::spawn(async move {
        let mut chunk = vec![0; 1 << 16];
        while let Ok(count @ 1..) = input.read(&mut chunk).await {
            let text = String::from_utf8_lossy(&chunk[..count]).into_owned();
            told.send_modify(|all| all.push_str(&text));
        }
    });
    let mut burst = String::new();
    for line in tour(revision) {
        if let Some(line) = line.strip_prefix("PAGE ") {
            _ = output.write_all(burst.as_bytes()).await;
            burst.clear();
            sleep(Duration::from_millis(1)).await;
            let cursor = heard.borrow().rsplit_once(r#""nextCursor":""#).map(|(_, rest)| rest.to_owned());
            let cursor = cursor.and_then(|rest| Some(rest.split_once('"')?.0.to_owned()));
            burst.push_str(&line.replace("CURSOR", &cursor.unwrap_or_default()));
            burst.push('\n');
            _ = output.write_all(burst.as_bytes()).await;
            burst.clear();
            sleep(Duration::from_millis(1)).await;
        } else if line == "LISTENS" {
            // Cancels the second stream that was acknowledged.
            let mark = format!(r#""{SUBSCRIPTION}":"#);
            let heard = heard.borrow().clone();
            let id = heard.split(&mark).nth(2).and_then(|rest| rest.split('}').next()).unwrap_or("1");
            let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#;
            burst.push_str(&cancel.replace("ID", id));
            burst.push('\n');
        } else if line.is_empty() {
            _ = output.write_all(burst.as_bytes()).await;
            burst.clear();
            sleep(Duration::from_secs(1)).await;
        } else {
            burst.push_str(&line);
            burst.push('\n');
        }
    }
    let (start, end) = burst.split_at(burst.len() / 2);
    _ = output.write_all(start.as_bytes()).await;
    sleep(Duration::from_secs(1)).await;
    _ = output.write_all(end.as_bytes()).await;
    sleep(Duration::from_secs(9)).await;
    _ = output.shutdown().await;
    let ended = timeout(Duration::from_secs(60), server).await.ok();
    let ending = ended.map(|ended| ended.expect("the server does not panic"));
    sleep(Duration::from_secs(1)).await;
    (ending, heard.borrow().clone())
}

/// The servers that the tour is taken on: of one revision, and of all.
fn servers() -> impl Iterator<Item = (Vec<Revision>, Revision)> {
    let alone = [Revision::V2025_11_25, Revision::V2026_07_28, Revision::V2025_03_26];
    let one_of_all = [Revision::V2024_11_05, Revision::V2026_07_28];
    let alone = alone.map(|revision| (vec![revision], revision));
    alone.into_iter().chain(one_of_all.map(|revision| (Revision::ALL.to_vec(), revision)))
}

#[test]
fn each_fault_fires_and_none_panics() {
    let mut idle = Vec::new();
    for fault in Fault::ALL.iter().filter(|fault| fault.transports().contains(&Transport::Stdio)) {
        let firings = Firings::default();
        for (place, (revisions, revision)) in servers().enumerate() {
            // One tour in each era; the others only for a fault that has not fired yet.
            if place < 2 || firings.count() == 0 {
                let options = Options { revisions, fault: Some(*fault), ..Options::default() };
                run(async { _ = take(options, revision, &firings).await });
            }
        }
        if firings.count() == 0 {
            idle.push(fault.name());
        }
    }
    assert!(idle.is_empty(), "never fired: {idle:?}");
}

#[test]
fn a_server_with_any_variant_ends_as_it_should_and_differs_from_a_plain_one() {
    let plain: Vec<String> =
        servers().map(|(revisions, revision)| tour_with(None, revisions, revision)).collect();
    let mut idle = Vec::new();
    for variant in Variant::ALL.iter().filter(|variant| variant.transports().contains(&Transport::Stdio)) {
        let heard = servers().map(|(revisions, revision)| tour_with(Some(*variant), revisions, revision));
        let differs = heard.zip(&plain).filter(|(heard, plain)| heard != *plain).count() > 0;
        if !differs {
            idle.push(variant.name());
        }
    }
    // The tour looks at standard output only.
    assert_eq!(idle, ["logs-to-stderr"], "those that make no difference");
}

fn tour_with(variant: Option<Variant>, revisions: Vec<Revision>, revision: Revision) -> String {
    let options = Options { revisions, variants: variant.into_iter().collect(), ..Options::default() };
    let mut heard = String::new();
    run(async {
        let (ending, text) = take(options, revision, &Firings::default()).await;
        assert_eq!(ending, Some(Ending::EndOfInput), "{variant:?} {revision}");
        heard = text;
    });
    heard
}

#[test]
fn names_are_unique_and_in_kebab_case() {
    let faults = Fault::ALL.iter().map(|fault| (fault.name(), fault.about()));
    let variants = Variant::ALL.iter().map(|variant| (variant.name(), variant.about()));
    let mut seen = BTreeSet::new();
    for (name, about) in faults.chain(variants) {
        assert!(seen.insert(name), "{name} twice");
        let kebab = name.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
        assert!(kebab, "{name}");
        assert!(
            (10..=110).contains(&about.len()) && !about.ends_with('.') && !about.contains('\n'),
            "{name}: {about}"
        );
    }
    for fault in Fault::ALL {
        assert_eq!(fault.name().parse(), Ok(*fault));
    }
    for variant in Variant::ALL {
        assert_eq!(variant.name().parse(), Ok(*variant));
    }
}
