//! Holds the sketches of `nearkin_engine::family` against each other on real texts.
//!
//! Collections come in (any file that nearkin reads), Markdown tables go out: bias and variance of the
//! estimated similarity, how often the default bands find a pair against how often the curve
//! 1 − (1 − s^r)^b says they should, and the time. `docs/sketches.md` has the tables and what follows
//! from them.
//!
//! ```sh
//! cargo run --release --package nearkin --example sketches -- licences.jsonl man.jsonl
//! ```
//!
//! A trial takes one pair of texts and one seed. Every trial has a seed of its own, all drawn from
//! [`SEED`], so trials are independent and a mean's standard error is σ/√n.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program, and tables are what it is for

use std::collections::HashSet;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nearkin_engine::Result;
use nearkin_engine::amplify::{Bands, MAX_FUNCTIONS};
use nearkin_engine::family::hash::{SplitMix, mix64};
use nearkin_engine::family::{INFINITY, OnePermutation, one_permutation};
use nearkin_engine::measure::jaccard::similarity;
use nearkin_engine::read::{Input, ReadOptions};
use nearkin_engine::shingle::{Scratch, Shingling, is_word_character};
use nearkin_engine::textbook::{GroupMinima, HashFamily, MinHash, MixHashes, Signature};

/// What all random choices derive from.
const SEED: u64 = 20_170_901;
const THRESHOLD: f64 = 0.8;
const RECALL: f64 = 0.99;
/// Most pairs of a row, and the seeds that each is tried with.
const PAIRS: usize = 200;
const SEEDS: usize = 100;
/// Numbers of shingles for texts cut to size.
const SIZES: [usize; 6] = [10, 30, 100, 300, 1000, 5000];
/// Bins of similarity, from the first number to below the second.
const BINS: [(f64, f64); 7] =
    [(0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0)];
/// Just at the threshold: 9 of 11 shingles still count.
const AT_THRESHOLD: (f64, f64) = (0.8, 0.82);

fn main() -> Result<()> {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let only_times = files.first().is_some_and(|first| first.as_os_str() == "--times");
    files.drain(..usize::from(only_times));
    if files.is_empty() {
        eprintln!("usage: sketches [--times] FILE... (collections; --times: only the last table)");
        std::process::exit(2);
    }
    let bands = Bands::for_recall(THRESHOLD, RECALL, MAX_FUNCTIONS)?;
    println!(
        "{} bands of {} rows, k = {}; seed {SEED}; up to {PAIRS} pairs a row, {SEEDS} seeds a pair",
        bands.count,
        bands.rows,
        bands.functions()
    );
    let mut chance = SplitMix::new(SEED);
    let mut collections = Vec::new();
    for file in &files {
        collections.push((name_of(file), read(file)?));
    }
    if !only_times {
        print_trials(&collections, bands, &mut chance)?;
    }
    println!("\n### Time\n");
    print_times(&all(&collections), bands, &mut chance)
}

/// Everything but the times, which want a quiet machine.
fn print_trials(
    collections: &[(String, Vec<String>)],
    bands: Bands,
    chance: &mut SplitMix,
) -> Result<()> {
    for (name, texts) in collections {
        println!("\n### {name}: pairs that are there\n");
        print_header("similarity");
        for (bin, pairs) in BINS.iter().zip(existing_pairs(texts, chance)?) {
            print_row(&format!("{:.1}–{:.1}", bin.0, bin.1), &pairs, bands, chance)?;
        }
    }
    let texts = all(collections);
    println!("\n### Texts cut to size, similarities from 0.3 to 1\n");
    print_header("shingles");
    for size in SIZES {
        let each = PAIRS.div_ceil(BINS.len());
        let pairs = BINS.map(|bin| made_pairs(&texts, size, bin, each, chance)).concat();
        print_row(&size.to_string(), &pairs, bands, chance)?;
    }
    println!("\n### Texts cut to size, just at the threshold\n");
    print_header("shingles");
    for size in SIZES {
        let pairs = made_pairs(&texts, size, AT_THRESHOLD, PAIRS, chance);
        print_row(&size.to_string(), &pairs, bands, chance)?;
    }
    println!("\n### Bands with unfilled groups\n");
    print_unfilled(&texts, bands, chance)
}

fn all(collections: &[(String, Vec<String>)]) -> Vec<&str> {
    collections.iter().flat_map(|(_, texts)| texts).map(String::as_str).collect()
}

fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(file: &Path) -> Result<Vec<String>> {
    let input = Input::open(&[file.to_owned()], ReadOptions::default())?;
    let mut texts = Vec::new();
    for chunk in input.scan() {
        let batch = input.decode(&chunk?, &|_| true)?;
        texts.extend((0..batch.items.len()).map(|i| batch.text(i).to_owned()));
    }
    Ok(texts)
}

// --- pairs ----------------------------------------------------------------------------------------------

#[derive(Clone)]
struct Pair {
    sets: [Vec<u64>; 2],
    similarity: f64,
}

impl Pair {
    fn new(a: Vec<u64>, b: Vec<u64>) -> Self {
        Self { similarity: similarity(&a, &b), sets: [a, b] }
    }

    /// Two equal sets have the same sketch, which says nothing about it.
    fn lies_in(&self, bin: (f64, f64)) -> bool {
        self.similarity >= bin.0 && self.similarity < bin.1
    }
}

/// For each bin, pairs of texts as they stand in the collection. Texts are put in the order of one value
/// of a sketch; neighbours that agree in it are similar, with a chance of their similarity. That sketch
/// has a seed of its own and is not used again.
fn existing_pairs(texts: &[String], chance: &mut SplitMix) -> Result<[Vec<Pair>; BINS.len()]> {
    const ORDERS: usize = 32;
    let shingling = Shingling::default();
    let mut sets: Vec<Vec<u64>> = texts.iter().map(|text| shingling.set(text)).collect();
    sets.retain(|set| !set.is_empty());
    let sketcher = OnePermutation::new(ORDERS, chance.draw())?;
    let mut sketches = vec![[0; ORDERS]; sets.len()];
    sets.iter().zip(&mut sketches).for_each(|(set, out)| sketcher.sketch(set, out));

    let mut seen = HashSet::new();
    let mut bins: [Vec<(usize, usize)>; BINS.len()] = Default::default();
    let mut order: Vec<usize> = (0..sets.len()).collect();
    let value = |text: usize, place: usize| sketches[text][place];
    for place in 0..ORDERS {
        order.sort_by_key(|&text| (value(text, place), mix64(text as u64, SEED)));
        for two in order.windows(2) {
            let pair = (two[0].min(two[1]), two[0].max(two[1]));
            if value(pair.0, place) == value(pair.1, place) && seen.insert(pair) {
                let s = similarity(&sets[pair.0], &sets[pair.1]);
                if let Some(bin) = BINS.iter().position(|bin| s >= bin.0 && s < bin.1) {
                    bins[bin].push(pair);
                }
            }
        }
    }
    Ok(bins.map(|mut pairs| {
        shuffle(&mut pairs, chance);
        let pairs = pairs.into_iter().take(PAIRS);
        pairs.map(|(a, b)| Pair::new(sets[a].clone(), sets[b].clone())).collect()
    }))
}

fn shuffle<T>(list: &mut [T], chance: &mut SplitMix) {
    for i in (1..list.len()).rev() {
        list.swap(i, chance.below(i as u64 + 1) as usize);
    }
}

/// Pairs of a text cut to `size` shingles and a copy of it in which words were deleted and replaced.
fn made_pairs(
    texts: &[&str],
    size: usize,
    bin: (f64, f64),
    count: usize,
    chance: &mut SplitMix,
) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for _ in 0..100 * count {
        let words = cut(texts, size, chance);
        let others = cut(texts, size, chance);
        let target = bin.0 + (bin.1 - bin.0) * unit(chance);
        let pair = Pair::new(set_of(&words), set_of(&edited(&words, &others, target, chance)));
        if pair.lies_in(bin) {
            pairs.push(pair);
        }
        if pairs.len() == count {
            break;
        }
    }
    pairs
}

fn unit(chance: &mut SplitMix) -> f64 {
    (chance.draw() >> 11) as f64 / (1u64 << 53) as f64
}

/// The first words of a random text that make `size` different shingles. Where the text is too short
/// for that, the next ones follow it.
fn cut<'a>(texts: &[&'a str], size: usize, chance: &mut SplitMix) -> Vec<&'a str> {
    let start = chance.below(texts.len() as u64) as usize;
    let (first, last) = texts.split_at(start);
    let mut rest = last.iter().chain(first).copied().flat_map(words);
    let mut cut: Vec<&str> = rest.by_ref().take(size + 4).collect();
    loop {
        let missing = size.saturating_sub(set_of(&cut).len());
        if missing == 0 {
            return cut;
        }
        let before = cut.len();
        cut.extend(rest.by_ref().take(missing));
        assert!(cut.len() > before, "all texts together have fewer than {size} shingles");
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word_character(c)).filter(|word| !word.is_empty())
}

fn set_of(words: &[&str]) -> Vec<u64> {
    Shingling::default().set(&words.join(" "))
}

/// Each word is deleted or replaced, with a chance that brings the similarity near `target`: a share q
/// of the shingles survives when each of their five words does, and then J = q / (2 − q).
fn edited<'a>(
    words: &[&'a str],
    others: &[&'a str],
    target: f64,
    chance: &mut SplitMix,
) -> Vec<&'a str> {
    let survives = (2.0 * target / (1.0 + target)).powf(0.2);
    let mut copy = Vec::new();
    for &word in words {
        if unit(chance) < survives {
            copy.push(word);
        } else if chance.below(2) == 0 {
            copy.push(others[chance.below(others.len() as u64) as usize]);
        }
    }
    copy
}

// --- trials ---------------------------------------------------------------------------------------------

#[derive(Clone, Copy)]
enum Kind {
    Classic,
    Fast,
    Plain,
}

const KINDS: [(Kind, &str); 3] =
    [(Kind::Classic, "classic"), (Kind::Fast, "one-permutation"), (Kind::Plain, "plain")];

impl Kind {
    fn signature(self, elements: &[u64], k: usize, seed: u64) -> Result<Signature> {
        Ok(match self {
            Self::Classic => {
                let mut values = vec![0; k];
                by_function(&MixHashes::new(k, seed), elements, &mut values);
                Signature::from_values(values, false)
            }
            Self::Fast => {
                let mut values = vec![0; k];
                OnePermutation::new(k, seed)?.sketch(elements, &mut values);
                debug_assert!(!values.contains(&one_permutation::EMPTY));
                Signature::from_values(values.into_iter().map(u64::from).collect(), false)
            }
            Self::Plain => GroupMinima::by_hash(MixHashes::new(1, seed), k)?.signature(elements),
        })
    }

    fn both(self, pair: &Pair, k: usize, seed: u64) -> Result<[Signature; 2]> {
        let [a, b] = &pair.sets;
        Ok([self.signature(a, k, seed)?, self.signature(b, k, seed)?])
    }
}

/// The values of [`MinHash::signature`], one function after the other: twice as fast, since a function
/// is set up once and not for every element.
fn by_function(family: &MixHashes, elements: &[u64], out: &mut [u64]) {
    for (function, value) in out.iter_mut().enumerate() {
        *value = elements.iter().map(|&x| family.hash(function, x)).min().unwrap_or(INFINITY);
    }
}

/// Whether two sketches agree in a whole band. With `unfilled` a band that has an unfilled group in it
/// counts like any other, else it does not.
fn found([a, b]: &[Signature; 2], bands: Bands, unfilled: bool) -> bool {
    let bands = a.values().chunks(bands.rows).zip(b.values().chunks(bands.rows));
    bands.into_iter().any(|(a, b)| a == b && (unfilled || !a.contains(&INFINITY)))
}

/// Mean and standard error of what is added.
#[derive(Default)]
struct Mean {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, x: f64) {
        self.count += 1.0;
        self.sum += x;
        self.squares += x * x;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    fn error(&self) -> f64 {
        let variance = (self.squares / self.count - self.mean().powi(2)).max(0.0);
        (variance / (self.count - 1.0)).sqrt()
    }

    fn show(&self, digits: usize) -> String {
        format!("{:.digits$} ± {:.digits$}", self.mean(), self.error())
    }

    fn show_signed(&self, digits: usize) -> String {
        format!("{:+.digits$} ± {:.digits$}", self.mean(), self.error())
    }
}

/// What the trials of one kind of sketch showed.
#[derive(Default)]
struct Outcome {
    /// Estimate less truth.
    bias: Mean,
    /// Its square over J(1 − J)/k.
    spread: Mean,
    /// Found or not.
    recall: Mean,
    /// The squared standard error of that with the pairs given: Σ pᵢ(1 − pᵢ)/(seeds − 1) over pairs².
    within: f64,
}

fn tried(kind: Kind, pairs: &[Pair], bands: Bands, chance: &mut SplitMix) -> Result<Outcome> {
    let (mut outcome, k) = (Outcome::default(), bands.functions());
    for pair in pairs {
        let (s, mut hits) = (pair.similarity, Mean::default());
        for _ in 0..SEEDS {
            let sketches = kind.both(pair, k, chance.draw())?;
            if let Some(estimate) = sketches[0].estimate(&sketches[1]) {
                outcome.bias.add(estimate - s);
                outcome.spread.add((estimate - s).powi(2) / (s * (1.0 - s) / k as f64));
            }
            hits.add(f64::from(u8::from(found(&sketches, bands, false))));
        }
        outcome.recall.add(hits.mean());
        outcome.within += (hits.error() / pairs.len() as f64).powi(2);
    }
    Ok(outcome)
}

fn print_header(first: &str) {
    print!("| {first} | pairs | predicted |");
    for what in ["bias", "variance", "recall"] {
        KINDS.iter().for_each(|(_, name)| print!(" {what}, {name} |"));
    }
    println!("\n|---|---:|---:|{}", "---:|".repeat(3 * KINDS.len()));
}

fn print_row(first: &str, pairs: &[Pair], bands: Bands, chance: &mut SplitMix) -> Result<()> {
    if pairs.is_empty() {
        println!("| {first} | 0 |{}", " |".repeat(1 + 3 * KINDS.len()));
        return Ok(());
    }
    let mut predicted = Mean::default();
    pairs.iter().for_each(|pair| predicted.add(bands.probability(pair.similarity)));
    let mut outcomes = Vec::new();
    for (kind, _) in KINDS {
        outcomes.push(tried(kind, pairs, bands, chance)?);
    }
    print!("| {first} | {} | {:.4} |", pairs.len(), predicted.mean());
    outcomes.iter().for_each(|one| print!(" {} |", one.bias.show_signed(4)));
    outcomes.iter().for_each(|one| print!(" {} |", one.spread.show(3)));
    for one in &outcomes {
        print!(" {:.4} ± {:.4} |", one.recall.mean(), one.within.sqrt());
    }
    println!();
    Ok(())
}

/// Plain one-permutation hashing in bands: either unfilled groups count as equal, or bands with one are
/// left out.
fn print_unfilled(texts: &[&str], bands: Bands, chance: &mut SplitMix) -> Result<()> {
    println!(
        "| shingles | groups unfilled | unrelated pairs that share a bucket: one-permutation | plain, unfilled are equal | pairs at 0.8 found: plain, bands with unfilled left out |"
    );
    println!("|---:|---:|---:|---:|---:|");
    for size in SIZES {
        let unrelated: Vec<Pair> = (0..PAIRS)
            .map(|_| [cut(texts, size, chance), cut(texts, size, chance)].map(|cut| set_of(&cut)))
            .map(|[a, b]| Pair::new(a, b))
            .filter(|pair| pair.similarity < 0.05)
            .collect();
        let similar = made_pairs(texts, size, AT_THRESHOLD, PAIRS, chance);
        let unfilled = share(Kind::Plain, &unrelated, bands, chance, |[a, _]| {
            let count = a.values().iter().filter(|&&value| value == INFINITY).count();
            count as f64 / bands.functions() as f64
        })?;
        let hit =
            |unfilled| move |two: &[Signature; 2]| f64::from(u8::from(found(two, bands, unfilled)));
        let fast = share(Kind::Fast, &unrelated, bands, chance, hit(false))?;
        let equal = share(Kind::Plain, &unrelated, bands, chance, hit(true))?;
        let left_out = share(Kind::Plain, &similar, bands, chance, hit(false))?;
        let cells = [unfilled, fast, equal, left_out].map(|mean| mean.show(4));
        println!("| {size} | {} |", cells.join(" | "));
    }
    Ok(())
}

fn share(
    kind: Kind,
    pairs: &[Pair],
    bands: Bands,
    chance: &mut SplitMix,
    count: impl Fn(&[Signature; 2]) -> f64,
) -> Result<Mean> {
    let mut mean = Mean::default();
    for pair in pairs {
        for _ in 0..SEEDS {
            mean.add(count(&kind.both(pair, bands.functions(), chance.draw())?));
        }
    }
    Ok(mean)
}

// --- time -----------------------------------------------------------------------------------------------

/// Microseconds a document, and nanoseconds an element in brackets.
fn print_times(texts: &[&str], bands: Bands, chance: &mut SplitMix) -> Result<()> {
    println!(
        "| shingles | cutting into shingles | one-permutation | classic | classic, function by function | classic, cheapest hash | plain |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    let k = bands.functions();
    let family = MixHashes::new(k, chance.draw());
    let classic = MinHash::new(family.clone());
    let fast = OnePermutation::new(k, chance.draw())?;
    let plain = GroupMinima::by_hash(MixHashes::new(1, chance.draw()), k)?;
    let cheap: Vec<(u32, u32)> = (0..k).map(|_| halves(chance.draw())).collect();
    let (mut wide, mut narrow) = (vec![0u64; k], vec![0u32; k]);
    for size in SIZES {
        let count = (100_000 / size).clamp(40, 2000);
        let documents: Vec<String> =
            (0..count).map(|_| cut(texts, size, chance).join(" ")).collect();
        let shingling = Shingling::default();
        let sets: Vec<Vec<u64>> = documents.iter().map(|text| shingling.set(text)).collect();
        let (mut scratch, mut bag) = (Scratch::default(), Vec::new());
        let times = [
            time(&documents, |text| {
                bag.clear();
                shingling.shingle(text, &mut scratch, &mut bag);
                black_box(&bag);
            }),
            time(&sets, |set| {
                fast.sketch(set, &mut narrow);
                black_box(&narrow);
            }),
            time(&sets, |set| {
                black_box(classic.signature(set));
            }),
            time(&sets, |set| {
                by_function(&family, set, &mut wide);
                black_box(&wide);
            }),
            time(&sets, |set| {
                cheapest(&cheap, set, &mut narrow);
                black_box(&narrow);
            }),
            time(&sets, |set| {
                black_box(plain.signature(set));
            }),
        ];
        let elements = sets.iter().map(Vec::len).sum::<usize>() as f64 / count as f64;
        let cells = times.map(|t| format!("{:.2} ({:.2})", t * 1e6, t * 1e9 / elements));
        println!("| {size} | {} |", cells.join(" | "));
    }
    Ok(())
}

fn halves(x: u64) -> (u32, u32) {
    (x as u32 | 1, (x >> 32) as u32)
}

/// The least that classic minhashing can do: one 32-bit multiplication and addition a value. The
/// functions are poor; only the time counts here.
fn cheapest(functions: &[(u32, u32)], elements: &[u64], out: &mut [u32]) {
    for (&(a, b), value) in functions.iter().zip(out) {
        let values = elements.iter().map(|&x| (x as u32).wrapping_mul(a).wrapping_add(b));
        *value = values.fold(u32::MAX, u32::min);
    }
}

/// Seconds for one of `items`. They are worked off in portions of at most a few milliseconds, and the fastest
/// of nine passes counts for each portion: whatever else the machine does rarely hits one nine times.
fn time<T>(items: &[T], mut work: impl FnMut(&T)) -> f64 {
    let portion = items.len().div_ceil(40);
    let mut fastest = vec![f64::INFINITY; items.len().div_ceil(portion)];
    for _ in 0..9 {
        for (portion, fastest) in items.chunks(portion).zip(&mut fastest) {
            let start = Instant::now();
            portion.iter().for_each(&mut work);
            *fastest = fastest.min(start.elapsed().as_secs_f64());
        }
    }
    fastest.iter().sum::<f64>() / items.len() as f64
}
