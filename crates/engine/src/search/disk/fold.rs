//! Copies are found by their fingerprints, and ids that come twice by their hashes.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::error::{Error, Problem, Result};
use crate::item::{Item, Source};
use crate::matches::Collection;
use crate::spill::Partitions;

use super::DiskRun;

/// Ends the run at an id that was there before, or leaves such records out; then numbers the groups of
/// items with the same text.
pub(super) fn fold<S: Source>(
    run: &DiskRun<'_, S>,
    collection: &mut Collection,
    prints: &Partitions<2>,
    ids: &Partitions<2>,
) -> Result<()> {
    let settings = run.settings();
    let skip = settings.skip_duplicate_ids;
    let threads = settings.threads;
    let (repeats, same) = match skip {
        // Which texts count is known only when it is known what is left out.
        true => (copies_among(ids, threads, &|_| true)?, None),
        false => {
            let all = |entries| copies_among(entries, threads, &|_| true);
            let (repeats, same) = rayon::join(|| all(ids), || all(prints));
            (repeats?, Some(same?))
        }
    };
    let mut repeats: Vec<(u32, u32)> = repeats;
    repeats.sort_unstable_by_key(|&(_, position)| position);
    let told = if skip { Collection::MESSAGES } else { 1 };
    for error in repeated_ids(run.sources, collection, &repeats[..repeats.len().min(told)])? {
        if !skip {
            return Err(error);
        }
        collection.skip(error);
    }
    repeats.iter().for_each(|&(_, position)| collection.remove(position));
    let same = match same {
        Some(same) => same,
        None => copies_among(prints, threads, &|position| collection.is_item(position))?,
    };
    collection.fold(same);
    Ok(())
}

/// Every wanted entry with the hash of one before it: the position of the first with that hash, and its own.
fn copies_among(
    entries: &Partitions<2>,
    threads: usize,
    is_wanted: &(dyn Fn(u32) -> bool + Sync),
) -> Result<Vec<(u32, u32)>> {
    let find = |_, mut entries: Vec<[u64; 2]>, found: &mut Vec<(u32, u32)>| {
        entries.retain(|entry| is_wanted(entry[1] as u32));
        copies(&entries, found);
        Ok(())
    };
    let mut all = Vec::new();
    match entries.all_if_few() {
        Some(entries) => find(0, entries, &mut all)?,
        None => entries.each(threads, find, |some| {
            all.extend(some);
            Ok(())
        })?,
    }
    Ok(all)
}

/// Appends, of entries with the same hash, which come by position, the first's position with every other's.
fn copies(entries: &[[u64; 2]], copies: &mut Vec<(u32, u32)>) {
    let same = |a: &[u64; 2], b: &[u64; 2]| a[0] == b[0] && a[1] >> 32 == b[1] >> 32;
    // Which is the first with a hash, counted from 1: in the slot that the hash names, or behind it.
    let mut firsts = vec![0u32; (2 * entries.len()).next_power_of_two()];
    for (entry, number) in entries.iter().zip(1..) {
        let mut slot = entry[0] as usize & (firsts.len() - 1);
        loop {
            let Some(first) = (firsts[slot] as usize).checked_sub(1) else {
                firsts[slot] = number;
                break;
            };
            if same(&entries[first], entry) {
                copies.push((entries[first][1] as u32, entry[1] as u32));
                break;
            }
            slot = (slot + 1) & (firsts.len() - 1);
        }
    }
}

/// The messages for records whose ids were there before, each with the first one: both are read again for their lines.
fn repeated_ids<S: Source>(
    sources: &[&S],
    collection: &Collection,
    repeats: &[(u32, u32)],
) -> Result<Vec<Error>> {
    let positions: Vec<u32> = repeats.iter().flat_map(|&(first, own)| [first, own]).collect();
    let mut found = HashMap::new();
    let chunks: Vec<(usize, usize)> =
        positions.iter().map(|&position| collection.chunk_of(position)).collect();
    for (input, source) in sources.iter().enumerate() {
        if !chunks.iter().any(|chunk| chunk.0 == input) {
            continue;
        }
        for chunk in source.scan(&|number| !chunks.contains(&(input, number)))? {
            let chunk = chunk?;
            let start = collection.chunk(input, source.place(&chunk).0).start;
            let wanted = |ordinal: u32| positions.contains(&(start + ordinal));
            let batch = source.decode(&chunk, &wanted)?;
            let place = |item: &Item| {
                Some((start + item.ordinal, (batch.path.clone(), item.line, item.id.clone()?)))
            };
            found.extend(batch.items.iter().filter_map(place));
        }
    }
    let error = |&(first, own): &(u32, u32)| {
        let ((first, at, _), (path, line, id)) = (found.get(&first)?, found.get(&own)?);
        Some(Error::input(path, *line, Problem::repeated_id(id, (first, *at))))
    };
    let errors: Option<Vec<Error>> = repeats.iter().map(error).collect();
    errors.ok_or_else(|| changed(PathBuf::from("input")))
}

pub(super) fn changed(path: PathBuf) -> Error {
    Error::file(path, "changed while it was being read; run again")
}
