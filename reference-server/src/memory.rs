//! What may a hook know? The exchange that a reply belongs to, and what has passed so far.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::opening::{PROTOCOL_VERSION, SERVER_INFO, SUBSCRIPTION_ID, server_info};
use crate::revision::Revision;

/// A request and what is known of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    pub request: Value,
    /// The revision it is answered by; none before a session.
    pub revision: Option<Revision>,
}

impl Exchange {
    pub fn id(&self) -> &Value {
        &self.request["id"]
    }

    pub fn method(&self) -> &str {
        self.request["method"].as_str().unwrap_or("")
    }

    pub fn is(&self, method: &str) -> bool {
        self.method() == method
    }

    pub fn param(&self, name: &str) -> &Value {
        &self.request["params"][name]
    }

    pub fn stateless(&self) -> bool {
        self.revision.is_some_and(Revision::is_stateless)
    }

    /// A reply with a complete result in the dress of the revision.
    pub fn result(&self, mut result: Value) -> Value {
        if let Some(revision) = self.revision.filter(|revision| revision.is_stateless()) {
            result["resultType"] = "complete".into();
            result["_meta"] = json!({ SERVER_INFO: server_info(revision) });
            let scope = if self.is("resources/read") { "private" } else { "public" };
            if ["resources/list", "resources/templates/list", "resources/read", "server/discover"]
                .contains(&self.method())
            {
                result["ttlMs"] = 0.into();
                result["cacheScope"] = scope.into();
            }
        }
        crate::message::reply(self.id(), result)
    }

    pub fn error(&self, code: i64, message: &str) -> Value {
        crate::message::Refusal::new(code, message).reply(self.id())
    }
}

/// What has passed so far, and room for a hook's own notes.
#[derive(Default)]
pub(crate) struct Memory {
    /// The revisions on offer.
    pub offered: Vec<Revision>,
    /// The revision of the session, once `initialize` was answered.
    pub session: Option<Revision>,
    /// Whether the client has said that it is initialized.
    pub initialized: bool,
    /// The capabilities that the client declared at `initialize`.
    pub client: Value,
    /// Requests that came in so far, the present one included.
    pub requests: u32,
    /// The ids that were answered.
    pub answered: BTreeSet<String>,
    /// Open streams: id and filter, as asked for.
    pub streams: Vec<(Value, Value)>,
    /// What the session subscribed to.
    pub subscribed: BTreeSet<String>,
    /// Place of the present line among those that came in one read, and whether another follows it.
    pub place: (usize, bool),
    /// Notes of the hook.
    pub flag: bool,
    pub count: u64,
    pub held: Vec<Value>,
    pub kept: BTreeMap<String, Value>,
    pub seen: BTreeSet<String>,
}

impl Memory {
    /// The revision that a message from the client follows, as far as one can tell.
    pub fn revision(&self, message: &Value) -> Option<Revision> {
        let only_stateless = self.offered.iter().all(|revision| revision.is_stateless());
        match message.pointer("/params/_meta").and_then(|meta| meta.get(PROTOCOL_VERSION)) {
            Some(_) if self.offered.contains(&Revision::V2026_07_28) => Some(Revision::V2026_07_28),
            _ if only_stateless => Some(Revision::V2026_07_28),
            _ => self.session,
        }
    }

    /// The exchange that a request from the client begins.
    pub fn exchange(&self, request: &Value) -> Exchange {
        Exchange { request: request.clone(), revision: self.revision(request) }
    }

    /// Whether the conversation is one without sessions.
    pub fn stateless(&self) -> bool {
        self.session.is_none() && self.offered.contains(&Revision::V2026_07_28)
    }

    pub fn observe_in(&mut self, message: &Value) {
        let method = message["method"].as_str().unwrap_or("");
        if !method.is_empty() && message.get("id").is_some() {
            self.requests += 1;
        }
        match method {
            "initialize" => self.client = message["params"]["capabilities"].clone(),
            "notifications/initialized" => self.initialized |= self.session.is_some(),
            "notifications/cancelled" => {
                let id = &message["params"]["requestId"];
                self.streams.retain(|(stream, _)| stream != id);
            }
            _ => {}
        }
    }

    pub fn observe_reply(&mut self, exchange: &Exchange, reply: &Value) {
        self.answered.insert(exchange.id().to_string());
        let uri = || exchange.param("uri").as_str().unwrap_or("").to_owned();
        match exchange.method() {
            _ if reply.get("result").is_none() => {}
            "initialize" => {
                self.session = reply["result"]["protocolVersion"].as_str().and_then(|name| name.parse().ok());
            }
            "resources/subscribe" => _ = self.subscribed.insert(uri()),
            "resources/unsubscribe" => _ = self.subscribed.remove(&uri()),
            _ => {}
        }
    }

    pub fn observe_notice(&mut self, exchange: Option<&Exchange>, message: &Value) {
        if message["method"] == "notifications/subscriptions/acknowledged" {
            let filter = exchange.map_or(Value::Null, |exchange| exchange.param("notifications").clone());
            self.streams.push((message["params"]["_meta"][SUBSCRIPTION_ID].clone(), filter));
        }
    }
}
