//! One training text against all test items.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::store::{SharedStretch, TrainOverlap};
use super::stretches::{Cover, Stretch, covered, cuts};
use super::test_items::TestItems;
use super::windows::{WindowEntry, Windows, joined};
use super::{OverlapSettings, SharedBits};
use crate::item::Id;
use crate::shingle::{Scratch, TextWords, default_key, word_windows};

/// What a text is looked up in.
pub(super) struct TextSearch<'a> {
    tests: &'a TestItems,
    windows: Windows,
    settings: &'a OverlapSettings,
    /// Of stretches, which were found in a text; with a share, of test items.
    seen: SharedBits,
    /// With a share, how many distinct stretches each test item has.
    distinct: Vec<u32>,
}

/// Buffers that a thread keeps from text to text.
#[derive(Default)]
pub(super) struct TextBuffers {
    scratch: Scratch,
    hashes: Vec<u64>,
    room: Vec<u64>,
    words: TextWords,
    numbers: Vec<u32>,
    found: Vec<(usize, usize)>,
}

/// What there is to say of a text.
#[derive(Debug, Default)]
pub(super) struct TextFinding {
    /// Whether it has fewer words than a stretch.
    pub(super) is_short: bool,
    /// Whether one of its stretches stands in more test items than are named.
    pub(super) is_crowded: bool,
    /// Without its place in the collection.
    pub(super) overlap: Option<TrainOverlap>,
}

/// A test item with which a text overlaps.
struct TestOverlap {
    test: usize,
    share: Option<(u64, u64)>,
    stretches: Vec<Stretch>,
}

impl TestOverlap {
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.stretches.iter().map(|stretch| stretch.words.clone())
    }
}

impl<'a> TextSearch<'a> {
    pub(super) fn new(tests: &'a mut TestItems, settings: &'a OverlapSettings) -> Self {
        let mut entries = all_windows(tests, settings.words);
        entries.par_sort_unstable();
        joined(&mut entries);
        let windows = entries.chunk_by(|a, b| a.0 == b.0).count();
        tests.counts.windows = windows as u64;
        let tests = &*tests;
        let (entries, distinct, most) = match settings.share {
            None => (entries, Vec::new(), settings.most_tests),
            Some(share) => {
                let (rare, distinct) = rarest(entries, tests.len(), share);
                (rare, distinct, usize::MAX)
            }
        };
        let windows = Windows::new(entries, most);
        let seen = match settings.share {
            None => windows.len(),
            Some(_) => tests.len(),
        };
        Self { tests, windows, settings, seen: SharedBits::new(seen), distinct }
    }

    /// Looks at one text.
    pub(super) fn find(&self, text: &str, buffers: &mut TextBuffers) -> TextFinding {
        let TextBuffers { scratch, hashes, room, words, .. } = buffers;
        let count = word_windows(text, self.settings.words, default_key(), scratch, hashes);
        let is_short = count < self.settings.words;
        if !self.windows.have_any(hashes, room) {
            return TextFinding { is_short, ..TextFinding::default() };
        }
        words.take_places(text);
        let (overlaps, is_crowded) = match self.settings.share {
            None => self.by_stretches(buffers),
            Some(_) => (self.by_shares(buffers), false),
        };
        let overlap =
            (!overlaps.is_empty()).then(|| self.told(text, &buffers.words, count, overlaps));
        TextFinding { is_short: false, is_crowded, overlap }
    }

    /// The test items that share a stretch, and whether a stretch has more of them.
    fn by_stretches(&self, buffers: &mut TextBuffers) -> (Vec<TestOverlap>, bool) {
        let TextBuffers { hashes, words, numbers, found, .. } = buffers;
        let least = self.settings.words;
        let places = hashes.iter().enumerate().filter(|(_, hash)| self.windows.may_have(**hash));
        found.clear();
        found.extend(places.filter_map(|(place, &hash)| Some((place, self.windows.find(hash)?))));
        // A stretch has no words beyond those of windows that are found, one after the other.
        let runs = found.chunk_by(|a, b| a.0 + 1 == b.0);
        let ranges = runs.map(|run| run[0].0..run[run.len() - 1].0 + least);
        self.tests.numbers(words, ranges, numbers);
        let mut covers: BTreeMap<usize, Cover> = BTreeMap::new();
        let mut is_crowded = false;
        // The test items of the window before, and where the first of their stretches ends.
        let (mut before, mut until): (&[u32], usize) = (&[], 0);
        for &(place, window) in found.iter() {
            is_crowded |= self.windows.is_crowded(window);
            let tests = self.windows.tests(window);
            // Most windows have the same test items as the one before, and are in the same stretches.
            let mut is_shared = place + least <= until && tests == before;
            if !is_shared {
                (before, until) = (tests, usize::MAX);
                for (test, at) in self.windows.places(window) {
                    let cover = covers.entry(test).or_default();
                    let item = self.tests.item(test);
                    is_shared |= cover.take(numbers, &item, least, place, at);
                    until = until.min(cover.end());
                }
            }
            if is_shared {
                self.seen.set(window);
            }
        }
        let told = |(test, Cover { stretches })| TestOverlap { test, share: None, stretches };
        let overlaps = covers.into_iter().filter(|(_, cover)| !cover.stretches.is_empty());
        let overlaps = overlaps.map(told).collect();
        (overlaps, is_crowded)
    }

    /// The test items of which the text has the share that was asked for.
    fn by_shares(&self, buffers: &mut TextBuffers) -> Vec<TestOverlap> {
        let TextBuffers { hashes, words, numbers, .. } = buffers;
        let share = self.settings.share.unwrap_or(1.0);
        let mut tests: Vec<u32> = Vec::new();
        for &hash in hashes.iter().filter(|hash| self.windows.may_have(**hash)) {
            let window = self.windows.find(hash);
            tests.extend(window.map_or(&[][..], |window| self.windows.tests(window)));
        }
        tests.sort_unstable();
        tests.dedup();
        if tests.is_empty() {
            return Vec::new();
        }
        self.tests.numbers(words, std::iter::once(0..words.places().len()), numbers);
        let mut places: Vec<(u64, u32)> = hashes.iter().copied().zip(0u32..).collect();
        places.sort_unstable();
        let (mut overlaps, mut windows) = (Vec::new(), Vec::new());
        for test in tests.into_iter().map(|test| test as usize) {
            self.tests.window_hashes(test, self.settings.words, &mut windows);
            windows.sort_unstable();
            windows.dedup();
            let mut starts = Vec::new();
            let mut have = 0;
            for hash in &windows {
                let first = places.partition_point(|place| place.0 < *hash);
                let same = places[first..].iter().take_while(|place| place.0 == *hash);
                let before = starts.len();
                starts.extend(same.map(|place| place.1 as usize));
                have += u64::from(starts.len() > before);
            }
            let all = u64::from(self.distinct[test]);
            if have < needed(share, all) {
                continue;
            }
            starts.sort_unstable();
            let (item, mut cover) = (self.tests.item(test), Cover::default());
            for start in starts {
                cover.take(numbers, &item, self.settings.words, start, None);
            }
            self.seen.set(test);
            let stretches = cover.stretches;
            overlaps.push(TestOverlap { test, share: Some((have, all)), stretches });
        }
        overlaps
    }

    /// What was found in a text of so many words, with the bytes of texts in the place of words.
    fn told(
        &self,
        text: &str,
        words: &TextWords,
        count: usize,
        overlaps: Vec<TestOverlap>,
    ) -> TrainOverlap {
        let mut all: Vec<Range<usize>> = overlaps.iter().flat_map(TestOverlap::ranges).collect();
        all.sort_unstable_by_key(|range| (range.start, range.end));
        all.dedup();
        let passages: Vec<Arc<str>> =
            all.iter().map(|range| text[words.span(range.clone())].into()).collect();
        let passage = |range: &Range<usize>| {
            let at = all.binary_search_by_key(&(range.start, range.end), |it| (it.start, it.end));
            at.map_or_else(|_| Arc::default(), |at| Arc::clone(&passages[at]))
        };
        let shared = |it: &TestOverlap| covered(it.ranges()) as u64;
        let most = overlaps.iter().map(|it| (it.test, shared(it)));
        // The first of several with as many.
        let most = most.rev().max_by_key(|most| most.1).unwrap_or_default();
        let bytes = |range: Range<usize>| range.start as u64..range.end as u64;
        let row = |overlap: &TestOverlap, stretch: &Stretch| {
            let (at, length) = (stretch.at, stretch.words.len());
            SharedStretch {
                test: overlap.test,
                share: overlap.share,
                words: length as u64,
                passage: passage(&stretch.words),
                train: bytes(words.span(stretch.words.clone())),
                place: bytes(self.tests.span(overlap.test, at..at + length)),
            }
        };
        let stretches =
            overlaps.iter().flat_map(|it| it.stretches.iter().map(|x| row(it, x))).collect();
        let spans = all.iter().map(|range| words.span(range.clone()));
        let cuts = cuts(text, spans).into_iter().map(bytes).collect();
        TrainOverlap {
            position: 0,
            id: Id::Int(0),
            file: 0,
            line: 0,
            words: count as u64,
            shared: covered(all.iter().cloned()) as u64,
            most,
            cuts,
            stretches,
        }
    }

    /// How many test items a text overlaps with.
    pub(super) fn tests_found(&self) -> u64 {
        if self.settings.share.is_some() || self.seen.count() == 0 {
            return self.seen.count();
        }
        let mut hashes = Vec::new();
        let is_found = |test: &usize| {
            self.tests.window_hashes(*test, self.settings.words, &mut hashes);
            hashes.iter().any(|&hash| self.windows.find(hash).is_some_and(|it| self.seen.get(it)))
        };
        (0..self.tests.len()).filter(is_found).count() as u64
    }
}

/// The stretches of all test items, by their hashes.
fn all_windows(tests: &TestItems, least: usize) -> Vec<WindowEntry> {
    let (mut entries, mut hashes) = (Vec::new(), Vec::new());
    for test in 0..tests.len() {
        tests.window_hashes(test, least, &mut hashes);
        entries.extend((0..).zip(&hashes).map(|(at, &hash)| (hash, test as u32, at)));
    }
    entries
}

/// How many of all stretches are this share of them, one at least.
fn needed(share: f64, all: u64) -> u64 {
    // A share such as 0.1 is a little more than a tenth.
    ((share * all as f64 - 1e-9).ceil() as u64).clamp(1, all.max(1))
}

/// The rarest stretches of each test item, so many that a text which has the share of all has one of them; and how many
/// distinct ones each item has. `entries` are sorted and distinct.
fn rarest(entries: Vec<WindowEntry>, tests: usize, share: f64) -> (Vec<WindowEntry>, Vec<u32>) {
    let mut distinct = vec![0u32; tests];
    let mut by_item: BTreeMap<u32, Vec<(u32, u64, u32)>> = BTreeMap::new();
    for window in entries.chunk_by(|a, b| a.0 == b.0) {
        for &(hash, test, at) in window {
            distinct[test as usize] += 1;
            by_item.entry(test).or_default().push((window.len() as u32, hash, at));
        }
    }
    drop(entries);
    let mut rare = Vec::new();
    for (test, mut windows) in by_item {
        windows.sort_unstable();
        let all = windows.len() as u64;
        let few = all + 1 - needed(share, all);
        rare.extend(windows.iter().take(few as usize).map(|window| (window.1, test, window.2)));
    }
    rare.sort_unstable();
    (rare, distinct)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up() {
        for (share, all, expected) in
            [(0.8, 10, 8), (0.8, 11, 9), (0.1, 10, 1), (0.3, 10, 3), (1.0, 7, 7), (1e-6, 5, 1)]
        {
            assert_eq!(needed(share, all), expected, "{share} of {all}");
        }
    }

    #[test]
    fn the_rarest_stretches_of_an_item_are_looked_for() {
        // Three items with the stretch 9; item 0 has 1, 2 and 9, of which it needs two.
        let entries = vec![(1, 0, 4), (2, 0, 5), (9, 0, 6), (9, 1, 0), (9, 2, 0)];
        let (rare, distinct) = rarest(entries, 4, 0.6);
        assert_eq!(rare, [(1, 0, 4), (2, 0, 5), (9, 1, 0), (9, 2, 0)]);
        assert_eq!(distinct, [3, 1, 1, 0]);
    }
}
