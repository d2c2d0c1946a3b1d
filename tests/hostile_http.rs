//! HTTP servers that give nothing, too much, or something else: bounded memory, bounded time, and words for each.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use assert_cmd::Command;
use common::{PROGRAM, agreed, count, run};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// 1 GiB of address space for the driver; the flooding modes send as much.
const MEMORY: u64 = 1024 * 1024;

/// Runs `check` with one scripted case, and the standing ones, on the hostile server in this mode.
fn check(mode: &str) -> (i32, Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/hostile_http_server.py");
    let line = format!("ulimit -v {MEMORY} && exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", &line, PROGRAM, "check", "--junit", "report.xml", "--json", "report.json"])
        .args([
            "--revision",
            "2025-06-18",
            "--timeout",
            "1s",
            "--start-timeout",
            "20s",
            "--max-message",
            "1M",
        ])
        .args(["--deadline", "200s", "--jobs", "1", "-c", "list/params-may-be-left-out"])
        .args(["-c", "http/reply-*", "-c", "json-rpc/every-request-answered"])
        .args(["--url", "http://127.0.0.1:${port}/mcp", "--", "python3"])
        .arg(script)
        .args([mode, "${port}"])
        .timeout(Duration::from_secs(300))
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!stderr.contains("panicked"), "{mode}: {stderr}");
    let code = output.status.code().unwrap_or_else(|| panic!("{mode}: {} {stdout}{stderr}", output.status));
    let record = agreed(folder.path(), code);
    assert_eq!(record["cut_short"], Value::Null, "{mode}: {stdout}");
    assert_eq!(count(&record, "broken"), 0, "{mode}: {stdout}");
    (code, record, format!("{stdout}{stderr}"))
}

#[test]
fn each_way_to_mistreat_a_request_costs_one_failure() {
    let unanswered = "json-rpc/every-request-answered";
    let modes = [
        ("mute", unanswered),
        ("reset", unanswered),
        ("open-streams", unanswered),
        ("trickle", unanswered),
        ("page", "http/reply-type"),
        ("json-flood", "http/reply-is-whole"),
        ("event-flood", "http/reply-is-whole"),
        ("endless-event", "http/reply-is-whole"),
    ];
    // Most of the time they wait.
    std::thread::scope(|scope| {
        for (mode, owner) in modes {
            scope.spawn(move || {
                let (code, record, shown) = check(&format!("later-{mode}"));
                let cases = record["cases"].as_array().unwrap();
                let failed = cases.iter().filter(|case| case["outcome"] == "fail");
                let failed: Vec<&str> = failed.map(|case| case["name"].as_str().unwrap()).collect();
                assert_eq!((code, failed.as_slice()), (1, &[owner][..]), "{mode}: {shown}");
                let listing = cases.iter().find(|case| case["name"] == "list/params-may-be-left-out");
                assert_eq!(listing.unwrap()["outcome"], "unproven", "{mode}: {shown}");
            });
        }
    });
}

#[test]
fn what_is_no_mcp_server_is_no_verdict_and_is_shown() {
    for (mode, words) in [
        ("page", "HTTP status 200 (<!doctype html><title>It works!</title>"),
        ("json-page", "HTTP status 404 ({\"detail\":\"Not Found\"})"),
        ("redirect", "it leads to http://127.0.0.1:9/elsewhere, and redirects are not followed"),
        ("reset", "no HTTP response"),
        ("no-http", "no HTTP response"),
        ("header-flood", "no HTTP response"),
    ] {
        let (code, _, shown) = check(mode);
        assert_eq!(code, 3, "{mode}: {shown}");
        assert!(shown.contains(words), "{mode}: {shown}");
        assert!(!shown.contains('\u{1b}'), "{mode}: {shown:?}");
    }
}

#[test]
fn nobody_on_the_port_is_no_verdict_in_one_sentence() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let run = run(&["check", "--url", &format!("http://127.0.0.1:{port}/mcp")]);
    assert_eq!(run.code, 3);
    let shown = format!("{}{}", run.stdout, run.stderr);
    assert!(shown.contains(&format!("nobody answers at 127.0.0.1:{port}: Connection refused")), "{shown}");
}

#[test]
fn what_cannot_be_reached_that_way_is_a_usage_error() {
    for (arguments, words) in [
        (&["--url", "localhost:3000"][..], "neither `http://` nor `https://`"),
        (&["--url", "http://127.0.0.1:${port}/mcp"], "give its command too"),
        (&["--url", "http://127.0.0.1:${prot}/mcp"], "only `${port}` is"),
        (&["--url", "http://127.0.0.1/", "--transport", "stdio"], "leave `--transport stdio` out"),
        (
            &["--url", "http://127.0.0.1/", "--header", "A: b", "--header", "Authorization Bearer hunter22"],
            "number 2 of the `--header` options is none: write `--header 'Name: value'`",
        ),
        (
            &["--url", "http://h/", "--header", "Authorization Basic hunter22:x"],
            "write `--header 'Name: value'`",
        ),
        (&["--url", "ftp://h/mcp?key=hunter22"], "`ftp://h/mcp?key=[masked]` has neither"),
        (
            &["--url", "http://127.0.0.1/", "--header", "mcp-SESSION-id: x"],
            "`mcp-session-id` is the driver's own",
        ),
        (&["--header", "A: b"], "give `--url` too"),
        (&["--transport", "http", "--", "node"], "say where the command listens"),
    ] {
        let mut all = vec!["check"];
        all.extend(arguments);
        let run = run(&all);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("hunter"), "{arguments:?}: {}", run.stderr);
    }
}
