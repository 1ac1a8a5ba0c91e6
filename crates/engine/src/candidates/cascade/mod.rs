//! Running an expression: which pairs does it make candidates?
//!
//! An [`Expression`] and the families it names come in. All pairs that satisfy it go out, or the items that satisfy it with
//! a query. Each part without an OR is a table. An item has one key per table: a hash of the values of the functions in that
//! part. An OR is a union of tables, an AND of ORs an intersection.
//!
//! No set of pairs is ever stored. All keys of an item lie together, so the whole expression can be evaluated on two rows of
//! keys. What remains is to meet every pair that could satisfy it, by sorting. For an OR all its parts are searched. For an
//! AND the part is searched in which the fewest pairs meet, or several parts by the combinations of their tables. A pair is
//! met in the first place that it shares.

mod formula;
mod search;

use std::ops::{Add, Range};
use std::sync::OnceLock;

use nearkin_kernels::may_fail;
use rayon::prelude::*;

pub use formula::Families;
use formula::{NO_KEY, TablePlan};
use search::{KeySample, TableChoice, TableSearch};

use super::bucket_table::BucketTable;
use super::{KEY_PARTS, buckets, each_bucket};
use crate::amplify::Expression;
use crate::space::{ClosePair, JoinQuery, PairBuffer, PairSink, Space};
use crate::{Error, Result};

/// Pairs that one thread looks at before it asks whether to stop.
const PORTION: usize = 1 << 14;

/// Items that are hashed together.
const TOGETHER: usize = 240;

/// Items that are looked at to see in which tables few pairs meet.
const SAMPLE: usize = 1 << 13;

/// An expression with the keys of a collection's items.
pub struct Cascade {
    plan: TablePlan,
    search: TableSearch,
    places: Vec<TableChoice>,
    items: usize,
    /// One row of keys per item.
    keys: Vec<u64>,
    lookup: OnceLock<Vec<BucketTable>>,
}

/// How many pairs a join looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CandidateCounts {
    /// Pairs that met, each counted once.
    pub candidates: u64,
    /// Those of them that satisfy the whole expression, and were compared exactly.
    pub verified: u64,
}

impl Add for CandidateCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            candidates: self.candidates + other.candidates,
            verified: self.verified + other.verified,
        }
    }
}

impl Cascade {
    /// Computes the keys of items 0..`items`, on all threads.
    ///
    /// Functions are numbered in the order of the expression, those of each family from 0.
    ///
    /// # Errors
    /// When the expression cannot be run or names a family that is not there, or the keys do not fit in
    /// memory.
    pub fn new(expression: &Expression, families: &Families<'_>, items: usize) -> Result<Self> {
        let plan = TablePlan::new(expression, families)?;
        if u32::try_from(items).is_err() {
            return Err(Error::parameter("items", items, "fewer than 2^32"));
        }
        let search = if plan.formula.has_choice() {
            // Of thousands of tables, fewer items: the sample takes 128 MiB at most.
            let rows = SAMPLE.min((1 << 24) / plan.tables()).max(1);
            let keys = keys_of(&plan, families, items, items.div_ceil(rows).max(1))?;
            TableSearch::cheapest(&plan.formula, &KeySample { keys, tables: plan.tables(), items })
        } else {
            TableSearch::whole(plan.tables())
        };
        let keys = keys_of(&plan, families, items, 1)?;
        Ok(Self { plan, places: search.places(), search, items, keys, lookup: OnceLock::new() })
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Keys of an item.
    pub fn tables(&self) -> usize {
        self.plan.tables()
    }

    /// How often the items are sorted by their keys: once for each table of a plain OR, less or more often with ANDs.
    pub fn searched(&self) -> usize {
        self.places.len()
    }

    /// The keys of an item.
    ///
    /// # Panics
    /// When there is no such item.
    pub fn keys(&self, item: u32) -> &[u64] {
        &self.keys[item as usize * self.tables()..][..self.tables()]
    }

    /// The keys of any item that the families know, to ask [`candidates_of`](Self::candidates_of) with. The
    /// families must be those, in the same order, that the items were hashed by.
    ///
    /// # Panics
    /// When there are fewer families.
    pub fn query_keys(&self, families: &Families<'_>, item: u32) -> Vec<u64> {
        let mut keys = vec![0; self.tables()];
        self.plan.keys(families, item..item + 1, &mut Vec::new(), &mut keys);
        // An item outside this collection may have the number of one inside.
        keys.iter_mut().filter(|key| **key & NO_KEY != 0).for_each(|key| *key = u64::MAX);
        keys
    }

    /// The items that satisfy the expression with one that has these keys, ascending; an item of the
    /// collection finds itself too.
    ///
    /// # Panics
    /// When the keys were made for another expression and are fewer.
    pub fn candidates_of(&self, keys: &[u64]) -> Vec<u32> {
        let lookup = self.lookup.get_or_init(|| {
            let places = self.places.par_iter();
            places.map(|place| self.table(place)).collect()
        });
        let mut found = Vec::new();
        for (place, table) in self.places.iter().zip(lookup) {
            let Some(key) = place.key(keys) else { continue };
            found.extend(table.items(key).filter(|&item| {
                let row = self.keys(item);
                self.search.meet(place, keys, row) && self.satisfied(keys, row)
            }));
        }
        found.sort_unstable();
        found
    }

    /// Whether two rows of keys that met satisfy the whole expression.
    fn satisfied(&self, a: &[u64], b: &[u64]) -> bool {
        self.search.exact || self.plan.formula.holds(a, b)
    }

    /// Hands on all pairs that satisfy the expression and reach the limit, with their exact value.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the join was stopped; when the space has fewer items, or the sink fails.
    pub fn join(
        &self,
        space: &dyn Space,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<CandidateCounts> {
        if space.len() < self.items {
            let must = format!("at least {}, as many as were hashed", self.items);
            return Err(Error::parameter("items", space.len(), must));
        }
        let mut counts = CandidateCounts::default();
        // A place for each thread at a time: what their buckets take is little beside the keys.
        for places in self.places.chunks(rayon::current_num_threads()) {
            if (join.stopped)() {
                return Err(Error::Interrupted);
            }
            let buckets: Vec<(&TableChoice, Vec<u32>)> = places
                .par_iter()
                .map(|place| {
                    let mut found = Vec::new();
                    self.entries(place).into_iter().for_each(|part| buckets(part, &mut found));
                    (place, found)
                })
                .collect();
            let portions: Vec<BucketPortion<'_>> = buckets
                .iter()
                .flat_map(|(place, buckets)| portions(place, buckets, join.split))
                .collect();
            let compared = portions.par_chunks(64);
            let compared = compared.map(|portions| self.compare(portions, space, join, found));
            let sum = compared.try_reduce(CandidateCounts::default, |a, b| Ok(a + b))?;
            counts = counts + sum;
        }
        Ok(counts)
    }

    /// The entries of a place, as [`buckets`] takes them, in parts by the first bits of their key.
    fn entries(&self, place: &TableChoice) -> Vec<Vec<u64>> {
        let room = self.items / KEY_PARTS + self.items / (4 * KEY_PARTS);
        let mut parts: Vec<Vec<u64>> = (0..KEY_PARTS).map(|_| Vec::with_capacity(room)).collect();
        for (row, item) in self.keys.chunks_exact(self.tables()).zip(0u64..) {
            if let Some(key) = place.key(row) {
                parts[(key >> 32) as usize].push(key << 32 | item);
            }
        }
        parts
    }

    /// The items by their keys at a place.
    fn table(&self, place: &TableChoice) -> BucketTable {
        let mut table = BucketTable::with_capacity(self.items);
        let rows = self.keys.chunks_exact(self.tables());
        rows.for_each(|row| table.push(place.key(row)));
        table
    }

    fn compare(
        &self,
        portions: &[BucketPortion<'_>],
        space: &dyn Space,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<CandidateCounts> {
        let (mut pairs, mut counts) = (PairBuffer::new(found), CandidateCounts::default());
        for portion in portions {
            if (join.stopped)() {
                return Err(Error::Interrupted);
            }
            for i in portion.rows.clone() {
                let a = portion.bucket[i];
                let keys = self.keys(a);
                for &b in &portion.bucket[portion.partners.max(i + 1)..] {
                    let others = self.keys(b);
                    if !self.search.meet(portion.place, keys, others) {
                        continue;
                    }
                    counts.candidates += 1;
                    if !self.satisfied(keys, others) {
                        continue;
                    }
                    counts.verified += 1;
                    if let Some(value) = space.reaching(a, b, join.limit) {
                        pairs.push(ClosePair { a, b, value });
                    }
                }
            }
        }
        pairs.finish().map(|_| counts)
    }
}

/// Some rows of a bucket's pairs: each of these members with all after it, from a certain one on.
struct BucketPortion<'a> {
    place: &'a TableChoice,
    bucket: &'a [u32],
    rows: Range<usize>,
    partners: usize,
}

/// All buckets, cut so that no thread is left with a giant.
fn portions<'a>(
    place: &'a TableChoice,
    buckets: &'a [u32],
    split: Option<u32>,
) -> impl Iterator<Item = BucketPortion<'a>> {
    each_bucket(buckets).flat_map(move |bucket| {
        let (rows, partners) = match split {
            None => (bucket.len() - 1, 0),
            Some(split) => {
                let left = bucket.partition_point(|&item| item < split);
                (if left < bucket.len() { left } else { 0 }, left)
            }
        };
        let step = (PORTION / (bucket.len() - partners).max(1)).max(1);
        let starts = (0..rows).step_by(step);
        starts.map(move |start| {
            let rows = start..(start + step).min(rows);
            BucketPortion { place, bucket, rows, partners }
        })
    })
}

/// The keys of every `step`-th item.
fn keys_of(
    plan: &TablePlan,
    families: &Families<'_>,
    items: usize,
    step: usize,
) -> Result<Vec<u64>> {
    let (tables, rows) = (plan.tables(), items.div_ceil(step));
    let mut keys = Vec::new();
    let room = rows
        .checked_mul(tables)
        .is_some_and(|all| may_fail(|| keys.try_reserve_exact(all)).is_ok());
    if !room {
        let must = format!("fewer: {rows} items with so many keys each do not fit in memory");
        return Err(Error::parameter("tables", tables, must));
    }
    keys.resize(rows * tables, 0);
    let together = if step == 1 { TOGETHER } else { 1 };
    keys.par_chunks_mut(together * tables).enumerate().for_each_init(
        Vec::new,
        |values, (chunk, keys)| {
            let first = (chunk * together * step) as u32;
            plan.keys(families, first..first + (keys.len() / tables) as u32, values, keys)
        },
    );
    Ok(keys)
}
