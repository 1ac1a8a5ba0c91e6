//! S6.5: the (c, r) near-neighbour index gives a near item with a chance of at least 1/2.

use std::collections::BTreeSet;

use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::family::{BitSampling, Family, Hyperplanes, LineDirection, Lines, Normals};
use nearkin_engine::item::{Bits, Vectors};
use nearkin_engine::space::{BitSpace, Form, Space, VectorMeasure, VectorSpace};
use nearkin_engine::textbook::NearIndex;
use nearkin_engine::textbook::near_neighbour::NearIndexShape;

/// A normal number, as a sum of twelve uniform ones.
fn normal(chance: &mut SplitMix) -> f64 {
    (0..12).map(|_| (chance.draw() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

#[test]
fn s6_5_k_l_and_rho_follow_from_n_and_the_chances() {
    // 1,024 items, P₁ = 1/√2, P₂ = 1/2: k = 10, ρ = 1/2, L = √n = 32.
    let shape = NearIndexShape::new(1024, 0.5f64.sqrt(), 0.5).expect("chances in order");
    assert_eq!(shape.rows, 10);
    assert!((32..=33).contains(&shape.tables));
    assert!((shape.rho - 0.5).abs() < 1e-12);
    // c = 2, r = N/3: P₁ = 2/3, P₂ = 1/3 (Indyk's example), ρ = ln 1.5 / ln 3 = 0.369.
    let shape = NearIndexShape::new(10_000, 2.0 / 3.0, 1.0 / 3.0).expect("chances in order");
    assert_eq!(shape.rows, 9);
    assert!((shape.rho - 0.369).abs() < 1e-3);
    assert!(shape.tables as f64 >= 10_000f64.powf(shape.rho));
    assert!(NearIndexShape::new(100, 0.5, 0.5).is_err());
    assert!(NearIndexShape::new(100, 0.5, 0.0).is_err());
    assert!(NearIndexShape::new(1_000_000_000, 0.2, 0.19).is_err());
}

/// The share of queries that get their near item. Each asks an index of its own seed, so that they are
/// independent.
fn success<S: Space, F: Family>(
    space: &S,
    items: u32,
    near: (f64, f64),
    family: impl Fn(u64) -> F,
) -> f64 {
    let queries = space.len() as u32 - items;
    let mut found = 0;
    for query in 0..queries {
        let family = family(u64::from(query));
        let index = NearIndex::new(space, &family, items, near, &|| false).expect("an index");
        let answer = index.query(items + query);
        assert!(answer.far <= 2 * index.shape().tables + 1);
        if let Some(answer) = answer.found {
            assert!(answer.value <= near.0 * near.1);
            assert_eq!(answer.b, query, "no other is near");
            found += 1;
        }
    }
    f64::from(found) / f64::from(queries)
}

/// Strings of 256 bits, 25 of which are turned in a query; all others are farther than 75. A search succeeds
/// with a chance of at least 1 − 1/e − (what giving up costs), 0.63 and more; were it 0.6, fewer than 1/2 of 150
/// would succeed with a chance of 0.6 % by the normal approximation. Here 68 % do, with 8 tables of 20 functions
/// (ρ = 0.30).
#[test]
fn s6_5_near_bit_strings_are_found_at_least_half_the_time() {
    let (items, mut chance) = (1000, SplitMix::new(1));
    let mut bits = Bits::new(256).expect("a length");
    for _ in 0..items {
        bits.push(&[(); 4].map(|()| chance.draw())).expect("four words");
    }
    for query in 0..150 {
        let mut words = bits.get(query).to_vec();
        let mut places = BTreeSet::new();
        while places.len() < 25 {
            places.insert(chance.below(256) as usize);
        }
        places.iter().for_each(|place| words[place / 64] ^= 1 << (place % 64));
        bits.push(&words).expect("four words");
    }
    let space = BitSpace::new(&bits, Form::Distance, 1.0).expect("a scale");
    assert!(is_planted(&space, items, (3.0, 25.0)));
    let rate = success(&space, items, (3.0, 25.0), |seed| BitSampling::new(&bits, seed));
    assert!(rate >= 0.5, "{rate}");
}

/// Points of 64 dimensions, and 150 of them again, turned by 15 degrees as seen from the origin.
fn turned(items: usize) -> Vectors {
    let mut chance = SplitMix::new(2);
    let mut values: Vec<f32> = (0..64 * items).map(|_| normal(&mut chance) as f32).collect();
    for query in 0..150 {
        let vector = values[64 * query..][..64].to_vec();
        // What is left of a random vector beside it, as long as it.
        let other: Vec<f32> = (0..64).map(|_| normal(&mut chance) as f32).collect();
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        let along = product(&vector, &other) / product(&vector, &vector);
        let beside: Vec<f32> = other.iter().zip(&vector).map(|(x, y)| x - along * y).collect();
        let size = (product(&vector, &vector) / product(&beside, &beside)).sqrt();
        let (sine, cosine) = 15f32.to_radians().sin_cos();
        values.extend(vector.iter().zip(&beside).map(|(x, y)| cosine * x + sine * size * y));
    }
    Vectors::new(64, values).expect("finite values")
}

/// Whether each query is within r of its own item, and beyond c·r of all others.
fn is_planted(space: &impl Space, items: u32, (c, r): (f64, f64)) -> bool {
    let queries = space.len() as u32 - items;
    let pairs = (0..items).flat_map(|item| (0..queries).map(move |query| (item, query)));
    pairs.into_iter().all(|(item, query)| {
        let value = space.value(item, items + query);
        if item == query { value <= r } else { value > c * r }
    })
}

/// By angle. The chance to fail is as above; 70 % succeed, with 7 tables of 22 functions (ρ = 0.30).
#[test]
fn s6_5_near_directions_are_found_at_least_half_the_time() {
    let (vectors, near) = (turned(500), (3.0, 15.01));
    let space = VectorSpace::new(&vectors, VectorMeasure::Angle).expect("directions");
    assert!(is_planted(&space, 500, near));
    let family = |seed| Hyperplanes::new(&vectors, Normals::Gaussian, seed);
    let rate = success(&space, 500, near, family);
    assert!(rate >= 0.5, "{rate}");
}

/// By Euclidean distance: a vector of length l was turned to one 2·sin(7.5°)·l = 0.26·l away, at most 2.7, and
/// others are at least twice as far. The chance to fail is less than above, as most are nearer than r; 93 %
/// succeed, with 30 tables of 7 functions (ρ = 0.49).
#[test]
fn s6_5_near_vectors_are_found_at_least_half_the_time() {
    let (vectors, near) = (turned(500), (2.0, 2.7));
    let space = VectorSpace::new(&vectors, VectorMeasure::L2).expect("any vectors");
    assert!(is_planted(&space, 500, near));
    let width = LineDirection::Gaussian.width_for(near.1, near.0, 500, 64);
    let family =
        |seed| Lines::new(&vectors, LineDirection::Gaussian, width, seed).expect("a width");
    let rate = success(&space, 500, near, family);
    assert!(rate >= 0.5, "{rate}");
}

#[test]
fn what_cannot_be_told_apart_is_refused() {
    let bits = Bits::new(64).expect("a length");
    let space = BitSpace::new(&bits, Form::Distance, 1.0).expect("a scale");
    let family = BitSampling::new(&bits, 1);
    for near in [(1.0, 5.0), (2.0, 0.0), (2.0, 40.0), (f64::NAN, 5.0), (2.0, f64::NAN)] {
        assert!(NearIndex::new(&space, &family, 0, near, &|| false).is_err(), "{near:?}");
    }
    let similar = BitSpace::new(&bits, Form::Similarity, 1.0).expect("a scale");
    assert!(NearIndex::new(&similar, &family, 0, (2.0, 5.0), &|| false).is_err());
}
