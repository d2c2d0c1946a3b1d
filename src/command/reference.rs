//! `mcp-litmus reference`: the bundled reference server on stdin and stdout, clean, faulty or lawfully different.

use crate::cli::ReferenceArguments;
use reference_server::{Ending, Fault, Firings, Options, Variant, serve_and_log};
use std::io::{self, Write};

/// Runs the command; the exit code, which is the server's.
pub fn run(arguments: &ReferenceArguments) -> u8 {
    if arguments.list {
        let mut out = io::stdout().lock();
        for fault in Fault::ALL {
            let _ = writeln!(out, "fault    {:32} {}", fault.name(), fault.about());
        }
        for variant in Variant::ALL {
            let _ = writeln!(out, "variant  {:32} {}", variant.name(), variant.about());
        }
        return 0;
    }
    let mut options = Options {
        fault: arguments.fault,
        variants: arguments.variants.clone(),
        control: arguments.control.clone(),
        ..Options::default()
    };
    if !arguments.revisions.is_empty() {
        options.revisions.clone_from(&arguments.revisions);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: no runtime: {error}");
            return 3;
        }
    };
    let (input, output, log) = (tokio::io::stdin(), tokio::io::stdout(), tokio::io::stderr());
    let ending = runtime.block_on(serve_and_log(input, output, log, options, Firings::default()));
    // A read of stdin may still be under way on a thread of the runtime; it must not keep the process.
    runtime.shutdown_background();
    match ending {
        Ending::EndOfInput => 0,
        Ending::Died(status) => u8::try_from(status).unwrap_or(101),
    }
}
