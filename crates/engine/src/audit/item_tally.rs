//! The recall by the pairs of drawn items.
//!
//! **What is estimated.** Of item i, nᵢ partners are true and dᵢ of them were missed. The run is over, so these numbers
//! are fixed and only the draw is random. Each pair is counted by both its items, so the recall over all pairs is
//! 1 − Σd / Σn over all items, and 1 − q with q = Σd / Σn over the drawn ones estimates it.
//!
//! **Its interval** is Clopper and Pearson's (1934) for as many independent pairs as the sample is worth, as Korn and
//! Graubard (1998) do for surveys: Σn pairs, divided by a design effect, by the share of the collection that was not
//! drawn, and by (t / 1.96)², t having as many degrees of freedom as items have partners, less one. The design effect is
//! the larger of two:
//!
//! - the variance of q by linearisation over that of independent pairs: Σ(dᵢ − q·nᵢ)² / (Σn·q(1 − q));
//! - 1 + (w − 1)·ρ with w = Σn² / Σn, the size an average pair sees, and ρ the correlation of two pairs of an item, in
//!   which small clusters have a say too (each pair of pairs weighs 1 / nᵢ). Most misses may lie in large clusters of
//!   which the sample shows little by chance; the small ones then still tell that misses come together.
//!
//! Where nothing was missed, neither is known, and it is w, as if an item were found with all its partners or none. The
//! more misses were seen, counted in independent ones as k = (Σd)² / Σd², the less of that assumption remains:
//! effect^(k / (k + ½)) · w^(½ / (k + ½)).
//!
//! On 37,426 licences and 500 drawn items it held the truth in .961 of the audits of a weak plan (recall .858, mean width
//! .173) and in all of a strong one (.9987, .047); on generated clusters, as many of at least c items as 1 / c and up to
//! a tenth of all, 500 of 4,000 items held in .946 (weak) and .930 (strong).

use super::{FEW, MOST, Recall, beta, clopper_pearson};

/// How many independent misses weigh as much as the assumption that items are missed as a whole.
/// With 0, 0.25, 0.5 and 1, a plan for 0.99 was held in .938, .953, .968 and .984 of the audits of
/// 2,000 licences, at widths of .0052, .0056, .0060 and .0069.
const PRIOR: f64 = 0.5;
/// The two-sided 95 % point of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Sums over the items that have pairs. An item has n pairs, d of them missed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ItemTally {
    /// Items with pairs.
    pub(super) items: u64,
    /// Σn.
    pairs: u64,
    /// Σd.
    missed: u64,
    /// Σn².
    squares: f64,
    /// Σd².
    missed_squares: f64,
    /// Σnd.
    products: f64,
    /// Σd(d − 1) / n: misses in twos, as often as one of an item's pairs would meet them.
    missed_twos: f64,
    /// `missed_twos` for found pairs.
    found_twos: f64,
}

impl ItemTally {
    pub(super) fn add(&mut self, pairs: u64, missed: u64) {
        if pairs == 0 {
            return;
        }
        self.items += 1;
        self.pairs += pairs;
        self.missed += missed;
        let (n, d) = (pairs as f64, missed as f64);
        let f = n - d;
        self.squares += n * n;
        self.missed_squares += d * d;
        self.products += n * d;
        self.missed_twos += d * (d - 1.0) / n;
        self.found_twos += f * (f - 1.0) / n;
    }

    /// The recall, by a sample that left this share of the collection out.
    pub(super) fn recall(&self, unsampled: f64) -> Option<Recall> {
        let (pairs, found) = (self.pairs, self.pairs - self.missed);
        let recall = (pairs > 0).then(|| found as f64 / pairs as f64)?;
        if unsampled <= 0.0 {
            return Some(Recall { pairs, found, recall, interval: Some((recall, recall)) });
        }
        let t = beta::student((self.items.max(2) - 1) as f64);
        let worth = pairs as f64 / (self.design_effect() * unsampled) * (NORMAL / t).powi(2);
        let interval = Some(clopper_pearson(recall, worth.min(MOST)));
        Some(Recall { pairs, found, recall, interval })
    }

    /// The recall of a bin, without an interval where that says nothing.
    pub(super) fn recall_of_bin(&self, unsampled: f64) -> Option<Recall> {
        let recall = self.recall(unsampled)?;
        let interval = recall.interval.filter(|_| unsampled <= 0.0 || recall.pairs >= FEW);
        Some(Recall { interval, ..recall })
    }

    /// The numbers that it is made of, to be saved.
    pub(super) fn parts(&self) -> [u64; 8] {
        let sums = [self.squares, self.missed_squares, self.products];
        let [a, b, c] = sums.map(f64::to_bits);
        let [d, e] = [self.missed_twos, self.found_twos].map(f64::to_bits);
        [self.items, self.pairs, self.missed, a, b, c, d, e]
    }

    pub(super) fn from_parts([items, pairs, missed, sums @ ..]: [u64; 8]) -> Self {
        let [squares, missed_squares, products, missed_twos, found_twos] = sums.map(f64::from_bits);
        Self { items, pairs, missed, squares, missed_squares, products, missed_twos, found_twos }
    }

    /// By how much the pairs of an item tell less than as many independent ones.
    fn design_effect(&self) -> f64 {
        let (n, d) = (self.pairs as f64, self.missed as f64);
        let whole = self.squares / n;
        if self.missed == 0 || self.missed == self.pairs {
            return whole;
        }
        let q = d / n;
        let independent = n * q * (1.0 - q);
        let spread = self.missed_squares - 2.0 * q * self.products + q * q * self.squares;
        let together = 1.0 + (whole - 1.0) * self.correlation(q);
        let effect = (spread / independent).max(together).max(1.0);
        let evidence = self.evidence();
        // Never above `whole` by assumption, though it may be there by what was seen.
        let share = PRIOR / (evidence + PRIOR);
        if effect < whole { effect.powf(1.0 - share) * whole.powf(share) } else { effect }
    }

    /// The correlation of two pairs of one item: how much oftener than q² both are missed, or
    /// found, whichever is the rarer outcome.
    fn correlation(&self, q: f64) -> f64 {
        let twos = (self.pairs - self.items) as f64;
        let (both, rarer) =
            if q <= 0.5 { (self.missed_twos, q) } else { (self.found_twos, 1.0 - q) };
        if twos == 0.0 {
            return 0.0;
        }
        ((both / twos - rarer * rarer) / (q * (1.0 - q))).clamp(0.0, 1.0)
    }

    /// (Σd)² / Σd², or the same of found pairs if it is less: how many independent ones were seen.
    fn evidence(&self) -> f64 {
        let (n, d) = (self.pairs as f64, self.missed as f64);
        let f = n - d;
        let found_squares = self.squares - 2.0 * self.products + self.missed_squares;
        (d * d / self.missed_squares).min(f * f / found_squares)
    }
}
