//! Is this text JSON, and what does it hold? RFC 8259's grammar in full, within limits, with a reason for each
//! refusal, and with the oddities named that the grammar allows and many readers trip over.
//!
//! Iterative: the nesting of the input never becomes nesting of calls.

use super::json::Json;
use super::number::{self, Number};
use super::object::Object;
use super::text::Text;

/// How much of a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest text in bytes.
    pub length: usize,
    /// Deepest nesting: `[]` has depth 1. More than [`Limits::DEEPEST`] has no effect.
    pub depth: usize,
}

impl Limits {
    /// Whatever walks a value recursively (printing, comparing, dropping) is safe to this depth on a stack of 1 MiB.
    pub const DEEPEST: usize = 512;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { length: 64 << 20, depth: Limits::DEEPEST }
    }
}

/// A JSON text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// Its value.
    pub json: Json,
    /// The first [`BLEMISHES_KEPT`] oddities in it.
    pub blemishes: Vec<Blemish>,
}

/// More oddities than these say nothing new.
pub const BLEMISHES_KEPT: usize = 32;

/// Longest pointer or name kept in a blemish, in bytes; what is longer ends in `…`.
const NAME_KEPT: usize = 256;

/// An oddity that does not stop reading.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Blemish {
    /// The text begins with U+FEFF.
    #[error("a byte order mark stands before the text")]
    Bom,
    /// A name comes again in one object.
    #[error("member {} comes twice in {}", Text::from(name.as_str()), place(object))]
    DuplicateMember {
        /// JSON pointer of the object.
        object: String,
        /// The repeated name.
        name: String,
    },
    /// A string or a name holds half of a surrogate pair.
    #[error("a lone surrogate escape stands in {}", place(pointer))]
    LoneSurrogate {
        /// JSON pointer of the string, or of the member so named.
        pointer: String,
    },
}

/// Why a text is not read as JSON. Offsets count bytes from the start of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonDefect {
    /// Longer than the limit; nothing was read.
    #[error("the text has {length} bytes, more than the limit of {limit}")]
    TooLong {
        /// Bytes of the text.
        length: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("the text is not UTF-8 from byte {offset} on")]
    NotUtf8 {
        /// First byte that is not UTF-8.
        offset: usize,
    },
    /// No value at all, at most space.
    #[error("the text is empty")]
    Empty,
    /// Against the grammar.
    #[error("expected {expected} at byte {offset}, found {}", show_found(*found))]
    Syntax {
        /// Where.
        offset: usize,
        /// What the grammar has there, in words.
        expected: &'static str,
        /// What stands there; `None` is the end of the text.
        found: Option<char>,
    },
    /// Nested deeper than the limit.
    #[error("the value is nested deeper than {limit} levels at byte {offset}")]
    TooDeep {
        /// The bracket that is one too many.
        offset: usize,
        /// Levels allowed.
        limit: usize,
    },
    /// A whole value, then something else.
    #[error("more text follows the value at byte {offset}")]
    Trailing {
        /// First byte that is neither value nor space.
        offset: usize,
    },
}

/// Reads a text that is one JSON value, with nothing but space and perhaps a byte order mark around it.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, JsonDefect> {
    if bytes.len() > limits.length {
        return Err(JsonDefect::TooLong { length: bytes.len(), limit: limits.length });
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| JsonDefect::NotUtf8 { offset: error.valid_up_to() })?;
    let depth = limits.depth.min(Limits::DEEPEST);
    Scanner { text, at: 0, depth, open: Vec::new(), blemishes: Vec::new() }.document()
}

struct Scanner<'a> {
    text: &'a str,
    /// The next byte; always at the boundary of a character.
    at: usize,
    depth: usize,
    /// The arrays and objects that contain the next byte, outermost first.
    open: Vec<Open>,
    blemishes: Vec<Blemish>,
}

enum Open {
    Array(Vec<Json>),
    /// The members so far, and the name whose value comes next.
    Object(Object, Text),
}

impl Scanner<'_> {
    fn document(mut self) -> Result<Parsed, JsonDefect> {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
            self.note(|_| Blemish::Bom);
        }
        self.skip_space();
        if self.peek().is_none() {
            return Err(JsonDefect::Empty);
        }
        loop {
            let Some(value) = self.value()? else { continue };
            if let Some(json) = self.place(value)? {
                self.skip_space();
                return match self.peek() {
                    None => Ok(Parsed { json, blemishes: self.blemishes }),
                    Some(_) => Err(JsonDefect::Trailing { offset: self.at }),
                };
            }
        }
    }

    /// Reads a whole value, or opens an array or object (`None`) and stops before the first value in it.
    fn value(&mut self) -> Result<Option<Json>, JsonDefect> {
        self.skip_space();
        let value = match self.peek() {
            Some(b'[') => {
                self.descend()?;
                if !self.take(b']') {
                    self.open.push(Open::Array(Vec::new()));
                    return Ok(None);
                }
                Json::Array(Vec::new())
            }
            Some(b'{') => {
                self.descend()?;
                if !self.take(b'}') {
                    let name = self.name()?;
                    self.open.push(Open::Object(Object::new(), name));
                    return Ok(None);
                }
                Json::Object(Object::new())
            }
            Some(b'"') => {
                let text = self.string()?;
                if text.as_str().is_none() {
                    self.note(|pointer| Blemish::LoneSurrogate { pointer });
                }
                Json::String(text)
            }
            Some(b'-' | b'0'..=b'9') => Json::Number(self.number()?),
            Some(b'n') => self.word("null", "`null`", Json::Null)?,
            Some(b't') => self.word("true", "`true`", Json::Bool(true))?,
            Some(b'f') => self.word("false", "`false`", Json::Bool(false))?,
            _ => return Err(self.expected("a value")),
        };
        Ok(Some(value))
    }

    /// Puts a value where it belongs and closes what ends behind it. Returns the outermost value once it is whole;
    /// `None` means that another value comes.
    fn place(&mut self, mut value: Json) -> Result<Option<Json>, JsonDefect> {
        while let Some(open) = self.open.pop() {
            self.skip_space();
            value = match open {
                Open::Array(mut items) => {
                    items.push(value);
                    if self.take(b',') {
                        self.open.push(Open::Array(items));
                        return Ok(None);
                    }
                    if !self.take(b']') {
                        return Err(self.expected("`,` or `]`"));
                    }
                    Json::Array(items)
                }
                Open::Object(mut object, name) => {
                    object.push(name, value);
                    if self.take(b',') {
                        let name = self.name()?;
                        self.open.push(Open::Object(object, name));
                        return Ok(None);
                    }
                    if !self.take(b'}') {
                        return Err(self.expected("`,` or `}`"));
                    }
                    for name in object.duplicates().into_iter().take(BLEMISHES_KEPT) {
                        let name = clip(&name.to_string_lossy());
                        self.note(|pointer| Blemish::DuplicateMember { object: pointer, name });
                    }
                    Json::Object(object)
                }
            };
        }
        Ok(Some(value))
    }

    /// Steps over an opening bracket and the space behind it.
    fn descend(&mut self) -> Result<(), JsonDefect> {
        if self.open.len() >= self.depth {
            return Err(JsonDefect::TooDeep { offset: self.at, limit: self.depth });
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// A member's name and the colon behind it.
    fn name(&mut self) -> Result<Text, JsonDefect> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return Err(self.expected("a member name in quotes"));
        }
        let name = self.string()?;
        if name.as_str().is_none() {
            let tail = token(&name.to_string_lossy());
            self.note(|pointer| Blemish::LoneSurrogate { pointer: clip(&(pointer + &tail)) });
        }
        self.skip_space();
        if !self.take(b':') {
            return Err(self.expected("`:`"));
        }
        Ok(name)
    }

    fn number(&mut self) -> Result<Number, JsonDefect> {
        let from = self.at;
        match number::scan(self.text.as_bytes(), from) {
            Ok(end) => {
                self.at = end;
                Ok(Number::from_scanned(self.slice(from)))
            }
            Err(missing) => {
                self.at = missing;
                Err(self.expected("a digit"))
            }
        }
    }

    fn word(&mut self, word: &str, expected: &'static str, value: Json) -> Result<Json, JsonDefect> {
        for byte in word.bytes() {
            if !self.take(byte) {
                return Err(self.expected(expected));
            }
        }
        Ok(value)
    }

    /// A string with its quotes.
    fn string(&mut self) -> Result<Text, JsonDefect> {
        self.at += 1;
        let mut whole = String::new();
        // Takes over from `whole` at the first lone surrogate.
        let mut units: Option<Vec<u16>> = None;
        loop {
            let from = self.at;
            while self.peek().is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            let run = self.slice(from);
            match &mut units {
                None => whole.push_str(run),
                Some(units) => units.extend(run.encode_utf16()),
            }
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {}
                Some(_) => return Err(self.expected("no bare control character in a string")),
                None => return Err(self.expected("the `\"` that ends a string")),
            }
            match (self.escape()?, &mut units) {
                (Ok(c), None) => whole.push(c),
                (Ok(c), Some(units)) => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
                (Err(surrogate), Some(units)) => units.push(surrogate),
                (Err(surrogate), None) => {
                    units = Some(whole.encode_utf16().chain([surrogate]).collect());
                }
            }
        }
        self.at += 1;
        Ok(units.map_or_else(|| Text::from(whole), Text::from_units))
    }

    /// An escape sequence: a character, or the surrogate that has no partner.
    fn escape(&mut self) -> Result<Result<char, u16>, JsonDefect> {
        self.at += 1;
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.expected("an escape character")),
        };
        self.at += 1;
        Ok(Ok(plain))
    }

    fn unicode_escape(&mut self) -> Result<Result<char, u16>, JsonDefect> {
        let first = self.unit()?;
        let is_high = (0xd800..0xdc00).contains(&first);
        if is_high && self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u")) {
            let behind_first = self.at;
            self.at += 1;
            let second = self.unit()?;
            if (0xdc00..0xe000).contains(&second) {
                let pair = 0x10000 + (u32::from(first & 0x3ff) << 10) + u32::from(second & 0x3ff);
                return Ok(char::from_u32(pair).ok_or(first));
            }
            // No partner: it is read again, as what it is by itself.
            self.at = behind_first;
        }
        Ok(char::from_u32(first.into()).ok_or(first))
    }

    /// The four digits behind `u`, on which the scanner stands.
    fn unit(&mut self) -> Result<u16, JsonDefect> {
        let mut unit = 0;
        for _ in 0..4 {
            self.at += 1;
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit << 4 | digit.ok_or_else(|| self.expected("four hexadecimal digits"))? as u16;
        }
        self.at += 1;
        Ok(unit)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn slice(&self, from: usize) -> &str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn expected(&self, expected: &'static str) -> JsonDefect {
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        JsonDefect::Syntax { offset: self.at, expected, found }
    }

    /// Notes a blemish, which is told the pointer of the value being read.
    fn note(&mut self, blemish: impl FnOnce(String) -> Blemish) {
        if self.blemishes.len() < BLEMISHES_KEPT {
            let mut pointer = String::new();
            for open in &self.open {
                pointer += &match open {
                    Open::Array(items) => format!("/{}", items.len()),
                    Open::Object(_, name) => token(&name.to_string_lossy()),
                };
                if pointer.len() > NAME_KEPT {
                    break;
                }
            }
            self.blemishes.push(blemish(clip(&pointer)));
        }
    }
}

/// One step of a JSON pointer.
fn token(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The text, or its beginning and `…`.
pub(super) fn clip(text: &str) -> String {
    if text.len() <= NAME_KEPT {
        return text.to_owned();
    }
    let kept: String = text.char_indices().take_while(|(at, _)| *at < NAME_KEPT).map(|(_, c)| c).collect();
    kept + "…"
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the outermost value".to_owned() } else { Text::from(pointer).to_string() }
}

fn show_found(found: Option<char>) -> String {
    found.map_or("the end of the text".to_owned(), |found| format!("`{}`", found.escape_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &[u8]) -> JsonDefect {
        parse(text, &Limits::default()).map(|parsed| parsed.json).unwrap_err()
    }

    fn syntax(offset: usize, expected: &'static str, found: impl Into<Option<char>>) -> JsonDefect {
        JsonDefect::Syntax { offset, expected, found: found.into() }
    }

    fn blemishes(text: &str) -> Vec<Blemish> {
        parse(text.as_bytes(), &Limits::default()).unwrap().blemishes
    }

    #[test]
    fn accepted_texts() {
        for (text, printed) in [
            ("null", "null"),
            (" \t\r\n true \t\r\n ", "true"),
            ("false", "false"),
            ("0", "0"),
            ("-0", "-0"),
            ("-0.00e+00", "-0.00e+00"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1E400", "1E400"),
            ("1e-99999999999999999999", "1e-99999999999999999999"),
            (r#""""#, r#""""#),
            (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\u0008\u000c\n\r\t""#),
            (r#""\u0041\u00e9\u20AC""#, r#""Aé€""#),
            (r#""\ud83d\ude00\uD83D\uDE00""#, r#""😀😀""#),
            (r#""\u0000""#, r#""\u0000""#),
            ("\"\u{7f}\u{2028}\"", r#""\u007f\u2028""#),
            (r#""\ud800""#, r#""\ud800""#),
            (r#""\udc00\ud800""#, r#""\udc00\ud800""#),
            (r#""\ud800\ud83d\ude00""#, r#""\ud800😀""#),
            (r#""a\ud800é\n😀\ud800""#, r#""a\ud800é\n😀\ud800""#),
            (r#""\ud800\u0041""#, r#""\ud800A""#),
            ("[]", "[]"),
            ("[ ]", "[]"),
            ("{ }", "{}"),
            ("[[],[[]],{}]", "[[],[[]],{}]"),
            (" [ 1 , 2 ] ", "[1,2]"),
            (r#"{ "b" : 1 , "a" : { "" : [ ] } }"#, r#"{"b":1,"a":{"":[]}}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
        ] {
            let parsed = parse(text.as_bytes(), &Limits::default());
            assert_eq!(parsed.map(|parsed| parsed.json.to_string()), Ok(printed.to_owned()), "{text}");
        }
    }

    #[test]
    fn refused_texts() {
        for (text, reason) in [
            ("", JsonDefect::Empty),
            (" \n", JsonDefect::Empty),
            ("nul", syntax(3, "`null`", None)),
            ("True", syntax(0, "a value", 'T')),
            ("trux", syntax(3, "`true`", 'x')),
            ("NaN", syntax(0, "a value", 'N')),
            ("Infinity", syntax(0, "a value", 'I')),
            ("-Infinity", syntax(1, "a digit", 'I')),
            ("+1", syntax(0, "a value", '+')),
            (".5", syntax(0, "a value", '.')),
            ("1.", syntax(2, "a digit", None)),
            ("1e", syntax(2, "a digit", None)),
            ("[1.e3]", syntax(3, "a digit", 'e')),
            ("01", JsonDefect::Trailing { offset: 1 }),
            ("0x10", JsonDefect::Trailing { offset: 1 }),
            ("'a'", syntax(0, "a value", '\'')),
            ("// no\n1", syntax(0, "a value", '/')),
            ("\u{a0}1", syntax(0, "a value", '\u{a0}')),
            ("\u{b}1", syntax(0, "a value", '\u{b}')),
            ("1 2", JsonDefect::Trailing { offset: 2 }),
            ("{}{}", JsonDefect::Trailing { offset: 2 }),
            ("[]]", JsonDefect::Trailing { offset: 2 }),
            ("1\0", JsonDefect::Trailing { offset: 1 }),
            ("1\u{feff}", JsonDefect::Trailing { offset: 1 }),
            ("[1,]", syntax(3, "a value", ']')),
            ("[,1]", syntax(1, "a value", ',')),
            ("[1 2]", syntax(3, "`,` or `]`", '2')),
            ("[1", syntax(2, "`,` or `]`", None)),
            ("[", syntax(1, "a value", None)),
            ("[}", syntax(1, "a value", '}')),
            ("[1}", syntax(2, "`,` or `]`", '}')),
            ("]", syntax(0, "a value", ']')),
            ("{", syntax(1, "a member name in quotes", None)),
            ("{,}", syntax(1, "a member name in quotes", ',')),
            ("{a:1}", syntax(1, "a member name in quotes", 'a')),
            ("{1:1}", syntax(1, "a member name in quotes", '1')),
            (r#"{"a"}"#, syntax(4, "`:`", '}')),
            (r#"{"a":}"#, syntax(5, "a value", '}')),
            (r#"{"a":1,}"#, syntax(7, "a member name in quotes", '}')),
            (r#"{"a":1]"#, syntax(6, "`,` or `}`", ']')),
            (r#"{"a":1 "b":2}"#, syntax(7, "`,` or `}`", '"')),
            (r#""abc"#, syntax(4, "the `\"` that ends a string", None)),
            (r#""abc\"#, syntax(5, "an escape character", None)),
            (r#""\x41""#, syntax(2, "an escape character", 'x')),
            (r#""\'""#, syntax(2, "an escape character", '\'')),
            (r#""\U0041""#, syntax(2, "an escape character", 'U')),
            (r#""\u004""#, syntax(6, "four hexadecimal digits", '"')),
            (r#""\u00é""#, syntax(5, "four hexadecimal digits", 'é')),
            (r#""\u+041""#, syntax(3, "four hexadecimal digits", '+')),
            (r#""\ud800\u00""#, syntax(11, "four hexadecimal digits", '"')),
            (r#""\ud800\u"#, syntax(9, "four hexadecimal digits", None)),
            ("\"a\nb\"", syntax(2, "no bare control character in a string", '\n')),
            ("\"\u{1f}\"", syntax(1, "no bare control character in a string", '\u{1f}')),
            ("\u{feff}", JsonDefect::Empty),
            ("\u{feff}\u{feff}1", syntax(3, "a value", '\u{feff}')),
        ] {
            assert_eq!(refusal(text.as_bytes()), reason, "{text}");
        }
        assert_eq!(refusal(b"\"a\xff\""), JsonDefect::NotUtf8 { offset: 2 });
        assert_eq!(refusal(b"\"\xed\xa0\x80\""), JsonDefect::NotUtf8 { offset: 1 });
        assert_eq!(refusal(b"\"\xc0\xaf\""), JsonDefect::NotUtf8 { offset: 1 });
        assert_eq!(refusal(b"\xff\xfe[\0]\0"), JsonDefect::NotUtf8 { offset: 0 });
    }

    #[test]
    fn refusals_read_well() {
        let texts = ["[1,", "{\u{1b}", "1 2", ""].map(|text| refusal(text.as_bytes()).to_string());
        assert_eq!(
            texts,
            [
                "expected a value at byte 3, found the end of the text",
                "expected a member name in quotes at byte 1, found `\\u{1b}`",
                "more text follows the value at byte 2",
                "the text is empty",
            ]
        );
    }

    #[test]
    fn limits_hold_exactly() {
        let limits = Limits { length: 8, depth: 3 };
        assert!(parse(b"[[{}]]  ", &limits).is_ok());
        assert_eq!(parse(b"[[{}]]   ", &limits), Err(JsonDefect::TooLong { length: 9, limit: 8 }));
        assert_eq!(parse(b"[[[[]]]]", &limits), Err(JsonDefect::TooDeep { offset: 3, limit: 3 }));
        assert!(parse(b"1", &Limits { length: 8, depth: 0 }).is_ok());
    }

    #[test]
    fn the_deepest_value_is_safe_on_a_small_stack() {
        let walk_all = || {
            let limits = Limits { depth: usize::MAX, ..Limits::default() };
            let text = "[{\"a\":".repeat(Limits::DEEPEST / 2) + "1" + &"}]".repeat(Limits::DEEPEST / 2);
            let json = parse(text.as_bytes(), &limits).unwrap().json;
            assert_eq!(json.to_string(), text);
            assert_eq!(format!("{json:?}"), text);
            assert_eq!(json.clone(), json);
            assert!(json.same(&json.clone()));
            assert!(Json::from(json.to_serde()).same(&json));
            let deeper = format!("[{text}]");
            assert!(matches!(parse(deeper.as_bytes(), &limits), Err(JsonDefect::TooDeep { .. })));
            let endless = "[".repeat(1 << 20);
            assert!(matches!(
                parse(endless.as_bytes(), &limits),
                Err(JsonDefect::TooDeep { offset: Limits::DEEPEST, .. })
            ));
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn(walk_all).unwrap().join().unwrap();
    }

    #[test]
    fn blemishes_say_where() {
        let duplicate =
            |object: &str, name: &str| Blemish::DuplicateMember { object: object.into(), name: name.into() };
        let lone = |pointer: &str| Blemish::LoneSurrogate { pointer: pointer.into() };
        assert_eq!(blemishes("\u{feff} {}"), [Blemish::Bom]);
        assert_eq!(blemishes(r#"{"a":1,"b":2,"\u0061":3,"a":4}"#), [duplicate("", "a"), duplicate("", "a")]);
        assert_eq!(blemishes(r#"[0,{"x/y":{"k":1,"k":1}}]"#), [duplicate("/1/x~1y", "k")]);
        assert_eq!(blemishes(r#"[[{"a":1},{"a":2}],{"a":{"a":1}}]"#), []);
        assert_eq!(blemishes(r#""\ud800""#), [lone("")]);
        assert_eq!(blemishes(r#"{"m":["ok","\ude00\ud83d"]}"#), [lone("/m/1")]);
        assert_eq!(blemishes(r#"{"o":{"\ud800":1}}"#), [lone("/o/\u{fffd}")]);
        assert_eq!(blemishes(r#"{"o":{"a":1,"\ud800":1}}"#), [lone("/o/\u{fffd}")]);
    }

    #[test]
    fn blemishes_stay_small() {
        let name = "n".repeat(1 << 20);
        let text = format!("{{\"{name}\":[{}1]}}", r#""\ud800","#.repeat(1000));
        let found = blemishes(&text);
        assert_eq!(found.len(), BLEMISHES_KEPT);
        assert!(found.iter().all(|blemish| blemish.to_string().len() < 2 * NAME_KEPT));
    }
}
