//! How many pairs of a score are true?
//!
//! A field that was not scored tells (*Mining of Massive Datasets*, 3.8.3). With h₁ for the mean distance of its values
//! in random pairs, h₀ in pairs that are surely true, for which those with the highest scores are taken, and h in the
//! pairs of a score, a share f of which are true,
//!
//! h = f·h₀ + (1 − f)·h₁, so f = (h₁ − h) / (h₁ − h₀).
//!
//! With a window, such as "0 to 90 days later", only pairs within it count, and h₀, h₁ and h are means of days with their sign.

use super::candidates::CandidateSearch;
use super::fields::Field;
use super::rules::{CheckRule, Rules};
use super::{Records, Scorer};
use crate::family::hash::mix64;
use crate::{Error, Result};

/// The share of true matches at each score.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// By score, from low to high, where there are pairs.
    pub rows: Vec<Share>,
    /// The mean distance in random pairs, h₁.
    pub random: f64,
    /// The mean distance in the pairs that are surely true, h₀.
    pub certain: f64,
    /// The lowest score that these have.
    pub certain_from: f64,
    /// How many they are.
    pub certain_pairs: u64,
    /// The lowest score at which the share that was asked for is reached.
    pub threshold: Option<f64>,
}

/// Pairs of similar scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Scores from here on,
    pub from: f64,
    /// below here.
    pub to: f64,
    /// Pairs with both values of the field.
    pub pairs: u64,
    /// The mean distance of these, h.
    pub mean: f64,
    /// The share of true matches, (h₁ − h) / (h₁ − h₀), between 0 and 1.
    pub share: f64,
    /// Its standard error.
    pub error: f64,
}

/// The share of true matches among pairs whose field is `mean` apart on average, `random` in random pairs and `certain`
/// in true ones.
///
/// ```
/// use nearkin_engine::records::check::share;
/// // Random pairs are 45 days apart and true ones 10, so that x = 45 − 35·f.
/// assert_eq!(share(45.0 - 35.0 * 0.6, 45.0, 10.0), 0.6);
/// ```
pub fn share(mean: f64, random: f64, certain: f64) -> f64 {
    ((random - mean) / (random - certain)).clamp(0.0, 1.0)
}

/// Random pairs that are looked at.
const RANDOM: u64 = 100_000;
/// Pairs that are taken as surely true, at least.
const CERTAIN: u64 = 30;
/// Steps of scores, about.
const STEPS: f64 = 40.0;

/// Sums of distances.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    pairs: u64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, distance: f64) {
        self.plus(Self { pairs: 1, sum: distance, squares: distance * distance });
    }

    fn plus(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    fn mean(self) -> f64 {
        self.sum / self.pairs.max(1) as f64
    }

    /// The standard error of the mean.
    fn error(self) -> f64 {
        let variance = (self.squares / self.pairs.max(1) as f64 - self.mean().powi(2)).max(0.0);
        (variance / self.pairs.max(1) as f64).sqrt()
    }

    /// The standard error of the mean, with the deviation of other values for one pair more: a few pairs that happen to be
    /// equal are not sure.
    fn error_beside(self, others: Self) -> f64 {
        let variance = |of: Self| of.error().powi(2) * of.pairs as f64;
        let count = self.pairs as f64;
        let pooled = (variance(self) * count + variance(others)) / (count + 1.0);
        (pooled / count.max(1.0)).sqrt()
    }
}

/// The share of true matches at each score.
///
/// # Errors
/// When a table has no such column, its values are no farther apart in random pairs than in those of high scores, or
/// it was stopped.
pub(super) fn shares(
    records: &Records<'_>,
    rules: &Rules,
    check: &CheckRule,
    scorer: &Scorer,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Shares> {
    // Also records that are equal in all that is compared: in this field they may differ.
    let all = (0..records.len() as u32).collect();
    let search = CandidateSearch::new(scorer, rules, records.split(), all, stopped);
    let lost_at = check.distance.lost_at();
    let field = Field::new(records, &check.columns, &check.distance, lost_at, &[], &rules.missing)?;
    let most = check.most.unwrap_or(f64::INFINITY);
    let distance = |a: u32, b: u32| {
        // The first table's record comes first, for days with a sign.
        let [a, b] = [a.min(b), a.max(b)].map(|record| field.codes[record as usize]);
        let missing = crate::item::MISSING;
        if a == missing || b == missing {
            return None;
        }
        match (check.window, field.numbers()) {
            (Some([first, last]), Some(days)) => Some(days[b as usize] - days[a as usize])
                .filter(|days| (first..=last).contains(days)),
            _ => Some(field.distance(a, b).min(most)),
        }
    };
    let random = random_pairs(records).filter_map(|(a, b)| distance(a, b));
    let random = random.fold(Sums::default(), |mut sums, distance| {
        sums.add(distance);
        sums
    });
    let steps = Steps::new(rules);
    let (parts, _) = search.visit(
        || vec![Sums::default(); steps.count()],
        |sums, a, b| {
            if let Some(distance) = distance(a, b) {
                sums[steps.of(scorer.score(a, b))].add(distance);
            }
            true
        },
    )?;
    let mut sums = vec![Sums::default(); steps.count()];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(all, part)| all.plus(part));
    }
    rows(&steps, &sums, random, check)
}

fn rows(steps: &Steps, sums: &[Sums], random: Sums, check: &CheckRule) -> Result<Shares> {
    let mut certain = Sums::default();
    let mut from = sums.len();
    while certain.pairs < CERTAIN && from > 0 {
        from -= 1;
        certain.plus(sums[from]);
    }
    let (h1, h0) = (random.mean(), certain.mean());
    let noise = 3.0 * random.error().hypot(certain.error());
    // Days before the first record have a minus; then those of true pairs are the larger.
    let between = if check.window.is_some() { (h1 - h0).abs() } else { h1 - h0 };
    if certain.pairs < CERTAIN || between <= noise {
        let why = match (certain.pairs < CERTAIN, check.window) {
            (true, Some([first, last])) => format!(
                "of only {} candidates it is {first} to {last} days later in the second table",
                certain.pairs
            ),
            (true, None) => format!("only {} candidates have it in both records", certain.pairs),
            (false, _) => format!(
                "it is {h0:.3} apart in the pairs of the highest scores and {h1:.3} in random ones"
            ),
        };
        let must = format!("a column that tells matches from others: {why}");
        return Err(Error::parameter("the field of [check]", &check.columns[0], must));
    }
    let with_pairs = sums.iter().enumerate().filter(|(_, sums)| sums.pairs > 0);
    let row = |(at, sums): (usize, &Sums)| Share {
        from: steps.start(at),
        to: steps.start(at + 1),
        pairs: sums.pairs,
        mean: sums.mean(),
        share: share(sums.mean(), h1, h0),
        error: sums.error_beside(random) / between,
    };
    let rows: Vec<Share> = with_pairs.map(row).collect();
    let threshold = lowest(&rows, check.share);
    Ok(Shares {
        rows,
        random: h1,
        certain: h0,
        certain_from: steps.start(from),
        certain_pairs: certain.pairs,
        threshold,
    })
}

/// The lowest score at which a share is reached, when shares that fall with the score, as those of few pairs may, are
/// taken together with their neighbours (pool adjacent violators).
fn lowest(rows: &[Share], wanted: f64) -> Option<f64> {
    // Where each pool begins, its pairs, and its true ones.
    let mut pools: Vec<(f64, f64, f64)> = Vec::new();
    for row in rows {
        let pairs = row.pairs as f64;
        pools.push((row.from, pairs, pairs * row.share));
        while let [.., before, last] = pools[..]
            && last.2 / last.1 < before.2 / before.1
        {
            pools.truncate(pools.len() - 2);
            pools.push((before.0, before.1 + last.1, before.2 + last.2));
        }
    }
    pools.iter().find(|(_, pairs, matches)| matches / pairs >= wanted).map(|pool| pool.0)
}

/// Scores in steps of a round width.
struct Steps {
    first: i64,
    last: i64,
    width: f64,
}

impl Steps {
    fn new(rules: &Rules) -> Self {
        let least: f64 = rules
            .fields
            .iter()
            .map(|field| field.points.min(field.points - field.penalty).min(field.missing))
            .sum();
        let most = rules.most();
        let width = round_up((most - least.max(0.0)) / STEPS);
        let step = |score: f64| (score / width).floor() as i64;
        // Whatever is below 0 is far from any threshold.
        Self { first: step(least.max(-width)), last: step(most), width }
    }

    fn count(&self) -> usize {
        (self.last - self.first + 1) as usize
    }

    fn of(&self, score: f64) -> usize {
        let step = (score / self.width).floor() as i64;
        (step.clamp(self.first, self.last) - self.first) as usize
    }

    fn start(&self, at: usize) -> f64 {
        (self.first + at as i64) as f64 * self.width
    }
}

/// The next of 1, 2, 5, 10, 20, 50 and so on.
fn round_up(width: f64) -> f64 {
    let power = 10f64.powf(width.max(1e-2).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|step| step * power)
        .into_iter()
        .find(|step| *step >= width)
        .unwrap_or(width)
}

/// Pairs drawn at random, of one record of each table or of two of one.
fn random_pairs(records: &Records<'_>) -> impl Iterator<Item = (u32, u32)> {
    const SEED: u64 = 0x7363_6f72_6500;
    let all = records.len() as u64;
    let (first, second) = match records.b {
        Some(b) => (0..records.a.len as u64, all - b.len as u64..all),
        None => (0..all, 0..all),
    };
    let draw = move |number: u64, of: &std::ops::Range<u64>| {
        let count = of.end - of.start;
        let place = (u128::from(mix64(number, SEED)) * u128::from(count)) >> 64;
        (of.start + place as u64) as u32
    };
    let both = !first.is_empty() && !second.is_empty();
    let numbers = (0..if both { RANDOM } else { 0 }).map(|number| 2 * number);
    numbers
        .map(move |number| (draw(number, &first), draw(number + 1, &second)))
        .filter(|(a, b)| a != b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s8_3_the_share_of_true_matches() {
        // x = 45 − 35·f
        for f in [0.0, 0.25, 0.5, 1.0] {
            assert!((share(45.0 - 35.0 * f, 45.0, 10.0) - f).abs() < 1e-12, "{f}");
        }
        // Ten years, each as likely: random pairs are 3.3 years apart on average.
        let years = || 0..10i32;
        let apart: i32 = years().flat_map(|a| years().map(move |b| (a - b).abs())).sum();
        assert!((share(2.0, f64::from(apart) / 100.0, 0.1) - 1.3 / 3.2).abs() < 1e-12);
        assert_eq!((share(50.0, 45.0, 10.0), share(5.0, 45.0, 10.0)), (0.0, 1.0));
    }

    #[test]
    fn the_threshold_is_the_lowest_score_of_the_share() {
        let row = |from: f64, pairs, share| Share {
            from,
            to: from + 10.0,
            pairs,
            mean: 0.0,
            share,
            error: 0.0,
        };
        let rows = [row(0.0, 100, 0.1), row(10.0, 1, 0.9), row(20.0, 100, 0.3), row(30.0, 50, 0.8)];
        // The one odd pair at 10 goes with the hundred behind it.
        for (wanted, threshold) in
            [(0.05, Some(0.0)), (0.3, Some(10.0)), (0.5, Some(30.0)), (0.9, None)]
        {
            assert_eq!(lowest(&rows, wanted), threshold, "{wanted}");
        }
    }
}
