//! Is this text JSON, and what does it hold? RFC 8259's grammar in full, within limits, with a reason for each
//! refusal, and with the oddities named that the grammar allows and many readers trip over.
//!
//! Iterative: the nesting of the input never becomes nesting of calls.

use super::defect::{Blemish, JsonDefect, NAME_KEPT, clip};
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
    /// Most values in one text, members and items included. A value takes far more memory than the two bytes
    /// that `1,` takes in a text.
    pub values: usize,
}

impl Limits {
    /// Whatever walks a value recursively (printing, comparing, dropping) is safe to this depth on a stack of 1 MiB.
    pub const DEEPEST: usize = 512;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { length: 64 << 20, depth: Limits::DEEPEST, values: 2_000_000 }
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

/// Reads a text that is one JSON value, with nothing but space and perhaps a byte order mark around it.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, JsonDefect> {
    if bytes.len() > limits.length {
        return Err(JsonDefect::TooLong { length: bytes.len(), limit: limits.length });
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| JsonDefect::NotUtf8 { offset: error.valid_up_to() })?;
    let depth = limits.depth.min(Limits::DEEPEST);
    let limits = Limits { depth, ..*limits };
    Scanner { text, at: 0, limits, values: 0, open: Vec::new(), blemishes: Vec::new() }.document()
}

struct Scanner<'a> {
    text: &'a str,
    /// The next byte; always at the boundary of a character.
    at: usize,
    limits: Limits,
    /// The values begun so far.
    values: usize,
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
        if self.values >= self.limits.values {
            return Err(JsonDefect::TooMany { offset: self.at, limit: self.limits.values });
        }
        self.values += 1;
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
        if self.open.len() >= self.limits.depth {
            return Err(JsonDefect::TooDeep { offset: self.at, limit: self.limits.depth });
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

#[cfg(test)]
mod tests;
