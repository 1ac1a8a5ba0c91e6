//! The true partners of a sample: what a run should have found for items drawn at random.
//!
//! A set that is similar to a drawn one has most of its elements. Some of these are picked at random, and whoever
//! has enough of the picked ones is compared exactly. How many are enough is chosen so that a partner has fewer with
//! a chance of one in a million; of a short set all are picked, and nothing is left to chance. Nothing here knows
//! the sketches of the run, its seed or its candidates.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use nearkin_kernels::shared_at_least;
use rayon::prelude::*;

use crate::Result;
use crate::audit::Audit;
use crate::family::hash::{Spread, mix64};
use crate::item::Source;
use crate::parallel::in_order;
use crate::verify::{Measure, Verifier};

use super::Collection;
use super::kept::Owner;
use super::record::fewest_successes;
use super::resume::{Loader, Saver};
use super::run::Run;
use super::sketch::Sketches;

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
    sets: Vec<Vec<u64>>,
    /// For each, how many of its picked elements another must have.
    enough: Vec<u32>,
    /// A bit for every element that was picked, and by accident for few others.
    filter: Vec<u64>,
    /// Where the drawn sets of which an element was picked stand in `members`.
    places: HashMap<u64, (u32, u32), BuildHasherDefault<Spread>>,
    members: Vec<u32>,
}

/// What a thread needs to look.
#[derive(Default)]
pub(super) struct Looking {
    /// How many picked elements of each drawn set were seen, and of which sets enough.
    hits: Vec<u32>,
    seen: Vec<u32>,
}

impl Watch {
    /// Looks out for what is similar to these sets, which are sorted.
    pub(super) fn new(sets: Vec<Vec<u64>>, verifier: Verifier) -> Self {
        let mut entries: Vec<(u64, u32)> = Vec::new();
        let mut enough = Vec::with_capacity(sets.len());
        for (set, number) in sets.iter().zip(0u32..) {
            let (picked, fewest) = picks(set.len(), fewest_shared(&verifier, set.len()));
            enough.push(fewest as u32);
            let place = |at: u32| (mix64(at.into(), mix64(number.into(), SEED)), at);
            let mut order: Vec<(u64, u32)> = (0..set.len() as u32).map(place).collect();
            if picked < order.len() {
                order.select_nth_unstable(picked);
            }
            entries.extend(order[..picked].iter().map(|&(_, at)| (set[at as usize], number)));
        }
        entries.sort_unstable();
        let bits = (16 * entries.len()).next_power_of_two().clamp(1 << 10, 1 << 24);
        let mut watch = Self {
            verifier,
            sets,
            enough,
            filter: vec![0; bits / 64],
            places: HashMap::default(),
            members: entries.iter().map(|entry| entry.1).collect(),
        };
        let mut start = 0;
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let end = start + same.len() as u32;
            let (word, bit) = watch.bit(same[0].0);
            watch.filter[word] |= bit;
            watch.places.insert(same[0].0, (start, end));
            start = end;
        }
        watch
    }

    /// How many of so many drawn sets cost little: where elements are frequent, every look meets many sets.
    fn affordable(&self) -> usize {
        /// Sets that are met for each element that is looked up.
        const MET: f64 = 1.0;
        let some = &self.sets[..self.sets.len().min(64)];
        let elements = some.iter().map(|set| set.len()).sum::<usize>().max(1);
        let members = |element| self.places.get(element).map_or(0, |&(start, end)| end - start);
        let met: u64 = some.iter().flatten().map(|element| u64::from(members(element))).sum();
        // A drawn set meets itself.
        let each = (met as f64 / elements as f64 - 1.0).max(0.0);
        (self.sets.len() as f64 * (MET / each).min(1.0)) as usize
    }

    /// Where in the filter an element is.
    fn bit(&self, element: u64) -> (usize, u64) {
        let hash = element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        ((hash as usize / 64) & (self.filter.len() - 1), 1 << (hash % 64))
    }

    /// Finds the drawn sets that may be similar to the set with these elements, which come in any order and may come
    /// several times. Whether there are any.
    pub(super) fn look(&self, elements: &[u64], looking: &mut Looking) -> bool {
        let Looking { hits, seen, .. } = looking;
        hits.resize(self.sets.len(), 0);
        seen.clear();
        for &element in elements {
            let (word, bit) = self.bit(element);
            if self.filter[word] & bit == 0 {
                continue;
            }
            let (start, end) = self.places.get(&element).copied().unwrap_or_default();
            for &number in &self.members[start as usize..end as usize] {
                let hits = &mut hits[number as usize];
                if *hits == 0 {
                    seen.push(number);
                }
                *hits += 1;
            }
        }
        let enough = |&number: &u32| {
            std::mem::take(&mut hits[number as usize]) >= self.enough[number as usize]
        };
        seen.retain(enough);
        !seen.is_empty()
    }

    /// The drawn sets that are similar to this one, of those that were found to be possible, and how similar.
    pub(super) fn partners(
        &self,
        looking: &Looking,
        set: &[u64],
    ) -> impl Iterator<Item = (u32, f64)> {
        looking.seen.iter().filter_map(|&number| {
            let drawn = &self.sets[number as usize];
            let need = self.verifier.shared_needed(drawn.len(), set.len())?;
            let shared = shared_at_least(drawn, set, need)?;
            let overlap = Measure::overlap(shared, drawn.len(), set.len());
            Some((number, self.verifier.measure().similarity(overlap)))
        })
    }
}

/// How many elements of a set are picked, and how many of those a partner has that shares at least `fewest`.
fn picks(size: usize, fewest: usize) -> (usize, usize) {
    let share = fewest as f64 / size.max(1) as f64;
    // Fewer let too many through that are no partners, the more the smaller the share is.
    let picked = (OVERLOOKED.ln() / (-share).ln_1p()).max(24.0 / (share * share)).ceil();
    if picked >= size as f64 {
        return (size, fewest);
    }
    (picked as usize, fewest_successes(picked as usize, share, OVERLOOKED).max(1))
}

/// The fewest elements that a set of this size shares with any that is similar.
fn fewest_shared(verifier: &Verifier, size: usize) -> usize {
    // The smaller the other, the fewer, as long as it can be similar at all.
    let (mut low, mut high) = (1, size);
    while low < high {
        let middle = low.midpoint(high);
        match verifier.shared_needed(size, middle) {
            Some(_) => high = middle,
            None => low = middle + 1,
        }
    }
    verifier.shared_needed(size, low).unwrap_or(size)
}

/// Items that were drawn, and everything that is similar to them.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// The drawn items, ascending.
    positions: Vec<u32>,
    /// A group with drawn items, a similar group, and how similar they are; sorted.
    partners: Vec<(u32, u32, f64)>,
    /// Whether the items were drawn from the first chunks only.
    pub(super) from_start: bool,
}

impl Truth {
    /// Puts together what was found for drawn items. A pair of groups may come several times, the first with drawn
    /// items; those of a group with itself, and those that are not looked for, do not count.
    fn new(
        mut positions: Vec<u32>,
        mut partners: Vec<(u32, u32, f64)>,
        collection: &Collection,
    ) -> Self {
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
        mut found: impl FnMut(u32, &[u32]) -> Result<Vec<bool>>,
    ) -> Result<Option<Audit>> {
        if self.positions.is_empty() {
            return Ok(None);
        }
        let members = collection.members();
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
    /// Draws items for the audit, each with the same chance: of a large input about two from each of some chunks, for
    /// with all records of 1 GB counted the audit took 26 % more processor time, so 14 %. Of what has to be unpacked, from
    /// the first chunks.
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
                source.scan(&|chunk| !is_in(input, chunk))?.take(first.saturating_add(1)),
                |chunk| {
                    let number = source.place(&chunk).0;
                    let records = match is_in(input, number) {
                        true => source.decode(&chunk, &|_| false)?.records,
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
            for chunk in source.scan(&|chunk| in_chunk(chunk).is_empty())? {
                let chunk = chunk?;
                let number = source.place(&chunk).0;
                if number > last as usize {
                    break;
                }
                let of_chunk = in_chunk(number);
                let owner = |ordinal: u32| Owner { ordinal, ..chunk_of(number) };
                let is_wanted = |ordinal: u32| of_chunk.binary_search(&owner(ordinal)).is_ok();
                let batch = source.decode(&chunk, &is_wanted)?;
                for (i, item) in batch.items.iter().enumerate() {
                    sets.push(self.settings.elements(batch.text(i)));
                    owners.push(owner(item.ordinal));
                }
            }
        }
        let verifier = Verifier::new(self.settings.measure, self.settings.limit())?;
        Ok(Watch::new(sets, verifier))
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
fn keep_smallest<T: Ord>(entries: &mut Vec<T>, count: usize) {
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

impl<S: Source> Run<'_, S> {
    /// Draws items and finds everything that is similar to them among the texts that were kept.
    pub(super) fn truth_of_kept(
        &self,
        sketches: &mut Sketches,
        collection: &Collection,
    ) -> Result<Option<Truth>> {
        let count = self.settings.audit.unwrap_or(unasked(collection.records()));
        if count == 0 {
            return Ok(None);
        }
        if sketches.overflowed {
            // Too much for what was meant for it: all is read again.
            let Some(drawn) = self.draw()? else { return Ok(None) };
            let seen = self.look_through(&drawn)?;
            return Ok(Some(drawn.truth(collection, &seen)));
        }
        let layout = self.layout;
        let places = sketches.kept.places(collection);
        let mut records = sketches.kept.records_mut(&places);
        let (mut positions, mut drawn) = drawn_of(collection, count);
        let mut sets = vec![Vec::new(); drawn.len()];
        for (group, record) in &mut records {
            if let Ok(number) = drawn.binary_search(group) {
                layout.finish(record);
                sets[number] = layout.elements(record).to_vec();
            }
        }
        let verifier = Verifier::new(self.settings.measure, self.settings.limit())?;
        let mut watch = Watch::new(sets, verifier);
        let affordable = watch.affordable().max(LEAST);
        let all = count >= collection.records() as usize;
        if self.settings.audit.is_none() && affordable < drawn.len() && !all {
            let before = drawn;
            (positions, drawn) = drawn_of(collection, affordable);
            let set =
                |group| before.binary_search(group).map(|at| std::mem::take(&mut watch.sets[at]));
            let sets = drawn.iter().map(set).map(Result::unwrap_or_default).collect();
            watch = Watch::new(sets, watch.verifier);
        }
        type Seen = (Looking, Vec<(u32, u32, f64)>);
        let look = |(mut looking, mut found): Seen, (group, record): &mut (u32, &mut [u64])| {
            if watch.look(layout.elements(record), &mut looking) {
                // Most of them are candidates, and need it anyway.
                layout.finish(record);
                let partners = watch.partners(&looking, layout.elements(record));
                let pair = |(number, similarity)| (drawn[number as usize], *group, similarity);
                found.extend(partners.map(pair));
            }
            (looking, found)
        };
        let found = records.par_iter_mut().with_min_len(256).fold(Seen::default, look);
        let found: Vec<Vec<_>> = found.map(|(_, found)| found).collect();
        Ok(Some(Truth::new(positions, found.concat(), collection)))
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
