//! Does a value meet a demand? Patterns, predicates and kept values; nothing of MCP.

pub mod bindings;
pub mod formats;
pub mod pattern;
pub mod phrase;
pub mod predicate;
pub mod sets;
