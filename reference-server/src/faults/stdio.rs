//! Faults of the bytes: what stands on stdout, how lines are read, and how the server leaves.

use serde_json::Value;

use crate::edge::{Act, Hook::*, Leave, Row, row, stdio_row};
use crate::edit::*;
use crate::message::Refusal;

pub(super) const TABLE: &[Row] = &[
    stdio_row(
        "banner-on-stdout",
        "A greeting for people stands on stdout",
        &[Start(b"Litmus server ready\n")],
    ),
    stdio_row("bom-first", "Stdout begins with a byte order mark", &[Start(b"\xef\xbb\xbf")]),
    stdio_row(
        "chatter-on-stdout",
        "A log line follows the first message on stdout",
        &[Bytes(|memory, _, line| {
            if memory.count == 0 {
                line.extend_from_slice(b"[info] handled a request\n");
            }
            memory.count += 1;
        })],
    ),
    stdio_row(
        "blank-line",
        "A blank line follows each list",
        &[Bytes(|_, message, line| {
            if is_list(message) {
                line.push(b'\n')
            }
        })],
    ),
    stdio_row(
        "pretty-printed",
        "Lists are spread over several lines",
        &[Bytes(|_, message, line| {
            if let Some(text) = serde_json::to_vec_pretty(message).ok().filter(|_| is_list(message)) {
                *line = text;
                line.push(b'\n');
            }
        })],
    ),
    row(
        "not-utf8",
        "A byte in a name is not UTF-8",
        &[Bytes(|_, message, line| insert_after(message, line, b"\"name\":\"", b"\xff"))],
    ),
    row(
        "lone-surrogate",
        "A name holds half of a surrogate pair",
        &[Bytes(|_, message, line| insert_after(message, line, b"\"name\":\"", b"\\ud800"))],
    ),
    row(
        "duplicate-member",
        "Lists have jsonrpc twice",
        &[Bytes(|_, message, line| insert_after(message, line, b"{", b"\"jsonrpc\":\"2.0\","))],
    ),
    row(
        "nan-in-json",
        "Lists hold a number that JSON does not have",
        &[Bytes(|_, message, line| insert_after(message, line, b"{", b"\"score\":NaN,"))],
    ),
    row(
        "trailing-comma",
        "Lists end with a comma too many",
        &[Bytes(|_, message, line| {
            if is_list(message) && line.ends_with(b"}\n") {
                line.truncate(line.len() - 2);
                line.extend_from_slice(b",}\n");
            }
        })],
    ),
    stdio_row(
        "unfinished-last-line",
        "The last line breaks off",
        &[End(|_| Leave::Writing(b"{\"jsonrpc\":\"2.0\",\"method\":\"notif"))],
    ),
    stdio_row("end-of-input-ignored", "The server stays when its input ends", &[End(|_| Leave::Never)]),
    stdio_row(
        "exits-badly-at-end",
        "The server exits with 3 when its input ends",
        &[End(|_| Leave::Code(3))],
    ),
    row("read-kills", "A read ends the server", &[In(|_, message| die_if(asks(message, READ)))]),
    stdio_row(
        "crlf-input-refused",
        "A line that ends in CR LF is not understood",
        &[Line(|_, frame| {
            let answer = || Refusal::new(-32700, "Parse error").reply(&Value::Null);
            if frame.bytes.ends_with(b"\r") { Act::Answer(vec![answer()]) } else { Act::Pass }
        })],
    ),
    stdio_row(
        "chunked-input-broken",
        "Of a line that comes in pieces only the first is used",
        &[Line(|_, frame| {
            frame.bytes.truncate(frame.first);
            Act::Pass
        })],
    ),
    row(
        "long-line-kills",
        "A line of more than 64 KiB ends the server",
        &[Line(|_, frame| die_if(frame.bytes.len() > LONG))],
    ),
    stdio_row(
        "long-line-unanswered",
        "A line of more than 64 KiB is not answered",
        &[Line(|_, frame| drop_if(frame.bytes.len() > LONG))],
    ),
    stdio_row(
        "separator-ends-line",
        "A line is split at the character U+2028",
        &[Line(|_, frame| {
            if let Some(end) = frame.bytes.windows(3).position(|three| three == "\u{2028}".as_bytes()) {
                frame.bytes.truncate(end);
            }
            Act::Pass
        })],
    ),
    stdio_row(
        "long-line-cut",
        "A line is cut after 4 KiB",
        &[Line(|_, frame| {
            frame.bytes.truncate(4 << 10);
            Act::Pass
        })],
    ),
    stdio_row(
        "read-under-way-keeps-it",
        "The server stays when its input ends right after a read",
        &[
            In(|memory, message| {
                memory.flag = asks(message, READ);
                Act::Pass
            }),
            End(|memory| if memory.flag { Leave::Never } else { Leave::After(Vec::new()) }),
        ],
    ),
];

const LONG: usize = 64 << 10;

fn is_list(message: &Value) -> bool {
    message["result"].get("resources").is_some()
}

fn insert_after(message: &Value, line: &mut Vec<u8>, mark: &[u8], new: &[u8]) {
    let place = line.windows(mark.len()).position(|window| window == mark).map(|start| start + mark.len());
    if let Some(place) = place.filter(|_| is_list(message)) {
        line.splice(place..place, new.iter().copied());
    }
}
