//! What differs on the wire from one revision to the next? How to open, what each request carries, how to ask
//! for signs of life and for change notifications. Nothing else in the driver asks which revision it speaks.

use crate::revision::{Era, Revision};
use crate::wire::{Json, Message, Object, json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The driver's own name in `clientInfo`.
const CLIENT_NAME: &str = "mcp-litmus";

/// Members of `_meta` that the stateless era demands or knows.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// One revision's manner of speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    pub revision: Revision,
}

impl Dialect {
    pub fn new(revision: Revision) -> Self {
        Self { revision }
    }

    pub fn is_stateless(self) -> bool {
        self.revision.era() == Era::Stateless
    }

    /// Over HTTP: whether requests name the revision in a header once it is agreed on.
    pub fn names_itself_in_headers(self) -> bool {
        self.revision >= Revision::R2025_06_18
    }

    /// Over HTTP: the headers that repeat what a message says, so that it can be routed by them. Only the stateless era
    /// has such. What the message does not say, the header does not either, but for the revision.
    pub fn mirrored(self, message: Option<&Message>) -> Vec<(&'static str, String)> {
        if !self.is_stateless() {
            return Vec::new();
        }
        let (method, params) = match message {
            Some(Message::Request { method, params, .. } | Message::Notification { method, params }) => {
                (Some(method.as_str()), params.as_ref())
            }
            _ => (None, None),
        };
        // Whoever asks for a session speaks as sessions are spoken.
        if method == Some("initialize") {
            return Vec::new();
        }
        let text = |pointer: &str| params.and_then(|params| params.pointer(pointer)?.as_str());
        let version =
            text("/_meta/io.modelcontextprotocol~1protocolVersion").unwrap_or(self.revision.as_str());
        let mut headers = vec![("mcp-protocol-version", header_value(version))];
        headers.extend(method.map(|method| ("mcp-method", header_value(method))));
        let name = match method {
            Some("resources/read") => text("/uri"),
            Some("tools/call" | "prompts/get") => text("/name"),
            _ => None,
        };
        headers.extend(name.map(|name| ("mcp-name", header_value(name))));
        headers
    }

    /// The params of `initialize`, declaring no capability: whatever a server then asks of us is a breach
    /// that we can see.
    pub fn initialize_params(self) -> Json {
        json!({
            "protocolVersion": self.revision.as_str(),
            "capabilities": {},
            "clientInfo": client_info(),
        })
    }

    /// What every request's `_meta` holds; `None` where the revision demands nothing.
    pub fn meta(self) -> Option<Object> {
        self.is_stateless().then(|| {
            let mut meta = Object::new();
            meta.push(META_VERSION, self.revision.as_str());
            meta.push(META_CLIENT, client_info());
            meta.push(META_CAPABILITIES, Object::new());
            meta
        })
    }

    /// The params as they go out: with the demanded `_meta`, into which the case's own is merged.
    pub fn params(self, params: Option<Json>) -> Option<Json> {
        let Some(mut meta) = self.meta() else { return params };
        let mut object = match params {
            None => Object::new(),
            Some(Json::Object(object)) => object,
            // Positional params have no place for `_meta`.
            Some(other) => return Some(other),
        };
        if let Some(Json::Object(own)) = object.remove("_meta") {
            for (name, value) in own {
                meta.insert(name, value);
            }
        }
        object.push("_meta", meta);
        Some(Json::Object(object))
    }

    /// The members that `params` must hold, as JSON text without braces, for raw frames.
    pub fn meta_members(self) -> String {
        match self.meta() {
            Some(meta) => format!("\"_meta\":{meta}"),
            None => String::new(),
        }
    }

    /// A request that every server of the revision must answer by a result.
    pub fn liveness_method(self) -> &'static str {
        if self.is_stateless() { "server/discover" } else { "ping" }
    }

    /// Whether the driver may answer a server's request. Clients of the stateless era send no responses.
    pub fn answers_requests(self) -> bool {
        !self.is_stateless()
    }

    /// The code that says "no such resource".
    pub fn not_found_code(self) -> i64 {
        if self.is_stateless() { -32602 } else { -32002 }
    }
}

/// A text as the value of a header: as it is where that is safe, and otherwise in Base64 between two marks.
pub fn header_value(text: &str) -> String {
    let is_safe = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let is_padded = text.trim_matches([' ', '\t']) != text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    if is_safe && !is_padded && !looks_encoded {
        return text.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(text))
}

fn client_info() -> Json {
    json!({ "name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stateless_era_puts_meta_on_every_request_and_keeps_the_cases_own() {
        let dialect = Dialect::new(Revision::R2026_07_28);
        let params = dialect.params(Some(json!({"uri": "a:b", "_meta": {"progressToken": 1}}))).unwrap();
        assert_eq!(params.pointer("/_meta/progressToken").and_then(Json::as_i64), Some(1));
        assert_eq!(params.get("_meta").and_then(|meta| meta.get(META_VERSION)?.as_str()), Some("2026-07-28"));
        assert!(dialect.params(None).is_some());
    }

    #[test]
    fn headers_repeat_what_the_message_says() {
        let dialect = Dialect::new(Revision::R2026_07_28);
        let params = dialect.params(Some(json!({"uri": "a:é"})));
        let message = Message::Request { id: None, method: "resources/read".to_owned(), params };
        let headers = dialect.mirrored(Some(&message));
        let expected = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "resources/read"),
            ("mcp-name", "=?base64?YTrDqQ==?="),
        ];
        assert_eq!(headers, expected.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(dialect.mirrored(None), [("mcp-protocol-version", "2026-07-28".to_owned())]);
        assert!(Dialect::new(Revision::R2025_11_25).mirrored(Some(&message)).is_empty());
    }

    #[test]
    fn what_a_header_cannot_hold_is_encoded() {
        assert_eq!(header_value("a:b c"), "a:b c");
        assert_eq!(header_value(" a"), "=?base64?IGE=?=");
        assert_eq!(header_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
        assert_eq!(header_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
    }

    #[test]
    fn the_stateful_era_adds_nothing() {
        let dialect = Dialect::new(Revision::R2025_06_18);
        assert_eq!(dialect.params(None), None);
        assert_eq!(dialect.meta_members(), "");
    }
}
