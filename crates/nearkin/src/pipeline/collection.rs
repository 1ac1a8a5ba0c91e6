//! The items of one or two inputs, as they are known after the first pass.

use crate::error::{Error, Problem, Result};
use crate::item::{Id, IdRef, Value};
use crate::spill::{Cache, Temp};

use super::Stats;
use super::buckets::Sides;
use super::column::Column;
use super::resume::{Loader, Saver};

/// A record that is no item, or an item without shingles.
const NO_GROUP: u32 = u32::MAX;
const NO_ITEM: u32 = u32::MAX - 1;

/// The items: their ids, what decides which is kept, and which of them have the same text.
///
/// A record's position counts all records of all inputs, from 0; records that were skipped keep theirs.
/// Items with the same text form a group; groups are numbered by their first item.
#[derive(Debug)]
pub struct Collection {
    /// Until groups are numbered, the position of the first item with the same text.
    group_of: Vec<u32>,
    first: Vec<u32>,
    ids: Column,
    values: Column,
    /// None where lengths do not count.
    lengths: Vec<u32>,
    /// Messages for records that were skipped, the first few.
    pub skipped: Vec<Error>,
    skipped_count: u64,
    empty: u64,
    /// Where the second input starts.
    split: Option<u32>,
    /// For each input, the position of each chunk's first record.
    chunks: Vec<Vec<u32>>,
    /// For each input, whether all its ids are whole numbers.
    whole_ids: Vec<bool>,
}

/// What the first pass learned of an item.
pub(super) struct Known {
    pub(super) id: Option<Id>,
    pub(super) value: Option<Value>,
    /// Counted only where lengths count.
    pub(super) length: Option<u32>,
    pub(super) has_text: bool,
}

impl Collection {
    /// Messages kept of skipped records.
    pub(super) const MESSAGES: usize = 10;

    /// Without records. Up to `limit` bytes of ids and values each stay in memory.
    pub(super) fn new(limit: usize, temp: &Temp) -> Self {
        Self {
            group_of: Vec::new(),
            first: Vec::new(),
            ids: Column::new(limit, temp),
            values: Column::new(limit, temp),
            lengths: Vec::new(),
            skipped: Vec::new(),
            skipped_count: 0,
            empty: 0,
            split: None,
            chunks: Vec::new(),
            whole_ids: Vec::new(),
        }
    }

    /// Records of all inputs.
    pub fn records(&self) -> u32 {
        self.group_of.len() as u32
    }

    /// Distinct texts.
    pub fn groups(&self) -> u32 {
        self.first.len() as u32
    }

    /// Where the second input's records start, when there are two inputs.
    pub fn split(&self) -> Option<u32> {
        self.split
    }

    /// The group of the items that have this one's text; none for a skipped or empty one.
    pub fn group_of(&self, position: u32) -> Option<u32> {
        let group = self.group_of[position as usize];
        (group < NO_ITEM).then_some(group)
    }

    /// Whether the record at this position is an item, not one that was skipped.
    pub fn is_item(&self, position: u32) -> bool {
        self.group_of[position as usize] != NO_ITEM
    }

    /// Looks ids up.
    pub fn ids(&self) -> Ids<'_> {
        self.ids_for(1)
    }

    /// The same for each of so many threads.
    pub fn ids_for(&self, threads: usize) -> Ids<'_> {
        /// Bytes of ids that are kept at hand where ids are on disk.
        const CACHE: usize = 8 << 20;
        Ids { collection: self, cache: Cache::new(CACHE / threads.max(1)) }
    }

    /// Whether the ids of an input are all whole numbers.
    pub fn ids_are_numbers(&self, input: usize) -> bool {
        self.whole_ids.get(input).copied().unwrap_or(true)
    }

    /// Length in characters, and the value of the field that decides what is kept.
    pub(super) fn merits(
        &self,
        position: u32,
        cache: &mut Cache<u8>,
    ) -> Result<(u32, Option<Value>)> {
        let length = self.lengths.get(position as usize).copied().unwrap_or(0);
        Ok((length, self.values.get(position, cache)?))
    }

    /// The first item of a group.
    pub(super) fn first(&self, group: u32) -> u32 {
        self.first[group as usize]
    }

    /// Every group's items, in order.
    pub(super) fn members(&self) -> Members {
        let mut ends = vec![0u32; self.first.len() + 1];
        let groups = || (0u32..).zip(&self.group_of).filter(|(_, group)| **group < NO_ITEM);
        groups().for_each(|(_, &group)| ends[group as usize + 1] += 1);
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let mut items = vec![0; ends[self.first.len()] as usize];
        // Each end moves from its group's start to its end, and is then the next one's start.
        for (position, &group) in groups() {
            let slot = &mut ends[group as usize];
            items[*slot as usize] = position;
            *slot += 1;
        }
        Members { items, ends }
    }

    /// Which inputs each group has items of, when there are two.
    pub(super) fn sides(&self) -> Option<Sides> {
        let split = self.split?;
        let mut sides = vec![0u8; self.first.len()];
        for (position, &group) in
            (0u32..).zip(&self.group_of).filter(|(_, group)| **group < NO_ITEM)
        {
            sides[group as usize] |= if position < split { Sides::LEFT } else { Sides::RIGHT };
        }
        Some(Sides(sides))
    }

    pub(super) fn count(&self, stats: &mut Stats) {
        let records = u64::from(self.records());
        stats.skipped = self.skipped_count;
        stats.items = records - self.skipped_count;
        stats.empty = self.empty;
        stats.distinct = u64::from(self.groups());
        stats.identical = stats.items - stats.empty - stats.distinct;
    }

    /// A new input begins.
    pub(super) fn begin_input(&mut self) {
        if !self.chunks.is_empty() {
            self.split = Some(self.records());
        }
        self.chunks.push(Vec::new());
        self.whole_ids.push(true);
    }

    /// A new chunk of that input begins, with this many records.
    pub(super) fn begin_chunk(&mut self, number: usize, records: u32) -> Result<u32> {
        let start = self.records();
        let chunks = self.chunks.last_mut().expect("an input has begun");
        debug_assert_eq!(chunks.len(), number, "the first pass takes every chunk");
        chunks.push(start);
        let end = start as usize + records as usize;
        if end >= NO_ITEM as usize {
            return Err(Error::parameter(
                "the number of records",
                end,
                "below 4,294,967,294 a run; split the input",
            ));
        }
        self.group_of.resize(end, NO_ITEM);
        self.skipped_count += u64::from(records);
        Ok(start)
    }

    /// The positions of a chunk of an input, by its number.
    pub(super) fn chunk(&self, input: usize, number: usize) -> std::ops::Range<u32> {
        let end_of_input = match self.split {
            Some(split) if input == 0 => split,
            _ => self.records(),
        };
        let chunks = &self.chunks[input];
        let start = chunks.get(number).copied().unwrap_or(end_of_input);
        start..chunks.get(number + 1).copied().unwrap_or(end_of_input)
    }

    /// The input and the chunk of a position.
    pub(super) fn chunk_of(&self, position: u32) -> (usize, usize) {
        let input = usize::from(self.split.is_some_and(|split| position >= split));
        (input, self.chunks[input].partition_point(|&start| start <= position) - 1)
    }

    /// Takes up an item, for the time being as if no other had its text.
    pub(super) fn put(&mut self, position: u32, item: &Known) -> Result<()> {
        let at = position as usize;
        self.skipped_count -= 1;
        self.group_of[at] = if item.has_text { position } else { NO_GROUP };
        self.empty += u64::from(!item.has_text);
        if let Some(length) = item.length {
            self.lengths.resize(at + 1, 0);
            self.lengths[at] = length;
        }
        if let Some(id) = &item.id {
            let whole = self.whole_ids.last_mut().expect("an input has begun");
            *whole &= matches!(id, Id::Int(_));
            self.ids.put(position, id)?;
        }
        item.value.as_ref().map_or(Ok(()), |value| self.values.put(position, value))
    }

    /// Takes an item out again.
    pub(super) fn remove(&mut self, position: u32) {
        self.skipped_count += 1;
        self.empty -= u64::from(self.group_of[position as usize] == NO_GROUP);
        self.group_of[position as usize] = NO_ITEM;
    }

    /// The item has the text of an earlier one.
    pub(super) fn same_text(&mut self, position: u32, first: u32) {
        self.group_of[position as usize] = first;
    }

    /// Every item and what came before it are known: groups get their numbers.
    pub(super) fn number_groups(&mut self) {
        for at in 0..self.group_of.len() {
            let first = self.group_of[at];
            if first >= NO_ITEM {
                continue;
            }
            self.group_of[at] = if first as usize == at {
                self.first.push(first);
                self.first.len() as u32 - 1
            } else {
                self.group_of[first as usize]
            };
        }
    }

    /// No more records come.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.ids.finish()?;
        self.values.finish()
    }

    pub(super) fn save(&self, save: &mut Saver) -> Result<()> {
        save.numbers(&self.group_of)?;
        save.numbers(&self.first)?;
        save.lists(self.ids.pages())?;
        save.lists(self.values.pages())?;
        save.numbers(&self.lengths)?;
        save.number(self.skipped_count)?;
        save.number(self.empty)?;
        save.number(self.split.map_or(u64::MAX, u64::from))?;
        save.number(self.chunks.len() as u64)?;
        for (chunks, &whole_ids) in self.chunks.iter().zip(&self.whole_ids) {
            save.numbers(chunks)?;
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
        Ok(())
    }

    pub(super) fn load(load: &mut Loader, limit: usize) -> Option<Self> {
        let mut collection = Self {
            group_of: load.numbers()?,
            first: load.numbers()?,
            ids: Column::from_pages(load.lists(limit)?),
            values: Column::from_pages(load.lists(limit)?),
            lengths: load.numbers()?,
            skipped: Vec::new(),
            skipped_count: load.number()?,
            empty: load.number()?,
            split: u32::try_from(load.number()?).ok(),
            chunks: Vec::new(),
            whole_ids: Vec::new(),
        };
        for _ in 0..load.number()? {
            collection.chunks.push(load.numbers()?);
            collection.whole_ids.push(load.number()? == 1);
        }
        for _ in 0..load.number()? {
            let (path, line, text) = (load.text()?, load.number()?, load.text()?);
            collection.skipped.push(Error::input(path, line, Problem::from_text(&text)));
        }
        Some(collection)
    }

    /// Keeps the message for a record that was skipped.
    pub(super) fn skip(&mut self, error: Error) {
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

    /// The same, where it stands.
    pub fn find(&mut self, position: u32) -> Result<IdRef<'_>> {
        let start = self.collection.split.filter(|&split| position >= split).unwrap_or(0);
        let given = self.collection.ids.id(position, &mut self.cache)?;
        Ok(given.unwrap_or(IdRef::Int(i64::from(position - start))))
    }
}

/// The items of every group.
pub(super) struct Members {
    items: Vec<u32>,
    ends: Vec<u32>,
}

impl Members {
    /// How many items there are that have elements.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The positions of a group's items, ascending.
    pub(super) fn of(&self, group: u32) -> &[u32] {
        let start = if group == 0 { 0 } else { self.ends[group as usize - 1] };
        &self.items[start as usize..self.ends[group as usize] as usize]
    }
}
