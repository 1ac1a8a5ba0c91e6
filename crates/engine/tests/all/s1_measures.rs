//! The measures: the figures of their textbook examples and exercises, the four axioms of a
//! distance, and agreement with rapidfuzz and scipy (`fixtures/make_measures.py`).

use nearkin_engine::Error;
use nearkin_engine::measure::bag::{self, Union};
use nearkin_engine::measure::{cosine, edit, hamming, jaccard, norm};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;

/// Equal up to rounding, relative to the larger of 1 and the value expected.
#[track_caller]
fn assert_near(got: f64, expected: f64, tolerance: f64) {
    let gap = (got - expected).abs();
    assert!(gap <= tolerance * expected.abs().max(1.0), "got {got}, expected {expected}");
}

/// The numbers of the components at which a column of 0 and 1 has a 1.
fn ones(column: &str) -> Vec<usize> {
    column.bytes().enumerate().filter(|&(_, bit)| bit == b'1').map(|(i, _)| i).collect()
}

/// A string of 0 and 1, packed 64 to a word.
fn packed(bits: &str) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().fold(0, |w, bit| w << 1 | u64::from(bit - b'0'));
    bits.as_bytes().chunks(64).map(word).collect()
}

// ---- S1.1 to S1.6: figures ------------------------------------------------------------------

#[test]
fn s1_1_jaccard() {
    // Three shared of eight.
    assert_eq!(jaccard::similarity(&[1, 2, 3, 4, 5], &[3, 4, 5, 6, 7, 8]), 3.0 / 8.0);
    assert_eq!(jaccard::shared(&[1, 2, 3, 4, 5], &[3, 4, 5, 6, 7, 8]), 3);
    assert_eq!(jaccard::from_counts(3, 5, 6), 3.0 / 8.0);
    assert_eq!(jaccard::similarity(&ones("10111"), &ones("10011")), 3.0 / 4.0);
}

#[test]
fn s1_1_jaccard_of_empty_sets() {
    let none: [u32; 0] = [];
    assert_eq!(jaccard::similarity(&none, &none), 1.0);
    assert_eq!(jaccard::distance(&none, &none), 0.0);
    assert_eq!(jaccard::similarity(&none, &[1]), 0.0);
    assert_eq!(jaccard::from_counts(0, 0, 0), 1.0);
}

#[test]
fn s1_1_exercises_3_1_1_and_3_5_4() {
    let (a, b, c) = ([1, 2, 3, 4], [2, 3, 5, 7], [2, 4, 6]);
    assert_eq!(jaccard::similarity(&a, &b), 1.0 / 3.0);
    assert_eq!(jaccard::similarity(&a, &c), 2.0 / 5.0);
    assert_eq!(jaccard::similarity(&b, &c), 1.0 / 6.0);
    assert_eq!(jaccard::distance(&[1, 2, 3, 4], &[2, 3, 4, 5]), 2.0 / 5.0);
    assert_eq!(jaccard::distance(&[1, 2, 3], &[4, 5, 6]), 1.0);
}

#[test]
fn s1_2_bags() {
    let (a, b) = (["a", "a", "a", "b"], ["a", "a", "b", "b", "c"]);
    assert_eq!(bag::shared(&a, &b), 3);
    assert_eq!(bag::similarity(&a, &b, Union::Sum), 1.0 / 3.0);
    assert_eq!(bag::similarity(&a, &b, Union::Max), 3.0 / 6.0);
    assert_eq!(bag::distance(&a, &b), 3.0 / 6.0);
}

#[test]
fn s1_2_exercise_3_1_2() {
    let (a, b, c) = ([1, 1, 1, 2], [1, 1, 2, 2, 3], [1, 2, 3, 4]);
    assert_eq!(bag::similarity(&a, &b, Union::Sum), 1.0 / 3.0);
    assert_eq!(bag::similarity(&a, &c, Union::Sum), 1.0 / 4.0);
    assert_eq!(bag::similarity(&b, &c, Union::Sum), 1.0 / 3.0);
    assert_eq!(bag::similarity(&a, &b, Union::Max), 1.0 / 2.0);
    assert_eq!(bag::similarity(&a, &c, Union::Max), 1.0 / 3.0);
    assert_eq!(bag::similarity(&b, &c, Union::Max), 1.0 / 2.0);
}

#[test]
fn s1_2_equal_bags_reach_one_half_by_sum_and_one_by_maximum() {
    let none: [u8; 0] = [];
    for bag in [&none[..], &[1], &[1, 1, 2]] {
        assert_eq!(bag::similarity(bag, bag, Union::Sum), 0.5);
        assert_eq!(bag::similarity(bag, bag, Union::Max), 1.0);
    }
}

/// Why `bag::distance` has no choice of union: the only rescaling of the sum form that is zero for
/// equal bags finds a detour shorter than the direct way.
#[test]
fn s1_2_sum_form_breaks_the_triangle_inequality() {
    let by_sum = |a: &[char], b: &[char]| 1.0 - 2.0 * bag::similarity(a, b, Union::Sum);
    let direct = by_sum(&['a'], &['b']);
    let detour = by_sum(&['a'], &['a', 'b']) + by_sum(&['a', 'b'], &['b']);
    assert_eq!(direct, 1.0);
    assert_near(detour, 2.0 / 3.0, 1e-15);
}

#[test]
fn s1_3_norms() {
    let (a, b) = ([2.0, 7.0], [6.0, 4.0]);
    assert_eq!(norm::l2(&a, &b).unwrap(), 5.0);
    assert_eq!(norm::l1(&a, &b).unwrap(), 7.0);
    assert_eq!(norm::l_inf(&a, &b).unwrap(), 4.0);
    assert_eq!(norm::lr(&a, &b, 1.0).unwrap(), 7.0);
    assert_eq!(norm::lr(&a, &b, 2.0).unwrap(), 5.0);
    assert_eq!(norm::lr(&a, &b, f64::INFINITY).unwrap(), 4.0);
    assert_near(norm::lr(&a, &b, 3.0).unwrap(), 91f64.cbrt(), 1e-15);
    assert_eq!(norm::l2(&[2f32, 7.0], &[6f32, 4.0]).unwrap(), 5.0);
}

#[test]
fn s1_3_exercise_3_5_2() {
    let (a, b) = ([5, 6, 7], [8, 2, 4]);
    assert_eq!(norm::l1(&a, &b).unwrap(), 10.0);
    assert_eq!(norm::l2(&a, &b).unwrap(), 34f64.sqrt());
}

#[test]
fn s1_3_extreme_components_neither_overflow_nor_vanish() {
    for unit in [1e300, 1e200, 1e-200, 1e-310] {
        let (a, b) = ([3.0 * unit, 0.0], [0.0, 4.0 * unit]);
        assert_near(norm::l2(&a, &b).unwrap() / unit, 5.0, 1e-12);
        assert_near(norm::lr(&a, &b, 3.0).unwrap() / unit, 91f64.cbrt(), 1e-12);
        assert_near(norm::lr(&a, &b, 1e6).unwrap() / unit, 4.0, 1e-12);
    }
    let (far, opposite) = ([f64::MAX, 1.0], [-f64::MAX, 0.0]);
    assert_eq!(norm::l2(&far, &opposite).unwrap(), f64::INFINITY);
}

#[test]
fn s1_3_what_has_no_distance_is_an_error() {
    let text = |result: nearkin_engine::Result<f64>| result.unwrap_err().to_string();
    let lengths = "vectors have 3 and 4 components; give both the same length";
    let (three, four) = ([0.0; 3], [0.0; 4]);
    assert_eq!(text(norm::l1(&three, &four)), lengths);
    assert_eq!(text(norm::l2(&three, &four)), lengths);
    assert_eq!(text(norm::l_inf(&three, &four)), lengths);
    assert_eq!(text(norm::lr(&three, &four, 1.5)), lengths);
    assert_eq!(
        text(norm::lr(&three, &three, 0.5)),
        "`r` is 0.5; it must be at least 1, or the triangle inequality fails"
    );
    assert!(matches!(norm::lr(&three, &three, f64::NAN), Err(Error::Parameter { name: "r", .. })));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        // With the same infinity on both sides, and with a larger difference after the NaN.
        for other in [[1.0, bad, 9.0], [1.0, 2.0, 9.0]] {
            let vector = [1.0, bad, 3.0];
            let expected = format!(
                "a component of the first vector is {bad} at position 1; it must be finite: mend \
                 or drop the item"
            );
            assert_eq!(text(norm::l1(&vector, &other)), expected);
            assert_eq!(text(norm::l2(&vector, &other)), expected);
            assert_eq!(text(norm::l_inf(&vector, &other)), expected);
            assert_eq!(text(norm::lr(&vector, &other, 3.0)), expected);
        }
    }
}

#[test]
fn s1_4_cosine() {
    let (x, y) = ([1, 2, -1], [2, 1, 1]);
    assert_eq!(cosine::similarity(&x, &y).unwrap(), 0.5);
    assert_near(cosine::angle_degrees(&x, &y).unwrap(), 60.0, 1e-14);
    let (x, y) = ([1, 0, 2, -2, 0], [0, 0, 3, 0, 0]);
    assert_eq!(cosine::similarity(&x, &y).unwrap(), 6.0 / 9.0);
    assert_near(cosine::angle_degrees(&x, &y).unwrap(), 48.19, 0.005 / 48.19);
}

#[test]
fn s1_4_exercise_3_5_5() {
    assert_eq!(cosine::similarity(&[3, -1, 2], &[-2, 3, 1]).unwrap(), -0.5);
    assert_eq!(cosine::similarity(&[1, 2, 3], &[2, 4, 6]).unwrap(), 1.0);
    assert_eq!(cosine::similarity(&[5, 0, -4], &[-1, -6, 2]).unwrap(), -13.0 / 41.0);
    assert_eq!(cosine::similarity(&[0, 1, 1, 0, 1, 1], &[0, 0, 1, 0, 0, 0]).unwrap(), 0.5);
}

#[test]
fn s1_4_angle_keeps_its_digits_when_vectors_are_nearly_parallel() {
    for small in [1e-3, 1e-8, 1e-12, 1e-20] {
        let expected = f64::atan(small).to_degrees();
        let angle = cosine::angle_degrees(&[1.0, 0.0], &[1.0, small]).unwrap();
        assert_near(angle / expected, 1.0, 1e-12);
        let obtuse = cosine::angle_degrees(&[1.0, 0.0], &[-1.0, small]).unwrap();
        assert_near(obtuse, 180.0 - expected, 1e-14);
    }
    let equal = [0.1, 0.7, -3.3];
    assert_eq!(cosine::angle_degrees(&equal, &equal).unwrap(), 0.0);
    assert_eq!(cosine::similarity(&equal, &equal).unwrap(), 1.0);
}

#[test]
fn s1_4_extreme_vectors_keep_their_direction() {
    for unit in [f64::MAX / 4.0, 1e200, 1e-200, 1e-310] {
        let (x, y) = ([unit, 2.0 * unit, -unit], [2.0, 1.0, 1.0]);
        assert_near(cosine::similarity(&x, &y).unwrap(), 0.5, 1e-12);
        assert_near(cosine::angle_degrees(&x, &y).unwrap(), 60.0, 1e-12);
        assert_near(cosine::angle_degrees(&y, &x).unwrap(), 60.0, 1e-12);
    }
}

#[test]
fn s1_4_what_has_no_direction_is_an_error() {
    let text = |a: &[f64], b: &[f64]| {
        let of_angle = cosine::angle_degrees(a, b).unwrap_err().to_string();
        assert_eq!(of_angle, cosine::similarity(a, b).unwrap_err().to_string());
        of_angle
    };
    assert_eq!(
        text(&[1.0, 2.0], &[0.0, -0.0]),
        "the second vector is all zeros; it must be non-zero, for without a length it has no \
         direction: leave such items out"
    );
    assert_eq!(
        text(&[f64::NAN, 2.0], &[0.0, 0.0]),
        "a component of the first vector is NaN at position 0; it must be finite: mend or drop the \
         item"
    );
    assert!(text(&[1.0, 2.0], &[1.0, f64::INFINITY]).starts_with("a component of the second"));
    assert_eq!(
        text(&[1.0], &[1.0, 2.0]),
        "vectors have 1 and 2 components; give both the same length"
    );
}

#[test]
fn s1_5_edit() {
    for (x, y, edits, common) in
        [("abcde", "acfdeg", 3, 4), ("aba", "bab", 2, 2), ("abcde", "bcduve", 3, 4)]
    {
        assert_eq!(edit::distance_str(x, y), edits);
        assert_eq!(edit::lcs_len_str(x, y), common);
        assert_eq!(edit::within_str(x, y, edits), Some(edits));
        assert_eq!(edit::within_str(x, y, edits - 1), None);
    }
    assert_eq!(edit::distance(&["to", "be", "or"], &["or", "to", "be"]), 2);
    assert_eq!(edit::distance_str("", ""), 0);
    assert_eq!(edit::distance_str("", "京😀"), 2);
}

#[test]
fn s1_5_exercises_3_5_7_and_3_5_8() {
    for (x, y, edits, with_mutation) in
        [("abcdef", "bdaefc", 4, 4), ("abccdabc", "acbdcab", 5, 3), ("abcdef", "baedfc", 6, 4)]
    {
        assert_eq!(edit::distance_str(x, y), edits, "{x} {y}");
        assert_eq!(edit::mutation_distance_str(x, y), with_mutation, "{x} {y}");
    }
}

#[test]
fn s1_5_mutation_form_edits_between_swapped_symbols() {
    assert_eq!(edit::mutation_distance_str("CA", "AC"), 1);
    assert_eq!(edit::mutation_distance_str("AC", "ABC"), 1);
    assert_eq!(edit::mutation_distance_str("CA", "ABC"), 2); // optimal string alignment: 3
}

/// Every pair of strings of up to four of three letters, against the definition itself: the fewest
/// single edits, found by searching all strings breadth first. No path needs a longer string than
/// its ends, since deletes can go first and inserts last.
#[test]
fn s1_5_edit_is_the_shortest_path_of_single_edits() {
    let strings = all_strings(4);
    for x in &strings {
        let plain = steps_from(x, 4, false);
        let with_mutation = steps_from(x, 4, true);
        for y in &strings {
            assert_eq!(edit::distance(x, y), plain[y], "{x:?} {y:?}");
            assert_eq!(edit::mutation_distance(x, y), with_mutation[y], "{x:?} {y:?}");
            for limit in 0..9 {
                let expected = Some(plain[y]).filter(|&d| d <= limit);
                assert_eq!(edit::within(x, y, limit), expected, "{x:?} {y:?} {limit}");
                let expected = Some(with_mutation[y]).filter(|&d| d <= limit);
                assert_eq!(edit::mutation_within(x, y, limit), expected, "{x:?} {y:?} {limit}");
            }
        }
    }
}

fn all_strings(longest: usize) -> Vec<Vec<u8>> {
    let mut strings = vec![vec![]];
    let mut next = 0;
    while strings[next].len() < longest {
        for symbol in 0..3 {
            strings.push([&strings[next][..], &[symbol]].concat());
        }
        next += 1;
    }
    strings
}

fn steps_from(start: &[u8], longest: usize, mutation: bool) -> HashMap<Vec<u8>, usize> {
    let mut steps = HashMap::from([(start.to_vec(), 0)]);
    let mut queue = VecDeque::from([start.to_vec()]);
    while let Some(string) = queue.pop_front() {
        let next = steps[&string] + 1;
        for other in single_edits(&string, mutation) {
            if other.len() <= longest && !steps.contains_key(&other) {
                steps.insert(other.clone(), next);
                queue.push_back(other);
            }
        }
    }
    steps
}

fn single_edits(string: &[u8], mutation: bool) -> Vec<Vec<u8>> {
    let mut edited = Vec::new();
    for at in 0..=string.len() {
        let (front, back) = string.split_at(at);
        edited.extend((0..3).map(|symbol| [front, &[symbol], back].concat()));
        if let [first, rest @ ..] = back {
            edited.push([front, rest].concat());
            if mutation {
                edited.extend((0..3).map(|symbol| [front, &[symbol], rest].concat()));
            }
            if let ([second, rest @ ..], true) = (rest, mutation) {
                edited.push([front, &[*second, *first], rest].concat());
            }
        }
    }
    edited
}

#[test]
fn s1_6_hamming() {
    assert_eq!(hamming::distance(b"10101", b"11110").unwrap(), 3);
    assert_eq!(hamming::distance(b"1011101", b"1001001").unwrap(), 2);
    assert_eq!(hamming::bits(&[0b10101], &[0b11110]).unwrap(), 3);
    assert_eq!(hamming::bits(&[0b1011101], &[0b1001001]).unwrap(), 2);
    assert_eq!(hamming::bits(&[0, u64::MAX, 1], &[0, 0, 0]).unwrap(), 65);
    assert_eq!(hamming::distance(&["yes", "no"], &["yes", "unknown"]).unwrap(), 1);
    let message = "vectors have 2 and 1 components; give both the same length";
    assert_eq!(hamming::distance(&[1, 2], &[1]).unwrap_err().to_string(), message);
    assert_eq!(hamming::bits(&[1, 2], &[1]).unwrap_err().to_string(), message);
}

#[test]
fn s1_6_exercise_3_5_10() {
    let vectors = ["000000", "110011", "010101", "011100"];
    let expected = [[0, 4, 3, 3], [4, 0, 3, 5], [3, 3, 0, 2], [3, 5, 2, 0]];
    for (x, row) in vectors.iter().zip(expected) {
        for (y, differ) in vectors.iter().zip(row) {
            assert_eq!(hamming::distance(x.as_bytes(), y.as_bytes()).unwrap(), differ);
            assert_eq!(hamming::bits(&packed(x), &packed(y)).unwrap(), differ as u64);
        }
    }
}

// ---- S1.7: each is a distance ---------------------------------------------------------------

/// The same cases in every run, and no files of failures beside the sources.
fn repeatable() -> Config {
    Config {
        cases: 1000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(17),
        ..Config::default()
    }
}

/// The four axioms for three items. `slack` is what rounding may take from the triangle inequality
/// and from zero, relative to the larger of 1 and the way via `z`; 0 for counts.
fn is_distance<T: Debug>(
    [x, y, z]: &[T; 3],
    slack: f64,
    same: impl Fn(&T, &T) -> bool,
    d: impl Fn(&T, &T) -> f64,
) -> Result<(), TestCaseError> {
    for (p, q) in [(x, y), (x, z), (z, y), (x, x)] {
        prop_assert!(d(p, q) >= 0.0, "negative: {} between {:?} and {:?}", d(p, q), p, q);
        prop_assert_eq!(d(p, q), d(q, p), "not symmetric");
        prop_assert_eq!(d(p, q) <= slack, same(p, q), "{} between {:?}, {:?}", d(p, q), p, q);
    }
    let detour = d(x, z) + d(z, y);
    prop_assert!(d(x, y) <= detour + slack * detour.max(1.0), "{} > {}", d(x, y), detour);
    Ok(())
}

fn equal<T: PartialEq>(x: &T, y: &T) -> bool {
    x == y
}

/// Three strings over few symbols, so that equal and near ones occur; some longer than one word.
fn strings() -> impl Strategy<Value = [Vec<u8>; 3]> {
    let one =
        || prop_oneof![prop::collection::vec(0..3u8, 0..6), prop::collection::vec(0..4u8, 0..90)];
    [one(), one(), one()]
}

fn sorted() -> impl Strategy<Value = [Vec<u8>; 3]> {
    strings().prop_map(|items| {
        items.map(|mut item| {
            item.sort();
            item
        })
    })
}

fn sets() -> impl Strategy<Value = [Vec<u8>; 3]> {
    let one = || prop::collection::btree_set(0..12u8, 0..9).prop_map(|s| s.into_iter().collect());
    [one(), one(), one()]
}

/// Three vectors of one length from `component`.
fn vectors<C: Strategy>(component: fn() -> C) -> impl Strategy<Value = [Vec<C::Value>; 3]> {
    (1..20usize).prop_flat_map(move |length| {
        let one = || prop::collection::vec(component(), length);
        [one(), one(), one()]
    })
}

/// Multiples of a quarter in a few sizes: sums stay exact enough for a slack of 1e-12.
fn coordinate() -> impl Strategy<Value = f64> {
    (-8..=8i32, prop::sample::select(vec![0.25, 1.0, 1000.0])).prop_map(|(n, u)| f64::from(n) * u)
}

/// The same direction, decided in whole numbers: every cross product is zero and the dot product
/// is positive.
fn same_direction(x: &[i32], y: &[i32]) -> bool {
    let dot: i32 = x.iter().zip(y).map(|(p, q)| p * q).sum();
    let parallel = (0..x.len()).all(|i| (0..i).all(|j| x[i] * y[j] == x[j] * y[i]));
    parallel && dot > 0
}

proptest! {
    #![proptest_config(repeatable())]

    #[test]
    fn s1_7_jaccard_is_a_distance(items in sets()) {
        is_distance(&items, 1e-15, equal, |x, y| jaccard::distance(x, y))?;
    }

    #[test]
    fn s1_7_bag_maximum_is_a_distance(items in sorted()) {
        is_distance(&items, 1e-15, equal, |x, y| bag::distance(x, y))?;
    }

    #[test]
    fn s1_7_norms_are_distances(items in vectors(coordinate), r in 1.0..20.0f64) {
        is_distance(&items, 1e-12, equal, |x, y| norm::l1(x, y).unwrap())?;
        is_distance(&items, 1e-12, equal, |x, y| norm::l2(x, y).unwrap())?;
        is_distance(&items, 1e-12, equal, |x, y| norm::l_inf(x, y).unwrap())?;
        is_distance(&items, 1e-12, equal, |x, y| norm::lr(x, y, r).unwrap())?;
    }

    #[test]
    fn s1_7_angle_is_a_distance(items in vectors(|| -2..=2i32)) {
        prop_assume!(items.iter().all(|v| v.iter().any(|&x| x != 0)));
        let same = |x: &Vec<i32>, y: &Vec<i32>| same_direction(x, y);
        is_distance(&items, 1e-12, same, |x, y| cosine::angle_degrees(x, y).unwrap())?;
    }

    #[test]
    fn s1_7_edit_is_a_distance(items in strings()) {
        is_distance(&items, 0.0, equal, |x, y| edit::distance(x, y) as f64)?;
        is_distance(&items, 0.0, equal, |x, y| edit::mutation_distance(x, y) as f64)?;
    }

    #[test]
    fn s1_7_hamming_is_a_distance(items in vectors(|| 0..3u64)) {
        is_distance(&items, 0.0, equal, |x, y| hamming::distance(x, y).unwrap() as f64)?;
        is_distance(&items, 0.0, equal, |x, y| hamming::bits(x, y).unwrap() as f64)?;
    }

    #[test]
    fn s1_5_edit_forms_agree([x, y, _] in strings(), limit in 0..60usize) {
        let edits = edit::distance(&x, &y);
        prop_assert_eq!(edits, x.len() + y.len() - 2 * edit::lcs_len(&x, &y));
        prop_assert_eq!(edit::within(&x, &y, limit), Some(edits).filter(|&d| d <= limit));
        // One mutation or swap stands for at most one insert and one delete.
        let mutations = edit::mutation_distance(&x, &y);
        prop_assert!(mutations <= edits && edits <= 2 * mutations);
        let expected = Some(mutations).filter(|&d| d <= limit);
        prop_assert_eq!(edit::mutation_within(&x, &y, limit), expected);
    }

    /// Long strings a few edits apart, where `within` stays near the diagonal.
    #[test]
    fn s1_5_within_agrees_near_the_diagonal(
        x in prop::collection::vec(0..3u8, 80..200),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..5u8), 0..12),
        limit in 0..20usize,
    ) {
        let mut y = x.clone();
        for (index, symbol) in edits {
            let at = index.index(y.len() - 1);
            match symbol {
                3 => {
                    y.remove(at);
                }
                4 => y.swap(at, at + 1),
                _ => y.insert(at, symbol),
            }
        }
        let expected = Some(edit::distance(&x, &y)).filter(|&d| d <= limit);
        prop_assert_eq!(edit::within(&x, &y, limit), expected);
        prop_assert_eq!(edit::within(&y, &x, limit), expected);
        let expected = Some(edit::mutation_distance(&x, &y)).filter(|&d| d <= limit);
        prop_assert_eq!(edit::mutation_within(&x, &y, limit), expected);
        prop_assert_eq!(edit::mutation_within(&y, &x, limit), expected);
    }

    /// The larger r, the smaller the distance (exercise 3.5.3), down to L∞.
    #[test]
    fn s1_3_norms_fall_as_r_grows([x, y, _] in vectors(coordinate), r in 1.0..9.0f64, more in 0.0..9.0f64) {
        let norms = [norm::l1(&x, &y), norm::lr(&x, &y, r), norm::lr(&x, &y, r + more), norm::l_inf(&x, &y)];
        let norms = norms.map(Result::unwrap);
        prop_assert!(norms.is_sorted_by(|p, q| *q <= p * (1.0 + 1e-12)), "{:?}", norms);
    }
}

// ---- Agreement with rapidfuzz and scipy -----------------------------------------------------

/// Cells of the fixture's rows of one kind, without the kind.
fn rows(kind: &str) -> Vec<Vec<&'static str>> {
    let lines = include_str!("../fixtures/measures.tsv").lines();
    let cells = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    let rows: Vec<_> = cells.filter(|c| c[0] == kind).map(|c| c[1..].to_vec()).collect();
    assert!(rows.len() >= 40, "only {} rows of {kind}", rows.len());
    rows
}

fn numbers<T: std::str::FromStr<Err: Debug>>(cell: &str) -> Vec<T> {
    cell.split(',').map(|number| number.parse().unwrap()).collect()
}

fn number<T: std::str::FromStr<Err: Debug>>(cell: &str) -> T {
    cell.parse().unwrap()
}

#[test]
fn s1_1_agrees_with_scipy() {
    for row in rows("set") {
        let (a, b) = (numbers::<u32>(row[0]), numbers(row[1]));
        assert_near(jaccard::distance(&a, &b), number(row[2]), 1e-15);
    }
}

#[test]
fn s1_2_agrees_with_scipy() {
    for row in rows("bag") {
        let (a, b) = (numbers::<u32>(row[0]), numbers(row[1]));
        assert_near(1.0 - 2.0 * bag::similarity(&a, &b, Union::Sum), number(row[2]), 1e-15);
        assert_near(bag::distance(&a, &b), number(row[3]), 1e-15);
    }
}

#[test]
fn s1_3_and_s1_4_agree_with_scipy() {
    for row in rows("vector") {
        let (a, b) = (numbers::<f64>(row[0]), numbers(row[1]));
        let results = [
            norm::l1(&a, &b),
            norm::l2(&a, &b),
            norm::l_inf(&a, &b),
            norm::lr(&a, &b, 1.5),
            norm::lr(&a, &b, 3.0),
            norm::lr(&a, &b, 7.25),
        ];
        for (result, cell) in results.into_iter().zip(&row[2..]) {
            assert_near(result.unwrap() / number::<f64>(cell), 1.0, 1e-13);
        }
        let cosine = 1.0 - number::<f64>(row[8]);
        assert_near(cosine::similarity(&a, &b).unwrap(), cosine, 1e-14);
        assert_near(cosine::angle_degrees(&a, &b).unwrap().to_radians().cos(), cosine, 1e-14);
    }
}

#[test]
fn s1_5_agrees_with_rapidfuzz() {
    for row in rows("text") {
        let (x, y, edits) = (row[0], row[1], number::<usize>(row[2]));
        assert_eq!(edit::distance_str(x, y), edits, "{x} {y}");
        assert_eq!(edit::distance_str(y, x), edits, "{x} {y}");
        let mutations = number::<usize>(row[3]);
        assert_eq!(edit::mutation_distance_str(x, y), mutations, "{x} {y}");
        for limit in [0, mutations.saturating_sub(1), mutations, mutations + 1, usize::MAX] {
            let expected = Some(mutations).filter(|&d| d <= limit);
            assert_eq!(edit::mutation_within_str(x, y, limit), expected, "{x} {y} {limit}");
        }
        for limit in
            [0, edits / 2, edits.saturating_sub(1), edits, edits + 1, 3 * edits, usize::MAX]
        {
            assert_eq!(
                edit::within_str(x, y, limit),
                Some(edits).filter(|&d| d <= limit),
                "{x} {y} {limit}"
            );
        }
    }
}

#[test]
fn s1_6_agrees_with_rapidfuzz() {
    for row in rows("hamming").iter().chain(&rows("bits")) {
        let [x, y] = [row[0], row[1]].map(|text| text.chars().collect::<Vec<_>>());
        assert_eq!(hamming::distance(&x, &y).unwrap(), number::<usize>(row[2]));
    }
    for row in rows("bits") {
        assert_eq!(hamming::bits(&packed(row[0]), &packed(row[1])).unwrap(), number::<u64>(row[2]));
    }
}
