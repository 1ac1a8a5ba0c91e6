//! Choosing bands and rows.
//!
//! What the user asks for comes in, [`Bands`] go out. For a recall, the number of bands follows from the number of rows,
//! and the rows are chosen by cost. For a number of functions, the areas of missed and of wasted pairs are weighed
//! (*Mining of Massive Datasets*, 3.4.3). With a sample of similarities from the data, both kinds of error come out as
//! counts; with the cost of each step, the cost is that of the search itself: [`Bands::for_sample`].

use super::bands::Bands;
use crate::{Error, Result};

/// The largest number of functions worth spending unless the user says otherwise.
pub const MAX_FUNCTIONS: usize = 1024;

/// More rows than this make no difference that the area of wasted pairs could show.
const MAX_ROWS: usize = 64;

/// What b bands of r rows cost per item, in units of computing one signature value:
/// `b·r·function + b·band + wasted·(area of wasted candidates) + unrelated·P(0.02)`.
///
/// The defaults are rough measurements of this engine on word shingles. Making the key of a band, sorting it and looking
/// its neighbours up takes about four times as long as a value. Comparing a pair takes about 300 values, so 100,000 other
/// items that look 2 % similar by accident cost up to 30 million; that decides at low thresholds. How many pairs lie
/// between that and the threshold depends on the collection. On 37,674 licence texts at 0.8, 17 bands of 6 were faster
/// than 32 of 9 (fewer values, 1.8 times the comparisons) and than 12 of 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// One value of a signature.
    pub function: f64,
    /// The key of one band.
    pub band: f64,
    /// All pairs below the threshold, if all became candidates and were spread evenly.
    pub wasted: f64,
    /// All pairs with items that have nothing to do with this one, if all became candidates.
    pub unrelated: f64,
}

impl Default for Cost {
    fn default() -> Self {
        Self { function: 1.0, band: 4.0, wasted: 2_000.0, unrelated: 3e7 }
    }
}

impl Cost {
    /// How similar items that have nothing to do with each other look.
    const BACKGROUND: f64 = 0.02;

    /// The cost of an item under `bands`. Every run begins with such choices, so the area of wasted candidates is computed
    /// no more exactly than matters here.
    pub fn of(&self, bands: &Bands, threshold: f64) -> f64 {
        const ERROR: f64 = 1e-8;
        self.function * bands.functions() as f64
            + self.band * bands.count as f64
            + self.wasted * bands.false_positive_area_within(threshold, ERROR)
            + self.unrelated * bands.probability(Self::BACKGROUND)
    }
}

/// Pairs of a collection that are like one of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledPair {
    /// The chance that one function agrees on such a pair.
    pub agreement: f64,
    /// How many pairs of the collection it stands for.
    pub pairs: f64,
}

/// What the steps of a search cost, all in one unit such as nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkCosts {
    /// How many items there are.
    pub items: f64,
    /// One function evaluated on one item.
    pub function: f64,
    /// One item entered in one table, and found there.
    pub entry: f64,
    /// One exact comparison.
    pub comparison: f64,
}

impl WorkCosts {
    /// The cost of comparing everything with everything, which a search must stay below.
    pub fn brute_force(&self, sample: &[SampledPair]) -> f64 {
        self.comparison * sample.iter().map(|sampled| sampled.pairs).sum::<f64>()
    }

    /// The cost of making and filling the tables.
    fn tables(&self, bands: &Bands) -> f64 {
        self.items * (self.function * bands.functions() as f64 + self.entry * bands.count as f64)
    }

    fn check(&self) -> Result<()> {
        let parts = [
            ("items", self.items),
            ("function", self.function),
            ("entry", self.entry),
            ("comparison", self.comparison),
        ];
        for (name, value) in parts {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "a number from 0 on"));
            }
        }
        Ok(())
    }
}

/// The bands that were chosen for a sample, and what is to be expected of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TunedBands {
    /// The bands.
    pub bands: Bands,
    /// What becomes of the pairs of the collection.
    pub expected: ExpectedPairs,
    /// What the search costs, in the unit of [`WorkCosts`].
    pub cost: f64,
}

/// What a curve does to a sample of pairs, in expectation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedPairs {
    /// Pairs at or above the threshold that do not become candidates: false negatives.
    pub missed: f64,
    /// Pairs below the threshold that become candidates: false positives.
    pub wasted: f64,
    /// All pairs that become candidates.
    pub candidates: f64,
}

impl Bands {
    /// The cheapest bands, at the default [`Cost`], that make a pair of similarity `threshold` a
    /// candidate with a probability of at least `recall`; pairs above the threshold then become
    /// candidates with a higher one.
    ///
    /// # Errors
    /// When `threshold` is not above 0 and at most 1, `recall` is not above 0 and below 1, or
    /// `max_functions` are not enough.
    pub fn for_recall(threshold: f64, recall: f64, max_functions: usize) -> Result<Self> {
        Self::for_recall_at(threshold, recall, max_functions, &Cost::default())
    }

    /// [`for_recall`](Self::for_recall) at another cost.
    ///
    /// # Errors
    /// As for [`for_recall`](Self::for_recall).
    pub fn for_recall_at(
        threshold: f64,
        recall: f64,
        max_functions: usize,
        cost: &Cost,
    ) -> Result<Self> {
        check_threshold("threshold", threshold)?;
        check_recall(recall)?;
        let choices = Self::keeping(threshold, recall, max_functions).take(MAX_ROWS);
        cheapest(choices, |bands| cost.of(bands, threshold))
            .ok_or_else(|| too_many("threshold", threshold, recall, max_functions))
    }

    /// The bands of the cheapest search that keeps the recall: a pair at the threshold, on which functions agree with
    /// probability `agreement`, becomes a candidate with a probability of at least `recall`.
    ///
    /// The sample's pairs with that agreement or more are the similar ones. For a number of rows, the fewest bands that
    /// keep the recall are the cheapest, because each further band adds to every part of the cost.
    ///
    /// # Errors
    /// When `agreement` is not above 0 and at most 1, `recall` is not above 0 and below 1, a cost, an agreement
    /// or a number of pairs is not a number from 0 on, or `max_functions` are not enough.
    pub fn for_sample(
        agreement: f64,
        recall: f64,
        max_functions: usize,
        sample: &[SampledPair],
        work: &WorkCosts,
    ) -> Result<TunedBands> {
        check_threshold("agreement", agreement)?;
        check_recall(recall)?;
        work.check()?;
        if let Some(bad) = sample.iter().find(|sampled| !sampled.is_sound()) {
            let must = "of agreements between 0 and 1 and numbers of pairs from 0 on";
            return Err(Error::parameter("sample", format!("one with {bad:?}"), must));
        }
        let mut best: Option<TunedBands> = None;
        for bands in Self::keeping(agreement, recall, max_functions) {
            let tables = work.tables(&bands);
            // With more rows the tables only get dearer.
            if best.is_some_and(|best| best.cost <= tables) {
                break;
            }
            let pairs = sample.iter().map(|sampled| (sampled.agreement, sampled.pairs));
            let expected = bands.expected_of(pairs, agreement);
            let cost = tables + work.comparison * expected.candidates;
            if best.is_none_or(|best| cost < best.cost) {
                best = Some(TunedBands { bands, expected, cost });
            }
        }
        best.ok_or_else(|| too_many("agreement", agreement, recall, max_functions))
    }

    /// For 1, 2, … rows the fewest bands that keep the recall, while the functions suffice: with more rows it
    /// takes more bands too.
    fn keeping(threshold: f64, recall: f64, max_functions: usize) -> impl Iterator<Item = Self> {
        (1..=max_functions).map_while(move |rows| {
            let bands = Self::fewest(rows, threshold, recall)?;
            (bands.functions() <= max_functions).then_some(bands)
        })
    }

    /// The fewest bands of `rows` rows with P(threshold) ≥ recall: the smallest b with
    /// b·ln(1 − t^r) ≤ ln(1 − recall). None where a double cannot count them.
    pub(crate) fn fewest(rows: usize, threshold: f64, recall: f64) -> Option<Self> {
        let one_band = (-threshold.powf(rows as f64)).ln_1p();
        let count = ((-recall).ln_1p() / one_band).ceil().max(1.0);
        if count.is_nan() || count > 1e12 {
            return None;
        }
        let mut bands = Self { count: count as usize, rows };
        // The quotient is rounded; the curve itself has the last word.
        if bands.count > 1
            && (Self { count: bands.count - 1, rows }).probability(threshold) >= recall
        {
            bands.count -= 1;
        } else if bands.probability(threshold) < recall {
            bands.count += 1;
        }
        Some(bands)
    }

    /// The bands of at most `functions` functions with the least
    /// `weight`·(area of missed pairs) + (1 − `weight`)·(area of wasted candidates). A weight above ½
    /// says that missed pairs matter more, and lowers the half-way point of the curve.
    ///
    /// # Errors
    /// When `threshold` is not above 0 and at most 1, `functions` is 0, or `weight` is not between 0
    /// and 1.
    pub fn balanced(threshold: f64, functions: usize, weight: f64) -> Result<Self> {
        check_threshold("threshold", threshold)?;
        if !(0.0..=1.0).contains(&weight) {
            return Err(Error::parameter("weight", weight, "between 0 and 1"));
        }
        let choices = (1..=functions)
            .flat_map(|rows| (1..=functions / rows).map(move |count| Self { count, rows }));
        let areas = |bands: &Self| {
            weight * bands.false_negative_area(threshold)
                + (1.0 - weight) * bands.false_positive_area(threshold)
        };
        cheapest(choices, areas)
            .ok_or_else(|| Error::parameter("functions", functions, "at least 1"))
    }

    /// The expected numbers of missed pairs, wasted candidates and candidates among pairs of these
    /// similarities. From a sample, scale them by (pairs in all) / (pairs in the sample).
    pub fn expected(&self, similarities: &[f64], threshold: f64) -> ExpectedPairs {
        self.expected_of(similarities.iter().map(|&s| (s, 1.0)), threshold)
    }

    /// [`expected`](Self::expected) for pairs given as similarity and number.
    fn expected_of(
        &self,
        pairs: impl Iterator<Item = (f64, f64)>,
        threshold: f64,
    ) -> ExpectedPairs {
        let mut expected = ExpectedPairs { missed: 0.0, wasted: 0.0, candidates: 0.0 };
        for (s, pairs) in pairs {
            let chance = self.chance(s);
            expected.candidates += pairs * chance.yes;
            if s >= threshold {
                expected.missed += pairs * chance.no;
            } else {
                expected.wasted += pairs * chance.yes;
            }
        }
        expected
    }
}

impl SampledPair {
    fn is_sound(&self) -> bool {
        (0.0..=1.0).contains(&self.agreement) && self.pairs >= 0.0 && self.pairs.is_finite()
    }
}

fn check_threshold(name: &'static str, threshold: f64) -> Result<()> {
    if threshold > 0.0 && threshold <= 1.0 {
        Ok(())
    } else {
        Err(Error::parameter(name, threshold, "above 0 and at most 1"))
    }
}

fn check_recall(recall: f64) -> Result<()> {
    if recall > 0.0 && recall < 1.0 { Ok(()) } else { Err(Error::recall(recall)) }
}

/// The recall cannot be kept.
fn too_many(name: &'static str, threshold: f64, recall: f64, max_functions: usize) -> Error {
    let must = format!(
        "higher for a recall of {recall}: this takes more than {max_functions} hash functions; \
         raise the threshold or lower the recall"
    );
    Error::parameter(name, threshold, must)
}

/// The choice of least cost; of equals the first.
fn cheapest(choices: impl Iterator<Item = Bands>, cost: impl Fn(&Bands) -> f64) -> Option<Bands> {
    let with_cost = choices.map(|bands| (cost(&bands), bands));
    with_cost.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, bands)| bands)
}
