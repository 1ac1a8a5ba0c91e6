//! Which places of the same piece are repeated, and which of them is kept.

/// Which place of a repeated piece is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeepPiece {
    /// The first in input order.
    #[default]
    First,
    /// None.
    Nothing,
}

/// A place of a piece: the document's position, and which of its pieces or words it is or begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) document: u32,
    pub(super) at: u32,
}

impl Place {
    /// As one number whose low half is the document, as blocks of entries want it.
    pub(super) fn number(self) -> u64 {
        u64::from(self.at) << 32 | u64::from(self.document)
    }

    pub(super) fn of(number: u64) -> Self {
        Self { document: number as u32, at: (number >> 32) as u32 }
    }
}

/// In place of a kept one where none is kept.
pub(super) const NO_PLACE: u64 = u64::MAX;

/// When a place counts as repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// In how many documents the piece has to stand.
    pub(super) at_least: Option<u32>,
    pub(super) keep: KeepPiece,
    /// How far from each other two places of a document have to be, so that they do not overlap.
    pub(super) apart: u32,
}

/// All places of one piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Class {
    first: Place,
    last: Place,
    documents: u32,
}

impl Class {
    /// Its first place.
    pub(super) fn new(first: Place) -> Self {
        Self { first, last: first, documents: 1 }
    }

    /// Its next place, in input order.
    pub(super) fn push(&mut self, next: Place) {
        self.documents += u32::from(next.document != self.last.document);
        self.last = next;
    }
}

impl Rule {
    fn is_apart(self, first: Place, place: Place) -> bool {
        first.document != place.document
            || u64::from(place.at) >= u64::from(first.at) + u64::from(self.apart)
    }

    /// Whether anything of a class is removed.
    fn applies(self, class: &Class) -> bool {
        self.at_least.is_none_or(|least| class.documents >= least)
            && self.is_apart(class.first, class.last)
    }

    /// If this place is removed: the number of the one that is kept, or [`NO_PLACE`].
    pub(super) fn kept(self, class: &Class, place: Place) -> Option<u64> {
        match self.keep {
            _ if !self.applies(class) => None,
            KeepPiece::Nothing => Some(NO_PLACE),
            KeepPiece::First => self.is_apart(class.first, place).then(|| class.first.number()),
        }
    }
}

/// Numbers keys in the order in which they come first.
#[derive(Debug)]
pub(super) struct KeyNumbers {
    /// Numbers from 1: in the slot that the key names, or behind it.
    slots: Vec<u32>,
    keys: Vec<[u64; 2]>,
}

impl KeyNumbers {
    /// For up to this many keys.
    pub(super) fn new(most: usize) -> Self {
        Self { slots: vec![0; (2 * most).next_power_of_two()], keys: Vec::new() }
    }

    /// The number of a key, and whether it is new.
    pub(super) fn number(&mut self, key: [u64; 2]) -> (usize, bool) {
        let mut slot = key[0] as usize & (self.slots.len() - 1);
        loop {
            match (self.slots[slot] as usize).checked_sub(1) {
                Some(number) if self.keys[number] == key => return (number, false),
                Some(_) => slot = (slot + 1) & (self.slots.len() - 1),
                None => {
                    self.keys.push(key);
                    self.slots[slot] = self.keys.len() as u32;
                    return (self.keys.len() - 1, true);
                }
            }
        }
    }
}

/// Calls `removed` with each removed place among entries of a fingerprint and a place, in input order, and the number of the
/// one that is kept.
pub(super) fn each_removed(rule: Rule, entries: &[[u64; 3]], mut removed: impl FnMut(u64, Place)) {
    let mut numbers = KeyNumbers::new(entries.len());
    let mut classes: Vec<Class> = Vec::new();
    let mut class_of = Vec::with_capacity(entries.len());
    for &[a, b, place] in entries {
        let (number, is_new) = numbers.number([a, b]);
        match is_new {
            true => classes.push(Class::new(Place::of(place))),
            false => classes[number].push(Place::of(place)),
        }
        class_of.push(number as u32);
    }
    for (&[_, _, place], class) in entries.iter().zip(class_of) {
        let place = Place::of(place);
        if let Some(kept) = rule.kept(&classes[class as usize], place) {
            removed(kept, place);
        }
    }
}
