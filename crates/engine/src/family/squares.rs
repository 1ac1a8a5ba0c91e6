//! Functions of a few grid squares, as fingerprints are matched by.
//!
//! Sets of grid squares come in (those with a minutia in them); yes or nothing goes out. A function has a few squares and
//! one bucket, for the prints that have all of these squares (*Mining of Massive Datasets*, 3.8.5). A print that lacks one
//! agrees with nothing. This works without minhashing because the sets are small parts of a small universe.

use std::borrow::Cow;

use super::draw::place;
use super::hash::mix64;
use super::{Family, INFINITY};
use crate::item::Sets;
use crate::{Error, Result};

/// Whether a print has all of a few random squares, for the sets of a collection. The distance is 1 − the Jaccard
/// similarity.
#[derive(Debug, Clone)]
pub struct Squares<'a> {
    sets: Cow<'a, Sets>,
    grid: u64,
    each: usize,
    seed: u64,
    mean: f64,
}

/// The most squares that a function may have.
pub const MAX_EACH: usize = 16;

impl<'a> Squares<'a> {
    /// Functions of `each` different squares of a grid of the squares 0..`grid`; the book takes three.
    ///
    /// # Errors
    /// When `each` is 0, above `grid` or above [`MAX_EACH`], or a set has an element that is no square.
    pub fn new(sets: &'a Sets, grid: u64, each: usize, seed: u64) -> Result<Self> {
        let most = grid.min(MAX_EACH as u64);
        if each == 0 || each as u64 > most {
            let must = format!("between 1 and {most}");
            return Err(Error::parameter("squares", each, must));
        }
        let mut elements = 0;
        for item in 0..sets.len() {
            let set = sets.get(item);
            if let Some(last) = set.last().filter(|&&last| last >= grid) {
                let must = format!("below {grid}, the squares there are");
                return Err(Error::parameter("a grid square", last, must));
            }
            elements += set.len();
        }
        let mean = elements as f64 / sets.len().max(1) as f64;
        Ok(Self { sets: Cow::Borrowed(sets), grid, each, seed, mean })
    }

    /// Functions for sets of any elements: each of those that there are counts as a square.
    ///
    /// # Errors
    /// When `each` is 0, above the number of elements or above [`MAX_EACH`].
    pub fn of_elements(sets: &Sets, each: usize, seed: u64) -> Result<Squares<'static>> {
        let all = || (0..sets.len()).map(|item| sets.get(item));
        let mut known: Vec<u64> = all().flatten().copied().collect();
        known.sort_unstable();
        known.dedup();
        let mut numbered = Sets::default();
        for set in all() {
            let number = |element| known.partition_point(|other| other < element) as u64;
            numbered.push(&set.iter().map(number).collect::<Vec<u64>>());
        }
        let Squares { grid, each, seed, mean, .. } =
            Squares::new(&numbered, known.len() as u64, each, seed)?;
        Ok(Squares { sets: Cow::Owned(numbered), grid, each, seed, mean })
    }

    /// The squares of a function, all different.
    pub fn squares(&self, function: usize) -> Vec<u64> {
        let mut squares = Vec::with_capacity(self.each);
        self.all(function, |square| {
            squares.push(square);
            true
        });
        squares
    }

    /// Whether something holds for all squares of a function; the rest are not drawn once it does not.
    fn all(&self, function: usize, mut holds: impl FnMut(u64) -> bool) -> bool {
        let seed = mix64(function as u64, self.seed);
        let mut chosen = [0; MAX_EACH];
        // Drawn without replacement as Floyd does it (Bentley and Floyd 1987).
        (self.grid - self.each as u64..self.grid).enumerate().all(|(i, last)| {
            let square = place(last, seed, last + 1);
            chosen[i] = if chosen[..i].contains(&square) { last } else { square };
            holds(chosen[i])
        })
    }
}

impl Family for Squares<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        let set = self.sets.get(item as usize);
        for (function, value) in (from..).zip(values) {
            let has_all = self.all(function, |square| set.binary_search(&square).is_ok());
            *value = if has_all { 1 } else { INFINITY };
        }
    }

    /// For two sets of the collection's mean size m, which share i = 2m·s / (1 + s) squares at similarity s:
    /// C(i, each) / C(grid, each). Larger sets agree more often and smaller ones less.
    fn agreement(&self, distance: f64) -> f64 {
        let similarity = (1.0 - distance).clamp(0.0, 1.0);
        let shared = 2.0 * self.mean * similarity / (1.0 + similarity);
        all_shared(shared, self.grid, self.each as u32)
    }
}

/// The chance that a function of `each` squares says yes to two prints of one finger, when a square has a minutia with
/// probability `filled`, and where one print has one, the other has it with probability `again`: (filled·again)^each.
pub fn same_finger(filled: f64, again: f64, each: u32) -> f64 {
    (filled * again).powi(each as i32)
}

/// The chance that a function of `each` squares says yes to prints of two different fingers: filled^(2·each).
pub fn different_fingers(filled: f64, each: u32) -> f64 {
    (filled * filled).powi(each as i32)
}

/// The chance of an expression for prints on a grid of `grid` squares, each of which both prints have with probability
/// `both`: the mean of `chance(p)` over the number of shared squares, where p is the chance of one function.
///
/// Functions on the same two prints do not agree independently: if a pair shares more squares than most, all functions
/// agree more often. The effect shows on small grids and vanishes on large ones.
/// On 1,000 squares, two groups of 1,024 functions let 1/209 of the strangers through, where independent ones would let
/// 1/248.
///
/// ```
/// use nearkin_engine::family::squares::over_grid;
/// let one = |p: f64| 1.0 - (1.0 - p).powi(1024);
/// let found = |grid| (over_grid(grid, 0.2 * 0.8, 3, one) * 1e3).round() / 1e3;
/// assert_eq!((found(1000), found(100_000)), (0.978, 0.985));
/// ```
pub fn over_grid(grid: u64, both: f64, each: u32, chance: impl Fn(f64) -> f64) -> f64 {
    if both <= 0.0 || both >= 1.0 {
        let shared = if both >= 1.0 { grid as f64 } else { 0.0 };
        return chance(all_shared(shared, grid, each));
    }
    // P(shared) = C(grid, shared)·both^shared·(1 − both)^(grid − shared), each from the one before, by logarithms as the first
    // ones are tiny.
    let odds = (both / (1.0 - both)).ln();
    let mut log = grid as f64 * (1.0 - both).ln();
    let mut mean = 0.0;
    for shared in 0..=grid {
        mean += log.exp() * chance(all_shared(shared as f64, grid, each));
        log += ((grid - shared) as f64 / (shared + 1) as f64).ln() + odds;
    }
    mean
}

/// The chance that `each` squares drawn from `grid` are all among `shared` of them: C(shared, each) / C(grid, each).
fn all_shared(shared: f64, grid: u64, each: u32) -> f64 {
    let steps = (0..each).map(f64::from);
    steps.map(|i| (shared - i).max(0.0) / (grid as f64 - i)).product()
}
