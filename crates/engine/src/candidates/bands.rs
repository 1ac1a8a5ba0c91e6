//! Bands of a sketch as bucket keys (Mining of Massive Datasets, 3.4.1).
//!
//! A sketch of `count · rows` values is cut into bands. A band's key is the hash of its values and its number, so each band
//! has its own buckets. Two items whose sketches agree in a whole band share that band's key.

use super::KEY_BITS;
use crate::Result;
use crate::amplify::Bands;
use crate::family::OnePermutation;

/// Makes an item's bucket keys from its elements.
#[derive(Debug, Clone)]
pub struct Banding {
    sketcher: OnePermutation,
    bands: Bands,
}

impl Banding {
    /// Sketches for these bands from this seed.
    pub fn new(bands: Bands, seed: u64) -> Result<Self> {
        Ok(Self { sketcher: OnePermutation::new(bands.functions(), seed)?, bands })
    }

    /// The bands.
    pub fn bands(&self) -> Bands {
        self.bands
    }

    /// Appends the keys of the item with these elements, one per band; none for an item without elements. The sketch stays
    /// in `sketch`.
    pub fn keys(&self, elements: &[u64], sketch: &mut Vec<u32>, out: &mut Vec<u64>) {
        if elements.is_empty() {
            return sketch.clear();
        }
        sketch.resize(self.bands.functions(), 0);
        self.sketcher.sketch(elements, sketch);
        self.keys_of(sketch, out);
    }

    /// Appends the keys of the item with this sketch, which has elements.
    pub fn keys_of(&self, sketch: &[u32], out: &mut Vec<u64>) {
        let start = out.len();
        nearkin_kernels::band_keys(sketch, self.bands.rows, out);
        out[start..].iter_mut().for_each(|key| *key >>= 64 - KEY_BITS);
    }
}
