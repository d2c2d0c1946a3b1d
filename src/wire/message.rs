//! Which JSON-RPC message do these bytes hold, and what is wrong with them?
//!
//! Reading goes on after a flaw, so that one stray defect does not also look like a missing reply. What `params`,
//! `result` and `error` hold is left to the cases, and so is whether an error may come without an `id`.

use std::hash::{Hash, Hasher};

use super::defect::{Defect, clip};
use super::json::{Blemish, Json, JsonDefect, Limits, Number, Object, Parsed, Text, parse};

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
mod tests;
