//! Columns that come from Python and go there.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, make_array};
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::DataType;
use nearkin_engine::Error;
use nearkin_engine::item::Id;
use pyo3::prelude::*;

use crate::error::raised;

/// A column as pyarrow hands it over.
pub(crate) struct Column(ArrayRef);

impl<'py> FromPyObject<'_, 'py> for Column {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        FromPyArrow::from_pyarrow_bound(&object).map(|data| Self(make_array(data)))
    }
}

/// A column of texts without gaps.
pub(super) struct Texts(ArrayRef);

impl Texts {
    pub(super) fn new(py: Python<'_>, column: Column) -> PyResult<Self> {
        let array = column.0;
        let must = "a column of texts without gaps";
        match array.data_type() {
            _ if array.null_count() > 0 => {
                Err(raised(py, &Error::parameter("texts", "missing in places", must)))
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(Self(array)),
            other => Err(raised(py, &Error::parameter("texts", other, must))),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, row: usize) -> &str {
        match self.0.data_type() {
            DataType::Utf8 => self.0.as_string::<i32>().value(row),
            DataType::LargeUtf8 => self.0.as_string::<i64>().value(row),
            _ => self.0.as_string_view().value(row),
        }
    }
}

/// The ids of a column.
pub(super) fn ids(py: Python<'_>, column: Column) -> PyResult<Vec<Id>> {
    let array = column.0;
    if array.null_count() > 0 {
        return Err(raised(
            py,
            &Error::parameter("ids", "missing in places", "there for every item"),
        ));
    }
    if let Some(numbers) = array.as_primitive_opt::<Int64Type>() {
        return Ok(numbers.values().iter().map(|&number| Id::Int(number)).collect());
    }
    let texts = Texts::new(py, Column(array))?;
    Ok((0..texts.len()).map(|row| Id::Text(texts.get(row).into())).collect())
}

fn numbers<T: ArrowPrimitiveType>(py: Python<'_>, column: Column) -> PyResult<PrimitiveArray<T>> {
    let array = column.0;
    let wrong = || {
        let must = format!("a column of {} without gaps", T::DATA_TYPE);
        raised(py, &Error::parameter("numbers", array.data_type(), must))
    };
    array.as_primitive_opt::<T>().filter(|array| array.null_count() == 0).cloned().ok_or_else(wrong)
}

pub(super) fn doubles(py: Python<'_>, column: Column) -> PyResult<PrimitiveArray<Float64Type>> {
    numbers(py, column)
}

pub(super) fn words(py: Python<'_>, column: Column) -> PyResult<PrimitiveArray<UInt64Type>> {
    numbers(py, column)
}

pub(super) fn values(py: Python<'_>, column: Column) -> PyResult<PrimitiveArray<UInt32Type>> {
    numbers(py, column)
}

/// Offsets of lists.
pub(super) fn offsets(py: Python<'_>, column: Column) -> PyResult<PrimitiveArray<Int64Type>> {
    numbers(py, column)
}

/// A column for Python, not copied.
pub(super) fn handed_out<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyAny>> {
    array.to_data().to_pyarrow(py)
}
