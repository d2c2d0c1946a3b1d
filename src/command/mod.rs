//! What does each subcommand do? Plain functions of parsed arguments: they write, and give an exit code.

use crate::bundled;
use crate::cli::{CasesArguments, CasesCommand};
use std::io::{self, IsTerminal};

pub mod cases;
pub mod check;
pub mod explain;
pub mod reference;
pub mod selfcheck;

/// `cases`, on the standard streams.
pub fn run_cases(arguments: CasesArguments) -> u8 {
    let request = match arguments.command {
        CasesCommand::List { patterns } => cases::Request::List { patterns },
        CasesCommand::Explain { name } => cases::Request::Explain { name },
        CasesCommand::Lint { files } => cases::Request::Lint { paths: files },
        CasesCommand::Schema => cases::Request::Schema,
        CasesCommand::Coverage => cases::Request::Coverage,
    };
    let (faults, variants) = (bundled::fault_names(), bundled::variant_names());
    let context = cases::Context {
        directory: arguments.directory,
        server: Some(crate::case::lint::ServerNames { faults: &faults, variants: &variants }),
        is_styled: io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    };
    match cases::run(&request, &context, &mut io::stdout().lock(), &mut io::stderr().lock()) {
        Ok(code) => code,
        // Whoever reads us may stop reading, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(_) => 2,
    }
}
