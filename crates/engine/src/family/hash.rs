//! The hash that random choices are made by.
//!
//! [`mix64`] is a keyed version of the finaliser of Steele, Lea and Flood's SplitMix64 (2014) with Stafford's constants, in
//! which every bit of the element and of the seed reaches every bit of the value. [`SplitMix`] is a stream of seeds.

use std::hash::Hasher;

use nearkin_kernels::scalar::mix;

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
pub(crate) fn key(seed: u64) -> u64 {
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

/// A hasher for elements, which are hashes already. One multiplication spreads those that were cut to 32 bits.
#[derive(Default)]
pub(crate) struct ElementHasher(u64);

impl Hasher for ElementHasher {
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
