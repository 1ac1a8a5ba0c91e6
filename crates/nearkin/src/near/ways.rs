//! The ways in which the items of a space can be searched.

use rayon::prelude::*;

use super::Search;
use crate::error::{Advice, Error, Result};
use crate::family::{BitSampling, Family, Hyperplanes, Line, Lines, Normals};
use crate::item::Vectors;
use crate::join::estimate::{self, Prepared};
use crate::join::{self, Top, bits, top};
use crate::space::{BitSpace, Form, Found, Join, ROUNDING, Space, VectorMeasure, VectorSpace};

/// A space that can be searched completely, and perhaps by tables.
pub(super) trait Ways: Space {
    /// What the complete way needs, and the seconds it will take on one core.
    fn prepare(&self, join: &Join<'_>) -> (Prepared<'_>, f64);

    /// Every pair that reaches the limit, and how many were compared.
    fn complete(&self, prepared: &Prepared<'_>, join: &Join<'_>) -> Result<(Vec<Found>, u64)>;

    /// The closest of each item.
    fn closest(&self, top: &Top<'_>) -> Result<Vec<Found>>;

    /// A value of this space as the distance that its families go by.
    fn distance(&self, value: f64) -> f64;

    /// The name of the functions that are used unless others are asked for, if there are such.
    fn functions(&self, search: &Search<'_>, far: f64) -> Option<String>;

    /// The functions of this name; `far` is how far apart most items are.
    ///
    /// # Errors
    /// When there are none of this name for this measure.
    fn family<'a>(
        &'a self,
        name: &str,
        search: &Search<'_>,
        far: f64,
    ) -> Result<Box<dyn Family + 'a>>;

    /// Nanoseconds that a function takes on an item, and an exact comparison.
    fn costs(&self) -> (f64, f64);
}

/// An error about functions that are not there.
pub(super) fn unknown(name: &str, known: &str) -> Error {
    Error::parameter(
        "the expression",
        format!("one with `{name}`"),
        format!("made of {known} for this measure"),
    )
}

/// A name and the number in parentheses behind it, if there is one.
fn argument(name: &str) -> Option<(&str, Option<f64>)> {
    let Some((word, rest)) = name.split_once('(') else { return Some((name, None)) };
    let number = rest.strip_suffix(')')?.trim().parse().ok()?;
    Some((word.trim(), Some(number)))
}

/// What is drawn for lines under a measure, where there are lines for it.
fn line_of(measure: VectorMeasure) -> Option<Line> {
    match measure {
        VectorMeasure::L1 => Some(Line::Cauchy),
        VectorMeasure::L2 => Some(Line::Gaussian),
        _ => None,
    }
}

/// The width of the stretches of lines, in four digits, so that it can be written down.
fn width_for(space: &VectorSpace<'_>, line: Line, limit: f64, far: f64) -> f64 {
    let vectors = space.vectors();
    let limit = limit.max(f64::MIN_POSITIVE);
    let contrast = (far / limit).clamp(1.1, 100.0);
    let width = line.width_for(limit, contrast, vectors.len(), vectors.dimension());
    format!("{width:.3e}").parse().unwrap_or(width)
}

/// An error where sums of 32-bit floats cannot tell stretches of this width apart: a projection is off by some
/// roundings of the vector's length, and where that is a thousandth of a width, recall is lost.
fn wide_enough(vectors: &Vectors, width: f64) -> Result<()> {
    let squares = |item| {
        let vector: &[f32] = vectors.get(item);
        vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>()
    };
    let longest = (0..vectors.len()).into_par_iter().map(squares).reduce(|| 0.0, f64::max).sqrt();
    if 1e-3 * width >= 8.0 * ROUNDING * longest {
        return Ok(());
    }
    let must = format!(
        "at least {:.3e} for vectors up to {longest:.3e} long, which are projected in single precision",
        8e3 * ROUNDING * longest
    );
    let error = Error::parameter("the width of lines", width, must);
    Err(error.or("take the mean off").or(Advice::turn_on("exact")))
}

impl Ways for VectorSpace<'_> {
    fn prepare(&self, join: &Join<'_>) -> (Prepared<'_>, f64) {
        estimate::prepare(self, join)
    }

    fn complete(&self, prepared: &Prepared<'_>, join: &Join<'_>) -> Result<(Vec<Found>, u64)> {
        prepared.within(self, join)
    }

    fn closest(&self, top: &Top<'_>) -> Result<Vec<Found>> {
        estimate::prepare_closest(self, top).0.closest(self, top)
    }

    fn distance(&self, value: f64) -> f64 {
        match self.measure() {
            VectorMeasure::Cosine => value.clamp(-1.0, 1.0).acos().to_degrees(),
            _ => value,
        }
    }

    fn functions(&self, search: &Search<'_>, far: f64) -> Option<String> {
        match line_of(self.measure()) {
            _ if self.measure().is_angular() => Some("hyperplane".to_owned()),
            Some(line) => Some(format!("line({})", width_for(self, line, search.limit, far))),
            None => None,
        }
    }

    fn family<'a>(
        &'a self,
        name: &str,
        search: &Search<'_>,
        far: f64,
    ) -> Result<Box<dyn Family + 'a>> {
        let vectors = self.vectors();
        let angular = self.measure().is_angular();
        match (argument(name), line_of(self.measure())) {
            (Some(("hyperplane" | "p", None)), _) if angular => {
                Ok(Box::new(Hyperplanes::new(vectors, Normals::Gaussian, search.seed)))
            }
            (Some(("signs", None)), _) if angular => {
                Ok(Box::new(Hyperplanes::new(vectors, Normals::Signs, search.seed)))
            }
            (Some(("line" | "p", width)), Some(line)) => {
                let width = width.unwrap_or_else(|| width_for(self, line, search.limit, far));
                wide_enough(vectors, width)?;
                Ok(Box::new(Lines::new(vectors, line, width, search.seed)?))
            }
            _ if angular => Err(unknown(name, "hyperplane or signs")),
            (_, Some(_)) => Err(unknown(name, "line or line(WIDTH)")),
            _ => Err(unknown(name, "nothing: there are no functions")),
        }
    }

    fn costs(&self) -> (f64, f64) {
        let dimension = self.vectors().dimension() as f64;
        (1.0 + 0.05 * dimension, 100.0 + 0.065 * dimension)
    }
}

impl Ways for BitSpace<'_> {
    fn prepare(&self, join: &Join<'_>) -> (Prepared<'_>, f64) {
        // About a nanosecond for eight words of a pair.
        let pairs = join::pairs_of(self.len(), join.split);
        let words = self.bits().words_each() as f64;
        (Prepared::Dense, 1e-9 * pairs * (0.2 + 0.12 * words))
    }

    fn complete(&self, _: &Prepared<'_>, join: &Join<'_>) -> Result<(Vec<Found>, u64)> {
        let found = bits::within(self, join)?;
        Ok((found, join::pairs_of(self.len(), join.split) as u64))
    }

    fn closest(&self, top: &Top<'_>) -> Result<Vec<Found>> {
        top::brute_force(self, top)
    }

    fn distance(&self, value: f64) -> f64 {
        match self.form() {
            Form::Distance => value * self.scale(),
            Form::Similarity => (1.0 - value) * self.bits().length() as f64,
        }
    }

    fn functions(&self, _: &Search<'_>, _: f64) -> Option<String> {
        Some("bits".to_owned())
    }

    fn family<'a>(
        &'a self,
        name: &str,
        search: &Search<'_>,
        _: f64,
    ) -> Result<Box<dyn Family + 'a>> {
        match argument(name) {
            Some(("bits" | "p", None)) => Ok(Box::new(BitSampling::new(self.bits(), search.seed))),
            _ => Err(unknown(name, "bits")),
        }
    }

    fn costs(&self) -> (f64, f64) {
        (2.0, 20.0 + self.bits().words_each() as f64)
    }
}
