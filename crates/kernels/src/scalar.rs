//! Plain Rust versions of every kernel: the reference.

use crate::WordMask;
use crate::hash::{PADDING, hash_loaded, scramble};

/// See [`crate::shared_at_least`].
pub fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize> {
    shared_from(a, b, (0, 0), 0, need)
}

/// The same from two places on, with `count` shared before them.
pub(crate) fn shared_from(
    a: &[u64],
    b: &[u64],
    (mut i, mut j): (usize, usize),
    mut count: usize,
    need: usize,
) -> Option<usize> {
    /// Steps between two looks at whether enough is left: rare enough to cost nothing.
    const STRIDE: usize = 64;
    loop {
        let left = (a.len() - i).min(b.len() - j);
        if count + left < need {
            return None;
        }
        if left == 0 {
            return Some(count);
        }
        for _ in 0..left.min(STRIDE) {
            // Both comparisons become flags, not branches: the order of hashes cannot be predicted.
            let (x, y) = (a[i], b[j]);
            count += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
}

/// See [`crate::lower_blocks`].
pub fn lower_blocks(text: &[u8], lower: bool, padded: &mut [u8], masks: &mut [WordMask]) -> bool {
    assert_room(text, padded, masks);
    let (copy, behind) = padded.split_at_mut(text.len());
    copy.copy_from_slice(text);
    behind.fill(0);
    if lower {
        copy.make_ascii_lowercase();
    }
    for (block, mask) in padded.as_chunks::<64>().0.iter().zip(masks) {
        *mask = WordMask::default();
        for (i, &byte) in block.iter().enumerate() {
            mask.word |= u64::from(byte == b'_' || byte.is_ascii_alphanumeric()) << i;
            mask.other |= u64::from(byte >> 7) << i;
        }
    }
    text.is_ascii()
}

/// What [`crate::lower_blocks`] asks for.
pub(crate) fn assert_room(text: &[u8], padded: &[u8], masks: &[WordMask]) {
    assert_eq!(masks.len(), text.len() / 64 + 1, "a mask for each block");
    assert_eq!(padded.len(), 64 * masks.len() + PADDING, "room for whole blocks and padding");
}

/// See [`crate::hash_words`].
pub fn hash_words(padded: &[u8], masks: &[WordMask], tokens: &mut Vec<u64>) {
    words_hashed(padded, masks, tokens);
}

/// [`hash_words`], to be compiled for several machines.
///
/// First where words begin and end in a few blocks, then their hashes: the second loop has nothing to guess.
#[inline(always)]
pub(crate) fn words_hashed(padded: &[u8], masks: &[WordMask], tokens: &mut Vec<u64>) {
    /// Blocks at a time.
    const BLOCKS: usize = 8;
    assert!(padded.len() >= 64 * masks.len() + PADDING, "padding follows the blocks");
    let mut edges = [0; 1 + 64 * BLOCKS + STEP];
    let (mut count, mut inside) = (0, 0);
    for (part, masks) in masks.chunks(BLOCKS).enumerate() {
        for (block, mask) in masks.iter().enumerate() {
            let changes = mask.word ^ (mask.word << 1 | inside);
            inside = mask.word >> 63;
            count += put_places(changes, 64 * (part * BLOCKS + block), &mut edges[count..]);
        }
        let (words, open) = edges[..count].as_chunks::<2>();
        tokens.extend(words.iter().map(|&[start, end]| {
            // SAFETY: edges lie within the blocks, more than PADDING before the end of `padded`.
            let load =
                |at: usize| unsafe { padded.as_ptr().add(at).cast::<u64>().read_unaligned() };
            hash_loaded(|at| u64::from_le(load(at)), start, end)
        }));
        // A word that goes on in the next blocks.
        count = open.len();
        edges[0] = open.first().copied().unwrap_or(0);
    }
}

/// Places that are written at a time, whether or not there are so many.
const STEP: usize = 8;

/// Writes `base` + the place of every bit that is set, and after them whatever it may be. How many are set.
#[inline(always)]
fn put_places(mut bits: u64, base: usize, places: &mut [usize]) -> usize {
    let count = bits.count_ones() as usize;
    for places in places.as_chunks_mut::<STEP>().0.iter_mut().take(count.div_ceil(STEP)) {
        for place in places {
            *place = base + bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
        }
    }
    count
}

/// Tokens are turned by so many bits more at each place of a shingle. 13 is coprime to 64, so that no two
/// of [`TURNS`] places are turned alike or by half a word against each other.
pub(crate) const TURN: u32 = 13;
pub(crate) const TURNS: usize = 32;

/// See [`crate::shingle`].
pub fn shingle(tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    shingles_summed(tokens, k, out);
}

/// [`shingle`], to be compiled for several machines: plain loops that the compiler knows to widen.
#[inline(always)]
pub(crate) fn shingles_summed(tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    match k {
        // The default, with its length known to the compiler.
        5 => out.extend(tokens.array_windows::<5>().map(|window| combine(window))),
        1..=TURNS => {
            let first = out.len();
            out.resize(first + (tokens.len() + 1).saturating_sub(k), k as u64);
            for (part, sums) in out[first..].chunks_mut(PORTION).enumerate() {
                for place in 0..k {
                    let turn = TURN * place as u32 % 64;
                    let turned = tokens[part * PORTION + place..].iter();
                    let turned = turned.map(|token| token.rotate_left(turn));
                    sums.iter_mut()
                        .zip(turned)
                        .for_each(|(sum, token)| *sum = sum.wrapping_add(token));
                }
            }
        }
        _ => out.extend(tokens.windows(k).map(combine)),
    }
}

/// Shingles whose sums are gone over together, so that they stay in the nearest cache.
const PORTION: usize = 256;

/// The hash of one shingle, given its tokens' hashes.
#[inline(always)]
pub fn combine(tokens: &[u64]) -> u64 {
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

/// See [`crate::string_special`].
pub fn string_special(bytes: &[u8]) -> usize {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    bytes.iter().position(special).unwrap_or(bytes.len())
}
