//! Texts that occur again and again, each held once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_128;

/// Distinct texts in one piece of memory, numbered from 0 in the order in which they came.
#[derive(Debug, Clone)]
pub struct Values {
    text: String,
    ends: Vec<usize>,
}

impl Default for Values {
    fn default() -> Self {
        Self { text: String::new(), ends: vec![0] }
    }
}

impl Values {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text with this number.
    pub fn get(&self, number: usize) -> &str {
        &self.text[self.ends[number]..self.ends[number + 1]]
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.text.len() + size_of::<usize>() * self.ends.len()
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }
}

/// Texts as they get their numbers.
///
/// They are told apart by 128 bits of their hash: among a billion different ones, two have the same with a chance below
/// 10⁻²⁰.
#[derive(Debug, Default)]
pub struct Interner {
    values: Values,
    numbers: HashMap<u128, u32, BuildHasherDefault<DigestHasher>>,
}

impl Interner {
    /// The number of a text, a new one where it is new.
    pub fn number(&mut self, text: &str) -> u32 {
        let values = &mut self.values;
        *self.numbers.entry(xxh3_128(text.as_bytes())).or_insert_with(|| {
            values.push(text);
            values.len() as u32 - 1
        })
    }

    /// The number of a text, where it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(&xxh3_128(text.as_bytes())).copied()
    }

    /// The texts by their numbers.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The texts by their numbers, when there will be no more.
    pub fn into_values(self) -> Values {
        self.values
    }
}

/// A hasher of what is a hash already.
#[derive(Debug, Default)]
struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, _) = bytes.as_chunks::<8>();
        self.0 = words.iter().fold(self.0, |hash, word| hash ^ u64::from_le_bytes(*word));
    }
}
