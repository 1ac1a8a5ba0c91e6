//! The arguments of each step.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use nearkin_engine::options::{MeasureName, Options};
use nearkin_engine::read::Place;
use nearkin_engine::textbook::show::{List, ShowOptions, Step};

use super::{Form, NamedItems, Typed};
use crate::args::{
    FieldArgs, Fill, ShingleArgs, number, options_of, parsed, place_parser, whole_number,
};

/// Show what items become: shingles, matrix, signatures, buckets …
///
/// For a few items: typed in, or taken from a collection with --in.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  nearkin show shingles abcdabd --shingle chars:2
  nearkin show matrix S1=a,d S2=c S3=b,d,e S4=a,c,d
  nearkin show signatures S1=a,d S2=c S3=b,d,e S4=a,c,d --functions 'x+1 mod 5, 3x+1 mod 5'
  nearkin show estimate --in articles.jsonl t1088 t5015

`nearkin help show STEP` shows all options of a step."
)]
pub(crate) struct ShowArgs {
    #[command(subcommand)]
    step: StepArgs,
}

#[derive(Debug, Subcommand)]
enum StepArgs {
    Shingles(ShinglesArgs),
    Matrix(MatrixArgs),
    Signatures(SignaturesArgs),
    Estimate(EstimateArgs),
    Buckets(BucketsArgs),
    Sketch(SketchArgs),
    Prefix(PrefixArgs),
    Family(FamilyArgs),
    Perfect(PerfectArgs),
    Near(NearArgs),
    Identical(IdenticalArgs),
}

/// What a step is asked for.
pub(super) struct ShowJob<'a> {
    pub(super) step: Step,
    pub(super) options: Options,
    pub(super) show: ShowOptions,
    pub(super) items: NamedItems<'a>,
    pub(super) form: Form,
    pub(super) most: usize,
    pub(super) plot: Option<&'a Path>,
}

/// Arguments that fill a part of what a step is asked for.
trait FillShow {
    /// Enters what was given.
    fn fill_show(&self, options: &mut Options, show: &mut ShowOptions);
}

/// Which items are shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Items")]
struct ShownItemArgs {
    /// Items typed in, such as a,b,d or S1=a,b,d; with --in, ids
    ///
    /// NAME= before an item names it. A set is its elements with commas or blanks between them. Name a vector that begins
    /// with a minus: x=-2,3.
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Collection to take items from: those with these ids, or the first ones; repeat for several
    #[arg(long = "in", value_name = "INPUT", num_args = 1, value_parser = place_parser())]
    collection: Vec<Place>,
    /// How many items to take from the collection when no id is given
    #[arg(long, value_name = "N", default_value_t = 5)]
    first: usize,
    #[command(flatten)]
    fields: FieldArgs,
    /// Seed of all random choices and of the key of all hashes [default: 1]
    #[arg(long, value_parser = whole_number, allow_negative_numbers = true)]
    seed: Option<u64>,
}

impl ShownItemArgs {
    fn named(&self) -> NamedItems<'_> {
        NamedItems {
            typed: Typed::Words(&self.items),
            collection: &self.collection,
            ids: &self.items,
            first: self.first,
        }
    }
}

impl Fill for ShownItemArgs {
    fn fill(&self, options: &mut Options) {
        self.fields.fill(options);
        options.seed = self.seed;
    }
}

/// What a set is, and how texts become sets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Items")]
struct SetArgs {
    #[command(flatten)]
    items: ShownItemArgs,
    #[command(flatten)]
    shingle: ShingleArgs,
    /// Every letter of a set that is typed in is an element: abd for a,b,d
    #[arg(long)]
    letters: bool,
    /// All elements in the order of the rows: a,b,c, or 0..7 for numbers [default: those of the sets]
    #[arg(long, value_name = "ELEMENT,…")]
    universe: Option<String>,
}

impl Fill for SetArgs {
    fn fill(&self, options: &mut Options) {
        self.items.fill(options);
        self.shingle.fill(options);
    }
}

impl FillShow for SetArgs {
    fn fill_show(&self, options: &mut Options, show: &mut ShowOptions) {
        self.fill(options);
        show.letters = self.letters;
        show.universe = self.universe.clone().map(List::from);
    }
}

/// Orders of the rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Signatures")]
struct OrderArgs {
    /// An order of the rows, such as b,e,a,d,c; repeat for several
    #[arg(long, value_name = "ELEMENT,…")]
    permutation: Vec<String>,
    /// An order of the rows by the place of each row, such as 3,1,2; repeat for several
    #[arg(long, value_name = "PLACE,…")]
    places: Vec<String>,
}

/// Where signatures come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Signatures")]
struct SignerArgs {
    #[command(flatten)]
    orders: OrderArgs,
    /// Functions of the rows, such as 'x+1 mod 5, 3x+1 mod 5'
    ///
    /// x is the element where all elements are whole numbers, else the number of its row, from 0.
    #[arg(long, value_name = "FUNCTION,…", allow_hyphen_values = true)]
    functions: Vec<String>,
    /// All orders of up to 8 rows
    #[arg(long)]
    all_permutations: bool,
    /// The orders that start at a row and go round
    #[arg(long)]
    cyclic: bool,
    /// Values of a signature by the engine's own sketch, which is taken unless another way is named
    #[arg(long, value_name = "N")]
    values: Option<usize>,
    /// Look only at the first N places of each order, or at values of a function below N
    #[arg(long, value_name = "N")]
    truncate: Option<usize>,
    /// One function for N groups of rows, each of which gives a value
    #[arg(long, value_name = "N")]
    groups: Option<usize>,
    /// The items are signatures themselves, such as 0,2,1
    #[arg(long)]
    signatures: bool,
}

fn lists(texts: &[String]) -> Vec<List> {
    texts.iter().cloned().map(List::from).collect()
}

impl FillShow for OrderArgs {
    fn fill_show(&self, _: &mut Options, show: &mut ShowOptions) {
        show.permutation = lists(&self.permutation);
        show.places = lists(&self.places);
    }
}

impl FillShow for SignerArgs {
    fn fill_show(&self, options: &mut Options, show: &mut ShowOptions) {
        self.orders.fill_show(options, show);
        show.functions.clone_from(&self.functions);
        show.all_permutations = self.all_permutations;
        show.cyclic = self.cyclic;
        show.values = self.values;
        show.truncate = self.truncate;
        show.groups = self.groups;
        show.signatures = self.signatures;
    }
}

/// How tables are written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct FormArgs {
    /// Print JSON, with all rows
    #[arg(long)]
    json: bool,
    /// Print the tables for LaTeX
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// Rows of each table to print
    #[arg(long, value_name = "N", default_value_t = 60)]
    most: usize,
}

impl FormArgs {
    fn form(&self) -> Form {
        match (self.json, self.latex) {
            (true, _) => Form::Json,
            (_, true) => Form::Latex,
            _ => Form::Text,
        }
    }
}

/// Show the shingles of texts: who has them, how often, their hashes
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show shingles abcdabd --shingle chars:2
  nearkin show shingles 'a rose is a rose' 'a rose is red' --shingle words:2
  nearkin show shingles --urls www6.infoseek.com /cellblock16/inmates/dilbert/foo.htm
  nearkin show shingles --in articles.jsonl t1088 t5015")]
struct ShinglesArgs {
    #[command(flatten)]
    sets: SetArgs,
    /// Items are URLs, hosts or paths: shingles as `hosts` has them
    #[arg(long, help_heading = "Items")]
    urls: bool,
    #[command(flatten)]
    form: FormArgs,
}

/// Show the characteristic matrix: which element is in which set
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show matrix S1=a,d S2=c S3=b,d,e S4=a,c,d
  nearkin show matrix S1=a,d S2=c S3=b,d,e S4=a,c,d --permutation b,e,a,d,c
  nearkin show matrix abcab abcd --shingle chars:2 --latex")]
struct MatrixArgs {
    #[command(flatten)]
    sets: SetArgs,
    #[command(flatten)]
    orders: OrderArgs,
    #[command(flatten)]
    form: FormArgs,
}

/// Show minhash signatures: by permutations, by functions row by row, or by the engine's own sketch
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show signatures S1=a,d S2=c S3=b,d,e S4=a,c,d --permutation b,e,a,d,c
  nearkin show signatures S1=a,d S2=c S3=b,d,e S4=a,c,d --functions 'x+1 mod 5, 3x+1 mod 5'
  nearkin show signatures S1=4,5,6 S2=3,4,5 S3=2,3,4 --universe 0..7 --groups 2")]
struct SignaturesArgs {
    #[command(flatten)]
    sets: SetArgs,
    #[command(flatten)]
    signer: SignerArgs,
    #[command(flatten)]
    form: FormArgs,
}

/// Show the similarity of columns beside that of signatures, for all pairs
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show estimate S1=a,d S2=c S3=b,d,e S4=a,c,d --all-permutations
  nearkin show estimate --in articles.jsonl --first 20 --values 200 --plot estimates.svg")]
struct EstimateArgs {
    #[command(flatten)]
    sets: SetArgs,
    #[command(flatten)]
    signer: SignerArgs,
    /// Draw estimates against true similarities into a .svg or .png file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    form: FormArgs,
}

/// Show bands, keys and buckets: who meets whom, and in how many bands
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show buckets --in articles.jsonl --first 10 --bands 20 --rows 5
  nearkin show buckets --signatures 1,3,0 0,2,1 0,1,3 0,2,1 2,2,1 --bands 1 --rows 3")]
struct BucketsArgs {
    #[command(flatten)]
    sets: SetArgs,
    #[command(flatten)]
    signer: SignerArgs,
    /// Number of bands, with --rows [default: 20, or as many as the signatures are long enough for]
    #[arg(long, value_name = "N", help_heading = "Signatures")]
    bands: Option<usize>,
    /// Rows of each band [default: 5]
    #[arg(long, value_name = "N", help_heading = "Signatures")]
    rows: Option<usize>,
    /// Draw who is in whose buckets into a .svg or .png file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    form: FormArgs,
}

/// Show sketches of vectors: signs under hyperplanes, buckets on lines
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show sketch x=3,4,5,6 y=4,3,2,1 --normal 1,-1,1,1 --normal -1,1,-1,1 --normal 1,1,-1,-1
  nearkin show sketch x=3,4,5,6 y=4,3,2,1 --all-signs
  nearkin show sketch p1=1,2,3 p2=0,2,4 p3=4,3,2 --axes --width 1 --width 2")]
struct SketchArgs {
    #[command(flatten)]
    items: ShownItemArgs,
    /// Normal of a hyperplane, such as 1,-1,1,1; repeat for several
    #[arg(long, value_name = "NUMBER,…", allow_hyphen_values = true, help_heading = "Sketch")]
    normal: Vec<String>,
    /// All vectors of +1 and −1 as normals, for up to 10 components
    #[arg(long, help_heading = "Sketch")]
    all_signs: bool,
    /// Hyperplanes of the engine's own, which are taken unless normals or lines are given [default: 16]
    #[arg(long, value_name = "N", help_heading = "Sketch")]
    values: Option<usize>,
    /// The engine's own normals have components +1 and −1, and not normal ones
    #[arg(long, help_heading = "Sketch")]
    signs: bool,
    /// Direction of a line, such as 1,0,0; repeat for several
    #[arg(long, value_name = "NUMBER,…", allow_hyphen_values = true, help_heading = "Sketch")]
    line: Vec<String>,
    /// The axes as lines
    #[arg(long, help_heading = "Sketch")]
    axes: bool,
    /// Width of the buckets on lines; repeat for several
    #[arg(long, value_name = "A", value_parser = number, help_heading = "Sketch")]
    width: Vec<f64>,
    #[command(flatten)]
    form: FormArgs,
}

/// Show sets as strings of symbols: sizes, prefixes, positions, and what each filter lets through
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show prefix --letters acdefghijk -t 0.8
  nearkin show prefix --letters qwerty asdfghjui --order aeiouzyxwvtsrqpnmlkjhgfdcb
  nearkin show prefix --length 15 -t 0.85
  nearkin show prefix --in baskets.txt --as set --first 1000 --most 10")]
struct PrefixArgs {
    #[command(flatten)]
    sets: SetArgs,
    /// Smallest Jaccard similarity J of a pair [default: 0.8]
    #[arg(short, long, value_name = "SIMILARITY", value_parser = number, allow_negative_numbers = true, help_heading = "Strings")]
    threshold: Option<f64>,
    /// Order of the symbols, such as a,e,i,o,u [default: rarest first]
    #[arg(long, value_name = "SYMBOL,…", help_heading = "Strings")]
    order: Option<String>,
    /// Show a string of this length, without items
    #[arg(long, value_name = "L", help_heading = "Strings")]
    length: Option<usize>,
    #[command(flatten)]
    form: FormArgs,
}

/// Show how far families of hash functions are from min-wise independence
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show family --size 8
  nearkin show family --functions 'x+1 mod 5, 3x+1 mod 5'")]
struct FamilyArgs {
    /// Elements of the universe whose subsets are counted [default: 7]
    #[arg(long, value_name = "N", help_heading = "Family")]
    size: Option<usize>,
    /// Functions of your own, such as 'x+1 mod 5, 3x+1 mod 5'
    #[arg(long, value_name = "FUNCTION,…", allow_hyphen_values = true, help_heading = "Family")]
    functions: Vec<String>,
    /// An order of your own, such as b,e,a,d,c; repeat for several
    #[arg(long, value_name = "ELEMENT,…", help_heading = "Family")]
    permutation: Vec<String>,
    /// Functions of a large family to measure [default: 2000]
    #[arg(long, value_name = "N", help_heading = "Family")]
    values: Option<usize>,
    /// Seed of the large families [default: 1]
    #[arg(long, value_parser = whole_number, help_heading = "Family")]
    seed: Option<u64>,
    #[command(flatten)]
    form: FormArgs,
}

/// Show a perfect hash of the elements: every key has a slot of its own
#[derive(Debug, Args)]
#[command(after_help = "Example:
  nearkin show perfect 10,22,37,40,52,60,70,72,75")]
struct PerfectArgs {
    #[command(flatten)]
    sets: SetArgs,
    #[command(flatten)]
    form: FormArgs,
}

/// Show the (c, r) near-neighbour index of vectors: its size, what each item finds, how often that succeeds
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin show near 0,0 1,0 9,9 9,8 5,0 --within 1.5
  nearkin show near --in vectors.npy --first 1000 --measure cosine --within 15 --factor 3 --most 10")]
struct NearArgs {
    #[command(flatten)]
    items: ShownItemArgs,
    /// Distance r up to which items are near: a length, or degrees with cosine
    #[arg(long, value_name = "DISTANCE", value_parser = number, allow_negative_numbers = true, help_heading = "Index")]
    within: Option<f64>,
    /// An answer may be c times as far away [default: 2]
    #[arg(long, value_name = "C", value_parser = number, allow_negative_numbers = true, help_heading = "Index")]
    factor: Option<f64>,
    /// l2, or cosine for angles [default: l2]
    #[arg(long, value_name = "MEASURE", value_parser = parsed::<MeasureName>, help_heading = "Index")]
    measure: Option<MeasureName>,
    #[command(flatten)]
    form: FormArgs,
}

/// Show how copies are found: a first look at a few bytes, whole contents only where that is the same
#[derive(Debug, Args)]
#[command(after_help = "Example:
  nearkin show identical 'the same' 'the same' 'not same'")]
struct IdenticalArgs {
    #[command(flatten)]
    items: ShownItemArgs,
    #[command(flatten)]
    form: FormArgs,
}

impl ShowArgs {
    /// The step with all that it is asked for.
    pub(super) fn job(&self) -> ShowJob<'_> {
        match &self.step {
            StepArgs::Shingles(it) => {
                let job = job(Step::Shingles, Some(&it.sets.items), &it.form, &[&it.sets]);
                ShowJob { show: ShowOptions { urls: it.urls, ..job.show }, ..job }
            }
            StepArgs::Matrix(it) => {
                job(Step::Matrix, Some(&it.sets.items), &it.form, &[&it.sets, &it.orders])
            }
            StepArgs::Signatures(it) => {
                job(Step::Signatures, Some(&it.sets.items), &it.form, &[&it.sets, &it.signer])
            }
            StepArgs::Estimate(it) => {
                let parts: [&dyn FillShow; 2] = [&it.sets, &it.signer];
                let job = job(Step::Estimate, Some(&it.sets.items), &it.form, &parts);
                ShowJob { plot: it.plot.as_deref(), ..job }
            }
            StepArgs::Buckets(it) => {
                let parts: [&dyn FillShow; 2] = [&it.sets, &it.signer];
                let job = job(Step::Buckets, Some(&it.sets.items), &it.form, &parts);
                let options = Options { bands: it.bands, rows: it.rows, ..job.options };
                ShowJob { options, plot: it.plot.as_deref(), ..job }
            }
            StepArgs::Sketch(it) => {
                let job = job(Step::Sketch, Some(&it.items), &it.form, &[]);
                let show = ShowOptions {
                    normal: lists(&it.normal),
                    all_signs: it.all_signs,
                    values: it.values,
                    signs: it.signs,
                    line: lists(&it.line),
                    axes: it.axes,
                    width: it.width.clone(),
                    ..job.show
                };
                ShowJob { options: options_of(&[&it.items]), show, ..job }
            }
            StepArgs::Prefix(it) => {
                let job = job(Step::Prefix, Some(&it.sets.items), &it.form, &[&it.sets]);
                let show = ShowOptions {
                    order: it.order.clone().map(List::from),
                    length: it.length,
                    ..job.show
                };
                let options = Options { threshold: it.threshold, ..job.options };
                ShowJob { options, show, ..job }
            }
            StepArgs::Family(it) => {
                let job = job(Step::Family, None, &it.form, &[]);
                let show = ShowOptions {
                    size: it.size,
                    functions: it.functions.clone(),
                    permutation: lists(&it.permutation),
                    values: it.values,
                    ..job.show
                };
                ShowJob { options: Options { seed: it.seed, ..job.options }, show, ..job }
            }
            StepArgs::Perfect(it) => {
                job(Step::Perfect, Some(&it.sets.items), &it.form, &[&it.sets])
            }
            StepArgs::Near(it) => {
                let job = job(Step::Near, Some(&it.items), &it.form, &[]);
                let options =
                    Options { within: it.within, measure: it.measure, ..options_of(&[&it.items]) };
                let show = ShowOptions { factor: it.factor, ..job.show };
                ShowJob { options, show, ..job }
            }
            StepArgs::Identical(it) => {
                let job = job(Step::Identical, Some(&it.items), &it.form, &[]);
                ShowJob { options: options_of(&[&it.items]), ..job }
            }
        }
    }
}

/// A step whose options these arguments fill.
fn job<'a>(
    step: Step,
    items: Option<&'a ShownItemArgs>,
    form: &FormArgs,
    parts: &[&dyn FillShow],
) -> ShowJob<'a> {
    let (mut options, mut show) = (Options::default(), ShowOptions::default());
    parts.iter().for_each(|part| part.fill_show(&mut options, &mut show));
    let none = NamedItems { typed: Typed::Words(&[]), collection: &[], ids: &[], first: 0 };
    ShowJob {
        step,
        options,
        show,
        items: items.map_or(none, ShownItemArgs::named),
        form: form.form(),
        most: form.most,
        plot: None,
    }
}
