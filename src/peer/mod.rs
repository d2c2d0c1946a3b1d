//! Where do bytes go, and where do they come from? A peer is one running server: bytes in, bytes out.
//!
//! A peer knows nothing of MCP. It is a pair of channels, so that a process, a pipe in memory and (later) an
//! HTTP endpoint look alike to the session; a [`Launcher`] starts a fresh one as often as it is asked.

use crate::record::Transport;
use crate::transcript::Exit;
use std::future::Future;
use std::pin::Pin;
use tokio::sync::mpsc;

pub mod memory;
mod process;
mod pump;
pub mod stdio;
#[cfg(unix)]
mod tree;

/// One running server. Dropping it ends the server at once, its whole process tree included.
pub struct Peer {
    /// Bounded: a server that does not read makes the sender wait. Closed once the server has ended.
    pub input: mpsc::Sender<Outgoing>,
    /// Bounded: what is not taken makes the server wait.
    pub output: mpsc::Receiver<Incoming>,
}

/// What the driver does to a server.
#[derive(Debug)]
pub enum Outgoing {
    /// Exactly these bytes, in one write.
    Bytes(Vec<u8>),
    EndInput,
    /// Asks the process to end (SIGTERM); a peer without a process treats it as `Kill`.
    Terminate,
    /// Ends it, with everything it started.
    Kill,
}

/// What comes from a server.
#[derive(Debug)]
pub enum Incoming {
    /// A piece of its output, cut anywhere.
    Output(Vec<u8>),
    Stderr(Vec<u8>),
    OutputEnded,
    /// Its input is closed or broken: what was written since is lost.
    InputBroken(String),
    /// The last thing a peer says.
    Exited(Exit),
}

pub type Launching<'a> = Pin<Box<dyn Future<Output = Result<Peer, LaunchError>> + Send + 'a>>;

/// Starts servers of one kind.
pub trait Launcher: Send + Sync {
    fn launch(&self) -> Launching<'_>;
    fn transport(&self) -> Transport;
}

/// The server could not be started at all.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LaunchError {
    #[error("`{program}` was not found{hint}")]
    NotFound { program: String, hint: String },
    #[error("`{program}` may not be executed: {reason}")]
    NotExecutable { program: String, reason: String },
    #[error("`{program}` could not be started: {reason}")]
    Failed { program: String, reason: String },
}
