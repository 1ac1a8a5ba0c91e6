//! Lists by number.

use crate::Result;

use super::{Plain, Temp, TempFile};

/// Lists of numbers, the first ones on disk where they do not all fit in memory.
#[derive(Debug)]
pub(crate) struct Lists<T> {
    /// Where each list ends, in numbers from the beginning.
    ends: Vec<u64>,
    /// Numbers that are on disk, which come before those in memory.
    written: u64,
    memory: Vec<T>,
    limit: usize,
    temp: Temp,
    file: Option<TempFile>,
}

impl<T: Plain> Lists<T> {
    /// None yet; up to `limit` bytes stay in memory.
    pub(crate) fn new(limit: usize, temp: &Temp) -> Self {
        Self {
            ends: Vec::new(),
            written: 0,
            memory: Vec::new(),
            limit,
            temp: temp.clone(),
            file: None,
        }
    }

    /// Number of lists.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether some of it is on disk.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.file.is_some()
    }

    /// Appends a list, given in parts.
    pub(crate) fn push(&mut self, parts: &[&[T]]) -> Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if (self.memory.len() + length).saturating_mul(T::BYTES) > self.limit {
            self.write()?;
        }
        parts.iter().for_each(|part| self.memory.extend_from_slice(part));
        self.ends.push(self.written + self.memory.len() as u64);
        Ok(())
    }

    /// Writes all that is in memory to the file.
    pub(crate) fn write(&mut self) -> Result<()> {
        /// Numbers written at once.
        const PIECE: usize = 1 << 17;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.temp.file()?),
        };
        let mut bytes = Vec::new();
        for piece in self.memory.chunks(PIECE) {
            bytes.clear();
            T::write(piece, &mut bytes);
            file.append(&bytes)?;
        }
        self.written += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    fn range(&self, number: usize) -> (u64, u64) {
        (if number == 0 { 0 } else { self.ends[number - 1] }, self.ends[number])
    }

    /// A list; one that is on disk is read into the cache.
    pub(crate) fn get<'a>(&'a self, number: usize, cache: &'a mut Cache<T>) -> Result<&'a [T]> {
        let (start, end) = self.range(number);
        if start >= self.written {
            return Ok(&self.memory[(start - self.written) as usize..(end - self.written) as usize]);
        }
        let Some(file) = &self.file else { return Ok(&[]) };
        cache.get(number, |bytes| {
            bytes.resize((end - start) as usize * T::BYTES, 0);
            file.read(start * T::BYTES as u64, bytes)
        })
    }
}

/// Lists that were read from disk lately. A thread has its own.
#[derive(Debug)]
pub(crate) struct Cache<T> {
    /// None before the first is read.
    slots: Vec<Option<(usize, Vec<T>)>>,
    bytes: Vec<u8>,
    held: usize,
    limit: usize,
}

impl<T: Plain> Cache<T> {
    /// For one list at a time.
    pub(crate) fn one() -> Self {
        Self::new(0)
    }

    /// For up to `limit` bytes, and one list in any case.
    pub(crate) fn new(limit: usize) -> Self {
        Self { slots: Vec::new(), bytes: Vec::new(), held: 0, limit }
    }

    fn get(
        &mut self,
        number: usize,
        read: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<&[T]> {
        if self.slots.is_empty() {
            self.slots.resize((self.limit / 512).clamp(1, 1 << 14), None);
        }
        let slot = number % self.slots.len();
        if !matches!(&self.slots[slot], Some((there, _)) if *there == number) {
            read(&mut self.bytes)?;
            if self.held + self.bytes.len() > self.limit {
                self.slots.fill(None);
                self.held = 0;
            }
            let mut values = self.slots[slot].take().map(|(_, values)| values).unwrap_or_default();
            self.held -= (values.len() * T::BYTES).min(self.held);
            values.clear();
            T::read(&self.bytes, &mut values);
            self.held += self.bytes.len();
            self.slots[slot] = Some((number, values));
        }
        Ok(self.slots[slot].as_ref().map_or(&[], |(_, values)| values))
    }
}

impl<T: Plain> Default for Cache<T> {
    fn default() -> Self {
        Self::one()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_at_any_limit() {
        let temp = Temp::unnamed(std::env::temp_dir());
        let list = |i: u32| (0..i % 17).map(|x| x * i).collect::<Vec<u32>>();
        for limit in [0, 500, usize::MAX] {
            let mut lists = Lists::new(limit, &temp);
            for i in 0..300 {
                let list = list(i);
                let (first, second) = list.split_at(list.len() / 3);
                lists.push(&[first, second]).unwrap();
            }
            for cached in [0, 1000, 1 << 20] {
                let mut cache = Cache::new(cached);
                for i in (0..300).rev().chain(0..300).chain([7, 7, 200, 7]) {
                    assert_eq!(lists.get(i as usize, &mut cache).unwrap(), list(i));
                }
            }
            assert_eq!(lists.is_on_disk(), limit < usize::MAX);
        }
    }
}
