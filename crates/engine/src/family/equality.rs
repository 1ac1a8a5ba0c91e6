//! Equality of a key, as a family of one function.

use std::borrow::Cow;

use super::Family;
#[cfg(doc)]
use super::INFINITY;

/// Whether a key is the same: a year, a postcode, a hash of a title. The distance is 0 for equal keys and 1 for others.
///
/// Every function is the same one, so an AND or an OR of several is no more than one of them. A key of [`INFINITY`]
/// stands for none, and agrees with nothing.
#[derive(Debug, Clone)]
pub struct Equality<'a> {
    keys: Cow<'a, [u64]>,
}

impl<'a> Equality<'a> {
    /// The key of each item.
    pub fn new(keys: impl Into<Cow<'a, [u64]>>) -> Self {
        Self { keys: keys.into() }
    }
}

impl Family for Equality<'_> {
    fn hash(&self, item: u32, _from: usize, values: &mut [u64]) {
        values.fill(self.keys[item as usize]);
    }

    fn agreement(&self, distance: f64) -> f64 {
        f64::from(u8::from(distance <= 0.0))
    }
}
