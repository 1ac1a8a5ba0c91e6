//! The first pass over the input takes up every item and gives its text a fingerprint and, if they are needed, bucket keys.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use nearkin_kernels::{HashKey, fetch};

use crate::audit::capture::Capture;
use crate::candidates::bands::Banding;
use crate::candidates::element_record::RecordLayout;
use crate::candidates::identical::fingerprint;
use crate::candidates::{KEY_PARTS, partition_of_key};
use crate::error::Problem;
use crate::family::hash::mix64;
use crate::item::{Batch, ChunkNumber, Id, Item, PassedOver, Source};
use crate::matches::{Collection, ItemFacts, TextShape};
use crate::parallel::in_lanes;
use crate::settings::{Goal, Settings};
use crate::shingle::Unit;
use crate::spill::{Block, Budget, Partitions};
use crate::{Error, Result};

use super::audit_sample::captured_block;
use super::buffers::{TextBuffers, with_buffers};
use super::record_cache::{CacheRoom, RecordCache, RecordPiece, TextPlace};
use super::{DiskRun, Sketching};

/// What the first pass leaves, besides the collection.
pub(super) struct Sketches {
    /// Keys and positions, by table and the key's first bits.
    pub(super) keys: Partitions<1>,
    /// Fingerprints of texts, and positions.
    pub(super) prints: Partitions<3>,
    /// Hashes of ids, and positions.
    pub(super) ids: Partitions<3>,
    pub(super) cache: RecordCache,
    /// How many elements texts have, those that were recognised as copies left out, and how many texts
    /// these are.
    pub(super) elements: (u64, u64),
    /// Bytes of all texts.
    pub(super) bytes: u64,
    /// Whether there was no room to keep some of them.
    pub(super) overflowed: bool,
    /// Keys of elements kept for the audit, and positions, by the key's first bits.
    pub(super) captured: Partitions<1>,
}

impl Sketches {
    /// None yet, with the keys in this many partitions, and those of the audit.
    fn new(partitions: usize, capture: Option<Capture>, budget: &Budget) -> Self {
        let captured = capture.map_or(KEY_PARTS, Capture::partitions);
        Self {
            keys: Partitions::new(partitions, budget.share(4), &budget.temp),
            prints: Partitions::new(PRINTS, budget.share(1), &budget.temp),
            ids: Partitions::new(PRINTS, budget.share(1), &budget.temp),
            cache: RecordCache::default(),
            elements: (0, 0),
            bytes: 0,
            overflowed: false,
            captured: Partitions::new(captured, budget.share(1), &budget.temp),
        }
    }

    /// Bytes of all that may go to temporary files.
    fn spilled_bytes(&self) -> u64 {
        let Self { keys, prints, ids, captured, .. } = self;
        keys.bytes() + prints.bytes() + ids.bytes() + captured.bytes()
    }

    /// Adds those of a chunk whose first record has the position `start`.
    fn add(&mut self, chunk: SketchedChunk, start: u32) -> Result<()> {
        let SketchTotals { elements, texts, overflowed } = chunk.totals;
        self.elements.0 += elements;
        self.elements.1 += texts;
        self.bytes += chunk.bytes;
        self.overflowed |= overflowed;
        self.captured.push(chunk.captured.at(start))?;
        self.keys.push(chunk.keys.at(start))?;
        self.prints.push(chunk.prints.at(start))?;
        self.ids.push(chunk.ids.at(start))
    }
}

/// Bytes of records kept from the first pass, unless texts have to be unpacked again: beyond, reading again is faster than
/// finding so much memory.
const KEPT: usize = 256 << 20;

/// Partitions of fingerprints: by their first byte.
const PRINTS: usize = 256;

/// The first pass: takes up every item and gives its text a fingerprint and keys. Lengths are counted where
/// they decide what is kept. With
/// `capture`, some elements of every text are kept for the audit.
pub(super) fn first_pass<S: Source>(
    run: &DiskRun<'_, S>,
    lengths: bool,
    capture: Option<Capture>,
) -> Result<(Collection, Sketches)> {
    let DiskRun { sources, search, banding, budget, layout, .. } = run;
    let (settings, layout) = (search.settings, *layout);
    let recent = RecentTexts::new(budget.share(1));
    // Where all texts are compared, all of them are wanted again.
    let reread = banding.is_some() && sources.iter().all(|source| source.is_cheap_to_reread());
    let most = if reread { KEPT } else { usize::MAX };
    // Copies are read again, and what is kept is written as it came.
    let rereads = run.goal == Goal::Groups;
    let unpacked = |source: &&S| rereads && source.keep_unpacked(budget.share(2));
    let shares = if sources.last().is_some_and(unpacked) { 2 } else { 4 };
    let room = CacheRoom::new(budget.share(shares).min(most), settings.threads);
    let mut collection = Collection::new(budget.share(1), &budget.temp);
    let mut sketches = Sketches::new(run.tables() * KEY_PARTS, capture, budget);
    let mut watch = budget.watch(run.bytes(), 7);
    for (input, source) in sources.iter().enumerate() {
        collection.begin_input();
        if input > 0 && run.goal == Goal::Groups {
            collection.grow();
        }
        let mut first_ids = FirstIds::new();
        let worker = FirstPassWorker {
            banding: banding.as_ref(),
            sketching: run.sketching,
            capture,
            settings,
            lengths,
            recent: &recent,
            room: &room,
            layout,
            input,
        };
        in_lanes(
            settings.threads,
            run.lane_room(),
            source.lanes(&|_| false),
            |chunk| {
                let (number, bytes) = source.place(&chunk);
                let batch = source.decode(&chunk, &|_| true)?;
                Ok((number, bytes, worker.sketch(batch, number)))
            },
            |(_, _, chunk)| chunk.weight(),
            |(number, bytes, mut chunk)| {
                search.go_on()?;
                search.observer.advance(bytes);
                let first_ids = (!settings.skip_duplicate_ids).then_some(&mut first_ids);
                let start = chunk.put_items(*source, number, &mut collection, first_ids)?;
                sketches.add(chunk, start)?;
                watch.done(bytes, || sketches.spilled_bytes())
            },
        )?;
    }
    collection.finish()?;
    sketches.cache = room.clear();
    Ok((collection, sketches))
}

/// Some of the first ids that are short, in the slots that their hashes name: a wrong field, or a file that was given twice, is noticed at
/// once and not hours later. That no two ids of all are the same is settled after the pass.
struct FirstIds {
    /// Hashes, and what had them: the id, in which file and line.
    slots: Vec<Option<FirstId>>,
    files: Vec<PathBuf>,
}

/// An id, its hash, the number of its file, and its chunk with its line in that.
type FirstId = (u128, Id, usize, ChunkLine);
type ChunkLine = (ChunkNumber, u64);

impl FirstIds {
    fn new() -> Self {
        const SLOTS: usize = 1 << 13;
        Self { slots: vec![None; SLOTS], files: Vec::new() }
    }

    /// Where an id is, if it is one of them. It is one now if its slot is free.
    fn find(
        &mut self,
        hash: u128,
        id: &Id,
        path: &Path,
        line: ChunkLine,
    ) -> Option<(&Path, ChunkLine)> {
        /// Bytes of the longest id that is kept: thousands of long ones would take more memory than the run may.
        const LONGEST: usize = 64;
        if matches!(id, Id::Text(text) if text.len() > LONGEST) {
            return None;
        }
        let slot = (hash >> 64) as usize & (self.slots.len() - 1);
        if let Some((there, first_id, file, first)) = &self.slots[slot] {
            let is_same = *there == hash && first_id == id;
            return is_same.then(|| (self.files[*file].as_path(), *first));
        }
        if self.files.last().is_none_or(|last| last != path) {
            self.files.push(path.to_path_buf());
        }
        self.slots[slot] = Some((hash, id.clone(), self.files.len() - 1, line));
        None
    }
}

/// A chunk after the first pass's work.
struct SketchedChunk {
    bytes: u64,
    path: PathBuf,
    records: u32,
    bad: Vec<Error>,
    passed_over: PassedOver,
    entries: Vec<ItemEntry>,
    totals: SketchTotals,
    keys: Block<1>,
    captured: Block<1>,
    prints: Block<3>,
    ids: Block<3>,
}

impl SketchedChunk {
    /// Puts the items into the collection, and returns the position of the chunk's first record. An id that is among the
    /// first ids already is an error.
    fn put_items<S: Source>(
        &mut self,
        source: &S,
        number: ChunkNumber,
        collection: &mut Collection,
        mut first_ids: Option<&mut FirstIds>,
    ) -> Result<u32> {
        let start = collection.begin_chunk(number, self.records)?;
        self.bad.drain(..).for_each(|error| collection.skip(error));
        collection.passed_over += self.passed_over;
        for entry in self.entries.drain(..) {
            if let Some(first_ids) = &mut first_ids
                && let Some((hash, id)) = entry.id_hash.zip(entry.facts.id.as_ref())
            {
                let place = (number, entry.line);
                if let Some((path, at)) = first_ids.find(hash, id, &self.path, place) {
                    let line_of = |(number, line)| Ok(source.lines_before(number)? + line);
                    let problem = Problem::repeated_id(id, (path, line_of(at)?));
                    return Err(Error::input(&self.path, line_of(place)?, problem));
                }
            }
            collection.put(start + entry.ordinal, &entry.facts)?;
        }
        Ok(start)
    }

    /// About how many bytes it takes.
    fn weight(&self) -> usize {
        let entries = self.entries.len() * size_of::<ItemEntry>();
        let ids: usize =
            self.entries.iter().filter_map(|it| it.facts.id.as_ref()).map(id_bytes).sum();
        entries
            + ids
            + self.keys.bytes()
            + self.captured.bytes()
            + self.prints.bytes()
            + self.ids.bytes()
    }
}

fn id_bytes(id: &Id) -> usize {
    match id {
        Id::Int(_) => 0,
        Id::Text(text) => text.len(),
    }
}

/// What a thread has found of the texts of a chunk.
#[derive(Default)]
struct TextSketches {
    /// Fingerprints, as entries.
    prints: Vec<(usize, [u64; 3])>,
    /// The keys of texts, and the ordinals of these texts.
    keys: Vec<u64>,
    keyed: Vec<u32>,
    /// The keys of elements kept for the audit, and whose they are.
    captured: Vec<u64>,
    captured_of: Vec<u32>,
    /// Records that are kept, where there is room.
    kept: Option<RecordPiece>,
    totals: SketchTotals,
}

/// What [`Sketches`] has of a collection, of the texts of a chunk.
#[derive(Default)]
struct SketchTotals {
    elements: u64,
    texts: u64,
    overflowed: bool,
}

struct ItemEntry {
    ordinal: u32,
    line: u64,
    id_hash: Option<u128>,
    facts: ItemFacts,
}

/// Texts that were sketched lately: their copies need not be. Where a look here misses one, or another text
/// has taken its place, a text is sketched twice, and nothing else happens.
struct RecentTexts {
    slots: Vec<AtomicU64>,
}

impl RecentTexts {
    fn new(bytes: usize) -> Self {
        // Few enough to stay in a cache.
        let slots = 1 << (bytes / 8).clamp(1, 1 << 15).ilog2();
        Self { slots: (0..slots).map(|_| AtomicU64::new(0)).collect() }
    }

    fn slot(&self, print: u128) -> &AtomicU64 {
        &self.slots[(print >> 64) as usize & (self.slots.len() - 1)]
    }

    /// The fingerprint of a text that is looked for soon: its slot is asked for.
    fn print(&self, text: &str, key: &HashKey) -> u128 {
        let print = fingerprint(key, text.as_bytes());
        fetch(self.slot(print));
        print
    }

    /// The shape of a text with this fingerprint, if it was there a moment ago.
    fn get(&self, print: u128) -> Option<TextShape> {
        let seen = self.slot(print).load(Ordering::Relaxed);
        (seen | 3 == print as u64 | 3).then_some(match seen & 3 {
            0 => TextShape::Long,
            1 => TextShape::Short,
            _ => TextShape::Whole,
        })
    }

    /// The last two bits of a slot are the shape of the text.
    fn put(&self, print: u128, shape: TextShape) {
        let bits = match shape {
            TextShape::Long => 0,
            TextShape::Short => 1,
            TextShape::Whole => 2,
            TextShape::Empty => return,
        };
        self.slot(print).store(print as u64 & !3 | bits, Ordering::Relaxed);
    }
}

/// The hash by which ids are told apart; it is shorter than most ids. Equal ids of two inputs have different hashes.
fn id_hash(id: &Id, input: usize, key: &HashKey) -> u128 {
    // The input is no seed: two short ids that differ as two seeds do can have the same hash, each under its seed.
    let (hash, kind) = match id {
        Id::Int(number) => (fingerprint(key, &number.to_le_bytes()), 0),
        Id::Text(text) => (fingerprint(key, text.as_bytes()), 1),
    };
    let which = 2 * input as u64 + kind;
    hash ^ (u128::from(mix64(which, 1)) << 64 | u128::from(mix64(which, 2)))
}

/// The entry of a hash: its partition, the hash, and whose it is.
fn hash_entry(hash: u128, ordinal: u32) -> (usize, [u64; 3]) {
    let high = (hash >> 64) as u64;
    ((high >> 56) as usize, [high, hash as u64, ordinal.into()])
}

/// What the threads of the first pass need.
struct FirstPassWorker<'a> {
    /// None where no sketches are needed.
    banding: Option<&'a Banding>,
    sketching: Sketching,
    capture: Option<Capture>,
    settings: &'a Settings,
    lengths: bool,
    recent: &'a RecentTexts,
    room: &'a CacheRoom,
    layout: RecordLayout,
    input: usize,
}

impl FirstPassWorker<'_> {
    fn sketch(&self, batch: Batch<'_>, number: ChunkNumber) -> SketchedChunk {
        let mut sketches = TextSketches { kept: self.room.take(), ..TextSketches::default() };
        let known = self.sketch_texts(&batch, number, &mut sketches);
        if let Some(kept) = sketches.kept.take() {
            self.room.put(kept);
        }
        let bytes = batch.bytes();
        let Batch { path, records, items, bad, passed_over, .. } = batch;
        let mut ids = Vec::new();
        let entries = items.into_iter().zip(known).map(|(item, (shape, length))| {
            let Item { ordinal, line, id, values, .. } = item;
            let id_hash =
                id.as_ref().map(|id| id_hash(id, self.input, &self.settings.shingling.key));
            ids.extend(id_hash.map(|hash| hash_entry(hash, ordinal)));
            let facts = ItemFacts { id, values, length, shape };
            ItemEntry { ordinal, line, id_hash, facts }
        });
        let entries = entries.collect();
        let keys = self.key_block(&sketches);
        let captured = sketches.captured.iter().zip(&sketches.captured_of);
        let captured =
            captured_block(self.capture, captured.map(|(&key, &ordinal)| (key, ordinal.into())));
        let prints = Block::new(PRINTS, sketches.prints.iter().copied());
        let ids = Block::new(PRINTS, ids.iter().copied());
        let totals = sketches.totals;
        SketchedChunk {
            bytes,
            path,
            records,
            bad,
            passed_over,
            entries,
            totals,
            keys,
            captured,
            prints,
            ids,
        }
    }

    /// Sketches the texts of a batch. Says of each what shape it has, and how long it is if that is asked.
    fn sketch_texts(
        &self,
        batch: &Batch<'_>,
        number: ChunkNumber,
        sketches: &mut TextSketches,
    ) -> Vec<(TextShape, Option<u32>)> {
        with_buffers(|buffers| {
            let print = |i: usize| self.recent.print(batch.text(i), &self.settings.shingling.key);
            let mut next = None;
            let each = batch.items.iter().enumerate().map(|(i, item)| {
                let text = batch.text(i);
                let own = next.take().unwrap_or_else(|| print(i));
                next = (i + 1 < batch.items.len()).then(|| print(i + 1));
                let shingling = &self.settings.shingling;
                let length = || u32::try_from(shingling.length(text)).unwrap_or(u32::MAX);
                let place =
                    TextPlace { input: self.input as u32, chunk: number, ordinal: item.ordinal };
                (self.sketch_text(text, own, place, buffers, sketches), self.lengths.then(length))
            });
            each.collect()
        })
    }

    /// Sketches a text unless it is a copy of a recent one.
    fn sketch_text(
        &self,
        text: &str,
        print: u128,
        place: TextPlace,
        buffers: &mut TextBuffers,
        sketches: &mut TextSketches,
    ) -> TextShape {
        // A record that turns out to be left out must not be the only one of its text that was sketched.
        let use_recent = !self.settings.skip_duplicate_ids;
        let recent = if use_recent { self.recent.get(print) } else { None };
        let shape = recent.unwrap_or_else(|| self.take(text, buffers));
        if shape == TextShape::Empty {
            return shape;
        }
        if recent.is_none() {
            sketches.totals.elements += buffers.elements().len() as u64;
            sketches.totals.texts += 1;
            self.recent.put(print, shape);
            self.keep_and_key(place, buffers, sketches);
        }
        sketches.prints.push(hash_entry(print, place.ordinal));
        shape
    }

    /// Takes the elements of a text.
    fn take(&self, text: &str, buffers: &mut TextBuffers) -> TextShape {
        let is_whole = buffers.take(text, self.settings);
        let is_cut = matches!(self.settings.shingling.unit, Unit::Words(_) | Unit::Chars(_));
        match buffers.elements().len() {
            0 => TextShape::Empty,
            1 if is_whole => TextShape::Whole,
            1 if is_cut => TextShape::Short,
            _ => TextShape::Long,
        }
    }

    /// Keeps the record of the text in the buffers if there is room, and makes its keys unless that is left to the kept
    /// record. The elements for the audit are kept at the same time.
    fn keep_and_key(
        &self,
        place: TextPlace,
        buffers: &mut TextBuffers,
        sketches: &mut TextSketches,
    ) {
        let (own, sketch) = buffers.parts();
        let words = self.layout.words(own.len());
        let room = |kept: &&mut RecordPiece| kept.words.len() + words <= kept.words.capacity();
        let record = sketches.kept.as_mut().filter(room).map(|kept| {
            let start = kept.words.len();
            self.layout.append(own, &mut kept.words);
            kept.end_of(place);
            &mut kept.words[start..]
        });
        sketches.totals.overflowed |= record.is_none();
        if let Some(banding) = self.banding
            && !(self.sketching == Sketching::AfterReading && record.is_some())
        {
            let start = sketches.keys.len();
            banding.keys(own, sketch, &mut sketches.keys);
            sketches.keyed.push(place.ordinal);
            if let Some(record) = record {
                self.layout.put_head(&sketches.keys[start..], sketch, record);
            }
            if let Some(capture) = self.capture {
                let kept = buffers.captured(capture, &mut sketches.captured);
                sketches.captured_of.extend(std::iter::repeat_n(place.ordinal, kept));
            }
        }
    }

    /// The keys by their partition.
    fn key_block(&self, sketches: &TextSketches) -> Block<1> {
        let tables = self.banding.map_or(0, |banding| banding.bands().count);
        let texts = sketches.keyed.iter().zip(sketches.keys.chunks_exact(tables.max(1)));
        let keys = texts.flat_map(|(&ordinal, keys)| {
            keys.iter().enumerate().map(move |(table, &key)| {
                (partition_of_key(table, key), [key << 32 | u64::from(ordinal)])
            })
        });
        Block::new(tables * KEY_PARTS, keys)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::shingle::default_key;

    #[test]
    fn short_ids_of_two_inputs_have_different_hashes() {
        let texts =
            (0..40_000).map(|i| Id::Text(format!("{}-{}-{}", i / 400, i / 20 % 20, i % 20).into()));
        let ids: Vec<Id> = texts.chain((0..40_000).map(Id::Int)).collect();
        let all: HashSet<u128> = (0..2)
            .flat_map(|input| ids.iter().map(move |id| id_hash(id, input, default_key())))
            .collect();
        assert_eq!(all.len(), 2 * ids.len());
    }
}
