//! Copies are found by their fingerprints, and ids that come twice by their hashes. Then the texts and the ids themselves
//! are compared: nothing is removed because of a hash alone.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use crate::error::{Error, Problem, Result};
use crate::item::{ChunkNumber, Item, Source};
use crate::matches::Collection;
use crate::parallel::in_lanes;
use crate::settings::Goal;
use crate::spill::{Cache, Lists, Partitions};

use super::DiskRun;

/// Ends the run at an id that was there before, or leaves such records out; then numbers the groups of
/// items with the same text.
pub(super) fn fold<S: Source>(
    run: &DiskRun<'_, S>,
    collection: &mut Collection,
    prints: &Partitions<3>,
    ids: &Partitions<3>,
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
    let mut repeats = with_equal_ids(collection, repeats)?;
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
    // To read them again takes 17 of 200 ms for the licence texts. A run that only lists pairs removes
    // nothing, so 128 bits are enough.
    if run.goal == Goal::Groups {
        check_texts(run, collection, &same)?;
    }
    collection.fold(same);
    Ok(())
}

/// Those of the records with the same hash of an id that have the same id.
fn with_equal_ids(collection: &Collection, repeats: Vec<(u32, u32)>) -> Result<Vec<(u32, u32)>> {
    let mut ids = collection.ids();
    let mut equal = Vec::with_capacity(repeats.len());
    for (first, own) in repeats {
        if ids.get(first)? == ids.get(own)? {
            equal.push((first, own));
        }
    }
    Ok(equal)
}

/// Reads the copies and their firsts again and compares them byte by byte.
///
/// Nobody is known to be able to make two texts with one fingerprint, and chance does not. So that two differ is an error,
/// which another seed undoes.
fn check_texts<S: Source>(
    run: &DiskRun<'_, S>,
    collection: &Collection,
    same: &[(u32, u32)],
) -> Result<()> {
    if same.is_empty() {
        return Ok(());
    }
    // Old items are not removed.
    let old = collection.old_records();
    let mut copies: Vec<(u32, u32)> = same.iter().copied().filter(|&(_, own)| own >= old).collect();
    copies.sort_unstable_by_key(|&(_, own)| own);
    let mut firsts: Vec<u32> = copies.iter().map(|&(first, _)| first).collect();
    firsts.sort_unstable();
    firsts.dedup();
    let is_first = |position: u32| firsts.binary_search(&position).is_ok();
    let copy = |position: u32| copies.binary_search_by_key(&position, |&(_, own)| own).ok();
    let wanted_among = |positions: Range<u32>| {
        let upto = |end| {
            firsts.partition_point(|&first| first < end)
                + copies.partition_point(|&(_, own)| own < end)
        };
        upto(positions.end) - upto(positions.start)
    };
    // The texts of firsts, in their order. Those beyond the share of memory wait on disk.
    let mut texts: Lists<u8> = Lists::new(run.budget.share(1), &run.budget.temp);
    let mut cache = Cache::one();
    for (input, source) in run.sources.iter().enumerate() {
        let read = |chunk| {
            let number = source.place(&chunk).0;
            let positions = collection.chunk(input, number);
            let start = positions.start;
            let wanted = wanted_among(positions);
            if wanted == 0 {
                return Ok((number, PathBuf::new(), Vec::new())); // a chunk that could not be left out
            }
            let is_wanted =
                |ordinal: u32| is_first(start + ordinal) || copy(start + ordinal).is_some();
            let batch = source.decode(&chunk, &is_wanted)?;
            let items = batch.items.iter().enumerate().filter(|(_, item)| is_wanted(item.ordinal));
            let texts: Vec<(u32, u64, String)> = items
                .map(|(i, item)| (start + item.ordinal, item.line, batch.text(i).to_owned()))
                .collect();
            match texts.len() == wanted {
                true => Ok((number, batch.path.clone(), texts)),
                false => Err(changed(batch.path.clone())),
            }
        };
        in_lanes(
            run.settings().threads,
            run.lane_room(),
            source.lanes(&|number| wanted_among(collection.chunk(input, number)) == 0),
            read,
            |(_, _, texts)| texts.iter().map(|(_, _, text)| text.len() + 32).sum(),
            |(number, path, read)| {
                run.search.go_on()?;
                for (position, line, text) in read {
                    let Some(at) = copy(position) else {
                        texts.push(&[text.as_bytes()])?;
                        continue;
                    };
                    let first = firsts.partition_point(|&first| first < copies[at].0);
                    if texts.get(first, &mut cache)? != text.as_bytes() {
                        let line = line + source.lines_before(number)?;
                        return Err(Error::input(&path, line, Problem::equal_fingerprints()));
                    }
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}

/// Every wanted entry with the hash of one before it: the position of the first with that hash, and its own.
fn copies_among(
    entries: &Partitions<3>,
    threads: usize,
    is_wanted: &(dyn Fn(u32) -> bool + Sync),
) -> Result<Vec<(u32, u32)>> {
    let find = |_, mut entries: Vec<[u64; 3]>, found: &mut Vec<(u32, u32)>| {
        entries.retain(|entry| is_wanted(entry[2] as u32));
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
fn copies(entries: &[[u64; 3]], copies: &mut Vec<(u32, u32)>) {
    let same = |a: &[u64; 3], b: &[u64; 3]| a[..2] == b[..2];
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
                copies.push((entries[first][2] as u32, entry[2] as u32));
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
    let chunks: Vec<(usize, ChunkNumber)> =
        positions.iter().map(|&position| collection.chunk_of(position)).collect();
    for (input, source) in sources.iter().enumerate() {
        if !chunks.iter().any(|chunk| chunk.0 == input) {
            continue;
        }
        for chunk in source.scan(&|number| !chunks.contains(&(input, number))) {
            let chunk = chunk?;
            let number = source.place(&chunk).0;
            let start = collection.chunk(input, number).start;
            let wanted = |ordinal: u32| positions.contains(&(start + ordinal));
            let batch = source.decode(&chunk, &wanted)?;
            let before = source.lines_before(number)?;
            let place = |item: &Item| {
                let line = item.line + before;
                Some((start + item.ordinal, (batch.path.clone(), line, item.id.clone()?)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Id;
    use crate::matches::{ItemFacts, TextShape};
    use crate::spill::Temp;

    #[test]
    fn ids_with_one_hash_are_repeated_only_if_they_are_the_same() {
        let mut collection = Collection::new(1 << 20, &Temp::passing(std::env::temp_dir()));
        collection.begin_input();
        collection.begin_chunk(ChunkNumber::of_one(0), 5).unwrap();
        let ids = [Id::Int(7), Id::Text("7".into()), Id::Int(7), Id::Int(8), Id::Text("7".into())];
        for (position, id) in (0..).zip(ids) {
            let facts = ItemFacts { id: Some(id), shape: TextShape::Long, ..ItemFacts::default() };
            collection.put(position, &facts).unwrap();
        }
        collection.finish().unwrap();
        let told = vec![(0, 1), (0, 2), (0, 3), (1, 4)];
        assert_eq!(with_equal_ids(&collection, told).unwrap(), [(0, 2), (1, 4)]);
    }

    #[test]
    fn hashes_that_agree_in_96_bits_are_not_the_same() {
        let entries =
            [[1, 2 << 32, 0], [1, 2 << 32 | 1, 1], [1, 2 << 32, 2], [1 << 63, 2 << 32, 3]];
        let mut found = Vec::new();
        copies(&entries, &mut found);
        assert_eq!(found, [(0, 2)]);
    }
}
