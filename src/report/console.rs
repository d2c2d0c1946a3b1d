//! What does a person read at the end of a run? What failed, what was not shown and why, and the sum.
//!
//! The whole text is composed here; where it goes, and whether that is a terminal, the command layer knows.
//! No line begins with text of the server's choosing, so none can be a command to a CI runner.

use super::diagnostic::{self, ALL_COLUMNS, COLUMNS, Look, setting};
use super::{duration, findings, plain};
use crate::record::{CaseRecord, Outcome, Record};
use crate::revision::Revision;
use anstyle::{AnsiColor, Style as Paint};
use std::collections::HashMap;
use std::hash::Hash;
use std::io;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Failures and the summary.
    Quiet,
    Normal,
    /// Advice and notes in full too, whole frames, and the name of every case that did not run.
    Verbose,
}

/// How it is to look.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub colour: bool,
    pub verbosity: Verbosity,
}

impl Style {
    /// Colour as `choice` says; `Auto` means on a terminal, unless `NO_COLOR` is set.
    pub fn on(
        stream: &impl anstream::stream::RawStream,
        choice: anstream::ColorChoice,
        verbosity: Verbosity,
    ) -> Self {
        let choice = match choice {
            anstream::ColorChoice::Auto => anstream::AutoStream::choice(stream),
            settled => settled,
        };
        Self { colour: choice != anstream::ColorChoice::Never, verbosity }
    }
}

const RED: Paint = AnsiColor::BrightRed.on_default().bold();
const YELLOW: Paint = AnsiColor::Yellow.on_default().bold();
const GREEN: Paint = AnsiColor::BrightGreen.on_default().bold();
const DIM: Paint = Paint::new().dimmed();
const BOLD: Paint = Paint::new().bold();

/// Writes the report. Its last line is the summary.
pub fn write(record: &Record, out: &mut impl io::Write, style: Style) -> io::Result<()> {
    let mut page = Page { record, style, text: String::new() };
    page.compose();
    out.write_all(page.text.as_bytes())?;
    out.flush()
}

struct Page<'a> {
    record: &'a Record,
    style: Style,
    text: String,
}

impl Page<'_> {
    fn compose(&mut self) {
        let verbosity = self.style.verbosity;
        let record = self.record;
        match &record.target.unreachable {
            Some(reason) => self.unreachable(reason),
            None if verbosity > Verbosity::Quiet => self.target(),
            // What was asked for and could not be tested at all is said in any case.
            None => self.unspoken(|revision| record.cases.iter().any(|case| case.revision == revision)),
        }
        self.in_full(|case| case.outcome == Outcome::Fail && case.known.is_none());
        let advice = |case: &CaseRecord| case.outcome == Outcome::Advice && case.known.is_none();
        if record.advice_fails || verbosity == Verbosity::Verbose {
            self.in_full(advice);
        } else if verbosity == Verbosity::Normal {
            self.condensed(advice);
        }
        if verbosity == Verbosity::Verbose {
            self.condensed(|case| case.outcome == Outcome::Note);
        }
        self.in_full(|case| case.outcome == Outcome::Broken);
        let loud = verbosity > Verbosity::Quiet;
        if loud {
            self.known();
        }
        // Of a server that was never reached, what it did not show is no news.
        let reached = record.target.unreachable.is_none();
        if reached && (loud || record.require_proof) {
            self.unproven();
        }
        if reached && loud {
            self.skipped();
        }
        self.summary();
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn paint(&self, paint: Paint, text: &str) -> String {
        if self.style.colour { format!("{paint}{text}{paint:#}") } else { text.to_owned() }
    }

    fn unreachable(&mut self, reason: &str) {
        let target = &self.record.target;
        let label = plain::shorten(&target.label, COLUMNS);
        let head = self.paint(RED, "no verdict:");
        self.line(&format!("{head} {}", plain::shorten(reason, 2 * COLUMNS)));
        self.line(&format!("  tried `{label}` over {}", target.transport));
        if !target.stderr.is_empty() {
            self.line("  the last lines of its standard error:");
            for line in &target.stderr {
                let bar = self.paint(DIM, "|");
                self.line(&format!("  {bar} {}", plain::shorten(line, COLUMNS)));
            }
        }
        self.blank();
    }

    fn target(&mut self) {
        let target = &self.record.target;
        let label = self.paint(BOLD, &plain::shorten(&target.label, COLUMNS));
        let server = match &target.server {
            Some((name, version)) => {
                format!(" is {} {}", plain::shorten(name, COLUMNS / 3), plain::shorten(version, COLUMNS / 3))
            }
            None => " did not say its name".to_owned(),
        };
        let spoken: Vec<&str> =
            target.revisions.iter().filter(|row| row.spoken).map(|row| row.revision.as_str()).collect();
        let spoken = if spoken.is_empty() { "no revision asked for".to_owned() } else { enumerate(&spoken) };
        self.line(&format!("target: {label} over {}{server}, speaks {spoken}", target.transport));
        self.unspoken(|_| true);
        if self.style.verbosity == Verbosity::Verbose {
            let suite = &self.record.suite;
            let (version, digest) = (plain::shorten(&suite.version, 40), plain::shorten(&suite.digest, 80));
            self.line(&format!("        suite {version}, cases {digest}, seed {}", self.record.seed));
        }
        self.blank();
    }

    /// Why revisions are not spoken.
    fn unspoken(&mut self, wanted: impl Fn(Revision) -> bool) {
        let rows = self.record.target.revisions.iter().filter(|row| !row.spoken && wanted(row.revision));
        let reasons = group(
            rows.map(|row| (row.reason.as_deref().unwrap_or("no reason given"), row.revision.as_str())),
        );
        let indent = if self.style.verbosity > Verbosity::Quiet { "        " } else { "" };
        for (reason, revisions) in reasons {
            let reason = plain::shorten(reason, 2 * COLUMNS);
            self.line(&format!("{indent}not {}: {reason}", enumerate(&revisions)));
        }
    }

    /// Each finding as its diagnostic.
    fn in_full(&mut self, wanted: impl Fn(&CaseRecord) -> bool) {
        let columns = if self.style.verbosity == Verbosity::Verbose { ALL_COLUMNS } else { COLUMNS };
        for fold in fold(self.record, wanted) {
            let look = Look { colour: self.style.colour, columns, also: &fold.also };
            for text in diagnostic::render_all(&self.record.target, fold.case, &look) {
                self.line(&text);
                self.blank();
            }
        }
    }

    /// Two lines a case: what, and where.
    fn condensed(&mut self, wanted: impl Fn(&CaseRecord) -> bool) {
        for Fold { case, also } in fold(self.record, wanted) {
            let paint = if case.outcome == Outcome::Advice { YELLOW } else { BOLD };
            let word = self.paint(paint, &format!("{}:", case.outcome));
            let title = findings(case)
                .first()
                .map(|finding| plain::shorten(&finding.title, COLUMNS))
                .unwrap_or_default();
            self.line(&format!("{word} {title}"));
            let also = if also.is_empty() { String::new() } else { format!(", also at {}", also.join(", ")) };
            let (name, requirement) = (diagnostic::name(case), plain::shorten(&case.requirement, COLUMNS));
            let keyword = diagnostic::keyword(case);
            let setting = setting(case);
            self.line(&format!("  --> {name}, {requirement} ({keyword}) at {setting}{also}"));
        }
        self.blank();
    }

    fn known(&mut self) {
        let cases: Vec<&CaseRecord> =
            self.record.cases.iter().filter(|case| case.known.is_some() && shows_breach(case)).collect();
        if cases.is_empty() {
            return;
        }
        let head = self.paint(BOLD, "known:");
        self.line(&format!("{head} {} in the list of known failures{}", count(cases.len()), self.hint()));
        if self.style.verbosity == Verbosity::Verbose {
            for case in cases {
                let because = plain::shorten(case.known.as_deref().unwrap_or_default(), COLUMNS);
                self.line(&format!("  {} at {}: {because}", diagnostic::name(case), setting(case)));
            }
        }
        self.blank();
    }

    fn unproven(&mut self) {
        let counts = if self.record.require_proof { " (counts as failure)" } else { "" };
        let paint = if self.record.require_proof { RED } else { YELLOW };
        let head = self.paint(paint, "not shown:");
        self.reasons(Outcome::Unproven, &head, counts);
    }

    fn skipped(&mut self) {
        let head = self.paint(BOLD, "skipped:");
        self.reasons(Outcome::Skip, &head, "");
    }

    /// How many cases have which reason, most frequent first; what would help is said once for all that it helps.
    fn reasons(&mut self, outcome: Outcome, head: &str, remark: &str) {
        let cases = self.record.cases.iter().filter(|case| case.outcome == outcome);
        // Without help, each reason stands for itself.
        let mut groups = group(cases.map(|case| (case.help.as_deref().ok_or(case.reason.as_deref()), case)));
        if groups.is_empty() {
            return;
        }
        groups.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
        let total: usize = groups.iter().map(|(_, cases)| cases.len()).sum();
        self.line(&format!("{head} {}{remark}{}", count(total), self.hint()));
        let width = groups.first().map_or(1, |(_, cases)| cases.len().to_string().len());
        for (key, cases) in groups {
            let whole = cases.len();
            let mut reasons = group(
                cases.into_iter().map(|case| (case.reason.as_deref().unwrap_or("no reason given"), case)),
            );
            reasons.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
            let several = reasons.len() > 1;
            for (reason, cases) in reasons {
                self.line(&format!("  {:>width$}  {}", cases.len(), plain::shorten(reason, COLUMNS)));
                if self.style.verbosity == Verbosity::Verbose {
                    self.names(width, cases);
                }
            }
            if let Ok(help) = key {
                let word = self.paint(BOLD, "help:");
                let all = if several { format!(" for all {whole},") } else { String::new() };
                self.line(&format!("  {:width$}  {word}{all} {}", "", plain::shorten(help, 2 * COLUMNS)));
            }
        }
        self.blank();
    }

    /// The cases by name, each with where it was played.
    fn names(&mut self, width: usize, cases: Vec<&CaseRecord>) {
        for (name, cases) in group(cases.into_iter().map(|case| (case.name.as_str(), case))) {
            let settings: Vec<String> = cases.into_iter().map(setting).collect();
            let name = plain::shorten(name, COLUMNS);
            self.line(&format!("  {:width$}    {name} at {}", "", settings.join(", ")));
        }
    }

    fn hint(&self) -> &'static str {
        if self.style.verbosity == Verbosity::Verbose { "" } else { ", listed with -v" }
    }

    fn summary(&mut self) {
        let record = self.record;
        if let Some(reason) = &nothing_judged(record) {
            self.line(&plain::shorten(reason, 2 * COLUMNS));
        }
        if let Some(reason) = &record.cut_short {
            let head = self.paint(RED, "cut short:");
            self.line(&format!("{head} {}", plain::shorten(reason, COLUMNS)));
        }
        let line = summary(record);
        let (word, rest) = line.split_once(':').unwrap_or((&line, ""));
        let paint = if record.exit_code() == 0 { GREEN } else { RED };
        let word = self.paint(paint, &format!("{word}:"));
        self.line(&format!("{word}{rest}"));
    }
}

/// The summary: the verdict, then how many cases had which outcome, most grave first. The verdict is `passed`
/// (or `nothing shown`, when no case could be) exactly when the exit code is 0, `failed` when it is 1, and
/// `no verdict` when it is 3.
pub fn summary(record: &Record) -> String {
    let shown = |case: &CaseRecord| !matches!(case.outcome, Outcome::Skip | Outcome::Unproven);
    let verdict = match record.exit_code() {
        0 if record.cases.iter().any(shown) => "passed",
        0 => "nothing shown",
        1 => "failed",
        _ => "no verdict",
    };
    const ORDER: [Outcome; 7] = [
        Outcome::Fail,
        Outcome::Broken,
        Outcome::Advice,
        Outcome::Note,
        Outcome::Pass,
        Outcome::Unproven,
        Outcome::Skip,
    ];
    let part = |outcome: Outcome| {
        let number = record.count(outcome);
        let known =
            record.cases.iter().filter(|case| case.outcome == outcome && record.excuses(case)).count();
        match (number, known) {
            (0, _) => None,
            (number, 0) => Some(format!("{number} {outcome}")),
            (number, known) => Some(format!("{number} {outcome} ({known} known)")),
        }
    };
    let mut parts: Vec<String> = ORDER.into_iter().filter_map(part).collect();
    if parts.is_empty() {
        parts.push("0 cases".to_owned());
    }
    format!("{verdict}: {} in {}", parts.join(", "), duration(record.milliseconds))
}

/// Why no case was played, where the server is well but speaks none of the revisions that were asked for.
fn nothing_judged(record: &Record) -> Option<String> {
    let target = &record.target;
    let spoken = target.revisions.iter().any(|row| row.spoken);
    if spoken || target.unreachable.is_some() || record.cases.iter().any(|case| case.outcome != Outcome::Skip)
    {
        return None;
    }
    let revisions: Vec<&str> = target.revisions.iter().map(|row| row.revision.as_str()).collect();
    let reason = target.revisions.first()?.reason.as_deref().unwrap_or("no reason given");
    let reason =
        reason.strip_prefix("the server ").map_or_else(|| reason.to_owned(), |did| format!("it {did}"));
    Some(format!("nothing was judged: the server does not speak {}; {reason}", enumerate(&revisions)))
}

/// The same findings of the same case, once for all settings in which they were made.
struct Fold<'a> {
    case: &'a CaseRecord,
    also: Vec<String>,
}

fn fold(record: &Record, wanted: impl Fn(&CaseRecord) -> bool) -> Vec<Fold<'_>> {
    let cases = record.cases.iter().filter(|case| wanted(case)).map(|case| {
        let titles: Vec<String> = findings(case).iter().map(|finding| finding.title.clone()).collect();
        ((case.name.as_str(), titles), case)
    });
    let groups = group(cases).into_iter().filter_map(|(_, cases)| {
        let (&case, others) = cases.split_first()?;
        // One transport needs no saying twice.
        let also = others.iter().map(|other| {
            if other.transport == case.transport { other.revision.to_string() } else { setting(other) }
        });
        Some(Fold { case, also: also.collect() })
    });
    groups.collect()
}

fn shows_breach(case: &CaseRecord) -> bool {
    matches!(case.outcome, Outcome::Fail | Outcome::Advice)
}

/// Values by key, in the order in which the keys were met.
fn group<K: Eq + Hash + Clone, V>(pairs: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(value);
    }
    groups
}

fn count(cases: usize) -> String {
    if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") }
}

/// `a`, `a and b`, `a, b and c`.
fn enumerate(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [words @ .., last] => format!("{} and {last}", words.join(", ")),
    }
}
