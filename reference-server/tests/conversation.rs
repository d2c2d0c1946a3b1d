//! What the clean server says, in each revision.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests too

mod support;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateStr;
use iri_string::template::simple_context::SimpleContext;
use reference_server::{Ending, Options, Revision};
use serde_json::{Value, json};
use support::{CAPABILITIES, Client, SUBSCRIPTION, run};

const GREETING: &str = "litmus://text/greeting";
const SLOW: &str = "litmus://text/slow";
const LISTED: usize = 10;

fn stateful() -> impl Iterator<Item = Revision> {
    Revision::ALL.into_iter().filter(|revision| !revision.is_stateless())
}

#[test]
fn all_that_is_listed_can_be_read() {
    for revision in Revision::ALL {
        run(async {
            let mut client = Client::open(revision).await;
            let resources = client.walk("resources/list", "resources").await;
            assert_eq!(resources.len(), LISTED);
            let (mut blobs, mut several) = (0, 0);
            for resource in resources {
                let result = client.call("resources/read", json!({ "uri": resource["uri"] })).await;
                let contents = result["contents"].as_array().unwrap();
                several += usize::from(contents.len() > 1);
                for item in contents {
                    let raw = match (&item["text"], &item["blob"]) {
                        (Value::String(text), Value::Null) => text.clone().into_bytes(),
                        (Value::Null, Value::String(blob)) => BASE64.decode(blob).unwrap(),
                        _ => panic!("{item}"),
                    };
                    blobs += usize::from(item.get("blob").is_some());
                    if item["uri"] == resource["uri"] {
                        assert_eq!(resource["size"], raw.len());
                        assert_eq!(item.get("mimeType"), resource.get("mimeType"));
                    }
                }
            }
            assert!(blobs >= 2 && several >= 1);
        });
    }
}

#[test]
fn a_read_that_asks_first_needs_the_capability_its_own_state_and_an_answer() {
    run(async {
        let mut client = Client::open(Revision::V2026_07_28).await;
        let read = |able: Value, more: Value| {
            let mut params = json!({ "uri": "litmus://text/personal", "_meta": { CAPABILITIES: able } });
            for (name, value) in more.as_object().unwrap() {
                params[name] = value.clone();
            }
            params
        };
        let able = || json!({ "elicitation": {} });
        let reply = client.reply("resources/read", read(json!({ "roots": {} }), json!({}))).await;
        let refusal = &reply["error"];
        assert_eq!(refusal["code"], -32021);
        assert!(refusal["data"]["requiredCapabilities"]["elicitation"].is_object());
        let asked = client.call("resources/read", read(able(), json!({}))).await;
        assert_eq!(asked["resultType"], "input_required");
        assert!(asked.get("ttlMs").is_none());
        let state = &asked["requestState"];
        let answers = json!({ "name": { "action": "accept", "content": { "name": "Ada" } }, "other": 1 });
        let back = json!({ "requestState": state, "inputResponses": answers });
        let result = client.call("resources/read", read(able(), back)).await;
        assert_eq!(result["contents"][0]["text"], "Hello, Ada!");
        let without = json!({ "requestState": state, "inputResponses": {} });
        assert_eq!(client.call("resources/read", read(able(), without)).await, asked);
        for (state, answers) in
            [(json!("x"), answers), (state.clone(), json!(5)), (state.clone(), json!({ "name": "Ada" }))]
        {
            let wrong = json!({ "requestState": state, "inputResponses": answers });
            assert_eq!(client.refused("resources/read", read(able(), wrong)).await, -32602);
        }
    });
}

#[test]
fn members_appear_with_the_revision_that_defines_them() {
    for revision in Revision::ALL {
        run(async {
            let mut client = Client::open(revision).await;
            let first = client.call("resources/list", json!({})).await["resources"][0].clone();
            assert_eq!(first.get("title").is_some(), revision >= Revision::V2025_06_18);
            assert_eq!(first.get("_meta").is_some(), revision >= Revision::V2025_06_18);
            assert_eq!(first["annotations"].get("lastModified").is_some(), revision >= Revision::V2025_06_18);
            assert_eq!(first.get("icons").is_some(), revision >= Revision::V2025_11_25);
        });
    }
}

#[test]
fn expanded_templates_can_be_read_under_their_very_uri() {
    for revision in Revision::ALL {
        run(async {
            let mut client = Client::open(revision).await;
            let templates = client.walk("resources/templates/list", "resourceTemplates").await;
            for template in templates {
                let text = template["uriTemplate"].as_str().unwrap();
                for value in ["1", "two words", "世界", "a/b"] {
                    // iri-string 0.7.14 panics where reserved expansion meets a value beyond ASCII.
                    if text.contains("{+") && !value.is_ascii() {
                        continue;
                    }
                    let mut context = SimpleContext::new();
                    for name in ["id", "user", "post", "query", "limit", "path", "room", "board"] {
                        context.insert(name, value);
                    }
                    let uri = UriTemplateStr::new(text)
                        .unwrap()
                        .expand::<UriSpec, _>(&context)
                        .unwrap()
                        .to_string();
                    let result = client.call("resources/read", json!({ "uri": uri })).await;
                    assert_eq!(result["contents"][0]["uri"], uri);
                    assert!(result["contents"][0]["text"].as_str().unwrap().contains(value), "{result}");
                }
                assert_eq!(client.refused("resources/read", json!({ "uri": text })).await, -32602);
            }
        });
    }
}

#[test]
fn bad_requests_are_refused_with_the_right_code() {
    for revision in Revision::ALL {
        run(async {
            let mut client = Client::open(revision).await;
            let absent = if revision.is_stateless() { -32602 } else { -32002 };
            for (method, params, code) in [
                ("resources/read", json!({ "uri": "litmus://text/absent" }), absent),
                ("resources/read", json!({}), -32602),
                ("resources/read", json!({ "uri": 5 }), -32602),
                ("resources/read", json!({ "uri": "file:///litmus/../../etc/passwd" }), -32602),
                ("resources/list", json!({ "cursor": "bogus" }), -32602),
                ("resources/list", json!({ "cursor": 7 }), -32602),
                ("resources/templates/list", json!({ "cursor": "bogus" }), -32602),
                ("completion/complete", json!({}), -32602),
                ("no/such", json!({}), -32601),
                ("tools/call", json!({ "name": "no_such_tool" }), -32602),
            ] {
                assert_eq!(client.refused(method, params.clone()).await, code, "{method} {params}");
            }
        });
    }
}

#[test]
fn completion_suggests_at_most_a_hundred_values() {
    for revision in Revision::ALL {
        run(async {
            let mut client = Client::open(revision).await;
            let ask = |value: &str| {
                json!({
                    "ref": { "type": "ref/resource", "uri": "litmus://notes/{id}" },
                    "argument": { "name": "id", "value": value },
                })
            };
            let many = client.call("completion/complete", ask("")).await["completion"].clone();
            assert_eq!(many["values"].as_array().unwrap().len(), 100);
            assert_eq!((&many["total"], &many["hasMore"]), (&json!(150), &json!(true)));
            let few = client.call("completion/complete", ask("15")).await["completion"].clone();
            assert_eq!(few, json!({ "values": ["15", "150"], "total": 2, "hasMore": false }));
            let mut post = ask("");
            post["ref"]["uri"] = "litmus://users/{user}/posts/{post}".into();
            post["argument"]["name"] = "post".into();
            post["context"] = json!({ "arguments": { "user": "ada" } });
            let posts = client.call("completion/complete", post).await;
            let expected = if revision >= Revision::V2025_06_18 { "ada-1" } else { "post-1" };
            assert_eq!(posts["completion"]["values"][0], expected);
        });
    }
}

#[test]
fn sessions_hear_of_what_they_subscribed_to_until_they_unsubscribe() {
    for revision in stateful() {
        run(async {
            let mut client = Client::open(revision).await;
            let touch = json!({ "name": "touch_resource", "arguments": { "uri": GREETING } });
            client.call("tools/call", touch.clone()).await;
            client.call("resources/subscribe", json!({ "uri": GREETING })).await;
            client.call("tools/call", touch.clone()).await;
            let update = client.next().await;
            assert_eq!(update["method"], "notifications/resources/updated");
            assert_eq!(update["params"], json!({ "uri": GREETING }));
            let read = client.call("resources/read", json!({ "uri": GREETING })).await;
            assert!(read["contents"][0]["text"].as_str().unwrap().ends_with("Touched 2 times."));
            client.call("resources/unsubscribe", json!({ "uri": GREETING })).await;
            client.call("tools/call", touch).await;
            client.silent().await;

            client.call("tools/call", json!({ "name": "add_resource", "arguments": {} })).await;
            assert_eq!(client.next().await["method"], "notifications/resources/list_changed");
            assert_eq!(client.walk("resources/list", "resources").await.len(), LISTED + 1);
        });
    }
}

#[test]
fn a_stream_carries_what_it_asked_for_and_nothing_after_it_was_cancelled() {
    run(async {
        let mut client = Client::open(Revision::V2026_07_28).await;
        let touch = |uri: &str| json!({ "name": "touch_resource", "arguments": { "uri": uri } });
        let filter = json!({ "resourceSubscriptions": [GREETING], "toolsListChanged": true });
        let one = client.ask("subscriptions/listen", json!({ "notifications": filter })).await;
        let acknowledged = client.next().await;
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged["params"]["_meta"][SUBSCRIPTION], one);
        assert_eq!(acknowledged["params"]["notifications"], json!({ "resourceSubscriptions": [GREETING] }));
        let filter = json!({ "resourcesListChanged": true });
        let two = client.ask("subscriptions/listen", json!({ "notifications": filter })).await;
        client.next().await;

        client.call("tools/call", touch("litmus://text/empty")).await;
        client.call("tools/call", touch(GREETING)).await;
        let update = client.next().await;
        assert_eq!(update["params"], json!({ "uri": GREETING, "_meta": { SUBSCRIPTION: one } }));
        client
            .call("tools/call", json!({ "name": "remove_resource", "arguments": { "uri": GREETING } }))
            .await;
        let changed = client.next().await;
        assert_eq!(changed["method"], "notifications/resources/list_changed");
        assert_eq!(changed["params"], json!({ "_meta": { SUBSCRIPTION: two } }));

        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": two } });
        client.send(&cancel.to_string()).await;
        client.call("tools/call", json!({ "name": "add_resource" })).await;
        client.silent().await;
        let (ending, rest) = client.close().await;
        assert_eq!(ending, Ending::EndOfInput);
        assert_eq!(rest.len(), 1);
        assert_eq!(rest[0]["id"], one);
        assert_eq!(rest[0]["result"]["_meta"][SUBSCRIPTION], one);
    });
}

#[test]
fn slow_reads_tell_their_progress_and_can_be_cancelled() {
    for revision in Revision::ALL {
        run(async {
            let mut client = Client::open(revision).await;
            let params = json!({ "uri": SLOW, "_meta": { "progressToken": "t" } });
            let id = client.ask("resources/read", params.clone()).await;
            client.call("resources/list", json!({})).await;
            for step in 1..=3 {
                let progress = client.next().await;
                assert_eq!(progress["params"]["progressToken"], "t");
                assert_eq!(progress["params"]["progress"], step);
                assert_eq!(progress["params"].get("message").is_some(), revision >= Revision::V2025_03_26);
            }
            assert_eq!(client.next().await["id"], id);

            let id = client.ask("resources/read", params).await;
            assert_eq!(client.next().await["params"]["progress"], 1);
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
            client.send(&cancel.to_string()).await;
            client.silent().await;
            client.ask("resources/read", json!({ "uri": SLOW })).await;
            assert_eq!(client.close().await, (Ending::EndOfInput, Vec::new()));
        });
    }
}

#[test]
fn logs_are_sent_as_far_as_asked_for() {
    for revision in Revision::ALL {
        run(async {
            let mut client = Client::open(revision).await;
            client.call("resources/read", json!({ "uri": GREETING })).await;
            let level = |level: &str| json!({ "io.modelcontextprotocol/logLevel": level });
            for (least, logged) in [("info", true), ("error", false)] {
                let mut params = json!({ "uri": GREETING });
                if revision.is_stateless() {
                    params["_meta"] = level(least);
                } else {
                    client.call("logging/setLevel", json!({ "level": least })).await;
                }
                let id = client.ask("resources/read", params).await;
                if logged {
                    assert_eq!(client.next().await["params"]["level"], "info");
                }
                assert_eq!(client.next().await["id"], id);
            }
        });
    }
}

#[test]
fn arrays_are_batches_in_one_revision_only() {
    for revision in stateful() {
        run(async {
            let mut client = Client::open(revision).await;
            let slow =
                json!({ "jsonrpc": "2.0", "id": "s", "method": "resources/read", "params": { "uri": SLOW } });
            let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" });
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/x" });
            client.send(&json!([slow, ping, note, 7]).to_string()).await;
            let answer = client.next().await;
            if revision != Revision::V2025_03_26 {
                assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null));
                continue_silently(&mut client).await;
                return;
            }
            let ids: Vec<&Value> = answer.as_array().unwrap().iter().map(|reply| &reply["id"]).collect();
            assert_eq!(ids, [&json!("p"), &Value::Null, &json!("s")]);
            client.send(&json!([note]).to_string()).await;
            client.silent().await;
            client.send("[]").await;
            assert_eq!(client.next().await["error"]["code"], -32600);
        });
    }
}

async fn continue_silently(client: &mut Client) {
    client.silent().await;
    client.call("ping", json!({})).await;
}

#[test]
fn malformed_lines_are_answered_without_an_id() {
    for revision in Revision::ALL {
        run(async {
            let mut client = Client::open(revision).await;
            for (line, code) in
                [("nonsense", -32700), ("{", -32700), ("7", -32600), ("{}", -32600), ("\u{feff}{}", -32700)]
            {
                client.send(line).await;
                let answer = client.next().await;
                assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null), "{line}");
            }
            client.send(r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#).await;
            assert_eq!(client.next().await["id"], "x");
            for line in [
                "",
                " \t\r",
                r#"{"jsonrpc":"2.0","method":"resources/list"}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#,
                r#"{"jsonrpc":"2.0","id":"nobody","result":{}}"#,
                r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#,
            ] {
                client.send(line).await;
            }
            client.silent().await;
            client.call("resources/list", json!({})).await;
        });
    }
}

#[test]
fn versions_are_agreed_on_or_refused() {
    run(async {
        let mut client = Client::start(Options::default(), Revision::V2025_11_25);
        assert_eq!(client.refused("resources/list", json!({})).await, -32600);
        client.call("ping", json!({})).await;
        let mut params = json!({ "protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        assert_eq!(client.call("initialize", params.clone()).await["protocolVersion"], "2025-11-25");
        params["protocolVersion"] = "2025-11-25".into();
        assert_eq!(client.refused("initialize", params).await, -32600);
    });
    run(async {
        let options = Options { revisions: vec![Revision::V2026_07_28], ..Options::default() };
        let mut client = Client::start(options, Revision::V2026_07_28);
        let discovered = client.call("server/discover", json!({})).await;
        assert_eq!(discovered["supportedVersions"], json!(["2026-07-28"]));
        for method in ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
            assert_eq!(client.refused(method, json!({ "uri": GREETING, "level": "info" })).await, -32601);
        }
        for (meta, code) in [
            (json!(null), -32602),
            (json!({}), -32602),
            (json!({ support::VERSION: "2026-07-28" }), -32602),
            (json!({ support::CAPABILITIES: {} }), -32602),
            (json!({ support::VERSION: "2026-07-28", support::CAPABILITIES: [] }), -32602),
            (json!({ support::VERSION: "1900-01-01", support::CAPABILITIES: {} }), -32022),
            (json!({ support::VERSION: "2025-11-25", support::CAPABILITIES: {} }), -32022),
        ] {
            let request =
                json!({ "jsonrpc": "2.0", "id": 9, "method": "resources/list", "params": { "_meta": meta } });
            client.send(&request.to_string()).await;
            let error = client.next().await["error"].clone();
            assert_eq!(error["code"], code, "{request}");
            if code == -32022 {
                assert_eq!(error["data"]["supported"], json!(["2026-07-28"]));
                assert_eq!(error["data"]["requested"], request["params"]["_meta"][support::VERSION]);
            }
        }
        client.send(r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#).await;
        assert_eq!(client.next().await["error"]["code"], -32602);
    });
    // By -32022 a client would take an older server for a newer one, and never try `initialize`.
    run(async {
        let options = Options { revisions: stateful().collect(), ..Options::default() };
        let mut client = Client::start(options, Revision::V2026_07_28);
        assert_eq!(client.refused("server/discover", json!({})).await, -32600);
    });
}

#[test]
fn a_client_may_send_much_before_it_reads() {
    run(async {
        let mut client = Client::open(Revision::V2025_11_25).await;
        for _ in 0..20_000 {
            client.ask("resources/list", json!({})).await;
        }
        for _ in 0..20_000 {
            assert!(client.next().await["result"].is_object());
        }
    });
}

#[test]
fn lines_of_a_file_change_resources() {
    let path = std::env::temp_dir().join(format!("litmus-control-{}", std::process::id()));
    std::fs::write(&path, format!("remove {GREETING}\n")).unwrap();
    run(async {
        let options = Options { control: Some(path.clone()), ..Options::default() };
        let mut client = Client::start(options, Revision::V2025_06_18);
        client.greet().await;
        client.call("resources/subscribe", json!({ "uri": GREETING })).await;
        let mut lines = std::fs::read_to_string(&path).unwrap();
        lines.push_str(&format!("touch {GREETING}\nnonsense\nadd\nadd litmus://text/"));
        std::fs::write(&path, &lines).unwrap();
        assert_eq!(client.next().await["method"], "notifications/resources/updated");
        assert_eq!(client.next().await["method"], "notifications/resources/list_changed");
        std::fs::write(&path, format!("{lines}late\n")).unwrap();
        assert_eq!(client.next().await["method"], "notifications/resources/list_changed");
        client.call("resources/read", json!({ "uri": "litmus://text/late" })).await;
    });
    std::fs::remove_file(&path).unwrap();
}
