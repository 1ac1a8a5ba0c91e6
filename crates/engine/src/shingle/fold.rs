//! What is folded before shingles are cut: case, white space, Unicode normal forms; and what a
//! character of a word is.

use std::sync::LazyLock;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

use super::word_characters::RANGES;

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
pub enum Whitespace {
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

impl NormalForm {
    /// How many times as many bytes a text may have in this form, by the tables of Unicode: NFC turns U+0390 and its
    /// kind from two bytes to six at most, NFKC U+FDFA from three to 33.
    #[cfg(feature = "files")]
    pub(crate) fn growth(self) -> usize {
        match self {
            Self::Nfc => 3,
            Self::Nfkc => 11,
        }
    }

    /// How many bytes a text has in this form, which is not held.
    #[cfg(feature = "files")]
    pub(crate) fn bytes_of(self, text: &str) -> u64 {
        let bytes = |c: char| c.len_utf8() as u64;
        match self {
            Self::Nfc => text.nfc().map(bytes).sum(),
            Self::Nfkc => text.nfkc().map(bytes).sum(),
        }
    }
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
pub(crate) fn fold_case(text: &str, case: Case, out: &mut Vec<u8>) {
    out.clear();
    if case == Case::Keep {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let mut rest = text;
    while !rest.is_empty() {
        let ascii = ascii_prefix(rest.as_bytes());
        let start = out.len();
        out.extend_from_slice(&rest.as_bytes()[..ascii]);
        out[start..].make_ascii_lowercase();
        rest = &rest[ascii..];
        let Some(c) = rest.chars().next() else { return };
        let mut buffer = [0; 4];
        each_lower(c, text, text.len() - rest.len(), |lower| {
            out.extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
        });
        rest = &rest[c.len_utf8()..];
    }
}

/// Calls `put` with the characters that a character at this place of a text becomes in lower case.
pub(super) fn each_lower(c: char, text: &str, at: usize, mut put: impl FnMut(char)) {
    if c.is_ascii() {
        put(c.to_ascii_lowercase());
    } else if c == 'Σ' {
        put(lower_sigma(text, at));
    } else if is_word_character(c) || matches!(c, FIRST_CIRCLED..=LAST_CIRCLED) {
        // Letters that are younger than the pinned version of Unicode stay as they are.
        c.to_lowercase().for_each(put);
    } else {
        put(c);
    }
}

/// The lower case of a character beyond ASCII at this place of a text, where it is one character.
pub(super) fn lower_case(c: char, text: &str, at: usize) -> Option<char> {
    match c {
        CJK_FIRST..CJK_BEHIND | HANGUL_FIRST..HANGUL_BEHIND => Some(c),
        'Σ' => Some(lower_sigma(text, at)),
        _ => {
            let mut lower = c.to_lowercase();
            let first = lower.next();
            if lower.next().is_none() { first } else { None }
        }
    }
}

/// The only characters with a case that do not belong to words.
const FIRST_CIRCLED: char = 'Ⓐ';
const LAST_CIRCLED: char = 'Ⓩ';

/// The two large parts of Unicode in which nothing has a case.
const CJK_FIRST: char = '\u{2e80}';
const CJK_BEHIND: char = '\u{a640}';
const HANGUL_FIRST: char = '\u{ac00}';
const HANGUL_BEHIND: char = '\u{d7b0}';

/// How many bytes come before the first that is not ASCII.
pub(super) fn ascii_prefix(bytes: &[u8]) -> usize {
    let whole = bytes.as_chunks::<16>().0.iter().take_while(|block| block.is_ascii()).count() * 16;
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

/// A capital sigma becomes ς at the end of a word and σ elsewhere. The standard library knows where
/// words end for this, given the characters around.
fn lower_sigma(text: &str, at: usize) -> char {
    const AROUND: usize = 64;
    let before: String = text[..at].chars().rev().take(AROUND).collect();
    let before: String = before.chars().rev().collect();
    let behind: String = text[at..].chars().take(AROUND).collect();
    let lower = format!("{before}{behind}").to_lowercase();
    // Lower-casing what stands before does not depend on what stands behind, but for other sigmas,
    // which have the same length either way.
    lower[before.to_lowercase().len()..].chars().next().unwrap_or('σ')
}

/// Characters that belong to words, a bit each, filled on first use.
static WORD_CHARACTERS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let last = RANGES.last().map_or(0, |range| range.1);
    let mut bits = vec![0; last as usize / 64 + 1];
    for code in RANGES.iter().flat_map(|&(first, last)| first..=last) {
        bits[code as usize / 64] |= 1 << (code % 64);
    }
    bits
});

/// Whether `c` is of a script that does not put blanks between words. Each of its letters is a word of its own.
pub(super) fn is_alone(c: char) -> bool {
    // Most are below all of them.
    c >= '\u{e00}'
        && matches!(c,
        '\u{e00}'..='\u{e7f}' // Thai
        | '\u{e80}'..='\u{eff}' // Lao
        | '\u{f00}'..='\u{fff}' // Tibetan
        | '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}' // Myanmar
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // Han
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}' // Hiragana, Katakana
        | '\u{3100}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}') // Bopomofo
}

/// Whether `c` is a letter, a digit or an underscore in Unicode 14.0.
pub fn is_word_character(c: char) -> bool {
    let code = c as usize;
    WORD_CHARACTERS.get(code / 64).is_some_and(|bits| bits >> (code % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_is_that_of_the_standard_library() {
        for c in '\u{80}'..=char::MAX {
            let lower: Vec<char> = c.to_lowercase().collect();
            let single = if lower.len() == 1 { Some(lower[0]) } else { None };
            assert_eq!(lower_case(c, &format!("{c}a"), 0), single, "{c:?}");
        }
    }

    #[test]
    fn word_characters_are_letters_numbers_and_underscore() {
        for c in ['a', 'Z', '0', '_', 'é', 'ß', 'д', '中', 'か', '２', '½', 'Ⅷ', '𝒳', '𠀀']
        {
            assert!(is_word_character(c), "{c}");
        }
        for c in [' ', '-', '\'', '’', '。', '—', '😀', '\u{301}', '\u{93e}', '€', '\0'] {
            assert!(!is_word_character(c), "{c}");
        }
    }

    #[test]
    fn normal_forms_grow_no_more_than_they_say() {
        for form in [NormalForm::Nfc, NormalForm::Nfkc] {
            let growth =
                |c: char| form.bytes_of(c.encode_utf8(&mut [0; 4])) as f64 / c.len_utf8() as f64;
            let most = ('\0'..=char::MAX).map(growth).fold(0.0, f64::max);
            assert_eq!(most, form.growth() as f64, "{form:?}");
        }
    }

    #[test]
    fn case_folds_by_the_full_mapping() {
        let mut out = Vec::new();
        for (text, lower) in [
            ("ABC", "abc"),
            ("ÉCOLE", "école"),
            ("ΟΔΟΣ ΣΑΣ", "οδος σας"),
            ("Σ ΣΣ ΑΣ.", "σ σς ας."),
            ("İI\u{1f600}ǅ", "i\u{307}i\u{1f600}ǆ"),
            ("ⒶⓏⓐ⒵", "ⓐⓩⓐ⒵"), // letters in circles are symbols, and have a case
        ] {
            fold_case(text, Case::Fold, &mut out);
            assert_eq!(out, lower.as_bytes());
            fold_case(text, Case::Keep, &mut out);
            assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn letters_younger_than_the_pinned_unicode_are_no_letters() {
        let mut out = Vec::new();
        fold_case("\u{a7cb}\u{31350}É", Case::Fold, &mut out); // Unicode 16, Unicode 15
        assert_eq!(out, "\u{a7cb}\u{31350}é".as_bytes());
        assert!(!is_word_character('\u{a7cb}') && !is_word_character('\u{31350}'));
    }

    #[test]
    fn normal_forms_are_applied_only_when_asked() {
        let mut buffer = String::new();
        assert_eq!(normalized("e\u{301}ﬁ", None, &mut buffer), "e\u{301}ﬁ");
        assert_eq!(normalized("e\u{301}ﬁ", Some(NormalForm::Nfc), &mut buffer), "éﬁ");
        assert_eq!(normalized("e\u{301}ﬁ", Some(NormalForm::Nfkc), &mut buffer), "éfi");
    }
}
