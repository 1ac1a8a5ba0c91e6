//! One set against the index: through the filters, and what passes is compared.

use nearkin_kernels::symbols_at_least;

use super::bounds::Bounds;
use super::postings::Postings;
use super::strings::{Strings, Text};
use super::suffix::suffixes_differ;
use super::{Counts, Filters};
use crate::verify::Verifier;

/// What sets are looked up in.
#[derive(Debug)]
pub(super) struct Probes {
    pub(super) strings: Strings,
    pub(super) postings: Postings,
    pub(super) filters: Filters,
    /// Whether a set is only looked up among those before it, which are not larger.
    pub(super) self_join: bool,
}

/// The set that is looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe<'a> {
    pub(super) text: Text<'a>,
    /// Only sets before this one are looked at.
    pub(super) end: usize,
    pub(super) side: usize,
}

/// What one thread keeps between probes.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// For each set the last probe that met it.
    met: Vec<u32>,
    /// The number of this probe, from 1.
    probe: u32,
    plan: Plan,
    /// For each size of the other set, the size of the probe for which what must be shared was last asked for, and
    /// the answer plus one; 0 where the two cannot be similar.
    needs: Vec<(u32, u32)>,
}

/// What all probes of one size have in common.
#[derive(Debug, Default)]
struct Plan {
    size: usize,
    /// The first set that is large enough, and the first after it that is too large.
    first: usize,
    end: usize,
    /// Sets before this one are similar whatever they contain.
    anything: usize,
    /// For each position of the prefix, where the sets end that are not too large, and the last position there.
    limits: Vec<(u32, u32)>,
}

impl Plan {
    fn new(probes: &Probes, bounds: &Bounds<'_>, size: usize, mut limits: Vec<(u32, u32)>) -> Self {
        let Probes { strings, filters, self_join, .. } = probes;
        limits.clear();
        let sizes = bounds.sizes(size);
        let largest = if *self_join { size.min(*sizes.end()) } else { *sizes.end() };
        let Some(smallest) = strings.size_from(*sizes.start()).filter(|&size| size <= largest)
        else {
            let end = if filters.length { 0 } else { strings.len() };
            return Self { size, first: 0, end, anything: 0, limits };
        };
        let prefix = bounds.prefix_for(size, smallest);
        let sizes = smallest..=largest;
        let first = if filters.length { strings.first_of_size(smallest) } else { 0 };
        let end = if filters.length { strings.first_of_size(largest + 1) } else { strings.len() };
        limits.resize(prefix, (end as u32, u32::MAX));
        if filters.length && filters.position {
            // A set of this size may share its first symbol at so many of the positions.
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
    /// not looked at. Each set is met once.
    pub(super) fn probe(
        &self,
        verifier: &Verifier,
        probe: &Probe<'_>,
        memory: &mut Memory,
        counts: &mut Counts,
        mut skip: impl FnMut(usize) -> bool,
        mut hit: impl FnMut(usize, usize) -> bool,
    ) {
        let bounds = Bounds::new(verifier, self.strings.largest());
        self.prepare(&bounds, probe, memory);
        let Memory { met, probe: number, plan, needs } = memory;
        let x = &probe.text;
        let need_of = |needs: &mut Vec<(u32, u32)>, size: usize| -> Option<usize> {
            let known = &mut needs[size];
            if known.0 != x.size as u32 {
                *known = (x.size as u32, bounds.need(x.size, size).map_or(0, |n| n as u32 + 1));
            }
            (known.1 as usize).checked_sub(1)
        };
        let all = if self.filters.prefix { 0..plan.anything } else { plan.first..plan.end };
        for set in all.start..all.end.min(probe.end) {
            if self.strings.split.is_some() && self.strings.side(set) == probe.side {
                continue;
            }
            met[set] = *number;
            if skip(set) {
                continue;
            }
            counts.candidates += 1;
            let y = self.strings.text(set);
            let Some(need) = need_of(needs, y.size) else { continue };
            if let Some(shared) = self.compare(x, &y, (0, 0), need, counts) {
                counts.similar += 1;
                if !hit(set, shared) {
                    return;
                }
            }
        }
        if !self.filters.prefix {
            return;
        }
        let limits = plan.limits.iter().skip(x.unshared);
        for ((at, &symbol), &(end, last)) in x.symbols.iter().enumerate().zip(limits) {
            let end = end.min(probe.end as u32);
            let mut entries = self.postings.of(symbol, probe.side);
            if plan.first > 0 {
                let before = |set: u32| (set as usize) < plan.first;
                let skipped = if entries.len() < 16 {
                    entries.iter().take_while(|entry| before(entry.set)).count()
                } else {
                    entries.partition_point(|entry| before(entry.set))
                };
                entries = &entries[skipped..];
            }
            let after = x.symbols.len() - at;
            for entry in entries {
                let set = entry.set as usize;
                if entry.set >= end {
                    break;
                }
                if entry.position > last || met[set] == *number {
                    continue;
                }
                let head = &self.strings.heads[set];
                let need = need_of(needs, head.size as usize);
                if self.filters.suffix {
                    let other_after = (head.size - entry.position) as usize + 1;
                    if need.is_none_or(|need| need > after.min(other_after)) {
                        continue;
                    }
                }
                met[set] = *number;
                if skip(set) {
                    continue;
                }
                counts.candidates += 1;
                let Some(need) = need else { continue };
                let y = self.strings.text(set);
                let other_at = entry.position as usize - 1 - y.unshared;
                if let Some(shared) = self.compare(x, &y, (at, other_at), need, counts) {
                    counts.similar += 1;
                    if !hit(set, shared) {
                        return;
                    }
                }
            }
        }
    }

    fn prepare(&self, bounds: &Bounds<'_>, probe: &Probe<'_>, memory: &mut Memory) {
        if memory.met.len() != self.strings.len() || memory.probe == u32::MAX {
            *memory = Memory {
                met: vec![0; self.strings.len()],
                needs: vec![(0, 0); self.strings.largest() + 1],
                ..Memory::default()
            };
        }
        memory.probe += 1;
        if memory.plan.size != probe.text.size {
            let limits = std::mem::take(&mut memory.plan.limits);
            memory.plan = Plan::new(self, bounds, probe.text.size, limits);
        }
    }

    /// How many elements two sets share, if enough; before these places they share none.
    fn compare(
        &self,
        x: &Text<'_>,
        y: &Text<'_>,
        (at, other_at): (usize, usize),
        need: usize,
        counts: &mut Counts,
    ) -> Option<usize> {
        if self.filters.bitmap && x.least_difference(y) + 2 * need > x.size + y.size {
            return None;
        }
        let (a, b) = (&x.symbols[at..], &y.symbols[other_at..]);
        if self.filters.full_suffix && suffixes_differ(a, b, need) {
            return None;
        }
        counts.verified += 1;
        symbols_at_least(a, b, need)
    }
}
