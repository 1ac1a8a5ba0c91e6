//! Which groups are similar to which: gathered by many threads, in memory as far as they may use it, and then
//! looked up by group.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nearkin_kernels::sort_entries;

use crate::Result;
use crate::spill::{Block, Budget, Cache, Concatenation, Lists, Loader, Partitions, Saver};

/// The place of a group without a list.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Partitions of matches.
const PARTS: usize = 256;

/// Pairs that go to their partitions together: a block of few pairs would mostly hold where its partitions end.
const MANY: usize = 1 << 15;

/// Similar groups of each group that has a record: three numbers each, the other group and the halves of the
/// value of the pair.
pub(crate) struct SimilarGroups {
    pub(crate) lists: Lists<u32>,
    pub(crate) places: Arc<Vec<u32>>,
    /// The value of two copies of a group's item, where they are similar.
    pub(crate) copies: CopyValues,
}

impl SimilarGroups {
    /// Which of `others`, ascending, are similar to a group.
    pub(crate) fn found(
        &self,
        group: u32,
        others: &[u32],
        cache: &mut Cache<u32>,
    ) -> Result<Vec<bool>> {
        let similar: Vec<u32> = self.of(group, cache)?.map(|(other, _)| other).collect();
        Ok(others.iter().map(|other| similar.binary_search(other).is_ok()).collect())
    }

    pub(crate) fn save(&self, save: &mut Saver) -> Result<()> {
        save.lists(&self.lists)?;
        save.numbers(&self.places)?;
        self.copies.save(save)
    }

    pub(crate) fn load(load: &mut Loader, limit: usize) -> Option<Self> {
        Some(Self {
            lists: load.lists(limit)?,
            places: load.numbers::<u32>()?.into(),
            copies: CopyValues::load(load)?,
        })
    }

    /// The entries of all lists together.
    pub(crate) fn entries(&self) -> u64 {
        (0..self.lists.len()).map(|list| self.lists.length(list) as u64 / 3).sum()
    }

    /// How many groups are similar to this one.
    pub(crate) fn count(&self, group: u32) -> usize {
        match self.places[group as usize] {
            NOWHERE => 0,
            place => self.lists.length(place as usize) / 3,
        }
    }

    /// The groups that are similar to this one, ascending, and the value of each pair: its similarity, or its
    /// distance where that is limited.
    pub(crate) fn of<'a>(
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

/// How close copies of an item are to each other.
#[derive(Debug, Clone)]
pub(crate) enum CopyValues {
    /// All have this value, or are not similar.
    Same(Option<f64>),
    /// Those of each group have a value of their own; NaN where they are not similar.
    Each(Vec<f64>),
}

impl CopyValues {
    /// The value of two copies of a group's item, if they are similar.
    pub(crate) fn of(&self, group: u32) -> Option<f64> {
        match self {
            Self::Same(value) => *value,
            Self::Each(values) => Some(values[group as usize]).filter(|value| !value.is_nan()),
        }
    }

    fn save(&self, save: &mut Saver) -> Result<()> {
        let (is_each, values) = match self {
            Self::Same(value) => (0, vec![value.unwrap_or(f64::NAN)]),
            Self::Each(values) => (1, values.clone()),
        };
        save.number(is_each)?;
        save.numbers(&values.into_iter().map(f64::to_bits).collect::<Vec<u64>>())
    }

    fn load(load: &mut Loader) -> Option<Self> {
        let is_each = load.number()? == 1;
        let bits: Vec<u64> = load.numbers()?;
        let mut values = bits.into_iter().map(f64::from_bits);
        match is_each {
            true => Some(Self::Each(values.collect())),
            false => Some(Self::Same(Some(values.next()?).filter(|value| !value.is_nan()))),
        }
    }
}

/// Whose lists a pair goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairOwners {
    /// Those of both its groups.
    Both,
    /// That of the first alone, which has the second among its closest.
    First,
}

/// The pairs that threads have found so far.
pub(crate) struct SimilarGroupsBuilder<'a> {
    matches: Mutex<Partitions<2>>,
    /// Pairs that wait until they are [`MANY`], for each thread at work.
    waiting: Mutex<Vec<Vec<GroupMatch>>>,
    pairs: AtomicU64,
    places: &'a Arc<Vec<u32>>,
    owners: PairOwners,
    /// How many groups have a place.
    records: usize,
    /// Places of a partition: the first bits of a place are its partition.
    shift: u32,
    budget: &'a Budget,
}

/// Two groups and the value of the pair.
type GroupMatch = (u32, u32, f64);

impl<'a> SimilarGroupsBuilder<'a> {
    pub(crate) fn new(
        places: &'a Arc<Vec<u32>>,
        records: usize,
        owners: PairOwners,
        budget: &'a Budget,
    ) -> Self {
        let bits = usize::BITS - records.leading_zeros();
        Self {
            matches: Mutex::new(Partitions::new(PARTS, budget.share(1), &budget.temp)),
            waiting: Mutex::default(),
            pairs: AtomicU64::new(0),
            places,
            owners,
            records,
            shift: bits.saturating_sub(PARTS.ilog2()),
            budget,
        }
    }

    /// Takes pairs and their values. A pair may come again, with the same value.
    pub(crate) fn add(&self, found: impl IntoIterator<Item = GroupMatch>) -> Result<()> {
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pairs = waiting().pop().unwrap_or_default();
        let mut found = found.into_iter();
        loop {
            let before = pairs.len();
            pairs.extend(found.by_ref().take(MANY - before));
            self.pairs.fetch_add((pairs.len() - before) as u64, Ordering::Relaxed);
            if pairs.len() < MANY {
                break;
            }
            self.push(&pairs)?;
            pairs.clear();
        }
        waiting().push(pairs);
        Ok(())
    }

    /// Puts pairs into their partitions.
    fn push(&self, pairs: &[GroupMatch]) -> Result<()> {
        let entry = |a: u32, b: u32, value: f64| {
            let place = self.places[a as usize];
            let pair = u64::from(place) << 32 | u64::from(b);
            ((place >> self.shift) as usize, [pair, value.to_bits()])
        };
        let entries: Vec<(usize, [u64; 2])> = match self.owners {
            PairOwners::Both => {
                let both = |&(a, b, value): &GroupMatch| [entry(a, b, value), entry(b, a, value)];
                pairs.iter().flat_map(both).collect()
            }
            PairOwners::First => pairs.iter().map(|&(a, b, value)| entry(a, b, value)).collect(),
        };
        let block = Block::new(PARTS, entries.iter().copied());
        self.matches.lock().unwrap_or_else(PoisonError::into_inner).push(block)
    }

    /// Pairs that were taken.
    pub(crate) fn pairs(&self) -> u64 {
        self.pairs.load(Ordering::Relaxed)
    }

    /// Refuses pairs, none of which came twice, for whose lists the disk has no room. The partitions are there until the
    /// lists are complete.
    pub(crate) fn check_space(&self) -> Result<()> {
        /// Bytes of a pair in the lists of both its groups.
        const PAIR: u64 = 2 * 3 * 4;
        let room = self.budget.share(2) as u64;
        self.budget.check_space((PAIR * self.pairs()).saturating_sub(room))
    }

    /// Sorts them, and keeps each once.
    pub(crate) fn finish(self, copies: CopyValues, threads: usize) -> Result<SimilarGroups> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).split_off(0);
        waiting.iter().try_for_each(|pairs| self.push(pairs))?;
        drop(waiting);
        let matches = self.matches.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut lists = Lists::new(self.budget.share(2), &self.budget.temp);
        // As a rule, each pair comes from both of its ends.
        lists.reserve(6 * self.pairs.into_inner() as usize, self.records);
        let sort = |part: usize, mut entries: Vec<[u64; 2]>, sorted: &mut Concatenation<u32>| {
            // By places and groups, which are small numbers.
            sort_entries(&mut entries, &mut Vec::new());
            entries.dedup_by_key(|[pair, _]| *pair);
            let start = (part << self.shift).min(self.records);
            let end = ((part + 1) << self.shift).min(self.records);
            let Concatenation { list, lengths } = sorted;
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
        Ok(SimilarGroups { lists, places: Arc::clone(self.places), copies })
    }
}
