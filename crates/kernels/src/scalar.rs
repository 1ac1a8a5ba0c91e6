//! Plain Rust versions of every kernel: the reference.

use crate::WordMask;

/// How many values two sorted slices without repeats share, if it is at least `need`; gives up as soon as it
/// cannot be.
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

/// For every block of 64 bytes, which of them are ASCII letters, digits or underscore, and which are not
/// ASCII: a bit a byte, the first byte lowest. The length of `text` is a multiple of 64.
pub fn word_masks(text: &[u8], masks: &mut Vec<WordMask>) {
    for block in text.as_chunks::<64>().0 {
        let mut mask = WordMask::default();
        for (i, &byte) in block.iter().enumerate() {
            mask.word |= u64::from(byte == b'_' || byte.is_ascii_alphanumeric()) << i;
            mask.other |= u64::from(byte >> 7) << i;
        }
        masks.push(mask);
    }
}

/// Where the first quote, backslash or control character of a JSON string stands; the length where there is
/// none.
pub fn string_special(bytes: &[u8]) -> usize {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    bytes.iter().position(special).unwrap_or(bytes.len())
}

/// See [`crate::equal_bytes`].
pub fn equal_bytes(a: &[u64], b: &[u64]) -> usize {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let words = a.iter().zip(b).map(|(x, y)| {
        let differ = x ^ y;
        // The high bit of every byte that is not zero; no carry passes from one to the next.
        let differ = ((differ & LOW) + LOW | differ) & !LOW;
        8 - differ.count_ones() as usize
    });
    words.sum()
}

/// See [`crate::differing_bits`].
pub fn differing_bits(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones() as usize).sum()
}
