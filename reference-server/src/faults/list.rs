//! Faults of `resources/list`: the items, their annotations and icons. Most spoil the second item only.

use serde_json::{Value, json};

use crate::edge::{Hook::*, Row, row};
use crate::edit::*;

/// The list of resources in a result.
const ITEMS: &str = "resources";

pub(super) const TABLE: &[Row] = &[
    row("resources-missing", "A list has no resources", &[Result(LIST, |_, r| unset(r, ITEMS))]),
    row(
        "resources-not-array",
        "The resources of a list are an object",
        &[Result(LIST, |_, r| set(r, ITEMS, json!({})))],
    ),
    row(
        "resource-uri-missing",
        "A listed resource has no URI",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| unset(item, "uri")))],
    ),
    row(
        "resource-name-missing",
        "A listed resource has no name",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| unset(item, "name")))],
    ),
    row(
        "resource-uri-schemeless",
        "The URI of a listed resource has no scheme",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "uri", json!("text/empty"))))],
    ),
    row(
        "resource-uri-raw-space",
        "The URI of a listed resource has a raw space",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "uri", json!("litmus://text/two words"))))],
    ),
    row(
        "resource-scheme-illegal",
        "The scheme of a listed resource has an underscore",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "uri", json!("my_scheme://text"))))],
    ),
    row(
        "resource-size-string",
        "The size of a listed resource is a text",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "size", json!("0"))))],
    ),
    row(
        "resource-size-fraction",
        "The size of a listed resource is no whole number",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "size", json!(0.5))))],
    ),
    row(
        "resource-size-negative",
        "The size of a listed resource is below zero",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "size", json!(-1))))],
    ),
    row(
        "resource-size-wrong",
        "The size of a listed resource is not that of its contents",
        &[Result(LIST, |_, r| {
            having(r, ITEMS, "size", |size| *size = json!(size.as_u64().unwrap_or(0) + 5))
        })],
    ),
    row(
        "resource-description-number",
        "The description of a listed resource is a number",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "description", json!(7))))],
    ),
    row(
        "resource-description-null",
        "The description of a listed resource is null",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "description", Value::Null)))],
    ),
    row(
        "resource-mime-number",
        "The media type of a listed resource is a number",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "mimeType", json!(7))))],
    ),
    row(
        "resource-mime-bare",
        "The media type of a listed resource is none",
        &[Result(LIST, |_, r| one(r, ITEMS, |item| set(item, "mimeType", json!("text"))))],
    ),
    row(
        "resource-title-number",
        "The title of a listed resource is a number",
        &[Result(LIST, |_, r| having(r, ITEMS, "title", |title| *title = json!(7)))],
    ),
    row(
        "resource-meta-not-object",
        "The _meta of a listed resource is a text",
        &[Result(LIST, |_, r| having(r, ITEMS, "_meta", |meta| *meta = json!("none")))],
    ),
    row(
        "duplicate-uri",
        "A resource is listed twice",
        &[Result(LIST, |_, r| {
            at(r, "/resources", |items| {
                if let Some(items) = items.as_array_mut() {
                    items.extend(items.first().cloned());
                }
            });
        })],
    ),
    row(
        "list-method-missing",
        "resources/list is an unknown method though resources are declared",
        &[In(|memory, message| refuse(memory, message, LIST, -32601))],
    ),
    row(
        "read-method-missing",
        "resources/read is an unknown method though resources are declared",
        &[In(|memory, message| refuse(memory, message, READ, -32601))],
    ),
    row(
        "list-refused",
        "resources/list is refused as an internal error though resources are declared",
        &[In(|memory, message| refuse(memory, message, LIST, -32603))],
    ),
    row(
        "list-null-params-refused",
        "A list request without parameters is refused in a session",
        &[In(|memory, message| {
            let bare = message["params"].is_null() && !is_stateless(memory, message);
            refuse_if(bare && asks(message, LIST), memory, message, -32602)
        })],
    ),
    row(
        "annotations-not-object",
        "Annotations are an array",
        &[Result(LIST, |_, r| having(r, ITEMS, "annotations", |a| *a = json!([])))],
    ),
    row(
        "audience-unknown",
        "An audience is neither user nor assistant",
        &[Result(LIST, |_, r| having(r, ITEMS, "annotations", |a| set(a, "audience", json!(["robot"]))))],
    ),
    row(
        "audience-string",
        "The audience is a text, not an array",
        &[Result(LIST, |_, r| having(r, ITEMS, "annotations", |a| set(a, "audience", json!("user"))))],
    ),
    row(
        "priority-too-big",
        "A priority is above 1",
        &[Result(LIST, |_, r| having(r, ITEMS, "annotations", |a| set(a, "priority", json!(1.5))))],
    ),
    row(
        "priority-string",
        "A priority is a text",
        &[Result(LIST, |_, r| having(r, ITEMS, "annotations", |a| set(a, "priority", json!("0.5"))))],
    ),
    row(
        "last-modified-number",
        "The time of the last change is a number",
        &[Result(LIST, |_, r| {
            having(r, ITEMS, "annotations", |a| at(a, "/lastModified", |time| *time = json!(1_750_000_000)));
        })],
    ),
    row(
        "last-modified-prose",
        "The time of the last change is no timestamp",
        &[Result(LIST, |_, r| {
            having(r, ITEMS, "annotations", |a| at(a, "/lastModified", |time| *time = json!("yesterday")));
        })],
    ),
    row(
        "icons-not-array",
        "Icons are an object",
        &[Result(LIST, |_, r| having(r, ITEMS, "icons", |icons| *icons = json!({})))],
    ),
    row(
        "icon-src-missing",
        "An icon has no source",
        &[Result(LIST, |_, r| having(r, ITEMS, "icons", |icons| unset(&mut icons[0], "src")))],
    ),
    row(
        "icon-src-file",
        "An icon is a file of the server",
        &[Result(LIST, |_, r| {
            having(r, ITEMS, "icons", |icons| set(&mut icons[0], "src", json!("file:///icon.svg")));
        })],
    ),
    row(
        "icon-src-relative",
        "The source of an icon has no scheme",
        &[Result(LIST, |_, r| {
            having(r, ITEMS, "icons", |icons| set(&mut icons[0], "src", json!("icon.svg")))
        })],
    ),
    row(
        "icon-theme-unknown",
        "The theme of an icon is neither light nor dark",
        &[Result(LIST, |_, r| having(r, ITEMS, "icons", |icons| set(&mut icons[0], "theme", json!("dim"))))],
    ),
    row(
        "icon-sizes-string",
        "The sizes of an icon are a text",
        &[Result(LIST, |_, r| having(r, ITEMS, "icons", |icons| set(&mut icons[0], "sizes", json!("any"))))],
    ),
    row(
        "icon-size-unitless",
        "A size of an icon is none",
        &[Result(LIST, |_, r| having(r, ITEMS, "icons", |icons| set(&mut icons[0], "sizes", json!(["48"]))))],
    ),
];
