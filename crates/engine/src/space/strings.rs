//! Strings under edit distance.

use crate::item::{Characters, Strings};
use crate::measure::edit;

use super::{Form, Space};

/// What counts as a change from one string to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StringMeasure {
    /// Inserting or deleting a character: [`edit::distance`].
    #[default]
    InsertDelete,
    /// Also replacing a character and swapping two neighbours: [`edit::mutation_distance`].
    Mutation,
    /// Replacing a character, nothing else. Strings of unequal length are infinitely far apart.
    Hamming,
}

/// Strings in memory, and what counts as a change.
#[derive(Debug, Clone)]
pub struct StringSpace {
    strings: Strings,
    measure: StringMeasure,
    /// By string, for 64 classes of characters, whether it has an odd number of them.
    odd: Vec<u64>,
}

impl StringSpace {
    /// These strings under this measure.
    pub fn new(strings: Strings, measure: StringMeasure) -> Self {
        let odd = (0..strings.len()).map(|index| match strings.characters([index]) {
            Characters::Narrow([x]) => odd_classes(x.iter().map(|&byte| byte.into())),
            Characters::Wide([x]) => odd_classes(x.iter().map(|&c| c.into())),
        });
        let odd = odd.collect();
        Self { strings, measure, odd }
    }

    /// The strings.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }

    /// What counts as a change.
    pub fn measure(&self) -> StringMeasure {
        self.measure
    }

    /// Whether the distance of two strings may be at most `limit`, by what is known of each alone.
    ///
    /// An insert or delete makes one class of characters odd or even, a replacement two and a swap none. Of
    /// 33 million pairs of web addresses that shared one of three segments this left one million to compare.
    pub fn may_be_within(&self, a: u32, b: u32, limit: usize) -> bool {
        self.allows(self.odd(a), self.odd(b), limit)
    }

    /// For 64 classes of characters, whether a string has an odd number of them.
    pub(crate) fn odd(&self, item: u32) -> u64 {
        self.odd[item as usize]
    }

    /// [`may_be_within`](Self::may_be_within) for two strings with these odd classes.
    #[inline]
    pub(crate) fn allows(&self, a: u64, b: u64, limit: usize) -> bool {
        let differ = (a ^ b).count_ones() as usize;
        let most = match self.measure {
            StringMeasure::InsertDelete => limit,
            _ => limit.saturating_mul(2),
        };
        differ <= most
    }

    /// The distance of two strings if it is at most `limit`.
    pub fn within(&self, a: u32, b: u32, limit: usize) -> Option<usize> {
        if !self.may_be_within(a, b, limit) {
            return None;
        }
        match self.strings.characters([a as usize, b as usize]) {
            Characters::Narrow([x, y]) => self.measure.within(x, y, limit),
            Characters::Wide([x, y]) => self.measure.within(x, y, limit),
        }
    }
}

/// For each of 64 classes of characters, whether an odd number of these is in it. Letters of either case
/// share a class; small letters, digits and the punctuation of addresses have one each.
fn odd_classes(characters: impl Iterator<Item = u32>) -> u64 {
    characters.fold(0, |odd, c| odd ^ 1 << (c & 31 | !c >> 1 & 32))
}

impl StringMeasure {
    /// The distance of two strings if it is at most `limit`.
    pub(crate) fn within<T: Eq + std::hash::Hash>(
        self,
        x: &[T],
        y: &[T],
        limit: usize,
    ) -> Option<usize> {
        match self {
            Self::InsertDelete => edit::within(x, y, limit),
            Self::Mutation => edit::mutation_within(x, y, limit),
            Self::Hamming if x.len() != y.len() => None,
            Self::Hamming => {
                let differ = x.iter().zip(y).filter(|(p, q)| p != q);
                let count = differ.take(limit.saturating_add(1)).count();
                (count <= limit).then_some(count)
            }
        }
    }
}

impl Space for StringSpace {
    fn len(&self) -> usize {
        self.strings.len()
    }

    fn form(&self) -> Form {
        Form::Distance
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        self.within(a, b, usize::MAX).map_or(f64::INFINITY, |edits| edits as f64)
    }

    fn reaching(&self, a: u32, b: u32, limit: f64) -> Option<f64> {
        if limit == f64::INFINITY {
            return Some(self.value(a, b));
        }
        // Distances are whole, so the limit may be rounded down.
        let whole = (limit >= 0.0).then_some(limit as usize)?;
        self.within(a, b, whole).map(|edits| edits as f64)
    }
}
