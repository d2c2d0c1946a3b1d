//! How is a tree read into typed values? Maps against the table of the language, and values of plain shapes.
//!
//! Every reading function gives `None` after it has reported why, and reading goes on, so that one run names all
//! problems of a file.

use crate::case::language::{self, Key};
use crate::case::source::{Problem, Source};
use crate::case::tree::{Node, Value};
use crate::nearest::nearest;
use crate::record::{Place, Transport};
use crate::revision::{Era, Revision};
use std::ops::Range;
use std::time::Duration;

pub(crate) struct Reader<'s> {
    source: &'s Source,
    pub(super) problems: Vec<Problem>,
}

/// The members of a map that were known, by their place in the table.
pub(crate) struct Fields<'n> {
    pub range: Range<usize>,
    /// A key was reported: then what is missing was probably meant by it, and is not reported as well.
    pub has_unknown: bool,
    members: Vec<(&'static str, Range<usize>, &'n Node)>,
}

impl<'n> Fields<'n> {
    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.members.iter().find(|(known, ..)| *known == name).map(|(.., node)| *node)
    }

    /// The members that a table lists: the name, its key's bytes, its value.
    pub fn all_of(&self, keys: &[Key]) -> Vec<(&'static str, Range<usize>, &'n Node)> {
        let listed = |name: &str| keys.iter().any(|key| key.name == name);
        self.members.iter().filter(|(name, ..)| listed(name)).cloned().collect()
    }
}

impl<'s> Reader<'s> {
    pub fn new(source: &'s Source) -> Self {
        Self { source, problems: Vec::new() }
    }

    pub fn place(&self, range: &Range<usize>) -> Place {
        self.source.place(range)
    }

    pub fn report(&mut self, range: &Range<usize>, message: impl Into<String>, help: Option<String>) {
        let place = self.place(range);
        self.problems.push(Problem { place, message: message.into(), help });
    }

    fn mismatch<T>(&mut self, node: &Node, wanted: &str) -> Option<T> {
        self.report(&node.range, format!("expected {wanted}, found {}", node.kind()), None);
        None
    }

    /// A map whose keys are in one of the tables. `what` names the map in messages: `` `call` ``.
    pub fn fields<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        tables: &[&'static [Key]],
    ) -> Option<Fields<'n>> {
        let Value::Map(members) = &node.value else {
            return self.mismatch(node, &format!("a map for {what}"));
        };
        let known = || tables.iter().flat_map(|table| table.iter());
        let mut fields = Fields { range: node.range.clone(), has_unknown: false, members: Vec::new() };
        for (key, value) in members {
            match known().find(|known| known.name == key.text) {
                Some(known) => fields.members.push((known.name, key.range.clone(), value)),
                None => {
                    fields.has_unknown = true;
                    let help = would_fit(&key.text, known().map(|known| known.name));
                    self.report(&key.range, format!("unknown key `{}` in {what}", key.text), Some(help));
                }
            }
        }
        for required in known().filter(|key| key.required) {
            if fields.get(required.name).is_none() && !fields.has_unknown {
                let message = format!("{what} lacks `{}`", required.name);
                self.report(&fields.range, message, Some(lower_first(required.doc)));
            }
        }
        Some(fields)
    }

    /// The one member that is there of several that exclude one another.
    pub fn exactly_one<'n>(
        &mut self,
        fields: &Fields<'n>,
        table: &'static [Key],
        what: &str,
    ) -> Option<(&'static str, &'n Node)> {
        let found = fields.all_of(table);
        match found.as_slice() {
            [(name, _, node)] => Some((name, node)),
            [] if fields.has_unknown => None,
            [] => {
                let names = listed(table.iter().map(|key| key.name));
                self.report(&fields.range, format!("{what} is missing"), Some(format!("one of {names}")));
                None
            }
            [(first, ..), (second, range, _), ..] => {
                self.report(
                    range,
                    format!("`{second}` does not go with `{first}`: {what} stands alone"),
                    None,
                );
                None
            }
        }
    }

    pub fn text(&mut self, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) if text.is_empty() => {
                self.report(&node.range, "expected text, found none", None);
                None
            }
            Value::Text(text) => Some(text.clone()),
            Value::Null => self.mismatch(node, "text"),
            Value::Number(_) | Value::Bool(_) => {
                let help = "put quotes around what is meant as text".to_owned();
                self.report(&node.range, format!("expected text, found {}", node.kind()), Some(help));
                None
            }
            Value::List(_) | Value::Map(_) => self.mismatch(node, "text"),
        }
    }

    pub fn flag(&mut self, node: &Node) -> Option<bool> {
        if let Value::Bool(truth) = node.value {
            Some(truth)
        } else {
            self.mismatch(node, "`true` or `false`")
        }
    }

    /// A key that says everything by being there.
    pub fn just_true(&mut self, node: &Node) -> Option<()> {
        if matches!(node.value, Value::Bool(true)) { Some(()) } else { self.mismatch(node, "`true`") }
    }

    pub fn whole(&mut self, node: &Node) -> Option<u64> {
        let number = if let Value::Number(number) = &node.value { number.as_u64() } else { None };
        number.or_else(|| self.mismatch(node, "a whole number that is not negative"))
    }

    pub fn size(&mut self, node: &Node) -> Option<usize> {
        self.whole(node).and_then(|number| usize::try_from(number).ok())
    }

    pub fn list<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        if let Value::List(items) = &node.value {
            Some(items)
        } else {
            self.mismatch(node, &format!("a list of {what}"))
        }
    }

    /// One value or a list of them.
    pub fn one_or_more<T>(
        &mut self,
        node: &Node,
        mut read: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Option<Vec<T>> {
        match &node.value {
            Value::List(items) => Some(items.iter().filter_map(|item| read(self, item)).collect()),
            _ => read(self, node).map(|value| vec![value]),
        }
    }

    pub fn texts(&mut self, node: &Node) -> Option<Vec<String>> {
        self.one_or_more(node, Self::text)
    }

    /// One of the words; gives its index. `what`: `predicate`.
    pub fn word(&mut self, node: &Node, words: &[&str], what: &str) -> Option<usize> {
        // `null` names a type and an excuse; as a bare word it is YAML's null.
        let text = if matches!(node.value, Value::Null) { "null".to_owned() } else { self.text(node)? };
        let found = words.iter().position(|word| *word == text);
        if found.is_none() {
            self.report(
                &node.range,
                format!("unknown {what} `{text}`"),
                Some(would_fit(&text, words.iter().copied())),
            );
        }
        found
    }

    pub fn duration(&mut self, node: &Node) -> Option<Duration> {
        let help = "write a whole number with its unit: `500ms`, `2s` or `1m`".to_owned();
        let Value::Text(text) = &node.value else {
            self.report(&node.range, format!("expected a duration, found {}", node.kind()), Some(help));
            return None;
        };
        let Some(duration) = parse_duration(text) else {
            self.report(&node.range, format!("`{text}` is no duration"), Some(help));
            return None;
        };
        if duration > LONGEST_WAIT {
            self.report(&node.range, format!("`{text}` is longer than 10m, the longest wait"), None);
            return None;
        }
        Some(duration)
    }

    pub fn transports(&mut self, node: &Node) -> Option<Vec<Transport>> {
        let mut transports = self.one_or_more(node, |reader, item| {
            let index = reader.word(item, language::TRANSPORTS, "transport")?;
            Transport::ALL.get(index).copied()
        })?;
        transports.sort();
        transports.dedup();
        self.not_empty(node, transports)
    }

    /// Revisions, ranges and eras; sorted, without repeats.
    pub fn revisions(&mut self, node: &Node) -> Option<Vec<Revision>> {
        let all = self.one_or_more(node, |reader, item| {
            let text = reader.text(item)?;
            reader.revisions_of(&text, &item.range)
        })?;
        let mut revisions: Vec<Revision> = all.into_iter().flatten().collect();
        revisions.sort();
        revisions.dedup();
        self.not_empty(node, revisions)
    }

    pub fn revisions_of(&mut self, text: &str, range: &Range<usize>) -> Option<Vec<Revision>> {
        let found = match text {
            "all" => Ok(Revision::ALL.to_vec()),
            "stateful" => Ok(Revision::of(Era::Stateful).collect()),
            "stateless" => Ok(Revision::of(Era::Stateless).collect()),
            _ => match text.split_once("..") {
                Some((first, last)) => parse_ends(first, last),
                None => text.parse().map(|revision| vec![revision]).map_err(|_| text.to_owned()),
            },
        };
        match found {
            Ok(revisions) if revisions.is_empty() => {
                self.report(range, format!("`{text}` ends before it begins"), None);
                None
            }
            Ok(revisions) => Some(revisions),
            Err(unknown) => {
                let names = Revision::ALL.iter().map(|revision| revision.as_str());
                let help = would_fit(&unknown, names.chain(language::REVISION_WORDS.iter().copied()));
                self.report(range, format!("unknown revision `{unknown}`"), Some(help));
                None
            }
        }
    }

    fn not_empty<T>(&mut self, node: &Node, items: Vec<T>) -> Option<Vec<T>> {
        if items.is_empty() {
            self.report(&node.range, "expected at least one", None);
            return None;
        }
        Some(items)
    }
}

/// A case that waits longer than this would look like a hang.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    match &text[digits..] {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    }
}

/// The unknown end, if one is.
fn parse_ends(first: &str, last: &str) -> Result<Vec<Revision>, String> {
    let first: Revision = first.parse().map_err(|_| first.to_owned())?;
    let last: Revision = last.parse().map_err(|_| last.to_owned())?;
    Ok(Revision::ALL.into_iter().filter(|revision| (first..=last).contains(revision)).collect())
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// ``did you mean `equals`? (one of `equals`, `is`, ...)``
pub(crate) fn would_fit<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let all = listed(names.iter().copied());
    match nearest(typed, names) {
        Some(near) => format!("did you mean `{near}`? What fits: {all}"),
        None => format!("what fits: {all}"),
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}
