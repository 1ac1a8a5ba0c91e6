//! Going on where an earlier run was stopped.
//!
//! A [`Job`] is a folder for one run and those that go on with it. After a stage whose result is worth it,
//! the result is saved there, under a name that appears when all is written; a run that finds it takes it up
//! instead of doing the work. The folder of a job that is finished is removed.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::error::{Advice, Error, Result};
use crate::spill::{Cache, Lists, Plain, Temp};

use super::Stage;

/// A folder that runs with the same purpose share, one at a time.
#[derive(Debug)]
pub struct Job {
    temp: Temp,
    _lock: File,
}

impl Job {
    /// Opens the job of this purpose in `temp`: `purpose` names everything that decides the result, and
    /// `input` is what tells whether the input has changed, which makes what was saved worthless.
    pub fn open(temp: &Path, purpose: &str, input: &str) -> Result<Self> {
        let named = format!("{} {} {purpose}", env!("CARGO_PKG_VERSION"), FORMAT);
        // Hidden, so that it is no document where the folder is an input.
        let name = format!(".nearkin-{:016x}", xxh3_128(named.as_bytes()) as u64);
        let folder = temp.join(name);
        let failed = |error: io::Error| Temp::passing(temp.to_owned()).failed(&error);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => {}
        }
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let error = Error::file(folder, "is in use by a run with the same arguments");
                return Err(error
                    .or("wait for it")
                    .or(Advice::with("temp", "name another folder")));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // A run that ended in between may have taken the folder with it.
        let same =
            |there: fs::Metadata| lock.metadata().is_ok_and(|ours| ours.ino() == there.ino());
        if !fs::metadata(&path).is_ok_and(same) {
            return Self::open(temp, purpose, input);
        }
        let seen = folder.join("input");
        let input = format!("{named}\n{input}");
        if fs::read_to_string(&seen).is_ok_and(|before| before == input) {
            return Ok(Self { temp: Temp::lasting(folder), _lock: lock });
        }
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.file_name().is_some_and(|name| name != "lock") {
                fs::remove_file(path).map_err(failed)?;
            }
        }
        fs::write(&seen, input).map_err(failed)?;
        Ok(Self { temp: Temp::lasting(folder), _lock: lock })
    }

    fn folder(&self) -> &Path {
        self.temp.folder()
    }

    /// Where its temporary files go.
    pub(super) fn temp(&self) -> Temp {
        self.temp.clone()
    }

    /// The job is done: nothing of it stays.
    pub fn finish(&self) {
        // What cannot be removed does no harm, and the result is there.
        let _ = fs::remove_dir_all(self.folder());
    }

    /// Saves what `write` writes under a name.
    pub(super) fn save(
        &self,
        name: &str,
        write: impl FnOnce(&mut Saver) -> Result<()>,
    ) -> Result<()> {
        let failed = |error: io::Error| self.temp.failed(&error);
        let part = self.folder().join(format!("{name}.part"));
        let file = File::create(&part).map_err(failed)?;
        let mut saver = Saver {
            file: BufWriter::with_capacity(1 << 20, file),
            sum: Xxh3Default::new(),
            length: 0,
            temp: self.temp(),
            bytes: Vec::new(),
        };
        write(&mut saver)?;
        let sum = saver.sum.digest();
        let mut file = saver.file;
        let end = |file: &mut BufWriter<File>| {
            file.write_all(&sum.to_le_bytes())?;
            file.flush()?;
            file.get_ref().sync_data()?;
            fs::rename(&part, self.folder().join(name))
        };
        end(&mut file).map_err(failed)
    }

    /// Removes what has this name.
    pub(super) fn forget(&self, name: &str) {
        // What cannot be removed now is removed with the folder.
        let _ = fs::remove_file(self.folder().join(name));
    }

    /// What was saved under a name, if it is there and whole.
    pub(super) fn load<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut Loader) -> Option<T>,
    ) -> Option<T> {
        let path = self.folder().join(name);
        let length = whole(&path)?;
        let file = BufReader::with_capacity(1 << 20, File::open(&path).ok()?);
        let mut loader = Loader { file: file.take(length), temp: self.temp(), bytes: Vec::new() };
        read(&mut loader)
    }
}

impl Drop for Job {
    /// A job of which nothing was saved leaves nothing behind, and another only what was saved.
    fn drop(&mut self) {
        let is_saved = |stage: Stage| self.folder().join(stage.name()).exists();
        if ![Stage::Candidates, Stage::Load, Stage::Verify].into_iter().any(is_saved) {
            return self.finish();
        }
        if !is_saved(Stage::Load) {
            self.forget(super::sketch::RECORDS);
        }
        for stage in [Stage::Candidates, Stage::Load, Stage::Verify] {
            self.forget(&format!("{}.part", stage.name()));
        }
    }
}

/// Which start of the system this is. Files that were not brought to the disk are as they were left only while it
/// is the same.
pub(super) fn start_of_system() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Changes when what is saved changes its meaning.
const FORMAT: u32 = 4;

/// The length of what a file holds before its checksum, if the checksum is right.
fn whole(path: &Path) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len().checked_sub(8)?;
    let mut sum = Xxh3Default::new();
    let mut buffer = vec![0; 1 << 20];
    let mut rest = length;
    while rest > 0 {
        let piece = &mut buffer[..rest.min(1 << 20) as usize];
        file.read_exact(piece).ok()?;
        sum.update(piece);
        rest -= piece.len() as u64;
    }
    let mut expected = [0; 8];
    file.read_exact(&mut expected).ok()?;
    (sum.digest() == u64::from_le_bytes(expected)).then_some(length)
}

/// Writes numbers, texts and lists.
pub(super) struct Saver {
    file: BufWriter<File>,
    sum: Xxh3Default,
    length: u64,
    temp: Temp,
    bytes: Vec<u8>,
}

impl Saver {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.sum.update(bytes);
        self.length += bytes.len() as u64;
        self.temp.expect(self.length);
        self.file.write_all(bytes).map_err(|error| self.temp.failed(&error))
    }

    pub(super) fn number(&mut self, number: u64) -> Result<()> {
        self.put(&number.to_le_bytes())
    }

    pub(super) fn numbers<T: Plain>(&mut self, numbers: &[T]) -> Result<()> {
        self.number(numbers.len() as u64)?;
        for piece in numbers.chunks(1 << 16) {
            let mut bytes = std::mem::take(&mut self.bytes);
            bytes.clear();
            T::write(piece, &mut bytes);
            self.put(&bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) -> Result<()> {
        self.numbers(text.as_bytes())
    }

    pub(super) fn lists<T: Plain>(&mut self, lists: &Lists<T>) -> Result<()> {
        self.number(lists.len() as u64)?;
        let mut cache = Cache::one();
        (0..lists.len()).try_for_each(|list| self.numbers(lists.get(list, &mut cache)?))
    }
}

/// Reads what a [`Saver`] wrote; nothing where it does not fit.
pub(super) struct Loader {
    file: io::Take<BufReader<File>>,
    temp: Temp,
    bytes: Vec<u8>,
}

impl Loader {
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    pub(super) fn numbers<T: Plain>(&mut self) -> Option<Vec<T>> {
        let length = self.number()?;
        let mut rest =
            length.checked_mul(T::BYTES as u64).filter(|&rest| rest <= self.file.limit())?;
        let mut numbers = Vec::with_capacity(length as usize);
        while rest > 0 {
            let piece = rest.min(1 << 19);
            self.bytes.resize(piece as usize, 0);
            self.file.read_exact(&mut self.bytes).ok()?;
            T::read(&self.bytes, &mut numbers);
            rest -= piece;
        }
        Some(numbers)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.numbers()?).ok()
    }

    /// Lists of which up to `limit` bytes stay in memory.
    pub(super) fn lists<T: Plain>(&mut self, limit: usize) -> Option<Lists<T>> {
        let mut lists = Lists::new(limit, &self.temp);
        for _ in 0..self.number()? {
            lists.push(&[&self.numbers()?]).ok()?;
        }
        Some(lists)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_comes_back_unless_it_was_damaged_or_the_input_changed() {
        let temp = tempfile::tempdir().unwrap();
        let open = |input| Job::open(temp.path(), "a run", input).unwrap();
        let load = |job: &Job| {
            job.load("verify", |load| {
                let numbers: Vec<u32> = load.numbers()?;
                Some((load.number()?, numbers, load.text()?))
            })
        };
        let job = open("one");
        assert!(Job::open(temp.path(), "a run", "one").is_err(), "one at a time");
        assert_eq!(load(&job), None);
        job.save("verify", |save| {
            save.numbers(&[1u32, 2, 3])?;
            save.number(7)?;
            save.text("é")
        })
        .unwrap();
        let saved = Some((7, vec![1, 2, 3], "é".to_owned()));
        assert_eq!(load(&job), saved);
        drop(job);
        assert_eq!(load(&open("one")), saved);
        assert_eq!(load(&open("two")), None);
        let job = open("two");
        job.save("verify", |save| save.numbers(&[1u32, 2, 3])).unwrap();
        let path = job.folder().join("verify");
        let mut bytes = fs::read(&path).unwrap();
        bytes[9] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(load(&job), None);
        job.finish();
        assert!(fs::read_dir(temp.path()).unwrap().next().is_none());
    }
}
