//! Components of vectors.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::*;

/// Numbers of very different size, and whole ones among them.
fn float() -> impl Strategy<Value = f32> {
    prop_oneof![-9.0f32..9.0, -1e6f32..1e6, -1e-6f32..1e-6, (-20i8..20).prop_map(f32::from)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

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
}
