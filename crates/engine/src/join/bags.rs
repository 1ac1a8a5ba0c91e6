//! Bags with counts that are similar, all of them: prefix and length filters whose unit is the count and not the element.
//!
//! With t the threshold as a similarity by maximum, bags of A and B elements, counted, must share s ≥ t / (1 + t) · (A + B)
//! of them; and since s is at most B, B ≥ t · A. Elements are put in one order, those that few bags have first. The rest
//! of a bag at an element is how much it counts from there on.
//!
//! The head of a bag ends where its rest is less than it must share with any bag. Two similar bags have their first
//! common element in both heads: else all they share would be in the rest of one, which is too little. The head that is
//! looked up serves for all bags that are not larger: t · A is the least it may share. The head that is in the lists serves
//! for all that are not smaller, with which a bag shares 2t / (1 + t) · B at least, so it is shorter.
//!
//! A bag goes through the lists of its own head and adds up minima. It drops a partner as soon as the sum and the smaller of
//! the two rests stay below what they must share. The others are compared exactly. So an element costs the same whether it
//! occurs once or a million times.

use rayon::prelude::*;

use super::go_on;
use crate::Result;
use crate::item::{Bags, Counted};
use crate::space::{BagSpace, ClosePair, JoinQuery, PairBuffer, PairSink, Space};
use crate::verify::check;

/// Bags that one task goes through with one array of sums.
const CHUNK: usize = 256;

/// The sum of a partner that is out.
const OUT: u64 = u64::MAX;

/// Hands on all pairs of bags that reach `join.limit`, and counts how many were compared exactly.
///
/// # Errors
/// When the limit is out of range, the join was stopped, or the sink fails.
pub fn join(space: &BagSpace<'_>, join: &JoinQuery<'_>, found: &PairSink<'_>) -> Result<u64> {
    check(space.measure(), space.limit(join.limit))?;
    let heads = BagHeads::new(space, join);
    let chunks = (0..heads.ranked.len().div_ceil(CHUNK)).into_par_iter();
    let compared = chunks.map(|chunk| {
        go_on(join.stopped)?;
        let ranks = chunk * CHUNK..heads.ranked.len().min((chunk + 1) * CHUNK);
        let (mut pairs, mut compared) = (PairBuffer::new(found), 0);
        heads.candidates(ranks, join, &mut |item, partners| {
            compared += partners.len() as u64;
            for &other in partners {
                let (a, b) = (item.min(other), item.max(other));
                if let Some(value) = space.reaching(a, b, join.limit) {
                    pairs.push(ClosePair { a, b, value });
                }
            }
        });
        pairs.finish().map(|_| compared)
    });
    let compared = compared.try_reduce(|| 0, |a, b| Ok(a + b))?;
    go_on(join.stopped)?;
    Ok(compared)
}

/// An entry of a bag: of its head with an element, or of the list of an element with a bag.
#[derive(Debug, Clone, Copy, Default)]
struct HeadEntry {
    /// The element's place in the order, or the bag's rank.
    at: u32,
    count: u64,
    /// How much the bag counts behind this element.
    rest: u64,
}

/// The heads of all bags, by element.
struct BagHeads<'a> {
    bags: &'a Bags,
    /// The share of both totals that two bags must have in common.
    share: f64,
    /// Bags that are not empty, the smallest first.
    ranked: Vec<u32>,
    order: ElementOrder,
    /// By place of an element, where its list begins in `lists`, and the end of all.
    list_ends: Vec<usize>,
    /// Ranks ascend in each list.
    lists: Vec<HeadEntry>,
}

impl<'a> BagHeads<'a> {
    fn new(space: &BagSpace<'a>, join: &JoinQuery<'_>) -> Self {
        let (bags, share) = (space.bags(), space.share(join.limit));
        let mut ranked: Vec<u32> = (0..bags.len() as u32).collect();
        ranked.retain(|&item| bags.total(item as usize) > 0);
        ranked.par_sort_unstable_by_key(|&item| (bags.total(item as usize), item));
        let order = ElementOrder::new(bags);
        let mut heads =
            Self { bags, share, ranked, order, list_ends: Vec::new(), lists: Vec::new() };
        let shortest = |&item: &u32| heads.head(item, 2.0 * share);
        let entries: Vec<Vec<HeadEntry>> = heads.ranked.par_iter().map(shortest).collect();
        let mut ends = vec![0; heads.order.elements.len() + 1];
        entries.iter().flatten().for_each(|entry| ends[entry.at as usize + 1] += 1);
        (1..ends.len()).for_each(|at| ends[at] += ends[at - 1]);
        let mut next = ends.clone();
        let mut lists = vec![HeadEntry::default(); ends[ends.len() - 1]];
        for (rank, head) in (0u32..).zip(entries) {
            for entry in head {
                let next = &mut next[entry.at as usize];
                lists[*next] = HeadEntry { at: rank, ..entry };
                *next += 1;
            }
        }
        heads.list_ends = ends;
        heads.lists = lists;
        heads
    }

    /// The entries of a bag until its rest is less than this share of it.
    fn head(&self, item: u32, share: f64) -> Vec<HeadEntry> {
        let item = item as usize;
        let least = share * self.bags.total(item) as f64;
        let entry = |&(element, count): &Counted| HeadEntry {
            at: self.order.place(element),
            count,
            rest: 0,
        };
        let mut entries: Vec<HeadEntry> = self.bags.get(item).iter().map(entry).collect();
        entries.sort_unstable_by_key(|entry| entry.at);
        let mut rest = self.bags.total(item);
        let mut length = 0;
        for entry in &mut entries {
            if (rest as f64) < least {
                break;
            }
            rest -= entry.count;
            entry.rest = rest;
            length += 1;
        }
        entries.truncate(length);
        entries
    }

    /// Calls `with` for each bag of these ranks and those of lower rank that may be similar.
    fn candidates(
        &self,
        ranks: std::ops::Range<usize>,
        join: &JoinQuery<'_>,
        with: &mut dyn FnMut(u32, &[u32]),
    ) {
        // What is added up so far: 0 for one not met.
        let mut sums = vec![0u64; ranks.end];
        let mut met: Vec<u32> = Vec::new();
        // s ≥ t · A, with t / (1 + t) the share of both totals.
        let of_larger = self.share / (1.0 - self.share) * (1.0 - f64::EPSILON);
        let total = |rank: u32| self.bags.total(self.ranked[rank as usize] as usize) as f64;
        for rank in ranks {
            if (join.stopped)() {
                return;
            }
            let item = self.ranked[rank];
            let own = total(rank as u32);
            let from = self.ranked[..rank].partition_point(|&other| {
                (self.bags.total(other as usize) as f64) < of_larger * own
            }) as u32;
            for entry in self.head(item, of_larger) {
                let list = self.list_ends[entry.at as usize]..self.list_ends[entry.at as usize + 1];
                let list = &self.lists[list];
                let list = &list[list.partition_point(|other| other.at < from)..];
                for other in list.iter().take_while(|other| (other.at as usize) < rank) {
                    let sum = &mut sums[other.at as usize];
                    if *sum == OUT {
                        continue;
                    }
                    if *sum == 0 {
                        met.push(other.at);
                    }
                    *sum += entry.count.min(other.count);
                    let most = (*sum + entry.rest.min(other.rest)) as f64;
                    if most < self.share * (own + total(other.at)) {
                        *sum = OUT;
                    }
                }
            }
            met.retain(|&other| std::mem::take(&mut sums[other as usize]) != OUT);
            let mut partners: Vec<u32> =
                met.drain(..).map(|other| self.ranked[other as usize]).collect();
            if let Some(split) = join.split {
                partners.retain(|&other| (other < split) != (item < split));
            }
            partners.sort_unstable();
            with(item, &partners);
        }
    }
}

/// The elements that occur, and the place of each in the order in which they are looked at.
struct ElementOrder {
    elements: Vec<u64>,
    places: Vec<u32>,
}

impl ElementOrder {
    /// Those that few bags have come first.
    fn new(bags: &Bags) -> Self {
        let mut all: Vec<u64> =
            (0..bags.len()).flat_map(|item| bags.get(item).iter().map(|entry| entry.0)).collect();
        all.par_sort_unstable();
        let runs = all.chunk_by(|a, b| a == b);
        let (elements, having): (Vec<u64>, Vec<u32>) =
            runs.map(|run| (run[0], run.len() as u32)).unzip();
        drop(all);
        let mut order: Vec<u32> = (0..elements.len() as u32).collect();
        order.par_sort_unstable_by_key(|&index| (having[index as usize], index));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &index)| places[index as usize] = place as u32);
        Self { elements, places }
    }

    fn place(&self, element: u64) -> u32 {
        self.places[self.elements.partition_point(|&other| other < element)]
    }
}
