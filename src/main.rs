//! Exit codes, nothing else.

use clap::Parser;
use mcp_litmus::cli::{Cli, Command};
use mcp_litmus::command;
use std::process::ExitCode;

/// Trials of a selfcheck run beside each other, and judge in a third of the time that the C library's takes.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let code = match Cli::parse().command {
        Command::Check(arguments) => command::check::run(&arguments),
        Command::Cases(arguments) => command::run_cases(arguments),
        Command::Reference(arguments) => command::reference::run(&arguments),
        Command::Selfcheck(arguments) => command::selfcheck::run(&arguments),
    };
    ExitCode::from(code)
}
