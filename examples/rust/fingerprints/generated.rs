//! Prints drawn with the probabilities of *Mining of Massive Datasets*, 3.8.5, and how often functions of three squares find
//! those of one finger.

use nearkin_engine::Result;
use nearkin_engine::amplify::Expression;
use nearkin_engine::candidates::cascade::Cascade;
use nearkin_engine::family::Squares;
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::family::squares::{different_fingers, over_grid, same_finger};
use nearkin_engine::item::Sets;
use nearkin_engine::measure::jaccard;
use nearkin_engine::space::{Form, JoinQuery, Space, sorted_pairs};

/// Squares of a function.
pub(crate) const EACH: usize = 3;
/// The chance that a square has a minutia.
pub(crate) const FILLED: f64 = 0.2;
/// The chance that a square has one in the second print of a finger, where the first print has one.
pub(crate) const AGAIN: f64 = 0.8;

/// Two prints of each finger on a grid of so many squares: those of finger f are f and `fingers` + f.
pub(crate) struct Generated {
    pub(crate) fingers: usize,
    pub(crate) grid: u64,
    pub(crate) prints: Sets,
}

impl Generated {
    pub(crate) fn new(fingers: usize, grid: u64, seed: u64) -> Self {
        let mut words = SplitMix::new(seed);
        let mut happens = |p: f64| (words.draw() >> 11) as f64 / ((1u64 << 53) as f64) < p;
        // As often as leaves a second print as full as the first.
        let new = FILLED * (1.0 - AGAIN) / (1.0 - FILLED);
        let (mut first, mut second) = (Sets::default(), Sets::default());
        for _ in 0..fingers {
            let print: Vec<u64> = (0..grid).filter(|_| happens(FILLED)).collect();
            let mut known = print.iter().copied().peekable();
            let other = (0..grid).filter(|square| {
                let here = known.next_if_eq(square).is_some();
                happens(if here { AGAIN } else { new })
            });
            second.push(&other.collect::<Vec<u64>>());
            first.push(&print);
        }
        Self { fingers, grid, prints: first.followed_by(&second) }
    }

    /// Many-one: the second print of each finger is looked for in a base of the first ones.
    pub(crate) fn many_one(&self, expression: &Expression, seed: u64) -> Result<ManyOne> {
        let family = Squares::new(&self.prints, self.grid, EACH, seed)?;
        let base = Cascade::new(expression, &[("squares", &family)], self.fingers)?;
        let mut found = vec![0.0; self.fingers];
        // By the print that is looked for, and by the one in the base.
        let mut others = [vec![0.0; self.fingers], vec![0.0; self.fingers]];
        for finger in 0..self.fingers {
            let print = (self.fingers + finger) as u32;
            let keys = base.query_keys(&[("squares", &family)], print);
            for candidate in base.candidates_of(&keys) {
                let candidate = candidate as usize;
                if candidate == finger {
                    found[finger] = 1.0;
                } else {
                    others[0][finger] += 1.0 / (self.fingers - 1) as f64;
                    others[1][candidate] += 1.0 / (self.fingers - 1) as f64;
                }
            }
        }
        let [different, by_base] = others.map(|rates| Rate::of(&rates));
        let error = different.error.hypot(by_base.error);
        Ok(ManyOne { same: Rate::of(&found), different: Rate { error, ..different } })
    }

    /// Many-many: all pairs of prints that satisfy the expression are compared, and those at least `limit` similar kept.
    pub(crate) fn many_many(
        &self,
        expression: &Expression,
        seed: u64,
        limit: f64,
    ) -> Result<ManyMany> {
        let family = Squares::new(&self.prints, self.grid, EACH, seed)?;
        let cascade = Cascade::new(expression, &[("squares", &family)], self.prints.len())?;
        let join = JoinQuery { limit, split: None, stopped: &|| false };
        let similarity = Similarity(&self.prints);
        let (pairs, counts) = sorted_pairs(|found| cascade.join(&similarity, &join, found))?;
        let of_one_finger = |a: u32, b: u32| a + self.fingers as u32 == b;
        let same = pairs.iter().filter(|pair| of_one_finger(pair.a, pair.b)).count();
        let all = self.prints.len() * (self.prints.len() - 1) / 2;
        Ok(ManyMany { all, compared: counts.verified, same, different: pairs.len() - same })
    }
}

/// What looking for every finger once gave.
pub(crate) struct ManyOne {
    /// The other print of the finger is looked at.
    pub(crate) same: Rate,
    /// The share of the prints of other fingers that is.
    pub(crate) different: Rate,
}

/// What searching all pairs gave.
pub(crate) struct ManyMany {
    pub(crate) all: usize,
    pub(crate) compared: u64,
    /// Pairs kept that are of one finger, and those that are not.
    pub(crate) same: usize,
    pub(crate) different: usize,
}

/// A measured rate and its standard error, from how prints differ.
pub(crate) struct Rate {
    pub(crate) mean: f64,
    pub(crate) error: f64,
}

impl Rate {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Self { mean, error: (spread / n).sqrt() }
    }
}

/// Chances for prints of one finger and of two.
pub(crate) struct Predicted {
    pub(crate) same: f64,
    pub(crate) different: f64,
}

/// As if every function were drawn for a pair of prints of its own, as the book reckons.
pub(crate) fn independent(expression: &Expression) -> Predicted {
    Predicted {
        same: expression.probability(same_finger(FILLED, AGAIN, EACH as u32)),
        different: expression.probability(different_fingers(FILLED, EACH as u32)),
    }
}

/// On a grid of so many squares.
pub(crate) fn on_grid(expression: &Expression, grid: u64) -> Predicted {
    let mean = |both| over_grid(grid, both, EACH as u32, |p| expression.probability(p));
    Predicted { same: mean(FILLED * AGAIN), different: mean(FILLED * FILLED) }
}

/// Sets by their Jaccard similarity.
struct Similarity<'a>(&'a Sets);

impl Space for Similarity<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn form(&self) -> Form {
        Form::Similarity
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        jaccard::similarity(self.0.get(a as usize), self.0.get(b as usize))
    }
}
