//! How much can be proven of a server that nobody described?
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use mcp_litmus::bundled;
use mcp_litmus::peer::Launcher;
use mcp_litmus::peer::memory::{MemoryLauncher, Pipes};
use mcp_litmus::record::{Outcome, Record};
use mcp_litmus::revision::Revision;
use mcp_litmus::run::Wanted;
use reference_server::{Firings, Options};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Judges the reference server as if nobody knew it: every case at every revision.
async fn judge(options: Options) -> Record {
    judge_any(bundled::launcher(options, Firings::default())).await
}

async fn judge_any(launcher: Arc<dyn Launcher>) -> Record {
    let mut sources = common::sources(launcher);
    sources.recognises = false;
    common::judge(sources, &[], Wanted::These(Revision::ALL.to_vec())).await
}

#[tokio::test(start_paused = true)]
async fn little_is_left_unproven_and_each_time_with_what_would_help() {
    let record = judge(Options::default()).await;
    eprintln!("{}", mcp_litmus::report::console::summary(&record));
    assert_eq!(record.exit_code(), 0);
    let applicable = record.cases.iter().filter(|case| case.outcome != Outcome::Skip).count();
    let unproven: Vec<_> = record.cases.iter().filter(|case| case.outcome == Outcome::Unproven).collect();
    let mut helps: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &unproven {
        let reason = case.reason.as_deref().unwrap();
        helps
            .entry(case.help.as_deref().unwrap())
            .or_default()
            .push(format!("{}: {reason}", case.full_name()));
    }
    let share = unproven.len() as f64 / applicable as f64;
    assert!(share < 0.10, "{} of {applicable}: {helps:#?}", unproven.len());
    // All that is left is what nobody can know or may do without being told: a line of the profile.
    for (help, cases) in &helps {
        assert!(help.contains("litmus.yaml"), "{help}: {cases:#?}");
    }
}

/// A server with one resource, which changes every three seconds; who has subscribed is told so.
async fn serve_a_clock(Pipes { input, mut output, stderr }: Pipes) {
    let _stderr = stderr;
    let mut lines = BufReader::new(input).lines();
    let mut ticks = tokio::time::interval(Duration::from_secs(3));
    let (mut count, mut subscribed) = (0, false);
    loop {
        let said = tokio::select! {
            _ = ticks.tick() => {
                count += 1;
                let params = json!({ "uri": "clock:now" });
                let update = json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params });
                subscribed.then_some(update)
            }
            line = lines.next_line() => {
                let Ok(Some(line)) = line else { return };
                let message: Value = serde_json::from_str(&line).unwrap_or_default();
                let method = message["method"].as_str().unwrap_or_default();
                subscribed = (subscribed || method == "resources/subscribe") && method != "resources/unsubscribe";
                let result = match method {
                    "initialize" => json!({
                        "protocolVersion": "2025-06-18",
                        "capabilities": { "resources": { "subscribe": true } },
                        "serverInfo": { "name": "clock", "version": "1" },
                    }),
                    "resources/list" => json!({ "resources": [{ "uri": "clock:now", "name": "now" }] }),
                    "resources/read" => json!({ "contents": [{ "uri": "clock:now", "text": count.to_string() }] }),
                    _ => json!({}),
                };
                message.get("id").map(|id| match method {
                    "server/discover" => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no" } }),
                    _ => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                })
            }
        };
        if let Some(said) = said
            && output.write_all(format!("{said}\n").as_bytes()).await.is_err()
        {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_changes_by_itself_needs_no_hook() {
    let record = judge_any(Arc::new(MemoryLauncher::new(serve_a_clock))).await;
    let outcome = |name: &str| {
        let case =
            record.cases.iter().find(|case| case.name == name && case.outcome != Outcome::Skip).unwrap();
        (case.outcome, case.reason.clone())
    };
    for name in ["updated/change-is-announced", "updated/read-shows-the-change", "updated/uri-is-absolute"] {
        assert_eq!(outcome(name), (Outcome::Pass, None), "{name}");
    }
    let still = judge(Options::default()).await;
    let announced = still.cases.iter().filter(|case| case.name == "updated/change-is-announced");
    assert!(announced.into_iter().all(|case| case.outcome != Outcome::Pass));
}
