//! What is known when a run is over? The complete record, from which every report derives.
//!
//! The record holds facts and verdicts, no layout: `report/` turns it into text for people and machines.

use crate::revision::Revision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of the record's `format` member.
pub const FORMAT: &str = "mcp-litmus/1";

/// What became of one case, at one revision, over one transport. Ordered from harmless to grave for
/// standing cases: see [`Outcome::gravity`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Proved.
    Pass,
    /// The requirement is broken.
    Fail,
    /// What should be better; counts as a failure only with `--level should`.
    Advice,
    /// Worth knowing; never counts.
    Note,
    /// Not applicable: the reason says why.
    Skip,
    /// Applicable, but not shown: the reason says what was missing, the help what to do.
    Unproven,
    /// Our own fault.
    Broken,
}

impl Outcome {
    pub const ALL: [Outcome; 7] =
        [Self::Pass, Self::Fail, Self::Advice, Self::Note, Self::Skip, Self::Unproven, Self::Broken];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Advice => "advice",
            Self::Note => "note",
            Self::Skip => "skip",
            Self::Unproven => "unproven",
            Self::Broken => "broken",
        }
    }

    /// Which of several outcomes of one standing case wins: broken over fail over advice over note over
    /// pass over unproven over skip.
    pub fn gravity(self) -> u8 {
        match self {
            Self::Broken => 6,
            Self::Fail => 5,
            Self::Advice => 4,
            Self::Note => 3,
            Self::Pass => 2,
            Self::Unproven => 1,
            Self::Skip => 0,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a breach of a requirement is worth: the `verdict` of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    Fail,
    Advice,
    Note,
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Fail => Self::Fail,
            Verdict::Advice => Self::Advice,
            Verdict::Note => Self::Note,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transport {
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, the transport of 2024-11-05, at whatever revision.
    HttpSse,
}

impl Transport {
    pub const ALL: [Transport; 3] = [Self::Stdio, Self::Http, Self::HttpSse];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::HttpSse => "http+sse",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A run, whole.
#[derive(Debug, Clone, Deserialize)]
pub struct Record {
    pub suite: Suite,
    pub target: Target,
    /// Every case that was planned, in the order of the plan. Never empty.
    pub cases: Vec<CaseRecord>,
    /// Why the run ended before its plan did: an interrupt or a deadline.
    pub cut_short: Option<String>,
    /// Seconds since the epoch at the start.
    pub started: u64,
    pub milliseconds: u64,
    #[serde(with = "crate::report::json::decimal")]
    pub seed: u64,
    /// Whether advice counts as failure (`--level should`).
    pub advice_fails: bool,
    /// Whether unproven counts as failure (`--require-proof`).
    pub require_proof: bool,
}

/// Which cases judged.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Suite {
    pub version: String,
    /// A digest over every embedded case and requirement file, in hexadecimal.
    pub digest: String,
}

/// What was judged.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// How the user named it: the command line, or `the bundled reference server`.
    pub label: String,
    /// What follows `mcp-litmus check ` to reach the same target again, shell-quoted: `-- node server.js`.
    pub arguments: String,
    pub transport: Transport,
    /// `serverInfo` as it named itself, if it did: name and version.
    #[serde(with = "crate::report::json::server")]
    #[schemars(with = "Option<crate::report::json::Server>")]
    pub server: Option<(String, String)>,
    /// One row for each revision asked for.
    pub revisions: Vec<RevisionRecord>,
    /// Why there is no verdict at all: it could not be started, or gave no reply to any opening.
    pub unreachable: Option<String>,
    /// The last lines of standard error, where they explain `unreachable`.
    pub stderr: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RevisionRecord {
    pub revision: Revision,
    pub spoken: bool,
    /// Why it is not spoken, in words: "the server answered 2025-06-18".
    pub reason: Option<String>,
}

/// One case at one revision over one transport.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CaseRecord {
    /// `read/unknown-uri`.
    pub name: String,
    pub summary: String,
    /// `read.unknown-uri-code`.
    pub requirement: String,
    /// The requirement in our words.
    pub statement: String,
    /// Ids of the catalogue: `READ-12`.
    pub refs: Vec<String>,
    /// Where the specification says so, at this revision.
    pub source: String,
    /// The specification's word (`MUST`, `SHOULD`), shown beside the verdict.
    pub keyword: String,
    pub revision: Revision,
    pub transport: Transport,
    pub outcome: Outcome,
    /// The reason of the entry in the list of known failures, where there is one.
    pub known: Option<String>,
    /// Why it was skipped, unproven or broken.
    pub reason: Option<String>,
    /// What the user can do to have it shown.
    pub help: Option<String>,
    /// Of a breach: which client suffers from it, and how.
    pub matters: Option<String>,
    /// Of a breach: its commonest cause.
    pub cause: Option<String>,
    /// Of a breach: what to do about it.
    pub mend: Option<String>,
    pub milliseconds: u64,
    /// What was found, at most a few; the first explains the outcome.
    pub findings: Vec<Finding>,
    /// How many more findings of the same case were left out.
    pub more_findings: usize,
    /// How often its checks met something: 0 proves nothing.
    pub observations: usize,
}

impl CaseRecord {
    /// `read/unknown-uri@2026-07-28+stdio`.
    pub fn full_name(&self) -> String {
        format!("{}@{}+{}", self.name, self.revision, self.transport)
    }
}

/// One breach: what was expected, what came, and the bytes that prove it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// One line: "expected `/code` to equal -32602, got -32002".
    pub title: String,
    pub outcome: Outcome,
    /// The check or step in the case file that found it.
    pub place: Option<Place>,
    /// JSON Pointer of the value in question, within the object that was checked.
    pub pointer: Option<String>,
    pub expected: String,
    pub got: String,
    /// The frame of ours that this answers, and what came back; newest last.
    pub frames: Vec<Excerpt>,
    /// Further facts, one a line: an exit status, the last lines of standard error.
    pub notes: Vec<String>,
    /// Where it stands in the transcripts.
    pub span: Option<Span>,
}

/// A place in a case file, enough to print the line and underline the part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// `cases/read/unknown-uri.yaml`.
    pub file: String,
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    /// Characters to underline, at least 1, all on that line.
    pub length: usize,
    /// The line itself.
    pub text: String,
}

/// Part of a transcript: a conversation and the entries within it, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    pub conversation: u32,
    pub first: u64,
    pub last: u64,
}

/// A frame as it went over the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "crate::report::json::Frame", into = "crate::report::json::Frame")]
pub struct Excerpt {
    pub direction: Direction,
    /// The exact bytes, but at most [`Excerpt::KEPT`] of them: the head and the tail.
    pub bytes: Vec<u8>,
    /// How many bytes were cut out of the middle, and where: 0 for none.
    pub cut: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Sent,
    Got,
}

impl Direction {
    pub const ALL: [Direction; 2] = [Self::Sent, Self::Got];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Got => "got",
        }
    }
}

impl Excerpt {
    /// Bytes kept of a frame in a finding: half from its head, half from its tail.
    pub const KEPT: usize = 2048;

    pub fn new(direction: Direction, frame: &[u8]) -> Self {
        if frame.len() <= Self::KEPT {
            return Self { direction, bytes: frame.to_vec(), cut: 0 };
        }
        let half = Self::KEPT / 2;
        let mut bytes = frame[..half].to_vec();
        bytes.extend_from_slice(&frame[frame.len() - half..]);
        Self { direction, bytes, cut: frame.len() - Self::KEPT }
    }
}

impl Record {
    pub fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }

    /// Whether this case makes the run red.
    pub fn fails(&self, case: &CaseRecord) -> bool {
        case.known.is_none() && self.counts(case.outcome)
    }

    /// Whether this case would make the run red, were it not in the list of known failures.
    pub fn excuses(&self, case: &CaseRecord) -> bool {
        case.known.is_some() && self.counts(case.outcome)
    }

    /// Whether an outcome counts as failure in this run.
    fn counts(&self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Fail => true,
            Outcome::Advice => self.advice_fails,
            Outcome::Unproven => self.require_proof,
            _ => false,
        }
    }

    /// 0: nothing failed; 1: at least one failure; 3: no verdict.
    pub fn exit_code(&self) -> u8 {
        if self.cases.iter().any(|case| self.fails(case)) {
            return 1;
        }
        let no_verdict = self.target.unreachable.is_some()
            || self.cut_short.is_some()
            || self.cases.iter().any(|case| case.outcome == Outcome::Broken);
        if no_verdict { 3 } else { 0 }
    }
}
