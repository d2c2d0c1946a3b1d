//! How do verdicts become the record? Scripted endings and standing sightings, put into the order of the suite.

use super::missing::Missing;
use super::plan::{self, Decision, Entry};
use super::pool::Harvest;
use super::scene::Ending;
use super::sources::{Knowledge, Sources};
use super::{Suite, Unreachable};
use crate::case::model::{Body, Capability, Standing, Subject};
use crate::check::phrase::{clipped, ticked};
use crate::judge::reach::Reach;
use crate::judge::standing::{Sighting, methods_of};
use crate::profile::Profile;
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
            transport: run.sources.transport(Revision::NEWEST_STATEFUL),
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
    let Harvest { endings, mut sightings, reach, own_defects } = harvest;
    let mut endings: HashMap<usize, (Ending, Duration)> =
        endings.into_iter().map(|(index, ending, time)| (index, (ending, time))).collect();
    let transport = run.sources.transport(spoken.revision);
    for index in 0..run.suite.chosen {
        let entry = run.suite.entry(index);
        if !plan::concerns(entry, spoken.revision, transport) {
            continue;
        }
        let (mut ending, time) = match (endings.remove(&index), sightings.remove(&index)) {
            (Some((ending, time)), _) => (ending, time),
            (None, Some(sighting)) => {
                (sighted(run, spoken.knowledge.as_ref(), entry, sighting, &reach), Duration::ZERO)
            }
            (None, None) => (not_played(run, spoken, entry), Duration::ZERO),
        };
        // Where the opening failed nothing passes, and nothing can be said not to apply.
        if spoken.wrong && matches!(ending.outcome, Outcome::Pass | Outcome::Skip) {
            ending.outcome = Outcome::Unproven;
            ending.missing = Some(not_reached(spoken));
        }
        if let Some(defect) = own_defects.first() {
            ending.outcome = Outcome::Broken;
            ending.missing = Some(Missing::because(format!("the driver broke a rule itself: {defect}")));
        }
        cases.push(row(run, entry, spoken.revision, ending, time));
    }
}

/// The end of a standing case, from what it met.
fn sighted(
    run: &Run<'_>,
    knowledge: Option<&Knowledge>,
    entry: Entry<'_>,
    sighting: Sighting,
    reach: &Reach,
) -> Ending {
    let mut outcome = sighting.outcome();
    let mut missing = None;
    if let (Outcome::Unproven, Body::Standing(standing)) = (outcome, &entry.case.body) {
        let reason = match &run.cut {
            Some(cut) => Err(Missing::because(format!("not reached: the run was cut short ({cut})"))),
            None => unseen(standing, &sighting, reach, knowledge, run.sources.profile()),
        };
        missing = Some(match reason {
            Ok(reason) => {
                outcome = Outcome::Skip;
                Missing::because(reason)
            }
            Err(missing) => missing,
        });
    }
    Ending { outcome, missing, sighting, spoilt: false, unprepared: false }
}

/// Nothing was seen that a standing case could judge. It does not apply where the server was asked for all that could
/// have shown such a thing, and lawfully has none; whatever else is missing leaves it unproven.
fn unseen(
    standing: &Standing,
    sighting: &Sighting,
    reach: &Reach,
    knowledge: Option<&Knowledge>,
    profile: &Profile,
) -> Result<String, Missing> {
    let methods = methods_of(standing);
    // No listing tells which errors a server has.
    let is_of_errors = matches!(standing.on, Subject::ErrorOf(_));
    if let (Some(lack), false) = (&sighting.lack, is_of_errors) {
        // What a server has not got at all need not be looked through.
        let has_resources = knowledge.is_none_or(|knowledge| knowledge.declares(Capability::Resources));
        let all = ["resources/list", "resources/templates/list", "resources/read"];
        let named = methods.iter().map(String::as_str);
        let concerned = named.chain(all.into_iter().filter(|_| methods.is_empty()));
        let concerned = concerned.filter(|method| has_resources || !method.starts_with("resources/"));
        let mut gaps = concerned.filter_map(|method| Some((method, reach.gap(method)?)));
        return match gaps.next() {
            None => Ok(format!("the server sends {}", lack.words)),
            Some((method, gap)) => {
                let reason = format!("{gap}, and {} was among what came", lack.words);
                Err(Missing::of_method(reason, method, profile))
            }
        };
    }
    if !methods.is_empty() && methods.iter().all(|method| reach.is_left_out(method)) {
        return Ok(format!("the server sends no {}, though asked to", ticked(&methods)));
    }
    Err(match methods.as_slice() {
        [] => Missing::because("nothing came that its checks could judge"),
        [first, ..] => Missing::message(&standing.on, first, profile),
    })
}

fn not_reached(spoken: &Spoken) -> Missing {
    Missing::because(format!("not reached: {}", spoken.reason.as_deref().unwrap_or("the opening failed")))
}

fn not_played(run: &Run<'_>, spoken: &Spoken, entry: Entry<'_>) -> Ending {
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
                let reason = match &run.cut {
                    Some(cut) => format!("not reached: the run was cut short ({cut})"),
                    None => "it was not played".to_owned(),
                };
                ending(Outcome::Unproven, Missing::because(reason))
            }
        },
        (None, None) => ending(Outcome::Unproven, Missing::because("not reached")),
    }
}

fn row(run: &Run<'_>, entry: Entry<'_>, revision: Revision, ending: Ending, time: Duration) -> CaseRecord {
    let Entry { case, requirement } = entry;
    let applies = |revisions: &Option<Vec<Revision>>| {
        revisions.as_ref().is_none_or(|revisions| revisions.contains(&revision))
    };
    let source = requirement.source.iter().find(|(revisions, _)| applies(revisions));
    let (reason, help) = match ending.missing {
        // Both may quote the server.
        Some(Missing { reason, help }) => {
            (Some(clipped(&reason, WORDS)), help.map(|help| clipped(&help, WORDS)))
        }
        None => (None, None),
    };
    let is_breach = matches!(ending.outcome, Outcome::Fail | Outcome::Advice | Outcome::Note);
    let of_breach = |text: &Option<String>| text.clone().filter(|_| is_breach);
    let asks = ending.outcome == Outcome::Unproven && run.cut.is_none();
    let help = help.or_else(|| asks.then(|| ASK.to_owned()));
    CaseRecord {
        name: case.name.clone(),
        summary: case.summary.clone(),
        requirement: requirement.id.clone(),
        statement: requirement.statement.clone(),
        refs: requirement.refs.clone(),
        source: source.map(|(_, page)| page.clone()).unwrap_or_default(),
        keyword: requirement.keyword.clone(),
        revision,
        transport: run.sources.transport(revision),
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

/// Characters of a reason, and of the help beside it.
const WORDS: usize = 400;

/// Where no line of a profile would help.
const ASK: &str = "no profile would show them: `mcp-litmus cases explain NAME` tells what a case needs, \
                   `--transcripts DIR` what was said";

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
