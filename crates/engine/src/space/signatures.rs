//! Signatures under the share of functions that agree: an estimate of how similar the items are that they were made of.

use super::{Form, Space};
use crate::item::Signatures;

/// Signatures in memory.
#[derive(Debug, Clone, Copy)]
pub struct SignatureSpace<'a> {
    signatures: &'a Signatures,
}

impl<'a> SignatureSpace<'a> {
    /// These signatures.
    pub fn new(signatures: &'a Signatures) -> Self {
        Self { signatures }
    }

    /// The signatures.
    pub fn signatures(&self) -> &'a Signatures {
        self.signatures
    }

    /// The value of two signatures with so many functions that agree.
    pub fn value_of(&self, agreeing: u32) -> f64 {
        f64::from(agreeing) / self.signatures.functions() as f64
    }

    /// The fewest functions that must agree to reach `limit`; more than there are where it cannot be reached.
    pub fn least_agreeing(&self, limit: f64) -> u32 {
        // By the very comparison that decides, so that no rounding comes between.
        let all = self.signatures.functions() as u32;
        (0..=all).find(|&agreeing| self.value_of(agreeing) >= limit).unwrap_or(all + 1)
    }
}

impl Space for SignatureSpace<'_> {
    fn len(&self) -> usize {
        self.signatures.len()
    }

    fn form(&self) -> Form {
        Form::Similarity
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (self.signatures.get(a as usize), self.signatures.get(b as usize));
        let agree = |(x, y): &(&u32, &u32)| x == y && **x != Signatures::NO_VALUE;
        self.value_of(a.iter().zip(b).filter(agree).count() as u32)
    }
}
