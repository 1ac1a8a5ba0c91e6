//! Minhashes as a family, for sets and for bags that [`weighted`](super::weighted) has made sets of.

use super::hash::mix64;
use super::one_permutation::{EMPTY, OnePermutation};
use super::{Family, INFINITY};
use crate::item::Sets;

/// Minhashes of the sets of a collection. The distance is 1 − the Jaccard similarity.
///
/// Functions come in groups of [`GROUP`]. A group is one [`OnePermutation`] sketch, so a function costs a share of one hash
/// of every element. Each agrees with a probability of exactly the similarity. Functions of one sketch draw without
/// replacement: in all measurements bands of them found a little more than independent ones would, never less. The empty
/// set has no minhash and agrees with nothing.
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
        let mut sketch = [0; GROUP];
        let mut rest = values;
        let mut function = from;
        while !rest.is_empty() {
            let (group, first) = (function / GROUP, function % GROUP);
            let seed = mix64(group as u64, self.seed);
            OnePermutation { groups: GROUP, seed }.sketch(set, &mut sketch);
            let (now, later) = rest.split_at_mut(rest.len().min(GROUP - first));
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
