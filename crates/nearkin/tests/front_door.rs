//! The library as a program in Rust uses it, against brute force over what it was given.

use nearkin::items::{Bits, Form, Items, StringMeasure, Strings, VectorMeasure, Vectors};
use nearkin::settings::{Keep, Observer, Strategy};
use nearkin::{Error, Pair};

/// Points on a spiral: neighbours are close, and how close differs.
fn spiral() -> Vec<[f32; 2]> {
    (0..60u8).map(f32::from).map(|n| [n * (n / 5.0).cos(), n * (n / 5.0).sin()]).collect()
}

fn vectors(points: &[[f32; 2]]) -> Items {
    let vectors = Vectors::new(2, points.as_flattened().to_vec()).unwrap();
    Items::Vectors(vectors, VectorMeasure::L2)
}

fn distance(a: [f32; 2], b: [f32; 2]) -> f64 {
    f64::hypot(f64::from(a[0]) - f64::from(b[0]), f64::from(a[1]) - f64::from(b[1]))
}

#[test]
fn pairs_of_vectors_are_those_of_brute_force() -> nearkin::Result<()> {
    let points = spiral();
    let found = nearkin::pairs(vectors(&points)).within(8.0).exact().run()?;
    let mut expected = Vec::new();
    for (a, b) in (0..points.len()).flat_map(|a| (a + 1..points.len()).map(move |b| (a, b))) {
        let value = distance(points[a], points[b]);
        if value <= 8.0 {
            expected.push((a, b, value));
        }
    }
    assert!(expected.len() > 20);
    assert_eq!(found.pairs.len(), expected.len());
    for (Pair { a, b, value }, (x, y, right)) in found.pairs.into_iter().zip(expected) {
        assert_eq!((a, b), (x, y));
        assert!((value - right).abs() < 1e-9, "{a} and {b}: {value}, not {right}");
    }
    Ok(())
}

#[test]
fn the_closest_of_each_item_come_from_close_to_far() -> nearkin::Result<()> {
    let points = spiral();
    let found = nearkin::closest(vectors(&points), 3).run()?;
    assert_eq!(found.pairs.len(), 3 * points.len());
    for (at, three) in found.pairs.chunks(3).enumerate() {
        let others = (0..points.len()).filter(|&other| other != at);
        let mut expected: Vec<f64> = others.map(|it| distance(points[at], points[it])).collect();
        expected.sort_by(f64::total_cmp);
        for (pair, right) in three.iter().zip(expected) {
            assert_eq!(pair.a, at);
            assert!((pair.value - right).abs() < 1e-9);
        }
    }
    Ok(())
}

#[test]
fn one_of_each_group_is_kept_by_the_rule_that_is_asked_for() -> nearkin::Result<()> {
    let texts = ["one two three four five six", "a b c d e f", "one two three four five six seven"];
    let first = nearkin::dedup(&texts).threshold(0.6).run()?;
    assert_eq!((first.kept, first.stats.kept), (vec![0, 1], Some(2)));
    let longest = nearkin::dedup(&texts).threshold(0.6).keep(Keep::Longest).run()?;
    assert_eq!(longest.kept, [1, 2]);
    // Two of the three shingles are shared.
    assert_eq!(longest.stands_for[0], (2, 2.0 / 3.0));
    Ok(())
}

#[test]
fn only_what_resembles_a_kept_one_goes_unless_chains_are_asked_for() -> nearkin::Result<()> {
    let chain = || {
        let strings: Strings = ["kitten", "mitten", "mittens"].iter().collect();
        Items::Strings(strings, StringMeasure::Mutation)
    };
    assert_eq!(nearkin::dedup(chain()).within(1.0).run()?.kept, [0, 2]);
    assert_eq!(nearkin::dedup(chain()).within(1.0).chains().run()?.kept, [0]);
    Ok(())
}

#[test]
fn what_cannot_be_is_said() {
    let fails = |error: Error, part: &str| assert!(error.to_string().contains(part), "{error}");
    let texts = ["a b c d e f"; 2];
    fails(nearkin::pairs(&texts).threshold(1.5).run().unwrap_err(), "`threshold` is 1.5");
    fails(nearkin::pairs(&texts).recall(0.0).run().unwrap_err(), "`recall` is 0");
    let by_field = Keep::Max("stars".into());
    fails(
        nearkin::dedup(&texts).keep(by_field).run().unwrap_err(),
        "items in memory have no fields",
    );
}

#[test]
fn an_observer_sees_the_stages_and_stops_the_run() {
    struct Stops;
    impl Observer for Stops {
        fn stopped(&self) -> bool {
            true
        }
    }
    let texts: Vec<String> = (0..500).map(|n| format!("a b c d e f {n}")).collect();
    let outcome =
        nearkin::pairs(&texts).settings(|it| it.strategy = Strategy::Exact).observed(&Stops).run();
    assert!(matches!(outcome, Err(Error::Interrupted)));
}

#[test]
fn no_items_give_no_pairs() -> nearkin::Result<()> {
    let none: [&str; 0] = [];
    assert_eq!(nearkin::pairs(&none).run()?.pairs, []);
    assert_eq!(nearkin::dedup(&none).run()?.kept, [0; 0]);
    let bits = Items::Bits(Bits::default(), Form::Distance, 1.0);
    assert_eq!(nearkin::pairs(bits).within(1.0).run()?.pairs, []);
    Ok(())
}
