//! Words that stand for values: what an option may be set to, each with a line that explains it.

use super::items::{Edges, ItemKind};
#[cfg(feature = "files")]
use crate::read::{Digits, OnError};
use crate::shingle::{HashBits, NormalForm, Space};

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
        (Self::Set, "set", "A list, or elements between white space, each counted once"),
        (Self::Bag, "bag", "A set with repeats counted; an object {\"element\": count} is one too"),
        (Self::Vector, "vector", "A list of numbers; .npy and .fvecs files hold them too"),
        (Self::Bits, "bits", "A string of 0 and 1 or of hexadecimal digits; bytes in .npy files"),
        (Self::String, "string", "A text, compared character by character"),
        (Self::Answers, "answers", "Yes, no or nothing in each of several columns"),
    ];
}

impl Keyword for Edges {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Both, "both", "An edge makes each end an element of the other"),
        (Self::Directed, "directed", "An edge makes its second end an element of the first"),
    ];
}

impl Keyword for Space {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Fold, "fold", "A run becomes one blank"),
        (Self::Drop, "drop", "It is dropped"),
        (Self::Keep, "keep", "It stays"),
    ];
}

impl Keyword for NormalForm {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Nfc, "nfc", "é is one character however it was typed"),
        (Self::Nfkc, "nfkc", "Also: full width = half width, ligatures = their letters"),
    ];
}

impl Keyword for HashBits {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::ThirtyTwo, "32", "Four bytes"), (Self::SixtyFour, "64", "Eight bytes")];
}

#[cfg(feature = "files")]
impl Keyword for OnError {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Stop, "stop", "End the run, name the file and the line"),
        (Self::Skip, "skip", "Leave it out, and say at the end how many were"),
    ];
}

#[cfg(feature = "files")]
impl Keyword for Digits {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Told, "told", "In hexadecimal where a digit other than 0 and 1 says so"),
        (Self::Binary, "binary", "Bit by bit"),
        (Self::Hex, "hex", "In hexadecimal"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(Space::words(), "fold, drop or keep");
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
