//! Passages that two texts share, wherever they stand in each.
//!
//! Two texts come in, and pairs of stretches go out, one of each text, that are the same word by word but for small
//! gaps. What was moved is found like what stayed: nothing depends on the order of passages. Every word of
//! either text stands in one passage at most, and of the words that are left no `least` in a row are the same.
//!
//! It is greedy tiling (M. J. Wise, *String similarity via greedy string tiling and running Karp–Rabin matching*, 1993)
//! that goes down by halves instead of word by word: first runs of at least n words are taken, then of n / 2, and so on to
//! `least`. A run is found by the hash of its first words, grows in both directions as far as words are the same, and then
//! across gaps. Every round looks at every word that is left once, and what is compared beyond that is taken and never seen
//! again. So the time is that of about log₂ n readings of the texts, however often a phrase is repeated in them.
//!
//! Taking the longest shared run again and again is quadratic and worse. Halving covers at least 98 % of what the
//! longest first would cover.

mod words;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use crate::family::hash::ElementHasher;

pub use words::Words;

/// The words of one text that a gap may have. It is bridged where at least as many words after it are the same again, and
/// two in any case.
const WIDEST_GAP: isize = 6;
const FEWEST_AFTER_GAP: isize = 2;

/// Words that are the same in both texts, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The number of the first word in either text, from 0.
    pub at: [usize; 2],
    /// How many words.
    pub words: usize,
}

/// A stretch of either text: runs of words that are the same, with others between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    runs: Vec<Run>,
}

impl Passage {
    /// What is the same in both, in its order; there is at least one run.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// How many words are the same in both.
    pub fn words(&self) -> usize {
        self.runs.iter().map(|run| run.words).sum()
    }

    /// Which words of either text it has.
    pub fn spans(&self) -> [Range<usize>; 2] {
        let (first, last) = (self.runs[0], self.runs[self.runs.len() - 1]);
        [0, 1].map(|side| first.at[side]..last.at[side] + last.words)
    }

    /// What differs: the words between one run and the next.
    pub fn gaps(&self) -> impl Iterator<Item = [Range<usize>; 2]> {
        let gap = |runs: &[Run]| [0, 1].map(|x| runs[0].at[x] + runs[0].words..runs[1].at[x]);
        self.runs.windows(2).map(gap)
    }
}

/// The passages of two texts that have a run of at least `least` words, those with most words first. A text of fewer
/// words counts as a whole.
pub fn find(a: &Words<'_>, b: &Words<'_>, least: usize) -> Vec<Passage> {
    let least = least.min(a.len()).min(b.len()).max(1);
    let mut search = PassageSearch::new([a.hashes(), b.hashes()], least);
    let mut passages = Vec::new();
    let mut length = search.longest_possible();
    while length > least {
        search.take(length, length.div_ceil(4), &mut passages);
        length /= 2;
    }
    search.take(least, 1, &mut passages);
    passages.sort_by_key(|passage| (Reverse(passage.words()), passage.runs[0].at));
    passages
}

/// Where a number of words stands, by their hash.
type Places = HashMap<u64, usize, BuildHasherDefault<ElementHasher>>;

/// What is left of two texts.
struct PassageSearch<'a> {
    words: [&'a [u64]; 2],
    least: usize,
    /// Whether a word starts `least` words that are left, and that the other text has as well.
    open: [Vec<bool>; 2],
    taken: [Vec<bool>; 2],
    /// How many words of either text may be skipped, in the order in which it is tried.
    skips: Vec<[isize; 2]>,
}

impl<'a> PassageSearch<'a> {
    fn new(words: [&'a [u64]; 2], least: usize) -> Self {
        let of_b: HashSet<u64, BuildHasherDefault<ElementHasher>> =
            hashes(words[1], least).collect();
        let shared: HashSet<u64, BuildHasherDefault<ElementHasher>> =
            hashes(words[0], least).filter(|hash| of_b.contains(hash)).collect();
        let open = words.map(|words| hashes(words, least).map(|x| shared.contains(&x)).collect());
        let each = 0..=WIDEST_GAP;
        let mut skips: Vec<[isize; 2]> =
            each.clone().flat_map(|x| each.clone().map(move |y| [x, y])).collect();
        skips.retain(|&skip| skip != [0, 0]);
        skips.sort_by_key(|&[x, y]| (x + y, x.abs_diff(y), x));
        Self { words, least, open, taken: words.map(|words| vec![false; words.len()]), skips }
    }

    /// No run of words that are the same can be longer.
    fn longest_possible(&self) -> usize {
        let longest = [0, 1].map(|side| {
            self.stretches(side, self.least).iter().map(Range::len).max().unwrap_or_default()
        });
        longest[0].min(longest[1])
    }

    /// Words that are left, at least `length` in a row, all of which might be in a run.
    fn stretches(&self, side: usize, length: usize) -> Vec<Range<usize>> {
        let mut stretches = Vec::new();
        let mut start = 0;
        for chunk in self.open[side].chunk_by(|x, y| x == y) {
            let words = start..start + chunk.len() + self.least - 1;
            if chunk[0] && words.len() >= length {
                stretches.push(words);
            }
            start += chunk.len();
        }
        stretches
    }

    /// Takes passages with a run of `length` words, from left to right in the first text; of the second only every
    /// `step`-th place is looked at, so that with a step of 1 all of them are found.
    fn take(&mut self, length: usize, step: usize, passages: &mut Vec<Passage>) {
        const NONE: usize = usize::MAX;
        let [a, b] = self.words;
        let mut places: Vec<(usize, u64)> = Vec::new();
        for stretch in self.stretches(1, length) {
            let hashes = hashes(&b[stretch.clone()], length);
            places.extend((stretch.start..).zip(hashes).step_by(step));
        }
        // Places with the same words, one leading to the next.
        let mut first = Places::default();
        let mut next = vec![NONE; places.len()];
        for (place, &(_, hash)) in places.iter().enumerate().rev() {
            next[place] = first.insert(hash, place).unwrap_or(NONE);
        }
        for stretch in self.stretches(0, length) {
            for (at, hash) in (stretch.start..).zip(hashes(&a[stretch], length)) {
                if self.is_taken(0, at, length) {
                    continue;
                }
                let Some(place) = first.get_mut(&hash) else { continue };
                while *place != NONE && self.is_taken(1, places[*place].0, length) {
                    *place = next[*place];
                }
                if *place == NONE {
                    continue;
                }
                let start = [at, places[*place].0];
                if a[start[0]..][..length] == b[start[1]..][..length] {
                    passages.push(self.grow(start.map(|at| at as isize)));
                }
            }
        }
    }

    /// Whether a word of these was taken in this round. Looking at both ends is enough, because no fewer words are taken at once.
    fn is_taken(&self, side: usize, at: usize, length: usize) -> bool {
        self.taken[side][at] || self.taken[side][at + length - 1]
    }

    /// Takes the passage around words that are the same.
    fn grow(&mut self, at: [isize; 2]) -> Passage {
        let back = self.run(moved(at, -1), -1, isize::MAX);
        let start = moved(at, -back);
        let words = back + self.run(at, 1, isize::MAX);
        let mut runs = self.runs_beyond(moved(start, -1), -1);
        runs.reverse();
        runs.push(run_at(start, words));
        runs.extend(self.runs_beyond(moved(start, words), 1));
        let passage = Passage { runs };
        for (side, span) in passage.spans().into_iter().enumerate() {
            let open = &mut self.open[side];
            let last = span.end.min(open.len());
            open[span.start.saturating_sub(self.least - 1).min(last)..last].fill(false);
            self.taken[side][span].fill(true);
        }
        passage
    }

    /// The runs that follow in this direction, each behind a gap.
    fn runs_beyond(&self, mut at: [isize; 2], step: isize) -> Vec<Run> {
        let mut runs = Vec::new();
        while let Some(from) = self.behind_gap(at, step) {
            let words = self.run(from, step, isize::MAX);
            let last = moved(from, step * (words - 1));
            runs.push(run_at(if step > 0 { from } else { last }, words));
            at = moved(last, step);
        }
        runs
    }

    /// Where words are the same again, behind the smallest gap.
    fn behind_gap(&self, at: [isize; 2], step: isize) -> Option<[isize; 2]> {
        let left = [0, 1].map(|side| {
            let skipped =
                (0..WIDEST_GAP).take_while(|i| self.word(side, at[side] + step * i).is_some());
            skipped.count() as isize
        });
        let possible = self.skips.iter().filter(|skip| skip[0] <= left[0] && skip[1] <= left[1]);
        let mut behind = possible.map(|&[x, y]| ([at[0] + step * x, at[1] + step * y], x.max(y)));
        behind
            .find(|&(there, widest)| {
                let enough = widest.max(FEWEST_AFTER_GAP);
                self.run(there, step, enough) == enough
            })
            .map(|(there, _)| there)
    }

    /// How many words are the same from here on in this direction, counted up to `most`.
    fn run(&self, at: [isize; 2], step: isize, most: isize) -> isize {
        let mut words = 0;
        while words < most {
            let [x, y] = [0, 1].map(|side| self.word(side, at[side] + step * words));
            if x.is_none() || x != y {
                break;
            }
            words += 1;
        }
        words
    }

    /// A word that is left.
    fn word(&self, side: usize, at: isize) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let word = *self.words[side].get(at)?;
        (!self.taken[side][at]).then_some(word)
    }
}

fn moved(at: [isize; 2], by: isize) -> [isize; 2] {
    at.map(|at| at + by)
}

fn run_at(at: [isize; 2], words: isize) -> Run {
    Run { at: at.map(|at| at as usize), words: words as usize }
}

/// A hash of every `length` words in a row: Σ wᵢ mⁿ⁻ⁱ, which a step to the right changes by two products.
fn hashes(words: &[u64], length: usize) -> impl Iterator<Item = u64> {
    const M: u64 = 0x9e37_79b9_7f4a_7c15;
    let leaving = (0..length).fold(1u64, |power, _| power.wrapping_mul(M));
    let mut hash = 0u64;
    words.iter().enumerate().filter_map(move |(i, &word)| {
        hash = hash.wrapping_mul(M).wrapping_add(word);
        if i >= length {
            hash = hash.wrapping_sub(words[i - length].wrapping_mul(leaving));
        }
        (i + 1 >= length).then_some(hash)
    })
}
