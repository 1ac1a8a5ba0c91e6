//! The kernels with NEON: 16 bytes at a time.
//!
//! For the others the compiler uses NEON in the reference, since every 64-bit Arm processor has it.

use std::arch::aarch64::*;

use crate::float::{self, Sixteen};
use crate::hash::Blocks;
use crate::scalar::{Block, FACTORS, PORTION};
use crate::tiles::{self, TILE};
use crate::{HashKey, Throw, WordMask};

/// See [`crate::lower_blocks`].
#[target_feature(enable = "neon")]
pub(crate) fn lower_blocks(
    text: &[u8],
    lower: bool,
    padded: &mut [u8],
    masks: &mut [WordMask],
) -> bool {
    crate::scalar::assert_room(text, padded, masks);
    // Added to A to Z it makes them a to z.
    let case = vdupq_n_u8(if lower { 0x20 } else { 0 });
    let (blocks, rest) = text.as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    let mut others = 0;
    let copies = padded.as_chunks_mut::<64>().0.iter_mut().zip(masks);
    for (block, (copy, mask)) in blocks.iter().chain([&last]).zip(copies) {
        let parts = block.as_chunks::<16>().0;
        let parts = [load(&parts[0]), load(&parts[1]), load(&parts[2]), load(&parts[3])];
        for (&bytes, copy) in parts.iter().zip(copy.as_chunks_mut::<16>().0) {
            let upper = within(bytes, b'A', b'Z');
            let lowered = vaddq_u8(bytes, vandq_u8(upper, case));
            // SAFETY: 16 bytes are writable at `copy`.
            unsafe { vst1q_u8(copy.as_mut_ptr(), lowered) };
        }
        mask.word = bits([
            word_bytes(parts[0]),
            word_bytes(parts[1]),
            word_bytes(parts[2]),
            word_bytes(parts[3]),
        ]);
        let ascii = |bytes| vcltq_u8(bytes, vdupq_n_u8(0x80));
        mask.other = !bits([ascii(parts[0]), ascii(parts[1]), ascii(parts[2]), ascii(parts[3])]);
        others |= mask.other;
    }
    padded[64 * (blocks.len() + 1)..].fill(0);
    others == 0
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: 16 bytes are readable at `bytes`.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// All ones in bytes that are between two, these included.
#[inline]
#[target_feature(enable = "neon")]
fn within(bytes: uint8x16_t, first: u8, last: u8) -> uint8x16_t {
    vcleq_u8(vsubq_u8(bytes, vdupq_n_u8(first)), vdupq_n_u8(last - first))
}

/// All ones in ASCII letters, digits and underscore.
#[inline]
#[target_feature(enable = "neon")]
fn word_bytes(bytes: uint8x16_t) -> uint8x16_t {
    let letters = within(vorrq_u8(bytes, vdupq_n_u8(0x20)), b'a', b'z');
    let underscore = vceqq_u8(bytes, vdupq_n_u8(b'_'));
    vorrq_u8(vorrq_u8(letters, underscore), within(bytes, b'0', b'9'))
}

/// One bit for each of 64 bytes that are all ones or all zeros.
#[inline]
#[target_feature(enable = "neon")]
fn bits(parts: [uint8x16_t; 4]) -> u64 {
    let weights = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
    let weigh = |part| vandq_u8(part, weights);
    // Each sum of neighbours halves the bytes; after three, eight bits have become one byte.
    let low = vpaddq_u8(weigh(parts[0]), weigh(parts[1]));
    let high = vpaddq_u8(weigh(parts[2]), weigh(parts[3]));
    let sums = vpaddq_u8(low, high);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

/// See [`crate::hash_words`].
#[target_feature(enable = "neon,aes")]
pub(crate) fn hash_words(key: &HashKey, padded: &[u8], masks: &[WordMask], tokens: &mut Vec<u64>) {
    crate::scalar::words_hashed::<OneBlock>(key, padded, masks, tokens, |bits, base, places| {
        crate::scalar::each_byte(bits, base, places, |all, base, places| {
            let base = vdupq_n_u32(base);
            let all = vmovl_u8(vcreate_u8(u64::from_le_bytes(*all)));
            let low = vaddw_u16(base, vget_low_u16(all));
            let high = vaddw_u16(base, vget_high_u16(all));
            // SAFETY: 32 bytes are writable at `places`.
            unsafe {
                vst1q_u32(places.as_mut_ptr().cast(), low);
                vst1q_u32(places.as_mut_ptr().add(4).cast(), high);
            }
        });
    });
}

/// See [`crate::hash_pieces`].
#[target_feature(enable = "neon,aes")]
pub(crate) fn hash_pieces(key: &HashKey, padded: &[u8], pieces: &[[u32; 2]], out: &mut Vec<u64>) {
    crate::scalar::pieces_hashed::<OneBlock>(key, padded, pieces, out);
}

/// See [`crate::hash_piece`].
#[target_feature(enable = "neon,aes")]
pub(crate) fn hash_piece(key: &HashKey, piece: &[u8]) -> u64 {
    crate::hash::piece_hashed::<OneBlock>(key, piece)
}

/// See [`crate::fingerprint`].
#[target_feature(enable = "neon,aes")]
pub(crate) fn fingerprint(key: &HashKey, text: &[u8]) -> u128 {
    crate::hash::text_fingerprint::<OneBlock>(key, text)
}

/// See [`crate::shingle`].
#[target_feature(enable = "neon,aes")]
pub(crate) fn shingle(key: &HashKey, tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    crate::hash::shingles::<OneBlock>(key, tokens, k, out);
}

/// See [`crate::join_windows`].
#[target_feature(enable = "neon,aes")]
pub(crate) fn join_windows(key: &HashKey, words: &[[u64; 2]], k: usize, out: &mut Vec<[u64; 2]>) {
    crate::hash::windows_joined::<OneBlock>(key, words, k, out);
}

/// One block in a register.
#[derive(Clone, Copy)]
struct OneBlock(uint8x16_t);

// SAFETY, of all blocks here: only functions compiled for NEON and AES name this type, loads and stores ask for no
// alignment, and what the trait asks for is what each reads or writes.
impl Blocks for OneBlock {
    type One = Self;
    const N: usize = 1;
    #[inline(always)]
    fn all(block: &Block) -> Self {
        // SAFETY: as above.
        Self(unsafe { vld1q_u8(block.as_ptr()) })
    }
    #[inline(always)]
    unsafe fn load(from: *const Block) -> Self {
        // SAFETY: as above.
        Self(unsafe { vld1q_u8(from.cast::<u8>()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Block) {
        // SAFETY: as above.
        unsafe { vst1q_u8(to.cast::<u8>(), self.0) }
    }
    #[inline(always)]
    unsafe fn neighbours(from: *const u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { vld1q_u8(from.cast::<u8>()) })
    }
    #[inline(always)]
    unsafe fn pieces(
        place: impl Fn(usize) -> *const u8,
        length: impl Fn(usize) -> usize,
        masks: &[Block; 16],
        added: &[Block; 16],
    ) -> Self {
        let length = length(0);
        // SAFETY: as above.
        unsafe {
            let bytes = vandq_u8(vld1q_u8(place(0)), Self::all(&masks[length]).0);
            Self(veorq_u8(bytes, Self::all(&added[length]).0))
        }
    }
    #[inline(always)]
    unsafe fn put_low(self, to: *mut u64) {
        // SAFETY: as above.
        unsafe { vst1_u8(to.cast::<u8>(), vget_low_u8(self.0)) }
    }
    #[inline(always)]
    fn round(self, key: Self) -> Self {
        // These instructions add a key before the round.
        // SAFETY: as above.
        Self(unsafe { veorq_u8(vaesmcq_u8(vaeseq_u8(self.0, vdupq_n_u8(0))), key.0) })
    }
    #[inline(always)]
    fn last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { veorq_u8(vaeseq_u8(self.0, vdupq_n_u8(0)), key.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { veorq_u8(self.0, other.0) })
    }
}

/// See [`crate::throw_all`].
#[target_feature(enable = "neon")]
pub(crate) fn throw_all(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    crate::scalar::thrown_all(throw, elements, values, |throw, elements, count| {
        throw_portion(throw, elements, count)
    });
}

/// See [`crate::fill_open`].
#[target_feature(enable = "neon")]
pub(crate) fn fill_open(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    crate::scalar::open_filled(throw, elements, values, |throw, elements, count| {
        throw_portion(throw, elements, count)
    });
}

/// Throws the first `count` of the elements, two at a time.
#[inline]
#[target_feature(enable = "neon")]
fn throw_portion(throw: &Throw, elements: &[u64; PORTION], count: usize) -> [u64; PORTION] {
    let key = vdupq_n_u64(throw.key);
    let low_half = vdupq_n_u64(0xffff_ffff);
    let mut thrown = [0; PORTION];
    let twos = elements.as_chunks::<2>().0.iter().zip(thrown.as_chunks_mut::<2>().0);
    for (two, thrown) in twos.take(count.div_ceil(2)) {
        // SAFETY: 16 bytes are readable at `two`.
        let x = veorq_u64(unsafe { vld1q_u64(two.as_ptr()) }, key);
        let x = mix_halves(x, throw.factors);
        let x = mix_halves(mix_halves(x, FACTORS[0]), FACTORS[1]);
        let groups = vmull_n_u32(vshrn_n_u64::<32>(x), throw.groups);
        // SAFETY: 16 bytes are writable at `thrown`.
        unsafe { vst1q_u64(thrown.as_mut_ptr(), vbslq_u64(low_half, x, groups)) };
    }
    thrown
}

#[inline]
#[target_feature(enable = "neon")]
fn mix_halves(x: uint64x2_t, [low, high]: [u32; 2]) -> uint64x2_t {
    let low = vmull_n_u32(vmovn_u64(x), low);
    let high = vmull_n_u32(vshrn_n_u64::<32>(x), high);
    veorq_u64(low, vreinterpretq_u64_u32(vrev64q_u32(vreinterpretq_u32_u64(high))))
}

/// See [`crate::agreeing`].
#[target_feature(enable = "neon")]
pub(crate) fn agreeing(
    one: &[u64],
    many: &[u64],
    keys: usize,
    before: usize,
    agreement: usize,
    out: &mut Vec<u32>,
) -> usize {
    crate::scalar::agreeing_heads(one, many, (keys, before), out, |head| {
        let is_other = !crate::scalar::any_key_equal(one, head, before);
        let equal = equal_bytes(crate::bytes_of(&one[keys..]), crate::bytes_of(&head[keys..]));
        (is_other, equal >= agreement)
    })
}

/// See [`crate::equal_bytes`].
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn equal_bytes(a: &[u8], b: &[u8]) -> usize {
    /// Blocks whose counts fit into a byte.
    const STRIDE: usize = 255;
    assert_eq!(a.len(), b.len(), "slices of the same length");
    let (a_blocks, a_rest) = a.as_chunks();
    let (b_blocks, b_rest) = b.as_chunks();
    let mut count = crate::scalar::equal_bytes(a_rest, b_rest);
    for (a, b) in a_blocks.chunks(STRIDE).zip(b_blocks.chunks(STRIDE)) {
        let mut counts = vdupq_n_u8(0);
        for (a, b) in a.iter().zip(b) {
            // All ones is one less than zero.
            counts = vsubq_u8(counts, vceqq_u8(load(a), load(b)));
        }
        count += usize::from(vaddlvq_u8(counts));
    }
    count
}

/// See [`crate::string_special`].
#[target_feature(enable = "neon")]
pub(crate) fn string_special(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<16>();
    for (i, block) in blocks.iter().enumerate() {
        let block = load(block);
        let quote = vceqq_u8(block, vdupq_n_u8(b'"'));
        let backslash = vceqq_u8(block, vdupq_n_u8(b'\\'));
        let control = vcltq_u8(block, vdupq_n_u8(0x20));
        let special = vorrq_u8(vorrq_u8(quote, backslash), control);
        // Four bits a byte.
        let special = vshrn_n_u16::<4>(vreinterpretq_u16_u8(special));
        let special = vget_lane_u64::<0>(vreinterpret_u64_u8(special));
        if special != 0 {
            return 16 * i + special.trailing_zeros() as usize / 4;
        }
    }
    16 * blocks.len() + crate::scalar::string_special(rest)
}

/// See [`crate::unescape`].
#[target_feature(enable = "neon")]
pub(crate) fn unescape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    crate::json::unescaped(bytes, out, |bytes| string_special(bytes))
}

/// Sixteen numbers in four registers.
#[derive(Clone, Copy)]
struct Four([float32x4_t; 4]);

// SAFETY, of all blocks here: only functions compiled for NEON name this type.
impl Sixteen for Four {
    #[inline(always)]
    fn all(x: f32) -> Self {
        // SAFETY: as above.
        Self([unsafe { vdupq_n_f32(x) }; 4])
    }
    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        // SAFETY: as above; 4 · 4 numbers are readable.
        Self([0, 1, 2, 3].map(|i| unsafe { vld1q_f32(from.as_ptr().add(4 * i)) }))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        for (to, part) in to.as_chunks_mut::<4>().0.iter_mut().zip(self.0) {
            // SAFETY: as above; 4 numbers are writable.
            unsafe { vst1q_f32(to.as_mut_ptr(), part) };
        }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: as above.
        Self([0, 1, 2, 3].map(|i| unsafe { vaddq_f32(self.0[i], other.0[i]) }))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: as above.
        Self([0, 1, 2, 3].map(|i| unsafe { vsubq_f32(self.0[i], other.0[i]) }))
    }
    #[inline(always)]
    fn absolute(self) -> Self {
        // SAFETY: as above.
        Self(self.0.map(|part| unsafe { vabsq_f32(part) }))
    }
    #[inline(always)]
    fn times_plus(self, factor: Self, sum: Self) -> Self {
        // SAFETY: as above.
        Self([0, 1, 2, 3].map(|i| unsafe { vfmaq_f32(sum.0[i], self.0[i], factor.0[i]) }))
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u16 {
        [0, 1, 2, 3]
            .map(|i| {
                // SAFETY: as above; 4 numbers are readable.
                let bits = unsafe {
                    let place = vld1q_u32([1u32, 2, 4, 8].as_ptr());
                    vaddvq_u32(vandq_u32(vcleq_f32(self.0[i], other.0[i]), place))
                };
                (bits as u16) << (4 * i)
            })
            .into_iter()
            .fold(0, |all, bits| all | bits)
    }
}

/// See [`crate::dot`].
#[target_feature(enable = "neon")]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<Four, float::Product>(a, b)
}

/// See [`crate::squared_distance`].
#[target_feature(enable = "neon")]
pub(crate) fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<Four, float::Square>(a, b)
}

/// See [`crate::absolute_distance`].
#[target_feature(enable = "neon")]
pub(crate) fn absolute_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<Four, float::Difference>(a, b)
}

/// See [`crate::dot_block`].
#[target_feature(enable = "neon")]
pub(crate) fn dot_block(rows: &[f32], dimension: usize, panels: &[f32], out: &mut [f32]) {
    float::many::<Four, float::Product, 6>(rows, dimension, panels, out);
}

/// See [`crate::places_at_most`].
#[target_feature(enable = "neon")]
pub(crate) fn places_at_most(values: &[f32], limit: f32, places: &mut Vec<u32>) {
    float::at_most::<Four>(values, limit, places);
}

/// See [`crate::near_point`].
#[target_feature(enable = "neon")]
pub(crate) fn near_point(tile: &[f32], point: &[f32], limit: f32) -> u64 {
    tiles::near_point::<Four>(tile, point, limit)
}

/// See [`crate::near_box`].
#[target_feature(enable = "neon")]
pub(crate) fn near_box(tile: &[f32], centre: &[f32], half: &[f32], limit: f32) -> u64 {
    tiles::near_box::<Four>(tile, centre, half, limit)
}

/// See [`crate::add_squares`].
#[target_feature(enable = "neon")]
pub(crate) fn add_squares(point: &[f32], rows: &[f32], which: u64, sums: &mut [f32; TILE]) {
    tiles::add_squares::<Four>(point, rows, which, sums);
}
