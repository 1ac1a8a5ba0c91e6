//! The border to the search: options as the settings that it takes.

use super::{Goal, Options};
use crate::amplify::{Bands, Expression};
use crate::cluster::{Keep, Linkage};
use crate::settings::{Settings, Strategy};
use crate::space::Form;
use crate::{Error, Result};

impl Options {
    /// The settings of a search.
    ///
    /// # Errors
    /// When options contradict one another or do not apply to the items.
    pub fn settings(&self, goal: Goal) -> Result<Settings> {
        if self.is_in_memory() { self.memory_settings(goal) } else { self.set_settings(goal) }
    }

    /// The settings of a search of texts, sets or bags by their elements.
    pub(super) fn set_settings(&self, goal: Goal) -> Result<Settings> {
        self.check()?;
        if self.probes.is_some() {
            let must = "left out for texts, sets and bags, which are found by bands of minhashes";
            return Err(Error::parameter("probes", "given", must));
        }
        let measure = self.set_measure()?;
        let threshold = self.set_threshold(measure, goal)?;
        self.check_exact_only(measure)?;
        let (form, limit) = match self.within {
            Some(most) => (Form::Distance, most),
            None => (Form::Similarity, threshold),
        };
        Ok(Settings {
            shingling: self.shingling()?,
            measure,
            threshold,
            within: self.within,
            no_closer: self.no_closer(form, limit, goal)?,
            filters: self.filters.unwrap_or_default(),
            ..self.common_settings()?
        })
    }

    /// The settings of a search of items in memory.
    fn memory_settings(&self, goal: Goal) -> Result<Settings> {
        let query = self.query(goal)?;
        if goal == Goal::Groups {
            self.check_keep()?;
        }
        let (threshold, within) = match query.form {
            Form::Similarity => (query.limit, None),
            Form::Distance => (0.0, Some(query.limit)),
        };
        let no_closer = self.no_closer(query.form, query.limit, goal)?;
        Ok(Settings { threshold, within, no_closer, ..self.common_settings()? })
    }

    /// What all kinds of items have in common.
    fn common_settings(&self) -> Result<Settings> {
        /// Memory that a thread needs: chunks, texts, elements and buffers that it keeps. Eight threads in 16 MiB took
        /// 40 MB more than one.
        const OF_THREAD: usize = 8 << 20;
        let defaults = Settings::default();
        let memory = self.memory.unwrap_or(defaults.memory);
        let bands = self.bands.zip(self.rows).map(|(count, rows)| Bands { count, rows });
        let strategy = match (&self.and_or, bands, self.probes) {
            (Some(expression), _, probes) => {
                Strategy::Tables { expression: expression.clone(), probes: probes.unwrap_or(1) }
            }
            (None, Some(bands), Some(probes)) if probes > 1 => {
                let bands = Bands::new(bands.count, bands.rows)?;
                Strategy::Tables {
                    expression: Expression::function("p").and(bands.rows).or(bands.count),
                    probes,
                }
            }
            (None, Some(bands), _) => Strategy::Bands(bands),
            (None, None, _) if self.exact => Strategy::Exact,
            (None, None, _) if self.approximate => Strategy::Approximate,
            (None, None, _) => Strategy::Cheapest,
        };
        Ok(Settings {
            recall: self.recall_or_default(),
            strategy,
            audit: self.audit,
            seed: self.seed_or_default(),
            // More than this many on a core only wait for each other: 768 took seconds for a few lines.
            threads: self
                .threads
                .map_or(defaults.threads, |threads| threads.min(8 * defaults.threads))
                .min((memory / OF_THREAD).max(1)),
            memory,
            temp: self.temp.clone(),
            skip_duplicate_ids: self.skips_bad_records(),
            ..defaults
        })
    }

    /// An error where the length is to decide which item is kept, and all are equally long.
    fn check_keep(&self) -> Result<()> {
        use super::ItemKind::{Answers, Bits, Vector};
        let kind = self.kind();
        if self.keep.as_ref().is_some_and(Keep::counts_lengths)
            && matches!(kind, Vector | Bits | Answers)
        {
            let must = "without longest: these items are all equally long";
            return Err(Error::parameter("keep", "longest", must));
        }
        Ok(())
    }

    /// What holds a group together.
    pub fn linkage(&self) -> Linkage {
        if self.chains { Linkage::Chains } else { Linkage::Stars }
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
