//! Bit sampling: which bit stands at a random place?
//!
//! Bit strings of d bits come in, single bits go out. Two strings that differ in h places agree with probability
//! 1 − h/d, so the family is (d₁, d₂, 1 − d₁/d, 1 − d₂/d)-sensitive for the Hamming distance (Indyk and Motwani 1998;
//! *Mining of Massive Datasets*, 3.7.1). There are only d different functions; each number draws one of them anew, so
//! that functions are independent and AND and OR have exactly the chances they should.

use super::Family;
use super::draw::place;
use super::probe::{Change, Probing, rows_of_values};
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
}

impl Probing for BitSampling<'_> {
    /// A bit says nothing of how certain it is: rows with one bit turned come first, then with two, and so on.
    fn probes(&self, item: u32, from: usize, rows: usize, count: usize, out: &mut Vec<u64>) {
        let mut own = vec![0; rows];
        self.hash(item, from, &mut own);
        let turned =
            |(function, bit): (usize, &u64)| Change { cost: 1.0, function, value: 1 - bit };
        let changes = own.iter().enumerate().map(turned).collect();
        rows_of_values(&own, changes, count, out);
    }

    /// Σ p^(r−t)·(1−p)^t over the probes, t being the bits turned in one. This is exact.
    fn probed_agreement(&self, distance: f64, rows: usize, count: usize) -> f64 {
        let p = self.agreement(distance);
        let (mut left, mut sets, mut chance) = (count as f64, 1.0, 0.0);
        for turned in 0..=rows {
            let taken = f64::min(left, sets);
            chance += taken * p.powf((rows - turned) as f64) * (1.0 - p).powf(turned as f64);
            left -= taken;
            sets = sets * (rows - turned) as f64 / (turned + 1) as f64;
        }
        chance.min(1.0)
    }
}
