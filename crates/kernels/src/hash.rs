//! The hashes of words, shingles and whole texts, made of AES.
//!
//! A hash must not be invertible: whoever can find another word with the hash of a given one can write gibberish that has
//! every shingle of an article. So all is built from E(x) = AES(x) ⊕ x, by Matyas, Meyer and Oseas, whose key is known
//! and follows from a seed. E goes one way: from AES(x) ⊕ x nobody gets to x but by trying, although AES itself can be
//! undone. Most processors have an instruction for a round of AES.
//!
//! - **A piece of up to 15 bytes**, which is nearly every word: E of its bytes, zeros, and its length in the last byte.
//! - **A longer piece**: blocks of 16 bytes, the last filled up with zeros. s₀ is its length, and sᵢ₊₁ = J(sᵢ, E(blockᵢ)).
//! - **A text's fingerprint**: the same in four lanes, block i in lane i mod 4. Lane l begins with the length and l, and
//!   the result is J(J(s₀, s₁), J(s₂, s₃)), all 128 bits of it.
//! - **J(a, b)** = round(a) ⊕ b, through four rounds of AES by another key, ⊕ round(a) ⊕ b.
//! - **A shingle of k words**: windows of 2ᵐ words have W₁(i) = four rounds of the hashes (tᵢ, tᵢ₊₁), ⊕ these hashes; and
//!   Wₘ₊₁(i) = J(Wₘ(i), Wₘ(i + 2ᵐ)). Two or three windows, which may overlap, cover the k words; of all windows of m
//!   words they are found once. With x = round(W) ⊕ W′, and round(x) ⊕ W″ for a third, the shingle is x through four
//!   rounds by other keys, the first with k added, ⊕ x. One word is its own shingle; of two, x is their hashes.
//!
//! Hashes are the low 64 bits. Pieces are hashed by all ten rounds, since whoever writes texts chooses them. What is
//! joined are hashes that nobody can choose, so that four rounds, twice as many as carry every bit everywhere, are
//! enough. Two values are joined at a time, never added up: among sums of several hashes from long lists, equal ones are
//! found quickly (Wagner, "A generalized birthday problem", 2002).
//!
//! The values are part of every stored sketch: changing them is a change of format.

use std::mem::MaybeUninit;

use crate::scalar::Block;
use crate::scalar::aes::{round_keys, xor};

/// Bytes that must follow a piece in its buffer, so that sixteen can be read at once anywhere.
pub const PADDING: usize = 16;

/// Bytes of the longest piece that is one block together with its length.
const SHORT: usize = 15;

/// What pieces are hashed with: the round keys that follow from a seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashKey {
    /// Of pieces. The first key is added to the last as well, so that E takes no step for it.
    piece: [Block; 11],
    /// The first round key with the length of a short piece.
    starts: [Block; SHORT + 1],
    /// Of J.
    join: [Block; 4],
    /// Of the last step of a shingle.
    last: [Block; 4],
}

impl HashKey {
    /// The key of a seed. The two keys of AES are the seed, lowest byte first, and `nearkin1` or `nearkin2`.
    pub fn new(seed: u64) -> Self {
        let key = |name: &[u8; 8]| {
            let mut key = [0; 16];
            key[..8].copy_from_slice(&seed.to_le_bytes());
            key[8..].copy_from_slice(name);
            round_keys(key)
        };
        let mut piece = key(b"nearkin1");
        let starts = std::array::from_fn(|length| {
            let mut start = piece[0];
            start[15] ^= length as u8;
            start
        });
        piece[10] = xor(piece[10], piece[0]);
        let joins = key(b"nearkin2");
        let four = |from: usize| std::array::from_fn(|at| joins[from + at]);
        Self { piece, starts, join: four(1), last: four(5) }
    }
}

/// A block, or several side by side.
///
/// Only functions compiled for a machine name the type that stands for its registers.
pub(crate) trait Blocks: Copy {
    /// The same with one block.
    type One: Blocks;
    /// How many blocks: 1 or 4.
    const N: usize;
    /// The same block everywhere.
    fn all(block: &Block) -> Self;
    /// Blocks that stand one after the other.
    ///
    /// # Safety
    /// `N` blocks are readable there.
    unsafe fn load(from: *const Block) -> Self;
    /// # Safety
    /// `N` blocks are writable there.
    unsafe fn store(self, to: *mut Block);
    /// Neighbours: the first number and the second, the second and the third, and so on.
    ///
    /// # Safety
    /// `N` + 1 numbers are readable there.
    unsafe fn neighbours(from: *const u64) -> Self;
    /// Short pieces: the bytes that a mask leaves of those at each place, with a block added.
    ///
    /// # Safety
    /// `place` and `length` give for every number below `N` a place from where 16 bytes are readable, and at most 15.
    unsafe fn pieces(
        place: impl Fn(usize) -> *const u8,
        length: impl Fn(usize) -> usize,
        masks: &[Block; 16],
        added: &[Block; 16],
    ) -> Self;
    /// Writes the low half of every block.
    ///
    /// # Safety
    /// `N` numbers are writable there.
    unsafe fn put_low(self, to: *mut u64);
    fn round(self, key: Self) -> Self;
    fn last_round(self, key: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

/// The bytes of a block that belong to a piece of this length.
static MASKS: [Block; 16] = {
    let mut masks = [[0; 16]; 16];
    let mut length = 0;
    while length < 16 {
        let mut at = 0;
        while at < length {
            masks[length][at] = 0xff;
            at += 1;
        }
        length += 1;
    }
    masks
};

/// E of a block to which the first round key has been added.
#[inline(always)]
fn encrypted<B: Blocks>(key: &HashKey, start: B) -> B {
    // No closures here and below: they would not be compiled for the machine.
    let mut x = start;
    for key in &key.piece[1..10] {
        x = x.round(B::all(key));
    }
    x.last_round(B::all(&key.piece[10])).xor(start)
}

/// Four rounds, and what came in added.
#[inline(always)]
fn four_rounds<B: Blocks>(keys: &[Block; 4], x: B) -> B {
    let mut mixed = x;
    for key in keys {
        mixed = mixed.round(B::all(key));
    }
    mixed.xor(x)
}

/// J.
#[inline(always)]
fn joined<B: Blocks>(key: &HashKey, a: B, b: B) -> B {
    four_rounds(&key.join, a.round(b))
}

/// Appends the hashes of pieces, given where each begins and ends.
///
/// # Safety
/// [`PADDING`] bytes are readable in `padded` from each edge on, and no piece ends before it begins.
#[inline(always)]
pub(crate) unsafe fn hash_between<B: Blocks>(
    key: &HashKey,
    padded: &[u8],
    pieces: &[[u32; 2]],
    out: &mut Vec<u64>,
) {
    out.reserve(pieces.len());
    let room = out.spare_capacity_mut().as_mut_ptr().cast::<u64>();
    let whole = pieces.len() / B::N * B::N;
    // SAFETY: there is room for as many hashes as there are pieces, and the caller answers for these.
    unsafe {
        hash_each::<B>(key, padded, &pieces[..whole], room);
        hash_each::<B::One>(key, padded, &pieces[whole..], room.add(whole));
        out.set_len(out.len() + pieces.len());
    }
}

/// # Safety
/// As of [`hash_between`]; the number of pieces is a multiple of `N`, and `out` has room for a hash of each.
#[inline(always)]
unsafe fn hash_each<B: Blocks>(key: &HashKey, padded: &[u8], pieces: &[[u32; 2]], out: *mut u64) {
    for (group, pieces) in pieces.chunks_exact(B::N).enumerate() {
        // Read one by one: several in one load would wait for the stores of the edges, which have just been written.
        // SAFETY: a reference can be read.
        let edge =
            |i: usize, which: usize| unsafe { (&raw const pieces[i][which]).read_volatile() };
        let length = |i: usize| (edge(i, 1) - edge(i, 0)) as usize;
        // SAFETY: the caller's. A longer piece is taken for a short one here.
        unsafe {
            let out = out.add(B::N * group);
            let place = |i: usize| padded.as_ptr().add(edge(i, 0) as usize);
            let start = B::pieces(place, |i| length(i) & SHORT, &MASKS, &key.starts);
            encrypted(key, start).put_low(out);
            for i in 0..B::N {
                if length(i) > SHORT {
                    let piece = &padded[pieces[i][0] as usize..pieces[i][1] as usize];
                    long_piece::<B::One>(key, piece).put_low(out.add(i));
                }
            }
        }
    }
}

/// A piece of more than 15 bytes.
#[inline(always)]
fn long_piece<B: Blocks>(key: &HashKey, piece: &[u8]) -> B {
    let (blocks, rest) = piece.as_chunks::<16>();
    let mut filled = [0; 16];
    filled[..rest.len()].copy_from_slice(rest);
    let last = (!rest.is_empty()).then_some(&filled);
    let mut state = B::all(&(piece.len() as u128).to_le_bytes());
    let first_key = B::all(&key.piece[0]);
    for block in blocks.iter().chain(last) {
        state = joined(key, state, encrypted(key, B::all(block).xor(first_key)));
    }
    state
}

/// One piece, with nothing behind it.
#[inline(always)]
pub(crate) fn piece_hashed<B: Blocks>(key: &HashKey, piece: &[u8]) -> u64 {
    let hash = if piece.len() > SHORT {
        long_piece::<B::One>(key, piece)
    } else {
        let mut block = key.starts[piece.len()];
        block.iter_mut().zip(piece).for_each(|(x, byte)| *x ^= byte);
        encrypted(key, <B::One>::all(&block))
    };
    let mut low = 0;
    // SAFETY: one block has one low half.
    unsafe { hash.put_low(&mut low) };
    low
}

/// See [`crate::fingerprint`].
#[inline(always)]
pub(crate) fn text_fingerprint<B: Blocks>(key: &HashKey, text: &[u8]) -> u128 {
    let mut lanes: [Block; 4] =
        std::array::from_fn(|lane| (text.len() as u128 | (lane as u128) << 64).to_le_bytes());
    let (fours, rest) = text.as_chunks::<64>();
    let mut filled = [0; 64];
    filled[..rest.len()].copy_from_slice(rest);
    let last = (!rest.is_empty()).then_some(&filled);
    let registers = 4 / B::N;
    let first_key = B::all(&key.piece[0]);
    let place = |four: *const [u8; 64], i: usize| four.cast::<Block>().wrapping_add(B::N * i);
    let lane = |i: usize| lanes.as_ptr().wrapping_add(B::N * i.min(registers - 1));
    // SAFETY: four blocks are in `lanes` and in sixty-four bytes, and fewer than `registers` groups of N are asked for;
    // beyond, the last of them is.
    let mut states: [B; 4] =
        unsafe { [B::load(lane(0)), B::load(lane(1)), B::load(lane(2)), B::load(lane(3))] };
    for four in fours.iter().chain(last) {
        for (i, state) in states.iter_mut().enumerate().take(registers) {
            // SAFETY: as above.
            let block = unsafe { B::load(place(four, i)) };
            *state = joined(key, *state, encrypted(key, block.xor(first_key)));
        }
    }
    for (i, state) in states.iter().enumerate().take(registers) {
        // SAFETY: as above.
        unsafe { state.store(lanes.as_mut_ptr().add(B::N * i)) };
    }
    let [a, b, c, d] = &lanes;
    let one = joined(key, <B::One>::all(a), <B::One>::all(b));
    let other = joined(key, <B::One>::all(c), <B::One>::all(d));
    let all = joined(key, one, other);
    let mut print = [0; 16];
    // SAFETY: it is one block.
    unsafe { all.store(&mut print) };
    u128::from_le_bytes(print)
}

/// Shingles that are made together, so that their windows stay in the nearest cache.
const PART: usize = 256;

/// Words of a shingle up to which windows take no memory but the stack's.
const FEW: usize = 32;

/// Places that the last step of a loop may run over.
const OVER: usize = 4;

/// The windows that cover `k` words, more than two: the words of each, and where they start. If they are two, the second
/// is there twice.
fn windows(k: usize) -> (usize, [usize; 3]) {
    let mut words = 2;
    while 3 * words < k {
        words *= 2;
    }
    (words, [0, words.min(k - words), k - words])
}

/// See [`crate::shingle`].
#[inline(always)]
pub(crate) fn shingles<B: Blocks>(key: &HashKey, tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    assert!(k > 0, "a shingle has a word");
    if k == 1 {
        return out.extend_from_slice(tokens);
    }
    if tokens.len() < k {
        return;
    }
    let mut last = key.last;
    last[0] = xor(last[0], (k as u128).to_le_bytes());
    let count = tokens.len() + 1 - k;
    let part = PART.max(k).min(count);
    // For short texts, zeros would take a good part of the time.
    let mut few = [const { MaybeUninit::<Block>::uninit() }; PART + FEW + OVER];
    let mut many = Vec::new();
    let room = match few.get_mut(..part + k + OVER) {
        Some(room) => room,
        None => {
            many.resize(part + k + OVER, MaybeUninit::uninit());
            &mut many[..]
        }
    };
    out.reserve(count + OVER);
    for start in (0..count).step_by(part) {
        let count = part.min(count - start);
        let tokens = &tokens[start..start + count + k - 1];
        // SAFETY: there is room for a window per token and for all shingles, and for OVER more of each.
        unsafe {
            let out_at = out.as_mut_ptr().add(out.len());
            if tokens.len() > B::N {
                part_shingles::<B>((key, &last), tokens, k, room, out_at);
            } else {
                part_shingles::<B::One>((key, &last), tokens, k, room, out_at);
            }
            out.set_len(out.len() + count);
        }
    }
}

/// The shingles of more than `N` tokens.
///
/// # Safety
/// `room` has [`OVER`] places more than there are tokens, and `out` as many more than there are shingles.
#[inline(always)]
unsafe fn part_shingles<B: Blocks>(
    (key, last): (&HashKey, &[Block; 4]),
    tokens: &[u64],
    k: usize,
    room: &mut [MaybeUninit<Block>],
    out: *mut u64,
) {
    let (pairs, count) = (tokens.len() - 1, tokens.len() + 1 - k);
    // What a step reads beyond the pairs is some value, whichever.
    room[pairs..pairs + OVER].fill(MaybeUninit::new([0; 16]));
    let at = room.as_mut_ptr().cast::<Block>();
    // The last step goes back rather than beyond the tokens, and takes some again.
    let within = |i: usize| i.min(pairs - B::N);
    // SAFETY, of all blocks here: a step takes `N` places from one below the number of tokens on, `N` ≤ OVER.
    if k == 2 {
        for i in (0..count).step_by(B::N).map(within) {
            // SAFETY: as above.
            unsafe {
                four_rounds(last, B::neighbours(tokens.as_ptr().add(i))).put_low(out.add(i));
            }
        }
        return;
    }
    for i in (0..pairs).step_by(B::N).map(within) {
        // SAFETY: as above.
        unsafe {
            four_rounds(&key.join, B::neighbours(tokens.as_ptr().add(i))).store(at.add(i));
        }
    }
    let (words, [_, second, third]) = windows(k);
    let mut half = 2;
    while half < words {
        for i in (0..tokens.len() + 1 - 2 * half).step_by(B::N) {
            // SAFETY: as above.
            unsafe { joined(key, B::load(at.add(i)), B::load(at.add(i + half))).store(at.add(i)) };
        }
        half *= 2;
    }
    for i in (0..count).step_by(B::N) {
        // SAFETY: as above.
        unsafe {
            let mut x = B::load(at.add(i)).round(B::load(at.add(i + second)));
            if second < third {
                x = x.round(B::load(at.add(i + third)));
            }
            four_rounds(last, x).put_low(out.add(i));
        }
    }
}

/// See [`crate::join_windows`].
#[inline(always)]
pub(crate) fn windows_joined<B: Blocks>(
    key: &HashKey,
    words: &[[u64; 2]],
    k: usize,
    out: &mut Vec<[u64; 2]>,
) {
    assert!(k > 0, "a window has a word");
    let count = words.len();
    if count < k {
        return;
    }
    let mut last = key.last;
    last[0] = xor(last[0], (k as u128).to_le_bytes());
    let start = out.len();
    out.extend_from_slice(words);
    // A step may go beyond the last place, where nothing is needed any more.
    out.resize(start + count + OVER, [0; 2]);
    let at = out[start..].as_mut_ptr().cast::<Block>();
    let mut half = 1;
    while 2 * half <= k {
        for i in (0..count + 1 - 2 * half).step_by(B::N) {
            // SAFETY: `i` + `half` is below the number of words, and behind these are OVER ≥ N places.
            unsafe { joined(key, B::load(at.add(i)), B::load(at.add(i + half))).store(at.add(i)) };
        }
        half *= 2;
    }
    // Two windows of `half` words cover `k`.
    for i in (0..count + 1 - k).step_by(B::N) {
        // SAFETY: as above.
        unsafe {
            let x = B::load(at.add(i)).round(B::load(at.add(i + k - half)));
            four_rounds(&last, x).store(at.add(i));
        }
    }
    out.truncate(start + count + 1 - k);
}

/// The hash of one shingle, given its tokens' hashes.
///
/// # Panics
/// When there are none.
pub fn combine(key: &HashKey, tokens: &[u64]) -> u64 {
    let mut out = Vec::new();
    crate::shingle(key, tokens, tokens.len(), &mut out);
    out[0]
}

const START: u64 = 0x9e37_79b9_7f4a_7c15;
const STEP: u64 = 0xd6e8_feb8_6659_fd93;

/// Multiplies to 128 bits and folds the halves together.
#[inline(always)]
fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// Appends the keys of the bands of `rows` values each that a sketch is cut into: the hash of the values and
/// of the band's number.
///
/// Two values at a time, and one multiplication for both. Bands do not wait for each other, so a processor
/// works at several as it is. Whoever shares a key is compared, so these hashes may be weak.
///
/// # Panics
/// When `rows` is 0.
pub fn band_keys(sketch: &[u32], rows: usize, keys: &mut Vec<u64>) {
    let bands = sketch.chunks_exact(rows).enumerate();
    keys.extend(bands.map(|(band, values)| {
        let (pairs, last) = values.as_chunks::<2>();
        let start = fold_multiply(START ^ band as u64, STEP);
        let key = pairs.iter().fold(start, |key, &[a, b]| {
            fold_multiply(key ^ (u64::from(a) | u64::from(b) << 32), STEP)
        });
        last.iter().fold(key, |key, &value| fold_multiply(key ^ u64::from(value), STEP))
    }));
}

/// Scrambles a value so that every bit of it depends on every bit.
#[inline(always)]
pub fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(STEP);
    let value = (value ^ (value >> 32)).wrapping_mul(STEP);
    value ^ (value >> 32)
}
