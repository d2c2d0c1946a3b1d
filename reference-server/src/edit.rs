//! Small changes to messages, in the words of the tables.

use serde_json::{Map, Value, json};

use crate::catalogue::{TEMPLATES, entries};
use crate::edge::{Act, Exchange, Memory};
use crate::message::notification;
use crate::opening::{CLIENT_CAPABILITIES, PROTOCOL_VERSION, SUBSCRIPTION_ID};
use crate::template;

pub(crate) const LIST: &str = "resources/list";
pub(crate) const TEMPLATE_LIST: &str = "resources/templates/list";
pub(crate) const READ: &str = "resources/read";
pub(crate) const SUBSCRIBE: &str = "resources/subscribe";
pub(crate) const UNSUBSCRIBE: &str = "resources/unsubscribe";
pub(crate) const LISTEN: &str = "subscriptions/listen";
pub(crate) const COMPLETE: &str = "completion/complete";
pub(crate) const DISCOVER: &str = "server/discover";
pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const CANCELLED: &str = "notifications/cancelled";
pub(crate) const UPDATED: &str = "notifications/resources/updated";
pub(crate) const LIST_CHANGED: &str = "notifications/resources/list_changed";
pub(crate) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Takes a member away.
pub(crate) fn unset(value: &mut Value, member: &str) {
    if let Some(members) = value.as_object_mut() {
        members.remove(member);
    }
}

/// Sets a member; what is no object becomes one.
pub(crate) fn set(value: &mut Value, member: &str, new: Value) {
    object(value).insert(member.to_owned(), new);
}

/// Changes what is at a pointer, if it is there.
pub(crate) fn at(value: &mut Value, pointer: &str, change: impl FnOnce(&mut Value)) {
    if let Some(found) = value.pointer_mut(pointer) {
        change(found);
    }
}

/// The second item of a list, so that the first and the others stay sound; or the only one.
pub(crate) fn one(result: &mut Value, member: &str, change: impl FnOnce(&mut Value)) {
    if let Some(items) = result.get_mut(member).and_then(Value::as_array_mut) {
        let place = usize::from(items.len() > 1);
        if let Some(item) = items.get_mut(place) {
            change(item);
        }
    }
}

/// Each item of a list that has this member.
pub(crate) fn having(result: &mut Value, list: &str, member: &str, mut change: impl FnMut(&mut Value)) {
    for item in result.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(found) = item.get_mut(member) {
            change(found);
        }
    }
}

/// Whether a message from the client is a request, of any method.
pub(crate) fn is_request(message: &Value) -> bool {
    message["method"].is_string() && message.get("id").is_some()
}

/// Whether a message from the client is a request of this method.
pub(crate) fn asks(message: &Value, method: &str) -> bool {
    message["method"] == method && message.get("id").is_some()
}

pub(crate) fn notifies(message: &Value, method: &str) -> bool {
    message["method"] == method && message.get("id").is_none()
}

/// Answers with an error where `when` holds.
pub(crate) fn refuse_if(when: bool, memory: &Memory, request: &Value, code: i64) -> Act {
    if when { Act::Answer(vec![memory.exchange(request).error(code, "Refused")]) } else { Act::Pass }
}

/// Answers each request of a method with an error.
pub(crate) fn refuse(memory: &Memory, request: &Value, method: &str, code: i64) -> Act {
    refuse_if(asks(request, method), memory, request, code)
}

/// Answers with a result where `when` holds.
pub(crate) fn serve_if(when: bool, memory: &Memory, request: &Value, result: Value) -> Act {
    if when { Act::Answer(vec![memory.exchange(request).result(result)]) } else { Act::Pass }
}

pub(crate) fn drop_if(when: bool) -> Act {
    if when { Act::Drop } else { Act::Pass }
}

pub(crate) fn die_if(when: bool) -> Act {
    if when { Act::Die(101) } else { Act::Pass }
}

/// Reports a resource as absent where `when` holds.
pub(crate) fn absent_if(when: bool, memory: &Memory, request: &Value) -> Act {
    let stateless = memory.exchange(request).stateless();
    refuse_if(when && asks(request, READ), memory, request, if stateless { -32602 } else { -32002 })
}

/// A resource that some servers list besides, with contents far beyond what a pipe holds.
const LARGE: &str = "litmus://text/large";
pub(crate) const LARGE_SIZE: usize = 256 * 1024;

/// Lists the large resource, on the first page.
pub(crate) fn list_large(x: &Exchange, result: &mut Value) {
    if x.param("cursor").is_null() {
        at(result, "/resources", |items| {
            if let Some(items) = items.as_array_mut() {
                let large =
                    json!({ "uri": LARGE, "name": "large", "mimeType": "text/plain", "size": LARGE_SIZE });
                items.push(large);
            }
        });
    }
}

pub(crate) fn asks_for_large(message: &Value) -> bool {
    asks(message, READ) && message["params"]["uri"] == LARGE
}

/// Serves so many bytes of the large resource.
pub(crate) fn serve_large(memory: &Memory, message: &Value, length: usize) -> Act {
    let contents = json!([{ "uri": LARGE, "mimeType": "text/plain", "text": "litmus. ".repeat(length / 8) }]);
    serve_if(asks_for_large(message), memory, message, json!({ "contents": contents }))
}

/// Whether a request follows the revision without sessions.
pub(crate) fn is_stateless(memory: &Memory, request: &Value) -> bool {
    is_request(request) && memory.exchange(request).stateless()
}

/// Whether an exchange is part of a session whose client is ready.
pub(crate) fn in_session(memory: &Memory, x: &Exchange) -> bool {
    memory.initialized && x.revision.is_some() && !x.stateless()
}

pub(crate) fn code(reply: &Value) -> i64 {
    reply["error"]["code"].as_i64().unwrap_or(0)
}

pub(crate) fn with(mut value: Value, member: &str, new: Value) -> Value {
    set(&mut value, member, new);
    value
}

pub(crate) fn without(mut value: Value, member: &str) -> Value {
    unset(&mut value, member);
    value
}

/// The reply, unless `when` holds; then another one.
pub(crate) fn instead(when: bool, reply: Value, other: impl FnOnce() -> Value) -> Vec<Value> {
    vec![if when { other() } else { reply }]
}

/// The reply; once a request of the method `after` was answered, without the last item of the list at `list`.
pub(crate) fn shorten_after(
    after: &str,
    list: &str,
    memory: &mut Memory,
    x: &Exchange,
    mut reply: Value,
) -> Vec<Value> {
    memory.flag |= x.is(after);
    if memory.flag {
        at(&mut reply, list, |items| _ = items.as_array_mut().and_then(Vec::pop));
    }
    vec![reply]
}

pub(crate) fn uri(request: &Value) -> &str {
    request["params"]["uri"].as_str().unwrap_or("")
}

/// Whether a URI is listed when the server starts.
pub(crate) fn is_listed(uri: &str) -> bool {
    entries().iter().any(|entry| entry.uri == uri)
}

/// Which template the URI is made from.
pub(crate) fn made_from(uri: &str) -> Option<usize> {
    TEMPLATES.iter().position(|item| template::matches(item.uri_template, uri).is_some())
}

/// The key and identity of a stream on what is delivered for it.
pub(crate) fn tag(message: &Value) -> Option<&Value> {
    message["params"]["_meta"].get(SUBSCRIPTION_ID)
}

/// A change notification for a stream, or for nobody in particular.
pub(crate) fn notice(method: &str, mut params: Value, stream: Option<&Value>) -> Value {
    if let Some(id) = stream {
        params["_meta"] = json!({ SUBSCRIPTION_ID: id });
    }
    notification(method, params)
}

/// The metadata of a request, with what is missing filled in.
pub(crate) fn fill_meta(request: &mut Value, members: &[&str]) {
    if !request["params"].is_object() && !request["params"].is_null() {
        return;
    }
    let params = object(request).entry("params").or_insert(Value::Null);
    let meta = object(params).entry("_meta").or_insert(Value::Null);
    for (member, value) in [(PROTOCOL_VERSION, json!("2026-07-28")), (CLIENT_CAPABILITIES, json!({}))] {
        if members.contains(&member) && meta.get(member).is_none() {
            set(meta, member, value);
        }
    }
}

/// Capabilities, wherever a revision shows them.
pub(crate) fn capabilities(exchange: &Exchange, result: &mut Value, change: impl FnOnce(&mut Value)) {
    if exchange.is(INITIALIZE) || exchange.is(DISCOVER) {
        at(result, "/capabilities", change);
    }
}

/// The object in a value; what is no object becomes an empty one.
pub(crate) fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Value::Object(members) => members,
        _ => unreachable!("made an object above"),
    }
}
