//! What can be asked on the command line? Arguments and their help; `command/` does what they say.

use crate::record::Transport;
use crate::revision::Revision;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Does an MCP server keep the rules for Resources? Conformance cases with proof, in seconds
#[derive(Debug, Parser)]
#[command(name = "mcp-litmus", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Judge a server; without a target, the bundled reference server
    Check(Box<CheckArguments>),
    /// Look at the cases themselves
    Cases(CasesArguments),
    /// Run the bundled reference server, on stdin and stdout or on HTTP
    Reference(ReferenceArguments),
    /// Try every fault and every lawful variant of the reference server against the cases
    Selfcheck(SelfcheckArguments),
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Revisions to test: `auto`, `all`, or one of them
    #[arg(long, value_name = "REVISION", default_value = "auto", value_parser = revisions)]
    pub revision: RevisionChoice,
    /// Only these cases: `read/text-xor-blob`, `read/*`, `**`; may be given several times
    #[arg(short = 'c', long = "case", value_name = "PATTERN")]
    pub cases: Vec<String>,
    /// Which verdicts fail the run: `must`, or `should` for advice too
    #[arg(long, value_enum, default_value_t = Level::Must)]
    pub level: Level,
    /// How to start the server and how to make it change [default: ./litmus.yaml, where it exists]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// A directory with cases of your own, beside the built-in ones
    #[arg(long = "cases", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// How many servers run at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
    /// For the answer to one request: `500ms`, `10s`, `1m`; a bare number is seconds [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = limit)]
    pub timeout: Option<Duration>,
    /// From the start of the server to its first answer, in each conversation [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = limit)]
    pub start_timeout: Option<Duration>,
    /// For the run as a whole; what was not reached by then is unproven
    #[arg(long, value_name = "DURATION", value_parser = limit)]
    pub deadline: Option<Duration>,
    /// The longest line that is read from the server, in bytes: `64M`, `512K`
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_message: Option<usize>,
    /// Write JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the complete record as JSON; `-` for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Save every conversation as JSON Lines
    #[arg(long, value_name = "DIR")]
    pub transcripts: Option<PathBuf>,
    /// What was not shown fails the run too
    #[arg(long)]
    pub require_proof: bool,
    /// Chooses samples, made-up names, and the order of the cases that share a session; 0 leaves it as it is
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print the names of the cases that would run, and run none
    #[arg(long)]
    pub list: bool,
    /// Colour: on terminals (`NO_COLOR` is heeded), always or never
    #[arg(long, value_enum, default_value_t = Colour::Auto)]
    pub color: Colour,
    /// Advice and notes in full, whole frames, and every case that did not run
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Failures and the summary only
    #[arg(short, long)]
    pub quiet: bool,
    /// A server over HTTP: its MCP endpoint. With a command, that is started first, and `${port}` in both is a free port
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Goes with every request over HTTP: `'Authorization: Bearer ...'`; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Which server of the profile, where it names one for each
    #[arg(long, value_name = "TRANSPORT", value_parser = transport)]
    pub transport: Option<Transport>,
    /// The server to judge, as a command line after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub target: Vec<std::ffi::OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevisionChoice {
    Auto,
    All,
    One(Revision),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Level {
    Must,
    Should,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub struct CasesArguments {
    /// A directory with cases of your own, beside the built-in ones
    #[arg(long = "cases", value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    #[command(subcommand)]
    pub command: CasesCommand,
}

#[derive(Debug, Subcommand)]
pub enum CasesCommand {
    /// List the cases
    List {
        /// Only these
        #[arg(value_name = "PATTERN")]
        patterns: Vec<String>,
    },
    /// What a case sends, what proves it, why it matters, and how to mend what it finds
    Explain {
        /// A case, a pattern of cases, or a requirement: `read/blob-encoded`, `read/*`, `read.blob-encoded`
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Check case files; without any, the built-in ones
    Lint {
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print the JSON Schema of case and requirement files
    Schema,
    /// Which requirements are proven, and why the others are not
    Coverage,
}

#[derive(Debug, Args)]
pub struct ReferenceArguments {
    /// Serve over HTTP, on this port of 127.0.0.1; 0 takes a free one, which standard error tells
    #[arg(long, value_name = "PORT")]
    pub http: Option<u16>,
    /// What goes wrong; `--list` tells what can
    #[arg(long, value_name = "NAME")]
    pub fault: Option<reference_server::Fault>,
    /// A lawful difference; may be given several times
    #[arg(long = "variant", value_name = "NAME")]
    pub variants: Vec<reference_server::Variant>,
    /// The revisions to speak, separated by commas [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub revisions: Vec<reference_server::Revision>,
    /// A file whose appended lines change resources: `touch URI`, `add URI`, `remove URI`
    #[arg(long, value_name = "FILE")]
    pub control: Option<PathBuf>,
    /// Print the faults and variants, and exit
    #[arg(long)]
    pub list: bool,
}

#[derive(Debug, Args)]
pub struct SelfcheckArguments {
    /// Rewrite the table of faults against cases, and ../docs/detection.md beside it, where there is one
    #[arg(long, value_name = "FILE")]
    pub bless: Option<PathBuf>,
    /// Only this fault or variant, in full
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
}

fn revisions(text: &str) -> Result<RevisionChoice, String> {
    match text {
        "auto" => Ok(RevisionChoice::Auto),
        "all" => Ok(RevisionChoice::All),
        other => other
            .parse()
            .map(RevisionChoice::One)
            .map_err(|error: crate::revision::UnknownRevision| format!("{error}, nor `auto` or `all`")),
    }
}

fn transport(text: &str) -> Result<Transport, String> {
    let found = [Transport::Stdio, Transport::Http].into_iter().find(|transport| transport.as_str() == text);
    found.ok_or_else(|| "neither `stdio` nor `http`; which HTTP it is shows by itself".to_owned())
}

/// A duration that leaves time for something: with none, a server that does nothing wrong would fail.
fn limit(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err(format!("`{text}` leaves no time: try `500ms`, `60s` or `10m`")),
        limit => Ok(limit),
    }
}

/// `500ms`, `60s`, `10m`; a bare number is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 =
        number.parse().map_err(|_| format!("`{text}` is no duration: try `500ms`, `60s` or `10m`"))?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "" | "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        _ => Err(format!("`{unit}` is no unit of time: ms, s or m")),
    }
}

fn size(text: &str) -> Result<usize, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: usize = number.parse().map_err(|_| format!("`{text}` is no size: try `64M` or `512K`"))?;
    let factor = match unit {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        _ => return Err(format!("`{unit}` is no unit of size: K or M")),
    };
    number.checked_mul(factor).filter(|size| *size > 0).ok_or_else(|| format!("`{text}` is out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_and_sizes() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("1h").is_err() && duration("").is_err());
        assert!(limit("0").is_err() && limit("0ms").is_err() && limit("1ms").is_ok());
        assert_eq!(size("64M"), Ok(64 << 20));
        assert!(size("0").is_err() && size("99999999999999999999M").is_err());
    }
}
