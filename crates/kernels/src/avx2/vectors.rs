//! Components of vectors, summed and compared.

use std::arch::x86_64::*;

use crate::float::{self, Sixteen};
use crate::tiles::{self, TILE};

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
