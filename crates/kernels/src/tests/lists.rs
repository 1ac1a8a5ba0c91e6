//! Lists of numbers.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_versions_look_numbers_up(
        places in Just((0u64..64).collect::<Vec<_>>()).prop_shuffle(),
        numbers in vec(0u64..64, 0..50),
    ) {
        let places = &places[..19];
        // The first four of six bits name a place.
        let wide = |numbers: &[u64]| numbers.iter().map(|x| x << 58).collect::<Vec<_>>();
        let is_there = |x: &&u64| places[(**x >> 2) as usize..][..4].contains(x);
        let expected = numbers.iter().filter(is_there).count();
        for (name, version) in versions::found_in() {
            prop_assert_eq!(version(&wide(places), 60, &wide(&numbers)), expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_copy_what_is_wanted(
        numbers in vec(any::<u64>(), 0..100),
        factor: u64,
        limit: u64,
        filter in (0u32..6).prop_flat_map(|power| vec(any::<u64>(), 1 << power)),
    ) {
        let small = |x: &&u64| x.wrapping_mul(factor) <= limit;
        let bit = |x: &u64| (x ^ x >> 32) as usize % (64 * filter.len());
        let in_filter = |x: &&u64| filter[bit(x) / 64] >> (bit(x) % 64) & 1 == 1;
        let mut out = vec![0; numbers.len() + SPARE];
        for (name, version) in versions::with_small_product() {
            let count = version(&numbers, factor, limit, &mut out);
            prop_assert!(out[..count].iter().eq(numbers.iter().filter(small)), "{}", name);
        }
        for (name, version) in versions::in_filter() {
            let count = version(&numbers, &filter, &mut out);
            prop_assert!(out[..count].iter().eq(numbers.iter().filter(in_filter)), "{}", name);
        }
    }

    #[test]
    fn all_versions_settle(numbers in vec(any::<u64>(), 0..200), moves in vec((0usize..200, 0usize..200), 0..6)) {
        let mut numbers = numbers;
        numbers.sort_unstable();
        let expected = numbers.clone();
        for (from, to) in moves {
            if from.max(to) < numbers.len() {
                let moved = numbers.remove(from);
                numbers.insert(to, moved);
            }
        }
        for (name, version) in versions::settle_hashes() {
            let mut numbers = numbers.clone();
            prop_assert!(version(&mut numbers), "{}", name);
            prop_assert_eq!(&numbers, &expected, "{}", name);
            let mut reversed: Vec<u64> = (0..200).rev().collect();
            prop_assert!(!version(&mut reversed), "{}", name);
        }
    }

    #[test]
    fn all_versions_leave_each_number_once(numbers in vec(prop_oneof![0u64..40, any::<u64>()], 0..200), runs: bool) {
        let mut numbers: Vec<u64> = numbers.iter().map(|x| if runs { x % 7 } else { *x }).collect();
        numbers.sort_unstable();
        let expected: BTreeSet<u64> = numbers.iter().copied().collect();
        for (name, version) in versions::each_once() {
            let mut numbers = numbers.clone();
            let count = version(&mut numbers);
            prop_assert!(numbers[..count].iter().eq(&expected), "{}", name);
        }
    }

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
        for (name, version) in versions::shared_at_least() {
            prop_assert_eq!(version(&a, &b, need), enough, "{}", name);
        }
    }

    #[test]
    fn all_versions_count_the_symbols_shared(
        a in prop_oneof![btree_set(0u32..400, 0..300), btree_set(0u32..30, 0..25)],
        b in prop_oneof![btree_set(0u32..400, 0..300), btree_set(0u32..30, 0..25)],
        alike: bool,
        need in prop_oneof![0usize..10, 0usize..200],
    ) {
        // Half of the time the one is nearly the other.
        let b = if alike { a.iter().copied().filter(|x| x % 31 != 7).chain([401, 402]).collect() } else { b };
        let truth = a.intersection(&b).count();
        let slice = |set: &BTreeSet<u32>| set.iter().map(|x| x << 22).collect::<Vec<_>>();
        let (a, b) = (slice(&a), slice(&b));
        let enough = (truth >= need).then_some(truth);
        for (name, version) in versions::symbols_at_least() {
            prop_assert_eq!(version(&a, &b, need), enough, "{}", name);
        }
    }
}
