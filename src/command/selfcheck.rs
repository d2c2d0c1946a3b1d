//! `mcp-litmus selfcheck`: every fault and every lawful variant of the reference server against the cases.

use crate::case::catalogue::Catalogue;
use crate::cli::SelfcheckArguments;
use crate::run::Suite;
use crate::selfcheck;
use reference_server::{Fault, Options, Variant};
use std::io::{self, Write};
use std::sync::Arc;

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
    let mut trials = 0;
    let mut unsound = 0;
    let (sound, table) = selfcheck::run(&suite, |name, complaints| {
        trials += 1;
        unsound += usize::from(!complaints.is_empty());
        for complaint in complaints {
            let _ = writeln!(out, "{name}: {complaint}");
        }
    })
    .map_err(|error| error.to_string())?;
    if let Some(file) = &arguments.bless {
        std::fs::write(file, table)
            .map_err(|error| format!("`{}` cannot be written: {error}", file.display()))?;
    }
    let _ = writeln!(out, "{trials} trials, {unsound} unsound");
    Ok(sound)
}

/// One fault or variant, with all that it does to the record.
fn only(suite: &Arc<Suite>, name: &str, out: &mut impl Write) -> Result<bool, String> {
    let fault: Option<Fault> = name.parse().ok();
    let variant: Option<Variant> = name.parse().ok();
    let options = match (fault, variant) {
        (Some(fault), _) => selfcheck::with_fault(fault),
        (None, Some(variant)) => selfcheck::with_variant(variant),
        (None, None) if name == "clean" => Options::default(),
        (None, None) => {
            return Err(format!("`{name}` is no fault and no variant (`mcp-litmus reference --list`)"));
        }
    };
    let trial = selfcheck::judge(suite, options).map_err(|error| error.to_string())?;
    let style = crate::report::console::Style {
        colour: false,
        verbosity: crate::report::console::Verbosity::Verbose,
    };
    let _ = crate::report::console::write(&trial.record, out, style);
    let complaints = match (fault, variant) {
        (Some(fault), _) => selfcheck::fault_complaints(suite, fault, &trial),
        (None, Some(_)) => selfcheck::variant_complaints(&trial.record),
        (None, None) => selfcheck::clean_complaints(&trial.record),
    };
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
