//! How far apart are the fields of matches, and of others, when nobody says which is which?

use rayon::prelude::*;

use super::Scorer;
use super::neighbours::Neighbours;

/// Matches and other pairs, and how far apart the fields of each kind are.
pub(super) struct Mixture {
    /// By field, what it is worth.
    pub(super) worth: Vec<Worth>,
    /// The share of matches among the pairs.
    matches: f64,
    /// By pair, the chance that it is a match.
    pub(super) chance: Vec<f64>,
}

/// What a field adds to the logarithm of the odds, to base 2: by share of the distance of the full penalty, from equal
/// values to the farthest. It never rises with the distance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Worth(pub(super) Vec<(f64, f64)>);

/// Up to which share of what is lost a level goes: equal, then fifths, then all.
const LEVELS: [f64; 7] = [0.0, 0.2, 0.4, 0.6, 0.8, 0.999_999, f64::INFINITY];
/// The shares that stand for the levels.
const MIDDLES: [f64; LEVELS.len()] = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0];
const MISSING: u8 = LEVELS.len() as u8;
/// Rounds after which it has settled, or will not.
const ROUNDS: usize = 300;
/// Pairs of each kind that a level is thought to have before any is seen, in all levels together.
const PRIOR: f64 = 2.0;
/// Correlations up to this one are not taken for dependence: pairs of the other kind among those of one cause some.
const UNCORRELATED: f64 = 0.2;

type LevelWeights = [f64; LEVELS.len()];

impl Mixture {
    /// Expectation maximisation over pairs, from a guess of which are matches.
    pub(super) fn find(scorer: &Scorer, neighbours: &Neighbours) -> Self {
        let pairs = [&neighbours.alike[..], &neighbours.random[..]].concat();
        let mut chance: Vec<f64> =
            neighbours.guessed.iter().map(|guessed| if *guessed { 0.9 } else { 0.01 }).collect();
        chance.resize(pairs.len(), 0.0);
        let levels: Vec<Vec<u8>> = scorer
            .fields
            .iter()
            .map(|field| {
                let of = |&(a, b): &(u32, u32)| {
                    level(field.share(a, b).map_or(f32::NAN, |share| share as f32))
                };
                pairs.par_iter().map(of).collect()
            })
            .collect();
        let mut matches = mean(&chance).clamp(1e-9, 1.0 - 1e-9);
        let mut weights: Vec<LevelWeights> = Vec::new();
        // Found once it has settled: before, matches among the others make all fields look dependent.
        let mut factors: Vec<f64> = Vec::new();
        let mut settled = false;
        for round in 0..ROUNDS {
            settled |= round >= ROUNDS / 3;
            weights = levels.iter().map(|levels| log_ratios(levels, &chance)).collect();
            if settled && factors.is_empty() {
                factors = independent_parts(&levels, &weights, &chance);
            }
            for (weights, factor) in weights.iter_mut().zip(&factors) {
                weights.iter_mut().for_each(|weight| *weight *= factor);
            }
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
            if moved < if factors.is_empty() { 1e-3 } else { 1e-4 } {
                if settled {
                    break;
                }
                settled = true;
            }
        }
        let bits = |weights: &LevelWeights| {
            let bits = weights.iter().map(|weight| weight / std::f64::consts::LN_2);
            Worth(MIDDLES.into_iter().zip(bits).collect())
        };
        Self { worth: weights.iter().map(bits).collect(), matches, chance }
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

/// By level, the logarithm of how much more often matches have it than others. Neighbouring levels of which the farther
/// one would be worth more are taken together (pool adjacent violators): being farther apart is never a better sign.
fn log_ratios(levels: &[u8], chance: &[f64]) -> LevelWeights {
    let (matches, others) = counts(levels, chance);
    let [of_matches, of_others] = [matches, others].map(|of| of.iter().sum::<f64>());
    let all = (of_matches + of_others).max(f64::MIN_POSITIVE);
    // Matches and others of each pool, and how many levels it has.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for level in 0..LEVELS.len() {
        let prior = PRIOR * (matches[level] + others[level]) / all + 1e-9;
        let m = (matches[level] + prior) / (of_matches + PRIOR);
        let u = (others[level] + prior) / (of_others + PRIOR);
        pools.push((m, u, 1));
        while let [.., near, far] = pools[..]
            && far.0 * near.1 >= near.0 * far.1
        {
            pools.truncate(pools.len() - 2);
            pools.push((near.0 + far.0, near.1 + far.1, near.2 + far.2));
        }
    }
    let mut weights = pools.iter().flat_map(|&(m, u, count)| vec![(m / u).ln(); count]);
    std::array::from_fn(|_| weights.next().unwrap_or_default())
}

/// By field, which part of its weight says something that no other field says.
///
/// Where a name stands in several columns, each of them agrees when the others do, and adding up their weights counts
/// one sign several times. Here the weight of a field is divided by 1 + Σ ρ·σ'/σ over the other fields, where σ is
/// the deviation of its weight in pairs of one kind, and ρ the correlation of the two: k columns that say the same count
/// 1/k each, and independent ones count in full. Of the correlations in matches and in others the smaller is taken.
fn independent_parts(levels: &[Vec<u8>], weights: &[LevelWeights], chance: &[f64]) -> Vec<f64> {
    let count = levels.len();
    let part = |first: usize| {
        let mut sum = 1.0;
        for second in (0..count).filter(|&second| second != first) {
            let [x, y] = [first, second].map(|field| (&levels[field][..], &weights[field]));
            let both = [0.0, 1.0].map(|kind| correlation(x, y, chance, kind));
            let known: Vec<(f64, f64)> = both.into_iter().flatten().collect();
            let least = known.iter().min_by(|x, y| x.0.total_cmp(&y.0));
            if let Some(&(correlation, ratio)) = least {
                let dependent = (correlation - UNCORRELATED) / (1.0 - UNCORRELATED);
                sum += dependent.max(0.0) * ratio;
            }
        }
        1.0 / sum
    };
    (0..count).map(part).collect()
}

/// The correlation of the weights of two fields in the pairs of one kind, matches or others, and the ratio of their
/// deviations. None if one does not vary.
fn correlation(
    (first, first_weights): (&[u8], &LevelWeights),
    (second, second_weights): (&[u8], &LevelWeights),
    chance: &[f64],
    kind: f64,
) -> Option<(f64, f64)> {
    const SIDE: usize = LEVELS.len();
    let start = || vec![0.0; SIDE * SIDE];
    let table = (first, second, chance);
    // Parts of one size, added in order, so that the number of threads makes no difference.
    const PART: usize = 1 << 14;
    let parts: Vec<Vec<f64>> =
        (table.0.par_chunks(PART), table.1.par_chunks(PART), table.2.par_chunks(PART))
            .into_par_iter()
            .map(|(xs, ys, chance)| {
                let mut sums = start();
                for ((&x, &y), chance) in xs.iter().zip(ys).zip(chance) {
                    if x != MISSING && y != MISSING {
                        let share = if kind == 1.0 { *chance } else { 1.0 - chance };
                        sums[x as usize * SIDE + y as usize] += share;
                    }
                }
                sums
            })
            .collect();
    let mut sums = start();
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    let all: f64 = sums.iter().sum();
    let mean = |value: &dyn Fn(usize, usize) -> f64| {
        let cells = sums.iter().enumerate();
        cells.map(|(at, sum)| sum * value(at / SIDE, at % SIDE)).sum::<f64>() / all
    };
    let mx = mean(&|x, _| first_weights[x]);
    let my = mean(&|_, y| second_weights[y]);
    let xx = mean(&|x, _| (first_weights[x] - mx).powi(2));
    let yy = mean(&|_, y| (second_weights[y] - my).powi(2));
    let xy = mean(&|x, y| (first_weights[x] - mx) * (second_weights[y] - my));
    (all > 1.0 && xx > 1e-6 && yy > 1e-6).then(|| (xy / (xx * yy).sqrt(), (yy / xx).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels of pairs, and the chance of each to be a match.
    fn pairs(of: &[(u8, f64, usize)]) -> (Vec<u8>, Vec<f64>) {
        let all = of.iter().flat_map(|&(level, chance, count)| vec![(level, chance); count]);
        all.unzip()
    }

    #[test]
    fn a_farther_value_is_never_worth_more() {
        // Of the matches 60 are equal and 40 far, of the others 10 are equal, 80 near and 10 far: far would be worth
        // ln(0.4 / 0.1), near ln(0 / 0.8). Together they are worth ln(0.4 / 0.9).
        let (levels, chance) = pairs(&[
            (0, 1.0, 6000),
            (6, 1.0, 4000),
            (0, 0.0, 1000),
            (3, 0.0, 8000),
            (6, 0.0, 1000),
        ]);
        let weights = log_ratios(&levels, &chance);
        assert!(weights.is_sorted_by(|near, far| near >= far), "{weights:?}");
        assert!((weights[0] - 6.0f64.ln()).abs() < 0.01, "{weights:?}");
        assert!((weights[6] - (0.4f64 / 0.9).ln()).abs() < 0.01, "{weights:?}");
    }

    #[test]
    fn columns_that_say_the_same_count_once() {
        // Three fields: the second repeats the first, the third is independent of both.
        let mut levels = vec![Vec::new(); 3];
        let mut chance = Vec::new();
        for pair in 0..4000 {
            let is_match = pair % 2 == 0;
            let equal =
                |often: usize, turn: usize| if (pair / 2 / turn) % 10 < often { 0 } else { 6 };
            let often = if is_match { 9 } else { 2 };
            levels[0].push(equal(often, 1));
            levels[1].push(equal(often, 1));
            levels[2].push(equal(often, 10));
            chance.push(f64::from(u8::from(is_match)));
        }
        let weights: Vec<LevelWeights> =
            levels.iter().map(|levels| log_ratios(levels, &chance)).collect();
        let parts = independent_parts(&levels, &weights, &chance);
        for (part, expected) in parts.iter().zip([0.5, 0.5, 1.0]) {
            assert!((part - expected).abs() < 0.01, "{parts:?}");
        }
    }
}
