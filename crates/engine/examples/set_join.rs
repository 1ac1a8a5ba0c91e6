//! What each filter of the exact join of sets is worth, and what a query costs.
//!
//! ```sh
//! cargo run --release --package nearkin --example set_join -- licences.jsonl 0.8
//! cargo run --release --package nearkin --example set_join -- baskets.txt 0.6 0.8
//! cargo run --release --package nearkin --example set_join -- --queries
//! ```
//!
//! A `.txt` has a set a line, its elements separated by white space; any other file that nearkin reads has texts, cut
//! into shingles of five words. Identical sets count once. `--pairs` before the file prints the pairs of the first
//! threshold instead, `--filters LIST` measures these filters only. One thread, unless `RAYON_NUM_THREADS` says otherwise.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program, and tables are what it is for

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use nearkin_engine::Result;
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::join::sets::{
    Filters, PrefixIndex, QueryScratch, SetIndex, SetJoin, SetJoinCounts, SetPair, SymbolStrings,
    components,
};
use nearkin_engine::read::{Input, ReadOptions};
use nearkin_engine::shingle::Shingling;
use nearkin_engine::verify::{Limit, Measure, Verifier};

/// Combinations that build on one another; the default comes last.
const COMBINATIONS: [&str; 8] = [
    "length",
    "length,bitmap",
    "length,prefix,by-size",
    "length,prefix,position,by-size",
    "length,prefix,position,suffix,by-size",
    "length,prefix,position,suffix,full-suffix,by-size",
    "length,prefix,position,bitmap,by-size",
    "length,prefix,position,suffix,bitmap,by-size",
];
/// Pairs of sets that comparing all may look at; more take too long.
const FEASIBLE: usize = 200_000_000;

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    if arguments.first().is_some_and(|first| first == "--queries") {
        return measure_queries();
    }
    let print = arguments.first().is_some_and(|first| first == "--pairs");
    arguments.drain(..usize::from(print));
    let mut filters: Vec<Filters> =
        COMBINATIONS.iter().filter_map(|text| text.parse().ok()).collect();
    if arguments.first().is_some_and(|first| first == "--filters") {
        filters = vec![arguments.get(1).map_or("", String::as_str).parse()?];
        arguments.drain(..2);
    }
    let [file, thresholds @ ..] = &arguments[..] else {
        eprintln!(
            "usage: set_join [--pairs] [--filters LIST] FILE THRESHOLD... | set_join --queries"
        );
        std::process::exit(2);
    };
    let sets = read(Path::new(file))?;
    let sets: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
    let elements: usize = sets.iter().map(|set| set.len()).sum();
    println!("{file}: {} different sets, {elements} elements", sets.len());
    for threshold in thresholds.iter().filter_map(|text| text.parse().ok()) {
        let verifier = Verifier::new(Measure::Jaccard, Limit::Similarity(threshold))?;
        if print {
            return print_pairs(&sets, &verifier);
        }
        println!(
            "\n### {threshold}\n\n| filters | candidates | verified | pairs | rank s | index s | probe s |"
        );
        println!("|---|---|---|---|---|---|---|");
        for &filters in &filters {
            if filters.prefix || sets.len() * sets.len() / 2 < FEASIBLE {
                measure(&sets, &verifier, filters)?;
            }
        }
        let join = SetJoin {
            verifier: &verifier,
            filters: Filters::default(),
            split: None,
            stopped: &|| false,
        };
        let start = Instant::now();
        let (_, counts) = components(&sets, &join)?;
        println!("\ncomponents: {counts:?}, {:.3} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// The different sets of a file, not sorted.
fn read(file: &Path) -> Result<Vec<Vec<u64>>> {
    let baskets = file.extension().is_some_and(|extension| extension == "txt");
    let shingling = if baskets { Shingling::elements() } else { Shingling::default() };
    let mut texts = Vec::new();
    if baskets {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        texts.extend(text.lines().map(str::to_owned));
    } else {
        let input = Input::open(&[file.to_owned()], ReadOptions::default())?;
        for chunk in input.scan() {
            let batch = input.decode(&chunk?, &|_| true)?;
            texts.extend((0..batch.items.len()).map(|i| batch.text(i).to_owned()));
        }
    }
    let mut known = HashSet::new();
    let mut sets: Vec<Vec<u64>> = texts.iter().map(|text| shingling.set(text)).collect();
    sets.retain(|set| known.insert(set.clone()));
    let mut random = SplitMix::new(1);
    for set in &mut sets {
        (1..set.len()).for_each(|i| set.swap(i, random.below(i as u64 + 1) as usize));
    }
    Ok(sets)
}

fn print_pairs(sets: &[&[u64]], verifier: &Verifier) -> Result<()> {
    let join = SetJoin { verifier, filters: Filters::default(), split: None, stopped: &|| false };
    let hits = Mutex::new(Vec::new());
    let found = |portion: &[SetPair]| {
        hits.lock().expect("no thread has failed").extend_from_slice(portion);
        Ok(())
    };
    nearkin_engine::join::sets::pairs(sets, &join, &found)?;
    let mut hits = hits.into_inner().expect("no thread has failed");
    hits.sort_unstable();
    for hit in hits {
        let union = sets[hit.a as usize].len() + sets[hit.b as usize].len() - hit.shared as usize;
        println!("{}\t{}\t{}", hit.a, hit.b, f64::from(hit.shared) / union as f64);
    }
    Ok(())
}

/// One row: the fastest of three runs.
fn measure(sets: &[&[u64]], verifier: &Verifier, filters: Filters) -> Result<()> {
    let join = SetJoin { verifier, filters, split: None, stopped: &|| false };
    let mut best = [f64::INFINITY; 3];
    let mut counts = SetJoinCounts::default();
    for _ in 0..3 {
        let start = Instant::now();
        let strings = SymbolStrings::new(sets, None)?;
        let ranked = start.elapsed().as_secs_f64();
        let indexed = PrefixIndex::new(strings, &join)?;
        let built = start.elapsed().as_secs_f64();
        counts = indexed.pairs(&join, &|_| Ok(()))?;
        let times = [ranked, built - ranked, start.elapsed().as_secs_f64() - built];
        if times.iter().sum::<f64>() < best.iter().sum() {
            best = times;
        }
        if best.iter().sum::<f64>() > 10.0 {
            break;
        }
    }
    let SetJoinCounts { candidates, verified, similar } = counts;
    let [rank, index, probe] = best;
    println!(
        "| {filters} | {candidates} | {verified} | {similar} | {rank:.3} | {index:.3} | {probe:.3} |"
    );
    Ok(())
}

// --- queries --------------------------------------------------------------------------------------------

const HELD: usize = 1_000_000;
const SIZE: usize = 50;
const UNIVERSE: u64 = 100_000;
const QUERIES: usize = 1_000;

fn measure_queries() -> Result<()> {
    println!(
        "| elements | queries with an answer | answers | candidates a query | median µs | 99th of 100 µs |"
    );
    println!("|---|---|---|---|---|---|");
    measure_queries_of("uniform", |random| random.below(UNIVERSE))?;
    // The chance of the k-th element goes with 1/k.
    let zipf = |random: &mut SplitMix| {
        let unit = random.below(1 << 53) as f64 / (1u64 << 53) as f64;
        ((UNIVERSE as f64).powf(unit) as u64).min(UNIVERSE) - 1
    };
    measure_queries_of("Zipf", zipf)?;
    measure_misses()
}

/// What a set costs that has nothing to do with those that are held.
fn measure_misses() -> Result<()> {
    // Few enough to stay in a cache, as a set does that was just made.
    const OTHERS: usize = 500;
    const ROUNDS: usize = 400;
    const OTHER_SIZE: usize = 150;
    let mut random = SplitMix::new(51);
    let mut draw = |sets: usize, size: usize| -> Vec<Vec<u64>> {
        (0..sets).map(|_| (0..size).map(|_| random.draw()).collect()).collect()
    };
    let verifier = Verifier::new(Measure::Jaccard, Limit::Similarity(0.8))?;
    println!(
        "\n| held sets of {OTHER_SIZE} | ns a set | ns an element that is looked up |\n|---|---|---|"
    );
    for held in [100, 1_000, 10_000] {
        let sets = draw(held, OTHER_SIZE);
        let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
        let index = SetIndex::new(&slices, &verifier, Filters::default())?;
        let others = draw(OTHERS, OTHER_SIZE);
        let (mut scratch, mut found) = (QueryScratch::default(), Vec::new());
        let start = Instant::now();
        for set in (0..ROUNDS).flat_map(|_| &others) {
            index.query(set, &mut scratch, &mut found);
        }
        let each = start.elapsed().as_secs_f64() * 1e9 / (ROUNDS * OTHERS) as f64;
        // A fifth may be lacking, and one more ends it.
        println!("| {held} | {each:.0} | {:.2} |", each / (OTHER_SIZE as f64 / 5.0 + 1.0));
    }
    Ok(())
}

fn measure_queries_of(name: &str, draw: impl Fn(&mut SplitMix) -> u64) -> Result<()> {
    let mut random = SplitMix::new(50);
    let draw_set = |random: &mut SplitMix, mut set: Vec<u64>| {
        while set.len() < SIZE {
            let element = draw(random);
            if !set.contains(&element) {
                set.push(element);
            }
        }
        set
    };
    let sets: Vec<Vec<u64>> = (0..HELD).map(|_| draw_set(&mut random, Vec::new())).collect();
    let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
    let verifier = Verifier::new(Measure::Jaccard, Limit::Similarity(0.8))?;
    let index = SetIndex::new(&slices, &verifier, Filters::default())?;
    let mut scratch = QueryScratch::default();
    index.query(&sets[0], &mut scratch, &mut Vec::new());
    let (mut times, mut answered, mut answers, mut candidates) = (Vec::new(), 0, 0, 0);
    for number in 0..QUERIES {
        let mut start_from = Vec::new();
        if number % 2 == 0 {
            // A copy without a few of its elements, and others instead.
            let copied = &sets[random.below(HELD as u64) as usize];
            start_from = copied[random.below(5) as usize..].to_vec();
        }
        let query = draw_set(&mut random, start_from);
        let mut found = Vec::new();
        let start = Instant::now();
        let counts = index.query(&query, &mut scratch, &mut found);
        times.push(start.elapsed().as_secs_f64() * 1e6);
        answered += usize::from(!found.is_empty());
        answers += found.len();
        candidates += counts.candidates;
    }
    times.sort_by(f64::total_cmp);
    let (median, slow) = (times[QUERIES / 2], times[QUERIES * 99 / 100]);
    let each = candidates as f64 / QUERIES as f64;
    println!("| {name} | {answered} | {answers} | {each:.1} | {median:.1} | {slow:.1} |");
    Ok(())
}
