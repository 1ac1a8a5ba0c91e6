//! Files as a collection for the pipeline.

use super::{Chunk, Groups, Input};
use crate::Result;
use crate::error::Problem;
use crate::item::{Batch, Source};

impl Source for Input {
    type Chunk = Chunk;

    fn bytes(&self) -> u64 {
        Self::bytes(self)
    }

    fn scan<'a>(
        &'a self,
        skip: &'a (dyn Fn(usize) -> bool + Sync),
    ) -> Result<Box<dyn Iterator<Item = Result<Chunk>> + Send + 'a>> {
        Ok(Box::new(Self::scan(self, Some(skip))?))
    }

    fn skips(&self) -> bool {
        !self.is_compressed()
    }

    fn place(&self, chunk: &Chunk) -> (usize, u64) {
        (chunk.number, chunk.bytes)
    }

    fn decode<'a>(&'a self, chunk: &'a Chunk, wanted: &dyn Fn(u32) -> bool) -> Result<Batch<'a>> {
        Self::decode(self, chunk, wanted)
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
    pub fn warning(&self) -> Option<Problem> {
        match self {
            Self::Records(_) => None,
            Self::Groups(groups) => groups.warning(),
        }
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

    fn scan<'a>(
        &'a self,
        skip: &'a (dyn Fn(usize) -> bool + Sync),
    ) -> Result<Box<dyn Iterator<Item = Result<AnyChunk>> + Send + 'a>> {
        Ok(match self {
            Self::Records(input) => {
                let chunks = Source::scan(&**input, skip)?;
                Box::new(chunks.map(|chunk| chunk.map(AnyChunk::Records)))
            }
            Self::Groups(groups) => {
                let chunks = groups.scan(skip)?;
                Box::new(chunks.map(|chunk| chunk.map(AnyChunk::Groups)))
            }
        })
    }

    fn skips(&self) -> bool {
        match self {
            Self::Records(input) => input.skips(),
            Self::Groups(_) => true,
        }
    }

    fn place(&self, chunk: &AnyChunk) -> (usize, u64) {
        match (self, chunk) {
            (Self::Groups(groups), AnyChunk::Groups(number)) => groups.place(number),
            (_, AnyChunk::Records(chunk)) => (chunk.number, chunk.bytes),
            (_, AnyChunk::Groups(number)) => (*number, 0), // of another collection
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
}
