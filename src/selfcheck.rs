//! Can every case fail, and does none cry wolf? Faults and lawful variants of the reference server against the cases.
//!
//! Each trial judges one such server at every revision, in this process and on paused time, so that quiet windows
//! and time limits cost nothing.

use crate::bundled;
use crate::profile::Profile;
use crate::record::{CaseRecord, Outcome, Record};
use crate::run::outcome::Asked;
use crate::run::sources::Sources;
use crate::run::{Cut, Settings, Suite, Wanted, check};
use crate::session::Bounds;
use reference_server::{Fault, Firings, Options, Variant};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// What one trial showed.
pub struct Trial {
    pub record: Record,
    /// How often the fault did something.
    pub fired: u64,
}

/// Judges the reference server with these options. Needs no runtime: it makes its own, on paused time.
pub fn judge(suite: &Arc<Suite>, options: Options) -> std::io::Result<Trial> {
    let firings = Firings::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    let launcher = bundled::launcher(options, firings.clone());
    let sources = Arc::new(Sources::new(launcher, Profile::default(), Bounds::default()));
    let (_keep, cut) = Cut::new();
    let settings = Settings { wanted: Wanted::All, jobs: usize::from(u8::MAX), cut, progress: None };
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
pub fn clean_complaints(record: &Record) -> Vec<String> {
    let sound = |case: &&CaseRecord| matches!(case.outcome, Outcome::Pass | Outcome::Skip);
    record.cases.iter().filter(|case| !sound(case)).map(complaint).collect()
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
        if !killers.contains(&case.name) {
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
        let _ = writeln!(text, "{fault}: {}", cases.join(" "));
    }
    text
}

/// Everything: clean, every variant, every fault. `report` is told each name and its complaints as they come.
pub fn run(suite: &Arc<Suite>, mut report: impl FnMut(&str, &[String])) -> std::io::Result<(bool, String)> {
    let mut sound = true;
    let mut tell = |name: &str, complaints: &[String]| {
        sound &= complaints.is_empty();
        report(name, complaints);
    };
    tell("clean", &clean_complaints(&judge(suite, Options::default())?.record));
    for variant in Variant::ALL {
        let trial = judge(suite, with_variant(*variant))?;
        tell(&format!("variant {}", variant.name()), &variant_complaints(&trial.record));
    }
    let mut kills = BTreeMap::new();
    for fault in Fault::ALL {
        let trial = judge(suite, with_fault(*fault))?;
        tell(&format!("fault {}", fault.name()), &fault_complaints(suite, *fault, &trial));
        kills.insert(fault.name(), killers(&trial.record));
    }
    Ok((sound, table(&kills)))
}

pub fn with_fault(fault: Fault) -> Options {
    Options { fault: Some(fault), ..Options::default() }
}

pub fn with_variant(variant: Variant) -> Options {
    Options { variants: vec![variant], ..Options::default() }
}
