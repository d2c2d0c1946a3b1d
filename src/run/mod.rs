//! What runs, against which server, in which order, and what came of it?
//!
//! `detect` finds out which revisions the server speaks, `plan` decides which cases apply, `pool` plays them in
//! their sessions, `scene`, `step`, `talk`, `stimulus` and `expand` play one case, `outcome` puts the record together.
//! `survey` looks round a server that nobody described, `missing` says what a profile could add.

pub mod answers;
pub mod detect;
pub mod exchange;
mod expand;
mod frames;
pub mod missing;
pub mod order;
pub mod outcome;
mod paging;
pub mod plan;
pub mod pool;
pub mod scene;
pub mod sources;
pub mod step;
pub mod stimulus;
pub mod survey;
pub mod talk;
pub mod unprovoked;

use crate::case::catalogue::{Catalogue, UnknownCase};
use crate::case::model::{Body, Case, Requirement, SessionKind, Subject};
use crate::record::Record;
use crate::revision::{Era, Revision};
use crate::session::Session;
use detect::{Opened, Opening};
use outcome::{Asked, Spoken};
use plan::Entry;
use pool::{Harvest, Stage};
use scene::Ending;
use sources::{Knowledge, Sources};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// A case with the requirement that it proves.
pub type Row = (Arc<Case>, Arc<Requirement>);

/// The cases of a run, each with its row.
#[derive(Clone)]
pub struct Suite {
    /// Those that were chosen, and behind them their companions.
    pub cases: Vec<Row>,
    /// How many were chosen: only these have rows in the record.
    pub chosen: usize,
    pub version: String,
    pub digest: String,
}

impl Suite {
    /// The cases that the patterns name; all of them without a pattern.
    ///
    /// A standing case alone would have nothing to look at: with it come, as companions, the scripted cases that
    /// share sessions. They are played, and have no verdict.
    ///
    /// # Errors
    /// A pattern that names no case.
    pub fn select(catalogue: &Catalogue, patterns: &[String]) -> Result<Self, UnknownCase> {
        let mut names = HashSet::new();
        for pattern in patterns {
            names.extend(catalogue.matching(pattern)?.into_iter().map(|case| case.name.as_str()));
        }
        // A case without a row is a load error of lint's; it has no verdict to give.
        let with_row =
            |case: &Case| Some((Arc::new(case.clone()), Arc::new(catalogue.proved_by(case)?.clone())));
        let cases: Vec<Row> = catalogue.cases.iter().filter_map(with_row).collect();
        let (version, digest) = (env!("CARGO_PKG_VERSION").to_owned(), catalogue.digest.clone());
        let whole = Self { chosen: cases.len(), cases, version, digest };
        if patterns.is_empty() {
            return Ok(whole);
        }
        Ok(whole.narrowed(|case| names.contains(case.name.as_str())))
    }

    /// The cases of this suite that are meant, with their companions.
    pub fn narrowed(&self, is_meant: impl Fn(&Case) -> bool) -> Self {
        fn is_standing(case: &Case) -> bool {
            matches!(case.body, Body::Standing(_))
        }
        fn is_about_notifications(case: &Case) -> bool {
            matches!(&case.body, Body::Standing(standing) if matches!(standing.on, Subject::Notification(_)))
        }
        let (mut cases, others): (Vec<Row>, Vec<Row>) =
            self.cases.iter().cloned().partition(|(case, _)| is_meant(case));
        let needs_companions = cases.iter().any(|(case, _)| is_standing(case));
        // What comes unasked shows where something changes; that takes its time, so only then.
        let needs_changes = cases.iter().any(|(case, _)| is_about_notifications(case));
        let chosen = cases.len();
        cases.extend(others.into_iter().filter(|(case, _)| match case.session {
            SessionKind::Calm | SessionKind::Rough => needs_companions && !is_standing(case),
            SessionKind::Lively => needs_changes,
            SessionKind::Own => false,
        }));
        Self { cases, chosen, version: self.version.clone(), digest: self.digest.clone() }
    }

    /// The cases that have rows in the record, with their rows.
    pub fn chosen(&self) -> &[Row] {
        &self.cases[..self.chosen]
    }

    pub fn entry(&self, index: usize) -> Entry<'_> {
        let (case, requirement) = &self.cases[index];
        Entry { case, requirement }
    }
}

/// Which revisions to test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// The newest stateful revision that the server agrees to and, if it speaks it, 2026-07-28.
    Auto,
    /// These; each gets its rows, spoken or not.
    These(Vec<Revision>),
}

impl Wanted {
    /// The revisions of an era that were asked for by name.
    fn named(&self, era: Era) -> Vec<Revision> {
        match self {
            Self::Auto => Vec::new(),
            Self::These(revisions) => {
                revisions.iter().copied().filter(|revision| revision.era() == era).collect()
            }
        }
    }

    fn wants(&self, era: Era) -> bool {
        *self == Self::Auto || !self.named(era).is_empty()
    }

    /// What to ask a stateful server for first: the newest that is wanted.
    fn first_stateful(&self) -> Revision {
        self.named(Era::Stateful).into_iter().max().unwrap_or(Revision::NEWEST_STATEFUL)
    }
}

/// How a run goes about it.
#[derive(Clone)]
pub struct Settings {
    pub wanted: Wanted,
    /// How many servers run at once.
    pub jobs: usize,
    /// Ends the run early: an interrupt or a deadline, in words.
    pub cut: Cut,
    /// Told how many jobs are done and are planned: shared sessions, cases with a server of their own, and the watch
    /// for changes that nobody made.
    pub progress: Option<Arc<dyn Fn(usize, usize) + Send + Sync>>,
}

/// The end of a run before its time.
#[derive(Clone)]
pub struct Cut(watch::Receiver<Option<String>>);

impl Cut {
    /// Whoever holds the sender can cut the run short.
    pub fn new() -> (watch::Sender<Option<String>>, Cut) {
        let (sender, receiver) = watch::channel(None);
        (sender, Cut(receiver))
    }

    pub fn is_cut(&self) -> bool {
        self.0.borrow().is_some()
    }

    pub fn reason(&self) -> Option<String> {
        self.0.borrow().clone()
    }

    /// Returns once the run is cut short; never, if its sender is gone.
    pub async fn happens(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(Option::is_some).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    pub fn ending(&self) -> Ending {
        pool::unproven(format!("not reached: {}", self.words()))
    }

    fn words(&self) -> String {
        let reason = self.reason().unwrap_or_else(|| "the run ended".to_owned());
        format!("the run was cut short ({reason})")
    }
}

/// Judges one server. The record is complete whatever happened.
pub async fn check(sources: Arc<Sources>, suite: Arc<Suite>, settings: Settings, target: Asked) -> Record {
    let began = tokio::time::Instant::now();
    let openings = tokio::select! {
        openings = detect::detect(&sources, settings.wanted.first_stateful()) => Some(openings),
        () = settings.cut.happens() => None,
    };
    let mut run =
        Run { sources, suite, settings, harvests: BTreeMap::new(), spoken: Vec::new(), jobs: Vec::new() };
    let mut unreachable = None;
    let mut server = None;
    match openings {
        Some((stateful, stateless)) => {
            unreachable = run.open(stateful, stateless, &mut server).await;
            run.play().await;
        }
        // What the server speaks is not known: the record says of every case that it was not reached.
        None => run.mark_unspoken(&run.settings.cut.words()),
    }
    let Run { sources, suite, settings, harvests, spoken, .. } = run;
    outcome::record(outcome::Run {
        sources: &sources,
        suite: &suite,
        harvests,
        spoken,
        target,
        unreachable,
        server,
        cut: settings.cut.reason(),
        elapsed: began.elapsed(),
    })
}

struct Run {
    sources: Arc<Sources>,
    suite: Arc<Suite>,
    settings: Settings,
    harvests: BTreeMap<Revision, Harvest>,
    spoken: Vec<Spoken>,
    jobs: Vec<(Stage, pool::Job)>,
}

/// Why nothing could be judged, with the last lines of stderr.
pub struct Unreachable {
    pub reason: String,
    pub stderr: Vec<String>,
}

impl Run {
    /// Sorts out what the openings showed, and plans the jobs.
    async fn open(
        &mut self,
        stateful: Opening,
        stateless: Opening,
        server: &mut Option<crate::wire::Json>,
    ) -> Option<Unreachable> {
        let modern = matches!(stateless, Opening::Spoken(_));
        let legacy = matches!(stateful, Opening::Spoken(_));
        if !modern
            && !legacy
            && let Some(unreachable) = unreachable(&stateful, &stateless).await
        {
            self.mark_unspoken(&unreachable.reason);
            return Some(unreachable);
        }
        let wants_stateful = self.settings.wanted.wants(Era::Stateful);
        let wants_stateless = self.settings.wanted.wants(Era::Stateless);
        if let (Opening::Spoken(opened), _) | (_, Opening::Spoken(opened)) = (&stateful, &stateless)
            && let Some(named) = &opened.knowledge.server
        {
            self.sources.recognise(named);
        }
        match stateful {
            Opening::Spoken(opened) => {
                *server = opened.knowledge.server.clone();
                if wants_stateful {
                    self.take_stateful(opened).await;
                } else {
                    opened.session.finish().await;
                }
            }
            // A server of the stateless era alone may refuse `initialize` in any way, but not serve it wrongly.
            other if modern && !matches!(other, Opening::Wrong { .. }) => {
                self.part_unspoken(Era::Stateful, other).await;
            }
            other if wants_stateful => self.judge_wrong(other).await,
            other => {
                part_with(other).await;
            }
        }
        match stateless {
            Opening::Spoken(opened) => {
                if server.is_none() {
                    *server = opened.knowledge.server.clone();
                }
                if wants_stateless {
                    self.take(opened).await;
                } else {
                    opened.session.finish().await;
                }
            }
            other => self.part_unspoken(Era::Stateless, other).await,
        }
        None
    }

    /// The stateful opening succeeded: with which revisions besides?
    async fn take_stateful(&mut self, opened: Opened) {
        let agreed = opened.knowledge.revision;
        let asked_first = self.settings.wanted.first_stateful();
        let wanted = match self.settings.wanted {
            Wanted::Auto => vec![agreed],
            Wanted::These(_) => self.settings.wanted.named(Era::Stateful),
        };
        let mut opened = Some(opened);
        for revision in wanted {
            if revision == agreed {
                if let Some(opened) = opened.take() {
                    self.take(opened).await;
                }
                continue;
            }
            // The very first request was for this one, and the answer was "no".
            let reason = if revision == asked_first {
                format!("the server answered {agreed}")
            } else {
                match detect::initialize(&self.sources, revision, "opening").await.surveyed().await {
                    Opening::Spoken(other) if other.knowledge.revision == revision => {
                        self.take(other).await;
                        continue;
                    }
                    Opening::Spoken(other) => {
                        other.session.finish().await;
                        format!("the server answered {}", other.knowledge.revision)
                    }
                    other => part_with(other).await,
                }
            };
            self.spoken.push(Spoken {
                revision,
                reason: Some(reason),
                wrong: false,
                knowledge: None,
                listed: true,
            });
        }
        if let Some(opened) = opened {
            opened.session.finish().await;
        }
    }

    async fn take(&mut self, opened: Opened) {
        let Opened { session, knowledge } = opened;
        let session = if self.sources.is_single() {
            session.finish().await;
            None
        } else {
            Some(session)
        };
        self.spoken.push(Spoken {
            revision: knowledge.revision,
            reason: None,
            wrong: false,
            knowledge: Some(knowledge.clone()),
            listed: true,
        });
        let stage = self.stage(knowledge);
        self.jobs.extend(stage.jobs(session).into_iter().map(|job| (stage.clone(), job)));
    }

    fn stage(&self, knowledge: Knowledge) -> Stage {
        Stage::new(self.sources.clone(), self.suite.clone(), knowledge, self.settings.cut.clone())
    }

    /// The opening was answered wrongly. The cases about openings say how; nothing else can be shown.
    async fn judge_wrong(&mut self, opening: Opening) {
        let revision = self.settings.wanted.first_stateful();
        let (reason, session) = match opening {
            Opening::Wrong { reason, session }
            | Opening::NoReply { reason, session }
            | Opening::Barred { reason, session } => (reason, Some(session)),
            Opening::NotSpoken { reason, session } => (reason, session),
            Opening::NotStarted(error) => (error.to_string(), None),
            Opening::Spoken(opened) => (String::new(), Some(opened.session)),
        };
        let knowledge = Knowledge::new(revision, crate::wire::Json::Null, None);
        let stage = self.stage(knowledge);
        let mut harvest = Harvest::default();
        // Of a server that says nothing in the protocol, openings of other kinds would show the same, each after
        // the whole time that a start may take.
        let says_nothing =
            session.as_ref().is_some_and(|session| session.state().first_of_babble().is_some());
        if let Some(session) = session {
            stage.part(&session, &mut harvest).await;
        }
        self.harvests.entry(revision).or_default().join(harvest);
        self.spoken.push(Spoken {
            revision,
            reason: Some(reason),
            wrong: true,
            knowledge: None,
            listed: true,
        });
        let opening_cases = stage.jobs(None).into_iter().filter(|job| match job {
            pool::Job::Alone(index) => !says_nothing && pool::opens_itself(self.suite.entry(*index).case),
            pool::Job::Shared { .. } => false,
        });
        let opening_cases: Vec<_> = opening_cases.map(|job| (stage.clone(), job)).collect();
        self.jobs.extend(opening_cases);
    }

    /// An era that did not open, beside one that did. Whether the server speaks it is not known where the opening did not
    /// get through; that is no reason to skip what was asked for by name.
    async fn part_unspoken(&mut self, era: Era, opening: Opening) {
        let barred = matches!(opening, Opening::Barred { .. });
        let reason = part_with(opening).await;
        let before = self.spoken.len();
        self.unspoken(era, &reason);
        self.spoken[before..].iter_mut().for_each(|spoken| spoken.wrong = barred && spoken.listed);
    }

    /// Rows for the revisions of an era that the server does not speak, where they were asked for.
    fn unspoken(&mut self, era: Era, reason: &str) {
        let wanted = match self.settings.wanted {
            // Nobody asked for that revision by name: one line, no rows.
            Wanted::Auto => Revision::of(era).next_back().into_iter().collect(),
            Wanted::These(_) => self.settings.wanted.named(era),
        };
        let listed = self.settings.wanted != Wanted::Auto;
        for revision in wanted {
            let reason = Some(reason.to_owned());
            self.spoken.push(Spoken { revision, reason, wrong: false, knowledge: None, listed });
        }
    }

    fn mark_unspoken(&mut self, reason: &str) {
        self.unspoken(Era::Stateful, reason);
        self.unspoken(Era::Stateless, reason);
        for spoken in &mut self.spoken {
            spoken.wrong = true;
            spoken.listed = true;
        }
    }

    async fn play(&mut self) {
        let together = u32::try_from(self.settings.jobs.clamp(1, Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        let permits = Arc::new(Semaphore::new(together as usize));
        let mut running = JoinSet::new();
        // What changes the server has to know first whether it changes by itself; one revision tells it for all.
        let mut watched = None;
        if self.jobs.iter().any(|(_, job)| job.changes(&self.suite)) {
            let mut stages = self.jobs.iter().map(|(stage, _)| stage);
            watched =
                stages.find(|stage| unprovoked::is_worthwhile(&stage.sources, &stage.knowledge)).cloned();
        }
        let planned = self.jobs.len() + usize::from(watched.is_some());
        let (settle, settled) = watch::channel(watched.is_none());
        if let Some(stage) = watched {
            let permits = permits.clone();
            running.spawn(async move {
                let _permit = permits.acquire_owned().await;
                let harvest = stage.watch().await;
                let _ = settle.send(true);
                (stage.knowledge.revision, harvest)
            });
        }
        for (stage, job) in self.jobs.drain(..) {
            let permits = permits.clone();
            let revision = stage.knowledge.revision;
            let mut settled = settled.clone();
            running.spawn(async move {
                if job.changes(&stage.suite) {
                    // Nobody is left to tell once the watch has ended, however it did.
                    let _ = settled.wait_for(|settled| *settled).await;
                }
                // On a server that serves all, what changes it runs alone.
                let is_alone = stage.sources.launcher.serves_all() && job.changes(&stage.suite);
                let _permits = permits.acquire_many_owned(if is_alone { together } else { 1 }).await;
                (revision, stage.run(job).await)
            });
        }
        let mut done = 0;
        while let Some(joined) = running.join_next().await {
            done += 1;
            if let Some(progress) = &self.settings.progress {
                progress(done, planned);
            }
            match joined {
                Ok((revision, harvest)) => self.harvests.entry(revision).or_default().join(harvest),
                Err(error) => {
                    let harvest = Harvest {
                        own_defects: vec![format!("a job ended badly: {error}")],
                        ..Harvest::default()
                    };
                    self.harvests.entry(Revision::NEWEST).or_default().join(harvest);
                }
            }
        }
    }
}

/// Ends whatever session an opening left; why it was not an opening.
async fn part_with(opening: Opening) -> String {
    let (reason, session) = match opening {
        Opening::Spoken(Opened { session, .. }) => (String::new(), Some(session)),
        Opening::NotSpoken { reason, session } => (reason, session),
        Opening::Wrong { reason, session }
        | Opening::NoReply { reason, session }
        | Opening::Barred { reason, session } => (reason, Some(session)),
        Opening::NotStarted(error) => (error.to_string(), None),
    };
    if let Some(session) = session {
        session.finish().await;
    }
    reason
}

/// Neither era spoken: was there no reply at all, or wrong ones?
async fn unreachable(stateful: &Opening, stateless: &Opening) -> Option<Unreachable> {
    if !stateful.said_nothing() || !stateless.said_nothing() {
        return None;
    }
    let (reason, session): (String, Option<&Arc<Session>>) = match stateful {
        Opening::NoReply { reason, session } | Opening::Barred { reason, session } => {
            (reason.clone(), Some(session))
        }
        Opening::NotStarted(error) => (error.to_string(), None),
        _ => (String::new(), None),
    };
    let transcript = match session {
        Some(session) => Some(session.kill().await),
        None => None,
    };
    if let Opening::NoReply { session, .. } | Opening::Barred { session, .. } = stateless {
        session.kill().await;
    }
    let stderr = transcript.map(|transcript| transcript.stderr_tail(10)).unwrap_or_default();
    Some(Unreachable { reason, stderr })
}
