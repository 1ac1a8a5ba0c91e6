//! Items by their bucket keys, in memory: the table of the index, of probed tables, of a cascade that is asked for one item,
//! and of the (c, r) index.
//!
//! A bucket is a list that goes from item to item, newest first. So entering an item takes the same time however full its
//! bucket is, and nothing has to be sorted. The first bits of a key choose the bucket, at least five of them. The last 32
//! stand beside the link; together they are the whole key.
//!
//! A search for all items at once needs no table: [`buckets`](super::buckets()) sorts instead.

use super::KEY_BITS;

/// No item.
const NONE: u32 = u32::MAX;

/// The fewest first bits that choose a bucket.
const LEAST_BITS: u32 = KEY_BITS - 32;

/// Items by key. Items are numbered from 0 as they come; each has one key of [`KEY_BITS`] bits, or none.
#[derive(Debug, Clone)]
pub struct BucketTable {
    /// The newest item of each bucket.
    newest: Vec<u32>,
    /// For each item its key's last 32 bits and the next older item of its bucket.
    links: Vec<[u32; 2]>,
    /// Last bits of a key that do not choose a bucket.
    shift: u32,
}

impl Default for BucketTable {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl BucketTable {
    /// An empty table with room for `items` items.
    pub fn with_capacity(items: usize) -> Self {
        let bits = items.next_power_of_two().ilog2().max(LEAST_BITS);
        let newest = vec![NONE; 1 << bits];
        Self { newest, links: Vec::with_capacity(items), shift: KEY_BITS - bits }
    }

    /// Gives the next item this key, or none. There may be up to 2³² − 1 items.
    pub fn push(&mut self, key: Option<u64>) {
        if self.links.len() == self.newest.len() {
            self.rebuild(self.keys().into_iter(), 2 * self.links.len());
        }
        self.link(key);
    }

    #[inline]
    fn link(&mut self, key: Option<u64>) {
        let item = self.links.len() as u32;
        let entry = match key {
            None => [0, NONE],
            Some(key) => {
                let bucket = self.bucket(key);
                let older = std::mem::replace(&mut self.newest[bucket], item);
                [key as u32, older]
            }
        };
        self.links.push(entry);
    }

    /// The items that have this key, newest first.
    #[inline]
    pub fn items(&self, key: u64) -> impl Iterator<Item = u32> {
        let chain = self.chain(self.newest[self.bucket(key)]);
        chain.filter(move |&(_, low)| low == key as u32).map(|(item, _)| item)
    }

    /// Keeps the items for which `keep` says so, and numbers them anew in the same order.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let keys = self.keys().into_iter().enumerate();
        let kept: Vec<_> = keys.filter(|(item, _)| keep(*item)).map(|(_, key)| key).collect();
        let room = kept.len();
        self.rebuild(kept.into_iter(), room);
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.newest[..]) + self.links.capacity() * size_of::<[u32; 2]>()
    }

    #[inline]
    fn bucket(&self, key: u64) -> usize {
        (key >> self.shift) as usize
    }

    /// The items of a bucket from one on, with the last bits of their keys.
    #[inline]
    fn chain(&self, from: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut next = from;
        std::iter::from_fn(move || {
            let item = next;
            let &[low, older] = self.links.get(item as usize)?;
            next = older;
            Some((item, low))
        })
    }

    /// The key of each item.
    fn keys(&self) -> Vec<Option<u64>> {
        let mut keys = vec![None; self.links.len()];
        let spare = KEY_BITS - self.shift - LEAST_BITS;
        for (bucket, &newest) in self.newest.iter().enumerate() {
            let high = (bucket as u64 >> spare) << 32;
            self.chain(newest)
                .for_each(|(item, low)| keys[item as usize] = Some(high | u64::from(low)));
        }
        keys
    }

    /// Starts anew with these keys and room for `room` items.
    fn rebuild(&mut self, keys: impl Iterator<Item = Option<u64>>, room: usize) {
        *self = Self::with_capacity(room);
        keys.for_each(|key| self.link(key));
    }
}

/// Tells for most keys that no item has them: one bit for all keys with the same first bits, 16 to 32 bits per key.
///
/// Where nearly all looks are in vain, this answers from a near cache. Without it, a look took 32 ns with 100,000 items.
#[derive(Debug, Clone)]
pub struct KeyFilter {
    words: Vec<u64>,
    shift: u32,
}

impl KeyFilter {
    /// An empty filter with room for `keys` keys.
    pub fn with_capacity(keys: usize) -> Self {
        let bits = ((2 * keys.max(1)).ilog2().max(LEAST_BITS) + 4).min(36);
        Self { words: vec![0; 1 << (bits - 6)], shift: KEY_BITS - bits }
    }

    /// Takes a key in.
    #[inline]
    pub fn insert(&mut self, key: u64) {
        let bit = key >> self.shift;
        self.words[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    /// Whether somebody may have this key.
    #[inline]
    pub fn may_have(&self, key: u64) -> bool {
        let bit = key >> self.shift;
        self.words[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::family::hash::mix64;

    #[test]
    fn items_are_found_by_all_bits_of_their_keys() {
        let mut table = BucketTable::default();
        let mut filter = KeyFilter::with_capacity(3000);
        let mut keys: Vec<Option<u64>> = Vec::new();
        for i in 0..3000u64 {
            // Keys that differ in their first bits only, in their last only, and repeated ones.
            let key = match i % 4 {
                0 => (i % 32) << 32 | 7,
                1 => i,
                2 => mix64(i % 100, 1) >> (64 - KEY_BITS),
                _ => mix64(i, 1) >> (64 - KEY_BITS),
            };
            keys.push((i % 11 != 0).then_some(key));
            table.push(keys[i as usize]);
            filter.insert(key);
        }
        let check = |table: &BucketTable, keys: &[Option<u64>]| {
            let mut items: HashMap<u64, Vec<u32>> = HashMap::new();
            for (item, key) in (0..).zip(keys) {
                key.iter().for_each(|key| items.entry(*key).or_default().insert(0, item));
            }
            for (key, items) in &items {
                assert_eq!(table.items(*key).collect::<Vec<_>>(), *items);
                assert!(filter.may_have(*key));
            }
            assert_eq!(table.items(1 << 36 | 8).count(), 0);
            assert_eq!(table.keys(), keys);
        };
        check(&table, &keys);
        table.retain(|item| item % 3 == 1);
        let kept: Vec<_> =
            keys.into_iter().enumerate().filter(|(i, _)| i % 3 == 1).map(|(_, key)| key).collect();
        check(&table, &kept);
        let others = (0..100_000).map(|i| mix64(i, 2) >> (64 - KEY_BITS));
        assert!(others.filter(|&key| filter.may_have(key)).count() < 5000);
    }
}
