//! What is known of a conversation so far? The transcript as it grows, the inbox, and why nothing more may come.

use super::exchanges::{Exchanges, Refusal};
use super::{Flood, Gone, Reply};
use crate::record::Excerpt;
use crate::transcript::{Channel, Ending, Entry, Exit, Transcript};
use crate::wire::{Id, Message, Reading};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Frames and messages kept of a conversation. Small ones cost far more to keep and to judge than their bytes say,
/// and no server has so much to tell.
pub(super) const FRAMES_KEPT: usize = 20_000;

/// Lines without a message that a server may write before its first message. Some log as they start; nobody logs so much.
const BABBLE: usize = 100;

/// Bytes of standard error kept of a conversation: the newest, which tell most. However much a server logs, it is
/// no reason to end it.
const STDERR_KEPT: usize = 1 << 20;

/// What an entry costs beside its bytes, roughly.
const ENTRY: usize = 128;

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) changed: Notify,
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
    /// Over HTTP: the exchanges.
    pub http: Option<Exchanges>,
    /// Over HTTP: why nobody could be called any more.
    pub unreachable: Option<String>,
    /// The bound on what is kept was passed.
    pub flooded: Option<Flood>,
    /// Nothing more will be recorded.
    pub ended: bool,
    /// The profile's setup has been done here, or has been tried.
    pub set_up: bool,
    pub(super) began: Instant,
    /// What the transcript costs in bytes, standard error aside.
    pub(super) kept: usize,
    /// Messages and lines, ours and the server's: over HTTP each has many entries besides.
    pub(super) frames: usize,
    /// What standard error costs now.
    pub(super) stderr: usize,
    pub(super) next_id: i64,
    pub(super) case: Option<Arc<str>>,
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

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
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

    /// Whether the server went away after this entry by itself, without a word and without a reason: its input was
    /// open, and nothing odd was sent to it.
    pub fn vanished_since(&self, sequence: u64) -> bool {
        let provokes = |entry: &&Entry| {
            let odd = entry.channel == Channel::Stdin && entry.deliberate;
            odd || matches!(entry.channel, Channel::EndOfInput | Channel::Stdout | Channel::Response)
        };
        let mut later = self.transcript.entries.iter().rev().take_while(|entry| entry.sequence > sequence);
        self.exit.is_some_and(|exit| !exit.by_us) && !later.any(|entry| provokes(&entry))
    }

    /// Whether the server has said anything after this entry.
    pub fn heard_since(&self, sequence: u64) -> bool {
        let mut later = self.transcript.entries.iter().rev().take_while(|entry| entry.sequence > sequence);
        later.any(|entry| matches!(entry.channel, Channel::Stdout | Channel::Response))
    }

    /// Whether, and why, nothing more can come.
    pub fn gone(&self) -> Option<Gone> {
        let flooded = self.flooded.map(Gone::Flooded);
        flooded
            .or_else(|| self.exit.map(Gone::Exited))
            .or_else(|| self.unreachable.clone().map(Gone::Unreachable))
            .or_else(|| self.has_lost_old_stream().then_some(Gone::OutputClosed))
            .or_else(|| self.babbles().then_some(Gone::Babbling(BABBLE)))
    }

    fn has_lost_old_stream(&self) -> bool {
        self.http.as_ref().is_some_and(Exchanges::has_lost_old_stream)
    }

    /// Whether the server writes lines and lines, and no message: then waiting for one is a waste of time.
    fn babbles(&self) -> bool {
        self.inbox.len() >= BABBLE && self.inbox.iter().all(|arrival| arrival.reading.message.is_none())
    }

    /// The first line of standard output, where none was a message.
    pub fn first_of_babble(&self) -> Option<&[u8]> {
        let first = self
            .inbox
            .first()
            .filter(|_| self.inbox.iter().all(|arrival| arrival.reading.message.is_none()))?;
        let entries = &self.transcript.entries;
        let at = entries.binary_search_by_key(&first.sequence, |entry| entry.sequence).ok()?;
        (entries[at].channel == Channel::Stdout).then_some(&entries[at].bytes)
    }

    pub(super) fn gone_for_writing(&self) -> Option<Gone> {
        self.gone().or_else(|| self.input_broken.as_ref().map(|_| Gone::InputStuck))
    }

    /// The answer to a request sent at `since`, if it has come. Where HTTP says that the request failed, the error that
    /// it says so with is the answer, whatever its id: some servers have none there, and some invent one.
    pub fn answer_to(&self, id: &Id, since: u64) -> Option<Reply> {
        let first = self.inbox.partition_point(|arrival| arrival.sequence <= since);
        self.inbox[first..].iter().find_map(|arrival| match arrival.reading.message.as_ref()? {
            Message::Result { id: Some(answered), result } if answered == id => {
                Some(Reply::Result { result: result.clone(), sequence: arrival.sequence })
            }
            Message::Error { id: answered, error }
                if answered.as_ref() == Some(id) || self.refuses(arrival.sequence, since) =>
            {
                Some(Reply::Error { error: error.clone(), sequence: arrival.sequence })
            }
            _ => None,
        })
    }

    /// Whether this message came in the response that says that the one sent in that entry failed.
    fn refuses(&self, sequence: u64, sent: u64) -> bool {
        self.is_refused(sequence) && self.exchange_of(sequence) == self.exchange_of(sent)
    }

    fn exchange_of(&self, sequence: u64) -> Option<u64> {
        let at = self.transcript.entries.binary_search_by_key(&sequence, |entry| entry.sequence).ok()?;
        self.transcript.entries[at].exchange
    }

    /// What became of a message of ours that HTTP gave no answer to.
    pub fn refusal(&self, sent: u64) -> Option<Refusal> {
        self.http.as_ref()?.refusal(sent)
    }

    /// As [`State::refusal`], of all that was sent between two entries.
    pub fn refusal_between(&self, since: u64, until: u64) -> Option<Refusal> {
        self.http.as_ref()?.refusal_between(since, until)
    }

    /// Over HTTP: whether whatever was sent between two entries has had its response, whole.
    pub fn is_over_between(&self, since: u64, until: u64) -> bool {
        self.http.as_ref().is_some_and(|http| http.is_over_between(since, until))
    }

    /// Whether the message of this entry came in an HTTP response whose status says that the request failed.
    pub fn is_refused(&self, sequence: u64) -> bool {
        let Some(http) = &self.http else { return false };
        self.exchange_of(sequence)
            .and_then(|exchange| http.status(exchange))
            .is_some_and(|status| status >= 400)
    }

    /// Over HTTP: why what belongs to no request may have been missed since an entry, if it may have been.
    pub fn missed_since(&self, since: u64) -> Option<&'static str> {
        self.http.as_ref()?.missed_since(since)
    }

    /// Over HTTP: whether the stream on which a request is answered was cut off, and is not taken up again.
    pub fn is_cut(&self, sent: u64) -> bool {
        self.http.as_ref().is_some_and(|http| http.is_cut(sent))
    }

    /// The frame of an entry, for a finding.
    pub fn excerpt(&self, sequence: u64) -> Option<Excerpt> {
        self.transcript.excerpt(sequence)
    }

    /// As [`State::record`], of an exchange. A piece of a body that follows another one of it is joined to that.
    pub(super) fn record_of(
        &mut self,
        exchange: u64,
        channel: Channel,
        bytes: Vec<u8>,
        ending: Ending,
    ) -> u64 {
        if matches!(channel, Channel::Request | Channel::Response) {
            // Of bodies and messages it is counted when they come.
            self.kept += bytes.len();
        }
        if let Some(newest) = self.transcript.entries.last_mut()
            && (channel, newest.channel, newest.exchange) == (Channel::Body, Channel::Body, Some(exchange))
        {
            newest.bytes.extend_from_slice(&bytes);
            return newest.sequence;
        }
        let sequence = self.record(channel, bytes, ending);
        if let Some(entry) = self.transcript.entries.last_mut() {
            entry.exchange = Some(exchange);
        }
        sequence
    }

    /// The newest entry is malformed on purpose, or is not.
    pub(super) fn mark_deliberate(&mut self, deliberate: bool) {
        if let Some(entry) = self.transcript.entries.last_mut() {
            entry.deliberate = deliberate;
        }
    }

    pub(super) fn record(&mut self, channel: Channel, bytes: Vec<u8>, ending: Ending) -> u64 {
        let sequence = self.newest() + 1;
        if channel != Channel::Stderr {
            self.kept += ENTRY;
        }
        if matches!(channel, Channel::Stdin | Channel::Stdout) {
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
            exchange: None,
            exit: None,
        };
        self.transcript.entries.push(entry);
        sequence
    }

    /// Keeps the newest of standard error, and between once and twice as much as its bound.
    pub(super) fn record_stderr(&mut self, bytes: Vec<u8>) {
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

    pub(super) fn record_sent(&mut self, frame: &[u8], deliberate: bool) -> u64 {
        self.kept += frame.len();
        let sequence = self.record(Channel::Stdin, frame.to_vec(), Ending::Lf);
        self.mark_deliberate(deliberate);
        sequence
    }

    pub(super) fn arrive(&mut self, sequence: u64, reading: Reading, in_batch: bool) {
        let at = self.began.elapsed();
        self.inbox.push(Arrival { sequence, at, reading: Arc::new(reading), in_batch });
    }
}
