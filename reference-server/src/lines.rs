//! Where does one message end and the next begin? At each newline, and nowhere else.

/// No line may be longer than this, in bytes.
pub(crate) const LONGEST: usize = 16 << 20;

/// One line from the client, without its newline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub bytes: Vec<u8>,
    /// How many of the bytes came with the first piece of the line.
    pub first: usize,
    /// Which of the lines that one read completed this is, from 0, and whether another follows.
    pub index: usize,
    pub more: bool,
    /// Whether the line was longer than allowed; its bytes are gone then.
    pub overlong: bool,
}

/// The line that is not complete yet.
#[derive(Default)]
pub(crate) struct Lines {
    rest: Vec<u8>,
    /// How many bytes the first piece of `rest` had.
    first: Option<usize>,
    overlong: bool,
}

impl Lines {
    /// Takes in what one read returned and gives out the lines that are complete now.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut pieces = chunk.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.extend(piece);
            if pieces.peek().is_some() {
                frames.push(self.take(frames.len()));
            }
        }
        let count = frames.len();
        for (index, frame) in frames.iter_mut().enumerate() {
            frame.more = index + 1 < count;
        }
        frames
    }

    /// What was left without a newline when the input ended.
    pub fn finish(&mut self) -> Option<Frame> {
        (!self.rest.is_empty() || self.overlong).then(|| self.take(0))
    }

    fn extend(&mut self, piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        self.first.get_or_insert(piece.len());
        if self.overlong || self.rest.len() + piece.len() > LONGEST {
            self.overlong = true;
            self.rest = Vec::new();
        } else {
            self.rest.extend_from_slice(piece);
        }
    }

    fn take(&mut self, index: usize) -> Frame {
        let Self { rest, first, overlong } = std::mem::take(self);
        Frame { bytes: rest, first: first.unwrap_or(0), index, more: false, overlong }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_together_from_pieces() {
        let mut lines = Lines::default();
        assert!(lines.push(b"ab").is_empty());
        let frames = lines.push(b"c\n\nd\ne");
        let texts: Vec<&[u8]> = frames.iter().map(|frame| frame.bytes.as_slice()).collect();
        assert_eq!(texts, [b"abc".as_slice(), b"", b"d"]);
        assert_eq!((frames[0].first, frames[0].more, frames[2].more), (2, true, false));
        assert_eq!(lines.finish().unwrap().bytes, b"e");
        assert!(lines.finish().is_none());
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut lines = Lines::default();
        let chunk = vec![b'x'; LONGEST / 2 + 1];
        assert!(lines.push(&chunk).is_empty());
        assert!(lines.push(&chunk).is_empty());
        assert!(lines.rest.is_empty());
        let frames = lines.push(b"\nnext\n");
        assert!(frames[0].overlong && frames[0].bytes.is_empty());
        assert_eq!(frames[1].bytes, b"next");
    }
}
