//! How is a list read to its end? The verb `pages`.

use super::missing::Missing;
use super::scene::{Played, Scene, Stop};
use super::talk::{accept, lost_call};
use crate::case::model::{Check, Expect, Step};
use crate::check::pattern::Pattern;
use crate::session::{Reply, Session};
use crate::wire::{Json, Object};
use std::sync::Arc;

/// The verb `pages`, taken apart.
pub struct Paging<'a> {
    pub method: &'a str,
    pub collect: &'a Pattern,
    pub as_name: &'a str,
    pub pages_as: Option<&'a str>,
    pub at_most: usize,
    pub checks: &'a [Check],
}

pub async fn pages(scene: &mut Scene<'_>, step: &Step, paging: Paging<'_>) -> Played {
    let session = scene.session(step)?;
    scene.mark(&session);
    let mut cursor: Option<Json> = None;
    let mut seen: Vec<Json> = Vec::new();
    let mut collected = Vec::new();
    let mut results = Vec::new();
    loop {
        if results.len() >= paging.at_most {
            return Err(Stop::Unproven(Missing::because(format!(
                "`{}` has more than {} pages",
                paging.method, paging.at_most
            ))));
        }
        let page = page(scene, step, &session, paging.method, cursor.take()).await?;
        scene.last_reply = Some(page.clone());
        scene.check(paging.checks, &page)?;
        collected.extend(paging.collect.select(&page).into_iter().map(|(_, value)| value.clone()));
        let next = page.get("nextCursor").filter(|next| !next.is_null()).cloned();
        if paging.pages_as.is_some() {
            results.push(page);
        } else {
            results.push(Json::Null);
        }
        let Some(next) = next else { break };
        if seen.iter().any(|known| known.same(&next)) {
            return Err(scene.fault(
                &step.place,
                "each cursor to lead on",
                format!("the cursor {next} again"),
            ));
        }
        seen.push(next.clone());
        cursor = Some(next);
    }
    if paging.checks.is_empty() {
        scene.proven += 1;
    }
    scene.bindings.set(paging.as_name, Json::Array(collected));
    if let Some(name) = paging.pages_as {
        scene.bindings.set(name, Json::Array(results));
    }
    Ok(())
}

/// One page of a list.
async fn page(
    scene: &mut Scene<'_>,
    step: &Step,
    session: &Arc<Session>,
    method: &str,
    cursor: Option<Json>,
) -> Played<Json> {
    let params = cursor.map(|cursor| {
        let mut params = Object::new();
        params.push("cursor", cursor);
        Json::Object(params)
    });
    if scene.knowledge.is_silent(method) {
        return Err(lost_call(scene, step, session, method, None));
    }
    let sent = session.request(session.fresh_id(), method, session.dialect.params(params), false).await;
    let ticket = sent.map_err(|gone| lost_call(scene, step, session, method, Some(gone)))?;
    let reply = session.answer(&ticket, session.request_limit()).await;
    if matches!(reply, Reply::Silence(_)) {
        scene.knowledge.remember_silence(method);
    }
    accept(scene, step, session, &ticket, reply, Expect::Result)
}
