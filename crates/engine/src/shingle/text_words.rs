//! The words of a text: how many there are, where they stand, what they are in lower case, and their hashes.
//!
//! Words are those of [`UnicodeWords`](super::UnicodeWords) in lower case. A text of which every word is as long in lower case
//! goes block by block, and its words stand at the same places in both. Others, such as Chinese ones, are taken one by one
//! ([`OddWords`]). Words are the same either way.

use std::ops::Range;

use nearkin_kernels::{HashKey, WordMask, hash_piece, hash_words, lower_words};

use super::fold::Case;
use super::odd_words::OddWords;
use super::words::fold_others;

/// The words of one text after the other; buffers are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextWords {
    /// The text in lower case, and which of its bytes belong to words; of an odd text, nothing that counts.
    padded: Vec<u8>,
    masks: Vec<WordMask>,
    odd: OddWords,
    is_odd: bool,
    /// Where words stand, once somebody wants to know; not of an odd text.
    places: Vec<Range<usize>>,
    hashes: [Vec<u64>; 2],
}

/// The keys of the two halves of a word's hash.
#[derive(Debug, Clone)]
pub(crate) struct WordKeys([HashKey; 2]);

impl WordKeys {
    /// The keys of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        // The second key must not be the first of another seed that people choose.
        Self([seed, nearkin_kernels::scramble(!seed)].map(HashKey::new))
    }

    /// The key by which words are joined.
    pub(crate) fn first(&self) -> &HashKey {
        &self.0[0]
    }
}

impl TextWords {
    /// Takes up a text in place of the one before.
    pub(crate) fn take(&mut self, text: &str) {
        let Self { padded, masks, .. } = self;
        self.is_odd = !lower_words(text.as_bytes(), true, padded, masks)
            && !fold_others(text, Case::Fold, padded, masks);
        if self.is_odd {
            self.odd.take(text);
        }
        self.places.clear();
    }

    /// Takes up a text, and finds out where its words stand.
    pub(crate) fn take_places(&mut self, text: &str) {
        self.take(text);
        if !self.is_odd {
            self.locate();
        }
    }

    fn locate(&mut self) {
        let (mut before, mut start) = (0, 0);
        for (block, mask) in self.masks.iter().enumerate() {
            // A bit where the run of ones or zeros changes.
            let mut edges = mask.word ^ (mask.word << 1 | before);
            before = mask.word >> 63;
            while edges != 0 {
                let at = 64 * block + edges.trailing_zeros() as usize;
                edges &= edges - 1;
                let begins = mask.word >> (at % 64) & 1 == 1;
                match begins {
                    true => start = at,
                    false => self.places.push(start..at),
                }
            }
        }
    }

    /// How many words there are.
    pub(crate) fn count(&self) -> usize {
        if self.is_odd {
            return self.odd.len();
        }
        let mut before = 0;
        let starts = self.masks.iter().map(|mask| {
            let starts = mask.word & !(mask.word << 1 | before);
            before = mask.word >> 63;
            starts.count_ones() as usize
        });
        starts.sum()
    }

    /// Which bytes of the text each word is; after [`take_places`](Self::take_places).
    pub(crate) fn places(&self) -> &[Range<usize>] {
        if self.is_odd { self.odd.places() } else { &self.places }
    }

    /// Which bytes of the text go from the first of these words to the last; after [`take_places`](Self::take_places).
    ///
    /// # Panics
    /// When there are fewer words, or none is asked for.
    pub(crate) fn span(&self, words: Range<usize>) -> Range<usize> {
        let places = self.places();
        places[words.start].start..places[words.end - 1].end
    }

    /// One of the words, in lower case; after [`take_places`](Self::take_places).
    ///
    /// # Panics
    /// When there are fewer words.
    pub(crate) fn word(&self, number: usize) -> &str {
        if self.is_odd {
            return self.odd.word(number);
        }
        let word = &self.padded[self.places[number].clone()];
        std::str::from_utf8(word).expect("a word is as long in lower case")
    }

    /// Puts the hashes of the words by the first key into `out`, instead of what is there.
    pub(crate) fn hashes(&self, keys: &WordKeys, out: &mut Vec<u64>) {
        out.clear();
        match self.is_odd {
            false => hash_words(keys.first(), &self.padded, &self.masks, out),
            true => {
                out.extend(self.odd.words().map(|word| hash_piece(keys.first(), word.as_bytes())));
            }
        }
    }

    /// Puts the hashes of the words by both keys into `out`, instead of what is there.
    pub(crate) fn both(&mut self, keys: &WordKeys, out: &mut Vec<[u64; 2]>) {
        out.clear();
        if self.is_odd {
            let both = |word: &str| [0, 1].map(|which| hash_piece(&keys.0[which], word.as_bytes()));
            return out.extend(self.odd.words().map(both));
        }
        for (hashes, key) in self.hashes.iter_mut().zip(&keys.0) {
            hashes.clear();
            hash_words(key, &self.padded, &self.masks, hashes);
        }
        let [first, second] = &self.hashes;
        out.extend(first.iter().zip(second).map(|(&first, &second)| [first, second]));
    }
}

#[cfg(test)]
mod tests {
    use proptest::char::range;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::hash::default_key;
    use super::super::words::word_windows;
    use super::super::{Scratch, fold_case};
    use super::*;
    use crate::shingle::{Tokenizer, UnicodeWords};

    fn words(text: &str) -> (Vec<&str>, Vec<[u64; 2]>) {
        let mut words = TextWords::default();
        let (mut both, mut first) = (Vec::new(), Vec::new());
        let keys = WordKeys::new(1);
        words.take_places(text);
        words.both(&keys, &mut both);
        words.hashes(&keys, &mut first);
        assert!(first.iter().eq(both.iter().map(|[first, _]| first)), "{text}");
        assert_eq!((words.places().len(), words.count()), (both.len(), both.len()), "{text}");
        (words.places().iter().map(|place| &text[place.clone()]).collect(), both)
    }

    #[test]
    fn words_have_places_and_hashes_whatever_the_script() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (" . ", &[]),
            ("It's 5_a, naïve—Ωmega! ", &["It", "s", "5_a", "naïve", "Ωmega"]),
            ("犬がabc走る。", &["犬", "が", "abc", "走", "る"]),
            // The dot of İ belongs to no word.
            ("İstanbul, ẞ", &["İ", "stanbul", "ẞ"]),
        ];
        for (text, expected) in cases {
            for before in 0..70 {
                let text = " ".repeat(before) + text;
                assert_eq!(words(&text).0, *expected, "{text}");
            }
        }
        // Block by block and one by one: the same words have the same hashes.
        let long = "a-word-of-more-than-sixty-four-bytes-".repeat(3) + &"x".repeat(130) + " Née";
        let mixed = format!("{long} 犬");
        assert_eq!(words(&long).1[..], words(&mixed).1[..words(&long).1.len()]);
        assert_eq!(words("NÉE née").1[0], words("NÉE née").1[1]);
        // Whatever else is in the text: the letter behind the apostrophe decides which sigma it is.
        for text in ["ΟΔΟΣ'Α", "ΟΔΟΣ Α", "οδος", "İz"] {
            let alone = words(text).1;
            assert_eq!(words(&format!("{text} 犬")).1[..alone.len()], alone, "{text}");
        }
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
            let mut odd = OddWords::default();
            odd.take(&text);
            prop_assert_eq!(odd.words().collect::<Vec<_>>(), &expected[..]);
            let mut words = TextWords::default();
            words.take_places(&text);
            prop_assert_eq!((0..words.count()).map(|at| words.word(at)).collect::<Vec<_>>(), &expected[..]);
            prop_assert_eq!(words.places(), odd.places());
            prop_assert!(words.places().windows(2).all(|two| two[0].end <= two[1].start));
            let hashes: Vec<u64> =
                expected.iter().map(|word| hash_piece(default_key(), word.as_bytes())).collect();
            let mut windows = Vec::new();
            let count = word_windows(&text, 1, default_key(), &mut Scratch::default(), &mut windows);
            prop_assert_eq!(count, words.count());
            prop_assert_eq!(windows, hashes);
        }
    }
}
