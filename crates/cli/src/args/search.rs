//! What counts as similar, how texts become shingles, and how pairs are found.

use std::path::PathBuf;

use clap::Args;
use nearkin_engine::join::sets::Filters;
use nearkin_engine::options::{MeasureName, Options};
use nearkin_engine::shingle::{HashBits, NormalForm, Whitespace};

use super::{Fill, keyword_parser, number, parsed, shingle, whole_number};

/// What counts as similar.
#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(crate) struct SimilarityArgs {
    /// How two items are compared [default: jaccard for texts and sets, bag for bags, l2 for vectors, hamming for bits and
    /// answers, edit for strings]
    #[arg(long, value_name = "MEASURE", long_help = MEASURES, value_parser = parsed::<MeasureName>)]
    measure: Option<MeasureName>,
    /// Smallest similarity of a pair [default: 0.8; in `top` 0.3 for texts]
    ///
    /// For jaccard, bag, bag-sum, dice, containment, cosine, and hamming of bits. With overlap: the number of shared
    /// elements. The default is 0.444 for bag-sum, which equals 0.8 for jaccard, and 0.3 in `top`.
    #[arg(short, long, value_name = "SIMILARITY", value_parser = number, allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// Largest distance of a pair, instead of --threshold
    ///
    /// 1 − similarity for jaccard and bag, degrees for the cosine of vectors, places or elements for hamming, edits for
    /// strings [default for strings: 2].
    #[arg(long, value_name = "DISTANCE", value_parser = number, allow_negative_numbers = true)]
    within: Option<f64>,
}

const MEASURES: &str = "\
How two items are compared [default: jaccard for texts and sets, bag for bags, l2 for vectors, hamming for bits and \
answers, edit for strings]

  texts, sets  jaccard      shared elements over all elements
               dice         twice the shared elements over both sizes
               containment  shared elements over the smaller set
               overlap      number of shared elements
               hamming      number of elements not shared
               cosine       of sets; for texts, of their tf-idf vectors
  texts, bags  bag          jaccard with repeats; union by the larger count
               bag-sum      jaccard with repeats; union by the sum
  vectors      l2, l1, l1.5, l3 …, linf, cosine
  bits         hamming
  answers      hamming
  strings      edit         inserts and deletes
               damerau      also replacements and swaps
               hamming      places that differ";

impl Fill for SimilarityArgs {
    fn fill(&self, options: &mut Options) {
        options.measure = self.measure;
        options.threshold = self.threshold;
        options.within = self.within;
    }
}

/// How a text becomes shingles.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shingles")]
pub(crate) struct ShingleArgs {
    /// Pieces that texts are cut into: words:K, chars:K or stopwords [default: words:5]
    ///
    /// words:K: K consecutive words. A word is a run of letters, digits and underscores, in lower case; in scripts without
    /// blanks between words (Chinese, Japanese, Thai …) every letter is a word. chars:K: K consecutive characters. stopwords: a stop word and the two words after it. With --measure cosine the default is
    /// words:1.
    #[arg(long, value_name = "SHINGLE", value_parser = shingle)]
    shingle: Option<String>,
    /// Ignore upper and lower case in chars:K (words:K always does)
    #[arg(long)]
    ignore_case: bool,
    /// White space in chars:K [default: fold]
    #[arg(long, value_name = "HOW", value_parser = keyword_parser::<Whitespace>())]
    space: Option<Whitespace>,
    /// Convert texts to this Unicode normal form first
    #[arg(long, value_name = "FORM", value_parser = keyword_parser::<NormalForm>())]
    normal_form: Option<NormalForm>,
    /// Stop words for --shingle stopwords, separated by white space [default: English]
    #[arg(long, value_name = "FILE")]
    stop_words: Option<PathBuf>,
    /// Bits kept of each shingle's hash [default: 64]
    #[arg(long, value_name = "BITS", value_parser = keyword_parser::<HashBits>())]
    hash_bits: Option<HashBits>,
}

impl Fill for ShingleArgs {
    fn fill(&self, options: &mut Options) {
        options.shingle.clone_from(&self.shingle);
        options.ignore_case = self.ignore_case;
        options.space = self.space;
        options.normal_form = self.normal_form;
        options.stop_words.clone_from(&self.stop_words);
        options.hash_bits = self.hash_bits;
    }
}

/// How pairs are found.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct WayArgs {
    /// Chance to find a pair exactly at the threshold [default: 0.99]
    ///
    /// More similar pairs are found with a higher chance. Where an exact search is expected to be faster, it is used, and
    /// every pair is found.
    #[arg(long, value_name = "CHANCE", value_parser = number, allow_negative_numbers = true)]
    recall: Option<f64>,
    /// Miss no pair, even if hashing would be faster
    #[arg(long)]
    exact: bool,
    /// Search texts, sets and bags by bands of minhashes, even if an exact search would be faster
    #[arg(long)]
    approximate: bool,
    /// Similar pairs to look at for the audit, or items where these are in memory; 0 for none [default: what costs little]
    ///
    /// After a search that may miss pairs, the audit draws pairs by another way, with known chances, compares them exactly,
    /// and reports the share that the run found. Of vectors, bits and other items in memory it draws items and finds
    /// everything similar to them.
    #[arg(long, value_name = "N")]
    audit: Option<usize>,
    /// Seed of all random choices and of the key of all hashes [default: 1]
    #[arg(long, value_parser = whole_number, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Number of bands, with --rows, instead of those chosen for --recall
    #[arg(long, value_name = "N")]
    bands: Option<usize>,
    /// Rows of each band
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Filters of the exact search of texts and sets, joined by commas, or none [default: the fastest]
    ///
    /// length, prefix, position, suffix, bitmap, full-suffix, by-size. The pairs are the same with any of them; use this to see
    /// what each filter saves. Without by-size, prefixes and positions are those of the textbook.
    #[arg(long, value_name = "LIST", value_parser = parsed::<Filters>)]
    filters: Option<Filters>,
}

impl Fill for WayArgs {
    fn fill(&self, options: &mut Options) {
        options.recall = self.recall;
        options.exact = self.exact;
        options.approximate = self.approximate;
        options.audit = self.audit;
        options.seed = self.seed;
        options.bands = self.bands;
        options.rows = self.rows;
        options.filters = self.filters;
    }
}
