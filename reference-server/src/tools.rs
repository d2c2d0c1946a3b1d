//! How does a client make a resource change, or get one through a tool? The stimuli that a test of Resources needs.

use serde_json::{Value, json};

use crate::message::{Refusal, Request};
use crate::resources::{content, resource};
use crate::revision::Revision;
use crate::store::{Absence, Store};

const TOOLS: [(&str, &str, bool); 5] = [
    ("touch_resource", "Changes the contents of a resource", true),
    ("add_resource", "Lists one resource more, at the URI or at a new one", false),
    ("remove_resource", "Takes a resource off the list", true),
    ("link_resource", "Answers with a link to a resource", true),
    ("embed_resource", "Answers with the contents of a resource", true),
];

pub(crate) fn list(revision: Revision, request: &Request) -> Result<Value, Refusal> {
    if request.param("cursor").is_some() {
        return Err(Refusal::params("Invalid cursor"));
    }
    let tools: Vec<Value> =
        TOOLS.iter().map(|(name, about, needs_uri)| tool(name, about, *needs_uri)).collect();
    let mut result = json!({ "tools": tools });
    if revision.is_stateless() {
        result["ttlMs"] = 60_000.into();
        result["cacheScope"] = "public".into();
    }
    Ok(result)
}

fn tool(name: &str, about: &str, needs_uri: bool) -> Value {
    let required: &[&str] = if needs_uri { &["uri"] } else { &[] };
    json!({
        "name": name,
        "description": about,
        "inputSchema": {
            "type": "object",
            "properties": { "uri": { "type": "string" } },
            "required": required,
        },
    })
}

/// Runs a tool. What goes wrong inside it is a result that says so; only an unknown tool is an error of the protocol.
pub(crate) fn call(store: &mut Store, revision: Revision, request: &Request) -> Result<Value, Refusal> {
    let name = request.text("name")?;
    let (_, _, needs_uri) =
        TOOLS.iter().find(|(known, ..)| *known == name).ok_or_else(|| Refusal::params("No such tool"))?;
    let uri = match request.param("arguments").and_then(|arguments| arguments.get("uri")) {
        None if !needs_uri => None,
        Some(Value::String(uri)) => Some(uri.as_str()),
        _ => return Ok(failure("uri must be a string")),
    };
    let done = match (name, uri) {
        ("touch_resource", Some(uri)) => store.touch(uri).map(|()| text(format!("Touched {uri}"))),
        ("add_resource", uri) => store.add(uri).map(|added| match added {
            Some(uri) => text(uri),
            None => failure("The resource exists already"),
        }),
        ("remove_resource", Some(uri)) => store.remove(uri).map(|()| text(format!("Removed {uri}"))),
        ("link_resource", Some(uri)) => link(store, revision, uri),
        ("embed_resource", Some(uri)) => embed(store, uri),
        _ => Err(Absence::Unknown),
    };
    Ok(done.unwrap_or_else(|absence| {
        failure(match absence {
            Absence::Illegal => "This is not a URI of a resource",
            Absence::Unknown => "No such resource",
            Absence::Broken => "The resource could not be fetched",
        })
    }))
}

fn link(store: &Store, revision: Revision, uri: &str) -> Result<Value, Absence> {
    store.holds(uri)?;
    if !revision.has_resource_links() {
        return Ok(text(uri.to_owned()));
    }
    let mut block = match store.entry(uri) {
        Some(entry) => resource(store, revision, entry),
        None => json!({ "uri": uri, "name": uri }),
    };
    block["type"] = "resource_link".into();
    Ok(json!({ "content": [block] }))
}

fn embed(store: &Store, uri: &str) -> Result<Value, Absence> {
    let blocks: Vec<Value> = store
        .read(uri)?
        .iter()
        .map(|item| json!({ "type": "resource", "resource": content(item) }))
        .collect();
    Ok(json!({ "content": blocks }))
}

fn text(text: String) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn failure(why: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": why }], "isError": true })
}
