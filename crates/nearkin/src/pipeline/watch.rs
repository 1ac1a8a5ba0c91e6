//! The true partners of a sample: what a run should have found for items drawn at random.
//!
//! A set that is similar to a drawn one has most of its elements. Some of these are picked at random, and whoever
//! has enough of the picked ones is compared exactly. How many are enough is chosen so that a partner has fewer with
//! a chance of one in a million; of a short set all are picked, and nothing is left to chance. Nothing here knows
//! the sketches of the run, its seed or its candidates.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use nearkin_kernels::shared_at_least;

use crate::Result;
use crate::audit::Audit;
use crate::family::hash::{Spread, mix64};
use crate::item::Source;
use crate::verify::{Measure, Verifier};

use super::Collection;
use super::buckets::Sides;
use super::kept::Owner;
use super::record::fewest_successes;
use super::resume::{Loader, Saver};
use super::run::Run;

/// Draws have a seed of their own: nothing that a run does depends on it.
const SEED: u64 = 0xa0d1_7ed5_0b5e_7e5d;

/// Items that are drawn unless somebody asks for more.
pub(super) const UNASKED: usize = 400;

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

    /// Where in the filter an element is.
    fn bit(&self, element: u64) -> (usize, u64) {
        let hash = element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (hash as usize / 64 & (self.filter.len() - 1), 1 << (hash % 64))
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

/// Groups that were drawn, and every similar one of each.
#[derive(Debug, Default)]
pub(super) struct Truth {
    groups: Vec<u32>,
    /// The number of a drawn group, a similar one, and how similar it is.
    partners: Vec<(u32, u32, f64)>,
}

impl Truth {
    /// Puts together what was found for drawn groups. A pair may come several times; those of a group with
    /// itself, and those that are not looked for, do not count.
    pub(super) fn new(
        groups: Vec<u32>,
        mut partners: Vec<(u32, u32, f64)>,
        sides: Option<&Sides>,
    ) -> Self {
        partners.retain(|&(number, other, _)| {
            let group = groups[number as usize];
            group != other && sides.is_none_or(|sides| sides.across(group, other))
        });
        partners.sort_unstable_by_key(|&(number, other, _)| (number, other));
        partners.dedup_by_key(|&mut (number, other, _)| (number, other));
        Self { groups, partners }
    }

    /// How much of it a run has found, given what says of a group which of these others were found with it.
    pub(super) fn audit(
        &self,
        threshold: f64,
        population: u64,
        mut found: impl FnMut(u32, &[u32]) -> Result<Vec<bool>>,
    ) -> Result<Option<Audit>> {
        if self.groups.is_empty() {
            return Ok(None);
        }
        let mut audit = Audit::new(threshold, population);
        let mut rest = &self.partners[..];
        for (number, &group) in (0u32..).zip(&self.groups) {
            let (own, others) = rest.split_at(rest.partition_point(|pair| pair.0 <= number));
            rest = others;
            let others: Vec<u32> = own.iter().map(|pair| pair.1).collect();
            let is_found = found(group, &others)?;
            audit.item(own.iter().map(|pair| pair.2).zip(is_found));
        }
        Ok(Some(audit))
    }

    pub(super) fn save(&self, save: &mut Saver) -> Result<()> {
        save.numbers(&self.groups)?;
        let partners = self.partners.iter().flat_map(|&(number, other, similarity)| {
            [u64::from(number) << 32 | u64::from(other), similarity.to_bits()]
        });
        save.numbers(&partners.collect::<Vec<u64>>())
    }

    pub(super) fn load(load: &mut Loader) -> Option<Self> {
        let groups = load.numbers()?;
        let partners: Vec<u64> = load.numbers()?;
        let pair = |&[pair, similarity]: &[u64; 2]| {
            ((pair >> 32) as u32, pair as u32, f64::from_bits(similarity))
        };
        Some(Self { groups, partners: partners.as_chunks().0.iter().map(pair).collect() })
    }
}

/// Items drawn before the first pass, and what it finds for them.
pub(super) struct Drawn {
    pub(super) watch: Watch,
    owners: Vec<Owner>,
}

impl<S: Source> Run<'_, S> {
    /// Draws items for the audit, each with the same chance: from some chunks, so that little is read twice.
    /// Where chunks cannot be left out without reading them, from the first ones.
    pub(super) fn draw(&self) -> Result<Option<Drawn>> {
        let count = self.settings.audit.unwrap_or(UNASKED);
        if count == 0 {
            return Ok(None);
        }
        let portion = Portion::new(self.sources)?;
        let mut drawn: Vec<(u64, Owner)> = Vec::new();
        for (input, source) in (0u32..).zip(self.sources) {
            portion.each(*source, input, |chunk, data| {
                let records = source.decode(data, &|_| false)?.records;
                let owners = (0..records).map(|ordinal| Owner { input, chunk, ordinal });
                drawn.extend(owners.map(|owner| (hash(owner), owner)));
                keep_smallest(&mut drawn, count);
                Ok(())
            })?;
        }
        let mut wanted: Vec<Owner> = drawn.into_iter().map(|draw| draw.1).collect();
        wanted.sort_unstable();
        let (mut sets, mut owners) = (Vec::new(), Vec::new());
        for (input, source) in (0u32..).zip(self.sources) {
            portion.each(*source, input, |chunk, data| {
                let owner = |ordinal: u32| Owner { input, chunk, ordinal };
                let is_wanted = |ordinal: u32| wanted.binary_search(&owner(ordinal)).is_ok();
                let batch = source.decode(data, &is_wanted)?;
                for (i, item) in batch.items.iter().enumerate() {
                    sets.push(self.settings.elements(batch.text(i)));
                    owners.push(owner(item.ordinal));
                }
                Ok(())
            })?;
        }
        let verifier = Verifier::new(self.settings.measure, self.settings.limit())?;
        Ok(Some(Drawn { watch: Watch::new(sets, verifier), owners }))
    }
}

/// The chunks from which items are drawn.
struct Portion {
    /// This share of those that can be left out.
    share: f64,
}

impl Portion {
    /// Chunks to draw from, about.
    const CHUNKS: u64 = 48;

    fn new<S: Source>(sources: &[&S]) -> Result<Self> {
        let mut chunks = 0.0;
        for source in sources {
            if let Some(first) = source.scan(&|_| false)?.next().transpose()? {
                chunks += source.bytes() as f64 / source.place(&first).1.max(1) as f64;
            }
        }
        Ok(Self { share: Self::CHUNKS as f64 / f64::max(chunks, 1.0) })
    }

    fn each<S: Source>(
        &self,
        source: &S,
        input: u32,
        mut with: impl FnMut(u32, &S::Chunk) -> Result<()>,
    ) -> Result<()> {
        let skips = source.skips();
        let place = |chunk: usize| Owner { input, chunk: chunk as u32, ordinal: u32::MAX };
        let is_in = |chunk: usize| !skips || below(hash(place(chunk)), self.share);
        let skip = |chunk: usize| !is_in(chunk);
        for (number, chunk) in (0u64..).zip(source.scan(&skip)?) {
            let chunk = chunk?;
            let (at, _) = source.place(&chunk);
            if !skips && number == Self::CHUNKS {
                break;
            }
            if is_in(at) {
                with(at as u32, &chunk)?;
            }
        }
        Ok(())
    }
}

fn hash(owner: Owner) -> u64 {
    let chunk = mix64(owner.chunk.into(), mix64(owner.input.into(), SEED));
    mix64(owner.ordinal.into(), chunk)
}

/// Leaves the `count` entries that are smallest.
fn keep_smallest<T: Ord>(entries: &mut Vec<T>, count: usize) {
    if entries.len() > count {
        entries.select_nth_unstable(count);
        entries.truncate(count);
    }
}

/// Whether a hash is among this share of all.
fn below(hash: u64, share: f64) -> bool {
    (hash >> 11) as f64 * 2f64.powi(-53) < share
}

impl Drawn {
    /// What the first pass has found, by groups. Items with the text of an earlier one are left out, so that
    /// every distinct text was drawn with the same chance.
    pub(super) fn truth(&self, collection: &Collection, found: &[(u32, Owner, f64)]) -> Truth {
        let position = |owner: &Owner| {
            collection.chunk(owner.input as usize, owner.chunk as usize).start + owner.ordinal
        };
        let group = |owner: &Owner| collection.group_of(position(owner));
        let mut groups = Vec::new();
        let numbers: Vec<Option<u32>> = self
            .owners
            .iter()
            .map(|owner| {
                let group =
                    group(owner).filter(|&group| collection.first(group) == position(owner))?;
                groups.push(group);
                Some(groups.len() as u32 - 1)
            })
            .collect();
        let partners = found.iter().filter_map(|(number, owner, similarity)| {
            Some((numbers[*number as usize]?, group(owner)?, *similarity))
        });
        Truth::new(groups, partners.collect(), collection.sides().as_ref())
    }
}

/// Numbers from 0 up to `of`, up to `count` of them, each with the same chance, ascending.
pub(super) fn drawn_of(of: u32, count: usize) -> Vec<u32> {
    let mut drawn: Vec<(u64, u32)> = (0..of).map(|at| (mix64(at.into(), SEED), at)).collect();
    keep_smallest(&mut drawn, count);
    let mut numbers: Vec<u32> = drawn.into_iter().map(|draw| draw.1).collect();
    numbers.sort_unstable();
    numbers
}
