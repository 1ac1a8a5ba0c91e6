//! Measures by their names.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::verify::Measure;
use crate::{Error, Result};

/// How items are compared, whatever they are. Which measures apply depends on the kind of the items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MeasureName {
    /// Shared elements over all elements of either, each counted once.
    Jaccard,
    /// Jaccard with each element counted as often as it occurs, the union by maximum.
    Bag,
    /// Jaccard with each element counted as often as it occurs, the union by sum.
    BagSum,
    /// Twice the shared elements over the elements of the one and those of the other.
    Dice,
    /// Shared elements over those of the smaller set.
    Containment,
    /// The number of shared elements.
    Overlap,
    /// The cosine of the angle: of vectors, of sets, or of the tf-idf vectors of texts.
    Cosine,
    /// The norm of this order, from 1 to infinity.
    Norm(f64),
    /// Places in which two differ, or elements that are in one of the two only.
    Hamming,
    /// Inserts and deletes.
    Edit,
    /// Inserts, deletes, replacements and swaps.
    Damerau,
}

/// Those that have one name.
const NAMES: [(MeasureName, &str); 10] = [
    (MeasureName::Jaccard, "jaccard"),
    (MeasureName::Bag, "bag"),
    (MeasureName::BagSum, "bag-sum"),
    (MeasureName::Dice, "dice"),
    (MeasureName::Containment, "containment"),
    (MeasureName::Overlap, "overlap"),
    (MeasureName::Cosine, "cosine"),
    (MeasureName::Hamming, "hamming"),
    (MeasureName::Edit, "edit"),
    (MeasureName::Damerau, "damerau"),
];

impl FromStr for MeasureName {
    type Err = Error;

    /// Reads a name; norms are `l1`, `l2`, `l1.5` and so on, and `linf`.
    fn from_str(name: &str) -> Result<Self> {
        let order = |text: &str| match text {
            "inf" => Some(f64::INFINITY),
            _ => text.parse().ok().filter(|order: &f64| order.is_finite() && *order >= 1.0),
        };
        let known = NAMES.iter().find(|known| known.1 == name).map(|known| known.0);
        let norm = || name.strip_prefix('l').and_then(order).map(Self::Norm);
        known.or_else(norm).ok_or_else(|| {
            let must = "jaccard, bag, bag-sum, dice, containment, overlap, cosine, l1, l2, l3 and so on, linf, \
                        hamming, edit or damerau";
            Error::parameter("measure", name, must)
        })
    }
}

impl Display for MeasureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, NAMES.iter().find(|known| known.0 == *self)) {
            (_, Some((_, name))) => f.write_str(name),
            (Self::Norm(order), _) => write!(f, "l{order}"),
            _ => Ok(()),
        }
    }
}

impl MeasureName {
    /// The measure of sets and bags that it names, if it names one.
    pub(crate) fn of_sets(self) -> Option<Measure> {
        match self {
            Self::Jaccard => Some(Measure::Jaccard),
            Self::Bag => Some(Measure::Bag),
            Self::BagSum => Some(Measure::BagSum),
            Self::Dice => Some(Measure::Dice),
            Self::Containment => Some(Measure::Containment),
            Self::Overlap => Some(Measure::Overlap),
            Self::Hamming => Some(Measure::Hamming),
            Self::Cosine => Some(Measure::Cosine),
            Self::Norm(_) | Self::Edit | Self::Damerau => None,
        }
    }

    /// Whether it is one of the three that hold for sets, bags and the shingles of texts in memory.
    pub(crate) fn is_jaccard_or_bag(self) -> bool {
        matches!(self, Self::Jaccard | Self::Bag | Self::BagSum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (measure, name) in NAMES {
            assert_eq!(name.parse::<MeasureName>().unwrap(), measure);
            assert_eq!(measure.to_string(), name);
        }
        for (name, order) in [("l1", 1.0), ("l2", 2.0), ("l1.5", 1.5), ("linf", f64::INFINITY)] {
            assert_eq!(name.parse::<MeasureName>().unwrap(), MeasureName::Norm(order));
            assert_eq!(MeasureName::Norm(order).to_string(), name);
        }
        for wrong in ["", "l", "l0.5", "lnan", "l-1", "Jaccard", "bag_sum"] {
            assert!(wrong.parse::<MeasureName>().is_err(), "{wrong}");
        }
    }
}
