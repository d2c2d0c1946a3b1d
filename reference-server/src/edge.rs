//! How can a clean server be made to go wrong, or to differ lawfully, without a trace of it in its logic? Each fault
//! and each variant is a row: a name, a sentence, and hooks at the places where messages pass. The tables are in
//! `faults` and `variants`; here are the hooks, what they may know, and the running of them.

mod http;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::http::{Arrival, Departure, Event, Passage};
use crate::lines::Frame;
pub(crate) use crate::memory::{Exchange, Memory};
use crate::revision::Revision;
use crate::settings::Settings;
use crate::store::Change;
pub(crate) use http::Tampering;

/// How often a fault did something. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Firings(Arc<AtomicU64>);

impl Firings {
    /// The count so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// How a client may reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// Lines on standard input and output.
    Stdio,
    /// Streamable HTTP, or HTTP+SSE.
    Http,
}

/// One fault or variant.
pub(crate) struct Row {
    pub name: &'static str,
    pub about: &'static str,
    pub hooks: &'static [Hook],
    /// Where it can show.
    pub transports: &'static [Transport],
}

/// One of messages, which shows on any transport.
pub(crate) const fn row(name: &'static str, about: &'static str, hooks: &'static [Hook]) -> Row {
    Row { name, about, hooks, transports: &[Transport::Stdio, Transport::Http] }
}

/// One of lines, of a process, or of a client that is alone.
pub(crate) const fn stdio_row(name: &'static str, about: &'static str, hooks: &'static [Hook]) -> Row {
    Row { name, about, hooks, transports: &[Transport::Stdio] }
}

/// One of HTTP.
pub(crate) const fn http_row(name: &'static str, about: &'static str, hooks: &'static [Hook]) -> Row {
    Row { name, about, hooks, transports: &[Transport::Http] }
}

/// A place where messages pass, and what happens there.
pub(crate) enum Hook {
    /// Before everything: other choices of the server.
    Choose(fn(&mut Settings)),
    /// Before anything is read: bytes to write.
    Start(&'static [u8]),
    /// A line from the client, not yet parsed.
    Line(fn(&mut Memory, &mut Frame) -> Act),
    /// A message from the client, or an array of them.
    In(fn(&mut Memory, &mut Value) -> Act),
    /// The result of this method (`*`: of any).
    Result(&'static str, fn(&Exchange, &mut Value)),
    /// The error in a reply to this method (`*`: to anything).
    Error(&'static str, fn(&Exchange, &mut Value)),
    /// A reply, whole; what is returned goes out in its place.
    Reply(fn(&mut Memory, &Exchange, Value) -> Vec<Value>),
    /// A notification; what is returned goes out in its place.
    Notice(fn(&mut Memory, Value) -> Vec<Value>),
    /// A change in the store; what is returned goes out besides.
    Change(fn(&mut Memory, &Change) -> Vec<Value>),
    /// Anything that goes out, an array too.
    Out(fn(&mut Memory, &mut Value)),
    /// The line for this message, without its newline; bytes that go out, newline and all.
    Bytes(fn(&mut Memory, &Value, &mut Vec<u8>)),
    /// What is written to standard error when this message goes out.
    Log(fn(&Value) -> String),
    /// How long a message is held back, and all that follow it.
    Delay(fn(&mut Memory, &Value) -> Duration),
    /// How long a message is held back, while others overtake it.
    Linger(fn(&mut Memory, &Value) -> Duration),
    /// The client has closed its end.
    End(fn(&mut Memory) -> Leave),
    /// An HTTP request as it comes in.
    Arrive(fn(&mut Memory, &mut Arrival) -> Meeting),
    /// An HTTP response as it goes out.
    Depart(fn(&mut Memory, &Arrival, &mut Departure)),
    /// An event of a stream; what is returned goes out in its place.
    Event(fn(&mut Memory, &Passage, Event) -> Vec<Event>),
    /// The bytes of an event, and the pieces in which they go out.
    Pieces(fn(&mut Memory, &Passage, Vec<u8>) -> Vec<Vec<u8>>),
    /// Bytes of a connection as they are read, in place.
    Reading(fn(&mut [u8])),
    /// Bytes of a connection as they are written, in place.
    Writing(fn(&mut [u8])),
}

/// What becomes of something that came in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// It goes on, as altered.
    Pass,
    /// Nobody hears of it.
    Drop,
    /// These go out, and it is not heard of.
    Answer(Vec<Value>),
    /// These are heard instead.
    Instead(Vec<Value>),
    /// The server dies with this exit code.
    Die(i32),
}

/// What becomes of an HTTP request.
pub(crate) enum Meeting {
    /// It goes on, as altered.
    Pass,
    /// This goes out, and it is not heard of.
    Answer(Departure),
    /// It is never answered.
    Silence,
}

/// How the server leaves when the client has closed its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Leave {
    /// As it should, after these messages.
    After(Vec<Value>),
    /// As it should, after these bytes.
    Writing(&'static [u8]),
    /// Not at all.
    Never,
    /// With this exit code.
    Code(i32),
}

/// One row at work.
struct Active {
    row: &'static Row,
    memory: Memory,
    firings: Firings,
}

/// All rows at work on one server: variants first, so that the fault has the last word.
pub(crate) struct Edge(Vec<Active>);

impl Edge {
    pub fn new(variants: &[&'static Row], fault: Option<&'static Row>, firings: &Firings) -> Self {
        let active = |row, firings| Active { row, memory: Memory::default(), firings };
        let variants = variants.iter().map(|row| active(*row, Firings::default()));
        Self(variants.chain(fault.map(|row| active(row, firings.clone()))).collect())
    }

    pub fn choose(&mut self, settings: &mut Settings) {
        for Active { row, firings, .. } in &self.0 {
            for hook in row.hooks {
                if let Hook::Choose(choose) = hook {
                    choose(settings);
                    firings.add();
                }
            }
        }
        self.offer(&settings.revisions);
    }

    /// Says which of the revisions are on offer where this edge is.
    pub fn offer(&mut self, revisions: &[Revision]) {
        for active in &mut self.0 {
            active.memory.offered = revisions.to_vec();
        }
    }

    /// The exchange has ended without a reply.
    pub fn forget(&mut self, exchange: &Exchange) {
        for active in &mut self.0 {
            active.memory.streams.retain(|(id, _)| id != exchange.id());
        }
    }

    pub fn start(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for Active { row, firings, .. } in &self.0 {
            for hook in row.hooks {
                if let Hook::Start(text) = hook {
                    bytes.extend_from_slice(text);
                    firings.add();
                }
            }
        }
        bytes
    }

    pub fn line(&mut self, frame: &mut Frame) -> Act {
        for Active { row, memory, firings } in &mut self.0 {
            memory.place = (frame.index, frame.more);
            for hook in row.hooks {
                if let Hook::Line(alter) = hook {
                    let before = frame.bytes.clone();
                    let act = alter(memory, frame);
                    if act != Act::Pass || before != frame.bytes {
                        firings.add();
                    }
                    if act != Act::Pass {
                        return act;
                    }
                }
            }
        }
        Act::Pass
    }

    pub fn incoming(&mut self, message: &mut Value) -> Act {
        for active in &mut self.0 {
            active.memory.observe_in(message);
        }
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                if let Hook::In(alter) = hook {
                    let before = message.clone();
                    let act = alter(memory, message);
                    if act != Act::Pass || before != *message {
                        firings.add();
                    }
                    if act != Act::Pass {
                        return act;
                    }
                }
            }
        }
        Act::Pass
    }

    /// The exchange that a message begins.
    pub fn exchange(&self, message: &Value) -> Exchange {
        match self.0.first() {
            Some(active) => active.memory.exchange(message),
            None => Exchange::default(),
        }
    }

    pub fn reply(&mut self, exchange: &Exchange, message: Value) -> Vec<Value> {
        for active in &mut self.0 {
            active.memory.observe_reply(exchange, &message);
        }
        self.through(message, |hook, memory, message| match hook {
            Hook::Result(method, alter) => {
                let mut message = message.clone();
                if let Some(result) = message.get_mut("result").filter(|_| concerns(method, exchange)) {
                    alter(exchange, result);
                }
                Some(vec![message])
            }
            Hook::Error(method, alter) => {
                let mut message = message.clone();
                if let Some(error) = message.get_mut("error").filter(|_| concerns(method, exchange)) {
                    alter(exchange, error);
                }
                Some(vec![message])
            }
            // Only replies: what an earlier hook put beside them passes untouched.
            Hook::Reply(alter) if message.get("method").is_none() => {
                Some(alter(memory, exchange, message.clone()))
            }
            _ => None,
        })
    }

    pub fn notice(&mut self, exchange: Option<&Exchange>, message: Value) -> Vec<Value> {
        for active in &mut self.0 {
            active.memory.observe_notice(exchange, &message);
        }
        self.through(message, |hook, memory, message| match hook {
            Hook::Notice(alter) => Some(alter(memory, message.clone())),
            _ => None,
        })
    }

    pub fn change(&mut self, change: &Change) -> Vec<Value> {
        let mut extra = Vec::new();
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                if let Hook::Change(more) = hook {
                    let more = more(memory, change);
                    if !more.is_empty() {
                        firings.add();
                    }
                    extra.extend(more);
                }
            }
        }
        extra
    }

    /// The bytes that go out for a message, how long they wait, and whether others may overtake them.
    pub fn outgoing(&mut self, mut message: Value) -> (Vec<u8>, Duration, bool) {
        let (mut delay, mut lingers) = (Duration::ZERO, false);
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                match hook {
                    Hook::Out(alter) => {
                        let before = message.clone();
                        alter(memory, &mut message);
                        if before != message {
                            firings.add();
                        }
                    }
                    Hook::Delay(wait) | Hook::Linger(wait) => {
                        let wait = wait(memory, &message);
                        lingers |= matches!(hook, Hook::Linger(_));
                        if wait > Duration::ZERO {
                            firings.add();
                        }
                        delay += wait;
                    }
                    _ => {}
                }
            }
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(b'\n');
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                if let Hook::Bytes(alter) = hook {
                    let before = bytes.clone();
                    alter(memory, &message, &mut bytes);
                    if before != bytes {
                        firings.add();
                    }
                }
            }
        }
        (bytes, delay, lingers)
    }

    /// What goes to standard error beside a message.
    pub fn log(&self, message: &Value) -> String {
        let hooks = self.0.iter().flat_map(|active| active.row.hooks);
        hooks
            .filter_map(|hook| if let Hook::Log(write) = hook { Some(write(message)) } else { None })
            .collect()
    }

    pub fn end(&mut self) -> Leave {
        for Active { row, memory, firings } in self.0.iter_mut().rev() {
            for hook in row.hooks {
                if let Hook::End(leave) = hook {
                    firings.add();
                    return leave(memory);
                }
            }
        }
        Leave::After(Vec::new())
    }

    /// Sends a message through all hooks of one kind; `run` says none for hooks of another kind.
    fn through(
        &mut self,
        message: Value,
        run: impl Fn(&Hook, &mut Memory, &Value) -> Option<Vec<Value>>,
    ) -> Vec<Value> {
        let mut messages = vec![message];
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                let mut after = Vec::new();
                for message in messages {
                    match run(hook, memory, &message) {
                        Some(altered) => {
                            if altered.as_slice() != [message] {
                                firings.add();
                            }
                            after.extend(altered);
                        }
                        None => after.push(message),
                    }
                }
                messages = after;
            }
        }
        messages
    }
}

fn concerns(method: &str, exchange: &Exchange) -> bool {
    method == "*" || exchange.is(method)
}
