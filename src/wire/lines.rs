//! Where does one line end and the next begin? Bytes in any pieces to the lines of newline-delimited JSON.
//!
//! Only LF ends a line. CR, U+0085 and U+2028 are content, except for one CR right before the LF, which is
//! taken off and remembered. What a line says is left to `message`.

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// LF
    Lf,
    /// CR LF
    CrLf,
    /// The stream ended first.
    Unfinished,
}

/// One line without its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The content, cut at the limit.
    pub bytes: Vec<u8>,
    /// Bytes of the whole content, cut or not.
    pub length: u64,
    /// How it ended.
    pub ending: Ending,
}

impl Line {
    /// Whether the line was longer than the limit, so that `bytes` is only its beginning.
    pub fn is_too_long(&self) -> bool {
        self.length > self.bytes.len() as u64
    }
}

/// Splits a stream of bytes into lines. Holds no more of a line than the limit.
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    /// The line so far, cut at the limit.
    kept: Vec<u8>,
    /// Bytes of the line so far, cut or not.
    length: u64,
    ends_in_cr: bool,
}

impl LineSplitter {
    /// `limit`: the longest line that is kept whole, in bytes without its ending.
    pub fn new(limit: usize) -> LineSplitter {
        LineSplitter { limit, kept: Vec::new(), length: 0, ends_in_cr: false }
    }

    /// Takes the next bytes of the stream and returns the lines that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                None => self.append(piece),
                Some(content) => {
                    self.append(content);
                    lines.push(self.end_line());
                }
            }
        }
        lines
    }

    /// The stream has ended: what is left after the last LF, if anything. The splitter is then as new.
    pub fn finish(&mut self) -> Option<Line> {
        (self.length > 0).then(|| self.take(Ending::Unfinished))
    }

    /// Bytes of the line that has begun and that no LF has ended yet.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether a line has begun that no LF has ended yet.
    pub fn is_inside_line(&self) -> bool {
        self.length > 0
    }

    fn append(&mut self, content: &[u8]) {
        let room = self.limit - self.kept.len();
        self.kept.extend_from_slice(&content[..room.min(content.len())]);
        self.length += content.len() as u64;
        self.ends_in_cr = content.last().map_or(self.ends_in_cr, |byte| *byte == b'\r');
    }

    fn end_line(&mut self) -> Line {
        if !self.ends_in_cr {
            return self.take(Ending::Lf);
        }
        // The CR itself may have been cut; if it was kept, it is the last byte kept.
        if self.length == self.kept.len() as u64 {
            self.kept.pop();
        }
        self.length -= 1;
        self.take(Ending::CrLf)
    }

    fn take(&mut self, ending: Ending) -> Line {
        let line = Line { bytes: std::mem::take(&mut self.kept), length: self.length, ending };
        self.length = 0;
        self.ends_in_cr = false;
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(limit: usize, pieces: &[&[u8]]) -> Vec<Line> {
        let mut splitter = LineSplitter::new(limit);
        let mut lines: Vec<_> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
        lines.extend(splitter.finish());
        assert!(!splitter.is_inside_line());
        lines
    }

    fn line(bytes: &[u8], ending: Ending) -> Line {
        Line { bytes: bytes.to_vec(), length: bytes.len() as u64, ending }
    }

    #[test]
    fn only_lf_ends_a_line() {
        let text = "a\rb\u{2028}c\u{85}d\u{b}e";
        assert_eq!(split(99, &[text.as_bytes(), b"\n"]), [line(text.as_bytes(), Ending::Lf)]);
    }

    #[test]
    fn one_cr_before_lf_is_the_ending() {
        assert_eq!(split(99, &[b"a\r\n"]), [line(b"a", Ending::CrLf)]);
        assert_eq!(split(99, &[b"a\r", b"\n"]), [line(b"a", Ending::CrLf)]);
        assert_eq!(split(99, &[b"a\r\r\n\r\n"]), [line(b"a\r", Ending::CrLf), line(b"", Ending::CrLf)]);
        assert_eq!(split(99, &[b"a\n\rb\n"]), [line(b"a", Ending::Lf), line(b"\rb", Ending::Lf)]);
    }

    #[test]
    fn empty_lines_and_an_unfinished_one() {
        let wanted = [line(b"", Ending::Lf), line(b"", Ending::Lf), line(b"x\r", Ending::Unfinished)];
        assert_eq!(split(99, &[b"\n\nx\r"]), wanted);
        assert_eq!(split(99, &[]), []);
    }

    #[test]
    fn a_line_beyond_the_limit_is_cut_and_counted() {
        let lines = split(3, &[b"abc\nab", b"cd", b"ef\nabc\r\nabcd\r\n"]);
        let cut = |length, ending| Line { bytes: b"abc".to_vec(), length, ending };
        assert_eq!(
            lines,
            [line(b"abc", Ending::Lf), cut(6, Ending::Lf), line(b"abc", Ending::CrLf), cut(4, Ending::CrLf)]
        );
        assert_eq!(lines.iter().map(Line::is_too_long).collect::<Vec<_>>(), [false, true, false, true]);
        assert!(split(3, &[b"abcd"])[0].is_too_long());
        assert_eq!(split(0, &[b"\r\n"]), [line(b"", Ending::CrLf)]);
    }

    #[test]
    fn memory_stays_within_the_limit() {
        let mut splitter = LineSplitter::new(16);
        for _ in 0..1000 {
            splitter.push(&[b'x'; 1000]);
        }
        assert!(splitter.kept.capacity() <= 64, "{}", splitter.kept.capacity());
        assert_eq!(splitter.finish().map(|line| line.length), Some(1_000_000));
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            pieces in prop::collection::vec(prop::collection::vec(prop::sample::select(b"\n\r\nab\"".to_vec()), 0..6), 0..12),
            limit in 0_usize..6,
        ) {
            let whole = pieces.concat();
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(split(limit, &pieces), split(limit, &[&whole]));
        }

        #[test]
        fn no_byte_is_lost(bytes in prop::collection::vec(prop::sample::select(b"\n\r\nab".to_vec()), 0..60)) {
            let mut again = Vec::new();
            for line in split(usize::MAX, &[&bytes]) {
                again.extend(line.bytes);
                again.extend_from_slice(match line.ending {
                    Ending::Lf => b"\n",
                    Ending::CrLf => b"\r\n",
                    Ending::Unfinished => b"",
                });
            }
            prop_assert_eq!(again, bytes);
        }
    }
}
