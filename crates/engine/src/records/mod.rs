//! Which records are the same thing? Entity resolution.
//!
//! Records come in with [`Rules`]: which pairs are looked at (equal fields, similar fields, joined by AND and OR),
//! what each field is worth, and how what matches is grouped. Pairs go out with their score and each field's part in
//! it. (The method is that of *Mining of Massive Datasets*, 3.8.1–3.8.3: points per field, a penalty that grows with the
//! square of a distance, tables that soften it, and the share of true matches from a field that was not scored.)
//!
//! | file | answers |
//! |---|---|
//! | [`rules`] | what does the user want? |
//! | [`fields`] | what are the values of a field, ready to be compared? |
//! | [`dates`], [`synonyms`] | which day is this? which words mean the same? |
//! | [`candidates`] | which pairs are worth a look? |
//! | [`score`] | how many points have they? |
//! | [`copies`] | which records are equal in all that is compared? |
//! | [`grouping`] | which of them are taken: one to one, clusters, all? |
//! | [`check`] | how many pairs of a score are true? |
//! | [`suggest`] | which rules would do for these tables? |

pub mod candidates;
pub mod check;
pub mod copies;
pub mod dates;
pub mod fields;
pub mod grouping;
pub mod rules;
pub mod score;
#[cfg(feature = "files")]
mod settings;
pub mod suggest;
pub mod synonyms;

pub use copies::EqualRecords;
pub use rules::{
    Alternative, CheckRule, Distance, FieldCondition, FieldRule, GroupingRule, LossDistance,
    Probability, Rules, ValueRelation,
};
pub use score::Scorer;

use rayon::prelude::*;

use crate::item::RecordTable;
use crate::{Error, Result};

/// The records that are matched: of one table with each other, or of two.
#[derive(Debug, Clone, Copy)]
pub struct Records<'a> {
    /// The first table.
    pub a: &'a RecordTable,
    /// The other, where there are two.
    pub b: Option<&'a RecordTable>,
}

impl Records<'_> {
    /// Number of records of both; those of the second table come behind those of the first.
    pub fn len(&self) -> usize {
        self.a.len + self.b.map_or(0, |b| b.len)
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the second table begins.
    pub fn split(&self) -> Option<u32> {
        self.b.map(|_| self.a.len as u32)
    }
}

/// Two records and what they score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// The first record.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// Their points.
    pub score: f64,
}

/// The result of a run.
#[derive(Debug)]
pub struct MatchResult {
    /// What is the same.
    pub matches: MatchGroups,
    /// The score that pairs had to reach.
    pub threshold: f64,
    /// Pairs that were scored, by alternative; records that are equal in all that is compared go by one of them.
    pub candidates: Vec<u64>,
    /// Pairs that reach the threshold, those of equal records included.
    pub reached: u64,
    /// The share of true matches at each score, where there is a field to tell.
    pub shares: Option<check::Shares>,
}

/// What is the same.
#[derive(Debug, Clone, PartialEq)]
pub enum MatchGroups {
    /// These pairs, by the first record, then the second.
    Pairs(Vec<Match>),
    /// By record, the first of its cluster.
    Clusters(Vec<u32>),
}

impl MatchGroups {
    /// By record, the first of its cluster, where records are grouped into clusters.
    pub fn clusters(&self) -> Option<&[u32]> {
        match self {
            Self::Pairs(_) => None,
            Self::Clusters(clusters) => Some(clusters),
        }
    }

    /// Calls `each` with every pair that is the same, by the first record, then the second; returns how many there are.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn each(&self, scorer: &Scorer, mut each: impl FnMut(Match) -> Result<()>) -> Result<u64> {
        match self {
            Self::Pairs(pairs) => {
                pairs.iter().try_for_each(|pair| each(*pair))?;
                Ok(pairs.len() as u64)
            }
            Self::Clusters(clusters) => grouping::pairs_within(clusters, scorer, each),
        }
    }
}

/// What a run may take.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Bytes for the pairs that reach the threshold.
    pub memory: usize,
    /// Whether to give up.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Limits<'_> {
    /// Pairs that may reach the threshold: they are gathered, sorted and grouped.
    fn most_pairs(&self) -> usize {
        self.memory / (4 * size_of::<Match>())
    }
}

/// Finds the records that are the same.
///
/// # Errors
/// When the rules name a column that a table does not have, when more pairs reach the threshold than memory holds, when
/// there are too many candidates to wait for, or when it was stopped.
pub fn resolve(
    records: &Records<'_>,
    rules: &Rules,
    limits: &Limits<'_>,
) -> Result<(MatchResult, Scorer)> {
    rules.validate()?;
    let scorer = Scorer::new(records, rules)?;
    let shares = match &rules.check {
        Some(check) => Some(check::shares(records, rules, check, &scorer, limits.stopped)?),
        None => None,
    };
    let threshold = threshold(rules, shares.as_ref())?;
    let copies = EqualRecords::new(&scorer, records.split());
    let distinct = copies.distinct.clone();
    let search =
        candidates::CandidateSearch::new(&scorer, rules, records.split(), distinct, limits.stopped);
    let (mut reaching, candidates) = search.reaching(threshold, limits.most_pairs())?;
    if records.b.is_none() {
        reaching.extend(copies.of_themselves(&scorer, threshold, |a, b| search.is_candidate(a, b)));
    }
    let reached = copies.count(&reaching);
    let matches = match rules.grouping {
        GroupingRule::All if reached > limits.most_pairs() as u64 => {
            return Err(too_many(threshold, limits.most_pairs()));
        }
        GroupingRule::All => MatchGroups::Pairs(copies.expanded(&reaching)),
        GroupingRule::OneToOne => MatchGroups::Pairs(grouping::one_to_one(reaching, &copies)),
        GroupingRule::Clusters => MatchGroups::Clusters(grouping::clusters(
            reaching,
            &copies,
            threshold,
            &scorer,
            limits.stopped,
        )?),
    };
    Ok((MatchResult { matches, threshold, candidates, reached, shares }, scorer))
}

/// The score that matches reach: the rules', or the one that the check found.
fn threshold(rules: &Rules, shares: Option<&check::Shares>) -> Result<f64> {
    let missing = |must: &str| Error::parameter("the threshold", "missing", must);
    match (rules.threshold, shares) {
        (Some(threshold), _) => Ok(threshold),
        (None, Some(shares)) => shares.threshold.ok_or_else(|| {
            missing("given: at no score is the share of true matches that [check] asks for reached")
        }),
        (None, None) => Err(missing("given in the rules, or found by a [check]")),
    }
}

/// The error for more pairs than can be held.
fn too_many(threshold: f64, most: usize) -> Error {
    let must = format!("higher: more than {most} pairs reach it, for which there is no memory");
    Error::parameter("the threshold", threshold, must)
}

/// In the order of the records.
fn sorted(mut matches: Vec<Match>) -> Vec<Match> {
    matches.par_sort_unstable_by_key(|pair| (pair.a, pair.b));
    matches
}
