//! From stretches of pieces and words to bytes of texts: what is cut out of each document, and which are dropped.
//!
//! The chunks with documents that lose something are read again. A stretch of pieces is cut with all its bytes. A stretch of
//! words goes from the first byte of its first word to the last of its last; if white space or the beginning of the text
//! stands before it, the white space behind it goes too.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Trim;
use super::facts::TrimFacts;
use super::rule::{NO_PLACE, Place};
use super::stretches::{Stretch, Stretches};
use super::unit::PieceUnit;
use crate::Result;
use crate::error::Error;
use crate::item::{Batch, ChunkNumber, Id, Item, Source};
use crate::observe::Stage;
use crate::parallel::in_lanes;
use crate::shingle::WordReader;
use crate::spill::{Block, Cache, Lists, Partitions};

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
    starts: crate::item::ChunkStarts,
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

#[cfg(feature = "files")]
impl crate::write::TextCuts for Cuts {
    fn of_chunk(&self, number: ChunkNumber) -> Result<Vec<crate::read::RecordCut>> {
        let cuts = Self::of_chunk(self, number)?.into_iter();
        Ok(cuts.map(|(ordinal, ranges)| crate::read::RecordCut { ordinal, ranges }).collect())
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
            let is_dropped = self.count(
                &mut cuts,
                &mut reader,
                (start, item.ordinal),
                batch.text(index),
                &ranges,
            );
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

    /// Enters the cuts of a document. Returns whether it is dropped.
    fn count(
        &self,
        cuts: &mut ChunkCuts,
        reader: &mut TextPlaces,
        (start, ordinal): (u32, u32),
        text: &str,
        ranges: &[Range<usize>],
    ) -> bool {
        cuts.cuts.extend([u64::from(ordinal), ranges.len() as u64]);
        cuts.cuts.extend(ranges.iter().flat_map(|it| [it.start as u64, it.end as u64]));
        let removed: usize = ranges.iter().map(|it| it.len()).sum();
        let words: usize = ranges.iter().map(|it| reader.reader.count(&text[it.clone()])).sum();
        let mut left = String::with_capacity(text.len() - removed);
        gaps(ranges, text.len()).for_each(|it| left.push_str(&text[it]));
        let left = reader.reader.count(&left);
        let is_dropped = left < self.run.settings.min_left;
        let totals = &mut cuts.totals;
        totals.cut += 1;
        totals.stretches += ranges.len() as u64;
        totals.bytes += if is_dropped { text.len() } else { removed } as u64;
        totals.words += (words + if is_dropped { left } else { 0 }) as u64;
        if is_dropped {
            totals.dropped += 1;
            cuts.dropped.push(start + ordinal);
        } else {
            totals.emptied += u64::from(left == 0 && words > 0);
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

fn changed(batch: &Batch) -> Error {
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
            file: self.batch.path.clone(),
            line: self.line,
            offset: range.start as u64,
            text: text[range].to_owned(),
            is_repeated,
            kept,
        }
    }
}

/// A record's id: its own, or its position.
fn id_of(item: &Item, start: u32) -> Id {
    item.id.clone().unwrap_or(Id::Int(i64::from(start + item.ordinal)))
}

/// Finds pieces and words in texts.
struct TextPlaces {
    unit: PieceUnit,
    reader: WordReader,
    places: Vec<[u32; 2]>,
}

impl TextPlaces {
    fn new(unit: PieceUnit) -> Self {
        Self { unit, reader: WordReader::default(), places: Vec::new() }
    }

    /// Where the pieces or words of a text are.
    fn read(&mut self, text: &str) {
        match self.unit {
            PieceUnit::Words(_) => self.reader.places(text, &mut self.places),
            unit => {
                self.places.clear();
                let pieces = unit.pieces(text).map(|it| [it.start as u32, it.end as u32]);
                self.places.extend(pieces);
            }
        }
    }

    /// Where a piece or word begins.
    fn start(&self, at: u32) -> Option<u32> {
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

/// Where the kept places are, by the chunk of their document.
struct KeptPlaces {
    /// Documents and numbers in them, in order.
    places: Lists<u64>,
    /// Where each of them begins in its text, in bytes.
    offsets: Lists<u64>,
    /// The documents in order: position, line, and where its id ends among `ids`.
    documents: Lists<u64>,
    ids: Lists<u8>,
    files: BTreeMap<u32, PathBuf>,
}

/// The lists that were read last.
#[derive(Default)]
struct KeptCaches {
    numbers: [Cache<u64>; 3],
    ids: Cache<u8>,
}

impl KeptPlaces {
    /// Reads the documents with kept places.
    fn find<S: Source>(run: &Trim<'_, S>, found: &Stretches) -> Result<Self> {
        let Trim { source, settings, budget, .. } = run;
        let places = kept_by_chunk(run, found)?;
        let list = || Lists::new(budget.share(1), &budget.temp);
        let (mut offsets, mut documents) = (list(), list());
        let mut ids: Lists<u8> = Lists::new(budget.share(1), &budget.temp);
        let mut files = BTreeMap::new();
        let starts = &found.gathered.starts;
        let is_free = |number: ChunkNumber| {
            let index = starts.index(number);
            index >= places.len() || places.length(index) == 0
        };
        let _clock = run.begin(Stage::Load);
        in_lanes(
            settings.threads,
            run.room(),
            source.lanes(&is_free),
            |chunk| {
                let (number, bytes) = source.place(&chunk);
                if is_free(number) {
                    return Ok((number, bytes, PathBuf::new(), KeptChunk::default()));
                }
                let mut cache = Cache::one();
                let places = places.get(starts.index(number), &mut cache)?;
                let start = starts.start(number).unwrap_or_default() as u32;
                let kept = KeptChunk::read(run, (&chunk, number, start), places)?;
                Ok((number, bytes, kept.file.clone(), kept))
            },
            |(_, _, _, kept)| 8 * (kept.offsets.len() + kept.documents.len()) + kept.ids.len(),
            |(number, bytes, file, kept)| {
                run.advance(bytes)?;
                let index = starts.index(number);
                while offsets.len() < index {
                    offsets.push(&[])?;
                    documents.push(&[])?;
                    ids.push(&[])?;
                }
                if index < places.len() {
                    files.insert(number.part, file);
                    offsets.push(&[&kept.offsets])?;
                    documents.push(&[&kept.documents])?;
                    ids.push(&[&kept.ids])?;
                }
                Ok(())
            },
        )?;
        Ok(Self { places, offsets, documents, ids, files })
    }

    /// Where a kept place is.
    fn get(
        &self,
        kept: u64,
        starts: &crate::item::ChunkStarts,
        caches: &mut KeptCaches,
    ) -> Result<Option<KeptPlace>> {
        if kept == NO_PLACE {
            return Ok(None);
        }
        let place = Place::of(kept);
        let chunk = starts.chunk_of(u64::from(place.document));
        let index = starts.index(chunk);
        let [places, offsets, documents] = &mut caches.numbers;
        let places = self.places.get(index, places)?;
        let Ok(at) = places.binary_search(&kept.rotate_left(32)) else { return Ok(None) };
        let offset = self.offsets.get(index, offsets)?.get(at).copied().unwrap_or_default();
        let documents = self.documents.get(index, documents)?.as_chunks::<3>().0;
        let at = documents.partition_point(|it| it[0] < u64::from(place.document));
        let Some(&[_, line, end]) = documents.get(at) else { return Ok(None) };
        let first = at.checked_sub(1).map_or(0, |before| documents[before][2]);
        let id = self.ids.get(index, &mut caches.ids)?.get(first as usize..end as usize);
        let file = self.files.get(&chunk.part).cloned().unwrap_or_default();
        Ok(Some(KeptPlace { id: id_from(id.unwrap_or_default()), file, line, offset }))
    }
}

/// The places that are kept, each once and in order, by the chunk of their document.
fn kept_by_chunk<S: Source>(run: &Trim<'_, S>, found: &Stretches) -> Result<Lists<u64>> {
    const PARTITIONS: usize = 256;
    let gathered = &found.gathered;
    let mut all: Partitions<1> = Partitions::new(PARTITIONS, run.budget.share(2), &run.budget.temp);
    let mut cache = Cache::one();
    for index in 0..found.lists.len() {
        let list = found.lists.get(index, &mut cache)?;
        let kept = Stretches::of(list).map(|it| it.kept).filter(|&kept| kept != NO_PLACE);
        let entries =
            kept.map(|kept| (gathered.partition(Place::of(kept).document, PARTITIONS), [kept]));
        all.push(Block::new(PARTITIONS, entries))?;
    }
    let mut lists = Lists::new(run.budget.share(1), &run.budget.temp);
    let mut open: Vec<u64> = Vec::new();
    let starts = gathered.starts.parts().0;
    all.each(
        run.settings.threads,
        |_, mut entries, found: &mut Vec<u64>| {
            // By document first.
            entries.iter_mut().for_each(|entry| entry[0] = entry[0].rotate_left(32));
            entries.sort_unstable();
            entries.dedup();
            found.extend(entries.as_flattened());
            Ok(())
        },
        |found| {
            for place in found {
                while starts.get(lists.len() + 1).is_some_and(|&next| next <= place >> 32) {
                    lists.push(&[&open])?;
                    open.clear();
                }
                open.push(place);
            }
            Ok(())
        },
    )?;
    while lists.len() < starts.len() {
        lists.push(&[&open])?;
        open.clear();
    }
    Ok(lists)
}

/// What is told of the kept places of a chunk.
#[derive(Default)]
struct KeptChunk {
    file: PathBuf,
    offsets: Vec<u64>,
    documents: Vec<u64>,
    ids: Vec<u8>,
}

impl KeptChunk {
    fn read<S: Source>(
        run: &Trim<'_, S>,
        (chunk, number, start): (&S::Chunk, ChunkNumber, u32),
        places: &[u64],
    ) -> Result<Self> {
        let document = |place: &u64| (place >> 32) as u32;
        let is_wanted =
            |ordinal: u32| places.binary_search_by_key(&(start + ordinal), document).is_ok();
        let batch = run.source.decode(chunk, &is_wanted)?;
        let before = run.source.lines_before(number)?;
        let mut kept = Self { file: batch.path.clone(), ..Self::default() };
        let mut reader = TextPlaces::new(run.settings.unit);
        for (index, item) in batch.items.iter().enumerate().filter(|it| is_wanted(it.1.ordinal)) {
            let position = start + item.ordinal;
            let first = places.partition_point(|place| document(place) < position);
            reader.read(batch.text(index));
            for place in places[first..].iter().take_while(|place| document(place) == position) {
                let offset = reader.start(*place as u32).ok_or_else(|| changed(&batch))?;
                kept.offsets.push(offset.into());
            }
            push_id(&id_of(item, start), &mut kept.ids);
            kept.documents.extend([position.into(), item.line + before, kept.ids.len() as u64]);
        }
        match kept.offsets.len() == places.len() {
            true => Ok(kept),
            false => Err(changed(&batch)),
        }
    }
}

/// Appends an id as bytes: which kind it is, and what.
fn push_id(id: &Id, out: &mut Vec<u8>) {
    match id {
        Id::Int(number) => {
            out.push(0);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Id::Text(text) => {
            out.push(1);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// What [`push_id`] appended.
fn id_from(bytes: &[u8]) -> Id {
    match bytes {
        [0, number @ ..] => {
            Id::Int(number.first_chunk().map_or(0, |number| i64::from_le_bytes(*number)))
        }
        [_, text @ ..] => Id::Text(String::from_utf8_lossy(text).into()),
        [] => Id::Int(0),
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
