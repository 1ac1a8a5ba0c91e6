//! Is this pair really similar, and exactly how much?

use nearkin_kernels::shared_at_least;

use crate::family::weighted::{max_from_sum, sum_from_max};
use crate::measure::jaccard;
use crate::{Error, Result};

/// How two documents' shingles are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// Shared shingles over all shingles of either, each counted once.
    #[default]
    Jaccard,
    /// The same with each shingle counted as often as it occurs, the union by maximum.
    Bag,
    /// The same with the union by sum: at most 1/2.
    BagSum,
}

impl Measure {
    /// Whether repeats of a shingle count.
    pub fn counts_repeats(self) -> bool {
        self != Self::Jaccard
    }

    /// The value of this measure for the Jaccard similarity of the two sets of (numbered) shingles.
    fn value(self, similarity: f64) -> f64 {
        if self == Self::BagSum { sum_from_max(similarity) } else { similarity }
    }

    /// The Jaccard similarity of the (numbered) shingles at which this measure has this value.
    pub fn to_jaccard(self, value: f64) -> f64 {
        if self == Self::BagSum { max_from_sum(value) } else { value }
    }

    /// The largest value the measure takes.
    pub fn largest(self) -> f64 {
        self.value(1.0)
    }
}

/// A pair that was found similar, `a` before `b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// The item that comes first.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// The exact value of the measure.
    pub similarity: f64,
}

/// Compares sets exactly, and says nothing of those below the threshold.
#[derive(Debug, Clone, Copy)]
pub struct Verifier {
    measure: Measure,
    threshold: f64,
}

impl Verifier {
    /// A verifier for pairs at or above `threshold`.
    pub fn new(measure: Measure, threshold: f64) -> Result<Self> {
        if !(threshold > 0.0 && threshold <= measure.largest()) {
            let must = format!("above 0 and at most {}", measure.largest());
            return Err(Error::parameter("threshold", threshold, must));
        }
        Ok(Self { measure, threshold })
    }

    /// What identical items get.
    pub fn largest(&self) -> f64 {
        self.measure.largest()
    }

    /// The exact similarity of two sets, if it reaches the threshold.
    ///
    /// Quotients are compared as correctly rounded doubles, so a pair at just 4/5 reaches 0.8: the
    /// quotient and the decimal round to the same double, and no other quotient of sets does.
    pub fn similarity(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let shared = shared_at_least(a, b, self.shared_needed(a.len(), b.len())?)?;
        Some(self.value(shared, a.len(), b.len()))
    }

    /// The exact similarity of two sets, whatever it is.
    pub fn any_similarity(&self, a: &[u64], b: &[u64]) -> f64 {
        self.value(nearkin_kernels::shared(a, b), a.len(), b.len())
    }

    fn value(&self, shared: usize, a: usize, b: usize) -> f64 {
        if self.measure == Measure::BagSum {
            return if a + b == 0 { 0.5 } else { shared as f64 / (a + b) as f64 };
        }
        jaccard::from_counts(shared, a, b)
    }

    /// The fewest shared elements with which sets of these sizes reach the threshold, if they can.
    fn shared_needed(&self, a: usize, b: usize) -> Option<usize> {
        // shared / (a + b − shared) ≥ t  ⇔  shared ≥ t / (1 + t) · (a + b), then put right by the
        // very comparison that decides.
        let t = self.measure.to_jaccard(self.threshold);
        let most = a.min(b);
        let reaches = |shared: usize| self.value(shared, a, b) >= self.threshold;
        if !reaches(most) {
            return None;
        }
        let mut need = ((t / (1.0 + t) * (a + b) as f64) as usize).min(most);
        while need > 0 && reaches(need - 1) {
            need -= 1;
        }
        while !reaches(need) {
            need += 1;
        }
        Some(need)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_at_just_the_threshold_is_reported() {
        for (shared, union, threshold) in [
            (4, 5, 0.8),
            (9, 10, 0.9),
            (2, 3, 2.0 / 3.0),
            (7, 10, 0.7),
            (3, 10, 0.3),
            (1, 3, 1.0 / 3.0),
        ] {
            let a: Vec<u64> = (0..shared).collect();
            let b: Vec<u64> = (0..union).collect();
            let verifier = Verifier::new(Measure::Jaccard, threshold).unwrap();
            assert_eq!(verifier.similarity(&a, &b), Some(threshold), "{shared}/{union}");
            let above = Verifier::new(Measure::Jaccard, f64::midpoint(threshold, 1.0)).unwrap();
            assert_eq!(above.similarity(&a, &b), None);
        }
    }

    #[test]
    fn the_needed_overlap_is_the_smallest_that_reaches() {
        for measure in [Measure::Jaccard, Measure::BagSum] {
            for twentieths in 1..=20 {
                let threshold = f64::from(twentieths) / 20.0 * measure.largest();
                let verifier = Verifier::new(measure, threshold).unwrap();
                for (a, b) in (1..30).flat_map(|a| (1..30).map(move |b| (a, b))) {
                    let all = 0..=usize::min(a, b);
                    let smallest = all.into_iter().find(|&s| verifier.value(s, a, b) >= threshold);
                    assert_eq!(verifier.shared_needed(a, b), smallest);
                }
            }
        }
    }

    #[test]
    fn thresholds_out_of_range_are_refused() {
        for threshold in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(Verifier::new(Measure::Jaccard, threshold).is_err());
        }
        assert!(Verifier::new(Measure::BagSum, 0.6).is_err());
    }
}
