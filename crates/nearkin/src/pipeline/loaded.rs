//! The records of the groups that are compared, looked up by group.

use std::sync::Arc;

use rayon::prelude::*;

use crate::Result;
use crate::spill::{Cache, Lists};
use crate::verify::{Measure, Overlap, Verifier};

use super::memory::Budget;
use super::record::{Body, Layout};
use super::resume::{Loader, Saver};

/// Records, and where each group's is.
pub(super) struct Loaded {
    pub(super) records: Lists<u64>,
    pub(super) heads: Heads,
    pub(super) places: Arc<Vec<u32>>,
    pub(super) layout: Layout,
}

/// What is first in each record, and looked at most, once more for those that may be on disk.
pub(super) struct Heads {
    lists: Lists<u64>,
    /// The first record with a head here.
    from: usize,
}

impl Heads {
    /// Of records from this one on, none yet.
    pub(super) fn from(from: usize, budget: &Budget) -> Self {
        Self { lists: Lists::new(budget.share(2), &budget.temp), from }
    }

    /// The head of the next record.
    pub(super) fn push(&mut self, head: &[u64]) -> Result<()> {
        self.lists.push(&[head])
    }
}

impl Loaded {
    /// How many groups have a record.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The head of a group's record.
    pub(super) fn head<'a>(&'a self, group: u32, cache: &'a mut Cache<u64>) -> Result<&'a [u64]> {
        let place = self.places[group as usize] as usize;
        match place.checked_sub(self.heads.from) {
            Some(place) => self.heads.lists.get(place, cache),
            None => Ok(self.head_in_memory(place).expect("what has no other head stays in memory")),
        }
    }

    /// Asks for a head that will be looked at soon, if it is in memory.
    pub(super) fn fetch_head(&self, group: u32) {
        let place = self.places[group as usize] as usize;
        let head = match place.checked_sub(self.heads.from) {
            Some(place) => self.heads.lists.in_memory(place),
            None => self.head_in_memory(place),
        };
        head.into_iter().for_each(nearkin_kernels::fetch);
    }

    fn head_in_memory(&self, place: usize) -> Option<&[u64]> {
        self.records.in_memory(place).map(|record| self.layout.head_of(record))
    }

    /// Saves where records are that are [on disk](Lists::settle).
    pub(super) fn save(&self, on_disk: &[u64], save: &mut Saver) -> Result<()> {
        save.numbers(on_disk)?;
        save.lists(&self.heads.lists)?;
        save.numbers(&self.places)
    }

    /// Takes up what was saved, given lists without any.
    pub(super) fn load(
        load: &mut Loader,
        records: Lists<u64>,
        layout: Layout,
        limit: usize,
    ) -> Option<Self> {
        Some(Self {
            records: records.again(&load.numbers::<u64>()?).ok()?,
            heads: Heads { lists: load.lists(limit)?, from: 0 },
            places: load.numbers::<u32>()?.into(),
            layout,
        })
    }

    pub(super) fn body<'a>(&'a self, group: u32, cache: &'a mut Cache<u64>) -> Result<Body<'a>> {
        let words = self.records.get(self.places[group as usize] as usize, cache)?;
        Ok(self.layout.body(words))
    }

    /// Asks for what of a group's record will be looked at first. The record, if it is in memory.
    pub(super) fn fetch(&self, group: u32) -> Option<&[u64]> {
        let words = self.records.in_memory(self.places[group as usize] as usize)?;
        self.layout.fetch_body(words);
        Some(words)
    }

    /// The record of a group, if it is in memory.
    pub(super) fn in_memory(&self, group: u32) -> Option<Body<'_>> {
        let words = self.records.in_memory(self.places[group as usize] as usize)?;
        Some(self.layout.body(words))
    }

    /// Words of a group's record.
    pub(super) fn length(&self, group: u32) -> usize {
        self.records.length(self.places[group as usize] as usize)
    }

    /// How many elements each group has, where all have a record.
    pub(super) fn sizes(&self) -> Result<Vec<u32>> {
        let mut cache = Cache::one();
        let groups = 0..self.places.len() as u32;
        groups.map(|group| Ok(self.body(group, &mut cache)?.elements.len() as u32)).collect()
    }

    /// What each group has in common with its centre. Up to `room` bytes of records are at hand.
    pub(super) fn overlaps(
        &self,
        centres: &[u32],
        verifier: &Verifier,
        room: usize,
    ) -> Result<Vec<Overlap>> {
        let room = room / rayon::current_num_threads().max(1);
        let overlap = |(one, many): &mut (Cache<u64>, Cache<u64>), a: u32| {
            let b = centres[a as usize];
            if a == b {
                let by_size = verifier.measure() == Measure::Overlap;
                let size = if by_size { self.body(a, one)?.elements.len() } else { 1 };
                return Ok(Overlap::identical(size as u32));
            }
            let (a, b) = (self.body(a, one)?, self.body(b, many)?);
            Ok(verifier.overlap(a.elements, b.elements))
        };
        let groups = (0..centres.len() as u32).into_par_iter().with_min_len(256);
        groups.map_init(|| (Cache::one(), Cache::new(room)), overlap).collect()
    }
}
