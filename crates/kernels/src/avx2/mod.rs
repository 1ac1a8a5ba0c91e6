//! The kernels with AVX2: 32 bytes at a time.

pub(crate) mod aes;
mod bits;
mod lists;
mod text;
mod throw;
mod vectors;

use std::arch::x86_64::*;

pub(crate) use crate::affine::avx2::{affine_minima_32, affine_minima_64, mersenne_minima};
pub(crate) use crate::sha1::avx2::sha1_prefixes;
pub(crate) use bits::*;
pub(crate) use lists::*;
pub(crate) use text::*;
pub(crate) use throw::*;
pub(crate) use vectors::*;

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

#[inline]
#[target_feature(enable = "avx2")]
fn load_four(words: &[u64; 4]) -> __m256i {
    // SAFETY: 32 bytes are readable at `words`, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast::<__m256i>()) }
}
