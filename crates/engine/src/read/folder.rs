//! A folder: every regular file in it, and in the folders below it, is one document.
//!
//! Names that start with a dot are passed over. A link to a file stands for the file; a link to a
//! folder is not followed, so that nothing is read twice and no loop is walked. Documents come in the
//! order of their paths' bytes.

use super::{
    IdSource, RecordFilter,
    batch_builder::{BatchBuilder, ReadRequest},
    rereadable::{FileCursor, Rereadable, unreadable},
};
use crate::error::{Advice, Error, Result};
use crate::item::{Batch, Id, KeepValues};
use std::{
    fs,
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
};
use walkdir::{DirEntry, WalkDir};

/// One document.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) id: String,
    pub(super) stored: Rereadable,
}

/// Finds the documents of a folder. `prefix` stands before each id, with a slash.
pub(super) fn list(folder: &Path, prefix: Option<&str>) -> Result<Vec<Document>> {
    let mut documents = Vec::new();
    let walk = WalkDir::new(folder).into_iter();
    let shown = |entry: &DirEntry| entry.depth() == 0 || !is_hidden(entry);
    for entry in walk.filter_entry(shown) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_path_buf();
            unreadable(&path, &error.into())
        })?;
        // Follows links, so that a broken link is an error and not passed over.
        let metadata =
            fs::metadata(entry.path()).map_err(|error| unreadable(entry.path(), &error))?;
        if entry.depth() == 0 || !metadata.is_file() {
            continue;
        }
        let id = id(folder, entry.path(), prefix)?;
        documents
            .push(Document { id, stored: Rereadable::new(entry.path().to_path_buf(), &metadata) });
    }
    documents.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(documents)
}

/// The files of a folder and of the folders below it, in the order of their paths' bytes. Names that begin with `.` or `_`
/// are passed over: these are notes of those who wrote the others.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let shown = |entry: &DirEntry| {
        let name = entry.file_name().as_encoded_bytes();
        entry.depth() == 0 || !(name.starts_with(b".") || name.starts_with(b"_"))
    };
    for entry in WalkDir::new(folder).into_iter().filter_entry(shown) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_path_buf();
            unreadable(&path, &error.into())
        })?;
        let metadata =
            fs::metadata(entry.path()).map_err(|error| unreadable(entry.path(), &error))?;
        if entry.depth() > 0 && metadata.is_file() {
            files.push(entry.into_path());
        }
    }
    files.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    Ok(files)
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn id(folder: &Path, path: &Path, prefix: Option<&str>) -> Result<String> {
    let mut id = prefix.map(|prefix| prefix.trim_end_matches('/').to_owned()).unwrap_or_default();
    for part in path.strip_prefix(folder).unwrap_or(path).components() {
        let part = part.as_os_str().to_str().ok_or_else(|| {
            Error::file(path, "its name is not valid UTF-8, and names are ids; rename it")
        })?;
        if !id.is_empty() || prefix.is_some() {
            id.push('/');
        }
        id.push_str(part);
    }
    Ok(id)
}

/// Runs of documents that hold about `chunk_bytes` together. One of more than `alone` bytes is a run of its own.
pub(super) fn cut(documents: &[Document], chunk_bytes: usize, alone: usize) -> Vec<Range<usize>> {
    const MOST: usize = 1 << 12;
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, document) in documents.iter().enumerate() {
        if document.stored.len() > alone as u64 && start < at {
            runs.push(start..at);
            (start, bytes) = (at, 0);
        }
        bytes += document.stored.len();
        if bytes >= chunk_bytes as u64 || at - start + 1 == MOST {
            runs.push(start..at + 1);
            (start, bytes) = (at + 1, 0);
        }
    }
    if start < documents.len() {
        runs.push(start..documents.len());
    }
    runs
}

pub(super) fn decode(
    documents: &[Document],
    asked: ReadRequest,
    wanted: RecordFilter,
) -> Result<Batch<'static>> {
    let mut gather = BatchBuilder::new(asked, 0);
    for (document, ordinal) in documents.iter().zip(0..) {
        if !wanted(ordinal) {
            continue;
        }
        if let Err(problem) = asked.options.max_item.check(document.stored.len()) {
            gather.bad_record(document.stored.error(problem))?;
            continue;
        }
        let start = gather.arena.len();
        match read(&document.stored, &mut gather.arena)? {
            Ok(()) => {
                let id =
                    matches!(asked.ids, IdSource::Field(_)).then(|| document.id.as_str().into());
                let at = (start, gather.arena.len());
                gather.item(at, ordinal, 1, id.map(Id::Text), KeepValues::new());
                gather.of_file(&document.stored.name);
            }
            Err(error) => gather.bad_record(error)?,
        }
    }
    Ok(gather.finish(documents.len() as u32))
}

/// Appends a document's text. The outer error is a file that cannot be read, the inner one a file
/// that is not text.
pub(super) fn read(stored: &Rereadable, out: &mut String) -> Result<Result<()>> {
    let file = stored.open()?;
    let mut bytes = Vec::with_capacity(stored.len() as usize);
    let mut at = FileCursor { file: file.clone(), offset: 0 };
    at.read_to_end(&mut bytes).map_err(|error| stored.unreadable(&error))?;
    stored.count(bytes.len() as u64, 0);
    stored.check(&file)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => {
            out.push_str(text);
            Ok(())
        }
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
            let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
            let what = format!("not valid UTF-8 at byte {}", before.len() - start + 1);
            let error = Error::input(&stored.name, line, what);
            Err(error.or("convert the file to UTF-8").or("leave it out").or(Advice::SKIP))
        }
    })
}
