//! Texts as vectors of word weights: tf-idf.
//!
//! A dimension is a word, the weight of a word in a text is
//!
//! tf · ln(n / df)
//!
//! with tf how often the text has it (or 1 + ln of that), n the number of texts and df in how many of
//! them it is. A word that every text has says nothing and weighs nothing; a text that has only such
//! words, or none, is a vector without weights, similar to nothing; a search gives it a dimension that its
//! copies have too. (Spärck Jones, "A statistical interpretation of term specificity and its application in
//! retrieval", 1972.)

use std::collections::HashMap;

use rayon::prelude::*;

use super::{Scratch, Shingling};
use crate::Result;
use crate::item::Sparse;

/// What repeating a word counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repeats {
    /// As often as it occurs.
    #[default]
    Raw,
    /// 1 + ln of that.
    Log,
}

/// The words of a collection and how many of its texts have each.
///
/// ```
/// use nearkin_engine::shingle::{Repeats, Shingling, Vocabulary};
/// let texts = ["a rose is a rose", "is it a rose", "a tulip"];
/// let vocabulary = Vocabulary::new(&texts, Shingling::words(1));
/// let vectors = vocabulary.vectors(&texts, Repeats::Raw)?;
/// assert_eq!(vocabulary.weight("a"), Some(0.0));
/// assert_eq!(vocabulary.weight("tulip"), Some(3f64.ln()));
/// assert_eq!(vectors.get(2).1, [3f32.ln()]);
/// # Ok::<(), nearkin_engine::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Vocabulary {
    shingling: Shingling,
    texts: usize,
    /// Hashes of the words, ascending: a word's place is its dimension, which so depends on nothing but
    /// the set of words.
    words: Vec<u64>,
    /// By dimension, the texts that have the word.
    having: Vec<u32>,
}

/// Texts whose words are sorted together.
const CHUNK: usize = 4096;

impl Vocabulary {
    /// The words of these texts, as `shingling` cuts them: with `words:1` what is a word everywhere else,
    /// with other shingles those.
    pub fn new<S: AsRef<str> + Sync>(texts: &[S], shingling: Shingling) -> Self {
        let counted = texts.par_chunks(CHUNK).map(|texts| count(texts, &shingling));
        let counted = counted.reduce(Vec::new, |a, b| add(&a, &b));
        let (words, having) = counted.into_iter().unzip();
        Self { shingling, texts: texts.len(), words, having }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The dimension of a word, if a text has it.
    pub fn dimension(&self, word: &str) -> Option<u32> {
        match self.shingling.set(word)[..] {
            [hash] => self.words.binary_search(&hash).ok().map(|place| place as u32),
            _ => None,
        }
    }

    /// ln(n / df) of a word, if a text has it.
    pub fn weight(&self, word: &str) -> Option<f64> {
        self.dimension(word).map(|dimension| self.rarity(dimension))
    }

    fn rarity(&self, dimension: u32) -> f64 {
        (self.texts as f64 / f64::from(self.having[dimension as usize])).ln()
    }

    /// The weights of a text's words, by ascending dimension; words that the vocabulary lacks are left out.
    pub fn vector(&self, text: &str, repeats: Repeats) -> Vec<(u32, f32)> {
        let bag = self.shingling.bag(text);
        let mut vector = Vec::new();
        let mut from = 0;
        for run in bag.chunk_by(|a, b| a == b) {
            from += self.words[from..].partition_point(|word| *word < run[0]);
            if self.words.get(from) != Some(&run[0]) {
                continue;
            }
            let often = match repeats {
                Repeats::Raw => run.len() as f64,
                Repeats::Log => 1.0 + (run.len() as f64).ln(),
            };
            vector.push((from as u32, (often * self.rarity(from as u32)) as f32));
        }
        vector
    }

    /// The vectors of these texts.
    ///
    /// # Errors
    /// None that a text can cause.
    pub fn vectors<S: AsRef<str> + Sync>(&self, texts: &[S], repeats: Repeats) -> Result<Sparse> {
        self.vectors_with(texts, repeats, |_, _| {})
    }

    /// Like [`vectors`](Self::vectors), and a text that is not empty but weighs nothing has a dimension beyond all words,
    /// which it shares with texts of the same bytes alone.
    ///
    /// # Errors
    /// None that a text can cause.
    pub fn vectors_or_wholes<S: AsRef<str> + Sync>(
        &self,
        texts: &[S],
        repeats: Repeats,
    ) -> Result<Sparse> {
        let mut wholes: HashMap<&str, u32> = HashMap::new();
        self.vectors_with(texts, repeats, |text, vector| {
            if !text.is_empty() && vector.iter().all(|&(_, weight)| weight == 0.0) {
                let next = (self.words.len() + wholes.len()) as u32;
                *vector = vec![(*wholes.entry(text).or_insert(next), 1.0)];
            }
        })
    }

    fn vectors_with<'a, S: AsRef<str> + Sync>(
        &self,
        texts: &'a [S],
        repeats: Repeats,
        mut change: impl FnMut(&'a str, &mut Vec<(u32, f32)>),
    ) -> Result<Sparse> {
        let mut vectors = Sparse::default();
        for texts in texts.chunks(CHUNK) {
            let mut made: Vec<_> =
                texts.par_iter().map(|text| self.vector(text.as_ref(), repeats)).collect();
            for (text, vector) in texts.iter().zip(&mut made) {
                change(text.as_ref(), vector);
                vectors.push(vector)?;
            }
        }
        Ok(vectors)
    }
}

/// The words of some texts, ascending, and how many of the texts have each.
fn count<S: AsRef<str>>(texts: &[S], shingling: &Shingling) -> Vec<(u64, u32)> {
    let mut scratch = Scratch::default();
    let (mut words, mut all) = (Vec::new(), Vec::new());
    for text in texts {
        words.clear();
        shingling.shingle(text.as_ref(), &mut scratch, &mut words);
        words.sort_unstable();
        words.dedup();
        all.extend_from_slice(&words);
    }
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}

/// Two lists of ascending words as one, with their numbers added up.
fn add(a: &[(u64, u32)], b: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        let number = match left.0.cmp(&right.0) {
            std::cmp::Ordering::Less => left.1,
            std::cmp::Ordering::Equal => left.1 + right.1,
            std::cmp::Ordering::Greater => right.1,
        };
        sum.push((left.0.min(right.0), number));
        i += usize::from(left.0 <= right.0);
        j += usize::from(right.0 <= left.0);
    }
    let (i, j) = (i.min(a.len()), j.min(b.len()));
    sum.extend_from_slice(&a[i..]);
    sum.extend_from_slice(&b[j..]);
    sum
}
