//! Training texts and test items, one per line, against every window of every text.

use std::collections::BTreeSet;

use nearkin_engine::item::Texts;
use nearkin_engine::observe::NoObserver;
use nearkin_engine::overlap::{OverlapSettings, TestItems, find};
use nearkin_engine::shingle::Shingling;

use super::choices;

/// More texts only take time.
const MOST: usize = 40;

/// A text overlaps with the test items with which it shares a window, and stretches are the same words.
pub(crate) fn overlap(data: &[u8]) {
    let ([flags], data) = choices(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Whether a sigma ends a word can depend on what stands around a stretch.
    if text.contains('Σ') {
        return;
    }
    let (train, tests) = text.split_once('\u{1}').unwrap_or((text, text));
    let [train, tests] = [train, tests].map(|side| side.lines().take(MOST).collect::<Vec<&str>>());
    let words = usize::from(flags & 3) + 1;
    let settings = OverlapSettings {
        words,
        share: (flags & 4 > 0).then_some(0.5),
        most_tests: MOST,
        threads: 1,
        memory: 64 << 20,
        temp: None,
    };
    let items = TestItems::read(&Texts(&tests), &settings, &NoObserver).expect("texts");
    let found = find(&Texts(&train), items, &settings, &NoObserver).expect("texts");
    let mut told = BTreeSet::new();
    let one_by_one = |text: &str| {
        let mut hashes = Vec::new();
        Shingling::words(1).shingle(text, &mut Default::default(), &mut hashes);
        hashes
    };
    let all = found.each(|overlap| {
        let text = train[overlap.position as usize];
        for stretch in &overlap.stretches {
            let slice = |text: &str, range: &std::ops::Range<u64>| {
                text[range.start as usize..range.end as usize].to_owned()
            };
            let passage = slice(text, &stretch.train);
            assert_eq!(passage, *stretch.passage);
            let hashes = one_by_one(&passage);
            assert_eq!(
                hashes,
                one_by_one(&slice(tests[stretch.test], &stretch.place)),
                "{passage:?}"
            );
            assert!(hashes.len() >= words && hashes.len() as u64 == stretch.words);
            told.insert((overlap.position as usize, stretch.test));
        }
        Ok(())
    });
    all.expect("texts in memory");
    assert_eq!(told, shared(&train, &tests, words, settings.share), "{train:?} {tests:?}");
}

/// The training texts and test items that overlap.
fn shared(
    train: &[&str],
    tests: &[&str],
    words: usize,
    share: Option<f64>,
) -> BTreeSet<(usize, usize)> {
    let windows = |text: &&str| -> BTreeSet<u64> {
        let is_short = Shingling::words(1).bag(text).len() < words;
        if is_short {
            BTreeSet::new()
        } else {
            Shingling::words(words).set(text).into_iter().collect()
        }
    };
    let [train, tests] = [train, tests].map(|side| side.iter().map(windows).collect::<Vec<_>>());
    let mut pairs = BTreeSet::new();
    for (at, text) in train.iter().enumerate() {
        for (other, test) in tests.iter().enumerate() {
            let both = text.intersection(test).count();
            let least = share.map_or(1.0, |share| (share * test.len() as f64).max(1.0));
            pairs.extend((both as f64 >= least).then_some((at, other)));
        }
    }
    pairs
}
