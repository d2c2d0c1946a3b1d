//! What was said, exactly? Every frame, stderr line and exit of a conversation, with its bytes and its time.
//!
//! Append-only while a conversation runs; judgement reads nothing else. Writing it to a file and reading it
//! back is in [`crate::transcript::file`].

use crate::record::{Direction, Excerpt, Span, Transport};
use crate::revision::Revision;
use std::sync::Arc;
use std::time::Duration;

pub mod file;

/// One conversation: one server process, or one HTTP session, from its start to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    pub head: Head,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// Numbers the conversations of a run from 1.
    pub conversation: u32,
    pub transport: Transport,
    /// The revision that the driver spoke.
    pub revision: Revision,
    /// Whose conversation it is: a case's name, or `calm`, `lively`, `rough` for shared ones.
    pub purpose: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Counts up from 1 within the conversation.
    pub sequence: u64,
    /// Since the conversation began.
    pub at: Duration,
    pub channel: Channel,
    /// stdin and stdout: one frame without its line ending. stderr and body: a piece as it came. request and response:
    /// the head, a line a header. exit: empty.
    pub bytes: Vec<u8>,
    /// Over HTTP: the exchange that it belongs to, counted from 1.
    pub exchange: Option<u64>,
    /// What a frame's bytes do not show.
    pub ending: Ending,
    /// The case on whose behalf it was sent, or during which it came.
    pub case: Option<Arc<str>>,
    /// A frame of ours that is malformed on purpose, so our own rules do not judge it.
    pub deliberate: bool,
    /// How the process ended; on the exit channel only.
    pub exit: Option<Exit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// From us to the server: over HTTP the body of a request.
    Stdin,
    /// From the server to us: over HTTP a message out of the body of a response.
    Stdout,
    Stderr,
    /// The head of our request over HTTP. The user's own headers are left out.
    Request,
    /// The head of a response.
    Response,
    /// A piece of a response's body that is not one JSON text: of an event stream, or of something else.
    Body,
    /// An exchange has ended; why, if there is more to say than that it was whole.
    Closed,
    /// We closed the server's input.
    EndOfInput,
    /// The server closed its output.
    EndOfOutput,
    Exit,
}

/// How a frame ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    Lf,
    CrLf,
    /// The output ended in the middle of a line.
    Unfinished,
    /// The line was longer than allowed; this many bytes in all, of which the entry holds the head.
    TooLong(u64),
    /// Not a frame.
    None,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    pub status: Option<i32>,
    pub signal: Option<i32>,
    /// Whether we made it end: the signal was ours.
    pub by_us: bool,
}

impl From<i32> for Exit {
    /// Ended by itself, with this status.
    fn from(status: i32) -> Self {
        Self { status: Some(status), signal: None, by_us: false }
    }
}

impl From<()> for Exit {
    fn from((): ()) -> Self {
        Self::from(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.status, self.signal) {
            (Some(status), _) => write!(f, "exited with status {status}"),
            (None, Some(signal)) => write!(f, "was ended by signal {signal}"),
            (None, None) => f.write_str("ended"),
        }
    }
}

impl Transcript {
    /// The frame at `sequence`, cut to what a finding shows.
    pub fn excerpt(&self, sequence: u64) -> Option<Excerpt> {
        let at = self.entries.binary_search_by_key(&sequence, |entry| entry.sequence).ok()?;
        let entry = &self.entries[at];
        let direction = match entry.channel {
            Channel::Stdin | Channel::Request => Direction::Sent,
            _ => Direction::Got,
        };
        Some(Excerpt::new(direction, &entry.bytes))
    }

    pub fn new(head: Head) -> Self {
        Self { head, entries: Vec::new() }
    }

    /// The span of a single entry.
    pub fn span_of(&self, first: u64, last: u64) -> Span {
        Span { conversation: self.head.conversation, first, last }
    }

    /// Everything written to stderr so far, lossily, as its last `lines` lines.
    pub fn stderr_tail(&self, lines: usize) -> Vec<String> {
        let bytes: Vec<u8> = self
            .entries
            .iter()
            .filter(|entry| entry.channel == Channel::Stderr)
            .flat_map(|entry| entry.bytes.iter().copied())
            .collect();
        let text = String::from_utf8_lossy(&bytes);
        let mut tail: Vec<String> = text.lines().rev().take(lines).map(str::to_owned).collect();
        tail.reverse();
        tail
    }
}
