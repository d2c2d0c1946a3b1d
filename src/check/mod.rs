//! Does a value meet a demand? Patterns, predicates and kept values; nothing of MCP.

pub mod pattern;
