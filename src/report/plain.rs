//! How is text that a server chose made harmless to a terminal, a CI log and an XML parser?
//!
//! Whatever could act instead of being read is shown escaped: control characters, bidirectional overrides,
//! invisible characters, bytes that are no UTF-8, and the markers that CI runners take for commands.
//! Backslashes are left alone, since JSON is full of them. Where the text stands is the reports' concern.

use crate::record::Excerpt;
use std::borrow::Cow;
use std::fmt::Write;

/// One line: line endings and tabs are escaped too.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, false)
}

/// Several lines: line feeds stay, all else is as in [`line`].
pub fn block(text: &str) -> Cow<'_, str> {
    escape(text, true)
}

/// One line of bytes that may not be UTF-8: such bytes become `\xNN`.
pub fn bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&line(chunk.valid()));
        for byte in chunk.invalid() {
            push_format(&mut out, format_args!("\\x{byte:02x}"));
        }
    }
    out
}

/// One line of at most about `columns` characters: the middle gives way to `[174 bytes cut]`.
pub fn shorten(text: &str, columns: usize) -> String {
    shorten_bytes(text.as_bytes(), columns)
}

/// A frame as one line of at most about `columns` characters. The cut that the excerpt already has and the
/// one made here are told as one.
pub fn frame(excerpt: &Excerpt, columns: usize) -> String {
    if excerpt.cut == 0 {
        return shorten_bytes(&excerpt.bytes, columns);
    }
    let (head, tail) = excerpt.bytes.split_at(excerpt.bytes.len() / 2);
    // What is left of a character that the excerpt's cut split is no fault of the server's: it counts as cut.
    let head_whole = match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => head.len(),
    };
    let stray = tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let missing = excerpt.cut + (head.len() - head_whole) + stray;
    elide(&head[..head_whole], &tail[stray..], missing, columns)
}

/// Text for an XML CDATA section: [`block`], and its end marker split over two sections, so that a parser
/// gives the very same text back.
pub fn cdata(text: &str) -> String {
    block(text).replace("]]>", "]]]]><![CDATA[>")
}

/// Whether a character does something, or hides, instead of being seen.
pub fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e007f}')
        // U+FFFE, U+FFFF and their like at the end of every plane; the first two are not allowed in XML.
        || u32::from(character) & 0xfffe == 0xfffe
}

/// Whether a CI runner would take what starts here for a command: `##[error]`, `##vso[`, `##teamcity[`.
pub fn starts_command(text: &str) -> bool {
    text.strip_prefix("##")
        .is_some_and(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('['))
}

fn escape(text: &str, keep_line_feeds: bool) -> Cow<'_, str> {
    let acts = |at: usize, character: char| match character {
        '\n' => !keep_line_feeds,
        '#' => starts_command(&text[at..]),
        _ => is_harmful(character),
    };
    let Some((clean, _)) = text.char_indices().find(|(at, character)| acts(*at, *character)) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..clean]);
    for (at, character) in text[clean..].char_indices() {
        if acts(clean + at, character) { push_escaped(&mut out, character) } else { out.push(character) }
    }
    Cow::Owned(out)
}

fn push_escaped(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\u{7f}' => push_format(out, format_args!("\\x{:02x}", u32::from(character))),
        _ => push_format(out, format_args!("\\u{{{:x}}}", u32::from(character))),
    }
}

fn push_format(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = out.write_fmt(arguments);
}

fn shorten_bytes(all: &[u8], columns: usize) -> String {
    if front(all, columns) == all.len() {
        return bytes(all);
    }
    let (head, tail) = all.split_at(front(all, head_columns(columns)));
    elide(head, tail, 0, columns)
}

/// Two thirds of a line go to its head, where a frame says what it is.
fn head_columns(columns: usize) -> usize {
    columns - columns / 3
}

fn elide(head: &[u8], tail: &[u8], missing: usize, columns: usize) -> String {
    let kept_head = front(head, head_columns(columns));
    let kept_tail = back(tail, columns / 3);
    let cut = missing + (head.len() - kept_head) + (tail.len() - kept_tail);
    let plural = if cut == 1 { "" } else { "s" };
    format!(
        "{} [{cut} byte{plural} cut] {}",
        bytes(&head[..kept_head]),
        bytes(&tail[tail.len() - kept_tail..])
    )
}

/// How many leading bytes fit into so many columns.
fn front(all: &[u8], columns: usize) -> usize {
    let mut at = 0;
    let mut used = 0;
    while at < all.len() {
        let (length, width) = (1..=4.min(all.len() - at))
            .find_map(|length| single(&all[at..at + length]).map(|width| (length, width)))
            .unwrap_or((1, 4));
        used += width;
        if used > columns {
            break;
        }
        at += length;
    }
    at
}

/// How many trailing bytes fit into so many columns.
fn back(all: &[u8], columns: usize) -> usize {
    let mut kept = 0;
    let mut used = 0;
    while kept < all.len() {
        let end = all.len() - kept;
        let (length, width) = (1..=4.min(end))
            .find_map(|length| single(&all[end - length..end]).map(|width| (length, width)))
            .unwrap_or((1, 4));
        used += width;
        if used > columns {
            break;
        }
        kept += length;
    }
    kept
}

/// The columns taken by bytes that are exactly one character.
fn single(unit: &[u8]) -> Option<usize> {
    let mut characters = std::str::from_utf8(unit).ok()?.chars();
    let character = characters.next()?;
    if characters.next().is_some() {
        return None;
    }
    if !is_harmful(character) {
        return Some(1);
    }
    let mut escaped = String::new();
    push_escaped(&mut escaped, character);
    Some(escaped.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Direction;
    use proptest::prelude::*;

    #[test]
    fn what_acts_is_shown_escaped() {
        assert_eq!(line("\u{1b}[31mred\u{7}\u{7f}\u{9b}"), "\\x1b[31mred\\x07\\x7f\\u{9b}");
        assert_eq!(line("a\r\nb\tc"), "a\\r\\nb\\tc");
        assert_eq!(block("a\r\nb"), "a\\r\nb");
        assert_eq!(line("evil\u{202e}gpj.exe\u{2028}\u{fffe}"), "evil\\u{202e}gpj.exe\\u{2028}\\u{fffe}");
        assert_eq!(line("é 漢 👩‍🚀 C:\\path"), "é 漢 👩‍🚀 C:\\path");
        assert_eq!(bytes(b"ok \xff\xc3 \x00"), "ok \\xff\\xc3 \\x00");
    }

    #[test]
    fn commands_to_a_ci_runner_are_broken_and_headings_are_not() {
        assert_eq!(
            line("##[error]x ##vso[task] ##teamcity[y"),
            "\\x23#[error]x \\x23#vso[task] \\x23#teamcity[y"
        );
        assert_eq!(line("## heading [link]"), "## heading [link]");
    }

    #[test]
    fn the_middle_gives_way_and_the_cut_says_how_much() {
        let text = format!("{}{}{}", "a".repeat(30), "é".repeat(50), "z".repeat(15));
        let short = shorten(&text, 45);
        assert_eq!(short, format!("{} [100 bytes cut] {}", "a".repeat(30), "z".repeat(15)));
        assert_eq!(shorten("short", 5), "short");
    }

    #[test]
    fn a_frame_tells_both_cuts_as_one() {
        let whole: Vec<u8> = (0..5000u32).map(|n| b'a' + (n % 26) as u8).collect();
        let shown = frame(&Excerpt::new(Direction::Got, &whole), 90);
        assert!(shown.contains(" [4910 bytes cut] "), "{shown}");
        let wide = frame(&Excerpt::new(Direction::Got, &whole), 10_000);
        assert!(wide.contains(" [2952 bytes cut] "), "{wide}");
    }

    #[test]
    fn a_character_split_by_the_cut_is_cut_not_invalid() {
        let whole = format!("{}{}{}", "a".repeat(1023), "é".repeat(2000), "z".repeat(1023));
        let shown = frame(&Excerpt::new(Direction::Got, whole.as_bytes()), 10_000);
        assert_eq!(shown, format!("{} [4000 bytes cut] {}", "a".repeat(1023), "z".repeat(1023)));
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left_and_no_column_is_overrun(raw in prop::collection::vec(any::<u8>(), 0..200), columns in 0usize..120) {
            let shown = shorten_bytes(&raw, columns);
            prop_assert!(!shown.contains(is_harmful));
            prop_assert!(shown.chars().count() <= columns + " [200 bytes cut] ".len());
            prop_assert!(!block(&String::from_utf8_lossy(&raw)).contains(|c| c != '\n' && is_harmful(c)));
        }

        #[test]
        fn any_excerpt_can_be_shown(raw in prop::collection::vec(any::<u8>(), 0..20), cut in 0usize..9, columns in 0usize..99) {
            let shown = frame(&Excerpt { direction: Direction::Got, bytes: raw, cut }, columns);
            prop_assert!(!shown.contains(is_harmful));
        }
    }
}
