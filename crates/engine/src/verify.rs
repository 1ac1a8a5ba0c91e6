//! Is this pair really similar, and exactly how much?

use nearkin_kernels::shared_at_least;

use crate::error::{Advice, Error, Result};
use crate::family::weighted::max_from_sum;

/// How two sets are compared: those of the elements or shingles of two items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// Shared elements over all elements of either, each counted once.
    #[default]
    Jaccard,
    /// Jaccard with each element counted as often as it occurs, the union by maximum.
    Bag,
    /// Like `Bag`, with the union by sum: at most 1/2.
    BagSum,
    /// Twice the shared elements over the elements of the one and those of the other.
    Dice,
    /// Shared elements over the geometric mean of the two sizes: the cosine of vectors of zeros and ones.
    Cosine,
    /// Shared elements over those of the smaller set: the share of it that the larger one contains.
    Containment,
    /// Shared elements: a number, not a share.
    Overlap,
    /// Elements that are in one of the two only: a distance. As a similarity it is taken for Jaccard's.
    Hamming,
}

impl Measure {
    /// Whether repeats of an element count.
    pub fn counts_repeats(self) -> bool {
        matches!(self, Self::Bag | Self::BagSum)
    }

    /// Whether the similarity follows from the Jaccard similarity of the (numbered) elements, so that minhashes
    /// tell it.
    pub fn follows_jaccard(self) -> bool {
        matches!(self, Self::Jaccard | Self::Bag | Self::BagSum | Self::Dice)
    }

    /// Whether a small item can be similar to a much larger one, which then stands for it but not the other way round.
    pub fn is_one_sided(self) -> bool {
        matches!(self, Self::Containment | Self::Overlap)
    }

    /// The Jaccard similarity of the (numbered) elements at which this measure has this value, for measures
    /// that follow from it.
    pub fn to_jaccard(self, value: f64) -> f64 {
        match self {
            Self::BagSum => max_from_sum(value),
            Self::Dice => value / (2.0 - value),
            _ => value,
        }
    }

    /// The largest similarity there is, that of identical items; none where it grows with them.
    pub fn largest(self) -> Option<f64> {
        match self {
            Self::BagSum => Some(0.5),
            Self::Overlap => None,
            _ => Some(1.0),
        }
    }

    /// How similar items are that have this in common; 1 for two without any element.
    pub fn similarity(self, overlap: Overlap) -> f64 {
        let Overlap { shared, a, b } = overlap;
        let [shared, size_a, size_b] = [shared, a, b].map(|count| count as f64);
        let share = |of: f64| if of == 0.0 { 1.0 } else { shared / of };
        match self {
            Self::Jaccard | Self::Bag | Self::Hamming => share(overlap.union() as f64),
            Self::BagSum if a == 0 && b == 0 => 0.5,
            Self::BagSum => share(size_a + size_b),
            Self::Dice => share((size_a + size_b) / 2.0),
            Self::Cosine => share((size_a * size_b).sqrt()),
            Self::Containment => share(size_a.min(size_b)),
            Self::Overlap => shared,
        }
    }

    /// How far apart they are: elements in one only, as their number for Hamming, else as their share.
    pub fn distance(self, overlap: Overlap) -> f64 {
        let union = overlap.union();
        let apart = (union - overlap.shared) as f64;
        match self {
            Self::Hamming => apart,
            _ if union == 0 => 0.0,
            _ => apart / union as f64,
        }
    }

    /// What sets of `a` and `b` (numbered) elements with `shared` in common have in common.
    pub(crate) fn overlap(shared: usize, a: usize, b: usize) -> Overlap {
        Overlap { shared: shared as u64, a: a as u64, b: b as u64 }
    }

    /// The measure's name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Bag => "bag",
            Self::BagSum => "bag-sum",
            Self::Dice => "dice",
            Self::Cosine => "cosine",
            Self::Containment => "containment",
            Self::Overlap => "overlap",
            Self::Hamming => "hamming",
        }
    }
}

/// What two items have in common, exactly: as counts. Of bags they are sums, which can be larger than 2³².
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// Elements of both.
    pub shared: u64,
    /// Elements of the one.
    pub a: u64,
    /// Elements of the other.
    pub b: u64,
}

impl Overlap {
    /// What an item of `size` elements has in common with its copy.
    pub fn identical(size: u64) -> Self {
        Self { shared: size, a: size, b: size }
    }

    /// Elements of either.
    pub fn union(self) -> u64 {
        self.a - self.shared + self.b
    }
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
    /// Whether a pair is similar by a measure.
    ///
    /// Quotients are compared as correctly rounded doubles, so a pair at just 4/5 reaches 0.8: the
    /// quotient and the decimal round to the same double, and no other quotient of sets does.
    pub fn reached(self, measure: Measure, overlap: Overlap) -> bool {
        match self {
            Self::Similarity(least) => measure.similarity(overlap) >= least,
            Self::Distance(most) => measure.distance(overlap) <= most,
        }
    }

    /// What is handed out for a pair: its similarity, or its distance where that is limited.
    pub fn value(self, measure: Measure, overlap: Overlap) -> f64 {
        match self {
            Self::Similarity(_) => measure.similarity(overlap),
            Self::Distance(_) => measure.distance(overlap),
        }
    }

    /// An error where no pair can reach this limit without being closer than `bound`.
    ///
    /// # Errors
    /// When the bound is no number, or on the wrong side of the limit.
    pub(crate) fn check_no_closer(self, bound: f64) -> Result<()> {
        let wrong = |name, must| Err(Error::parameter(name, bound, must));
        match self {
            Self::Similarity(least) if bound.is_nan() || bound < least => {
                wrong("at_most", format!("at least the threshold, {least}, or no pair is left"))
            }
            Self::Distance(most) if bound.is_nan() || bound > most => wrong(
                "at_least",
                format!("at most the largest distance, {most}, or no pair is left"),
            ),
            Self::Distance(_) if bound < 0.0 => wrong("at_least", "a number from 0 on".to_owned()),
            _ => Ok(()),
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
    /// The fewest shared elements by the number of elements of both, for frequent numbers.
    needed: Vec<u32>,
}

impl Verifier {
    /// A verifier for pairs that reach `limit`.
    pub fn new(measure: Measure, limit: Limit) -> Result<Self> {
        check(measure, limit)?;
        let mut verifier = Self { measure, limit, needed: Vec::new() };
        if verifier.goes_by_sum() {
            verifier.needed = Vec::with_capacity(Self::FREQUENT);
            let mut need = 0;
            for all in 0..Self::FREQUENT {
                // Another element raises it by one at most.
                while need <= all / 2 && !verifier.reached_by_sum(need, all) {
                    need += 1;
                }
                verifier.needed.push(need as u32);
            }
        }
        Ok(verifier)
    }

    /// Elements of two sets for which the fewest shared ones are known beforehand.
    const FREQUENT: usize = 1 << 13;

    /// How sets are compared.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// What counts as similar.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// What two sets have in common, if that makes them similar.
    pub fn similar(&self, a: &[u64], b: &[u64]) -> Option<Overlap> {
        self.similar_with(a, b, self.shared_needed(a.len(), b.len())?)
    }

    /// Like [`similar`](Self::similar), if the fewest elements that they must share are known.
    pub(crate) fn similar_with(&self, a: &[u64], b: &[u64], need: usize) -> Option<Overlap> {
        let shared = shared_at_least(a, b, need)?;
        Some(Measure::overlap(shared, a.len(), b.len()))
    }

    /// What two sets have in common, whatever it is.
    pub fn overlap(&self, a: &[u64], b: &[u64]) -> Overlap {
        Measure::overlap(nearkin_kernels::shared(a, b), a.len(), b.len())
    }

    /// What is handed out for a pair: its similarity, or its distance where that is limited.
    pub fn value(&self, overlap: Overlap) -> f64 {
        self.limit.value(self.measure, overlap)
    }

    /// The fewest shared elements with which sets of these sizes are similar, if they can be. It is 0 where
    /// a distance is so large that sets of these sizes need not share any.
    pub fn shared_needed(&self, a: usize, b: usize) -> Option<usize> {
        let need = match self.needed.get(a + b) {
            Some(&need) => need as usize,
            None if self.goes_by_sum() => self.compute(a + b, 0),
            None => self.compute(a, b),
        };
        (need <= a.min(b)).then_some(need)
    }

    /// Whether the fewest shared elements depend on the sum of the sizes alone.
    fn goes_by_sum(&self) -> bool {
        !matches!(self.measure, Measure::Cosine | Measure::Containment | Measure::Overlap)
    }

    /// Whether sets with `all` elements, counted together, are similar if they share `shared` of them.
    fn reached_by_sum(&self, shared: usize, all: usize) -> bool {
        // As if one were contained in the other, because no count may be negative.
        self.limit.reached(self.measure, Measure::overlap(shared, shared, all - shared))
    }

    /// The fewest elements that sets of any two sizes must share, even if that is more than they have. If only the sum
    /// counts, it comes as `a`.
    fn compute(&self, a: usize, b: usize) -> usize {
        let all = a + b;
        // A guess by real numbers, put right by the very comparison that decides.
        let guess = match (self.limit, self.measure) {
            (Limit::Distance(most), Measure::Hamming) => (all as f64 - most) / 2.0,
            (Limit::Similarity(least), Measure::Cosine) => least * (a as f64 * b as f64).sqrt(),
            (Limit::Similarity(least), Measure::Containment) => least * a.min(b) as f64,
            (Limit::Similarity(least), Measure::Overlap) => least,
            _ => {
                // shared / (all − shared) ≥ t  ⇔  shared ≥ t / (1 + t) · all
                let t = self.measure.to_jaccard(self.limit.similarity());
                t / (1.0 + t) * all as f64
            }
        };
        let most = if self.goes_by_sum() { all / 2 } else { a.min(b) };
        let reached = |shared: usize| match self.goes_by_sum() {
            true => self.reached_by_sum(shared, all),
            false => self.limit.reached(self.measure, Measure::overlap(shared, a, b)),
        };
        let mut need = (guess.max(0.0) as usize).min(most);
        while need > 0 && reached(need - 1) {
            need -= 1;
        }
        while need <= most && !reached(need) {
            need += 1;
        }
        need
    }
}

/// An error for a limit that the measure does not have.
pub(crate) fn check(measure: Measure, limit: Limit) -> Result<()> {
    let name = measure.name();
    match (limit, measure) {
        (Limit::Similarity(least), Measure::Hamming) => {
            let must = format!("left out with {name}, which is a distance");
            let advice = Advice::with("within", "give the largest distance");
            Err(Error::parameter("threshold", least, must).or(advice))
        }
        (Limit::Similarity(least), Measure::Overlap) if !(least >= 1.0 && least.is_finite()) => {
            let must = "a number of elements, at least 1: overlap counts those that are shared";
            let error = Error::parameter("threshold", least, must);
            // A share of the elements was meant.
            let is_share = least > 0.0 && least < 1.0;
            Err(if is_share { error.or(Advice::set("measure", "containment")) } else { error })
        }
        (Limit::Similarity(least), _)
            if !(least > 0.0 && least <= measure.largest().unwrap_or(f64::INFINITY)) =>
        {
            let most = measure.largest().unwrap_or(1.0);
            Err(Error::threshold(least, most, format!("above 0 and at most {most}")))
        }
        (Limit::Distance(most), Measure::Hamming) if !(most >= 0.0 && most.is_finite()) => {
            Err(Error::parameter("within", most, "a number of elements, at least 0"))
        }
        (Limit::Distance(most), Measure::Jaccard | Measure::Bag) if !(0.0..1.0).contains(&most) => {
            Err(Error::parameter("within", most, "at least 0 and below 1"))
        }
        (Limit::Distance(_), Measure::Jaccard | Measure::Bag | Measure::Hamming)
        | (Limit::Similarity(_), _) => Ok(()),
        (Limit::Distance(most), _) => {
            let must = format!("left out with {name}, which is no distance");
            let advice = Advice::with("threshold", "give the least similarity");
            Err(Error::parameter("within", most, must).or(advice))
        }
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
                let verifier = verifier(Measure::Jaccard, limit);
                let found = verifier.similar(&a, &b).expect("a pair");
                let values = [Measure::similarity, Measure::distance];
                let values = values.map(|value| value(verifier.measure(), found));
                assert_eq!(values, [similarity, distance]);
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
                (Measure::Dice, Limit::Similarity(t)),
                (Measure::Cosine, Limit::Similarity(t)),
                (Measure::Containment, Limit::Similarity(t)),
                (Measure::Overlap, Limit::Similarity(20.0 * t)),
                (Measure::Hamming, Limit::Distance((20.0 * t).round())),
            ]
        });
        for (measure, limit) in limits {
            let verifier = verifier(measure, limit);
            let sizes = (1..30).chain([Verifier::FREQUENT - 1]);
            for (a, b) in sizes.flat_map(|a| (1..30).map(move |b| (a, b))) {
                let smallest = (0..=usize::min(a, b))
                    .find(|&s| limit.reached(measure, Measure::overlap(s, a, b)));
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
        for measure in [Measure::BagSum, Measure::Dice, Measure::Cosine, Measure::Containment] {
            assert!(Verifier::new(measure, Limit::Distance(0.2)).is_err());
            assert!(Verifier::new(measure, Limit::Similarity(1.1)).is_err());
        }
        assert!(Verifier::new(Measure::Overlap, Limit::Distance(2.0)).is_err());
        assert!(Verifier::new(Measure::Overlap, Limit::Similarity(7.0)).is_ok());
        assert!(Verifier::new(Measure::Overlap, Limit::Similarity(f64::INFINITY)).is_err());
        assert!(Verifier::new(Measure::Hamming, Limit::Distance(f64::NAN)).is_err());
        assert!(Verifier::new(Measure::Hamming, Limit::Similarity(0.5)).is_err());
    }
}
