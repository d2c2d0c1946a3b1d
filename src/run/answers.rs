//! Which of the lawful answers came? The names of the answer table, applied to what the server said.

use super::missing::Missing;
use super::scene::{Played, Scene, Stop, unresolved};
use super::talk::OWNS_DEATH;
use crate::case::model::{Answer, Answers};
use crate::check::predicate::all_hold;
use crate::dialect::{Dialect, META_SUBSCRIPTION};
use crate::record::{Outcome, Place, Transport};
use crate::session::{Gone, Refusal, Reply, Session, State};
use crate::time_limits;
use crate::wire::{Id, Json, Message};
use std::sync::Arc;
use tokio::time::Instant;

/// What came after a frame.
#[derive(Debug, Clone)]
pub enum Came {
    Silent,
    Result {
        result: Json,
        sequence: u64,
    },
    Error {
        code: Option<i64>,
        with_id: bool,
        error: Json,
        sequence: u64,
    },
    Acknowledged {
        params: Json,
        sequence: u64,
    },
    /// HTTP's own answer, with no message in it.
    Refused(Refusal),
}

impl Came {
    fn sequence(&self) -> Option<u64> {
        match self {
            Self::Silent => None,
            Self::Result { sequence, .. }
            | Self::Error { sequence, .. }
            | Self::Acknowledged { sequence, .. }
            | Self::Refused(Refusal { sequence, .. }) => Some(*sequence),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Silent => "silence".to_owned(),
            Self::Refused(refusal) => refusal.to_string(),
            Self::Result { .. } => "a result".to_owned(),
            Self::Acknowledged { .. } => "an acknowledgement".to_owned(),
            Self::Error { code, with_id, .. } => {
                let code = code.map_or_else(
                    || "an error without an integer code".to_owned(),
                    |code| format!("error {code}"),
                );
                if *with_id { code } else { format!("{code} without the request's id") }
            }
        }
    }
}

/// What to wait for.
pub struct Expected<'a> {
    /// The ids that the frame holds, if it can be answered by one.
    pub ids: &'a [Id],
    /// The newest entry before the frame was sent.
    pub since: u64,
    /// Where silence is lawful, a round trip and a short wait prove it; otherwise the whole time limit does.
    pub may_be_silent: bool,
}

/// Finds the answer in what has come so far.
fn find(session: &Session, expected: &Expected<'_>) -> Option<Came> {
    find_in(&session.state(), expected)
}

fn find_in(state: &State, expected: &Expected<'_>) -> Option<Came> {
    state.inbox.iter().filter(|arrival| arrival.sequence > expected.since).find_map(|arrival| {
        let sequence = arrival.sequence;
        match arrival.reading.message.as_ref()? {
            Message::Result { id: Some(id), result } if expected.ids.contains(id) => {
                Some(Came::Result { result: result.clone(), sequence })
            }
            Message::Error { id, error } => {
                let with_id = match id {
                    Some(id) if expected.ids.contains(id) => true,
                    // Another request's error.
                    Some(_) => return None,
                    // The response that it came in belongs to our request.
                    None => state.is_refused(sequence),
                };
                let code = error.get("code").and_then(Json::as_i64);
                Some(Came::Error { code, with_id, error: error.clone(), sequence })
            }
            Message::Notification { method, params: Some(params) }
                if method == "notifications/subscriptions/acknowledged" =>
            {
                let tag = params.get("_meta").and_then(|meta| Id::from_json(meta.get(META_SUBSCRIPTION)?))?;
                expected.ids.contains(&tag).then(|| Came::Acknowledged { params: params.clone(), sequence })
            }
            _ => None,
        }
    })
}

/// Waits for the answer, or for proof that there is none.
pub async fn await_answer(
    scene: &mut Scene<'_>,
    session: &Arc<Session>,
    place: &Place,
    expected: Expected<'_>,
) -> Played<Came> {
    let what = "the server to live on after the frame";
    match wait_for(session, &expected).await {
        Ok(came) => Ok(came.unwrap_or(Came::Silent)),
        Err(Lost::Gone(gone)) => Err(scene.lost(place, session, what, Some(&gone), OWNS_DEATH)),
        Err(Lost::Mute) => Err(scene.lost(place, session, what, None, OWNS_DEATH)),
        Err(Lost::Refused(refusal)) => Err(gate(&refusal).unwrap_or_else(|| {
            scene.show(session, vec![refusal.sequence]);
            scene.lost_to(place, session, what, refusal.to_string(), OWNS_DEATH)
        })),
    }
}

/// Why the liveness probe after a frame was not answered.
enum Lost {
    Gone(Gone),
    /// It runs, and says nothing.
    Mute,
    Refused(Refusal),
}

async fn wait_for(session: &Session, expected: &Expected<'_>) -> Result<Option<Came>, Lost> {
    let limit = session.request_limit();
    let sent = session.state().newest();
    if !expected.may_be_silent {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(came) = find(session, expected) {
                return Ok(Some(came));
            }
            if let Some(gone) = session.state().gone() {
                return Err(Lost::Gone(gone));
            }
            if let Some(refusal) = session.state().refusal_between(expected.since, sent) {
                return Ok(Some(Came::Refused(refusal)));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let newest = session.state().newest();
            session.wait(left, |state| (state.newest() > newest).then_some(())).await;
        }
    }
    let asked = Instant::now();
    match session.liveness().await {
        Reply::Gone(gone) => return Err(Lost::Gone(gone)),
        Reply::Silence(_) => return Err(Lost::Mute),
        Reply::Refused(refusal) => return Err(Lost::Refused(refusal)),
        Reply::Result { .. } | Reply::Error { .. } => {}
    }
    if session.is_http() {
        // The probe went another way, and proves nothing of how long the answer may take; HTTP says when none comes.
        let over =
            |state: &State| find_in(state, expected).is_some() || state.is_over_between(expected.since, sent);
        session.wait(limit, |state| over(state).then_some(())).await;
    } else if find(session, expected).is_none() {
        let settle = time_limits::SETTLE.max(asked.elapsed() * time_limits::QUIET_SCALE);
        tokio::time::sleep(settle.min(limit)).await;
    }
    let refusal = || session.state().refusal_between(expected.since, sent).map(Came::Refused);
    Ok(find(session, expected).or_else(refusal))
}

/// Whether a status says nothing of the server's rules: it counts requests, or stands before the server.
pub fn is_of_a_gateway(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// Whether HTTP's answer is about who asks, or how often: that is another question than how a request is answered.
pub fn gate(refusal: &Refusal) -> Option<Stop> {
    let status = refusal.status?;
    (is_of_a_gateway(status) || matches!(status, 401 | 403)).then(|| gated(status))
}

/// Such a status came.
pub fn gated(status: u16) -> Stop {
    Stop::Unproven(Missing::because(format!(
        "not reached: HTTP status {status}, of a limit or of what stands before the server"
    )))
}

/// Judges what came by the lists: the first list that holds it decides.
pub fn judge(
    scene: &mut Scene<'_>,
    session: &Arc<Session>,
    place: &Place,
    sent: u64,
    answers: &Answers,
    came: &Came,
) -> Played {
    let mut entries = vec![sent];
    entries.extend(came.sequence());
    scene.show(session, entries);
    if let Came::Refused(refusal) = came
        && let Some(gated) = gate(refusal)
    {
        return Err(gated);
    }
    let lists = [
        (&answers.pass, None),
        (&answers.advice, Some(Outcome::Advice)),
        (&answers.note, Some(Outcome::Note)),
        (&answers.fail, Some(Outcome::Fail)),
    ];
    for (list, outcome) in lists {
        for answer in list {
            if !is(scene, answer, came)? {
                continue;
            }
            let Some(outcome) = outcome else {
                scene.proven += 1;
                return Ok(());
            };
            let mut finding = scene.fault_finding(place, wanted(answers), came.describe());
            finding.outcome = outcome;
            if outcome == Outcome::Fail {
                return Err(Stop::Breach(Box::new(finding)));
            }
            // Advice does not end the case: what follows may be worse.
            scene.sighting.add(finding);
            return Ok(());
        }
    }
    Err(scene.fault(place, wanted(answers), came.describe()))
}

fn is(scene: &Scene<'_>, answer: &Answer, came: &Came) -> Played<bool> {
    let not_found = Dialect::new(scene.knowledge.revision).not_found_code();
    Ok(match (answer, came) {
        (Answer::Silent, Came::Silent) => true,
        (answer, Came::Refused(Refusal { status: Some(status), .. })) => match answer {
            Answer::Silent => *status < 500,
            Answer::Parse | Answer::Invalid | Answer::InvalidWithoutId | Answer::Params => {
                (400..500).contains(status)
            }
            Answer::AnyError => *status >= 400,
            _ => false,
        },
        (Answer::Acknowledged, Came::Acknowledged { .. }) => true,
        (Answer::Result(checks), Came::Result { result, .. }) => {
            all_hold(checks, result, &scene.bindings).map_err(unresolved)?
        }
        (answer, Came::Error { code: Some(code), with_id, .. }) => {
            is_error(answer, *code, *with_id, not_found, scene.sources.transport(scene.knowledge.revision))
        }
        _ => false,
    })
}

/// Whether an answer is this error; `not_found` is the revision's code for a resource that is not there.
fn is_error(answer: &Answer, code: i64, with_id: bool, not_found: i64, transport: Transport) -> bool {
    match answer {
        Answer::Parse => code == -32700,
        Answer::Invalid => code == -32600,
        Answer::InvalidWithoutId => code == -32600 && !with_id,
        Answer::Params => code == -32602 && with_id,
        Answer::Method => code == -32601 && with_id,
        Answer::NotFound => code == not_found && with_id,
        Answer::Mismatch => code == -32020 && with_id && transport == Transport::Http,
        Answer::AnyError => with_id,
        Answer::Code(wanted) => code == *wanted && with_id,
        Answer::Silent | Answer::Result(_) | Answer::Acknowledged => false,
    }
}

/// "error -32600 or silence".
fn wanted(answers: &Answers) -> String {
    let names: Vec<String> = answers.pass.iter().map(name).collect();
    match names.as_slice() {
        [] => "another answer".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

fn name(answer: &Answer) -> String {
    match answer {
        Answer::Silent => "silence".to_owned(),
        Answer::Parse => "error -32700".to_owned(),
        Answer::Invalid => "error -32600".to_owned(),
        Answer::InvalidWithoutId => "error -32600 without an id".to_owned(),
        Answer::Params => "error -32602".to_owned(),
        Answer::Method => "error -32601".to_owned(),
        Answer::NotFound => "the error for a resource that is not there".to_owned(),
        Answer::Mismatch => "over HTTP error -32020".to_owned(),
        Answer::Result(checks) if checks.is_empty() => "a result".to_owned(),
        Answer::Result(_) => "a result that passes its checks".to_owned(),
        Answer::AnyError => "an error".to_owned(),
        Answer::Code(code) => format!("error {code}"),
        Answer::Acknowledged => "an acknowledgement".to_owned(),
    }
}

/// Whether silence is lawful. Where it is held against the server, only the whole time limit proves it.
pub fn may_be_silent(answers: &Answers) -> bool {
    let lists = [&answers.pass, &answers.note];
    lists.iter().any(|list| list.iter().any(|answer| matches!(answer, Answer::Silent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_body_disagree_over_http_alone() {
        let is = |code, transport| is_error(&Answer::Mismatch, code, true, -32602, transport);
        assert!(is(-32020, Transport::Http));
        assert!(!is(-32020, Transport::Stdio));
        assert!(!is(-32602, Transport::Http));
    }
}
