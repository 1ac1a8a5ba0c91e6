//! Signatures that agree often enough, complete: by sorting each function's values, and counting who meets whom how often.
//!
//! This is the first cut of the slides on minhashing: write a file of values for each function, sort it, write out the
//! pairs in each run of equal values, and count how often each pair was written. Here nothing is written out. The sorted
//! values are looked up item by item, and counts are kept of one item's partners at a time. A value that many items have
//! makes as many pairs as their number squared: the reason why banding is better where pairs are to be compared exactly.

use rayon::prelude::*;

use super::{brute_force, go_on, pairs_of};
use crate::Result;
use crate::item::Signatures;
use crate::space::{ClosePair, JoinQuery, PairBuffer, PairSink, SignatureSpace, Space};

/// Hands on every pair whose signatures agree in the share of functions that `join` asks for, and returns how many pairs
/// agree in any function.
///
/// # Errors
/// When it was stopped, or the sink fails.
pub fn counted(
    space: &SignatureSpace<'_>,
    join: &JoinQuery<'_>,
    found: &PairSink<'_>,
) -> Result<u64> {
    let least = space.least_agreeing(join.limit);
    if least == 0 {
        brute_force(space, join, found)?;
        return Ok(pairs_of(space.len(), join.split) as u64);
    }
    let sorted = SortedValues::new(space.signatures());
    let firsts = join.split.unwrap_or(u32::MAX).min(space.len() as u32);
    let start = join.split.unwrap_or(0);
    let portions: Vec<u32> = (0..firsts).step_by(PORTION as usize).collect();
    let counts = portions.into_par_iter().map_init(
        || (vec![0u32; space.len()], Vec::new()),
        |(counts, met), from| {
            let mut pairs = PairBuffer::new(found);
            let mut all = 0;
            for a in from..(from + PORTION).min(firsts) {
                go_on(join.stopped)?;
                sorted.each_agreeing(space.signatures(), a, start.max(a + 1), |b| {
                    if counts[b as usize] == 0 {
                        met.push(b);
                    }
                    counts[b as usize] += 1;
                });
                all += met.len() as u64;
                for b in met.drain(..) {
                    let agreeing = std::mem::take(&mut counts[b as usize]);
                    if agreeing >= least {
                        pairs.push(ClosePair { a, b, value: space.value_of(agreeing) });
                    }
                }
            }
            pairs.finish().map(|_| all)
        },
    );
    counts.try_reduce(|| 0, |a, b| Ok(a + b))
}

/// Items that a thread looks up at a time.
const PORTION: u32 = 64;

/// Of each function, the values with their items, sorted.
struct SortedValues(Vec<Vec<u64>>);

impl SortedValues {
    fn new(signatures: &Signatures) -> Self {
        let sorted = |function: usize| {
            let entry = |item: usize| {
                let value = signatures.get(item)[function];
                (value != Signatures::NO_VALUE).then_some(u64::from(value) << 32 | item as u64)
            };
            let mut entries: Vec<u64> = (0..signatures.len()).filter_map(entry).collect();
            entries.sort_unstable();
            entries
        };
        Self((0..signatures.functions()).into_par_iter().map(sorted).collect())
    }

    /// Calls `each` with the items from `first` on that agree with an item, once for each function.
    fn each_agreeing(
        &self,
        signatures: &Signatures,
        item: u32,
        first: u32,
        mut each: impl FnMut(u32),
    ) {
        for (&value, entries) in signatures.get(item as usize).iter().zip(&self.0) {
            if value == Signatures::NO_VALUE {
                continue;
            }
            let value = u64::from(value) << 32;
            let from = entries.partition_point(|&entry| entry < value | u64::from(first));
            let run = entries[from..].iter().take_while(|&&entry| entry >> 32 == value >> 32);
            run.for_each(|&entry| each(entry as u32));
        }
    }
}
