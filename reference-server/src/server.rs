//! How do lines become messages, and messages lines again? Between the transport and the conversation: parsing,
//! batches, changes to be told, and the edge through which everything passes.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;
use tokio::time::Instant;

use crate::Options;
use crate::control::Control;
use crate::conversation::{Conversation, Outgoing};
use crate::edge::{Act, Edge, Exchange, Firings, Leave};
use crate::lines::Frame;
use crate::message::{Refusal, code};
use crate::settings::Settings;
use crate::store::Store;

/// A request that was not answered yet.
struct Open {
    exchange: Exchange,
    batch: Option<u64>,
}

/// Lines to be written, in order, each not before its time.
#[derive(Default)]
pub(crate) struct Outbox {
    lines: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
}

impl Outbox {
    /// Behind all others.
    fn push(&mut self, time: Instant, line: Vec<u8>) {
        if !line.is_empty() {
            let earliest = self.lines.back().map_or(time, |(earlier, _)| time.max(*earlier));
            self.bytes += line.len();
            self.lines.push_back((earliest, line));
        }
    }

    /// Before those whose time comes later.
    fn insert(&mut self, time: Instant, line: Vec<u8>) {
        let place = self.lines.iter().rposition(|(earlier, _)| *earlier <= time).map_or(0, |place| place + 1);
        self.bytes += line.len();
        self.lines.insert(place, (time, line));
    }

    pub fn front(&self) -> Option<&(Instant, Vec<u8>)> {
        self.lines.front()
    }

    pub fn pop(&mut self) -> Option<(Instant, Vec<u8>)> {
        let front = self.lines.pop_front()?;
        self.bytes -= front.1.len();
        Some(front)
    }

    /// How many bytes wait, in all lines.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A server and its one client.
pub(crate) struct Server {
    store: Store,
    conversation: Conversation,
    edge: Edge,
    control: Option<Control>,
    keys: u64,
    open: HashMap<u64, Open>,
    /// Answers to batches of which some requests are still open.
    batches: HashMap<u64, Vec<Value>>,
    outbox: Outbox,
    /// What is to be written to standard error.
    log: Vec<u8>,
    died: Option<i32>,
}

impl Server {
    pub fn new(options: Options, firings: &Firings, now: Instant) -> Self {
        let variants: Vec<_> = options.variants.iter().map(|variant| variant.row()).collect();
        let mut edge = Edge::new(&variants, options.fault.map(|fault| fault.row()), firings);
        let mut settings = Settings::new(options.revisions);
        edge.choose(&mut settings);
        let mut outbox = Outbox::default();
        outbox.push(now, edge.start());
        Self {
            store: if settings.empty { Store::empty() } else { Store::new() },
            conversation: Conversation::new(settings),
            edge,
            control: options.control.map(Control::open),
            keys: 0,
            open: HashMap::new(),
            batches: HashMap::new(),
            outbox,
            log: Vec::new(),
            died: None,
        }
    }

    /// Takes in one line.
    pub fn receive(&mut self, mut frame: Frame, now: Instant) {
        if self.died.is_some() {
            return;
        }
        match self.edge.line(&mut frame) {
            Act::Pass => self.line(&frame, now),
            Act::Instead(messages) => messages.into_iter().for_each(|message| self.message(message, now)),
            act => self.obey(act, None, now),
        }
        self.settle(now);
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Instant) {
        self.conversation.tick(&self.store, now);
        self.settle(now);
    }

    /// Looks at the control file; whether there is one.
    pub fn poll_control(&mut self, now: Instant) {
        if let Some(control) = &mut self.control {
            control.poll(&mut self.store);
            self.settle(now);
        }
    }

    pub fn has_control(&self) -> bool {
        self.control.is_some()
    }

    /// When `tick` has something to do, if ever.
    pub fn next_due(&self) -> Option<Instant> {
        self.conversation.next_due()
    }

    /// The client has closed its end. Says how to leave; what is still to be written is in the outbox.
    pub fn end(&mut self, now: Instant) -> Leave {
        let leave = self.edge.end();
        if let Leave::After(_) = leave {
            self.conversation.close();
            self.settle(now);
        }
        match &leave {
            Leave::After(messages) => messages.iter().for_each(|message| self.send(message.clone(), now)),
            Leave::Writing(bytes) => self.outbox.push(now, bytes.to_vec()),
            Leave::Never | Leave::Code(_) => {}
        }
        leave
    }

    /// The exit code with which the server died, if it did.
    pub fn died(&self) -> Option<i32> {
        self.died
    }

    /// Takes what is to be written to standard error.
    pub fn take_log(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.log)
    }

    /// Lines to be written.
    pub fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    fn line(&mut self, frame: &Frame, now: Instant) {
        if frame.overlong {
            return self.refuse(Refusal::new(code::INVALID_REQUEST, "The line is too long"), now);
        }
        if frame.bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice(&frame.bytes) {
            Ok(message) => self.message(message, now),
            Err(_) => self.refuse(Refusal::new(code::PARSE, "Parse error"), now),
        }
    }

    fn message(&mut self, mut message: Value, now: Instant) {
        if !message.is_array() {
            return self.single(message, None, now);
        }
        match self.edge.incoming(&mut message) {
            Act::Pass => {}
            Act::Instead(messages) => {
                return messages.into_iter().for_each(|message| self.single(message, None, now));
            }
            act => return self.obey(act, None, now),
        }
        let Value::Array(messages) = message else { return };
        if messages.is_empty() || !self.conversation.takes_batches() {
            return self.refuse(Refusal::new(code::INVALID_REQUEST, "Invalid request"), now);
        }
        self.keys += 1;
        let batch = self.keys;
        self.batches.insert(batch, Vec::new());
        for message in messages {
            self.single(message, Some(batch), now);
        }
    }

    fn single(&mut self, mut message: Value, batch: Option<u64>, now: Instant) {
        match self.edge.incoming(&mut message) {
            Act::Pass => self.hear(message, batch, now),
            Act::Instead(messages) => messages.into_iter().for_each(|message| self.hear(message, batch, now)),
            act => self.obey(act, batch, now),
        }
    }

    /// Lets the conversation hear a message. Notifications and responses are not answered, so nothing stays open.
    fn hear(&mut self, message: Value, batch: Option<u64>, now: Instant) {
        self.keys += 1;
        let key = self.keys;
        let stays = message.get("id").is_some() && message.get("method").is_some();
        self.open.insert(key, Open { exchange: self.edge.exchange(&message), batch });
        self.conversation.receive(&mut self.store, key, message, now);
        self.drain(now);
        if !stays {
            self.open.remove(&key);
        }
    }

    /// An error in reply to what could not be read.
    fn refuse(&mut self, refusal: Refusal, now: Instant) {
        let replies = self.edge.reply(&Exchange::default(), refusal.reply(&Value::Null));
        replies.into_iter().for_each(|reply| self.send(reply, now));
    }

    fn obey(&mut self, act: Act, batch: Option<u64>, now: Instant) {
        match act {
            Act::Die(code) => self.died = Some(code),
            Act::Answer(messages) => messages.into_iter().for_each(|message| self.route(message, batch, now)),
            Act::Pass | Act::Drop | Act::Instead(_) => {}
        }
    }

    /// Passes on what the conversation has to say, tells it of changes, and completes batches.
    fn settle(&mut self, now: Instant) {
        self.drain(now);
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
            if let Some(answers) = self.batches.remove(&batch).filter(|answers| !answers.is_empty()) {
                self.send(Value::Array(answers), now);
            }
        }
    }

    fn drain(&mut self, now: Instant) {
        loop {
            for outgoing in self.conversation.take_outgoing() {
                self.pass_on(outgoing, now);
            }
            let changes = self.store.take_changes();
            if changes.is_empty() {
                break;
            }
            for change in changes {
                self.conversation.announce(&change);
                for outgoing in self.conversation.take_outgoing() {
                    self.pass_on(outgoing, now);
                }
                let extra = self.edge.change(&change);
                extra.into_iter().for_each(|message| self.send(message, now));
            }
        }
    }

    fn pass_on(&mut self, outgoing: Outgoing, now: Instant) {
        match outgoing {
            Outgoing::Reply { key, message } => {
                let (exchange, batch) =
                    self.open.remove(&key).map_or_else(Default::default, |open| (open.exchange, open.batch));
                let messages = self.edge.reply(&exchange, message);
                messages.into_iter().for_each(|message| self.route(message, batch, now));
            }
            Outgoing::Notice { key, message } => {
                let exchange = key.and_then(|key| self.open.get(&key)).map(|open| &open.exchange);
                let messages = self.edge.notice(exchange, message);
                messages.into_iter().for_each(|message| self.send(message, now));
            }
            Outgoing::Dropped { key } => _ = self.open.remove(&key),
        }
    }

    /// Answers to a batch wait for each other; everything else goes out.
    fn route(&mut self, message: Value, batch: Option<u64>, now: Instant) {
        match batch.and_then(|batch| self.batches.get_mut(&batch)).filter(|_| message.get("method").is_none())
        {
            Some(answers) => answers.push(message),
            None => self.send(message, now),
        }
    }

    fn send(&mut self, message: Value, now: Instant) {
        self.log.extend(self.edge.log(&message).into_bytes());
        let (bytes, delay, lingers) = self.edge.outgoing(message);
        if lingers { self.outbox.insert(now + delay, bytes) } else { self.outbox.push(now + delay, bytes) }
    }
}
