//! Documents that are files of their own: every regular file of a folder and of the folders below it, or files that were
//! named one by one.
//!
//! Documents of a folder come in the order of their paths' bytes. A packed one is unpacked. What is no text is passed over and
//! counted: in a folder of people's files there is always some.

use super::{
    IdSource, ReadOptions, RecordFilter,
    batch_builder::{BatchBuilder, ReadRequest},
    encoding::TextEncoding,
    format::{Compression, by_extension},
    rereadable::{FileCursor, Rereadable},
    text::{BYTE_ORDER_MARK, Unpacker, broken},
    walk::{FolderFiles, FolderFilter, walk},
};
use crate::error::{Error, Result};
use crate::item::{Batch, Id, KeepValues, PassedOver};
use std::{
    fs::File,
    io::{ErrorKind::PermissionDenied, Read},
    ops::Range,
    path::Path,
};

/// One document.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) id: String,
    pub(super) stored: Rereadable,
}

/// Finds the documents of a folder, and what is left out. `prefix` stands before each id, with a slash.
pub(super) fn list(
    folder: &Path,
    prefix: Option<&str>,
    filter: &FolderFilter,
) -> Result<(Vec<Document>, PassedOver)> {
    let FolderFiles { files, excluded, dead_links } = walk(folder, filter)?;
    let mut left_out =
        PassedOver { excluded, dead_links: dead_links.len() as u64, ..PassedOver::default() };
    let mut documents = Vec::new();
    for file in files {
        if file.is_ignored && !filter.no_ignore {
            left_out.ignored += 1;
            continue;
        }
        let id = id(folder, &file.path, prefix)?;
        documents.push(Document { id, stored: Rereadable::new(file.path, &file.metadata) });
    }
    documents.sort_by(|a, b| a.id.cmp(&b.id));
    Ok((documents, left_out))
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

/// The id of a document that was named on its own: its path.
pub(super) fn id_of(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::file(path, "its name is not valid UTF-8, and names are ids; rename it")
    })
}

/// Runs of documents that hold about `chunk_bytes` together. One of more than `alone` bytes is a run of its own.
pub(super) fn cut(documents: &[Document], chunk_bytes: usize, alone: usize) -> Vec<Range<usize>> {
    const MOST: usize = 1 << 12;
    /// About how many times larger texts get when they are unpacked.
    const UNPACKED: u64 = 4;
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, document) in documents.iter().enumerate() {
        let own = match by_extension(&document.stored.name).1 {
            Compression::Plain => document.stored.len(),
            _ => document.stored.len().saturating_mul(UNPACKED),
        };
        if own > alone as u64 && start < at {
            runs.push(start..at);
            (start, bytes) = (at, 0);
        }
        bytes += own;
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
        let start = gather.arena.len();
        match read(&document.stored, asked.options, &mut gather.arena)? {
            Content::Text => {
                let id =
                    matches!(asked.ids, IdSource::Field(_)).then(|| document.id.as_str().into());
                let at = (start, gather.arena.len());
                gather.item(at, ordinal, 1, id.map(Id::Text), KeepValues::new());
                gather.of_file(&document.stored.name);
            }
            Content::Binary => gather.passed_over().binary += 1,
            Content::Undecodable => gather.passed_over().undecodable += 1,
            Content::Unusable(error) => gather.bad_record(error)?,
        }
    }
    Ok(gather.finish(documents.len() as u32))
}

/// What a file turned out to be.
pub(super) enum Content {
    /// A text, which was appended.
    Text,
    Binary,
    /// It is not written in UTF-8, or in the encoding that was asked for.
    Undecodable,
    /// A text that is too large, or damaged.
    Unusable(Error),
}

/// Appends a document's text, unpacked and in UTF-8.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn read(
    stored: &Rereadable,
    options: &ReadOptions,
    out: &mut String,
) -> Result<Content> {
    /// A file with a byte 0 among its first is no text, as for git and grep.
    const LOOKED_AT: u64 = 8 << 10;
    let file = match stored.open() {
        Ok(file) => file,
        Err(error) => {
            let denied = File::open(&stored.name).is_err_and(|it| it.kind() == PermissionDenied);
            return if denied { Ok(Content::Unusable(error)) } else { Err(error) };
        }
    };
    let mut at = FileCursor { file: file.clone(), offset: 0 };
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| stored.unreadable(&error);
    at.by_ref().take(LOOKED_AT).read_to_end(&mut bytes).map_err(failed)?;
    let compression = Compression::sniff(&bytes);
    let mut rest = match compression {
        Compression::Plain => Unpacker::plain(at),
        _ => {
            bytes.clear();
            at.offset = 0;
            Unpacker::new(at, u64::MAX, compression).map_err(failed)?
        }
    };
    let limit = options.max_item;
    let packed = compression != Compression::Plain;
    let mut more = |bytes: &mut Vec<u8>, count: u64| {
        let read = rest.by_ref().take(count).read_to_end(bytes);
        read.map_err(|error| broken(stored, compression, rest.taken(), &error))
    };
    if packed && let Err(error) = more(&mut bytes, LOOKED_AT) {
        return Ok(Content::Unusable(error));
    }
    let Ok(encoding) = TextEncoding::tell(&bytes, options.encoding) else {
        return Ok(Content::Binary);
    };
    if encoding.is_none_or(|it| !it.has_zeros()) && memchr::memchr(0, &bytes).is_some() {
        return Ok(Content::Binary);
    }
    if !packed && let Err(problem) = limit.check(stored.len()) {
        return Ok(Content::Unusable(stored.error(problem)));
    }
    let room = (limit.bytes as u64).saturating_sub(bytes.len() as u64).saturating_add(1);
    if let Err(error) = more(&mut bytes, room) {
        return if packed { Ok(Content::Unusable(error)) } else { Err(error) };
    }
    if let Err(problem) = limit.check(bytes.len() as u64) {
        return Ok(Content::Unusable(stored.error(problem)));
    }
    stored.count(rest.taken(), if packed { bytes.len() as u64 } else { 0 });
    stored.check(&file)?;
    let text = match encoding {
        Some(encoding) => encoding.decode(&bytes),
        None => {
            let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
            std::str::from_utf8(bytes).ok().map(|text| out.push_str(text)).map(|()| String::new())
        }
    };
    Ok(match text {
        Some(text) => {
            out.push_str(&text);
            Content::Text
        }
        None => Content::Undecodable,
    })
}
