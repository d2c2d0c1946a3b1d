//! What differs on the wire from one revision to the next? How to open, what each request carries, how to ask
//! for signs of life and for change notifications. Nothing else in the driver asks which revision it speaks.

use crate::revision::{Era, Revision};
use crate::wire::{Json, Object, json};

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
    fn the_stateful_era_adds_nothing() {
        let dialect = Dialect::new(Revision::R2025_06_18);
        assert_eq!(dialect.params(None), None);
        assert_eq!(dialect.meta_members(), "");
    }
}
