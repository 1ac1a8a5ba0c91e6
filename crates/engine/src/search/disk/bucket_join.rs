//! From buckets to matches: every pair that shares a key is compared, once, exactly.
//!
//! **A pair is met in the first table it shares, and never again.** Looking at two rows of keys is cheaper than
//! remembering pairs, so candidates are never stored.
//!
//! **The first look** rules most candidates out before their elements are touched. A record has one byte of every value
//! of its sketch. If far fewer bytes agree than for a pair at the threshold, the pair is dropped. There are no halves
//! of bands, so bands that keep a promise of 0.99 find a pair at the threshold a little more surely (0.9923 at 0.8).
//! This surplus, and at least a hundredth of the allowed misses, is what the first look may lose, so the promise
//! stands. With that hundredth alone, 417,598 pairs of the licence texts at 0.8 had to be compared instead of 318,161,
//! and the same pairs were found. Then bitmaps rule out most of the other pairs for certain. On the licence texts at
//! 0.8, 863,649 pairs share a key, 318,161 of them agree in enough bytes, and about 98,000 are similar.
//!
//! **Buckets are compared in tiles.** The heads of up to 128 members (keys and bytes, 160 bytes for 16 bands of 6) are
//! brought together. One kernel compares a head with all of them, both the keys of earlier tables and the bytes,
//! without a branch. It looks at 32 bits of each key, so one pair in 2³² is taken for one that was met before, and is
//! lost.
//!
//! A head is the start of its record and is fetched from there shortly before it is needed. Only records that may be on
//! disk have a second copy of their head in memory. Earlier, one thread copied all heads in the order of the first
//! table's buckets, so that members of a bucket lay together. Without that copy, and with the other changes made at the
//! same time, loading the candidates of the licence texts took 12 ms instead of 15, and comparing them took no longer
//! than before.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::AddAssign;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::candidates::{KEY_PARTS, each_bucket};
use crate::cluster::UnionFind;
use crate::item::Sides;
use crate::matches::{CopyValues, PairOwners, SimilarGroups, SimilarGroupsBuilder, Stats};
use crate::observe::Observer;
use crate::parallel::in_any_order;
use crate::spill::{Budget, Cache, Lists};
use crate::verify::{Overlap, Verifier};
use crate::{Error, Result};

use super::candidate_store::CandidateStore;
use super::exact_batch::ExactBatch;

/// A thread compares this many members of a bucket with as many others at a time; more if a side would fall into more than
/// [`PIECES`] pieces.
const SIDE: usize = 128;
const PIECES: usize = 512;

/// Portions that come between asking for the first few heads of one and looking at them.
const AHEAD: usize = 4;
const FEW: usize = 4;

/// Pairs that a thread finds before it hands them over.
const HANDFUL: usize = 1 << 14;

/// Clusters of one bucket from which on they are compared on all threads.
const MANY: usize = 512;

/// The candidates and what is needed to compare them.
pub(in crate::search) struct BucketJoin {
    /// The buckets of each partition of keys.
    pub(super) buckets: Lists<u32>,
    pub(super) sides: Option<Sides>,
    pub(super) verifier: Verifier,
    /// Values of two sketches that must agree for an exact comparison to be worth it.
    pub(super) agreement: usize,
    pub(super) texts: CandidateStore,
    pub(super) budget: Budget,
    pub(super) threads: usize,
}

/// Pairs met, and those of them that were compared exactly.
#[derive(Debug, Clone, Copy, Default)]
struct Comparisons {
    candidates: u64,
    exactly: u64,
}

impl AddAssign for Comparisons {
    fn add_assign(&mut self, other: Self) {
        self.candidates += other.candidates;
        self.exactly += other.exactly;
    }
}

/// Records that a thread has at hand: one for the outer loop, many for the inner one.
struct ThreadRecords {
    one: Cache<u64>,
    many: Cache<u64>,
    one_head: Cache<u64>,
    many_heads: Cache<u64>,
    /// Heads one behind the other, and the numbers of those that agree with another.
    heads: Vec<u64>,
    agreeing: Vec<u32>,
    batch: ExactBatch,
}

impl BucketJoin {
    fn at_hand(&self) -> ThreadRecords {
        let share = self.budget.share(1) / 2 / self.threads.max(1);
        ThreadRecords {
            one: Cache::one(),
            many: Cache::new(share),
            one_head: Cache::one(),
            many_heads: Cache::new(share),
            heads: Vec::new(),
            agreeing: Vec::new(),
            batch: ExactBatch::default(),
        }
    }

    /// Which of these heads agree so well with one that the two may be similar, those left out that share a key of an
    /// earlier table: such pairs were met there.
    fn agreeing(
        &self,
        table: usize,
        head: &[u64],
        heads: &[u64],
        agreeing: &mut Vec<u32>,
    ) -> Comparisons {
        agreeing.clear();
        let layout = self.texts.layout;
        let candidates = layout.agreeing(head, heads, table, self.agreement, agreeing) as u64;
        Comparisons { candidates, exactly: agreeing.len() as u64 }
    }

    /// Like [`agreeing`](Self::agreeing), for heads that do not stand side by side, each with its number.
    fn agreeing_of<'h>(
        &self,
        table: usize,
        head: &[u64],
        heads: impl Iterator<Item = (u32, &'h [u64])>,
        agreeing: &mut Vec<u32>,
    ) -> Comparisons {
        let (mut numbers, mut compared) = (Vec::new(), Comparisons::default());
        for (number, other) in heads {
            compared += self.agreeing(table, head, other, agreeing);
            numbers.extend(agreeing.iter().map(|_| number));
        }
        *agreeing = numbers;
        compared
    }

    /// Every similar pair of groups.
    pub(super) fn similar_groups(
        &self,
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<SimilarGroups> {
        let builder = SimilarGroupsBuilder::new(
            &self.texts.places,
            self.texts.len(),
            PairOwners::Both,
            &self.budget,
        );
        // What a thread has at hand, has found and has counted serves the next tiles too.
        let free = Mutex::new(Vec::new());
        let lock = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let compare = |tiles: Vec<Tile<'_>>| {
            let none = || (self.at_hand(), Vec::new(), Comparisons::default());
            let (mut at, mut found, mut compared) = lock().pop().unwrap_or_else(none);
            for (i, tile) in tiles.iter().enumerate() {
                let later = tiles.get(i + AHEAD).into_iter();
                let later = later.flat_map(|later| &later.columns[..later.columns.len().min(FEW)]);
                later.for_each(|&group| self.texts.fetch_head(group));
                if observer.stopped() {
                    return Err(Error::Interrupted);
                }
                self.compare(tile, &mut at, &mut found, &mut compared)?;
                if found.len() > HANDFUL {
                    builder.add(found.drain(..))?;
                }
            }
            lock().push((at, found, compared));
            Ok(())
        };
        let mut next = 0;
        while let Some(round) = self.round(&mut next, 1 << 20, false)? {
            let all = round.iter().flat_map(|(table, buckets)| self.tiles(*table, buckets));
            in_any_order(self.threads, TileBatches { all }.map(Ok), compare)?;
        }
        let mut compared = Comparisons::default();
        for (_, found, some) in free.into_inner().unwrap_or_else(PoisonError::into_inner) {
            builder.add(found)?;
            compared += some;
        }
        self.count(stats, compared, builder.pairs());
        let overlap = Overlap::identical(1);
        let are_similar = self.verifier.limit().reached(self.verifier.measure(), overlap);
        let copies = CopyValues::Same(are_similar.then(|| self.verifier.value(overlap)));
        builder.finish(copies, self.threads)
    }

    /// The buckets of the next partitions, each with its table, with `about` members in all, and of one table where that is
    /// asked for. The number does not depend on the memory limit.
    fn round(
        &self,
        next: &mut usize,
        about: usize,
        is_of_one_table: bool,
    ) -> Result<Option<Round<'_>>> {
        let (mut round, mut members) = (Vec::new(), 0);
        let mut cache = Cache::one();
        let end = match is_of_one_table {
            true => (*next + 1).next_multiple_of(KEY_PARTS).min(self.buckets.len()),
            false => self.buckets.len(),
        };
        while *next < end && members < about {
            let buckets = match self.buckets.in_memory(*next) {
                Some(buckets) => Cow::Borrowed(buckets),
                None => Cow::Owned(self.buckets.get(*next, &mut cache)?.to_vec()),
            };
            members += buckets.len();
            round.push((*next / KEY_PARTS, buckets));
            *next += 1;
        }
        Ok((!round.is_empty()).then_some(round))
    }

    /// Compares the pairs of a tile, and appends those that are similar.
    fn compare(
        &self,
        tile: &Tile<'_>,
        at: &mut ThreadRecords,
        found: &mut Vec<(u32, u32, f64)>,
        compared: &mut Comparisons,
    ) -> Result<()> {
        let ThreadRecords { one, many, one_head, many_heads, heads, agreeing, batch } = at;
        let Tile { rows, columns, is_square, .. } = *tile;
        // Heads are met again and again: they are brought together once.
        heads.clear();
        for (i, &group) in columns.iter().enumerate() {
            columns.get(i + FEW).into_iter().for_each(|&later| self.texts.fetch_head(later));
            heads.extend_from_slice(self.texts.head(group, many_heads)?);
        }
        let width = self.texts.layout.head_words();
        let mut records = Vec::new();
        for (i, &a) in rows.iter().enumerate() {
            let head = self.texts.head(a, one_head)?;
            let from = if is_square { i + 1 } else { 0 };
            let heads = &heads[from * width..];
            *compared += match &self.sides {
                None => self.agreeing(tile.table, head, heads, agreeing),
                Some(sides) => {
                    let others = (0u32..).zip(&columns[from..]).zip(heads.chunks_exact(width));
                    let across = others.filter(|&((_, &b), _)| sides.across(a, b));
                    let across = across.map(|((number, _), other)| (number, other));
                    self.agreeing_of(tile.table, head, across, agreeing)
                }
            };
            if agreeing.is_empty() {
                continue;
            }
            let column = |number: u32| from + number as usize;
            let fetch = |&number: &u32| self.texts.fetch(columns[column(number)]);
            records.clear();
            records.extend(agreeing.iter().map(fetch));
            let own = self.texts.body(a, one)?;
            for (&number, record) in agreeing.iter().zip(&records) {
                let column = column(number);
                let is_close = batch.takes_any(tile) || {
                    let other = match record {
                        Some(record) => self.texts.layout.body(record),
                        None => self.texts.body(columns[column], many)?,
                    };
                    own.shared_needed(other, &self.verifier).is_some()
                };
                if is_close {
                    batch.pairs.push((tile.row(i), column as u32));
                }
            }
            if batch.is_full() {
                self.compare_batch(tile, batch, one, many, found)?;
            }
        }
        self.compare_batch(tile, batch, one, many, found)
    }

    fn count(&self, stats: &mut Stats, compared: Comparisons, similar: u64) {
        stats.in_candidates = self.texts.compared as u64;
        stats.candidates = compared.candidates;
        stats.verified = compared.exactly;
        stats.similar = similar;
    }

    /// All buckets worth comparing, cut so that no thread is left with a giant.
    fn tiles<'a>(&'a self, table: usize, buckets: &'a [u32]) -> impl Iterator<Item = Tile<'a>> {
        let worth = |bucket: &&[u32]| self.sides.as_ref().is_none_or(|sides| sides.both(bucket));
        each_bucket(buckets).filter(worth).flat_map(move |bucket| {
            let side = SIDE.max(bucket.len().div_ceil(PIECES));
            bucket.chunks(side).enumerate().flat_map(move |(number, rows)| {
                let others = bucket[number * side..].chunks(side);
                others.enumerate().map(move |(i, columns)| Tile {
                    table,
                    rows,
                    columns,
                    is_square: i == 0,
                })
            })
        })
    }

    /// The connected components of all similar pairs, without looking at pairs that are already known
    /// to be connected. For every group its component's smallest member.
    ///
    /// Round by round: each bucket, on its own, joins what the rounds before left apart. What a bucket
    /// does depends on those alone, so the work is the same at any number of threads. A round is of one table: pairs that
    /// share an earlier key are left out, so what they joined has to be known. Otherwise 8,000 near-copies were as many
    /// classes in each table, and took 7 s.
    pub(super) fn components(
        &self,
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Vec<u32>> {
        let mut sets = UnionFind::new(self.texts.places.len());
        let (mut compared, mut joined) = (Comparisons::default(), 0);
        let mut next = 0;
        while let Some(round) = self.round(&mut next, 1 << 17, true)? {
            let buckets: Vec<(usize, &[u32])> = round
                .iter()
                .flat_map(|(table, buckets)| each_bucket(buckets).map(|bucket| (*table, bucket)))
                .collect();
            let results: Vec<(Vec<(u32, u32)>, Comparisons)> = buckets
                .par_iter()
                .with_min_len(16)
                .map_init(
                    || self.at_hand(),
                    |at, &(table, bucket)| {
                        if observer.stopped() {
                            return Err(Error::Interrupted);
                        }
                        self.join_bucket(table, bucket, &sets, at, observer)
                    },
                )
                .collect::<Result<_>>()?;
            for (joins, count) in results {
                compared += count;
                joined += joins.len() as u64;
                joins.into_iter().for_each(|(a, b)| sets.join(a, b));
            }
        }
        self.count(stats, compared, joined);
        Ok((0..self.texts.places.len() as u32).map(|group| sets.find(group)).collect())
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
        at: &mut ThreadRecords,
        observer: &dyn Observer,
    ) -> Result<(Vec<(u32, u32)>, Comparisons)> {
        let (mut joins, mut compared) = (Vec::new(), Comparisons::default());
        let mut roots = bucket.iter().map(|&member| before.root(member));
        let first = roots.next();
        if roots.all(|root| Some(root) == first) {
            return Ok((joins, compared));
        }
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut class_of: HashMap<u32, usize> = HashMap::new();
        for &member in bucket {
            let class = *class_of.entry(before.root(member)).or_insert(classes.len());
            if class == classes.len() {
                classes.push(Vec::new());
            }
            classes[class].push(member);
        }
        let mut clusters: Vec<Vec<u32>> = Vec::new();
        for class in classes {
            let agreement = |at: &mut ThreadRecords, other: &Vec<u32>| {
                if observer.stopped() {
                    return Err(Error::Interrupted);
                }
                self.agreement(table, &class, other, at)
            };
            let agreements: Vec<(Option<(u32, u32)>, Comparisons)> = if clusters.len() < MANY {
                clusters.iter().map(|other| agreement(at, other)).collect::<Result<_>>()?
            } else {
                let agreements = clusters.par_iter().map_init(|| self.at_hand(), agreement);
                agreements.collect::<Result<_>>()?
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
        Ok((joins, compared))
    }

    /// The first pair of two clusters that is similar, and the comparisons it took to find it.
    fn agreement(
        &self,
        table: usize,
        class: &[u32],
        other: &[u32],
        at: &mut ThreadRecords,
    ) -> Result<(Option<(u32, u32)>, Comparisons)> {
        let mut compared = Comparisons::default();
        let ThreadRecords { one, many, one_head, many_heads, agreeing, .. } = at;
        for &a in class {
            let head = self.texts.head(a, one_head)?;
            for &b in other {
                // A pair that shared an earlier key was compared there, and did not agree.
                compared += self.agreeing(table, head, self.texts.head(b, many_heads)?, agreeing);
                if agreeing.is_empty() {
                    continue;
                }
                let (own, other) = (self.texts.body(a, one)?, self.texts.body(b, many)?);
                if own.similar(other, &self.verifier).is_some() {
                    return Ok((Some((a.min(b), a.max(b))), compared));
                }
            }
        }
        Ok((None, compared))
    }
}

/// The buckets of several partitions, each with its table.
type Round<'a> = Vec<(usize, Cow<'a, [u32]>)>;

/// Some members of a bucket, and those they are compared with: themselves, or others.
pub(super) struct Tile<'a> {
    table: usize,
    rows: &'a [u32],
    columns: &'a [u32],
    is_square: bool,
}

impl Tile<'_> {
    /// Pairs, about.
    fn pairs(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// How many sets there are: the columns, and the rows behind them where those are others.
    pub(super) fn sets(&self) -> usize {
        self.columns.len() + if self.is_square { 0 } else { self.rows.len() }
    }

    /// Which of the sets a row is.
    fn row(&self, row: usize) -> u32 {
        (if self.is_square { row } else { self.columns.len() + row }) as u32
    }

    /// The group of a set.
    pub(super) fn group(&self, set: u32) -> u32 {
        match self.columns.get(set as usize) {
            Some(group) => *group,
            None => self.rows[set as usize - self.columns.len()],
        }
    }
}

/// Tiles that a thread takes on together: enough to pay, and few enough that no thread waits long for another.
struct TileBatches<I> {
    all: I,
}

impl<'a, I: Iterator<Item = Tile<'a>>> Iterator for TileBatches<I> {
    type Item = Vec<Tile<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        const PORTIONS: usize = 1 << 8;
        const PAIRS: usize = 1 << 14;
        let mut together = Vec::with_capacity(PORTIONS);
        let mut pairs = 0;
        while together.len() < PORTIONS
            && pairs < PAIRS
            && let Some(tile) = self.all.next()
        {
            pairs += tile.pairs();
            together.push(tile);
        }
        (!together.is_empty()).then_some(together)
    }
}
