//! Identical items are searched as one.

use std::borrow::Cow;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::ways::Ways;
use crate::Result;
use crate::candidates::copies::Copies;
use crate::item::{Bits, Sets, Vectors};
use crate::join::Top;
use crate::space::Found;

/// Which vectors are the same, in each collection on its own. Groups are numbered by their first item, so
/// that without copies a group is its item.
pub(super) fn vectors(vectors: &Vectors, split: Option<u32>) -> Copies {
    let bytes = |item| -> Vec<u8> {
        vectors.get(item).iter().flat_map(|value| value.to_bits().to_le_bytes()).collect()
    };
    let same = |a, b| {
        let pairs = vectors.get(a).iter().zip(vectors.get(b));
        pairs.map(|(x, y)| x.to_bits() ^ y.to_bits()).all(|differ| differ == 0)
    };
    fold(vectors.len(), split, |item| xxh3_64(&bytes(item)), same)
}

/// Which bit strings are the same.
pub(super) fn bits(bits: &Bits, split: Option<u32>) -> Copies {
    let bytes =
        |item| -> Vec<u8> { bits.get(item).iter().flat_map(|word| word.to_le_bytes()).collect() };
    fold(bits.len(), split, |item| xxh3_64(&bytes(item)), |a, b| bits.get(a) == bits.get(b))
}

/// Which sets are the same.
pub(super) fn sets(sets: &Sets, split: Option<u32>) -> Copies {
    let bytes = |item| -> Vec<u8> {
        sets.get(item).iter().flat_map(|element| element.to_le_bytes()).collect()
    };
    fold(sets.len(), split, |item| xxh3_64(&bytes(item)), |a, b| sets.get(a) == sets.get(b))
}

fn fold(
    items: usize,
    split: Option<u32>,
    hash: impl Fn(usize) -> u64 + Sync,
    same: impl Fn(usize, usize) -> bool,
) -> Copies {
    let second = |item: u32| split.is_some_and(|split| item >= split);
    let mut entries: Vec<(bool, u64, u32)> = (0..items as u32)
        .into_par_iter()
        .map(|item| (second(item), hash(item as usize), item))
        .collect();
    entries.par_sort_unstable();
    let mut first: Vec<u32> = (0..items as u32).collect();
    for run in entries.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        for entry in &run[1..] {
            // Different items with one hash stay apart, which costs nothing but time.
            if same(run[0].2 as usize, entry.2 as usize) {
                first[entry.2 as usize] = run[0].2;
            }
        }
    }
    let mut order: Vec<u32> = (0..items as u32).collect();
    order.par_sort_unstable_by_key(|&item| (first[item as usize], item));
    Copies::new(order, split, |a, b| first[a as usize] == first[b as usize])
}

/// One vector of each group.
pub(super) fn distinct_vectors<'a>(vectors: &'a Vectors, copies: &Copies) -> Cow<'a, Vectors> {
    match copies.len() == vectors.len() {
        true => Cow::Borrowed(vectors),
        false => Cow::Owned(vectors.select(firsts(copies))),
    }
}

/// One bit string of each group.
pub(super) fn distinct_bits<'a>(bits: &'a Bits, copies: &Copies) -> Cow<'a, Bits> {
    match copies.len() == bits.len() {
        true => Cow::Borrowed(bits),
        false => Cow::Owned(bits.select(firsts(copies))),
    }
}

/// One set of each group.
pub(super) fn distinct_sets<'a>(sets: &'a Sets, copies: &Copies) -> Cow<'a, Sets> {
    match copies.len() == sets.len() {
        true => Cow::Borrowed(sets),
        false => Cow::Owned(sets.select(firsts(copies))),
    }
}

fn firsts(copies: &Copies) -> impl Iterator<Item = usize> {
    (0..copies.len() as u32).map(|group| copies.first(group) as usize)
}

/// The group with which the second collection begins.
pub(super) fn split_of(copies: &Copies, split: Option<u32>) -> Option<u32> {
    let is_before = |group: &u32, split| copies.first(*group) < split;
    split.map(|split| {
        (0..copies.len() as u32).take_while(|group| is_before(group, split)).count() as u32
    })
}

/// The closest of each item, from the closest groups of each group.
///
/// No more groups than items are needed: of equally close groups those come first that have the first items.
pub(super) fn closest<S: Ways>(space: &S, copies: &Copies, wanted: &Top<'_>) -> Result<Vec<Found>> {
    let split = split_of(copies, wanted.split);
    let groups = space.closest(&Top { split, ..*wanted })?;
    if copies.len() == copies.items() {
        return Ok(groups);
    }
    let asking = wanted.split.unwrap_or(copies.items() as u32).min(copies.items() as u32);
    let rows = (0..asking).into_par_iter().flat_map_iter(|a| {
        let group = copies.group_of(a);
        let near = &groups[groups.partition_point(|found| found.a < group)..];
        let near = near.iter().take_while(|found| found.a == group);
        let own = wanted.split.is_none().then(|| (group, space.value(group, group)));
        let mut row: Vec<Found> = own
            .into_iter()
            .chain(near.map(|found| (found.b, found.value)))
            .flat_map(|(group, value)| {
                let others = copies.members(group).iter().filter(move |&&b| b != a);
                others.take(wanted.count).map(move |&b| Found { a, b, value })
            })
            .collect();
        row.sort_by(|x, y| space.form().order(x.value, y.value).then(x.b.cmp(&y.b)));
        row.truncate(wanted.count);
        row
    });
    Ok(rows.collect())
}
