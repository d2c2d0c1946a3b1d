//! A Model Context Protocol server whose Resources behave as the specification says, in all revisions, and that can
//! be made to go wrong in one place at a time. It shares no code with the test suite that it proves.
//!
//! A reader who wants to learn the protocol starts at `conversation` and follows its calls:
//!
//! ```text
//! stdio          bytes in, bytes out           lines          where a message ends
//! http           requests in, streams out
//! server         frames to messages and back   edge, memory   where faults and variants reach in
//! conversation   what is said to each message
//!   opening      initialize, server/discover, the _meta of each request
//!   resources    list, templates/list, read    store, catalogue    what there is
//!   paging       cursors                       template            URI templates, matched
//!   asking       reads that need an answer of the user first
//!   subscriptions, completion, tools, logging
//! revision       what each revision defines    message        JSON-RPC
//! ```

mod asking;
mod catalogue;
mod completion;
mod control;
mod conversation;
mod edge;
mod edit;
mod faults;
mod http;
mod lines;
mod logging;
mod memory;
mod message;
mod opening;
mod paging;
mod resources;
mod revision;
mod server;
mod settings;
mod stdio;
mod store;
mod subscriptions;
mod template;
mod tools;
mod variants;

use std::path::PathBuf;

pub use edge::{Firings, Transport};
pub use faults::Fault;
pub use http::Site;
pub use revision::{Revision, UnknownRevision};
pub use stdio::{serve, serve_and_log};
pub use variants::Variant;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The revisions it speaks, in any order; all of them by default.
    pub revisions: Vec<Revision>,
    /// What goes wrong; nothing by default.
    pub fault: Option<Fault>,
    /// In what it differs lawfully; the later ones prevail.
    pub variants: Vec<Variant>,
    /// A file whose appended lines (`touch URI`, `add URI`, `remove URI`) change resources.
    pub control: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { revisions: Revision::ALL.to_vec(), fault: None, variants: Vec::new(), control: None }
    }
}

/// How a server came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The client closed its end, or stopped listening. A process exits with 0.
    EndOfInput,
    /// A fault ended it; a process exits with this code.
    Died(i32),
}
