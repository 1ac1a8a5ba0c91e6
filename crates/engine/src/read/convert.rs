//! Arrow columns as the few types that items, ids and values are read from.
//!
//! `arrow_cast::cast` does the same between any two types. It has to bring code for every such pair along, which was
//! a sixth of the command; what is needed here are five targets.

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, Float64Array, LargeBinaryArray, LargeStringArray,
    PrimitiveArray,
    cast::AsArray,
    downcast_integer_array, downcast_temporal_array,
    types::{
        BinaryType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
        Float16Type, Float32Type, Float64Type, Utf8Type,
    },
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use std::sync::Arc;

/// The column itself, its values in place where it has a dictionary.
pub(super) fn without_dictionary(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.as_any_dictionary_opt() {
        Some(dictionary) => take(dictionary.values(), dictionary.keys(), None),
        None => Ok(Arc::clone(column)),
    }
}

/// Whole numbers, booleans and times as whole numbers of one type; null where a number does not fit.
pub(super) fn whole<T>(column: &ArrayRef) -> Result<ArrayRef, ArrowError>
where
    T: ArrowPrimitiveType<Native: TryFrom<i128>>,
{
    let column = &without_dictionary(column)?;
    let fitting = |number: i128| T::Native::try_from(number).ok();
    let numbers: PrimitiveArray<T> = downcast_integer_array!(
        column => column.unary_opt(|number| fitting(number.into())),
        DataType::Boolean => {
            column.as_boolean().iter().map(|flag| fitting(flag?.into())).collect()
        }
        kind if kind.is_temporal() => downcast_temporal_array!(
            column => column.unary_opt(|number| fitting(number.into())),
            kind => return Err(unreadable(kind, "whole numbers")),
        ),
        kind => return Err(unreadable(kind, "whole numbers")),
    );
    Ok(Arc::new(numbers))
}

/// Numbers and booleans as the nearest `f64`.
pub(super) fn floats(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let column = &without_dictionary(column)?;
    let numbers: Float64Array = downcast_integer_array!(
        column => column.unary(|number| number as f64),
        DataType::Float64 => return Ok(Arc::clone(column)),
        DataType::Float32 => column.as_primitive::<Float32Type>().unary(f64::from),
        DataType::Float16 => column.as_primitive::<Float16Type>().unary(f64::from),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(column),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(column),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(column),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(column),
        DataType::Boolean => column.as_boolean().iter().map(|flag| flag.map(f64::from)).collect(),
        kind => return Err(unreadable(kind, "numbers")),
    );
    Ok(Arc::new(numbers))
}

/// Each decimal read from its own digits, so that it is rounded once.
fn decimals<D: DecimalType>(column: &ArrayRef) -> Float64Array {
    let column = column.as_primitive::<D>();
    let nearest = |number| {
        let digits = D::format_decimal(number, column.precision(), column.scale());
        digits.parse().ok()
    };
    column.unary_opt::<_, Float64Type>(nearest)
}

/// Texts, and whole numbers and booleans as they are written.
pub(super) fn texts(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let column = &without_dictionary(column)?;
    let texts: LargeStringArray = match column.data_type() {
        DataType::LargeUtf8 => return Ok(Arc::clone(column)),
        DataType::Utf8 => {
            let (offsets, texts, nulls) = column.as_bytes::<Utf8Type>().clone().into_parts();
            LargeStringArray::new(wide(&offsets), texts, nulls)
        }
        DataType::Utf8View => column.as_string_view().iter().collect(),
        DataType::Boolean => {
            column.as_boolean().iter().map(|flag| flag.map(|it| it.to_string())).collect()
        }
        _ => downcast_integer_array!(
            column => column.iter().map(|number| number.map(|it| it.to_string())).collect(),
            kind => return Err(unreadable(kind, "texts")),
        ),
    };
    Ok(Arc::new(texts))
}

/// Strings of bytes.
pub(super) fn bytes(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let column = &without_dictionary(column)?;
    let bytes: LargeBinaryArray = match column.data_type() {
        DataType::LargeBinary => return Ok(Arc::clone(column)),
        DataType::Binary => {
            let (offsets, bytes, nulls) = column.as_bytes::<BinaryType>().clone().into_parts();
            LargeBinaryArray::new(wide(&offsets), bytes, nulls)
        }
        DataType::BinaryView => column.as_binary_view().iter().collect(),
        DataType::FixedSizeBinary(_) => column.as_fixed_size_binary().iter().collect(),
        kind => return Err(unreadable(kind, "bytes")),
    };
    Ok(Arc::new(bytes))
}

fn wide(offsets: &OffsetBuffer<i32>) -> OffsetBuffer<i64> {
    OffsetBuffer::new(offsets.iter().copied().map(i64::from).collect::<ScalarBuffer<i64>>())
}

fn unreadable(kind: &DataType, what: &str) -> ArrowError {
    ArrowError::CastError(format!("a column of {kind} holds no {what}"))
}
