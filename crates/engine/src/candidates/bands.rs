//! Bands of a sketch as bucket keys (Mining of Massive Datasets, 3.4.1).
//!
//! A sketch of `count · rows` values is cut into bands. A band's key is the hash of its values and its number, so each band
//! has its own buckets. Two items whose sketches agree in a whole band share that band's key.

use super::KEY_BITS;
use crate::Result;
use crate::amplify::Bands;
use crate::family::{ClassicSketch, OnePermutation};

/// Makes an item's bucket keys from its elements.
#[derive(Debug, Clone)]
pub struct Banding {
    sketcher: Sketcher,
    bands: Bands,
}

#[derive(Debug, Clone)]
enum Sketcher {
    OnePermutation(OnePermutation),
    Classic(ClassicSketch),
}

impl Banding {
    /// Bands of a sketch by one permutation.
    pub fn new(bands: Bands, seed: u64) -> Result<Self> {
        let sketcher = OnePermutation::new(bands.functions(), seed)?;
        Ok(Self { sketcher: Sketcher::OnePermutation(sketcher), bands })
    }

    /// Bands that find pairs of this similarity with the chance that [`Bands::probability`] states, or a larger one, for
    /// sets of every size.
    ///
    /// One permutation draws without replacement. The number of values in which two sets agree then varies less, which
    /// helps where most pairs have a band to spare and hurts where few have one. Simulated for unions of 5 to 500 elements
    /// and up to 32 rows, pairs were lost with a single band, with two to
    /// four at chances below 0.7, and with more at chances below 0.5.
    pub fn at(similarity: f64, bands: Bands, seed: u64) -> Result<Self> {
        /// From these on, one permutation loses no pair, with a margin.
        const ENOUGH: (usize, f64) = (5, 0.75);
        let mut banding = Self::new(bands, seed)?;
        if bands.count < ENOUGH.0 || bands.probability(similarity) < ENOUGH.1 {
            banding.sketcher =
                Sketcher::Classic(ClassicSketch { functions: bands.functions(), seed });
        }
        Ok(banding)
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
        match &self.sketcher {
            Sketcher::OnePermutation(sketcher) => sketcher.sketch(elements, sketch),
            Sketcher::Classic(sketcher) => sketcher.sketch(elements, sketch),
        }
        self.keys_of(sketch, out);
    }

    /// Appends the keys of the item with this sketch, which has elements.
    pub fn keys_of(&self, sketch: &[u32], out: &mut Vec<u64>) {
        let start = out.len();
        nearkin_kernels::band_keys(sketch, self.bands.rows, out);
        out[start..].iter_mut().for_each(|key| *key >>= 64 - KEY_BITS);
    }
}
