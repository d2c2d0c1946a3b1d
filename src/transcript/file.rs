//! How is a transcript kept in a file? As JSON Lines: a head, then one line for each entry.
//!
//! `docs/transcript.md` describes the format for others. Reading back what was written gives the same
//! transcript, but for secrets, which are masked on the way out, and times, which are kept to the microsecond.

use super::{Channel, Ending, Entry, Exit, Head, Transcript};
use crate::mask::{MASKED, Masks};
use crate::record::Transport;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, Read, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The value of the head's `format` member.
pub const FORMAT: &str = "mcp-litmus-transcript/1";

/// The longest line that is read, in bytes: eight times the usual limit of a message, since a control
/// character takes six bytes in JSON.
const LONGEST_LINE: u64 = 512 * 1024 * 1024;

/// The text is not a transcript.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    #[error("line {line}: {reason}")]
    Malformed {
        /// Counted from 1.
        line: usize,
        reason: String,
    },
    #[error("line {line}: reading failed: {source}")]
    Unreadable { line: usize, source: io::Error },
}

#[derive(Serialize, Deserialize)]
struct HeadLine<'t> {
    format: Cow<'t, str>,
    conversation: u32,
    transport: Cow<'t, str>,
    revision: Cow<'t, str>,
    purpose: Cow<'t, str>,
}

#[derive(Serialize, Deserialize)]
struct EntryLine<'t> {
    sequence: u64,
    at_us: u64,
    channel: Cow<'t, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'t, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ending: Option<Cow<'t, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    case: Option<Cow<'t, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    deliberate: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    masked: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exchange: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit: Option<ExitLine>,
}

#[derive(Serialize, Deserialize)]
struct ExitLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    by_us: bool,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Writes a transcript. Several may follow one another in one file.
///
/// # Errors
/// Those of `to`.
pub fn write(transcript: &Transcript, mut to: impl Write, masks: &Masks) -> io::Result<()> {
    let head = &transcript.head;
    let line = HeadLine {
        format: FORMAT.into(),
        conversation: head.conversation,
        transport: head.transport.as_str().into(),
        revision: head.revision.as_str().into(),
        purpose: masks.apply(&head.purpose).0,
    };
    write_line(&line, &mut to)?;
    let mut streams = streams(transcript, masks);
    for entry in &transcript.entries {
        let (bytes, masked) = match stream_of(entry).and_then(|stream| streams.get_mut(&stream)) {
            Some(stream) => {
                let window = stream.written..stream.written + entry.bytes.len();
                stream.written = window.end;
                mask_piece(&entry.bytes, &window, &stream.secrets)
            }
            None => masks.apply_bytes(&entry.bytes),
        };
        write_line(&entry_line(entry, &bytes, masked), &mut to)?;
    }
    Ok(())
}

fn write_line(line: &impl Serialize, mut to: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut to, line)?;
    to.write_all(b"\n")
}

fn entry_line<'t>(entry: &'t Entry, bytes: &'t [u8], masked: usize) -> EntryLine<'t> {
    let (text, base64) = match std::str::from_utf8(bytes) {
        Ok("") => (None, None),
        Ok(text) => (Some(text.into()), None),
        Err(_) => (None, Some(STANDARD.encode(bytes))),
    };
    let (ending, whole_bytes) = match entry.ending {
        Ending::Lf => (Some("lf"), None),
        Ending::CrLf => (Some("crlf"), None),
        Ending::Unfinished => (Some("unfinished"), None),
        Ending::TooLong(bytes) => (Some("too-long"), Some(bytes)),
        Ending::None => (None, None),
    };
    EntryLine {
        sequence: entry.sequence,
        at_us: u64::try_from(entry.at.as_micros()).unwrap_or(u64::MAX),
        channel: channel_name(entry.channel).into(),
        text,
        base64,
        ending: ending.map(Into::into),
        whole_bytes,
        case: entry.case.as_deref().map(Into::into),
        deliberate: entry.deliberate,
        masked,
        exchange: entry.exchange,
        exit: entry.exit.map(|Exit { status, signal, by_us }| ExitLine { status, signal, by_us }),
    }
}

/// What comes in pieces cut anywhere, so that a secret may lie across two of them: it is looked for in the whole.
#[derive(Default)]
struct Stream {
    secrets: Vec<Range<usize>>,
    /// Bytes of it that are written.
    written: usize,
}

/// Standard error is one stream, and each body another.
fn stream_of(entry: &Entry) -> Option<(Channel, Option<u64>)> {
    matches!(entry.channel, Channel::Stderr | Channel::Body).then_some((entry.channel, entry.exchange))
}

fn streams(transcript: &Transcript, masks: &Masks) -> HashMap<(Channel, Option<u64>), Stream> {
    let mut pieces: HashMap<_, Vec<&[u8]>> = HashMap::new();
    for entry in &transcript.entries {
        if let Some(stream) = stream_of(entry) {
            pieces.entry(stream).or_default().push(&entry.bytes);
        }
    }
    let searched = |pieces: Vec<&[u8]>| Stream { secrets: masks.find(&pieces.concat()), written: 0 };
    pieces.into_iter().map(|(stream, pieces)| (stream, searched(pieces))).collect()
}

/// Masks the piece that is `window` of the whole. Where a secret begins, the mask stands; the part of it that
/// falls into later pieces is left out there, and counted there too.
fn mask_piece<'t>(
    piece: &'t [u8],
    window: &Range<usize>,
    secrets: &[Range<usize>],
) -> (Cow<'t, [u8]>, usize) {
    let first = secrets.partition_point(|secret| secret.end <= window.start);
    let touched = secrets[first..].iter().take_while(|secret| secret.start < window.end);
    let mut masked = Vec::new();
    let (mut count, mut rest) = (0, 0);
    for secret in touched {
        let start = secret.start.saturating_sub(window.start);
        masked.extend_from_slice(&piece[rest..start]);
        if secret.start >= window.start {
            masked.extend_from_slice(MASKED.as_bytes());
        }
        rest = secret.end.min(window.end) - window.start;
        count += 1;
    }
    if count == 0 {
        return (Cow::Borrowed(piece), 0);
    }
    masked.extend_from_slice(&piece[rest..]);
    (Cow::Owned(masked), count)
}

/// Reads every transcript of a file.
///
/// # Errors
/// The first line that is not as the format says, or could not be read. Unknown members are ignored.
pub fn read(mut from: impl BufRead) -> Result<Vec<Transcript>, TranscriptError> {
    let mut transcripts: Vec<Transcript> = Vec::new();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        from.by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
            .map_err(|source| TranscriptError::Unreadable { line, source })?;
        if bytes.is_empty() {
            break;
        }
        let malformed = |reason: String| TranscriptError::Malformed { line, reason };
        if bytes.len() as u64 == LONGEST_LINE {
            return Err(malformed(format!("it is longer than {LONGEST_LINE} bytes")));
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match read_line(&bytes).map_err(malformed)? {
            Line::Head(head) => transcripts.push(Transcript::new(head)),
            Line::Entry(entry) => match transcripts.last_mut() {
                Some(transcript) => transcript.entries.push(entry),
                None => return Err(malformed("an entry before any head".to_owned())),
            },
        }
    }
    Ok(transcripts)
}

enum Line {
    Head(Head),
    Entry(Entry),
}

/// What tells a head from an entry.
#[derive(Deserialize)]
struct Kind<'t> {
    #[serde(borrow)]
    format: Option<Cow<'t, str>>,
}

fn read_line(line: &[u8]) -> Result<Line, String> {
    let explain = |error: serde_json::Error| format!("column {}: {error}", error.column());
    let kind: Kind = serde_json::from_slice(line).map_err(explain)?;
    match kind.format.as_deref() {
        Some(FORMAT) => head(serde_json::from_slice(line).map_err(explain)?).map(Line::Head),
        Some(other) => Err(format!("format `{other}` is not `{FORMAT}`")),
        None => entry(serde_json::from_slice(line).map_err(explain)?).map(Line::Entry),
    }
}

fn head(line: HeadLine<'_>) -> Result<Head, String> {
    let named = |transport: &Transport| transport.as_str() == line.transport;
    let transport = Transport::ALL.into_iter().find(named);
    let transport =
        transport.ok_or_else(|| format!("`{}` is no transport (stdio, http, http+sse)", line.transport))?;
    let revision =
        line.revision.parse().map_err(|error: crate::revision::UnknownRevision| error.to_string())?;
    Ok(Head { conversation: line.conversation, transport, revision, purpose: line.purpose.into_owned() })
}

fn entry(line: EntryLine<'_>) -> Result<Entry, String> {
    let bytes = match (line.text, line.base64) {
        (Some(text), None) => text.into_owned().into_bytes(),
        (None, Some(encoded)) => STANDARD.decode(encoded).map_err(|error| format!("base64: {error}"))?,
        (None, None) => Vec::new(),
        (Some(_), Some(_)) => return Err("it has both `text` and `base64`".to_owned()),
    };
    let ending = match (line.ending.as_deref(), line.whole_bytes) {
        (None, _) => Ending::None,
        (Some("lf"), _) => Ending::Lf,
        (Some("crlf"), _) => Ending::CrLf,
        (Some("unfinished"), _) => Ending::Unfinished,
        (Some("too-long"), Some(bytes)) => Ending::TooLong(bytes),
        (Some("too-long"), None) => return Err("ending `too-long` needs `whole_bytes`".to_owned()),
        (Some(other), _) => return Err(format!("`{other}` is no ending (lf, crlf, unfinished, too-long)")),
    };
    Ok(Entry {
        sequence: line.sequence,
        at: Duration::from_micros(line.at_us),
        channel: channel(&line.channel)?,
        bytes,
        ending,
        case: line.case.map(|case| Arc::from(case.as_ref())),
        deliberate: line.deliberate,
        exchange: line.exchange,
        exit: line.exit.map(|ExitLine { status, signal, by_us }| Exit { status, signal, by_us }),
    })
}

const CHANNELS: [Channel; 10] = [
    Channel::Stdin,
    Channel::Stdout,
    Channel::Stderr,
    Channel::Request,
    Channel::Response,
    Channel::Body,
    Channel::Closed,
    Channel::EndOfInput,
    Channel::EndOfOutput,
    Channel::Exit,
];

fn channel_name(channel: Channel) -> &'static str {
    match channel {
        Channel::Stdin => "stdin",
        Channel::Stdout => "stdout",
        Channel::Stderr => "stderr",
        Channel::Request => "request",
        Channel::Response => "response",
        Channel::Body => "body",
        Channel::Closed => "closed",
        Channel::EndOfInput => "end-of-input",
        Channel::EndOfOutput => "end-of-output",
        Channel::Exit => "exit",
    }
}

fn channel(name: &str) -> Result<Channel, String> {
    let found = CHANNELS.into_iter().find(|channel| channel_name(*channel) == name);
    found.ok_or_else(|| format!("`{name}` is no channel ({})", CHANNELS.map(channel_name).join(", ")))
}

#[cfg(test)]
mod tests;
