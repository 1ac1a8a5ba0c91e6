//! The items of one or two inputs, as they are known after the first pass.

use crate::item::{Id, Value};
use crate::{Error, Result};

use super::Stats;
use super::search::Sides;

/// A record that is no item, or an item without shingles.
const NO_GROUP: u32 = u32::MAX;
const NO_ITEM: u32 = u32::MAX - 1;

/// The items: their ids, what decides which is kept, and which of them have the same text.
///
/// A record's position counts all records of all inputs, from 0; records that were skipped keep theirs.
/// Items with the same text form a group; groups are numbered by their first item.
#[derive(Debug, Default)]
pub struct Collection {
    group_of: Vec<u32>,
    first: Vec<u32>,
    ids: Vec<Option<Id>>,
    lengths: Vec<u32>,
    values: Vec<Option<Value>>,
    /// Messages for records that were skipped, the first few.
    pub skipped: Vec<Error>,
    skipped_count: u64,
    empty: u64,
    /// Where the second input starts.
    split: Option<u32>,
    /// For each input, the position of each chunk's first record.
    chunks: Vec<Vec<u32>>,
}

/// What the first pass learned of an item.
pub(super) struct Known {
    pub(super) id: Option<Id>,
    pub(super) value: Option<Value>,
    pub(super) length: u32,
    pub(super) group: Option<u32>,
}

impl Collection {
    /// Messages kept of skipped records.
    const MESSAGES: usize = 10;

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

    /// The id of the item at this position: the user's, or the position.
    pub fn id(&self, position: u32) -> Id {
        let start = self.split.filter(|&split| position >= split).unwrap_or(0);
        let given = self.ids.get(position as usize).and_then(Option::as_ref);
        given.cloned().unwrap_or(Id::Int(i64::from(position - start)))
    }

    /// Whether the ids of the positions from `start` to `end` are all whole numbers.
    pub fn ids_are_numbers(&self, start: u32, end: u32) -> bool {
        // The column ends with the last item that has an id.
        let given = self.ids.iter().take(end as usize).skip(start as usize);
        given.flatten().all(|id| matches!(id, Id::Int(_)))
    }

    /// Length in characters, and the value of the field that decides what is kept.
    pub(super) fn merits(&self, position: u32) -> (u32, Option<&Value>) {
        let value = self.values.get(position as usize).and_then(Option::as_ref);
        (self.lengths[position as usize], value)
    }

    /// The first item of a group.
    pub(super) fn first(&self, group: u32) -> u32 {
        self.first[group as usize]
    }

    /// Every group's items, in order.
    pub(super) fn members(&self) -> Members {
        let mut ends = vec![0usize; self.first.len() + 1];
        let groups = || (0u32..).zip(&self.group_of).filter(|(_, group)| **group < NO_ITEM);
        groups().for_each(|(_, &group)| ends[group as usize + 1] += 1);
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let mut next = ends.clone();
        let mut items = vec![0; ends[self.first.len()]];
        for (position, &group) in groups() {
            let slot = &mut next[group as usize];
            items[*slot] = position;
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
        self.lengths.resize(end, 0);
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

    /// Takes up an item.
    pub(super) fn put(&mut self, position: u32, item: Known) {
        let at = position as usize;
        self.skipped_count -= 1;
        self.empty += u64::from(item.group.is_none());
        self.group_of[at] = item.group.unwrap_or(NO_GROUP);
        self.lengths[at] = item.length;
        put_at(&mut self.ids, at, item.id);
        put_at(&mut self.values, at, item.value);
    }

    /// A new group, whose first item is at this position.
    pub(super) fn new_group(&mut self, position: u32) -> u32 {
        self.first.push(position);
        self.first.len() as u32 - 1
    }

    /// Keeps the message for a record that was skipped.
    pub(super) fn skip(&mut self, error: Error) {
        if self.skipped.len() < Self::MESSAGES {
            self.skipped.push(error);
        }
    }
}

/// Columns that hold nothing take no memory.
fn put_at<T>(column: &mut Vec<Option<T>>, at: usize, value: Option<T>) {
    if value.is_some() {
        column.resize_with(column.len().max(at + 1), || None);
        column[at] = value;
    }
}

/// The items of every group.
pub(super) struct Members {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Members {
    /// The positions of a group's items, ascending.
    pub(super) fn of(&self, group: u32) -> &[u32] {
        &self.items[self.ends[group as usize]..self.ends[group as usize + 1]]
    }
}
