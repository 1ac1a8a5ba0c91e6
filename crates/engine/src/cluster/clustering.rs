//! One item of each cluster kept.

use std::cmp::Reverse;

use crate::Result;
use crate::item::Value;
use crate::matches::{Collection, SimilarGroups, Stats};
use crate::observe::{Observer, Stage};
use crate::space::Form;
use crate::spill::{Cache, Loader, Saver};
use crate::verify::Overlap;

use super::{Keep, Linkage, Merits};

/// Compares groups of identical items. There are two kinds: one has the records of candidates in temporary files, the
/// other has all items in memory.
pub(crate) trait Comparison: Send + Sync {
    /// What its work is called.
    fn stage(&self) -> Stage;

    /// Every similar pair of groups.
    fn similar_groups(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<SimilarGroups>;

    /// The connected components of all similar pairs: for every group its component's smallest member.
    fn components(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<Vec<u32>>;

    /// For every group the one of its component that [stands for it](super::stars) when they are preferred in this order.
    fn stars(&self, order: &[u32], observer: &dyn Observer, stats: &mut Stats) -> Result<Vec<u32>>;

    /// How large each group's item is, where the larger one of two similar items may contain the other.
    fn sizes(&self) -> Result<Option<Vec<u32>>>;

    /// How close each group is to its centre.
    fn closeness(&self, centres: &[u32]) -> Result<Vec<Closeness>>;

    /// What pairs of groups have in common and how similar they are, of those that are; none where pairs are not drawn
    /// for an audit.
    fn overlaps(&self, pairs: &[(u32, u32)]) -> Result<Vec<Option<(Overlap, f64)>>> {
        Ok(vec![None; pairs.len()])
    }
}

/// How close two items are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Closeness {
    /// Their similarity, or their distance where items are compared by one.
    pub(crate) value: f64,
    /// Whether that makes them similar.
    pub(crate) is_similar: bool,
}

/// For every group its cluster.
pub(crate) struct Clustering {
    /// The preferred item of every group.
    best: Vec<u32>,
    /// The group that stands for the cluster.
    centres: Vec<u32>,
    /// How close the two are.
    closeness: Vec<Closeness>,
}

impl Clustering {
    /// Groups the items of a collection.
    pub(crate) fn new(
        comparison: &impl Comparison,
        collection: &Collection,
        (keep, linkage): (&Keep, Linkage),
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Self> {
        let preference = Preference { collection, keep };
        let best = preference.best_of_groups()?;
        let centres = match linkage {
            Linkage::Chains => {
                let components = comparison.components(observer, stats)?;
                preference.kept_of_components(&components, &best)?
            }
            Linkage::Stars => {
                let mut order = preference.order(&best)?;
                if let Some(sizes) = comparison.sizes()? {
                    order.sort_by_key(|&group| Reverse(sizes[group as usize]));
                }
                comparison.stars(&order, observer, stats)?
            }
        };
        let closeness = comparison.closeness(&centres)?;
        Ok(Self { best, centres, closeness })
    }

    /// Of which of `others`, all similar to a group, the run did not keep both.
    pub(crate) fn found(&self, group: u32, others: &[u32]) -> Vec<bool> {
        let is_kept = |group: u32| self.centres[group as usize] == group;
        others.iter().map(|&other| !(is_kept(group) && is_kept(other))).collect()
    }

    /// The largest cluster, if it has an implausible share of the collection and not all of it is similar to the kept
    /// item.
    fn giant(&self) -> Option<GiantCluster> {
        /// Fewer items than this are no reason to worry, nor is a smaller share of the collection.
        const ITEMS: usize = 100;
        const SHARE: f64 = 0.1;
        let mut items = vec![0usize; self.centres.len()];
        self.centres.iter().for_each(|&centre| items[centre as usize] += 1);
        let (centre, &items) =
            items.iter().enumerate().max_by_key(|&(at, n)| (*n, usize::MAX - at))?;
        let share = items as f64 / self.centres.len() as f64;
        let members =
            self.centres.iter().zip(&self.closeness).filter(|(c, _)| **c == centre as u32);
        let unlike = members.filter(|(_, closeness)| !closeness.is_similar).count();
        (items >= ITEMS && share >= SHARE && unlike > 0).then(|| GiantCluster {
            kept: self.best[centre],
            items,
            share,
            unlike,
        })
    }

    pub(crate) fn save(&self, save: &mut Saver) -> Result<()> {
        save.numbers(&self.best)?;
        save.numbers(&self.centres)?;
        let values = self.closeness.iter().map(|it| it.value.to_bits());
        save.numbers(&values.collect::<Vec<u64>>())?;
        let similar = self.closeness.iter().map(|it| u8::from(it.is_similar));
        save.numbers(&similar.collect::<Vec<u8>>())
    }

    pub(crate) fn load(load: &mut Loader) -> Option<Self> {
        let (best, centres) = (load.numbers()?, load.numbers()?);
        let (values, similar): (Vec<u64>, Vec<u8>) = (load.numbers()?, load.numbers()?);
        let closeness = |(bits, similar): (u64, u8)| Closeness {
            value: f64::from_bits(bits),
            is_similar: similar == 1,
        };
        let closeness = values.into_iter().zip(similar).map(closeness).collect();
        Some(Self { best, centres, closeness })
    }
}

/// A collection with one item of each cluster kept.
pub struct Deduplication {
    /// The items.
    pub collection: Collection,
    /// The cluster that has an implausible share of the items, if there is one.
    pub giant: Option<GiantCluster>,
    /// What it took.
    pub stats: Stats,
    clustering: Clustering,
    /// How close an empty item is to itself, and whether that is a similarity.
    empty: (f64, Form),
}

impl Deduplication {
    pub(crate) fn new(
        collection: Collection,
        clustering: Clustering,
        empty: (f64, Form),
        stats: Stats,
    ) -> Self {
        let giant = clustering.giant();
        let mut result = Self { collection, giant, stats, clustering, empty };
        result.count();
        result
    }

    /// The position of the item that stands for the record at this one (its own when it is kept), and how
    /// close the two are; `None` for a record that was skipped.
    pub fn cluster(&self, position: u32) -> Option<(u32, f64)> {
        if !self.collection.is_item(position) {
            return None;
        }
        let Some(group) = self.collection.group_of(position) else {
            return Some((position, self.empty.0));
        };
        let centre = self.clustering.centres[group as usize];
        let Closeness { value, is_similar } = self.clustering.closeness[group as usize];
        // Copies may share too little, where what is shared is counted.
        Some(match centre == group && !is_similar {
            true => (position, value),
            false => (self.clustering.best[centre as usize], value),
        })
    }

    /// [`cluster`](Self::cluster) of every record.
    pub fn clusters(&self) -> impl Iterator<Item = Option<(u32, f64)>> {
        (0..self.collection.records()).map(|position| self.cluster(position))
    }

    /// Whether the record at this position is kept.
    pub fn is_kept(&self, position: u32) -> bool {
        self.cluster(position).is_some_and(|(kept, _)| kept == position)
    }

    /// Counts the clusters of two items or more, the items kept, and how close the others are to these.
    fn count(&mut self) {
        let form = self.empty.1;
        let mut larger = vec![false; self.collection.records() as usize];
        let (mut kept, mut unlike, mut least) = (0, 0, None::<f64>);
        for (position, cluster) in (0u32..).zip(self.clusters()) {
            match cluster {
                Some((to, _)) if to == position => kept += 1,
                Some((to, value)) => {
                    larger[to as usize] = true;
                    unlike += u64::from(!self.is_similar_to_kept(position));
                    least = least.filter(|&least| !form.closer(least, value)).or(Some(value));
                }
                None => {}
            }
        }
        let stats = &mut self.stats;
        stats.clusters = Some(larger.into_iter().filter(|&larger| larger).count() as u64);
        (stats.kept, stats.unlike, stats.least_close) = (Some(kept), Some(unlike), least);
    }

    /// Whether a removed item is similar to the one that is kept for it.
    fn is_similar_to_kept(&self, position: u32) -> bool {
        let group = self.collection.group_of(position);
        group.is_none_or(|group| self.clustering.closeness[group as usize].is_similar)
    }
}

/// A cluster that looks like chaining rather than copying.
#[derive(Debug, Clone, Copy)]
pub struct GiantCluster {
    /// The item kept for it.
    pub kept: u32,
    /// Distinct items in it.
    pub items: usize,
    /// The share of all distinct items.
    pub share: f64,
    /// Distinct items in it that are not similar to the kept one.
    pub unlike: usize,
}

/// Which of several items is kept.
struct Preference<'a> {
    collection: &'a Collection,
    keep: &'a Keep,
}

impl Preference<'_> {
    /// The one of these items that is preferred.
    fn best(&self, positions: &[u32], cache: &mut Cache<u8>) -> Result<u32> {
        let mut best: Option<(u32, u32, Option<Value>)> = None;
        for &position in positions {
            let (length, value) = self.collection.merits(position, cache)?;
            let this = Merits { position, length, value: value.as_ref() };
            let better = best.as_ref().is_none_or(|(position, length, value)| {
                let best = Merits { position: *position, length: *length, value: value.as_ref() };
                self.keep.prefer(&this, &best).is_lt()
            });
            if better {
                best = Some((position, length, value));
            }
        }
        Ok(best.expect("one of some items").0)
    }

    /// The preferred item of every group of identical items.
    fn best_of_groups(&self) -> Result<Vec<u32>> {
        let groups = 0..self.collection.groups();
        if *self.keep == Keep::First {
            return Ok(groups.map(|group| self.collection.copies().first(group)).collect());
        }
        let members = self.collection.copies().members();
        let mut cache = Cache::one();
        groups.map(|group| self.best(members.of(group), &mut cache)).collect()
    }

    /// For every group, the group of its component's preferred item.
    fn kept_of_components(&self, components: &[u32], best: &[u32]) -> Result<Vec<u32>> {
        let mut kept: Vec<u32> = (0..components.len() as u32).collect();
        let mut cache = Cache::one();
        for (group, &component) in (0u32..).zip(components).filter(|(group, c)| group != *c) {
            let current = &mut kept[component as usize];
            let (this, other) = (best[group as usize], best[*current as usize]);
            if self.best(&[other, this], &mut cache)? == this {
                *current = group;
            }
        }
        Ok(components.iter().map(|&component| kept[component as usize]).collect())
    }

    /// All groups, the one with the most preferred item first.
    fn order(&self, best: &[u32]) -> Result<Vec<u32>> {
        let mut order: Vec<u32> = (0..best.len() as u32).collect();
        if *self.keep == Keep::First {
            return Ok(order);
        }
        let mut cache = Cache::one();
        let merits: Vec<(u32, Option<Value>)> = best
            .iter()
            .map(|&position| self.collection.merits(position, &mut cache))
            .collect::<Result<_>>()?;
        order.sort_unstable_by(|&a, &b| {
            let [a, b] = [a, b].map(|group| {
                let (length, value) = &merits[group as usize];
                let position = best[group as usize];
                Merits { position, length: *length, value: value.as_ref() }
            });
            self.keep.prefer(&a, &b)
        });
        Ok(order)
    }
}
