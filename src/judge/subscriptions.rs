//! What has the client asked to hear of? Subscriptions of the stateful era, and the filters of listen requests.

use crate::check::formats::is_at_or_below;
use crate::wire::Json;

/// Whether a resource is subscribed to, in the stateful era.
struct Subscription {
    uri: String,
    left: bool,
}

/// All subscriptions of a conversation.
#[derive(Default)]
pub(super) struct Subscriptions(Vec<Subscription>);

impl Subscriptions {
    /// The client subscribes. Updates may overtake the answer, so the subscription counts from here.
    pub fn begin(&mut self, uri: String) {
        self.0.retain(|subscription| subscription.uri != uri);
        self.0.push(Subscription { uri, left: false });
    }

    /// The server has confirmed that the client left.
    pub fn leave(&mut self, uri: Option<&str>) {
        for subscription in &mut self.0 {
            subscription.left |= Some(subscription.uri.as_str()) == uri;
        }
    }

    /// How the client stands to a resource: the fact `subscribed` of a notification.
    pub fn standing(&self, uri: Option<&str>) -> &'static str {
        let Some(uri) = uri else { return "never" };
        let live = || self.0.iter().filter(|subscription| !subscription.left);
        if live().any(|subscription| subscription.uri == uri) {
            "yes"
        } else if live().any(|subscription| is_at_or_below(uri, &subscription.uri)) {
            "below"
        } else if self.0.iter().any(|subscription| is_at_or_below(uri, &subscription.uri)) {
            "left"
        } else if self.0.is_empty() {
            "never"
        } else {
            "other"
        }
    }
}

/// Whether a listen request's filter asks for this notification.
pub(super) fn filter_asks(params: Option<&Json>, method: &str, uri: Option<&str>) -> bool {
    let filter = params.and_then(|params| params.get("notifications"));
    let flag = |name: &str| filter.and_then(|filter| filter.get(name)?.as_bool()) == Some(true);
    match method {
        "notifications/subscriptions/acknowledged" | "notifications/cancelled" => true,
        "notifications/resources/list_changed" => flag("resourcesListChanged"),
        "notifications/tools/list_changed" => flag("toolsListChanged"),
        "notifications/prompts/list_changed" => flag("promptsListChanged"),
        "notifications/resources/updated" => {
            let asked = filter.and_then(|filter| filter.get("resourceSubscriptions")?.as_array());
            let covers = |asked: &str| uri.is_some_and(|uri| is_at_or_below(uri, asked));
            asked.into_iter().flatten().filter_map(Json::as_str).any(covers)
        }
        _ => false,
    }
}

/// The resource that params name.
pub(super) fn uri_of(params: Option<&Json>) -> Option<&str> {
    params?.get("uri")?.as_str()
}
