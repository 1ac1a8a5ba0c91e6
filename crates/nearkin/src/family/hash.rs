//! Hash functions that stand in for random permutations.
//!
//! An element comes in with the number of a function, its place in that function's order goes out.
//! [`Universal`] is the textbook family ax + b mod p (Carter and Wegman 1979; its use for minhashing:
//! Leskovec, Rajaraman, Ullman, *Mining of Massive Datasets*, 3.3.5). It is cheap to reason about,
//! but on regular sets such as runs of integers it is visibly not min-wise independent, as
//! [`min_wise`](super::min_wise) measures. [`Mixed`] is the default: a keyed version of the
//! finaliser of Steele, Lea and Flood's SplitMix64 (2014) with Stafford's constants, in which every
//! bit of the element and of the seed reaches every bit of the value.

use std::hash::Hasher;

use nearkin_kernels::{minima, scalar::mix};

use crate::{Error, Result};

/// The step of [`SplitMix`]: 2⁶⁴ divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const FIRST: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND: u64 = 0x94d0_49bb_1331_11eb;

/// SplitMix64's finaliser: a bijection of the 64-bit words.
fn finalise(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(FIRST);
    let x = (x ^ (x >> 27)).wrapping_mul(SECOND);
    x ^ (x >> 31)
}

/// A strong 64-bit hash of `x` under `seed`: for a fixed seed a bijection, so that different
/// elements never collide. Seeds may be small and consecutive; they are mixed first, and in a loop
/// over elements the compiler does that once.
#[inline]
pub fn mix64(x: u64, seed: u64) -> u64 {
    mix(x, key(seed))
}

/// What a seed does to elements.
#[inline]
fn key(seed: u64) -> u64 {
    finalise(seed.wrapping_add(GOLDEN))
}

/// A stream of seeds derived from one.
#[derive(Debug, Clone)]
pub struct SplitMix {
    state: u64,
}

impl SplitMix {
    /// The stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next seed.
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        finalise(self.state)
    }

    /// A number in 0..`bound`, by multiply-shift; its bias is below `bound` / 2⁶⁴.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number is below 0");
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }
}

impl Iterator for SplitMix {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.draw())
    }
}

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

/// The Mersenne prime 2⁶¹ − 1, the default modulus of [`Universal`].
pub const MERSENNE: u64 = (1 << 61) - 1;

/// The functions (a·x + b) mod p.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Universal {
    coefficients: Vec<(u64, u64)>,
    modulus: u64,
}

impl Universal {
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

impl HashFamily for Universal {
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

/// The functions [`mix64`] under different seeds: the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixed {
    keys: Vec<u64>,
}

impl Mixed {
    /// `functions` functions, their seeds derived from `seed`.
    pub fn new(functions: usize, seed: u64) -> Self {
        Self { keys: SplitMix::new(seed).take(functions).map(key).collect() }
    }
}

impl HashFamily for Mixed {
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

/// What is hashed here is a hash already; one multiplication spreads those that were cut to 32 bits.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, element: u64) {
        self.0 = element.wrapping_mul(GOLDEN);
    }

    fn write_u128(&mut self, hash: u128) {
        self.write_u64((hash >> 64) as u64 ^ hash as u64);
    }

    fn finish(&self) -> u64 {
        self.0
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

    /// Flipping any bit of the element or of the seed flips every bit of the value about half the
    /// time. 64·64 counts of 4096 trials: more than 6 standard errors (192) would happen by chance
    /// in fewer than 1 run in 10⁵.
    #[test]
    fn every_input_bit_reaches_every_value_bit() {
        let trials = 4096;
        for flip_seed in [false, true] {
            for bit in 0..64 {
                let mut flips = [0u32; 64];
                for x in 0..trials {
                    let (other, seed) =
                        if flip_seed { (x, 7 ^ (1 << bit)) } else { (x ^ (1 << bit), 7) };
                    let changed = mix64(x, 7) ^ mix64(other, seed);
                    for (at, count) in flips.iter_mut().enumerate() {
                        *count += ((changed >> at) & 1) as u32;
                    }
                }
                assert!(flips.iter().all(|&c| c.abs_diff(2048) < 6 * 32), "bit {bit}: {flips:?}");
            }
        }
    }
}
