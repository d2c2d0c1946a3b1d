//! What does the server say to each message of one client? Messages in, messages out, and nothing of bytes, so that
//! any transport can carry it. Time is told to it; it waits for nothing by itself.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::asking;
use crate::completion;
use crate::logging::{self, Level};
use crate::message::{Message, Refusal, Request, code, notification, reply};
use crate::opening::{self, Context, SERVER_INFO, SUBSCRIPTION_ID};
use crate::resources;
use crate::revision::Revision;
use crate::settings::Settings;
use crate::store::{Change, Store};
use crate::subscriptions::{Stream, Subscriptions};
use crate::tools;

/// A slow read takes this many steps of this length.
const SLOW_STEPS: u32 = 3;
const SLOW_STEP: Duration = Duration::from_millis(100);

/// Something to be sent. `key` is that under which the request was received.
#[derive(Clone, Debug)]
pub(crate) enum Outgoing {
    Reply {
        key: u64,
        message: Value,
    },
    /// A notification; `key` where it belongs to one request.
    Notice {
        key: Option<u64>,
        message: Value,
    },
    /// No reply will come: the request was cancelled.
    Dropped {
        key: u64,
    },
}

/// What `initialize` agreed on.
struct Session {
    revision: Revision,
    /// Whether the client has said `notifications/initialized`.
    ready: bool,
    /// Logs at this level or above are sent; none until the client asks.
    log_level: Option<Level>,
    subscriptions: Subscriptions,
}

/// A read that is not finished.
struct SlowRead {
    key: u64,
    id: Value,
    uri: String,
    context: Context,
    step: u32,
    due: Instant,
}

/// All that the server knows of one client.
pub(crate) struct Conversation {
    settings: Settings,
    /// Whether it is held with many clients at once, each of whom numbers its requests by itself.
    shared: bool,
    session: Option<Session>,
    streams: Vec<Stream>,
    reads: Vec<SlowRead>,
    out: Vec<Outgoing>,
}

/// How a request is answered.
enum Answer {
    Now(Value),
    /// Later, or never.
    Open,
}

impl Conversation {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            shared: false,
            session: None,
            streams: Vec::new(),
            reads: Vec::new(),
            out: Vec::new(),
        }
    }

    /// A conversation with all clients that have no session.
    pub fn shared(settings: Settings) -> Self {
        Self { shared: true, ..Self::new(settings) }
    }

    /// A conversation that was opened elsewhere.
    pub fn opened(settings: Settings, revision: Revision) -> Self {
        let subscriptions = Subscriptions::default();
        let session = Session { revision, ready: true, log_level: None, subscriptions };
        Self { session: Some(session), ..Self::new(settings) }
    }

    /// What `initialize` agreed on, if it was said.
    pub fn revision(&self) -> Option<Revision> {
        self.session.as_ref().map(|session| session.revision)
    }

    /// Whether an array of messages is taken apart; otherwise it is no message.
    pub fn takes_batches(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.revision.has_batches())
    }

    /// Takes in one message. What there is to say about it is in `take_outgoing` afterwards, or later.
    pub fn receive(&mut self, store: &mut Store, key: u64, message: Value, now: Instant) {
        match Message::read(message) {
            Message::Request(request) => {
                let message = match self.request(store, key, &request, now) {
                    Ok(Answer::Now(result)) => reply(&request.id, result),
                    Ok(Answer::Open) => return,
                    Err(refusal) => refusal.reply(&request.id),
                };
                self.out.push(Outgoing::Reply { key, message });
            }
            Message::Notification { method, params } => self.notification(&method, &params),
            Message::Response => {}
            Message::Invalid { id } => {
                let message = Refusal::new(code::INVALID_REQUEST, "Invalid request").reply(&id);
                self.out.push(Outgoing::Reply { key, message });
            }
        }
    }

    /// Does what is due at `now`.
    pub fn tick(&mut self, store: &Store, now: Instant) {
        for mut read in std::mem::take(&mut self.reads) {
            if read.due > now {
                self.reads.push(read);
                continue;
            }
            read.step += 1;
            self.progress(&read);
            if read.step < SLOW_STEPS {
                read.due += SLOW_STEP;
                self.reads.push(read);
                continue;
            }
            let message = match self.read(store, read.key, &read.context, &read.uri) {
                Ok(result) => reply(&read.id, finish(&read.context, result)),
                Err(refusal) => refusal.reply(&read.id),
            };
            self.out.push(Outgoing::Reply { key: read.key, message });
        }
    }

    /// When `tick` has something to do, if ever.
    pub fn next_due(&self) -> Option<Instant> {
        self.reads.iter().map(|read| read.due).min()
    }

    /// Tells the client of a change, as far as it asked to be told.
    pub fn announce(&mut self, change: &Change) {
        if let Some(session) = self.session.as_ref().filter(|session| session.ready) {
            let message = session.subscriptions.hears(&self.settings, change);
            self.out.extend(message.map(|message| Outgoing::Notice { key: None, message }));
        }
        for stream in &self.streams {
            let message = stream.hears(change);
            self.out.extend(message.map(|message| Outgoing::Notice { key: Some(stream.key), message }));
        }
    }

    /// Ends what is open, because the server is about to stop.
    pub fn close(&mut self) {
        self.reads.clear();
        for stream in std::mem::take(&mut self.streams) {
            let mut result = stamp(Revision::V2026_07_28, json!({}));
            result["_meta"][SUBSCRIPTION_ID] = stream.id.clone();
            self.out.push(Outgoing::Reply { key: stream.key, message: reply(&stream.id, result) });
        }
    }

    /// Forgets an open request: nobody is there any more to take an answer.
    pub fn forget(&mut self, key: u64) {
        self.reads.retain(|read| read.key != key);
        self.streams.retain(|stream| stream.key != key);
    }

    /// What is to be sent, in this order.
    pub fn take_outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.out)
    }

    fn request(
        &mut self,
        store: &mut Store,
        key: u64,
        request: &Request,
        now: Instant,
    ) -> Result<Answer, Refusal> {
        if !request.params.is_object() && !request.params.is_null() {
            return Err(Refusal::params("params must be an object"));
        }
        let stateless = !self.settings.stateless().is_empty();
        let context = if stateless && opening::describes_itself(request) {
            opening::stateless_context(&self.settings, request)?
        } else if request.method == "initialize" {
            return self.initialize(request).map(Answer::Now);
        } else if let Some(session) = &self.session {
            let progress_token = opening::progress_token(request)?;
            let (revision, log_level) = (session.revision, session.log_level);
            Context { revision, log_level, capabilities: Value::Null, progress_token }
        } else if self.settings.newest_stateful().is_none()
            || stateless && request.method == "server/discover"
        {
            opening::stateless_context(&self.settings, request)?
        } else if request.method == "ping" {
            return Ok(Answer::Now(json!({})));
        } else {
            return Err(Refusal::new(code::INVALID_REQUEST, "Not initialized"));
        };
        match self.dispatch(store, key, &context, request, now)? {
            Answer::Now(result) => Ok(Answer::Now(finish(&context, result))),
            Answer::Open => Ok(Answer::Open),
        }
    }

    fn initialize(&mut self, request: &Request) -> Result<Value, Refusal> {
        if self.session.is_some() {
            return Err(Refusal::new(code::INVALID_REQUEST, "Already initialized"));
        }
        let (revision, result) = opening::initialize(&self.settings, request)?;
        let subscriptions = Subscriptions::default();
        self.session = Some(Session { revision, ready: false, log_level: None, subscriptions });
        Ok(result)
    }

    /// The methods, with what each of them takes for granted: a capability, an era.
    fn dispatch(
        &mut self,
        store: &mut Store,
        key: u64,
        context: &Context,
        request: &Request,
        now: Instant,
    ) -> Result<Answer, Refusal> {
        let revision = context.revision;
        let stateless = revision.is_stateless();
        let settings = &self.settings;
        let result = match request.method.as_str() {
            "server/discover" if stateless => opening::discover(settings, revision),
            "ping" if !stateless => json!({}),
            "logging/setLevel" if !stateless => self.set_level(request)?,
            "resources/list" if settings.resources => resources::list(settings, store, revision, request)?,
            "resources/templates/list" if settings.resources && settings.templates => {
                resources::list_templates(settings, store, revision, request)?
            }
            "resources/read" if settings.resources => {
                let uri = request.text("uri")?;
                if stateless && uri == asking::URI {
                    return asking::read(context, request).map(Answer::Now);
                }
                if store.is_slow(uri) {
                    self.start_slow_read(key, context, request, uri, now);
                    return Ok(Answer::Open);
                }
                self.read(store, key, context, uri)?
            }
            "resources/subscribe" if !stateless && settings.resources && settings.subscribe => {
                self.subscribe(store, revision, request)?
            }
            "resources/unsubscribe" if !stateless && settings.resources && settings.subscribe => {
                self.unsubscribe(revision, request)?
            }
            "subscriptions/listen" if stateless => {
                self.listen(store, key, request)?;
                return Ok(Answer::Open);
            }
            "completion/complete" if settings.completions => completion::complete(store, revision, request)?,
            "tools/list" if settings.resources => tools::list(revision, request)?,
            "tools/call" if settings.resources => tools::call(store, revision, request)?,
            other => return Err(Refusal::unknown_method(other)),
        };
        Ok(Answer::Now(result))
    }

    fn notification(&mut self, method: &str, params: &Value) {
        match (method, &mut self.session) {
            ("notifications/initialized", Some(session)) => session.ready = true,
            ("notifications/cancelled", _) => {
                if let Some(id) = params.get("requestId") {
                    self.cancel(id);
                }
            }
            _ => {}
        }
    }

    /// Forgets an open request. One that is unknown, or answered already, is nobody's mistake.
    fn cancel(&mut self, id: &Value) {
        let out = &mut self.out;
        self.reads.retain(|read| keep(out, read.id != *id, read.key));
        self.streams.retain(|stream| keep(out, stream.id != *id, stream.key));
    }

    fn read(&mut self, store: &Store, key: u64, context: &Context, uri: &str) -> Result<Value, Refusal> {
        let read = resources::read(store, context.revision, uri);
        let (level, what) =
            if read.is_ok() { (Level::Info, "Read") } else { (Level::Warning, "Could not read") };
        if context.log_level.is_some_and(|least| level >= least) {
            let message = logging::entry(level, &format!("{what} {uri}"));
            self.out.push(Outgoing::Notice { key: Some(key), message });
        }
        read
    }

    fn start_slow_read(&mut self, key: u64, context: &Context, request: &Request, uri: &str, now: Instant) {
        self.reads.push(SlowRead {
            key,
            id: request.id.clone(),
            uri: uri.to_owned(),
            context: context.clone(),
            step: 0,
            due: now + SLOW_STEP,
        });
    }

    fn progress(&mut self, read: &SlowRead) {
        let Some(token) = &read.context.progress_token else { return };
        let mut params = json!({ "progressToken": token, "progress": read.step, "total": SLOW_STEPS });
        if read.context.revision.has_progress_message() {
            params["message"] = format!("Step {} of {SLOW_STEPS}", read.step).into();
        }
        let message = notification("notifications/progress", params);
        self.out.push(Outgoing::Notice { key: Some(read.key), message });
    }

    fn set_level(&mut self, request: &Request) -> Result<Value, Refusal> {
        let level = request.param("level").and_then(Level::read);
        let level = level.ok_or_else(|| Refusal::params("level must be one of the eight"))?;
        if let Some(session) = &mut self.session {
            session.log_level = Some(level);
        }
        Ok(json!({}))
    }

    fn subscribe(&mut self, store: &Store, revision: Revision, request: &Request) -> Result<Value, Refusal> {
        let uri = request.text("uri")?;
        if let Some(session) = &mut self.session {
            let done = session.subscriptions.subscribe(&self.settings, store, uri);
            done.map_err(|absence| resources::refuse(absence, revision, uri))?;
        }
        Ok(json!({}))
    }

    fn unsubscribe(&mut self, revision: Revision, request: &Request) -> Result<Value, Refusal> {
        let uri = request.text("uri")?;
        if let Some(session) = &mut self.session {
            let done = session.subscriptions.unsubscribe(uri);
            done.map_err(|absence| resources::refuse(absence, revision, uri))?;
        }
        Ok(json!({}))
    }

    fn listen(&mut self, store: &Store, key: u64, request: &Request) -> Result<(), Refusal> {
        if !self.shared && self.streams.iter().any(|stream| stream.id == request.id) {
            return Err(Refusal::new(code::INVALID_REQUEST, "A request with this id is open"));
        }
        let stream = Stream::open(&self.settings, store, key, request)?;
        self.out.push(Outgoing::Notice { key: Some(key), message: stream.acknowledgement() });
        self.streams.push(stream);
        Ok(())
    }
}

fn keep(out: &mut Vec<Outgoing>, stays: bool, key: u64) -> bool {
    if !stays {
        out.push(Outgoing::Dropped { key });
    }
    stays
}

fn finish(context: &Context, result: Value) -> Value {
    if context.revision.is_stateless() { stamp(context.revision, result) } else { result }
}

/// What every result of a stateless revision bears.
fn stamp(revision: Revision, mut result: Value) -> Value {
    if result.get("resultType").is_none() {
        result["resultType"] = "complete".into();
    }
    result["_meta"] = json!({ SERVER_INFO: opening::server_info(revision) });
    result
}
