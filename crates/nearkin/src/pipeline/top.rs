//! The most similar ones of each item.

use crate::Result;
use crate::spill::Cache;
use crate::verify::Overlap;

use super::Similar;

impl Similar {
    /// Calls `pair` with the positions of every item and of the up to `k` items most similar to it, among
    /// those that reach the threshold, and what they have in common: sorted by the item, then by
    /// similarity, the highest first, then by position. With two collections, the items are those of the first
    /// and their partners those of the second, positions counted in each.
    ///
    /// An item with a million copies takes no longer than one with k.
    pub fn closest(
        &self,
        k: usize,
        mut pair: impl FnMut(u32, u32, Overlap) -> Result<()>,
    ) -> Result<u64> {
        let members = self.collection.members();
        let from = self.collection.split().unwrap_or(0);
        let mut cache = Cache::one();
        let mut partners: Vec<(u32, Overlap)> = Vec::new();
        let mut row: Vec<(u32, Overlap)> = Vec::new();
        let mut count = 0;
        for a in 0..self.collection.split().unwrap_or(self.collection.records()) {
            let Some(group) = self.collection.group_of(a) else { continue };
            partners.clear();
            partners.push((group, self.identical));
            partners.extend(self.partners.of(group, &mut cache)?);
            partners.sort_by(|x, y| y.1.similarity().total_cmp(&x.1.similarity()));
            row.clear();
            for alike in partners.chunk_by(|x, y| x.1.similarity() == y.1.similarity()) {
                let start = row.len();
                for &(group, overlap) in alike {
                    let members = members.of(group);
                    let others = &members[members.partition_point(|&b| b < from)..];
                    let others = others.iter().filter(|&&b| b != a).take(k - start);
                    row.extend(others.map(|&b| (b, overlap)));
                }
                row[start..].sort_unstable_by_key(|&(b, _)| b);
                row.truncate(k);
                if row.len() == k {
                    break;
                }
            }
            for &(b, overlap) in &row {
                pair(a, b - from, overlap)?;
            }
            count += row.len() as u64;
        }
        Ok(count)
    }
}
