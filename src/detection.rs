//! What do the cases detect, and over what do they stay silent? The page `docs/detection.md`, from trials of the
//! reference server. Which trials there are, and whether they are sound, `selfcheck` says.

use crate::case::model::Case;
use crate::record::Transport;
use crate::revision::Revision;
use crate::run::Suite;
use crate::selfcheck::{Place, Trial, found, killers, names};
use reference_server::{Fault, Variant};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The line of the page for a fault: what it does, which cases must catch it, and where they did.
pub fn row(suite: &Suite, fault: Fault, trial: &Trial) -> String {
    let caught = killers(&trial.record);
    let naming: Vec<&str> = naming(suite, fault)
        .map(|case| case.name.as_str())
        .filter(|name| caught.iter().any(|by| by == name))
        .collect();
    let links = naming.iter().map(|name| format!("[{name}](../cases/{name}.yaml)"));
    let mut cases = links.collect::<Vec<_>>().join(", ");
    let others = caught.len() - naming.len();
    if others > 0 {
        let _ = write!(cases, " and {others} more");
    }
    let by_them = trial.record.cases.iter().filter(|row| found(row) && naming.contains(&row.name.as_str()));
    let caught_at: BTreeSet<Place> = by_them.map(Place::of).collect();
    let barren = trial.barren.difference(&caught_at).copied().collect();
    let mut revisions = spans(&caught_at);
    if trial.barren.len() > trial.barren.intersection(&caught_at).count() {
        let _ = write!(revisions, "; cannot show at {}", spans(&barren));
    }
    let transports: BTreeSet<&str> = caught_at.iter().map(|place| place.transport.as_str()).collect();
    let transports: Vec<&str> = transports.into_iter().rev().collect();
    format!(
        "| `{}` | {} | {cases} | {} | {} |",
        fault.name(),
        fault.about(),
        revisions,
        transports.join(", ")
    )
}

/// The whole page. `rows` are the lines of the faults, by their names.
pub fn page(suite: &Suite, rows: &BTreeMap<String, String>) -> String {
    let mut areas: BTreeMap<&str, Vec<Fault>> = BTreeMap::new();
    for fault in Fault::ALL.iter().copied() {
        let area = naming(suite, fault).next().and_then(|case| case.name.rsplit_once('/'));
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
         because of one, at any revision, over stdio or HTTP.\n\n\
         `mcp-litmus reference --fault NAME` and `--variant NAME` show each of them; `mcp-litmus selfcheck` tries them \
         all, and `cases/kills.txt` is the whole table. This page is written by \
         `mcp-litmus selfcheck --bless cases/kills.txt`, and a test keeps it current.\n\n\
         Revisions are those at which the cases named beside the fault did notice it: all that they are about, but \
         for those at which it cannot show, since the server has nothing there that it could spoil. *And N more* counts cases that notice \
         a fault which they do not name; all cases are tried at the newest revision of each era, over stdio where the fault shows there.\n\n\
         ## Faults\n",
        suite.cases.len(),
        proved.len(),
        Fault::ALL.len(),
        Variant::ALL.len(),
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
         Judged at every revision and transport that they concern; nothing fails.\n\n\
         | variant | what differs |\n|---|---|\n",
    );
    for variant in Variant::ALL {
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

fn naming(suite: &Suite, fault: Fault) -> impl Iterator<Item = &Case> {
    suite.cases.iter().map(|(case, _)| case.as_ref()).filter(move |case| names(case, fault))
}

/// Places in few words: the revisions, once where they are the same over every transport.
fn spans(places: &BTreeSet<Place>) -> String {
    let over = |transport| -> BTreeSet<Revision> {
        places.iter().filter(|place| place.transport == transport).map(|place| place.revision).collect()
    };
    let by_transport = Transport::ALL.map(|transport| (transport, over(transport)));
    let mut shown: Vec<_> = by_transport.iter().filter(|(_, revisions)| !revisions.is_empty()).collect();
    shown.dedup_by(|next, first| next.1 == first.1);
    match shown.as_slice() {
        [] => String::new(),
        [(_, everywhere)] => span(everywhere),
        apart => {
            let each =
                apart.iter().map(|(transport, revisions)| format!("{} over {transport}", span(revisions)));
            each.collect::<Vec<_>>().join(", ")
        }
    }
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
