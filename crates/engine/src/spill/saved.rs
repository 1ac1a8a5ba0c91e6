//! Numbers, texts and lists in a file with a checksum, for a run that goes on after another.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3Default;

use crate::Result;

use super::{Cache, Lists, Plain, Temp};

/// Writes what `write` writes to a file that appears when it is whole.
pub(crate) fn save(
    path: &Path,
    temp: &Temp,
    write: impl FnOnce(&mut Saver) -> Result<()>,
) -> Result<()> {
    let failed = |error: io::Error| temp.failed(&error);
    let part = path.with_extension("part");
    let file = File::create(&part).map_err(failed)?;
    let mut saver = Saver {
        file: BufWriter::with_capacity(1 << 20, file),
        sum: Xxh3Default::new(),
        length: 0,
        temp: temp.clone(),
        bytes: Vec::new(),
    };
    write(&mut saver)?;
    let sum = saver.sum.digest();
    let mut file = saver.file;
    let end = |file: &mut BufWriter<File>| {
        file.write_all(&sum.to_le_bytes())?;
        file.flush()?;
        file.get_ref().sync_data()?;
        fs::rename(&part, path)
    };
    end(&mut file).map_err(failed)
}

/// What was saved in a file, if it is there and whole.
pub(crate) fn load<T>(
    path: &Path,
    temp: &Temp,
    read: impl FnOnce(&mut Loader) -> Option<T>,
) -> Option<T> {
    let length = whole(path)?;
    let file = BufReader::with_capacity(1 << 20, File::open(path).ok()?);
    read(&mut Loader { file: file.take(length), temp: temp.clone(), bytes: Vec::new() })
}

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
pub(crate) struct Saver {
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

    pub(crate) fn number(&mut self, number: u64) -> Result<()> {
        self.put(&number.to_le_bytes())
    }

    pub(crate) fn numbers<T: Plain>(&mut self, numbers: &[T]) -> Result<()> {
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

    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.numbers(text.as_bytes())
    }

    pub(crate) fn lists<T: Plain>(&mut self, lists: &Lists<T>) -> Result<()> {
        self.number(lists.len() as u64)?;
        let mut cache = Cache::one();
        (0..lists.len()).try_for_each(|list| self.numbers(lists.get(list, &mut cache)?))
    }
}

/// Reads what a [`Saver`] wrote; nothing where it does not fit.
pub(crate) struct Loader {
    file: io::Take<BufReader<File>>,
    temp: Temp,
    bytes: Vec<u8>,
}

impl Loader {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    pub(crate) fn numbers<T: Plain>(&mut self) -> Option<Vec<T>> {
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

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.numbers()?).ok()
    }

    /// Lists of which up to `limit` bytes stay in memory.
    pub(crate) fn lists<T: Plain>(&mut self, limit: usize) -> Option<Lists<T>> {
        let mut lists = Lists::new(limit, &self.temp);
        for _ in 0..self.number()? {
            lists.push(&[&self.numbers()?]).ok()?;
        }
        Some(lists)
    }
}
