//! Lists of numbers: which are wanted, repeated or shared.

use std::arch::x86_64::*;

use super::load_four;

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
