//! How the values of options look in JSON, and what is accepted there: also `"0.5"` for 0.5, and a list for names with
//! commas between them. Errors say what a value must be; the reader of the JSON adds which option it is.

use std::fmt;

use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::Serializer;

use crate::Error;

/// A value as it came: a word, a number, yes or no, or several of them.
enum OptionValue {
    Nothing,
    Yes,
    Text(String),
    Several(Vec<String>),
}

/// Takes anything that is no object, texts and numbers as text.
struct OptionValueVisitor<'a>(&'a str);

impl<'de> Visitor<'de> for OptionValueVisitor<'_> {
    type Value = OptionValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_unit<E>(self) -> Result<OptionValue, E> {
        Ok(OptionValue::Nothing)
    }

    fn visit_none<E>(self) -> Result<OptionValue, E> {
        Ok(OptionValue::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<OptionValue, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<OptionValue, E> {
        Ok(if yes { OptionValue::Yes } else { OptionValue::Nothing })
    }

    fn visit_str<E>(self, text: &str) -> Result<OptionValue, E> {
        Ok(OptionValue::Text(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<OptionValue, E> {
        Ok(OptionValue::Text(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<OptionValue, E> {
        Ok(OptionValue::Text(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<OptionValue, E> {
        Ok(OptionValue::Text(number.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OptionValue, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element::<String>()? {
            all.push(item);
        }
        Ok(OptionValue::Several(all))
    }
}

/// What a value must be, out of the error that says so.
pub(super) fn must(error: Error) -> String {
    match error {
        Error::Parameter { must, .. } => must,
        other => other.to_string(),
    }
}

/// Reads a value by its text, several with commas between them.
fn parsed<'de, T, D: Deserializer<'de>>(
    from: D,
    expected: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = match from.deserialize_any(OptionValueVisitor(expected))? {
        OptionValue::Nothing => return Ok(None),
        OptionValue::Yes => return Err(D::Error::custom(expected)),
        OptionValue::Text(text) => text,
        OptionValue::Several(all) => all.join(","),
    };
    parse(&text).map(Some).map_err(D::Error::custom)
}

/// Values that are read and written as texts.
pub(super) mod text {
    use super::*;

    pub(crate) fn serialize<T: fmt::Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: std::str::FromStr<Err = Error>,
        D: Deserializer<'de>,
    {
        parsed(from, "a text", |text| text.parse().map_err(must))
    }
}

/// Numbers. JSON has no infinite ones, so these are texts.
pub(super) mod number {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) if value.is_finite() => to.serialize_f64(*value),
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D>(from: D) -> Result<Option<f64>, D::Error>
    where
        D: Deserializer<'de>,
    {
        parsed(from, "a number", |text| text.parse().map_err(|_| "a number".to_owned()))
    }
}

/// A number of functions. Yes is the usual one.
pub(super) mod functions {
    use super::*;
    use crate::options::ESTIMATE_FUNCTIONS;

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<usize>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.serialize_u64(*value as u64),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D>(from: D) -> Result<Option<usize>, D::Error>
    where
        D: Deserializer<'de>,
    {
        let must = "a number of functions";
        match from.deserialize_any(OptionValueVisitor(must))? {
            OptionValue::Nothing => Ok(None),
            OptionValue::Yes => Ok(Some(ESTIMATE_FUNCTIONS)),
            OptionValue::Text(text) => text.parse().map(Some).map_err(|_| D::Error::custom(must)),
            OptionValue::Several(_) => Err(D::Error::custom(must)),
        }
    }
}

/// Values that are chosen by a word. Yes is the first of them.
pub(super) mod keyword {
    use super::*;
    use crate::options::Keyword;

    pub(crate) fn serialize<T: Keyword, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.serialize_str(value.word()),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: Keyword,
        D: Deserializer<'de>,
    {
        let words = T::words();
        match from.deserialize_any(OptionValueVisitor(&words))? {
            OptionValue::Nothing => Ok(None),
            OptionValue::Yes => Ok(T::ALL.first().map(|known| known.0)),
            OptionValue::Text(word) => {
                T::of_word(&word).map(Some).ok_or_else(|| D::Error::custom(&words))
            }
            OptionValue::Several(_) => Err(D::Error::custom(&words)),
        }
    }
}

/// Several names, as a list or with commas between them.
pub(super) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Vec<String>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(names) => to.collect_seq(names),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D>(from: D) -> Result<Option<Vec<String>>, D::Error>
    where
        D: Deserializer<'de>,
    {
        match from.deserialize_any(OptionValueVisitor("a list of names"))? {
            OptionValue::Nothing => Ok(None),
            OptionValue::Yes => Err(D::Error::custom("a list of names")),
            OptionValue::Text(names) => Ok(Some(names.split(',').map(str::to_owned).collect())),
            OptionValue::Several(names) => Ok(Some(names)),
        }
    }
}

/// Paths. What of one is no text is replaced, so that every path can be written.
pub(super) mod path {
    use std::path::PathBuf;

    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<PathBuf>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(path) => to.serialize_str(&path.to_string_lossy()),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D>(from: D) -> Result<Option<PathBuf>, D::Error>
    where
        D: Deserializer<'de>,
    {
        parsed(from, "a path", |text| Ok(text.into()))
    }
}

/// A number of bytes, or a size such as 4G.
pub(super) mod bytes {
    use super::*;
    use crate::options::memory_size;

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<usize>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(bytes) => to.serialize_u64(*bytes as u64),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D>(from: D) -> Result<Option<usize>, D::Error>
    where
        D: Deserializer<'de>,
    {
        parsed(from, "a size such as 512M or 4G", |text| memory_size(text).map_err(must))
    }
}

/// How large an item may be, as a number of bytes or a size such as 1G.
pub(super) mod item_bytes {
    use super::*;
    use crate::options::item_size;

    pub(crate) use super::bytes::serialize;

    pub(crate) fn deserialize<'de, D>(from: D) -> Result<Option<usize>, D::Error>
    where
        D: Deserializer<'de>,
    {
        parsed(from, "a size such as 512M or 4G", |text| item_size(text).map_err(must))
    }
}
