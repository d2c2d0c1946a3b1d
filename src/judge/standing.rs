//! Which standing cases does a transcript prove, and which does it break?
//!
//! Every rule is applied to every observation that it is about. Aggregation over conversations is the caller's.

use super::conversation::{Kind, Observed, Patience, messages_of, walk};
use super::reach::Reach;
use crate::case::model::{
    Body, Case, Check, Piece, Predicate, Requirement, Standing, Subject, Template, Type,
};
use crate::check::bindings::Bindings;
use crate::check::phrase::demand;
use crate::check::predicate::{Breach, all_hold, evaluate, operand};
use crate::dialect::META_VERSION;
use crate::record::{Finding, Outcome, Place};
use crate::transcript::{Channel, Transcript};
use crate::wire::{self, Json, Limits, Message, Reading};
use std::collections::HashSet;

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
    /// What the messages lacked that the rule is about, where there was nothing in them to judge.
    pub lack: Option<Lack>,
}

/// What a message would have needed for a rule to say something about it: a matter of the message alone, not of the
/// situation in which it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// How near the message came, in conditions met and steps of a pointer: of several messages, the nearest tells,
    /// so that it does not matter which came first.
    nearness: usize,
    /// As it follows "the server sends": "no `icons`".
    pub words: String,
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

    /// Whether a lack this near would tell more than what is known.
    fn would_lack(&self, nearness: usize) -> bool {
        let judged = self.observations > 0 || !self.findings.is_empty();
        !judged && self.lack.as_ref().is_none_or(|known| known.nearness < nearness)
    }

    /// Takes in what another conversation showed. Findings with the same title are one.
    pub fn join(&mut self, other: Sighting) {
        self.observations += other.observations;
        self.more += other.more;
        if let Some(lack) = other.lack
            && self.would_lack(lack.nearness)
        {
            self.lack = Some(lack);
        }
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

/// Applies the rules to one conversation; the sightings are in the order of the rules. Takes note of what the
/// conversation reached.
///
/// `known` are the names that standing cases may refer to beside `facts` and `request`.
pub fn judge(
    transcript: &Transcript,
    rules: &[Rule<'_>],
    known: &Bindings,
    patience: Patience,
    reach: &mut Reach,
) -> Vec<Sighting> {
    let mut sightings = vec![Sighting::default(); rules.len()];
    let mut titles: HashSet<(usize, String)> = HashSet::new();
    let mut bindings = known.clone();
    let looks_at_http = rules.iter().any(|rule| match &rule.case.body {
        Body::Standing(standing) => matches!(standing.on, Subject::Http | Subject::Session),
        Body::Scripted { .. } => false,
    });
    walk(transcript, patience, looks_at_http, |observed| {
        reach.meet(observed);
        let mut bound = false;
        for (index, rule) in rules.iter().enumerate() {
            let Body::Standing(standing) = &rule.case.body else { continue };
            if !observed.is_meant_by(&standing.on) {
                continue;
            }
            if !std::mem::replace(&mut bound, true) {
                bind(&mut bindings, observed);
            }
            let sighting = &mut sightings[index];
            for (place, breach) in apply(standing, observed, &bindings, sighting) {
                // One fault that shows in every message is one finding.
                if titles.insert((index, breach.title.clone())) {
                    sighting.add(finding(rule, place.clone(), breach, observed, transcript));
                } else {
                    sighting.more += 1;
                }
            }
        }
    });
    sightings
}

/// The names that stand for what is observed.
fn bind(bindings: &mut Bindings, observed: &Observed<'_>) {
    bindings.share("facts", observed.facts.clone());
    match observed.request {
        Some(request) => bindings.share("request", request.clone()),
        None => bindings.remove("request"),
    }
}

/// What an observation breaks, each with the check that says so.
fn apply<'s>(
    standing: &'s Standing,
    observed: &Observed<'_>,
    bindings: &Bindings,
    sighting: &mut Sighting,
) -> Vec<(&'s Place, Breach)> {
    for (met, condition) in standing.only.iter().enumerate() {
        // A reference that does not resolve (a fact that this message has not got) means "not about this".
        if all_hold(std::slice::from_ref(condition), observed.value, bindings).unwrap_or(false) {
            continue;
        }
        // Only where the situation is right does a message show that the server leaves something out.
        let mut in_situation = standing.only.iter().filter(|other| is_situation(other, observed.kind));
        if sighting.would_lack(met)
            && !is_situation(condition, observed.kind)
            && in_situation
                .all(|other| all_hold(std::slice::from_ref(other), observed.value, bindings).unwrap_or(false))
        {
            sighting.lack = Some(Lack { nearness: met, words: lack_of_condition(condition, bindings) });
        }
        return Vec::new();
    }
    let mut breaches = Vec::new();
    let mut proven = 0;
    for check in &standing.checks {
        let Ok(judgement) = evaluate(check, observed.value, bindings) else { continue };
        proven += judgement.proven;
        sighting.more += judgement.more;
        breaches.extend(judgement.breaches.into_iter().map(|breach| (&check.place, breach)));
    }
    if proven > 0 || !breaches.is_empty() {
        sighting.observations += 1;
    } else if let Some((depth, name)) = lack_of_checks(standing, observed)
        && let nearness = standing.only.len() + depth
        && sighting.would_lack(nearness)
    {
        sighting.lack = Some(Lack { nearness, words: format!("no `{name}`") });
    }
    breaches
}

/// Whether a condition is about the situation in which a message came, not about the message. Frames, exchanges
/// and sessions are put together by us: all about them is situation.
fn is_situation(condition: &Check, kind: Kind) -> bool {
    condition.of.is_some() || matches!(kind, Kind::Frame | Kind::Exchange | Kind::Http | Kind::Session)
}

fn lack_of_condition(condition: &Check, bindings: &Bindings) -> String {
    let name = condition.at.last_name();
    let is_presence =
        matches!(&condition.predicate, Predicate::Is(types) if types.as_slice() == [Type::Present]);
    match name {
        Some(name) if is_presence => format!("no `{name}`"),
        _ => {
            let wanted = operand(&condition.predicate).and_then(|template| bindings.resolve(template).ok());
            let demand = demand(&condition.predicate, wanted.as_ref());
            format!("no `{}` that would {demand}", name.unwrap_or("result"))
        }
    }
}

/// The first name at which the pointers lead nowhere, and how near that is; of several pointers, of the one that
/// leads farthest.
fn lack_of_checks<'s>(standing: &'s Standing, observed: &Observed<'_>) -> Option<(usize, &'s str)> {
    if matches!(observed.kind, Kind::Frame | Kind::Exchange | Kind::Session) {
        return None;
    }
    let own = standing.checks.iter().filter(|check| check.of.is_none());
    let farthest = own.map(|check| check.at.farthest(observed.value)).rev().max_by_key(|(depth, _)| *depth);
    let (depth, name) = farthest?;
    Some((depth + 1, name?))
}

/// The methods whose messages a rule is about, as far as it names them: by `on`, or by the facts `method` and
/// `answers`.
pub fn methods_of(standing: &Standing) -> Vec<String> {
    let named = match &standing.on {
        Subject::ResultOf(method)
        | Subject::ErrorOf(method)
        | Subject::Notification(method)
        | Subject::Request(method)
        | Subject::Exchange(method) => method.clone(),
        Subject::Frame | Subject::Message | Subject::Http | Subject::Session => None,
    };
    if let Some(method) = named {
        return vec![method];
    }
    let is_method = |check: &&Check| {
        let Some(Template::Text(pieces)) = &check.of else { return false };
        matches!(pieces.as_slice(), [Piece::Reference(reference)]
            if reference.name == "facts" && ["/method", "/answers"].contains(&reference.pointer.as_str()))
    };
    let Some(condition) = standing.only.iter().find(is_method) else { return Vec::new() };
    let (Predicate::Equals(wanted) | Predicate::OneOf(wanted)) = &condition.predicate else {
        return Vec::new();
    };
    match Bindings::new().resolve(wanted) {
        Ok(Json::Array(methods)) => methods.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        Ok(method) => method.as_str().map(str::to_owned).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

fn finding(
    rule: &Rule<'_>,
    place: Place,
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
