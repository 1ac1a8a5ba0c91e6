//! What a join of vectors will cost, and which way is the cheapest.
//!
//! A few blocks are joined with all others, and what was counted is scaled up. The times are those of one core of an AMD
//! EPYC of the third generation (AVX2), fitted to joins of 60,000 images at six radii, from 3,449 to 97 million pairs
//! found. Another machine is slower or faster at all of them alike, and only their ratios matter for the choice.

use rayon::prelude::*;

use super::blocks::{BlockCounts, Blocks};
use super::{DenseJoin, TopQuery, brute_force, pairs_of, top};
use crate::Result;
use crate::space::{ClosePair, JoinQuery, PairSink, Space, VectorMeasure, VectorSpace};

/// Most blocks that are tried. With 4, what was expected to be found was off by a factor of 3.
const TRIED: usize = 64;
/// Blocks that are tried together. No more follow when they took longer than this many seconds.
const TOGETHER: usize = 4;
const ENOUGH: f64 = 0.05;
/// With fewer vectors, all pairs are compared, which takes a few milliseconds.
const FEW: usize = 1024;

/// Nanoseconds for each question that is asked of a pair.
mod cost {
    /// Whether a point is near a box.
    pub(super) const BOX: f64 = 1.0;
    /// Which points of a block are near.
    pub(super) const TILE: f64 = 55.0;
    /// Whether a pair is near in 32 components, in 64, in 128.
    pub(super) const NEAR: [f64; 3] = [10.0, 8.0, 16.0];
    /// Comparing a pair exactly: once, and for each component, if it is not close or if it is.
    pub(super) const COMPARED: [f64; 2] = [100.0, 0.065];
    pub(super) const FOUND: [f64; 2] = [30.0, 0.4];
    /// A component of a pair, when all are compared many at a time, or one by one.
    pub(super) const DENSE: f64 = 0.028;
    pub(super) const SINGLE: f64 = 0.2;
    /// A component of a pair that takes a power, a whole one or any other.
    pub(super) const POWER: [f64; 2] = [5.6, 24.0];
    /// A component of a vector, when it is put into a block.
    pub(super) const BUILD: f64 = 14.0;
}

/// What a join is expected to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JoinEstimate {
    /// Pairs left after each question.
    pub counts: BlockCounts,
    /// Seconds on one core, without what it takes to put vectors into blocks.
    pub seconds: f64,
}

/// A complete way to the close pairs of vectors, with what it needs.
pub enum VectorJoin<'a> {
    /// Most pairs are ruled out by a few components.
    Blocks(Box<Blocks<'a>>),
    /// All pairs are compared, many at a time.
    Dense,
    /// All pairs are compared, one by one.
    BruteForce,
}

impl VectorJoin<'_> {
    /// Hands on every pair of the space that reaches the limit, and counts how many had to be compared exactly.
    ///
    /// # Errors
    /// When it was stopped, the limit is not a number, or the sink fails.
    pub fn within(
        &self,
        space: &VectorSpace,
        join: &JoinQuery,
        found: &PairSink<'_>,
    ) -> Result<u64> {
        let all = pairs_of(space.len(), join.split) as u64;
        match self {
            Self::Blocks(blocks) => Ok(blocks.within(join, found)?.compared()),
            Self::Dense => DenseJoin::new(space).within(join, found).map(|()| all),
            Self::BruteForce => brute_force(space, join, found).map(|()| all),
        }
    }

    /// The closest of each item of the space.
    ///
    /// # Errors
    /// When none are asked for, or it was stopped.
    pub fn closest(&self, space: &VectorSpace, top: &TopQuery) -> Result<Vec<ClosePair>> {
        match self {
            Self::Blocks(blocks) => Ok(blocks.closest(top)?.0),
            Self::Dense => DenseJoin::new(space).closest(top),
            Self::BruteForce => top::brute_force(space, top),
        }
    }
}

impl Blocks<'_> {
    /// What [`within`](Self::within) will count and take.
    pub fn estimate(&self, join: &JoinQuery) -> JoinEstimate {
        let sides = self.sides(join.split);
        // Nothing fails where no pair is kept.
        self.tried(|block| self.join_block(block, join, sides, &|_| Ok(())).unwrap_or_default())
    }

    /// What [`closest`](Self::closest) will count and take.
    pub fn estimate_closest(&self, top: &TopQuery) -> JoinEstimate {
        self.tried(|block| self.closest_of(block, top).1)
    }

    fn tried(&self, count: impl Fn(usize) -> BlockCounts + Sync) -> JoinEstimate {
        let dimension = self.space().vectors().dimension();
        let places = spread(self.count(), TRIED);
        let (mut counts, mut tried) = (BlockCounts::default(), 0);
        for places in places.chunks(TOGETHER) {
            let more = places.par_iter().map(|&block| count(block));
            counts = more.collect::<Vec<_>>().into_iter().fold(counts, BlockCounts::and);
            tried += places.len();
            if seconds(&counts, dimension) > ENOUGH {
                break;
            }
        }
        let counts = counts.times(self.count() as f64 / tried.max(1) as f64);
        JoinEstimate { counts, seconds: seconds(&counts, dimension) }
    }
}

/// Up to `most` of `count` places, in an order in which any first few are spread evenly: the first blocks of a self-join
/// meet more others than its last.
fn spread(count: usize, most: usize) -> Vec<usize> {
    // Halves, quarters, eighths, …: the bits of the number in reverse (van der Corput 1935).
    let share = |at: usize| (at as u32).reverse_bits() as f64 / 2f64.powi(32);
    let middle = 0.5 / most as f64;
    let mut places: Vec<usize> = Vec::new();
    for at in 0..most {
        let place = ((share(at) + middle) * count as f64) as usize;
        if place < count && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn seconds(counts: &BlockCounts, dimension: usize) -> f64 {
    let of = |[once, each]: [f64; 2]| once + each * dimension as f64;
    let later = counts.near.iter().zip(cost::NEAR).map(|(&pairs, cost)| pairs as f64 * cost);
    let all = counts.boxes as f64 * cost::BOX
        + counts.tiles as f64 * cost::TILE
        + later.sum::<f64>()
        + counts.compared() as f64 * of(cost::COMPARED)
        + counts.found as f64 * of(cost::FOUND);
    1e-9 * all
}

/// How all pairs are compared, and the seconds that takes on one core.
fn all_pairs(space: &VectorSpace, pairs: f64) -> (VectorJoin<'static>, f64) {
    let components = 1e-9 * pairs * space.vectors().dimension() as f64;
    match space.measure() {
        VectorMeasure::L2 | VectorMeasure::Cosine | VectorMeasure::Angle => {
            (VectorJoin::Dense, components * cost::DENSE)
        }
        VectorMeasure::Lr(r) => {
            let [whole, other] = cost::POWER;
            let power = if r.fract() == 0.0 { whole } else { other };
            (VectorJoin::BruteForce, components * power)
        }
        _ => (VectorJoin::BruteForce, components * cost::SINGLE),
    }
}

/// Blocks, where they are cheaper than comparing all.
fn cheapest<'a>(
    space: &'a VectorSpace<'a>,
    pairs: f64,
    estimate: impl Fn(&Blocks) -> JoinEstimate,
) -> (VectorJoin<'a>, f64) {
    let (way, all) = all_pairs(space, pairs);
    let build = 1e-9 * space.vectors().values().len() as f64 * cost::BUILD;
    if space.len() < FEW || all < build {
        return (way, all);
    }
    let blocks = Blocks::new(space);
    let seconds = estimate(&blocks).seconds;
    if seconds < all { (VectorJoin::Blocks(blocks.into()), build + seconds) } else { (way, all) }
}

/// The cheapest complete way to the pairs that reach a limit, and the seconds that it takes on one core.
pub fn prepare<'a>(space: &'a VectorSpace<'a>, join: &JoinQuery) -> (VectorJoin<'a>, f64) {
    cheapest(space, pairs_of(space.len(), join.split), |blocks| blocks.estimate(join))
}

/// The cheapest complete way to the closest of each item, and the seconds that it takes on one core.
pub fn prepare_closest<'a>(space: &'a VectorSpace<'a>, top: &TopQuery) -> (VectorJoin<'a>, f64) {
    let pairs = space.len() as f64 * top.asking(space.len()).len() as f64;
    cheapest(space, pairs, |blocks| blocks.estimate_closest(top))
}
