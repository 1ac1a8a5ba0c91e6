//! Repeated pieces of documents: the pieces of a partition, and what is removed of those that came together.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BinaryArray, Int32Array, Int64Array, RecordBatch};
use arrow_pyarrow::PyArrowType;
use nearkin_engine::options::TrimOptions;
use nearkin_engine::read::ItemLimit;
use nearkin_engine::trim::{self, RepeatedPiece, TrimSettings};
use nearkin_engine::{Error, Result};
use pyo3::prelude::*;

use super::columns::{batch, check_sizes, longs, numbers, texts};
use super::settings::row_limit;
use crate::error::Raise;
use crate::run::parse_options;

/// What the options of a run and those of `trim` ask for.
fn settings(py: Python<'_>, options: &str, pieces: &str) -> PyResult<TrimSettings> {
    let options = parse_options(py, options)?;
    let pieces = TrimOptions::from_json(pieces).raise(py)?;
    Ok(pieces.settings(&options).raise(py)?.0)
}

/// The pieces of a partition's documents, in blocks for those who gather them.
#[pyclass(module = "nearkin._nearkin")]
pub(crate) struct Pieces {
    /// How many gather.
    #[pyo3(get)]
    gatherers: usize,
    blocks: trim::PieceBlocks,
    limit: ItemLimit,
}

#[pymethods]
impl Pieces {
    #[new]
    fn new(py: Python<'_>, options: &str, pieces: &str, gatherers: usize) -> PyResult<Self> {
        let limit = row_limit(py, options)?;
        let settings = settings(py, options, pieces)?;
        let blocks = trim::PieceBlocks::new(&settings, gatherers).raise(py)?;
        Ok(Self { gatherers, blocks, limit })
    }

    /// Takes up a batch of `position` and `text`.
    fn add(&mut self, py: Python<'_>, batch: PyArrowType<RecordBatch>) -> PyResult<()> {
        let work = || -> Result<()> {
            let texts = texts(&batch.0, false)?;
            check_sizes(&texts, self.limit)?;
            let positions = longs(&batch.0, "position")?.values().iter();
            let mut rows = positions.zip(&texts);
            rows.try_for_each(|(position, text)| self.blocks.add(*position as u64, text))
        };
        py.detach(work).raise(py)
    }

    /// The blocks that are full, or all that are left: `gatherer`, `block`.
    #[pyo3(signature = (finish = false))]
    fn blocks(&mut self, finish: bool) -> PyArrowType<RecordBatch> {
        let blocks = if finish { self.blocks.finish() } else { self.blocks.full() };
        PyArrowType(block_rows(&blocks))
    }

    /// Documents, their bytes and words, their pieces, and those of these that are blank.
    fn seen(&self) -> (u64, u64, u64, u64, u64) {
        let seen = self.blocks.seen;
        (seen.documents, seen.bytes, seen.words, seen.pieces, seen.blank)
    }
}

/// Blocks as rows: `gatherer`, `block`.
pub(super) fn block_rows(blocks: &[(u32, Vec<u8>)]) -> RecordBatch {
    let gatherers = Int32Array::from_iter_values(blocks.iter().map(|block| block.0 as i32));
    let bytes = BinaryArray::from_iter_values(blocks.iter().map(|block| &block.1));
    batch(vec![("gatherer", Arc::new(gatherers)), ("block", Arc::new(bytes))])
}

/// The columns of blocks that came together.
pub(super) fn gathered(blocks: &[PyArrowType<RecordBatch>]) -> Result<Vec<&BinaryArray>> {
    let columns =
        blocks.iter().map(|batch| batch.0.column_by_name("block")?.as_binary_opt::<i32>());
    let columns: Option<Vec<&BinaryArray>> = columns.collect();
    columns.ok_or_else(|| Error::parameter("blocks", "given", "batches with a column block"))
}

/// What is removed of the pieces in gathered blocks: `position`, `offset`, `length`, `words`, those of the document
/// (`document_words`, `document_bytes`), and where the kept one stands (`kept_position`, `kept_offset`).
#[pyfunction]
pub(crate) fn repeated(
    py: Python<'_>,
    blocks: Vec<PyArrowType<RecordBatch>>,
    options: &str,
    pieces: &str,
) -> PyResult<PyArrowType<RecordBatch>> {
    let settings = settings(py, options, pieces)?;
    let work = || -> Result<Vec<RepeatedPiece>> {
        let columns = gathered(&blocks)?;
        trim::repeated(columns.iter().flat_map(|column| column.iter().flatten()), &settings)
    };
    let removed = py.detach(work).raise(py)?;
    let column = |value: &dyn Fn(&RepeatedPiece) -> u64| numbers(removed.iter().map(value));
    let kept = |value: &dyn Fn((u64, u32)) -> u64| -> ArrayRef {
        let values = removed.iter().map(|piece| piece.kept.map(|kept| value(kept) as i64));
        Arc::new(Int64Array::from_iter(values))
    };
    Ok(PyArrowType(batch(vec![
        ("position", column(&|it| it.position)),
        ("offset", column(&|it| it.offset.into())),
        ("length", column(&|it| it.length.into())),
        ("words", column(&|it| it.words.into())),
        ("document_words", column(&|it| it.document.0.into())),
        ("document_bytes", column(&|it| it.document.1.into())),
        ("kept_position", kept(&|kept| kept.0)),
        ("kept_offset", kept(&|kept| kept.1.into())),
    ])))
}
