//! Opens the files and folders of an input, and settles where its ids come from.

use super::{
    Cuts, Format, IdSource, Input, InputFile, Kind, ReadOptions, Syntax,
    batch_builder::ReadRequest,
    buffer::BufferPool,
    chunker::{Chunker, Ends, NextChunk},
    csv,
    folder::{self, Document},
    format::{Compression, PACKING_BYTES, PARQUET, by_extension},
    frames::Frames,
    item,
    json_array::{ArrayLines, ArrayStart},
    kept::KeptRoom,
    lines,
    place::{self, MemoryTable, Place},
    ranges::Ranges,
    rereadable::{FileCursor, Rereadable, unreadable},
    shape::Shape,
    shards_of::with_shards,
    table::ArrowTable,
    text::{TextForm, TextReader},
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::PassedOver;
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

/// What standard input is called in messages.
const STDIN: &str = "<stdin>";

pub(super) fn open(places: &[Place], mut options: ReadOptions) -> Result<Input> {
    let alone = places.len() == 1;
    check_stdin(places)?;
    let shards = with_shards(places, &options)?;
    let folder = match places {
        [Place::Path(path)] if shards.len() != 1 || shards[0].name() != path => Some(path.clone()),
        _ => None,
    };
    let mut sources: Vec<InputFile> = Vec::new();
    let mut named = Vec::new();
    for place in &shards {
        let opened = match place {
            Place::Path(path) => source(path, alone, &options)?,
            Place::Table(table) => Opened::of(table_source(table)),
            Place::Copy(copy) => Opened::of(streamed(copy.stored.clone(), &options)?),
        };
        match opened {
            Opened::Document(document) => named.push(document),
            Opened::Source(source) => {
                sources.extend(named_documents(&mut named, &options));
                sources.push(*source);
            }
        }
    }
    sources.extend(named_documents(&mut named, &options));
    if let Some(name) = rather(&sources, &options)? {
        options.text = name;
    }
    let ids = ids(&sources, &options)?;
    for source in &mut sources {
        bind(source, &options, &ids)?;
    }
    let input = Input {
        options,
        sources,
        folder,
        ids,
        counts: Mutex::default(),
        kept_room: KeptRoom::default(),
    };
    if input.sources.iter().all(has_columns) {
        check_values(&input, &|_| false)?;
    }
    Ok(input)
}

/// Refuses standard input that is given twice.
pub(super) fn check_stdin(places: &[Place]) -> Result<()> {
    if places.iter().filter(|place| place.is_stdin()).count() > 1 {
        return Err(Error::file(STDIN, "is given more than once; give `-` once"));
    }
    Ok(())
}

/// A copy of what can be read only once: standard input or a pipe.
pub(super) fn copy_of(path: &Path, temp: Option<&Path>) -> Result<Option<Rereadable>> {
    if is_stdin(path) {
        return Rereadable::spool(STDIN, io::stdin().lock(), temp).map(Some);
    }
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.is_file() || metadata.is_dir() {
        return Ok(None);
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    Rereadable::spool(&path.to_string_lossy(), file, temp).map(Some)
}

/// What a path was opened as.
enum Opened {
    Source(Box<InputFile>),
    /// A file that is one document.
    Document(Document),
}

impl Opened {
    fn of(source: InputFile) -> Self {
        Self::Source(Box::new(source))
    }
}

/// Documents that were named one after the other, as one source.
fn named_documents(named: &mut Vec<Document>, options: &ReadOptions) -> Option<InputFile> {
    let name = named.first()?.stored.name.clone();
    Some(documents_source(name, std::mem::take(named), PassedOver::default(), options))
}

fn source(path: &Path, alone: bool, options: &ReadOptions) -> Result<Opened> {
    if let Some(stored) = copy_of(path, options.temp.as_deref())? {
        return streamed(stored, options).map(Opened::of);
    }
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        return folder_source(path, alone, options).map(Opened::of);
    }
    let stored = Rereadable::new(path.to_path_buf(), &metadata);
    let (known, named) = by_extension(path);
    let start = FileStart::read(&stored)?;
    let compression = start.compression(&stored, named)?;
    let format = start.format(&stored, options)?.or(known);
    let is_document = match format {
        // One text alone is similar to nothing, so its format was forgotten.
        None => !alone && named == Compression::Plain && start.may_be_document(options),
        Some(format) => format == Format::Folder,
    };
    if is_document && compression == Compression::Plain {
        let id = folder::id_of(path)?;
        return Ok(Opened::Document(Document { id, stored }));
    }
    let Some(format) = format else {
        let formats = ["jsonl", "parquet", "csv", "tsv", "txt"];
        let unknown = Error::file(path, "its name does not tell the format");
        return Err(formats
            .iter()
            .fold(unknown, |error, format| error.or(Advice::set("format", *format))));
    };
    file_source(stored, format, compression, options).map(Opened::of)
}

fn table_source(table: &Arc<MemoryTable>) -> InputFile {
    let columns = table.batches.iter().flat_map(|batch| batch.columns());
    let stored = Rereadable::in_memory(table.name.clone(), columns.map(place::bytes).sum());
    let name = stored.name.clone();
    InputFile {
        name,
        kind: Kind::Table { stored, table: ArrowTable::in_memory(Arc::clone(table)) },
    }
}

/// The file of vectors at this place, if its format or its name says that it is one.
pub(super) fn vectors_file(
    place: &Place,
    options: &ReadOptions,
) -> Result<Option<(Rereadable, Compression, Format)>> {
    let (known, compression) = by_extension(place.name());
    let Some(format) = options.format.or(known).filter(|format| format.is_vectors()) else {
        return Ok(None);
    };
    let stored = match place {
        Place::Table(_) => return Ok(None),
        Place::Copy(copy) => copy.stored.clone(),
        Place::Path(path) => match copy_of(path, options.temp.as_deref())? {
            Some(copy) => copy,
            None => vectors_on_disk(path, format)?,
        },
    };
    let compression = match format {
        Format::Npy => FileStart::read(&stored)?.compression(&stored, compression)?,
        // The first bytes of a dimension may look like those of gzip.
        _ => compression,
    };
    Ok(Some((stored, compression, format)))
}

fn vectors_on_disk(path: &Path, format: Format) -> Result<Rereadable> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        let what = format!("is a folder, not a {format} file; name the files in it");
        return Err(Error::file(path, what));
    }
    Ok(Rereadable::new(path.to_path_buf(), &metadata))
}

pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Standard input or a pipe, packed or not.
fn streamed(stored: Rereadable, options: &ReadOptions) -> Result<InputFile> {
    let start = FileStart::read(&stored)?;
    let compression = start.compression(&stored, Compression::Plain)?;
    let format = start.format(&stored, options)?.unwrap_or(options.piped);
    file_source(stored, format, compression, options)
}

/// The first and the last bytes of a file, which tell what it is.
struct FileStart {
    first: Vec<u8>,
    last: [u8; PARQUET.len()],
}

impl FileStart {
    fn read(stored: &Rereadable) -> Result<Self> {
        let file = stored.open()?;
        let mut read = Self { first: Vec::new(), last: [0; PARQUET.len()] };
        let at = |offset| FileCursor { file: Arc::clone(&file), offset };
        let mut bytes = || -> io::Result<()> {
            at(0).take(PACKING_BYTES as u64).read_to_end(&mut read.first)?;
            match stored.len().checked_sub(read.last.len() as u64) {
                Some(offset) if read.first.starts_with(PARQUET) => {
                    at(offset).read_exact(&mut read.last)
                }
                _ => Ok(()),
            }
        };
        bytes().map_err(|error| stored.unreadable(&error))?;
        Ok(read)
    }

    fn compression(&self, stored: &Rereadable, named: Compression) -> Result<Compression> {
        Compression::tell(&self.first, named).map_err(|problem| stored.error(problem))
    }

    /// Whether a file whose name tells no format may be a text as a whole, and is asked for texts.
    fn may_be_document(&self, options: &ReadOptions) -> bool {
        let is_records = self.first.trim_ascii_start().starts_with(b"{\"");
        let is_asked = options.shape == Shape::Text && options.columns.is_empty();
        is_asked && !is_records && memchr::memchr(0, &self.first).is_none()
    }

    /// The format that the user named, or Parquet if that is what the file is.
    fn format(&self, stored: &Rereadable, options: &ReadOptions) -> Result<Option<Format>> {
        let is_parquet = self.first.starts_with(PARQUET) && self.last == PARQUET;
        match options.format {
            Some(format) if is_parquet && format != Format::Parquet => {
                let error = stored.error("is a Parquet file");
                Err(error.or(Advice::leave_out("format")).or(Advice::set("format", "parquet")))
            }
            None if is_parquet => Ok(Some(Format::Parquet)),
            format => Ok(format),
        }
    }
}

/// The paths of files and folders of documents behind these places, with the files of folders of shards.
pub fn files_of(places: &[Place], options: &ReadOptions) -> Result<Vec<PathBuf>> {
    let places = with_shards(places, options)?;
    let paths = places.iter().filter(|place| !place.is_stdin()).filter_map(Place::path);
    Ok(paths.map(Path::to_path_buf).collect())
}

fn folder_source(path: &Path, alone: bool, options: &ReadOptions) -> Result<InputFile> {
    let prefix = path.to_string_lossy();
    let prefix = (!alone).then_some(&*prefix);
    let (documents, left_out) = folder::list(path, prefix, &options.folders)?;
    Ok(documents_source(path.to_path_buf(), documents, left_out, options))
}

fn documents_source(
    name: PathBuf,
    documents: Vec<Document>,
    left_out: PassedOver,
    options: &ReadOptions,
) -> InputFile {
    let mut runs = folder::cut(&documents, options.chunk_bytes, options.max_item.alone);
    if runs.is_empty() && left_out != PassedOver::default() {
        runs.push(0..0); // a chunk without records, with which it is told what was left out
    }
    InputFile { name, kind: Kind::Folder { documents, runs, left_out } }
}

fn file_source(
    stored: Rereadable,
    format: Format,
    compression: Compression,
    options: &ReadOptions,
) -> Result<InputFile> {
    match format {
        Format::Jsonl | Format::Json | Format::Txt | Format::Csv | Format::Tsv => {
            let form = TextReader::form(&stored, compression, options.encoding)?;
            text_source(stored, format, form, options)
        }
        Format::Parquet if compression == Compression::Plain => {
            let table = ArrowTable::open(&stored)?;
            Ok(InputFile { name: stored.name.clone(), kind: Kind::Table { stored, table } })
        }
        Format::Parquet => Err(stored.error(format!(
            "a Parquet file packed with {} cannot be read in parts; unpack it first",
            compression.name()
        ))),
        Format::Folder => {
            let error = stored.error("is a file, not a folder");
            Err(error.or(Advice::leave_out("format")))
        }
        Format::Npy | Format::Fvecs | Format::Bvecs | Format::Ivecs => {
            let error = stored.error(format!("is a {format} file, which holds vectors"));
            Err(error.or(Advice::set("as", "vector")).or(Advice::set("as", "bits")))
        }
    }
}

fn text_source(
    stored: Rereadable,
    format: Format,
    form: TextForm,
    options: &ReadOptions,
) -> Result<InputFile> {
    let syntax = match format {
        Format::Json => match ArrayStart::find(&stored, form)? {
            Some(start) => Syntax::Array(start),
            None => Syntax::Jsonl,
        },
        Format::Txt => Syntax::Txt,
        Format::Csv => header(&stored, form, ",", options)?,
        Format::Tsv => header(&stored, form, "\t", options)?,
        _ => Syntax::Jsonl,
    };
    let name = stored.name.clone();
    let cuts = match syntax.ends() {
        Ends::Lines => ranges(&stored, form, options)?.map(|ranges| Cuts::Ranges(ranges.into())),
        Ends::Quoted(_) | Ends::Elements => None,
    };
    let cuts = cuts.unwrap_or_else(|| Cuts::Marks(OnceLock::new()));
    let kind = Kind::Text { stored, form, syntax, cuts };
    Ok(InputFile { name, kind })
}

/// Where a file of lines is cut, if that is known before it is read.
fn ranges(stored: &Rereadable, form: TextForm, options: &ReadOptions) -> Result<Option<Ranges>> {
    /// Bytes of text that are unpacked at once, at most.
    const MOST: usize = 64 << 20;
    let ReadOptions { chunk_bytes, max_item, .. } = *options;
    let TextForm { compression, encoding: None } = form else { return Ok(None) };
    if compression == Compression::Plain {
        let start = TextReader::mark(stored, compression)?;
        return Ok(Some(Ranges::new(stored, start, chunk_bytes, max_item)));
    }
    let most = max_item.alone.min(MOST);
    let Some(frames) = Frames::find(stored, compression, chunk_bytes, most)? else {
        return Ok(None);
    };
    let start = TextReader::mark(stored, compression)?;
    Ok(Some(Ranges::of_frames(frames, start, max_item)))
}

fn header(
    stored: &Rereadable,
    form: TextForm,
    delimiter: &str,
    options: &ReadOptions,
) -> Result<Syntax> {
    let open = || TextReader::open(stored, form);
    if delimiter == "," && options.delimiter.is_none() {
        return csv::Header::tell(&stored.name, options, open).map(Syntax::Csv);
    }
    let delimiter = csv::Delimiter::new(options.delimiter.as_deref().unwrap_or(delimiter))?;
    csv::Header::read(&stored.name, delimiter, options, &mut open()?).map(Syntax::Csv)
}

/// Which of several names the text field has in the first record.
fn rather(sources: &[InputFile], options: &ReadOptions) -> Result<Option<String>> {
    for name in &options.rather {
        for source in sources {
            match first_has(source, name, options)? {
                Some(true) => return Ok(Some(name.clone())),
                Some(false) => break,
                None => {}
            }
        }
    }
    Ok(None)
}

/// The field with the ids: the one that the user named, else `id` if the first record has it.
fn ids(sources: &[InputFile], options: &ReadOptions) -> Result<IdSource> {
    if options.positions {
        return Ok(IdSource::Ignored);
    }
    if let Some(name) = &options.id {
        return Ok(IdSource::Field(name.clone()));
    }
    for source in sources {
        if let Some(found) = first_has(source, "id", options)? {
            return Ok(if found { IdSource::Field("id".to_owned()) } else { IdSource::None });
        }
    }
    Ok(IdSource::None)
}

/// Whether the first record of a source has a field of this name; `None` where it has no records.
fn first_has(source: &InputFile, name: &str, options: &ReadOptions) -> Result<Option<bool>> {
    Ok(match &source.kind {
        Kind::Folder { documents, .. } => (!documents.is_empty()).then_some(name == "id"),
        Kind::Table { table, .. } => Some(table.has(name)),
        Kind::Text { syntax: Syntax::Csv(header), .. } => {
            (!header.names.is_empty()).then(|| header.has(name))
        }
        Kind::Text { syntax: Syntax::Txt, .. } => {
            first_lines(source, options, &|data| (!data.is_empty()).then_some(false))?
        }
        Kind::Text { .. } => first_lines(source, options, &|data| lines::first_has(name, data))?,
    })
}

/// The names of the fields in the first record of a source; `None` where it has no records.
fn first_names(source: &InputFile, options: &ReadOptions) -> Result<Option<Vec<String>>> {
    Ok(match &source.kind {
        Kind::Folder { .. } | Kind::Text { syntax: Syntax::Txt, .. } => None,
        Kind::Table { table, .. } => {
            Some(table.schema().fields().iter().map(|field| field.name().clone()).collect())
        }
        Kind::Text { syntax: Syntax::Csv(header), .. } => {
            (!header.names.is_empty()).then(|| header.names.clone())
        }
        Kind::Text { .. } => first_lines(source, options, &lines::first_keys)?,
    })
}

/// What `look` finds in the first lines of a source where it finds anything.
fn first_lines<T>(
    source: &InputFile,
    options: &ReadOptions,
    look: &dyn Fn(&[u8]) -> Option<T>,
) -> Result<Option<T>> {
    let Kind::Text { syntax, stored, form, .. } = &source.kind else { return Ok(None) };
    let mut text = TextReader::open(stored, *form)?;
    text.skip(syntax.before().0)?;
    let chunk_bytes = options.chunk_bytes.min(FIRST_LOOK);
    let pool = BufferPool::default();
    let mut cutter = Chunker::new(syntax.ends(), chunk_bytes, options.max_item, pool);
    let asked = ReadRequest { path: &source.name, options, ids: &IdSource::Ignored };
    loop {
        let found = match (cutter.next(&mut text)?, syntax) {
            (NextChunk::Records(data), Syntax::Array(_)) => {
                look(&ArrayLines::new(asked, &data, 1)?.json)
            }
            (NextChunk::Records(data), _) => look(&data),
            (NextChunk::TooLong(_), _) => None,
            (NextChunk::OpenQuote(..) | NextChunk::OpenArray(..) | NextChunk::End, _) => {
                return Ok(None);
            }
        };
        if found.is_some() {
            return Ok(found);
        }
    }
}

/// An error about a field that decides what is kept if no record has it, which is a typing mistake: `has_value` says of
/// which fields some record has a value.
pub(super) fn check_values(input: &Input, has_value: &dyn Fn(usize) -> bool) -> Result<()> {
    let Input { options, sources, .. } = input;
    for (_, name) in options.values.iter().enumerate().filter(|(at, _)| !has_value(*at)) {
        let mut first = None;
        let mut is_known = false;
        for source in sources {
            is_known = is_known || first_has(source, name, options)? == Some(true);
            if first.is_none() {
                first = first_names(source, options)?.map(|names| (source, names));
            }
        }
        if let Some((source, names)) = first.filter(|_| !is_known) {
            let advice = item::choose(names.iter().map(String::as_str), "name one of these".into());
            let problem = Problem::new(format!("no record has a field `{name}` to keep by"));
            return Err(Error::file(&source.name, problem.or(advice)));
        }
    }
    Ok(())
}

/// Whether a source says which fields all its records have.
fn has_columns(source: &InputFile) -> bool {
    matches!(source.kind, Kind::Table { .. } | Kind::Text { syntax: Syntax::Csv(_), .. })
}

/// How much is read at a time to find the first record.
const FIRST_LOOK: usize = 64 << 10;

/// Finds the requested columns, if a file has columns.
fn bind(source: &mut InputFile, options: &ReadOptions, ids: &IdSource) -> Result<()> {
    let name = source.name.clone();
    let failed = |what: &str| Err(Error::file(name.clone(), what));
    match &mut source.kind {
        Kind::Text { syntax: Syntax::Csv(header), .. } => header.bind(&name, options, ids),
        Kind::Table { stored, table } => table.bind(stored, options, ids),
        Kind::Text { syntax: Syntax::Txt, .. } if !options.values.is_empty() => {
            failed("lines of text have no fields to keep by; keep first or longest")
        }
        Kind::Text { syntax: Syntax::Txt, .. } if options.id.is_some() => failed(
            "lines of text have no fields, and so no ids; give a file that has, such as .jsonl or .csv",
        ),
        Kind::Text { syntax: Syntax::Txt, stored, .. }
            if matches!(ids, IdSource::Field(_)) && stored.len() > 0 =>
        {
            failed(
                "lines of text have no ids, and this collection has; leave out the one or the other",
            )
        }
        Kind::Folder { .. } if !options.values.is_empty() => {
            failed("documents of a folder have no fields to keep by; keep first or longest")
        }
        Kind::Folder { documents, .. } if *ids == IdSource::None && !documents.is_empty() => {
            failed(
                "its documents have their paths as ids, and what comes before has no ids; leave out \
             the one or the other",
            )
        }
        _ => Ok(()),
    }
}
