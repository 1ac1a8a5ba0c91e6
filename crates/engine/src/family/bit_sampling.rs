//! Bit sampling: which bit stands at a random place?
//!
//! Bit strings of d bits come in, single bits go out. Two strings that differ in h places agree with probability
//! 1 − h/d, so the family is (d₁, d₂, 1 − d₁/d, 1 − d₂/d)-sensitive for the Hamming distance (Indyk and Motwani 1998;
//! *Mining of Massive Datasets*, 3.7.1). There are only d different functions. Each number draws one of them anew, so
//! functions are independent, and AND and OR have exactly the chances that theory gives them.

use std::ops::Range;

use super::Family;
use super::draw::place;
use super::probe::{Doubt, ProbeFamily};
use crate::item::Bits;

/// The bits at random places, for the bit strings of a collection. The distance is the number of bits that differ.
#[derive(Debug, Clone, Copy)]
pub struct BitSampling<'a> {
    bits: &'a Bits,
    seed: u64,
}

impl<'a> BitSampling<'a> {
    /// Functions of these bit strings.
    pub fn new(bits: &'a Bits, seed: u64) -> Self {
        Self { bits, seed }
    }

    /// The place whose bit is the value of a function.
    pub fn place(&self, function: usize) -> usize {
        place(function as u64, self.seed, self.bits.length() as u64) as usize
    }
}

impl Family for BitSampling<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        let words = self.bits.get(item as usize);
        for (function, value) in (from..).zip(values) {
            let place = self.place(function);
            *value = words[place / 64] >> (place % 64) & 1;
        }
    }

    fn agreement(&self, distance: f64) -> f64 {
        (1.0 - distance / self.bits.length() as f64).clamp(0.0, 1.0)
    }

    fn probing(&self) -> Option<&dyn ProbeFamily> {
        Some(self)
    }
}

impl ProbeFamily for BitSampling<'_> {
    /// A bit does not say how certain it is. So rows with one bit turned come first, then those with two, and so on.
    fn doubt(&self) -> Doubt {
        Doubt::Bit
    }

    fn hash_margins(
        &self,
        items: Range<u32>,
        from: usize,
        functions: usize,
        values: &mut [u64],
        margins: &mut [f32],
    ) {
        self.hash_many(items, from, functions, values);
        margins.fill(0.0);
    }

    /// Σ p^(r−t)·(1−p)^t over the probes, t being the bits turned in one. This is exact.
    fn probed_agreements(&self, distance: f64, rows: usize, most: usize, _: usize) -> Vec<f64> {
        let p = self.agreement(distance);
        let (mut sets, mut chance) = (1.0, 0.0);
        let mut chances: Vec<f64> = Vec::with_capacity(most);
        for turned in 0..=rows {
            let one = p.powf((rows - turned) as f64) * (1.0 - p).powf(turned as f64);
            let left = (most - chances.len()) as f64;
            chances.extend((0..f64::min(left, sets) as usize).map(|_| {
                chance += one;
                f64::min(chance, 1.0)
            }));
            sets = (sets * (rows - turned) as f64 / (turned + 1) as f64).round();
        }
        chances
    }
}
