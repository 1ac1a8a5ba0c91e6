//! Records that are equal in every field are one record, until the end.
//!
//! So 200,000 copies cost as much as one record.

use super::{Match, Scorer, sorted};
use crate::item::MISSING;

/// Records in groups of equal ones, those of two tables apart.
#[derive(Debug)]
pub struct EqualRecords {
    /// By record, the first that is equal to it.
    pub first: Vec<u32>,
    /// The records that no one before is equal to, ascending.
    pub distinct: Vec<u32>,
    /// Records group by group, ascending in each, the groups by their first.
    members: Vec<u32>,
    /// By record that is the first of a group, where the group stands.
    starts: Vec<u32>,
}

impl EqualRecords {
    /// The records of these fields; those from `split` on are the second table.
    pub fn new(scorer: &Scorer, split: Option<u32>) -> Self {
        let records = scorer.fields.first().map_or(0, |field| field.codes.len()) as u32;
        let side = |record: u32| split.is_some_and(|split| record >= split);
        let key = |record: u32| {
            let codes = scorer.fields.iter().map(move |field| field.codes[record as usize]);
            (side(record), codes)
        };
        let compare = |a: u32, b: u32| {
            let ((side_a, codes_a), (side_b, codes_b)) = (key(a), key(b));
            side_a.cmp(&side_b).then_with(|| codes_a.cmp(codes_b))
        };
        let mut order: Vec<u32> = (0..records).collect();
        order.sort_by(|&a, &b| compare(a, b));
        let mut first = vec![0; records as usize];
        for group in order.chunk_by(|&a, &b| compare(a, b).is_eq()) {
            group.iter().for_each(|&record| first[record as usize] = group[0]);
        }
        let mut members: Vec<u32> = (0..records).collect();
        members.sort_by_key(|&record| first[record as usize]);
        let mut starts = vec![0; records as usize];
        for (at, &record) in (0..).zip(&members) {
            if first[record as usize] == record {
                starts[record as usize] = at;
            }
        }
        let distinct = (0..records).filter(|&record| first[record as usize] == record).collect();
        Self { first, distinct, members, starts }
    }

    /// The records that are equal to one that is the first of its group.
    pub fn of(&self, first: u32) -> &[u32] {
        let from = self.starts[first as usize] as usize;
        let group = &self.members[from..];
        let end = group.partition_point(|&record| self.first[record as usize] == first);
        &group[..end]
    }

    /// Pairs of a record with itself, for those that have copies in the same table and whose copies reach the threshold.
    pub fn of_themselves(
        &self,
        scorer: &Scorer,
        threshold: f64,
        is_candidate: impl Fn(u32, u32) -> bool,
    ) -> Vec<Match> {
        let known =
            |record: u32| scorer.fields.iter().any(|it| it.codes[record as usize] != MISSING);
        let several = self.distinct.iter().filter(|&&record| self.of(record).len() > 1);
        several
            .filter(|&&record| known(record) && is_candidate(record, record))
            .filter_map(|&record| {
                let score = scorer.reaching(record, record, threshold)?;
                Some(Match { a: record, b: record, score })
            })
            .collect()
    }

    /// Number of pairs that stand behind pairs of distinct records.
    pub fn count(&self, matches: &[Match]) -> u64 {
        matches.iter().map(|pair| self.pairs(pair)).sum()
    }

    fn pairs(&self, pair: &Match) -> u64 {
        let [a, b] = [pair.a, pair.b].map(|record| self.of(record).len() as u64);
        if pair.a == pair.b { a * (a - 1) / 2 } else { a * b }
    }

    /// The pairs of all records, in order.
    pub fn expanded(&self, matches: &[Match]) -> Vec<Match> {
        let mut all = Vec::new();
        for pair in matches {
            for &a in self.of(pair.a) {
                let others = self.of(pair.b).iter().filter(|&&b| pair.a != pair.b || a < b);
                all.extend(others.map(|&b| Match { a: a.min(b), b: a.max(b), ..*pair }));
            }
        }
        sorted(all)
    }
}
