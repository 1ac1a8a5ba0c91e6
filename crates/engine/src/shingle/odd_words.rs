//! The words of a text in which lower case is longer or shorter, or letters are words of their own.
//!
//! The text is lower-cased character by character, and words are cut from what comes out: the same words as those of
//! [`UnicodeWords`](super::UnicodeWords) in the lower-cased text. A character may become several (İ becomes i and a dot),
//! so a word's place goes from the first byte of the character it begins with to the last byte of the one it ends with.
//! This is right for every text, and [`TextWords`](super::TextWords) takes most texts faster.

use std::ops::Range;

use super::fold::{each_lower, is_alone, is_word_character};

/// The words of one text, and where they stand.
#[derive(Debug, Clone, Default)]
pub(super) struct OddWords {
    /// All words in lower case, one behind the other.
    words: String,
    ends: Vec<usize>,
    places: Vec<Range<usize>>,
}

impl OddWords {
    /// Takes the words of a text in place of those before.
    pub(super) fn take(&mut self, text: &str) {
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
    pub(super) fn word(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[number]]
    }

    /// How many words there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The words in lower case, in text order.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.word(number))
    }

    /// Which bytes of the text each word is.
    pub(super) fn places(&self) -> &[Range<usize>] {
        &self.places
    }
}

fn is_ascii_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, &str)> {
        let mut words = OddWords::default();
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
}
