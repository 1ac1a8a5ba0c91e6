//! The records that are kept, with all their fields as they came.

use super::{
    output::{Output, Ready},
    table::{output_format, parquet_failed, parquet_ready, parquet_writer},
};
use crate::{
    Result,
    read::{Body, Input, Kept, RecordFormat},
};
use parquet::arrow::ArrowWriter;
use std::path::{Path, PathBuf};

/// Copies the kept records to `target` (`None`: standard output, as JSONL), in input order. `progress`
/// is told of the bytes read after each chunk, and may end the copying. The file is complete, and has yet to appear.
pub fn records(
    input: &Input,
    target: Option<&Path>,
    kept: Kept,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Ready> {
    let format = output_format(target, None)?;
    let output = Output::create(target)?;
    let format = input.record_format(format, kept)?;
    let mut writer = RecordWriter::new(output, &format)?;
    let mut position = 0;
    for chunk in input.scan(None)? {
        let chunk = chunk?;
        let wanted = |ordinal: u32| kept(position + u64::from(ordinal));
        let records = input.copy(&chunk, &wanted, &format)?;
        writer.write(&records.body)?;
        position += u64::from(records.records);
        progress(chunk.bytes)?;
    }
    writer.ready()
}

/// One file of records.
enum RecordWriter {
    Bytes(Box<Output>),
    Parquet(Box<ArrowWriter<Output>>, PathBuf),
}

impl RecordWriter {
    fn new(mut output: Output, format: &RecordFormat) -> Result<Self> {
        match format {
            RecordFormat::Parquet(schema) => {
                let name = output.name().to_path_buf();
                let writer = parquet_writer(output, schema.clone())?;
                return Ok(Self::Parquet(Box::new(writer), name));
            }
            RecordFormat::Delimited { header, .. } => output.put(header)?,
            _ => {}
        }
        Ok(Self::Bytes(Box::new(output)))
    }

    fn write(&mut self, body: &Body) -> Result<()> {
        match (self, body) {
            (Self::Bytes(output), Body::Bytes(bytes)) => output.put(bytes),
            (Self::Parquet(writer, name), Body::Batch(batch)) => {
                writer.write(batch).map_err(|error| parquet_failed(name, error))
            }
            _ => Ok(()), // `Input::copy` gives what the format asks for
        }
    }

    fn ready(self) -> Result<Ready> {
        match self {
            Self::Bytes(output) => output.ready(),
            Self::Parquet(writer, name) => parquet_ready(*writer, &name),
        }
    }
}
