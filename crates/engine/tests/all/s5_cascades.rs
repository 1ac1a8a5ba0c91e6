//! Rows S5.1 to S5.3 of the syllabus: sensitive families, cascades of AND and OR as probability, fixed points
//! and steepest slopes; and choosing bands for a sample. Running searches are in `s5_search`.
//!
//! Values not printed in the book were computed apart from this code, with 50 digits.

use crate::common::expressions::{any_expression, expression, near};
use nearkin_engine::Error;
use nearkin_engine::amplify::{Bands, Expression, SampledPair, Sensitivity, WorkCosts};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

// Values

#[test]
fn s5_1_sensitive_families() {
    let minhash = Sensitivity::minhash(0.3, 0.6).unwrap();
    assert_eq!((minhash.d1, minhash.d2, minhash.p1, minhash.p2), (0.3, 0.6, 0.7, 0.4));
    for (d1, d2) in [(0.6, 0.3), (0.3, 0.3), (-0.1, 0.5), (0.5, 1.1), (f64::NAN, 1.0)] {
        assert!(Sensitivity::minhash(d1, d2).is_err());
    }
    assert!(Sensitivity::new(1.0, 2.0, |distance| distance / 2.0).is_err());
}

/// Figures 3.11 and 3.12, and what examples 3.19 and 3.20 read from them.
#[test]
fn s5_2_four_by_four() {
    let table = [
        ("or(4, and(4, p))", 2, "0.0064 0.0320 0.0985 0.2275 0.4260 0.6666 0.8785 0.9860"),
        ("and(4, or(4, p))", 1, "0.0140 0.1215 0.3334 0.5740 0.7725 0.9015 0.9680 0.9936"),
    ];
    for (text, first, printed) in table {
        let tenths = (first..first + 8).map(|i| f64::from(i) / 10.0);
        let values = tenths.map(|p| format!("{:.4}", expression(text).probability(p)));
        assert_eq!(values.collect::<Vec<_>>().join(" "), printed);
    }
    let minhash = Sensitivity::minhash(0.2, 0.6).unwrap();
    for (text, p1, p2) in
        [("or(4, and(4, p))", "0.8785", "0.0985"), ("and(4, or(4, p))", "0.9936", "0.5740")]
    {
        let amplified = minhash.amplified(&expression(text));
        assert_eq!((amplified.d1, amplified.d2), (0.2, 0.6));
        assert_eq!(format!("{:.4} {:.4}", amplified.p1, amplified.p2), format!("{p1} {p2}"));
    }
}

/// Example 3.21.
#[test]
fn s5_2_256_functions() {
    let cascade = expression("and(4, or(4, or(4, and(4, minhash))))");
    let amplified = Sensitivity::minhash(0.2, 0.8).unwrap().amplified(&cascade);
    assert_eq!(format!("{:.7} {:.7}", amplified.p1, amplified.p2), "0.9991285 0.0000004");
    assert!(near(amplified.p1, 0.999_128_515_648_892_2, 1e-15));
    assert!(near(amplified.p2 / 4.093_967_192_701_942_6e-7, 1.0, 1e-14));
    assert_eq!((cascade.functions(), cascade.tables()), (256, 64));
    assert_eq!(cascade.formula(), "(1-(1-p^4)^16)^4");
}

const EXERCISE: [&str; 4] = [
    "or(3, and(2, minhash))",
    "and(2, or(3, minhash))",
    "and(2, or(2, and(2, minhash)))",
    "and(2, or(2, and(2, or(2, minhash))))",
];

/// Exercise 3.6.1: four cascades at 0.1, 0.2, …, 0.9.
#[test]
fn a_chance_is_never_above_one() {
    let sevens = "or(q, and(1, or(7, b)), and(or(7, b)), a(8), an, and(9, or(7, b)), a(8), an, and(or(4, b)), an, \
                  and(1, or(7, b)), and(or(7, b)), c)";
    for percent in 0..=100 {
        let chance = expression(sevens).probability(f64::from(percent) / 100.0);
        assert!((0.0..=1.0).contains(&chance), "{chance} at {percent} %");
    }
}

#[test]
fn s5_2_four_cascades() {
    let table = [
        "0.0297 0.1153 0.2464 0.4073 0.5781 0.7379 0.8673 0.9533 0.9931",
        "0.0734 0.2381 0.4316 0.6147 0.7656 0.8761 0.9467 0.9841 0.9980",
        "0.0004 0.0061 0.0295 0.0867 0.1914 0.3486 0.5475 0.7576 0.9291",
        "0.0050 0.0588 0.2048 0.4244 0.6538 0.8342 0.9418 0.9877 0.9992",
    ];
    let formulas = ["1-(1-p^2)^3", "(1-(1-p)^3)^2", "(1-(1-p^2)^2)^2", "(1-(1-(1-(1-p)^2)^2)^2)^2"];
    for ((text, expected), formula) in EXERCISE.iter().zip(table).zip(formulas) {
        let cascade = expression(text);
        let tenths = (1..10).map(|i| f64::from(i) / 10.0);
        let values = tenths.map(|p| format!("{:.4}", cascade.probability(p)));
        assert_eq!(values.collect::<Vec<_>>().join(" "), expected);
        assert_eq!(cascade.formula(), formula);
    }
}

/// Both ends of a curve are accurate far beyond what 1 − x can hold.
#[test]
fn s5_2_both_ends_are_accurate() {
    let [ors, ands] = ["or(20, and(5, p))", "and(20, or(5, p))"].map(expression);
    assert!(near(ors.probability(1e-6) / 20e-30, 1.0, 1e-12));
    // Seen from the other side: what AND does to p, OR does to 1 − p.
    assert!(near(ands.missed(1.0 - 2f64.powi(-20)) / (20.0 * 2f64.powi(-100)), 1.0, 1e-12));
    let deep = expression("and(4, or(4, or(4, and(4, p))))");
    assert!(near(deep.probability(1e-9) / (16f64.powi(4) * 1e-144), 1.0, 1e-12));
    // 4·(1 − p⁴)¹⁶ with 1 − p⁴ = 4·2⁻³⁰ to nine digits.
    assert!(near(deep.missed(1.0 - 2f64.powi(-30)) / (4.0 * 2f64.powi(-448)), 1.0, 1e-7));
    for cascade in [ors, ands, deep] {
        assert_eq!((cascade.probability(0.0), cascade.missed(0.0)), (0.0, 1.0));
        assert_eq!((cascade.probability(1.0), cascade.missed(1.0)), (1.0, 0.0));
        assert_eq!((cascade.probability(-1.0), cascade.probability(2.0)), (0.0, 1.0));
    }
}

#[test]
fn s5_2_functions_of_several_names() {
    let cascade = expression("and(or(4, hyperplane), equal(city))");
    let agreement = |name: &str| if name == "hyperplane" { 0.5 } else { 0.8 };
    assert!(near(cascade.probability_with(&agreement), 0.8 * 15.0 / 16.0, 1e-15));
    assert!(near(cascade.missed_with(&agreement), 0.25, 1e-15));
    assert_eq!((cascade.functions(), cascade.tables()), (5, 5));
    assert_eq!(cascade.formula(), "(1-(1-p[hyperplane])^4)*p[equal(city)]");
    assert_eq!(cascade.latex(), r"(1-(1-p_{\text{hyperplane}})^{4})\cdot p_{\text{equal(city)}}");
    let cascade = expression("or(and(3, minhash), and(2, bits))");
    assert_eq!(cascade.formula(), "1-(1-p[minhash]^3)*(1-p[bits]^2)");
    assert_eq!((cascade.functions(), cascade.tables()), (5, 2));
    // What one AND holds without an OR needs one key.
    assert_eq!(expression("and(equal(a), or(2, p), and(3, q), or(2, and(2, r)))").tables(), 5);
    assert_eq!(expression("and(4, or(1, p))").tables(), 1);
}

#[test]
fn s5_2_formulas() {
    let table = [
        ("p", "p", "p"),
        ("or(20, and(5, minhash))", "1-(1-p^5)^20", "1-(1-p^{5})^{20}"),
        ("and(2, and(3, p))", "p^6", "p^{6}"),
        ("or(2, or(3, p))", "1-(1-p)^6", "1-(1-p)^{6}"),
        ("and(p, p)", "p^2", "p^{2}"),
        ("and(2, and(a_b, c))", "(p[a_b]*p[c])^2", r"(p_{\text{a\_b}}\cdot p_{\text{c}})^{2}"),
        (
            "or(a, b, and(2, c))",
            "1-(1-p[a])*(1-p[b])*(1-p[c]^2)",
            r"1-(1-p_{\text{a}})\cdot (1-p_{\text{b}})\cdot (1-p_{\text{c}}^{2})",
        ),
    ];
    for (text, plain, latex) in table {
        assert_eq!(expression(text).formula(), plain);
        assert_eq!(expression(text).latex(), latex);
    }
}

/// Exercise 3.6.2, and the half-way points.
#[test]
fn s5_3_fixed_points() {
    let table = [
        (EXERCISE[0], 0.389_390_683_334_933_9, 0.454_202_018_947_406_6),
        (EXERCISE[1], 0.151_625_104_268_046_8, 0.335_895_475_691_129_8),
        (EXERCISE[2], 0.847_444_607_891_723_2, 0.677_350_647_636_660_2),
        // (3 − √5)/2
        (EXERCISE[3], 0.381_966_011_250_105_15, 0.431_977_683_217_164_6),
        ("or(4, and(4, p))", 0.724_491_959_000_515_6, 0.631_567_816_680_971_7),
        ("and(4, or(4, p))", 0.275_508_040_999_484_4, 0.368_432_183_319_028_3),
    ];
    for (text, fixed, half) in table {
        let cascade = expression(text);
        assert!(near(cascade.fixed_point().unwrap(), fixed, 1e-15), "{text}");
        assert!(near(cascade.half_way(), half, 1e-15), "{text}");
    }
    // A function that decides alone leaves no fixed point inside; one function leaves all as they are.
    for text in
        ["p", "and(1, or(1, p))", "or(7, p)", "and(7, p)", "or(p, and(3, p))", "and(p, or(3, p))"]
    {
        assert_eq!(expression(text).fixed_point(), None, "{text}");
    }
}

/// Exercise 3.6.3, and the other cascades.
#[test]
fn s5_3_steepest_slopes() {
    let table = [
        ("or(4, and(4, p))", 0.668_740_304_976_422, 2.449_979_443_152_848),
        ("and(4, or(4, p))", 0.331_259_695_023_578, 2.449_979_443_152_848),
        (EXERCISE[0], 0.447_213_595_499_958, 1.717_300_206_719_838),
        (EXERCISE[1], 0.263_193_700_271_923, 1.954_380_683_948_333),
        (EXERCISE[2], 0.729_489_330_418_853, 2.132_698_177_190_531),
        (EXERCISE[3], 0.412_736_990_013_362, 2.368_862_583_715_393),
        ("p", 0.0, 1.0),
        ("or(9, p)", 0.0, 9.0),
        ("and(9, p)", 1.0, 9.0),
    ];
    for (text, at, slope) in table {
        let steepest = expression(text).steepest();
        assert!(
            near(steepest.0, at, 1e-14) && near(steepest.1, slope, 1e-13),
            "{text} {steepest:?}"
        );
    }
}

/// Exercise 3.6.4: with b bands of r rows the slope is greatest at s^r = (r − 1)/(b·r − 1); an AND of r ORs
/// of b is the same curve seen from 1 − s, with r and b exchanged.
#[test]
fn s5_3_steepest_in_general() {
    for (count, rows) in [(2, 2), (20, 5), (5, 20), (1000, 3), (3, 1000), (2, 32_768), (32_768, 2)]
    {
        let bands = Bands::new(count, rows).unwrap();
        let (at, slope) = bands.steepest();
        let (found, steep) = Expression::from(bands).steepest();
        assert!(near(found / at, 1.0, 1e-11), "{bands:?} {found} {at}");
        assert!(near(steep / slope, 1.0, 1e-11), "{bands:?} {steep} {slope}");
        let (found, steep) = Expression::function("p").or(rows).and(count).steepest();
        assert!(near((1.0 - found) / at, 1.0, 1e-11), "{bands:?} {found} {at}");
        assert!(near(steep / slope, 1.0, 1e-11), "{bands:?} {steep} {slope}");
    }
}

#[test]
fn s5_2_bands_are_an_expression() {
    let bands = Bands::new(20, 5).unwrap();
    let cascade = Expression::from(bands);
    assert_eq!(cascade.to_string(), bands.expression());
    for i in 0..=100 {
        let s = f64::from(i) / 100.0;
        assert_eq!(cascade.probability(s), bands.probability(s));
        assert_eq!(cascade.missed(s), bands.missed(s));
        assert_eq!(cascade.slope(s), bands.slope(s));
    }
    assert!(near(cascade.half_way(), bands.half_way(), 1e-15));
    assert_eq!(cascade.fixed_point(), bands.fixed_point());
}

// The text form

#[test]
fn s5_2_text_form() {
    for (text, canonical) in [
        ("OR(20,AND(5,MinHash))", "or(20, and(5, minhash))"),
        ("  and ( or(4,hyperplane) ,Equal( City ) ) ", "and(or(4, hyperplane), equal(City))"),
        ("or(and(3, minhash), and(2, bits))", "or(and(3, minhash), and(2, bits))"),
        ("line(4.5, 2)", "line(4.5, 2)"),
        ("and(p)", "and(p)"),
        ("order", "order"),
    ] {
        assert_eq!(expression(text).to_string(), canonical);
        assert_eq!(expression(canonical), expression(text));
    }
}

#[test]
fn s5_2_errors_point_at_the_place() {
    let table = [
        (
            "",
            "written with and(…), or(…) or a function such as minhash at character 1, where it ends",
        ),
        (
            "or(20 and(5, p))",
            "written with \",\" and what is to be repeated at character 7, not \"and(5, p))\"",
        ),
        (
            "or(20, and(5, p)",
            "written with \")\", for a count repeats one expression, at character 17, where it ends",
        ),
        (
            "or(2, p, q)",
            "written with \")\", for a count repeats one expression, at character 8, not \", q)\"",
        ),
        ("or(p q)", "written with \",\" or \")\" at character 6, not \"q)\""),
        ("or(0, p)", "written with a count from 1 to 65536 at character 4, not \"0, p)\""),
        (
            "or(99999999999999999999, p)",
            "written with a count from 1 to 65536 at character 4, not \"99999999999999999999, p)\"",
        ),
        ("or p", "written with \"(\" at character 4, not \"p\""),
        ("é) p", "written with nothing more at character 2, not \") p\""),
        ("p()", "written with the argument of p, or no parentheses, at character 3, not \")\""),
        (
            "f(g(x))",
            "written with \")\" (only and(…) and or(…) hold expressions) at character 4, not \"(x))\"",
        ),
        (
            "and(,p)",
            "written with and(…), or(…) or a function such as minhash at character 5, not \",p)\"",
        ),
        (
            "-1",
            "written with and(…), or(…) or a function such as minhash at character 1, not \"-1\"",
        ),
    ];
    for (text, must) in table {
        let error = text.parse::<Expression>().unwrap_err().to_string();
        assert_eq!(error, format!("`expression` is {text}; it must be {must}"));
    }
}

#[test]
fn s5_2_absurd_sizes() {
    let error = "or(65536, and(2, p))".parse::<Expression>().unwrap_err().to_string();
    assert!(error.contains("131072 functions") && error.contains("at most 65536"), "{error}");
    assert!("or(65536, p)".parse::<Expression>().is_ok());
    let endless = "or(65536, ".repeat(10) + "p" + &")".repeat(10);
    assert!(endless.parse::<Expression>().is_err());
    let deep = |levels: usize| "and(1, ".repeat(levels) + "p" + &")".repeat(levels);
    assert!(deep(63).parse::<Expression>().is_ok());
    let error = deep(64).parse::<Expression>().unwrap_err().to_string();
    assert!(error.contains("at most 64 levels"), "{error}");
    assert!(deep(100_000).parse::<Expression>().is_err());
    let p = || Expression::function("p");
    for bad in [
        p().and(0),
        Expression::All(vec![]),
        Expression::Any(vec![]).or(2),
        Expression::function("two words"),
        Expression::function("or"),
        Expression::function(""),
        (0..64).fold(p(), |inside, _| inside.and(1)),
    ] {
        assert!(matches!(bad.check(), Err(Error::Parameter { name: "expression", .. })), "{bad}");
    }
}

// Choosing bands for a sample

/// All choices of rows and bands, worked out with other formulas.
fn exhaustive(
    p: f64,
    recall: f64,
    most: usize,
    sample: &[SampledPair],
    work: &WorkCosts,
) -> (f64, Bands) {
    let cost = |bands: &Bands| {
        let found = |s: f64| 1.0 - (1.0 - s.powi(bands.rows as i32)).powi(bands.count as i32);
        let candidates: f64 = sample.iter().map(|pair| pair.pairs * found(pair.agreement)).sum();
        work.items * bands.count as f64 * (bands.rows as f64 * work.function + work.entry)
            + work.comparison * candidates
    };
    (1..=most)
        .flat_map(|rows| (1..=most / rows).map(move |count| Bands { count, rows }))
        .filter(|bands| bands.probability(p) >= recall)
        .map(|bands| (cost(&bands), bands))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap()
}

/// Made-up histograms: pairs that have nothing to do with each other, some halfway, few that are close.
#[test]
fn s5_tuning_for_a_sample_is_the_best_there_is() {
    let histograms: [&[(f64, f64)]; 4] = [
        &[(0.5, 5e7), (0.6, 1e5), (0.8, 1e3), (0.95, 500.0)],
        &[(0.02, 5e9), (0.3, 1e6), (0.85, 1e4)],
        &[(0.7, 1e6), (0.75, 2e5), (0.9, 10.0)],
        &[(0.0, 1e12), (1.0, 1.0)],
    ];
    for histogram in histograms {
        let sample: Vec<SampledPair> =
            histogram.iter().map(|&(agreement, pairs)| SampledPair { agreement, pairs }).collect();
        for (agreement, recall) in [(0.8, 0.95), (0.9, 0.99), (0.5, 0.5), (1.0, 0.9)] {
            for comparison in [0.0, 0.1, 50.0] {
                let work = WorkCosts { items: 1e4, function: 3.0, entry: 20.0, comparison };
                let chosen = Bands::for_sample(agreement, recall, 600, &sample, &work).unwrap();
                let (cost, bands) = exhaustive(agreement, recall, 600, &sample, &work);
                assert_eq!(chosen.bands, bands, "{histogram:?} {agreement} {recall} {comparison}");
                assert!(near(chosen.cost / cost, 1.0, 1e-9));
                let similar: f64 =
                    histogram.iter().filter(|pair| pair.0 >= agreement).map(|pair| pair.1).sum();
                let expected = chosen.expected;
                assert!(expected.missed <= (1.0 - recall) * similar);
                let sum = expected.wasted + similar - expected.missed;
                assert!(near(expected.candidates, sum, 1e-9 * (1.0 + sum)));
            }
        }
    }
}

#[test]
fn s5_tuning_says_what_brute_force_costs() {
    let work = WorkCosts { items: 1e3, function: 1.0, entry: 1.0, comparison: 2.0 };
    let sample = [SampledPair { agreement: 0.9, pairs: 499_500.0 }];
    assert_eq!(work.brute_force(&sample), 999_000.0);
    // Everything is alike: no tables make it cheaper.
    let chosen = Bands::for_sample(0.9, 0.95, 1024, &sample, &work).unwrap();
    assert!(chosen.cost > 0.95 * work.brute_force(&sample));
    // More and more to compare buys more and more rows.
    let rows = |pairs| {
        let sample =
            [SampledPair { agreement: 0.5, pairs }, SampledPair { agreement: 0.9, pairs: 1.0 }];
        Bands::for_sample(0.9, 0.95, 4096, &sample, &work).unwrap().bands.rows
    };
    assert!(rows(1e3) < rows(1e5) && rows(1e5) < rows(1e8));
}

#[test]
fn s5_tuning_errors() {
    let work = WorkCosts { items: 1e3, function: 1.0, entry: 1.0, comparison: 2.0 };
    let fine = [SampledPair { agreement: 0.5, pairs: 10.0 }];
    for bad in [0.0, -0.5, 1.5, f64::NAN] {
        assert!(Bands::for_sample(bad, 0.9, 100, &fine, &work).is_err());
        assert!(Bands::for_sample(0.5, bad, 100, &fine, &work).is_err());
    }
    for (agreement, pairs) in
        [(-0.1, 1.0), (1.1, 1.0), (f64::NAN, 1.0), (0.5, -1.0), (0.5, f64::NAN)]
    {
        let sample = [SampledPair { agreement, pairs }];
        assert!(Bands::for_sample(0.5, 0.9, 100, &sample, &work).is_err());
    }
    assert!(
        Bands::for_sample(0.5, 0.9, 100, &fine, &WorkCosts { entry: f64::NAN, ..work }).is_err()
    );
    assert!(Bands::for_sample(0.5, 0.9, 0, &fine, &work).is_err());
    let error = Bands::for_sample(0.01, 0.9, 100, &fine, &work).unwrap_err().to_string();
    assert!(error.starts_with("`agreement` is 0.01; it must be higher"), "{error}");
    let empty = Bands::for_sample(0.9, 0.9, 100, &[], &work).unwrap();
    assert_eq!(empty.expected.candidates, 0.0);
}

// Any expression

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn s5_2_text_and_value_are_one(cascade in any_expression()) {
        prop_assert_eq!(expression(&cascade.to_string()), cascade);
    }

    #[test]
    fn s5_2_no_text_is_a_panic(text in "(and|or|f|\\(|\\)|,| |0|3|é|-){0,12}") {
        if let Ok(cascade) = text.parse::<Expression>() {
            prop_assert_eq!(expression(&cascade.to_string()), cascade);
        }
    }

    #[test]
    fn s5_2_curves_rise_from_0_to_1(cascade in any_expression(), p in 0.0f64..1.0, more in 0.0f64..1.0) {
        let higher = p + more * (1.0 - p);
        let (low, high) = (cascade.probability(p), cascade.probability(higher));
        prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
        prop_assert!(low <= high + 1e-14);
        prop_assert!(near(low + cascade.missed(p), 1.0, 1e-13));
        prop_assert_eq!((cascade.probability(0.0), cascade.probability(1.0)), (0.0, 1.0));
    }

    /// The marks of a curve are what they are called.
    #[test]
    fn s5_3_marks_of_any_curve(cascade in any_expression(), p in 0.001f64..0.999) {
        prop_assert!(near(cascade.probability(cascade.half_way()), 0.5, 1e-12));
        let step = 1e-6;
        let measured = (cascade.probability(p + step) - cascade.probability(p - step)) / (2.0 * step);
        prop_assert!(near(cascade.slope(p), measured, 1e-6 * (1.0 + measured) + 1e-3 * step));
        let (at, slope) = cascade.steepest();
        prop_assert!(near(cascade.slope(at), slope, 0.0));
        prop_assert!(slope >= cascade.slope(p) - 1e-12, "{} {}", slope, cascade.slope(p));
        // Below the fixed point chances fall, above it they rise; without one they do one of both.
        let fixed = cascade.fixed_point();
        prop_assert!(fixed.is_none_or(|fixed| near(cascade.probability(fixed), fixed, 1e-13)));
        let raised = cascade.probability(p) > p + 1e-13;
        let lowered = cascade.probability(p) < p - 1e-13;
        match fixed {
            Some(fixed) if p < fixed => prop_assert!(!raised),
            Some(_) => prop_assert!(!lowered),
            None => {
                let q = 1.0 - p;
                prop_assert!(!(raised && cascade.probability(q) < q - 1e-13));
            }
        }
    }

}
