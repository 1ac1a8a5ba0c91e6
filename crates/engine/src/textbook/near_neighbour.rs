//! The (c, r) near-neighbour index of Indyk and Motwani (1998).
//!
//! If there is an item within r of a query, the index gives one within c·r, with a known chance. It misses with a chance of
//! at most 1/e and gives up with a chance of at most 1/2. That leaves at least 1/2 − 1/e for the worst of collections, and
//! 1 − 1/e and more where few items lie just beyond c·r.
//!
//! Its tables have keys of k functions each. Let P₁ and P₂ be the chances that a function agrees on items at r and at c·r,
//! and n the number of items:
//!
//! - k = ln n / ln(1/P₂) makes P₂ᵏ = 1/n, so a table gives no more than one far item, on average;
//! - L = P₁⁻ᵏ tables, which is n^ρ with ρ = ln(1/P₁) / ln(1/P₂), miss a near item with a chance of at most 1/e;
//! - a search gives up after 2L far items: more are met with a chance of at most 1/2.

use rayon::prelude::*;

use crate::candidates::KEY_BITS;
use crate::candidates::bucket_table::BucketTable;
use crate::family::hash::mix64;
use crate::family::{Family, INFINITY};
use crate::join::go_on;
use crate::space::{ClosePair, Form, Space};
use crate::{Error, Result};

/// How many functions and tables an index has, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearIndexShape {
    /// The chance that a function agrees on two items at r.
    pub p1: f64,
    /// The chance that a function agrees on two items at c·r.
    pub p2: f64,
    /// ln(1/p1) / ln(1/p2): the tables grow as this power of the items.
    pub rho: f64,
    /// Functions of a key.
    pub rows: usize,
    /// Tables.
    pub tables: usize,
}

/// Most functions of all tables together: beyond, the index would be larger than any collection.
const MOST_FUNCTIONS: f64 = 1e7;

impl NearIndexShape {
    /// The shape for `items` items, from the chances that a function agrees at r and at c·r.
    ///
    /// # Errors
    /// When it does not agree more often at r, or so seldom that too many tables were needed.
    pub fn new(items: usize, p1: f64, p2: f64) -> Result<Self> {
        if !(p2 > 0.0 && p2 < p1 && p1 <= 1.0) {
            let must = "smaller than at r: choose a larger factor c, or another family";
            return Err(Error::parameter("the chance to agree at c·r", p2, must));
        }
        let rho = p1.ln() / p2.ln();
        // Whole numbers of functions; the tables are those that this many functions need, so that rounding
        // does not cost recall.
        let rows = ((items.max(2) as f64).ln() / -p2.ln()).ceil().max(1.0);
        let tables = p1.powf(-rows).ceil();
        if rows * tables > MOST_FUNCTIONS {
            let must = "larger, or r smaller: the index would need too many tables";
            return Err(Error::parameter("the factor c", format!("giving {tables} tables"), must));
        }
        Ok(Self { p1, p2, rho, rows: rows as usize, tables: tables as usize })
    }
}

/// An index of the first items of a space.
pub struct NearIndex<'a, S, F> {
    space: &'a S,
    family: &'a F,
    far: f64,
    shape: NearIndexShape,
    items: u32,
    tables: Vec<BucketTable>,
}

/// What a search has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearAnswer {
    /// The item asked for, an item within c·r, and their distance.
    pub found: Option<ClosePair>,
    /// Items farther than c·r that were looked at.
    pub far: usize,
    /// Whether the search gave up because they were too many.
    pub gave_up: bool,
}

impl<'a, S: Space, F: Family> NearIndex<'a, S, F> {
    /// An index of the items 0 to `items` − 1 for a distance `r` and a factor `c`. The family's distance must be
    /// that of the space.
    ///
    /// # Errors
    /// When the space has no distances, c or r are out of range, or the family does not tell r from c·r.
    pub fn new(
        space: &'a S,
        family: &'a F,
        items: u32,
        (c, r): (f64, f64),
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        if space.form() != Form::Distance {
            return Err(Error::parameter("the measure", "a similarity", "a distance"));
        }
        check_near((c, r))?;
        let items = items.min(space.len() as u32);
        let shape =
            NearIndexShape::new(items as usize, family.agreement(r), family.agreement(c * r))?;
        let mut index = Self { space, family, far: c * r, shape, items, tables: Vec::new() };
        let tables = (0..shape.tables).into_par_iter().map(|table| {
            go_on(stopped)?;
            Ok(index.table(table))
        });
        index.tables = tables.collect::<Result<_>>()?;
        Ok(index)
    }

    /// Items are entered from the last to the first, so that the first of a bucket is looked at first.
    fn table(&self, number: usize) -> BucketTable {
        let rows = self.shape.rows;
        let mut values = vec![0; self.items as usize * rows];
        self.family.hash_many(0..self.items, number * rows, rows, &mut values);
        let mut table = BucketTable::with_capacity(self.items as usize);
        values.chunks_exact(rows).rev().for_each(|values| table.push(key(values)));
        table
    }

    /// How many functions and tables it has.
    pub fn shape(&self) -> NearIndexShape {
        self.shape
    }

    /// Looks for an item near to `item`, which may be any other item of the space.
    pub fn query(&self, item: u32) -> NearAnswer {
        let mut answer = NearAnswer { found: None, far: 0, gave_up: false };
        let mut values = vec![0; self.shape.rows];
        for (number, table) in self.tables.iter().enumerate() {
            self.family.hash(item, number * self.shape.rows, &mut values);
            let Some(key) = key(&values) else { continue };
            let bucket = table.items(key).map(|entered| self.items - 1 - entered);
            for other in bucket.filter(|&other| other != item) {
                if let Some(value) = self.space.reaching(item, other, self.far) {
                    answer.found = Some(ClosePair { a: item, b: other, value });
                    return answer;
                }
                answer.far += 1;
                if answer.far > 2 * self.shape.tables {
                    answer.gave_up = true;
                    return answer;
                }
            }
        }
        answer
    }
}

/// Whether there can be an index for a distance `r` and a factor `c`.
///
/// # Errors
/// When c is not above 1, or r not above 0.
pub fn check_near((c, r): (f64, f64)) -> Result<()> {
    if !(c > 1.0 && c.is_finite()) {
        return Err(Error::parameter("the factor c", c, "above 1"));
    }
    if !(r > 0.0 && r.is_finite()) {
        return Err(Error::parameter("the distance r", r, "above 0"));
    }
    Ok(())
}

/// The key of an item in a table: a hash of its values under the table's functions. Different values share one
/// with a chance of 2⁻³⁷. None for an item that agrees with nothing.
fn key(values: &[u64]) -> Option<u64> {
    let key = values.iter().fold(0, |key, &value| mix64(value, key)) >> (64 - KEY_BITS);
    (!values.contains(&INFINITY)).then_some(key)
}
