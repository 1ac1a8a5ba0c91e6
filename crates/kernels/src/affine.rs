//! Minima over permutations of the form x → ax + b, as other programs store them.
//!
//! A set's signature has the smallest value of each permutation over the set's elements, which are hashes. The compiler
//! turns the reference into several permutations at a time, where the machine can do that: sixteen of 32 bits with AVX-512.

use std::array;

/// Lowers each value to the smallest that its permutation gives any of the elements, some values at a time over all
/// elements.
#[inline(always)]
fn lower<T: Copy, const AT_ONCE: usize>(
    factors: &[T],
    terms: &[T],
    elements: &[T],
    values: &mut [T],
    least: impl Fn(T, T, T, T) -> T,
) {
    assert!(
        factors.len() == values.len() && terms.len() == values.len(),
        "a factor and a term for each value"
    );
    let (factors, last_factors) = factors.as_chunks::<AT_ONCE>();
    let (terms, last_terms) = terms.as_chunks::<AT_ONCE>();
    let (values, last_values) = values.as_chunks_mut::<AT_ONCE>();
    for ((factors, terms), values) in factors.iter().zip(terms).zip(values) {
        let mut lowest = *values;
        for &x in elements {
            lowest = array::from_fn(|i| least(lowest[i], factors[i], terms[i], x));
        }
        *values = lowest;
    }
    for ((&factor, &term), value) in last_factors.iter().zip(last_terms).zip(last_values) {
        *value = elements.iter().fold(*value, |lowest, &x| least(lowest, factor, term, x));
    }
}

#[inline(always)]
fn lower_32(factors: &[u32], terms: &[u32], elements: &[u32], values: &mut [u32]) {
    lower::<u32, 64>(factors, terms, elements, values, |lowest, a, b, x| {
        lowest.min(a.wrapping_mul(x).wrapping_add(b))
    });
}

#[inline(always)]
fn lower_64(factors: &[u64], terms: &[u64], elements: &[u64], values: &mut [u64]) {
    lower::<u64, 16>(factors, terms, elements, values, |lowest, a, b, x| {
        lowest.min(a.wrapping_mul(x).wrapping_add(b))
    });
}

#[inline(always)]
fn lower_mersenne(factors: &[u64], terms: &[u64], elements: &[u64], values: &mut [u64]) {
    const PRIME: u64 = (1 << 61) - 1;
    lower::<u64, 16>(factors, terms, elements, values, |lowest, a, b, x| {
        let sum = a.wrapping_mul(x).wrapping_add(b);
        // At most PRIME + 7, so taking the prime away once is enough.
        let folded = (sum & PRIME) + (sum >> 61);
        let rest = if folded >= PRIME { folded - PRIME } else { folded };
        lowest.min(rest & 0xffff_ffff)
    });
}

/// See [`crate::affine_minima_32`].
pub fn affine_minima_32(factors: &[u32], terms: &[u32], elements: &[u32], values: &mut [u32]) {
    lower_32(factors, terms, elements, values);
}

/// See [`crate::affine_minima_64`].
pub fn affine_minima_64(factors: &[u64], terms: &[u64], elements: &[u64], values: &mut [u64]) {
    lower_64(factors, terms, elements, values);
}

/// See [`crate::mersenne_minima`].
pub fn mersenne_minima(factors: &[u64], terms: &[u64], elements: &[u64], values: &mut [u64]) {
    lower_mersenne(factors, terms, elements, values);
}

/// Compiles the kernels of this file for a machine with certain features.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ($module:ident, $features:literal) => {
        /// The kernels of this file, compiled for processors of this kind.
        pub(crate) mod $module {
            /// See [`crate::affine_minima_32`].
            #[target_feature(enable = $features)]
            pub(crate) fn affine_minima_32(a: &[u32], b: &[u32], x: &[u32], values: &mut [u32]) {
                super::lower_32(a, b, x, values);
            }

            /// See [`crate::affine_minima_64`].
            #[target_feature(enable = $features)]
            pub(crate) fn affine_minima_64(a: &[u64], b: &[u64], x: &[u64], values: &mut [u64]) {
                super::lower_64(a, b, x, values);
            }

            /// See [`crate::mersenne_minima`].
            #[target_feature(enable = $features)]
            pub(crate) fn mersenne_minima(a: &[u64], b: &[u64], x: &[u64], values: &mut [u64]) {
                super::lower_mersenne(a, b, x, values);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
compiled_for!(avx2, "avx2");
#[cfg(target_arch = "x86_64")]
compiled_for!(avx512, "avx2,avx512f,avx512bw,avx512dq,avx512vl");
