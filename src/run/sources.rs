//! What does a run know besides its cases? The way to start servers, the profile, limits, and what was learned.

use super::survey::Survey;
use crate::case::model::Capability;
use crate::check::bindings::Bindings;
use crate::dialect::Dialect;
use crate::peer::{Launcher, Peer};
use crate::profile::{self, Profile};
use crate::record::Transport;
use crate::revision::{Era, Revision};
use crate::session::{Bounds, Session, State};
use crate::transcript::{Head, Transcript};
use crate::wire::{Json, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Called with every finished conversation.
pub type Sink = dyn Fn(&Transcript) + Send + Sync;

/// What all conversations of a run share.
pub struct Sources {
    pub launcher: Arc<dyn Launcher>,
    profile: OnceLock<Profile>,
    /// With what was seen of the server's own changes.
    learned: OnceLock<Profile>,
    user: Profile,
    pub bounds: Bounds,
    /// Samples, made-up names, and the order on shared sessions: 0 is that of the catalogue.
    pub seed: u64,
    pub sink: Option<Box<Sink>>,
    /// Whether a well-known server gets the profile that is built in for it.
    pub recognises: bool,
    conversations: AtomicU32,
    /// The server turned out to speak the HTTP transport of 2024-11-05 only.
    old: AtomicBool,
    /// When the run began, in seconds since the epoch.
    run: u64,
    words: AtomicU32,
}

/// What a server told of itself at one revision.
#[derive(Debug, Clone)]
pub struct Knowledge {
    pub revision: Revision,
    /// The opening's `capabilities`.
    pub capabilities: Json,
    /// `serverInfo`, where it gave one.
    pub server: Option<Json>,
    /// What its lists hold.
    pub survey: Arc<Survey>,
    /// Templates for which a value was guessed, and the value, where a read confirmed one.
    guesses: Arc<Mutex<HashMap<String, Option<String>>>>,
    /// How often a fresh server was gone before it could answer anything, in a row.
    deaths: Arc<AtomicU32>,
    /// Methods that were met with silence, and how often: asking again and again would only cost time.
    silent: Arc<Mutex<HashMap<String, usize>>>,
}

/// After so many silences a method is not asked again at that revision.
const SILENCES: usize = 2;

/// After so many deaths in a row a server is not started again for cases that only use it.
const DEATHS: u32 = 3;

impl Sources {
    pub fn new(launcher: Arc<dyn Launcher>, profile: Profile, bounds: Bounds) -> Self {
        Self {
            launcher,
            profile: OnceLock::new(),
            learned: OnceLock::new(),
            user: profile,
            bounds,
            seed: 0,
            sink: None,
            recognises: true,
            conversations: AtomicU32::new(0),
            old: AtomicBool::new(false),
            words: AtomicU32::new(0),
            run: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        }
    }

    /// Starts a fresh server and begins a conversation with it; nothing is sent.
    pub async fn begin(
        &self,
        revision: Revision,
        purpose: &str,
    ) -> Result<Session, crate::peer::LaunchError> {
        let peer = self.launcher.launch().await?;
        Ok(self.begin_with(peer, revision, purpose).await)
    }

    /// Begins a further conversation with the server of another one, where it takes several clients; otherwise with a
    /// fresh server.
    pub async fn begin_beside(
        &self,
        other: Option<&Session>,
        revision: Revision,
        purpose: &str,
    ) -> Result<Session, crate::peer::LaunchError> {
        match other.and_then(|other| other.server.as_ref()?.upgrade()) {
            Some(server) => Ok(self.begin_with(server.client(), revision, purpose).await),
            None => self.begin(revision, purpose).await,
        }
    }

    async fn begin_with(&self, peer: Peer, revision: Revision, purpose: &str) -> Session {
        let head = Head {
            conversation: self.conversations.fetch_add(1, Ordering::Relaxed) + 1,
            transport: self.transport(revision),
            revision,
            purpose: purpose.to_owned(),
        };
        let session = Session::begin(peer, head, Dialect::new(revision), self.bounds);
        if self.transport(revision) == Transport::HttpSse {
            session.fall_back().await;
        }
        session
    }

    /// A word that is new each time, also to a server that remembers what earlier runs did.
    pub fn new_word(&self) -> String {
        format!("{:x}n{}", self.run, self.words.fetch_add(1, Ordering::Relaxed))
    }

    /// The user's profile, completed by the one that is built in for the server once its name is known.
    pub fn profile(&self) -> &Profile {
        self.learned.get().or(self.profile.get()).unwrap_or(&self.user)
    }

    /// The server speaks the HTTP transport of 2024-11-05: later conversations begin with that.
    pub fn remember_old(&self) {
        self.old.store(true, Ordering::Relaxed);
    }

    /// The server turned out to change by itself.
    pub fn learn(&self, profile: Profile) {
        let _ = self.learned.set(profile);
    }

    pub fn has_learned(&self) -> bool {
        self.learned.get().is_some()
    }

    /// The server has said who it is.
    pub fn recognise(&self, server: &Json) {
        let known = server.get("name").and_then(Json::as_str).and_then(profile::known::for_server);
        if let Some(known) = known.filter(|_| self.recognises) {
            let _ = self.profile.set(Profile::merged(self.user.clone(), known));
        }
    }

    /// Whether only one process of the server may run at a time.
    pub fn is_single(&self) -> bool {
        self.profile().instances == Some(1)
    }

    /// What carries the messages of a revision.
    pub fn transport(&self, revision: Revision) -> Transport {
        if revision.era() == Era::Stateful && self.old.load(Ordering::Relaxed) {
            return Transport::HttpSse;
        }
        self.launcher.transport()
    }

    pub fn patience(&self) -> Duration {
        self.profile().patience.unwrap_or(crate::time_limits::PATIENCE)
    }
}

impl Knowledge {
    pub fn new(revision: Revision, capabilities: Json, server: Option<Json>) -> Self {
        let (survey, guesses) = (Arc::default(), Arc::default());
        let (deaths, silent) = (Arc::default(), Arc::default());
        Self { revision, capabilities, server, survey, guesses, deaths, silent }
    }

    /// Whether the server declared it.
    pub fn declares(&self, capability: Capability) -> bool {
        let flag = |pointer: &str| self.capabilities.pointer(pointer).and_then(Json::as_bool) == Some(true);
        let object = |name: &str| self.capabilities.get(name).is_some_and(|value| !value.is_null());
        match capability {
            Capability::Resources => object("resources"),
            Capability::Subscribe => flag("/resources/subscribe"),
            Capability::ListChanged => flag("/resources/listChanged"),
            Capability::Changes => flag("/resources/subscribe") || flag("/resources/listChanged"),
            Capability::Completions => object("completions"),
            Capability::Logging => object("logging"),
            Capability::Tools => object("tools"),
        }
    }

    /// What was guessed for a template before: `Some(None)` where no guess was right.
    pub fn guess(&self, template: &str) -> Option<Option<String>> {
        self.guesses().get(template).cloned()
    }

    pub fn remember_guess(&self, template: &str, value: Option<String>) {
        self.guesses().insert(template.to_owned(), value);
    }

    fn guesses(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<String>>> {
        self.guesses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what became of a server that was opened at this entry: gone before it said anything, or not.
    pub fn remember_fate(&self, state: &State, opened: u64) {
        if state.vanished_since(opened) {
            self.deaths.fetch_add(1, Ordering::Relaxed);
        } else if state.heard_since(opened) {
            self.deaths.store(0, Ordering::Relaxed);
        }
    }

    /// Whether starting the server once more is a waste of time: it only goes away again.
    pub fn is_lost(&self) -> bool {
        self.deaths.load(Ordering::Relaxed) >= DEATHS
    }

    pub fn remember_silence(&self, method: &str) {
        *self.silences().entry(method.to_owned()).or_default() += 1;
    }

    /// Whether asking this method again is a waste of time.
    pub fn is_silent(&self, method: &str) -> bool {
        self.silences().get(method).is_some_and(|count| *count >= SILENCES)
    }

    fn silences(&self) -> std::sync::MutexGuard<'_, HashMap<String, usize>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names that every case is given.
    pub fn bindings(&self, profile: &Profile) -> Bindings {
        let mut bindings = Bindings::new();
        bindings.set("revision", self.revision.as_str());
        let known: Vec<&str> = Revision::ALL.into_iter().map(Revision::as_str).collect();
        bindings.set("known", json!(known));
        bindings.set("capabilities", self.capabilities.clone());
        if let Some(server) = &self.server {
            bindings.set("server", server.clone());
        }
        let listed = self.survey.resources.first().map(|listed| &listed.uri);
        if let Some(touchable) = profile.touchable.first().or(listed) {
            bindings.set("touchable", touchable.as_str());
        }
        let texts = [
            ("absent", &profile.absent),
            ("asking", &profile.asking),
            ("slow", &profile.slow),
            ("failing", &profile.failing),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                bindings.set(name, text.as_str());
            }
        }
        if let Some(Json::Object(input)) = &profile.input {
            let answers = input.iter().map(|(name, _)| (name.clone(), "litmus"));
            bindings.set("mistyped-input", Json::Object(answers.collect()));
        }
        let values =
            [("input", &profile.input), ("embedding", &profile.embedding), ("linking", &profile.linking)];
        for (name, value) in values {
            if let Some(value) = value {
                bindings.set(name, value.clone());
            }
        }
        bindings
    }
}
