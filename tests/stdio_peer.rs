//! Child processes that misbehave: none hangs the peer, and none outlives it.
#![cfg(target_os = "linux")]
// Clippy sees tests only in functions that are marked so; all of this file is one.
#![allow(clippy::unwrap_used, clippy::panic)]

use mcp_litmus::peer::stdio::StdioLauncher;
use mcp_litmus::peer::{Incoming, Launcher, Outgoing, Peer};
use mcp_litmus::transcript::Exit;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;

/// Far longer than anything here takes, on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(30);

/// A running script and what it said so far.
struct Server {
    peer: Peer,
    folder: TempDir,
    output: Vec<u8>,
    stderr: Vec<u8>,
    /// Everything but output and standard error.
    events: Vec<Incoming>,
}

impl Server {
    async fn start(program: &str, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script"), script).unwrap();
        let mut launcher = StdioLauncher::new(program, ["script"]);
        launcher.directory = Some(folder.path().to_owned());
        launcher.environment.push(("GREETING".into(), "hello".into()));
        let peer = launcher.launch().await.unwrap();
        Self { peer, folder, output: Vec::new(), stderr: Vec::new(), events: Vec::new() }
    }

    async fn send(&self, order: Outgoing) {
        timeout(LIMIT, self.peer.input.send(order)).await.expect("the order is taken").unwrap();
    }

    /// Takes the next event; false at the end.
    async fn take(&mut self) -> bool {
        match timeout(LIMIT, self.peer.output.recv()).await.expect("something is heard") {
            Some(Incoming::Output(bytes)) => self.output.extend(bytes),
            Some(Incoming::Stderr(bytes)) => self.stderr.extend(bytes),
            Some(event) => self.events.push(event),
            None => return false,
        }
        true
    }

    async fn take_until(&mut self, enough: impl Fn(&Self) -> bool) {
        while !enough(self) {
            assert!(self.take().await, "it ended first: {:?}", self.events);
        }
    }

    /// Takes everything up to the end. The exit is the last event, and the end of output came before it.
    async fn finish(&mut self) -> Exit {
        while self.take().await {}
        let ends = self.events.iter().filter(|event| matches!(event, Incoming::OutputEnded)).count();
        assert_eq!(ends, 1, "{:?}", self.events);
        match self.events.last() {
            Some(Incoming::Exited(exit)) => *exit,
            _ => panic!("the exit is not last: {:?}", self.events),
        }
    }

    /// The process ids that the script wrote, one a line, once there are this many.
    async fn pids(&mut self, count: usize) -> Vec<i32> {
        self.take_until(|server| server.output.iter().filter(|byte| **byte == b'\n').count() >= count).await;
        let text = String::from_utf8(self.output.clone()).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }
}

/// Whether a process runs; one that is dead but not yet waited for does not.
fn is_alive(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) else {
        return false;
    };
    let state = stat.rsplit_once(')').and_then(|(_, fields)| fields.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

async fn assert_all_die(pids: &[i32]) {
    let all_dead = async {
        while pids.iter().any(|pid| is_alive(*pid)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if timeout(LIMIT, all_dead).await.is_err() {
        let alive: Vec<&i32> = pids.iter().filter(|pid| is_alive(**pid)).collect();
        panic!("of {pids:?}, {alive:?} live on");
    }
}

fn bytes(text: &str) -> Outgoing {
    Outgoing::Bytes(text.as_bytes().to_vec())
}

#[tokio::test]
async fn an_echo_answers_and_exits_when_its_input_ends() {
    let mut server = Server::start("sh", "echo $GREETING; pwd >&2; exec cat").await;
    server.send(bytes("one\n")).await;
    server.take_until(|server| server.output == b"hello\none\n").await;
    server.send(bytes("two\n")).await;
    server.send(Outgoing::EndInput).await;
    let exit = server.finish().await;
    assert_eq!(server.output, b"hello\none\ntwo\n");
    let folder = server.folder.path().canonicalize().unwrap();
    assert_eq!(String::from_utf8(server.stderr).unwrap().trim_end(), folder.to_str().unwrap());
    assert_eq!(exit, Exit { status: Some(0), signal: None, by_us: false });
}

#[tokio::test]
async fn every_byte_comes_back_when_both_directions_are_flooded() {
    const SIZE: usize = 8 * 1024 * 1024;
    let mut server = Server::start("sh", "exec cat").await;
    let sent: Vec<u8> = (0..SIZE).map(|at| (at % 251) as u8).collect();
    let input = server.peer.input.clone();
    let pieces: Vec<Vec<u8>> = sent.chunks(100_000).map(<[u8]>::to_vec).collect();
    let sender = tokio::spawn(async move {
        for piece in pieces {
            input.send(Outgoing::Bytes(piece)).await.unwrap();
        }
        input.send(Outgoing::EndInput).await.unwrap();
    });
    server.finish().await;
    sender.await.unwrap();
    assert!(server.output == sent, "{} bytes came back, or others", server.output.len());
}

#[tokio::test]
async fn a_flood_of_output_waits_until_it_is_taken() {
    let script = "i=0; while [ $i -lt 40 ]; do head -c 1000000 /dev/zero; i=$((i+1)); done; exit 3";
    let mut server = Server::start("sh", script).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let exit = server.finish().await;
    assert_eq!(server.output.len(), 40_000_000);
    assert_eq!(exit, Exit { status: Some(3), signal: None, by_us: false });
}

#[tokio::test]
async fn an_endless_flood_of_output_ends_at_kill() {
    let mut server = Server::start("sh", "exec cat /dev/zero").await;
    server.take_until(|server| server.output.len() > 1_000_000).await;
    server.send(Outgoing::Kill).await;
    let exit = server.finish().await;
    assert_eq!(exit, Exit { status: None, signal: Some(9), by_us: true });
}

#[tokio::test]
async fn a_flood_of_stderr_that_nobody_takes_does_not_hold_the_server_up() {
    let script = "head -c 20000000 /dev/zero >&2; touch done; exec sleep 1000";
    let mut server = Server::start("sh", script).await;
    let done = server.folder.path().join("done");
    let written = async {
        while !done.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, written).await.expect("the server is never blocked");
    server.send(Outgoing::Kill).await;
    server.finish().await;
    assert!(server.stderr.len() < 20_000_000, "everything was kept");
    assert!(String::from_utf8_lossy(&server.stderr).contains(" bytes of standard error left out]"));
}

#[tokio::test]
async fn a_server_that_never_reads_makes_the_sender_wait_and_still_ends_at_kill() {
    let mut server = Server::start("sh", "exec sleep 1000").await;
    let mut sent = 0;
    let frame = "x".repeat(300_000);
    while timeout(Duration::from_millis(100), server.peer.input.send(bytes(&frame))).await.is_ok() {
        sent += 1;
        assert!(sent < 30, "the sender never had to wait");
    }
    server.send(Outgoing::Kill).await;
    let exit = server.finish().await;
    assert_eq!(exit.signal, Some(9));
}

#[tokio::test]
async fn closed_input_is_told_and_holds_nothing_up() {
    let mut server = Server::start("sh", "exec <&-; echo closed; exec sleep 1000").await;
    server.take_until(|server| server.output == b"closed\n").await;
    for _ in 0..100 {
        server.send(bytes("lost\n")).await;
    }
    server.take_until(|server| matches!(server.events.as_slice(), [Incoming::InputBroken(_)])).await;
    server.send(Outgoing::Kill).await;
    server.finish().await;
    assert_eq!(server.events.len(), 3, "{:?}", server.events);
}

#[tokio::test]
async fn a_server_that_closes_its_output_runs_on() {
    let mut server = Server::start("sh", "echo bye; exec >&-; read line; echo $line >&2; exit 4").await;
    server.take_until(|server| matches!(server.events.as_slice(), [Incoming::OutputEnded])).await;
    server.send(bytes("heard\n")).await;
    let exit = server.finish().await;
    assert_eq!((server.output.as_slice(), server.stderr.as_slice()), (&b"bye\n"[..], &b"heard\n"[..]));
    assert_eq!(exit.status, Some(4));
}

#[tokio::test]
async fn a_death_by_its_own_signal_is_not_ours() {
    let mut server = Server::start("sh", "echo last words; kill -SEGV $$").await;
    let exit = server.finish().await;
    assert_eq!(server.output, b"last words\n");
    assert_eq!(exit, Exit { status: None, signal: Some(11), by_us: false });
}

#[tokio::test]
async fn terminate_lets_a_server_choose_its_status() {
    let script = "trap 'echo cleaned; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut server = Server::start("sh", script).await;
    server.take_until(|server| server.output == b"ready\n").await;
    server.send(Outgoing::Terminate).await;
    let exit = server.finish().await;
    assert_eq!(server.output, b"ready\ncleaned\n");
    assert_eq!(exit, Exit { status: Some(5), signal: None, by_us: true });
}

/// Starts four kinds of children, writes all five process ids, and ignores SIGTERM.
const FAMILY: &str = r"
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), flush=True)

def child(start):
    reader, writer = os.pipe()
    if os.fork() == 0:
        start()
        os.write(writer, b'%d\n' % os.getpid())
        while True:
            time.sleep(1)
    print(os.read(reader, 20).decode().strip(), flush=True)

def detached():
    os.setsid()

def orphaned():
    os.setsid()
    if os.fork() != 0:
        os._exit(0)

def orphaned_with_other_streams():
    orphaned()
    nowhere = os.open('/dev/null', os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)

child(lambda: None)
child(detached)
child(orphaned)
child(orphaned_with_other_streams)
";

#[tokio::test]
async fn kill_ends_the_whole_family() {
    let script = format!("{FAMILY}\nwhile True: time.sleep(1)\n");
    let mut server = Server::start("python3", &script).await;
    let pids = server.pids(5).await;
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{pids:?}");
    server.send(Outgoing::Terminate).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{pids:?} ignore SIGTERM");
    server.send(Outgoing::Kill).await;
    let exit = server.finish().await;
    assert_eq!(exit, Exit { status: None, signal: Some(9), by_us: true });
    assert_all_die(&pids).await;
}

#[tokio::test]
async fn dropping_the_peer_ends_the_whole_family() {
    let script = format!("{FAMILY}\nwhile True: time.sleep(1)\n");
    let mut server = Server::start("python3", &script).await;
    let pids = server.pids(5).await;
    drop(server);
    assert_all_die(&pids).await;
}

#[test]
fn the_end_of_the_runtime_ends_the_whole_family() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let script = format!("{FAMILY}\nwhile True: time.sleep(1)\n");
    let mut server = first.block_on(Server::start("python3", &script));
    let pids = first.block_on(server.pids(5));
    drop(first);
    runtime().block_on(assert_all_die(&pids));
}

#[tokio::test]
async fn children_left_behind_are_ended_after_the_exit_and_hold_nothing_up() {
    let script = format!("{FAMILY}\nsys.exit(3)\n");
    let mut server = Server::start("python3", &script).await;
    let exit = server.finish().await;
    assert_eq!(exit, Exit { status: Some(3), signal: None, by_us: false });
    let pids = server.pids(5).await;
    assert_all_die(&pids).await;
}

#[tokio::test]
async fn a_peer_does_not_end_another_of_the_same_launcher() {
    let launcher = StdioLauncher::new("cat", [""; 0]);
    let first = launcher.launch().await.unwrap();
    let mut second = launcher.launch().await.unwrap();
    drop(first);
    tokio::time::sleep(Duration::from_millis(200)).await;
    second.input.send(bytes("here\n")).await.unwrap();
    let event = timeout(LIMIT, second.output.recv()).await.unwrap();
    assert!(matches!(&event, Some(Incoming::Output(bytes)) if bytes == b"here\n"), "{event:?}");
}
