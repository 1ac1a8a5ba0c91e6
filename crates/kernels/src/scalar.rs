//! Plain Rust versions of every kernel: the reference.

use crate::WordMask;

/// How many values two sorted slices without repeats share.
pub fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        // Both comparisons become flags, not branches: the order of hashes cannot be predicted.
        let (x, y) = (a[i], b[j]);
        count += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    count
}

/// [`shared`], if it is at least `need`; gives up as soon as it cannot be.
pub fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize> {
    /// Steps between two looks at whether enough is left: rare enough to cost nothing.
    const STRIDE: usize = 64;
    let (mut i, mut j, mut count) = (0, 0, 0);
    loop {
        let left = (a.len() - i).min(b.len() - j);
        if count + left < need {
            return None;
        }
        if left == 0 {
            return Some(count);
        }
        for _ in 0..left.min(STRIDE) {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn both_count_the_intersection(
            a in btree_set(0u64..400, 0..300),
            b in btree_set(0u64..400, 0..300),
            need in 0usize..200,
        ) {
            let truth = a.intersection(&b).count();
            let slice = |set: &BTreeSet<u64>| set.iter().copied().collect::<Vec<_>>();
            let (a, b) = (slice(&a), slice(&b));
            prop_assert_eq!(shared(&a, &b), truth);
            prop_assert_eq!(shared_at_least(&a, &b, need), (truth >= need).then_some(truth));
        }
    }
}
