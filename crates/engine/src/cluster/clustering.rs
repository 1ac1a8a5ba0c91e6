//! One item of each cluster kept.

use std::cmp::Reverse;

use crate::Result;
use crate::item::KeepValues;
use crate::matches::{Collection, SimilarGroups, Stats};
use crate::observe::{Observer, Stage};
use crate::space::Form;
use crate::spill::{Cache, Loader, Saver};
use crate::verify::Overlap;

use super::{Keep, Linkage, Merits, Ranking};

/// Compares groups of identical items. There are two kinds: one has the records of candidates in temporary files, the
/// other has all items in memory.
pub(crate) trait Comparison: Send + Sync {
    /// What its work is called.
    fn stage(&self) -> Stage;

    /// Every similar pair of groups.
    fn similar_groups(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<SimilarGroups>;

    /// The connected components of all similar pairs: for every group its component's smallest member.
    fn components(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<Vec<u32>>;

    /// For every group the one of its component that [stands for it](super::stars) when they are preferred in this order,
    /// and those below a number are kept in any case.
    fn stars(
        &self,
        order: (&[u32], u32),
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Vec<u32>>;

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
        let preference = Preference::new(collection, keep);
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
                // Items that are kept in any case come first, in their own order.
                let old = collection.old_groups();
                order.retain(|&group| group >= old);
                order.splice(..0, 0..old);
                comparison.stars((&order, old), observer, stats)?
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

    /// The values that a rule prefers and no item has, each with its field.
    ///
    /// # Errors
    /// When what was put aside cannot be read again.
    pub fn unseen_values(&self, keep: &Keep) -> Result<Vec<(String, String)>> {
        let mut unseen = keep.preferred_values();
        let mut cache = Cache::one();
        for position in self.collection.old_records()..self.collection.records() {
            if unseen.is_empty() {
                break;
            }
            let (_, values) = self.collection.merits(position, &mut cache)?;
            unseen.retain(|it| !it.is(values.get(it.place).and_then(Option::as_ref)));
        }
        Ok(unseen.into_iter().map(|it| (it.field, it.text)).collect())
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
        if position < self.collection.old_records() {
            return Some((position, self.clustering.closeness[group as usize].value));
        }
        let centre = self.clustering.centres[group as usize];
        let Closeness { value, is_similar } = self.clustering.closeness[group as usize];
        // Copies may share too little, where what is shared is counted.
        Some(match centre == group && !is_similar {
            true => (position, value),
            false => (self.clustering.best[centre as usize], value),
        })
    }

    /// Why the record at this position was removed; none if it is kept or was skipped.
    pub fn reason(&self, position: u32) -> Option<Reason> {
        let (kept, _) = self.cluster(position).filter(|(kept, _)| *kept != position)?;
        let (group, of_kept) = (self.collection.group_of(position), self.collection.group_of(kept));
        Some(match () {
            () if group == of_kept => Reason::Identical,
            () if self.is_similar_to_kept(position) => Reason::Similar,
            () => Reason::Chained,
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
        let old = self.collection.old_records();
        for (position, cluster) in (0u32..).zip(self.clusters()).skip(old as usize) {
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

/// Why an item was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It is identical to the kept item.
    Identical,
    /// It is similar to the kept item.
    Similar,
    /// A chain of similar items leads to the kept one.
    Chained,
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
    ranking: Ranking,
    /// Whether nothing counts but the order of the input.
    is_first: bool,
}

/// An item's position, its length and its values.
type OwnMerits = (u32, u32, KeepValues);

fn merits((position, length, values): &OwnMerits) -> Merits<'_> {
    Merits { position: *position, length: *length, values }
}

impl<'a> Preference<'a> {
    fn new(collection: &'a Collection, keep: &Keep) -> Self {
        Self { collection, ranking: keep.ranking(), is_first: keep.is_first() }
    }

    fn merits(&self, position: u32, cache: &mut Cache<u8>) -> Result<OwnMerits> {
        let (length, values) = self.collection.merits(position, cache)?;
        Ok((position, length, values))
    }

    /// The one of these items that is preferred.
    fn best(&self, positions: &[u32], cache: &mut Cache<u8>) -> Result<u32> {
        let mut best: Option<OwnMerits> = None;
        for &position in positions {
            let this = self.merits(position, cache)?;
            let is_better = |best| self.ranking.prefer(&merits(&this), &merits(best)).is_lt();
            if best.as_ref().is_none_or(is_better) {
                best = Some(this);
            }
        }
        Ok(best.expect("one of some items").0)
    }

    /// The preferred item of every group of identical items. One that is kept in any case comes before others.
    fn best_of_groups(&self) -> Result<Vec<u32>> {
        let groups = 0..self.collection.groups();
        if self.is_first {
            return Ok(groups.map(|group| self.collection.copies().first(group)).collect());
        }
        let (members, old) = (self.collection.copies().members(), self.collection.old_groups());
        let mut cache = Cache::one();
        let best = |group| match group < old {
            true => Ok(self.collection.copies().first(group)),
            false => self.best(members.of(group), &mut cache),
        };
        groups.map(best).collect()
    }

    /// For every group, the group of its component's preferred item. In a component with items that are kept in any case,
    /// these stand for themselves, and the first of them for all others: it is the smallest member.
    fn kept_of_components(&self, components: &[u32], best: &[u32]) -> Result<Vec<u32>> {
        let old = self.collection.old_groups();
        let mut kept: Vec<u32> = (0..components.len() as u32).collect();
        let mut cache = Cache::one();
        let is_open = |&(group, component): &(u32, &u32)| group != *component && *component >= old;
        for (group, &component) in (0u32..).zip(components).filter(is_open) {
            let current = &mut kept[component as usize];
            let (this, other) = (best[group as usize], best[*current as usize]);
            if self.best(&[other, this], &mut cache)? == this {
                *current = group;
            }
        }
        let kept_of = |(group, &component): (u32, &u32)| match group < old {
            true => group,
            false => kept[component as usize],
        };
        Ok((0u32..).zip(components).map(kept_of).collect())
    }

    /// All groups, the one with the most preferred item first.
    fn order(&self, best: &[u32]) -> Result<Vec<u32>> {
        let mut order: Vec<u32> = (0..best.len() as u32).collect();
        if self.is_first {
            return Ok(order);
        }
        let mut cache = Cache::one();
        let all: Vec<OwnMerits> = best
            .iter()
            .map(|&position| self.merits(position, &mut cache))
            .collect::<Result<_>>()?;
        order.sort_unstable_by(|&a, &b| {
            let [a, b] = [a, b].map(|group| merits(&all[group as usize]));
            self.ranking.prefer(&a, &b)
        });
        Ok(order)
    }
}
