//! An HTTP server in the test's own process, whose every exchange is what a closure makes of the request.

use mcp_litmus::peer::Launcher;
use mcp_litmus::peer::http::memory::MemoryHttpLauncher;
use mcp_litmus::transcript::Exit;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::Notify;
use tokio::time::Instant;

/// A request as the server got it.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET /mcp`.
    pub line: String,
    pub headers: HashMap<String, String>,
    pub body: Value,
    /// Since the server began.
    pub at: Duration,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The response to it, as a message.
    pub fn result(&self) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, self.body["id"])
    }
}

/// What a server does next in an exchange. After the last it closes the connection.
pub enum Act {
    Say(Vec<u8>),
    Wait(u64),
    /// Neither says nor closes anything any more.
    Hang,
    /// Its process ends.
    Exit,
}

pub fn say(text: impl Into<Vec<u8>>) -> Act {
    Act::Say(text.into())
}

/// A whole response.
pub fn response(status: u16, kind: &str, body: &str) -> Act {
    let length = body.len();
    say(format!("HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"))
}

pub fn json(body: &str) -> Act {
    response(200, "application/json", body)
}

pub fn accepted() -> Act {
    say("HTTP/1.1 202 x\r\ncontent-length: 0\r\n\r\n")
}

/// Begins a stream of events, which is whole when the connection closes.
pub fn events(text: &str) -> Act {
    say(format!("HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\n\r\n{text}"))
}

/// Begins a stream of events that is never whole.
pub fn broken_events(text: &str) -> Act {
    let head = "HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
    say(format!("{head}\r\n\r\n{:x}\r\n{text}\r\n", text.len()))
}

/// Servers that are started by a launcher, and what they were asked.
#[derive(Clone)]
pub struct Servers {
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Servers {
    /// Each exchange goes as `answer` has it; it is given the request, and those before it.
    pub fn new(
        answer: impl Fn(&Request, &[Request]) -> Vec<Act> + Send + Sync + 'static,
    ) -> (Self, impl Launcher + 'static) {
        let servers = Self { requests: Arc::default() };
        let (known, answer) = (servers.clone(), Arc::new(answer));
        let launcher = MemoryHttpLauncher::new("/mcp", move || {
            let began = Instant::now();
            let ended = Arc::new(Notify::new());
            let (requests, answer, exit) = (known.requests.clone(), answer.clone(), ended.clone());
            let accept = move |stream| {
                let (requests, answer, exit) = (requests.clone(), answer.clone(), exit.clone());
                tokio::spawn(serve(stream, began, exit, move |request: Request| {
                    let mut requests = requests.lock().unwrap();
                    let acts = answer(&request, &requests);
                    requests.push(request);
                    acts
                }));
            };
            let exit = async move {
                ended.notified().await;
                Exit { status: Some(1), signal: None, by_us: false }
            };
            (Box::new(accept) as Box<dyn Fn(DuplexStream) + Send + Sync>, exit)
        });
        (servers, launcher)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The GETs: when each came, and behind which event.
    pub fn gets(&self) -> Vec<(u128, Option<String>)> {
        let requests = self.requests().into_iter().filter(|request| request.line.starts_with("GET "));
        requests
            .map(|request| (request.at.as_millis(), request.header("last-event-id").map(str::to_owned)))
            .collect()
    }
}

async fn serve(
    mut stream: DuplexStream,
    began: Instant,
    exit: Arc<Notify>,
    answer: impl FnOnce(Request) -> Vec<Act>,
) {
    let Some(request) = read(&mut stream, began).await else { return };
    for act in answer(request) {
        match act {
            Act::Say(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Wait(milliseconds) => tokio::time::sleep(Duration::from_millis(milliseconds)).await,
            Act::Hang => std::future::pending().await,
            Act::Exit => exit.notify_one(),
        }
    }
}

async fn read(stream: &mut DuplexStream, began: Instant) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let line = lines.next().unwrap().strip_suffix(" HTTP/1.1").unwrap().to_owned();
    let headers: HashMap<String, String> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or_default();
    Some(Request { line, headers, body, at: began.elapsed() })
}
