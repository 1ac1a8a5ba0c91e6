//! Where to look for the pairs that satisfy a formula.
//!
//! A [`TableRanges`] is an AND of ranges of tables, called a group: its pairs share a table of each range. They are found by
//! one sort for each choice of a table from each range, by the keys of these tables together. One range is the plain search
//! of its tables. Each further range takes more sorting and lets fewer pairs meet: of 200,000 random items, 96 million
//! instead of 840 million under `or(10, and(and(8, bits), or(6, and(6, bits))))`.
//!
//! A formula is covered by groups such that no pair is left out, at the least cost that a sample of the items predicts.

use std::ops::Range;

use nearkin_kernels::any_equal;

use super::formula::{Formula, KeyHash, NO_KEY};

/// Ranges of tables, of each of which a pair shares one.
pub(super) type TableRanges = Vec<Range<usize>>;

/// What an entry costs for each key it is made of, and one more, in looks at a pair. Of 200,000 items with 50
/// keys each, an entry by one key took some 45 ns of processor time, sorting included, and a pair some 90 ns,
/// the exact comparison of 256 bits included.
const ENTRY: f64 = 0.25;

/// Choices of a group whose pairs are counted in the sample.
const COUNTED: usize = 16;

/// Groups that every pair of a formula is in.
#[derive(Debug, Clone)]
pub(super) struct TableSearch {
    pub(super) groups: Vec<TableRanges>,
    /// Whether a pair of a group satisfies the formula.
    pub(super) exact: bool,
    cost: f64,
}

impl TableSearch {
    /// Searches all of `tables` tables.
    pub(super) fn whole(tables: usize) -> Self {
        Self { groups: vec![vec![0..tables]], exact: true, cost: 0.0 }
    }

    /// The cheapest there is for a formula. Of an AND the cheapest part is enough; others are joined to it as
    /// long as that is cheaper.
    pub(super) fn cheapest(formula: &Formula, sample: &KeySample) -> Self {
        match formula {
            Formula::Tables(tables) => {
                let group = vec![tables.clone()];
                Self { cost: sample.cost(&group), groups: vec![group], exact: true }
            }
            Formula::Any(parts) => {
                let parts = parts.iter().map(|part| Self::cheapest(part, sample));
                let none = Self { groups: Vec::new(), exact: true, cost: 0.0 };
                parts.fold(none, |mut all, mut part| {
                    all.groups.append(&mut part.groups);
                    Self { exact: all.exact & part.exact, cost: all.cost + part.cost, ..all }
                })
            }
            Formula::All(parts) => {
                let mut parts: Vec<Self> =
                    parts.iter().map(|part| Self::cheapest(part, sample)).collect();
                parts.sort_by(|a, b| a.cost.total_cmp(&b.cost));
                let join = |best: Self, part| best.joined(&part, sample).unwrap_or(best.without());
                parts.into_iter().reduce(join).unwrap_or_else(|| Self::whole(sample.tables))
            }
        }
    }

    /// The pairs that are in a group of both, if that is cheaper.
    fn joined(&self, other: &Self, sample: &KeySample) -> Option<Self> {
        let choices = |groups: &[TableRanges]| groups.iter().map(choices).sum::<usize>();
        let most = sample.most_choices();
        if choices(&self.groups).saturating_mul(choices(&other.groups)) > most {
            return None;
        }
        let both = |a: &TableRanges| {
            let a = a.clone();
            other.groups.iter().map(move |b| [&a[..], &b[..]].concat())
        };
        let groups: Vec<TableRanges> = self.groups.iter().flat_map(both).collect();
        let cost = groups.iter().map(|group| sample.cost(group)).sum();
        let exact = self.exact & other.exact;
        (cost < self.cost).then_some(Self { groups, exact, cost })
    }

    /// This search, as one that finds more than what is asked for.
    fn without(self) -> Self {
        Self { exact: false, ..self }
    }

    /// Every choice of every group.
    pub(super) fn places(&self) -> Vec<TableChoice> {
        let of = |(group, ranges): (usize, &TableRanges)| {
            let all = choices(ranges);
            let ranges = ranges.clone();
            (0..all).map(move |choice| TableChoice { group, tables: choose(&ranges, choice) })
        };
        self.groups.iter().enumerate().flat_map(of).collect()
    }

    /// Whether two rows of keys meet here first.
    pub(super) fn meet(&self, place: &TableChoice, a: &[u64], b: &[u64]) -> bool {
        let shares = |range: Range<usize>| any_equal(&a[range.clone()], &b[range]);
        let mut ranges = self.groups[place.group].iter().zip(&place.tables);
        ranges.all(|(range, &table)| a[table] == b[table] && !shares(range.start..table))
            && !self.groups[..place.group].iter().any(|group| group.iter().cloned().all(shares))
    }
}

/// A choice of tables, one of each range of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableChoice {
    group: usize,
    tables: Vec<usize>,
}

impl TableChoice {
    /// The key of a row of keys here, if it has one.
    pub(super) fn key(&self, row: &[u64]) -> Option<u64> {
        key(&self.tables, row)
    }
}

fn key(tables: &[usize], row: &[u64]) -> Option<u64> {
    if let &[table] = tables {
        return Some(row[table]).filter(|key| key & NO_KEY == 0);
    }
    let mut hash = KeyHash::default();
    for &table in tables {
        if row[table] & NO_KEY != 0 {
            return None;
        }
        hash.take(row[table]);
    }
    Some(hash.key())
}

fn choices(group: &TableRanges) -> usize {
    group.iter().map(Range::len).fold(1, usize::saturating_mul)
}

/// The tables of a choice by its number.
fn choose(group: &TableRanges, mut number: usize) -> Vec<usize> {
    let mut tables: Vec<usize> = Vec::with_capacity(group.len());
    for range in group.iter().rev() {
        tables.push(range.start + number % range.len());
        number /= range.len();
    }
    tables.reverse();
    tables
}

/// The keys of some items, by which the pairs that will meet are estimated.
pub(super) struct KeySample {
    /// Row by row.
    pub(super) keys: Vec<u64>,
    pub(super) tables: usize,
    /// Items of the collection.
    pub(super) items: usize,
}

impl KeySample {
    /// More choices are not kept: beside the keys themselves they would be what takes memory.
    fn most_choices(&self) -> usize {
        (4 * self.tables).max(64)
    }

    /// What it costs to search a group: a look at every pair that meets, and for each choice one entry per item.
    fn cost(&self, group: &TableRanges) -> f64 {
        let all = choices(group);
        let counted = all.min(COUNTED);
        let pairs = (0..counted).map(|i| self.pairs(&choose(group, i * (all / counted))));
        let (pairs, part) = (pairs.sum::<f64>(), counted as f64 / all as f64);
        let rows = (self.keys.len() / self.tables).max(1);
        let scale = (self.items as f64 / rows as f64).powi(2);
        scale * pairs / part + all as f64 * self.items as f64 * ENTRY * (1 + group.len()) as f64
    }

    /// Pairs of the sample that share the keys of these tables.
    fn pairs(&self, tables: &[usize]) -> f64 {
        let rows = self.keys.chunks_exact(self.tables);
        let mut keys: Vec<u64> = rows.filter_map(|row| key(tables, row)).collect();
        keys.sort_unstable();
        let runs = keys.chunk_by(|a, b| a == b).map(|run| run.len() as f64);
        runs.map(|run| run * (run - 1.0) / 2.0).sum()
    }
}
