//! Text to words, words to shingles.

use std::mem::MaybeUninit;

use super::aes::{self, Block};
use crate::WordMask;
use crate::hash::{
    Blocks, HashKey, PADDING, hash_between, piece_hashed, shingles, text_fingerprint,
    windows_joined,
};

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
pub fn hash_words(key: &HashKey, padded: &[u8], masks: &[WordMask], tokens: &mut Vec<u64>) {
    words_hashed::<Block>(key, padded, masks, tokens, |bits, base, places| {
        each_byte(bits, base, places, |all, base, places| {
            for (place, &bit) in places.iter_mut().zip(all) {
                place.write(base + u32::from(bit));
            }
        });
    });
}

/// See [`crate::hash_pieces`].
pub fn hash_pieces(key: &HashKey, padded: &[u8], pieces: &[[u32; 2]], out: &mut Vec<u64>) {
    pieces_hashed::<Block>(key, padded, pieces, out);
}

/// See [`crate::hash_piece`].
pub fn hash_piece(key: &HashKey, piece: &[u8]) -> u64 {
    piece_hashed::<Block>(key, piece)
}

/// See [`crate::fingerprint`].
pub fn fingerprint(key: &HashKey, text: &[u8]) -> u128 {
    text_fingerprint::<Block>(key, text)
}

/// See [`crate::shingle`].
pub fn shingle(key: &HashKey, tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    shingles::<Block>(key, tokens, k, out);
}

/// See [`crate::join_windows`].
pub fn join_windows(key: &HashKey, words: &[[u64; 2]], k: usize, out: &mut Vec<[u64; 2]>) {
    windows_joined::<Block>(key, words, k, out);
}

/// [`hash_pieces`], to be compiled for several machines.
#[inline(always)]
pub(crate) fn pieces_hashed<B: Blocks>(
    key: &HashKey,
    padded: &[u8],
    pieces: &[[u32; 2]],
    out: &mut Vec<u64>,
) {
    let last = pieces.iter().fold(0, |last, &[start, end]| {
        assert!(start <= end, "a piece begins before it ends");
        last.max(end as usize)
    });
    assert!(padded.len() >= last + PADDING, "padding follows the pieces");
    // SAFETY: as has just been seen.
    unsafe { hash_between::<B>(key, padded, pieces, out) };
}

/// Room for places of bits.
pub(crate) type Places<const N: usize> = [MaybeUninit<u32>; N];

/// [`hash_words`], to be compiled for several machines. `put` writes its second argument + the place of every bit
/// that is set in the first, from the start of the third.
///
/// First where words begin and end in a few blocks, then their hashes: neither loop has much to guess.
#[inline(always)]
pub(crate) fn words_hashed<B: Blocks>(
    key: &HashKey,
    padded: &[u8],
    masks: &[WordMask],
    tokens: &mut Vec<u64>,
    put: impl Fn(u64, u32, &mut Places<72>),
) {
    /// Blocks at a time. The words of 3,471 manual pages took 5.9 ms, and 7.4 ms with four (one core with VAES).
    const BLOCKS: usize = 16;
    assert!(padded.len() >= 64 * masks.len() + PADDING, "padding follows the blocks");
    // For short texts, zeros would take a good part of the time.
    let mut edges = [const { MaybeUninit::uninit() }; 64 * BLOCKS + 8];
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
        // SAFETY: so many were put there.
        let mut edges = unsafe { edges[..count].assume_init_ref() };
        if open && let Some((&end, rest)) = edges.split_first() {
            tokens.push(piece_hashed::<B>(key, &padded[start..origin + end as usize]));
            edges = rest;
        }
        let (words, rest) = edges.as_chunks();
        // SAFETY: edges lie within the blocks, and PADDING follows these.
        unsafe { hash_between::<B>(key, &padded[origin..], words, tokens) };
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
    places: &mut Places<72>,
    widen: impl Fn(&[u8; 8], u32, &mut Places<8>),
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

// SAFETY, of all blocks here: what the trait asks for is what each reads or writes.
impl Blocks for Block {
    type One = Self;
    const N: usize = 1;
    #[inline(always)]
    fn all(block: &Block) -> Self {
        *block
    }
    #[inline(always)]
    unsafe fn load(from: *const Block) -> Self {
        // SAFETY: as above.
        unsafe { from.read() }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Block) {
        // SAFETY: as above.
        unsafe { to.write(self) }
    }
    #[inline(always)]
    unsafe fn neighbours(from: *const u64) -> Self {
        // SAFETY: as above.
        let [low, high] = unsafe { from.cast::<[u64; 2]>().read() };
        (u128::from(low) | u128::from(high) << 64).to_le_bytes()
    }
    #[inline(always)]
    unsafe fn pieces(
        place: impl Fn(usize) -> *const u8,
        length: impl Fn(usize) -> usize,
        masks: &[Block; 16],
        added: &[Block; 16],
    ) -> Self {
        // SAFETY: as above.
        let (bytes, length) = (unsafe { place(0).cast::<u128>().read_unaligned() }, length(0));
        let bytes = bytes & u128::from_ne_bytes(masks[length]);
        aes::xor(bytes.to_ne_bytes(), added[length])
    }
    #[inline(always)]
    unsafe fn put_low(self, to: *mut u64) {
        // SAFETY: as above.
        unsafe { to.write(u128::from_le_bytes(self) as u64) }
    }
    #[inline(always)]
    fn round(self, key: Self) -> Self {
        aes::round(self, key)
    }
    #[inline(always)]
    fn last_round(self, key: Self) -> Self {
        aes::last_round(self, key)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        aes::xor(self, other)
    }
}
