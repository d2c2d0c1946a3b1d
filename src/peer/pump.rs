//! How do the streams of a server become the channels of a [`Peer`]?
//!
//! Four tasks that never wait for one another's stream: one writes, one reads the output, one reads standard
//! error, and a supervisor takes orders and waits for the end. What stands behind the streams is a [`Body`]:
//! a process or a future.

use super::{Incoming, Outgoing, Peer};
use crate::transcript::Exit;
use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

/// Bytes asked for in one read: the usual size of a pipe.
const CHUNK: usize = 64 * 1024;
/// Pieces of output that wait for the session; with `CHUNK`, at most 1 MiB.
const INCOMING: usize = 16;
/// Bytes that wait for the server to read; above this, the sender waits too.
const QUEUED: usize = 1024 * 1024;
/// While the sender waits, one order is taken in each such span, so that a `Kill` among the bytes is seen.
const LOOK_AHEAD: Duration = Duration::from_millis(250);
/// Bytes of standard error kept while the session does not take them.
const STDERR_KEPT: usize = 1024 * 1024;
/// How long after its end a server's children may go on writing to its streams. Wrappers end just before
/// their last child does.
const GRACE: Duration = Duration::from_millis(500);
/// How long is waited, after the last of them was killed, for a stream that still does not end.
const PATIENCE: Duration = Duration::from_millis(500);
/// What a pipe can hold at most (the default of Linux's `pipe-max-size`); more is not read after the end.
const LEFTOVER: usize = 1024 * 1024;

/// What runs behind the streams. Dropping it ends it.
pub(super) trait Body: Send + 'static {
    /// Waits for the end. May be dropped and called again; once ended, it says the same again.
    fn exited(&mut self) -> impl Future<Output = Exit> + Send;
    fn terminate(&mut self);
    /// Ends it with all it started; after the end, ends what it left behind.
    fn kill(&mut self);
}

/// The server's streams, named as the server names them.
pub(super) struct Streams<I, O, E> {
    pub input: I,
    pub output: O,
    pub stderr: Option<E>,
}

/// Starts the tasks on the current tokio runtime.
pub(super) fn start<I, O, E>(streams: Streams<I, O, E>, body: impl Body) -> Peer
where
    I: AsyncWrite + Send + Unpin + 'static,
    O: AsyncRead + Send + Unpin + 'static,
    E: AsyncRead + Send + Unpin + 'static,
{
    // One place only: an order that the supervisor has not yet seen should be rare.
    let (input, orders) = mpsc::channel(1);
    let (events, output) = mpsc::channel(INCOMING);
    tokio::spawn(supervise(streams, body, orders, events));
    Peer { input, output, endpoint: None, server: None }
}

async fn supervise<I, O, E>(
    streams: Streams<I, O, E>,
    mut body: impl Body,
    orders: mpsc::Receiver<Outgoing>,
    events: mpsc::Sender<Incoming>,
) where
    I: AsyncWrite + Send + Unpin + 'static,
    O: AsyncRead + Send + Unpin + 'static,
    E: AsyncRead + Send + Unpin + 'static,
{
    // JoinSets, since dropping one ends its tasks.
    let (frames, queue) = mpsc::channel(1);
    let mut writer = JoinSet::new();
    writer.spawn(write(streams.input, queue, events.clone()));
    let (closing, closed) = watch::channel(false);
    let mut readers = JoinSet::new();
    readers.spawn(read_output(Source::new(streams.output, closed.clone()), events.clone()));
    if let Some(stderr) = streams.stderr {
        readers.spawn(read_stderr(Source::new(stderr, closed), events.clone()));
    }

    let exit = attend(&mut body, orders, frames, &events).await;

    if timeout(GRACE, all(&mut readers)).await.is_err() {
        body.kill();
        closing.send_replace(true);
        all(&mut readers).await;
    }
    body.kill();
    writer.shutdown().await;
    // An error means that nobody listens any more.
    let _ = events.send(Incoming::Exited(exit)).await;
}

async fn all(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}

/// Carries out orders until the server has ended.
async fn attend(
    body: &mut impl Body,
    mut orders: mpsc::Receiver<Outgoing>,
    frames: mpsc::Sender<Vec<u8>>,
    events: &mpsc::Sender<Incoming>,
) -> Exit {
    let mut frames = Some(frames);
    let mut queue = VecDeque::new();
    let mut queued = 0;
    let mut input_ended = false;
    let mut abandoned = false;
    loop {
        tokio::select! {
            biased;
            exit = body.exited() => return exit,
            () = events.closed(), if !abandoned => {
                abandoned = true;
                body.kill();
            }
            order = next_order(&mut orders, queued), if !abandoned => match order {
                Some(Outgoing::Bytes(bytes)) if !input_ended => {
                    queued += bytes.len();
                    queue.push_back(bytes);
                }
                // These streams carry no HTTP.
                Some(Outgoing::Bytes(_) | Outgoing::Exchange(_) | Outgoing::Abandon(_)) => {}
                Some(Outgoing::EndInput) => input_ended = true,
                Some(Outgoing::Terminate) => body.terminate(),
                Some(Outgoing::Kill) => body.kill(),
                None => {
                    abandoned = true;
                    body.kill();
                }
            },
            Some(permit) = permit(&frames), if !queue.is_empty() => {
                if let Some(bytes) = queue.pop_front() {
                    queued -= bytes.len();
                    permit.send(bytes);
                }
            }
        }
        if input_ended && queue.is_empty() {
            frames = None;
        }
    }
}

async fn next_order(orders: &mut mpsc::Receiver<Outgoing>, queued: usize) -> Option<Outgoing> {
    if queued >= QUEUED {
        sleep(LOOK_AHEAD).await;
    }
    orders.recv().await
}

async fn permit(frames: &Option<mpsc::Sender<Vec<u8>>>) -> Option<mpsc::Permit<'_, Vec<u8>>> {
    frames.as_ref()?.reserve().await.ok()
}

/// Writes frame after frame, and closes the stream when there are no more to come.
async fn write(
    mut stream: impl AsyncWrite + Unpin,
    mut frames: mpsc::Receiver<Vec<u8>>,
    events: mpsc::Sender<Incoming>,
) {
    while let Some(frame) = frames.recv().await {
        let written = async {
            stream.write_all(&frame).await?;
            stream.flush().await
        };
        if let Err(error) = written.await {
            drop(stream);
            let _ = events.send(Incoming::InputBroken(error.to_string())).await;
            // The rest is taken and lost, so that no sender waits for a stream that is gone.
            while frames.recv().await.is_some() {}
            return;
        }
    }
    let _ = stream.shutdown().await;
}

/// A stream of the server that is read to its end, or for a bounded time once the server is gone.
struct Source<R> {
    stream: R,
    closed: watch::Receiver<bool>,
    /// Time spent waiting for the stream; waiting for the session does not count.
    patience: Duration,
    leftover: usize,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Source<R> {
    fn new(stream: R, closed: watch::Receiver<bool>) -> Self {
        Self { stream, closed, patience: PATIENCE, leftover: LEFTOVER, buffer: vec![0; CHUNK] }
    }

    /// The next bytes; none at the end. May be dropped without loss.
    async fn next(&mut self) -> &[u8] {
        let count = loop {
            if *self.closed.borrow() {
                break self.next_leftover().await;
            }
            tokio::select! {
                biased;
                count = self.stream.read(&mut self.buffer) => break count.unwrap_or(0),
                changed = self.closed.changed() => if changed.is_err() { break 0 },
            }
        };
        self.buffer.get(..count).unwrap_or_default()
    }

    async fn next_leftover(&mut self) -> usize {
        let wanted = self.leftover.min(self.buffer.len());
        let began = Instant::now();
        let read = timeout(self.patience, self.stream.read(&mut self.buffer[..wanted])).await;
        self.patience = self.patience.saturating_sub(began.elapsed());
        let count = read.map_or(0, |count| count.unwrap_or(0));
        self.leftover -= count;
        count
    }
}

/// Passes the output on. What the session does not take stays in the pipe, and the server waits.
async fn read_output(mut source: Source<impl AsyncRead + Unpin>, events: mpsc::Sender<Incoming>) {
    loop {
        let bytes = source.next().await.to_vec();
        let ended = bytes.is_empty();
        let event = if ended { Incoming::OutputEnded } else { Incoming::Output(bytes) };
        if events.send(event).await.is_err() || ended {
            return;
        }
    }
}

/// Passes standard error on, but never lets the server wait: what does not fit is counted and dropped.
async fn read_stderr(mut source: Source<impl AsyncRead + Unpin>, events: mpsc::Sender<Incoming>) {
    let mut kept = Kept::default();
    loop {
        tokio::select! {
            biased;
            permit = events.reserve(), if !kept.bytes.is_empty() => match permit {
                Ok(permit) => permit.send(Incoming::Stderr(kept.take())),
                Err(_) => return,
            },
            bytes = source.next() => {
                if bytes.is_empty() {
                    break;
                }
                kept.add(bytes);
            }
        }
    }
    if !kept.bytes.is_empty() {
        let _ = events.send(Incoming::Stderr(kept.take())).await;
    }
}

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    dropped: u64,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let room = STDERR_KEPT.saturating_sub(self.bytes.len()).min(bytes.len());
        let (fits, rest) = bytes.split_at(room);
        self.bytes.extend_from_slice(fits);
        self.dropped += rest.len() as u64;
    }

    /// What was kept; a line of ours tells what is missing.
    fn take(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let dropped = std::mem::take(&mut self.dropped);
        if dropped > 0 {
            bytes.extend_from_slice(
                format!("\n[mcp-litmus: {dropped} bytes of standard error left out]\n").as_bytes(),
            );
        }
        bytes
    }
}
