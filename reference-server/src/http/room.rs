//! Where does each message of one client go? A room is a conversation with all streams that belong to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::stream::{Answer, Events, Stream, priming};
use super::wire::Event;
use crate::revision::Revision;
use crate::server::{Parcel, Server};

/// Messages that wait for a client to listen; of more, the oldest are lost.
const BACKLOG: usize = 256;
/// Streams that are kept after their end, in case their client did not get all of them.
const ENDED: usize = 32;

/// What kind of client a room is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All that have no session.
    Everybody,
    /// One with a session.
    Session,
    /// One with a session by the transport of 2024-11-05: all that it hears comes on one stream.
    Old,
}

pub(super) struct Room {
    pub server: Server,
    pub kind: Kind,
    /// By the number of what they answer, or one of their own.
    streams: BTreeMap<u64, Stream>,
    /// The streams for what belongs to no request, the newest last.
    listening: Vec<u64>,
    backlog: VecDeque<Parcel>,
    /// The request that opens the session; if it is refused, there is none.
    opening: Option<u64>,
    pub closed: bool,
}

impl Room {
    pub fn new(server: Server, kind: Kind, opening: Option<u64>) -> Self {
        Self {
            server,
            kind,
            streams: BTreeMap::new(),
            listening: Vec::new(),
            backlog: VecDeque::new(),
            opening,
            closed: false,
        }
    }

    /// Expects an answer for what came in under this number.
    pub fn expect(&mut self, number: u64) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        self.streams.insert(number, Stream::answering(sender, self.kind == Kind::Session));
        receiver
    }

    /// Whether something was said, or will be, to what came in under this number.
    pub fn has_answer(&mut self, number: u64) -> bool {
        let said = self.streams.get(&number).is_none_or(|stream| !stream.is_unanswered());
        said || self.server.outbox().holds(number)
    }

    /// Expects nothing any more for this number.
    pub fn dismiss(&mut self, number: u64) {
        self.streams.remove(&number);
    }

    /// Opens a stream for what belongs to no request.
    pub fn listen(&mut self, number: u64) -> (Events, u64) {
        let mut stream = Stream::silent(self.kind == Kind::Session);
        let events = stream.connect(0);
        let connections = stream.connections;
        self.streams.insert(number, stream);
        // Who listens anew does not come back to what broke off.
        let Self { streams, listening, .. } = self;
        listening.retain(|number| {
            let stream = streams.get_mut(number);
            stream.is_some_and(|stream| {
                stream.is_connected() || {
                    stream.finish();
                    false
                }
            })
        });
        self.listening.push(number);
        if self.kind == Kind::Session {
            self.prime(number);
        }
        (events, connections)
    }

    /// Takes up a stream behind the event with this id; none if there is no such stream.
    pub fn resume(&mut self, id: &str) -> Option<(Events, u64, u64)> {
        let (number, place) = id.split_once('-')?;
        let (number, place) = (number.parse().ok()?, place.parse::<u64>().ok()?);
        let stream = self.streams.get_mut(&number).filter(|stream| stream.is_resumable())?;
        if stream.is_unanswered() {
            return None;
        }
        let events = stream.connect(place.saturating_add(1));
        Some((events, number, stream.connections))
    }

    /// Sends what belongs to no request and had nobody to hear it.
    pub fn catch_up(&mut self) {
        if let Some(number) = self.listener() {
            for parcel in std::mem::take(&mut self.backlog) {
                self.send(number, Event::message(&parcel.line));
            }
        }
    }

    /// Sends an event on a stream.
    pub fn send(&mut self, number: u64, mut event: Event) {
        let is_old = self.kind == Kind::Old;
        if let Some(stream) = self.streams.get_mut(&number) {
            if stream.is_resumable() {
                event.id = Some(format!("{number}-{}", stream.next()));
            }
            if is_old && event.name.is_none() {
                event.name = Some("message");
            }
            stream.send(vec![event.to_bytes()]);
        }
    }

    /// The client has left a stream, which was then connected for this time.
    pub fn leave(&mut self, number: u64, connections: u64) {
        match self.streams.get_mut(&number) {
            Some(stream) if stream.is_unanswered() || stream.connections == connections => {
                stream.disconnect();
            }
            _ => return,
        }
        match self.kind {
            // Nobody can come back, so it is cancelled.
            Kind::Everybody => {
                self.streams.remove(&number);
                self.server.hang_up(number);
            }
            Kind::Session => {}
            Kind::Old => self.closed = true,
        }
    }

    /// Sends what is due, each message on one stream.
    pub fn deliver(&mut self, now: Instant) {
        let mut touched = BTreeSet::new();
        while self.server.outbox().front().is_some_and(|(time, _)| *time <= now) {
            let Some((_, parcel)) = self.server.outbox().pop() else { break };
            match self.place(&parcel) {
                Some(number) => {
                    touched.insert(number);
                    if let Some(stream) = self.streams.get_mut(&number) {
                        stream.waiting.push(parcel);
                    }
                }
                None if parcel.method.is_some() && self.kind != Kind::Everybody => {
                    self.backlog.push_back(parcel);
                    if self.backlog.len() > BACKLOG {
                        self.backlog.pop_front();
                    }
                }
                None => {}
            }
        }
        touched.into_iter().for_each(|number| self.flush(number));
        for number in self.server.take_dropped() {
            self.end_unanswered(number);
        }
        self.sweep();
    }

    /// When `deliver` or the conversation has something to do, if ever.
    pub fn next_due(&mut self) -> Option<Instant> {
        let release = self.server.outbox().front().map(|(time, _)| *time);
        [release, self.server.next_due()].into_iter().flatten().min()
    }

    /// The stream on which a message goes. In a session, only what concerns one request goes with it.
    fn place(&self, parcel: &Parcel) -> Option<u64> {
        let own = parcel.origin.filter(|number| self.streams.get(number).is_some_and(|s| !s.finished));
        match (self.kind, parcel.method.as_deref()) {
            (Kind::Old, _) => self.listener(),
            (Kind::Everybody, _)
            | (Kind::Session, None | Some("notifications/progress" | "notifications/message")) => {
                own.or_else(|| self.listener().filter(|_| parcel.method.is_some()))
            }
            (Kind::Session, Some(_)) => self.listener(),
        }
    }

    /// The stream on which somebody listens now.
    fn listener(&self) -> Option<u64> {
        let is_connected = |number: &&u64| self.streams.get(number).is_some_and(Stream::is_connected);
        self.listening.iter().rfind(is_connected).copied()
    }

    /// Answers by one message if that is all there is to say, and by events otherwise.
    fn flush(&mut self, number: u64) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        let waiting = std::mem::take(&mut stream.waiting);
        let last = waiting.iter().any(|parcel| parcel.last) && self.kind != Kind::Old;
        let refusal = waiting.iter().find_map(|parcel| parcel.code);
        if self.opening == Some(number) && last {
            self.opening = None;
            self.closed |= refusal.is_some();
        }
        if stream.is_unanswered() {
            if let ([parcel], true) = (waiting.as_slice(), last) {
                let line = parcel.line.strip_suffix(b"\n").unwrap_or(&parcel.line).to_vec();
                stream.answer(Answer::Message { line, code: parcel.code });
                self.streams.remove(&number);
                return;
            }
            self.open_events(number, refusal.is_some());
        }
        for parcel in waiting {
            self.send(number, Event::message(&parcel.line));
        }
        if last {
            self.end(number);
        }
    }

    fn open_events(&mut self, number: u64, refused: bool) {
        if let Some(stream) = self.streams.get_mut(&number) {
            let events = stream.connect(0);
            stream.answer(Answer::Events { events, refused });
            if stream.is_resumable() {
                self.prime(number);
            }
        }
    }

    /// From 2025-11-25 on a stream begins with an id to come back by.
    fn prime(&mut self, number: u64) {
        if self.server.revision() >= Some(Revision::V2025_11_25) {
            self.send(number, priming());
        }
    }

    /// No answer will come: the request was cancelled.
    fn end_unanswered(&mut self, number: u64) {
        if self.streams.get(&number).is_some_and(Stream::is_unanswered) {
            self.open_events(number, false);
        }
        self.end(number);
    }

    fn end(&mut self, number: u64) {
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.finish();
            if !stream.is_resumable() {
                self.streams.remove(&number);
            }
        }
    }

    /// Forgets the oldest of the streams that have ended.
    fn sweep(&mut self) {
        let ended: Vec<u64> =
            self.streams.iter().filter(|(_, stream)| stream.finished).map(|(number, _)| *number).collect();
        for number in ended.iter().take(ended.len().saturating_sub(ENDED)) {
            self.streams.remove(number);
        }
    }
}
