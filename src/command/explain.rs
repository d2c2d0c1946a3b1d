//! `mcp-litmus cases explain`: what does a case do, why does it matter, and how is a breach mended?

use crate::case::catalogue::Catalogue;
use crate::case::describe::{Description, describe};
use crate::case::model::{Body, Case, Proof, Requirement, Revisions, SessionKind};
use crate::case::specification;
use crate::nearest::nearest;
use crate::record::{Transport, Verdict};
use crate::revision::Revision;
use std::io::{self, Write};

/// Columns of a label and of the text beside it.
const LABEL: usize = 13;

/// Explains the cases that a pattern names, or the requirement of that id. Gives the exit code: 2 for an unknown
/// name.
pub fn explain(
    catalogue: &Catalogue,
    name: &str,
    out: &mut impl Write,
    errors: &mut impl Write,
) -> io::Result<u8> {
    if let Some(row) = catalogue.requirement(name) {
        explain_requirement(catalogue, row, out)?;
        return Ok(0);
    }
    let cases = match catalogue.matching(name) {
        Ok(cases) => cases,
        Err(_) if name.contains('.') && !name.contains('/') => {
            let ids = catalogue.requirements.iter().map(|row| row.id.as_str());
            let near = nearest(name, ids).map(|id| format!("; did you mean `{id}`?")).unwrap_or_default();
            writeln!(errors, "error: no requirement is called `{name}`{near}")?;
            return Ok(2);
        }
        Err(unknown) => {
            writeln!(errors, "error: {unknown}")?;
            return Ok(2);
        }
    };
    for (index, case) in cases.into_iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        explain_case(catalogue, case, out)?;
    }
    Ok(0)
}

fn explain_case(catalogue: &Catalogue, case: &Case, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", case.name)?;
    writeln!(out, "  {}\n", case.summary)?;
    let row = catalogue.proved_by(case);
    match row {
        Some(row) => {
            label(out, "requirement", &row.id)?;
            label(out, "", &row.statement)?;
            label(out, "a breach is", &worth(row))?;
            let revisions = case.revisions.as_ref().unwrap_or(&row.revisions);
            label(out, "revisions", &join(revisions.iter().map(|revision| revision.as_str())))?;
            let transports = case.transports.as_ref().unwrap_or(&row.transports);
            label(out, "transports", &join(transports.iter().map(|one: &Transport| one.as_str())))?;
        }
        None => label(out, "requirement", &format!("{} (unknown)", case.proves))?,
    }
    for covered in &case.covers {
        label(out, "covers", covered)?;
    }
    let session = match (&case.body, case.session) {
        (Body::Standing(_), _) => "every conversation",
        (_, SessionKind::Calm) => "shared with other cases",
        (_, SessionKind::Lively) => "shared with other cases that change, listen or wait",
        (_, SessionKind::Rough) => "shared with other cases of odd input",
        (_, SessionKind::Own) => "a server of its own",
    };
    label(out, "session", session)?;
    match &case.unfalsified {
        Some(reason) => label(out, "unfalsified", reason)?,
        None => label(out, "faults", &join(case.faults.iter().map(String::as_str)))?,
    }
    let Description { sent, proof } = describe(case, row.map_or(Verdict::Fail, |row| row.verdict));
    part(out, "What is sent", &sent)?;
    part(out, "What proves it", &proof)?;
    if let Some(row) = row {
        let revisions = case.revisions.as_ref().unwrap_or(&row.revisions);
        reasons(out, row, revisions)?;
    }
    if let Some(source) = catalogue.source(&case.place) {
        writeln!(out, "\n{}", source.file)?;
        let begins = |line: &&str| ["given:", "steps:", "always:"].iter().any(|key| line.starts_with(key));
        for line in source.text.lines().skip_while(|line| !begins(line)) {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

fn explain_requirement(catalogue: &Catalogue, row: &Requirement, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", row.id)?;
    writeln!(out, "  {}\n", row.statement)?;
    label(out, "a breach is", &worth(row))?;
    label(out, "revisions", &join(row.revisions.iter().map(|revision| revision.as_str())))?;
    label(out, "transports", &join(row.transports.iter().map(|one| one.as_str())))?;
    if !row.refs.is_empty() {
        label(out, "refs", &join(row.refs.iter().map(String::as_str)))?;
    }
    let cases = catalogue.cases.iter().filter(|case| case.proves == row.id);
    let cases: Vec<String> = cases.map(|case| format!("{}: {}", case.name, case.summary)).collect();
    match &row.proof {
        Proof::Variant(variant) => {
            let variant = format!("the lawful variant `{variant}` of the reference server fails no case");
            part(out, "What proves it", &[cases, vec![variant]].concat())?;
        }
        Proof::Untested(reason) => part(out, "Why nothing proves it", std::slice::from_ref(reason))?,
        Proof::Cases => part(out, "What proves it", &cases)?,
    }
    reasons(out, row, &row.revisions)
}

/// Why it matters, where it is written, what is the matter, and what to do.
fn reasons(out: &mut impl Write, row: &Requirement, revisions: &Revisions) -> io::Result<()> {
    part(out, "Why it matters", row.matters.as_slice())?;
    part(out, "Where the specification says so", &addresses(row, revisions))?;
    part(out, "The commonest cause", row.cause.as_slice())?;
    part(out, "How to mend it", row.mend.as_slice())
}

/// The address of the source at each revision, the newest first.
fn addresses(row: &Requirement, revisions: &Revisions) -> Vec<String> {
    let applies = |known: &Option<Revisions>, revision: &Revision| {
        known.as_ref().is_none_or(|known| known.contains(revision))
    };
    let addresses = revisions.iter().rev().filter_map(|revision| {
        let (_, source) = row.source.iter().find(|(known, _)| applies(known, revision))?;
        Some(specification::address(source, *revision))
    });
    addresses.collect()
}

fn worth(row: &Requirement) -> String {
    let verdict = match row.verdict {
        Verdict::Fail => "a failure",
        Verdict::Advice => "an advice",
        Verdict::Note => "a note",
    };
    format!("{verdict} (the specification's word: {})", row.keyword)
}

fn label(out: &mut impl Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {name:LABEL$}{text}")
}

/// A heading and its lines; nothing where there are none.
fn part(out: &mut impl Write, heading: &str, lines: &[String]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{heading}")?;
    lines.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(catalogue: &Catalogue, name: &str) -> (u8, String, String) {
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let code = explain(catalogue, name, &mut out, &mut errors).unwrap();
        (code, String::from_utf8(out).unwrap(), String::from_utf8(errors).unwrap())
    }

    /// The lines below a heading, up to the next empty line.
    fn part_of<'t>(text: &'t str, heading: &str) -> Vec<&'t str> {
        let lines = text.lines().skip_while(|line| *line != heading).skip(1);
        lines.take_while(|line| !line.is_empty()).collect()
    }

    #[test]
    fn a_name_is_a_case_a_pattern_or_a_requirement() {
        let catalogue = Catalogue::embedded().unwrap();
        let (code, text, _) = asked(&catalogue, "read/text-xor-blob");
        assert_eq!(code, 0);
        for expected in ["read.text-xor-blob", "every conversation", "  always:", "one_key_of"] {
            assert!(text.contains(expected), "{expected} is not in\n{text}");
        }
        let (code, text, _) = asked(&catalogue, "ping/*");
        assert_eq!((code, text.matches("What is sent").count() > 1), (0, true));
        let (code, text, _) = asked(&catalogue, "read.text-xor-blob");
        assert_eq!(code, 0);
        assert!(part_of(&text, "What proves it")[0].starts_with("  read/text-xor-blob: "), "{text}");
        for (wrong, near) in
            [("read/text-xor-blobs", "read/text-xor-blob"), ("read.text-xor-blobs", "read.text-xor-blob")]
        {
            let (code, text, errors) = asked(&catalogue, wrong);
            assert_eq!((code, text.as_str()), (2, ""));
            assert!(errors.contains(&format!("did you mean `{near}`?")), "{errors}");
        }
    }

    #[test]
    fn every_case_and_every_requirement_is_explained_in_full() {
        let catalogue = Catalogue::embedded().unwrap();
        let mut gaps = Vec::new();
        let mut look = |name: &str, verdict: Verdict, headings: &[&str]| {
            let (code, text, _) = asked(&catalogue, name);
            assert_eq!(code, 0, "{name}");
            let reasons: &[&str] = match verdict {
                Verdict::Note => &[],
                _ => &["Why it matters", "The commonest cause", "How to mend it"],
            };
            for heading in headings.iter().chain(reasons) {
                let lines = part_of(&text, heading);
                if lines.is_empty() || lines.iter().any(|line| line.trim().is_empty()) {
                    gaps.push(format!("{name}: {heading}"));
                }
            }
        };
        for case in &catalogue.cases {
            let headings = ["What is sent", "What proves it", "Where the specification says so"];
            look(&case.name, catalogue.proved_by(case).unwrap().verdict, &headings);
        }
        for row in &catalogue.requirements {
            let proof = match row.proof {
                Proof::Untested(_) => "Why nothing proves it",
                _ => "What proves it",
            };
            look(&row.id, row.verdict, &[proof, "Where the specification says so"]);
        }
        assert!(gaps.is_empty(), "{}", gaps.join("\n"));
    }
}
