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

/// An id that stands elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdRef<'a> {
    /// A whole number.
    Int(i64),
    /// Anything else.
    Text(&'a str),
}

impl<'a> From<&'a Id> for IdRef<'a> {
    fn from(id: &'a Id) -> Self {
        match id {
            Id::Int(number) => Self::Int(*number),
            Id::Text(text) => Self::Text(text),
        }
    }
}

impl From<IdRef<'_>> for Id {
    fn from(id: IdRef<'_>) -> Self {
        match id {
            IdRef::Int(number) => Self::Int(number),
            IdRef::Text(text) => Self::Text(text.into()),
        }
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
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
    /// A whole number.
    Int(i128),
    /// Any other number, never NaN.
    Number(f64),
    /// A text, compared by its bytes.
    Text(Box<str>),
}

/// The values of the fields that decide which of several items is kept, null where a record has none.
pub type KeepValues = Vec<Option<Value>>;

impl Ord for Value {
    /// Numbers by size, before texts. The two zeros are equal.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            // NaN is turned away by the readers; adding 0.0 makes −0.0 and 0.0 one number.
            (Self::Number(a), Self::Number(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Int(a), Self::Number(b)) => compare(*a, *b),
            (Self::Number(a), Self::Int(b)) => compare(*b, *a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (_, Self::Text(_)) => Ordering::Less,
            (Self::Text(_), _) => Ordering::Greater,
        }
    }
}

/// Compares exactly, where turning the whole number into a double would round it.
fn compare(whole: i128, number: f64) -> Ordering {
    // Infinities, and all that is beyond an i128, end up at its ends.
    let floor = number.floor();
    whole.cmp(&(floor as i128)).then(if number > floor { Ordering::Less } else { Ordering::Equal })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_exact_order() {
        let ordered = [
            Value::Number(f64::NEG_INFINITY),
            Value::Int(-3),
            Value::Number(-2.5),
            Value::Int(-2),
            Value::Number(0.5),
            Value::Int(1),
            Value::Int(1_700_000_000_000_000_001),
            Value::Int(1_700_000_000_000_000_002),
            Value::Number(1e30),
            Value::Text("2024".into()),
            Value::Text("a".into()),
        ];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        assert_eq!(Value::Int(2), Value::Number(2.0));
        assert_eq!(Value::Number(0.0), Value::Number(-0.0));
    }
}
