//! What is kept of a text while it is a candidate: its keys, a byte of every value of its sketch, and its
//! elements, in one list of words.

use crate::amplify::Bands;
use crate::candidates::bands::Banding;

/// How such a list is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    keys: usize,
    functions: usize,
    bytes: usize,
}

/// The parts of one list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) keys: &'a [u64],
    /// The low byte of every value of the sketch, eight to a word.
    pub(super) bytes: &'a [u64],
    pub(super) elements: &'a [u64],
}

impl Layout {
    pub(super) fn new(bands: Bands) -> Self {
        let functions = bands.functions();
        Self { keys: bands.count, functions, bytes: functions.div_ceil(8) }
    }

    pub(super) fn split(self, words: &[u64]) -> Record<'_> {
        let (keys, rest) = words.split_at(self.keys);
        let (bytes, elements) = rest.split_at(self.bytes);
        Record { keys, bytes, elements }
    }

    /// How many bytes of two records agree at least, but for this chance, when the texts have this
    /// similarity. Bytes of different values may agree, which only adds.
    pub(super) fn least_agreement(self, similarity: f64, chance: f64) -> usize {
        let padding = 8 * self.bytes - self.functions;
        fewest_successes(self.functions, similarity, chance) + padding
    }

    /// Words before the elements.
    pub(super) fn head(self) -> usize {
        self.keys + self.bytes
    }
}

/// Sketches the elements of a text and appends keys and bytes to `head`.
pub(super) fn sketch(
    banding: &Banding,
    elements: &[u64],
    values: &mut Vec<u32>,
    head: &mut Vec<u64>,
) {
    banding.keys(elements, values, head);
    head.extend(values.chunks(8).map(|values| {
        values.iter().rev().fold(0, |word, &value| word << 8 | u64::from(value & 0xff))
    }));
}

/// The largest m such that fewer than m of so many trials succeed with a chance of at most `chance`.
fn fewest_successes(trials: usize, success: f64, chance: f64) -> usize {
    if success >= 1.0 {
        return trials;
    }
    // The chance of just m successes, as a logarithm: it may be too small for a double.
    let mut just = trials as f64 * (-success).ln_1p();
    let mut fewer = 0.0;
    for m in 0..trials {
        fewer += just.exp();
        if fewer > chance {
            return m;
        }
        just += ((trials - m) as f64 / (m + 1) as f64).ln() + (success / (1.0 - success)).ln();
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_failures_are_counted_exactly() {
        // Of two fair trials none succeeds with 1/4, at most one with 3/4.
        for (chance, fewest) in [(0.1, 0), (0.3, 1), (0.7, 1), (0.8, 2)] {
            assert_eq!(fewest_successes(2, 0.5, chance), fewest);
        }
        // By summing exact binomial coefficients in Python.
        assert_eq!(fewest_successes(96, 0.8, 1e-4), 61);
        assert_eq!(fewest_successes(1000, 0.9, 1e-6), 852);
        assert_eq!(fewest_successes(7, 1.0, 0.01), 7);
        assert_eq!(fewest_successes(0, 0.5, 0.01), 0);
    }
}
