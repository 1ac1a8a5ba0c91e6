//! Documents as tf-idf vectors, and the complete join of sparse vectors.

#![allow(clippy::print_stderr)] // what the join did, for whoever asks for output

use std::collections::{BTreeMap, BTreeSet};

use crate::common::data::data;
use nearkin_engine::Error;
use nearkin_engine::family::hash::mix64;
use nearkin_engine::family::{Family, SparseHyperplanes};
use nearkin_engine::item::Sparse;
use nearkin_engine::join::sparse;
use nearkin_engine::shingle::{Repeats, Shingling, Vocabulary};
use nearkin_engine::space::{
    ClosePair, JoinQuery, Space, SparseMeasure, SparseSpace, sorted_pairs,
};

fn never() -> bool {
    false
}

fn near(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within, "{a} is not {b}");
}

/// Documents whose weights are easily had by hand. The words and in how many documents they are:
/// the 4, cat 2, sat 1, on 1, mat 1, dog 1, saw 1, bird 1, flew 1.
const TEXTS: [&str; 4] =
    ["The cat sat on the mat.", "The dog saw the cat!", "the bird flew; the BIRD", "the"];

#[test]
fn s2_12_weights_are_counts_times_rarity() {
    let vocabulary = Vocabulary::new(&TEXTS, Shingling::words(1));
    assert_eq!(vocabulary.len(), 9);
    assert_eq!(vocabulary.weight("the"), Some(0.0)); // ln(4/4)
    near(vocabulary.weight("cat").unwrap(), 2f64.ln(), 1e-15); // ln(4/2)
    near(vocabulary.weight("BIRD").unwrap(), 4f64.ln(), 1e-15); // ln(4/1)
    assert_eq!(vocabulary.weight("cow"), None);
    assert_eq!(vocabulary.weight("two words"), None);

    let weights = |text: &str, repeats| -> BTreeMap<u32, f32> {
        vocabulary.vector(text, repeats).into_iter().collect()
    };
    let bird = vocabulary.dimension("bird").unwrap();
    let raw = weights(TEXTS[2], Repeats::Raw);
    near(raw[&bird].into(), 2.772_588_722_239_781, 1e-6); // 2 · ln 4
    let log = weights(TEXTS[2], Repeats::Log);
    near(log[&bird].into(), 2.347_200_388_896_488, 1e-6); // (1 + ln 2) · ln 4
    assert!(weights("nothing known here", Repeats::Raw).is_empty());
}

#[test]
fn s2_12_cosines_by_hand() {
    let vocabulary = Vocabulary::new(&TEXTS, Shingling::words(1));
    let vectors = vocabulary.vectors(&TEXTS, Repeats::Raw).unwrap();
    let space = SparseSpace::new(vectors.clone(), SparseMeasure::Cosine);
    // With ln 2 as the unit: cat 1, sat, on and mat 2 each; dog and saw 2 each, cat 1.
    near(space.value(0, 1), 1.0 / (13f64.sqrt() * 9f64.sqrt()), 1e-7);
    assert_eq!(space.value(0, 0), 1.0);
    assert_eq!(space.value(0, 2), 0.0);
    // A text of words that all texts have is similar to nothing, not even to itself.
    assert!(vectors.get(3).0.is_empty());
    assert_eq!(space.value(3, 3), 0.0);

    let angles = SparseSpace::new(vectors, SparseMeasure::Angle);
    near(angles.value(0, 1), (1.0 / 117f64.sqrt()).acos().to_degrees(), 1e-5);
    assert_eq!(angles.value(1, 1), 0.0);
    assert_eq!(angles.value(0, 2), 90.0);
    assert_eq!(angles.value(3, 0), 90.0);
}

#[test]
fn s2_12_dimensions_depend_on_the_words_alone() {
    let mut texts: Vec<String> =
        (0..9_000).map(|i| format!("w{} w{} w{}", i % 7, i % 501, i % 1009)).collect();
    let forward = Vocabulary::new(&texts, Shingling::words(1));
    texts.reverse();
    let backward = Vocabulary::new(&texts, Shingling::words(1));
    assert_eq!(forward.len(), 1009);
    assert_eq!(
        forward.vector("w3 w400 w1000", Repeats::Raw),
        backward.vector("w3 w400 w1000", Repeats::Raw)
    );
    let having = (0..9_000).filter(|i| [i % 7, i % 501, i % 1009].contains(&3)).count();
    near(forward.weight("w3").unwrap(), (9_000.0 / having as f64).ln(), 1e-14);
}

#[test]
fn what_is_no_sparse_vector_is_an_error() {
    let mut vectors = Sparse::default();
    for bad in
        [&[(1, 1.0), (1, 2.0)][..], &[(2, 1.0), (1, 2.0)], &[(0, f32::NAN)], &[(0, f32::INFINITY)]]
    {
        assert!(matches!(vectors.push(bad), Err(Error::Parameter { .. })), "{bad:?}");
    }
    vectors.push(&[(7, 0.0), (u32::MAX, -1.5)]).unwrap();
    assert_eq!(vectors.len(), 1);
    assert_eq!(vectors.get(0), (&[u32::MAX][..], &[-1.5][..]));
    let space = SparseSpace::new(vectors, SparseMeasure::Cosine);
    let join = JoinQuery { limit: f64::NAN, split: None, stopped: &never };
    assert!(matches!(sparse::join(&space, &join, &|_| Ok(())), Err(Error::Parameter { .. })));
    let join = JoinQuery { limit: 0.5, split: None, stopped: &|| true };
    assert!(matches!(sparse::join(&space, &join, &|_| Ok(())), Err(Error::Interrupted)));
}

fn every_pair(space: &SparseSpace, limit: f64, split: Option<u32>) -> Vec<ClosePair> {
    let mut found = Vec::new();
    let items = space.len() as u32;
    for a in 0..split.unwrap_or(items) {
        for b in split.unwrap_or(a + 1)..items {
            let value = space.value(a, b);
            if !space.form().closer(limit, value) {
                found.push(ClosePair { a, b, value });
            }
        }
    }
    found
}

/// Vectors with weights of either sign, a few dimensions that are common and many that are not, copies and
/// empty ones among them.
fn drawn(seed: u64, count: usize) -> Sparse {
    let mut state = seed;
    let mut below = |bound: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % bound
    };
    let mut vectors = Sparse::default();
    let mut made: Vec<Vec<(u32, f32)>> = Vec::new();
    for _ in 0..count {
        let vector = match below(4) {
            0 if !made.is_empty() => {
                let mut vector = made[below(made.len() as u64) as usize].clone();
                if let (Some((_, weight)), true) = (vector.first_mut(), below(2) == 0) {
                    *weight += 0.25;
                }
                vector
            }
            _ => {
                let mut dimensions = BTreeSet::new();
                for _ in 0..below(8) {
                    let bound = 1 + below(40);
                    dimensions.insert(below(bound) as u32);
                }
                let weight = |_| below(17) as f32 / 4.0 - 1.0;
                let weights: Vec<f32> = dimensions.iter().map(weight).collect();
                dimensions.into_iter().zip(weights).collect()
            }
        };
        vectors.push(&vector).unwrap();
        made.push(vector);
    }
    vectors
}

#[test]
fn s2_12_join_is_complete_on_small_vectors() {
    let mut pairs = 0;
    for seed in 0..60 {
        let vectors = drawn(seed, 60);
        let split = (seed % 3 == 0).then_some(seed as u32);
        let limits = [
            (SparseMeasure::Cosine, vec![-1.0, -0.3, 0.0, 1e-7, 0.1, 0.5, 0.8, 0.99, 1.0, 1.1]),
            (SparseMeasure::Angle, vec![-1.0, 0.0, 1.0, 30.0, 75.0, 90.0, 120.0, 180.0]),
        ];
        for (measure, limits) in limits {
            let space = SparseSpace::new(vectors.clone(), measure);
            for limit in limits {
                let join = JoinQuery { limit, split, stopped: &never };
                let (found, _) = sorted_pairs(|found| sparse::join(&space, &join, found)).unwrap();
                assert_eq!(found, every_pair(&space, limit, split), "{measure:?} {limit} {seed}");
                pairs += found.len();
            }
        }
    }
    assert!(pairs > 100_000, "only {pairs} pairs were tried");
}

/// Titles of papers and citations, if the larger data sets are here.
fn citations() -> Option<Vec<String>> {
    let folder = data("records")?;
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let cora = read("dirty_cora/cora.csv");
    let papers = read("D4_dblp_acm/dblp.csv");
    Some(cora.lines().skip(1).chain(papers.lines().skip(1)).map(str::to_owned).collect())
}

#[test]
fn s2_12_join_is_complete_on_citations() {
    let Some(texts) = citations() else { return };
    let vocabulary = Vocabulary::new(&texts, Shingling::words(1));
    let vectors = vocabulary.vectors(&texts, Repeats::Raw).unwrap();
    let space = SparseSpace::new(vectors, SparseMeasure::Cosine);
    let all = every_pair(&space, 0.3, None);
    for limit in [0.3, 0.5, 0.7, 0.9] {
        let join = JoinQuery { limit, split: None, stopped: &never };
        let (found, counts) = sorted_pairs(|found| sparse::join(&space, &join, found)).unwrap();
        let expected: Vec<ClosePair> =
            all.iter().filter(|pair| pair.value >= limit).copied().collect();
        assert_eq!(found, expected, "{limit}");
        assert!(!found.is_empty());
        eprintln!("cosine {limit}: {} texts, {} pairs, {counts:?}", texts.len(), found.len());
    }
}

/// The same cosines from words as strings and sums in maps, which share no code with the library.
#[test]
fn s2_12_agrees_with_the_plain_formula_on_citations() {
    let Some(mut texts) = citations() else { return };
    texts.truncate(200);
    let words: Vec<BTreeMap<String, f64>> = texts
        .iter()
        .map(|text| {
            let mut counts = BTreeMap::new();
            let lower = text.to_lowercase();
            let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            for word in words.filter(|word| !word.is_empty()) {
                *counts.entry(word.to_owned()).or_insert(0.0) += 1.0;
            }
            counts
        })
        .collect();
    let mut having: BTreeMap<&str, f64> = BTreeMap::new();
    words
        .iter()
        .flat_map(BTreeMap::keys)
        .for_each(|word| *having.entry(word).or_insert(0.0) += 1.0);
    let weight = |document: usize, word: &str| {
        let often = words[document].get(word).copied().unwrap_or(0.0);
        often * (texts.len() as f64 / having[word]).ln()
    };
    let product = |a: usize, b: usize| -> f64 {
        words[a].keys().map(|word| weight(a, word) * weight(b, word)).sum()
    };
    let vocabulary = Vocabulary::new(&texts, Shingling::words(1));
    let vectors = vocabulary.vectors(&texts, Repeats::Raw).unwrap();
    let space = SparseSpace::new(vectors, SparseMeasure::Cosine);
    for a in 0..texts.len() {
        for b in a..texts.len() {
            let expected = product(a, b) / (product(a, a) * product(b, b)).sqrt();
            near(space.value(a as u32, b as u32), expected, 1e-6);
        }
    }
}

/// A normally distributed number: twelve uniform ones added up are near enough for this test.
fn normal(dimension: u64, function: u64, seed: u64) -> f32 {
    let drawn = |i| mix64(dimension, mix64(function, mix64(i, seed))) as f64 / 2f64.powi(64);
    ((0..12).map(drawn).sum::<f64>() - 6.0) as f32
}

/// The share of 20,000 functions that agree has a standard error below 0.0036; it is within 0.018, five of
/// them, but for a chance below 10⁻⁶ a pair. Sums of twelve are off by less than 0.002 for these pairs.
#[test]
fn s2_12_hyperplanes_agree_as_the_angle_says() {
    const FUNCTIONS: usize = 20_000;
    let mut vectors = Sparse::default();
    let many: Vec<(u32, f32)> = (0..40).map(|i| (i * 1000, (i % 5) as f32 - 1.5)).collect();
    let mut other = many.clone();
    other.iter_mut().step_by(3).for_each(|(_, weight)| *weight += 2.0);
    for vector in [&[(3, 1.0)][..], &[(3, 2.0), (u32::MAX, 1.0)], &[(9, 1.0)], &many, &other] {
        vectors.push(vector).unwrap();
    }
    let family = SparseHyperplanes::new(&vectors, normal, 7);
    let values: Vec<Vec<u64>> = (0..5)
        .map(|item| {
            let mut values = vec![0; FUNCTIONS];
            family.hash(item, 0, &mut values);
            let mut some = vec![0; 10];
            family.hash(item, 100, &mut some);
            assert_eq!(some, values[100..110]);
            values
        })
        .collect();
    let space = SparseSpace::new(vectors.clone(), SparseMeasure::Angle);
    for (a, b) in [(0, 1), (0, 2), (1, 3), (3, 4), (2, 4)] {
        let equal = values[a].iter().zip(&values[b]).filter(|(x, y)| x == y).count();
        let expected = family.agreement(space.value(a as u32, b as u32));
        near(equal as f64 / FUNCTIONS as f64, expected, 0.02);
    }
}

/// News articles, twenty of which were written from another: the join finds what comparing all finds, and all
/// of the twenty at 0.9.
#[cfg(feature = "files")]
#[test]
fn s2_12_join_is_complete_on_articles() {
    use std::io::Read;
    let Some(folder) = data("text") else { return };
    let file = std::fs::File::open(folder.join("articles.jsonl.gz")).unwrap();
    let mut lines = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut lines).unwrap();
    let records: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<&str> = records.iter().map(|record| record["text"].as_str().unwrap()).collect();
    let vocabulary = Vocabulary::new(&texts, Shingling::words(1));
    let vectors = vocabulary.vectors(&texts, Repeats::Raw).unwrap();
    let space = SparseSpace::new(vectors, SparseMeasure::Cosine);
    let all = every_pair(&space, 0.2, None);
    for limit in [0.2, 0.4, 0.6, 0.8] {
        let join = JoinQuery { limit, split: None, stopped: &never };
        let (found, counts) = sorted_pairs(|found| sparse::join(&space, &join, found)).unwrap();
        let expected: Vec<ClosePair> =
            all.iter().filter(|pair| pair.value >= limit).copied().collect();
        assert_eq!(found, expected, "{limit}");
        eprintln!("cosine {limit}: {} texts, {} pairs, {counts:?}", texts.len(), found.len());
    }
    let id = |item: u32| records[item as usize]["id"].as_str().unwrap();
    let near: BTreeSet<(&str, &str)> =
        all.iter().filter(|pair| pair.value >= 0.9).map(|pair| (id(pair.a), id(pair.b))).collect();
    let truth = std::fs::read_to_string(folder.join("articles.pairs.tsv")).unwrap();
    let rows = truth.lines().filter_map(|line| line.split_once('\t'));
    let copied = rows.filter(|&(a, b)| near.contains(&(a, b)) || near.contains(&(b, a))).count();
    assert_eq!(copied, 20);
}
