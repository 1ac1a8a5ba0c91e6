//! Which groups are similar to which: gathered by many threads, in memory as far as they may use it, and then
//! looked up by group.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nearkin_kernels::sort_entries;

use crate::Result;
use crate::audit::Audit;
use crate::spill::{Block, Cache, Joined, Lists, Partitions};

use super::collection::Members;
use super::kept::NOWHERE;
use super::memory::Budget;
use super::resume::{Loader, Saver};
use super::watch::Truth;
use super::{Collection, Settings};

/// Partitions of matches.
const PARTS: usize = 256;

/// Pairs that go to their partitions together.
const MANY: usize = 1 << 15;

/// Similar groups of each group that has a record: three numbers each, the other group and the halves of the
/// value of the pair.
pub(super) struct Partners {
    pub(super) lists: Lists<u32>,
    pub(super) places: Arc<Vec<u32>>,
    /// The number of elements of each group, where what copies have in common depends on it.
    pub(super) sizes: Option<Vec<u32>>,
}

impl Partners {
    /// How much of what there is to find for drawn items was found.
    pub(super) fn audit(
        &self,
        truth: &Truth,
        settings: &Settings,
        collection: &Collection,
        members: Option<&Members>,
    ) -> Result<Option<Audit>> {
        let mut cache = Cache::one();
        settings.audit(truth, collection, members, |group, others| {
            let found: Vec<u32> = self.of(group, &mut cache)?.map(|partner| partner.0).collect();
            Ok(others.iter().map(|other| found.binary_search(other).is_ok()).collect())
        })
    }

    pub(super) fn save(&self, save: &mut Saver) -> Result<()> {
        save.lists(&self.lists)?;
        save.numbers(&self.places)?;
        save.number(u64::from(self.sizes.is_some()))?;
        self.sizes.as_ref().map_or(Ok(()), |sizes| save.numbers(sizes))
    }

    pub(super) fn load(load: &mut Loader, limit: usize) -> Option<Self> {
        Some(Self {
            lists: load.lists(limit)?,
            places: load.numbers()?.into(),
            sizes: match load.number()? {
                0 => None,
                _ => Some(load.numbers()?),
            },
        })
    }

    /// How many groups are similar to this one.
    pub(super) fn count(&self, group: u32) -> usize {
        match self.places[group as usize] {
            NOWHERE => 0,
            place => self.lists.length(place as usize) / 3,
        }
    }

    /// The groups that are similar to this one, ascending, and the value of each pair: its similarity, or its
    /// distance where that is limited.
    pub(super) fn of<'a>(
        &'a self,
        group: u32,
        cache: &'a mut Cache<u32>,
    ) -> Result<impl Iterator<Item = (u32, f64)>> {
        let list = match self.places[group as usize] {
            NOWHERE => &[],
            place => self.lists.get(place as usize, cache)?,
        };
        let partners = list.as_chunks().0.iter();
        Ok(partners.map(|&[other, high, low]| {
            (other, f64::from_bits(u64::from(high) << 32 | u64::from(low)))
        }))
    }
}

/// The pairs that threads have found so far.
pub(super) struct Gathering<'a> {
    matches: Mutex<Partitions<2>>,
    pairs: AtomicU64,
    places: &'a Arc<Vec<u32>>,
    /// How many groups have a place.
    records: usize,
    /// Places of a partition: the first bits of a place are its partition.
    shift: u32,
    budget: &'a Budget,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(places: &'a Arc<Vec<u32>>, records: usize, budget: &'a Budget) -> Self {
        let matches = Mutex::new(Partitions::new(PARTS, budget.share(1), &budget.temp));
        let bits = usize::BITS - records.leading_zeros();
        let shift = bits.saturating_sub(PARTS.ilog2());
        Self { matches, pairs: AtomicU64::new(0), places, records, shift, budget }
    }

    /// Takes pairs and their values; every pair comes once.
    pub(super) fn add(&self, found: &mut Vec<(u32, u32, f64)>) -> Result<()> {
        if found.is_empty() {
            return Ok(());
        }
        let entry = |a: u32, b: u32, value: f64| {
            let place = self.places[a as usize];
            let pair = u64::from(place) << 32 | u64::from(b);
            ((place >> self.shift) as usize, [pair, value.to_bits()])
        };
        self.pairs.fetch_add(found.len() as u64, Ordering::Relaxed);
        let mut entries = Vec::new();
        for some in found.chunks(MANY) {
            entries.clear();
            entries.extend(
                some.iter().flat_map(|&(a, b, value)| [entry(a, b, value), entry(b, a, value)]),
            );
            let block = Block::new(PARTS, entries.iter().copied());
            self.matches.lock().unwrap_or_else(PoisonError::into_inner).push(block)?;
        }
        found.clear();
        Ok(())
    }

    /// Pairs that were taken.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.load(Ordering::Relaxed)
    }

    /// Sorts them.
    pub(super) fn finish(self, threads: usize) -> Result<Partners> {
        let matches = self.matches.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut lists = Lists::new(self.budget.share(2), &self.budget.temp);
        // Each pair comes from both of its ends.
        lists.reserve(6 * self.pairs.into_inner() as usize, self.records);
        let sort = |part: usize, mut entries: Vec<[u64; 2]>, sorted: &mut Joined<u32>| {
            // By places and groups, which are small numbers.
            sort_entries(&mut entries, &mut Vec::new());
            let start = (part << self.shift).min(self.records);
            let end = ((part + 1) << self.shift).min(self.records);
            let Joined { list, lengths } = sorted;
            let first = lengths.len();
            lengths.resize(first + end - start, 0);
            list.reserve(3 * entries.len());
            for [pair, value] in entries {
                lengths[first + (pair >> 32) as usize - start] += 3;
                list.extend([pair as u32, (value >> 32) as u32, value as u32]);
            }
            Ok(())
        };
        matches.each(threads, sort, |sorted| lists.push_all(sorted))?;
        Ok(Partners { lists, places: Arc::clone(self.places), sizes: None })
    }
}
