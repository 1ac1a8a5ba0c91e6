//! Which filters stand before a comparison.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// What is looked at before two sets are compared. The choice changes how many pairs are compared, never which pairs are
/// found. The default is the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filters {
    /// Sets whose sizes alone rule them out are not looked at.
    pub length: bool,
    /// Only sets that have a symbol of their prefixes in common are looked at.
    pub prefix: bool,
    /// The position of such a symbol must leave enough behind it, however long the other string is.
    pub position: bool,
    /// What follows the symbol in both strings must be long enough.
    pub suffix: bool,
    /// Bitmaps, in which each element turns one bit, must not differ in too many bits.
    pub bitmap: bool,
    /// Halves, quarters and eighths of what follows the symbol must allow for enough.
    pub full_suffix: bool,
    /// Prefixes and positions are cut to the sizes that there are: sets come by size, so the index needs the prefix of the
    /// smaller one alone, and a position leaves only sets up to some size. Without it, prefixes and positions are those of
    /// *Mining of Massive Datasets*, 3.9.4 and 3.9.5, and so are the counts.
    pub by_size: bool,
}

/// The names of the filters, in order.
const NAMES: [&str; 7] =
    ["length", "prefix", "position", "suffix", "bitmap", "full-suffix", "by-size"];

impl Filters {
    /// No filter: all pairs are compared, each until it cannot be similar any more.
    pub const NONE: Self = Self {
        length: false,
        prefix: false,
        position: false,
        suffix: false,
        bitmap: false,
        full_suffix: false,
        by_size: false,
    };

    /// Every combination that makes sense.
    pub fn all() -> impl Iterator<Item = Self> {
        (0u32..1 << NAMES.len()).filter_map(|bits| {
            let mut filters = Self::NONE;
            for (at, flag) in filters.flags_mut().into_iter().enumerate() {
                *flag = bits >> at & 1 == 1;
            }
            filters.checked().ok()
        })
    }

    /// These, unless one needs another that is not chosen.
    pub fn checked(self) -> Result<Self> {
        if (self.position || self.suffix || self.by_size) && !self.prefix {
            let must = "with prefix, for positions are those of the prefix's symbols";
            return Err(Error::parameter("filters", self, must));
        }
        Ok(self)
    }

    fn flags(self) -> [bool; NAMES.len()] {
        [
            self.length,
            self.prefix,
            self.position,
            self.suffix,
            self.bitmap,
            self.full_suffix,
            self.by_size,
        ]
    }

    fn flags_mut(&mut self) -> [&mut bool; NAMES.len()] {
        [
            &mut self.length,
            &mut self.prefix,
            &mut self.position,
            &mut self.suffix,
            &mut self.bitmap,
            &mut self.full_suffix,
            &mut self.by_size,
        ]
    }
}

impl Default for Filters {
    /// All but the full suffix filter. Milliseconds for probing the index, one thread of a busy machine:
    ///
    /// | filters beside length and prefix | 37,000 licence texts at 0.8 | 31,000 baskets at 0.3 |
    /// |---|---|---|
    /// | none | 94 | 67 |
    /// | position | 112 | 37 |
    /// | position, suffix | 71 | 34 |
    /// | position, suffix, full-suffix | 81 | 49 |
    /// | position, suffix, bitmap | 65 | 32 |
    fn default() -> Self {
        Self {
            length: true,
            prefix: true,
            position: true,
            suffix: true,
            bitmap: true,
            full_suffix: false,
            by_size: true,
        }
    }
}

impl FromStr for Filters {
    type Err = Error;

    /// Reads names with commas between them, or `none`.
    fn from_str(text: &str) -> Result<Self> {
        let mut filters = Self::NONE;
        if text == "none" {
            return Ok(filters);
        }
        for name in text.split(',').map(str::trim) {
            let Some(at) = NAMES.iter().position(|&known| known == name) else {
                let must = format!("none, or some of {} with commas between them", NAMES.join(","));
                return Err(Error::parameter("filters", text, must));
            };
            *filters.flags_mut()[at] = true;
        }
        filters.checked()
    }
}

impl fmt::Display for Filters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chosen = NAMES.iter().zip(self.flags()).filter(|(_, on)| *on).map(|(name, _)| *name);
        let names: Vec<&str> = chosen.collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for filters in Filters::all() {
            assert_eq!(filters.to_string().parse::<Filters>().unwrap(), filters);
        }
        // Without the prefix the other three of its kind are off: 2^3; with it all: 2^6.
        assert_eq!(Filters::all().count(), 8 + 64);
        assert_eq!("prefix, length".parse::<Filters>().unwrap().to_string(), "length,prefix");
        assert_eq!(
            Filters::default(),
            "length,prefix,position,suffix,bitmap,by-size".parse().unwrap()
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in
            ["", "size", "length,,prefix", "position", "length,suffix", "none,length", "by-size"]
        {
            assert!(wrong.parse::<Filters>().is_err(), "{wrong}");
        }
    }
}
