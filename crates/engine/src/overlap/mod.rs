//! Which training texts contain a stretch of a test item, word by word?
//!
//! Test items come in and are held in memory; training texts come in and are read once, in chunks on many threads. Out go the
//! texts that overlap with test items, with the longest stretches of words that stand in both and where they stand. Case,
//! punctuation, white space and line ends do not count: two stretches are equal if their words are equal one by one, as
//! shingles have them.
//!
//! Most texts cost the hashes of their stretches of N words and a look at a bitmap for each (`windows`). A text with a
//! stretch whose hash a test item has is looked at again: its words become numbers, equal ones the same, and stretches grow by
//! comparing these (`stretches`). So every reported stretch is there, and none is missed: equal words have equal hashes.
//!
//! A stretch that stands in many test items, such as a notice in each, names the first few of them for each text; that it
//! stands in others is counted. So the work for a word of training text is bounded, and so are the rows;
//! not where a share of a test item is asked for, as its stretches are then counted in full.

mod store;
mod stretches;
mod suffixes;
mod test_items;
mod text_search;
mod windows;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::item::{Batch, ChunkNumber, Id, PassedOver, Source};
use crate::observe::Observer;
use crate::parallel::{LaneRoom, in_lanes};
use crate::spill::{Budget, Temp, folder};
use crate::{Error, Result};

pub use store::{SharedStretch, TrainOverlap};
pub use test_items::{TestCounts, TestItems};

use store::Store;
use text_search::{TextBuffers, TextSearch};

/// Skipped records that are told of, and texts with the longest overlaps.
const SHOWN: usize = 10;

/// What counts as an overlap, and what may be used to find it.
#[derive(Debug, Clone)]
pub struct OverlapSettings {
    /// How many words in a row make a stretch.
    pub words: usize,
    /// The share of a test item's distinct stretches of that many words that a text must contain; else one is enough.
    pub share: Option<f64>,
    /// How many test items are named for one stretch. Does not matter with a share.
    pub most_tests: usize,
    /// Threads to use.
    pub threads: usize,
    /// Bytes of memory to use.
    pub memory: usize,
    /// The folder for temporary files; else the system's.
    pub temp: Option<PathBuf>,
}

/// How many texts there are, and how many overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OverlapCounts {
    /// Training texts.
    pub items: u64,
    /// Records of them that could not be used.
    pub skipped: u64,
    /// Files of folders that were passed over.
    pub passed_over: PassedOver,
    /// Texts with fewer words than a stretch.
    pub short: u64,
    /// Texts that overlap.
    pub overlapping: u64,
    /// Words that stand in stretches, of all texts that overlap.
    pub shared_words: u64,
    /// Stretches, one for each text and test item that it stands in.
    pub stretches: u64,
    /// Texts of which a stretch stands in more test items than are named.
    pub crowded: u64,
    /// Test items that a text overlaps with.
    pub tests_found: u64,
}

/// What was found.
#[derive(Debug)]
pub struct Overlaps {
    /// The test items.
    pub tests: TestItems,
    /// How many there are of everything.
    pub counts: OverlapCounts,
    /// The first of the training records that were skipped.
    pub skipped: Vec<Error>,
    /// Those that share most words with test items, the first few.
    pub worst: Vec<TrainOverlap>,
    /// Whether the ids of all training texts are whole numbers.
    pub ids_are_numbers: bool,
    store: Store,
    /// The overlapping texts of each chunk that has some, by their numbers, with the position of its first record.
    chunks: BTreeMap<ChunkNumber, (Range<usize>, u64)>,
    kept: Bits,
    items: Bits,
}

impl Overlaps {
    /// Whether a training record is an item that does not overlap.
    pub fn is_kept(&self, position: u64) -> bool {
        self.kept.get(position)
    }

    /// Whether a training record is an item, overlapping or not.
    pub fn is_item(&self, position: u64) -> bool {
        self.items.get(position)
    }

    /// The files that training texts come from.
    pub fn files(&self) -> &[PathBuf] {
        &self.store.files
    }

    /// The overlapping texts of a chunk, by their numbers in it, and which bytes of each are left out where stretches are cut.
    ///
    /// # Errors
    /// When one that was put aside cannot be read again.
    pub fn cuts(&self, chunk: ChunkNumber) -> Result<Vec<(u32, Vec<Range<usize>>)>> {
        let Some((range, start)) = self.chunks.get(&chunk) else { return Ok(Vec::new()) };
        let mut cuts = Vec::with_capacity(range.len());
        self.store.some(range.clone(), |overlap| {
            let bytes = |cut: Range<u64>| cut.start as usize..cut.end as usize;
            let ranges = overlap.cuts.into_iter().map(bytes).collect();
            cuts.push(((overlap.position - start) as u32, ranges));
            Ok(())
        })?;
        Ok(cuts)
    }

    /// Hands out all overlapping texts, in order.
    ///
    /// # Errors
    /// When one that was put aside cannot be read again, and those of `take`.
    pub fn each(&self, take: impl FnMut(TrainOverlap) -> Result<()>) -> Result<()> {
        self.store.each(take)
    }
}

/// Finds the training texts that overlap with test items.
///
/// # Errors
/// When a text cannot be used, there is no room for temporary files, or the observer stops it.
pub fn find<S: Source>(
    train: &S,
    mut tests: TestItems,
    settings: &OverlapSettings,
    observer: &dyn Observer,
) -> Result<Overlaps> {
    let search = TextSearch::new(&mut tests, settings);
    let budget = Budget::new(settings.memory, Temp::passing(folder(settings.temp.as_ref())));
    let mut found = Gathered::new(Store::new(budget.share(2), &budget.temp));
    in_lanes(
        settings.threads,
        LaneRoom::within(&budget, settings.threads),
        train.lanes(&|_| false),
        |chunk| {
            let (number, bytes) = train.place(&chunk);
            let batch = train.decode(&chunk, &|_| true)?;
            Ok((number, bytes, ChunkOverlaps::of(&search, batch)))
        },
        |(_, _, chunk)| chunk.weight(),
        |(number, bytes, chunk)| {
            if observer.stopped() {
                return Err(Error::Interrupted);
            }
            observer.advance(bytes);
            found.put(train, number, chunk)
        },
    )?;
    found.counts.tests_found = search.tests_found();
    let Gathered { counts, skipped, worst, ids_are_numbers, store, chunks, kept, items, .. } =
        found;
    Ok(Overlaps { tests, counts, skipped, worst, ids_are_numbers, store, chunks, kept, items })
}

/// The overlaps of one chunk.
struct ChunkOverlaps {
    /// Of each text that overlaps.
    files: Vec<PathBuf>,
    records: u32,
    /// The number of each item, and whether it overlaps.
    items: Vec<(u32, bool)>,
    short: u64,
    crowded: u64,
    overlaps: Vec<TrainOverlap>,
    ids_are_numbers: bool,
    passed_over: PassedOver,
    bad: Vec<Error>,
}

impl ChunkOverlaps {
    fn of(search: &TextSearch<'_>, batch: Batch<'_>) -> Self {
        let mut buffers = TextBuffers::default();
        let mut chunk = Self {
            files: Vec::new(),
            records: batch.records,
            items: Vec::with_capacity(batch.items.len()),
            short: 0,
            crowded: 0,
            overlaps: Vec::new(),
            ids_are_numbers: batch.items.iter().all(|it| !matches!(it.id, Some(Id::Text(_)))),
            passed_over: batch.passed_over,
            bad: Vec::new(),
        };
        for (at, item) in batch.items.iter().enumerate() {
            let found = search.find(batch.text(at), &mut buffers);
            chunk.short += u64::from(found.is_short);
            chunk.crowded += u64::from(found.is_crowded);
            chunk.items.push((item.ordinal, found.overlap.is_some()));
            chunk.files.extend(found.overlap.as_ref().map(|_| batch.file(at).to_path_buf()));
            chunk.overlaps.extend(found.overlap.map(|overlap| TrainOverlap {
                position: item.ordinal.into(),
                line: item.line,
                id: item.id.clone().unwrap_or(Id::Int(NO_ID)),
                ..overlap
            }));
        }
        Self { bad: batch.bad, ..chunk }
    }

    /// About how many bytes it takes.
    fn weight(&self) -> usize {
        let stretches = |it: &TrainOverlap| -> usize {
            it.stretches.iter().map(|it| it.passage.len() + size_of::<SharedStretch>()).sum()
        };
        let overlaps = self.overlaps.iter().map(|it| stretches(it) + size_of::<TrainOverlap>());
        self.items.len() * 8 + overlaps.sum::<usize>()
    }
}

/// Stands for the id of an item without one, until its position is known.
const NO_ID: i64 = i64::MIN;

/// What was found so far.
struct Gathered {
    counts: OverlapCounts,
    skipped: Vec<Error>,
    worst: Vec<TrainOverlap>,
    ids_are_numbers: bool,
    store: Store,
    chunks: BTreeMap<ChunkNumber, (Range<usize>, u64)>,
    kept: Bits,
    items: Bits,
    records: u64,
}

impl Gathered {
    fn new(store: Store) -> Self {
        Self {
            counts: OverlapCounts::default(),
            skipped: Vec::new(),
            worst: Vec::new(),
            ids_are_numbers: true,
            store,
            chunks: BTreeMap::new(),
            kept: Bits::default(),
            items: Bits::default(),
            records: 0,
        }
    }

    fn put<S: Source>(
        &mut self,
        train: &S,
        number: ChunkNumber,
        chunk: ChunkOverlaps,
    ) -> Result<()> {
        let counts = &mut self.counts;
        counts.items += chunk.items.len() as u64;
        counts.skipped += chunk.bad.len() as u64;
        counts.passed_over += chunk.passed_over;
        counts.short += chunk.short;
        counts.crowded += chunk.crowded;
        self.ids_are_numbers &= chunk.ids_are_numbers;
        let room = SHOWN.saturating_sub(self.skipped.len());
        self.skipped.extend(chunk.bad.into_iter().take(room));
        let end = self.records + u64::from(chunk.records);
        [&mut self.kept, &mut self.items].into_iter().for_each(|bits| bits.extend_to(end));
        for &(ordinal, overlaps) in &chunk.items {
            let position = self.records + u64::from(ordinal);
            self.items.set(position);
            if !overlaps {
                self.kept.set(position);
            }
        }
        if !chunk.overlaps.is_empty() {
            let first = self.store.len();
            let range = first..first + chunk.overlaps.len();
            self.chunks.insert(number, (range, self.records));
        }
        let lines = if chunk.overlaps.is_empty() { 0 } else { train.lines_before(number)? };
        for (mut overlap, file) in chunk.overlaps.into_iter().zip(chunk.files) {
            if self.store.files.last() != Some(&file) {
                self.store.files.push(file);
            }
            overlap.position += self.records;
            overlap.line += lines;
            overlap.file = self.store.files.len() - 1;
            if overlap.id == Id::Int(NO_ID) {
                overlap.id = Id::Int(overlap.position as i64);
            }
            self.put_overlap(overlap)?;
        }
        self.records = end;
        Ok(())
    }

    fn put_overlap(&mut self, overlap: TrainOverlap) -> Result<()> {
        self.counts.overlapping += 1;
        self.counts.shared_words += overlap.shared;
        self.counts.stretches += overlap.stretches.len() as u64;
        self.store.push(&overlap)?;
        let place = self.worst.partition_point(|worse| worse.shared >= overlap.shared);
        if place < SHOWN {
            self.worst.insert(place, overlap);
            self.worst.truncate(SHOWN);
        }
        Ok(())
    }
}

/// One bit for each of many numbers.
#[derive(Debug, Default)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Takes the numbers below this one as well, none of them set.
    fn extend_to(&mut self, end: u64) {
        self.words.resize(end.div_ceil(64) as usize, 0);
    }

    fn set(&mut self, number: u64) {
        self.words[(number / 64) as usize] |= 1 << (number % 64);
    }

    fn get(&self, number: u64) -> bool {
        self.words.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// Bits that many threads set.
#[derive(Debug)]
struct SharedBits {
    words: Vec<AtomicU64>,
}

impl SharedBits {
    fn new(numbers: usize) -> Self {
        Self { words: (0..numbers.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    fn set(&self, number: usize) {
        let (word, bit) = (&self.words[number / 64], 1 << (number % 64));
        // Most are set already, and then nobody has to wait.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn get(&self, number: usize) -> bool {
        self.words[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
    }

    fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }
}
