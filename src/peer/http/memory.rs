//! How is an HTTP server tested that runs in our own process? Its connections are pipes in memory.

use super::launched::Process;
use super::{Connect, Connecting, Running, Site, Stream, start};
use crate::peer::{Launcher, Launching};
use crate::record::Transport;
use crate::transcript::Exit;
use std::future::Future;
use std::sync::Arc;
use tokio::io::{DuplexStream, duplex};
use tokio::sync::{mpsc, watch};

/// Bytes that a connection holds, like those of an operating system.
const CONNECTION: usize = 64 * 1024;
/// What it is called in `Host` headers: servers on this machine refuse other names.
const AUTHORITY: &str = "127.0.0.1";

/// Takes the server's end of each new connection, for as long as the server lives.
pub type Accept = Box<dyn Fn(DuplexStream) + Send + Sync>;

/// Starts servers in this process, whose connections are pipes.
pub struct MemoryHttpLauncher<S> {
    serve: S,
    target: String,
}

impl<S, F> MemoryHttpLauncher<S>
where
    S: Fn() -> (Accept, F) + Send + Sync,
    F: Future<Output = Exit> + Send + 'static,
{
    /// `serve` starts a server: it gives back what takes connections, and what completes when the server has ended.
    /// `target` is the path of its endpoint.
    pub fn new(target: impl Into<String>, serve: S) -> Self {
        Self { serve, target: target.into() }
    }
}

impl<S, F> Launcher for MemoryHttpLauncher<S>
where
    S: Fn() -> (Accept, F) + Send + Sync,
    F: Future<Output = Exit> + Send + 'static,
{
    fn launch(&self) -> Launching<'_> {
        Box::pin(async {
            let (accept, ended) = (self.serve)();
            let (tell, exit) = watch::channel(None);
            let (orders, mut ordered) = mpsc::channel(1);
            tokio::spawn(async move {
                let ended = tokio::select! {
                    ended = ended => ended,
                    // Whatever is ordered: a future ends at once.
                    _ = ordered.recv() => Exit { status: None, signal: None, by_us: true },
                };
                tell.send_replace(Some(ended));
            });
            let process = Some(Process::silent(orders, exit.clone()));
            let site = Site {
                connect: Box::new(Way { accept, exit: exit.clone() }),
                authority: AUTHORITY.to_owned(),
                place: AUTHORITY.to_owned(),
                target: self.target.clone(),
                headers: Vec::new(),
            };
            Ok(start(Arc::new(Running { site: Arc::new(site), exit: Some(exit), process })))
        })
    }

    fn transport(&self) -> Transport {
        Transport::Http
    }
}

struct Way {
    accept: Accept,
    exit: watch::Receiver<Option<Exit>>,
}

impl Connect for Way {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            if self.exit.borrow().is_some() {
                return Err(std::io::ErrorKind::ConnectionRefused.into());
            }
            let (ours, theirs) = duplex(CONNECTION);
            (self.accept)(theirs);
            Ok(Box::new(ours) as Box<dyn Stream>)
        })
    }
}
