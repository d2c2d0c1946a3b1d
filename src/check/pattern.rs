//! Which parts of a value are meant? A JSON Pointer in which `*` stands for every element and `**` for any depth.

use crate::wire::json::Json;
use std::fmt;
use std::str::FromStr;

/// A parsed pattern: `/contents/*/blob`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A member's name or an array index.
    Name(String),
    /// Every element of an array or member of an object.
    Each,
    /// This value and everything below it.
    Anywhere,
}

/// A place in a value that a pattern means, whether or not something is there.
pub struct Match<'p, 'v> {
    /// The place that the names start from.
    base: &'p Path<'p>,
    /// What the pattern names below it.
    names: &'p [Segment],
    /// What stands there; `None` when the last names lead nowhere.
    pub value: Option<&'v Json>,
    /// Whether the object that would hold it is there, so that its absence is a fact.
    pub parent_is_object: bool,
}

impl Match<'_, '_> {
    /// Its JSON Pointer. Most matches never need theirs.
    pub fn pointer(&self) -> String {
        let mut pointer = self.base.pointer();
        for name in self.names.iter().filter_map(Segment::name) {
            push_token(&mut pointer, name);
        }
        pointer
    }
}

impl Segment {
    fn name(&self) -> Option<&str> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }
}

/// The text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("a pointer begins with `/`, or is empty for the whole value")]
    NoSlash,
    #[error("`~` is written `~0` in a pointer, and `/` within a name `~1`")]
    Tilde,
    #[error("`**` stands at most once in a pointer")]
    TwiceAnywhere,
}

impl Pattern {
    /// The whole value.
    pub fn whole() -> Self {
        Self { segments: Vec::new() }
    }

    /// Whether it means exactly one place.
    pub fn is_plain(&self) -> bool {
        self.segments.iter().all(|segment| matches!(segment, Segment::Name(_)))
    }

    /// Every value that is there, with its pointer, in document order.
    pub fn select<'v>(&self, value: &'v Json) -> Vec<(String, &'v Json)> {
        let mut selected = Vec::new();
        self.visit(value, &mut |found| selected.extend(found.value.map(|value| (found.pointer(), value))));
        selected
    }

    /// Visits every place that is meant.
    ///
    /// A missing member counts as a place (without a value) for a plain pointer, and below the last `*` of a
    /// pattern: `/contents/*/uri` means the `uri` that each item lacks, too. Above a `*` and below `**` what
    /// is missing is no place.
    pub fn visit<'v>(&self, value: &'v Json, visit: &mut dyn FnMut(&Match<'_, 'v>)) {
        let last_wild = self.segments.iter().rposition(|segment| !matches!(segment, Segment::Name(_)));
        let head_length = last_wild.map_or(0, |at| at + 1);
        let (head, tail) = self.segments.split_at(head_length);
        let keeps_absent = head.last() != Some(&Segment::Anywhere);
        spread(head, &Path::Root, value, &mut |path, base| {
            let (value, parent_is_object) = descend(tail, base);
            if value.is_some() || keeps_absent {
                visit(&Match { base: path, names: tail, value, parent_is_object });
            }
        });
    }
}

impl Pattern {
    /// The last member that it names.
    pub fn last_name(&self) -> Option<&str> {
        self.segments.iter().rev().find_map(Segment::name)
    }

    /// How many segments lead somewhere, and the member that is missing then: the list, where it has no elements.
    /// Where all lead somewhere, the last member.
    pub fn farthest(&self, value: &Json) -> (usize, Option<&str>) {
        let (mut here, mut name) = (vec![value], None);
        for (depth, segment) in self.segments.iter().enumerate() {
            let mut next = Vec::new();
            match segment {
                Segment::Name(wanted) => {
                    name = Some(wanted.as_str());
                    next.extend(here.iter().filter_map(|value| child(value, wanted)));
                }
                Segment::Each => {
                    for value in here {
                        each_child(value, |_, child| next.push(child));
                    }
                }
                Segment::Anywhere => return (depth, self.last_name()),
            }
            if next.is_empty() {
                return (depth, name);
            }
            here = next;
        }
        (self.segments.len(), name)
    }
}

/// Follows names alone. What stands at their end, if anything, and whether an object would hold it.
fn descend<'a>(names: &[Segment], base: &'a Json) -> (Option<&'a Json>, bool) {
    let (mut value, mut parent_is_object) = (Some(base), true);
    for name in names.iter().filter_map(Segment::name) {
        parent_is_object = matches!(value, Some(Json::Object(_)));
        value = value.and_then(|value| child(value, name));
    }
    (value, parent_is_object)
}

/// The way to a value, written down only where it is asked for.
enum Path<'p> {
    Root,
    Below(&'p Path<'p>, Token<'p>),
}

#[derive(Clone, Copy)]
enum Token<'t> {
    Name(&'t str),
    Index(usize),
}

impl Path<'_> {
    fn pointer(&self) -> String {
        let Self::Below(parent, token) = self else { return String::new() };
        let mut pointer = parent.pointer();
        match token {
            Token::Name(name) => push_token(&mut pointer, name),
            Token::Index(index) => push_token(&mut pointer, &index.to_string()),
        }
        pointer
    }
}

/// Visits each value that the segments mean.
fn spread<'a>(
    segments: &[Segment],
    path: &Path<'_>,
    value: &'a Json,
    visit: &mut dyn FnMut(&Path<'_>, &'a Json),
) {
    let Some((segment, rest)) = segments.split_first() else { return visit(path, value) };
    match segment {
        Segment::Name(name) => {
            if let Some(inner) = child(value, name) {
                spread(rest, &Path::Below(path, Token::Name(name)), inner, visit);
            }
        }
        Segment::Each => {
            each_child(value, |token, inner| spread(rest, &Path::Below(path, token), inner, visit));
        }
        Segment::Anywhere => {
            spread(rest, path, value, visit);
            each_child(value, |token, inner| spread(segments, &Path::Below(path, token), inner, visit));
        }
    }
}

fn child<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    match value {
        Json::Object(object) => object.get(name),
        Json::Array(_) => value.pointer(&format!("/{name}")),
        _ => None,
    }
}

fn each_child<'a>(value: &'a Json, mut visit: impl FnMut(Token<'_>, &'a Json)) {
    match value {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                visit(Token::Index(index), item);
            }
        }
        Json::Object(object) => {
            for (name, member) in object.iter() {
                visit(Token::Name(&name.to_string_lossy()), member);
            }
        }
        _ => {}
    }
}

/// Appends `/name`, escaped as RFC 6901 says.
pub fn push_token(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::whole());
        }
        let rest = text.strip_prefix('/').ok_or(PatternError::NoSlash)?;
        let segments = rest.split('/').map(segment).collect::<Result<Vec<_>, _>>()?;
        if segments.iter().filter(|segment| **segment == Segment::Anywhere).count() > 1 {
            return Err(PatternError::TwiceAnywhere);
        }
        Ok(Self { segments })
    }
}

fn segment(token: &str) -> Result<Segment, PatternError> {
    match token {
        "*" => return Ok(Segment::Each),
        "**" => return Ok(Segment::Anywhere),
        _ => {}
    }
    if token.replace("~0", "").replace("~1", "").contains('~') {
        return Err(PatternError::Tilde);
    }
    Ok(Segment::Name(token.replace("~1", "/").replace("~0", "~")))
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Name(name) => push_token(&mut text, name),
                Segment::Each => text.push_str("/*"),
                Segment::Anywhere => text.push_str("/**"),
            }
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json;

    fn pointers(pattern: &str, value: &Json) -> Vec<String> {
        let pattern: Pattern = pattern.parse().unwrap();
        pattern.select(value).into_iter().map(|(pointer, _)| pointer).collect()
    }

    #[test]
    fn selects_what_is_there() {
        let value = json!({"contents": [{"uri": "a"}, {"uri": "b", "blob": "x"}], "a/b": {"~": 1}});
        assert_eq!(pointers("", &value), [""]);
        assert_eq!(pointers("/contents/1/uri", &value), ["/contents/1/uri"]);
        assert_eq!(pointers("/contents/*/uri", &value), ["/contents/0/uri", "/contents/1/uri"]);
        assert_eq!(pointers("/contents/*/blob", &value), ["/contents/1/blob"]);
        assert_eq!(pointers("/a~1b/~0", &value), ["/a~1b/~0"]);
        assert_eq!(pointers("/a~1b/*", &value), ["/a~1b/~0"]);
        assert_eq!(pointers("/none/*", &value), Vec::<String>::new());
        assert_eq!(pointers("/contents/01", &value), Vec::<String>::new());
    }

    #[test]
    fn any_depth_includes_the_value_itself() {
        let value = json!({"_meta": 1, "list": [{"_meta": 2, "deep": {"_meta": 3}}]});
        assert_eq!(pointers("/**/_meta", &value), ["/_meta", "/list/0/_meta", "/list/0/deep/_meta"]);
        assert_eq!(pointers("/**", &json!([1])), ["", "/0"]);
    }

    #[test]
    fn absence_counts_below_the_last_star_alone() {
        let absent = |pattern: &str, value: &Json| {
            let pattern: Pattern = pattern.parse().unwrap();
            let mut absent = Vec::new();
            pattern.visit(value, &mut |one| {
                absent.extend(one.value.is_none().then(|| one.pointer()));
            });
            absent
        };
        let value = json!({"list": [{"uri": "a"}, {}]});
        assert_eq!(absent("/list/*/uri", &value), ["/list/1/uri"]);
        assert_eq!(absent("/list/*/icons/*/src", &value), Vec::<String>::new());
        assert_eq!(absent("/gone/*/uri", &value), Vec::<String>::new());
        assert_eq!(absent("/gone/uri", &value), ["/gone/uri"]);
        assert_eq!(absent("/**/uri", &value), Vec::<String>::new());
    }

    #[test]
    fn the_missing_member_is_named() {
        let value = json!({"list": [{"uri": "a"}, {"uri": "b", "notes": {}}], "none": []});
        for (pattern, depth, name) in [
            ("/list/*/size", 2, Some("size")),
            ("/list/*/notes/priority", 3, Some("priority")),
            ("/none/*/size", 1, Some("none")),
            ("/other/*/size", 0, Some("other")),
            ("/list/*/uri", 3, Some("uri")),
            ("/*/*/icons/*/src", 2, Some("icons")),
            ("/**/_meta", 0, Some("_meta")),
            ("", 0, None),
        ] {
            assert_eq!(pattern.parse::<Pattern>().unwrap().farthest(&value), (depth, name), "{pattern}");
        }
    }

    #[test]
    fn refuses_what_is_no_pattern_and_prints_what_it_read() {
        assert_eq!("code".parse::<Pattern>(), Err(PatternError::NoSlash));
        assert_eq!("/a~2".parse::<Pattern>(), Err(PatternError::Tilde));
        assert_eq!("/**/a/**".parse::<Pattern>(), Err(PatternError::TwiceAnywhere));
        for text in ["", "/", "/a~1b/~0/*/**", "/*"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
    }
}
