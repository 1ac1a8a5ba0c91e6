//! The test items in memory: their words as numbers, and where each word stands.
//!
//! Equal words have the same number, by comparing the words and not their hashes. So what is equal as numbers is equal word
//! by word. Suffixes of an item are sorted when a training text first meets it, which few do.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nearkin_kernels::{hash_piece, shingle};

use super::stretches::TestWords;
use super::suffixes::Suffixes;
use super::windows::Windows;
use super::{OverlapSettings, SHOWN};
use crate::item::{Batch, Id, Interner, Item, PassedOver, Source};
use crate::observe::Observer;
use crate::parallel::{LaneRoom, in_lanes};
use crate::shingle::{TextWords, default_key};
use crate::{Error, Result};

/// Test items, and how many of them cannot be found.
#[derive(Debug, Default)]
pub struct TestItems {
    vocabulary: Interner,
    /// By word of the vocabulary.
    hashes: Vec<u64>,
    /// The words of all items, one item behind the other, and which bytes of its item each is.
    words: Vec<u32>,
    places: Vec<(u32, u32)>,
    items: Vec<TestItem>,
    files: Vec<PathBuf>,
    suffixes: Vec<OnceLock<Suffixes>>,
    pub(super) counts: TestCounts,
    /// By number of words, how many items have so few that no stretch can find them.
    short: Vec<u64>,
    /// The first of the records that were skipped.
    pub(super) skipped: Vec<Error>,
}

/// What a test item is called, and where its words end.
#[derive(Debug)]
struct TestItem {
    end: usize,
    id: Option<Id>,
    position: u64,
    file: u32,
    line: u64,
}

/// How many test items there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// All of them.
    pub items: u64,
    /// Records that could not be used.
    pub skipped: u64,
    /// Files of folders that were passed over.
    pub passed_over: PassedOver,
    /// Items with fewer words than a stretch, which no stretch can find.
    pub short: u64,
    /// Items without a word, which are among the short ones.
    pub empty: u64,
    /// Distinct stretches of N words.
    pub windows: u64,
}

/// The items of one chunk, and their words.
struct ChunkWords {
    /// Of each item.
    files: Vec<PathBuf>,
    records: u32,
    items: Vec<Item>,
    words: Vec<TextWords>,
    passed_over: PassedOver,
    bad: Vec<Error>,
}

impl ChunkWords {
    fn of(batch: Batch<'_>) -> Self {
        let words = |at| {
            let mut words = TextWords::default();
            words.take_places(batch.text(at));
            words
        };
        let words = (0..batch.items.len()).map(words).collect();
        let files = (0..batch.items.len()).map(|at| batch.file(at).to_path_buf()).collect();
        let Batch { records, items, passed_over, bad, .. } = batch;
        Self { files, records, items, words, passed_over, bad }
    }
}

impl TestItems {
    /// Reads all items.
    ///
    /// # Errors
    /// When an item cannot be used, they do not fit in memory, or the observer stops it.
    pub fn read<S: Source>(
        source: &S,
        settings: &OverlapSettings,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut all = Self::default();
        let (mut position, mut done) = (0, 0);
        in_lanes(
            settings.threads,
            LaneRoom { weight: settings.memory / 16, lanes: settings.threads },
            source.lanes(&|_| false),
            |chunk| {
                let (number, bytes) = source.place(&chunk);
                Ok((number, bytes, ChunkWords::of(source.decode(&chunk, &|_| true)?)))
            },
            |(_, bytes, _)| *bytes as usize,
            |(number, bytes, chunk)| {
                if observer.stopped() {
                    return Err(Error::Interrupted);
                }
                let records = u64::from(chunk.records);
                all.put(chunk, position, source.lines_before(number)?, settings.words)?;
                position += records;
                done += bytes;
                observer.advance(bytes);
                all.check_fits(settings, done as f64 / source.bytes().max(1) as f64)
            },
        )?;
        Ok(all)
    }

    fn put(&mut self, chunk: ChunkWords, start: u64, lines: u64, least: usize) -> Result<()> {
        self.counts.skipped += chunk.bad.len() as u64;
        self.counts.passed_over += chunk.passed_over;
        let room = SHOWN.saturating_sub(self.skipped.len());
        self.skipped.extend(chunk.bad.into_iter().take(room));
        let items = chunk.items.into_iter().zip(chunk.files);
        for ((item, file), words) in items.zip(&chunk.words) {
            if self.files.last() != Some(&file) {
                self.files.push(file);
            }
            self.counts.items += 1;
            if words.count() < least {
                self.counts.short += 1;
                self.counts.empty += u64::from(words.count() == 0);
                self.short.resize(least, 0);
                self.short[words.count()] += 1;
            }
            let line = lines + item.line;
            if words.places().last().is_some_and(|last| u32::try_from(last.end).is_err()) {
                let what =
                    "has more than 4 GiB of text, too much for a test item; cut it into parts";
                return Err(Error::input(self.files[self.files.len() - 1].clone(), line, what));
            }
            self.put_words(words);
            self.items.push(TestItem {
                end: self.words.len(),
                id: item.id,
                position: start + u64::from(item.ordinal),
                file: self.files.len() as u32 - 1,
                line,
            });
            self.suffixes.push(OnceLock::new());
        }
        Ok(())
    }

    fn put_words(&mut self, words: &TextWords) {
        for (at, place) in words.places().iter().enumerate() {
            let word = words.word(at);
            let number = self.vocabulary.number(word);
            if number as usize == self.hashes.len() {
                self.hashes.push(hash_piece(default_key(), word.as_bytes()));
            }
            self.words.push(number);
            self.places.push((place.start as u32, place.end as u32));
        }
    }

    /// Refuses items that take more memory than there is, when this share of them was read.
    fn check_fits(&self, settings: &OverlapSettings, share: f64) -> Result<()> {
        /// Of a word: its number, its place in its suffixes, and where it stands; and what its stretch takes.
        const WORD: usize = 4 + 4 + 8;
        /// Of a distinct word: its hash, its end, and its place in a hash table, beside its letters.
        const DISTINCT: usize = 8 + 8 + 32;
        let distinct = self.vocabulary.values();
        let bytes = self.words.len() * WORD
            + Windows::bytes_of(self.words.len())
            + distinct.bytes()
            + distinct.len() * DISTINCT
            + self.items.len() * (size_of::<TestItem>() + size_of::<OnceLock<Suffixes>>());
        if bytes <= settings.memory / 4 * 3 {
            return Ok(());
        }
        let needed = (bytes as f64 / share.max(0.01) / 0.75) as u64;
        let must = format!(
            "at least {} MB, because the test items are held in memory; or cut them into parts, and run \
             once for each",
            needed / 1_000_000 + 1
        );
        Err(Error::parameter("memory", format!("{} MB", settings.memory / 1_000_000), must))
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many items there are, and how many of them cannot be found.
    pub fn counts(&self) -> TestCounts {
        self.counts
    }

    /// How many words half of the items have at least that no stretch can find, those without a word left out.
    pub fn usual_words_of_short(&self) -> Option<usize> {
        let mut left = (self.counts.short - self.counts.empty).div_ceil(2);
        (1..self.short.len()).rev().find(|&words| {
            left = left.saturating_sub(self.short[words]);
            left == 0
        })
    }

    /// Whether every id is a whole number.
    pub fn ids_are_numbers(&self) -> bool {
        self.items.iter().all(|item| matches!(item.id, None | Some(Id::Int(_))))
    }

    /// An item's id: the user's, else its position.
    pub fn id(&self, item: usize) -> Id {
        let TestItem { id, position, .. } = &self.items[item];
        id.clone().unwrap_or(Id::Int(*position as i64))
    }

    /// The file an item comes from, and its line or row there, from 1.
    pub fn place(&self, item: usize) -> (&Path, u64) {
        let TestItem { file, line, .. } = self.items[item];
        (&self.files[file as usize], line)
    }

    /// The records that were skipped, the first of them.
    pub fn skipped(&self) -> &[Error] {
        &self.skipped
    }

    /// Puts the numbers of words into `out`, [`UNKNOWN`] for those that no test item has. Only words in these ranges are looked
    /// up.
    pub(super) fn numbers(
        &self,
        words: &TextWords,
        ranges: impl Iterator<Item = Range<usize>>,
        out: &mut Vec<u32>,
    ) {
        out.clear();
        out.resize(words.places().len(), UNKNOWN);
        for range in ranges {
            for (at, number) in range.clone().zip(&mut out[range]) {
                *number = self.vocabulary.find(words.word(at)).unwrap_or(UNKNOWN);
            }
        }
    }

    fn range(&self, item: usize) -> Range<usize> {
        let start = if item == 0 { 0 } else { self.items[item - 1].end };
        start..self.items[item].end
    }

    /// An item's words.
    pub(super) fn item(&self, item: usize) -> ItemWords<'_> {
        ItemWords { words: &self.words[self.range(item)], suffixes: &self.suffixes[item] }
    }

    /// Which bytes of an item go from one of its words to the last of so many.
    pub(super) fn span(&self, item: usize, words: Range<usize>) -> Range<usize> {
        let start = self.range(item).start;
        let places = &self.places[start + words.start..start + words.end];
        let (first, last) = (places[0], places[places.len() - 1]);
        first.0 as usize..last.1 as usize
    }

    /// The hash of every stretch of `least` words of an item, in text order.
    pub(super) fn window_hashes(&self, item: usize, least: usize, out: &mut Vec<u64>) {
        let words = &self.words[self.range(item)];
        let hashes: Vec<u64> = words.iter().map(|&word| self.hashes[word as usize]).collect();
        out.clear();
        shingle(default_key(), &hashes, least, out);
    }
}

/// The words of one test item.
pub(super) struct ItemWords<'a> {
    words: &'a [u32],
    suffixes: &'a OnceLock<Suffixes>,
}

impl TestWords for ItemWords<'_> {
    fn words(&self) -> &[u32] {
        self.words
    }

    fn suffixes(&self) -> &Suffixes {
        self.suffixes.get_or_init(|| Suffixes::of(self.words))
    }
}

/// The number of a word that no test item has.
const UNKNOWN: u32 = u32::MAX;
