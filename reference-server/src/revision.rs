//! Which protocol revisions are there, and what does each define? What a server does with them is told elsewhere.

use std::fmt;
use std::str::FromStr;

/// A published revision of the protocol, older before newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05: the first one.
    V2024_11_05,
    /// 2025-03-26: adds batches and the completions capability.
    V2025_03_26,
    /// 2025-06-18: drops batches, adds titles, `_meta` on items, resource links and completion contexts.
    V2025_06_18,
    /// 2025-11-25: adds icons and descriptions of the implementation.
    V2025_11_25,
    /// 2026-07-28: no handshake and no session; every request describes itself.
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The revision as it is written on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether each request stands alone, without a session that `initialize` opened.
    pub fn is_stateless(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether several messages may travel in one JSON array.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether a capability says that completion is offered.
    pub fn has_completions_capability(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether a progress notification may carry a message for people.
    pub fn has_progress_message(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether resources, templates, tools and implementations may have a title, and items a `_meta`.
    pub fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether annotations may tell when a resource last changed.
    pub fn has_last_modified(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether a tool's result may link to a resource instead of embedding it.
    pub fn has_resource_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether a completion request may carry the values chosen so far.
    pub fn has_completion_context(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether resources and templates may have icons, and an implementation a description.
    pub fn has_icons(self) -> bool {
        self >= Self::V2025_11_25
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text named no published revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRevision(pub String);

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no revision of the protocol", self.0)
    }
}

impl std::error::Error for UnknownRevision {}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|r| r.name() == text).ok_or_else(|| UnknownRevision(text.to_owned()))
    }
}
