//! The committed cases, whole.
#![allow(clippy::unwrap_used, clippy::panic)]

use mcp_litmus::case::catalogue::{Catalogue, CatalogueError};

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
