//! What serves the study of the subject and no run.
//!
//! No search uses these: each has a faster replacement, or a search does not need it. They are the definitions that the
//! faster ways are tested against, and what a course on the subject asks for. A row is a row of the subject's syllabus;
//! tests carry it in their names (`s3_1_…`).
//!
//! | file | what | row | what a search uses instead |
//! |---|---|---|---|
//! | [`permutation`] | minhash by an explicit permutation | S3.1 | [`OnePermutation`](crate::family::OnePermutation) |
//! | [`minhash`] | signatures in one pass, by hash functions; the truncated scan | S3.2, S3.4 | `OnePermutation` |
//! | [`hash_family`] | hash functions to choose from: ax + b mod p, and a stronger one | S3.3 | [`mix64`](crate::family::hash::mix64) |
//! | [`min_wise`] | how far a family is from min-wise; families that are exactly so | S3.3 | |
//! | [`signature`] | signatures and the three rules of ∞ | S3.4, S3.7 | sketches with 32 bits per value |
//! | [`group_minima`] | plain one-permutation hashing, and its variance | S3.5 | the form that fills groups |
//! | [`unary`] | L1 as a Hamming distance | S6.4 | [`Lines`](crate::family::Lines) |
//! | [`near_neighbour`] | the (c, r) near-neighbour index | S6.5 | joins that are complete or have a stated recall |
//! | [`show`] | what an item becomes, step by step, as tables | S3.9, S7.9 | |
//! | [`chance`] | the similarity of random sets | S1.8 | |
//! | [`perfect`] | a static key set with a perfect hash | S7.8 | hash maps, and [`BucketTable`](crate::candidates::bucket_table::BucketTable) |

pub mod chance;
pub mod group_minima;
pub mod hash_family;
pub mod min_wise;
pub mod minhash;
pub mod near_neighbour;
pub mod perfect;
pub mod permutation;
pub mod show;
pub mod signature;
pub mod unary;

pub use chance::RandomSets;
pub use group_minima::GroupMinima;
pub use hash_family::{HashFamily, MixHashes, UniversalHashes};
pub use minhash::MinHash;
pub use near_neighbour::NearIndex;
pub use perfect::{KeyPlace, PerfectHash};
pub use permutation::Permutation;
pub use signature::{Agreement, Signature};
