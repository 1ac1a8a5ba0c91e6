//! Bits that are shared or different, and bytes of sketches.

use std::arch::x86_64::*;

use super::load;

/// See [`crate::any_equal`]. Looks at all numbers, because the place of the first equal one cannot be predicted.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn any_equal(a: &[u64], b: &[u64]) -> bool {
    assert_eq!(a.len(), b.len(), "lists of the same length");
    let (a_fours, a_rest) = a.as_chunks::<4>();
    let (b_fours, b_rest) = b.as_chunks::<4>();
    let mut equal = _mm256_setzero_si256();
    for (x, y) in a_fours.iter().zip(b_fours) {
        // SAFETY: 32 bytes are readable at each, and the loads ask for no alignment.
        let (x, y) = unsafe {
            (
                _mm256_loadu_si256(x.as_ptr().cast::<__m256i>()),
                _mm256_loadu_si256(y.as_ptr().cast::<__m256i>()),
            )
        };
        equal = _mm256_or_si256(equal, _mm256_cmpeq_epi64(x, y));
    }
    let rest = a_rest.iter().zip(b_rest).fold(false, |any, (x, y)| any | (x == y));
    _mm256_movemask_epi8(equal) != 0 || rest
}

/// See [`crate::hamming`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn hamming(a: &[u64], b: &[u64]) -> u64 {
    crate::scalar::bits_differing(a, b)
}

/// See [`crate::common_bits`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn common_bits(a: &[u64], b: &[u64]) -> u64 {
    crate::scalar::bits_in_common(a, b)
}

/// See [`crate::last_bytes`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn last_bytes(values: &[u32], words: &mut [u64]) {
    crate::scalar::bytes_put(values, words);
}

/// See [`crate::agreeing`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn agreeing(
    one: &[u64],
    many: &[u64],
    keys: usize,
    before: usize,
    agreement: usize,
    out: &mut Vec<u32>,
) -> usize {
    let (first, rest) = (before / 8, before % 8);
    let (blocks, last) = ((one.len() - keys) / 4, (one.len() - keys) % 4);
    let (rest, last) = (first_halves(rest), first_halves(2 * last));
    // Bytes that are left out are equal in the last block.
    let agreement = agreement + _mm256_movemask_epi8(last).count_zeros() as usize;
    crate::scalar::agreeing_heads(one, many, (keys, before), out, |head| {
        let (own, head) = (one.as_ptr(), head.as_ptr());
        // SAFETY: heads have as many words as `one`, with `before` keys in the first `keys` and bytes in the others; what
        // is not among the first halves is not read.
        let four = |head: *const u64, block: usize| unsafe {
            _mm256_loadu_si256(head.add(4 * block).cast::<__m256i>())
        };
        // SAFETY: the same.
        let part = |head: *const u64, block: usize, mask: __m256i| unsafe {
            _mm256_maskload_epi32(head.add(4 * block).cast::<i32>(), mask)
        };
        let mut shared = _mm256_and_si256(
            rest,
            _mm256_cmpeq_epi32(part(own, first, rest), part(head, first, rest)),
        );
        for block in 0..first {
            let equal = _mm256_cmpeq_epi32(four(own, block), four(head, block));
            shared = _mm256_or_si256(shared, equal);
        }
        // SAFETY: as above.
        let (own, head) = unsafe { (own.add(keys), head.add(keys)) };
        let bits = |equal: __m256i| _mm256_movemask_epi8(equal).count_ones() as usize;
        let mut equal = bits(_mm256_cmpeq_epi8(part(own, blocks, last), part(head, blocks, last)));
        for block in 0..blocks {
            equal += bits(_mm256_cmpeq_epi8(four(own, block), four(head, block)));
        }
        (_mm256_testz_si256(shared, shared) == 1, equal >= agreement)
    })
}

/// All ones in the first of eight halves of words.
#[inline]
#[target_feature(enable = "avx2")]
fn first_halves(count: usize) -> __m256i {
    _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0))
}

/// See [`crate::equal_bytes`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn equal_bytes(a: &[u8], b: &[u8]) -> usize {
    assert_eq!(a.len(), b.len(), "slices of the same length");
    let equal = |a, b| _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(a), load(b))) as u32;
    let (a_blocks, a_rest) = a.as_chunks();
    let (b_blocks, b_rest) = b.as_chunks();
    let mut count: usize = 0;
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        count += equal(a, b).count_ones() as usize;
    }
    match (a.last_chunk(), b.last_chunk()) {
        // The last 32, less those that were counted already.
        (Some(a), Some(b)) if !a_rest.is_empty() => {
            count + (equal(a, b) >> (32 - a_rest.len())).count_ones() as usize
        }
        _ => count + crate::scalar::equal_bytes(a_rest, b_rest),
    }
}

/// See [`crate::turn_bits`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn turn_bits(numbers: &[u64], words: &mut [u64]) {
    crate::scalar::turned_bits(numbers, words);
}

/// See [`crate::mark`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn mark(
    numbers: &[u64],
    places: &[u64],
    bits: &[u32],
    shift: u32,
    words: &mut [u64],
) -> usize {
    crate::scalar::mark_all(numbers, places, bits, shift, words)
}
