//! Sketches of texts whose elements are all in memory, made when it is decided that bands are used.

use crate::Result;
use crate::audit::capture::Capture;
use crate::candidates::{KEY_PARTS, partition_of_key};
use crate::item::Source;
use crate::matches::Collection;
use crate::parallel::in_order;
use crate::spill::{Block, Partitions};

use super::DiskRun;
use super::audit_sample::captured_block;
use super::buffers::with_buffers;
use super::record_cache::RecordCache;

/// Sketches the texts that were kept without a sketch, one of each group, and hands over their keys, and those of
/// the elements that are kept for the audit.
pub(super) fn sketch_cached<S: Source>(
    run: &DiskRun<'_, S>,
    cache: &mut RecordCache,
    places: &[(u32, u32)],
    collection: &Collection,
    capture: Option<Capture>,
    (keys, captured): (&mut Partitions<1>, &mut Partitions<1>),
) -> Result<()> {
    let Some(banding) = &run.banding else { return Ok(()) };
    let mut records = cache.records_mut(0..collection.groups(), places);
    let sketch = |records: &mut [(u32, &mut [u64])]| {
        run.search.go_on()?;
        let (mut own, mut kept) = (Vec::new(), Vec::new());
        let mut entries = Vec::with_capacity(records.len() * run.tables());
        with_buffers(|buffers| {
            for (group, record) in records {
                own.clear();
                let elements = run.layout.elements(record);
                banding.keys(elements, &mut buffers.sketch, &mut own);
                run.layout.put_head(&own, &buffers.sketch, record);
                let position = u64::from(collection.copies().first(*group));
                entries.extend(own.iter().enumerate().map(|(table, &key)| {
                    (partition_of_key(table, key) as u32, [key << 32 | position])
                }));
                if let Some(capture) = capture {
                    own.clear();
                    capture.keys(run.layout.elements(record), &mut buffers.capture, &mut own);
                    kept.extend(own.iter().map(|&key| (key, position)));
                }
            }
        });
        let entries = entries.iter().map(|&(partition, entry)| (partition as usize, entry));
        let kept = captured_block(capture, kept.iter().copied());
        Ok((Block::new(run.tables() * KEY_PARTS, entries), kept))
    };
    let portions = RecordPortions::of(&mut records, run.settings().threads);
    in_order(run.settings().threads, portions.map(Ok), sketch, |(block, kept)| {
        keys.push(block)?;
        captured.push(kept)
    })
}

/// Records to be worked on together. Portions are large at first, because each has a cost of its own, and smaller towards
/// the end, where threads wait for each other.
struct RecordPortions<'a, 'b> {
    rest: &'a mut [(u32, &'b mut [u64])],
    /// The words of all that is left.
    words: usize,
    threads: usize,
}

impl<'a, 'b> RecordPortions<'a, 'b> {
    fn of(records: &'a mut [(u32, &'b mut [u64])], threads: usize) -> Self {
        let words = records.iter().map(|(_, record)| record.len()).sum();
        Self { rest: records, words, threads }
    }
}

impl<'a, 'b> Iterator for RecordPortions<'a, 'b> {
    type Item = &'a mut [(u32, &'b mut [u64])];

    fn next(&mut self) -> Option<Self::Item> {
        const RECORDS: usize = 1 << 10;
        const WORDS: usize = 1 << 15;
        let enough = (self.words / (8 * self.threads.max(1))).max(WORDS);
        let mut words = 0;
        let fits = |(_, record): &&(u32, &mut [u64])| {
            let fits = words < enough;
            words += if fits { record.len() } else { 0 };
            fits
        };
        let count = self.rest.iter().take(RECORDS).take_while(fits).count();
        self.words -= words;
        let (portion, rest) = std::mem::take(&mut self.rest).split_at_mut(count);
        self.rest = rest;
        (count > 0).then_some(portion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_have_every_record_once_and_get_smaller() {
        let lengths = (0..20_000).map(|i| if i == 7 { 5_000_000 } else { i % 500 });
        let mut words: Vec<Vec<u64>> = lengths.map(|length| vec![0; length]).collect();
        for threads in [0, 1, 2, 16] {
            let mut records: Vec<(u32, &mut [u64])> =
                (0u32..).zip(words.iter_mut().map(Vec::as_mut_slice)).collect();
            let mut next = 0;
            let mut sizes = Vec::new();
            for portion in RecordPortions::of(&mut records, threads) {
                assert!(
                    portion.iter().map(|record| record.0).eq(next..next + portion.len() as u32)
                );
                next += portion.len() as u32;
                sizes.push(portion.iter().map(|record| record.1.len()).sum::<usize>());
            }
            assert_eq!(next, 20_000);
            // The last thread to finish has no more than this to do when the others have nothing left.
            assert!(sizes.iter().rev().take(threads).all(|&size| size < 1 << 16), "{sizes:?}");
        }
    }
}
