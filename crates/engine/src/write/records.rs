//! The records that are kept, with all their fields as they came.

use super::{
    formulas::Formulas,
    kept_records::KeptRecords,
    output::{CompleteOutput, Output},
    packers::{Resources, Turns},
    parquet::ParquetWriter,
    table::output_format,
};
use crate::{
    Result,
    parallel::{LaneRoom, in_lanes},
    read::{Chunk, Format, Input, PositionFilter, RecordBody, RecordFormat},
};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use std::{path::Path, sync::Arc};

/// Copies the kept records to `target` (`None`: standard output, as JSONL), in input order, with these resources;
/// `formulas` says what to do with them in CSV and TSV. `progress` gets the bytes read after each chunk, and may end the
/// copying. The file is then complete, but does not appear yet.
pub fn records<'a>(
    input: &Input,
    target: Option<&Path>,
    kept: impl Into<KeptRecords<'a>>,
    formulas: Formulas,
    resources: Resources,
    progress: &mut (dyn FnMut(u64) -> Result<()> + Send),
) -> Result<CompleteOutput> {
    let kept = kept.into();
    let format = output_format(target, None)?;
    let output = Output::create(target)?;
    let format = input.record_format(format, kept.kept)?;
    let mut writer = RecordWriter::new(output, &format, formulas)?;
    writer.share(resources);
    let turns = writer.turns();
    let room = waiting(resources);
    let copies = Copies { input, format: &format, kept, turns: turns.as_ref(), room };
    copies.each(resources.threads, progress, |body, chunk| writer.write(&body, chunk))?;
    writer.ready()
}

/// The kept records as columns in memory, in input order; `progress` as in [`records`].
pub fn batches<'a>(
    input: &Input,
    kept: impl Into<KeptRecords<'a>>,
    threads: usize,
    progress: &mut (dyn FnMut(u64) -> Result<()> + Send),
) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let kept = kept.into();
    let format = input.record_format(Format::Parquet, kept.kept)?;
    let mut batches = Vec::new();
    let copies = Copies { input, format: &format, kept, turns: None, room: WAITING };
    copies.each(threads, progress, |body, _| {
        batches.extend(match body {
            RecordBody::Batch(batch) if batch.num_rows() > 0 => Some(batch),
            _ => None,
        });
        Ok(())
    })?;
    let schema = match format {
        RecordFormat::Parquet(schema) => schema,
        _ => Arc::new(Schema::empty()),
    };
    Ok((schema, batches))
}

/// Hands the wanted records over as lines of JSON, in input order; `progress` as in [`records`].
pub fn json_lines(
    input: &Input,
    wanted: PositionFilter,
    resources: Resources,
    progress: &mut (dyn FnMut(u64) -> Result<()> + Send),
    each: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
) -> Result<()> {
    let (format, room) = (RecordFormat::Jsonl, waiting(resources));
    let copies = Copies { input, format: &format, kept: wanted.into(), turns: None, room };
    copies.each(resources.threads, progress, |body, chunk| {
        let lines = body.pieces(chunk).flat_map(|piece| piece.split(|byte| *byte == b'\n'));
        lines.filter(|line| !line.trim_ascii().is_empty()).try_for_each(&mut *each)
    })
}

/// The kept records of an input.
pub(super) struct Copies<'a> {
    pub(super) input: &'a Input,
    pub(super) format: &'a RecordFormat,
    pub(super) kept: KeptRecords<'a>,
    /// Those of the threads that copy, where others pack what they copied.
    pub(super) turns: Option<&'a Turns>,
    /// Bytes of later files that may wait for earlier ones.
    pub(super) room: usize,
}

impl Copies<'_> {
    /// Hands over the kept records of each chunk in order.
    pub(super) fn each(
        self,
        threads: usize,
        progress: &mut (dyn FnMut(u64) -> Result<()> + Send),
        mut take: impl FnMut(RecordBody, &Chunk) -> Result<()> + Send,
    ) -> Result<()> {
        let Self { input, format, kept, turns, room } = self;
        let mut rest = input.bytes();
        let (starts, end) = input.counted(threads)?;
        let nothing_kept = |number| !starts.range(number, end).any(kept.kept);
        in_lanes(
            threads,
            LaneRoom { weight: room, lanes: threads },
            input.lanes(&nothing_kept),
            |chunk| {
                let _turn = turns.map(Turns::wait);
                let body = kept.copy(input, &chunk, (&starts, end), format)?.body;
                Ok(body.apart(chunk))
            },
            |(body, chunk)| body.bytes(chunk),
            |(body, chunk)| {
                take(body, &chunk)?;
                rest = rest.saturating_sub(chunk.bytes);
                progress(chunk.bytes)
            },
        )?;
        // The last chunks of a file may have been passed over.
        progress(rest)
    }
}

/// Bytes of later files that may wait for earlier ones, where the memory is not known.
const WAITING: usize = 64 << 20;

/// Bytes of later files that may wait for earlier ones.
pub(super) fn waiting(resources: Resources) -> usize {
    const MOST: usize = 4 << 30;
    (resources.memory / 16).min(MOST)
}

/// One file of records.
pub(super) enum RecordWriter {
    Bytes(Box<Output>),
    Parquet(Box<ParquetWriter>),
}

impl RecordWriter {
    pub(super) fn new(
        mut output: Output,
        format: &RecordFormat,
        formulas: Formulas,
    ) -> Result<Self> {
        match format {
            RecordFormat::Parquet(schema) => {
                return Ok(Self::Parquet(ParquetWriter::new(output, schema.clone())?.into()));
            }
            RecordFormat::Delimited { delimiter, header, .. } => {
                output.put_rows(*delimiter, formulas);
                output.put(header)?;
            }
            RecordFormat::Array => output.put_elements(),
            RecordFormat::Jsonl | RecordFormat::Txt => {}
        }
        Ok(Self::Bytes(Box::new(output)))
    }

    /// Whole records, as bytes.
    pub(super) fn put(&mut self, records: &[u8]) -> Result<()> {
        match self {
            Self::Bytes(output) => output.put(records),
            Self::Parquet(_) => Ok(()), // its records are rows
        }
    }

    /// Records as rows.
    pub(super) fn put_rows(&mut self, rows: &RecordBatch) -> Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(rows),
            Self::Bytes(_) => Ok(()), // its records are bytes
        }
    }

    pub(super) fn share(&mut self, resources: Resources) {
        match self {
            Self::Bytes(output) => output.share(resources),
            Self::Parquet(writer) => writer.share(resources),
        }
    }

    /// If threads pack: the turns of those that copy.
    fn turns(&self) -> Option<Turns> {
        match self {
            Self::Bytes(output) => output.turns(),
            Self::Parquet(writer) => writer.turns(),
        }
    }

    pub(super) fn write(&mut self, body: &RecordBody, chunk: &Chunk) -> Result<()> {
        match (self, body) {
            (Self::Parquet(writer), RecordBody::Batch(batch)) => writer.write(batch),
            (Self::Bytes(output), body) => {
                body.pieces(chunk).try_for_each(|piece| output.put(piece))
            }
            _ => Ok(()), // `Input::copy` gives what the format asks for
        }
    }

    pub(super) fn ready(self) -> Result<CompleteOutput> {
        match self {
            Self::Bytes(output) => output.ready(),
            Self::Parquet(writer) => writer.ready(),
        }
    }
}
