//! What is a JSON value here? One that loses nothing: numbers as written, lone surrogates, order, duplicates.
//!
//! `==` asks whether two values are written alike (but for space and escapes), [`Json::same`] whether they mean
//! the same. Reading is in `scan`, writing in `print`.

pub use super::defect::{Blemish, JsonDefect};
pub use super::number::Number;
pub use super::object::Object;
pub use super::scan::{Limits, Parsed, parse};
pub use super::text::Text;

/// A JSON value. What [`parse`] returns is nested no deeper than [`Limits::DEEPEST`], so that nothing which walks
/// a value, dropping included, can exhaust the stack.
#[derive(Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written
    Number(Number),
    /// A string, lone surrogates kept
    String(Text),
    /// An array
    Array(Vec<Json>),
    /// An object, order and duplicates kept
    Object(Object),
}

impl Json {
    /// The member of that name (the last of duplicates); `None` also if this is no object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    /// What an RFC 6901 pointer points to: `""` is the value itself, `/a/0` the first item of member `a`.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| match value {
            Json::Object(object) if token.contains('~') => {
                object.get(&token.replace("~1", "/").replace("~0", "~"))
            }
            Json::Object(object) => object.get(token),
            Json::Array(items) => items.get(array_index(token)?),
            _ => None,
        })
    }

    /// The text of a string without lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        self.as_text()?.as_str()
    }

    /// The text of a string.
    pub fn as_text(&self) -> Option<&Text> {
        if let Json::String(text) = self { Some(text) } else { None }
    }

    /// The number.
    pub fn as_number(&self) -> Option<&Number> {
        if let Json::Number(number) = self { Some(number) } else { None }
    }

    /// The value of a whole number in range, however it is written.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The items of an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Json::Object(object) = self { Some(object) } else { None }
    }

    /// The members of an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Json::Object(object) = self { Some(object) } else { None }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        *self == Json::Null
    }

    /// `null`, `boolean`, `number`, `string`, `array` or `object`.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// Whether both mean the same: numbers by value, members in any order, the last of duplicates.
    pub fn same(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Number(left), Json::Number(right)) => left.same(right),
            (Json::Array(left), Json::Array(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.same(right))
            }
            (Json::Object(left), Json::Object(right)) => left.same(right),
            _ => self == other,
        }
    }

    /// The nearest `serde_json` value. Lossy: U+FFFD for lone surrogates, the last of duplicates,
    /// numbers that are not 64-bit integers rounded to a finite `f64`.
    pub fn to_serde(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Value::from(integer),
                (_, Some(integer)) => Value::from(integer),
                _ => Value::from(number.as_f64().clamp(f64::MIN, f64::MAX)),
            },
            Json::String(text) => Value::String(text.to_string_lossy().into_owned()),
            Json::Array(items) => Value::Array(items.iter().map(Json::to_serde).collect()),
            Json::Object(object) => Value::Object(
                object
                    .iter()
                    .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_serde()))
                    .collect(),
            ),
        }
    }
}

/// RFC 6901: digits without a leading zero.
fn array_index(token: &str) -> Option<usize> {
    let plain = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    plain.then(|| token.parse().ok())?
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Json {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Number(number) => Json::Number(number.into()),
            Value::String(text) => Json::from(text.as_str()),
            Value::Array(items) => Json::Array(items.iter().map(Json::from).collect()),
            Value::Object(members) => {
                Json::Object(members.iter().map(|(name, value)| (name.as_str(), value)).collect())
            }
        }
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Json {
        Json::from(&value)
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Json {
        Json::Bool(truth)
    }
}

/// A number that is not finite has no JSON form and becomes `null`.
impl From<f64> for Json {
    fn from(number: f64) -> Json {
        serde_json::Number::from_f64(number).map_or(Json::Null, |number| Json::Number((&number).into()))
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Json {
        Json::Object(object)
    }
}

impl From<&Json> for Json {
    fn from(value: &Json) -> Json {
        value.clone()
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

macro_rules! from_through {
    ($variant:ident: $($source:ty),*) => { $(
        impl From<$source> for Json {
            fn from(value: $source) -> Json {
                Json::$variant(value.into())
            }
        }
    )* };
}
from_through!(Number: i32, i64, u32, u64, usize, Number);
from_through!(String: &str, String, Text);

/// A [`Json`] value written as JSON, with Rust expressions (anything that is `Into<Json>`) as values:
/// `json!({"id": id, "params": {"uri": uri, "list": [1, null]}})`. A name may be an expression in parentheses.
#[doc(hidden)]
#[macro_export]
macro_rules! wire_json {
    (@members $object:ident) => {};
    (@members $object:ident ($name:expr) : $($rest:tt)+) => {
        $crate::wire_json!(@member $object $name; $($rest)+)
    };
    (@members $object:ident $name:literal : $($rest:tt)+) => {
        $crate::wire_json!(@member $object $name; $($rest)+)
    };
    (@member $object:ident $name:expr; null $(, $($rest:tt)*)?) => {
        $object.push($name, $crate::wire::Json::Null);
        $crate::wire_json!(@members $object $($($rest)*)?);
    };
    (@member $object:ident $name:expr; {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $object.push($name, $crate::wire_json!({$($inner)*}));
        $crate::wire_json!(@members $object $($($rest)*)?);
    };
    (@member $object:ident $name:expr; [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $object.push($name, $crate::wire_json!([$($inner)*]));
        $crate::wire_json!(@members $object $($($rest)*)?);
    };
    (@member $object:ident $name:expr; $value:expr $(, $($rest:tt)*)?) => {
        $object.push($name, $value);
        $crate::wire_json!(@members $object $($($rest)*)?);
    };
    (@items $items:ident) => {};
    (@items $items:ident null $(, $($rest:tt)*)?) => {
        $items.push($crate::wire::Json::Null);
        $crate::wire_json!(@items $items $($($rest)*)?);
    };
    (@items $items:ident {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $items.push($crate::wire_json!({$($inner)*}));
        $crate::wire_json!(@items $items $($($rest)*)?);
    };
    (@items $items:ident [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $items.push($crate::wire_json!([$($inner)*]));
        $crate::wire_json!(@items $items $($($rest)*)?);
    };
    (@items $items:ident $value:expr $(, $($rest:tt)*)?) => {
        $items.push($crate::wire::Json::from($value));
        $crate::wire_json!(@items $items $($($rest)*)?);
    };
    (null) => { $crate::wire::Json::Null };
    ({}) => { $crate::wire::Json::Object($crate::wire::Object::new()) };
    ([]) => { $crate::wire::Json::Array(::std::vec::Vec::new()) };
    ({$($members:tt)+}) => {{
        let mut object = $crate::wire::Object::new();
        $crate::wire_json!(@members object $($members)+);
        $crate::wire::Json::Object(object)
    }};
    ([$($inner:tt)+]) => {{
        #[allow(clippy::vec_init_then_push)]
        let items = {
            let mut items = ::std::vec::Vec::new();
            $crate::wire_json!(@items items $($inner)+);
            items
        };
        $crate::wire::Json::Array(items)
    }};
    ($value:expr) => { $crate::wire::Json::from($value) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json;

    #[test]
    fn pointers_of_rfc_6901() {
        let value = json!({"a": [10, {"b": true}], "": 1, "x/y": 2, "m~n": 3, "~1": 4, "0": 5});
        for (pointer, wanted) in [
            ("/a/0", Some("10")),
            ("/a/1/b", Some("true")),
            ("/", Some("1")),
            ("/x~1y", Some("2")),
            ("/m~0n", Some("3")),
            ("/~01", Some("4")),
            ("/0", Some("5")),
            ("/a/2", None),
            ("/a/-", None),
            ("/a/00", None),
            ("/a/+1", None),
            ("/a/", None),
            ("/a/0/b", None),
            ("a", None),
            ("/A", None),
        ] {
            assert_eq!(value.pointer(pointer).map(Json::to_string).as_deref(), wanted, "{pointer}");
        }
        assert_eq!(value.pointer(""), Some(&value));
    }

    #[test]
    fn same_is_meaning_and_equal_is_spelling() {
        let left = json!({"a": 1, "b": [Number::parse("1.0"), "x"]});
        let right = json!({"b": [1, "x"], "a": Number::parse("1e0")});
        assert!(left.same(&right));
        assert_ne!(left, right);
        assert!(!left.same(&json!({"a": 1, "b": ["x", 1]})));
        assert!(!left.same(&json!({"a": 1})));
        assert!(!json!(1).same(&json!("1")));
        assert!(!json!([1]).same(&json!([1, 1])));
    }

    #[test]
    fn the_macro_takes_expressions_at_any_depth() {
        let name = "k".to_owned();
        let value = json!({"n": null, "list": [null, [], {}, -1, 0.5, name.len()], (name.clone()): {"b": 1 < 2}, "o": None::<i64>,});
        assert_eq!(value.to_string(), r#"{"n":null,"list":[null,[],{},-1,0.5,1],"k":{"b":true},"o":null}"#);
        assert_eq!(json!(u64::MAX).to_string(), "18446744073709551615");
    }

    #[test]
    fn to_and_from_serde() {
        let text = r#"{"a":[1,-2,1.5,18446744073709551615],"b":{"c":null,"d":true},"e":"x"}"#;
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(Json::from(&value).to_string(), text);
        assert_eq!(Json::from(&value).to_serde(), value);
        let beyond = json!([Number::parse("1e400"), Number::parse("-1e400"), Text::from_units(vec![0xd800])]);
        assert_eq!(beyond.to_serde(), serde_json::json!([f64::MAX, f64::MIN, "\u{fffd}"]));
    }

    #[test]
    fn printing_escapes_what_is_unsafe_to_show() {
        let text = Json::from("\"\\\u{1b}[31m\u{7f}\u{85}\u{2028}\u{202e}\n😀é/");
        assert_eq!(text.to_string(), r#""\"\\\u001b[31m\u007f\u0085\u2028\u202e\n😀é/""#);
        assert_eq!(Json::from(Text::from_units(vec![0xdc00, 0x41])).to_string(), r#""\udc00A""#);
    }
}
