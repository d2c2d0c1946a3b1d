//! What kind of message is this JSON value, and how are answers to it written? JSON-RPC 2.0, before any MCP.

use serde_json::{Map, Value, json};

/// Error codes: those of JSON-RPC, then those of MCP.
pub(crate) mod code {
    pub const PARSE: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const UNKNOWN_METHOD: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;
    /// A resource that does not exist, in the stateful revisions.
    pub const NOT_FOUND: i64 = -32002;
    /// The headers of an HTTP request do not say what its body says, from 2026-07-28 on.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a capability that the request needs, from 2026-07-28 on.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// A protocol version that is not served, from 2026-07-28 on.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// A JSON value, sorted by what JSON-RPC calls it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    Request(Request),
    Notification {
        method: String,
        params: Value,
    },
    /// An answer to a request of ours. We never ask, so nobody waits for it.
    Response,
    /// JSON, but no message; `id` is null where none could be read.
    Invalid {
        id: Value,
    },
}

/// A request. `params` is null where none were sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub id: Value,
    pub method: String,
    pub params: Value,
}

impl Request {
    /// A member of the parameters.
    pub fn param(&self, name: &str) -> Option<&Value> {
        self.params.get(name)
    }

    /// A parameter that must be there and be a string.
    pub fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.param(name)
            .and_then(Value::as_str)
            .ok_or_else(|| Refusal::params(format!("{name} must be a string")))
    }
}

impl Message {
    pub fn read(value: Value) -> Self {
        let Value::Object(mut members) = value else { return Self::Invalid { id: Value::Null } };
        let id = members.remove("id");
        let readable = id.as_ref().is_some_and(is_id);
        let answers = members.contains_key("result") || members.contains_key("error");
        let params = members.remove("params").unwrap_or_default();
        let two = members.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
        match (members.remove("method"), id) {
            (Some(Value::String(method)), None) => Self::Notification { method, params },
            (Some(Value::String(method)), Some(id)) if readable && two && !answers => {
                Self::Request(Request { id, method, params })
            }
            (None, _) if answers => Self::Response,
            (_, id) => Self::Invalid { id: id.filter(is_id).unwrap_or_default() },
        }
    }
}

/// Ids are strings and whole numbers; null, fractions and everything else are none.
pub(crate) fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_u64()
}

/// Why a request is answered by an error.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl Refusal {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    pub fn unknown_method(method: &str) -> Self {
        let shown: String = method.chars().take(80).collect();
        Self::new(code::UNKNOWN_METHOD, format!("Method not found: {}", shown.escape_debug()))
    }

    pub fn with(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The error response that says so; `id` is null where the request's own could not be read.
    pub fn reply(self, id: &Value) -> Value {
        let mut error = Map::new();
        error.insert("code".into(), self.code.into());
        error.insert("message".into(), self.message.into());
        if let Some(data) = self.data {
            error.insert("data".into(), data);
        }
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    }
}

/// The response that carries a result.
pub(crate) fn reply(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A notification; null parameters are left out.
pub(crate) fn notification(method: &str, params: Value) -> Value {
    match params {
        Value::Null => json!({ "jsonrpc": "2.0", "method": method }),
        params => json!({ "jsonrpc": "2.0", "method": method, "params": params }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Message {
        Message::read(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn messages_are_sorted_by_their_members() {
        assert!(matches!(kind(r#"{"jsonrpc":"2.0","id":"","method":"ping"}"#), Message::Request(_)));
        assert!(matches!(kind(r#"{"jsonrpc":"2.0","method":"x","params":7}"#), Message::Notification { .. }));
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Message::Response);
        assert_eq!(kind(r#"{"jsonrpc":"2.0","error":{}}"#), Message::Response);
        assert_eq!(kind(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#), Message::Invalid { id: json!(7) });
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#),
            Message::Invalid { id: Value::Null }
        );
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
            Message::Invalid { id: Value::Null }
        );
        assert_eq!(kind("[]"), Message::Invalid { id: Value::Null });
        assert_eq!(kind(r#"{"jsonrpc":"2.0","method":5}"#), Message::Invalid { id: Value::Null });
    }
}
