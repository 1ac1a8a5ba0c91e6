//! The chance that a function agrees, by its name and the measure of the items: what a plan says before there are items.

use super::{ItemKind, MeasureName, Options};
use crate::family::curve::{cauchy_line, gaussian_line, hyperplane};
use crate::{Error, Result};

/// The chance that a function agrees on two items, by their distance in the scale of their measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FunctionCurve {
    /// Minhash: 1 − the Jaccard distance.
    MinHash,
    /// A random hyperplane: 1 − degrees / 180.
    Hyperplane,
    /// One of this many bits: 1 − bits that differ / all.
    Bit(usize),
    /// A random line with stretches of this width: of the Euclidean distance.
    Line(f64),
    /// A random line with stretches of this width: of the L1 distance.
    CauchyLine(f64),
}

impl FunctionCurve {
    /// The chance at a distance.
    pub fn agreement(self, distance: f64) -> f64 {
        match self {
            Self::MinHash => (1.0 - distance).clamp(0.0, 1.0),
            Self::Hyperplane => hyperplane(distance),
            Self::Bit(all) => (1.0 - distance / all as f64).clamp(0.0, 1.0),
            Self::Line(width) => gaussian_line(distance, width),
            Self::CauchyLine(width) => cauchy_line(distance, width),
        }
    }

    /// The largest distance there is, or from which on the chance hardly changes.
    pub fn farthest(self) -> f64 {
        match self {
            Self::MinHash => 1.0,
            Self::Hyperplane => 180.0,
            Self::Bit(all) => all as f64,
            Self::Line(width) | Self::CauchyLine(width) => 4.0 * width,
        }
    }

    /// What the distance is.
    pub fn unit(self) -> &'static str {
        match self {
            Self::MinHash => "Jaccard distance",
            Self::Hyperplane => "angle in degrees",
            Self::Bit(_) => "bits that differ",
            Self::Line(_) => "Euclidean distance",
            Self::CauchyLine(_) => "L1 distance",
        }
    }
}

impl Options {
    /// The curve of the function of this name, for items of so many `bits` where they are bit strings.
    ///
    /// # Errors
    /// When there is no such function for the items, or what it needs is not known.
    pub fn function_curve(&self, function: &str, bits: Option<usize>) -> Result<FunctionCurve> {
        let (word, argument) = match function.split_once('(') {
            Some((word, rest)) => (word.trim(), Some(rest.trim_end_matches(')').trim())),
            None => (function, None),
        };
        let wrong = |must: &str| {
            Err(Error::parameter("the expression", format!("one with `{function}`"), must))
        };
        let number = |text: &str| text.parse::<f64>().ok().filter(|it| *it > 0.0 && it.is_finite());
        let angular = self.measure == Some(MeasureName::Cosine);
        match (self.kind(), word, argument) {
            (ItemKind::Vector | ItemKind::Text, "hyperplane" | "signs" | "p", None) if angular => {
                Ok(FunctionCurve::Hyperplane)
            }
            (ItemKind::Vector | ItemKind::Text, ..) if angular => {
                wrong("made of hyperplane for this measure")
            }
            (ItemKind::Text | ItemKind::Set | ItemKind::Bag, "minhash" | "p", None) => {
                Ok(FunctionCurve::MinHash)
            }
            (ItemKind::Vector, "line", width) => {
                let Some(width) = width.and_then(number) else {
                    return wrong("line(WIDTH), with the width of a stretch, such as line(4)");
                };
                match self.measure {
                    None | Some(MeasureName::Norm(2.0)) => Ok(FunctionCurve::Line(width)),
                    Some(MeasureName::Norm(1.0)) => Ok(FunctionCurve::CauchyLine(width)),
                    _ => wrong("for l2, l1 or cosine: other norms have no functions"),
                }
            }
            (ItemKind::Vector, ..) => {
                wrong("made of line(WIDTH) for l2 and l1, or of hyperplane for cosine")
            }
            (ItemKind::Bits, "bits" | "p", None) => match bits {
                Some(bits) => Ok(FunctionCurve::Bit(bits)),
                None => wrong("used with INPUT, whose items say how many bits there are"),
            },
            (ItemKind::Bits, ..) => wrong("made of bits for this measure"),
            _ => wrong("of a kind of items and a measure whose functions have a formula"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_by_kind_and_measure() {
        let of = |kind, measure| Options { kind: Some(kind), measure, ..Options::default() };
        let angle = of(ItemKind::Vector, Some(MeasureName::Cosine));
        let plane = angle.function_curve("hyperplane", None).unwrap();
        assert_eq!([0.0, 45.0, 180.0].map(|at| plane.agreement(at)), [1.0, 0.75, 0.0]);
        let bits = of(ItemKind::Bits, None);
        assert_eq!(bits.function_curve("bits", Some(8)).unwrap().agreement(2.0), 0.75);
        assert!(bits.function_curve("bits", None).is_err());
        let points = of(ItemKind::Vector, None);
        assert_eq!(points.function_curve("line(2.5)", None).unwrap(), FunctionCurve::Line(2.5));
        for wrong in ["line", "line(0)", "line(x)", "hyperplane", "minhash"] {
            assert!(points.function_curve(wrong, None).is_err(), "{wrong}");
        }
        assert!(of(ItemKind::String, None).function_curve("minhash", None).is_err());
    }
}
