//! Row S5.2 of the syllabus: cascades of AND and OR as a running search, against their curves and against
//! brute force.

use std::collections::BTreeSet;

use crate::common::expressions::{any_expression, expression, near};
use nearkin_engine::Error;
use nearkin_engine::amplify::{Expression, Sensitivity};
use nearkin_engine::candidates::cascade::{CandidateCounts, Cascade, Families};
use nearkin_engine::family::hash::{SplitMix, mix64};
use nearkin_engine::family::{Family, INFINITY};
use nearkin_engine::join::every_pair;
use nearkin_engine::space::{ClosePair, Form, JoinQuery, Space, sorted_pairs};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Items 2i and 2i + 1 agree under a function with a given probability, all functions and pairs independent;
/// all others never agree.
struct Coins {
    pairs: usize,
    agreement: f64,
    seed: u64,
}

impl Family for Coins {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        for (function, value) in (from..).zip(values) {
            let pair = u64::from(item / 2);
            let coin = mix64(pair, mix64(function as u64, self.seed));
            let agree = ((coin >> 11) as f64) < self.agreement * (1u64 << 53) as f64;
            *value = if agree { pair } else { u64::from(item) + self.pairs as u64 };
        }
    }

    fn agreement(&self, _: f64) -> f64 {
        self.agreement
    }
}

/// Random bits, with one bit sampled by each function. Item 7 has none.
struct Bits {
    rows: Vec<u64>,
    seed: u64,
}

impl Bits {
    /// Every second item is the one before it with some bits turned.
    fn new(items: usize, seed: u64) -> Self {
        let mut draw = SplitMix::new(seed);
        let mut rows: Vec<u64> = Vec::new();
        for item in 0..items {
            let noise = draw.draw() & draw.draw() & draw.draw();
            rows.push(if item % 2 == 1 { rows[item - 1] ^ noise } else { draw.draw() });
        }
        Self { rows, seed }
    }

    fn bit(&self, item: u32, function: usize) -> u64 {
        let place = mix64(function as u64, self.seed) % 64;
        if item == 7 { INFINITY } else { self.rows[item as usize] >> place & 1 }
    }
}

impl Family for Bits {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        for (function, value) in (from..).zip(values) {
            *value = self.bit(item, function);
        }
    }

    fn agreement(&self, distance: f64) -> f64 {
        1.0 - distance / 64.0
    }
}

/// Hamming distance.
impl Space for Bits {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn form(&self) -> Form {
        Form::Distance
    }

    fn value(&self, a: u32, b: u32) -> f64 {
        f64::from((self.rows[a as usize] ^ self.rows[b as usize]).count_ones())
    }
}

/// A space in which everything is near.
struct Everything(usize);

impl Space for Everything {
    fn len(&self) -> usize {
        self.0
    }

    fn form(&self) -> Form {
        Form::Distance
    }

    fn value(&self, _: u32, _: u32) -> f64 {
        0.0
    }
}

const WHOLE: JoinQuery<'static> =
    JoinQuery { limit: f64::INFINITY, split: None, stopped: &|| false };

fn pairs(found: &[ClosePair]) -> Vec<(u32, u32)> {
    found.iter().map(|found| (found.a, found.b)).collect()
}

/// What a family promises at two distances, from its own curve.
#[test]
fn s5_1_sensitive_from_a_family() {
    let sampled = Sensitivity::of(&Bits::new(0, 1), 16.0, 48.0).unwrap();
    assert_eq!((sampled.p1, sampled.p2), (0.75, 0.25));
    assert!(Sensitivity::of(&Bits::new(0, 1), 16.0, 65.0).is_err());
}

/// What an expression makes candidates is what its curve says: 20,000 pairs on which functions agree with
/// known probabilities. Allowed are 5 standard errors and a pair; failure probability of all 40 together
/// 40 / 1.7 million.
#[test]
fn s5_2_measured_rates_follow_the_curve() {
    const PAIRS: usize = 20_000;
    let texts = [
        "f",
        "or(4, and(4, f))",
        "and(4, or(4, f))",
        "and(2, or(3, and(2, or(2, f))))",
        "or(2, and(2, or(2, and(2, f))))",
        "or(and(3, f), and(2, g))",
        "and(or(4, f), g)",
        "or(5, and(f, or(2, g)))",
        "and(or(2, and(2, f)), or(3, and(f, g)))",
        "or(f, and(2, or(3, g)), and(or(2, f), or(2, g)))",
    ];
    for (seed, text) in (0..).zip(texts) {
        let cascade = expression(text);
        for (p, q) in [(0.2, 0.9), (0.5, 0.5), (0.8, 0.3), (0.95, 0.1)] {
            let f = Coins { pairs: PAIRS, agreement: p, seed: 2 * seed };
            let g = Coins { pairs: PAIRS, agreement: q, seed: 2 * seed + 1 };
            let running = Cascade::new(&cascade, &[("f", &f), ("g", &g)], 2 * PAIRS).unwrap();
            let (found, counts) =
                sorted_pairs(|found| running.join(&Everything(2 * PAIRS), &WHOLE, found)).unwrap();
            assert!(found.iter().all(|pair| pair.a % 2 == 0 && pair.b == pair.a + 1));
            assert_eq!(counts.verified, found.len() as u64);
            let derived = cascade.probability_with(&|name| if name == "f" { p } else { q });
            let allowed = 5.0 * (derived * (1.0 - derived) / PAIRS as f64).sqrt() + 5e-5;
            let measured = found.len() as f64 / PAIRS as f64;
            assert!(near(measured, derived, allowed), "{text} {p} {q}: {measured} {derived}");
        }
    }
}

/// An expression evaluated as it stands on one pair, functions drawn in its order.
fn satisfied(
    expression: &Expression,
    agree: &dyn Fn(&str, usize) -> bool,
    used: &mut Vec<(String, usize)>,
) -> bool {
    // All parts are evaluated, whatever the first ones say: each draws its functions.
    match expression {
        Expression::Function(name) => {
            let place = used.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                used.push((name.clone(), 0));
                used.len() - 1
            });
            used[place].1 += 1;
            agree(name, used[place].1 - 1)
        }
        Expression::And(n, inside) => {
            (0..*n).filter(|_| satisfied(inside, agree, used)).count() == *n
        }
        Expression::Or(n, inside) => (0..*n).filter(|_| satisfied(inside, agree, used)).count() > 0,
        Expression::All(parts) => {
            parts.iter().filter(|part| satisfied(part, agree, used)).count() == parts.len()
        }
        Expression::Any(parts) => {
            parts.iter().filter(|part| satisfied(part, agree, used)).count() > 0
        }
    }
}

fn by_hand(cascade: &Expression, families: &[(&str, &Bits)], a: u32, b: u32) -> bool {
    let agree = |name: &str, function: usize| {
        let (_, family) = families.iter().find(|(known, _)| *known == name).unwrap();
        let (x, y) = (family.bit(a, function), family.bit(b, function));
        x == y && x != INFINITY
    };
    satisfied(cascade, &agree, &mut Vec::new())
}

/// The cascade finds the very pairs that its expression means, whole and across a split, and for queries.
fn agrees_with_brute_force(cascade: &Expression, items: u32, seed: u64) {
    let (f, g) = (Bits::new(items as usize, seed), Bits::new(items as usize, seed + 1));
    let families: [(&str, &dyn Family); 2] = [("f", &f), ("g", &g)];
    let running = Cascade::new(cascade, &families, items as usize).unwrap();
    assert_eq!(running.tables(), cascade.tables(), "{cascade}");
    let both = [("f", &f), ("g", &g)];
    let meant: Vec<(u32, u32)> =
        every_pair(items).filter(|&(a, b)| by_hand(cascade, &both, a, b)).collect();
    let (found, counts) =
        sorted_pairs(|found| running.join(&Everything(items as usize), &WHOLE, found)).unwrap();
    assert_eq!(pairs(&found), meant, "{cascade}");
    assert_eq!(counts.verified, meant.len() as u64);
    assert!(counts.candidates >= counts.verified);

    let (split, limit) = (items / 3, 9.0);
    let across = JoinQuery { limit, split: Some(split), ..WHOLE };
    let (found, _) = sorted_pairs(|found| running.join(&f, &across, found)).unwrap();
    let near: Vec<(u32, u32)> = meant
        .iter()
        .copied()
        .filter(|&(a, b)| a < split && b >= split && f.value(a, b) <= limit)
        .collect();
    assert_eq!(pairs(&found), near, "{cascade}");
    assert!(found.iter().all(|pair| pair.value == f.value(pair.a, pair.b)));

    let few = Cascade::new(cascade, &families, split as usize).unwrap();
    for item in [0, 6, 7, split, items - 1] {
        let keys = few.query_keys(&families, item);
        let expected: BTreeSet<u32> =
            (0..split).filter(|&other| by_hand(cascade, &both, item, other)).collect();
        assert_eq!(few.candidates_of(&keys), Vec::from_iter(expected), "{cascade} {item}");
    }
}

#[test]
fn s5_2_a_cascade_finds_what_it_means() {
    for text in [
        "f",
        "and(6, f)",
        "or(3, and(4, f))",
        "and(3, or(2, f))",
        "or(4, and(3, or(2, and(2, f))))",
        "and(2, or(3, and(2, or(2, f))))",
        "and(or(4, and(3, f)), and(2, g))",
        "or(and(5, f), and(3, g), and(or(3, and(2, f)), or(2, g)))",
        "and(3, and(or(2, f), and(f, g)))",
        "and(f, or(1, or(2, g)), and(2, f), or(g))",
        "or(1, and(1, f))",
    ] {
        agrees_with_brute_force(&expression(text), 150, 5);
    }
}

/// Where it pays, an AND is searched by combinations of its tables, and no pair is met twice or lost.
#[test]
fn s5_2_combinations_of_tables_find_what_they_mean() {
    for text in [
        "and(3, or(2, and(3, f)))",
        "or(and(2, or(2, and(3, f))), and(or(and(4, g), and(3, f)), and(2, g)))",
        "and(2, or(and(4, f), and(or(2, and(3, g)), or(2, and(2, f)))))",
    ] {
        let cascade = expression(text);
        agrees_with_brute_force(&cascade, 400, 9);
        let (f, g) = (Bits::new(400, 9), Bits::new(400, 10));
        let running = Cascade::new(&cascade, &[("f", &f), ("g", &g)], 400).unwrap();
        // The cheapest parts alone would be sorted by at most this many tables.
        let (_, counts) =
            sorted_pairs(|found| running.join(&Everything(400), &WHOLE, found)).unwrap();
        assert!(running.searched() > 4, "{text} {} {counts:?}", running.searched());
    }
}

/// 1,000 pairs in three bits: the buckets are large, are cut, and are compared once.
#[test]
fn s5_2_same_at_any_number_of_threads() {
    let items = 3000;
    let (f, g) = (Bits::new(items, 1), Bits::new(items, 2));
    let families: &Families<'_> = &[("f", &f), ("g", &g)];
    for text in ["or(4, and(3, f))", "and(3, or(2, and(2, f)))", "and(or(3, and(2, f)), or(2, g))"]
    {
        let run = |threads: usize| {
            let pool = rayon_pool(threads);
            pool.install(|| {
                let cascade = Cascade::new(&expression(text), families, items).unwrap();
                let join = JoinQuery { limit: 12.0, ..WHOLE };
                sorted_pairs(|found| cascade.join(&f, &join, found)).unwrap()
            })
        };
        let one: (Vec<ClosePair>, CandidateCounts) = run(1);
        assert!(one.0.len() > 1000, "{}", one.0.len());
        assert!(one.0.is_sorted_by(|a, b| (a.a, a.b) < (b.a, b.b)));
        for threads in [2, 5] {
            assert_eq!(run(threads), one, "{text}");
        }
    }
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// An AND is searched by its most selective part: few pairs are looked at.
#[test]
fn s5_2_an_and_is_searched_where_few_meet() {
    let items = 2000;
    let (f, g) = (Bits::new(items, 1), Bits::new(items, 2));
    for (text, tables, searched) in [
        ("and(or(2, f), or(4, and(12, g)), or(3, f))", 9, 4),
        ("and(or(2, f), and(10, g))", 3, 1),
        ("or(and(or(2, f), and(10, g)), and(12, f))", 4, 2),
        // Here the combinations of both parts are worth sorting by.
        ("and(or(3, and(4, f)), and(5, g))", 4, 3),
    ] {
        let running = Cascade::new(&expression(text), &[("f", &f), ("g", &g)], items).unwrap();
        assert_eq!((running.tables(), running.searched()), (tables, searched), "{text}");
        let (_, counts) =
            sorted_pairs(|found| running.join(&Everything(items), &WHOLE, found)).unwrap();
        let all = (items * (items - 1) / 2) as u64;
        assert!(counts.candidates < all / 50 && counts.verified <= counts.candidates, "{counts:?}");
    }
}

#[test]
fn s5_2_errors_of_a_cascade() {
    let f = Bits::new(10, 1);
    let families: &Families<'_> = &[("f", &f)];
    let error = Cascade::new(&expression("or(2, minhash)"), families, 10).err().unwrap();
    assert_eq!(
        error.to_string(),
        "`function` is minhash; it must be one of those that apply here: f"
    );
    assert!(Cascade::new(&Expression::All(vec![]), families, 10).is_err());
    assert!(Cascade::new(&expression("f"), families, 1 << 32).is_err());
    let running = Cascade::new(&expression("or(2, f)"), families, 10).unwrap();
    assert!(running.join(&Everything(9), &WHOLE, &|_| Ok(())).is_err());
    let stopped = JoinQuery { stopped: &|| true, ..WHOLE };
    assert!(matches!(running.join(&f, &stopped, &|_| Ok(())), Err(Error::Interrupted)));
    let none = Cascade::new(&expression("and(or(2, f), or(2, f))"), families, 0).unwrap();
    assert_eq!(
        sorted_pairs(|found| none.join(&f, &WHOLE, found)).unwrap(),
        (vec![], CandidateCounts::default())
    );
    assert!(none.candidates_of(&none.query_keys(families, 3)).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Throwing coins for the functions gives the derived probability: 4,000 throws each with 6 standard
    /// errors; failure probability of the 256 cases together 256 / 500 million.
    #[test]
    fn s5_2_coins_follow_any_expression(cascade in any_expression(), p in 0.0f64..=1.0, q in 0.0f64..=1.0, seed: u64) {
        let mut draw = SplitMix::new(seed);
        let throws = 4000;
        let mut met = 0;
        for _ in 0..throws {
            let coins = draw.draw();
            let agree = |name: &str, function: usize| {
                let (chance, which) = if name == "f" { (p, 0) } else { (q, 1) };
                let coin = mix64(2 * function as u64 + which, coins);
                ((coin >> 11) as f64) < chance * (1u64 << 53) as f64
            };
            met += usize::from(satisfied(&cascade, &agree, &mut Vec::new()));
        }
        let derived = cascade.probability_with(&|name| if name == "f" { p } else { q });
        let allowed = 6.0 * (derived * (1.0 - derived) / f64::from(throws)).sqrt() + 2e-3;
        prop_assert!(near(met as f64 / f64::from(throws), derived, allowed), "{} {}", met, derived);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(6), ..ProptestConfig::default() })]

    #[test]
    fn s5_2_any_cascade_finds_what_it_means(cascade in any_expression(), seed in 0u64..1000) {
        agrees_with_brute_force(&cascade, 60, seed);
    }
}
