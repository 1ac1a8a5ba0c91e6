//! The kernels with AVX2: 32 bytes at a time.

use std::arch::x86_64::*;

pub(crate) use crate::affine::avx2::{affine_minima_32, affine_minima_64, mersenne_minima};
use crate::float::{self, Sixteen};
use crate::scalar::{FACTORS, PORTION};
pub(crate) use crate::sha1::avx2::sha1_prefixes;
use crate::tiles::{self, TILE};
use crate::{Throw, WordMask};

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

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are readable at `bytes`, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast::<__m256i>()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(value: __m256i, bytes: &mut [u8; 32]) {
    // SAFETY: 32 bytes are writable at `bytes`, and the store asks for no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast::<__m256i>(), value) }
}

/// See [`crate::hash_words`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn hash_words(padded: &[u8], masks: &[WordMask], tokens: &mut Vec<u64>) {
    crate::scalar::words_hashed(padded, masks, tokens, |bits, base, places| {
        crate::scalar::each_byte(bits, base, places, |all, base, places| {
            let all = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(*all)));
            let sums = _mm256_add_epi32(all, _mm256_set1_epi32(base as i32));
            // SAFETY: 32 bytes are writable at `places`, and the store asks for no alignment.
            unsafe { _mm256_storeu_si256(places.as_mut_ptr().cast::<__m256i>(), sums) };
        });
    });
}

/// See [`crate::shingle`]: the reference, which the compiler turns into four shingles at a time.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn shingle(tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    crate::scalar::shingles_summed(tokens, k, out);
}

/// See [`crate::throw_all`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn throw_all(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    crate::scalar::thrown_all(throw, elements, values, |throw, elements, count| {
        throw_portion(throw, elements, count)
    });
}

/// See [`crate::fill_open`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn fill_open(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    crate::scalar::open_filled(throw, elements, values, |throw, elements, count| {
        throw_portion(throw, elements, count)
    });
}

/// Throws the first `count` of the elements, four at a time.
#[inline]
#[target_feature(enable = "avx2")]
fn throw_portion(throw: &Throw, elements: &[u64; PORTION], count: usize) -> [u64; PORTION] {
    let key = _mm256_set1_epi64x(throw.key as i64);
    let groups = _mm256_set1_epi32(throw.groups as i32);
    let mut thrown = [0; PORTION];
    let fours = elements.as_chunks().0.iter().zip(thrown.as_chunks_mut::<4>().0);
    for (four, thrown) in fours.take(count.div_ceil(4)) {
        let x = _mm256_xor_si256(load_four(four), key);
        let x = mix_halves(x, throw.factors);
        let x = mix_halves(mix_halves(x, FACTORS[0]), FACTORS[1]);
        let groups = _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), groups);
        let x = _mm256_blend_epi32::<0b1010_1010>(x, groups);
        // SAFETY: 32 bytes are writable at `thrown`, and the store asks for no alignment.
        unsafe { _mm256_storeu_si256(thrown.as_mut_ptr().cast::<__m256i>(), x) };
    }
    thrown
}

#[inline]
#[target_feature(enable = "avx2")]
fn mix_halves(x: __m256i, [low, high]: [u32; 2]) -> __m256i {
    let low = _mm256_mul_epu32(x, _mm256_set1_epi64x(i64::from(low)));
    let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), _mm256_set1_epi64x(i64::from(high)));
    _mm256_xor_si256(low, _mm256_shuffle_epi32::<0b10_11_00_01>(high))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_four(words: &[u64; 4]) -> __m256i {
    // SAFETY: 32 bytes are readable at `words`, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast::<__m256i>()) }
}

/// See [`crate::minima`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn minima(keys: &[u64], elements: &[u64], values: &mut [u64]) {
    crate::scalar::minima_lowered(keys, elements, values);
}

/// See [`crate::any_equal`]. All are looked at, for where the first is cannot be guessed.
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

/// See [`crate::shared_at_least`]: blocks of four against blocks of four, each pair of values once.
///
/// Which block is left behind depends on the last values of both. Those of the blocks after them are read a
/// step early, so that no step waits for memory.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize> {
    /// Steps between two looks at whether enough is left.
    const STRIDE: usize = 16;
    let (mut i, mut j, mut count) = (0, 0, 0);
    let (Some(x), Some(y)) = (a.first_chunk::<4>(), b.first_chunk::<4>()) else {
        return crate::scalar::shared_from(a, b, (0, 0), 0, need);
    };
    let (mut a_last, mut b_last) = (x[3], y[3]);
    loop {
        let left = (a.len() - i).min(b.len() - j);
        if count + left < need {
            return None;
        }
        if left < 8 {
            return crate::scalar::shared_from(a, b, (i, j), count, need);
        }
        let mut equal = _mm256_setzero_si256();
        for _ in 0..STRIDE.min((left - 4) / 4) {
            // SAFETY: a step leaves at most four values behind, and there are as many steps as leave eight
            // before each of them.
            let (x, y, a_next, b_next) = unsafe {
                (
                    &*a.as_ptr().add(i).cast::<[u64; 4]>(),
                    &*b.as_ptr().add(j).cast::<[u64; 4]>(),
                    *a.get_unchecked(i + 7),
                    *b.get_unchecked(j + 7),
                )
            };
            equal = _mm256_sub_epi64(equal, equal_values(x, y));
            let (a_behind, b_behind) = (a_last <= b_last, b_last <= a_last);
            i += 4 * usize::from(a_behind);
            j += 4 * usize::from(b_behind);
            a_last = if a_behind { a_next } else { a_last };
            b_last = if b_behind { b_next } else { b_last };
        }
        let mut equals = [0; 4];
        // SAFETY: 32 bytes are writable at `equals`, and the store asks for no alignment.
        unsafe { _mm256_storeu_si256(equals.as_mut_ptr().cast::<__m256i>(), equal) };
        count += equals.iter().sum::<usize>();
    }
}

/// See [`crate::found_in`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn found_in(places: &[u64], shift: u32, numbers: &[u64]) -> usize {
    crate::scalar::assert_window(places, shift);
    let is_there = |number: u64| {
        // SAFETY: the first bits name a place that three more follow.
        let window =
            unsafe { &*places.as_ptr().add((number >> shift) as usize).cast::<[u64; 4]>() };
        _mm256_cmpeq_epi64(_mm256_set1_epi64x(number as i64), load_four(window))
    };
    let mut counts = [_mm256_setzero_si256(); 2];
    let (pairs, rest) = numbers.as_chunks::<2>();
    for &[x, y] in pairs {
        counts[0] = _mm256_sub_epi64(counts[0], is_there(x));
        counts[1] = _mm256_sub_epi64(counts[1], is_there(y));
    }
    if let [last] = rest {
        counts[0] = _mm256_sub_epi64(counts[0], is_there(*last));
    }
    let mut sums = [0usize; 4];
    let counts = _mm256_add_epi64(counts[0], counts[1]);
    // SAFETY: 32 bytes are writable at `sums`, and the store asks for no alignment.
    unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast::<__m256i>(), counts) };
    sums.iter().sum()
}

/// See [`crate::in_filter`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn in_filter(numbers: &[u64], filter: &[u64], out: &mut [u64]) -> usize {
    crate::scalar::filtered(numbers, filter, out)
}

/// See [`crate::settle_hashes`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn settle_hashes(hashes: &mut [u64]) -> bool {
    crate::radix::settle(hashes, |hash| hash)
}

/// See [`crate::each_once`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn each_once(numbers: &mut [u64]) -> usize {
    crate::scalar::left_once(numbers)
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

/// All ones in the places of those of four different values that are among four others.
#[inline]
#[target_feature(enable = "avx2")]
fn equal_values(x: &[u64; 4], y: &[u64; 4]) -> __m256i {
    let (x, y) = (load_four(x), load_four(y));
    let one = _mm256_permute4x64_epi64::<0b00_11_10_01>(y);
    let two = _mm256_permute4x64_epi64::<0b01_00_11_10>(y);
    let three = _mm256_permute4x64_epi64::<0b10_01_00_11>(y);
    _mm256_or_si256(
        _mm256_or_si256(_mm256_cmpeq_epi64(x, y), _mm256_cmpeq_epi64(x, one)),
        _mm256_or_si256(_mm256_cmpeq_epi64(x, two), _mm256_cmpeq_epi64(x, three)),
    )
}

/// See [`crate::symbols_at_least`]: blocks of eight against blocks of eight, as above, the last ones filled up.
/// (Looking first whether two blocks are the same gained nothing, even among near copies.)
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn symbols_at_least(a: &[u32], b: &[u32], need: usize) -> Option<usize> {
    /// Steps between two looks at whether enough is left.
    const STRIDE: usize = 4;
    let (mut i, mut j, mut count) = (0, 0, 0);
    loop {
        let left = (a.len() - i).min(b.len() - j);
        if count + left < need {
            return None;
        }
        if left == 0 {
            return Some(count);
        }
        if left < 8 {
            let (x, y) = (&a[i..a.len().min(i + 8)], &b[j..b.len().min(j + 8)]);
            count += equal_of_few(x, y);
            let (x_last, y_last) = (x[x.len() - 1], y[y.len() - 1]);
            i += if x_last <= y_last { x.len() } else { 0 };
            j += if y_last <= x_last { y.len() } else { 0 };
            continue;
        }
        for _ in 0..STRIDE.min(left / 8) {
            // SAFETY: a step leaves at most eight values behind, and there are as many steps as leave eight
            // before each of them.
            let (x, y) = unsafe {
                (&*a.as_ptr().add(i).cast::<[u32; 8]>(), &*b.as_ptr().add(j).cast::<[u32; 8]>())
            };
            count += equal_symbols(load_symbols(x), load_symbols(y)).count_ones() as usize;
            i += 8 * usize::from(x[7] <= y[7]);
            j += 8 * usize::from(y[7] <= x[7]);
        }
    }
}

/// A bit for each of eight different symbols that is among eight others.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn equal_symbols(x: __m256i, y: __m256i) -> u32 {
    let same = _mm256_cmpeq_epi32(x, y);
    let places = |equal: __m256i| _mm256_movemask_ps(_mm256_castsi256_ps(equal)) as u32;
    // The halves of y as they are and exchanged, each turned by 0 to 3 places.
    let z = _mm256_permute2x128_si256::<1>(y, y);
    let turned = |y: __m256i| {
        let one = _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32::<0b00_11_10_01>(y));
        let two = _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32::<0b01_00_11_10>(y));
        let three = _mm256_cmpeq_epi32(x, _mm256_shuffle_epi32::<0b10_01_00_11>(y));
        _mm256_or_si256(_mm256_or_si256(one, two), three)
    };
    let exchanged = _mm256_or_si256(_mm256_cmpeq_epi32(x, z), turned(z));
    places(_mm256_or_si256(_mm256_or_si256(same, turned(y)), exchanged))
}

/// How many of one to eight different symbols are among one to eight others.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn equal_of_few(x: &[u32], y: &[u32]) -> usize {
    debug_assert!((1..=8).contains(&x.len()) && (1..=8).contains(&y.len()));
    let places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let within = |few: &[u32]| _mm256_cmpgt_epi32(_mm256_set1_epi32(few.len() as i32), places);
    // SAFETY: only values within the slices are read.
    let (some_x, some_y) = unsafe {
        (
            _mm256_maskload_epi32(x.as_ptr().cast::<i32>(), within(x)),
            _mm256_maskload_epi32(y.as_ptr().cast::<i32>(), within(y)),
        )
    };
    // The first of y stands in for those that are not there; those of x do not count.
    let all_y = _mm256_blendv_epi8(_mm256_set1_epi32(y[0] as i32), some_y, within(y));
    (equal_symbols(some_x, all_y) & ((1 << x.len()) - 1)).count_ones() as usize
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_symbols(symbols: &[u32; 8]) -> __m256i {
    // SAFETY: 32 bytes are readable at `symbols`, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(symbols.as_ptr().cast::<__m256i>()) }
}

/// Sixteen numbers in two registers.
#[derive(Clone, Copy)]
struct Two([__m256; 2]);

// SAFETY, of all blocks here: only functions compiled for AVX2 and FMA name this type, and loads and stores ask for
// no alignment.
impl Sixteen for Two {
    #[inline(always)]
    fn all(x: f32) -> Self {
        // SAFETY: as above.
        Self([unsafe { _mm256_set1_ps(x) }; 2])
    }
    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        let from = from.as_ptr();
        // SAFETY: as above; 2 · 8 numbers are readable.
        Self(unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        let to = to.as_mut_ptr();
        // SAFETY: as above; 2 · 8 numbers are writable.
        unsafe {
            _mm256_storeu_ps(to, self.0[0]);
            _mm256_storeu_ps(to.add(8), self.0[1]);
        }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: as above.
        Self([0, 1].map(|i| unsafe { _mm256_add_ps(self.0[i], other.0[i]) }))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: as above.
        Self([0, 1].map(|i| unsafe { _mm256_sub_ps(self.0[i], other.0[i]) }))
    }
    #[inline(always)]
    fn absolute(self) -> Self {
        // SAFETY: as above.
        Self([0, 1].map(|i| unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0[i]) }))
    }
    #[inline(always)]
    fn times_plus(self, factor: Self, sum: Self) -> Self {
        // SAFETY: as above.
        Self([0, 1].map(|i| unsafe { _mm256_fmadd_ps(self.0[i], factor.0[i], sum.0[i]) }))
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u16 {
        // SAFETY: as above.
        unsafe {
            let low = _mm256_cmp_ps::<_CMP_LE_OQ>(self.0[0], other.0[0]);
            let high = _mm256_cmp_ps::<_CMP_LE_OQ>(self.0[1], other.0[1]);
            (_mm256_movemask_ps(low) | _mm256_movemask_ps(high) << 8) as u16
        }
    }
}

/// See [`crate::dot`].
#[target_feature(enable = "avx2,fma")]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<Two, float::Product>(a, b)
}

/// See [`crate::squared_distance`].
#[target_feature(enable = "avx2,fma")]
pub(crate) fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<Two, float::Square>(a, b)
}

/// See [`crate::absolute_distance`].
#[target_feature(enable = "avx2,fma")]
pub(crate) fn absolute_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<Two, float::Difference>(a, b)
}

/// See [`crate::dot_block`].
#[target_feature(enable = "avx2,fma")]
pub(crate) fn dot_block(rows: &[f32], dimension: usize, panels: &[f32], out: &mut [f32]) {
    float::many::<Two, float::Product, 6>(rows, dimension, panels, out);
}

/// See [`crate::places_at_most`].
#[target_feature(enable = "avx2,fma")]
pub(crate) fn places_at_most(values: &[f32], limit: f32, places: &mut Vec<u32>) {
    float::at_most::<Two>(values, limit, places);
}

/// See [`crate::near_point`].
#[target_feature(enable = "avx2,fma")]
pub(crate) fn near_point(tile: &[f32], point: &[f32], limit: f32) -> u64 {
    tiles::near_point::<Two>(tile, point, limit)
}

/// See [`crate::near_box`].
#[target_feature(enable = "avx2,fma")]
pub(crate) fn near_box(tile: &[f32], centre: &[f32], half: &[f32], limit: f32) -> u64 {
    tiles::near_box::<Two>(tile, centre, half, limit)
}

/// See [`crate::add_squares`].
#[target_feature(enable = "avx2,fma")]
pub(crate) fn add_squares(point: &[f32], rows: &[f32], which: u64, sums: &mut [f32; TILE]) {
    tiles::add_squares::<Two>(point, rows, which, sums);
}

/// See [`crate::near_bits`].
#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn near_bits(one: &[u64], many: &[u64], limit: u64) -> u64 {
    tiles::near_bits(one, many, limit)
}
