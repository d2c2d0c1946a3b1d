//! Zero for nothing: servers that say the same to everything, or nothing. None gets a pass, and none hangs a run.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use mcp_litmus::peer::Launcher;
use mcp_litmus::peer::memory::{MemoryLauncher, Pipes};
use mcp_litmus::record::{Outcome, Record};
use mcp_litmus::revision::Revision;
use mcp_litmus::run::Wanted;
use mcp_litmus::session::Bounds;
use serde_json::{Value, json};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

/// Real time for a run on paused time, on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(240);

fn all() -> Wanted {
    Wanted::These(Revision::ALL.to_vec())
}

/// Judges such a server with every case at every revision.
fn judge(launcher: impl Launcher + 'static, revisions: Wanted) -> Record {
    judge_within(Bounds::default(), launcher, revisions)
}

fn judge_within(bounds: Bounds, launcher: impl Launcher + 'static, revisions: Wanted) -> Record {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let mut sources = common::sources(Arc::new(launcher));
        sources.bounds = bounds;
        let _ = done.send(runtime.block_on(common::judge(sources, &[], revisions)));
    });
    let record = result.recv_timeout(LIMIT).expect("the run ends, and without a panic");
    let broken: Vec<_> = record.cases.iter().filter(|case| case.outcome == Outcome::Broken).collect();
    assert!(broken.is_empty(), "{} broken: {:?}", broken.len(), broken[0].reason);
    record
}

/// Where the opening failed nothing passes, and the run is never green.
fn assert_nothing_passes(name: &str, record: &Record, code: u8) {
    let passed: Vec<String> = record
        .cases
        .iter()
        .filter(|case| case.outcome == Outcome::Pass)
        .map(mcp_litmus::record::CaseRecord::full_name)
        .collect();
    assert!(passed.is_empty(), "{name}: {passed:?}");
    let fails: Vec<String> = record
        .cases
        .iter()
        .filter(|case| case.outcome == Outcome::Fail)
        .map(|case| format!("{}: {}", case.full_name(), case.findings[0].title))
        .collect();
    assert_eq!(
        record.exit_code(),
        code,
        "{name}: {:?}, {:?}, {fails:#?}",
        record.target.unreachable,
        record.target.revisions
    );
}

/// A server that meets each line with some text.
fn saying(answer: impl Fn(&str) -> String + Clone + Send + Sync + 'static) -> impl Launcher + 'static {
    MemoryLauncher::new(move |Pipes { input, mut output, stderr }| {
        let answer = answer.clone();
        async move {
            let _stderr = stderr;
            let mut input = BufReader::new(input);
            let mut line = Vec::new();
            while input.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
                let text = answer(&String::from_utf8_lossy(&line));
                if output.write_all(text.as_bytes()).await.is_err() {
                    return;
                }
                line.clear();
            }
        }
    })
}

/// A server that meets each request with the same `result` or `error` under its id.
fn answering(member: &'static str, value: Value) -> impl Launcher + 'static {
    saying(move |line| {
        let id = serde_json::from_str::<Value>(line).ok().and_then(|message| message.get("id").cloned());
        id.map(|id| format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, member: value }))).unwrap_or_default()
    })
}

#[test]
fn silence_is_no_verdict() {
    let record = judge(saying(|_| String::new()), all());
    assert_nothing_passes("silent", &record, 3);
    assert!(record.target.unreachable.unwrap().contains("no reply to `initialize`"));
}

#[test]
fn one_error_for_everything_is_red() {
    let error = json!({ "code": -32603, "message": "no" });
    assert_nothing_passes("error", &judge(answering("error", error.clone()), all()), 1);
    assert_nothing_passes("error", &judge(answering("error", error), Wanted::Auto), 1);
    let unknown = json!({ "code": -32601, "message": "Method not found" });
    assert_nothing_passes("unknown", &judge(answering("error", unknown), all()), 1);
}

#[test]
fn one_error_without_the_id_is_never_green() {
    for id in ["null", "1", "\"x\""] {
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-1,\"message\":\"no\"}}}}\n");
        let record = judge(saying(move |_| line.clone()), all());
        assert_nothing_passes(id, &record, record.exit_code().max(1));
    }
}

#[test]
fn empty_results_are_red() {
    assert_nothing_passes("{}", &judge(answering("result", json!({})), all()), 1);
    assert_nothing_passes("null", &judge(answering("result", Value::Null), all()), 1);
}

#[test]
fn an_echo_is_never_green() {
    let record = judge(saying(str::to_owned), all());
    assert_nothing_passes("echo", &record, record.exit_code().max(1));
}

#[test]
fn garbage_is_red() {
    let lines = "Listening on port 3000\n\u{1b}[2Jnot json {{{\n\u{0}\u{7}\n";
    let record = judge(saying(|_| lines.to_owned()), all());
    assert_nothing_passes("garbage", &record, 1);
    assert_says_what_came(&record, "Listening on port 3000");
    // The time that one start may take, and the end: no case waits for it again.
    assert!(record.milliseconds < 45_000, "{} ms", record.milliseconds);
    let title =
        |name: &str| record.cases.iter().find(|case| case.name == name).unwrap().findings[0].title.clone();
    assert_eq!(title("stdio/only-messages"), "a line of output is no message");
    assert_eq!(title("json-rpc/every-request-answered"), "a request got no answer");
    let bytes = MemoryLauncher::new(|Pipes { mut input, mut output, stderr }| async move {
        let _ = output.write_all(b"\xff\xfe\xc3\n\x80\x80\n{\"jsonrpc\"").await;
        let _ = tokio::io::copy(&mut input, &mut tokio::io::sink()).await;
        drop((output, stderr));
    });
    assert_nothing_passes("bytes", &judge(bytes, all()), 1);
}

fn assert_says_what_came(record: &Record, line: &str) {
    let reason = record.target.revisions.last().unwrap().reason.as_deref().unwrap();
    assert!(reason.contains(&format!("it wrote `{line}`, but stdout is for messages only")), "{reason}");
}

#[test]
fn lines_and_lines_without_a_message_are_waited_out_no_longer() {
    let babbling = MemoryLauncher::new(|Pipes { input, mut output, stderr }| async move {
        let _held = (input, stderr);
        while output.write_all(b"still loading\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let record = judge(babbling, all());
    assert_nothing_passes("babbling", &record, 1);
    assert_says_what_came(&record, "still loading");
    assert!(record.milliseconds < 10_000, "{} ms", record.milliseconds);
}

#[test]
fn some_lines_of_a_log_before_the_first_message_are_no_babble() {
    let chatty = MemoryLauncher::new(|Pipes { input, mut output, stderr }| async move {
        let _stderr = stderr;
        for line in 0..50 {
            let _ = output.write_all(format!("loading plugin {line}\n").as_bytes()).await;
        }
        reference_server::serve(input, output, Default::default(), Default::default()).await;
    });
    let record = judge(chatty, Wanted::Auto);
    let passed = record.cases.iter().filter(|case| case.outcome == Outcome::Pass).count();
    assert!(passed > 100, "{passed}");
    assert_eq!(record.exit_code(), 1);
}

#[test]
fn the_result_of_initialize_for_everything_is_red() {
    let result = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "resources": { "subscribe": true, "listChanged": true }, "completions": {} },
        "serverInfo": { "name": "parrot", "version": "1" },
    });
    for revisions in [Wanted::Auto, all()] {
        let record = judge(answering("result", result.clone()), revisions);
        assert_eq!(record.exit_code(), 1);
        let failed =
            |name: &str| record.cases.iter().any(|case| case.name == name && case.outcome == Outcome::Fail);
        assert!(failed("list/resources-are-an-array"));
        assert!(failed("read/contents-are-an-array"));
    }
}

/// A server that writes this again and again, whatever it is asked.
fn assert_flood_ends(piece: String) -> Record {
    let name: String = piece.chars().take(60).collect();
    let flood = MemoryLauncher::new(move |Pipes { input, mut output, stderr }| {
        let piece = piece.clone();
        async move {
            let _held = (input, stderr);
            while output.write_all(piece.as_bytes()).await.is_ok() {}
        }
    });
    // What a flood costs is bounded; small bounds make it short.
    let bounds = Bounds { line: 64 << 10, kept: 128 << 10, ..Bounds::default() };
    let record = judge_within(bounds, flood, Wanted::Auto);
    assert_nothing_passes(&name, &record, record.exit_code().max(1));
    record
}

#[test]
fn a_line_without_an_end_is_told_with_its_length() {
    let record = assert_flood_ends("x".repeat(4096));
    let reasons: Vec<_> = record.target.revisions.iter().filter_map(|row| row.reason.as_deref()).collect();
    let reason = reasons
        .iter()
        .chain(&record.target.unreachable.as_deref())
        .any(|reason| reason.contains("no newline within 1") && reason.contains("bytes"));
    assert!(reason, "{reasons:?} {:?}", record.target.unreachable);
}

#[test]
fn a_flood_of_notifications_ends() {
    assert_flood_ends(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n".repeat(50),
    );
}

#[test]
fn a_flood_of_requests_ends() {
    assert_flood_ends("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n".repeat(50));
}

#[test]
fn a_flood_of_answers_that_nobody_asked_for_ends() {
    assert_flood_ends("{\"jsonrpc\":\"2.0\",\"id\":1000000,\"result\":{}}\n".repeat(50));
}

#[test]
fn lines_without_an_end_and_without_a_word_end() {
    for piece in ["x", "\n", "["] {
        assert_flood_ends(piece.repeat(4096));
    }
}

#[test]
fn a_flood_on_standard_error_hides_nothing() {
    let flood = MemoryLauncher::new(|Pipes { mut input, output, mut stderr }| async move {
        let _held = output;
        let noise = vec![b'e'; 64 * 1024];
        for _ in 0..256 {
            let _ = stderr.write_all(&noise).await;
        }
        let _ = stderr.write_all(b"\nthe last words\n").await;
        let _ = input.read_u8().await;
        5
    });
    let record = judge(flood, Wanted::Auto);
    assert_nothing_passes("stderr", &record, 3);
    assert!(record.target.stderr.iter().any(|line| line.contains("the last words")));
}

#[test]
fn closed_output_is_no_verdict() {
    let closed = MemoryLauncher::new(|Pipes { mut input, output, stderr }| async move {
        drop(output);
        let _ = tokio::io::copy(&mut input, &mut tokio::io::sink()).await;
        drop(stderr);
        std::future::pending::<()>().await;
    });
    assert_nothing_passes("closed output", &judge(closed, all()), 3);
}

#[test]
fn death_at_the_first_byte_is_no_verdict_and_says_the_status() {
    let dying = MemoryLauncher::new(|Pipes { mut input, output, stderr }| async move {
        let _held = (output, stderr);
        let _ = input.read_u8().await;
        139
    });
    let record = judge(dying, all());
    assert_nothing_passes("dying", &record, 3);
    assert!(record.target.unreachable.unwrap().contains("status 139"));
    let never_reading = MemoryLauncher::new(|pipes: Pipes| async move {
        let _held = pipes;
        std::future::pending::<()>().await;
    });
    assert_nothing_passes("deaf", &judge(never_reading, all()), 3);
}

#[test]
fn a_panicking_server_is_no_verdict() {
    let panicking = MemoryLauncher::new(|Pipes { input, output, stderr }| async move {
        drop((input, output, stderr));
        assert!(!std::hint::black_box(true), "a server of this test panics on purpose");
    });
    assert_nothing_passes("panicking", &judge(panicking, all()), 3);
}

/// Each answer is right but for one member that makes it as deep, or as long, as can be.
#[test]
fn deep_and_long_answers_end() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("\"{}\"", "y".repeat(4 << 20));
    for value in [deep, long] {
        let length = value.len();
        let answer = move |line: &str| {
            let message: Value = serde_json::from_str(line).unwrap_or_default();
            let Some(id) = message.get("id") else { return String::new() };
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"protocolVersion\":\"2025-11-25\",\
                 \"capabilities\":{{\"resources\":{{}}}},\"serverInfo\":{{\"name\":\"n\",\"version\":\"1\"}},\
                 \"_meta\":{{\"x\":{value}}}}}}}\n"
            )
        };
        let bounds = Bounds { line: 1 << 20, ..Bounds::default() };
        let record = judge_within(bounds, saying(answer), Wanted::Auto);
        assert_nothing_passes("too much", &record, record.exit_code().max(1));
        let limit = record.cases.iter().find(|case| case.name == "stdio/lines-within-the-limit").unwrap();
        let wanted = if length > 1 << 20 { Outcome::Advice } else { Outcome::Unproven };
        assert_eq!(limit.outcome, wanted, "{:?}", limit.reason);
    }
}

/// Starting it again and again would take as long as each start takes, for nothing.
#[test]
fn a_server_that_goes_away_after_its_opening_is_not_started_for_every_case() {
    let starts = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = starts.clone();
    let dying = MemoryLauncher::new(move |Pipes { input, mut output, stderr }| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move {
            let _stderr = stderr;
            let mut line = String::new();
            let _ = BufReader::new(input).read_line(&mut line).await;
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["method"] == "initialize" {
                let result = json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "resources": { "subscribe": true, "listChanged": true } },
                    "serverInfo": { "name": "mayfly", "version": "1" },
                });
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                let _ = output.write_all(format!("{answer}\n").as_bytes()).await;
            }
        }
    });
    let record = judge(dying, Wanted::Auto);
    let passed = record.cases.iter().filter(|case| case.outcome == Outcome::Pass).count();
    let starts = starts.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(record.exit_code(), 1);
    assert!(starts < 60, "{starts} starts for {} cases, {passed} passed", record.cases.len());
}
