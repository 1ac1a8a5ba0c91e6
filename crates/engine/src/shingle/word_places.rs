//! The words of a text as shingles have them, each with the place where it stands in the text.
//!
//! The text is lower-cased character by character, and words are cut from what comes out: the same words as those of
//! [`UnicodeWords`](super::UnicodeWords) in the lower-cased text. A character may become several (İ becomes i and a dot),
//! so a word's place goes from the first byte of the character it begins with to the last byte of the one it ends with.

use std::ops::Range;

use super::fold::{each_lower, is_alone, is_word_character};

/// The words of one text, and where they stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct WordPlaces {
    /// All words in lower case, one behind the other.
    words: String,
    ends: Vec<usize>,
    places: Vec<Range<usize>>,
}

impl WordPlaces {
    /// Takes the words of a text in place of those before.
    pub(crate) fn take(&mut self, text: &str) {
        self.words.clear();
        self.ends.clear();
        self.places.clear();
        // Whether the last word may go on.
        let mut goes_on = false;
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let run = text.as_bytes()[at..].iter().take_while(|&&byte| is_ascii_word(byte)).count();
            let end = at + run.max(first.len_utf8());
            if run > 0 {
                // Most text is such.
                let start = self.words.len();
                self.words.push_str(&text[at..end]);
                self.words[start..].make_ascii_lowercase();
                self.extend(at..end, goes_on);
                goes_on = true;
            } else {
                let place = at..end;
                each_lower(first, text, at, |lower| goes_on = self.put(lower, &place, goes_on));
            }
            at = end;
        }
    }

    /// Adds a character in lower case, and says whether a word may go on behind it.
    fn put(&mut self, c: char, place: &Range<usize>, goes_on: bool) -> bool {
        if !is_word_character(c) {
            return false;
        }
        let stands_alone = is_alone(c);
        self.words.push(c);
        self.extend(place.clone(), goes_on && !stands_alone);
        !stands_alone
    }

    /// Takes what was added to the words for more of the last word, or for a new one.
    fn extend(&mut self, place: Range<usize>, goes_on: bool) {
        match (self.ends.last_mut(), self.places.last_mut()) {
            (Some(end), Some(last)) if goes_on => {
                *end = self.words.len();
                last.end = place.end;
            }
            _ => {
                self.ends.push(self.words.len());
                self.places.push(place);
            }
        }
    }

    /// One of the words, in lower case.
    pub(crate) fn word(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[number]]
    }

    /// How many words there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The words in lower case, in text order.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.word(number))
    }

    /// Which bytes of the text each word is.
    pub(crate) fn places(&self) -> &[Range<usize>] {
        &self.places
    }

    /// Which bytes of the text go from the first of these words to the last.
    ///
    /// # Panics
    /// When there are fewer words, or none is asked for.
    pub(crate) fn span(&self, words: Range<usize>) -> Range<usize> {
        self.places[words.start].start..self.places[words.end - 1].end
    }
}

fn is_ascii_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use nearkin_kernels::hash_piece;
    use proptest::char::range;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::hash::default_key;
    use super::super::words::word_windows;
    use super::super::{Scratch, fold_case};
    use super::*;
    use crate::shingle::{Case, Tokenizer, UnicodeWords};

    fn words(text: &str) -> Vec<(String, &str)> {
        let mut words = WordPlaces::default();
        words.take(text);
        let stand = words.places().iter().map(|place| &text[place.clone()]);
        words.words().map(str::to_owned).zip(stand).collect()
    }

    fn expected(pairs: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
        pairs.iter().map(|&(word, stands)| (word.to_owned(), stands)).collect()
    }

    #[test]
    fn words_are_in_lower_case_and_stand_where_they_stood() {
        assert_eq!(
            words("  It's 5_a, NAÏVE—"),
            expected(&[("it", "It"), ("s", "s"), ("5_a", "5_a"), ("naïve", "NAÏVE")])
        );
        assert_eq!(
            words("犬がAbc走る。"),
            expected(&[("犬", "犬"), ("が", "が"), ("abc", "Abc"), ("走", "走"), ("る", "る")])
        );
        // The dot of İ belongs to no word.
        assert_eq!(words("İST ΟΔΟΣ"), expected(&[("i", "İ"), ("st", "ST"), ("οδος", "ΟΔΟΣ")]));
        assert_eq!(words(""), []);
        assert_eq!(words(" 😀 … "), []);
    }

    fn character() -> impl Strategy<Value = char> {
        prop_oneof![
            60 => range('\0', '\u{7f}'),
            20 => range('\u{80}', '\u{600}'),
            5 => range('\u{1e00}', '\u{2200}'),
            5 => range('\u{e00}', '\u{10ff}'),
            5 => range('\u{3000}', '\u{4e40}'),
            5 => any::<char>(),
            1 => Just('İ'),
            1 => Just('Σ'),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_words_are_those_that_are_hashed(text in vec(character(), 0..300)) {
            let text = String::from_iter(text);
            let mut folded = Vec::new();
            fold_case(&text, Case::Fold, &mut folded);
            let mut expected = Vec::new();
            UnicodeWords.tokens(&String::from_utf8(folded).unwrap(), &mut |word| expected.push(word.to_owned()));
            let mut words = WordPlaces::default();
            words.take(&text);
            prop_assert_eq!(words.words().collect::<Vec<_>>(), expected);
            let hashes: Vec<u64> =
                words.words().map(|word| hash_piece(default_key(), word.as_bytes())).collect();
            let mut fast = Vec::new();
            let count = word_windows(&text, 1, default_key(), &mut Scratch::default(), &mut fast);
            prop_assert_eq!(count, words.len());
            prop_assert_eq!(fast, hashes);
            prop_assert!(words.places().windows(2).all(|two| two[0].end <= two[1].start));
        }
    }
}
