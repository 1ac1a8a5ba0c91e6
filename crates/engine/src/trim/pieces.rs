//! Lines, paragraphs and sentences that stand more than once.
//!
//! Every piece gets a fingerprint of its words in lower case; one without a word, of its bytes without the white space
//! around them. Blank pieces are never removed, and get none. Fingerprints go to partitions with their places, in input
//! order, so the first with a fingerprint is the first in the input.

use std::ops::Range;

use super::Trim;
use super::facts::{ChunkFacts, Gathered};
use super::rule::{Place, each_removed};
use super::stretches::{Removals, Stretches};
use super::unit::PieceUnit;
use crate::Result;
use crate::candidates::identical::fingerprint;
use crate::item::{Batch, Source};
use crate::observe::Stage;
use crate::parallel::in_lanes;
use crate::shingle::{TextWords, WordKeys};
use crate::spill::{Block, Partitions, Plain as _};

/// Partitions of fingerprints, by their first bits.
pub(super) const PARTITIONS: usize = 1024;

/// In which partition a fingerprint is.
pub(super) fn partition(first: u64) -> usize {
    (first >> (64 - PARTITIONS.ilog2())) as usize
}

/// Finds the pieces that are removed.
pub(super) fn stretches<S: Source>(run: &Trim<'_, S>) -> Result<Stretches> {
    let Trim { source, settings, budget, .. } = run;
    let clock = run.begin(Stage::Read);
    let mut prints: Partitions<3> = Partitions::new(PARTITIONS, budget.share(6), &budget.temp);
    let mut gathered = Gathered::default();
    let mut watch = budget.watch(source.bytes(), 6);
    in_lanes(
        settings.threads,
        run.room(),
        source.lanes(&|_| false),
        |chunk| {
            let (number, bytes) = source.place(&chunk);
            let mut batch = source.decode(&chunk, &|_| true)?;
            let (facts, entries) = entries(&mut batch, settings.unit, &run.keys)?;
            let entries = entries.iter().map(|entry| (partition(entry[0]), *entry));
            Ok((number, bytes, facts, Block::new(PARTITIONS, entries)))
        },
        |(_, _, _, block)| block.bytes(),
        |(number, bytes, facts, block)| {
            run.advance(bytes)?;
            let start = gathered.push(number, facts)?;
            prints.push(block.at(start))?;
            watch.done(bytes, || prints.bytes())
        },
    )?;
    gathered.facts.stages.push(clock.stop(source.bytes()));
    let mut removals = Removals::new(budget);
    prints.each(
        settings.threads,
        |_, entries, found: &mut Vec<[u64; 3]>| {
            each_removed(run.rule, &entries, |kept, place| found.push([kept, 1, place.number()]));
            Ok(())
        },
        |found| removals.push(&found, &gathered),
    )?;
    drop(prints);
    removals.into_stretches(gathered, 1, settings.threads, budget)
}

/// The fingerprints of all pieces of a batch, and their places: the record's ordinal and the piece's number.
fn entries(
    batch: &mut Batch,
    unit: PieceUnit,
    keys: &WordKeys,
) -> Result<(ChunkFacts, Vec<[u64; 3]>)> {
    let mut facts = ChunkFacts::of(batch)?;
    let mut entries = Vec::new();
    let mut prints = PiecePrints::default();
    for (index, item) in batch.items.iter().enumerate() {
        let text = batch.text(index);
        prints.read(text, keys);
        for (at, piece) in (0..).zip(unit.pieces(text)) {
            facts.pieces += 1;
            match prints.next(text, piece, keys) {
                Some(([a, b], words)) => {
                    facts.words += words as u64;
                    entries.push([a, b, Place { document: item.ordinal, at }.number()]);
                }
                None => facts.blank += 1,
            }
        }
    }
    Ok((facts, entries))
}

/// Makes fingerprints of pieces, and keeps its buffers.
#[derive(Default)]
pub(super) struct PiecePrints {
    /// The words of the text at hand, and their hashes.
    words: TextWords,
    hashes: Vec<[u64; 2]>,
    /// The first word that is behind all pieces so far.
    at: usize,
    bytes: Vec<u8>,
}

impl PiecePrints {
    /// Takes up a text. All its words at once take less time than piece by piece.
    pub(super) fn read(&mut self, text: &str, keys: &WordKeys) {
        self.words.take_places(text);
        self.words.both(keys, &mut self.hashes);
        self.at = 0;
    }

    /// The fingerprint of the next piece of the text, and how many words it has; none if it is blank.
    pub(super) fn next(
        &mut self,
        text: &str,
        piece: Range<usize>,
        keys: &WordKeys,
    ) -> Option<([u64; 2], usize)> {
        let rest = self.words.places()[self.at..].iter();
        let count = rest.take_while(|place| place.start < piece.end).count();
        let words = &self.hashes[self.at..self.at + count];
        self.at += count;
        self.bytes.clear();
        if words.is_empty() {
            let bare = text[piece].trim();
            if bare.is_empty() {
                return None;
            }
            self.bytes.push(0); // words take a multiple of 16 bytes
            self.bytes.extend_from_slice(bare.as_bytes());
            if self.bytes.len().is_multiple_of(16) {
                self.bytes.push(0);
            }
        } else {
            u64::write(words.as_flattened(), &mut self.bytes);
        }
        let print = fingerprint(keys.first(), &self.bytes);
        Some(([print as u64, (print >> 64) as u64], count))
    }
}
