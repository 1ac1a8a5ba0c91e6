//! What a folder is: files of records, or documents.
//!
//! Names tell. A few files that are called like files of records do not make a folder of documents one of records; where
//! both may be meant, the user has to say.

use super::{
    Format, ReadOptions,
    format::{Compression, by_extension},
    open::is_stdin,
    place::Place,
    rereadable::unreadable,
    walk::{FolderFile, FolderFiles, walk},
};
use crate::error::{Advice, Error, Result};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

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

/// The files of a folder if they are shards; none if each is a document, and of what is no folder.
fn shards_of(path: &Path, options: &ReadOptions) -> Result<Option<Vec<PathBuf>>> {
    if is_stdin(path) || !fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(None);
    }
    if options.format == Some(Format::Folder) {
        return Ok(None);
    }
    let FolderFiles { mut files, dead_links, .. } = walk(path, &options.folders)?;
    files.retain(|file| !file.is_note);
    let files = match options.format {
        Some(format) => {
            files.retain(|file| by_extension(&file.path).0 == Some(format));
            if files.is_empty() {
                let what = format!("is a folder without a .{format} file");
                let error = Error::file(path, what).or("name the files");
                return Err(error.or(Advice::leave_out("format")));
            }
            files
        }
        None => match told_shards(path, files)? {
            Some(files) => files,
            None => return Ok(None),
        },
    };
    if let Some(link) = dead_links.iter().find(|link| by_extension(link).0.is_some()) {
        return Err(unreadable(link, &io::ErrorKind::NotFound.into()));
    }
    Ok(Some(files.into_iter().map(|file| file.path).collect()))
}

/// Files of a folder if they are shards. In a folder of documents, some may be called like files of records.
fn told_shards(folder: &Path, mut files: Vec<FolderFile>) -> Result<Option<Vec<FolderFile>>> {
    if !files.iter().all(|file| is_data(&file.path)) {
        files.retain(|file| !file.is_ignored);
    }
    let is_document = |file: &&FolderFile| !is_data(&file.path) || is_unknown(&file.path);
    let plain = files.iter().find(|file| !is_data(&file.path));
    let Some(document) = plain else { return Ok((!files.is_empty()).then_some(files)) };
    let is_records = |file: &&FolderFile| !is_document(file);
    let Some(shard) = files.iter().find(is_records) else { return Ok(None) };
    // JSON may be anything that is not packed.
    let is_sure =
        |file: &&FolderFile| by_extension(&file.path) != (Some(Format::Json), Compression::Plain);
    let sure = files.iter().filter(is_records).filter(is_sure).count();
    let bytes = |files: &mut dyn Iterator<Item = &FolderFile>| -> u64 {
        files.map(|file| file.metadata.len()).sum()
    };
    let of_records = bytes(&mut files.iter().filter(is_records));
    if sure * 10 <= files.len() && of_records <= bytes(&mut files.iter()) / 2 {
        return Ok(None);
    }
    let what = format!(
        "has files of records, such as {}, and others, such as {}",
        shown_in(folder, &shard.path),
        shown_in(folder, &document.path),
    );
    let format = by_extension(&shard.path).0.unwrap_or(Format::Jsonl);
    Err(Error::file(folder, what)
        .or(Advice::set("format", format.to_string()))
        .or(Advice::set("format", "folder")))
}

/// Whether the name of a packed file does not say what is in it.
fn is_unknown(path: &Path) -> bool {
    by_extension(path).0.is_none_or(|format| format == Format::Txt)
}

fn shown_in(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).display().to_string()
}

/// Whether a name says that the file holds many records, or is packed.
fn is_data(path: &Path) -> bool {
    let (format, compression) = by_extension(path);
    compression != Compression::Plain || format.is_some_and(|format| format != Format::Txt)
}
