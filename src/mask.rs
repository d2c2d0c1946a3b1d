//! Which texts are secret, and how are they kept out of reports and transcripts?
//!
//! Secrets are values, not places: wherever one appears, `[masked]` stands instead. In which `forms` they appear, and in
//! which `places` a user gives them, is told below.

use std::borrow::Cow;
use std::ops::Range;

mod forms;
mod places;

/// What stands where a secret stood.
pub const MASKED: &str = "[masked]";

/// Environment variables whose name contains one of these hold secrets.
const NAMES: [&str; 6] = ["token", "key", "secret", "password", "passwd", "credential"];
/// Shorter values are not taken from the environment, and shorter parts of a secret are not looked for: too many
/// harmless texts contain them.
const SHORTEST: usize = 6;

/// The secrets of a run.
#[derive(Clone, Default)]
pub struct Masks {
    /// In all their forms, those with the same first byte together.
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

    /// Adds a secret, whatever its length; an empty one is ignored. Masks also the forms that it takes elsewhere, and
    /// the lines of one that has several.
    pub fn add(&mut self, secret: &str) {
        let lines =
            secret.lines().map(str::trim).filter(|line| line.len() >= SHORTEST && line.len() < secret.len());
        for form in std::iter::once(secret).chain(lines).flat_map(forms::forms) {
            if !form.is_empty() {
                self.secrets.push(form);
            }
        }
        self.secrets.sort_unstable_by(|one, other| order(one).cmp(&order(other)));
        self.secrets.dedup();
    }

    /// The text of a report with every secret masked, and how many were: also the beginning of one, where the text was
    /// cut.
    pub fn apply<'t>(&self, text: &'t str) -> (Cow<'t, str>, usize) {
        mask(text, &self.search(text.as_bytes(), is_cut))
    }

    /// As [`Masks::apply`], for the text that follows a cut: it may begin with the rest of a secret.
    pub fn apply_after_cut<'t>(&self, text: &'t str) -> (Cow<'t, str>, usize) {
        let mut found = self.search(text.as_bytes(), is_cut);
        let rests = self.secrets.iter().filter_map(|secret| rest_at_start(text, secret));
        if let Some(rest) = rests.max() {
            found.retain(|range| range.end > rest);
            match found.first_mut() {
                Some(range) if range.start < rest => range.start = 0,
                _ => found.insert(0, 0..rest),
            }
        }
        mask(text, &found)
    }

    /// The exact bytes of a frame with every secret masked, and how many were.
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

    /// Where secrets stand, from left to right, and the beginning of one with which the bytes end. Those that overlap
    /// are one.
    pub fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        self.search(bytes, |rest, at| at == rest.len())
    }

    /// `is_cut` says of a text and a place in it whether a secret that is whole up to there may have been cut.
    fn search(&self, bytes: &[u8], is_cut: impl Fn(&[u8], usize) -> bool) -> Vec<Range<usize>> {
        let mut begins = [false; 256];
        for first in self.secrets.iter().filter_map(|secret| secret.as_bytes().first()) {
            begins[usize::from(*first)] = true;
        }
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while let Some(step) = bytes[at..].iter().position(|byte| begins[usize::from(*byte)]) {
            at += step;
            if let Some(length) = self.length_at(&bytes[at..], &is_cut) {
                match found.last_mut() {
                    Some(last) if at < last.end => last.end = last.end.max(at + length),
                    _ => found.push(at..at + length),
                }
            }
            at += 1;
        }
        found
    }

    /// The length of the longest secret with which the bytes begin, or of the beginning of one that was cut.
    fn length_at(&self, bytes: &[u8], is_cut: &impl Fn(&[u8], usize) -> bool) -> Option<usize> {
        let first = *bytes.first()?;
        let from = self.secrets.partition_point(|secret| secret.as_bytes().first() < Some(&first));
        let alike =
            self.secrets[from..].iter().take_while(|secret| secret.as_bytes().first() == Some(&first));
        let lengths = alike.filter_map(|secret| {
            let common = secret.bytes().zip(bytes).take_while(|(one, other)| one == *other).count();
            let is_there = common == secret.len() || (common >= SHORTEST && is_cut(bytes, common));
            is_there.then_some(common)
        });
        lengths.max()
    }
}

/// By the first byte.
fn order(secret: &str) -> (Option<u8>, &str) {
    (secret.bytes().next(), secret)
}

/// Whether a text of ours may have been cut there: where it ends, before the sign for what was left out, and where a
/// character was cut.
fn is_cut(text: &[u8], at: usize) -> bool {
    const LEFT_OUT: &[u8] = b"...";
    let is_followed = |sign: &[u8]| text[at..].starts_with(sign);
    // A secret may itself go on with the dots.
    let dots = (0..LEFT_OUT.len()).any(|back| text[at.saturating_sub(back)..].starts_with(LEFT_OUT));
    at == text.len() || dots || is_followed("\u{fffd}".as_bytes())
}

/// How much of the secret, but not all of it, stands at the start of a text before which something was cut.
fn rest_at_start(text: &str, secret: &str) -> Option<usize> {
    let lengths = (SHORTEST..secret.len()).rev();
    lengths
        .into_iter()
        .find(|length| secret.get(secret.len() - length..).is_some_and(|rest| text.starts_with(rest)))
}

/// The ranges fall between characters, since they are made of whole ones.
fn mask<'t>(text: &'t str, found: &[Range<usize>]) -> (Cow<'t, str>, usize) {
    if found.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let mut masked = String::with_capacity(text.len());
    let mut rest = 0;
    for range in found {
        masked.push_str(text.get(rest..range.start).unwrap_or_default());
        masked.push_str(MASKED);
        rest = range.end;
    }
    masked.push_str(text.get(rest..).unwrap_or_default());
    (Cow::Owned(masked), found.len())
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
        assert!(!format!("{masks:?}").contains("hunter22"));
    }

    #[test]
    fn secrets_that_overlap_leave_nothing_of_either() {
        assert_eq!(masks(&["abcdef", "defxyz"]).apply("-abcdefxyz-abc").0, "-[masked]-abc");
    }

    #[test]
    fn what_a_cut_leaves_of_a_secret_is_masked() {
        let masks = masks(&["hunter22-and-more"]);
        let before = |text: &str| masks.apply(text).0.into_owned();
        assert_eq!(before("got hunter22-a... here"), "got [masked]... here");
        assert_eq!(before("got hunter22-\u{fffd}"), "got [masked]\u{fffd}");
        assert_eq!(before("got hunter"), "got [masked]");
        assert_eq!(before("got hunt... and hunter22 and"), "got hunt... and hunter22 and");
        let after = |text: &str| masks.apply_after_cut(text).0.into_owned();
        assert_eq!(after("d-more, it says"), "[masked], it says");
        assert_eq!(after("more, hunter22-and-more"), "more, [masked]");
        // In exact bytes only an end is a cut.
        assert_eq!(masks.apply_bytes(b"hunter22-an...").1, 0);
        assert_eq!(masks.apply_bytes(b"hunter22-an").1, 1);
    }

    #[test]
    fn each_line_of_a_secret_is_one() {
        assert_eq!(masks(&["-----BEGIN\nabcdefgh\n}\n"]).apply("of abcdefgh }").0, "of [masked] }");
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
