//! The items that an audit draws from texts: before the first pass, or from texts that are all in memory after it.
//!
//! Items are drawn before anyone knows what the run finds, and partners are found in the pass that reads the texts
//! anyway, so nothing is read or cut into shingles twice. Large files are drawn from some of their chunks. Of the other
//! chunks only the ends are read, to see where the next chunk starts (`Source::glance`). Collections that fit in memory
//! are looked at while they are sketched.

use rayon::prelude::*;

use crate::Result;
use crate::audit::partner_finder::{FinderScratch, PartnerFinder};
use crate::audit::true_partners::{
    self, AuditScale, DrawOrder, LEAST, Partner, TruePartners, UNASKED, unasked,
};
use crate::item::{Item, Source};
use crate::matches::Collection;
use crate::parallel::in_order;
use crate::plan::elements::keep_smallest;
use crate::settings::Settings;
use crate::verify::{Overlap, Verifier};

use super::DiskRun;
use super::buffers::with_buffers;
use super::record_cache::{RecordCache, TextPlace};

/// Similarities from the threshold to that of copies.
fn scale(settings: &Settings) -> AuditScale {
    AuditScale {
        threshold: settings.limit().similarity(),
        identical: settings.measure.similarity(Overlap::identical(1)),
    }
}

/// Texts drawn before the first pass, and what it looks out for.
pub(super) struct DrawnTexts {
    pub(super) finder: PartnerFinder,
    places: Vec<TextPlace>,
    /// Whether they were drawn from the first chunks only.
    from_start: bool,
    scale: AuditScale,
}

impl DrawnTexts {
    /// Draws texts for the audit, each with the same chance: of a large input about two from each of some chunks, for to
    /// count all records takes as long as to read them. Of what has to be unpacked, from the first chunks.
    pub(super) fn draw<S: Source>(run: &DiskRun<'_, S>) -> Result<Option<Self>> {
        let settings = run.settings();
        let most = settings.audit.unwrap_or(UNASKED);
        if most == 0 {
            return Ok(None);
        }
        let Draws { mut drawn, records, from_start } = Draws::new(run, most)?;
        drawn.truncate(settings.audit.unwrap_or(unasked(records)));
        let mut places: Vec<TextPlace> = drawn.iter().map(|draw| draw.1).collect();
        let mut finder = finder_for(run, &mut places)?;
        let affordable = finder.affordable().max(LEAST);
        let all = drawn.len() == records as usize;
        if settings.audit.is_none() && affordable < places.len() && !all {
            places = drawn[..affordable].iter().map(|draw| draw.1).collect();
            finder = finder_for(run, &mut places)?;
        }
        Ok(Some(Self { finder, places, from_start, scale: scale(settings) }))
    }

    /// What the first pass has found.
    pub(super) fn true_partners(
        &self,
        collection: &Collection,
        found: &[(u32, TextPlace, f64)],
    ) -> TruePartners {
        let position = |place: &TextPlace| {
            collection.chunk(place.input as usize, place.chunk as usize).start + place.ordinal
        };
        let group = |place: &TextPlace| collection.group_of(position(place));
        let drawn = self.places.iter().filter(|place| group(place).is_some());
        let partners = found.iter().filter_map(|(number, place, similarity)| {
            Some((group(&self.places[*number as usize])?, group(place)?, *similarity))
        });
        let (positions, partners) = (drawn.map(position).collect(), partners.collect());
        let mut partners = TruePartners::new(positions, partners, collection.copies(), self.scale);
        partners.from_start = self.from_start;
        partners
    }
}

/// Records in the order in which they are drawn.
struct Draws {
    drawn: Vec<(u64, TextPlace)>,
    /// Records of the chunks that were looked at.
    records: u32,
    /// Whether these are the first chunks only.
    from_start: bool,
}

impl Draws {
    /// Up to `most` of all records, or of those of some chunks.
    fn new<S: Source>(run: &DiskRun<'_, S>, most: usize) -> Result<Self> {
        /// Chunks of compressed input that are unpacked twice.
        const CHUNKS: usize = 48;
        let share = share_of_chunks(run, most)?;
        let order = DrawOrder::new(run.settings().seed);
        let is_in = |input: u32, chunk: usize| {
            share >= 1.0 || order.of_chunk(input, chunk) < (share * u64::MAX as f64) as u64
        };
        let (mut drawn, mut records, mut from_start) = (Vec::new(), 0u32, false);
        for (input, source) in (0u32..).zip(run.sources) {
            let first = if source.skips() { usize::MAX } else { CHUNKS };
            let mut chunks = 0;
            in_order(
                run.settings().threads,
                source.glance(&|chunk| !is_in(input, chunk))?.take(first.saturating_add(1)),
                |chunk| {
                    let number = source.place(&chunk).0;
                    // What cannot be decoded ends the first pass, which knows the lines.
                    let records = match is_in(input, number) {
                        true => source.decode(&chunk, &|_| false).map_or(0, |batch| batch.records),
                        false => 0,
                    };
                    Ok((number, records))
                },
                |(chunk, count)| {
                    chunks += 1;
                    if chunks > first {
                        from_start = true;
                        return Ok(());
                    }
                    let place = |ordinal| TextPlace { input, chunk: chunk as u32, ordinal };
                    let draw =
                        |ordinal| (order.of(records.saturating_add(ordinal)), place(ordinal));
                    drawn.extend((0..count).map(draw));
                    keep_smallest(&mut drawn, most);
                    records = records.saturating_add(count);
                    Ok(())
                },
            )?;
        }
        drawn.sort_unstable();
        Ok(Self { drawn, records, from_start })
    }
}

/// The share of chunks from which `items` items are drawn: all if there are few, or if they have to be unpacked.
fn share_of_chunks<S: Source>(run: &DiskRun<'_, S>, items: usize) -> Result<f64> {
    let mut chunks = 0.0;
    for source in run.sources {
        let Some(first) = source.scan(&|_| false)?.next().transpose()? else { continue };
        if !source.skips() {
            return Ok(1.0);
        }
        chunks += source.bytes() as f64 / source.place(&first).1.max(1) as f64;
    }
    Ok((items as f64 / 2.0 / chunks.max(1.0)).min(1.0))
}

/// Reads texts and looks out for what is similar to them. Records that are no items are left out.
fn finder_for<S: Source>(
    run: &DiskRun<'_, S>,
    places: &mut Vec<TextPlace>,
) -> Result<PartnerFinder> {
    let settings = run.settings();
    places.sort_unstable();
    let wanted = std::mem::take(places);
    let mut sets = Vec::new();
    for (input, source) in (0u32..).zip(run.sources) {
        let chunk_of = |chunk: usize| TextPlace { input, chunk: chunk as u32, ordinal: 0 };
        let in_chunk = |chunk: usize| {
            let (this, next) = (chunk_of(chunk), chunk_of(chunk + 1));
            &wanted[wanted.partition_point(|place| *place < this)
                ..wanted.partition_point(|place| *place < next)]
        };
        let last = wanted.iter().filter(|place| place.input == input).map(|place| place.chunk);
        let Some(last) = last.max() else { continue };
        // The first behind the last one comes, and ends it.
        let skip = |chunk: usize| chunk <= last as usize && in_chunk(chunk).is_empty();
        let is_before_end = |chunk: &Result<_>| {
            chunk.as_ref().map_or(true, |chunk| source.place(chunk).0 <= last as usize)
        };
        in_order(
            settings.threads,
            source.glance(&skip)?.take_while(is_before_end),
            |chunk| {
                let number = source.place(&chunk).0;
                let of_chunk = in_chunk(number);
                let place = |ordinal: u32| TextPlace { ordinal, ..chunk_of(number) };
                let is_wanted = |ordinal: u32| of_chunk.binary_search(&place(ordinal)).is_ok();
                let batch = source.decode(&chunk, &is_wanted).unwrap_or_default();
                let record = |(i, item): (usize, &Item)| {
                    let mut record = Vec::new();
                    run.layout.append(&settings.elements(batch.text(i)), &mut record);
                    run.layout.finish(&mut record);
                    (record, place(item.ordinal))
                };
                Ok(batch.items.iter().enumerate().map(record).collect::<Vec<_>>())
            },
            |drawn| {
                for (record, place) in drawn {
                    sets.push(record);
                    places.push(place);
                }
                Ok(())
            },
        )?;
    }
    let verifier = Verifier::new(settings.measure, settings.limit())?;
    Ok(PartnerFinder::new(sets, run.layout, verifier))
}

/// Draws texts and finds everything that is similar to them by reading all again.
pub(super) fn true_partners_by_reading<S: Source>(
    run: &DiskRun<'_, S>,
    collection: &Collection,
) -> Result<TruePartners> {
    let Some(drawn) = DrawnTexts::draw(run)? else { return Ok(TruePartners::default()) };
    let mut all = Vec::new();
    for (input, source) in (0u32..).zip(run.sources) {
        in_order(
            run.settings().threads,
            source.scan(&|_| false)?,
            |chunk| {
                let number = source.place(&chunk).0 as u32;
                let batch = source.decode(&chunk, &|_| true)?;
                let mut seen = Vec::new();
                with_buffers(|buffers| {
                    for (i, item) in batch.items.iter().enumerate() {
                        buffers.take(batch.text(i), run.settings());
                        let place = TextPlace { input, chunk: number, ordinal: item.ordinal };
                        buffers.look(&drawn.finder, place, &mut seen);
                    }
                });
                Ok(seen)
            },
            |seen| {
                all.extend(seen);
                run.search.go_on()
            },
        )?;
    }
    Ok(drawn.true_partners(collection, &all))
}

/// Items drawn from texts that are all in memory, and what to look out for.
pub(super) struct DrawnGroups {
    finder: PartnerFinder,
    positions: Vec<u32>,
    /// The groups of the drawn sets.
    groups: Vec<u32>,
    scale: AuditScale,
}

impl DrawnGroups {
    /// Draws items whose records are all in the cache.
    pub(super) fn draw<S: Source>(
        run: &DiskRun<'_, S>,
        cache: &mut RecordCache,
        places: &[(u32, u32)],
        collection: &Collection,
    ) -> Result<Option<Self>> {
        let (settings, layout) = (run.settings(), run.layout);
        let count = settings.audit.unwrap_or(unasked(collection.records()));
        if count == 0 {
            return Ok(None);
        }
        let order = DrawOrder::new(settings.seed);
        let (mut positions, groups) = true_partners::draw(collection.copies(), count, order);
        let records = cache.records_mut(groups.iter().copied(), places);
        let finish = |(group, record): (u32, &mut [u64])| {
            layout.finish(record);
            (group, record.to_vec())
        };
        let drawn: Vec<(u32, Vec<u64>)> =
            records.into_par_iter().with_max_len(16).map(finish).collect();
        let (mut groups, sets): (Vec<u32>, Vec<_>) = drawn.into_iter().unzip();
        let verifier = Verifier::new(settings.measure, settings.limit())?;
        let mut finder = PartnerFinder::new(sets, layout, verifier);
        let affordable = finder.affordable().max(LEAST);
        let all = count >= collection.records() as usize;
        if settings.audit.is_none() && affordable < groups.len() && !all {
            let fewer;
            (positions, fewer) = true_partners::draw(collection.copies(), affordable, order);
            (finder, groups) = finder.retain(&groups, |group| fewer.binary_search(&group).is_ok());
        }
        Ok(Some(Self { finder, positions, groups, scale: scale(settings) }))
    }

    /// Appends the drawn groups that are similar to the group with this record. Finishes the record if there may be any.
    pub(super) fn look(
        &self,
        group: u32,
        record: &mut [u64],
        scratch: &mut FinderScratch,
        found: &mut Vec<Partner>,
    ) {
        let layout = self.finder.layout;
        if self.finder.look(layout.elements(record), scratch) {
            // Most of them are candidates, and need it anyway.
            layout.finish(record);
            let partners = self.finder.partners(scratch, record);
            let pair = |(number, similarity)| (self.groups[number as usize], group, similarity);
            found.extend(partners.map(pair));
        }
    }

    /// All that was found.
    pub(super) fn true_partners(
        self,
        found: Vec<Partner>,
        collection: &Collection,
    ) -> TruePartners {
        TruePartners::new(self.positions, found, collection.copies(), self.scale)
    }
}
