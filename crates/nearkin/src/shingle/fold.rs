//! What is folded before shingles are cut: case, white space, Unicode normal forms; and what a
//! character of a word is.

use std::sync::LazyLock;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Text is lower-cased by Unicode's full mapping.
    Fold,
    /// Text is taken as it is.
    Keep,
}

/// What becomes of white space before characters are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// A run of white space becomes one blank.
    Fold,
    /// White space is dropped.
    Drop,
    /// White space stays as it is.
    Keep,
}

/// A Unicode normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormalForm {
    /// Canonical composition: é is one character however it was typed.
    Nfc,
    /// Compatibility composition: also ﬁ = fi, full width = half width.
    Nfkc,
}

/// `text` in the normal form asked for, put into `buffer` only when it is not already in it.
pub(super) fn normalized<'a>(
    text: &'a str,
    form: Option<NormalForm>,
    buffer: &'a mut String,
) -> &'a str {
    let done = match form {
        None => true,
        Some(NormalForm::Nfc) => is_nfc_quick(text.chars()) == IsNormalized::Yes,
        Some(NormalForm::Nfkc) => is_nfkc_quick(text.chars()) == IsNormalized::Yes,
    };
    if done || text.is_ascii() {
        return text;
    }
    buffer.clear();
    match form {
        Some(NormalForm::Nfkc) => buffer.extend(text.nfkc()),
        _ => buffer.extend(text.nfc()),
    }
    buffer
}

/// Puts `text` into `out`, lower-cased if asked for.
pub(super) fn fold_case(text: &str, case: Case, out: &mut Vec<u8>) {
    out.clear();
    if case == Case::Keep {
        out.extend_from_slice(text.as_bytes());
    } else if text.is_ascii() {
        out.extend_from_slice(text.as_bytes());
        out.make_ascii_lowercase();
    } else {
        // Whole strings, not characters: a capital sigma at a word's end becomes ς.
        out.extend_from_slice(text.to_lowercase().as_bytes());
    }
}

/// Characters below U+10000 that belong to words, a bit each: 8 KiB, filled on first use.
static WORD_CHARACTERS: LazyLock<Box<[u64; 1024]>> = LazyLock::new(|| {
    let mut bits = Box::new([0u64; 1024]);
    for code in 0..0x10000u32 {
        if char::from_u32(code).is_some_and(in_word_category) {
            bits[code as usize / 64] |= 1 << (code % 64);
        }
    }
    bits
});

fn in_word_category(c: char) -> bool {
    let group = c.general_category_group();
    c == '_' || matches!(group, GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// Whether `c` is a letter, a digit or an underscore: general category L or N.
pub fn is_word_character(c: char) -> bool {
    let code = c as usize;
    match WORD_CHARACTERS.get(code / 64) {
        Some(bits) => bits >> (code % 64) & 1 == 1,
        None => in_word_category(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_characters_are_letters_numbers_and_underscore() {
        for c in ['a', 'Z', '0', '_', 'é', 'ß', 'д', '中', 'か', '２', '½', 'Ⅷ', '𝒳', '𠀀'] {
            assert!(is_word_character(c), "{c}");
        }
        for c in [' ', '-', '\'', '’', '。', '—', '😀', '\u{301}', '\u{93e}', '€', '\0'] {
            assert!(!is_word_character(c), "{c}");
        }
    }

    #[test]
    fn case_folds_by_the_full_mapping() {
        let mut out = Vec::new();
        for (text, lower) in [("ABC", "abc"), ("ÉCOLE", "école"), ("ΟΔΟΣ ΣΑΣ", "οδος σας")] {
            fold_case(text, Case::Fold, &mut out);
            assert_eq!(out, lower.as_bytes());
            fold_case(text, Case::Keep, &mut out);
            assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn normal_forms_are_applied_only_when_asked() {
        let mut buffer = String::new();
        assert_eq!(normalized("e\u{301}ﬁ", None, &mut buffer), "e\u{301}ﬁ");
        assert_eq!(normalized("e\u{301}ﬁ", Some(NormalForm::Nfc), &mut buffer), "éﬁ");
        assert_eq!(normalized("e\u{301}ﬁ", Some(NormalForm::Nfkc), &mut buffer), "éfi");
    }
}
