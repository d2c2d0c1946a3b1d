//! What do `resources/list`, `resources/templates/list` and `resources/read` answer?

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::catalogue::{Entry, TEMPLATE_MIME, Template};
use crate::message::{Refusal, Request, code};
use crate::paging::page;
use crate::revision::Revision;
use crate::settings::Settings;
use crate::store::{Absence, Content, Data, Store};

pub(crate) fn list(
    settings: &Settings,
    store: &Store,
    revision: Revision,
    request: &Request,
) -> Result<Value, Refusal> {
    let page = page(request, "resources", settings.page_size, store.entries(), |entry| &entry.uri)?;
    let resources: Vec<Value> = page.items.iter().map(|entry| resource(store, revision, entry)).collect();
    Ok(listing(revision, "resources", resources, page.next))
}

pub(crate) fn list_templates(
    settings: &Settings,
    store: &Store,
    revision: Revision,
    request: &Request,
) -> Result<Value, Refusal> {
    let templates = store.templates();
    let page = page(request, "templates", settings.page_size, templates, |template| template.uri_template)?;
    let templates = page.items.iter().map(|item| template(revision, item)).collect();
    Ok(listing(revision, "resourceTemplates", templates, page.next))
}

pub(crate) fn read(store: &Store, revision: Revision, uri: &str) -> Result<Value, Refusal> {
    let contents = store.read(uri).map_err(|absence| refuse(absence, revision, uri))?;
    let mut result = json!({ "contents": contents.iter().map(content).collect::<Vec<_>>() });
    if revision.is_stateless() {
        // Contents change at any time, so nobody should keep them.
        result["ttlMs"] = 0.into();
        result["cacheScope"] = "private".into();
    }
    Ok(result)
}

/// Why there is nothing at `uri`, in the code that the revision has for it.
pub(crate) fn refuse(absence: Absence, revision: Revision, uri: &str) -> Refusal {
    let refusal = match absence {
        Absence::Illegal => Refusal::params("This is not a URI of a resource"),
        Absence::Broken => Refusal::new(code::INTERNAL, "The resource could not be fetched"),
        Absence::Unknown if revision.is_stateless() => Refusal::params("Resource not found"),
        Absence::Unknown => Refusal::new(code::NOT_FOUND, "Resource not found"),
    };
    refusal.with(json!({ "uri": uri }))
}

fn listing(revision: Revision, member: &str, items: Vec<Value>, next: Option<String>) -> Value {
    let mut result = json!({ member: items });
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    if revision.is_stateless() {
        result["ttlMs"] = 1000.into();
        result["cacheScope"] = "public".into();
    }
    result
}

/// A resource as lists and links show it, with the members that the revision defines.
pub(crate) fn resource(store: &Store, revision: Revision, entry: &Entry) -> Value {
    let mut resource = json!({ "uri": entry.uri, "name": entry.name });
    if let Some(description) = entry.description {
        resource["description"] = description.into();
    }
    if let Some(mime) = entry.mime {
        resource["mimeType"] = mime.into();
    }
    if let Some(size) = store.size(entry) {
        resource["size"] = size.into();
    }
    if entry.adorned {
        resource["annotations"] = json!({ "audience": ["user", "assistant"], "priority": 0.75 });
        if revision.has_last_modified() {
            resource["annotations"]["lastModified"] = last_modified(store.touches(&entry.uri)).into();
        }
        if revision.has_titles() {
            resource["title"] = "A greeting".into();
            resource["_meta"] = json!({ "com.example/kind": "sample" });
        }
        if revision.has_icons() {
            resource["icons"] = icons();
        }
    }
    resource
}

fn template(revision: Revision, template: &Template) -> Value {
    let mut shown = json!({
        "uriTemplate": template.uri_template,
        "name": template.name,
        "description": template.description,
        "mimeType": TEMPLATE_MIME,
        "annotations": { "audience": ["assistant"], "priority": 0.5 },
    });
    if revision.has_titles() {
        shown["title"] = template.title.into();
        shown["_meta"] = json!({ "com.example/kind": "family" });
    }
    if revision.has_icons() {
        shown["icons"] = icons();
    }
    shown
}

/// One item of a read, also as a tool's result embeds it.
pub(crate) fn content(content: &Content) -> Value {
    let mut item = json!({ "uri": content.uri });
    if let Some(mime) = content.mime {
        item["mimeType"] = mime.into();
    }
    match &content.data {
        Data::Text(text) => item["text"] = text.as_str().into(),
        Data::Blob(blob) => item["blob"] = blob.as_str().into(),
    }
    item
}

fn icons() -> Value {
    let circle =
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="4"/></svg>"##;
    let src = format!("data:image/svg+xml;base64,{}", BASE64.encode(circle));
    json!([{ "src": src, "mimeType": "image/svg+xml", "sizes": ["any"], "theme": "light" }])
}

/// This server has no calendar: a day on which each touch takes a second.
fn last_modified(touches: u32) -> String {
    let (hour, minute, second) = (touches / 3600 % 24, touches / 60 % 60, touches % 60);
    format!("2025-06-18T{hour:02}:{minute:02}:{second:02}Z")
}
