//! Close bit strings, complete.
//!
//! Strings that differ in few bits have nearly the same number of ones. So they are sorted by that number and compared
//! within a window, 64 at a time, which costs little more than counting.

use nearkin_kernels::{TILE, near_bits};
use rayon::prelude::*;

use super::go_on;
use crate::Result;
use crate::space::{BitSpace, ClosePair, JoinQuery, PairBuffer, PairSink, Space};

/// Hands on every pair that reaches the limit.
///
/// # Errors
/// When it was stopped, or the sink fails.
pub fn within(space: &BitSpace, join: &JoinQuery, found: &PairSink<'_>) -> Result<()> {
    let Some(most) = space.most_differing(join.limit) else { return Ok(()) };
    let sorted_bits = OnesOrder::new(space);
    (0..sorted_bits.blocks()).into_par_iter().try_for_each(|block| {
        go_on(join.stopped)?;
        let mut pairs = PairBuffer::new(found);
        sorted_bits.compare(block, most, join.split, |a, b| {
            pairs.push(ClosePair { a, b, value: space.value(a, b) });
        });
        pairs.finish().map(drop)
    })
}

/// Bit strings in the order of how many ones they have.
struct OnesOrder {
    order: Vec<u32>,
    ones: Vec<u64>,
    words: Vec<u64>,
    words_each: usize,
}

impl OnesOrder {
    fn new(space: &BitSpace) -> Self {
        let bits = space.bits();
        let count = |item: u32| bits.get(item as usize).iter().map(|w| u64::from(w.count_ones()));
        let mut order: Vec<(u64, u32)> =
            (0..bits.len() as u32).map(|item| (count(item).sum(), item)).collect();
        order.par_sort_unstable();
        Self {
            words: order.iter().flat_map(|&(_, item)| bits.get(item as usize)).copied().collect(),
            ones: order.iter().map(|&(ones, _)| ones).collect(),
            order: order.into_iter().map(|(_, item)| item).collect(),
            words_each: bits.words_each(),
        }
    }

    fn blocks(&self) -> usize {
        self.order.len().div_ceil(TILE)
    }

    /// Hands over the pairs of a string of the block and a later one that differ in at most `most` bits, the earlier item
    /// first.
    fn compare(&self, block: usize, most: u64, split: Option<u32>, mut meet: impl FnMut(u32, u32)) {
        let is_asked = |a: u32, b: u32| split.is_none_or(|split| a < split && b >= split);
        let range = |block: usize| block * TILE..((block + 1) * TILE).min(self.order.len());
        let last = self.ones[range(block).end - 1];
        for other in block..self.blocks() {
            if self.ones[range(other).start] > last + most {
                break;
            }
            let many = &self.words
                [range(other).start * self.words_each..range(other).end * self.words_each];
            for at in range(block) {
                let one = &self.words[at * self.words_each..][..self.words_each];
                let mut near = near_bits(one, many, most);
                if other == block {
                    // Only those after it: itself and all before it are left out.
                    near &= u64::MAX << (at % TILE) << 1;
                }
                while near != 0 {
                    let with = self.order[range(other).start + near.trailing_zeros() as usize];
                    near &= near - 1;
                    let (a, b) = (self.order[at].min(with), self.order[at].max(with));
                    if is_asked(a, b) {
                        meet(a, b);
                    }
                }
            }
        }
    }
}
