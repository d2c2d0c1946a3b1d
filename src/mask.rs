//! Which texts are secret, and how are they kept out of reports and transcripts?
//!
//! Secrets are values, not places: wherever one appears, `[masked]` stands instead.

use std::borrow::Cow;
use std::ops::Range;

/// What stands where a secret stood.
pub const MASKED: &str = "[masked]";

/// Environment variables whose name contains one of these hold secrets.
const NAMES: [&str; 6] = ["token", "key", "secret", "password", "passwd", "credential"];
/// Shorter values are not taken from the environment: too many harmless texts contain them.
const SHORTEST: usize = 6;

/// The secrets of a run.
#[derive(Clone, Default)]
pub struct Masks {
    /// Longest first, so that a secret within a longer one does not leave the rest of it visible.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Masks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Masks({} secrets)", self.secrets.len())
    }
}

impl Masks {
    /// No secrets.
    pub fn none() -> Self {
        Self::default()
    }

    /// The values of our own environment variables whose names say that they are secret.
    pub fn from_environment() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::from_variables(variables)
    }

    /// The values of those variables whose names say that they are secret.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut masks = Self::none();
        for (name, value) in variables {
            let name = name.to_ascii_lowercase();
            if value.chars().count() >= SHORTEST && NAMES.iter().any(|part| name.contains(part)) {
                masks.add(&value);
            }
        }
        masks
    }

    /// Adds a secret, whatever its length; an empty one is ignored. Masks also the form it takes in JSON.
    pub fn add(&mut self, secret: &str) {
        let quoted = serde_json::Value::from(secret).to_string();
        let escaped = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(secret);
        for form in [secret, escaped] {
            if !form.is_empty() && !self.secrets.iter().any(|known| known == form) {
                self.secrets.push(form.to_owned());
            }
        }
        self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// The value of a header that proves who asks: whole, and its last word, which is the secret of `Bearer ...`.
    pub fn add_header(&mut self, value: &str) {
        let value = value.trim();
        self.add(value);
        if let Some((_, last)) = value.rsplit_once(' ') {
            self.add(last);
        }
    }

    /// The text with every secret masked, and how many were.
    pub fn apply<'t>(&self, text: &'t str) -> (Cow<'t, str>, usize) {
        let found = self.find(text.as_bytes());
        if found.is_empty() {
            return (Cow::Borrowed(text), 0);
        }
        let mut masked = String::with_capacity(text.len());
        let mut rest = 0;
        // Secrets are whole characters, so each range falls between characters.
        for range in &found {
            masked.push_str(text.get(rest..range.start).unwrap_or_default());
            masked.push_str(MASKED);
            rest = range.end;
        }
        masked.push_str(text.get(rest..).unwrap_or_default());
        (Cow::Owned(masked), found.len())
    }

    /// As [`Masks::apply`], for bytes that need not be UTF-8.
    pub fn apply_bytes<'t>(&self, bytes: &'t [u8]) -> (Cow<'t, [u8]>, usize) {
        let found = self.find(bytes);
        if found.is_empty() {
            return (Cow::Borrowed(bytes), 0);
        }
        let mut masked = Vec::with_capacity(bytes.len());
        let mut rest = 0;
        for range in &found {
            masked.extend_from_slice(&bytes[rest..range.start]);
            masked.extend_from_slice(MASKED.as_bytes());
            rest = range.end;
        }
        masked.extend_from_slice(&bytes[rest..]);
        (Cow::Owned(masked), found.len())
    }

    /// Where secrets stand, from left to right, without overlap; of several at one place, the longest.
    pub fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut begins = [false; 256];
        for first in self.secrets.iter().filter_map(|secret| secret.as_bytes().first()) {
            begins[usize::from(*first)] = true;
        }
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(step) = bytes[at..].iter().position(|byte| begins[usize::from(*byte)]) {
            at += step;
            match self.secrets.iter().find(|secret| bytes[at..].starts_with(secret.as_bytes())) {
                Some(secret) => {
                    found.push(at..at + secret.len());
                    at += secret.len();
                }
                None => at += 1,
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masks(secrets: &[&str]) -> Masks {
        let mut masks = Masks::none();
        for secret in secrets {
            masks.add(secret);
        }
        masks
    }

    #[test]
    fn the_longest_secret_at_a_place_wins_and_all_are_counted() {
        let masks = masks(&["abc", "abcdef", ""]);
        assert_eq!(masks.apply("xabcdefabcx"), (Cow::Borrowed("x[masked][masked]x"), 2));
        assert_eq!(masks.apply("ab"), (Cow::Borrowed("ab"), 0));
        let (bytes, count) = masks.apply_bytes(b"\xffabc\xfe");
        assert_eq!((bytes.as_ref(), count), (&b"\xff[masked]\xfe"[..], 1));
    }

    #[test]
    fn a_secret_is_found_as_json_writes_it() {
        let masks = masks(&["p\"ss\\wörd"]);
        assert_eq!(masks.apply(r#"{"k":"p\"ss\\wörd"}"#).0, r#"{"k":"[masked]"}"#);
        assert_eq!(masks.apply("p\"ss\\wörd").1, 1);
    }

    #[test]
    fn names_decide_which_variables_are_secret() {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let masks = Masks::from_variables([
            variable("GITHUB_TOKEN", "ghp-123456"),
            variable("api_key", "short"),
            variable("HOME", "/home/somebody"),
            variable("Db_Password", "hunter22"),
        ]);
        let text = "ghp-123456 short /home/somebody hunter22";
        assert_eq!(masks.apply(text).0, "[masked] short /home/somebody [masked]");
        assert_eq!(format!("{masks:?}"), "Masks(2 secrets)");
    }

    proptest! {
        #[test]
        fn no_secret_survives_and_the_two_forms_agree(
            text in "[abä]{0,40}", secrets in proptest::collection::vec("[abä]{1,3}", 1..4)
        ) {
            let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
            let masks = masks(&secrets);
            let (masked, count) = masks.apply(&text);
            // The mask itself holds an `a`, so it is taken out first.
            for part in masked.split(MASKED) {
                for secret in &secrets {
                    prop_assert!(!part.contains(secret));
                }
            }
            prop_assert_eq!(masked.matches(MASKED).count(), count);
            let (bytes, bytes_count) = masks.apply_bytes(text.as_bytes());
            prop_assert_eq!(bytes.as_ref(), masked.as_bytes());
            prop_assert_eq!(bytes_count, count);
        }
    }
}
