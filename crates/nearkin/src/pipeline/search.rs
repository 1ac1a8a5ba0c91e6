//! From buckets to matches: every pair that shares a key is compared, once, exactly.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::candidates::{Buckets, Keys};
use crate::cluster::UnionFind;
use crate::item::Sets;
use crate::verify::{Match, Overlap, Verifier};
use crate::{Error, Result};

use super::{Observer, Stats};

/// Comparisons that one thread takes on at a time.
const PORTION: usize = 1 << 14;

/// Clusters of one bucket from which on they are compared on all threads.
const MANY: usize = 512;

/// The candidates and what is needed to compare them.
pub(super) struct Search {
    keys: Keys,
    tables: Vec<Buckets>,
    sides: Option<Sides>,
    verifier: Verifier,
    loaded: Loaded,
}

/// The shingle sets of the candidates: `places` says where a group's set is.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) sets: Sets,
    pub(super) places: Vec<u32>,
}

/// Which inputs a group has items of.
pub(super) struct Sides(pub(super) Vec<u8>);

impl Sides {
    pub(super) const LEFT: u8 = 1;
    pub(super) const RIGHT: u8 = 2;

    /// Whether one of the two groups has an item on the left and the other one on the right.
    fn across(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.0[a as usize], self.0[b as usize]);
        (a & Self::LEFT != 0 && b & Self::RIGHT != 0)
            || (a & Self::RIGHT != 0 && b & Self::LEFT != 0)
    }

    /// Whether the groups together have items on both sides.
    fn both(&self, groups: &[u32]) -> bool {
        let all = groups.iter().fold(0, |sides, &group| sides | self.0[group as usize]);
        all == Self::LEFT | Self::RIGHT
    }
}

impl Search {
    /// Finds the buckets.
    pub(super) fn new(keys: Keys, sides: Option<Sides>, verifier: Verifier) -> Self {
        let tables = (0..keys.tables()).into_par_iter().map(|table| keys.buckets(table)).collect();
        Self { keys, tables, sides, verifier, loaded: Loaded::default() }
    }

    /// For every group, whether it is in a bucket worth comparing.
    pub(super) fn candidates(&self) -> Vec<bool> {
        let mut candidates = vec![false; self.keys.len()];
        let buckets = self.tables.iter().flat_map(Buckets::iter);
        for &group in buckets.filter(|bucket| self.worth(bucket)).flatten() {
            candidates[group as usize] = true;
        }
        candidates
    }

    fn worth(&self, bucket: &[u32]) -> bool {
        self.sides.as_ref().is_none_or(|sides| sides.both(bucket))
    }

    /// Takes the candidates' shingles.
    pub(super) fn provide(&mut self, loaded: Loaded) {
        self.loaded = loaded;
    }

    fn set(&self, group: u32) -> &[u64] {
        self.loaded.sets.get(self.loaded.places[group as usize] as usize)
    }

    /// What two groups of one cluster have in common.
    pub(super) fn overlap(&self, a: u32, b: u32) -> Overlap {
        if a == b {
            return self.verifier.identical();
        }
        self.verifier.overlap(self.set(a), self.set(b))
    }

    /// Every similar pair of groups, sorted.
    pub(super) fn matches(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<Vec<Match>> {
        let compared = AtomicU64::new(0);
        let portions: Vec<Portion<'_>> = self.portions().collect();
        let found: Vec<Vec<Match>> = portions
            .par_iter()
            .map(|portion| {
                if observer.stopped() {
                    return Err(Error::Interrupted);
                }
                let mut matches = Vec::new();
                let candidates =
                    portion.pairs().filter(|&(a, b)| self.is_candidate(a, b, portion.table));
                let mut count = 0;
                for (a, b) in candidates {
                    count += 1;
                    let overlap = self.verifier.similar(self.set(a), self.set(b));
                    matches.extend(overlap.map(|overlap| Match { a, b, overlap }));
                }
                compared.fetch_add(count, Ordering::Relaxed);
                Ok(matches)
            })
            .collect::<Result<_>>()?;
        let mut matches = found.concat();
        matches.par_sort_unstable_by_key(|found| (found.a, found.b));
        self.count(stats, compared.into_inner(), matches.len());
        Ok(matches)
    }

    fn is_candidate(&self, a: u32, b: u32, table: usize) -> bool {
        self.sides.as_ref().is_none_or(|sides| sides.across(a, b))
            && self.keys.first_shared(a, b, table)
    }

    fn count(&self, stats: &mut Stats, compared: u64, similar: usize) {
        stats.in_candidates = self.loaded.sets.len() as u64;
        stats.candidates = compared;
        stats.verified = compared;
        stats.similar = similar as u64;
    }

    /// All buckets, cut so that no thread is left with a giant.
    fn portions(&self) -> impl Iterator<Item = Portion<'_>> {
        let buckets = self.tables.iter().enumerate();
        let buckets =
            buckets.flat_map(|(table, buckets)| buckets.iter().map(move |bucket| (table, bucket)));
        buckets.filter(|(_, bucket)| self.worth(bucket)).flat_map(|(table, bucket)| {
            let rows = (PORTION / bucket.len()).max(1);
            let starts = (0..bucket.len()).step_by(rows);
            starts.map(move |start| Portion {
                table,
                bucket,
                rows: start..(start + rows).min(bucket.len()),
            })
        })
    }

    /// The connected components of all similar pairs, without looking at pairs that are already known
    /// to be connected. For every group its component's smallest member.
    ///
    /// Table by table: each bucket, on its own, joins what the tables before left apart. What a
    /// bucket does depends on those tables alone, so the work is the same at any number of threads.
    pub(super) fn components(
        &self,
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Vec<u32>> {
        let mut sets = UnionFind::new(self.keys.len());
        let (mut compared, mut joined) = (0, 0);
        for (table, buckets) in self.tables.iter().enumerate() {
            let buckets: Vec<&[u32]> = buckets.iter().collect();
            let results: Vec<(Vec<(u32, u32)>, u64)> = buckets
                .par_iter()
                .map(|bucket| {
                    if observer.stopped() {
                        return Err(Error::Interrupted);
                    }
                    Ok(self.join_bucket(table, bucket, &sets, observer))
                })
                .collect::<Result<_>>()?;
            if observer.stopped() {
                return Err(Error::Interrupted); // a bucket may have been left in the middle
            }
            for (joins, count) in results {
                compared += count;
                joined += joins.len();
                joins.into_iter().for_each(|(a, b)| sets.join(a, b));
            }
        }
        self.count(stats, compared, joined);
        Ok((0..self.keys.len() as u32).map(|group| sets.find(group)).collect())
    }

    /// The joins that a bucket adds to `before`, and the comparisons it took to find them.
    ///
    /// Members that are connected already form one class. Classes come one by one and are compared
    /// with the clusters so far, with each until a pair agrees: near-identical members take one
    /// comparison each.
    fn join_bucket(
        &self,
        table: usize,
        bucket: &[u32],
        before: &UnionFind,
        observer: &dyn Observer,
    ) -> (Vec<(u32, u32)>, u64) {
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut class_of: HashMap<u32, usize> = HashMap::new();
        for &member in bucket {
            let class = *class_of.entry(before.root(member)).or_insert(classes.len());
            if class == classes.len() {
                classes.push(Vec::new());
            }
            classes[class].push(member);
        }
        let (mut joins, mut compared) = (Vec::new(), 0);
        let mut clusters: Vec<Vec<u32>> = Vec::new();
        for class in classes {
            let agreement = |other: &Vec<u32>| self.agreement(table, &class, other, observer);
            let agreements: Vec<(Option<(u32, u32)>, u64)> = if clusters.len() < MANY {
                clusters.iter().map(agreement).collect()
            } else {
                clusters.par_iter().map(agreement).collect()
            };
            let mut cluster = class.clone();
            let mut agreements = agreements.into_iter();
            clusters.retain_mut(|other| {
                let (agree, count) = agreements.next().unwrap_or_default();
                compared += count;
                joins.extend(agree);
                if agree.is_some() {
                    cluster.append(other);
                }
                agree.is_none()
            });
            clusters.push(cluster);
        }
        (joins, compared)
    }

    /// The first pair of two clusters that is similar, and the comparisons it took to find it.
    fn agreement(
        &self,
        table: usize,
        class: &[u32],
        other: &[u32],
        observer: &dyn Observer,
    ) -> (Option<(u32, u32)>, u64) {
        let mut compared = 0;
        let pairs = class.iter().flat_map(|&a| other.iter().map(move |&b| (a.min(b), a.max(b))));
        // A pair that shared an earlier key was compared there, and did not agree.
        let mut fresh = pairs.filter(|&(a, b)| self.keys.first_shared(a, b, table));
        let agree = fresh.find(|&(a, b)| {
            compared += 1;
            !observer.stopped() && self.verifier.similar(self.set(a), self.set(b)).is_some()
        });
        (agree, compared)
    }
}

/// Some rows of a bucket's pairs.
struct Portion<'a> {
    table: usize,
    bucket: &'a [u32],
    rows: std::ops::Range<usize>,
}

impl Portion<'_> {
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let bucket = self.bucket;
        self.rows.clone().flat_map(move |i| bucket[i + 1..].iter().map(move |&b| (bucket[i], b)))
    }
}
