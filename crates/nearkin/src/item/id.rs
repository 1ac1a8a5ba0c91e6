//! The user's own names for items, and the values that decide which of several is kept.

use std::cmp::Ordering;
use std::fmt;

/// A user's own name for an item. Whole numbers sort before texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// A whole number.
    Int(i64),
    /// Anything else.
    Text(Box<str>),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

#[cfg(feature = "files")]
impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
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
