//! How is a server made to change? Hooks, and whether they changed anything.

use super::missing::Missing;
use super::scene::{Played, Scene, Stop};
use crate::case::model::{Step, Stimulus, Template};
use crate::check::bindings::Bindings;
use crate::profile::Hook;
use crate::session::{Reply, Session};
use crate::time_limits;
use crate::wire::{Json, json};
use std::process::Stdio;
use std::sync::Arc;

pub async fn stimulate(scene: &mut Scene<'_>, step: &Step, stimulus: &Stimulus) -> Played {
    let session = scene.session(step)?;
    let profile = scene.sources.profile();
    let (hook, missing) = match stimulus {
        Stimulus::Touch(_) => (&profile.touch, Missing::way_to_touch()),
        Stimulus::Add => (&profile.add, Missing::way_to_add()),
        Stimulus::Remove => (&profile.remove, Missing::way_to_remove()),
    };
    let Some(hook) = hook.clone() else { return Err(Stop::Unproven(missing)) };
    let set_up = std::mem::replace(&mut session.state().set_up, true);
    if !set_up {
        for hook in scene.sources.profile().setup.clone() {
            pull(scene, &session, &hook, None).await?;
        }
    }
    let uri = match stimulus {
        Stimulus::Touch(uri) => Some(scene.resolve_string(uri)?),
        Stimulus::Add | Stimulus::Remove => None,
    };
    let before = match &uri {
        Some(uri) => steady(&session, uri).await,
        None => None,
    };
    scene.change = None;
    scene.mark(&session);
    pull(scene, &session, &hook, uri.as_deref()).await?;
    let Some(uri) = uri else { return Ok(()) };
    // Whether it changed is only looked at where nothing is heard of it: then silence must mean something.
    scene.change = before.map(|before| Change { session, uri, before });
    Ok(())
}

/// A stimulus of which nothing has been heard yet.
pub struct Change {
    session: Arc<Session>,
    uri: String,
    /// What a read showed before.
    before: Json,
}

/// Whether the last stimulus really changed the resource. If not, silence proves nothing.
pub async fn prove_change(scene: &mut Scene<'_>) -> Played {
    let Some(Change { session, uri, before }) = scene.change.take() else { return Ok(()) };
    match read(&session, &uri).await {
        Some(after) if after.same(&before) => Err(Stop::Unproven(Missing {
            reason: format!(
                "the `touch` hook changed nothing that a read shows: two reads of {uri} are equal"
            ),
            help: if scene.sources.has_learned() {
                Missing::way_to_touch().help
            } else {
                Some("correct `stimuli.touch` in litmus.yaml".to_owned())
            },
        })),
        _ => Ok(()),
    }
}

/// What reads yield, as long as nothing is done to the resource; `None` where they fail or differ. Of a resource that
/// reads differently each time a change cannot be seen: there the hook is trusted.
pub async fn steady(session: &Session, uri: &str) -> Option<Json> {
    let first = read(session, uri).await?;
    read(session, uri).await.filter(|second| second.same(&first))
}

/// What a read yields, for comparing; `None` where it fails.
pub async fn read(session: &Session, uri: &str) -> Option<Json> {
    match session.call("resources/read", Some(json!({ "uri": uri }))).await {
        Reply::Result { result, .. } => result.get("contents").cloned(),
        _ => None,
    }
}

/// Runs one hook.
async fn pull(scene: &mut Scene<'_>, session: &Arc<Session>, hook: &Hook, uri: Option<&str>) -> Played {
    let mut names = Bindings::new();
    names.set("nonce", scene.sources.new_word().as_str());
    if let Some(uri) = uri {
        names.set("uri", uri);
    }
    let resolve = |template: &Template| {
        names.resolve(template).map_err(|error| missing_hook(format!("the hook cannot be filled: {error}")))
    };
    match hook {
        Hook::Tool { name, arguments } => {
            let params = json!({ "name": name.as_str(), "arguments": resolve(arguments)?.to_serde() });
            match session.call("tools/call", Some(params)).await {
                Reply::Result { result, .. }
                    if result.get("isError").and_then(Json::as_bool) != Some(true) =>
                {
                    Ok(())
                }
                Reply::Result { result, .. } => {
                    Err(missing_hook(format!("the tool `{name}` failed: {result}")))
                }
                Reply::Error { error, .. } => Err(missing_hook(format!("the tool `{name}` failed: {error}"))),
                Reply::Refused(refusal) => Err(missing_hook(format!("the tool `{name}` failed: {refusal}"))),
                Reply::Silence(_) | Reply::Gone(_) => {
                    Err(missing_hook(format!("the tool `{name}` gave no answer")))
                }
            }
        }
        Hook::Method { method, params } => {
            let params = params.as_ref().map(resolve).transpose()?;
            match session.call(method, params).await {
                Reply::Result { .. } => Ok(()),
                _ => Err(missing_hook(format!("the hook's `{method}` gave no result"))),
            }
        }
        Hook::Run(words) => {
            let mut line = Vec::new();
            for word in words {
                line.push(names.resolve_text(word).map_err(|error| missing_hook(error.to_string()))?);
            }
            run(&line).await
        }
        Hook::Wait(time) => {
            tokio::time::sleep(*time).await;
            Ok(())
        }
    }
}

async fn run(line: &[String]) -> Played {
    let [program, arguments @ ..] = line else {
        return Err(missing_hook("the hook's command is empty".to_owned()));
    };
    let mut command = tokio::process::Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    match tokio::time::timeout(time_limits::HOOK, command.status()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(missing_hook(format!("`{program}` ended with {status}"))),
        Ok(Err(error)) => Err(missing_hook(format!("`{program}` could not be started: {error}"))),
        Err(_) => Err(missing_hook(format!("`{program}` took more than {} s", time_limits::HOOK.as_secs()))),
    }
}

fn missing_hook(reason: String) -> Stop {
    Stop::Unproven(Missing { reason, help: Some("correct the hook in litmus.yaml".to_owned()) })
}
