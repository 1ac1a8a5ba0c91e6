//! Would looking several times into each of fewer tables cost less?

use rayon::prelude::*;

use super::space::{SearchSpace, SpaceQuery};
use super::tables::{CURVE, MOST_FUNCTIONS, PairSample, work};
use super::{SearchCost, TablesPlan};
use crate::amplify::{ExpectedPairs, Expression, WorkCosts};
use crate::candidates::probed::TableShape;
use crate::family::{Family, ProbeFamily};
use crate::{Error, Result};

/// Most probes that are considered.
const MOST_PROBES: usize = 64;

/// Functions of a table beside those that plain tables would have: with several probes, tables may have more.
const MORE_ROWS: [usize; 8] = [0, 1, 2, 3, 4, 6, 9, 12];

/// Cases from which the chance of one distance is estimated where only costs depend on it.
const FEW: usize = 256;

/// Distances at which chances are computed; between them their logarithms are taken for straight.
const GRID: usize = 12;

/// Nanoseconds for an item in a table: its entry, and ranking what may be changed. Of 20,000 and 200,000 items it was 180
/// to 300, beside the functions.
const TABLE: f64 = 250.0;

/// Nanoseconds for a probe: its key and a look into the table. Of 20,000 items it was 20, of 200,000 up to 40.
const PROBE: f64 = 35.0;

/// Which share of what plain tables cost others may cost: estimates are not better than that. Images of 784 components
/// with an estimate of 0.8 took as long both ways.
const CLEARLY: f64 = 0.85;

/// Nanoseconds that plain tables must take for others to be considered: that alone takes some tens of milliseconds.
const WORTH: f64 = 2e8;

/// Tables with several probes that cost less than plain ones with `rows` rows, if there are any.
pub(crate) fn cheaper<S: SearchSpace>(
    space: &S,
    family: &dyn ProbeFamily,
    query: &SpaceQuery<'_>,
    sample: &PairSample,
    rows: usize,
    cost: f64,
) -> Option<TableShape> {
    if cost < WORTH {
        return None;
    }
    let (limit, work) = (space.distance(query.limit), work(space));
    let grid = DistanceGrid::new(&sample.distances, GRID);
    let costs = MORE_ROWS.par_iter().flat_map_iter(|more| {
        let rows = rows + more;
        let at_limit = family.probed_agreements(limit, rows, MOST_PROBES, 2 * FEW);
        let chances = grid.chances(family, rows, MOST_PROBES, FEW);
        let (grid, work) = (&grid, &work);
        (1..=MOST_PROBES.ilog2()).map(|power| 1 << power).filter_map(move |probes| {
            let tables = tables_for(query.recall, *at_limit.get(probes - 1)?, rows)?;
            let shape = TableShape { tables, rows, probes };
            let met = grid.of_each(&chances, probes).sum::<f64>() * sample.weight;
            Some((cost_of(&shape, work, met), shape))
        })
    });
    let costs: Vec<(f64, TableShape)> = costs.collect();
    let (least, shape) = costs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    if least > CLEARLY * cost {
        return None;
    }
    // What the promise rests on is not taken from few cases.
    let p = family.probed_agreement(limit, shape.rows, shape.probes);
    Some(TableShape { tables: tables_for(query.recall, p, shape.rows)?, ..shape })
}

/// The fewest tables that keep the recall, if that is not too many.
fn tables_for(recall: f64, p: f64, rows: usize) -> Option<usize> {
    let tables = ((1.0 - recall).ln() / (-p).ln_1p()).ceil().max(1.0);
    (tables * rows as f64 <= MOST_FUNCTIONS as f64).then_some(tables as usize)
}

/// Nanoseconds that such tables take if `met` pairs meet in each.
fn cost_of(shape: &TableShape, work: &WorkCosts, met: f64) -> f64 {
    let of_item = work.function * shape.rows as f64 + TABLE + PROBE * shape.probes as f64;
    shape.tables as f64 * (work.items * of_item + work.comparison * met)
}

/// What is to be expected of such tables.
pub(crate) fn expectation<S: SearchSpace>(
    space: &S,
    name: &str,
    shape: &TableShape,
    family: &dyn ProbeFamily,
    query: &SpaceQuery<'_>,
    sample: &PairSample,
) -> TablesPlan {
    let limit = space.distance(query.limit);
    let grid = DistanceGrid::new(&sample.distances, GRID);
    let chances = grid.chances(family, shape.rows, shape.probes, FEW);
    let mut expected = ExpectedPairs { missed: 0.0, wasted: 0.0, candidates: 0.0 };
    let mut met = 0.0;
    for (&distance, p) in sample.distances.iter().zip(grid.of_each(&chances, shape.probes)) {
        let chance = in_one_of(shape.tables, p);
        met += sample.weight * p;
        expected.candidates += sample.weight * chance;
        if distance <= limit {
            expected.missed += sample.weight * (1.0 - chance);
        } else {
            expected.wasted += sample.weight * chance;
        }
    }
    let curve = CURVE.par_iter().map(|times| times * limit);
    TablesPlan {
        expression: Expression::function(name).and(shape.rows).or(shape.tables),
        probes: shape.probes,
        cost: Some(SearchCost {
            seconds: 1e-9 * cost_of(shape, &work(space), met),
            compared: None,
        }),
        expected: Some(expected),
        curve: curve.map(|distance| (distance, chance(shape, family, distance))).collect(),
    }
}

/// The chance that a pair at a distance is found.
pub(crate) fn chance(shape: &TableShape, family: &dyn ProbeFamily, distance: f64) -> f64 {
    in_one_of(shape.tables, family.probed_agreement(distance, shape.rows, shape.probes))
}

fn in_one_of(tables: usize, p: f64) -> f64 {
    -(tables as f64 * (-p).ln_1p()).exp_m1()
}

/// The functions, if they can be probed.
pub(crate) fn of<'a>(
    (name, family): &'a (String, Box<dyn Family + '_>),
) -> Result<&'a dyn ProbeFamily> {
    family.probing().ok_or_else(|| {
        let must =
            format!("left out with {name}, which does not say which value would be the next best");
        Error::parameter("probes", "given", must)
    })
}

/// The tables that were asked for, and the functions' name.
///
/// # Errors
/// When the expression is not of that form.
pub(crate) fn asked(expression: &Expression, probes: usize) -> Result<(TableShape, &str)> {
    if !(1..=1 << 16).contains(&probes) {
        return Err(Error::parameter("probes", probes, "from 1 to 65,536"));
    }
    let (tables, inside) = match expression {
        Expression::Or(count, inside) => (*count, &**inside),
        other => (1, other),
    };
    let (rows, inside) = match inside {
        Expression::And(rows, inside) => (*rows, &**inside),
        other => (1, other),
    };
    match inside {
        Expression::Function(name) => Ok((TableShape { tables, rows, probes }, name)),
        _ => {
            let must = "or(b, and(r, function)) where there are several probes a table";
            Err(Error::parameter("the expression", expression, must))
        }
    }
}

/// Some distances, and where others are between them.
struct DistanceGrid {
    points: Vec<f64>,
    /// The point before, and how far it is to the next.
    places: Vec<(usize, f64)>,
}

impl DistanceGrid {
    /// For ascending distances. More points are among the small ones, because those pairs meet.
    fn new(distances: &[f64], count: usize) -> Self {
        let last = distances.len().saturating_sub(1) as f64;
        let at = |i: usize| (last * (i as f64 / (count - 1) as f64).powi(3)) as usize;
        let mut points: Vec<f64> =
            (0..count).filter_map(|i| distances.get(at(i)).copied()).collect();
        points.dedup();
        let place = |&distance: &f64| {
            let next = points.partition_point(|&point| point <= distance).max(1);
            let step = points.get(next).map_or(1.0, |point| point - points[next - 1]);
            (next - 1, ((distance - points[next - 1]) / step).clamp(0.0, 1.0))
        };
        let places = distances.iter().map(place).collect();
        Self { points, places }
    }

    /// The chances at the points, for 1, 2, … probes.
    fn chances(
        &self,
        family: &dyn ProbeFamily,
        rows: usize,
        probes: usize,
        samples: usize,
    ) -> Vec<Vec<f64>> {
        let points = self.points.par_iter();
        points.map(|&point| family.probed_agreements(point, rows, probes, samples)).collect()
    }

    /// The chance of each distance with this many probes.
    fn of_each(&self, chances: &[Vec<f64>], probes: usize) -> impl Iterator<Item = f64> {
        let at = |chances: &Vec<f64>| chances.get(probes - 1).or(chances.last()).copied();
        let logs: Vec<f64> =
            chances.iter().map(|it| at(it).unwrap_or(0.0).max(1e-300).ln()).collect();
        self.places.iter().map(move |&(before, share)| {
            let next = logs.get(before + 1).unwrap_or(&logs[before]);
            (logs[before] * (1.0 - share) + next * share).exp()
        })
    }
}
