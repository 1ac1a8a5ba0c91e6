//! One item of each cluster kept.

use crate::Result;
use crate::audit::Audit;
use crate::cluster::{self, Candidate, Keep};
use crate::item::{Source, Value};
use crate::spill::Cache;
use crate::verify::{Limit, Measure, Overlap};

use super::resume::{Loader, Saver};
use super::run::Run;
use super::watch::Truth;
use super::{Clock, Collection, Observer, Settings, Stage, Stats};
use crate::parallel::in_pool;

/// A collection with one item of each cluster kept.
pub struct Deduplicated {
    /// The items.
    pub collection: Collection,
    /// The cluster that swallowed an implausible share, if there is one.
    pub swallowed: Option<Swallowed>,
    /// What it took.
    pub stats: Stats,
    groups: Clustered,
    measure: Measure,
    limit: Limit,
}

/// For every group its cluster.
struct Clustered {
    /// The preferred item.
    best: Vec<u32>,
    /// The group that stands for the cluster.
    centres: Vec<u32>,
    /// What the two have in common.
    overlaps: Vec<Overlap>,
}

impl Clustered {
    /// The largest cluster, if its share of the collection is implausible.
    fn largest(&self, measure: Measure, limit: Limit) -> Option<Swallowed> {
        /// Fewer texts than this are no reason to worry, nor is a smaller share of the collection.
        const TEXTS: usize = 100;
        const SHARE: f64 = 0.1;
        let mut texts = vec![0usize; self.centres.len()];
        self.centres.iter().for_each(|&centre| texts[centre as usize] += 1);
        let (centre, &texts) =
            texts.iter().enumerate().max_by_key(|&(at, n)| (*n, usize::MAX - at))?;
        let share = texts as f64 / self.centres.len() as f64;
        let members = self.centres.iter().zip(&self.overlaps).filter(|(c, _)| **c == centre as u32);
        let unlike = members.filter(|(_, overlap)| !limit.reached(measure, **overlap)).count();
        (texts >= TEXTS && share >= SHARE).then(|| Swallowed {
            kept: self.best[centre],
            texts,
            share,
            unlike,
        })
    }

    /// How many of the pairs there are to find for drawn items ended up in one cluster.
    fn audit(
        &self,
        truth: &Truth,
        settings: &Settings,
        collection: &Collection,
    ) -> Result<Option<Audit>> {
        let centre = |group: u32| self.centres[group as usize];
        settings.audit(truth, collection, None, |group, others| {
            Ok(others.iter().map(|&other| centre(group) == centre(other)).collect())
        })
    }

    fn save(&self, save: &mut Saver) -> Result<()> {
        save.numbers(&self.best)?;
        save.numbers(&self.centres)?;
        let counts =
            self.overlaps.iter().flat_map(|overlap| [overlap.shared, overlap.a, overlap.b]);
        save.numbers(&counts.collect::<Vec<u32>>())
    }

    fn load(load: &mut Loader) -> Option<Self> {
        let (best, centres) = (load.numbers()?, load.numbers()?);
        let counts: Vec<u32> = load.numbers()?;
        let overlap = |&[shared, a, b]: &[u32; 3]| Overlap { shared, a, b };
        Some(Self { best, centres, overlaps: counts.as_chunks().0.iter().map(overlap).collect() })
    }
}

impl Deduplicated {
    /// The position of the item that stands for the record at this one (its own when it is kept), and how
    /// similar the two are; `None` for a record that was skipped.
    pub fn cluster(&self, position: u32) -> Option<(u32, f64)> {
        if !self.collection.is_item(position) {
            return None;
        }
        Some(match self.collection.group_of(position) {
            None => (position, self.measure.similarity(Overlap::identical(0))),
            Some(group) => {
                let centre = self.groups.centres[group as usize];
                let overlap = self.groups.overlaps[group as usize];
                let similarity = self.measure.similarity(overlap);
                // Copies may share too little, where what is shared is counted.
                match centre == group && !self.limit.reached(self.measure, overlap) {
                    true => (position, similarity),
                    false => (self.groups.best[centre as usize], similarity),
                }
            }
        })
    }

    /// The same for every record.
    pub fn clusters(&self) -> impl Iterator<Item = Option<(u32, f64)>> {
        (0..self.collection.records()).map(|position| self.cluster(position))
    }

    /// Whether the record at this position is kept.
    pub fn is_kept(&self, position: u32) -> bool {
        self.cluster(position).is_some_and(|(kept, _)| kept == position)
    }

    /// Counts the clusters of two items or more, and the items kept.
    fn count(&mut self) {
        let mut larger = vec![false; self.collection.records() as usize];
        let mut kept = 0;
        for (position, cluster) in (0u32..).zip(self.clusters()) {
            match cluster {
                Some((to, _)) if to == position => kept += 1,
                Some((to, _)) => larger[to as usize] = true,
                None => {}
            }
        }
        self.stats.clusters = Some(larger.into_iter().filter(|&larger| larger).count() as u64);
        self.stats.kept = Some(kept);
    }
}

/// A cluster that looks like chaining rather than copying.
#[derive(Debug, Clone, Copy)]
pub struct Swallowed {
    /// The item kept for it.
    pub kept: u32,
    /// Distinct texts in it.
    pub texts: usize,
    /// The share of all distinct texts.
    pub share: f64,
    /// Distinct texts in it that are not similar to the kept one.
    pub unlike: usize,
}

/// Finds clusters of similar items in `source` and chooses one of each to keep. Without `chains`,
/// every member of a cluster is similar to the kept one.
pub fn dedup<S: Source>(
    source: &S,
    settings: &Settings,
    keep: &Keep,
    chains: bool,
    observer: &dyn Observer,
) -> Result<Deduplicated> {
    let sources = [source];
    let run = Run { every_pair: !chains, ..Run::new(&sources, settings, observer)? };
    let mut stats = Stats::default();
    in_pool(settings.threads, || {
        let mut found = run.candidates(*keep == Keep::Longest, &mut stats)?;
        let truth = std::mem::take(&mut found.truth);
        let saved = run.saved(Stage::Verify, |load| {
            Some((stats.load(load, Stage::Verify)?, Clustered::load(load)?))
        });
        let done = |collection, groups: Clustered, stats: &mut Stats| {
            let mut result = Deduplicated {
                collection,
                swallowed: groups.largest(settings.measure, settings.limit()),
                stats: Stats { audited_start: truth.from_start, ..std::mem::take(stats) },
                groups,
                measure: settings.measure,
                limit: settings.limit(),
            };
            result.count();
            result
        };
        if let Some((mut saved, groups)) = saved {
            // Of what is similar to one another but not to the kept item, nothing was saved.
            if chains {
                saved.audit = groups.audit(&truth, settings, &found.collection)?;
            }
            return Ok(done(found.collection, groups, &mut saved));
        }
        let (collection, search) = run.load_candidates(found, &mut stats)?;
        let clock = Clock::start(search.stage());
        let merits = Merits { collection: &collection, keep };
        let best = merits.best_of_groups()?;
        let centres = if chains {
            merits.kept_of_components(&search.components(observer, &mut stats)?, &best)?
        } else {
            let order = merits.order(&best)?;
            let mut cache = Cache::one();
            let partners = search.partners(observer, &mut stats)?;
            stats.audit = partners.audit(&truth, settings, &collection, None)?;
            cluster::stars(&order, |group, partner| {
                partners.of(group, &mut cache)?.for_each(|(other, _)| partner(other));
                Ok(())
            })?
        };
        let overlaps = search.overlaps(&centres)?;
        let groups = Clustered { best, centres, overlaps };
        stats.stages.push(clock.stop(0));
        run.save(Stage::Verify, |save| {
            stats.save(save)?;
            groups.save(save)
        })?;
        if chains {
            stats.audit = groups.audit(&truth, settings, &collection)?;
        }
        Ok(done(collection, groups, &mut stats))
    })
}

/// Which of several items is kept.
struct Merits<'a> {
    collection: &'a Collection,
    keep: &'a Keep,
}

impl Merits<'_> {
    /// The one of these items that is preferred.
    fn best(&self, positions: &[u32], cache: &mut Cache<u8>) -> Result<u32> {
        let mut best: Option<(u32, u32, Option<Value>)> = None;
        for &position in positions {
            let (length, value) = self.collection.merits(position, cache)?;
            let this = Candidate { position, length, value: value.as_ref() };
            let better = best.as_ref().is_none_or(|(position, length, value)| {
                let best =
                    Candidate { position: *position, length: *length, value: value.as_ref() };
                self.keep.prefer(&this, &best).is_lt()
            });
            if better {
                best = Some((position, length, value));
            }
        }
        Ok(best.expect("one of some items").0)
    }

    /// The preferred item of every group of identical texts.
    fn best_of_groups(&self) -> Result<Vec<u32>> {
        let groups = 0..self.collection.groups();
        if *self.keep == Keep::First {
            return Ok(groups.map(|group| self.collection.first(group)).collect());
        }
        let members = self.collection.members();
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
                Candidate { position, length: *length, value: value.as_ref() }
            });
            self.keep.prefer(&a, &b)
        });
        Ok(order)
    }
}
