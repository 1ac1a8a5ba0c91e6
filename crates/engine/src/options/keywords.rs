//! Words that stand for values: what an option may be set to, each with a line that explains it.

use super::items::{Edges, ItemKind};
#[cfg(feature = "files")]
use crate::read::{Digits, OnError};
use crate::shingle::{HashBits, NormalForm, Whitespace};

/// A value that the user chooses by a word.
pub trait Keyword: Copy + PartialEq + 'static {
    /// Every value, its word, and what it means.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The value's word.
    fn word(self) -> &'static str {
        Self::ALL.iter().find(|known| known.0 == self).map_or("", |known| known.1)
    }

    /// The value of a word.
    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|known| known.1 == word).map(|known| known.0)
    }

    /// All words as a sentence has them: `fold, drop or keep`.
    fn words() -> String {
        let mut text = String::new();
        for (at, (_, word, _)) in Self::ALL.iter().enumerate() {
            text.push_str(match Self::ALL.len() - at {
                _ if at == 0 => "",
                1 => " or ",
                _ => ", ",
            });
            text.push_str(word);
        }
        text
    }
}

impl Keyword for ItemKind {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Text, "text", "A text, cut into shingles"),
        (
            Self::Set,
            "set",
            "A list of elements, or elements separated by white space; repeats count once",
        ),
        (Self::Bag, "bag", "Like a set, but repeats count; also {\"element\": count}"),
        (Self::Vector, "vector", "A list of numbers, or a row of a .npy or .fvecs file"),
        (
            Self::Bits,
            "bits",
            "A string of 0 and 1 or of hexadecimal digits, or bytes in a .npy file",
        ),
        (Self::String, "string", "A short text, compared character by character"),
        (Self::Answers, "answers", "Yes, no or nothing in each of several columns"),
    ];
}

impl Keyword for Edges {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Both, "both", "Each end of an edge is an element of the other"),
        (Self::Directed, "directed", "Only the second end is an element of the first"),
    ];
}

impl Keyword for Whitespace {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Fold, "fold", "A run becomes one blank"),
        (Self::Drop, "drop", "Removed"),
        (Self::Keep, "keep", "Unchanged"),
    ];
}

impl Keyword for NormalForm {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Nfc, "nfc", "é is one character, however it was typed"),
        (Self::Nfkc, "nfkc", "Also full width = half width, and ligatures = their letters"),
    ];
}

impl Keyword for HashBits {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::ThirtyTwo, "32", "Four bytes"), (Self::SixtyFour, "64", "Eight bytes")];
}

#[cfg(feature = "files")]
impl Keyword for OnError {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Stop, "stop", "End the run and name the file and the line"),
        (Self::Skip, "skip", "Leave the record out and report how many were skipped"),
    ];
}

#[cfg(feature = "files")]
impl Keyword for Digits {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Told, "told", "Hexadecimal if any digit is not 0 or 1, else binary"),
        (Self::Binary, "binary", "One digit per bit"),
        (Self::Hex, "hex", "Hexadecimal"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(Whitespace::words(), "fold, drop or keep");
        assert_eq!(HashBits::words(), "32 or 64");
    }

    #[test]
    fn words_lead_back_to_their_values() {
        for (kind, word, _) in ItemKind::ALL {
            assert_eq!(ItemKind::of_word(word), Some(*kind));
            assert_eq!(kind.word(), *word);
        }
        assert_eq!(ItemKind::of_word("texts"), None);
    }
}
