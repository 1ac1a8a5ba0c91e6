//! Lists in Arrow columns: where each row's values lie, and the values as texts or numbers.

use super::{
    convert,
    shape::{count, number_text},
};
use crate::error::{Advice, Problem};
use crate::shingle::elements::{push_element, start_list};
use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{Float16Type, Float32Type, Float64Type},
};
use arrow_schema::{ArrowError, DataType};

/// The values of all rows, and where those of each row lie.
pub(super) struct ArrowLists<'a> {
    column: &'a ArrayRef,
    pub(super) values: ArrayRef,
    /// How many values the underlying array has before the first of this column.
    before: usize,
}

impl<'a> ArrowLists<'a> {
    /// Nothing where the column holds no lists.
    pub(super) fn new(column: &'a ArrayRef) -> Option<Self> {
        let values = match column.data_type() {
            DataType::List(_) => column.as_list::<i32>().values(),
            DataType::LargeList(_) => column.as_list::<i64>().values(),
            DataType::FixedSizeList(..) => column.as_fixed_size_list().values(),
            DataType::Map(..) => column.as_map().keys(),
            _ => return None,
        };
        let (before, after) = ends(column);
        Some(Self { column, values: values.slice(before, after - before), before })
    }

    /// Where the values of a row start and end.
    pub(super) fn range(&self, row: usize) -> (usize, usize) {
        let (start, end) = range(self.column, row);
        (start - self.before, end - self.before)
    }
}

/// Where the values of a column of lists start and end.
fn ends(column: &ArrayRef) -> (usize, usize) {
    match column.len() {
        0 => (0, 0),
        rows => (range(column, 0).0, range(column, rows - 1).1),
    }
}

fn range(column: &ArrayRef, row: usize) -> (usize, usize) {
    match column.data_type() {
        DataType::LargeList(_) => {
            let offsets = column.as_list::<i64>().value_offsets();
            (offsets[row] as usize, offsets[row + 1] as usize)
        }
        DataType::FixedSizeList(..) => {
            let lists = column.as_fixed_size_list();
            let start = lists.value_offset_at(row);
            (start, start + lists.value_length() as usize)
        }
        DataType::Map(..) => {
            let offsets = column.as_map().value_offsets();
            (offsets[row] as usize, offsets[row + 1] as usize)
        }
        _ => {
            let offsets = column.as_list::<i32>().value_offsets();
            (offsets[row] as usize, offsets[row + 1] as usize)
        }
    }
}

/// The type of the values of a list, `None` if it is no list.
pub(super) fn value_type(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            Some(field.data_type())
        }
        _ => None,
    }
}

/// Whether values of this type can be elements.
pub(super) fn is_element(kind: &DataType) -> bool {
    kind.is_integer()
        || kind.is_floating()
        || matches!(
            kind,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean
        )
}

/// Whether a column of this type holds sets or bags.
pub(super) fn holds_elements(kind: &DataType) -> bool {
    match kind {
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => matches!(
                fields.as_ref(),
                [key, value] if is_element(key.data_type()) && value.data_type().is_numeric()
            ),
            _ => false,
        },
        other => value_type(other).is_some_and(is_element),
    }
}

/// Values as texts, numbers written as they are in lists of JSON.
pub(super) fn texts(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let floats = |numbers: Vec<Option<String>>| -> ArrayRef {
        std::sync::Arc::new(arrow_array::LargeStringArray::from(numbers))
    };
    Ok(match values.data_type() {
        DataType::Float64 => {
            let numbers = values.as_primitive::<Float64Type>().iter();
            floats(numbers.map(|number| number.map(number_text)).collect())
        }
        DataType::Float32 => {
            let numbers = values.as_primitive::<Float32Type>().iter();
            floats(numbers.map(|number| Some((number? + 0.0).to_string())).collect())
        }
        DataType::Float16 => {
            let numbers = values.as_primitive::<Float16Type>().iter();
            floats(numbers.map(|number| Some((number?.to_f32() + 0.0).to_string())).collect())
        }
        _ => convert::texts(values)?,
    })
}

/// The rows of a column of lists or of counts as list texts.
pub(super) struct ElementRows<'a> {
    lists: ArrowLists<'a>,
    texts: ArrayRef,
    counts: Option<ArrayRef>,
}

impl<'a> ElementRows<'a> {
    pub(super) fn new(column: &'a ArrayRef) -> Result<Option<Self>, ArrowError> {
        let Some(lists) = ArrowLists::new(column) else { return Ok(None) };
        let counts = match column.data_type() {
            DataType::Map(..) => {
                let (start, end) = ends(column);
                let counts = column.as_map().values().slice(start, end - start);
                Some(convert::floats(&counts)?)
            }
            _ => None,
        };
        let texts = texts(&lists.values)?;
        Ok(Some(Self { lists, texts, counts }))
    }

    /// Appends the list text of a row.
    pub(super) fn push(&self, row: usize, arena: &mut String) -> Result<(), Problem> {
        start_list(arena);
        let (start, end) = self.lists.range(row);
        let texts = self.texts.as_string::<i64>();
        for at in start..end {
            if texts.is_null(at) {
                return Err(Problem::new("an element is null").or("fill it").or(Advice::SKIP));
            }
            let element = texts.value(at);
            let times = match &self.counts {
                None => 1,
                Some(counts) if counts.is_null(at) => {
                    let what = format!("element `{element}` has null for a count");
                    return Err(Problem::new(what).or("write a whole number"));
                }
                Some(counts) => count(element, counts.as_primitive::<Float64Type>().value(at))?,
            };
            push_element(arena, element, times);
        }
        Ok(())
    }
}
