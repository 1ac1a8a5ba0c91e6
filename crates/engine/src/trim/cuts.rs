//! From stretches of pieces and words to bytes of texts: what is cut out of each document, and which are dropped.
//!
//! The chunks with documents that lose something are read again. A stretch of pieces is cut with all its bytes. A stretch of
//! words goes from the first byte of its first word to the last of its last; if white space or the beginning of the text
//! stands before it, the white space behind it goes too.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Trim;
use super::facts::TrimFacts;
use super::kept_places::{KeptCaches, KeptPlaces};
use super::stretches::{Stretch, Stretches};
use super::unit::PieceUnit;
use crate::Result;
use crate::error::Error;
use crate::item::{Batch, ChunkNumber, ChunkStarts, Id, Item, Source};
use crate::observe::Stage;
use crate::parallel::in_lanes;
use crate::shingle::TextWords;
use crate::spill::{Cache, Lists};

/// A stretch of a document's text that is not written.
#[derive(Debug, Clone)]
pub struct RemovedStretch {
    /// The document's position over all inputs.
    pub position: u32,
    /// Its id: its own, or its position.
    pub id: Id,
    /// The file that it is in, and its line there, from 1.
    pub file: PathBuf,
    /// See `file`.
    pub line: u64,
    /// Where the stretch begins in its text, in bytes.
    pub offset: u64,
    /// The stretch.
    pub text: String,
    /// Whether it is repeated; else it is what was left of a document that was dropped.
    pub is_repeated: bool,
    /// What is kept instead, if anything is.
    pub kept: Option<KeptPlace>,
}

/// Where a kept piece stands.
#[derive(Debug, Clone)]
pub struct KeptPlace {
    /// The document's id.
    pub id: Id,
    /// Its file, and its line there, from 1.
    pub file: PathBuf,
    /// See `file`.
    pub line: u64,
    /// Where the piece begins in its text, in bytes.
    pub offset: u64,
}

/// Takes what is removed, in input order.
pub type RemovedSink<'a> = &'a mut (dyn FnMut(RemovedStretch) -> Result<()> + Send);

/// What is cut out of which document.
#[derive(Debug)]
pub struct Cuts {
    /// What was learned of the documents.
    pub facts: TrimFacts,
    /// Stretches that were cut out.
    pub stretches: u64,
    /// Documents that lost something.
    pub cut: u64,
    /// Words and bytes that were removed, those of dropped documents included.
    pub words: u64,
    /// See `words`.
    pub bytes: u64,
    /// Documents that were dropped.
    pub dropped: u64,
    /// Documents that are written without a word, and had some.
    pub emptied: u64,
    starts: ChunkStarts,
    /// By chunk, for each document with cuts: its ordinal, how many, and where each begins and ends.
    lists: Lists<u64>,
    /// Positions of documents that are not written, in order.
    left_out: Vec<u32>,
}

impl Cuts {
    /// Whether a record is written.
    pub fn is_kept(&self, position: u64) -> bool {
        u32::try_from(position)
            .is_ok_and(|position| self.left_out.binary_search(&position).is_err())
    }

    /// What is cut out of the documents of a chunk: each with its ordinal, in order.
    ///
    /// # Errors
    /// When temporary files cannot be read.
    pub fn of_chunk(&self, number: ChunkNumber) -> Result<Vec<(u32, Vec<Range<usize>>)>> {
        let index = self.starts.index(number);
        if index >= self.lists.len() {
            return Ok(Vec::new());
        }
        let mut cache = Cache::one();
        let mut list = self.lists.get(index, &mut cache)?;
        let mut cuts = Vec::new();
        while let [ordinal, count, rest @ ..] = list {
            let (ranges, rest) = rest.split_at(2 * *count as usize);
            let ranges = ranges.as_chunks().0.iter();
            let ranges = ranges.map(|&[start, end]| start as usize..end as usize).collect();
            cuts.push((*ordinal as u32, ranges));
            list = rest;
        }
        Ok(cuts)
    }
}

/// Turns stretches into cuts.
pub(super) fn cuts<S: Source>(
    run: &Trim<'_, S>,
    found: Stretches,
    mut removed: Option<RemovedSink<'_>>,
) -> Result<Cuts> {
    let Trim { source, settings, budget, .. } = run;
    let kept = match removed {
        Some(_) => Some(KeptPlaces::find(run, &found)?),
        None => None,
    };
    let clock = run.begin(Stage::Load);
    let mut lists = Lists::new(budget.share(2), &budget.temp);
    let mut totals = Totals::default();
    let mut left_out = found.facts().skipped.clone();
    in_lanes(
        settings.threads,
        run.room(),
        source.lanes(&|number| found.is_free(number)),
        |chunk| {
            let (number, bytes) = source.place(&chunk);
            let cut = ChunkCutter { run, found: &found, kept: kept.as_ref() };
            Ok((number, bytes, cut.chunk(&chunk, number)?))
        },
        |(_, _, chunk)| chunk.bytes(),
        |(number, bytes, chunk)| {
            run.advance(bytes)?;
            let index = found.gathered.starts.index(number);
            while lists.len() < index {
                lists.push(&[])?; // chunks without cuts
            }
            if index < found.lists.len() {
                lists.push(&[&chunk.cuts])?;
            }
            totals.add(&chunk.totals);
            left_out.extend(&chunk.dropped);
            match &mut removed {
                Some(removed) => chunk.removed.into_iter().try_for_each(removed),
                None => Ok(()),
            }
        },
    )?;
    left_out.sort_unstable();
    let Stretches { gathered, .. } = found;
    let mut facts = gathered.facts;
    facts.stages.push(clock.stop(source.bytes()));
    let Totals { stretches, cut, words, bytes, dropped, emptied } = totals;
    let starts = gathered.starts;
    Ok(Cuts { facts, stretches, cut, words, bytes, dropped, emptied, starts, lists, left_out })
}

#[derive(Debug, Default)]
struct Totals {
    stretches: u64,
    cut: u64,
    words: u64,
    bytes: u64,
    dropped: u64,
    emptied: u64,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.stretches += other.stretches;
        self.cut += other.cut;
        self.words += other.words;
        self.bytes += other.bytes;
        self.dropped += other.dropped;
        self.emptied += other.emptied;
    }
}

/// The cuts of one chunk.
#[derive(Debug, Default)]
struct ChunkCuts {
    cuts: Vec<u64>,
    dropped: Vec<u32>,
    removed: Vec<RemovedStretch>,
    totals: Totals,
}

impl ChunkCuts {
    fn bytes(&self) -> usize {
        8 * self.cuts.len() + self.removed.iter().map(|it| 200 + it.text.len()).sum::<usize>()
    }
}

/// Makes the cuts of chunks.
struct ChunkCutter<'a, 'r, S> {
    run: &'a Trim<'r, S>,
    found: &'a Stretches,
    kept: Option<&'a KeptPlaces>,
}

impl<S: Source> ChunkCutter<'_, '_, S> {
    fn chunk(&self, chunk: &S::Chunk, number: ChunkNumber) -> Result<ChunkCuts> {
        let mut cuts = ChunkCuts::default();
        if self.found.is_free(number) {
            return Ok(cuts); // it could not be left out
        }
        let mut cache = Cache::one();
        let starts = &self.found.gathered.starts;
        let list = self.found.lists.get(starts.index(number), &mut cache)?;
        let start = starts.start(number).unwrap_or_default() as u32;
        let stretches: Vec<Stretch> = Stretches::of(list).collect();
        let mut documents = stretches.chunk_by(|a, b| a.document == b.document);
        let is_wanted = |ordinal: u32| {
            stretches.binary_search_by_key(&(start + ordinal), |it| it.document).is_ok()
        };
        let batch = self.run.source.decode(chunk, &is_wanted)?;
        let before = match self.kept {
            Some(_) => self.run.source.lines_before(number)?,
            None => 0,
        };
        let mut reader = TextPlaces::new(self.run.settings.unit);
        let mut caches = KeptCaches::default();
        for (index, item) in batch.items.iter().enumerate() {
            if !is_wanted(item.ordinal) {
                continue; // a chunk of a table in memory may hand out more
            }
            let stretches = documents.next().filter(|it| it[0].document == start + item.ordinal);
            let stretches = stretches.ok_or_else(|| changed(&batch))?;
            let ranges =
                reader.ranges(batch.text(index), stretches).ok_or_else(|| changed(&batch))?;
            let position = (start, item.ordinal);
            let words = reader.words(batch.text(index), stretches, &ranges);
            let is_dropped = self.count(&mut cuts, position, batch.text(index), &ranges, words);
            if let Some(kept) = self.kept {
                let document =
                    RemovedFrom { batch: &batch, index, start, line: item.line + before };
                let kept = |stretch: &Stretch| {
                    kept.get(stretch.kept, &self.found.gathered.starts, &mut caches)
                };
                document.rows(stretches, &ranges, is_dropped, kept, &mut cuts.removed)?;
            }
        }
        if documents.next().is_some() {
            return Err(changed(&batch));
        }
        Ok(cuts)
    }

    /// Enters the cuts of a document of which so many words are removed, of so many. Returns whether it is dropped.
    fn count(
        &self,
        cuts: &mut ChunkCuts,
        (start, ordinal): (u32, u32),
        text: &str,
        ranges: &[Range<usize>],
        (removed, all): (usize, usize),
    ) -> bool {
        cuts.cuts.extend([u64::from(ordinal), ranges.len() as u64]);
        cuts.cuts.extend(ranges.iter().flat_map(|it| [it.start as u64, it.end as u64]));
        let bytes: usize = ranges.iter().map(|it| it.len()).sum();
        let left = all - removed;
        let is_dropped = left < self.run.settings.min_left;
        let totals = &mut cuts.totals;
        totals.cut += 1;
        totals.stretches += ranges.len() as u64;
        totals.bytes += if is_dropped { text.len() } else { bytes } as u64;
        totals.words += if is_dropped { all } else { removed } as u64;
        if is_dropped {
            totals.dropped += 1;
            cuts.dropped.push(start + ordinal);
        } else {
            totals.emptied += u64::from(left == 0 && removed > 0);
        }
        is_dropped
    }
}

/// What is between the ranges of a text.
fn gaps(ranges: &[Range<usize>], end: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|it| it.end));
    let ends = ranges.iter().map(|it| it.start).chain([end]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|it| !it.is_empty())
}

pub(super) fn changed(batch: &Batch) -> Error {
    Error::file(&batch.path, "changed while it was being read; run again")
}

/// A document of which something is removed.
struct RemovedFrom<'a> {
    batch: &'a Batch<'a>,
    index: usize,
    start: u32,
    line: u64,
}

impl RemovedFrom<'_> {
    /// A row for every stretch, in the order of the text.
    fn rows(
        &self,
        stretches: &[Stretch],
        ranges: &[Range<usize>],
        is_dropped: bool,
        mut kept: impl FnMut(&Stretch) -> Result<Option<KeptPlace>>,
        out: &mut Vec<RemovedStretch>,
    ) -> Result<()> {
        let text = self.batch.text(self.index);
        let first = out.len();
        for (stretch, range) in stretches.iter().zip(ranges) {
            out.push(self.row(text, range.clone(), kept(stretch)?, true));
        }
        if is_dropped {
            out.extend(gaps(ranges, text.len()).map(|range| self.row(text, range, None, false)));
            out[first..].sort_by_key(|row| row.offset);
        }
        Ok(())
    }

    fn row(
        &self,
        text: &str,
        range: Range<usize>,
        kept: Option<KeptPlace>,
        is_repeated: bool,
    ) -> RemovedStretch {
        let item = &self.batch.items[self.index];
        RemovedStretch {
            position: self.start + item.ordinal,
            id: id_of(item, self.start),
            file: self.batch.file(self.index).to_path_buf(),
            line: self.line,
            offset: range.start as u64,
            text: text[range].to_owned(),
            is_repeated,
            kept,
        }
    }
}

/// A record's id: its own, or its position.
pub(super) fn id_of(item: &Item, start: u32) -> Id {
    item.id.clone().unwrap_or(Id::Int(i64::from(start + item.ordinal)))
}

/// Finds pieces and words in texts.
pub(super) struct TextPlaces {
    unit: PieceUnit,
    words: TextWords,
    places: Vec<[u32; 2]>,
}

impl TextPlaces {
    pub(super) fn new(unit: PieceUnit) -> Self {
        Self { unit, words: TextWords::default(), places: Vec::new() }
    }

    /// Where the pieces or words of a text are.
    pub(super) fn read(&mut self, text: &str) {
        let place = |it: Range<usize>| [it.start as u32, it.end as u32];
        self.places.clear();
        match self.unit {
            PieceUnit::Words(_) => {
                self.words.take_places(text);
                self.places.extend(self.words.places().iter().cloned().map(place));
            }
            unit => self.places.extend(unit.pieces(text).map(place)),
        }
    }

    /// Where a piece or word begins.
    pub(super) fn start(&self, at: u32) -> Option<u32> {
        self.places.get(at as usize).map(|place| place[0])
    }

    /// The bytes of stretches of a text; none if it has not so many words.
    fn ranges(&mut self, text: &str, stretches: &[Stretch]) -> Option<Vec<Range<usize>>> {
        self.read(text);
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(stretches.len());
        for stretch in stretches {
            let start = self.start(stretch.start)? as usize;
            let mut end = self.places.get((stretch.end as usize).checked_sub(1)?)?[1] as usize;
            if self.unit.words().is_some() {
                let before = ranges.last().map_or(0, |it| it.end);
                let is_free = start == before || text[..start].ends_with(char::is_whitespace);
                let behind = &text[end..];
                end += if is_free { behind.len() - behind.trim_start().len() } else { 0 };
            }
            ranges.push(start..end);
        }
        Some(ranges)
    }
}

impl TextPlaces {
    /// How many words of the text that was read last are removed, and how many it has.
    fn words(
        &mut self,
        text: &str,
        stretches: &[Stretch],
        ranges: &[Range<usize>],
    ) -> (usize, usize) {
        match self.unit {
            PieceUnit::Words(_) => {
                let removed = stretches.iter().map(|it| (it.end - it.start) as usize).sum();
                (removed, self.places.len())
            }
            _ => {
                let mut count = |text: &str| {
                    self.words.take(text);
                    self.words.count()
                };
                let removed = ranges.iter().map(|it| count(&text[it.clone()])).sum();
                (removed, count(text).max(removed))
            }
        }
    }
}

impl RemovedStretch {
    /// The file as a text.
    pub fn file_name(&self) -> String {
        name(&self.file)
    }
}

impl KeptPlace {
    /// The file as a text.
    pub fn file_name(&self) -> String {
        name(&self.file)
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
