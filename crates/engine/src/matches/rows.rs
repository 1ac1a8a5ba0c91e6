//! From similar groups to rows: the pairs of items, or each item with those closest to it.

use std::ops::Range;

use crate::Result;
use crate::item::Members;
use crate::parallel::in_order;
use crate::spill::Cache;

use super::Matches;

impl Matches {
    /// Calls `pair` with the positions of every similar pair and its similarity, or its distance where that is
    /// limited, sorted by the first position, then the second; with two collections, positions are counted in
    /// each. Returns how many there are.
    ///
    /// Copies of one text are paired here, as they are needed, so a million of them cost no memory.
    pub fn each(&self, pair: impl FnMut(u32, u32, f64) -> Result<()>) -> Result<u64> {
        self.rows().pairs(self.positions(), pair)
    }

    /// Calls `pair` with the positions of every item and of the up to `k` items most similar to it, among
    /// those that reach the limit, and the value of each pair: sorted by the item, then from the most similar
    /// on, then by position. With two collections, the items are those of the first
    /// and their partners those of the second, positions counted in each. Returns the number of pairs.
    ///
    /// An item with a million copies takes no longer than one with k.
    pub fn closest(&self, k: usize, pair: impl FnMut(u32, u32, f64) -> Result<()>) -> Result<u64> {
        self.rows().closest(k, self.positions(), pair)
    }

    /// What is needed to go through the pairs of some items.
    pub fn rows(&self) -> Rows<'_> {
        let groups = 0..self.collection.groups();
        let most_copies = groups.map(|group| self.members.of(group).len()).max().unwrap_or(0);
        Rows { matches: self, members: &self.members, most_copies }
    }

    /// The items of the first collection.
    fn positions(&self) -> Range<u32> {
        0..self.collection.split().unwrap_or(self.collection.records())
    }
}

/// The rows of a search, to be gone through item by item.
pub struct Rows<'a> {
    matches: &'a Matches,
    members: &'a Members,
    /// How many items have the most frequent text.
    most_copies: usize,
}

impl Rows<'_> {
    /// The items that have rows: those of the first collection.
    pub fn items(&self) -> Range<u32> {
        self.matches.positions()
    }

    /// Calls `pair` with the positions of every similar pair of which the first is one of these, as
    /// [`Matches::each`] does for all.
    pub fn pairs(
        &self,
        positions: Range<u32>,
        mut pair: impl FnMut(u32, u32, f64) -> Result<()>,
    ) -> Result<u64> {
        let collection = &self.matches.collection;
        let split = collection.split();
        let mut cache = Cache::one();
        let mut row: Vec<(u32, f64)> = Vec::new();
        let mut count = 0;
        for a in positions {
            let Some(group) = collection.group_of(a) else { continue };
            let from = split.unwrap_or(a + 1);
            row.clear();
            for (group, value) in self.matches.partners(group, &mut cache)? {
                let members = self.members.of(group);
                let later = &members[members.partition_point(|&b| b < from)..];
                row.extend(later.iter().map(|&b| (b, value)));
            }
            row.sort_unstable_by_key(|&(b, _)| b);
            for &(b, value) in &row {
                pair(a, b - split.unwrap_or(0), value)?;
            }
            count += row.len() as u64;
        }
        Ok(count)
    }

    /// Calls `pair` with the positions of each of these items and of those closest to it, as
    /// [`Matches::closest`] does for all.
    pub fn closest(
        &self,
        k: usize,
        positions: Range<u32>,
        mut pair: impl FnMut(u32, u32, f64) -> Result<()>,
    ) -> Result<u64> {
        let from = self.matches.collection.split().unwrap_or(0);
        let mut cache = Cache::one();
        let mut partners: Vec<(u32, f64)> = Vec::new();
        let mut row: Vec<(u32, f64)> = Vec::new();
        let mut count = 0;
        let order = |x: f64, y: f64| self.matches.form.order(x, y);
        for a in positions {
            let Some(group) = self.matches.collection.group_of(a) else { continue };
            partners.clear();
            partners.extend(self.matches.partners(group, &mut cache)?);
            partners.sort_by(|x, y| order(x.1, y.1));
            row.clear();
            for alike in partners.chunk_by(|x, y| x.1 == y.1) {
                let start = row.len();
                for &(group, value) in alike {
                    let members = self.members.of(group);
                    let others = &members[members.partition_point(|&b| b < from)..];
                    let others = others.iter().filter(|&&b| b != a).take(k - start);
                    row.extend(others.map(|&b| (b, value)));
                }
                row[start..].sort_unstable_by_key(|&(b, _)| b);
                row.truncate(k);
                if row.len() == k {
                    break;
                }
            }
            for &(b, value) in &row {
                pair(a, b - from, value)?;
            }
            count += row.len() as u64;
        }
        Ok(count)
    }

    /// Does `work` for a few items at a time, on up to `threads` of the threads that found the pairs, and hands what it gives
    /// to `take`, in the order of the items. These are threads of a rayon pool: neither may wait for work in it (by `join`,
    /// `scope` or a parallel iterator).
    pub fn in_order<R: Send>(
        &self,
        threads: usize,
        work: impl Fn(Range<u32>) -> Result<R> + Sync,
        take: impl FnMut(R) -> Result<()> + Send,
    ) -> Result<()> {
        let portions = self.portions()?;
        let pool = &self.matches.pool;
        let threads = threads.min(pool.current_num_threads()).min(portions.len());
        let (jobs, work) = (portions.into_iter().map(Ok), &work);
        match threads {
            0 | 1 => in_order(1, jobs, work, take),
            _ => pool.install(|| in_order(threads, jobs, work, take)),
        }
    }

    /// Items cut so that a portion has no more than some thousand rows, or one item.
    fn portions(&self) -> Result<Vec<Range<u32>>> {
        const ROWS: usize = 1 << 12;
        let copies = self.most_copies;
        // Where no text has copies, that is their number.
        let groups = if copies > 1 { self.matches.collection.groups() as usize } else { 0 };
        let mut counted = vec![u32::MAX; groups];
        let mut cache = Cache::one();
        let Range { start, end } = self.matches.positions();
        let (mut portions, mut from, mut rows) = (Vec::new(), start, 0_usize);
        for a in start..end {
            let Some(group) = self.matches.collection.group_of(a) else { continue };
            let own = match (self.most_rows(group), counted.get_mut(group as usize)) {
                // It may have far fewer than that.
                (most, Some(own)) if most >= ROWS => {
                    if *own == u32::MAX {
                        *own = u32::try_from(self.rows_of(group, &mut cache)?).unwrap_or(u32::MAX);
                    }
                    *own as usize
                }
                (most, _) => most,
            };
            if rows > 0 && rows.saturating_add(own) > ROWS {
                portions.push(from..a);
                (from, rows) = (a, 0);
            }
            rows = rows.saturating_add(own);
        }
        portions.push(from..end);
        Ok(portions)
    }

    /// How many rows an item of a group would have as the first of all.
    fn rows_of(&self, group: u32, cache: &mut Cache<u32>) -> Result<usize> {
        let partners = self.matches.similar.of(group, cache)?;
        let all = partners.map(|(other, _)| self.members.of(other).len()).sum::<usize>();
        Ok(all + self.members.of(group).len())
    }

    /// Whether the rows of each item are few enough to hold in memory.
    pub fn are_short(&self) -> bool {
        const MOST: usize = 1 << 17;
        (0..self.matches.collection.groups()).all(|group| self.most_rows(group) <= MOST)
    }

    /// No item of a group has more rows.
    fn most_rows(&self, group: u32) -> usize {
        (self.matches.similar.count(group) + 1).saturating_mul(self.most_copies)
    }
}

#[cfg(test)]
mod tests {
    use super::super::similar_groups::{CopyValues, SimilarGroups};
    use super::super::{Collection, ItemFacts, Stats};
    use super::*;
    use crate::item::ChunkNumber;
    use crate::parallel::pool;
    use crate::space::Form;
    use crate::spill::{Lists, Temp};

    #[test]
    fn portions_of_copies_have_few_rows() {
        let temp = Temp::passing(std::env::temp_dir());
        for (copies, others) in [(1, 9_000), (10, 9_000), (5_000, 10)] {
            let mut collection = Collection::new(usize::MAX, &temp);
            collection.begin_input();
            collection.begin_chunk(ChunkNumber::default(), copies + others).unwrap();
            for position in 0..copies + others {
                collection.put(position, &ItemFacts::default()).unwrap();
            }
            collection.finish().unwrap();
            collection.fold((1..copies).map(|position| (0, position)));
            let mut lists = Lists::new(usize::MAX, &temp);
            (0..collection.groups()).for_each(|_| lists.push(&[]).unwrap());
            let places = (0..collection.groups()).collect::<Vec<u32>>().into();
            let similar = SimilarGroups { lists, places, copies: CopyValues::Same(Some(1.0)) };
            let (pool, stats) = (pool(1).unwrap(), Stats::default());
            let similar = (similar, collection.copies().members());
            let matches = Matches::new(collection, similar, Form::Similarity, stats, pool);
            let rows = matches.rows();
            assert!(rows.are_short());
            let (mut next, mut all) = (0, 0);
            for portion in rows.portions().unwrap() {
                assert_eq!(portion.start, next);
                next = portion.end;
                let count = rows.pairs(portion.clone(), |_, _, _| Ok(())).unwrap();
                assert!(count <= 1 << 12 || portion.len() == 1, "{count} rows of {portion:?}");
                all += count;
            }
            assert_eq!(next, copies + others);
            assert_eq!(all, u64::from(copies * (copies - 1) / 2));
        }
    }
}
