//! Who reads what the server says? One task for each session: it records, wakes whoever waits, and answers the
//! server's own requests.

use super::Flood;
use super::exchanges;
use super::state::{FRAMES_KEPT, Shared, State};
use crate::dialect::Dialect;
use crate::peer::{Closing, Incoming, Outgoing};
use crate::transcript::{Channel, Ending, Exit};
use crate::wire::{self, Json, Limits, Message, Reading, json};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Replies to server requests that may wait to be written; a server that floods us with requests gets no more.
const REPLIES_WAITING: usize = 256;

/// Takes what comes from the peer: the only task that reads.
pub(super) struct Pump {
    pub(super) shared: Arc<Shared>,
    pub(super) input: mpsc::Sender<Outgoing>,
    pub(super) output: mpsc::Receiver<Incoming>,
    pub(super) splitter: wire::LineSplitter,
    pub(super) limits: Limits,
    pub(super) dialect: Dialect,
    pub(super) kept: usize,
    /// Answers to the server's own requests, not yet written.
    pub(super) replies: VecDeque<Json>,
    /// What comes back to streams that broke off, after a while.
    pub(super) returning: JoinSet<()>,
}

impl Pump {
    pub(super) async fn run(mut self) {
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
        let mut state = self.shared.lock();
        if let Some(exchange) = state.begin_post(self.dialect, frame.clone(), false) {
            drop(state);
            permit.send(Outgoing::Exchange(exchange));
            return;
        }
        state.record_sent(&frame, false);
        drop(state);
        let mut line = frame;
        line.push(b'\n');
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
            Incoming::Head { exchange, status, headers } => {
                state.take_head(exchange, status, &headers, self.limits.length);
            }
            Incoming::Body { exchange, bytes } => {
                let messages = state.take_body(exchange, bytes, self.limits.length);
                self.take_messages(&mut state, exchange, messages);
                // Where the order finds no place, the bound on the whole conversation still holds.
                if state.is_too_long(exchange, self.limits.length)
                    && self.input.try_send(Outgoing::Abandon(exchange)).is_ok()
                {
                    let messages = state.close_exchange(exchange, &Closing::TooLong, self.limits.length);
                    self.take_messages(&mut state, exchange, messages);
                    state.record_closing(exchange, Closing::TooLong);
                }
            }
            // We ended it ourselves, while its end was on the way.
            Incoming::Closed { exchange, .. } if state.is_over(exchange) => {}
            Incoming::Closed { exchange, closing } => {
                let messages = state.close_exchange(exchange, &closing, self.limits.length);
                self.take_messages(&mut state, exchange, messages);
                state.record_closing(exchange, closing);
                if !self.dialect.is_stateless()
                    && let Some(pause) = state.break_off(exchange)
                {
                    while self.returning.try_join_next().is_some() {}
                    let (shared, input) = (self.shared.clone(), self.input.clone());
                    self.returning.spawn(exchanges::come_back(shared, input, exchange, pause));
                }
            }
            Incoming::InputBroken(reason) => state.input_broken = Some(reason),
            Incoming::Exited(exit) => {
                if !exit.by_us {
                    state.close_all(&Closing::Broken("the server ended".to_owned()));
                }
                state.record(Channel::Exit, Vec::new(), Ending::None);
                if let Some(entry) = state.transcript.entries.last_mut() {
                    entry.exit = Some(exit);
                }
                state.exit = Some(exit);
                last = true;
            }
        }
        let flood = if state.frames > FRAMES_KEPT || state.inbox.len() > FRAMES_KEPT {
            Some(Flood::Frames(FRAMES_KEPT))
        } else if state.kept > self.kept {
            // A line that alone is too much is what there is to say.
            let is_endless = self.splitter.length() > self.kept as u64 / 2;
            Some(if is_endless { Flood::Line(self.splitter.length()) } else { Flood::Bytes(self.kept) })
        } else {
            None
        };
        if flood.is_some() && state.flooded.is_none() {
            state.flooded = flood;
            state.close_all(&Closing::Flooded);
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
        self.take_frame(state, sequence, ending);
    }

    /// The messages that an exchange brought.
    fn take_messages(&mut self, state: &mut State, exchange: u64, messages: Vec<(Vec<u8>, Ending)>) {
        for (bytes, ending) in messages {
            let sequence = state.record_of(exchange, Channel::Stdout, bytes, ending);
            self.take_frame(state, sequence, ending);
            let came = state.inbox.iter().rev().take_while(|arrival| arrival.sequence == sequence);
            let messages: Vec<_> = came.filter_map(|arrival| arrival.reading.message.as_ref()).collect();
            let is_response = messages.iter().any(|message| message.is_response());
            if !messages.is_empty() {
                state.count_message(exchange, is_response);
            }
        }
    }

    /// What the newest entry, a frame, says.
    fn take_frame(&mut self, state: &mut State, sequence: u64, ending: Ending) {
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
