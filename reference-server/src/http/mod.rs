//! How does a server live on HTTP? Any stream of bytes is a connection; all connections share one state. Streamable
//! HTTP of both eras is at `/mcp`, the transport of 2024-11-05 at `/sse` and `/messages`.
//!
//! ```text
//! door     what is answered to a request       rules     which are refused before they are heard
//! room     on which stream a message goes      stream    what one response carries over time
//! state    who the clients are, what is due    wire      requests, responses, events
//! choices  what faults and variants change     tamper    bytes that they change on their way
//! ```

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State as Extract};
use axum::http::StatusCode;
use axum::routing::any;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::edge::{Firings, Meeting};
use crate::lines::LONGEST;
use crate::{Ending, Options};

mod choices;
mod door;
mod room;
mod rules;
mod state;
mod stream;
mod tamper;
mod wire;

pub(crate) use choices::{Choices, Replies, Route};
use door::{Endpoint, Line, Turn};
pub(crate) use rules::decoded;
use state::State;
use stream::{Answer, Events, Held};
use tamper::Tampered;
pub(crate) use wire::{
    Arrival, BUFFERING, Content, Departure, Event, LAST_EVENT, METHOD, NAME, Passage, SESSION, VERSION,
};

/// How long it takes before connections are accepted again, once one could not be.
const RESPITE: Duration = Duration::from_millis(10);

/// One running server with all its HTTP clients, and one set of resources. Clones are the same server. It waits by
/// tokio's clock only, so that a test can run it on paused time.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    /// Something may be due earlier than was known.
    wake: Arc<Notify>,
    died: watch::Sender<Option<i32>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

impl Site {
    /// A server that nobody has connected to. To be called within a tokio runtime.
    pub fn new(options: Options, firings: Firings) -> Self {
        let state = State::new(options, firings, Instant::now());
        let wake = Arc::new(Notify::new());
        let inner = Inner { state: Mutex::new(state), wake: wake.clone(), died: watch::Sender::new(None) };
        let site = Self(Arc::new(inner));
        tokio::spawn(keep_time(Arc::downgrade(&site.0), wake));
        site
    }

    /// Serves one HTTP connection until either side ends it.
    pub async fn serve(&self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let service = TowerToHyperService::new(self.router());
        let stream = Tampered { stream, tampering: self.0.lock().door.edge.tampering() };
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::select! {
            biased;
            _ = self.died() => {}
            // How a connection broke off is its client's affair.
            _ = connection => {}
        }
    }

    /// Completes when a fault has ended the server, with the exit code.
    pub async fn died(&self) -> i32 {
        let mut died = self.0.died.subscribe();
        loop {
            let code = *died.borrow_and_update();
            match code {
                Some(code) => return code,
                None if died.changed().await.is_err() => std::future::pending().await,
                None => {}
            }
        }
    }

    /// A place to accept connections at: this port of the loopback interface, or with 0 a free one.
    ///
    /// # Errors
    /// If the port is taken, or not for us to take.
    pub async fn bind(port: u16) -> std::io::Result<TcpListener> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
    }

    /// Accepts connections of this machine, until a fault ends the server.
    pub async fn listen(&self, listener: TcpListener) -> Ending {
        loop {
            let accepted = tokio::select! {
                code = self.died() => return Ending::Died(code),
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) if peer.ip().is_loopback() => {
                    let _ = stream.set_nodelay(true);
                    let site = self.clone();
                    tokio::spawn(async move { site.serve(stream).await });
                }
                Ok(_) => {}
                // It may concern one connection that never was, or last, as where no file can be opened any more.
                Err(_) => sleep(RESPITE).await,
            }
        }
    }

    fn router(&self) -> Router {
        let at = |endpoint| any(move |Extract(site): Extract<Self>, request| answer(site, endpoint, request));
        Router::new()
            .route("/mcp", at(Endpoint::Mcp))
            .route("/sse", at(Endpoint::OldStream))
            .route("/messages", at(Endpoint::OldMessages))
            .with_state(self.clone())
    }

    /// Changes the state, and sees to it that what follows from that happens.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.lock();
        let result = change(&mut state);
        let died = state.died;
        drop(state);
        if let Some(code) = died {
            self.0.died.send_replace(Some(code));
        }
        self.0.wake.notify_one();
        result
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does what is due when it is due, as long as there is a server.
async fn keep_time(site: Weak<Inner>, wake: Arc<Notify>) {
    loop {
        let Some(due) = site.upgrade().map(|site| site.lock().next_due()) else { return };
        tokio::select! {
            () = wake.notified() => {}
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                let Some(inner) = site.upgrade() else { return };
                Site(inner).change(|state| state.tick(Instant::now()));
            }
        }
    }
}

/// Leaves a stream when it is dropped.
struct Hold {
    site: Site,
    line: Line,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let Line { key, number, connections } = &self.line;
        self.site.change(|state| {
            if let Some((room, door)) = state.at(key) {
                room.leave(*number, *connections, door);
                state.settle(Instant::now());
            }
        });
    }
}

async fn answer(site: Site, endpoint: Endpoint, request: Request) -> Result<Departure, Infallible> {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LONGEST).await else {
        return Ok(Departure::empty(StatusCode::PAYLOAD_TOO_LARGE));
    };
    let mut arrival = Arrival {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or("").to_owned(),
        headers: parts.headers,
        body: body.into(),
    };
    let meeting = site.change(|state| state.door.edge.arrive(&mut arrival));
    let mut departure = match meeting {
        Meeting::Pass => respond(&site, endpoint, arrival.clone()).await,
        Meeting::Answer(departure) => departure,
        Meeting::Silence => std::future::pending().await,
    };
    site.change(|state| state.door.edge.depart(&arrival, &mut departure));
    Ok(departure)
}

async fn respond(site: &Site, endpoint: Endpoint, arrival: Arrival) -> Departure {
    let turn = site.change(|state| door::hear(state, endpoint, arrival, Instant::now()));
    match turn {
        Turn::Answered(departure) => departure,
        Turn::Streams { events, line } => {
            Departure::stream(body_of(events, Hold { site: site.clone(), line }))
        }
        Turn::Waits(mut waiting) => {
            let hold = Hold { site: site.clone(), line: waiting.line.clone() };
            match (&mut waiting.answer).await {
                Ok(Answer::Message { line, code }) => waiting.respond(line, code),
                Ok(Answer::Events { events, refused }) => {
                    let departure = Departure::stream(body_of(events, hold));
                    match waiting.opens.as_ref().filter(|_| !refused) {
                        Some(id) => departure.with(SESSION, id),
                        None => departure,
                    }
                }
                // The session has ended meanwhile.
                Err(_) => Departure::empty(StatusCode::NOT_FOUND),
            }
        }
    }
}

fn body_of(events: Events, hold: Hold) -> Body {
    Body::new(Held { events, _hold: hold })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Posts a slow read with progress, takes the first of it, and leaves.
    async fn leave_early(site: &Site, headers: &str, meta: &str) {
        let (mut near, far) = tokio::io::duplex(1 << 16);
        let serving = site.clone();
        tokio::spawn(async move { serving.serve(far).await });
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"litmus://text/slow","_meta":{meta}}}}}"#
        );
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n",
            body.len()
        );
        near.write_all((head + &body).as_bytes()).await.unwrap();
        let mut head = [0; 4096];
        let count = near.read(&mut head).await.unwrap();
        assert!(head[..count].starts_with(b"HTTP/1.1 200"));
        assert!(site.0.lock().next_due().is_some());
        drop(near);
        sleep(Duration::from_millis(10)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn leaving_cancels_a_request_without_session_only() {
        let site = Site::new(Options::default(), Firings::default());
        let headers = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: litmus://text/slow\r\n";
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}"#;
        leave_early(&site, headers, meta).await;
        assert_eq!(site.0.lock().next_due(), None);

        let id = site.change(|state| {
            let (id, number) = (state.open(room::Kind::Session, None), state.number());
            let body = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
            state.receive(&Some(id.clone()), number, body.to_vec(), Instant::now());
            id
        });
        leave_early(&site, &format!("Mcp-Session-Id: {id}\r\n"), r#"{"progressToken":1}"#).await;
        assert!(site.0.lock().next_due().is_some());
    }
}
