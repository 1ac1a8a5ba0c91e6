//! `pairs` and `top` of items that are held in memory: vectors, bit strings, strings, answers, tf-idf vectors.

use nearkin::amplify::{Bands, Expression};
use nearkin::item::{Bits, Sets, Strings, Vectors};
use nearkin::join::Top;
use nearkin::near::{self, Close, Items, Plan, Search, TablesPlan, Taken, Way};
use nearkin::pipeline::{Clock, Observer, Stage, StageTime, fair_share};
use nearkin::read::{
    Digits, Names, Place, ReadOptions, load_answers, load_bits, load_directions, load_sets,
    load_strings, load_vectors,
};
use nearkin::shingle::{Repeats, Shingling, Vocabulary};
use nearkin::space::{
    Form, Found, SparseMeasure, SparseSpace, StringMeasure, StringSpace, VectorMeasure,
};
use nearkin::write::Cell;
use nearkin::{Error, Result};
use serde_json::{Value, json};

use crate::args::{FieldArgs, MeasureName, RunArgs, SimilarityArgs};
use crate::items::{DigitsName, KindName};
use crate::report::{self, Told, grouped};
use crate::search::{self, Rows, SearchArgs, Target, Written, columns};

/// Whether the items are held in memory: those that are no texts, sets or bags, tf-idf vectors, and whatever is
/// searched by an expression.
pub(crate) fn is_held(
    fields: &FieldArgs,
    similarity: &SimilarityArgs,
    expression: Option<&Expression>,
) -> bool {
    let kind = fields.items.kind();
    kind.is_held()
        || expression.is_some()
        || (kind == KindName::Text && similarity.measure == Some(MeasureName::Cosine))
}

/// The items of the inputs, and what they are called.
pub(crate) struct Held {
    pub(crate) items: Items,
    /// One or two collections.
    names: Vec<Names>,
}

/// What is similar: a measure that applies to the items, and how much of it.
pub(crate) struct Asked {
    pub(crate) form: Form,
    pub(crate) limit: f64,
    pub(crate) measure: MeasureName,
}

pub(crate) fn find(
    args: &SearchArgs,
    rows: Rows,
    target: Target<'_>,
    observer: &dyn Observer,
) -> anyhow::Result<search::Outcome> {
    let of_texts = [
        ("--filters", args.similarity.filters.is_some()),
        ("--approximate", args.similarity.approximate),
    ];
    if let Some((name, _)) = of_texts.iter().find(|(_, given)| *given) {
        let must =
            "left out here: it is for texts, sets and bags that are found by shingles or elements";
        return Err(Error::parameter(name, "given", must).into());
    }
    let asked = Asked::new(&args.input.fields, &args.similarity, rows)?;
    let by_tables = args.and_or.is_some() || args.similarity.bands.is_some();
    if by_tables && matches!(rows, Rows::Closest(_)) {
        let must = "left out with top, which misses none of these items";
        return Err(Error::parameter("--and-or or --bands", "given", must).into());
    }
    let inputs: Vec<&Place> = args.input.inputs.iter().chain(&args.against).collect();
    args.run.check(&[args.output.as_deref()], &inputs)?;
    let mut stages = Vec::new();
    observer.stage(Stage::Load, None);
    let clock = Clock::start(Stage::Load);
    let held = in_pool(&args.run, || {
        load(&args.input.fields, &args.input.inputs, &args.against, &args.similarity, &asked)
    })?;
    stages.push(clock.stop(0));
    held.fits(&args.run)?;
    observer.stage(Stage::Verify, None);
    let clock = Clock::start(Stage::Verify);
    let stopped = || observer.stopped();
    let way = way(&args.similarity, args.and_or.as_ref(), args.probes, args.similarity.exact)?;
    let mut search = asked.search(&args.similarity, way, held.split(), &stopped);
    search.room = args.run.memory.unwrap_or_else(fair_share);
    let result = in_pool(&args.run, || match rows {
        Rows::Pairs => near::pairs(&held.items, &search).map(|close| Outcome::Pairs(close.into())),
        Rows::Closest(count) => {
            let top = Top { count, split: held.split(), stopped: &stopped };
            let limit = asked.limit.is_finite().then_some(asked.limit);
            near::closest(&held.items, &top, limit).map(Outcome::Closest)
        }
    })?;
    stages.push(clock.stop(0));
    observer.stage(Stage::Write, None);
    let clock = Clock::start(Stage::Write);
    let written = report::unless_closed(write(&held, &result, &asked, target, observer))?;
    stages.push(clock.stop(0));
    let (pairs, written) = written.unzip();
    let summary = Summary {
        held: &held,
        asked: &asked,
        result: &result,
        pairs,
        stages: &stages,
        seed: args.similarity.seed,
    };
    let errors = held.names.iter().flat_map(|names| &names.skipped);
    Ok((written, Told::new(summary.as_json(), summary.funnel(), errors)))
}

/// What was found.
enum Outcome {
    Pairs(Box<Close>),
    Closest(Vec<Found>),
}

/// How pairs are to be found.
pub(crate) fn way(
    args: &SimilarityArgs,
    expression: Option<&Expression>,
    probes: Option<u16>,
    exact: bool,
) -> Result<Way> {
    let bands = args.bands.zip(args.rows).map(|(count, rows)| Bands::new(count, rows));
    let bands = bands.transpose()?;
    let of_bands = |bands: Bands| Expression::function("p").and(bands.rows).or(bands.count);
    Ok(match (bands.map(of_bands).or(expression.cloned()), probes) {
        (Some(expression), None | Some(1)) => Way::Tables(expression),
        (Some(expression), Some(probes)) => Way::Probed(expression, probes.into()),
        _ if exact => Way::Complete,
        _ => Way::Cheapest,
    })
}

impl Asked {
    pub(crate) fn new(fields: &FieldArgs, args: &SimilarityArgs, rows: Rows) -> Result<Self> {
        let kind = fields.items.kind();
        if kind.is_held() {
            args.shingle.check_unused()?;
        }
        let measure = args.measure.unwrap_or(match kind {
            KindName::Vector => MeasureName::Norm(2.0),
            KindName::Bits | KindName::Answers => MeasureName::Hamming,
            KindName::String => MeasureName::Edit,
            KindName::Bag => MeasureName::Bag,
            KindName::Text | KindName::Set => MeasureName::Jaccard,
        });
        let (allowed, applies) = match kind {
            KindName::Vector => (
                "l2, l1, another norm such as l3 or linf, or cosine for vectors",
                matches!(measure, MeasureName::Norm(_) | MeasureName::Cosine),
            ),
            KindName::Bits => ("hamming for bits", measure == MeasureName::Hamming),
            KindName::Answers => ("hamming for answers", measure == MeasureName::Hamming),
            KindName::String => (
                "edit, damerau or hamming for strings",
                matches!(measure, MeasureName::Edit | MeasureName::Damerau | MeasureName::Hamming),
            ),
            KindName::Set => ("jaccard for sets", measure == MeasureName::Jaccard),
            KindName::Text | KindName::Bag => (
                "jaccard, bag or bag-sum, or for texts cosine",
                is_of_sets(measure) || (kind == KindName::Text && measure == MeasureName::Cosine),
            ),
        };
        if !applies {
            return Err(Error::parameter("--measure", measure, allowed));
        }
        let is_similarity =
            measure == MeasureName::Cosine || kind == KindName::Bits || is_of_sets(measure);
        let is_string = kind == KindName::String;
        let every = matches!(rows, Rows::Closest(_));
        let (form, limit) = match (args.threshold, args.within) {
            (Some(least), _) if is_similarity && (-1.0..=1.0).contains(&least) => {
                (Form::Similarity, least)
            }
            (Some(least), _) if is_similarity => {
                return Err(Error::parameter("--threshold", least, "a similarity, at most 1"));
            }
            (Some(least), _) => {
                let must = format!("left out with {measure}, which is a distance; pass --within");
                return Err(Error::parameter("--threshold", least, must));
            }
            (_, Some(most)) => (Form::Distance, most),
            (_, None) if measure == MeasureName::BagSum => (Form::Similarity, 0.444),
            _ if every && measure == MeasureName::Cosine => (Form::Similarity, f64::NEG_INFINITY),
            _ if every => (Form::Distance, f64::INFINITY),
            _ if is_similarity => (Form::Similarity, 0.8),
            _ if is_string => (Form::Distance, 2.0),
            _ => {
                let must = "given: pairs at most how far apart?";
                return Err(Error::parameter("--within", "missing", must));
            }
        };
        if limit.is_nan() || (form == Form::Distance && limit < 0.0) {
            return Err(Error::parameter("--within", limit, "a number from 0 on"));
        }
        Ok(Self { form, limit, measure })
    }

    /// What is looked for.
    pub(crate) fn search<'a>(
        &self,
        args: &SimilarityArgs,
        way: Way,
        split: Option<u32>,
        stopped: &'a (dyn Fn() -> bool + Sync),
    ) -> Search<'a> {
        let (limit, recall, seed) = (self.limit, args.recall, args.seed);
        let audit = args.audit;
        Search { limit, recall, way, seed, split, audit, room: usize::MAX, stopped }
    }

    fn vectors(&self) -> VectorMeasure {
        match (self.measure, self.form) {
            (MeasureName::Cosine, Form::Similarity) => VectorMeasure::Cosine,
            (MeasureName::Cosine, Form::Distance) => VectorMeasure::Angle,
            (MeasureName::Norm(order), _) => VectorMeasure::Lr(order),
            _ => VectorMeasure::L2,
        }
    }

    fn strings(&self) -> StringMeasure {
        match self.measure {
            MeasureName::Damerau => StringMeasure::Mutation,
            MeasureName::Hamming => StringMeasure::Hamming,
            _ => StringMeasure::InsertDelete,
        }
    }

    fn sparse(&self) -> SparseMeasure {
        match self.form {
            Form::Similarity => SparseMeasure::Cosine,
            Form::Distance => SparseMeasure::Angle,
        }
    }
}

/// Whether a measure is one of sets and bags.
fn is_of_sets(measure: MeasureName) -> bool {
    matches!(measure, MeasureName::Jaccard | MeasureName::Bag | MeasureName::BagSum)
}

impl Held {
    /// Where the second collection begins.
    pub(crate) fn split(&self) -> Option<u32> {
        (self.names.len() > 1).then(|| self.names[0].len() as u32)
    }

    /// An error where the items take more memory than may be used.
    fn fits(&self, run: &RunArgs) -> Result<()> {
        let bytes = match &self.items {
            Items::Vectors(vectors, _) => 4 * vectors.values().len(),
            Items::Bits(bits, ..) => 8 * bits.len() * bits.words_each(),
            Items::Sets(sets, ..) => 8 * sets.elements(),
            Items::Strings(_) | Items::Sparse(_) => 0,
        };
        run.fits(bytes)
    }

    /// The id of an item, counted over both collections.
    fn id(&self, item: u32) -> nearkin::item::Id {
        match self.split().filter(|&split| item >= split) {
            Some(split) => self.names[1].id((item - split) as usize),
            None => self.names[0].id(item as usize),
        }
    }
}

/// Reads one or two collections.
pub(crate) fn load(
    fields: &FieldArgs,
    inputs: &[Place],
    against: &[Place],
    similarity: &SimilarityArgs,
    asked: &Asked,
) -> Result<Held> {
    let options = fields.options(None, None);
    let mut sides = vec![inputs];
    sides.extend((!against.is_empty()).then_some(against));
    match fields.items.kind() {
        KindName::Vector => {
            let read =
                if asked.measure == MeasureName::Cosine { load_directions } else { load_vectors };
            let loaded = sides.iter().map(|paths| read(paths, &options));
            let (vectors, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
            let lengths: Vec<usize> = vectors.iter().map(Vectors::dimension).collect();
            same_length(&names, &lengths, "components")?;
            let all = joined(vectors, Vectors::is_empty, Vectors::followed_by)?;
            Ok(Held { items: Items::Vectors(all, asked.vectors()), names })
        }
        KindName::Bits => {
            let digits = match fields.items.digits {
                DigitsName::Told => Digits::Told,
                DigitsName::Binary => Digits::Binary,
                DigitsName::Hex => Digits::Hex,
            };
            let loaded = sides.iter().map(|paths| load_bits(paths, &options, digits));
            let (bits, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
            let lengths: Vec<usize> = bits.iter().map(Bits::length).collect();
            same_length(&names, &lengths, "bits")?;
            let all = joined(bits, Bits::is_empty, Bits::followed_by)?;
            Ok(Held { items: Items::Bits(all, asked.form, 1.0), names })
        }
        KindName::Answers => answers(&sides, &options, fields.items.questions.as_deref(), asked),
        KindName::String => {
            let (texts, names) = texts(&sides, &options)?;
            let mut strings = Strings::default();
            texts.iter().for_each(|text| strings.push(text));
            Ok(Held { items: Items::Strings(StringSpace::new(strings, asked.strings())), names })
        }
        KindName::Text | KindName::Set | KindName::Bag if is_of_sets(asked.measure) => {
            sets(fields, &sides, similarity, asked)
        }
        KindName::Text | KindName::Set | KindName::Bag => {
            let (texts, names) = texts(&sides, &options)?;
            let shingling = match &similarity.shingle.shingle {
                Some(_) => similarity.shingle.shingling()?,
                None => Shingling::words(1),
            };
            let vocabulary = Vocabulary::new(&texts, shingling);
            let vectors = vocabulary.vectors(&texts, Repeats::Raw)?;
            Ok(Held { items: Items::Sparse(SparseSpace::new(vectors, asked.sparse())), names })
        }
    }
}

/// The items and the names of each side.
fn apart<T>(loaded: impl Iterator<Item = Result<(T, Names)>>) -> Result<(Vec<T>, Vec<Names>)> {
    loaded.collect::<Result<Vec<_>>>().map(|sides| sides.into_iter().unzip())
}

fn texts(sides: &[&[Place]], options: &ReadOptions) -> Result<(Vec<String>, Vec<Names>)> {
    let loaded = sides.iter().map(|paths| load_strings(paths, options));
    let (texts, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
    Ok((texts.concat(), names))
}

fn answers(
    sides: &[&[Place]],
    options: &ReadOptions,
    questions: Option<&[String]>,
    asked: &Asked,
) -> Result<Held> {
    let first = load_answers(sides[0], options, questions)?;
    let mut both = vec![first.records];
    for paths in &sides[1..] {
        // The same questions in the same places.
        both.push(load_answers(paths, options, Some(&first.questions))?.records);
    }
    let (bits, names): (Vec<Bits>, Vec<Names>) =
        both.into_iter().map(|named| (named.items, named.names)).unzip();
    let all = joined(bits, Bits::is_empty, Bits::followed_by)?;
    // Two bits an answer, so that a gap is half way between yes and no.
    Ok(Held { items: Items::Bits(all, asked.form, 2.0), names })
}

/// Texts, sets and bags as sets of elements.
fn sets(
    fields: &FieldArgs,
    sides: &[&[Place]],
    similarity: &SimilarityArgs,
    asked: &Asked,
) -> Result<Held> {
    let settings = similarity.settings(&RunArgs::default(), fields)?;
    let on_error = fields.options(None, None).on_error;
    let read = |paths: &&[Place]| {
        let source = fields.open(paths, None, None)?;
        let repeats = settings.measure.counts_repeats();
        let named = load_sets(&source, &settings.shingling, repeats, on_error)?;
        Ok((named.items, named.names))
    };
    let (sets, names) = apart(sides.iter().map(read))?;
    let all = joined(sets, Sets::is_empty, |all, more| Ok(all.followed_by(more)))?;
    Ok(Held { items: Items::Sets(all, settings.measure, asked.form), names })
}

/// One collection of one or two, of which one may be empty.
fn joined<T: Default>(
    sides: Vec<T>,
    is_empty: impl Fn(&T) -> bool,
    join: impl Fn(T, &T) -> Result<T>,
) -> Result<T> {
    let mut sides = sides.into_iter().filter(|side| !is_empty(side));
    let Some(first) = sides.next() else { return Ok(T::default()) };
    sides.try_fold(first, |all, more| join(all, &more))
}

/// An error about the first item of the second collection, if those of the first are longer or shorter.
fn same_length(names: &[Names], lengths: &[usize], what: &str) -> Result<()> {
    match (names, lengths) {
        ([first, second], [a, b]) if a != b && !first.is_empty() && !second.is_empty() => {
            let what =
                format!("{b} {what}, those of INPUT have {a}; both sides must be equally long");
            Err(second.error(0, what))
        }
        _ => Ok(()),
    }
}

/// Does it with as many threads as were asked for.
pub(crate) fn in_pool<T: Send>(run: &RunArgs, job: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    nearkin::near::in_pool(run.threads.map(usize::from), job)
}

/// Writes the rows, and says how many.
fn write(
    held: &Held,
    result: &Outcome,
    asked: &Asked,
    target: Target<'_>,
    observer: &dyn Observer,
) -> Result<(u64, Written)> {
    let right = held.names.len() - 1;
    let numbers = [0, right].map(|side| held.names[side].ids_are_numbers());
    let value = if asked.form == Form::Similarity { "similarity" } else { "distance" };
    let columns = columns(numbers, value);
    let mut table = target.create(&columns)?;
    let mut count = 0;
    let mut row = |found: Found| {
        if observer.stopped() {
            return Err(Error::Interrupted);
        }
        count += 1;
        let (a, b) = (held.id(found.a), held.id(found.b));
        table.row(&[Cell::from(&a), Cell::from(&b), Cell::Float(found.value)])
    };
    match result {
        Outcome::Pairs(close) => close.matches.iter().try_for_each(&mut row)?,
        Outcome::Closest(found) => found.iter().copied().try_for_each(&mut row)?,
    }
    Ok((count, target.finish(table)?))
}

/// What there is to tell of a run at its end.
struct Summary<'a> {
    held: &'a Held,
    asked: &'a Asked,
    result: &'a Outcome,
    pairs: Option<u64>,
    stages: &'a [StageTime],
    seed: u64,
}

impl Summary<'_> {
    fn skipped(&self) -> u64 {
        self.held.names.iter().map(|names| names.skipped.len() as u64).sum()
    }

    /// How many survived each step, a line each.
    fn funnel(&self) -> String {
        let items = self.held.items.len() as u64;
        let mut rows = vec![(items, "items read".to_owned())];
        if self.skipped() > 0 {
            rows.push((self.skipped(), "records skipped because they could not be used".into()));
        }
        let mut promise = String::from("promised: none of the closest is missed");
        if let Outcome::Pairs(close) = self.result {
            if close.distinct < items {
                rows.push((items - close.distinct, "identical to an earlier one".into()));
            }
            rows.push((close.compared, "pairs compared".into()));
            promise = promise_of(&close.plan);
        }
        if let Some(pairs) = self.pairs {
            let reach = match self.asked.form {
                _ if self.asked.limit.is_infinite() => {
                    String::from("rows of an item and one of its closest")
                }
                Form::Similarity => format!("pairs at or above {}", self.asked.limit),
                Form::Distance => format!("pairs within {}", self.asked.limit),
            };
            rows.push((pairs, format!("{reach} ({})", self.asked.measure)));
        }
        let seconds: f64 = self.stages.iter().map(|stage| stage.seconds).sum();
        let audit = match self.result {
            Outcome::Pairs(close) => {
                close.audit.as_ref().map(|audit| report::audited(audit, false))
            }
            Outcome::Closest(_) => None,
        };
        let audit = audit.map_or(String::new(), |audit| format!("\n{audit}"));
        format!("{}  {promise}; took {seconds:.1} s{audit}", report::lines(&rows))
    }

    /// The run as JSON.
    fn as_json(&self) -> Value {
        let close = match self.result {
            Outcome::Pairs(close) => Some(close),
            Outcome::Closest(_) => None,
        };
        let plan = close.map(|close| &close.plan);
        let items = self.held.items.len() as u64;
        let limit = self.asked.limit.is_finite().then_some(self.asked.limit);
        let (threshold, within) = match self.asked.form {
            Form::Similarity => (limit, None),
            Form::Distance => (None, limit),
        };
        let tables =
            plan.filter(|plan| plan.taken == Taken::Tables).and_then(|plan| plan.tables.as_ref());
        json!({
            "items": items,
            "skipped": self.skipped(),
            "empty": null,
            "identical": close.map(|close| items - close.distinct),
            "distinct": close.map(|close| close.distinct),
            "candidates": close.map(|close| close.compared),
            "verified": close.map(|close| close.compared),
            "similar": close.map(|close| close.close),
            "pairs": self.pairs,
            "clusters": null,
            "measure": self.asked.measure.to_string(),
            "threshold": threshold,
            "within": within,
            "seed": self.seed,
            "expression": tables.map(|tables| tables.expression.to_string()),
            "probes": tables.map(|tables| tables.probes),
            "expected": plan.map(expected_json),
            "recall": {
                "promised": plan.map_or(1.0, |plan| plan.recall),
                "audited": close.and_then(|close| close.audit.as_ref()).map(report::audit_json),
            },
            "stages": report::stages_json(self.stages),
            "peak_memory": report::peak_memory(),
        })
    }
}

/// What was expected of both ways.
pub(crate) fn expected_json(plan: &Plan) -> Value {
    json!({
        "complete": plan.complete.map(|estimate| json!({ "seconds": estimate.seconds })),
        "tables": plan.tables.as_ref().map(|tables| json!({
            "expression": tables.expression.to_string(),
            "probes": tables.probes,
            "seconds": tables.estimate.seconds,
            "candidates": tables.expected.candidates,
            "missed": tables.expected.missed,
            "wasted": tables.expected.wasted,
        })),
    })
}

/// What was promised, and which way was taken.
fn promise_of(plan: &Plan) -> String {
    match (plan.taken, &plan.tables) {
        (Taken::Tables, Some(tables)) => format!(
            "promised: a pair at just the limit is found with chance {:.4}, by {} ({} candidates expected)",
            plan.recall,
            named(tables),
            grouped(tables.expected.candidates as u64)
        ),
        _ => "promised: none is missed".to_owned(),
    }
}

/// The tables as they are told of.
pub(crate) fn named(tables: &TablesPlan) -> String {
    match tables.probes {
        1 => tables.expression.to_string(),
        probes => format!("{} with {probes} probes a table", tables.expression),
    }
}
