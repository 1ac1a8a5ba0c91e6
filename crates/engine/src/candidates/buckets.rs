//! Who shares a key, by one sort: for all items of a collection at once.

use nearkin_kernels::sort_by_high_half;

/// Appends the buckets that hold several items, each after its length. Entries have the last 32 bits of a key in their high
/// half and an item in their low half; an item may come twice.
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
