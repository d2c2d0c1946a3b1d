//! Which cases run at which revision, and why not the others?

use super::sources::Knowledge;
use crate::case::model::{Capability, Case, Requirement};
use crate::record::Transport;
use crate::revision::Revision;

/// A case with its row, as everything downstream takes them.
#[derive(Clone, Copy)]
pub struct Entry<'c> {
    pub case: &'c Case,
    pub requirement: &'c Requirement,
}

/// What a case is to do at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Run,
    Skip(String),
}

/// Whether the case has anything to do with the revision and the transport at all; otherwise it is no row of the
/// record.
pub fn concerns(entry: Entry<'_>, revision: Revision, transport: Transport) -> bool {
    let narrowed = entry.case.revisions.as_ref().is_none_or(|revisions| revisions.contains(&revision));
    let carried = entry.case.transports.as_ref().is_none_or(|transports| transports.contains(&transport));
    narrowed
        && carried
        && entry.requirement.revisions.contains(&revision)
        && entry.requirement.transports.contains(&transport)
}

/// Whether a case applies to a server that declares these capabilities.
pub fn decide(entry: Entry<'_>, knowledge: &Knowledge) -> Decision {
    for capability in &entry.requirement.needs {
        if !knowledge.declares(*capability) {
            return Decision::Skip(format!("the server does not declare {}", capability_name(*capability)));
        }
    }
    for capability in &entry.requirement.lacks {
        if knowledge.declares(*capability) {
            return Decision::Skip(format!("the server declares {}", capability_name(*capability)));
        }
    }
    Decision::Run
}

fn capability_name(capability: Capability) -> &'static str {
    match capability {
        Capability::Resources => "`resources`",
        Capability::Subscribe => "`resources.subscribe`",
        Capability::ListChanged => "`resources.listChanged`",
        Capability::Changes => "`resources.subscribe` or `resources.listChanged`",
        Capability::Completions => "`completions`",
        Capability::Logging => "`logging`",
        Capability::Tools => "`tools`",
    }
}
