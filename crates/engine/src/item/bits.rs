//! Many bit strings of one length in one piece of memory.

use crate::{Error, Result};

/// A list of bit strings, each of `length` bits, packed into words from the lowest bit up; the last word is
/// filled up with zeros.
#[derive(Debug, Clone, Default)]
pub struct Bits {
    length: usize,
    words: Vec<u64>,
}

impl Bits {
    /// No bit strings yet, of `length` bits each.
    ///
    /// # Errors
    /// When `length` is 0.
    pub fn new(length: usize) -> Result<Self> {
        if length == 0 {
            return Err(Error::parameter("length", length, "at least 1"));
        }
        Ok(Self { length, words: Vec::new() })
    }

    /// Appends a bit string, as many words as [`words_each`](Self::words_each) says. Bits beyond the length
    /// are cleared.
    ///
    /// # Errors
    /// When there are more or fewer words.
    pub fn push(&mut self, words: &[u64]) -> Result<()> {
        if words.len() != self.words_each() {
            return Err(Error::Mismatch { left: self.length, right: words.len() * 64 });
        }
        self.words.extend_from_slice(words);
        let spare = self.words_each() * 64 - self.length;
        if let Some(last) = self.words.last_mut() {
            *last &= u64::MAX >> spare;
        }
        Ok(())
    }

    /// The bit strings at these places.
    pub fn select(&self, items: impl Iterator<Item = usize>) -> Self {
        Self {
            length: self.length,
            words: items.flat_map(|item| self.get(item)).copied().collect(),
        }
    }

    /// These bit strings and then others.
    ///
    /// # Errors
    /// When those have another length.
    pub fn followed_by(mut self, others: &Self) -> Result<Self> {
        if self.length != others.length {
            return Err(Error::Mismatch { left: self.length, right: others.length });
        }
        self.words.extend_from_slice(&others.words);
        Ok(self)
    }

    /// Bits of each bit string.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Words of each bit string.
    pub fn words_each(&self) -> usize {
        self.length.div_ceil(64)
    }

    /// Number of bit strings.
    pub fn len(&self) -> usize {
        self.words.len() / self.words_each().max(1)
    }

    /// Whether there is no bit string.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words of the bit string at `index`.
    pub fn get(&self, index: usize) -> &[u64] {
        &self.words[index * self.words_each()..][..self.words_each()]
    }

    /// Whether the bit at `place` of the bit string at `index` is set.
    pub fn bit(&self, index: usize, place: usize) -> bool {
        self.get(index)[place / 64] >> (place % 64) & 1 == 1
    }
}
