//! Which values does `completion/complete` suggest for the variables of a template?

use serde_json::{Value, json};

use crate::message::{Refusal, Request};
use crate::revision::Revision;
use crate::store::Store;
use crate::template;

/// No answer may suggest more values than this.
const LIMIT: usize = 100;

pub(crate) fn complete(store: &Store, revision: Revision, request: &Request) -> Result<Value, Refusal> {
    let reference = request.param("ref").filter(|reference| reference.is_object());
    let reference = reference.ok_or_else(|| Refusal::params("ref must be an object"))?;
    if reference.get("type").and_then(Value::as_str) != Some("ref/resource") {
        return Err(Refusal::params("Only ref/resource can be completed here"));
    }
    let uri = member(reference, "ref", "uri")?;
    let argument = request.param("argument").unwrap_or(&Value::Null);
    let (name, start) = (member(argument, "argument", "name")?, member(argument, "argument", "value")?);
    let known = if revision.has_completion_context() { chosen(request)? } else { None };
    let known = known.and_then(|arguments| arguments.get("user")).and_then(Value::as_str);

    let variables = match store.templates().iter().find(|template| template.uri_template == uri) {
        Some(found) => template::variables(found.uri_template),
        None if store.entry(uri).is_some() => return Ok(suggestions(Vec::new())),
        None => return Err(Refusal::params("No such template")),
    };
    if !variables.contains(&name) {
        return Err(Refusal::params("The template has no such variable"));
    }
    Ok(suggestions(values(name, known).into_iter().filter(|value| value.starts_with(start)).collect()))
}

fn member<'a>(object: &'a Value, place: &str, name: &str) -> Result<&'a str, Refusal> {
    let text = object.get(name).and_then(Value::as_str);
    text.ok_or_else(|| Refusal::params(format!("{place}.{name} must be a string")))
}

/// The values that the client has chosen for other variables.
fn chosen(request: &Request) -> Result<Option<&Value>, Refusal> {
    let Some(context) = request.param("context") else { return Ok(None) };
    let arguments = context.get("arguments");
    let fits = arguments.is_none_or(|a| a.as_object().is_some_and(|a| a.values().all(Value::is_string)));
    if !context.is_object() || !fits {
        return Err(Refusal::params("context.arguments must be an object of strings"));
    }
    Ok(arguments)
}

fn suggestions(mut values: Vec<String>) -> Value {
    let total = values.len();
    values.truncate(LIMIT);
    json!({ "completion": { "values": values, "total": total, "hasMore": total > LIMIT } })
}

fn values(variable: &str, user: Option<&str>) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match variable {
        // More than fit into one answer.
        "id" => (1..=150).map(|n| n.to_string()).collect(),
        "user" => words(&["ada", "grace", "zoë"]),
        "post" => (1..=5).map(|n| user.map_or(format!("post-{n}"), |user| format!("{user}-{n}"))).collect(),
        "limit" => words(&["10", "20", "50"]),
        "query" => words(&["litmus", "two words", "世界"]),
        "path" => words(&["2024/report.txt", "2025/report.txt"]),
        "room" => words(&["attic", "cellar"]),
        _ => words(&["1", "2", "3"]),
    }
}
