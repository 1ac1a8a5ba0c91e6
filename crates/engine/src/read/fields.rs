//! Takes a few named fields out of one JSON object, reading it once and building nothing else.
//!
//! In: the bytes of an object. Out: a [`Scalar`] for each wanted name, with strings unescaped into
//! one arena that all objects of a chunk share. Everything else in the object is checked to be valid
//! JSON and passed over.
//!
//! A name with dots is first looked for as it stands, then as a path: `meta.body` is the key
//! `meta.body`, else the key `body` of the object under `meta`. Where a key is repeated the last one
//! counts, as in most JSON libraries.
//!
//! [`json_fast`] reads most objects, serde_json the others. sonic-rs 0.5, built for any x86-64, was no faster: four
//! runs each with every byte checked, on two busy cores: 484–791 against 475–627 MB/s on 53 MB of source
//! files, 344–427 against 338–393 MB/s on 25 MB of manual pages, full of escapes.

use super::json_fast;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// How many fields are looked for at most: the text, the id and one more.
pub(super) const WANTED: usize = 3;

/// The wanted names; `None` where a slot is not used.
pub(super) type WantedNames<'a> = [Option<&'a str>; WANTED];

/// What a reader needs to know of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    /// A string: where it starts and ends in the arena.
    Text(usize, usize),
    Int(i64),
    /// A whole number above `i64::MAX`.
    Huge(u64),
    Float(f64),
    Bool,
    Null,
    List,
    Object,
    /// A list or an object, where such are asked for: where its JSON starts and ends in the arena.
    Raw(usize, usize),
}

impl Scalar {
    /// What to call it in a message.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Text(..) => "a string",
            Self::Int(_) | Self::Huge(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Bool => "a boolean",
            Self::Null => "null",
            Self::List | Self::Raw(..) => "a list",
            Self::Object => "an object",
        }
    }
}

/// The values that an object has under the wanted names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldValues {
    slots: [Option<(usize, Scalar)>; WANTED],
}

impl FieldValues {
    pub(super) fn get(&self, slot: usize) -> Option<Scalar> {
        self.slots[slot].map(|(_, scalar)| scalar)
    }

    /// A key nearer the root wins over a deeper one, a later one over an earlier one.
    pub(super) fn set(&mut self, slot: usize, depth: usize, scalar: Scalar) {
        if self.slots[slot].is_none_or(|(old, _)| depth <= old) {
            self.slots[slot] = Some((depth, scalar));
        }
    }
}

/// Why an object could not be taken apart.
#[derive(Debug)]
pub(super) enum JsonProblem {
    /// It is JSON, but not an object: what it is instead.
    NotAnObject(&'static str),
    /// It is not JSON.
    Json(serde_json::Error),
}

/// Reads one object. Strings found are appended to `arena`; with `lists`, so is the JSON of a list or an
/// object under the first name.
pub(super) fn take(
    json: &str,
    names: &WantedNames,
    lists: bool,
    arena: &mut Vec<u8>,
) -> Result<FieldValues, JsonProblem> {
    match json_fast::take(json.as_bytes(), names, arena) {
        Some((found, _)) => Ok(found),
        None => take_any(json, names, lists, arena),
    }
}

/// Reads one object with the full parser.
pub(super) fn take_any(
    json: &str,
    names: &WantedNames,
    lists: bool,
    arena: &mut Vec<u8>,
) -> Result<FieldValues, JsonProblem> {
    let mut found = FieldValues::default();
    let mut de = serde_json::Deserializer::from_str(json);
    let exact = [false; WANTED];
    let seen = Capture { names: *names, exact, depth: 0, lists, arena, found: &mut found }
        .deserialize(&mut de)
        .and_then(|seen| de.end().map(|()| seen))
        .map_err(JsonProblem::Json)?;
    match seen {
        Scalar::Object => Ok(found),
        other => Err(JsonProblem::NotAnObject(other.kind())),
    }
}

/// The keys of an object, to show in messages; none if it is no object.
pub(super) fn keys(json: &[u8]) -> Vec<String> {
    struct KeyList(Vec<String>);
    impl<'de> Visitor<'de> for KeyList {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Vec<String>, A::Error> {
            while let Some((key, IgnoredAny)) = map.next_entry()? {
                self.0.push(key);
            }
            Ok(self.0)
        }
    }
    let mut de = serde_json::Deserializer::from_slice(json);
    de.deserialize_map(KeyList(Vec::new())).unwrap_or_default()
}

/// Reads one value: notes it where `exact` says so, and looks inside it for the rest of `names`.
struct Capture<'a> {
    names: WantedNames<'a>,
    exact: [bool; WANTED],
    depth: usize,
    /// Whether the JSON of a list under the first name is kept.
    lists: bool,
    arena: &'a mut Vec<u8>,
    found: &'a mut FieldValues,
}

impl Capture<'_> {
    fn note(self, scalar: Scalar) -> Scalar {
        for slot in 0..WANTED {
            if self.exact[slot] {
                self.found.set(slot, self.depth, scalar);
            }
        }
        scalar
    }
}

impl<'de> DeserializeSeed<'de> for Capture<'_> {
    type Value = Scalar;

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<Scalar, D::Error> {
        de.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Capture<'_> {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
        let start = self.arena.len();
        self.arena.extend_from_slice(text.as_bytes());
        let end = self.arena.len();
        Ok(self.note(Scalar::Text(start, end)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
        Ok(self.note(Scalar::Int(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
        Ok(self.note(i64::try_from(number).map_or(Scalar::Huge(number), Scalar::Int)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
        Ok(self.note(Scalar::Float(number)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Scalar, E> {
        Ok(self.note(Scalar::Bool))
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(self.note(Scalar::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self.note(Scalar::List))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while let Some(key) = map.next_key_seed(KeySeed(&self.names))? {
            if !key.is_wanted() {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let depth = self.depth + 1;
            let inner = Capture {
                names: key.rest,
                exact: key.exact,
                depth,
                lists: self.lists,
                arena: &mut *self.arena,
                found: &mut *self.found,
            };
            if !(self.lists && key.exact[0]) {
                map.next_value_seed(inner)?;
                continue;
            }
            let raw = map.next_value::<&RawValue>()?.get();
            let mut reader = serde_json::Deserializer::from_str(raw);
            let seen = inner.deserialize(&mut reader).map_err(serde::de::Error::custom)?;
            if matches!(seen, Scalar::List | Scalar::Object) {
                let start = self.arena.len();
                self.arena.extend_from_slice(raw.as_bytes());
                self.found.set(0, depth, Scalar::Raw(start, self.arena.len()));
            }
        }
        Ok(self.note(Scalar::Object))
    }
}

/// Compares a key with the wanted names.
struct KeySeed<'a, 'n>(&'n WantedNames<'a>);

/// What a key means: which slots it names, and for which it is the first step of a path.
struct KeyMeaning<'a> {
    exact: [bool; WANTED],
    rest: WantedNames<'a>,
}

impl KeyMeaning<'_> {
    fn is_wanted(&self) -> bool {
        self.exact.contains(&true) || self.rest.iter().any(Option::is_some)
    }
}

impl<'de, 'a> DeserializeSeed<'de> for KeySeed<'a, '_> {
    type Value = KeyMeaning<'a>;

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<KeyMeaning<'a>, D::Error> {
        de.deserialize_str(self)
    }
}

impl<'de, 'a> Visitor<'de> for KeySeed<'a, '_> {
    type Value = KeyMeaning<'a>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<KeyMeaning<'a>, E> {
        let mut step = KeyMeaning { exact: [false; WANTED], rest: [None; WANTED] };
        for (slot, name) in self.0.iter().enumerate() {
            let Some(rest) = name.and_then(|name| name.strip_prefix(key)) else { continue };
            step.exact[slot] = rest.is_empty();
            step.rest[slot] = rest.strip_prefix('.');
        }
        Ok(step)
    }
}
