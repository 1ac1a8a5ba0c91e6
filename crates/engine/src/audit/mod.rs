//! How much of what is there did the run find?
//!
//! The truth about some of the pairs comes in, and whether the run found them too; the run's recall goes out with a 95 %
//! interval, over all pairs and by similarity. Nothing here knows how the run searched, so nothing it assumed can flatter
//! it. The run is over: what it found is fixed, and only the draws of the audit are random.
//!
//! **Texts, sets and bags** are seen a second time, by a few of their elements (`capture`). Two items that keep a common
//! element are a pair that can be drawn, and hardly a similar pair is none. Of these pairs some are drawn with known
//! chances, each draw by itself (`drawn_pairs`), and compared exactly. So the audit draws *pairs*, not items with all
//! their partners: what happens to the pairs of one cluster together makes no draw worth less than another, and items
//! without a partner, which are most of a large collection, cost nothing. `pair_tally` makes the interval.
//!
//! **Items in memory** are drawn one by one and compared with all others (`true_partners`, `item_tally`).
//!
//! How often the interval holds the truth, how wide it is and what it costs is measured by `bench/audit`; the figures are in
//! `docs/joins.md`. Where nearly all items share most of a long phrase, buckets are large and few drawn pairs are similar:
//! there it is wide. Single intervals can be several times as wide as the mean, where a pair that is seldom drawn was missed.

mod beta;
pub(crate) mod capture;
pub(crate) mod drawn_pairs;
mod item_tally;
mod pair_draws;
mod pair_tally;
pub(crate) mod true_partners;

use std::ops::Range;

use crate::Result;
use crate::item::Copies;
use crate::spill::{Loader, Saver};
use crate::verify::Overlap;
use drawn_pairs::DrawnPairs;
use item_tally::ItemTally;
use pair_tally::PairTally;
pub(crate) use pair_tally::SimilarDraw;
use true_partners::TruePartners;

/// Bands of similarity are this many to 1.
const BANDS: usize = 20;
/// Bands of fewer pairs have no interval.
const FEW: u64 = 30;
/// More pairs than this are taken for this many, which keeps the arithmetic short.
const MOST: f64 = 1e9;

/// What a run should have found of some pairs, and what it found.
#[derive(Debug, Clone)]
pub struct Audit {
    threshold: f64,
    sample: Sample,
}

/// What was drawn.
#[derive(Debug, Clone)]
enum Sample {
    /// Items, with all their partners, from a collection of `population` items.
    Items { population: u64, items: u64, tallies: Box<Tallies<ItemTally>> },
    /// So many pairs, or all that are seen.
    Pairs { compared: u64, all: bool, tallies: Box<Tallies<PairTally>> },
}

/// Sums over all pairs, and by band of similarity.
#[derive(Debug, Clone, Default)]
struct Tallies<T> {
    overall: T,
    bands: [T; BANDS],
}

/// What an audit looks at, drawn before anyone knows what the run finds.
pub(crate) enum AuditSample {
    /// Nothing: the run misses none, or nobody wants to know.
    Nothing,
    /// Items, with all their partners.
    Items(TruePartners),
    /// Pairs, which are still to be compared.
    Pairs(DrawnPairs),
}

impl From<Option<DrawnPairs>> for AuditSample {
    fn from(drawn: Option<DrawnPairs>) -> Self {
        drawn.map_or(Self::Nothing, Self::Pairs)
    }
}

impl AuditSample {
    /// What a run found of it. A function says what two groups have in common, and how similar they are, if they are;
    /// another one which other groups, ascending, were found with a group.
    pub(crate) fn audit(
        &self,
        copies: &Copies,
        overlaps: impl Fn(&[(u32, u32)]) -> Result<Vec<Option<(Overlap, f64)>>>,
        found: impl FnMut(u32, &[u32]) -> Result<Vec<bool>>,
    ) -> Result<Option<Audit>> {
        match self {
            Self::Nothing => Ok(None),
            Self::Items(partners) => partners.audit(copies, found),
            Self::Pairs(drawn) => drawn.audit(overlaps, found).map(Some),
        }
    }
}

/// The share of the true pairs that were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// True pairs seen. Where items are drawn, a pair of two drawn items counts twice.
    pub pairs: u64,
    /// Those the run found.
    pub found: u64,
    /// The estimate of the share of all true pairs that was found. Pairs that are seldom drawn weigh more in it.
    pub recall: f64,
    /// The ends of the 95 % interval; none where there are too few pairs to tell.
    pub interval: Option<(f64, f64)>,
}

impl Audit {
    /// An audit that draws items; none yet. Bands of similarity start at `threshold`; the collection has `population`
    /// items. A sample that is all of them leaves nothing to chance.
    pub fn new(threshold: f64, population: u64) -> Self {
        let sample = Sample::Items { population, items: 0, tallies: Box::default() };
        Self { threshold, sample }
    }

    /// An audit that draws pairs; none yet. With `all`, every pair that is seen is looked at.
    pub(crate) fn of_pairs(threshold: f64, all: bool) -> Self {
        let sample = Sample::Pairs { compared: 0, all, tallies: Box::default() };
        Self { threshold, sample }
    }

    /// One drawn item: the similarity of each of its true partners, and whether the run found
    /// the pair. Items without partners count too.
    ///
    /// # Panics
    /// If pairs are drawn.
    pub fn item(&mut self, partners: impl Iterator<Item = (f64, bool)>) {
        self.item_with_copies(partners.map(|(similarity, found)| (similarity, found, 1)));
    }

    /// Counts an item whose partners come with the number of their copies, themselves included.
    ///
    /// # Panics
    /// If pairs are drawn.
    pub fn item_with_copies(&mut self, partners: impl Iterator<Item = (f64, bool, u64)>) {
        let mut counts = [(0, 0); BANDS];
        for (similarity, found, copies) in partners {
            let (pairs, missed) = &mut counts[self.band(similarity)];
            *pairs += copies;
            *missed += if found { 0 } else { copies };
        }
        let Sample::Items { items, tallies, .. } = &mut self.sample else {
            panic!("an audit draws either items or pairs")
        };
        for (band, (pairs, missed)) in tallies.bands.iter_mut().zip(counts) {
            band.add(pairs, missed);
        }
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        let (pairs, missed) = counts.into_iter().fold((0, 0), sum);
        tallies.overall.add(pairs, missed);
        *items += 1;
    }

    /// One pair that was drawn and is similar.
    pub(crate) fn pair(&mut self, draw: &SimilarDraw) {
        let band = self.band(draw.similarity);
        if let Sample::Pairs { tallies, .. } = &mut self.sample {
            tallies.overall.add(draw);
            tallies.bands[band].add(draw);
        }
    }

    /// Pairs of copies, as much as they weigh among the drawn ones, with their similarity, and how many different pairs
    /// were compared in all.
    pub(crate) fn end(&mut self, copies: f64, similarity: f64, different: u64) {
        let band = self.band(similarity);
        if let Sample::Pairs { compared, tallies, .. } = &mut self.sample {
            tallies.overall.add_copies(copies);
            tallies.bands[band].add_copies(copies);
            *compared = different;
        }
    }

    /// As many independent pairs as the drawn ones are worth.
    pub(crate) fn worth(&self) -> f64 {
        match &self.sample {
            Sample::Items { .. } => 0.0,
            Sample::Pairs { tallies, .. } => tallies.overall.worth(),
        }
    }

    /// Whether the interval tells that the recall is high.
    pub(crate) fn is_above(&self, recall: f64) -> bool {
        self.overall().and_then(|all| all.interval).is_some_and(|(low, _)| low >= recall)
    }

    /// The recall over all pairs; none when no true pair was seen.
    pub fn overall(&self) -> Option<Recall> {
        match &self.sample {
            Sample::Items { tallies, .. } => tallies.overall.recall(self.unsampled()),
            Sample::Pairs { all, tallies, .. } => {
                let heavy = tallies.bands.iter().map(PairTally::usual_weight).fold(0.0, f64::max);
                tallies.overall.recall(*all, heavy)
            }
        }
    }

    /// The recall by similarity, in bands that end at multiples of 0.05. The first starts at the
    /// threshold, the last has 1 in it, and bands without pairs are left out.
    pub fn bands(&self) -> Vec<(Range<f64>, Recall)> {
        let recalls: Vec<Option<Recall>> = match &self.sample {
            Sample::Items { tallies, .. } => {
                let of_bin = |tally: &ItemTally| tally.recall_of_bin(self.unsampled());
                tallies.bands.iter().map(of_bin).collect()
            }
            Sample::Pairs { all, tallies, .. } => {
                tallies.bands.iter().map(|tally| tally.recall_of_bin(*all)).collect()
            }
        };
        let range = |band: usize| edge(band).max(self.threshold)..edge(band + 1);
        let bands = recalls.into_iter().enumerate();
        bands.filter_map(|(band, recall)| Some((range(band), recall?))).collect()
    }

    /// Items drawn; none where pairs are drawn, of all items.
    pub fn items(&self) -> Option<u64> {
        match &self.sample {
            Sample::Items { items, .. } => Some(*items),
            Sample::Pairs { .. } => None,
        }
    }

    /// Pairs that were drawn and compared; none where items are drawn and compared with all others.
    pub fn compared(&self) -> Option<u64> {
        match &self.sample {
            Sample::Items { .. } => None,
            Sample::Pairs { compared, .. } => Some(*compared),
        }
    }

    /// Whether all pairs were compared that can be drawn.
    pub fn is_of_all(&self) -> bool {
        matches!(self.sample, Sample::Pairs { all: true, .. })
    }

    /// The share of the collection that was not drawn.
    fn unsampled(&self) -> f64 {
        match &self.sample {
            Sample::Items { population, items, .. } => {
                1.0 - (*items as f64 / (*population).max(1) as f64).min(1.0)
            }
            Sample::Pairs { .. } => 1.0,
        }
    }

    /// The band of a similarity. What lies below the threshold, by rounding, is in the first.
    fn band(&self, similarity: f64) -> usize {
        let similarity = similarity.max(self.threshold);
        let near = (similarity * BANDS as f64) as usize;
        // The product may round across an edge.
        let band = if similarity < edge(near) { near - 1 } else { near };
        band.min(BANDS - 1)
    }

    pub(crate) fn save(&self, save: &mut Saver) -> Result<()> {
        let mut numbers = vec![self.threshold.to_bits()];
        match &self.sample {
            Sample::Items { population, items, tallies } => {
                numbers.extend([0, *population, *items]);
                let all = std::iter::once(&tallies.overall).chain(&tallies.bands);
                numbers.extend(all.flat_map(ItemTally::parts));
            }
            Sample::Pairs { compared, all, tallies } => {
                numbers.extend([1, *compared, u64::from(*all)]);
                let all = std::iter::once(&tallies.overall).chain(&tallies.bands);
                numbers.extend(all.flat_map(PairTally::parts));
            }
        }
        save.numbers(&numbers)
    }

    pub(crate) fn load(load: &mut Loader) -> Option<Self> {
        let numbers: Vec<u64> = load.numbers()?;
        let (&[threshold, kind, first, second], rest) = numbers.split_first_chunk()?;
        let sample = match kind {
            0 => {
                let tallies = Box::new(Tallies::from_parts(rest, ItemTally::from_parts)?);
                Sample::Items { population: first, items: second, tallies }
            }
            _ => {
                let tallies = Box::new(Tallies::from_parts(rest, PairTally::from_parts)?);
                Sample::Pairs { compared: first, all: second == 1, tallies }
            }
        };
        Some(Self { threshold: f64::from_bits(threshold), sample })
    }
}

impl<T: Copy + Default> Tallies<T> {
    fn from_parts<const N: usize>(parts: &[u64], tally: fn([u64; N]) -> T) -> Option<Self> {
        let all: Vec<T> = parts.as_chunks().0.iter().map(|&parts| tally(parts)).collect();
        let (&overall, bands) = all.split_first()?;
        Some(Self { overall, bands: bands.try_into().ok()? })
    }
}

/// Where a band starts.
fn edge(band: usize) -> f64 {
    band as f64 / BANDS as f64
}

/// The 95 % interval of Clopper and Pearson for a share of `worth` independent pairs, which need
/// not be a whole number.
fn clopper_pearson(share: f64, worth: f64) -> (f64, f64) {
    let (found, missed) = (share * worth, (1.0 - share) * worth);
    let low = if found > 0.0 { beta::quantile(0.025, found, missed + 1.0) } else { 0.0 };
    let high = if missed > 0.0 { beta::quantile(0.975, found + 1.0, missed) } else { 1.0 };
    (low, high)
}
