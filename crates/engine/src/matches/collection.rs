//! The items of one or two inputs: what they are called, what decides which of them is kept, and which are copies.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::error::{Error, Problem, Result};
use crate::item::{
    ChunkNumber, ChunkStarts, Copies, Id, IdRef, KeepValues, PassedOver, RecordPlaces,
};
use crate::spill::{Cache, Loader, Saver, Temp};

use super::Stats;
use super::column::PagedColumn;

/// The items: their ids, what decides which is kept, and which of them are identical.
///
/// A record's position counts all records of all inputs, from 0; records that were skipped keep theirs.
#[derive(Debug)]
pub struct Collection {
    copies: Copies,
    ids: PagedColumn,
    values: PagedColumn,
    /// Which of the fields that decide have a value in some record.
    valued: BitSet,
    /// None where lengths do not count.
    lengths: Vec<u32>,
    /// Messages for records that were skipped, the first few.
    pub skipped: Vec<Error>,
    /// How many were skipped of each file.
    pub skipped_in: BTreeMap<PathBuf, u64>,
    /// Files that were passed over.
    pub passed_over: PassedOver,
    skipped_count: u64,
    empty: u64,
    /// Which texts are one shingle, and which have none and are compared as a whole; known while a collection is read.
    short: BitSet,
    whole: BitSet,
    /// For each input, the position of each chunk's first record.
    chunks: Vec<ChunkStarts>,
    /// For each input, whether all its ids are whole numbers.
    whole_ids: Vec<bool>,
    /// Where records stand, of items in memory that were read from files.
    places: Option<RecordPlaces>,
}

/// What is known of an item besides its content.
#[derive(Debug, Default)]
pub(crate) struct ItemFacts {
    pub(crate) id: Option<Id>,
    /// In the fields that decide what is kept; none where all are null.
    pub(crate) values: KeepValues,
    /// Counted only where lengths count.
    pub(crate) length: Option<u32>,
    pub(crate) shape: TextShape,
}

/// What an item is compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TextShape {
    /// Nothing: it is similar to nothing.
    Empty,
    /// One element that stands for the whole text, which is cut into shingles and has none.
    Whole,
    /// One shingle.
    Short,
    /// Several shingles, or whatever items have that are no texts.
    #[default]
    Long,
}

/// A bit for each position.
#[derive(Debug, Default)]
struct BitSet(Vec<u64>);

impl BitSet {
    fn insert(&mut self, at: usize) {
        self.0.resize(self.0.len().max(at / 64 + 1), 0);
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }

    fn remove(&mut self, at: usize) {
        if let Some(bits) = self.0.get_mut(at / 64) {
            *bits &= !(1 << (at % 64));
        }
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }
}

impl Collection {
    /// Messages kept of skipped records.
    pub(crate) const MESSAGES: usize = 10;

    /// Without records. Up to `limit` bytes of ids and values each stay in memory.
    pub(crate) fn new(limit: usize, temp: &Temp) -> Self {
        Self {
            copies: Copies::default(),
            ids: PagedColumn::new(limit, temp),
            values: PagedColumn::new(limit, temp),
            valued: BitSet::default(),
            lengths: Vec::new(),
            skipped: Vec::new(),
            skipped_in: BTreeMap::new(),
            passed_over: PassedOver::default(),
            skipped_count: 0,
            empty: 0,
            short: BitSet::default(),
            whole: BitSet::default(),
            chunks: Vec::new(),
            whole_ids: Vec::new(),
            places: None,
        }
    }

    /// The records from this position on stand there.
    pub(crate) fn put_places(&mut self, start: u32, places: &RecordPlaces) {
        self.places.get_or_insert_default().extend(start, places);
    }

    pub(crate) fn known_places(&self) -> Option<&RecordPlaces> {
        self.places.as_ref()
    }

    /// Which records are copies of one another.
    pub fn copies(&self) -> &Copies {
        &self.copies
    }

    /// Records of all inputs.
    pub fn records(&self) -> u32 {
        self.copies.records()
    }

    /// Distinct items.
    pub fn groups(&self) -> u32 {
        self.copies.groups()
    }

    /// Where the second input's records start, when there are two inputs.
    pub fn split(&self) -> Option<u32> {
        self.copies.split()
    }

    /// The group of the items that are identical to this one; none for a skipped or empty one.
    pub fn group_of(&self, position: u32) -> Option<u32> {
        self.copies.group_of(position)
    }

    /// Whether the record at this position is an item, not one that was skipped.
    pub fn is_item(&self, position: u32) -> bool {
        self.copies.is_item(position)
    }

    /// Looks ids up.
    pub fn ids(&self) -> Ids<'_> {
        self.ids_for(1)
    }

    /// The ids for one of `threads` threads, which share the room for ids on disk.
    pub fn ids_for(&self, threads: usize) -> Ids<'_> {
        /// Bytes of ids that are kept at hand where ids are on disk.
        const CACHE: usize = 8 << 20;
        Ids { collection: self, cache: Cache::new(CACHE / threads.max(1)) }
    }

    /// Whether the ids of an input are all whole numbers.
    pub fn ids_are_numbers(&self, input: usize) -> bool {
        self.whole_ids.get(input).copied().unwrap_or(true)
    }

    /// Length in characters, and the values of the fields that decide what is kept.
    pub(crate) fn merits(&self, position: u32, cache: &mut Cache<u8>) -> Result<(u32, KeepValues)> {
        let length = self.lengths.get(position as usize).copied().unwrap_or(0);
        Ok((length, self.values.get(position, cache)?.unwrap_or_default()))
    }

    /// Whether some item has a value in a field that decides what is kept, by the field's number.
    pub fn has_value(&self, field: usize) -> bool {
        self.valued.contains(field)
    }

    pub(crate) fn count(&self, stats: &mut Stats) {
        let records = u64::from(self.records());
        stats.skipped = self.skipped_count - self.passed_over.records();
        stats.passed_over = self.passed_over;
        stats.items = records - self.skipped_count;
        stats.empty = self.empty;
        stats.short = self.short.count();
        stats.unshingled = self.whole.count();
        stats.distinct = u64::from(self.groups());
        stats.identical = stats.items - stats.empty - stats.distinct;
        let old = 0..self.old_records();
        stats.old = self
            .copies
            .is_increment()
            .then(|| old.filter(|&position| self.is_item(position)).count() as u64);
    }

    /// A new input begins.
    pub(crate) fn begin_input(&mut self) {
        if !self.chunks.is_empty() {
            self.copies.begin_second();
        }
        self.chunks.push(ChunkStarts::default());
        self.whole_ids.push(true);
    }

    /// The second input grows the first, whose items are all kept.
    pub(crate) fn grow(&mut self) {
        self.copies.grow();
    }

    /// How many records belong to a first input that this collection grows.
    pub fn old_records(&self) -> u32 {
        if self.copies.is_increment() { self.split().unwrap_or(0) } else { 0 }
    }

    /// How many groups have items of a first input that this collection grows: the first ones.
    pub(crate) fn old_groups(&self) -> u32 {
        if self.copies.is_increment() { self.copies.group_split().unwrap_or(0) } else { 0 }
    }

    /// A new chunk of that input begins, with this many records.
    pub(crate) fn begin_chunk(&mut self, number: ChunkNumber, records: u32) -> Result<u32> {
        let start = self.records();
        let chunks = self.chunks.last_mut().expect("an input has begun");
        chunks.push(number, start.into());
        let end = start as usize + records as usize;
        if end >= Copies::MOST_RECORDS {
            return Err(Error::parameter(
                "the number of records",
                end,
                "below 4,294,967,294 a run; split the input",
            ));
        }
        self.copies.extend_to(end);
        self.skipped_count += u64::from(records);
        Ok(start)
    }

    /// The positions of a chunk of an input, by its number.
    pub(crate) fn chunk(&self, input: usize, number: ChunkNumber) -> std::ops::Range<u32> {
        let end_of_input = match self.split() {
            Some(split) if input == 0 => split,
            _ => self.records(),
        };
        let range = self.chunks[input].range(number, end_of_input.into());
        range.start as u32..range.end as u32
    }

    /// The input and the chunk of a position.
    pub(crate) fn chunk_of(&self, position: u32) -> (usize, ChunkNumber) {
        let input = usize::from(self.split().is_some_and(|split| position >= split));
        (input, self.chunks[input].chunk_of(position.into()))
    }

    /// Takes up an item, for the time being as if it had no copies.
    pub(crate) fn put(&mut self, position: u32, item: &ItemFacts) -> Result<()> {
        let at = position as usize;
        self.skipped_count -= 1;
        self.copies.put(position, item.shape == TextShape::Empty);
        match item.shape {
            TextShape::Empty => self.empty += 1,
            TextShape::Whole => self.whole.insert(at),
            TextShape::Short => self.short.insert(at),
            TextShape::Long => {}
        }
        if let Some(length) = item.length {
            self.lengths.resize(at + 1, 0);
            self.lengths[at] = length;
        }
        if let Some(id) = &item.id {
            let whole = self.whole_ids.last_mut().expect("an input has begun");
            *whole &= matches!(id, Id::Int(_));
            self.ids.put(position, id)?;
        }
        if item.values.is_empty() {
            return Ok(());
        }
        for (at, _) in item.values.iter().enumerate().filter(|(_, value)| value.is_some()) {
            self.valued.insert(at);
        }
        self.values.put(position, &item.values)
    }

    /// Takes an item out again.
    pub(crate) fn remove(&mut self, position: u32) {
        self.skipped_count += 1;
        self.empty -= u64::from(self.copies.is_empty_item(position));
        self.short.remove(position as usize);
        self.whole.remove(position as usize);
        self.copies.remove(position);
    }

    /// These are copies of an earlier item, each with the position of the first. All of them are known now, and groups
    /// get their numbers.
    pub(crate) fn fold(&mut self, copies: impl IntoIterator<Item = (u32, u32)>) {
        copies.into_iter().for_each(|(first, position)| self.copies.is_copy(position, first));
        self.copies.number_groups();
    }

    /// No more records come.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.ids.finish()?;
        self.values.finish()
    }

    pub(crate) fn save(&self, save: &mut Saver) -> Result<()> {
        let (group_of, first, split, is_increment) = self.copies.parts();
        save.numbers(group_of)?;
        save.numbers(first)?;
        save.number(split.map_or(u64::MAX, u64::from))?;
        save.number(u64::from(is_increment))?;
        save.lists(self.ids.pages())?;
        save.lists(self.values.pages())?;
        save.numbers(&self.valued.0)?;
        save.numbers(&self.lengths)?;
        save.numbers(&self.passed_over.to_numbers())?;
        save.number(self.skipped_count)?;
        save.number(self.empty)?;
        save.number(self.chunks.len() as u64)?;
        for (chunks, &whole_ids) in self.chunks.iter().zip(&self.whole_ids) {
            let (starts, parts) = chunks.parts();
            save.numbers(starts)?;
            save.numbers(parts)?;
            save.number(u64::from(whole_ids))?;
        }
        save.number(self.skipped.len() as u64)?;
        for error in &self.skipped {
            let (path, line, problem) = match error {
                Error::Input { path, line, problem } => {
                    (path.to_string_lossy(), *line, problem.to_text())
                }
                other => (other.to_string().into(), 0, String::new()),
            };
            save.text(&path)?;
            save.number(line)?;
            save.text(&problem)?;
        }
        save.number(self.skipped_in.len() as u64)?;
        for (path, &count) in &self.skipped_in {
            save.text(&path.to_string_lossy())?;
            save.number(count)?;
        }
        Ok(())
    }

    pub(crate) fn load(load: &mut Loader, limit: usize) -> Option<Self> {
        let (group_of, first) = (load.numbers()?, load.numbers()?);
        let split = u32::try_from(load.number()?).ok();
        let is_increment = load.number()? == 1;
        let mut collection = Self {
            copies: Copies::from_parts(group_of, first, split, is_increment),
            ids: PagedColumn::from_pages(load.lists(limit)?),
            values: PagedColumn::from_pages(load.lists(limit)?),
            valued: BitSet(load.numbers()?),
            lengths: load.numbers()?,
            skipped: Vec::new(),
            skipped_in: BTreeMap::new(),
            passed_over: PassedOver::from_numbers(load.numbers()?.try_into().ok()?),
            skipped_count: load.number()?,
            empty: load.number()?,
            short: BitSet::default(),
            whole: BitSet::default(),
            chunks: Vec::new(),
            whole_ids: Vec::new(),
            places: None,
        };
        for _ in 0..load.number()? {
            let chunks = ChunkStarts::from_parts(load.numbers()?, load.numbers()?);
            collection.chunks.push(chunks);
            collection.whole_ids.push(load.number()? == 1);
        }
        for _ in 0..load.number()? {
            let (path, line, text) = (load.text()?, load.number()?, load.text()?);
            collection.skipped.push(Error::input(path, line, Problem::from_text(&text)));
        }
        for _ in 0..load.number()? {
            let (path, count) = (load.text()?, load.number()?);
            collection.skipped_in.insert(path.into(), count);
        }
        Some(collection)
    }

    /// Keeps the message for a record that was skipped.
    pub(crate) fn skip(&mut self, error: Error) {
        if let Some(path) = error.path() {
            *self.skipped_in.entry(path.to_path_buf()).or_default() += 1;
        }
        if self.skipped.len() < Self::MESSAGES {
            self.skipped.push(error);
        }
    }
}

/// Looks the ids of a collection up.
#[derive(Debug)]
pub struct Ids<'a> {
    collection: &'a Collection,
    cache: Cache<u8>,
}

impl Ids<'_> {
    /// The id of the item at this position: the user's, or the position.
    pub fn get(&mut self, position: u32) -> Result<Id> {
        self.find(position).map(Id::from)
    }

    /// Like [`get`](Self::get), without a copy of the id.
    pub fn find(&mut self, position: u32) -> Result<IdRef<'_>> {
        let start = self.collection.split().filter(|&split| position >= split).unwrap_or(0);
        let given = self.collection.ids.id(position, &mut self.cache)?;
        Ok(given.unwrap_or(IdRef::Int(i64::from(position - start))))
    }
}
