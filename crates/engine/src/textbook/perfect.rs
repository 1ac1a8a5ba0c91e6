//! A key set that never changes, looked up in one probe.
//!
//! Distinct 64-bit keys come in; a key's place among them goes out, or that it is none of them. This
//! is the two-level scheme of Fredman, Komlós and Szemerédi (*Storing a sparse table with O(1) worst
//! case access time*, 1984): the first level hashes n keys into n buckets, the second gives a bucket of
//! b keys b² slots and a function of its own under which no two of them meet. One look at the
//! bucket, one at the slot, and no key takes longer than another.
//!
//! It is here for its guarantee, not for its speed. The table has nanoseconds per lookup of random keys, on one thread of a
//! shared machine with 32 MiB of cache, best of three runs. The others are a hash map with a multiplying hash, and minimal
//! perfect functions with key and place in an array of their own:
//!
//! | | 10⁵ keys: hits, misses | 10⁶ | 10⁷ | build, 10⁶ | bytes per key, 10⁷ |
//! |---|---|---|---|---|---|
//! | this | 12, 12 | 64, 64 | 83, 84 | 137 | 32.0 |
//! | hashbrown 0.17 | 5, 7 | 24, 9 | 44, 28 | 59 | 28.5 |
//! | ptr_hash 2.1, fast | 6, 5 | 25, 15 | 40, 30 | 159 | 12.5 |
//! | PHast, ph 0.11 | 7, 6 | 22, 22 | 100, 46 | 786 | 12.3 |
//! | PHast+, ph 0.11 | 8, 7 | 38, 31 | 49, 51 | 99 | 12.4 |
//! | FMPH, ph 0.11 | 37, 37 | 110, 111 | 226, 194 | 87 | 12.3 |
//!
//! A hash map tells most misses by one byte per key, which stays in cache up to 10⁶ keys; here both levels are looked at for
//! every key. ptr_hash is about as fast as the map in less than half its memory, for 19 more dependencies. PHast may panic
//! on what is no key.
//!
//! No run uses it. Most lookups of a run are misses, which a hash map answers faster. ptr_hash would bring 19 more
//! dependencies. The dictionaries of the joins and of the audit are hash maps and tables of their own.

use crate::family::hash::mix64;
use crate::{Error, Result};

/// What an empty slot has for a place.
const EMPTY: u32 = u32::MAX;
/// Where a key lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPlace {
    /// The bucket of the first level.
    pub bucket: usize,
    /// The slots that the bucket has in the second level.
    pub slots: usize,
    /// The number of the function that chooses one of them.
    pub function: usize,
    /// The slot, counted over all buckets.
    pub slot: usize,
}

/// Slots per key: the first level is drawn again until the squares of the bucket sizes sum to no more.
/// A random function gives 2 on average, so by Markov's inequality at least every other draw will do.
const SLOTS: usize = 4;
/// More keys might need places of more than 32 bits.
const MOST: usize = (u32::MAX as usize) / SLOTS;
/// 2⁶⁴ divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// An odd number with no pattern (the first of Stafford's mixing constants).
const FACTOR: u64 = 0xbf58_476d_1ce4_e5b9;

/// The places of fixed keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfectHash {
    seed: u64,
    keys: usize,
    buckets: Vec<Bucket>,
    slots: Vec<KeySlot>,
}

/// Where the slots of a bucket start, how many they are, and which function chooses one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Bucket {
    start: u32,
    slots: u16,
    function: u16,
}

/// A key, in two halves so that a slot takes twelve bytes, and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KeySlot {
    high: u32,
    low: u32,
    place: u32,
}

impl KeySlot {
    const FREE: Self = Self { high: 0, low: 0, place: EMPTY };

    fn new(key: u64, place: u32) -> Self {
        Self { high: (key >> 32) as u32, low: key as u32, place }
    }

    fn key(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

impl PerfectHash {
    /// The table of these keys. The seed decides where keys lie and nothing else.
    ///
    /// # Errors
    /// When a key is there twice, or there are more than 2³⁰ − 1 of them.
    pub fn new(keys: &[u64], seed: u64) -> Result<Self> {
        if keys.len() > MOST {
            return Err(Error::parameter("keys", keys.len(), format!("at most {MOST}")));
        }
        let mut seed = seed;
        loop {
            if let Some(table) = Self::draw(keys, seed)? {
                return Ok(table);
            }
            seed = seed.wrapping_add(GOLDEN);
        }
    }

    /// The place of `key` in the keys the table was made of, if it is one of them.
    #[inline]
    pub fn get(&self, key: u64) -> Option<u32> {
        let hash = mix64(key, self.seed);
        let bucket = self.buckets.get(scale(hash, self.buckets.len()))?;
        let slot = self.slots[bucket.slot(hash)];
        (slot.key() == key && slot.place != EMPTY).then_some(slot.place)
    }

    /// Slots per key, at most.
    pub const SLOTS: usize = SLOTS;

    /// Where a key lies, if it is one of them.
    pub fn probe(&self, key: u64) -> Option<KeyPlace> {
        self.get(key)?;
        let hash = mix64(key, self.seed);
        let bucket = scale(hash, self.buckets.len());
        let Bucket { slots, function, .. } = self.buckets[bucket];
        let slot = self.buckets[bucket].slot(hash);
        Some(KeyPlace { bucket, slots: slots.into(), function: function.into(), slot })
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// How many slots the second level has: at most four per key.
    pub fn slots(&self) -> usize {
        // One more stands at the end, for empty buckets to point at.
        self.slots.len() - 1
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>() + self.slots.len() * size_of::<KeySlot>()
    }

    /// The table under one function of the first level; none where its buckets are too uneven.
    fn draw(keys: &[u64], seed: u64) -> Result<Option<Self>> {
        let (ends, members) = Self::split(keys, seed);
        let mut table = Self {
            seed,
            keys: keys.len(),
            buckets: Vec::with_capacity(keys.len()),
            slots: Vec::with_capacity(2 * keys.len() + 1),
        };
        let mut start = 0;
        for end in ends {
            let bucket = &members[start..end];
            let fits = table.slots.len() + bucket.len().pow(2) <= SLOTS * keys.len();
            // Copies of a key share a bucket under every function: more draws would not help.
            if (!fits || bucket.len() > 1)
                && let Some(key) = repeated(bucket)
            {
                return Err(Error::parameter("keys", format!("{key} twice"), "different"));
            }
            if !fits || !table.place(bucket) {
                return Ok(None);
            }
            start = end;
        }
        table.slots.push(KeySlot::FREE);
        Ok(Some(table))
    }

    /// Keys and their places, bucket after bucket, and where each bucket ends.
    fn split(keys: &[u64], seed: u64) -> (Vec<usize>, Vec<Member>) {
        let bucket_of = |key: u64| scale(mix64(key, seed), keys.len());
        let mut ends = vec![0; keys.len()];
        keys.iter().for_each(|&key| ends[bucket_of(key)] += 1);
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let mut members = vec![Member::default(); keys.len()];
        for (place, &key) in keys.iter().enumerate() {
            let next = &mut ends[bucket_of(key)];
            members[*next] = Member { key, hash: mix64(key, seed), place: place as u32 };
            *next += 1;
        }
        (ends, members)
    }

    /// Adds a bucket, under the first function that keeps its keys apart; false if none does.
    fn place(&mut self, members: &[Member]) -> bool {
        let start = self.slots.len();
        let Ok(slots) = u16::try_from(members.len().pow(2)) else { return false };
        self.slots.resize(start + usize::from(slots), KeySlot::FREE);
        for function in 0..=u16::MAX {
            let bucket = Bucket { start: start as u32, slots, function };
            if self.fill(bucket, members) {
                self.buckets.push(bucket);
                return true;
            }
            self.slots[start..].fill(KeySlot::FREE);
        }
        false
    }

    /// Puts each member into its slot; false when one is taken.
    fn fill(&mut self, bucket: Bucket, members: &[Member]) -> bool {
        members.iter().all(|member| {
            let slot = &mut self.slots[bucket.slot(member.hash)];
            let free = slot.place == EMPTY;
            *slot = KeySlot::new(member.key, member.place);
            free
        })
    }
}

impl Bucket {
    /// The slot of a key by its hash. Keys of one bucket share the first bits of it; the product
    /// brings the others up, and every function turns some of them before. An empty bucket leads to
    /// the slot after it, in which no key of this bucket can be.
    #[inline]
    fn slot(self, hash: u64) -> usize {
        let turned = hash ^ u64::from(self.function).wrapping_mul(GOLDEN);
        self.start as usize + scale(turned.wrapping_mul(FACTOR), usize::from(self.slots))
    }
}

/// A key with its hash and place, on its way into the table.
#[derive(Debug, Clone, Copy, Default)]
struct Member {
    key: u64,
    hash: u64,
    place: u32,
}

/// A number below `count` (and `count` below 2³²) by the upper half of a hash.
#[inline]
fn scale(hash: u64, count: usize) -> usize {
    (((hash >> 32) * count as u64) >> 32) as usize
}

/// A key that is there twice.
fn repeated(members: &[Member]) -> Option<u64> {
    let mut keys: Vec<u64> = members.iter().map(|member| member.key).collect();
    keys.sort_unstable();
    keys.windows(2).find(|two| two[0] == two[1]).map(|two| two[0])
}
