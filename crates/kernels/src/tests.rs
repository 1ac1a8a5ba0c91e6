//! Every version of every kernel against the reference.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;

/// Bytes of which many are letters, and some are not ASCII.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![b'A'..=b'z', b'A'..=b'z', b' '..=b'@', any::<u8>()];
    vec(byte, 0..1500)
}

/// Numbers of very different size, and whole ones among them.
fn float() -> impl Strategy<Value = f32> {
    prop_oneof![-9.0f32..9.0, -1e6f32..1e6, -1e-6f32..1e-6, (-20i8..20).prop_map(f32::from)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_versions_lower_and_class_bytes_alike(text in text(), lower: bool) {
        let room = |fill: u8| {
            let blocks = text.len() / 64 + 1;
            (vec![fill; 64 * blocks + PADDING], vec![WordMask::default(); blocks])
        };
        let (mut copy, mut masks) = room(0);
        let ascii = scalar::lower_blocks(&text, lower, &mut copy, &mut masks);
        for (name, version) in versions::lower_blocks() {
            let (mut other_copy, mut other_masks) = room(b'x');
            let other_ascii = version(&text, lower, &mut other_copy, &mut other_masks);
            prop_assert_eq!(ascii, other_ascii, "{}", name);
            prop_assert_eq!(&copy, &other_copy, "{}", name);
            prop_assert_eq!(&masks, &other_masks, "{}", name);
        }
    }

    #[test]
    fn all_versions_hash_every_word(text in text(), seed: u64) {
        let (mut padded, mut masks) = (Vec::new(), Vec::new());
        lower_words(&text, true, &mut padded, &mut masks);
        if seed % 4 == 0 {
            // Very long words, and very many.
            masks.iter_mut().for_each(|mask| mask.word |= seed);
        }
        let inside = |at: usize| at < 64 * masks.len() && masks[at / 64].word >> (at % 64) & 1 == 1;
        let mut expected = Vec::new();
        let mut start = 0;
        for at in 0..64 * masks.len() {
            if inside(at) && (at == 0 || !inside(at - 1)) {
                start = at;
            }
            if !inside(at) && at > 0 && inside(at - 1) {
                expected.push(hash_padded(&padded, start, at));
            }
        }
        for (name, version) in versions::hash_words() {
            let mut tokens = vec![7];
            version(&padded, &masks, &mut tokens);
            prop_assert_eq!(&tokens[1..], &expected[..], "{}", name);
        }
    }

    #[test]
    fn all_versions_sum_every_shingle(tokens in vec(any::<u64>(), 0..700), k in 1usize..80, five: bool) {
        let k = if five { 5 } else { k };
        let expected: Vec<u64> = tokens.windows(k).map(scalar::combine).collect();
        for (name, version) in versions::shingle() {
            let mut out = vec![7];
            version(&tokens, k, &mut out);
            prop_assert_eq!(&out[1..], &expected[..], "{}", name);
        }
    }

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

    #[test]
    fn all_versions_sum_a_pair_to_the_same_bit(pairs in vec((float(), float()), 0..200)) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
        let truths: [fn(f64, f64) -> f64; 3] = [|x, y| x * y, |x, y| (x - y) * (x - y), |x, y| (x - y).abs()];
        let kernels = [versions::dot(), versions::squared_distance(), versions::absolute_distance()];
        for (truth, versions) in truths.iter().zip(kernels) {
            let terms = || a.iter().zip(&b).map(|(&x, &y)| truth(x.into(), y.into()));
            let size: f64 = terms().map(f64::abs).sum();
            let expected = versions[0].1(&a, &b);
            prop_assert!((f64::from(expected) - terms().sum::<f64>()).abs() <= 1e-6 * size);
            for (name, version) in versions {
                prop_assert_eq!(version(&a, &b).to_bits(), expected.to_bits(), "{}", name);
            }
        }
    }

    #[test]
    fn all_versions_sum_many_to_the_same_bit(
        dimension in 1usize..40,
        (rows, columns) in (0usize..20, 0usize..90),
        values in vec(float(), 200),
    ) {
        let cycle = |count: usize| -> Vec<f32> { values.iter().copied().cycle().take(count).collect() };
        let (a, b) = (cycle(rows * dimension), cycle(columns * dimension));
        let panels = panels_of(&b, dimension);
        let width = columns.next_multiple_of(PANEL);
        for (name, version) in versions::dot_block() {
            let mut out = vec![7.0; rows * width];
            version(&a, dimension, &panels, &mut out);
            for (x, out) in a.chunks(dimension).zip(out.chunks(width.max(1))) {
                for (y, sum) in b.chunks(dimension).zip(out) {
                    let expected = x.iter().zip(y).fold(0.0, |sum, (x, y)| x.mul_add(*y, sum));
                    prop_assert_eq!(sum.to_bits(), f32::to_bits(expected), "{}", name);
                }
            }
        }
    }

    #[test]
    fn all_versions_find_the_values_at_most(values in vec(float(), 0..100), limit in float(), nan: bool) {
        let limit = if nan { f32::NAN } else { limit };
        let expected: Vec<u32> = (0..).zip(&values).filter(|(_, v)| **v <= limit).map(|(i, _)| i).collect();
        for (name, version) in versions::places_at_most() {
            let mut places = vec![7];
            version(&values, limit, &mut places);
            prop_assert_eq!(&places[1..], &expected[..], "{}", name);
        }
    }

    #[test]
    fn all_versions_find_the_near_points_of_a_tile(
        tile in vec(float(), 9 * TILE),
        point in vec(float(), 9),
        half in vec(0.0f32..1e6, 9),
        limit in 0.0f32..1e13,
    ) {
        let near = |distance: &dyn Fn(f32, usize) -> f32, limit: f32| (0..TILE).fold(0u64, |near, at| {
            let sum = (0..9).fold(0.0, |sum, row| {
                let d = distance(tile[row * TILE + at], row);
                d.mul_add(d, sum)
            });
            near | u64::from(sum <= limit) << at
        });
        let expected = near(&|x, row| x - point[row], limit);
        for (name, version) in versions::near_point() {
            prop_assert_eq!(version(&tile, &point, limit), expected, "{}", name);
        }
        let expected = near(&|x, row| ((x - point[row]).abs() - half[row]).max(0.0), limit);
        for (name, version) in versions::near_box() {
            prop_assert_eq!(version(&tile, &point, &half, limit), expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_add_the_same_squares(
        point in vec(float(), 48),
        rows in vec(float(), 48 * TILE),
        which: u64,
    ) {
        let mut expected = [1.0; TILE];
        scalar::add_squares(&point, &rows, which, &mut expected);
        for (at, sum) in expected.iter().enumerate() {
            let exact: f64 = point.iter().zip(&rows[at * 48..]).map(|(x, y)| f64::from(x - y).powi(2)).sum();
            let exact = if which >> at & 1 == 1 { 1.0 + exact } else { 1.0 };
            prop_assert!((f64::from(*sum) / exact - 1.0).abs() < 1e-5, "{sum} is not {exact}");
        }
        for (name, version) in versions::add_squares() {
            let mut sums = [1.0; TILE];
            version(&point, &rows, which, &mut sums);
            prop_assert_eq!(sums.map(f32::to_bits), expected.map(f32::to_bits), "{}", name);
        }
    }

    #[test]
    fn all_versions_find_the_near_bit_strings(
        one in vec(any::<u64>(), 5),
        many in vec(any::<u64>(), 5 * 40),
        limit in 100u64..220,
    ) {
        let expected = many.chunks(5).enumerate().fold(0u64, |near, (at, other)| {
            near | u64::from(scalar::hamming(&one, other) <= limit) << at
        });
        for (name, version) in versions::near_bits() {
            prop_assert_eq!(version(&one, &many, limit), expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_undo_escapes(
        parts in vec(
            prop_oneof![
                6 => "[ -!#-\\[\\]-~é]{0,90}".prop_map(String::into_bytes),
                6 => "\\\\[\"\\\\/bfnrt]".prop_map(String::into_bytes),
                1 => "\\\\[u0x]|\"|[\\x00-\\x1f]".prop_map(String::into_bytes),
            ],
            0..30,
        ),
        cut in 0usize..3,
    ) {
        let mut text = parts.concat();
        text.truncate(text.len() - cut.min(text.len()));
        let (mut expected, mut at) = (b"before".to_vec(), 0);
        loop {
            match text[at..] {
                [b'\\', escape, ..] if let Some(meaning) = meaning(escape) => {
                    expected.push(meaning);
                    at += 2;
                }
                [] | [b'"' | b'\\' | ..0x20, ..] => break,
                [byte, ..] => {
                    expected.push(byte);
                    at += 1;
                }
            }
        }
        for (name, version) in versions::unescape() {
            let mut out = b"before".to_vec();
            prop_assert_eq!(version(&text, &mut out), at, "{}", name);
            prop_assert_eq!(&out, &expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_find_where_a_string_ends(
        plain in vec(0x23u8..0x5b, 0..200),
        special in any::<u8>(),
        rest in vec(any::<u8>(), 0..80),
    ) {
        let mut text = plain;
        text.push(special);
        text.extend(rest);
        for start in 0..text.len().min(40) {
            let text = &text[start..];
            for (name, version) in versions::string_special() {
                prop_assert_eq!(version(text), scalar::string_special(text), "{}", name);
            }
        }
    }
}

#[test]
fn every_byte_is_classed_and_lowered() {
    let text: Vec<u8> = (0..=255).collect();
    for (name, version) in versions::lower_blocks() {
        let (mut padded, mut masks) = (vec![0; 5 * 64 + PADDING], vec![WordMask::default(); 5]);
        assert!(!version(&text, true, &mut padded, &mut masks));
        for (at, byte) in text.iter().enumerate() {
            let bit = |mask: u64| mask >> (at % 64) & 1 == 1;
            let mask = masks[at / 64];
            assert_eq!(padded[at], byte.to_ascii_lowercase(), "{name}: {byte:#x}");
            assert_eq!(
                bit(mask.word),
                byte.is_ascii_alphanumeric() || *byte == b'_',
                "{name}: {byte:#x}"
            );
            assert_eq!(bit(mask.other), !byte.is_ascii(), "{name}: {byte:#x}");
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
