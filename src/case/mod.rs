//! What are the rules, and how are they written down? Case files and requirement rows.

pub mod catalogue;
pub mod describe;
pub mod language;
pub mod lint;
pub mod load;
pub mod model;
pub mod names;
pub mod schema;
pub mod source;
pub mod specification;
pub mod tree;
