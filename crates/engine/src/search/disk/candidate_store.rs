//! The records of the groups that are compared, looked up by group.

use std::sync::Arc;

use rayon::prelude::*;

use crate::Result;
use crate::candidates::element_record::{ElementBody, RecordLayout};
use crate::cluster::{Closeness, SetBodies};
use crate::search::job::{RECORDS, StageResult, start_of_system};
use crate::spill::{Budget, Cache, Lists, Loader, Saver};
use crate::verify::{Measure, Overlap, Verifier};

/// Records, and where each group's is.
pub(super) struct CandidateStore {
    pub(super) records: Lists<u64>,
    pub(super) heads: Heads,
    pub(super) places: Arc<Vec<u32>>,
    pub(super) layout: RecordLayout,
    /// Where the records are, if all of them are on disk.
    on_disk: Option<Vec<u64>>,
    /// How many groups have a record for the run; the others have one for the audit alone.
    pub(super) compared: usize,
}

impl StageResult for CandidateStore {
    /// Records in memory are sooner read again than saved.
    fn settle(&mut self) -> Result<bool> {
        self.on_disk = self.records.settle()?;
        Ok(self.on_disk.is_some())
    }

    fn save(&self, save: &mut Saver) -> Result<()> {
        save.text(&start_of_system())?;
        save.numbers(self.on_disk.as_deref().unwrap_or_default())?;
        save.lists(&self.heads.lists)?;
        save.numbers(&self.places)?;
        save.number(self.compared as u64)
    }
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

impl SetBodies for CandidateStore {
    fn body<'a>(&'a self, set: u32, cache: &'a mut Cache<u64>) -> Result<ElementBody<'a>> {
        self.body(set, cache)
    }
}

impl CandidateStore {
    /// These records, and where each group's is.
    pub(super) fn new(
        records: Lists<u64>,
        heads: Heads,
        places: Vec<u32>,
        layout: RecordLayout,
    ) -> Self {
        let compared = records.len();
        Self { records, heads, places: places.into(), layout, on_disk: None, compared }
    }

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

    /// What was saved, if the records are still as they were left.
    pub(super) fn load(load: &mut Loader, layout: RecordLayout, budget: &Budget) -> Option<Self> {
        if load.text()? != start_of_system() {
            return None;
        }
        let records = Lists::new(budget.share(4), &budget.temp).named(RECORDS);
        Some(Self {
            records: records.again(&load.numbers::<u64>()?).ok()?,
            heads: Heads { lists: load.lists(budget.share(2))?, from: 0 },
            places: load.numbers::<u32>()?.into(),
            layout,
            on_disk: None,
            compared: load.number()? as usize,
        })
    }

    /// What pairs of groups have in common and how similar they are, of those that are.
    pub(super) fn overlaps(
        &self,
        pairs: &[(u32, u32)],
        verifier: &Verifier,
    ) -> Result<Vec<Option<(Overlap, f64)>>> {
        let overlap = |(first, second): &mut (Cache<u64>, Cache<u64>), &(a, b): &(u32, u32)| {
            let (a, b) = (self.body(a, first)?, self.body(b, second)?);
            let overlap = a.similar(b, verifier);
            Ok(overlap.map(|overlap| (overlap, verifier.measure().similarity(overlap))))
        };
        let pairs = pairs.par_iter().with_min_len(64);
        pairs.map_init(|| (Cache::one(), Cache::one()), overlap).collect()
    }

    pub(super) fn body<'a>(
        &'a self,
        group: u32,
        cache: &'a mut Cache<u64>,
    ) -> Result<ElementBody<'a>> {
        let words = self.records.get(self.places[group as usize] as usize, cache)?;
        Ok(self.layout.body(words))
    }

    /// Prefetches the part of a group's record that is looked at first. Returns the record if it is in memory.
    pub(super) fn fetch(&self, group: u32) -> Option<&[u64]> {
        let words = self.records.in_memory(self.places[group as usize] as usize)?;
        self.layout.fetch_body(words);
        Some(words)
    }

    /// The record of a group, if it is in memory.
    pub(super) fn in_memory(&self, group: u32) -> Option<ElementBody<'_>> {
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

    /// How close each group is to its centre. Up to `room` bytes of records are at hand.
    pub(super) fn closeness(
        &self,
        centres: &[u32],
        verifier: &Verifier,
        room: usize,
    ) -> Result<Vec<Closeness>> {
        let room = room / rayon::current_num_threads().max(1);
        let closeness = |(one, many): &mut (Cache<u64>, Cache<u64>), group: u32| {
            let overlap = self.overlap(group, centres[group as usize], verifier, one, many)?;
            let value = verifier.value(overlap);
            let is_similar = verifier.limit().reached(verifier.measure(), overlap);
            Ok(Closeness { value, is_similar })
        };
        let groups = (0..centres.len() as u32).into_par_iter().with_min_len(256);
        groups.map_init(|| (Cache::one(), Cache::new(room)), closeness).collect()
    }

    /// What two groups have in common.
    fn overlap(
        &self,
        a: u32,
        b: u32,
        verifier: &Verifier,
        one: &mut Cache<u64>,
        many: &mut Cache<u64>,
    ) -> Result<Overlap> {
        if a == b {
            let by_size = verifier.measure() == Measure::Overlap;
            let size = if by_size { self.body(a, one)?.elements.len() } else { 1 };
            return Ok(Overlap::identical(size as u64));
        }
        let (a, b) = (self.body(a, one)?, self.body(b, many)?);
        Ok(verifier.overlap(a.elements, b.elements))
    }
}
