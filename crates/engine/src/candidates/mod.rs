//! Here are your keys: who shares one?
//!
//! A candidate source gives every item bucket keys, one per table. Items that share a key in some table are candidates.
//! Every source here is approximate: it finds a similar pair with a known chance. Complete joins are in
//! [`join`](crate::join).
//!
//! | file | answers |
//! |---|---|
//! | [`bands`] | which keys has a set, by bands of its sketch? |
//! | [`buckets()`] | who shares a key, by one sort? |
//! | [`bucket_table`] | who has this key, by one look? |
//! | [`cascade`] | who satisfies this AND and OR of functions? |
//! | [`probed`] | who is in the buckets next to mine? |
//! | [`identical`] | which contents are the same? |

pub mod bands;
pub mod bucket_table;
mod buckets;
pub mod cascade;
pub(crate) mod element_record;
pub mod identical;
pub mod probed;
mod text_elements;

pub(crate) use text_elements::{ElementBuffers, GIANT, sort_elements, with_element_buffers};

pub use buckets::{buckets, each_bucket};

/// Bits of a key. Five choose one of 32 partitions of a table. The other 32 stand beside the record's number in one word,
/// which a radix sort puts in order. Of a billion items, some four million pairs share a key of a table by accident; that
/// costs a look at their sketches and changes no result.
pub const KEY_BITS: u32 = 37;

/// Parts into which the keys of a table fall by their first bits.
pub const KEY_PARTS: usize = 1 << (KEY_BITS - 32);

/// The part of all keys in which a key of a table is: with it, the key's last 32 bits say all.
pub fn partition_of_key(table: usize, key: u64) -> usize {
    table * KEY_PARTS + (key >> 32) as usize
}
