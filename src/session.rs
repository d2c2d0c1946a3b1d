//! What has been said in this conversation, and what is still owed? Ids, the inbox, and the driver's duties.
//!
//! A session speaks over one peer. It records every frame, answers the server's pings and declines its other
//! requests (`driver_obligations` DRV-07, DRV-08), and matches answers by id and type, never by order. It judges
//! nothing.

use crate::dialect::Dialect;
use crate::peer::{Incoming, Outgoing, Peer};
use crate::record::{Direction, Excerpt, Transport};
use crate::time_limits;
use crate::transcript::{Channel, Ending, Entry, Exit, Head, Transcript};
use crate::wire::{self, Id, Json, Limits, Message, Reading, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// What a session may cost.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of one line of the server's.
    pub line: usize,
    /// Bytes kept of a conversation, all channels together; beyond, the server is killed.
    pub kept: usize,
    /// For the answer to an ordinary request.
    pub request: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { line: 64 << 20, kept: 256 << 20, request: time_limits::REQUEST }
    }
}

/// Frames and messages kept of a conversation. Small ones cost far more to keep and to judge than their bytes say,
/// and no server has so much to tell.
const FRAMES_KEPT: usize = 20_000;

/// Bytes of standard error kept of a conversation: the newest, which tell most. However much a server logs, it is
/// no reason to end it.
const STDERR_KEPT: usize = 1 << 20;

/// What an entry costs beside its bytes, roughly.
const ENTRY: usize = 128;

/// Replies to server requests that may wait to be written; a server that floods us with requests gets no more.
const REPLIES_WAITING: usize = 256;

/// One conversation with one server.
pub struct Session {
    pub dialect: Dialect,
    pub bounds: Bounds,
    shared: Arc<Shared>,
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

struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

/// What is known of the conversation so far.
pub struct State {
    pub transcript: Transcript,
    /// Every message of the server, in order of arrival.
    pub inbox: Vec<Arrival>,
    pub exit: Option<Exit>,
    pub output_ended: bool,
    /// Why writing no longer works.
    pub input_broken: Option<String>,
    /// The bound on kept bytes was passed.
    pub flooded: bool,
    /// Nothing more will be recorded.
    pub ended: bool,
    began: Instant,
    /// Bytes written and read, standard error aside.
    kept: usize,
    /// Entries, standard error aside.
    frames: usize,
    /// What standard error costs now.
    stderr: usize,
    next_id: i64,
    case: Option<Arc<str>>,
}

/// One message of the server. The bytes are in the transcript at `sequence`.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub sequence: u64,
    pub at: Duration,
    pub reading: Arc<Reading>,
    /// It came as a member of a batch.
    pub in_batch: bool,
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
    /// Nothing more can come.
    Gone(Gone),
}

/// Why nothing more can come from a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Gone {
    Exited(Exit),
    OutputClosed,
    InputStuck,
    Flooded,
}

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(exit) => write!(f, "the server {exit}"),
            Self::OutputClosed => f.write_str("the server closed its output"),
            Self::InputStuck => f.write_str("the server does not read its input"),
            Self::Flooded => f.write_str("the server wrote more than is kept of a conversation"),
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
            flooded: false,
            ended: false,
            began: Instant::now(),
            kept: 0,
            frames: 0,
            stderr: 0,
            next_id: 1,
            case: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Notify::new() });
        let Peer { input, output } = peer;
        let pump = Pump {
            shared: shared.clone(),
            input: input.clone(),
            output,
            splitter: wire::LineSplitter::new(bounds.line),
            limits: Limits { length: bounds.line, ..Limits::default() },
            dialect,
            kept: bounds.kept,
            replies: VecDeque::new(),
        };
        let pump = PumpTask(tokio::spawn(pump.run()));
        Self { dialect, bounds, shared, input, pump }
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
        let heard = self.state().transcript.entries.iter().any(|entry| entry.channel == Channel::Stdout);
        if heard { self.bounds.request } else { self.bounds.request.max(time_limits::START) }
    }

    pub async fn notify(&self, method: &str, params: Option<Json>) -> Result<u64, Gone> {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let (Some(params), Some(object)) = (params, message.as_object_mut()) {
            object.push("params", params);
        }
        self.send(&message, false).await
    }

    /// Waits for the answer to a request, by id and type.
    pub async fn answer(&self, ticket: &Ticket, limit: Duration) -> Reply {
        let found = self
            .wait(limit, |state| {
                state.answer_to(&ticket.id, ticket.sequence).or_else(|| state.gone().map(Reply::Gone))
            })
            .await;
        found.unwrap_or(Reply::Silence(limit))
    }

    /// Asks for a sign of life.
    pub async fn liveness(&self) -> Reply {
        self.call(self.dialect.liveness_method(), None).await
    }

    pub async fn end_input(&self) -> Result<(), Gone> {
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

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere must not take the transcript with it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Since the conversation began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The sequence number of the newest entry.
    pub fn newest(&self) -> u64 {
        self.transcript.entries.last().map_or(0, |entry| entry.sequence)
    }

    /// Whether, and why, nothing more can come.
    pub fn gone(&self) -> Option<Gone> {
        if self.flooded {
            return Some(Gone::Flooded);
        }
        self.exit.map(Gone::Exited)
    }

    fn gone_for_writing(&self) -> Option<Gone> {
        self.gone().or_else(|| self.input_broken.as_ref().map(|_| Gone::InputStuck))
    }

    /// The answer to a request sent at `since`, if it has come.
    pub fn answer_to(&self, id: &Id, since: u64) -> Option<Reply> {
        let first = self.inbox.partition_point(|arrival| arrival.sequence <= since);
        self.inbox[first..].iter().find_map(|arrival| match arrival.reading.message.as_ref()? {
            Message::Result { id: Some(answered), result } if answered == id => {
                Some(Reply::Result { result: result.clone(), sequence: arrival.sequence })
            }
            Message::Error { id: Some(answered), error } if answered == id => {
                Some(Reply::Error { error: error.clone(), sequence: arrival.sequence })
            }
            _ => None,
        })
    }

    /// The frame of an entry, for a finding.
    pub fn excerpt(&self, sequence: u64) -> Option<Excerpt> {
        self.transcript.excerpt(sequence)
    }

    fn record(&mut self, channel: Channel, bytes: Vec<u8>, ending: Ending) -> u64 {
        let sequence = self.newest() + 1;
        if channel != Channel::Stderr {
            self.frames += 1;
        }
        let entry = Entry {
            sequence,
            at: self.began.elapsed(),
            channel,
            bytes,
            ending,
            case: self.case.clone(),
            deliberate: false,
            exit: None,
        };
        self.transcript.entries.push(entry);
        sequence
    }

    /// Keeps the newest of standard error, and between once and twice as much as its bound.
    fn record_stderr(&mut self, bytes: Vec<u8>) {
        self.stderr += bytes.len() + ENTRY;
        self.record(Channel::Stderr, bytes, Ending::None);
        if self.stderr <= 2 * STDERR_KEPT {
            return;
        }
        let excess = self.stderr - STDERR_KEPT;
        let mut dropped = 0;
        self.transcript.entries.retain(|entry| {
            if entry.channel != Channel::Stderr || dropped >= excess {
                return true;
            }
            dropped += entry.bytes.len() + ENTRY;
            false
        });
        self.stderr -= dropped;
    }

    fn record_sent(&mut self, frame: &[u8], deliberate: bool) -> u64 {
        self.kept += frame.len();
        let sequence = self.record(Channel::Stdin, frame.to_vec(), Ending::Lf);
        if let Some(entry) = self.transcript.entries.last_mut() {
            entry.deliberate = deliberate;
        }
        sequence
    }

    fn arrive(&mut self, sequence: u64, reading: Reading, in_batch: bool) {
        let at = self.began.elapsed();
        self.inbox.push(Arrival { sequence, at, reading: Arc::new(reading), in_batch });
    }
}

impl Transcript {
    /// The frame at `sequence`, cut to what a finding shows.
    pub fn excerpt(&self, sequence: u64) -> Option<Excerpt> {
        let at = self.entries.binary_search_by_key(&sequence, |entry| entry.sequence).ok()?;
        let entry = &self.entries[at];
        let direction = if entry.channel == Channel::Stdin { Direction::Sent } else { Direction::Got };
        Some(Excerpt::new(direction, &entry.bytes))
    }
}

/// Takes what comes from the peer: the only task that reads.
struct Pump {
    shared: Arc<Shared>,
    input: mpsc::Sender<Outgoing>,
    output: mpsc::Receiver<Incoming>,
    splitter: wire::LineSplitter,
    limits: Limits,
    dialect: Dialect,
    kept: usize,
    /// Answers to the server's own requests, not yet written.
    replies: VecDeque<Json>,
}

impl Pump {
    async fn run(mut self) {
        let input = self.input.clone();
        loop {
            tokio::select! {
                incoming = self.output.recv() => match incoming {
                    Some(incoming) => {
                        if self.take(incoming) {
                            break;
                        }
                    }
                    None => break,
                },
                permit = input.reserve(), if !self.replies.is_empty() => match permit {
                    Ok(permit) => self.reply(permit),
                    Err(_) => self.replies.clear(),
                },
            }
        }
        // A peer that vanished without a word still ends the conversation.
        let mut state = self.shared.lock();
        if state.exit.is_none() {
            state.exit = Some(Exit { status: None, signal: None, by_us: false });
        }
        state.ended = true;
        drop(state);
        self.shared.changed.notify_waiters();
    }

    /// Writes the oldest answer to the server's own requests.
    fn reply(&mut self, permit: mpsc::Permit<'_, Outgoing>) {
        let Some(reply) = self.replies.pop_front() else { return };
        let frame = reply.to_string().into_bytes();
        let mut line = frame.clone();
        line.push(b'\n');
        self.shared.lock().record_sent(&frame, false);
        permit.send(Outgoing::Bytes(line));
    }

    /// Records one event; true after the last.
    fn take(&mut self, incoming: Incoming) -> bool {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let mut last = false;
        match incoming {
            Incoming::Output(bytes) => {
                // Counted as it comes: a line without an end is never recorded, and must end all the same.
                state.kept += bytes.len();
                for line in self.splitter.push(&bytes) {
                    self.take_line(&mut state, line);
                }
            }
            Incoming::OutputEnded => {
                if let Some(line) = self.splitter.finish() {
                    self.take_line(&mut state, line);
                }
                state.record(Channel::EndOfOutput, Vec::new(), Ending::None);
                state.output_ended = true;
            }
            Incoming::Stderr(bytes) => {
                state.record_stderr(bytes);
            }
            Incoming::InputBroken(reason) => state.input_broken = Some(reason),
            Incoming::Exited(exit) => {
                state.record(Channel::Exit, Vec::new(), Ending::None);
                if let Some(entry) = state.transcript.entries.last_mut() {
                    entry.exit = Some(exit);
                }
                state.exit = Some(exit);
                last = true;
            }
        }
        let is_full = state.kept > self.kept || state.frames > FRAMES_KEPT || state.inbox.len() > FRAMES_KEPT;
        if is_full && !state.flooded {
            state.flooded = true;
            last = true;
        }
        drop(state);
        self.shared.changed.notify_waiters();
        last
    }

    fn take_line(&mut self, state: &mut State, line: wire::Line) {
        let ending = match line.ending {
            _ if line.is_too_long() => Ending::TooLong(line.length),
            wire::Ending::Lf => Ending::Lf,
            wire::Ending::CrLf => Ending::CrLf,
            wire::Ending::Unfinished => Ending::Unfinished,
        };
        let sequence = state.record(Channel::Stdout, line.bytes, ending);
        if matches!(ending, Ending::TooLong(_)) {
            return;
        }
        let Some(entry) = state.transcript.entries.last() else { return };
        if entry.bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let reading = wire::read(&entry.bytes, &self.limits);
        if matches!(reading.json, Some(Json::Array(_))) {
            for reading in wire::read_batch(&entry.bytes, &self.limits) {
                self.meet_request(&reading);
                state.arrive(sequence, reading, true);
            }
        } else {
            self.meet_request(&reading);
            state.arrive(sequence, reading, false);
        }
    }

    /// The driver's duty towards a server that asks: ping is answered at once, the rest is declined, since the
    /// driver declares no capability. Servers of the stateless era may not ask, and get no answer.
    fn meet_request(&mut self, reading: &Reading) {
        let Some(Message::Request { id: Some(id), method, .. }) = &reading.message else { return };
        if !self.dialect.answers_requests() || self.replies.len() >= REPLIES_WAITING {
            return;
        }
        let mut reply = if method == "ping" {
            json!({ "jsonrpc": "2.0", "result": {} })
        } else {
            json!({ "jsonrpc": "2.0", "error": { "code": -32601, "message": "the client declared no such capability" } })
        };
        if let Some(object) = reply.as_object_mut() {
            object.push("id", id);
        }
        self.replies.push_back(reply);
    }
}
