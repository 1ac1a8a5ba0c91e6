//! Many strings in one piece of memory.

/// A list of strings, taken character by character (Unicode scalar values). A combining mark is a character
/// of its own: normalise first where two spellings of one text should be equal.
///
/// Characters take one byte each as long as every one of them is among the first 256 of Unicode, and
/// four otherwise.
#[derive(Debug, Clone)]
pub struct Strings {
    symbols: Symbols,
    ends: Vec<usize>,
}

/// The characters of all strings, one string behind the other.
#[derive(Debug, Clone)]
enum Symbols {
    Narrow(Vec<u8>),
    Wide(Vec<char>),
}

/// The characters of one or two strings, as they are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Characters<'a, const N: usize> {
    Narrow([&'a [u8]; N]),
    Wide([&'a [char]; N]),
}

impl Default for Strings {
    fn default() -> Self {
        Self { symbols: Symbols::Narrow(Vec::new()), ends: vec![0] }
    }
}

impl Strings {
    /// Appends a string.
    pub fn push(&mut self, text: &str) {
        if let Symbols::Narrow(symbols) = &mut self.symbols {
            let narrow = text.chars().map(|c| u8::try_from(u32::from(c)));
            if text.is_ascii() {
                symbols.extend_from_slice(text.as_bytes());
            } else if narrow.clone().all(|byte| byte.is_ok()) {
                symbols.extend(narrow.flatten());
            } else {
                self.symbols = Symbols::Wide(symbols.iter().map(|&byte| byte.into()).collect());
            }
        }
        if let Symbols::Wide(symbols) = &mut self.symbols {
            symbols.extend(text.chars());
        }
        self.ends.push(match &self.symbols {
            Symbols::Narrow(symbols) => symbols.len(),
            Symbols::Wide(symbols) => symbols.len(),
        });
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether there is no string.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that the characters take.
    pub fn bytes(&self) -> usize {
        match &self.symbols {
            Symbols::Narrow(symbols) => symbols.len(),
            Symbols::Wide(symbols) => 4 * symbols.len(),
        }
    }

    /// These strings of them, in this order.
    pub fn select(&self, items: impl Iterator<Item = usize>) -> Self {
        let mut selected = Self::default();
        let mut ends = vec![0];
        match &self.symbols {
            Symbols::Narrow(symbols) => {
                let mut all = Vec::new();
                for item in items {
                    all.extend_from_slice(&symbols[self.ends[item]..self.ends[item + 1]]);
                    ends.push(all.len());
                }
                selected.symbols = Symbols::Narrow(all);
            }
            Symbols::Wide(symbols) => {
                let mut all = Vec::new();
                for item in items {
                    all.extend_from_slice(&symbols[self.ends[item]..self.ends[item + 1]]);
                    ends.push(all.len());
                }
                selected.symbols = Symbols::Wide(all);
            }
        }
        selected.ends = ends;
        selected
    }

    /// Characters of the string at `index`.
    pub fn length(&self, index: usize) -> usize {
        self.ends[index + 1] - self.ends[index]
    }

    /// The string at `index`.
    pub fn text(&self, index: usize) -> String {
        match self.characters([index]) {
            Characters::Narrow([symbols]) => symbols.iter().map(|&byte| char::from(byte)).collect(),
            Characters::Wide([symbols]) => symbols.iter().collect(),
        }
    }

    /// The characters of these strings.
    pub(crate) fn characters<const N: usize>(&self, items: [usize; N]) -> Characters<'_, N> {
        let range = |index: usize| self.ends[index]..self.ends[index + 1];
        match &self.symbols {
            Symbols::Narrow(symbols) => Characters::Narrow(items.map(|i| &symbols[range(i)])),
            Symbols::Wide(symbols) => Characters::Wide(items.map(|i| &symbols[range(i)])),
        }
    }
}

impl<S: AsRef<str>> FromIterator<S> for Strings {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        let mut strings = Self::default();
        texts.into_iter().for_each(|text| strings.push(text.as_ref()));
        strings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_as_they_went_in_at_any_width() {
        let texts = ["", "plain", "naïve ÿ", "京😀", "again", "\u{100}"];
        for count in 0..=texts.len() {
            let strings: Strings = texts[..count].iter().collect();
            assert_eq!(strings.len(), count);
            for (index, text) in texts[..count].iter().enumerate() {
                assert_eq!(strings.text(index), *text);
                assert_eq!(strings.length(index), text.chars().count());
            }
            let every_second = strings.select((0..count).rev().step_by(2));
            for (index, text) in texts[..count].iter().rev().step_by(2).enumerate() {
                assert_eq!(every_second.text(index), *text);
            }
        }
    }
}
