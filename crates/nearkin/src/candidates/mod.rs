//! Here are your keys: who shares one?
//!
//! A candidate source gives every item bucket keys, one a table; items that share a key in some table
//! are candidates. [`Keys`] holds them, [`bands`] makes them from sketches and finds the buckets by
//! sorting. [`brute_force`] is the oracle that compares everything with everything.

pub mod bands;
pub mod brute_force;
pub mod identical;

/// Bucket keys of many items, one a table.
#[derive(Debug, Clone)]
pub struct Keys {
    tables: usize,
    keys: Vec<u64>,
}

impl Keys {
    /// No items yet, `tables` keys for each that comes.
    pub fn new(tables: usize) -> Self {
        Self { tables, keys: Vec::new() }
    }

    /// Keys an item.
    pub fn tables(&self) -> usize {
        self.tables
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.keys.len() / self.tables
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Sets the keys of an item; items between the last and this one get keys of 0 until set.
    pub fn set(&mut self, item: usize, keys: &[u64]) {
        let start = item * self.tables;
        let end = start + self.tables;
        if self.keys.len() < end {
            self.keys.resize(end, 0);
        }
        self.keys[start..end].copy_from_slice(keys);
    }

    /// The keys of an item.
    pub fn of(&self, item: u32) -> &[u64] {
        &self.keys[item as usize * self.tables..][..self.tables]
    }

    /// The buckets of `table` that hold several items.
    pub fn buckets(&self, table: usize) -> Buckets {
        let mut entries: Vec<(u64, u32)> =
            (0..self.len() as u32).map(|item| (self.of(item)[table], item)).collect();
        entries.sort_unstable();
        let mut buckets = Buckets::default();
        for run in entries.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            buckets.members.extend(run.iter().map(|entry| entry.1));
            buckets.ends.push(buckets.members.len());
        }
        buckets
    }

    /// Whether `table` is the first in which the two items share a key: every pair of candidates has
    /// just one such table, so looking there alone finds each pair once.
    pub fn first_shared(&self, a: u32, b: u32, table: usize) -> bool {
        let earlier = self.of(a)[..table].iter().zip(&self.of(b)[..table]);
        earlier.into_iter().all(|(x, y)| x != y)
    }
}

/// Items that share a key, bucket by bucket.
#[derive(Debug, Clone, Default)]
pub struct Buckets {
    members: Vec<u32>,
    ends: Vec<usize>,
}

impl Buckets {
    /// Every bucket's members, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start..end])
    }

    /// All members of all buckets.
    pub fn members(&self) -> &[u32] {
        &self.members
    }
}
