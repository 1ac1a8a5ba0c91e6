//! Looking into further buckets of a table instead of making further tables.
//!
//! Some of a table's r functions are uncertain of an item: its projection stands next to a cut, and a close item may
//! stand behind it. A probe is a row of r values in which some of these functions have their next best value, the least
//! certain ones first (Lv, Josephson, Wang, Charikar and Li, *Multi-probe LSH: efficient indexing for high-dimensional
//! similarity search*, 2007).
//!
//! An item's changes are ranked by its own margins. Which ranks change together in the first, second, … probe is the
//! same for all items: it follows from the costs that the ranks have on average (section 4.5 of the paper), where the
//! cost of a change is the squared distance to the cut. So a probe takes a few additions and no queue.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::Family;
use super::curve::normal_at;

/// A family that can say which further buckets a close item is likely to be in.
pub trait ProbeFamily: Family {
    /// What its values are, and what a margin is.
    fn doubt(&self) -> Doubt;

    /// What [`hash_many`](Family::hash_many) gives, and how far each is from being another value.
    ///
    /// # Panics
    /// Unless there are a value and a margin for each item and function.
    fn hash_margins(
        &self,
        items: Range<u32>,
        from: usize,
        functions: usize,
        values: &mut [u64],
        margins: &mut [f32],
    );

    /// For 1, 2, … up to `most` probes: the chance that one of two items at this distance has, under `rows` functions, a
    /// row of values that is among the first that many [`probes`](Self::probes) of the other. There are fewer numbers
    /// where there are fewer probes.
    ///
    /// It is an average over `samples` evenly spread cases. In each case the chance is exact.
    fn probed_agreements(
        &self,
        distance: f64,
        rows: usize,
        most: usize,
        samples: usize,
    ) -> Vec<f64>;

    /// The chance with `count` probes; with one probe it is agreement^rows. It comes from [`SAMPLES`] cases, and tests
    /// hold it to 0.002.
    fn probed_agreement(&self, distance: f64, rows: usize, count: usize) -> f64 {
        let chances = self.probed_agreements(distance, rows, count, SAMPLES);
        chances.last().copied().unwrap_or(0.0)
    }

    /// Appends up to `count` rows of values of the functions `from..from + rows`: the item's own first, then others
    /// in about the order in which a close item is likely to have them. No row comes twice.
    fn probes(&self, item: u32, from: usize, rows: usize, count: usize, out: &mut Vec<u64>) {
        if count == 0 {
            return;
        }
        let (mut own, mut margins) = (vec![0; rows], vec![0.0; rows]);
        self.hash_margins(item..item + 1, from, rows, &mut own, &mut margins);
        out.extend_from_slice(&own);
        let pattern = ProbePattern::new(self.doubt(), rows, count);
        let mut changes = Vec::new();
        pattern.changes(&margins, &mut changes);
        for set in pattern.sets() {
            let start = out.len();
            out.extend_from_slice(&own);
            for change in set.iter().map(|&rank| changes[usize::from(rank)]) {
                out[start + change.function()] = change.value(self.doubt(), own[change.function()]);
            }
        }
    }
}

/// What the values of a family are, and what their margins are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Numbers of stretches, which have a neighbour on each side. A margin is how far inside its stretch an item stands,
    /// from 0 to 1, evenly.
    Stretch,
    /// 1 or 0 for the sides of a cut. A margin is how far from the cut an item stands, as a normal variable without its
    /// sign.
    Side,
    /// 1 or 0, and each as certain as any other: margins are equal.
    Bit,
}

/// Another value for one function: the function, and whether it is the next one or the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProbeChange(u64);

impl ProbeChange {
    /// The margin's bits come first, so that changes sort by it; of equals by the function, so that an item has the same
    /// probes everywhere.
    fn new(margin: f32, function: usize, up: bool) -> Self {
        Self(u64::from(margin.to_bits()) << 32 | (function as u64) << 1 | u64::from(up))
    }

    pub(crate) fn function(self) -> usize {
        (self.0 as u32 >> 1) as usize
    }

    fn up(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn value(self, doubt: Doubt, own: u64) -> u64 {
        match doubt {
            Doubt::Stretch if self.up() => own.wrapping_add(1),
            Doubt::Stretch => own.wrapping_sub(1),
            Doubt::Side | Doubt::Bit => own ^ 1,
        }
    }
}

/// Which changes make the probes of an item, by their rank.
#[derive(Debug, Clone)]
pub(crate) struct ProbePattern {
    doubt: Doubt,
    /// Ranks that come in a set.
    ranks: usize,
    members: Vec<u8>,
    /// Where each set ends.
    ends: Vec<u32>,
}

impl ProbePattern {
    /// For tables of `rows` functions and `count` probes, the first of which is the item's own row.
    pub(crate) fn new(doubt: Doubt, rows: usize, count: usize) -> Self {
        let mut pattern = Self { doubt, ranks: 0, members: Vec::new(), ends: Vec::new() };
        let costs = expected_costs(doubt, rows).into_iter().take(MOST);
        // The changes of one function are as far from the first rank as from the last.
        let function = |rank: usize| rank.min((2 * rows).wrapping_sub(rank + 1));
        let sets = ChangeSets::new(costs.enumerate().map(|(rank, cost)| (cost, function(rank))));
        for set in sets.take(count.saturating_sub(1)) {
            pattern.members.extend(members(set).map(|rank| rank as u8));
            pattern.ends.push(pattern.members.len() as u32);
        }
        pattern.ranks = pattern.members.iter().max().map_or(0, |&rank| usize::from(rank) + 1);
        pattern
    }

    /// The ranks that are changed for each probe after the first.
    pub(crate) fn sets(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let set = &self.members[start..end as usize];
            start = end as usize;
            set
        })
    }

    /// The changes of an item by rank, as far as they are needed.
    pub(crate) fn changes(&self, margins: &[f32], changes: &mut Vec<ProbeChange>) {
        changes.clear();
        let nearest = margins.iter().enumerate().map(|(function, &margin)| match self.doubt {
            Doubt::Stretch if margin > 0.5 => ProbeChange::new(1.0 - margin, function, true),
            _ => ProbeChange::new(margin, function, false),
        });
        // Few of many ranks are needed, mostly: sorting all of 40 took 0.3 µs more.
        let needed = self.ranks.min(margins.len());
        for change in nearest {
            if changes.len() < needed {
                changes.push(change);
            } else if changes.last().is_none_or(|&last| last <= change) {
                continue;
            }
            let mut at = changes.len() - 1;
            while at > 0 && changes[at - 1] > change {
                changes[at] = changes[at - 1];
                at -= 1;
            }
            changes[at] = change;
        }
        if self.doubt == Doubt::Stretch {
            for rank in (0..margins.len()).rev().take(self.ranks.saturating_sub(margins.len())) {
                changes.push(ProbeChange(changes[rank].0 ^ 1));
            }
        }
    }
}

/// The average costs of the changes of `rows` functions, ascending.
fn expected_costs(doubt: Doubt, rows: usize) -> Vec<f64> {
    let r = rows as f64;
    // The mean of the square of the j-th smallest of r even numbers from 0 to 1/2.
    let square = |j: f64| j * (j + 1.0) / (4.0 * (r + 1.0) * (r + 2.0));
    let ranks = (1..=rows).map(|j| j as f64);
    match doubt {
        Doubt::Stretch => {
            let near = ranks.clone().map(square);
            // (1 − x)², x having the mean j / 2(r + 1).
            let far = ranks.rev().map(|j| 1.0 - j / (r + 1.0) + square(j));
            near.chain(far).collect()
        }
        Doubt::Side => ranks.map(|j| normal_at(0.5 + 0.5 * j / (r + 1.0)).powi(2)).collect(),
        Doubt::Bit => vec![1.0; rows],
    }
}

/// Changes that are considered. The first n sets are made of the n cheapest changes, because each of these is a set by
/// itself. So something is lost only beyond 128 probes of more than 128 changes.
const MOST: usize = 128;

/// A set of changes: a bit for each.
#[derive(Debug, PartialEq)]
struct ChangeSet {
    cost: f64,
    mask: u128,
}

impl Eq for ChangeSet {}

impl Ord for ChangeSet {
    /// The heap gives the largest first: that is the cheapest, and of equals the one with the earlier changes.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then_with(|| other.mask.cmp(&self.mask))
    }
}

impl PartialOrd for ChangeSet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The bits of a set, ascending.
fn members(mut mask: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(at)
    })
}

/// All sets of changes with at most one for each function, the cheapest first.
struct ChangeSets {
    costs: Vec<f64>,
    /// The other changes of the same function.
    others: Vec<u128>,
    heap: BinaryHeap<ChangeSet>,
}

impl ChangeSets {
    /// Of changes given by cost and function, ascending by cost.
    fn new(changes: impl Iterator<Item = (f64, usize)>) -> Self {
        let (costs, functions): (Vec<f64>, Vec<usize>) = changes.unzip();
        let mut others = vec![0; costs.len()];
        for (i, function) in functions.iter().enumerate() {
            if let Some(j) = functions[..i].iter().position(|other| other == function) {
                others[i] |= 1 << j | others[j];
                members(others[i]).for_each(|other| others[other] |= 1 << i);
            }
        }
        let first = costs.first().map(|&cost| ChangeSet { cost, mask: 1 });
        Self { costs, others, heap: first.into_iter().collect() }
    }

    /// The two sets that follow: with one change more, and with the last change replaced by the next.
    fn push_next(&mut self, set: &ChangeSet) {
        let last = 127 - set.mask.leading_zeros() as usize;
        let Some(&cost) = self.costs.get(last + 1) else { return };
        let next = 1 << (last + 1);
        self.heap.push(ChangeSet { cost: set.cost + cost, mask: set.mask | next });
        let mask = set.mask & !(1 << last) | next;
        // Summed anew: what is taken off a sum again does not leave what was there before.
        let cost = members(mask).map(|at| self.costs[at]).sum();
        self.heap.push(ChangeSet { cost, mask });
    }
}

impl Iterator for ChangeSets {
    type Item = u128;

    fn next(&mut self) -> Option<u128> {
        loop {
            let set = self.heap.pop()?;
            self.push_next(&set);
            if members(set.mask).all(|at| set.mask & self.others[at] == 0) {
                return Some(set.mask);
            }
        }
    }
}

/// Cases that [`ProbeFamily::probed_agreement`] averages over.
pub const SAMPLES: usize = 4096;

/// Where the chances of a function are computed; between, they are taken for straight.
const STEPS: usize = 2048;

/// What is known of a function in a case: the chances that the other item has the same value, the one before, and the
/// next or only other one.
pub(super) type ValueChances = [f64; 3];

/// The chances of [`ProbeFamily::probed_agreements`]. `case` takes a number from 0 to 1 that is a function's margin or
/// grows with it; each function has its own.
///
/// The numbers are multiples of the square roots of primes, modulo 1 (Weyl 1916). They are spread more evenly than random
/// ones, so the error falls nearly as 1 over their number.
pub(super) fn average(
    doubt: Doubt,
    rows: usize,
    most: usize,
    samples: usize,
    case: impl Fn(f64) -> ValueChances,
) -> Vec<f64> {
    if most == 0 {
        return Vec::new();
    }
    let cases: Vec<ValueChances> =
        (0..=STEPS).map(|step| case(step as f64 / STEPS as f64)).collect();
    let steps: Vec<f64> = primes().take(rows).map(|p| (p as f64).sqrt().fract()).collect();
    let pattern = ProbePattern::new(doubt, rows, most);
    let mut sums = vec![0.0; 1 + pattern.sets().count()];
    let mut places: Vec<f64> = steps.iter().map(|step| 0.5 * step).collect();
    let (mut margins, mut changes, mut factors) = (vec![0.0; rows], Vec::new(), Vec::new());
    for _ in 0..samples {
        for ((margin, place), step) in margins.iter_mut().zip(&mut places).zip(&steps) {
            *margin = *place as f32;
            *place += step;
            *place -= f64::from(u8::from(*place >= 1.0));
        }
        let old = |margin: f32| between(&cases, margin, 0).max(1e-30);
        pattern.changes(&margins, &mut changes);
        factors.clear();
        factors.extend(changes.iter().map(|change| {
            let margin = margins[change.function()];
            let to = if doubt == Doubt::Stretch && !change.up() { 1 } else { 2 };
            // A chance of 0 is taken for next to nothing, so that one can divide by it.
            between(&cases, margin, to) / old(margin)
        }));
        let own: f64 = margins.iter().map(|&margin| old(margin)).product();
        sums[0] += own;
        for (sum, set) in sums[1..].iter_mut().zip(pattern.sets()) {
            *sum += own * set.iter().map(|&rank| factors[usize::from(rank)]).product::<f64>();
        }
    }
    let mut total = 0.0;
    for sum in &mut sums {
        total += *sum / samples.max(1) as f64;
        *sum = total.min(1.0);
    }
    sums
}

/// A chance between the cases that were computed.
fn between(cases: &[ValueChances], margin: f32, which: usize) -> f64 {
    let place = f64::from(margin) * STEPS as f64;
    let below = (place as usize).min(STEPS - 1);
    let share = place - below as f64;
    cases[below][which] * (1.0 - share) + cases[below + 1][which] * share
}

fn primes() -> impl Iterator<Item = u64> {
    (2u64..).filter(|n| (2..).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against all subsets, sorted.
    #[test]
    fn sets_come_in_the_order_of_their_cost() {
        let changes = [(0.1, 0), (0.15, 1), (0.3, 2), (0.35, 1), (0.5, 3), (0.9, 0)];
        let cost = |set: &Vec<usize>| set.iter().map(|&at| changes[at].0).sum::<f64>();
        let mut all: Vec<Vec<usize>> = (1..1usize << changes.len())
            .map(|mask| (0..changes.len()).filter(|at| mask >> at & 1 == 1).collect())
            .filter(|set: &Vec<usize>| {
                let functions: std::collections::BTreeSet<_> =
                    set.iter().map(|&at| changes[at].1).collect();
                functions.len() == set.len()
            })
            .collect();
        all.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let found: Vec<Vec<usize>> =
            ChangeSets::new(changes.into_iter()).map(|set| members(set).collect()).collect();
        assert_eq!(found.len(), all.len());
        for (found, known) in found.iter().zip(&all) {
            assert!((cost(found) - cost(known)).abs() < 1e-12, "{found:?} {known:?}");
        }
    }
}
