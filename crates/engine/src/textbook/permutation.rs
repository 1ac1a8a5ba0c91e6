//! Minhash by an explicit permutation: the definition itself.
//!
//! A set of rows comes in, the first of them in the permuted order goes out (*Mining of Massive
//! Datasets*, 3.3.2; the idea is Broder's, 1997). No large universe is ever permuted; this exists
//! to check the faster ways against, and to measure families of permutations in
//! [`min_wise`](super::min_wise).

use super::hash_family::HashFamily;
use crate::family::hash::SplitMix;
use crate::{Error, Result};

/// An order of the elements 0..n.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    order: Vec<usize>,
    position: Vec<usize>,
}

impl Permutation {
    /// The permutation that lists the elements in this order.
    ///
    /// # Errors
    /// When `order` does not hold each of 0..n once.
    pub fn from_order(order: Vec<usize>) -> Result<Self> {
        let mut position = vec![usize::MAX; order.len()];
        for (place, &x) in order.iter().enumerate() {
            match position.get_mut(x) {
                Some(free) if *free == usize::MAX => *free = place,
                _ => {
                    let must = format!("each of 0..{} exactly once", order.len());
                    return Err(Error::parameter("order", format!("{order:?}"), must));
                }
            }
        }
        Ok(Self { order, position })
    }

    /// The permutation drawn by shuffling 0..n (Fisher and Yates).
    pub fn random(n: usize, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..n).collect();
        let mut seeds = SplitMix::new(seed);
        for last in (1..n).rev() {
            order.swap(last, seeds.below(last as u64 + 1) as usize);
        }
        Self::ordered(order)
    }

    /// All n! permutations of 0..n, in lexicographic order.
    pub fn all(n: usize) -> impl Iterator<Item = Self> {
        let first: Vec<usize> = (0..n).collect();
        std::iter::successors(Some(first), |order| following(order)).map(Self::ordered)
    }

    /// An order known to be one.
    pub(super) fn ordered(order: Vec<usize>) -> Self {
        let mut position = vec![0; order.len()];
        for (place, &x) in order.iter().enumerate() {
            position[x] = place;
        }
        Self { order, position }
    }

    /// How many elements are permuted.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is nothing to permute.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The elements in their permuted order.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The place of element `x` in the permuted order.
    ///
    /// # Panics
    /// When `x` is not one of 0..n.
    pub fn position(&self, x: usize) -> usize {
        self.position[x]
    }

    /// The first element of `set` in the permuted order; none for the empty set.
    ///
    /// # Panics
    /// When an element is not one of 0..n.
    pub fn minhash(&self, set: &[usize]) -> Option<usize> {
        set.iter().copied().min_by_key(|&x| self.position[x])
    }

    /// The minhash when only the first `rows` places of the order are looked at: none stands for ∞.
    ///
    /// # Panics
    /// When an element is not one of 0..n.
    pub fn minhash_within(&self, set: &[usize], rows: usize) -> Option<usize> {
        self.minhash(set).filter(|&x| self.position[x] < rows)
    }
}

/// The next order in the lexicographic sequence.
fn following(order: &[usize]) -> Option<Vec<usize>> {
    let pivot = order.windows(2).rposition(|pair| pair[0] < pair[1])?;
    let successor = order.iter().rposition(|&x| x > order[pivot])?;
    let mut next = order.to_vec();
    next.swap(pivot, successor);
    next[pivot + 1..].reverse();
    Some(next)
}

/// Function i is the i-th permutation; elements must be numbers in 0..n.
impl HashFamily for [Permutation] {
    fn hash(&self, function: usize, x: u64) -> u64 {
        self[function].position(x as usize) as u64
    }

    fn functions(&self) -> usize {
        self.len()
    }
}

/// Function i is the i-th permutation; elements must be numbers in 0..n.
impl HashFamily for Vec<Permutation> {
    fn hash(&self, function: usize, x: u64) -> u64 {
        self.as_slice().hash(function, x)
    }

    fn functions(&self) -> usize {
        self.len()
    }
}
