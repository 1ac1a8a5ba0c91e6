//! How similar are the items of a collection to each other? Answered before a run, from a sample.
//!
//! Nearly all pairs of a large collection have nothing in common, so a sample of pairs, or all pairs of a sample
//! of items, holds too few of those that matter: of 37,674 licence texts, the pairs among 700 hold 20 or 50 of
//! the 98,172 similar ones. So each item of the sample is compared with the whole collection, in one pass that
//! looks up every element of every text in an index of the sample: all that a drawn item has in common with
//! anyone is counted exactly. What is left to chance is which items were drawn, and how much that matters shows
//! in how they differ.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Result;
use crate::family::hash::{ElementHasher, mix64};
use crate::item::Source;
use crate::parallel::{LaneRoom, in_lanes};

use super::Sample;
use crate::settings::Settings;

/// Steps of similarity that are told apart.
const STEPS: usize = 1000;
/// Elements that the index of the sample may hold, in some 100 MB.
const MOST_ELEMENTS: usize = 2 << 20;
/// Records with which each drawn item is compared at most. From larger collections, this many are drawn.
const MOST_RECORDS: u64 = 1 << 20;

/// How many pairs of a collection are how similar, by a sample of its items.
#[derive(Debug, Clone)]
pub struct Survey {
    /// Records in the collection.
    pub records: u64,
    /// Records that were drawn.
    pub drawn: usize,
    /// Records that each of them was compared with, about.
    pub compared: u64,
    /// What each has in common with others.
    tallies: Vec<PairTally>,
}

/// Pairs of one drawn item by similarity: below the threshold, and from it on.
#[derive(Debug, Clone)]
struct PairTally {
    below: Vec<u32>,
    above: Vec<u32>,
    /// Pairs of the collection for each pair compared.
    weight: f64,
}

/// A number that was estimated, and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// How far off it typically is.
    pub error: f64,
}

/// What a search is expected to do to a collection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Pairs at or above the threshold.
    pub similar: Estimate,
    /// Those of them that do not become candidates.
    pub missed: Estimate,
    /// Pairs below the threshold that become candidates.
    pub wasted: Estimate,
    /// All pairs that become candidates.
    pub candidates: Estimate,
    /// Items that have a similar one; a lower bound if not all records were compared.
    pub items: Estimate,
}

/// Compares each text of `sample` with the records of `source`, which it was drawn from.
///
/// # Errors
/// When a record cannot be used, as in a run.
pub fn survey<S: Source>(source: &S, sample: &Sample, settings: &Settings) -> Result<Survey> {
    let index = SampleIndex::of(sample, settings);
    let share = MOST_RECORDS as f64 / sample.records.max(1) as f64;
    // Another seed than the sample's, or drawn items would be compared only with drawn ones.
    let (most, seed) = ((share * u64::MAX as f64) as u64, mix64(settings.seed, 0x5eed));
    let taken = |at: u64| share >= 1.0 || mix64(at, seed) <= most;
    let limit = settings.jaccard_threshold();
    let mut compared = 0u64;
    in_lanes(
        settings.threads,
        LaneRoom::of_numbers(settings.threads),
        source.lanes(&|_| false),
        |chunk| {
            let start = sample.starts.start(source.place(&chunk).0).unwrap_or(u64::MAX);
            let batch = source.decode(&chunk, &|ordinal| taken(start + u64::from(ordinal)))?;
            let mut shared = vec![0; index.sizes.len()];
            for (i, item) in batch.items.iter().enumerate() {
                let elements = settings.elements(batch.text(i));
                index.count(&elements, start + u64::from(item.ordinal), limit, &mut shared);
            }
            Ok(batch.items.len() as u64)
        },
        |_| 0,
        |records| {
            compared += records;
            Ok(())
        },
    )?;
    Ok(index.survey(sample, compared, &taken))
}

/// Which drawn items have which elements.
struct SampleIndex {
    /// Where the drawn items that have an element stand in `members`.
    places: HashMap<u64, (u32, u32), BuildHasherDefault<ElementHasher>>,
    members: Vec<u32>,
    /// Elements of each drawn item.
    sizes: Vec<usize>,
    positions: Vec<u64>,
    /// Pairs of each drawn item by similarity, below the threshold and then above.
    counts: Vec<AtomicU32>,
}

/// Similarity 1 has a step of its own.
const ROW: usize = STEPS + 1;

impl SampleIndex {
    fn of(sample: &Sample, settings: &Settings) -> Self {
        let mut entries: Vec<(u64, u32)> = Vec::new();
        let mut sizes = Vec::new();
        for (text, number) in sample.texts.iter().zip(0u32..) {
            let elements = settings.elements(text);
            if !entries.is_empty() && entries.len() + elements.len() > MOST_ELEMENTS {
                break;
            }
            sizes.push(elements.len());
            entries.extend(elements.into_iter().map(|element| (element, number)));
        }
        entries.sort_unstable();
        let mut places = HashMap::default();
        let mut start = 0;
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let end = start + same.len() as u32;
            places.insert(same[0].0, (start, end));
            start = end;
        }
        Self {
            places,
            members: entries.iter().map(|entry| entry.1).collect(),
            positions: sample.positions[..sizes.len()].to_vec(),
            counts: (0..2 * ROW * sizes.len()).map(|_| AtomicU32::new(0)).collect(),
            sizes,
        }
    }

    /// Counts the pairs of the record at a position with all drawn items. `shared` is all 0, and is left so.
    fn count(&self, elements: &[u64], position: u64, threshold: f64, shared: &mut [u32]) {
        for element in elements {
            let (start, end) = self.places.get(element).copied().unwrap_or_default();
            for &number in &self.members[start as usize..end as usize] {
                shared[number as usize] += 1;
            }
        }
        for (number, shared) in shared.iter_mut().enumerate().filter(|(_, shared)| **shared > 0) {
            let union = self.sizes[number] + elements.len() - *shared as usize;
            let similarity = f64::from(std::mem::take(shared)) / union as f64;
            if self.positions[number] != position {
                let step = (similarity * STEPS as f64) as usize;
                let row = 2 * number + usize::from(similarity >= threshold);
                self.counts[ROW * row + step].fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn survey(self, sample: &Sample, compared: u64, taken: &dyn Fn(u64) -> bool) -> Survey {
        let counts: Vec<u32> = self.counts.into_iter().map(AtomicU32::into_inner).collect();
        let others = sample.records.saturating_sub(1) as f64;
        let tally = |(rows, &position): (&[u32], &u64)| PairTally {
            below: rows[..ROW].to_vec(),
            above: rows[ROW..].to_vec(),
            weight: others / compared.saturating_sub(taken(position).into()).max(1) as f64,
        };
        Survey {
            records: sample.records,
            drawn: self.sizes.len(),
            compared,
            tallies: counts.chunks(2 * ROW).zip(&self.positions).map(tally).collect(),
        }
    }
}

/// The similarity that stands for a step: its middle.
fn middle(step: usize) -> f64 {
    if step == STEPS { 1.0 } else { (step as f64 + 0.5) / STEPS as f64 }
}

impl Survey {
    /// Whether nothing was left to chance: every item was compared with every other.
    pub fn is_complete(&self) -> bool {
        self.drawn as u64 == self.records && self.compared == self.records
    }

    /// What a search that makes a pair of similarity s a candidate with `probability`(s) will do.
    pub fn forecast(&self, probability: &dyn Fn(f64) -> f64) -> Forecast {
        let curve: Vec<f64> = (0..ROW).map(|step| probability(middle(step))).collect();
        let sum = |counts: &[u32], weigh: &dyn Fn(f64) -> f64| -> f64 {
            counts.iter().zip(&curve).map(|(&count, &p)| f64::from(count) * weigh(p)).sum()
        };
        let pairs = |of: &dyn Fn(&PairTally) -> f64| {
            let each = self.tallies.iter().map(|tally| tally.weight * of(tally) / 2.0);
            self.total(&each.collect::<Vec<f64>>())
        };
        let has_one = |tally: &PairTally| f64::from(tally.above.iter().any(|&count| count > 0));
        Forecast {
            similar: pairs(&|tally| sum(&tally.above, &|_| 1.0)),
            missed: pairs(&|tally| sum(&tally.above, &|p| 1.0 - p)),
            wasted: pairs(&|tally| sum(&tally.below, &|p| p)),
            candidates: pairs(&|tally| sum(&tally.above, &|p| p) + sum(&tally.below, &|p| p)),
            items: self.total(&self.tallies.iter().map(has_one).collect::<Vec<f64>>()),
        }
    }

    /// The sum over all records of what is known of the drawn ones, with the standard error of a sample
    /// that is drawn without replacement.
    fn total(&self, drawn: &[f64]) -> Estimate {
        let (n, all) = (drawn.len() as f64, self.records as f64);
        let mean = drawn.iter().sum::<f64>() / n.max(1.0);
        let squares: f64 = drawn.iter().map(|value| (value - mean).powi(2)).sum();
        let spread = squares / (n - 1.0).max(1.0) * (1.0 - n / all.max(1.0)).max(0.0);
        Estimate { value: all * mean, error: all * (spread / n.max(1.0)).sqrt() }
    }

    /// Pairs of the collection by similarity, in `parts` equal parts of 0..=1, 1 in the last: those with
    /// something in common, estimated. `parts` is a divisor of 1000, or the next one below is taken.
    pub fn histogram(&self, parts: usize) -> Vec<f64> {
        let parts = (1..=parts.max(1)).rev().find(|&n| STEPS.is_multiple_of(n)).unwrap_or(1);
        let scale = self.records as f64 / self.drawn.max(1) as f64 / 2.0;
        let mut histogram = vec![0.0; parts];
        for tally in &self.tallies {
            for (step, (below, above)) in tally.below.iter().zip(&tally.above).enumerate() {
                let part = (step * parts / STEPS).min(parts - 1);
                histogram[part] += f64::from(below + above) * tally.weight * scale;
            }
        }
        histogram
    }
}
