//! Shingles of k tokens, by default words.
//!
//! A word is a run of letters, digits and underscore. Each word is hashed once; a shingle's hash is a
//! sum of its k words' hashes, each turned by its place, so that a shingle costs k additions however
//! long its words are. A text with fewer than k words is its one shingle; one without words has none.

use std::fmt::Debug;

use nearkin_kernels::{WordMask, word_masks};

use super::Scratch;
use super::fold::{Case, fold_case, is_word_character};
use super::hash::{PADDING, hash_bytes, hash_padded, scramble};

/// Cuts a text into tokens: plug in your own for sentences, syllables or another language's words.
pub trait Tokenizer: Debug + Send + Sync {
    /// Calls `token` with each token of `text`, in order. `text` is already folded.
    fn tokens(&self, text: &str, token: &mut dyn FnMut(&str));
}

/// The default: runs of letters, digits and underscore.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnicodeWords;

impl Tokenizer for UnicodeWords {
    fn tokens(&self, text: &str, token: &mut dyn FnMut(&str)) {
        text.split(|c| !is_word_character(c)).filter(|word| !word.is_empty()).for_each(token);
    }
}

/// Puts the hashes of the text's tokens into the scratch's tokens.
pub(super) fn hash_tokens(
    text: &str,
    case: Case,
    tokenizer: Option<&dyn Tokenizer>,
    scratch: &mut Scratch,
) {
    let Scratch { padded: folded, masks, tokens, .. } = scratch;
    fold_case(text, case, folded);
    tokens.clear();
    match tokenizer {
        None => hash_words(folded, masks, tokens),
        Some(tokenizer) => {
            let text = std::str::from_utf8(folded).expect("folding case keeps UTF-8");
            tokenizer.tokens(text, &mut |token| tokens.push(hash_bytes(token.as_bytes())));
        }
    }
}

/// [`UnicodeWords`] and the hash of each word in one walk, block by block: where the bytes of a block
/// change from word to gap and back is a mask of bits. `folded` is UTF-8 and gets padding behind it.
fn hash_words(folded: &mut Vec<u8>, masks: &mut Vec<WordMask>, tokens: &mut Vec<u64>) {
    let end = folded.len();
    // At least one zero, which is no word's, so that the last word ends within the blocks.
    let blocks = end / 64 + 1;
    folded.resize(blocks * 64 + PADDING, 0);
    masks.clear();
    word_masks(&folded[..blocks * 64], masks);
    let (mut inside, mut start, mut spilled) = (0u64, 0, 0u64);
    for (block, mask) in masks.iter().enumerate() {
        let mut word = mask.word | spilled;
        spilled = 0;
        if mask.other != 0 {
            let (here, behind) = unicode_mask(folded, block * 64, mask.other);
            word |= here;
            spilled = behind;
        }
        let mut changes = word ^ (word << 1 | inside);
        inside = word >> 63;
        // Two changes make a word; a word that began in an earlier block ends with the first.
        while changes != 0 {
            let at = block * 64 + changes.trailing_zeros() as usize;
            if word >> (at % 64) & 1 == 1 {
                start = at;
            } else {
                tokens.push(hash_padded(folded, start, at));
            }
            changes &= changes - 1;
        }
    }
}

/// Which bytes of a block, and of the next, belong to word characters beyond ASCII that start in it.
fn unicode_mask(folded: &[u8], block: usize, mut other: u64) -> (u64, u64) {
    let (mut here, mut behind) = (0u64, 0u64);
    while other != 0 {
        let at = other.trailing_zeros();
        other &= other - 1;
        let first = folded[block + at as usize];
        if first < 0xc0 {
            continue; // not the first byte of its character
        }
        let (inside, length) = classify_character(folded, block + at as usize);
        if inside {
            let bytes = ((1u128 << length) - 1) << at;
            here |= bytes as u64;
            behind |= (bytes >> 64) as u64;
        }
    }
    (here, behind)
}

/// Whether the character that starts at `at` belongs to words, and how many bytes it has.
fn classify_character(folded: &[u8], at: usize) -> (bool, u32) {
    let byte = |i: usize| u32::from(folded[at + i] & 0x3f);
    let first = folded[at];
    let (code, length) = match first {
        ..0xe0 => (u32::from(first & 0x1f) << 6 | byte(1), 2),
        0xe0..0xf0 => (u32::from(first & 0x0f) << 12 | byte(1) << 6 | byte(2), 3),
        _ => (u32::from(first & 0x07) << 18 | byte(1) << 12 | byte(2) << 6 | byte(3), 4),
    };
    (char::from_u32(code).is_some_and(is_word_character), length)
}

/// Tokens are turned by so many bits more at each place of a shingle. 13 is coprime to 64, so that no two
/// of [`TURNS`] places are turned alike or by half a word against each other.
const TURN: u32 = 13;
const TURNS: usize = 32;

/// Appends the hash of every run of `k` tokens.
pub(super) fn shingle(tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    if tokens.is_empty() {
        return;
    }
    if k == 5 && tokens.len() >= 5 {
        // The default, with its length known to the compiler.
        out.extend(tokens.array_windows::<5>().map(|window| combine(window)));
    } else {
        out.extend(tokens.windows(k.min(tokens.len())).map(combine));
    }
}

/// The hash of one shingle, given its tokens' hashes: n + Σ rotate(tokenᵢ, 13·i).
///
/// The tokens' hashes are as good as random, so the sums of two different shingles agree with
/// probability 2⁻⁶⁴, and no multiplication is needed to make them so.
#[inline(always)]
pub(super) fn combine(tokens: &[u64]) -> u64 {
    let mut hash = tokens.len() as u64;
    for (part, tokens) in tokens.chunks(TURNS).enumerate() {
        if part > 0 {
            hash = scramble(hash); // tokens 32 places apart are turned alike
        }
        for (i, token) in tokens.iter().enumerate() {
            hash = hash.wrapping_add(token.rotate_left(TURN * i as u32 % 64));
        }
    }
    hash
}

#[cfg(test)]
mod tests {
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
                let mut folded = " ".repeat(before).into_bytes();
                folded.extend_from_slice(text.as_bytes());
                let mut tokens = Vec::new();
                hash_words(&mut folded, &mut Vec::new(), &mut tokens);
                assert_eq!(tokens, expected, "{text:?} after {before} blanks");
            }
        }
    }

    #[test]
    fn the_unrolled_loop_equals_the_general_one() {
        let tokens: Vec<u64> = (0..50).map(scramble).collect();
        let mut fast = Vec::new();
        shingle(&tokens, 5, &mut fast);
        assert_eq!(fast, tokens.windows(5).map(combine).collect::<Vec<_>>());
    }

    #[test]
    fn words_far_apart_may_not_change_places() {
        let tokens: Vec<u64> = (0..200).map(scramble).collect();
        for distance in [1, 31, 32, 63, 64, 128] {
            let mut swapped = tokens.clone();
            swapped.swap(3, 3 + distance);
            assert_ne!(combine(&tokens), combine(&swapped), "{distance} apart");
        }
    }

    #[test]
    fn order_and_number_of_words_count() {
        let [a, b] = [hash_bytes(b"a"), hash_bytes(b"b")];
        let all =
            [combine(&[a]), combine(&[b]), combine(&[a, b]), combine(&[b, a]), combine(&[a, a])];
        for (i, x) in all.iter().enumerate() {
            assert!(!all[..i].contains(x));
        }
    }
}
