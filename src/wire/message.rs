//! Which JSON-RPC message do these bytes hold, and what is wrong with them?
//!
//! Reading goes on after a flaw, so that one stray defect does not also look like a missing reply. What `params`,
//! `result` and `error` hold is left to the cases, and so is whether an error may come without an `id`.

use std::hash::{Hash, Hasher};

use super::defect::Defect;
use super::json::{Blemish, Json, JsonDefect, Limits, Number, Object, Parsed, Text, parse};
use super::scan::clip;

/// What one frame holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The JSON value, if the frame is JSON. Bytes that are not UTF-8 are U+FFFD in it.
    pub json: Option<Json>,
    /// The message, if its kind could be told; not for a batch.
    pub message: Option<Message>,
    /// All that is wrong; empty for a sound message.
    pub defects: Vec<Defect>,
}

impl Reading {
    /// Whether a defect of this name was found.
    pub fn has(&self, name: &str) -> bool {
        self.defects.iter().any(|defect| defect.name() == name)
    }
}

/// A JSON-RPC message. An `id` is `None` where the frame has none that could be used; the defects say why.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Has `method` and an `id` other than null
    Request { id: Option<Id>, method: String, params: Option<Json> },
    /// Has `method` and no `id`, or null
    Notification { method: String, params: Option<Json> },
    /// Has `result`
    Result { id: Option<Id>, result: Json },
    /// Has `error`; without a defect the `id` may be absent or null here, as where the request was not readable
    Error { id: Option<Id>, error: Json },
}

impl Message {
    /// The usable `id`.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Message::Request { id, .. } | Message::Result { id, .. } | Message::Error { id, .. } => {
                id.as_ref()
            }
            Message::Notification { .. } => None,
        }
    }

    /// The method of a request or notification.
    pub fn method(&self) -> Option<&str> {
        match self {
            Message::Request { method, .. } | Message::Notification { method, .. } => Some(method),
            Message::Result { .. } | Message::Error { .. } => None,
        }
    }

    /// The parameters of a request or notification.
    pub fn params(&self) -> Option<&Json> {
        match self {
            Message::Request { params, .. } | Message::Notification { params, .. } => params.as_ref(),
            Message::Result { .. } | Message::Error { .. } => None,
        }
    }

    /// `request`, `notification`, `result` or `error`.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::Request { .. } => "request",
            Message::Notification { .. } => "notification",
            Message::Result { .. } => "result",
            Message::Error { .. } => "error",
        }
    }

    /// Whether this answers a request: a result or an error.
    pub fn is_response(&self) -> bool {
        matches!(self, Message::Result { .. } | Message::Error { .. })
    }

    /// The message as JSON-RPC writes it.
    pub fn to_json(&self) -> Json {
        let mut object = Object::new();
        object.push("jsonrpc", "2.0");
        if let Some(id) = self.id() {
            object.push("id", id);
        }
        match self {
            Message::Request { method, params, .. } | Message::Notification { method, params } => {
                object.push("method", method.as_str());
                if let Some(params) = params {
                    object.push("params", params);
                }
            }
            Message::Result { result, .. } => object.push("result", result),
            Message::Error { error, .. } => object.push("error", error),
        }
        Json::Object(object)
    }
}

/// The `id` of a request, equal by type and value: 1 and 1.0 are the same, 1 and "1" are not.
#[derive(Clone)]
pub enum Id {
    /// A number; a defect says so if it is not whole.
    Number(Number),
    /// A string.
    String(Text),
}

impl Id {
    /// The id that this value is, if it is a number or a string.
    pub fn from_json(json: &Json) -> Option<Id> {
        match json {
            Json::Number(number) => Some(Id::Number(number.clone())),
            Json::String(text) => Some(Id::String(text.clone())),
            _ => None,
        }
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        match (self, other) {
            (Id::Number(left), Id::Number(right)) => left.same(right),
            (Id::String(left), Id::String(right)) => left == right,
            _ => false,
        }
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Id::Number(number) => number.value().hash(state),
            Id::String(text) => text.hash(state),
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Id::Number(number) => number.fmt(f),
            Id::String(text) => text.fmt(f),
        }
    }
}

impl std::fmt::Debug for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Id {
        Id::Number(number.into())
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Id {
        Id::String(text.into())
    }
}

impl From<&Id> for Json {
    fn from(id: &Id) -> Json {
        Json::from(id.clone())
    }
}

impl From<Id> for Json {
    fn from(id: Id) -> Json {
        match id {
            Id::Number(number) => Json::Number(number),
            Id::String(text) => Json::String(text),
        }
    }
}

/// Reads one frame.
pub fn read(bytes: &[u8], limits: &Limits) -> Reading {
    match decode(bytes, limits) {
        (Some(parsed), defects) => read_value(parsed.json, defects),
        (None, defects) => Reading { json: None, message: None, defects },
    }
}

/// Reads the elements of a frame that is an array, each as a frame of its own; empty if it is none.
/// Flaws of the text as a whole (its encoding, a byte order mark) are with [`read`] alone.
pub fn read_batch(bytes: &[u8], limits: &Limits) -> Vec<Reading> {
    let (Some(Parsed { json: Json::Array(elements), blemishes }), _) = decode(bytes, limits) else {
        return Vec::new();
    };
    let of_element = |index: usize| {
        let root = format!("/{index}");
        blemishes.iter().filter_map(move |blemish| within(blemish, &root)).map(Defect::from).collect()
    };
    elements.into_iter().enumerate().map(|(index, json)| read_value(json, of_element(index))).collect()
}

/// Bytes that are not UTF-8 are reported and replaced. If that leaves no JSON, their encoding is the whole reason.
fn decode(bytes: &[u8], limits: &Limits) -> (Option<Parsed>, Vec<Defect>) {
    let (outcome, encoding) = match parse(bytes, limits) {
        Err(not_utf8 @ JsonDefect::NotUtf8 { .. }) => {
            // Replacing may lengthen the text, which was within its limit.
            let limits = Limits { length: usize::MAX, ..*limits };
            (parse(String::from_utf8_lossy(bytes).as_bytes(), &limits), Some(not_utf8))
        }
        outcome => (outcome, None),
    };
    let mut defects: Vec<Defect> = encoding.into_iter().map(Defect::from).collect();
    match outcome {
        Ok(parsed) => {
            defects.extend(parsed.blemishes.iter().cloned().map(Defect::from));
            (Some(parsed), defects)
        }
        Err(reason) => {
            if defects.is_empty() {
                defects.push(reason.into());
            }
            (None, defects)
        }
    }
}

/// The blemish as seen from the value at `root`, if it is there.
fn within(blemish: &Blemish, root: &str) -> Option<Blemish> {
    let cut = |pointer: &str| {
        let rest = pointer.strip_prefix(root)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
    };
    Some(match blemish {
        Blemish::Bom => return None,
        Blemish::DuplicateMember { object, name } => {
            Blemish::DuplicateMember { object: cut(object)?, name: name.clone() }
        }
        Blemish::LoneSurrogate { pointer } => Blemish::LoneSurrogate { pointer: cut(pointer)? },
    })
}

fn read_value(json: Json, mut defects: Vec<Defect>) -> Reading {
    let message = match &json {
        Json::Object(object) => read_object(object, &mut defects),
        Json::Array(elements) => {
            defects.push(Defect::Batch { length: elements.len() });
            None
        }
        scalar => {
            defects.push(Defect::NotAnObject { found: describe(scalar) });
            None
        }
    };
    Reading { json: Some(json), message, defects }
}

fn read_object(object: &Object, defects: &mut Vec<Defect>) -> Option<Message> {
    match object.get("jsonrpc") {
        None => defects.push(Defect::JsonrpcMissing),
        Some(version) if version.as_str() == Some("2.0") => {}
        Some(version) => defects.push(Defect::JsonrpcWrong { found: describe(version) }),
    }
    // The order in which they win where several are present: it is the reply that somebody waits for.
    let present: Vec<_> = ["error", "result", "method"]
        .into_iter()
        .filter_map(|name| Some((name, object.get(name)?)))
        .collect();
    if present.len() > 1 {
        defects.push(Defect::SeveralKinds { members: present.iter().map(|(name, _)| *name).collect() });
    }
    // Some writers put null for what is absent.
    let meant = present.iter().find(|(_, value)| !value.is_null());
    let unclear = || present.iter().find(|(name, _)| *name == "result").or(present.first());
    match meant.or_else(unclear) {
        None => {
            defects.push(Defect::NoKind);
            None
        }
        Some(("method", method)) => read_call(object, method, defects),
        Some(("result", result)) => {
            if !object.contains("id") {
                defects.push(Defect::IdMissing);
            }
            let id = object.get("id").and_then(|id| read_id(id, defects));
            Some(Message::Result { id, result: (*result).clone() })
        }
        Some((_, error)) => {
            let id = object.get("id").filter(|id| !id.is_null()).and_then(|id| read_id(id, defects));
            Some(Message::Error { id, error: (*error).clone() })
        }
    }
}

/// A request or notification.
fn read_call(object: &Object, method: &Json, defects: &mut Vec<Defect>) -> Option<Message> {
    let params = object.get("params").cloned();
    if let Some(params) = params.as_ref().filter(|params| !matches!(params, Json::Object(_) | Json::Array(_)))
    {
        defects.push(Defect::ParamsNotStructured { found: describe(params) });
    }
    let id = match object.get("id") {
        Some(Json::Null) => {
            defects.push(Defect::IdOnNotification);
            None
        }
        id => id.map(|id| read_id(id, defects)),
    };
    let Some(method) = method.as_text().map(|method| method.to_string_lossy().into_owned()) else {
        defects.push(Defect::MethodNotAString { found: describe(method) });
        return None;
    };
    Some(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

fn read_id(json: &Json, defects: &mut Vec<Defect>) -> Option<Id> {
    let id = Id::from_json(json);
    let is_sound = match &id {
        Some(Id::Number(number)) => number.is_integer(),
        Some(Id::String(_)) => true,
        None => false,
    };
    if !is_sound {
        defects.push(Defect::IdWrongType { found: describe(json) });
    }
    id
}

/// A scalar as written (its beginning, if it is long); otherwise what it is.
fn describe(json: &Json) -> String {
    match json {
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        Json::Null | Json::Bool(_) => json.to_string(),
        Json::Number(number) => clip(number.as_str()),
        Json::String(text) => Text::from(clip(&text.to_string_lossy())).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json;
    use std::collections::HashSet;

    fn reading(text: &str) -> Reading {
        read(text.as_bytes(), &Limits::default())
    }

    fn request(id: impl Into<Option<Id>>) -> Option<Message> {
        Some(Message::Request { id: id.into(), method: "m".into(), params: None })
    }

    fn notification() -> Option<Message> {
        Some(Message::Notification { method: "m".into(), params: None })
    }

    fn result(id: impl Into<Option<Id>>) -> Option<Message> {
        Some(Message::Result { id: id.into(), result: json!({}) })
    }

    fn error(id: impl Into<Option<Id>>) -> Option<Message> {
        Some(Message::Error { id: id.into(), error: json!({}) })
    }

    #[test]
    fn sound_messages() {
        for (text, message) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, request(Id::from(1))),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, request(Id::from(1))),
            (r#"{"jsonrpc":"2.0","id":"","method":"m","other":null}"#, request(Id::from(""))),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, notification()),
            (r#"{"jsonrpc":"2.0","id":"a","result":{}}"#, result(Id::from("a"))),
            (r#"{"jsonrpc":"2.0","id":7,"error":{}}"#, error(Id::from(7))),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, error(None)),
            (r#"{"jsonrpc":"2.0","error":{}}"#, error(None)),
            (
                r#"{"params":[1],"method":"m","jsonrpc":"2.0"}"#,
                Some(Message::Notification { method: "m".into(), params: Some(json!([1])) }),
            ),
        ] {
            let reading = reading(text);
            assert_eq!((reading.message, reading.defects), (message, Vec::new()), "{text}");
        }
    }

    /// Every defect: a frame that has it, what it is called, what it says, and what is understood all the same.
    #[test]
    fn every_defect() {
        let table = [
            ("", "empty", "the text is empty", None),
            ("{", "not-json", "expected a member name in quotes at byte 1, found the end of the text", None),
            ("hello", "not-json", "expected a value at byte 0, found `h`", None),
            (r#"{"jsonrpc":"2.0"} x"#, "trailing-text", "more text follows the value at byte 18", None),
            (
                "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
                "byte-order-mark",
                "a byte order mark stands before the text",
                notification(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"m","id":1}"#,
                "duplicate-member",
                r#"member "id" comes twice in the outermost value"#,
                request(Id::from(1)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"x":["\ud800"]}"#,
                "lone-surrogate",
                r#"a lone surrogate escape stands in "/x/0""#,
                result(Id::from(1)),
            ),
            ("5", "not-an-object", "a message is an object, this is 5", None),
            (r#""{}""#, "not-an-object", r#"a message is an object, this is "{}""#, None),
            ("[{},{}]", "batch", "the frame is a batch of 2 elements", None),
            ("[]", "batch", "the frame is a batch of 0 elements", None),
            (
                r#"{"jsonrpc":"2.0","id":1}"#,
                "no-kind",
                "the message has no `method`, `result` or `error`",
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
                "several-kinds",
                "the message has `error` and `result` at once",
                error(Id::from(1)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
                "several-kinds",
                "the message has `error` and `result` at once",
                result(Id::from(1)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
                "several-kinds",
                "the message has `result` and `method` at once",
                result(Id::from(1)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","result":null,"error":null}"#,
                "several-kinds",
                "the message has `error` and `result` and `method` at once",
                request(Id::from(1)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":null,"result":null}"#,
                "several-kinds",
                "the message has `error` and `result` at once",
                Some(Message::Result { id: Some(Id::from(1)), result: Json::Null }),
            ),
            (
                r#"{"id":1,"method":"m"}"#,
                "jsonrpc-missing",
                "the message has no `jsonrpc`",
                request(Id::from(1)),
            ),
            (
                r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
                "jsonrpc-wrong",
                "`jsonrpc` must be \"2.0\", this is 2.0",
                request(Id::from(1)),
            ),
            (
                r#"{"jsonrpc":"1.0","method":"m"}"#,
                "jsonrpc-wrong",
                "`jsonrpc` must be \"2.0\", this is \"1.0\"",
                notification(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
                "id-wrong-type",
                "`id` must be a string or a whole number, this is 1.5",
                request(Number::parse("1.5").map(Id::Number)),
            ),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
                "id-wrong-type",
                "`id` must be a string or a whole number, this is true",
                request(None),
            ),
            (
                r#"{"jsonrpc":"2.0","id":[1],"error":{}}"#,
                "id-wrong-type",
                "`id` must be a string or a whole number, this is an array",
                error(None),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
                "id-wrong-type",
                "`id` must be a string or a whole number, this is null",
                result(None),
            ),
            (r#"{"jsonrpc":"2.0","result":{}}"#, "id-missing", "the result has no `id`", result(None)),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
                "id-on-notification",
                "a notification has no `id`, this has null",
                notification(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":{}}"#,
                "method-not-a-string",
                "`method` must be a string, this is an object",
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":null}"#,
                "params-not-structured",
                "`params` must be an object or an array, this is null",
                Some(Message::Notification { method: "m".into(), params: Some(Json::Null) }),
            ),
        ];
        let mut met = HashSet::new();
        for (text, name, sentence, message) in table {
            let reading = reading(text);
            let found: Vec<_> = reading.defects.iter().map(|d| (d.name(), d.to_string())).collect();
            assert_eq!(found, [(name, sentence.to_owned())], "{text}");
            assert_eq!(reading.message, message, "{text}");
            assert!(reading.has(name) && !reading.has("x"));
            met.insert(name);
        }
        // These three have tests of their own below.
        met.extend(["too-long", "too-deep", "not-utf8"]);
        assert_eq!(met, HashSet::from(Defect::NAMES));
    }

    #[test]
    fn limits_are_defects() {
        let limits = Limits { length: 40, depth: 2 };
        let names = |text: &str| -> Vec<_> {
            read(text.as_bytes(), &limits).defects.iter().map(Defect::name).collect()
        };
        assert_eq!(names(&"x".repeat(41)), ["too-long"]);
        assert_eq!(names("[[[1]]]"), ["too-deep"]);
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_hide_the_message() {
        let frame = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"\xff\xff\"}}";
        let reading = read(frame, &Limits { length: frame.len(), depth: 9 });
        assert_eq!(reading.defects, [Defect::Unreadable(JsonDefect::NotUtf8 { offset: 39 })]);
        assert_eq!(reading.message.as_ref().and_then(Message::id), Some(&Id::from(1)));
        let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let with_mark = [&[0xfe, 0xff], utf16.as_slice()].concat();
        let reading = read(&with_mark, &Limits::default());
        assert_eq!(reading.defects, [Defect::Unreadable(JsonDefect::NotUtf8 { offset: 0 })]);
        assert_eq!(reading.json, None);
    }

    #[test]
    fn several_defects_are_all_reported() {
        let names: Vec<_> = reading(r#"{"id":{},"method":5,"params":"x","id":{}}"#)
            .defects
            .iter()
            .map(Defect::name)
            .collect();
        let wanted = [
            "duplicate-member",
            "jsonrpc-missing",
            "params-not-structured",
            "id-wrong-type",
            "method-not-a-string",
        ];
        assert_eq!(names, wanted);
    }

    #[test]
    fn a_batch_is_read_element_by_element() {
        let text = r#"[{"jsonrpc":"2.0","id":1,"result":{}}, 5, {"jsonrpc":"2.0","method":"m","x":"\ud800","x":0}, []]"#;
        let readings = read_batch(text.as_bytes(), &Limits::default());
        let names: Vec<Vec<_>> =
            readings.iter().map(|reading| reading.defects.iter().map(Defect::name).collect()).collect();
        assert_eq!(
            names,
            [vec![], vec!["not-an-object"], vec!["lone-surrogate", "duplicate-member"], vec!["batch"]]
        );
        assert_eq!(readings[0].message, result(Id::from(1)));
        let lone = Blemish::LoneSurrogate { pointer: "/x".into() };
        assert_eq!(readings[2].defects[0], Defect::Blemish(lone));
        assert_eq!(read_batch(b"{}", &Limits::default()), []);
    }

    #[test]
    fn blemishes_of_the_tenth_element_are_not_the_first_ones() {
        let text = format!("[{}\"\\ud800\"]", "1,".repeat(10));
        let readings = read_batch(text.as_bytes(), &Limits::default());
        let marked: Vec<_> = readings.iter().map(|reading| reading.has("lone-surrogate")).collect();
        assert_eq!(marked.iter().position(|marked| *marked), Some(10));
    }

    #[test]
    fn ids_are_equal_by_type_and_value() {
        let id = |text: &str| Id::Number(Number::parse(text).unwrap());
        assert_eq!(id("1"), id("1.0"));
        assert_ne!(id("1"), Id::from("1"));
        assert_ne!(id("9007199254740992"), id("9007199254740993"));
        let seen = HashSet::from([id("10"), Id::from("10")]);
        assert!(seen.contains(&id("1e1")) && !seen.contains(&id("11")));
        assert_eq!(id("1e1").to_string(), "1e1");
        assert_eq!(Id::from("a\"").to_string(), r#""a\"""#);
    }

    #[test]
    fn messages_are_written_as_they_are_read() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#,
            r#"{"jsonrpc":"2.0","method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":null}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-1}}"#,
        ] {
            assert_eq!(
                reading(text).message.map(|message| message.to_json().to_string()).as_deref(),
                Some(text)
            );
        }
    }

    #[test]
    fn defects_quote_little() {
        let text = format!(r#"{{"jsonrpc":"{}","method":"m"}}"#, "v".repeat(9999));
        assert!(reading(&text).defects[0].to_string().len() < 400);
    }
}
