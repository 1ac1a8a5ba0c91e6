//! All sets of fitting sizes, by their bitmaps: for probes whose symbols are in too many sets.
//!
//! Where sets have many of a few elements, none of these is rare, and a prefix leads to nearly all sets. Then it takes less
//! time to look at every bitmap than to go through the lists: bitmaps stand in the order of sizes, and several fit in a
//! register. By lists alone, an exact join of 10,000 sets of 40 of 60 elements took 0.54 s.
//!
//! A probe begins with its lists all the same: if it is connected to most of what they have, whole runs are passed over.
//! It changes over when it has looked at so many entries that all bitmaps would have taken as long.

use nearkin_kernels::{TILE, near_bits};

use super::probe::{ProbeLimits, ProbeRun, Skip};
use super::strings::{StringHead, bitmap_words, folded};

/// Fewer sets are not worth a scan.
const FEW: usize = 4 * TILE;

impl<S: Skip, H: FnMut(usize, usize)> ProbeRun<'_, S, H> {
    /// Entries of lists that take about as long to look at as the bitmaps of all sets.
    pub(super) fn entries_at_most(&self, plan: &ProbeLimits) -> usize {
        let sets = plan.end.min(self.probe.end).saturating_sub(plan.first);
        let filters = self.probes.filters;
        if sets < FEW || !filters.bitmap || !filters.length {
            return usize::MAX;
        }
        // An entry takes up to ten nanoseconds, a bitmap of one word a tenth of one, and one of eight words one or two.
        sets.saturating_mul(self.probe.text.bitmap.len()) / 50
    }

    /// Compares the probe with all sets of fitting sizes that it has not met, unless bitmaps rule them out.
    pub(super) fn look_at_all(&mut self, plan: &ProbeLimits) {
        let strings = &self.probes.strings;
        let end = plan.end.min(self.probe.end);
        let mut bitmap = self.probe.text.bitmap.to_vec();
        let mut start = plan.first;
        while start < end {
            let heads = of_one_width(&strings.heads[start..end.min(start + TILE)]);
            let words = bitmap_words(heads[0].size as usize);
            if words != bitmap.len() {
                bitmap = folded(self.probe.text.bitmap, words);
            }
            let mut near = u64::MAX >> (TILE - heads.len());
            // A wider bitmap would have to be folded: such sets are looked at one by one.
            if words <= self.probe.text.bitmap.len() {
                let most = self.differing_at_most(heads);
                let first = heads[0].bitmap as usize;
                let bitmaps = &strings.bitmaps[first..first + words * heads.len()];
                near = most.map_or(0, |most| near_bits(&bitmap, bitmaps, most as u64));
            }
            let behind = start + heads.len();
            while near != 0 {
                self.look_at(start + near.trailing_zeros() as usize);
                near &= near - 1;
            }
            start = behind;
        }
    }

    /// In how many bits the probe may differ at most from one of these sets, which come by size; none if no set can be
    /// similar.
    fn differing_at_most(&mut self, heads: &[StringHead]) -> Option<usize> {
        let (smallest, largest) = (heads.first()?.size, heads.last()?.size);
        // What is needed never falls as sets grow.
        let need = self.need(smallest).unwrap_or(0);
        let x = &self.probe.text;
        (x.size + largest as usize).checked_sub(2 * need + x.unshared)
    }

    fn look_at(&mut self, set: usize) {
        let strings = &self.probes.strings;
        let is_other_side = strings.split.is_none() || strings.side(set) != self.probe.side;
        if is_other_side && self.met[set] != self.number {
            let need = self.need(strings.heads[set].size);
            self.meet(set, (0, 0), need);
        }
    }
}

/// The first of these sets, which come by size, up to one whose bitmap is wider.
fn of_one_width(heads: &[StringHead]) -> &[StringHead] {
    let words = |head: &StringHead| bitmap_words(head.size as usize);
    let first = words(&heads[0]);
    if words(&heads[heads.len() - 1]) == first {
        return heads;
    }
    &heads[..heads.partition_point(|head| words(head) == first)]
}
