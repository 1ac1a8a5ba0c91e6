//! Text to words, words to shingles, and strings of JSON.

use std::arch::x86_64::*;

use super::aes::FourRegisters;
use super::{load, store};
use crate::{HashKey, WordMask};

/// See [`crate::lower_blocks`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn lower_blocks(
    text: &[u8],
    lower: bool,
    padded: &mut [u8],
    masks: &mut [WordMask],
) -> bool {
    crate::scalar::assert_room(text, padded, masks);
    // Added to A to Z it makes them a to z.
    let case = _mm256_set1_epi8(if lower { 0x20 } else { 0 });
    let (blocks, rest) = text.as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    let mut others = 0;
    let copies = padded.as_chunks_mut::<64>().0.iter_mut().zip(masks);
    for (block, (copy, mask)) in blocks.iter().chain([&last]).zip(copies) {
        let (halves, _) = block.as_chunks::<32>();
        let (copies, _) = copy.as_chunks_mut::<32>();
        let (low, high) = (load(&halves[0]), load(&halves[1]));
        store(lower_case(low, case), &mut copies[0]);
        store(lower_case(high, case), &mut copies[1]);
        let (low, high) = (classify(low), classify(high));
        mask.word = u64::from(low.0) | u64::from(high.0) << 32;
        mask.other = u64::from(low.1) | u64::from(high.1) << 32;
        others |= mask.other;
    }
    padded[64 * (blocks.len() + 1)..].fill(0);
    others == 0
}

/// A to Z with `case` added, other bytes as they are.
#[inline]
#[target_feature(enable = "avx2")]
fn lower_case(bytes: __m256i, case: __m256i) -> __m256i {
    // A to Z become the 26 smallest signed numbers.
    let from_a = _mm256_add_epi8(bytes, _mm256_set1_epi8(i8::MIN.wrapping_sub(b'A' as i8)));
    let upper = _mm256_cmpgt_epi8(_mm256_set1_epi8(i8::MIN + 26), from_a);
    _mm256_add_epi8(bytes, _mm256_and_si256(upper, case))
}

/// A byte belongs to a word when its two halves have a kind in common: kind 1 are the digits (0x30 to
/// 0x39), kind 2 the letters from A or a on (0x41 to 0x4f, 0x61 to 0x6f), kind 4 those from P or p on
/// (0x50 to 0x5a, 0x70 to 0x7a), kind 8 the underscore (0x5f).
#[inline]
#[target_feature(enable = "avx2")]
fn classify(bytes: __m256i) -> (u32, u32) {
    #[rustfmt::skip]
    let kinds_by_low = _mm256_setr_epi8(
        5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 2, 2, 2, 2, 10,
        5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 2, 2, 2, 2, 10,
    );
    #[rustfmt::skip]
    let kinds_by_high = _mm256_setr_epi8(
        0, 0, 0, 1, 2, 12, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 1, 2, 12, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0,
    );
    let nibble = _mm256_set1_epi8(0x0f);
    let low = _mm256_and_si256(bytes, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
    let kinds = _mm256_and_si256(
        _mm256_shuffle_epi8(kinds_by_low, low),
        _mm256_shuffle_epi8(kinds_by_high, high),
    );
    let between = _mm256_cmpeq_epi8(kinds, _mm256_setzero_si256());
    (!_mm256_movemask_epi8(between) as u32, _mm256_movemask_epi8(bytes) as u32)
}

/// See [`crate::hash_words`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
pub(crate) fn hash_words(key: &HashKey, padded: &[u8], masks: &[WordMask], tokens: &mut Vec<u64>) {
    crate::scalar::words_hashed::<FourRegisters>(
        key,
        padded,
        masks,
        tokens,
        |bits, base, places| {
            crate::scalar::each_byte(bits, base, places, |all, base, places| {
                let all = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(*all)));
                let sums = _mm256_add_epi32(all, _mm256_set1_epi32(base as i32));
                // SAFETY: 32 bytes are writable at `places`, and the store asks for no alignment.
                unsafe { _mm256_storeu_si256(places.as_mut_ptr().cast::<__m256i>(), sums) };
            });
        },
    );
}

/// See [`crate::hash_pieces`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
pub(crate) fn hash_pieces(key: &HashKey, padded: &[u8], pieces: &[[u32; 2]], out: &mut Vec<u64>) {
    crate::scalar::pieces_hashed::<FourRegisters>(key, padded, pieces, out);
}

/// See [`crate::hash_piece`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
pub(crate) fn hash_piece(key: &HashKey, piece: &[u8]) -> u64 {
    crate::hash::piece_hashed::<FourRegisters>(key, piece)
}

/// See [`crate::fingerprint`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
pub(crate) fn fingerprint(key: &HashKey, text: &[u8]) -> u128 {
    crate::hash::text_fingerprint::<FourRegisters>(key, text)
}

/// See [`crate::shingle`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
pub(crate) fn shingle(key: &HashKey, tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    crate::hash::shingles::<FourRegisters>(key, tokens, k, out);
}

/// See [`crate::join_windows`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
pub(crate) fn join_windows(key: &HashKey, words: &[[u64; 2]], k: usize, out: &mut Vec<[u64; 2]>) {
    crate::hash::windows_joined::<FourRegisters>(key, words, k, out);
}

/// See [`crate::string_special`].
#[target_feature(enable = "avx2")]
pub(crate) fn string_special(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<32>();
    for (i, block) in blocks.iter().enumerate() {
        let special = specials(load(block));
        if special != 0 {
            return 32 * i + special.trailing_zeros() as usize;
        }
    }
    32 * blocks.len() + crate::scalar::string_special(rest)
}

/// See [`crate::unescape`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn unescape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    crate::json::unescaped_in_blocks(bytes, out, |block| specials(load(block)).into())
}

/// Which bytes are a quote, a backslash, or below 0x20.
#[inline]
#[target_feature(enable = "avx2")]
fn specials(block: __m256i) -> u32 {
    // Zero where a byte is a quote, a backslash, or at most 0x1f.
    let quote = _mm256_xor_si256(block, _mm256_set1_epi8(b'"' as i8));
    let backslash = _mm256_xor_si256(block, _mm256_set1_epi8(b'\\' as i8));
    let control = _mm256_subs_epu8(block, _mm256_set1_epi8(0x1f));
    let least = _mm256_min_epu8(_mm256_min_epu8(quote, backslash), control);
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(least, _mm256_setzero_si256())) as u32
}
