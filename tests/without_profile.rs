//! How much can be proven of a server that nobody described?
#![allow(clippy::unwrap_used, clippy::panic)]

use mcp_litmus::bundled;
use mcp_litmus::case::catalogue::Catalogue;
use mcp_litmus::profile::Profile;
use mcp_litmus::record::{Outcome, Record};
use mcp_litmus::revision::Revision;
use mcp_litmus::run::{Cut, Settings, Suite, Wanted, check, outcome::Asked, sources::Sources};
use mcp_litmus::session::Bounds;
use reference_server::{Firings, Options};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Judges the reference server as if nobody knew it: every case at every revision.
async fn judge(options: Options) -> Record {
    let suite = Suite::select(&Catalogue::embedded().unwrap(), &[]).unwrap();
    let launcher = bundled::launcher(options, Firings::default());
    let mut sources = Sources::new(launcher, Profile::default(), Bounds::default());
    sources.recognises = false;
    let (_end, cut) = Cut::new();
    let settings = Settings { wanted: Wanted::These(Revision::ALL.to_vec()), jobs: 8, cut, progress: None };
    let target = Asked {
        label: "nobody's server".to_owned(),
        arguments: String::new(),
        started: 0,
        advice_fails: true,
        require_proof: false,
    };
    check(Arc::new(sources), Arc::new(suite), settings, target).await
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
    // All that is left is the changes, which nobody may make without being told how.
    for (help, cases) in &helps {
        assert!(help.contains("to the `stimuli` of litmus.yaml add"), "{help}: {cases:#?}");
    }
}
