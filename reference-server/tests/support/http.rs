//! An HTTP client in a few lines: a pipe in memory for each request, on paused time.

#![allow(dead_code)] // each test file uses a part of it

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use hyper::client::conn::http1::handshake;
use hyper::{HeaderMap, Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use reference_server::{Firings, Options, Revision, Site};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{CAPABILITIES, VERSION};

pub struct Answer {
    pub status: u16,
    pub version: hyper::Version,
    pub headers: HeaderMap,
    body: Incoming,
    buffer: Vec<u8>,
}

/// One event, as it was sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    pub name: Option<String>,
    pub id: Option<String>,
    pub data: String,
}

impl Event {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

/// Sends one request on a connection of its own.
pub async fn send(site: &Site, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let headers: Vec<(String, Vec<u8>)> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
    try_send(site, method, path, &headers, body).await.expect("an answer in time")
}

/// As [`send`]; none if there is no answer within a minute.
pub async fn try_send(
    site: &Site,
    method: &str,
    path: &str,
    headers: &[(String, Vec<u8>)],
    body: &str,
) -> Option<Answer> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let serving = site.clone();
    tokio::spawn(async move { serving.serve(far).await });
    let (mut sender, connection) = handshake(TokioIo::new(near)).await.ok()?;
    tokio::spawn(async move { _ = connection.await });
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| name == "host") {
        request = request.header("host", "127.0.0.1");
    }
    for (name, value) in headers {
        request = request.header(name, value.as_slice());
    }
    let request = request.body(Body::from(body.to_owned())).ok()?;
    let sent = timeout(Duration::from_secs(60), sender.send_request(request)).await.ok()?.ok()?;
    let (parts, body) = Response::into_parts(sent);
    let (status, version) = (parts.status.as_u16(), parts.version);
    Some(Answer { status, version, headers: parts.headers, body, buffer: Vec::new() })
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let frame = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context));
        let frame = timeout(Duration::from_secs(60), frame).await.expect("more within a minute")?;
        Some(frame.unwrap().into_data().unwrap().to_vec())
    }

    /// Nothing more comes within a minute, and the stream does not end.
    pub async fn silent(&mut self) {
        let frame = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context));
        let heard = timeout(Duration::from_secs(60), frame).await;
        assert!(heard.is_err(), "{heard:?}");
    }

    /// The rest of the body.
    pub async fn text(mut self) -> String {
        while let Some(chunk) = self.chunk().await {
            self.buffer.extend(chunk);
        }
        String::from_utf8(self.buffer).unwrap()
    }

    /// What comes until the body ends or breaks off, or nothing has come for so long.
    pub async fn patient_text(mut self, patience: Duration) -> String {
        loop {
            match timeout(patience, poll_fn(|context| Pin::new(&mut self.body).poll_frame(context))).await {
                Ok(Some(Ok(frame))) => self.buffer.extend(frame.into_data().unwrap()),
                Ok(Some(Err(_)) | None) => break,
                Err(_) => {
                    self.buffer.extend(b"[still open]");
                    break;
                }
            }
        }
        String::from_utf8_lossy(&self.buffer).into_owned()
    }

    /// The next event, if it comes in time.
    pub async fn patient_event(&mut self, patience: Duration) -> Option<Event> {
        timeout(patience, self.event()).await.ok()?
    }

    /// The message of a body that holds one.
    pub async fn json(self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{}", self.status);
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// The next event; none at the end.
    pub async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let text: Vec<u8> = self.buffer.drain(..end + 2).collect();
                let mut event = Event::default();
                for line in String::from_utf8(text).unwrap().lines().filter(|line| !line.is_empty()) {
                    match line.split_once(": ").unwrap_or((line.trim_end_matches(':'), "")) {
                        ("event", name) => event.name = Some(name.to_owned()),
                        ("id", id) => event.id = Some(id.to_owned()),
                        ("data", data) => event.data.push_str(data),
                        _ => {}
                    }
                }
                return Some(event);
            }
            let chunk = self.chunk().await?;
            self.buffer.extend(chunk);
        }
    }

    /// The next message of a stream.
    pub async fn message(&mut self) -> Option<Value> {
        assert!(self.is_stream(), "{} {:?}", self.status, self.headers);
        loop {
            let event = self.event().await?;
            if !event.data.is_empty() {
                return Some(event.json());
            }
        }
    }

    /// All messages until the stream ends.
    pub async fn messages(mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.message().await {
            messages.push(message);
        }
        messages
    }
}

/// A client of one revision, with the headers that this one wants.
pub struct Client {
    pub site: Site,
    pub revision: Revision,
    pub session: Option<String>,
}

impl Client {
    pub async fn open(site: &Site, revision: Revision) -> Self {
        let mut client = Self { site: site.clone(), revision, session: None };
        if !revision.is_stateless() {
            let params = json!({
                "protocolVersion": revision.name(),
                "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" },
            });
            let answer = client.post(&message(0, "initialize", params)).await;
            client.session = answer.header("mcp-session-id").map(str::to_owned);
            let result = answer.json().await;
            assert_eq!(result["result"]["protocolVersion"], revision.name());
            let ready =
                client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            assert_eq!((ready.status, ready.text().await.as_str()), (202, ""));
        }
        client
    }

    pub async fn of(revision: Revision) -> Self {
        Self::open(&Site::new(Options::default(), Firings::default()), revision).await
    }

    pub async fn get(&self, last: Option<&str>) -> Answer {
        let mut headers = vec![("mcp-session-id", self.session.as_deref().unwrap())];
        headers.extend(last.map(|id| ("last-event-id", id)));
        send(&self.site, "GET", "/mcp", &headers, "").await
    }

    /// The headers that go with a message.
    pub fn headers(&self, message: &Value) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        if let Some(session) = &self.session {
            add("mcp-session-id", session);
            if self.revision >= Revision::V2025_06_18 {
                add("mcp-protocol-version", self.revision.name());
            }
        }
        if self.revision.is_stateless() {
            add("mcp-protocol-version", self.revision.name());
            add("mcp-method", message["method"].as_str().unwrap());
            for source in ["uri", "name"] {
                if let Some(name) = message["params"][source].as_str() {
                    add("mcp-name", name);
                }
            }
        }
        headers
    }

    pub async fn post(&self, message: &Value) -> Answer {
        let headers = self.headers(message);
        self.post_with(message, headers).await
    }

    pub async fn post_with(&self, message: &Value, headers: Vec<(String, String)>) -> Answer {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        send(&self.site, "POST", "/mcp", &headers, &message.to_string()).await
    }

    /// A request of this revision.
    pub fn request(&self, id: u64, method: &str, mut params: Value) -> Value {
        if self.revision.is_stateless() {
            params["_meta"][VERSION] = self.revision.name().into();
            params["_meta"][CAPABILITIES] = json!({});
        }
        message(id, method, params)
    }

    pub async fn ask(&self, method: &str, params: Value) -> Answer {
        self.post(&self.request(1, method, params)).await
    }

    pub async fn call(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert_eq!(answer.status, 200, "{method}");
        let reply = answer.json().await;
        assert!(reply["result"].is_object(), "{method}: {reply}");
        reply["result"].clone()
    }

    pub async fn touch(&self, uri: &str) {
        self.call("tools/call", json!({ "name": "touch_resource", "arguments": { "uri": uri } })).await;
    }
}

pub fn message(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
