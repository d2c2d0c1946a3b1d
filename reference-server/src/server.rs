//! How do frames become messages, and messages bytes again? Between a transport and the conversation: parsing,
//! batches, changes to be told, and the edge through which everything passes. Where the bytes go is the transport's
//! affair; here is only said to what they belong.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;
use tokio::time::Instant;

use crate::Options;
use crate::conversation::{Conversation, Outgoing};
use crate::edge::{Act, Edge, Exchange, Firings, Leave};
use crate::lines::Frame;
use crate::message::{Refusal, code};
use crate::opening::SUBSCRIPTION_ID;
use crate::revision::Revision;
use crate::settings::Settings;
use crate::store::{Change, Store};

/// A request that was not answered yet.
struct Open {
    exchange: Exchange,
    batch: Option<u64>,
    origin: u64,
}

/// Bytes to be sent, and what they belong to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parcel {
    /// One message or an array of them, and a newline.
    pub line: Vec<u8>,
    /// The number under which the transport took in what this belongs to; none where it belongs to nothing.
    pub origin: Option<u64>,
    /// The method, of what is not a reply.
    pub method: Option<String>,
    /// The code of an error.
    pub code: Option<i64>,
    /// Whether it is a reply and nothing else is owed to its origin.
    pub last: bool,
}

impl Parcel {
    /// Whether it is the first of a stream of changes.
    pub fn is_acknowledgement(&self) -> bool {
        self.method.as_deref() == Some("notifications/subscriptions/acknowledged")
    }
}

/// What is to be sent, in order, each not before its time.
#[derive(Default)]
pub(crate) struct Outbox {
    parcels: VecDeque<(Instant, Parcel)>,
    bytes: usize,
}

impl Outbox {
    /// Behind all others.
    fn push(&mut self, time: Instant, parcel: Parcel) {
        if !parcel.line.is_empty() {
            let earliest = self.parcels.back().map_or(time, |(earlier, _)| time.max(*earlier));
            self.bytes += parcel.line.len();
            self.parcels.push_back((earliest, parcel));
        }
    }

    /// Before those whose time comes later.
    fn insert(&mut self, time: Instant, parcel: Parcel) {
        let place =
            self.parcels.iter().rposition(|(earlier, _)| *earlier <= time).map_or(0, |place| place + 1);
        self.bytes += parcel.line.len();
        self.parcels.insert(place, (time, parcel));
    }

    pub fn front(&self) -> Option<&(Instant, Parcel)> {
        self.parcels.front()
    }

    pub fn pop(&mut self) -> Option<(Instant, Parcel)> {
        let front = self.parcels.pop_front()?;
        self.bytes -= front.1.line.len();
        Some(front)
    }

    /// Whether something for this origin waits.
    pub fn holds(&self, origin: u64) -> bool {
        self.parcels.iter().any(|(_, parcel)| parcel.origin == Some(origin))
    }

    /// Whether the last that is owed to this origin waits.
    fn ends(&self, origin: u64) -> bool {
        self.parcels.iter().any(|(_, parcel)| parcel.origin == Some(origin) && parcel.last)
    }

    /// How many bytes wait, in all parcels.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The server as one client meets it. The resources are not part of it: several may share them.
pub(crate) struct Server {
    conversation: Conversation,
    edge: Edge,
    /// How many changes of the resources it has heard of.
    heard: usize,
    keys: u64,
    open: HashMap<u64, Open>,
    /// Answers to batches of which some requests are still open, and where the batch came from.
    batches: HashMap<u64, (u64, Vec<Value>)>,
    outbox: Outbox,
    /// Origins whose request was cancelled, so that no reply comes.
    dropped: Vec<u64>,
    /// What is to be written to standard error.
    log: Vec<u8>,
    died: Option<i32>,
}

/// The edge of a server and the choices that it has made.
pub(crate) fn prepare(options: &Options, firings: &Firings) -> (Edge, Settings) {
    let variants: Vec<_> = options.variants.iter().map(|variant| variant.row()).collect();
    let mut edge = Edge::new(&variants, options.fault.map(|fault| fault.row()), firings);
    let mut settings = Settings::new(options.revisions.clone());
    edge.choose(&mut settings);
    (edge, settings)
}

impl Server {
    /// A server that tells of changes from now on.
    pub fn new(conversation: Conversation, edge: Edge, store: &Store) -> Self {
        Self {
            conversation,
            edge,
            heard: store.change_count(),
            keys: 0,
            open: HashMap::new(),
            batches: HashMap::new(),
            outbox: Outbox::default(),
            dropped: Vec::new(),
            log: Vec::new(),
            died: None,
        }
    }

    /// What is to be written before anything is read.
    pub fn start(&mut self, now: Instant) {
        let bytes = self.edge.start();
        self.write(bytes, now);
    }

    /// Takes in one frame, under a number by which the transport knows it again.
    pub fn receive(&mut self, store: &mut Store, origin: u64, mut frame: Frame, now: Instant) {
        if self.died.is_some() {
            return;
        }
        match self.edge.line(&mut frame) {
            Act::Pass => self.frame(store, origin, &frame, now),
            Act::Instead(messages) => {
                messages.into_iter().for_each(|message| self.message(store, origin, message, now));
            }
            act => self.obey(act, None, origin, now),
        }
        self.settle(store, now);
    }

    /// Does what is due.
    pub fn tick(&mut self, store: &Store, now: Instant) {
        self.conversation.tick(store, now);
        self.settle(store, now);
    }

    /// When `tick` has something to do, if ever.
    pub fn next_due(&self) -> Option<Instant> {
        self.conversation.next_due()
    }

    /// The client has closed its end. Says how to leave; what is still to be written is in the outbox.
    pub fn end(&mut self, store: &Store, now: Instant) -> Leave {
        let leave = self.edge.end();
        if let Leave::After(_) = leave {
            self.conversation.close();
            self.settle(store, now);
        }
        match &leave {
            Leave::After(messages) => {
                messages.iter().for_each(|message| self.send(message.clone(), None, now))
            }
            Leave::Writing(bytes) => self.write(bytes.to_vec(), now),
            Leave::Never | Leave::Code(_) => {}
        }
        leave
    }

    /// Nobody takes what belongs to this origin any more: its requests are cancelled.
    pub fn hang_up(&mut self, origin: u64) {
        let Self { conversation, edge, open, .. } = self;
        open.retain(|key, open| {
            if open.origin == origin {
                conversation.forget(*key);
                edge.forget(&open.exchange);
            }
            open.origin != origin
        });
    }

    /// The exit code with which the server died, if it did.
    pub fn died(&self) -> Option<i32> {
        self.died
    }

    /// What `initialize` agreed on, if it was said.
    pub fn revision(&self) -> Option<Revision> {
        self.conversation.revision()
    }

    /// Takes what is to be written to standard error.
    pub fn take_log(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.log)
    }

    /// Takes the origins of which a request was cancelled since this was asked last, and to which nothing else of
    /// their batch is owed.
    pub fn take_dropped(&mut self) -> Vec<u64> {
        let mut dropped = std::mem::take(&mut self.dropped);
        dropped.retain(|origin| {
            !self.outbox.ends(*origin) && !self.open.values().any(|open| open.origin == *origin)
        });
        dropped
    }

    /// What is to be sent.
    pub fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// An error in reply to what could not be read.
    pub fn refuse(&mut self, refusal: Refusal, origin: u64, now: Instant) {
        let replies = self.edge.reply(&Exchange::default(), refusal.reply(&Value::Null));
        replies.into_iter().for_each(|reply| self.send(reply, Some(origin), now));
    }

    fn frame(&mut self, store: &mut Store, origin: u64, frame: &Frame, now: Instant) {
        if frame.overlong {
            let refusal = Refusal::new(code::INVALID_REQUEST, "The line is too long");
            return self.refuse(refusal, origin, now);
        }
        if frame.bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice(&frame.bytes) {
            Ok(message) => self.message(store, origin, message, now),
            Err(_) => self.refuse(Refusal::new(code::PARSE, "Parse error"), origin, now),
        }
    }

    fn message(&mut self, store: &mut Store, origin: u64, mut message: Value, now: Instant) {
        if !message.is_array() {
            return self.single(store, message, None, origin, now);
        }
        match self.edge.incoming(&mut message) {
            Act::Pass => {}
            Act::Instead(messages) => {
                return messages
                    .into_iter()
                    .for_each(|message| self.single(store, message, None, origin, now));
            }
            act => return self.obey(act, None, origin, now),
        }
        let Value::Array(messages) = message else { return };
        if messages.is_empty() || !self.conversation.takes_batches() {
            return self.refuse(Refusal::new(code::INVALID_REQUEST, "Invalid request"), origin, now);
        }
        self.keys += 1;
        let batch = self.keys;
        self.batches.insert(batch, (origin, Vec::new()));
        for message in messages {
            self.single(store, message, Some(batch), origin, now);
        }
    }

    fn single(
        &mut self,
        store: &mut Store,
        mut message: Value,
        batch: Option<u64>,
        origin: u64,
        now: Instant,
    ) {
        match self.edge.incoming(&mut message) {
            Act::Pass => self.hear(store, message, batch, origin, now),
            Act::Instead(messages) => {
                messages.into_iter().for_each(|message| self.hear(store, message, batch, origin, now));
            }
            act => self.obey(act, batch, origin, now),
        }
    }

    /// Lets the conversation hear a message. Notifications and responses are not answered, so nothing stays open.
    fn hear(&mut self, store: &mut Store, message: Value, batch: Option<u64>, origin: u64, now: Instant) {
        self.keys += 1;
        let key = self.keys;
        let stays = message.get("id").is_some() && message.get("method").is_some();
        self.open.insert(key, Open { exchange: self.edge.exchange(&message), batch, origin });
        self.conversation.receive(store, key, message, now);
        self.drain(store, now);
        if !stays {
            self.open.remove(&key);
        }
    }

    fn obey(&mut self, act: Act, batch: Option<u64>, origin: u64, now: Instant) {
        match act {
            Act::Die(code) => self.died = Some(code),
            Act::Answer(messages) => {
                messages.into_iter().for_each(|message| self.route(message, batch, Some(origin), now));
            }
            Act::Pass | Act::Drop | Act::Instead(_) => {}
        }
    }

    /// Passes on what the conversation has to say, tells it of changes, and completes batches.
    pub fn settle(&mut self, store: &Store, now: Instant) {
        self.drain(store, now);
        let Self { batches, open, .. } = self;
        if batches.is_empty() {
            return;
        }
        let complete: Vec<u64> = batches
            .keys()
            .filter(|batch| !open.values().any(|o| o.batch == Some(**batch)))
            .copied()
            .collect();
        for batch in complete {
            if let Some((origin, answers)) = self.batches.remove(&batch).filter(|(_, all)| !all.is_empty()) {
                self.send(Value::Array(answers), Some(origin), now);
            }
        }
    }

    fn drain(&mut self, store: &Store, now: Instant) {
        loop {
            for outgoing in self.conversation.take_outgoing() {
                self.pass_on(outgoing, now);
            }
            let changes = store.changes_after(self.heard);
            if changes.is_empty() {
                break;
            }
            self.heard = store.change_count();
            for change in changes {
                self.tell(&change, now);
            }
        }
    }

    fn tell(&mut self, change: &Change, now: Instant) {
        self.conversation.announce(change);
        for outgoing in self.conversation.take_outgoing() {
            self.pass_on(outgoing, now);
        }
        for message in self.edge.change(change) {
            // What names a stream belongs to it.
            let id = message.pointer("/params/_meta").and_then(|meta| meta.get(SUBSCRIPTION_ID));
            let stream = self.open.values().find(|open| id == Some(open.exchange.id()));
            let origin = stream.map(|open| open.origin);
            self.send(message, origin, now);
        }
    }

    fn pass_on(&mut self, outgoing: Outgoing, now: Instant) {
        match outgoing {
            Outgoing::Reply { key, message } => {
                let open = self.open.remove(&key);
                let (batch, origin) =
                    open.as_ref().map_or((None, None), |open| (open.batch, Some(open.origin)));
                let exchange = open.map(|open| open.exchange).unwrap_or_default();
                let messages = self.edge.reply(&exchange, message);
                messages.into_iter().for_each(|message| self.route(message, batch, origin, now));
            }
            Outgoing::Notice { key, message } => {
                let open = key.and_then(|key| self.open.get(&key));
                let origin = open.map(|open| open.origin);
                let messages = self.edge.notice(open.map(|open| &open.exchange), message);
                messages.into_iter().for_each(|message| self.send(message, origin, now));
            }
            Outgoing::Dropped { key } => {
                if let Some(open) = self.open.remove(&key) {
                    self.dropped.push(open.origin);
                }
            }
        }
    }

    /// Answers to a batch wait for each other; everything else goes out.
    fn route(&mut self, message: Value, batch: Option<u64>, origin: Option<u64>, now: Instant) {
        match batch.and_then(|batch| self.batches.get_mut(&batch)).filter(|_| message.get("method").is_none())
        {
            Some((_, answers)) => answers.push(message),
            None => self.send(message, origin, now),
        }
    }

    fn send(&mut self, message: Value, origin: Option<u64>, now: Instant) {
        self.log.extend(self.edge.log(&message).into_bytes());
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        // Also where it is written as a fraction.
        let code = message.pointer("/error/code").and_then(Value::as_f64).map(|code| code as i64);
        let owed = |open: &Open| Some(open.origin) == origin && *open.exchange.id() != message["id"];
        let last = method.is_none() && !self.open.values().any(owed);
        let (line, delay, lingers) = self.edge.outgoing(message);
        let parcel = Parcel { line, origin, method, code, last };
        if lingers { self.outbox.insert(now + delay, parcel) } else { self.outbox.push(now + delay, parcel) }
    }

    /// Bytes that are no message.
    fn write(&mut self, line: Vec<u8>, now: Instant) {
        self.outbox.push(now, Parcel { line, origin: None, method: None, code: None, last: false });
    }
}
