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
use std::ops::AddAssign;
use std::sync::{Mutex, PoisonError};

use crate::candidates::{KEY_PARTS, each_bucket};
use crate::item::Sides;
use crate::join::sets::SetJoinCounts;
use crate::matches::{CopyValues, PairOwners, SimilarGroups, SimilarGroupsBuilder, Stats};
use crate::observe::Observer;
use crate::parallel::in_any_order;
use crate::spill::{Budget, Cache, Lists};
use crate::verify::{Overlap, Verifier};
use crate::{Error, Result};

use super::candidate_store::CandidateStore;
use super::exact_batch::ExactBatch;
use super::heavy_buckets::HeavyClasses;

/// A thread compares this many members of a bucket with as many others at a time; more if a side would fall into more than
/// [`PIECES`] pieces.
const SIDE: usize = 128;
const PIECES: usize = 512;

/// Portions that come between asking for the first few heads of one and looking at them.
const AHEAD: usize = 4;
const FEW: usize = 4;

/// Pairs that a thread finds before it hands them over.
const HANDFUL: usize = 1 << 14;

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
pub(super) struct Comparisons {
    pub(super) candidates: u64,
    pub(super) exactly: u64,
}

impl AddAssign for Comparisons {
    fn add_assign(&mut self, other: Self) {
        self.candidates += other.candidates;
        self.exactly += other.exactly;
    }
}

impl From<SetJoinCounts> for Comparisons {
    fn from(counts: SetJoinCounts) -> Self {
        Self { candidates: counts.candidates, exactly: counts.verified }
    }
}

/// Records that a thread has at hand: one for the outer loop, many for the inner one.
pub(super) struct ThreadRecords {
    pub(super) one: Cache<u64>,
    pub(super) many: Cache<u64>,
    pub(super) one_head: Cache<u64>,
    pub(super) many_heads: Cache<u64>,
    /// Heads one behind the other, and the numbers of those that agree with another.
    heads: Vec<u64>,
    pub(super) agreeing: Vec<u32>,
    batch: ExactBatch,
}

impl BucketJoin {
    pub(super) fn at_hand(&self) -> ThreadRecords {
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
    pub(super) fn agreeing(
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
        let heavy = self.heavy_classes()?;
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
                self.compare(tile, &heavy, &mut at, &mut found, &mut compared)?;
                if found.len() > HANDFUL {
                    builder.add(found.drain(..))?;
                }
            }
            lock().push((at, found, compared));
            Ok(())
        };
        let mut next = 0;
        while let Some(round) = self.round(&mut next, 1 << 20, false)? {
            let all = round.iter().flat_map(|(table, buckets)| self.tiles(*table, buckets, &heavy));
            in_any_order(self.threads, TileBatches { all }.map(Ok), compare)?;
        }
        let mut compared = Comparisons::default();
        for (_, found, some) in free.into_inner().unwrap_or_else(PoisonError::into_inner) {
            builder.add(found)?;
            compared += some;
        }
        compared += self.pairs_of_classes(&heavy, &builder, observer)?.into();
        self.count(stats, compared, builder.pairs());
        let overlap = Overlap::identical(1);
        let are_similar = self.verifier.limit().reached(self.verifier.measure(), overlap);
        let copies = CopyValues::Same(are_similar.then(|| self.verifier.value(overlap)));
        builder.check_space()?;
        builder.finish(copies, self.threads)
    }

    /// The buckets of the next partitions, each with its table, with `about` members in all, and of one table where that is
    /// asked for. The number does not depend on the memory limit.
    pub(super) fn round(
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
        heavy: &HeavyClasses,
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
            let column = |number: u32| from + number as usize;
            if !heavy.is_empty() {
                let before = agreeing.len();
                agreeing.retain(|&number| !heavy.same(a, columns[column(number)]));
                compared.exactly -= (before - agreeing.len()) as u64;
            }
            if agreeing.is_empty() {
                continue;
            }
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

    pub(super) fn count(&self, stats: &mut Stats, compared: Comparisons, similar: u64) {
        stats.in_candidates = self.texts.compared as u64;
        stats.candidates = compared.candidates;
        stats.verified = compared.exactly;
        stats.similar = similar;
    }

    /// All buckets worth comparing, cut so that no thread is left with a giant.
    fn tiles<'a>(
        &'a self,
        table: usize,
        buckets: &'a [u32],
        heavy: &'a HeavyClasses,
    ) -> impl Iterator<Item = Tile<'a>> {
        let worth = |bucket: &&[u32]| {
            self.sides.as_ref().is_none_or(|sides| sides.both(bucket)) && !heavy.hold(bucket)
        };
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
