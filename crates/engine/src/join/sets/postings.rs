//! The prefix index: for each symbol the sets that have it in their prefix, by size, and where.

use super::strings::SymbolStrings;

/// A set that has a symbol, and the symbol's position in it, from 1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Posting {
    pub(super) set: u32,
    pub(super) position: u32,
}

/// The entries of every symbol, apart for each side where there are two.
#[derive(Debug, Default)]
pub(super) struct Postings {
    sides: usize,
    starts: Vec<u32>,
    entries: Vec<Posting>,
}

impl Postings {
    /// The index of all sets, each under as many symbols as `prefix` says for its size.
    pub(super) fn new(strings: &SymbolStrings, prefix: impl Fn(usize) -> usize) -> Self {
        let sides = 1 + usize::from(strings.split.is_some());
        let mut ends = vec![0; sides * strings.distinct + 1];
        let mut indexed: Vec<u32> = Vec::with_capacity(strings.len());
        let mut last = (0, 0);
        for (set, head) in strings.heads.iter().enumerate() {
            if last.0 != head.size {
                last = (head.size, prefix(head.size as usize));
            }
            let symbols = strings.symbols(set);
            let count = last.1.saturating_sub(head.unshared as usize).min(symbols.len());
            indexed.push(count as u32);
            for &symbol in &symbols[..count] {
                ends[sides * symbol as usize + strings.side(set)] += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut entries = vec![Posting::default(); sum as usize];
        for (set, &count) in indexed.iter().enumerate() {
            let (unshared, side) = (strings.heads[set].unshared, strings.side(set));
            for (position, &symbol) in (unshared + 1..).zip(&strings.symbols(set)[..count as usize])
            {
                let end = &mut ends[sides * symbol as usize + side];
                entries[*end as usize] = Posting { set: set as u32, position };
                *end += 1;
            }
        }
        // What was a list's beginning is its end now, and so the next one's beginning.
        ends.pop();
        ends.insert(0, 0);
        Self { sides, starts: ends, entries }
    }

    /// Where the first of some entries of a list stands among all.
    pub(super) fn place(&self, entries: &[Posting]) -> usize {
        let bytes = entries.as_ptr().addr() - self.entries.as_ptr().addr();
        bytes / size_of::<Posting>()
    }

    /// Entries in all.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The sets that a set of this side may be paired with and that have the symbol in their prefix.
    #[inline]
    pub(super) fn of(&self, symbol: u32, side: usize) -> &[Posting] {
        // The other side, where there are two.
        let list = self.sides * symbol as usize + if self.sides == 2 { 1 - side } else { 0 };
        &self.entries[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}
