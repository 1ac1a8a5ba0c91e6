//! How far apart are the fields of matches, and of others, when nobody says which is which?

use rayon::prelude::*;

use super::neighbours::Neighbours;
use super::{MATCHES, Scorer};

/// Matches and other pairs, and how far apart the fields of each kind are.
pub(super) struct Mixture {
    /// By field, what it is worth, in bits.
    pub(super) worth: Vec<Worth>,
    /// The share of matches among the pairs.
    matches: f64,
    /// By pair, the chance that it is a match.
    chance: Vec<f64>,
}

/// What a field adds to the logarithm of the odds, to base 2: points where the values are equal, less the penalty
/// times the square of how far they are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Worth {
    pub(super) points: f64,
    pub(super) penalty: f64,
}

/// Up to which share of what is lost a level goes: equal, then fifths, then all.
const LEVELS: [f64; 7] = [0.0, 0.2, 0.4, 0.6, 0.8, 0.999_999, f64::INFINITY];
const MISSING: u8 = LEVELS.len() as u8;
/// Rounds after which it has settled, or will not.
const ROUNDS: usize = 300;
/// Pairs of each kind that a level is thought to have before any is seen, in all levels together.
const PRIOR: f64 = 2.0;

type LevelWeights = [f64; LEVELS.len()];

impl Mixture {
    /// Expectation maximisation over pairs, from a guess of which are matches.
    pub(super) fn find(scorer: &Scorer, neighbours: &Neighbours) -> Self {
        let pairs = [&neighbours.alike[..], &neighbours.random[..]].concat();
        let mut chance: Vec<f64> =
            neighbours.guessed.iter().map(|guessed| if *guessed { 0.9 } else { 0.01 }).collect();
        chance.resize(pairs.len(), 0.0);
        let shares: Vec<Vec<f32>> = scorer
            .fields
            .iter()
            .map(|field| {
                let share =
                    |&(a, b): &(u32, u32)| field.share(a, b).map_or(f32::NAN, |it| it as f32);
                pairs.par_iter().map(share).collect()
            })
            .collect();
        let levels: Vec<Vec<u8>> =
            shares.iter().map(|shares| shares.par_iter().map(|&it| level(it)).collect()).collect();
        let mut matches = mean(&chance).clamp(1e-9, 1.0 - 1e-9);
        let mut weights = Vec::new();
        for _ in 0..ROUNDS {
            weights = levels.iter().map(|levels| log_ratios(levels, &chance)).collect();
            let prior = (matches / (1.0 - matches)).ln();
            let next: Vec<f64> = (0..pairs.len())
                .into_par_iter()
                .map(|pair| {
                    let of = |(levels, weights): (&Vec<u8>, &LevelWeights)| {
                        weights.get(levels[pair] as usize).copied().unwrap_or(0.0)
                    };
                    let odds: f64 = prior + levels.iter().zip(&weights).map(of).sum::<f64>();
                    1.0 / (1.0 + (-odds).exp())
                })
                .collect();
            let moved = next.par_iter().zip(&chance).map(|(x, y)| (x - y).abs());
            let moved = moved.reduce(|| 0.0, f64::max);
            chance = next;
            matches = mean(&chance).clamp(1e-9, 1.0 - 1e-9);
            if moved < 1e-4 {
                break;
            }
        }
        let worth = shares
            .iter()
            .zip(&levels)
            .zip(&weights)
            .map(|((shares, levels), weights)| fit(shares, levels, weights, &chance))
            .collect();
        Self { worth, matches, chance }
    }

    /// The pairs that are more likely matches than not, or enough of them.
    pub(super) fn likely(&self, pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let likely = pairs.iter().zip(&self.chance).filter(|(_, chance)| **chance > 0.5);
        let count = likely.clone().count();
        likely.map(|(pair, _)| *pair).step_by(count.div_ceil(MATCHES).max(1)).collect()
    }

    /// How much more likely it is that a pair is no match, before its fields are looked at; in bits.
    pub(super) fn odds_against(&self) -> f64 {
        ((1.0 - self.matches) / self.matches).log2()
    }
}

fn level(share: f32) -> u8 {
    if share.is_nan() {
        return MISSING;
    }
    LEVELS.iter().position(|&to| f64::from(share) <= to).unwrap_or(LEVELS.len() - 1) as u8
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// How many pairs of each level there are of either kind.
fn counts(levels: &[u8], chance: &[f64]) -> (LevelWeights, LevelWeights) {
    let mut matches = LevelWeights::default();
    let mut others = LevelWeights::default();
    for (&level, chance) in levels.iter().zip(chance).filter(|(level, _)| **level != MISSING) {
        matches[level as usize] += chance;
        others[level as usize] += 1.0 - chance;
    }
    (matches, others)
}

/// By level, the logarithm of how much more often matches have it than others.
fn log_ratios(levels: &[u8], chance: &[f64]) -> LevelWeights {
    let (matches, others) = counts(levels, chance);
    let [of_matches, of_others] = [matches, others].map(|of| of.iter().sum::<f64>());
    let all = (of_matches + of_others).max(f64::MIN_POSITIVE);
    std::array::from_fn(|level| {
        let prior = PRIOR * (matches[level] + others[level]) / all + 1e-9;
        let m = (matches[level] + prior) / (of_matches + PRIOR);
        let u = (others[level] + prior) / (of_others + PRIOR);
        (m / u).ln()
    })
}

/// The quadratic that comes closest to the weights of the levels, each as important as it is frequent.
fn fit(shares: &[f32], levels: &[u8], weights: &LevelWeights, chance: &[f64]) -> Worth {
    let (matches, others) = counts(levels, chance);
    let [of_matches, of_others] = [matches, others].map(|of| of.iter().sum::<f64>().max(1e-9));
    let mut squares = LevelWeights::default();
    let mut count = LevelWeights::default();
    for (&level, &share) in levels.iter().zip(shares).filter(|(level, _)| **level != MISSING) {
        squares[level as usize] += f64::from(share).powi(2);
        count[level as usize] += 1.0;
    }
    // Weighted least squares of y = points − penalty · x.
    let mut sums = [0.0; 5];
    for level in (0..LEVELS.len()).filter(|&level| count[level] > 0.0) {
        let important = matches[level] / of_matches + others[level] / of_others;
        let x = squares[level] / count[level];
        let y = weights[level] / std::f64::consts::LN_2;
        for (sum, term) in sums.iter_mut().zip([1.0, x, y, x * x, x * y]) {
            *sum += important * term;
        }
    }
    let [w, x, y, xx, xy] = sums;
    let spread = w * xx - x * x;
    if spread <= 1e-12 {
        return Worth { points: 0.0, penalty: 0.0 };
    }
    let slope = (w * xy - x * y) / spread;
    Worth { points: (y - slope * x) / w, penalty: -slope }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_is_exact_where_the_weights_are_quadratic() {
        let shares = [0.0f32, 0.0, 0.5, 1.0, 1.0, 1.0, f32::NAN];
        let levels: Vec<u8> = shares.iter().map(|&share| level(share)).collect();
        assert_eq!(levels, [0, 0, 3, 6, 6, 6, MISSING]);
        let bits = |x: f64| (8.0 - 12.0 * x * x) * std::f64::consts::LN_2;
        let weights = [bits(0.0), 0.0, 0.0, bits(0.5), 0.0, 0.0, bits(1.0)];
        let worth = fit(&shares, &levels, &weights, &[0.5; 7]);
        assert!(
            (worth.points - 8.0).abs() < 1e-9 && (worth.penalty - 12.0).abs() < 1e-9,
            "{worth:?}"
        );
    }
}
