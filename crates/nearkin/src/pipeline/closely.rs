//! The pairs that are compared element by element.

use nearkin_kernels::{BitSets, Lookup, shared_at_least};

use crate::Result;
use crate::spill::Cache;
use crate::verify::Measure;

use super::buckets::{Buckets, Portion};
use super::kept::NOWHERE;

/// Pairs of a portion's sets, gathered to be compared together.
///
/// Where many pairs are of few sets, those are laid out as bits: that takes a set about as long as three lookups, and then
/// any two are compared at once.
#[derive(Default)]
pub(super) struct Closely {
    /// Row by row.
    pub(super) pairs: Vec<(u32, u32)>,
    /// The sets of all pairs, and for every set of the portion which of these it is.
    sets: Vec<u32>,
    numbers: Vec<u32>,
    bits: BitSets,
    lookup: Lookup,
}

/// Pairs for each of their sets from which on bits pay.
const MANY: usize = 2;

/// Pairs that are compared together, about.
const FULL: usize = 1 << 14;

impl Closely {
    /// Whether there are so many pairs that it takes less time to compare another than to look whether it is worth it.
    pub(super) fn takes_any(&self, portion: &Portion<'_>) -> bool {
        self.pairs.len() >= MANY * portion.sets()
    }

    /// Whether it is time to compare them.
    pub(super) fn is_full(&self) -> bool {
        self.pairs.len() >= FULL
    }

    /// Finds the sets of all pairs.
    fn number_sets(&mut self, portion: &Portion<'_>) {
        self.sets.clear();
        self.numbers.clear();
        self.numbers.resize(portion.sets(), NOWHERE);
        for set in self.pairs.iter().flat_map(|&(a, b)| [a, b]) {
            let number = &mut self.numbers[set as usize];
            if *number == NOWHERE {
                *number = self.sets.len() as u32;
                self.sets.push(set);
            }
        }
    }
}

impl Buckets {
    /// Compares the pairs that were gathered, appends those that are similar, and leaves none.
    pub(super) fn compare_closely(
        &self,
        portion: &Portion<'_>,
        closely: &mut Closely,
        one: &mut Cache<u64>,
        many: &mut Cache<u64>,
        found: &mut Vec<(u32, u32, f64)>,
    ) -> Result<()> {
        if closely.pairs.is_empty() {
            return Ok(());
        }
        let verifier = &self.verifier;
        let mut add = |a: u32, b: u32, shared: usize, sizes: (usize, usize)| {
            if verifier.shared_needed(sizes.0, sizes.1).is_some_and(|need| shared >= need) {
                let value = verifier.value(Measure::overlap(shared, sizes.0, sizes.1));
                found.push((portion.group(a), portion.group(b), value));
            }
        };
        closely.number_sets(portion);
        let are_bits = self.as_bits(portion, closely, many)?;
        let Closely { pairs, numbers, bits, lookup, .. } = closely;
        if are_bits {
            for (a, b) in pairs.drain(..) {
                let [x, y] = [a, b].map(|set| numbers[set as usize] as usize);
                add(a, b, bits.shared(x, y), (bits.size(x), bits.size(y)));
            }
            return Ok(());
        }
        for row in pairs.chunk_by(|x, y| x.0 == y.0) {
            let own = self.texts.body(portion.group(row[0].0), one)?;
            // To lay it out for a lookup takes about as long as to go through it once.
            let is_laid_out = row.len() > 1 && lookup.take(own.elements);
            for &(a, b) in row {
                let other = self.texts.body(portion.group(b), many)?;
                // Some were taken without a look.
                let Some(need) = own.shared_needed(other, verifier) else { continue };
                let shared = match is_laid_out {
                    true => Some(lookup.shared(other.elements)),
                    false => shared_at_least(own.elements, other.elements, need),
                };
                if let Some(shared) = shared {
                    add(a, b, shared, (own.elements.len(), other.elements.len()));
                }
            }
        }
        pairs.clear();
        Ok(())
    }

    /// Lays the sets out as bits. Whether that makes sense.
    fn as_bits(
        &self,
        portion: &Portion<'_>,
        closely: &mut Closely,
        cache: &mut Cache<u64>,
    ) -> Result<bool> {
        if closely.pairs.len() < MANY * closely.sets.len() {
            return Ok(false);
        }
        closely.bits.clear();
        for &set in &closely.sets {
            if !closely.bits.take(self.texts.body(portion.group(set), cache)?.elements) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
