//! Rows S3.1 to S3.8 of the syllabus: minhashing.
//!
//! Statistical tests use fixed seeds, so they pass always or never; the probability stated is that
//! of a correct implementation failing under seeds chosen at random.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nearkin_engine::amplify::functions_needed;
use nearkin_engine::family::hash::{SplitMix, mix64};
use nearkin_engine::family::one_permutation::EMPTY;
use nearkin_engine::family::weighted::{max_from_sum, numbered, sum_from_max};
use nearkin_engine::family::{INFINITY, OnePermutation};
use nearkin_engine::textbook::min_wise::{self, Quality};
use nearkin_engine::textbook::{
    GroupMinima, HashFamily, MinHash, MixHashes, Permutation, Signature, UniversalHashes,
    group_minima,
};
use proptest::prelude::*;

/// The four sets of the book's figure 3.2, a to e as 0 to 4.
const FOUR: [&[usize]; 4] = [&[0, 3], &[2], &[1, 3, 4], &[0, 2, 3]];

fn words(set: &[usize]) -> Vec<u64> {
    set.iter().map(|&x| x as u64).collect()
}

fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
    a.intersection(&b).count() as f64 / a.union(&b).count() as f64
}

fn pairs<T>(items: &[T]) -> impl Iterator<Item = (&T, &T)> {
    (0..items.len()).flat_map(move |i| (0..i).map(move |j| (&items[j], &items[i])))
}

/// Whether `count` successes in `trials` are within 5 standard errors of probability `p`; a
/// correct one is not in 1 case of 1.7 million. A step of 1 allows for small counts.
fn close(count: usize, trials: usize, p: f64) -> bool {
    let n = trials as f64;
    (count as f64 - n * p).abs() <= 5.0 * (n * p * (1.0 - p)).sqrt() + 1.0
}

#[test]
fn s3_1_minhash_by_an_explicit_permutation() {
    let beadc = Permutation::from_order(vec![1, 4, 0, 3, 2]).unwrap();
    assert_eq!(FOUR.map(|set| beadc.minhash(set)), [Some(0), Some(2), Some(1), Some(0)]);
    assert_eq!(beadc.minhash(&[]), None);
}

#[test]
fn s3_1_agreement_over_all_120_orders_is_jaccard() {
    let orders: Vec<_> = Permutation::all(5).collect();
    assert_eq!(orders.len(), 120);
    for (a, b) in pairs(&FOUR) {
        let agree = orders.iter().filter(|order| order.minhash(a) == order.minhash(b)).count();
        assert_eq!(agree as f64 / 120.0, jaccard(&words(a), &words(b)), "{a:?} {b:?}");
    }
}

#[test]
fn s3_1_orders_that_are_none_are_refused() {
    for order in [vec![0, 0], vec![1, 2], vec![0, 2, 1, 2]] {
        assert!(Permutation::from_order(order).is_err());
    }
}

/// Exercise 3.3.6: cyclic orders alone do not do. {0} and {0, 1} of three rows agree in 2 of 3.
#[test]
fn s3_1_cyclic_orders_are_not_enough() {
    let cyclic: Vec<_> = (0..3)
        .map(|from| Permutation::from_order((0..3).map(|i| (from + i) % 3).collect()).unwrap())
        .collect();
    let agree = cyclic.iter().filter(|order| order.minhash(&[0]) == order.minhash(&[0, 1]));
    assert_eq!(agree.count(), 2);
    assert_eq!(jaccard(&[0], &[0, 1]), 0.5);
    assert!(min_wise::epsilon(cyclic.into_iter(), 3).unwrap() > 0.0);
}

#[test]
fn s3_2_signatures_in_one_pass() {
    let minhash = MinHash::new(UniversalHashes::explicit(&[(1, 1), (3, 1)], 5).unwrap());
    let signatures = FOUR.map(|set| minhash.signature(&words(set)));
    let values: Vec<_> = signatures.iter().map(Signature::values).collect();
    assert_eq!(values, [[1, 0], [3, 2], [0, 0], [1, 0]]);
    // The estimates the book reads off: 1 for sets 1 and 4, ½ for 1 and 3, 0 for 1 and 2.
    assert_eq!(signatures[0].estimate(&signatures[3]), Some(1.0));
    assert_eq!(signatures[0].estimate(&signatures[2]), Some(0.5));
    assert_eq!(signatures[0].estimate(&signatures[1]), Some(0.0));
}

/// Exercise 3.3.2: 2x + 4 and 3x − 1 mod 5, worked by hand: the rows 0 to 4 get 4 1 3 0 2 and
/// 4 2 0 3 1.
#[test]
fn s3_2_two_more_functions() {
    let minhash = MinHash::new(UniversalHashes::explicit(&[(2, 4), (3, 4)], 5).unwrap());
    let values = FOUR.map(|set| minhash.signature(&words(set)).values().to_vec());
    assert_eq!(values, [[0, 3], [3, 0], [0, 1], [0, 0]]);
}

/// Exercise 3.3.3: three functions mod 6, of which only 5x + 2 is a permutation. By hand the rows
/// 0 to 5 get 1 3 5 1 3 5, 2 5 2 5 2 5 and 2 1 0 5 4 3.
#[test]
fn s3_2_functions_that_are_no_permutations() {
    let family = UniversalHashes::explicit(&[(2, 1), (3, 2), (5, 2)], 6).unwrap();
    let reached = |f| (0..6).map(|x| family.hash(f, x)).collect::<BTreeSet<_>>().len();
    assert_eq!([reached(0), reached(1), reached(2)], [3, 2, 6]);
    let sets: [&[u64]; 4] = [&[2, 5], &[0, 1], &[3, 4], &[0, 2, 4]];
    let minhash = MinHash::new(family);
    let values = sets.map(|set| minhash.signature(set).values().to_vec());
    assert_eq!(values, [[5, 2, 0], [1, 2, 1], [1, 2, 4], [1, 2, 0]]);
    assert!(UniversalHashes::explicit(&[(1, 1)], 0).is_err());
}

/// 20 pairs, 4000 functions each, two families: failure probability 40 / 1.7 million.
#[test]
fn s3_2_agreement_is_jaccard_for_hashed_elements() {
    let functions = 4000;
    let mut seeds = SplitMix::new(32);
    for pair in 0..20 {
        let shared: Vec<u64> = seeds.by_ref().take(5 * pair).collect();
        let mut a: Vec<u64> = seeds.by_ref().take(20).collect();
        let mut b: Vec<u64> = seeds.by_ref().take(30).collect();
        a.extend(&shared);
        b.extend(&shared);
        let truth = jaccard(&a, &b);
        let mixed = MinHash::new(MixHashes::new(functions, seeds.draw()));
        let agreement = mixed.signature(&a).agreement(&mixed.signature(&b));
        assert!(close(agreement.equal, functions, truth), "{agreement:?} for {truth}");
        let universal = MinHash::new(UniversalHashes::new(functions, seeds.draw()));
        let agreement = universal.signature(&a).agreement(&universal.signature(&b));
        assert!(close(agreement.equal, functions, truth), "{agreement:?} for {truth}");
    }
}

#[test]
fn s3_3_all_permutations_and_recursive_halving_are_exactly_min_wise() {
    for n in 1..=7 {
        assert_eq!(min_wise::epsilon(Permutation::all(n), n).unwrap(), 0.0);
    }
    for (n, size, lcm) in [(2, 2u64, 2), (4, 12, 12), (8, 840, 840)] {
        let report = min_wise::enumerate(min_wise::halving(n).unwrap(), n).unwrap();
        assert_eq!(report.epsilon, 0.0, "n = {n}");
        assert_eq!(report.permutations, size);
        assert_eq!(min_wise::halving_size(n as u32), Some(u128::from(size)));
        // Each element of a set must win equally often, so lcm(1..n) divides the size.
        assert!(size.is_multiple_of(lcm));
        assert!(u128::from(size) < 4u128.pow(n as u32));
    }
    // C(16, 8) · 840 and C(32, 16) · C(16, 8) · 840.
    assert_eq!(min_wise::halving_size(16), Some(12_870 * 840));
    assert_eq!(min_wise::halving_size(32), Some(601_080_390 * 12_870 * 840));
    assert_eq!(min_wise::halving_size(12), None);
}

#[test]
fn s3_3_halving_lists_different_permutations() {
    let members: BTreeSet<_> =
        min_wise::halving(8).unwrap().map(|permutation| permutation.order().to_vec()).collect();
    assert_eq!(members.len(), 840);
}

#[test]
fn s3_3_linear_permutations_are_min_wise_only_roughly() {
    for n in [5, 7, 11] {
        let report = min_wise::enumerate(min_wise::linear(n).unwrap(), n).unwrap();
        assert_eq!(report.permutations, (n * (n - 1)) as u64);
        assert!(report.epsilon > 0.0);
        for k in 2..=n {
            assert!(report.least[k] >= 1.0 / (2 * (k - 1)) as f64 - 1e-12, "{n} {k} {report:?}");
        }
    }
}

#[test]
fn s3_3_unusable_families_are_refused() {
    assert!(min_wise::linear(9).is_err());
    assert!(min_wise::halving(12).is_err());
    assert!(min_wise::halving(32).is_err());
    assert!(min_wise::epsilon(std::iter::empty(), 4).is_err());
    assert!(min_wise::epsilon(Permutation::all(3), 4).is_err());
    assert!(min_wise::epsilon(Permutation::all(3), 40).is_err());
    assert!(Quality::measure(&MixHashes::new(0, 1), &[vec![1, 2]]).is_err());
    assert!(Quality::measure(&MixHashes::new(9, 1), &[vec![1]]).is_err());
}

/// On runs of integers ax + b is visibly not min-wise, while the default shows no more than chance
/// does. For an exact family 0.015² is 5 standard errors of the mean square over 640 cells, and 1.5
/// times the chance is 5.4 of one cell: failure probability below 10⁻⁴.
#[test]
fn s3_3_quality_report_tells_the_families_apart() {
    let runs = min_wise::runs(16, 40, 33);
    let weak = Quality::measure(&UniversalHashes::new(20_000, 1), &runs).unwrap();
    let strong = Quality::measure(&MixHashes::new(20_000, 1), &runs).unwrap();
    assert!(weak.typical > 0.1 && weak.epsilon > 2.0 * weak.chance, "{weak}");
    assert!(strong.typical < 0.015 && strong.epsilon < 1.5 * strong.chance, "{strong}");
    // On hashed elements both are good.
    let scattered = min_wise::scattered(16, 40, 34);
    let hashed = Quality::measure(&UniversalHashes::new(20_000, 2), &scattered).unwrap();
    assert!(hashed.typical < 0.015, "{hashed}");
    let report = strong.to_string();
    assert!(report.contains("with 20000 functions on 40 sets"), "{report}");
}

#[test]
fn s3_4_the_three_rules_for_infinity() {
    let sign = |values: &[u64]| Signature::from_values(values.to_vec(), false);
    let a = sign(&[1, 2, INFINITY, 4, INFINITY]);
    let b = sign(&[1, 3, 7, INFINITY, INFINITY]);
    let agreement = a.agreement(&b);
    assert_eq!((agreement.equal, agreement.unequal, agreement.silent), (1, 3, 1));
    assert_eq!(a.estimate(&b), Some(0.25));
    let unseen = sign(&[INFINITY; 5]);
    assert_eq!(unseen.estimate(&unseen), None, "no position gives evidence");
}

/// Over all 120 orders cut after two rows, the share among the orders with evidence is Jaccard.
#[test]
fn s3_4_truncated_scan_stays_unbiased() {
    let family: Vec<_> = Permutation::all(5).collect();
    let minhash = MinHash::new(family.clone()).truncated(2);
    for (a, b) in pairs(&FOUR) {
        let (x, y) = (minhash.signature(&words(a)), minhash.signature(&words(b)));
        let agreement = x.agreement(&y);
        assert_eq!(agreement.equal + agreement.unequal + agreement.silent, 120);
        let unseen = |order: &&Permutation| {
            order.minhash_within(a, 2).is_none() && order.minhash_within(b, 2).is_none()
        };
        assert_eq!(agreement.silent, family.iter().filter(unseen).count());
        let truth = jaccard(&words(a), &words(b));
        assert!((x.estimate(&y).unwrap() - truth).abs() < 1e-12);
    }
}

/// The three sets of the book's figure 3.5.
const THREE: [&[u64]; 3] = [&[4, 5, 6], &[3, 4, 5], &[2, 3, 4]];

/// The mean share of matches over all 8! hash functions, rows in two groups of four.
fn expected_in_two_groups(a: &[u64], b: &[u64]) -> f64 {
    let (mut equal, mut all) = (0, 0);
    for order in Permutation::all(8) {
        let grouped = GroupMinima::by_rows(vec![order], 2, 4).unwrap();
        let agreement = grouped.signature(a).agreement(&grouped.signature(b));
        assert_eq!(agreement.silent, 0);
        equal += agreement.equal;
        all += 2;
    }
    equal as f64 / f64::from(all)
}

#[test]
fn s3_5_eight_rows_in_two_groups() {
    let [a, b, c] = THREE;
    assert_eq!([jaccard(a, b), jaccard(a, c), jaccard(b, c)], [0.5, 0.2, 0.5]);
    assert_eq!(expected_in_two_groups(a, b), 1.0 / 3.0);
    assert_eq!(expected_in_two_groups(a, c), 1.0 / 6.0);
    assert_eq!(expected_in_two_groups(b, c), 1.0 / 2.0);
}

/// Exercise 3.3.9: the average over the halves can also exceed the similarity: 1 and 0 against 1/5.
#[test]
fn s3_5_the_average_may_exceed_the_similarity() {
    let (a, b) = ([0, 4, 5], [0, 6, 7]);
    assert_eq!(expected_in_two_groups(&a, &b), 0.5);
    assert_eq!(jaccard(&a, &b), 0.2);
}

#[test]
fn s3_5_unusable_groups_are_refused() {
    assert!(GroupMinima::by_rows(MixHashes::new(1, 1), 2, 0).is_err());
    assert!(GroupMinima::by_hash(MixHashes::new(1, 1), 0).is_err());
    assert!(GroupMinima::by_hash(MixHashes::new(0, 1), 2).is_err());
    assert!(OnePermutation::new(0, 1).is_err());
    assert!(OnePermutation::new(1 << 32, 1).is_err());
    assert_eq!(OnePermutation::new(8, 1).unwrap(), OnePermutation { groups: 8, seed: 1 });
}

fn sketch(groups: usize, seed: u64, elements: &[u64]) -> Vec<u32> {
    let mut out = vec![0; groups];
    OnePermutation { groups, seed }.sketch(elements, &mut out);
    out
}

fn estimate(groups: usize, seed: u64, a: &[u64], b: &[u64]) -> f64 {
    OnePermutation::estimate(&sketch(groups, seed, a), &sketch(groups, seed, b))
}

/// (only in a, shared, only in b): tiny sets, sets around the number of groups, and larger ones.
const SHAPES: [(u64, u64, u64); 14] = [
    (0, 1, 0),
    (1, 0, 1),
    (0, 1, 1),
    (1, 1, 0),
    (1, 1, 1),
    (0, 2, 1),
    (1, 2, 2),
    (3, 2, 0),
    (4, 6, 4),
    (1, 9, 0),
    (9, 1, 9),
    (5, 20, 5),
    (60, 100, 40),
    (10, 400, 10),
];

/// Every group agrees with probability J, for small integers and for hashed elements: 14 shapes,
/// two kinds of elements, 16 groups; failure probability 448 / 1.7 million.
#[test]
fn s3_5_each_group_agrees_with_probability_jaccard() {
    let (groups, trials) = (16, 10_000);
    for (shape, (left, both, right)) in SHAPES.into_iter().enumerate() {
        for hashed in [false, true] {
            let element = |x: u64| if hashed { mix64(x, 35) } else { x };
            let a: Vec<u64> = (0..left + both).map(element).collect();
            let b: Vec<u64> = (left..left + both + right).map(element).collect();
            let truth = both as f64 / (left + both + right) as f64;
            let mut equal = vec![0; groups];
            for seed in SplitMix::new(shape as u64).take(trials) {
                let (x, y) = (sketch(groups, seed, &a), sketch(groups, seed, &b));
                for group in 0..groups {
                    equal[group] += usize::from(x[group] == y[group]);
                }
            }
            for count in equal {
                assert!(close(count, trials, truth), "{left}+{both}+{right}: {count}, {truth}");
            }
        }
    }
}

/// What banding needs besides: the number of agreements is no more spread out than that of
/// independent functions. Measured variance over 4000 seeds; its own relative standard error is
/// 2.2 %, so 12 % allows 5 of them: failure probability below 10⁻⁵.
#[test]
fn s3_5_groups_are_as_good_as_independent_functions() {
    let groups = 64;
    for (left, both, right) in [(1, 2, 1), (5, 20, 5), (60, 100, 40), (100, 400, 100)] {
        let a: Vec<u64> = (0..left + both).collect();
        let b: Vec<u64> = (left..left + both + right).collect();
        let truth = both as f64 / (left + both + right) as f64;
        let (_, variance) = moments((0..4000).map(|seed| estimate(groups, seed, &a, &b)));
        let independent = truth * (1.0 - truth) / groups as f64;
        assert!(variance < 1.12 * independent, "{variance} {independent}");
    }
}

fn moments(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// The 9-byte shingles of a text, hashed.
fn shingles(text: &str) -> Vec<u64> {
    let hash = |w: &[u8]| w.iter().fold(0, |h, &byte| mix64(u64::from(byte), h));
    text.as_bytes().windows(9).map(hash).collect()
}

/// Two versions of a real text: the licence, and the licence with one word in it replaced.
fn real_texts() -> [Vec<u64>; 2] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../LICENSE-APACHE");
    let text = std::fs::read_to_string(path).unwrap();
    [shingles(&text), shingles(&text.replace("Work", "Opus"))]
}

/// Mean and variance over 2000 seeds. The mean is allowed 5 standard errors, and the variance 16 %,
/// 5 of its own: failure probability below 10⁻⁵.
#[test]
fn s3_5_unbiased_on_real_text_with_the_variance_reported() {
    let [a, b] = real_texts();
    let truth = jaccard(&a, &b);
    assert!(truth > 0.5 && truth < 0.95, "{truth}");
    let union: BTreeSet<_> = a.iter().chain(&b).collect();
    for groups in [64, 4096] {
        let plain = (0..2000).map(|seed| {
            let grouped = GroupMinima::by_hash(MixHashes::new(1, seed), groups).unwrap();
            grouped.signature(&a).estimate(&grouped.signature(&b)).unwrap()
        });
        let (mean, variance) = moments(plain);
        let reported = group_minima::variance(truth, union.len(), groups);
        assert!((mean - truth).abs() < 5.0 * (reported / 2000.0).sqrt(), "{mean} {truth}");
        assert!((variance / reported - 1.0).abs() < 0.16, "{variance} {reported}");

        let (mean, variance) = moments((0..2000).map(|seed| estimate(groups, seed, &a, &b)));
        let independent = truth * (1.0 - truth) / groups as f64;
        assert!((mean - truth).abs() < 5.0 * (independent / 2000.0).sqrt(), "{mean} {truth}");
        assert!(variance < 1.16 * independent, "{variance} {independent}");
    }
}

#[test]
fn s3_5_variance_never_exceeds_that_of_independent_functions() {
    for groups in [2, 10, 100] {
        for union in [2, 10, 100, 1000] {
            let independent = 0.25 / groups as f64;
            let variance = group_minima::variance(0.5, union, groups);
            assert!(variance <= independent + 1e-12, "{variance} {independent}");
        }
    }
    assert_eq!(group_minima::variance(1.0, 1, 10), 0.0);
    // One group is one minhash.
    assert!((group_minima::variance(0.3, 50, 1) - 0.21).abs() < 1e-12);
}

#[test]
fn s3_6_how_many_functions() {
    // 2·ln(100)/(0.01·0.5) = 1842.07 and 2·ln(20)/(0.04·0.8) = 187.23, by hand.
    assert_eq!(functions_needed(0.1, 0.01, 0.5).unwrap(), 1843);
    assert_eq!(functions_needed(0.2, 0.05, 0.8).unwrap(), 188);
    for (delta, epsilon, c) in [
        (0.0, 0.1, 0.5),
        (1.0, 0.1, 0.5),
        (0.1, 0.0, 0.5),
        (0.1, 1.0, 0.5),
        (0.1, 0.1, 0.0),
        (0.1, 0.1, 1.5),
        (f64::NAN, 0.1, 0.5),
        (1e-12, 0.1, 1e-12),
    ] {
        assert!(functions_needed(delta, epsilon, c).is_err(), "{delta} {epsilon} {c}");
    }
}

/// The promise of the bound, measured: with k functions for (0.2, 0.05, 0.5) fewer than 5 % of the
/// estimates of similarity ½ fall below 0.4. The bound is loose (the true share is below 10⁻³), so
/// the failure probability is far below 10⁻⁹.
#[test]
fn s3_6_the_bound_holds() {
    let k = functions_needed(0.2, 0.05, 0.5).unwrap();
    let low = (0..1000).filter(|&seed| {
        let minhash = MinHash::new(MixHashes::new(k, seed));
        let (a, b) = (minhash.signature(&[1, 2, 3]), minhash.signature(&[2, 3, 4]));
        a.estimate(&b).unwrap() < 0.8 * 0.5
    });
    assert!(low.count() < 50);
}

#[test]
fn s3_7_empty_sets_are_similar_only_to_empty_sets() {
    let minhash = MinHash::new(MixHashes::new(8, 1));
    let (none, some) = (minhash.signature(&[]), minhash.signature(&[1, 2]));
    assert_eq!(none.values(), [INFINITY; 8]);
    assert_eq!(none.estimate(&none), Some(1.0));
    assert_eq!(none.estimate(&some), Some(0.0));
    assert_eq!(some.estimate(&none), Some(0.0));
    // A set of which a truncated scan saw nothing is not an empty set.
    let blind = MinHash::new(MixHashes::new(8, 1)).truncated(0);
    assert_eq!(blind.signature(&[1, 2]).estimate(&none), Some(0.0));
    assert_eq!(blind.signature(&[1, 2]).estimate(&blind.signature(&[1, 2])), None);
    let grouped = GroupMinima::by_hash(MixHashes::new(1, 1), 8).unwrap();
    assert_eq!(grouped.signature(&[]).estimate(&grouped.signature(&[])), Some(1.0));
    assert_eq!(grouped.signature(&[]).estimate(&grouped.signature(&[1])), Some(0.0));
    let (none, some) = (sketch(8, 1, &[]), sketch(8, 1, &[1]));
    assert_eq!(none, [EMPTY; 8]);
    assert!(!some.contains(&EMPTY));
    assert_eq!(OnePermutation::estimate(&none, &none), 1.0);
    assert_eq!(OnePermutation::estimate(&none, &some), 0.0);
}

fn counts(bag: &[u64]) -> BTreeMap<u64, usize> {
    bag.iter().fold(BTreeMap::new(), |mut counts, &x| {
        *counts.entry(x).or_default() += 1;
        counts
    })
}

/// Bag similarity by definition: (union by sum, union by maximum).
fn bag_similarity(a: &[u64], b: &[u64]) -> (f64, f64) {
    let (x, y) = (counts(a), counts(b));
    let keys: BTreeSet<_> = x.keys().chain(y.keys()).collect();
    let of = |c: &BTreeMap<u64, usize>, key: &u64| c.get(key).copied().unwrap_or(0);
    let least: usize = keys.iter().map(|k| of(&x, k).min(of(&y, k))).sum();
    let most: usize = keys.iter().map(|k| of(&x, k).max(of(&y, k))).sum();
    (least as f64 / (a.len() + b.len()) as f64, least as f64 / most as f64)
}

fn number(bag: &[u64]) -> Vec<u64> {
    let mut out = vec![99];
    numbered(bag, &mut out);
    out
}

#[test]
fn s3_8_numbered_bags_have_the_similarity_of_the_bags() {
    let (a, b) = ([0, 0, 0, 1], [0, 0, 1, 1, 2]);
    let (by_sum, by_max) = bag_similarity(&a, &b);
    assert_eq!((by_sum, by_max), (1.0 / 3.0, 0.5));
    assert_eq!(jaccard(&number(&a), &number(&b)), by_max);
    assert_eq!(sum_from_max(by_max), by_sum);
    assert!((max_from_sum(by_sum) - by_max).abs() < 1e-15);
    assert_eq!(number(&[3, 5, 7]), [3, 5, 7], "without repetitions nothing changes");
}

/// 10 pairs of bags by 4000 functions and by 400 sketches of 10 groups: failure probability below
/// 10⁻⁴. The groups of a sketch are no more spread out than independent functions, so the same
/// interval holds for them.
#[test]
fn s3_8_estimates_agree_with_exact_bag_similarity() {
    for pair in 0..10 {
        let mut seeds = SplitMix::new(38 + pair);
        let mut bag = |size| -> Vec<u64> {
            let mut bag: Vec<u64> = (0..size).map(|_| seeds.below(12)).collect();
            bag.sort_unstable();
            bag
        };
        let (a, b) = (bag(40 + 10 * pair), bag(60));
        let (_, by_max) = bag_similarity(&a, &b);
        let (x, y) = (number(&a), number(&b));
        let minhash = MinHash::new(MixHashes::new(4000, pair));
        let agreement = minhash.signature(&x).agreement(&minhash.signature(&y));
        assert!(close(agreement.equal, 4000, by_max), "{agreement:?} {by_max}");
        let equal: f64 = (0..400).map(|seed| 10.0 * estimate(10, seed, &x, &y)).sum();
        assert!(close(equal.round() as usize, 4000, by_max), "{equal} {by_max}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Row chunks: the minima of the parts are the minima of the whole.
    #[test]
    fn s3_2_merged_parts_equal_the_whole(
        elements in prop::collection::vec(any::<u64>(), 0..40),
        cut in 0usize..40,
        truncate in any::<bool>(),
    ) {
        let minhash = MinHash::new(MixHashes::new(16, 5))
            .truncated(if truncate { u64::MAX / 8 } else { u64::MAX });
        let (head, tail) = elements.split_at(cut.min(elements.len()));
        let mut merged = minhash.signature(head);
        merged.merge(&minhash.signature(tail));
        prop_assert_eq!(merged, minhash.signature(&elements));
    }

    /// A sketch depends on the set alone: order and repetition change nothing, and no group of a
    /// set that has elements stays unfilled, however many groups there are.
    #[test]
    fn s3_5_sketches_depend_on_the_set_alone(
        elements in prop::collection::vec(0u64..50, 1..30),
        groups in prop_oneof![1usize..70, 1020usize..1030],
        seed in any::<u64>(),
    ) {
        let set: BTreeSet<u64> = elements.iter().copied().collect();
        let set: Vec<u64> = set.into_iter().collect();
        let plain = sketch(groups, seed, &set);
        prop_assert_eq!(&plain, &sketch(groups, seed, &elements));
        prop_assert!(!plain.contains(&EMPTY));
    }

    /// Every value of a sketch comes from an element: the sketch of a union takes, group by group, a
    /// value that one of the two has.
    #[test]
    fn s3_5_a_union_takes_its_values_from_its_parts(
        a in prop::collection::vec(0u64..50, 1..30),
        b in prop::collection::vec(0u64..50, 1..30),
        seed in any::<u64>(),
    ) {
        let both: Vec<u64> = a.iter().chain(&b).copied().collect();
        let (x, y, z) = (sketch(32, seed, &a), sketch(32, seed, &b), sketch(32, seed, &both));
        for group in 0..32 {
            prop_assert!(z[group] == x[group] || z[group] == y[group]);
        }
    }

    #[test]
    fn s3_8_numbering_keeps_bag_similarity(
        mut a in prop::collection::vec(0u64..8, 1..30),
        mut b in prop::collection::vec(0u64..8, 1..30),
    ) {
        a.sort_unstable();
        b.sort_unstable();
        let (by_sum, by_max) = bag_similarity(&a, &b);
        prop_assert_eq!(jaccard(&number(&a), &number(&b)), by_max);
        prop_assert!((sum_from_max(by_max) - by_sum).abs() < 1e-12);
        prop_assert!((max_from_sum(by_sum) - by_max).abs() < 1e-12);
    }
}
