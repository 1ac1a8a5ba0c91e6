//! Texts that occur again and again, each held once.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::LazyLock;

use nearkin_kernels::{HashKey, hash_piece};

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
/// They are found by a hash, and then compared: one whose hash another has takes the next hash that is free. Nobody knows
/// the key, so nobody can choose texts that all fall into one place of the table. Numbers do not depend on it.
#[derive(Debug, Default)]
pub struct Interner {
    values: Values,
    numbers: HashMap<u64, u32, BuildHasherDefault<DigestHasher>>,
}

/// Another key in every run.
static KEY: LazyLock<HashKey> = LazyLock::new(|| HashKey::new(RandomState::new().hash_one(0)));

fn hash(text: &str) -> u64 {
    hash_piece(&KEY, text.as_bytes())
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
    fn place(&self, text: &str) -> Result<u32, u64> {
        let mut hash = hash(text);
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

    fn write(&mut self, _: &[u8]) {
        unreachable!("digests are numbers")
    }

    fn write_u64(&mut self, digest: u64) {
        self.0 = digest;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// They are as many as if somebody had looked for them for a second. With a key that is not known, 64 texts fall into
    /// 32 of 4096 places or fewer in one run of 10⁴⁰.
    #[test]
    fn texts_chosen_to_fall_into_one_place_of_the_table_fall_into_many() {
        let place = |hash: u64| hash % 4096;
        let known = |text: &String| {
            let hash = xxhash_rust::xxh3::xxh3_128(text.as_bytes());
            hash as u64 ^ (hash >> 64) as u64
        };
        let numbers = (0..).map(|number: u32| number.to_string());
        let chosen: Vec<String> = numbers.filter(|text| place(known(text)) == 0).take(64).collect();
        let places: BTreeSet<u64> = chosen.iter().map(|text| place(hash(text))).collect();
        assert!(places.len() > 32, "{} places", places.len());
        let mut interner = Interner::default();
        let first: Vec<u32> = chosen.iter().map(|text| interner.number(text)).collect();
        assert_eq!(first, (0..64).collect::<Vec<u32>>());
        assert!(chosen.iter().zip(first).all(|(text, number)| interner.number(text) == number));
    }

    #[test]
    fn texts_with_one_hash_have_numbers_of_their_own() {
        let mut interner = Interner::default();
        let first = interner.number("first");
        // As if other texts had the hash of the first and the one after it.
        for other in ["other", "third"] {
            interner.numbers.insert(hash(other), first);
        }
        let [other, third] = ["other", "third"].map(|text| interner.number(text));
        assert!(first != other && other != third && first != third);
        assert_eq!(interner.find("other"), Some(other));
        assert_eq!(interner.number("third"), third);
        assert_eq!(interner.find("fourth"), None);
        assert_eq!(interner.values().iter().collect::<Vec<_>>(), ["first", "other", "third"]);
    }
}
