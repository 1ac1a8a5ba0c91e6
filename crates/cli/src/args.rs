//! The options that several commands share: each is defined once, with its help and its default.

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use nearkin::amplify::Bands;
use nearkin::join::sets::Filters;
use nearkin::pipeline::{Job, LEAST_MEMORY, Settings, Way};
use nearkin::read::{Format, Groups, Input, OnError, Opened, Place, ReadOptions, Shape};
use nearkin::shingle::{Case, HashBits, NormalForm, Shingling, Space, StopWords, Unit};
use nearkin::verify::Measure;
use nearkin::{Error, Result, write};

use crate::items::{ItemArgs, KindName};

/// Where items come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// Files (.jsonl .ndjson .parquet .csv .tsv .txt, for vectors and bits .npy .fvecs .bvecs, also .gz
    /// .zst), folders, or - for standard input
    #[arg(value_name = "INPUT", required = true, value_parser = place_parser())]
    pub(crate) inputs: Vec<Place>,
    #[command(flatten)]
    pub(crate) fields: FieldArgs,
}

/// How records are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct FieldArgs {
    /// Field or column that holds the text, or what --as says [default: text; but where the first record has
    /// one of them: items or set for sets and bags, vector or embedding, bits or hash, string]
    #[arg(long, value_name = "FIELD")]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) items: ItemArgs,
}

/// How files are laid out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct TableArgs {
    /// Field or column that holds the id [default: id, where there is one; else the position, from 0]
    #[arg(long, value_name = "FIELD")]
    pub(crate) id: Option<String>,
    /// Take positions as ids even where there is a field id: for inputs that each count from 1
    #[arg(long, conflicts_with = "id")]
    pub(crate) positions: bool,
    /// Read every input as this format instead of going by its extension
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(crate) format: Option<Format>,
    /// What stands between the fields of CSV files, such as ';' or '::' [default: a comma, or a tab in .tsv]
    #[arg(long, value_name = "TEXT")]
    pub(crate) delimiter: Option<String>,
    /// CSV files have no row of names: columns are called 1, 2, 3 and so on
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Folder for temporary files: what does not fit in --memory, and standard input. Given here, a run
    /// that was killed continues when it is started again with the same arguments [default: the
    /// system's]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp: Option<PathBuf>,
    /// What to do with a record that cannot be used
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = ErrorPolicy::Stop)]
    pub(crate) on_error: ErrorPolicy,
}

impl TableArgs {
    /// What is read besides a text.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            positions: self.positions,
            temp: self.temp.clone(),
            format: self.format,
            delimiter: self.delimiter.clone(),
            header: !self.no_header,
            on_error: self.on_error.into(),
            ..ReadOptions::default()
        }
    }
}

/// A path, as the command line has it.
pub(crate) fn place_parser() -> impl TypedValueParser<Value = Place> {
    PathBufValueParser::new().map(Place::from)
}

pub(crate) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let names =
        ["jsonl", "parquet", "csv", "tsv", "txt", "npy", "fvecs", "bvecs", "ivecs", "folder"];
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Format>())
}

/// What to do with a record that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorPolicy {
    /// End the run, name the file and the line
    Stop,
    /// Leave it out, and say at the end how many were
    Skip,
}

impl From<ErrorPolicy> for OnError {
    fn from(policy: ErrorPolicy) -> Self {
        match policy {
            ErrorPolicy::Stop => Self::Stop,
            ErrorPolicy::Skip => Self::Skip,
        }
    }
}

impl FieldArgs {
    /// Opens the inputs for a run with these settings; `value` is a further field to read.
    pub(crate) fn open(
        &self,
        inputs: &[Place],
        value: Option<&str>,
        settings: Option<&Settings>,
    ) -> Result<Opened> {
        let options = self.options(value, settings);
        let Some(grouping) = self.items.grouping()? else {
            return Ok(Opened::Records(Input::open(inputs, options)?.into()));
        };
        if let Some(field) = value {
            let must = "first or longest: the groups of a table have no fields";
            return Err(Error::parameter("--keep", field, must));
        }
        Ok(Opened::Groups(Groups::read(inputs, &options, &grouping)?.into()))
    }

    pub(crate) fn options(&self, value: Option<&str>, settings: Option<&Settings>) -> ReadOptions {
        let defaults = self.table.options();
        let (rather, shape): (&[&str], Shape) = match self.items.kind() {
            KindName::Text => (&[], Shape::Text),
            KindName::String => (&["string"], Shape::Text),
            KindName::Set | KindName::Bag => (&["items", "set"], Shape::Elements),
            KindName::Vector => (&["vector", "embedding"], Shape::Value),
            KindName::Bits => (&["bits", "hash"], Shape::Value),
            KindName::Answers => (&[], Shape::Text),
        };
        let rather = if self.text.is_none() { rather } else { &[] };
        ReadOptions {
            rather: rather.iter().map(|&name| name.to_owned()).collect(),
            shape,
            text: self.text.clone().unwrap_or(defaults.text),
            chunk_bytes: settings.map_or(defaults.chunk_bytes, chunk_bytes),
            value: value.map(String::from),
            ..defaults
        }
    }
}

/// The job to which a run with these words (or those of the command line) belongs, where --temp is given and the input
/// can be read again.
pub(crate) fn job(
    words: Option<&[String]>,
    temp: Option<&Path>,
    sources: &[&Opened],
    shingle: &ShingleArgs,
    settings: &Settings,
) -> Result<Option<Arc<Job>>> {
    let Some(temp) = temp else { return Ok(None) };
    let stamps: Option<Vec<String>> = sources.iter().map(|source| source.input().stamp()).collect();
    let Some(stamps) = stamps else { return Ok(None) };
    let process = || std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut arguments: Vec<String> = words.map_or_else(|| process().collect(), <[String]>::to_vec);
    // These decide nothing.
    arguments.retain(|word| !["-q", "--quiet"].contains(&word.as_str()));
    let folder = std::env::current_dir().unwrap_or_default();
    // The list that a name in the arguments stands for, should it have changed.
    let stop_words = shingle.stop_words.as_ref().map(std::fs::read).transpose().ok().flatten();
    let chunk = chunk_bytes(settings);
    let purpose = format!("{arguments:?} {} {chunk} {stop_words:?}", folder.display());
    Job::open(temp, &purpose, &stamps.join("\n\n")).map(|job| Some(job.into()))
}

/// How much is read at a time: less where there is little memory for many threads.
fn chunk_bytes(settings: &Settings) -> usize {
    let most = ReadOptions::default().chunk_bytes;
    (settings.memory / 64 / settings.threads.max(1)).clamp(64 << 10, most)
}

/// How a text becomes shingles.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shingles")]
pub(crate) struct ShingleArgs {
    /// What texts are cut into: chars:K, words:K (lower-cased runs of letters, digits and underscore),
    /// or stopwords (a stop word and the two words after it) [default: words:5]
    #[arg(long, value_name = "SHINGLE")]
    pub(crate) shingle: Option<Shingling>,
    /// Take upper and lower case as the same in chars:K (words:K always does)
    #[arg(long)]
    pub(crate) ignore_case: bool,
    /// White space in chars:K
    #[arg(long, value_name = "HOW", value_enum, default_value_t = SpacePolicy::Fold)]
    pub(crate) space: SpacePolicy,
    /// Bring texts into this Unicode normal form first
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) normal_form: Option<FormPolicy>,
    /// Stop words for the shingle stopwords, separated by white space [default: English]
    #[arg(long, value_name = "FILE")]
    pub(crate) stop_words: Option<PathBuf>,
    /// Bits kept of a shingle's hash
    #[arg(long, value_name = "BITS", default_value = "64", value_parser = ["32", "64"])]
    pub(crate) hash_bits: String,
}

/// White space in character shingles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpacePolicy {
    /// A run becomes one blank
    Fold,
    /// It is dropped
    Drop,
    /// It stays
    Keep,
}

/// Unicode normal forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormPolicy {
    /// é is one character however it was typed
    Nfc,
    /// Also: full width = half width, ligatures = their letters
    Nfkc,
}

impl ShingleArgs {
    /// An error where one of these options is given for items that are not cut into shingles.
    pub(crate) fn check_unused(&self) -> Result<()> {
        let for_texts = [
            ("--shingle", self.shingle.is_some()),
            ("--ignore-case", self.ignore_case),
            ("--space", self.space != SpacePolicy::Fold),
            ("--normal-form", self.normal_form.is_some()),
            ("--stop-words", self.stop_words.is_some()),
        ];
        match for_texts.iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                let must = "left out: only texts are cut into shingles";
                Err(Error::parameter(name, "given", must))
            }
            None => Ok(()),
        }
    }

    /// The elements of sets and bags.
    fn elements(&self) -> Result<Shingling> {
        self.check_unused()?;
        let bits = match self.hash_bits.as_str() {
            "32" => HashBits::ThirtyTwo,
            _ => HashBits::SixtyFour,
        };
        Ok(Shingling { bits, ..Shingling::elements() })
    }

    /// The shingling these options describe.
    pub(crate) fn shingling(&self) -> Result<Shingling> {
        let mut shingling = self.shingle.clone().unwrap_or_default();
        let by_chars = matches!(shingling.unit, Unit::Chars(_));
        if !by_chars && (self.ignore_case || self.space != SpacePolicy::Fold) {
            let must = "chars:K with --ignore-case or --space; words are lower-cased and without white space";
            return Err(Error::parameter("--shingle", shingling, must));
        }
        if self.ignore_case {
            shingling.case = Case::Fold;
        }
        shingling.space = match self.space {
            SpacePolicy::Fold => Space::Fold,
            SpacePolicy::Drop => Space::Drop,
            SpacePolicy::Keep => Space::Keep,
        };
        shingling.normal_form = self.normal_form.map(|form| match form {
            FormPolicy::Nfc => NormalForm::Nfc,
            FormPolicy::Nfkc => NormalForm::Nfkc,
        });
        if self.hash_bits == "32" {
            shingling.bits = HashBits::ThirtyTwo;
        }
        if let Some(path) = &self.stop_words {
            if !matches!(shingling.unit, Unit::StopWords(_)) {
                return Err(Error::parameter(
                    "--stop-words",
                    path.display(),
                    "used with --shingle stopwords",
                ));
            }
            let list = std::fs::read_to_string(path).map_err(|error| Error::File {
                path: path.clone(),
                what: format!("cannot read: {error}; give a text file of words"),
            })?;
            shingling.unit = Unit::StopWords(StopWords::new(list.split_whitespace()).into());
        }
        Ok(shingling)
    }
}

/// What counts as similar.
#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(crate) struct SimilarityArgs {
    /// How items are compared. Texts, sets and bags: jaccard (each shingle or element counts once), bag (as
    /// often as it occurs, the union by maximum) or bag-sum (by sum). Texts and sets also: dice, containment
    /// (the share of the smaller set that the other contains), overlap (how many are shared), hamming (how
    /// many are not), cosine (of sets, or of the tf-idf vectors of texts). Vectors: l2, l1, any l1.5, l3 …, linf, or cosine. Bits: hamming. Strings: edit (inserts
    /// and deletes), damerau (also replacements and swaps) or hamming [default: jaccard; bag with --as
    /// bag; l2, hamming or edit]
    #[arg(long, value_name = "MEASURE")]
    pub(crate) measure: Option<MeasureName>,
    /// Pairs at or above this similarity are similar; for the measures that are one: jaccard, bag, bag-sum, dice,
    /// containment, cosine, hamming of bits; with overlap so many shared elements [default: 0.8; with
    /// bag-sum 0.444, its equal]
    #[arg(
        short,
        long,
        value_name = "SIMILARITY",
        conflicts_with = "within",
        allow_negative_numbers = true
    )]
    pub(crate) threshold: Option<f64>,
    /// The same as a distance: pairs within it are similar. It is 1 − similarity for jaccard and bag, degrees
    /// for the cosine of vectors, places or elements for hamming, edits for edit [default with edit: 2]
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    pub(crate) within: Option<f64>,
    /// The chance that a pair at just the threshold is found; more similar pairs are found more surely. Where an exact
    /// search is expected to be faster, all are found
    #[arg(long, value_name = "CHANCE", default_value_t = 0.99, allow_negative_numbers = true)]
    pub(crate) recall: f64,
    /// Miss none: find pairs by an exact search, even where hashing would be faster
    #[arg(long, conflicts_with_all = ["recall", "bands", "audit"])]
    pub(crate) exact: bool,
    /// Find texts, sets and bags by bands of minhashes, even where an exact search would be faster
    #[arg(long, conflicts_with = "exact")]
    pub(crate) approximate: bool,
    /// What the exact search of texts and sets rules pairs out by, to see what each is worth: length, prefix,
    /// position, suffix, bitmap, full-suffix, joined by commas, or none; the pairs are the same [default: the
    /// fastest]
    #[arg(long, value_name = "LIST", requires = "exact")]
    pub(crate) filters: Option<Filters>,
    /// After a run that may miss pairs, draw so many items, find all that is similar to them by an exact search, and
    /// say how much of it was found; 0 for none [default: up to 400, as many as cost little]
    #[arg(long, value_name = "N")]
    pub(crate) audit: Option<usize>,
    /// Use this many bands of --rows rows instead of the cheapest that keep --recall
    #[arg(long, value_name = "N", requires = "rows", conflicts_with = "recall")]
    pub(crate) bands: Option<usize>,
    /// Rows of each band
    #[arg(long, value_name = "N", requires = "bands")]
    pub(crate) rows: Option<usize>,
    /// What all random choices derive from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    // Last, for what follows it stands under its heading.
    #[command(flatten)]
    pub(crate) shingle: ShingleArgs,
}

/// Measures by name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MeasureName {
    Jaccard,
    Bag,
    BagSum,
    Dice,
    Containment,
    Overlap,
    Cosine,
    /// The norm of this order, from 1 to infinity.
    Norm(f64),
    Hamming,
    Edit,
    Damerau,
}

impl FromStr for MeasureName {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let order = |text: &str| match text {
            "inf" => Some(f64::INFINITY),
            _ => text.parse().ok().filter(|order: &f64| order.is_finite() && *order >= 1.0),
        };
        match name {
            "jaccard" => Ok(Self::Jaccard),
            "bag" => Ok(Self::Bag),
            "bag-sum" => Ok(Self::BagSum),
            "dice" => Ok(Self::Dice),
            "containment" => Ok(Self::Containment),
            "overlap" => Ok(Self::Overlap),
            "cosine" => Ok(Self::Cosine),
            "hamming" => Ok(Self::Hamming),
            "edit" => Ok(Self::Edit),
            "damerau" => Ok(Self::Damerau),
            _ => name.strip_prefix('l').and_then(order).map(Self::Norm).ok_or_else(|| {
                "the measures are jaccard, bag, bag-sum, dice, containment, overlap, cosine, l1, l2, l3 and \
                 so on, linf, hamming, edit and damerau"
                    .to_owned()
            }),
        }
    }
}

impl Display for MeasureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jaccard => "jaccard",
            Self::Bag => "bag",
            Self::BagSum => "bag-sum",
            Self::Dice => "dice",
            Self::Containment => "containment",
            Self::Overlap => "overlap",
            Self::Cosine => "cosine",
            Self::Hamming => "hamming",
            Self::Edit => "edit",
            Self::Damerau => "damerau",
            Self::Norm(order) => return write!(f, "l{order}"),
        })
    }
}

impl SimilarityArgs {
    /// The settings of a run.
    pub(crate) fn settings(&self, run: &RunArgs, fields: &FieldArgs) -> Result<Settings> {
        let defaults = Settings::default();
        let kind = fields.items.kind();
        let measure = match (kind, self.measure) {
            (KindName::Bag, Some(other))
                if !matches!(
                    other,
                    MeasureName::Jaccard | MeasureName::Bag | MeasureName::BagSum
                ) =>
            {
                let must = "bag, bag-sum or jaccard for bags; others are for --as set";
                return Err(Error::parameter("--measure", other, must));
            }
            (KindName::Set, Some(MeasureName::Bag | MeasureName::BagSum)) => {
                let must = "jaccard for sets: repeats count in bags, pass --as bag";
                return Err(Error::parameter("--measure", "that of bags", must));
            }
            (_, Some(MeasureName::Jaccard)) => Measure::Jaccard,
            (_, Some(MeasureName::Bag)) => Measure::Bag,
            (_, Some(MeasureName::BagSum)) => Measure::BagSum,
            (_, Some(MeasureName::Dice)) => Measure::Dice,
            (_, Some(MeasureName::Containment)) => Measure::Containment,
            (_, Some(MeasureName::Overlap)) => Measure::Overlap,
            (_, Some(MeasureName::Hamming)) => Measure::Hamming,
            (KindName::Set, Some(MeasureName::Cosine)) => Measure::Cosine,
            (KindName::Text, Some(MeasureName::Cosine)) => {
                let must = "another one here: the cosine of texts is for `pairs` and `top`";
                return Err(Error::parameter("--measure", "cosine", must));
            }
            (_, Some(other)) => {
                let must = "jaccard, bag, bag-sum, dice, containment, overlap, hamming or cosine for texts \
                            and sets; pass --as vector, bits or string for others";
                return Err(Error::parameter("--measure", other, must));
            }
            (KindName::Bag, None) => Measure::Bag,
            (_, None) => Measure::Jaccard,
        };
        let usual = match (measure, self.threshold, self.within) {
            (Measure::Overlap, None, None) => {
                let must = "given with overlap: -t N, how many elements must be shared";
                return Err(Error::parameter("--threshold", "missing", must));
            }
            (Measure::Hamming, _, None) => {
                let must = "given with hamming, which is a distance: --within N, how many elements may be in one of the \
                            two only";
                return Err(Error::parameter("--within", "missing", must));
            }
            // A Jaccard similarity of 0.8 of the shingles.
            (Measure::BagSum, ..) => 0.444,
            _ => 0.8,
        };
        let exact_only = !measure.follows_jaccard();
        for (name, given) in
            [("--approximate", self.approximate), ("--audit", self.audit.is_some())]
        {
            if exact_only && given {
                let must = format!("left out with {}, which is found exactly", measure.name());
                return Err(Error::parameter(name, "given", must));
            }
        }
        Ok(Settings {
            shingling: match kind {
                KindName::Text => self.shingle.shingling()?,
                KindName::Set | KindName::Bag => self.shingle.elements()?,
                held => {
                    let must = "text, set or bag here; vectors, bits, strings and answers have `pairs` and `top`";
                    return Err(Error::parameter("--as", held.name(), must));
                }
            },
            measure,
            threshold: self.threshold.unwrap_or(usual),
            within: self.within,
            recall: self.recall,
            way: match (self.exact, self.approximate) {
                (true, _) => Way::Exact,
                (_, true) => Way::Bands,
                _ => Way::Cheapest,
            },
            filters: self.filters.unwrap_or_default(),
            audit: self.audit,
            bands: self.bands.zip(self.rows).map(|(count, rows)| Bands { count, rows }),
            seed: self.seed,
            threads: run.threads.map_or(defaults.threads, usize::from),
            memory: run.memory.unwrap_or(defaults.memory),
            temp: fields.table.temp.clone(),
            skip_duplicate_ids: fields.table.on_error == ErrorPolicy::Skip,
            ..defaults
        })
    }
}

/// How a run goes and what it leaves behind.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Memory to use, such as 512M or 4G; what does not fit goes to --temp, and the result is the same
    /// [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<usize>,
    /// Write counts, times and memory as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) stats: Option<PathBuf>,
    /// No progress and no summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The words that ask for the run, where they are not those of the command line.
    #[arg(skip)]
    pub(crate) words: Option<Vec<String>>,
}

/// Reads a number of bytes: 4G, 512M, 1.5GiB, in powers of 1024.
///
/// # Errors
/// In words, what to give instead.
pub fn memory(text: &str) -> std::result::Result<usize, String> {
    let how = "give a size such as 512M or 4G";
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| how.to_owned())?;
    let unit = unit.trim().to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(how.to_owned()),
    };
    let bytes = number * 1024f64.powi(power);
    if bytes < LEAST_MEMORY as f64 {
        return Err(format!("a run takes at least {} MiB", LEAST_MEMORY >> 20));
    }
    Ok(bytes as usize)
}

impl RunArgs {
    /// An error where what is held in memory takes more of it than may be used.
    pub(crate) fn fits(&self, bytes: usize) -> Result<()> {
        fits(self.memory, bytes)
    }

    /// Refuses outputs that cannot be made, that are the same file, or that are one of `inputs`; hours
    /// later would be late to hear of it.
    pub(crate) fn check(&self, tables: &[Option<&Path>], inputs: &[&Place]) -> Result<()> {
        self.check_all(tables, &[], inputs)
    }

    /// The same with outputs that are no tables.
    pub(crate) fn check_all(
        &self,
        tables: &[Option<&Path>],
        others: &[Option<&Path>],
        inputs: &[&Place],
    ) -> Result<()> {
        let tables = || tables.iter().copied().flatten().filter(|path| path.as_os_str() != "-");
        let others = others.iter().copied().flatten().filter(|path| path.as_os_str() != "-");
        let others = others.chain(self.stats.as_deref());
        tables().try_for_each(write::check_table)?;
        others.clone().try_for_each(write::check)?;
        let paths = inputs.iter().filter_map(|place| place.path());
        let mut taken: Vec<PathBuf> = paths.filter_map(lies_at).collect();
        for target in tables().chain(others) {
            let Some(place) = lies_at(target) else { continue };
            if taken.contains(&place) {
                return Err(Error::File {
                    path: target.to_owned(),
                    what:
                        "is given twice, as an output and as an input or another output; give each \
                           output a name of its own"
                            .into(),
                });
            }
            taken.push(place);
        }
        Ok(())
    }
}

/// An error where what is held in memory takes more of it than may be used.
pub(crate) fn fits(memory: Option<usize>, bytes: usize) -> Result<()> {
    match memory {
        Some(memory) if bytes > memory => {
            let must =
                format!("at least {} MB, for the items are held in memory", bytes / 1_000_000 + 1);
            Err(Error::parameter("--memory", format!("{} MB", memory / 1_000_000), must))
        }
        _ => Ok(()),
    }
}

/// Refuses a plot that cannot be drawn, before the work.
pub(crate) fn check_plot(path: &Path) -> Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !["svg", "png"].contains(&extension.to_lowercase().as_str()) {
        return Err(Error::parameter("--plot", path.display(), "a file that ends in .svg or .png"));
    }
    if cfg!(not(feature = "plot")) {
        let must = "left out: this nearkin was built without the feature plot";
        return Err(Error::parameter("--plot", path.display(), must));
    }
    Ok(())
}

/// Where a file lies or will lie; none for what is no regular file.
fn lies_at(path: &Path) -> Option<PathBuf> {
    match std::fs::canonicalize(path) {
        Ok(place) => place.is_file().then_some(place),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
            Some(folder.join(path.file_name()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::memory;

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in [
            ("16M", 16 << 20),
            ("512M", 512 << 20),
            ("4G", 4 << 30),
            ("1.5GiB", 3 << 29),
            ("2gb", 2 << 30),
            ("1T", 1 << 40),
            ("33554432", 32 << 20),
        ] {
            assert_eq!(memory(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "G", "4X", "-4G", "1..5G", "4 G G", "NaN", "1M", "0"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }
}
