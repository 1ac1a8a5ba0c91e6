//! The records that are kept, with all their fields as they came.

use super::{
    formulas::Formulas,
    output::{CompleteOutput, Output},
    packers::{Resources, Turns},
    parquet::ParquetWriter,
    table::output_format,
};
use crate::{
    Result,
    parallel::in_order,
    read::{Chunk, Format, Input, PositionFilter, RecordBody, RecordFormat},
};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use std::{path::Path, sync::Arc};

/// Copies the kept records to `target` (`None`: standard output, as JSONL), in input order, with these resources;
/// `formulas` says what to do with them in CSV and TSV. `progress` gets the bytes read after each chunk, and may end the
/// copying. The file is then complete, but does not appear yet.
pub fn records(
    input: &Input,
    target: Option<&Path>,
    kept: PositionFilter,
    formulas: Formulas,
    resources: Resources,
    progress: &mut (dyn FnMut(u64) -> Result<()> + Send),
) -> Result<CompleteOutput> {
    let format = output_format(target, None)?;
    let output = Output::create(target)?;
    let format = input.record_format(format, kept)?;
    let mut writer = RecordWriter::new(output, &format, formulas)?;
    writer.share(resources);
    let turns = writer.turns();
    let copies = Copies { input, format: &format, kept, turns: turns.as_ref() };
    copies.each(resources.threads, |body, chunk| {
        writer.write(&body, chunk)?;
        progress(chunk.bytes)
    })?;
    writer.ready()
}

/// The kept records as columns in memory, in input order; `progress` as in [`records`].
pub fn batches(
    input: &Input,
    kept: PositionFilter,
    threads: usize,
    progress: &mut (dyn FnMut(u64) -> Result<()> + Send),
) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let format = input.record_format(Format::Parquet, kept)?;
    let mut batches = Vec::new();
    let copies = Copies { input, format: &format, kept, turns: None };
    copies.each(threads, |body, chunk| {
        progress(chunk.bytes)?;
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

/// The kept records of an input.
struct Copies<'a> {
    input: &'a Input,
    format: &'a RecordFormat,
    kept: PositionFilter<'a>,
    /// Those of the threads that copy, where others pack what they copied.
    turns: Option<&'a Turns>,
}

impl Copies<'_> {
    /// Hands over the kept records of each chunk in order.
    fn each(
        self,
        threads: usize,
        mut take: impl FnMut(RecordBody, &Chunk) -> Result<()> + Send,
    ) -> Result<()> {
        let Self { input, format, kept, turns } = self;
        let known = input.positions();
        let nothing_kept = |number: usize| match known.get(number..number + 2) {
            Some(&[start, end]) => !(start..end).any(kept),
            _ => false,
        };
        let mut positions = known.clone();
        let chunks = input.scan(Some(&nothing_kept))?.map(|chunk| {
            let chunk = chunk?;
            let start = positions[chunk.number];
            if positions.len() == chunk.number + 1 {
                let records = input.decode(&chunk, &|_| false)?.records;
                positions.push(start + u64::from(records));
            }
            Ok((start, chunk))
        });
        in_order(
            threads,
            chunks,
            |(start, chunk)| {
                let _turn = turns.map(Turns::wait);
                let wanted = |ordinal: u32| kept(start + u64::from(ordinal));
                Ok((input.copy(&chunk, &wanted, format)?.body, chunk))
            },
            |(body, chunk)| take(body, &chunk),
        )
    }
}

/// One file of records.
enum RecordWriter {
    Bytes(Box<Output>),
    Parquet(Box<ParquetWriter>),
}

impl RecordWriter {
    fn new(mut output: Output, format: &RecordFormat, formulas: Formulas) -> Result<Self> {
        match format {
            RecordFormat::Parquet(schema) => {
                return Ok(Self::Parquet(ParquetWriter::new(output, schema.clone())?.into()));
            }
            RecordFormat::Delimited { delimiter, header, .. } => {
                output.put_rows(*delimiter, formulas);
                output.put(header)?;
            }
            _ => {}
        }
        Ok(Self::Bytes(Box::new(output)))
    }

    fn share(&mut self, resources: Resources) {
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

    fn write(&mut self, body: &RecordBody, chunk: &Chunk) -> Result<()> {
        match (self, body) {
            (Self::Parquet(writer), RecordBody::Batch(batch)) => writer.write(batch),
            (Self::Bytes(output), body) => {
                body.pieces(chunk).try_for_each(|piece| output.put(piece))
            }
            _ => Ok(()), // `Input::copy` gives what the format asks for
        }
    }

    fn ready(self) -> Result<CompleteOutput> {
        match self {
            Self::Bytes(output) => output.ready(),
            Self::Parquet(writer) => writer.ready(),
        }
    }
}
