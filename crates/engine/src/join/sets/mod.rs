//! Sets that share enough, every one of them.
//!
//! Sets are written as strings of symbols, rarest first. Similar sets share a symbol of their short prefixes, so an index
//! of the prefixes finds them (Leskovec, Rajaraman, Ullman, *Mining of Massive Datasets*, 3.9). The method is AllPairs of
//! Bayardo, Ma and Srikant (2007) and PPJoin of Xiao and others (2008), with what Mann, Augsten and Bouros found to win in
//! 2016: verify at first sight, and stop early.
//!
//! | file | answers |
//! |---|---|
//! | [`bounds`] | what do sizes and places alone say about two sets? |
//! | `rank`, [`strings`] | which string is this set? |
//! | `postings` | which sets have this symbol in their prefix? |
//! | `probe`, `suffix` | which of them pass the filters, and are similar? |
//! | `scan` | which sets are similar to one whose symbols are in nearly all of them? |
//! | `linked` | which of them are connected already, and need not be looked at? |
//! | [`index`] | the same for sets that come later, one by one |
//!
//! It works for any measure that says how much two sets of given sizes must share: see [`Verifier`].
//!
//! **A pair is verified at first sight.** A set looks its prefix up among the sets before it. A pair is judged at the
//! first symbol it shares, by sizes, positions and bitmaps, and is then merged from there on. Nothing is counted or
//! remembered between two looks, so there is no need to count hits over the whole prefix first, as PPJoin does.
//!
//! Most of the time goes into ranking: two thirds on licence texts. Elements that only one set has become no symbol,
//! but count as positions. Sets with equal prefixes are not grouped: about a quarter of the time is left for probing,
//! so that could gain little.

pub mod bounds;
mod filters;
pub mod index;
mod linked;
mod postings;
mod probe;
mod rank;
mod scan;
pub mod strings;
mod suffix;

pub use bounds::Bounds;
pub use filters::Filters;
pub use index::{QueryScratch, SetIndex};
pub use strings::SymbolStrings;

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use self::linked::{LinkedSets, SkipConnected};
use self::postings::Postings;
use self::probe::{Probe, ProbeMemory, Probes, next_number};
use super::go_on;
use crate::Result;
use crate::cluster::UnionFind;
use crate::verify::Verifier;

/// Two sets that are similar, by the caller's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetPair {
    /// The one that comes first.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// Elements that they share.
    pub shared: u32,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetJoinCounts {
    /// Pairs from the index that sizes and positions did not rule out.
    pub candidates: u64,
    /// Those of them whose elements were compared.
    pub verified: u64,
    /// Those of them that are similar.
    pub similar: u64,
}

impl SetJoinCounts {
    /// The sum of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            candidates: self.candidates + other.candidates,
            verified: self.verified + other.verified,
            similar: self.similar + other.similar,
        }
    }
}

/// Which pairs are wanted, and how they are found.
#[derive(Clone, Copy)]
pub struct SetJoin<'a> {
    /// What counts as similar.
    pub verifier: &'a Verifier,
    /// What is looked at before elements are.
    pub filters: Filters,
    /// Where the second collection begins, when only pairs of one set of each are wanted. Both are ranked together:
    /// on two halves of the licence texts at 0.8 that took 0.23 s, an index of the one and queries with the other
    /// 0.32 s. Where one is far smaller, elements of the other that it does not have are left out first.
    pub split: Option<u32>,
    /// Asked now and then whether to stop.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Hands every similar pair to `found`, in portions, from many threads, in any order.
///
/// The elements of a set are distinct, in any order. An empty set is similar to nothing.
pub fn pairs(
    sets: &[&[u64]],
    join: &SetJoin<'_>,
    found: &(dyn Fn(&[SetPair]) -> Result<()> + Sync),
) -> Result<SetJoinCounts> {
    PrefixIndex::new(SymbolStrings::new(sets, join.split)?, join)?.pairs(join, found)
}

/// The smallest set that each is connected to by similar pairs. Pairs that are connected already are not compared.
pub fn components(sets: &[&[u64]], join: &SetJoin<'_>) -> Result<(Vec<u32>, SetJoinCounts)> {
    let mut known = UnionFind::new(sets.len());
    let counts = connect(sets, join, &mut known, None)?;
    Ok(((0..sets.len() as u32).map(|set| known.find(set)).collect(), counts))
}

/// Whether a similar pair counts.
pub(crate) type Wanted<'a> = dyn Fn(u32, u32) -> Result<bool> + Sync + 'a;

/// Joins what similar pairs connect to what is known to be connected. If `wanted` is given, only pairs count for which it
/// says so.
pub(crate) fn connect(
    sets: &[&[u64]],
    join: &SetJoin<'_>,
    known: &mut UnionFind,
    wanted: Option<&Wanted<'_>>,
) -> Result<SetJoinCounts> {
    let index = PrefixIndex::new(SymbolStrings::new(sets, join.split)?, join)?;
    index.connect(join, known, wanted)
}

/// Strings with the index of their prefixes.
#[derive(Debug)]
pub struct PrefixIndex {
    probes: Probes,
}

/// Probes that are done by one thread at a time.
const PROBES: usize = 64;
/// Pairs that are handed over together, at least.
const HITS: usize = 4096;
/// Probes of a round, at least: two sets of one round may be compared although a third connects them, so rounds are short. But
/// threads wait for each other after each, so a later round has at least one of [`ROUNDS`] parts of the sets before it.
const ROUND: usize = 256;
const ROUNDS: usize = 256;

impl PrefixIndex {
    /// The index that such a join needs.
    pub fn new(strings: SymbolStrings, join: &SetJoin<'_>) -> Result<Self> {
        let filters = join.filters.checked()?;
        let bounds = Bounds::new(join.verifier, strings.largest());
        let postings = if filters.prefix {
            Postings::new(&strings, |size| bounds.prefix_of_smaller(size))
        } else {
            Postings::default()
        };
        let number = next_number();
        Ok(Self { probes: Probes { strings, postings, filters, self_join: true, number } })
    }

    /// See [`pairs`].
    pub fn pairs(
        &self,
        join: &SetJoin<'_>,
        found: &(dyn Fn(&[SetPair]) -> Result<()> + Sync),
    ) -> Result<SetJoinCounts> {
        let pool = ProbeMemories::default();
        let sets = self.probes.strings.len();
        let portions = (0..sets.div_ceil(PROBES)).into_par_iter();
        let counts = portions.map(|portion| {
            go_on(join.stopped)?;
            pool.with(|memory| {
                let (mut hits, mut counts) = (Vec::new(), SetJoinCounts::default());
                for set in portion * PROBES..((portion + 1) * PROBES).min(sets) {
                    let hit = |other, shared| hits.push(self.hit(set, other, shared));
                    let probe = self.probe(set);
                    self.probes.probe(join.verifier, &probe, memory, &mut counts, |_| false, hit);
                    if hits.len() >= HITS {
                        found(&hits)?;
                        hits.clear();
                    }
                }
                if !hits.is_empty() {
                    found(&hits)?;
                }
                Ok(counts)
            })
        });
        counts.try_reduce(SetJoinCounts::default, |a, b| Ok(a.plus(b)))
    }

    /// See [`connect`].
    fn connect(
        &self,
        join: &SetJoin<'_>,
        known: &mut UnionFind,
        wanted: Option<&Wanted<'_>>,
    ) -> Result<SetJoinCounts> {
        let pool = ProbeMemories::default();
        let numbers = &self.probes.strings.numbers;
        let mut linked = LinkedSets::new(numbers, &self.probes.postings, known);
        let mut counts = SetJoinCounts::default();
        let mut start = 0;
        while start < numbers.len() {
            go_on(join.stopped)?;
            let end = (start + ROUND.max(start / ROUNDS)).min(numbers.len());
            linked.refresh(numbers, start..end, known);
            let shared = &*known;
            let round: Vec<(Vec<SetPair>, SetJoinCounts)> = (start..end)
                .into_par_iter()
                .with_min_len(ROUND / 64)
                .map(|set| {
                    pool.with(|memory| self.links(set, join, (&linked, shared), wanted, memory))
                })
                .collect::<Result<_>>()?;
            for (hits, of_set) in &round {
                hits.iter().for_each(|hit| known.join(hit.a, hit.b));
                counts = counts.plus(*of_set);
            }
            start = end;
        }
        Ok(counts)
    }

    /// A similar set before this one of each component that has one.
    fn links(
        &self,
        set: usize,
        join: &SetJoin<'_>,
        (linked, known): (&LinkedSets<'_>, &UnionFind),
        wanted: Option<&Wanted<'_>>,
        memory: &mut ProbeMemory,
    ) -> Result<(Vec<SetPair>, SetJoinCounts)> {
        let connected = RefCell::new(vec![linked.root(set, known)]);
        let (mut hits, mut counts, mut failure) = (Vec::new(), SetJoinCounts::default(), None);
        let is_linked = Cell::new(linked.is_seeded);
        let skip = SkipConnected { linked, known, connected: &connected, is_linked: &is_linked };
        let hit = |other: usize, shared: usize| {
            let pair = self.hit(set, other, shared);
            match wanted.map_or(Ok(true), |wanted| wanted(pair.a, pair.b)) {
                Ok(true) => {
                    connected.borrow_mut().push(linked.root(other, known));
                    is_linked.set(true);
                    hits.push(pair);
                }
                Ok(false) => {}
                Err(error) => failure = Some(error),
            }
        };
        self.probes.probe(join.verifier, &self.probe(set), memory, &mut counts, skip, hit);
        failure.map_or(Ok((hits, counts)), Err)
    }

    /// A set that is looked up among those before it.
    fn probe(&self, set: usize) -> Probe<'_> {
        let strings = &self.probes.strings;
        Probe { text: strings.text(set), end: set, side: strings.side(set) }
    }

    fn hit(&self, set: usize, other: usize, shared: usize) -> SetPair {
        let numbers = &self.probes.strings.numbers;
        let (a, b) = (numbers[set], numbers[other]);
        SetPair { a: a.min(b), b: a.max(b), shared: shared as u32 }
    }
}

/// What threads keep between probes, one for each thread at work.
#[derive(Default)]
struct ProbeMemories(Mutex<Vec<ProbeMemory>>);

impl ProbeMemories {
    fn with<R>(&self, work: impl FnOnce(&mut ProbeMemory) -> R) -> R {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memory = free().pop().unwrap_or_default();
        let result = work(&mut memory);
        free().push(memory);
        result
    }
}
