//! What the field of a record holds: a text, or a list that stands for a set, a bag, a vector or bits.
//!
//! The reader turns each into a text: sets and bags into a [list text](crate::shingle::elements), vectors and
//! bits into the value as it was written.

use crate::error::{Advice, Problem};
use crate::shingle::elements::{checked_count, push_element, push_plain, start_list};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// What the field of a record holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    #[default]
    Text,
    /// The elements of a set or a bag: a list of strings, numbers and booleans, an object of counts, or a
    /// text whose elements stand between white space. A cell of a table may hold a list or an object as
    /// JSON. Numbers are the texts they are written as, so 7, 7.0 and "7" are the same element.
    Elements,
    /// Any value: a text as it is, a list as its JSON.
    Value,
}

impl Shape {
    /// Appends to `arena` what stands for a value that was given as JSON.
    pub(super) fn push_json(self, json: &str, arena: &mut String) -> Result<(), Problem> {
        match self {
            Self::Text => Err(Problem::new("a list where a text is needed")
                .or(Advice::with("text", "name the text field"))),
            Self::Value => {
                arena.push_str(json);
                Ok(())
            }
            Self::Elements => {
                start_list(arena);
                let mut reader = serde_json::Deserializer::from_str(json);
                let read = ListSeed(arena).deserialize(&mut reader).and_then(|()| reader.end());
                read.map_err(|error| {
                    let message = error.to_string();
                    Problem::from_text(message.split(" at line ").next().unwrap_or_default())
                })
            }
        }
    }

    /// Appends what stands for a cell of a table or a line, which is JSON if `may_be_json` and it looks like it.
    pub(super) fn push_text(
        self,
        text: &str,
        may_be_json: bool,
        arena: &mut String,
    ) -> Result<(), Problem> {
        match self {
            Self::Elements if may_be_json && text.trim_start().starts_with(['[', '{']) => {
                self.push_json(text, arena)
            }
            Self::Elements => {
                push_plain(arena, text);
                Ok(())
            }
            Self::Text | Self::Value => {
                arena.push_str(text);
                Ok(())
            }
        }
    }
}

/// A count of an element, or why it cannot be one.
pub(super) fn count(element: &str, number: f64) -> Result<u32, Problem> {
    let what = || format!("element `{element}` occurs {number} times");
    checked_count(number).map_err(|why| Problem::new(what()).or(why))
}

/// Reads the elements of a list or the counts of an object into the list text at the end.
struct ListSeed<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<(), D::Error> {
        de.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of elements or an object of counts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(ElementSeed(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(element) = map.next_key::<String>()? {
            let number = map.next_value::<serde_json::Value>()?;
            let Some(number) = number.as_f64() else {
                let what = format!("element `{element}` has {} for a count", kind(&number));
                let problem = Problem::new(what).or("write a whole number");
                return Err(serde::de::Error::custom(problem.to_text()));
            };
            let count = count(&element, number)
                .map_err(|problem| serde::de::Error::custom(problem.to_text()))?;
            push_element(self.0, &element, count);
        }
        Ok(())
    }
}

fn kind(value: &serde_json::Value) -> &'static str {
    match value {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "a boolean",
        serde_json::Value::Number(_) => "a number",
        serde_json::Value::String(_) => "a string",
        serde_json::Value::Array(_) => "a list",
        serde_json::Value::Object(_) => "an object",
    }
}

/// Reads one element.
struct ElementSeed<'a>(&'a mut String);

impl ElementSeed<'_> {
    fn push<E>(self, element: &str) -> Result<(), E> {
        push_element(self.0, element, 1);
        Ok(())
    }

    fn wrong<E: serde::de::Error>(kind: &str) -> Result<(), E> {
        let problem = Problem::new(format!("an element is {kind}"))
            .or("elements are strings, numbers or booleans: change it")
            .or(Advice::SKIP);
        Err(E::custom(problem.to_text()))
    }
}

impl<'de> DeserializeSeed<'de> for ElementSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<(), D::Error> {
        de.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ElementSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an element")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.push(text)
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.push(&number.to_string())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.push(&number.to_string())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.push(&number_text(number))
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.push(if value { "true" } else { "false" })
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Self::wrong("null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Self::wrong("a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Self::wrong("an object")
    }
}

/// A number as the shortest text that means it; 7.0 is 7, and both zeros are 0.
pub(super) fn number_text(number: f64) -> String {
    (number + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::elements::each_element;

    fn elements(json: &str) -> Result<Vec<String>, Problem> {
        let mut text = String::new();
        Shape::Elements.push_text(json, true, &mut text)?;
        let mut all = Vec::new();
        each_element(&text, |element, count| all.push(format!("{element}×{count}")));
        Ok(all)
    }

    #[test]
    fn numbers_are_the_texts_they_are_written_as() {
        let all = elements(r#"[7, 7.0, "7", 7e0, -0.0, 0.5, true, "a b", 12345678901234567890]"#);
        let expected = ["7", "7", "7", "7", "0", "0.5", "true", "a b", "12345678901234567890"];
        assert_eq!(all.unwrap(), expected.map(|element| format!("{element}×1")));
        assert_eq!(elements("a 7 b").unwrap(), ["a×1", "7×1", "b×1"]);
        assert_eq!(elements(" [] ").unwrap(), [""; 0]);
    }

    #[test]
    fn objects_are_counts() {
        assert_eq!(
            elements(r#"{"a": 2, "b c": 1, "d": 0, "e": 3.0}"#).unwrap(),
            ["a×2", "b c×1", "e×3"]
        );
        for (wrong, part) in [
            (r#"{"a": -1}"#, "element `a` occurs -1 times; counts cannot be negative"),
            (r#"{"a": 1.5}"#, "must be whole"),
            (r#"{"a": 1e12}"#, "scale them down"),
            (r#"{"a": "2"}"#, "has a string for a count"),
            (r#"{"a": null}"#, "has null for a count"),
            ("[null]", "an element is null"),
            ("[[1]]", "an element is a list"),
            ("[{}]", "an element is an object"),
            ("[1, 2", "EOF"),
            ("[1] 2", "trailing"),
        ] {
            let what = crate::Error::Nothing(elements(wrong).unwrap_err()).to_string();
            assert!(what.contains(part), "{wrong}: {what}");
            assert!(!what.contains(" at line "), "{what}");
        }
    }
}
