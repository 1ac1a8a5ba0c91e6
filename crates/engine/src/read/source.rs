//! Files as a collection for the pipeline.

use super::{Chunk, Groups, Input};
use crate::Result;
use crate::error::Problem;
use crate::item::{Batch, ChunkNumber, Lane, Lanes, SkipChunk, Source};
use crate::observe::Traffic;

impl Source for Input {
    type Chunk = Chunk;

    fn bytes(&self) -> u64 {
        Self::bytes(self)
    }

    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, Chunk> {
        Self::lanes(self, skip)
    }

    fn skips(&self) -> bool {
        !self.is_compressed()
    }

    fn is_cheap_to_reread(&self) -> bool {
        !self.is_packed()
    }

    fn keep_unpacked(&self, bytes: usize) -> bool {
        Self::keep_unpacked(self, bytes)
    }

    fn place(&self, chunk: &Chunk) -> (ChunkNumber, u64) {
        (chunk.number, chunk.bytes)
    }

    fn decode<'a>(&'a self, chunk: &'a Chunk, wanted: &dyn Fn(u32) -> bool) -> Result<Batch<'a>> {
        Self::decode(self, chunk, wanted)
    }

    fn lines_before(&self, chunk: ChunkNumber) -> Result<u64> {
        Self::lines_before(self, chunk)
    }

    fn traffic(&self) -> Traffic {
        Self::traffic(self)
    }
}

/// A collection: the records of files, or the groups of a table.
#[derive(Debug)]
pub enum AnyInput {
    /// Each record is an item.
    Records(Box<Input>),
    /// Each group is an item.
    Groups(Box<Groups>),
}

impl AnyInput {
    /// The files behind it.
    pub fn input(&self) -> &Input {
        match self {
            Self::Records(input) => input,
            Self::Groups(groups) => groups.input(),
        }
    }

    /// What the user should look at.
    pub fn warnings(&self) -> Vec<Problem> {
        let notes = self.input().notes();
        let more = match self {
            Self::Records(_) => None,
            Self::Groups(groups) => groups.warning(),
        };
        notes.into_iter().chain(more).collect()
    }

    /// Whether a record of the files is to be kept, where these items are.
    pub fn is_record_kept(&self, record: u64, kept: impl Fn(u32) -> bool) -> bool {
        match self {
            Self::Records(_) => u32::try_from(record).is_ok_and(kept),
            Self::Groups(groups) => groups.is_row_kept(record, kept),
        }
    }
}

/// A piece of a collection.
#[derive(Debug)]
pub enum AnyChunk {
    /// Of files.
    Records(Chunk),
    /// Of groups, by its number.
    Groups(usize),
}

impl Source for AnyInput {
    type Chunk = AnyChunk;

    fn bytes(&self) -> u64 {
        self.input().bytes()
    }

    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, AnyChunk> {
        fn any<'a, C: 'a>(
            lanes: Lanes<'a, C>,
            any: impl Fn(C) -> AnyChunk + Copy + Send + 'a,
        ) -> Lanes<'a, AnyChunk> {
            Box::new(lanes.map(move |lane| Lane {
                chunks: Box::new(lane.chunks.map(move |chunk| chunk.map(any))),
                is_cheap: lane.is_cheap,
            }))
        }
        match self {
            Self::Records(input) => any(input.lanes(skip), AnyChunk::Records),
            Self::Groups(groups) => any(groups.lanes(skip), AnyChunk::Groups),
        }
    }

    fn skips(&self) -> bool {
        match self {
            Self::Records(input) => input.skips(),
            Self::Groups(_) => true,
        }
    }

    fn is_cheap_to_reread(&self) -> bool {
        match self {
            Self::Records(input) => input.is_cheap_to_reread(),
            Self::Groups(_) => true,
        }
    }

    fn keep_unpacked(&self, bytes: usize) -> bool {
        match self {
            Self::Records(input) => input.keep_unpacked(bytes),
            Self::Groups(_) => false,
        }
    }

    fn place(&self, chunk: &AnyChunk) -> (ChunkNumber, u64) {
        match (self, chunk) {
            (Self::Groups(groups), AnyChunk::Groups(number)) => groups.place(number),
            (_, AnyChunk::Records(chunk)) => (chunk.number, chunk.bytes),
            (_, AnyChunk::Groups(number)) => (ChunkNumber::of_one(*number), 0), // of another collection
        }
    }

    fn decode<'a>(
        &'a self,
        chunk: &'a AnyChunk,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Batch<'a>> {
        match (self, chunk) {
            (Self::Records(input), AnyChunk::Records(chunk)) => input.decode(chunk, wanted),
            (Self::Groups(groups), AnyChunk::Groups(number)) => groups.decode(number, wanted),
            _ => Ok(Batch::default()), // of another collection
        }
    }

    fn lines_before(&self, chunk: ChunkNumber) -> Result<u64> {
        match self {
            Self::Records(input) => input.lines_before(chunk),
            Self::Groups(_) => Ok(0),
        }
    }

    fn traffic(&self) -> Traffic {
        self.input().traffic()
    }
}
