//! Lists by number.

use std::ops::Range;

use crate::Result;

use super::{Plain, Temp, TempFile};

/// Lists of numbers; where they do not all fit in memory, those that came first are on disk.
#[derive(Debug)]
pub(crate) struct Lists<T> {
    places: Vec<ListPlace>,
    /// Pieces of memory that hold lists; the first takes what is appended.
    pieces: Vec<Vec<T>>,
    /// The lists that were appended and are in memory: those of the first piece, and those that came with theirs.
    open: Vec<u32>,
    /// Numbers in memory that were appended.
    held: usize,
    /// The pieces that were appended as a whole.
    appended: Vec<usize>,
    limit: usize,
    temp: Temp,
    name: Option<&'static str>,
    file: Option<TempFile>,
}

/// Lists one after the other, and how long each is.
#[derive(Debug)]
pub(crate) struct Concatenation<T> {
    pub(crate) list: Vec<T>,
    pub(crate) lengths: Vec<u32>,
}

impl<T> Default for Concatenation<T> {
    fn default() -> Self {
        Self { list: Vec::new(), lengths: Vec::new() }
    }
}

/// Where a list is: its length, and the number of its piece and its start there, or its start in the file.
#[derive(Debug, Clone, Copy)]
struct ListPlace {
    at: u64,
    length: u32,
}

/// Set in a place on disk.
const ON_DISK: u64 = 1 << 63;

impl<T: Plain> Lists<T> {
    /// None yet; up to `limit` bytes of what is appended stay in memory.
    pub(crate) fn new(limit: usize, temp: &Temp) -> Self {
        Self {
            places: Vec::new(),
            pieces: vec![Vec::new()],
            open: Vec::new(),
            held: 0,
            appended: Vec::new(),
            limit: limit.min((u32::MAX as usize).saturating_mul(T::BYTES)),
            temp: temp.clone(),
            name: None,
            file: None,
        }
    }

    /// The file, if one is needed, has this name where temporary files last.
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Number of lists.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Reserves room for this many numbers in this many lists.
    pub(crate) fn reserve(&mut self, numbers: usize, lists: usize) {
        self.pieces[0].reserve(numbers.min(self.limit / T::BYTES));
        self.places.reserve(lists);
        self.open.reserve(lists);
    }

    /// Appends a list, given in parts.
    pub(crate) fn push(&mut self, parts: &[&[T]]) -> Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.make_room(length)?;
        let start = self.pieces[0].len();
        parts.iter().for_each(|part| self.pieces[0].extend_from_slice(part));
        self.open.push(self.places.len() as u32);
        self.places.push(ListPlace { at: start as u64, length: length as u32 });
        Ok(())
    }

    /// Appends lists that lie one after the other.
    pub(crate) fn push_all(
        &mut self,
        Concatenation { list, lengths }: Concatenation<T>,
    ) -> Result<()> {
        self.make_room(list.len())?;
        let mut start = self.pieces[0].len();
        self.pieces[0].extend_from_slice(&list);
        for length in lengths {
            self.open.push(self.places.len() as u32);
            self.places.push(ListPlace { at: start as u64, length });
            start += length as usize;
        }
        debug_assert_eq!(start, self.pieces[0].len(), "lengths of all lists");
        Ok(())
    }

    /// Like [`push_all`](Self::push_all), for much at once: it is not copied.
    pub(crate) fn append(
        &mut self,
        Concatenation { list, lengths }: Concatenation<T>,
    ) -> Result<()> {
        self.make_room(list.len())?;
        let number = (self.pieces.len() as u64) << 32;
        let mut start = 0;
        for length in lengths {
            self.open.push(self.places.len() as u32);
            self.places.push(ListPlace { at: number | start, length });
            start += u64::from(length);
        }
        self.appended.push(self.pieces.len());
        self.pieces.push(list);
        Ok(())
    }

    /// Writes what was appended if this many more numbers would be too many.
    fn make_room(&mut self, numbers: usize) -> Result<()> {
        if (self.held + numbers).saturating_mul(T::BYTES) > self.limit {
            self.write()?;
        }
        self.held += numbers;
        Ok(())
    }

    /// Takes a piece of memory in which lists lie at these ranges.
    pub(crate) fn adopt(&mut self, piece: Vec<T>, ranges: impl Iterator<Item = Range<usize>>) {
        let number = (self.pieces.len() as u64) << 32;
        self.places.extend(ranges.map(|range| ListPlace {
            at: number | range.start as u64,
            length: range.len() as u32,
        }));
        self.pieces.push(piece);
    }

    /// Writes all that was appended to the file.
    fn write(&mut self) -> Result<()> {
        /// Numbers written at once.
        const PIECE: usize = 1 << 17;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.temp.file(self.name)?),
        };
        let mut bytes = Vec::new();
        let mut starts = Vec::new(); // of pieces, where they are in the file
        for piece in std::iter::once(0).chain(self.appended.drain(..)) {
            starts.push((piece, file.len()));
            for some in self.pieces[piece].chunks(PIECE) {
                bytes.clear();
                T::write(some, &mut bytes);
                file.append(&bytes)?;
            }
            match piece {
                0 => self.pieces[0].clear(),
                _ => self.pieces[piece] = Vec::new(),
            }
        }
        for list in self.open.drain(..) {
            let place = &mut self.places[list as usize];
            let piece = (place.at >> 32) as usize;
            let at = starts.binary_search_by_key(&piece, |start| start.0);
            let start = at.map_or(0, |at| starts[at].1); // what is open lies in one of them
            place.at = ON_DISK | (start + u64::from(place.at as u32) * T::BYTES as u64);
        }
        self.held = 0;
        Ok(())
    }

    /// Brings everything to the file, if some of it is there already and will last. Returns where each list
    /// is, and the file's checksum.
    pub(crate) fn settle(&mut self) -> Result<Option<Vec<u64>>> {
        if self.file.is_none() || self.name.is_none() || !self.temp.is_lasting() {
            return Ok(None);
        }
        self.write()?;
        for piece in 1..self.pieces.len() {
            self.pieces[0] = std::mem::take(&mut self.pieces[piece]);
            let here =
                |place: &ListPlace| place.at & ON_DISK == 0 && (place.at >> 32) as usize == piece;
            self.open = (0u32..).zip(&self.places).filter(|(_, p)| here(p)).map(|p| p.0).collect();
            self.open.iter().for_each(|&list| self.places[list as usize].at &= u64::from(u32::MAX));
            self.write()?;
        }
        let sum = self.file.as_ref().map_or(0, TempFile::sum);
        let places = self.places.iter().flat_map(|place| [place.at, u64::from(place.length)]);
        Ok(Some(places.chain([sum]).collect()))
    }

    /// Takes up the file of an earlier run, if it is whole, in which lists are at these places.
    pub(crate) fn again(mut self, places: &[u64]) -> Result<Self> {
        let (places, rest) = places.as_chunks();
        self.places =
            places.iter().map(|&[at, length]| ListPlace { at, length: length as u32 }).collect();
        self.file = self.name.map(|name| self.temp.again(name)).transpose()?;
        match &self.file {
            Some(file) if rest == [file.sum()] => Ok(self),
            _ => Err(self.temp.failed(&std::io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// How long a list is.
    pub(crate) fn length(&self, number: usize) -> usize {
        self.places[number].length as usize
    }

    /// A list, if it is in memory.
    pub(crate) fn in_memory(&self, number: usize) -> Option<&[T]> {
        let ListPlace { at, length } = self.places[number];
        let start = at as u32 as usize;
        (at & ON_DISK == 0)
            .then(|| &self.pieces[(at >> 32) as usize][start..start + length as usize])
    }

    /// A list; one that is on disk is read into the cache.
    pub(crate) fn get<'a>(&'a self, number: usize, cache: &'a mut Cache<T>) -> Result<&'a [T]> {
        if let Some(list) = self.in_memory(number) {
            return Ok(list);
        }
        let ListPlace { at, length } = self.places[number];
        let Some(file) = &self.file else { return Ok(&[]) };
        cache.get(number, |bytes| {
            bytes.resize(length as usize * T::BYTES, 0);
            file.read(at & !ON_DISK, bytes)
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
        let temp = Temp::passing(std::env::temp_dir());
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
            // Pieces that are taken as they are, between others that are copied.
            let piece = |from: u32| Concatenation {
                list: (from..from + 200).collect(),
                lengths: vec![150, 0, 50],
            };
            let before = lists.len();
            for round in 0..4 {
                lists.append(piece(1000 * round)).unwrap();
                lists.push(&[&[round]]).unwrap();
            }
            for (list, round) in (before..).step_by(4).zip(0..4) {
                let mut cache = Cache::one();
                let expected = [
                    1000 * round..1000 * round + 150,
                    0..0,
                    1000 * round + 150..1000 * round + 200,
                ];
                for (i, expected) in expected.into_iter().enumerate() {
                    assert_eq!(
                        lists.get(list + i, &mut cache).unwrap(),
                        expected.collect::<Vec<_>>()
                    );
                }
                assert_eq!(lists.get(list + 3, &mut cache).unwrap(), [round]);
            }
            let last = lists.len();
            lists.adopt((0..100).collect(), [10..20, 5..5].into_iter());
            lists.push(&[&[1, 2]]).unwrap();
            let mut cache = Cache::one();
            for (i, list) in [(0, (10..20).collect()), (1, vec![]), (2, vec![1, 2])] {
                assert_eq!(lists.get(last + i, &mut cache).unwrap(), list);
            }
        }
    }
}
