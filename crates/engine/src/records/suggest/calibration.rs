//! Which score tells matches from others, and how probable is a match of a score?
//!
//! Where a record matches at most one of the other table, its pairs exclude each other. If a record looks like k others, of
//! which one is its match with the chance π, each of them as likely as the next, and rⱼ is how much more often matches
//! score as the pair j does than others, then the pair j is the match with the chance
//!
//! pⱼ = π·rⱼ/k / (1 − π + Σ π·rᵢ/k).
//!
//! π is found by expectation maximisation. So a pair is worth less where another is nearly as good. A logistic curve through
//! these chances gives the points at which a match is as likely as not, and those that double the odds; the threshold is
//! where the expected F1 is highest.

use std::collections::HashMap;

use super::super::rules::Probability;

/// What is known about the scores of pairs.
#[derive(Debug)]
pub(super) struct Calibration {
    /// How a score becomes a probability, and how many matches there are among the records that were looked at.
    pub(super) probability: Probability,
    /// The score from which on pairs are taken.
    pub(super) threshold: f64,
    /// Pairs that are likely matches.
    pub(super) likely: Vec<(u32, u32)>,
    /// Pairs that reach the threshold, and such of records whose columns were mixed.
    pub(super) reached: [usize; 2],
}

const ROUNDS: usize = 200;
/// Points that double how much more often matches have a score than others.
const POINTS_A_BIT: f64 = 10.0;

/// Pairs with their scores, of which each record may be in one, and such of records whose columns were mixed.
pub(super) fn one_to_one(
    pairs: &[(u32, u32)],
    scores: &[f64],
    mixed: &[((u32, u32), f64)],
    records: u32,
) -> Calibration {
    // By record, how many others look like it, and the sum of how much more often matches score so.
    let mut rivals = vec![(0.0, 0.0); records as usize];
    let ratio = |score: f64| (score / POINTS_A_BIT).min(500.0).exp2();
    for (pair, &score) in pairs.iter().zip(scores) {
        let rivals = &mut rivals[pair.0 as usize];
        *rivals = (rivals.0 + 1.0, rivals.1 + ratio(score));
    }
    let mut share = 0.5;
    for _ in 0..ROUNDS {
        let has_match = |&(count, sum): &(f64, f64)| {
            if count == 0.0 {
                0.0
            } else {
                share * sum / count / (1.0 - share + share * sum / count)
            }
        };
        let next = rivals.iter().map(has_match).sum::<f64>() / rivals.len().max(1) as f64;
        let moved = f64::abs(next - share);
        share = next.clamp(1e-6, 1.0 - 1e-6);
        if moved < 1e-6 {
            break;
        }
    }
    let assigned = assign(pairs, scores);
    let best: Vec<f64> = assigned.iter().map(|&place| scores[place]).collect();
    let chance = |&place: &usize| {
        let (count, sum) = rivals[pairs[place].0 as usize];
        let own = share * ratio(scores[place]) / count;
        own / (1.0 - share + share * sum / count)
    };
    let chance: Vec<f64> = assigned.iter().map(chance).collect();
    let (even, doubling) = curve(&best, &chance);
    let probability = Probability { even, doubling, matches: chance.iter().sum() };
    let threshold = threshold(&best, &probability);
    let likely = assigned.iter().zip(&chance).filter(|(_, chance)| **chance >= 0.5);
    let likely = likely.map(|(&place, _)| pairs[place]).collect();
    let count = |scores: &[f64]| scores.iter().filter(|score| **score >= threshold).count();
    let reached = [count(&best), count(&best_mixed(mixed))];
    Calibration { probability, threshold, likely, reached }
}

/// The places of the pairs that are taken: the one with the highest score first, then the next whose records are free.
pub(super) fn assign(pairs: &[(u32, u32)], scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|&x, &y| scores[y].total_cmp(&scores[x]).then(pairs[x].cmp(&pairs[y])));
    let mut taken = std::collections::HashSet::new();
    order.retain(|&place| {
        let (a, b) = pairs[place];
        let free = !taken.contains(&a) && !taken.contains(&b);
        if free {
            taken.extend([a, b]);
        }
        free
    });
    order
}

/// The best score of each record with mixed ones.
fn best_mixed(mixed: &[((u32, u32), f64)]) -> Vec<f64> {
    let mut best: HashMap<u32, f64> = HashMap::new();
    for &((a, _), score) in mixed {
        let best = best.entry(a).or_insert(score);
        *best = best.max(score);
    }
    best.into_values().collect()
}

/// The logistic curve that comes closest to these chances: the score of even odds, and the points that double them.
fn curve(scores: &[f64], chance: &[f64]) -> (f64, f64) {
    const STEEPEST: f64 = std::f64::consts::LN_2 / 2.0;
    const FLATTEST: f64 = std::f64::consts::LN_2 / 100.0;
    let likely = scores.iter().zip(chance).filter(|(_, chance)| **chance >= 0.5);
    let even = likely.map(|(score, _)| *score).min_by(f64::total_cmp);
    let mut even = even.unwrap_or_else(|| scores.iter().copied().fold(0.0, f64::max) + 10.0);
    let mut slope = std::f64::consts::LN_2 / 10.0;
    let likelihood = |even: f64, slope: f64| {
        let of = |(&score, &wanted): (&f64, &f64)| {
            let odds = slope * (score - even);
            // ln p = −ln(1 + e^−odds) and ln(1 − p) = −ln(1 + e^odds), without overflow.
            let ln_one_plus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
            -wanted * ln_one_plus(-odds) - (1.0 - wanted) * ln_one_plus(odds)
        };
        scores.iter().zip(chance).map(of).sum::<f64>()
    };
    let mut best = likelihood(even, slope);
    // One after the other in smaller and smaller steps: two numbers, and no step that makes it worse.
    let (mut move_even, mut factor) = (32.0, 2.0f64);
    while move_even > 0.01 {
        let steeper = (slope * factor).min(STEEPEST);
        let flatter = (slope / factor).max(FLATTEST);
        let tries = [
            (even + move_even, slope),
            (even - move_even, slope),
            (even, steeper),
            (even, flatter),
            (even + move_even, steeper),
            (even - move_even, flatter),
            (even + move_even, flatter),
            (even - move_even, steeper),
        ];
        let tries = tries.map(|(even, slope)| (likelihood(even, slope), even, slope));
        let found = tries.into_iter().max_by(|x, y| x.0.total_cmp(&y.0));
        match found.filter(|found| found.0 > best + 1e-9) {
            Some(found) => (best, even, slope) = found,
            None => (move_even, factor) = (move_even / 2.0, factor.sqrt()),
        }
    }
    (even, std::f64::consts::LN_2 / slope)
}

/// The threshold of the highest expected F1: 2·Σp / (pairs taken + all matches).
fn threshold(scores: &[f64], probability: &Probability) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|x, y| y.total_cmp(x));
    let all: f64 = sorted.iter().map(|&score| probability.of(score)).sum();
    let (mut sum, mut best) = (0.0, (0.0, probability.even));
    for (count, &score) in (1..).zip(&sorted) {
        sum += probability.of(score);
        let f = 2.0 * sum / (f64::from(count) + all);
        if f > best.0 {
            best = (f, score);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logistic_curve_is_found_again() {
        let scores: Vec<f64> = (0..200).map(f64::from).collect();
        let chance: Vec<f64> =
            scores.iter().map(|score| 1.0 / (1.0 + ((80.0 - score) / 12.0f64).exp2())).collect();
        let (even, doubling) = curve(&scores, &chance);
        assert!((even - 80.0).abs() < 0.1 && (doubling - 12.0).abs() < 0.1, "{even} {doubling}");
    }

    #[test]
    fn a_pair_with_a_rival_is_worth_less() {
        // Each of 100 records has a pair of 60 points and one of -60; 10 have two of 60.
        let mut pairs = Vec::new();
        let mut scores = Vec::new();
        for a in 0..100 {
            pairs.extend([(a, 1000 + a), (a, 2000 + a)]);
            scores.extend([60.0, if a < 10 { 60.0 } else { -60.0 }]);
        }
        let found = one_to_one(&pairs, &scores, &[], 100);
        assert!((found.probability.matches - 95.0).abs() < 2.0, "{found:?}");
    }

    #[test]
    fn each_record_is_assigned_once() {
        let pairs = [(0, 5), (0, 6), (1, 5), (1, 7), (2, 6)];
        let places = assign(&pairs, &[9.0, 8.0, 10.0, 1.0, 8.0]);
        assert_eq!(places, [2, 1]);
    }
}
