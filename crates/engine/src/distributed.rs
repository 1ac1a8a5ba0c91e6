//! A collection on many machines: which texts have to be brought together, and where?
//!
//! Whether two texts are found is a matter of those two alone: they share a bucket of some band (or an element
//! of their prefixes, where none may be missed), and then they are compared. So it is enough that any two that
//! share a key meet somewhere once; what is found there by the same search is what one machine would find.
//!
//! [`Keys`] gives the texts of one part of the collection their keys, packed in blocks for those who gather a key's
//! texts: Spark needs microseconds per row, and a block of thousands of entries is one row. [`meet`] reads the blocks
//! that came together and says which texts travel where. Identical texts travel as their first two, which is
//! enough to know what copies are to each other.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;

use crate::candidates::bands::Banding;
use crate::candidates::element_record::{ElementBody, RecordLayout};
use crate::candidates::identical::fingerprint;
use crate::candidates::{KEY_BITS, sort_elements};
use crate::cluster::{ComparedSets, KeptScratch, KeptSets, SetBodies};
use crate::family::hash::mix64;
use crate::join::sets::Bounds;
use crate::search::TextBuffers;
use crate::settings::{SetStrategy, Settings};
use crate::spill::Cache;
use crate::verify::{Overlap, Verifier};
use crate::{Error, Result};

/// Entries of a block: about a megabyte.
const BLOCK: usize = (1 << 20) / ENTRY;
/// Bytes of an entry: its key, its text's fingerprint, and its position after the block's first.
const ENTRY: usize = 8 + 16 + 4;
/// Texts of one part whose copies are recognised before they travel; with more, some travel in vain.
const RECOGNISED: usize = 1 << 20;
/// The key of sets that are similar to others without sharing anything.
const SMALL: u64 = 0;
/// Where texts meet has a seed of its own.
const SEED: u64 = 0x5eed_0000_3ee7_0001;

/// The keys of the texts of one part of a collection, in blocks.
pub struct Keys {
    settings: Settings,
    /// None where no pair may be missed.
    banding: Option<Banding>,
    verifier: Verifier,
    /// Elements that many texts have come last, by how many; any order finds all.
    frequent: HashMap<u64, u32>,
    open: Vec<KeyBlock>,
    full: Vec<(u32, Vec<u8>)>,
    first_keys: HashMap<u128, u64>,
    buffers: TextBuffers,
    keys: Vec<u64>,
    /// What was seen so far.
    pub seen: TextCounts,
}

/// What there is in a part of a collection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextCounts {
    /// Texts.
    pub texts: u64,
    /// Those of them without any element.
    pub empty: u64,
    /// Bytes of all texts.
    pub bytes: u64,
}

/// Entries for one gatherer.
#[derive(Default)]
struct KeyBlock {
    base: u64,
    keys: Vec<u64>,
    prints: Vec<u128>,
    offsets: Vec<u32>,
}

impl KeyBlock {
    fn pack(&mut self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + ENTRY * self.keys.len());
        bytes.extend(self.base.to_le_bytes());
        self.keys.drain(..).for_each(|key| bytes.extend(key.to_le_bytes()));
        self.prints.drain(..).for_each(|print| bytes.extend(print.to_le_bytes()));
        self.offsets.drain(..).for_each(|offset| bytes.extend(offset.to_le_bytes()));
        bytes
    }
}

impl Keys {
    /// Keys for a run by these settings, exact or by bands, for this many gatherers. `frequent` are
    /// elements that are in many texts, and in how many: the same for all parts.
    ///
    /// # Errors
    /// When the settings contradict themselves, or the way is not decided.
    pub fn new(settings: &Settings, gatherers: usize, frequent: HashMap<u64, u32>) -> Result<Self> {
        let banding = match settings.set_strategy()? {
            SetStrategy::Exact => None,
            _ => Some(settings.banding()?),
        };
        if gatherers == 0 || u32::try_from(gatherers).is_err() {
            return Err(Error::parameter("gatherers", gatherers, "between 1 and 2^32 - 1"));
        }
        Ok(Self {
            banding,
            verifier: Verifier::new(settings.measure, settings.limit())?,
            settings: settings.clone(),
            frequent,
            open: (0..gatherers).map(|_| KeyBlock::default()).collect(),
            full: Vec::new(),
            first_keys: HashMap::new(),
            buffers: TextBuffers::default(),
            keys: Vec::new(),
            seen: TextCounts::default(),
        })
    }

    /// Takes up a text. Positions rise from one to the next.
    pub fn add(&mut self, position: u64, text: &str) {
        self.seen.texts += 1;
        self.seen.bytes += text.len() as u64;
        let print = fingerprint(&self.settings.shingling.key, text.as_bytes());
        if let Some(&key) = self.first_keys.get(&print) {
            // Of copies it is enough to know that they are some.
            self.put(key, print | 1, position);
            return;
        }
        self.buffers.take(text, &self.settings);
        if self.buffers.elements().is_empty() {
            self.seen.empty += 1;
            return;
        }
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        match &self.banding {
            Some(banding) => {
                let (elements, sketch) = self.buffers.parts();
                banding.keys(elements, sketch, &mut keys);
                (0u64..).zip(&mut keys).for_each(|(band, key)| *key |= band << KEY_BITS);
            }
            None => self.prefix(&mut keys),
        }
        for (at, &key) in keys.iter().enumerate() {
            self.put(key, print & !1 | u128::from(at == 0), position);
        }
        if let Some(&first) = keys.first()
            && self.first_keys.len() < RECOGNISED
        {
            self.first_keys.insert(print, first);
        }
        self.keys = keys;
    }

    /// The elements by which texts similar to this one are found: in any order of all
    /// elements, two similar sets share one of their first elements.
    fn prefix(&mut self, keys: &mut Vec<u64>) {
        let (elements, _) = self.buffers.parts();
        let size = sort_elements(elements);
        elements.truncate(size);
        let bounds = Bounds::new(&self.verifier, size);
        let prefix = bounds.prefix(size).min(size);
        let frequent = &self.frequent;
        let order = |element: &u64| (frequent.get(element).copied().unwrap_or(0), *element);
        if prefix > 0 && prefix < size {
            elements.select_nth_unstable_by_key(prefix - 1, order);
        }
        keys.extend_from_slice(&elements[..prefix]);
        // The first key must be the same for copies, whatever else is in memory.
        keys.sort_unstable();
        if bounds.need(size, 1) == Some(0) {
            keys.push(SMALL);
        }
    }

    fn put(&mut self, key: u64, print: u128, position: u64) {
        let gatherer = one_of(key, self.open.len() as u64) as usize;
        let block = &mut self.open[gatherer];
        let far = position.saturating_sub(block.base) > u64::from(u32::MAX);
        if block.keys.len() >= BLOCK || (far && !block.keys.is_empty()) {
            self.full.push((gatherer as u32, block.pack()));
        }
        if block.keys.is_empty() {
            block.base = position;
        }
        block.keys.push(key);
        block.prints.push(print);
        block.offsets.push((position - block.base) as u32);
    }

    /// The blocks that are full, each with its gatherer.
    pub fn full(&mut self) -> Vec<(u32, Vec<u8>)> {
        std::mem::take(&mut self.full)
    }

    /// All blocks that are left.
    pub fn finish(&mut self) -> Vec<(u32, Vec<u8>)> {
        let mut blocks = self.full();
        for (gatherer, block) in (0u32..).zip(&mut self.open) {
            if !block.keys.is_empty() {
                blocks.push((gatherer, block.pack()));
            }
        }
        blocks
    }
}

/// A number below `count`, each equally likely, by a name.
fn one_of(name: u64, count: u64) -> u64 {
    ((u128::from(mix64(name, SEED)) * u128::from(count)) >> 64) as u64
}

/// Which texts have to be brought together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Meeting {
    /// Copies of an earlier text, and the position of the first with it.
    pub copies: Vec<(u64, u64)>,
    /// Positions of texts that travel, and where to. Of copies, the first two travel.
    pub wanted: Vec<(u64, u32)>,
    /// Keys that several texts share.
    pub buckets: u64,
}

/// An entry: key, fingerprint, position.
type Entry = (u64, u128, u64);

/// Reads the blocks for one gatherer and finds which texts have to meet, in one of `places` places. A bucket with more than
/// `heavy` texts is parted, so that every two parts meet somewhere.
///
/// # Errors
/// When a block is not one that [`Keys`] made.
pub fn meet<'a>(
    blocks: impl IntoIterator<Item = &'a [u8]>,
    places: u32,
    heavy: usize,
) -> Result<Meeting> {
    let mut entries: Vec<Entry> = Vec::new();
    for block in blocks {
        unpack(block, &mut entries)?;
    }
    entries.sort_unstable_by_key(|&(key, print, position)| (key, print & !1, position));
    let mut meeting = Meeting::default();
    let place = |name: u64| one_of(name, places.into()) as u32;
    let mut firsts: Vec<u64> = Vec::new();
    for bucket in entries.chunk_by(|a, b| a.0 == b.0).filter(|bucket| bucket.len() > 1) {
        firsts.clear();
        for same in bucket.chunk_by(|a, b| a.1 & !1 == b.1 & !1) {
            let (_, flags, first) = same[0];
            firsts.push(first);
            if flags & 1 == 1 && same.len() > 1 {
                meeting.copies.extend(same[1..].iter().map(|entry| (entry.2, first)));
                meeting.wanted.extend([first, same[1].2].map(|position| (position, place(first))));
            }
        }
        let Some(&destination) = firsts.iter().min().filter(|_| firsts.len() > 1) else { continue };
        meeting.buckets += 1;
        if firsts.len() <= heavy.max(2) {
            meeting.wanted.extend(firsts.iter().map(|&first| (first, place(destination))));
            continue;
        }
        let parts: Vec<&[u64]> = firsts.chunks(heavy.max(2) / 2).collect();
        for (i, one) in parts.iter().enumerate() {
            for (j, other) in parts.iter().enumerate().skip(i + 1) {
                let place = place(mix64(destination, ((i as u64) << 32 | j as u64) + 1));
                meeting.wanted.extend(one.iter().chain(*other).map(|&first| (first, place)));
            }
        }
    }
    meeting.wanted.sort_unstable();
    meeting.wanted.dedup();
    Ok(meeting)
}

fn unpack(block: &[u8], entries: &mut Vec<Entry>) -> Result<()> {
    let (base, rest) =
        block.split_first_chunk::<8>().filter(|(_, rest)| rest.len() % ENTRY == 0).ok_or_else(
            || Error::parameter("block", block.len(), "a block of entries, as Keys makes them"),
        )?;
    let base = u64::from_le_bytes(*base);
    let count = rest.len() / ENTRY;
    let (keys, rest) = rest.split_at(8 * count);
    let (prints, offsets) = rest.split_at(16 * count);
    let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let words = keys.as_chunks().0.iter().zip(prints.as_chunks().0);
    let all = words.zip(offsets.as_chunks().0).map(|((key, print), offset)| {
        (number(key), u128::from_le_bytes(*print), base + u64::from(u32::from_le_bytes(*offset)))
    });
    entries.extend(all);
    Ok(())
}

/// How close texts are to one of them, the centre: how similar, or how far where a distance is limited.
pub struct Likeness {
    settings: Settings,
    verifier: Verifier,
    centre: Vec<u64>,
}

impl Likeness {
    /// For texts compared as these settings say.
    ///
    /// # Errors
    /// When the settings contradict themselves.
    pub fn new(settings: &Settings) -> Result<Self> {
        let verifier = Verifier::new(settings.measure, settings.limit())?;
        Ok(Self { settings: settings.clone(), verifier, centre: Vec::new() })
    }

    /// Takes the text with which the next ones are compared.
    pub fn set_centre(&mut self, text: &str) {
        self.centre = self.settings.elements(text);
    }

    /// How close this text is to it.
    pub fn to_centre(&self, text: &str) -> f64 {
        let elements = self.settings.elements(text);
        self.verifier.value(self.verifier.overlap(&elements, &self.centre))
    }

    /// How close this text is to its copy.
    pub fn to_itself(&self, text: &str) -> f64 {
        let size = self.settings.elements(text).len();
        self.verifier.value(Overlap::identical(size as u64))
    }
}

/// Which text of a component stands for each, as they come in order of preference.
pub struct Stars {
    settings: Settings,
    verifier: Verifier,
    /// The kept texts, and the one that is compared, as records.
    records: Records,
    kept: KeptSets,
    /// Elements that may still be indexed.
    room: AtomicUsize,
    scratch: KeptScratch,
}

/// Elements of the kept texts of a component that are indexed.
const INDEXED: usize = 1 << 22;

/// Finished records.
#[derive(Default)]
struct Records(Vec<Vec<u64>>);

impl SetBodies for Records {
    fn body<'a>(&'a self, set: u32, _: &'a mut Cache<u64>) -> Result<ElementBody<'a>> {
        Ok(RecordLayout::with_bitmap().body(&self.0[set as usize]))
    }
}

impl Stars {
    /// For texts compared as these settings say.
    ///
    /// # Errors
    /// When the settings contradict themselves.
    pub fn new(settings: &Settings) -> Result<Self> {
        Ok(Self {
            settings: settings.clone(),
            verifier: Verifier::new(settings.measure, settings.limit())?,
            records: Records::default(),
            kept: KeptSets::default(),
            room: INDEXED.into(),
            scratch: KeptScratch::new(0),
        })
    }

    /// The texts that follow are of another component.
    pub fn next_component(&mut self) {
        self.records.0.clear();
        self.kept = KeptSets::default();
        self.room = INDEXED.into();
    }

    /// How many elements a text has.
    pub fn size(&self, text: &str) -> usize {
        self.settings.elements(text).len()
    }

    /// Which of the kept texts of this component stands for this one, by its number among those, and how close they
    /// are. If none does, this is the next that is kept.
    ///
    /// # Errors
    /// None that a user could do something about.
    pub fn stands_for(&mut self, text: &str) -> Result<(usize, f64)> {
        let layout = RecordLayout::with_bitmap();
        let mut record = Vec::new();
        layout.append(&self.settings.elements(text), &mut record);
        layout.finish(&mut record);
        let own = self.records.0.len() as u32;
        self.records.0.push(record);
        let Self { verifier, records, kept, room, scratch, .. } = self;
        let compared = ComparedSets { sets: &*records, verifier, room, at_hand: 0 };
        let first = kept.first_similar(own, 0, &compared, scratch)?;
        let [a, b] = [own, first.unwrap_or(own)].map(|set| layout.body(&records.0[set as usize]));
        let value = verifier.value(verifier.overlap(a.elements, b.elements));
        match first {
            Some(_) => drop(records.0.pop()),
            None => {
                kept.push(own);
                kept.settle(&compared)?;
            }
        }
        Ok((first.unwrap_or(own) as usize, value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::item::Texts;
    use crate::search::{Search, SourceItems};
    use crate::settings::Strategy;
    use crate::verify::Measure;

    /// Texts of few words, so that many resemble one another; some of them copies, two of these without a shingle, and one empty.
    fn texts() -> Vec<String> {
        let mut texts: Vec<String> = (0u64..300)
            .map(|i| {
                let word = |j: u64| match mix64(i, j) % 12 {
                    0 => format!("w{}", mix64(i, j + 100) % 50),
                    _ => format!("w{}{j}", i % 40),
                };
                (0..30).map(word).collect::<Vec<_>>().join(" ")
            })
            .collect();
        texts[7] = texts[250].clone();
        texts[299] = texts[250].clone();
        texts[100] = "?".into();
        texts[200] = "?".into();
        texts[150] = String::new();
        texts
    }

    fn found(texts: &[&str], settings: &Settings) -> Vec<(u32, u32, u64)> {
        let similar = Search::new(settings).pairs(SourceItems::new(&Texts(texts))).unwrap();
        let mut all = Vec::new();
        similar
            .each(|a, b, value| {
                all.push((a, b, value.to_bits()));
                Ok(())
            })
            .unwrap();
        all
    }

    /// The key blocks for each gatherer, of parts of a collection of this size.
    fn blocks_of_parts(
        texts: &[&str],
        size: usize,
        gatherers: usize,
        settings: &Settings,
    ) -> Vec<Vec<Vec<u8>>> {
        let mut blocks = vec![Vec::new(); gatherers];
        let mut seen = TextCounts::default();
        for (part, some) in texts.chunks(size).enumerate() {
            let mut keys = Keys::new(settings, gatherers, HashMap::new()).unwrap();
            for (at, text) in some.iter().enumerate() {
                keys.add((part as u64) << 33 | at as u64, text);
            }
            keys.finish().into_iter().for_each(|(to, block)| blocks[to as usize].push(block));
            seen.texts += keys.seen.texts;
            seen.empty += keys.seen.empty;
        }
        assert_eq!((seen.texts, seen.empty), (300, 1));
        blocks
    }

    /// Whatever parts a collection falls into and wherever texts meet, what is found is what one machine finds.
    #[test]
    fn what_meets_finds_what_one_machine_finds() {
        let texts = texts();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (measure, threshold, strategy) in [
            (Measure::Jaccard, 0.6, Strategy::Approximate),
            (Measure::Jaccard, 0.6, Strategy::Exact),
            (Measure::Bag, 0.6, Strategy::Approximate),
            (Measure::Containment, 0.6, Strategy::Exact),
            (Measure::Overlap, 15.0, Strategy::Exact),
        ] {
            let settings = Settings {
                measure,
                threshold,
                strategy: strategy.clone(),
                audit: Some(0),
                threads: 1,
                ..Settings::default()
            };
            let expected = found(&texts, &settings);
            assert!(expected.len() > 15, "{measure:?}: {}", expected.len());
            for (parts, gatherers, places, heavy) in
                [(1, 1, 1, 1000), (7, 5, 4, 1000), (3, 2, 9, 3)]
            {
                let size = texts.len().div_ceil(parts);
                let blocks = blocks_of_parts(&texts, size, gatherers, &settings);
                let number =
                    |position: u64| (position >> 33) as usize * size + (position as u32 as usize);
                let mut at_places: Vec<HashSet<u64>> = vec![HashSet::new(); places as usize];
                let mut first_of: HashMap<u64, u64> = HashMap::new();
                for blocks in &blocks {
                    let meeting = meet(blocks.iter().map(Vec::as_slice), places, heavy).unwrap();
                    for (position, place) in meeting.wanted {
                        at_places[place as usize].insert(position);
                    }
                    first_of.extend(meeting.copies);
                }
                // Texts without shingles count as one, which is too few for a large overlap.
                let without_shingles = if measure == Measure::Overlap { 0 } else { 1 };
                assert_eq!(first_of.len(), 2 + without_shingles);
                let first =
                    |position: &usize| !first_of.keys().any(|&copy| number(copy) == *position);
                let mut all = HashSet::new();
                for place in at_places {
                    let mut here: Vec<usize> = place.into_iter().map(number).collect();
                    here.sort_unstable();
                    let there: Vec<&str> = here.iter().map(|&at| texts[at]).collect();
                    let pairs = found(&there, &settings).into_iter();
                    all.extend(pairs.map(|(a, b, value)| {
                        (here[a as usize] as u32, here[b as usize] as u32, value)
                    }));
                }
                let copy = |at: &u32| !first(&(*at as usize));
                all.retain(|(a, b, _)| !(copy(a) || copy(b)));
                let without: HashSet<_> =
                    expected.iter().copied().filter(|(a, b, _)| !(copy(a) || copy(b))).collect();
                assert_eq!(all, without, "{measure:?} {strategy:?} {parts} {places}");
            }
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        assert!(meet([&[0u8; 9][..]], 3, 10).is_err());
        assert!(meet([&[][..]], 3, 10).is_err());
        assert_eq!(meet([&[0u8; 8][..]], 3, 10).unwrap(), Meeting::default());
    }
}
