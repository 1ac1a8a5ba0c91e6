//! The overlapping training texts, in their order, as bytes: what is too much for memory goes to a temporary file.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::Result;
use crate::item::Id;
use crate::spill::{Cache, Lists, Temp};

/// A training text that overlaps with test items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainOverlap {
    /// Its position over all inputs, from 0.
    pub position: u64,
    /// Its id: the user's, else its position.
    pub id: Id,
    /// The file it comes from, by its number in [`Overlaps::files`](super::Overlaps::files).
    pub file: usize,
    /// Its line or row there, from 1.
    pub line: u64,
    /// How many words it has.
    pub words: u64,
    /// How many of them stand in stretches.
    pub shared: u64,
    /// The test item with which it shares most words, by its number, and how many these are.
    pub most: (usize, u64),
    /// Which bytes of the text are left out where stretches are cut: in order and apart from each other.
    pub cuts: Vec<Range<u64>>,
    /// The stretches, by test item and then by their place in the text.
    pub stretches: Vec<SharedStretch>,
}

/// Words that stand in a training text and in a test item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedStretch {
    /// The test item, by its number.
    pub test: usize,
    /// How many of the test item's distinct stretches of N words the text has, and how many there are; where the share
    /// decides.
    pub share: Option<(u64, u64)>,
    /// How many words.
    pub words: u64,
    /// Which bytes of the training text.
    pub train: Range<u64>,
    /// Which bytes of the test item, where they stand there first.
    pub place: Range<u64>,
    /// The words as the training text has them.
    pub passage: Arc<str>,
}

/// Overlapping texts as they are found, to be taken out again in their order.
#[derive(Debug)]
pub(super) struct Store {
    lists: Lists<u8>,
    pub(super) files: Vec<PathBuf>,
}

impl Store {
    pub(super) fn new(limit: usize, temp: &Temp) -> Self {
        Self { lists: Lists::new(limit, temp), files: Vec::new() }
    }

    pub(super) fn push(&mut self, overlap: &TrainOverlap) -> Result<()> {
        self.lists.push(&[&encoded(overlap)])
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }

    /// Hands out some of them, in order.
    pub(super) fn some(
        &self,
        range: Range<usize>,
        mut take: impl FnMut(TrainOverlap) -> Result<()>,
    ) -> Result<()> {
        let mut cache = Cache::one();
        for number in range {
            take(decoded(self.lists.get(number, &mut cache)?))?;
        }
        Ok(())
    }

    /// Hands out all of them, in order.
    pub(super) fn each(&self, take: impl FnMut(TrainOverlap) -> Result<()>) -> Result<()> {
        self.some(0..self.len(), take)
    }
}

/// Appends a number: seven bits in each byte, the lowest first, and one that says whether more follow.
fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    put(text.len() as u64, out);
    out.extend(text.as_bytes());
}

/// An overlap as bytes. Stretches of several test items are often the same words, so each passage is there once.
fn encoded(overlap: &TrainOverlap) -> Vec<u8> {
    let TrainOverlap { position, id, file, line, words, shared, most, cuts, stretches } = overlap;
    let mut out = Vec::with_capacity(64 + 16 * stretches.len());
    let numbers = [*position, *file as u64, *line, *words, *shared, most.0 as u64, most.1];
    numbers.into_iter().for_each(|number| put(number, &mut out));
    match id {
        Id::Int(number) => {
            put(0, &mut out);
            put(*number as u64, &mut out);
        }
        Id::Text(text) => {
            put(1, &mut out);
            put_text(text, &mut out);
        }
    }
    put(cuts.len() as u64, &mut out);
    cuts.iter().flat_map(|cut| [cut.start, cut.end]).for_each(|number| put(number, &mut out));
    let key = |it: &SharedStretch| (it.train.start, it.train.end);
    let mut passages: Vec<&SharedStretch> = stretches.iter().collect();
    passages.sort_unstable_by_key(|it| key(it));
    passages.dedup_by_key(|it| key(it));
    put(passages.len() as u64, &mut out);
    for passage in &passages {
        put(passage.train.start, &mut out);
        put_text(&passage.passage, &mut out);
    }
    put(stretches.len() as u64, &mut out);
    for stretch in stretches {
        let SharedStretch { test, share, words, place, .. } = stretch;
        let (have, all) = share.unwrap_or((0, 0));
        let at = passages.binary_search_by_key(&key(stretch), |it| key(it)).unwrap_or(0);
        let numbers = [at as u64, *test as u64, have, all, *words, place.start];
        numbers.into_iter().for_each(|number| put(number, &mut out));
        put(place.end - place.start, &mut out);
    }
    out
}

/// Bytes as they are read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let Some((&byte, rest)) = self.0.split_first() else { break };
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn text(&mut self) -> Arc<str> {
        let length = (self.number() as usize).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into()
    }
}

/// What [`encoded`] gave.
fn decoded(bytes: &[u8]) -> TrainOverlap {
    let mut from = Bytes(bytes);
    let [position, file, line, words, shared, test, most] = [(); 7].map(|()| from.number());
    let id = match from.number() {
        0 => Id::Int(from.number() as i64),
        _ => Id::Text((&*from.text()).into()),
    };
    let cuts = (0..from.number()).map(|_| from.number()..from.number()).collect();
    let passages: Vec<(u64, Arc<str>)> =
        (0..from.number()).map(|_| (from.number(), from.text())).collect();
    let count = from.number();
    let stretch = |_| {
        let [at, test, have, all, words, start, length] = [(); 7].map(|()| from.number());
        let (train, passage) = passages.get(at as usize).cloned().unwrap_or_default();
        SharedStretch {
            test: test as usize,
            share: (all > 0).then_some((have, all)),
            words,
            train: train..train + passage.len() as u64,
            place: start..start + length,
            passage,
        }
    };
    let stretches = (0..count).map(stretch).collect();
    let (file, most) = (file as usize, (test as usize, most));
    TrainOverlap { position, id, file, line, words, shared, most, cuts, stretches }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_to_disk_comes_back() {
        let overlap = |at: u64| TrainOverlap {
            position: at,
            id: if at.is_multiple_of(2) { Id::Int(-5) } else { Id::from("né") },
            file: 1,
            line: at + 1,
            words: 100,
            shared: 30,
            most: (7, 13),
            cuts: (0..at).map(|cut| 10 * cut..10 * cut + at).collect(),
            stretches: (0..at)
                .map(|test| SharedStretch {
                    test: test as usize,
                    share: (test > 0).then_some((test, 9)),
                    words: 13,
                    // As long as the passage is; some have the same.
                    train: test / 3..test / 3 + 10 * (test / 3),
                    place: 6..300 + at,
                    passage: "une été ".repeat(test as usize / 3).into(),
                })
                .collect(),
        };
        for limit in [0, 600, 1 << 20] {
            let mut store = Store::new(limit, &Temp::passing(std::env::temp_dir()));
            (0..9).try_for_each(|at| store.push(&overlap(at))).unwrap();
            let mut all = Vec::new();
            store
                .each(|it| {
                    all.push(it);
                    Ok(())
                })
                .unwrap();
            assert_eq!(all, (0..9).map(overlap).collect::<Vec<_>>());
        }
    }
}
