//! What do cases prove? A row of a `requirements.yaml`.

use super::Revisions;
use crate::record::{Place, Transport, Verdict};

/// A requirement: one row of `cases/<area>/requirements.yaml`.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// `read.unknown-uri-code`.
    pub id: String,
    pub place: Place,
    /// What a breach is.
    pub verdict: Verdict,
    /// The specification's word; shown, never decisive.
    pub keyword: String,
    pub revisions: Revisions,
    pub transports: Vec<Transport>,
    /// Declared capabilities without which it does not apply: `resources`, `resources.subscribe`, ...
    pub needs: Vec<Capability>,
    /// Capabilities whose declaration makes it not apply.
    pub lacks: Vec<Capability>,
    /// Where the specification says so; one for all revisions, or by revision.
    pub source: Vec<(Option<Revisions>, String)>,
    /// Ids of the catalogue.
    pub refs: Vec<String>,
    pub statement: String,
    /// Which client suffers from a breach, and how.
    pub matters: Option<String>,
    /// The commonest cause of a breach.
    pub cause: Option<String>,
    /// What to do about it.
    pub mend: Option<String>,
    pub proof: Proof,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// At least one case.
    Cases,
    /// A tolerance: a lawful variant of the reference server that must not fail anything.
    Variant(String),
    Untested(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
    Resources,
    Subscribe,
    ListChanged,
    /// Subscribe or list_changed.
    Changes,
    Completions,
    Logging,
    Tools,
}
