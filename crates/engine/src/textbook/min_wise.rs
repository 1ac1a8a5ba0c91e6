//! How far a family of functions is from min-wise independence.
//!
//! A family comes in, ε goes out: the largest relative error with which any element x of any set X
//! is the minimum of X, |P\[min π(X) = π(x)\]·|X| − 1| (Broder, Charikar, Frieze, Mitzenmacher,
//! *Min-wise independent permutations*, 2000). With ε = 0 minhash estimates are unbiased for every
//! pair of sets. [`enumerate`] computes ε exactly for small universes, [`Quality`] estimates it
//! for the large families in use.
//!
//! Three families of permutations are here to compare with: [`Permutation::all`], exactly min-wise
//! and of size n!; [`halving`], exactly min-wise and of size below 4ⁿ; and [`linear`], of size
//! n(n − 1) and only roughly min-wise.

use std::fmt;

use super::hash_family::HashFamily;
use super::permutation::Permutation;
use crate::family::hash::SplitMix;
use crate::{Error, Result};

/// The largest universe that [`enumerate`] and [`halving`] take: 2ⁿ subsets are visited for each
/// permutation.
pub const MAX_UNIVERSE: usize = 16;

/// What counting over a whole family and all subsets of a small universe shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Enumeration {
    /// The size of the family.
    pub permutations: u64,
    /// The largest relative error; 0 for an exactly min-wise family.
    pub epsilon: f64,
    /// By the size k of the set (from 0, where it is 1), the smallest probability with which an
    /// element of a set of that size is its minimum; 1/k in an exactly min-wise family.
    pub least: Vec<f64>,
}

/// Measures a family of permutations of 0..n over every subset X and every x in X.
///
/// # Errors
/// When n is 0 or above [`MAX_UNIVERSE`], the family has no member, or a member is no permutation
/// of 0..n.
pub fn enumerate(family: impl Iterator<Item = Permutation>, n: usize) -> Result<Enumeration> {
    check_universe(n)?;
    let mut wins = vec![0u64; n << n];
    let mut first = vec![0usize; 1 << n];
    let mut permutations = 0;
    for permutation in family {
        if permutation.len() != n {
            let must = format!("{n}, the size of the universe");
            return Err(Error::parameter("permutation's length", permutation.len(), must));
        }
        permutations += 1;
        for set in 1..1usize << n {
            first[set] = first_of(set, &first, &permutation);
            wins[set * n + first[set]] += 1;
        }
    }
    if permutations == 0 {
        return Err(Error::parameter("permutations", 0, "at least 1"));
    }
    Ok(summary(&wins, n, permutations))
}

/// The ε of [`enumerate`].
///
/// # Errors
/// As for [`enumerate`].
pub fn epsilon(family: impl Iterator<Item = Permutation>, n: usize) -> Result<f64> {
    Ok(enumerate(family, n)?.epsilon)
}

/// The element of `set` (a mask) that comes first, given the answers for all smaller masks.
fn first_of(set: usize, first: &[usize], permutation: &Permutation) -> usize {
    let (low, rest) = (set.trailing_zeros() as usize, set & (set - 1));
    if rest == 0 || permutation.position(low) < permutation.position(first[rest]) {
        low
    } else {
        first[rest]
    }
}

fn summary(wins: &[u64], n: usize, permutations: u64) -> Enumeration {
    let mut result = Enumeration { permutations, epsilon: 0.0, least: vec![1.0; n + 1] };
    for set in 1..1usize << n {
        let size = set.count_ones() as usize;
        for x in (0..n).filter(|x| set >> x & 1 == 1) {
            let count = wins[set * n + x];
            // In whole numbers up to the division, so that an exact family gives exactly 0.
            let error = (count * size as u64).abs_diff(permutations) as f64 / permutations as f64;
            result.epsilon = result.epsilon.max(error);
            result.least[size] = result.least[size].min(count as f64 / permutations as f64);
        }
    }
    result
}

fn check_universe(n: usize) -> Result<()> {
    if n == 0 || n > MAX_UNIVERSE {
        return Err(Error::parameter("universe", n, format!("between 1 and {MAX_UNIVERSE}")));
    }
    Ok(())
}

/// The permutations x → (a·x + b) mod n with a ≠ 0. An element of a set of k ≥ 2 is its minimum
/// with a probability of at least 1/(2(k − 1)).
///
/// # Errors
/// When n is no prime.
pub fn linear(n: usize) -> Result<impl Iterator<Item = Permutation>> {
    if n < 2 || (2..n).take_while(|d| d * d <= n).any(|d| n.is_multiple_of(d)) {
        return Err(Error::parameter("universe", n, "a prime"));
    }
    Ok((1..n).flat_map(move |a| {
        (0..n).map(move |b| {
            let mut order = vec![0; n];
            (0..n).for_each(|x| order[(a * x + b) % n] = x);
            Permutation::ordered(order)
        })
    }))
}

/// The recursive-halving family for n a power of two. A string of n bits, half of them ones, sends
/// the ones to the front half; a string of n/2 bits does the same within *both* halves, and so on.
///
/// # Errors
/// When n is not a power of two, or above [`MAX_UNIVERSE`].
pub fn halving(n: usize) -> Result<impl Iterator<Item = Permutation>> {
    check_universe(n)?;
    if !n.is_power_of_two() {
        return Err(Error::parameter("universe", n, "a power of two"));
    }
    let stages: Vec<HalvingStage> = widths(n).map(HalvingStage::new).collect();
    let size: usize = stages.iter().map(|stage| stage.strings.len()).product();
    Ok((0..size).map(move |mut number| {
        let mut order: Vec<usize> = (0..n).collect();
        for stage in &stages {
            stage.split(&mut order, number % stage.strings.len());
            number /= stage.strings.len();
        }
        Permutation::ordered(order)
    }))
}

/// One stage of the halving: parts of `width` places, and all the strings that can split them.
struct HalvingStage {
    width: usize,
    strings: Vec<usize>,
}

impl HalvingStage {
    fn new(width: usize) -> Self {
        let half_ones = |mask: &usize| mask.count_ones() as usize * 2 == width;
        Self { width, strings: (0..1usize << width).filter(half_ones).collect() }
    }

    /// Splits every part of `order` by the same string: places whose bit is one go to the front.
    fn split(&self, order: &mut [usize], choice: usize) {
        let is_one = |place: &usize| self.strings[choice] >> place & 1 == 1;
        let (mut places, back): (Vec<usize>, Vec<usize>) = (0..self.width).partition(is_one);
        places.extend(back);
        for part in order.chunks_mut(self.width) {
            let moved: Vec<usize> = places.iter().map(|&place| part[place]).collect();
            part.copy_from_slice(&moved);
        }
    }
}

/// The size of [`halving`]'s family, C(n, n/2) · C(n/2, n/4) · … · C(2, 1); none when n is not a
/// power of two or the size passes 2¹²⁸.
pub fn halving_size(n: u32) -> Option<u128> {
    n.is_power_of_two().then_some(())?;
    widths(n as usize).try_fold(1u128, |size, width| size.checked_mul(central_binomial(width)?))
}

/// n, n/2, …, 2.
fn widths(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(n), |width| Some(width / 2)).take_while(|&width| width >= 2)
}

/// C(width, width/2).
fn central_binomial(width: usize) -> Option<u128> {
    let half = width as u128 / 2;
    (1..=half).try_fold(1u128, |c, i| Some(c.checked_mul(half + i)? / i))
}

/// What a large family shows on sampled sets. Measured values carry chance as well as error, so
/// the report says what chance alone would give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// How many functions were counted over.
    pub functions: usize,
    /// How many sets were looked at.
    pub sets: usize,
    /// The largest relative error seen.
    pub epsilon: f64,
    /// About the largest that an exactly min-wise family would show on as many functions and sets:
    /// σ·√(2 ln cells) with σ² = (|X| − 1) / functions.
    pub chance: f64,
    /// The root mean square of the errors, the part of chance taken off: near 0 for a good family
    /// at any sample size.
    pub typical: f64,
}

impl Quality {
    /// Counts, for each of the sets and each of its elements, how often the element is the minimum.
    /// The elements of a set must be different.
    ///
    /// # Errors
    /// When there is no function or no set, or a set has fewer than two elements.
    pub fn measure(family: &impl HashFamily, sets: &[Vec<u64>]) -> Result<Self> {
        let functions = family.functions();
        if functions == 0 || sets.is_empty() {
            return Err(Error::parameter("functions and sets", 0, "at least 1"));
        }
        let mut quality =
            Self { functions, sets: sets.len(), epsilon: 0.0, chance: 0.0, typical: 0.0 };
        let (mut squares, mut cells, mut variance) = (0.0, 0usize, 0f64);
        for set in sets {
            if set.len() < 2 {
                return Err(Error::parameter("size of a set", set.len(), "at least 2"));
            }
            let by_chance = (set.len() - 1) as f64 / functions as f64;
            for error in errors(family, set) {
                quality.epsilon = quality.epsilon.max(error.abs());
                squares += error * error - by_chance;
            }
            cells += set.len();
            variance = variance.max(by_chance);
        }
        quality.chance = (2.0 * variance * (cells as f64).ln()).sqrt();
        quality.typical = (squares / cells as f64).max(0.0).sqrt();
        Ok(quality)
    }
}

/// For each element of `set`, its share of the minima times |set|, less 1.
fn errors(family: &impl HashFamily, set: &[u64]) -> Vec<f64> {
    let mut wins = vec![0usize; set.len()];
    for function in 0..family.functions() {
        let first = (0..set.len()).min_by_key(|&at| family.hash(function, set[at]));
        wins[first.expect("a set has at least two elements")] += 1;
    }
    let expected = family.functions() as f64 / set.len() as f64;
    wins.into_iter().map(|count| count as f64 / expected - 1.0).collect()
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "epsilon {:.3} measured with {} functions on {} sets (chance alone gives up to {:.3}); \
             typical error {:.3}",
            self.epsilon, self.functions, self.sets, self.chance, self.typical
        )
    }
}

/// `count` sets of `size` consecutive integers each, from random starts below 2³²: the regular sets
/// on which weak families show.
pub fn runs(size: usize, count: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut seeds = SplitMix::new(seed);
    (0..count)
        .map(|_| seeds.draw() >> 32)
        .map(|from| (from..from + size as u64).collect())
        .collect()
}

/// `count` sets of `size` random 64-bit elements each, as hashed shingles are.
pub fn scattered(size: usize, count: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut seeds = SplitMix::new(seed);
    (0..count).map(|_| seeds.by_ref().take(size).collect()).collect()
}
