//! Classic minhash signatures, in one pass over the elements.
//!
//! The elements of a set come in, one minimum per hash function goes out (Broder 1997; *Mining of Massive Datasets*, 3.3.5).
//! With a cut, only hash values below it are looked at. That is the truncated scan of 3.3.6: rows that come late in the
//! permuted order are never examined.

use super::hash_family::HashFamily;
use super::signature::Signature;
use crate::family::INFINITY;

/// Signs sets with every function of a family.
#[derive(Debug, Clone)]
pub struct MinHash<F> {
    family: F,
    cut: u64,
}

impl<F: HashFamily> MinHash<F> {
    /// Signatures with one value for each function of `family`.
    pub fn new(family: F) -> Self {
        Self { family, cut: INFINITY }
    }

    /// Ignores hash values of `cut` and above. With permutations as the family, this looks at the first `cut` rows of each.
    #[must_use]
    pub fn truncated(self, cut: u64) -> Self {
        Self { cut, ..self }
    }

    /// The family that orders the elements.
    pub fn family(&self) -> &F {
        &self.family
    }

    /// The signature of a set. Repeated elements change nothing. A hash value of `u64::MAX` counts
    /// as one less, since that value stands for ∞.
    pub fn signature(&self, elements: &[u64]) -> Signature {
        if self.cut == INFINITY {
            let mut values = vec![INFINITY; self.family.functions()];
            self.family.lower(elements, &mut values);
            if !elements.is_empty() {
                values.iter_mut().for_each(|value| *value = (*value).min(INFINITY - 1));
            }
            return Signature::from_values(values, elements.is_empty());
        }
        let mut signature = Signature::empty(self.family.functions());
        for &x in elements {
            signature.has_elements();
            for function in 0..self.family.functions() {
                let value = self.family.hash(function, x);
                if value < self.cut {
                    signature.lower(function, value);
                }
            }
        }
        signature
    }
}
