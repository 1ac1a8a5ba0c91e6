//! Bits and bytes of sketches.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_versions_count_bits_that_differ(pairs in vec(any::<(u64, u64)>(), 0..100)) {
        let (a, b): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
        let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1;
        let count = |holds: fn(u64, u64) -> bool| {
            (0..64 * a.len()).filter(|&i| holds(bit(&a, i), bit(&b, i))).count() as u64
        };
        for (name, version) in versions::hamming() {
            prop_assert_eq!(version(&a, &b), count(|x, y| x != y), "{}", name);
        }
        for (name, version) in versions::common_bits() {
            prop_assert_eq!(version(&a, &b), count(|x, y| x & y == 1), "{}", name);
        }
    }

    #[test]
    fn all_versions_see_whether_any_are_equal(pairs in vec((0u64..40, 0u64..40), 0..40), high: u64) {
        let (a, b): (Vec<u64>, Vec<u64>) = pairs.iter().map(|(x, y)| (x ^ high, y ^ high)).unzip();
        let expected = pairs.iter().any(|(x, y)| x == y);
        for (name, version) in versions::any_equal() {
            prop_assert_eq!(version(&a, &b), expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_count_equal_bytes(pairs in vec((0u8..3, 0u8..3), 0..1000)) {
        let (a, b): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
        for start in 0..a.len().min(70) {
            let (a, b) = (&a[start..], &b[start..]);
            let expected = scalar::equal_bytes(a, b);
            for (name, version) in versions::equal_bytes() {
                prop_assert_eq!(version(a, b), expected, "{}", name);
            }
        }
    }

    #[test]
    fn all_versions_put_last_bytes(values in vec(any::<u32>(), 0..100)) {
        let mut bytes: Vec<u8> = values.iter().map(|value| value.to_le_bytes()[0]).collect();
        bytes.resize(values.len().next_multiple_of(8), 0);
        let expected: Vec<u64> = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
        for (name, version) in versions::last_bytes() {
            let mut words = vec![7; expected.len()];
            version(&values, &mut words);
            prop_assert_eq!(&words, &expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_find_heads_that_agree(
        heads in vec(vec(0u64..3, 13), 1..40),
        (keys, before) in (0usize..=12).prop_flat_map(|keys| (Just(keys), 0..=2 * keys)),
        agreement in 0usize..100,
    ) {
        let spread = |word: &u64| word * 0x0101_0001_0200_0101;
        let one: Vec<u64> = heads[0].iter().map(spread).collect();
        let many: Vec<u64> = heads[1..].iter().flatten().map(spread).collect();
        let key = |head: &[u64], at: usize| (head[at / 2] >> (32 * (at % 2))) as u32;
        let is_other = |head: &&[u64]| !(0..before).any(|at| key(head, at) == key(&one, at));
        let others: Vec<&[u64]> = many.chunks(13).filter(is_other).collect();
        let bytes = |head: &[u64]| head[keys..].iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let agrees = |head: &&[u64]| {
            let same = bytes(head).into_iter().zip(bytes(&one)).filter(|(a, b)| a == b);
            same.count() >= agreement
        };
        let expected: Vec<u32> = (0u32..)
            .zip(many.chunks(13))
            .filter(|(_, head)| is_other(head) && agrees(head))
            .map(|(number, _)| number)
            .collect();
        for (name, version) in versions::agreeing() {
            let mut out = vec![7];
            let count = version(&one, &many, keys, before, agreement, &mut out);
            prop_assert_eq!(count, others.len(), "{}", name);
            prop_assert_eq!(out[0], 7);
            prop_assert_eq!(&out[1..], &expected[..], "{}", name);
        }
    }

    #[test]
    fn all_versions_turn_bits(numbers in vec(any::<u64>(), 0..200), power in 0u32..5) {
        let bits = 64 << power;
        let is_set = |bit: usize| numbers.iter().filter(|&&x| (x % bits as u64) as usize == bit).count() % 2 == 1;
        for (name, version) in versions::turn_bits() {
            let mut words = vec![0; bits / 64];
            version(&numbers, &mut words);
            prop_assert!((0..bits).all(|bit| (words[bit / 64] >> (bit % 64) & 1 == 1) == is_set(bit)), "{}", name);
        }
    }

    #[test]
    fn all_versions_mark_alike(
        places in vec(prop_oneof![0u64..64, Just(0)], 16),
        numbers in vec(0u64..64, 0..40),
    ) {
        // The first four of six bits name a place, whose bit is its number.
        let wide = |numbers: &[u64]| numbers.iter().map(|x| x << 58).collect::<Vec<_>>();
        let bits: Vec<u32> = (0..16).collect();
        let place = |x: &u64| {
            let first = (x >> 2) as usize;
            [first, (first + 1) % 16].into_iter().find(|&place| places[place] == *x)
        };
        let found: Vec<usize> = numbers.iter().map_while(place).collect();
        let mut expected = vec![0; 8];
        found.iter().for_each(|bit| expected[bit % 8] |= 1u64 << (bit / 8));
        for (name, version) in versions::mark() {
            let mut words = vec![0; 8];
            let count = version(&wide(&numbers), &wide(&places), &bits, 60, &mut words);
            prop_assert_eq!(count, found.len(), "{}", name);
            prop_assert_eq!(&words, &expected, "{}", name);
        }
    }
}

#[test]
fn equal_bytes_counts_all_of_many() {
    let (a, b) = (vec![7; 100_000], vec![7; 100_000]);
    for (name, version) in versions::equal_bytes() {
        assert_eq!(version(&a, &b), 100_000, "{name}");
    }
}
