//! Is every case able to fail, and does none cry wolf? A trial for the clean server, each variant and each fault.

use libtest_mimic::{Arguments, Failed, Trial};
use mcp_litmus::case::catalogue::Catalogue;
use mcp_litmus::detection;
use mcp_litmus::run::Suite;
use mcp_litmus::selfcheck::{Subject, killers, table_line};
use reference_server::Fault;
use std::process::ExitCode;
use std::sync::Arc;

/// Hundreds of thousands of small messages are read here, and most of the time would go into malloc.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const KILLS: &str = include_str!("../cases/kills.txt");
const PAGE: &str = include_str!("../docs/detection.md");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let catalogue = Catalogue::embedded().expect("the cases load");
    let suite = Arc::new(Suite::select(&catalogue, &[]).expect("no pattern can be wrong"));
    let mut trials: Vec<Trial> = Subject::all()
        .into_iter()
        .map(|subject| {
            let suite = suite.clone();
            Trial::test(subject.name(), move || attempt(subject, &suite))
        })
        .collect();
    trials.push(Trial::test("the table names every fault once", every_fault_once));
    trials.push(Trial::test("the page around the faults is current", move || page_is_current(&suite)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn attempt(subject: Subject, suite: &Arc<Suite>) -> Result<(), Failed> {
    let (trial, mut complaints) = subject.attempt(suite).map_err(|error| error.to_string())?;
    if let Subject::Fault(fault) = subject {
        let line = table_line(fault.name(), &killers(&trial.record));
        let row = detection::row(suite, fault, &trial);
        if !PAGE.lines().any(|known| known == row) {
            complaints.push(format!("docs/detection.md says otherwise: {row}"));
        }
        if !KILLS.lines().any(|known| known == line) {
            complaints.push(format!(
                "the table says otherwise: {line}\nafter a look at the difference, \
                 `mcp-litmus selfcheck --bless cases/kills.txt` rewrites it, and docs/detection.md"
            ));
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n").into()) }
}

fn page_is_current(suite: &Suite) -> Result<(), Failed> {
    if detection::page(suite, &detection::rows_of(PAGE)) == PAGE {
        return Ok(());
    }
    Err("docs/detection.md differs: `mcp-litmus selfcheck --bless cases/kills.txt` rewrites it".into())
}

fn every_fault_once() -> Result<(), Failed> {
    let named: Vec<&str> = KILLS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(':').next())
        .collect();
    let mut known: Vec<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
    known.sort_unstable();
    if named == known { Ok(()) } else { Err("the faults and the table differ".into()) }
}
