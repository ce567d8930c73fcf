//! Where strings end: what is special in 64 bytes, as bit masks.
//!
//! Most bytes of a session stand inside strings, and of those most are plain: they are looked at 16 at a time, and never one by
//! one. The comparisons are `wide`'s, which has them in vector instructions that every processor of a kind knows.

use wide::u8x16;

/// How many bytes one mask tells of.
pub(crate) const BLOCK: usize = 64;

/// What is special in a block, a bit a byte, the lowest being the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    pub(crate) quotes: u64,
    pub(crate) backslashes: u64,
    /// Bytes below 0x20.
    pub(crate) controls: u64,
    /// The letters that are escaped most: n, r and t.
    pub(crate) letters: u64,
}

impl Masks {
    /// Of the block of a text that begins at `start`; what lies beyond its end is not special.
    pub(crate) fn of(text: &[u8], start: usize) -> Self {
        let ahead = text.get(start..).unwrap_or_default();
        if let Some(block) = ahead.first_chunk() {
            return Self::of_block(block);
        }
        let mut block = [b' '; BLOCK];
        block[..ahead.len()].copy_from_slice(ahead);
        Self::of_block(&block)
    }

    fn of_block(block: &[u8; BLOCK]) -> Self {
        let mut masks = Self::default();
        let (quarters, _) = block.as_chunks::<16>();
        for (number, &quarter) in quarters.iter().enumerate() {
            let bytes = u8x16::new(quarter);
            let bits = |found: u8x16| u64::from(found.to_bitmask()) << (number * 16);
            masks.quotes |= bits(bytes.simd_eq(u8x16::splat(b'"')));
            masks.backslashes |= bits(bytes.simd_eq(u8x16::splat(b'\\')));
            masks.controls |= bits(bytes.min(u8x16::splat(0x1f)).simd_eq(bytes));
            let letter = |letter| bytes.simd_eq(u8x16::splat(letter));
            masks.letters |= bits(letter(b'n') | letter(b'r') | letter(b't'));
        }
        masks
    }
}

/// Which bytes of a block are escaped: those behind a backslash that is not escaped itself.
///
/// In a run of backslashes every other one escapes what follows it, the first one to begin with. Adding the starts of the runs
/// that begin at an odd place to the mask of all backslashes carries through each such run and flips the sense of its places:
/// so all runs are dealt with at once, and a run that goes on into the next block carries over into it.
///
/// `carry` says whether the first byte is escaped, and is set for the next block.
pub(crate) fn escaped(backslashes: u64, carry: &mut bool) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let first = u64::from(*carry);
    let backslashes = backslashes & !first;
    let behind = backslashes << 1 | first;
    let odd_starts = backslashes & !EVEN & !behind;
    let (flipped, overflowed) = odd_starts.overflowing_add(backslashes);
    *carry = overflowed;
    (EVEN ^ (flipped << 1)) & behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mask(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> u64 {
        bytes.iter().enumerate().map(|(at, &byte)| u64::from(is_wanted(byte)) << at).sum()
    }

    proptest! {
        #[test]
        fn masks_tell_what_is_special(text in proptest::collection::vec(any::<u8>(), 0..200), start in 0_usize..210) {
            let block = text.get(start..).unwrap_or_default();
            let block = &block[..block.len().min(BLOCK)];
            let expected = Masks {
                quotes: mask(block, |byte| byte == b'"'),
                backslashes: mask(block, |byte| byte == b'\\'),
                controls: mask(block, |byte| byte < 0x20),
                letters: mask(block, |byte| b"nrt".contains(&byte)),
            };
            prop_assert_eq!(Masks::of(&text, start), expected);
        }

        #[test]
        fn every_other_backslash_of_a_run_escapes(text in r"[\\\\\\a]{128}", first: bool) {
            let (mut is_escaped, mut expected) = (first, Vec::new());
            for byte in text.bytes() {
                expected.push(is_escaped);
                is_escaped = byte == b'\\' && !is_escaped;
            }
            let mut carry = first;
            for (block, expected) in text.as_bytes().chunks(BLOCK).zip(expected.chunks(BLOCK)) {
                let found = escaped(Masks::of(block, 0).backslashes, &mut carry);
                let expected: u64 = expected.iter().enumerate().map(|(at, &is)| u64::from(is) << at).sum();
                prop_assert_eq!(found, expected);
            }
            prop_assert_eq!(carry, is_escaped);
        }
    }
}
