//! How is an HTTP server started and stopped? As a stdio server is: a process for each conversation, on a port that is
//! free, so that no conversation meets what another has changed. It ends with the last of its clients.

use super::{Address, Ending, Running, start};
use crate::check::phrase::clipped;
use crate::peer::{Incoming, LaunchError, Launcher, Launching, Outgoing, Peer};
use crate::record::Transport;
use crate::time_limits;
use crate::transcript::Exit;
use hyper::header::{HeaderName, HeaderValue};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

/// How often a server that starts is asked whether it listens.
const ASK_AGAIN: Duration = Duration::from_millis(20);
/// Bytes that are kept of what it writes: for when it does not start, and until its clients take them.
const WRITTEN_KEPT: usize = 64 * 1024;
/// Last lines of it that a message shows, and characters of each.
const LINES: usize = 5;
const LINE: usize = 200;
/// So many ports are tried where somebody else takes them first.
const PORTS: usize = 3;

/// Starts the process behind an HTTP server, and says where it listens.
pub trait Start: Send + Sync {
    /// Starts it; its standard streams are those of the peer.
    fn start(&self, port: u16) -> Result<Box<dyn Launcher>, LaunchError>;
    fn address(&self, port: u16) -> Result<Address, LaunchError>;
    /// What messages call it.
    fn name(&self) -> String;
}

/// Speaks HTTP to a server that it starts itself.
pub struct Launched {
    start: Box<dyn Start>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// From its start to its first sign of life.
    limit: Duration,
}

/// Why a server does not listen.
enum Failure {
    /// Somebody else has its port.
    PortTaken(LaunchError),
    Final(LaunchError),
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        Self::Final(error)
    }
}

impl Launched {
    pub fn new(start: Box<dyn Start>, headers: Vec<(HeaderName, HeaderValue)>, limit: Duration) -> Self {
        Self { start, headers, limit }
    }

    async fn run(&self) -> Result<Running, LaunchError> {
        let mut tries = 1;
        loop {
            let port = Port::free().await;
            let port = port.map_err(|error| self.failed(format!("no port is free: {error}")))?;
            match self.run_on(port).await {
                Ok(running) => return Ok(running),
                Err(Failure::PortTaken(_)) if tries < PORTS => tries += 1,
                Err(Failure::PortTaken(error) | Failure::Final(error)) => return Err(error),
            }
        }
    }

    async fn run_on(&self, port: Port) -> Result<Running, Failure> {
        let address = self.start.address(port.0)?;
        let (number, is_ours) = (address.port, address.port == port.0);
        let site = address.site(self.headers.clone());
        if is_ours && site.connect().await.is_ok() {
            let reason = format!("somebody else listens on port {number}");
            return Err(Failure::PortTaken(self.failed(reason)));
        }
        let Peer { input, output, .. } = self.start.start(port.0)?.launch().await?;
        let (tell, mut exit) = watch::channel(None);
        let (log, said) = watch::channel(Written::default());
        tokio::spawn(attend(output, tell, log));
        let deadline = Instant::now() + self.limit;
        loop {
            let connected = site.connect().await.is_ok();
            if let Some(exit) = *exit.borrow_and_update() {
                let said = said.borrow();
                let reason = format!("it {exit} before it listened on port {number}{}", said.last_words());
                // Whoever answers although it has ended is somebody else.
                let is_taken = is_ours && (connected || said.tells_of_a_taken_port());
                let error = self.failed(reason);
                return Err(if is_taken { Failure::PortTaken(error) } else { error.into() });
            }
            if connected {
                break;
            }
            if Instant::now() >= deadline {
                let (limit, said) = (self.limit.as_secs(), said.borrow().last_words());
                return Err(Failure::Final(self.failed(format!(
                    "it did not listen on port {number} within {limit} s (`--start-timeout` gives it longer){said}",
                ))));
            }
            tokio::time::sleep(ASK_AGAIN).await;
        }
        let (heard, port) = (AtomicBool::default(), Some(port));
        let process = Process { orders: input, exit: exit.clone(), said, heard, _port: port };
        Ok(Running { site: Arc::new(site), exit: Some(exit), process: Some(process) })
    }

    fn failed(&self, reason: String) -> LaunchError {
        LaunchError::Failed { program: self.start.name(), reason }
    }
}

impl Launcher for Launched {
    fn launch(&self) -> Launching<'_> {
        Box::pin(async { Ok(start(Arc::new(self.run().await?))) })
    }

    fn transport(&self) -> Transport {
        Transport::Http
    }
}

/// A port that no other server of ours is given as long as this lives. That it is free is known only of the moment when it
/// was asked for: it may be long until the server binds it.
struct Port(u16);

impl Port {
    async fn free() -> std::io::Result<Self> {
        // Held until one is found, so that each is another.
        let mut held = Vec::new();
        loop {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            let port = listener.local_addr()?.port();
            held.push(listener);
            if ports_in_use().insert(port) {
                return Ok(Self(port));
            }
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        ports_in_use().remove(&self.0);
    }
}

fn ports_in_use() -> MutexGuard<'static, BTreeSet<u16>> {
    static IN_USE: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process behind a server. Dropping it ends it at once.
pub(super) struct Process {
    orders: mpsc::Sender<Outgoing>,
    exit: watch::Receiver<Option<Exit>>,
    said: watch::Receiver<Written>,
    /// Somebody has its first words.
    heard: AtomicBool,
    _port: Option<Port>,
}

impl Process {
    /// One that writes nothing.
    pub(super) fn silent(orders: mpsc::Sender<Outgoing>, exit: watch::Receiver<Option<Exit>>) -> Self {
        let (_, said) = watch::channel(Written::default());
        Self { orders, exit, said, heard: AtomicBool::default(), _port: None }
    }

    /// What it writes from now on; the first time, also what it has written.
    pub(super) fn log(&self) -> Log {
        let was_heard = self.heard.swap(true, Ordering::AcqRel);
        let seen = if was_heard { self.said.borrow().length } else { 0 };
        Log { said: self.said.clone(), seen }
    }

    /// Ends it and waits for that: where its last client has left, asked to, and then made to, as over stdio.
    pub(super) async fn end(self, ending: &Ending) {
        let asked = matches!(ending, Ending::Left);
        if !asked || !self.ended_by(Outgoing::Terminate, time_limits::LAST_GRACE).await {
            self.ended_by(Outgoing::Kill, time_limits::DRAIN).await;
        }
    }

    async fn ended_by(&self, order: Outgoing, limit: Duration) -> bool {
        let mut exit = self.exit.clone();
        let ended = async {
            // Refused only where it has ended already.
            let _ = self.orders.send(order).await;
            let _ = exit.wait_for(Option::is_some).await;
        };
        timeout(limit, ended).await.is_ok()
    }
}

/// What a process has written, whatever stream it wrote to: over HTTP none of them is for messages.
#[derive(Debug, Default)]
struct Written {
    /// The newest of it.
    tail: Vec<u8>,
    /// Bytes of all of it.
    length: u64,
}

impl Written {
    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.tail.extend_from_slice(bytes);
        let excess = self.tail.len().saturating_sub(WRITTEN_KEPT);
        self.tail.drain(..excess);
    }

    /// What is kept of the bytes after so many.
    fn since(&self, seen: u64) -> &[u8] {
        let new = usize::try_from(self.length - seen).unwrap_or(usize::MAX).min(self.tail.len());
        &self.tail[self.tail.len() - new..]
    }

    /// The last lines, for a message.
    fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.tail);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LINES)..].iter().map(|line| clipped(line, LINE));
        let last: Vec<String> = last.collect();
        if last.is_empty() { String::new() } else { format!("; its last words: {}", last.join(" | ")) }
    }

    fn tells_of_a_taken_port(&self) -> bool {
        let text = String::from_utf8_lossy(&self.tail).to_ascii_lowercase();
        ["in use", "eaddrinuse", "errno 98", "errno 48", "10048"].iter().any(|words| text.contains(words))
    }
}

/// What a process writes, as one of its clients takes it.
pub(super) struct Log {
    said: watch::Receiver<Written>,
    /// Bytes that are taken, or were written before.
    seen: u64,
}

impl Log {
    /// Waits for more. May be dropped without loss.
    pub(super) async fn next(&mut self) -> Vec<u8> {
        loop {
            if let Some(bytes) = self.take() {
                return bytes;
            }
            if self.said.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// What there is now, if anything.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let said = self.said.borrow_and_update();
        let bytes = said.since(self.seen).to_vec();
        self.seen = said.length;
        (!bytes.is_empty()).then_some(bytes)
    }
}

/// Takes what the process writes, so that it never has to wait, and tells of its end.
async fn attend(
    mut output: mpsc::Receiver<Incoming>,
    tell: watch::Sender<Option<Exit>>,
    log: watch::Sender<Written>,
) {
    while let Some(incoming) = output.recv().await {
        match incoming {
            Incoming::Stderr(bytes) | Incoming::Output(bytes) => {
                log.send_modify(|written| written.add(&bytes));
            }
            Incoming::Exited(exit) => {
                tell.send_replace(Some(exit));
            }
            _ => {}
        }
    }
    tell.send_if_modified(|exit| {
        let vanished = exit.is_none();
        exit.get_or_insert(Exit { status: None, signal: None, by_us: false });
        vanished
    });
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
