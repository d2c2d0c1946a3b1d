//! `mcp-litmus reference`: the bundled reference server on stdin and stdout or on HTTP, clean, faulty or lawfully different.

use crate::cli::ReferenceArguments;
use reference_server::{Ending, Fault, Firings, Options, Site, Variant, serve_and_log};
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
    let ending = runtime.block_on(async {
        match arguments.http {
            Some(port) => listen(port, options).await,
            None => {
                let (input, output, log) = (tokio::io::stdin(), tokio::io::stdout(), tokio::io::stderr());
                Ok(serve_and_log(input, output, log, options, Firings::default()).await)
            }
        }
    });
    // A read of stdin may still be under way on a thread of the runtime; it must not keep the process.
    runtime.shutdown_background();
    match ending {
        Ok(Ending::EndOfInput) => 0,
        Ok(Ending::Died(status)) => u8::try_from(status).unwrap_or(101),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: cannot listen on 127.0.0.1: {error}");
            3
        }
    }
}

/// Serves over HTTP, on this machine only. Who waits for the server reads its address from the first line.
async fn listen(port: u16, options: Options) -> io::Result<Ending> {
    let listener = Site::bind(port).await?;
    writeln!(io::stderr(), "listening on http://{}/mcp", listener.local_addr()?)?;
    Ok(Site::new(options, Firings::default()).listen(listener).await)
}
