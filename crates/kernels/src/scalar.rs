//! Plain Rust versions of every kernel: the reference.

pub use crate::affine::{affine_minima_32, affine_minima_64, mersenne_minima};
use crate::bit_sets::mark_bit;
use crate::float;
use crate::hash::{PADDING, hash_loaded, hash_padded, scramble};
pub use crate::json::{string_special, unescape};
use crate::lookup::WINDOW;
use crate::radix::settle;
pub use crate::sha1::sha1_prefixes;
use crate::tiles::{self, TILE};
use crate::{SPARE, Throw, WordMask, bytes_of, filter_bit};

/// The numbers that the later steps of a throw multiply by.
pub(crate) const FACTORS: [[u32; 2]; 2] = [[0xd6e8_feb9, 0x9e37_79b1], [0x85eb_ca6b, 0xc2b2_ae35]];

/// The difference between the keys of two rounds that follow each other.
const NEXT_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

impl Throw {
    /// The group of an element in the upper half, its value there in the lower.
    #[inline(always)]
    pub fn throw(&self, element: u64) -> u64 {
        let x = mix_halves(element ^ self.key, self.factors);
        let x = mix_halves(mix_halves(x, FACTORS[0]), FACTORS[1]);
        let group = ((x >> 32) * u64::from(self.groups)) >> 32;
        group << 32 | x & 0xffff_ffff
    }

    /// The throw of a later round: each has another key.
    #[inline(always)]
    #[must_use]
    pub fn round(&self, number: u64) -> Self {
        Self { key: self.key.wrapping_add(number.wrapping_mul(NEXT_KEY)), ..*self }
    }

    #[inline(always)]
    fn assert_places(&self, places: &[u32]) {
        assert!(self.groups > 0 && places.len() == self.groups as usize, "a place for each group");
    }
}

/// One step of a throw.
#[inline(always)]
fn mix_halves(x: u64, [low, high]: [u32; 2]) -> u64 {
    let (low, high) = ((x & 0xffff_ffff) * u64::from(low), (x >> 32) * u64::from(high));
    low ^ high.rotate_left(32)
}

/// See [`crate::throw_all`].
pub fn throw_all(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    thrown_all(throw, elements, values, throw_portion);
}

/// See [`crate::fill_open`].
pub fn fill_open(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    open_filled(throw, elements, values, throw_portion);
}

/// Elements that are thrown at a time, before any value is looked at.
pub(crate) const PORTION: usize = 32;

/// Throws the first `count` of the elements.
fn throw_portion(throw: &Throw, elements: &[u64; PORTION], count: usize) -> [u64; PORTION] {
    let mut thrown = *elements;
    thrown.iter_mut().take(count).for_each(|x| *x = throw.throw(*x));
    thrown
}

/// [`throw_all`] for any way of throwing a portion.
#[inline(always)]
pub(crate) fn thrown_all(
    throw: &Throw,
    elements: &[u64],
    values: &mut [u32],
    portion: impl Fn(&Throw, &[u64; PORTION], usize) -> [u64; PORTION],
) {
    throw.assert_places(values);
    in_portions(throw, elements, portion, |thrown| {
        for &thrown in thrown {
            // SAFETY: an element's group is below the number of groups.
            let value = unsafe { values.get_unchecked_mut((thrown >> 32) as usize) };
            *value = (*value).min(thrown as u32);
        }
    });
}

/// [`fill_open`] for any way of throwing a portion, to be compiled for several machines.
#[inline(always)]
pub(crate) fn open_filled(
    throw: &Throw,
    elements: &[u64],
    values: &mut [u32],
    portion: impl Fn(&Throw, &[u64; PORTION], usize) -> [u64; PORTION],
) {
    /// Up to so many groups the list of the open ones stands on the stack.
    const FEW: usize = 128;
    /// Elements that are gone over together: a whole number of portions.
    const MANY: usize = 8 * PORTION;
    /// Fewer open groups are filled one by one, each with several elements at a time.
    const ALONE: usize = 16;
    throw.assert_places(values);
    let (mut few, mut many) = ([0; FEW], Vec::new());
    let open = if values.len() <= FEW {
        &mut few[..]
    } else {
        many.resize(values.len(), 0);
        &mut many[..]
    };
    let mut count = 0;
    for (group, &value) in (0u32..).zip(&*values) {
        // Written in any case: which are open cannot be guessed.
        open[count] = group;
        count += usize::from(value == u32::MAX);
    }
    let throw = Throw { groups: 1, ..throw.round(1) };
    for elements in elements.chunks(MANY) {
        let mut mixed = [0; MANY];
        let mut length = 0;
        in_portions(&throw, elements, &portion, |thrown| {
            for (place, &thrown) in mixed[length..].iter_mut().zip(thrown) {
                *place = thrown as u32;
            }
            length += thrown.len();
        });
        let mixed = &mut mixed[..];
        let (groups, last) = open[..count].as_chunks();
        for groups in groups {
            fill_together(groups, &mixed[..length], values);
        }
        if last.len() >= ALONE {
            // Groups are filled together: one more often than once changes nothing.
            let mut together = [last[0]; BLOCK];
            together[..last.len()].copy_from_slice(last);
            fill_together(&together, &mixed[..length], values);
            continue;
        }
        // Blocks are whole: one element more often than once changes no minimum.
        let blocks = length.div_ceil(BLOCK);
        let first = mixed[0];
        mixed[length..blocks * BLOCK].fill(first);
        for &group in last {
            let mut least = [u32::MAX - 1; BLOCK];
            for block in &mixed.as_chunks::<BLOCK>().0[..blocks] {
                for (least, &mixed) in least.iter_mut().zip(block) {
                    *least = (*least).min(value_in(mixed, group));
                }
            }
            let least = least.into_iter().fold(u32::MAX - 1, u32::min);
            let place = &mut values[group as usize];
            *place = (*place).min(least);
        }
    }
}

/// Groups that are filled together, or elements that a group alone takes on together.
const BLOCK: usize = 32;

/// Brings the values of open groups down to the least of these elements.
#[inline(always)]
fn fill_together(groups: &[u32; BLOCK], mixed: &[u32], values: &mut [u32]) {
    let mut least = [u32::MAX - 1; BLOCK];
    for &mixed in mixed {
        for (least, &group) in least.iter_mut().zip(groups) {
            *least = (*least).min(value_in(mixed, group));
        }
    }
    for (&group, &least) in groups.iter().zip(&least) {
        let place = &mut values[group as usize];
        *place = (*place).min(least);
    }
}

/// The value of a mixed element in an open group: another order of the elements for each group.
#[inline(always)]
pub(crate) fn value_in(mixed: u32, group: u32) -> u32 {
    let x = (mixed ^ group.wrapping_add(1).wrapping_mul(0x9e37_79b1)).wrapping_mul(0x85eb_ca6b);
    (x ^ x >> 15).wrapping_mul(0xc2b2_ae35)
}

#[inline(always)]
fn in_portions(
    throw: &Throw,
    elements: &[u64],
    portion: impl Fn(&Throw, &[u64; PORTION], usize) -> [u64; PORTION],
    mut take: impl FnMut(&[u64]),
) {
    let (portions, rest) = elements.as_chunks();
    portions.iter().for_each(|elements| take(&portion(throw, elements, PORTION)));
    if !rest.is_empty() {
        let mut last = [0; PORTION];
        last[..rest.len()].copy_from_slice(rest);
        take(&portion(throw, &last, rest.len())[..rest.len()]);
    }
}

/// See [`crate::minima`].
pub fn minima(keys: &[u64], elements: &[u64], values: &mut [u64]) {
    minima_lowered(keys, elements, values);
}

/// [`minima`], to be compiled for several machines: a few functions at a time over all elements.
#[inline(always)]
pub(crate) fn minima_lowered(keys: &[u64], elements: &[u64], values: &mut [u64]) {
    assert_eq!(keys.len(), values.len(), "a value for each key");
    let (keys, last_keys) = keys.as_chunks::<16>();
    let (values, last_values) = values.as_chunks_mut::<16>();
    for (keys, values) in keys.iter().zip(values) {
        let mut least = *values;
        for &x in elements {
            for i in 0..16 {
                least[i] = least[i].min(mix(x, keys[i]));
            }
        }
        *values = least;
    }
    for (&key, value) in last_keys.iter().zip(last_values) {
        *value = elements.iter().fold(*value, |least, &x| least.min(mix(x, key)));
    }
}

/// The value of an element under the function with this key: the finaliser of SplitMix64, with the key in two
/// places.
#[inline(always)]
pub fn mix(x: u64, key: u64) -> u64 {
    let x = x ^ key;
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_add(key.rotate_left(32)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// See [`crate::any_equal`].
pub fn any_equal(a: &[u64], b: &[u64]) -> bool {
    assert_eq!(a.len(), b.len(), "lists of the same length");
    a.iter().zip(b).any(|(x, y)| x == y)
}

/// See [`crate::hamming`].
pub fn hamming(a: &[u64], b: &[u64]) -> u64 {
    bits_differing(a, b)
}

/// [`hamming`], to be compiled for several machines.
#[inline(always)]
pub(crate) fn bits_differing(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len(), "strings of the same length");
    let mut sum = 0;
    for (a, b) in a.iter().zip(b) {
        sum += u64::from((a ^ b).count_ones());
    }
    sum
}

/// See [`crate::mark`].
pub fn mark(numbers: &[u64], places: &[u64], bits: &[u32], shift: u32, words: &mut [u64]) -> usize {
    mark_all(numbers, places, bits, shift, words)
}

/// [`mark`], to be compiled for several machines.
#[inline(always)]
pub(crate) fn mark_all(
    numbers: &[u64],
    places: &[u64],
    bits: &[u32],
    shift: u32,
    words: &mut [u64],
) -> usize {
    assert!((1..64).contains(&shift), "first bits");
    let count = 1 << (64 - shift);
    assert!(places.len() == count && bits.len() == count, "as many as first bits name");
    for (i, &number) in numbers.iter().enumerate() {
        let place = (number >> shift) as usize;
        // SAFETY: there are that many places and bits.
        let is_behind = unsafe { *places.get_unchecked(place) } != number;
        let place = (place + usize::from(is_behind)) & (count - 1);
        // SAFETY: as above.
        let (there, bit) = unsafe { (*places.get_unchecked(place), *bits.get_unchecked(place)) };
        if there != number {
            return i;
        }
        mark_bit(bit, words);
    }
    numbers.len()
}

/// See [`crate::common_bits`].
pub fn common_bits(a: &[u64], b: &[u64]) -> u64 {
    bits_in_common(a, b)
}

/// [`common_bits`], to be compiled for several machines.
#[inline(always)]
pub(crate) fn bits_in_common(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len(), "strings of the same length");
    let mut sum = 0;
    for (a, b) in a.iter().zip(b) {
        sum += u64::from((a & b).count_ones());
    }
    sum
}

/// See [`crate::equal_bytes`].
pub fn equal_bytes(a: &[u8], b: &[u8]) -> usize {
    assert_eq!(a.len(), b.len(), "slices of the same length");
    a.iter().zip(b).filter(|(a, b)| a == b).count()
}

/// See [`crate::last_bytes`].
pub fn last_bytes(values: &[u32], words: &mut [u64]) {
    bytes_put(values, words);
}

/// [`last_bytes`], to be compiled for several machines.
#[inline(always)]
pub(crate) fn bytes_put(values: &[u32], words: &mut [u64]) {
    assert_eq!(words.len(), values.len().div_ceil(8), "a byte for each value");
    let (eights, rest) = values.as_chunks::<8>();
    let (whole, last) = words.split_at_mut(eights.len());
    for (word, values) in whole.iter_mut().zip(eights) {
        *word = u64::from_le_bytes(values.map(|value| value as u8));
    }
    for word in last {
        *word = rest.iter().rev().fold(0, |word, &value| word << 8 | u64::from(value & 0xff));
    }
}

/// See [`crate::agreeing`].
pub fn agreeing(
    one: &[u64],
    many: &[u64],
    keys: usize,
    before: usize,
    agreement: usize,
    out: &mut Vec<u32>,
) -> usize {
    agreeing_heads(one, many, (keys, before), out, |head| {
        let equal = equal_bytes(bytes_of(&one[keys..]), bytes_of(&head[keys..]));
        (!any_key_equal(one, head, before), equal >= agreement)
    })
}

/// Whether two heads share one of their first keys.
#[inline(always)]
pub(crate) fn any_key_equal(a: &[u64], b: &[u64], before: usize) -> bool {
    let key = |head: &[u64], at: usize| (head[at / 2] >> (32 * (at % 2))) as u32;
    (0..before).fold(false, |any, at| any | (key(a, at) == key(b, at)))
}

/// [`agreeing`] for any way of saying whether a head shares no key, and whether enough bytes are the same, to be
/// compiled for several machines. Both are always asked, for what comes out of it cannot be guessed.
#[inline(always)]
pub(crate) fn agreeing_heads(
    one: &[u64],
    many: &[u64],
    (keys, before): (usize, usize),
    out: &mut Vec<u32>,
    compare: impl Fn(&[u64]) -> (bool, bool),
) -> usize {
    assert!(before <= 2 * keys && keys <= one.len(), "keys are a part of a head");
    let heads = many.chunks_exact(one.len().max(1));
    assert!(heads.remainder().is_empty(), "whole heads");
    let start = out.len();
    out.resize(start + heads.len(), 0);
    let (mut others, mut agreeing) = (0, start);
    for (number, head) in (0u32..).zip(heads) {
        let (is_other, agrees) = compare(head);
        out[agreeing] = number;
        others += usize::from(is_other);
        agreeing += usize::from(is_other & agrees);
    }
    out.truncate(agreeing);
    others
}

/// See [`crate::with_small_product`].
pub fn with_small_product(numbers: &[u64], factor: u64, limit: u64, out: &mut [u64]) -> usize {
    copied(numbers, out, |number| number.wrapping_mul(factor) <= limit)
}

/// See [`crate::in_filter`].
pub fn in_filter(numbers: &[u64], filter: &[u64], out: &mut [u64]) -> usize {
    filtered(numbers, filter, out)
}

/// [`in_filter`], to be compiled for several machines.
#[inline(always)]
pub(crate) fn filtered(numbers: &[u64], filter: &[u64], out: &mut [u64]) -> usize {
    assert!(filter.len().is_power_of_two(), "as many words as bits can name");
    copied(numbers, out, |number| {
        let (word, bit) = filter_bit(number, filter.len());
        filter[word] >> bit & 1 == 1
    })
}

/// Copies those numbers that are wanted. How many they are.
#[inline(always)]
fn copied(numbers: &[u64], out: &mut [u64], is_wanted: impl Fn(u64) -> bool) -> usize {
    assert!(out.len() >= numbers.len() + SPARE, "room for all of them");
    let mut count = 0;
    for &number in numbers {
        // Written in any case: which are wanted cannot be guessed.
        out[count] = number;
        count += usize::from(is_wanted(number));
    }
    count
}

/// See [`crate::settle_hashes`].
pub fn settle_hashes(hashes: &mut [u64]) -> bool {
    settle(hashes, |hash| hash)
}

/// See [`crate::each_once`].
pub fn each_once(numbers: &mut [u64]) -> usize {
    left_once(numbers)
}

/// [`each_once`], to be compiled for several machines.
#[inline(always)]
pub(crate) fn left_once(numbers: &mut [u64]) -> usize {
    const BLOCK: usize = 32;
    let Some((_, others)) = numbers.split_first() else { return 0 };
    // As a rule no number is repeated, which is soon seen.
    let blocks = numbers.as_chunks::<BLOCK>().0.iter().zip(others.as_chunks::<BLOCK>().0);
    let has_none = |(numbers, next): &(&[u64; BLOCK], &[u64; BLOCK])| {
        !numbers.iter().zip(*next).fold(false, |any, (number, next)| any | (number == next))
    };
    let from = BLOCK * blocks.take_while(has_none).count();
    let mut kept = from + 1;
    let mut before = numbers[from];
    for i in from + 1..numbers.len() {
        let number = numbers[i];
        // Written in any case: where a number is repeated cannot be guessed.
        numbers[kept] = number;
        kept += usize::from(number != before);
        before = number;
    }
    kept
}

/// See [`crate::turn_bits`].
pub fn turn_bits(numbers: &[u64], words: &mut [u64]) {
    turned_bits(numbers, words);
}

/// [`turn_bits`], to be compiled for several machines.
#[inline(always)]
pub(crate) fn turned_bits(numbers: &[u64], words: &mut [u64]) {
    assert!(words.len().is_power_of_two(), "as many words as bits can name");
    let last = words.len() - 1;
    for number in numbers {
        words[(number / 64) as usize & last] ^= 1 << (number % 64);
    }
}

/// See [`crate::shared_at_least`].
pub fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize> {
    shared_from(a, b, (0, 0), 0, need)
}

/// See [`crate::found_in`].
pub fn found_in(places: &[u64], shift: u32, numbers: &[u64]) -> usize {
    assert_window(places, shift);
    let is_found =
        |&&number: &&u64| places[(number >> shift) as usize..][..WINDOW].contains(&number);
    numbers.iter().filter(is_found).count()
}

/// What [`crate::found_in`] asks for.
pub(crate) fn assert_window(places: &[u64], shift: u32) {
    let named = 1usize.checked_shl(64 - shift).filter(|_| (1..64).contains(&shift));
    assert!(named.is_some_and(|named| places.len() >= named + WINDOW - 1), "room for each place");
}

/// See [`crate::symbols_at_least`].
pub fn symbols_at_least(a: &[u32], b: &[u32], need: usize) -> Option<usize> {
    shared_from(a, b, (0, 0), 0, need)
}

/// The same from two places on, with `count` shared before them.
pub(crate) fn shared_from<T: Copy + Ord>(
    a: &[T],
    b: &[T],
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
/// Eight bits at a time from a table, and all eight are written whether or not so many are set: nothing has to be
/// guessed. `widen` adds its second argument to each of the eight in the first.
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
    // SAFETY: so many have just been written.
    unsafe { tokens.set_len(tokens.len() + words.len()) };
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

/// See [`crate::dot`].
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<[f32; 16], float::Product>(a, b)
}

/// See [`crate::squared_distance`].
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<[f32; 16], float::Square>(a, b)
}

/// See [`crate::absolute_distance`].
pub fn absolute_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<[f32; 16], float::Difference>(a, b)
}

/// See [`crate::dot_block`].
pub fn dot_block(rows: &[f32], dimension: usize, panels: &[f32], out: &mut [f32]) {
    float::many::<[f32; 16], float::Product, 2>(rows, dimension, panels, out);
}

/// See [`crate::places_at_most`].
pub fn places_at_most(values: &[f32], limit: f32, places: &mut Vec<u32>) {
    float::at_most::<[f32; 16]>(values, limit, places);
}

/// See [`crate::near_point`].
pub fn near_point(tile: &[f32], point: &[f32], limit: f32) -> u64 {
    tiles::near_point::<[f32; 16]>(tile, point, limit)
}

/// See [`crate::near_box`].
pub fn near_box(tile: &[f32], centre: &[f32], half: &[f32], limit: f32) -> u64 {
    tiles::near_box::<[f32; 16]>(tile, centre, half, limit)
}

/// See [`crate::add_squares`].
pub fn add_squares(point: &[f32], rows: &[f32], which: u64, sums: &mut [f32; TILE]) {
    tiles::add_squares::<[f32; 16]>(point, rows, which, sums);
}

/// See [`crate::near_bits`].
pub fn near_bits(one: &[u64], many: &[u64], limit: u64) -> u64 {
    tiles::near_bits(one, many, limit)
}
