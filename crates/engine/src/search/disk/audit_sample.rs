//! The pairs of texts that an audit compares.
//!
//! A few elements of every text are kept while it is sketched, so nothing is read or cut into shingles twice, and it does
//! not matter how much there is or whether it can be read from the middle. Pairs are drawn when all texts are known
//! and before anyone knows what the run finds. Their texts are loaded together with the candidates.

use crate::Result;
use crate::audit::capture::Capture;
use crate::audit::drawn_pairs::{DrawSize, DrawnPairs};
use crate::audit::true_partners::AuditScale;
use crate::candidates::KEY_PARTS;
use crate::family::hash::mix64;
use crate::item::Source;
use crate::matches::{Collection, Stats};
use crate::observe::{Clock, Stage};
use crate::spill::Block;
use crate::verify::Overlap;

use super::DiskRun;
use super::candidates::all_buckets;
use super::first_pass::Sketches;

/// Whoever asks for as many similar pairs or more wants all: every element is kept then.
const ALL: usize = 100_000;

/// The seed of the audit: it follows that of the run, and no sketch has it.
fn seed<S: Source>(run: &DiskRun<'_, S>) -> u64 {
    mix64(run.settings().seed, 0xa0d1_75ee_d0f7_e375)
}

/// How pairs are seen for the audit; none where there is no audit.
pub(super) fn capture<S: Source>(run: &DiskRun<'_, S>) -> Option<Capture> {
    let settings = run.settings();
    run.banding.as_ref()?;
    match settings.audit {
        Some(0) => None,
        Some(ALL..) => Some(Capture::everything(seed(run))),
        _ => Some(Capture::new(seed(run), settings.jaccard_threshold())),
    }
}

/// The keys of elements kept for the audit, and whose they are, by their partition.
pub(super) fn captured_block(
    capture: Option<Capture>,
    keys: impl Iterator<Item = (u64, u64)> + Clone,
) -> Block<1> {
    let partitions = capture.map_or(KEY_PARTS, Capture::partitions);
    let partition = |key| capture.map_or(0, |capture| capture.partition_of(key));
    Block::new(partitions, keys.map(|(key, of)| (partition(key), [key << 32 | of])))
}

/// Draws pairs of the texts whose elements were kept.
pub(super) fn draw<S: Source>(
    run: &DiskRun<'_, S>,
    sketches: &Sketches,
    collection: &Collection,
    capture: Option<Capture>,
    stats: &mut Stats,
) -> Result<Option<DrawnPairs>> {
    let Some(capture) = capture else { return Ok(None) };
    run.search.observer.stage(Stage::Audit, None);
    let clock = Clock::start(Stage::Audit);
    let settings = run.settings();
    let scale = AuditScale {
        threshold: settings.limit().similarity(),
        identical: settings.measure.similarity(Overlap::identical(1)),
    };
    let buckets = all_buckets(run, collection, &sketches.captured, 1)?;
    let size = DrawSize::new(sketches.bytes, settings.audit, run.budget.share(1));
    let drawn = DrawnPairs::draw(&buckets, collection.copies(), capture, (size, seed(run)), scale)?;
    stats.stages.push(clock.stop(0));
    Ok(Some(drawn))
}
