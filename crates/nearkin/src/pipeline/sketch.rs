//! The two passes over the input: what every text gets in the first, and the elements of candidates that
//! the second reads again.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use nearkin_kernels::fetch;
use xxhash_rust::xxh3::xxh3_128;

use crate::candidates::bands::Banding;
use crate::candidates::identical::fingerprint;
use crate::candidates::{KEY_PARTS, partition_of_key};
use crate::error::{Error, Problem, Result};
use crate::family::hash::mix64;
use crate::family::weighted::numbered;
use crate::item::{Batch, Id, Item, Source};
use crate::parallel::in_order;
use crate::shingle::Scratch;
use crate::spill::{Block, Lists, Partitions};

use super::collection::Known;
use super::kept::{Kept, NOWHERE, Owner, Records, Shelf, Wanted};
use super::loaded::{Heads, Loaded};
use super::record::{GIANT, Layout, sort_elements};
use super::run::Run;
use super::watch::{Drawn, Looking, Partner, Watch, Watching};
use super::{Collection, Observer, Settings};

/// What the first pass leaves, besides the collection.
pub(super) struct Sketches {
    /// Keys and positions, by table and the key's first bits.
    pub(super) keys: Partitions<1>,
    /// Fingerprints of texts, and positions.
    pub(super) prints: Partitions<2>,
    /// Hashes of ids, and positions.
    pub(super) ids: Partitions<2>,
    pub(super) kept: Kept,
    /// How many elements texts have, those that were recognised as copies left out, and how many texts
    /// these are.
    pub(super) elements: (u64, u64),
    /// Bytes of all texts.
    pub(super) bytes: u64,
    /// Whether there was no room to keep some of them.
    pub(super) overflowed: bool,
    /// What drawn items are similar to.
    pub(super) seen: Vec<(u32, Owner, f64)>,
}

/// Bytes of records kept from the first pass: beyond, reading again is faster than finding so much memory.
const KEPT: usize = 256 << 20;

/// Partitions of fingerprints: by their first byte.
const PRINTS: usize = 256;

impl<S: Source> Run<'_, S> {
    /// The first pass: takes up every item and gives its text a fingerprint and keys. Lengths are counted where
    /// they decide what is kept. With `drawn`, every text is compared with the drawn ones that may be similar.
    pub(super) fn sketch(
        &self,
        lengths: bool,
        drawn: Option<&Drawn>,
    ) -> Result<(Collection, Sketches)> {
        let Self { sources, settings, observer, banding, budget, .. } = self;
        let recent = Recent::new(budget.share(1));
        // Where all texts are compared, all of them are wanted again.
        let most = if banding.is_some() { KEPT } else { usize::MAX };
        let shelf = Shelf::new(budget.share(4).min(most), settings.threads);
        let mut collection = Collection::new(budget.share(1), &budget.temp);
        let partitions = self.tables() * KEY_PARTS;
        let mut sketches = Sketches {
            keys: Partitions::new(partitions, budget.share(4), &budget.temp),
            prints: Partitions::new(PRINTS, budget.share(1), &budget.temp),
            ids: Partitions::new(PRINTS, budget.share(1), &budget.temp),
            kept: Kept::default(),
            elements: (0, 0),
            bytes: 0,
            overflowed: false,
            seen: Vec::new(),
        };
        for (input, source) in sources.iter().enumerate() {
            collection.begin_input();
            let mut first_ids = FirstIds::new();
            let layout = self.layout;
            let worker = Worker {
                banding: banding.as_ref(),
                held: self.held,
                watch: drawn.map(|drawn| &drawn.watch),
                settings,
                lengths,
                recent: &recent,
                shelf: &shelf,
                layout,
                input,
            };
            in_order(
                settings.threads,
                source.scan(&|_| false)?,
                |chunk| {
                    let (number, bytes) = source.place(&chunk);
                    let batch = source.decode(&chunk, &|_| true)?;
                    Ok((number, bytes, worker.sketch_batch(batch, number)))
                },
                |(number, bytes, batch)| {
                    check(*observer)?;
                    observer.advance(bytes);
                    sketches.elements.0 += batch.elements;
                    sketches.elements.1 += batch.texts;
                    sketches.bytes += batch.bytes;
                    sketches.overflowed |= batch.overflowed;
                    sketches.seen.extend(batch.seen);
                    let start = collection.begin_chunk(number, batch.records)?;
                    batch.bad.into_iter().for_each(|error| collection.skip(error));
                    for entry in batch.entries {
                        if let Some((hash, id)) = entry.id_hash.zip(entry.known.id.as_ref())
                            && first_ids.has(hash)
                            && !settings.skip_duplicate_ids
                        {
                            return Err(duplicate_id(&batch.path, entry.line, id));
                        }
                        collection.put(start + entry.ordinal, &entry.known)?;
                    }
                    sketches.keys.push(batch.keys.at(start))?;
                    sketches.prints.push(batch.prints.at(start))?;
                    sketches.ids.push(batch.ids.at(start))?;
                    Ok(())
                },
            )?;
        }
        collection.finish()?;
        sketches.kept = shelf.clear();
        Ok((collection, sketches))
    }

    /// Ends the run at an id that was there before, or leaves such records out; then numbers the groups of
    /// items with the same text.
    pub(super) fn fold(
        &self,
        collection: &mut Collection,
        prints: &Partitions<2>,
        ids: &Partitions<2>,
    ) -> Result<()> {
        let Self { sources, settings, .. } = self;
        let (repeats, same) = match settings.skip_duplicate_ids {
            // Which texts count is known only when it is known what is left out.
            true => (self.copies(ids)?, None),
            false => {
                let (repeats, same) = rayon::join(|| self.copies(ids), || self.copies(prints));
                (repeats?, Some(same?))
            }
        };
        let mut repeats: Vec<u32> = repeats.into_iter().map(|(_, position)| position).collect();
        repeats.sort_unstable();
        let told = if settings.skip_duplicate_ids { Collection::MESSAGES } else { 1 };
        for error in repeated_ids(sources, collection, &repeats[..repeats.len().min(told)])? {
            if !settings.skip_duplicate_ids {
                return Err(error);
            }
            collection.skip(error);
        }
        repeats.iter().for_each(|&position| collection.remove(position));
        let same = match same {
            Some(same) => same,
            None => self.copies_among(prints, &|position| collection.is_item(position))?,
        };
        same.into_iter().for_each(|(first, position)| collection.same_text(position, first));
        collection.number_groups();
        Ok(())
    }

    /// Every entry with the hash of one before it: the position of the first with that hash, and its own.
    fn copies(&self, entries: &Partitions<2>) -> Result<Vec<(u32, u32)>> {
        self.copies_among(entries, &|_| true)
    }

    /// The same, those left out that are not wanted.
    fn copies_among(
        &self,
        entries: &Partitions<2>,
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
            None => entries.each(self.settings.threads, find, |some| {
                all.extend(some);
                Ok(())
            })?,
        }
        Ok(all)
    }

    /// The second pass: the records of the groups that are `wanted`, and where each group's is. Those that were
    /// `kept` from the first pass need not be read again.
    pub(super) fn load(
        &self,
        collection: &Collection,
        mut wanted: Vec<Wanted>,
        kept: Kept,
        kept_places: &[(u32, u32)],
    ) -> Result<Loaded> {
        let Self { sources, settings, observer, budget, .. } = self;
        let mut places = vec![NOWHERE; wanted.len()];
        let mut records = Lists::new(budget.share(4), &budget.temp).named(RECORDS);
        kept.hand_over(kept_places, &wanted, self.layout, &mut records, &mut places);
        for (wanted, _) in wanted.iter_mut().zip(&places).filter(|(_, place)| **place != NOWHERE) {
            *wanted = Wanted::Not;
        }
        let is_wanted = |position: u32| {
            let group = collection.group_of(position);
            group.is_some_and(|group| {
                wanted[group as usize] != Wanted::Not && collection.first(group) == position
            })
        };
        let layout = self.layout;
        if !(0..collection.records()).any(is_wanted) {
            let heads = Heads::from(records.len(), budget);
            return Ok(Loaded { records, heads, places: places.into(), layout });
        }
        // Records that will last are all brought to the disk in the end.
        let adopted = if budget.temp.is_lasting() { records.len() } else { 0 };
        let mut heads = Heads::from(records.len() - adopted, budget);
        for place in 0..adopted {
            let record = records.in_memory(place).expect("what was kept is in memory");
            heads.push(layout.head_of(record))?;
        }
        for (input, source) in sources.iter().enumerate() {
            let skip = |number: usize| !collection.chunk(input, number).any(is_wanted);
            in_order(
                settings.threads,
                source.scan(&skip)?,
                |chunk| {
                    let (number, bytes) = source.place(&chunk);
                    let range = collection.chunk(input, number);
                    let batch =
                        source.decode(&chunk, &|ordinal| is_wanted(range.start + ordinal))?;
                    if batch.items.len()
                        != range.clone().filter(|&position| is_wanted(position)).count()
                    {
                        return Err(changed(batch.path));
                    }
                    let firsts: Vec<u32> =
                        batch.items.iter().map(|item| range.start + item.ordinal).collect();
                    Ok((bytes, firsts, self.load_batch(&batch)))
                },
                |(bytes, firsts, batch)| {
                    check(*observer)?;
                    observer.advance(bytes);
                    for (i, position) in firsts.into_iter().enumerate() {
                        let group =
                            collection.group_of(position).expect("a wanted item has a group");
                        places[group as usize] = records.len() as u32;
                        records.push(&[batch.get(i)])?;
                        heads.push(layout.head_of(batch.get(i)))?;
                    }
                    Ok(())
                },
            )?;
        }
        Ok(Loaded { records, heads, places: places.into(), layout })
    }

    /// The records of a batch's texts.
    fn load_batch(&self, batch: &Batch<'_>) -> Records {
        let mut records = Records::default();
        let mut keys = Vec::new();
        let layout = self.layout;
        with_buffers(|buffers| {
            for i in 0..batch.items.len() {
                buffers.take(batch.text(i), self.settings);
                let start = records.words.len();
                layout.append(&buffers.elements, &mut records.words);
                if let Some(banding) = &self.banding {
                    keys.clear();
                    banding.keys(&buffers.elements, &mut buffers.sketch, &mut keys);
                    layout.put_head(&keys, &buffers.sketch, &mut records.words[start..]);
                }
                let length = layout.finish(&mut records.words[start..]);
                records.words.truncate(start + length);
                records.end();
            }
        });
        records
    }

    /// Compares every text with the drawn ones that may be similar, in a pass of its own.
    pub(super) fn look_through(&self, drawn: &Drawn) -> Result<Vec<(u32, Owner, f64)>> {
        let mut all = Vec::new();
        for (input, source) in (0u32..).zip(self.sources) {
            in_order(
                self.settings.threads,
                source.scan(&|_| false)?,
                |chunk| {
                    let number = source.place(&chunk).0 as u32;
                    let batch = source.decode(&chunk, &|_| true)?;
                    let mut seen = Vec::new();
                    with_buffers(|buffers| {
                        for (i, item) in batch.items.iter().enumerate() {
                            buffers.take(batch.text(i), self.settings);
                            let owner = Owner { input, chunk: number, ordinal: item.ordinal };
                            buffers.look(&drawn.watch, owner, &mut seen);
                        }
                    });
                    Ok(seen)
                },
                |seen| {
                    all.extend(seen);
                    check(self.observer)
                },
            )?;
        }
        Ok(all)
    }

    /// Tables of keys.
    pub(super) fn tables(&self) -> usize {
        self.banding.as_ref().map_or(0, |banding| banding.bands().count)
    }

    /// Sketches the texts that were kept without, one of each group, and hands over their keys. While they are at hand,
    /// they are compared with what is looked out for: the groups that are similar to drawn ones.
    pub(super) fn sketch_kept(
        &self,
        kept: &mut Kept,
        places: &[(u32, u32)],
        collection: &Collection,
        watching: Option<&Watching>,
        keys: &mut Partitions<1>,
    ) -> Result<Vec<Partner>> {
        let Some(banding) = &self.banding else { return Ok(Vec::new()) };
        let mut records = kept.records_mut(0..collection.groups(), places);
        let sketch = |records: &mut [(u32, &mut [u64])]| {
            check(self.observer)?;
            let (mut own, mut found) = (Vec::new(), Vec::new());
            let mut entries = Vec::with_capacity(records.len() * self.tables());
            with_buffers(|buffers| {
                for (group, record) in records {
                    own.clear();
                    let elements = self.layout.elements(record);
                    banding.keys(elements, &mut buffers.sketch, &mut own);
                    self.layout.put_head(&own, &buffers.sketch, record);
                    let position = u64::from(collection.first(*group));
                    entries.extend(own.iter().enumerate().map(|(table, &key)| {
                        (partition_of_key(table, key) as u32, [key << 32 | position])
                    }));
                    if let Some(watching) = watching {
                        watching.look(*group, record, &mut buffers.looking, &mut found);
                    }
                }
            });
            let entries = entries.iter().map(|&(partition, entry)| (partition as usize, entry));
            Ok((Block::new(self.tables() * KEY_PARTS, entries), found))
        };
        let mut all = Vec::new();
        let portions = Portions::of(&mut records, self.settings.threads);
        in_order(self.settings.threads, portions.map(Ok), sketch, |(block, found)| {
            all.extend(found);
            keys.push(block)
        })?;
        Ok(all)
    }
}

/// Records to be worked on together: many as long as there are many, for every portion has a cost of its own, and fewer
/// towards the end, where threads have to wait for each other.
struct Portions<'a, 'b> {
    rest: &'a mut [(u32, &'b mut [u64])],
    /// The words of all that is left.
    words: usize,
    threads: usize,
}

impl<'a, 'b> Portions<'a, 'b> {
    fn of(records: &'a mut [(u32, &'b mut [u64])], threads: usize) -> Self {
        let words = records.iter().map(|(_, record)| record.len()).sum();
        Self { rest: records, words, threads }
    }
}

impl<'a, 'b> Iterator for Portions<'a, 'b> {
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

/// Some of the first ids, in the slots that their hashes name: a wrong field, or a file that was given twice, is noticed at
/// once and not hours later. That no two ids of all are the same is settled after the pass.
struct FirstIds(Vec<u128>);

impl FirstIds {
    fn new() -> Self {
        const SLOTS: usize = 1 << 13;
        Self(vec![0; SLOTS])
    }

    /// Whether an id is one of them. It is one now if its slot is free.
    fn has(&mut self, hash: u128) -> bool {
        let slot = (hash >> 64) as usize & (self.0.len() - 1);
        let there = &mut self.0[slot];
        if *there == 0 {
            *there = hash;
            return false;
        }
        *there == hash
    }
}

fn duplicate_id(path: &Path, line: u64, id: &Id) -> Error {
    Error::input(path, line, Problem::repeated_id(id))
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

/// The messages for records whose ids were there before: these are read again for their ids and lines.
fn repeated_ids<S: Source>(
    sources: &[&S],
    collection: &Collection,
    positions: &[u32],
) -> Result<Vec<Error>> {
    let mut errors = Vec::new();
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
            let error = |item: &Item| Some(duplicate_id(&batch.path, item.line, item.id.as_ref()?));
            errors.extend(batch.items.iter().filter_map(error));
        }
    }
    if errors.len() < positions.len() {
        return Err(changed(PathBuf::from("input")));
    }
    Ok(errors)
}

fn changed(path: PathBuf) -> Error {
    Error::file(path, "changed while it was being read; run again")
}

/// The name of the file with the candidates' records.
pub(super) const RECORDS: &str = "records";

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
            Ok(with_buffers(|buffers| {
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

/// A chunk after the first pass's work.
struct SketchedBatch {
    elements: u64,
    texts: u64,
    bytes: u64,
    overflowed: bool,
    seen: Vec<(u32, Owner, f64)>,
    path: PathBuf,
    records: u32,
    bad: Vec<Error>,
    entries: Vec<Entry>,
    keys: Block<1>,
    prints: Block<2>,
    ids: Block<2>,
}

struct Entry {
    ordinal: u32,
    line: u64,
    id_hash: Option<u128>,
    known: Known,
}

/// Texts that were sketched lately: their copies need not be. Where a look here misses one, or another text
/// has taken its place, a text is sketched twice, and nothing else happens.
struct Recent {
    slots: Vec<AtomicU64>,
}

impl Recent {
    fn new(bytes: usize) -> Self {
        // Few enough to stay in a cache.
        let slots = 1 << (bytes / 8).clamp(1, 1 << 15).ilog2();
        Self { slots: (0..slots).map(|_| AtomicU64::new(0)).collect() }
    }

    fn slot(&self, print: u128) -> &AtomicU64 {
        &self.slots[(print >> 64) as usize & (self.slots.len() - 1)]
    }

    /// The fingerprint of a text that is looked for soon: its slot is asked for.
    fn print(&self, text: &str) -> u128 {
        let print = fingerprint(text.as_bytes());
        fetch(self.slot(print));
        print
    }

    fn has(&self, print: u128) -> bool {
        self.slot(print).load(Ordering::Relaxed) == print as u64
    }

    fn put(&self, print: u128) {
        self.slot(print).store(print as u64, Ordering::Relaxed);
    }
}

/// Ids are told apart by a hash, which is shorter than most. Those of another input have another hash.
fn id_hash(id: &Id, input: usize) -> u128 {
    // A seed does not do: of short ids that differ as two seeds do, one has under the one the hash that the other has
    // under the other.
    let (hash, kind) = match id {
        Id::Int(number) => (xxh3_128(&number.to_le_bytes()), 0),
        Id::Text(text) => (xxh3_128(text.as_bytes()), 1),
    };
    let which = 2 * input as u64 + kind;
    hash ^ (u128::from(mix64(which, 1)) << 64 | u128::from(mix64(which, 2)))
}

/// The entry of a hash: its partition, 96 bits of it, and whose it is.
fn hash_entry(hash: u128, ordinal: u32) -> (usize, [u64; 2]) {
    let high = (hash >> 64) as u64;
    ((high >> 56) as usize, [high, (hash as u64) << 32 | u64::from(ordinal)])
}

/// Buffers a thread keeps.
#[derive(Default)]
pub(super) struct Buffers {
    scratch: Scratch,
    bag: Vec<u64>,
    pub(super) elements: Vec<u64>,
    pub(super) sketch: Vec<u32>,
    looking: Looking,
    record: Vec<u64>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// Lends a thread its buffers. What a giant text needed is not kept for all that follow.
fn with_buffers<R>(work: impl FnOnce(&mut Buffers) -> R) -> R {
    BUFFERS.with_borrow_mut(|buffers| {
        let result = work(buffers);
        if buffers.elements.capacity().max(buffers.record.capacity()) > GIANT {
            *buffers = Buffers::default();
        }
        result
    })
}

impl Buffers {
    /// Puts the elements by which a text is compared into `elements`, not yet sorted: its shingles, or
    /// for a bag its shingles numbered by occurrence.
    pub(super) fn take(&mut self, text: &str, settings: &Settings) {
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
}

impl Buffers {
    /// Appends the drawn sets that are similar to the elements at hand, whose owner this is.
    fn look(&mut self, watch: &Watch, owner: Owner, seen: &mut Vec<(u32, Owner, f64)>) {
        let Self { elements, looking, record, .. } = self;
        if watch.look(elements, looking) {
            watch.record(elements, record);
            let partners = watch.partners(looking, record);
            seen.extend(partners.map(|(drawn, similarity)| (drawn, owner, similarity)));
        }
    }
}

/// The sorted elements of one text.
pub(super) fn elements(text: &str, settings: &Settings) -> Vec<u64> {
    with_buffers(|buffers| {
        buffers.take(text, settings);
        let count = sort_elements(&mut buffers.elements);
        buffers.elements[..count].to_vec()
    })
}

/// What the threads of the first pass need.
struct Worker<'a> {
    /// None where no sketches are needed.
    banding: Option<&'a Banding>,
    /// Whether texts that are kept are not sketched yet.
    held: bool,
    watch: Option<&'a Watch>,
    settings: &'a Settings,
    lengths: bool,
    recent: &'a Recent,
    shelf: &'a Shelf,
    layout: Layout,
    input: usize,
}

impl Worker<'_> {
    fn sketch_batch(&self, batch: Batch<'_>, number: usize) -> SketchedBatch {
        let owner = Owner { input: self.input as u32, chunk: number as u32, ordinal: 0 };
        let tables = self.banding.map_or(0, |banding| banding.bands().count);
        let (mut prints, mut ids) = (Vec::new(), Vec::new());
        let (mut keys, mut keyed) = (Vec::new(), Vec::new());
        let mut kept = self.shelf.take();
        let (mut elements, mut texts, mut overflowed) = (0, 0, false);
        let mut seen = Vec::new();
        // A record that turns out to be left out must not be the only one of its text that was sketched.
        let use_recent = !self.settings.skip_duplicate_ids;
        let mut sketch_text = |text: &str, print: u128, ordinal: u32, buffers: &mut Buffers| {
            if !(use_recent && self.recent.has(print)) {
                buffers.take(text, self.settings);
                if buffers.elements.is_empty() {
                    return false;
                }
                elements += buffers.elements.len() as u64;
                texts += 1;
                self.recent.put(print);
                let owner = Owner { ordinal, ..owner };
                if let Some(watch) = self.watch {
                    buffers.look(watch, owner, &mut seen);
                }
                let words = self.layout.words(buffers.elements.len());
                let room = |kept: &&mut Records| kept.words.len() + words <= kept.words.capacity();
                let record = kept.as_mut().filter(room).map(|kept| {
                    let start = kept.words.len();
                    self.layout.append(&buffers.elements, &mut kept.words);
                    kept.end_of(owner);
                    &mut kept.words[start..]
                });
                overflowed |= record.is_none();
                if let Some(banding) = self.banding
                    && !(self.held && record.is_some())
                {
                    let start = keys.len();
                    banding.keys(&buffers.elements, &mut buffers.sketch, &mut keys);
                    keyed.push(ordinal);
                    if let Some(record) = record {
                        self.layout.put_head(&keys[start..], &buffers.sketch, record);
                    }
                }
            }
            prints.push(hash_entry(print, ordinal));
            true
        };
        let known: Vec<(bool, Option<u32>)> = with_buffers(|buffers| {
            let print = |i: usize| self.recent.print(batch.text(i));
            let mut next = None;
            let each = batch.items.iter().enumerate().map(|(i, item)| {
                let text = batch.text(i);
                let own = next.take().unwrap_or_else(|| print(i));
                next = (i + 1 < batch.items.len()).then(|| print(i + 1));
                let shingling = &self.settings.shingling;
                let length = || u32::try_from(shingling.length(text)).unwrap_or(u32::MAX);
                (sketch_text(text, own, item.ordinal, buffers), self.lengths.then(length))
            });
            each.collect()
        });
        if let Some(kept) = kept {
            self.shelf.put(kept);
        }
        let bytes = batch.bytes();
        let Batch { path, records, items, bad, .. } = batch;
        let entries = items.into_iter().zip(known).map(|(item, (has_text, length))| {
            let Item { ordinal, line, id, value, .. } = item;
            let id_hash = id.as_ref().map(|id| id_hash(id, self.input));
            ids.extend(id_hash.map(|hash| hash_entry(hash, ordinal)));
            Entry { ordinal, line, id_hash, known: Known { id, value, length, has_text } }
        });
        let entries = entries.collect();
        let keys =
            keyed.iter().zip(keys.chunks_exact(tables.max(1))).flat_map(|(&ordinal, keys)| {
                keys.iter().enumerate().map(move |(table, &key)| {
                    (partition_of_key(table, key), [key << 32 | u64::from(ordinal)])
                })
            });
        SketchedBatch {
            elements,
            texts,
            bytes,
            overflowed,
            seen,
            path,
            records,
            bad,
            entries,
            keys: Block::new(tables * KEY_PARTS, keys),
            prints: Block::new(PRINTS, prints.iter().copied()),
            ids: Block::new(PRINTS, ids.iter().copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn short_ids_of_two_inputs_have_different_hashes() {
        let texts =
            (0..40_000).map(|i| Id::Text(format!("{}-{}-{}", i / 400, i / 20 % 20, i % 20).into()));
        let ids: Vec<Id> = texts.chain((0..40_000).map(Id::Int)).collect();
        let all: HashSet<u128> =
            (0..2).flat_map(|input| ids.iter().map(move |id| id_hash(id, input))).collect();
        assert_eq!(all.len(), 2 * ids.len());
    }

    #[test]
    fn portions_have_every_record_once_and_get_smaller() {
        let lengths = (0..20_000).map(|i| if i == 7 { 5_000_000 } else { i % 500 });
        let mut words: Vec<Vec<u64>> = lengths.map(|length| vec![0; length]).collect();
        for threads in [0, 1, 2, 16] {
            let mut records: Vec<(u32, &mut [u64])> =
                (0u32..).zip(words.iter_mut().map(Vec::as_mut_slice)).collect();
            let mut next = 0;
            let mut sizes = Vec::new();
            for portion in Portions::of(&mut records, threads) {
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
