//! The words of a text with a hash of 128 bits each, and where they stand.
//!
//! Words are those of [`UnicodeWords`](super::UnicodeWords) in lower case. Texts of which every word is as long in lower case
//! go block by block; those of others, such as Chinese ones, are taken one by one ([`WordPlaces`]). Words are the same either way.

use nearkin_kernels::{HashKey, WordMask, hash_piece, hash_words, lower_words};

use super::WordPlaces;
use super::fold::Case;
use super::words::fold_others;

/// Reads texts one after the other, and keeps its buffers.
#[derive(Debug, Default)]
pub(crate) struct WordReader {
    padded: Vec<u8>,
    masks: Vec<WordMask>,
    hashes: [Vec<u64>; 2],
    words: WordPlaces,
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

impl WordReader {
    /// Puts the hashes of the words by the first key into `out`, instead of what is there.
    pub(crate) fn hashes(&mut self, text: &str, keys: &WordKeys, out: &mut Vec<u64>) {
        out.clear();
        match self.is_simple(text) {
            true => hash_words(keys.first(), &self.padded, &self.masks, out),
            false => {
                self.words.take(text);
                out.extend(
                    self.words.words().map(|word| hash_piece(keys.first(), word.as_bytes())),
                );
            }
        }
    }

    /// Puts the hashes of the words by both keys into `out`, instead of what is there.
    pub(crate) fn both(&mut self, text: &str, keys: &WordKeys, out: &mut Vec<[u64; 2]>) {
        out.clear();
        if !self.is_simple(text) {
            self.words.take(text);
            let both = |word: &str| [0, 1].map(|which| hash_piece(&keys.0[which], word.as_bytes()));
            return out.extend(self.words.words().map(both));
        }
        for (hashes, key) in self.hashes.iter_mut().zip(&keys.0) {
            hashes.clear();
            hash_words(key, &self.padded, &self.masks, hashes);
        }
        let [first, second] = &self.hashes;
        out.extend(first.iter().zip(second).map(|(&first, &second)| [first, second]));
    }

    /// Puts the places of the words into `out`, instead of what is there: where each begins and ends.
    pub(crate) fn places(&mut self, text: &str, out: &mut Vec<[u32; 2]>) {
        out.clear();
        if !self.is_simple(text) {
            self.words.take(text);
            let places = self.words.places().iter();
            return out.extend(places.map(|place| [place.start as u32, place.end as u32]));
        }
        let (mut before, mut start) = (0, 0);
        for (block, mask) in (0u32..).zip(&self.masks) {
            // A bit where the run of ones or zeros changes.
            let mut edges = mask.word ^ (mask.word << 1 | before);
            before = mask.word >> 63;
            while edges != 0 {
                let at = 64 * block + edges.trailing_zeros();
                edges &= edges - 1;
                let begins = mask.word >> (at % 64) & 1 == 1;
                match begins {
                    true => start = at,
                    false => out.push([start, at]),
                }
            }
        }
    }

    /// How many words a text has.
    pub(crate) fn count(&mut self, text: &str) -> usize {
        if !self.is_simple(text) {
            self.words.take(text);
            return self.words.len();
        }
        let mut before = 0;
        let starts = self.masks.iter().map(|mask| {
            let starts = mask.word & !(mask.word << 1 | before);
            before = mask.word >> 63;
            starts.count_ones() as usize
        });
        starts.sum()
    }

    /// Brings a text into lower case block by block, if that is possible.
    fn is_simple(&mut self, text: &str) -> bool {
        let Self { padded, masks, .. } = self;
        lower_words(text.as_bytes(), true, padded, masks)
            || fold_others(text, Case::Fold, padded, masks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> (Vec<&str>, Vec<[u64; 2]>) {
        let mut reader = WordReader::default();
        let (mut places, mut both, mut first) = (Vec::new(), Vec::new(), Vec::new());
        let keys = WordKeys::new(1);
        reader.places(text, &mut places);
        reader.both(text, &keys, &mut both);
        reader.hashes(text, &keys, &mut first);
        assert!(first.iter().eq(both.iter().map(|[first, _]| first)), "{text}");
        assert_eq!((places.len(), reader.count(text)), (both.len(), both.len()), "{text}");
        (places.iter().map(|&[start, end]| &text[start as usize..end as usize]).collect(), both)
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
}
