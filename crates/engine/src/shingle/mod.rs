//! From texts to items: which pieces does a text consist of?
//!
//! A text comes in, the 64-bit hashes of its shingles go out, one an occurrence and in text order.
//! Sorted and without repeats they are the text's set; sorted with repeats, its bag. No shingle is
//! ever a `String`: a shingle is hashed where it stands.
//!
//! A text that is not empty and has no shingle (`...`, or German text cut at English stop words) is compared as a whole:
//! one element stands for it, which only a text of the same bytes has. So copies are found whatever the shingler makes of
//! them. The empty text, and a list without elements, is similar to nothing.
//!
//! Two different shingles get the same 64-bit hash with probability 2⁻⁶⁴, so two documents of 100,000
//! shingles each are compared wrongly, by one shingle, once in two billion pairs.

mod advice;
mod chars;
pub mod elements;
mod fold;
mod grid;
mod hash;
mod odd_words;
mod pieces;
mod stop_words;
mod text_words;
mod tfidf;
mod urls;
mod word_characters;
mod words;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use advice::{ShingleLength, advise};
pub(crate) use fold::fold_case;
pub use fold::{Case, NormalForm, Whitespace, is_word_character};
pub use grid::Grid;
pub use hash::{DEFAULT_SEED, default_key, hash_bytes};
pub use stop_words::StopWords;
pub(crate) use text_words::{TextWords, WordKeys};
pub use tfidf::{Repeats, Vocabulary};
pub use urls::UrlShingles;
pub use words::{Tokenizer, UnicodeWords};
pub(crate) use words::{first_word, word_windows};

use nearkin_kernels::{HashKey, WordMask};

#[cfg(feature = "files")]
use crate::item::Counted;
use crate::{Error, Result};

/// What a shingle consists of.
#[derive(Debug, Clone)]
pub enum Unit {
    /// `k` consecutive characters.
    Chars(usize),
    /// `k` consecutive tokens, by default words.
    Words(usize),
    /// A stop word and the two words after it.
    StopWords(Arc<StopWords>),
    /// The elements of a list, or of a text that is cut at white space: see [`elements`].
    Elements,
}

/// How a text becomes shingles: the unit and the foldings that come before it.
///
/// ```
/// use nearkin_engine::shingle::Shingling;
/// let shingling: Shingling = "chars:2".parse()?;
/// assert_eq!(shingling.set("abcdabd").len(), 5); // ab bc cd da bd
/// # Ok::<(), nearkin_engine::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shingling {
    /// What a shingle consists of.
    pub unit: Unit,
    /// Whether upper and lower case differ. Words are lower-cased unless this says otherwise.
    pub case: Case,
    /// What becomes of white space between characters. Words do not see it.
    pub space: Whitespace,
    /// The Unicode normal form that the text is brought into first. Elements stay as they are.
    pub normal_form: Option<NormalForm>,
    /// Bits kept of a shingle's hash, 32 or 64.
    pub bits: HashBits,
    /// What a token is, for [`Unit::Words`] and [`Unit::StopWords`].
    pub tokenizer: Option<Arc<dyn Tokenizer>>,
    /// What everything is hashed with: see [`with_seed`](Self::with_seed).
    pub key: Arc<HashKey>,
}

/// How many bits of a shingle's hash are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HashBits {
    /// Four bytes, as some tools use, to see what that costs: each shingle of a document takes one of the
    /// other's for its own with probability n / 2³², with n the shingles of the other.
    ThirtyTwo,
    /// Eight bytes.
    #[default]
    SixtyFour,
}

/// Buffers that one thread keeps from text to text, so that shingling allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    normalized: String,
    folded: Vec<u8>,
    apart: String,
    padded: Vec<u8>,
    masks: Vec<WordMask>,
    tokens: Vec<u64>,
}

impl Shingling {
    /// Shingles of `k` words, as [`UnicodeWords`] has them, in lower case.
    pub fn words(k: usize) -> Self {
        Self::new(Unit::Words(k), Case::Fold)
    }

    /// Shingles of `k` characters, white space runs folded to one blank.
    pub fn chars(k: usize) -> Self {
        Self::new(Unit::Chars(k), Case::Keep)
    }

    /// Shingles of a stop word and the two words after it.
    pub fn stop_words(list: StopWords) -> Self {
        Self::new(Unit::StopWords(Arc::new(list)), Case::Fold)
    }

    /// Texts that stand for sets or bags: their [`elements`].
    pub fn elements() -> Self {
        Self::new(Unit::Elements, Case::Keep)
    }

    fn new(unit: Unit, case: Case) -> Self {
        Self {
            unit,
            case,
            space: Whitespace::Fold,
            normal_form: None,
            bits: HashBits::default(),
            tokenizer: None,
            key: default_key().clone(),
        }
    }

    /// The same shingles, hashed with the key of a seed. Shingles by different seeds cannot be compared.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.key = match seed {
            DEFAULT_SEED => default_key().clone(),
            _ => Arc::new(HashKey::new(seed)),
        };
        if let Unit::StopWords(list) = &mut self.unit {
            *list = Arc::new(StopWords::clone(list).hashed_with(&self.key));
        }
        self
    }

    /// Appends the hash of every shingle of `text`, in text order, repeats included.
    pub fn shingle(&self, text: &str, scratch: &mut Scratch, out: &mut Vec<u64>) {
        let first = out.len();
        let mut normalized = std::mem::take(&mut scratch.normalized);
        let form = self.normal_form.filter(|_| !matches!(self.unit, Unit::Elements));
        let text = fold::normalized(text, form, &mut normalized);
        match &self.unit {
            Unit::Chars(k) => {
                chars::shingle(
                    text,
                    *k,
                    self.case,
                    self.space,
                    &self.key,
                    &mut scratch.padded,
                    out,
                );
            }
            Unit::Words(k) => {
                words::hash_tokens(text, self.case, self.tokenizer.as_deref(), &self.key, scratch);
                words::shingle(&self.key, &scratch.tokens, *k, out);
            }
            Unit::StopWords(list) => {
                words::hash_tokens(text, self.case, self.tokenizer.as_deref(), &self.key, scratch);
                list.shingle(&self.key, &scratch.tokens, out);
            }
            Unit::Elements => elements::shingle(text, &self.key, out),
        }
        scratch.normalized = normalized;
        if self.bits == HashBits::ThirtyTwo {
            out[first..].iter_mut().for_each(|hash| *hash >>= 32);
        }
    }

    /// Appends what a text is compared by: its shingles, or if it has none, what stands for the whole text. Says whether it
    /// is that.
    ///
    /// ```
    /// # use nearkin_engine::shingle::{Scratch, Shingling};
    /// let shingling = Shingling::words(5);
    /// let compared_by = |text: &str| {
    ///     let mut elements = Vec::new();
    ///     shingling.shingle_or_whole(text, &mut Scratch::default(), &mut elements);
    ///     elements
    /// };
    /// assert!(compared_by("...") == compared_by("...") && compared_by("...") != compared_by("!"));
    /// assert!(compared_by("").is_empty());
    /// ```
    pub fn shingle_or_whole(&self, text: &str, scratch: &mut Scratch, out: &mut Vec<u64>) -> bool {
        let first = out.len();
        self.shingle(text, scratch, out);
        let is_whole =
            out.len() == first && !text.is_empty() && !matches!(self.unit, Unit::Elements);
        if is_whole {
            let hash = hash::hash_whole(&self.key, text);
            out.push(self.kept(hash));
        }
        is_whole
    }

    /// Like [`shingle_or_whole`](Self::shingle_or_whole) where repeats do not count: the elements of a list come once
    /// however often they are counted.
    pub(crate) fn once_or_whole(
        &self,
        text: &str,
        scratch: &mut Scratch,
        out: &mut Vec<u64>,
    ) -> bool {
        let Unit::Elements = self.unit else { return self.shingle_or_whole(text, scratch, out) };
        elements::each_hash(text, &self.key, |hash, count| {
            out.extend((count > 0).then(|| self.kept(hash)));
        });
        false
    }

    /// The bits of a hash that are kept.
    fn kept(&self, hash: u64) -> u64 {
        if self.bits == HashBits::ThirtyTwo { hash >> 32 } else { hash }
    }

    /// The elements of a list text: sorted hashes, each once, with how often it occurs.
    #[cfg(feature = "files")]
    pub(crate) fn counted(&self, list: &str) -> Vec<Counted> {
        let mut all: Vec<Counted> = Vec::new();
        elements::each_hash(list, &self.key, |hash, count| {
            all.extend((count > 0).then(|| (self.kept(hash), u64::from(count))));
        });
        all.sort_unstable();
        all.dedup_by(|next, first| {
            let same = next.0 == first.0;
            first.1 += if same { next.1 } else { 0 };
            same
        });
        all
    }

    /// How long a text is: its characters, or the elements of its list.
    pub fn length(&self, text: &str) -> usize {
        match self.unit {
            Unit::Elements => {
                let mut length = 0;
                elements::each_element(text, |_, count| length += count as usize);
                length
            }
            _ => text.chars().count(),
        }
    }

    /// The text's set of shingles: sorted hashes, each once.
    pub fn set(&self, text: &str) -> Vec<u64> {
        let mut set = Vec::new();
        match self.unit {
            Unit::Elements => _ = self.once_or_whole(text, &mut Scratch::default(), &mut set),
            _ => self.shingle(text, &mut Scratch::default(), &mut set),
        }
        set.sort_unstable();
        set.dedup();
        set
    }

    /// The text's bag of shingles: sorted hashes, each as often as it occurs.
    pub fn bag(&self, text: &str) -> Vec<u64> {
        let mut bag = Vec::new();
        self.shingle(text, &mut Scratch::default(), &mut bag);
        bag.sort_unstable();
        bag
    }
}

impl Default for Shingling {
    /// Five words, as most corpus builders use.
    fn default() -> Self {
        Self::words(5)
    }
}

impl FromStr for Shingling {
    type Err = Error;

    /// Reads `chars:K`, `words:K`, `stopwords` or `elements`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::parameter(
                "shingle",
                text,
                "chars:K, words:K, stopwords or elements, with K from 1 to 1000",
            )
        };
        let (unit, k) = match text.split_once(':') {
            Some((unit, k)) => (unit, Some(k.parse::<usize>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        match (unit, k) {
            ("chars", Some(k @ 1..=1000)) => Ok(Self::chars(k)),
            ("words", Some(k @ 1..=1000)) => Ok(Self::words(k)),
            ("stopwords", None) => Ok(Self::stop_words(StopWords::english())),
            ("elements", None) => Ok(Self::elements()),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Shingling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unit {
            Unit::Chars(k) => write!(f, "chars:{k}"),
            Unit::Words(k) => write!(f, "words:{k}"),
            Unit::StopWords(_) => f.write_str("stopwords"),
            Unit::Elements => f.write_str("elements"),
        }
    }
}
