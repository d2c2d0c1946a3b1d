//! Does a server change by itself? Then waiting is a stimulus, and nobody need say how to make it change.

use super::detect::{self, Opening};
use super::sources::{Knowledge, Sources};
use super::stimulus;
use super::survey::Listed;
use crate::case::model::Capability;
use crate::profile::Hook;
use crate::revision::Era;
use crate::session::{Reply, Session, State};
use crate::time_limits;
use crate::wire::{Json, Message, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Whether it is worth looking: there are updates to follow, and nobody has said how to bring them about.
pub fn is_worthwhile(sources: &Sources, knowledge: &Knowledge) -> bool {
    let profile = sources.profile();
    profile.touch.is_none()
        && knowledge.declares(Capability::Subscribe)
        && !knowledge.survey.resources.is_empty()
        && !sources.is_single()
}

/// Follows a few resources and does nothing. A resource whose updates come again and again, and whose contents differ
/// then, changes by itself: the profile learns to wait for it. Gives back the conversation.
pub async fn watch(sources: &Sources, knowledge: &Knowledge) -> Option<Arc<Session>> {
    let session = open(sources, knowledge).await?;
    if let Some((uri, period)) = find(sources, knowledge, &session).await {
        let mut profile = sources.profile().clone();
        profile.touchable = vec![uri];
        profile.touch = Some(Hook::Wait(period + period / 4));
        profile.patience.get_or_insert((period * 3).max(time_limits::UNPROVOKED));
        sources.learn(profile);
    }
    Some(session)
}

async fn open(sources: &Sources, knowledge: &Knowledge) -> Option<Arc<Session>> {
    const PURPOSE: &str = "waiting for changes";
    if knowledge.revision.era() == Era::Stateless {
        return sources.begin(knowledge.revision, PURPOSE).await.ok().map(Arc::new);
    }
    match detect::initialize(sources, knowledge.revision, PURPOSE).await {
        Opening::Spoken(opened) => Some(opened.session),
        _ => None,
    }
}

/// A resource that changes by itself, and how long that takes.
async fn find(sources: &Sources, knowledge: &Knowledge, session: &Session) -> Option<(String, Duration)> {
    let told = sources.profile().touchable.clone();
    let uris = if told.is_empty() { ends(&knowledge.survey.resources) } else { told };
    let mut before = Vec::new();
    for uri in uris {
        // Of a resource that reads differently each time, no change can be seen.
        if let Some(contents) = stimulus::steady(session, &uri).await {
            before.push((uri, contents));
        }
    }
    let since = session.state().newest();
    let uris: Vec<&str> = before.iter().map(|(uri, _)| uri.as_str()).collect();
    if !follow(session, &uris).await {
        return None;
    }
    let (uri, first) = update(session, &uris, since).await?;
    let (_, contents) = before.iter().find(|(known, _)| *known == uri)?;
    if stimulus::read(session, &uri).await?.same(contents) {
        return None;
    }
    let began = Instant::now();
    update(session, &[uri.as_str()], first).await?;
    Some((uri, began.elapsed().max(time_limits::SETTLE)))
}

/// The first, the last, and one between.
fn ends(listed: &[Listed]) -> Vec<String> {
    let count = listed.len();
    let mut places = vec![0, count / 2, count.saturating_sub(1)];
    places.dedup();
    places.iter().filter_map(|place| listed.get(*place)).map(|one| one.uri.clone()).collect()
}

/// Whether any of them can be followed.
async fn follow(session: &Session, uris: &[&str]) -> bool {
    if session.dialect.is_stateless() {
        let filter = json!({ "notifications": { "resourceSubscriptions": uris.to_vec() } });
        let params = session.dialect.params(Some(filter));
        let sent = session.request(session.fresh_id(), "subscriptions/listen", params, false).await;
        return !uris.is_empty() && sent.is_ok();
    }
    let mut followed = false;
    for uri in uris {
        let reply = session.call("resources/subscribe", Some(json!({ "uri": *uri }))).await;
        followed |= matches!(reply, Reply::Result { .. });
    }
    followed
}

/// The next update of one of these after an entry: its URI and its entry.
async fn update(session: &Session, uris: &[&str], since: u64) -> Option<(String, u64)> {
    let look = |state: &State| {
        state.inbox.iter().filter(|arrival| arrival.sequence > since).find_map(|arrival| {
            let Message::Notification { method, params } = arrival.reading.message.as_ref()? else {
                return None;
            };
            let uri = params.as_ref()?.get("uri").and_then(Json::as_str)?;
            let is_meant = method == "notifications/resources/updated" && uris.contains(&uri);
            is_meant.then(|| (uri.to_owned(), arrival.sequence))
        })
    };
    session
        .wait(time_limits::UNPROVOKED, |state| look(state).map(Some).or_else(|| state.gone().map(|_| None)))
        .await
        .flatten()
}
