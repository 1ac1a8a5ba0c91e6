//! Vectors, bit strings, strings in memory: which are close, by the cheapest way that keeps the promise?
//!
//! A collection comes in with its measure, a limit and a recall; pairs go out, or the closest of each item.
//! There are two ways. The complete one compares everything with everything and rules most pairs out by
//! something that costs little: a few components, the number of ones, a shared segment, a shared word. The other
//! looks up who shares a key in the tables of an AND/OR expression, and misses a stated share. [`plan`] estimates
//! both from a sample and says which is taken.

mod audited;
mod fold;
mod plan;
mod probing;
mod sets;
mod ways;

pub use plan::{Estimate, Plan, TablesPlan, Taken};

use rayon::prelude::*;

use crate::amplify::Expression;
use crate::audit::Audit;
use crate::candidates::copies::{Copies, Matches};
use crate::item::{Bits, Sets, Vectors};
use crate::join::{Top, sparse, strings, top};
use crate::space::{
    BitSpace, Form, Found, Join, Space, SparseSpace, StringSpace, VectorMeasure, VectorSpace,
};
use crate::verify::Measure;
use crate::{Error, Result};
use plan::{check, close};
use sets::SetSpace;
use ways::Ways;

/// A collection in memory and how its items are compared.
#[derive(Debug)]
pub enum Items {
    /// Vectors.
    Vectors(Vectors, VectorMeasure),
    /// Bit strings, by their similarity or distance; so many differing bits count 1.
    Bits(Bits, Form, f64),
    /// Sets, or bags with their elements numbered.
    Sets(Sets, Measure, Form),
    /// Strings under an edit distance.
    Strings(StringSpace),
    /// Sparse vectors, such as tf-idf makes of texts.
    Sparse(SparseSpace),
}

/// How pairs are to be found.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Way {
    /// Whichever costs least and keeps the recall.
    #[default]
    Cheapest,
    /// Without missing any.
    Complete,
    /// By the tables of this expression, whatever its recall is.
    Tables(Expression),
    /// By the tables of this expression, which is or(b, and(r, function)), with so many probes in each, whatever the
    /// recall is.
    Probed(Expression, usize),
}

/// What is looked for.
#[derive(Clone)]
pub struct Search<'a> {
    /// Pairs that reach this similarity or distance.
    pub limit: f64,
    /// The chance that a pair at just the limit is found.
    pub recall: f64,
    /// How.
    pub way: Way,
    /// What all random choices derive from.
    pub seed: u64,
    /// Where the second collection begins, when pairs of one item of each are looked for.
    pub split: Option<u32>,
    /// Items drawn to measure the recall where tables are used, 0 for none; unless said, as many as cost little.
    pub audit: Option<usize>,
    /// Bytes that the pairs found may take.
    pub room: usize,
    /// Whether to give up.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Search<'_> {
    fn join(&self, split: Option<u32>) -> Join<'_> {
        Join { limit: self.limit, split, stopped: self.stopped }
    }
}

/// The pairs that were found, and what it took.
#[derive(Debug)]
pub struct Close {
    /// The pairs.
    pub matches: Matches,
    /// How they were found.
    pub plan: Plan,
    /// Items that are not copies of an earlier one.
    pub distinct: u64,
    /// Pairs of distinct items that were compared exactly.
    pub compared: u64,
    /// Pairs of distinct items that are close.
    pub close: u64,
    /// What was found of the pairs of a sample, where tables were used.
    pub audit: Option<Audit>,
}

impl Items {
    /// Number of items.
    pub fn len(&self) -> usize {
        match self {
            Self::Vectors(vectors, _) => vectors.len(),
            Self::Bits(bits, ..) => bits.len(),
            Self::Sets(sets, ..) => sets.len(),
            Self::Strings(space) => space.len(),
            Self::Sparse(space) => space.len(),
        }
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether items are compared by their similarity or by their distance.
    pub fn form(&self) -> Form {
        match self {
            Self::Vectors(_, VectorMeasure::Cosine) => Form::Similarity,
            Self::Vectors(..) | Self::Strings(_) => Form::Distance,
            Self::Bits(_, form, _) | Self::Sets(_, _, form) => *form,
            Self::Sparse(space) => space.form(),
        }
    }
}

/// Every close pair.
///
/// # Errors
/// When a parameter is out of range, the expression names functions that these items do not have, a vector
/// without a direction is compared by its angle, or it was stopped.
pub fn pairs(items: &Items, search: &Search<'_>) -> Result<Close> {
    check(search)?;
    let (split, join) = (search.split, search.join(search.split));
    let (matches, counts) = match items {
        Items::Vectors(vectors, measure) => {
            return with_vectors(vectors, *measure, split, Pairs(search));
        }
        Items::Bits(bits, form, scale) => {
            return with_bits(bits, *form, *scale, split, Pairs(search));
        }
        Items::Sets(sets, measure, form) => {
            return with_sets(sets, *measure, *form, split, Pairs(search));
        }
        Items::Strings(space) => {
            no_tables(search)?;
            let (matches, counts) = strings::matches(space, &join)?;
            (matches.without(is_blank(space)), counts)
        }
        Items::Sparse(space) => {
            no_tables(search)?;
            sparse::matches(space, &join)?
        }
    };
    Ok(Close {
        matches,
        plan: Plan::complete_only(),
        distinct: counts.distinct,
        compared: counts.candidates,
        close: counts.close,
        audit: None,
    })
}

/// How pairs would be found, without finding them.
///
/// # Errors
/// As [`pairs`].
pub fn plan(items: &Items, search: &Search<'_>) -> Result<Plan> {
    check(search)?;
    let split = search.split;
    match items {
        Items::Vectors(vectors, measure) => with_vectors(vectors, *measure, split, Planned(search)),
        Items::Bits(bits, form, scale) => with_bits(bits, *form, *scale, split, Planned(search)),
        Items::Sets(sets, measure, form) => {
            with_sets(sets, *measure, *form, split, Planned(search))
        }
        Items::Strings(_) | Items::Sparse(_) => {
            no_tables(search)?;
            Ok(Plan::complete_only())
        }
    }
}

/// The closest of each item, of those that reach `limit` where there is one, none missed: those of the first item
/// from close to far, then those of the second, and so on; of equally close ones those that come first.
///
/// # Errors
/// When none are asked for, a vector without a direction is compared by its angle, or it was stopped.
pub fn closest(items: &Items, wanted: &Top<'_>, limit: Option<f64>) -> Result<Vec<Found>> {
    if wanted.count == 0 {
        return Err(Error::parameter("k", 0, "at least 1"));
    }
    let mut found = closest_of(items, wanted, limit)?;
    if let Some(limit) = limit {
        let form = items.form();
        found.retain(|found| !form.closer(limit, found.value));
    }
    Ok(found)
}

fn closest_of(items: &Items, wanted: &Top<'_>, limit: Option<f64>) -> Result<Vec<Found>> {
    let split = wanted.split;
    match items {
        Items::Vectors(vectors, measure) => with_vectors(vectors, *measure, split, Closest(wanted)),
        Items::Bits(bits, form, scale) => with_bits(bits, *form, *scale, split, Closest(wanted)),
        Items::Sets(sets, measure, form) => {
            with_sets(sets, *measure, *form, split, Closest(wanted))
        }
        Items::Strings(space) => closest_strings(space, wanted, limit),
        Items::Sparse(space) => match limit {
            Some(limit) => {
                let join = Join { limit, split: wanted.split, stopped: wanted.stopped };
                let (matches, _) = sparse::matches(space, &join)?;
                let row = |a| matches.closest(a, wanted.count, space.form());
                Ok(wanted.asking(space.len()).into_par_iter().flat_map_iter(row).collect())
            }
            None => top::brute_force(space, wanted),
        },
    }
}

/// Something to do with the distinct items of a collection.
trait Job {
    type Output;

    fn run<S: Ways>(self, space: &S, copies: Copies) -> Result<Self::Output>;
}

struct Pairs<'a>(&'a Search<'a>);
struct Planned<'a>(&'a Search<'a>);
struct Closest<'a>(&'a Top<'a>);

impl Job for Pairs<'_> {
    type Output = Close;

    fn run<S: Ways>(self, space: &S, copies: Copies) -> Result<Close> {
        close(space, copies, self.0)
    }
}

impl Job for Planned<'_> {
    type Output = Plan;

    fn run<S: Ways>(self, space: &S, copies: Copies) -> Result<Plan> {
        let split = fold::split_of(&copies, self.0.split);
        Ok(plan::plan(space, self.0, split)?.0)
    }
}

impl Job for Closest<'_> {
    type Output = Vec<Found>;

    fn run<S: Ways>(self, space: &S, copies: Copies) -> Result<Vec<Found>> {
        fold::closest(space, &copies, self.0)
    }
}

fn with_vectors<J: Job>(
    vectors: &Vectors,
    measure: VectorMeasure,
    split: Option<u32>,
    job: J,
) -> Result<J::Output> {
    let copies = fold::vectors(vectors, split);
    let distinct = fold::distinct_vectors(vectors, &copies);
    job.run(&VectorSpace::new(&distinct, measure)?, copies)
}

fn with_bits<J: Job>(
    bits: &Bits,
    form: Form,
    scale: f64,
    split: Option<u32>,
    job: J,
) -> Result<J::Output> {
    let copies = fold::bits(bits, split);
    let distinct = fold::distinct_bits(bits, &copies);
    job.run(&BitSpace::new(&distinct, form, scale)?, copies)
}

fn with_sets<J: Job>(
    sets: &Sets,
    measure: Measure,
    form: Form,
    split: Option<u32>,
    job: J,
) -> Result<J::Output> {
    let copies = fold::sets(sets, split);
    let distinct = fold::distinct_sets(sets, &copies);
    job.run(&SetSpace { sets: &distinct, measure, form }, copies)
}

/// Whether a string is empty: as a text without words is, it is similar to nothing, for it mostly is a value that is
/// missing.
fn is_blank(space: &StringSpace) -> impl Fn(u32) -> bool {
    |item| space.strings().length(item as usize) == 0
}

/// The closest strings of each: within one edit, two and so on, until there are enough, and for those that have not
/// enough within eight by comparing all.
fn closest_strings(
    space: &StringSpace,
    wanted: &Top<'_>,
    limit: Option<f64>,
) -> Result<Vec<Found>> {
    const LIMITS: [f64; 5] = [1.0, 2.0, 3.0, 5.0, 8.0];
    let limit = limit.unwrap_or(f64::INFINITY);
    let blank = is_blank(space);
    let mut open: Vec<u32> = wanted.asking(space.len()).filter(|&item| !blank(item)).collect();
    let mut found = Vec::new();
    let below = LIMITS.iter().copied().filter(|&at| at < limit);
    let last = (limit <= LIMITS[LIMITS.len() - 1]).then_some(limit);
    for at in below.chain(last) {
        let join = Join { limit: at, split: wanted.split, stopped: wanted.stopped };
        let (matches, _) = strings::matches(space, &join)?;
        let matches = matches.without(is_blank(space));
        let rows: Vec<Vec<Found>> =
            open.par_iter().map(|&a| matches.closest(a, wanted.count, space.form())).collect();
        let mut rows = rows.into_iter();
        open.retain(|_| {
            let row = rows.next().unwrap_or_default();
            let enough = row.len() == wanted.count || Some(at) == last;
            found.extend(row.into_iter().filter(|_| enough));
            !enough
        });
        if open.is_empty() {
            break;
        }
    }
    found.extend(top::brute_force_of(space, wanted, &open)?.into_iter().filter(|it| !blank(it.b)));
    // Rows came item by item, in order of closeness.
    found.sort_by_key(|found| found.a);
    Ok(found)
}

/// These items have no functions for tables.
fn no_tables(search: &Search<'_>) -> Result<()> {
    match search.way.expression() {
        Some(expression) => {
            let must = "left out: these items are searched completely";
            Err(Error::parameter("the expression", expression, must))
        }
        None => Ok(()),
    }
}

/// Does a job with so many threads, or with one a core.
///
/// # Errors
/// Those of the job, and when the threads cannot be had.
pub fn in_pool<T: Send>(
    threads: Option<usize>,
    job: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    match threads {
        Some(threads) => crate::parallel::in_pool(threads, job),
        None => job(),
    }
}
