//! Which protocol revisions exist, in which order, and which eras do they belong to?

use std::fmt;
use std::str::FromStr;

/// A published revision of the Model Context Protocol. The order is that of publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    R2024_11_05,
    R2025_03_26,
    R2025_06_18,
    R2025_11_25,
    R2026_07_28,
}

/// How a conversation begins and what it remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize`, then a session.
    Stateful,
    /// No handshake: every request describes itself in `_meta`.
    Stateless,
}

impl Revision {
    pub const ALL: [Revision; 5] =
        [Self::R2024_11_05, Self::R2025_03_26, Self::R2025_06_18, Self::R2025_11_25, Self::R2026_07_28];

    /// The newest revision that opens with `initialize`.
    pub const NEWEST_STATEFUL: Revision = Self::R2025_11_25;
    /// The newest revision of all.
    pub const NEWEST: Revision = Self::R2026_07_28;

    /// The string that stands for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::R2024_11_05 => "2024-11-05",
            Self::R2025_03_26 => "2025-03-26",
            Self::R2025_06_18 => "2025-06-18",
            Self::R2025_11_25 => "2025-11-25",
            Self::R2026_07_28 => "2026-07-28",
        }
    }

    pub fn era(self) -> Era {
        if self == Self::R2026_07_28 { Era::Stateless } else { Era::Stateful }
    }

    pub fn is_stateless(self) -> bool {
        self.era() == Era::Stateless
    }

    /// Every revision of an era, oldest first.
    pub fn of(era: Era) -> impl DoubleEndedIterator<Item = Revision> {
        Self::ALL.into_iter().filter(move |revision| revision.era() == era)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text names no published revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no published revision (2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28)")]
pub struct UnknownRevision(pub String);

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_order_is_that_of_publication() {
        for pair in Revision::ALL.windows(2) {
            assert!(pair[0] < pair[1] && pair[0].as_str() < pair[1].as_str());
        }
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        assert!("draft".parse::<Revision>().is_err());
    }
}
