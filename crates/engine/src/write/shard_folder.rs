//! A folder that appears whole or not at all.

use super::output::{CompleteOutput, cannot_create, cannot_write, folder_of, forget, keep_in_mind};
use crate::{Error, Result};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// A folder that is being filled under a temporary name.
#[derive(Debug)]
pub(super) struct ShardFolder {
    name: PathBuf,
    target: PathBuf,
    temporary: TempDir,
    /// Whoever finds the folder unlocked knows that nobody fills it any more.
    _lock: File,
}

/// Checks that a folder can be created, or is there and empty.
pub fn check_folder(target: &Path) -> Result<()> {
    match fs::read_dir(target) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => {
                let what =
                    "is not empty, and its files would be mixed with new ones; name a new folder";
                Err(Error::file(target, what).or("remove what is in it"))
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = folder_of(target);
            match parent.is_dir() {
                true => Ok(()),
                false => {
                    let what =
                        format!("the folder {} does not exist; create it first", parent.display());
                    Err(Error::file(target, what))
                }
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(Error::file(target, "is a file, and shards go to a folder; name another"))
        }
        Err(error) => Err(cannot_create(target, target, &error)),
    }
}

impl ShardFolder {
    pub(super) fn create(target: &Path) -> Result<Self> {
        check_folder(target)?;
        // Without a slash at the end.
        let plain: PathBuf = target.components().collect();
        let whole = match fs::canonicalize(&plain) {
            Ok(whole) => whole,
            Err(_) => {
                let parent = fs::canonicalize(folder_of(&plain));
                parent.unwrap_or_default().join(plain.file_name().unwrap_or_default())
            }
        };
        let create = || -> io::Result<(TempDir, File)> {
            let mut prefix = std::ffi::OsString::from(".");
            prefix.push(whole.file_name().unwrap_or_default());
            prefix.push(".");
            let parent = folder_of(&whole);
            loop {
                let mut builder = tempfile::Builder::new();
                builder.prefix(&prefix).suffix(".part");
                #[cfg(unix)]
                builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
                let temporary = builder.tempdir_in(parent)?;
                let lock = File::open(temporary.path())?;
                let _ = lock.try_lock();
                if temporary.path().exists() {
                    super::output::remove_leftovers(parent, &prefix);
                    return Ok((temporary, lock));
                }
            }
        };
        let (temporary, lock) = create().map_err(|error| cannot_create(target, &whole, &error))?;
        keep_in_mind(temporary.path());
        Ok(Self { name: target.to_path_buf(), target: whole, temporary, _lock: lock })
    }

    /// What to call the file at this path below the folder.
    pub(super) fn name_of(&self, path: &Path) -> PathBuf {
        self.name.join(path)
    }

    /// A new file in the folder.
    pub(super) fn file(&self, path: &Path) -> io::Result<File> {
        let path = self.temporary.path().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        File::create_new(path)
    }

    /// All files are complete.
    pub(super) fn ready(self) -> Result<CompleteOutput> {
        let sync = File::open(self.temporary.path()).and_then(|folder| folder.sync_all());
        sync.map_err(|error| cannot_write(&self.name, &error))?;
        Ok(CompleteOutput::folder(self))
    }

    /// The folder appears under its name now.
    pub(super) fn appear(self) -> Result<()> {
        let Self { name, target, temporary, .. } = self;
        fs::rename(temporary.path(), &target).map_err(|error| cannot_write(&name, &error))?;
        forget(temporary.path());
        let _ = temporary.keep(); // it is there no more
        Ok(())
    }
}
