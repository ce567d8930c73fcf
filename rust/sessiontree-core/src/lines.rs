//! Bytes to numbered lines, in bounded memory; or to one text, where a file is none of lines.
//!
//! A file is read in blocks into one buffer, which grows only to hold a line that is longer than it, and marked there. LF
//! alone ends a line: U+2028 and its kin may stand inside a JSON string, so a general line splitter would cut an entry in two.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Place;
use crate::marks::{self, Marker, Marks, Text, find_lf};

/// The longest line that is read, in bytes, and the longest text. A longer line is passed over as it streams by.
pub(crate) const MAX_LINE: usize = 512 << 20;

/// How much is read at once, and what the buffer holds at first: large enough that system calls do not count, small
/// enough to stay in a core's cache.
const BLOCK: usize = 256 << 10;

/// How much of the buffer is kept from one text to the next: most fit into it.
const WHOLE: usize = 4 << 20;

/// From which size on the buffer is given room for the longest line that there may be.
const LONG: usize = 32 << 20;

/// One line, without its LF and without white space or NULs at either end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) place: Place,
    pub(crate) content: Content<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    Text {
        text: Text<'a>,
        /// How many bytes of the line stand before the text.
        indent: usize,
        /// Whether a NUL stood at either end.
        padded: bool,
    },
    /// It was longer than [`MAX_LINE`], and is gone.
    TooLong,
}

/// A buffer that many files, one after the other, are read through.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    marks: Vec<Marks>,
}

impl Buffer {
    /// Reads a source to its end, for a text that is not made of lines; None if it is longer than [`MAX_LINE`], or nobody
    /// waits for it any more.
    pub(crate) fn read_whole(
        &mut self,
        mut source: impl Read,
        is_stopped: &AtomicBool,
    ) -> io::Result<Option<Text<'_>>> {
        self.reset(WHOLE);
        let (mut marker, mut end) = (Marker::default(), 0);
        loop {
            if end == self.bytes.len() {
                self.bytes.resize(end * 2, 0);
            }
            let until = self.bytes.len().min(end + BLOCK);
            let count = match source.read(&mut self.bytes[end..until]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                count => count?,
            };
            end += count;
            if end > MAX_LINE || is_stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if count == 0 {
                return Ok(Some(Text::new(&self.bytes, &self.marks, 0..end)));
            }
            marker.mark(&self.bytes[..end], &mut self.marks);
        }
    }

    /// The first bytes that it holds: after [`Self::read_whole`], those of the text.
    pub(crate) fn into_bytes(mut self, length: usize) -> Vec<u8> {
        self.bytes.truncate(length);
        self.bytes.shrink_to_fit();
        self.bytes
    }

    /// What one long text took is not kept for all that come after it, beyond so many bytes.
    fn reset(&mut self, most: usize) {
        if self.bytes.len() > most {
            self.bytes.truncate(most);
            self.bytes.shrink_to_fit();
            self.marks.truncate(most / marks::BLOCK);
            self.marks.shrink_to_fit();
        }
        if self.bytes.len() < BLOCK {
            self.bytes.resize(BLOCK, 0);
        }
    }
}

/// The lines of one source.
pub(crate) struct Lines<'b, R> {
    source: R,
    bytes: &'b mut Vec<u8>,
    /// Those of the bytes up to `end`.
    marks: &'b mut Vec<Marks>,
    marker: Marker,
    max_line: usize,
    /// What of the buffer has been read and not yet handed out.
    start: usize,
    end: usize,
    /// Where the next line stands.
    place: Place,
    ended: bool,
}

impl<'b, R: Read> Lines<'b, R> {
    /// The lines of a source whose first is the first of its file.
    pub(crate) fn new(source: R, buffer: &'b mut Buffer) -> Self {
        Self::from(source, buffer, Place { line: 1, offset: 0 })
    }

    /// The lines of a source whose first stands at `place` in its file.
    pub(crate) fn from(source: R, buffer: &'b mut Buffer, place: Place) -> Self {
        buffer.reset(BLOCK);
        let Buffer { bytes, marks } = buffer;
        let marker = Marker::default();
        Self { source, bytes, marks, marker, max_line: MAX_LINE, start: 0, end: 0, place, ended: false }
    }

    /// Where the next line stands: at the end of the source, once there are no more.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Passes what is ahead up to the next LF, without keeping any of it; gives up behind the offset `until`.
    pub(crate) fn skip_line(&mut self, until: u64) -> io::Result<()> {
        self.skip(until).map(drop)
    }

    /// The next line, or None at the end of the source. The last one needs no LF.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let Some(length) = self.find_end()? else {
            return self.skip(u64::MAX).map(Some);
        };
        let from = self.start;
        let until = from + length;
        let terminated = until < self.end;
        if length == 0 && !terminated {
            return Ok(None);
        }
        self.start = until + usize::from(terminated);
        let place = self.step(self.start - from);
        Ok(Some(Line { place, content: self.content(from..until, place) }))
    }

    /// Reads until the buffer holds the next LF or all that is left: the line's length, or None if it is too long.
    fn find_end(&mut self) -> io::Result<Option<usize>> {
        let mut searched = 0;
        loop {
            if let Some(at) = find_lf(self.marks, self.start + searched, self.end) {
                return Ok(Some(at - self.start).filter(|&length| length <= self.max_line));
            }
            searched = self.end - self.start;
            if searched > self.max_line {
                return Ok(None);
            }
            if self.ended || self.fill()? == 0 {
                return Ok(Some(searched));
            }
        }
    }

    /// Passes the line ahead, without keeping it, if it does not reach beyond `until`.
    fn skip(&mut self, until: u64) -> io::Result<Line<'_>> {
        let mut passed = 0;
        loop {
            let found = find_lf(self.marks, self.start, self.end);
            let after = found.map_or(self.end, |at| at + 1);
            passed += after - self.start;
            self.start = after;
            let is_over = found.is_some() || self.ended || self.place.offset + passed as u64 > until;
            if is_over || self.fill()? == 0 {
                return Ok(Line { place: self.step(passed), content: Content::TooLong });
            }
        }
    }

    /// Reads one more block behind what is left in the buffer; 0 at the end of the source.
    fn fill(&mut self) -> io::Result<usize> {
        self.drop_front(self.start / marks::BLOCK * marks::BLOCK);
        if self.end == self.bytes.len() {
            self.grow();
        }
        loop {
            let until = self.bytes.len().min(self.end + BLOCK);
            match self.source.read(&mut self.bytes[self.end..until]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(count) => {
                    self.end += count;
                    self.ended = count == 0;
                    self.marker.mark(&self.bytes[..self.end], self.marks);
                    return Ok(count);
                }
            }
        }
    }

    /// Makes the buffer larger, for a line that it does not hold.
    fn grow(&mut self) {
        let longest = self.max_line + 2 * BLOCK;
        let length = (self.bytes.len() * 2).min(longest);
        if length > LONG {
            // Room that is not used costs nothing, and to move what is there would take as much again. (Where the system gives
            // no room, it moves.)
            _ = self.bytes.try_reserve_exact(longest - self.bytes.len());
            _ = self.marks.try_reserve_exact((longest / marks::BLOCK).saturating_sub(self.marks.len()));
        }
        self.bytes.resize(length, 0);
    }

    /// Forgets the first bytes of the buffer, whole blocks of marks.
    fn drop_front(&mut self, count: usize) {
        if count == 0 {
            return; // a long line grows
        }
        self.bytes.copy_within(count..self.end, 0);
        self.marker.drop_front(count, self.end, self.marks);
        self.start -= count;
        self.end -= count;
    }

    /// What stands at that place of the buffer, and in the file at that of a line.
    fn content(&self, range: Range<usize>, place: Place) -> Content<'_> {
        let (text, padded) = trim(&self.bytes[range.clone()], place);
        let indent = text.start;
        let text = Text::new(self.bytes, self.marks, range.start + text.start..range.start + text.end);
        Content::Text { text, indent, padded }
    }

    /// Moves on to the next line; gives the place of the one that took `length` bytes, its LF included.
    fn step(&mut self, length: usize) -> Place {
        let place = self.place;
        self.place = Place { line: place.line + 1, offset: place.offset + length as u64 };
        place
    }
}

/// Where a line's text is, without white space and NULs (a power cut leaves them) at both ends, and without a byte-order mark at
/// the file's start; and whether there were NULs.
fn trim(line: &[u8], place: Place) -> (Range<usize>, bool) {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0);
    let mark = if place.offset == 0 && line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let from = line[mark..].iter().position(|byte| !blank(byte)).map_or(line.len(), |at| mark + at);
    let until = line[from..].iter().rposition(|byte| !blank(byte)).map_or(from, |at| from + at + 1);
    (from..until, line[mark..from].contains(&0) || line[until..].contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives its bytes a few at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(into.len());
            let mut piece = &self.0[..count.min(self.0.len())];
            let count = piece.read(into)?;
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn texts(bytes: &[u8], piece: usize, max_line: usize) -> Vec<(u64, u64, Option<Vec<u8>>)> {
        let mut buffer = Buffer::default();
        let mut lines = Lines::new(Trickle(bytes, piece), &mut buffer);
        lines.max_line = max_line;
        let mut all = Vec::new();
        while let Some(Line { place, content }) = lines.next().expect("reading memory cannot fail") {
            let text = match content {
                Content::Text { text, .. } => Some(text.bytes().to_vec()),
                Content::TooLong => None,
            };
            all.push((place.line, place.offset, text));
        }
        assert_eq!(lines.place().offset, bytes.len() as u64);
        all
    }

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        let found = texts(b"ab\n123456789\ncd\n123456789", 3, 4);
        let text = |text: &[u8]| Some(text.to_vec());
        assert_eq!(found, [(1, 0, text(b"ab")), (2, 3, None), (3, 13, text(b"cd")), (4, 16, None)]);
    }

    #[test]
    fn white_space_nuls_and_a_mark_are_no_text() {
        let line = |bytes| trim(bytes, Place { line: 1, offset: 0 });
        assert_eq!(line(b"\xef\xbb\xbf {} \r"), (4..6, false));
        assert_eq!(line(b"\0 \0{\0}\r\0"), (3..6, true));
        assert_eq!(line(b"\0\0"), (2..2, true));
        assert_eq!(trim(b"\xef\xbb\xbf{}", Place { line: 2, offset: 9 }), (0..5, false));
    }

    proptest! {
        #[test]
        fn blocks_do_not_show(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), Just(b'\r')], 0..200),
                              piece in 1_usize..9) {
            prop_assert_eq!(texts(&bytes, piece, 20), texts(&bytes, 1000, 20));
            let mut expected: Vec<_> = bytes.split(|&byte| byte == b'\n').collect();
            if expected.last().is_some_and(|last| last.is_empty()) {
                expected.pop();
            }
            prop_assert_eq!(texts(&bytes, piece, 1000).len(), expected.len());
        }
    }
}
