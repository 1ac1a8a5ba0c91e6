//! The columns that the kept records of a collection have in common, for outputs that need to know
//! them before the first row: CSV and Parquet.
//!
//! Most files list their columns in their first bytes. JSON lines do not: one more scan over the kept
//! records finds them, in the order in which they first appear.

use super::{
    Format, Input, InputFile, Kind, RecordFormat, Syntax,
    copy::header_row,
    csv::Delimiter,
    format::{Compression, by_extension},
    json_array::ArrayLines,
    scan::Data,
};
use crate::{Error, Result};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use serde_json::{Map, Value as Json};
use std::{
    cell::RefCell,
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Says which records are kept, by their position.
pub type PositionFilter<'a> = &'a (dyn Fn(u64) -> bool + Sync);

impl Input {
    /// The format to copy records to, when one file of the given format is to hold them all.
    pub fn record_format(&self, format: Format, kept: PositionFilter) -> Result<RecordFormat> {
        Ok(match format {
            Format::Jsonl | Format::Folder => RecordFormat::Jsonl,
            Format::Json if self.sources.iter().any(has_lines_of_json) => RecordFormat::Jsonl,
            Format::Json => RecordFormat::Array,
            Format::Txt => RecordFormat::Txt,
            Format::Npy | Format::Fvecs | Format::Bvecs | Format::Ivecs => {
                let must = "jsonl, parquet, csv, tsv or txt: records are not written as vectors";
                return Err(Error::parameter("format", format, must));
            }
            Format::Parquet => {
                // Not what pandas and others note beside the columns, which differs from file to file.
                let same = |a: &SchemaRef, b: &SchemaRef| a.fields() == b.fields();
                let schema = common(self, || json_schema(self, kept), |schema| schema, same)?;
                let schema = schema.unwrap_or_else(|| Arc::new(Schema::empty()));
                self.options.max_item.check_columns(schema.fields().len()).map_err(|problem| {
                    let path = self.sources.first().map(|it| it.name.clone()).unwrap_or_default();
                    Error::file(path, problem)
                })?;
                RecordFormat::Parquet(schema)
            }
            Format::Csv | Format::Tsv => {
                let keys = || json_keys(self, kept);
                let columns = common(self, keys, |schema| names(&schema), |a, b| a == b)?;
                let columns = columns.unwrap_or_default();
                let as_it_came = self.sources.iter().find(|source| !is_empty(source));
                let as_it_came = match as_it_came.map(|source| &source.kind) {
                    Some(Kind::Text { syntax: Syntax::Csv(header), .. }) => Some(header),
                    _ => None,
                };
                let is_told = as_it_came.is_some_and(|header| header.is_told);
                let is_chosen = self.options.delimiter.is_some() || is_told;
                let delimiter = match as_it_came.map(|header| &header.delimiter) {
                    _ if format == Format::Tsv => b'\t',
                    Some(Delimiter::Byte(own)) if *own != b'\t' || is_chosen => *own,
                    _ => b',',
                };
                let header = match as_it_came {
                    Some(header) if header.delimiter == Delimiter::Byte(delimiter) => {
                        header.row.clone()
                    }
                    _ => header_row(delimiter, &columns),
                };
                RecordFormat::Delimited { delimiter, columns, header }
            }
        })
    }
}

/// A file of the input, and how it is laid out: what is written in its place is laid out the same way.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Its path below the folder of all.
    pub(crate) path: PathBuf,
    pub(crate) format: RecordFormat,
    pub(crate) compression: Compression,
}

impl Input {
    /// Whether each file can be written as a shard of its own.
    ///
    /// # Errors
    /// When one has no path, is no file of records, or is there twice.
    pub fn check_shards(&self) -> Result<()> {
        self.shards().map(drop)
    }

    /// The files as shards.
    pub(crate) fn shards(&self) -> Result<Vec<Shard>> {
        let layouts = self.sources.iter().map(layout).collect::<Result<Vec<_>>>()?;
        let paths = self.sources.iter().map(whole_path).collect::<Result<Vec<_>>>()?;
        let mut folder = match &self.folder {
            Some(folder) => std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone()),
            None => {
                paths.first().and_then(|path| path.parent()).unwrap_or(Path::new("")).to_owned()
            }
        };
        while !paths.iter().all(|path| path.starts_with(&folder)) && folder.pop() {}
        let mut seen = HashSet::new();
        let shard = |((source, path), layout): ((&InputFile, &PathBuf), _)| {
            let below = path.strip_prefix(&folder).unwrap_or(path).to_path_buf();
            if !seen.insert(below.clone()) {
                let what = "is given twice, and each shard is written once; give it once";
                return Err(Error::file(&source.name, what));
            }
            let (format, compression) = layout;
            Ok(Shard { path: below, format, compression })
        };
        self.sources.iter().zip(&paths).zip(layouts).map(shard).collect()
    }
}

/// Where a file lies, links in the path of its folder followed.
fn whole_path(source: &InputFile) -> Result<PathBuf> {
    let no_path = || {
        let what = "has no path, so no shard can be written for it; name an output file";
        Error::file(&source.name, what)
    };
    let is_file = match &source.kind {
        Kind::Text { stored, .. } | Kind::Table { stored, .. } => stored.is_on_disk(),
        Kind::Folder { .. } => false,
    };
    let name = source.name.file_name().filter(|_| is_file).ok_or_else(no_path)?;
    let folder = match source.name.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    Ok(std::fs::canonicalize(folder).map_err(|_| no_path())?.join(name))
}

/// How the records of a file are laid out, and how they are packed.
fn layout(source: &InputFile) -> Result<(RecordFormat, Compression)> {
    Ok(match &source.kind {
        Kind::Table { table, .. } => {
            (RecordFormat::Parquet(Arc::clone(table.schema())), Compression::Plain)
        }
        Kind::Text { syntax, .. } => {
            let format = match syntax {
                Syntax::Jsonl => RecordFormat::Jsonl,
                Syntax::Array(_) => RecordFormat::Array,
                Syntax::Txt => RecordFormat::Txt,
                Syntax::Csv(header) => match header.delimiter {
                    Delimiter::Byte(delimiter) => RecordFormat::Delimited {
                        delimiter,
                        columns: header.names.clone(),
                        header: header.row.clone(),
                    },
                    _ => {
                        let what = "has delimiters of several characters, which are not written";
                        return Err(Error::file(&source.name, what).or("name an output file"));
                    }
                },
            };
            // The packing follows the name, whatever the file was.
            let named = by_extension(&source.name).1;
            (format, named)
        }
        Kind::Folder { .. } => {
            let what = "is a folder of documents, which are not written as shards";
            return Err(
                Error::file(&source.name, what).or("name an output file, such as kept.jsonl")
            );
        }
    })
}

/// What all files agree on; `None` if all are empty. The JSON files count as one.
fn common<T>(
    input: &Input,
    json: impl Fn() -> Result<T>,
    take: impl Fn(SchemaRef) -> T,
    same: impl Fn(&T, &T) -> bool,
) -> Result<Option<T>> {
    let mut first: Option<(&InputFile, T)> = None;
    let mut json_seen = false;
    for source in input.sources.iter().filter(|source| !is_empty(source)) {
        let columns = match schema(source) {
            Some(schema) => take(schema),
            None if std::mem::replace(&mut json_seen, true) => continue,
            None => json()?,
        };
        match &first {
            None => first = Some((source, columns)),
            Some((_, known)) if same(known, &columns) => {}
            Some((other, _)) => {
                return Err(Error::file(
                    source.name.clone(),
                    format!(
                        "has other columns than {}; name the output .jsonl",
                        other.name.display()
                    ),
                ));
            }
        }
    }
    Ok(first.map(|(_, columns)| columns))
}

/// The columns of every record, if the file lists them once.
fn schema(source: &InputFile) -> Option<SchemaRef> {
    let texts = |names: &[&str]| {
        let fields = names.iter().map(|name| Field::new(*name, DataType::Utf8, true));
        Some(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
    };
    match &source.kind {
        Kind::Table { table, .. } => Some(Arc::clone(table.schema())),
        Kind::Folder { .. } => texts(&["id", "text"]),
        Kind::Text { syntax: Syntax::Txt, .. } => texts(&["text"]),
        Kind::Text { syntax: Syntax::Csv(header), .. } => {
            texts(&header.names.iter().map(String::as_str).collect::<Vec<_>>())
        }
        Kind::Text { syntax: Syntax::Jsonl | Syntax::Array(_), .. } => None,
    }
}

/// Whether a file that is called `.json` has lines and no array. Then an output that is called so has lines, too.
fn has_lines_of_json(source: &InputFile) -> bool {
    let is_lines = matches!(source.kind, Kind::Text { syntax: Syntax::Jsonl, .. });
    is_lines && by_extension(&source.name).0 == Some(Format::Json)
}

fn is_empty(source: &InputFile) -> bool {
    match &source.kind {
        Kind::Text { syntax: Syntax::Csv(header), .. } => header.names.is_empty(),
        Kind::Text { stored, .. } => stored.len() == 0,
        Kind::Table { .. } => false,
        Kind::Folder { documents, .. } => documents.is_empty(),
    }
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// The kept records of the JSON files, one after the other.
fn json_records<'a>(
    input: &'a Input,
    kept: PositionFilter<'a>,
) -> Result<impl Iterator<Item = Result<Map<String, Json>>> + 'a> {
    let mut position = 0;
    Ok(input.scan().flat_map(move |chunk| {
        let mut objects = Vec::new();
        let read = chunk.and_then(|chunk| {
            let source = &input.sources[chunk.source()];
            let (true, Data::Text { bytes, line }) = (schema(source).is_none(), &chunk.data) else {
                let nothing = input.copy(&chunk, &|_| false, &RecordFormat::Jsonl)?;
                position += u64::from(nothing.records);
                return Ok(());
            };
            let mut each = |line, text| {
                if kept(position) {
                    let parsed = serde_json::from_slice(text);
                    objects.push(parsed.map_err(|error| no_row(source, line, &error)));
                }
                position += 1;
            };
            match &source.kind {
                Kind::Text { syntax: Syntax::Array(_), .. } => {
                    let array = ArrayLines::new(input.asked(source), bytes, *line)?;
                    let lines = super::lines::lines(&array.json, 1);
                    lines.for_each(|(number, text)| each(array.line(number), text));
                }
                _ => super::lines::lines(bytes, *line).for_each(|(line, text)| each(line, text)),
            }
            Ok(())
        });
        objects.extend(read.err().map(Err));
        objects
    }))
}

/// The error for a record that can be copied and not read, such as one with the number 1e999.
fn no_row(source: &InputFile, line: u64, error: &serde_json::Error) -> Error {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    let problem = format!("cannot become a row of a table: {what} at column {}", error.column());
    Error::input(&source.name, line, problem).or("fix the record").or("name the output .jsonl")
}

/// The keys of the JSON records, as they first appear.
fn json_keys(input: &Input, kept: PositionFilter) -> Result<Vec<String>> {
    let mut seen = HashSet::new();
    let mut keys = Vec::new();
    for object in json_records(input, kept)? {
        for (key, _) in object? {
            if seen.insert(key.clone()) {
                keys.push(key);
            }
        }
    }
    Ok(keys)
}

/// The columns of the JSON records with the narrowest types that hold them all.
fn json_schema(input: &Input, kept: PositionFilter) -> Result<SchemaRef> {
    let order = RefCell::new(Vec::new());
    let failed = RefCell::new(None);
    let mut seen = HashSet::new();
    let values = json_records(input, kept)?.map(|object| {
        let object = object.map_err(|error| {
            let stop = ArrowError::JsonError(String::new());
            failed.replace(Some(error));
            stop
        })?;
        for (key, value) in &object {
            if value.as_number().is_some_and(|number| number.as_u64() > Some(i64::MAX as u64)) {
                failed.replace(Some(Error::file(input.sources.first().map(|it| it.name.clone()).unwrap_or_default(), format!(
                        "field `{key}` holds {value}, beyond the whole numbers of Parquet's 64 bits; \
                         name the output .jsonl"
                    ))));
                return Err(ArrowError::JsonError(String::new()));
            }
            if seen.insert(key.clone()) {
                order.borrow_mut().push(key.clone());
            }
        }
        Ok(Json::Object(object))
    });
    let inferred = arrow_json::reader::infer_json_schema_from_iterator(values);
    if let Some(error) = failed.into_inner() {
        return Err(error);
    }
    let inferred = inferred.map_err(|error| {
        Error::file(
            input.sources.first().map(|source| source.name.clone()).unwrap_or_default(),
            format!("its records do not fit one table: {error}; name the output .jsonl"),
        )
    })?;
    let fields = order.into_inner().into_iter().filter_map(|key| {
        let field = inferred.field_with_name(&key).ok()?;
        Some(settled(field))
    });
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

/// Sorts the fields of nested objects by name, because the inference gives them in any order. What was
/// null in every record becomes text, which every reader of Parquet knows.
fn settled(field: &Field) -> Field {
    let kind = match field.data_type() {
        DataType::Struct(fields) => {
            let mut fields: Vec<Field> = fields.iter().map(|field| settled(field)).collect();
            fields.sort_by(|a, b| a.name().cmp(b.name()));
            DataType::Struct(Fields::from(fields))
        }
        DataType::List(element) => DataType::List(Arc::new(settled(element))),
        DataType::Null => DataType::Utf8,
        other => other.clone(),
    };
    field.clone().with_data_type(kind)
}
