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

    /// The set at `index`.
    pub fn get(&self, index: usize) -> &[u64] {
        &self.elements[self.ends[index]..self.ends[index + 1]]
    }
}
