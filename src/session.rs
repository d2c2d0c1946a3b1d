//! What has been said in this conversation, and what is still owed? Ids, the inbox, and the driver's duties.
//!
//! A session speaks over one peer. It records every frame, answers the server's pings and declines its other
//! requests (`driver_obligations` DRV-07, DRV-08), and matches answers by id and type, never by order. It judges
//! nothing. What is known so far is in `state`; the task that reads is in `pump`.

use crate::dialect::Dialect;
use crate::peer::{Outgoing, Peer, Server};
use crate::record::Transport;
use crate::time_limits;
use crate::transcript::{Channel, Ending, Exit, Head, Transcript};
use crate::wire::{self, Id, Json, Limits, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

mod endpoint;
pub mod exchanges;
mod http;
mod pump;
mod state;

use exchanges::Exchanges;
pub use exchanges::{Refusal, Wanted};
use pump::Pump;
use state::Shared;
pub use state::{Arrival, State};

/// What a session may cost.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of one line of the server's.
    pub line: usize,
    /// Bytes kept of a conversation, all channels together; beyond, the server is killed.
    pub kept: usize,
    /// For the answer to an ordinary request.
    pub request: Duration,
    /// From the start of a process to its first answer.
    pub start: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { line: 64 << 20, kept: 256 << 20, request: time_limits::REQUEST, start: time_limits::START }
    }
}

/// One conversation with one server.
pub struct Session {
    pub dialect: Dialect,
    pub bounds: Bounds,
    shared: Arc<Shared>,
    /// The server, where it takes further clients, until the last of them has gone.
    pub server: Option<Weak<dyn Server>>,
    input: mpsc::Sender<Outgoing>,
    pump: PumpTask,
}

/// The pump, which ends with its session: a session dropped unfinished ends its server at once.
struct PumpTask(tokio::task::JoinHandle<()>);

impl Drop for PumpTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A request of ours, sent.
#[derive(Debug, Clone)]
pub struct Ticket {
    pub id: Id,
    pub method: String,
    /// Its entry in the transcript.
    pub sequence: u64,
}

/// What became of a request.
#[derive(Debug, Clone)]
pub enum Reply {
    Result {
        result: Json,
        sequence: u64,
    },
    Error {
        error: Json,
        sequence: u64,
    },
    /// The server runs, and did not answer within this time.
    Silence(Duration),
    /// HTTP's own answer, with no message in it.
    Refused(Refusal),
    /// Nothing more can come.
    Gone(Gone),
}

/// Why nothing more can come from a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Gone {
    Exited(Exit),
    OutputClosed,
    InputStuck,
    /// It wrote more than is kept of a conversation.
    Flooded(Flood),
    /// Nobody listens where the server was.
    Unreachable(String),
    /// It wrote so many lines, and not one of them is a message.
    Babbling(usize),
}

/// What there was too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flood {
    /// Bytes beyond this limit.
    Bytes(usize),
    /// So many bytes in one line that has not ended.
    Line(u64),
    /// Lines or messages beyond this limit.
    Frames(usize),
}

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(exit) => write!(f, "the server {exit}"),
            Self::OutputClosed => f.write_str("the server closed its output"),
            Self::Unreachable(reason) => write!(f, "the server can no longer be reached ({reason})"),
            Self::InputStuck => f.write_str("the server does not read its input"),
            Self::Flooded(Flood::Bytes(limit)) => {
                write!(f, "the server wrote more than the {limit} bytes that are kept of a conversation")
            }
            Self::Flooded(Flood::Line(length)) => {
                write!(
                    f,
                    "the server wrote no newline within {length} bytes, which is all that is kept of a conversation"
                )
            }
            Self::Flooded(Flood::Frames(limit)) => {
                write!(f, "the server wrote more than the {limit} lines that are kept of a conversation")
            }
            Self::Babbling(lines) => {
                write!(f, "the server wrote {lines} lines and no message")
            }
        }
    }
}

impl Session {
    /// Begins a conversation; nothing is sent.
    pub fn begin(peer: Peer, head: Head, dialect: Dialect, bounds: Bounds) -> Self {
        let state = State {
            transcript: Transcript::new(head),
            inbox: Vec::new(),
            exit: None,
            output_ended: false,
            input_broken: None,
            http: peer.endpoint.clone().map(Exchanges::new),
            unreachable: None,
            flooded: None,
            ended: false,
            set_up: false,
            began: Instant::now(),
            kept: 0,
            frames: 0,
            stderr: 0,
            next_id: 1,
            case: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Notify::new() });
        let Peer { input, output, server, .. } = peer;
        let pump = Pump {
            shared: shared.clone(),
            input: input.clone(),
            output,
            splitter: wire::LineSplitter::new(bounds.line),
            limits: Limits { length: bounds.line, ..Limits::default() },
            dialect,
            kept: bounds.kept,
            replies: VecDeque::new(),
            returning: JoinSet::new(),
        };
        let pump = PumpTask(tokio::spawn(pump.run()));
        Self { dialect, bounds, shared, server, input, pump }
    }

    pub fn transport(&self) -> Transport {
        self.state().transcript.head.transport
    }

    /// Looks at the conversation. Hold it briefly: the pump waits meanwhile.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    /// On whose behalf the coming frames are sent.
    pub fn attribute(&self, case: Option<&str>) {
        self.state().case = case.map(Arc::from);
    }

    /// Waits until `look` finds something, or until the time is over.
    pub async fn wait<T>(&self, limit: Duration, mut look: impl FnMut(&State) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + limit;
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = look(&self.state()) {
                return Some(found);
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return look(&self.state());
            }
        }
    }

    /// An id that this conversation has not used yet (DRV-04, DRV-05).
    pub fn fresh_id(&self) -> Id {
        let mut state = self.state();
        let id = state.next_id;
        state.next_id += 1;
        Id::from(id)
    }

    /// Writes exactly these bytes. `frames` are what is recorded: the lines without their ending.
    pub async fn write(&self, bytes: Vec<u8>, frames: &[&[u8]], deliberate: bool) -> Result<u64, Gone> {
        let mut sequence = 0;
        if self.is_http() {
            for frame in frames {
                sequence = self.post(frame, deliberate).await?;
            }
            return Ok(sequence);
        }
        {
            let mut state = self.state();
            if let Some(gone) = state.gone_for_writing() {
                return Err(gone);
            }
            for frame in frames {
                sequence = state.record_sent(frame, deliberate);
            }
        }
        self.hand_over(Outgoing::Bytes(bytes)).await?;
        Ok(sequence)
    }

    /// Writes a piece of a frame that was recorded already.
    pub async fn write_piece(&self, bytes: Vec<u8>) -> Result<(), Gone> {
        self.hand_over(Outgoing::Bytes(bytes)).await
    }

    async fn hand_over(&self, outgoing: Outgoing) -> Result<(), Gone> {
        match tokio::time::timeout(self.bounds.request, self.input.send(outgoing)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(self.state().gone().unwrap_or(Gone::OutputClosed)),
            Err(_) => Err(Gone::InputStuck),
        }
    }

    /// Sends one message, as compact JSON on one line (DRV-09).
    pub async fn send(&self, message: &Json, deliberate: bool) -> Result<u64, Gone> {
        let frame = message.to_string().into_bytes();
        let mut line = frame.clone();
        line.push(b'\n');
        self.write(line, &[&frame], deliberate).await
    }

    /// Sends a request; its params are taken as they are.
    pub async fn request(
        &self,
        id: Id,
        method: &str,
        params: Option<Json>,
        deliberate: bool,
    ) -> Result<Ticket, Gone> {
        let message = request_message(&id, method, params);
        let sequence = self.send(&message, deliberate).await?;
        Ok(Ticket { id, method: method.to_owned(), sequence })
    }

    /// Sends an ordinary request of the dialect and waits for its answer.
    pub async fn call(&self, method: &str, params: Option<Json>) -> Reply {
        match self.request(self.fresh_id(), method, self.dialect.params(params), false).await {
            Ok(ticket) => self.answer(&ticket, self.request_limit()).await,
            Err(gone) => Reply::Gone(gone),
        }
    }

    /// For the answer to an ordinary request. As long as nothing has come from the server it may still be starting:
    /// without a handshake, the first request is what waits for that.
    pub fn request_limit(&self) -> Duration {
        let heard = self
            .state()
            .transcript
            .entries
            .iter()
            .any(|entry| matches!(entry.channel, Channel::Stdout | Channel::Response));
        if heard { self.bounds.request } else { self.bounds.request.max(self.bounds.start) }
    }

    pub async fn notify(&self, method: &str, params: Option<Json>) -> Result<u64, Gone> {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let (Some(params), Some(object)) = (params, message.as_object_mut()) {
            object.push("params", params);
        }
        self.send(&message, false).await
    }

    /// Tells that the answer to a request is no longer wanted, as the revision and the transport have it.
    pub async fn cancel(&self, ticket: &Ticket) -> Result<(), Gone> {
        if self.dialect.is_stateless() && self.is_http() {
            return self.abandon(ticket.sequence).await;
        }
        let params = json!({ "requestId": &ticket.id });
        self.notify("notifications/cancelled", Some(params)).await.map(|_| ())
    }

    /// Waits for the answer to a request, by id and type.
    pub async fn answer(&self, ticket: &Ticket, limit: Duration) -> Reply {
        let look = |state: &State| {
            let answer = state.answer_to(&ticket.id, ticket.sequence);
            let refused = || state.refusal(ticket.sequence).map(Reply::Refused);
            answer.or_else(|| state.gone().map(Reply::Gone)).or_else(refused)
        };
        let began = Instant::now();
        let mut whole = limit;
        loop {
            if let Some(reply) = self.wait(whole.saturating_sub(began.elapsed()), look).await {
                return reply;
            }
            // The pauses that the server asks for are not the time that it takes.
            let allowed = limit + self.state().paused(ticket.sequence);
            if allowed <= whole {
                return Reply::Silence(limit);
            }
            whole = allowed;
        }
    }

    /// Asks for a sign of life.
    pub async fn liveness(&self) -> Reply {
        self.call(self.dialect.liveness_method(), None).await
    }

    /// Closes the server's input. Over HTTP there is none: the session is given back instead, if one was begun.
    pub async fn end_input(&self) -> Result<(), Gone> {
        if self.is_http() {
            self.leave().await;
            return self.hand_over(Outgoing::EndInput).await;
        }
        {
            let mut state = self.state();
            if state.transcript.entries.iter().any(|entry| entry.channel == Channel::EndOfInput) {
                return Ok(());
            }
            state.record(Channel::EndOfInput, Vec::new(), Ending::None);
        }
        self.hand_over(Outgoing::EndInput).await
    }

    /// Waits for the process to end.
    pub async fn exit(&self, limit: Duration) -> Option<Exit> {
        self.wait(limit, |state| state.exit).await
    }

    /// Ends the conversation: input closed, then SIGTERM, then SIGKILL (DRV-10). Gives back what was said.
    pub async fn finish(&self) -> Transcript {
        self.end().await;
        self.close().await
    }

    /// Ends the server as [`Session::finish`] does, and keeps what was said.
    pub async fn end(&self) {
        if self.state().exit.is_none() {
            let _ = self.end_input().await;
            if self.exit(time_limits::GRACE).await.is_none() {
                let _ = self.hand_over(Outgoing::Terminate).await;
                if self.exit(time_limits::LAST_GRACE).await.is_none() {
                    self.strike().await;
                }
            }
        }
    }

    /// Ends the conversation at once. Gives back what was said.
    pub async fn kill(&self) -> Transcript {
        self.strike().await;
        self.close().await
    }

    async fn strike(&self) {
        if self.state().exit.is_none() {
            // The input may be full, and a server that does not read it must go all the same: then the pump
            // is stopped, and with it the peer.
            let killed = tokio::time::timeout(time_limits::LAST_GRACE, self.input.send(Outgoing::Kill)).await;
            if killed.is_err() {
                self.pump.0.abort();
            }
        }
    }

    async fn close(&self) -> Transcript {
        // What is still in the pipes belongs to the transcript; what comes later than that does not.
        let _ = self.wait(time_limits::DRAIN, |state| state.ended.then_some(())).await;
        let mut state = self.state();
        let head = state.transcript.head.clone();
        std::mem::replace(&mut state.transcript, Transcript::new(head))
    }
}

/// A request as JSON.
pub fn request_message(id: &Id, method: &str, params: Option<Json>) -> Json {
    let mut message = json!({ "jsonrpc": "2.0" });
    if let Some(object) = message.as_object_mut() {
        object.push("id", id);
        object.push("method", method);
        if let Some(params) = params {
            object.push("params", params);
        }
    }
    message
}

#[cfg(test)]
mod tests;
