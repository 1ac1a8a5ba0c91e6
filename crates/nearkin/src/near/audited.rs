//! How much of what is close to some items did tables find?
//!
//! Items are drawn at random, with a seed that the search does not use, and compared with all others.

use rayon::prelude::*;

use super::Search;
use super::ways::Ways;
use crate::audit::Audit;
use crate::candidates::copies::Copies;
use crate::family::hash::mix64;
use crate::space::Found;
use crate::{Error, Result};

const SEED: u64 = 0xa0d1_7000_5b5e_7e5d;

/// The share of an expected time that is spent unasked, and the items that are drawn then, at least and at most.
const SHARE: f64 = 0.05;
const LEAST: f64 = 10.0;
const MOST: f64 = 400.0;

/// Audits the pairs of distinct items that were found, sorted; `seconds` is what finding them was expected to take.
pub(super) fn audit<S: Ways>(
    space: &S,
    copies: &Copies,
    search: &Search<'_>,
    found: &[Found],
    seconds: f64,
) -> Result<Option<Audit>> {
    let each = 1e-9 * space.costs().1 * space.len() as f64;
    let unasked = (SHARE * seconds / each.max(1e-12)).clamp(LEAST, MOST) as usize;
    // With two collections, every pair has one item of the first.
    let items = search.split.unwrap_or(copies.items() as u32);
    let mut drawn: Vec<(u64, u32)> = (0..items).map(|at| (mix64(at.into(), SEED), at)).collect();
    let count = search.audit.unwrap_or(unasked).min(drawn.len());
    if count == 0 {
        return Ok(None);
    }
    drawn.sort_unstable();
    let truths: Vec<Vec<(f64, bool, u64)>> = drawn[..count]
        .par_iter()
        .map(|&(_, item)| match (search.stopped)() {
            true => Err(Error::Interrupted),
            false => Ok(truth(space, copies, search, found, item)),
        })
        .collect::<Result<_>>()?;
    // Distances have no bands of similarity: all count as one.
    let mut audit = Audit::new(1.0, items.into());
    truths.into_iter().for_each(|truth| audit.item_with_copies(truth.into_iter()));
    Ok(Some(audit))
}

/// What is close to an item: whether that was found, and how many copies it has.
fn truth<S: Ways>(
    space: &S,
    copies: &Copies,
    search: &Search<'_>,
    found: &[Found],
    item: u32,
) -> Vec<(f64, bool, u64)> {
    let own = copies.group_of(item);
    let paired = |group: u32| {
        let members = copies.members(group);
        let from = search.split.map_or(0, |split| members.partition_point(|&at| at < split));
        (members.len() - from - usize::from(search.split.is_none() && group == own)) as u64
    };
    let is_found = |group: u32| {
        let pair = (own.min(group), own.max(group));
        group == own || found.binary_search_by_key(&pair, |found| (found.a, found.b)).is_ok()
    };
    (0..copies.len() as u32)
        .filter(|&group| paired(group) > 0 && space.reaching(own, group, search.limit).is_some())
        .map(|group| (1.0, is_found(group), paired(group)))
        .collect()
}
