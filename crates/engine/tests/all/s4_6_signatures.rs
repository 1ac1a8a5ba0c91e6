//! Signatures that agree often enough (syllabus S4.6): sorting and counting against the definition.

use std::sync::Mutex;

use nearkin_engine::family::MinHashes;
use nearkin_engine::item::{Sets, Signatures};
use nearkin_engine::join::{TopQuery, counted, top};
use nearkin_engine::search::{Items, MemoryItems, Search};
use nearkin_engine::settings::Settings;
use nearkin_engine::space::{ClosePair, JoinQuery, SignatureSpace, Space};

/// Numbers that look random, the same in every run.
fn numbers(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u32
    }
}

/// Signatures of few values, so that many agree; some values are missing, and a few signatures are the same.
fn random(items: usize, functions: usize, values: u32) -> Signatures {
    let mut draw = numbers(items as u64 + 7);
    let mut signatures = Signatures::new(functions).unwrap();
    for item in 0..items {
        let mut value = || if draw(9) == 0 { Signatures::NO_VALUE } else { draw(values) };
        let mut signature: Vec<u32> = (0..functions).map(|_| value()).collect();
        if item % 13 == 5 {
            signature = signatures.get(item / 2).to_vec();
        }
        signatures.push(&signature).unwrap();
    }
    signatures
}

/// The definition: functions that agree, over functions.
fn agreement(a: &[u32], b: &[u32]) -> f64 {
    let agree = a.iter().zip(b).filter(|(x, y)| x == y && **x != u32::MAX);
    agree.count() as f64 / a.len() as f64
}

#[test]
fn s4_6_sorting_and_counting_finds_what_the_definition_says() {
    for (items, functions, values) in [(80, 10, 3), (150, 7, 4), (60, 64, 2), (1, 5, 2), (0, 5, 2)]
    {
        let signatures = random(items, functions, values);
        let space = SignatureSpace::new(&signatures);
        for split in [None, Some(items as u32 / 3)] {
            for limit in [0.0, 0.1, 0.3, 0.5, 0.7, 1.0] {
                let mut expected = Vec::new();
                for a in 0..items {
                    for b in a + 1..items {
                        let value = agreement(signatures.get(a), signatures.get(b));
                        let across =
                            split.is_none_or(|split| a < split as usize && b >= split as usize);
                        if across && value >= limit {
                            expected.push(ClosePair { a: a as u32, b: b as u32, value });
                        }
                    }
                }
                let found = Mutex::new(Vec::new());
                let join = JoinQuery { limit, split, stopped: &|| false };
                counted(&space, &join, &|pairs| {
                    found.lock().unwrap().extend_from_slice(pairs);
                    Ok(())
                })
                .unwrap();
                let mut found = found.into_inner().unwrap();
                found.sort_by_key(|pair| (pair.a, pair.b));
                assert_eq!(found, expected, "{items} items, {split:?}, {limit}");
            }
        }
    }
}

#[test]
fn s4_6_a_search_by_signatures() {
    let signatures = random(120, 12, 3);
    let settings = Settings { threshold: 0.5, ..Settings::default() };
    let items = MemoryItems::new(Items::Signatures(signatures.clone()));
    let matches = Search::new(&settings).pairs(items).unwrap();
    let mut found = Vec::new();
    matches
        .each(|a, b, value| {
            found.push((a, b, value));
            Ok(())
        })
        .unwrap();
    let mut expected = Vec::new();
    for a in 0..120u32 {
        for b in a + 1..120 {
            let [x, y] = [a, b].map(|item| signatures.get(item as usize));
            // Copies are folded: they are said to agree as much as one agrees with itself.
            let value = agreement(x, y);
            if value >= 0.5 {
                expected.push((a, b, value));
            }
        }
    }
    assert_eq!(found, expected);
    let space = SignatureSpace::new(&signatures);
    let top_query = TopQuery { count: 3, split: None, no_closer: Some(0.9), stopped: &|| false };
    let closest = top::brute_force(&space, &top_query).unwrap();
    assert!(
        closest.iter().all(|pair| pair.value <= 0.9 && pair.value == space.value(pair.a, pair.b))
    );
}

#[test]
fn s4_6_signatures_of_sets_are_minhashes() {
    let mut sets = Sets::default();
    sets.push(&[1, 2, 3]);
    sets.push(&[]);
    sets.push(&[1, 2, 3]);
    let signatures = MinHashes::new(&sets, 5).signatures(70).unwrap();
    assert_eq!(signatures.get(0), signatures.get(2));
    // The empty set has no minhash, and agrees with nothing.
    assert!(signatures.get(1).iter().all(|&value| value == Signatures::NO_VALUE));
    assert_eq!(SignatureSpace::new(&signatures).value(1, 1), 0.0);
    assert!(MinHashes::new(&sets, 5).signatures(0).is_err());
}
