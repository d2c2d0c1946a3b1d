//! Who is told of which change? By session (`resources/subscribe`) up to 2025-11-25, by stream
//! (`subscriptions/listen`) from 2026-07-28 on.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::message::{Refusal, Request, notification};
use crate::opening::SUBSCRIPTION_ID;
use crate::settings::Settings;
use crate::store::{Absence, Change, Store};

/// An open `subscriptions/listen` request and what it was promised.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// The id of the request; it marks all that is sent on the stream.
    pub id: Value,
    /// The key of the request (see `conversation`).
    pub key: u64,
    pub list_changed: bool,
    pub uris: BTreeSet<String>,
}

impl Stream {
    /// Reads the filter of a request and keeps what this server will honour.
    pub fn open(settings: &Settings, store: &Store, key: u64, request: &Request) -> Result<Self, Refusal> {
        let filter = request.param("notifications").and_then(Value::as_object);
        let filter = filter.ok_or_else(|| Refusal::params("notifications must be an object"))?;
        for flag in ["resourcesListChanged", "toolsListChanged", "promptsListChanged"] {
            if filter.get(flag).is_some_and(|flag| !flag.is_boolean()) {
                return Err(Refusal::params(format!("{flag} must be a boolean")));
            }
        }
        let uris = match filter.get("resourceSubscriptions") {
            None => Vec::new(),
            Some(Value::Array(uris)) => uris
                .iter()
                .map(|uri| {
                    uri.as_str().ok_or_else(|| Refusal::params("resourceSubscriptions must hold strings"))
                })
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(Refusal::params("resourceSubscriptions must be an array")),
        };
        let honours = |uri: &&str| settings.subscribe && settings.resources && store.may_hold(uri).is_ok();
        Ok(Self {
            id: request.id.clone(),
            key,
            list_changed: settings.list_changed
                && settings.resources
                && filter.get("resourcesListChanged") == Some(&Value::Bool(true)),
            uris: uris.into_iter().filter(honours).map(str::to_owned).collect(),
        })
    }

    /// The notification that opens the stream and says what it will carry.
    pub fn acknowledgement(&self) -> Value {
        let mut honoured = Map::new();
        if self.list_changed {
            honoured.insert("resourcesListChanged".into(), true.into());
        }
        if !self.uris.is_empty() {
            honoured.insert("resourceSubscriptions".into(), json!(self.uris));
        }
        notification(
            "notifications/subscriptions/acknowledged",
            self.mark(json!({ "notifications": honoured })),
        )
    }

    /// The notification of a change, if the stream was promised it.
    pub fn hears(&self, change: &Change) -> Option<Value> {
        match change {
            Change::Updated(uri) if self.uris.contains(uri) => {
                Some(notification("notifications/resources/updated", self.mark(json!({ "uri": uri }))))
            }
            Change::List if self.list_changed => {
                Some(notification("notifications/resources/list_changed", self.mark(json!({}))))
            }
            _ => None,
        }
    }

    fn mark(&self, mut params: Value) -> Value {
        params["_meta"] = json!({ SUBSCRIPTION_ID: self.id });
        params
    }
}

/// What a session has subscribed to.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions(BTreeSet<String>);

impl Subscriptions {
    pub fn subscribe(&mut self, settings: &Settings, store: &Store, uri: &str) -> Result<(), Absence> {
        match store.holds(uri) {
            Err(Absence::Unknown) if settings.subscribe_unknown => {}
            found => found?,
        }
        self.0.insert(uri.to_owned());
        Ok(())
    }

    /// Ends a subscription; ending one that never was is no mistake.
    pub fn unsubscribe(&mut self, uri: &str) -> Result<(), Absence> {
        if self.0.remove(uri) { Ok(()) } else { Store::check(uri) }
    }

    pub fn hears(&self, settings: &Settings, change: &Change) -> Option<Value> {
        match change {
            Change::Updated(uri) if self.0.contains(uri) => {
                Some(notification("notifications/resources/updated", json!({ "uri": uri })))
            }
            Change::List if settings.list_changed && settings.resources => {
                Some(notification("notifications/resources/list_changed", Value::Null))
            }
            _ => None,
        }
    }
}
