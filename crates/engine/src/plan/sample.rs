//! A random sample of a collection's texts.

use crate::Result;
use crate::family::hash::mix64;
use crate::item::{ChunkStarts, Source};

/// A sample, and how many records it was drawn from.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// The texts drawn, in random order.
    pub texts: Vec<String>,
    /// The position of each in the collection.
    pub positions: Vec<u64>,
    /// Records in the collection.
    pub records: u64,
    /// The position of each chunk's first record.
    pub(super) starts: ChunkStarts,
}

/// Draws up to `size` texts, each record with the same chance; the same ones for the same seed.
///
/// The first scan counts records, the second decodes those drawn.
pub fn sample<S: Source>(source: &S, size: usize, seed: u64) -> Result<Sample> {
    let mut starts = ChunkStarts::default();
    let mut records = 0u64;
    for chunk in source.scan(&|_| false) {
        let chunk = chunk?;
        starts.push(source.place(&chunk).0, records);
        records += u64::from(source.decode(&chunk, &|_| false)?.records);
    }
    let mut drawn: Vec<(u64, u64)> = (0..records).map(|at| (mix64(at, seed), at)).collect();
    if drawn.len() > size {
        drawn.select_nth_unstable(size);
        drawn.truncate(size);
    }
    let mut wanted: Vec<u64> = drawn.iter().map(|draw| draw.1).collect();
    wanted.sort_unstable();
    let mut texts = Vec::new();
    for chunk in source.scan(&|_| false) {
        let chunk = chunk?;
        let start = starts.start(source.place(&chunk).0).unwrap_or(records);
        let batch = source.decode(&chunk, &|ordinal| {
            wanted.binary_search(&(start + u64::from(ordinal))).is_ok()
        })?;
        for (i, item) in batch.items.iter().enumerate() {
            let at = start + u64::from(item.ordinal);
            texts.push((mix64(at, seed), at, batch.text(i).to_owned()));
        }
    }
    texts.sort_unstable();
    let positions = texts.iter().map(|text| text.1).collect();
    let texts = texts.into_iter().map(|text| text.2).collect();
    Ok(Sample { texts, positions, records, starts })
}
