//! What can a case say? The typed form of a case file, after loading and before running.
//!
//! The case itself is here; [`step`] holds what a script does, [`check`] what is demanded of a value, [`requirement`] the
//! rows that cases prove. Nothing here parses or runs: [`super::load`] makes these values, `crate::run` and `crate::judge` use them.

use crate::record::{Place, Transport};
use crate::revision::Revision;

mod check;
mod requirement;
mod step;

pub use check::*;
pub use requirement::*;
pub use step::*;

/// Revisions, sorted, without repeats, never empty.
pub type Revisions = Vec<Revision>;

/// One case file.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its path below `cases/` without the ending: `read/unknown-uri`.
    pub name: String,
    /// Where the file begins: for messages about the case as a whole.
    pub place: Place,
    pub summary: String,
    /// The requirement whose row decides verdict, revisions and capability.
    pub proves: String,
    /// Further requirements that it touches (workflow cases).
    pub covers: Vec<String>,
    /// Faults of the reference server that must make it fail.
    pub faults: Vec<String>,
    /// Why no fault can make it fail, in place of `faults`.
    pub unfalsified: Option<String>,
    /// Narrows the requirement's.
    pub transports: Option<Vec<Transport>>,
    /// Narrows the requirement's.
    pub revisions: Option<Revisions>,
    pub session: SessionKind,
    pub body: Body,
}

/// Which server a case talks to. Inferred from its verbs unless the case says `session:`.
///
/// In the order of what they ask for: a case is of the last kind that one of its verbs needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionKind {
    /// Asks and looks: shares one session with its like.
    Calm,
    /// Changes, listens or waits, and leaves nothing behind: shares a session with some of its like.
    Lively,
    /// Sends odd input: shares one session with its like, and the liveness probe follows each.
    Rough,
    /// Opens or ends: a server of its own.
    Own,
}

#[derive(Debug, Clone)]
pub enum Body {
    /// A straight-line conversation. A failure in `given` reads "unproven", in `steps` the row's verdict.
    Scripted {
        given: Vec<Step>,
        steps: Vec<Step>,
    },
    Standing(Standing),
}

/// A rule on every message of a kind, in every conversation.
#[derive(Debug, Clone)]
pub struct Standing {
    pub on: Subject,
    /// Only subjects that pass all of these are judged; the others do not count.
    pub only: Vec<Check>,
    pub checks: Vec<Check>,
}

/// What a standing case looks at. The method is `None` for `any`.
///
/// Checks apply to the named object; `${facts/...}` tells what the transcript shows about it besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Each line of the server's output, parsed or not: `{defects: [names], ending, length, text}`.
    Frame,
    /// Each message of the server, whole.
    Message,
    /// The `result` object that answers one of our requests; `${request}` are that request's params.
    ResultOf(Option<String>),
    /// The `error` object that answers one of our requests.
    ErrorOf(Option<String>),
    /// The params of a notification of the server; `{}` when absent.
    Notification(Option<String>),
    /// The params of a request of the server; `{}` when absent.
    Request(Option<String>),
    /// Each request of ours: `{method, id, answers, results, errors, ...}`.
    Exchange(Option<String>),
    /// Each exchange over HTTP, ours and the server's half: see [`crate::judge::exchanges`].
    Http,
    /// Each conversation as a whole: `{exit, died, heard, declared, ...}`.
    Session,
}
