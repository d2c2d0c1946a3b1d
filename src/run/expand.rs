//! Which URIs can be made up for a server? Templates that are filled in, and one that it does not have.

use super::missing::Missing;
use super::scene::{Played, Scene, Stop};
use crate::case::model::{Capability, Step, Template};
use crate::revision::Revision;
use crate::session::{Reply, Session};
use crate::uri_template::{fill, may_match, values_in, variables};
use crate::wire::{Json, json};

/// Names the variables of a template, each once.
pub fn name_variables(scene: &mut Scene<'_>, template: &Template, name: &str) -> Played {
    let text = scene.resolve_string(template)?;
    let Some(variables) = variables(&text) else {
        return Err(Stop::Unproven(Missing::because(format!("not reached: `{text}` is no URI template"))));
    };
    scene.bindings.set(name, Json::Array(variables.into_iter().map(Json::from).collect()));
    Ok(())
}

/// Fills a template: from `with`, or from what the profile and the server tell.
pub async fn expand(
    scene: &mut Scene<'_>,
    step: &Step,
    template: &Template,
    with: Option<&[(String, Template)]>,
    only: Option<&Template>,
    name: &str,
) -> Played {
    let text = scene.resolve_string(template)?;
    let Some(variables) = variables(&text) else {
        return Err(Stop::Unproven(Missing::because(format!("not reached: `{text}` is no URI template"))));
    };
    let mut values = match with {
        Some(given) => {
            let mut values = Vec::new();
            for (variable, value) in given {
                let value = scene.resolve_string(value)?;
                if variable == "*" {
                    values.extend(variables.iter().map(|variable| (variable.clone(), value.clone())));
                } else {
                    values.push((variable.clone(), value));
                }
            }
            values
        }
        None => {
            let session = scene.session(step)?;
            known_values(scene, &session, &text, &variables).await?
        }
    };
    if let Some(only) = only {
        let only = scene.resolve_string(only)?;
        values.retain(|(variable, _)| *variable == only);
    }
    let Some(uri) = fill(&text, &values) else {
        return Err(Stop::Broken(format!("`{text}` could not be expanded")));
    };
    scene.bindings.set(name, uri.as_str());
    Ok(())
}

/// Values that the server should accept: what the profile tells, else what the server's completions say, else those
/// of a listed resource that the template makes, else a guess that a read has confirmed.
async fn known_values(
    scene: &Scene<'_>,
    session: &Session,
    template: &str,
    variables: &[String],
) -> Played<Vec<(String, String)>> {
    let told = &scene.sources.profile().variables;
    let mut values: Vec<(String, String)> = Vec::new();
    let mut unknown = Vec::new();
    for variable in variables {
        // The server is asked in any case: its completions are judged, too.
        let completed = completed(scene, session, template, variable, &values).await;
        let told = told.iter().find(|(name, _)| name == variable).map(|(_, value)| value.clone());
        match told.or(completed) {
            Some(value) => values.push((variable.clone(), value)),
            None => unknown.push(variable),
        }
    }
    let Some(first_unknown) = unknown.first() else { return Ok(values) };
    let agrees = |found: &Vec<(String, String)>| {
        found.iter().all(|(name, value)| told.iter().all(|(known, wanted)| known != name || wanted == value))
    };
    let survey = &scene.knowledge.survey;
    let listed = survey.resources.iter().find_map(|listed| values_in(template, &listed.uri).filter(agrees));
    if let Some(listed) = listed {
        return Ok(listed);
    }
    if let Some(guess) = guessed(scene, session, template, &values, &unknown).await {
        values.extend(unknown.into_iter().map(|variable| (variable.clone(), guess.clone())));
        return Ok(values);
    }
    Err(Stop::Unproven(Missing::value_of(first_unknown, template)))
}

/// The first value that the server suggests for a variable.
async fn completed(
    scene: &Scene<'_>,
    session: &Session,
    template: &str,
    variable: &str,
    chosen: &[(String, String)],
) -> Option<String> {
    let declared = scene.knowledge.declares(Capability::Completions);
    // Before 2025-03-26 there was no such capability: asking is the only way to know.
    if !declared && scene.knowledge.revision != Revision::R2024_11_05 {
        return None;
    }
    let mut params = serde_json::json!({
        "ref": { "type": "ref/resource", "uri": template },
        "argument": { "name": variable, "value": "" },
    });
    if !chosen.is_empty() && scene.knowledge.revision >= Revision::R2025_06_18 {
        let arguments: serde_json::Map<_, _> =
            chosen.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        params["context"] = serde_json::json!({ "arguments": arguments });
    }
    match session.call("completion/complete", Some(Json::from(params))).await {
        Reply::Result { result, .. } => {
            let first = result.pointer("/completion/values/0").and_then(Json::as_str);
            first.filter(|value| !value.is_empty()).map(str::to_owned)
        }
        _ => None,
    }
}

/// Values that many a template takes.
const NEUTRAL: [&str; 5] = ["1", "a", "test", "main", "en"];

/// Listed resources whose last segments are tried, too.
const NAMESAKES: usize = 3;

/// One value for all variables that are unknown, with which the template makes something that can be read.
async fn guessed(
    scene: &Scene<'_>,
    session: &Session,
    template: &str,
    values: &[(String, String)],
    unknown: &[&String],
) -> Option<String> {
    if let Some(known) = scene.knowledge.guess(template) {
        return known;
    }
    let listed = scene.knowledge.survey.resources.iter().take(NAMESAKES);
    let namesakes =
        listed.filter_map(|listed| listed.uri.rsplit(['/', ':']).next()).filter(|name| !name.is_empty());
    let mut found = None;
    for candidate in NEUTRAL.into_iter().chain(namesakes) {
        let more = unknown.iter().map(|variable| ((*variable).clone(), candidate.to_owned()));
        let values: Vec<_> = values.iter().cloned().chain(more).collect();
        let Some(uri) = fill(template, &values) else { break };
        match session.call("resources/read", Some(json!({ "uri": uri.as_str() }))).await {
            Reply::Result { result, .. } if result.pointer("/contents/0").is_some() => {
                found = Some(candidate.to_owned());
                break;
            }
            Reply::Result { .. } | Reply::Error { .. } | Reply::Refused(_) => {}
            // A server that is silent or gone is not asked again and again.
            Reply::Silence(_) | Reply::Gone(_) => break,
        }
    }
    scene.knowledge.remember_guess(template, found.clone());
    found
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
    let candidates = [sibling(&uri, &ghost), format!("{scheme}://{ghost}/none"), format!("{scheme}:{ghost}")];
    let outside_all = |candidate: &&String| {
        !templates.iter().filter_map(Json::as_str).any(|template| may_match(template, candidate))
    };
    candidates.iter().find(outside_all).cloned().ok_or_else(|| {
        Stop::Unproven(Missing::absent_uri("every URI that looks absent matches a listed template"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sibling_keeps_scheme_authority_and_folder() {
        assert_eq!(sibling("file:///a/b.txt", "x"), "file:///a/x");
        assert_eq!(sibling("note://items/todo?x=1#y", "x"), "note://items/x");
        assert_eq!(sibling("urn:a", "x"), "urn:x");
    }
}
