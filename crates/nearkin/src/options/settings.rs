//! The border to the searches: options as the settings that they take.

use super::{Goal, Options, Query};
use crate::amplify::{Bands, Expression};
use crate::near::{self, Search};
use crate::pipeline::{self, Settings};
use crate::{Error, Result};

impl Options {
    /// The settings of a search of texts, sets or bags.
    ///
    /// # Errors
    /// When options contradict one another or do not apply to the items.
    pub fn settings(&self, goal: Goal) -> Result<Settings> {
        self.check()?;
        if self.probes.is_some() {
            let must = "left out for texts, sets and bags, which are found by bands of minhashes";
            return Err(Error::parameter("probes", "given", must));
        }
        let measure = self.set_measure()?;
        let threshold = self.set_threshold(measure, goal)?;
        self.check_exact_only(measure)?;
        let defaults = Settings::default();
        Ok(Settings {
            shingling: self.shingling()?,
            measure,
            threshold,
            within: self.within,
            recall: self.recall_or_default(),
            way: match (self.exact, self.approximate) {
                (true, _) => pipeline::Way::Exact,
                (_, true) => pipeline::Way::Bands,
                _ => pipeline::Way::Cheapest,
            },
            filters: self.filters.unwrap_or_default(),
            audit: self.audit,
            bands: self.bands.zip(self.rows).map(|(count, rows)| Bands { count, rows }),
            seed: self.seed_or_default(),
            threads: self.threads.unwrap_or(defaults.threads),
            memory: self.memory.unwrap_or(defaults.memory),
            temp: self.temp.clone(),
            skip_duplicate_ids: self.skips_bad_records(),
            ..defaults
        })
    }

    /// The search of items in memory, of two collections where `split` says where the second begins.
    ///
    /// # Errors
    /// When bands are out of range.
    pub fn search<'a>(
        &self,
        query: &Query,
        split: Option<u32>,
        stopped: &'a (dyn Fn() -> bool + Sync),
    ) -> Result<Search<'a>> {
        Ok(Search {
            limit: query.limit,
            recall: self.recall_or_default(),
            way: self.way_in_memory()?,
            seed: self.seed_or_default(),
            split,
            audit: self.audit,
            room: self.memory.unwrap_or_else(pipeline::fair_share),
            stopped,
        })
    }

    /// How pairs of items in memory are to be found.
    fn way_in_memory(&self) -> Result<near::Way> {
        let bands = self.bands.zip(self.rows).map(|(count, rows)| Bands::new(count, rows));
        let of_bands = |bands: Bands| Expression::function("p").and(bands.rows).or(bands.count);
        let expression = bands.transpose()?.map(of_bands).or_else(|| self.and_or.clone());
        Ok(match (expression, self.probes) {
            (Some(expression), None | Some(1)) => near::Way::Tables(expression),
            (Some(expression), Some(probes)) => near::Way::Probed(expression, probes),
            _ if self.exact => near::Way::Complete,
            _ => near::Way::Cheapest,
        })
    }

    #[cfg(feature = "files")]
    fn skips_bad_records(&self) -> bool {
        self.on_error == Some(crate::read::OnError::Skip)
    }

    #[cfg(not(feature = "files"))]
    fn skips_bad_records(&self) -> bool {
        false
    }
}
