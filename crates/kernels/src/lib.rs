//! The inner loops of nearkin: the only place where unsafe code may stand, behind safe functions.
//!
//! `scalar` is the reference. Other files have the same functions for what a machine may offer; which is
//! used is decided at run time, and a test compares each with the reference.

#[cfg(target_arch = "x86_64")]
mod avx2;
pub mod scalar;

/// What 64 bytes of text are to words, a bit a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordMask {
    /// ASCII letters, digits and underscore.
    pub word: u64,
    /// Bytes of characters that are not ASCII.
    pub other: u64,
}

/// For every block of 64 bytes, which of them are ASCII letters, digits or underscore, and which are not
/// ASCII. The length of `text` is a multiple of 64.
pub fn word_masks(text: &[u8], masks: &mut Vec<WordMask>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::word_masks(text, masks) };
    }
    scalar::word_masks(text, masks);
}

/// How many values two sorted slices without repeats share.
pub fn shared(a: &[u64], b: &[u64]) -> usize {
    shared_at_least(a, b, 0).unwrap_or(0)
}

/// [`shared`], if it is at least `need`; gives up as soon as it cannot be.
pub fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::shared_at_least(a, b, need) };
    }
    scalar::shared_at_least(a, b, need)
}

/// How many bits of two equally long lists of words differ.
pub fn differing_bits(a: &[u64], b: &[u64]) -> usize {
    scalar::differing_bits(a, b)
}

/// How many bytes of two equally long lists of words agree.
pub fn equal_bytes(a: &[u64], b: &[u64]) -> usize {
    scalar::equal_bytes(a, b)
}

/// Where the first quote, backslash or control character of a JSON string stands; the length where there is
/// none.
pub fn string_special(bytes: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::string_special(bytes) };
    }
    scalar::string_special(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn word_masks_equal_the_reference(mut text in vec(any::<u8>(), 0..500)) {
            text.resize(text.len().next_multiple_of(64), 0);
            let (mut fast, mut reference) = (Vec::new(), Vec::new());
            word_masks(&text, &mut fast);
            scalar::word_masks(&text, &mut reference);
            prop_assert_eq!(fast, reference);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn all_versions_count_the_intersection(
            a in btree_set(0u64..400, 0..300),
            b in btree_set(0u64..400, 0..300),
            need in 0usize..200,
        ) {
            let truth = a.intersection(&b).count();
            // Spread over the whole range, in the same order.
            let slice = |set: &BTreeSet<u64>| set.iter().map(|x| x << 55).collect::<Vec<_>>();
            let (a, b) = (slice(&a), slice(&b));
            let enough = (truth >= need).then_some(truth);
            prop_assert_eq!(shared(&a, &b), truth);
            prop_assert_eq!(shared_at_least(&a, &b, need), enough);
            prop_assert_eq!(scalar::shared_at_least(&a, &b, need), enough);
        }

        #[test]
        fn string_special_equals_the_reference(
            plain in vec(0x23u8..0x5b, 0..200),
            special in any::<u8>(),
            rest in vec(any::<u8>(), 0..80),
        ) {
            let mut text = plain;
            text.push(special);
            text.extend(rest);
            for start in 0..text.len().min(40) {
                let text = &text[start..];
                prop_assert_eq!(string_special(text), scalar::string_special(text));
            }
        }
    }

    #[test]
    fn every_byte_is_classed_as_by_the_reference() {
        let text: Vec<u8> = (0..=255).collect();
        let (mut fast, mut reference) = (Vec::new(), Vec::new());
        word_masks(&text, &mut fast);
        scalar::word_masks(&text, &mut reference);
        assert_eq!(fast, reference);
        assert_eq!(
            reference.iter().map(|mask| mask.word.count_ones()).sum::<u32>(),
            26 + 26 + 10 + 1
        );
    }
}
