//! A run that ends before its time: complete reports, soon, and no process left behind.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{PROGRAM, agreed, count};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// From the cut to the end of the program, on a machine that is busy with other things.
const SOON: Duration = Duration::from_secs(20);

/// A run of `check` on the slow server.
struct Running {
    child: Child,
    folder: TempDir,
    mark: String,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The folder's name is unique, and the server's whole tree has it in its command lines.
        let mark = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/slow_server.py");
        let child = Command::new(PROGRAM)
            .current_dir(folder.path())
            .args(["check", "--junit", "report.xml", "--json", "report.json"])
            .args(arguments)
            .args(["--", "python3"])
            .arg(script)
            .arg(folder.path())
            .arg(&mark)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self { child, folder, mark }
    }

    /// The process id of the newest server that was asked something slow, once there are so many.
    async fn asked(&self, servers: usize) -> i32 {
        let file = self.folder.path().join("asked");
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let mut asked: Vec<i32> = text.lines().filter_map(|line| line.parse().ok()).collect();
            asked.dedup();
            if asked.len() >= servers {
                return asked[asked.len() - 1];
            }
            assert!(began.elapsed() < Duration::from_secs(60), "the server was never asked anything");
            sleep(Duration::from_millis(20)).await;
        }
    }

    fn signal(&self, signal: Signal) {
        let id = self.child.id().unwrap().try_into().unwrap();
        kill(Pid::from_raw(id), signal).unwrap();
    }

    /// The exit code and the record, which all reports agree on; nothing of the server is left.
    async fn finish(mut self, limit: Duration) -> (i32, Value) {
        let status = timeout(limit, self.child.wait()).await.expect("it ends soon").unwrap();
        let code = status.code().expect("it exits by itself");
        // What was killed may take a moment to be gone, on a busy machine.
        let began = Instant::now();
        while !processes_with(&self.mark).is_empty() && began.elapsed() < Duration::from_secs(5) {
            sleep(Duration::from_millis(20)).await;
        }
        let left = processes_with(&self.mark);
        assert!(left.is_empty(), "{left:?} outlived the run");
        (code, agreed(self.folder.path(), code))
    }
}

/// The command lines in which the mark occurs.
fn processes_with(mark: &str) -> Vec<String> {
    let folders = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = folders.filter_map(|folder| std::fs::read(folder.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(mark))
        .collect()
}

fn assert_cut_short(code: i32, record: &Value, reason: &str) {
    assert!(record["cut_short"].as_str().unwrap().contains(reason), "{}", record["cut_short"]);
    assert_eq!(code, if count(record, "fail") > 0 { 1 } else { 3 });
    assert!(count(record, "unproven") > 0);
    assert_eq!(count(record, "broken"), 0);
}

#[tokio::test]
async fn an_interrupt_ends_the_run_with_complete_reports() {
    // The first server that is asked is asked what it speaks; the second is in the midst of its cases.
    for (signal, servers) in [(Signal::SIGINT, 2), (Signal::SIGTERM, 1)] {
        let run = Running::start(&["--revision", "2025-06-18"]);
        run.asked(servers).await;
        run.signal(signal);
        let (code, record) = run.finish(SOON).await;
        assert_cut_short(code, &record, "interrupted");
    }
}

#[tokio::test]
async fn an_impatient_second_interrupt_loses_no_report() {
    let run = Running::start(&[]);
    run.asked(2).await;
    run.signal(Signal::SIGINT);
    sleep(Duration::from_millis(30)).await;
    if run.child.id().is_some() {
        run.signal(Signal::SIGINT);
    }
    let (code, record) = run.finish(SOON).await;
    assert_cut_short(code, &record, "interrupted");
}

#[tokio::test]
async fn a_deadline_ends_the_run_with_complete_reports() {
    let run = Running::start(&["--deadline", "2s"]);
    let (code, record) = run.finish(SOON).await;
    assert_cut_short(code, &record, "the deadline of 2 s passed");
}

#[tokio::test]
async fn a_deadline_during_the_opening_ends_the_run_with_complete_reports() {
    let run = Running::start(&["--deadline", "1ms"]);
    let (code, record) = run.finish(SOON).await;
    assert_eq!(code, 3);
    assert_cut_short(code, &record, "the deadline");
}

#[tokio::test]
async fn a_server_killed_from_outside_costs_only_its_own_cases() {
    let run = Running::start(&["-c", "list/params-may-be-left-out", "--deadline", "60s"]);
    let server = run.asked(2).await;
    kill(Pid::from_raw(server), Signal::SIGKILL).unwrap();
    let (code, record) = run.finish(Duration::from_secs(90)).await;
    assert!(code == 0 || code == 1 || code == 3, "{code}");
    assert_eq!(count(&record, "broken"), 0);
    assert_eq!(record["cut_short"], Value::Null, "it waited for a dead server");
}
