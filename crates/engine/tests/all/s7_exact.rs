//! The exact join of sets: the figures of the syllabus, and every filter against brute force.

use std::collections::BTreeSet;
use std::sync::Mutex;

use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::join::sets::{
    Bounds, Filters, QueryScratch, SetIndex, SetJoin, SetJoinCounts, SetPair, components, pairs,
};
use nearkin_engine::verify::{Limit, Measure, Verifier};

fn jaccard(threshold: f64) -> Verifier {
    Verifier::new(Measure::Jaccard, Limit::Similarity(threshold)).expect("a threshold in range")
}

/// Runs a test with the bounds for Jaccard, of sets of up to 1000 elements.
fn with_bounds<R>(threshold: f64, test: impl FnOnce(Bounds<'_>) -> R) -> R {
    test(Bounds::new(&jaccard(threshold), 1000))
}

#[test]
fn s7_3_lengths_that_are_compared() {
    let longest = |threshold, length| with_bounds(threshold, |b| *b.sizes(length).end());
    assert_eq!(longest(0.9, 9), 10);
    assert_eq!(longest(0.9, 8), 8);
    // Exercise 3.9.2: a string of length 20 is compared with those of length 17 to 23, 19 to 21, and 20.
    for (threshold, sizes) in [(0.85, 17..=23), (0.95, 19..=21), (0.98, 20..=20)] {
        assert_eq!(with_bounds(threshold, |b| b.sizes(20)), sizes);
    }
}

#[test]
fn s7_4_symbols_in_the_prefix() {
    with_bounds(0.9, |bounds| {
        assert_eq!(bounds.prefix(9), 1);
        (10..20).for_each(|length| assert_eq!(bounds.prefix(length), 2, "{length}"));
        assert_eq!(bounds.prefix(20), 3);
    });
    // Exercise 3.9.3.
    assert_eq!(with_bounds(0.85, |b| b.prefix(15)), 3);
    assert_eq!(with_bounds(0.95, |b| b.prefix(15)), 1);
    // Four symbols for 11/15 < J ≤ 12/15.
    for (threshold, symbols) in [(11.0 / 15.0, 5), (0.734, 4), (0.8, 4), (0.801, 3)] {
        assert_eq!(with_bounds(threshold, |b| b.prefix(15)), symbols, "{threshold}");
    }
}

#[test]
fn s7_4_the_prefix_is_the_formula_in_whole_numbers() {
    for d in 1..=20u32 {
        for n in 1..=d {
            with_bounds(f64::from(n) / f64::from(d), |bounds| {
                for length in 1..200u32 {
                    let formula = ((d - n) * length / d + 1) as usize;
                    assert_eq!(bounds.prefix(length as usize), formula, "{n}/{d} of {length}");
                }
            });
        }
    }
}

/// (i, j): where the i-th symbol of a string of some length is looked up.
fn buckets(threshold: f64, length: usize) -> Vec<(usize, usize)> {
    with_bounds(threshold, |bounds| {
        let positions = 1..=bounds.prefix(length);
        positions.flat_map(|i| (1..=bounds.last_position(length, i)).map(move |j| (i, j))).collect()
    })
}

#[test]
fn s7_5_symbols_and_positions() {
    // Example 3.28: (a, 1), (a, 2) and (c, 1).
    assert_eq!(buckets(0.9, 10), [(1, 1), (1, 2), (2, 1)]);
    // Exercise 3.9.4: 12/(11 + j) ≥ 3/4 up to j = 5, 11/(11 + j) up to 3, 10/(11 + j) up to 2, 9/12.
    let expected =
        [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)];
    assert_eq!(buckets(0.75, 12), expected);
    assert_eq!(buckets(0.95, 12), [(1, 1)]);
}

#[test]
fn s7_5_strings_that_differ_in_the_first_symbol_are_not_compared() {
    // acdefghijk and bcdefghijk meet at (c, 2) only, which is too late for 9/11.
    assert!(!buckets(0.9, 10).contains(&(2, 2)));
    let (s, t): (Vec<u64>, Vec<u64>) = ((1..11).collect(), [0].into_iter().chain(2..11).collect());
    let count = |filters: &str| {
        let verifier = jaccard(0.9);
        run(&[&s, &t], &join(&verifier, filters.parse().unwrap(), None)).1.candidates
    };
    assert_eq!(count("length"), 1);
    assert_eq!(count("length,prefix,position"), 0);
}

#[test]
fn s7_5_random_strings_are_compared_that_often() {
    // Exercise 3.9.5, in an order of the symbols that does not depend on the strings. One of length 9 is indexed under
    // its first symbol, so that must be the same in both; of length 10 the first of one may be the second of the other
    // as well, and no two of these three can happen at once.
    // The first of n of 100 is the k-th with chance C(100 − k, n − 1) / C(100, n), the second (k − 1) C(100 − k, n − 2).
    let choose = |n: u32, k: u32| {
        (0..k).map(|i| f64::from(n - i.min(n)) / f64::from(k - i)).product::<f64>()
    };
    let first = |n: u32, k: u32| choose(100 - k, n - 1) / choose(100, n);
    let second = |n: u32, k: u32| f64::from(k - 1) * choose(100 - k, n - 2) / choose(100, n);
    let nine: f64 = (1..=100).map(|k| first(9, k).powi(2)).sum();
    let ten: f64 = (1..=100).map(|k| first(10, k) * (first(10, k) + 2.0 * second(10, k))).sum();
    for (length, expected) in [(9, nine), (10, ten)] {
        let prefix = with_bounds(0.9, |bounds| bounds.prefix(length));
        let mut places = buckets(0.9, length);
        places.retain(|&(_, j)| j <= prefix);
        let mut random = SplitMix::new(9);
        let mut draw = || {
            let mut set = BTreeSet::new();
            while set.len() < length {
                set.insert(random.below(100));
            }
            set.into_iter().collect::<Vec<u64>>()
        };
        let trials = 200_000;
        let met = (0..trials).filter(|_| {
            let (s, t) = (draw(), draw());
            places.iter().any(|&(i, j)| s[i - 1] == t[j - 1])
        });
        let share = met.count() as f64 / f64::from(trials);
        // Five standard deviations: fails by chance once in a million seeds, and the seed is fixed.
        let margin = 5.0 * (expected * (1.0 - expected) / f64::from(trials)).sqrt();
        assert!((share - expected).abs() < margin, "{length}: {share} for {expected}");
    }
}

/// (i, q, j): the buckets of figure 3.16.
fn pyramid(threshold: f64, length: usize) -> Vec<(usize, usize, usize)> {
    with_bounds(threshold, |bounds| {
        let mut buckets = Vec::new();
        for i in 1..=bounds.prefix(length) {
            for q in 0..4 * length {
                let allowed = (1..=length).filter(|&j| bounds.allow(length, i, j + q, j));
                buckets.extend(allowed.map(|j| (i, q, j)));
            }
        }
        buckets
    })
}

#[test]
fn s7_6_the_pyramid_of_positions_and_suffix_lengths() {
    let figure = [
        (1, 7, 1),
        (1, 8, 1),
        (1, 8, 2),
        (1, 9, 1),
        (1, 9, 2),
        (1, 9, 3),
        (1, 10, 1),
        (1, 10, 2),
        (1, 11, 1),
        (2, 7, 1),
        (2, 8, 1),
        (2, 8, 2),
        (2, 9, 1),
        (3, 7, 1),
    ];
    assert_eq!(pyramid(0.8, 10), figure);
}

#[test]
fn s7_6_triples_are_the_two_cases_of_the_book() {
    // Exercise 3.9.6 among them. (q + 1)/(L + j − 1) ≥ J where p ≥ q, (L − i + 1)/(i + j − 1 + q) where p < q.
    for (length, n, d) in [(20, 8, 10), (20, 9, 10), (10, 8, 10), (30, 2, 3), (17, 1, 2)] {
        let mut expected = Vec::new();
        for i in 1..=(d - n) * length / d + 1 {
            let p = length - i;
            for (q, j) in (0..4 * length).flat_map(|q| (1..=length).map(move |j| (q, j))) {
                let (above, below) =
                    if p >= q { (q + 1, length + j - 1) } else { (length - i + 1, i + j - 1 + q) };
                if d * above >= n * below {
                    expected.push((i, q, j));
                }
            }
        }
        assert_eq!(pyramid(n as f64 / d as f64, length), expected, "{n}/{d} of {length}");
    }
    assert_eq!((pyramid(0.8, 20).len(), pyramid(0.9, 20).len()), (61, 14));
}

// --- every filter against brute force -------------------------------------------------------------------

fn join<'a>(verifier: &'a Verifier, filters: Filters, split: Option<u32>) -> SetJoin<'a> {
    SetJoin { verifier, filters, split, stopped: &|| false }
}

fn run(sets: &[&[u64]], join: &SetJoin<'_>) -> (Vec<SetPair>, SetJoinCounts) {
    let hits = Mutex::new(Vec::new());
    let found = |portion: &[SetPair]| {
        hits.lock().unwrap().extend_from_slice(portion);
        Ok(())
    };
    let counts = pairs(sets, join, &found).expect("filters that go together");
    let mut hits = hits.into_inner().unwrap();
    hits.sort_unstable();
    (hits, counts)
}

/// What two sets of these sizes and this overlap are, in whole numbers: similar or not.
type Decide<'a> = &'a dyn Fn(usize, usize, usize) -> bool;

fn brute_force(sets: &[&[u64]], split: Option<u32>, decide: Decide<'_>) -> Vec<SetPair> {
    let mut hits = Vec::new();
    let mut sorted: Vec<Vec<u64>> = sets.iter().map(|set| set.to_vec()).collect();
    sorted.iter_mut().for_each(|set| set.sort_unstable());
    for b in 0..sets.len() {
        for a in 0..b {
            if split.is_some_and(|split| (a < split as usize) == (b < split as usize)) {
                continue;
            }
            let shared = sets[a].iter().filter(|x| sorted[b].binary_search(x).is_ok()).count();
            let empty = sets[a].is_empty() || sets[b].is_empty();
            if !empty && decide(shared, sets[a].len(), sets[b].len()) {
                hits.push(SetPair { a: a as u32, b: b as u32, shared: shared as u32 });
            }
        }
    }
    hits.sort_unstable();
    hits
}

/// A few sets of a few elements each: empty ones, single ones, copies, and some that differ a little.
fn collection(random: &mut SplitMix) -> Vec<Vec<u64>> {
    let count = random.below(16);
    let universe = 1 + random.below(24);
    let largest = 1 + random.below(20);
    let mut sets: Vec<Vec<u64>> = Vec::new();
    for _ in 0..count {
        let mut set = BTreeSet::new();
        if !sets.is_empty() && random.below(2) == 0 {
            let near = &sets[random.below(sets.len() as u64) as usize];
            set.extend(near.iter().copied());
            for _ in 0..random.below(3) {
                let element = random.below(universe);
                if !set.remove(&element) {
                    set.insert(element);
                }
            }
        } else {
            set.extend((0..random.below(largest + 1)).map(|_| random.below(universe)));
        }
        let mut set: Vec<u64> = set.into_iter().collect();
        // In any order.
        for i in (1..set.len()).rev() {
            set.swap(i, random.below(i as u64 + 1) as usize);
        }
        sets.push(set);
    }
    sets
}

fn check_collection(
    sets: &[Vec<u64>],
    verifier: &Verifier,
    filters: Filters,
    split: Option<u32>,
    decide: Decide<'_>,
) {
    let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
    let join = join(verifier, filters, split);
    let expected = brute_force(&slices, split, decide);
    let (hits, counts) = run(&slices, &join);
    assert_eq!(hits, expected, "{filters} {split:?} {sets:?}");
    assert_eq!(counts.similar, hits.len() as u64);
    assert!(counts.verified <= counts.candidates && counts.similar <= counts.verified);

    let (roots, _) = components(&slices, &join).unwrap();
    let mut known = nearkin_engine::cluster::UnionFind::new(sets.len());
    expected.iter().for_each(|hit| known.join(hit.a, hit.b));
    let components: Vec<u32> = (0..sets.len() as u32).map(|set| known.find(set)).collect();
    assert_eq!(roots, components, "{filters} {split:?} {sets:?}");

    // The sets behind the split as queries, among the others.
    let (held, queries) = slices.split_at(split.map_or(slices.len() / 2, |split| split as usize));
    let index = SetIndex::new(held, verifier, filters).unwrap();
    let mut scratch = QueryScratch::default();
    let mut answers = Vec::new();
    for (at, query) in (held.len() as u32..).zip(queries) {
        let mut found = Vec::new();
        index.query(query, &mut scratch, &mut found);
        answers.extend(found.into_iter().map(|(a, shared)| SetPair { a, b: at, shared }));
    }
    answers.sort_unstable();
    let expected = brute_force(&slices, Some(held.len() as u32), decide);
    assert_eq!(answers, expected, "queries: {filters} {sets:?}");
}

/// Runs a test on one thread: tiny collections are done before others have woken up.
fn on_one_thread(test: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(test);
}

#[test]
fn s7_7_every_filter_finds_what_brute_force_finds() {
    on_one_thread(every_filter_finds_what_brute_force_finds);
}

fn every_filter_finds_what_brute_force_finds() {
    let all: Vec<Filters> = Filters::all().collect();
    let mut random = SplitMix::new(7);
    for round in 0..40_000 {
        let sets = collection(&mut random);
        let d = 1 + random.below(12) as usize;
        let n = 1 + random.below(d as u64) as usize;
        let verifier = jaccard(n as f64 / d as f64);
        let split = (random.below(3) == 0).then(|| random.below(sets.len() as u64 + 1) as u32);
        // In whole numbers: shared / (a + b − shared) ≥ n / d.
        let decide = |shared: usize, a: usize, b: usize| d * shared >= n * (a + b - shared);
        check_collection(&sets, &verifier, all[round % all.len()], split, &decide);
    }
}

#[test]
fn s7_7_every_measure_of_sets_goes_through_the_same_frame() {
    on_one_thread(every_measure_goes_through_the_same_frame);
}

fn every_measure_goes_through_the_same_frame() {
    let all: Vec<Filters> = Filters::all().collect();
    let mut random = SplitMix::new(77);
    for round in 0..30_000 {
        let sets = collection(&mut random);
        let d = 1 + random.below(12) as usize;
        let n = 1 + random.below(d as u64) as usize;
        let share = n as f64 / d as f64;
        let split = (random.below(3) == 0).then(|| random.below(sets.len() as u64 + 1) as u32);
        // All in whole numbers.
        let union = move |shared: usize, a: usize, b: usize| d * shared >= n * (a + b - shared);
        let sum = move |shared: usize, a: usize, b: usize| 2 * d * shared >= n * (a + b);
        let cosine = move |shared: usize, a: usize, b: usize| (d * shared).pow(2) >= n * n * a * b;
        let smaller = move |shared: usize, a: usize, b: usize| d * shared >= n * a.min(b);
        let count = move |shared: usize, _: usize, _: usize| shared >= n;
        let differ = move |shared: usize, a: usize, b: usize| a + b - 2 * shared < n;
        let least = Limit::Similarity;
        let cases: [(Measure, Limit, Decide<'_>); 8] = [
            (Measure::Bag, least(share), &union),
            (Measure::Jaccard, Limit::Distance((d - n) as f64 / d as f64), &union),
            (Measure::BagSum, least(share / 2.0), &sum),
            (Measure::Dice, least(share), &sum),
            (Measure::Cosine, least(share), &cosine),
            (Measure::Containment, least(share), &smaller),
            (Measure::Overlap, least(n as f64), &count),
            (Measure::Hamming, Limit::Distance((n - 1) as f64), &differ),
        ];
        let (measure, limit, decide) = cases[round % cases.len()];
        let verifier = Verifier::new(measure, limit).expect("a limit in range");
        let filters = all[random.below(all.len() as u64) as usize];
        check_collection(&sets, &verifier, filters, split, decide);
    }
}

/// Sets of up to hundreds of elements, many near copies, some elements in most of them.
fn near_copies() -> Vec<Vec<u64>> {
    let mut random = SplitMix::new(78);
    let mut sets: Vec<Vec<u64>> = Vec::new();
    for at in 0..2000u64 {
        let mut set = BTreeSet::new();
        if at % 3 != 0 {
            let near = sets[random.below(at) as usize].clone();
            let changes = random.below(1 + near.len() as u64 / 4);
            set.extend(near);
            for _ in 0..changes {
                let some = *set.iter().nth(random.below(set.len() as u64) as usize).unwrap();
                set.remove(&some);
                set.insert(random.below(50_000) * 7919);
            }
        } else {
            let size = 1 + random.below(if at % 30 == 0 { 400 } else { 60 });
            set.extend((0..size).map(|i| if i % 3 == 0 { i } else { random.below(50_000) * 7919 }));
        }
        sets.push(set.into_iter().collect());
    }
    sets
}

#[test]
fn s7_7_the_work_is_the_same_at_any_number_of_threads() {
    let sets = near_copies();
    let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
    let verifier = jaccard(0.6);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let join = join(&verifier, Filters::default(), None);
            (run(&slices, &join), components(&slices, &join).unwrap())
        })
    };
    let one = with(1);
    assert!(one.1.1.candidates < one.0.1.candidates, "what is connected is not compared");
    for threads in [2, 5] {
        assert_eq!(with(threads), one);
    }
}

#[test]
fn s7_7_larger_collections_are_joined_alike_by_all() {
    let sets = near_copies();
    let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
    let cases: [(Measure, f64, Decide<'_>); 4] = [
        (Measure::Jaccard, 0.8, &|shared, a, b| 10 * shared >= 8 * (a + b - shared)),
        (Measure::Jaccard, 1.0 / 3.0, &|shared, a, b| 3 * shared >= a + b - shared),
        (Measure::Cosine, 0.7, &|shared, a, b| 100 * shared * shared >= 49 * a * b),
        (Measure::Containment, 0.9, &|shared, a, b| 10 * shared >= 9 * a.min(b)),
    ];
    let overlapping = brute_force(&slices, None, &|shared, _, _| shared > 0);
    for (measure, threshold, decide) in cases {
        let verifier = Verifier::new(measure, Limit::Similarity(threshold)).unwrap();
        let size = |set: u32| sets[set as usize].len();
        let similar = |hit: &&SetPair| decide(hit.shared as usize, size(hit.a), size(hit.b));
        let expected: Vec<SetPair> = overlapping.iter().filter(similar).copied().collect();
        assert!(expected.len() > 1000, "{} pairs", expected.len());
        for filters in Filters::all() {
            assert_eq!(run(&slices, &join(&verifier, filters, None)).0, expected, "{filters}");
        }
    }
}

/// Sets of many of a few elements: none is rare. The bitmaps of the largest have one word, or one or two.
fn dense_sets(count: usize, universe: u64) -> Vec<Vec<u64>> {
    let mut random = SplitMix::new(universe);
    let set = |_| {
        let size = universe * (50 + random.below(25)) / 100;
        let mut all: Vec<u64> = (0..universe).collect();
        (0..size).map(|_| all.swap_remove(random.below(all.len() as u64) as usize)).collect()
    };
    (0..count).map(set).collect()
}

#[test]
fn s7_7_sets_without_a_rare_element_are_joined_as_by_brute_force() {
    for (universe, threshold) in [(60, 6), (60, 8), (96, 6)] {
        let sets = dense_sets(700, universe);
        let least = threshold as usize;
        let verifier = jaccard(threshold as f64 / 10.0);
        let decide = |shared, a, b| 10 * shared >= least * (a + b - shared);
        for split in [None, Some(300)] {
            check_collection(&sets, &verifier, Filters::default(), split, &decide);
        }
    }
}

#[test]
fn s7_7_sets_without_a_rare_element_are_not_all_candidates() {
    let sets = dense_sets(2000, 60);
    let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
    let verifier = jaccard(0.7);
    let join = join(&verifier, Filters::default(), None);
    let (hits, counts) = run(&slices, &join);
    let (_, connected) = components(&slices, &join).unwrap();
    let decide = |shared: usize, a: usize, b: usize| 10 * shared >= 7 * (a + b - shared);
    assert_eq!(hits, brute_force(&slices, None, &decide));
    // Of two million pairs, a probe goes through the lists of one in 64 before it changes over.
    assert!(counts.candidates < 100_000, "{counts:?}");
    assert!(connected.candidates < 200_000, "{connected:?}");
}

#[test]
fn s7_7_nothing_comes_of_nothing_and_errors_stop_the_join() {
    let verifier = jaccard(0.5);
    let default = join(&verifier, Filters::default(), None);
    assert_eq!(run(&[], &default), (Vec::new(), SetJoinCounts::default()));
    assert_eq!(run(&[&[], &[]], &default), (Vec::new(), SetJoinCounts::default()));
    assert_eq!(components(&[&[], &[1], &[1]], &default).unwrap().0, [0, 1, 1]);
    let index = SetIndex::new(&[], &verifier, Filters::default()).unwrap();
    let mut found = Vec::new();
    index.query(&[1, 2], &mut QueryScratch::default(), &mut found);
    index.query(&[], &mut QueryScratch::default(), &mut found);
    assert_eq!(found, []);
    let wrong = Filters { prefix: false, ..Filters::default() };
    assert!(pairs(&[&[1], &[1]], &join(&verifier, wrong, None), &|_| Ok(())).is_err());
    let refuse = |_: &[SetPair]| Err(nearkin_engine::Error::Closed);
    assert!(pairs(&[&[1], &[1]], &default, &refuse).is_err());
    let stop = SetJoin { stopped: &|| true, ..default };
    assert!(pairs(&[&[1], &[1]], &stop, &|_| Ok(())).is_err());
    assert!(components(&[&[1], &[1]], &stop).is_err());
}

#[test]
fn one_scratch_serves_several_indexes() {
    let sets: [Vec<Vec<u64>>; 2] =
        [0u64, 500].map(|from| (0..50).map(|i| (from + i..from + i + 10).collect()).collect());
    let verifier = |least| Verifier::new(Measure::Jaccard, Limit::Similarity(least)).unwrap();
    let index = |sets: &[Vec<u64>], least| {
        let sets: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
        SetIndex::new(&sets, &verifier(least), Filters::default()).unwrap()
    };
    let indexes = [index(&sets[0], 0.9), index(&sets[1], 0.5), index(&sets[0], 0.2)];
    let mut scratch = QueryScratch::default();
    for query in sets.iter().flatten() {
        for index in &indexes {
            let (mut shared, mut own) = (Vec::new(), Vec::new());
            index.query(query, &mut scratch, &mut shared);
            index.query(query, &mut QueryScratch::default(), &mut own);
            assert_eq!(shared, own);
        }
    }
}
