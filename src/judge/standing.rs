//! Which standing cases does a transcript prove, and which does it break?
//!
//! Every rule is applied to every observation that it is about. Aggregation over conversations is the caller's.

use super::conversation::{Kind, Observed, messages_of, walk};
use crate::case::model::{Body, Case, Requirement, Standing};
use crate::check::bindings::Bindings;
use crate::check::predicate::{Breach, all_hold, evaluate};
use crate::dialect::META_VERSION;
use crate::record::{Finding, Outcome};
use crate::transcript::{Channel, Transcript};
use crate::wire::{self, Json, Limits, Message, Reading};
use std::collections::HashSet;
use std::time::Duration;

/// A standing case with the row that it proves.
#[derive(Clone, Copy)]
pub struct Rule<'a> {
    pub case: &'a Case,
    pub requirement: &'a Requirement,
}

/// What one rule met.
#[derive(Debug, Clone, Default)]
pub struct Sighting {
    /// Observations that its checks could really judge.
    pub observations: usize,
    /// At most [`Sighting::KEPT`]; alike ones count once.
    pub findings: Vec<Finding>,
    pub more: usize,
}

impl Sighting {
    pub const KEPT: usize = 5;

    pub fn add(&mut self, finding: Finding) {
        if self.findings.len() < Self::KEPT {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// Takes in what another conversation showed. Findings with the same title are one.
    pub fn join(&mut self, other: Sighting) {
        self.observations += other.observations;
        self.more += other.more;
        for finding in other.findings {
            if self.findings.iter().any(|known| known.title == finding.title) {
                self.more += 1;
            } else {
                self.add(finding);
            }
        }
    }

    pub fn outcome(&self) -> Outcome {
        let gravest =
            self.findings.iter().map(|finding| finding.outcome).max_by_key(|outcome| outcome.gravity());
        match gravest {
            Some(outcome) => outcome,
            None if self.observations > 0 => Outcome::Pass,
            None => Outcome::Unproven,
        }
    }
}

/// Applies the rules to one conversation; the sightings are in the order of the rules.
///
/// `known` are the names that standing cases may refer to beside `facts` and `request`.
pub fn judge(
    transcript: &Transcript,
    rules: &[Rule<'_>],
    known: &Bindings,
    time_limit: Duration,
) -> Vec<Sighting> {
    let mut sightings = vec![Sighting::default(); rules.len()];
    let mut titles: HashSet<(usize, String)> = HashSet::new();
    let mut bindings = known.clone();
    walk(transcript, time_limit, |observed| {
        bindings.set("facts", observed.facts.clone());
        match observed.request {
            Some(request) => bindings.set("request", request.clone()),
            None => {
                bindings.remove("request");
            }
        }
        for (index, rule) in rules.iter().enumerate() {
            let Body::Standing(standing) = &rule.case.body else { continue };
            if !observed.is_meant_by(&standing.on) {
                continue;
            }
            let sighting = &mut sightings[index];
            for finding in apply(standing, rule, observed, &bindings, transcript, sighting) {
                // One fault that shows in every message is one finding.
                if titles.insert((index, finding.title.clone())) {
                    sighting.add(finding);
                } else {
                    sighting.more += 1;
                }
            }
        }
    });
    sightings
}

fn apply(
    standing: &Standing,
    rule: &Rule<'_>,
    observed: &Observed<'_>,
    bindings: &Bindings,
    transcript: &Transcript,
    sighting: &mut Sighting,
) -> Vec<Finding> {
    // A reference that does not resolve (a fact that this message has not got) means "not about this".
    if !all_hold(&standing.only, observed.value, bindings).unwrap_or(false) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut proven = 0;
    for check in &standing.checks {
        let Ok(judgement) = evaluate(check, observed.value, bindings) else { continue };
        proven += judgement.proven;
        sighting.more += judgement.more;
        for breach in judgement.breaches {
            findings.push(finding(rule, check.place.clone(), breach, observed, transcript));
        }
    }
    if proven > 0 || !findings.is_empty() {
        sighting.observations += 1;
    }
    findings
}

fn finding(
    rule: &Rule<'_>,
    place: crate::record::Place,
    breach: Breach,
    observed: &Observed<'_>,
    transcript: &Transcript,
) -> Finding {
    let entries = [observed.sent, observed.got];
    let frames = entries.iter().flatten().filter_map(|sequence| transcript.excerpt(*sequence)).collect();
    let mut notes =
        vec![format!("in conversation {} ({})", transcript.head.conversation, transcript.head.purpose)];
    if observed.kind == Kind::Session {
        notes.extend(end_notes(transcript));
    }
    let span = match (observed.sent.or(observed.got), observed.got.or(observed.sent)) {
        (Some(first), Some(last)) => Some(transcript.span_of(first.min(last), first.max(last))),
        _ => None,
    };
    Finding {
        title: breach.title,
        outcome: rule.requirement.verdict.into(),
        place: Some(place),
        pointer: Some(breach.pointer),
        expected: breach.expected,
        got: breach.got,
        frames,
        notes,
        span,
    }
}

/// How a conversation ended, as notes: the exit, the last frame sent, the last lines of stderr.
pub fn end_notes(transcript: &Transcript) -> Vec<String> {
    let mut notes = Vec::new();
    let last = |channel| transcript.entries.iter().rev().find(|entry| entry.channel == channel);
    if let Some(exit) = last(Channel::Exit).and_then(|entry| entry.exit) {
        notes.push(format!("the server {exit}"));
    }
    if let Some(sent) = last(Channel::Stdin) {
        let text = String::from_utf8_lossy(&sent.bytes[..sent.bytes.len().min(300)]).into_owned();
        notes.push(format!("the last frame sent to it: {text}"));
    }
    notes.extend(transcript.stderr_tail(5).into_iter().map(|line| format!("stderr: {line}")));
    notes
}

/// What is wrong with our own frames: those that are not malformed on purpose must keep the rules too.
pub fn own_defects(transcript: &Transcript) -> Vec<String> {
    let stateless = transcript.head.revision.is_stateless();
    let mut defects = Vec::new();
    for entry in &transcript.entries {
        if entry.channel != Channel::Stdin || entry.deliberate {
            continue;
        }
        let whole = wire::read(&entry.bytes, &Limits::default());
        for reading in messages_of(whole, &entry.bytes) {
            defects.extend(
                own_defects_of(&reading, stateless)
                    .map(|defect| format!("entry {}: {defect}", entry.sequence)),
            );
        }
    }
    defects
}

fn own_defects_of(reading: &Reading, stateless: bool) -> impl Iterator<Item = String> {
    let mut defects: Vec<String> = reading.defects.iter().map(ToString::to_string).collect();
    let described = |params: &Option<Json>| {
        params.as_ref().and_then(|params| params.get("_meta")?.get(META_VERSION)).is_some()
    };
    if let Some(Message::Request { params, method, .. }) = &reading.message
        && stateless
        && method != "initialize"
        && !described(params)
    {
        defects.push(format!("`{method}` without the required `_meta`"));
    }
    defects.into_iter()
}
