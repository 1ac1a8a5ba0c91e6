//! Looking into further buckets of a table instead of making further tables.
//!
//! Of a table's r functions some are uncertain of an item: its projection stands next to a cut, and a close item may
//! stand behind it. A probe is a row of r values in which some such functions have the value that is next best. Probes
//! come in the order of the total cost of their changes, the cost of one being the squared distance to the cut, which
//! for normal projections is in proportion to the logarithm of its chance (Lv, Josephson, Wang, Charikar and Li,
//! *Multi-probe LSH: efficient indexing for high-dimensional similarity search*, 2007; their shift and expand steps
//! enumerate sets of changes in that order).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Family;

/// A family that can say which further buckets a close item is likely to be in.
pub trait Probing: Family {
    /// Appends up to `count` rows of values of the functions `from..from + rows`: the item's own first, then others
    /// in the order in which a close item is likely to have them. No row comes twice.
    fn probes(&self, item: u32, from: usize, rows: usize, count: usize, out: &mut Vec<u64>);

    /// The chance that of two items at this distance one has, under `rows` functions, a row of values that is among
    /// the first `count` [`probes`](Self::probes) of the other. With `count` 1 it is agreement^rows.
    ///
    /// An average over [`SAMPLES`] evenly spread cases, in each of which the chance is exact; tests hold it to 0.002. It
    /// takes some 50 ms for 16 rows and 100 probes, so ask once for a plan, not once for a pair.
    fn probed_agreement(&self, distance: f64, rows: usize, count: usize) -> f64;
}

/// Another value for one function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub(super) cost: f64,
    pub(super) function: usize,
    pub(super) value: u64,
}

/// Appends `own` and the rows that follow by making changes, the cheapest first.
pub(super) fn rows_of_values(own: &[u64], changes: Vec<Change>, count: usize, out: &mut Vec<u64>) {
    if count == 0 {
        return;
    }
    out.extend_from_slice(own);
    let changes = cheapest(changes, |change| change.cost);
    for set in Sets::new(changes.iter().map(|c| (c.cost, c.function))).take(count - 1) {
        let start = out.len();
        out.extend_from_slice(own);
        for at in members(set) {
            out[start + changes[at].function] = changes[at].value;
        }
    }
}

/// Changes that are considered. Of the first n sets all are made of the n cheapest changes, for each of these is a set
/// by itself; so only beyond 128 probes of more than 128 changes is anything lost.
const MOST: usize = 128;

/// The cheapest changes, in order. Equal costs keep theirs, so that an item has the same probes everywhere.
fn cheapest<T>(mut changes: Vec<T>, cost: impl Fn(&T) -> f64) -> Vec<T> {
    changes.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    changes.truncate(MOST);
    changes
}

/// A set of changes: a bit for each.
#[derive(Debug, PartialEq)]
struct Set {
    cost: f64,
    mask: u128,
}

impl Eq for Set {}

impl Ord for Set {
    /// The heap gives the largest first: that is the cheapest, and of equals the one with the earlier changes.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then_with(|| other.mask.cmp(&self.mask))
    }
}

impl PartialOrd for Set {
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
struct Sets {
    costs: Vec<f64>,
    /// The other changes of the same function.
    others: Vec<u128>,
    heap: BinaryHeap<Set>,
}

impl Sets {
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
        let first = costs.first().map(|&cost| Set { cost, mask: 1 });
        Self { costs, others, heap: first.into_iter().collect() }
    }

    /// The two sets that follow: with one change more, and with the last change replaced by the next.
    fn push_next(&mut self, set: &Set) {
        let last = 127 - set.mask.leading_zeros() as usize;
        let Some(&cost) = self.costs.get(last + 1) else { return };
        let next = 1 << (last + 1);
        self.heap.push(Set { cost: set.cost + cost, mask: set.mask | next });
        let mask = set.mask & !(1 << last) | next;
        // Summed anew: what is taken off a sum again does not leave what was there before.
        let cost = members(mask).map(|at| self.costs[at]).sum();
        self.heap.push(Set { cost, mask });
    }
}

impl Iterator for Sets {
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

/// Cases that [`Probing::probed_agreement`] averages over.
pub const SAMPLES: usize = 4096;

/// What is known of a function in a case: the chance that the other item has the same value, and cost and chance of
/// each change.
type Case = (f64, [Option<(f64, f64)>; 2]);

/// The chance of [`Probing::probed_agreement`]. `case` is given a number from 0 to 1, for each function another.
///
/// The numbers are multiples of the square roots of primes, modulo 1 (Weyl 1916): spread more evenly than random ones,
/// so that the error falls nearly as 1 over their number.
pub(super) fn average(rows: usize, count: usize, case: impl Fn(f64) -> Case) -> f64 {
    let steps: Vec<f64> = primes().take(rows).map(|p| (p as f64).sqrt().fract()).collect();
    let chance = |sample: usize| {
        let cases: Vec<Case> =
            steps.iter().map(|step| case((step * (sample as f64 + 0.5)).fract())).collect();
        chance_of_case(&cases, count)
    };
    (0..SAMPLES).map(chance).sum::<f64>() / SAMPLES as f64
}

/// The sum of the chances of the first `count` rows of values, which exclude each other.
fn chance_of_case(cases: &[Case], count: usize) -> f64 {
    // A chance of 0 is taken for next to nothing, so that one can divide by it.
    let old = |case: &Case| case.0.max(1e-30);
    let changes = cases.iter().enumerate().flat_map(|(function, case)| {
        let changed = move |(cost, chance): (f64, f64)| (cost, function, chance / old(case));
        case.1.into_iter().flatten().map(changed)
    });
    let changes = cheapest(changes.collect(), |change| change.0);
    let sets = Sets::new(changes.iter().map(|c| (c.0, c.1))).take(count.saturating_sub(1));
    let factor = |set| members(set).map(|at| changes[at].2).product::<f64>();
    let unchanged: f64 = cases.iter().map(old).product();
    if count == 0 { 0.0 } else { unchanged * (1.0 + sets.map(factor).sum::<f64>()) }
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
            Sets::new(changes.into_iter()).map(|set| members(set).collect()).collect();
        assert_eq!(found.len(), all.len());
        for (found, known) in found.iter().zip(&all) {
            assert!((cost(found) - cost(known)).abs() < 1e-12, "{found:?} {known:?}");
        }
    }
}
