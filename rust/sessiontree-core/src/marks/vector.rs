//! Marks by AVX-512 or AVX2, where the processor that runs this has them.
//!
//! The only unsafe code of the crate: two calls, each made only where the processor was found to have what the function needs.
//! All that happens inside is safe: blocks are arrays, and become vectors by a cast whose sizes the compiler checks.
#![expect(unsafe_code, reason = "a function for instructions that not every processor has can only be called so")]

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_cmpeq_epi8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
    _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_movepi8_mask, _mm512_set1_epi8,
};

use bytemuck::must_cast;

use super::{Block, Found, Marks};

/// A way to mark blocks.
pub(super) type Mark = fn(&[Block], &mut bool, &mut [Marks]);

/// The ways that this processor has, the best first.
pub(super) fn ways() -> impl Iterator<Item = Mark> {
    let avx512: Mark = |blocks, carry, into| {
        // SAFETY: handed out below only where the processor has AVX-512 BW.
        unsafe { mark_avx512(blocks, carry, into) }
    };
    let avx2: Mark = |blocks, carry, into| {
        // SAFETY: handed out below only where the processor has AVX2.
        unsafe { mark_avx2(blocks, carry, into) }
    };
    let has = [is_x86_feature_detected!("avx512bw"), is_x86_feature_detected!("avx2")];
    [avx512, avx2].into_iter().zip(has).filter_map(|(way, has)| has.then_some(way))
}

#[target_feature(enable = "avx512bw")]
fn mark_avx512(blocks: &[Block], carry: &mut bool, into: &mut [Marks]) {
    for (&block, marks) in blocks.iter().zip(into) {
        let bytes: __m512i = must_cast(block);
        let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
        let found = Found {
            quotes: is(b'"'),
            backslashes: is(b'\\'),
            line_ends: is(b'\n'),
            controls: _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20)),
            letters: is(b'n') | is(b'r') | is(b't'),
            high: _mm512_movepi8_mask(bytes),
        };
        *marks = found.marks(carry);
    }
}

#[target_feature(enable = "avx2")]
fn mark_avx2(blocks: &[Block], carry: &mut bool, into: &mut [Marks]) {
    for (&block, marks) in blocks.iter().zip(into) {
        let [low, high]: [__m256i; 2] = must_cast(block);
        let both = |of: &dyn Fn(__m256i) -> __m256i| {
            let bits = |half| u64::from(_mm256_movemask_epi8(of(half)).cast_unsigned());
            bits(low) | bits(high) << 32
        };
        let is = |half, byte: u8| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte.cast_signed()));
        let found = Found {
            quotes: both(&|half| is(half, b'"')),
            backslashes: both(&|half| is(half, b'\\')),
            line_ends: both(&|half| is(half, b'\n')),
            controls: both(&|half| _mm256_cmpeq_epi8(_mm256_min_epu8(half, _mm256_set1_epi8(0x1f)), half)),
            letters: both(&|half| _mm256_or_si256(_mm256_or_si256(is(half, b'n'), is(half, b'r')), is(half, b't'))),
            high: both(&|half| half),
        };
        *marks = found.marks(carry);
    }
}
