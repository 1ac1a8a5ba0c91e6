//! The two passes over the input: keys of all texts, then shingles of the candidates.

use std::cell::RefCell;
use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

use crate::candidates::Keys;
use crate::candidates::bands::Banding;
use crate::candidates::identical::fingerprint;
use crate::family::weighted::numbered;
use crate::item::{Batch, Id, Item, Sets, Source, Value};
use crate::parallel::in_order;
use crate::shingle::Scratch;
use crate::{Error, Result};

use super::collection::Known;
use super::search::Loaded;
use super::{Collection, Observer, Settings};

/// The first pass: takes up every item, folds identical texts, and gives each distinct one its keys.
pub(super) fn sketch<S: Source>(
    sources: &[&S],
    banding: &Banding,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<(Collection, Keys, Kept)> {
    let known = KnownTexts::default();
    let room = AtomicBool::new(settings.keep > 0);
    let mut kept = Kept::default();
    let mut collection = Collection::default();
    let mut keys = Keys::new(banding.bands().count);
    for source in sources {
        collection.begin_input();
        let mut ids = HashSet::new();
        in_order(
            settings.threads,
            source.scan(&|_| false)?,
            |chunk| {
                let (number, bytes) = source.place(&chunk);
                let batch = source.decode(&chunk, &|_| true)?;
                let keep = room.load(Ordering::Relaxed);
                Ok((number, bytes, sketch_batch(batch, banding, settings, &known, keep)))
            },
            |(number, bytes, mut batch)| {
                check(observer)?;
                observer.advance(bytes);
                let start = collection.begin_chunk(number, batch.records)?;
                std::mem::take(&mut batch.bad).into_iter().for_each(|error| collection.skip(error));
                let bytes = kept.begin_batch(std::mem::take(&mut batch.elements));
                room.store(bytes < settings.keep, Ordering::Relaxed);
                for entry in std::mem::take(&mut batch.entries) {
                    if let Some(id) = &entry.id
                        && !ids.insert(id_hash(id))
                    {
                        let error = duplicate_id(&batch.path, entry.line, id);
                        if !settings.skip_duplicate_ids {
                            return Err(error);
                        }
                        collection.skip(error);
                        continue;
                    }
                    let position = start + entry.ordinal;
                    let group = match entry.text {
                        Text::Empty => None,
                        Text::Known(group) => Some(group),
                        Text::Keyed(print, at) => Some(known.get(print).unwrap_or_else(|| {
                            let group = collection.new_group(position);
                            known.put(print, group);
                            kept.put(group, at);
                            keys.set(
                                group as usize,
                                &batch.keys[at * keys.tables()..][..keys.tables()],
                            );
                            group
                        })),
                    };
                    let Entry { id, value, length, .. } = entry;
                    collection.put(position, Known { id, value, length, group });
                }
                Ok(())
            },
        )?;
    }
    Ok((collection, keys, kept))
}

fn duplicate_id(path: &Path, line: u64, id: &Id) -> Error {
    let what = format!(
        "the id {id:?} was there before; make ids unique, choose another field with --id, or pass \
         --on-error skip",
        id = id.to_string(),
    );
    Error::Input { path: path.to_owned(), line, what }
}

/// The second pass: the shingles of the groups that are `wanted`. Those that were `kept` from the first
/// pass need not be read again.
pub(super) fn load<S: Source>(
    sources: &[&S],
    collection: &Collection,
    wanted: &[bool],
    kept: Kept,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Loaded> {
    let Loaded { mut sets, mut places } = kept.sorted(wanted);
    let is_wanted = |position: u32| {
        let group = collection.group_of(position);
        group.is_some_and(|group| {
            wanted[group as usize]
                && kept.place(group).is_none()
                && collection.first(group) == position
        })
    };
    if !(0..collection.records()).any(is_wanted) {
        return Ok(Loaded { sets, places });
    }
    for (input, source) in sources.iter().enumerate() {
        let skip = |number: usize| !collection.chunk(input, number).any(is_wanted);
        in_order(
            settings.threads,
            source.scan(&skip)?,
            |chunk| {
                let (number, bytes) = source.place(&chunk);
                let range = collection.chunk(input, number);
                let batch = source.decode(&chunk, &|ordinal| is_wanted(range.start + ordinal))?;
                if batch.items.len()
                    != range.clone().filter(|&position| is_wanted(position)).count()
                {
                    return Err(Error::File {
                        path: batch.path,
                        what: "changed while it was being read; run again".into(),
                    });
                }
                let firsts: Vec<u32> =
                    batch.items.iter().map(|item| range.start + item.ordinal).collect();
                Ok((bytes, firsts, shingle_batch(&batch, settings)))
            },
            |(bytes, firsts, batch)| {
                check(observer)?;
                observer.advance(bytes);
                for (i, position) in firsts.into_iter().enumerate() {
                    let group = collection.group_of(position).expect("a wanted item has a group");
                    places[group as usize] = sets.len() as u32;
                    sets.push(batch.get(i));
                }
                Ok(())
            },
        )?;
    }
    Ok(Loaded { sets, places })
}

/// Reads, decodes and shingles every text and keeps nothing: what no run can be faster than. The number of
/// shingles.
pub(super) fn shingle_only<S: Source>(source: &S, settings: &Settings) -> Result<u64> {
    let mut count = 0;
    in_order(
        settings.threads,
        source.scan(&|_| false)?,
        |chunk| {
            let batch = source.decode(&chunk, &|_| true)?;
            let shingles = |buffers: &mut Buffers, i: usize| {
                buffers.take(batch.text(i), settings);
                buffers.elements.len() as u64
            };
            Ok(BUFFERS.with_borrow_mut(|buffers| {
                (0..batch.items.len()).map(|i| shingles(buffers, i)).sum::<u64>()
            }))
        },
        |shingles| {
            count += shingles;
            Ok(())
        },
    )?;
    Ok(count)
}

fn check(observer: &dyn Observer) -> Result<()> {
    if observer.stopped() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Elements of the first texts of a collection, kept from the first pass for the second: small collections
/// are read once.
#[derive(Default)]
pub(super) struct Kept {
    /// What a batch's texts consist of, text by text, not sorted.
    batches: Vec<Sequences>,
    /// For every group its batch and its number there.
    places: Vec<(u32, u32)>,
    bytes: usize,
}

/// Many lists of elements in one piece of memory.
#[derive(Default)]
struct Sequences {
    elements: Vec<u64>,
    ends: Vec<usize>,
}

impl Sequences {
    fn push(&mut self, elements: &[u64]) {
        self.elements.extend_from_slice(elements);
        self.ends.push(self.elements.len());
    }

    fn get(&self, index: usize) -> Option<&[u64]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.elements[start..end])
    }
}

impl Kept {
    /// Takes a batch's elements, which are none once there is no room. How many bytes that makes.
    fn begin_batch(&mut self, elements: Sequences) -> usize {
        self.bytes += 8 * elements.elements.capacity();
        self.batches.push(elements);
        self.bytes
    }

    /// The next group has the elements at this place of the batch.
    fn put(&mut self, group: u32, at: usize) {
        debug_assert_eq!(self.places.len(), group as usize, "groups come in order");
        self.places.push((self.batches.len() as u32 - 1, at as u32));
    }

    fn place(&self, group: u32) -> Option<&[u64]> {
        let (batch, at) = *self.places.get(group as usize)?;
        self.batches[batch as usize].get(at as usize)
    }

    /// The sets of the wanted groups that were kept.
    fn sorted(&self, wanted: &[bool]) -> Loaded {
        /// Sets that are sorted at a time.
        const PORTION: usize = 4096;
        let groups: Vec<u32> = (0u32..)
            .zip(wanted)
            .filter(|(group, wanted)| **wanted && self.place(*group).is_some())
            .map(|(group, _)| group)
            .collect();
        let mut loaded = Loaded { sets: Sets::default(), places: vec![u32::MAX; wanted.len()] };
        for portion in groups.chunks(PORTION) {
            let sorted: Vec<Vec<u64>> = portion
                .par_iter()
                .map(|&group| {
                    let mut set = self.place(group).unwrap_or_default().to_vec();
                    set.sort_unstable();
                    set.dedup();
                    set
                })
                .collect();
            for (&group, set) in portion.iter().zip(&sorted) {
                loaded.places[group as usize] = loaded.sets.len() as u32;
                loaded.sets.push(set);
            }
        }
        loaded
    }
}

/// A chunk after the first pass's work.
struct SketchedBatch {
    path: PathBuf,
    records: u32,
    bad: Vec<Error>,
    entries: Vec<Entry>,
    keys: Vec<u64>,
    elements: Sequences,
}

struct Entry {
    ordinal: u32,
    line: u64,
    id: Option<Id>,
    value: Option<Value>,
    length: u32,
    text: Text,
}

/// What was done with a text.
#[derive(Clone, Copy)]
enum Text {
    /// It has no shingles.
    Empty,
    /// It is the text of a group that is there already.
    Known(u32),
    /// Its fingerprint, and which of the batch's keys are its.
    Keyed(u128, usize),
}

/// The groups of texts that are there already. The consumer alone writes, in input order; the threads
/// that sketch look here to save themselves the work, so a missed look costs time and nothing else.
#[derive(Default)]
struct KnownTexts {
    shards: [Mutex<HashMap<u128, u32, BuildHasherDefault<Fingerprints>>>; Self::SHARDS],
}

impl KnownTexts {
    /// Far more than threads, so that two seldom want the same.
    const SHARDS: usize = 32;

    fn get(&self, print: u128) -> Option<u32> {
        self.shard(print).get(&print).copied()
    }

    fn put(&self, print: u128, group: u32) {
        self.shard(print).insert(print, group);
    }

    fn shard(
        &self,
        print: u128,
    ) -> MutexGuard<'_, HashMap<u128, u32, BuildHasherDefault<Fingerprints>>> {
        let shard = &self.shards[(print >> 64) as usize % Self::SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fingerprints are hashes already.
#[derive(Default)]
struct Fingerprints(u64);

impl Hasher for Fingerprints {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| hash << 8 | u64::from(byte));
    }

    fn write_u128(&mut self, print: u128) {
        self.0 = print as u64;
    }
}

/// Ids are remembered by a 128-bit hash, which is shorter than most and never the same for two.
fn id_hash(id: &Id) -> u128 {
    match id {
        Id::Int(number) => xxh3_128(&number.to_le_bytes()),
        Id::Text(text) => xxh3_128_with_seed(text.as_bytes(), 1),
    }
}

/// Buffers a thread keeps.
#[derive(Default)]
struct Buffers {
    scratch: Scratch,
    bag: Vec<u64>,
    elements: Vec<u64>,
    sketch: Vec<u32>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

impl Buffers {
    /// Puts the elements by which a text is compared into `elements`, not yet sorted: its shingles, or
    /// for a bag its shingles numbered by occurrence.
    fn take(&mut self, text: &str, settings: &Settings) {
        let Self { scratch, bag, elements, .. } = self;
        elements.clear();
        if settings.measure.counts_repeats() {
            bag.clear();
            settings.shingling.shingle(text, scratch, bag);
            bag.sort_unstable();
            numbered(bag, elements);
        } else {
            settings.shingling.shingle(text, scratch, elements);
        }
    }

    /// The same, sorted and each once.
    fn take_sorted(&mut self, text: &str, settings: &Settings) {
        self.take(text, settings);
        self.elements.sort_unstable();
        self.elements.dedup();
    }
}

/// The sorted elements of one text.
pub(super) fn elements(text: &str, settings: &Settings) -> Vec<u64> {
    let mut buffers = Buffers::default();
    buffers.take_sorted(text, settings);
    buffers.elements
}

fn sketch_batch(
    batch: Batch<'_>,
    banding: &Banding,
    settings: &Settings,
    known: &KnownTexts,
    keep: bool,
) -> SketchedBatch {
    let mut keys = Vec::new();
    let mut kept = Sequences::default();
    let mut sketched = HashMap::new();
    let mut sketch_text = |text: &str, buffers: &mut Buffers| {
        let print = fingerprint(text.as_bytes());
        if let Some(group) = known.get(print) {
            return Text::Known(group);
        }
        let next = sketched.len();
        match sketched.entry(print) {
            Slot::Occupied(slot) => Text::Keyed(print, *slot.get()),
            Slot::Vacant(slot) => {
                buffers.take(text, settings);
                if buffers.elements.is_empty() {
                    return Text::Empty;
                }
                banding.keys(&buffers.elements, &mut buffers.sketch, &mut keys);
                if keep {
                    kept.push(&buffers.elements);
                }
                Text::Keyed(print, *slot.insert(next))
            }
        }
    };
    let texts: Vec<(Text, u32)> = BUFFERS.with_borrow_mut(|buffers| {
        let each = (0..batch.items.len()).map(|i| {
            let text = batch.text(i);
            let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            (sketch_text(text, buffers), length)
        });
        each.collect()
    });
    let Batch { path, records, items, bad, .. } = batch;
    let entries = items.into_iter().zip(texts).map(|(item, (text, length))| {
        let Item { ordinal, line, id, value, .. } = item;
        Entry { ordinal, line, id, value, length, text }
    });
    SketchedBatch { path, records, bad, entries: entries.collect(), keys, elements: kept }
}

/// The sorted sets of a batch's texts.
fn shingle_batch(batch: &Batch<'_>, settings: &Settings) -> Sets {
    let mut sets = Sets::default();
    BUFFERS.with_borrow_mut(|buffers| {
        for i in 0..batch.items.len() {
            buffers.take_sorted(batch.text(i), settings);
            sets.push(&buffers.elements);
        }
    });
    sets
}
