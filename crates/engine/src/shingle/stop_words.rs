//! Shingles that start with a stop word: it and the two words after it.
//!
//! Prose is full of stop words, while menus, advertisements and link lists have few, so these shingles
//! weigh the story of a page more than its frame (Mining of Massive Datasets, 3.2.4 and 3.8.6).

use std::collections::HashSet;

use nearkin_kernels::{HashKey, combine, hash_piece};

use super::hash::default_key;

/// Words that start a shingle.
#[derive(Debug, Clone)]
pub struct StopWords {
    words: Vec<String>,
    hashes: HashSet<u64>,
}

/// Words in a shingle: the stop word and the two after it.
const LENGTH: usize = 3;

/// The function words of English: articles, pronouns, prepositions, conjunctions, auxiliaries.
const ENGLISH: &str = "a about above after again against all also am an and any are as at be because \
    been before being below between both but by can could did do does doing down during each either \
    few for from further had has have having he her here hers herself him himself his how i if in \
    into is it its itself just may me might more most must my myself neither no nor not now of off \
    on once only or other our ours ourselves out over own same shall she should so some such than \
    that the their theirs them themselves then there these they this those through to too under \
    until up upon very was we were what when where which while who whom whose why will with within \
    without would yet you your yours yourself yourselves";

impl StopWords {
    /// English function words.
    pub fn english() -> Self {
        Self::new(ENGLISH.split_ascii_whitespace())
    }

    /// A list of your own. Words are lower-cased.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words = words.into_iter().map(str::to_lowercase).collect();
        Self { words, hashes: HashSet::new() }.hashed_with(default_key())
    }

    /// The same words for texts whose words are hashed with this key.
    pub(super) fn hashed_with(mut self, key: &HashKey) -> Self {
        self.hashes = self.words.iter().map(|word| hash_piece(key, word.as_bytes())).collect();
        self
    }

    /// The hashes of the words, sorted.
    pub(crate) fn hashes(&self) -> Vec<u64> {
        let mut hashes: Vec<u64> = self.hashes.iter().copied().collect();
        hashes.sort_unstable();
        hashes
    }

    /// The words with these hashes, whose key stays as it is.
    pub(crate) fn of_hashes(hashes: Vec<u64>) -> Self {
        Self { words: Vec::new(), hashes: hashes.into_iter().collect() }
    }

    /// The shingles of these words, as texts.
    pub(super) fn windows(&self, key: &HashKey, words: &[String]) -> Vec<String> {
        let starts = words.windows(LENGTH);
        let is_start =
            |window: &&[String]| self.hashes.contains(&hash_piece(key, window[0].as_bytes()));
        starts.filter(is_start).map(|window| window.join(" ")).collect()
    }

    /// Appends a shingle for every stop word that has two words after it.
    pub(super) fn shingle(&self, key: &HashKey, tokens: &[u64], out: &mut Vec<u64>) {
        let starts = tokens.windows(LENGTH).filter(|window| self.hashes.contains(&window[0]));
        out.extend(starts.map(|window| combine(key, window)));
    }
}
