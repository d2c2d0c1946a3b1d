//! mcp-litmus: does a Model Context Protocol server keep the rules for Resources, and how do you know?

pub mod bundled;
pub mod case;
pub mod check;
pub mod cli;
pub mod command;
pub mod detection;
pub mod dialect;
pub mod judge;
pub mod mask;
pub mod nearest;
pub mod peer;
pub mod profile;
pub mod record;
pub mod report;
pub mod revision;
pub mod run;
pub mod selfcheck;
pub mod session;
pub mod time_limits;
pub mod transcript;
pub mod uri_template;
pub mod wire;
