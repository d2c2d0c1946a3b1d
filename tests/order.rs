//! Does a verdict depend on the order in which the cases of a shared session are played?
#![allow(clippy::unwrap_used)]

mod common;

use mcp_litmus::bundled;
use mcp_litmus::case::catalogue::Catalogue;
use mcp_litmus::record::Outcome;
use mcp_litmus::revision::Revision;
use mcp_litmus::run::Wanted;
use reference_server::{Firings, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

type Verdicts = BTreeMap<String, (Outcome, Option<String>)>;

/// The verdicts on cases with a seed, and the cases in the order in which they spoke.
async fn judge(patterns: &[&str], seed: u64) -> (Verdicts, Vec<String>) {
    let played = Arc::new(Mutex::new(Vec::new()));
    let launcher = bundled::launcher(Options::default(), Firings::default());
    let mut sources = common::sources(launcher);
    sources.seed = seed;
    let heard = played.clone();
    sources.sink = Some(Box::new(move |transcript| {
        let named = transcript.entries.iter().filter_map(|entry| entry.case.as_deref());
        heard.lock().unwrap().extend(named.map(str::to_owned));
    }));
    let record = common::judge(sources, patterns, Wanted::These(Revision::ALL.to_vec())).await;
    assert_eq!((record.exit_code(), record.seed), (0, seed));
    let verdicts = record.cases.iter().map(|case| (case.full_name(), (case.outcome, case.reason.clone())));
    let verdicts = verdicts.collect();
    let played = played.lock().unwrap().clone();
    (verdicts, played)
}

#[tokio::test(start_paused = true)]
async fn three_orders_one_verdict() {
    let (verdicts, played) = judge(&[], 0).await;
    for seed in [1, 2, 3] {
        let (others, order) = judge(&[], seed).await;
        assert!(order != played, "seed {seed} changes nothing");
        let differing: Vec<_> =
            verdicts.iter().filter(|(name, verdict)| others.get(*name) != Some(verdict)).collect();
        assert!(differing.is_empty(), "seed {seed}: {differing:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_area_alone_fares_as_among_all() {
    let (verdicts, _) = judge(&[], 0).await;
    let catalogue = Catalogue::embedded().unwrap();
    let area_of = |name: &str| name.rsplit_once('/').map(|(area, _)| area.to_owned());
    let areas: BTreeSet<String> = catalogue.scripted().filter_map(|case| area_of(&case.name)).collect();
    let scripted: BTreeSet<&str> = catalogue.scripted().map(|case| case.name.as_str()).collect();
    for area in areas {
        let (alone, _) = judge(&[&format!("{area}/*")], 0).await;
        // A standing case looks at whatever there is to see.
        let differing: Vec<_> = alone
            .iter()
            .filter(|(name, _)| name.split_once('@').is_some_and(|(name, _)| scripted.contains(name)))
            .filter(|(name, verdict)| verdicts.get(*name) != Some(verdict))
            .collect();
        assert!(differing.is_empty(), "{area}: {differing:#?}");
    }
}
