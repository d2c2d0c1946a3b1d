//! How does one scripted case go? The stage on which its steps act: sessions, names, pending requests, findings.
//!
//! Verbs are in `step`, `talk` and `stimulus`; this file holds what they share, and turns their end into an outcome.

use super::missing::Missing;
use super::sources::{Knowledge, Sources};
use super::{step, stimulus};
use crate::case::model::{Body, Case, Check, Requirement, SessionKind, Step, Template};
use crate::check::bindings::{Bindings, Unresolved};
use crate::check::predicate::{Breach, evaluate};
use crate::judge::standing::Sighting;
use crate::record::{Finding, Outcome, Place};
use crate::session::{Gone, Reply, Session, Ticket};
use crate::transcript::Transcript;
use crate::wire::{Id, Json, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// Why a case ended before its last step, or one step did.
#[derive(Debug, Clone)]
pub enum Stop {
    Breach(Box<Finding>),
    Unproven(Missing),
    Skip(String),
    Broken(String),
}

pub type Played<T = ()> = Result<T, Stop>;

/// What became of a scripted case.
#[derive(Debug, Clone)]
pub struct Ending {
    pub outcome: Outcome,
    pub missing: Option<Missing>,
    pub sighting: Sighting,
    /// The server died, fell silent or was left in an unknown state: its session is not to be shared further.
    pub spoilt: bool,
    /// A step of `given` did not hold: what other cases did on the session may be the reason.
    pub unprepared: bool,
}

/// A request left pending under a name.
#[derive(Clone)]
pub struct Pending {
    pub ticket: Ticket,
    pub session: Arc<Session>,
    pub progress_token: Option<Json>,
    /// The case has cancelled it.
    pub cancelled: bool,
}

/// How a resource is followed.
pub enum Followed {
    /// By `resources/subscribe` on this session.
    Subscribed(Arc<Session>),
    /// By a `subscriptions/listen` request.
    Listening(Pending),
}

/// Which part of a case is being played: it decides what a failing step means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Given,
    Steps,
}

pub struct Scene<'a> {
    pub sources: &'a Sources,
    pub knowledge: &'a Knowledge,
    pub case: &'a Case,
    pub requirement: &'a Requirement,
    pub part: Part,
    pub bindings: Bindings,
    /// The case's own session.
    pub own: Option<Arc<Session>>,
    pub others: HashMap<String, Arc<Session>>,
    /// The case's own session, as long as its opening is still to come as a step.
    pub unopened: Option<Arc<Session>>,
    /// Sessions that a further opening has replaced.
    pub left: Vec<Arc<Session>>,
    pub pending: HashMap<String, Pending>,
    /// Exchanges that the case has begun by itself.
    pub exchanges: Vec<(Arc<Session>, u64)>,
    /// What is followed, by URI.
    pub followed: HashMap<String, Followed>,
    /// By conversation: the newest entry when the last acting step began.
    pub marks: HashMap<u32, u64>,
    /// Messages that a `hear` has taken: conversation, entry.
    pub taken: HashSet<(u32, u64)>,
    /// The longest delay of what was heard, by kind.
    pub delays: HashMap<String, Duration>,
    /// Notifications heard since the case began are looked up from here on: conversation, entry.
    pub since: HashMap<u32, u64>,
    pub last_reply: Option<Json>,
    /// The newest exchange: entries sent and got, for findings.
    pub shown: Option<(Arc<Session>, Vec<u64>)>,
    /// The last stimulus, until something is heard of it.
    pub change: Option<stimulus::Change>,
    /// A deliberate frame was sent in this case: what befalls the server afterwards is this case's finding.
    pub deliberate: bool,
    pub proven: usize,
    pub sighting: Sighting,
    pub spoilt: bool,
}

impl<'a> Scene<'a> {
    pub fn new(
        sources: &'a Sources,
        knowledge: &'a Knowledge,
        case: &'a Case,
        requirement: &'a Requirement,
        own: Option<Arc<Session>>,
    ) -> Self {
        let mut bindings = knowledge.bindings(sources.profile());
        // Names that are new in every run and case, yet the same for the same seed.
        bindings.set("nonce", nonce(sources.seed, &case.name).as_str());
        let mut scene = Self {
            sources,
            knowledge,
            case,
            requirement,
            part: Part::Given,
            bindings,
            own: None,
            others: HashMap::new(),
            unopened: None,
            left: Vec::new(),
            pending: HashMap::new(),
            exchanges: Vec::new(),
            followed: HashMap::new(),
            marks: HashMap::new(),
            taken: HashSet::new(),
            delays: HashMap::new(),
            since: HashMap::new(),
            last_reply: None,
            shown: None,
            change: None,
            deliberate: false,
            proven: 0,
            sighting: Sighting::default(),
            spoilt: false,
        };
        if let Some(own) = own {
            scene.enter(&own);
            scene.own = Some(own);
        }
        scene
    }

    /// Plays the case to its end. Sessions that it opened besides its own are finished and given back.
    pub async fn play(mut self) -> (Ending, Vec<Transcript>, Option<Arc<Session>>) {
        let played = self.play_parts().await;
        let unprepared = self.part == Part::Given && matches!(played, Err(Stop::Breach(_)));
        let played = if unprepared { played.map_err(as_missing) } else { played };
        if self.case.session == SessionKind::Lively {
            self.leave().await;
        }
        for (session, number) in std::mem::take(&mut self.exchanges) {
            self.spoilt |= session.abandon_exchange(number).await.is_err();
        }
        let mut transcripts = Vec::new();
        let others = std::mem::take(&mut self.others).into_values();
        for session in others.chain(std::mem::take(&mut self.left)) {
            transcripts.push(session.finish().await);
        }
        if let Some(own) = &self.own {
            self.spoilt |= own.state().gone().is_some();
        }
        let own = self.own.take();
        (Ending { unprepared, ..self.end(played) }, transcripts, own)
    }

    async fn play_parts(&mut self) -> Played {
        let Body::Scripted { given, steps } = &self.case.body else {
            return Err(Stop::Broken("a standing case has no steps to play".to_owned()));
        };
        if self.own.is_none() {
            let session = self.launch(false).await?;
            self.unopened = Some(session.clone());
            self.own = Some(session);
        }
        self.part = Part::Given;
        step::play_all(self, given).await?;
        self.part = Part::Steps;
        self.proven = 0;
        step::play_all(self, steps).await
    }

    /// Gives up what would reach into the next case on the session. A request that is still open would too; then
    /// the session is not to be shared further.
    async fn leave(&mut self) {
        for (uri, followed) in std::mem::take(&mut self.followed) {
            if let Followed::Subscribed(session) = followed
                && !self.spoilt
            {
                let reply = session.call("resources/unsubscribe", Some(json!({ "uri": uri }))).await;
                self.spoilt |= !matches!(reply, Reply::Result { .. });
            }
        }
        for (_, Pending { ticket, session, cancelled, .. }) in std::mem::take(&mut self.pending) {
            let answered = session.state().answer_to(&ticket.id, ticket.sequence).is_some();
            if answered || cancelled {
                continue;
            }
            if ticket.method == "subscriptions/listen" {
                self.spoilt |= session.cancel(&ticket).await.is_err();
            } else {
                self.spoilt = true;
            }
        }
    }

    fn end(mut self, played: Played) -> Ending {
        let mut missing = None;
        let outcome = match played {
            Ok(()) => None,
            Err(Stop::Breach(finding)) => {
                self.sighting.add(*finding);
                None
            }
            Err(Stop::Unproven(reason)) => {
                missing = Some(reason);
                Some(Outcome::Unproven)
            }
            Err(Stop::Skip(reason)) => {
                missing = Some(Missing::because(reason));
                Some(Outcome::Skip)
            }
            Err(Stop::Broken(reason)) => {
                missing = Some(Missing::because(reason));
                Some(Outcome::Broken)
            }
        };
        self.sighting.observations = self.proven;
        let outcome = match (outcome, self.sighting.findings.is_empty()) {
            // A finding stands, whatever stopped the case afterwards.
            (Some(outcome), true) | (Some(outcome @ Outcome::Broken), false) => outcome,
            _ => self.sighting.outcome(),
        };
        if outcome == Outcome::Unproven && missing.is_none() {
            missing = Some(Missing::because("its checks met nothing that they could judge"));
        }
        Ending { outcome, missing, sighting: self.sighting, spoilt: self.spoilt, unprepared: false }
    }

    /// Starts a further server for the case, or begins as a further client `beside` its own; nothing is sent.
    pub async fn launch(&mut self, beside: bool) -> Played<Arc<Session>> {
        let own = self.own.as_deref().filter(|_| beside);
        let begun = self.sources.begin_beside(own, self.knowledge.revision, &self.case.name).await;
        let session = Arc::new(begun.map_err(|error| Stop::Broken(error.to_string()))?);
        session.attribute(Some(&self.case.name));
        self.enter(&session);
        Ok(session)
    }

    /// Takes note of a session that the case begins to use.
    fn enter(&mut self, session: &Session) {
        let state = session.state();
        let conversation = state.transcript.head.conversation;
        self.since.insert(conversation, state.newest());
        self.marks.insert(conversation, state.newest());
    }

    /// The session that a step speaks on.
    pub fn session(&self, step: &Step) -> Played<Arc<Session>> {
        match &step.on {
            Some(name) => self.others.get(name).cloned().ok_or_else(|| {
                Stop::Broken(format!(
                    "no session is called `{name}` ({}:{})",
                    step.place.file, step.place.line
                ))
            }),
            None => self.own.clone().ok_or_else(|| {
                Stop::Broken(format!(
                    "the case's session is not open yet ({}:{})",
                    step.place.file, step.place.line
                ))
            }),
        }
    }

    /// An acting step begins: what `hear` and `quiet` look at starts here.
    pub fn mark(&mut self, session: &Session) {
        let state = session.state();
        self.marks.insert(state.transcript.head.conversation, state.newest());
    }

    pub fn resolve(&self, template: &Template) -> Played<Json> {
        self.bindings.resolve(template).map_err(unresolved)
    }

    pub fn resolve_params(&self, params: &Option<Template>) -> Played<Option<Json>> {
        params.as_ref().map(|params| self.resolve(params)).transpose()
    }

    pub fn resolve_string(&self, template: &Template) -> Played<String> {
        match self.resolve(template)? {
            Json::String(text) => Ok(text.to_string_lossy().into_owned()),
            other => Err(Stop::Unproven(Missing::because(format!(
                "expected a string for the step, got {}",
                other.kind_name()
            )))),
        }
    }

    pub fn resolve_id(&self, template: &Option<Template>, session: &Session) -> Played<Id> {
        let Some(template) = template else { return Ok(session.fresh_id()) };
        let value = self.resolve(template)?;
        Id::from_json(&value).ok_or_else(|| Stop::Broken(format!("`{value}` is no id")))
    }

    /// Applies checks to a value; the first that fails stops the step.
    pub fn check(&mut self, checks: &[Check], subject: &Json) -> Played {
        for check in checks {
            let judgement = evaluate(check, subject, &self.bindings).map_err(unresolved)?;
            self.proven += judgement.proven;
            if let Some(breach) = judgement.breaches.into_iter().next() {
                return Err(self.breach(check.place.clone(), breach));
            }
        }
        Ok(())
    }

    /// A check that failed.
    fn breach(&self, place: Place, breach: Breach) -> Stop {
        let mut finding = self.finding(&place, breach.title);
        finding.pointer = Some(breach.pointer);
        finding.expected = breach.expected;
        finding.got = breach.got;
        Stop::Breach(Box::new(finding))
    }

    /// Something else that is not as it must be; the outcome is the row's verdict.
    pub fn fault(&self, place: &Place, expected: impl Into<String>, got: impl Into<String>) -> Stop {
        Stop::Breach(Box::new(self.fault_finding(place, expected, got)))
    }

    pub fn fault_finding(
        &self,
        place: &Place,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> Finding {
        let (expected, got) = (expected.into(), got.into());
        let mut finding = self.finding(place, format!("expected {expected}, got {got}"));
        finding.expected = expected;
        finding.got = got;
        finding
    }

    fn finding(&self, place: &Place, title: String) -> Finding {
        let (frames, span) = match &self.shown {
            Some((session, entries)) => {
                let state = session.state();
                let frames = entries.iter().filter_map(|sequence| state.excerpt(*sequence)).collect();
                let ends = entries.iter().min().zip(entries.iter().max());
                (frames, ends.map(|(first, last)| state.transcript.span_of(*first, *last)))
            }
            None => (Vec::new(), None),
        };
        Finding {
            title,
            outcome: self.requirement.verdict.into(),
            place: Some(place.clone()),
            pointer: None,
            expected: String::new(),
            got: String::new(),
            frames,
            notes: Vec::new(),
            span,
        }
    }

    /// The server went away or stays silent. After a deliberate frame of this case that is its finding, and a
    /// failure whatever the row's verdict; otherwise the standing cases on answers and survival own it.
    pub fn lost(
        &mut self,
        place: &Place,
        session: &Session,
        what: &str,
        gone: Option<&Gone>,
        owner: &str,
    ) -> Stop {
        let got = match gone {
            Some(gone) => gone.to_string(),
            None => "no answer; the server still runs".to_owned(),
        };
        self.lost_to(place, session, what, got, owner)
    }

    /// As [`Scene::lost`], in these words.
    pub fn lost_to(
        &mut self,
        place: &Place,
        session: &Session,
        what: &str,
        got: String,
        owner: &str,
    ) -> Stop {
        self.spoilt = true;
        if !self.deliberate {
            return Stop::Unproven(Missing {
                reason: format!("not reached: {what} met {got}"),
                help: Some(format!("see `{owner}`")),
            });
        }
        let mut finding = self.fault_finding(place, what.to_owned(), got);
        finding.outcome = Outcome::Fail;
        let state = session.state();
        finding.notes = crate::judge::standing::end_notes(&state.transcript);
        Stop::Breach(Box::new(finding))
    }

    /// Remembers an exchange for the findings of the next checks.
    pub fn show(&mut self, session: &Arc<Session>, entries: Vec<u64>) {
        self.shown = Some((session.clone(), entries));
    }
}

/// A failure in `given` or of a control only means that nothing could be shown.
pub fn as_missing(stop: Stop) -> Stop {
    match stop {
        Stop::Breach(finding) => Stop::Unproven(Missing::because(format!("not reached: {}", finding.title))),
        other => other,
    }
}

/// A name without a value: something that an earlier step, the profile or the server did not give.
pub fn unresolved(unresolved: Unresolved) -> Stop {
    let name = match &unresolved {
        Unresolved::Name(name) => name.as_str(),
        Unresolved::Pointer { name, .. } => name.as_str(),
    };
    if let Unresolved::Pointer { pointer, .. } = &unresolved
        && pointer == "/0"
    {
        return Stop::Unproven(Missing {
            reason: format!("not reached: the server has nothing from which `${{{name}/0}}` could be taken"),
            help: Some("start the server so that it has resources of every kind that it can have".to_owned()),
        });
    }
    let needed = |what: &str, key: &str| Missing {
        reason: format!("needs {what}"),
        help: Some(format!("add `{key}` to litmus.yaml")),
    };
    let missing = match name {
        "touchable" => Missing::way_to_touch(),
        "absent" => Missing::absent_uri("needs a URI that the server does not have"),
        "asking" => needed("a URI whose read asks for input first", name),
        "input" | "mistyped-input" => needed("the input that a read asks for", "input"),
        "slow" => needed("a URI whose read takes a second or more", name),
        "failing" => needed("a URI whose read goes wrong inside the server", name),
        "embedding" => needed("a tool that embeds a resource", name),
        "linking" => needed("a tool that links to a resource", name),
        _ => Missing::because(format!("not reached: {unresolved}")),
    };
    Stop::Unproven(missing)
}

/// Eight hexadecimal digits, the same for the same seed and name.
fn nonce(seed: u64, name: &str) -> String {
    format!("{:08x}", super::order::lot(seed, name) as u32)
}
