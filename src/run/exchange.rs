//! How does the verb `http` work? An exchange as the case wants it, and what the transcript shows of it.

use super::answers;
use super::scene::{Played, Scene, Stop};
use super::{frames, talk};
use crate::case::model::{Http, HttpAct, HttpBody, Step, Template};
use crate::judge::exchanges::Exchanges;
use crate::session::{Gone, Session, Wanted, request_message};
use crate::wire::Json;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

pub async fn exchange(scene: &mut Scene<'_>, step: &Step, http: &Http) -> Played {
    let session = scene.session(step)?;
    if !session.is_http() {
        return Err(Stop::Broken(
            "`http` needs a conversation over HTTP: say `transports: [http]`".to_owned(),
        ));
    }
    let number = match &http.act {
        HttpAct::Begin => begin(scene, step, &session, http).await?,
        HttpAct::Again(name) => number_of(scene, name)?,
        HttpAct::Leave(name) => {
            let number = number_of(scene, name)?;
            session.abandon_exchange(number).await.map_err(|gone| lost(scene, step, &session, &gone))?;
            session.await_exchange(number, false, session.request_limit()).await;
            number
        }
    };
    if let Some(gone) = session.state().gone() {
        return Err(lost(scene, step, &session, &gone));
    }
    let found = {
        let state = session.state();
        let exchanges = Exchanges::of(&state.transcript.entries);
        let found = exchanges.view_of(number);
        found.map(|(exchange, view)| (view, exchange.sent().into_iter().chain(exchange.got()).collect()))
    };
    let Some((view, shown)) = found else {
        return Err(Stop::Broken("the exchange left no trace".to_owned()));
    };
    scene.show(&session, shown);
    let earlier = match &http.act {
        HttpAct::Begin => None,
        HttpAct::Again(name) | HttpAct::Leave(name) => Some(name),
    };
    if let Some(name) = http.as_name.as_ref().or(earlier) {
        scene.bindings.set(name, view.clone());
    }
    let status = view.get("status").and_then(Json::as_i64).and_then(|status| u16::try_from(status).ok());
    if let Some(status) = status.filter(|status| answers::is_of_a_gateway(*status)) {
        return Err(answers::gated(status));
    }
    talk::conclude(scene, &http.checks, &view)
}

async fn begin(scene: &mut Scene<'_>, step: &Step, session: &Arc<Session>, http: &Http) -> Played<u64> {
    let body = match &http.body {
        HttpBody::None => None,
        HttpBody::Call { method, params } => {
            let params = session.dialect.params(scene.resolve_params(params)?);
            Some(request_message(&session.fresh_id(), method, params).to_string().into_bytes())
        }
        HttpBody::Text(template) => {
            frames::name_frame_parts(scene, session);
            Some(scene.resolve_string(template)?.into_bytes())
        }
    };
    let mut headers = Vec::new();
    for (name, value) in &http.headers {
        headers.push((name.clone(), header(scene, value)?));
    }
    scene.mark(session);
    scene.deliberate |= http.deliberate;
    let wanted = Wanted { method: &http.method, headers, body, deliberate: http.deliberate };
    let number = session.exchange(wanted).await.map_err(|gone| lost(scene, step, session, &gone))?;
    scene.exchanges.push((session.clone(), number));
    session.await_exchange(number, http.head_only, session.request_limit()).await;
    Ok(number)
}

/// The number of an exchange that has a name.
fn number_of(scene: &Scene<'_>, name: &str) -> Played<u64> {
    let number = scene.bindings.get(name).and_then(|view| view.get("number")?.as_i64());
    number
        .and_then(|number| u64::try_from(number).ok())
        .ok_or_else(|| Stop::Broken(format!("`{name}` is no exchange over HTTP")))
}

/// The value of a header; none where it is to be left out. A map of `before`, `base64` and `after` is a text in Base64
/// with others around it.
fn header(scene: &Scene<'_>, value: &Template) -> Played<Option<Vec<u8>>> {
    Ok(match scene.resolve(value)? {
        Json::Null => None,
        Json::String(text) => Some(text.to_string_lossy().as_bytes().to_vec()),
        Json::Object(parts) => {
            let part = |name| parts.get(name).and_then(Json::as_str).unwrap_or_default();
            let text = [part("before"), &STANDARD.encode(part("base64")), part("after")].concat();
            Some(text.into_bytes())
        }
        other => Some(other.to_string().into_bytes()),
    })
}

fn lost(scene: &mut Scene<'_>, step: &Step, session: &Arc<Session>, gone: &Gone) -> Stop {
    scene.lost(&step.place, session, "an HTTP response", Some(gone), talk::OWNS_DEATH)
}
