//! Items in memory: which costs less, the complete way or tables?
//!
//! The complete way's time comes from trying a part of it. For the tables, the distances of a sample of pairs say
//! how many pairs will meet by accident at each number of rows. Times are those of one core of the machine on
//! which the constants were measured; only their relation decides, and it is the same on every machine and in
//! every run, for the choice decides which pairs may be missed.
//!
//! For dense vectors the complete way is nearly always expected to win. For L1, where the bound is weak, tables are.

use rayon::prelude::*;

use crate::amplify::{Bands, ExpectedPairs, Expression, SampledPair, TunedBands, WorkCosts};
use crate::candidates::probed::TableShape;
use crate::family::hash::{SplitMix, mix64};
use crate::family::{Equality, Family};
use crate::join::estimate::VectorJoin;
use crate::join::pairs_of;
use crate::settings::Strategy;
use crate::{Error, Result};

use super::probes;
use super::space::{SearchSpace, SpaceQuery, no_tables};
use super::{Plan, SearchCost, TablesPlan, Way};

/// Pairs that are drawn to see how far apart items are.
const SAMPLE: usize = 1 << 14;

/// Seconds below which nothing is worth missing a pair.
const WORTH: f64 = 0.25;

/// Functions that an item may have in all tables.
pub(crate) const MOST_FUNCTIONS: usize = 1 << 13;

/// Nanoseconds that an entry in a table takes, with sorting and meeting it.
const ENTRY: f64 = 60.0;

/// What is ready to run.
pub(crate) enum ReadySearch<'a> {
    Complete(VectorJoin<'a>),
    Tables(Expression, Vec<NamedFamily<'a>>),
    Probed(TableShape, NamedFamily<'a>),
}

/// Functions and what they are called.
type NamedFamily<'a> = (String, Box<dyn Family + 'a>);

/// The plan for a space of distinct items.
pub(crate) fn plan<'a, S: SearchSpace>(
    space: &'a S,
    query: &SpaceQuery<'_>,
) -> Result<(Plan, ReadySearch<'a>)> {
    check(query)?;
    if !space.has_tables(query.expression().is_some()) {
        no_tables(query)?;
        return Ok((Plan::exact(), ReadySearch::Complete(space.prepare(&query.join()).0)));
    }
    let sample = PairSample::draw(space, query);
    let mut plan = Plan { sample: sample.values.clone(), ..Plan::exact() };
    let asked = match query.expression() {
        Some((expression, 1)) => Some(asked(space, expression, query, &sample)?),
        Some((expression, probes)) => {
            Some(asked_probed(space, expression, probes, query, &sample)?)
        }
        None => None,
    };
    if let Some((tables, ready)) = asked {
        plan.way = Way::Tables;
        plan.recall = at_limit(&tables);
        plan.tables = Some(tables);
        return Ok((plan, ready));
    }
    let tables = match query.strategy {
        Strategy::Exact => None,
        _ => tuned(space, query, &sample)?,
    };
    let (prepared, seconds) = space.prepare(&query.join());
    plan.exact = Some(SearchCost { seconds, compared: None });
    let is_cheaper = |tables: &TablesPlan| {
        let cost = tables.cost.map_or(f64::INFINITY, |cost| cost.seconds);
        query.strategy == Strategy::Approximate || (seconds > WORTH && cost < seconds)
    };
    match tables {
        Some((tables, ready)) if is_cheaper(&tables) => {
            plan.way = Way::Tables;
            plan.recall = query.recall;
            plan.tables = Some(tables);
            Ok((plan, ready))
        }
        tables => {
            plan.tables = tables.map(|(tables, _)| tables);
            Ok((plan, ReadySearch::Complete(prepared)))
        }
    }
}

/// The chance of a pair at just the limit.
fn at_limit(tables: &TablesPlan) -> f64 {
    tables.curve[AT_LIMIT].1
}

/// Tables, and what they need to run.
type Tables<'a> = (TablesPlan, ReadySearch<'a>);

/// The best tables that keep the recall, if there are any.
fn tuned<'a, S: SearchSpace>(
    space: &'a S,
    query: &SpaceQuery<'_>,
    sample: &PairSample,
) -> Result<Option<Tables<'a>>> {
    if !query.limit.is_finite() {
        return Ok(None);
    }
    let Some(name) = space.functions(query, sample.far) else { return Ok(None) };
    let Ok(family) = space.family(&name, query, sample.far) else { return Ok(None) };
    let at_limit = family.agreement(space.distance(query.limit));
    if at_limit.is_nan() || at_limit <= 0.0 || space.len() < 2 {
        return Ok(None);
    }
    let sampled = |&distance: &f64| SampledPair {
        agreement: family.agreement(distance),
        pairs: sample.weight,
    };
    let pairs: Vec<SampledPair> = sample.distances.iter().map(sampled).collect();
    // Too many functions would be needed: then there are no tables worth having.
    let choice = Bands::for_sample(at_limit, query.recall, MOST_FUNCTIONS, &pairs, &work(space));
    let Ok(TunedBands { bands, cost, .. }) = choice else { return Ok(None) };
    if let Some(probes) = family.probing()
        && let Some(shape) = probes::cheaper(space, probes, query, sample, bands.rows, cost)
    {
        let tables = probes::expectation(space, &name, &shape, probes, query, sample);
        return Ok(Some((tables, ReadySearch::Probed(shape, (name, family)))));
    }
    let expression = Expression::function(name.as_str()).and(bands.rows).or(bands.count);
    let families = vec![(name, family)];
    let tables = expectation(space, &expression, &families, query, sample);
    Ok(Some((tables, ReadySearch::Tables(expression, families))))
}

/// The tables of an expression that was asked for.
fn asked<'a, S: SearchSpace>(
    space: &'a S,
    expression: &Expression,
    query: &SpaceQuery<'_>,
    sample: &PairSample,
) -> Result<Tables<'a>> {
    // Each family draws functions of its own: line(2) and line(4) must not be the same lines.
    let named = |(at, name): (usize, &str)| {
        let seed = if at == 0 { query.seed } else { mix64(at as u64, query.seed) };
        let query = SpaceQuery { seed, ..query.clone() };
        let family: Box<dyn Family + 'a> = match query.field(name) {
            Some(field) => Box::new(Equality::new(field.keys.clone())),
            None => space.family(name, &query, sample.far)?,
        };
        Ok((name.to_owned(), family))
    };
    let families = expression.names().into_iter().enumerate().map(named);
    let families = families.collect::<Result<Vec<_>>>()?;
    let tables = expectation(space, expression, &families, query, sample);
    Ok((tables, ReadySearch::Tables(expression.clone(), families)))
}

/// Tables with the expression that was asked for, several probes in each.
fn asked_probed<'a, S: SearchSpace>(
    space: &'a S,
    expression: &Expression,
    probes: usize,
    query: &SpaceQuery<'_>,
    sample: &PairSample,
) -> Result<Tables<'a>> {
    let (shape, name) = probes::asked(expression, probes)?;
    let family = space.family(name, query, sample.far)?;
    let named = (name.to_owned(), family);
    let tables = probes::expectation(space, name, &shape, probes::of(&named)?, query, sample);
    Ok((tables, ReadySearch::Probed(shape, named)))
}

/// What is to be expected of an expression.
fn expectation<S: SearchSpace>(
    space: &S,
    expression: &Expression,
    families: &[NamedFamily<'_>],
    query: &SpaceQuery<'_>,
    sample: &PairSample,
) -> TablesPlan {
    let limit = space.distance(query.limit);
    let required = expression.required_fields();
    // A pair at the limit that agrees in the fields in which all pairs must agree, and in no other.
    let chance = |distance: f64| {
        let others = agreement(families, distance);
        expression.probability_with(&|name| match Expression::field_of(name) {
            Some(field) => f64::from(u8::from(required.contains(&field))),
            None => others(name),
        })
    };
    let equal: Vec<(&str, f64)> =
        query.fields.iter().map(|field| (field.name.as_str(), field.chance())).collect();
    // A pair drawn at random, of which nobody looks at the fields.
    let drawn = |distance: f64| {
        let others = agreement(families, distance);
        expression.probability_with(&|name| match Expression::field_of(name) {
            Some(name) => equal.iter().find(|(field, _)| *field == name).map_or(0.0, |it| it.1),
            None => others(name),
        })
    };
    let mut expected = ExpectedPairs { missed: 0.0, wasted: 0.0, candidates: 0.0 };
    for &distance in &sample.distances {
        let chance = drawn(distance);
        expected.candidates += sample.weight * chance;
        if distance <= limit {
            expected.missed += sample.weight * (1.0 - chance);
        } else {
            expected.wasted += sample.weight * chance;
        }
    }
    let work = work(space);
    let of_items =
        work.function * expression.functions() as f64 + work.entry * expression.tables() as f64;
    let cost = work.items * of_items + work.comparison * expected.candidates;
    let curve = CURVE.iter().map(|times| times * limit);
    TablesPlan {
        expression: expression.clone(),
        probes: 1,
        cost: Some(SearchCost { seconds: cost * 1e-9, compared: None }),
        expected: Some(expected),
        curve: curve.map(|distance| (distance, chance(distance))).collect(),
    }
}

/// Where the curve is given, in distances at the limit.
pub(crate) const CURVE: [f64; 9] = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0];

/// Which of them is the limit itself.
const AT_LIMIT: usize = 3;

pub(crate) fn work<S: SearchSpace>(space: &S) -> WorkCosts {
    let (function, comparison) = space.costs();
    WorkCosts { items: space.len() as f64, function, entry: ENTRY, comparison }
}

/// The chance that a function of a name agrees at a distance.
fn agreement<'f>(families: &'f [NamedFamily<'_>], distance: f64) -> impl Fn(&str) -> f64 + 'f {
    move |name| {
        let family = families.iter().find(|(known, _)| known == name);
        family.map_or(0.0, |(_, family)| family.agreement(distance))
    }
}

/// How far apart random pairs are.
pub(crate) struct PairSample {
    /// From close to far.
    values: Vec<f64>,
    pub(crate) distances: Vec<f64>,
    /// How many pairs each stands for.
    pub(crate) weight: f64,
    /// How far apart half of them are at least.
    far: f64,
}

impl PairSample {
    fn draw<S: SearchSpace>(space: &S, query: &SpaceQuery<'_>) -> Self {
        let (split, seed) = (query.split, query.seed);
        let items = space.len() as u64;
        let split_at = split.map(u64::from);
        let mut random = SplitMix::new(seed ^ 0x5a4d_504c_4521);
        let mut draw = || match split_at {
            Some(split) => (random.below(split), split + random.below(items - split)),
            None => {
                let a = random.below(items);
                (a, (a + 1 + random.below(items - 1)) % items)
            }
        };
        let none = items < 2 || split_at.is_some_and(|split| split == 0 || split >= items);
        let drawn: Vec<(u64, u64)> = (0..if none { 0 } else { SAMPLE }).map(|_| draw()).collect();
        let value = |&(a, b): &(u64, u64)| space.value(a.min(b) as u32, a.max(b) as u32);
        let mut values: Vec<f64> = drawn.par_iter().map(value).collect();
        values.sort_unstable_by(|&x, &y| space.form().order(x, y));
        let distances: Vec<f64> = values.iter().map(|&value| space.distance(value)).collect();
        let weight = pairs_of(space.len(), split) / distances.len().max(1) as f64;
        let far = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
        Self { values, distances, weight, far }
    }
}

/// Refuses what is out of range.
fn check(query: &SpaceQuery<'_>) -> Result<()> {
    if query.limit.is_nan() {
        return Err(Error::parameter("the limit", query.limit, "a number"));
    }
    if !(query.recall > 0.0 && query.recall < 1.0) {
        return Err(Error::recall(query.recall));
    }
    if let Some((expression, probes)) = query.expression() {
        expression.check()?;
        if probes != 1 {
            probes::asked(expression, probes)?;
        }
    }
    Ok(())
}
