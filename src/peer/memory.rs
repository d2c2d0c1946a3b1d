//! How is a server tested that runs in our own process? As a future that reads and writes pipes in memory.
//!
//! No process and no wall clock: with tokio's paused clock, waiting costs nothing.

use super::pump::{self, Body, Streams};
use super::{Launcher, Launching, Peer};
use crate::record::Transport;
use crate::transcript::Exit;
use std::future::Future;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, Empty, duplex};
use tokio::task::JoinHandle;

/// Bytes that a pipe in memory holds, like the usual pipe of an operating system.
const PIPE: usize = 64 * 1024;

/// The ends of the pipes that the server holds. A stream ends for the driver when its end is dropped.
pub struct Pipes {
    /// What the driver sends.
    pub input: DuplexStream,
    /// What the driver takes for standard output.
    pub output: DuplexStream,
    /// What the driver takes for standard error.
    pub stderr: DuplexStream,
}

/// Starts a server in this process, from a closure that makes its future.
///
/// The future's output says how the server exited: `()` for status 0, an `i32` for that status. A panic
/// counts as status 101, as it does for a Rust program.
///
/// ```
/// use mcp_litmus::peer::memory::{MemoryLauncher, Pipes};
///
/// let launcher = MemoryLauncher::new(|Pipes { input, mut output, .. }| async move {
///     let mut input = input;
///     let _ = tokio::io::copy(&mut input, &mut output).await;
/// });
/// # let _: &dyn mcp_litmus::peer::Launcher = &launcher;
/// ```
pub struct MemoryLauncher<S> {
    serve: S,
}

impl<S, F> MemoryLauncher<S>
where
    S: Fn(Pipes) -> F + Send + Sync,
    F: Future<Output: Into<Exit> + Send> + Send + 'static,
{
    pub fn new(serve: S) -> Self {
        Self { serve }
    }
}

impl<S, F> Launcher for MemoryLauncher<S>
where
    S: Fn(Pipes) -> F + Send + Sync,
    F: Future<Output: Into<Exit> + Send> + Send + 'static,
{
    fn launch(&self) -> Launching<'_> {
        Box::pin(async {
            let (input, server_input) = duplex(PIPE);
            let (output, server_output) = duplex(PIPE);
            let (stderr, server_stderr) = duplex(PIPE);
            let server =
                (self.serve)(Pipes { input: server_input, output: server_output, stderr: server_stderr });
            let task = Task(tokio::spawn(async move { server.await.into() }));
            Ok(Peer::with_stderr(output, input, stderr, task.exited()))
        })
    }

    fn transport(&self) -> Transport {
        Transport::Stdio
    }
}

impl Peer {
    /// A peer over any pair of streams: `reader` yields what the server says, `writer` takes what it is to
    /// hear. `exited` completes when the server has ended; dropping it must end the server.
    ///
    /// To be called within a tokio runtime.
    pub fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        exited: impl Future<Output = Exit> + Send + 'static,
    ) -> Peer {
        let streams = Streams { input: writer, output: reader, stderr: None::<Empty> };
        pump::start(streams, Running(Ok(Box::pin(exited))))
    }

    /// As [`Peer::over`], with the server's standard error.
    pub fn with_stderr(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        stderr: impl AsyncRead + Send + Unpin + 'static,
        exited: impl Future<Output = Exit> + Send + 'static,
    ) -> Peer {
        let streams = Streams { input: writer, output: reader, stderr: Some(stderr) };
        pump::start(streams, Running(Ok(Box::pin(exited))))
    }
}

/// A future that runs, or how it ended.
struct Running<F>(Result<Pin<Box<F>>, Exit>);

impl<F: Future<Output = Exit> + Send + 'static> Body for Running<F> {
    async fn exited(&mut self) -> Exit {
        let exit = match &mut self.0 {
            Ok(future) => future.await,
            Err(exit) => *exit,
        };
        self.0 = Err(exit);
        exit
    }

    fn terminate(&mut self) {
        self.kill();
    }

    fn kill(&mut self) {
        if self.0.is_ok() {
            self.0 = Err(Exit { status: None, signal: None, by_us: true });
        }
    }
}

/// A task of its own, so that a busy server does not hold up the pump; it ends when this is dropped.
struct Task(JoinHandle<Exit>);

impl Task {
    async fn exited(mut self) -> Exit {
        match (&mut self.0).await {
            Ok(exit) => exit,
            Err(error) if error.is_panic() => Exit::from(101),
            Err(_) => Exit { status: None, signal: None, by_us: true },
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::{Incoming, Outgoing};
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;

    async fn collect(peer: &mut Peer) -> (Vec<u8>, Vec<u8>, Vec<Incoming>) {
        let (mut output, mut stderr, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(event) = peer.output.recv().await {
            match event {
                Incoming::Output(bytes) => output.extend(bytes),
                Incoming::Stderr(bytes) => stderr.extend(bytes),
                other => rest.push(other),
            }
        }
        (output, stderr, rest)
    }

    #[tokio::test(start_paused = true)]
    async fn echoes_until_its_input_ends_and_then_exits() {
        let launcher = MemoryLauncher::new(|mut pipes: Pipes| async move {
            let _ = pipes.stderr.write_all(b"up\n").await;
            let _ = tokio::io::copy(&mut pipes.input, &mut pipes.output).await;
            7
        });
        let mut peer = launcher.launch().await.unwrap();
        peer.input.send(Outgoing::Bytes(b"one\n".to_vec())).await.unwrap();
        peer.input.send(Outgoing::Bytes(b"two\n".to_vec())).await.unwrap();
        peer.input.send(Outgoing::EndInput).await.unwrap();
        let (output, stderr, rest) = collect(&mut peer).await;
        assert_eq!((output.as_slice(), stderr.as_slice()), (&b"one\ntwo\n"[..], &b"up\n"[..]));
        let [Incoming::OutputEnded, Incoming::Exited(exit)] = rest.as_slice() else {
            panic!("{rest:?}");
        };
        assert_eq!(*exit, Exit { status: Some(7), signal: None, by_us: false });
    }

    #[tokio::test(start_paused = true)]
    async fn kill_reaches_a_server_that_never_reads_however_much_waits() {
        let launcher = MemoryLauncher::new(|pipes: Pipes| async move {
            let _pipes = pipes;
            std::future::pending::<()>().await;
        });
        let mut peer = launcher.launch().await.unwrap();
        let frame = vec![b'x'; 400 * 1024];
        let mut sent = 0;
        while tokio::time::timeout(
            Duration::from_millis(100),
            peer.input.send(Outgoing::Bytes(frame.clone())),
        )
        .await
        .is_ok()
        {
            sent += 1;
            assert!(sent < 20, "the sender never had to wait");
        }
        peer.input.send(Outgoing::Kill).await.unwrap();
        let (_, _, rest) = collect(&mut peer).await;
        let Some(Incoming::Exited(exit)) = rest.last() else { panic!("{rest:?}") };
        assert!(exit.by_us);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_costs_no_time_and_dropping_the_peer_ends_it() {
        struct Witness(Option<oneshot::Sender<()>>);
        impl Drop for Witness {
            fn drop(&mut self) {
                let _ = self.0.take().map(|sender| sender.send(()));
            }
        }
        let (sender, dropped) = oneshot::channel();
        let slot = std::sync::Mutex::new(Some(sender));
        let launcher = MemoryLauncher::new(move |pipes: Pipes| {
            let witness = Witness(slot.lock().unwrap().take());
            async move {
                let _held = (pipes, witness);
                std::future::pending::<()>().await;
            }
        });
        let mut peer = launcher.launch().await.unwrap();
        assert!(tokio::time::timeout(Duration::from_secs(3600), peer.output.recv()).await.is_err());
        drop(peer);
        dropped.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_status_101_and_later_input_is_refused() {
        let launcher = MemoryLauncher::new(|pipes: Pipes| async move {
            drop(pipes);
            assert!(!std::hint::black_box(true), "a server of this test panics on purpose");
        });
        let mut peer = launcher.launch().await.unwrap();
        let (_, _, rest) = collect(&mut peer).await;
        let Some(Incoming::Exited(exit)) = rest.last() else { panic!("{rest:?}") };
        assert_eq!(exit.status, Some(101));
        assert!(peer.input.send(Outgoing::EndInput).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn closed_input_is_told_once_and_output_goes_on() {
        let launcher = MemoryLauncher::new(|Pipes { input, mut output, .. }| async move {
            drop(input);
            tokio::time::sleep(Duration::from_secs(5)).await;
            let _ = output.write_all(b"still here").await;
        });
        let mut peer = launcher.launch().await.unwrap();
        for _ in 0..3 {
            peer.input.send(Outgoing::Bytes(b"lost\n".to_vec())).await.unwrap();
        }
        let (output, _, rest) = collect(&mut peer).await;
        assert_eq!(output, b"still here");
        assert!(
            matches!(rest.as_slice(), [Incoming::InputBroken(_), Incoming::OutputEnded, Incoming::Exited(_)]),
            "{rest:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn stderr_that_nobody_takes_never_blocks_the_server_and_is_counted() {
        const FLOOD: usize = 8 * 1024 * 1024;
        let (done, finished) = oneshot::channel();
        let slot = std::sync::Mutex::new(Some(done));
        let launcher = MemoryLauncher::new(move |mut pipes: Pipes| {
            let done = slot.lock().unwrap().take();
            async move {
                let piece = vec![b'e'; 64 * 1024];
                for _ in 0..FLOOD / piece.len() {
                    let _ = pipes.stderr.write_all(&piece).await;
                }
                let _ = done.map(|done| done.send(()));
            }
        });
        let mut peer = launcher.launch().await.unwrap();
        finished.await.unwrap();
        let (_, stderr, _) = collect(&mut peer).await;
        let text = String::from_utf8(stderr).unwrap();
        let written = text.bytes().filter(|byte| *byte == b'e').count();
        assert!(written < FLOOD);
        let told: usize = text
            .lines()
            .filter_map(|line| line.strip_prefix("[mcp-litmus: "))
            .filter_map(|line| line.split(' ').next()?.parse::<usize>().ok())
            .sum();
        assert!(told > 0 && told + written >= FLOOD, "{told} told, {written} written");
    }

    #[tokio::test(start_paused = true)]
    async fn output_that_nobody_takes_makes_the_server_wait() {
        let launcher = MemoryLauncher::new(|mut pipes: Pipes| async move {
            let _ = pipes.output.write_all(&vec![b'o'; 16 * 1024 * 1024]).await;
        });
        let mut peer = launcher.launch().await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(!peer.input.is_closed(), "the server ended although nobody read");
        let (output, _, rest) = collect(&mut peer).await;
        assert_eq!(output.len(), 16 * 1024 * 1024);
        assert!(matches!(rest.as_slice(), [Incoming::OutputEnded, Incoming::Exited(_)]), "{rest:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_held_open_after_the_exit_is_given_up() {
        let (reader, mut held) = duplex(64);
        let (writer, mut input) = duplex(64);
        held.write_all(b"last words").await.unwrap();
        let mut peer = Peer::over(reader, writer, std::future::ready(Exit::from(3)));
        let (output, _, rest) = collect(&mut peer).await;
        assert_eq!(output, b"last words");
        assert!(
            matches!(rest.as_slice(), [Incoming::OutputEnded, Incoming::Exited(exit)] if exit.status == Some(3)),
            "{rest:?}"
        );
        let mut nothing = Vec::new();
        assert_eq!(input.read_to_end(&mut nothing).await.unwrap(), 0);
    }
}
