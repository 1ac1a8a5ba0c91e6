//! The search of a space: all pairs that a plan finds, and what an audit should find.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::Result;
use crate::audit::AuditSample;
use crate::audit::true_partners::{self, AuditCost, AuditScale, DrawOrder, Partner, TruePartners};
use crate::candidates::cascade::Cascade;
use crate::candidates::probed::ProbedTables;
use crate::cluster::{Centres, Closeness, Comparison, UnionFind, stars};
use crate::family::Family;
use crate::item::{Copies, FieldKeys, Members};
use crate::join::{TopQuery, pairs_of};
use crate::matches::{
    Collection, CopyValues, PairOwners, SimilarGroups, SimilarGroupsBuilder, Stats,
};
use crate::observe::{Clock, Observer, Stage};
use crate::plan::space::{SearchSpace, SpaceQuery};
use crate::plan::tables::{self, ReadySearch};
use crate::plan::{Plan, SearchCost, probes};
use crate::space::{
    BagSpace, BitSpace, ClosePair, Form, JoinQuery, PairSink, SetSpace, SignatureSpace,
    SparseSpace, StringSpace, VectorSpace, sorted_pairs,
};
use crate::spill::{Budget, Cache};

use super::Items;
use crate::search::Search;

/// What a search looks for among the groups of a collection.
pub(super) fn query<'a>(
    search: Search<'_>,
    collection: &Collection,
    fields: &'a [FieldKeys],
    stopped: &'a (dyn Fn() -> bool + Sync),
) -> SpaceQuery<'a> {
    let copies = collection.copies();
    let split = match copies.is_increment() {
        // Those on both sides come a second time, behind all.
        true => Some(copies.groups()),
        false => copies.group_split(),
    };
    SpaceQuery::new(search.settings, split, fields, stopped)
}

/// The distinct items of a collection, and how similar ones are found.
///
/// Where a collection grows another one, the space has the distinct new items twice: among all, and behind all. A search
/// across the two finds pairs of new items and of a new and an old one, and never compares old ones with each other.
pub(super) struct SpaceSearch<'a, S> {
    space: &'a S,
    groups: usize,
    /// How many of the first groups stay in any case, and are not compared with each other.
    old: u32,
    search: Search<'a>,
    limit: f64,
    split: Option<u32>,
    plan: Plan,
    ready: ReadySearch<'a>,
    /// Fields in which all pairs that are looked for agree.
    required: Vec<FieldKeys>,
    budget: &'a Budget,
    /// By group, whether it has copies.
    copied: Vec<bool>,
}

impl<'a, S: SearchSpace> SpaceSearch<'a, S> {
    /// Plans the search.
    pub(super) fn new(
        space: &'a S,
        search: Search<'a>,
        collection: &Collection,
        (fields, budget): (&[FieldKeys], &'a Budget),
        stats: &mut Stats,
    ) -> Result<Self> {
        search.observer.stage(Stage::Candidates, None);
        let clock = Clock::start(Stage::Candidates);
        let stopped = || search.observer.stopped();
        let query = query(search, collection, fields, &stopped);
        let (plan, ready) = tables::plan(space, &query)?;
        let required = query.expression().map(|(it, _)| it.required_fields()).unwrap_or_default();
        let is_required = |field: &&FieldKeys| required.contains(&field.name.as_str());
        let required = fields.iter().filter(is_required).cloned().collect();
        let (limit, split) = (query.limit, query.split);
        stats.plan = plan.clone();
        stats.stages.push(clock.stop(0));
        let copied = has_copies(collection.copies());
        let (groups, old) = (collection.groups() as usize, collection.old_groups());
        Ok(Self { space, groups, old, search, limit, split, plan, ready, required, budget, copied })
    }

    /// Items drawn at random, and everything that is similar to them; nothing where none is missed.
    pub(super) fn true_partners(
        &self,
        collection: &Collection,
        stats: &mut Stats,
    ) -> Result<AuditSample> {
        let asked = self.search.settings.audit;
        let Some(tables) = self.plan.tables_taken().filter(|_| asked != Some(0)) else {
            return Ok(AuditSample::Nothing);
        };
        self.search.observer.stage(Stage::Audit, None);
        let clock = Clock::start(Stage::Audit);
        let seconds = tables.cost.map_or(0.0, |cost| cost.seconds);
        let each = 1e-9 * self.space.costs().1 * self.space.len() as f64;
        let by_cost = AuditCost { seconds, each };
        let copies = collection.copies();
        let draw =
            |count| true_partners::draw(copies, count, DrawOrder::new(self.search.settings.seed));
        let stopped = || self.search.observer.stopped();
        let join = JoinQuery { limit: self.limit, split: self.split, stopped: &stopped };
        let is_known = |exact: SearchCost| by_cost.is_worth(exact.seconds, asked);
        let may_be_complete =
            by_cost.may_be_complete(asked) && self.plan.exact.is_none_or(is_known);
        let complete = may_be_complete.then(|| self.space.prepare(&join));
        let complete = complete.filter(|(_, seconds)| by_cost.is_worth(*seconds, asked));
        let (positions, partners) = match complete {
            Some((prepared, _)) => {
                let (positions, groups) = draw(asked.unwrap_or(true_partners::MOST));
                (
                    positions,
                    self.partners_of_all(&groups, |found| {
                        self.space.complete(&prepared, &join, found)
                    })?,
                )
            }
            None => {
                let (positions, groups) = draw(asked.unwrap_or(by_cost.items()));
                let partners: Vec<Vec<Partner>> = groups
                    .par_iter()
                    .map(|&group| {
                        self.search.go_on()?;
                        Ok(self.partners_of(group).collect())
                    })
                    .collect::<Result<_>>()?;
                (positions, partners.concat())
            }
        };
        let agree = |a: u32, b: u32| {
            self.required.iter().all(|field| field.are_equal(a as usize, b as usize))
        };
        let partners = partners.into_iter().filter(|&(a, b, _)| agree(a, b)).collect();
        stats.stages.push(clock.stop(0));
        let partners = TruePartners::new(positions, partners, copies, self.scale());
        Ok(AuditSample::Items(partners))
    }

    /// All that is similar to these groups, ascending, by a search that finds every pair.
    fn partners_of_all(
        &self,
        groups: &[u32],
        find: impl FnOnce(&PairSink<'_>) -> Result<u64>,
    ) -> Result<Vec<Partner>> {
        let mut is_drawn = vec![false; self.groups];
        groups.iter().for_each(|&group| is_drawn[group as usize] = true);
        let is_similarity = self.has_similarities();
        let partners = Mutex::new(Vec::new());
        find(&self.of_groups(&|pairs: &[ClosePair]| {
            let both = pairs.iter().flat_map(|pair| {
                let value = if is_similarity { pair.value } else { 1.0 };
                [(pair.a, pair.b, value), (pair.b, pair.a, value)]
            });
            let mut partners = partners.lock().unwrap_or_else(PoisonError::into_inner);
            partners.extend(both.filter(|partner: &Partner| is_drawn[partner.0 as usize]));
            Ok(())
        }))?;
        Ok(partners.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// All that is similar to a group, on the other side where there are two.
    fn partners_of(&self, group: u32) -> impl Iterator<Item = Partner> {
        let groups = self.groups as u32;
        let others = match self.split {
            Some(split) if split == groups && self.space.len() > self.groups => {
                match group < self.old {
                    true => self.old..groups,
                    false => 0..groups,
                }
            }
            None => 0..groups,
            Some(split) if group < split => split..groups,
            Some(split) => 0..split,
        };
        let is_similarity = self.has_similarities();
        others.filter(move |&other| other != group).filter_map(move |other| {
            let value = self.space.reaching(group, other, self.limit)?;
            Some((group, other, if is_similarity { value } else { 1.0 }))
        })
    }

    /// Whether pairs can be told apart by a similarity from 0 to 1.
    fn has_similarities(&self) -> bool {
        self.space.form() == Form::Similarity && (0.0..=1.0).contains(&self.limit)
    }

    fn scale(&self) -> AuditScale {
        match self.has_similarities() {
            true => AuditScale { threshold: self.limit, identical: 1.0 },
            false => AuditScale::default(),
        }
    }

    /// Takes pairs of items and hands on pairs of groups: an item behind all groups is one of them a second time.
    fn of_groups<'f>(
        &'f self,
        found: &'f PairSink<'_>,
    ) -> impl Fn(&[ClosePair]) -> Result<()> + Sync + 'f {
        let groups = self.groups as u32;
        let pair = move |pair: &ClosePair| match pair.b < groups {
            true => Some(*pair),
            false => {
                let b = pair.b - groups + self.old;
                // Two new items meet twice, and each meets itself.
                (pair.a < b).then_some(ClosePair { b, ..*pair })
            }
        };
        move |pairs| match self.space.len() > self.groups {
            true => found(&pairs.iter().filter_map(pair).collect::<Vec<ClosePair>>()),
            false => found(pairs),
        }
    }

    /// Hands on every similar pair. Tables with several probes may hand on a pair more than once.
    fn find(&self, observer: &dyn Observer, stats: &mut Stats, found: &PairSink<'_>) -> Result<()> {
        let found = &self.of_groups(found);
        let stopped = || observer.stopped();
        let join = JoinQuery { limit: self.limit, split: self.split, stopped: &stopped };
        let compared = match &self.ready {
            ReadySearch::Complete(prepared) => self.space.complete(prepared, &join, found)?,
            ReadySearch::Tables(expression, families) => {
                let families: Vec<(&str, &dyn Family)> =
                    families.iter().map(|(name, family)| (name.as_str(), &**family as _)).collect();
                let cascade = Cascade::new(expression, &families, self.space.len())?;
                cascade.join(self.space, &join, found)?.verified
            }
            ReadySearch::Probed(shape, named) => {
                let probed = ProbedTables::new(probes::of(named)?, *shape, self.space.len())?;
                probed.join(self.space, &join, found)?.verified
            }
        };
        stats.in_candidates = self.groups as u64;
        stats.candidates = compared;
        stats.verified = compared;
        Ok(())
    }

    /// Puts the pairs that `find` finds together as lists of each group.
    fn gather(
        &self,
        copies: CopyValues,
        owners: PairOwners,
        find: impl FnOnce(&PairSink<'_>) -> Result<()>,
    ) -> Result<SimilarGroups> {
        let run = (self.budget, self.search.settings.threads);
        gather(self.groups, copies, owners, run, find)
    }

    /// The connected components of all similar pairs, and a list of the pairs if there are not more than `listed`.
    fn connect(
        &self,
        listed: u64,
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<(Vec<u32>, Option<SimilarGroups>)> {
        observer.stage(self.stage(), None);
        // A pair may come again, and counts once.
        let may_repeat = matches!(self.ready, ReadySearch::Probed(..));
        if may_repeat {
            self.check_space()?;
        }
        let sets = Mutex::new(UnionFind::new(self.groups));
        let count = AtomicU64::new(0);
        let owners = if listed > 0 { PairOwners::Both } else { PairOwners::First };
        let lists = self.gather(CopyValues::Same(None), owners, |found| {
            self.find(observer, stats, &|pairs| {
                let mut sets = sets.lock().unwrap_or_else(PoisonError::into_inner);
                pairs.iter().for_each(|pair| sets.join(pair.a, pair.b));
                drop(sets);
                let before = count.fetch_add(pairs.len() as u64, Ordering::Relaxed);
                if may_repeat || before < listed { found(pairs) } else { Ok(()) }
            })
        })?;
        stats.similar = match (may_repeat, owners) {
            (false, _) => count.into_inner(),
            (true, PairOwners::First) => lists.entries(),
            (true, PairOwners::Both) => lists.entries() / 2,
        };
        let mut sets = sets.into_inner().unwrap_or_else(PoisonError::into_inner);
        let components = (0..self.groups as u32).map(|group| sets.find(group)).collect();
        Ok((components, (stats.similar <= listed).then_some(lists)))
    }

    /// Refuses pairs that would not fit on the disk: a limit that was mistyped.
    fn check_space(&self) -> Result<()> {
        /// Bytes of temporary files that a pair takes: from both its ends in partitions, and then in lists.
        const PAIR: f64 = 2.0 * (16.0 + 12.0);
        let Self { plan, space, limit, .. } = self;
        let close = plan.sample.partition_point(|&value| !space.form().closer(*limit, value));
        // Of few, as many may be by accident.
        let share = if close < 16 { 0.0 } else { close as f64 / plan.sample.len() as f64 };
        let bytes = (PAIR * share * pairs_of(space.len(), self.split)) as u64;
        let memory = self.search.settings.memory as u64;
        let checked = self.budget.check_space(bytes.saturating_sub(memory));
        checked.map_err(|error| error.or("choose a closer limit"))
    }
}

impl<S: SearchSpace> Comparison for SpaceSearch<'_, S> {
    fn stage(&self) -> Stage {
        if self.plan.is_exact() { Stage::Join } else { Stage::Verify }
    }

    fn similar_groups(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<SimilarGroups> {
        observer.stage(self.stage(), None);
        self.check_space()?;
        let copies = copy_values(self.space, &self.copied, Some(self.limit));
        let similar =
            self.gather(copies, PairOwners::Both, |found| self.find(observer, stats, found))?;
        stats.similar = similar.entries() / 2;
        Ok(similar)
    }

    fn components(&self, observer: &dyn Observer, stats: &mut Stats) -> Result<Vec<u32>> {
        Ok(self.connect(0, observer, stats)?.0)
    }

    fn stars(
        &self,
        order: (&[u32], u32),
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Vec<u32>> {
        /// Pairs of which a list is kept. Among more, few items are kept of many, and it is as well to compare with those.
        const LISTED: u64 = 1 << 24;
        let (components, similar) = self.connect(LISTED, observer, stats)?;
        let sizes = self.space.sizes();
        let none = || KeptInSpace {
            search: self,
            sizes: sizes.as_deref(),
            similar: similar.as_ref(),
            kept: Vec::new(),
            places: HashMap::new(),
        };
        stars(&components, order, none, &|| self.search.go_on())
    }

    fn sizes(&self) -> Result<Option<Vec<u32>>> {
        Ok(self.space.sizes())
    }

    fn closeness(&self, centres: &[u32]) -> Result<Vec<Closeness>> {
        let closeness = |group: u32| {
            let centre = centres[group as usize];
            let value = self.space.value(group.min(centre), group.max(centre));
            let is_similar = !self.space.form().closer(self.limit, value);
            Closeness { value, is_similar }
        };
        Ok((0..centres.len() as u32).into_par_iter().map(closeness).collect())
    }
}

/// Kept items of a component, in order of preference.
struct KeptInSpace<'a, S> {
    search: &'a SpaceSearch<'a, S>,
    /// How large items are, where only a larger one stands for another.
    sizes: Option<&'a [u32]>,
    /// All similar pairs, where there are few.
    similar: Option<&'a SimilarGroups>,
    kept: Vec<u32>,
    /// Where each stands among them.
    places: HashMap<u32, u32>,
}

impl<S: SearchSpace> Centres for KeptInSpace<'_, S> {
    type Scratch = Cache<u32>;

    fn scratch(&self) -> Cache<u32> {
        Cache::one()
    }

    fn len(&self) -> usize {
        self.kept.len()
    }

    fn push(&mut self, group: u32) {
        self.places.insert(group, self.kept.len() as u32);
        self.kept.push(group);
    }

    fn first_similar(
        &self,
        group: u32,
        from: usize,
        scratch: &mut Cache<u32>,
    ) -> Result<Option<u32>> {
        // An item that stays in any case may be contained in a later one, which stays as well.
        let stands = |kept: u32| {
            self.sizes.is_none_or(|sizes| sizes[kept as usize] >= sizes[group as usize])
        };
        if let Some(similar) = self.similar {
            let others = similar.of(group, scratch)?.filter(|&(other, _)| stands(other));
            let kept = others.filter_map(|(other, _)| self.places.get(&other));
            let first = kept.copied().filter(|&place| place as usize >= from).min();
            return Ok(first.map(|place| self.kept[place as usize]));
        }
        let SpaceSearch { space, limit, .. } = self.search;
        let is_similar = |&&kept: &&u32| {
            stands(kept) && space.reaching(group.min(kept), group.max(kept), *limit).is_some()
        };
        Ok(self.kept[from..].iter().find(is_similar).copied())
    }
}

/// By group, whether it has copies.
fn has_copies(copies: &Copies) -> Vec<bool> {
    let members: Members = copies.members();
    (0..copies.groups()).map(|group| members.of(group).len() > 1).collect()
}

/// How close copies are, where they reach the limit.
fn copy_values(space: &impl SearchSpace, copied: &[bool], limit: Option<f64>) -> CopyValues {
    if !copied.contains(&true) {
        return CopyValues::Same(None);
    }
    let value = |(group, &copied): (u32, &bool)| match (copied, limit) {
        (false, _) => f64::NAN,
        (true, Some(limit)) => space.reaching(group, group, limit).unwrap_or(f64::NAN),
        (true, None) => space.value(group, group),
    };
    CopyValues::Each((0u32..).zip(copied).map(value).collect())
}

/// Puts pairs together as lists of each group, while `find` finds them.
fn gather(
    groups: usize,
    copies: CopyValues,
    owners: PairOwners,
    (budget, threads): (&Budget, usize),
    find: impl FnOnce(&PairSink<'_>) -> Result<()>,
) -> Result<SimilarGroups> {
    let places: Arc<Vec<u32>> = Arc::new((0..groups as u32).collect());
    let builder = SimilarGroupsBuilder::new(&places, groups, owners, budget);
    find(&|pairs| builder.add(pairs.iter().map(|pair| (pair.a, pair.b, pair.value))))?;
    builder.finish(copies, threads)
}

/// The closest groups of each group.
pub(super) fn closest<S: SearchSpace>(
    space: &S,
    search: Search<'_>,
    collection: &Collection,
    budget: &Budget,
    count: usize,
) -> Result<SimilarGroups> {
    let stopped = || search.observer.stopped();
    let query = query(search, collection, &[], &stopped);
    let limit = query.limit.is_finite().then_some(query.limit);
    let no_closer = search.settings.no_closer;
    let top = TopQuery { count, split: query.split, no_closer, stopped: &stopped };
    let mut found = space.closest(&top, limit)?;
    if let Some(limit) = limit {
        found.retain(|found| !space.form().closer(limit, found.value));
    }
    let copies = copy_values(space, &has_copies(collection.copies()), limit);
    let run = (budget, search.settings.threads);
    gather(space.len(), copies, PairOwners::First, run, |take| take(&found))
}

/// Every pair of distinct items in memory that reaches a limit, none missed, sorted.
pub(crate) fn close_pairs(items: Items, join: &JoinQuery<'_>) -> Result<Vec<ClosePair>> {
    fn all<S: SearchSpace>(space: &S, join: &JoinQuery<'_>) -> Result<Vec<ClosePair>> {
        let (prepared, _) = space.prepare(join);
        Ok(sorted_pairs(|found| space.complete(&prepared, join, found))?.0)
    }
    let nothing: Vec<bool> = (0..items.len()).map(|item| items.is_nothing(item)).collect();
    let mut found = match items {
        Items::Vectors(vectors, measure) => all(&VectorSpace::new(&vectors, measure)?, join),
        Items::Bits(bits, form, scale) => all(&BitSpace::new(&bits, form, scale)?, join),
        Items::Sets(sets, measure, form) => all(&SetSpace::new(&sets, measure, form), join),
        Items::Bags(bags, measure, form) => all(&BagSpace::new(&bags, measure, form), join),
        Items::Strings(strings, measure) => all(&StringSpace::new(strings, measure), join),
        Items::Sparse(vectors, measure) => all(&SparseSpace::new(vectors, measure), join),
        Items::Signatures(signatures) => all(&SignatureSpace::new(&signatures), join),
    }?;
    found.retain(|pair| !nothing[pair.a as usize] && !nothing[pair.b as usize]);
    Ok(found)
}
