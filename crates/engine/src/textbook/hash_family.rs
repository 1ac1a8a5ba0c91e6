//! Hash functions that stand in for random permutations.
//!
//! An element comes in with the number of a function, its place in that function's order goes out.
//! [`UniversalHashes`] is the textbook family ax + b mod p (Carter and Wegman 1979; its use for minhashing:
//! Leskovec, Rajaraman, Ullman, *Mining of Massive Datasets*, 3.3.5). It is cheap to reason about,
//! but on regular sets such as runs of integers it is visibly not min-wise independent, as
//! [`min_wise`](super::min_wise) measures. [`MixHashes`] is the stronger default: [`mix64`](crate::family::hash::mix64) under
//! different seeds.

use nearkin_kernels::{minima, scalar::mix};

use crate::family::hash::{SplitMix, key};
use crate::{Error, Result};

/// A numbered collection of hash functions, each one an order of the elements.
pub trait HashFamily {
    /// The place of `x` in the order of function number `function`, counted from 0.
    fn hash(&self, function: usize, x: u64) -> u64;

    /// How many functions there are.
    fn functions(&self) -> usize;

    /// Lowers each value to the smallest place of any of the elements in that function's order.
    fn lower(&self, elements: &[u64], values: &mut [u64]) {
        for (function, value) in values.iter_mut().enumerate() {
            *value = elements.iter().map(|&x| self.hash(function, x)).fold(*value, u64::min);
        }
    }
}

impl<F: HashFamily + ?Sized> HashFamily for &F {
    fn hash(&self, function: usize, x: u64) -> u64 {
        (**self).hash(function, x)
    }

    fn functions(&self) -> usize {
        (**self).functions()
    }

    fn lower(&self, elements: &[u64], values: &mut [u64]) {
        (**self).lower(elements, values);
    }
}

/// The Mersenne prime 2⁶¹ − 1, the default modulus of [`UniversalHashes`].
pub const MERSENNE: u64 = (1 << 61) - 1;

/// The functions (a·x + b) mod p.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniversalHashes {
    coefficients: Vec<(u64, u64)>,
    modulus: u64,
}

impl UniversalHashes {
    /// `functions` functions modulo 2⁶¹ − 1 with random a ≠ 0 and b. Elements that are equal modulo
    /// p share their values: among n hashed elements about n²/2⁶² pairs.
    pub fn new(functions: usize, seed: u64) -> Self {
        let mut seeds = SplitMix::new(seed);
        let coefficients = (0..functions)
            .map(|_| (1 + seeds.below(MERSENNE - 1), seeds.below(MERSENNE)))
            .collect();
        Self { coefficients, modulus: MERSENNE }
    }

    /// Functions with the given (a, b) and p. Neither needs to be a good choice: p may be composite,
    /// and then some functions are no permutations.
    ///
    /// # Errors
    /// When `modulus` is 0.
    pub fn explicit(coefficients: &[(u64, u64)], modulus: u64) -> Result<Self> {
        if modulus == 0 {
            return Err(Error::parameter("modulus", modulus, "at least 1, and best a prime"));
        }
        Ok(Self { coefficients: coefficients.to_vec(), modulus })
    }
}

/// `x` modulo 2⁶¹ − 1 for x < 2¹²⁵, without a division: 2⁶¹ ≡ 1, so the high part is added to the low.
fn modulo_mersenne(x: u128) -> u64 {
    const P: u128 = MERSENNE as u128;
    let once = (x & P) + (x >> 61);
    let twice = ((once & P) + (once >> 61)) as u64;
    if twice >= MERSENNE { twice - MERSENNE } else { twice }
}

impl HashFamily for UniversalHashes {
    fn hash(&self, function: usize, x: u64) -> u64 {
        let (a, b) = self.coefficients[function];
        if self.modulus == MERSENNE && a < MERSENNE && b < MERSENNE {
            return modulo_mersenne(u128::from(a) * u128::from(x) + u128::from(b));
        }
        let p = u128::from(self.modulus);
        ((u128::from(a) * u128::from(x) % p + u128::from(b) % p) % p) as u64
    }

    fn functions(&self) -> usize {
        self.coefficients.len()
    }
}

/// The functions [`mix64`](crate::family::hash::mix64) under different seeds: the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixHashes {
    keys: Vec<u64>,
}

impl MixHashes {
    /// `functions` functions, their seeds derived from `seed`.
    pub fn new(functions: usize, seed: u64) -> Self {
        Self { keys: SplitMix::new(seed).take(functions).map(key).collect() }
    }
}

impl HashFamily for MixHashes {
    fn hash(&self, function: usize, x: u64) -> u64 {
        mix(x, self.keys[function])
    }

    fn functions(&self) -> usize {
        self.keys.len()
    }

    fn lower(&self, elements: &[u64], values: &mut [u64]) {
        minima(&self.keys, elements, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mersenne_reduction_equals_division() {
        let mut seeds = SplitMix::new(1);
        let edges = [0, 1, MERSENNE - 1, MERSENNE, MERSENNE + 1, 2 * MERSENNE, u64::MAX];
        for x in edges.into_iter().chain((0..1000).map(|_| seeds.draw())) {
            for a in [0, 1, MERSENNE - 1, x % MERSENNE] {
                let wide = u128::from(a) * u128::from(x) + u128::from(a);
                assert_eq!(u128::from(modulo_mersenne(wide)), wide % u128::from(MERSENNE));
            }
        }
    }
}
