//! What does one running server offer? The choices that the specification leaves to a server; variants make them.

use crate::http::Choices;
use crate::revision::Revision;

/// The choices of one running server.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The revisions it speaks, oldest first.
    pub revisions: Vec<Revision>,
    /// Items on one page of a list.
    pub page_size: usize,
    /// Whether it has resources at all.
    pub resources: bool,
    /// Whether the lists start with nothing in them.
    pub empty: bool,
    /// Whether templates can be listed.
    pub templates: bool,
    /// Whether clients may ask to be told of changed contents.
    pub subscribe: bool,
    /// Whether clients are told of a changed list.
    pub list_changed: bool,
    /// Whether values of template variables are suggested.
    pub completions: bool,
    /// Whether a subscription to what does not exist is accepted.
    pub subscribe_unknown: bool,
    /// Whether there is what the conformance suite of the protocol's own project looks for.
    pub official: bool,
    /// Whether the list begins with a URI that holds characters beyond ASCII as they are.
    pub unescaped: bool,
    /// What concerns HTTP only.
    pub http: Choices,
}

impl Settings {
    pub fn new(mut revisions: Vec<Revision>) -> Self {
        revisions.sort_unstable();
        revisions.dedup();
        Self {
            revisions,
            page_size: 3,
            resources: true,
            empty: false,
            templates: true,
            subscribe: true,
            list_changed: true,
            completions: true,
            subscribe_unknown: false,
            official: false,
            unescaped: false,
            http: Choices::default(),
        }
    }

    /// The same choices, for some of the revisions only.
    pub fn only(&self, such: impl Fn(&Revision) -> bool) -> Self {
        Self { revisions: self.revisions.iter().copied().filter(such).collect(), ..self.clone() }
    }

    /// The newest revision that opens with `initialize`.
    pub fn newest_stateful(&self) -> Option<Revision> {
        self.revisions.iter().rev().find(|revision| !revision.is_stateless()).copied()
    }

    /// The names of the revisions without a handshake.
    pub fn stateless(&self) -> Vec<&'static str> {
        self.revisions
            .iter()
            .filter(|revision| revision.is_stateless())
            .map(|revision| revision.name())
            .collect()
    }

    pub fn serves(&self, name: &str) -> Option<Revision> {
        name.parse().ok().filter(|revision| self.revisions.contains(revision))
    }
}
