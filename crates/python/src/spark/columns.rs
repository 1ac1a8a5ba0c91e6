//! Columns of positions and texts, as Spark hands them over and wants them back.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use nearkin_engine::error::{Advice, Error, Result};
use nearkin_engine::read::ItemLimit;
use nearkin_engine::shingle::elements::{push_element, push_plain, start_list};

/// A batch of these columns.
pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// A column of whole numbers.
pub(super) fn numbers(values: impl IntoIterator<Item = u64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values.into_iter().map(|value| value as i64)))
}

/// The whole numbers of a column.
pub(super) fn longs<'a>(batch: &'a RecordBatch, name: &'static str) -> Result<&'a Int64Array> {
    let column =
        batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>());
    column
        .filter(|column| column.null_count() == 0)
        .ok_or_else(|| Error::parameter("column", name, "whole numbers of 64 bits, none null"))
}

/// The texts of the column `text`; lists of elements become list texts.
pub(super) fn texts(batch: &RecordBatch, of_elements: bool) -> Result<Vec<Cow<'_, str>>> {
    let wrong = |must: &str| Error::parameter("column", "text", must);
    let column = batch.column_by_name("text").ok_or_else(|| wrong("there"))?;
    if column.null_count() > 0 {
        let row = (0..column.len()).find(|&row| column.is_null(row)).unwrap_or_default();
        let position = longs(batch, "position").map_or(row as i64, |all| all.value(row));
        let (row_there, partition) = (position & ((1 << 33) - 1), position >> 33);
        let what = format!("the text is null in row {row_there} of partition {partition}");
        let error = Error::input("DataFrame", row as u64 + 1, what);
        return Err(error.or("fill it in").or(Advice::SKIP));
    }
    let list = |elements: &ArrayRef| {
        let mut text = String::new();
        start_list(&mut text);
        let elements =
            elements.as_string_opt::<i32>().ok_or_else(|| wrong("texts, or lists of texts"))?;
        elements.iter().flatten().for_each(|element| push_element(&mut text, element, 1));
        Ok(Cow::Owned(text))
    };
    let rows = 0..column.len();
    let mut all: Vec<Cow<'_, str>> = if let Some(texts) = column.as_string_opt::<i32>() {
        rows.map(|row| texts.value(row).into()).collect()
    } else if let Some(texts) = column.as_string_opt::<i64>() {
        rows.map(|row| texts.value(row).into()).collect()
    } else if let Some(texts) = column.as_string_view_opt() {
        rows.map(|row| texts.value(row).into()).collect()
    } else if let Some(lists) = column.as_list_opt::<i32>() {
        return rows.map(|row| list(&lists.value(row))).collect();
    } else {
        return Err(wrong("texts, or lists of texts"));
    };
    if of_elements {
        for text in &mut all {
            let mut plain = String::new();
            push_plain(&mut plain, text);
            *text = plain.into();
        }
    }
    Ok(all)
}

/// Refuses texts of a DataFrame that are larger than items may be.
pub(super) fn check_sizes(texts: &[Cow<'_, str>], limit: ItemLimit) -> Result<()> {
    texts.iter().zip(1..).try_for_each(|(text, row)| {
        limit.check_text(text).map_err(|problem| Error::input("DataFrame", row, problem))
    })
}
