//! What a user may say: every option of a search, what it stands for when it is left out, and what does not go together.
//!
//! The command fills an [`Options`] from its arguments, Python from keyword arguments, Spark sends it to its executors as
//! JSON. What an option means is worked out here, once: the kind of the items and how they are read, the measure and
//! how similar a pair has to be, how texts become shingles, how pairs are found. Errors name options as they are written
//! here; each front end words them as its users write them.
//!
//! ```
//! use nearkin_engine::options::{Goal, Options};
//! let options = Options { threshold: Some(0.5), exact: true, ..Options::default() };
//! assert_eq!(options.settings(Goal::Pairs)?.threshold, 0.5);
//! // Both at once make no sense.
//! assert!(Options { recall: Some(0.9), ..options }.settings(Goal::Pairs).is_err());
//! # Ok::<(), nearkin_engine::Error>(())
//! ```

mod conflicts;
mod function_curve;
mod items;
#[cfg(feature = "files")]
mod json;
mod keywords;
mod limits;
#[cfg(feature = "files")]
mod loading;
mod measure;
#[cfg(feature = "files")]
mod overlap;
mod query;
#[cfg(feature = "files")]
mod reading;
mod serde_forms;
mod settings;
mod shingles;
mod size;
#[cfg(feature = "files")]
mod trim;
#[cfg(feature = "files")]
mod weighed;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::settings::Goal;
pub use conflicts::{CONFLICTS, REQUIREMENTS};
pub use function_curve::FunctionCurve;
pub use items::{Edges, ItemKind};
pub use keywords::Keyword;
pub use measure::MeasureName;
pub use query::Query;
#[cfg(feature = "files")]
pub use reading::RunFiles;
pub use size::{file_size, item_size, memory_size};
#[cfg(feature = "files")]
pub use trim::TrimOptions;

use crate::amplify::Expression;
use crate::cluster::Keep;
use crate::join::sets::Filters;
#[cfg(feature = "files")]
use crate::read::{Digits, Format, OnError, Ratings, TextEncoding};
use crate::settings::DEFAULT_RECALL;
use crate::shingle::{DEFAULT_SEED, Grid, HashBits, NormalForm, Whitespace};
use serde_forms::{bytes, functions, item_bytes, keyword, list, number, path, text};

/// What the user said; what was left unsaid has its default when it is needed.
///
/// As JSON it is an object with the names of the fields as keys, `as` for [`kind`](Self::kind). Unknown keys are
/// refused.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The field that holds the item. Default: `text`; but where the first record has one of them, `items` or `set` for
    /// sets and bags, `vector` or `embedding`, `bits` or `hash`, `string`.
    pub text: Option<String>,
    /// The field that holds the id. Default: `id`, where there is one; else positions are ids.
    pub id: Option<String>,
    /// Whether positions are the ids even where there is a field `id`.
    pub positions: bool,
    /// The format of all inputs. Default: by their extensions.
    #[cfg(feature = "files")]
    #[serde(with = "text")]
    pub format: Option<Format>,
    /// Globs: of folders, only files that one of them matches.
    #[serde(with = "list")]
    pub include: Option<Vec<String>>,
    /// Globs: files and folders that are left out of folders.
    #[serde(with = "list")]
    pub exclude: Option<Vec<String>>,
    /// Whether documents count that a `.gitignore` file names.
    pub no_ignore: bool,
    /// How the characters of texts are written. Default: as UTF-8, or as the byte-order mark of a file says.
    #[cfg(feature = "files")]
    #[serde(with = "text")]
    pub encoding: Option<TextEncoding>,
    /// What stands between the fields of CSV files. Default: a comma, or a tab in `.tsv` files.
    pub delimiter: Option<String>,
    /// Whether CSV files have no row of names.
    pub no_header: bool,
    /// What to do with a record that cannot be used. Default: stop.
    #[cfg(feature = "files")]
    #[serde(with = "keyword")]
    pub on_error: Option<OnError>,

    /// What an item is. Default: a text; a set or a bag with `group` or `edges`.
    #[serde(rename = "as", with = "keyword")]
    pub kind: Option<ItemKind>,
    /// The column of a long table whose value is the item that a row belongs to.
    pub group: Option<String>,
    /// The column with the element that a row adds.
    pub element: Option<String>,
    /// The column that says how often a row's element counts.
    pub count: Option<String>,
    /// The column with a rating of a row's element.
    pub rating: Option<String>,
    /// How ratings count.
    #[cfg(feature = "files")]
    #[serde(with = "text")]
    pub ratings: Option<Ratings>,
    /// A table of elements and their groups: elements of one group count as the same.
    #[serde(with = "path")]
    pub element_groups: Option<PathBuf>,
    /// Whether rows are edges of a graph, and which of their ends become items.
    #[serde(with = "keyword")]
    pub edges: Option<Edges>,
    /// The columns that are questions. Default: all but the id.
    #[serde(with = "list")]
    pub questions: Option<Vec<String>>,
    /// The grid into whose squares points are put; items become sets.
    #[serde(with = "text")]
    pub grid: Option<Grid>,
    /// How bit strings are written.
    #[cfg(feature = "files")]
    #[serde(with = "keyword")]
    pub digits: Option<Digits>,

    /// How items are compared. Default: by the kind of the items.
    #[serde(with = "text")]
    pub measure: Option<MeasureName>,
    /// Pairs at or above this similarity are similar. Default: by the measure.
    #[serde(with = "number")]
    pub threshold: Option<f64>,
    /// Pairs within this distance are similar.
    #[serde(with = "number")]
    pub within: Option<f64>,
    /// Pairs above this similarity are left out. They are found all the same, so the recall is that of the threshold.
    #[serde(with = "number")]
    pub at_most: Option<f64>,
    /// Pairs that are closer than this distance are left out.
    #[serde(with = "number")]
    pub at_least: Option<f64>,
    /// The chance that a pair at just the threshold is found. Default: 0.99.
    #[serde(with = "number")]
    pub recall: Option<f64>,
    /// Whether no pair may be missed.
    pub exact: bool,
    /// Whether pairs are found by bands of minhashes even where an exact search would be faster.
    pub approximate: bool,
    /// What the exact search rules pairs out by.
    #[serde(with = "text")]
    pub filters: Option<Filters>,
    /// Similar pairs to be looked at to measure the recall after a run that may miss some, or items where these are in
    /// memory. Default: as many as cost little.
    pub audit: Option<usize>,
    /// Bands to use instead of the cheapest that keep the recall.
    pub bands: Option<usize>,
    /// Rows of each band.
    pub rows: Option<usize>,
    /// What all random choices derive from. Default: 1.
    pub seed: Option<u64>,
    /// The AND/OR expression whose tables find the pairs.
    #[serde(with = "text")]
    pub and_or: Option<Expression>,
    /// Minhashes of a signature, where pairs are found by signatures that agree and nothing is compared exactly.
    #[serde(with = "functions")]
    pub estimate: Option<usize>,
    /// Buckets to look into in each table of the expression.
    pub probes: Option<usize>,

    /// What texts are cut into: `chars:K`, `words:K` or `stopwords`. Default: `words:5`.
    pub shingle: Option<String>,
    /// Whether upper and lower case are the same in shingles of characters.
    pub ignore_case: bool,
    /// What becomes of white space in shingles of characters. Default: a run becomes one blank.
    #[serde(with = "keyword")]
    pub space: Option<Whitespace>,
    /// The Unicode normal form that texts are brought into first.
    #[serde(with = "keyword")]
    pub normal_form: Option<NormalForm>,
    /// A file with the stop words. Default: English ones.
    #[serde(with = "path")]
    pub stop_words: Option<PathBuf>,
    /// Bits kept of a shingle's hash. Default: 64.
    #[serde(with = "keyword")]
    pub hash_bits: Option<HashBits>,

    /// Threads to use. Default: one per core.
    pub threads: Option<usize>,
    /// Bytes of memory to use; as text also `4G`. Default: half of what is free.
    #[serde(with = "bytes")]
    pub memory: Option<usize>,
    /// How many bytes an item may have; as text also `1G`. Default: 1 GiB, or less where memory is short.
    #[serde(with = "item_bytes")]
    pub max_item: Option<usize>,
    /// The folder for temporary files. Default: the system's.
    #[serde(with = "path")]
    pub temp: Option<PathBuf>,

    /// Which item of a group is kept. Default: the first.
    #[serde(with = "text")]
    pub keep: Option<Keep>,
    /// Whether a chain of similar items is one group. Else only items similar to the kept one are in its group.
    pub chains: bool,
    /// What it is without `chains`, for scripts that say so.
    pub no_chains: bool,
    /// How many of the items closest to each are wanted. Default: 10.
    pub k: Option<usize>,

    /// The field that holds the text of the collection that INPUT is compared with or grows. Default: that of INPUT.
    pub against_text: Option<String>,
    /// The field that holds its ids. Default: that of INPUT.
    pub against_id: Option<String>,

    /// How many words in a row make a stretch that training texts and test items share. Default: 13.
    pub words: Option<usize>,
    /// The share of a test item's distinct stretches that a training text must contain. Default: one stretch is enough.
    #[serde(with = "number")]
    pub share: Option<f64>,
    /// How many test items are named for one stretch. Default: 10.
    pub most_tests: Option<usize>,
    /// The field that holds the text of test items. Default: that of the others.
    pub test_text: Option<String>,
    /// The field that holds the id of test items. Default: that of the others.
    pub test_id: Option<String>,
}

/// Minhashes of a signature for estimates, unless another number is asked for. The standard error of an estimate is 0.03 or
/// less.
pub const ESTIMATE_FUNCTIONS: usize = 256;

impl Options {
    /// The chance that a pair at just the threshold is to be found.
    pub(crate) fn recall_or_default(&self) -> f64 {
        self.recall.unwrap_or(DEFAULT_RECALL)
    }

    /// What all random choices derive from.
    pub fn seed_or_default(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// The fields that decide which item of a group is kept.
    pub fn keep_fields(&self) -> Vec<String> {
        let keep = self.keep.as_ref();
        keep.map(|keep| keep.fields().into_iter().map(str::to_owned).collect()).unwrap_or_default()
    }

    /// The fields whose values are read with items: those that decide which item is kept, or that an expression compares.
    #[cfg(feature = "files")]
    pub(crate) fn value_fields(&self) -> Vec<String> {
        match &self.and_or {
            Some(expression) => expression.fields(),
            None => self.keep_fields(),
        }
    }

    /// How many of the items closest to each are wanted.
    ///
    /// # Errors
    /// When none are.
    pub fn closest(&self) -> crate::Result<usize> {
        match self.k.unwrap_or(10) {
            0 => Err(crate::Error::parameter("k", 0, "at least 1")),
            k => Ok(k),
        }
    }
}
