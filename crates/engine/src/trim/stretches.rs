//! What is removed, by document: stretches of pieces or of words, each with the place of what is kept instead.

use super::facts::{Gathered, TrimFacts};
use super::rule::Place;
use crate::Result;
use crate::item::ChunkNumber;
use crate::spill::{Block, Budget, Lists, Loader, Partitions, Saver};

/// Partitions of removals, each with the documents of a part of the input.
const PARTITIONS: usize = 1024;

/// Places that are removed, in any order: the number of the kept place, how many places follow each other, and the first.
pub(super) struct Removals(Partitions<3>);

impl Removals {
    pub(super) fn new(budget: &Budget) -> Self {
        Self(Partitions::new(PARTITIONS, budget.share(3), &budget.temp))
    }

    pub(super) fn push(&mut self, removals: &[[u64; 3]], gathered: &Gathered) -> Result<()> {
        let entries = removals
            .iter()
            .map(|entry| (gathered.partition(Place::of(entry[2]).document, PARTITIONS), *entry));
        self.0.push(Block::new(PARTITIONS, entries))
    }

    /// Sorts them by document, and joins those that overlap or touch; a place covers `width` pieces or words.
    pub(super) fn into_stretches(
        self,
        gathered: Gathered,
        width: u64,
        threads: usize,
        budget: &Budget,
    ) -> Result<Stretches> {
        let mut lists = Lists::new(budget.share(2), &budget.temp);
        let mut open = OpenChunk::new(&gathered);
        self.0.each(
            threads,
            |_, mut entries, found: &mut Vec<[u64; 3]>| {
                entries.sort_unstable_by_key(|entry| entry[2].rotate_left(32));
                joined(&entries, width, found);
                Ok(())
            },
            |found| found.iter().try_for_each(|stretch| open.push(stretch, &mut lists)),
        )?;
        open.finish(&mut lists)?;
        Ok(Stretches { gathered, lists })
    }
}

/// Appends the stretches that sorted removals make: document, start and end, number of the kept place. Pieces stay apart.
fn joined(removals: &[[u64; 3]], width: u64, out: &mut Vec<[u64; 3]>) {
    for &[kept, count, place] in removals {
        let Place { document, at } = Place::of(place);
        let (start, end) = (u64::from(at), u64::from(at) + count - 1 + width);
        match out.last_mut() {
            Some([last, range, _])
                if *last == u64::from(document) && width > 1 && start <= *range & LOW =>
            {
                let later = end.max(*range & LOW);
                *range = *range & !LOW | later;
            }
            _ => out.push([u64::from(document), start << 32 | end, kept]),
        }
    }
}

const LOW: u64 = u32::MAX as u64;

/// The chunk of which stretches come now.
struct OpenChunk<'a> {
    gathered: &'a Gathered,
    /// How many chunks there are.
    count: usize,
    stretches: Vec<u64>,
}

impl<'a> OpenChunk<'a> {
    fn new(gathered: &'a Gathered) -> Self {
        Self { gathered, count: gathered.starts.parts().0.len(), stretches: Vec::new() }
    }

    fn push(&mut self, stretch: &[u64; 3], lists: &mut Lists<u64>) -> Result<()> {
        let starts = self.gathered.starts.parts().0;
        while starts.get(lists.len() + 1).is_some_and(|&next| next <= stretch[0]) {
            self.end_chunk(lists)?;
        }
        self.stretches.extend_from_slice(stretch);
        Ok(())
    }

    fn end_chunk(&mut self, lists: &mut Lists<u64>) -> Result<()> {
        lists.push(&[&self.stretches])?;
        self.stretches.clear();
        Ok(())
    }

    fn finish(mut self, lists: &mut Lists<u64>) -> Result<()> {
        while lists.len() < self.count {
            self.end_chunk(lists)?;
        }
        Ok(())
    }
}

/// A stretch of a document that is removed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) document: u32,
    /// The first of its pieces or words, and the first behind it.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The number of the kept place.
    pub(super) kept: u64,
}

/// All stretches that are removed, chunk by chunk.
#[derive(Debug)]
pub struct Stretches {
    pub(super) gathered: Gathered,
    pub(super) lists: Lists<u64>,
}

impl Stretches {
    /// What was learned of the documents.
    pub fn facts(&self) -> &TrimFacts {
        &self.gathered.facts
    }

    /// Those of a list, by document and place.
    pub(super) fn of(list: &[u64]) -> impl Iterator<Item = Stretch> + Clone {
        list.as_chunks().0.iter().map(|&[document, range, kept]| Stretch {
            document: document as u32,
            start: (range >> 32) as u32,
            end: range as u32,
            kept,
        })
    }

    /// Whether a chunk has none.
    pub(super) fn is_free(&self, number: ChunkNumber) -> bool {
        self.gathered.starts.index(number) >= self.lists.len()
            || self.lists.length(self.gathered.starts.index(number)) == 0
    }

    pub(super) fn save(&self, save: &mut Saver) -> Result<()> {
        self.gathered.save(save)?;
        save.lists(&self.lists)
    }

    pub(super) fn load(load: &mut Loader, limit: usize) -> Option<Self> {
        Some(Self { gathered: Gathered::load(load)?, lists: load.lists(limit)? })
    }
}
