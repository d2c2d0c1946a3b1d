//! Faults of `resources/templates/list` and of reading what templates expand to.

use serde_json::{Value, json};

use crate::catalogue::TEMPLATES;
use crate::edge::{Hook::*, Row, row};
use crate::edit::*;

/// The list of templates in a result.
const ITEMS: &str = "resourceTemplates";

pub(super) const TABLE: &[Row] = &[
    row(
        "templates-missing",
        "A template list has no templates",
        &[Result(TEMPLATE_LIST, |_, r| unset(r, ITEMS))],
    ),
    row(
        "template-uri-missing",
        "A template has no URI template",
        &[Result(TEMPLATE_LIST, |_, r| one(r, ITEMS, |item| unset(item, "uriTemplate")))],
    ),
    row(
        "template-name-missing",
        "A template has no name",
        &[Result(TEMPLATE_LIST, |_, r| one(r, ITEMS, |item| unset(item, "name")))],
    ),
    row(
        "template-malformed",
        "A URI template has a brace without its partner",
        &[Result(TEMPLATE_LIST, |_, r| {
            one(r, ITEMS, |item| set(item, "uriTemplate", json!("litmus://users/{user")));
        })],
    ),
    row(
        "template-description-number",
        "The description of a template is a number",
        &[Result(TEMPLATE_LIST, |_, r| one(r, ITEMS, |item| set(item, "description", json!(7))))],
    ),
    row(
        "template-description-null",
        "The description of a template is null",
        &[Result(TEMPLATE_LIST, |_, r| one(r, ITEMS, |item| set(item, "description", Value::Null)))],
    ),
    row(
        "template-title-number",
        "The title of a template is a number",
        &[Result(TEMPLATE_LIST, |_, r| having(r, ITEMS, "title", |title| *title = json!(7)))],
    ),
    row(
        "template-mime-bare",
        "The media type of a template has no subtype",
        &[Result(TEMPLATE_LIST, |_, r| one(r, ITEMS, |item| set(item, "mimeType", json!("text"))))],
    ),
    row(
        "template-literal-space",
        "A URI template has a raw space",
        &[Result(TEMPLATE_LIST, |_, r| {
            one(r, ITEMS, |item| set(item, "uriTemplate", json!("litmus://a b/{id}")))
        })],
    ),
    row(
        "template-annotations-not-object",
        "The annotations of a template are an array",
        &[Result(TEMPLATE_LIST, |_, r| one(r, ITEMS, |item| set(item, "annotations", json!([]))))],
    ),
    row(
        "template-icons-not-array",
        "The icons of a template are an object",
        &[Result(TEMPLATE_LIST, |_, r| having(r, ITEMS, "icons", |icons| *icons = json!({})))],
    ),
    row(
        "template-list-silent",
        "A template list is not answered",
        &[In(|_, message| drop_if(asks(message, TEMPLATE_LIST)))],
    ),
    row(
        "templates-unreadable",
        "Nothing that a template expands to can be read",
        &[In(|memory, message| absent_if(made_from(uri(message)).is_some(), memory, message))],
    ),
    row(
        "template-space-unreadable",
        "A value with a space cannot be read",
        &[In(|memory, message| absent_if(is_made_with(message, is_space), memory, message))],
    ),
    row(
        "template-non-ascii-unreadable",
        "A value beyond ASCII cannot be read",
        &[In(|memory, message| absent_if(is_made_with(message, |value| !value.is_ascii()), memory, message))],
    ),
    row(
        "template-slash-unreadable",
        "A value with an escaped slash cannot be read",
        &[In(|memory, message| {
            let slash = uri(message).to_ascii_lowercase().contains("%2f");
            absent_if(slash && made_from(uri(message)).is_some(), memory, message)
        })],
    ),
    row(
        "second-template-unreadable",
        "What the second template expands to cannot be read",
        &[In(|memory, message| absent_if(made_from(uri(message)) == Some(1), memory, message))],
    ),
    row(
        "template-wrong-uri-echoed",
        "What a template expands to comes back under another URI",
        &[Result(READ, |x, r| {
            if made_from(uri(&x.request)).is_some() {
                at(r, "/contents/0", |item| set(item, "uri", json!("litmus://elsewhere")));
            }
        })],
    ),
    row(
        "template-mime-differs",
        "What a template expands to has another media type than the template",
        &[Result(READ, |x, r| {
            if made_from(uri(&x.request)).is_some() {
                at(r, "/contents/0", |item| set(item, "mimeType", json!("application/x-other")));
            }
        })],
    ),
    row(
        "literal-template-served",
        "A template that was not expanded can be read",
        &[In(|memory, message| {
            let uri = uri(message);
            let literal = asks(message, READ) && TEMPLATES.iter().any(|item| item.uri_template == uri);
            serve_if(
                literal,
                memory,
                message,
                json!({ "contents": [{ "uri": "litmus://notes/1", "text": uri }] }),
            )
        })],
    ),
    row(
        "template-traversal-served",
        "A value of a template that climbs out of the tree reaches a file",
        &[In(|memory, message| {
            let climbs = uri(message).contains("..%2F") || uri(message).contains("../");
            let contents = json!([{ "uri": uri(message), "text": "root:x:0:0:root:/root:/bin/sh\n" }]);
            let climbs = asks(message, READ) && made_from(uri(message)).is_some() && climbs;
            serve_if(climbs, memory, message, json!({ "contents": contents }))
        })],
    ),
    row(
        "template-query-demanded",
        "What a template makes cannot be read without its query",
        &[In(|memory, message| absent_if(uri(message) == "litmus://search", memory, message))],
    ),
    row(
        "template-query-whole-demanded",
        "What a template makes cannot be read with one variable of its query alone",
        &[In(|memory, message| {
            let query = uri(message).strip_prefix("litmus://search?").unwrap_or_default().to_owned();
            absent_if(!query.is_empty() && !query.contains('&'), memory, message)
        })],
    ),
    row(
        "template-searches",
        "A template takes all that a search might need",
        &[Result(TEMPLATE_LIST, |x, r| {
            if x.param("cursor").is_null() {
                at(r, "/resourceTemplates", |items| {
                    if let Some(items) = items.as_array_mut() {
                        items.push(
                            json!({ "uriTemplate": "litmus://find{?text,order,page}", "name": "find" }),
                        );
                    }
                });
            }
        })],
    ),
];

fn is_space(value: &str) -> bool {
    value.contains(' ')
}

/// Whether the URI is made from a template with a value such as this.
fn is_made_with(message: &Value, such: fn(&str) -> bool) -> bool {
    let decoded = crate::template::decode(uri(message));
    made_from(uri(message)).is_some() && decoded.is_some_and(|text| such(&text))
}
