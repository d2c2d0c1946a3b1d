//! Which revisions does the server speak, and what does it say of itself?
//!
//! Both openings are tried at once, each on a process of its own: `initialize`, and `server/discover` with a valid
//! `_meta` (DRV-28). A legacy server may meet the second with any error, with silence or by exiting: no defect.

use super::answers;
use super::sources::{Knowledge, Sources};
use super::survey;
use crate::check::phrase::{SHOWN, clipped};
use crate::peer::LaunchError;
use crate::revision::{Era, Revision};
use crate::session::{Refusal, Reply, Session};
use crate::time_limits;
use crate::transcript::Channel;
use crate::wire::{Json, Object, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// An opening that succeeded: the session goes on.
pub struct Opened {
    pub session: Arc<Session>,
    pub knowledge: Knowledge,
}

/// What became of one opening.
pub enum Opening {
    Spoken(Opened),
    /// The server does not speak it, and said so in a lawful way.
    NotSpoken {
        reason: String,
        session: Option<Arc<Session>>,
    },
    /// It answered, and wrongly.
    Wrong {
        reason: String,
        session: Arc<Session>,
    },
    /// It gave no reply at all.
    NoReply {
        reason: String,
        session: Arc<Session>,
    },
    /// What stands before the server refused it: nobody knows what the server would have said.
    Barred {
        reason: String,
        session: Arc<Session>,
    },
    /// It could not be started.
    NotStarted(LaunchError),
}

impl Opening {
    /// Looks round the server, where it opened.
    pub async fn surveyed(mut self) -> Self {
        if let Self::Spoken(Opened { session, knowledge }) = &mut self {
            knowledge.survey = Arc::new(survey::look_round(session, knowledge).await);
        }
        self
    }

    /// Whether the server has said nothing at all.
    pub fn said_nothing(&self) -> bool {
        matches!(self, Self::NoReply { .. } | Self::Barred { .. } | Self::NotStarted(_))
    }

    /// Ends the server of this opening; what was learned stays.
    async fn release(&self) {
        match self {
            Self::Spoken(Opened { session, .. })
            | Self::Wrong { session, .. }
            | Self::NoReply { session, .. }
            | Self::Barred { session, .. }
            | Self::NotSpoken { session: Some(session), .. } => session.end().await,
            Self::NotSpoken { session: None, .. } | Self::NotStarted(_) => {}
        }
    }
}

/// Tries both eras; one after the other where the server may run only once at a time. Whatever opens is surveyed.
pub async fn detect(sources: &Sources, stateful: Revision) -> (Opening, Opening) {
    if sources.is_single() {
        let began = Instant::now();
        let stateful = initialize(sources, stateful, "opening").await;
        let took = began.elapsed();
        let stateful = stateful.surveyed().await;
        stateful.release().await;
        let (_done, took) = watch::channel(Some(Some(took)));
        let stateless = discover(sources, took).await.surveyed().await;
        stateless.release().await;
        return (stateful, stateless);
    }
    // How long the stateful opening took, once it is known.
    let (done, took) = watch::channel(None);
    let stateful = async {
        let began = Instant::now();
        let opening = initialize(sources, stateful, "opening").await;
        let answered = !opening.said_nothing();
        let _ = done.send(Some(answered.then(|| began.elapsed())));
        opening.surveyed().await
    };
    let stateless = async { discover(sources, took).await.surveyed().await };
    tokio::join!(stateful, stateless)
}

/// Opens a stateful session and asks for one revision; the server may answer another.
pub async fn initialize(sources: &Sources, wanted: Revision, purpose: &str) -> Opening {
    let session = match sources.begin(wanted, purpose).await {
        Ok(session) => Arc::new(session),
        Err(error) => return Opening::NotStarted(error),
    };
    let params = session.dialect.initialize_params();
    let mut reply = ask(&session, sources, "initialize", Some(params.clone())).await;
    if may_be_old(&session, &reply) && session.fall_back().await {
        sources.remember_old();
        session.state().transcript.head.transport = sources.transport(wanted);
        reply = ask(&session, sources, "initialize", Some(params)).await;
    }
    let result = match reply {
        Reply::Result { result, .. } => result,
        Reply::Error { error, .. } => {
            let reason = format!("`initialize` was answered by {}", error_name(&error));
            return Opening::NotSpoken { reason, session: Some(session) };
        }
        Reply::Silence(limit) => {
            let reason = format!("no reply to `initialize` within {} s", limit.as_secs());
            return no_reply_or_wrong(session, reason);
        }
        Reply::Refused(refusal) => {
            let misled = session.misled().map(|why| format!("; {why}")).unwrap_or_default();
            let reason = format!("`initialize` was answered by {refusal}{misled}");
            // Of the oldest transport a stream has come already.
            let is_old = session.state().http.as_ref().is_some_and(|http| http.old);
            return if is_old {
                Opening::Wrong { reason, session }
            } else {
                refused(&refusal, reason, session)
            };
        }
        Reply::Gone(gone) => {
            return no_reply_or_wrong(session, format!("{gone} while `initialize` was pending"));
        }
    };
    let version = result.get("protocolVersion").and_then(Json::as_str).map(str::to_owned);
    let agreed = version.as_deref().and_then(|version| version.parse::<Revision>().ok());
    let agreed = agreed.filter(|revision| revision.era() == Era::Stateful);
    let (Some(agreed), Some(Json::Object(_))) = (agreed, result.get("capabilities")) else {
        let what = match version {
            Some(version) if agreed.is_none() => {
                format!("`{}`, a version unknown to this suite", clipped(&version, SHOWN))
            }
            Some(_) => "no `capabilities`".to_owned(),
            None => "no `protocolVersion`".to_owned(),
        };
        return Opening::Wrong {
            reason: format!("`initialize` was answered by a result with {what}"),
            session,
        };
    };
    let session = speak(session, agreed);
    if session.notify("notifications/initialized", None).await.is_err() {
        let reason = "the server went away after `initialize`".to_owned();
        return Opening::Wrong { reason, session };
    }
    session.open_stream().await;
    let capabilities = result.get("capabilities").cloned().unwrap_or(Json::Null);
    let knowledge = Knowledge::new(agreed, capabilities, result.get("serverInfo").cloned());
    Opening::Spoken(Opened { session, knowledge })
}

/// Asks for an opening. Over HTTP a server that has just been started, or what stands before it, may not be ready yet.
async fn ask(session: &Session, sources: &Sources, method: &str, params: Option<Json>) -> Reply {
    let began = Instant::now();
    loop {
        let reply = match session.request(session.fresh_id(), method, params.clone(), false).await {
            Ok(ticket) => session.answer(&ticket, sources.bounds.start).await,
            Err(gone) => Reply::Gone(gone),
        };
        let unready = matches!(reply, Reply::Refused(Refusal { status: None | Some(502..=504), .. }));
        if !unready || began.elapsed() >= time_limits::READY {
            return reply;
        }
        tokio::time::sleep(time_limits::READY_AGAIN).await;
    }
}

/// As the specification has clients find out about servers of the oldest transport: their endpoint takes no POST, and
/// says so by a status, or in JSON. An error of the newest era is of a server that knows better.
fn may_be_old(session: &Session, reply: &Reply) -> bool {
    let is_refusal = |status: u16| (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 429);
    match reply {
        Reply::Refused(refusal) => refusal.status.is_some_and(is_refusal),
        Reply::Error { error, sequence } => {
            let code = error.get("code").and_then(Json::as_i64);
            let is_modern = code.is_some_and(|code| (-32022..=-32020).contains(&code));
            !is_modern && session.state().is_refused(*sequence)
        }
        Reply::Result { .. } | Reply::Silence(_) | Reply::Gone(_) => false,
    }
}

/// HTTP's own answer to an opening.
fn refused(refusal: &Refusal, reason: String, session: Arc<Session>) -> Opening {
    if answers::gate(refusal).is_some() {
        Opening::Barred { reason, session }
    } else {
        Opening::NoReply { reason, session }
    }
}

/// The session goes on in the revision that was agreed.
fn speak(mut session: Arc<Session>, agreed: Revision) -> Arc<Session> {
    session.state().transcript.head.revision = agreed;
    session.agree(agreed);
    if let Some(session) = Arc::get_mut(&mut session) {
        session.dialect = crate::dialect::Dialect::new(agreed);
    }
    session
}

/// Asks a server to discover itself, and cross-checks a refusal by another request of the era.
async fn discover(sources: &Sources, mut took: watch::Receiver<Option<Option<Duration>>>) -> Opening {
    let session = match sources.begin(Revision::R2026_07_28, "opening").await {
        Ok(session) => Arc::new(session),
        Err(error) => return Opening::NotStarted(error),
    };
    let began = Instant::now();
    let params = session.dialect.params(None);
    let patience = async {
        // As long as the other opening has not answered, nobody knows how slowly this server starts.
        let took = took.wait_for(Option::is_some).await.ok().and_then(|took| *took).flatten();
        let Some(took) = took else { return tokio::time::sleep(sources.bounds.start).await };
        // Over HTTP each request is owed a response, and silence is no lawful refusal.
        let least = if session.is_http() { sources.bounds.request } else { time_limits::DISCOVER };
        tokio::time::sleep(least.max(took * 2).saturating_sub(began.elapsed())).await;
    };
    let reply = tokio::select! {
        biased;
        reply = ask(&session, sources, "server/discover", params) => reply,
        () = patience => Reply::Silence(began.elapsed()),
    };
    match reply {
        Reply::Result { result, .. } => discovered(session, result),
        Reply::Error { error, .. } => cross_checked(session, error).await,
        Reply::Silence(limit) => {
            let reason = format!("no reply to `server/discover` within {:.1} s", limit.as_secs_f32());
            no_reply_or_wrong(session, reason)
        }
        Reply::Refused(refusal) => {
            refused(&refusal, format!("`server/discover` was answered by {refusal}"), session)
        }
        Reply::Gone(gone) => {
            no_reply_or_wrong(session, format!("{gone} while `server/discover` was pending"))
        }
    }
}

fn discovered(session: Arc<Session>, result: Json) -> Opening {
    let telling = ["supportedVersions", "resultType", "capabilities"];
    if !telling.iter().any(|name| result.get(name).is_some()) {
        let reason = "`server/discover` was answered by a result that says nothing of the server".to_owned();
        return Opening::Wrong { reason, session };
    }
    let capabilities = result.get("capabilities").cloned().unwrap_or_else(|| Json::Object(Object::new()));
    let server = result.pointer("/_meta/io.modelcontextprotocol~1serverInfo").cloned();
    let knowledge = Knowledge::new(Revision::R2026_07_28, capabilities, server);
    Opening::Spoken(Opened { session, knowledge })
}

/// `server/discover` was refused. A server that serves another request of the era is modern all the same.
async fn cross_checked(session: Arc<Session>, error: Json) -> Opening {
    let name = error_name(&error);
    let listed = session.call("resources/list", None).await;
    match listed {
        Reply::Result { result, .. }
            if result.get("resultType").is_some() || result.get("ttlMs").is_some() =>
        {
            let knowledge = Knowledge::new(Revision::R2026_07_28, json!({ "resources": {} }), None);
            Opening::Spoken(Opened { session, knowledge })
        }
        _ => Opening::NotSpoken {
            reason: format!("`server/discover` was answered by {name}"),
            session: Some(session),
        },
    }
}

/// A server that wrote nothing gave no reply; one that wrote something else, a log for instance, answered wrongly.
fn no_reply_or_wrong(session: Arc<Session>, reason: String) -> Opening {
    let (wrote, babble) = {
        let state = session.state();
        let mut entries = state.transcript.entries.iter();
        let wrote = entries.any(|entry| matches!(entry.channel, Channel::Stdout | Channel::Response));
        let shown =
            |line: &[u8]| clipped(&String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]), SHOWN);
        (wrote, state.first_of_babble().map(shown))
    };
    let reason = match babble {
        Some(line) => {
            format!("{reason}; it wrote `{line}`, but stdout is for messages only, and stderr for logs")
        }
        None => reason,
    };
    if wrote { Opening::Wrong { reason, session } } else { Opening::NoReply { reason, session } }
}

fn error_name(error: &Json) -> String {
    let code = error.get("code").map_or_else(|| "without a code".to_owned(), Json::to_string);
    match error.get("message").and_then(Json::as_str) {
        Some(message) => format!("error {code} ({})", clipped(message, SHOWN)),
        None => format!("error {code}"),
    }
}
