//! Runs of N words that stand more than once.
//!
//! A window is N words in a row. To write down every window would take several times the input, so three passes narrow it
//! down; the first two may let too much through, and the third decides.
//!
//! 1. **Anchors.** Of the runs of N/2 words in a window, the one with the smallest hash is its anchor, the first of equal
//!    ones. Equal windows have equal anchors, and neighbours mostly share theirs: there is one for some N/4 words. Anchors
//!    that occur once are forgotten.
//! 2. **Groups.** The windows in a row that share an anchor are a group. Where all groups with one anchor have the same
//!    words, each window in them stands as often as its group does. Inside of a long repeated passage it is always so.
//! 3. **Windows.** At the ends of passages groups differ. Only of these every window is written down.
//!
//! An anchor or a window goes by a hash of its words, see [`WordKeys`]. Windows and groups are compared by 128 bits.

use nearkin_kernels::{self as kernels, filter_bit};

use super::Trim;
use super::facts::{ChunkFacts, Gathered};
use super::pieces::{PARTITIONS, partition};
use super::rule::{Class, KeyNumbers, Place, Rule, each_removed};
use super::stretches::{Removals, Stretches};
use crate::Result;
use crate::item::{Batch, ChunkNumber, Source};
use crate::observe::Stage;
use crate::parallel::in_lanes;
use crate::shingle::{TextWords, WordKeys};
use crate::spill::{Block, Partitions};

/// How windows are cut and hashed.
#[derive(Clone, Copy)]
struct Windows<'a> {
    /// Words of a window, and of an anchor.
    words: usize,
    anchor: usize,
    keys: &'a WordKeys,
}

/// Finds the runs of words that are removed.
pub(super) fn stretches<S: Source>(run: &Trim<'_, S>, words: usize) -> Result<Stretches> {
    let windows = Windows { words, anchor: (words / 2).max(1), keys: &run.keys };
    let (mut gathered, repeated) = anchors(run, windows)?;
    let mut removals = Removals::new(&run.budget);
    if !repeated.is_empty() {
        let clock = run.begin(Stage::Candidates);
        let mixed = groups(run, windows, &gathered, &repeated, &mut removals)?;
        drop(repeated);
        gathered.facts.stages.push(clock.stop(run.source.bytes()));
        if !mixed.is_empty() {
            let clock = run.begin(Stage::Verify);
            single_windows(run, windows, &gathered, &mixed, &mut removals)?;
            gathered.facts.stages.push(clock.stop(run.source.bytes()));
        }
    }
    removals.into_stretches(gathered, words as u64, run.settings.threads, &run.budget)
}

/// The first pass: which anchors occur more than once.
fn anchors<S: Source>(run: &Trim<'_, S>, windows: Windows<'_>) -> Result<(Gathered, Anchors)> {
    let Trim { source, settings, budget, .. } = run;
    let clock = run.begin(Stage::Read);
    let mut hashes: Partitions<1> = Partitions::new(PARTITIONS, budget.share(4), &budget.temp);
    let mut gathered = Gathered::default();
    let mut watch = budget.watch(source.bytes(), 4);
    in_lanes(
        settings.threads,
        run.room(),
        source.lanes(&|_| false),
        |chunk| {
            let (number, bytes) = source.place(&chunk);
            let mut batch = source.decode(&chunk, &|_| true)?;
            let (facts, anchors) = windows.anchors(&mut batch)?;
            let entries = anchors.iter().map(|&hash| (partition(hash), [hash]));
            Ok((number, bytes, facts, Block::new(PARTITIONS, entries)))
        },
        |(_, _, _, block)| block.bytes(),
        |(number, bytes, facts, block)| {
            run.advance(bytes)?;
            gathered.push(number, facts)?;
            hashes.push(block)?;
            watch.done(bytes, || hashes.bytes())
        },
    )?;
    let mut repeated = Anchors::new(hashes.bytes(), budget.share(4));
    hashes.each(
        settings.threads,
        |_, mut entries, found: &mut Vec<u64>| {
            entries.sort_unstable();
            let same = entries.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
            found.extend(same.map(|same| same[0][0]));
            Ok(())
        },
        |found| {
            found.into_iter().for_each(|hash| repeated.insert(hash));
            Ok(())
        },
    )?;
    gathered.facts.stages.push(clock.stop(source.bytes()));
    Ok((gathered, repeated))
}

/// Words of an entry of a group: its anchor, its fingerprint, how many windows it has, and where the first is.
const GROUP: usize = 5;

/// The second pass: removes windows of groups that are all the same. Returns the anchors of the others.
fn groups<S: Source>(
    run: &Trim<'_, S>,
    windows: Windows<'_>,
    gathered: &Gathered,
    repeated: &Anchors,
    removals: &mut Removals,
) -> Result<Anchors> {
    let budget = &run.budget;
    let mut groups: Partitions<GROUP> = Partitions::new(PARTITIONS, budget.share(4), &budget.temp);
    each_chunk(run, gathered, &mut groups, |batch| windows.groups(batch, repeated))?;
    // A group has several windows as a rule, and an anchor several groups.
    let mut mixed = Anchors::new(groups.bytes() / GROUP as u64 / 2, budget.share(2));
    groups.each(
        run.settings.threads,
        |_, entries, found: &mut GroupResult| {
            same_groups(run.rule, &entries, found);
            Ok(())
        },
        |found| {
            found.mixed.into_iter().for_each(|hash| mixed.insert(hash));
            removals.push(&found.removals, gathered)
        },
    )?;
    Ok(mixed)
}

/// What groups of a partition come to.
#[derive(Default)]
struct GroupResult {
    removals: Vec<[u64; 3]>,
    mixed: Vec<u64>,
}

/// Decides on the groups of each anchor that are all the same.
fn same_groups(rule: Rule, entries: &[[u64; GROUP]], found: &mut GroupResult) {
    /// The groups of an anchor: their places, the first of them, and whether all are like it.
    struct AnchorGroups {
        class: Class,
        first: [u64; GROUP],
        is_mixed: bool,
    }
    let mut numbers = KeyNumbers::new(entries.len());
    let mut anchors: Vec<AnchorGroups> = Vec::new();
    let mut anchor_of = Vec::with_capacity(entries.len());
    for entry in entries {
        let (number, is_new) = numbers.number([entry[0], 0]);
        let place = Place::of(entry[GROUP - 1]);
        match is_new {
            true => {
                let class = Class::new(place);
                anchors.push(AnchorGroups { class, first: *entry, is_mixed: false });
            }
            false => {
                let anchor = &mut anchors[number];
                anchor.class.push(place);
                anchor.is_mixed |= anchor.first[..GROUP - 1] != entry[..GROUP - 1];
            }
        }
        anchor_of.push(number as u32);
    }
    for (entry, anchor) in entries.iter().zip(anchor_of) {
        let anchor = &anchors[anchor as usize];
        let kept = rule.kept(&anchor.class, Place::of(entry[GROUP - 1]));
        if let Some(kept) = kept.filter(|_| !anchor.is_mixed) {
            found.removals.push([kept, entry[3], entry[GROUP - 1]]);
        }
    }
    found.mixed.extend(anchors.iter().filter(|it| it.is_mixed).map(|it| it.first[0]));
}

/// The third pass: removes windows of groups that are not all the same, each by itself.
fn single_windows<S: Source>(
    run: &Trim<'_, S>,
    windows: Windows<'_>,
    gathered: &Gathered,
    mixed: &Anchors,
    removals: &mut Removals,
) -> Result<()> {
    let budget = &run.budget;
    let mut single: Partitions<3> = Partitions::new(PARTITIONS, budget.share(4), &budget.temp);
    each_chunk(run, gathered, &mut single, |batch| windows.single(batch, mixed))?;
    single.each(
        run.settings.threads,
        |_, entries, found: &mut Vec<[u64; 3]>| {
            each_removed(run.rule, &entries, |kept, place| found.push([kept, 1, place.number()]));
            Ok(())
        },
        |found| removals.push(&found, gathered),
    )
}

/// Reads all documents again, and puts entries made of them into partitions by their first word.
fn each_chunk<S: Source, const W: usize>(
    run: &Trim<'_, S>,
    gathered: &Gathered,
    partitions: &mut Partitions<W>,
    entries: impl Fn(&Batch) -> Vec<[u64; W]> + Sync,
) -> Result<()> {
    let source = run.source;
    let mut watch = run.budget.watch(source.bytes(), 4);
    in_lanes(
        run.settings.threads,
        run.room(),
        source.lanes(&|_| false),
        |chunk| {
            let (number, bytes) = source.place(&chunk);
            let entries = entries(&source.decode(&chunk, &|_| true)?);
            let entries = entries.iter().map(|entry| (partition(entry[0]), *entry));
            Ok((number, bytes, Block::new(PARTITIONS, entries)))
        },
        |(_, _, block)| block.bytes(),
        |(number, bytes, block): (ChunkNumber, u64, Block<W>)| {
            run.advance(bytes)?;
            let start = gathered.starts.start(number).unwrap_or_default();
            partitions.push(block.at(start as u32))?;
            watch.done(bytes, || partitions.bytes())
        },
    )
}

/// A run of windows that share an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    anchor: u64,
    start: usize,
    count: usize,
}

/// What is kept from text to text.
#[derive(Default)]
struct Buffers {
    text: TextWords,
    hashes: Vec<u64>,
    words: Vec<[u64; 2]>,
    grams: Vec<u64>,
    groups: Vec<Group>,
    minima: Vec<u32>,
    prints: Vec<[u64; 2]>,
}

impl Windows<'_> {
    /// The anchors of all groups of a batch.
    fn anchors(self, batch: &mut Batch) -> Result<(ChunkFacts, Vec<u64>)> {
        let mut facts = ChunkFacts::of(batch)?;
        let mut anchors = Vec::new();
        let mut buffers = Buffers::default();
        for index in 0..batch.items.len() {
            buffers.text.take(batch.text(index));
            buffers.text.hashes(self.keys, &mut buffers.hashes);
            facts.words += buffers.hashes.len() as u64;
            facts.short += u64::from(buffers.hashes.len() < self.words);
            self.cut(&mut buffers);
            anchors.extend(buffers.groups.iter().map(|group| group.anchor));
        }
        Ok((facts, anchors))
    }

    /// The groups of a batch whose anchors are among these.
    fn groups(self, batch: &Batch, anchors: &Anchors) -> Vec<[u64; GROUP]> {
        let mut entries = Vec::new();
        let mut print = Vec::new();
        self.each_group(batch, anchors, |ordinal, group, prints| {
            // Its first and its last window overlap, so together they are all of its words.
            print.clear();
            let parts = [prints[0], prints[group.count - 1], [group.count as u64, 0]];
            kernels::join_windows(self.keys.first(), &parts, parts.len(), &mut print);
            let place = Place { document: ordinal, at: group.start as u32 }.number();
            entries.push([group.anchor, print[0][0], print[0][1], group.count as u64, place]);
        });
        entries
    }

    /// The windows of the groups whose anchors are among these.
    fn single(self, batch: &Batch, anchors: &Anchors) -> Vec<[u64; 3]> {
        let mut entries = Vec::new();
        self.each_group(batch, anchors, |ordinal, group, prints| {
            for (at, &[a, b]) in (group.start as u32..).zip(prints) {
                entries.push([a, b, Place { document: ordinal, at }.number()]);
            }
        });
        entries
    }

    /// Calls `each` with every group of a batch whose anchor is among these, and the fingerprints of its windows.
    fn each_group(
        self,
        batch: &Batch,
        anchors: &Anchors,
        mut each: impl FnMut(u32, Group, &[[u64; 2]]),
    ) {
        let mut buffers = Buffers::default();
        for (index, item) in batch.items.iter().enumerate() {
            buffers.text.take(batch.text(index));
            buffers.text.both(self.keys, &mut buffers.words);
            buffers.hashes.clear();
            buffers.hashes.extend(buffers.words.iter().map(|word| word[0]));
            self.cut(&mut buffers);
            let Buffers { words, groups, prints, .. } = &mut buffers;
            groups.retain(|group| anchors.may_have(group.anchor));
            // Neighbours together: words that they share are joined once.
            for some in groups.chunk_by(|a, b| a.start + a.count == b.start) {
                let (start, last) = (some[0].start, some[some.len() - 1]);
                let end = last.start + last.count - 1 + self.words;
                prints.clear();
                kernels::join_windows(self.keys.first(), &words[start..end], self.words, prints);
                for &group in some {
                    let at = group.start - start;
                    each(item.ordinal, group, &prints[at..at + group.count]);
                }
            }
        }
    }

    /// Cuts the words at hand into groups.
    fn cut(self, buffers: &mut Buffers) {
        let Buffers { hashes, grams, groups, minima, .. } = buffers;
        groups.clear();
        if hashes.len() < self.words {
            return;
        }
        grams.clear();
        kernels::shingle(self.keys.first(), hashes, self.anchor, grams);
        minima_groups(grams, self.words - self.anchor + 1, minima, groups);
    }
}

/// Appends, for every run of `width` numbers with the same smallest one at the same place, the first if there are several,
/// that number, the first run and how many there are. `queue` is room.
fn minima_groups(numbers: &[u64], width: usize, queue: &mut Vec<u32>, out: &mut Vec<Group>) {
    // Places whose numbers increase: each is the smallest of those behind the one before it. The first is that of the run.
    queue.clear();
    let mut head = 0;
    let mut last = None;
    for (place, &number) in numbers.iter().enumerate() {
        while queue.len() > head && queue.last().is_some_and(|&it| numbers[it as usize] > number) {
            queue.pop();
        }
        queue.push(place as u32);
        let Some(start) = (place + 1).checked_sub(width) else { continue };
        if (queue[head] as usize) < start {
            head += 1;
        }
        match out.last_mut() {
            Some(group) if last == Some(queue[head]) => group.count += 1,
            _ => out.push(Group { anchor: numbers[queue[head] as usize], start, count: 1 }),
        }
        last = Some(queue[head]);
    }
}

/// A set of anchors that may say yes for others too.
struct Anchors {
    bits: Vec<u64>,
    is_empty: bool,
}

impl Anchors {
    /// With a bit for every bit of `bytes`, within this much memory.
    fn new(bytes: u64, limit: usize) -> Self {
        let most = (limit / 8).max(1);
        let words = usize::try_from(bytes / 8).unwrap_or(most).clamp(1, most);
        // The next power of two that has room.
        let words = if words.is_power_of_two() { words } else { words.next_power_of_two() / 2 };
        Self { bits: vec![0; words], is_empty: true }
    }

    fn insert(&mut self, anchor: u64) {
        let (word, bit) = filter_bit(anchor, self.bits.len());
        self.bits[word] |= 1 << bit;
        self.is_empty = false;
    }

    fn may_have(&self, anchor: u64) -> bool {
        let (word, bit) = filter_bit(anchor, self.bits.len());
        self.bits[word] >> bit & 1 == 1
    }

    fn is_empty(&self) -> bool {
        self.is_empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first smallest number of each run, looked for anew.
    fn plain_groups(numbers: &[u64], width: usize) -> Vec<Group> {
        let mut groups: Vec<(usize, Group)> = Vec::new();
        for (start, run) in numbers.windows(width).enumerate() {
            let smallest = *run.iter().min().unwrap();
            let place = start + run.iter().position(|number| *number == smallest).unwrap();
            match groups.last_mut() {
                Some((last, group)) if *last == place => group.count += 1,
                _ => groups.push((place, Group { anchor: smallest, start, count: 1 })),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    #[test]
    fn groups_share_the_first_smallest_number() {
        for seed in 0..300u64 {
            let few = 1 + seed % 7;
            let length = kernels::scramble(seed) % 40;
            let numbers: Vec<u64> =
                (0..length).map(|at| kernels::scramble(seed << 8 | at) % few).collect();
            for width in 1..10 {
                let mut groups = Vec::new();
                minima_groups(&numbers, width, &mut Vec::new(), &mut groups);
                assert_eq!(groups, plain_groups(&numbers, width), "{numbers:?} {width}");
            }
        }
    }
}
