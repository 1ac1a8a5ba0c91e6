//! How similar two random sets are, by chance alone.
//!
//! The sizes of two sets and of the universe that they are drawn from come in. Out goes the Jaccard similarity to expect
//! of them, exactly as a sum over the elements that they may share, and by the short formula that comes near it. So one sees
//! whether a similarity of 0.2 is much. *Mining of Massive Datasets*, exercises 3.1.3 and 3.3.4.

use crate::{Error, Result};

/// Two sets drawn at random from a universe: all sets of their sizes are equally likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomSets {
    universe: u64,
    a: u64,
    b: u64,
}

impl RandomSets {
    /// Sets of `a` and of `b` elements of a universe.
    ///
    /// # Errors
    /// When a set has more elements than there are.
    pub fn new(universe: u64, a: u64, b: u64) -> Result<Self> {
        let larger = a.max(b);
        if universe < larger {
            let must = format!("at least {larger}, the elements of the larger set");
            return Err(Error::parameter("the universe", universe, must));
        }
        Ok(Self { universe, a, b })
    }

    /// Elements of the universe.
    pub fn universe(self) -> u64 {
        self.universe
    }

    /// The elements to expect in both: a·b/n.
    pub fn expected_shared(self) -> f64 {
        if self.universe == 0 {
            return 0.0;
        }
        self.a as f64 * self.b as f64 / self.universe as f64
    }

    /// The Jaccard similarity to expect: Σ P(i)·i / (a + b − i), where P(i) = C(a, i)·C(n − a, b − i) / C(n, b) is the
    /// chance of i shared elements. Two empty sets have 1.
    pub fn expected(self) -> f64 {
        if self.a == 0 && self.b == 0 {
            return 1.0;
        }
        let all = (self.a + self.b) as f64;
        self.mean(|shared| shared as f64 / (all - shared as f64))
    }

    /// What comes near it: the similarity of sets that share as many as expected, (a·b/n) / (a + b − a·b/n). For two sets of
    /// m elements that is m / (2n − m).
    pub fn approximation(self) -> f64 {
        if self.a == 0 && self.b == 0 {
            return 1.0;
        }
        let shared = self.expected_shared();
        shared / ((self.a + self.b) as f64 - shared)
    }

    /// The chance that they share this many elements or more.
    pub fn at_least(self, shared: u64) -> f64 {
        self.mean(|at| f64::from(u8::from(at >= shared))).min(1.0)
    }

    /// The mean of a value over the number of shared elements.
    ///
    /// The chances are taken in relation to that of the likeliest number, from there up and down, each from the one before:
    /// P(i + 1) / P(i) = (a − i)(b − i) / ((i + 1)(n − a − b + i + 1)).
    fn mean(self, value: impl Fn(u64) -> f64) -> f64 {
        /// Chances below this, in relation to the likeliest, add nothing that a double holds.
        const NOTHING: f64 = 1e-300;
        let Self { universe, a, b } = self;
        let (least, most) = ((a + b).saturating_sub(universe), a.min(b));
        let ratio = |i: u64| {
            let up = (a - i) as f64 * (b - i) as f64;
            up / ((i + 1) as f64 * (universe + i + 1 - a - b) as f64)
        };
        let mode = ((a + 1) as f64 * (b + 1) as f64 / (universe + 2) as f64) as u64;
        let mode = mode.clamp(least, most);
        let (mut sum, mut weights) = (value(mode), 1.0);
        let mut weight = 1.0;
        for i in mode..most {
            weight *= ratio(i);
            if weight < NOTHING {
                break;
            }
            sum += weight * value(i + 1);
            weights += weight;
        }
        weight = 1.0;
        for i in (least..mode).rev() {
            weight /= ratio(i);
            if weight < NOTHING {
                break;
            }
            sum += weight * value(i);
            weights += weight;
        }
        sum / weights
    }
}
