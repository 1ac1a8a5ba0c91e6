//! Files as a collection for the pipeline.

use super::{Chunk, Input};
use crate::Result;
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

    fn place(&self, chunk: &Chunk) -> (usize, u64) {
        (chunk.number, chunk.bytes)
    }

    fn decode<'a>(&'a self, chunk: &'a Chunk, wanted: &dyn Fn(u32) -> bool) -> Result<Batch<'a>> {
        Self::decode(self, chunk, wanted)
    }
}
