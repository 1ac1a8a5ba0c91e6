//! Many bags of 64-bit elements in one piece of memory.
//!
//! An element that occurs a million times takes as much memory as one that occurs once.

use crate::{Error, Result};

/// An element of a bag, and how often it occurs there.
pub type Counted = (u64, u64);

/// A list of bags, each sorted by its elements, which have a count of at least 1.
#[derive(Debug, Clone)]
pub struct Bags {
    entries: Vec<Counted>,
    ends: Vec<usize>,
    totals: Vec<u64>,
}

impl Default for Bags {
    fn default() -> Self {
        Self { entries: Vec::new(), ends: vec![0], totals: Vec::new() }
    }
}

impl Bags {
    /// Bags that stand one behind the other, of elements with counts that add up to less than 2⁶⁴ in each: `ends` has a 0
    /// first, and then where each of them ends.
    #[cfg(feature = "files")]
    pub(crate) fn from_parts(entries: Vec<Counted>, ends: Vec<usize>) -> Self {
        let total = |range: &[usize]| entries[range[0]..range[1]].iter().map(|entry| entry.1).sum();
        let totals = ends.windows(2).map(total).collect();
        Self { entries, ends, totals }
    }

    /// Appends a bag.
    ///
    /// # Errors
    /// When its elements do not ascend, an element does not occur, or the counts add up to 2⁶⁴ or more.
    pub fn push(&mut self, bag: &[Counted]) -> Result<()> {
        if let Some(pair) = bag.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            let value = format!("{} before {}", pair[0].0, pair[1].0);
            return Err(Error::parameter("an element", value, "ascending, each element once"));
        }
        if let Some((element, _)) = bag.iter().find(|entry| entry.1 == 0) {
            let value = format!("0 for element {element}");
            return Err(Error::parameter("a count", value, "at least 1"));
        }
        let add = |sum: u64, entry: &Counted| sum.checked_add(entry.1);
        let Some(total) = bag.iter().try_fold(0, add) else {
            return Err(Error::parameter("the sum of counts", "too large", "below 2^64"));
        };
        self.append(bag, total);
        Ok(())
    }

    fn append(&mut self, bag: &[Counted], total: u64) {
        self.entries.extend_from_slice(bag);
        self.ends.push(self.entries.len());
        self.totals.push(total);
    }

    /// Number of bags.
    pub fn len(&self) -> usize {
        self.totals.len()
    }

    /// Whether there is no bag.
    pub fn is_empty(&self) -> bool {
        self.totals.is_empty()
    }

    /// Bytes of memory that the bags take.
    pub fn bytes(&self) -> usize {
        Self::bytes_of(self.entries.len() as u64)
    }

    /// Bytes of memory that bags with so many elements take.
    pub(crate) fn bytes_of(elements: u64) -> usize {
        usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(size_of::<Counted>())
    }

    /// Number of elements of all bags, each counted once in each.
    pub fn elements(&self) -> usize {
        self.entries.len()
    }

    /// The bags at these places.
    pub fn select(&self, items: impl Iterator<Item = usize>) -> Self {
        let mut bags = Self::default();
        items.for_each(|item| bags.append(self.get(item), self.total(item)));
        bags
    }

    /// These bags and then others.
    pub fn followed_by(mut self, others: &Self) -> Self {
        (0..others.len()).for_each(|item| self.append(others.get(item), others.total(item)));
        self
    }

    /// The bag at `index`: its elements, ascending, with their counts.
    pub fn get(&self, index: usize) -> &[Counted] {
        &self.entries[self.ends[index]..self.ends[index + 1]]
    }

    /// The sum of the counts of the bag at `index`.
    pub fn total(&self, index: usize) -> u64 {
        self.totals[index]
    }
}
