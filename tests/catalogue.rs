//! The committed cases, whole.
#![allow(clippy::unwrap_used, clippy::panic)]

use mcp_litmus::case::catalogue::{Catalogue, CatalogueError};
use mcp_litmus::case::schema::schema;
use mcp_litmus::case::source::Source;
use mcp_litmus::case::tree;
use std::path::Path;

fn embedded() -> Catalogue {
    Catalogue::embedded().unwrap_or_else(|error| {
        let CatalogueError::Problems(problems) = &error else { panic!("{error}") };
        panic!("{}", problems.iter().map(|problem| problem.render()).collect::<Vec<_>>().join("\n\n"))
    })
}

#[test]
fn every_committed_case_loads() {
    let catalogue = embedded();
    assert!(catalogue.scripted().count() > 0 && catalogue.standing().count() > 0);
}

#[test]
fn every_committed_case_keeps_the_rules() {
    let problems = mcp_litmus::case::lint::lint(&embedded(), None);
    let shown: Vec<String> = problems.iter().map(|problem| problem.render()).collect();
    assert!(problems.is_empty(), "{} problems\n\n{}", problems.len(), shown.join("\n\n"));
}

/// `BLESS=1` writes it anew.
#[test]
fn the_committed_schema_is_that_of_the_language() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/case.schema.json");
    let current = format!("{:#}\n", schema());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &current).unwrap();
    }
    assert!(
        std::fs::read_to_string(&file).unwrap() == current,
        "run with BLESS=1 and look at the difference"
    );
}

#[test]
fn the_schema_accepts_every_committed_file_and_refuses_what_is_no_case() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let sketches = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sketches");
    let sketches = std::fs::read_dir(sketches).unwrap().map(|file| {
        let path = file.unwrap().path();
        Source::new(path.display().to_string(), std::fs::read_to_string(&path).unwrap())
    });
    for source in &embedded().sources.into_iter().chain(sketches).collect::<Vec<_>>() {
        let value = tree::read(source).0.unwrap().to_json().to_serde();
        if let Err(error) = validator.validate(&value) {
            panic!("{}: {error} at {}", source.file, error.instance_path());
        }
    }
    for text in [
        "summary: x\nproves: a.b\n",
        "summary: x\nproves: a.b\nsteps: []\n",
        "summary: x\nproves: a.b\nsteps: [{ cal: { method: x } }]\n",
        "summary: x\nproves: a.b\nsteps: [{ alive: true, settle: 1s }]\n",
        "summary: x\nproves: a.b\nsteps: [{ call: { method: x, checks: [{ at: /a }] } }]\n",
        "summary: x\nproves: a.b\nsteps: [{ call: { method: x, answers: [sillent] } }]\n",
        "summary: x\nproves: a.b\nrevisions: draft\nsteps: [{ alive: true }]\n",
        "- id: a.b\n",
    ] {
        let value = tree::read(&Source::new("t.yaml", text)).0.unwrap().to_json().to_serde();
        assert!(!validator.is_valid(&value), "{text}");
    }
}
