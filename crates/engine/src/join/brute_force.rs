//! Compares every pair. This is quadratic and complete, and what every other way is tested against.

use rayon::prelude::*;

use super::go_on;
use crate::Result;
use crate::space::{ClosePair, JoinQuery, PairBuffer, PairSink, Space};

/// Items that are compared with the same number of others at a time, so that both stay in a cache.
const PORTION: u32 = 64;

/// Hands on every pair that reaches the limit.
///
/// # Errors
/// When it was stopped, or the sink fails.
pub fn brute_force(space: &impl Space, join: &JoinQuery, found: &PairSink<'_>) -> Result<()> {
    let items = space.len() as u32;
    let firsts = join.split.unwrap_or(items).min(items);
    let portions = (0..firsts).step_by(PORTION as usize).collect::<Vec<_>>();
    portions.into_par_iter().try_for_each(|from| {
        go_on(join.stopped)?;
        let to = (from + PORTION).min(firsts);
        let mut pairs = PairBuffer::new(found);
        let others = if join.split.is_some() { firsts } else { from };
        portion(space, join, from..to, others, &mut pairs);
        pairs.finish().map(drop)
    })
}

/// Pairs of the `firsts` with later items, from `others` on.
fn portion(
    space: &impl Space,
    join: &JoinQuery,
    firsts: std::ops::Range<u32>,
    others: u32,
    pairs: &mut PairBuffer<'_>,
) {
    for others in (others..space.len() as u32).step_by(PORTION as usize) {
        let end = others.saturating_add(PORTION).min(space.len() as u32);
        for a in firsts.clone() {
            for b in others.max(a + 1)..end {
                if let Some(value) = space.reaching(a, b, join.limit) {
                    pairs.push(ClosePair { a, b, value });
                }
            }
        }
    }
}

/// Every pair of `items` items, in order.
pub fn every_pair(items: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..items).flat_map(move |a| (a + 1..items).map(move |b| (a, b)))
}
