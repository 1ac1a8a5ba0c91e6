//! Items in memory: vectors, bit strings, strings, sparse vectors, bags with large counts, and sets that are searched by an
//! expression.
//!
//! Identical items are folded, the distinct ones become a space, and the [plan](crate::plan) says whether all are compared
//! or those that share a bucket of some table.

mod items;
mod space_search;

pub use items::{ItemNames, Items, MemoryItems};
pub(crate) use space_search::close_pairs;

use crate::audit::AuditSample;
use crate::cluster::{Deduplication, Keep, Linkage};
use crate::item::{FieldKeys, Members};
use crate::matches::{Collection, Matches, SimilarGroups, Stats};
use crate::observe::{Clock, Stage};
use crate::parallel::{in_pool, pool};
use crate::plan::Plan;
use crate::plan::space::SearchSpace;
use crate::plan::tables;
use crate::settings::Goal;
use crate::space::{
    BagSpace, BitSpace, Form, SetSpace, SignatureSpace, SparseSpace, StringSpace, VectorSpace,
};
use crate::spill::{self, Budget, Temp};
use crate::verify::Limit;
use crate::{Error, Result};
use space_search::SpaceSearch;

use super::{Search, Searchable, cluster, compare};

/// Something to do with the distinct items of a collection.
trait SpaceJob {
    type Output;

    fn run<S: SearchSpace>(self, space: &S, run: MemoryRun<'_>) -> Result<Self::Output>;
}

/// What all stages of a run know.
struct MemoryRun<'a> {
    search: Search<'a>,
    collection: Collection,
    /// Fields of the distinct items.
    fields: Vec<FieldKeys>,
    budget: Budget,
}

impl MemoryItems {
    /// An error where a similarity is asked for of items that are compared by a distance, or the other way round.
    fn check_limit(&self, search: Search<'_>) -> Result<()> {
        match (self.items.form(), search.settings.limit()) {
            (Form::Similarity, Limit::Similarity(_)) | (Form::Distance, Limit::Distance(_)) => {
                Ok(())
            }
            (Form::Distance, Limit::Similarity(_)) => {
                Err(Error::missing("within", "the largest distance of a pair"))
            }
            (Form::Similarity, Limit::Distance(most)) => {
                let must = "left out: these items are compared by their similarity";
                Err(Error::parameter("within", most, must))
            }
        }
    }

    /// Folds copies and does a job with the distinct items.
    fn with_space<J: SpaceJob>(
        self,
        search: Search<'_>,
        (goal, lengths): (Goal, bool),
        job: J,
    ) -> Result<J::Output> {
        self.check_limit(search)?;
        let temp = Temp::passing(spill::folder(search.settings.temp.as_ref()));
        let budget = Budget::new(search.settings.memory, temp);
        let (collection, items, fields) = self.fold(goal, lengths, &budget)?;
        let run = MemoryRun { search, collection, fields, budget };
        match items {
            Items::Vectors(vectors, measure) => job.run(&VectorSpace::new(&vectors, measure)?, run),
            Items::Bits(bits, form, scale) => job.run(&BitSpace::new(&bits, form, scale)?, run),
            Items::Sets(sets, measure, form) => job.run(&SetSpace::new(&sets, measure, form), run),
            Items::Bags(bags, measure, form) => job.run(&BagSpace::new(&bags, measure, form), run),
            Items::Strings(strings, measure) => job.run(&StringSpace::new(strings, measure), run),
            Items::Sparse(vectors, measure) => job.run(&SparseSpace::new(vectors, measure), run),
            Items::Signatures(all) => job.run(&SignatureSpace::new(&all), run),
        }
    }
}

impl Searchable for MemoryItems {
    fn pairs(self, search: Search<'_>) -> Result<Matches> {
        let pool = pool(search.settings.threads)?;
        let form = self.items.form();
        let (stats, collection, similar) =
            pool.install(|| self.with_space(search, (Goal::Pairs, false), PairsJob))?;
        let matches = Matches::new(collection, similar, form, stats, pool);
        Ok(matches.no_closer(search.settings.no_closer))
    }

    fn closest(self, search: Search<'_>, k: usize) -> Result<Matches> {
        let pool = pool(search.settings.threads)?;
        let form = self.items.form();
        let (stats, collection, similar) =
            pool.install(|| self.with_space(search, (Goal::Closest, false), ClosestJob(k)))?;
        let matches = Matches::new(collection, similar, form, stats, pool);
        Ok(matches.no_closer(search.settings.no_closer))
    }

    fn dedup(self, search: Search<'_>, keep: &Keep, linkage: Linkage) -> Result<Deduplication> {
        let empty = (self.items.value_of_nothing(), self.items.form());
        in_pool(search.settings.threads, || {
            let folding = (Goal::Groups, keep.counts_lengths());
            self.with_space(search, folding, DedupJob { keep, linkage, empty })
        })
    }

    fn plan(self, search: Search<'_>, goal: Goal) -> Result<Option<Plan>> {
        let folding = (goal, false);
        in_pool(search.settings.threads, || self.with_space(search, folding, PlanJob).map(Some))
    }
}

/// The search of a space, and what an audit of it should find.
fn audited_search<'a, S: SearchSpace>(
    space: &'a S,
    search: Search<'a>,
    collection: &Collection,
    (fields, budget): (&[FieldKeys], &'a Budget),
    stats: &mut Stats,
) -> Result<(SpaceSearch<'a, S>, AuditSample)> {
    collection.count(stats);
    let search_space = SpaceSearch::new(space, search, collection, (fields, budget), stats)?;
    let truth = search_space.true_partners(collection, stats)?;
    Ok((search_space, truth))
}

/// Every similar pair.
struct PairsJob;

/// The parts of [`Matches`] except its threads.
type MatchParts = (Stats, Collection, (SimilarGroups, Members));

impl SpaceJob for PairsJob {
    type Output = MatchParts;

    fn run<S: SearchSpace>(self, space: &S, run: MemoryRun<'_>) -> Result<MatchParts> {
        let MemoryRun { search, collection, fields, budget } = run;
        let mut stats = Stats::default();
        let (search_space, truth) =
            audited_search(space, search, &collection, (&fields, &budget), &mut stats)?;
        let load = |_: &mut Stats| Ok(search_space);
        let similar = compare(search, &budget, load, &collection, &truth, &mut stats)?;
        Ok((stats, collection, similar))
    }
}

/// So many of the closest of each item.
struct ClosestJob(usize);

impl SpaceJob for ClosestJob {
    type Output = MatchParts;

    fn run<S: SearchSpace>(self, space: &S, run: MemoryRun<'_>) -> Result<MatchParts> {
        let MemoryRun { search, collection, budget, .. } = run;
        let mut stats = Stats::default();
        collection.count(&mut stats);
        let similar = search.resumable(
            Stage::Verify,
            &mut stats,
            |saved| SimilarGroups::load(saved, budget.share(2)),
            |stats| {
                search.observer.stage(Stage::Verify, None);
                let clock = Clock::start(Stage::Verify);
                let similar = space_search::closest(space, search, &collection, &budget, self.0)?;
                stats.stages.push(clock.stop(0));
                Ok(similar)
            },
        )?;
        let members = collection.copies().members();
        Ok((stats, collection, (similar, members)))
    }
}

/// One item of each cluster kept.
struct DedupJob<'k> {
    keep: &'k Keep,
    linkage: Linkage,
    empty: (f64, Form),
}

impl SpaceJob for DedupJob<'_> {
    type Output = Deduplication;

    fn run<S: SearchSpace>(self, space: &S, run: MemoryRun<'_>) -> Result<Deduplication> {
        let MemoryRun { search, collection, fields, budget } = run;
        let mut stats = Stats::default();
        let (search_space, truth) =
            audited_search(space, search, &collection, (&fields, &budget), &mut stats)?;
        let load = |_: &mut Stats| Ok(search_space);
        let rule = (self.keep, self.linkage);
        let clustering = cluster(search, load, &collection, rule, &truth, &mut stats)?;
        Ok(Deduplication::new(collection, clustering, self.empty, stats))
    }
}

/// What each way would cost.
struct PlanJob;

impl SpaceJob for PlanJob {
    type Output = Plan;

    fn run<S: SearchSpace>(self, space: &S, run: MemoryRun<'_>) -> Result<Plan> {
        let stopped = || run.search.observer.stopped();
        let query = space_search::query(run.search, &run.collection, &run.fields, &stopped);
        Ok(tables::plan(space, &query)?.0)
    }
}
