//! The plan for items that are held in memory: which way is taken, and what both would cost.

use std::fmt::{self, Write as _};

use nearkin_engine::amplify::Expression;
use nearkin_engine::observe::Observer;
use nearkin_engine::options::{Goal, MeasureName, Options, Query};
use nearkin_engine::plan::{Plan, Way};
use nearkin_engine::search::{Items, Search};
use nearkin_engine::space::Form;
use serde_json::{Value, json};

use super::{PlanRequest, as_bands};
use crate::report::{expected_json, grouped, named};

/// What there is to say of them.
pub(super) struct InMemoryPlan {
    items: usize,
    query: Query,
    bits: Option<usize>,
    plan: Plan,
    /// Where the curve is asked for.
    at: Vec<f64>,
}

impl InMemoryPlan {
    pub(super) fn of(
        request: &PlanRequest,
        observer: &dyn Observer,
    ) -> nearkin_engine::Result<Self> {
        // Both ways are planned, whichever is asked for.
        let options = Options { exact: false, ..request.options.clone() };
        let query = options.query(Goal::Pairs)?;
        let loaded = options.load(Goal::Pairs, &request.inputs, &[])?;
        let (items, settings) = (loaded.items().len(), options.settings(Goal::Pairs)?);
        let bits = match loaded.items() {
            Items::Bits(bits, ..) => Some(bits.length()),
            _ => None,
        };
        let plan = Search::new(&settings).observed(observer).plan(loaded, Goal::Pairs)?;
        let plan = plan.unwrap_or_default();
        Ok(Self { items, query, bits, plan, at: request.view.at.clone() })
    }

    /// The expression of the tables, where there are some.
    pub(super) fn expression(&self) -> Option<&Expression> {
        self.plan.tables.as_ref().map(|tables| &tables.expression)
    }

    /// How many bits each item has, where items are bit strings.
    pub(super) fn bits(&self) -> Option<usize> {
        self.bits
    }

    pub(super) fn as_text(&self) -> Result<String, fmt::Error> {
        let (plan, query) = (&self.plan, &self.query);
        let mut text = String::new();
        let reach = match query.form {
            Form::Similarity => format!("at or above {}", query.limit),
            Form::Distance => format!("within {}", query.limit),
        };
        let items = self.items as u64;
        writeln!(text, "{} items, compared by {}; pairs {reach}", grouped(items), query.measure)?;
        if let (Some(median), Some(closest)) =
            (plan.sample.get(plan.sample.len() / 2), plan.sample.first())
        {
            let close = plan.sample.iter().filter(|&&v| !query.form.closer(query.limit, v)).count();
            let drawn = grouped(plan.sample.len() as u64);
            writeln!(
                text,
                "Of {drawn} random pairs {close} are; the closest has {closest:.4}, half have {median:.4} or \
                 are farther."
            )?;
        }
        writeln!(text)?;
        let taken = |is: bool| if is { "  <- taken" } else { "" };
        let complete = plan.exact.map_or(String::new(), |it| format!(", {}", seconds(it.seconds)));
        let mark = taken(plan.way == Way::Exact);
        writeln!(text, "complete: every pair is found{complete}{mark}")?;
        if let Some(tables) = &plan.tables {
            let mark = taken(plan.way == Way::Tables);
            writeln!(
                text,
                "tables:   {}, {}{mark}",
                named(tables),
                tables.cost.map_or(String::new(), |cost| seconds(cost.seconds))
            )?;
            let functions = grouped(tables.expression.functions() as u64);
            let kept = grouped(tables.expression.tables() as u64);
            writeln!(text, "          {functions} functions an item, {kept} tables")?;
            if let Some(expected) = &tables.expected {
                writeln!(
                    text,
                    "          {} candidates expected, {} of them in vain",
                    grouped(expected.candidates as u64),
                    grouped(expected.wasted as u64)
                )?;
            }
            let unit = match query.measure {
                MeasureName::Cosine => "angle in degrees",
                MeasureName::Hamming => "number of bits",
                _ => "distance",
            };
            writeln!(text, "\nThe chance that the tables find a pair, by its {unit}:")?;
            for (distance, chance) in &tables.curve {
                let distance = (distance * 1e4).round() / 1e4;
                writeln!(text, "  {distance:>12}  {}", super::numbers::chance(*chance))?;
            }
        } else {
            writeln!(text, "tables:   none that keep the recall, or none for this measure")?;
        }
        Ok(text)
    }

    pub(super) fn as_json(&self) -> Value {
        let (threshold, within) = match self.query.form {
            Form::Similarity => (Some(self.query.limit), None),
            Form::Distance => (None, Some(self.query.limit)),
        };
        // What runs, where tables do; what would, beside it.
        let tables = self.plan.tables.as_ref();
        let run = tables.filter(|_| self.plan.way == Way::Tables).map(|it| &it.expression);
        let bands = run.and_then(as_bands);
        let (at, slope) = run.map_or((None, None), |run| {
            let (at, slope) = run.steepest();
            (Some(at), Some(slope))
        });
        let point = |s: &f64| json!({ "s": s, "p": run.map(|run| run.probability(*s)) });
        let chance = |&(distance, p): &(f64, f64)| json!({ "distance": distance, "p": p });
        json!({
            "items": self.items,
            "measure": self.query.measure.to_string(),
            "threshold": threshold,
            "within": within,
            "taken": if self.plan.way == Way::Tables { "tables" } else { "complete" },
            "recall": self.plan.recall,
            "expression": run.map(ToString::to_string),
            "probes": tables.filter(|_| run.is_some()).map(|tables| tables.probes),
            "bands": bands.map(|bands| bands.count),
            "rows": bands.map(|bands| bands.rows),
            "half_way": run.map(Expression::half_way),
            "fixed_point": run.and_then(Expression::fixed_point),
            "steepest": { "at": at, "slope": slope },
            "curve": run.map(|_| self.at.iter().map(point).collect::<Vec<_>>()),
            "expected": expected_json(&self.plan, false),
            "by_distance": tables.map(|it| it.curve.iter().map(chance).collect::<Vec<_>>()),
        })
    }
}

/// A time, as far as it is known.
fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => "less than 0.1 s on one core".to_owned(),
        s if s < 10.0 => format!("about {s:.1} s on one core"),
        s => format!("about {} s on one core", grouped(s.round() as u64)),
    }
}
