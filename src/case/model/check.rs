//! What can be demanded of a value? Checks and predicates, and the templates that stand for values.

use crate::check::pattern::Pattern;
use crate::record::Place;
use crate::wire::json::{Json, Number};

/// A value with references in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    Literal(Json),
    /// A string; when it is a single reference, the value itself, of whatever type.
    Text(Vec<Piece>),
    Array(Vec<Template>),
    Object(Vec<(String, Template)>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(String),
    Reference(Reference),
}

/// `${name}` or `${name/pointer}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    pub name: String,
    /// An RFC 6901 pointer, empty for the whole value.
    pub pointer: String,
    /// `${name/pointer?}`: without a value, the member of an object whose value it is is left out.
    pub is_optional: bool,
}

/// One demand on part of a value.
#[derive(Debug, Clone)]
pub struct Check {
    /// In place of the object at hand.
    pub of: Option<Template>,
    pub at: Pattern,
    pub predicate: Predicate,
    /// Absence is fine (`or: absent`); what met only absence proves nothing.
    pub or_absent: bool,
    pub or_null: bool,
    /// What a breach means, in place of the demand: for what is checked on an object of ours, whose names nobody knows.
    pub says: Option<String>,
    pub place: Place,
}

#[derive(Debug, Clone)]
pub enum Predicate {
    Equals(Template),
    Differs(Template),
    /// Any of these types or formats.
    Is(Vec<Type>),
    OneOf(Template),
    NoneOf(Template),
    /// A regular expression, anywhere in the string.
    Matches(regex::Regex),
    /// How many values the pattern matched. This template, as those of `Length` and `Bytes`, is an object with
    /// `at_least`, `at_most` or both.
    Count(Template),
    /// Characters of a string, items of an array, members of an object.
    Length(Template),
    /// A number within both ends.
    Between(Option<Number>, Option<Number>),
    /// All matched values differ from one another.
    Unique,
    /// The object has exactly one of these members.
    OneKeyOf(Vec<String>),
    Has(Vec<String>),
    Lacks(Vec<String>),
    /// The array holds the value.
    Includes(Template),
    /// The array holds none of the values.
    Excludes(Template),
    /// Every member's name matches.
    KeysMatch(regex::Regex),
    /// The matched values are the same set as the array, whatever the order.
    SameSet(Template),
    SubsetOf(Template),
    DisjointFrom(Template),
    /// Raw bytes of a base64 string, or of a content item with its text or blob.
    Bytes(Template),
    /// The URI is this one or lies below it, after normalisation.
    AtOrBelow(Template),
}

/// What `is:` can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    Absent,
    Present,
    Null,
    Boolean,
    /// Mathematically integral.
    Integer,
    Number,
    String,
    Array,
    Object,
    /// RFC 3986, with a scheme.
    Uri,
    /// Begins with a scheme and a colon; other characters are not looked at.
    Schemed,
    /// RFC 6570; literal characters outside the grammar are not looked at, expressions are.
    UriTemplate,
    /// RFC 4648 section 4: alphabet, padding, no line breaks; pad bits are not looked at.
    Base64,
    /// As `base64`, and the pad bits are zero.
    CanonicalBase64,
    /// type/subtype with optional parameters.
    Mime,
    /// ISO 8601 date and time.
    Timestamp,
    /// A published protocol revision.
    Revision,
    /// A string without line breaks, not empty.
    OneLine,
}
