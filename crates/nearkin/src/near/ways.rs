//! The ways in which the items of a space can be searched.

use super::Search;
use crate::family::{BitSampling, Hyperplanes, Line, Lines, Normals, Probing};
use crate::join::estimate::{self, Prepared};
use crate::join::{self, Top, bits, top};
use crate::space::{BitSpace, Form, Found, Join, Space, VectorMeasure, VectorSpace};
use crate::{Error, Result};

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
    fn functions(&self) -> Option<&'static str>;

    /// The functions of this name; `far` is how far apart most items are.
    ///
    /// # Errors
    /// When there are none of this name for this measure.
    fn family<'a>(
        &'a self,
        name: &str,
        search: &Search<'_>,
        far: f64,
    ) -> Result<Box<dyn Probing + 'a>>;

    /// Nanoseconds that a function takes on an item, and an exact comparison.
    fn costs(&self) -> (f64, f64);
}

/// An error about functions that are not there.
fn unknown(name: &str, known: &str) -> Error {
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

    fn functions(&self) -> Option<&'static str> {
        match self.measure() {
            VectorMeasure::Cosine | VectorMeasure::Angle => Some("hyperplane"),
            VectorMeasure::L2 | VectorMeasure::L1 => Some("line"),
            _ => None,
        }
    }

    fn family<'a>(
        &'a self,
        name: &str,
        search: &Search<'_>,
        far: f64,
    ) -> Result<Box<dyn Probing + 'a>> {
        let vectors = self.vectors();
        let angular = self.measure().is_angular();
        let line = match self.measure() {
            VectorMeasure::L1 => Some(Line::Cauchy),
            VectorMeasure::L2 => Some(Line::Gaussian),
            _ => None,
        };
        match (argument(name), line) {
            (Some(("hyperplane" | "p", None)), _) if angular => {
                Ok(Box::new(Hyperplanes::new(vectors, Normals::Gaussian, search.seed)))
            }
            (Some(("signs", None)), _) if angular => {
                Ok(Box::new(Hyperplanes::new(vectors, Normals::Signs, search.seed)))
            }
            (Some(("line" | "p", width)), Some(line)) => {
                let limit = search.limit.max(f64::MIN_POSITIVE);
                let contrast = (far / limit).clamp(1.1, 100.0);
                let chosen = line.width_for(limit, contrast, vectors.len(), vectors.dimension());
                let lines = Lines::new(vectors, line, width.unwrap_or(chosen), search.seed)?;
                Ok(Box::new(lines))
            }
            _ if angular => Err(unknown(name, "hyperplane or signs")),
            _ if line.is_some() => Err(unknown(name, "line or line(WIDTH)")),
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

    fn functions(&self) -> Option<&'static str> {
        Some("bits")
    }

    fn family<'a>(
        &'a self,
        name: &str,
        search: &Search<'_>,
        _: f64,
    ) -> Result<Box<dyn Probing + 'a>> {
        match argument(name) {
            Some(("bits" | "p", None)) => Ok(Box::new(BitSampling::new(self.bits(), search.seed))),
            _ => Err(unknown(name, "bits")),
        }
    }

    fn costs(&self) -> (f64, f64) {
        (2.0, 20.0 + self.bits().words_each() as f64)
    }
}
