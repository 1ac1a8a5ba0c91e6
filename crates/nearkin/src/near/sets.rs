//! Sets in memory, to be joined exactly, or searched by any expression of minhashes.
//!
//! The pipeline searches larger collections, by bands alone; here every nesting runs, on sets in memory.

use std::sync::{Mutex, PoisonError};

use nearkin_kernels::shared;

use super::Search;
use super::ways::{Ways, unknown};
use crate::Result;
use crate::family::{Family, MinHashes};
use crate::item::Sets;
use crate::join::estimate::Prepared;
use crate::join::sets::{Filters, Hit, SetJoin, pairs};
use crate::join::{Top, top};
use crate::space::{Form, Found, Join, Space};
use crate::verify::{Limit, Measure, Verifier};

/// Sets, or bags with their elements numbered, under a measure. Empty ones are similar to nothing.
pub(super) struct SetSpace<'a> {
    pub(super) sets: &'a Sets,
    pub(super) measure: Measure,
    pub(super) form: Form,
}

impl Space for SetSpace<'_> {
    fn len(&self) -> usize {
        self.sets.len()
    }

    fn form(&self) -> Form {
        self.form
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (self.sets.get(a as usize), self.sets.get(b as usize));
        let overlap = Measure::overlap(shared(a, b), a.len(), b.len());
        match self.form {
            Form::Similarity if a.is_empty() || b.is_empty() => 0.0,
            Form::Similarity => self.measure.similarity(overlap),
            Form::Distance if a.is_empty() || b.is_empty() => 1.0,
            Form::Distance => self.measure.distance(overlap),
        }
    }
}

impl Ways for SetSpace<'_> {
    fn prepare(&self, _: &Join<'_>) -> (Prepared<'_>, f64) {
        // Ranking elements, and then looking up a share of them.
        (Prepared::Dense, 60e-9 * self.sets.elements() as f64)
    }

    fn complete(&self, _: &Prepared<'_>, join: &Join<'_>) -> Result<(Vec<Found>, u64)> {
        let limit = match self.form {
            Form::Similarity => Limit::Similarity(join.limit),
            Form::Distance => Limit::Distance(join.limit),
        };
        let verifier = Verifier::new(self.measure, limit)?;
        let sets: Vec<&[u64]> = (0..self.len()).map(|set| self.sets.get(set)).collect();
        let (split, stopped, filters) = (join.split, join.stopped, Filters::default());
        let search = SetJoin { verifier: &verifier, filters, split, stopped };
        let found = Mutex::new(Vec::new());
        let pair = |&Hit { a, b, shared }: &Hit| {
            let [first, second] = [a, b].map(|set| sets[set as usize].len());
            let overlap = Measure::overlap(shared as usize, first, second);
            Found { a, b, value: verifier.value(overlap) }
        };
        let counts = pairs(&sets, &search, &|hits| {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.extend(hits.iter().map(pair));
            Ok(())
        })?;
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable_by_key(|found| (found.a, found.b));
        Ok((found, counts.verified))
    }

    fn closest(&self, top: &Top<'_>) -> Result<Vec<Found>> {
        top::brute_force(self, top)
    }

    /// The Jaccard distance of the (numbered) elements.
    fn distance(&self, value: f64) -> f64 {
        let similarity = if self.form == Form::Similarity { value } else { 1.0 - value };
        1.0 - self.measure.to_jaccard(similarity)
    }

    fn functions(&self, _: &Search<'_>, _: f64) -> Option<String> {
        self.measure.follows_jaccard().then(|| "minhash".to_owned())
    }

    fn family<'a>(
        &'a self,
        name: &str,
        search: &Search<'_>,
        _: f64,
    ) -> Result<Box<dyn Family + 'a>> {
        match name {
            "minhash" | "p" if self.measure.follows_jaccard() => {
                Ok(Box::new(MinHashes::new(self.sets, search.seed)))
            }
            _ => Err(unknown(name, "minhash")),
        }
    }

    fn costs(&self) -> (f64, f64) {
        let elements = self.sets.elements() as f64 / self.len().max(1) as f64;
        (2.0 + 0.05 * elements, 40.0 + elements)
    }
}
