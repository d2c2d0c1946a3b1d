//! What does a server on HTTP know at any moment? Its resources, who its clients are, and when something is due. All
//! of it changes under one lock, and nothing here waits.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use tokio::time::Instant;

use super::room::{Door, Kind, Room};
use crate::Options;
use crate::control::{Control, POLL};
use crate::conversation::Conversation;
use crate::edge::Firings;
use crate::lines::Frame;
use crate::revision::Revision;
use crate::server::{Server, prepare};
use crate::settings::Settings;
use crate::store::Store;

/// More sessions than this are not kept; the oldest makes room.
const SESSIONS: usize = 1024;

/// Which room is meant: that of a session, or that of everybody else.
pub(super) type Key = Option<String>;

pub(super) struct State {
    options: Options,
    firings: Firings,
    pub settings: Settings,
    pub door: Door,
    store: Store,
    control: Option<Control>,
    next_poll: Option<Instant>,
    everybody: Room,
    sessions: HashMap<String, Room>,
    /// Their ids, oldest first.
    order: VecDeque<String>,
    secret: RandomState,
    numbers: u64,
    pub died: Option<i32>,
}

impl State {
    pub fn new(mut options: Options, firings: Firings, now: Instant) -> Self {
        let control = options.control.take().map(Control::open);
        let (door, settings) = prepare(&options, &firings);
        let door = Door { edge: door, choices: settings.http.clone() };
        let store = Store::of(&settings);
        let (mut edge, _) = prepare(&options, &firings);
        let ours = settings.only(|revision| revision.is_stateless());
        edge.offer(&ours.revisions);
        let server = Server::new(Conversation::shared(ours), edge, &store);
        Self {
            options,
            firings,
            settings,
            door,
            next_poll: control.as_ref().map(|_| now + POLL),
            control,
            everybody: Room::new(server, Kind::Everybody, None),
            store,
            sessions: HashMap::new(),
            order: VecDeque::new(),
            secret: RandomState::new(),
            numbers: 0,
            died: None,
        }
    }

    /// A number that nothing else has: of a request, a stream, a session.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub fn room(&mut self, key: &Key) -> Option<&mut Room> {
        self.at(key).map(|(room, _)| room)
    }

    /// A room, and the door through which it speaks.
    pub fn at(&mut self, key: &Key) -> Option<(&mut Room, &mut Door)> {
        let room = room_of(&mut self.everybody, &mut self.sessions, key)?;
        Some((room, &mut self.door))
    }

    /// Opens a session for the request with this number, and returns its id.
    pub fn open(&mut self, kind: Kind, opening: Option<u64>) -> String {
        let ours = self.settings.only(|revision| !revision.is_stateless());
        self.seat(Conversation::new(ours), kind, opening)
    }

    /// Opens a room for a single request of this revision, whose client has opened its session elsewhere.
    pub fn open_single(&mut self, revision: Revision) -> String {
        let ours = self.settings.only(|revision| !revision.is_stateless());
        self.seat(Conversation::opened(ours, revision), Kind::Single, None)
    }

    fn seat(&mut self, conversation: Conversation, kind: Kind, opening: Option<u64>) -> String {
        let (mut edge, _) = prepare(&self.options, &self.firings);
        edge.offer(&self.settings.only(|revision| !revision.is_stateless()).revisions);
        let server = Server::new(conversation, edge, &self.store);
        let number = self.number();
        let id =
            format!("{:016x}{:016x}", self.secret.hash_one((number, 0)), self.secret.hash_one((number, 1)));
        self.sessions.insert(id.clone(), Room::new(server, kind, opening));
        self.order.push_back(id.clone());
        if self.order.len() > SESSIONS {
            self.order.pop_front().and_then(|oldest| self.sessions.remove(&oldest));
        }
        id
    }

    /// Ends a session; whether there was one.
    pub fn close(&mut self, id: &str) -> bool {
        self.order.retain(|known| known != id);
        self.sessions.remove(id).is_some()
    }

    /// Lets a room hear the body of a request, and sends what there is to say, there and elsewhere.
    pub fn receive(&mut self, key: &Key, number: u64, body: Vec<u8>, now: Instant) {
        if let Some(room) = room_of(&mut self.everybody, &mut self.sessions, key) {
            let first = body.len();
            let frame = Frame { bytes: body, first, ..Frame::default() };
            room.server.receive(&mut self.store, number, frame, now);
        }
        self.settle(now);
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Instant) {
        if let Some(control) =
            self.control.as_mut().filter(|_| self.next_poll.is_some_and(|time| time <= now))
        {
            control.poll(&mut self.store);
            self.next_poll = Some(now + POLL);
        }
        let Self { everybody, sessions, store, .. } = self;
        for room in std::iter::once(everybody).chain(sessions.values_mut()) {
            room.server.tick(store, now);
        }
        self.settle(now);
    }

    /// Tells everybody what happened, sends what is due, and forgets the sessions that are over.
    pub fn settle(&mut self, now: Instant) {
        let Self { everybody, sessions, store, died, door, .. } = self;
        for room in std::iter::once(everybody).chain(sessions.values_mut()) {
            room.server.settle(store, now);
            room.deliver(now, door);
            // There is no place for it but the standard error of a process.
            room.server.take_log();
            *died = died.or(room.server.died());
        }
        self.sessions.retain(|_, room| !room.closed);
        let Self { sessions, order, .. } = self;
        order.retain(|id| sessions.contains_key(id));
    }

    /// When `tick` has something to do, if ever.
    pub fn next_due(&mut self) -> Option<Instant> {
        let Self { everybody, sessions, next_poll, .. } = self;
        let rooms = std::iter::once(everybody).chain(sessions.values_mut());
        rooms.filter_map(Room::next_due).chain(*next_poll).min()
    }
}

fn room_of<'s>(
    everybody: &'s mut Room,
    sessions: &'s mut HashMap<String, Room>,
    key: &Key,
) -> Option<&'s mut Room> {
    match key {
        None => Some(everybody),
        Some(id) => sessions.get_mut(id),
    }
}
