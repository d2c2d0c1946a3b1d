//! Where does each message of one client go? A room is a conversation with all streams that belong to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::choices::{Choices, Replies, Route};
use super::stream::{Answer, Events, Stream, priming};
use super::wire::{Event, Passage};
use crate::edge::Edge;
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
    /// A single request of a server whose sessions have no ids.
    Single,
}

/// What a room must know of the door through which everything passes.
pub(super) struct Door {
    pub edge: Edge,
    pub choices: Choices,
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
    pub fn expect(&mut self, number: u64, door: &Door) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        self.streams.insert(number, Stream::answering(sender, self.is_resumable(door)));
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

    fn is_resumable(&self, door: &Door) -> bool {
        self.kind == Kind::Session && door.choices.resuming
    }

    pub fn has_listener(&self) -> bool {
        self.listener().is_some()
    }

    /// Opens a stream for what belongs to no request.
    pub fn listen(&mut self, number: u64, door: &mut Door) -> (Events, u64) {
        let mut stream = Stream::silent(self.is_resumable(door));
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
        if self.is_resumable(door) {
            self.prime(number, door);
        }
        (events, connections)
    }

    /// Takes up a stream behind the event with this id; none if there is no such stream.
    pub fn resume(&mut self, id: &str, door: &Door) -> Option<(Events, u64, u64)> {
        let (number, place) = id.split_once('-')?;
        let (number, place) = (number.parse().ok()?, place.parse::<u64>().ok()?);
        if door.choices.replaying_all {
            let others: Vec<Vec<u8>> = self
                .streams
                .iter()
                .filter(|(other, _)| **other != number)
                .flat_map(|(_, s)| s.kept())
                .collect();
            let stream = self.streams.get_mut(&number)?;
            others.into_iter().for_each(|bytes| stream.send(vec![bytes]));
        }
        let stream = self.streams.get_mut(&number).filter(|stream| stream.is_resumable())?;
        if stream.is_unanswered() {
            return None;
        }
        let events = stream.connect(place.saturating_add(1));
        Some((events, number, stream.connections))
    }

    /// Sends what belongs to no request and had nobody to hear it.
    pub fn catch_up(&mut self, door: &mut Door) {
        if let Some(number) = self.listener() {
            for parcel in std::mem::take(&mut self.backlog) {
                self.carry(number, &parcel, door);
            }
        }
    }

    fn carry(&mut self, number: u64, parcel: &Parcel, door: &mut Door) {
        self.send_of(
            number,
            Event::message(&parcel.line),
            parcel.method.clone(),
            parcel.method.is_none(),
            door,
        );
    }

    /// Sends an event that carries no message.
    pub fn send(&mut self, number: u64, event: Event, door: &mut Door) {
        self.send_of(number, event, None, false, door);
    }

    fn send_of(
        &mut self,
        number: u64,
        mut event: Event,
        method: Option<String>,
        reply: bool,
        door: &mut Door,
    ) {
        let (old, revision) = (self.kind == Kind::Old, self.server.revision());
        let listens = self.listening.contains(&number);
        let Some(stream) = self.streams.get_mut(&number) else { return };
        if stream.is_resumable() {
            event.id = Some(format!("{number}-{}", stream.next()));
        }
        if old && event.name.is_none() {
            event.name = Some("message");
        }
        let passage = Passage { stream: number, place: stream.next(), listens, old, revision, method, reply };
        for (event, pieces) in door.edge.event(&passage, event) {
            stream.send(pieces);
            if event.breaks {
                stream.disconnect();
            }
        }
    }

    /// The client has left a stream, which was then connected for this time.
    pub fn leave(&mut self, number: u64, connections: u64, door: &Door) {
        let finished = match self.streams.get_mut(&number) {
            Some(stream) if stream.is_unanswered() || stream.connections == connections => {
                stream.disconnect();
                stream.finished
            }
            _ => return,
        };
        match self.kind {
            // Nobody can come back, so it is cancelled.
            Kind::Everybody if !door.choices.noticing => {}
            Kind::Session if !door.choices.cancelling || finished => {}
            Kind::Everybody | Kind::Session => {
                self.streams.remove(&number);
                self.server.hang_up(number);
            }
            Kind::Old | Kind::Single => self.closed = true,
        }
    }

    /// Sends what is due, each message on one stream.
    pub fn deliver(&mut self, now: Instant, door: &mut Door) {
        let mut touched = BTreeSet::new();
        while self.server.outbox().front().is_some_and(|(time, _)| *time <= now) {
            let Some((_, parcel)) = self.server.outbox().pop() else { break };
            self.strew(&parcel, door);
            match self.place(&parcel, door) {
                Some(number) => {
                    touched.insert(number);
                    if let Some(stream) = self.streams.get_mut(&number) {
                        stream.waiting.push(parcel);
                    }
                }
                None if parcel.method.is_some() && self.kind == Kind::Session => {
                    self.backlog.push_back(parcel);
                    if self.backlog.len() > BACKLOG {
                        self.backlog.pop_front();
                    }
                }
                None => {}
            }
        }
        touched.into_iter().for_each(|number| self.flush(number, door));
        for number in self.server.take_dropped() {
            self.end_unanswered(number, door);
        }
        self.sweep();
        self.closed |= self.kind == Kind::Single && self.streams.is_empty();
    }

    /// Sends a message where it does not belong, besides, if the server is one that does.
    fn strew(&mut self, parcel: &Parcel, door: &mut Door) {
        let Some(newest) = self.listener().filter(|_| self.kind == Kind::Session) else { return };
        match door.choices.route {
            Route::RepliesToListenerToo if parcel.method.is_none() => self.carry(newest, parcel, door),
            Route::ChangesToAll if parcel.origin.is_none() => {
                for number in self.listening.clone() {
                    if number != newest && self.streams.get(&number).is_some_and(Stream::is_connected) {
                        self.carry(number, parcel, door);
                    }
                }
            }
            _ => {}
        }
    }

    /// When `deliver` or the conversation has something to do, if ever.
    pub fn next_due(&mut self) -> Option<Instant> {
        let release = self.server.outbox().front().map(|(time, _)| *time);
        [release, self.server.next_due()].into_iter().flatten().min()
    }

    /// The stream on which a message goes. In a session, only what concerns one request goes with it.
    fn place(&self, parcel: &Parcel, door: &Door) -> Option<u64> {
        let own = parcel.origin.filter(|number| self.streams.get(number).is_some_and(|s| !s.finished));
        let method = parcel.method.as_deref();
        let concerns_one = matches!(method, None | Some("notifications/progress" | "notifications/message"));
        match (self.kind, door.choices.route) {
            (Kind::Old, _) => self.listener(),
            (Kind::Session, Route::ProgressToListener) if method == Some("notifications/progress") => {
                self.listener().or(own)
            }
            (Kind::Everybody, Route::ProgressToListener) if method == Some("notifications/progress") => {
                self.request_other_than(own).or(own)
            }
            (Kind::Everybody, Route::ChangesWithRequests)
                if !concerns_one && !parcel.is_acknowledgement() =>
            {
                self.request_other_than(own).or(own)
            }
            (Kind::Session, Route::ChangesWithRequests) if !concerns_one => {
                self.request_other_than(None).or_else(|| self.listener())
            }
            (Kind::Everybody | Kind::Single, _) => own,
            (Kind::Session, _) if concerns_one => {
                own.or_else(|| self.listener().filter(|_| method.is_some()))
            }
            (Kind::Session, _) => self.listener(),
        }
    }

    /// A request that is not this one and waits for its reply: the newest but one, since the newest may be what brought
    /// the change about; else that.
    fn request_other_than(&self, own: Option<u64>) -> Option<u64> {
        let waits = |(number, stream): &(&u64, &Stream)| {
            Some(**number) != own && !stream.finished && !self.listening.contains(number)
        };
        let mut waiting = self.streams.iter().filter(waits).map(|(number, _)| *number).rev();
        let newest = waiting.next();
        waiting.next().or(newest)
    }

    /// The stream on which somebody listens now.
    fn listener(&self) -> Option<u64> {
        let is_connected = |number: &&u64| self.streams.get(number).is_some_and(Stream::is_connected);
        self.listening.iter().rfind(is_connected).copied()
    }

    /// Answers by one message if that is all there is to say, and by events otherwise.
    fn flush(&mut self, number: u64, door: &mut Door) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        let mut waiting = std::mem::take(&mut stream.waiting);
        let last = waiting.iter().any(|parcel| parcel.last) && self.kind != Kind::Old;
        if stream.is_unanswered() && door.choices.replies == Replies::Messages && !is_listening(&waiting) {
            waiting.retain(|parcel| parcel.method.is_none());
            if waiting.is_empty() {
                return;
            }
        }
        let refusal = waiting.iter().find_map(|parcel| parcel.code);
        if self.opening == Some(number) && last {
            self.opening = None;
            self.closed |= refusal.is_some();
        }
        if stream.is_unanswered() {
            // What refuses a request has a status to say so.
            let is_lone = last && (door.choices.replies != Replies::Events || refusal.is_some());
            if let ([parcel], true) = (waiting.as_slice(), is_lone) {
                let line = parcel.line.strip_suffix(b"\n").unwrap_or(&parcel.line).to_vec();
                stream.answer(Answer::Message { line, code: parcel.code });
                self.streams.remove(&number);
                return;
            }
            self.open_events(number, refusal.is_some(), door);
        }
        for parcel in waiting {
            self.carry(number, &parcel, door);
        }
        if last && door.choices.ending {
            self.end(number);
        }
    }

    fn open_events(&mut self, number: u64, refused: bool, door: &mut Door) {
        if let Some(stream) = self.streams.get_mut(&number) {
            let events = stream.connect(0);
            stream.answer(Answer::Events { events, refused });
            if stream.is_resumable() {
                self.prime(number, door);
            }
        }
    }

    /// From 2025-11-25 on a stream begins with an id to come back by.
    fn prime(&mut self, number: u64, door: &mut Door) {
        if door.choices.priming && self.server.revision() >= Some(Revision::V2025_11_25) {
            self.send(number, priming(), door);
        }
    }

    /// No answer will come: the request was cancelled.
    fn end_unanswered(&mut self, number: u64, door: &mut Door) {
        if self.streams.get(&number).is_some_and(Stream::is_unanswered) {
            self.open_events(number, false, door);
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

/// Whether what waits opens a stream that goes on and on.
fn is_listening(waiting: &[Parcel]) -> bool {
    waiting.iter().any(Parcel::is_acknowledgement)
}
