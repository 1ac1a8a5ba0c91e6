//! The kernels with AVX-512: 64 bytes at a time.

use std::arch::x86_64::*;

pub(crate) use crate::affine::avx512::{affine_minima_32, affine_minima_64, mersenne_minima};
use crate::avx2::aes::OneBlock;
use crate::float::{self, Sixteen};
use crate::hash::Blocks;
use crate::scalar::Block;
use crate::scalar::{FACTORS, PORTION, Places};
pub(crate) use crate::sha1::avx512::sha1_prefixes;
use crate::tiles::{self, TILE};
use crate::{HashKey, SPARE, Throw, WordMask};

/// See [`crate::lower_blocks`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn lower_blocks(
    text: &[u8],
    lower: bool,
    padded: &mut [u8],
    masks: &mut [WordMask],
) -> bool {
    crate::scalar::assert_room(text, padded, masks);
    // Added to A to Z it makes them a to z.
    let case = _mm512_set1_epi8(if lower { 0x20 } else { 0 });
    let (blocks, rest) = text.as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    let mut others = 0;
    let copies = padded.as_chunks_mut::<64>().0.iter_mut().zip(masks);
    for (block, (copy, mask)) in blocks.iter().chain([&last]).zip(copies) {
        let bytes = load(block);
        let upper = within(bytes, b'A', b'Z');
        let lowered = _mm512_mask_add_epi8(bytes, upper, bytes, case);
        // SAFETY: 64 bytes are writable at `copy`, and the store asks for no alignment.
        unsafe { _mm512_storeu_si512(copy.as_mut_ptr().cast::<__m512i>(), lowered) };
        mask.word = upper
            | within(bytes, b'a', b'z')
            | within(bytes, b'0', b'9')
            | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'_' as i8));
        mask.other = _mm512_movepi8_mask(bytes);
        others |= mask.other;
    }
    padded[64 * (blocks.len() + 1)..].fill(0);
    others == 0
}

/// Which bytes are between two, these included.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn within(bytes: __m512i, first: u8, last: u8) -> u64 {
    let from_first = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
    _mm512_cmple_epu8_mask(from_first, _mm512_set1_epi8((last - first) as i8))
}

#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes are readable at `bytes`, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast::<__m512i>()) }
}

#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn load_eight(words: &[u64; 8]) -> __m512i {
    // SAFETY: 64 bytes are readable at `words`, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast::<__m512i>()) }
}

/// See [`crate::hash_words`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes,vaes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn hash_words(key: &HashKey, padded: &[u8], masks: &[WordMask], tokens: &mut Vec<u64>) {
    #[rustfmt::skip]
    let all = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,
        47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
        31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
        15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
    );
    crate::scalar::words_hashed::<FourBlocks>(key, padded, masks, tokens, |bits, base, places| {
        let put = |places: &mut Places<16>, set: __m128i| {
            let sums = _mm512_add_epi32(_mm512_cvtepu8_epi32(set), _mm512_set1_epi32(base as i32));
            // SAFETY: 64 bytes are writable at `places`, and the store asks for no alignment.
            unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast::<__m512i>(), sums) };
        };
        let set = _mm512_maskz_compress_epi8(bits, all);
        let places = places.as_chunks_mut().0;
        put(&mut places[0], _mm512_castsi512_si128(set));
        put(&mut places[1], _mm512_extracti32x4_epi32::<1>(set));
        if bits.count_ones() > 32 {
            put(&mut places[2], _mm512_extracti32x4_epi32::<2>(set));
            put(&mut places[3], _mm512_extracti32x4_epi32::<3>(set));
        }
    });
}

/// See [`crate::hash_pieces`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes,vaes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn hash_pieces(key: &HashKey, padded: &[u8], pieces: &[[u32; 2]], out: &mut Vec<u64>) {
    crate::scalar::pieces_hashed::<FourBlocks>(key, padded, pieces, out);
}

/// See [`crate::hash_piece`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes,vaes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn hash_piece(key: &HashKey, piece: &[u8]) -> u64 {
    crate::hash::piece_hashed::<FourBlocks>(key, piece)
}

/// See [`crate::fingerprint`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes,vaes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn fingerprint(key: &HashKey, text: &[u8]) -> u128 {
    crate::hash::text_fingerprint::<FourBlocks>(key, text)
}

/// See [`crate::shingle`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes,vaes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn shingle(key: &HashKey, tokens: &[u64], k: usize, out: &mut Vec<u64>) {
    crate::hash::shingles::<FourBlocks>(key, tokens, k, out);
}

/// See [`crate::join_windows`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes,vaes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn join_windows(key: &HashKey, words: &[[u64; 2]], k: usize, out: &mut Vec<[u64; 2]>) {
    crate::hash::windows_joined::<FourBlocks>(key, words, k, out);
}

/// Four blocks in one register.
#[derive(Clone, Copy)]
struct FourBlocks(__m512i);

// SAFETY, of all blocks here: only functions compiled for AVX-512 and VAES name this type, loads and stores ask for no
// alignment, and what the trait asks for is what each reads or writes.
impl Blocks for FourBlocks {
    type One = OneBlock;
    const N: usize = 4;
    #[inline(always)]
    fn all(block: &Block) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_broadcast_i32x4(OneBlock::all(block).0) })
    }
    #[inline(always)]
    unsafe fn load(from: *const Block) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_loadu_si512(from.cast::<__m512i>()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Block) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(to.cast::<__m512i>(), self.0) }
    }
    #[inline(always)]
    unsafe fn neighbours(from: *const u64) -> Self {
        // SAFETY: as above.
        unsafe {
            let five = _mm512_maskz_loadu_epi64(0b1_1111, from.cast::<i64>());
            Self(_mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 1, 2, 2, 3, 3, 4), five))
        }
    }
    #[inline(always)]
    unsafe fn pieces(
        place: impl Fn(usize) -> *const u8,
        length: impl Fn(usize) -> usize,
        masks: &[Block; 16],
        added: &[Block; 16],
    ) -> Self {
        // SAFETY: as above.
        unsafe {
            let one = |i: usize| OneBlock::pieces(|_| place(i), |_| length(i), masks, added).0;
            let two =
                |i: usize| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one(i)), one(i + 1));
            Self(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(two(0)), two(2)))
        }
    }
    #[inline(always)]
    unsafe fn put_low(self, to: *mut u64) {
        // SAFETY: as above.
        unsafe {
            let low = _mm512_maskz_compress_epi64(0b0101_0101, self.0);
            _mm256_storeu_si256(to.cast::<__m256i>(), _mm512_castsi512_si256(low));
        }
    }
    #[inline(always)]
    fn round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_aesenc_epi128(self.0, key.0) })
    }
    #[inline(always)]
    fn last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_aesenclast_epi128(self.0, key.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }
}

/// See [`crate::fill_open`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn fill_open(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    crate::scalar::open_filled(throw, elements, values, |throw, elements, count| {
        throw_portion(throw, elements, count)
    });
}

/// Throws the first `count` of the elements, eight at a time.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn throw_portion(throw: &Throw, elements: &[u64; PORTION], count: usize) -> [u64; PORTION] {
    let key = _mm512_set1_epi64(throw.key as i64);
    let groups = _mm512_set1_epi64(throw.groups as i64);
    let mut thrown = [0; PORTION];
    let eights = elements.as_chunks().0.iter().zip(thrown.as_chunks_mut::<8>().0);
    for (eight, thrown) in eights.take(count.div_ceil(8)) {
        let x = _mm512_xor_si512(load_eight(eight), key);
        let x = mix_halves(x, throw.factors);
        let x = mix_halves(mix_halves(x, FACTORS[0]), FACTORS[1]);
        let groups = _mm512_mul_epu32(_mm512_srli_epi64::<32>(x), groups);
        let x = _mm512_mask_blend_epi32(0b1010_1010_1010_1010, x, groups);
        // SAFETY: 64 bytes are writable at `thrown`, and the store asks for no alignment.
        unsafe { _mm512_storeu_si512(thrown.as_mut_ptr().cast::<__m512i>(), x) };
    }
    thrown
}

#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn mix_halves(x: __m512i, [low, high]: [u32; 2]) -> __m512i {
    let low = _mm512_mul_epu32(x, _mm512_set1_epi64(i64::from(low)));
    let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(x), _mm512_set1_epi64(i64::from(high)));
    _mm512_xor_si512(low, _mm512_shuffle_epi32::<0b10_11_00_01>(high))
}

/// See [`crate::minima`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn minima(keys: &[u64], elements: &[u64], values: &mut [u64]) {
    crate::scalar::minima_lowered(keys, elements, values);
}

/// See [`crate::hamming`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn hamming(a: &[u64], b: &[u64]) -> u64 {
    crate::scalar::bits_differing(a, b)
}

/// See [`crate::common_bits`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn common_bits(a: &[u64], b: &[u64]) -> u64 {
    crate::scalar::bits_in_common(a, b)
}

/// See [`crate::last_bytes`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn last_bytes(values: &[u32], words: &mut [u64]) {
    crate::scalar::bytes_put(values, words);
}

/// See [`crate::agreeing`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn agreeing(
    one: &[u64],
    many: &[u64],
    keys: usize,
    before: usize,
    agreement: usize,
    out: &mut Vec<u32>,
) -> usize {
    let (first, rest) = (before / 16, (1u16 << (before % 16)) - 1);
    let (blocks, last) = ((one.len() - keys) / 8, (1u8 << ((one.len() - keys) % 8)) - 1);
    // Bytes that are left out are equal in the last block.
    let agreement = agreement + 8 * last.count_zeros() as usize;
    crate::scalar::agreeing_heads(one, many, (keys, before), out, |head| {
        let (own, head) = (one.as_ptr(), head.as_ptr());
        // SAFETY: heads have as many words as `one`, with `before` keys in the first `keys` and bytes in the others; what
        // a mask leaves out is not read.
        let eight = |head: *const u64, block: usize, mask: u8| unsafe {
            _mm512_maskz_loadu_epi64(mask, head.add(8 * block).cast::<i64>())
        };
        // SAFETY: the same.
        let halves = |head: *const u64, block: usize, mask: u16| unsafe {
            _mm512_maskz_loadu_epi32(mask, head.add(8 * block).cast::<i32>())
        };
        let mut shared =
            _mm512_mask_cmpeq_epi32_mask(rest, halves(own, first, rest), halves(head, first, rest));
        for block in 0..first {
            shared |= _mm512_cmpeq_epi32_mask(eight(own, block, 0xff), eight(head, block, 0xff));
        }
        // SAFETY: as above.
        let (own, head) = unsafe { (own.add(keys), head.add(keys)) };
        let equal = |block: usize, mask: u8| {
            _mm512_cmpeq_epi8_mask(eight(own, block, mask), eight(head, block, mask)).count_ones()
        };
        let count =
            (0..blocks).fold(equal(blocks, last), |count, block| count + equal(block, 0xff));
        (shared == 0, count as usize >= agreement)
    })
}

/// See [`crate::settle_hashes`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn settle_hashes(hashes: &mut [u64]) -> bool {
    crate::radix::settle(hashes, |hash| hash)
}

/// See [`crate::each_once`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn each_once(numbers: &mut [u64]) -> usize {
    let Some(&first) = numbers.first() else { return 0 };
    // The first is none that comes again.
    let mut before = _mm512_set1_epi64(!first as i64);
    let mut kept = 0;
    let count = numbers.len();
    for at in (0..count).step_by(8) {
        let there = u8::MAX >> 8usize.saturating_sub(count - at);
        // SAFETY: as many numbers are read as there are.
        let eight =
            unsafe { _mm512_maskz_loadu_epi64(there, numbers.as_ptr().add(at).cast::<i64>()) };
        // Each beside the one before it.
        let neighbours = _mm512_alignr_epi64::<7>(eight, before);
        let is_new = _mm512_mask_cmpneq_epi64_mask(there, eight, neighbours);
        let new = _mm512_maskz_compress_epi64(is_new, eight);
        let news = is_new.count_ones();
        // SAFETY: no more are kept than were read, so that nothing is overwritten that is still to be read.
        unsafe {
            let to = numbers.as_mut_ptr().add(kept).cast::<i64>();
            _mm512_mask_storeu_epi64(to, ((1u16 << news) - 1) as u8, new);
        }
        kept += news as usize;
        before = eight;
    }
    kept
}

/// See [`crate::with_small_product`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn with_small_product(
    numbers: &[u64],
    factor: u64,
    limit: u64,
    out: &mut [u64],
) -> usize {
    let (factor, limit) = (_mm512_set1_epi64(factor as i64), _mm512_set1_epi64(limit as i64));
    copied(numbers, out, |eight| _mm512_cmple_epu64_mask(_mm512_mullo_epi64(eight, factor), limit))
}

/// See [`crate::in_filter`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn in_filter(numbers: &[u64], filter: &[u64], out: &mut [u64]) -> usize {
    assert!(filter.len().is_power_of_two(), "as many words as bits can name");
    let last = _mm512_set1_epi64(filter.len() as i64 - 1);
    let (bits, one) = (_mm512_set1_epi64(63), _mm512_set1_epi64(1));
    copied(numbers, out, |eight| {
        let mixed = _mm512_xor_si512(eight, _mm512_srli_epi64::<32>(eight));
        let words = _mm512_and_si512(_mm512_srli_epi64::<6>(mixed), last);
        // SAFETY: each is the place of a word of the filter.
        let words = unsafe { _mm512_i64gather_epi64::<8>(words, filter.as_ptr().cast::<i64>()) };
        let bits = _mm512_sllv_epi64(one, _mm512_and_si512(mixed, bits));
        _mm512_test_epi64_mask(words, bits)
    })
}

/// Copies those numbers that are wanted, given eight at a time. How many they are.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn copied(numbers: &[u64], out: &mut [u64], is_wanted: impl Fn(__m512i) -> __mmask8) -> usize {
    assert!(out.len() >= numbers.len() + SPARE, "room for all of them");
    let mut count = 0;
    let mut copy = |eight: __m512i, wanted: __mmask8| {
        let wanted_first = _mm512_maskz_compress_epi64(wanted, eight);
        // SAFETY: no more are copied than there are numbers, and eight more fit behind as many.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(count).cast::<__m512i>(), wanted_first) };
        count += wanted.count_ones() as usize;
    };
    let (eights, rest) = numbers.as_chunks();
    for eight in eights {
        let eight = load_eight(eight);
        copy(eight, is_wanted(eight));
    }
    let mask = (1u8 << rest.len()) - 1;
    // SAFETY: as many numbers are read as there are.
    let eight = unsafe { _mm512_maskz_loadu_epi64(mask, rest.as_ptr().cast::<i64>()) };
    copy(eight, is_wanted(eight) & mask);
    count
}

/// See [`crate::equal_bytes`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn equal_bytes(a: &[u8], b: &[u8]) -> usize {
    assert_eq!(a.len(), b.len(), "slices of the same length");
    let (a_blocks, a_rest) = a.as_chunks();
    let (b_blocks, b_rest) = b.as_chunks();
    let mut count: usize = 0;
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        count += _mm512_cmpeq_epi8_mask(load(a), load(b)).count_ones() as usize;
    }
    let rest = (1u64 << a_rest.len()) - 1;
    // SAFETY: as many bytes are read as there are, fewer than 64 and the same number on both sides.
    let (a, b) = unsafe {
        (
            _mm512_maskz_loadu_epi8(rest, a_rest.as_ptr().cast::<i8>()),
            _mm512_maskz_loadu_epi8(rest, b_rest.as_ptr().cast::<i8>()),
        )
    };
    count + _mm512_mask_cmpeq_epi8_mask(rest, a, b).count_ones() as usize
}

/// See [`crate::string_special`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn string_special(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<64>();
    for (i, block) in blocks.iter().enumerate() {
        let special = specials(load(block));
        if special != 0 {
            return 64 * i + special.trailing_zeros() as usize;
        }
    }
    let all = (1u64 << rest.len()) - 1;
    // SAFETY: as many bytes are read as there are, fewer than 64.
    let last = unsafe { _mm512_maskz_loadu_epi8(all, rest.as_ptr().cast::<i8>()) };
    // A bit behind the rest, for when nothing is found.
    let special = specials(last) & all | 1 << rest.len();
    64 * blocks.len() + special.trailing_zeros() as usize
}

/// See [`crate::unescape`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn unescape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    crate::json::unescaped_in_blocks(bytes, out, |block| specials(load(block)))
}

/// Which bytes are a quote, a backslash, or below 0x20.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn specials(block: __m512i) -> u64 {
    _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(b'"' as i8))
        | _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(b'\\' as i8))
        | _mm512_cmplt_epu8_mask(block, _mm512_set1_epi8(0x20))
}

/// See [`crate::shared_at_least`]: blocks of eight against blocks of eight, each pair of values once.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize> {
    /// Steps between two looks at whether enough is left.
    const STRIDE: usize = 8;
    let (mut i, mut j, mut count) = (0, 0, 0);
    let (Some(x), Some(y)) = (a.first_chunk::<8>(), b.first_chunk::<8>()) else {
        return crate::scalar::shared_from(a, b, (0, 0), 0, need);
    };
    let (mut a_last, mut b_last) = (x[7], y[7]);
    loop {
        let left = (a.len() - i).min(b.len() - j);
        if count + left < need {
            return None;
        }
        if left < 16 {
            return crate::scalar::shared_from(a, b, (i, j), count, need);
        }
        for _ in 0..STRIDE.min((left - 8) / 8) {
            // SAFETY: a step leaves at most eight values behind, and there are as many steps as leave sixteen
            // before each of them.
            let (x, y, a_next, b_next) = unsafe {
                (
                    &*a.as_ptr().add(i).cast::<[u64; 8]>(),
                    &*b.as_ptr().add(j).cast::<[u64; 8]>(),
                    *a.get_unchecked(i + 15),
                    *b.get_unchecked(j + 15),
                )
            };
            count += equal_values(x, y);
            let (a_behind, b_behind) = (a_last <= b_last, b_last <= a_last);
            i += 8 * usize::from(a_behind);
            j += 8 * usize::from(b_behind);
            a_last = if a_behind { a_next } else { a_last };
            b_last = if b_behind { b_next } else { b_last };
        }
    }
}

/// How many of eight different values are among eight others.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn equal_values(x: &[u64; 8], y: &[u64; 8]) -> usize {
    let x = load_eight(x);
    let equal = |i: usize| _mm512_cmpeq_epi64_mask(x, _mm512_set1_epi64(y[i] as i64));
    let low = equal(0) | equal(1) | equal(2) | equal(3);
    let high = equal(4) | equal(5) | equal(6) | equal(7);
    (low | high).count_ones() as usize
}

/// Sixteen numbers in one register.
#[derive(Clone, Copy)]
struct One(__m512);

// SAFETY, of all blocks here: only functions compiled for AVX-512 name this type, and loads and stores ask for no
// alignment.
impl Sixteen for One {
    #[inline(always)]
    fn all(x: f32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_set1_ps(x) })
    }
    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        // SAFETY: as above; 16 numbers are readable.
        Self(unsafe { _mm512_loadu_ps(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        // SAFETY: as above; 16 numbers are writable.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn absolute(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_abs_ps(self.0) })
    }
    #[inline(always)]
    fn times_plus(self, factor: Self, sum: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, sum.0) })
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u16 {
        // SAFETY: as above.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
}

/// See [`crate::dot`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<One, float::Product>(a, b)
}

/// See [`crate::squared_distance`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<One, float::Square>(a, b)
}

/// See [`crate::absolute_distance`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn absolute_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<One, float::Difference>(a, b)
}

/// See [`crate::dot_block`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn dot_block(rows: &[f32], dimension: usize, panels: &[f32], out: &mut [f32]) {
    float::many::<One, float::Product, 12>(rows, dimension, panels, out);
}

/// See [`crate::places_at_most`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn places_at_most(values: &[f32], limit: f32, places: &mut Vec<u32>) {
    float::at_most::<One>(values, limit, places);
}

/// See [`crate::near_point`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn near_point(tile: &[f32], point: &[f32], limit: f32) -> u64 {
    tiles::near_point::<One>(tile, point, limit)
}

/// See [`crate::near_box`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn near_box(tile: &[f32], centre: &[f32], half: &[f32], limit: f32) -> u64 {
    tiles::near_box::<One>(tile, centre, half, limit)
}

/// See [`crate::add_squares`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn add_squares(point: &[f32], rows: &[f32], which: u64, sums: &mut [f32; TILE]) {
    tiles::add_squares::<One>(point, rows, which, sums);
}

/// See [`crate::near_bits`].
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub(crate) fn near_bits(one: &[u64], many: &[u64], limit: u64) -> u64 {
    tiles::near_bits(one, many, limit)
}
