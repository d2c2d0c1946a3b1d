//! What do these bytes say? Bytes to lines, lines to JSON, JSON to JSON-RPC messages, each refusal with its reason.
//!
//! Pure functions of bytes, within limits: no transport, no clock, nothing of MCP beyond the envelope.
//! Whether a well-formed message is the *right* one is for the cases to say.

pub mod defect;
pub mod events;
pub mod json;
pub mod lines;
pub mod message;
mod number;
mod object;
pub mod oracle;
mod print;
mod scan;
mod text;

pub use crate::wire_json as json;
pub use defect::Defect;
pub use json::{Blemish, Json, JsonDefect, Limits, Number, Object, Parsed, Text, parse};
pub use lines::{Ending, Line, LineSplitter};
pub use message::{Id, Message, Reading, read, read_batch};
