//! How do the verbs that speak work? Calls, pending requests, openings, signs of life. Raw frames are in `frames`, lists
//! of several pages in `paging`.

use super::answers::{self, Came, Expected};
use super::missing::Missing;
use super::scene::{Pending, Played, Scene, Stop};
use crate::case::model::{Call, Check, Expect, Open, Step, Template};
use crate::record::Place;
use crate::session::{Gone, Refusal, Reply, Session, Ticket};
use crate::wire::{Json, Object};
use std::sync::Arc;
use std::time::Duration;

/// The standing cases that own silence and death during ordinary requests.
const OWNS_SILENCE: &str = "json-rpc/every-request-answered";
pub(super) const OWNS_DEATH: &str = "json-rpc/keeps-running";
const OWNS_REFUSAL: &str = "http/*";

pub async fn call(scene: &mut Scene<'_>, step: &Step, call: &Call) -> Played {
    let session = scene.session(step)?;
    let own = scene.resolve_params(&call.params)?;
    let params = if call.bare { own } else { session.dialect.params(own) };
    let id = scene.resolve_id(&call.id, &session)?;
    if call.answers.is_none() && scene.knowledge.is_silent(&call.method) {
        return Err(Stop::Unproven(Missing {
            reason: format!(
                "not reached: `{}` was met with silence before, so it was not asked again",
                call.method
            ),
            help: Some(format!("see `{OWNS_SILENCE}`")),
        }));
    }
    scene.mark(&session);
    let since = session.state().newest();
    let deliberate = call.bare && session.dialect.is_stateless();
    scene.deliberate |= deliberate || call.answers.is_some();
    let ticket = match session.request(id, &call.method, params, deliberate).await {
        Ok(ticket) => ticket,
        Err(gone) => return Err(lost_call(scene, step, &session, &call.method, Some(gone))),
    };
    if let Some(wanted) = &call.answers {
        let expected = Expected {
            ids: std::slice::from_ref(&ticket.id),
            since,
            may_be_silent: answers::may_be_silent(wanted),
        };
        let came = answers::await_answer(scene, &session, &step.place, expected).await?;
        keep_reply(scene, &came, call.as_name.as_deref());
        answers::judge(scene, &session, &step.place, ticket.sequence, wanted, &came)?;
        if let (false, Some(reply)) = (call.checks.is_empty(), scene.last_reply.clone()) {
            scene.check(&call.checks, &reply)?;
        }
        return Ok(());
    }
    let limit = session.request_limit();
    let reply = session.answer(&ticket, limit).await;
    // Silence to an id that the case chose may be owed to that id.
    if call.id.is_none() && matches!(reply, Reply::Silence(_)) {
        scene.knowledge.remember_silence(&call.method);
    }
    let object = accept(scene, step, &session, &ticket, reply, call.expect)?;
    if let Some(name) = &call.as_name {
        scene.bindings.set(name.clone(), object.clone());
    }
    conclude(scene, &call.checks, &object)
}

/// Without checks the step itself is the proof; otherwise only they are.
pub fn conclude(scene: &mut Scene<'_>, checks: &[Check], object: &Json) -> Played {
    scene.last_reply = Some(object.clone());
    if checks.is_empty() {
        scene.proven += 1;
        return Ok(());
    }
    scene.check(checks, object)
}

pub(super) fn keep_reply(scene: &mut Scene<'_>, came: &Came, name: Option<&str>) {
    let object = match came {
        Came::Result { result, .. } => Some(result.clone()),
        Came::Error { error, .. } => Some(error.clone()),
        Came::Acknowledged { params, .. } => Some(params.clone()),
        Came::Silent | Came::Refused(_) => None,
    };
    if let (Some(name), Some(object)) = (name, &object) {
        scene.bindings.set(name, object.clone());
    }
    scene.last_reply = object;
}

pub(super) fn lost_call(
    scene: &mut Scene<'_>,
    step: &Step,
    session: &Session,
    method: &str,
    gone: Option<Gone>,
) -> Stop {
    let owner = if gone.is_some() { OWNS_DEATH } else { OWNS_SILENCE };
    scene.lost(&step.place, session, &format!("an answer to `{method}`"), gone.as_ref(), owner)
}

/// HTTP gave no message in answer. As with silence, a standing case owns that where nothing odd was asked.
pub(super) fn refused(
    scene: &mut Scene<'_>,
    step: &Step,
    session: &Arc<Session>,
    ticket: &Ticket,
    refusal: &Refusal,
) -> Stop {
    scene.show(session, vec![ticket.sequence, refusal.sequence]);
    // The session has ended: what follows is to begin another.
    scene.spoilt |= refusal.status == Some(404);
    if let Some(gated) = answers::gate(refusal) {
        return gated;
    }
    if scene.deliberate {
        return scene.fault(&step.place, format!("an answer to `{}`", ticket.method), refusal.to_string());
    }
    let owner = if refusal.status.is_some() { OWNS_REFUSAL } else { OWNS_SILENCE };
    Stop::Unproven(Missing {
        reason: format!("not reached: `{}` was answered by {refusal}", ticket.method),
        help: Some(format!("see `{owner}`")),
    })
}

/// The object of the reply that was expected: the result or the error.
pub(super) fn accept(
    scene: &mut Scene<'_>,
    step: &Step,
    session: &Arc<Session>,
    ticket: &Ticket,
    reply: Reply,
    expect: Expect,
) -> Played<Json> {
    match (reply, expect) {
        (Reply::Result { result, sequence }, Expect::Result) => {
            scene.show(session, vec![ticket.sequence, sequence]);
            Ok(result)
        }
        (Reply::Error { error, sequence }, Expect::Error) => {
            scene.show(session, vec![ticket.sequence, sequence]);
            Ok(error)
        }
        (Reply::Result { sequence, .. }, Expect::Error) => {
            scene.show(session, vec![ticket.sequence, sequence]);
            Err(scene.fault(&step.place, format!("an error from `{}`", ticket.method), "a result"))
        }
        (Reply::Error { error, sequence }, Expect::Result) => {
            scene.show(session, vec![ticket.sequence, sequence]);
            let code = error.get("code").map_or_else(|| "without a code".to_owned(), Json::to_string);
            Err(scene.fault(
                &step.place,
                format!("a result from `{}`", ticket.method),
                format!("error {code}"),
            ))
        }
        (Reply::Refused(refusal), _) => Err(refused(scene, step, session, ticket, &refusal)),
        (Reply::Silence(_), _) => Err(lost_call(scene, step, session, &ticket.method, None)),
        (Reply::Gone(gone), _) => Err(lost_call(scene, step, session, &ticket.method, Some(gone))),
    }
}

pub async fn notify(
    scene: &mut Scene<'_>,
    step: &Step,
    method: &str,
    params: &Option<Template>,
    bare: bool,
) -> Played {
    let session = scene.session(step)?;
    let params = scene.resolve_params(params)?;
    scene.mark(&session);
    scene.deliberate |= bare;
    match session.notify(method, params).await {
        Ok(sequence) => {
            scene.show(&session, vec![sequence]);
            Ok(())
        }
        Err(gone) => Err(lost_call(scene, step, &session, method, Some(gone))),
    }
}

pub async fn begin(
    scene: &mut Scene<'_>,
    step: &Step,
    name: &str,
    method: &str,
    params: Option<Json>,
    progress: bool,
    id: &Option<Template>,
) -> Played {
    let session = scene.session(step)?;
    let id = scene.resolve_id(id, &session)?;
    // As unique as the id: on a shared session the request of an earlier case may still be under way.
    let progress_token = progress.then(|| Json::from(format!("progress-{id}").as_str()));
    let params = match &progress_token {
        Some(token) => {
            let mut params = params.unwrap_or_else(|| Json::Object(Object::new()));
            let mut meta = Object::new();
            meta.push("progressToken", token.clone());
            if let Some(object) = params.as_object_mut() {
                object.push("_meta", meta);
            }
            Some(params)
        }
        None => params,
    };
    scene.mark(&session);
    let sent = session.request(id, method, session.dialect.params(params), false).await;
    let ticket = sent.map_err(|gone| lost_call(scene, step, &session, method, Some(gone)))?;
    scene.show(&session, vec![ticket.sequence]);
    scene.pending.insert(name.to_owned(), Pending { ticket, session, progress_token, cancelled: false });
    Ok(())
}

pub async fn await_pending(
    scene: &mut Scene<'_>,
    step: &Step,
    request: &str,
    within: Option<Duration>,
    expect: Expect,
    checks: &[Check],
) -> Played {
    let pending = pending(scene, request)?;
    let limit = within.unwrap_or(pending.session.request_limit());
    let reply = pending.session.answer(&pending.ticket, limit).await;
    let object = accept(scene, step, &pending.session, &pending.ticket, reply, expect)?;
    conclude(scene, checks, &object)
}

pub fn pending(scene: &Scene<'_>, request: &str) -> Played<Pending> {
    let found = scene.pending.get(request).cloned();
    found.ok_or_else(|| Stop::Broken(format!("no request is called `{request}`")))
}

pub async fn cancel(scene: &mut Scene<'_>, step: &Step, pending: &Pending) -> Played {
    let alike = |other: &&mut Pending| {
        Arc::ptr_eq(&other.session, &pending.session) && other.ticket.sequence == pending.ticket.sequence
    };
    if let Some(known) = scene.pending.values_mut().find(alike) {
        known.cancelled = true;
    }
    scene.mark(&pending.session);
    match pending.session.cancel(&pending.ticket).await {
        Ok(()) => Ok(()),
        Err(gone) => Err(lost_call(scene, step, &pending.session, "notifications/cancelled", Some(gone))),
    }
}

/// A further session under a name, or the opening of the case's own.
pub async fn open(scene: &mut Scene<'_>, step: &Step, open: &Open) -> Played {
    let session = match (&open.as_name, scene.unopened.take()) {
        // The case may have spoken to its own process before the opening.
        (None, Some(session)) => session,
        (name, unopened) => {
            scene.unopened = unopened;
            let session = scene.launch(open.beside).await?;
            match name {
                Some(name) => scene.others.insert(name.clone(), session.clone()),
                None => scene.own.replace(session.clone()).and_then(|old| {
                    scene.left.push(old);
                    None
                }),
            };
            session
        }
    };
    if !open.handshake || session.dialect.is_stateless() && open.params.is_none() {
        return Ok(());
    }
    let params = match &open.params {
        Some(params) => scene.resolve(params)?,
        None => session.dialect.initialize_params(),
    };
    let deliberate = open.params.is_some();
    let is_step = open.as_name.is_none();
    scene.deliberate |= is_step && open.answers.is_some();
    let id = scene.resolve_id(&open.id, &session)?;
    let sent = session.request(id, "initialize", Some(params), deliberate).await;
    let ticket = sent.map_err(|gone| lost_call(scene, step, &session, "initialize", Some(gone)))?;
    let reply = session.answer(&ticket, scene.sources.bounds.start).await;
    if let Some(wanted) = &open.answers {
        let came = match reply {
            Reply::Result { result, sequence } => Came::Result { result, sequence },
            Reply::Error { error, sequence } => {
                let code = error.get("code").and_then(Json::as_i64);
                Came::Error { code, with_id: true, error, sequence }
            }
            Reply::Silence(_) => Came::Silent,
            Reply::Refused(refusal) => Came::Refused(refusal),
            Reply::Gone(gone) => return Err(lost_call(scene, step, &session, "initialize", Some(gone))),
        };
        keep_reply(scene, &came, None);
        answers::judge(scene, &session, &step.place, ticket.sequence, wanted, &came)?;
        if let Came::Result { result, .. } = &came
            && !open.checks.is_empty()
        {
            scene.check(&open.checks, result)?;
        }
        if !matches!(came, Came::Result { .. }) {
            return Ok(());
        }
    } else {
        let result = accept(scene, step, &session, &ticket, reply, Expect::Result)?;
        conclude(scene, &open.checks, &result)?;
    }
    let version = scene.last_reply.as_ref().and_then(|result| result.get("protocolVersion")?.as_str());
    if let Some(agreed) = version.and_then(|version| version.parse().ok()) {
        session.agree(agreed);
    }
    if open.initialized {
        let sent = session.notify("notifications/initialized", None).await;
        sent.map_err(|gone| lost_call(scene, step, &session, "notifications/initialized", Some(gone)))?;
        session.open_stream().await;
    }
    Ok(())
}

/// The server still answers, in the same process.
pub async fn alive(scene: &mut Scene<'_>, step: &Step) -> Played {
    let session = scene.session(step)?;
    let before = session.state().newest();
    let reply = session.liveness().await;
    let sent = {
        let state = session.state();
        let later = state.transcript.entries.iter().find(|entry| entry.sequence > before);
        later.map(|entry| entry.sequence)
    };
    match reply {
        Reply::Result { .. } => {
            scene.proven += 1;
            Ok(())
        }
        Reply::Error { sequence, error } => {
            let mut entries: Vec<u64> = sent.into_iter().collect();
            entries.push(sequence);
            scene.show(&session, entries);
            let code = error.get("code").map_or_else(String::new, |code| format!(" {code}"));
            let what = format!("`{}` to be answered by a result", session.dialect.liveness_method());
            Err(scene.fault(&step.place, what, format!("error{code}")))
        }
        Reply::Refused(refusal) => {
            if let Some(gated) = answers::gate(&refusal) {
                return Err(gated);
            }
            let mut entries: Vec<u64> = sent.into_iter().collect();
            entries.push(refusal.sequence);
            scene.show(&session, entries);
            let what = format!("`{}` to be answered by a result", session.dialect.liveness_method());
            Err(scene.fault(&step.place, what, refusal.to_string()))
        }
        Reply::Silence(_) => Err(lost_place(scene, &step.place, &session, None)),
        Reply::Gone(gone) => Err(lost_place(scene, &step.place, &session, Some(gone))),
    }
}

/// The end of the server where only the liveness probe was asked.
pub fn lost_place(scene: &mut Scene<'_>, place: &Place, session: &Session, gone: Option<Gone>) -> Stop {
    let owner = if gone.is_some() { OWNS_DEATH } else { OWNS_SILENCE };
    scene.lost(place, session, "the server to live on and answer", gone.as_ref(), owner)
}
