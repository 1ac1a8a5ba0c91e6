//! Signatures, and what two of them say about their sets.
//!
//! Two signatures come in, the number of positions that agree, differ or say nothing goes out
//! (*Mining of Massive Datasets*, 3.3.4 and 3.3.6). A position may be ∞ when the scan that made it
//! stopped before it met the set; the three ∞ rules stand in [`Agreement`].

use crate::family::INFINITY;

/// The minhash values of one set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    values: Vec<u64>,
    empty: bool,
}

impl Signature {
    /// The signature of the empty set: every position ∞.
    pub fn empty(functions: usize) -> Self {
        Self { values: vec![INFINITY; functions], empty: true }
    }

    /// Wraps values computed elsewhere. `empty` says that the set itself had no elements: a set
    /// that has some may still be ∞ everywhere when the scan was cut short.
    pub fn from_values(values: Vec<u64>, empty: bool) -> Self {
        Self { values, empty }
    }

    /// The values, one per function; [`INFINITY`] where nothing was seen.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// Whether the set had no elements.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Lowers position `function` to `value`. A real value never becomes [`INFINITY`].
    pub(super) fn lower(&mut self, function: usize, value: u64) {
        let place = &mut self.values[function];
        *place = (*place).min(value.min(INFINITY - 1));
        self.empty = false;
    }

    /// Notes that the set has elements, whether or not one of them was seen.
    pub(super) fn has_elements(&mut self) {
        self.empty = false;
    }

    /// Takes in the signature of another part of the same set, made by the same functions: minima of
    /// parts are the minima of the whole, so rows can be worked off in chunks and in any order.
    ///
    /// # Panics
    /// When the signatures have different lengths.
    pub fn merge(&mut self, part: &Self) {
        assert_eq!(self.values.len(), part.values.len(), "parts signed by different families");
        for (value, other) in self.values.iter_mut().zip(&part.values) {
            *value = (*value).min(*other);
        }
        self.empty &= part.empty;
    }

    /// Compares two signatures position by position.
    ///
    /// # Panics
    /// When the signatures have different lengths.
    pub fn agreement(&self, other: &Self) -> Agreement {
        assert_eq!(self.values.len(), other.values.len(), "sets signed by different families");
        let mut agreement = Agreement::default();
        for (&a, &b) in self.values.iter().zip(&other.values) {
            match (a, b) {
                (INFINITY, INFINITY) => agreement.silent += 1,
                _ if a == b => agreement.equal += 1,
                _ => agreement.unequal += 1,
            }
        }
        agreement
    }

    /// The estimated Jaccard similarity; none when no position gives evidence. The empty set is
    /// similar to the empty set (1) and to nothing else (0), which are no estimates.
    ///
    /// # Panics
    /// When the signatures have different lengths.
    pub fn estimate(&self, other: &Self) -> Option<f64> {
        match (self.empty, other.empty) {
            (true, true) => Some(1.0),
            (false, false) => self.agreement(other).similarity(),
            _ => Some(0.0),
        }
    }
}

/// What the positions of two signatures say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Positions with the same value, neither ∞.
    pub equal: usize,
    /// Positions with two values, or with one value and one ∞: the value stands before the end of
    /// the scan and whatever hides behind ∞ stands after it.
    pub unequal: usize,
    /// Positions with ∞ on both sides: the scan saw nothing of either set, which is no evidence.
    pub silent: usize,
}

impl Agreement {
    /// The share of equal positions among those that give evidence.
    pub fn similarity(&self) -> Option<f64> {
        let evidence = self.equal + self.unequal;
        (evidence > 0).then(|| self.equal as f64 / evidence as f64)
    }
}
