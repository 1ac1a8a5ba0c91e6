//! The words of a text, and where they stand in it.

use std::ops::Range;

use crate::shingle::{Case, first_word, fold_case, hash_bytes, is_word_character};

/// The words of a text in their order, as [`UnicodeWords`](crate::shingle::UnicodeWords) has them, whatever their case.
#[derive(Debug)]
pub struct Words<'a> {
    text: &'a str,
    starts: Vec<usize>,
    hashes: Vec<u64>,
}

impl<'a> Words<'a> {
    /// Cuts a text into its words.
    pub fn of(text: &'a str) -> Self {
        let mut words = Self { text, starts: Vec::new(), hashes: Vec::new() };
        let mut buffer = Vec::new();
        let mut rest = text;
        while let Some(skipped) = rest.find(is_word_character) {
            let start = text.len() - rest.len() + skipped;
            let length = first_word(&text[start..]);
            fold_case(&text[start..start + length], Case::Fold, &mut buffer);
            words.starts.push(start);
            words.hashes.push(hash_bytes(&buffer));
            rest = &text[start + length..];
        }
        words
    }

    /// The text they stand in.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// A number for each: two words have the same where they differ in case at most, and else with a chance of 2⁻⁶⁴.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The bytes of the text from the first of these words to the last.
    ///
    /// # Panics
    /// When there are fewer words.
    pub fn span(&self, words: Range<usize>) -> Range<usize> {
        match words.is_empty() {
            true => {
                let at = self.starts.get(words.start).copied().unwrap_or(self.text.len());
                at..at
            }
            false => {
                let last = self.starts[words.end - 1];
                self.starts[words.start]..last + first_word(&self.text[last..])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let words = Words::of(text);
        (0..words.len()).map(|word| &text[words.span(word..word + 1)]).collect()
    }

    #[test]
    fn words_stand_where_they_stand() {
        assert_eq!(words("  It's 5_a, naïve—Ωmega! "), ["It", "s", "5_a", "naïve", "Ωmega"]);
        assert_eq!(words("犬がabc走る。"), ["犬", "が", "abc", "走", "る"]);
        assert_eq!(words("한국어 문장"), ["한국어", "문장"]);
        assert!(words("").is_empty() && words(" 😀 … ").is_empty());
    }

    #[test]
    fn spans_go_from_the_first_word_to_the_last() {
        let text = "“One, two” three";
        let words = Words::of(text);
        assert_eq!(&text[words.span(0..2)], "One, two");
        assert_eq!(words.span(1..1), 8..8);
        assert_eq!(words.span(3..3), text.len()..text.len());
    }

    #[test]
    fn case_does_not_tell_words_apart() {
        let [x, y] = ["ÉCOLE Straße ΟΔΟΣ i", "école STRAßE οδος j"].map(Words::of);
        assert_eq!(x.hashes()[..3], y.hashes()[..3]);
        assert_ne!(x.hashes()[3], y.hashes()[3]);
    }
}
