//! What does each verb do? One function per verb; those that speak are in `talk`, hooks in `stimulus`.

use super::answers::{self, Came, Expected};
use super::exchange;
use super::expand;
use super::frames;
use super::missing::Missing;
use super::paging;
use super::scene::{Followed, Pending, Played, Scene, Stop, as_missing};
use super::stimulus;
use super::talk;
use crate::case::model::{Check, Hear, Heard, HeardKind, Kept, Listen, Pick, Quiet, Step, Template, Verb};
use crate::check::predicate::{all_hold, evaluate};
use crate::dialect::META_SUBSCRIPTION;
use crate::session::{Arrival, Session, State};
use crate::time_limits;
use crate::wire::{Id, Json, Message, Object};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Plays steps in order; the first that stops ends them.
pub async fn play_all(scene: &mut Scene<'_>, steps: &[Step]) -> Played {
    for step in steps {
        play(scene, step).await?;
    }
    Ok(())
}

/// Steps hold steps (`each`, `repeat`, `control`), hence the box.
pub fn play<'s>(
    scene: &'s mut Scene<'_>,
    step: &'s Step,
) -> Pin<Box<dyn Future<Output = Played> + Send + 's>> {
    Box::pin(act(scene, step))
}

async fn act(scene: &mut Scene<'_>, step: &Step) -> Played {
    match &step.verb {
        Verb::Call(call) => talk::call(scene, step, call).await,
        Verb::Notify { method, params, bare } => talk::notify(scene, step, method, params, *bare).await,
        Verb::Send(send) => frames::send(scene, step, send).await,
        Verb::Hear(hear_what) => hear(scene, step, hear_what).await,
        Verb::Quiet(window) => quiet(scene, step, window).await,
        Verb::Pages { of, collect, as_name, pages_as, at_most, checks } => {
            let pages_as = pages_as.as_deref();
            let paging = paging::Paging { method: of, collect, as_name, pages_as, at_most: *at_most, checks };
            paging::pages(scene, step, paging).await
        }
        Verb::Each { within, as_name, sample, steps } => each(scene, within, as_name, *sample, steps).await,
        Verb::Keep(names) => keep(scene, names),
        Verb::Follow { uri, as_name } => follow(scene, step, uri, as_name.as_deref()).await,
        Verb::Unfollow { uri } => unfollow(scene, step, uri).await,
        Verb::Listen(wanted) => listen(scene, step, wanted).await,
        Verb::Stimulate(what) => stimulus::stimulate(scene, step, what).await,
        Verb::Begin { as_name, method, params, progress, id } => {
            let params = scene.resolve_params(params)?;
            talk::begin(scene, step, as_name, method, params, *progress, id).await
        }
        Verb::Await { request, within, expect, checks } => {
            talk::await_pending(scene, step, request, *within, *expect, checks).await
        }
        Verb::Cancel { request } => {
            let pending = talk::pending(scene, request)?;
            talk::cancel(scene, step, &pending).await
        }
        Verb::Settle(time) => {
            tokio::time::sleep(*time).await;
            Ok(())
        }
        Verb::Pipeline(pipeline) => frames::pipeline(scene, step, pipeline).await,
        Verb::Http(http) => exchange::exchange(scene, step, http).await,
        Verb::Expand { template, with, only, as_name } => {
            expand::expand(scene, step, template, with.as_deref(), only.as_ref(), as_name).await
        }
        Verb::Variables { of, as_name } => expand::name_variables(scene, of, as_name),
        Verb::Open(open) => talk::open(scene, step, open).await,
        Verb::EndInput => {
            let session = scene.session(step)?;
            scene.mark(&session);
            let _ = session.end_input().await;
            Ok(())
        }
        Verb::Exits { within, status } => exits(scene, step, *within, *status).await,
        Verb::Alive => talk::alive(scene, step).await,
        Verb::Pick(wanted) => pick(scene, wanted),
        Verb::Control(inner) => {
            let proven = scene.proven;
            let played = play(scene, inner).await.map_err(as_missing);
            scene.proven = proven;
            played
        }
        Verb::Repeat { times, fail, advice, steps } => repeat(scene, *times, *fail, *advice, steps).await,
        Verb::Need { value, checks, otherwise } => need(scene, value, checks, otherwise),
        Verb::Check { value, checks, unless_heard } => {
            look(scene, step, value, checks, unless_heard.as_deref())
        }
    }
}

/// Elements of one `each` that may breach before the rest is left out.
const BREACHES_IN_EACH: usize = 5;

async fn each(
    scene: &mut Scene<'_>,
    within: &Template,
    name: &str,
    sample: Option<usize>,
    steps: &[Step],
) -> Played {
    let Json::Array(mut elements) = scene.resolve(within)? else {
        return Err(Stop::Broken(format!("`each` needs an array for `{name}`")));
    };
    if elements.is_empty() {
        return Err(Stop::Unproven(Missing::because(format!("the server has nothing to take as `{name}`"))));
    }
    if let Some(sample) = sample {
        elements = scene.knowledge.survey.sample(elements, sample, scene.sources.seed);
    }
    let mut first_stop = None;
    let mut breaches = 0;
    for element in elements {
        scene.bindings.set(name, element);
        match play_all(scene, steps).await {
            Ok(()) => {}
            // One element's breach does not hide another's.
            Err(Stop::Breach(finding)) if breaches + 1 < BREACHES_IN_EACH && !scene.spoilt => {
                breaches += 1;
                if scene.part == super::scene::Part::Given {
                    return Err(Stop::Breach(finding));
                }
                scene.sighting.add(*finding);
            }
            // An element that does not apply says nothing about the others.
            Err(Stop::Skip(reason)) => first_stop = first_stop.or(Some(Stop::Skip(reason))),
            Err(stop) => return Err(stop),
        }
    }
    match first_stop {
        Some(stop) if scene.proven == 0 && scene.sighting.findings.is_empty() => Err(stop),
        _ => Ok(()),
    }
}

fn keep(scene: &mut Scene<'_>, names: &[(String, Kept)]) -> Played {
    for (name, kept) in names {
        let value = match kept {
            Kept::Value(template) => scene.resolve(template)?,
            Kept::Pointer(pattern) => {
                let reply = scene.last_reply.clone().unwrap_or(Json::Null);
                let mut found: Vec<Json> =
                    pattern.select(&reply).into_iter().map(|(_, value)| value.clone()).collect();
                if !pattern.is_plain() {
                    Json::Array(found)
                } else if found.len() == 1 {
                    found.remove(0)
                } else {
                    let reason = format!("not reached: the reply has nothing at `{pattern}`");
                    return Err(Stop::Unproven(Missing::because(reason)));
                }
            }
        };
        scene.bindings.set(name.clone(), value);
    }
    Ok(())
}

/// Subscribes, or listens up to the acknowledgement.
async fn follow(scene: &mut Scene<'_>, step: &Step, uri: &Template, name: Option<&str>) -> Played {
    let uri = scene.resolve_string(uri)?;
    let session = scene.session(step)?;
    if !session.dialect.is_stateless() {
        talk::call(scene, step, &subscription_call("resources/subscribe", &uri)).await?;
        scene.followed.insert(uri, Followed::Subscribed(session));
        return Ok(());
    }
    let name = name.unwrap_or(&uri).to_owned();
    let filter = crate::wire::json!({ "resourceSubscriptions": [uri.as_str()] });
    let pending = start_listening(scene, step, &name, filter, None).await?;
    acknowledged(scene, step, &pending).await?;
    scene.proven += 1;
    scene.followed.insert(uri, Followed::Listening(pending));
    Ok(())
}

async fn unfollow(scene: &mut Scene<'_>, step: &Step, uri: &Template) -> Played {
    let uri = scene.resolve_string(uri)?;
    let session = scene.session(step)?;
    let followed = scene.followed.remove(&uri);
    if !session.dialect.is_stateless() {
        return talk::call(scene, step, &subscription_call("resources/unsubscribe", &uri)).await;
    }
    let Some(Followed::Listening(pending)) = followed else {
        return Err(Stop::Broken(format!("`{uri}` is not followed")));
    };
    talk::cancel(scene, step, &pending).await
}

fn subscription_call(method: &str, uri: &str) -> crate::case::model::Call {
    let params = Template::Object(vec![("uri".to_owned(), Template::Literal(Json::from(uri)))]);
    crate::case::model::Call {
        method: method.to_owned(),
        params: Some(params),
        expect: crate::case::model::Expect::Result,
        answers: None,
        checks: Vec::new(),
        as_name: None,
        id: None,
        bare: false,
    }
}

async fn listen(scene: &mut Scene<'_>, step: &Step, wanted: &Listen) -> Played {
    let filter = match &wanted.notifications {
        Some(filter) => Some(scene.resolve(filter)?),
        None => None,
    };
    let Some(lawful) = &wanted.answers else {
        let filter = filter.unwrap_or_else(|| Json::Object(Object::new()));
        let pending = start_listening(scene, step, &wanted.as_name, filter, wanted.id.as_ref()).await?;
        let params = acknowledged(scene, step, &pending).await?;
        scene.last_reply = Some(params.clone());
        if wanted.checks.is_empty() {
            scene.proven += 1;
        }
        return scene.check(&wanted.checks, &params);
    };
    scene.deliberate = true;
    let since = scene.session(step)?.state().newest();
    let pending = match filter {
        Some(filter) => start_listening(scene, step, &wanted.as_name, filter, wanted.id.as_ref()).await?,
        None => {
            talk::begin(scene, step, &wanted.as_name, "subscriptions/listen", None, false, &wanted.id)
                .await?;
            talk::pending(scene, &wanted.as_name)?
        }
    };
    let expected = Expected {
        ids: std::slice::from_ref(&pending.ticket.id),
        since,
        may_be_silent: answers::may_be_silent(lawful),
    };
    let came = answers::await_answer(scene, &pending.session, &step.place, expected).await?;
    answers::judge(scene, &pending.session, &step.place, pending.ticket.sequence, lawful, &came)?;
    match came {
        Came::Acknowledged { params, .. } => {
            scene.last_reply = Some(params.clone());
            scene.check(&wanted.checks, &params)
        }
        _ => Ok(()),
    }
}

async fn start_listening(
    scene: &mut Scene<'_>,
    step: &Step,
    name: &str,
    filter: Json,
    id: Option<&Template>,
) -> Played<Pending> {
    let mut params = Object::new();
    params.push("notifications", filter);
    let params = Some(Json::Object(params));
    talk::begin(scene, step, name, "subscriptions/listen", params, false, &id.cloned()).await?;
    talk::pending(scene, name)
}

/// Waits for the acknowledgement of a listen request; gives back its params.
async fn acknowledged(scene: &mut Scene<'_>, step: &Step, pending: &Pending) -> Played<Json> {
    let Pending { ticket, session, .. } = pending;
    let limit = session.request_limit();
    let acknowledgement = |state: &State| {
        state.inbox.iter().find_map(|arrival| match arrival.reading.message.as_ref()? {
            Message::Notification { method, params: Some(params) }
                if method == "notifications/subscriptions/acknowledged"
                    && tag_of(params).as_ref() == Some(&ticket.id) =>
            {
                Some((params.clone(), arrival.sequence))
            }
            _ => None,
        })
    };
    let ended = |state: &State| {
        let answered = state.answer_to(&ticket.id, ticket.sequence).is_some();
        answered || state.gone().is_some() || state.refusal(ticket.sequence).is_some()
    };
    session.wait(limit, |state| (acknowledgement(state).is_some() || ended(state)).then_some(())).await;
    let found = acknowledgement(&session.state());
    if let Some((params, sequence)) = found {
        scene.show(session, vec![ticket.sequence, sequence]);
        return Ok(params);
    }
    let (gone, answer, refusal) = {
        let state = session.state();
        (state.gone(), state.answer_to(&ticket.id, ticket.sequence), state.refusal(ticket.sequence))
    };
    if let Some(gone) = gone {
        return Err(talk::lost_place(scene, &step.place, session, Some(gone)));
    }
    if let (None, Some(refusal)) = (&answer, refusal) {
        return Err(talk::refused(scene, step, session, ticket, &refusal));
    }
    let got = match answer {
        Some(crate::session::Reply::Error { error, sequence }) => {
            scene.show(session, vec![ticket.sequence, sequence]);
            format!("error {}", error.get("code").map_or_else(String::new, Json::to_string))
        }
        Some(crate::session::Reply::Result { sequence, .. }) => {
            scene.show(session, vec![ticket.sequence, sequence]);
            "a result".to_owned()
        }
        _ => format!("none within {} s", limit.as_secs_f32()),
    };
    Err(scene.fault(&step.place, "an acknowledgement of the subscription", got))
}

fn tag_of(params: &Json) -> Option<Id> {
    Id::from_json(params.get("_meta")?.get(META_SUBSCRIPTION)?)
}

/// What a `hear` or `quiet` means, with its names looked up.
struct Filter<'c> {
    kind: HeardKind,
    tag: Option<Id>,
    token: Option<Json>,
    only: &'c [Check],
}

impl<'c> Filter<'c> {
    fn new(scene: &Scene<'_>, what: &Heard, only: &'c [Check]) -> Played<Self> {
        let tag = match &what.tagged {
            Some(name) => Some(talk::pending(scene, name)?.ticket.id),
            None => None,
        };
        let token = match &what.kind {
            HeardKind::ProgressOf(name) => talk::pending(scene, name)?.progress_token,
            _ => None,
        };
        Ok(Self { kind: what.kind.clone(), tag, token, only })
    }

    /// The params of the message, if it is of this kind.
    fn accepts(&self, scene: &Scene<'_>, arrival: &Arrival) -> Option<Json> {
        let message = arrival.reading.message.as_ref()?;
        let params = match (message, &self.kind) {
            (Message::Notification { method, params }, HeardKind::Method(wanted)) if method == wanted => {
                params.clone()
            }
            (Message::Notification { params, .. }, HeardKind::AnyNotification) => params.clone(),
            (Message::Notification { method, params }, HeardKind::ProgressOf(_))
                if method == "notifications/progress" =>
            {
                let token = params.as_ref()?.get("progressToken")?;
                self.token.as_ref()?.same(token).then_some(())?;
                params.clone()
            }
            (Message::Error { id: None, error }, HeardKind::Unaddressed) => Some(error.clone()),
            (Message::Result { id: None, result }, HeardKind::Unaddressed) => Some(result.clone()),
            (_, HeardKind::Anything) => arrival.reading.json.clone(),
            _ => return None,
        };
        let params = params.unwrap_or_else(|| Json::Object(Object::new()));
        if self.tag.is_some() && tag_of(&params) != self.tag {
            return None;
        }
        all_hold(self.only, &params, &scene.bindings).unwrap_or(false).then_some(params)
    }

    /// Whether it is told of changes, and so belongs to no request.
    fn is_of_changes(&self) -> bool {
        match &self.kind {
            HeardKind::Method(method) => {
                method == "notifications/resources/updated" || method.ends_with("/list_changed")
            }
            HeardKind::AnyNotification => true,
            HeardKind::ProgressOf(_) | HeardKind::Unaddressed | HeardKind::Anything => false,
        }
    }

    fn name(&self) -> String {
        match &self.kind {
            HeardKind::Method(method) => format!("`{method}`"),
            HeardKind::AnyNotification => "a notification".to_owned(),
            HeardKind::ProgressOf(name) => format!("progress of `{name}`"),
            HeardKind::Unaddressed => "an answer without a request".to_owned(),
            HeardKind::Anything => "a message".to_owned(),
        }
    }
}

/// The first message of the kind since the last acting step that no `hear` has taken.
fn first_match(scene: &Scene<'_>, filter: &Filter<'_>, state: &State) -> Option<(Arrival, Json)> {
    let conversation = state.transcript.head.conversation;
    let mark = scene.marks.get(&conversation).copied().unwrap_or(0);
    state.inbox.iter().find_map(|arrival| {
        let fresh = arrival.sequence > mark && !scene.taken.contains(&(conversation, arrival.sequence));
        let params = fresh.then(|| filter.accepts(scene, arrival))??;
        Some((arrival.clone(), params))
    })
}

/// When the last acting step began, as the conversation counts time.
fn mark_time(scene: &Scene<'_>, session: &Session) -> Duration {
    let state = session.state();
    let mark = scene.marks.get(&state.transcript.head.conversation).copied().unwrap_or(0);
    let after = state.transcript.entries.iter().find(|entry| entry.sequence > mark);
    after.map_or_else(|| state.elapsed(), |entry| entry.at)
}

/// Why a message of this kind may have been missed since the last acting step, if it may have been: over HTTP, the
/// stream that would have brought it was not open all the time.
fn missed(scene: &Scene<'_>, session: &Arc<Session>, filter: &Filter<'_>) -> Option<&'static str> {
    let state = session.state();
    if !session.dialect.is_stateless() {
        let mark = scene.marks.get(&state.transcript.head.conversation).copied().unwrap_or(0);
        return state.missed_since(mark);
    }
    let concerned = scene.pending.values().filter(|pending| {
        let is_meant = filter.tag.as_ref().is_none_or(|tag| *tag == pending.ticket.id);
        let listens = pending.ticket.method == "subscriptions/listen" && !pending.cancelled;
        is_meant && listens && Arc::ptr_eq(&pending.session, session)
    });
    let is_cut = concerned.into_iter().any(|pending| state.is_cut(pending.ticket.sequence));
    is_cut.then_some("the stream of the subscription was cut off meanwhile")
}

async fn hear(scene: &mut Scene<'_>, step: &Step, hear: &Hear) -> Played {
    let session = scene.session(step)?;
    let filter = Filter::new(scene, &hear.what, &hear.only)?;
    let limit = hear.within.unwrap_or_else(|| scene.sources.patience());
    let found = session
        .wait(limit, |state| {
            first_match(scene, &filter, state).map(Some).or_else(|| state.gone().map(|_| None))
        })
        .await
        .flatten();
    let Some((arrival, params)) = found else {
        let gone = session.state().gone();
        if let Some(gone) = gone {
            return Err(talk::lost_place(scene, &step.place, &session, Some(gone)));
        }
        stimulus::prove_change(scene).await?;
        if let Some(reason) = missed(scene, &session, &filter) {
            return Err(Stop::Unproven(Missing::because(reason.to_owned())));
        }
        return Err(scene.fault(
            &step.place,
            filter.name(),
            format!("none within {} s", limit.as_secs_f32()),
        ));
    };
    scene.change = None;
    let conversation = session.state().transcript.head.conversation;
    let delay = arrival.at.saturating_sub(mark_time(scene, &session));
    scene.taken.insert((conversation, arrival.sequence));
    let longest = scene.delays.entry(kind_key(&hear.what.kind)).or_default();
    *longest = delay.max(*longest);
    if let Some(name) = &hear.as_name {
        scene.bindings.set(name.clone(), params.clone());
    }
    scene.show(&session, vec![arrival.sequence]);
    if hear.checks.is_empty() {
        scene.proven += 1;
        return Ok(());
    }
    scene.check(&hear.checks, &params)
}

fn kind_key(kind: &HeardKind) -> String {
    format!("{kind:?}")
}

/// Nothing of the kind comes. Fenced by a round trip, and as long as what armed it took, several times over.
async fn quiet(scene: &mut Scene<'_>, step: &Step, window: &Quiet) -> Played {
    let session = scene.session(step)?;
    let filter = Filter::new(scene, &window.what, &window.only)?;
    let began = mark_time(scene, &session);
    let input_ended = {
        let state = session.state();
        state.transcript.entries.iter().any(|entry| entry.channel == crate::transcript::Channel::EndOfInput)
    };
    if !input_ended && !matches!(filter.kind, HeardKind::Anything) {
        match session.liveness().await {
            crate::session::Reply::Silence(_) => {
                return Err(talk::lost_place(scene, &step.place, &session, None));
            }
            crate::session::Reply::Gone(gone) => {
                return Err(talk::lost_place(scene, &step.place, &session, Some(gone)));
            }
            crate::session::Reply::Refused(refusal) => {
                return Err(Stop::Unproven(Missing::because(format!(
                    "not reached: a sign of life met {refusal}"
                ))));
            }
            crate::session::Reply::Result { .. } | crate::session::Reply::Error { .. } => {}
        }
    }
    let armed = scene.delays.get(&kind_key(&window.what.kind)).copied().unwrap_or_default();
    let time = window.for_time.max(armed * time_limits::QUIET_SCALE).min(scene.sources.patience());
    let found = session.wait(time, |state| first_match(scene, &filter, state)).await;
    let Some((arrival, _)) = found else {
        stimulus::prove_change(scene).await?;
        // Silence where nobody could speak proves nothing.
        if let Some(reason) = missed(scene, &session, &filter).filter(|_| filter.is_of_changes()) {
            return Err(Stop::Unproven(Missing::because(reason.to_owned())));
        }
        scene.proven += 1;
        return Ok(());
    };
    scene.show(&session, vec![arrival.sequence]);
    let after = arrival.at.saturating_sub(began).as_millis();
    Err(scene.fault(&step.place, format!("no {}", filter.name()), format!("one after {after} ms")))
}

async fn exits(scene: &mut Scene<'_>, step: &Step, within: Duration, status: Option<i32>) -> Played {
    let session = scene.session(step)?;
    scene.spoilt = true;
    let Some(exit) = session.exit(within).await else {
        let expected = format!("the server to exit within {} s", within.as_secs_f32());
        return Err(scene.fault(&step.place, expected, "a server that still runs"));
    };
    match status {
        Some(wanted) if exit.status != Some(wanted) => {
            let mut finding = scene.fault_finding(
                &step.place,
                format!("the server to exit with status {wanted}"),
                format!("a server that {exit}"),
            );
            finding.notes = crate::judge::standing::end_notes(&session.state().transcript);
            Err(Stop::Breach(Box::new(finding)))
        }
        _ => {
            scene.proven += 1;
            Ok(())
        }
    }
}

fn pick(scene: &mut Scene<'_>, pick: &Pick) -> Played {
    match pick {
        Pick::From { list, only, otherwise, as_name } => {
            let Json::Array(elements) = scene.resolve(list)? else {
                return Err(Stop::Broken(format!("`pick` needs an array for `{as_name}`")));
            };
            for element in elements {
                if all_hold(only, &element, &scene.bindings).map_err(super::scene::unresolved)? {
                    scene.bindings.set(as_name.clone(), element);
                    return Ok(());
                }
            }
            Err(Stop::Skip(otherwise.clone()))
        }
        Pick::AbsentLike { uri, outside, as_name } => {
            let ghost = expand::absent_like(scene, uri, outside.as_ref())?;
            scene.bindings.set(as_name.clone(), ghost.as_str());
            Ok(())
        }
    }
}

async fn repeat(
    scene: &mut Scene<'_>,
    times: usize,
    fail: usize,
    advice: Option<usize>,
    steps: &[Step],
) -> Played {
    let mut findings = Vec::new();
    for _ in 0..times {
        match play_all(scene, steps).await {
            Ok(()) => {}
            Err(Stop::Breach(finding)) => findings.push(finding),
            Err(stop) => return Err(stop),
        }
    }
    let count = findings.len();
    let Some(mut finding) = findings.pop() else { return Ok(()) };
    finding.notes.push(format!("seen in {count} of {times} runs"));
    if count >= fail {
        return Err(Stop::Breach(finding));
    }
    if advice.is_some_and(|advice| count >= advice) {
        finding.outcome = crate::record::Outcome::Advice;
        scene.sighting.add(*finding);
    }
    Ok(())
}

fn need(scene: &mut Scene<'_>, value: &Template, checks: &[Check], otherwise: &str) -> Played {
    let Ok(value) = scene.bindings.resolve(value) else { return Err(Stop::Skip(otherwise.to_owned())) };
    for check in checks {
        let judgement = evaluate(check, &value, &scene.bindings).map_err(super::scene::unresolved)?;
        if !judgement.holds() {
            return Err(Stop::Skip(otherwise.to_owned()));
        }
    }
    Ok(())
}

fn look(
    scene: &mut Scene<'_>,
    step: &Step,
    value: &Template,
    checks: &[Check],
    unless_heard: Option<&str>,
) -> Played {
    let value = scene.resolve(value)?;
    let result = scene.check(checks, &value);
    if result.is_err()
        && let Some(method) = unless_heard
        && scene.session(step).is_ok_and(|session| was_heard(scene, &session, method))
    {
        let reason = format!("not reached: `{method}` came meanwhile, so the comparison proves nothing");
        return Err(Stop::Unproven(Missing::because(reason)));
    }
    result
}

/// Whether a notification has come since the case began.
fn was_heard(scene: &Scene<'_>, session: &Arc<Session>, method: &str) -> bool {
    let state = session.state();
    let since = scene.since.get(&state.transcript.head.conversation).copied().unwrap_or(0);
    state.inbox.iter().any(|arrival| {
        let message = arrival.reading.message.as_ref();
        arrival.sequence > since && message.and_then(Message::method) == Some(method)
    })
}
