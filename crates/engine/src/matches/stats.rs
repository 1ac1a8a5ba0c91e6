//! What a run took and found: the one summary of every kind of search.

use crate::Result;
use crate::audit::Audit;
use crate::item::PassedOver;
use crate::observe::{Stage, StageTime, Traffic};
use crate::plan::Plan;
use crate::spill::{Loader, Saver};

/// What a run took and found.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Usable records.
    pub items: u64,
    /// Those of them in a collection that another one grows: they all stay.
    pub old: Option<u64>,
    /// Records left out because something was wrong with them.
    pub skipped: u64,
    /// Files of folders that were passed over.
    pub passed_over: PassedOver,
    /// Items that are similar to nothing: empty texts, sets and strings.
    pub empty: u64,
    /// Texts that are not empty and have no shingle: only copies are similar to them.
    pub unshingled: u64,
    /// Texts that are one shingle, because they have no more words or characters than a shingle has.
    pub short: u64,
    /// Items that are identical to an earlier one.
    pub identical: u64,
    /// Distinct items.
    pub distinct: u64,
    /// Distinct items that share a key with another; all where they are joined exactly.
    pub in_candidates: u64,
    /// Pairs of distinct items that share a key, or that the filters of the exact join let through.
    pub candidates: u64,
    /// Pairs of them whose sets were compared, many by their bitmaps alone; none is reported without.
    pub verified: u64,
    /// Pairs of distinct items found similar.
    pub similar: u64,
    /// Pairs handed out, copies included.
    pub pairs: Option<u64>,
    /// Clusters of two items or more.
    pub clusters: Option<u64>,
    /// Items kept.
    pub kept: Option<u64>,
    /// How close the removed item is to the kept one that is the least close to it.
    pub least_close: Option<f64>,
    /// Removed items that are not similar to the kept one of their cluster, as in chains.
    pub unlike: Option<u64>,
    /// How pairs were found, and why.
    pub plan: Plan,
    /// What was found of the pairs of a sample, after an approximate run.
    pub audit: Option<Audit>,
    /// Time and input of each stage, in order; of those that an earlier run finished, what they took then.
    pub stages: Vec<StageTime>,
    /// The last stage that an earlier run had finished, when this one went on after it.
    pub resumed: Option<Stage>,
}

impl Stats {
    pub(crate) fn save(&self, save: &mut Saver) -> Result<()> {
        let mut counts = vec![
            self.items,
            self.skipped,
            self.empty,
            self.unshingled,
            self.short,
            self.identical,
            self.distinct,
            self.in_candidates,
            self.candidates,
            self.verified,
            self.similar,
            self.old.map_or(0, |old| old + 1),
        ];
        for time in &self.stages {
            let Traffic { read, unpacked } = time.traffic;
            counts.extend([time.stage as u64, time.seconds.to_bits(), read, unpacked]);
        }
        save.numbers(&counts)?;
        save.numbers(&self.passed_over.to_numbers())?;
        save.number(u64::from(self.audit.is_some()))?;
        self.audit.as_ref().map_or(Ok(()), |audit| audit.save(save))
    }

    /// What was saved after a stage, with what is known anyway as it is here.
    pub(crate) fn load(&self, load: &mut Loader, resumed: Stage) -> Option<Self> {
        let counts: Vec<u64> = load.numbers()?;
        let (&counts, stages) = counts.split_first_chunk::<12>()?;
        let [items, skipped, empty, unshingled, short, identical, distinct, rest @ ..] = counts;
        let [in_candidates, candidates, verified, similar, old] = rest;
        let time = |&[stage, seconds, read, unpacked]: &[u64; 4]| {
            let stage = *Stage::ALL.get(stage as usize)?;
            let traffic = Traffic { read, unpacked };
            Some(StageTime { stage, seconds: f64::from_bits(seconds), traffic })
        };
        let stages = stages.as_chunks().0.iter().map(time).collect::<Option<Vec<_>>>()?;
        let passed_over = PassedOver::from_numbers(load.numbers()?.try_into().ok()?);
        let audit = match load.number()? {
            0 => None,
            _ => Some(Audit::load(load)?),
        };
        Some(Self {
            audit,
            items,
            skipped,
            passed_over,
            empty,
            unshingled,
            short,
            identical,
            distinct,
            in_candidates,
            candidates,
            verified,
            similar,
            old: old.checked_sub(1),
            stages,
            resumed: Some(resumed),
            ..self.clone()
        })
    }
}
