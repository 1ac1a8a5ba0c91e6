//! Disjoint sets.

/// Disjoint sets, joined pair by pair; a set is named by its smallest member.
#[derive(Debug, Clone)]
pub struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    /// Every one of `items` items for itself.
    pub fn new(items: usize) -> Self {
        Self { parent: (0..items as u32).collect() }
    }

    /// The smallest member of the item's set.
    pub fn find(&mut self, item: u32) -> u32 {
        let root = self.root(item);
        let mut at = item;
        while at != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }

    /// [`find`](Self::find) without shortening the way for the next time.
    pub fn root(&self, item: u32) -> u32 {
        let mut at = item;
        while self.parent[at as usize] != at {
            at = self.parent[at as usize];
        }
        at
    }

    /// Joins the sets of two items.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
