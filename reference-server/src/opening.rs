//! How do client and server agree on a revision? By `initialize` once a session, or by the `_meta` of every request.

use serde_json::{Map, Value, json};

use crate::logging::Level;
use crate::message::{Refusal, Request, code, is_id};
use crate::revision::Revision;
use crate::settings::Settings;

pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// What a handler must know of the request around its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub revision: Revision,
    /// The least severe level of which the client wants to hear; none: nothing is logged.
    pub log_level: Option<Level>,
    /// What the client can do, as this very request says; null in a session.
    pub capabilities: Value,
    /// The name under which the client wants to hear of progress.
    pub progress_token: Option<Value>,
}

/// Whether the request says by itself which revision it follows.
pub(crate) fn describes_itself(request: &Request) -> bool {
    request.param("_meta").is_some_and(|meta| meta.get(PROTOCOL_VERSION).is_some())
}

/// Whether the `_meta` of a request holds what it must from 2026-07-28 on.
pub(crate) fn is_described(message: &Value) -> bool {
    let meta = |name: &str| message.pointer("/params/_meta").and_then(|meta| meta.get(name));
    meta(PROTOCOL_VERSION).is_some_and(Value::is_string)
        && meta(CLIENT_CAPABILITIES).is_some_and(Value::is_object)
        && meta(CLIENT_INFO).is_none_or(is_implementation)
}

/// Reads the `_meta` of a request that describes itself, and refuses it where a member is missing or ill-typed.
pub(crate) fn stateless_context(settings: &Settings, request: &Request) -> Result<Context, Refusal> {
    let meta = request.param("_meta").and_then(Value::as_object);
    let meta = meta.ok_or_else(|| Refusal::params("params._meta must be an object"))?;
    let version = meta.get(PROTOCOL_VERSION).and_then(Value::as_str);
    let version =
        version.ok_or_else(|| Refusal::params(format!("_meta must hold {PROTOCOL_VERSION}, a string")))?;
    let revision = settings.serves(version).filter(|revision| revision.is_stateless());
    let revision = revision.ok_or_else(|| unsupported_version(settings, version))?;
    let capabilities = meta.get(CLIENT_CAPABILITIES).filter(|value| value.is_object()).cloned();
    let capabilities = capabilities
        .ok_or_else(|| Refusal::params(format!("_meta must hold {CLIENT_CAPABILITIES}, an object")))?;
    if meta.get(CLIENT_INFO).is_some_and(|info| !is_implementation(info)) {
        return Err(Refusal::params(format!("{CLIENT_INFO} must hold a name and a version")));
    }
    let log_level = match meta.get(LOG_LEVEL) {
        None => None,
        Some(level) => Some(Level::read(level).ok_or_else(|| Refusal::params("Unknown log level"))?),
    };
    Ok(Context { revision, log_level, capabilities, progress_token: progress_token(request)? })
}

/// The token of a request, in either era.
pub(crate) fn progress_token(request: &Request) -> Result<Option<Value>, Refusal> {
    match request.param("_meta") {
        None => Ok(None),
        Some(Value::Object(meta)) => match meta.get("progressToken") {
            None => Ok(None),
            Some(token) if is_id(token) => Ok(Some(token.clone())),
            Some(_) => Err(Refusal::params("progressToken must be a string or a whole number")),
        },
        Some(_) => Err(Refusal::params("params._meta must be an object")),
    }
}

fn unsupported_version(settings: &Settings, requested: &str) -> Refusal {
    Refusal::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version")
        .with(json!({ "supported": settings.stateless(), "requested": requested }))
}

/// Agrees on the revision of a session: the one asked for, or else the newest of ours.
pub(crate) fn initialize(settings: &Settings, request: &Request) -> Result<(Revision, Value), Refusal> {
    let requested = request.text("protocolVersion")?;
    if !request.param("capabilities").is_some_and(Value::is_object) {
        return Err(Refusal::params("capabilities must be an object"));
    }
    if !request.param("clientInfo").is_some_and(is_implementation) {
        return Err(Refusal::params("clientInfo must hold a name and a version"));
    }
    let newest = settings.newest_stateful().ok_or_else(|| unsupported_version(settings, requested))?;
    let revision = settings.serves(requested).filter(|revision| !revision.is_stateless()).unwrap_or(newest);
    let result = json!({
        "protocolVersion": revision.name(),
        "capabilities": capabilities(settings, revision),
        "serverInfo": server_info(revision),
        "instructions": INSTRUCTIONS,
    });
    Ok((revision, result))
}

/// The result of `server/discover`.
pub(crate) fn discover(settings: &Settings, revision: Revision) -> Value {
    json!({
        "supportedVersions": settings.stateless(),
        "capabilities": capabilities(settings, revision),
        "instructions": INSTRUCTIONS,
        "ttlMs": 60_000,
        "cacheScope": "public",
    })
}

const INSTRUCTIONS: &str = "Resources of every kind, to test clients and test suites with.";

fn capabilities(settings: &Settings, revision: Revision) -> Value {
    let mut capabilities = Map::new();
    if settings.resources {
        let resources = json!({ "subscribe": settings.subscribe, "listChanged": settings.list_changed });
        capabilities.insert("resources".into(), resources);
        // Each tool does something to a resource.
        capabilities.insert("tools".into(), json!({}));
    }
    if settings.completions && revision.has_completions_capability() {
        capabilities.insert("completions".into(), json!({}));
    }
    capabilities.insert("logging".into(), json!({}));
    capabilities.into()
}

pub(crate) fn server_info(revision: Revision) -> Value {
    let mut info = json!({ "name": "mcp-litmus-reference", "version": env!("CARGO_PKG_VERSION") });
    if revision.has_titles() {
        info["title"] = "Litmus reference server".into();
    }
    if revision.has_icons() {
        info["description"] = "Shows Resources as the specification describes them".into();
    }
    info
}

fn is_implementation(info: &Value) -> bool {
    ["name", "version"].iter().all(|member| info.get(member).is_some_and(Value::is_string))
}
