//! Bits that are set, shared or different, and bytes of sketches.

use crate::bit_sets::mark_bit;
use crate::bytes_of;

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

/// [`agreeing`] for any way of saying whether a head shares no key, and whether enough bytes are the same; to be compiled for
/// several machines. Both are always computed, because the answer cannot be predicted.
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
