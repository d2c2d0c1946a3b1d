//! What do the cases detect, and over what do they stay silent? The page `docs/detection.md`, from trials of the
//! reference server. Which trials there are, and whether they are sound, `selfcheck` says.

use crate::case::model::{Case, Requirement};
use crate::record::{Outcome, Transport};
use crate::revision::Revision;
use crate::run::Suite;
use crate::run::plan::concerns;
use crate::selfcheck::{Trial, faults, killers, variants};
use reference_server::Fault;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The line of the page for a fault: what it does, which cases must catch it, and where they did.
pub fn row(suite: &Suite, fault: Fault, trial: &Trial) -> String {
    let caught = killers(&trial.record);
    let naming: Vec<&(Case, Requirement)> =
        naming(suite, fault).filter(|(case, _)| caught.contains(&case.name)).collect();
    let links = naming.iter().map(|(case, _)| format!("[{0}](../cases/{0}.yaml)", case.name));
    let mut cases = links.collect::<Vec<_>>().join(", ");
    let others = caught.len() - naming.len();
    if others > 0 {
        let _ = write!(cases, " and {others} more");
    }
    let mut revisions = BTreeSet::new();
    let mut transports = BTreeSet::new();
    for index in
        (0..suite.cases.len()).filter(|index| naming.iter().any(|at| at.0.name == suite.cases[*index].0.name))
    {
        let entry = suite.entry(index);
        let rows = trial.record.cases.iter().filter(|row| row.name == entry.case.name);
        for row in rows.filter(|row| matches!(row.outcome, Outcome::Fail | Outcome::Advice | Outcome::Note)) {
            transports.insert(row.transport);
            // A trial plays the newest revision of each era; its fellows are told apart by the case alone.
            let fellows = Revision::of(row.revision.era());
            revisions.extend(fellows.filter(|revision| concerns(entry, *revision, row.transport)));
        }
    }
    let transports: Vec<&str> = transports.into_iter().map(Transport::as_str).collect();
    format!(
        "| `{}` | {} | {cases} | {} | {} |",
        fault.name(),
        fault.about(),
        span(&revisions),
        transports.join(", ")
    )
}

/// The whole page. `rows` are the lines of the faults, by their names.
pub fn page(suite: &Suite, rows: &BTreeMap<String, String>) -> String {
    let mut areas: BTreeMap<&str, Vec<Fault>> = BTreeMap::new();
    for fault in faults() {
        let area = naming(suite, fault).next().and_then(|(case, _)| case.name.rsplit_once('/'));
        areas.entry(area.map_or("", |(area, _)| area)).or_default().push(fault);
    }
    let proved: BTreeSet<&str> = suite.cases.iter().map(|(case, _)| case.proves.as_str()).collect();
    let mut text = format!(
        "# What mcp-litmus detects\n\n\
         {} cases prove {} requirements. Whether they do is tried on the bundled reference server, which behaves as \
         the specification says, and wrongly on demand:\n\n\
         - **{} faults**: each changes one thing, and the cases named beside it must notice. They do, by a check; \
         never by a crash of ours.\n\
         - **{} lawful variants**: each differs from what one might expect, and is right all the same. No case fails \
         because of one, at any revision.\n\n\
         `mcp-litmus reference --fault NAME` and `--variant NAME` show each of them; `mcp-litmus selfcheck` tries them \
         all, and `cases/kills.txt` is the whole table. This page is written by \
         `mcp-litmus selfcheck --bless cases/kills.txt`, and a test keeps it current.\n\n\
         Revisions are those at which a case named beside the fault is played, of an era in which it was seen to \
         notice. *And N more* counts cases that notice a fault which they do not name.\n\n\
         ## Faults\n",
        suite.cases.len(),
        proved.len(),
        faults().count(),
        variants().count(),
    );
    for (area, faults) in areas {
        let _ = write!(
            text,
            "\n### {area} ({})\n\n\
             | fault | what goes wrong | caught by | revisions | transport |\n|---|---|---|---|---|\n",
            faults.len()
        );
        for fault in faults {
            let _ = writeln!(text, "{}", rows.get(fault.name()).map_or("", String::as_str));
        }
    }
    text.push_str(
        "\n## Lawful variants\n\n\
         Judged at every revision; nothing fails.\n\n\
         | variant | what differs |\n|---|---|\n",
    );
    for variant in variants() {
        let _ = writeln!(text, "| `{}` | {} |", variant.name(), variant.about());
    }
    text
}

/// The lines of the faults on a page that was written before, by name.
pub fn rows_of(page: &str) -> BTreeMap<String, String> {
    let faults = page.split("## Lawful variants").next().unwrap_or_default();
    let rows = faults.lines().filter_map(|line| {
        let name = line.strip_prefix("| `")?.split('`').next()?;
        Some((name.to_owned(), line.to_owned()))
    });
    rows.collect()
}

fn naming(suite: &Suite, fault: Fault) -> impl Iterator<Item = &(Case, Requirement)> {
    suite.cases.iter().filter(move |(case, _)| case.faults.iter().any(|name| name == fault.name()))
}

/// Revisions in few words: `all`, `2024-11-05 to 2025-06-18`, `2026-07-28`.
fn span(revisions: &BTreeSet<Revision>) -> String {
    if revisions.len() == Revision::ALL.len() {
        return "all".to_owned();
    }
    let mut runs: Vec<(Revision, Revision)> = Vec::new();
    let mut before = None;
    for revision in Revision::ALL {
        if revisions.contains(&revision) {
            match runs.last_mut().filter(|(_, last)| Some(*last) == before) {
                Some((_, last)) => *last = revision,
                None => runs.push((revision, revision)),
            }
        }
        before = Some(revision);
    }
    let words = runs
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use Revision::*;

    #[test]
    fn revisions_in_few_words() {
        let said = |revisions: &[Revision]| span(&revisions.iter().copied().collect());
        assert_eq!(said(&Revision::ALL), "all");
        assert_eq!(said(&[R2026_07_28]), "2026-07-28");
        assert_eq!(said(&[R2024_11_05, R2025_03_26, R2026_07_28]), "2024-11-05 to 2025-03-26, 2026-07-28");
    }
}
