//! The records of the groups that are compared, looked up by group.

use std::sync::Arc;

use rayon::prelude::*;

use crate::Result;
use crate::spill::{Cache, Lists};
use crate::verify::{Measure, Overlap, Verifier};

use super::record::{Body, Layout};

/// Records, and where each group's is.
pub(super) struct Loaded {
    pub(super) records: Lists<u64>,
    pub(super) places: Arc<Vec<u32>>,
    pub(super) layout: Layout,
}

impl Loaded {
    /// How many groups have a record.
    pub(super) fn len(&self) -> usize {
        self.records.len()
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
