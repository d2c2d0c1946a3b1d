//! One committed file for each rule that cases and requirements must keep, beside what is said of it.
//!
//! `BLESS=1` writes the messages anew.
#![allow(clippy::unwrap_used, clippy::panic)]

use mcp_litmus::case::catalogue::{Catalogue, CatalogueError};
use mcp_litmus::case::lint::{ServerNames, lint, lint_matching};
use mcp_litmus::case::source::{Problem, Source};
use std::path::{Path, PathBuf};

const SERVER: ServerNames = ServerNames { faults: &["blob-not-base64"], variants: &["empty-text"] };

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-cases")
}

fn read(file: &str) -> Source {
    Source::new(format!("cases/read/{file}"), std::fs::read_to_string(directory().join(file)).unwrap())
}

fn problems(file: &str) -> Vec<Problem> {
    let name = file.trim_end_matches(".yaml");
    if file.ends_with(".rows.yaml") {
        let catalogue = Catalogue::from_sources(vec![("read/requirements".to_owned(), read(file))]).unwrap();
        return lint(&catalogue, Some(SERVER));
    }
    let case = format!("read/{name}");
    let sources =
        vec![("read/requirements".to_owned(), read("requirements.yaml")), (case.clone(), read(file))];
    match Catalogue::from_sources(sources) {
        Ok(catalogue) => lint_matching(&catalogue, Some(SERVER), &case),
        Err(CatalogueError::Problems(problems)) => problems,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn each_bad_file_is_told_what_is_wrong() {
    let files = std::fs::read_dir(directory()).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".yaml") && name != "requirements.yaml");
    names.sort();
    assert!(names.len() > 15, "{names:?}");
    let mut wrong = Vec::new();
    for name in names {
        let found: Vec<String> = problems(&name).iter().map(Problem::render).collect();
        assert!(!found.is_empty(), "{name} is not bad at all");
        let found = format!("{}\n", found.join("\n\n"));
        let expected = directory().join(name.replace(".yaml", ".txt"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &found).unwrap();
        }
        if std::fs::read_to_string(&expected).ok().as_deref() != Some(found.as_str()) {
            wrong.push(format!("{name}\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
