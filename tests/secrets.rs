//! Does anything that proves who asks get into what is written? A server that reflects it in every way, and a look into
//! all that a run leaves behind.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{agreed, run_in};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const TOKEN: &str = "tok/3n+Zq8Vw2Xk9Rj5Lm7Np";
const COOKIE: &str = "c00k1e-Hs6Dg4Fb1Ty8Uu";
const QUERY: &str = "qu3ry-Ae5Sd7Gh9Jk2Lz";
const PROFILE: &str = "pr0f1le-Wb3Nc6Mv8Xq1P";

/// So many characters of a secret in a row are too many. A cut may leave five.
const TELLING: usize = 8;

#[test]
fn what_proves_who_asks_is_in_nothing_that_a_run_writes() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/reflecting_server.py");
    let profile = format!("http: {{ url: 'http://127.0.0.1:1/', headers: {{ X-Api-Key: {PROFILE} }} }}\n");
    std::fs::write(folder.path().join("litmus.yaml"), profile).unwrap();
    let url = format!("http://127.0.0.1:${{port}}/mcp?api_key={QUERY}");
    let (token, cookie) = (format!("Authorization: Bearer {TOKEN}"), format!("Cookie: a=b; sid={COOKIE}"));
    let mut arguments =
        vec!["check", "--junit", "report.xml", "--json", "report.json", "--transcripts", "said", "-v"];
    arguments.extend(["--timeout", "2s", "--deadline", "100s", "--revision", "2025-06-18"]);
    for pattern in ["list/*", "read/*", "templates/*", "http/*", "json-rpc/*"] {
        arguments.extend(["-c", pattern]);
    }
    arguments.extend(["--header", &token, "--header", &cookie, "--url", &url, "--", "python3"]);
    arguments.extend([script.to_str().unwrap(), "${port}"]);
    let run = run_in(folder, &arguments);
    let record = agreed(run.folder.path(), run.code);
    assert_eq!(record["cut_short"], Value::Null);
    assert!(common::count(&record, "fail") > 5, "the server was found out: {}", run.stdout);

    let mut seen = 0;
    let mut look = |place: &str, text: &str| {
        seen += text.matches("[masked]").count();
        if let Some(found) = telling_part(text) {
            panic!("{place} tells `{found}`");
        }
    };
    look("standard output", &run.stdout);
    look("standard error", &run.stderr);
    for report in ["report.xml", "report.json"] {
        look(report, &std::fs::read_to_string(run.folder.path().join(report)).unwrap());
    }
    for file in std::fs::read_dir(run.folder.path().join("said")).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        look(&format!("{}", path.display()), &text);
        // What was cut into pieces is whole again for whoever reads them.
        for (stream, text) in streams(&text) {
            look(&format!("{stream} in {}", path.display()), &text);
        }
    }
    assert!(seen > 100, "the server reflected nothing");
}

/// The texts of a transcript, those of one channel and exchange together.
fn streams(transcript: &str) -> BTreeMap<String, String> {
    let mut streams: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for line in transcript.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let bytes = match (entry["text"].as_str(), entry["base64"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (_, Some(encoded)) => STANDARD.decode(encoded).unwrap(),
            _ => continue,
        };
        streams.entry(format!("{} {}", entry["channel"], entry["exchange"])).or_default().extend(bytes);
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    streams.into_iter().map(|(stream, bytes)| (stream, text(bytes))).collect()
}

/// The first part of a secret that stands in the text, as it is or in another form.
fn telling_part(text: &str) -> Option<String> {
    // With `\/` as with `/`, and what URLs write.
    let plain = text.replace('\\', "").replace("%2F", "/").replace("%2B", "+").replace("%2f", "/");
    for secret in [TOKEN, COOKIE, QUERY, PROFILE] {
        let parts = (0..=secret.len() - TELLING).map(|at| &secret[at..at + TELLING]);
        if let Some(part) = parts.into_iter().find(|part| plain.contains(part)) {
            return Some(part.to_owned());
        }
        for before in 0..3 {
            let encoded = STANDARD.encode(["x".repeat(before).as_bytes(), secret.as_bytes()].concat());
            let inner = &encoded[4..encoded.len() - 4];
            let parts = (0..=inner.len() - TELLING).map(|at| &inner[at..at + TELLING]);
            if let Some(part) = parts.into_iter().find(|part| plain.contains(part)) {
                return Some(part.to_owned());
            }
        }
    }
    None
}
