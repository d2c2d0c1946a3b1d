//! Which cases and requirements are there? The ones in the binary, and a user's own beside them.

use super::load;
use super::model::{Body, Case, Proof, Requirement};
use super::source::{Problem, Source};
use crate::nearest::nearest;
use crate::record::Place;
use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/cases");

/// Every case and every requirement.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Sorted by name.
    pub cases: Vec<Case>,
    /// Sorted by id.
    pub requirements: Vec<Requirement>,
    /// The files they were read from, sorted by their shown name.
    pub sources: Vec<Source>,
    /// SHA-256 over every file's name and text, in hexadecimal: which cases judged.
    pub digest: String,
}

/// Why there is no catalogue.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("`{}` cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{} in case files", count(.0.len(), "problem"))]
    Problems(Vec<Problem>),
}

/// A pattern that names no case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", problem(.pattern), hint(.nearest.as_deref(), .areas))]
pub struct UnknownCase {
    pub pattern: String,
    pub nearest: Option<String>,
    /// The areas in which there are cases.
    pub areas: Vec<String>,
}

/// What is wrong with a pattern that names nothing.
fn problem(pattern: &str) -> String {
    if pattern.is_empty() {
        return "a pattern of no characters names no case".to_owned();
    }
    match pattern.chars().find(|character| "[]{}?!".contains(*character)) {
        Some(odd) => format!(
            "`{pattern}` names no case: `{odd}` has no meaning in a pattern, `*` stands for any text within a part, \
             and `**` for any number of parts"
        ),
        None => format!("no case is named `{pattern}`"),
    }
}

/// What would do instead.
fn hint(nearest: Option<&str>, areas: &[String]) -> String {
    match nearest {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; the areas are {}, and `mcp-litmus cases list` names every case", areas.join(", ")),
    }
}

impl Catalogue {
    /// The cases in the binary. An error is ours: a test reads them all.
    pub fn embedded() -> Result<Self, CatalogueError> {
        Self::from_sources(embedded_sources())
    }

    /// The cases in the binary and those below a directory of the user's.
    pub fn with_directory(directory: &Path) -> Result<Self, CatalogueError> {
        let mut sources = embedded_sources();
        sources.extend(directory_sources(directory)?);
        Self::from_sources(sources)
    }

    /// Only those below a directory.
    pub fn load(directory: &Path) -> Result<Self, CatalogueError> {
        Self::from_sources(directory_sources(directory)?)
    }

    /// Reads all files and reports the problems of all of them.
    pub fn from_sources(sources: Vec<(String, Source)>) -> Result<Self, CatalogueError> {
        let mut catalogue = Self::default();
        let mut problems = Vec::new();
        for (name, source) in &sources {
            let loaded = match name.rsplit_once('/') {
                Some((area, "requirements")) => {
                    load::requirements(area, source).map(|rows| catalogue.requirements.extend(rows))
                }
                _ => load::case(name, source).map(|case| catalogue.cases.push(case)),
            };
            problems.extend(loaded.err().unwrap_or_default());
        }
        catalogue.digest = digest(&sources);
        catalogue.sources = sources.into_iter().map(|(_, source)| source).collect();
        catalogue.sources.sort_by(|left, right| left.file.cmp(&right.file));
        catalogue.cases.sort_by(|left, right| left.name.cmp(&right.name));
        catalogue.requirements.sort_by(|left, right| left.id.cmp(&right.id));
        problems.extend(catalogue.repeated());
        if problems.is_empty() { Ok(catalogue) } else { Err(CatalogueError::Problems(problems)) }
    }

    fn repeated(&self) -> Vec<Problem> {
        let cases = self.cases.windows(2).filter(|pair| pair[0].name == pair[1].name);
        let cases = cases.map(|pair| twice(&pair[1].place, "case", &pair[1].name, &pair[0].place));
        let rows = self.requirements.windows(2).filter(|pair| pair[0].id == pair[1].id);
        let rows = rows.map(|pair| twice(&pair[1].place, "requirement", &pair[1].id, &pair[0].place));
        cases.chain(rows).collect()
    }

    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.binary_search_by(|case| case.name.as_str().cmp(name)).ok().map(|at| &self.cases[at])
    }

    pub fn requirement(&self, id: &str) -> Option<&Requirement> {
        self.requirements
            .binary_search_by(|row| row.id.as_str().cmp(id))
            .ok()
            .map(|at| &self.requirements[at])
    }

    /// The requirement that a case proves.
    pub fn proved_by(&self, case: &Case) -> Option<&Requirement> {
        self.requirement(&case.proves)
    }

    /// The file that a place lies in.
    pub fn source(&self, place: &Place) -> Option<&Source> {
        self.sources.iter().find(|source| source.file == place.file)
    }

    /// The cases that a pattern names: `read/unknown-uri`, `read/*`, `**`.
    pub fn matching(&self, pattern: &str) -> Result<Vec<&Case>, UnknownCase> {
        let found: Vec<&Case> = self.cases.iter().filter(|case| name_matches(pattern, &case.name)).collect();
        if found.is_empty() {
            let areas = self.cases.iter().filter_map(|case| case.name.rsplit_once('/'));
            let mut areas: Vec<String> = areas.map(|(area, _)| area.to_owned()).collect();
            areas.dedup();
            return Err(UnknownCase {
                pattern: pattern.to_owned(),
                nearest: self.nearest(pattern, &areas),
                areas,
            });
        }
        Ok(found)
    }

    /// What a pattern that names nothing was meant to be, if that can be told.
    fn nearest(&self, pattern: &str, areas: &[String]) -> Option<String> {
        let whole = |area: &str| format!("{area}/*");
        if areas.iter().any(|area| area == pattern) {
            return Some(whole(pattern));
        }
        // A slip in the area, which a long name or a `*` behind it would hide.
        let (area, rest) = pattern.split_once('/').unwrap_or((pattern, "*"));
        if let Some(meant) = nearest(area, areas.iter().map(String::as_str)) {
            let corrected = format!("{meant}/{rest}");
            if self.cases.iter().any(|case| name_matches(&corrected, &case.name)) {
                return Some(corrected);
            }
        }
        nearest(pattern, self.cases.iter().map(|case| case.name.as_str())).map(str::to_owned)
    }

    pub fn standing(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| matches!(case.body, Body::Standing(_)))
    }

    pub fn scripted(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| matches!(case.body, Body::Scripted { .. }))
    }

    /// Rows that neither a case nor a variant nor a reason answers for.
    pub fn unproven(&self) -> impl Iterator<Item = &Requirement> {
        let has_case = |id: &str| self.cases.iter().any(|case| case.proves == id);
        self.requirements.iter().filter(move |row| row.proof == Proof::Cases && !has_case(&row.id))
    }
}

/// SHA-256 over every file's name and text, in hexadecimal.
fn digest(sources: &[(String, Source)]) -> String {
    let mut parts: Vec<(&str, &str)> =
        sources.iter().map(|(name, source)| (name.as_str(), source.text.as_str())).collect();
    parts.sort_unstable();
    let mut hasher = Sha256::new();
    for part in parts.into_iter().flat_map(|(name, text)| [name, text]) {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn twice(place: &Place, what: &str, name: &str, first: &Place) -> Problem {
    Problem {
        place: place.clone(),
        message: format!("the {what} `{name}` is there twice"),
        help: Some(format!("the other one is {}:{}", first.file, first.line)),
    }
}

pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Component by component; `*` stands for any text within one, `**` for any number of components.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    fn components(pattern: &[&str], name: &[&str]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((&"**", rest)), _) => (0..=name.len()).any(|skipped| components(rest, &name[skipped..])),
            (Some((first, rest)), Some((component, below))) => {
                text_matches(first, component) && components(rest, below)
            }
            _ => false,
        }
    }
    let pattern: Vec<&str> = pattern.split('/').collect();
    let name: Vec<&str> = name.split('/').collect();
    components(&pattern, &name)
}

fn text_matches(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(head) else { return false };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| text_matches(tail, &rest[at..]))
}

/// The files in the binary, by the names of their cases.
pub fn embedded_sources() -> Vec<(String, Source)> {
    fn collect(directory: &Dir<'static>, found: &mut Vec<(String, Source)>) {
        for file in directory.files() {
            if let (Some(name), Some(text)) = (case_name(file.path()), file.contents_utf8()) {
                found.push((name.clone(), Source::new(format!("cases/{name}.yaml"), text)));
            }
        }
        directory.dirs().for_each(|inner| collect(inner, found));
    }
    let mut found = Vec::new();
    collect(&EMBEDDED, &mut found);
    found
}

/// `read/unknown-uri` for `read/unknown-uri.yaml`; `None` for other kinds of files.
fn case_name(path: &Path) -> Option<String> {
    if path.extension().and_then(|ending| ending.to_str()) != Some("yaml") {
        return None;
    }
    let without = path.with_extension("");
    let components: Option<Vec<&str>> = without.components().map(|part| part.as_os_str().to_str()).collect();
    components.map(|components| components.join("/"))
}

/// Every YAML file below a directory, by name. Its own files are named as if the directory were `cases/`.
pub fn directory_sources(directory: &Path) -> Result<Vec<(String, Source)>, CatalogueError> {
    let mut found = Vec::new();
    collect_files(directory, directory, 0, &mut found)?;
    found.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(found)
}

/// One file, named by its folder and itself.
pub fn file_source(path: &Path) -> Result<(String, Source), CatalogueError> {
    let unreadable = |reason: String| CatalogueError::Unreadable { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    // A bare file name has its area in the folder where the user stands.
    let whole = path.canonicalize().map_err(|error| unreadable(error.to_string()))?;
    let area = whole.parent().and_then(Path::file_name).unwrap_or_default();
    let name = whole.file_name().map(|file| Path::new(area).join(file)).and_then(|name| case_name(&name));
    let name = name.ok_or_else(|| unreadable("its name does not end in `.yaml`".to_owned()))?;
    Ok((name, Source::new(path.display().to_string(), text)))
}

/// Folders within folders: enough for areas, and an end to links that lead in circles.
const DEEPEST: usize = 8;

fn collect_files(
    root: &Path,
    directory: &Path,
    depth: usize,
    found: &mut Vec<(String, Source)>,
) -> Result<(), CatalogueError> {
    let unreadable =
        |path: &Path, reason: String| CatalogueError::Unreadable { path: path.to_owned(), reason };
    let entries = std::fs::read_dir(directory).map_err(|error| unreadable(directory, error.to_string()))?;
    for entry in entries {
        let path = entry.map_err(|error| unreadable(directory, error.to_string()))?.path();
        if path.is_dir() {
            if depth < DEEPEST {
                collect_files(root, &path, depth + 1, found)?;
            }
            continue;
        }
        let Some(name) = path.strip_prefix(root).ok().and_then(case_name) else { continue };
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, error.to_string()))?;
        found.push((name, Source::new(path.display().to_string(), text)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_go_by_component() {
        for (pattern, name) in [
            ("read/unknown-uri", "read/unknown-uri"),
            ("read/*", "read/unknown-uri"),
            ("*/unknown-*", "read/unknown-uri"),
            ("**", "read/unknown-uri"),
            ("read/**", "read/a/b"),
            ("**/*-uri", "read/unknown-uri"),
            ("**", "top"),
        ] {
            assert!(name_matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("*", "read/unknown-uri"),
            ("read", "read/x"),
            ("read/*", "read"),
            ("read/x", "read/xy"),
            ("", "a"),
        ] {
            assert!(!name_matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn finds_by_name_and_suggests() {
        let text = "summary: x\nproves: a.b\nfaults: [f]\nsteps: [{ alive: true }]\n";
        let source = |name: &str| (name.to_owned(), Source::new(format!("cases/{name}.yaml"), text));
        let catalogue = Catalogue::from_sources(vec![source("read/two"), source("read/one")]).unwrap();
        assert_eq!(catalogue.cases[0].name, "read/one");
        assert!(catalogue.case("read/two").is_some());
        assert_eq!(catalogue.matching("read/*").unwrap().len(), 2);
        let unknown = catalogue.matching("read/tow").unwrap_err();
        assert_eq!(unknown.to_string(), "no case is named `read/tow`; did you mean `read/two`?");
        for (typed, meant) in
            [("raed/*", "read/*"), ("read", "read/*"), ("raed", "read/*"), ("raed/one", "read/one")]
        {
            assert_eq!(catalogue.matching(typed).unwrap_err().nearest.as_deref(), Some(meant), "{typed}");
        }
        let unknown = catalogue.matching("nosuch/*").unwrap_err().to_string();
        assert!(unknown.starts_with("no case is named `nosuch/*`; the areas are read, and"), "{unknown}");
        let one = Catalogue::from_sources(vec![source("read/one")]).unwrap();
        assert_ne!(catalogue.digest, one.digest);
        assert_eq!(one.digest.len(), 64);
        let Err(CatalogueError::Problems(problems)) =
            Catalogue::from_sources(vec![source("read/one"), source("read/one")])
        else {
            panic!()
        };
        assert_eq!(problems[0].message, "the case `read/one` is there twice");
    }
}
