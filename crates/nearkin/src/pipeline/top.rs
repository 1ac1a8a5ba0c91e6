//! The most similar ones of each item.

use crate::Result;
use crate::spill::Cache;
use crate::verify::Limit;

use super::Similar;

impl Similar {
    /// Calls `pair` with the positions of every item and of the up to `k` items most similar to it, among
    /// those that reach the limit, and the value of each pair: sorted by the item, then from the most similar
    /// on, then by position. With two collections, the items are those of the first
    /// and their partners those of the second, positions counted in each.
    ///
    /// An item with a million copies takes no longer than one with k.
    pub fn closest(
        &self,
        k: usize,
        mut pair: impl FnMut(u32, u32, f64) -> Result<()>,
    ) -> Result<u64> {
        let members = self.collection.members();
        let from = self.collection.split().unwrap_or(0);
        let mut cache = Cache::one();
        let mut partners: Vec<(u32, f64)> = Vec::new();
        let mut row: Vec<(u32, f64)> = Vec::new();
        let mut count = 0;
        let order = |x: f64, y: f64| match self.limit {
            Limit::Similarity(_) => y.total_cmp(&x),
            Limit::Distance(_) => x.total_cmp(&y),
        };
        for a in 0..self.collection.split().unwrap_or(self.collection.records()) {
            let Some(group) = self.collection.group_of(a) else { continue };
            partners.clear();
            partners.extend(self.own(group));
            partners.extend(self.partners.of(group, &mut cache)?);
            partners.sort_by(|x, y| order(x.1, y.1));
            row.clear();
            for alike in partners.chunk_by(|x, y| x.1 == y.1) {
                let start = row.len();
                for &(group, value) in alike {
                    let members = members.of(group);
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
}
