//! The true partners of a sample: what a run should have found for items drawn at random.
//!
//! A set that is similar to a drawn one has most of its elements. Some of these are picked, those that come first in
//! a random order of all elements, and whoever has enough of the picked ones is compared exactly. How many are enough
//! is chosen so that a partner has fewer with a chance of one in a million; of a short set so many are picked that
//! nothing is left to chance. A long set need only be looked at as far in that order as the picked elements of sets of its size
//! go. Nothing here knows the sketches of the run, its seed or its candidates.

use nearkin_kernels::with_small_product;
use rayon::prelude::*;

use crate::Result;
use crate::audit::Audit;
use crate::family::hash::mix64;
use crate::item::{Item, Source};
use crate::parallel::in_order;
use crate::verify::Verifier;

use super::Collection;
use super::collection::Members;
use super::holders::{Holders, make_room};
use super::kept::{Kept, Owner};
use super::record::{Layout, fewest_successes};
use super::resume::{Loader, Saver};
use super::run::Run;

/// Draws have a seed of their own: nothing that a run does depends on it.
const SEED: u64 = 0xa0d1_7ed5_0b5e_7e5d;

/// Items that are drawn unless somebody asks for more; fewer than the least tell too little. (With 50, of 100,000
/// near-identical texts, five million pairs had to be compared for the audit alone.)
const UNASKED: usize = 400;
const LEAST: usize = 10;

/// The chance to overlook a partner.
const OVERLOOKED: f64 = 1e-6;

/// Sets that were drawn, and what to look out for.
pub(super) struct Watch {
    verifier: Verifier,
    layout: Layout,
    /// The sets from the smallest on, as finished records, and which of those that were given each is.
    records: Vec<Vec<u64>>,
    given: Vec<u32>,
    /// For each, the size of the smallest partner.
    least: Vec<usize>,
    /// For each, how many of its picked elements another must have.
    enough: Vec<u32>,
    /// Who picked an element.
    pickers: Holders,
    /// For each level, the largest size of a partner of a set with a picked element that is not on it: elements on
    /// level n are the first 1/2ⁿ of all.
    beyond: Vec<usize>,
}

/// What a thread needs to look.
#[derive(Default)]
pub(super) struct Looking {
    /// Room for the elements on a level, and those of them that somebody may have picked.
    on_level: Vec<u64>,
    picked: Vec<u64>,
    /// How many picked elements of each drawn set were seen, and of which sets enough.
    hits: Vec<u32>,
    seen: Vec<u32>,
}

/// What is looked out for of one set.
struct Watched {
    /// The sizes of the smallest partner and of the largest.
    least: usize,
    most: usize,
    /// Picked elements, each with its place in the order, and how many of them a partner must have.
    picked: Vec<(u64, u64)>,
    enough: u32,
}

impl Watched {
    fn new(set: &[u64], verifier: &Verifier) -> Self {
        let least = smallest_partner(verifier, set.len());
        let most = largest_partner(verifier, set.len());
        let fewest = verifier.shared_needed(set.len(), least).unwrap_or(set.len());
        let (picked, enough) = picks(set.len(), fewest);
        Self { least, most, picked: first_in_order(set, picked), enough: enough as u32 }
    }
}

/// What an element is multiplied with to get its place in the random order of all.
const ORDER: u64 = 0xd1b5_4a32_d192_ed03;

/// The `count` elements of a set that come first in the order, each with its place.
fn first_in_order(set: &[u64], count: usize) -> Vec<(u64, u64)> {
    // Twice as many as are needed, unless chance will have it otherwise.
    let bound = match set.len() / (2 * count.max(1)) {
        0 | 1 => u64::MAX,
        times => u64::MAX / times as u64,
    };
    let up_to = |bound: u64| -> Vec<(u64, u64)> {
        set.iter()
            .map(|&x| (x.wrapping_mul(ORDER), x))
            .filter(|&(place, _)| place <= bound)
            .collect()
    };
    let mut first = up_to(bound);
    if first.len() < count {
        first = up_to(u64::MAX);
    }
    keep_smallest(&mut first, count);
    first
}

impl Watch {
    /// Looks out for what is similar to the sets of these records, which are finished.
    pub(super) fn new(records: Vec<Vec<u64>>, layout: Layout, verifier: Verifier) -> Self {
        let mut given: Vec<(u32, Vec<u64>)> = (0u32..).zip(records).collect();
        given.sort_by_key(|(_, record)| layout.elements(record).len());
        let (given, records): (Vec<u32>, Vec<Vec<u64>>) = given.into_iter().unzip();
        let watched: Vec<Watched> = records
            .par_iter()
            .map(|record| Watched::new(layout.elements(record), &verifier))
            .collect();
        let mut entries: Vec<(u64, u32)> = Vec::new();
        let mut beyond = vec![0; 64];
        for (watched, number) in watched.iter().zip(0u32..) {
            entries.extend(watched.picked.iter().map(|&(_, element)| (element, number)));
            let last = watched.picked.iter().map(|&(place, _)| place).max().unwrap_or(0);
            let not_on = beyond.iter_mut().skip(1 + last.leading_zeros() as usize);
            not_on.for_each(|beyond: &mut usize| *beyond = watched.most.max(*beyond));
        }
        let least = watched.iter().map(|watched| watched.least).collect();
        let enough = watched.iter().map(|watched| watched.enough).collect();
        let pickers = Holders::new(&entries);
        Self { verifier, layout, records, given, least, enough, pickers, beyond }
    }

    /// How many of so many drawn sets cost little: where elements are frequent, every look meets many sets.
    fn affordable(&self) -> usize {
        /// Sets that are met for each element that is looked up.
        const MET: f64 = 1.0;
        let some = self.records.par_iter().step_by(self.records.len().div_ceil(64).max(1));
        let met_by = |record: &Vec<u64>| {
            let set = self.layout.elements(record);
            (set.len(), set.iter().map(|&element| self.pickers.range(element).len()).sum())
        };
        let both = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
        let (elements, met) = some.map(met_by).reduce(|| (0, 0), both);
        // A drawn set meets itself.
        let each = (met as f64 / elements.max(1) as f64 - 1.0).max(0.0);
        (self.records.len() as f64 * (MET / each).min(1.0)) as usize
    }

    /// Finds the drawn sets that may be similar to the set with these elements, which come in any order and may come
    /// several times. Whether there are any.
    pub(super) fn look(&self, elements: &[u64], looking: &mut Looking) -> bool {
        let Looking { on_level, picked, hits, seen } = looking;
        hits.resize(self.records.len(), 0);
        // One more than can be seen, for that is written too.
        seen.resize(self.records.len() + 1, 0);
        let mut count = 0;
        // Those that come later are too large.
        let end = self.least.partition_point(|&least| least <= elements.len()) as u32;
        for &element in self.pickers.held(self.worth_looking(elements, on_level), picked) {
            for &number in self.pickers.sets(self.pickers.range_of_held(element)) {
                if number >= end {
                    break;
                }
                let hits = &mut hits[number as usize];
                // Written in any case: whether it is the first cannot be guessed.
                seen[count] = number;
                count += usize::from(*hits == 0);
                *hits += 1;
            }
        }
        seen.truncate(count);
        let enough = |&number: &u32| {
            std::mem::take(&mut hits[number as usize]) >= self.enough[number as usize]
        };
        seen.retain(enough);
        !seen.is_empty()
    }

    /// Of these elements, those that a similar set may have picked.
    fn worth_looking<'a>(&self, elements: &'a [u64], on_level: &'a mut Vec<u64>) -> &'a [u64] {
        /// Elements that are left, at least.
        const LEAST: usize = 128;
        /// The share of different elements among those that are left, and with a chance of less than one in a million
        /// to be wrong (by Poisson's distribution), among all.
        const SHARE_LEFT: f64 = 0.75;
        const SHARE_OF_ALL: f64 = 0.4;
        let count = elements.len() as f64;
        let reaches = |&level: &usize| (self.beyond[level] as f64) < SHARE_OF_ALL * count;
        let level = (elements.len() / LEAST).checked_ilog2().unwrap_or(0) as usize;
        let Some(level) = (1..=level).rev().find(reaches) else { return elements };
        make_room(on_level, elements.len());
        let left = with_small_product(elements, ORDER, u64::MAX >> level, on_level);
        // How many different ones there are, at least.
        let mut bits = [0u64; 32];
        for &element in &on_level[..left] {
            bits[element as usize / 64 % 32] |= 1 << (element % 64);
        }
        let different = bits.iter().map(|word| word.count_ones()).sum::<u32>();
        if f64::from(different) * f64::from(1u32 << level) < SHARE_LEFT * count {
            return elements;
        }
        &on_level[..left]
    }

    /// The drawn sets that are similar to the one of this record, which is finished, of those that were found to be
    /// possible, and how similar.
    pub(super) fn partners(
        &self,
        looking: &Looking,
        record: &[u64],
    ) -> impl Iterator<Item = (u32, f64)> {
        let body = self.layout.body(record);
        looking.seen.iter().filter_map(move |&number| {
            let drawn = self.layout.body(&self.records[number as usize]);
            let overlap = drawn.similar(body, &self.verifier)?;
            let similarity = self.verifier.measure().similarity(overlap);
            Some((self.given[number as usize], similarity))
        })
    }

    /// Makes the record of a set with these elements.
    pub(super) fn record(&self, elements: &[u64], record: &mut Vec<u64>) {
        record.clear();
        self.layout.append(elements, record);
        self.layout.finish(record);
    }
}

/// How many elements of a set are picked, and how many of those a partner has that shares at least `fewest`.
fn picks(size: usize, fewest: usize) -> (usize, usize) {
    /// Picked elements that a partner has, if there are so many.
    const LEAST: usize = 3;
    // Whatever a partner lacks, it has the rest of the picked ones.
    let lacking = size - fewest;
    let certain = (lacking + lacking.max(LEAST)).min(size);
    // Fewer let too many through that are no partners, the more the smaller the share is.
    let share = fewest as f64 / size.max(1) as f64;
    let likely = (OVERLOOKED.ln() / (-share).ln_1p()).max(24.0 / (share * share)).ceil();
    if likely >= certain as f64 {
        return (certain, certain - lacking);
    }
    (likely as usize, fewest_successes(likely as usize, share, OVERLOOKED).max(1))
}

/// The size of the smallest set that is similar to one of this size. They share fewer elements than any larger one
/// does with it.
fn smallest_partner(verifier: &Verifier, size: usize) -> usize {
    let (mut low, mut high) = (1, size);
    while low < high {
        let middle = low.midpoint(high);
        match verifier.shared_needed(size, middle) {
            Some(_) => high = middle,
            None => low = middle + 1,
        }
    }
    low
}

/// The size of the largest set that is similar to one of this size.
fn largest_partner(verifier: &Verifier, size: usize) -> usize {
    let fits = |other: usize| verifier.shared_needed(size, other).is_some();
    let (mut low, mut high) = (size, 2 * size.max(1));
    while fits(high) {
        if high > 1 << 40 {
            return usize::MAX;
        }
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        *(if fits(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}

/// A group with drawn items, a similar group, and how similar they are.
pub(super) type Partner = (u32, u32, f64);

/// Items that were drawn, and everything that is similar to them.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// The drawn items, ascending.
    positions: Vec<u32>,
    /// Sorted.
    partners: Vec<Partner>,
    /// Whether the items were drawn from the first chunks only.
    pub(super) from_start: bool,
}

impl Truth {
    /// Puts together what was found for drawn items. A pair of groups may come several times, the first with drawn
    /// items; those of a group with itself, and those that are not looked for, do not count.
    fn new(mut positions: Vec<u32>, mut partners: Vec<Partner>, collection: &Collection) -> Self {
        let sides = collection.sides();
        partners
            .retain(|&(a, b, _)| a != b && sides.as_ref().is_none_or(|sides| sides.across(a, b)));
        partners.sort_unstable_by_key(|&(a, b, _)| (a, b));
        partners.dedup_by_key(|&mut (a, b, _)| (a, b));
        positions.sort_unstable();
        Self { positions, partners, from_start: false }
    }

    /// How much of it a run has found, copies counted, given what says of a group which of others were found with
    /// it; `identical` is the similarity of copies.
    pub(super) fn audit(
        &self,
        threshold: f64,
        identical: f64,
        collection: &Collection,
        members: Option<&Members>,
        mut found: impl FnMut(u32, &[u32]) -> Result<Vec<bool>>,
    ) -> Result<Option<Audit>> {
        if self.positions.is_empty() {
            return Ok(None);
        }
        let own;
        let members = match members {
            Some(members) => members,
            None => {
                own = collection.members();
                &own
            }
        };
        let split = collection.split();
        // Of a group, those with which an item is paired.
        let paired = |position: u32, group: u32| {
            let all = members.of(group);
            let first = split.map_or(0, |split| all.partition_point(|&item| item < split));
            match split {
                None => all.len(),
                Some(split) if position < split => all.len() - first,
                Some(_) => first,
            }
        };
        let mut audit = Audit::new(threshold, members.len() as u64);
        for &position in &self.positions {
            let Some(group) = collection.group_of(position) else { continue };
            let start = self.partners.partition_point(|pair| pair.0 < group);
            let own = &self.partners[start..];
            let own = &own[..own.partition_point(|pair| pair.0 == group)];
            let others: Vec<u32> = own.iter().map(|pair| pair.1).collect();
            let is_found = found(group, &others)?;
            let copies = paired(position, group) - usize::from(split.is_none());
            let partners = own.iter().zip(is_found).map(|(&(_, other, similarity), found)| {
                (similarity, found, paired(position, other) as u64)
            });
            let copies = (copies > 0).then_some((identical, true, copies as u64));
            audit.item_with_copies(copies.into_iter().chain(partners));
        }
        Ok(Some(audit))
    }

    pub(super) fn save(&self, save: &mut Saver) -> Result<()> {
        save.number(u64::from(self.from_start))?;
        save.numbers(&self.positions)?;
        let partners = self.partners.iter().flat_map(|&(a, b, similarity)| {
            [u64::from(a) << 32 | u64::from(b), similarity.to_bits()]
        });
        save.numbers(&partners.collect::<Vec<u64>>())
    }

    pub(super) fn load(load: &mut Loader) -> Option<Self> {
        let from_start = load.number()? == 1;
        let positions = load.numbers()?;
        let partners: Vec<u64> = load.numbers()?;
        let pair = |&[pair, similarity]: &[u64; 2]| {
            ((pair >> 32) as u32, pair as u32, f64::from_bits(similarity))
        };
        let partners = partners.as_chunks().0.iter().map(pair).collect();
        Some(Self { positions, partners, from_start })
    }
}

/// Items drawn before the first pass, and what it finds for them.
pub(super) struct Drawn {
    pub(super) watch: Watch,
    owners: Vec<Owner>,
    /// Whether they were drawn from the first chunks only.
    from_start: bool,
}

impl<S: Source> Run<'_, S> {
    /// Draws items for the audit, each with the same chance: of a large input about two from each of some chunks, for to
    /// count all records takes as long as to read them. Of what has to be unpacked, from the first chunks.
    pub(super) fn draw(&self) -> Result<Option<Drawn>> {
        /// Chunks of compressed input that are unpacked twice.
        const CHUNKS: usize = 48;
        let most = self.settings.audit.unwrap_or(UNASKED);
        if most == 0 {
            return Ok(None);
        }
        let share = self.share_of_chunks(most)?;
        let is_in = |input: u32, chunk: usize| {
            share >= 1.0
                || hash(input) ^ mix64(chunk as u64, SEED) < (share * u64::MAX as f64) as u64
        };
        let (mut drawn, mut records, mut from_start) = (Vec::new(), 0u32, false);
        for (input, source) in (0u32..).zip(self.sources) {
            let first = if source.skips() { usize::MAX } else { CHUNKS };
            let mut chunks = 0;
            in_order(
                self.settings.threads,
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
                    let owner = |ordinal| Owner { input, chunk: chunk as u32, ordinal };
                    let hashed = |ordinal| (hash(records.saturating_add(ordinal)), owner(ordinal));
                    drawn.extend((0..count).map(hashed));
                    keep_smallest(&mut drawn, most);
                    records = records.saturating_add(count);
                    Ok(())
                },
            )?;
        }
        drawn.sort_unstable();
        drawn.truncate(self.settings.audit.unwrap_or(unasked(records)));
        let mut owners: Vec<Owner> = drawn.iter().map(|draw| draw.1).collect();
        let mut watch = self.watch_for(&mut owners)?;
        let affordable = watch.affordable().max(LEAST);
        let all = drawn.len() == records as usize;
        if self.settings.audit.is_none() && affordable < owners.len() && !all {
            owners = drawn[..affordable].iter().map(|draw| draw.1).collect();
            watch = self.watch_for(&mut owners)?;
        }
        Ok(Some(Drawn { watch, owners, from_start }))
    }

    /// The share of chunks to draw so many items from; all where there are few, or they have to be unpacked.
    fn share_of_chunks(&self, items: usize) -> Result<f64> {
        let mut chunks = 0.0;
        for source in self.sources {
            let Some(first) = source.scan(&|_| false)?.next().transpose()? else { continue };
            if !source.skips() {
                return Ok(1.0);
            }
            chunks += source.bytes() as f64 / source.place(&first).1.max(1) as f64;
        }
        Ok((items as f64 / 2.0 / chunks.max(1.0)).min(1.0))
    }

    /// Reads items and looks out for what is similar to them. Those that are none are left out.
    fn watch_for(&self, owners: &mut Vec<Owner>) -> Result<Watch> {
        owners.sort_unstable();
        let wanted = std::mem::take(owners);
        let mut sets = Vec::new();
        for (input, source) in (0u32..).zip(self.sources) {
            let chunk_of = |chunk: usize| Owner { input, chunk: chunk as u32, ordinal: 0 };
            let in_chunk = |chunk: usize| {
                let (this, next) = (chunk_of(chunk), chunk_of(chunk + 1));
                &wanted[wanted.partition_point(|owner| *owner < this)
                    ..wanted.partition_point(|owner| *owner < next)]
            };
            let last = wanted.iter().filter(|owner| owner.input == input).map(|owner| owner.chunk);
            let Some(last) = last.max() else { continue };
            // The first behind the last one comes, and ends it.
            let skip = |chunk: usize| chunk <= last as usize && in_chunk(chunk).is_empty();
            let is_before_end = |chunk: &Result<_>| {
                chunk.as_ref().map_or(true, |chunk| source.place(chunk).0 <= last as usize)
            };
            in_order(
                self.settings.threads,
                source.glance(&skip)?.take_while(is_before_end),
                |chunk| {
                    let number = source.place(&chunk).0;
                    let of_chunk = in_chunk(number);
                    let owner = |ordinal: u32| Owner { ordinal, ..chunk_of(number) };
                    let is_wanted = |ordinal: u32| of_chunk.binary_search(&owner(ordinal)).is_ok();
                    let batch = source.decode(&chunk, &is_wanted).unwrap_or_default();
                    let record = |(i, item): (usize, &Item)| {
                        let mut record = Vec::new();
                        self.layout.append(&self.settings.elements(batch.text(i)), &mut record);
                        self.layout.finish(&mut record);
                        (record, owner(item.ordinal))
                    };
                    Ok(batch.items.iter().enumerate().map(record).collect::<Vec<_>>())
                },
                |drawn| {
                    for (record, owner) in drawn {
                        sets.push(record);
                        owners.push(owner);
                    }
                    Ok(())
                },
            )?;
        }
        let verifier = Verifier::new(self.settings.measure, self.settings.limit())?;
        Ok(Watch::new(sets, self.layout, verifier))
    }
}

/// The order in which records are drawn, by their position.
fn hash(position: u32) -> u64 {
    mix64(position.into(), SEED)
}

/// How many of so many records are drawn unless somebody says.
fn unasked(records: u32) -> usize {
    /// A larger share of all takes too long.
    const SHARE: usize = 20;
    UNASKED.min((10 * LEAST).max(records as usize / SHARE))
}

/// Leaves the `count` entries that are smallest.
pub(super) fn keep_smallest<T: Ord>(entries: &mut Vec<T>, count: usize) {
    if entries.len() > count {
        entries.select_nth_unstable(count);
        entries.truncate(count);
    }
}

impl Drawn {
    /// What the first pass has found.
    pub(super) fn truth(&self, collection: &Collection, found: &[(u32, Owner, f64)]) -> Truth {
        let position = |owner: &Owner| {
            collection.chunk(owner.input as usize, owner.chunk as usize).start + owner.ordinal
        };
        let group = |owner: &Owner| collection.group_of(position(owner));
        let drawn = self.owners.iter().filter(|owner| group(owner).is_some());
        let partners = found.iter().filter_map(|(number, owner, similarity)| {
            Some((group(&self.owners[*number as usize])?, group(owner)?, *similarity))
        });
        let truth = Truth::new(drawn.map(position).collect(), partners.collect(), collection);
        Truth { from_start: self.from_start, ..truth }
    }
}

/// Items drawn from texts that were kept, and what to look out for.
pub(super) struct Watching {
    watch: Watch,
    positions: Vec<u32>,
    /// The groups of the sets that are looked out for.
    groups: Vec<u32>,
}

impl Watching {
    /// Appends the drawn groups that are similar to a group with this record, which is finished if there may be any.
    pub(super) fn look(
        &self,
        group: u32,
        record: &mut [u64],
        looking: &mut Looking,
        found: &mut Vec<Partner>,
    ) {
        let layout = self.watch.layout;
        if self.watch.look(layout.elements(record), looking) {
            // Most of them are candidates, and need it anyway.
            layout.finish(record);
            let partners = self.watch.partners(looking, record);
            let pair = |(number, similarity)| (self.groups[number as usize], group, similarity);
            found.extend(partners.map(pair));
        }
    }

    /// All that was found.
    pub(super) fn truth(self, found: Vec<Partner>, collection: &Collection) -> Truth {
        Truth::new(self.positions, found, collection)
    }
}

impl<S: Source> Run<'_, S> {
    /// Draws items from texts that were kept, all of them.
    pub(super) fn watch_kept(
        &self,
        kept: &mut Kept,
        places: &[(u32, u32)],
        collection: &Collection,
    ) -> Result<Option<Watching>> {
        let count = self.settings.audit.unwrap_or(unasked(collection.records()));
        if count == 0 {
            return Ok(None);
        }
        let layout = self.layout;
        let (mut positions, groups) = drawn_of(collection, count);
        let records = kept.records_mut(groups.iter().copied(), places);
        let finish = |(group, record): (u32, &mut [u64])| {
            layout.finish(record);
            (group, record.to_vec())
        };
        let drawn: Vec<(u32, Vec<u64>)> =
            records.into_par_iter().with_max_len(16).map(finish).collect();
        let (mut groups, sets): (Vec<u32>, Vec<_>) = drawn.into_iter().unzip();
        let verifier = Verifier::new(self.settings.measure, self.settings.limit())?;
        let mut watch = Watch::new(sets, layout, verifier);
        let affordable = watch.affordable().max(LEAST);
        let all = count >= collection.records() as usize;
        if self.settings.audit.is_none() && affordable < groups.len() && !all {
            let fewer;
            (positions, fewer) = drawn_of(collection, affordable);
            let both = watch.given.iter().map(|&given| groups[given as usize]).zip(watch.records);
            let both = both.filter(|(group, _)| fewer.binary_search(group).is_ok());
            let sets;
            (groups, sets) = both.unzip();
            watch = Watch::new(sets, layout, watch.verifier);
        }
        Ok(Some(Watching { watch, positions, groups }))
    }

    /// Draws items and finds everything that is similar to them by reading all again.
    pub(super) fn truth_by_reading(&self, collection: &Collection) -> Result<Option<Truth>> {
        let Some(drawn) = self.draw()? else { return Ok(None) };
        let seen = self.look_through(&drawn)?;
        Ok(Some(drawn.truth(collection, &seen)))
    }
}

/// The positions of those of `count` records, each drawn with the same chance, that are items with elements, and their
/// groups, ascending. Fewer are a part of more.
fn drawn_of(collection: &Collection, count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut drawn: Vec<(u64, u32)> = (0..collection.records()).map(|at| (hash(at), at)).collect();
    keep_smallest(&mut drawn, count);
    let positions = drawn.into_iter().map(|draw| draw.1);
    let positions: Vec<u32> = positions.filter(|&at| collection.group_of(at).is_some()).collect();
    let mut groups: Vec<u32> =
        positions.iter().filter_map(|&position| collection.group_of(position)).collect();
    groups.sort_unstable();
    groups.dedup();
    (positions, groups)
}
