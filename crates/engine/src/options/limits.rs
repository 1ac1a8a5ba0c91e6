//! Texts, sets and bags: how they are compared, and how similar two have to be.

use super::{Goal, ItemKind, MeasureName, Options};
use crate::error::Advice;
use crate::verify::Measure;
use crate::{Error, Result};

impl Options {
    /// The measure of the elements of texts, sets and bags.
    ///
    /// # Errors
    /// When the measure does not apply to the items.
    pub fn set_measure(&self) -> Result<Measure> {
        let (kind, Some(name)) = (self.kind(), self.measure) else {
            let is_bag = self.kind() == ItemKind::Bag;
            return Ok(if is_bag { Measure::Bag } else { Measure::Jaccard });
        };
        let wrong = |must: &str| Error::parameter("measure", name, must);
        match (kind, name) {
            (ItemKind::Bag, other) if !other.is_jaccard_or_bag() => {
                Err(wrong("bag, bag-sum or jaccard for bags").or(Advice::set("as", "set")))
            }
            (ItemKind::Set, MeasureName::Bag | MeasureName::BagSum) => {
                let must = "another one for sets, in which repeats do not count";
                Err(wrong(must).or(Advice::set("as", "bag")))
            }
            (ItemKind::Text, MeasureName::Cosine) => {
                Err(wrong("another one here: the cosine of texts is that of their tf-idf vectors"))
            }
            (_, other) => other.of_sets().ok_or_else(|| {
                let kinds = ["vector", "bits", "string"].map(|kind| Advice::set("as", kind));
                let must = "jaccard, bag, bag-sum, dice, containment, overlap, hamming or cosine for texts and sets";
                kinds.into_iter().fold(wrong(must), Error::or)
            }),
        }
    }

    /// The least similarity of a pair of texts, sets or bags, where no distance is given.
    ///
    /// # Errors
    /// When the measure has no usual one, and none is given.
    pub fn set_threshold(&self, measure: Measure, goal: Goal) -> Result<f64> {
        let usual = match (measure, self.threshold, self.within) {
            (Measure::Overlap, None, None) => {
                let what = "with overlap, how many elements have to be shared";
                return Err(Error::missing("threshold", what));
            }
            (Measure::Hamming, _, None) => {
                let what = "with hamming, how many elements may be in one of the two only";
                return Err(Error::missing("within", what));
            }
            // The lower it is, the more has to be compared; for bags by sum, their equal.
            (Measure::BagSum, ..) if goal == Goal::Closest => 0.23,
            _ if goal == Goal::Closest => 0.3,
            // A Jaccard similarity of 0.8 of the shingles.
            (Measure::BagSum, ..) => 0.444,
            _ => 0.8,
        };
        Ok(self.threshold.unwrap_or(usual))
    }

    /// An error where an option asks for a share of the pairs of a measure that is found exactly.
    ///
    /// # Errors
    /// The first such option.
    pub fn check_exact_only(&self, measure: Measure) -> Result<()> {
        let shares = [("approximate", self.approximate), ("audit", self.audit.is_some())];
        match shares.iter().find(|(_, given)| *given && !measure.follows_jaccard()) {
            Some((name, _)) => {
                let must = format!("left out with {}, which is found exactly", measure.name());
                Err(Error::parameter(name, "given", must))
            }
            None => Ok(()),
        }
    }

    /// An error where what is held in memory takes more of it than may be used.
    ///
    /// # Errors
    /// When it does.
    pub fn check_fits(&self, bytes: usize) -> Result<()> {
        match self.memory {
            Some(memory) if bytes > memory => {
                let megabytes = bytes / 1_000_000 + 1;
                let must = format!("at least {megabytes} MB, for the items are held in memory");
                Err(Error::parameter("memory", format!("{} MB", memory / 1_000_000), must))
            }
            _ => Ok(()),
        }
    }
}
