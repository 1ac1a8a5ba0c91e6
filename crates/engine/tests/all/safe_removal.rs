//! An item is removed only if a kept one is similar to it: against comparing everything with everything, by code that
//! shares nothing with the engine.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use nearkin_engine::cluster::{Deduplication, Keep, Linkage};
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::item::Texts;
use nearkin_engine::search::{Search, SourceItems};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::shingle::Shingling;
use nearkin_engine::verify::Measure;

/// Texts of which many are an earlier one with a word more, less or another, and some a part of an earlier one.
fn texts(numbers: &mut SplitMix) -> Vec<String> {
    let mut all: Vec<Vec<u64>> = Vec::new();
    for _ in 0..2 + numbers.below(40) {
        let earlier =
            (!all.is_empty()).then(|| all[numbers.below(all.len() as u64) as usize].clone());
        let words = match (numbers.below(5), earlier) {
            (0, _) | (_, None) => (0..1 + numbers.below(14)).map(|_| numbers.below(60)).collect(),
            (1, Some(earlier)) => earlier[..1 + earlier.len() / 2].to_vec(),
            (_, Some(mut earlier)) => {
                for _ in 0..numbers.below(3) {
                    let at = numbers.below(earlier.len() as u64) as usize;
                    match numbers.below(3) {
                        0 => earlier[at] = numbers.below(60),
                        1 => earlier.push(numbers.below(60)),
                        _ if earlier.len() > 1 => drop(earlier.remove(at)),
                        _ => {}
                    }
                }
                earlier
            }
        };
        all.push(words);
    }
    let text = |words: &Vec<u64>| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>();
    all.iter().map(|words| text(words).join(" ")).collect()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(' ').collect()
}

fn similarity(measure: Measure, a: &BTreeSet<&str>, b: &BTreeSet<&str>) -> f64 {
    let shared = a.intersection(b).count() as f64;
    let (a, b) = (a.len() as f64, b.len() as f64);
    match measure {
        Measure::Dice => 2.0 * shared / (a + b),
        Measure::Cosine => shared / (a * b).sqrt(),
        Measure::Containment => shared / a.min(b),
        Measure::Overlap => shared,
        _ => shared / (a + b - shared),
    }
}

/// For each text the one that stands for it, by going through all in order of preference.
fn expected(texts: &[String], settings: &Settings, keep: &Keep) -> Vec<u32> {
    let sets: Vec<BTreeSet<&str>> = texts.iter().map(|text| words(text)).collect();
    let is_one_sided = matches!(settings.measure, Measure::Containment | Measure::Overlap);
    let mut order: Vec<usize> = (0..texts.len()).collect();
    let size = |item: usize| if is_one_sided { sets[item].len() } else { 0 };
    let length = |item: usize| if *keep == Keep::Longest { texts[item].len() } else { 0 };
    order.sort_by_key(|&item| (Reverse(size(item)), Reverse(length(item)), item));
    let mut kept: Vec<usize> = Vec::new();
    let mut found = vec![0; texts.len()];
    for item in order {
        let is_similar = |other: &&usize| {
            similarity(settings.measure, &sets[item], &sets[**other]) >= settings.threshold
        };
        found[item] = kept.iter().find(is_similar).copied().unwrap_or(item) as u32;
        if found[item] as usize == item {
            kept.push(item);
        }
    }
    found
}

fn dedup(texts: &[String], settings: &Settings, keep: &Keep) -> Deduplication {
    let texts = Texts(texts);
    Search::new(settings).dedup(SourceItems::new(&texts), keep, Linkage::default()).unwrap()
}

fn kept_of(result: &Deduplication) -> Vec<u32> {
    result.clusters().map(|cluster| cluster.unwrap().0).collect()
}

const MEASURES: [(Measure, f64); 5] = [
    (Measure::Jaccard, 0.6),
    (Measure::Dice, 0.7),
    (Measure::Cosine, 0.75),
    (Measure::Containment, 0.8),
    (Measure::Overlap, 4.0),
];

#[test]
fn exact_runs_keep_what_comparing_everything_keeps() {
    let (mut removed, mut chained) = (0, 0);
    for seed in 0..200u64 {
        let texts = texts(&mut SplitMix::new(seed));
        let (measure, threshold) = MEASURES[seed as usize % MEASURES.len()];
        let keep = if seed % 2 == 0 { Keep::First } else { Keep::Longest };
        let exact = Settings {
            measure,
            threshold,
            shingling: Shingling::words(1),
            strategy: Strategy::Exact,
            ..Settings::default()
        };
        let expected = expected(&texts, &exact, &keep);
        for (threads, memory) in [(1, usize::MAX), (2, 0), (8, 100_000)] {
            let result = dedup(&texts, &Settings { threads, memory, ..exact.clone() }, &keep);
            assert_eq!(
                kept_of(&result),
                expected,
                "{seed} {measure:?} {threads} {memory}: {texts:#?}"
            );
            let lowest = result.clusters().flatten().zip(0u32..).filter(|((to, _), at)| to != at);
            let lowest = lowest.map(|((_, value), _)| value).min_by(f64::total_cmp);
            assert_eq!(result.stats.least_close, lowest);
            assert!(lowest.is_none_or(|lowest| lowest >= threshold), "{seed}: {lowest:?}");
            assert_eq!(result.stats.unlike, Some(0));
        }
        removed += expected.iter().zip(0u32..).filter(|(to, at)| *to != at).count();
        let by_chains = Search::new(&exact)
            .dedup(SourceItems::new(&Texts(&texts)), &keep, Linkage::Chains)
            .unwrap();
        chained += by_chains.stats.unlike.unwrap();
    }
    assert!(removed > 1000 && chained > 100, "or this test shows nothing: {removed}, {chained}");
}

#[test]
fn runs_by_bands_remove_only_what_a_kept_text_resembles() {
    for seed in 200..300u64 {
        let texts = texts(&mut SplitMix::new(seed));
        let settings = Settings {
            threshold: 0.6,
            shingling: Shingling::words(1),
            strategy: Strategy::Approximate,
            recall: 0.9,
            ..Settings::default()
        };
        let kept = kept_of(&dedup(&texts, &settings, &Keep::First));
        for (item, &to) in kept.iter().enumerate() {
            assert_eq!(kept[to as usize], to, "{seed}: what stands for others is kept");
            let (a, b) = (words(&texts[item]), words(&texts[to as usize]));
            assert!(similarity(Measure::Jaccard, &a, &b) >= 0.6, "{seed}: {item} for {to}");
        }
        for (threads, memory) in [(2, 0), (8, 100_000)] {
            let same =
                dedup(&texts, &Settings { threads, memory, ..settings.clone() }, &Keep::First);
            assert_eq!(kept_of(&same), kept, "{seed} {threads} {memory}");
        }
    }
}

/// Each text is the one before with one word in forty changed: nearly all are one component, and hundreds are kept of it.
#[test]
fn of_a_long_chain_every_removed_text_has_a_kept_one() {
    let mut numbers = SplitMix::new(7);
    let mut words: Vec<u64> = (0..40).map(|_| numbers.below(5000)).collect();
    let mut texts = Vec::new();
    for _ in 0..2500 {
        words[numbers.below(40) as usize] = numbers.below(5000);
        texts.push(words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" "));
    }
    for strategy in [Strategy::Exact, Strategy::Approximate] {
        let settings = Settings {
            shingling: Shingling::words(1),
            strategy,
            recall: 0.999_999,
            ..Settings::default()
        };
        let expected = expected(&texts, &settings, &Keep::First);
        let kept = expected.iter().zip(0u32..).filter(|(to, at)| *to == at).count();
        assert!(kept > 300, "indexes of kept texts are merged, or this test shows nothing: {kept}");
        for (threads, memory) in [(1, usize::MAX), (2, 0), (8, 1_000_000)] {
            let result =
                dedup(&texts, &Settings { threads, memory, ..settings.clone() }, &Keep::First);
            assert_eq!(kept_of(&result), expected, "{threads} threads, {memory} bytes");
        }
    }
}

#[test]
fn two_long_texts_that_contain_the_same_short_one_are_both_kept() {
    let long = |name: &str| (0..50).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(" ");
    let short = "a short text that stands in both";
    let texts =
        [short.to_owned(), format!("{} {short}", long("x")), format!("{short} {}", long("y"))];
    let settings = Settings {
        measure: Measure::Containment,
        threshold: 0.9,
        shingling: Shingling::words(1),
        ..Settings::default()
    };
    assert_eq!(kept_of(&dedup(&texts, &settings, &Keep::First)), [1, 1, 2]);
    // What they share is counted, so the two long ones are similar too; the larger one stays.
    let shared = Settings { measure: Measure::Overlap, threshold: 5.0, ..settings };
    let texts = [&texts[0], &texts[1], &format!("{} and more", texts[2])].map(String::clone);
    assert_eq!(kept_of(&dedup(&texts, &shared, &Keep::First)), [2, 2, 2]);
}

#[test]
fn a_hundred_thousand_near_copies_take_one_comparison_each() {
    let near_copy = |at: u64| {
        let mut words: Vec<u64> = (0..60).collect();
        words[at as usize % 60] = 60 + at;
        words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..100_000).map(near_copy).collect();
    let settings = Settings { shingling: Shingling::words(1), ..Settings::default() };
    let result = dedup(&texts, &settings, &Keep::First);
    assert_eq!((result.stats.kept, result.stats.unlike), (Some(1), Some(0)));
    // Two share 58 of 62 words, or 59 of 61 where they differ in the same place.
    assert_eq!(result.stats.least_close, Some(58.0 / 62.0));
    assert!(result.stats.verified < 1_000_000, "{}", result.stats.verified);
}
