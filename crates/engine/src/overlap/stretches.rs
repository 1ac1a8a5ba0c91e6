//! The stretches of a training text that stand in one test item.
//!
//! A shared window is N words in a row that stand in both. A stretch is as long as it can be: with one more word on either
//! side it would not stand in the test item. Of these, as few are given as have all shared windows in them: from left to
//! right, the first window that is in no stretch yet gets the one that reaches farthest. In usual texts these are all
//! stretches. In a text that repeats itself they are a few, where all would be as many as words, each nearly as long as the
//! text; so the time is that of looking up each word a few times.

use std::ops::Range;

use super::suffixes::Suffixes;

/// Words of a training text that stand in a test item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Which words of the training text.
    pub(super) words: Range<usize>,
    /// The first of the words of the test item, where these words stand first.
    pub(super) at: usize,
}

/// Where the stretches of a test item are found.
pub(super) trait TestWords {
    /// Its words, in order.
    fn words(&self) -> &[u32];
    /// They sorted, where that is needed.
    fn suffixes(&self) -> &Suffixes;
}

/// The stretches of a training text in one test item, as its windows are met from left to right.
#[derive(Debug, Default)]
pub(super) struct Cover {
    pub(super) stretches: Vec<Stretch>,
}

impl Cover {
    /// Whether the window of `least` words at this place is in the last stretch.
    fn has(&self, window: usize, least: usize) -> bool {
        self.stretches.last().is_some_and(|last| window + least <= last.words.end)
    }

    /// The first word behind all stretches.
    pub(super) fn end(&self) -> usize {
        self.stretches.last().map_or(0, |last| last.words.end)
    }

    /// Takes the window of `least` words at this place, which may or may not be shared. Says whether it is. `at` is its place in
    /// the test item, if it can stand there only once.
    pub(super) fn take(
        &mut self,
        train: &[u32],
        test: &impl TestWords,
        least: usize,
        window: usize,
        at: Option<usize>,
    ) -> bool {
        if self.has(window, least) {
            return true;
        }
        let words = test.words();
        if let Some(at) = at {
            // So does every longer stretch with this window in it.
            let shared = |(a, b): (&u32, &u32)| a == b;
            let behind =
                train[window..].iter().zip(&words[at..]).take_while(|it| shared(*it)).count();
            if behind < least {
                return false;
            }
            let before = train[..window].iter().rev().zip(words[..at].iter().rev());
            let before = before.take_while(|it| shared(*it)).count();
            let stretch = Stretch { words: window - before..window + behind, at: at - before };
            self.stretches.push(stretch);
            return true;
        }
        let suffixes = test.suffixes();
        let end = window + suffixes.longest(words, &train[window..]);
        if end < window + least {
            return false;
        }
        let start = first_start(window, |start| suffixes.contain(words, &train[start..end]));
        let at = suffixes.first(words, &train[start..end]).unwrap_or(0);
        self.stretches.push(Stretch { words: start..end, at });
        true
    }
}

/// The first place from which all places up to `from` are good; `from` is.
fn first_start(from: usize, is_good: impl Fn(usize) -> bool) -> usize {
    let (mut good, mut step) = (from, 1);
    // Most stretches begin where they are met first.
    let bad = loop {
        let Some(next) = good.checked_sub(step) else { break None };
        if !is_good(next) {
            break Some(next);
        }
        good = next;
        step *= 2;
    };
    let (mut low, mut high) = (bad.map_or(0, |bad| bad + 1), good);
    while low < high {
        let middle = (low + high) / 2;
        if is_good(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// How many words ranges in the order of their starts have together.
pub(super) fn covered(ranges: impl Iterator<Item = Range<usize>>) -> usize {
    let mut behind = 0;
    let mut words = 0;
    for range in ranges {
        words += range.end.saturating_sub(range.start.max(behind));
        behind = behind.max(range.end);
    }
    words
}

/// The bytes of a text that are left out with these stretches, given in the order of their starts. Stretches that overlap
/// become one. Where white space is on both sides of a cut, that behind goes with it, or that before if only the one behind has
/// a line end. At the start and at the end of the text all of it goes.
pub(super) fn cuts(text: &str, stretches: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for stretch in stretches {
        match cuts.last_mut() {
            Some(last) if stretch.start <= last.end => last.end = last.end.max(stretch.end),
            _ => cuts.push(stretch),
        }
    }
    let mut behind = 0; // the cut before
    for cut in &mut cuts {
        let (before, rest) = (&text[behind..cut.start], &text[cut.end..]);
        let [start, end] = [before.trim_end().len(), rest.len() - rest.trim_start().len()];
        let has_line_end = |blank: &str| blank.contains('\n');
        if end == rest.len() {
            (cut.start, cut.end) = (behind + start, text.len());
        } else if before.is_empty() {
            cut.end += end;
        } else if start < before.len() && end > 0 {
            match has_line_end(&rest[..end]) && !has_line_end(&before[start..]) {
                true => cut.start = behind + start,
                false => cut.end += end,
            }
        }
        behind = cut.end;
    }
    cuts
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Every stretch that cannot be made longer, by looking at all.
    fn longest_stretches(train: &[u32], test: &[u32], least: usize) -> Vec<Range<usize>> {
        let stands =
            |range: &Range<usize>| test.windows(range.len()).any(|it| *it == train[range.clone()]);
        let mut all = Vec::new();
        for start in 0..train.len() {
            for end in start + least..=train.len() {
                let longer = [start.wrapping_sub(1)..end, start..end + 1];
                let fits = |it: &&Range<usize>| it.start < it.end && it.end <= train.len();
                if stands(&(start..end)) && !longer.iter().filter(fits).any(&stands) {
                    all.push(start..end);
                }
            }
        }
        all
    }

    struct Test<'a>(&'a [u32], Suffixes);

    impl TestWords for Test<'_> {
        fn words(&self) -> &[u32] {
            self.0
        }

        fn suffixes(&self) -> &Suffixes {
            &self.1
        }
    }

    fn as_found(train: &[u32], test: &[u32], least: usize) -> Vec<Stretch> {
        let words = Test(test, Suffixes::of(test));
        let [mut sorted, mut placed] = [Cover::default(), Cover::default()];
        for window in 0..(train.len() + 1).saturating_sub(least) {
            let wanted = &train[window..window + least];
            let mut places = (0..test.len()).filter(|&at| test[at..].starts_with(wanted));
            // A window that is not there may be thought to be at any place.
            let at = match [places.next(), places.next()] {
                [Some(at), None] => Some(at),
                [None, _] => (window % 2 == 0 && !test.is_empty()).then(|| window % test.len()),
                _ => None,
            };
            let is_shared = sorted.take(train, &words, least, window, None);
            assert_eq!(placed.take(train, &words, least, window, at), is_shared);
        }
        assert_eq!(sorted.stretches, placed.stretches);
        sorted.stretches
    }

    /// The model: of all longest stretches, from left to right, the one that has the first window that is in none, and reaches
    /// farthest.
    fn as_defined(train: &[u32], test: &[u32], least: usize) -> Vec<Stretch> {
        let all = longest_stretches(train, test, least);
        let mut chosen: Vec<Range<usize>> = Vec::new();
        for window in 0..(train.len() + 1).saturating_sub(least) {
            let has = |it: &&Range<usize>| it.start <= window && window + least <= it.end;
            if !chosen.iter().any(|it| has(&it)) {
                chosen.extend(all.iter().filter(has).max_by_key(|it| it.end).cloned());
            }
        }
        let at = |it: &Range<usize>| {
            test.windows(it.len()).position(|x| *x == train[it.clone()]).unwrap()
        };
        chosen.into_iter().map(|words| Stretch { at: at(&words), words }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn stretches_are_those_of_the_definition(
            (train, test) in (1u32..5).prop_flat_map(|most| (vec(0..=most, 0..40), vec(0..most, 0..30))),
            least in 1usize..7,
        ) {
            let found = as_found(&train, &test, least);
            prop_assert_eq!(&found, &as_defined(&train, &test, least));
            // Every shared window is in one, and every one is a longest stretch.
            let all = longest_stretches(&train, &test, least);
            prop_assert!(found.iter().all(|it| all.contains(&it.words)));
            for window in all.iter().flat_map(|it| it.start..it.end + 1 - least) {
                prop_assert!(found.iter().any(|it| it.words.start <= window && window + least <= it.words.end));
            }
        }

        /// Passages in a text of other words: all of them are found, each once.
        #[test]
        fn planted_stretches_are_all_found(lengths in vec(3usize..20, 1..6), gap in 1u32..4) {
            let test: Vec<u32> = (0..100).collect();
            let (mut train, mut planted) = (Vec::new(), Vec::new());
            for (i, length) in lengths.into_iter().enumerate() {
                train.extend((0..gap).map(|x| 1000 + x));
                let at = 17 * i;
                planted.push(Stretch { words: train.len()..train.len() + length, at });
                train.extend(&test[at..at + length]);
            }
            prop_assert_eq!(as_found(&train, &test, 3), planted);
        }
    }

    #[test]
    fn a_text_that_repeats_itself_gives_few_stretches() {
        // 501 longest stretches of 500 words each; three have all windows.
        let found = as_found(&[7; 1000], &[7; 500], 13);
        let ranges: Vec<Range<usize>> = found.into_iter().map(|it| it.words).collect();
        assert_eq!(ranges, [0..500, 488..988, 500..1000]);
    }

    #[test]
    fn white_space_around_a_cut_is_not_doubled() {
        let left = |text: &str, stretches: &[(usize, usize)]| {
            let mut out = text.to_owned();
            let stretches = stretches.iter().map(|&(start, end)| start..end);
            for cut in cuts(text, stretches).into_iter().rev() {
                out.replace_range(cut, "");
            }
            out
        };
        for (text, stretches, expected) in [
            ("one two three", &[(4, 7)][..], "one three"),
            ("one (two) three", &[(5, 8)], "one () three"),
            ("one two. three", &[(4, 7)], "one . three"),
            ("one two\n\nthree", &[(4, 7)], "one\n\nthree"),
            ("one\ntwo\nthree", &[(4, 7)], "one\nthree"),
            ("one\n\ntwo three", &[(5, 8)], "one\n\nthree"),
            ("one two", &[(0, 3)], "two"),
            ("one two ", &[(4, 7)], "one"),
            (" one ", &[(1, 4)], ""),
            ("one two three four", &[(0, 7), (4, 13)], "four"),
            ("one two three four", &[(0, 3), (8, 13)], "two four"),
            ("one two three", &[(0, 3), (4, 7)], "three"),
            ("犬走犬", &[(3, 6)], "犬犬"),
        ] {
            assert_eq!(left(text, stretches), expected, "{text:?}");
        }
    }

    #[test]
    fn words_in_two_ranges_count_once() {
        assert_eq!(covered([0..5, 3..7, 4..6, 9..10].into_iter()), 8);
        assert_eq!(covered(std::iter::empty()), 0);
    }
}
