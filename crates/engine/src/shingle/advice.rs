//! How long should a shingle be? Long enough that a given one is rare in a given document
//! (Mining of Massive Datasets, 3.2.2).
//!
//! Two answers are put side by side. The rule of thumb counts text as if it had 20 equally frequent
//! characters, so that a document of n characters holds a given k-shingle with chance n / 20ᵏ. The
//! corpus itself says how similar two documents that have nothing to do with each other look at
//! each k. The longer k wins.

use std::fmt;

use crate::measure::jaccard;

use super::Shingling;

/// Characters that text behaves as if it had.
const EFFECTIVE_CHARACTERS: f64 = 20.0;
/// A given shingle may stand in a given document this often.
const RARE: f64 = 0.001;
/// Two unrelated documents may look this similar.
const BACKGROUND: f64 = 0.02;
const LONGEST: usize = 16;
/// Characters of a document that are looked at: what is common shows long before.
const LOOKED_AT: usize = 100_000;

/// A shingle length, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct ShingleLength {
    /// Characters in a shingle.
    pub k: usize,
    /// Documents looked at.
    pub documents: usize,
    /// Characters that 95 % of the documents do not exceed.
    pub length: usize,
    /// The length that the rule of thumb asks for.
    pub by_rule: usize,
    /// The length that the corpus asks for.
    pub by_corpus: usize,
    /// Median similarity of two different documents at each length from 1 on.
    pub background: Vec<f64>,
}

/// The length by a random sample of documents, or none when fewer than two have any text.
///
/// Each document is compared with the next, so the sample must be in random order.
pub fn advise(sample: &[&str]) -> Option<ShingleLength> {
    let texts: Vec<&str> = sample.iter().copied().filter(|text| !text.trim().is_empty()).collect();
    if texts.len() < 2 {
        return None;
    }
    let mut lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    lengths.sort_unstable();
    let length = lengths[(lengths.len() * 95).div_ceil(100) - 1];
    let by_rule = (1..LONGEST).find(|&k| chance(length, k) <= RARE).unwrap_or(LONGEST);
    let background: Vec<f64> = (1..=LONGEST).map(|k| median_similarity(&texts, k)).collect();
    let low = background.iter().position(|&similarity| similarity <= BACKGROUND);
    let by_corpus = low.map_or(LONGEST, |i| i + 1);
    let k = by_rule.max(by_corpus);
    Some(ShingleLength { k, documents: texts.len(), length, by_rule, by_corpus, background })
}

/// The rule of thumb: chance of a given k-shingle in a document of n characters.
fn chance(n: usize, k: usize) -> f64 {
    n as f64 / EFFECTIVE_CHARACTERS.powf(k as f64)
}

/// The median, which near-duplicates in the sample do not move.
fn median_similarity(texts: &[&str], k: usize) -> f64 {
    let shingling = Shingling::chars(k);
    let set = |text: &&str| {
        let end = text.char_indices().nth(LOOKED_AT).map_or(text.len(), |(at, _)| at);
        shingling.set(&text[..end])
    };
    let sets: Vec<Vec<u64>> = texts.iter().map(set).collect();
    let mut all: Vec<f64> =
        sets.windows(2).map(|pair| jaccard::similarity(&pair[0], &pair[1])).collect();
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() / 2]
}

impl fmt::Display for ShingleLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "chars:{}: 95 % of {} documents have at most {} characters; counting 20 effective characters, \
             a given shingle of {} stands in one of them with chance {:.1e}; two unrelated documents \
             look {:.1} % similar at this length ({:.1} % at 5)",
            self.k,
            self.documents,
            self.length,
            self.k,
            chance(self.length, self.k),
            100.0 * self.background[self.k - 1],
            100.0 * self.background[4],
        )
    }
}
