//! Vectors and bit strings: spaces, joins and the closest, each against comparing all.

use crate::common::data::data;
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::item::{Bits, Vectors};
use nearkin_engine::join::{self, Blocks, DenseJoin, TopQuery, VectorJoin, top};
use nearkin_engine::measure::{cosine, norm};
use nearkin_engine::space::{
    BitSpace, ClosePair, Form, JoinQuery, PairSink, Space, VectorMeasure, VectorSpace, sorted_pairs,
};
use proptest::prelude::*;

const MEASURES: [VectorMeasure; 7] = [
    VectorMeasure::L1,
    VectorMeasure::L2,
    VectorMeasure::Lr(1.5),
    VectorMeasure::Lr(3.0),
    VectorMeasure::LInf,
    VectorMeasure::Cosine,
    VectorMeasure::Angle,
];

/// A number around 0, of which most are below 1.
fn draw(chance: &mut SplitMix) -> f32 {
    (0..4).map(|_| (chance.draw() >> 40) as f32 / (1 << 24) as f32 - 0.5).sum()
}

/// Points around a few middles, in which later components vary less, and some that are equal.
fn cloud(count: usize, dimension: usize, seed: u64) -> Vectors {
    let mut chance = SplitMix::new(seed);
    let middles: Vec<f32> = (0..10 * dimension).map(|_| 3.0 * draw(&mut chance)).collect();
    let mut values: Vec<f32> = Vec::new();
    for item in 0..count {
        if item % 17 == 16 {
            values.extend_from_within((item - 7) * dimension..(item - 6) * dimension);
            continue;
        }
        let middle = chance.below(10) as usize * dimension;
        for at in 0..dimension {
            let size = 1.0 / (1.0 + at as f32).sqrt();
            values.push(middles[middle + at] * size + draw(&mut chance) * size);
        }
    }
    Vectors::new(dimension, values).expect("finite values")
}

fn join(limit: f64, split: Option<u32>) -> JoinQuery<'static> {
    JoinQuery { limit, split, stopped: &|| false }
}

/// The pairs that a join hands on, in order.
fn pairs<C>(join: impl FnOnce(&PairSink<'_>) -> nearkin_engine::Result<C>) -> Vec<ClosePair> {
    sorted_pairs(join).expect("pairs").0
}

fn ignore(_: &[ClosePair]) -> nearkin_engine::Result<()> {
    Ok(())
}

/// All pairs, by the measure itself.
fn all_pairs(space: &impl Space) -> Vec<ClosePair> {
    let items = space.len() as u32;
    let pairs = (0..items).flat_map(|a| (a + 1..items).map(move |b| (a, b)));
    pairs.map(|(a, b)| ClosePair { a, b, value: space.value(a, b) }).collect()
}

/// Limits that some share of the pairs reach.
fn limits(all: &[ClosePair], form: Form) -> [f64; 4] {
    let mut values: Vec<f64> = all.iter().map(|found| found.value).collect();
    values.sort_by(f64::total_cmp);
    if form == Form::Similarity {
        values.reverse();
    }
    [0, values.len() / 1000, values.len() / 20, values.len() - 1].map(|at| values[at])
}

/// Those of the pairs that are asked for.
fn expected(all: &[ClosePair], form: Form, limit: f64, split: Option<u32>) -> Vec<ClosePair> {
    let is_asked =
        |found: &&ClosePair| split.is_none_or(|split| found.a < split && found.b >= split);
    let all = all.iter().filter(is_asked);
    all.filter(|found| !form.closer(limit, found.value)).copied().collect()
}

fn compare_joins(vectors: &Vectors, measure: VectorMeasure) {
    let space = VectorSpace::new(vectors, measure).expect("vectors in range");
    let (blocks, dense) = (Blocks::new(&space), DenseJoin::new(&space));
    let items = space.len() as u32;
    let (all, form) = (all_pairs(&space), space.form());
    for limit in limits(&all, form) {
        for split in [None, Some(0), Some(items / 5), Some(items / 2)] {
            let join = join(limit, split);
            let expected = expected(&all, form, limit, split);
            let what = format!("{measure:?} within {limit}, split {split:?}");
            assert_eq!(pairs(|found| join::brute_force(&space, &join, found)), expected, "{what}");
            let (found, counts) = sorted_pairs(|found| blocks.within(&join, found)).expect("pairs");
            assert_eq!(found, expected, "blocks: {what}");
            assert_eq!(counts.found, expected.len() as u64);
            assert_eq!(pairs(|found| dense.within(&join, found)), expected, "dense: {what}");
            assert_eq!(
                pairs(|found| join::prepare(&space, &join).0.within(&space, &join, found)),
                expected,
                "chosen: {what}"
            );
        }
    }
}

#[test]
fn joins_find_what_comparing_all_finds() {
    for (count, dimension) in [(150, 1), (150, 15), (150, 16), (150, 17), (200, 70), (200, 300)] {
        let vectors = cloud(count, dimension, dimension as u64);
        for measure in MEASURES {
            compare_joins(&vectors, measure);
        }
    }
}

#[test]
fn joins_stand_extreme_values() {
    // As large and as small as they come, far from the origin, one far from all others, nothing but noise.
    let scaled = |vectors: &Vectors, by: f32, plus: f32| {
        let values = vectors.values().iter().map(|x| x * by + plus).collect();
        Vectors::new(vectors.dimension(), values).expect("finite values")
    };
    let plain = cloud(150, 30, 1);
    for (by, plus) in [(1e37, 0.0), (1e-37, 0.0), (1e-44, 1e-43), (1e-3, 1000.0), (1.0, 3e37)] {
        for measure in
            [VectorMeasure::L1, VectorMeasure::L2, VectorMeasure::LInf, VectorMeasure::Cosine]
        {
            compare_joins(&scaled(&plain, by, plus), measure);
        }
    }
    let mut values = plain.values().to_vec();
    values[31] = 3e38;
    values[92] = -3e38;
    compare_joins(&Vectors::new(30, values).expect("finite values"), VectorMeasure::L2);
    let mut chance = SplitMix::new(5);
    let noise = (0..200 * 200).map(|_| draw(&mut chance)).collect();
    compare_joins(&Vectors::new(200, noise).expect("finite values"), VectorMeasure::L2);
}

#[test]
fn joins_of_few_and_equal_vectors() {
    for count in [0, 1, 2, 63, 64, 65] {
        let vectors = Vectors::new(3, vec![1.5; 3 * count]).expect("finite values");
        for measure in [VectorMeasure::L2, VectorMeasure::Cosine] {
            let space = VectorSpace::new(&vectors, measure).expect("a direction");
            let limit = if measure == VectorMeasure::L2 { 0.0 } else { 1.0 };
            let all = count * count.saturating_sub(1) / 2;
            let found = [
                pairs(|found| Blocks::new(&space).within(&join(limit, None), found)),
                pairs(|found| DenseJoin::new(&space).within(&join(limit, None), found)),
            ];
            assert!(found.iter().all(|found| found.len() == all), "{count} vectors: {found:?}");
        }
    }
}

#[test]
fn the_closest_are_those_of_comparing_all() {
    for (count, dimension) in [(150, 1), (200, 24), (150, 200)] {
        let vectors = cloud(count, dimension, 3);
        for measure in MEASURES {
            let space = VectorSpace::new(&vectors, measure).expect("vectors in range");
            let (blocks, dense) = (Blocks::new(&space), DenseJoin::new(&space));
            for (count, split) in [(1, None), (7, None), (500, None), (3, Some(30)), (3, Some(140))]
            {
                let top = TopQuery { count, split, no_closer: None, stopped: &|| false };
                let expected = closest(&space, count, split);
                let what = format!("{measure:?}, {count}, {split:?}");
                assert_eq!(top::brute_force(&space, &top).expect("found"), expected, "{what}");
                assert_eq!(blocks.closest(&top).expect("found").0, expected, "blocks: {what}");
                assert_eq!(dense.closest(&top).expect("found"), expected, "dense: {what}");
                assert_eq!(
                    join::prepare_closest(&space, &top).0.closest(&space, &top).expect("found"),
                    expected,
                    "{what}"
                );
            }
        }
    }
}

/// Blocks where few components tell most pairs apart, all pairs at once where none do, one by one where there is
/// no faster way: whichever is expected to be the cheapest, with the same result.
#[test]
fn the_cheapest_way_is_chosen() {
    let flat = cloud(3000, 64, 6);
    let mut chance = SplitMix::new(6);
    let noise = (0..1500 * 300).map(|_| draw(&mut chance)).collect();
    let noise = Vectors::new(300, noise).expect("finite values");
    let cases = [
        (&flat, VectorMeasure::L2, 0.9, "blocks"),
        (&flat, VectorMeasure::Cosine, 0.95, "blocks"),
        (&flat, VectorMeasure::LInf, 0.01, "blocks"),
        (&noise, VectorMeasure::L2, 12.8, "dense"),
        (&noise, VectorMeasure::Angle, 80.0, "dense"),
        (&noise, VectorMeasure::L1, 175.0, "brute force"),
    ];
    for (vectors, measure, limit, expected) in cases {
        let space = VectorSpace::new(vectors, measure).expect("vectors in range");
        let join = join(limit, None);
        let prepared = join::prepare(&space, &join).0;
        let found = pairs(|found| prepared.within(&space, &join, found));
        let way = match prepared {
            VectorJoin::Blocks(_) => "blocks",
            VectorJoin::Dense => "dense",
            VectorJoin::BruteForce => "brute force",
        };
        assert_eq!(found, pairs(|found| join::brute_force(&space, &join, found)), "{measure:?}");
        assert_eq!(way, expected, "{measure:?}, {} found", found.len());
        assert!(!found.is_empty(), "{measure:?}");
    }
}

/// What is expected from a few blocks is what comes: within a factor of two, as the blocks differ.
#[test]
fn the_estimate_is_near_what_is_counted() {
    let vectors = cloud(10_000, 40, 7);
    let space = VectorSpace::new(&vectors, VectorMeasure::L2).expect("any vectors");
    let (blocks, join) = (Blocks::new(&space), join(1.2, None));
    let (estimate, counts) =
        (blocks.estimate(&join).counts, blocks.within(&join, &ignore).expect("counts"));
    let pairs = [
        (estimate.tiles, counts.tiles),
        (estimate.near[0], counts.near[0]),
        (estimate.near[3], counts.near[3]),
        (estimate.found, counts.found),
    ];
    for (expected, counted) in pairs {
        assert!(counted > 100, "{counts:?}");
        assert!(2 * expected > counted && expected < 2 * counted, "{estimate:?}, {counts:?}");
    }
}

/// The bytes of an array of the larger data sets, if these are here.
fn array(name: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(data(&format!("vectors/{name}"))?).expect("an array");
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    Some(bytes[header..].to_vec())
}

fn vectors_of(bytes: &[u8], dimension: usize) -> Vectors {
    Vectors::new(dimension, bytes.iter().map(|&x| x.into()).collect()).expect("finite values")
}

#[test]
fn the_closest_of_real_queries_are_the_known_ones() {
    let (Some(mut bytes), Some(base)) = (array("sift_5k/query.npy"), array("sift_5k/base.npy"))
    else {
        return;
    };
    bytes.extend(base);
    let vectors = vectors_of(&bytes, 128);
    let space = VectorSpace::new(&vectors, VectorMeasure::L2).expect("any vectors");
    let known = array("sift_5k/gt_l2_dist.npy").expect("an array");
    let known: Vec<f32> =
        known.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
    let top = TopQuery { count: 100, split: Some(500), no_closer: None, stopped: &|| false };
    let (found, counts) = Blocks::new(&space).closest(&top).expect("found");
    assert_eq!(found.len(), known.len());
    for (found, square) in found.iter().zip(known) {
        // Squares of whole numbers.
        assert_eq!((found.value * found.value).round() as f32, square);
    }
    assert!(counts.compared() < 500 * 4500, "{counts:?}");
    assert_eq!(found, join::prepare_closest(&space, &top).0.closest(&space, &top).expect("found"));
}

#[test]
fn joins_of_real_vectors_find_what_comparing_all_finds() {
    for (name, dimension, within, least) in
        [("sift_5k/base.npy", 128, 200.0, 0.93), ("fashion_8k.npy", 784, 900.0, 0.97)]
    {
        let Some(bytes) = array(name) else { return };
        let vectors = vectors_of(&bytes, dimension);
        for (measure, limit) in [(VectorMeasure::L2, within), (VectorMeasure::Cosine, least)] {
            let space = VectorSpace::new(&vectors, measure).expect("vectors in range");
            let join = join(limit, None);
            let expected = pairs(|found| join::brute_force(&space, &join, found));
            assert!(expected.len() > 1000, "{name} {measure:?}: {}", expected.len());
            assert_eq!(pairs(|found| Blocks::new(&space).within(&join, found)), expected);
            assert_eq!(pairs(|found| DenseJoin::new(&space).within(&join, found)), expected);
        }
    }
}

/// The closest of each item, by sorting all.
fn closest(space: &impl Space, count: usize, split: Option<u32>) -> Vec<ClosePair> {
    let items = space.len() as u32;
    let of = |a: u32| {
        let others = (0..items).filter(|&b| a != b && split.is_none_or(|split| b >= split));
        let value = |b: u32| space.value(a.min(b), a.max(b));
        let mut all: Vec<ClosePair> = others.map(|b| ClosePair { a, b, value: value(b) }).collect();
        let sign = if space.form() == Form::Distance { 1.0 } else { -1.0 };
        all.sort_by(|x, y| (sign * x.value).total_cmp(&(sign * y.value)).then(x.b.cmp(&y.b)));
        all.truncate(count);
        all
    };
    (0..split.unwrap_or(items)).flat_map(of).collect()
}

#[test]
fn values_are_those_of_the_measures() {
    let vectors = cloud(20, 33, 9);
    for (a, b) in (0..20).flat_map(|a| (0..20).map(move |b| (a, b))) {
        let (x, y) = (vectors.get(a), vectors.get(b));
        let expected = [
            norm::l1(x, y),
            norm::l2(x, y),
            norm::lr(x, y, 1.5),
            norm::lr(x, y, 3.0),
            norm::l_inf(x, y),
            cosine::similarity(x, y),
            cosine::angle_degrees(x, y),
        ];
        for (measure, expected) in MEASURES.into_iter().zip(expected) {
            let space = VectorSpace::new(&vectors, measure).expect("vectors in range");
            let expected = expected.expect("a value");
            assert_eq!(
                space.value(a as u32, b as u32).to_bits(),
                expected.to_bits(),
                "{measure:?}"
            );
        }
    }
}

#[test]
fn what_has_no_value_is_refused() {
    let vectors = Vectors::new(2, vec![1.0, 2.0, 0.0, 0.0]).expect("finite values");
    for measure in [VectorMeasure::Cosine, VectorMeasure::Angle] {
        let error = VectorSpace::new(&vectors, measure).expect_err("a vector of zeros").to_string();
        assert!(error.contains("vector 1"), "{error}");
    }
    assert!(VectorSpace::new(&vectors, VectorMeasure::Lr(0.5)).is_err());
    assert!(VectorSpace::new(&vectors, VectorMeasure::Lr(f64::NAN)).is_err());
    let space = VectorSpace::new(&vectors, VectorMeasure::L2).expect("any vectors");
    assert!(Blocks::new(&space).within(&join(f64::NAN, None), &ignore).is_err());
    assert!(DenseJoin::new(&space).within(&join(f64::NAN, None), &ignore).is_err());
    assert!(
        top::brute_force(
            &space,
            &TopQuery { count: 0, split: None, no_closer: None, stopped: &|| false }
        )
        .is_err()
    );
}

#[test]
fn a_join_can_be_stopped() {
    let vectors = cloud(100, 4, 1);
    let space = VectorSpace::new(&vectors, VectorMeasure::L2).expect("any vectors");
    let join = JoinQuery { limit: 1.0, split: None, stopped: &|| true };
    assert!(matches!(
        join::brute_force(&space, &join, &ignore),
        Err(nearkin_engine::Error::Interrupted)
    ));
    assert!(matches!(
        Blocks::new(&space).within(&join, &ignore),
        Err(nearkin_engine::Error::Interrupted)
    ));
    assert!(matches!(
        DenseJoin::new(&space).within(&join, &ignore),
        Err(nearkin_engine::Error::Interrupted)
    ));
}

/// Random bit strings of which every third is a copy with a few bits turned.
fn strings(count: usize, length: usize, seed: u64) -> Bits {
    let mut chance = SplitMix::new(seed);
    let mut bits = Bits::new(length).expect("a length");
    for item in 0..count {
        let mut words: Vec<u64> = (0..bits.words_each()).map(|_| chance.draw()).collect();
        if item % 3 == 2 {
            words = bits.get(item - 1).to_vec();
            for _ in 0..chance.below(9) {
                let place = chance.below(length as u64) as usize;
                words[place / 64] ^= 1 << (place % 64);
            }
        }
        bits.push(&words).expect("as many words as asked for");
    }
    bits
}

#[test]
fn joins_of_bits_find_what_comparing_all_finds() {
    for (count, length) in [(0, 9), (1, 9), (200, 9), (200, 64), (300, 256), (300, 300)] {
        let bits = strings(count, length, 4);
        let forms = [(Form::Distance, 1.0), (Form::Distance, 2.0), (Form::Similarity, 1.0)];
        for (form, scale) in forms {
            let space = BitSpace::new(&bits, form, scale).expect("a scale");
            let limits = match form {
                Form::Distance => [-1.0, 0.0, 2.5, 8.0, 1000.0],
                Form::Similarity => [1.1, 1.0, 0.95, 2.0 / 3.0, 0.0],
            };
            for limit in limits {
                for split in [None, Some(count as u32 / 3)] {
                    let join = join(limit, split);
                    let expected = expected(&all_pairs(&space), form, limit, split);
                    assert_eq!(pairs(|found| join::brute_force(&space, &join, found)), expected);
                    assert_eq!(pairs(|found| join::bits::within(&space, &join, found)), expected);
                }
            }
        }
    }
}

/// Of four answers one is contradicted and one is missing on one side: 1 and a half apart.
#[test]
fn s2_10_answers_with_gaps_count_by_halves() {
    let mut bits = Bits::new(8).expect("a length");
    // Two bits a question: yes is 11, no 00, no answer 01.
    bits.push(&[0b11_00_11_00]).expect("a word");
    bits.push(&[0b11_11_01_00]).expect("a word");
    let space = BitSpace::new(&bits, Form::Distance, 2.0).expect("a scale");
    assert_eq!(space.value(0, 1), 1.5);
    assert!(BitSpace::new(&bits, Form::Distance, 0.0).is_err());
}

#[test]
fn the_same_pairs_at_any_number_of_threads() {
    let vectors = cloud(1000, 40, 8);
    let on = |threads: usize| {
        let pool = rayon_pool(threads);
        pool.install(|| {
            let space = VectorSpace::new(&vectors, VectorMeasure::L2).expect("any vectors");
            sorted_pairs(|found| Blocks::new(&space).within(&join(1.5, None), found))
                .expect("pairs")
        })
    };
    assert_eq!(on(1), on(3));
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// A pair at just the limit is found, at the next smaller number it is not.
    #[test]
    fn the_limit_is_exact(seed: u64, dimension in 1usize..150, at in 0usize..7) {
        let vectors = cloud(70, dimension, seed);
        let space = VectorSpace::new(&vectors, MEASURES[at]).expect("vectors in range");
        let (blocks, dense) = (Blocks::new(&space), DenseJoin::new(&space));
        for (a, b) in [(3, 40), (20, 21)] {
            let value = space.value(a, b);
            let closer = if space.form() == Form::Distance { value.next_down() } else { value.next_up() };
            for (limit, is_in) in [(value, true), (closer, false)] {
                let join = join(limit, None);
                let has = |found: &[ClosePair]| found.contains(&ClosePair { a, b, value });
                prop_assert_eq!(has(&pairs(|found| blocks.within(&join, found))), is_in);
                prop_assert_eq!(has(&pairs(|found| dense.within(&join, found))), is_in);
                prop_assert_eq!(has(&pairs(|found| join::brute_force(&space, &join, found))), is_in);
            }
        }
    }
}
