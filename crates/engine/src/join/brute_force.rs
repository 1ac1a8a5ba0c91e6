//! Compares every pair. This is quadratic and complete, and what every other way is tested against.

use rayon::prelude::*;

use super::{go_on, sorted};
use crate::Result;
use crate::space::{ClosePair, JoinQuery, Space};

/// Items that are compared with the same number of others at a time, so that both stay in a cache.
const PORTION: u32 = 64;

/// Every pair that reaches the limit, sorted.
///
/// # Errors
/// When it was stopped.
pub fn brute_force(space: &impl Space, join: &JoinQuery) -> Result<Vec<ClosePair>> {
    let items = space.len() as u32;
    let firsts = join.split.unwrap_or(items).min(items);
    let portions = (0..firsts).step_by(PORTION as usize).collect::<Vec<_>>();
    let parts = portions.into_par_iter().map(|from| {
        go_on(join.stopped)?;
        let to = (from + PORTION).min(firsts);
        Ok(portion(space, join, from..to, if join.split.is_some() { firsts } else { from }))
    });
    Ok(sorted(parts.collect::<Result<_>>()?))
}

/// Pairs of the `firsts` with later items, from `others` on.
fn portion(
    space: &impl Space,
    join: &JoinQuery,
    firsts: std::ops::Range<u32>,
    others: u32,
) -> Vec<ClosePair> {
    let mut found = Vec::new();
    for others in (others..space.len() as u32).step_by(PORTION as usize) {
        let end = others.saturating_add(PORTION).min(space.len() as u32);
        for a in firsts.clone() {
            for b in others.max(a + 1)..end {
                let value = space.reaching(a, b, join.limit);
                found.extend(value.map(|value| ClosePair { a, b, value }));
            }
        }
    }
    found
}

/// Every pair of `items` items, in order.
pub fn every_pair(items: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..items).flat_map(move |a| (a + 1..items).map(move |b| (a, b)))
}
