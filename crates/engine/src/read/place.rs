//! Where items come from: a file, a folder, standard input, or a table in memory.

use super::{
    FolderFilter, folder, open,
    rereadable::{Rereadable, unreadable},
};
use crate::error::{Error, Result};
use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray};
use arrow_schema::{DataType, SchemaRef};
use std::{
    ffi::OsStr,
    fs,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where items come from.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file or a folder; `-` is standard input.
    Path(PathBuf),
    /// Columns in memory.
    Table(Arc<MemoryTable>),
    /// What was read once, and can be read again.
    Copy(InputCopy),
}

/// A copy of what standard input or a pipe gave, in a temporary file that goes with the last who has it.
#[derive(Clone, Debug)]
pub struct InputCopy {
    pub(super) stored: Rereadable,
}

/// A table in memory. Its columns are looked at where they lie.
#[derive(Debug)]
pub struct MemoryTable {
    /// What to call it in messages.
    pub name: PathBuf,
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
}

impl Place {
    /// The path, or what a table is called.
    pub fn name(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Table(table) => &table.name,
            Self::Copy(copy) => &copy.stored.name,
        }
    }

    /// The path, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Table(_) | Self::Copy(_) => None,
        }
    }

    /// The files and folders that a list names: one per line, or each with a byte 0 behind it. The list `-` is standard
    /// input.
    ///
    /// # Errors
    /// When the list cannot be read or is empty.
    pub fn listed(list: &Path) -> Result<Vec<Self>> {
        let is_stdin = list.as_os_str() == "-";
        let read = if is_stdin {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            fs::read(list)
        };
        let name = if is_stdin { Path::new("<stdin>") } else { list };
        let bytes = read.map_err(|error| unreadable(name, &error))?;
        let end = if bytes.contains(&0) { 0 } else { b'\n' };
        let mut places = Vec::new();
        for line in bytes.split(|byte| *byte == end) {
            let line = if end == b'\n' { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
            if line == b"-" {
                let error = Error::file(name, "names `-`, and a list has files and folders");
                return Err(error.or("give `-` as an input"));
            }
            if !line.is_empty() {
                places.push(Self::Path(PathBuf::from(OsStr::from_bytes(line))));
            }
        }
        match places.is_empty() {
            true => Err(Error::file(name, "names no file").or("write one path per line")),
            false => Ok(places),
        }
    }

    /// Names, sizes and ages of its files and samples of what they hold, to notice changes; `None` where it cannot be read
    /// again by another run. Of a folder of documents also which of them the filter lets through, as `.gitignore` files
    /// say and are no documents themselves.
    pub fn stamp(&self, filter: &FolderFilter) -> Option<String> {
        /// Files of a folder that are looked into.
        const SAMPLED: usize = 64;
        let path = self.path().filter(|_| !self.is_stdin())?;
        let metadata = fs::metadata(path).ok()?;
        if metadata.is_dir() {
            let every = FolderFilter { no_ignore: true, ..FolderFilter::default() };
            let (documents, _) = folder::list(path, None, &every).ok()?;
            let mut stamps: Vec<String> =
                documents.iter().map(|document| document.stored.stamp()).collect::<Option<_>>()?;
            let some = documents.iter().step_by(documents.len().div_ceil(SAMPLED).max(1));
            for document in some {
                stamps.push(format!("{:016x}", document.stored.sample()?));
            }
            let (wanted, _) = folder::list(path, None, filter).ok()?;
            stamps.extend(wanted.into_iter().map(|document| document.id));
            return Some(stamps.join("\n"));
        }
        let file = metadata.is_file().then(|| Rereadable::new(path.to_path_buf(), &metadata))?;
        Some(format!("{} {:016x}", file.stamp()?, file.sample()?))
    }

    /// These places, with copies of those that can be read only once, standard input and pipes. Copies are in the folder
    /// `temp`, or in the system's folder for temporary files.
    ///
    /// # Errors
    /// When one cannot be read or copied, or standard input is given twice.
    pub fn rereadable(places: &[Self], temp: Option<&Path>) -> Result<Vec<Self>> {
        open::check_stdin(places)?;
        let rereadable = |place: &Self| {
            let copy = place.path().map(|path| open::copy_of(path, temp)).transpose()?.flatten();
            Ok(copy.map_or_else(|| place.clone(), |stored| Self::Copy(InputCopy { stored })))
        };
        places.iter().map(rereadable).collect()
    }

    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        self.path().is_some_and(|path| path.as_os_str() == "-")
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<MemoryTable> for Place {
    fn from(table: MemoryTable) -> Self {
        Self::Table(Arc::new(table))
    }
}

/// About how many bytes the values of a column take, of an array that may be part of a larger one.
pub(super) fn bytes(column: &ArrayRef) -> u64 {
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().lengths().map(u64::from).sum(),
        _ => column.to_data().get_slice_memory_size().map_or(0, |bytes| bytes as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_of_the_same_size_and_age_was_taken_for_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.jsonl");
        let write = |text: &str| {
            fs::write(&path, text).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        };
        let stamps = || {
            [&path, folder.path()].map(|path: &Path| {
                Place::from(path.to_path_buf()).stamp(&FolderFilter::default()).unwrap()
            })
        };
        write("{\"text\":\"one\"}\n");
        let before = stamps();
        assert_eq!(stamps(), before, "nothing has changed");
        write("{\"text\":\"two\"}\n");
        let after = stamps();
        assert!(before.iter().zip(&after).all(|(before, after)| before != after));
        // Another file in its place, with what was there before.
        fs::rename(&path, folder.path().join("old")).unwrap();
        fs::copy(folder.path().join("old"), &path).unwrap();
        assert_ne!(stamps()[0], after[0]);
    }

    #[test]
    fn a_folder_whose_ignored_files_change_was_taken_for_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("a.txt", "one");
        write("b.txt", "two");
        let stamp = || Place::from(folder.path().to_path_buf()).stamp(&FolderFilter::default());
        let before = stamp();
        assert!(before.is_some());
        write(".gitignore", "a.txt\n");
        let after = stamp();
        assert_ne!(before, after);
        write(".gitignore", "b.txt\n");
        assert_ne!(stamp(), after);
    }
}
