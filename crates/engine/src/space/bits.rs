//! Bit strings by the number of bits in which they differ.

use nearkin_kernels::hamming;

use super::{Form, Space};
use crate::item::Bits;
use crate::{Error, Result};

/// Bit strings under the Hamming distance or similarity.
///
/// What is counted may be more than one bit wide. Answers with gaps take two bits per question: they differ by two bits if
/// they contradict each other, and by one bit, which counts a half, if one of them is missing.
#[derive(Debug)]
pub struct BitSpace<'a> {
    bits: &'a Bits,
    form: Form,
    /// Bits that make up a distance of 1.
    scale: f64,
}

impl<'a> BitSpace<'a> {
    /// These bit strings. As a distance, `scale` differing bits count 1; as a similarity, each bit counts alike
    /// and the value is 1 − differing bits / bits.
    ///
    /// # Errors
    /// When `scale` is not above 0.
    pub fn new(bits: &'a Bits, form: Form, scale: f64) -> Result<Self> {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Error::parameter("scale", scale, "above 0"));
        }
        Ok(Self { bits, form, scale })
    }

    /// The bit strings.
    pub fn bits(&self) -> &'a Bits {
        self.bits
    }

    /// Bits that make up a distance of 1.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The value of two bit strings that differ in `differing` bits.
    pub fn value_of(&self, differing: u64) -> f64 {
        let differing = differing as f64;
        match self.form {
            Form::Distance => differing / self.scale,
            Form::Similarity => {
                let length = self.bits.length() as f64;
                (length - differing) / length
            }
        }
    }

    /// The most bits in which two bit strings that reach `limit` differ; none when not even equal ones do.
    pub fn most_differing(&self, limit: f64) -> Option<u64> {
        // Found with the very comparison that decides, so that no rounding comes between; the value falls (or,
        // as a distance, grows) with every bit.
        let reached = |differing: u64| !self.form.closer(limit, self.value_of(differing));
        let all = self.bits.length() as u64;
        let (mut low, mut high) = (0, all + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if reached(middle) { low = middle + 1 } else { high = middle }
        }
        low.checked_sub(1)
    }

    fn differing(&self, a: u32, b: u32) -> u64 {
        hamming(self.bits.get(a as usize), self.bits.get(b as usize))
    }
}

impl Space for BitSpace<'_> {
    fn len(&self) -> usize {
        self.bits.len()
    }

    fn form(&self) -> Form {
        self.form
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        self.value_of(self.differing(a, b))
    }
}
