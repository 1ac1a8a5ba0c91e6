//! Sparse vectors at a small angle to each other, all of them: Bayardo, Ma and Srikant, "Scaling Up All Pairs
//! Similarity Search" (2007), with the bounds of Anastasiu and Karypis, "L2AP: Fast Cosine Similarity
//! Search With Prefix L-2 Norm Bounds" (2014).
//!
//! Vectors are scaled to length 1. Their dimensions are put in one order, those that few vectors have first. The rest of a
//! vector at a dimension is the length of what comes after it. Two rests add at most their product to the cosine (Cauchy
//! and Schwarz), whatever the signs of the weights.
//!
//! The head of a vector ends where its rest is shorter than the threshold. If two vectors reach the threshold, their heads
//! share a dimension. For take the vector whose head ends first: if none of its head's dimensions were shared, all that is
//! shared would lie in its rest, which is too short.
//!
//! So only heads go into the lists of which vector has a dimension. A vector goes through the lists of its own head and adds
//! up products. It drops a partner as soon as the sum and the two rests stay below the threshold. At the end it drops those
//! for which the sum and what is behind the head that ends first stay below. The others are compared exactly.
//!
//! 2,500 news articles with 32,650 words, on two cores that others used as well; comparing all pairs takes 8.2 s:
//!
//! | cosine | close | compared | compared without the last bound | seconds |
//! |---|---|---|---|---|
//! | 0.2 | 543 | 1,042 | 68,870 | 0.56 |
//! | 0.4 | 20 | 58 | 188,113 | 0.33 |
//! | 0.6 | 20 | 35 | 70,277 | 0.14 |
//! | 0.8 | 20 | 32 | 7,139 | 0.06 |

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::equal_items::EqualItems;
use super::go_on;
use super::strings::JoinCounts;
use crate::space::{JoinQuery, PairBuffer, PairSink, Space, SparseMeasure, SparseSpace};
use crate::{Error, Result};

/// Sums of single precision weights are wrong by less than 2·10⁻⁷ of the product of the lengths.
const SLACK: f64 = 1e-6;

/// Vectors that one task goes through with one array of sums.
const CHUNK: usize = 1024;

/// Hands on all pairs of vectors that reach `join.limit`.
///
/// Limits that vectors without a common dimension reach, a cosine of up to 0 or an angle from 90 degrees
/// on, are answered by comparing all pairs.
///
/// # Errors
/// When the limit is not a number, the join was stopped, or the sink fails.
pub fn join(space: &SparseSpace, join: &JoinQuery, found: &PairSink<'_>) -> Result<JoinCounts> {
    if join.limit.is_nan() {
        let must = "a cosine or an angle in degrees";
        return Err(Error::parameter("the limit", join.limit, must));
    }
    let cosine = match space.measure() {
        SparseMeasure::Cosine => join.limit,
        SparseMeasure::Angle => join.limit.clamp(-1.0, 180.0).to_radians().cos(),
    };
    let copies = fold(space, join.split);
    let compared = AtomicU64::new(0);
    let search = HeadSearch { space, copies: &copies, join, compared: &compared, found };
    let close = if cosine > 2.0 * SLACK {
        let heads = VectorHeads::new(space, &copies, cosine - SLACK);
        search.pairs(|groups, with| heads.candidates(groups, &copies, with))
    } else {
        search.pairs(|groups, with| {
            groups.for_each(|b| {
                with(b, &(0..b).filter(|&a| copies.wanted(a, b)).collect::<Vec<_>>())
            });
        })
    }?;
    let own = |group| space.reaching(copies.first(group), copies.first(group), join.limit);
    copies.expand_each(own, join, found)?;
    Ok(JoinCounts { distinct: copies.len() as u64, candidates: compared.into_inner(), close })
}

/// Groups of identical vectors, in the order of their entries.
fn fold(space: &SparseSpace, split: Option<u32>) -> EqualItems {
    let order = |a: u32, b: u32| {
        let (a, b) = (space.vectors().get(a as usize), space.vectors().get(b as usize));
        let weights = || a.1.iter().map(|w| w.to_bits()).cmp(b.1.iter().map(|w| w.to_bits()));
        a.0.cmp(b.0).then_with(weights)
    };
    let mut items: Vec<u32> = (0..space.len() as u32).collect();
    items.par_sort_unstable_by(|&a, &b| order(a, b).then(a.cmp(&b)));
    EqualItems::new(items, split, |a, b| order(a, b).is_eq())
}

/// Groups of vectors that are compared, and who takes the pairs.
struct HeadSearch<'a> {
    space: &'a SparseSpace,
    copies: &'a EqualItems,
    join: &'a JoinQuery<'a>,
    compared: &'a AtomicU64,
    found: &'a PairSink<'a>,
}

impl HeadSearch<'_> {
    /// Compares each group of a chunk with the candidates that `source` finds among those before it. Hands on the close
    /// pairs of items of different groups, and counts those of groups.
    fn pairs(
        &self,
        source: impl Fn(std::ops::Range<u32>, &mut dyn FnMut(u32, &[u32])) + Sync,
    ) -> Result<u64> {
        let (space, copies, join) = (self.space, self.copies, self.join);
        let groups = copies.len();
        let close = (0..groups.div_ceil(CHUNK)).into_par_iter().map(|chunk| {
            let range = (chunk * CHUNK) as u32..groups.min((chunk + 1) * CHUNK) as u32;
            let (mut pairs, mut close) = (PairBuffer::new(self.found), 0);
            source(range, &mut |b, candidates| {
                if (join.stopped)() {
                    return;
                }
                self.compared.fetch_add(candidates.len() as u64, Ordering::Relaxed);
                for &a in candidates {
                    let value = space.reaching(copies.first(a), copies.first(b), join.limit);
                    if let Some(value) = value {
                        close += 1;
                        copies.expand(a, b, value, &mut pairs);
                    }
                }
            });
            go_on(join.stopped)?;
            pairs.finish().map(|_| close)
        });
        close.try_reduce(|| 0, |a, b| Ok(a + b))
    }
}

/// An entry of a vector: of its head with a dimension, or of the list of a dimension with a group.
#[derive(Debug, Clone, Copy, Default)]
struct WeightEntry {
    /// The dimension's place in the order, or the group.
    at: u32,
    /// The weight, with the vector at length 1.
    weight: f32,
    /// The length of what the vector has behind this dimension; never rounded down.
    rest: f32,
}

/// The heads of all vectors, by vector and by dimension.
struct VectorHeads {
    least: f64,
    /// By group, where its head begins in `entries`, and the end of all.
    ends: Vec<usize>,
    entries: Vec<WeightEntry>,
    /// By place of a dimension, where its list begins in `lists`, and the end of all.
    list_ends: Vec<usize>,
    lists: Vec<WeightEntry>,
}

impl VectorHeads {
    fn new(space: &SparseSpace, copies: &EqualItems, least: f64) -> Self {
        let order = DimensionOrder::new(space, copies);
        let groups = (0..copies.len() as u32).into_par_iter();
        let heads: Vec<Vec<WeightEntry>> =
            groups.map(|group| head(space, copies.first(group), &order, least)).collect();
        let mut ends = vec![0];
        ends.extend(heads.iter().scan(0, |end, head| {
            *end += head.len();
            Some(*end)
        }));
        let entries = heads.concat();
        let mut list_ends = vec![0; order.dimensions.len() + 1];
        entries.iter().for_each(|entry| list_ends[entry.at as usize + 1] += 1);
        (1..list_ends.len()).for_each(|at| list_ends[at] += list_ends[at - 1]);
        let mut next = list_ends.clone();
        let mut lists = vec![WeightEntry::default(); entries.len()];
        for group in 0..copies.len() {
            for entry in &entries[ends[group]..ends[group + 1]] {
                lists[next[entry.at as usize]] = WeightEntry { at: group as u32, ..*entry };
                next[entry.at as usize] += 1;
            }
        }
        Self { least, ends, entries, list_ends, lists }
    }

    fn of(&self, group: u32) -> &[WeightEntry] {
        &self.entries[self.ends[group as usize]..self.ends[group as usize + 1]]
    }

    /// The most that two vectors have in common behind the head that ends first: the rest of that one, and
    /// what the other has from there on.
    fn behind_heads(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (self.of(a), self.of(b));
        let (Some(end_a), Some(end_b)) = (a.last(), b.last()) else { return 0.0 };
        let (end, other) = if end_a.at <= end_b.at { (end_a, b) } else { (end_b, a) };
        let before = other.partition_point(|entry| entry.at <= end.at);
        let rest = before.checked_sub(1).map_or(1.0 + SLACK, |at| f64::from(other[at].rest));
        f64::from(end.rest) * rest
    }

    /// Calls `with` for each of the groups and those before it that may be close.
    fn candidates(
        &self,
        groups: std::ops::Range<u32>,
        copies: &EqualItems,
        with: &mut dyn FnMut(u32, &[u32]),
    ) {
        // What is added up so far, and −∞ for a partner that is out.
        let mut sums = vec![0.0; groups.end as usize];
        let mut met = Vec::new();
        for group in groups {
            for entry in self.of(group) {
                let list = self.list_ends[entry.at as usize]..self.list_ends[entry.at as usize + 1];
                for other in self.lists[list].iter().take_while(|other| other.at < group) {
                    let sum = &mut sums[other.at as usize];
                    if *sum == 0.0 {
                        met.push(other.at);
                    }
                    *sum += f64::from(entry.weight) * f64::from(other.weight);
                    if *sum + f64::from(entry.rest) * f64::from(other.rest) < self.least {
                        *sum = f64::NEG_INFINITY;
                    }
                }
            }
            // A sum may come back to 0, and its partner be met again.
            met.sort_unstable();
            met.dedup();
            let mut left = met.clone();
            left.retain(|&other| {
                let most = sums[other as usize] + self.behind_heads(group, other);
                most >= self.least && copies.wanted(group, other)
            });
            with(group, &left);
            met.drain(..).for_each(|other| sums[other as usize] = 0.0);
        }
    }
}

/// The dimensions that occur, and the place of each in the order in which they are looked at.
struct DimensionOrder {
    dimensions: Vec<u32>,
    places: Vec<u32>,
}

impl DimensionOrder {
    /// Those that few of the distinct vectors have come first.
    fn new(space: &SparseSpace, copies: &EqualItems) -> Self {
        let groups = 0..copies.len() as u32;
        let of = |group| space.vectors().get(copies.first(group) as usize).0;
        let mut all: Vec<u32> = groups.flat_map(|group| of(group).iter().copied()).collect();
        all.par_sort_unstable();
        let runs = all.chunk_by(|a, b| a == b);
        let (dimensions, having): (Vec<u32>, Vec<usize>) =
            runs.map(|run| (run[0], run.len())).unzip();
        let mut order: Vec<u32> = (0..dimensions.len() as u32).collect();
        order.par_sort_unstable_by_key(|&index| (having[index as usize], index));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &index)| places[index as usize] = place as u32);
        Self { dimensions, places }
    }

    fn place(&self, dimension: u32) -> u32 {
        self.places[self.dimensions.partition_point(|&other| other < dimension)]
    }
}

/// The entries of a vector until its rest is shorter than `least`.
fn head(space: &SparseSpace, item: u32, order: &DimensionOrder, least: f64) -> Vec<WeightEntry> {
    let (dimensions, weights) = space.vectors().get(item as usize);
    let length = space.vectors().squares(item as usize).sqrt();
    let entry = |(&dimension, &weight): (&u32, &f32)| {
        let weight = (f64::from(weight) / length) as f32;
        WeightEntry { at: order.place(dimension), weight, rest: 0.0 }
    };
    let mut entries: Vec<WeightEntry> = dimensions.iter().zip(weights).map(entry).collect();
    entries.sort_unstable_by_key(|entry| entry.at);
    let mut squares = 0.0;
    let mut needed = 0;
    for (at, entry) in entries.iter_mut().enumerate().rev() {
        entry.rest = (f64::sqrt(squares) * (1.0 + 1e-6)) as f32;
        squares += f64::from(entry.weight).powi(2);
        if needed == 0 && squares.sqrt() >= least {
            needed = at + 1;
        }
    }
    entries.truncate(needed);
    entries
}
