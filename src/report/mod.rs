//! How is a record told to people and machines? One file a form; all of them derive from the record alone.
//!
//! Nothing is judged here: outcomes, counts and the exit code are the record's.

use crate::mask::Masks;
use crate::record::{CaseRecord, Excerpt, Finding, Record};
use std::borrow::Cow;

pub mod console;
pub mod diagnostic;
pub mod json;
pub mod junit;
pub mod plain;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

/// What a case found; a case that found nothing but has a reason (a broken one) tells that as its finding.
pub fn findings(case: &CaseRecord) -> Cow<'_, [Finding]> {
    if !case.findings.is_empty() {
        return Cow::Borrowed(&case.findings);
    }
    let title = case.reason.clone().unwrap_or_else(|| case.summary.clone());
    Cow::Owned(vec![Finding {
        title,
        outcome: case.outcome,
        place: None,
        pointer: None,
        expected: String::new(),
        got: String::new(),
        frames: Vec::new(),
        notes: Vec::new(),
        span: None,
    }])
}

/// The record without secrets: `[masked]` stands in every free text and frame instead, in what the user or the server
/// wrote, not in the names by which cases and requirements are known. Done once, before any report is written.
pub fn masked(record: &Record, masks: &Masks) -> Record {
    let mut record = record.clone();
    let mut each = |text: &mut String| *text = masks.apply(text).0.into_owned();
    let target = &mut record.target;
    each(&mut target.label);
    each(&mut target.arguments);
    if let Some((name, version)) = &mut target.server {
        each(name);
        each(version);
    }
    target.revisions.iter_mut().filter_map(|row| row.reason.as_mut()).for_each(&mut each);
    target.unreachable.iter_mut().for_each(&mut each);
    target.stderr.iter_mut().for_each(&mut each);
    record.cut_short.iter_mut().for_each(&mut each);
    for case in &mut record.cases {
        [&mut case.reason, &mut case.help, &mut case.known].into_iter().flatten().for_each(&mut each);
        for finding in &mut case.findings {
            each(&mut finding.title);
            each(&mut finding.expected);
            each(&mut finding.got);
            finding.pointer.iter_mut().for_each(&mut each);
            finding.notes.iter_mut().for_each(&mut each);
            finding.frames.iter_mut().for_each(|frame| mask_frame(frame, masks));
        }
    }
    record
}

/// Masks a frame where it is UTF-8. An excerpt that was cut stays cut in its middle: its halves are masked apart, a
/// secret across the cut in both, and kept equally long.
fn mask_frame(frame: &mut Excerpt, masks: &Masks) {
    let masked = |bytes: &[u8], after_cut: bool| {
        let mut out = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            let text = chunk.valid();
            let (text, _) = if after_cut { masks.apply_after_cut(text) } else { masks.apply(text) };
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        out
    };
    if frame.cut == 0 {
        frame.bytes = masked(&frame.bytes, false);
        return;
    }
    let (head, tail) = frame.bytes.split_at(frame.bytes.len() / 2);
    let (mut head, tail) = (masked(head, false), masked(tail, true));
    let half = head.len().min(tail.len());
    frame.cut += head.len() + tail.len() - 2 * half;
    head.truncate(half);
    head.extend_from_slice(&tail[tail.len() - half..]);
    frame.bytes = head;
}

/// `850 ms`, `3.2 s`, `2 min 5 s`.
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1_000),
    }
}
