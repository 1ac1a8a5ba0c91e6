//! The recall by drawn pairs.
//!
//! **What is estimated.** Each drawn pair that is similar stands for x pairs: one over the chance to draw it. Of those
//! sums M is what the run missed and S all, with the pairs of copies, which are known and always found. Then 1 − M / S
//! estimates the recall over all pairs (Horvitz and Thompson, 1952; as a ratio, Hájek, 1971).
//!
//! **Its interval.** Draws are independent, so the variance of M / S is V / S² with V = Σx²(miss − q)², q = M / S. The
//! interval is that of Clopper and Pearson (1934) for as many misses as M is worth, k = M² / V, among as many pairs as
//! S is worth at the same weight, S·M / V. For the lower end one more miss is added, as Clopper and Pearson do, and it has
//! the weight that a similar pair has, √(Σx³ / Σx), in the band of similarity where that is largest, or that of the misses
//! seen if that is more (the idea of Fay and Feuer, 1997, for weighted counts). Pairs near the threshold are missed most,
//! and drawn least: with the average of all pairs, 177 of 200 intervals held on files of crates.
//!
//! Pairs of one cluster are seen or not seen together. That they are not independent in this matters little, as hardly
//! any pair is not seen. Ten missed pairs are counted as if they were seen or not seen as one: V grows by
//! (Σx·√((1 − π) / π))² over the misses, divided by a tenth of their number, π being the chance that a pair is seen. (If all
//! misses are taken together, all of 300 intervals of weak plans hold, and are a third wider.)

use super::{FEW, MOST, Recall, beta};

/// Missed pairs that are taken to be seen or not seen together.
const TOGETHER: f64 = 10.0;

/// Sums over the drawn pairs that are similar.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PairTally {
    /// Different pairs, and those the run found.
    pairs: u64,
    found: u64,
    /// Σx, Σx² and Σx³.
    sum: f64,
    squares: f64,
    cubes: f64,
    /// Those of missed pairs.
    missed_sum: f64,
    missed_squares: f64,
    /// Σx(1 − π).
    unseen: f64,
    /// Σx·√((1 − π) / π) of missed pairs.
    missed_together: f64,
    /// What pairs of copies add to Σx.
    copies: f64,
}

/// A drawn pair that is similar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimilarDraw {
    /// How many pairs it stands for.
    pub(crate) weight: f64,
    /// The chance that it is seen at all.
    pub(crate) chance: f64,
    /// How similar the two are.
    pub(crate) similarity: f64,
    /// Whether the run found it.
    pub(crate) found: bool,
    /// Whether it was drawn before.
    pub(crate) again: bool,
}

impl PairTally {
    pub(super) fn add(&mut self, draw: &SimilarDraw) {
        let SimilarDraw { weight, chance, found, again, .. } = *draw;
        self.pairs += u64::from(!again);
        self.found += u64::from(!again && found);
        self.sum += weight;
        self.squares += weight * weight;
        self.cubes += weight.powi(3);
        self.unseen += weight * (1.0 - chance);
        if !found {
            self.missed_sum += weight;
            self.missed_squares += weight * weight;
            self.missed_together += weight * ((1.0 - chance) / chance).sqrt();
        }
    }

    /// Adds pairs of copies, which are known and always found.
    pub(super) fn add_copies(&mut self, weight: f64) {
        self.copies += weight;
    }

    /// As many independent pairs as the draws are worth where nothing was missed.
    pub(super) fn worth(&self) -> f64 {
        if self.squares > 0.0 { self.sum * self.sum / self.squares } else { 0.0 }
    }

    /// The weight that a similar pair has, as a root mean square; nothing where that is by chance.
    pub(super) fn usual_weight(&self) -> f64 {
        const LEAST: u64 = 10;
        if self.pairs >= LEAST { (self.cubes / self.sum).sqrt() } else { 0.0 }
    }

    /// The recall, where `all` says that every pair that is seen was looked at, and a missed pair may well have the
    /// weight `heavy`.
    pub(super) fn recall(&self, all: bool, heavy: f64) -> Option<Recall> {
        let (pairs, found) = (self.pairs, self.found);
        let total = self.sum + self.copies;
        let missed = (pairs > 0).then(|| self.missed_sum / total)?;
        let interval = self.interval(missed, total, all, heavy);
        Some(Recall { pairs, found, recall: 1.0 - missed, interval: Some(interval) })
    }

    /// The recall of a bin, without an interval where that says nothing.
    pub(super) fn recall_of_bin(&self, all: bool) -> Option<Recall> {
        let recall = self.recall(all, 0.0)?;
        let is_exact = recall.interval.is_some_and(|(low, high)| low == high);
        let interval = recall.interval.filter(|_| is_exact || recall.pairs >= FEW);
        Some(Recall { interval, ..recall })
    }

    fn interval(&self, missed: f64, total: f64, all: bool, heavy: f64) -> (f64, f64) {
        let found_squares = self.squares - self.missed_squares;
        let spread = match all {
            true => 0.0,
            false => self.missed_squares * (1.0 - missed).powi(2) + found_squares * missed.powi(2),
        };
        let lots = ((self.pairs - self.found) as f64 / TOGETHER).max(1.0);
        let together = self.missed_together.powi(2) / lots;
        // The weight of one miss more, and of one pair more that was found.
        let average = (self.squares / self.sum).max(heavy);
        let heavier = |sum: f64, squares: f64| if sum > 0.0 { squares / sum } else { 0.0 };
        let share = if all { self.unseen / self.sum } else { 1.0 };
        let found_sum = self.sum - self.missed_sum;
        let one_missed = share * average.max(heavier(self.missed_sum, self.missed_squares));
        let one_found = share * average.max(heavier(found_sum, found_squares));
        // Of the two kinds the rarer one is counted.
        if missed <= 0.5 {
            let variance = spread / (1.0 - missed) + together;
            let (low, high) = bounds(self.missed_sum, variance, one_missed, total);
            (1.0 - high, 1.0 - low)
        } else {
            let variance = spread / missed + together;
            bounds(found_sum + self.copies, variance, one_found, total)
        }
    }

    /// The numbers that it is made of, to be saved.
    pub(super) fn parts(&self) -> [u64; 10] {
        let sums = [
            self.sum,
            self.squares,
            self.cubes,
            self.missed_sum,
            self.missed_squares,
            self.unseen,
            self.missed_together,
            self.copies,
        ];
        let [a, b, c, d, e, f, g, h] = sums.map(f64::to_bits);
        [self.pairs, self.found, a, b, c, d, e, f, g, h]
    }

    pub(super) fn from_parts([pairs, found, sums @ ..]: [u64; 10]) -> Self {
        let sums = sums.map(f64::from_bits);
        let [sum, squares, cubes, missed_sum, missed_squares, unseen, missed_together, copies] =
            sums;
        Self {
            pairs,
            found,
            sum,
            squares,
            cubes,
            missed_sum,
            missed_squares,
            unseen,
            missed_together,
            copies,
        }
    }
}

/// The 95 % interval of a share: `part` of `total`, with this variance. For the upper end a draw of the weight `one` is
/// added.
fn bounds(part: f64, variance: f64, one: f64, total: f64) -> (f64, f64) {
    let quantile = |probability: f64, part: f64, variance: f64| {
        if variance <= 0.0 {
            return part / total;
        }
        let count = part * part / variance;
        let among = (total * part / variance).min(MOST);
        let count = count.min(among);
        beta::quantile(probability, count, among - count + 1.0)
    };
    let low = if part > 0.0 { quantile(0.025, part, variance) } else { 0.0 };
    let high = quantile(0.975, part + one, variance + one * one);
    (low.min(part / total), high.max(part / total))
}
