//! Rows S4.1 and S4.4: bands as buckets, and the seven steps end to end; and the values that stored
//! sketches depend on.

use nearkin_engine::amplify::Bands;
use nearkin_engine::candidates::bands::Banding;
use nearkin_engine::candidates::{buckets, each_bucket, partition_of_key};
use nearkin_engine::family::OnePermutation;
use nearkin_engine::item::{Sets, Texts};
use nearkin_engine::join::every_pair;
use nearkin_engine::search::{Search, SourceItems};
use nearkin_engine::settings::Settings;
use nearkin_engine::shingle::{Shingling, hash_bytes};
use nearkin_engine::verify::{Limit, Measure, Verifier};

fn keys_of(banding: &Banding, elements: &[u64]) -> Vec<u64> {
    let mut keys = Vec::new();
    banding.keys(elements, &mut Vec::new(), &mut keys);
    keys
}

#[test]
fn s4_1_items_share_a_bucket_where_their_sketches_agree_in_a_band() {
    let bands = Bands::new(40, 3).unwrap();
    let banding = Banding::new(bands, 5).unwrap();
    let sketcher = OnePermutation::new(120, 5).unwrap();
    let sketch = |elements: &[u64]| {
        let mut values = vec![0; 120];
        sketcher.sketch(elements, &mut values);
        values
    };
    let a: Vec<u64> = (0..500).collect();
    let b: Vec<u64> = (100..600).collect();
    let (sketch_a, sketch_b) = (sketch(&a), sketch(&b));
    let agree: Vec<bool> =
        sketch_a.chunks(3).zip(sketch_b.chunks(3)).map(|(x, y)| x == y).collect();
    let (keys_a, keys_b) = (keys_of(&banding, &a), keys_of(&banding, &b));
    let share: Vec<bool> = keys_a.iter().zip(&keys_b).map(|(x, y)| x == y).collect();
    assert_eq!(share, agree);
    assert!(agree.contains(&true) && agree.contains(&false));
}

#[test]
fn s4_1_every_band_has_buckets_of_its_own() {
    // One element: the sketch of a single-element set has the same element everywhere, so equal
    // bands would give equal keys were the band's number not part of them.
    let banding = Banding::new(Bands::new(50, 1).unwrap(), 9).unwrap();
    let mut keys = keys_of(&banding, &[42]);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 50);
    // And a key of one band equal to a key of another is no candidate: [1, 2] and [2, 1].
    assert_ne!(partition_of_key(0, 1), partition_of_key(1, 1));
    let buckets_of = |entries: &[(u64, u64)]| {
        let mut found = Vec::new();
        buckets(entries.iter().map(|(key, item)| key << 32 | item).collect(), &mut found);
        each_bucket(&found).map(<[u32]>::to_vec).collect::<Vec<_>>()
    };
    assert_eq!(buckets_of(&[(1, 0), (2, 1), (1, 2), (2, 1), (2, 0)]), [vec![0, 2], vec![0, 1]]);
    assert_eq!(buckets_of(&[(2, 0), (1, 1), (3, 2), (1, 1)]), [[0u32; 0]; 0]);
}

#[test]
fn s4_1_empty_sets_have_no_keys() {
    let banding = Banding::new(Bands::new(10, 2).unwrap(), 1).unwrap();
    assert!(keys_of(&banding, &[]).is_empty());
}

/// Texts of 12 words of which neighbours share most: similarities all over the range.
fn texts() -> Vec<String> {
    let text = |i: usize| {
        (i..i + 12).map(|w| format!("w{}", (w * 7 + i / 40) % 97)).collect::<Vec<_>>().join(" ")
    };
    (0..300).map(text).collect()
}

#[test]
fn s4_4_seven_steps_end_to_end() {
    let texts = texts();
    let shingling = Shingling::words(2);
    let settings = Settings {
        shingling: shingling.clone(),
        threshold: 0.6,
        recall: 1.0 - 1e-9, // 300 texts: a miss in fewer than one seed of a million
        ..Settings::default()
    };
    let similar = Search::new(&settings).pairs(SourceItems::new(&Texts(&texts))).unwrap();
    let mut found = Vec::new();
    similar
        .each(|a, b, similarity| {
            found.push((a, b, similarity));
            Ok(())
        })
        .unwrap();

    let mut sets = Sets::default();
    texts.iter().for_each(|text| sets.push(&shingling.set(text)));
    let verifier = Verifier::new(Measure::Jaccard, Limit::Similarity(0.6)).unwrap();
    let truth: Vec<(u32, u32, f64)> = every_pair(texts.len() as u32)
        .filter_map(|(a, b)| {
            let overlap = verifier.similar(sets.get(a as usize), sets.get(b as usize))?;
            Some((a, b, verifier.value(overlap)))
        })
        .collect();
    assert_eq!(found, truth);
    assert!(found.len() > 300 && found.iter().any(|pair| pair.2 < 1.0));
}

/// What a text's shingles and keys are is part of everything that is stored: a change to these values is
/// a change of format and has to lead the changelog. All were computed by a few lines of Python from their
/// definition.
#[test]
fn stored_values_are_pinned() {
    assert_eq!(hash_bytes(b"nearkin"), PINNED[0]);
    assert_eq!(Shingling::words(2).set("Near kin")[0], PINNED[1]);
    assert_eq!(Shingling::chars(2).set("né")[0], PINNED[2]);
    assert_eq!(hash_bytes(b"a word of more than sixteen bytes"), PINNED[3]);
    let banding = Banding::new(Bands::new(2, 2).unwrap(), 1).unwrap();
    assert_eq!(keys_of(&banding, &[1, 2, 3]), PINNED[4..6]);
    let settings = Settings::default();
    assert_eq!(settings.elements("…!"), PINNED[6..]);
}

const PINNED: [u64; 7] = [
    11620380914531570818,
    9687110408247788681,
    8420813298303956347,
    7915239193426229402,
    68777616055,
    127111392250,
    2254140458909682946,
];
