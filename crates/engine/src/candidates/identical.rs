//! Identical items (Mining of Massive Datasets, 3.9.1).
//!
//! A collection that is read from files is folded by [`fingerprint`], since every byte is read anyway, and what has the same
//! is compared. For items in memory, [`groups`] looks at a few fixed random positions first and reads whole contents only where
//! these agree.

use std::collections::HashMap;
use std::hash::Hash;

use nearkin_kernels::HashKey;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Positions that are looked at before the whole content.
const POSITIONS: usize = 16;

/// The hash of a whole content: different contents share one with probability 2⁻¹²⁸, and nobody can make such contents.
pub fn fingerprint(key: &HashKey, content: &[u8]) -> u128 {
    nearkin_kernels::fingerprint(key, content)
}

/// The hash of the length and of the bytes at a few positions, fixed for each length.
///
/// The positions are drawn at random, because documents of one source often share their beginning
/// and their end.
pub fn glance(content: &[u8]) -> u64 {
    let mut hasher = Xxh3Default::new();
    hasher.update(&content.len().to_le_bytes());
    if !content.is_empty() {
        let mut draw = content.len() as u64;
        for _ in 0..POSITIONS {
            draw = xxh3_64(&draw.to_le_bytes());
            hasher.update(&[content[(draw % content.len() as u64) as usize]]);
        }
    }
    hasher.digest()
}

/// Groups of identical items, each in ascending order, ordered by their first; and how many contents
/// were read as a whole.
pub fn groups<T: AsRef<[u8]>>(items: &[T]) -> (Vec<Vec<usize>>, usize) {
    let glanced = group_by(0..items.len(), |i| glance(items[i].as_ref()));
    let doubtful: Vec<usize> =
        glanced.into_iter().filter(|group| group.len() > 1).flatten().collect();
    let read = doubtful.len();
    let mut same = group_by(doubtful, |i| items[i].as_ref());
    same.retain(|group| group.len() > 1);
    same.sort_unstable_by_key(|group| group[0]);
    (same, read)
}

fn group_by<K: Eq + Hash>(
    items: impl IntoIterator<Item = usize>,
    key: impl Fn(usize) -> K,
) -> Vec<Vec<usize>> {
    let mut groups: HashMap<K, Vec<usize>> = HashMap::new();
    for item in items {
        groups.entry(key(item)).or_default().push(item);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_unstable_by_key(|group| group[0]);
    groups
}
