//! What a user may ask a step to show, beside the options of a search.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::options::Keyword;

/// A step from an item to its matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// What texts are cut into.
    Shingles,
    /// Which element is in which set.
    Matrix,
    /// Minhashes.
    Signatures,
    /// Similarity of columns beside that of signatures.
    Estimate,
    /// Which items share a band.
    Buckets,
    /// Signs under hyperplanes, buckets on lines.
    Sketch,
    /// Strings of symbols and where they are looked up.
    Prefix,
    /// How far functions are from min-wise.
    Family,
    /// A table without collisions.
    Perfect,
    /// An index of near neighbours.
    Near,
    /// Copies, found by a first look.
    Identical,
}

impl Keyword for Step {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Shingles, "shingles", "What texts are cut into"),
        (Self::Matrix, "matrix", "Which element is in which set"),
        (Self::Signatures, "signatures", "Minhashes of sets"),
        (Self::Estimate, "estimate", "Similarity of columns beside that of signatures"),
        (Self::Buckets, "buckets", "Which items share a band"),
        (Self::Sketch, "sketch", "Signs under hyperplanes, buckets on lines"),
        (Self::Prefix, "prefix", "Strings of symbols and where they are looked up"),
        (Self::Family, "family", "How far hash functions are from min-wise"),
        (Self::Perfect, "perfect", "A table of keys without collisions"),
        (Self::Near, "near", "The (c, r) near-neighbour index"),
        (Self::Identical, "identical", "Copies, found by a first look"),
    ];
}

/// Words that a user gave as a list, or as one text that is still to be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum List {
    /// As one text: commas part its words, or white space.
    Text(String),
    /// Word by word.
    Words(Vec<String>),
}

impl From<String> for List {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl List {
    /// The words. Brackets around a text and blanks around its words do not count.
    pub(super) fn words(&self) -> Vec<String> {
        let text = match self {
            Self::Words(words) => return words.clone(),
            Self::Text(text) => text.trim(),
        };
        let inner = [('{', '}'), ('[', ']'), ('(', ')')].into_iter().find_map(|(open, close)| {
            text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close))
        });
        let text = inner.unwrap_or(text).trim();
        if text.is_empty() {
            return Vec::new();
        }
        match text.contains(',') {
            true => text.split(',').map(|word| word.trim().to_owned()).collect(),
            false => text.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// The words; or the letters of the only one, where `is_known` does not know it and knows each of them.
    pub(super) fn words_or_letters(&self, is_known: impl Fn(&str) -> bool) -> Vec<String> {
        let words = self.words();
        if let [word] = &words[..]
            && !is_known(word)
        {
            let letters: Vec<String> = word.chars().map(String::from).collect();
            if letters.iter().all(|letter| is_known(letter)) {
                return letters;
            }
        }
        words
    }
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;

        impl<'de> Visitor<'de> for Words {
            type Value = List;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of texts and numbers")
            }

            fn visit_str<E>(self, text: &str) -> Result<List, E> {
                Ok(List::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List, A::Error> {
                let mut words = Vec::new();
                while let Some(Word(word)) = seq.next_element()? {
                    words.push(word);
                }
                Ok(List::Words(words))
            }
        }

        deserializer.deserialize_any(Words)
    }
}

/// A text or a number.
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Text(String),
            Whole(i64),
            Real(f64),
        }
        Ok(Self(match Any::deserialize(deserializer)? {
            Any::Text(text) => text,
            Any::Whole(number) => number.to_string(),
            Any::Real(number) => number.to_string(),
        }))
    }
}

/// What a step is asked for; what is left out has its default there.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShowOptions {
    /// Whether every letter of a set that is typed in is an element.
    pub letters: bool,
    /// Whether items are URLs.
    pub urls: bool,
    /// The rows of the matrix in their order. Default: all elements.
    pub universe: Option<List>,
    /// Orders of the rows.
    pub permutation: Vec<List>,
    /// Orders of the rows, as the place of each row, from 1.
    pub places: Vec<List>,
    /// Functions of the rows, such as `3x+1 mod 5`.
    pub functions: Vec<String>,
    /// Whether all orders of the rows are taken.
    pub all_permutations: bool,
    /// Whether the orders are taken that start at a row and go round.
    pub cyclic: bool,
    /// Numbers of a signature by the engine's own sketch, or hyperplanes of a sketch.
    pub values: Option<usize>,
    /// How many places of each order are looked at.
    pub truncate: Option<usize>,
    /// Groups of rows, each of which gives a value.
    pub groups: Option<usize>,
    /// Whether the items are signatures themselves.
    pub signatures: bool,
    /// Normals of hyperplanes.
    pub normal: Vec<List>,
    /// Whether all vectors of +1 and −1 are normals.
    pub all_signs: bool,
    /// Whether the engine's own normals have components +1 and −1.
    pub signs: bool,
    /// Directions of lines.
    pub line: Vec<List>,
    /// Whether the axes are lines.
    pub axes: bool,
    /// Widths of the buckets on lines.
    pub width: Vec<f64>,
    /// The order of the symbols. Default: rarest first.
    pub order: Option<List>,
    /// The length of a string, where there are no items.
    pub length: Option<usize>,
    /// How many times r an answer may be away.
    pub factor: Option<f64>,
    /// The size of the universe of families of permutations.
    pub size: Option<usize>,
}
