//! `mcp-litmus selfcheck`: every fault and every lawful variant of the reference server against the cases.

use crate::case::catalogue::Catalogue;
use crate::cli::SelfcheckArguments;
use crate::detection;
use crate::report::console;
use crate::run::Suite;
use crate::selfcheck::{self, Subject, Trial};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs the command: 0 if the cases hold, 1 if not, 2 for a wrong name or file.
pub fn run(arguments: &SelfcheckArguments) -> u8 {
    match attempt(arguments) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            2
        }
    }
}

fn attempt(arguments: &SelfcheckArguments) -> Result<bool, String> {
    let catalogue = Catalogue::embedded().map_err(|error| super::check::describe(&error))?;
    let suite = Arc::new(Suite::select(&catalogue, &[]).map_err(|error| error.to_string())?);
    let mut out = io::stdout().lock();
    if let Some(name) = &arguments.only {
        return only(&suite, name, &mut out);
    }
    let mut unsound = 0;
    let (mut kills, mut rows) = (BTreeMap::new(), BTreeMap::new());
    let subjects = Subject::all();
    for (subject, attempt) in subjects.iter().zip(attempt_all(&suite, &subjects)) {
        let (trial, complaints) = attempt.map_err(|error| error.to_string())?;
        unsound += usize::from(!complaints.is_empty());
        for complaint in complaints {
            let _ = writeln!(out, "{}: {complaint}", subject.name());
        }
        if let Subject::Fault(fault) = subject {
            kills.insert(fault.name(), selfcheck::killers(&trial.record));
            rows.insert(fault.name().to_owned(), detection::row(&suite, *fault, &trial));
        }
    }
    if let Some(file) = &arguments.bless {
        let write = |file: &Path, text: String| {
            std::fs::write(file, text)
                .map_err(|error| format!("`{}` cannot be written: {error}", file.display()))
        };
        write(file, selfcheck::table(&kills))?;
        let page = file.with_file_name("../docs/detection.md");
        if page.is_file() {
            write(&page, detection::page(&suite, &rows))?;
        }
    }
    let _ = writeln!(out, "{} trials, {unsound} unsound", subjects.len());
    Ok(unsound == 0)
}

type Attempt = io::Result<(Trial, Vec<String>)>;

/// All subjects, on as many threads as there are processors, in their order.
fn attempt_all(suite: &Arc<Suite>, subjects: &[Subject]) -> Vec<Attempt> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let mut attempts: Vec<(usize, Attempt)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some((index, subject)) = Some(next.fetch_add(1, Ordering::Relaxed))
                .and_then(|index| Some((index, subjects.get(index)?)))
            {
                done.push((index, subject.attempt(suite)));
            }
            done
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    attempts.sort_by_key(|(index, _)| *index);
    attempts.into_iter().map(|(_, attempt)| attempt).collect()
}

/// One fault or variant, with all that it does to the record.
fn only(suite: &Arc<Suite>, name: &str, out: &mut impl Write) -> Result<bool, String> {
    let subject = Subject::named(name)
        .ok_or_else(|| format!("`{name}` is no fault and no variant (`mcp-litmus reference --list`)"))?;
    let (trial, complaints) = subject.attempt(suite).map_err(|error| error.to_string())?;
    let style = console::Style { colour: false, verbosity: console::Verbosity::Verbose };
    let _ = console::write(&trial.record, out, style);
    for complaint in &complaints {
        let _ = writeln!(out, "{complaint}");
    }
    let _ = writeln!(
        out,
        "fired {} times; noticed by: {}",
        trial.fired,
        selfcheck::killers(&trial.record).join(" ")
    );
    Ok(complaints.is_empty())
}
