//! Which items are copies of one another?
//!
//! Identical items form a group, and only groups are searched: a thousand copies cost as much as one. The pairs of
//! copies are made when somebody asks for them. Groups are numbered by their first item, so a collection without
//! copies has a group for every item, in order.

use rayon::prelude::*;

/// The group of a record that is no item, and of an item that is similar to nothing.
const NO_ITEM: u32 = u32::MAX - 1;
const NO_GROUP: u32 = u32::MAX;

/// The records of one or two collections, in groups of identical items.
///
/// A record's position counts all records of all inputs, from 0. Records that were skipped keep theirs.
#[derive(Debug, Clone, Default)]
pub struct Copies {
    /// By position. Until groups are numbered, the position of the first item with the same content.
    group_of: Vec<u32>,
    first: Vec<u32>,
    split: Option<u32>,
    /// Whether items of the second collection are paired with each other, too.
    is_increment: bool,
}

impl Copies {
    /// Records in one collection may be numbered up to this.
    pub(crate) const MOST_RECORDS: usize = NO_ITEM as usize;

    /// Number of records, skipped ones included.
    pub fn records(&self) -> u32 {
        self.group_of.len() as u32
    }

    /// Number of distinct items.
    pub fn groups(&self) -> u32 {
        self.first.len() as u32
    }

    /// Where the records of the second collection start, if there are two.
    pub fn split(&self) -> Option<u32> {
        self.split
    }

    /// The first group without items of the first collection: groups are numbered by their first items.
    pub(crate) fn group_split(&self) -> Option<u32> {
        let split = self.split?;
        Some(self.first.partition_point(|&first| first < split) as u32)
    }

    /// Whether the second collection is one that grows the first: its items are paired with each other and with those of
    /// the first, which are not paired with each other.
    pub(crate) fn is_increment(&self) -> bool {
        self.is_increment
    }

    /// The second collection grows the first.
    pub(crate) fn grow(&mut self) {
        self.is_increment = true;
    }

    /// The group of an item; none for a record that was skipped and for an item that is similar to nothing.
    pub fn group_of(&self, position: u32) -> Option<u32> {
        let group = self.group_of[position as usize];
        (group < NO_ITEM).then_some(group)
    }

    /// Whether the record at this position is an item, not one that was skipped.
    pub fn is_item(&self, position: u32) -> bool {
        self.group_of[position as usize] != NO_ITEM
    }

    /// Whether the item at this position is similar to nothing.
    pub(crate) fn is_empty_item(&self, position: u32) -> bool {
        self.group_of[position as usize] == NO_GROUP
    }

    /// The first item of a group.
    pub(crate) fn first(&self, group: u32) -> u32 {
        self.first[group as usize]
    }

    /// The items of every group.
    pub(crate) fn members(&self) -> Members {
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

    /// Which collections each group has items of, if there are two. In a collection that grows another, a group with items
    /// of the new one alone stands on both sides: it is paired with all others.
    pub(crate) fn sides(&self) -> Option<Sides> {
        let split = self.split?;
        if self.is_increment {
            let both = Sides::LEFT | Sides::RIGHT;
            let side = |&first: &u32| if first < split { Sides::LEFT } else { both };
            return Some(Sides(self.first.iter().map(side).collect()));
        }
        let mut sides = vec![0u8; self.first.len()];
        for (position, &group) in
            (0u32..).zip(&self.group_of).filter(|(_, group)| **group < NO_ITEM)
        {
            sides[group as usize] |= if position < split { Sides::LEFT } else { Sides::RIGHT };
        }
        Some(Sides(sides))
    }

    /// The second collection starts here.
    pub(crate) fn begin_second(&mut self) {
        self.split = Some(self.records());
    }

    /// Makes room for records up to this position, for the time being all of them skipped.
    pub(crate) fn extend_to(&mut self, end: usize) {
        self.group_of.resize(end, NO_ITEM);
    }

    /// Adds an item, for the time being as if it had no copies. An empty one is similar to nothing.
    pub(crate) fn put(&mut self, position: u32, is_empty: bool) {
        self.group_of[position as usize] = if is_empty { NO_GROUP } else { position };
    }

    /// Takes an item out again.
    pub(crate) fn remove(&mut self, position: u32) {
        self.group_of[position as usize] = NO_ITEM;
    }

    /// The item is a copy of the one at `first`.
    pub(crate) fn is_copy(&mut self, position: u32, first: u32) {
        self.group_of[position as usize] = first;
    }

    /// All copies are known: groups get their numbers.
    pub(crate) fn number_groups(&mut self) {
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

    /// The numbers that it is made of, to be saved.
    pub(crate) fn parts(&self) -> (&[u32], &[u32], Option<u32>, bool) {
        (&self.group_of, &self.first, self.split, self.is_increment)
    }

    /// What was saved.
    pub(crate) fn from_parts(
        group_of: Vec<u32>,
        first: Vec<u32>,
        split: Option<u32>,
        is_increment: bool,
    ) -> Self {
        Self { group_of, first, split, is_increment }
    }
}

/// The items of every group.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    items: Vec<u32>,
    ends: Vec<u32>,
}

impl Members {
    /// How many items have a group.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The positions of a group's items, ascending.
    pub(crate) fn of(&self, group: u32) -> &[u32] {
        let start = if group == 0 { 0 } else { self.ends[group as usize - 1] };
        &self.items[start as usize..self.ends[group as usize] as usize]
    }
}

/// Which of two collections each group has items of.
#[derive(Debug)]
pub(crate) struct Sides(pub(crate) Vec<u8>);

impl Sides {
    pub(crate) const LEFT: u8 = 1;
    pub(crate) const RIGHT: u8 = 2;

    /// Whether one of the two groups has an item on the left and the other one on the right.
    pub(crate) fn across(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.0[a as usize], self.0[b as usize]);
        (a & Self::LEFT != 0 && b & Self::RIGHT != 0)
            || (a & Self::RIGHT != 0 && b & Self::LEFT != 0)
    }

    /// Whether a group stands on both sides.
    pub(crate) fn is_on_both(&self, group: u32) -> bool {
        self.0[group as usize] == Self::LEFT | Self::RIGHT
    }

    /// Whether the groups together have items on both sides.
    pub(crate) fn both(&self, groups: &[u32]) -> bool {
        let all = groups.iter().fold(0, |sides, &group| sides | self.0[group as usize]);
        all == Self::LEFT | Self::RIGHT
    }
}

/// The first equal item of each of `items` items in memory. Two collections are looked at separately: the second starts
/// at `split`.
pub(crate) fn first_copies(
    items: usize,
    split: Option<usize>,
    hash: impl Fn(usize) -> u64 + Sync,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<u32> {
    let second = |item: u32| split.is_some_and(|split| item as usize >= split);
    let mut entries: Vec<(bool, u64, u32)> = (0..items as u32)
        .into_par_iter()
        .map(|item| (second(item), hash(item as usize), item))
        .collect();
    entries.par_sort_unstable();
    let mut first: Vec<u32> = (0..items as u32).collect();
    for run in entries.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        for entry in &run[1..] {
            // Different items with one hash stay apart, which costs nothing but time.
            if same(run[0].2 as usize, entry.2 as usize) {
                first[entry.2 as usize] = run[0].2;
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two collections of the letters `abac` and `ca`, the third record skipped, the last item empty.
    fn copies() -> Copies {
        let mut copies = Copies::default();
        copies.extend_to(4);
        (0..4).filter(|&at| at != 2).for_each(|at| copies.put(at, false));
        copies.begin_second();
        copies.extend_to(7);
        copies.put(4, false);
        copies.put(5, false);
        copies.put(6, true);
        copies.is_copy(4, 3);
        copies.is_copy(5, 0);
        copies.number_groups();
        copies
    }

    #[test]
    fn groups_are_numbered_by_their_first_item() {
        let copies = copies();
        let groups: Vec<Option<u32>> = (0..7).map(|at| copies.group_of(at)).collect();
        assert_eq!(groups, [Some(0), Some(1), None, Some(2), Some(2), Some(0), None]);
        assert_eq!((copies.is_item(2), copies.is_item(6)), (false, true));
        let members = copies.members();
        assert_eq!([0, 1, 2].map(|group| members.of(group)), [&[0, 5][..], &[1], &[3, 4]]);
        let sides = copies.sides().unwrap();
        assert!(sides.across(0, 2) && sides.across(0, 1) && !sides.across(1, 1));
        assert!(sides.both(&[0]) && !sides.both(&[1]));
    }

    #[test]
    fn copies_are_found_in_each_collection_on_its_own() {
        let items = ["a", "b", "a", "a", "b", "a"];
        let same = |a: usize, b: usize| items[a] == items[b];
        // A hash that is the same for all.
        assert_eq!(first_copies(6, None, |_| 7, same), [0, 1, 0, 0, 4, 0]);
        let hash = |at: usize| u64::from(items[at].as_bytes()[0]);
        assert_eq!(first_copies(6, None, hash, same), [0, 1, 0, 0, 1, 0]);
        assert_eq!(first_copies(6, Some(3), hash, same), [0, 1, 0, 3, 4, 3]);
    }
}
