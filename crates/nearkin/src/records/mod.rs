//! Which records are the same thing? Entity resolution.
//!
//! Records come in with [`Rules`]: which pairs are looked at (equal fields, similar fields, joined by AND and OR),
//! what each field is worth, and how what matches is grouped. Pairs go out with their score and each field's part in
//! it. (The method is that of *Mining of Massive Datasets*, 3.8.1–3.8.3: points a field, a penalty that grows with the
//! square of a distance, tables that soften it, and the share of true matches from a field that was not scored.)
//!
//! | file | answers |
//! |---|---|
//! | [`rules`] | what does the user want? |
//! | [`fields`] | what are the values of a field, ready to be compared? |
//! | [`dates`], [`synonyms`] | which day is this? which words mean the same? |
//! | [`candidates`] | which pairs are worth a look? |
//! | [`score`] | how many points have they? |
//! | [`grouping`] | which of them are taken: one to one, clusters, all? |
//! | [`check`] | how many pairs of a score are true? |
//! | [`suggest`] | which rules would do for these tables? |

pub mod candidates;
pub mod check;
pub mod dates;
pub mod fields;
pub mod grouping;
pub mod rules;
pub mod score;
#[cfg(feature = "files")]
mod settings;
pub mod suggest;
pub mod synonyms;

pub use rules::{Alternative, CheckRule, Distance, FieldRule, Grouping, How, LostAt, Rules, Term};
pub use score::Scorer;

use rayon::prelude::*;

use crate::item::Table;
use crate::{Error, Result};

/// The records that are matched: of one table with each other, or of two.
#[derive(Debug, Clone, Copy)]
pub struct Records<'a> {
    /// The first table.
    pub a: &'a Table,
    /// The other, where there are two.
    pub b: Option<&'a Table>,
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

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The pairs that are taken, by the first record, then the second.
    pub matches: Vec<Match>,
    /// By record, the first of its cluster, where records are grouped into clusters.
    pub clusters: Option<Vec<u32>>,
    /// The score that pairs had to reach.
    pub threshold: f64,
    /// Pairs that were scored, by alternative.
    pub candidates: Vec<u64>,
    /// Pairs that reach the threshold.
    pub reached: u64,
    /// The share of true matches at each score, where there is a field to tell.
    pub shares: Option<check::Shares>,
}

/// Most pairs that may reach the threshold: beyond, they are hardly matches.
const MOST_PAIRS: usize = 1 << 27;

/// Finds the records that are the same.
///
/// # Errors
/// When the rules name a column that a table does not have, more pairs than can be held reach the threshold, or it was
/// stopped.
pub fn resolve(
    records: &Records<'_>,
    rules: &Rules,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<(Outcome, Scorer)> {
    rules.validate()?;
    let scorer = Scorer::new(records, rules)?;
    let search = candidates::Search::new(&scorer, rules, records.split(), stopped);
    let shares = match &rules.check {
        Some(check) => Some(check::shares(records, rules, check, &scorer, &search)?),
        None => None,
    };
    let threshold = match (rules.threshold, &shares) {
        (Some(threshold), _) => threshold,
        (None, Some(shares)) => shares.threshold.ok_or_else(|| {
            let must =
                "given: at no score is the share of true matches that [check] asks for reached";
            Error::parameter("threshold", "missing", must)
        })?,
        (None, None) => {
            let must = "given, or found by a [check]";
            return Err(Error::parameter("threshold", "missing", must));
        }
    };
    let (reaching, candidates) = search.reaching(threshold)?;
    let reached = reaching.len() as u64;
    let (matches, clusters) = match rules.grouping {
        Grouping::All => (reaching, None),
        Grouping::OneToOne => (grouping::one_to_one(reaching, records.len()), None),
        Grouping::Clusters => {
            let clusters =
                grouping::clusters(reaching, records.len(), threshold, &scorer, stopped)?;
            (grouping::pairs_within(&clusters, &scorer)?, Some(clusters))
        }
    };
    Ok((Outcome { matches, clusters, threshold, candidates, reached, shares }, scorer))
}

/// In the order of the records.
fn sorted(mut matches: Vec<Match>) -> Vec<Match> {
    matches.par_sort_unstable_by_key(|pair| (pair.a, pair.b));
    matches
}
