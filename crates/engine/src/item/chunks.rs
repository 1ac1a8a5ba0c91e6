//! Which chunk of a collection is meant, and where its records stand among all.
//!
//! A collection has parts, such as files, and each part has chunks. Parts are read side by side, so nobody knows how many
//! chunks the parts before have: a chunk is named by its part and its number in that.

use std::ops::Range;

use crate::Result;

/// Which chunk of a collection: the number of its part, and its own in that part, both from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkNumber {
    /// The part.
    pub part: u32,
    /// The chunk in that part.
    pub chunk: u32,
}

impl ChunkNumber {
    /// A chunk of a collection that has one part.
    pub fn of_one(chunk: usize) -> Self {
        Self { part: 0, chunk: chunk as u32 }
    }
}

/// The chunks of one part, in order.
pub struct Lane<'a, C> {
    /// Gives the chunks.
    pub chunks: Box<dyn Iterator<Item = Result<C>> + Send + 'a>,
    /// Whether a chunk costs next to nothing until it is decoded. It costs much where something is unpacked to get at it.
    pub is_cheap: bool,
}

/// The parts of a collection, in order. Nothing is opened before its first chunk is asked for.
pub type Lanes<'a, C> = Box<dyn Iterator<Item = Lane<'a, C>> + Send + 'a>;

/// A collection that has one part, whose chunks cost nothing.
pub(crate) fn one_lane<'a, C>(chunks: impl Iterator<Item = Result<C>> + Send + 'a) -> Lanes<'a, C>
where
    C: 'a,
{
    Box::new(std::iter::once(Lane { chunks: Box::new(chunks), is_cheap: true }))
}

/// The position of each chunk's first record.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChunkStarts {
    starts: Vec<u64>,
    /// Where the chunks of each part begin in `starts`.
    parts: Vec<u32>,
}

impl ChunkStarts {
    /// The next chunk has this number, and its first record this position.
    pub(crate) fn push(&mut self, number: ChunkNumber, start: u64) {
        while self.parts.len() <= number.part as usize {
            self.parts.push(self.starts.len() as u32);
        }
        debug_assert_eq!(self.index(number), self.starts.len(), "chunks come in order");
        self.starts.push(start);
    }

    /// The number of a chunk among those of all parts.
    pub(crate) fn index(&self, number: ChunkNumber) -> usize {
        let part = self.parts.get(number.part as usize);
        part.map_or(usize::MAX, |&part| (part + number.chunk) as usize)
    }

    /// The position of a chunk's first record; none of a chunk that is not known.
    pub(crate) fn start(&self, number: ChunkNumber) -> Option<u64> {
        self.starts.get(self.index(number)).copied()
    }

    /// The positions of a chunk, where all records end at `end`.
    pub(crate) fn range(&self, number: ChunkNumber, end: u64) -> Range<u64> {
        let start = self.start(number).unwrap_or(end);
        let next = self.index(number).saturating_add(1);
        start..self.starts.get(next).copied().unwrap_or(end)
    }

    /// The chunk with the record at this position.
    pub(crate) fn chunk_of(&self, position: u64) -> ChunkNumber {
        let index = (self.starts.partition_point(|&start| start <= position) as u32).max(1) - 1;
        let part = self.parts.partition_point(|&first| first <= index).max(1) - 1;
        let first = self.parts.get(part).copied().unwrap_or(0);
        ChunkNumber { part: part as u32, chunk: index - first }
    }

    /// The positions, and where those of each part begin.
    pub(crate) fn parts(&self) -> (&[u64], &[u32]) {
        (&self.starts, &self.parts)
    }

    /// What [`parts`](Self::parts) gave.
    pub(crate) fn from_parts(starts: Vec<u64>, parts: Vec<u32>) -> Self {
        Self { starts, parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_lead_to_positions_and_back() {
        let mut starts = ChunkStarts::default();
        let number = |part, chunk| ChunkNumber { part, chunk };
        // The second part is empty; a chunk in the third has no record.
        let chunks = [(number(0, 0), 0), (number(0, 1), 5), (number(2, 0), 9), (number(2, 1), 9)];
        chunks.iter().for_each(|&(number, start)| starts.push(number, start));
        assert_eq!(starts.range(number(0, 1), 12), 5..9);
        assert_eq!(starts.range(number(2, 0), 12), 9..9);
        assert_eq!(starts.range(number(2, 1), 12), 9..12);
        assert_eq!(starts.start(number(3, 0)), None);
        assert_eq!(starts.chunk_of(4), number(0, 0));
        assert_eq!(starts.chunk_of(5), number(0, 1));
        assert_eq!(starts.chunk_of(11), number(2, 1));
    }
}
