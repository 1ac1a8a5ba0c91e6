//! The kept records as shards of one size, in a new folder.
//!
//! A shard ends with the last record that ends within so many bytes, before they are packed. So the shards have the same bytes
//! however the input was split.

use super::{
    formulas::Formulas,
    kept_records::KeptRecords,
    output::{CompleteOutput, Output},
    packers::Resources,
    parquet::rows_within,
    records::{Copies, RecordWriter, waiting},
    shard_folder::ShardFolder,
};
use crate::{
    Error, Result,
    read::{Chunk, Input, RecordBody, Shard, records_within},
};
use arrow_array::RecordBatch;
use std::path::{Path, PathBuf};

/// Copies the kept records to files of `size` bytes each, in the folder `target`, which must not exist or be empty. All files
/// of the input must have one format and packing, which is that of the shards. `formulas` and `progress` as in
/// [`records`](super::records()). The folder is then complete, but does not appear yet.
pub fn even_shards<'a>(
    input: &Input,
    target: &Path,
    size: usize,
    kept: impl Into<KeptRecords<'a>>,
    formulas: Formulas,
    resources: Resources,
    progress: &mut (dyn FnMut(u64) -> Result<()> + Send),
) -> Result<CompleteOutput> {
    let shard = common(input)?;
    let mut writer = EvenShards {
        folder: ShardFolder::create(target)?,
        extension: extension(&shard.path),
        shard: &shard,
        size,
        formulas,
        resources,
        written: 0,
        open: None,
        bytes: 0,
    };
    let room = waiting(resources);
    let kept = kept.into();
    let copies = Copies { input, format: &shard.format, kept, turns: None, room };
    copies.each(resources.threads, progress, |body, chunk| writer.write(&body, chunk))?;
    writer.ready()
}

/// What all files of the input have in common.
fn common(input: &Input) -> Result<Shard> {
    let mut shards = input.shards()?.into_iter();
    let first = shards.next().ok_or_else(|| Error::nothing("there are no files"))?;
    let same =
        |other: &Shard| other.format == first.format && other.compression == first.compression;
    match shards.find(|other| !same(other)) {
        None => Ok(first),
        Some(other) => {
            let what = format!(
                "has another format, packing or other columns than {}, and shards of one size have one",
                first.path.display()
            );
            Err(Error::file(other.path, what).or("convert it").or("leave the size out"))
        }
    }
}

/// All that follows the first dot of a file's name.
fn extension(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once('.').map_or(String::new(), |(_, extension)| format!(".{extension}"))
}

struct EvenShards<'a> {
    folder: ShardFolder,
    extension: String,
    shard: &'a Shard,
    size: usize,
    formulas: Formulas,
    resources: Resources,
    /// Shards that are complete.
    written: usize,
    open: Option<RecordWriter>,
    /// Bytes of records in the open shard.
    bytes: usize,
}

impl EvenShards<'_> {
    fn write(&mut self, body: &RecordBody, chunk: &Chunk) -> Result<()> {
        match body {
            RecordBody::Batch(batch) => self.write_rows(batch.clone()),
            _ => self.write_bytes(&body.pieces(chunk).collect::<Vec<_>>().concat()),
        }
    }

    fn write_bytes(&mut self, mut piece: &[u8]) -> Result<()> {
        let shard = self.shard;
        while !piece.is_empty() {
            let room = self.size.saturating_sub(self.bytes);
            let count = records_within(&shard.format, piece, room, self.bytes == 0);
            if count > 0 {
                self.open()?.put(&piece[..count])?;
                self.bytes += count;
                piece = &piece[count..];
            }
            if !piece.is_empty() {
                self.close()?;
            }
        }
        Ok(())
    }

    fn write_rows(&mut self, mut rows: RecordBatch) -> Result<()> {
        while rows.num_rows() > 0 {
            let room = self.size.saturating_sub(self.bytes);
            let (count, bytes) = rows_within(&rows, room, self.bytes == 0);
            if count > 0 {
                self.open()?.put_rows(&rows.slice(0, count))?;
                self.bytes += bytes;
                rows = rows.slice(count, rows.num_rows() - count);
            }
            if rows.num_rows() > 0 {
                self.close()?;
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<&mut RecordWriter> {
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let name = PathBuf::from(format!("part-{:05}{}", self.written, self.extension));
                let output = Output::shard(&self.folder, &name, self.shard.compression)?;
                let mut writer = RecordWriter::new(output, &self.shard.format, self.formulas)?;
                writer.share(self.resources);
                writer
            }
        };
        Ok(self.open.insert(open))
    }

    fn close(&mut self) -> Result<()> {
        if let Some(open) = self.open.take() {
            open.ready().map(drop)?;
            self.written += 1;
            self.bytes = 0;
        }
        Ok(())
    }

    /// Nothing, too, is a shard.
    fn ready(mut self) -> Result<CompleteOutput> {
        if self.written == 0 {
            self.open()?;
        }
        self.close()?;
        self.folder.ready()
    }
}
