//! What are the rules, and how are they written down? Case files and requirement rows.

pub mod model;
