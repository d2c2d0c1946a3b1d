//! How does a server live on two streams of bytes? Reading never waits for writing, so that a client may send as much
//! as it likes before it reads an answer.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, sleep_until, timeout};

use crate::control::{Control, POLL};
use crate::conversation::Conversation;
use crate::edge::{Firings, Leave};
use crate::lines::Lines;
use crate::server::{Server, prepare};
use crate::store::Store;
use crate::{Ending, Options};

/// Bytes taken in one read.
const CHUNK: usize = 64 << 10;
/// As long as more bytes than this wait to be written, nothing is read.
const WAITING: usize = 64 << 20;
/// A client that has closed its end gets this long to take what is left.
const FAREWELL: Duration = Duration::from_secs(10);

/// There is one client, so whatever comes in has the same origin.
const CLIENT: u64 = 0;

/// Serves one client until it closes its end, with a fresh set of resources. Waits by tokio's clock only, and starts
/// neither threads nor tasks, so that a test can run it on paused time.
pub async fn serve<R, W>(input: R, output: W, options: Options, firings: Firings) -> Ending
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    serve_and_log(input, output, tokio::io::sink(), options, firings).await
}

/// As [`serve`], with a place for what is logged, which is standard error in a process.
pub async fn serve_and_log<R, W, L>(
    mut input: R,
    mut output: W,
    mut log: L,
    options: Options,
    firings: Firings,
) -> Ending
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    L: AsyncWrite + Unpin,
{
    let (edge, settings) = prepare(&options, &firings);
    let mut store = Store::of(&settings);
    let mut server = Server::new(Conversation::new(settings), edge, &store);
    server.start(Instant::now());
    let mut control = options.control.map(Control::open);
    let mut lines = Lines::default();
    let mut chunk = vec![0; CHUNK];
    let mut written = 0;
    let mut unflushed = false;
    let mut next_poll = control.as_ref().map(|_| Instant::now() + POLL);
    loop {
        if let Some(code) = server.died() {
            return Ending::Died(code);
        }
        // As most servers do, this one waits until its log is taken.
        let lines_of_log = server.take_log();
        if log.write_all(&lines_of_log).await.is_err() {
            return Ending::EndOfInput;
        }
        let now = Instant::now();
        let due = server.next_due();
        let waiting = server.outbox().bytes();
        let release = server.outbox().front().map(|(time, _)| *time);
        let ready = release.is_some_and(|time| time <= now);
        let alarm = [due, next_poll, release.filter(|_| !ready)].into_iter().flatten().min();
        let front = server.outbox().front().filter(|_| ready);
        let front = front.and_then(|(_, parcel)| parcel.line.get(written..)).unwrap_or_default();
        tokio::select! {
            biased;
            done = write_or_flush(&mut output, front), if ready || unflushed => match done {
                Ok(0) if ready => return Ending::EndOfInput,
                Ok(count) if ready => {
                    written += count;
                    unflushed = true;
                    if server.outbox().front().is_some_and(|(_, parcel)| written >= parcel.line.len()) {
                        server.outbox().pop();
                        written = 0;
                    }
                }
                Ok(_) => unflushed = false,
                Err(_) => return Ending::EndOfInput,
            },
            read = input.read(&mut chunk), if waiting <= WAITING => match read {
                Ok(count @ 1..) => {
                    for frame in lines.push(chunk.get(..count).unwrap_or_default()) {
                        server.receive(&mut store, CLIENT, frame, Instant::now());
                    }
                }
                Ok(0) | Err(_) => break,
            },
            () = sleep_until(alarm.unwrap_or(now)), if alarm.is_some() => {
                let now = Instant::now();
                server.tick(&store, now);
                if let Some(control) = control.as_mut().filter(|_| next_poll.is_some_and(|time| time <= now)) {
                    control.poll(&mut store);
                    server.settle(&store, now);
                    next_poll = Some(now + POLL);
                }
            }
        }
    }
    if let Some(frame) = lines.finish() {
        server.receive(&mut store, CLIENT, frame, Instant::now());
    }
    match (server.died(), server.end(&store, Instant::now())) {
        (Some(code), _) | (None, Leave::Code(code)) => return Ending::Died(code),
        (None, Leave::Never) => std::future::pending().await,
        (None, Leave::After(_) | Leave::Writing(_)) => {}
    }
    // Whether all of it could be written or not: the client is gone.
    let _ = timeout(FAREWELL, async {
        while let Some((time, parcel)) = server.outbox().pop() {
            sleep_until(time).await;
            if output.write_all(parcel.line.get(written..).unwrap_or_default()).await.is_err() {
                return;
            }
            written = 0;
        }
        let _ = output.flush().await;
    })
    .await;
    Ending::EndOfInput
}

/// Writes some of `bytes`; where there are none, sees to it that what was written goes out.
async fn write_or_flush<W: AsyncWrite + Unpin>(output: &mut W, bytes: &[u8]) -> std::io::Result<usize> {
    if bytes.is_empty() { output.flush().await.map(|()| 0) } else { output.write(bytes).await }
}
