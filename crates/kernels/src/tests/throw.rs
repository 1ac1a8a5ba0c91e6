//! Throws, minima and digests.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_versions_throw_alike(
        elements in vec(any::<u64>(), 0..100),
        shift in 0u32..60,
        key: u64,
        factors: [u32; 2],
        groups in 1u32..300,
    ) {
        let elements: Vec<u64> = elements.iter().map(|x| x >> shift).collect();
        let throw = Throw { key, factors, groups };
        let mut first = vec![u32::MAX; groups as usize];
        for thrown in elements.iter().map(|&x| throw.throw(x)) {
            let value = &mut first[(thrown >> 32) as usize];
            *value = (*value).min(thrown as u32);
        }
        let mut all = first.clone();
        let again = Throw { groups: 1, ..throw.round(1) };
        for (group, value) in (0u32..).zip(&mut all).filter(|(_, value)| **value == u32::MAX) {
            let values = elements.iter().map(|&x| scalar::value_in(again.throw(x) as u32, group));
            *value = values.map(|value| value.min(u32::MAX - 1)).min().unwrap_or(u32::MAX);
        }
        for (name, version) in versions::throw_all() {
            let mut values = vec![u32::MAX; groups as usize];
            version(&throw, &elements, &mut values);
            prop_assert_eq!(&values, &first, "{}", name);
        }
        for (name, version) in versions::fill_open() {
            let mut values = first.clone();
            version(&throw, &elements, &mut values);
            prop_assert_eq!(&values, &all, "{}", name);
        }
    }

    #[test]
    fn all_versions_find_the_minima(
        keys in vec(any::<u64>(), 0..50),
        elements in vec(any::<u64>(), 0..50),
        start: u64,
    ) {
        let least = |&key: &u64| elements.iter().map(|&x| scalar::mix(x, key)).fold(start, u64::min);
        let expected: Vec<u64> = keys.iter().map(least).collect();
        for (name, version) in versions::minima() {
            let mut values = vec![start; keys.len()];
            version(&keys, &elements, &mut values);
            prop_assert_eq!(&values, &expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_find_the_minima_of_affine_permutations(
        permutations in vec(any::<(u64, u64)>(), 0..150),
        elements in vec(any::<u64>(), 0..20),
        start: u64,
    ) {
        let (a, b): (Vec<u64>, Vec<u64>) = permutations.iter().copied().unzip();
        let least = |start: u64, permuted: &dyn Fn(u128) -> u64| -> Vec<u64> {
            let product = |a: u64, b: u64, x: u64| u128::from(a) * u128::from(x) + u128::from(b);
            let of = |&(a, b): &(u64, u64)| elements.iter().map(|&x| permuted(product(a, b, x))).fold(start, u64::min);
            permutations.iter().map(of).collect()
        };
        let expected = least(start, &|sum| sum as u64);
        for (name, version) in versions::affine_minima_64() {
            let mut values = vec![start; a.len()];
            version(&a, &b, &elements, &mut values);
            prop_assert_eq!(&values, &expected, "{}", name);
        }
        let expected = least(start, &|sum| (sum as u64 % ((1 << 61) - 1)) & 0xffff_ffff);
        for (name, version) in versions::mersenne_minima() {
            let mut values = vec![start; a.len()];
            version(&a, &b, &elements, &mut values);
            prop_assert_eq!(&values, &expected, "{}", name);
        }
        let low = |numbers: &[u64]| -> Vec<u32> { numbers.iter().map(|&x| x as u32).collect() };
        let expected = low(&least(start & 0xffff_ffff, &|sum| u64::from(sum as u32)));
        for (name, version) in versions::affine_minima_32() {
            let mut values = vec![start as u32; a.len()];
            version(&low(&a), &low(&b), &low(&elements), &mut values);
            prop_assert_eq!(&values, &expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_digest_alike(messages in vec(vec(any::<u8>(), 0..140), 0..60), short in 0usize..60) {
        let cut = |message: &Vec<u8>| message[..message.len().min(short)].to_vec();
        let messages: Vec<Vec<u8>> = messages.iter().flat_map(|message| [message.clone(), cut(message)]).collect();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let mut expected = vec![7];
        scalar::sha1_prefixes(&messages, &mut expected);
        for (name, version) in versions::sha1_prefixes() {
            let mut found = vec![7];
            version(&messages, &mut found);
            prop_assert_eq!(&found, &expected, "{}", name);
        }
    }
}

/// The examples of the standard (FIPS 180-4 and its companion of examples), with a million times `a`, and lengths
/// around the end of a block.
#[test]
fn digests_are_those_of_the_standard() {
    let million = vec![b'a'; 1_000_000];
    let examples: [(&[u8], [u8; 8]); 6] = [
        (b"", [0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d]),
        (b"abc", [0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a]),
        (
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            [0x84, 0x98, 0x3e, 0x44, 0x1c, 0x3b, 0xd2, 0x6e],
        ),
        (&million, [0x34, 0xaa, 0x97, 0x3c, 0xd4, 0xc4, 0xda, 0xa4]),
        (&million[..55], [0xc1, 0xc8, 0xbb, 0xdc, 0x22, 0x79, 0x6e, 0x28]),
        (&million[..64], [0x00, 0x98, 0xba, 0x82, 0x4b, 0x5c, 0x16, 0x42]),
    ];
    let messages = examples.map(|(message, _)| message);
    for (name, version) in versions::sha1_prefixes() {
        let mut found = Vec::new();
        version(&messages, &mut found);
        for ((message, digest), found) in examples.iter().zip(found) {
            assert_eq!(found.to_le_bytes(), *digest, "{name}, {} bytes", message.len());
        }
    }
}
