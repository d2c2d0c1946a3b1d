//! What does a YAML file say, and where does each part stand? A tree of values with a place at every node and key.
//!
//! A small, strict part of YAML: no anchors, aliases or tags, no key twice, `true`/`false` are the only booleans,
//! numbers are those of JSON and kept as written. `serde` would lose the places, the spelling of numbers and all
//! problems but the first, so the tree is made of parser events.

use super::source::{Problem, Source};
use crate::wire::json::{Json, Number, Object};
use granit_parser::{Event, Parser, ScalarStyle, Span, options};
use std::ops::Range;

/// A value and the bytes where it stands.
#[derive(Debug, Clone)]
pub struct Node {
    pub value: Value,
    pub range: Range<usize>,
}

#[derive(Debug, Clone)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone)]
pub struct Key {
    pub text: String,
    pub range: Range<usize>,
}

impl Node {
    /// The value as JSON.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Number(number) => Json::Number(number.clone()),
            Value::Text(text) => Json::from(text.as_str()),
            Value::List(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Map(members) => Json::Object(
                members.iter().map(|(key, node)| (key.text.as_str(), node.to_json())).collect::<Object>(),
            ),
        }
    }

    /// What it is, for a message: `a list`.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// Nesting that no case needs: deeper is refused.
const DEEPEST: usize = 64;

/// Reads one YAML document. The tree is there whenever the file is YAML at all, even if there are problems.
pub fn read(source: &Source) -> (Option<Node>, Vec<Problem>) {
    let settings = options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        disallow_directives: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST
    };
    let mut builder = Builder {
        source,
        events: Parser::new_from_str_with_options(&source.text, settings),
        problems: Vec::new(),
    };
    let root = builder.document();
    (root, builder.problems)
}

struct Builder<'a, I> {
    source: &'a Source,
    events: I,
    problems: Vec<Problem>,
}

type Parsed<'a> = Result<(Event<'a>, Span), granit_parser::ScanError>;

impl<'a, I: Iterator<Item = Parsed<'a>>> Builder<'a, I> {
    fn document(&mut self) -> Option<Node> {
        let mut root = None;
        while let Some((event, range)) = self.next() {
            match event {
                Event::DocumentStart(..) if root.is_some() => {
                    self.report(range, "a file holds one document", None);
                    return root;
                }
                event if event.is_node() => root = Some(self.node(event, range)?),
                _ => {}
            }
        }
        if root.is_none() && self.problems.is_empty() {
            self.report(0..0, "the file is empty", None);
        }
        root
    }

    fn next(&mut self) -> Option<(Event<'a>, Range<usize>)> {
        match self.events.next()? {
            Ok((event, span)) => {
                let range = span.byte_range().unwrap_or(0..0);
                Some((event, range))
            }
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(0);
                self.report(at..at + 1, &error.info(), None);
                None
            }
        }
    }

    fn report(&mut self, range: Range<usize>, message: &str, help: Option<&str>) {
        let place = self.source.place(&range);
        self.problems.push(Problem { place, message: message.to_owned(), help: help.map(str::to_owned) });
    }

    /// `None` when the file ends or breaks within the node.
    fn node(&mut self, event: Event<'a>, range: Range<usize>) -> Option<Node> {
        if event.anchor_id().is_some() {
            self.report(
                range.clone(),
                "anchors are not part of the case language",
                Some("write the value out"),
            );
        }
        if let Some(tag) = event.tag() {
            let message = format!("tags are not part of the case language: `{}`", tag.original());
            self.report(range.clone(), &message, Some("quote what is meant as text"));
        }
        match event {
            Event::Scalar(text, style, ..) => {
                let value = self.scalar(&text, style, &range);
                Some(Node { value, range })
            }
            Event::SequenceStart(..) => self.list(range.start),
            Event::MappingStart(..) => self.map(range.start),
            _ => {
                self.report(
                    range.clone(),
                    "aliases are not part of the case language",
                    Some("write the value out"),
                );
                Some(Node { value: Value::Null, range })
            }
        }
    }

    fn list(&mut self, start: usize) -> Option<Node> {
        let mut items: Vec<Node> = Vec::new();
        loop {
            let (event, range) = self.next()?;
            if event == Event::SequenceEnd {
                let end = end_of(&range, items.last(), start);
                return Some(Node { value: Value::List(items), range: start..end });
            }
            items.push(self.node(event, range)?);
        }
    }

    fn map(&mut self, start: usize) -> Option<Node> {
        let mut members: Vec<(Key, Node)> = Vec::new();
        loop {
            let (event, range) = self.next()?;
            if event == Event::MappingEnd {
                let end = end_of(&range, members.last().map(|(_, value)| value), start);
                return Some(Node { value: Value::Map(members), range: start..end });
            }
            let key = self.node(event, range)?;
            let (event, range) = self.next()?;
            let value = self.node(event, range)?;
            let Some(text) = key_text(&key) else {
                self.report(key.range, &format!("a key is text, not {}", kind_of_key(&key.value)), None);
                continue;
            };
            if members.iter().any(|(other, _)| other.text == text) {
                self.report(key.range, &format!("the key `{text}` is there twice"), None);
                continue;
            }
            members.push((Key { text, range: key.range }, value));
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, range: &Range<usize>) -> Value {
        if style != ScalarStyle::Plain {
            return Value::Text(text.to_owned());
        }
        match text {
            // The parser gives `~` for nothing at all, too.
            "null" | "~" | "" => return Value::Null,
            "true" => return Value::Bool(true),
            "false" => return Value::Bool(false),
            "Null" | "NULL" | "True" | "TRUE" | "False" | "FALSE" => {
                let help = format!("write `{}`, or quotes around text", text.to_lowercase());
                self.report(range.clone(), &format!("`{text}` could be meant in two ways"), Some(&help));
            }
            _ => {}
        }
        if let Some(number) = Number::parse(text) {
            return Value::Number(number);
        }
        if is_number_elsewhere(text) {
            let help = "write it as JSON does, or quotes around text";
            self.report(range.clone(), &format!("`{text}` is no JSON number"), Some(help));
        }
        Value::Text(text.to_owned())
    }
}

/// Flow collections end with their bracket, block collections with their last part.
fn end_of(range: &Range<usize>, last: Option<&Node>, start: usize) -> usize {
    if range.is_empty() { last.map_or(start, |node| node.range.end) } else { range.end }
}

fn key_text(key: &Node) -> Option<String> {
    match &key.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn kind_of_key(value: &Value) -> &'static str {
    match value {
        Value::Null => "`null`",
        Value::Bool(_) => "a boolean",
        Value::List(_) => "a list",
        _ => "a map",
    }
}

/// Whether other YAML readers take this for a number.
fn is_number_elsewhere(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let special = [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(&digits);
    let based = ["0x", "0o", "0b"].iter().any(|prefix| {
        digits
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_hexdigit()))
    });
    let plain = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits.chars().any(|c| c.is_ascii_digit())
        && digits.parse::<f64>().is_ok();
    special || based || plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> (String, Vec<String>) {
        let (root, problems) = read(&Source::new("t.yaml", text));
        let json = root.map(|root| root.to_json().to_string()).unwrap_or_default();
        (json, problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn values_are_what_they_look_like() {
        let text = "a: yes\nb: 'true'\nc: true\nd: null\ne: 1.0e+2\nf: \"1\"\ng: [no, ~, -0]\nh: 2025-06-18\ni: 18446744073709551617\n";
        let (json, problems) = tree(text);
        assert_eq!(
            json,
            r#"{"a":"yes","b":"true","c":true,"d":null,"e":1.0e+2,"f":"1","g":["no",null,-0],"h":"2025-06-18","i":18446744073709551617}"#
        );
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn what_could_be_misread_is_refused_with_its_place() {
        let text = "a: True\nb: 0x1F\na: 1\nc: &x 1\nd: *x\ne: !t 1\nf: 01\n[1]: 2\ng: *gone\n";
        let (_, problems) = tree(text);
        assert_eq!(
            problems,
            [
                "t.yaml:1:4: `True` could be meant in two ways",
                "t.yaml:2:4: `0x1F` is no JSON number",
                "t.yaml:3:1: the key `a` is there twice",
                "t.yaml:4:7: anchors are not part of the case language",
                "t.yaml:5:4: aliases are not part of the case language",
                "t.yaml:6:7: tags are not part of the case language: `!t`",
                "t.yaml:7:4: `01` is no JSON number",
                "t.yaml:8:1: a key is text, not a list",
                "t.yaml:9:4: aliases are not part of the case language",
            ]
        );
    }

    #[test]
    fn broken_yaml_says_where() {
        assert_eq!(tree("").1, ["t.yaml:1:1: the file is empty"]);
        assert!(tree("a: [1, 2\nb: 3\n").1[0].starts_with("t.yaml:2:"), "{:?}", tree("a: [1, 2\nb: 3\n"));
        assert_eq!(tree("a: 1\n---\nb: 2\n").1, ["t.yaml:2:1: a file holds one document"]);
        assert_eq!(tree(&"[".repeat(500)).0, "");
        assert!(!tree(&"[".repeat(500)).1.is_empty());
    }

    #[test]
    fn every_part_knows_its_bytes() {
        let source = Source::new("t.yaml", "steps:\n  - call:\n      method: é\n  - { at: /x, is: y }\n");
        let (root, _) = read(&source);
        let Value::Map(members) = root.unwrap().value else { panic!() };
        let Value::List(items) = &members[0].1.value else { panic!() };
        assert_eq!(&source.text[items[0].range.clone()], "call:\n      method: é");
        assert_eq!(&source.text[items[1].range.clone()], "{ at: /x, is: y }");
        let place = source.place(&items[0].range);
        assert_eq!((place.line, place.column, place.length), (2, 5, 5));
    }
}
