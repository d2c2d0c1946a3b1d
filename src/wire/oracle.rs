//! Does our own reading of messages hold for these bytes, whatever they are? The body that the fuzz target
//! `wire_message`, the committed seeds and the property tests share.
//!
//! Four promises: every defect has a listed name; what is read prints on one line and reads again as the same;
//! a sound message survives being written; and `serde_json` agrees, except where [`KnownDifference`] says why not.

use std::collections::HashSet;

use super::defect::Defect;
use super::json::{Blemish, Json, JsonDefect, Limits, Number, Parsed, parse};
use super::message::{Reading, read, read_batch};

/// What was said of bytes for which all promises hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A message without defects.
    Accepted,
    /// At least one defect.
    Refused,
}

/// A broken promise: a mistake of ours.
#[derive(Debug, thiserror::Error)]
pub enum Breach {
    /// A name that cases cannot know.
    #[error("the defect `{0}` is not in the list of names")]
    UnlistedName(&'static str),
    /// The printed form would break a line or steer a terminal.
    #[error("control characters in the printed form {0:?}")]
    PrintsControls(String),
    /// Printing and reading changes the value.
    #[error("{printed} was printed and read again as {again:?}")]
    PrintsOtherwise { printed: String, again: Result<Json, JsonDefect> },
    /// Writing and reading changes the message.
    #[error("{written} was written and read again as {again:?}")]
    WritesOtherwise { written: String, again: Box<Reading> },
    /// We refuse, serde_json does not.
    #[error("refused ({0}), but serde_json accepts")]
    RefusedAlone(JsonDefect),
    /// We accept, serde_json does not.
    #[error("accepted {json:?}, but serde_json says: {reason}")]
    AcceptedAlone { json: Json, reason: serde_json::Error },
    /// Both accept, with different values.
    #[error("read {ours:?}, but serde_json reads {theirs}")]
    ReadsOtherwise { ours: Json, theirs: serde_json::Value },
}

/// Texts that we accept and serde_json refuses. In what both accept, it also rounds numbers beyond 64-bit integers,
/// forgets the order of members and keeps only the last of duplicates. It accepts nothing that we refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownDifference {
    /// A lone surrogate escape: within the grammar of RFC 8259, whose section 8.2 leaves its meaning open.
    LoneSurrogate,
    /// A byte order mark: RFC 8259 section 8.1 lets readers ignore it. We do, with a defect.
    Bom,
    /// A number that rounds to no finite `f64`, or may round so by serde_json's shorter arithmetic.
    OutOfRange,
    /// Nesting from 128 on.
    Depth,
}

impl KnownDifference {
    /// The reason for which serde_json may refuse what was read here.
    pub fn of(parsed: &Parsed) -> Option<KnownDifference> {
        if parsed.blemishes.contains(&Blemish::Bom) {
            return Some(KnownDifference::Bom);
        }
        if parsed.blemishes.iter().any(|blemish| matches!(blemish, Blemish::LoneSurrogate { .. })) {
            return Some(KnownDifference::LoneSurrogate);
        }
        let mut level = vec![&parsed.json];
        let mut depth = 0;
        while !level.is_empty() {
            let is_out_of_range = |json: &&Json| json.as_number().is_some_and(|n| n.as_f64().abs() > 1e308);
            if level.iter().any(is_out_of_range) {
                return Some(KnownDifference::OutOfRange);
            }
            level = level.into_iter().flat_map(children).collect();
            depth += 1;
        }
        // The innermost level holds scalars or empty containers: so many brackets, or one fewer.
        (depth >= 128).then_some(KnownDifference::Depth)
    }
}

fn children(json: &Json) -> Vec<&Json> {
    match json {
        Json::Array(items) => items.iter().collect(),
        Json::Object(object) => object.iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

/// Reads the bytes as a message, within the default limits, and holds every promise against the outcome.
pub fn hold(bytes: &[u8]) -> Result<Verdict, Breach> {
    let limits = Limits::default();
    let reading = read(bytes, &limits);
    hold_reading(&reading, &limits)?;
    for element in read_batch(bytes, &limits) {
        hold_reading(&element, &limits)?;
    }
    let theirs = serde_json::from_slice::<serde_json::Value>(bytes);
    match (parse(bytes, &limits), theirs) {
        (Ok(parsed), Ok(theirs)) => {
            if !is_same(&parsed.json, &theirs) {
                return Err(Breach::ReadsOtherwise { ours: parsed.json, theirs });
            }
        }
        (Ok(parsed), Err(reason)) => {
            if KnownDifference::of(&parsed).is_none() {
                return Err(Breach::AcceptedAlone { json: parsed.json, reason });
            }
        }
        (Err(JsonDefect::TooLong { .. } | JsonDefect::TooMany { .. }), _) | (Err(_), Err(_)) => {}
        (Err(reason), Ok(_)) => return Err(Breach::RefusedAlone(reason)),
    }
    Ok(if reading.defects.is_empty() { Verdict::Accepted } else { Verdict::Refused })
}

fn hold_reading(reading: &Reading, limits: &Limits) -> Result<(), Breach> {
    let unlisted = reading.defects.iter().map(Defect::name).find(|name| !Defect::NAMES.contains(name));
    if let Some(name) = unlisted {
        return Err(Breach::UnlistedName(name));
    }
    // Printing may lengthen a text: an escape takes more room than the character.
    let limits = Limits { length: usize::MAX, ..*limits };
    if let Some(json) = &reading.json {
        let printed = json.to_string();
        if printed.contains(char::is_control) {
            return Err(Breach::PrintsControls(printed));
        }
        let again = parse(printed.as_bytes(), &limits).map(|parsed| parsed.json);
        if again.as_ref() != Ok(json) {
            return Err(Breach::PrintsOtherwise { printed, again });
        }
    }
    if let (Some(message), []) = (&reading.message, reading.defects.as_slice()) {
        let written = message.to_json().to_string();
        let again = read(written.as_bytes(), &limits);
        if again.message.as_ref() != Some(message) || !again.defects.is_empty() {
            return Err(Breach::WritesOtherwise { written, again: Box::new(again) });
        }
    }
    Ok(())
}

/// Whether serde_json, with its known losses, read the same value.
fn is_same(ours: &Json, theirs: &serde_json::Value) -> bool {
    use serde_json::Value;
    match (ours, theirs) {
        (Json::Number(ours), Value::Number(theirs)) => is_same_number(ours, theirs),
        (Json::String(ours), Value::String(theirs)) => ours == theirs.as_str(),
        (Json::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Json::Object(ours), Value::Object(theirs)) => {
            let names: HashSet<_> = ours.iter().map(|(name, _)| name).collect();
            names.len() == theirs.len()
                && theirs
                    .iter()
                    .all(|(name, theirs)| ours.get(name).is_some_and(|ours| is_same(ours, theirs)))
        }
        (Json::Null | Json::Bool(_), theirs) => *ours == Json::from(theirs),
        _ => false,
    }
}

fn is_same_number(ours: &Number, theirs: &serde_json::Number) -> bool {
    if theirs.is_i64() || theirs.is_u64() {
        return ours.same(&theirs.into());
    }
    // Without its `float_roundtrip` feature serde_json may miss the nearest f64 by a few units in the last place.
    let (ours, theirs) = (ours.as_f64(), theirs.as_f64().unwrap_or(f64::NAN));
    (ours - theirs).abs() <= ours.abs() * 1e-14 + f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Object, Text};
    use proptest::prelude::*;

    /// Any value that JSON can write, odd texts and numbers included.
    fn any_json() -> impl Strategy<Value = Json> {
        let unit = prop_oneof![0x20_u16..0x7f, 0xd7f0_u16..=0xe010, any::<u16>()];
        let text = || {
            prop_oneof![
                any::<String>().prop_map(Text::from),
                prop::collection::vec(unit.clone(), 0..6).prop_map(Text::from_units)
            ]
        };
        let number = "-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?"
            .prop_filter_map("a number", |text| Number::parse(&text).map(Json::Number));
        let scalar = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            number,
            text().prop_map(Json::String),
        ];
        let name = prop_oneof![
            prop::sample::select(vec!["jsonrpc", "id", "method", "params", "result", "error"])
                .prop_map(Text::from),
            text()
        ];
        scalar.prop_recursive(5, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
                prop::collection::vec((name.clone(), inner), 0..6)
                    .prop_map(|members| Json::Object(members.into_iter().collect::<Object>()))
            ]
        })
    }

    /// Pieces that make near misses likelier than random bytes do.
    fn any_pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\\u",
            "d800",
            "DC00",
            "\\n",
            "0",
            "1",
            "-",
            ".",
            "e",
            "+",
            "null",
            "true",
            "fals",
            " ",
            "\n",
            "\t",
            "\u{feff}",
            "é",
            "😀",
            "\u{7f}",
            "\"jsonrpc\":\"2.0\"",
            "\"id\":",
            "\"method\":",
            "\"result\":{}",
            "\"a\":1",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

        #[test]
        fn whatever_json_can_write(json in any_json()) {
            let printed = json.to_string();
            let parsed = parse(printed.as_bytes(), &Limits::default()).map(|parsed| parsed.json);
            prop_assert_eq!(parsed.as_ref(), Ok(&json));
            prop_assert!(json.same(&json.clone()));
            prop_assert!(hold(printed.as_bytes()).is_ok(), "{:?}", hold(printed.as_bytes()));
        }

        #[test]
        fn json_with_a_few_bytes_changed(
            json in any_json(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..4),
        ) {
            let mut bytes = json.to_string().into_bytes();
            for (index, byte, change) in changes {
                let at = index.index(bytes.len() + 1);
                match change {
                    0 => bytes.insert(at, byte),
                    1 => bytes.truncate(at),
                    _ => bytes.iter_mut().skip(at).take(1).for_each(|old| *old = byte),
                }
            }
            prop_assert!(hold(&bytes).is_ok(), "{:?}", hold(&bytes));
        }

        #[test]
        fn pieces_of_json_in_any_order(bytes in any_pieces()) {
            prop_assert!(hold(&bytes).is_ok(), "{:?}", hold(&bytes));
        }

        #[test]
        fn any_bytes_at_all(bytes: Vec<u8>) {
            prop_assert!(hold(&bytes).is_ok(), "{:?}", hold(&bytes));
        }
    }

    #[test]
    fn each_known_difference_is_real() {
        for (text, difference) in [
            (r#""\ud800""#.to_owned(), KnownDifference::LoneSurrogate),
            ("\u{feff}1".to_owned(), KnownDifference::Bom),
            ("[1e400]".to_owned(), KnownDifference::OutOfRange),
            ("[".repeat(128) + &"]".repeat(128), KnownDifference::Depth),
        ] {
            let parsed = parse(text.as_bytes(), &Limits::default()).unwrap();
            assert_eq!(KnownDifference::of(&parsed), Some(difference), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_err(), "{text}");
        }
        let at_their_limit = "[".repeat(127) + &"]".repeat(127);
        let parsed = parse(at_their_limit.as_bytes(), &Limits::default()).unwrap();
        assert_eq!(KnownDifference::of(&parsed), None);
        assert_eq!(hold(at_their_limit.as_bytes()).unwrap(), Verdict::Refused);
    }

    #[test]
    fn other_values_are_told_apart() {
        for (ours, theirs) in [
            ("9007199254740993", "9007199254740992"),
            ("1.5", "1.25"),
            ("1", "\"1\""),
            ("[1]", "[1,1]"),
            (r#"{"a":1,"b":2}"#, r#"{"a":1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":1}"#),
            ("null", "false"),
        ] {
            let parsed = parse(ours.as_bytes(), &Limits::default()).unwrap();
            assert!(!is_same(&parsed.json, &serde_json::from_str(theirs).unwrap()), "{ours} {theirs}");
        }
    }
}
