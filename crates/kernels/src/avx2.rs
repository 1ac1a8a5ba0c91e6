//! The kernels with AVX2: 32 bytes at a time.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_cmpeq_epi64,
    _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_permute4x64_epi64, _mm256_set1_epi8, _mm256_setr_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_subs_epu8, _mm256_xor_si256,
};

use crate::WordMask;

/// See [`crate::word_masks`].
#[target_feature(enable = "avx2")]
pub(crate) fn word_masks(text: &[u8], masks: &mut Vec<WordMask>) {
    let blocks = text.as_chunks::<64>().0;
    masks.reserve(blocks.len());
    for block in blocks {
        let (halves, _) = block.as_chunks::<32>();
        let (low, high) = (classify(&halves[0]), classify(&halves[1]));
        masks.push(WordMask {
            word: u64::from(low.0) | u64::from(high.0) << 32,
            other: u64::from(low.1) | u64::from(high.1) << 32,
        });
    }
}

/// A byte belongs to a word when its two halves have a kind in common: kind 1 are the digits (0x30 to
/// 0x39), kind 2 the letters from A or a on (0x41 to 0x4f, 0x61 to 0x6f), kind 4 those from P or p on
/// (0x50 to 0x5a, 0x70 to 0x7a), kind 8 the underscore (0x5f).
#[inline]
#[target_feature(enable = "avx2")]
fn classify(half: &[u8; 32]) -> (u32, u32) {
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
    let bytes = load(half);
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

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are readable at `bytes`, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast::<__m256i>()) }
}

/// See [`crate::string_special`].
#[target_feature(enable = "avx2")]
pub(crate) fn string_special(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<32>();
    for (i, block) in blocks.iter().enumerate() {
        let block = load(block);
        // Zero where a byte is a quote, a backslash, or at most 0x1f.
        let quote = _mm256_xor_si256(block, _mm256_set1_epi8(b'"' as i8));
        let backslash = _mm256_xor_si256(block, _mm256_set1_epi8(b'\\' as i8));
        let control = _mm256_subs_epu8(block, _mm256_set1_epi8(0x1f));
        let least = _mm256_min_epu8(_mm256_min_epu8(quote, backslash), control);
        let special = _mm256_movemask_epi8(_mm256_cmpeq_epi8(least, _mm256_setzero_si256()));
        if special != 0 {
            return 32 * i + special.trailing_zeros() as usize;
        }
    }
    32 * blocks.len() + crate::scalar::string_special(rest)
}

/// See [`crate::shared_at_least`]: blocks of four against blocks of four, each pair of values once.
#[target_feature(enable = "avx2")]
pub(crate) fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize> {
    /// Blocks between two looks at whether enough is left.
    const STRIDE: usize = 16;
    let (mut i, mut j, mut count) = (0, 0, 0);
    loop {
        if count + (a.len() - i).min(b.len() - j) < need {
            return None;
        }
        for _ in 0..STRIDE {
            let (Some(x), Some(y)) = (a[i..].first_chunk::<4>(), b[j..].first_chunk::<4>()) else {
                return crate::scalar::shared_from(a, b, (i, j), count, need);
            };
            count += equal_values(x, y);
            i += 4 * usize::from(x[3] <= y[3]);
            j += 4 * usize::from(y[3] <= x[3]);
        }
    }
}

/// How many of four different values are among four others: each compared with all four turns.
#[inline]
#[target_feature(enable = "avx2")]
fn equal_values(x: &[u64; 4], y: &[u64; 4]) -> usize {
    // SAFETY: 32 bytes are readable at each, and the loads ask for no alignment.
    let (x, y) = unsafe {
        (
            _mm256_loadu_si256(x.as_ptr().cast::<__m256i>()),
            _mm256_loadu_si256(y.as_ptr().cast::<__m256i>()),
        )
    };
    let one = _mm256_permute4x64_epi64::<0b00_11_10_01>(y);
    let two = _mm256_permute4x64_epi64::<0b01_00_11_10>(y);
    let three = _mm256_permute4x64_epi64::<0b10_01_00_11>(y);
    let equal = _mm256_or_si256(
        _mm256_or_si256(_mm256_cmpeq_epi64(x, y), _mm256_cmpeq_epi64(x, one)),
        _mm256_or_si256(_mm256_cmpeq_epi64(x, two), _mm256_cmpeq_epi64(x, three)),
    );
    _mm256_movemask_pd(_mm256_castsi256_pd(equal)).count_ones() as usize
}
