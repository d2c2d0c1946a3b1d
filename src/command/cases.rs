//! `mcp-litmus cases`: which cases are there, what do they say, and do they keep the rules?

use super::explain::explain;
use crate::case::catalogue::{
    Catalogue, CatalogueError, count, directory_sources, embedded_sources, file_source,
};
use crate::case::lint::{ServerNames, lint};
use crate::case::model::{Case, Proof, Requirement};
use crate::case::schema::schema;
use crate::case::source::Problem;
use crate::record::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;

/// What is asked of `cases`.
#[derive(Debug, Clone)]
pub enum Request {
    /// The cases that the patterns name; all without one.
    List {
        patterns: Vec<String>,
    },
    /// The cases that a pattern names, or a requirement by its id.
    Explain {
        name: String,
    },
    /// Files and folders; the cases in the binary without one.
    Lint {
        paths: Vec<PathBuf>,
    },
    Schema,
    Coverage,
}

/// Where cases come from besides the binary, and what is known of the reference server.
#[derive(Debug, Clone, Default)]
pub struct Context<'a> {
    /// `--cases DIR`
    pub directory: Option<PathBuf>,
    pub server: Option<ServerNames<'a>>,
    /// Whether problems are shown with colours.
    pub is_styled: bool,
}

/// Writes the answer to `out` and what is wrong to `errors`. Gives the exit code: 0; 1 for a gap in the coverage;
/// 2 for a problem in a case file or an unknown name.
pub fn run(
    request: &Request,
    context: &Context<'_>,
    out: &mut impl Write,
    errors: &mut impl Write,
) -> io::Result<u8> {
    match request {
        Request::Schema => {
            writeln!(out, "{:#}", schema())?;
            return Ok(0);
        }
        Request::Lint { paths } => return lint_paths(paths, context, out, errors),
        _ => {}
    }
    let catalogue = match &context.directory {
        Some(directory) => Catalogue::with_directory(directory),
        None => Catalogue::embedded(),
    };
    let catalogue = match catalogue {
        Ok(catalogue) => catalogue,
        Err(error) => return refuse(&error, context, errors),
    };
    match request {
        Request::List { patterns } => list(&catalogue, patterns, out, errors),
        Request::Explain { name } => explain(&catalogue, name, out, errors),
        _ => coverage(&catalogue, out),
    }
}

fn refuse(error: &CatalogueError, context: &Context<'_>, errors: &mut impl Write) -> io::Result<u8> {
    if let CatalogueError::Problems(problems) = error {
        show(problems, context, errors)?;
    }
    writeln!(errors, "error: {error}")?;
    Ok(2)
}

fn show(problems: &[Problem], context: &Context<'_>, to: &mut impl Write) -> io::Result<()> {
    for problem in problems {
        let text = if context.is_styled { problem.render_styled() } else { problem.render() };
        writeln!(to, "{text}\n")?;
    }
    Ok(())
}

fn list(
    catalogue: &Catalogue,
    patterns: &[String],
    out: &mut impl Write,
    errors: &mut impl Write,
) -> io::Result<u8> {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut code = 0;
    for pattern in patterns {
        match catalogue.matching(pattern) {
            Ok(cases) => named.extend(cases.iter().map(|case| case.name.as_str())),
            Err(unknown) => {
                writeln!(errors, "error: {unknown}")?;
                code = 2;
            }
        }
    }
    let cases: Vec<&Case> = catalogue
        .cases
        .iter()
        .filter(|case| patterns.is_empty() || named.contains(case.name.as_str()))
        .collect();
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or_default();
    for case in cases {
        writeln!(out, "{:width$}  {}", case.name, case.summary)?;
    }
    Ok(code)
}

fn lint_paths(
    paths: &[PathBuf],
    context: &Context<'_>,
    out: &mut impl Write,
    errors: &mut impl Write,
) -> io::Result<u8> {
    let mut sources = embedded_sources();
    let mut given = Vec::new();
    for path in paths.iter().chain(&context.directory) {
        let found =
            if path.is_dir() { directory_sources(path) } else { file_source(path).map(|one| vec![one]) };
        match found {
            Ok(found) => given.extend(found),
            Err(error) => {
                writeln!(errors, "error: {error}")?;
                return Ok(2);
            }
        }
    }
    // A file on disk stands for the one of the same name in the binary.
    sources.retain(|(name, _)| !given.iter().any(|(other, _)| other == name));
    let files: BTreeSet<String> = given.iter().map(|(_, source)| source.file.clone()).collect();
    let is_meant = |problem: &Problem| files.is_empty() || files.contains(&problem.place.file);
    let looked_at = if files.is_empty() { sources.len() } else { files.len() };
    sources.extend(given);
    let problems = match Catalogue::from_sources(sources) {
        Ok(catalogue) => lint(&catalogue, context.server).into_iter().filter(is_meant).collect(),
        Err(CatalogueError::Problems(problems)) => problems,
        Err(error) => return refuse(&error, context, errors),
    };
    show(&problems, context, errors)?;
    if problems.is_empty() {
        writeln!(out, "{} in order", count(looked_at, "file"))?;
        return Ok(0);
    }
    writeln!(errors, "error: {} in {}", count(problems.len(), "problem"), count(looked_at, "file"))?;
    Ok(2)
}

/// How the requirements of an area, or of one tier in it, are answered for.
#[derive(Default)]
struct Tally<'a> {
    rows: usize,
    proven: usize,
    variants: usize,
    untested: Vec<(&'a str, &'a str)>,
    missing: Vec<&'a str>,
}

impl<'a> Tally<'a> {
    fn add(&mut self, row: &'a Requirement, is_proven: bool) {
        self.rows += 1;
        match &row.proof {
            _ if is_proven => self.proven += 1,
            Proof::Variant(_) => self.variants += 1,
            Proof::Untested(reason) => self.untested.push((&row.id, reason)),
            Proof::Cases => self.missing.push(&row.id),
        }
    }
}

/// A tier is what a breach is worth. Tolerances, which nothing can breach, are the notes with a variant.
const TIERS: [&str; 4] = ["fail", "advice", "note", "tolerance"];

fn tier(row: &Requirement) -> &'static str {
    match (row.verdict, &row.proof) {
        (_, Proof::Variant(_)) => TIERS[3],
        (Verdict::Fail, _) => TIERS[0],
        (Verdict::Advice, _) => TIERS[1],
        (Verdict::Note, _) => TIERS[2],
    }
}

fn coverage(catalogue: &Catalogue, out: &mut impl Write) -> io::Result<u8> {
    let proved: BTreeSet<&str> = catalogue.cases.iter().map(|case| case.proves.as_str()).collect();
    let mut tallies: BTreeMap<&str, BTreeMap<&str, Tally>> = BTreeMap::new();
    let mut sums: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    for row in &catalogue.requirements {
        let area = row.id.split('.').next().unwrap_or_default();
        let is_proven = proved.contains(row.id.as_str());
        tallies.entry(area).or_default().entry(tier(row)).or_default().add(row, is_proven);
        sums.entry(tier(row)).or_default().add(row, is_proven);
        all.add(row, is_proven);
    }
    let width = tallies.keys().map(|name| name.len()).max().unwrap_or_default().max("area".len());
    writeln!(out, "{:width$}  tier       rows  cases  variants  untested  missing", "area")?;
    for (area, tiers) in tallies.iter().chain([(&"all", &sums)]) {
        let known = TIERS.iter().filter_map(|tier| Some((tier, tiers.get(tier)?)));
        for (place, (tier, tally)) in known.enumerate() {
            write_tally(if place == 0 { area } else { "" }, width, tier, tally, out)?;
        }
    }
    write_tally("", width, "", &all, out)?;
    if !all.untested.is_empty() {
        writeln!(out, "\nuntested")?;
    }
    for (id, reason) in &all.untested {
        writeln!(out, "  {id}: {reason}")?;
    }
    if all.missing.is_empty() {
        return Ok(0);
    }
    writeln!(out, "\nmissing: neither a case, nor a variant, nor a reason")?;
    for id in &all.missing {
        writeln!(out, "  {id}")?;
    }
    Ok(1)
}

fn write_tally(name: &str, width: usize, tier: &str, tally: &Tally, out: &mut impl Write) -> io::Result<()> {
    let (untested, missing) = (tally.untested.len(), tally.missing.len());
    writeln!(
        out,
        "{name:width$}  {tier:9}  {:4}  {:5}  {:8}  {untested:8}  {missing:7}",
        tally.rows, tally.proven, tally.variants
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(request: &Request, directory: Option<&std::path::Path>) -> (u8, String, String) {
        let context = Context { directory: directory.map(Into::into), ..Context::default() };
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let code = run(request, &context, &mut out, &mut errors).unwrap();
        (code, String::from_utf8(out).unwrap(), String::from_utf8(errors).unwrap())
    }

    #[test]
    fn lists_by_pattern_and_names_what_may_have_been_meant() {
        let (code, all, _) = asked(&Request::List { patterns: vec![] }, None);
        assert_eq!(code, 0);
        let (code, some, _) = asked(&Request::List { patterns: vec!["read/*".into()] }, None);
        assert_eq!(code, 0);
        assert!(some.lines().count() < all.lines().count());
        assert!(some.lines().all(|line| line.starts_with("read/")));
        let (code, none, errors) = asked(&Request::List { patterns: vec!["raed/*".into()] }, None);
        assert_eq!((code, none.as_str()), (2, ""));
        assert_eq!(errors, "error: no case is named `raed/*`; did you mean `read/*`?\n");
    }

    #[test]
    fn lint_looks_at_files_in_place_of_those_in_the_binary() {
        let (code, out, errors) = asked(&Request::Lint { paths: vec![] }, None);
        assert_eq!(code, 0, "{errors}");
        assert!(out.ends_with("files in order\n"), "{out}");
        let folder = tempfile::tempdir().unwrap();
        let area = folder.path().join("read");
        std::fs::create_dir(&area).unwrap();
        let file = area.join("text-xor-blob.yaml");
        std::fs::write(&file, "summary: It is so\nproves: read.text-xor-blob\nsteps: [{ alive: true }]\n")
            .unwrap();
        let (code, _, errors) = asked(&Request::Lint { paths: vec![file.clone()] }, None);
        assert_eq!(code, 2);
        assert!(errors.contains("nothing shows that the case can fail"), "{errors}");
        assert!(errors.ends_with("error: 1 problem in 1 file\n"), "{errors}");
        let (code, _, errors) = asked(&Request::List { patterns: vec![] }, Some(folder.path()));
        assert_eq!(code, 2);
        assert!(errors.contains("the case `read/text-xor-blob` is there twice"), "{errors}");
        std::fs::write(&file, "summary: [\n").unwrap();
        let (code, ..) = asked(&Request::Lint { paths: vec![folder.path().into()] }, None);
        assert_eq!(code, 2);
        let (code, _, errors) = asked(&Request::Lint { paths: vec!["no/such/file.yaml".into()] }, None);
        assert_eq!((code, errors.starts_with("error: `no/such/file.yaml` cannot be read")), (2, true));
    }

    #[test]
    fn coverage_is_red_when_a_row_has_no_answer() {
        let (code, text, _) = asked(&Request::Coverage, None);
        assert_eq!(code, 0, "{text}");
        let rows = |line: &str| line.split_whitespace().rev().nth(4).and_then(|rows| rows.parse().ok());
        let table: Vec<usize> = text.lines().skip(1).map_while(rows).collect();
        let (sum, parts) = table.split_last().unwrap();
        assert_eq!(parts.iter().sum::<usize>(), 2 * sum, "areas and tiers add up to all\n{text}");
        let folder = tempfile::tempdir().unwrap();
        let area = folder.path().join("mine");
        std::fs::create_dir(&area).unwrap();
        let row = "- id: mine.row\n  verdict: fail\n  keyword: MUST\n  revisions: all\n  source: here\n  statement: It is so\n";
        std::fs::write(area.join("requirements.yaml"), row).unwrap();
        let (code, text, _) = asked(&Request::Coverage, Some(folder.path()));
        assert_eq!(code, 1);
        assert!(
            text.ends_with("missing: neither a case, nor a variant, nor a reason\n  mine.row\n"),
            "{text}"
        );
    }
}
