//! The reference server on stdin and stdout, or on HTTP.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Parser;
use reference_server::{Ending, Fault, Firings, Options, Revision, Site, Variant, serve_and_log};

/// Serves Resources over stdio, or over HTTP on 127.0.0.1, as the specification describes them, or wrongly on demand
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Serve over HTTP, on this port of 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// What goes wrong; `--list` tells what can
    #[arg(long, value_name = "NAME")]
    fault: Option<Fault>,
    /// A lawful difference; may be given several times
    #[arg(long = "variant", value_name = "NAME")]
    variants: Vec<Variant>,
    /// The revisions to speak, separated by commas [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    revisions: Vec<Revision>,
    /// A file whose appended lines change resources: `touch URI`, `add URI`, `remove URI`
    #[arg(long, value_name = "FILE")]
    control: Option<PathBuf>,
    /// Print the faults and variants, and exit
    #[arg(long)]
    list: bool,
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    if arguments.list {
        return list();
    }
    let mut options = Options { fault: arguments.fault, variants: arguments.variants, ..Options::default() };
    if !arguments.revisions.is_empty() {
        options.revisions = arguments.revisions;
    }
    options.control = arguments.control;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ending = runtime.block_on(async {
        let Some(port) = arguments.http else {
            let (input, output, log) = (tokio::io::stdin(), tokio::io::stdout(), tokio::io::stderr());
            return Ok(serve_and_log(input, output, log, options, Firings::default()).await);
        };
        let listener = Site::bind(port).await?;
        writeln!(std::io::stderr(), "listening on http://{}/mcp", listener.local_addr()?)?;
        std::io::Result::Ok(Site::new(options, Firings::default()).listen(listener).await)
    })?;
    // A read of stdin may still be under way on a thread of the runtime; it must not keep the process.
    std::process::exit(match ending {
        Ending::EndOfInput => 0,
        Ending::Died(code) => code,
    })
}

fn list() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for fault in Fault::ALL {
        writeln!(out, "fault    {:32} {}", fault.name(), fault.about())?;
    }
    for variant in Variant::ALL {
        writeln!(out, "variant  {:32} {}", variant.name(), variant.about())?;
    }
    Ok(())
}
