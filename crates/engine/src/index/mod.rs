//! A collection in memory that grows and shrinks, and answers what is similar to something.
//!
//! Texts or sets come in with their ids. A query gives the ids of similar items, each compared exactly. The search is that
//! of [`Search::pairs`](crate::search::Search::pairs) by bands: the same bands for the same settings, the same sketches, the
//! same first look at them, the same comparison. So a query finds exactly the items that a run by bands would report as
//! pairs with it.
//!
//! The index keeps the elements of a text, not the text. An item takes 8 bytes per element, up to half a byte per element
//! (64 bytes at least) for a bitmap, one byte per function of the sketch, 12 to 16 bytes per band, and about 90 bytes more
//! with a short id. At a threshold of 0.8 and a recall of 0.99, with 16 bands of 6 functions, that is about 450 bytes and
//! 8.3 per element. Removed items leave gaps, which are closed when there are more gaps than items.
//!
//! ```
//! use nearkin_engine::index::Index;
//! use nearkin_engine::settings::Settings;
//! let settings = Settings { threshold: 0.5, shingling: "words:2".parse()?, ..Settings::default() };
//! let mut index = Index::new(settings)?;
//! index.add(1.into(), "the cat sat on the mat")?;
//! index.add("b".into(), "an apple a day keeps the doctor away")?;
//! let found = index.query("the cat sat on a mat", None);
//! assert_eq!(found, []); // 3 of 7 shingles
//! assert_eq!(index.query("the cat sat on the mats", None), [(&1.into(), 4.0 / 6.0)]);
//! # Ok::<(), nearkin_engine::Error>(())
//! ```

mod file;

use std::collections::HashSet;

use nearkin_kernels::equal_bytes_of;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::amplify::Bands;
use crate::candidates::KEY_BITS;
use crate::candidates::bands::Banding;
use crate::candidates::bucket_table::BucketTable;
use crate::candidates::element_record::RecordLayout;
use crate::family::weighted::numbered;
use crate::item::Id;
use crate::parallel::in_pool;
use crate::settings::{Settings, Strategy};
use crate::verify::{Limit, Verifier};
use crate::{Error, Result};

/// What is added to an index, or asked for.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// A text, of which the shingling of the index makes elements.
    Text(&'a str),
    /// The elements themselves, in any order. Repeats count where the measure counts them.
    Elements(&'a [u64]),
}

impl<'a> From<&'a str> for Content<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u64]> for Content<'a> {
    fn from(elements: &'a [u64]) -> Self {
        Self::Elements(elements)
    }
}

/// The ids of similar items, each with its similarity, or its distance where that is limited.
pub type SimilarIds<'a> = Vec<(&'a Id, f64)>;

/// A collection that grows and shrinks, and answers what is similar to something.
#[derive(Debug)]
pub struct Index {
    settings: Settings,
    search: RecordSearch,
    /// By the keys of each band.
    tables: Vec<BucketTable>,
    /// By a hash of the id.
    names: BucketTable,
    /// Items in the order in which they came, and the gaps that others left.
    slots: Vec<Option<IndexItem>>,
    live: usize,
}

/// How contents become records, and records are compared.
#[derive(Debug)]
struct RecordSearch {
    banding: Banding,
    verifier: Verifier,
    layout: RecordLayout,
    /// Bytes of two sketches that must agree for an exact comparison to be worth it.
    agreement: usize,
}

#[derive(Debug)]
struct IndexItem {
    id: Id,
    record: Box<[u64]>,
}

/// What there is of a content: its keys, none where it has no elements, and its record.
struct IndexRecord {
    keys: Vec<u64>,
    record: Box<[u64]>,
}

/// Slots that have to be gaps before it is worth moving the others together.
const FEW: usize = 64;

impl Index {
    /// An empty index. It uses these settings: shingling, measure, threshold or distance, recall or bands, seed and
    /// threads. The others are about runs over files.
    ///
    /// # Errors
    /// When the measure is none that minhashes tell, an exact search is asked for, or a number is out of range.
    pub fn new(mut settings: Settings) -> Result<Self> {
        settings.shingling = settings.shingling.with_seed(settings.seed);
        Self::with_key(settings)
    }

    /// [`new`](Self::new), with the key that the shingling has.
    fn with_key(settings: Settings) -> Result<Self> {
        if !settings.measure.follows_jaccard() {
            let must = "jaccard, bag, bag-sum or dice here, which minhashes tell; others take an exact run over all";
            return Err(Error::parameter("measure", settings.measure.name(), must));
        }
        if settings.strategy == Strategy::Exact {
            return Err(Error::parameter("the way", "exact", "by bands for an index"));
        }
        let bands = settings.bands()?;
        let layout = RecordLayout::without_keys(bands);
        let search = RecordSearch {
            banding: settings.banding()?,
            verifier: Verifier::new(settings.measure, settings.limit())?,
            agreement: layout
                .least_agreement(settings.jaccard_threshold(), settings.overlooked(bands)),
            layout,
        };
        let tables = (0..bands.count).map(|_| BucketTable::default()).collect();
        Ok(Self {
            settings,
            search,
            tables,
            names: BucketTable::default(),
            slots: Vec::new(),
            live: 0,
        })
    }

    /// How the index was set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Uses `threads` threads for calls with many items.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.settings.threads = threads;
        self
    }

    /// The bands by which items are found.
    pub fn bands(&self) -> Bands {
        self.search.banding.bands()
    }

    /// The chance that an item at just the threshold is found; more similar ones are found more surely.
    pub fn promised(&self) -> Result<f64> {
        self.settings.promised()
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Whether there is an item with this id.
    pub fn contains(&self, id: &Id) -> bool {
        self.slot(id).is_some()
    }

    /// The ids in the order in which items came.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        self.items().map(|slot| &slot.id)
    }

    /// The elements of an item, sorted; of a bag they are numbered by occurrence.
    pub fn get(&self, id: &Id) -> Option<&[u64]> {
        let slot = self.slots[self.slot(id)? as usize].as_ref()?;
        Some(self.search.layout.body(&slot.record).elements)
    }

    /// Bytes of memory that the items take, about.
    pub fn bytes(&self) -> usize {
        /// What an allocation takes beside its bytes.
        const ALLOCATED: usize = 16;
        let own = |slot: &IndexItem| {
            let name = if let Id::Text(text) = &slot.id { text.len() + ALLOCATED } else { 0 };
            size_of_val(&*slot.record) + name + ALLOCATED
        };
        let tables = self.tables.iter().chain([&self.names]).map(BucketTable::bytes);
        tables.sum::<usize>()
            + self.slots.capacity() * size_of::<Option<IndexItem>>()
            + self.items().map(own).sum::<usize>()
    }

    /// Adds an item. One without elements is there, but is never found.
    ///
    /// # Errors
    /// When an item with this id is there, or there are 2³² − 1.
    pub fn add<'a>(&mut self, id: Id, content: impl Into<Content<'a>>) -> Result<()> {
        self.check_new(&id)?;
        let prepared = self.search.prepare(content.into(), &self.settings);
        self.insert(id, prepared);
        Ok(())
    }

    /// Adds an item, in place of the one with this id if there is one. Returns whether there was one.
    ///
    /// # Errors
    /// When there are 2³² − 1 items.
    pub fn replace<'a>(&mut self, id: Id, content: impl Into<Content<'a>>) -> Result<bool> {
        self.check_room(1)?;
        let prepared = self.search.prepare(content.into(), &self.settings);
        let was_there = self.remove(&id);
        self.insert(id, prepared);
        Ok(was_there)
    }

    /// Adds many items, on many threads, or none of them.
    ///
    /// # Errors
    /// As for [`add`](Self::add), or when an id comes twice.
    pub fn add_many(&mut self, ids: Vec<Id>, contents: &[Content<'_>]) -> Result<()> {
        check_as_many(&ids, contents)?;
        self.check_all_new(&ids)?;
        in_pool(self.settings.threads, || {
            let prepared = self.prepare_many(contents);
            self.insert_many(ids, prepared);
            Ok(())
        })
    }

    /// Adds many items on many threads, in place of those with the same ids; if one fails, none is added. Returns how many
    /// were replaced.
    ///
    /// # Errors
    /// As for [`replace`](Self::replace), when an id comes twice, or no threads can be started; all items are then
    /// as they were.
    pub fn replace_many(&mut self, ids: Vec<Id>, contents: &[Content<'_>]) -> Result<usize> {
        check_as_many(&ids, contents)?;
        check_different(&ids)?;
        self.check_room(ids.len())?;
        in_pool(self.settings.threads, || {
            let prepared = self.prepare_many(contents);
            let were_there = ids.iter().filter(|id| self.remove(id)).count();
            self.insert_many(ids, prepared);
            Ok(were_there)
        })
    }

    /// Removes an item. Returns whether it was there.
    pub fn remove(&mut self, id: &Id) -> bool {
        let Some(slot) = self.slot(id) else { return false };
        self.slots[slot as usize] = None;
        self.live -= 1;
        if self.slots.len() > (2 * self.live).max(FEW) {
            self.close_gaps();
        }
        true
    }

    /// The similar items, the most similar first, of equals the one that came first. At most `k` of them, if given.
    pub fn query<'a>(&self, content: impl Into<Content<'a>>, k: Option<usize>) -> SimilarIds<'_> {
        let IndexRecord { keys, record } = self.search.prepare(content.into(), &self.settings);
        let candidates = self.candidates(&keys).into_iter();
        let mut found: Vec<(u32, f64)> =
            candidates.filter_map(|slot| Some((slot, self.compare(&record, slot)?))).collect();
        // Candidates come in the order of their slots, and the sort leaves equals as they are.
        match self.settings.limit() {
            Limit::Similarity(_) => found.sort_by(|(_, a), (_, b)| b.total_cmp(a)),
            Limit::Distance(_) => found.sort_by(|(_, a), (_, b)| a.total_cmp(b)),
        }
        found.truncate(k.unwrap_or(usize::MAX));
        let named = |(slot, value)| Some((&self.slots[slot as usize].as_ref()?.id, value));
        found.into_iter().filter_map(named).collect()
    }

    /// What [`query`](Self::query) finds for each of many, on many threads.
    ///
    /// # Errors
    /// When no threads can be started.
    pub fn query_many(
        &self,
        contents: &[Content<'_>],
        k: Option<usize>,
    ) -> Result<Vec<SimilarIds<'_>>> {
        let query = |content: &Content<'_>| self.query(*content, k);
        in_pool(self.settings.threads, || Ok(contents.par_iter().map(query).collect()))
    }

    fn items(&self) -> impl Iterator<Item = &IndexItem> {
        self.slots.iter().flatten()
    }

    /// The slot of an id.
    fn slot(&self, id: &Id) -> Option<u32> {
        let has =
            |slot: &u32| self.slots[*slot as usize].as_ref().is_some_and(|slot| slot.id == *id);
        self.names.items(key_of(id)).find(has)
    }

    fn check_new(&self, id: &Id) -> Result<()> {
        if self.contains(id) { Err(there_before(id)) } else { self.check_room(1) }
    }

    fn check_all_new(&self, ids: &[Id]) -> Result<()> {
        let mut before = HashSet::with_capacity(ids.len());
        match ids.iter().find(|id| self.contains(id) || !before.insert(*id)) {
            Some(id) => Err(there_before(id)),
            None => self.check_room(ids.len()),
        }
    }

    fn check_room(&self, more: usize) -> Result<()> {
        const MOST: usize = u32::MAX as usize;
        if self.slots.len().checked_add(more).is_some_and(|slots| slots <= MOST) {
            return Ok(());
        }
        let must = format!("at most {MOST}: divide them among several indexes");
        Err(Error::parameter("the number of items", self.slots.len(), must))
    }

    /// Adds an item that is not there.
    fn insert(&mut self, id: Id, prepared: IndexRecord) {
        for (number, table) in self.tables.iter_mut().enumerate() {
            table.push(prepared.keys.get(number).copied());
        }
        self.place(id, prepared.record);
    }

    fn prepare_many(&self, contents: &[Content<'_>]) -> Vec<IndexRecord> {
        let (search, settings) = (&self.search, &self.settings);
        contents.par_iter().map(|content| search.prepare(*content, settings)).collect()
    }

    /// Adds items that are not there, one table per thread.
    fn insert_many(&mut self, ids: Vec<Id>, prepared: Vec<IndexRecord>) {
        self.tables.par_iter_mut().enumerate().for_each(|(number, table)| {
            let keys = prepared.iter().map(|prepared| prepared.keys.get(number).copied());
            keys.for_each(|key| table.push(key));
        });
        ids.into_iter().zip(prepared).for_each(|(id, prepared)| self.place(id, prepared.record));
    }

    fn place(&mut self, id: Id, record: Box<[u64]>) {
        self.live += 1;
        self.names.push(Some(key_of(&id)));
        self.slots.push(Some(IndexItem { id, record }));
    }

    /// Moves the items together.
    fn close_gaps(&mut self) {
        let slots = &self.slots;
        let keep = |slot: usize| slots[slot].is_some();
        self.tables.iter_mut().chain([&mut self.names]).for_each(|table| table.retain(keep));
        self.slots.retain(Option::is_some);
        self.slots.shrink_to_fit();
    }

    /// The slots that share a key, in order.
    fn candidates(&self, keys: &[u64]) -> Vec<u32> {
        let mut candidates = Vec::new();
        let mut known = 0;
        for (table, &key) in self.tables.iter().zip(keys) {
            candidates.extend(table.items(key));
            // Those of a large bucket come again in every table: a few times as many is all there ever are.
            if candidates.len() > 2 * known + 1024 {
                candidates.sort_unstable();
                candidates.dedup();
                known = candidates.len();
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// How similar a record is to that of a slot, if it is.
    fn compare(&self, record: &[u64], slot: u32) -> Option<f64> {
        let RecordSearch { layout, verifier, agreement, .. } = &self.search;
        let other = &*self.slots[slot as usize].as_ref()?.record;
        let bytes = |record| layout.bytes_of(layout.head_of(record));
        if equal_bytes_of(bytes(record), bytes(other)) < *agreement {
            return None;
        }
        let overlap = layout.body(record).similar(layout.body(other), verifier)?;
        Some(verifier.value(overlap))
    }
}

impl RecordSearch {
    fn prepare(&self, content: Content<'_>, settings: &Settings) -> IndexRecord {
        let elements = match content {
            Content::Text(text) => settings.elements(text),
            Content::Elements(elements) => as_set(elements, settings.measure.counts_repeats()),
        };
        self.record(&elements)
    }

    /// The keys and the record of a set.
    fn record(&self, elements: &[u64]) -> IndexRecord {
        let (mut sketch, mut keys) = (Vec::new(), Vec::new());
        self.banding.keys(elements, &mut sketch, &mut keys);
        let mut record = Vec::with_capacity(self.layout.words(elements.len()));
        self.layout.append(elements, &mut record);
        self.layout.put_head(&[], &sketch, &mut record);
        let length = self.layout.finish(&mut record);
        record.truncate(length);
        IndexRecord { keys, record: record.into() }
    }
}

/// Elements as a sorted set: each once, or numbered by occurrence.
fn as_set(elements: &[u64], counts_repeats: bool) -> Vec<u64> {
    let mut set = elements.to_vec();
    set.sort_unstable();
    if counts_repeats {
        let bag = std::mem::take(&mut set);
        numbered(&bag, &mut set);
        set.sort_unstable();
    }
    set.dedup();
    set
}

/// The key of an id among the names.
fn key_of(id: &Id) -> u64 {
    let hash = match id {
        Id::Int(number) => xxh3_64_with_seed(&number.to_le_bytes(), 1),
        Id::Text(text) => xxh3_64_with_seed(text.as_bytes(), 2),
    };
    hash >> (64 - KEY_BITS)
}

fn check_as_many(ids: &[Id], contents: &[Content<'_>]) -> Result<()> {
    if ids.len() == contents.len() {
        return Ok(());
    }
    let must = format!("as many as there are contents, {}", contents.len());
    Err(Error::parameter("the number of ids", ids.len(), must))
}

/// Refuses ids that come twice: only the user can say which of the items is to stay.
///
/// # Errors
/// For the first id that comes again.
pub fn check_different(ids: &[Id]) -> Result<()> {
    let mut before = HashSet::with_capacity(ids.len());
    match ids.iter().find(|id| !before.insert(*id)) {
        None => Ok(()),
        Some(id) => {
            let value = format!("{:?} twice", id.to_string());
            Err(Error::parameter("id", value, "there once; leave the other items out"))
        }
    }
}

fn there_before(id: &Id) -> Error {
    let must =
        "one that is not in the index yet; replace the item, remove it first, or choose another id";
    Error::parameter("id", format!("{:?}", id.to_string()), must)
}
