//! Opens the files and folders of an input, and settles where its ids come from.

use super::{
    Cuts, Format, IdSource, Input, InputFile, Kind, ReadOptions, Syntax,
    buffer::BufferPool,
    chunker::{Chunker, Ends, NextChunk},
    csv, folder,
    format::{Compression, by_extension},
    frames::Frames,
    item, lines,
    place::{self, MemoryTable, Place},
    ranges::Ranges,
    rereadable::{Rereadable, unreadable},
    table::ArrowTable,
    text::TextReader,
};
use crate::error::{Advice, Error, Problem, Result};
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
    let sources = shards.iter().map(|place| match place {
        Place::Path(path) => source(path, alone, &options),
        Place::Table(table) => Ok(table_source(table)),
        Place::Copy(copy) => streamed(copy.stored.clone(), &options),
    });
    let mut sources = sources.collect::<Result<Vec<_>>>()?;
    if let Some(name) = rather(&sources, &options)? {
        options.text = name;
    }
    let ids = ids(&sources, &options)?;
    for source in &mut sources {
        bind(source, &options, &ids)?;
    }
    let input = Input { options, sources, folder, ids, counts: Mutex::default() };
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

fn source(path: &Path, alone: bool, options: &ReadOptions) -> Result<InputFile> {
    if let Some(stored) = copy_of(path, options.temp.as_deref())? {
        return streamed(stored, options);
    }
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        return folder_source(path, alone, options);
    }
    File::open(path).map_err(|error| unreadable(path, &error))?;
    let (known, compression) = by_extension(path);
    let Some(format) = options.format.or(known) else {
        let formats = ["jsonl", "parquet", "csv", "tsv", "txt"];
        let unknown = Error::file(path, "its name does not tell the format");
        return Err(formats
            .iter()
            .fold(unknown, |error, format| error.or(Advice::set("format", *format))));
    };
    let stored = Rereadable::new(path.to_path_buf(), &metadata);
    let compression = match compression {
        Compression::Plain => sniff(&stored)?,
        named => named,
    };
    file_source(stored, format, compression, options)
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
    let compression = match compression {
        // The first bytes of a dimension may look like those of gzip.
        Compression::Plain if format == Format::Npy => sniff(&stored)?,
        named => named,
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

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Standard input or a pipe, packed or not.
fn streamed(stored: Rereadable, options: &ReadOptions) -> Result<InputFile> {
    let compression = sniff(&stored)?;
    file_source(stored, options.format.unwrap_or(options.piped), compression, options)
}

fn sniff(stored: &Rereadable) -> Result<Compression> {
    let mut start = Vec::new();
    let file = stored.open()?;
    let at = super::rereadable::FileCursor { file, offset: 0 };
    at.take(4).read_to_end(&mut start).map_err(|error| stored.unreadable(&error))?;
    Ok(Compression::sniff(&start))
}

/// These places, with the files of folders of shards in place of the folders.
pub(super) fn with_shards(places: &[Place], options: &ReadOptions) -> Result<Vec<Place>> {
    let mut all = Vec::new();
    for place in places {
        match place.path().map(|path| shards_of(path, options)).transpose()?.flatten() {
            Some(shards) => all.extend(shards.into_iter().map(Place::Path)),
            None => all.push(place.clone()),
        }
    }
    Ok(all)
}

/// The paths of files and folders of documents behind these places, with the files of folders of shards.
pub fn files_of(places: &[Place], options: &ReadOptions) -> Result<Vec<PathBuf>> {
    let places = with_shards(places, options)?;
    let paths = places.iter().filter(|place| !place.is_stdin()).filter_map(Place::path);
    Ok(paths.map(Path::to_path_buf).collect())
}

/// The files of a folder if they are shards; none if each is a document, and of what is no folder.
fn shards_of(path: &Path, options: &ReadOptions) -> Result<Option<Vec<PathBuf>>> {
    if is_stdin(path) || !fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(None);
    }
    let files = match options.format {
        Some(Format::Folder) => return Ok(None),
        _ => folder::files(path)?,
    };
    if let Some(format) = options.format {
        let is_wanted = |file: &PathBuf| by_extension(file).0 == Some(format);
        let wanted: Vec<_> = files.into_iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            let what = format!("is a folder without a .{format} file");
            return Err(Error::file(path, what)
                .or("name the files")
                .or(Advice::leave_out("format")));
        }
        return Ok(Some(wanted));
    }
    let shard = files.iter().find(|file| is_data(file));
    let document = files.iter().find(|file| !is_data(file));
    match (shard, document) {
        (None, _) => Ok(None),
        (Some(_), None) => Ok(Some(files)),
        (Some(shard), Some(document)) => {
            let what = format!(
                "has files of records, such as {}, and others, such as {}",
                shown_in(path, shard),
                shown_in(path, document),
            );
            let format = by_extension(shard).0.unwrap_or(Format::Jsonl);
            Err(Error::file(path, what)
                .or(Advice::set("format", format.to_string()))
                .or(Advice::set("format", "folder")))
        }
    }
}

fn shown_in(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).display().to_string()
}

fn folder_source(path: &Path, alone: bool, options: &ReadOptions) -> Result<InputFile> {
    let prefix = path.to_string_lossy();
    let documents = folder::list(path, (!alone).then_some(&*prefix))?;
    let runs = folder::cut(&documents, options.chunk_bytes, options.max_item.alone);
    Ok(InputFile { name: path.to_path_buf(), kind: Kind::Folder { documents, runs } })
}

/// Whether a name says that the file holds many records, or is packed.
fn is_data(path: &Path) -> bool {
    let (format, compression) = by_extension(path);
    compression != Compression::Plain || format.is_some_and(|format| format != Format::Txt)
}

fn file_source(
    stored: Rereadable,
    format: Format,
    compression: Compression,
    options: &ReadOptions,
) -> Result<InputFile> {
    let syntax = match format {
        Format::Jsonl => Syntax::Jsonl,
        Format::Txt => Syntax::Txt,
        Format::Csv => header(&stored, compression, ",", options)?,
        Format::Tsv => header(&stored, compression, "\t", options)?,
        Format::Parquet if compression == Compression::Plain => {
            let table = ArrowTable::open(&stored)?;
            return Ok(InputFile {
                name: stored.name.clone(),
                kind: Kind::Table { stored, table },
            });
        }
        Format::Parquet => {
            return Err(stored.error(format!(
                "a Parquet file packed with {} cannot be read in parts; unpack it first",
                compression.name()
            )));
        }
        Format::Folder => {
            let error = stored.error("is a file, not a folder");
            return Err(error.or(Advice::leave_out("format")));
        }
        Format::Npy | Format::Fvecs | Format::Bvecs | Format::Ivecs => {
            let error = stored.error(format!("is a {format} file, which holds vectors"));
            return Err(error.or(Advice::set("as", "vector")).or(Advice::set("as", "bits")));
        }
    };
    let name = stored.name.clone();
    let cuts = match syntax.ends() {
        Ends::Lines => ranges(&stored, compression, options)?.map(Cuts::Ranges),
        Ends::Quoted(_) => None,
    };
    let cuts = cuts.unwrap_or_else(|| Cuts::Marks(OnceLock::new()));
    let kind = Kind::Text { stored, compression, syntax, cuts };
    Ok(InputFile { name, kind })
}

/// Where a file of lines is cut, if that is known before it is read.
fn ranges(
    stored: &Rereadable,
    compression: Compression,
    options: &ReadOptions,
) -> Result<Option<Ranges>> {
    /// Bytes of text that are unpacked at once, at most.
    const MOST: usize = 64 << 20;
    let ReadOptions { chunk_bytes, max_item, .. } = *options;
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
    compression: Compression,
    delimiter: &str,
    options: &ReadOptions,
) -> Result<Syntax> {
    let delimiter = csv::Delimiter::new(options.delimiter.as_deref().unwrap_or(delimiter))?;
    let mut text = TextReader::open(stored, compression)?;
    csv::Header::read(&stored.name, delimiter, options, &mut text).map(Syntax::Csv)
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
    let Kind::Text { stored, compression, .. } = &source.kind else { return Ok(None) };
    let mut text = TextReader::open(stored, *compression)?;
    let chunk_bytes = options.chunk_bytes.min(FIRST_LOOK);
    let mut cutter =
        Chunker::new(Ends::Lines, chunk_bytes, options.max_item, BufferPool::default());
    loop {
        let found = match cutter.next(&mut text)? {
            NextChunk::Records(data) => look(&data),
            NextChunk::TooLong(_) => None,
            NextChunk::OpenQuote(..) | NextChunk::End => return Ok(None),
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
