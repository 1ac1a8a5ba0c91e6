//! Text to words, words to shingles.

use crate::WordMask;
use crate::hash::{PADDING, hash_loaded, hash_padded, scramble};

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
    words_hashed(padded, masks, tokens, |bits, base, places| {
        each_byte(bits, base, places, |all, base, places| {
            places.iter_mut().zip(all).for_each(|(place, &bit)| *place = base + u32::from(bit));
        });
    });
}

/// [`hash_words`], to be compiled for several machines. `put` writes its second argument + the place of every bit
/// that is set in the first.
///
/// First where words begin and end in a few blocks, then their hashes: neither loop has much to guess.
#[inline(always)]
pub(crate) fn words_hashed(
    padded: &[u8],
    masks: &[WordMask],
    tokens: &mut Vec<u64>,
    put: impl Fn(u64, u32, &mut [u32; 64 + 8]),
) {
    /// Blocks at a time.
    const BLOCKS: usize = 4;
    assert!(padded.len() >= 64 * masks.len() + PADDING, "padding follows the blocks");
    let mut edges = [0; 64 * BLOCKS + 8];
    let (mut inside, mut start) = (0, 0);
    for (part, masks) in masks.chunks(BLOCKS).enumerate() {
        let origin = part * BLOCKS * 64;
        // A word that began in earlier blocks.
        let open = inside == 1;
        let mut count = 0;
        for (block, mask) in masks.iter().enumerate() {
            let changes = mask.word ^ (mask.word << 1 | inside);
            inside = mask.word >> 63;
            let room = edges[count..].first_chunk_mut().expect("room for every bit");
            put(changes, 64 * block as u32, room);
            count += changes.count_ones() as usize;
        }
        let mut edges = &edges[..count];
        if open && let Some((&end, rest)) = edges.split_first() {
            tokens.push(hash_padded(padded, start, origin + end as usize));
            edges = rest;
        }
        let (words, rest) = edges.as_chunks();
        // SAFETY: edges lie within the blocks, and PADDING follows these.
        unsafe { hash_between(&padded[origin..], words, tokens) };
        start = rest.first().map_or(start, |&last| origin + last as usize);
    }
}

/// Writes `base` + the place of every bit that is set, and behind them up to eight of whatever it may be.
///
/// Takes eight bits at a time from a table and always writes eight places, however many bits are set: no branch has to be
/// predicted. `widen` adds its second argument to each of the eight in the first.
#[inline(always)]
pub(crate) fn each_byte(
    bits: u64,
    base: u32,
    places: &mut [u32; 64 + 8],
    widen: impl Fn(&[u8; 8], u32, &mut [u32; 8]),
) {
    let mut count = 0;
    for (byte, base) in bits.to_le_bytes().into_iter().zip((base..).step_by(8)) {
        let room = places[count..].first_chunk_mut().expect("room for eight more");
        widen(&PLACES[usize::from(byte)], base, room);
        count += byte.count_ones() as usize;
    }
}

/// The places of the bits that are set in a byte, and zeros after them.
static PLACES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Appends the hashes of words, given where each begins and ends.
///
/// # Safety
/// [`PADDING`] bytes are readable in `padded` from each edge on.
#[inline(always)]
unsafe fn hash_between(padded: &[u8], words: &[[u32; 2]], tokens: &mut Vec<u64>) {
    tokens.reserve(words.len());
    let room = &mut tokens.spare_capacity_mut()[..words.len()];
    for (&[start, end], token) in words.iter().zip(room) {
        let load = |at: usize| {
            // SAFETY: `at` is an edge, or lies between two, or 8 bytes behind one of these.
            let bytes = unsafe { padded.as_ptr().add(at).cast::<u64>().read_unaligned() };
            u64::from_le(bytes)
        };
        token.write(hash_loaded(load, start as usize, end as usize));
    }
    // SAFETY: that many have just been written.
    unsafe { tokens.set_len(tokens.len() + words.len()) };
}

/// Tokens are turned by this many bits more at each place of a shingle. 13 is coprime to 64, so no two of [`TURNS`] places
/// are turned alike or by half a word against each other.
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
            for (part, sums) in out[first..].chunks_mut(SUMS).enumerate() {
                for place in 0..k {
                    let turn = TURN * place as u32 % 64;
                    let turned = tokens[part * SUMS + place..].iter();
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
const SUMS: usize = 256;

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
