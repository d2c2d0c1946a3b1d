//! How do checks, answers and values read in words?

use crate::case::model::{Answer, Check, Piece, Template};
use crate::check::phrase::{demand, shown};
use crate::check::predicate::operand;
use crate::wire::{Json, Object};
use std::time::Duration;

/// `` `/code` must equal -32602, or be absent ``.
pub fn check(one: &Check) -> String {
    check_as(one, "must")
}

/// The same with another verb than "must".
pub fn check_as(one: &Check, must: &str) -> String {
    let place = match (&one.of, one.at.to_string()) {
        (Some(of), pointer) if pointer.is_empty() => value(of),
        (Some(of), pointer) => format!("`{pointer}` of {}", value(of)),
        (None, pointer) => at(&pointer),
    };
    let wanted = operand(&one.predicate).map(to_json);
    let or_absent = if one.or_absent { ", or be absent" } else { "" };
    let or_null = if one.or_null { ", or be null" } else { "" };
    format!("{place} {must} {}{or_absent}{or_null}", demand(&one.predicate, wanted.as_ref()))
}

/// The answers of a list: `silence or error -32600`.
pub fn either(list: &[Answer]) -> String {
    list.iter().map(answer).collect::<Vec<_>>().join(" or ")
}

fn answer(one: &Answer) -> String {
    match one {
        Answer::Silent => "silence".to_owned(),
        Answer::Parse => "error -32700".to_owned(),
        Answer::Invalid => "error -32600".to_owned(),
        Answer::InvalidWithoutId => "error -32600 without the id".to_owned(),
        Answer::Params => "error -32602".to_owned(),
        Answer::Method => "error -32601".to_owned(),
        Answer::NotFound => "the error for a resource that is not there".to_owned(),
        Answer::Mismatch => "over HTTP error -32020".to_owned(),
        Answer::Result(checks) if checks.is_empty() => "a result".to_owned(),
        Answer::Result(checks) => {
            format!("a result in which {}", checks.iter().map(check).collect::<Vec<_>>().join(" and "))
        }
        Answer::AnyError => "any error".to_owned(),
        Answer::Code(code) => format!("error {code}"),
        Answer::Acknowledged => "an acknowledgement".to_owned(),
    }
}

/// A pointer as it is shown.
pub fn at(pointer: &str) -> String {
    if pointer.is_empty() { "the whole".to_owned() } else { format!("`{pointer}`") }
}

/// The params of a message, with a space before them.
pub fn with(params: Option<&Template>) -> String {
    params.map(|params| format!(" with {}", value(params))).unwrap_or_default()
}

/// What is left out of a message, with a comma before it.
pub fn bare(is_bare: bool) -> &'static str {
    if is_bare { ", without `_meta`" } else { "" }
}

/// A limit of a wait, with a comma before it.
pub fn up_to(limit: Option<Duration>) -> String {
    limit.map(|limit| format!(", up to {}", time(limit))).unwrap_or_default()
}

/// `500 ms`, `5 s`.
pub fn time(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    if milliseconds.is_multiple_of(1000) {
        format!("{} s", milliseconds / 1000)
    } else {
        format!("{milliseconds} ms")
    }
}

/// A template as it is shown: a lone reference without quotes, all else as compact JSON.
pub fn value(template: &Template) -> String {
    match template {
        Template::Text(pieces) => format!("`{}`", text(pieces)),
        other => shown(&to_json(other)),
    }
}

/// A frame as it is shown: whatever fits, without the quotes of a JSON string.
pub fn raw_text(template: &Template) -> String {
    let text = match template {
        Template::Text(pieces) => text(pieces),
        Template::Literal(value) => {
            value.as_text().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
        }
        other => to_json(other).to_string(),
    };
    format!("`{}`", text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"))
}

fn text(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Reference(reference) => format!("${{{}{}}}", reference.name, reference.pointer),
        })
        .collect()
}

/// The template as a value in which references stand as text.
pub fn to_json(template: &Template) -> Json {
    match template {
        Template::Literal(value) => value.clone(),
        Template::Text(pieces) => Json::from(text(pieces)),
        Template::Array(items) => Json::Array(items.iter().map(to_json).collect()),
        Template::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.as_str(), to_json(value)));
            Json::Object(members.collect::<Object>())
        }
    }
}
