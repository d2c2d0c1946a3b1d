//! How is a server spoken to over HTTP? Each exchange, a request and its response, on a connection of its own.
//!
//! What a request says is the session's affair; here it goes out as it is, and whatever comes back is passed on in
//! pieces. Redirects are not followed. A connection of its own costs a round trip, and makes closing it mean one thing:
//! that exchange, and no other, is abandoned.

use super::{
    Closing, Endpoint, Exchange, Incoming, LaunchError, Launcher, Launching, Outgoing, Peer, Server,
};
use crate::record::Transport;
use crate::time_limits;
use crate::transcript::Exit;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{ACCEPT_ENCODING, HeaderName, HeaderValue, USER_AGENT};
use hyper_util::rt::TokioIo;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

pub mod address;
pub mod launched;
pub mod memory;
mod spelling;

use launched::{Log, Process};
use spelling::{Spelling, Spelt};

pub use address::{Address, BadAddress};

/// What the driver calls itself.
const NAME: &str = concat!("mcp-litmus/", env!("CARGO_PKG_VERSION"));
/// Pieces of responses that wait for the session.
const INCOMING: usize = 16;

/// For what a server has sent before its process ended.
const LEFTOVER: Duration = Duration::from_millis(500);

/// A connection, whatever carries it.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub type Connecting<'a> = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send + 'a>>;

/// The way to a server.
pub trait Connect: Send + Sync {
    fn connect(&self) -> Connecting<'_>;
}

/// A server and what every request to it carries.
pub struct Site {
    pub connect: Box<dyn Connect>,
    /// For the `Host` header.
    pub authority: String,
    /// What messages call it.
    pub place: String,
    /// The path, and the query if there is one.
    pub target: String,
    /// The user's own, for instance to prove who they are. No transcript holds them. A request's own go before them.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// Speaks to a server that runs already.
pub struct HttpLauncher {
    running: Arc<Running>,
}

impl HttpLauncher {
    pub fn new(site: Site) -> Self {
        Self { running: Arc::new(Running { site: Arc::new(site), exit: None, process: None }) }
    }
}

impl Launcher for HttpLauncher {
    fn launch(&self) -> Launching<'_> {
        Box::pin(async {
            let site = &self.running.site;
            // Whether anybody is there is known only once somebody has been.
            site.connect().await.map_err(|error| LaunchError::Unreachable {
                address: site.place.clone(),
                reason: error.to_string(),
            })?;
            Ok(self.running.clone().client())
        })
    }

    fn transport(&self) -> Transport {
        Transport::Http
    }

    fn serves_all(&self) -> bool {
        true
    }
}

/// A server that listens.
struct Running {
    site: Arc<Site>,
    /// How its process ended, where it is known.
    exit: Option<watch::Receiver<Option<Exit>>>,
    /// The process, where it is ours.
    process: Option<Process>,
}

impl Running {
    /// One of its clients has gone. With the last of them its process ends, and has ended when this returns.
    async fn leave(self: Arc<Self>, ending: &Ending) {
        if let Some(Self { process: Some(process), .. }) = Arc::into_inner(self) {
            process.end(ending).await;
        }
    }
}

impl Server for Running {
    fn client(self: Arc<Self>) -> Peer {
        start(self)
    }
}

impl Site {
    /// A connection, or why there is none. As nothing has been sent yet, one that fails is tried again: a busy server
    /// may refuse one.
    async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        for wait in time_limits::CONNECT_AGAIN {
            if let Ok(stream) = self.connect_once().await {
                return Ok(stream);
            }
            tokio::time::sleep(wait).await;
        }
        self.connect_once().await
    }

    async fn connect_once(&self) -> io::Result<Box<dyn Stream>> {
        match tokio::time::timeout(time_limits::CONNECT, self.connect.connect()).await {
            Ok(connected) => connected,
            Err(_) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no connection within {} s", time_limits::CONNECT.as_secs()),
            )),
        }
    }
}

/// A peer that speaks to the server, and keeps it running, until it is dropped, or until the server's process has ended,
/// where it is known.
fn start(server: Arc<Running>) -> Peer {
    let (input, orders) = mpsc::channel(1);
    let (events, output) = mpsc::channel(INCOMING);
    let endpoint = Endpoint { authority: server.site.authority.clone(), target: server.site.target.clone() };
    let log = server.process.as_ref().map(Process::log);
    let weak = Arc::downgrade(&server);
    tokio::spawn(supervise(server, orders, events, log));
    Peer { input, output, endpoint: Some(endpoint), server: Some(weak) }
}

async fn supervise(
    server: Arc<Running>,
    mut orders: mpsc::Receiver<Outgoing>,
    events: mpsc::Sender<Incoming>,
    mut log: Option<Log>,
) {
    let site = server.site.clone();
    let ended = exited(server.exit.clone());
    tokio::pin!(ended);
    // A JoinSet, since dropping it ends its tasks and so closes their connections.
    let mut tasks = JoinSet::new();
    let mut running: HashMap<u64, AbortHandle> = HashMap::new();
    let ending = loop {
        tokio::select! {
            biased;
            exit = &mut ended => {
                // What it said before is still on the way.
                let all = async { while tasks.join_next().await.is_some() {} };
                let _ = tokio::time::timeout(LEFTOVER, all).await;
                break Ending::Exited(exit);
            }
            () = events.closed() => break Ending::Killed,
            Some(done) = tasks.join_next(), if !tasks.is_empty() => {
                if let Ok(number) = done {
                    running.remove(&number);
                }
            }
            order = orders.recv() => match order {
                Some(Outgoing::Exchange(exchange)) => {
                    let number = exchange.number;
                    let (site, events) = (site.clone(), events.clone());
                    let task = tasks.spawn(async move {
                        let closing = hold(&site, exchange, &events).await;
                        let _ = events.send(Incoming::Closed { exchange: number, closing }).await;
                        number
                    });
                    running.insert(number, task);
                }
                Some(Outgoing::Abandon(number)) => {
                    if let Some(task) = running.remove(&number) {
                        task.abort();
                        let closing = Closing::Abandoned;
                        let _ = events.send(Incoming::Closed { exchange: number, closing }).await;
                    }
                }
                // There is no input of its own to write to.
                Some(Outgoing::Bytes(_)) => {}
                Some(Outgoing::EndInput | Outgoing::Terminate) => break Ending::Left,
                Some(Outgoing::Kill) | None => break Ending::Killed,
            },
            bytes = written(&mut log) => {
                let _ = events.send(Incoming::Stderr(bytes)).await;
            }
        }
    };
    tasks.shutdown().await;
    server.leave(&ending).await;
    // Its last words.
    if let Some(bytes) = log.as_mut().and_then(Log::take) {
        let _ = events.send(Incoming::Stderr(bytes)).await;
    }
    let exit = match ending {
        Ending::Exited(exit) => exit,
        Ending::Left | Ending::Killed => Exit { status: None, signal: None, by_us: true },
    };
    let _ = events.send(Incoming::Exited(exit)).await;
}

/// Why a client no longer speaks to the server.
enum Ending {
    /// The server's process has ended.
    Exited(Exit),
    /// The client has nothing more to say.
    Left,
    /// The client is ended at once.
    Killed,
}

/// What the process has written since; never where it is not ours.
async fn written(log: &mut Option<Log>) -> Vec<u8> {
    match log {
        Some(log) => log.next().await,
        None => std::future::pending().await,
    }
}

/// Completes when the server's process has ended; never where none is known.
async fn exited(process: Option<watch::Receiver<Option<Exit>>>) -> Exit {
    if let Some(mut process) = process
        && let Ok(exit) = process.wait_for(Option::is_some).await
        && let Some(exit) = *exit
    {
        return exit;
    }
    std::future::pending().await
}

/// One exchange, from its connection to its end.
async fn hold(site: &Site, exchange: Exchange, events: &mpsc::Sender<Incoming>) -> Closing {
    let number = exchange.number;
    let spelling = Spelling::of(&exchange.headers);
    let request = match request(site, exchange) {
        Ok(request) => request,
        Err(reason) => return Closing::Unsendable(reason),
    };
    let stream = match site.connect().await {
        Ok(stream) => stream,
        Err(error) => return Closing::Unreachable(error.to_string()),
    };
    let (mut sender, connection) =
        match hyper::client::conn::http1::handshake(TokioIo::new(Spelt::new(stream, spelling))).await {
            Ok(parts) => parts,
            Err(error) => return Closing::Broken(explain(&error)),
        };
    // In one task with the exchange, so that both end together.
    let exchange = async {
        let response = match sender.send_request(request).await {
            Ok(response) => response,
            Err(error) => return Closing::Broken(explain(&error)),
        };
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
        let status = response.status().as_u16();
        let head = Incoming::Head { exchange: number, status, headers: headers.collect() };
        if events.send(head).await.is_err() {
            return Closing::Abandoned;
        }
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    let piece = Incoming::Body { exchange: number, bytes: bytes.to_vec() };
                    if events.send(piece).await.is_err() {
                        return Closing::Abandoned;
                    }
                }
                Err(error) => return Closing::Broken(explain(&error)),
            }
        }
        Closing::Complete
    };
    tokio::pin!(exchange);
    let mut connection = std::pin::pin!(connection);
    let mut connected = true;
    loop {
        tokio::select! {
            closing = &mut exchange => return closing,
            _ = &mut connection, if connected => connected = false,
        }
    }
}

fn request(site: &Site, exchange: Exchange) -> Result<hyper::Request<Full<Bytes>>, String> {
    let Exchange { method, target, headers, body, .. } = exchange;
    let mut request = hyper::Request::builder().method(method.as_str()).uri(target.as_str());
    if let Some(all) = request.headers_mut() {
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("{name:?} is no name of a header"))?;
            let value = HeaderValue::from_bytes(&value)
                .map_err(|_| format!("the value of `{name}` cannot be sent"))?;
            all.append(name, value);
        }
        let users = site.headers.iter().filter(|(name, _)| !all.contains_key(name)).cloned();
        for (name, value) in users.collect::<Vec<_>>() {
            all.append(name, value);
        }
        // Some gateways refuse whoever does not say who they are, and some compress unless they are told not to.
        all.entry(USER_AGENT).or_insert(HeaderValue::from_static(NAME));
        all.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("identity"));
    }
    request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(|error| error.to_string())
}

/// An error with what lies behind it, which as a rule says more.
fn explain(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
