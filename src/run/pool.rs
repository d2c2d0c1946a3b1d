//! Which session does each case play on, and which run beside each other?
//!
//! Cases that only ask share a calm session, those with odd input a rough one, those that change, listen or wait a
//! few lively ones; the rest get a server each. A case that fails on a shared session is played again alone, and
//! that verdict counts.

use super::detect::{self, Opening};
use super::missing::Missing;
use super::order;
use super::plan::{self, Decision, Entry};
use super::scene::{Ending, Scene};
use super::sources::{Knowledge, Sources};
use super::talk::OWNS_DEATH;
use super::unprovoked;
use super::{Cut, Suite};
use crate::case::model::{Body, Case, SessionKind, Verb, each_step};
use crate::judge::conversation::Patience;
use crate::judge::reach::Reach;
use crate::judge::standing::{self, Rule, Sighting};
use crate::record::Outcome;
use crate::revision::Era;
use crate::session::{Bounds, Session};
use crate::transcript::Transcript;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How many cases share a lively session: they wait most of the time, so several such sessions side by side are
/// faster than one, and a server each would be slower where starting it is dear.
const LIVELY_TOGETHER: usize = 12;

/// What one job brings home. Cases are named by their index in the suite.
#[derive(Default)]
pub struct Harvest {
    pub endings: Vec<(usize, Ending, Duration)>,
    pub sightings: HashMap<usize, Sighting>,
    /// How much of the server the conversations looked at.
    pub reach: Reach,
    /// What is wrong with frames of our own.
    pub own_defects: Vec<String>,
}

impl Harvest {
    pub fn join(&mut self, other: Harvest) {
        self.endings.extend(other.endings);
        self.own_defects.extend(other.own_defects);
        self.reach.join(other.reach);
        for (index, sighting) in other.sightings {
            self.sightings.entry(index).or_default().join(sighting);
        }
    }
}

impl Job {
    /// Whether its cases make the server change.
    pub fn changes(&self, suite: &Suite) -> bool {
        match self {
            Self::Shared { kind, .. } => *kind == SessionKind::Lively,
            Self::Alone(index) => {
                has_verb(suite.entry(*index).case, |verb| matches!(verb, Verb::Stimulate(_)))
            }
        }
    }
}

/// What all jobs at one revision share.
#[derive(Clone)]
pub struct Stage {
    pub sources: Arc<Sources>,
    pub suite: Arc<Suite>,
    pub knowledge: Knowledge,
    pub cut: Cut,
    /// The standing cases that apply, by their index in the suite.
    standing: Arc<[usize]>,
}

/// One job: a session and the cases on it.
pub enum Job {
    Shared { kind: SessionKind, cases: Vec<usize>, session: Option<Arc<Session>> },
    Alone(usize),
}

impl Stage {
    pub fn new(sources: Arc<Sources>, suite: Arc<Suite>, knowledge: Knowledge, cut: Cut) -> Self {
        let transport = sources.transport(knowledge.revision);
        let applies = |index: &usize| {
            let entry = suite.entry(*index);
            matches!(entry.case.body, Body::Standing(_))
                && plan::concerns(entry, knowledge.revision, transport)
                && plan::decide(entry, &knowledge) == Decision::Run
        };
        let standing = (0..suite.cases.len()).filter(applies).collect();
        Self { sources, suite, knowledge, cut, standing }
    }

    /// The jobs of this revision. `session` is the one that the opening left.
    pub fn jobs(&self, session: Option<Arc<Session>>) -> Vec<Job> {
        let mut jobs = Vec::new();
        let applies =
            |index: &usize| plan::decide(self.suite.entry(*index), &self.knowledge) == Decision::Run;
        let of = |kind| {
            let mut cases: Vec<usize> = self.scripted(kind).into_iter().filter(applies).collect();
            order::arrange(&mut cases, &self.suite, self.sources.seed);
            cases
        };
        // The calm session is always there, even without cases: it is the base conversation that standing
        // cases look at.
        jobs.push(Job::Shared { kind: SessionKind::Calm, cases: of(SessionKind::Calm), session });
        let rough = of(SessionKind::Rough);
        if !rough.is_empty() {
            jobs.push(Job::Shared { kind: SessionKind::Rough, cases: rough, session: None });
        }
        for cases in of(SessionKind::Lively).chunks(LIVELY_TOGETHER) {
            jobs.push(Job::Shared { kind: SessionKind::Lively, cases: cases.to_vec(), session: None });
        }
        jobs.extend(of(SessionKind::Own).into_iter().map(Job::Alone));
        jobs
    }

    /// Finds out whether the server changes by itself.
    pub async fn watch(&self) -> Harvest {
        let mut harvest = Harvest::default();
        let session = tokio::select! {
            session = unprovoked::watch(&self.sources, &self.knowledge) => session,
            () = self.cut.happens() => None,
        };
        if let Some(session) = session {
            self.part(&session, &mut harvest).await;
        }
        harvest
    }

    fn scripted(&self, kind: SessionKind) -> Vec<usize> {
        let concerned = |index: &usize| {
            let entry = self.suite.entry(*index);
            matches!(entry.case.body, Body::Scripted { .. })
                && entry.case.session == kind
                && plan::concerns(
                    entry,
                    self.knowledge.revision,
                    self.sources.transport(self.knowledge.revision),
                )
        };
        (0..self.suite.cases.len()).filter(concerned).collect()
    }

    pub async fn run(self, job: Job) -> Harvest {
        let mut harvest = Harvest::default();
        match job {
            Job::Shared { kind, cases, session } => self.share(kind, cases, session, &mut harvest).await,
            Job::Alone(index) => {
                let began = Instant::now();
                let ending = self.play_alone(index, &mut harvest).await;
                harvest.endings.push((index, ending, began.elapsed()));
            }
        }
        harvest
    }

    async fn share(
        &self,
        kind: SessionKind,
        cases: Vec<usize>,
        session: Option<Arc<Session>>,
        harvest: &mut Harvest,
    ) {
        let purpose = match kind {
            SessionKind::Calm => "calm",
            SessionKind::Lively => "lively",
            SessionKind::Rough | SessionKind::Own => "rough",
        };
        let mut session = session;
        let mut failed_openings = 0;
        for index in cases {
            if self.cut.is_cut() {
                harvest.endings.push((index, self.cut.ending(), Duration::ZERO));
                continue;
            }
            let began = Instant::now();
            if session.is_none() && failed_openings < 2 && !self.knowledge.is_lost() {
                match self.open(purpose).await {
                    Ok(opened) => session = Some(opened),
                    Err(_) => failed_openings += 1,
                }
            }
            let Some(shared) = session.clone() else {
                // The shared session cannot be opened again: whatever made it so, each case gets its own try.
                let ending = self.play_alone(index, harvest).await;
                harvest.endings.push((index, ending, began.elapsed()));
                continue;
            };
            let mut ending = self.play_on(index, Some(shared.clone()), harvest).await;
            let spoilt = ending.spoilt || shared.state().gone().is_some();
            if spoilt {
                session = None;
                self.part(&shared, harvest).await;
            }
            let failed = !ending.sighting.findings.is_empty();
            // Cases that only ask do not disturb each other.
            let disturbed = spoilt || (ending.unprepared && kind != SessionKind::Calm);
            if !self.cut.is_cut() && (failed || (disturbed && ending.outcome == Outcome::Unproven)) {
                let alone = self.play_alone(index, harvest).await;
                if failed && alone.sighting.findings.is_empty() {
                    let mut alone = alone;
                    let reason =
                        format!("order-dependent: {} on the shared session, not alone", ending.outcome);
                    alone.missing.get_or_insert(Missing::because(reason));
                    ending = alone;
                } else {
                    ending = alone;
                }
            }
            harvest.endings.push((index, ending, began.elapsed()));
        }
        if let Some(shared) = session {
            self.part(&shared, harvest).await;
        }
    }

    /// On a fresh server.
    async fn play_alone(&self, index: usize, harvest: &mut Harvest) -> Ending {
        if self.cut.is_cut() {
            return self.cut.ending();
        }
        let case = self.suite.entry(index).case;
        if opens_itself(case) {
            return self.play_on(index, None, harvest).await;
        }
        if self.knowledge.is_lost() {
            let mut ending = unproven("not reached: the server goes away as soon as it is opened".to_owned());
            if let Some(missing) = &mut ending.missing {
                missing.help = Some(format!("see `{OWNS_DEATH}`"));
            }
            return ending;
        }
        match self.open(&case.name).await {
            Ok(session) => {
                let opened = session.state().newest();
                let ending = self.play_on(index, Some(session.clone()), harvest).await;
                self.knowledge.remember_fate(&session.state(), opened);
                self.part(&session, harvest).await;
                ending
            }
            Err((reason, session)) => {
                if let Some(session) = session {
                    self.part(&session, harvest).await;
                }
                unproven(format!("not reached: {reason}"))
            }
        }
    }

    /// Plays one case; whatever sessions it opened itself are finished and judged.
    async fn play_on(&self, index: usize, session: Option<Arc<Session>>, harvest: &mut Harvest) -> Ending {
        let Entry { case, requirement } = self.suite.entry(index);
        if let Some(session) = &session {
            session.attribute(Some(&case.name));
        }
        let shared = session.is_some();
        let scene = Scene::new(&self.sources, &self.knowledge, case, requirement, session);
        let limit = tokio::time::timeout(crate::time_limits::CASE, scene.play());
        let played = tokio::select! {
            played = limit => played,
            () = self.cut.happens() => return self.cut.ending(),
        };
        let Ok((ending, transcripts, own)) = played else {
            let mut ending = unproven(format!(
                "it took longer than {} s and was stopped",
                crate::time_limits::CASE.as_secs()
            ));
            ending.spoilt = true;
            return ending;
        };
        for transcript in transcripts {
            self.judge(&transcript, harvest);
        }
        if let (false, Some(own)) = (shared, own) {
            self.part(&own, harvest).await;
        }
        ending
    }

    /// Opens a session in this revision.
    async fn open(&self, purpose: &str) -> Result<Arc<Session>, (String, Option<Arc<Session>>)> {
        let revision = self.knowledge.revision;
        if revision.era() == Era::Stateless {
            return match self.sources.begin(revision, purpose).await {
                Ok(session) => Ok(Arc::new(session)),
                Err(error) => Err((error.to_string(), None)),
            };
        }
        match detect::initialize(&self.sources, revision, purpose).await {
            Opening::Spoken(opened) if opened.knowledge.revision == revision => Ok(opened.session),
            Opening::Spoken(opened) => {
                let reason = format!("this time the server answered {}", opened.knowledge.revision);
                Err((reason, Some(opened.session)))
            }
            Opening::NotSpoken { reason, session } => Err((reason, session)),
            Opening::Wrong { reason, session }
            | Opening::NoReply { reason, session }
            | Opening::Barred { reason, session } => Err((reason, Some(session))),
            Opening::NotStarted(error) => Err((error.to_string(), None)),
        }
    }

    /// Ends a conversation and judges it.
    pub async fn part(&self, session: &Session, harvest: &mut Harvest) {
        let transcript = if self.cut.is_cut() { session.kill().await } else { session.finish().await };
        self.judge(&transcript, harvest);
    }

    pub fn judge(&self, transcript: &Transcript, harvest: &mut Harvest) {
        if let Some(sink) = &self.sources.sink {
            sink(transcript);
        }
        let rule = |index: &usize| {
            let Entry { case, requirement } = self.suite.entry(*index);
            Rule { case, requirement }
        };
        let rules: Vec<Rule<'_>> = self.standing.iter().map(rule).collect();
        let bindings = self.knowledge.bindings(self.sources.profile());
        let Bounds { request, start, .. } = self.sources.bounds;
        let patience = Patience { request, start };
        let sightings = standing::judge(transcript, &rules, &bindings, patience, &mut harvest.reach);
        for (index, sighting) in self.standing.iter().zip(sightings) {
            harvest.sightings.entry(*index).or_default().join(sighting);
        }
        harvest.own_defects.extend(standing::own_defects(transcript));
    }
}

pub fn unproven(reason: String) -> Ending {
    Ending {
        outcome: Outcome::Unproven,
        missing: Some(Missing::because(reason)),
        sighting: Sighting::default(),
        spoilt: false,
        unprepared: false,
    }
}

/// Whether the case's own session is opened by one of its steps.
pub fn opens_itself(case: &Case) -> bool {
    has_verb(case, |verb| matches!(verb, Verb::Open(open) if open.as_name.is_none()))
}

fn has_verb(case: &Case, is_meant: impl Fn(&Verb) -> bool) -> bool {
    let Body::Scripted { given, steps } = &case.body else { return false };
    let mut found = false;
    each_step(given.iter().chain(steps), &mut |step| found |= is_meant(&step.verb));
    found
}
