//! How do verdicts become the record? Scripted endings and standing sightings, put into the order of the suite.

use super::plan::{self, Decision, Entry};
use super::pool::Harvest;
use super::scene::{Ending, Missing};
use super::sources::{Knowledge, Sources};
use super::{Suite, Unreachable};
use crate::case::model::{Body, Capability};
use crate::judge::standing::Sighting;
use crate::record::{CaseRecord, Outcome, Record, RevisionRecord, Target};
use crate::revision::Revision;
use crate::wire::Json;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// What the caller says about the target and about what counts.
#[derive(Debug, Clone)]
pub struct Asked {
    pub label: String,
    /// What follows `mcp-litmus check ` to reach it again.
    pub arguments: String,
    /// Seconds since the epoch.
    pub started: u64,
    pub advice_fails: bool,
    pub require_proof: bool,
}

/// A revision that was asked for.
pub struct Spoken {
    pub revision: Revision,
    /// Why it is not spoken; `None` where it is.
    pub reason: Option<String>,
    /// The server answered the opening wrongly or not at all, so its cases are unproven rather than skipped.
    pub wrong: bool,
    /// What the opening told.
    pub knowledge: Option<Knowledge>,
    /// Whether the cases of the revision have rows in the record.
    pub listed: bool,
}

pub struct Run<'r> {
    pub sources: &'r Sources,
    pub suite: &'r Suite,
    pub harvests: BTreeMap<Revision, Harvest>,
    pub spoken: Vec<Spoken>,
    pub target: Asked,
    pub unreachable: Option<Unreachable>,
    pub server: Option<Json>,
    pub cut: Option<String>,
    pub elapsed: Duration,
}

pub fn record(mut run: Run<'_>) -> Record {
    run.spoken.sort_by_key(|spoken| spoken.revision);
    let mut cases = Vec::new();
    for spoken in run.spoken.iter().filter(|spoken| spoken.listed) {
        let harvest = run.harvests.remove(&spoken.revision).unwrap_or_default();
        rows(&run, spoken, harvest, &mut cases);
    }
    let name_of = |server: &Json, member: &str| server.get(member).and_then(Json::as_str).map(str::to_owned);
    let server = run
        .server
        .as_ref()
        .and_then(|server| Some((name_of(server, "name")?, name_of(server, "version").unwrap_or_default())));
    let revisions = run.spoken.iter().map(|spoken| RevisionRecord {
        revision: spoken.revision,
        spoken: spoken.reason.is_none(),
        reason: spoken.reason.clone(),
    });
    let mut record = Record {
        suite: crate::record::Suite { version: run.suite.version.clone(), digest: run.suite.digest.clone() },
        target: Target {
            label: run.target.label.clone(),
            arguments: run.target.arguments.clone(),
            transport: run.sources.transport(),
            server,
            revisions: revisions.collect(),
            unreachable: run.unreachable.as_ref().map(|unreachable| unreachable.reason.clone()),
            stderr: run.unreachable.map(|unreachable| unreachable.stderr).unwrap_or_default(),
        },
        cases,
        cut_short: run.cut,
        started: run.target.started,
        milliseconds: milliseconds(run.elapsed),
        seed: run.sources.seed,
        advice_fails: run.target.advice_fails,
        require_proof: run.target.require_proof,
    };
    // A wrong opening that no case could name is still no verdict, and never a green run.
    let wrong = run.spoken.iter().find(|spoken| spoken.wrong);
    if let Some(wrong) = wrong
        && record.target.unreachable.is_none()
        && record.cut_short.is_none()
        && record.count(Outcome::Fail) == 0
    {
        record.target.unreachable.clone_from(&wrong.reason);
    }
    record
}

/// The rows of one revision, in the order of the suite.
fn rows(run: &Run<'_>, spoken: &Spoken, harvest: Harvest, cases: &mut Vec<CaseRecord>) {
    let Harvest { endings, mut sightings, own_defects } = harvest;
    let mut endings: HashMap<usize, (Ending, Duration)> =
        endings.into_iter().map(|(index, ending, time)| (index, (ending, time))).collect();
    let transport = run.sources.transport();
    for index in 0..run.suite.chosen {
        let entry = run.suite.entry(index);
        if !plan::concerns(entry, spoken.revision, transport) {
            continue;
        }
        let is_standing = matches!(entry.case.body, Body::Standing(_));
        let (mut ending, time) = match (endings.remove(&index), sightings.remove(&index)) {
            (Some((ending, time)), _) => (ending, time),
            (None, Some(sighting)) => (sighted(sighting), Duration::ZERO),
            (None, None) => (not_played(run, spoken, entry, is_standing), Duration::ZERO),
        };
        // Where the opening failed nothing passes.
        if spoken.wrong && ending.outcome == Outcome::Pass {
            ending.outcome = Outcome::Unproven;
            ending.missing = Some(not_reached(spoken));
        }
        if let Some(defect) = own_defects.first() {
            ending.outcome = Outcome::Broken;
            ending.missing = Some(Missing::because(format!("the driver broke a rule itself: {defect}")));
        }
        cases.push(row(entry, spoken.revision, transport, ending, time));
    }
}

fn sighted(sighting: Sighting) -> Ending {
    let outcome = sighting.outcome();
    let missing = (outcome == Outcome::Unproven)
        .then(|| Missing::because("no message came that its checks could judge"));
    Ending { outcome, missing, sighting, spoilt: false, unprepared: false }
}

fn not_reached(spoken: &Spoken) -> Missing {
    Missing::because(format!("not reached: {}", spoken.reason.as_deref().unwrap_or("the opening failed")))
}

fn not_played(run: &Run<'_>, spoken: &Spoken, entry: Entry<'_>, is_standing: bool) -> Ending {
    let ending = |outcome, missing| Ending {
        outcome,
        missing: Some(missing),
        sighting: Sighting::default(),
        spoilt: false,
        unprepared: false,
    };
    match (&spoken.reason, &spoken.knowledge) {
        (Some(reason), _) if !spoken.wrong => {
            let reason = format!("the server does not speak {}: {reason}", spoken.revision);
            ending(Outcome::Skip, Missing::because(reason))
        }
        (Some(_), _) => ending(Outcome::Unproven, not_reached(spoken)),
        (None, Some(knowledge)) => match plan::decide(entry, knowledge) {
            // Whoever asks for proof asks for it of Resources: a server without them has none to give.
            Decision::Skip(reason)
                if run.target.require_proof && !knowledge.declares(Capability::Resources) =>
            {
                ending(Outcome::Unproven, Missing::because(reason))
            }
            Decision::Skip(reason) => ending(Outcome::Skip, Missing::because(reason)),
            Decision::Run => {
                let reason = match (&run.cut, is_standing) {
                    (Some(cut), _) => format!("not reached: the run was cut short ({cut})"),
                    (None, true) => "no message came that its checks could judge".to_owned(),
                    (None, false) => "it was not played".to_owned(),
                };
                ending(Outcome::Unproven, Missing::because(reason))
            }
        },
        (None, None) => ending(Outcome::Unproven, Missing::because("not reached")),
    }
}

fn row(
    entry: Entry<'_>,
    revision: Revision,
    transport: crate::record::Transport,
    ending: Ending,
    time: Duration,
) -> CaseRecord {
    let Entry { case, requirement } = entry;
    let applies = |revisions: &Option<Vec<Revision>>| {
        revisions.as_ref().is_none_or(|revisions| revisions.contains(&revision))
    };
    let source = requirement.source.iter().find(|(revisions, _)| applies(revisions));
    let (reason, help) = match ending.missing {
        Some(missing) => (Some(missing.reason), missing.help),
        None => (None, None),
    };
    let is_breach = matches!(ending.outcome, Outcome::Fail | Outcome::Advice | Outcome::Note);
    let of_breach = |text: &Option<String>| text.clone().filter(|_| is_breach);
    CaseRecord {
        name: case.name.clone(),
        summary: case.summary.clone(),
        requirement: requirement.id.clone(),
        statement: requirement.statement.clone(),
        refs: requirement.refs.clone(),
        source: source.map(|(_, page)| page.clone()).unwrap_or_default(),
        keyword: requirement.keyword.clone(),
        revision,
        transport,
        outcome: ending.outcome,
        known: None,
        reason,
        help,
        matters: of_breach(&requirement.matters),
        cause: of_breach(&requirement.cause),
        mend: of_breach(&requirement.mend),
        milliseconds: milliseconds(time),
        findings: ending.sighting.findings,
        more_findings: ending.sighting.more,
        observations: ending.sighting.observations,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
