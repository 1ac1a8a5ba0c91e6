//! Close pairs on their way out of a join.
//!
//! There may be far more of them than memory holds. So a join hands its pairs on in portions while it finds more, and
//! whoever takes them decides what is kept.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::Result;

/// Pairs that are handed on together.
const PORTION: usize = 1 << 12;

/// Two items and their exact similarity or distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosePair {
    /// The item that comes first.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// What [`Space::value`](super::Space::value) says of them.
    pub value: f64,
}

/// Which pairs of a space are looked for.
#[derive(Clone, Copy)]
pub struct JoinQuery<'a> {
    /// Pairs that reach this similarity or distance.
    pub limit: f64,
    /// Where the second collection begins, when pairs of one item of each are looked for.
    pub split: Option<u32>,
    /// Whether to give up.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Takes the pairs of a join: in portions, from many threads, in any order.
pub type PairSink<'a> = dyn Fn(&[ClosePair]) -> Result<()> + Sync + 'a;

/// The pairs that one task of a join has found and not handed on yet.
pub(crate) struct PairBuffer<'a> {
    sink: &'a PairSink<'a>,
    pairs: Vec<ClosePair>,
    handed_on: u64,
    result: Result<()>,
}

impl<'a> PairBuffer<'a> {
    pub(crate) fn new(sink: &'a PairSink<'a>) -> Self {
        Self { sink, pairs: Vec::new(), handed_on: 0, result: Ok(()) }
    }

    /// Adds a pair. If the sink fails, [`finish`](Self::finish) says so.
    pub(crate) fn push(&mut self, pair: ClosePair) {
        self.pairs.push(pair);
        if self.pairs.len() == PORTION {
            self.hand_on();
        }
    }

    #[cold]
    fn hand_on(&mut self) {
        if self.result.is_ok() && !self.pairs.is_empty() {
            self.result = (self.sink)(&self.pairs);
        }
        self.handed_on += self.pairs.len() as u64;
        self.pairs.clear();
    }

    /// Hands on what is left. Returns how many pairs there were.
    pub(crate) fn finish(mut self) -> Result<u64> {
        self.hand_on();
        self.result.map(|()| self.handed_on)
    }
}

/// All pairs of a join, sorted by the first item, then the second, and what the join counted.
///
/// # Errors
/// Those of the join.
pub fn sorted_pairs<C>(
    join: impl FnOnce(&PairSink<'_>) -> Result<C>,
) -> Result<(Vec<ClosePair>, C)> {
    let all = Mutex::new(Vec::new());
    let counts = join(&|pairs| {
        all.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(pairs);
        Ok(())
    })?;
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.par_sort_unstable_by_key(|pair| (pair.a, pair.b));
    Ok((all, counts))
}
