//! What is wrong with a frame as a JSON-RPC message? One variant, one stable name and one sentence for each reason.

use super::text::Text;

/// Longest pointer or name kept in a blemish, in bytes; what is longer ends in `…`.
pub(super) const NAME_KEPT: usize = 256;

/// An oddity that does not stop reading.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Blemish {
    /// The text begins with U+FEFF.
    #[error("a byte order mark stands before the text")]
    Bom,
    /// A name comes again in one object.
    #[error("member {} comes twice in {}", Text::from(name.as_str()), place(object))]
    DuplicateMember {
        /// JSON pointer of the object.
        object: String,
        /// The repeated name.
        name: String,
    },
    /// A string or a name holds half of a surrogate pair.
    #[error("a lone surrogate escape stands in {}", place(pointer))]
    LoneSurrogate {
        /// JSON pointer of the string, or of the member so named.
        pointer: String,
    },
}

/// Why a text is not read as JSON. Offsets count bytes from the start of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonDefect {
    /// Longer than the limit; nothing was read.
    #[error("the text has {length} bytes, more than the limit of {limit}")]
    TooLong {
        /// Bytes of the text.
        length: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("the text is not UTF-8 from byte {offset} on")]
    NotUtf8 {
        /// First byte that is not UTF-8.
        offset: usize,
    },
    /// No value at all, at most space.
    #[error("the text is empty")]
    Empty,
    /// Against the grammar.
    #[error("expected {expected} at byte {offset}, found {}", show_found(*found))]
    Syntax {
        /// Where.
        offset: usize,
        /// What the grammar has there, in words.
        expected: &'static str,
        /// What stands there; `None` is the end of the text.
        found: Option<char>,
    },
    /// Nested deeper than the limit.
    #[error("the value is nested deeper than {limit} levels at byte {offset}")]
    TooDeep {
        /// The bracket that is one too many.
        offset: usize,
        /// Levels allowed.
        limit: usize,
    },
    /// More values than the limit.
    #[error("the text holds more than {limit} values, from byte {offset} on")]
    TooMany {
        /// Where the first value beyond the limit begins.
        offset: usize,
        /// Values allowed.
        limit: usize,
    },
    /// A whole value, then something else.
    #[error("more text follows the value at byte {offset}")]
    Trailing {
        /// First byte that is neither value nor space.
        offset: usize,
    },
}

/// A reason to refuse a frame, or a flaw in one that could still be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// The text is no JSON, or beyond our limits.
    #[error(transparent)]
    Unreadable(#[from] JsonDefect),
    /// The text is JSON with an oddity.
    #[error(transparent)]
    Blemish(#[from] Blemish),
    /// A scalar where a message should be.
    #[error("a message is an object, this is {found}")]
    NotAnObject {
        /// The value, described.
        found: String,
    },
    /// An array where a message should be; `read_batch` reads its elements.
    #[error("the frame is a batch of {length} elements")]
    Batch {
        /// Number of elements.
        length: usize,
    },
    /// An object without `method`, `result` and `error`.
    #[error("the message has no `method`, `result` or `error`")]
    NoKind,
    /// More than one of `method`, `result` and `error`.
    #[error("the message has {} at once", list(members))]
    SeveralKinds {
        /// The members that exclude each other.
        members: Vec<&'static str>,
    },
    /// No `jsonrpc`.
    #[error("the message has no `jsonrpc`")]
    JsonrpcMissing,
    /// A `jsonrpc` other than the string 2.0.
    #[error("`jsonrpc` must be \"2.0\", this is {found}")]
    JsonrpcWrong {
        /// The value, described.
        found: String,
    },
    /// An `id` that is neither a string nor a whole number, where one must stand.
    #[error("`id` must be a string or a whole number, this is {found}")]
    IdWrongType {
        /// The value, described.
        found: String,
    },
    /// A result without an `id`.
    #[error("the result has no `id`")]
    IdMissing,
    /// A notification whose `id` is null instead of absent.
    #[error("a notification has no `id`, this has null")]
    IdOnNotification,
    /// A `method` that is no string.
    #[error("`method` must be a string, this is {found}")]
    MethodNotAString {
        /// The value, described.
        found: String,
    },
    /// `params` that are neither object nor array.
    #[error("`params` must be an object or an array, this is {found}")]
    ParamsNotStructured {
        /// The value, described.
        found: String,
    },
}

impl Defect {
    /// All names. They are permanent: cases and lists of known failures use them.
    pub const NAMES: [&'static str; 21] = [
        "too-long",
        "not-utf8",
        "empty",
        "not-json",
        "too-deep",
        "too-many-values",
        "trailing-text",
        "byte-order-mark",
        "duplicate-member",
        "lone-surrogate",
        "not-an-object",
        "batch",
        "no-kind",
        "several-kinds",
        "jsonrpc-missing",
        "jsonrpc-wrong",
        "id-wrong-type",
        "id-missing",
        "id-on-notification",
        "method-not-a-string",
        "params-not-structured",
    ];

    /// The stable name of this kind of defect, one of [`Defect::NAMES`].
    pub fn name(&self) -> &'static str {
        match self {
            Defect::Unreadable(JsonDefect::TooLong { .. }) => "too-long",
            Defect::Unreadable(JsonDefect::NotUtf8 { .. }) => "not-utf8",
            Defect::Unreadable(JsonDefect::Empty) => "empty",
            Defect::Unreadable(JsonDefect::Syntax { .. }) => "not-json",
            Defect::Unreadable(JsonDefect::TooDeep { .. }) => "too-deep",
            Defect::Unreadable(JsonDefect::TooMany { .. }) => "too-many-values",
            Defect::Unreadable(JsonDefect::Trailing { .. }) => "trailing-text",
            Defect::Blemish(Blemish::Bom) => "byte-order-mark",
            Defect::Blemish(Blemish::DuplicateMember { .. }) => "duplicate-member",
            Defect::Blemish(Blemish::LoneSurrogate { .. }) => "lone-surrogate",
            Defect::NotAnObject { .. } => "not-an-object",
            Defect::Batch { .. } => "batch",
            Defect::NoKind => "no-kind",
            Defect::SeveralKinds { .. } => "several-kinds",
            Defect::JsonrpcMissing => "jsonrpc-missing",
            Defect::JsonrpcWrong { .. } => "jsonrpc-wrong",
            Defect::IdWrongType { .. } => "id-wrong-type",
            Defect::IdMissing => "id-missing",
            Defect::IdOnNotification => "id-on-notification",
            Defect::MethodNotAString { .. } => "method-not-a-string",
            Defect::ParamsNotStructured { .. } => "params-not-structured",
        }
    }
}

fn list(members: &[&str]) -> String {
    let quoted: Vec<_> = members.iter().map(|member| format!("`{member}`")).collect();
    quoted.join(" and ")
}

/// The text, or its beginning and `…`.
pub(super) fn clip(text: &str) -> String {
    if text.len() <= NAME_KEPT {
        return text.to_owned();
    }
    let kept: String = text.char_indices().take_while(|(at, _)| *at < NAME_KEPT).map(|(_, c)| c).collect();
    kept + "…"
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the outermost value".to_owned() } else { Text::from(pointer).to_string() }
}

fn show_found(found: Option<char>) -> String {
    found.map_or("the end of the text".to_owned(), |found| format!("`{}`", found.escape_default()))
}
