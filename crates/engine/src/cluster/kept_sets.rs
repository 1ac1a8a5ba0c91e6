//! The kept sets of a component, and which of them is similar to another set.
//!
//! A few are compared one by one. Of a component that hangs together by chains many may be kept; these are indexed in
//! portions ([`SetIndex`]), as many as there is room for. What is indexed changes nothing in the result.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Result;
use crate::candidates::element_record::ElementBody;
use crate::join::sets::{Filters, QueryScratch, SetIndex};
use crate::spill::Cache;
use crate::verify::Verifier;

use super::stars::Centres;

/// Where the elements of sets are.
pub(crate) trait SetBodies: Sync {
    fn body<'a>(&'a self, set: u32, cache: &'a mut Cache<u64>) -> Result<ElementBody<'a>>;
}

/// Sets that are compared, and what makes two of them similar.
pub(crate) struct ComparedSets<'a, S> {
    pub(crate) sets: &'a S,
    pub(crate) verifier: &'a Verifier,
    /// Elements that may still be indexed.
    pub(crate) room: &'a AtomicUsize,
    /// Bytes of records that a thread may have at hand.
    pub(crate) at_hand: usize,
}

/// Kept sets, in order of preference.
#[derive(Default)]
pub(crate) struct KeptSets {
    kept: Vec<u32>,
    /// Indexes of the first of them, one behind the other.
    indexes: Vec<KeptIndex>,
    /// Elements in them.
    held: usize,
    /// Whether there was no room for more.
    is_full: bool,
}

struct KeptIndex {
    /// Which of the kept sets are in it.
    places: Range<usize>,
    index: SetIndex,
}

/// Kept sets that are compared one by one until they are indexed.
const FEW: usize = 128;

/// Records that a thread has at hand, and room for queries.
pub(crate) struct KeptScratch {
    one: Cache<u64>,
    many: Cache<u64>,
    query: QueryScratch,
    hits: Vec<(u32, u32)>,
}

impl KeptScratch {
    pub(crate) fn new(at_hand: usize) -> Self {
        let (one, many) = (Cache::one(), Cache::new(at_hand));
        Self { one, many, query: QueryScratch::default(), hits: Vec::new() }
    }
}

impl KeptSets {
    /// How many of the kept sets are indexed.
    fn indexed(&self) -> usize {
        self.indexes.last().map_or(0, |index| index.places.end)
    }

    /// One more is kept.
    pub(crate) fn push(&mut self, set: u32) {
        self.kept.push(set);
    }

    /// The first of them, from this one on, that is similar to a set and can stand for it.
    pub(crate) fn first_similar<S: SetBodies>(
        &self,
        set: u32,
        from: usize,
        compared: &ComparedSets<'_, S>,
        scratch: &mut KeptScratch,
    ) -> Result<Option<u32>> {
        let KeptScratch { one, many, query, hits } = scratch;
        let own = compared.sets.body(set, one)?;
        // An item that stays in any case may be contained in a later one, which stays as well.
        let is_one_sided = compared.verifier.measure().is_one_sided();
        let size = own.elements.len();
        for index in self.indexes.iter().filter(|index| index.places.start >= from) {
            hits.clear();
            index.index.query(own.elements, query, hits);
            hits.sort_unstable_by_key(|hit| hit.0);
            for hit in &*hits {
                let kept = self.kept[index.places.start + hit.0 as usize];
                if !is_one_sided || compared.sets.body(kept, many)?.elements.len() >= size {
                    return Ok(Some(kept));
                }
            }
        }
        for &kept in &self.kept[from.max(self.indexed())..] {
            let other = compared.sets.body(kept, many)?;
            let stands = !is_one_sided || other.elements.len() >= size;
            if stands && own.similar(other, compared.verifier).is_some() {
                return Ok(Some(kept));
            }
        }
        Ok(None)
    }

    /// Indexes what has come since the last time, together with indexes that are not much larger.
    pub(crate) fn settle<S: SetBodies>(&mut self, compared: &ComparedSets<'_, S>) -> Result<()> {
        let (mut start, end) = (self.indexed(), self.kept.len());
        if end - start < FEW || self.is_full {
            return Ok(());
        }
        let mut cache = Cache::one();
        let mut elements = |set: &u32| Ok(compared.sets.body(*set, &mut cache)?.elements.to_vec());
        let mut sets: Vec<Vec<u64>> =
            self.kept[start..].iter().map(&mut elements).collect::<Result<_>>()?;
        let more = sets.iter().map(Vec::len).sum();
        let take = |room: usize| room.checked_sub(more);
        let taken = compared.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        self.is_full = taken.is_err();
        if self.is_full {
            return Ok(());
        }
        self.held += more;
        let new = start;
        while let Some(last) = self.indexes.pop_if(|last| last.places.len() <= 2 * (end - start)) {
            start = last.places.start;
        }
        let before = self.kept[start..new].iter().map(elements).collect::<Result<Vec<_>>>()?;
        sets.splice(..0, before);
        let sets: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
        let index = SetIndex::new(&sets, compared.verifier, Filters::default())?;
        self.indexes.push(KeptIndex { places: start..end, index });
        Ok(())
    }
}

/// The kept sets of one component.
pub(crate) struct SetCentres<'a, S> {
    compared: &'a ComparedSets<'a, S>,
    sets: KeptSets,
}

impl<'a, S> SetCentres<'a, S> {
    /// None yet.
    pub(crate) fn new(compared: &'a ComparedSets<'a, S>) -> Self {
        Self { compared, sets: KeptSets::default() }
    }
}

impl<S> Drop for SetCentres<'_, S> {
    fn drop(&mut self) {
        self.compared.room.fetch_add(self.sets.held, Ordering::Relaxed);
    }
}

impl<S: SetBodies> Centres for SetCentres<'_, S> {
    type Scratch = KeptScratch;

    fn scratch(&self) -> KeptScratch {
        KeptScratch::new(self.compared.at_hand)
    }

    fn len(&self) -> usize {
        self.sets.kept.len()
    }

    fn push(&mut self, group: u32) {
        self.sets.push(group);
    }

    fn first_similar(
        &self,
        group: u32,
        from: usize,
        scratch: &mut KeptScratch,
    ) -> Result<Option<u32>> {
        self.sets.first_similar(group, from, self.compared, scratch)
    }

    fn settle(&mut self) -> Result<()> {
        self.sets.settle(self.compared)
    }
}
