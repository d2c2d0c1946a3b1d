//! How does a demand read, and how is a value shown? One line, bounded, for titles and reports.

use crate::case::model::{Predicate, Type};
use crate::wire::json::{Json, Number};
use std::fmt::{self, Write};

/// Characters of a value that are shown.
pub const SHOWN: usize = 120;

/// The value as compact JSON, cut at [`SHOWN`] characters. What is beyond is never even written.
pub fn shown(value: &Json) -> String {
    struct Bounded {
        text: String,
        left: usize,
    }
    impl Write for Bounded {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for character in text.chars() {
                self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
                self.text.push(character);
            }
            Ok(())
        }
    }
    let mut bounded = Bounded { text: String::new(), left: SHOWN };
    if write!(bounded, "{value}").is_err() {
        bounded.text.push_str("...");
    }
    bounded.text
}

/// Text of the server in one of our sentences: at most so many characters of it.
pub fn clipped(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// A pointer as it is shown: member names come from the server, so they are bounded and escaped, too.
pub fn shown_pointer(pointer: &str) -> String {
    let escaped = Json::from(pointer).to_string();
    let inner = escaped.get(1..escaped.len() - 1).unwrap_or_default();
    let mut text: String = inner.chars().take(SHOWN).collect();
    if text.len() < inner.len() {
        text.push_str("...");
    }
    text
}

/// The demand as it follows "to" in a title: what `demand` says, but for patterns, which are for machines and stand in
/// the line of the case that is shown below.
pub fn title_demand(predicate: &Predicate, wanted: Option<&Json>) -> String {
    match predicate {
        Predicate::Matches(_) => "have the form that the case asks for".to_owned(),
        Predicate::KeysMatch(_) => {
            "have only members with names of the form that the case asks for".to_owned()
        }
        other => demand(other, wanted),
    }
}

/// The demand as it follows "to": `equal -32602`. `wanted` is the value of its template, where it has one.
pub fn demand(predicate: &Predicate, wanted: Option<&Json>) -> String {
    let range = wanted;
    let wanted = wanted.map(shown).unwrap_or_default();
    match predicate {
        Predicate::Equals(_) => format!("equal {wanted}"),
        Predicate::Differs(_) => format!("differ from {wanted}"),
        Predicate::Is(types) => {
            format!("be {}", alternatives(types.iter().map(|kind| type_phrase(*kind).to_owned())))
        }
        Predicate::OneOf(_) => format!("be one of {wanted}"),
        Predicate::NoneOf(_) => format!("be none of {wanted}"),
        Predicate::Matches(pattern) => format!("match `{pattern}`"),
        Predicate::Count(_) => format!("match {} times", amount(range)),
        Predicate::Length(_) => format!("have a length of {}", amount(range)),
        Predicate::Between(low, high) => between(low.as_ref(), high.as_ref()),
        Predicate::Unique => "hold no value twice".to_owned(),
        Predicate::OneKeyOf(keys) => format!("have exactly one of {}", ticked(keys)),
        Predicate::Has(keys) => format!("have {}", ticked(keys)),
        Predicate::Lacks(keys) => format!("lack {}", ticked(keys)),
        Predicate::Includes(_) => format!("include {wanted}"),
        Predicate::Excludes(_) => format!("include none of {wanted}"),
        Predicate::KeysMatch(pattern) => format!("have only members whose names match `{pattern}`"),
        Predicate::SameSet(_) => format!("be the same set as {wanted}"),
        Predicate::SubsetOf(_) => format!("be within {wanted}"),
        Predicate::DisjointFrom(_) => format!("share nothing with {wanted}"),
        Predicate::Bytes(_) => format!("hold {} bytes", amount(range)),
        Predicate::AtOrBelow(_) => format!("be {wanted} or lie below it"),
    }
}

pub fn ticked(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn alternatives(phrases: impl Iterator<Item = String>) -> String {
    phrases.collect::<Vec<_>>().join(" or ")
}

fn amount(range: Option<&Json>) -> String {
    let end = |name| range.and_then(|range| range.get(name)).map(shown);
    match (end("at_least"), end("at_most")) {
        (Some(low), Some(high)) if low == high => low,
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => "any number of".to_owned(),
    }
}

fn between(low: Option<&Number>, high: Option<&Number>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("be between {low} and {high}"),
        (Some(low), None) => format!("be at least {low}"),
        (None, Some(high)) => format!("be at most {high}"),
        (None, None) => "be a number".to_owned(),
    }
}

fn type_phrase(kind: Type) -> &'static str {
    match kind {
        Type::Absent => "absent",
        Type::Present => "present",
        Type::Null => "null",
        Type::Boolean => "a boolean",
        Type::Integer => "an integer",
        Type::Number => "a number",
        Type::String => "a string",
        Type::Array => "an array",
        Type::Object => "an object",
        Type::Uri => "a URI",
        Type::Schemed => "a string that begins with a scheme",
        Type::UriTemplate => "a URI template",
        Type::Base64 => "base64",
        Type::CanonicalBase64 => "canonical base64",
        Type::Mime => "a media type",
        Type::Timestamp => "an ISO 8601 date and time",
        Type::Revision => "a published protocol revision",
        Type::OneLine => "a string of one line",
    }
}
