//! Which rules must cases and requirements keep that types cannot hold?

mod steps;

use super::catalogue::{Catalogue, name_matches};
use super::model::{Body, Case, Proof, Requirement};
use super::source::{Problem, Source};
use super::tree::{self, Value};
use crate::nearest::nearest;
use crate::record::{Place, Transport, Verdict};
use std::collections::HashMap;

/// What the reference server can be made to do. The names come from its own crate.
#[derive(Debug, Clone, Copy)]
pub struct ServerNames<'a> {
    pub faults: &'a [&'a str],
    pub variants: &'a [&'a str],
}

/// Every breach in a catalogue, in the order of the files. Without `server`, names of faults and variants are
/// not looked at.
pub fn lint(catalogue: &Catalogue, server: Option<ServerNames<'_>>) -> Vec<Problem> {
    let linter = Linter::new(catalogue, server);
    let mut problems: Vec<Problem> = catalogue.cases.iter().flat_map(|case| linter.case(case)).collect();
    problems.extend(catalogue.requirements.iter().flat_map(|row| linter.requirement(row)));
    problems.sort_by(|left, right| {
        let key = |problem: &Problem| (problem.place.file.clone(), problem.place.line, problem.place.column);
        key(left).cmp(&key(right))
    });
    problems
}

/// The breaches in the cases that a pattern of names means.
pub fn lint_matching(catalogue: &Catalogue, server: Option<ServerNames<'_>>, pattern: &str) -> Vec<Problem> {
    let linter = Linter::new(catalogue, server);
    let named = catalogue.cases.iter().filter(|case| name_matches(pattern, &case.name));
    named.flat_map(|case| linter.case(case)).collect()
}

struct Linter<'a> {
    catalogue: &'a Catalogue,
    server: Option<ServerNames<'a>>,
    sources: HashMap<&'a str, &'a Source>,
}

impl<'a> Linter<'a> {
    fn new(catalogue: &'a Catalogue, server: Option<ServerNames<'a>>) -> Self {
        let sources = catalogue.sources.iter().map(|source| (source.file.as_str(), source)).collect();
        Self { catalogue, server, sources }
    }

    fn case(&self, case: &Case) -> Vec<Problem> {
        let parts = Parts::of(case, self.sources.get(case.place.file.as_str()).copied());
        let mut found = Found { problems: Vec::new() };
        check_name(case, &parts, &mut found);
        check_summary(case, &parts, &mut found);
        self.check_requirement(case, &parts, &mut found);
        self.check_faults(case, &parts, &mut found);
        steps::check(case, self.catalogue.proved_by(case), &mut found);
        found.problems
    }

    fn check_requirement(&self, case: &Case, parts: &Parts, found: &mut Found) {
        let area = case.name.split('/').next().unwrap_or_default();
        if case.proves.split('.').next() != Some(area) {
            let message = format!("`{}` belongs to another area than the folder `{area}`", case.proves);
            found.add(parts.at("proves"), message, None);
        }
        for covered in &case.covers {
            if self.catalogue.requirement(covered).is_none() {
                found.add(
                    parts.at("covers"),
                    format!("no requirement is called `{covered}`"),
                    self.near_row(covered),
                );
            }
        }
        let Some(row) = self.catalogue.requirement(&case.proves) else {
            let message = format!("no requirement is called `{}`", case.proves);
            found.add(parts.at("proves"), message, self.near_row(&case.proves));
            return;
        };
        if let Proof::Untested(_) = row.proof {
            let message = format!("`{}` says that nothing proves it", row.id);
            found.add(parts.at("proves"), message, Some("remove `untested` from its row".to_owned()));
        }
        let outside: Vec<&str> = case
            .revisions
            .iter()
            .flatten()
            .filter(|revision| !row.revisions.contains(revision))
            .map(|revision| revision.as_str())
            .collect();
        if !outside.is_empty() {
            let message = format!("`{}` does not apply to {}", row.id, outside.join(", "));
            found.add(parts.at("revisions"), message, None);
        }
        let outside: Vec<&str> = case
            .transports
            .iter()
            .flatten()
            .filter(|transport| !row.transports.contains(transport))
            .map(|transport: &Transport| transport.as_str())
            .collect();
        if !outside.is_empty() {
            let message = format!("`{}` does not apply over {}", row.id, outside.join(", "));
            found.add(parts.at("transports"), message, None);
        }
    }

    fn near_row(&self, id: &str) -> Option<String> {
        let ids = self.catalogue.requirements.iter().map(|row| row.id.as_str());
        nearest(id, ids).map(|near| format!("did you mean `{near}`?"))
    }

    fn check_faults(&self, case: &Case, parts: &Parts, found: &mut Found) {
        match (case.faults.is_empty(), case.unfalsified.is_some()) {
            (true, false) => {
                let help = "name the faults that must make it fail, or say in `unfalsified` why none can";
                found.add(&case.place, "nothing shows that the case can fail", Some(help.to_owned()));
            }
            (false, true) => {
                found.add(parts.at("unfalsified"), "`unfalsified` does not go with `faults`", None);
            }
            _ => {}
        }
        let Some(server) = self.server else { return };
        for fault in case.faults.iter().filter(|fault| !server.faults.contains(&fault.as_str())) {
            let help =
                nearest(fault, server.faults.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            found.add(parts.at("faults"), format!("the reference server has no fault `{fault}`"), help);
        }
    }

    fn requirement(&self, row: &Requirement) -> Vec<Problem> {
        let mut found = Found { problems: Vec::new() };
        let slug = row.id.split_once('.').map_or(row.id.as_str(), |(_, slug)| slug);
        if !is_kebab_case(slug) {
            found.add(&row.place, format!("`{slug}` is not in kebab-case"), None);
        }
        let has_case = self.catalogue.cases.iter().any(|case| case.proves == row.id);
        match &row.proof {
            Proof::Cases if !has_case => {
                let help = "write a case, or say `variant` or `untested`".to_owned();
                found.add(&row.place, format!("nothing proves `{}`", row.id), Some(help));
            }
            Proof::Variant(variant) => {
                if let Some(server) =
                    self.server.filter(|server| !server.variants.contains(&variant.as_str()))
                {
                    let near = nearest(variant, server.variants.iter().copied());
                    let help = near.map(|near| format!("did you mean `{near}`?"));
                    found.add(&row.place, format!("the reference server has no variant `{variant}`"), help);
                }
            }
            _ => {}
        }
        check_reasons(row, &mut found);
        found.problems
    }
}

struct Found {
    problems: Vec<Problem>,
}

impl Found {
    fn add(&mut self, place: &Place, message: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem { place: place.clone(), message: message.into(), help });
    }
}

/// Where the top-level values of a case file stand.
struct Parts {
    whole: Place,
    by_key: HashMap<String, Place>,
}

impl Parts {
    fn of(case: &Case, source: Option<&Source>) -> Self {
        let mut by_key = HashMap::new();
        if let Some(source) = source
            && let Some(tree::Node { value: Value::Map(members), .. }) = tree::read(source).0
        {
            by_key = members.into_iter().map(|(key, node)| (key.text, source.place(&node.range))).collect();
        }
        Self { whole: case.place.clone(), by_key }
    }

    fn at(&self, key: &str) -> &Place {
        self.by_key.get(key).unwrap_or(&self.whole)
    }
}

fn check_name(case: &Case, parts: &Parts, found: &mut Found) {
    for component in case.name.split('/').filter(|component| !is_kebab_case(component)) {
        found.add(&parts.whole, format!("the file name `{component}` is not in kebab-case"), None);
    }
}

/// Characters of a summary that fit a line of a report.
const LONGEST_SUMMARY: usize = 80;

fn check_summary(case: &Case, parts: &Parts, found: &mut Found) {
    let summary = &case.summary;
    let length = summary.chars().count();
    let lower = summary.to_lowercase();
    let mut complain =
        |message: String, help: &str| found.add(parts.at("summary"), message, Some(help.to_owned()));
    if length > LONGEST_SUMMARY {
        complain(
            format!("the summary has {length} characters; at most {LONGEST_SUMMARY} fit a line"),
            "shorten it",
        );
    }
    if lower.split_whitespace().any(|word| word == "should") {
        complain("a summary has no \"should\"".to_owned(), "say what is so when the case passes");
    }
    if lower.contains("test that") || lower.contains("tests that") {
        complain("a summary has no \"test that\"".to_owned(), "say what is so when the case passes");
    }
    if summary.ends_with('.') {
        complain("a summary has no full stop".to_owned(), "remove it");
    }
    if let Body::Standing(standing) = &case.body
        && standing.checks.is_empty()
    {
        complain("a standing case has checks".to_owned(), "say what must be so");
    }
}

/// Characters of a reason that are read at a glance.
const LONGEST_REASON: usize = 160;

/// Whoever is told of a breach is told why it matters, what lies behind it, and what to do.
fn check_reasons(row: &Requirement, found: &mut Found) {
    let reasons = [("matters", &row.matters), ("cause", &row.cause), ("mend", &row.mend)];
    let missing: Vec<String> =
        reasons.iter().filter(|(_, text)| text.is_none()).map(|(key, _)| format!("`{key}`")).collect();
    if !missing.is_empty() && row.verdict != Verdict::Note {
        let help = "say which client suffers and how, the commonest cause, and what to do".to_owned();
        found.add(&row.place, format!("`{}` lacks {}", row.id, missing.join(", ")), Some(help));
    }
    for (key, text) in reasons {
        let Some(text) = text else { continue };
        let length = text.chars().count();
        if length > LONGEST_REASON {
            let message =
                format!("`{key}` has {length} characters; at most {LONGEST_REASON} are read at a glance");
            found.add(&row.place, message, Some("shorten it".to_owned()));
        }
        if text.ends_with('.') {
            found.add(&row.place, format!("`{key}` has no full stop"), Some("remove it".to_owned()));
        }
    }
}

/// Lower-case letters and digits in words, joined by single hyphens, the first character a letter.
pub fn is_kebab_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}
