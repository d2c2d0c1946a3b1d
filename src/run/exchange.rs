//! How does the verb `http` work? An exchange as the case wants it, and what the transcript shows of it.

use super::scene::{Played, Scene, Stop};
use super::talk;
use crate::case::model::{Http, HttpBody, Step, Template};
use crate::judge::exchanges::Exchanges;
use crate::session::{Gone, Session, http::Wanted, request_message};
use crate::wire::Json;
use std::sync::Arc;

pub async fn exchange(scene: &mut Scene<'_>, step: &Step, http: &Http) -> Played {
    let session = scene.session(step)?;
    if !session.is_http() {
        return Err(Stop::Broken(
            "`http` needs a conversation over HTTP: say `transports: [http]`".to_owned(),
        ));
    }
    let body = match &http.body {
        HttpBody::None => None,
        HttpBody::Call { method, params } => {
            let params = session.dialect.params(scene.resolve_params(params)?);
            Some(request_message(&session.fresh_id(), method, params).to_string().into_bytes())
        }
        HttpBody::Text(template) => {
            talk::name_frame_parts(scene, &session);
            Some(scene.resolve_string(template)?.into_bytes())
        }
    };
    let mut headers = Vec::new();
    for (name, value) in &http.headers {
        headers.push((name.to_ascii_lowercase(), header(scene, value)?));
    }
    scene.mark(&session);
    scene.deliberate |= http.deliberate;
    let wanted = Wanted { method: &http.method, headers, body, deliberate: http.deliberate };
    let number = match session.exchange(wanted).await {
        Ok(number) => number,
        Err(gone) => return Err(lost(scene, step, &session, &gone)),
    };
    session.await_exchange(number, http.head_only, session.request_limit()).await;
    if let Some(gone) = session.state().gone() {
        return Err(lost(scene, step, &session, &gone));
    }
    let (view, shown) = {
        let state = session.state();
        let of_it = state.transcript.entries.iter().filter(|entry| entry.exchange == Some(number));
        let exchanges = Exchanges::of(of_it);
        match exchanges.iter().next() {
            Some(exchange) => {
                (exchange.view(), exchange.sent().into_iter().chain(exchange.got()).collect::<Vec<_>>())
            }
            None => return Err(Stop::Broken("the exchange left no trace".to_owned())),
        }
    };
    scene.show(&session, shown);
    scene.exchanges.push((session, number));
    if let Some(name) = &http.as_name {
        scene.bindings.set(name, view.clone());
    }
    talk::conclude(scene, &http.checks, &view)
}

/// The value of a header; none where it is to be left out.
fn header(scene: &Scene<'_>, value: &Template) -> Played<Option<Vec<u8>>> {
    Ok(match scene.resolve(value)? {
        Json::Null => None,
        Json::String(text) => Some(text.to_string_lossy().as_bytes().to_vec()),
        other => Some(other.to_string().into_bytes()),
    })
}

fn lost(scene: &mut Scene<'_>, step: &Step, session: &Arc<Session>, gone: &Gone) -> Stop {
    scene.lost(&step.place, session, "an HTTP response", Some(gone), "stdio/keeps-running")
}
