//! Which way costs less?
//!
//! The complete way's time comes from trying a part of it. For the tables, the distances of a sample of pairs say
//! how many pairs will meet by accident at each number of rows. Times are those of one core of the machine on
//! which the constants were measured; only their relation decides, and it is the same on every machine and in
//! every run, for the choice decides which pairs may be missed.

use rayon::prelude::*;

use super::ways::Ways;
use super::{Close, Search, Way, audited, fold, probing};
use crate::amplify::{Bands, Choice, Expected, Expression, Sampled, Work};
use crate::candidates::cascade::Cascade;
use crate::candidates::copies::{Copies, Matches};
use crate::candidates::probed::{Probed, Shape};
use crate::family::Family;
use crate::family::hash::{SplitMix, mix64};
use crate::join::estimate::Prepared;
use crate::join::pairs_of;
use crate::{Error, Result};

/// Pairs that are drawn to see how far apart items are.
const SAMPLE: usize = 1 << 14;

/// Seconds below which nothing is worth missing a pair.
const WORTH: f64 = 0.25;

/// Functions that an item may have in all tables.
pub(super) const MOST_FUNCTIONS: usize = 1 << 13;

/// Nanoseconds that an entry in a table takes, with sorting and meeting it.
const ENTRY: f64 = 60.0;

/// How pairs are found, and why.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The way that is taken.
    pub taken: Taken,
    /// The chance that a pair at just the limit is found.
    pub recall: f64,
    /// What the complete way is expected to take, where that was asked.
    pub complete: Option<Estimate>,
    /// What tables are expected to take, where these items can be searched by tables.
    pub tables: Option<TablesPlan>,
    /// The values of random pairs, from close to far.
    pub sample: Vec<f64>,
}

/// The way that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The complete one.
    Complete,
    /// Tables.
    Tables,
}

/// What a search is expected to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Seconds on one core.
    pub seconds: f64,
}

/// A search by tables.
#[derive(Debug, Clone)]
pub struct TablesPlan {
    /// Who meets whom.
    pub expression: Expression,
    /// Buckets of each table that an item looks into: 1 where it looks into its own only.
    pub probes: usize,
    /// What it is expected to take.
    pub estimate: Estimate,
    /// Pairs that are expected to become candidates, to be missed and to be compared in vain.
    pub expected: Expected,
    /// The chance of a pair to be found at some distances, those that the functions go by: degrees for
    /// angles, differing bits for bit strings.
    pub curve: Vec<(f64, f64)>,
}

impl Plan {
    /// For items that have a complete way only.
    pub(super) fn complete_only() -> Self {
        Self {
            taken: Taken::Complete,
            recall: 1.0,
            complete: None,
            tables: None,
            sample: Vec::new(),
        }
    }
}

impl TablesPlan {
    /// The chance of a pair at just the limit.
    fn at_limit(&self) -> f64 {
        self.curve[AT_LIMIT].1
    }

    /// The way that does as planned.
    pub fn way(&self) -> Way {
        match self.probes {
            1 => Way::Tables(self.expression.clone()),
            probes => Way::Probed(self.expression.clone(), probes),
        }
    }
}

/// What is ready to run.
pub(super) enum Ready<'a> {
    Complete(Prepared<'a>),
    Tables(Expression, Vec<Named<'a>>),
    Probed(Shape, Named<'a>),
}

/// Functions and what they are called.
type Named<'a> = (String, Box<dyn Family + 'a>);

/// The plan for a space of distinct items.
pub(super) fn plan<'a, S: Ways>(
    space: &'a S,
    search: &Search<'_>,
    split: Option<u32>,
) -> Result<(Plan, Ready<'a>)> {
    let sample = Sample::draw(space, split, search.seed);
    let mut plan = Plan { sample: sample.values.clone(), ..Plan::complete_only() };
    let asked = match &search.way {
        Way::Tables(expression) => Some(asked(space, expression, search, &sample)?),
        Way::Probed(expression, probes) => {
            Some(asked_probed(space, expression, *probes, search, &sample)?)
        }
        Way::Cheapest | Way::Complete => None,
    };
    if let Some((tables, ready)) = asked {
        plan.taken = Taken::Tables;
        plan.recall = tables.at_limit();
        plan.tables = Some(tables);
        return Ok((plan, ready));
    }
    let tables = match search.way {
        Way::Cheapest => tuned(space, search, &sample)?,
        _ => None,
    };
    let (prepared, seconds) = space.prepare(&search.join(split));
    plan.complete = Some(Estimate { seconds });
    match tables {
        Some((tables, ready)) if seconds > WORTH && tables.estimate.seconds < seconds => {
            plan.taken = Taken::Tables;
            plan.recall = search.recall;
            plan.tables = Some(tables);
            Ok((plan, ready))
        }
        tables => {
            plan.tables = tables.map(|(tables, _)| tables);
            Ok((plan, Ready::Complete(prepared)))
        }
    }
}

/// Finds every close pair of a space of distinct items.
pub(super) fn close<S: Ways>(space: &S, copies: Copies, search: &Search<'_>) -> Result<Close> {
    let split = fold::split_of(&copies, search.split);
    let join = search.join(split);
    let (plan, ready) = plan(space, search, split)?;
    fits(&plan, space, search, split)?;
    let (found, compared) = match ready {
        Ready::Complete(prepared) => space.complete(&prepared, &join)?,
        Ready::Tables(expression, families) => {
            let families: Vec<(&str, &dyn Family)> =
                families.iter().map(|(name, family)| (name.as_str(), &**family as _)).collect();
            let cascade = Cascade::new(&expression, &families, space.len())?;
            let (found, counts) = cascade.join(space, &join)?;
            (found, counts.verified)
        }
        Ready::Probed(shape, named) => {
            let probed = Probed::new(probing::of(&named)?, shape, space.len())?;
            let (found, counts) = probed.join(space, &join)?;
            (found, counts.verified)
        }
    };
    let audit = match (plan.taken, &plan.tables) {
        (Taken::Tables, Some(tables)) => {
            audited::audit(space, &copies, search, &found, tables.estimate.seconds)?
        }
        _ => None,
    };
    let pairs: Vec<(u32, u32, f64)> =
        found.iter().map(|pair| (pair.a, pair.b, pair.value)).collect();
    let own = |group: u32| match split.is_none() && copies.members(group).len() > 1 {
        true => space.reaching(group, group, search.limit),
        false => None,
    };
    let own: Vec<Option<f64>> = (0..copies.len() as u32).map(own).collect();
    Ok(Close {
        plan,
        distinct: copies.len() as u64,
        compared,
        audit,
        close: pairs.len() as u64,
        matches: Matches::new(copies, &pairs, |group| own[group as usize]),
    })
}

/// An error where far more pairs are to be expected than there is room for: a limit that was mistyped.
fn fits<S: Ways>(plan: &Plan, space: &S, search: &Search<'_>, split: Option<u32>) -> Result<()> {
    /// Bytes that a pair takes while the result is put together.
    const PAIR: f64 = 64.0;
    let close = plan.sample.partition_point(|&value| !space.form().closer(search.limit, value));
    // Of few, as many may be by accident.
    let share = if close < 16 { 0.0 } else { close as f64 / plan.sample.len() as f64 };
    let expected = share * pairs_of(space.len(), split);
    if expected * PAIR <= search.room as f64 {
        return Ok(());
    }
    let must = format!(
        "fewer: they take some {:.0} MB of memory, and {} MB may be used; choose a closer limit, or give more \
         memory",
        expected * PAIR / 1e6,
        search.room / 1_000_000
    );
    Err(Error::parameter("the number of close pairs", format!("about {expected:.2e}"), must))
}

/// Tables, and what they need to run.
type Tables<'a> = (TablesPlan, Ready<'a>);

/// The best tables that keep the recall, if there are any.
fn tuned<'a, S: Ways>(
    space: &'a S,
    search: &Search<'_>,
    sample: &Sample,
) -> Result<Option<Tables<'a>>> {
    if !search.limit.is_finite() {
        return Ok(None);
    }
    let Some(name) = space.functions(search, sample.far) else { return Ok(None) };
    let Ok(family) = space.family(&name, search, sample.far) else { return Ok(None) };
    let at_limit = family.agreement(space.distance(search.limit));
    if at_limit.is_nan() || at_limit <= 0.0 || space.len() < 2 {
        return Ok(None);
    }
    let sampled =
        |&distance: &f64| Sampled { agreement: family.agreement(distance), pairs: sample.weight };
    let pairs: Vec<Sampled> = sample.distances.iter().map(sampled).collect();
    // Too many functions would be needed: then there are no tables worth having.
    let choice = Bands::for_sample(at_limit, search.recall, MOST_FUNCTIONS, &pairs, &work(space));
    let Ok(Choice { bands, cost, .. }) = choice else { return Ok(None) };
    if let Some(probes) = family.probing()
        && let Some(shape) = probing::cheaper(space, probes, search, sample, bands.rows, cost)
    {
        let tables = probing::expectation(space, &name, &shape, probes, search, sample);
        return Ok(Some((tables, Ready::Probed(shape, (name, family)))));
    }
    let expression = Expression::function(name.as_str()).and(bands.rows).or(bands.count);
    let families = vec![(name, family)];
    let tables = expectation(space, &expression, &families, search, sample);
    Ok(Some((tables, Ready::Tables(expression, families))))
}

/// The tables of an expression that was asked for.
fn asked<'a, S: Ways>(
    space: &'a S,
    expression: &Expression,
    search: &Search<'_>,
    sample: &Sample,
) -> Result<Tables<'a>> {
    // Each family draws functions of its own: line(2) and line(4) must not be the same lines.
    let named = |(at, name): (usize, &str)| {
        let seed = if at == 0 { search.seed } else { mix64(at as u64, search.seed) };
        let search = Search { seed, ..search.clone() };
        Ok((name.to_owned(), space.family(name, &search, sample.far)?))
    };
    let families = expression.names().into_iter().enumerate().map(named);
    let families = families.collect::<Result<Vec<_>>>()?;
    let tables = expectation(space, expression, &families, search, sample);
    Ok((tables, Ready::Tables(expression.clone(), families)))
}

/// The same, with probes.
fn asked_probed<'a, S: Ways>(
    space: &'a S,
    expression: &Expression,
    probes: usize,
    search: &Search<'_>,
    sample: &Sample,
) -> Result<Tables<'a>> {
    let (shape, name) = probing::asked(expression, probes)?;
    let family = space.family(name, search, sample.far)?;
    let named = (name.to_owned(), family);
    let tables = probing::expectation(space, name, &shape, probing::of(&named)?, search, sample);
    Ok((tables, Ready::Probed(shape, named)))
}

/// What is to be expected of an expression.
fn expectation<S: Ways>(
    space: &S,
    expression: &Expression,
    families: &[Named<'_>],
    search: &Search<'_>,
    sample: &Sample,
) -> TablesPlan {
    let limit = space.distance(search.limit);
    let chance = |distance: f64| expression.probability_with(&agreement(families, distance));
    let mut expected = Expected { missed: 0.0, wasted: 0.0, candidates: 0.0 };
    for &distance in &sample.distances {
        let chance = chance(distance);
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
        estimate: Estimate { seconds: cost * 1e-9 },
        expected,
        curve: curve.map(|distance| (distance, chance(distance))).collect(),
    }
}

/// Where the curve is given, in distances at the limit.
pub(super) const CURVE: [f64; 9] = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0];

/// Which of them is the limit itself.
const AT_LIMIT: usize = 3;

pub(super) fn work<S: Ways>(space: &S) -> Work {
    let (function, comparison) = space.costs();
    Work { items: space.len() as f64, function, entry: ENTRY, comparison }
}

/// The chance that a function of a name agrees at a distance.
fn agreement<'f>(families: &'f [Named<'_>], distance: f64) -> impl Fn(&str) -> f64 + 'f {
    move |name| {
        let family = families.iter().find(|(known, _)| known == name);
        family.map_or(0.0, |(_, family)| family.agreement(distance))
    }
}

/// How far apart random pairs are.
pub(super) struct Sample {
    /// From close to far.
    values: Vec<f64>,
    pub(super) distances: Vec<f64>,
    /// How many pairs each stands for.
    pub(super) weight: f64,
    /// How far apart half of them are at least.
    far: f64,
}

impl Sample {
    fn draw<S: Ways>(space: &S, split: Option<u32>, seed: u64) -> Self {
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
pub(super) fn check(search: &Search<'_>) -> Result<()> {
    if search.limit.is_nan() {
        return Err(Error::parameter("the limit", search.limit, "a number"));
    }
    if !(search.recall > 0.0 && search.recall < 1.0) {
        return Err(Error::recall(search.recall));
    }
    if let Some(expression) = search.way.expression() {
        expression.check()?;
    }
    if let Way::Probed(expression, probes) = &search.way {
        probing::asked(expression, *probes)?;
    }
    Ok(())
}
