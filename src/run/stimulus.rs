//! How is a server made to change, and which URIs can be made up for it? Hooks, templates, absent resources.

use super::scene::{Missing, Played, Scene, Stop};
use crate::case::model::{Step, Stimulus, Template};
use crate::check::bindings::Bindings;
use crate::profile::Hook;
use crate::session::{Reply, Session};
use crate::time_limits;
use crate::wire::{Json, json};
use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateStr;
use iri_string::template::simple_context::SimpleContext;
use std::collections::HashSet;
use std::fmt::Write;
use std::process::Stdio;
use std::sync::Arc;

pub async fn stimulate(scene: &mut Scene<'_>, step: &Step, stimulus: &Stimulus) -> Played {
    let session = scene.session(step)?;
    let profile = scene.sources.profile();
    let (name, hook) = match stimulus {
        Stimulus::Touch(_) => ("touch", profile.touch.clone()),
        Stimulus::Add => ("add", profile.add.clone()),
        Stimulus::Remove => ("remove", profile.remove.clone()),
    };
    let Some(hook) = hook else {
        let what = match stimulus {
            Stimulus::Touch(_) => "needs a way to change a resource",
            Stimulus::Add => "needs a way to add a resource",
            Stimulus::Remove => "needs a way to remove a resource",
        };
        return Err(Stop::Unproven(Missing {
            reason: what.to_owned(),
            help: Some(format!("add `stimuli.{name}` to litmus.yaml")),
        }));
    };
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
        Some(uri) => read(&session, uri).await,
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
            help: Some("correct `stimuli.touch` in litmus.yaml".to_owned()),
        })),
        _ => Ok(()),
    }
}

/// What a read yields, for comparing; `None` where it fails.
async fn read(session: &Session, uri: &str) -> Option<Json> {
    match session.call("resources/read", Some(json!({ "uri": uri }))).await {
        Reply::Result { result, .. } => result.get("contents").cloned(),
        _ => None,
    }
}

/// Runs one hook.
async fn pull(scene: &mut Scene<'_>, session: &Arc<Session>, hook: &Hook, uri: Option<&str>) -> Played {
    let mut names = Bindings::new();
    // A name that is new each time: "a new name each time" is what adding needs.
    let count = session.state().newest();
    let nonce = scene.bindings.get("nonce").and_then(Json::as_str).unwrap_or_default().to_owned();
    names.set("nonce", format!("{nonce}{count}").as_str());
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

/// Fills a template: from `with`, or from what the profile and the server's completions know.
pub async fn expand(
    scene: &mut Scene<'_>,
    step: &Step,
    template: &Template,
    with: Option<&[(String, Template)]>,
    name: &str,
) -> Played {
    let text = scene.resolve_string(template)?;
    let Ok(parsed) = UriTemplateStr::new(&text) else {
        return Err(Stop::Unproven(Missing::because(format!("not reached: `{text}` is no URI template"))));
    };
    let variables: Vec<String> = parsed.variables().map(|variable| variable.as_str().to_owned()).collect();
    let mut values: Vec<(String, String)> = Vec::new();
    match with {
        Some(given) => {
            for (variable, value) in given {
                let value = scene.resolve_string(value)?;
                if variable == "*" {
                    values.extend(variables.iter().map(|variable| (variable.clone(), value.clone())));
                } else {
                    values.push((variable.clone(), value));
                }
            }
        }
        None => {
            let session = scene.session(step)?;
            for variable in variables {
                let Some(value) = value_of(scene, &session, &text, &variable, &values).await else {
                    return Err(Stop::Unproven(Missing {
                        reason: format!("no value is known for `{variable}` of the template `{text}`"),
                        help: Some(format!("add `variables: {{ {variable}: ... }}` to litmus.yaml")),
                    }));
                };
                values.push((variable, value));
            }
        }
    }
    let uri = fill(parsed, &values)
        .map_err(|error| Stop::Broken(format!("`{text}` could not be expanded: {error}")))?;
    scene.bindings.set(name, uri.as_str());
    Ok(())
}

/// Fills a template (RFC 6570).
fn fill(
    template: &UriTemplateStr,
    values: &[(String, String)],
) -> Result<String, iri_string::template::Error> {
    let reserved = reserved_variables(template.as_str());
    let mut context = SimpleContext::new();
    for (variable, value) in values {
        // The expander slices such values off character boundaries (iri-string 0.7.14), so they come to it
        // encoded, as `{+name}` and `{#name}` would encode them anyway.
        let value = if reserved.contains(variable.as_str()) { ascii(value) } else { value.clone() };
        context.insert(variable.as_str(), value);
    }
    Ok(template.expand::<UriSpec, _>(&context)?.to_string())
}

/// The variables of expressions that let reserved characters through.
fn reserved_variables(template: &str) -> HashSet<&str> {
    let expressions = template.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let reserved = expressions.filter_map(|expression| expression.strip_prefix(['+', '#']));
    reserved.flat_map(|names| names.split(',')).map(|name| name.trim_end_matches('*')).collect()
}

/// Percent-encodes what is not ASCII, and nothing else.
fn ascii(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii() {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// A value of a template variable that the server should accept.
async fn value_of(
    scene: &Scene<'_>,
    session: &Session,
    template: &str,
    variable: &str,
    chosen: &[(String, String)],
) -> Option<String> {
    let told = scene.sources.profile().variables.iter().find(|(name, _)| name == variable);
    if let Some((_, value)) = told {
        return Some(value.clone());
    }
    let mut params = serde_json::json!({
        "ref": { "type": "ref/resource", "uri": template },
        "argument": { "name": variable, "value": "" },
    });
    if !chosen.is_empty() && scene.knowledge.revision >= crate::revision::Revision::R2025_06_18 {
        let arguments: serde_json::Map<_, _> =
            chosen.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        params["context"] = serde_json::json!({ "arguments": arguments });
    }
    let declared = scene.knowledge.declares(crate::case::model::Capability::Completions);
    // Before 2025-03-26 there was no such capability: asking is the only way to know.
    if !declared && scene.knowledge.revision != crate::revision::Revision::R2024_11_05 {
        return None;
    }
    match session.call("completion/complete", Some(Json::from(params))).await {
        Reply::Result { result, .. } => {
            result.pointer("/completion/values/0").and_then(Json::as_str).map(str::to_owned)
        }
        _ => None,
    }
}

/// A URI beside the given one that nothing of the server's should match.
pub fn absent_like(scene: &Scene<'_>, uri: &Template, outside: Option<&Template>) -> Played<String> {
    if let Some(absent) = &scene.sources.profile().absent {
        return Ok(absent.clone());
    }
    let uri = scene.resolve_string(uri)?;
    let templates = match outside {
        Some(outside) => match scene.resolve(outside)? {
            Json::Array(templates) => templates,
            _ => Vec::new(),
        },
        None => Vec::new(),
    };
    let nonce = scene.bindings.get("nonce").and_then(Json::as_str).unwrap_or("0").to_owned();
    let ghost = format!("litmus-absent-{nonce}");
    let scheme = uri.split_once(':').map_or("litmus-absent", |(scheme, _)| scheme);
    let candidates = [sibling(&uri, &ghost), format!("{scheme}://{ghost}/none")];
    let outside_all = |candidate: &&String| {
        !templates.iter().filter_map(Json::as_str).any(|template| may_match(template, candidate))
    };
    candidates.iter().find(outside_all).cloned().ok_or_else(|| {
        Stop::Skip(
            "every URI that looks absent matches a listed template; name one as `absent` in litmus.yaml"
                .to_owned(),
        )
    })
}

/// The URI with its last segment replaced, without query and fragment.
fn sibling(uri: &str, name: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    match path.rfind(['/', ':']) {
        Some(at) => format!("{}{name}", &path[..=at]),
        None => format!("{path}/{name}"),
    }
}

/// Whether a template could produce the URI: each expression stands for any text, so this errs towards yes.
fn may_match(template: &str, uri: &str) -> bool {
    let mut pattern = String::from("^");
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        pattern.push_str(&regex::escape(&rest[..open]));
        pattern.push_str(".*");
        rest = rest[open..].find('}').map_or("", |close| &rest[open + close + 1..]);
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    regex::Regex::new(&pattern).map_or(true, |pattern| pattern.is_match(uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sibling_keeps_scheme_authority_and_folder() {
        assert_eq!(sibling("file:///a/b.txt", "x"), "file:///a/x");
        assert_eq!(sibling("note://items/todo?x=1#y", "x"), "note://items/x");
        assert_eq!(sibling("urn:a", "x"), "urn:x");
    }

    #[test]
    fn values_beyond_ascii_fill_every_kind_of_expression() {
        for (template, wanted) in [
            ("a:{x}", "a:%C3%BC%2F1"),
            ("a:{+x}", "a:%C3%BC/1"),
            ("a:{#x}", "a:#%C3%BC/1"),
            ("a:{?x}", "a:?x=%C3%BC%2F1"),
            ("a:{y}", "a:"),
        ] {
            let template = UriTemplateStr::new(template).unwrap();
            let filled = fill(template, &[("x".to_owned(), "ü/1".to_owned())]).unwrap();
            assert_eq!(filled, wanted);
        }
    }

    #[test]
    fn a_template_matches_generously() {
        assert!(may_match("note://items/{name}", "note://items/litmus-absent"));
        assert!(may_match("{+any}", "x:y"));
        assert!(!may_match("note://items/{name}", "memo://items/x"));
        assert!(!may_match("a://b.c/{x}", "a://bxc/1"));
    }
}
