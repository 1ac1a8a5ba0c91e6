//! Dates and times of columns that nobody can write: the calendar does not reach that far. Arrow would write the words of
//! an error into the field.

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{
    as_datetime, as_datetime_with_timezone, as_duration, as_time,
};
use arrow_array::timezone::Tz;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

/// The first value of a batch that is no date or time, in words.
pub(super) fn unwritable(batch: &RecordBatch) -> Option<String> {
    let fields = batch.schema_ref().fields().iter().zip(batch.columns());
    fields.into_iter().find_map(|(field, column)| {
        let value = unwritable_of(column)?;
        Some(format!(
            "{:?} has the value {value}, which is no {}",
            field.name(),
            kind(column.data_type())
        ))
    })
}

fn kind(kind: &DataType) -> &'static str {
    match kind {
        DataType::Timestamp(..) => "time of the calendar",
        DataType::Date32 | DataType::Date64 => "date of the calendar",
        DataType::Time32(_) | DataType::Time64(_) => "time of day",
        _ => "date or time",
    }
}

/// Whether there are dates or times in a part of this kind.
fn has_times(kind: &DataType) -> bool {
    match kind {
        DataType::Struct(fields) => fields.iter().any(|field| has_times(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => has_times(field.data_type()),
        DataType::Dictionary(_, values) => has_times(values),
        kind => kind.is_temporal(),
    }
}

/// The first such value of any of these arrays.
fn each(arrays: impl Iterator<Item = Option<ArrayRef>>) -> Option<i64> {
    arrays.flatten().find_map(|array| unwritable_of(&array))
}

fn unwritable_of(array: &dyn Array) -> Option<i64> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    fn first<T: ArrowPrimitiveType>(array: &dyn Array, is_fine: impl Fn(i64) -> bool) -> Option<i64>
    where
        T::Native: Into<i64>,
    {
        let values = array.as_primitive::<T>().iter().flatten().map(Into::into);
        values.into_iter().find(|&value| !is_fine(value))
    }
    fn stamp<T: ArrowPrimitiveType<Native = i64>>(
        array: &dyn Array,
        zone: Option<&str>,
    ) -> Option<i64> {
        // A zone that is not known is an error where it is used.
        match zone.and_then(|zone| zone.parse::<Tz>().ok()) {
            Some(zone) => {
                first::<T>(array, |at| as_datetime_with_timezone::<T>(at, zone).is_some())
            }
            None => first::<T>(array, |at| as_datetime::<T>(at).is_some()),
        }
    }
    fn date<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<i64>
    where
        T::Native: Into<i64>,
    {
        first::<T>(array, |at| as_datetime::<T>(at).is_some())
    }
    fn time<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<i64>
    where
        T::Native: Into<i64>,
    {
        first::<T>(array, |at| as_time::<T>(at).is_some())
    }
    fn span<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array) -> Option<i64> {
        first::<T>(array, |span| as_duration::<T>(span).is_some())
    }
    match array.data_type() {
        DataType::Timestamp(unit, zone) => match unit {
            Second => stamp::<TimestampSecondType>(array, zone.as_deref()),
            Millisecond => stamp::<TimestampMillisecondType>(array, zone.as_deref()),
            Microsecond => stamp::<TimestampMicrosecondType>(array, zone.as_deref()),
            Nanosecond => stamp::<TimestampNanosecondType>(array, zone.as_deref()),
        },
        DataType::Date32 => date::<Date32Type>(array),
        DataType::Date64 => date::<Date64Type>(array),
        DataType::Time32(Second) => time::<Time32SecondType>(array),
        DataType::Time32(_) => time::<Time32MillisecondType>(array),
        DataType::Time64(Microsecond) => time::<Time64MicrosecondType>(array),
        DataType::Time64(_) => time::<Time64NanosecondType>(array),
        DataType::Duration(unit) => match unit {
            Second => span::<DurationSecondType>(array),
            Millisecond => span::<DurationMillisecondType>(array),
            Microsecond => span::<DurationMicrosecondType>(array),
            Nanosecond => span::<DurationNanosecondType>(array),
        },
        // Of what is in parts, only those that a row refers to.
        kind if !has_times(kind) => None,
        DataType::Struct(_) => {
            (0..array.len()).filter(|&row| array.is_valid(row)).find_map(|row| {
                array
                    .as_struct()
                    .columns()
                    .iter()
                    .find_map(|part| unwritable_of(&part.slice(row, 1)))
            })
        }
        DataType::List(_) => each(array.as_list::<i32>().iter()),
        DataType::LargeList(_) => each(array.as_list::<i64>().iter()),
        DataType::FixedSizeList(..) => each(array.as_fixed_size_list().iter()),
        DataType::Map(..) => {
            array.as_map().iter().flatten().find_map(|entries| unwritable_of(&entries))
        }
        DataType::Dictionary(..) => {
            let (values, rows) = (array.as_any_dictionary(), 0..array.len());
            let keys = values.normalized_keys();
            let used = rows.filter(|&row| array.is_valid(row)).map(|row| keys[row]);
            used.into_iter().find_map(|key| unwritable_of(&values.values().slice(key, 1)))
        }
        _ => None,
    }
}
