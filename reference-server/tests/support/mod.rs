//! A client in a few lines: a pipe to a server in this process, on paused time.

#![allow(dead_code)] // each test file uses a part of it

use std::cell::Cell;
use std::future::Future;
use std::sync::Once;
use std::time::Duration;

use reference_server::{Ending, Firings, Options, Revision, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

pub struct Client {
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub output: Option<WriteHalf<DuplexStream>>,
    server: JoinHandle<Ending>,
    revision: Revision,
    pub firings: Firings,
    id: u64,
}

thread_local! {
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// Counts panics by thread: one in a task of the server would end that task only, and be seen by nobody.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            usual(panic);
        }));
    });
    PANICS.set(0);
}

/// Runs a conversation on paused time, in one thread, in which nothing may panic.
pub fn run(conversation: impl Future<Output = ()>) {
    count_panics();
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(conversation);
    assert_eq!(PANICS.get(), 0, "the server panicked");
}

impl Client {
    /// Starts a server and says nothing yet.
    pub fn start(options: Options, revision: Revision) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (input, output) = split(far);
        let firings = Firings::default();
        let server = tokio::spawn(serve(input, output, options, firings.clone()));
        let (input, output) = split(near);
        let input = BufReader::new(input).lines();
        Self { input, output: Some(output), server, revision, firings, id: 0 }
    }

    /// Starts a server of all revisions and opens the conversation.
    pub async fn open(revision: Revision) -> Self {
        let mut client = Self::start(Options::default(), revision);
        client.greet().await;
        client
    }

    pub async fn greet(&mut self) {
        if !self.revision.is_stateless() {
            let params = json!({
                "protocolVersion": self.revision.name(),
                "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" },
            });
            let result = self.call("initialize", params).await;
            assert_eq!(result["protocolVersion"], self.revision.name());
            self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        }
    }

    pub async fn send(&mut self, text: &str) {
        let output = self.output.as_mut().unwrap();
        output.write_all(format!("{text}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request and returns its id.
    pub async fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.id += 1;
        if self.revision.is_stateless() {
            params["_meta"][VERSION] = self.revision.name().into();
            if params["_meta"].get(CAPABILITIES).is_none() {
                params["_meta"][CAPABILITIES] = json!({});
            }
        }
        let request = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.send(&request.to_string()).await;
        self.id
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        let line = timeout(Duration::from_secs(60), self.input.next_line()).await.expect("in time").unwrap();
        serde_json::from_str(&line.expect("the server still speaks")).unwrap()
    }

    /// The next message is the reply to a request of ours.
    pub async fn reply(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let reply = self.next().await;
        assert_eq!(reply["id"], id, "{method}: {reply}");
        reply
    }

    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let reply = self.reply(method, params).await;
        assert!(reply["result"].is_object(), "{method}: {reply}");
        assert_eq!(reply["result"].get("resultType").is_some(), self.revision.is_stateless());
        reply["result"].clone()
    }

    pub async fn refused(&mut self, method: &str, params: Value) -> i64 {
        let reply = self.reply(method, params).await;
        reply["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} was not refused: {reply}"))
    }

    /// Nothing more comes within a minute.
    pub async fn silent(&mut self) {
        let heard = timeout(Duration::from_secs(60), self.input.next_line()).await;
        assert!(heard.is_err(), "{heard:?}");
    }

    /// All items of a list, page by page.
    pub async fn walk(&mut self, method: &str, member: &str) -> Vec<Value> {
        let (mut items, mut params, mut pages) = (Vec::new(), json!({}), 0);
        loop {
            let result = self.call(method, params).await;
            items.extend_from_slice(result[member].as_array().unwrap());
            pages += 1;
            match result.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert!(pages >= 2);
        items
    }

    /// Closes our end; how the server ended, and what it still said.
    pub async fn close(mut self) -> (Ending, Vec<Value>) {
        // Dropping one half of a split pipe does not close it; shutting it down does.
        self.output.take().unwrap().shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Ok(Some(line)) = self.input.next_line().await {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        (self.server.await.unwrap(), rest)
    }
}
