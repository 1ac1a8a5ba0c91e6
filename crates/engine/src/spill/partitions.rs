//! Entries that come in any order and go partition by partition.

use std::ops::Range;

use crate::Result;
use crate::parallel::in_order;

use super::{Plain, Temp, TempFile};

/// Entries of `W` words that are in memory together, partition by partition.
///
/// The low half of an entry's last word is a number that counts from the block's start, so a block can be
/// made before its start is known.
#[derive(Debug)]
pub(crate) struct Block<const W: usize> {
    entries: Vec<[u64; W]>,
    ends: Vec<u32>,
    start: u32,
}

impl<const W: usize> Block<W> {
    /// Puts entries in the order of their partitions, those of one in the order in which they come.
    pub(crate) fn new(
        partitions: usize,
        entries: impl Iterator<Item = (usize, [u64; W])> + Clone,
    ) -> Self {
        let mut ends = vec![0u32; partitions];
        let mut count = 0;
        for (partition, _) in entries.clone() {
            ends[partition] += 1;
            count += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut sorted = vec![[0; W]; count];
        for (partition, entry) in entries {
            sorted[ends[partition] as usize] = entry;
            ends[partition] += 1;
        }
        Self { entries: sorted, ends, start: 0 }
    }

    /// Says where the numbers of its entries start.
    pub(crate) fn at(mut self, start: u32) -> Self {
        self.start = start;
        self
    }

    fn partition(&self, partition: usize) -> impl Iterator<Item = [u64; W]> {
        self.numbered(self.range(partition))
    }

    fn range(&self, partition: usize) -> Range<usize> {
        let start = if partition == 0 { 0 } else { self.ends[partition - 1] };
        start as usize..self.ends[partition] as usize
    }

    fn all(&self) -> impl Iterator<Item = [u64; W]> {
        self.numbered(0..self.entries.len())
    }

    fn numbered(&self, range: Range<usize>) -> impl Iterator<Item = [u64; W]> {
        self.entries[range].iter().map(|entry| {
            let mut entry = *entry;
            entry[W - 1] += u64::from(self.start);
            entry
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * W * self.entries.capacity() + 4 * self.ends.capacity()
    }
}

/// Many blocks; beyond a limit they are merged to one long run on disk.
#[derive(Debug)]
pub(crate) struct Partitions<const W: usize> {
    partitions: usize,
    blocks: Vec<Block<W>>,
    held: usize,
    limit: usize,
    temp: Temp,
    file: Option<TempFile>,
    /// For every run where its partitions end in the file; the first starts where the run before ends.
    runs: Vec<Vec<u64>>,
}

impl<const W: usize> Partitions<W> {
    /// None yet; up to `limit` bytes stay in memory.
    pub(crate) fn new(partitions: usize, limit: usize, temp: &Temp) -> Self {
        Self {
            partitions,
            blocks: Vec::new(),
            held: 0,
            limit,
            temp: temp.clone(),
            file: None,
            runs: Vec::new(),
        }
    }

    /// Bytes of all entries.
    pub(crate) fn bytes(&self) -> u64 {
        self.held as u64 + self.file.as_ref().map_or(0, TempFile::len)
    }

    /// Takes a block.
    pub(crate) fn push(&mut self, block: Block<W>) -> Result<()> {
        self.held += block.bytes();
        self.blocks.push(block);
        if self.held > self.limit { self.write_run() } else { Ok(()) }
    }

    fn write_run(&mut self) -> Result<()> {
        /// Bytes written at once.
        const PIECE: usize = 1 << 20;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.temp.file(None)?),
        };
        let mut ends = Vec::with_capacity(self.partitions);
        let (mut entries, mut bytes) = (Vec::new(), Vec::with_capacity(PIECE + PIECE / 4));
        for partition in 0..self.partitions {
            entries.clear();
            self.blocks.iter().for_each(|block| entries.extend(block.partition(partition)));
            u64::write(entries.as_flattened(), &mut bytes);
            ends.push(file.len() + bytes.len() as u64);
            if bytes.len() >= PIECE {
                file.append(&bytes)?;
                bytes.clear();
            }
        }
        file.append(&bytes)?;
        self.runs.push(ends);
        self.blocks.clear();
        self.held = 0;
        Ok(())
    }

    /// Works through all partitions in order, some at a time: `find` on many threads, given a partition's number, its entries
    /// and what was found in those before it, and `take` with what was found in all of them. Neither may wait for other
    /// work of the pool, as in [`in_order`].
    pub(crate) fn each<T: Default + Send>(
        &self,
        threads: usize,
        find: impl Fn(usize, Vec<[u64; W]>, &mut T) -> Result<()> + Sync,
        take: impl FnMut(T) -> Result<()> + Send,
    ) -> Result<()> {
        /// Bytes of the partitions that a thread takes on together, about, and into how many portions all are cut.
        const TOGETHER: u64 = 1 << 20;
        const PORTIONS: usize = 16;
        let bytes = self.bytes();
        let few = (self.partitions as u64 * TOGETHER).div_ceil(bytes.max(1));
        let few = usize::try_from(few).unwrap_or(usize::MAX);
        let together = self.partitions.div_ceil(PORTIONS * threads.max(1)).min(few).max(1);
        let numbers: Vec<usize> = (0..self.partitions).collect();
        let find = |some: &[usize]| {
            // One thing for all: what one thread makes and another gives back costs both.
            let mut found = T::default();
            for &number in some {
                find(number, self.partition(number)?, &mut found)?;
            }
            Ok(found)
        };
        in_order(threads, numbers.chunks(together).map(Ok), find, take)
    }

    /// The entries of all partitions together, those of each in order, if they are few and in memory.
    pub(crate) fn all_if_few(&self) -> Option<Vec<[u64; W]>> {
        const FEW: usize = 1 << 18;
        let count = self.blocks.iter().map(|block| block.entries.len()).sum::<usize>();
        if self.file.is_some() || count > FEW {
            return None;
        }
        let mut entries = Vec::with_capacity(count);
        self.blocks.iter().for_each(|block| entries.extend(block.all()));
        Some(entries)
    }

    /// The entries of a partition, in the order in which their blocks came.
    fn partition(&self, partition: usize) -> Result<Vec<[u64; W]>> {
        let mut words: Vec<u64> = Vec::new();
        if let Some(file) = &self.file {
            let mut bytes = Vec::new();
            for (run, ends) in self.runs.iter().enumerate() {
                let start = match (run, partition) {
                    (0, 0) => 0,
                    (_, 0) => self.runs[run - 1][self.partitions - 1],
                    _ => ends[partition - 1],
                };
                bytes.resize((ends[partition] - start) as usize, 0);
                file.read(start, &mut bytes)?;
                u64::read(&bytes, &mut words);
            }
        }
        let held = self.blocks.iter().map(|block| block.range(partition).len()).sum::<usize>();
        let mut entries = Vec::with_capacity(words.len() / W + held);
        entries.extend_from_slice(words.as_chunks().0);
        drop(words);
        self.blocks.iter().for_each(|block| entries.extend(block.partition(partition)));
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::hash::mix64;

    #[test]
    fn partitions_come_back_whole_and_in_order_at_any_limit() {
        let entry = |i: u64| ((mix64(i, 7) % 5) as usize, [mix64(i, 1), i % 100]);
        let temp = Temp::passing(std::env::temp_dir());
        for limit in [0, 3_000, usize::MAX] {
            let mut partitions = Partitions::new(5, limit, &temp);
            for block in 0..20 {
                let entries = (block * 100..(block + 1) * 100).map(entry);
                partitions.push(Block::new(5, entries).at(block as u32 * 100)).unwrap();
            }
            let all = partitions.all_if_few();
            assert_eq!(all.is_some(), limit == usize::MAX);
            let of_block = |block: &[[u64; 2]]| {
                let mut numbers: Vec<u64> = block.iter().map(|entry| entry[1]).collect();
                numbers.sort_unstable();
                numbers
            };
            let numbers = all.iter().flat_map(|all| all.chunks(100)).flat_map(of_block);
            assert!(numbers.eq(0..if limit == usize::MAX { 2000 } else { 0 }));
            for partition in 0..5 {
                let expected: Vec<[u64; 2]> = (0..2000)
                    .filter(|&i| entry(i).0 == partition)
                    .map(|i| [mix64(i, 1), i])
                    .collect();
                assert_eq!(partitions.partition(partition).unwrap(), expected, "{limit}");
            }
        }
    }

    #[test]
    fn what_is_found_in_partitions_comes_in_their_order() {
        let entry = |i: u64| ((mix64(i, 3) % 70) as usize, [mix64(i, 1), i]);
        let temp = Temp::passing(std::env::temp_dir());
        for limit in [0, 20_000, usize::MAX] {
            let mut partitions = Partitions::new(70, limit, &temp);
            for block in 0..20 {
                let entries = (0..100).map(|i| entry(block * 100 + i));
                partitions.push(Block::new(70, entries)).unwrap();
            }
            let all: Vec<u64> =
                (0..70).flat_map(|part| (0..2000).filter(move |&i| entry(i).0 == part)).collect();
            for threads in [1, 2, 5] {
                let mut found = Vec::new();
                let find = |part: usize, entries: Vec<[u64; 2]>, numbers: &mut Vec<u64>| {
                    numbers.extend(entries.iter().map(|entry| entry[1]));
                    assert!(numbers.iter().all(|&i| entry(i).0 <= part));
                    Ok(())
                };
                let take = |numbers: Vec<u64>| {
                    found.extend(numbers);
                    Ok(())
                };
                partitions.each(threads, find, take).unwrap();
                assert_eq!(found, all, "{limit} {threads}");
            }
        }
    }
}
