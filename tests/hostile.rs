//! Servers that give too much of everything, over real pipes: bounded memory, bounded time, no panic.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use assert_cmd::Command;
use common::{PROGRAM, agreed, count};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Runs `check` with one scripted case on the hostile server in this mode, with so many KiB
/// of address space for the driver.
fn check(mode: &str, memory: u64) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/hostile_server.py");
    // The limit is inherited, and the server is content with less.
    let line = format!("ulimit -v {memory} && exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", &line, PROGRAM, "check", "--junit", "report.xml", "--json", "report.json"])
        .args(["--revision", "2025-06-18", "--timeout", "2s", "--deadline", "100s", "--max-message", "1M"])
        .args(["--jobs", "1", "-c", "list/params-may-be-left-out"])
        .args(["--", "python3"])
        .arg(script)
        .arg(mode)
        .timeout(Duration::from_secs(240))
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!stderr.contains("panicked"), "{mode}: {stderr}");
    let code = output.status.code().unwrap_or_else(|| panic!("{mode}: {} {stdout}{stderr}", output.status));
    assert!(code == 0 || code == 1, "{mode}: {code}\n{stdout}{stderr}");
    let record = agreed(folder.path(), code);
    assert_eq!(record["cut_short"], Value::Null, "{mode}: {stdout}");
    assert_eq!(count(&record, "broken"), 0, "{mode}: {stdout}");
    (record, stdout.into_owned())
}

/// 700 MiB: what a debug build and its threads reserve, and far less than what is thrown at it.
const MEMORY: u64 = 700 * 1024;

#[test]
fn a_line_of_a_hundred_megabytes_is_too_long_and_is_not_kept() {
    let (record, stdout) = check("long-line", MEMORY);
    assert_eq!(count(&record, "pass"), 0, "{stdout}");
}

#[test]
fn depth_and_width_are_bounded() {
    let (record, stdout) = check("deep", MEMORY);
    assert_eq!(count(&record, "pass"), 0, "{stdout}");
    let (record, stdout) = check("wide", MEMORY);
    // Three hundred thousand members are much, and lawful: the case is about the answer, not about what is in it.
    assert_eq!((count(&record, "pass"), count(&record, "unproven")), (1, 0), "{stdout}");
}

#[test]
fn floods_of_requests_and_of_answers_that_nobody_asked_for_end() {
    for mode in ["request-flood", "unasked-ids"] {
        let (record, stdout) = check(mode, MEMORY);
        assert_eq!(count(&record, "pass"), 0, "{stdout}");
    }
}

#[test]
fn a_flood_on_standard_error_disturbs_nothing() {
    let (record, stdout) = check("stderr-flood", MEMORY);
    assert_eq!(count(&record, "fail"), 0, "{stdout}");
    assert!(count(&record, "pass") > 0, "{stdout}");
}
