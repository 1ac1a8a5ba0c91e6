//! The vectors that are kept, in the format they came in.

use super::output::{CompleteOutput, Output};
use crate::error::{Error, Problem, Result};
use crate::read::format::by_extension;
use crate::read::{Format, VectorFiles};
use arrow_array::{Array, FixedSizeListArray, Float32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::path::Path;
use std::sync::Arc;

/// An error where vectors of a format cannot be written to this file.
///
/// # Errors
/// When there is no file, or its name tells another format.
pub fn check_vectors(target: Option<&Path>, format: Format) -> Result<()> {
    let advice = format!("name an output that ends in .{format}");
    let Some(path) = target.filter(|path| path.as_os_str() != "-") else {
        let what = format!("vectors of .{format} files are not written to standard output");
        return Err(Error::file("<stdout>", Problem::new(what).or(advice)));
    };
    if by_extension(path).0 == Some(format) {
        return Ok(());
    }
    let what = format!("vectors of .{format} files are written as they came");
    Err(Error::file(path, Problem::new(what).or(advice)))
}

/// Copies the kept rows of files of vectors to one file of the same format, in input order. There are `count` of them.
/// `progress` is told of the bytes of each row, and may end the copying. The file is complete, and has yet to appear.
///
/// # Errors
/// When a file is damaged or has changed, the rows of `.npy` files differ in type or length, or the target cannot be written.
pub fn vectors(
    files: &VectorFiles,
    target: Option<&Path>,
    kept: &dyn Fn(u64) -> bool,
    count: u64,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<CompleteOutput> {
    check_vectors(target, files.format())?;
    let mut output = Output::create(target)?;
    let mut first = None;
    let is_npy = files.format() == Format::Npy;
    files.each_row(&mut |row, element, bytes, name| {
        progress(bytes.len() as u64)?;
        let columns = bytes.len() / element.bytes();
        let (known, width) = *first.get_or_insert((element, columns));
        if is_npy && (known, width) != (element, columns) {
            let what = format!("holds {}, the first file {}", element.numpy(), known.numpy());
            return Err(Error::file(name, Problem::new(what).or("save all in one type")));
        }
        if is_npy && row == 0 {
            output.put(&npy_header(&element.numpy(), count, columns))?;
        }
        if !kept(row) {
            return Ok(());
        }
        if !is_npy {
            output.put(&(columns as u32).to_le_bytes())?;
        }
        output.put(bytes)
    })?;
    if is_npy && first.is_none() {
        output.put(&npy_header("<f4", 0, 1))?;
    }
    output.ready()
}

/// The kept rows of files of vectors as a column `vector` in memory, in input order; `progress` as in [`vectors`].
///
/// # Errors
/// When a file is damaged or has changed, or its vectors are not all equally long.
pub fn vector_batches(
    files: &VectorFiles,
    kept: &dyn Fn(u64) -> bool,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let (mut values, mut dimension) = (Vec::new(), None);
    files.each_row(&mut |row, element, bytes, name| {
        progress(bytes.len() as u64)?;
        let columns = bytes.len() / element.bytes();
        if *dimension.get_or_insert(columns) != columns {
            return Err(Error::file(name, "its vectors are not all equally long"));
        }
        match kept(row) {
            true => element.floats(bytes, &mut values).map_err(|wrong| Error::file(name, wrong)),
            false => Ok(()),
        }
    })?;
    let field = Arc::new(Field::new("item", DataType::Float32, false));
    let size = dimension.unwrap_or(1) as i32;
    let column = FixedSizeListArray::new(field, size, Arc::new(Float32Array::from(values)), None);
    let schema = Schema::new(vec![Field::new("vector", column.data_type().clone(), false)]);
    let schema = Arc::new(schema);
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(column)])
        .map_err(|error| Error::file("<vectors>", error.to_string()))?;
    Ok((schema, vec![batch]))
}

/// The header of version 1 of the `.npy` format (NEP 1), a multiple of 64 bytes long.
fn npy_header(kind: &str, rows: u64, columns: usize) -> Vec<u8> {
    let text =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header.resize(10 + length - 1, b' ');
    header.push(b'\n');
    header
}

#[cfg(test)]
mod tests {
    use super::npy_header;

    #[test]
    fn headers_are_as_numpy_writes_them() {
        // numpy.save of numpy.zeros((3, 4), 'f4'), NumPy 2.
        let header = npy_header("<f4", 3, 4);
        assert_eq!(header.len(), 128);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00v\x00");
        let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
        assert!(header[10..].starts_with(text) && header.ends_with(b" \n"));
    }
}
