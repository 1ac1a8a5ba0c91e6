//! Names that occur again and again, each held once.

use std::collections::HashMap;

/// Names by their place, in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct Interned {
    places: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

impl Interned {
    /// The place of a name, which gets one where it is new.
    pub(crate) fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len() as u32;
        self.places.insert(name.into(), place);
        self.names.push(name.into());
        place
    }

    /// The place of a name, where it has one.
    #[cfg(feature = "hosts")]
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// All names, in order.
    #[cfg(feature = "hosts")]
    pub(crate) fn names(&self) -> &[Box<str>] {
        &self.names
    }

    pub(crate) fn into_names(self) -> Vec<Box<str>> {
        self.names
    }
}
