//! Fewer tables, and several looks into each.
//!
//! As in the plain tables of [`cascade`](super::cascade), an item stands in each table under the hash of its values there.
//! But the first item of a pair looks under more keys than its own: it takes the rows of values that a close item is likely
//! to have ([`ProbeFamily`]), and every item under one of them is a candidate. With b tables of r functions and T probes, a
//! pair is found with chance 1 − (1 − p)^b, where p is [`ProbeFamily::probed_agreement`] of r and T.
//!
//! A pair that meets in several tables is compared each time. To know where it met before would take all keys of all items,
//! which is what fewer tables avoid.

use nearkin_kernels::may_fail;
use rayon::prelude::*;

use super::KEY_BITS;
use super::bucket_table::{BucketTable, KeyFilter};
use super::cascade::CandidateCounts;
use crate::family::hash::mix64;
use crate::family::probe::{Doubt, ProbeChange, ProbePattern};
use crate::family::{INFINITY, ProbeFamily};
use crate::space::{ClosePair, JoinQuery, PairBuffer, PairSink, Space};
use crate::{Error, Result};

/// Items that are hashed together, and then looked up together.
const TOGETHER: usize = 240;

/// Functions that are evaluated together, where their tables' keys fit: the vectors pass by less often.
const FUNCTIONS: usize = 64;

/// Keys of probes that are held.
const HELD: usize = 1 << 24;

/// How many tables, functions and probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableShape {
    /// How many tables.
    pub tables: usize,
    /// Functions of each.
    pub rows: usize,
    /// Buckets of each table that an item looks into; the first is its own.
    pub probes: usize,
}

/// Tables of one family for the items of a collection.
pub struct ProbedTables<'a> {
    family: &'a dyn ProbeFamily,
    shape: TableShape,
    pattern: ProbePattern,
    /// Keys that an item looks under in a table: there may be fewer than were asked for.
    looks: usize,
    items: usize,
}

impl<'a> ProbedTables<'a> {
    /// Tables for items 0..`items`. Functions are numbered table by table from 0.
    ///
    /// # Errors
    /// When a number is 0, or there are 2^32 items or more.
    pub fn new(family: &'a dyn ProbeFamily, shape: TableShape, items: usize) -> Result<Self> {
        for (name, value) in
            [("tables", shape.tables), ("rows", shape.rows), ("probes", shape.probes)]
        {
            if value == 0 {
                return Err(Error::parameter(name, value, "at least 1"));
            }
        }
        if u32::try_from(items).is_err() {
            return Err(Error::parameter("items", items, "fewer than 2^32"));
        }
        let pattern = ProbePattern::new(family.doubt(), shape.rows, shape.probes);
        let looks = 1 + pattern.sets().count();
        Ok(Self { family, shape, pattern, looks, items })
    }

    /// Hands on all pairs that meet and reach the limit, with their exact value. Pairs that meet again count again, and
    /// may come again.
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
            let must = format!("at least {}, as many as are hashed", self.items);
            return Err(Error::parameter("items", space.len(), must));
        }
        let mut counts = CandidateCounts::default();
        let mut keys = Vec::new();
        let held = HELD / (self.items * self.looks).max(1);
        let together = held.min(FUNCTIONS / self.shape.rows).max(1);
        for first in (0..self.shape.tables).step_by(together) {
            let tables = together.min(self.shape.tables - first);
            self.put_keys(first, tables, join, &mut keys)?;
            let lookups: Vec<ProbeTable> = (0..tables)
                .into_par_iter()
                .map(|table| self.lookup(&keys, table, tables, join.split))
                .collect();
            counts = counts + self.look_up(&keys, &lookups, space, join, found)?;
        }
        Ok(counts)
    }

    /// Computes the keys under which items look in some tables, item by item and table by table.
    fn put_keys(
        &self,
        first: usize,
        tables: usize,
        join: &JoinQuery<'_>,
        keys: &mut Vec<u64>,
    ) -> Result<()> {
        let (rows, each) = (self.shape.rows, tables * self.looks);
        let (from, functions) = (first * rows, tables * rows);
        let missing = (self.items * each).saturating_sub(keys.len());
        if may_fail(|| keys.try_reserve_exact(missing)).is_err() {
            let must = format!("fewer: the keys of {} items do not fit in memory", self.items);
            return Err(Error::parameter("probes", self.looks, must));
        }
        keys.resize(self.items * each, NO_KEY);
        let blocks = keys.par_chunks_mut(TOGETHER * each).enumerate();
        blocks.try_for_each_init(
            || (Vec::new(), Vec::new(), ProbeKeys::default()),
            |(values, margins, maker), (block, keys)| {
                if (join.stopped)() {
                    return Err(Error::Interrupted);
                }
                let (start, count) = (block * TOGETHER, keys.len() / each);
                let items = start as u32..(start + count) as u32;
                values.resize(count * functions, 0);
                margins.resize(count * functions, 0.0);
                self.family.hash_margins(items, from, functions, values, margins);
                let of_tables = values.chunks_exact(rows).zip(margins.chunks_exact(rows));
                for ((values, margins), keys) in of_tables.zip(keys.chunks_exact_mut(self.looks)) {
                    maker.fill(self.family.doubt(), &self.pattern, values, margins, keys);
                }
                Ok(())
            },
        )
    }

    /// The items that can be found in a table, by their own keys there.
    fn lookup(&self, keys: &[u64], table: usize, tables: usize, split: Option<u32>) -> ProbeTable {
        let first = split.unwrap_or(0);
        let rows = keys.chunks_exact(tables * self.looks).skip(first as usize);
        ProbeTable::new(first, rows.len(), rows.map(|row| row[table * self.looks]))
    }

    /// Compares items with those that they find in some tables.
    fn look_up(
        &self,
        keys: &[u64],
        lookups: &[ProbeTable],
        space: &dyn Space,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<CandidateCounts> {
        let asking = join.split.map_or(self.items, |split| self.items.min(split as usize)) as u32;
        let each = lookups.len() * self.looks;
        let tables = lookups.par_iter().enumerate();
        let blocks = tables.flat_map(|(table, lookup)| {
            // Items with equal keys look mostly for the same others, which are still in the cache then.
            let mut order: Vec<(u64, u32)> = (0..asking)
                .map(|item| (keys[item as usize * each + table * self.looks], item))
                .collect();
            order.par_sort_unstable();
            let blocks: Vec<Vec<(u64, u32)>> = order.chunks(TOGETHER).map(<[_]>::to_vec).collect();
            blocks.into_par_iter().map(move |order| (table, lookup, order))
        });
        let compare = |(table, lookup, order): (usize, &ProbeTable, Vec<(u64, u32)>)| {
            let (mut pairs, mut counts) = (PairBuffer::new(found), CandidateCounts::default());
            for (_, a) in order {
                if (join.stopped)() {
                    return Err(Error::Interrupted);
                }
                let least = join.split.unwrap_or(a + 1);
                let row = &keys[a as usize * each..][..each];
                // Of the tables at hand, the first in which two items meet hands them on.
                let met_before = |b: u32| {
                    let others = &keys[b as usize * each..][..table * self.looks];
                    let tables = row.chunks_exact(self.looks).zip(others.chunks_exact(self.looks));
                    tables
                        .into_iter()
                        .any(|(looks, other)| other[0] != NO_KEY && looks.contains(&other[0]))
                };
                let looks = &row[table * self.looks..][..self.looks];
                for &key in looks.iter().filter(|&&key| lookup.may_have(key)) {
                    for b in lookup.items(key, least) {
                        counts.verified += 1;
                        if let Some(value) = space.reaching(a, b, join.limit)
                            && !met_before(b)
                        {
                            pairs.push(ClosePair { a, b, value });
                        }
                    }
                }
            }
            counts.candidates = counts.verified;
            pairs.finish().map(|_| counts)
        };
        blocks.map(compare).try_reduce(CandidateCounts::default, |a, b| Ok(a + b))
    }
}

/// Stands for a key where there is none.
const NO_KEY: u64 = u64::MAX;

/// Makes the keys of an item in a table. A key is a hash of a sum with one number per value, so a changed value takes one
/// addition.
#[derive(Default)]
struct ProbeKeys {
    changes: Vec<ProbeChange>,
    differences: Vec<u64>,
}

impl ProbeKeys {
    fn fill(
        &mut self,
        doubt: Doubt,
        pattern: &ProbePattern,
        values: &[u64],
        margins: &[f32],
        keys: &mut [u64],
    ) {
        if values.contains(&INFINITY) {
            return keys.fill(NO_KEY);
        }
        let numbers = values.iter().enumerate().map(|(function, &value)| number(function, value));
        let own = numbers.fold(0, u64::wrapping_add);
        keys[0] = key(own);
        pattern.changes(margins, &mut self.changes);
        self.differences.clear();
        self.differences.extend(self.changes.iter().map(|change| {
            let (function, value) = (change.function(), values[change.function()]);
            number(function, change.value(doubt, value)).wrapping_sub(number(function, value))
        }));
        for (to, set) in keys[1..].iter_mut().zip(pattern.sets()) {
            let of = |&rank: &u8| self.differences[usize::from(rank)];
            *to = key(set.iter().map(of).fold(own, u64::wrapping_add));
        }
    }
}

fn number(function: usize, value: u64) -> u64 {
    mix64(value.wrapping_add((function as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)), 1)
}

fn key(sum: u64) -> u64 {
    mix64(sum, 0) >> (64 - KEY_BITS)
}

/// The items that can be found in a table.
struct ProbeTable {
    table: BucketTable,
    filter: KeyFilter,
    /// The item that is number 0 in the table.
    first: u32,
}

impl ProbeTable {
    /// A table of `items` items from `first` on, by their own keys.
    fn new(first: u32, items: usize, keys: impl Iterator<Item = u64>) -> Self {
        let mut lookup = Self {
            table: BucketTable::with_capacity(items),
            filter: KeyFilter::with_capacity(items),
            first,
        };
        for key in keys {
            let key = (key != NO_KEY).then_some(key);
            lookup.table.push(key);
            key.into_iter().for_each(|key| lookup.filter.insert(key));
        }
        lookup
    }

    /// Whether somebody may have this key.
    fn may_have(&self, key: u64) -> bool {
        key != NO_KEY && self.filter.may_have(key)
    }

    /// The items from `least` on that have this key, the last first.
    fn items(&self, key: u64, least: u32) -> impl Iterator<Item = u32> {
        let items = self.table.items(key).map(|item| self.first + item);
        items.take_while(move |&item| item >= least)
    }
}
