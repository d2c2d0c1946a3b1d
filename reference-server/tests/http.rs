//! That the server does over HTTP what each revision of the transport says.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests too

#[path = "support/http.rs"]
mod http;
mod support;

use http::{Client, message, send, try_send};
use reference_server::{Firings, Options, Revision, Site};
use serde_json::json;
use support::{CAPABILITIES, SUBSCRIPTION, VERSION, run};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const GREETING: &str = "litmus://text/greeting";
const SLOW: &str = "litmus://text/slow";
const UPDATED: &str = "notifications/resources/updated";
const STATEFUL: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

fn site() -> Site {
    Site::new(Options::default(), Firings::default())
}

fn only(revisions: &[Revision]) -> Site {
    Site::new(Options { revisions: revisions.to_vec(), ..Options::default() }, Firings::default())
}

#[test]
fn resources_are_served_in_both_eras() {
    run(async {
        for revision in Revision::ALL {
            let client = Client::of(revision).await;
            let list = client.call("resources/list", json!({})).await;
            assert_eq!(list["resources"][0]["uri"], GREETING, "{revision}");
            client.call("resources/read", json!({ "uri": GREETING })).await;
            let missing = client.ask("resources/read", json!({ "uri": "litmus://text/absent" })).await;
            assert_eq!(missing.status, 200);
            let code = if revision.is_stateless() { -32602 } else { -32002 };
            assert_eq!(missing.json().await["error"]["code"], code);
        }
    });
}

#[test]
fn a_request_with_notifications_is_answered_by_events() {
    run(async {
        for revision in Revision::ALL {
            let client = Client::of(revision).await;
            let params = json!({ "uri": SLOW, "_meta": { "progressToken": "p" } });
            let answer = client.ask("resources/read", params).await;
            assert_eq!(answer.status, 200);
            assert_eq!(answer.header("x-accel-buffering"), Some("no"));
            let messages = answer.messages().await;
            assert_eq!(messages.len(), 4, "{revision}: {messages:?}");
            assert!(messages[..3].iter().all(|m| m["method"] == "notifications/progress"));
            assert_eq!(messages[3]["id"], 1);
        }
    });
}

#[test]
fn a_session_is_named_used_and_ended() {
    run(async {
        for revision in STATEFUL {
            let client = Client::of(revision).await;
            let id = client.session.clone().unwrap();
            assert!(id.len() >= 16 && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
            let other = Client::open(&client.site, revision).await;
            assert_ne!(other.session, client.session);
            let ping = message(1, "ping", json!({}));
            let stray = send(&client.site, "POST", "/mcp", &[], &ping.to_string()).await;
            assert_eq!((stray.status, stray.json().await["id"].as_u64()), (400, Some(1)));
            let headers = [("mcp-session-id", "bogus")];
            assert_eq!(send(&client.site, "POST", "/mcp", &headers, &ping.to_string()).await.status, 404);
            assert_eq!(send(&client.site, "GET", "/mcp", &headers, "").await.status, 404);
            assert_eq!(send(&client.site, "DELETE", "/mcp", &headers, "").await.status, 404);
            let mut events = client.get(None).await;
            let headers = [("Mcp-Session-Id", id.as_str())];
            assert_eq!(send(&client.site, "DELETE", "/mcp", &headers, "").await.status, 204);
            assert_eq!(client.post(&ping).await.status, 404);
            assert_eq!(client.get(None).await.status, 404);
            while events.event().await.is_some() {}
            assert_eq!(other.post(&ping).await.status, 200);
        }
    });
}

#[test]
fn a_refused_opening_leaves_no_session() {
    run(async {
        let site = site();
        let refused =
            send(&site, "POST", "/mcp", &[], &message(1, "initialize", json!({})).to_string()).await;
        assert!(refused.header("mcp-session-id").is_none());
        assert_eq!(refused.json().await["error"]["code"], -32602);
    });
}

#[test]
fn the_version_header_of_a_session_is_one_that_is_served() {
    run(async {
        let client = Client::of(Revision::V2025_11_25).await;
        let ping = message(1, "ping", json!({}));
        let id = client.session.as_deref().unwrap();
        for (version, status) in [
            (None, 200),
            (Some("2025-11-25"), 200),
            (Some("2025-06-18"), 200),
            (Some("1999-01-01"), 400),
            (Some(""), 400),
            (Some("2025-11-25, 2025-11-25"), 400),
        ] {
            let mut headers = vec![("mcp-session-id", id)];
            headers.extend(version.map(|version| ("MCP-Protocol-Version", version)));
            let answer = send(&client.site, "POST", "/mcp", &headers, &ping.to_string()).await;
            assert_eq!(answer.status, status, "{version:?}");
        }
    });
}

#[test]
fn what_belongs_to_no_request_comes_on_one_get_stream() {
    run(async {
        for revision in STATEFUL {
            let client = Client::of(revision).await;
            let other = Client::open(&client.site, revision).await;
            client.call("resources/subscribe", json!({ "uri": GREETING })).await;
            // Before anybody listens, it waits.
            other.touch(GREETING).await;
            let mut first = client.get(None).await;
            assert_eq!(first.message().await.unwrap()["params"]["uri"], GREETING);
            let mut second = client.get(None).await;
            other.touch(GREETING).await;
            assert_eq!(second.message().await.unwrap()["method"], UPDATED);
            first.silent().await;
            // When the newer one breaks off, the older one takes over.
            drop(second);
            tokio::task::yield_now().await;
            client.touch(GREETING).await;
            assert_eq!(first.message().await.unwrap()["method"], UPDATED);
            let mut idle = other.get(None).await;
            client.call("tools/call", json!({ "name": "add_resource", "arguments": {} })).await;
            let heard = idle.message().await.unwrap();
            assert_eq!(heard["method"], "notifications/resources/list_changed");
            idle.silent().await;
        }
    });
}

#[test]
fn a_stream_of_a_session_is_taken_up_where_it_broke_off() {
    run(async {
        let client = Client::of(Revision::V2025_11_25).await;
        let params = json!({ "uri": SLOW, "_meta": { "progressToken": "p" } });
        let mut broken = client.ask("resources/read", params.clone()).await;
        let priming = broken.event().await.unwrap();
        assert_eq!(priming.data, "");
        let progress = broken.event().await.unwrap();
        assert_eq!(progress.json()["params"]["progress"], 1);
        drop(broken);
        // Another stream goes on meanwhile; nothing of it is replayed here.
        let other = client.post(&client.request(2, "resources/read", params)).await.messages().await;
        assert_eq!(other.last().unwrap()["id"], 2);
        let resumed = client.get(progress.id.as_deref()).await.messages().await;
        let kinds: Vec<_> = resumed.iter().map(|m| m["params"]["progress"].as_u64()).collect();
        assert_eq!(kinds, [Some(2), Some(3), None]);
        assert_eq!(resumed[2]["id"], 1);
        let all = client.get(priming.id.as_deref()).await.messages().await;
        assert_eq!(all.len(), 4);
    });
}

#[test]
fn event_ids_are_unique_and_priming_is_new() {
    run(async {
        for revision in STATEFUL {
            let client = Client::of(revision).await;
            let mut ids = std::collections::BTreeSet::new();
            for _ in 0..2 {
                let params = json!({ "uri": SLOW, "_meta": { "progressToken": "p" } });
                let mut answer = client.ask("resources/read", params).await;
                let mut first = true;
                while let Some(event) = answer.event().await {
                    let primes = first && revision == Revision::V2025_11_25;
                    assert_eq!(event.data.is_empty(), primes);
                    assert!(ids.insert(event.id.unwrap()));
                    first = false;
                }
            }
        }
    });
}

#[test]
fn a_cancelled_request_ends_without_a_reply() {
    run(async {
        let client = Client::of(Revision::V2025_06_18).await;
        let slow = client.request(7, "resources/read", json!({ "uri": SLOW }));
        let cancel = json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": { "requestId": 7 },
        });
        let (read, cancelled) = tokio::join!(client.post(&slow), async {
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
            client.post(&cancel).await
        });
        assert_eq!(cancelled.status, 202);
        assert!(read.messages().await.is_empty());
    });
}

#[test]
fn batches_are_taken_at_2025_03_26_only() {
    run(async {
        for revision in STATEFUL {
            let client = Client::of(revision).await;
            let batch = json!([
                message(1, "ping", json!({})),
                { "jsonrpc": "2.0", "method": "notifications/x" },
                message(2, "resources/read", json!({ "uri": SLOW })),
            ]);
            let answer = client.post(&batch).await;
            if revision == Revision::V2025_03_26 {
                let replies = answer.json().await;
                assert_eq!((replies[0]["id"].as_u64(), replies[1]["id"].as_u64()), (Some(1), Some(2)));
                let notices = json!([{ "jsonrpc": "2.0", "method": "notifications/x" }]);
                assert_eq!(client.post(&notices).await.status, 202);
            } else {
                assert_eq!(answer.status, 400, "{revision}");
                assert_eq!(answer.json().await["error"]["code"], -32600);
            }
        }
    });
}

#[test]
fn cancelling_one_request_of_a_batch_leaves_the_others() {
    run(async {
        let client = Client::of(Revision::V2025_03_26).await;
        let slow = |id: u64| message(id, "resources/read", json!({ "uri": SLOW }));
        let cancel = |id: u64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        let ping = message(9, "ping", json!({}));
        // Each batch, what is cancelled while it lasts, and what is answered.
        for (batch, cancelled, answered) in [
            (json!([slow(1), slow(2)]), vec![1], vec![2]),
            (json!([slow(1), slow(2)]), vec![2, 1], vec![]),
            (json!([ping, slow(1)]), vec![1], vec![9]),
            (json!([slow(1), cancel(1), slow(2)]), vec![], vec![2]),
            (json!([slow(1), cancel(1), ping]), vec![], vec![9]),
        ] {
            let (answer, ()) = tokio::join!(client.post(&batch), async {
                tokio::time::sleep(std::time::Duration::from_millis(150)).await;
                for id in &cancelled {
                    assert_eq!(client.post(&cancel(*id)).await.status, 202);
                }
            });
            assert_eq!(answer.status, 200);
            let replies = match answered.is_empty() {
                true => json!(answer.messages().await),
                false => answer.json().await,
            };
            let ids: Vec<u64> = replies.as_array().unwrap().iter().filter_map(|r| r["id"].as_u64()).collect();
            assert_eq!(ids, answered, "{batch}");
        }
    });
}

#[test]
fn bodies_that_are_no_message_are_refused() {
    run(async {
        let client = Client::of(Revision::V2025_11_25).await;
        let id = client.session.as_deref().unwrap();
        for headers in [vec![], vec![("mcp-session-id", id)]] {
            for body in ["{\"jsonrpc\":", "", "  ", "\u{feff}{}"] {
                let answer = send(&client.site, "POST", "/mcp", &headers, body).await;
                assert_eq!(answer.status, 400, "{body}");
                assert_eq!(answer.json().await["error"]["code"], -32700, "{body}");
            }
        }
        let odd = client.post(&json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" })).await;
        assert_eq!((odd.status, odd.json().await["error"]["code"].as_i64()), (400, Some(-32600)));
        let response = client.post(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).await;
        assert_eq!((response.status, response.text().await.as_str()), (202, ""));
    });
}

#[test]
fn other_machines_and_pages_are_refused() {
    run(async {
        let site = site();
        let body = message(1, "ping", json!({})).to_string();
        for path in ["/mcp", "/sse", "/messages"] {
            for method in ["POST", "GET", "DELETE"] {
                let evil = [("origin", "http://evil.example")];
                assert_eq!(send(&site, method, path, &evil, &body).await.status, 403, "{method} {path}");
                let evil = [("host", "evil.example")];
                assert_eq!(send(&site, method, path, &evil, &body).await.status, 403, "{method} {path}");
            }
        }
        let client = Client::of(Revision::V2026_07_28).await;
        let ask = client.request(1, "resources/list", json!({}));
        for (origin, status) in [
            ("http://localhost:3000", 200),
            ("https://127.0.0.1", 200),
            ("null", 403),
            ("http://[::1]:1", 200),
        ] {
            let mut headers = client.headers(&ask);
            headers.push(("origin".to_owned(), origin.to_owned()));
            assert_eq!(client.post_with(&ask, headers).await.status, status, "{origin}");
        }
    });
}

#[test]
fn headers_mirror_the_body_of_a_request_without_session() {
    run(async {
        let client = Client::of(Revision::V2026_07_28).await;
        let read = client.request(1, "resources/read", json!({ "uri": GREETING }));
        let base64 = "=?base64?bGl0bXVzOi8vdGV4dC9ncmVldGluZw==?=";
        for (name, value, is_right) in [
            ("mcp-protocol-version", None, false),
            ("mcp-protocol-version", Some("2025-11-25"), false),
            ("MCP-PROTOCOL-VERSION", Some("2026-07-28"), true),
            ("mcp-method", None, false),
            ("mcp-method", Some("resources/list"), false),
            ("Mcp-Method", Some("Resources/Read"), false),
            ("mcp-name", None, false),
            ("mcp-name", Some("litmus://text/empty"), false),
            ("MCP-NAME", Some(GREETING), true),
            ("mcp-name", Some(base64), true),
            ("mcp-name", Some("=?BASE64?bGl0bXVzOi8vdGV4dC9ncmVldGluZw==?="), false),
            ("mcp-name", Some("=?base64?***?="), false),
            ("mcp-session-id", Some("bogus"), true),
            ("last-event-id", Some("1-1"), true),
        ] {
            let mut headers = client.headers(&read);
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
            let answer = client.post_with(&read, headers).await;
            assert!(answer.header("mcp-session-id").is_none());
            let status = answer.status;
            let reply = answer.json().await;
            assert_eq!(status, if is_right { 200 } else { 400 }, "{name}: {value:?}");
            assert_eq!(reply["error"]["code"] == -32020, !is_right, "{name}: {value:?}: {reply}");
        }
        let mut twice = client.headers(&read);
        twice.push(("mcp-name".to_owned(), GREETING.to_owned()));
        assert_eq!(client.post_with(&read, twice).await.status, 400);
    });
}

#[test]
fn errors_of_requests_without_session_have_their_status() {
    run(async {
        let client = Client::of(Revision::V2026_07_28).await;
        let unknown = client.ask("no/such", json!({})).await;
        assert_eq!((unknown.status, unknown.json().await["error"]["code"].as_i64()), (404, Some(-32601)));
        for member in [VERSION, CAPABILITIES] {
            let mut request = client.request(1, "resources/list", json!({}));
            request["params"]["_meta"].as_object_mut().unwrap().remove(member);
            let answer = client.post(&request).await;
            assert_eq!((answer.status, answer.json().await["error"]["code"].as_i64()), (400, Some(-32602)));
        }
        let bare = client.post(&message(1, "resources/list", json!({}))).await;
        assert_eq!((bare.status, bare.json().await["error"]["code"].as_i64()), (400, Some(-32602)));
        let mut request = client.request(1, "resources/list", json!({}));
        request["params"]["_meta"][VERSION] = "1999-01-01".into();
        let headers = vec![
            ("mcp-protocol-version".to_owned(), "1999-01-01".to_owned()),
            ("mcp-method".to_owned(), "resources/list".to_owned()),
        ];
        let answer = client.post_with(&request, headers).await;
        assert_eq!(answer.status, 400);
        let reply = answer.json().await;
        assert_eq!(reply["error"]["code"], -32022);
        assert_eq!(reply["error"]["data"]["supported"], json!(["2026-07-28"]));
        let personal = client.ask("resources/read", json!({ "uri": "litmus://text/personal" })).await;
        assert_eq!((personal.status, personal.json().await["error"]["code"].as_i64()), (400, Some(-32021)));
    });
}

#[test]
fn changes_come_on_the_stream_that_asked_for_them() {
    run(async {
        let client = Client::of(Revision::V2026_07_28).await;
        let filter = json!({ "notifications": { "resourceSubscriptions": [GREETING] } });
        // Two clients that number their requests alike.
        let mut first = client.ask("subscriptions/listen", filter.clone()).await;
        let mut second = client.ask("subscriptions/listen", filter).await;
        assert_eq!(first.header("x-accel-buffering"), Some("no"));
        for stream in [&mut first, &mut second] {
            let ack = stream.message().await.unwrap();
            assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
            assert_eq!(ack["params"]["_meta"][SUBSCRIPTION], 1);
        }
        // A change made in a session is told too.
        let session = Client::open(&client.site, Revision::V2025_11_25).await;
        session.touch(GREETING).await;
        for stream in [&mut first, &mut second] {
            assert_eq!(stream.message().await.unwrap()["method"], UPDATED);
        }
        drop(first);
        client.touch(GREETING).await;
        assert_eq!(second.message().await.unwrap()["method"], UPDATED);
        second.silent().await;
        let event = {
            client.touch(GREETING).await;
            second.event().await.unwrap()
        };
        assert_eq!((event.id, event.name), (None, None));
    });
}

#[test]
fn get_and_delete_belong_to_sessions() {
    run(async {
        let modern = only(&[Revision::V2026_07_28]);
        for method in ["GET", "DELETE", "PUT"] {
            let headers = [("mcp-session-id", "x"), ("last-event-id", "1-1")];
            let answer = send(&modern, method, "/mcp", &headers, "").await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
        }
        let both = site();
        for method in ["GET", "DELETE"] {
            let headers = [("mcp-protocol-version", "2026-07-28")];
            assert_eq!(send(&both, method, "/mcp", &headers, "").await.status, 405);
            assert_eq!(send(&both, method, "/mcp", &[], "").await.status, 400);
        }
        for (variant, allowed) in [("no-get-stream", "POST, DELETE"), ("no-session-ids", "POST")] {
            let variants = vec![variant.parse().unwrap()];
            let site = Site::new(Options { variants, ..Options::default() }, Firings::default());
            let client = Client::open(&site, Revision::V2025_11_25).await;
            let session = client.session.as_deref().map(|id| ("mcp-session-id", id));
            let headers: Vec<(&str, &str)> = session.into_iter().collect();
            let answer = send(&site, "GET", "/mcp", &headers, "").await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{variant}");
        }
    });
}

#[test]
fn a_modern_server_says_so_to_older_clients() {
    run(async {
        let modern = only(&[Revision::V2026_07_28]);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        });
        let body = message(1, "initialize", params).to_string();
        let answer = send(&modern, "POST", "/mcp", &[], &body).await;
        assert_eq!((answer.status, answer.json().await["error"]["code"].as_i64()), (400, Some(-32022)));
        assert_eq!(send(&modern, "GET", "/sse", &[], "").await.status, 404);
        // And an older server does not know the newest.
        let client = Client { site: only(&STATEFUL), revision: Revision::V2026_07_28, session: None };
        assert_eq!(client.ask("server/discover", json!({})).await.status, 400);
    });
}

#[test]
fn notifications_without_session_are_accepted() {
    run(async {
        let client = Client::of(Revision::V2026_07_28).await;
        for method in ["notifications/cancelled", "notifications/unknown"] {
            let answer = client.post(&json!({ "jsonrpc": "2.0", "method": method })).await;
            assert_eq!((answer.status, answer.text().await.as_str()), (202, ""), "{method}");
        }
    });
}

#[test]
fn the_old_transport_has_a_stream_and_a_place_to_post() {
    run(async {
        let site = site();
        let mut stream = send(&site, "GET", "/sse", &[], "").await;
        assert!(stream.is_stream());
        let endpoint = stream.event().await.unwrap();
        assert_eq!(endpoint.name.as_deref(), Some("endpoint"));
        let params = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        });
        let post = async |message: serde_json::Value| {
            let answer = send(&site, "POST", &endpoint.data, &[], &message.to_string()).await;
            assert_eq!((answer.status, answer.text().await.as_str()), (202, ""));
        };
        post(message(0, "initialize", params)).await;
        let opened = stream.event().await.unwrap();
        assert_eq!((opened.name.as_deref(), opened.id), (Some("message"), None));
        let opened: serde_json::Value = serde_json::from_str(&opened.data).unwrap();
        assert_eq!(opened["result"]["protocolVersion"], "2024-11-05");
        post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        post(message(1, "resources/subscribe", json!({ "uri": GREETING }))).await;
        assert_eq!(stream.message().await.unwrap()["id"], 1);
        Client::open(&site, Revision::V2026_07_28).await.touch(GREETING).await;
        assert_eq!(stream.message().await.unwrap()["method"], UPDATED);
        assert_eq!(send(&site, "POST", &endpoint.data, &[], "{").await.status, 400);
        assert_eq!(send(&site, "POST", "/messages?session=x", &[], "{}").await.status, 404);
        assert_eq!(send(&site, "POST", "/sse", &[], "{}").await.status, 405);
        drop(stream);
        tokio::task::yield_now().await;
        let ping = message(2, "ping", json!({})).to_string();
        assert_eq!(send(&site, "POST", &endpoint.data, &[], &ping).await.status, 404);
    });
}

#[test]
fn a_connection_serves_one_request_after_another() {
    run(async {
        let site = site();
        let (mut near, far) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(async move { site.serve(far).await });
        let body = message(1, "ping", json!({})).to_string();
        for _ in 0..3 {
            let request = format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            // In pieces, as networks deliver it.
            for byte in request.bytes() {
                near.write_all(&[byte]).await.unwrap();
            }
            let mut head = vec![0; 4096];
            let count = near.read(&mut head).await.unwrap();
            assert!(
                head[..count].starts_with(b"HTTP/1.1 400"),
                "{}",
                String::from_utf8_lossy(&head[..count])
            );
        }
        near.write_all(b"nonsense\r\n\r\n").await.unwrap();
        let mut rest = Vec::new();
        near.read_to_end(&mut rest).await.unwrap();
        serving.await.unwrap();
    });
}

#[test]
fn a_fault_that_kills_ends_every_connection() {
    run(async {
        let options = Options { fault: Some("read-kills".parse().unwrap()), ..Options::default() };
        let site = Site::new(options, Firings::default());
        let (mut near, far) = tokio::io::duplex(1 << 16);
        let serving = site.clone();
        let idle = tokio::spawn(async move { serving.serve(far).await });
        let client = Client::open(&site, Revision::V2026_07_28).await;
        let read = client.request(1, "resources/read", json!({ "uri": GREETING }));
        let headers = client.headers(&read);
        let headers: Vec<(String, Vec<u8>)> =
            headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
        let read = read.to_string();
        let asking = try_send(&site, "POST", "/mcp", &headers, &read);
        let (died, answer) = tokio::join!(site.died(), asking);
        assert_eq!(died, 101);
        idle.await.unwrap();
        assert_eq!(near.read(&mut [0; 9]).await.unwrap(), 0);
        assert!(answer.is_none(), "it was answered");
    });
}

#[test]
fn it_listens_on_a_port_of_this_machine() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = Site::bind(0).await.unwrap();
        let address = listener.local_addr().unwrap();
        assert!(address.ip().is_loopback());
        let site = site();
        let server = tokio::spawn(async move { site.listen(listener).await });
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let request = format!("GET /nowhere HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        server.abort();
    });
}
