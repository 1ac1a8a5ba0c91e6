//! Here are your keys: who shares one?
//!
//! A candidate source gives every item bucket keys, one a table; items that share a key in some table
//! are candidates. [`bands`] makes keys from sketches, [`buckets`] finds by sorting who shares one.
//! [`cascade`] runs any expression of AND and OR over any families, [`probed`] plain tables into which it looks several
//! times. [`brute_force`] is the oracle that compares everything with everything.

pub mod bands;
pub mod brute_force;
pub mod bucket_table;
pub mod cascade;
pub(crate) mod element_record;
pub mod identical;
pub mod probed;
mod text_elements;

pub(crate) use text_elements::{ElementBuffers, GIANT, sort_elements, with_element_buffers};

use nearkin_kernels::sort_by_high_half;

/// Bits of a key. Of a billion items, some four million pairs share a key of a table by accident.
pub const KEY_BITS: u32 = 37;

/// Parts into which the keys of a table fall by their first bits.
pub const KEY_PARTS: usize = 1 << (KEY_BITS - 32);

/// The part of all keys in which a key of a table is: with it, the key's last 32 bits say all.
pub fn partition_of_key(table: usize, key: u64) -> usize {
    table * KEY_PARTS + (key >> 32) as usize
}

/// Appends the buckets that hold several items, each after its length: entries have the last 32 bits of a key in
/// their high half and an item in their low half; an item may come twice.
pub fn buckets(mut entries: Vec<u64>, buckets: &mut Vec<u32>) {
    sort_by_high_half(&mut entries, &mut Vec::new());
    for run in entries.chunk_by(|a, b| a >> 32 == b >> 32).filter(|run| run.len() > 1) {
        let start = buckets.len();
        buckets.push(0);
        buckets.extend(run.iter().map(|&entry| entry as u32));
        if !buckets[start + 1..].is_sorted_by(|a, b| a < b) {
            let mut members = buckets.split_off(start + 1);
            members.sort_unstable();
            members.dedup();
            buckets.extend(members);
        }
        match buckets.len() - start - 1 {
            1 => buckets.truncate(start),
            length => buckets[start] = length as u32,
        }
    }
}

/// The members of each bucket that [`buckets`] found.
pub fn each_bucket(mut buckets: &[u32]) -> impl Iterator<Item = &[u32]> {
    std::iter::from_fn(move || {
        let (&length, rest) = buckets.split_first()?;
        let (members, rest) = rest.split_at(length as usize);
        buckets = rest;
        Some(members)
    })
}
