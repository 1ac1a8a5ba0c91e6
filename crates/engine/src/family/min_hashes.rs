//! Minhashes as a family, for sets and for bags that [`weighted`](super::weighted) has made sets of.

use super::ClassicSketch;
use super::hash::mix64;
use super::one_permutation::EMPTY;
use super::{Family, INFINITY};
use crate::item::Sets;

/// Minhashes of the sets of a collection. The distance is 1 − the Jaccard similarity.
///
/// Functions are independent, because an expression may ask for any number of them to agree, and come in groups of
/// [`GROUP`], which are made together. The empty set has no minhash and agrees with nothing.
#[derive(Debug, Clone, Copy)]
pub struct MinHashes<'a> {
    sets: &'a Sets,
    seed: u64,
}

/// Functions made together.
pub const GROUP: usize = 64;

impl<'a> MinHashes<'a> {
    /// Functions of these sets.
    pub fn new(sets: &'a Sets, seed: u64) -> Self {
        Self { sets, seed }
    }
}

impl Family for MinHashes<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        let set = self.sets.get(item as usize);
        let mut rest = values;
        let mut function = from;
        while !rest.is_empty() {
            let (group, first) = (function / GROUP, function % GROUP);
            let seed = mix64(group as u64, self.seed);
            let (now, later) = rest.split_at_mut(rest.len().min(GROUP - first));
            let mut sketch = [0; GROUP];
            // Only the wanted ones are made.
            sketch[first..][..now.len()].fill(EMPTY);
            ClassicSketch { functions: GROUP, seed }.fill(set, &mut sketch);
            for (value, &made) in now.iter_mut().zip(&sketch[first..]) {
                *value = if made == EMPTY { INFINITY } else { u64::from(made) };
            }
            function += now.len();
            rest = later;
        }
    }

    fn agreement(&self, distance: f64) -> f64 {
        (1.0 - distance).clamp(0.0, 1.0)
    }
}
