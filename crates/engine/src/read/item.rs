//! Ids and values from what a record's fields hold.

use super::{fields::Scalar, lines::utf8};
use crate::error::{Advice, Problem};
use crate::item::{Id, Value};

/// An id from a JSON value, or why it cannot be one.
pub(super) fn id(field: &str, scalar: Scalar, arena: &[u8]) -> Result<Id, Problem> {
    match scalar {
        Scalar::Int(number) => Ok(Id::Int(number)),
        Scalar::Text(start, end) => Ok(Id::Text(utf8(&arena[start..end])?.into())),
        Scalar::Huge(number) => Err(too_big(field, number)),
        other => Err(no_id(field, other.kind())),
    }
}

/// The problem of an unsigned id beyond the range of signed ones.
pub(super) fn too_big(field: &str, number: u64) -> Problem {
    let what = format!("id `{field}` is {number}");
    Problem::new(what).or(format!("whole-number ids go up to {}: write it as a string", i64::MAX))
}

/// The problem of an id that is `kind`.
pub(super) fn no_id(field: &str, kind: &str) -> Problem {
    Problem::new(format!("id `{field}` is {kind}")).or("an id must be a string or a whole number")
}

/// A value from a JSON value, or why it cannot be one.
pub(super) fn value(field: &str, scalar: Scalar, arena: &[u8]) -> Result<Option<Value>, Problem> {
    match scalar {
        Scalar::Int(number) => Ok(Some(Value::Int(number.into()))),
        Scalar::Huge(number) => Ok(Some(Value::Int(number.into()))),
        Scalar::Float(number) => Ok(Some(Value::Number(number))),
        Scalar::Text(start, end) => Ok(Some(Value::Text(utf8(&arena[start..end])?.into()))),
        Scalar::Null => Ok(None),
        other => {
            let what = format!("field `{field}` is {}", other.kind());
            Err(Problem::new(what).or("it must be a number or a string"))
        }
    }
}

/// The advice to choose another name, after the names that there are.
pub(super) fn choose<'a>(known: impl Iterator<Item = &'a str>, advice: Advice) -> Advice {
    let known = list(known);
    match advice {
        Advice::Do(what) => Advice::Do(format!("it has {known}: {what}").into()),
        Advice::Use { option, to } => {
            Advice::Use { option, to: format!("it has {known}: {to}").into() }
        }
        other => other,
    }
}

/// "`a`, `b`, `c`": the names a user may choose from, the first few of them.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        n if n > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), n - SHOWN),
        _ => names.join(", "),
    }
}
