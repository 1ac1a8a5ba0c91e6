//! Which pairs of records are worth a look?
//!
//! An alternative is a list of conditions that hold together. One of them, or the equal fields together, finds pairs of
//! values: equal ones by sorting, similar ones by the joins of sets, strings and vectors, which miss none. The others
//! are checked pair by pair. A pair that more than one alternative finds is looked at once, for the first of them.
//!
//! Conditions are exact, so an alternative need not remember what an earlier one found: the values are asked again
//! whether an earlier alternative holds for the pair.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::fields::{Field, jaccard, sets};
use super::rules::{Alternative, Distance, FieldCondition, Rules, ValueRelation};
use super::{Match, Scorer, sorted, too_many};
use crate::item::{MISSING, Sets, Sparse, Strings};
use crate::search::{Items, close_pairs};
use crate::shingle::{Case, Shingling};
use crate::space::{ClosePair, Form, JoinQuery, SparseMeasure, StringMeasure};
use crate::verify::Measure;
use crate::{Error, Result};

/// The pairs that rules look at.
pub struct CandidateSearch<'a> {
    scorer: &'a Scorer,
    alternatives: Vec<Vec<Condition>>,
    /// The alternatives as the user wrote them.
    names: Vec<String>,
    split: Option<u32>,
    /// The records that are looked at: no copies.
    distinct: Vec<u32>,
    stopped: &'a (dyn Fn() -> bool + Sync),
}

/// A condition on the values of a field.
struct Condition {
    field: usize,
    test: Test,
}

enum Test {
    Equal,
    Cosine(f64),
    Jaccard(f64, Sets),
    Edits(usize),
    Apart(f64),
}

/// Records that are all paired with others, or with each other.
#[derive(Clone, Copy)]
enum PairBlock<'a> {
    Across(&'a [u32], &'a [u32]),
    Within(&'a [u32]),
}

/// Records by the number of their value, on one side.
struct RecordsByValue {
    records: Vec<u32>,
    starts: Vec<u32>,
}

/// More pairs than that, about an hour of two cores, are a mistake.
const MOST_CANDIDATES: u64 = 30_000_000_000;
/// Pairs that one thread looks at before it takes others, about.
const TASK: usize = 1 << 14;
/// Pairs that are scored before it is asked whether to stop: two long texts take a tenth of a millisecond.
const LOOK: u64 = 256;
/// If an alternative has conditions on equal and on similar fields, the equal fields find its pairs, as long as they find
/// at most this many per record.
const FEW: u64 = 50;

impl<'a> CandidateSearch<'a> {
    /// What these rules look at among some records.
    pub fn new(
        scorer: &'a Scorer,
        rules: &Rules,
        split: Option<u32>,
        distinct: Vec<u32>,
        stopped: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        let condition = |term: &FieldCondition| Condition::new(term, &scorer.fields[term.field]);
        let alternative = |it: &Alternative| it.0.iter().map(condition).collect();
        let alternatives = rules.candidates.iter().map(alternative).collect();
        let names = rules.candidates.iter().map(|it| it.display(&rules.fields)).collect();
        Self { scorer, alternatives, names, split, distinct, stopped }
    }

    /// The pairs that reach a score, up to `most` of them, in order, and how many each alternative found.
    ///
    /// # Errors
    /// When they are too many, or it was stopped.
    pub fn reaching(&self, threshold: f64, most: usize) -> Result<(Vec<Match>, Vec<u64>)> {
        let kept = AtomicUsize::new(0);
        let (parts, counts) = self.visit(Vec::new, |matches: &mut Vec<Match>, a, b| {
            if let Some(score) = self.scorer.reaching(a, b, threshold) {
                matches.push(Match { a, b, score });
                return kept.fetch_add(1, Ordering::Relaxed) < most;
            }
            true
        })?;
        if kept.load(Ordering::Relaxed) > most {
            return Err(too_many(threshold, most));
        }
        Ok((sorted(parts.concat()), counts))
    }

    /// Calls `each` with every pair, from many threads, until it says no. Returns what was gathered, in parts that do not
    /// depend on the threads, and how many pairs each alternative found.
    pub(super) fn visit<T: Send>(
        &self,
        start: impl Fn() -> T + Sync,
        each: impl Fn(&mut T, u32, u32) -> bool + Sync,
    ) -> Result<(Vec<T>, Vec<u64>)> {
        let mut gathered = Vec::new();
        let mut counts = Vec::new();
        for number in 0..self.alternatives.len() {
            let parts = self.blocks(number, &|blocks| {
                let visit = |tasks: &Vec<Task<'_>>| {
                    let (mut own, mut count) = (start(), 0u64);
                    let mut go_on = !(self.stopped)();
                    for &(block, from, to) in tasks {
                        block.pairs(from, to, |a, b| {
                            if go_on && self.is_new(number, a, b) {
                                count += 1;
                                go_on = each(&mut own, a, b)
                                    && (count % LOOK != 0 || !(self.stopped)());
                            }
                            go_on
                        });
                    }
                    (own, count)
                };
                batches(blocks).par_iter().map(visit).collect::<Vec<(T, u64)>>()
            })?;
            let count = parts.iter().map(|part| part.1).sum();
            gathered.extend(parts.into_iter().map(|part| part.0));
            if (self.stopped)() {
                return Err(Error::Interrupted);
            }
            counts.push(count);
        }
        Ok((gathered, counts))
    }

    /// How many pairs an alternative has whose conditions are that fields are equal; none where it has others.
    pub(super) fn equal_pairs(&self, number: usize) -> Option<u64> {
        let conditions = &self.alternatives[number];
        let fields: Vec<usize> = conditions.iter().map(|it| it.field).collect();
        let equal = conditions.iter().all(|it| matches!(it.test, Test::Equal));
        equal.then(|| pairs_of(&self.group_blocks(&self.equal_groups(&fields))))
    }

    /// Whether all conditions of some alternative hold.
    pub(super) fn is_candidate(&self, a: u32, b: u32) -> bool {
        (0..self.alternatives.len()).any(|number| self.is_new(number, a, b))
    }

    /// Whether all conditions of an alternative hold, and not all of one before it.
    pub(super) fn is_new(&self, number: usize, a: u32, b: u32) -> bool {
        let holds = |conditions: &Vec<Condition>| {
            conditions.iter().all(|it| it.holds(&self.scorer.fields[it.field], a, b))
        };
        holds(&self.alternatives[number]) && !self.alternatives[..number].iter().any(holds)
    }

    /// The pairs among which those of an alternative are, as blocks.
    fn blocks<R>(&self, number: usize, take: &dyn Fn(&[PairBlock<'_>]) -> R) -> Result<R> {
        let conditions = &self.alternatives[number];
        let equal: Vec<usize> = conditions
            .iter()
            .filter(|it| matches!(it.test, Test::Equal))
            .map(|it| it.field)
            .collect();
        let similar = conditions.iter().find(|it| !matches!(it.test, Test::Equal));
        let groups = (!equal.is_empty()).then(|| self.equal_groups(&equal));
        let by_groups = groups.as_deref().map(|groups| self.group_blocks(groups));
        let few = FEW * self.distinct.len() as u64;
        match (by_groups, similar) {
            (Some(blocks), None) => self.taken(number, &blocks, take),
            (Some(blocks), Some(_)) if pairs_of(&blocks) <= few => Ok(take(&blocks)),
            (blocks, Some(condition)) => {
                self.similar_blocks(condition, &|similar| match &blocks {
                    Some(blocks) if pairs_of(blocks) < pairs_of(similar) => {
                        self.taken(number, blocks, take)
                    }
                    _ => self.taken(number, similar, take),
                })?
            }
            (None, None) => Ok(take(&[])),
        }
    }

    /// What comes of blocks, unless there are too many pairs to wait for.
    fn taken<R>(
        &self,
        number: usize,
        blocks: &[PairBlock<'_>],
        take: &dyn Fn(&[PairBlock<'_>]) -> R,
    ) -> Result<R> {
        let pairs = pairs_of(blocks);
        if pairs <= MOST_CANDIDATES {
            return Ok(take(blocks));
        }
        let largest = blocks.iter().max_by_key(|block| block.len());
        let value = largest.and_then(|block| {
            let record = *block.first()?;
            let field = &self.scorer.fields[self.alternatives[number].first()?.field];
            let code = field.codes[record as usize];
            (code != MISSING).then(|| field.values.get(code as usize).to_owned())
        });
        let (name, value) = (&self.names[number], value.unwrap_or_default());
        let must = format!(
            "one that fewer than {MOST_CANDIDATES} pairs fulfil, not {pairs}, most of them with `{value}`: join it with \
             another by &, or list what means nothing under `missing`"
        );
        Err(Error::parameter("a condition of candidates", format!("`{name}`"), must))
    }

    /// Records that have the same values in these fields, none of them missing; ascending in each group.
    fn equal_groups(&self, fields: &[usize]) -> Vec<Vec<u32>> {
        let key = |record: u32| {
            fields.iter().map(move |&field| self.scorer.fields[field].codes[record as usize])
        };
        let having = |record: &&u32| key(**record).all(|code| code != MISSING);
        let mut having: Vec<u32> = self.distinct.iter().filter(having).copied().collect();
        having.par_sort_by(|&a, &b| key(a).cmp(key(b)));
        let groups = having.chunk_by(|&a, &b| key(a).eq(key(b)));
        groups.filter(|group| group.len() > 1).map(<[u32]>::to_vec).collect()
    }

    fn group_blocks<'g>(&self, groups: &'g [Vec<u32>]) -> Vec<PairBlock<'g>> {
        let block = |group: &'g Vec<u32>| match self.split {
            Some(split) => {
                let (first, second) = group.split_at(group.partition_point(|&it| it < split));
                PairBlock::Across(first, second)
            }
            None => PairBlock::Within(group),
        };
        groups.iter().map(block).collect()
    }

    /// Records whose values fulfil a condition.
    fn similar_blocks<R>(
        &self,
        condition: &Condition,
        take: &dyn Fn(&[PairBlock<'_>]) -> R,
    ) -> Result<R> {
        let field = &self.scorer.fields[condition.field];
        let split = self.split.unwrap_or(u32::MAX);
        let of = |wanted: &dyn Fn(u32) -> bool| RecordsByValue::new(field, &self.distinct, wanted);
        let first = of(&|record| record < split);
        let second = self.split.map(|_| of(&|record| record >= split));
        let pairs = self.value_pairs(condition, field, &first, second.as_ref())?;
        let blocks: Vec<PairBlock<'_>> = pairs
            .iter()
            .map(|&(a, b)| match &second {
                Some(second) => PairBlock::Across(first.of(a), second.of(b)),
                None if a == b => PairBlock::Within(first.of(a)),
                None => PairBlock::Across(first.of(a), first.of(b)),
            })
            .collect();
        Ok(take(&blocks))
    }

    /// Values that fulfil a condition: one of each side where there are two.
    fn value_pairs(
        &self,
        condition: &Condition,
        field: &Field,
        first: &RecordsByValue,
        second: Option<&RecordsByValue>,
    ) -> Result<Vec<(u32, u32)>> {
        let mut values: Vec<u32> = first.values().collect();
        let split = second.map(|_| values.len() as u32);
        values.extend(second.into_iter().flat_map(RecordsByValue::values));
        let in_both = |value: u32| {
            !first.of(value).is_empty() && second.is_none_or(|second| !second.of(value).is_empty())
        };
        let (items, limit) = match &condition.test {
            Test::Equal => return Ok(Vec::new()),
            Test::Apart(most) => return Ok(self.apart(field, *most, &values, split)),
            Test::Cosine(least) => {
                let Some(all) = field.weighted() else { return Ok(Vec::new()) };
                let mut vectors = Sparse::default();
                for &value in &values {
                    let (words, weights) = all.get(value as usize);
                    let vector: Vec<_> =
                        words.iter().copied().zip(weights.iter().copied()).collect();
                    vectors.push(&vector)?;
                }
                (Items::Sparse(vectors, SparseMeasure::Cosine), *least)
            }
            Test::Jaccard(least, sets) => {
                let sets = sets.select(values.iter().map(|&value| value as usize));
                (Items::Sets(sets, Measure::Jaccard, Form::Similarity), *least)
            }
            Test::Edits(most) => {
                let mut strings = Strings::default();
                values.iter().for_each(|&it| strings.push(field.values.get(it as usize)));
                (Items::Strings(strings, StringMeasure::Mutation), *most as f64)
            }
        };
        let found = close_pairs(items, &JoinQuery { limit, split, stopped: self.stopped })?;
        let pair = |found: &ClosePair| (values[found.a as usize], values[found.b as usize]);
        let mut pairs: Vec<(u32, u32)> = found.iter().map(pair).collect();
        // Equal values fulfil every condition, also those without a shingle.
        pairs.extend(values.iter().filter(|&&value| in_both(value)).map(|&value| (value, value)));
        pairs.sort_unstable();
        pairs.dedup();
        Ok(pairs)
    }

    /// Numbers that are close enough.
    fn apart(
        &self,
        field: &Field,
        most: f64,
        values: &[u32],
        split: Option<u32>,
    ) -> Vec<(u32, u32)> {
        let Some(numbers) = field.numbers() else { return Vec::new() };
        let number = |value: u32| numbers[value as usize];
        let (first, second) = match split {
            Some(split) => values.split_at(split as usize),
            None => (values, values),
        };
        let mut second = second.to_vec();
        second.sort_by(|&a, &b| number(a).total_cmp(&number(b)));
        let near = |&a: &u32| {
            let from = second.partition_point(|&b| number(b) < number(a) - most);
            let near = second[from..].iter().take_while(move |&&b| number(b) <= number(a) + most);
            let once = near.filter(move |&&b| split.is_some() || a <= b);
            once.map(move |&b| (a, b)).collect::<Vec<_>>()
        };
        first.par_iter().flat_map_iter(near).collect()
    }
}

impl Condition {
    fn new(term: &FieldCondition, field: &Field) -> Self {
        let test = match (&term.how, field.kind()) {
            (ValueRelation::Equal, _) => Test::Equal,
            (ValueRelation::Similar(least, None), Distance::Words) => Test::Cosine(*least),
            (ValueRelation::Similar(least, shingling), kind) => {
                let shingling = shingling.clone().unwrap_or_else(|| match kind {
                    Distance::Shingles(shingling) => shingling.clone(),
                    _ => Shingling { case: Case::Fold, ..Shingling::chars(3) },
                });
                Test::Jaccard(*least, sets(&field.values, &shingling))
            }
            (ValueRelation::Within(most), Distance::Edit | Distance::Digits | Distance::Code) => {
                Test::Edits(*most as usize)
            }
            (ValueRelation::Within(most), _) => Test::Apart(*most),
        };
        Self { field: term.field, test }
    }

    fn holds(&self, field: &Field, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|record| field.codes[record as usize]);
        if a == MISSING || b == MISSING {
            return false;
        }
        a == b
            || match &self.test {
                Test::Equal => false,
                Test::Cosine(least) => field.similarity(a, b) >= *least,
                Test::Jaccard(least, sets) => jaccard(sets, a, b) >= *least,
                Test::Edits(most) => field.distance_within(a, b, *most),
                Test::Apart(most) => field.distance(a, b) <= *most,
            }
    }
}

/// Number of pairs of all blocks.
fn pairs_of(blocks: &[PairBlock<'_>]) -> u64 {
    blocks.iter().map(|block| block.len() as u64).sum()
}

impl PairBlock<'_> {
    fn first(&self) -> Option<&u32> {
        match self {
            Self::Across(records, _) | Self::Within(records) => records.first(),
        }
    }

    fn rows(self) -> usize {
        match self {
            Self::Across(first, _) => first.len(),
            Self::Within(records) => records.len(),
        }
    }

    /// Number of pairs.
    fn len(self) -> usize {
        match self {
            Self::Across(first, second) => first.len() * second.len(),
            Self::Within(records) => records.len() * records.len().saturating_sub(1) / 2,
        }
    }

    /// Calls `each` with the pairs of some rows, the smaller record first, until it says no.
    fn pairs(self, from: usize, to: usize, mut each: impl FnMut(u32, u32) -> bool) {
        for row in from..to {
            let (a, others) = match self {
                Self::Across(first, second) => (first[row], second),
                Self::Within(records) => (records[row], &records[row + 1..]),
            };
            for &b in others {
                if !each(a.min(b), a.max(b)) {
                    return;
                }
            }
        }
    }
}

/// Rows of a block.
type Task<'a> = (PairBlock<'a>, usize, usize);

/// Divides blocks into tasks of about equally many pairs; the number of threads does not matter.
fn batches<'a>(blocks: &[PairBlock<'a>]) -> Vec<Vec<Task<'a>>> {
    let mut batches: Vec<Vec<Task<'a>>> = Vec::new();
    let mut room = 0;
    for &block in blocks {
        let rows = block.rows();
        let each = (TASK * rows / block.len().max(1)).clamp(1, rows.max(1));
        for from in (0..rows).step_by(each) {
            let task = (block, from, (from + each).min(rows));
            match batches.last_mut().filter(|_| room > 0) {
                Some(batch) => batch.push(task),
                None => {
                    batches.push(vec![task]);
                    room = TASK;
                }
            }
            room = room.saturating_sub(block.len() / rows.div_ceil(each) + 1);
        }
    }
    batches
}

impl RecordsByValue {
    fn new(field: &Field, records: &[u32], wanted: &dyn Fn(u32) -> bool) -> Self {
        let (codes, values) = (&field.codes, field.values.len());
        let having = |record: &&u32| wanted(**record) && codes[**record as usize] != MISSING;
        let mut records: Vec<u32> = records.iter().filter(having).copied().collect();
        records.sort_by_key(|&record| codes[record as usize]);
        let mut starts = vec![0u32; values + 1];
        for &record in &records {
            starts[codes[record as usize] as usize + 1] += 1;
        }
        for value in 0..values {
            starts[value + 1] += starts[value];
        }
        Self { records, starts }
    }

    fn of(&self, value: u32) -> &[u32] {
        let [from, to] = [value, value + 1].map(|at| self.starts[at as usize] as usize);
        &self.records[from..to]
    }

    /// The values that a record has.
    fn values(&self) -> impl Iterator<Item = u32> {
        let ends = self.starts.windows(2).zip(0..);
        ends.filter(|(ends, _)| ends[0] < ends[1]).map(|(_, value)| value)
    }
}
