//! Marks by the vector instructions that every processor of a kind has (SSE2, NEON), or by none.

use wide::u8x16;

use super::{Block, Found, Marks};

pub(super) fn mark(blocks: &[Block], carry: &mut bool, into: &mut [Marks]) {
    for (block, marks) in blocks.iter().zip(into) {
        *marks = look(block).marks(carry);
    }
}

fn look(block: &Block) -> Found {
    let mut found = Found::default();
    let (quarters, _) = block.as_chunks::<16>();
    for (number, &quarter) in quarters.iter().enumerate() {
        let bytes = u8x16::new(quarter);
        let is = |byte| bytes.simd_eq(u8x16::splat(byte));
        let bits = |found: u8x16| u64::from(found.to_bitmask()) << (number * 16);
        found.quotes |= bits(is(b'"'));
        found.backslashes |= bits(is(b'\\'));
        found.line_ends |= bits(is(b'\n'));
        found.controls |= bits(bytes.min(u8x16::splat(0x1f)).simd_eq(bytes));
        found.letters |= bits(is(b'n') | is(b'r') | is(b't'));
        found.high |= bits(bytes);
    }
    found
}
