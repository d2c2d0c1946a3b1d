//! Where do bytes go, and where do they come from? A peer is one running server: bytes in, bytes out.
//!
//! A peer knows nothing of MCP. It is a pair of channels, so that a process, a pipe in memory and an HTTP endpoint look
//! alike to the session; a [`Launcher`] starts a fresh one as often as it is asked.

use crate::record::Transport;
use crate::transcript::Exit;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc;

pub mod http;
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
    /// Its endpoint, where it speaks HTTP: then it takes exchanges, and no bytes.
    pub endpoint: Option<Endpoint>,
    /// The server itself, where it serves more clients than this one: until the last of them has gone.
    pub server: Option<Weak<dyn Server>>,
}

/// Where requests over HTTP go.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Host and port, for the `Host` header.
    pub authority: String,
    /// The path, and the query if there is one.
    pub target: String,
}

/// A running server that takes several clients.
pub trait Server: Send + Sync {
    /// A further client. To be called within a tokio runtime.
    fn client(self: Arc<Self>) -> Peer;
}

/// What the driver does to a server.
#[derive(Debug)]
pub enum Outgoing {
    /// Exactly these bytes, in one write.
    Bytes(Vec<u8>),
    /// A request over HTTP.
    Exchange(Exchange),
    /// Closes the connection of an exchange, if it is still open.
    Abandon(u64),
    EndInput,
    /// Asks the process to end (SIGTERM); a peer without a process treats it as `Kill`.
    Terminate,
    /// Ends it, with everything it started.
    Kill,
}

/// A request over HTTP, as it is to go out.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Names it in what comes back.
    pub number: u64,
    pub method: String,
    /// The path and query.
    pub target: String,
    /// In this order, and so spelt; a name may stand twice.
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Option<Vec<u8>>,
}

/// How an exchange ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing {
    /// The response came, whole.
    Complete,
    /// We closed the connection.
    Abandoned,
    /// Nobody answered the call.
    Unreachable(String),
    /// The connection broke before the response was whole.
    Broken(String),
    /// One message of it was longer than is read, so that we closed the connection.
    TooLong,
    /// The whole conversation was ended, since it brought more than is kept.
    Flooded,
    /// It cannot be put into HTTP.
    Unsendable(String),
}

/// What comes from a server.
#[derive(Debug)]
pub enum Incoming {
    /// A piece of its output, cut anywhere.
    Output(Vec<u8>),
    Stderr(Vec<u8>),
    OutputEnded,
    /// The beginning of a response over HTTP: status and headers, the names in lower case.
    Head {
        exchange: u64,
        status: u16,
        headers: Vec<(String, Vec<u8>)>,
    },
    /// A piece of a response's body, cut anywhere.
    Body {
        exchange: u64,
        bytes: Vec<u8>,
    },
    /// The last of an exchange.
    Closed {
        exchange: u64,
        closing: Closing,
    },
    /// Its input is closed or broken: what was written since is lost.
    InputBroken(String),
    /// The last thing a peer says.
    Exited(Exit),
}

pub type Launching<'a> = Pin<Box<dyn Future<Output = Result<Peer, LaunchError>> + Send + 'a>>;

/// Starts servers of one kind.
pub trait Launcher: Send + Sync {
    fn launch(&self) -> Launching<'_>;
    /// Whether every launch leads to one and the same server, so that all conversations meet what each has changed.
    fn serves_all(&self) -> bool {
        false
    }
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
    #[error("nobody answers at {address}: {reason}")]
    Unreachable { address: String, reason: String },
}
