//! How is one finding told? The line of the case that failed, the requirement, the bytes, the way back.
//!
//! The text is the same wherever it is read; only the terminal adds colour. What to show of a record is
//! the reports' choice.

use super::{findings, plain};
use crate::record::{CaseRecord, Direction, Finding, Outcome, Place, Target};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// Columns of a frame, a title or a note before its middle is cut.
pub const COLUMNS: usize = 240;
/// Columns with `-v`: a whole excerpt.
pub const ALL_COLUMNS: usize = 8 * crate::record::Excerpt::KEPT;

/// How a finding is to look.
#[derive(Debug, Clone)]
pub struct Look<'a> {
    pub colour: bool,
    /// Columns of a frame before its middle is cut.
    pub columns: usize,
    /// Other settings in which the same was found: `2025-06-18`.
    pub also: &'a [String],
}

impl Default for Look<'_> {
    fn default() -> Self {
        Self { colour: false, columns: COLUMNS, also: &[] }
    }
}

/// What a case found, each finding as a text without a line feed at its end; never empty.
pub fn render_all(target: &Target, case: &CaseRecord, look: &Look<'_>) -> Vec<String> {
    let findings = findings(case);
    let last = findings.len().saturating_sub(1);
    let left_out = |at: usize| if at == last { case.more_findings } else { 0 };
    findings
        .iter()
        .enumerate()
        .map(|(at, finding)| render(target, case, finding, left_out(at), look))
        .collect()
}

/// One finding as a text; `left_out` more of the same case were not kept.
fn render(target: &Target, case: &CaseRecord, finding: &Finding, left_out: usize, look: &Look<'_>) -> String {
    let level = level(finding.outcome);
    let mut group = Group::with_title(level.primary_title(plain::shorten(&finding.title, 2 * COLUMNS)));
    group = match &finding.place {
        Some(place) => show_place(group, place, finding.outcome),
        None => group.element(Origin::path(name(case))),
    };
    let mut notes = vec![requirement(case, finding.outcome, look.also)];
    for frame in &finding.frames {
        let word = match frame.direction {
            Direction::Sent => "sent",
            Direction::Got => "got ",
        };
        notes.push(format!("{word} {}", plain::frame(frame, look.columns)));
    }
    notes.extend(finding.notes.iter().map(|note| plain::shorten(note, look.columns)));
    if left_out > 0 {
        notes.push(format!("{left_out} more of this case"));
    }
    for note in notes {
        group = group.element(Level::NOTE.message(note));
    }
    for help in helps(case, finding.outcome) {
        group = group.element(Level::HELP.message(plain::shorten(&help, 2 * COLUMNS)));
    }
    group = group.element(Level::HELP.message(format!("rerun with `{}`", rerun(target, case))));
    let renderer = if look.colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// What the case itself says would help; otherwise what commonly does.
fn helps(case: &CaseRecord, outcome: Outcome) -> Vec<String> {
    if let Some(help) = &case.help {
        return vec![help.clone()];
    }
    if outcome == Outcome::Broken {
        // What broke is ours: the rule's remedy would mend nothing.
        return Vec::new();
    }
    let cause = case.cause.iter().map(|cause| format!("the commonest cause: {cause}"));
    cause.chain(case.mend.clone()).collect()
}

/// The command that runs this case alone again.
pub fn rerun(target: &Target, case: &CaseRecord) -> String {
    let arguments = plain::shorten(&target.arguments, 2 * COLUMNS);
    let space = if arguments.is_empty() { "" } else { " " };
    format!("mcp-litmus check -c {} --revision {}{space}{arguments}", name(case), case.revision)
}

/// `2025-06-18 over stdio`.
pub fn setting(case: &CaseRecord) -> String {
    format!("{} over {}", case.revision, case.transport)
}

fn requirement(case: &CaseRecord, outcome: Outcome, also: &[String]) -> String {
    let mut text =
        format!("{} ({}) at {}", plain::shorten(&case.requirement, COLUMNS), keyword(case), setting(case));
    if !also.is_empty() {
        text.push_str(", also at ");
        text.push_str(&also.join(", "));
    }
    if outcome == Outcome::Broken {
        // What broke is ours: the rule does not explain it.
        return text;
    }
    for more in [&case.statement, &case.source].into_iter().filter(|more| !more.is_empty()) {
        text.push('\n');
        text.push_str(&plain::shorten(more, 2 * COLUMNS));
    }
    text
}

pub(super) fn name(case: &CaseRecord) -> String {
    plain::shorten(&case.name, COLUMNS)
}

pub(super) fn keyword(case: &CaseRecord) -> String {
    plain::shorten(&case.keyword, COLUMNS).to_lowercase()
}

fn level(outcome: Outcome) -> Level<'static> {
    match outcome {
        Outcome::Fail | Outcome::Broken => Level::ERROR.with_name(outcome.as_str()),
        Outcome::Advice | Outcome::Unproven => Level::WARNING.with_name(outcome.as_str()),
        Outcome::Note | Outcome::Pass | Outcome::Skip => Level::NOTE.with_name(outcome.as_str()),
    }
}

/// The line of the case file with the part underlined; of a line too long to be read, only where it is.
fn show_place<'a>(group: Group<'a>, place: &Place, outcome: Outcome) -> Group<'a> {
    let path = plain::shorten(&place.file, COLUMNS);
    if place.text.len() > 2 * COLUMNS {
        return group.element(Origin::path(path).line(place.line).char_column(place.column));
    }
    let label = match outcome {
        Outcome::Fail => "this check failed",
        Outcome::Broken => "here",
        _ => "this check",
    };
    // Escaped in three parts, so that the underline stays under what it means.
    let (before, rest) = split_at_character(&place.text, place.column.saturating_sub(1));
    let (marked, after) = split_at_character(rest, place.length.max(1));
    let (before, marked) = (plain::line(before), plain::line(marked));
    let span = before.len()..before.len() + marked.len();
    let source = format!("{before}{marked}{}", plain::line(after));
    group.element(
        Snippet::source(source)
            .path(path)
            .line_start(place.line)
            .annotation(AnnotationKind::Primary.span(span).label(label)),
    )
}

fn split_at_character(text: &str, characters: usize) -> (&str, &str) {
    let at = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    text.split_at(at)
}
