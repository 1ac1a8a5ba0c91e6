//! Rows S4.2 and S4.3 of the syllabus: the S-curve, and choosing bands and rows.
//!
//! Values not printed in the book were computed apart from this code, in exact fractions.

use nearkin_engine::Error;
use nearkin_engine::amplify::{Bands, Cost, MAX_FUNCTIONS};
use nearkin_engine::family::OnePermutation;
use proptest::prelude::*;

fn bands(count: usize, rows: usize) -> Bands {
    Bands::new(count, rows).unwrap()
}

fn near(value: f64, expected: f64, tolerance: f64) -> bool {
    (value - expected).abs() <= tolerance
}

#[test]
fn s4_2_s_curve_table() {
    let curve = bands(20, 5);
    let printed = [".006", ".047", ".186", ".470", ".802", ".975"];
    for (tenths, digits) in (2..).zip(printed) {
        let value = format!("{:.3}", curve.probability(f64::from(tenths) / 10.0));
        assert_eq!(value.trim_start_matches('0'), digits);
    }
    assert_eq!(format!("{:.4}", curve.probability(0.8)), "0.9996");
    // About 1 in 3000 pairs of similarity 0.8 is missed: 0.00036, or 1 in 2809.
    assert!(near(curve.missed(0.8), 0.000_356_057_890_520_8, 1e-15));
    // 4.74 % (cut off, not rounded) of the pairs of similarity 0.3 become candidates.
    assert!(near(curve.probability(0.3), 0.047_494_259_124_970, 1e-14));
    // The rise from 0.4 to 0.6 is more than 0.6, so somewhere the slope is above 3.
    assert!(curve.probability(0.6) - curve.probability(0.4) > 0.6);
    assert!(curve.steepest().1 > 3.0);
}

#[test]
fn s4_2_threshold_and_its_estimate() {
    assert!(near(bands(16, 4).estimate(), 0.5, 1e-15));
    let half = bands(20, 5).half_way();
    assert!(near(half, 0.508_695_961_833_894, 1e-14), "just slightly more than 0.5: {half}");
    assert!(near(bands(20, 5).probability(half), 0.5, 1e-14));
}

/// Exercise 3.4.1: three curves at 0.1, 0.2, …, 0.9.
#[test]
fn s4_2_three_more_curves() {
    let table = [
        (3, 10, "0.0100 0.0772 0.2394 0.4839 0.7369 0.9123 0.9850 0.9992 1.0000"),
        (6, 20, "0.0000 0.0013 0.0145 0.0788 0.2702 0.6154 0.9182 0.9977 1.0000"),
        (5, 50, "0.0005 0.0159 0.1145 0.4023 0.7956 0.9825 0.9999 1.0000 1.0000"),
    ];
    for (rows, count, expected) in table {
        let curve = bands(count, rows);
        let values: Vec<String> =
            (1..10).map(|i| format!("{:.4}", curve.probability(f64::from(i) / 10.0))).collect();
        assert_eq!(values.join(" "), expected);
    }
}

/// Exercise 3.4.2: where the three curves pass one half, and the estimates, which lie above.
#[test]
fn s4_2_three_more_thresholds() {
    let table = [
        (3, 10, 0.406_088_134_067_708, 0.464_158_883_361_278),
        (6, 20, 0.569_353_386_825_698, 0.606_962_231_002_917),
        (5, 50, 0.424_394_480_368_733, 0.457_305_051_927_326),
    ];
    for (rows, count, half, estimate) in table {
        let curve = bands(count, rows);
        assert!(near(curve.half_way(), half, 1e-14));
        assert!(near(curve.estimate(), estimate, 1e-14));
        assert!(curve.estimate() > curve.half_way());
    }
}

/// Exercise 3.4.3: where s^r is tiny the curve is b·s^r, also far below what 1 − (1 − x) can hold.
#[test]
fn s4_2_the_foot_of_the_curve_is_accurate() {
    let curve = bands(20, 5);
    assert!(near(curve.probability(1e-6) / (20.0 * 1e-30), 1.0, 1e-12));
    assert_eq!((curve.probability(0.0), curve.probability(1.0)), (0.0, 1.0));
    assert_eq!((curve.probability(-0.5), curve.probability(1.5)), (0.0, 1.0));
    assert_eq!((curve.missed(0.0), curve.missed(1.0)), (1.0, 0.0));
}

#[test]
fn s4_2_fixed_points() {
    let table = [(20, 5, 0.512_211_607_442_523), (4, 4, 0.724_491_959_000_516)];
    for (count, rows, expected) in table {
        assert!(near(bands(count, rows).fixed_point().unwrap(), expected, 1e-14));
    }
    // Damped or amplified everywhere: no fixed point inside.
    for (count, rows) in [(1, 1), (1, 7), (7, 1)] {
        assert_eq!(bands(count, rows).fixed_point(), None);
    }
}

#[test]
fn s4_2_steepest_slope() {
    // s⁵ = 4/99.
    let (at, slope) = bands(20, 5).steepest();
    assert!(near(at, (4.0f64 / 99.0).powf(0.2), 1e-15));
    assert!(near(slope, bands(20, 5).slope(at), 0.0));
    assert_eq!(bands(7, 1).steepest(), (0.0, 7.0));
    assert_eq!(bands(1, 7).steepest(), (1.0, 7.0));
    assert_eq!(bands(1, 1).steepest(), (0.0, 1.0));
}

#[test]
fn s4_2_expression() {
    assert_eq!(bands(20, 5).expression(), "or(20, and(5, minhash))");
    assert_eq!(bands(20, 5).functions(), 100);
    assert!(Bands::new(0, 5).is_err());
    assert!(Bands::new(5, 0).is_err());
}

/// The curve is what sketches do: 2000 seeds, each with 20 bands of 5 groups. Allowed are 5
/// standard errors, and for the correlation of groups, which the curve leaves out, 0.02 besides;
/// failure probability 3 / 1.7 million.
#[test]
fn s4_2_measured_candidates_follow_the_curve() {
    let curve = bands(20, 5);
    for shared in [100, 150, 200] {
        let a: Vec<u64> = (0..300).collect();
        let b: Vec<u64> = (300 - shared..600 - shared).collect();
        let truth = shared as f64 / (600 - shared) as f64;
        let met = (0..2000)
            .filter(|&seed| {
                let sketcher = OnePermutation { groups: curve.functions(), seed };
                let (mut x, mut y) = ([0; 100], [0; 100]);
                sketcher.sketch(&a, &mut x);
                sketcher.sketch(&b, &mut y);
                x.chunks(5).zip(y.chunks(5)).any(|(x, y)| x == y)
            })
            .count();
        let p = curve.probability(truth);
        let allowed = 5.0 * (p * (1.0 - p) / 2000.0).sqrt() + 0.02;
        assert!(near(met as f64 / 2000.0, p, allowed), "{met} {p}");
    }
}

/// The areas in exact fractions, by expanding (1 − s^r)^b.
#[test]
fn s4_3_areas_of_missed_and_wasted_pairs() {
    let table = [
        (0.5, 20, 5, 0.044_634_893_484_525_7, 0.045_984_727_820_050_3),
        (0.8, 32, 9, 0.157_073_705_414_898, 0.000_150_380_369_735_405),
        (0.5, 72, 4, 0.189_726_947_516_29, 0.000_217_752_485_676_621),
        (0.95, 12, 22, 0.080_241_503_023_576_7, 5.650_316_836_835_29e-5),
        (0.99, 16, 64, 0.041_270_923_725_559_5, 5.161_310_782_836_83e-9),
        (0.5, 1, 1, 0.125, 0.125),
        (0.9, 1024, 1, 0.899_024_390_243_902, 0.0),
    ];
    for (threshold, count, rows, wasted, missed) in table {
        let curve = bands(count, rows);
        let (false_positive, false_negative) =
            (curve.false_positive_area(threshold), curve.false_negative_area(threshold));
        assert!(near(false_positive, wasted, 1e-11), "{curve:?} {false_positive}");
        assert!(near(false_negative, missed, 1e-11), "{curve:?} {false_negative}");
    }
    assert_eq!(bands(20, 5).false_positive_area(0.0), 0.0);
    assert_eq!(bands(20, 5).false_negative_area(1.0), 0.0);
}

/// Found by trying all choices in exact fractions. Missed pairs that matter more (0.9) give shorter
/// bands and more of them, wasted work that matters more (weight 0.1) the opposite.
#[test]
fn s4_3_balanced_choices() {
    let table = [
        (0.5, 64, 0.5, bands(14, 4)),
        (0.8, 64, 0.5, bands(5, 11)),
        (0.8, 64, 0.9, bands(9, 7)),
        (0.8, 64, 0.1, bands(3, 19)),
        (0.5, 128, 0.5, bands(25, 5)),
        (0.9, 128, 0.5, bands(5, 25)),
    ];
    for (threshold, functions, weight, expected) in table {
        assert_eq!(Bands::balanced(threshold, functions, weight).unwrap(), expected);
    }
    assert_eq!(Bands::balanced(0.5, 1, 0.5).unwrap(), bands(1, 1));
}

#[test]
fn s4_3_choices_for_a_recall() {
    let chosen = |recall| {
        [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
            .map(|threshold| Bands::for_recall(threshold, recall, MAX_FUNCTIONS).unwrap())
            .map(|bands| (bands.count, bands.rows))
    };
    assert_eq!(chosen(0.99), [(72, 4), (34, 4), (26, 5), (16, 6), (11, 10), (6, 12)]);
    assert_eq!(chosen(0.9999), [(143, 4), (67, 4), (51, 5), (24, 5), (19, 9), (11, 11)]);
}

#[test]
fn s4_3_extremes_work_or_say_why() {
    for threshold in [0.05, 0.1, 0.3, 0.5, 0.99, 1.0] {
        for recall in [0.01, 0.5, 0.999_999] {
            let bands = Bands::for_recall(threshold, recall, MAX_FUNCTIONS).unwrap();
            assert!(bands.probability(threshold) >= recall);
        }
    }
    assert_eq!(Bands::for_recall(1.0, 0.99, 10).unwrap(), bands(1, 10));
    let error = Bands::for_recall(0.05, 0.99, 64).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`threshold` is 0.05; it must be higher for a recall of 0.99: this takes more than 64 hash functions; \
         raise the threshold or lower the recall"
    );
    assert!(Bands::for_recall(1e-300, 0.99, MAX_FUNCTIONS).is_err());
    assert!(Bands::for_recall(0.5, 0.99, 0).is_err());
    for bad in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY] {
        let error = Bands::for_recall(bad, 0.9, 100).unwrap_err();
        assert!(matches!(error, Error::Parameter { name: "threshold", .. }));
        assert!(Bands::for_recall(0.5, bad, 100).is_err());
        assert!(Bands::balanced(bad, 100, 0.5).is_err());
    }
    assert!(Bands::for_recall(0.5, 1.0, 100).is_err());
    assert!(Bands::balanced(0.5, 0, 0.5).is_err());
    assert!(Bands::balanced(0.5, 10, 1.1).is_err());
}

#[test]
fn s4_3_costlier_candidates_buy_more_rows() {
    let rows = |wasted| {
        let cost = Cost { wasted, unrelated: 0.0, ..Cost::default() };
        Bands::for_recall_at(0.8, 0.99, 100_000, &cost).unwrap().rows
    };
    assert_eq!(rows(0.0), 1);
    assert!(rows(1e3) < rows(1e4) && rows(1e4) < rows(1e6));
}

#[test]
fn s4_3_expected_errors_from_a_sample() {
    let curve = bands(20, 5);
    let sample = [0.2, 0.3, 0.8, 0.8, 1.0];
    let expected = curve.expected(&sample, 0.8);
    assert!(near(expected.missed, 2.0 * 0.000_356_057_890_521, 1e-14));
    assert!(near(expected.wasted, 0.006_380_581_304_768 + 0.047_494_259_124_970, 1e-14));
    assert!(near(expected.candidates, expected.wasted + 3.0 - expected.missed, 1e-14));
    // A sample spread evenly gives the areas.
    let even: Vec<f64> = (0..10_000).map(|i| (f64::from(i) + 0.5) / 10_000.0).collect();
    let expected = curve.expected(&even, 0.5);
    assert!(near(expected.missed / 10_000.0, curve.false_negative_area(0.5), 1e-7));
    assert!(near(expected.wasted / 10_000.0, curve.false_positive_area(0.5), 1e-7));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The promised recall is kept, with no band to spare, at every similarity above the threshold.
    #[test]
    fn s4_3_recall_is_kept_with_the_fewest_bands(
        threshold in 0.05f64..=1.0,
        recall in 0.01f64..0.999_999,
        above in 0.0f64..=1.0,
    ) {
        let chosen = Bands::for_recall(threshold, recall, MAX_FUNCTIONS).unwrap();
        prop_assert!(chosen.functions() <= MAX_FUNCTIONS);
        prop_assert!(chosen.probability(threshold) >= recall);
        prop_assert!(chosen.probability(threshold + above * (1.0 - threshold)) >= recall - 1e-12);
        if chosen.count > 1 {
            let fewer = bands(chosen.count - 1, chosen.rows);
            prop_assert!(fewer.probability(threshold) < recall);
        }
    }

    /// Half-way point, fixed point and steepest point are what they are called.
    #[test]
    fn s4_2_marks_of_the_curve(count in 2usize..500, rows in 2usize..40) {
        let curve = bands(count, rows);
        prop_assert!(near(curve.probability(curve.half_way()), 0.5, 1e-9));
        let fixed = curve.fixed_point().unwrap();
        prop_assert!(fixed > 0.0 && fixed < 1.0);
        prop_assert!(near(curve.probability(fixed), fixed, 1e-9));
        let (at, slope) = curve.steepest();
        prop_assert!(slope >= curve.slope(at * 0.99) && slope >= curve.slope((at * 1.01).min(1.0)));
        let (low, high) = (at - 1e-5, (at + 1e-5).min(1.0));
        let measured = (curve.probability(high) - curve.probability(low)) / (high - low);
        prop_assert!(near(measured / slope, 1.0, 1e-3));
    }
}
