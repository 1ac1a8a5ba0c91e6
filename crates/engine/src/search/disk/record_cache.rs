//! What is kept of the first texts from the first pass for the comparison: small collections are read once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use nearkin_kernels::use_large_pages;
use rayon::prelude::*;

use crate::candidates::element_record::RecordLayout;
use crate::item::ChunkNumber;
use crate::matches::{Collection, NOWHERE};
use crate::spill::{Concatenation, Lists};

/// What of a text may be looked at: nothing unless it is a candidate, and its elements only if its sketch agrees with that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    Nothing,
    Head,
    Elements,
}

impl From<u8> for Need {
    fn from(number: u8) -> Self {
        match number {
            0 => Self::Nothing,
            1 => Self::Head,
            _ => Self::Elements,
        }
    }
}

/// Records of the first texts of a collection, kept from the first pass for the second: small collections
/// are read once.
#[derive(Default)]
pub(super) struct RecordCache {
    pieces: Vec<RecordPiece>,
}

/// Records in one piece of memory, and whose they are.
#[derive(Default)]
pub(super) struct RecordPiece {
    pub(super) words: Vec<u64>,
    ends: Vec<usize>,
    owners: Vec<TextPlace>,
}

/// A text by its input, chunk and number in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TextPlace {
    pub(super) input: u32,
    pub(super) chunk: ChunkNumber,
    pub(super) ordinal: u32,
}

impl RecordPiece {
    /// What was appended to the words is one record.
    pub(super) fn end(&mut self) {
        self.ends.push(self.words.len());
    }

    /// Ends a record, and notes whose it is.
    pub(super) fn end_of(&mut self, owner: TextPlace) {
        self.end();
        self.owners.push(owner);
    }

    /// The records, without their owners.
    pub(super) fn into_lists(self) -> Concatenation<u64> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let lengths = self.ends.iter().zip(starts).map(|(end, start)| (end - start) as u32);
        Concatenation { lengths: lengths.collect(), list: self.words }
    }

    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    pub(super) fn get(&self, index: usize) -> &[u64] {
        &self.words[self.start(index)..self.ends[index]]
    }
}

/// Pieces of memory for the records that are kept. A thread takes one down, fills it further, and puts it
/// back.
pub(super) struct CacheRoom {
    pieces: Mutex<Vec<RecordPiece>>,
    /// Words of a piece, and pieces that may still be made.
    words: usize,
    left: AtomicUsize,
}

impl CacheRoom {
    /// Room for `bytes` bytes in all.
    pub(super) fn new(bytes: usize, threads: usize) -> Self {
        /// Large enough for large pages of memory.
        const MOST: usize = 64 << 20;
        let piece = (bytes / (2 * threads.max(1))).min(MOST);
        let left = AtomicUsize::new(bytes.checked_div(piece).unwrap_or(0));
        Self { pieces: Mutex::default(), words: piece / 8, left }
    }

    /// A piece with room in it, if there is any.
    pub(super) fn take(&self) -> Option<RecordPiece> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        // A quarter of a piece is more than a chunk needs, as a rule.
        if let Some(at) = pieces.iter().rposition(|piece| piece.words.len() < self.words / 4 * 3) {
            return Some(pieces.swap_remove(at));
        }
        let make = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, make).ok()?;
        let mut words = Vec::with_capacity(self.words);
        use_large_pages(&mut words);
        Some(RecordPiece { words, ..RecordPiece::default() })
    }

    pub(super) fn put(&self, piece: RecordPiece) {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
    }

    /// What was kept.
    pub(super) fn clear(self) -> RecordCache {
        RecordCache { pieces: self.pieces.into_inner().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl RecordCache {
    /// For every group the piece and the number in it of its record; a number of [`NOWHERE`] where none was
    /// kept.
    pub(super) fn places(&self, collection: &Collection) -> Vec<(u32, u32)> {
        let mut places = vec![(0, NOWHERE); collection.groups() as usize];
        for (number, piece) in self.pieces.iter().enumerate() {
            for (i, owner) in piece.owners.iter().enumerate() {
                let chunk = collection.chunk(owner.input as usize, owner.chunk);
                let Some(group) = collection.group_of(chunk.start + owner.ordinal) else {
                    continue;
                };
                if places[group as usize].1 == NOWHERE {
                    places[group as usize] = (number as u32, i as u32);
                }
            }
        }
        places
    }

    /// The records of these groups that have one, in the order in which they lie.
    pub(super) fn records_mut(
        &mut self,
        groups: impl Iterator<Item = u32>,
        places: &[(u32, u32)],
    ) -> Vec<(u32, &mut [u64])> {
        let numbers = self.numbers_of(groups, places);
        let mut records = Vec::with_capacity(numbers.iter().map(Vec::len).sum());
        for (piece, numbers) in self.pieces.iter_mut().zip(numbers) {
            let RecordPiece { words, ends, .. } = piece;
            let (mut rest, mut passed) = (&mut words[..], 0);
            for (number, group) in numbers {
                let start = if number == 0 { 0 } else { ends[number as usize - 1] };
                let end = ends[number as usize];
                let (record, behind) =
                    rest.split_at_mut(start - passed).1.split_at_mut(end - start);
                records.push((group, record));
                (rest, passed) = (behind, end);
            }
        }
        records
    }

    /// For each piece, the numbers of the records of these groups, ascending, with the groups.
    fn numbers_of(
        &self,
        groups: impl Iterator<Item = u32>,
        places: &[(u32, u32)],
    ) -> Vec<Vec<(u32, u32)>> {
        let mut owners: Vec<Vec<u32>> =
            self.pieces.iter().map(|piece| vec![NOWHERE; piece.ends.len()]).collect();
        for group in groups {
            let (piece, number) = places[group as usize];
            if number != NOWHERE {
                owners[piece as usize][number as usize] = group;
            }
        }
        let those = |owners: Vec<u32>| {
            (0u32..).zip(owners).filter(|&(_, group)| group != NOWHERE).collect()
        };
        owners.into_iter().map(those).collect()
    }

    /// The record at such a place, its elements not sorted unless it is finished.
    pub(super) fn get(&self, (piece, number): (u32, u32)) -> &[u64] {
        self.pieces[piece as usize].get(number as usize)
    }

    /// Like [`get`](Self::get), for a record that is to be finished.
    pub(super) fn get_mut(&mut self, (piece, number): (u32, u32)) -> &mut [u64] {
        let piece = &mut self.pieces[piece as usize];
        let range = piece.start(number as usize)..piece.ends[number as usize];
        &mut piece.words[range]
    }

    /// Hands the records of wanted groups over, those that will be looked at finished, and says where each is.
    pub(super) fn hand_over(
        mut self,
        kept: &[(u32, u32)],
        wanted: &[Need],
        layout: RecordLayout,
        records: &mut Lists<u64>,
        places: &mut [u32],
    ) {
        let those = |least: Need| {
            let groups = (0u32..).zip(wanted);
            groups.filter(move |(_, how)| **how >= least).map(|(group, _)| group)
        };
        let close = self.records_mut(those(Need::Elements), kept);
        close.into_par_iter().with_max_len(16).for_each(|(_, record)| {
            layout.finish(record);
        });
        let groups = self.numbers_of(those(Need::Head), kept);
        for (piece, groups) in self.pieces.into_iter().zip(groups) {
            for (&(_, group), place) in groups.iter().zip(records.len() as u32..) {
                places[group as usize] = place;
            }
            let range = |&(number, _): &(u32, u32)| {
                piece.start(number as usize)..piece.ends[number as usize]
            };
            let ranges: Vec<_> = groups.iter().map(range).collect();
            if !ranges.is_empty() {
                records.adopt(piece.words, ranges.into_iter());
            }
        }
    }
}
