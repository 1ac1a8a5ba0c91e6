//! Looks one set up in the index: candidates go through the filters, and what passes is compared.

use std::sync::atomic::{AtomicU64, Ordering};

use std::ops::Range;

use nearkin_kernels::symbols_at_least;

use super::bounds::Bounds;
use super::postings::{Posting, Postings};
use super::strings::{SymbolString, SymbolStrings};
use super::suffix::suffixes_differ;
use super::{Filters, SetJoinCounts};
use crate::verify::Verifier;

/// Entries of a list from which on runs are passed over, and entries counted.
const LONG: usize = 64;

/// What sets are looked up in.
#[derive(Debug)]
pub(super) struct Probes {
    pub(super) strings: SymbolStrings,
    pub(super) postings: Postings,
    pub(super) filters: Filters,
    /// Whether a set is only looked up among those before it, which are not larger.
    pub(super) self_join: bool,
    /// What tells it from all others.
    pub(super) number: u64,
}

/// The next number for what sets are looked up in, from 1.
pub(super) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Which sets a probe leaves out.
pub(super) trait Skip {
    /// Whether whole runs of entries may be passed over.
    const RUNS: bool;

    /// Whether a set is not compared.
    fn skips(&mut self, set: usize) -> bool;

    /// The first of these entries of a list from this place on that may have to be looked at.
    fn next(&mut self, _entries: &[Posting], place: usize) -> usize {
        place
    }
}

impl<F: FnMut(usize) -> bool> Skip for F {
    const RUNS: bool = false;

    fn skips(&mut self, set: usize) -> bool {
        self(set)
    }
}

/// The set that is looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe<'a> {
    pub(super) text: SymbolString<'a>,
    /// Only sets before this one are looked at.
    pub(super) end: usize,
    pub(super) side: usize,
}

/// What one thread keeps between probes.
#[derive(Debug, Default)]
pub(super) struct ProbeMemory {
    /// Whose probes these are.
    of: u64,
    /// For each set the last probe that met it.
    met: Vec<u32>,
    /// The number of this probe, from 1.
    probe: u32,
    plan: ProbeLimits,
    /// For each size of the other set, the size of the probe for which what must be shared was last asked for, and
    /// the answer plus one; 0 where the two cannot be similar.
    needs: Vec<(u32, u32)>,
}

/// What all probes of one size have in common.
#[derive(Debug, Default)]
pub(super) struct ProbeLimits {
    size: usize,
    /// The first set that is large enough, and the first after it that is too large.
    pub(super) first: usize,
    pub(super) end: usize,
    /// Sets before this one are similar whatever they contain.
    anything: usize,
    /// For each position of the prefix, where the sets end that are not too large, and the last position there.
    limits: Vec<(u32, u32)>,
}

impl ProbeLimits {
    fn new(probes: &Probes, bounds: &Bounds<'_>, size: usize, mut limits: Vec<(u32, u32)>) -> Self {
        let Probes { strings, filters, self_join, .. } = probes;
        limits.clear();
        let sizes = bounds.sizes(size);
        let largest = if *self_join { size.min(*sizes.end()) } else { *sizes.end() };
        let Some(smallest) = strings.size_from(*sizes.start()).filter(|&size| size <= largest)
        else {
            let end = if filters.length { 0 } else { strings.len() };
            if !filters.length && !filters.by_size {
                // Nothing is similar, but without a filter of sizes that is found out pair by pair.
                limits.resize(bounds.prefix(size), (end as u32, u32::MAX));
            }
            return Self { size, first: 0, end, anything: 0, limits };
        };
        let prefix = match filters.by_size {
            true => bounds.prefix_for(size, smallest),
            false => bounds.prefix(size),
        };
        let sizes = smallest..=largest;
        let first = if filters.length { strings.first_of_size(smallest) } else { 0 };
        let end = if filters.length { strings.first_of_size(largest + 1) } else { strings.len() };
        limits.resize(prefix, (end as u32, u32::MAX));
        if filters.length && filters.position && filters.by_size {
            // At this many positions a set of this size may share its first symbol.
            let mut from = 0;
            for (other, end) in strings.sizes_within(&sizes).rev() {
                let last = bounds.need(size, other).map_or(0, |need| size + 1 - need.max(1));
                let last = last.min(prefix).max(from);
                limits[from..last].iter_mut().for_each(|limit| limit.0 = end);
                from = last;
            }
            limits[from..].iter_mut().for_each(|limit| limit.0 = 0);
        }
        if filters.position && !filters.suffix {
            bounds.last_positions(size, prefix, |position, last| {
                limits[position - 1].1 = last.min(u32::MAX as usize) as u32;
            });
        }
        let anything = strings.first_of_size(bounds.anything(size) + 1);
        Self { size, first, end, anything, limits }
    }
}

impl Probes {
    /// Calls `hit` with every set that is similar to the probe and what they share; sets for which `skip` says so are
    /// not compared. Each set is met once.
    pub(super) fn probe(
        &self,
        verifier: &Verifier,
        probe: &Probe<'_>,
        memory: &mut ProbeMemory,
        counts: &mut SetJoinCounts,
        skip: impl Skip,
        hit: impl FnMut(usize, usize),
    ) {
        let bounds = Bounds::new(verifier, self.strings.largest());
        self.prepare(&bounds, probe, memory);
        let ProbeMemory { met, probe: number, plan, needs, .. } = memory;
        let mut search = ProbeRun {
            probes: self,
            bounds,
            probe,
            number: *number,
            met,
            needs,
            counts,
            skip,
            hit,
        };
        if self.filters.prefix {
            search.compare_all(0..plan.anything);
            search.look_up(plan);
        } else {
            search.compare_all(plan.first..plan.end);
        }
    }

    fn prepare(&self, bounds: &Bounds<'_>, probe: &Probe<'_>, memory: &mut ProbeMemory) {
        if memory.of != self.number || memory.probe == u32::MAX {
            *memory = ProbeMemory {
                of: self.number,
                met: vec![0; self.strings.len()],
                needs: vec![(0, 0); self.strings.largest() + 1],
                ..ProbeMemory::default()
            };
        }
        memory.probe += 1;
        if memory.plan.size != probe.text.size {
            let limits = std::mem::take(&mut memory.plan.limits);
            memory.plan = ProbeLimits::new(self, bounds, probe.text.size, limits);
        }
    }
}

/// One probe under way.
pub(super) struct ProbeRun<'a, S, H> {
    pub(super) probes: &'a Probes,
    bounds: Bounds<'a>,
    pub(super) probe: &'a Probe<'a>,
    pub(super) number: u32,
    pub(super) met: &'a mut [u32],
    needs: &'a mut [(u32, u32)],
    counts: &'a mut SetJoinCounts,
    skip: S,
    hit: H,
}

impl<S: Skip, H: FnMut(usize, usize)> ProbeRun<'_, S, H> {
    /// Compares the probe with all sets of a range.
    fn compare_all(&mut self, sets: Range<usize>) {
        let strings = &self.probes.strings;
        for set in sets.start..sets.end.min(self.probe.end) {
            if strings.split.is_none() || strings.side(set) != self.probe.side {
                let need = self.need(strings.heads[set].size);
                self.meet(set, (0, 0), need);
            }
        }
    }

    /// Goes through the sets that share a symbol of the prefix, or through all where these are too many.
    fn look_up(&mut self, plan: &ProbeLimits) {
        let x = &self.probe.text;
        let limits = plan.limits.iter().skip(x.unshared);
        let mut left = self.entries_at_most(plan);
        for ((at, &symbol), &(end, last)) in x.symbols.iter().enumerate().zip(limits) {
            let entries = self.probes.postings.of(symbol, self.probe.side);
            let end = end.min(self.probe.end as u32);
            let entries = from(entries, plan.first);
            if entries.len() >= LONG {
                let entries = &entries[..entries.partition_point(|entry| entry.set < end)];
                if !self.look_through(at, entries, last, &mut left) {
                    return self.look_at_all(plan);
                }
                continue;
            }
            for entry in entries {
                if entry.set >= end {
                    break;
                }
                if entry.position <= last && self.met[entry.set as usize] != self.number {
                    self.consider(at, entry);
                }
            }
        }
    }

    /// Goes through a long list, of which runs may be passed over. Returns false if that looks at more entries than are
    /// left. What is passed over does not count: how long runs are depends on which thread comes first.
    fn look_through(
        &mut self,
        at: usize,
        entries: &[Posting],
        last: u32,
        left: &mut usize,
    ) -> bool {
        if !S::RUNS && entries.len() > *left {
            return false;
        }
        let mut place = 0;
        while let Some(entry) = entries.get(place) {
            let next = self.skip.next(entries, place);
            if next > place {
                place = next;
                continue;
            }
            if *left == 0 {
                return false;
            }
            *left -= 1;
            if entry.position <= last && self.met[entry.set as usize] != self.number {
                self.consider(at, entry);
            }
            place += 1;
        }
        true
    }

    /// Looks at a set that has not been met, by the first symbol that it shares with the probe.
    #[inline]
    fn consider(&mut self, at: usize, entry: &Posting) {
        let head = &self.probes.strings.heads[entry.set as usize];
        let need = self.need(head.size);
        let after = self.probe.text.symbols.len() - at;
        let other_after = (head.size - entry.position) as usize + 1;
        // A set that is ruled out here is by every later symbol too: what follows only gets shorter.
        if !self.probes.filters.suffix || need.is_some_and(|n| n <= after.min(other_after)) {
            self.meet(
                entry.set as usize,
                (at, (entry.position - 1 - head.unshared) as usize),
                need,
            );
        }
    }

    /// What the probe must share with a set of this size.
    #[inline]
    pub(super) fn need(&mut self, size: u32) -> Option<usize> {
        let length = self.probe.text.size;
        let known = &mut self.needs[size as usize];
        if known.0 != length as u32 {
            let need = self.bounds.need(length, size as usize);
            *known = (length as u32, need.map_or(0, |need| need as u32 + 1));
        }
        (known.1 as usize).checked_sub(1)
    }

    /// Compares the probe with a set, unless that is to be skipped. Before these places they share nothing.
    #[inline]
    pub(super) fn meet(&mut self, set: usize, places: (usize, usize), need: Option<usize>) {
        self.met[set] = self.number;
        if self.skip.skips(set) {
            return;
        }
        self.counts.candidates += 1;
        if let Some(shared) = need.and_then(|need| self.compare(set, places, need)) {
            self.counts.similar += 1;
            (self.hit)(set, shared);
        }
    }

    /// How many elements the two share, if enough.
    #[inline]
    fn compare(
        &mut self,
        set: usize,
        (at, other_at): (usize, usize),
        need: usize,
    ) -> Option<usize> {
        let Filters { bitmap, full_suffix, .. } = self.probes.filters;
        let (x, y) = (&self.probe.text, self.probes.strings.text(set));
        if bitmap && x.least_difference(&y) + 2 * need > x.size + y.size {
            return None;
        }
        let (a, b) = (&x.symbols[at..], &y.symbols[other_at..]);
        if full_suffix && suffixes_differ(a, b, need) {
            return None;
        }
        self.counts.verified += 1;
        symbols_at_least(a, b, need)
    }
}

/// The entries from a set on.
fn from(entries: &[Posting], first: usize) -> &[Posting] {
    /// Fewer are looked at one by one.
    const FEW: usize = 16;
    let before = |entry: &Posting| (entry.set as usize) < first;
    let skipped = match entries.len() {
        _ if first == 0 => 0,
        ..FEW => entries.iter().take_while(|entry| before(entry)).count(),
        _ => entries.partition_point(before),
    };
    &entries[skipped..]
}
