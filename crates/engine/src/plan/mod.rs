//! Which way to the similar pairs is the cheapest that keeps the promise?
//!
//! A sample of the collection says what each way would cost: an exact search, or the tables of an AND/OR expression of
//! locality-sensitive functions. Costs were measured once and are constants: the choice decides which pairs may be
//! missed, so it must not depend on a clock. A [`Plan`] holds what each way is expected to cost and which one is taken.
//!
//! | file | answers |
//! |---|---|
//! | `elements` | texts, sets and bags: the exact join or bands of minhashes? |
//! | `space` | other items: which ways are there? |
//! | `tables` | other items: comparing all, or tables? |
//! | `probes` | would several looks into each of fewer tables cost less? |
//! | `sample`, `survey` | before a run: how many pairs are how similar, and how many would be missed? |

pub(crate) mod elements;
pub(crate) mod probes;
pub(crate) mod sample;
pub(crate) mod space;
pub(crate) mod survey;
pub(crate) mod tables;

pub use sample::{Sample, sample};
pub use survey::{Estimate, Forecast, Survey, survey};

use crate::amplify::{Bands, ExpectedPairs, Expression};
use crate::settings::Strategy;

/// How pairs are found, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The way that is taken.
    pub way: Way,
    /// The chance that a pair at just the limit is found.
    pub recall: f64,
    /// What an exact search is expected to cost, where that was asked.
    pub exact: Option<SearchCost>,
    /// The tables of an approximate search, where these items can be searched by tables.
    pub tables: Option<TablesPlan>,
    /// The values of random pairs, from close to far, where some were drawn.
    pub sample: Vec<f64>,
}

/// The two ways to find pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// An exact search, which misses none.
    Exact,
    /// Tables of locality-sensitive functions.
    Tables,
}

/// What a search is expected to cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchCost {
    /// Seconds on one core, from items in memory to pairs.
    pub seconds: f64,
    /// Pairs that are compared exactly, where that was estimated.
    pub compared: Option<f64>,
}

/// A search by tables.
#[derive(Debug, Clone, PartialEq)]
pub struct TablesPlan {
    /// Who meets whom.
    pub expression: Expression,
    /// Buckets of each table that an item looks into: 1 where it looks into its own only.
    pub probes: usize,
    /// What it is expected to cost, where that was asked.
    pub cost: Option<SearchCost>,
    /// Pairs that are expected to become candidates, to be missed and to be compared in vain.
    pub expected: Option<ExpectedPairs>,
    /// The chance of a pair to be found at some distances, those that the functions go by: degrees for
    /// angles, differing bits for bit strings.
    pub curve: Vec<(f64, f64)>,
}

impl Plan {
    /// An exact search, because nothing else was asked for.
    pub(crate) fn exact() -> Self {
        Self { way: Way::Exact, recall: 1.0, exact: None, tables: None, sample: Vec::new() }
    }

    /// Bands of minhashes with this recall, because nothing else was asked for.
    pub(crate) fn bands(bands: Bands, recall: f64) -> Self {
        Self {
            way: Way::Tables,
            recall,
            tables: Some(TablesPlan::bands(bands, None)),
            ..Self::exact()
        }
    }

    /// Whether no pair is missed.
    pub fn is_exact(&self) -> bool {
        self.way == Way::Exact
    }

    /// The tables, if they are what is used.
    pub fn tables_taken(&self) -> Option<&TablesPlan> {
        self.tables.as_ref().filter(|_| self.way == Way::Tables)
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self::exact()
    }
}

impl TablesPlan {
    /// Bands of minhashes.
    pub(crate) fn bands(bands: Bands, cost: Option<SearchCost>) -> Self {
        Self {
            expression: Expression::function("minhash").and(bands.rows).or(bands.count),
            probes: 1,
            cost,
            expected: None,
            curve: Vec::new(),
        }
    }

    /// Its bands and rows, where it is or(b, and(r, function)).
    pub fn as_bands(&self) -> Option<Bands> {
        match &self.expression {
            Expression::Or(count, inside) => match &**inside {
                Expression::And(rows, _) => Some(Bands { count: *count, rows: *rows }),
                _ => None,
            },
            _ => None,
        }
    }

    /// The strategy that does as planned.
    pub fn strategy(&self) -> Strategy {
        Strategy::Tables { expression: self.expression.clone(), probes: self.probes }
    }
}
