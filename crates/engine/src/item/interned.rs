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
/// They are found by 128 bits of a hash, and then compared: one whose hash another has takes the next hash that is free.
#[derive(Debug, Default)]
pub struct Interner {
    values: Values,
    numbers: HashMap<u128, u32, BuildHasherDefault<DigestHasher>>,
}

impl Interner {
    /// The number of a text, a new one where it is new.
    pub fn number(&mut self, text: &str) -> u32 {
        let hash = match self.place(text) {
            Ok(number) => return number,
            Err(hash) => hash,
        };
        self.values.push(text);
        let number = self.values.len() as u32 - 1;
        self.numbers.insert(hash, number);
        number
    }

    /// The number of a text, or the hash that is free for it.
    fn place(&self, text: &str) -> Result<u32, u128> {
        let mut hash = xxh3_128(text.as_bytes());
        while let Some(&number) = self.numbers.get(&hash) {
            if self.values.get(number as usize) == text {
                return Ok(number);
            }
            hash = hash.wrapping_add(1);
        }
        Err(hash)
    }

    /// The number of a text, where it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.place(text).ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_one_hash_have_numbers_of_their_own() {
        let mut interner = Interner::default();
        let first = interner.number("first");
        // As if other texts had the hash of the first and the one after it.
        for other in ["other", "third"] {
            interner.numbers.insert(xxh3_128(other.as_bytes()), first);
        }
        let [other, third] = ["other", "third"].map(|text| interner.number(text));
        assert!(first != other && other != third && first != third);
        assert_eq!(interner.find("other"), Some(other));
        assert_eq!(interner.number("third"), third);
        assert_eq!(interner.find("fourth"), None);
        assert_eq!(interner.values().iter().collect::<Vec<_>>(), ["first", "other", "third"]);
    }
}
