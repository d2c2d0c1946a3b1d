//! Can every case fail, and does none cry wolf? Faults and lawful variants of the reference server against the cases.
//!
//! Each trial judges one such server at every revision, in this process and on paused time, so that quiet windows
//! and time limits cost nothing.

use crate::bundled;
use crate::case::model::{Body, Case};
use crate::profile::Profile;
use crate::record::{CaseRecord, Outcome, Record, Transport};
use crate::revision::{Era, Revision};
use crate::run::outcome::Asked;
use crate::run::plan::concerns;
use crate::run::sources::Sources;
use crate::run::{Cut, Settings, Suite, Wanted, check};
use crate::session::Bounds;
use reference_server::{Fault, Firings, Options, Revision as Known, Variant};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// The newest revision of each era.
const NEWEST: [Revision; 2] = [Revision::NEWEST_STATEFUL, Revision::NEWEST];

/// Seconds that the trial of a lawful server may take over one transport: several patient waits for what never comes.
const LONGEST: u64 = 300;

/// Variants that nothing fails, though they depart from what is recommended, and the cases that say so.
const ADVISED: &[(&str, &str)] = &[
    ("eras-differ", "listen/filter-is-typed"),
    ("first-uri-beyond-ascii", "list/uri-characters-are-legal"),
    ("line-separators-in-text", "json-rpc/error-messages-are-short"),
    ("no-server-info", "meta/server-info"),
    ("not-found-in-a-code-of-its-own", "read/absent-has-its-code"),
    ("optional-members-null", "list/members-are-not-null"),
    ("optional-members-null", "read/members-are-not-null"),
    // A false alarm: the case cannot tell that the client has also opened a session, in which a log may come.
    ("pings-before-initialized", "logging/before-the-answer"),
    ("silent-on-garbage", "http/malformed-body-is-refused"),
    ("silent-on-invalid", "json-rpc/empty-batch"),
    ("stays-silent-before-initialized", "ping/before-initialized"),
    ("unknown-version-refused", "initialize/unknown-version"),
    ("uris-unescaped", "list/uri-characters-are-legal"),
];

/// What one trial showed.
pub struct Trial {
    pub record: Record,
    /// How often the fault did something.
    pub fired: u64,
    /// Where a case that names the fault is to be played, and it cannot show: what it spoils is not there.
    pub barren: BTreeSet<Place>,
}

/// Where a case is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub transport: Transport,
    pub revision: Revision,
}

impl Place {
    pub fn of(row: &CaseRecord) -> Self {
        Self { transport: row.transport, revision: row.revision }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} over {}", self.revision, self.transport)
    }
}

impl Trial {
    /// Takes in what a trial of the same fault showed elsewhere.
    fn join(&mut self, other: Self) {
        self.fired += other.fired;
        self.record.cases.extend(other.record.cases);
        self.record.milliseconds = self.record.milliseconds.max(other.record.milliseconds);
        self.barren.extend(other.barren);
    }

    /// Whether the fault did anything there, and a case that names it applied to the server.
    fn shows(&self, naming: &Suite, place: Place) -> bool {
        let applied =
            self.record.cases.iter().filter(|row| Place::of(row) == place && row.outcome != Outcome::Skip);
        let is_naming = |row: &CaseRecord| naming.chosen().iter().any(|(case, _)| case.name == row.name);
        self.fired > 0 && applied.into_iter().any(is_naming)
    }
}

/// Judges the reference server with these options at these revisions. Needs no runtime: it makes its own, on
/// paused time.
pub fn judge(
    suite: &Arc<Suite>,
    transport: Transport,
    options: Options,
    wanted: Wanted,
) -> std::io::Result<Trial> {
    let firings = Firings::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    let launcher = match transport {
        Transport::Stdio => bundled::launcher(options, firings.clone()),
        Transport::Http => bundled::http_launcher(options, firings.clone(), bundled::ENDPOINT),
        Transport::HttpSse => bundled::http_launcher(options, firings.clone(), bundled::OLD_ENDPOINT),
    };
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
    Ok(Trial { record, fired: firings.count(), barren: BTreeSet::new() })
}

/// A fault at the newest revision of each era with all cases, on the first transport that it concerns; at every other
/// revision, and on the other transport at the newest revisions, with the cases that name it.
pub fn try_fault(suite: &Arc<Suite>, fault: Fault) -> std::io::Result<Trial> {
    let naming = Arc::new(suite.narrowed(|case| names(case, fault)));
    let mut trial: Option<Trial> = None;
    for transport in transports(suite, fault) {
        let over = try_over(suite, &naming, fault, transport, trial.is_none())?;
        match &mut trial {
            Some(trial) => trial.join(over),
            None => trial = Some(over),
        }
    }
    trial.ok_or_else(|| std::io::Error::other("the fault concerns no transport"))
}

fn try_over(
    suite: &Arc<Suite>,
    naming: &Arc<Suite>,
    fault: Fault,
    transport: Transport,
    with_all: bool,
) -> std::io::Result<Trial> {
    let options = Options { fault: Some(fault), ..Options::default() };
    let first = if with_all { suite } else { naming };
    let mut trial = judge(first, transport, options.clone(), Wanted::These(NEWEST.to_vec()))?;
    let of_one_era = |era: Era| {
        let is_stateless = |known: &Known| *known == Known::V2026_07_28;
        let of_era = Known::ALL.into_iter().filter(|known| is_stateless(known) == (era == Era::Stateless));
        Options { revisions: of_era.collect(), ..options.clone() }
    };
    let here = |trial: &Trial| -> Vec<Revision> {
        let places = unnoticed_at(suite, fault, trial).into_iter();
        places.filter(|place| place.transport == transport).map(|place| place.revision).collect()
    };
    let others: Vec<Revision> =
        here(&trial).into_iter().filter(|revision| !NEWEST.contains(revision)).collect();
    if !others.is_empty() {
        trial.join(judge(naming, transport, options.clone(), Wanted::These(others))?);
    }
    // Some breaches show only in a server of one era: what the other may do excuses a dual-era server.
    for revision in here(&trial) {
        let wanted = Wanted::These(vec![revision]);
        let alone = judge(suite, transport, of_one_era(revision.era()), wanted)?;
        let place = Place { transport, revision };
        if !alone.shows(naming, place) {
            trial.barren.insert(place);
        }
        trial.join(alone);
    }
    // A server that agrees to no revision that it is asked for has rows at the one that it chooses.
    if with_all && !unnoticed_anywhere(suite, fault, &trial).is_empty() {
        trial.join(judge(suite, transport, of_one_era(Era::Stateful), Wanted::Auto)?);
    }
    Ok(trial)
}

/// Where a fault is to be seen: over HTTP+SSE if that is all that its cases are about.
fn transports(suite: &Suite, fault: Fault) -> Vec<Transport> {
    let mut naming = suite.cases.iter().filter(|(case, _)| names(case, fault)).peekable();
    if naming.peek().is_some() && naming.all(|(_, row)| row.transports == [Transport::HttpSse]) {
        return vec![Transport::HttpSse];
    }
    carriers(fault.transports())
}

/// The transports of the reference server, as the driver calls them.
fn carriers(known: &[reference_server::Transport]) -> Vec<Transport> {
    let called = known.iter().map(|transport| match transport {
        reference_server::Transport::Stdio => Transport::Stdio,
        reference_server::Transport::Http => Transport::Http,
    });
    called.collect()
}

/// Whether a case must notice the fault.
pub fn names(case: &Case, fault: Fault) -> bool {
    case.faults.iter().any(|name| name == fault.name())
}

/// The cases that name a fault, each with a place where it is to notice it.
fn pairs(suite: &Suite, fault: Fault) -> impl Iterator<Item = (&Case, Place)> {
    let carriers = transports(suite, fault);
    let naming = (0..suite.cases.len()).map(|index| suite.entry(index));
    naming.filter(move |entry| names(entry.case, fault)).flat_map(move |entry| {
        // What shows over one transport at every revision is looked at over the other at the newest of each era.
        let places = carriers.clone().into_iter().enumerate().flat_map(|(at, transport)| {
            let of_it = Revision::ALL.into_iter().map(move |revision| Place { transport, revision });
            of_it.filter(move |place| at == 0 || NEWEST.contains(&place.revision))
        });
        let concerned = places.filter(move |place| concerns(entry, place.revision, place.transport));
        concerned.map(move |place| (entry.case, place))
    })
}

/// Where a case that names the fault is still to notice it, although the fault shows there.
fn unnoticed<'s>(suite: &'s Suite, fault: Fault, trial: &Trial) -> Vec<(&'s Case, Place)> {
    let is_noticed = |case: &Case, place| {
        trial.record.cases.iter().any(|row| row.name == case.name && Place::of(row) == place && found(row))
    };
    pairs(suite, fault)
        .filter(|(case, place)| !trial.barren.contains(place) && !is_noticed(case, *place))
        .collect()
}

/// The cases that name the fault and notice it nowhere.
fn unnoticed_anywhere<'s>(suite: &'s Suite, fault: Fault, trial: &Trial) -> Vec<&'s Case> {
    let is_noticed = |case: &&Case| trial.record.cases.iter().any(|row| row.name == case.name && found(row));
    pairs(suite, fault).map(|(case, _)| case).filter(|case| !is_noticed(case)).collect()
}

fn unnoticed_at(suite: &Suite, fault: Fault, trial: &Trial) -> BTreeSet<Place> {
    unnoticed(suite, fault, trial).into_iter().map(|(_, place)| place).collect()
}

/// A lawful variant at every revision on the first transport that it concerns, and at the newest of each era on others.
pub fn try_variant(suite: &Arc<Suite>, variant: Variant) -> std::io::Result<Trial> {
    let options = Options { variants: vec![variant], ..Options::default() };
    let mut over = carriers(variant.transports());
    if over == [Transport::Http] {
        over.push(Transport::HttpSse);
    }
    try_everywhere(suite, &options, &over, &NEWEST)
}

/// The clean server everywhere.
pub fn try_clean(suite: &Arc<Suite>) -> std::io::Result<Trial> {
    try_everywhere(suite, &Options::default(), &Transport::ALL, &Revision::ALL)
}

/// At every revision on the first of the transports, at these on the others.
fn try_everywhere(
    suite: &Arc<Suite>,
    options: &Options,
    over: &[Transport],
    elsewhere: &[Revision],
) -> std::io::Result<Trial> {
    let mut trial: Option<Trial> = None;
    for transport in over {
        let revisions = if trial.is_none() { &Revision::ALL[..] } else { elsewhere };
        let other = judge(suite, *transport, options.clone(), Wanted::These(revisions.to_vec()))?;
        match &mut trial {
            Some(trial) => trial.join(other),
            None => trial = Some(other),
        }
    }
    trial.ok_or_else(|| std::io::Error::other("nothing to try"))
}

/// The cases that found something, in order, each once.
pub fn killers(record: &Record) -> Vec<String> {
    let mut names: Vec<String> =
        record.cases.iter().filter(|case| found(case)).map(|case| case.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// Whether a case found something.
pub fn found(case: &CaseRecord) -> bool {
    matches!(case.outcome, Outcome::Fail | Outcome::Advice | Outcome::Note)
}

/// What is wrong with a trial of the clean server: everything must pass or be skipped.
///
/// A standing case on messages that a clean server has no reason to send (a request for input that the driver
/// cannot give) is unproven there; that it can fail is shown by its faults.
pub fn clean_complaints(suite: &Suite, record: &Record) -> Vec<String> {
    let waits_for_a_fault = |row: &CaseRecord| {
        let case = suite.cases.iter().map(|(case, _)| case).find(|case| case.name == row.name);
        let may_fail = |case: &Arc<Case>| !case.faults.is_empty() || case.unfalsified.is_some();
        case.is_some_and(|case| matches!(case.body, Body::Standing(_)) && may_fail(case))
    };
    let sound = |row: &&CaseRecord| match row.outcome {
        Outcome::Pass | Outcome::Skip => true,
        Outcome::Unproven => waits_for_a_fault(row),
        _ => false,
    };
    record.cases.iter().filter(|row| !sound(row)).map(complaint).chain(waits(record)).collect()
}

/// Paused time costs nothing here, and users all of it: a lawful server that is waited for is not understood.
fn waits(record: &Record) -> Option<String> {
    let seconds = record.milliseconds / 1000;
    (seconds > LONGEST).then(|| format!("the driver waited {seconds} s for a lawful server"))
}

/// What is wrong with a trial of a lawful variant: nothing may fail, nothing of ours may break, and it is advised what
/// it departs from, and nothing else.
pub fn variant_complaints(variant: Variant, record: &Record) -> Vec<String> {
    let advised = ADVISED.iter().filter(|(name, _)| *name == variant.name()).map(|(_, case)| *case);
    let mut unmet: BTreeSet<&str> = advised.collect();
    let expected = unmet.clone();
    let mut complaints = Vec::new();
    for row in &record.cases {
        match row.outcome {
            Outcome::Advice if expected.contains(row.name.as_str()) => _ = unmet.remove(row.name.as_str()),
            Outcome::Fail | Outcome::Broken | Outcome::Advice => complaints.push(complaint(row)),
            _ => {}
        }
    }
    complaints.extend(unmet.into_iter().map(|case| format!("{case} does not advise it any more")));
    complaints.extend(waits(record));
    complaints.extend(record.target.unreachable.iter().map(|reason| format!("unreachable: {reason}")));
    complaints
}

/// What is wrong with a trial of a fault: the cases that name it must find something at every
/// revision at which it shows, and it must have fired.
pub fn fault_complaints(suite: &Suite, fault: Fault, trial: &Trial) -> Vec<String> {
    let mut complaints = Vec::new();
    if trial.fired == 0 {
        complaints.push("the fault never fired".to_owned());
    }
    for (case, place) in unnoticed(suite, fault, trial) {
        let rows = trial.record.cases.iter();
        let rows = rows.filter(|row| row.name == case.name && Place::of(row) == place);
        let outcomes: Vec<String> =
            rows.map(|row| format!("{} ({})", row.outcome, row.reason.as_deref().unwrap_or(""))).collect();
        complaints.push(format!("{} does not notice it at {place}: {}", case.name, outcomes.join("; ")));
    }
    let nowhere = unnoticed_anywhere(suite, fault, trial);
    complaints.extend(nowhere.into_iter().map(|case| format!("{} notices it nowhere", case.name)));
    if !suite.cases.iter().any(|(case, _)| names(case, fault)) {
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
        let variants = Variant::ALL.iter().copied().map(Self::Variant);
        let faults = Fault::ALL.iter().copied().map(Self::Fault);
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
            Self::Variant(variant) => variant_complaints(variant, &trial.record),
            Self::Fault(fault) => fault_complaints(suite, fault, &trial),
        };
        Ok((trial, complaints))
    }
}
