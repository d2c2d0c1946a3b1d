use super::exchanges::Wanted;
use super::*;
use crate::peer::{Closing, Endpoint, Incoming};
use crate::revision::Revision;

/// A conversation with a server that meets each exchange, by its number, with these events.
fn session(bounds: Bounds, meet: impl Fn(u64) -> Vec<Incoming> + Send + 'static) -> Session {
    let (input, mut orders) = mpsc::channel(1);
    let (events, output) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Some(order) = orders.recv().await {
            if let Outgoing::Exchange(exchange) = order {
                for event in meet(exchange.number) {
                    let _ = events.send(event).await;
                }
            }
        }
    });
    let endpoint = Endpoint { authority: "h".to_owned(), target: "/mcp".to_owned() };
    let peer = Peer { input, output, endpoint: Some(endpoint), server: None };
    let (transport, revision) = (Transport::Http, Revision::R2025_06_18);
    let head = Head { conversation: 1, transport, revision, purpose: "test".to_owned() };
    Session::begin(peer, head, Dialect::new(revision), bounds)
}

fn head(exchange: u64, media_type: &str, more: &[(&str, &str)]) -> Incoming {
    let all = [("content-type", media_type)].into_iter().chain(more.iter().copied());
    let headers = all.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())).collect();
    Incoming::Head { exchange, status: 200, headers }
}

fn body(exchange: u64, text: &str) -> Incoming {
    Incoming::Body { exchange, bytes: text.as_bytes().to_vec() }
}

fn closed(exchange: u64) -> Incoming {
    Incoming::Closed { exchange, closing: Closing::Complete }
}

async fn exchange(session: &Session, body: &str) -> Option<Gone> {
    let body = Some(body.as_bytes().to_vec());
    let wanted = Wanted { method: "POST", headers: Vec::new(), body, deliberate: false };
    let number = match session.exchange(wanted).await {
        Ok(number) => number,
        Err(gone) => return Some(gone),
    };
    session.await_exchange(number, false, Duration::from_secs(9)).await;
    session.state().gone()
}

#[tokio::test(start_paused = true)]
async fn many_pieces_and_many_exchanges_are_no_flood() {
    let session = session(Bounds::default(), |number| {
        let pieces = if number == 1 { 30_000 } else { 2 };
        let mut events = vec![head(number, "text/html", &[])];
        events.extend((0..pieces).map(|_| body(number, "x")));
        events.push(closed(number));
        events
    });
    for _ in 0..6_000 {
        assert_eq!(exchange(&session, "{}").await, None);
    }
    let state = session.state();
    let bodies = state.transcript.entries.iter().filter(|entry| entry.channel == Channel::Body);
    let lengths: Vec<usize> = bodies.map(|entry| entry.bytes.len()).collect();
    assert_eq!((lengths.len(), lengths[0], lengths[1]), (6_000, 30_000, 2));
}

#[tokio::test(start_paused = true)]
async fn heads_and_entries_count_towards_what_is_kept() {
    let bounds = Bounds { kept: 100_000, ..Bounds::default() };
    let long = "h".repeat(10_000);
    let heads =
        session(bounds, move |number| vec![head(number, "text/html", &[("x", &long)]), closed(number)]);
    let mut gone = None;
    for _ in 0..20 {
        gone = gone.or(exchange(&heads, "{}").await);
    }
    assert_eq!(gone, Some(Gone::Flooded(Flood::Bytes(100_000))));

    let entries = session(bounds, |number| vec![head(number, "text/html", &[]), closed(number)]);
    let mut gone = None;
    for _ in 0..1_000 {
        gone = gone.or(exchange(&entries, "").await);
    }
    assert_eq!(gone, Some(Gone::Flooded(Flood::Bytes(100_000))));
}

#[tokio::test(start_paused = true)]
async fn an_endless_session_id_is_not_named_again() {
    for (length, is_named) in [(4_000, true), (5_000, false)] {
        let id = "s".repeat(length);
        let session = session(Bounds::default(), move |number| {
            vec![head(number, "application/json", &[("mcp-session-id", &id)]), closed(number)]
        });
        exchange(&session, r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#).await;
        assert_eq!(session.state().http.as_ref().unwrap().session.is_some(), is_named, "{length}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_end_of_an_exchange_is_not_kept() {
    let bounds = Bounds { line: 100, ..Bounds::default() };
    let session = session(bounds, |number| {
        let mut events = vec![head(number, "application/json", &[])];
        // Too long with the second of them.
        events.extend((0..9).map(|_| body(number, &"x".repeat(90))));
        events.push(closed(number));
        events
    });
    exchange(&session, "{}").await;
    // The rest is on the way.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let state = session.state();
    let last = state.transcript.entries.last().unwrap();
    assert_eq!((last.channel, last.bytes.as_slice()), (Channel::Closed, &b"too-long"[..]));
}
