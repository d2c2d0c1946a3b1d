//! How much of a server has been looked at? That a thing was never seen says that the server has none of it only
//! where everything was asked that could have shown it.

use super::conversation::{Kind, Observed};
use crate::uri_template::may_match;
use crate::wire::Json;
use std::collections::BTreeSet;

/// URIs and templates that are remembered, each; a server with more is never seen whole.
const KEPT: usize = 2_000;

/// What the conversations at one revision have reached.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Resources that every conversation lists which read the list to its end.
    listed: BTreeSet<String>,
    templates: BTreeSet<String>,
    /// URIs whose read was answered, one way or the other.
    read: BTreeSet<String>,
    /// Those of them that were answered by a result.
    found: BTreeSet<String>,
    list: Extent,
    template_list: Extent,
    overflowed: bool,
    /// A request that asks for progress was answered.
    progress_asked: bool,
    /// A request that asks for messages of the log was answered.
    log_asked: bool,
}

/// How much of a list was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    #[default]
    Nothing,
    /// The server has no such list.
    Refused,
    Begun,
    Whole,
}

impl Extent {
    fn gap(self, what: &str) -> Option<String> {
        match self {
            Self::Nothing => Some(format!("no list of {what} was read")),
            Self::Begun => Some(format!("the list of {what} was not read to its end")),
            Self::Refused | Self::Whole => None,
        }
    }
}

impl Reach {
    /// Takes note of one thing that a transcript shows.
    pub fn meet(&mut self, observed: &Observed<'_>) {
        let answered = matches!(observed.kind, Kind::Result | Kind::Error);
        let (true, Some(method)) = (answered, observed.method) else { return };
        // What was asked wrongly on purpose was not looked at.
        if observed.facts.get("after_deliberate").and_then(Json::as_bool) == Some(true) {
            return;
        }
        let asks = |pointer: &str| observed.request.and_then(|request| request.pointer(pointer)).is_some();
        self.progress_asked |= asks("/_meta/progressToken");
        self.log_asked |= asks("/_meta/io.modelcontextprotocol~1logLevel") || method == "logging/setLevel";
        if method == "resources/read" {
            let uri = observed.request.and_then(|request| request.get("uri")?.as_str());
            self.overflowed |= !keep(&mut self.read, uri);
            if observed.kind == Kind::Result {
                keep(&mut self.found, uri);
            }
        }
        let (extent, known, list, member) = match method {
            "resources/list" => (&mut self.list, &mut self.listed, "resources", "uri"),
            "resources/templates/list" => {
                (&mut self.template_list, &mut self.templates, "resourceTemplates", "uriTemplate")
            }
            _ => return,
        };
        let is_last = observed.value.get("nextCursor").is_none_or(Json::is_null);
        *extent = (*extent).max(match observed.kind {
            Kind::Result if is_last => Extent::Whole,
            Kind::Result => Extent::Begun,
            _ => Extent::Refused,
        });
        if observed.kind != Kind::Result {
            return;
        }
        let items = observed.value.get(list).and_then(Json::as_array).unwrap_or_default();
        for item in items {
            self.overflowed |= !keep(known, item.get(member).and_then(Json::as_str));
        }
    }

    /// Takes in what other conversations have reached.
    pub fn join(&mut self, other: Self) {
        let Self { mut listed, templates, read, found, .. } = other;
        match (self.list, other.list) {
            // What not every conversation lists was added meanwhile, or removed.
            (Extent::Whole, Extent::Whole) => self.listed.retain(|uri| listed.contains(uri)),
            (_, Extent::Whole) => std::mem::swap(&mut self.listed, &mut listed),
            _ => {}
        }
        for (known, more) in
            [(&mut self.templates, templates), (&mut self.read, read), (&mut self.found, found)]
        {
            for uri in more {
                self.overflowed |= !keep(known, Some(&uri));
            }
        }
        self.list = self.list.max(other.list);
        self.template_list = self.template_list.max(other.template_list);
        self.overflowed |= other.overflowed;
        self.progress_asked |= other.progress_asked;
        self.log_asked |= other.log_asked;
    }

    /// Why what was never seen in answers to this method may be there all the same; `None` where all was seen.
    pub fn gap(&self, method: &str) -> Option<String> {
        match method {
            _ if self.overflowed => Some("the server has more than is remembered of it".to_owned()),
            "resources/list" => self.list_gap(),
            "resources/templates/list" => self.template_list.gap("templates"),
            "resources/read" => self.list_gap().or_else(|| self.read_gap()),
            "tools/call" => Some("no tool is called but those that the profile names".to_owned()),
            _ => None,
        }
    }

    fn list_gap(&self) -> Option<String> {
        let is_empty = self.list == Extent::Whole && self.listed.is_empty();
        is_empty.then(|| "the server lists no resources".to_owned()).or_else(|| self.list.gap("resources"))
    }

    fn read_gap(&self) -> Option<String> {
        let read = self.listed.intersection(&self.read).count();
        if read < self.listed.len() {
            return Some(format!("{read} of {} listed resources were read", self.listed.len()));
        }
        let tried = |template: &&String| self.found.iter().any(|uri| may_match(template, uri));
        let untried = self.templates.iter().find(|template| !tried(template));
        untried.map(|template| format!("nothing was read through the template `{template}`"))
    }

    /// Whether the server was asked for this notification, and may leave it out all the same.
    pub fn is_left_out(&self, notification: &str) -> bool {
        match notification {
            "notifications/progress" => self.progress_asked,
            "notifications/message" => self.log_asked,
            _ => false,
        }
    }
}

/// Remembers a URI; `false` where there are too many.
fn keep(known: &mut BTreeSet<String>, uri: Option<&str>) -> bool {
    let Some(uri) = uri else { return true };
    if known.len() >= KEPT && !known.contains(uri) {
        return false;
    }
    known.insert(uri.to_owned());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Object, json};
    use std::sync::Arc;

    /// A conversation in which each request met this result.
    fn reached(exchanges: &[(&str, Json, Json)]) -> Reach {
        let mut reach = Reach::default();
        for (method, request, value) in exchanges {
            reach.meet(&Observed {
                kind: Kind::Result,
                method: Some(method),
                value,
                facts: &Arc::new(Json::Object(Object::new())),
                request: Some(&Arc::new(request.clone())),
                sent: None,
                got: None,
            });
        }
        reach
    }

    fn list(uris: &[&str]) -> (&'static str, Json, Json) {
        let items: Vec<Json> = uris.iter().map(|uri| json!({ "uri": *uri })).collect();
        ("resources/list", json!({}), json!({ "resources": items }))
    }

    fn read(uri: &str) -> (&'static str, Json, Json) {
        ("resources/read", json!({ "uri": uri }), json!({ "contents": [{}] }))
    }

    #[test]
    fn only_what_was_read_whole_says_what_is_not_there() {
        assert_eq!(reached(&[list(&["a:1", "a:2"])]).gap("resources/list"), None);
        let part =
            ("resources/list", json!({}), json!({ "resources": [{ "uri": "a:1" }], "nextCursor": "2" }));
        assert!(reached(&[part]).gap("resources/list").is_some());
        assert!(reached(&[]).gap("resources/list").is_some());
        assert!(reached(&[list(&[])]).gap("resources/list").is_some());
        let half = reached(&[list(&["a:1", "a:2"]), read("a:1")]);
        assert_eq!(half.gap("resources/list"), None);
        assert_eq!(half.gap("resources/read").as_deref(), Some("1 of 2 listed resources were read"));
        let mut whole = half;
        whole.join(reached(&[read("a:2")]));
        assert_eq!(whole.gap("resources/read"), None);
        let template = (
            "resources/templates/list",
            json!({}),
            json!({ "resourceTemplates": [{ "uriTemplate": "b:{x}" }] }),
        );
        whole.join(reached(&[template]));
        assert!(whole.gap("resources/read").is_some_and(|gap| gap.contains("b:{x}")));
        whole.join(reached(&[read("b:7")]));
        assert_eq!(whole.gap("resources/read"), None);
    }

    #[test]
    fn what_was_added_meanwhile_need_not_be_read() {
        let mut reach = reached(&[list(&["a:1"]), read("a:1"), list(&["a:1", "a:new"])]);
        assert!(reach.gap("resources/read").is_some());
        reach.join(reached(&[list(&["a:1"])]));
        assert_eq!(reach.gap("resources/read"), None);
    }

    #[test]
    fn progress_is_left_out_only_by_who_was_asked_for_it() {
        assert!(!reached(&[read("a:1")]).is_left_out("notifications/progress"));
        let asked = ("resources/read", json!({ "_meta": { "progressToken": 1 } }), json!({}));
        let reach = reached(&[asked]);
        assert!(reach.is_left_out("notifications/progress"));
        assert!(!reach.is_left_out("notifications/resources/updated"));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let many: Vec<String> = (0..=KEPT).map(|number| format!("a:{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let reach = reached(&[list(&many)]);
        assert_eq!(reach.listed.len(), KEPT);
        assert!(reach.gap("resources/list").is_some());
    }
}
