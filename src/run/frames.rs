//! How do raw frames and several frames at once go out, and what is each of them owed?

use super::answers::{self, Expected};
use super::scene::{Played, Scene, Stop};
use super::talk::{keep_reply, lost_call};
use crate::case::model::{Answers, Content, Pipeline, PipelineFrame, PipelineHow, Send, Step, Template};
use crate::session::{Gone, Session, request_message};
use crate::time_limits;
use crate::wire::{Id, Json, json};
use std::sync::Arc;

pub async fn send(scene: &mut Scene<'_>, step: &Step, send: &Send) -> Played {
    let session = scene.session(step)?;
    let (id, id2) = name_frame_parts(scene, &session);
    let text = |template: &Template| scene.bindings.resolve_text(template).map_err(super::scene::unresolved);
    let frame = match &send.content {
        Content::Text(template) => text(template)?.into_bytes(),
        Content::Hex(bytes) => bytes.clone(),
        Content::Long { head, fill, times, tail } => {
            format!("{}{}{}", text(head)?, fill.repeat(*times), text(tail)?).into_bytes()
        }
    };
    scene.mark(&session);
    scene.deliberate |= send.deliberate;
    let since = session.state().newest();
    let sequence = match write_frame(&session, &frame, send).await {
        Ok(sequence) => sequence,
        Err(gone) => return Err(lost_call(scene, step, &session, "a frame", Some(gone))),
    };
    scene.show(&session, vec![sequence]);
    let Some(wanted) = &send.answers else { return Ok(()) };
    let expected = Expected { ids: &[id, id2], since, may_be_silent: answers::may_be_silent(wanted) };
    let came = answers::await_answer(scene, &session, &step.place, expected).await?;
    keep_reply(scene, &came, None);
    answers::judge(scene, &session, &step.place, sequence, wanted, &came)
}

/// Gives a raw frame its ids and what the revision demands of params.
pub fn name_frame_parts(scene: &mut Scene<'_>, session: &Session) -> (Id, Id) {
    let (id, id2) = (session.fresh_id(), session.fresh_id());
    let meta = session.dialect.meta_members();
    scene.bindings.set("id", Json::from(&id));
    scene.bindings.set("id2", Json::from(&id2));
    scene.bindings.set("meta", meta.as_str());
    scene.bindings.set("meta,", if meta.is_empty() { String::new() } else { format!("{meta},") }.as_str());
    (id, id2)
}

async fn write_frame(session: &Session, frame: &[u8], send: &Send) -> Result<u64, Gone> {
    let mut line = frame.to_vec();
    line.push(b'\n');
    if send.chunks <= 1 {
        return session.write(line, &[frame], send.deliberate).await;
    }
    let size = line.len().div_ceil(send.chunks).max(1);
    let mut pieces = line.chunks(size);
    let first = pieces.next().unwrap_or_default().to_vec();
    let sequence = session.write(first, &[frame], send.deliberate).await?;
    for piece in pieces {
        tokio::time::sleep(send.pause).await;
        session.write_piece(piece.to_vec()).await?;
    }
    Ok(sequence)
}

/// What a frame of a pipeline is owed.
struct Owed<'a> {
    id: Id,
    method: &'a str,
    answers: &'a Answers,
    name: Option<&'a str>,
}

pub async fn pipeline(scene: &mut Scene<'_>, step: &Step, pipeline: &Pipeline) -> Played {
    let session = scene.session(step)?;
    let mut owed = Vec::new();
    let mut frames = Vec::new();
    for frame in &pipeline.frames {
        let message = match frame {
            PipelineFrame::Call { method, params, answers, as_name } => {
                let id = session.fresh_id();
                let params = session.dialect.params(scene.resolve_params(params)?);
                let message = request_message(&id, method, params);
                owed.push(Owed { id, method, answers, name: as_name.as_deref() });
                message
            }
            PipelineFrame::Notify { method, params } => {
                let mut message = json!({ "jsonrpc": "2.0", "method": method.as_str() });
                if let (Some(params), Some(object)) = (scene.resolve_params(params)?, message.as_object_mut())
                {
                    object.push("params", params);
                }
                message
            }
        };
        frames.push(message);
    }
    scene.mark(&session);
    scene.deliberate = true;
    let since = session.state().newest();
    let is_batch = pipeline.how == PipelineHow::Batch;
    if is_batch {
        frames = vec![Json::Array(frames)];
    }
    let texts: Vec<Vec<u8>> = frames.iter().map(|frame| frame.to_string().into_bytes()).collect();
    // Few servers know the batches of one revision; what others do about an array is judged by this case alone.
    let deliberate = is_batch;
    let written = write_all(&session, &texts, pipeline.how == PipelineHow::OneWrite, deliberate).await;
    let sent = written.map_err(|gone| lost_call(scene, step, &session, "a pipeline", Some(gone)))?;
    if owed.is_empty() {
        return expect_nothing(scene, step, &session, since, sent).await;
    }
    for owed in owed {
        let expected = Expected { ids: std::slice::from_ref(&owed.id), since, may_be_silent: false };
        let came = answers::await_answer(scene, &session, &step.place, expected).await?;
        keep_reply(scene, &came, owed.name);
        answers::judge(scene, &session, &step.place, sent, owed.answers, &came)
            .map_err(|stop| name_request(stop, owed.method))?;
    }
    if is_batch { expect_no_more(scene, step, &session, since, sent, &pipeline.frames).await } else { Ok(()) }
}

fn name_request(stop: Stop, method: &str) -> Stop {
    match stop {
        Stop::Breach(mut finding) => {
            finding.notes.push(format!("the request in question is `{method}`"));
            Stop::Breach(finding)
        }
        other => other,
    }
}

async fn write_all(
    session: &Session,
    frames: &[Vec<u8>],
    at_once: bool,
    deliberate: bool,
) -> Result<u64, Gone> {
    let line = |frame: &[u8]| [frame, b"\n"].concat();
    if at_once {
        let bytes = frames.iter().flat_map(|frame| line(frame)).collect();
        let recorded: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        return session.write(bytes, &recorded, deliberate).await;
    }
    let mut sequence = 0;
    for frame in frames {
        sequence = session.write(line(frame), &[frame], deliberate).await?;
    }
    Ok(sequence)
}

/// After a batch of notifications: no answer, not even an empty one.
async fn expect_nothing(
    scene: &mut Scene<'_>,
    step: &Step,
    session: &Arc<Session>,
    since: u64,
    sent: u64,
) -> Played {
    let expected = Expected { ids: &[], since, may_be_silent: true };
    let came = answers::await_answer(scene, session, &step.place, expected).await?;
    let silence = Answers { pass: vec![crate::case::model::Answer::Silent], ..Answers::default() };
    answers::judge(scene, session, &step.place, sent, &silence, &came)?;
    no_stray_array(scene, step, session, since, sent, 0)
}

/// After a batch: as many answers as requests, and none besides.
async fn expect_no_more(
    scene: &mut Scene<'_>,
    step: &Step,
    session: &Arc<Session>,
    since: u64,
    sent: u64,
    frames: &[PipelineFrame],
) -> Played {
    tokio::time::sleep(time_limits::SETTLE).await;
    let calls = frames.iter().filter(|frame| matches!(frame, PipelineFrame::Call { .. })).count();
    no_stray_array(scene, step, session, since, sent, calls)
}

/// Counts what came inside arrays since the batch, empty arrays included.
fn no_stray_array(
    scene: &mut Scene<'_>,
    step: &Step,
    session: &Arc<Session>,
    since: u64,
    sent: u64,
    allowed: usize,
) -> Played {
    let (members, empty) = {
        let state = session.state();
        let members =
            state.inbox.iter().filter(|arrival| arrival.sequence > since && arrival.in_batch).count();
        let empty = state.transcript.entries.iter().find(|entry| {
            entry.sequence > since
                && entry.channel == crate::transcript::Channel::Stdout
                && entry.bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().eq(*b"[]")
        });
        (members, empty.map(|entry| entry.sequence))
    };
    if let Some(sequence) = empty {
        scene.show(session, vec![sent, sequence]);
        return Err(scene.fault(&step.place, "no answer to notifications", "an empty array"));
    }
    if members > allowed {
        return Err(scene.fault(&step.place, format!("{allowed} answers to the batch"), members.to_string()));
    }
    Ok(())
}
