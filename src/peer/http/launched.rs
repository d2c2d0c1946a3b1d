//! How is an HTTP server started and stopped? As a stdio server is: a process for each conversation, on a port that is
//! free, so that no conversation meets what another has changed. It ends when the last of its clients has gone.

use super::{Address, Running, start};
use crate::peer::{Incoming, LaunchError, Launcher, Launching, Peer};
use crate::record::Transport;
use crate::transcript::Exit;
use hyper::header::{HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// How often a server that starts is asked whether it listens.
const ASK_AGAIN: Duration = Duration::from_millis(20);
/// Bytes of standard error that are kept, for when it does not start.
const STDERR_KEPT: usize = 64 * 1024;

/// Last lines of it that a message shows.
const LINES: usize = 5;

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

impl Launched {
    pub fn new(start: Box<dyn Start>, headers: Vec<(HeaderName, HeaderValue)>, limit: Duration) -> Self {
        Self { start, headers, limit }
    }

    async fn run(&self) -> Result<Running, LaunchError> {
        let failed = |reason: String| LaunchError::Failed { program: self.start.name(), reason };
        let port = free_port().await.map_err(|error| failed(format!("no port is free: {error}")))?;
        let address = self.start.address(port)?;
        let Peer { input, output, .. } = self.start.start(port)?.launch().await?;
        let (tell, mut exit) = watch::channel(None);
        let (log, said) = watch::channel(Vec::new());
        tokio::spawn(attend(output, tell, log));
        let site = Arc::new(address.site(self.headers.clone()));
        let deadline = Instant::now() + self.limit;
        while site.connect().await.is_err() {
            if let Some(exit) = *exit.borrow_and_update() {
                return Err(failed(format!(
                    "it {exit} before it listened on port {port}{}",
                    tail(&said.borrow())
                )));
            }
            if Instant::now() >= deadline {
                let limit = self.limit.as_secs();
                return Err(failed(format!(
                    "it did not listen on port {port} within {limit} s (`--start-timeout` gives it longer){}",
                    tail(&said.borrow())
                )));
            }
            tokio::time::sleep(ASK_AGAIN).await;
        }
        Ok(Running { site, exit: Some(exit), _process: Some(input) })
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

/// Takes what the process writes, so that it never has to wait, and tells of its end.
async fn attend(
    mut output: mpsc::Receiver<Incoming>,
    tell: watch::Sender<Option<Exit>>,
    log: watch::Sender<Vec<u8>>,
) {
    while let Some(incoming) = output.recv().await {
        match incoming {
            Incoming::Stderr(bytes) | Incoming::Output(bytes) => log.send_modify(|kept| {
                kept.extend(bytes);
                let excess = kept.len().saturating_sub(STDERR_KEPT);
                kept.drain(..excess);
            }),
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

/// The last lines that it wrote, for a message.
fn tail(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if last.is_empty() { String::new() } else { format!("; its last words: {}", last.join(" | ")) }
}

async fn free_port() -> std::io::Result<u16> {
    Ok(tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?.local_addr()?.port())
}
