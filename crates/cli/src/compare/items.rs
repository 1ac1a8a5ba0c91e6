//! Two items that are no texts, by every measure that applies to them: sets, bags, vectors, bits, strings, answers, and
//! records field by field.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use nearkin_engine::item::{Bits, Source};
use nearkin_engine::measure::{cosine, edit, hamming, norm};
use nearkin_engine::options::{ItemKind, Keyword, Options};
use nearkin_engine::read::{
    MemoryTable, Names, Place, load_answers, load_bits, load_records, load_strings, load_vectors,
};
use nearkin_engine::shingle::elements::each_element;
use nearkin_engine::verify::{Measure, Overlap};
use nearkin_engine::{Error, Result};
use serde_json::{Map, Value, json};

use super::{EDIT_LIMIT, Expected, MUTATION_LIMIT, read, shorten};
use crate::screen::harmless;

/// Elements, components and questions that are shown of a long list.
const SHOWN: usize = 20;

/// Where two items come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemPlaces<'a> {
    /// What they are called in the collection.
    pub(crate) ids: [&'a str; 2],
    /// The collection.
    pub(crate) inputs: &'a [Place],
}

/// A number of two items: its name as JSON and for people, and its value for both.
struct MeasureRow {
    key: &'static str,
    label: String,
    value: Value,
    shown: String,
}

/// What there is to say of two items.
pub(super) struct ItemComparison {
    kind: &'static str,
    /// What each of them is, in a few words.
    sizes: [String; 2],
    rows: Vec<MeasureRow>,
    /// What follows the numbers: what the two share and what not.
    details: String,
    more: Map<String, Value>,
}

/// Items as they were typed, or what is in the files of these names, as a table of two rows.
pub(super) fn typed(items: [&str; 2], kind: ItemKind) -> Result<Place> {
    if kind == ItemKind::Answers {
        let must = "given: the records of a table with the questions as its columns";
        return Err(Error::parameter("in", "missing", must));
    }
    let item = |item: &str| match Path::new(item).is_file() {
        true => read(Path::new(item)).map(|text| text.trim_end_matches(['\n', '\r']).to_owned()),
        false => Ok(item.to_owned()),
    };
    let texts: ArrayRef = Arc::new(StringArray::from(vec![item(items[0])?, item(items[1])?]));
    let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, false)]));
    let rows = RecordBatch::try_new(Arc::clone(&schema), vec![texts]);
    let batches = rows.into_iter().collect(); // one column of two rows is a table
    Ok(MemoryTable { name: PathBuf::from("<items>"), schema, batches }.into())
}

impl ItemComparison {
    /// Compares two items of a collection.
    pub(super) fn of(
        options: &Options,
        places: ItemPlaces<'_>,
        expected: Option<Expected>,
    ) -> Result<Self> {
        let kind = options.kind();
        if !matches!(kind, ItemKind::Set | ItemKind::Bag) && expected.is_some() {
            let must = "left out: it is for texts, sets and bags, which are sets of a universe";
            return Err(Error::parameter("expected", "given", must));
        }
        options.check()?;
        if kind != ItemKind::Text {
            options.check_no_shingles()?;
        }
        let reading = options.read_options();
        match kind {
            ItemKind::Text | ItemKind::Set | ItemKind::Bag => {
                let (lists, universe) = find(options, places, expected)?;
                elements(kind == ItemKind::Bag, [&lists[0], &lists[1]], universe)
            }
            ItemKind::Vector => {
                let named = load_vectors(places.inputs, &reading)?;
                let [a, b] = places.among(&named.names)?;
                vectors(named.items.get(a), named.items.get(b))
            }
            ItemKind::Bits => {
                let digits = options.digits.unwrap_or_default();
                let named = load_bits(places.inputs, &reading, digits)?;
                bits(&named.items, places.among(&named.names)?)
            }
            ItemKind::Answers => {
                let questions = options.questions.as_deref();
                let answers = load_answers(places.inputs, &reading, questions)?;
                let found = places.among(&answers.records.names)?;
                Ok(self::answers(&answers.records.items, &answers.questions, found))
            }
            ItemKind::String => {
                let named = load_strings(places.inputs, &reading)?;
                let [a, b] = places.among(&named.names)?;
                Ok(strings(&named.items[a], &named.items[b]))
            }
        }
    }

    /// Compares two records field by field.
    pub(super) fn of_records(
        options: &Options,
        places: ItemPlaces<'_>,
        fields: &[String],
    ) -> Result<Self> {
        let named = load_records(places.inputs, &options.table_options(), &|| false)?;
        let [a, b] = places.among(&named.names)?;
        let table = &named.items;
        let all: Vec<String> = match fields {
            [all] if all == "all" => table.names.clone(),
            fields => fields.to_vec(),
        };
        let mut compared = Map::new();
        let mut details = String::new();
        let width = all.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for name in &all {
            let Some(column) = table.column(name) else {
                let known = table.names.join(", ");
                let must = format!("fields that records have: {known}");
                return Err(Error::parameter("fields", name, must));
            };
            let field = FieldPair { a: column.get(a), b: column.get(b) };
            let _ = writeln!(details, "{:width$}  {}", harmless(name, false), field.as_text());
            compared.insert(name.clone(), field.as_json());
        }
        let equal = compared.values().filter(|field| field["equal"] == true).count();
        let rows = vec![MeasureRow {
            key: "equal",
            label: "fields that are equal".into(),
            value: equal.into(),
            shown: format!("{equal} of {}", all.len()),
        }];
        let more = Map::from_iter([("fields".to_owned(), Value::Object(compared))]);
        let sizes = [a, b].map(|record| {
            let given = all.iter().filter(|name| {
                table.column(name).is_some_and(|column| column.get(record).is_some())
            });
            format!("{} of {} fields given", given.count(), all.len())
        });
        Ok(Self { kind: "record", sizes, rows, details, more })
    }

    pub(super) fn as_json(&self, names: [&str; 2]) -> Value {
        let mut json = Map::from_iter([
            ("a".to_owned(), json!(names[0])),
            ("b".to_owned(), json!(names[1])),
            ("as".to_owned(), json!(self.kind)),
        ]);
        json.extend(self.rows.iter().map(|row| (row.key.to_owned(), row.value.clone())));
        json.extend(self.more.clone());
        Value::Object(json)
    }

    pub(super) fn as_text(&self, names: [&str; 2]) -> String {
        let names = names.map(|name| shorten(&harmless(name, false), 60));
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for ((letter, name), size) in ["a", "b"].iter().zip(&names).zip(&self.sizes) {
            let _ = writeln!(text, "{letter}  {name:width$}  {size}");
        }
        text.push('\n');
        let width = self.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
        for row in &self.rows {
            let _ = writeln!(text, "{:width$}  {}", row.label, row.shown);
        }
        if !self.details.is_empty() {
            text.push('\n');
            text.push_str(&self.details);
        }
        text
    }
}

impl ItemPlaces<'_> {
    /// Where the two items stand among those with these names.
    fn among(&self, names: &Names) -> Result<[usize; 2]> {
        let place = |id: &str| {
            let mut items = 0..names.len();
            items.find(|&item| names.id(item).to_string() == id).ok_or_else(|| self.missing(id))
        };
        Ok([place(self.ids[0])?, place(self.ids[1])?])
    }

    fn missing(&self, id: &str) -> Error {
        Error::file(
            self.inputs[0].name(),
            format!("no item has the id `{id}`; ids are those that `nearkin pairs` prints"),
        )
    }
}

/// The texts of the two items, and how many distinct elements all items have, where that is to be counted.
pub(super) fn find(
    options: &Options,
    places: ItemPlaces<'_>,
    expected: Option<Expected>,
) -> Result<([String; 2], Option<u64>)> {
    let counts = expected == Some(Expected::OfCollection);
    let shingling = if counts { Some(options.shingling()?) } else { None };
    let mut universe = std::collections::HashSet::new();
    let input = options.open(places.inputs, None)?;
    let mut found = [None, None];
    let mut position = 0u64;
    let (mut scratch, mut elements) = Default::default();
    for chunk in input.scan(&|_| false) {
        let chunk = chunk?;
        let batch = input.decode(&chunk, &|_| true)?;
        for (i, item) in batch.items.iter().enumerate() {
            let here = position + u64::from(item.ordinal);
            let id = item.id.as_ref().map_or_else(|| here.to_string(), ToString::to_string);
            for (wanted, found) in places.ids.into_iter().zip(&mut found) {
                if *wanted == id && found.is_none() {
                    *found = Some(batch.text(i).to_owned());
                }
            }
            if let Some(shingling) = &shingling {
                Vec::clear(&mut elements);
                shingling.shingle_or_whole(batch.text(i), &mut scratch, &mut elements);
                universe.extend(elements.iter().copied());
            }
        }
        position += u64::from(batch.records);
        if !counts && found.iter().all(Option::is_some) {
            break;
        }
    }
    let [a, b] = found;
    let [a_id, b_id] = places.ids;
    let texts = [a.ok_or_else(|| places.missing(a_id))?, b.ok_or_else(|| places.missing(b_id))?];
    let universe = match expected {
        None => None,
        Some(Expected::Of(universe)) => Some(universe),
        Some(Expected::OfCollection) => Some(universe.len() as u64),
    };
    Ok((texts, universe))
}

fn row(key: &'static str, label: &str, value: f64) -> MeasureRow {
    MeasureRow { key, label: label.into(), value: json!(value), shown: format!("{value:.6}") }
}

fn count(key: &'static str, label: &str, value: u64) -> MeasureRow {
    MeasureRow { key, label: label.into(), value: json!(value), shown: value.to_string() }
}

/// Sets, or bags, which are also compared as sets.
fn elements(are_bags: bool, lists: [&str; 2], universe: Option<u64>) -> Result<ItemComparison> {
    let [a, b] = lists.map(|list| {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        each_element(list, |element, count| {
            *counts.entry(element).or_default() += u64::from(count);
        });
        counts
    });
    let both: Vec<&str> = a.keys().filter(|element| b.contains_key(*element)).copied().collect();
    let only = |of: &BTreeMap<&str, u64>, other: &BTreeMap<&str, u64>| -> Vec<String> {
        of.keys().filter(|key| !other.contains_key(*key)).map(|key| (*key).to_owned()).collect()
    };
    let (only_a, only_b) = (only(&a, &b), only(&b, &a));
    let as_sets = Overlap { shared: both.len() as u64, a: a.len() as u64, b: b.len() as u64 };
    // As in a search, an empty set is similar to nothing.
    let value = |measure: Measure, overlap: Overlap| match overlap.a == 0 || overlap.b == 0 {
        true => 0.0,
        false => measure.similarity(overlap),
    };
    let union = as_sets.union();
    let mut rows = vec![
        MeasureRow {
            shown: format!(
                "{:.6}  {} of {union} elements shared",
                value(Measure::Jaccard, as_sets),
                both.len()
            ),
            ..row("jaccard", "Jaccard", value(Measure::Jaccard, as_sets))
        },
        row("dice", "Dice", value(Measure::Dice, as_sets)),
        row("containment", "containment, in the smaller", value(Measure::Containment, as_sets)),
        row("cosine", "cosine", value(Measure::Cosine, as_sets)),
        count("overlap", "overlap", as_sets.shared),
        count("hamming", "Hamming distance", union - as_sets.shared),
    ];
    let total = |counts: &BTreeMap<&str, u64>| counts.values().sum::<u64>();
    let of_elements =
        |count: usize| format!("{count} element{}", if count == 1 { "" } else { "s" });
    let mut sizes = [&a, &b].map(|counts| of_elements(counts.len()));
    if are_bags {
        let shared = both.iter().map(|element| a[element].min(b[element])).sum();
        let as_bags = Overlap { shared, a: total(&a), b: total(&b) };
        let bag = value(Measure::Bag, as_bags);
        let of_all = format!("{bag:.6}  {shared} of {} shared", as_bags.union());
        rows.insert(
            0,
            MeasureRow { shown: of_all, ..row("bag", "bag Jaccard, union by maximum", bag) },
        );
        let sum = value(Measure::BagSum, as_bags);
        let at_most = format!("{sum:.6}  (at most 0.5)");
        rows.insert(
            1,
            MeasureRow { shown: at_most, ..row("bag_sum", "bag Jaccard, union by sum", sum) },
        );
        sizes = [&a, &b]
            .map(|counts| format!("{}, {} with repeats", of_elements(counts.len()), total(counts)));
        rows[2].label = "Jaccard, repeats not counted".into();
    }
    if let Some(universe) = universe {
        rows.extend(
            super::expected_rows(universe, as_sets)?
                .into_iter()
                .map(|(key, label, value, shown)| MeasureRow { key, label, value, shown }),
        );
    }
    let counts = json!({ "a": a.len(), "b": b.len(), "shared": both.len() });
    let mut details = String::new();
    for (what, names) in [
        ("in both", both.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()),
        ("only in a", only_a.clone()),
        ("only in b", only_b.clone()),
    ] {
        let _ = writeln!(details, "{what:9}  {}", listed(&names));
    }
    let is_one_with_commas = |counts: &BTreeMap<&str, u64>| {
        counts.len() == 1 && counts.keys().all(|it| it.contains(','))
    };
    if is_one_with_commas(&a) && is_one_with_commas(&b) {
        details.push_str("Each has one element with commas in it; put blanks between elements.\n");
    }
    let more = Map::from_iter([
        ("elements".to_owned(), counts),
        ("shared".to_owned(), json!(both)),
        ("only_a".to_owned(), json!(only_a)),
        ("only_b".to_owned(), json!(only_b)),
    ]);
    let kind = if are_bags { ItemKind::Bag } else { ItemKind::Set };
    Ok(ItemComparison { kind: kind.word(), sizes, rows, details, more })
}

/// The first of some names, and how many more there are.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> =
        names.iter().take(SHOWN).map(|name| shorten(&harmless(name, false), 40)).collect();
    match names.len() {
        0 => "-".to_owned(),
        all if all > SHOWN => format!("{} … and {} more", shown.join(", "), all - SHOWN),
        _ => shown.join(", "),
    }
}

fn vectors(a: &[f32], b: &[f32]) -> Result<ItemComparison> {
    let differ = hamming::distance(
        &a.iter().map(|x| x.to_bits()).collect::<Vec<u32>>(),
        &b.iter().map(|x| x.to_bits()).collect::<Vec<u32>>(),
    )?;
    let mut rows = vec![
        row("l2", "L2, Euclidean distance", norm::l2(a, b)?),
        row("l1", "L1, Manhattan distance", norm::l1(a, b)?),
        row("l_inf", "L∞, largest difference", norm::l_inf(a, b)?),
    ];
    let angle = cosine::similarity(a, b).ok().zip(cosine::angle_degrees(a, b).ok());
    rows.extend(match angle {
        Some((cosine, angle)) => vec![
            row("cosine", "cosine of the angle", cosine),
            MeasureRow { shown: format!("{angle:.4}°"), ..row("angle", "angle", angle) },
        ],
        None => [("cosine", "cosine of the angle"), ("angle", "angle")]
            .map(|(key, label)| MeasureRow {
                key,
                label: label.into(),
                value: Value::Null,
                shown: "none: all components of one are zero, so it has no direction".into(),
            })
            .into(),
    });
    rows.push(count("hamming", "components that differ", differ as u64));
    let length = |v: &[f32]| v.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let sizes = [a, b].map(|v| format!("{} components, length {:.4}", v.len(), length(v)));
    let more = Map::from_iter([("components".to_owned(), json!(a.len()))]);
    Ok(ItemComparison { kind: ItemKind::Vector.word(), sizes, rows, details: String::new(), more })
}

fn bits(all: &Bits, [a, b]: [usize; 2]) -> Result<ItemComparison> {
    let (x, y) = (all.get(a), all.get(b));
    let differ = hamming::bits(x, y)?;
    let length = all.length() as u64;
    let ones = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    let shared = x.iter().zip(y).map(|(x, y)| u64::from((x & y).count_ones())).sum();
    let overlap = Overlap { shared, a: ones(x), b: ones(y) };
    let jaccard = Measure::Jaccard.similarity(overlap);
    let rows = vec![
        MeasureRow {
            shown: format!("{differ} of {length} bits"),
            ..count("hamming", "Hamming distance", differ)
        },
        row("similarity", "share of equal bits", (length - differ) as f64 / length as f64),
        MeasureRow {
            shown: format!("{jaccard:.6}  {shared} of {} ones shared", overlap.union()),
            ..row("jaccard", "Jaccard of the ones", jaccard)
        },
    ];
    let sizes = [x, y].map(|words| format!("{length} bits, {} of them 1", ones(words)));
    let more = Map::from_iter([("bits".to_owned(), json!(length))]);
    Ok(ItemComparison { kind: ItemKind::Bits.word(), sizes, rows, details: String::new(), more })
}

/// Two bits per question: 11 is yes, 00 no, and else there is no answer.
fn answers(all: &Bits, questions: &[String], places: [usize; 2]) -> ItemComparison {
    let answer = |item: usize, question: usize| match [2 * question, 2 * question + 1]
        .map(|bit| all.bit(item, bit))
    {
        [true, true] => Some(true),
        [false, false] => Some(false),
        _ => None,
    };
    let word = |answer: Option<bool>| match answer {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    let given: Vec<[Option<bool>; 2]> =
        (0..questions.len()).map(|question| places.map(|item| answer(item, question))).collect();
    let both = given.iter().filter(|pair| pair.iter().all(Option::is_some));
    let (both, agree) = (both.clone().count(), both.filter(|[a, b]| a == b).count());
    let one = given.iter().filter(|[a, b]| a.is_some() != b.is_some()).count();
    let distance = (both - agree) as f64 + 0.5 * one as f64;
    let rows = vec![
        MeasureRow {
            shown: format!("{distance}  a gap counts a half"),
            ..row("hamming", "Hamming distance", distance)
        },
        MeasureRow {
            shown: format!("{agree} of {both} that both answered"),
            ..count("agree", "equal answers", agree as u64)
        },
    ];
    let width = questions.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut details = String::new();
    let differ = questions.iter().zip(&given).filter(|(_, [a, b])| a != b);
    for (question, [a, b]) in differ.clone().take(SHOWN) {
        let name = harmless(question, false);
        let _ = writeln!(details, "{name:width$}  {:3}  {}", word(*a), word(*b));
    }
    match differ.clone().count() {
        0 => details.push_str("no answer differs\n"),
        all if all > SHOWN => {
            let _ = writeln!(details, "… and {} more", all - SHOWN);
        }
        _ => {}
    }
    let json: Map<String, Value> =
        differ.map(|(question, [a, b])| (question.clone(), json!([a, b]))).collect();
    let sizes = [0, 1].map(|side| {
        let known = given.iter().filter(|pair| pair[side].is_some()).count();
        format!("{known} of {} questions answered", questions.len())
    });
    let more = Map::from_iter([
        ("questions".to_owned(), json!(questions.len())),
        ("both_answered".to_owned(), json!(both)),
        ("differ".to_owned(), Value::Object(json)),
    ]);
    ItemComparison { kind: ItemKind::Answers.word(), sizes, rows, details, more }
}

/// The edits from one string to another; none where that would take too long.
fn edits(a: &[char], b: &[char]) -> [Option<usize>; 2] {
    let longest = a.len().max(b.len());
    [
        (longest <= EDIT_LIMIT).then(|| edit::distance(a, b)),
        (longest <= MUTATION_LIMIT).then(|| edit::mutation_distance(a, b)),
    ]
}

fn strings(a: &str, b: &str) -> ItemComparison {
    let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<char>>());
    let [plain, mutation] = edits(&a, &b);
    // |x| + |y| − 2·LCS edits.
    let common = plain.map(|edits| (a.len() + b.len() - edits) / 2);
    let some = |key, label: &str, value: Option<usize>, none: &str| MeasureRow {
        key,
        label: label.into(),
        value: json!(value),
        shown: value.map_or(none.into(), |value| value.to_string()),
    };
    let long = "not computed: long strings";
    let rows = vec![
        some("edit", "edit distance, inserts and deletes", plain, long),
        some("damerau", "  with replacements and swaps", mutation, long),
        some("common", "longest common subsequence", common, long),
        some(
            "hamming",
            "Hamming distance",
            hamming::distance(&a, &b).ok(),
            "none: the strings are not equally long",
        ),
    ];
    let sizes = [&a, &b].map(|text| format!("{} characters", text.len()));
    let more = Map::from_iter([("characters".to_owned(), json!([a.len(), b.len()]))]);
    ItemComparison { kind: ItemKind::String.word(), sizes, rows, details: String::new(), more }
}

/// The values of a field in two records.
struct FieldPair<'a> {
    a: Option<&'a str>,
    b: Option<&'a str>,
}

impl FieldPair<'_> {
    /// What can be said of two values that are there and not equal.
    fn measures(&self) -> Option<Map<String, Value>> {
        let (a, b) = self.a.zip(self.b).filter(|(a, b)| a != b)?;
        let [x, y] = [a, b].map(|text| text.chars().collect::<Vec<char>>());
        let [plain, mutation] = edits(&x, &y);
        let [words_a, words_b] = [a, b].map(|text| {
            let text = text.to_lowercase();
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect::<std::collections::BTreeSet<String>>()
        });
        let shared = words_a.intersection(&words_b).count() as u64;
        let overlap = Overlap { shared, a: words_a.len() as u64, b: words_b.len() as u64 };
        let numbers = a.parse::<f64>().ok().zip(b.parse::<f64>().ok());
        let mut all = Map::from_iter([
            ("edit".to_owned(), json!(plain)),
            ("damerau".to_owned(), json!(mutation)),
            ("jaccard".to_owned(), json!(Measure::Jaccard.similarity(overlap))),
        ]);
        if let Some((a, b)) = numbers {
            all.insert("difference".to_owned(), json!((b - a).abs()));
        }
        Some(all)
    }

    fn as_json(&self) -> Value {
        let mut all = Map::from_iter([
            ("a".to_owned(), json!(self.a)),
            ("b".to_owned(), json!(self.b)),
            ("equal".to_owned(), json!(self.a.is_some() && self.a == self.b)),
        ]);
        all.extend(self.measures().unwrap_or_default());
        Value::Object(all)
    }

    fn as_text(&self) -> String {
        let shown = |value: Option<&str>| {
            value.map_or("-".to_owned(), |it| shorten(&harmless(it, false), 40))
        };
        let (a, b) = (shown(self.a), shown(self.b));
        match self.measures() {
            None if self.a.is_none() && self.b.is_none() => "-".to_owned(),
            None if self.a == self.b => format!("{a}  (equal)"),
            None => format!("{a} | {b}  (one is missing)"),
            Some(measures) => {
                let jaccard = measures["jaccard"].as_f64().unwrap_or(0.0);
                let mut text = format!("{a} | {b}  ({} edits, ", measures["edit"]);
                if !measures["damerau"].is_null() {
                    let _ = write!(text, "{} with replacements and swaps, ", measures["damerau"]);
                }
                let _ = write!(text, "Jaccard of words {jaccard:.4}");
                if let Some(difference) = measures.get("difference") {
                    let _ = write!(text, ", {difference} apart");
                }
                text + ")"
            }
        }
    }
}
