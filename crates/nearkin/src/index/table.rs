//! A hash table from keys to the slots that have them, made for slots that come one after the other.
//!
//! A bucket is a list that goes from slot to slot, newest first, so entering one takes the same time however full its
//! bucket is. Buckets are chosen by the first bits of a key, at least five of them; with those the last 32, which stand
//! beside the link, say all of it.

use crate::candidates::KEY_BITS;

/// No slot.
const NONE: u32 = u32::MAX;

/// The fewest first bits that choose a bucket.
const LEAST_BITS: u32 = KEY_BITS - 32;

/// Slots by key. A slot has one key or none.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// The newest slot of each bucket.
    heads: Vec<u32>,
    /// For each slot its key's last 32 bits and the next older slot of its bucket.
    slots: Vec<[u32; 2]>,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { heads: vec![NONE; 1 << LEAST_BITS], slots: Vec::new() }
    }

    /// Gives the next slot this key, or none.
    pub(super) fn push(&mut self, key: Option<u64>) {
        if self.slots.len() == self.heads.len() {
            self.rebuild(self.keys().into_iter(), 2 * self.slots.len());
        }
        self.link(key);
    }

    fn link(&mut self, key: Option<u64>) {
        let slot = self.slots.len() as u32;
        let entry = match key {
            None => [0, NONE],
            Some(key) => {
                let bucket = self.bucket(key);
                let older = std::mem::replace(&mut self.heads[bucket], slot);
                [key as u32, older]
            }
        };
        self.slots.push(entry);
    }

    /// The slots that have this key, newest first.
    pub(super) fn with(&self, key: u64) -> impl Iterator<Item = u32> {
        let chain = self.chain(self.heads[self.bucket(key)]);
        chain.filter(move |&(_, low)| low == key as u32).map(|(slot, _)| slot)
    }

    /// Keeps the slots for which `keep` says so, and numbers them anew in the same order.
    pub(super) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let keys = self.keys().into_iter().enumerate();
        let kept: Vec<_> = keys.filter(|(slot, _)| keep(*slot)).map(|(_, key)| key).collect();
        let room = kept.len();
        self.rebuild(kept.into_iter(), room);
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.heads[..]) + self.slots.capacity() * size_of::<[u32; 2]>()
    }

    fn bucket(&self, key: u64) -> usize {
        (key >> (KEY_BITS - self.heads.len().ilog2())) as usize
    }

    /// The slots of a bucket from one on, with the last bits of their keys.
    fn chain(&self, from: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut next = from;
        std::iter::from_fn(move || {
            let slot = next;
            let &[low, older] = self.slots.get(slot as usize)?;
            next = older;
            Some((slot, low))
        })
    }

    /// The key of each slot.
    fn keys(&self) -> Vec<Option<u64>> {
        let mut keys = vec![None; self.slots.len()];
        let spare = self.heads.len().ilog2() - LEAST_BITS;
        for (bucket, &head) in self.heads.iter().enumerate() {
            let high = (bucket as u64 >> spare) << 32;
            self.chain(head)
                .for_each(|(slot, low)| keys[slot as usize] = Some(high | u64::from(low)));
        }
        keys
    }

    /// Starts anew with these keys, and room for so many.
    fn rebuild(&mut self, keys: impl Iterator<Item = Option<u64>>, room: usize) {
        self.heads = vec![NONE; room.next_power_of_two().max(1 << LEAST_BITS)];
        self.slots = Vec::with_capacity(room);
        keys.for_each(|key| self.link(key));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::family::hash::mix64;

    #[test]
    fn slots_are_found_by_all_bits_of_their_keys() {
        let mut table = Table::new();
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
        }
        let check = |table: &Table, keys: &[Option<u64>]| {
            let mut slots: HashMap<u64, Vec<u32>> = HashMap::new();
            for (slot, key) in (0..).zip(keys) {
                key.iter().for_each(|key| slots.entry(*key).or_default().insert(0, slot));
            }
            for (key, slots) in &slots {
                assert_eq!(table.with(*key).collect::<Vec<_>>(), *slots);
            }
            assert_eq!(table.with(1 << 36 | 8).count(), 0);
            assert_eq!(table.keys(), keys);
        };
        check(&table, &keys);
        table.retain(|slot| slot % 3 == 1);
        let kept: Vec<_> =
            keys.into_iter().enumerate().filter(|(i, _)| i % 3 == 1).map(|(_, key)| key).collect();
        check(&table, &kept);
    }
}
