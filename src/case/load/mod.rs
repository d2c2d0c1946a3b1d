//! How does a YAML file become a typed case? Every problem of a file is reported, with its place.
//!
//! What types cannot hold (references, names, prose) is for `case::lint`.

mod reader;
mod rows;
mod steps;
mod values;

use super::language::{CASE, SESSIONS, STANDING, SUBJECTS};
use super::model::{Body, Case, Check, PipelineHow, Requirement, SessionKind, Standing, Step, Subject, Verb};
use super::source::{Problem, Source};
use super::tree::{self, Node};
pub(crate) use reader::{Reader, would_fit};

/// Reads a case file. `name` is its path below `cases/` without the ending.
pub fn case(name: &str, source: &Source) -> Result<Case, Vec<Problem>> {
    read(source, |reader, root| reader.case(name, root))
}

/// Reads a `requirements.yaml`; every id begins with `area` and a dot.
pub fn requirements(area: &str, source: &Source) -> Result<Vec<Requirement>, Vec<Problem>> {
    read(source, |reader, root| reader.rows(area, root))
}

/// Reads one check, as it stands in a case: for tests and profiles.
pub fn check(source: &Source) -> Result<Check, Vec<Problem>> {
    read(source, |reader, root| reader.check(root))
}

/// Reads steps, as a profile's `setup` has them.
pub fn steps(source: &Source) -> Result<Vec<Step>, Vec<Problem>> {
    read(source, |reader, root| reader.steps(root))
}

/// Reads a file's tree with `typed`, and gathers the problems of both.
pub(crate) fn read<T>(
    source: &Source,
    typed: impl FnOnce(&mut Reader<'_>, &Node) -> Option<T>,
) -> Result<T, Vec<Problem>> {
    let (root, mut problems) = tree::read(source);
    let mut reader = Reader::new(source);
    let value = root.and_then(|root| typed(&mut reader, &root));
    problems.append(&mut reader.problems);
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    match value {
        Some(value) if problems.is_empty() => Ok(value),
        _ => Err(problems),
    }
}

impl Reader<'_> {
    fn case(&mut self, name: &str, root: &Node) -> Option<Case> {
        let fields = self.fields(root, "a case", &[CASE])?;
        let summary = fields.get("summary").and_then(|node| self.text(node));
        let proves = fields.get("proves").and_then(|node| self.text(node));
        let covers = fields.get("covers").and_then(|node| self.texts(node));
        let faults = fields.get("faults").and_then(|node| self.texts(node));
        let unfalsified = fields.get("unfalsified").and_then(|node| self.text(node));
        let transports = fields.get("transports").and_then(|node| self.transports(node));
        let revisions = fields.get("revisions").and_then(|node| self.revisions(node));
        let session = fields.get("session").and_then(|node| self.word(node, SESSIONS, "kind of session"));
        let given = fields.get("given").and_then(|node| self.steps(node));
        let steps = fields.get("steps").map(|node| self.steps(node));
        let body = match (fields.get("always"), steps) {
            (None, Some(steps)) => {
                steps.map(|steps| Body::Scripted { given: given.unwrap_or_default(), steps })
            }
            (Some(always), None) if fields.get("given").is_none() => {
                self.standing(always).map(Body::Standing)
            }
            (Some(always), _) => {
                self.report(&always.range, "`always` stands alone, without `given` and `steps`", None);
                None
            }
            (None, None) => {
                self.report(&fields.range, "a case has `steps` or `always`", None);
                None
            }
        }?;
        Some(Case {
            name: name.to_owned(),
            place: self.place(&root.range),
            summary: summary?,
            proves: proves?,
            covers: covers.unwrap_or_default(),
            faults: faults.unwrap_or_default(),
            unfalsified,
            transports,
            revisions,
            session: match session {
                Some(0) => SessionKind::Calm,
                Some(1) => SessionKind::Lively,
                Some(2) => SessionKind::Rough,
                Some(_) => SessionKind::Own,
                None => implied_session(&body),
            },
            body,
        })
    }

    fn standing(&mut self, node: &Node) -> Option<Standing> {
        let fields = self.fields(node, "`always`", &[STANDING])?;
        let on = fields.get("on").and_then(|node| self.subject(node));
        let only = fields.get("only").and_then(|node| self.checks(node));
        let checks = fields.get("checks").and_then(|node| self.checks(node));
        Some(Standing { on: on?, only: only.unwrap_or_default(), checks: checks? })
    }

    fn subject(&mut self, node: &Node) -> Option<Subject> {
        let fields = self.fields(node, "`on`", &[SUBJECTS])?;
        let (name, node) = self.exactly_one(&fields, SUBJECTS, "what `always` looks at")?;
        let fixed = |reader: &mut Self, word: &'static str, subject: Subject| {
            reader.word(node, &[word], "word").map(|_| subject)
        };
        match name {
            "frame" => return fixed(self, "stdout", Subject::Frame),
            "message" => return fixed(self, "any", Subject::Message),
            "http" => return fixed(self, "any", Subject::Http),
            "session" => return fixed(self, "end", Subject::Session),
            _ => {}
        }
        let method = self.text(node)?;
        let method = (method != "any").then_some(method);
        Some(match name {
            "result_of" => Subject::ResultOf(method),
            "error_of" => Subject::ErrorOf(method),
            "notification" => Subject::Notification(method),
            "request" => Subject::Request(method),
            _ => Subject::Exchange(method),
        })
    }
}

/// The gravest that its verbs ask for.
fn implied_session(body: &Body) -> SessionKind {
    let Body::Scripted { given, steps } = body else { return SessionKind::Calm };
    let mut kind = SessionKind::Calm;
    super::model::each_step(given.iter().chain(steps), &mut |step| {
        kind = kind.max(match &step.verb {
            Verb::Open(_) | Verb::EndInput | Verb::Exits { .. } => SessionKind::Own,
            Verb::Stimulate(_) | Verb::Quiet(_) | Verb::Hear(_) => SessionKind::Lively,
            Verb::Follow { .. } | Verb::Unfollow { .. } | Verb::Listen(_) | Verb::Begin { .. } => {
                SessionKind::Lively
            }
            Verb::Send(_) | Verb::Http(_) | Verb::Notify { bare: true, .. } => SessionKind::Rough,
            Verb::Pipeline(pipeline) if pipeline.how == PipelineHow::Batch => SessionKind::Rough,
            _ => SessionKind::Calm,
        });
    });
    kind
}
