//! What characters does a JSON string hold? Any sequence of UTF-16 code units, so lone surrogates too.

use std::borrow::Cow;

/// A JSON string. Almost always a `String`; lone surrogates, which `"\ud800"` may carry, are kept.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Repr);

/// One representation for each text, so that the derived comparisons are right:
/// `Broken` is used only where a `String` cannot hold the text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Repr {
    Whole(String),
    Broken(Vec<u16>),
}

impl Text {
    /// The text made of these UTF-16 code units; a high surrogate before a low one is one character.
    pub fn from_units(units: Vec<u16>) -> Text {
        match String::from_utf16(&units) {
            Ok(whole) => Text(Repr::Whole(whole)),
            Err(_) => Text(Repr::Broken(units)),
        }
    }

    /// The text, or `None` if it holds a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Whole(whole) => Some(whole),
            Repr::Broken(_) => None,
        }
    }

    /// The text, with U+FFFD in place of each lone surrogate.
    pub fn to_string_lossy(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Whole(whole) => Cow::Borrowed(whole),
            Repr::Broken(units) => Cow::Owned(String::from_utf16_lossy(units)),
        }
    }

    /// The characters in order; `Err` holds a lone surrogate.
    pub fn chars(&self) -> impl Iterator<Item = Result<char, u16>> + '_ {
        let (whole, units) = match &self.0 {
            Repr::Whole(whole) => (whole.as_str(), [].as_slice()),
            Repr::Broken(units) => ("", units.as_slice()),
        };
        let broken = char::decode_utf16(units.iter().copied()).map(|c| c.map_err(|e| e.unpaired_surrogate()));
        whole.chars().map(Ok).chain(broken)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(Repr::Whole(text.to_owned()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(Repr::Whole(text))
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_surrogates_is_one_character() {
        assert_eq!(Text::from_units(vec![0xd83d, 0xde00]), Text::from("😀"));
    }

    #[test]
    fn lone_surrogates_are_kept_apart() {
        let high = Text::from_units(vec![0x61, 0xd800]);
        assert_eq!(high.as_str(), None);
        assert_eq!(high.to_string_lossy(), "a\u{fffd}");
        assert_ne!(high, Text::from_units(vec![0x61, 0xd801]));
        assert_ne!(high, Text::from("a\u{fffd}"));
        assert_eq!(high.chars().collect::<Vec<_>>(), [Ok('a'), Err(0xd800)]);
    }
}
