//! Faults of the messages themselves: versions, ids, results and errors.

use crate::edge::{Hook::*, Row, object, row};

pub(super) const TABLE: &[Row] = &[row(
    "jsonrpc-missing",
    "Replies do not say which JSON-RPC they follow",
    &[Reply(|_, _, mut reply| {
        object(&mut reply).remove("jsonrpc");
        vec![reply]
    })],
)];
