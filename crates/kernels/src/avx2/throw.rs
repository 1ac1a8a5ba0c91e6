//! Elements thrown into groups, and minima under many functions.

use std::arch::x86_64::*;

use super::load_four;
use crate::Throw;
use crate::scalar::{FACTORS, PORTION};

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

/// See [`crate::minima`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn minima(keys: &[u64], elements: &[u64], values: &mut [u64]) {
    crate::scalar::minima_lowered(keys, elements, values);
}
