//! From files to texts: JSONL, Parquet, CSV, TSV, plain lines, folders and standard input, compressed
//! with gzip or zstd or not.
//!
//! An [`Input`] is one collection made of one or more files. It can be scanned as often as needed:
//! [`Input::scan`] gives raw [`Chunk`]s in order, which costs little; [`Input::decode`] takes a chunk
//! apart, on many threads at once; [`Input::copy`] gives the whole records back as they came. A
//! record's position is its number over all chunks of all files, from 0; bad records count too.
//!
//! Ids: a field named by the user must be in every record. Else, where the first record of the
//! collection has a field `id`, every record must have one; where it has none, none may. Documents of
//! a folder have their paths as ids, lines of text have none.

mod answers;
mod arrow_lists;
mod batch_builder;
mod buffer;
mod chunker;
mod columns;
mod convert;
mod copy;
mod csv;
mod cut;
mod element_lists;
mod encoding;
mod fields;
mod folder;
pub(crate) mod format;
mod frames;
mod groups;
mod item;
mod item_limit;
mod json_array;
mod json_fast;
mod kept;
mod lines;
mod links;
mod load;
mod named;
mod numbers;
mod open;
mod pages;
mod parquet;
mod pieces;
mod place;
mod ranges;
mod records;
mod rereadable;
mod rows;
mod scan;
mod shape;
mod shards_of;
mod source;
mod table;
mod text;
mod thrift;
mod times;
mod vector_files;
mod walk;

pub use answers::{Answers, load_answers};
pub use columns::PositionFilter;
pub(crate) use columns::Shard;
pub(crate) use copy::records_within;
pub use copy::{CopiedRecords, RecordBody, RecordFormat, Stretches};
pub use cut::{RecordCut, without};
pub use element_lists::{load_bags, load_sets};
pub use encoding::TextEncoding;
pub use format::Format;
pub use groups::{Grouping, Groups, Ratings, Weight};
pub use item_limit::ItemLimit;
pub use links::each_link;
pub use load::{load_bits, load_directions, load_points, load_strings, load_vectors};
pub use named::{NamedItems, Names};
pub use numbers::Digits;
pub use open::files_of;
pub use parquet::hide_caught_panics;
pub use pieces::{Piece, Pieces};
pub use place::{InputCopy, MemoryTable, Place};
pub use records::load_records;
pub(crate) use rows::ALL as ALL_COLUMNS;
pub use scan::Chunk;
pub use shape::Shape;
pub use source::{AnyChunk, AnyInput};
pub use vector_files::VectorFiles;
pub use walk::FolderFilter;

use crate::Result;
use crate::error::{Advice, Problem};
use crate::item::{Batch, ChunkNumber, ChunkStarts, PassedOver};
use crate::observe::Traffic;
use crate::parallel::{LaneRoom, in_lanes};
use batch_builder::{BatchBuilder, ReadRequest};
use chunker::Ends;
use json_array::{ArrayLines, ArrayStart};
use kept::KeptRoom;
use ranges::{RangeText, Ranges};
use rereadable::Rereadable;
use scan::{Data, Mark};
use std::{
    ops::{Add, Range},
    path::PathBuf,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};
use table::ArrowTable;
use text::TextForm;

/// Says which records of a chunk are needed, by their number in it.
pub type RecordFilter<'a> = &'a dyn Fn(u32) -> bool;

/// What to read, and how.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The field that holds the text.
    pub text: String,
    /// Fields that hold the text instead, if the first record of the collection has one of them.
    pub rather: Vec<String>,
    /// What the field holds.
    pub shape: Shape,
    /// The field that holds the id.
    pub id: Option<String>,
    /// Whether positions are the ids even where there is a field `id`.
    pub positions: bool,
    /// More fields to read, which decide what is kept. Where a record has none of a name, its value is null.
    pub values: Vec<String>,
    /// The columns of a table that are read instead of a text, by name or by number from 1: what [`Groups`],
    /// [`load_answers`] and [`load_records`] ask for.
    pub columns: Vec<String>,
    /// The options by which the user names the fields. Messages name them.
    pub keys: FieldKeys,
    /// The format, where the names of the files do not tell.
    pub format: Option<Format>,
    /// Which files of a folder count.
    pub folders: FolderFilter,
    /// How the characters of texts are written, where it is not UTF-8. Parquet has its own.
    pub encoding: Option<TextEncoding>,
    /// What standard input and pipes are taken for, where the format is not given.
    pub piped: Format,
    /// What stands between the fields of CSV files, where it is not a comma (or a tab, in TSV files).
    pub delimiter: Option<String>,
    /// Whether CSV and TSV files begin with a row of names; without, columns are called 1, 2, 3 and so on.
    pub header: bool,
    /// Recognises values that are no column names. If a CSV file has one in its first row, it has no row of names, and the
    /// column of the first such value holds the text.
    pub is_value: Option<fn(&str) -> bool>,
    /// What to do with a bad record.
    pub on_error: OnError,
    /// About how much is decoded at once.
    pub chunk_bytes: usize,
    /// How large an item may be.
    pub max_item: ItemLimit,
    /// The folder for temporary files, where standard input is kept to be read again.
    pub temp: Option<PathBuf>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            text: "text".to_owned(),
            rather: Vec::new(),
            shape: Shape::Text,
            id: None,
            positions: false,
            values: Vec::new(),
            columns: Vec::new(),
            keys: FieldKeys::default(),
            format: None,
            folders: FolderFilter::default(),
            encoding: None,
            piped: Format::Json,
            delimiter: None,
            header: true,
            is_value: None,
            on_error: OnError::Stop,
            chunk_bytes: 512 << 10, // stays in a core's cache; 4 MiB took 15 % longer on short texts
            max_item: ItemLimit::default(),
            temp: None,
        }
    }
}

/// The keys of the options by which the user names the fields of a record.
#[derive(Clone, Copy, Debug)]
pub struct FieldKeys {
    /// The option for the text.
    pub text: &'static str,
    /// The option for the id.
    pub id: &'static str,
}

impl Default for FieldKeys {
    fn default() -> Self {
        Self { text: "text", id: "id" }
    }
}

impl FieldKeys {
    fn id_column(self) -> Advice {
        Advice::with(self.id, "name the id column")
    }
}

/// What to do with a bad record. A file that is broken as a whole always ends the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// End with an error that says where.
    #[default]
    Stop,
    /// Leave it out and say so in [`Batch::bad`](crate::item::Batch::bad).
    Skip,
}

/// A collection that can be scanned again and again.
#[derive(Debug)]
pub struct Input {
    options: ReadOptions,
    sources: Vec<InputFile>,
    /// The folder, if that is all that was given and its files are shards.
    folder: Option<PathBuf>,
    ids: IdSource,
    /// How many records the chunks have that were decoded, for each file.
    counts: Mutex<Vec<Vec<Option<u32>>>>,
    kept_room: KeptRoom,
}

/// One file or folder.
#[derive(Debug)]
struct InputFile {
    /// As the user named it.
    name: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text {
        stored: Rereadable,
        form: TextForm,
        syntax: Syntax,
        cuts: Cuts,
    },
    Table {
        stored: Rereadable,
        table: ArrowTable,
    },
    Folder {
        documents: Vec<folder::Document>,
        runs: Vec<Range<usize>>,
        /// Files of the folder that are not among the documents.
        left_out: PassedOver,
    },
}

/// Where a text file is cut into chunks.
#[derive(Debug)]
enum Cuts {
    /// At fixed places: plain files of lines.
    Ranges(Box<Ranges>),
    /// Where the first scan found the ends of records.
    Marks(OnceLock<Vec<Mark>>),
}

/// How a text file is laid out.
#[derive(Debug)]
enum Syntax {
    Jsonl,
    /// One array of JSON objects.
    Array(ArrayStart),
    Txt,
    Csv(csv::Header),
}

impl Syntax {
    fn ends(&self) -> Ends {
        match self {
            Self::Jsonl | Self::Txt => Ends::Lines,
            Self::Array(_) => Ends::Elements,
            Self::Csv(header) => header.delimiter.ends(),
        }
    }

    /// Bytes and lines before the first record.
    fn before(&self) -> (u64, u64) {
        match self {
            Self::Jsonl | Self::Txt => (0, 0),
            Self::Array(start) => (start.bytes, start.lines),
            Self::Csv(header) => (header.bytes as u64, header.lines),
        }
    }
}

/// Where the ids of a collection come from.
#[derive(Debug, PartialEq)]
enum IdSource {
    /// Every record has this field.
    Field(String),
    /// No record has an id.
    None,
    /// Ids do not count, even if there are some.
    Ignored,
}

impl IdSource {
    fn field_or_id(&self) -> &str {
        match self {
            Self::Field(name) => name,
            Self::None | Self::Ignored => "id",
        }
    }
}

impl Input {
    /// Opens files, folders and tables in memory; the path `-` is standard input.
    ///
    /// Everything that can be known without reading it all is checked here: that each exists and can
    /// be read, its format, its columns.
    pub fn open(places: &[impl Into<Place> + Clone], options: ReadOptions) -> Result<Self> {
        let places: Vec<Place> = places.iter().cloned().map(Into::into).collect();
        open::open(&places, options)
    }

    /// An error about a field that decides what is kept if no record has it: `has_value` says of which fields, by their
    /// number in [`ReadOptions::values`], some record has a value.
    pub fn check_values(&self, has_value: impl Fn(usize) -> bool) -> Result<()> {
        open::check_values(self, &has_value)
    }

    /// What the first file, folder or table is called.
    pub fn name(&self) -> PathBuf {
        self.sources.first().map(|source| source.name.clone()).unwrap_or_default()
    }

    /// What was found out about the files and the user should know.
    pub fn notes(&self) -> Vec<Problem> {
        let told = self.sources.iter().filter_map(|source| match &source.kind {
            Kind::Text { syntax: Syntax::Csv(header), .. } if header.is_told => {
                let csv::Delimiter::Byte(byte) = header.delimiter else { return None };
                Some((&source.name, char::from(byte)))
            }
            _ => None,
        });
        let told: Vec<_> = told.collect();
        let Some((name, delimiter)) = told.first() else { return Vec::new() };
        let others = match told.len() - 1 {
            0 => String::new(),
            others => format!(", and so of {others} other files"),
        };
        let name = name.display();
        let what =
            format!("{name}: fields are separated by {delimiter:?} and not by commas{others}");
        vec![Problem::new(what).or(Advice::with("delimiter", "name another separator"))]
    }

    /// The total size on disk of what is read: not that of documents which are too large.
    pub fn bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.bytes(self.options.max_item)).sum()
    }

    /// Keeps up to so many bytes of what the next scans unpack in memory for those after them. Returns false if there is nothing
    /// to unpack.
    pub fn keep_unpacked(&self, bytes: usize) -> bool {
        self.kept_room.set(bytes);
        self.is_compressed()
    }

    /// What was read so far.
    pub fn traffic(&self) -> Traffic {
        self.sources.iter().map(InputFile::traffic).fold(Traffic::default(), Traffic::add)
    }

    /// Whether a file must be unpacked or decoded from its start to get at what is in it.
    pub(crate) fn is_compressed(&self) -> bool {
        let is = |source: &InputFile| matches!(&source.kind, Kind::Text { form, .. } if !form.is_plain());
        self.sources.iter().any(is)
    }

    /// Whether most of the work of reading some file is unpacking it.
    pub(crate) fn is_packed(&self) -> bool {
        let is_table = |source: &InputFile| matches!(&source.kind, Kind::Table { stored, .. } if stored.is_on_disk());
        self.is_compressed() || self.sources.iter().any(is_table)
    }

    /// Takes the wanted records of a chunk apart. The lines of a file that is cut at fixed places are counted from the chunk's
    /// first, and [`lines_before`](Self::lines_before) says how many are before it.
    pub fn decode(&self, chunk: &Chunk, wanted: RecordFilter) -> Result<Batch<'static>> {
        let batch = match &chunk.data {
            Data::Unread(_) => self.decode_unread(chunk, wanted),
            _ => self.decode_read(chunk, wanted),
        }?;
        // Of a file that is cut at fixed places, what was handed out as read may be a part of a chunk.
        if self.sources[chunk.source()].ranges().is_some() && !matches!(chunk.data, Data::Unread(_))
        {
            return Ok(batch);
        }
        let mut counts = self.counts();
        let (part, number) = (chunk.source(), chunk.number.chunk as usize);
        let parts = counts.len().max(part + 1);
        counts.resize(parts, Vec::new());
        let len = counts[part].len().max(number + 1);
        counts[part].resize(len, None);
        counts[part][number] = Some(batch.records);
        Ok(batch)
    }

    fn decode_read(&self, chunk: &Chunk, wanted: RecordFilter) -> Result<Batch<'static>> {
        let source = &self.sources[chunk.source()];
        let asked = self.asked(source);
        let batch = match (&source.kind, &chunk.data) {
            (Kind::Text { .. }, Data::TooLong { bytes, line }) => {
                too_long(*bytes, *line, asked, wanted)
            }
            (Kind::Text { syntax, .. }, Data::Text { bytes, line }) => {
                decode_text(syntax, bytes, *line, asked, wanted)
            }
            (Kind::Table { stored, table }, Data::Rows(stretch)) => {
                table.decode(stored, stretch, asked, wanted)
            }
            (Kind::Folder { documents, left_out, .. }, Data::Files(run, _)) => {
                let mut batch = folder::decode(&documents[run.clone()], asked, wanted)?;
                if chunk.number.chunk == 0 {
                    batch.passed_over += *left_out;
                }
                Ok(batch)
            }
            _ => Ok(Batch::default()), // a chunk of another input
        }?;
        asked.within_limit(batch)
    }

    fn decode_unread(&self, chunk: &Chunk, wanted: RecordFilter) -> Result<Batch<'static>> {
        let source = &self.sources[chunk.source()];
        let asked = self.asked(source);
        let (Kind::Text { stored, syntax, cuts: Cuts::Ranges(ranges), .. }, Data::Unread(unread)) =
            (&source.kind, &chunk.data)
        else {
            return Ok(Batch::default()); // a chunk of another input
        };
        let decode = |text: &RangeText| {
            let batch = decode_text(syntax, &text.bytes, 1, asked, wanted)?;
            let mut batch = asked.within_limit(batch)?;
            if let Some(long) = text.long {
                let line = memchr::memchr_iter(b'\n', &text.bytes).count() as u64 + 1;
                let is_wanted = |_: u32| wanted(batch.records);
                let last = too_long(long.bytes, line, asked, &is_wanted)?;
                batch.bad.extend(last.bad);
                batch.records += 1;
            }
            Ok(batch)
        };
        let text = unread.text(chunk.number.chunk, ranges, stored)?;
        let mut batch = decode(text);
        let errors = match &mut batch {
            Ok(batch) => batch.bad.iter_mut().collect(),
            Err(error) => vec![error],
        };
        if !errors.is_empty() {
            let before = self.lines_before(chunk.number)?;
            errors.into_iter().for_each(|error| error.move_down(before));
        }
        batch
    }

    /// Lines of a chunk's file before the chunk, if the lines of its records are counted from its first.
    pub fn lines_before(&self, number: ChunkNumber) -> Result<u64> {
        match self.sources.get(number.part as usize).and_then(InputFile::ranges) {
            Some((stored, ranges)) => ranges.lines_before(number.chunk, stored),
            None => Ok(0),
        }
    }

    /// The positions at which chunks start, and their end, if all chunks were decoded.
    pub(crate) fn positions(&self) -> Option<(ChunkStarts, u64)> {
        let counts = self.counts();
        let mut starts = ChunkStarts::default();
        let mut end = 0;
        for (part, source) in (0..).zip(&self.sources) {
            let known = counts.get(part as usize).map_or(&[][..], Vec::as_slice);
            let count = source.chunks()?;
            for chunk in 0..count {
                starts.push(ChunkNumber { part, chunk }, end);
                end += u64::from((*known.get(chunk as usize)?)?);
            }
        }
        Some((starts, end))
    }

    /// The positions, counted now if chunks were not decoded before.
    pub(crate) fn counted(&self, threads: usize) -> Result<(ChunkStarts, u64)> {
        if let Some(positions) = self.positions() {
            return Ok(positions);
        }
        let count = |chunk: Chunk| self.decode(&chunk, &|_| false).map(drop);
        let room = LaneRoom::of_numbers(threads);
        in_lanes(threads, room, self.lanes(&|_| false), count, |()| 0, |()| Ok(()))?;
        Ok(self.positions().unwrap_or_default())
    }

    fn counts(&self) -> MutexGuard<'_, Vec<Vec<Option<u32>>>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The wanted records of a chunk with all their fields, as they came or in another format.
    pub fn copy(
        &self,
        chunk: &Chunk,
        wanted: RecordFilter,
        to: &RecordFormat,
    ) -> Result<CopiedRecords> {
        self.copy_cut(chunk, wanted, &[], to)
    }

    /// Like [`copy`](Self::copy), without some stretches of the texts of these records, which come by their ordinals.
    pub fn copy_cut(
        &self,
        chunk: &Chunk,
        wanted: RecordFilter,
        cuts: &[RecordCut],
        to: &RecordFormat,
    ) -> Result<CopiedRecords> {
        let source = &self.sources[chunk.source()];
        let mut copied = copy::copy(source, self.asked(source), chunk, wanted, cuts, to);
        if let Err(error) = &mut copied
            && matches!(chunk.data, Data::Unread(_))
        {
            error.move_down(self.lines_before(chunk.number)?);
        }
        copied
    }

    fn asked<'a>(&'a self, source: &'a InputFile) -> ReadRequest<'a> {
        ReadRequest { path: &source.name, options: &self.options, ids: &self.ids }
    }
}

fn decode_text(
    syntax: &Syntax,
    bytes: &[u8],
    line: u64,
    asked: ReadRequest,
    wanted: RecordFilter,
) -> Result<Batch<'static>> {
    match syntax {
        Syntax::Jsonl => lines::decode_jsonl(bytes, line, asked, wanted),
        Syntax::Array(_) => ArrayLines::new(asked, bytes, line)?.decode(bytes, asked, wanted),
        Syntax::Txt => lines::decode_txt(bytes, line, asked, wanted),
        Syntax::Csv(header) => csv::decode(header, bytes, line, asked, wanted),
    }
}

/// A record that was not held because it is too long.
fn too_long(
    bytes: u64,
    line: u64,
    asked: ReadRequest,
    wanted: RecordFilter,
) -> Result<Batch<'static>> {
    let mut gather = BatchBuilder::new(asked, 0);
    if wanted(0) {
        let limit = asked.options.max_item;
        limit.check(bytes).or_else(|problem| gather.bad(line, problem))?;
    }
    Ok(gather.finish(1))
}

impl InputFile {
    fn traffic(&self) -> Traffic {
        match &self.kind {
            Kind::Text { stored, .. } | Kind::Table { stored, .. } => stored.traffic(),
            Kind::Folder { documents, .. } => {
                let each = documents.iter().map(|document| document.stored.traffic());
                each.fold(Traffic::default(), Traffic::add)
            }
        }
    }

    /// How many chunks there are, once that is known.
    fn chunks(&self) -> Option<u32> {
        Some(match &self.kind {
            Kind::Text { cuts: Cuts::Ranges(ranges), .. } => ranges.count(),
            Kind::Text { cuts: Cuts::Marks(marks), .. } => marks.get()?.len() as u32,
            Kind::Table { table, .. } => table.stretches.len() as u32,
            Kind::Folder { runs, .. } => runs.len() as u32,
        })
    }

    fn bytes(&self, limit: ItemLimit) -> u64 {
        match &self.kind {
            Kind::Text { stored, .. } | Kind::Table { stored, .. } => stored.len(),
            Kind::Folder { documents, .. } => {
                let sizes = documents.iter().map(|document| document.stored.len());
                sizes.filter(|&size| limit.check(size).is_ok()).sum()
            }
        }
    }
}
