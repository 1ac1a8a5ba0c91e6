//! Lines, paragraphs and sentences that are similar to an earlier one.
//!
//! The pieces of all documents are the items of a search, as texts are in `dedup`: a piece is removed if one that stays is
//! similar to it, exactly compared. A piece is numbered over all documents, and its number leads back to its document.

use std::collections::HashMap;
use std::ops::Range;

use super::Trim;
use super::facts::{ChunkFacts, Gathered};
use super::rule::{KeepPiece, NO_PLACE, Place};
use super::stretches::{Removals, Stretches};
use super::unit::PieceUnit;
use crate::cluster::{Deduplication, Keep, Linkage};
use crate::item::{Batch, ChunkNumber, Item, KeepValues, Lanes, SkipChunk, Source, TextColumn};
use crate::observe::{Stage, Traffic};
use crate::parallel::{in_lanes, in_pool};
use crate::search::{Search, SourceItems};
use crate::settings::Settings;
use crate::shingle::TextWords;
use crate::{Error, Result};

/// Finds the pieces that are removed.
pub(super) fn stretches<S: Source>(run: &Trim<'_, S>, similar: &Settings) -> Result<Stretches> {
    let threads = run.settings.threads;
    let (mut gathered, starts) = in_pool(threads, || numbered(run))?;
    let pieces = PieceSource { source: run.source, unit: run.settings.unit };
    let search = Search::new(similar).observed(run.observer);
    let found = search.dedup(SourceItems::new(&pieces), &Keep::First, Linkage::Stars)?;
    gathered.facts.stages.extend(found.stats.stages.iter().copied());
    let place = |piece: u32| {
        let document = starts.partition_point(|&start| start <= piece) as u32 - 1;
        Place { document, at: piece - starts[document as usize] }
    };
    let mut removals = Removals::new(&run.budget);
    let mut open = Vec::new();
    each_removed(run, &found, &place, |removal| {
        /// Removals that are handed on together.
        const TOGETHER: usize = 1 << 14;
        open.push(removal);
        if open.len() == TOGETHER {
            removals.push(&open, &gathered)?;
            open.clear();
        }
        Ok(())
    })?;
    removals.push(&open, &gathered)?;
    drop(found);
    in_pool(threads, || removals.into_stretches(gathered, 1, threads, &run.budget))
}

/// Calls `removed` with each place that goes: the number of the one that is kept, 1, and its own.
fn each_removed<S: Source>(
    run: &Trim<'_, S>,
    found: &Deduplication,
    place: &dyn Fn(u32) -> Place,
    mut removed: impl FnMut([u64; 3]) -> Result<()>,
) -> Result<()> {
    let members = || {
        let clusters = (0u32..).zip(found.clusters());
        clusters.filter_map(|(piece, cluster)| cluster.map(|(kept, _)| (piece, kept)))
    };
    // In how many documents the pieces of each group stand, and the last of these.
    let mut documents: HashMap<u32, (u32, u32)> = HashMap::new();
    for (piece, kept) in members().filter(|(piece, kept)| piece != kept) {
        let (count, last) = documents.entry(kept).or_insert((1, place(kept).document));
        let document = place(piece).document;
        *count += u32::from(*last != document);
        *last = document;
    }
    let least = run.settings.at_least.unwrap_or(1);
    let goes = |kept: u32| documents.get(&kept).is_some_and(|(count, _)| *count >= least);
    for (piece, kept) in members().filter(|(_, kept)| goes(*kept)) {
        match run.settings.keep {
            KeepPiece::First if piece == kept => {}
            KeepPiece::First => removed([place(kept).number(), 1, place(piece).number()])?,
            KeepPiece::Nothing => removed([NO_PLACE, 1, place(piece).number()])?,
        }
    }
    Ok(())
}

/// Goes through all documents: what there is to tell of them, and the number of the first piece of each record.
fn numbered<S: Source>(run: &Trim<'_, S>) -> Result<(Gathered, Vec<u32>)> {
    let Trim { source, settings, .. } = run;
    let clock = run.begin(Stage::Read);
    let mut gathered = Gathered::default();
    let (mut starts, mut next) = (Vec::new(), 0u32);
    in_lanes(
        settings.threads,
        run.room(),
        source.lanes(&|_| false),
        |chunk| {
            let (number, bytes) = source.place(&chunk);
            let mut batch = source.decode(&chunk, &|_| true)?;
            let mut facts = ChunkFacts::of(&mut batch)?;
            let mut counts = vec![0u32; facts.records as usize];
            let mut words = TextWords::default();
            for (index, item) in batch.items.iter().enumerate() {
                let text = batch.text(index);
                words.take(text);
                facts.words += words.count() as u64;
                for piece in settings.unit.pieces(text) {
                    counts[item.ordinal as usize] += 1;
                    facts.pieces += 1;
                    facts.blank += u64::from(text[piece].trim().is_empty());
                }
            }
            Ok((number, bytes, facts, counts))
        },
        |(_, _, _, counts)| 4 * counts.len(),
        |(number, bytes, facts, counts)| {
            run.advance(bytes)?;
            gathered.push(number, facts)?;
            for count in counts {
                starts.push(next);
                next = next.checked_add(count).ok_or_else(|| {
                    let must = "below 4,294,967,295 a run; split the input";
                    Error::parameter("the number of pieces", "more", must)
                })?;
            }
            Ok(())
        },
    )?;
    gathered.facts.stages.push(clock.stop(source.bytes()));
    Ok((gathered, starts))
}

/// The pieces of the documents of a collection, blank ones included, as texts without white space around them.
struct PieceSource<'a, S> {
    source: &'a S,
    unit: PieceUnit,
}

impl<S: Source> Source for PieceSource<'_, S> {
    type Chunk = S::Chunk;

    fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, S::Chunk> {
        self.source.lanes(skip)
    }

    fn skips(&self) -> bool {
        self.source.skips()
    }

    fn is_cheap_to_reread(&self) -> bool {
        self.source.is_cheap_to_reread()
    }

    fn keep_unpacked(&self, bytes: usize) -> bool {
        self.source.keep_unpacked(bytes)
    }

    fn place(&self, chunk: &S::Chunk) -> (ChunkNumber, u64) {
        self.source.place(chunk)
    }

    fn decode<'a>(
        &'a self,
        chunk: &'a S::Chunk,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Batch<'a>> {
        let documents = self.source.decode(chunk, &|_| true)?;
        let mut arena = String::new();
        let mut pieces = Batch { path: documents.path.clone(), ..Batch::default() };
        for (index, document) in documents.items.iter().enumerate() {
            let text = documents.text(index);
            for piece in self.unit.pieces(text) {
                let ordinal = pieces.records;
                pieces.records += 1;
                if wanted(ordinal) {
                    let at = appended(&mut arena, text[piece].trim());
                    let item = Item {
                        ordinal,
                        line: document.line,
                        id: None,
                        values: KeepValues::new(),
                        at: (at.start, at.end),
                    };
                    pieces.items.push(item);
                }
            }
        }
        pieces.texts = TextColumn::Arena(arena);
        Ok(pieces)
    }

    fn lines_before(&self, chunk: ChunkNumber) -> Result<u64> {
        self.source.lines_before(chunk)
    }

    fn traffic(&self) -> Traffic {
        self.source.traffic()
    }
}

/// Appends a text, and says where it lies.
fn appended(arena: &mut String, text: &str) -> Range<usize> {
    let start = arena.len();
    arena.push_str(text);
    start..arena.len()
}
