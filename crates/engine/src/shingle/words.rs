//! Shingles of k tokens, by default words.
//!
//! A word is a run of letters, digits and underscore of Unicode 14.0, after full lower-casing: what `\w` means in
//! Python 3.11, so results can be checked against that to the last digit. The version is pinned in a table of our own,
//! because stored sketches depend on which shingles a text has. In scripts that put no blanks between words, such as Han and
//! Thai, [every letter is a word](super::fold::is_alone).
//!
//! Each word is hashed once, and a shingle's hash is made of its k words' hashes (`nearkin_kernels` says how), so that a
//! shingle costs the same however long its words are. A text with fewer than k words is its one shingle; one without
//! words has none.

use std::fmt::Debug;

use nearkin_kernels::{self as kernels, HashKey, WordMask, hash_piece, lower_words};

use super::Scratch;
use super::fold::{Case, ascii_prefix, fold_case, is_alone, is_word_character, lower_case};

/// Cuts a text into tokens: plug in your own for sentences, syllables or another language's words.
pub trait Tokenizer: Debug + Send + Sync {
    /// Calls `token` with each token of `text`, in order. `text` is already folded.
    fn tokens(&self, text: &str, token: &mut dyn FnMut(&str));
}

/// The default: runs of letters, digits and underscore; in scripts without blanks between words, every letter.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnicodeWords;

impl Tokenizer for UnicodeWords {
    fn tokens(&self, text: &str, token: &mut dyn FnMut(&str)) {
        let mut rest = text;
        while let Some(start) = rest.find(is_word_character) {
            let (word, behind) = rest[start..].split_at(first_word(&rest[start..]));
            token(word);
            rest = behind;
        }
    }
}

/// How many bytes the word has that a text starts with.
pub(crate) fn first_word(text: &str) -> usize {
    let mut characters = text.char_indices();
    let Some((_, first)) = characters.next() else { return 0 };
    if is_alone(first) {
        return first.len_utf8();
    }
    let end = characters.find(|&(_, c)| !is_word_character(c) || is_alone(c));
    end.map_or(text.len(), |(at, _)| at)
}

/// Puts the hashes of the text's tokens into the scratch's tokens.
pub(super) fn hash_tokens(
    text: &str,
    case: Case,
    tokenizer: Option<&dyn Tokenizer>,
    key: &HashKey,
    scratch: &mut Scratch,
) {
    scratch.tokens.clear();
    let Some(tokenizer) = tokenizer else { return hash_words(text, case, key, scratch) };
    let Scratch { folded, tokens, .. } = scratch;
    fold_case(text, case, folded);
    let text = std::str::from_utf8(folded).expect("folding case keeps UTF-8");
    tokenizer.tokens(text, &mut |token| tokens.push(hash_piece(key, token.as_bytes())));
}

/// Puts the hash of every `k` words in a row into `out`, in text order. A text of fewer words has none. Returns how many
/// words there are.
pub(crate) fn word_windows(
    text: &str,
    k: usize,
    key: &HashKey,
    scratch: &mut Scratch,
    out: &mut Vec<u64>,
) -> usize {
    scratch.tokens.clear();
    hash_words(text, Case::Fold, key, scratch);
    out.clear();
    kernels::shingle(key, &scratch.tokens, k, out);
    scratch.tokens.len()
}

/// [`UnicodeWords`] and the hash of each word, block by block: which bytes of a block belong to words is a
/// mask of bits, and words are its runs.
fn hash_words(text: &str, case: Case, key: &HashKey, scratch: &mut Scratch) {
    let Scratch { folded, apart, padded, masks, tokens, .. } = scratch;
    let ascii = lower_words(text.as_bytes(), case == Case::Fold, padded, masks);
    if !ascii && !fold_others(text, case, padded, masks) {
        fold_case(text, case, folded);
        set_apart(std::str::from_utf8(folded).expect("folding case keeps UTF-8"), apart);
        lower_words(apart.as_bytes(), false, padded, masks);
        mark_others(apart, masks, |_, _| true);
    }
    kernels::hash_words(key, padded, masks, tokens);
}

/// Adds characters beyond ASCII to the masks, and brings them into lower case where they stand in `padded`. Whether
/// that was possible: a few have a lower case of another length, and some are words of their own.
pub(super) fn fold_others(
    text: &str,
    case: Case,
    padded: &mut [u8],
    masks: &mut [WordMask],
) -> bool {
    mark_others(text, masks, |c, place| {
        if is_alone(c) {
            return false;
        }
        if case == Case::Fold {
            match lower_case(c, text, place) {
                Some(lower) if lower == c => {}
                Some(lower) if lower.len_utf8() == c.len_utf8() => {
                    lower.encode_utf8(&mut padded[place..]);
                }
                _ => return false,
            }
        }
        true
    })
}

/// Adds characters beyond ASCII to the masks, each with its place shown to `goes_on`. Whether that let all pass.
fn mark_others(
    text: &str,
    masks: &mut [WordMask],
    mut goes_on: impl FnMut(char, usize) -> bool,
) -> bool {
    // Bytes of the last character of a block that lie in the next.
    let mut spilled = 0;
    for (block, mask) in masks.iter_mut().enumerate() {
        mask.word |= spilled;
        spilled = 0;
        let mut other = mask.other;
        while other != 0 {
            let at = other.trailing_zeros();
            let place = 64 * block + at as usize;
            let Some(c) = text.get(place..).and_then(|rest| rest.chars().next()) else {
                other &= other - 1; // not the first byte of its character
                continue;
            };
            let bytes = ((1u128 << c.len_utf8()) - 1) << at;
            other &= !(bytes as u64);
            if is_word_character(c) {
                mask.word |= bytes as u64;
                spilled = (bytes >> 64) as u64;
                if !goes_on(c, place) {
                    return false;
                }
            }
        }
    }
    true
}

/// Puts the text into `out`, with blanks around each character that is a word of its own.
fn set_apart(text: &str, out: &mut String) {
    out.clear();
    let mut rest = text;
    loop {
        let (ascii, behind) = rest.split_at(ascii_prefix(rest.as_bytes()));
        out.push_str(ascii);
        let Some(c) = behind.chars().next() else { return };
        match is_alone(c) {
            true => out.extend([' ', c, ' ']),
            false => out.push(c),
        }
        rest = &behind[c.len_utf8()..];
    }
}

/// Appends the hash of every run of `k` tokens.
pub(super) fn shingle(key: &HashKey, tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    if !tokens.is_empty() {
        kernels::shingle(key, tokens, k.min(tokens.len()), out);
    }
}

#[cfg(test)]
mod tests {
    use nearkin_kernels::{combine, scramble};
    use proptest::char::range;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::hash::{default_key, hash_bytes};
    use super::*;

    #[test]
    fn the_byte_walk_finds_the_words_of_the_tokenizer() {
        for text in [
            "",
            " ",
            "one",
            "one two",
            "  a_b-c 12\n",
            "naïve café—déjà vu",
            "中文 テスト。",
            "abc中def文字12ก",
            "😀a😀",
            "e\u{301}a",
            "x\0y",
            "ς",
            "\u{10ffff}z",
            "ﬁn",
            "aé中𝒳b aé中𝒳b aé中𝒳b aé中𝒳b aé中𝒳b aé中𝒳b aé中𝒳b aé中𝒳b",
            "a-word-of-more-than-sixty-four-bytes-with-no-gap-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ] {
            let mut expected = Vec::new();
            UnicodeWords.tokens(text, &mut |word| expected.push(hash_bytes(word.as_bytes())));
            // At every place relative to a block.
            for before in 0..70 {
                let text = " ".repeat(before) + text;
                let mut scratch = Scratch::default();
                hash_words(&text, Case::Keep, default_key(), &mut scratch);
                assert_eq!(scratch.tokens, expected, "{text:?}");
            }
        }
    }

    #[test]
    fn folding_in_place_gives_the_words_of_the_folded_text() {
        for text in [
            "The ÉCOLE of ΟΔΥΣΣΕΥΣ, ПРИВЕТ",
            "İSTANBUL",            // becomes one character more
            "ẞ \u{2126} \u{212a}", // become shorter
            "Ⱥ",                   // becomes longer
            "ǅ ᏸ Ꭰ Ა 𐐀 Ꙁ",
            "日本語 ＡＢＣ 한국어",
        ] {
            for before in 0..70 {
                let text = " ".repeat(before) + text + " and ASCII after it";
                let mut folded = Vec::new();
                fold_case(&text, Case::Fold, &mut folded);
                let folded = String::from_utf8(folded).unwrap();
                let mut expected = Vec::new();
                UnicodeWords
                    .tokens(&folded, &mut |word| expected.push(hash_bytes(word.as_bytes())));
                let mut scratch = Scratch::default();
                hash_words(&text, Case::Fold, default_key(), &mut scratch);
                assert_eq!(scratch.tokens, expected, "{text:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_text_has_the_words_of_the_tokenizer(text in vec(character(), 0..300), fold: bool) {
            let text = String::from_iter(text);
            let case = if fold { Case::Fold } else { Case::Keep };
            let mut folded = Vec::new();
            fold_case(&text, case, &mut folded);
            let folded = String::from_utf8(folded).unwrap();
            let mut expected = Vec::new();
            UnicodeWords.tokens(&folded, &mut |word| expected.push(hash_bytes(word.as_bytes())));
            let mut scratch = Scratch::default();
            hash_words(&text, case, default_key(), &mut scratch);
            prop_assert_eq!(scratch.tokens, expected);
        }
    }

    /// Mostly ASCII; of the others many have a case, and a few a lower case of another length.
    fn character() -> impl Strategy<Value = char> {
        prop_oneof![
            60 => range('\0', '\u{7f}'),
            20 => range('\u{80}', '\u{600}'),
            5 => range('\u{1e00}', '\u{2200}'),
            5 => range('\u{e00}', '\u{10ff}'),
            5 => range('\u{3000}', '\u{4e40}'),
            5 => any::<char>(),
            1 => Just('İ'),
        ]
    }

    #[test]
    fn words_far_apart_may_not_change_places() {
        let tokens: Vec<u64> = (0..200).map(scramble).collect();
        let all = |tokens: &[u64]| combine(default_key(), tokens);
        for distance in [1, 31, 32, 63, 64, 128] {
            let mut swapped = tokens.clone();
            swapped.swap(3, 3 + distance);
            assert_ne!(all(&tokens), all(&swapped), "{distance} apart");
        }
    }

    #[test]
    fn order_and_number_of_words_count() {
        let [a, b] = [hash_bytes(b"a"), hash_bytes(b"b")];
        let lists: [&[u64]; 7] = [&[a], &[b], &[a, b], &[b, a], &[a, a], &[a, b, b], &[a, b, b, b]];
        let all = lists.map(|tokens| combine(default_key(), tokens));
        for (i, x) in all.iter().enumerate() {
            assert!(!all[..i].contains(x));
        }
    }
}
