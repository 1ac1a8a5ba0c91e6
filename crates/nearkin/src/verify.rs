//! Is this pair really similar, and exactly how much?

use nearkin_kernels::shared_at_least;

use crate::family::weighted::max_from_sum;
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

    /// The Jaccard similarity of the (numbered) shingles at which this measure has this value.
    pub fn to_jaccard(self, value: f64) -> f64 {
        if self == Self::BagSum { max_from_sum(value) } else { value }
    }

    /// What identical items have in common.
    pub fn identical(self) -> Overlap {
        Overlap { shared: 1, union: if self == Self::BagSum { 2 } else { 1 } }
    }

    /// What sets of `a` and `b` (numbered) shingles with `shared` in common have in common.
    pub(crate) fn overlap(self, shared: usize, a: usize, b: usize) -> Overlap {
        let both = if self == Self::BagSum { 0 } else { shared };
        Overlap { shared: shared as u32, union: (a + b - both) as u32 }
    }
}

/// What two items have in common, exactly: as counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// Elements of both.
    pub shared: u32,
    /// Elements of either.
    pub union: u32,
}

impl Overlap {
    /// The share of elements in both; 1 for two items without any.
    pub fn similarity(self) -> f64 {
        if self.union == 0 { 1.0 } else { f64::from(self.shared) / f64::from(self.union) }
    }

    /// The share of elements in one only.
    pub fn distance(self) -> f64 {
        if self.union == 0 {
            0.0
        } else {
            f64::from(self.union - self.shared) / f64::from(self.union)
        }
    }
}

/// A pair that was found similar, `a` before `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// The item that comes first.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// What they have in common.
    pub overlap: Overlap,
}

/// What counts as similar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// A similarity of at least this.
    Similarity(f64),
    /// A distance of at most this.
    Distance(f64),
}

impl Limit {
    /// Whether a pair is similar.
    ///
    /// Quotients are compared as correctly rounded doubles, so a pair at just 4/5 reaches 0.8: the
    /// quotient and the decimal round to the same double, and no other quotient of sets does.
    pub fn reached(self, overlap: Overlap) -> bool {
        match self {
            Self::Similarity(least) => overlap.similarity() >= least,
            Self::Distance(most) => overlap.distance() <= most,
        }
    }

    /// The similarity that is just enough.
    pub fn similarity(self) -> f64 {
        match self {
            Self::Similarity(least) => least,
            Self::Distance(most) => 1.0 - most,
        }
    }
}

/// Compares sets exactly, and says nothing of those that are not similar.
#[derive(Debug, Clone)]
pub struct Verifier {
    measure: Measure,
    limit: Limit,
    /// The fewest shared elements by the number of elements of both, for as many as are frequent.
    needed: Vec<u32>,
}

impl Verifier {
    /// A verifier for pairs that reach `limit`.
    pub fn new(measure: Measure, limit: Limit) -> Result<Self> {
        let largest = measure.identical().similarity();
        match limit {
            Limit::Similarity(least) if !(least > 0.0 && least <= largest) => {
                let must = format!("above 0 and at most {largest}");
                Err(Error::parameter("threshold", least, must))
            }
            Limit::Distance(most) if measure == Measure::BagSum => {
                let must = "left out with bag-sum, which is no distance; use a threshold";
                Err(Error::parameter("within", most, must))
            }
            Limit::Distance(most) if !(0.0..1.0).contains(&most) => {
                Err(Error::parameter("within", most, "at least 0 and below 1"))
            }
            _ => {
                let mut verifier = Self { measure, limit, needed: Vec::new() };
                verifier.needed =
                    (0..Self::FREQUENT).map(|all| verifier.compute(all) as u32).collect();
                Ok(verifier)
            }
        }
    }

    /// Elements of two sets for which the fewest shared ones are known beforehand.
    const FREQUENT: usize = 1 << 12;

    /// What two sets have in common, if that makes them similar.
    pub fn similar(&self, a: &[u64], b: &[u64]) -> Option<Overlap> {
        self.similar_with(a, b, self.shared_needed(a.len(), b.len())?)
    }

    /// The same, when the fewest elements that they must share are known.
    pub(crate) fn similar_with(&self, a: &[u64], b: &[u64], need: usize) -> Option<Overlap> {
        let shared = shared_at_least(a, b, need)?;
        Some(self.measure.overlap(shared, a.len(), b.len()))
    }

    /// What two sets have in common, whatever it is.
    pub fn overlap(&self, a: &[u64], b: &[u64]) -> Overlap {
        self.measure.overlap(nearkin_kernels::shared(a, b), a.len(), b.len())
    }

    /// What identical items have in common.
    pub fn identical(&self) -> Overlap {
        self.measure.identical()
    }

    /// The fewest shared elements with which sets of these sizes are similar, if they can be.
    pub(crate) fn shared_needed(&self, a: usize, b: usize) -> Option<usize> {
        let need =
            self.needed.get(a + b).map_or_else(|| self.compute(a + b), |&need| need as usize);
        (need <= a.min(b)).then_some(need)
    }

    /// The same from the number of elements of both, were all of them shared if need be.
    fn compute(&self, all: usize) -> usize {
        // shared / (all − shared) ≥ t  ⇔  shared ≥ t / (1 + t) · all, then put right by the very
        // comparison that decides.
        let t = self.measure.to_jaccard(self.limit.similarity());
        let reached = |shared: usize| self.limit.reached(self.measure.overlap(shared, all, 0));
        let mut need = ((t / (1.0 + t) * all as f64) as usize).min(all / 2);
        while need > 0 && reached(need - 1) {
            need -= 1;
        }
        while need <= all / 2 && !reached(need) {
            need += 1;
        }
        need
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verifier(measure: Measure, limit: Limit) -> Verifier {
        Verifier::new(measure, limit).expect("a limit in range")
    }

    #[test]
    fn a_pair_at_just_the_limit_is_reported() {
        // 1 − 0.58 in doubles is a little above 0.42, 1/3 as a distance has no exact decimal.
        let cases =
            [(4, 5), (9, 10), (2, 3), (7, 10), (3, 10), (1, 3), (42, 100), (58, 100), (1, 7)];
        for (shared, union) in cases {
            let a: Vec<u64> = (0..shared).collect();
            let b: Vec<u64> = (0..union).collect();
            let similarity = shared as f64 / union as f64;
            let distance = (union - shared) as f64 / union as f64;
            for limit in [Limit::Similarity(similarity), Limit::Distance(distance)] {
                let found = verifier(Measure::Jaccard, limit).similar(&a, &b).expect("a pair");
                assert_eq!((found.similarity(), found.distance()), (similarity, distance));
            }
            let beyond =
                [Limit::Similarity(similarity.next_up()), Limit::Distance(distance.next_down())];
            for limit in beyond {
                assert_eq!(verifier(Measure::Jaccard, limit).similar(&a, &b), None);
            }
        }
    }

    #[test]
    fn the_needed_overlap_is_the_smallest_that_reaches() {
        let limits = (1..=20).map(|n| f64::from(n) / 20.0).flat_map(|t| {
            [
                (Measure::Jaccard, Limit::Similarity(t)),
                (Measure::Jaccard, Limit::Distance(1.0 - t)),
                (Measure::BagSum, Limit::Similarity(t / 2.0)),
            ]
        });
        for (measure, limit) in limits {
            let verifier = verifier(measure, limit);
            for (a, b) in (1..30).flat_map(|a| (1..30).map(move |b| (a, b))) {
                let smallest =
                    (0..=usize::min(a, b)).find(|&s| limit.reached(measure.overlap(s, a, b)));
                assert_eq!(verifier.shared_needed(a, b), smallest);
            }
        }
    }

    #[test]
    fn limits_out_of_range_are_refused() {
        for wrong in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(Verifier::new(Measure::Jaccard, Limit::Similarity(wrong)).is_err());
        }
        for wrong in [-0.1, 1.0, f64::NAN] {
            assert!(Verifier::new(Measure::Jaccard, Limit::Distance(wrong)).is_err());
        }
        assert!(Verifier::new(Measure::BagSum, Limit::Similarity(0.6)).is_err());
        assert!(Verifier::new(Measure::BagSum, Limit::Distance(0.2)).is_err());
    }
}
