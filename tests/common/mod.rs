//! How do tests run the program and hold its reports against each other, and how do they judge a server in their own
//! process?
// Each test file uses its own part of this.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use assert_cmd::Command;
use mcp_litmus::case::catalogue::Catalogue;
use mcp_litmus::peer::Launcher;
use mcp_litmus::profile::Profile;
use mcp_litmus::record::Record;
use mcp_litmus::run::{Cut, Settings, Suite, Wanted, outcome::Asked, sources::Sources};
use mcp_litmus::session::Bounds;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The program itself; `reference` makes it a server.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-litmus");

/// Far longer than anything here takes, on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(300);

/// A finished run with its reports.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub folder: TempDir,
}

/// Runs the program in an empty directory.
pub fn run(arguments: &[&str]) -> Run {
    run_in(tempfile::tempdir().unwrap(), arguments)
}

pub fn run_in(folder: TempDir, arguments: &[&str]) -> Run {
    let mut command = Command::new(PROGRAM);
    let output = command.current_dir(folder.path()).args(arguments).timeout(LIMIT).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let code = output.status.code().unwrap_or_else(|| panic!("no exit code: {stdout}{stderr}"));
    assert!(!stderr.contains("panicked"), "{stderr}");
    Run { code, stdout, stderr, folder }
}

/// `check` with both reports, which agree with each other and with the exit code.
pub fn check(arguments: &[&str]) -> (Run, Value) {
    let mut all = vec!["check", "--junit", "report.xml", "--json", "report.json"];
    all.extend(arguments);
    let run = run(&all);
    let record = agreed(run.folder.path(), run.code);
    (run, record)
}

pub fn reports(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("report.xml"), folder.join("report.json"))
}

/// The JSON record, after the JUnit report and the exit code were found to say the same.
pub fn agreed(folder: &Path, code: i32) -> Value {
    let (junit, json) = reports(folder);
    let record: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let text = std::fs::read_to_string(junit).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let elements = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    for (attribute, element) in
        [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
    {
        assert_eq!(root.attribute(attribute), Some(elements(element).to_string().as_str()), "{attribute}");
    }
    let expected = match (elements("failure"), elements("error")) {
        (0, 0) => 0,
        (0, _) => 3,
        _ => 1,
    };
    assert_eq!(code, expected, "the JUnit report and the exit code differ");
    assert_eq!(record["exit_code"], code, "the JSON record and the exit code differ");
    assert_eq!(record["counts"]["failing"], elements("failure"));

    let mut told: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase") && node.attribute("classname") != Some("run"))
        .filter_map(|node| node.attribute("name"))
        .collect();
    let cases = record["cases"].as_array().unwrap();
    let mut recorded: Vec<&str> = cases.iter().filter_map(|case| case["full_name"].as_str()).collect();
    told.sort_unstable();
    recorded.sort_unstable();
    assert_eq!(told, recorded);
    assert!(!cases.is_empty());
    record
}

/// How many cases had this outcome.
pub fn count(record: &Value, outcome: &str) -> u64 {
    record["counts"][outcome].as_u64().unwrap()
}

/// What is known of a server in this process that nobody described.
pub fn sources(launcher: Arc<dyn Launcher>) -> Sources {
    Sources::new(launcher, Profile::default(), Bounds::default())
}

/// Judges a server with the cases that the patterns name, all of them without a pattern. Advice counts as failure.
pub async fn judge(sources: Sources, patterns: &[&str], wanted: Wanted) -> Record {
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let suite = Suite::select(&Catalogue::embedded().unwrap(), &patterns).unwrap();
    let (_end, cut) = Cut::new();
    let settings = Settings { wanted, jobs: 8, cut, progress: None };
    let target = Asked {
        label: "a server of this process".to_owned(),
        arguments: String::new(),
        started: 0,
        advice_fails: true,
        require_proof: false,
    };
    mcp_litmus::run::check(Arc::new(sources), Arc::new(suite), settings, target).await
}
