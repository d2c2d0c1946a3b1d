//! Which parts of a value are meant? A JSON Pointer in which `*` stands for every element and `**` for any depth.

/// A parsed pattern: `/contents/*/blob`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A member's name or an array index.
    Name(String),
    /// Every element of an array or member of an object.
    Each,
    /// This value and everything below it.
    Anywhere,
}
