//! The second pass over the input: the records of candidates that the first pass did not keep are read again.

use std::sync::{Mutex, PoisonError};

use crate::Result;
use crate::candidates::element_record::RecordLayout;
use crate::item::{Batch, Source};
use crate::matches::{Collection, NOWHERE};
use crate::parallel::in_any_lane;
use crate::search::job::RECORDS;
use crate::spill::{Budget, Lists};

use super::DiskRun;
use super::buffers::with_buffers;
use super::candidate_store::{CandidateStore, Heads};
use super::fold::changed;
use super::record_cache::{Need, RecordCache, RecordPiece};

/// The second pass: the records of the groups that are `wanted`, and where each group's is. Those that were
/// `kept` from the first pass need not be read again.
pub(super) fn load<S: Source>(
    run: &DiskRun<'_, S>,
    collection: &Collection,
    mut wanted: Vec<Need>,
    kept: RecordCache,
    kept_places: &[(u32, u32)],
) -> Result<CandidateStore> {
    let DiskRun { sources, search, budget, layout, .. } = run;
    let (settings, layout) = (search.settings, *layout);
    let mut places = vec![NOWHERE; wanted.len()];
    let mut records = Lists::new(budget.share(4), &budget.temp).named(RECORDS);
    kept.hand_over(kept_places, &wanted, layout, &mut records, &mut places);
    for (wanted, _) in wanted.iter_mut().zip(&places).filter(|(_, place)| **place != NOWHERE) {
        *wanted = Need::Nothing;
    }
    let is_wanted = |position: u32| {
        let group = collection.group_of(position);
        group.is_some_and(|group| {
            wanted[group as usize] != Need::Nothing && collection.copies().first(group) == position
        })
    };
    if !(0..collection.records()).any(is_wanted) {
        let heads = Heads::from(records.len(), budget);
        return Ok(CandidateStore::new(records, heads, places, layout));
    }
    let mut heads = heads_of_kept(&records, layout, budget)?;
    let count = wanted.iter().filter(|&&need| need != Need::Nothing).count() as u64;
    let (mut watch, mut words) = (budget.watch(count, 4), 0);
    for (input, source) in sources.iter().enumerate() {
        let skip = |number| !collection.chunk(input, number).any(is_wanted);
        // Records may lie in any order. In that of the input, most files would wait for the first: there is not much room for
        // what was read too early.
        let state = Mutex::new((&mut records, &mut heads, &mut places, &mut watch, &mut words));
        in_any_lane(settings.threads, run.lane_room().lanes, source.lanes(&skip), |chunk| {
            let (number, bytes) = source.place(&chunk);
            let range = collection.chunk(input, number);
            let batch = source.decode(&chunk, &|ordinal| is_wanted(range.start + ordinal))?;
            let expected = range.clone().filter(|&position| is_wanted(position)).count();
            if batch.items.len() != expected {
                return Err(changed(batch.path));
            }
            let own = records_of(run, &batch);
            search.go_on()?;
            search.observer.advance(bytes);
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let (records, heads, places, watch, words) = &mut *state;
            **words += own.words.len() as u64;
            watch.done(batch.items.len() as u64, || 8 * **words)?;
            for (i, item) in batch.items.iter().enumerate() {
                let group = collection.group_of(range.start + item.ordinal);
                let group = group.expect("a wanted item has a group");
                places[group as usize] = (records.len() + i) as u32;
                heads.push(layout.head_of(own.get(i)))?;
            }
            records.append(own.into_lists())
        })?;
    }
    Ok(CandidateStore::new(records, heads, places, layout))
}

/// The heads of records from the first pass, if these will last: such records are all brought to the disk in the end.
fn heads_of_kept(records: &Lists<u64>, layout: RecordLayout, budget: &Budget) -> Result<Heads> {
    let adopted = if budget.temp.is_lasting() { records.len() } else { 0 };
    let mut heads = Heads::from(records.len() - adopted, budget);
    for place in 0..adopted {
        let record = records.in_memory(place).expect("what was kept is in memory");
        heads.push(layout.head_of(record))?;
    }
    Ok(heads)
}

/// The records of a batch's texts.
fn records_of<S: Source>(run: &DiskRun<'_, S>, batch: &Batch<'_>) -> RecordPiece {
    let mut records = RecordPiece::default();
    let mut keys = Vec::new();
    let layout = run.layout;
    with_buffers(|buffers| {
        for i in 0..batch.items.len() {
            buffers.take(batch.text(i), run.settings());
            let start = records.words.len();
            let (elements, sketch) = buffers.parts();
            layout.append(elements, &mut records.words);
            if let Some(banding) = &run.banding {
                keys.clear();
                banding.keys(elements, sketch, &mut keys);
                layout.put_head(&keys, sketch, &mut records.words[start..]);
            }
            let length = layout.finish(&mut records.words[start..]);
            records.words.truncate(start + length);
            records.end();
        }
    });
    records.words.shrink_to_fit();
    records
}
