//! Is this value of that type, or this string in that format? Each refusal says why.

use crate::case::model::Type;
use crate::revision::Revision;
use crate::uri_template::is_template;
use crate::wire::json::Json;
use base64::Engine;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use iri_string::types::{IriStr, UriStr};
use time::format_description::well_known::{Iso8601, Rfc3339};
use time::{OffsetDateTime, PrimitiveDateTime};

/// Why a value is not of a type; empty where the value itself says enough.
pub type Refusal = String;

/// Padding and alphabet as RFC 4648 section 4 has them; what the unused bits of the last character hold is
/// not looked at.
const ANY_PAD_BITS: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);
const ZERO_PAD_BITS: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new());

/// Whether a value that is there has the type.
pub fn examine(kind: Type, value: &Json) -> Result<(), Refusal> {
    let holds = match kind {
        Type::Absent => false,
        Type::Present => true,
        Type::Null => value.is_null(),
        Type::Boolean => value.as_bool().is_some(),
        Type::Integer => value.as_number().is_some_and(|number| number.is_integer()),
        Type::Number => value.as_number().is_some(),
        Type::String => value.as_text().is_some(),
        Type::Array => value.as_array().is_some(),
        Type::Object => value.as_object().is_some(),
        _ => return examine_text(kind, value),
    };
    if holds { Ok(()) } else { Err(String::new()) }
}

fn examine_text(kind: Type, value: &Json) -> Result<(), Refusal> {
    let Some(text) = value.as_text() else { return Err(String::new()) };
    let Some(text) = text.as_str() else { return Err("it has a lone surrogate".to_owned()) };
    match kind {
        Type::Uri => uri(text),
        Type::Schemed => schemed(text),
        Type::UriTemplate => uri_template(text),
        Type::Base64 => base64_bytes(text).map(drop),
        Type::CanonicalBase64 => base64_bytes(text)
            .and_then(|_| ZERO_PAD_BITS.decode(text).map_err(|_| "its pad bits are not zero".to_owned()))
            .map(drop),
        Type::Mime => mime(text),
        Type::Timestamp => timestamp(text),
        Type::Revision => text.parse::<Revision>().map(drop).map_err(|_| String::new()),
        Type::OneLine if text.is_empty() => Err("it is empty".to_owned()),
        Type::OneLine if text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) => {
            Err("it has a line break".to_owned())
        }
        _ => Ok(()),
    }
}

fn uri(text: &str) -> Result<(), Refusal> {
    if UriStr::new(text).is_ok() {
        return Ok(());
    }
    schemed(text)?;
    if let Some(odd) = text.chars().find(|character| !character.is_ascii_graphic()) {
        return Err(format!("{odd:?} is written percent-encoded in a URI"));
    }
    Err("its syntax is not that of RFC 3986".to_owned())
}

fn schemed(text: &str) -> Result<(), Refusal> {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let plain = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    match scheme {
        Some(scheme)
            if scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.chars().all(plain) =>
        {
            Ok(())
        }
        _ => Err("it has no scheme".to_owned()),
    }
}

/// Only the expressions are looked at, each by itself.
fn uri_template(text: &str) -> Result<(), Refusal> {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let from_brace = &rest[at..];
        if from_brace.starts_with('}') {
            return Err("a `}` closes nothing".to_owned());
        }
        let end = from_brace.find('}').ok_or_else(|| "a `{` is never closed".to_owned())?;
        let expression = &from_brace[..=end];
        // The crate lets a prefix length of zero pass; in an expression `:` occurs nowhere else.
        if !is_template(expression) || expression.contains(":0") {
            return Err(format!("`{expression}` is no expression of RFC 6570"));
        }
        rest = &from_brace[end + 1..];
    }
    Ok(())
}

/// The bytes that a base64 string stands for.
pub fn base64_bytes(text: &str) -> Result<Vec<u8>, Refusal> {
    ANY_PAD_BITS.decode(text).map_err(|error| match error {
        base64::DecodeError::InvalidByte(at, byte) if byte.is_ascii_whitespace() => {
            format!("it has white space at offset {at}")
        }
        base64::DecodeError::InvalidByte(at, b'-' | b'_') => {
            format!("at offset {at} it uses the URL-safe alphabet")
        }
        base64::DecodeError::InvalidByte(at, _) => {
            format!("the character at offset {at} is not of its alphabet")
        }
        base64::DecodeError::InvalidLength(length) => format!("its length of {length} fits no bytes"),
        base64::DecodeError::InvalidLastSymbol { .. } => "its last character fits no bytes".to_owned(),
        base64::DecodeError::InvalidPadding => "its padding is wrong".to_owned(),
    })
}

fn mime(text: &str) -> Result<(), Refusal> {
    let (kind, rest) = text.split_once('/').ok_or("it has no `/`")?;
    let (subtype, mut parameters) = split_token(rest);
    if !is_token(kind) || subtype.is_empty() {
        return Err("it is not `type/subtype`".to_owned());
    }
    loop {
        parameters = parameters.trim_start_matches([' ', '\t']);
        if parameters.is_empty() {
            return Ok(());
        }
        let parameter = parameters.strip_prefix(';').ok_or("a parameter begins with `;`")?;
        let (name, value) = split_token(parameter.trim_start_matches([' ', '\t']));
        let value =
            value.strip_prefix('=').filter(|_| !name.is_empty()).ok_or("a parameter is `name=value`")?;
        parameters = match value.strip_prefix('"') {
            Some(quoted) => after_quoted(quoted).ok_or("a quoted parameter is never closed")?,
            None => match split_token(value) {
                ("", _) => return Err("a parameter is `name=value`".to_owned()),
                (_, rest) => rest,
            },
        };
    }
}

fn is_token_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character)
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_token_char)
}

fn split_token(text: &str) -> (&str, &str) {
    text.split_at(text.find(|character| !is_token_char(character)).unwrap_or(text.len()))
}

fn after_quoted(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

/// The date-time forms of ISO 8601, with or without an offset from UTC.
fn timestamp(text: &str) -> Result<(), Refusal> {
    let zoned = OffsetDateTime::parse(text, &Rfc3339).is_ok()
        || OffsetDateTime::parse(text, &Iso8601::PARSING).is_ok();
    if zoned || PrimitiveDateTime::parse(text, &Iso8601::PARSING).is_ok() {
        return Ok(());
    }
    Err(String::new())
}

/// Whether a URI is `base` or lies below it in the hierarchy, both normalised as RFC 3986 section 6 says and
/// without a slash at the end.
pub fn is_at_or_below(uri: &str, base: &str) -> bool {
    let (uri, base) = (normalise(uri), normalise(base));
    let base = base.trim_end_matches('/');
    uri.trim_end_matches('/') == base
        || uri.strip_prefix(base).is_some_and(|below| below.starts_with(['/', '?', '#']))
}

fn normalise(uri: &str) -> String {
    if let Ok(uri) = UriStr::new(uri) {
        return uri.normalize().to_string();
    }
    IriStr::new(uri).map_or_else(|_| uri.to_owned(), |iri| iri.normalize().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(kind: Type, good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(examine(kind, &Json::from(*text)), Ok(()), "{text:?}");
        }
        for text in bad {
            assert!(examine(kind, &Json::from(*text)).is_err(), "{text:?}");
        }
        assert!(examine(kind, &Json::from(7)).is_err());
    }

    #[test]
    fn uris_have_a_scheme_and_plain_characters() {
        sort(
            Type::Uri,
            &["file:///a%20b", "test://x", "urn:isbn:1", "a+b.c-d:x?q#f", "http://[::1]/"],
            &["", "/a", "a", "file:///a b", "file:///é", "1a:b", "http://[::1/", "a:%zz"],
        );
        sort(Type::Schemed, &["file:///a b", "x:é", "x:"], &["", "a b:c", "/a:b", ":x"]);
    }

    #[test]
    fn templates_are_judged_by_their_expressions() {
        assert!(examine(Type::UriTemplate, &Json::from("a:{%ஞ}")).is_err(), "and without a panic");
        sort(
            Type::UriTemplate,
            &["file:///{path}", "x:{+a,b*}{?q:3}", "x: é", "no-scheme/{id}"],
            &["x:{", "x:}", "x:{a", "x:{}", "x:{a b}", "x:{a{b}}", "x:{a:0}"],
        );
    }

    #[test]
    fn base64_is_strict_and_pad_bits_are_a_question_of_their_own() {
        sort(
            Type::Base64,
            &["", "YQ==", "YR==", "+/+/"],
            &["YQ", "YQ=", "Y-_=", "YQ==\n", "Y Q=", "YQ===", "A"],
        );
        sort(Type::CanonicalBase64, &["", "YQ==", "YWI="], &["YR==", "YWJ=", "YQ"]);
        assert_eq!(base64_bytes("YWJj"), Ok(b"abc".to_vec()));
        assert_eq!(base64_bytes("ab-_").unwrap_err(), "at offset 2 it uses the URL-safe alphabet");
        assert_eq!(base64_bytes("YQ").unwrap_err(), "its padding is wrong");
    }

    #[test]
    fn media_types_have_two_parts_and_parameters() {
        sort(
            Type::Mime,
            &[
                "text/plain",
                "a/b+c",
                "text/plain;charset=utf-8",
                "a/b; c=\"d;\\\"e\" ; f=g",
                "application/vnd.x-y",
            ],
            &[
                "",
                "text",
                "text/",
                "/plain",
                "a/b/c",
                "a b/c",
                "a/b;",
                "a/b; c",
                "a/b; c=",
                "a/b; c=\"d",
                "a/b x",
            ],
        );
    }

    #[test]
    fn timestamps_have_date_and_time() {
        sort(
            Type::Timestamp,
            &[
                "2025-01-12T15:00:58Z",
                "2025-01-12T15:00:58.123+02:00",
                "20250112T150058Z",
                "2025-01-12T15:00:58",
                "2025-W02-7T15:00Z",
            ],
            &["", "2025-13-12T15:00:58Z", "2025-01-12", "yesterday", "2025-01-12T25:00:00Z", "1736694058"],
        );
        sort(Type::Revision, &["2025-06-18"], &["draft", "2025-06-19", ""]);
        sort(Type::OneLine, &["a", " "], &["", "a\nb", "a\r", "\u{2028}"]);
    }

    #[test]
    fn below_is_judged_after_normalisation() {
        for (uri, base) in [
            ("file:///a", "file:///a"),
            ("file:///a/", "file:///a"),
            ("FILE:///a/b", "file:///a/"),
            ("http://HOST/a%7e", "http://host/a~"),
            ("x://h/a/./c/../b", "x://h/a/b"),
            ("file:///a/b", "file:///"),
            ("x:a#1", "x:a"),
            ("not a uri", "not a uri"),
        ] {
            assert!(is_at_or_below(uri, base), "{uri} {base}");
        }
        for (uri, base) in [("file:///ab", "file:///a"), ("file:///", "file:///a"), ("x:///a/../b", "x:///a")]
        {
            assert!(!is_at_or_below(uri, base), "{uri} {base}");
        }
    }
}
