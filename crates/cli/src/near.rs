//! `pairs` and `top` of items that are held in memory: vectors, bit strings, strings, answers, tf-idf vectors.

use nearkin::join::Top;
use nearkin::near::{self, Close, Plan, TablesPlan, Taken, in_pool};
use nearkin::options::{InMemoryItems, Options, Query};
use nearkin::pipeline::{Clock, Observer, Stage, StageTime};
use nearkin::space::{Form, Found};
use nearkin::write::Cell;
use nearkin::{Error, Result};
use serde_json::{Value, json};

use crate::report::{self, Told, grouped};
use crate::search::{self, Rows, SearchRequest, Target, Written, columns};

pub(crate) fn find(
    request: &SearchRequest<'_>,
    observer: &dyn Observer,
) -> anyhow::Result<search::Outcome> {
    let options = request.options;
    let query = options.query(request.goal)?;
    let rows = request.rows()?;
    request.check_outputs()?;
    let mut stages = Vec::new();
    observer.stage(Stage::Load, None);
    let clock = Clock::start(Stage::Load);
    let loaded =
        in_pool(options.threads, || options.load(request.inputs, request.against, &query))?;
    stages.push(clock.stop(0));
    options.check_fits(loaded.bytes())?;
    observer.stage(Stage::Verify, None);
    let clock = Clock::start(Stage::Verify);
    let result = in_pool(options.threads, || search(&loaded, options, &query, rows, observer))?;
    stages.push(clock.stop(0));
    observer.stage(Stage::Write, None);
    let clock = Clock::start(Stage::Write);
    let written = write(&loaded, &result, &query, request.target, observer);
    let (pairs, written) = report::unless_closed(written)?.unzip();
    stages.push(clock.stop(0));
    let summary = Summary {
        loaded: &loaded,
        query: &query,
        result: &result,
        pairs,
        stages: &stages,
        seed: options.seed_or_default(),
    };
    Ok((written, Told::new(summary.as_json(), summary.funnel(), loaded.skipped())))
}

/// Finds every pair, or the closest of each item.
fn search(
    loaded: &InMemoryItems,
    options: &Options,
    query: &Query,
    rows: Rows,
    observer: &dyn Observer,
) -> Result<Outcome> {
    let (split, stopped) = (loaded.split(), || observer.stopped());
    match rows {
        Rows::Pairs => {
            let search = options.search(query, split, &stopped)?;
            near::pairs(&loaded.items, &search).map(|close| Outcome::Pairs(close.into()))
        }
        Rows::Closest(count) => {
            let top = Top { count, split, stopped: &stopped };
            near::closest(&loaded.items, &top, query.finite_limit()).map(Outcome::Closest)
        }
    }
}

/// What was found.
enum Outcome {
    Pairs(Box<Close>),
    Closest(Vec<Found>),
}

/// Writes the rows, and says how many.
fn write(
    loaded: &InMemoryItems,
    result: &Outcome,
    query: &Query,
    target: Target<'_>,
    observer: &dyn Observer,
) -> Result<(u64, Written)> {
    let value = if query.form == Form::Similarity { "similarity" } else { "distance" };
    let columns = columns(loaded.ids_are_numbers(), value);
    let mut table = target.create(&columns)?;
    let mut count = 0;
    let mut row = |found: Found| {
        if observer.stopped() {
            return Err(Error::Interrupted);
        }
        count += 1;
        let (a, b) = (loaded.id(found.a), loaded.id(found.b));
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
    loaded: &'a InMemoryItems,
    query: &'a Query,
    result: &'a Outcome,
    pairs: Option<u64>,
    stages: &'a [StageTime],
    seed: u64,
}

impl Summary<'_> {
    fn skipped(&self) -> u64 {
        self.loaded.skipped().count() as u64
    }

    /// How many survived each step, a line each.
    fn funnel(&self) -> String {
        let items = self.loaded.items.len() as u64;
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
            let reach = match self.query.form {
                _ if self.query.limit.is_infinite() => {
                    String::from("rows of an item and one of its closest")
                }
                Form::Similarity => format!("pairs at or above {}", self.query.limit),
                Form::Distance => format!("pairs within {}", self.query.limit),
            };
            rows.push((pairs, format!("{reach} ({})", self.query.measure)));
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
        let items = self.loaded.items.len() as u64;
        let limit = self.query.finite_limit();
        let (threshold, within) = match self.query.form {
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
            "measure": self.query.measure.to_string(),
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
