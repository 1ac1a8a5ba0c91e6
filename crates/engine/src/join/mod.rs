//! Which items are close, with nothing left out?
//!
//! | file | for | answers |
//! |---|---|---|
//! | [`brute_force()`] | any space | every close pair, by comparing all: the oracle, and what others fall back to |
//! | [`blocks`] | vectors | every close pair, most of the others ruled out by a few components |
//! | [`dense`] | vectors | every close pair, by comparing all, many at a time |
//! | [`bits`] | bit strings | every close pair, by counting bits, 64 strings at a time |
//! | [`sets`] | sets | every pair that shares enough, by an index of prefixes |
//! | [`bags`] | bags with counts | every pair that shares enough, by an index of prefixes whose unit is the count |
//! | [`counted()`] | signatures | every pair that agrees often enough, by sorting and counting |
//! | [`strings`] | strings | every pair within a few edits, by segments that edits leave alone |
//! | [`sparse`] | sparse vectors | every pair at a small angle, by the heads of vectors |
//! | [`estimate`] | vectors | which of these is the cheapest |
//! | [`top`] | all of these | the closest of each item |
//!
//! Joins hand pairs on while they find more ([`PairSink`](crate::space::PairSink)), in any order. The pairs are the same at
//! any number of threads.

pub mod bags;
mod basis;
pub mod bits;
pub mod blocks;
mod brute_force;
mod cells;
mod counted;
pub mod dense;
mod element_index;
mod equal_items;
pub mod estimate;
mod frame;
pub mod sets;
pub mod sparse;
pub mod strings;
pub mod top;

pub use blocks::{BlockCounts, Blocks};
pub use brute_force::{brute_force, every_pair};
pub use counted::counted;
pub use dense::DenseJoin;
pub(crate) use element_index::{ElementIndex, make_room};
pub use estimate::{JoinEstimate, VectorJoin, prepare, prepare_closest};
pub use top::TopQuery;

use crate::{Error, Result};

/// An error when the user asked to stop.
pub(crate) fn go_on(stopped: &(dyn Fn() -> bool + Sync)) -> Result<()> {
    if stopped() { Err(Error::Interrupted) } else { Ok(()) }
}

/// The number of pairs of `items` items, or of pairs across the split.
pub(crate) fn pairs_of(items: usize, split: Option<u32>) -> f64 {
    let items = items as f64;
    split.map_or(items * (items - 1.0).max(0.0) / 2.0, |split| {
        f64::from(split).min(items) * (items - f64::from(split)).max(0.0)
    })
}
