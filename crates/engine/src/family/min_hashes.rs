//! Minhashes as a family, for sets and for bags that [`weighted`](super::weighted) has made sets of.

use rayon::prelude::*;

use super::ClassicSketch;
use super::hash::mix64;
use super::one_permutation::EMPTY;
use super::{Family, INFINITY};
use crate::Result;
use crate::item::{Sets, Signatures};

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

impl MinHashes<'_> {
    /// The signatures of all sets under the first `functions` functions.
    ///
    /// # Errors
    /// When `functions` is 0.
    pub fn signatures(&self, functions: usize) -> Result<Signatures> {
        let mut signatures = Signatures::new(functions)?;
        let made = (0..self.sets.len() as u32).into_par_iter().map_init(
            || vec![0; functions],
            |values, item| {
                self.hash(item, 0, values);
                let short = |&value: &u64| u32::try_from(value).unwrap_or(Signatures::NO_VALUE);
                values.iter().map(short).collect::<Vec<u32>>()
            },
        );
        made.collect::<Vec<_>>().iter().try_for_each(|values| signatures.push(values))?;
        Ok(signatures)
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
