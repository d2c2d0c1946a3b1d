//! How a conversation over HTTP fares when streams end early, late, or in the middle: on paused time, with servers that
//! are lawful and a few that are not.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/http.rs"]
mod http;

use http::{Act, Request, Servers, accepted, broken_events, events, json, response, say};
use mcp_litmus::dialect::Dialect;
use mcp_litmus::peer::{Closing, Endpoint, Incoming, Launcher, Outgoing, Peer};
use mcp_litmus::record::Transport;
use mcp_litmus::revision::Revision;
use mcp_litmus::session::{Bounds, Gone, Reply, Session};
use mcp_litmus::transcript::{Channel, Head};
use std::future::Future;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

const REVISION: Revision = Revision::R2025_11_25;

fn play<T>(conversation: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.unwrap().block_on(conversation)
}

async fn begin(launcher: &impl Launcher) -> Session {
    begin_with(launcher.launch().await.unwrap())
}

fn begin_with(peer: Peer) -> Session {
    let head =
        Head { conversation: 1, transport: Transport::Http, revision: REVISION, purpose: "test".to_owned() };
    Session::begin(peer, head, Dialect::new(REVISION), Bounds::default())
}

fn is_post(request: &Request) -> bool {
    request.line.starts_with("POST ")
}

async fn ask(session: &Session) -> Reply {
    session.call("resources/list", None).await
}

fn assert_answered(reply: &Reply) {
    assert!(matches!(reply, Reply::Result { .. }), "{reply:?}");
}

fn assert_refused(reply: &Reply, words: &str) {
    let Reply::Refused(refusal) = reply else { panic!("{reply:?}") };
    assert!(refusal.to_string().contains(words), "{refusal}");
}

const UPDATED: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#;

#[test]
fn the_stream_of_a_get_is_taken_up_again_wherever_it_ends() {
    let (servers, launcher) = Servers::new(|_, before| match before.len() {
        0 => vec![events("id: 1\nretry: 200\ndata:\n\n")],
        // Neither an id nor a time of its own: both hold on.
        1 => vec![events(&format!("data: {UPDATED}\n\n"))],
        2 => vec![broken_events("id:\nretry: 3000\ndata:\n\n")],
        _ => vec![events(""), Act::Hang],
    });
    play(async {
        let session = begin(&launcher).await;
        session.open_stream().await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(session.state().inbox.len(), 1);
        let id = |id: &str| Some(id.to_owned());
        assert_eq!(servers.gets(), [(0, None), (200, id("1")), (400, id("1")), (3400, None)]);
    });
}

#[test]
fn a_stream_that_brings_nothing_is_asked_for_more_and_more_slowly() {
    let (servers, launcher) = Servers::new(|_, _| vec![events("retry: 0\n\n")]);
    play(async {
        let session = begin(&launcher).await;
        session.open_stream().await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        let count = servers.gets().len();
        assert!((30..40).contains(&count), "{count}");
    });
}

#[test]
fn nobody_comes_back_after_leaving_nor_where_no_stream_was() {
    let (servers, launcher) = Servers::new(|_, before| match before.len() {
        0 => vec![events("retry: 1000\n\n")],
        _ => vec![Act::Hang],
    });
    play(async {
        let session = begin(&launcher).await;
        session.open_stream().await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let _ = session.end_input().await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(servers.gets().len(), 1);
    });
    for (status, kind) in [(405, "text/plain"), (200, "text/html"), (404, "text/event-stream")] {
        let (servers, launcher) = Servers::new(move |_, _| vec![response(status, kind, "")]);
        play(async {
            let session = begin(&launcher).await;
            session.open_stream().await;
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert_eq!(servers.gets().len(), 1, "{status} {kind}");
        });
    }
}

#[test]
fn what_is_told_without_a_request_may_be_missed_unless_a_stream_is_open_all_the_time() {
    let (_, launcher) = Servers::new(|_, before| match before.len() {
        0 => vec![events("retry: 1000\n\n"), Act::Wait(1000)],
        1 => vec![Act::Wait(1000), events(""), Act::Hang],
        _ => Vec::new(),
    });
    play(async {
        let session = begin(&launcher).await;
        let missed = |since| session.state().missed_since(since).map(str::to_owned);
        assert!(missed(0).unwrap().contains("GET is refused"));
        session.open_stream().await;
        let opened = session.state().newest();
        assert_eq!(missed(opened), None);
        assert!(missed(0).is_some(), "it was opened after the beginning");
        for _ in 0..2 {
            // Closed, and asked for again.
            tokio::time::sleep(Duration::from_millis(1200)).await;
            assert!(missed(opened).unwrap().contains("broke off"));
        }
        // It is open again, which makes good nothing.
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(missed(opened).unwrap().contains("broke off"));
        let newest = session.state().newest();
        assert_eq!(missed(newest), None);
    });
    let (_, launcher) = Servers::new(|_, _| vec![Act::Hang]);
    play(async {
        let session = begin(&launcher).await;
        session.open_stream().await;
        assert!(session.state().missed_since(1).unwrap().contains("is not answered"));
    });
}

#[test]
fn any_number_of_requests_may_be_answered_by_a_stream_that_breaks_off() {
    let (servers, launcher) = Servers::new(|request, before| match is_post(request) {
        true => vec![events("id: 1\nretry: 10\ndata:\n\n")],
        false => vec![events(&format!("data: {}\n\n", before.last().unwrap().result()))],
    });
    play(async {
        let session = begin(&launcher).await;
        for _ in 0..150 {
            assert_answered(&ask(&session).await);
        }
        assert_eq!(servers.gets().len(), 150);
    });
}

#[test]
fn the_stream_of_a_request_is_taken_up_again_until_it_brings_the_answer() {
    let (servers, launcher) = Servers::new(|request, before| match before.len() {
        // A request of the server's own is no answer.
        1 => {
            vec![events(": still at it\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}\n\n")]
        }
        5 => vec![events(&format!("data: {}\n\n", before[0].result()))],
        _ if is_post(request) && before.is_empty() => vec![events("id: 7\nretry: 100\ndata:\n\n")],
        _ if is_post(request) => vec![accepted()],
        _ => vec![events("")],
    });
    play(async {
        let session = begin(&launcher).await;
        assert_answered(&ask(&session).await);
        let gets = servers.gets();
        assert!(gets.len() >= 3 && gets.iter().all(|(_, id)| id.as_deref() == Some("7")), "{gets:?}");
    });
}

#[test]
fn a_stream_that_never_brings_the_answer_is_given_up() {
    let (servers, launcher) = Servers::new(|_, _| vec![events("id: 1\nretry: 0\ndata:\n\n")]);
    play(async {
        let session = begin(&launcher).await;
        let reply = session.call("resources/list", None).await;
        assert!(matches!(reply, Reply::Silence(limit) if limit == Bounds::default().start), "{reply:?}");
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(servers.gets().len(), 40);
    });
}

#[test]
fn an_event_that_a_broken_connection_cuts_comes_again() {
    let (servers, launcher) = Servers::new(|request, before| match is_post(request) {
        true => vec![broken_events("id: 4\ndata:\n\nid: 5\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"resu")],
        false => vec![events(&format!("id: 5\ndata: {}\n\n", before[0].result()))],
    });
    play(async {
        let session = begin(&launcher).await;
        assert_answered(&ask(&session).await);
        assert_eq!(servers.gets()[0].1.as_deref(), Some("4"));
        assert!(session.state().inbox.iter().all(|arrival| arrival.reading.message.is_some()));
    });
}

#[test]
fn a_pause_is_kept_however_long_and_is_no_silence() {
    let polled = |retry: u64| {
        Servers::new(move |request, before| match is_post(request) {
            true => vec![events(&format!("id: 1\nretry: {retry}\ndata:\n\n"))],
            false => vec![events(&format!("data: {}\n\n", before[0].result()))],
        })
    };
    play(async {
        let (servers, launcher) = polled(15_000);
        assert_answered(&ask(&begin(&launcher).await).await);
        assert_eq!(servers.gets(), [(15_000, Some("1".to_owned()))]);
        let (servers, launcher) = polled(120_000);
        let session = begin(&launcher).await;
        let began = Instant::now();
        assert_refused(&ask(&session).await, "asks to come back after 120 s");
        assert!(began.elapsed() < Duration::from_secs(1));
        assert_eq!(servers.gets(), []);
    });
}

#[test]
fn an_empty_id_takes_the_name_from_a_stream() {
    let (servers, launcher) = Servers::new(|_, _| vec![events("id: 3\ndata:\n\nid:\ndata:\n\n")]);
    play(async {
        let session = begin(&launcher).await;
        assert_refused(&ask(&session).await, "its stream ended without an answer");
        assert_eq!(servers.gets(), []);
    });
}

#[test]
fn a_stream_that_ends_without_the_answer_is_not_waited_for() {
    let refused_later = |request: &Request, _: &[Request]| match is_post(request) {
        true => vec![events(&format!("id: 1\ndata: {UPDATED}\n\n"))],
        false => vec![response(400, "text/plain", "no such event")],
    };
    let without_id = |_: &Request, _: &[Request]| vec![events(&format!("data: {UPDATED}\n\n"))];
    let broken = |_: &Request, _: &[Request]| vec![broken_events(&format!("data: {UPDATED}\n\n"))];
    play(async {
        let (_, launcher) = Servers::new(without_id);
        let session = begin(&launcher).await;
        let began = Instant::now();
        assert_refused(&ask(&session).await, "HTTP status 200 (its stream ended without an answer)");
        let (_, launcher) = Servers::new(refused_later);
        assert_refused(&ask(&begin(&launcher).await).await, "coming back met HTTP status 400");
        let (_, launcher) = Servers::new(broken);
        assert_refused(&ask(&begin(&launcher).await).await, "HTTP status 200 (");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    });
}

#[test]
fn where_to_post_is_told_to_who_asked_for_it() {
    // A site of both transports: the stream of the old one stands where the other opens its own.
    let (servers, launcher) = Servers::new(|request, _| match is_post(request) {
        true => vec![json(&request.result())],
        false => vec![events("event: endpoint\ndata: /messages\n\n"), Act::Hang],
    });
    play(async {
        let session = begin(&launcher).await;
        session.open_stream().await;
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert_answered(&ask(&session).await);
        assert_eq!(servers.requests().last().unwrap().line, "POST /mcp");
        let session = begin(&launcher).await;
        assert!(session.fall_back().await);
        assert_answered(&ask(&session).await);
        assert_eq!(servers.requests().last().unwrap().line, "POST /messages");
    });
}

#[test]
fn the_old_transport_is_led_nowhere_twice_and_to_no_other_host() {
    let told = |text: &'static str| {
        Servers::new(move |request, _| match is_post(request) {
            true => vec![accepted()],
            false => vec![events(text), Act::Hang],
        })
    };
    play(async {
        let (servers, launcher) = told("event: endpoint\ndata: /first\n\nevent: endpoint\ndata: /second\n\n");
        let session = begin(&launcher).await;
        assert!(session.fall_back().await);
        let _ = session.notify("notifications/initialized", None).await;
        assert_eq!(servers.requests()[1].line, "POST /first");
        let (_, launcher) = told("event: endpoint\ndata: http://evil.example/messages\n\n");
        let session = begin(&launcher).await;
        let began = Instant::now();
        assert!(!session.fall_back().await);
        assert!(session.misled().unwrap().contains("`http://evil.example/messages`, on another host"));
        assert!(began.elapsed() < Duration::from_secs(1));
    });
}

#[test]
fn with_its_stream_the_old_transport_has_ended() {
    let (_, launcher) = Servers::new(|request, _| match is_post(request) {
        true => vec![accepted()],
        false => vec![events("event: endpoint\ndata: /messages\n\n"), Act::Wait(1000)],
    });
    play(async {
        let session = begin(&launcher).await;
        assert!(session.fall_back().await);
        let began = Instant::now();
        let reply = ask(&session).await;
        assert!(matches!(reply, Reply::Gone(Gone::OutputClosed)), "{reply:?}");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    });
}

#[test]
fn a_notification_is_taken_once_its_response_has_begun_or_nothing_can_come() {
    let never_whole = "HTTP/1.1 202 x\r\ntransfer-encoding: chunked\r\n\r\n";
    let (_, launcher) = Servers::new(move |_, before| match before.len() {
        0 => vec![say(never_whole), Act::Hang],
        _ => vec![Act::Exit, Act::Hang],
    });
    play(async {
        let session = begin(&launcher).await;
        let began = Instant::now();
        session.notify("notifications/initialized", None).await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
        session.notify("notifications/initialized", None).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        let state = session.state();
        let closed = state.transcript.entries.iter().filter(|entry| entry.channel == Channel::Closed);
        let words: Vec<_> = closed.map(|entry| String::from_utf8_lossy(&entry.bytes)).collect();
        assert_eq!(words, ["broken: the server ended"; 2]);
    });
}

#[test]
fn what_a_server_said_before_it_ended_is_heard() {
    // More pieces than wait to be taken.
    let (_, launcher) = Servers::new(|request, _| {
        let head = "HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
        let answer = format!("data: {}\n\n", request.result());
        let comments = "2\r\n:\n\r\n".repeat(100);
        vec![say(format!("{head}\r\n\r\n{comments}{:x}\r\n{answer}\r\n0\r\n\r\n", answer.len())), Act::Exit]
    });
    play(async {
        assert_answered(&ask(&begin(&launcher).await).await);
    });
}

#[test]
fn a_head_is_kept_byte_for_byte() {
    let (_, launcher) = Servers::new(|_, _| {
        vec![say(b"HTTP/1.1 202 x\r\nx-name: caf\xE9\r\ncontent-length: 0\r\n\r\n".to_vec())]
    });
    play(async {
        let session = begin(&launcher).await;
        session.notify("notifications/initialized", None).await.unwrap();
        let state = session.state();
        let mut heads = state.transcript.entries.iter().filter(|entry| entry.channel == Channel::Response);
        let head = &heads.next().unwrap().bytes;
        assert!(head.windows(12).any(|window| window == b"x-name: caf\xE9"), "{head:?}");
    });
}

/// A session whose server is the test itself.
fn by_hand(orders: usize) -> (Session, mpsc::Receiver<Outgoing>, mpsc::Sender<Incoming>) {
    let (input, taken) = mpsc::channel(orders);
    let (said, output) = mpsc::channel(16);
    let endpoint = Endpoint { authority: "a.example".to_owned(), target: "/mcp".to_owned() };
    (begin_with(Peer { input, output, endpoint: Some(endpoint), server: None }), taken, said)
}

#[test]
fn a_stream_that_ends_twice_is_taken_up_once() {
    play(async {
        let (session, mut orders, said) = by_hand(16);
        let request = session.request(session.fresh_id(), "resources/list", None, false).await.unwrap();
        let Some(Outgoing::Exchange(order)) = orders.recv().await else { panic!("no order") };
        let exchange = order.number;
        let headers = vec![("content-type".to_owned(), b"text/event-stream".to_vec())];
        said.send(Incoming::Head { exchange, status: 200, headers }).await.unwrap();
        said.send(Incoming::Body { exchange, bytes: b"id: 1\ndata:\n\n".to_vec() }).await.unwrap();
        for closing in [Closing::Complete, Closing::Abandoned] {
            said.send(Incoming::Closed { exchange, closing }).await.unwrap();
        }
        for _ in 0..2 {
            said.send(Incoming::Closed { exchange, closing: Closing::Complete }).await.unwrap();
        }
        said.send(Incoming::Body { exchange, bytes: b"late".to_vec() }).await.unwrap();
        tokio::time::sleep(Duration::from_secs(5)).await;
        let mut gets = 0;
        while let Ok(order) = orders.try_recv() {
            gets += usize::from(matches!(order, Outgoing::Exchange(_)));
        }
        assert_eq!(gets, 1);
        let state = session.state();
        let last = state.transcript.entries.iter().rfind(|entry| entry.exchange == Some(exchange));
        assert_eq!(last.unwrap().channel, Channel::Closed);
        assert!(state.refusal(request.sequence).is_none(), "its answer is still to come");
    });
}

#[test]
fn what_could_not_be_handed_over_is_waited_for_no_more() {
    play(async {
        let (session, _orders, _said) = by_hand(1);
        let first = session.request(session.fresh_id(), "resources/list", None, false).await;
        let stuck = session.request(session.fresh_id(), "resources/list", None, false).await;
        assert_eq!(stuck.unwrap_err(), Gone::InputStuck);
        let sequence = first.unwrap().sequence;
        let refusal = session.state().refusal_between(sequence, u64::MAX).unwrap();
        assert!(refusal.words.contains("does not read"), "{refusal}");
    });
}
