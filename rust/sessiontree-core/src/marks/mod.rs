//! What is special in a text, 64 bytes at a time, as bit masks: where strings and lines end, and where to look closer.
//!
//! Most bytes of a session stand inside strings, and of those most are plain. So bytes are marked first, by vector
//! instructions, as they come from the file; whoever reads them then jumps from mark to mark, and never goes byte by byte.
//! Which instructions those are is found out at run time ([`vector`]); [`portable`] does without, and is what the others are
//! tested against.

mod portable;
#[cfg(target_arch = "x86_64")]
mod vector;
pub(crate) mod ways;

use std::ops::Range;

/// How many bytes one mask tells of.
pub(crate) const BLOCK: usize = 64;

/// A stretch of that many bytes.
type Block = [u8; BLOCK];

/// What is special in a block, a bit a byte, the lowest being the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Quotes that are not escaped: where strings begin and end.
    quotes: u64,
    backslashes: u64,
    /// LFs.
    line_ends: u64,
    /// What needs a closer look: control characters, and what is escaped in one of the rarer ways.
    odd: u64,
    /// Bytes from 0x80 up.
    high: u64,
}

/// What the instructions tell of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    quotes: u64,
    backslashes: u64,
    line_ends: u64,
    /// Bytes below 0x20, LF among them.
    controls: u64,
    /// The letters that are escaped most: n, r and t.
    letters: u64,
    high: u64,
}

impl Found {
    /// `carry` says whether the block's first byte is escaped, and is set for the next block.
    #[expect(clippy::inline_always, reason = "it is to become part of functions for other instructions than its own")]
    #[inline(always)]
    fn marks(self, carry: &mut bool) -> Marks {
        let escaped = escaped(self.backslashes, carry);
        let plain = self.quotes | self.backslashes | self.letters;
        Marks {
            quotes: self.quotes & !escaped,
            backslashes: self.backslashes,
            line_ends: self.line_ends,
            odd: self.controls | escaped & !plain,
            high: self.high,
        }
    }
}

/// Which bytes of a block are escaped: those behind a backslash that is not escaped itself.
///
/// In a run of backslashes every other one escapes what follows it, the first one to begin with. Adding the starts of the runs
/// that begin at an odd place to the mask of all backslashes carries through each such run and flips the sense of its places:
/// so all runs are dealt with at once, and a run that goes on into the next block carries over into it.
///
/// Outside strings a backslash is an error, so nobody asks there what it escapes.
#[inline]
fn escaped(backslashes: u64, carry: &mut bool) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let first = u64::from(*carry);
    let backslashes = backslashes & !first;
    let behind = backslashes << 1 | first;
    let odd_starts = backslashes & !EVEN & !behind;
    let (flipped, overflowed) = odd_starts.overflowing_add(backslashes);
    *carry = overflowed;
    (EVEN ^ (flipped << 1)) & behind
}

/// Marks blocks that follow one another.
fn mark(blocks: &[Block], carry: &mut bool, into: &mut [Marks]) {
    #[cfg(test)]
    if let Some(mark) = ways::chosen() {
        return mark(blocks, carry, into);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(mark) = vector::ways().next() {
        return mark(blocks, carry, into);
    }
    portable::mark(blocks, carry, into);
}

/// The marks of bytes that come in pieces.
#[derive(Debug, Default)]
pub(crate) struct Marker {
    /// How many bytes have been marked for good: whole blocks.
    done: usize,
    /// Whether the next byte is escaped.
    carry: bool,
}

impl Marker {
    /// Marks `bytes`, of which those that were there the last time need not be looked at again. What `into` holds beyond is
    /// of no meaning.
    pub(crate) fn mark(&mut self, bytes: &[u8], into: &mut Vec<Marks>) {
        let (blocks, rest) = bytes[self.done..].as_chunks();
        let count = bytes.len().div_ceil(BLOCK);
        if into.len() < count {
            into.resize(count, Marks::default());
        }
        let (marks, last) = into[self.done / BLOCK..count].split_at_mut(blocks.len());
        mark(blocks, &mut self.carry, marks);
        self.done += blocks.len() * BLOCK;
        if !rest.is_empty() {
            // Filled up with what is never special, be it escaped.
            let mut block = [b'n'; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            mark(&[block], &mut { self.carry }, last);
        }
    }

    /// Forgets the first of `length` bytes, a multiple of a block.
    pub(crate) fn drop_front(&mut self, count: usize, length: usize, marks: &mut [Marks]) {
        marks.copy_within(count / BLOCK..length.div_ceil(BLOCK), 0);
        self.done -= count;
    }
}

/// The place of the first LF from `from` on, up to `until`, in marked bytes.
pub(crate) fn find_lf(marks: &[Marks], from: usize, until: usize) -> Option<usize> {
    let mut live = u64::MAX << (from % BLOCK);
    for (number, marks) in marks[..until.div_ceil(BLOCK)].iter().enumerate().skip(from / BLOCK) {
        let line_ends = marks.line_ends & live;
        if line_ends != 0 {
            return Some(number * BLOCK + line_ends.trailing_zeros() as usize);
        }
        live = u64::MAX;
    }
    None
}

/// A stretch of marked bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    bytes: &'a [u8],
    /// Those of the blocks that it lies in.
    marks: &'a [Marks],
    /// Where in the first of these blocks it begins.
    start: usize,
}

/// Where a string ends.
pub(crate) struct StringEnd {
    /// The place of the quote; None if the text ends before there is one.
    pub(crate) quote: Option<usize>,
    /// Whether any byte before it needs a closer look.
    pub(crate) is_odd: bool,
    /// False if none is a backslash.
    pub(crate) may_be_escaped: bool,
    /// Whether any is no ASCII.
    pub(crate) is_high: bool,
}

impl<'a> Text<'a> {
    /// A stretch of bytes whose marks are these.
    pub(crate) fn new(bytes: &'a [u8], marks: &'a [Marks], range: Range<usize>) -> Self {
        let blocks = range.start / BLOCK..range.end.div_ceil(BLOCK).max(range.start / BLOCK);
        Self { start: range.start % BLOCK, marks: &marks[blocks], bytes: &bytes[range] }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// A part of it.
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        let (from, until) = (self.start + range.start, self.start + range.end);
        let blocks = from / BLOCK..until.div_ceil(BLOCK).max(from / BLOCK);
        Self { start: from % BLOCK, marks: &self.marks[blocks], bytes: &self.bytes[range] }
    }

    /// Looks for the end of a string whose first byte after the opening quote is at `from`.
    #[inline]
    pub(crate) fn string_end(self, from: usize) -> StringEnd {
        let place = self.start + from;
        let number = place / BLOCK;
        let (first, others) = match self.marks.get(number..) {
            Some([first, others @ ..]) => (*first, others),
            _ => (Marks::default(), &[][..]),
        };
        let live = u64::MAX << (place % BLOCK);
        let at = |number: usize, quotes: u64| {
            let at = number * BLOCK + quotes.trailing_zeros() as usize - self.start;
            (at < self.bytes.len()).then_some(at)
        };
        // Most end in the block that they begin in.
        let quotes = first.quotes & live;
        let inside = up_to_first(quotes) & live;
        let (mut odd, mut high) = (first.odd & inside, first.high & inside);
        if quotes != 0 {
            let is_escaped = first.backslashes & inside != 0;
            return StringEnd {
                quote: at(number, quotes),
                is_odd: odd != 0,
                may_be_escaped: is_escaped,
                is_high: high != 0,
            };
        }
        for (number, marks) in (number + 1..).zip(others) {
            let inside = up_to_first(marks.quotes);
            odd |= marks.odd & inside;
            high |= marks.high & inside;
            if marks.quotes != 0 {
                let quote = at(number, marks.quotes);
                return StringEnd { quote, is_odd: odd != 0, may_be_escaped: true, is_high: high != 0 };
            }
        }
        StringEnd { quote: None, is_odd: odd != 0, may_be_escaped: true, is_high: high != 0 }
    }

    /// Calls `each` with the places of the bytes from `from` up to `until` that need a closer look, until it fails.
    pub(crate) fn for_odd<E>(
        self,
        from: usize,
        until: usize,
        mut each: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let (from, until) = (self.start + from, self.start + until);
        for (number, marks) in self.marks.iter().enumerate().skip(from / BLOCK) {
            let block = number * BLOCK;
            if block >= until {
                break;
            }
            let mut odd = marks.odd & within(block, from, until);
            while odd != 0 {
                each(block + odd.trailing_zeros() as usize - self.start)?;
                odd &= odd - 1;
            }
        }
        Ok(())
    }

    /// Where the text is no longer UTF-8, if it is not all.
    ///
    /// Bytes from 0x80 up stand in sequences, and no other byte does: what lies between them need not be looked at.
    pub(crate) fn first_not_utf8(self) -> Option<usize> {
        let end = self.start + self.bytes.len();
        // Up to where sequences have been checked.
        let mut done = self.start;
        for (number, marks) in self.marks.iter().enumerate() {
            if marks.high == 0 {
                continue;
            }
            let block = number * BLOCK;
            let mut high = marks.high & within(block, done, end);
            while high != 0 {
                let at = block + high.trailing_zeros() as usize - self.start;
                let Some(length) = sequence(&self.bytes[at..]) else { return Some(at) };
                done = self.start + at + length;
                high &= within(block, done, end);
            }
        }
        None
    }
}

/// The length of the UTF-8 sequence of several bytes that comes first, if one does.
fn sequence(bytes: &[u8]) -> Option<usize> {
    let goes_on = |byte: &u8| matches!(byte, 0x80..=0xbf);
    match bytes {
        [0xe1..=0xec | 0xee | 0xef, b, c, ..] if goes_on(b) && goes_on(c) => Some(3),
        [0xc2..=0xdf, b, ..] if goes_on(b) => Some(2),
        [0xe0, 0xa0..=0xbf, c, ..] | [0xed, 0x80..=0x9f, c, ..] if goes_on(c) => Some(3),
        [0xf0, 0x90..=0xbf, c, d, ..] | [0xf1..=0xf3, 0x80..=0xbf, c, d, ..] | [0xf4, 0x80..=0x8f, c, d, ..]
            if goes_on(c) && goes_on(d) =>
        {
            Some(4)
        }
        _ => None,
    }
}

/// The bits below the lowest that is set; all if none is.
fn up_to_first(mask: u64) -> u64 {
    mask.wrapping_sub(1) & !mask
}

/// The bits of the block at `block` that are of what lies from `start` up to `end`, which is behind its beginning.
fn within(block: usize, start: usize, end: usize) -> u64 {
    let from = start.saturating_sub(block);
    let until = BLOCK - (end - block).min(BLOCK);
    if from < BLOCK { u64::MAX << from & u64::MAX >> until } else { 0 }
}

/// Bytes with marks of their own: those of a text that does not come from a file.
pub(crate) struct Marked<'a> {
    bytes: &'a [u8],
    marks: Vec<Marks>,
}

impl<'a> Marked<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut marks = Vec::new();
        Marker::default().mark(bytes, &mut marks);
        Self { bytes, marks }
    }

    pub(crate) fn text(&self) -> Text<'_> {
        Text::new(self.bytes, &self.marks, 0..self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn mask(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> u64 {
        bytes.iter().enumerate().map(|(at, &byte)| u64::from(is_wanted(byte)) << at).sum()
    }

    /// Bytes among which those that matter are frequent.
    fn bytes(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
        let special = prop::sample::select(b"\"\\\\\\nrtbu/\n\r\t\x1f \xc3\xa9\x80\xff".to_vec());
        prop::collection::vec(prop_oneof![special, any::<u8>()], length)
    }

    /// The marks of a text by the plainest of means.
    fn expected(text: &[u8]) -> Vec<Marks> {
        let (mut is_escaped, mut escaped) = (false, Vec::new());
        for &byte in text {
            escaped.push(is_escaped);
            is_escaped = byte == b'\\' && !is_escaped;
        }
        let each = text.iter().copied().zip(escaped).collect::<Vec<_>>();
        let bits = |block: &[(u8, bool)], is: &dyn Fn(u8, bool) -> bool| -> u64 {
            block.iter().enumerate().map(|(at, &(byte, escaped))| u64::from(is(byte, escaped)) << at).sum()
        };
        each.chunks(BLOCK)
            .map(|block| Marks {
                quotes: bits(block, &|byte, escaped| byte == b'"' && !escaped),
                backslashes: bits(block, &|byte, _| byte == b'\\'),
                line_ends: bits(block, &|byte, _| byte == b'\n'),
                odd: bits(block, &|byte, escaped| byte < 0x20 || escaped && !b"\"\\nrt".contains(&byte)),
                high: bits(block, &|byte, _| byte >= 0x80),
            })
            .collect()
    }

    proptest! {
        #[test]
        fn every_kind_of_instruction_finds_the_same(block in bytes(BLOCK..BLOCK + 1), carry: bool) {
            let block: Block = block.try_into().unwrap();
            let expected = Found {
                quotes: mask(&block, |byte| byte == b'"'),
                backslashes: mask(&block, |byte| byte == b'\\'),
                line_ends: mask(&block, |byte| byte == b'\n'),
                controls: mask(&block, |byte| byte < 0x20),
                letters: mask(&block, |byte| b"nrt".contains(&byte)),
                high: mask(&block, |byte| byte >= 0x80),
            };
            let mut expected_after = carry;
            let expected = [expected.marks(&mut expected_after)];
            for way in ways::all() {
                let (mut after, mut marks) = (carry, [Marks::default()]);
                way(&[block], &mut after, &mut marks);
                prop_assert_eq!((marks, after), (expected, expected_after));
            }
        }

        #[test]
        fn marks_do_not_depend_on_the_pieces(text in bytes(0..300), cuts in prop::collection::vec(0_usize..300, 0..5), dropped in 0_usize..4) {
            let expected = expected(&text);
            let (mut marker, mut marks, mut gone) = (Marker::default(), Vec::new(), 0);
            let mut cuts = cuts.into_iter().filter(|&cut| cut < text.len()).chain([text.len()]).collect::<Vec<_>>();
            cuts.sort_unstable();
            for cut in cuts {
                marker.mark(&text[gone..cut], &mut marks);
                let count = (dropped * BLOCK).min((cut - gone) / BLOCK * BLOCK);
                prop_assert_eq!(&marks[..count / BLOCK], &expected[gone / BLOCK..][..count / BLOCK]);
                marker.drop_front(count, cut - gone, &mut marks);
                gone += count;
            }
            let left = (text.len() - gone).div_ceil(BLOCK);
            prop_assert_eq!(&marks[..left], &expected[gone / BLOCK..]);
        }

        #[test]
        fn utf8_is_checked_as_a_whole(text in bytes(0..300), is_utf8: bool, from in 0_usize..100, length in 0_usize..300) {
            let text = if is_utf8 { String::from_utf8_lossy(&text).into_owned().into_bytes() } else { text };
            let marked = Marked::new(&text);
            let range = from.min(text.len())..(from + length).min(text.len());
            let found = marked.text().part(range.clone()).first_not_utf8();
            prop_assert_eq!(found, str::from_utf8(&text[range]).err().map(|error| error.valid_up_to()));
        }

        #[test]
        fn strings_and_lines_end_where_they_do(text in bytes(0..300), start in 0_usize..200, from in 0_usize..100) {
            let marked = Marked::new(&text);
            let start = start.min(text.len());
            let part = marked.text().part(start..text.len());
            let from = from.min(text.len() - start);
            let expected = expected(&text);
            let is = |mask: fn(&Marks) -> u64, at: usize| mask(&expected[at / BLOCK]) >> (at % BLOCK) & 1 == 1;
            let quote = (start + from..text.len()).find(|&at| is(|marks| marks.quotes, at));
            let end = part.string_end(from);
            prop_assert_eq!(end.quote, quote.map(|at| at - start));
            let odd = (start + from..quote.unwrap_or(text.len())).filter(|&at| is(|marks| marks.odd, at)).collect::<Vec<_>>();
            let until = end.quote.unwrap_or(part.bytes().len());
            let inside = &part.bytes()[from..until];
            if end.quote.is_some() {
                prop_assert_eq!(end.is_odd, !odd.is_empty());
                prop_assert_eq!(end.is_high, !inside.is_ascii());
                prop_assert!(end.may_be_escaped || !inside.contains(&b'\\'));
                prop_assert!(!end.may_be_escaped || inside.contains(&b'\\') || (start + from) / BLOCK < (start + until) / BLOCK);
            }
            let mut found = Vec::new();
            let Ok(()) = part.for_odd::<Infallible>(from, until, |at| {
                found.push(at + start);
                Ok(())
            });
            prop_assert_eq!(found, odd);
            let lf = text[start..].iter().position(|&byte| byte == b'\n').map(|at| at + start);
            prop_assert_eq!(find_lf(&marked.marks, start, text.len()), lf);
        }
    }
}
