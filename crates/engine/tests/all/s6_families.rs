//! Families for other measures than Jaccard: every one's measured rate of agreement against the chance it derives.
//!
//! A rate is measured over functions drawn anew, which agree independently, and must lie within 4.5 standard errors of
//! the chance: outside once in 147,000 checks. There are fewer than 300 checks in this file, and seeds are fixed.

use nearkin_engine::family::curve::{cauchy_line, distance_at, gaussian_line, unit_line};
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::family::hyperplane::{estimated_degrees, sides};
use nearkin_engine::family::squares::{different_fingers, same_finger};
use nearkin_engine::family::weighted::numbered;
use nearkin_engine::family::{
    BitSampling, Equality, Family, Hyperplanes, INFINITY, LineDirection, Lines, MinHashes, Normals,
    ProbeFamily, Squares,
};
use nearkin_engine::item::{Bits, Sets, Vectors};
use nearkin_engine::measure::{bag, cosine, hamming, jaccard, norm};
use nearkin_engine::textbook::unary::{UnaryLevels, code};

/// The share of `functions` functions that agree on items 0 and 1.
fn rate(family: &dyn Family, functions: usize) -> f64 {
    rate_of(family, 0, functions)
}

/// The share of `functions` functions that agree on an item and the next.
fn rate_of(family: &dyn Family, item: u32, functions: usize) -> f64 {
    let mut values = vec![0; 2 * functions];
    family.hash_many(item..item + 2, 0, functions, &mut values);
    let (a, b) = values.split_at(functions);
    let equal = a.iter().zip(b).filter(|(a, b)| a == b && **a != INFINITY);
    equal.count() as f64 / functions as f64
}

/// Whether a rate measured over `n` trials fits a chance, up to an `error` of the chance itself.
fn fits(rate: f64, chance: f64, n: usize, error: f64) -> bool {
    (rate - chance).abs() <= 4.5 * (chance * (1.0 - chance) / n as f64).sqrt() + error + 1e-12
}

fn check(family: &dyn Family, distance: f64, functions: usize, what: &str) {
    check_of(family, 0, distance, functions, what);
}

fn check_of(family: &dyn Family, item: u32, distance: f64, functions: usize, what: &str) {
    let (rate, chance) = (rate_of(family, item, functions), family.agreement(distance));
    assert!(fits(rate, chance, functions, 0.0), "{what} at {distance}: {rate}, not {chance}");
}

/// Pairs one behind the other, and their distances.
fn together(pairs: &[(Vectors, f64)]) -> (Vectors, Vec<f64>) {
    let values = pairs.iter().flat_map(|(vectors, _)| vectors.values()).copied().collect();
    let vectors = Vectors::new(pairs[0].0.dimension(), values).unwrap();
    (vectors, pairs.iter().map(|(_, distance)| *distance).collect())
}

/// Numbers between −1 and 1.
fn random(count: usize, seed: u64) -> Vec<f64> {
    SplitMix::new(seed)
        .take(count)
        .map(|word| (word >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
        .collect()
}

fn pair(a: &[f64], b: &[f64]) -> Vectors {
    let values = a.iter().chain(b).map(|&x| x as f32).collect();
    Vectors::new(a.len(), values).unwrap()
}

/// A random point and another at about this distance from it, and the distance itself.
fn apart(dimension: usize, distance: f64, seed: u64) -> (Vectors, f64) {
    let a = random(dimension, seed);
    let way = random(dimension, seed + 1000);
    let length = way.iter().map(|x| x * x).sum::<f64>().sqrt();
    let b: Vec<f64> = a.iter().zip(&way).map(|(x, y)| x + y / length * distance).collect();
    let vectors = pair(&a, &b);
    let distance = norm::l2(vectors.get(0), vectors.get(1)).unwrap();
    (vectors, distance)
}

/// A random vector and another at about this angle to it, and the angle itself.
fn turned(dimension: usize, degrees: f64, seed: u64) -> (Vectors, f64) {
    let (a, way) = (random(dimension, seed), random(dimension, seed + 1000));
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let share = dot(&a, &way) / dot(&a, &a);
    let across: Vec<f64> = way.iter().zip(&a).map(|(w, x)| w - share * x).collect();
    let scale = (dot(&a, &a) / dot(&across, &across)).sqrt();
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let b: Vec<f64> =
        a.iter().zip(&across).map(|(x, y)| 3.0 * (cosine * x + sine * scale * y)).collect();
    let vectors = pair(&a, &b);
    let angle = cosine::angle_degrees(vectors.get(0), vectors.get(1)).unwrap();
    (vectors, angle)
}

fn bits(strings: &[&str]) -> Bits {
    let mut bits = Bits::new(strings[0].len()).unwrap();
    for string in strings {
        let mut words = vec![0u64; bits.words_each()];
        for (place, bit) in string.bytes().enumerate() {
            words[place / 64] |= u64::from(bit == b'1') << (place % 64);
        }
        bits.push(&words).unwrap();
    }
    bits
}

#[test]
fn s6_1_bit_sampling_agrees_as_often_as_bits_do() {
    let (a, b) = ("0".repeat(100), "1".repeat(30) + &"0".repeat(70));
    let strings = bits(&[&a, &b]);
    let family = BitSampling::new(&strings, 3);
    // (d1, d2, 1 − d1/d, 1 − d2/d)
    assert_eq!([10.0, 60.0].map(|d| family.agreement(d)), [0.9, 0.4]);
    check(&family, 30.0, 200_000, "bits");
    // Every place is drawn as often: 100 counts of 2000 each, and 5 standard errors of 45.
    let mut counts = [0i32; 100];
    (0..200_000).for_each(|f| counts[family.place(f)] += 1);
    assert!(counts.iter().all(|count| (count - 2000).abs() < 5 * 45), "{counts:?}");
}

/// Exercise 3.7.1: which of the six functions make each pair candidates.
#[test]
fn s6_1_six_functions_of_six_bits() {
    let strings = bits(&["000000", "110011", "010101", "011100"]);
    let agree = |a: usize, b: usize| {
        (1..=6).filter(|i| strings.bit(a, i - 1) == strings.bit(b, i - 1)).collect::<Vec<_>>()
    };
    assert_eq!(agree(0, 1), [3, 4]);
    assert_eq!(agree(0, 2), [1, 3, 5]);
    assert_eq!(agree(0, 3), [1, 5, 6]);
    assert_eq!(agree(1, 2), [2, 3, 6]);
    assert_eq!(agree(1, 3), [2]);
    assert_eq!(agree(2, 3), [1, 2, 4, 5]);
    let family = BitSampling::new(&strings, 1);
    for (a, b) in [(0, 1), (1, 3), (2, 3)] {
        let distance = hamming::bits(strings.get(a), strings.get(b)).unwrap();
        let expected = agree(a, b).len() as f64 / 6.0;
        assert!((family.agreement(distance as f64) - expected).abs() < 1e-15);
    }
}

/// Vectors of four components, the book's example 3.22.
#[test]
fn s6_2_sketches_of_the_book() {
    let (x, y) = ([3.0, 4.0, 5.0, 6.0], [4.0, 3.0, 2.0, 1.0]);
    let three = [1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0, -1.0, -1.0];
    let three = Vectors::new(4, three.to_vec()).unwrap();
    let (of_x, of_y) = (sides(&x, &three).unwrap(), sides(&y, &three).unwrap());
    assert_eq!(
        (of_x.as_slice(), of_y.as_slice()),
        (&[true, true, false][..], &[true, false, true][..])
    );
    let different = |a: &[bool], b: &[bool]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    assert!((estimated_degrees(different(&of_x, &of_y), 3) - 120.0).abs() < 1e-12);
    // All sixteen. Two of them are at right angles to both vectors, and both count as on the positive side.
    let all =
        (0..16u8).flat_map(|mask| (0..4).map(move |i| if mask >> i & 1 == 1 { 1.0 } else { -1.0 }));
    let all = Vectors::new(4, all.collect()).unwrap();
    let different = different(&sides(&x, &all).unwrap(), &sides(&y, &all).unwrap());
    assert_eq!((different, estimated_degrees(different, 16)), (4, 45.0));
    assert_eq!(cosine::angle_degrees(&x, &y).unwrap().round(), 38.0);
    assert!(sides(&[1.0; 3], &all).is_err());
}

/// Exercise 3.7.2: four hyperplanes are a coarse measure.
#[test]
fn s6_2_sketches_under_four_vectors() {
    let normals = [-1.0, 1.0, 1.0, 1.0];
    let normals = (0..4).flat_map(|row| (0..4).map(move |i| normals[(i + row + 1) % 4])).collect();
    let normals = Vectors::new(4, normals).unwrap();
    assert_eq!(normals.get(0), [1.0, 1.0, 1.0, -1.0]);
    let vectors = [[2.0, 3.0, 4.0, 5.0], [-2.0, 3.0, -4.0, 5.0], [2.0, -3.0, 4.0, -5.0f32]];
    let sketches = vectors.map(|vector| sides(&vector, &normals).unwrap());
    assert_eq!(sketches[0], [true, true, true, true]);
    assert_eq!(sketches[1], [false, true, false, true]);
    assert_eq!(sketches[2], [true, false, true, false]);
    for ((a, b), estimated, truth) in
        [((0, 1), 90.0, 75.0), ((0, 2), 90.0, 105.0), ((1, 2), 180.0, 180.0)]
    {
        let different = sketches[a].iter().zip(&sketches[b]).filter(|(x, y)| x != y).count();
        assert_eq!(estimated_degrees(different, 4), estimated);
        assert_eq!(cosine::angle_degrees(&vectors[a], &vectors[b]).unwrap().round(), truth);
    }
}

#[test]
fn s6_2_hyperplanes_part_vectors_by_their_angle() {
    for (dimension, functions) in [(2, 200_000), (3, 200_000), (10, 100_000), (784, 8_000)] {
        let angles = [2.0, 20.0, 38.0, 90.0, 150.0, 179.0];
        let (vectors, angles) =
            together(&angles.map(|degrees| turned(dimension, degrees, degrees as u64)));
        let family = Hyperplanes::new(&vectors, Normals::Gaussian, 5);
        for (item, &angle) in (0..).step_by(2).zip(&angles) {
            check_of(&family, item, angle, functions, &format!("{dimension} dimensions"));
        }
    }
}

/// Signs as components are right for vectors of many components that are alike in size: their dot products are then
/// normal but for terms of the order 1/d.
#[test]
fn s6_2_signs_are_as_good_in_many_dimensions_and_not_in_four() {
    let (vectors, angles) = together(&[20.0, 38.0, 90.0].map(|degrees| turned(784, degrees, 4)));
    let family = Hyperplanes::new(&vectors, Normals::Signs, 3);
    for (item, &angle) in (0..).step_by(2).zip(&angles) {
        check_of(&family, item, angle, 16_000, "signs");
    }
    let vectors = pair(&[3.0, 4.0, 5.0, 6.0], &[4.0, 3.0, 2.0, 1.0]);
    let rate = rate(&Hyperplanes::new(&vectors, Normals::Signs, 5), 100_000);
    assert!(fits(rate, 0.75, 100_000, 0.0), "{rate}: what all sixteen give");
}

#[test]
fn s6_2_sketches_are_the_signs_and_estimate_the_angle() {
    let (vectors, angle) = turned(50, 33.0, 9);
    let family = Hyperplanes::new(&vectors, Normals::Gaussian, 4);
    let length = 4000;
    let sketches = family.sketches(length).unwrap();
    for item in [0, 1] {
        let mut values = vec![0; length];
        family.hash(item, 0, &mut values);
        let same = |(place, &value)| u64::from(sketches.bit(item as usize, place)) == value;
        assert!(values.iter().enumerate().all(same));
    }
    let different = hamming::bits(sketches.get(0), sketches.get(1)).unwrap();
    let share = different as f64 / length as f64;
    assert!(fits(share, angle / 180.0, length, 0.0), "{share}");
    assert!((estimated_degrees(different as usize, length) - angle).abs() < 4.5 * 180.0 * 0.0061);
    assert!(family.sketches(0).is_err());
}

/// The same functions whichever way they are asked for.
#[test]
fn values_do_not_depend_on_how_they_are_asked_for() {
    let vectors =
        Vectors::new(37, random(37 * 150, 1).iter().map(|&x| x as f32).collect()).unwrap();
    let lines = Lines::new(&vectors, LineDirection::Gaussian, 2.0, 7).unwrap();
    let planes = Hyperplanes::new(&vectors, Normals::Gaussian, 7);
    for family in [&lines as &dyn Family, &planes] {
        let mut all = vec![0; 150 * 300];
        family.hash_many(0..150, 0, 300, &mut all);
        for (item, from, count) in [(0, 0, 300), (149, 17, 1), (61, 250, 50), (7, 15, 34)] {
            let mut values = vec![0; count];
            family.hash(item, from, &mut values);
            assert_eq!(values, all[item as usize * 300 + from..][..count]);
        }
        let mut some = vec![0; 70 * 21];
        family.hash_many(65..135, 40, 21, &mut some);
        assert!((0..70).all(|i| some[i * 21..][..21] == all[(65 + i) * 300 + 40..][..21]));
    }
}

#[test]
fn s6_3_lines_agree_by_the_derived_chance_in_any_dimension() {
    for (dimension, functions) in
        [(1, 100_000), (2, 100_000), (3, 100_000), (10, 100_000), (784, 8_000)]
    {
        for line in [LineDirection::Unit, LineDirection::Gaussian] {
            let width =
                if line == LineDirection::Unit { 2.0 / (dimension as f64).sqrt() } else { 2.0 };
            let distances = [0.1, 0.5, 1.0, 2.0, 4.0, 12.0];
            let (vectors, distances) =
                together(&distances.map(|c| apart(dimension, c, (9.0 * c) as u64)));
            let family = Lines::new(&vectors, line, width, 11).unwrap();
            for (item, &distance) in (0..).step_by(2).zip(&distances) {
                check_of(
                    &family,
                    item,
                    distance,
                    functions,
                    &format!("{line:?} in {dimension} dimensions"),
                );
            }
        }
    }
}

/// In the plane with a line of random direction, (a/2, 2a, ½, ⅓): the book's bounds, and what the chances really are.
#[test]
fn s6_3_the_bounds_of_the_plane_hold() {
    let width = 3.0;
    let at = |distance: f64| unit_line(distance, width, 2);
    assert!(at(width / 2.0) >= 0.5 && at(2.0 * width) <= 1.0 / 3.0);
    // 1 − (2/π)·½, and ⅓ − (4/π)·(1 − √¾)
    assert!((at(width / 2.0) - 0.681_690).abs() < 1e-6, "{}", at(width / 2.0));
    assert!((at(2.0 * width) - 0.162_751).abs() < 1e-6, "{}", at(2.0 * width));
    for (ratio, bound) in [(0.5, 0.5..=1.0), (2.0, 0.0..=1.0 / 3.0)] {
        let (vectors, distance) = apart(2, ratio * width, 4);
        let family = Lines::new(&vectors, LineDirection::Unit, width, 4).unwrap();
        check(&family, distance, 200_000, "in the plane");
        assert!(bound.contains(&rate(&family, 200_000)));
    }
    // Any d1 < d2 does, in any dimension: the chance falls with the distance.
    for dimension in [1, 2, 3, 10, 784] {
        let chances: Vec<f64> =
            (0..400).map(|i| unit_line(f64::from(i) * 0.02, 1.0, dimension)).collect();
        assert!(chances.is_sorted_by(|a, b| a >= b), "{dimension}");
    }
}

#[test]
fn s6_3_widths_are_chosen_for_the_distance() {
    for line in [LineDirection::Gaussian, LineDirection::Unit, LineDirection::Cauchy] {
        let width = line.width_for(10.0, 2.0, 60_000, 784);
        let cost = |width: f64| {
            let [p1, p2] = [10.0, 20.0].map(|d| line.agreement(d, width, 784).ln());
            (p1 / p2 * 60_000f64.ln()).exp() / -p2
        };
        for other in [0.5, 0.8, 1.25, 2.0] {
            assert!(cost(width) <= cost(other * width), "{line:?}: {width}");
        }
        // In proportion to the distance.
        assert!((line.width_for(1.0, 2.0, 60_000, 784) * 10.0 / width - 1.0).abs() < 1e-9);
    }
    let vectors = pair(&[0.0], &[1.0]);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Lines::new(&vectors, LineDirection::Unit, bad, 0).is_err());
    }
    let distance = distance_at(0.5, |c| gaussian_line(c, 4.0));
    assert!((gaussian_line(distance, 4.0) - 0.5).abs() < 1e-9);
}

#[test]
fn s6_4_unary_codes_keep_distances() {
    let values: Vec<f32> = SplitMix::new(2).take(20 * 6).map(|word| (word % 11) as f32).collect();
    let vectors = Vectors::new(6, values).unwrap();
    let codes = code(&vectors, 10).unwrap();
    assert_eq!((codes.length(), codes.len()), (60, 20));
    for a in 0..20 {
        for b in 0..20 {
            let apart = hamming::bits(codes.get(a), codes.get(b)).unwrap();
            assert_eq!(apart as f64, norm::l1(vectors.get(a), vectors.get(b)).unwrap());
        }
    }
    let (levels, sampled) =
        (UnaryLevels::whole(&vectors, 10, 5).unwrap(), BitSampling::new(&codes, 5));
    for item in 0..20 {
        let values = [&levels as &dyn Family, &sampled].map(|family| {
            let mut values = vec![0; 500];
            family.hash(item, 3, &mut values);
            values
        });
        assert_eq!(values[0], values[1]);
    }
    assert_eq!(levels.agreement(15.0), sampled.agreement(15.0));
    assert!(code(&vectors, 9).is_err() && code(&vectors, 0).is_err());
    for bad in [vec![-1.0], vec![0.5]] {
        assert!(code(&Vectors::new(1, bad).unwrap(), 10).is_err());
    }
}

#[test]
fn s6_4_levels_and_cauchy_lines_agree_by_the_l1_distance() {
    for dimension in [1, 3, 50] {
        for (seed, size) in [0.1, 0.5, 2.0].into_iter().enumerate() {
            let (two, _) = apart(dimension, size, seed as u64);
            let l1 = norm::l1(two.get(0), two.get(1)).unwrap();
            for ratio in [0.1, 1.0, 5.0] {
                let family = Lines::new(&two, LineDirection::Cauchy, l1 / ratio, 8).unwrap();
                check(&family, l1, 50_000, &format!("Cauchy in {dimension} dimensions"));
            }
            // Two points more, so that the ranges are wider than the pair.
            let corners = [vec![-4.0f32; dimension], vec![5.0; dimension]].concat();
            let values = [two.values(), &corners].concat();
            let vectors = Vectors::new(dimension, values).unwrap();
            let family = UnaryLevels::observed(&vectors, 3).unwrap();
            assert!((family.agreement(l1) - (1.0 - l1 / (9.0 * dimension as f64))).abs() < 1e-9);
            check(&family, l1, 50_000, "levels");
        }
    }
    assert!(cauchy_line(1.0, 4.0) > cauchy_line(2.0, 4.0));
    assert!(UnaryLevels::observed(&pair(&[1.0], &[1.0]), 0).is_err());
}

fn sets(of: &[Vec<u64>]) -> Sets {
    let mut sets = Sets::default();
    of.iter().for_each(|set| sets.push(set));
    sets
}

#[test]
fn s6_minhashes_agree_by_the_jaccard_similarity() {
    for (shared, own) in [(1, 1), (3, 1), (50, 20), (500, 900)] {
        let a: Vec<u64> = (0..shared + own).collect();
        let b: Vec<u64> = (0..shared).chain(10_000..10_000 + own).collect();
        let collection = sets(&[a.clone(), b.clone()]);
        // Functions of a group are not independent, and vary less for it; the interval is that of independent ones.
        check(&MinHashes::new(&collection, 6), 1.0 - jaccard::similarity(&a, &b), 50_000, "sets");
    }
    let empty = sets(&[vec![], vec![]]);
    assert_eq!(rate(&MinHashes::new(&empty, 6), 100), 0.0);
    let family = MinHashes::new(&empty, 6);
    let mut values = [0; 70];
    family.hash(1, 30, &mut values);
    assert_eq!(values, [INFINITY; 70]);
}

/// Bags with the union by maximum, as sets of numbered copies.
#[test]
fn s3_8_bags_agree_by_their_similarity() {
    let (a, b) = ([1, 1, 1, 2, 2, 3, 4], [1, 1, 2, 2, 2, 3, 5]);
    let set = |bag: &[u64]| {
        let mut out = Vec::new();
        numbered(bag, &mut out);
        out.sort_unstable();
        out
    };
    let similarity = bag::similarity(&a, &b, bag::Union::Max);
    check(&MinHashes::new(&sets(&[set(&a), set(&b)]), 3), 1.0 - similarity, 50_000, "bags");
}

/// Prints of 1000 squares of which a fifth are filled, as in the book's example 3.23.
#[test]
fn s8_4_three_squares() {
    let (same, different) = (same_finger(0.2, 0.8, 3), different_fingers(0.2, 3));
    assert!((same - 0.004096).abs() < 1e-12 && (different - 0.000064).abs() < 1e-12);
    let any = |p: f64| 1.0 - (1.0 - p).powi(1024);
    let rounded = |p: f64, digits: f64| (p * digits).round() / digits;
    assert_eq!((rounded(any(same), 1e3), rounded(any(different), 1e3)), (0.985, 0.063));
    assert_eq!(rounded(any(same).powi(2), 1e3), 0.970);
    // The book squares the rounded 0.063; unrounded it is 0.00402.
    assert_eq!(
        (rounded(0.063f64.powi(2), 1e5), rounded(any(different).powi(2), 1e5)),
        (0.00397, 0.00402)
    );

    let pairs = 2000;
    let mut words = SplitMix::new(8);
    let mut chance = |p: f64| (words.draw() >> 11) as f64 / ((1u64 << 53) as f64) < p;
    let mut prints = Vec::new();
    for _ in 0..pairs {
        let first: Vec<bool> = (0..1000).map(|_| chance(0.2)).collect();
        // Filled again with probability 0.8, and otherwise as often as leaves a fifth of all filled.
        let second: Vec<bool> = first.iter().map(|&x| chance(if x { 0.8 } else { 0.05 })).collect();
        for print in [first, second] {
            prints.push((0..1000).filter(|&i| print[i as usize]).collect::<Vec<u64>>());
        }
    }
    let prints = sets(&prints);
    let family = Squares::new(&prints, 1000, 3, 1).unwrap();
    let mut values = vec![0; 2 * pairs * 2048];
    family.hash_many(0..2 * pairs as u32, 0, 2048, &mut values);
    let row = |item: usize, half: usize| &values[item * 2048 + half * 1024..][..1024];
    let together = |a: usize, b: usize, half: usize| {
        row(a, half).iter().zip(row(b, half)).any(|(a, b)| *a == 1 && *b == 1)
    };
    // Pairs of one finger are 2i and 2i + 1; of two fingers, here, 2i and 2i + 2. Functions that have a square in
    // common are not quite independent: 0.003 is allowed for that.
    for (step, chance) in [(1, any(same)), (2, any(different))] {
        let items: Vec<usize> = (0..2 * (pairs - 1)).step_by(2).collect();
        let one = items.iter().filter(|&&i| together(i, i + step, 0)).count();
        let both =
            items.iter().filter(|&&i| together(i, i + step, 0) && together(i, i + step, 1)).count();
        let [one, both] = [one, both].map(|count| count as f64 / items.len() as f64);
        assert!(fits(one, chance, items.len(), 0.003), "{one}, not {chance}");
        assert!(fits(both, chance * chance, items.len(), 0.003), "{both}, not {}", chance * chance);
    }
}

#[test]
fn s8_4_squares_agree_by_what_sets_share() {
    // 200 squares each of 1000, 120 of them shared.
    let (a, b) = ((0..200).collect::<Vec<u64>>(), (80..280).collect::<Vec<u64>>());
    let collection = sets(&[a.clone(), b.clone()]);
    for each in [1, 2, 3] {
        let family = Squares::new(&collection, 1000, each, 2).unwrap();
        check(&family, 1.0 - jaccard::similarity(&a, &b), 400_000, "squares");
        let mut squares = family.squares(17);
        squares.dedup();
        assert_eq!(squares.len(), each);
    }
    assert!(Squares::new(&collection, 1000, 0, 2).is_err());
    assert!(Squares::new(&collection, 279, 3, 2).is_err());
    assert!(Squares::new(&collection, 1000, 17, 2).is_err());
}

#[test]
fn s6_equal_keys_agree_and_others_do_not() {
    let keys = [5, 5, 6, INFINITY];
    let family = Equality::new(&keys);
    assert_eq!(rate(&family, 10), 1.0);
    assert_eq!(rate(&Equality::new(&keys[1..]), 10), 0.0);
    assert_eq!(rate(&Equality::new(vec![INFINITY, INFINITY]), 10), 0.0);
    assert_eq!([0.0, 1.0].map(|d| family.agreement(d)), [1.0, 0.0]);
}

/// The share of tables in which item 1's values are among the first `count` probes of item 0.
fn probed_rate(family: &dyn ProbeFamily, rows: usize, count: usize, tables: usize) -> f64 {
    let (mut probes, mut values) = (Vec::new(), vec![0; rows]);
    let found = (0..tables).filter(|table| {
        probes.clear();
        family.probes(0, table * rows, rows, count, &mut probes);
        family.hash(1, table * rows, &mut values);
        assert!(probes.len() <= rows * count);
        probes.chunks(rows).any(|probe| probe == values)
    });
    found.count() as f64 / tables as f64
}

fn check_probes(family: &dyn ProbeFamily, distance: f64, rows: usize, what: &str) {
    let tables = 10_000;
    for count in [1, 2, 10, 50] {
        let (rate, chance) = (
            probed_rate(family, rows, count, tables),
            family.probed_agreement(distance, rows, count),
        );
        assert!(fits(rate, chance, tables, 0.002), "{what}, {count} probes: {rate}, not {chance}");
        let first = family.agreement(distance).powi(rows as i32);
        assert!(count > 1 || (chance - first).abs() < 0.002, "{what}: {chance}, not {first}");
    }
}

#[test]
fn s6_probing_finds_what_it_should() {
    let (vectors, distance) = apart(20, 1.0, 5);
    for (line, width, rows) in [
        (LineDirection::Gaussian, 2.0, 4),
        (LineDirection::Gaussian, 4.0, 12),
        (LineDirection::Unit, 0.7, 8),
        (LineDirection::Cauchy, 20.0, 6),
    ] {
        let distance = if line == LineDirection::Cauchy {
            norm::l1(vectors.get(0), vectors.get(1)).unwrap()
        } else {
            distance
        };
        let family = Lines::new(&vectors, line, width, 2).unwrap();
        check_probes(&family, distance, rows, &format!("{line:?}"));
    }
    for (degrees, rows) in [(15.0, 16), (60.0, 6), (120.0, 3)] {
        let (vectors, angle) = turned(20, degrees, 3);
        let family = Hyperplanes::new(&vectors, Normals::Gaussian, 2);
        check_probes(&family, angle, rows, "hyperplanes");
    }
    let strings = bits(&[&"0".repeat(64), &("1".repeat(6) + &"0".repeat(58))]);
    check_probes(&BitSampling::new(&strings, 2), 6.0, 8, "bits");
}

/// The first row is the item's own, no row comes twice, and all that there are come when enough are asked for.
#[test]
fn s6_probes_are_different_rows() {
    let (vectors, _) = apart(5, 1.0, 5);
    let lines = Lines::new(&vectors, LineDirection::Gaussian, 1.0, 2).unwrap();
    let planes = Hyperplanes::new(&vectors, Normals::Gaussian, 2);
    for (family, all) in [(&lines as &dyn ProbeFamily, 27), (&planes, 8)] {
        let (mut probes, mut own) = (Vec::new(), [0; 3]);
        family.probes(1, 40, 3, 100, &mut probes);
        family.hash(1, 40, &mut own);
        assert_eq!(probes[..3], own);
        let mut rows: Vec<&[u64]> = probes.chunks(3).collect();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!((rows.len(), probes.len()), (all, 3 * all));
        probes.clear();
        family.probes(1, 40, 3, 0, &mut probes);
        assert!(probes.is_empty());
    }
}
