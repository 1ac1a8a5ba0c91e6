//! Documents on many machines: the pieces of one part of a collection, and which of those that came together are repeated.
//!
//! [`PieceBlocks`] gives each piece of a part its fingerprint, and packs it with its place for the one who gathers all pieces
//! with this fingerprint. [`repeated`] reads the blocks that came together. A place is the document's position and the byte at
//! which the piece begins, so nobody has to count pieces again, and positions may be as large as Spark's.

use super::TrimSettings;
use super::pieces::PiecePrints;
use super::rule::{NO_PLACE, Place, Rule, each_removed};
use super::unit::PieceUnit;
use crate::family::hash::mix64;
use crate::shingle::WordKeys;
use crate::{Error, Result};

/// Numbers of an entry: its fingerprint, its document's position, and pairs of smaller ones.
const NUMBERS: usize = 6;
/// Bytes of a block that is full.
const BLOCK: usize = 1 << 20;
/// Who gathers a fingerprint does not follow from the bits that a partition of a run does.
const SEED: u64 = 0x5eed_0000_791e_0001;

/// The pieces of one part of a collection, in blocks.
pub struct PieceBlocks {
    unit: PieceUnit,
    keys: WordKeys,
    prints: PiecePrints,
    open: Vec<Vec<u8>>,
    full: Vec<(u32, Vec<u8>)>,
    found: Vec<FoundPiece>,
    /// What was seen so far.
    pub seen: PieceCounts,
}

/// What there is in a part of a collection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PieceCounts {
    /// Documents.
    pub documents: u64,
    /// Bytes of their texts.
    pub bytes: u64,
    /// Their words.
    pub words: u64,
    /// Their pieces.
    pub pieces: u64,
    /// Those of them that are blank.
    pub blank: u64,
}

/// A piece of the document at hand.
struct FoundPiece {
    print: [u64; 2],
    start: u32,
    length: u32,
    words: u32,
}

impl PieceBlocks {
    /// For this many gatherers.
    ///
    /// # Errors
    /// When pieces are runs of words, or others are removed than those with the same words: their places do not follow from
    /// one fingerprint each.
    pub fn new(settings: &TrimSettings, gatherers: usize) -> Result<Self> {
        if settings.unit.words().is_some() {
            let must = "line, paragraph or sentence where documents are on many machines";
            return Err(Error::parameter("unit", settings.unit, must));
        }
        if settings.similar.is_some() {
            let must = "left out where documents are on many machines";
            return Err(Error::parameter("threshold", "given", must));
        }
        Ok(Self {
            unit: settings.unit,
            keys: WordKeys::new(settings.seed),
            prints: PiecePrints::default(),
            open: vec![Vec::new(); gatherers.max(1)],
            full: Vec::new(),
            found: Vec::new(),
            seen: PieceCounts::default(),
        })
    }

    /// Takes up a document.
    ///
    /// # Errors
    /// When it is too long for its pieces to be numbered.
    pub fn add(&mut self, position: u64, text: &str) -> Result<()> {
        let Ok(bytes) = u32::try_from(text.len()) else {
            return Err(Error::parameter("text", text.len(), "below 4 GiB; split it"));
        };
        self.prints.read(text, &self.keys);
        self.found.clear();
        let mut all = 0;
        for piece in self.unit.pieces(text) {
            let (start, length) = (piece.start as u32, piece.len() as u32);
            self.seen.pieces += 1;
            match self.prints.next(text, piece, &self.keys) {
                Some((print, words)) => {
                    let words = words as u32;
                    all += words;
                    self.found.push(FoundPiece { print, start, length, words });
                }
                None => self.seen.blank += 1,
            }
        }
        self.seen.documents += 1;
        self.seen.bytes += u64::from(bytes);
        self.seen.words += u64::from(all);
        let gatherers = self.open.len() as u128;
        for FoundPiece { print, start, length, words } in self.found.drain(..) {
            let gatherer = ((u128::from(mix64(print[0], SEED)) * gatherers) >> 64) as usize;
            let block = &mut self.open[gatherer];
            let numbers: [u64; NUMBERS] = [
                print[0],
                print[1],
                position,
                pair(start, length),
                pair(words, all),
                u64::from(bytes),
            ];
            numbers.into_iter().for_each(|number| block.extend(number.to_le_bytes()));
            if block.len() >= BLOCK {
                self.full.push((gatherer as u32, std::mem::take(block)));
            }
        }
        Ok(())
    }

    /// The blocks that are full, each with its gatherer.
    pub fn full(&mut self) -> Vec<(u32, Vec<u8>)> {
        std::mem::take(&mut self.full)
    }

    /// All blocks that are left.
    pub fn finish(&mut self) -> Vec<(u32, Vec<u8>)> {
        let mut blocks = self.full();
        let open = (0u32..).zip(&mut self.open).filter(|(_, block)| !block.is_empty());
        blocks.extend(open.map(|(gatherer, block)| (gatherer, std::mem::take(block))));
        blocks
    }
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn halves(number: u64) -> (u32, u32) {
    ((number >> 32) as u32, number as u32)
}

/// A piece that is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedPiece {
    /// Its document's position.
    pub position: u64,
    /// The byte of the text at which it begins, and how many it has.
    pub offset: u32,
    /// See `offset`.
    pub length: u32,
    /// How many words it has.
    pub words: u32,
    /// Words and bytes of its document.
    pub document: (u32, u32),
    /// Where the piece that is kept instead stands: its document's position, and its first byte.
    pub kept: Option<(u64, u32)>,
}

/// The pieces that are removed of those in these blocks, which are all with the fingerprints that are in them.
///
/// # Errors
/// When a block is not one that [`PieceBlocks`] made, or there are too many documents.
pub fn repeated<'a>(
    blocks: impl Iterator<Item = &'a [u8]>,
    settings: &TrimSettings,
) -> Result<Vec<RepeatedPiece>> {
    let mut entries: Vec<[u64; NUMBERS]> = Vec::new();
    for block in blocks {
        let (numbers, []) = block.as_chunks::<8>() else { return Err(damaged()) };
        let (some, []) = numbers.as_chunks::<NUMBERS>() else { return Err(damaged()) };
        entries.extend(some.iter().map(|entry| entry.map(u64::from_le_bytes)));
    }
    entries.sort_unstable_by_key(|entry| (entry[2], entry[3]));
    // Places have small numbers of documents, in the same order.
    let mut positions: Vec<u64> = entries.iter().map(|entry| entry[2]).collect();
    positions.dedup();
    if u32::try_from(positions.len()).is_err() {
        let must = "below 4,294,967,296 a task; take more partitions";
        return Err(Error::parameter("the number of documents", positions.len(), must));
    }
    let mut document = 0;
    let placed = entries.iter().map(|&[a, b, position, place, ..]| {
        document += usize::from(positions[document] != position);
        [a, b, Place { document: document as u32, at: halves(place).0 }.number()]
    });
    let placed: Vec<[u64; 3]> = placed.collect();
    let rule = Rule { at_least: settings.at_least, keep: settings.keep, apart: 1 };
    let mut removed = Vec::new();
    let mut next = 0;
    each_removed(rule, &placed, |kept, place| {
        while placed[next][2] != place.number() {
            next += 1;
        }
        let [_, _, position, piece, words, bytes] = entries[next];
        let ((offset, length), (words, all)) = (halves(piece), halves(words));
        let of = |kept: Place| (positions[kept.document as usize], kept.at);
        removed.push(RepeatedPiece {
            position,
            offset,
            length,
            words,
            document: (all, bytes as u32),
            kept: (kept != NO_PLACE).then(|| of(Place::of(kept))),
        });
    });
    Ok(removed)
}

fn damaged() -> Error {
    Error::parameter("blocks", "given", "those that were made of pieces")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::options::{Options, TrimOptions};
    use crate::trim::KeepPiece;

    fn settings(keep: KeepPiece, at_least: Option<u32>) -> TrimSettings {
        let unit = Some(PieceUnit::Line);
        let trim = TrimOptions { unit, keep: Some(keep), at_least, ..TrimOptions::default() };
        trim.settings(&Options::default()).unwrap().0
    }

    /// Where a removed line was, and where the kept one is: position and offset.
    type RemovedLine = (u64, usize, Option<(u64, usize)>);

    /// What is removed, by looking at all lines.
    fn by_hand(documents: &[String], keep: KeepPiece, at_least: Option<u32>) -> Vec<RemovedLine> {
        let mut classes: BTreeMap<String, Vec<(u64, usize)>> = BTreeMap::new();
        for (position, text) in (0u64..).map(|it| it << 33).zip(documents) {
            let mut offset = 0;
            for line in text.split_inclusive('\n') {
                if !line.trim().is_empty() {
                    classes.entry(line.trim().to_lowercase()).or_default().push((position, offset));
                }
                offset += line.len();
            }
        }
        let mut removed = Vec::new();
        for places in classes.into_values().filter(|places| places.len() > 1) {
            let mut documents: Vec<u64> = places.iter().map(|place| place.0).collect();
            documents.dedup();
            if at_least.is_some_and(|least| documents.len() < least as usize) {
                continue;
            }
            let goes = places.iter().skip(usize::from(keep == KeepPiece::First));
            let kept = (keep == KeepPiece::First).then_some(places[0]);
            removed.extend(goes.map(|&(position, offset)| (position, offset, kept)));
        }
        removed.sort_unstable();
        removed
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn wherever_pieces_are_gathered_the_same_go(
            documents in vec(vec("[ab]{0,2}", 0..6), 0..8),
            gatherers in 1usize..4,
            none in any::<bool>(),
            at_least in prop_oneof![Just(None), (2u32..4).prop_map(Some)],
        ) {
            let documents: Vec<String> = documents.iter().map(|lines| lines.join("\n")).collect();
            let keep = if none { KeepPiece::Nothing } else { KeepPiece::First };
            let settings = settings(keep, at_least);
            let mut blocks: Vec<(u32, Vec<u8>)> = Vec::new();
            // Two parts, which come together in any order.
            for part in [1, 0] {
                let mut made = PieceBlocks::new(&settings, gatherers).unwrap();
                for (position, text) in (0u64..).zip(&documents).filter(|it| it.0 % 2 == part) {
                    made.add(position << 33, text).unwrap();
                }
                blocks.extend(made.finish());
            }
            let mut removed = Vec::new();
            for gatherer in 0..gatherers as u32 {
                let here = blocks.iter().filter(|block| block.0 == gatherer);
                let found = repeated(here.map(|block| &block.1[..]), &settings).unwrap();
                for piece in found {
                    let text = &documents[(piece.position >> 33) as usize];
                    let (start, end) = (piece.offset as usize, (piece.offset + piece.length) as usize);
                    prop_assert_eq!(text[start..end].matches('\n').count(), usize::from(end < text.len() || text.ends_with('\n')));
                    prop_assert_eq!(piece.document, (text.split_whitespace().count() as u32, text.len() as u32));
                    prop_assert_eq!(piece.words, 1);
                    removed.push((piece.position, start, piece.kept.map(|kept| (kept.0, kept.1 as usize))));
                }
            }
            removed.sort_unstable();
            prop_assert_eq!(removed, by_hand(&documents, keep, at_least));
        }
    }

    #[test]
    fn what_cannot_be_gathered_is_refused() {
        let lines = settings(KeepPiece::First, None);
        let words = TrimSettings { unit: PieceUnit::Words(50), ..lines.clone() };
        assert!(PieceBlocks::new(&words, 1).is_err());
        assert!(repeated([&[0u8; 7][..]].into_iter(), &lines).is_err());
    }
}
