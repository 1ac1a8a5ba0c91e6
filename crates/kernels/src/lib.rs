//! The inner loops of nearkin: the only place for unsafe code, behind safe functions.
//!
//! `scalar` is the reference. `avx2`, `avx512` and `neon` have the same functions for machines that offer these
//! instructions. `dispatch` chooses at run time, and tests compare each version with the reference.

mod affine;
mod allocator;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bit_sets;
mod float;
mod hash;
mod json;
mod lookup;
mod memory;
mod radix;
#[macro_use]
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod scalar;
mod sha1;
mod standard_output;
#[cfg(test)]
mod tests;
mod tiles;

pub use allocator::{SystemMemory, end_at_once, may_fail, when_refused};
pub use bit_sets::BitSets;
pub use float::{PANEL, panels_of};
pub use hash::{HashKey, PADDING, band_keys, combine, scramble};
pub use json::{AT_ONCE, meaning};
pub use lookup::Lookup;
pub use memory::{fetch, keep_freed_memory, keep_large_pieces, share_memory, use_large_pages};
pub use radix::{sort_by_high_half, sort_entries, sort_hashes};
pub use sha1::sha1_prefix;
pub use standard_output::stdout_was_closed;
pub use tiles::TILE;

/// Which of 64 bytes of text belong to words: one bit per byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordMask {
    /// ASCII letters, digits and underscore; others that belong to words once somebody has added them.
    pub word: u64,
    /// Bytes of characters that are not ASCII.
    pub other: u64,
}

/// Places that the copies of some kernels may run over.
pub const SPARE: usize = 8;

/// Where a number's bit is in a filter of `words` words, a power of two: the word, and the bit in it.
#[inline(always)]
pub fn filter_bit(number: u64, words: usize) -> (usize, u32) {
    let mixed = number ^ number >> 32;
    ((mixed / 64) as usize & (words - 1), (mixed % 64) as u32)
}

/// How elements are thrown into groups.
///
/// A step multiplies the halves of a word by a number each, to 64 bits, and adds the one product without
/// carry to the other turned by half. Three of them bring every bit of an element to every bit of its place.
/// The products are of 32 bits by 32 because that is what machines can do several of at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throw {
    /// What elements are mixed with first.
    pub key: u64,
    /// The numbers that the first step multiplies by, which should be odd.
    pub factors: [u32; 2],
    /// How many groups there are, at least 1.
    pub groups: u32,
}

kernels! {
    /// Copies `text` into `padded`, with zeros behind it and its ASCII letters in lower case if asked for. `masks` get which
    /// bytes belong to words. Returns whether all of the text is ASCII.
    ///
    /// # Panics
    /// Unless `padded` and `masks` have the lengths that [`lower_words`] gives them.
    fn lower_blocks(text: &[u8], lower: bool, padded: &mut [u8], masks: &mut [WordMask]) -> bool, in [avx512 avx2 neon];

    /// Appends the hash of every word, given which bytes of `padded` belong to words. A word that the last
    /// block does not end is left out.
    ///
    /// # Panics
    /// When `padded` has fewer than 64 bytes per mask and [`PADDING`].
    fn hash_words(key: &HashKey, padded: &[u8], masks: &[WordMask], tokens: &mut Vec<u64>) -> (), in [avx512 avx2 neon_aes];

    /// Appends the hash of every piece of `padded`, given where each begins and ends.
    ///
    /// # Panics
    /// When a piece ends before it begins, or fewer than [`PADDING`] bytes follow one.
    fn hash_pieces(key: &HashKey, padded: &[u8], pieces: &[[u32; 2]], out: &mut Vec<u64>) -> (), in [avx512 avx2 neon_aes];

    /// The hash of a piece with nothing behind it.
    fn hash_piece(key: &HashKey, piece: &[u8]) -> u64, in [avx512 avx2 neon_aes];

    /// The hash of a whole text, 128 bits.
    fn fingerprint(key: &HashKey, text: &[u8]) -> u128, in [avx512 avx2 neon_aes];

    /// Appends the hash of every run of `k` tokens, which are hashes themselves; none when there are fewer.
    ///
    /// # Panics
    /// When `k` is 0.
    fn shingle(key: &HashKey, tokens: &[u64], k: usize, out: &mut Vec<u64>) -> (), in [avx512 avx2 neon_aes];

    /// Appends 128 bits for every run of `k` words, which are 128 bits each; none when there are fewer. They are joined two at
    /// a time in steps of double length, so a run costs the same at its every place and little more the longer it is.
    ///
    /// # Panics
    /// When `k` is 0.
    fn join_windows(key: &HashKey, words: &[[u64; 2]], k: usize, out: &mut Vec<[u64; 2]>) -> (), in [avx512 avx2 neon_aes];

    // This one has no version for eight at a time. It took a tenth longer than that for four, because most of the time
    // goes into looking at the groups one by one.

    /// Throws elements into groups: lowers each group's value to the smallest of the elements that it receives.
    ///
    /// # Panics
    /// Unless there is a value for each group.
    fn throw_all(throw: &Throw, elements: &[u64], values: &mut [u32]) -> (), in [avx2 neon];

    /// Gives the groups whose value is `u32::MAX` the smallest value of all elements, in an order of the
    /// elements that each group has for itself. A value of `u32::MAX` counts as one less.
    ///
    /// # Panics
    /// Unless there is a value for each group.
    fn fill_open(throw: &Throw, elements: &[u64], values: &mut [u32]) -> (), in [avx512 avx2 neon];

    /// Copies to `out` the numbers whose product with `factor`, modulo 2⁶⁴, is at most `limit`. Returns how many; behind
    /// them `out` may hold anything.
    ///
    /// # Panics
    /// Unless `out` has [`SPARE`] places more than there are numbers.
    fn with_small_product(numbers: &[u64], factor: u64, limit: u64, out: &mut [u64]) -> usize, in [avx512];

    /// Copies to `out` the numbers whose bit, that of [`filter_bit`], is set in a filter. Returns how many; behind them `out`
    /// may hold anything.
    ///
    /// # Panics
    /// Unless the filter has a power of two of words, and `out` [`SPARE`] places more than there are numbers.
    fn in_filter(numbers: &[u64], filter: &[u64], out: &mut [u64]) -> usize, in [avx512 avx2];

    /// Sorts numbers that are nearly in order. Returns false if it gave up because some have far to go.
    fn settle_hashes(hashes: &mut [u64]) -> bool, in [avx512 avx2];

    /// Removes repeats of sorted numbers. Returns how many are left, in front.
    fn each_once(numbers: &mut [u64]) -> usize, in [avx512 avx2];

    /// Turns one bit for each number: the one that its last bits name.
    ///
    /// # Panics
    /// Unless the number of words is a power of two.
    fn turn_bits(numbers: &[u64], words: &mut [u64]) -> (), in [avx2];

    /// How many values two sorted slices without repeats share, if at least `need`. Gives up as soon as that is impossible.
    fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize>, in [avx512 avx2];

    /// How many of these numbers stand in one of four places, the first of which their first bits name: the number shifted
    /// to the right. No number may stand in two of its places.
    ///
    /// # Panics
    /// Unless `shift` is below 64 and there are three places more than the first bits can name.
    fn found_in(places: &[u64], shift: u32, numbers: &[u64]) -> usize, in [avx2];

    /// Sets the bits of numbers until one stands neither at the place that its first bits name, the number shifted to the
    /// right, nor at the next place (the first comes behind the last). Each place has a bit, and `words` are those of a set
    /// of [`BitSets`]. Returns how many numbers were done.
    ///
    /// # Panics
    /// Unless `shift` is from 1 to 63, there are as many places and bits as the first bits can name, and the bits of places
    /// that are met are in `words`.
    fn mark(numbers: &[u64], places: &[u64], bits: &[u32], shift: u32, words: &mut [u64]) -> usize, in [avx2];

    /// [`shared_at_least`] for symbols of 32 bits.
    fn symbols_at_least(a: &[u32], b: &[u32], need: usize) -> Option<usize>, in [avx2];

    /// The classic minhash: lowers each value to the smallest that its function gives any of the elements. A
    /// function is a key, and the values are those of [`scalar::mix`].
    ///
    /// # Panics
    /// Unless there is a value for each key.
    fn minima(keys: &[u64], elements: &[u64], values: &mut [u64]) -> (), in [avx512 avx2];

    /// Lowers each value to the smallest that its permutation x → ax + b modulo 2³² gives any of the elements.
    ///
    /// # Panics
    /// Unless there are a factor and a term for each value.
    fn affine_minima_32(factors: &[u32], terms: &[u32], elements: &[u32], values: &mut [u32]) -> (), in [avx512 avx2];

    /// [`affine_minima_32`] modulo 2⁶⁴.
    fn affine_minima_64(factors: &[u64], terms: &[u64], elements: &[u64], values: &mut [u64]) -> (), in [avx512 avx2];

    /// [`affine_minima_32`] for the low 32 bits of ax + b modulo 2⁶¹ − 1, where ax + b is taken modulo 2⁶⁴ first.
    fn mersenne_minima(factors: &[u64], terms: &[u64], elements: &[u64], values: &mut [u64]) -> (), in [avx512 avx2];

    /// Appends the first eight bytes of the SHA-1 digest of each message, as numbers whose lowest byte is the first.
    fn sha1_prefixes(messages: &[&[u8]], out: &mut Vec<u64>) -> (), in [avx512 avx2];

    /// Whether two lists have the same number at some place.
    ///
    /// # Panics
    /// Unless they have the same length.
    fn any_equal(a: &[u64], b: &[u64]) -> bool, in [avx2];

    /// In how many bits two strings of bits differ.
    ///
    /// # Panics
    /// Unless they have the same length.
    fn hamming(a: &[u64], b: &[u64]) -> u64, in [avx512 avx2];

    /// How many bits two strings of bits both have.
    ///
    /// # Panics
    /// Unless they have the same length.
    fn common_bits(a: &[u64], b: &[u64]) -> u64, in [avx512 avx2];

    // The sums of floats are the same to the bit in every version. The file `float` says how they are ordered and rounded,
    // and why.

    /// The dot product of two vectors.
    ///
    /// # Panics
    /// Unless they have the same length.
    fn dot(a: &[f32], b: &[f32]) -> f32, in [avx512 avx2 neon];

    /// The squared Euclidean distance of two vectors.
    ///
    /// # Panics
    /// Unless they have the same length.
    fn squared_distance(a: &[f32], b: &[f32]) -> f32, in [avx512 avx2 neon];

    /// The Manhattan distance of two vectors.
    ///
    /// # Panics
    /// Unless they have the same length.
    fn absolute_distance(a: &[f32], b: &[f32]) -> f32, in [avx512 avx2 neon];

    /// The dot products of many vectors with many. `rows` are vectors of `dimension` components, one after the other; the
    /// others stand in panels, as [`panels_of`] makes them. `out` gets the values of the first row, then of the second, and
    /// so on: one for each vector of the panels, also for those that only fill up the last panel. A value does not depend on
    /// what else is in the call.
    ///
    /// Two or more rows in a call take less than half the time of one by one. A few dozen are best, since they stay in a
    /// cache.
    ///
    /// # Panics
    /// Unless rows and panels are whole and `out` has rows × vectors places.
    fn dot_block(rows: &[f32], dimension: usize, panels: &[f32], out: &mut [f32]) -> (), in [avx512 avx2 neon];

    /// Appends the places of the values that are at most `limit`, in order. NaN never is.
    fn places_at_most(values: &[f32], limit: f32, places: &mut Vec<u32>) -> (), in [avx512 avx2 neon];

    /// Which of the [`TILE`] points of a tile have a squared Euclidean distance of at most `limit`: one bit per point.
    /// A tile holds the first components of all its points, then the second components, and so on.
    ///
    /// # Panics
    /// Unless the points of the tile have as many components as the point.
    fn near_point(tile: &[f32], point: &[f32], limit: f32) -> u64, in [avx512 avx2 neon];

    /// [`near_point`] for the distance to a box, given by its centre and half its width in each direction.
    ///
    /// # Panics
    /// Unless the points of the tile have as many components as the box.
    fn near_box(tile: &[f32], centre: &[f32], half: &[f32], limit: f32) -> u64, in [avx512 avx2 neon];

    /// Adds to each sum that has a bit in `which` the squared distance of its row to the point. A row has as many
    /// components as the point.
    ///
    /// # Panics
    /// Unless there are [`TILE`] rows, of a multiple of 16 components.
    fn add_squares(point: &[f32], rows: &[f32], which: u64, sums: &mut [f32; TILE]) -> (), in [avx512 avx2 neon];

    /// Which of up to [`TILE`] bit strings, one behind the other, differ from one in at most `limit` bits.
    ///
    /// # Panics
    /// When they are more, or not whole.
    fn near_bits(one: &[u64], many: &[u64], limit: u64) -> u64, in [avx512 avx2];

    /// In how many places two slices have the same byte.
    ///
    /// # Panics
    /// Unless they have the same length.
    fn equal_bytes(a: &[u8], b: &[u8]) -> usize, in [avx512 avx2 neon];

    /// Puts the last byte of every value into a list of words, the first into the lowest byte of the first word.
    ///
    /// # Panics
    /// Unless there is a byte for each value, and less than a word of bytes more.
    fn last_bytes(values: &[u32], words: &mut [u64]) -> (), in [avx512 avx2];

    /// Finds the heads that agree with one. A head has keys of 32 bits, two per word with the first in the lower half, and
    /// bytes from word `keys` on. `many` are heads of the same length, one after the other. Heads that share one of the first
    /// `before` keys at its place are left out. Of the others, appends the numbers of those with at least `agreement` equal
    /// bytes. Returns how many others there are.
    ///
    /// # Panics
    /// When a head has fewer words than `keys` or these fewer keys than `before`, or `many` is not whole.
    fn agreeing(one: &[u64], many: &[u64], keys: usize, before: usize, agreement: usize, out: &mut Vec<u32>) -> usize, in [avx512 avx2 neon];

    /// The place of the first quote, backslash or control character of a JSON string; the length if there is none.
    fn string_special(bytes: &[u8]) -> usize, in [avx512 avx2 neon];

    /// Appends the bytes of a JSON string with simple escapes undone, up to its end or the first quote, control character or
    /// other escape. Returns the place of that. Give `out` room for [`AT_ONCE`] bytes more, which is fastest.
    fn unescape(bytes: &[u8], out: &mut Vec<u8>) -> usize, in [avx512 avx2 neon];
}

/// [`lower_blocks`] with the room it needs: `padded` grows when it has to and never shrinks, and `masks` gets
/// one for each block, the last of which ends behind the text.
pub fn lower_words(
    text: &[u8],
    lower: bool,
    padded: &mut Vec<u8>,
    masks: &mut Vec<WordMask>,
) -> bool {
    let blocks = text.len() / 64 + 1;
    let room = 64 * blocks + PADDING;
    if padded.len() < room {
        padded.resize(room, 0);
    }
    masks.resize(blocks, WordMask::default());
    lower_blocks(text, lower, &mut padded[..room], masks)
}

/// The text that these bytes are, if they are UTF-8.
pub fn utf8(bytes: Vec<u8>) -> Option<String> {
    simdutf8::basic::from_utf8(&bytes).ok()?;
    // SAFETY: they have just been found to be UTF-8.
    Some(unsafe { String::from_utf8_unchecked(bytes) })
}

/// How many values two sorted slices without repeats share.
pub fn shared(a: &[u64], b: &[u64]) -> usize {
    shared_at_least(a, b, 0).unwrap_or(0)
}

/// How many bytes of two lists of words agree.
///
/// # Panics
/// Unless they have the same length.
pub fn equal_bytes_of(a: &[u64], b: &[u64]) -> usize {
    equal_bytes(bytes_of(a), bytes_of(b))
}

fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: the words are that many initialised bytes, and bytes ask for no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size_of_val(words)) }
}
