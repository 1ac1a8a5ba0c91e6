//! What a reader hands out: ids, values and texts, a chunk's worth at a time.

use super::fields::Scalar;
use crate::Error;
use arrow_array::{LargeStringArray, StringArray, StringViewArray};
use std::{cmp::Ordering, fmt};

/// A user's own name for an item. Whole numbers sort before texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// A whole number.
    Int(i64),
    /// Anything else.
    Text(Box<str>),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl From<&Id> for serde_json::Value {
    fn from(id: &Id) -> Self {
        match id {
            Id::Int(number) => (*number).into(),
            Id::Text(text) => text.as_ref().into(),
        }
    }
}

/// The value of the field that decides which item of a group is kept.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number, never NaN.
    Number(f64),
    /// A text, compared by its bytes.
    Text(Box<str>),
}

impl Ord for Value {
    /// Numbers by size, before texts. The two zeros are equal.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            // NaN is turned away by the readers; adding 0.0 makes −0.0 and 0.0 one number.
            (Self::Number(a), Self::Number(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

/// One record: which it is, and what was asked of it. Its text is [`Batch::text`].
#[derive(Clone, Debug)]
pub struct Item {
    /// The record's number within its chunk, from 0, bad records counted, blank lines not.
    pub ordinal: u32,
    /// Its id, where the collection has ids.
    pub id: Option<Id>,
    /// The field of [`ReadOptions::value`](super::ReadOptions::value); `None` where it is null or,
    /// in CSV, empty.
    pub value: Option<Value>,
    /// Where the text lies in the batch: bytes of the arena, or a row of the column.
    pub(super) at: (usize, usize),
}

/// Where the texts of a batch lie.
#[derive(Debug)]
pub(super) enum Texts {
    Arena(String),
    Utf8(StringArray),
    LargeUtf8(LargeStringArray),
    View(StringViewArray),
}

/// The wanted records of a chunk.
#[derive(Debug)]
pub struct Batch {
    /// How many records the chunk has, wanted or not, bad ones included, blank lines not.
    pub records: u32,
    /// The wanted ones, in order.
    pub items: Vec<Item>,
    /// What was wrong with the wanted records that are left out, under
    /// [`OnError::Skip`](super::OnError::Skip).
    pub bad: Vec<Error>,
    pub(super) texts: Texts,
}

impl Batch {
    pub(super) fn new(arena: String) -> Self {
        Self { records: 0, items: Vec::new(), bad: Vec::new(), texts: Texts::Arena(arena) }
    }

    /// The text of `items[i]`.
    pub fn text(&self, i: usize) -> &str {
        let (start, end) = self.items[i].at;
        match &self.texts {
            Texts::Arena(arena) => &arena[start..end],
            Texts::Utf8(column) => column.value(start),
            Texts::LargeUtf8(column) => column.value(start),
            Texts::View(column) => column.value(start),
        }
    }
}

/// An id from a JSON value, or why it cannot be one.
pub(super) fn id(field: &str, scalar: Scalar, arena: &str) -> Result<Id, String> {
    match scalar {
        Scalar::Int(number) => Ok(Id::Int(number)),
        Scalar::Text(start, end) => Ok(Id::Text(arena[start..end].into())),
        Scalar::Huge(number) => Err(too_big(field, number)),
        other => Err(format!(
            "id `{field}` is {}; an id must be a string or a whole number",
            other.kind()
        )),
    }
}

/// The message for an unsigned id beyond the range of signed ones.
pub(super) fn too_big(field: &str, number: u64) -> String {
    format!(
        "id `{field}` is {number}; whole-number ids go up to {}: write it as a string",
        i64::MAX
    )
}

/// A value from a JSON value, or why it cannot be one.
pub(super) fn value(field: &str, scalar: Scalar, arena: &str) -> Result<Option<Value>, String> {
    match scalar {
        Scalar::Int(number) => Ok(Some(Value::Number(number as f64))),
        Scalar::Huge(number) => Ok(Some(Value::Number(number as f64))),
        Scalar::Float(number) => Ok(Some(Value::Number(number))),
        Scalar::Text(start, end) => Ok(Some(Value::Text(arena[start..end].into()))),
        Scalar::Null => Ok(None),
        other => {
            Err(format!("field `{field}` is {}; it must be a number or a string", other.kind()))
        }
    }
}

/// "`a`, `b`, `c`": the names a user may choose from, the first few of them.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        n if n > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), n - SHOWN),
        _ => names.join(", "),
    }
}
