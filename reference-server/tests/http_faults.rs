//! That each fault and each variant of HTTP does something, and that the server survives them all.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests too

#[path = "support/http.rs"]
mod http;
mod support;

use std::fmt::Write as _;
use std::time::Duration;

use http::{message, try_send};
use reference_server::{Fault, Firings, Options, Revision, Site, Transport, Variant};
use serde_json::{Value, json};
use support::{CAPABILITIES, VERSION, run};
use tokio::time::sleep;

const GREETING: &str = "litmus://text/greeting";
const SLOW: &str = "litmus://text/slow";

/// A client that tries everything, and writes down what it hears.
struct Tourist {
    site: Site,
    revision: Revision,
    session: Option<String>,
    issued: Vec<String>,
    heard: String,
}

impl Tourist {
    fn note(&mut self, what: &str, answer: Option<&http::Answer>) {
        let Some(answer) = answer else {
            _ = writeln!(self.heard, "{what}: nothing");
            return;
        };
        let mut headers: Vec<String> = answer
            .headers
            .iter()
            .filter(|(name, _)| *name != "date")
            .map(|(name, value)| format!("{name}={value:?}"))
            .collect();
        headers.sort();
        _ = writeln!(self.heard, "{what}: {} {:?} {}", answer.status, answer.version, headers.join(" "));
    }

    fn headers(&self, message: &Value) -> Vec<(String, Vec<u8>)> {
        let mut headers = vec![
            ("accept".to_owned(), b"application/json, text/event-stream".to_vec()),
            ("content-type".to_owned(), b"application/json".to_vec()),
        ];
        if let Some(session) = &self.session {
            headers.push(("mcp-session-id".to_owned(), session.as_bytes().to_vec()));
        }
        if self.revision.is_stateless() || self.session.is_some() {
            headers.push(("mcp-protocol-version".to_owned(), self.revision.name().into()));
        }
        if self.revision.is_stateless() {
            headers.push(("mcp-method".to_owned(), message["method"].as_str().unwrap_or("").into()));
            for source in ["uri", "name"] {
                if let Some(name) = message["params"][source].as_str() {
                    headers.push(("mcp-name".to_owned(), name.into()));
                }
            }
        }
        headers
    }

    async fn post(&mut self, message: &Value, change: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) {
        let mut headers = self.headers(message);
        change(&mut headers);
        self.say("POST", "/mcp", headers, &message.to_string()).await;
    }

    /// Sends, and reads what comes within some seconds; the session id that came, if any.
    async fn say(&mut self, method: &str, path: &str, headers: Vec<(String, Vec<u8>)>, body: &str) {
        let answer = try_send(&self.site, method, path, &headers, body).await;
        self.note(&format!("{method} {path} {body}"), answer.as_ref());
        if let Some(answer) = answer {
            if let Some(id) = answer.headers.get("mcp-session-id") {
                let id = String::from_utf8_lossy(id.as_bytes()).into_owned();
                if self.issued.contains(&id) {
                    _ = writeln!(self.heard, "the same session again");
                }
                self.issued.push(id.clone());
                if self.session.is_none() && !self.revision.is_stateless() {
                    self.session = Some(id);
                }
            }
            let text = answer.patient_text(Duration::from_secs(3)).await;
            _ = writeln!(self.heard, "{text}");
        }
    }

    fn request(&self, id: u64, method: &str, mut params: Value) -> Value {
        if self.revision.is_stateless() {
            params["_meta"][VERSION] = self.revision.name().into();
            params["_meta"][CAPABILITIES] = json!({});
        }
        message(id, method, params)
    }

    async fn ask(&mut self, method: &str, params: Value) {
        let request = self.request(1, method, params);
        self.post(&request, |_| {}).await;
    }

    /// Listens in the background, and writes down what came when it is awaited.
    fn listen(&self, path: &str, last: Option<&str>) -> tokio::task::JoinHandle<String> {
        let site = self.site.clone();
        let mut headers = self.headers(&Value::Null);
        headers.retain(|(name, _)| name != "mcp-method");
        headers.extend(last.map(|id| ("last-event-id".to_owned(), id.into())));
        let path = path.to_owned();
        tokio::spawn(async move {
            let Some(answer) = try_send(&site, "GET", &path, &headers, "").await else {
                return "nothing".to_owned();
            };
            let head = format!("{} {:?}\n", answer.status, answer.headers.get("content-type"));
            head + &answer.patient_text(Duration::from_secs(30)).await
        })
    }
}

/// What a client hears that speaks one revision and tries everything.
async fn tour(site: Site, revision: Revision) -> String {
    let mut t = Tourist { site, revision, session: None, issued: Vec::new(), heard: String::new() };
    let stateless = revision.is_stateless();
    let opening = json!({
        "protocolVersion": revision.name(),
        "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" },
    });
    if !stateless {
        t.post(&message(0, "initialize", opening.clone()), |_| {}).await;
        t.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), |_| {}).await;
        let mine = t.session.take();
        t.post(&message(0, "initialize", opening), |_| {}).await;
        t.session = mine;
    }
    let first = t.listen("/mcp", None);
    sleep(Duration::from_millis(1)).await;
    let second = t.listen("/mcp", None);
    sleep(Duration::from_millis(1)).await;
    let slow = json!({ "uri": SLOW, "_meta": { "progressToken": "p" } });
    t.ask("resources/list", json!({})).await;
    t.ask("resources/read", slow.clone()).await;
    t.ask("resources/read", slow.clone()).await;
    t.ask("resources/read", json!({ "uri": "litmus://text/absent" })).await;
    t.ask("resources/read", json!({ "uri": "litmus://text/personal" })).await;
    t.ask("resources/subscribe", json!({ "uri": GREETING })).await;
    // Two at once, and a change while they last.
    let busy = t.request(9, "resources/read", slow.clone());
    let (site, headers) = (t.site.clone(), t.headers(&busy));
    let busy = tokio::spawn(async move {
        let answer = try_send(&site, "POST", "/mcp", &headers, &busy.to_string()).await;
        match answer {
            Some(answer) => answer.patient_text(Duration::from_secs(3)).await,
            None => "nothing".to_owned(),
        }
    });
    sleep(Duration::from_millis(50)).await;
    for id in [1, 2] {
        let filter = json!({ "notifications": { "resourceSubscriptions": [GREETING] } });
        let listen = t.request(id, "subscriptions/listen", filter);
        t.post(&listen, |_| {}).await;
    }
    t.ask("tools/call", json!({ "name": "touch_resource", "arguments": { "uri": GREETING } })).await;
    t.ask("resources/read", slow).await;
    t.heard.push_str(&busy.await.unwrap());
    // Odd requests.
    t.ask("no/such", json!({})).await;
    let mut bare = t.request(1, "resources/list", json!({}));
    bare["params"] = json!({ "_meta": { VERSION: revision.name() } });
    t.post(&bare, |_| {}).await;
    let mut old = t.request(1, "resources/list", json!({ "_meta": {} }));
    old["params"]["_meta"][VERSION] = "1999-01-01".into();
    let bad_version = |headers: &mut Vec<(String, Vec<u8>)>| {
        headers.retain(|(name, _)| name != "mcp-protocol-version");
        headers.push(("mcp-protocol-version".to_owned(), b"1999-01-01".to_vec()));
    };
    t.post(&old, bad_version).await;
    let read = t.request(1, "resources/read", json!({ "uri": GREETING }));
    let beyond = t.request(1, "resources/read", json!({ "uri": "litmus://notes/é" }));
    for (message, name, value) in [
        (&read, "mcp-protocol-version", None),
        (&read, "mcp-protocol-version", Some("2025-11-25")),
        (&read, "mcp-protocol-version", Some("1999-01-01")),
        (&read, "mcp-method", None),
        (&read, "mcp-method", Some("resources/list")),
        (&read, "mcp-method", Some("Resources/Read")),
        (&read, "mcp-name", None),
        (&read, "mcp-name", Some("litmus://text/empty")),
        (&read, "mcp-name", Some("=?base64?bGl0bXVzOi8vdGV4dC9ncmVldGluZw==?=")),
        (&read, "mcp-name", Some("=?BASE64?bGl0bXVzOi8vdGV4dC9ncmVldGluZw==?=")),
        (&read, "mcp-name", Some("=?base64?***?=")),
        (&beyond, "mcp-name", Some("=?base64?bGl0bXVzOi8vbm90ZXMvw6k=?=")),
        (&read, "last-event-id", Some("1-0")),
        (&read, "origin", Some("http://evil.example")),
        (&read, "host", Some("evil.example")),
        (&read, "accept", Some("text/html")),
        (&read, "content-type", Some("text/plain")),
    ] {
        t.post(message, |headers| {
            headers.retain(|(known, _)| known != name);
            headers.extend(value.map(|value| (name.to_owned(), value.into())));
        })
        .await;
    }
    let evil = vec![("origin".to_owned(), b"http://evil.example".to_vec())];
    t.say("GET", "/mcp", evil, "").await;
    for body in ["{", "[]"] {
        let headers = t.headers(&Value::Null);
        t.say("POST", "/mcp", headers, body).await;
    }
    for method in ["GET", "DELETE"] {
        t.say(method, "/mcp", Vec::new(), "").await;
        t.say(method, "/mcp", vec![("mcp-protocol-version".to_owned(), b"2026-07-28".to_vec())], "").await;
    }
    let ping = t.request(1, "ping", json!({}));
    for id in [None, Some("made-up")] {
        for message in [&ping, &json!({ "jsonrpc": "2.0", "method": "notifications/x" })] {
            t.post(message, |headers| {
                headers.retain(|(known, _)| known != "mcp-session-id");
                headers.extend(id.map(|id| ("mcp-session-id".to_owned(), id.into())));
            })
            .await;
        }
    }
    // A stream that is left and taken up again.
    let numbers: Vec<String> =
        t.heard.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect();
    if let Some(id) = numbers.get(1) {
        let again = t.listen("/mcp", Some(id)).await.unwrap();
        t.heard.push_str(&again);
    }
    capitals(&t.site, &mut t.heard).await;
    // The old transport.
    let stream = t.listen("/sse", None);
    sleep(Duration::from_millis(1)).await;
    // Where to post is on that stream, which nobody has read yet: another one tells of it.
    let other = try_send(&t.site, "GET", "/sse", &[], "").await;
    if let Some(mut other) = other {
        let endpoint = other.patient_event(Duration::from_secs(1)).await.map(|event| event.data);
        let path =
            endpoint.filter(|data| data.starts_with('/')).unwrap_or_else(|| "/messages?session=x".into());
        let body = message(
            0,
            "initialize",
            json!({
                "protocolVersion": "2024-11-05",
                "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" },
            }),
        );
        t.say("POST", &path, Vec::new(), &body.to_string()).await;
        let text = other.patient_text(Duration::from_secs(3)).await;
        t.heard.push_str(&text);
    }
    // The end.
    let headers = t.headers(&Value::Null);
    t.say("DELETE", "/mcp", headers, "").await;
    t.post(&ping, |_| {}).await;
    for stream in [first, second, stream] {
        let text = stream.await.unwrap();
        t.heard.push_str(&text);
    }
    masked(&t.heard)
}

/// The text without the ids of sessions, which differ from run to run.
fn masked(text: &str) -> String {
    let is_id = |word: &str| word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split_inclusive(|char: char| !char.is_ascii_alphanumeric());
    words
        .map(|word| {
            let bare = word.trim_end_matches(|char: char| !char.is_ascii_alphanumeric());
            if is_id(bare) { word.replace(bare, "ID") } else { word.to_owned() }
        })
        .collect()
}

/// A request whose headers are all in capitals, which the usual client cannot write.
async fn capitals(site: &Site, heard: &mut String) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let serving = site.clone();
    tokio::spawn(async move { serving.serve(far).await });
    let body = message(
        1,
        "resources/read",
        json!({ "uri": GREETING, "_meta": { VERSION: "2026-07-28", CAPABILITIES: {} } }),
    )
    .to_string();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nMCP-PROTOCOL-VERSION: 2026-07-28\r\nMCP-METHOD: resources/read\r\n\
                Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let head = format!("{head}MCP-NAME: {GREETING}\r\nContent-Length: {}\r\n\r\n", body.len());
    near.write_all((head + &body).as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    _ = tokio::time::timeout(Duration::from_secs(5), near.read_to_end(&mut answer)).await;
    let text = String::from_utf8_lossy(&answer).into_owned();
    heard.extend(text.lines().filter(|line| !line.starts_with("date:")));
}

/// The servers that the tour is taken on: of one revision, and of all.
fn servers() -> impl Iterator<Item = (Vec<Revision>, Revision)> {
    let alone = [Revision::V2026_07_28, Revision::V2025_11_25, Revision::V2025_06_18];
    let one_of_all = [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2026_07_28];
    let alone = alone.map(|revision| (vec![revision], revision));
    alone.into_iter().chain(one_of_all.map(|revision| (Revision::ALL.to_vec(), revision)))
}

#[test]
fn each_fault_of_http_fires_and_none_panics() {
    let mut idle = Vec::new();
    for fault in Fault::ALL.iter().filter(|fault| fault.transports() == [Transport::Http]) {
        let firings = Firings::default();
        for (revisions, revision) in servers() {
            let options = Options { revisions, fault: Some(*fault), ..Options::default() };
            run(async { _ = tour(Site::new(options, firings.clone()), revision).await });
        }
        if firings.count() == 0 {
            idle.push(fault.name());
        }
    }
    assert!(idle.is_empty(), "never fired: {idle:?}");
}

#[test]
fn each_fault_and_variant_of_http_can_be_seen() {
    let heard = |fault: Option<Fault>, variant: Option<Variant>| -> Vec<String> {
        let take = |(revisions, revision)| {
            let variants = variant.into_iter().collect();
            let options = Options { revisions, fault, variants, ..Options::default() };
            let mut heard = String::new();
            run(async { heard = tour(Site::new(options, Firings::default()), revision).await });
            heard
        };
        servers().map(take).collect()
    };
    let plain = heard(None, None);
    assert!(plain == heard(None, None), "the tour is not the same each time");
    let mut idle = Vec::new();
    for fault in Fault::ALL.iter().filter(|fault| fault.transports() == [Transport::Http]) {
        if heard(Some(*fault), None) == plain {
            idle.push(fault.name());
        }
    }
    for variant in Variant::ALL.iter().filter(|variant| variant.transports() == [Transport::Http]) {
        if heard(None, Some(*variant)) == plain {
            idle.push(variant.name());
        }
    }
    // The tour takes bytes as they come, reads names of headers in any case, and leaves nothing half read.
    let unseen = [
        "events-byte-by-byte",
        "leaving-cancels-in-session",
        "leaving-unnoticed",
        "session-header-in-capitals",
    ];
    idle.sort_unstable();
    assert_eq!(idle, unseen, "those that make no difference");
}
