//! Can every case fail, and does none cry wolf? Faults and lawful variants of the reference server against the cases.
//!
//! Each trial judges one such server at every revision, in this process and on paused time, so that quiet windows
//! and time limits cost nothing.

use crate::bundled;
use crate::case::model::Body;
use crate::profile::Profile;
use crate::record::{CaseRecord, Outcome, Record, Transport};
use crate::revision::{Era, Revision};
use crate::run::outcome::Asked;
use crate::run::plan::concerns;
use crate::run::sources::Sources;
use crate::run::{Cut, Settings, Suite, Wanted, check};
use crate::session::Bounds;
use reference_server::{Fault, Firings, Options, Variant};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// What one trial showed.
pub struct Trial {
    pub record: Record,
    /// How often the fault did something.
    pub fired: u64,
}

/// Judges the reference server with these options at these revisions. Needs no runtime: it makes its own, on
/// paused time.
pub fn judge(suite: &Arc<Suite>, options: Options, wanted: Wanted) -> std::io::Result<Trial> {
    let firings = Firings::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    let launcher = bundled::launcher(options, firings.clone());
    let sources = Arc::new(Sources::new(launcher, Profile::default(), Bounds::default()));
    let (_keep, cut) = Cut::new();
    let settings = Settings { wanted, jobs: usize::from(u8::MAX), cut, progress: None };
    let target = Asked {
        label: bundled::LABEL.to_owned(),
        arguments: String::new(),
        started: 0,
        advice_fails: false,
        require_proof: false,
    };
    let record = runtime.block_on(check(sources, suite.clone(), settings, target));
    Ok(Trial { record, fired: firings.count() })
}

/// A fault at the newest revision of each era, and wherever else a case that names it can only be shown.
pub fn try_fault(suite: &Arc<Suite>, fault: Fault) -> std::io::Result<Trial> {
    let options = Options { fault: Some(fault), ..Options::default() };
    let mut trial = judge(suite, options.clone(), Wanted::These(revisions_for(suite, fault)))?;
    // Some breaches show only in a server of one era: what the other may do excuses a dual-era server.
    let modern = (vec![reference_server::Revision::V2026_07_28], Wanted::These(vec![Revision::R2026_07_28]));
    let stateful =
        reference_server::Revision::ALL.into_iter().filter(|revision| *revision != modern.0[0]).collect();
    for (revisions, wanted) in [modern, (stateful, Wanted::Auto)] {
        if !fault_complaints(suite, fault, &trial).is_empty() {
            let other = judge(suite, Options { revisions, ..options.clone() }, wanted)?;
            trial.fired += other.fired;
            trial.record.cases.extend(other.record.cases);
        }
    }
    Ok(trial)
}

fn revisions_for(suite: &Suite, fault: Fault) -> Vec<Revision> {
    let mut chosen = BTreeSet::from([Revision::NEWEST_STATEFUL, Revision::NEWEST]);
    for index in 0..suite.cases.len() {
        let entry = suite.entry(index);
        if entry.case.faults.iter().any(|name| name == fault.name()) {
            let concerned =
                Revision::ALL.into_iter().filter(|revision| concerns(entry, *revision, Transport::Stdio));
            let newest = |era| concerned.clone().rfind(|revision| revision.era() == era);
            chosen.extend([newest(Era::Stateful), newest(Era::Stateless)].into_iter().flatten());
        }
    }
    chosen.into_iter().collect()
}

/// A lawful variant at every revision.
pub fn try_variant(suite: &Arc<Suite>, variant: Variant) -> std::io::Result<Trial> {
    let options = Options { variants: vec![variant], ..Options::default() };
    judge(suite, options, Wanted::These(Revision::ALL.to_vec()))
}

/// The clean server at every revision.
pub fn try_clean(suite: &Arc<Suite>) -> std::io::Result<Trial> {
    judge(suite, Options::default(), Wanted::These(Revision::ALL.to_vec()))
}

/// The cases that found something, in order, each once.
pub fn killers(record: &Record) -> Vec<String> {
    let mut names: Vec<String> =
        record.cases.iter().filter(|case| found(case)).map(|case| case.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

fn found(case: &CaseRecord) -> bool {
    matches!(case.outcome, Outcome::Fail | Outcome::Advice | Outcome::Note)
}

/// What is wrong with a trial of the clean server: everything must pass or be skipped.
///
/// A standing case on messages that a clean server has no reason to send (a request for input that the driver
/// cannot give) is unproven there; that it can fail is shown by its faults.
pub fn clean_complaints(suite: &Suite, record: &Record) -> Vec<String> {
    let waits_for_a_fault = |row: &CaseRecord| {
        let case = suite.cases.iter().map(|(case, _)| case).find(|case| case.name == row.name);
        case.is_some_and(|case| matches!(case.body, Body::Standing(_)) && !case.faults.is_empty())
    };
    let sound = |row: &&CaseRecord| match row.outcome {
        Outcome::Pass | Outcome::Skip => true,
        Outcome::Unproven => waits_for_a_fault(row),
        _ => false,
    };
    record.cases.iter().filter(|row| !sound(row)).map(complaint).collect()
}

/// What is wrong with a trial of a lawful variant: nothing may fail, and nothing of ours may break.
pub fn variant_complaints(record: &Record) -> Vec<String> {
    let bad = |case: &&CaseRecord| matches!(case.outcome, Outcome::Fail | Outcome::Broken);
    let mut complaints: Vec<String> = record.cases.iter().filter(bad).map(complaint).collect();
    complaints.extend(record.target.unreachable.iter().map(|reason| format!("unreachable: {reason}")));
    complaints
}

/// What is wrong with a trial of a fault: the cases that name it must find something, and it must have fired.
pub fn fault_complaints(suite: &Suite, fault: Fault, trial: &Trial) -> Vec<String> {
    let mut complaints = Vec::new();
    if trial.fired == 0 {
        complaints.push("the fault never fired".to_owned());
    }
    let killers = killers(&trial.record);
    let naming = suite
        .cases
        .iter()
        .map(|(case, _)| case)
        .filter(|case| case.faults.iter().any(|name| name == fault.name()));
    let mut named = false;
    for case in naming {
        named = true;
        // Over another transport it would be shown; here the case has no rows.
        let is_played = trial.record.cases.iter().any(|row| row.name == case.name);
        if is_played && !killers.contains(&case.name) {
            let rows = trial.record.cases.iter().filter(|row| row.name == case.name);
            let outcomes: Vec<String> = rows
                .map(|row| {
                    format!("{} {} ({})", row.revision, row.outcome, row.reason.as_deref().unwrap_or(""))
                })
                .collect();
            complaints.push(format!("{} does not notice it: {}", case.name, outcomes.join("; ")));
        }
    }
    if !named {
        complaints.push("no case names it".to_owned());
    }
    let broken = trial.record.cases.iter().filter(|case| case.outcome == Outcome::Broken);
    complaints.extend(broken.map(complaint));
    complaints
}

fn complaint(case: &CaseRecord) -> String {
    let mut text = format!("{} is {}", case.full_name(), case.outcome);
    if let Some(reason) = &case.reason {
        let _ = write!(text, ": {reason}");
    }
    if let Some(finding) = case.findings.first() {
        let _ = write!(text, ": {}", finding.title);
    }
    text
}

/// The committed table: a line for each fault, with the cases that notice it.
pub fn table(kills: &BTreeMap<&str, Vec<String>>) -> String {
    let mut text = String::from(
        "# Which cases notice which fault of the reference server, at any revision.\n\
         # Written by `mcp-litmus selfcheck --bless`; a difference is a change of what we detect.\n",
    );
    for (fault, cases) in kills {
        let _ = writeln!(text, "{}", table_line(fault, cases));
    }
    text
}

/// One line of the table: a fault and the cases that notice it.
pub fn table_line(fault: &str, cases: &[String]) -> String {
    format!("{fault}: {}", cases.join(" "))
}

/// The faults that are tried: those that can show on the transports that are played.
pub fn faults() -> impl Iterator<Item = Fault> {
    Fault::ALL
        .iter()
        .copied()
        .filter(|fault| fault.transports().contains(&reference_server::Transport::Stdio))
}

/// The lawful variants that are tried.
pub fn variants() -> impl Iterator<Item = Variant> {
    let shows = |variant: &Variant| variant.transports().contains(&reference_server::Transport::Stdio);
    Variant::ALL.iter().copied().filter(shows)
}

/// One thing that selfcheck tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Clean,
    Variant(Variant),
    Fault(Fault),
}

impl Subject {
    /// All of them: clean, then every variant, then every fault.
    pub fn all() -> Vec<Self> {
        let variants = variants().map(Self::Variant);
        let faults = faults().map(Self::Fault);
        std::iter::once(Self::Clean).chain(variants).chain(faults).collect()
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|subject| subject.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Variant(variant) => variant.name(),
            Self::Fault(fault) => fault.name(),
        }
    }

    /// Tries it; what is wrong with the result, besides.
    pub fn attempt(self, suite: &Arc<Suite>) -> std::io::Result<(Trial, Vec<String>)> {
        let trial = match self {
            Self::Clean => try_clean(suite)?,
            Self::Variant(variant) => try_variant(suite, variant)?,
            Self::Fault(fault) => try_fault(suite, fault)?,
        };
        let complaints = match self {
            Self::Clean => clean_complaints(suite, &trial.record),
            Self::Variant(_) => variant_complaints(&trial.record),
            Self::Fault(fault) => fault_complaints(suite, fault, &trial),
        };
        Ok((trial, complaints))
    }
}
