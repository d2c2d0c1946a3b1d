//! What is wrong with a frame as a JSON-RPC message? One variant, one stable name and one sentence for each reason.

use super::json::{Blemish, JsonDefect};

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
    pub const NAMES: [&'static str; 20] = [
        "too-long",
        "not-utf8",
        "empty",
        "not-json",
        "too-deep",
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
