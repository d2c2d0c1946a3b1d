//! What does one response carry over time? A stream of events to one client, which may break off and be taken up
//! again, or a lone message that makes no stream necessary.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use hyper::body::Frame;
use tokio::sync::{mpsc, oneshot};

use super::wire::Event;
use crate::server::Parcel;

/// Events that a client need not have taken yet. One that falls further behind is cut off.
const AHEAD: usize = 1024;
/// Events that are kept for a client that comes back.
const KEPT: usize = 128;

/// How a POST is answered.
pub(super) enum Answer {
    /// By one message. `code` is that of an error.
    Message { line: Vec<u8>, code: Option<i64> },
    /// By events. `refused`: a request was answered by an error at once.
    Events { events: Events, refused: bool },
}

/// The near end of a stream.
pub(super) struct Stream {
    /// Where the answer to the POST goes, until there is one.
    answer: Option<oneshot::Sender<Answer>>,
    /// What waits for that.
    pub waiting: Vec<Parcel>,
    connection: Option<mpsc::Sender<Bytes>>,
    /// How often it was connected, so that the end of an earlier connection is not taken for that of this one.
    pub connections: u64,
    /// The latest events and their places, if clients may come back for them.
    kept: Option<VecDeque<(u64, Bytes)>>,
    sent: u64,
    pub finished: bool,
}

impl Stream {
    /// One that answers a POST.
    pub fn answering(answer: oneshot::Sender<Answer>, resumable: bool) -> Self {
        Self { answer: Some(answer), ..Self::silent(resumable) }
    }

    /// One that nobody listens to yet.
    pub fn silent(resumable: bool) -> Self {
        Self {
            answer: None,
            waiting: Vec::new(),
            connection: None,
            connections: 0,
            kept: resumable.then(VecDeque::new),
            sent: 0,
            finished: false,
        }
    }

    /// Whether nothing was said to the client yet.
    pub fn is_unanswered(&self) -> bool {
        self.answer.is_some()
    }

    pub fn is_connected(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| !connection.is_closed())
    }

    pub fn is_resumable(&self) -> bool {
        self.kept.is_some()
    }

    /// The events that are kept.
    pub fn kept(&self) -> Vec<Vec<u8>> {
        self.kept.iter().flatten().map(|(_, bytes)| bytes.to_vec()).collect()
    }

    /// The place of the next event.
    pub fn next(&self) -> u64 {
        self.sent
    }

    pub fn answer(&mut self, answer: Answer) {
        if let Some(sender) = self.answer.take() {
            // If the client has gone, its connection says so.
            let _ = sender.send(answer);
        }
    }

    /// Connects a client; it gets the kept events from place `from` on first.
    pub fn connect(&mut self, from: u64) -> Events {
        let (sender, receiver) = mpsc::channel(AHEAD);
        for (_, bytes) in self.kept.iter().flatten().filter(|(place, _)| *place >= from) {
            let _ = sender.try_send(bytes.clone());
        }
        self.connections += 1;
        self.connection = Some(sender).filter(|_| !self.finished);
        Events(receiver)
    }

    /// Sends one event, in pieces as given.
    pub fn send(&mut self, pieces: Vec<Vec<u8>>) {
        if let Some(kept) = &mut self.kept {
            kept.push_back((self.sent, pieces.concat().into()));
            if kept.len() > KEPT {
                kept.pop_front();
            }
        }
        self.sent += 1;
        let connected = self.connection.as_ref();
        if !connected.is_some_and(|c| pieces.into_iter().all(|piece| c.try_send(piece.into()).is_ok())) {
            self.connection = None;
        }
    }

    pub fn disconnect(&mut self) {
        self.connection = None;
    }

    /// Nothing more comes.
    pub fn finish(&mut self) {
        self.finished = true;
        self.connection = None;
    }
}

/// The far end of a stream: a body that goes on as long as there are events.
#[derive(Debug)]
pub(super) struct Events(mpsc::Receiver<Bytes>);

/// Events, and something that is dropped when nobody takes them any more.
pub(super) struct Held<T> {
    pub events: Events,
    pub _hold: T,
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.events.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The event that tells a client by which id it may come back, before there is anything to tell.
pub(super) fn priming() -> Event {
    Event { data: Some(Vec::new()), ..Event::default() }
}
