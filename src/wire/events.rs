//! Where does one event of an event stream begin and end, and what does it carry? Bytes in any pieces to events.
//!
//! The grammar is that of server-sent events in the HTML standard (section 9.2, `text/event-stream`), which Streamable
//! HTTP builds on. Whatever departs from it is told beside the event, never passed over. What the data says is left
//! to `message`.

use std::fmt;

/// A mark that may precede the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Bytes of a line beyond its value: the longest field name that means anything, colon and space.
const FIELD: usize = 8;

/// Bytes of an id that are kept.
const LONGEST_ID: usize = 4096;

/// One event, as far as it says something: a block of comments alone is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The `event` field; without it the type is "message".
    pub name: Option<String>,
    /// The `data` lines joined by LF, cut at the limit; `None` without any: then clients pass over the event.
    pub data: Option<Vec<u8>>,
    /// Bytes of the data, cut or not.
    pub length: u64,
    /// The `id` field. It holds for later events too; here it is told where it stands. One of more than 4096 bytes, which
    /// no header could take back, is passed over.
    pub id: Option<String>,
    /// The `retry` field, in milliseconds.
    pub retry: Option<u64>,
    /// What was wrong, in order.
    pub defects: Vec<EventDefect>,
}

impl Event {
    /// Whether the data was longer than the limit, so that `data` is only its beginning.
    pub fn is_too_long(&self) -> bool {
        self.length > self.data.as_ref().map_or(0, Vec::len) as u64
    }

    /// Whether clients take its data for a message: the type is the default one, named or not.
    pub fn is_message(&self) -> bool {
        self.data.is_some() && self.name.as_deref().is_none_or(|name| name.is_empty() || name == "message")
    }

    fn says_something(&self) -> bool {
        *self != Event::default()
    }
}

/// What departs from the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventDefect {
    /// A field other than data is not UTF-8. Of data, `message` says where.
    NotUtf8 { field: &'static str },
    /// A field that no client knows: as a rule a line of data without its `data:`. Its name, cut.
    UnknownField(String),
    /// `retry` is not made of digits alone. Its value, cut.
    RetryNotANumber(String),
    /// An `id` with a NUL, which clients pass over.
    IdWithNul,
    /// The stream ended before the blank line, so that clients pass over the event.
    Unfinished,
}

impl fmt::Display for EventDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 { field } => write!(f, "the field `{field}` is not UTF-8"),
            Self::UnknownField(name) => write!(f, "the field {name:?} is unknown to event streams"),
            Self::RetryNotANumber(value) => {
                write!(f, "`retry` is {value:?}, which is no number of milliseconds")
            }
            Self::IdWithNul => f.write_str("`id` contains a NUL"),
            Self::Unfinished => f.write_str("the stream ended inside the event"),
        }
    }
}

/// Splits a stream of bytes into events. Holds no more of an event than the limit and some bytes beside it.
#[derive(Debug)]
pub struct EventReader {
    limit: usize,
    /// The line so far, cut.
    line: Vec<u8>,
    /// Bytes of the line so far, cut or not.
    line_length: u64,
    /// The last byte was a CR: an LF right after it belongs to the same ending.
    after_cr: bool,
    /// No line has ended yet.
    at_start: bool,
    event: Event,
}

impl EventReader {
    /// `limit`: the longest data that is kept whole, in bytes.
    pub fn new(limit: usize) -> EventReader {
        EventReader {
            limit,
            line: Vec::new(),
            line_length: 0,
            after_cr: false,
            at_start: true,
            event: Event::default(),
        }
    }

    /// Takes the next bytes of the stream and returns the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr)
                && let Some(after) = rest.strip_prefix(b"\n")
            {
                rest = after;
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.append(rest);
                break;
            };
            self.append(&rest[..end]);
            self.after_cr = rest[end] == b'\r';
            events.extend(self.end_line());
            rest = &rest[end + 1..];
        }
        events
    }

    /// The stream has ended: what was begun and never ended, if it says something. The reader is then as new.
    pub fn finish(&mut self) -> Option<Event> {
        if self.line_length > 0 {
            self.end_line();
        }
        let mut event = std::mem::replace(self, EventReader::new(self.limit)).event;
        event.says_something().then(|| {
            event.defects.push(EventDefect::Unfinished);
            event
        })
    }

    /// Whether the event that has begun is longer than the limit already.
    pub fn is_too_long(&self) -> bool {
        let limit = self.limit as u64;
        self.line_length > limit.saturating_add(FIELD as u64) || self.event.length > limit
    }

    fn append(&mut self, content: &[u8]) {
        let room = self.limit.saturating_add(FIELD).saturating_sub(self.line.len());
        self.line.extend_from_slice(&content[..room.min(content.len())]);
        self.line_length += content.len() as u64;
    }

    /// A blank line ends the event.
    fn end_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        let mut length = std::mem::take(&mut self.line_length);
        if std::mem::take(&mut self.at_start) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
            length -= BYTE_ORDER_MARK.len() as u64;
        }
        if length > 0 {
            self.take_line(&line, length);
            return None;
        }
        let event = std::mem::take(&mut self.event);
        event.says_something().then_some(event)
    }

    fn take_line(&mut self, line: &[u8], length: u64) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            // A comment: a sign of life for whatever lies between.
            Some(0) => return,
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let event = &mut self.event;
        match name {
            b"data" => {
                let cut = length - line.len() as u64;
                let joint = usize::from(event.data.is_some());
                let data = event.data.get_or_insert_default();
                event.length += (joint + value.len()) as u64 + cut;
                let joined = b"\n"[..joint].iter().chain(value);
                data.extend(joined.take(self.limit.saturating_sub(data.len())));
            }
            b"event" => event.name = text("event", value, &mut event.defects),
            b"id" if value.contains(&0) => event.defects.push(EventDefect::IdWithNul),
            b"id" if length > (LONGEST_ID + FIELD) as u64 => {}
            b"id" => event.id = text("id", value, &mut event.defects),
            b"retry" => {
                let digits =
                    std::str::from_utf8(value).ok().filter(|value| value.bytes().all(|b| b.is_ascii_digit()));
                match digits.and_then(|digits| digits.parse().ok()) {
                    Some(time) => event.retry = Some(time),
                    None => event.defects.push(EventDefect::RetryNotANumber(clipped(value))),
                }
            }
            _ => event.defects.push(EventDefect::UnknownField(clipped(name))),
        }
        event.defects.truncate(DEFECTS_KEPT);
    }
}

/// So many defects of one event tell enough.
const DEFECTS_KEPT: usize = 8;

fn text(field: &'static str, value: &[u8], defects: &mut Vec<EventDefect>) -> Option<String> {
    if std::str::from_utf8(value).is_err() {
        defects.push(EventDefect::NotUtf8 { field });
    }
    Some(String::from_utf8_lossy(value).into_owned())
}

fn clipped(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(limit: usize, pieces: &[&[u8]]) -> Vec<Event> {
        let mut reader = EventReader::new(limit);
        let mut events: Vec<_> = pieces.iter().flat_map(|piece| reader.push(piece)).collect();
        events.extend(reader.finish());
        events
    }

    fn data(text: &str) -> Event {
        Event { data: Some(text.into()), length: text.len() as u64, ..Event::default() }
    }

    #[test]
    fn a_blank_line_ends_an_event_whatever_ends_the_lines() {
        for stream in ["data: a\n\ndata:b\n\n", "data: a\r\n\r\ndata:b\r\n\r\n", "data: a\r\rdata:b\r\r"] {
            assert_eq!(read(99, &[stream.as_bytes()]), [data("a"), data("b")], "{stream:?}");
        }
    }

    #[test]
    fn data_lines_are_joined_and_one_space_is_taken_off() {
        assert_eq!(read(99, &[b"data:  a\ndata\ndata: b\n\n"]), [data(" a\n\nb")]);
        assert_eq!(read(99, &[b"data:\n\n"]), [data("")]);
    }

    #[test]
    fn other_fields_and_comments() {
        let events =
            read(99, &[b"\xEF\xBB\xBF: hello\n\nevent: endpoint\nid: 7\nretry: 50\ndata: x\n\n:\n\nid\n\n"]);
        let named = Event {
            name: Some("endpoint".to_owned()),
            id: Some("7".to_owned()),
            retry: Some(50),
            ..data("x")
        };
        let bare_id = Event { id: Some(String::new()), ..Event::default() };
        assert!(!named.is_message() && !bare_id.is_message() && data("").is_message());
        assert_eq!(events, [named, bare_id]);
    }

    #[test]
    fn each_defect_is_told() {
        let of = |stream: &[u8]| read(99, &[stream]).remove(0).defects;
        assert_eq!(of(b"event: \xFF\n\n"), [EventDefect::NotUtf8 { field: "event" }]);
        assert_eq!(of(b"{\"jsonrpc\": 1}\n\n"), [EventDefect::UnknownField("{\"jsonrpc\"".to_owned())]);
        assert_eq!(of(b"Data: x\n\n"), [EventDefect::UnknownField("Data".to_owned())]);
        assert_eq!(of(b"retry: 1s\n\n"), [EventDefect::RetryNotANumber("1s".to_owned())]);
        assert_eq!(of(b"retry:\n\n"), [EventDefect::RetryNotANumber(String::new())]);
        assert_eq!(of(b"id: a\0b\n\n"), [EventDefect::IdWithNul]);
        assert_eq!(of(b"data: x\n"), [EventDefect::Unfinished]);
        assert_eq!(of(b"data: x"), [EventDefect::Unfinished]);
        assert_eq!(of(b"data: \xFF\n\n"), []);
    }

    #[test]
    fn long_data_is_cut_and_counted() {
        let event = |kept: &str, length| Event { length, ..data(kept) };
        assert_eq!(read(3, &[b"data: abc\n\n"]), [data("abc")]);
        assert_eq!(read(3, &[b"data: abcdefghijklmnop\n\n"]), [event("abc", 16)]);
        assert_eq!(read(3, &[b"data: ab\ndata: cd\n\n"]), [event("ab\n", 5)]);
        assert!(event("ab\n", 5).is_too_long() && !data("abc").is_too_long());
    }

    #[test]
    fn an_id_that_no_header_could_take_is_none() {
        let id = |length: usize| {
            let stream = format!("id: {}\ndata: x\n\n", "i".repeat(length));
            read(9999, &[stream.as_bytes()]).remove(0).id.map(|id| id.len())
        };
        assert_eq!((id(4000), id(5000)), (Some(4000), None));
        // Nor is what the limit cut off of one.
        assert_eq!(read(1, &[format!("id: {}\ndata: x\n\n", "i".repeat(5000)).as_bytes()])[0].id, None);
    }

    #[test]
    fn memory_stays_within_the_limit() {
        let mut reader = EventReader::new(16);
        for _ in 0..1000 {
            reader.push(&[b'x'; 1000]);
            reader.push(b"\ndata: 0123456789\n");
        }
        assert!(reader.line.capacity() <= 64, "{}", reader.line.capacity());
        assert!(reader.event.data.as_ref().unwrap().capacity() <= 64);
        assert!(reader.event.defects.len() <= DEFECTS_KEPT);
    }

    fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let piece = prop_oneof![
            Just(b"data: ".to_vec()),
            Just(b"data".to_vec()),
            Just(b"\xEF\xBB\xBF".to_vec()),
            Just(b"retry:1".to_vec()),
            prop::collection::vec(prop::sample::select(b"\n\r\n\r:id ab\xFF".to_vec()), 0..6),
        ];
        prop::collection::vec(piece, 0..16)
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(pieces in pieces(), limit in 0_usize..6) {
            let whole = pieces.concat();
            let single: Vec<&[u8]> = whole.chunks(1).collect();
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let events = read(limit, &[&whole]);
            prop_assert_eq!(&read(limit, &pieces), &events);
            prop_assert_eq!(&read(limit, &single), &events);
        }

        #[test]
        fn what_is_written_is_read(lines in prop::collection::vec("[^\r\n]{0,12}", 1..5), crlf: bool) {
            let end = if crlf { "\r\n" } else { "\n" };
            let stream: String = lines.iter().map(|line| format!("data: {line}{end}")).collect();
            let events = read(999, &[stream.as_bytes(), end.as_bytes()]);
            prop_assert_eq!(events, vec![data(&lines.join("\n"))]);
        }
    }
}
