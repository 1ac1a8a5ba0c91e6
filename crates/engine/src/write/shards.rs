//! The kept records as shards: for each file of the input one with its path, format and packing, in a new folder.
//!
//! The shards are written side by side into a temporary folder beside the target, which is renamed when all are complete.
//! A run that fails leaves nothing that looks done.

use super::{
    formulas::Formulas,
    kept_records::KeptRecords,
    output::{CompleteOutput, Output},
    records::RecordWriter,
    shard_folder::ShardFolder,
};
use crate::{
    Result,
    item::{Lane, Lanes},
    parallel::in_each_lane,
    read::{Chunk, Input, RecordBody, Shard},
};
use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A chunk of a shard, or its end.
enum ShardPart<C> {
    Chunk(C),
    End(usize),
}

/// Copies the kept records of each file to a shard in the folder `target`, which must not exist or be empty. `formulas` and
/// `progress` as in [`records`](super::records()). The folder is then complete, but does not appear yet.
pub fn shards<'a>(
    input: &Input,
    target: &Path,
    kept: impl Into<KeptRecords<'a>>,
    formulas: Formulas,
    threads: usize,
    progress: &mut (dyn FnMut(u64) -> Result<()> + Send),
) -> Result<CompleteOutput> {
    let kept = kept.into();
    let folder = ShardFolder::create(target)?;
    let shards: Vec<OpenShard> = input.shards()?.into_iter().map(OpenShard::new).collect();
    let (starts, end) = input.counted(threads)?;
    let nothing_kept = |number| !starts.range(number, end).any(kept.kept);
    let progress = Mutex::new(progress);
    in_each_lane(
        threads,
        threads,
        with_ends(input.lanes(&nothing_kept)),
        |part| {
            let chunk = match part {
                ShardPart::Chunk(chunk) => chunk,
                ShardPart::End(at) => return Ok(ShardPart::End(at)),
            };
            let shard = &shards[chunk.number.part as usize].shard;
            let body = kept.copy(input, &chunk, (&starts, end), &shard.format)?.body;
            Ok(ShardPart::Chunk(body.apart(chunk)))
        },
        |part| match part {
            ShardPart::Chunk((body, chunk)) => {
                shards[chunk.number.part as usize].write(&folder, formulas, &body, &chunk)?;
                lock(&progress)(chunk.bytes)
            }
            ShardPart::End(at) => shards[at].finish(&folder, formulas),
        },
    )?;
    folder.ready()
}

/// The lanes with the end of each behind its chunks.
fn with_ends<'a>(lanes: Lanes<'a, Chunk>) -> Lanes<'a, ShardPart<Chunk>> {
    Box::new(lanes.enumerate().map(|(at, Lane { chunks, is_cheap })| {
        let chunks = chunks.map(|chunk| chunk.map(ShardPart::Chunk));
        Lane { chunks: Box::new(chunks.chain(std::iter::once(Ok(ShardPart::End(at))))), is_cheap }
    }))
}

/// A shard, open from its first record to its last.
struct OpenShard {
    shard: Shard,
    writer: Mutex<Option<RecordWriter>>,
}

impl OpenShard {
    fn new(shard: Shard) -> Self {
        Self { shard, writer: Mutex::new(None) }
    }

    fn write(
        &self,
        folder: &ShardFolder,
        formulas: Formulas,
        body: &RecordBody,
        chunk: &Chunk,
    ) -> Result<()> {
        let mut writer = lock(&self.writer);
        let open = match writer.take() {
            Some(open) => open,
            None => self.open(folder, formulas)?,
        };
        writer.insert(open).write(body, chunk)
    }

    fn open(&self, folder: &ShardFolder, formulas: Formulas) -> Result<RecordWriter> {
        let output = Output::shard(folder, &self.shard.path, self.shard.compression)?;
        RecordWriter::new(output, &self.shard.format, formulas)
    }

    /// A shard of which nothing is kept is an empty file of its format.
    fn finish(&self, folder: &ShardFolder, formulas: Formulas) -> Result<()> {
        let open = match lock(&self.writer).take() {
            Some(open) => open,
            None => self.open(folder, formulas)?,
        };
        open.ready().map(drop)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
