//! `nearkin compare`: one pair, by every measure that applies.

mod items;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::{Args, value_parser};
use nearkin_engine::error::Advice;
use nearkin_engine::measure::{bag, cosine, edit, hamming, jaccard, norm};
use nearkin_engine::options::{ItemKind, Options};
use nearkin_engine::read::Place;
use nearkin_engine::shingle::{Scratch, Shingling, Tokenizer, UnicodeWords, Unit};
use nearkin_engine::textbook::RandomSets;
use nearkin_engine::verify::Overlap;
use nearkin_engine::{Error, Result};
use serde_json::{Value, json};
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffTag};

use crate::args::{FieldArgs, ShingleArgs, TempArgs, options_of, place_parser};
use crate::passages::SharedPassages;
use crate::report::grouped;
use crate::screen::{Screen, harmless, print};
pub(crate) use items::ItemPlaces;
use items::{ItemComparison, find, typed};

/// Compare two items: all measures; of texts shared passages and a diff
///
/// A and B are text files or, with --in, the ids of two items of a collection. With another --as than text, A and B are
/// the items as a line of a .txt file has them, or files with one item each.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin compare draft.txt final.txt
  nearkin compare --in articles.jsonl t1088 t5015      two items of a collection
  nearkin compare --as set 'milk bread' 'milk beer'    two sets, as they are typed

`nearkin compare --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin compare draft.txt final.txt
  nearkin compare --in articles.jsonl t1088 t5015      two items of a collection
  nearkin compare essay.txt source.txt --passages      passages side by side
  nearkin compare a.txt b.txt --shingle chars:9 --json
  nearkin compare --as vector '1, 2, -1' '2, 1, 1'     two vectors
  nearkin compare --as string abcde acfdeg             two strings
  nearkin compare --in buys.csv --group who --element what 7 12 --expected
  nearkin compare --in shops.csv 12 310 --fields all   two records, field by field"
)]
pub(crate) struct CompareArgs {
    /// Text file or item, or with --in an id
    #[arg(value_name = "A")]
    a: String,
    /// The other text file, item or id
    #[arg(value_name = "B")]
    b: String,
    /// Collection that holds the items A and B; repeat for several
    #[arg(long = "in", value_name = "INPUT", num_args = 1, value_parser = place_parser(), help_heading = "Comparison")]
    collection: Vec<Place>,
    #[command(flatten)]
    view: ComparisonArgs,
    #[command(flatten)]
    fields: FieldArgs,
    #[command(flatten)]
    shingle: ShingleArgs,
    #[command(flatten)]
    temp: TempArgs,
}

/// What is shown.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct ComparisonArgs {
    /// Show all passages side by side, instead of a diff
    #[arg(long, conflicts_with = "normal_form")]
    pub(crate) passages: bool,
    /// Smallest number of equal words in a row that make a passage [default: the K of words:K, else 5]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub(crate) least_words: Option<u32>,
    /// Also show how similar two random sets of these sizes are, of N elements in all
    ///
    /// So you see whether a similarity of 0.2 is much. Without N, it is the number of distinct elements (or shingles) of
    /// the collection in --in.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "collection", value_parser = universe)]
    pub(crate) expected: Option<Expected>,
    /// Compare two records by these fields, or by all
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',')]
    pub(crate) fields: Option<Vec<String>>,
    /// Leave out the diff
    #[arg(long)]
    pub(crate) no_diff: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which universe two sets are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// This many elements.
    Of(u64),
    /// Those of the collection.
    OfCollection,
}

fn universe(text: &str) -> Result<Expected, String> {
    match text {
        "collection" => Ok(Expected::OfCollection),
        number => number
            .parse()
            .map(Expected::Of)
            .map_err(|_| "it must be a number of elements, such as 10000".to_owned()),
    }
}

/// What chance alone gives two sets of these sizes: each number with its name as JSON and for people.
fn expected_rows(
    universe: u64,
    overlap: Overlap,
) -> Result<Vec<(&'static str, String, Value, String)>> {
    let random = RandomSets::new(universe, overlap.a, overlap.b).map_err(|error| match error {
        Error::Parameter { value, must, .. } => Error::parameter("expected", value, must),
        other => other,
    })?;
    let (expected, about) = (random.expected(), random.approximation());
    let chance = random.at_least(overlap.shared);
    let all = json!({
        "universe": universe,
        "shared": random.expected_shared(),
        "jaccard": expected,
        "approximation": about,
        "at_least": chance,
    });
    let label = format!("Jaccard expected by chance, of {} elements", grouped(universe));
    let shown = format!("{expected:.6}  about {about:.6} by the short formula");
    let as_much = if chance < 1e-4 { format!("{chance:.3e}") } else { format!("{chance:.6}") };
    Ok(vec![
        ("expected", label, all, shown),
        ("chance", "chance to share as many or more".into(), json!(chance), as_much),
    ])
}

/// Two texts to compare, what they are called, and how.
pub(crate) struct ComparisonRequest<'a> {
    pub(crate) names: [&'a str; 2],
    pub(crate) texts: [&'a str; 2],
    pub(crate) view: &'a ComparisonArgs,
    pub(crate) shingling: Shingling,
    /// Distinct shingles that there are, to say what chance alone gives.
    pub(crate) universe: Option<u64>,
}

pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let options = options_of(&[&args.fields, &args.shingle, &args.temp]);
    let (ids, view, screen) = ([&*args.a, &*args.b], &args.view, Screen::of_stdout());
    let is_item = options.kind() != ItemKind::Text || view.fields.is_some();
    if !args.collection.is_empty() || is_item {
        let mut inputs = args.collection.clone();
        let mut places = ids;
        if inputs.is_empty() {
            if view.fields.is_some() {
                return Err(Error::needed("in", "fields").into());
            }
            known_universe(view)?;
            inputs.push(typed(ids, options.kind())?);
            places = ["0", "1"];
        }
        let places = ItemPlaces { ids: places, inputs: &inputs };
        return print(tell_items(&options, view, ids, places, screen)?.as_bytes());
    }
    let universe = known_universe(view)?;
    let shingling = options.text_shingling()?;
    let [a, b] = [read(Path::new(&args.a))?, read(Path::new(&args.b))?];
    let request = ComparisonRequest { names: ids, texts: [&a, &b], view, shingling, universe };
    print(request.tell(screen)?.as_bytes())
}

/// The number of elements that there are, where it is asked for.
///
/// # Errors
/// When those of a collection are to be counted and there is none.
pub(crate) fn known_universe(view: &ComparisonArgs) -> Result<Option<u64>> {
    match view.expected {
        None => Ok(None),
        Some(Expected::Of(universe)) => Ok(Some(universe)),
        Some(Expected::OfCollection) => {
            let must = "a number of elements, or used with a collection whose elements are counted";
            Err(Error::parameter("expected", "without a number", must))
        }
    }
}

/// Two items of a collection compared, as a text or as JSON.
pub(crate) fn tell_items(
    options: &Options,
    view: &ComparisonArgs,
    names: [&str; 2],
    places: ItemPlaces<'_>,
    screen: Screen,
) -> Result<String> {
    if options.kind() == ItemKind::Text && view.fields.is_none() {
        let shingling = options.text_shingling()?;
        let (texts, universe) = find(options, places, view.expected)?;
        let texts = [&*texts[0], &*texts[1]];
        return ComparisonRequest { names, texts, view, shingling, universe }.tell(screen);
    }
    if options.grid.is_some() {
        let must = "left out: give the squares as sets";
        return Err(Error::parameter("grid", "given", must));
    }
    let of_texts = [
        ("passages", view.passages),
        ("least_words", view.least_words.is_some()),
        ("no_diff", view.no_diff),
    ];
    if let Some((name, _)) = of_texts.iter().find(|(_, given)| *given) {
        return Err(Error::parameter(
            name,
            "given",
            "left out: only texts have passages and a diff",
        ));
    }
    let comparison = match &view.fields {
        Some(_) if view.expected.is_some() => return Err(Error::conflict("expected", "fields")),
        Some(_) if options.kind.is_some() => return Err(Error::conflict("as", "fields")),
        Some(fields) => ItemComparison::of_records(options, places, fields)?,
        None => ItemComparison::of(options, places, view.expected)?,
    };
    Ok(match view.json {
        true => format!("{:#}\n", comparison.as_json(names)),
        false => screen.show(&comparison.as_text(names)).to_string(),
    })
}

impl ComparisonRequest<'_> {
    /// The comparison as a text, or as JSON where that is asked for.
    pub(crate) fn tell(&self, screen: Screen) -> Result<String> {
        let ([a, b], [a_name, b_name], view) = (self.texts, self.names, self.view);
        let least = match (view.least_words, &self.shingling.unit) {
            (Some(0), _) => return Err(Error::parameter("least_words", 0, "at least 1")),
            (Some(least), _) => least as usize,
            (None, Unit::Words(k)) => *k,
            (None, _) => 5,
        };
        let shared = SharedPassages::of([a, b], least);
        let comparison = Comparison::of(a, b, &self.shingling, self.universe)?;
        if view.json {
            let most = if view.passages { None } else { Some(LONGEST) };
            return Ok(format!("{:#}\n", comparison.as_json(a_name, b_name, &shared, most)));
        }
        let mut text = comparison.as_text(a_name, b_name, &shared);
        if view.passages {
            text.push_str(&shared.side_by_side(screen));
            return Ok(text);
        }
        text.push_str(&longest_passages(&shared));
        if !view.no_diff {
            text.push_str(&diff(&pieces(a, b), screen.colours));
        }
        Ok(text)
    }
}

/// Passages that are shown by default.
const LONGEST: usize = 3;

fn longest_passages(shared: &SharedPassages<'_>) -> String {
    let mut text = String::new();
    for passage in shared.longest(LONGEST) {
        let passage = passage.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "  “{}”", shorten(&harmless(&passage, false), 200));
    }
    if text.is_empty() { text } else { format!("\nlongest shared passages\n{text}") }
}

fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::file(path, format!("cannot be read: {error}"))
            .or("give a text file")
            .or(Advice::with("in", "take ids of a collection"))
    })?;
    String::from_utf8(bytes).map_err(|error| {
        Error::file(
            path,
            format!(
                "not valid UTF-8 at byte {}; convert it first",
                error.utf8_error().valid_up_to()
            ),
        )
    })
}

/// Every measure that applies to two texts.
struct Comparison {
    shingling: String,
    characters: [usize; 2],
    words: [usize; 2],
    shingles: [usize; 2],
    shared: usize,
    /// Whether a text has none and is compared as a whole, as if it were one shingle.
    no_shingles: bool,
    jaccard: f64,
    bag_max: f64,
    bag_sum: f64,
    cosine: Option<(f64, f64)>,
    l1: f64,
    l2: f64,
    l_inf: f64,
    edit: Option<usize>,
    edit_mutation: Option<usize>,
    hamming: Option<usize>,
    /// What chance alone gives, where that is asked for.
    expected: Vec<(&'static str, String, Value, String)>,
}

/// Longer texts would take minutes: the distances by inserts and deletes, and by mutation too.
const EDIT_LIMIT: usize = 300_000;
const MUTATION_LIMIT: usize = 20_000;

impl Comparison {
    fn of(a: &str, b: &str, shingling: &Shingling, universe: Option<u64>) -> Result<Self> {
        let [chars_a, chars_b] = [a, b].map(|text| text.chars().collect::<Vec<char>>());
        let [(bag_a, whole_a), (bag_b, whole_b)] = [a, b].map(|text| elements(text, shingling));
        let [set_a, set_b] = [&bag_a, &bag_b].map(|bag| {
            let mut set = bag.clone();
            set.dedup();
            set
        });
        // As in a search, an empty text is similar to nothing, and not to another one.
        let or_nothing = |value: f64| if set_a.is_empty() { 0.0 } else { value };
        let [words_a, words_b] = [a, b].map(word_counts);
        let [vector_a, vector_b] = vectors(&words_a, &words_b);
        let longest = chars_a.len().max(chars_b.len());
        let shared = jaccard::shared(&set_a, &set_b);
        let overlap = [shared, set_a.len(), set_b.len()].map(|count| count as u64);
        let [common, size_a, size_b] = overlap;
        let overlap = Overlap { shared: common, a: size_a, b: size_b };
        Ok(Self {
            shingling: shingling.to_string(),
            characters: [chars_a.len(), chars_b.len()],
            words: [words_a.values().sum(), words_b.values().sum()],
            shingles: [set_a.len(), set_b.len()],
            shared,
            no_shingles: whole_a || whole_b,
            jaccard: or_nothing(jaccard::similarity(&set_a, &set_b)),
            bag_max: or_nothing(bag::similarity(&bag_a, &bag_b, bag::Union::Max)),
            bag_sum: or_nothing(bag::similarity(&bag_a, &bag_b, bag::Union::Sum)),
            cosine: match (
                cosine::similarity(&vector_a, &vector_b),
                cosine::angle_degrees(&vector_a, &vector_b),
            ) {
                (Ok(similarity), Ok(angle)) => Some((similarity, angle)),
                _ => None, // a text without words has no direction
            },
            l1: norm::l1(&vector_a, &vector_b)?,
            l2: norm::l2(&vector_a, &vector_b)?,
            l_inf: norm::l_inf(&vector_a, &vector_b)?,
            edit: (longest <= EDIT_LIMIT).then(|| edit::distance(&chars_a, &chars_b)),
            edit_mutation: (longest <= MUTATION_LIMIT)
                .then(|| edit::mutation_distance(&chars_a, &chars_b)),
            hamming: hamming::distance(&chars_a, &chars_b).ok(),
            expected: match universe {
                Some(universe) => expected_rows(universe, overlap)?,
                None => Vec::new(),
            },
        })
    }

    fn containment(&self) -> [f64; 2] {
        self.shingles.map(|size| self.shared as f64 / size.max(1) as f64)
    }

    fn as_json(&self, a: &str, b: &str, shared: &SharedPassages<'_>, most: Option<usize>) -> Value {
        let mut json = json!({
            "a": a,
            "b": b,
            "shingle": self.shingling,
            "characters": self.characters,
            "words": self.words,
            "shingles": { "a": self.shingles[0], "b": self.shingles[1], "shared": self.shared },
            "jaccard": self.jaccard,
            "bag": self.bag_max,
            "bag_sum": self.bag_sum,
            "containment": self.containment(),
            "cosine": self.cosine.map(|cosine| cosine.0),
            "angle": self.cosine.map(|cosine| cosine.1),
            "l1": self.l1,
            "l2": self.l2,
            "l_inf": self.l_inf,
            "edit": self.edit,
            "edit_mutation": self.edit_mutation,
            "hamming": self.hamming,
            "covered": shared.covered(),
            "passages": shared.as_json(most),
        });
        for (key, _, value, _) in &self.expected {
            json[*key] = value.clone();
        }
        json
    }

    fn as_text(&self, a: &str, b: &str, shared: &SharedPassages<'_>) -> String {
        let mut text = String::new();
        let names = [a, b].map(|name| harmless(name, false));
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (i, name) in names.iter().enumerate() {
            let _ = writeln!(
                text,
                "{}  {name:width$}  {} words, {} characters",
                ["a", "b"][i],
                self.words[i],
                self.characters[i],
            );
        }
        let [in_b, in_a] = self.containment();
        let covered = shared.covered();
        let union = self.shingles[0] + self.shingles[1] - self.shared;
        let of_shingles = match self.no_shingles {
            true => "a text without shingles is compared as a whole".into(),
            false => format!("{} of {union} shingles shared", self.shared),
        };
        let count = |value: Option<usize>| {
            value.map_or("not computed: long texts".into(), |n| n.to_string())
        };
        let mut rows = vec![
            (format!("Jaccard, {}", self.shingling), format!("{:.6}  {of_shingles}", self.jaccard)),
            ("bag Jaccard, union by maximum".into(), format!("{:.6}", self.bag_max)),
            ("bag Jaccard, union by sum".into(), format!("{:.6}  (at most 0.5)", self.bag_sum)),
            ("share of a's shingles in b".into(), format!("{in_b:.6}")),
            ("share of b's shingles in a".into(), format!("{in_a:.6}")),
            ("share of a's words in shared passages".into(), format!("{:.6}", covered[0])),
            ("share of b's words in shared passages".into(), format!("{:.6}", covered[1])),
        ];
        for (at, (_, label, _, shown)) in self.expected.iter().enumerate() {
            rows.insert(1 + at, (label.clone(), shown.clone()));
        }
        if let Some((similarity, angle)) = self.cosine {
            rows.push(("cosine of word counts".into(), format!("{similarity:.6}  {angle:.2}°")));
        }
        rows.extend([
            (
                "L1, L2, L∞ of word counts".into(),
                format!("{}, {:.4}, {}", self.l1, self.l2, self.l_inf),
            ),
            ("edit distance, inserts and deletes".into(), count(self.edit)),
            ("  with mutations and transpositions".into(), count(self.edit_mutation)),
        ]);
        if let Some(hamming) = self.hamming {
            rows.push(("Hamming distance".into(), hamming.to_string()));
        }
        let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
        text.push('\n');
        for (name, value) in rows {
            let _ = writeln!(text, "{name:width$}  {value}");
        }
        text
    }
}

/// What a text is compared by, sorted, and whether that is the whole text.
fn elements(text: &str, shingling: &Shingling) -> (Vec<u64>, bool) {
    let mut elements = Vec::new();
    let is_whole = shingling.shingle_or_whole(text, &mut Scratch::default(), &mut elements);
    elements.sort_unstable();
    (elements, is_whole)
}

fn word_counts(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let lower = text.to_lowercase();
    UnicodeWords.tokens(&lower, &mut |word| *counts.entry(word.to_owned()).or_default() += 1);
    counts
}

/// The two texts' word counts as vectors over the words of either.
fn vectors(a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>) -> [Vec<f64>; 2] {
    let mut words: Vec<&String> = a.keys().chain(b.keys()).collect();
    words.sort_unstable();
    words.dedup();
    [a, b].map(|counts| {
        words.iter().map(|word| counts.get(*word).map_or(0.0, |&count| count as f64)).collect()
    })
}

/// A stretch of text that stands in both, in the first only, or in the second only.
type TextChange = (ChangeTag, String);

/// A word-by-word comparison that gives up on perfection before it gives up on time.
fn pieces(a: &str, b: &str) -> Vec<TextChange> {
    let words = [a, b].map(words_and_gaps);
    let mut numbers = HashMap::new();
    let [old, new] = words.each_ref().map(|words| -> Vec<u32> {
        let numbered = words.iter().map(|word| {
            let next = numbers.len() as u32;
            *numbers.entry(*word).or_insert(next)
        });
        numbered.collect()
    });
    let mut changes = Compact::new(Replace::new(Capture::new()), &old[..], &new[..]);
    let deadline = Some(Instant::now() + Duration::from_secs(5));
    let Ok(()) = myers::diff_deadline(
        &mut changes,
        &old[..],
        0..old.len(),
        &new[..],
        0..new.len(),
        deadline,
    );
    let mut pieces: Vec<TextChange> = Vec::new();
    let mut push = |tag, words: &[&str]| match pieces.last_mut() {
        _ if words.is_empty() => {}
        Some((last, piece)) if *last == tag => piece.extend(words.iter().copied()),
        _ => pieces.push((tag, words.concat())),
    };
    for change in changes.into_inner().into_inner().into_ops() {
        let (tag, old, new) = change.as_tag_tuple();
        if tag == DiffTag::Equal {
            push(ChangeTag::Equal, &words[0][old]);
        } else {
            push(ChangeTag::Delete, &words[0][old]);
            push(ChangeTag::Insert, &words[1][new]);
        }
    }
    pieces
}

/// The words of a text, and what stands between them.
fn words_and_gaps(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let other = |c: char| c.is_whitespace() != first.is_whitespace();
        let (piece, after) = rest.split_at(rest.find(other).unwrap_or(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A text of at most about this many characters: of a longer one, its beginning and its end.
pub(crate) fn shorten(text: &str, length: usize) -> String {
    let count = text.chars().count();
    if count <= length {
        return text.to_owned();
    }
    let half = length / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head} … {tail}")
}

/// What was taken out and put in, with a few words around each change.
fn diff(pieces: &[TextChange], colour: bool) -> String {
    const CONTEXT: usize = 60;
    let marks = if colour {
        [("\u{1b}[31m[-", "-]\u{1b}[0m"), ("\u{1b}[32m{+", "+}\u{1b}[0m")]
    } else {
        [("[-", "-]"), ("{+", "+}")]
    };
    if pieces.iter().all(|piece| piece.0 == ChangeTag::Equal) {
        return "\nthe texts are the same\n".into();
    }
    let mut text = String::from("\nfrom a to b: [-taken out-] {+put in+}\n\n");
    for (tag, piece) in pieces {
        let piece = &harmless(piece, true);
        match tag {
            ChangeTag::Equal => text.push_str(&shorten(piece, 2 * CONTEXT)),
            ChangeTag::Delete => text.extend([marks[0].0, piece, marks[0].1]),
            ChangeTag::Insert => text.extend([marks[1].0, piece, marks[1].1]),
        }
    }
    text.push('\n');
    text
}
