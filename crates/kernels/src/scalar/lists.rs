//! Lists of numbers: which are wanted, repeated or shared.

use crate::lookup::WINDOW;
use crate::radix::settle;
use crate::{SPARE, filter_bit};

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

/// [`symbols_at_least`] for any numbers, from two places on, with `count` shared before them.
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
