//! Many sets of 64-bit elements in one piece of memory.

/// A list of sets, each sorted and without repeats.
#[derive(Debug, Clone)]
pub struct Sets {
    elements: Vec<u64>,
    ends: Vec<usize>,
}

impl Default for Sets {
    fn default() -> Self {
        Self { elements: Vec::new(), ends: vec![0] }
    }
}

impl Sets {
    /// Appends a set, which must be sorted and without repeats.
    pub fn push(&mut self, set: &[u64]) {
        debug_assert!(set.is_sorted_by(|a, b| a < b));
        self.elements.extend_from_slice(set);
        self.ends.push(self.elements.len());
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of elements of all sets.
    pub fn elements(&self) -> usize {
        self.elements.len()
    }

    /// The sets at these places.
    pub fn select(&self, items: impl Iterator<Item = usize>) -> Self {
        let mut sets = Self::default();
        items.for_each(|item| sets.push(self.get(item)));
        sets
    }

    /// These sets and then others.
    pub fn followed_by(mut self, others: &Self) -> Self {
        (0..others.len()).for_each(|item| self.push(others.get(item)));
        self
    }

    /// The set at `index`.
    pub fn get(&self, index: usize) -> &[u64] {
        &self.elements[self.ends[index]..self.ends[index + 1]]
    }
}
