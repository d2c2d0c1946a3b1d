//! How is a JSON value written on one line? So that reading it again gives the same value, and so that it is
//! safe to show: whatever could steer a terminal or break a line is escaped.

use std::fmt::{Display, Formatter, Result, Write};

use super::json::Json;
use super::object::Object;
use super::text::Text;

impl Display for Json {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(true) => f.write_str("true"),
            Json::Bool(false) => f.write_str("false"),
            Json::Number(number) => f.write_str(number.as_str()),
            Json::String(text) => text.fmt(f),
            Json::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        f.write_char(',')?;
                    }
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Json::Object(object) => object.fmt(f),
        }
    }
}

impl Display for Object {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('{')?;
        for (index, (name, value)) in self.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            name.fmt(f)?;
            f.write_char(':')?;
            value.fmt(f)?;
        }
        f.write_char('}')
    }
}

/// As a JSON string, quotes included; for the bare characters use `as_str` or `to_string_lossy`.
impl Display for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('"')?;
        for c in self.chars() {
            match c {
                Ok('"') => f.write_str("\\\"")?,
                Ok('\\') => f.write_str("\\\\")?,
                Ok('\n') => f.write_str("\\n")?,
                Ok('\r') => f.write_str("\\r")?,
                Ok('\t') => f.write_str("\\t")?,
                Ok(c) if is_unsafe_to_show(c) => write!(f, "\\u{:04x}", u32::from(c))?,
                Ok(c) => f.write_char(c)?,
                Err(surrogate) => write!(f, "\\u{surrogate:04x}")?,
            }
        }
        f.write_char('"')
    }
}

/// Control characters, line and paragraph separators, and what turns the direction of writing. All within U+FFFF.
fn is_unsafe_to_show(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
