//! S6.5: the (c, r) near-neighbour index gives a near item with a chance of at least 1/2.

use nearkin::family::Family;
use nearkin::family::hash::{SplitMix, mix64};
use nearkin::item::{Bits, Vectors};
use nearkin::join::NearIndex;
use nearkin::join::index::Shape;
use nearkin::space::{BitSpace, Form, Space, VectorMeasure, VectorSpace};

/// Bits at random places.
struct Places<'a> {
    bits: &'a Bits,
    seed: u64,
}

impl Family for Places<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        for (function, value) in (from..).zip(values) {
            let place = mix64(function as u64, self.seed) % self.bits.length() as u64;
            *value = self.bits.bit(item as usize, place as usize).into();
        }
    }

    fn agreement(&self, distance: f64) -> f64 {
        1.0 - distance / self.bits.length() as f64
    }
}

/// The side of a random plane through the origin, for angles in degrees.
struct Planes<'a> {
    vectors: &'a Vectors,
    normals: Vec<f32>,
}

impl<'a> Planes<'a> {
    fn new(vectors: &'a Vectors, functions: usize, seed: u64) -> Self {
        let mut chance = SplitMix::new(seed);
        let normals = (0..functions * vectors.dimension()).map(|_| normal(&mut chance) as f32);
        Self { vectors, normals: normals.collect() }
    }
}

impl Family for Planes<'_> {
    fn hash(&self, item: u32, from: usize, values: &mut [u64]) {
        let (vector, dimension) = (self.vectors.get(item as usize), self.vectors.dimension());
        for (function, value) in (from..).zip(values) {
            let normal = &self.normals[function * dimension..][..dimension];
            *value = u64::from(nearkin_kernels::dot(vector, normal) >= 0.0);
        }
    }

    fn agreement(&self, distance: f64) -> f64 {
        1.0 - distance / 180.0
    }
}

/// A normal number, as a sum of twelve uniform ones.
fn normal(chance: &mut SplitMix) -> f64 {
    (0..12).map(|_| (chance.draw() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

#[test]
fn s6_5_k_l_and_rho_follow_from_n_and_the_chances() {
    // 1,024 items, P₁ = 1/√2, P₂ = 1/2: k = 10, ρ = 1/2, L = √n = 32.
    let shape = Shape::new(1024, 0.5f64.sqrt(), 0.5).expect("chances in order");
    assert_eq!(shape.rows, 10);
    assert!((32..=33).contains(&shape.tables));
    assert!((shape.rho - 0.5).abs() < 1e-12);
    // c = 2, r = N/3: P₁ = 2/3, P₂ = 1/3 (Indyk's example), ρ = ln 1.5 / ln 3 = 0.369.
    let shape = Shape::new(10_000, 2.0 / 3.0, 1.0 / 3.0).expect("chances in order");
    assert_eq!(shape.rows, 9);
    assert!((shape.rho - 0.369).abs() < 1e-3);
    assert!(shape.tables as f64 >= 10_000f64.powf(shape.rho));
    assert!(Shape::new(100, 0.5, 0.5).is_err());
    assert!(Shape::new(100, 0.5, 0.0).is_err());
    assert!(Shape::new(1_000_000_000, 0.2, 0.19).is_err());
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
/// would succeed with a chance of 0.6 % by the normal approximation, and with this seed they do not.
#[test]
fn s6_5_near_bit_strings_are_found_at_least_half_the_time() {
    let (items, mut chance) = (1000, SplitMix::new(1));
    let mut bits = Bits::new(256).expect("a length");
    for _ in 0..items {
        bits.push(&[(); 4].map(|()| chance.draw())).expect("four words");
    }
    for query in 0..150 {
        let mut words = bits.get(query).to_vec();
        let mut turned = 0;
        while turned < 25 {
            let place = chance.below(256) as usize;
            turned += usize::from(
                (words[place / 64] ^ bits.get(query)[place / 64]) >> (place % 64) & 1 == 0,
            );
            words[place / 64] = (words[place / 64] & !(1 << (place % 64)))
                | (!bits.get(query)[place / 64] & (1 << (place % 64)));
        }
        bits.push(&words).expect("four words");
    }
    let space = BitSpace::new(&bits, Form::Distance, 1.0).expect("a scale");
    let far = (0..items).flat_map(|a| (0..150).map(move |query| (a, query)));
    let far = far.filter(|(a, query)| a != query);
    assert!(far.clone().all(|(a, query)| space.value(a, items + query) > 75.0));
    let rate = success(&space, items, (3.0, 25.0), |seed| Places { bits: &bits, seed });
    assert!(rate >= 0.5, "{rate}");
}

/// Directions in 64 dimensions with a copy turned by 15 degrees; all others are farther than 45. The chance to
/// fail is as above.
#[test]
fn s6_5_near_vectors_are_found_at_least_half_the_time() {
    let (items, mut chance) = (500u32, SplitMix::new(2));
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
    let vectors = Vectors::new(64, values).expect("finite values");
    let space = VectorSpace::new(&vectors, VectorMeasure::Angle).expect("directions");
    let far = (0..items).flat_map(|a| (0..150).map(move |query| (a, query)));
    let far = far.filter(|(a, query)| a != query);
    assert!(far.clone().all(|(a, query)| space.value(a, items + query) > 45.1));
    let rate = success(&space, items, (3.0, 15.01), |seed| Planes::new(&vectors, 200, seed));
    assert!(rate >= 0.5, "{rate}");
}

#[test]
fn what_cannot_be_told_apart_is_refused() {
    let bits = Bits::new(64).expect("a length");
    let space = BitSpace::new(&bits, Form::Distance, 1.0).expect("a scale");
    let family = Places { bits: &bits, seed: 1 };
    for near in [(1.0, 5.0), (2.0, 0.0), (2.0, 40.0), (f64::NAN, 5.0), (2.0, f64::NAN)] {
        assert!(NearIndex::new(&space, &family, 0, near, &|| false).is_err(), "{near:?}");
    }
    let similar = BitSpace::new(&bits, Form::Similarity, 1.0).expect("a scale");
    assert!(NearIndex::new(&similar, &family, 0, (2.0, 5.0), &|| false).is_err());
}
