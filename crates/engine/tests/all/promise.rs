//! The promised recall on real vectors and their sketches, with several seeds, against comparing everything.
#![cfg(feature = "files")]
#![allow(clippy::print_stderr)]

use crate::common::data::data;
use nearkin_engine::family::{Hyperplanes, Normals};
use nearkin_engine::item::Vectors;
use nearkin_engine::read::{ReadOptions, load_vectors};
use nearkin_engine::search::{Items, MemoryItems, Search};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::space::{ClosePair, Form, VectorMeasure};

const RECALL: f64 = 0.95;
const SEEDS: u64 = 6;

fn load(name: &str) -> Option<Vectors> {
    let loaded = load_vectors(&[data(name)?], &ReadOptions::default());
    Some(loaded.unwrap_or_else(|error| panic!("{error}")).items)
}

fn settings(items: &Items, limit: f64, strategy: Strategy, seed: u64) -> Settings {
    let (threshold, within) = match items.form() {
        Form::Similarity => (limit, None),
        Form::Distance => (0.0, Some(limit)),
    };
    let (audit, memory) = (Some(0), usize::MAX);
    let defaults = Settings::default();
    Settings { threshold, within, recall: RECALL, strategy, seed, audit, memory, ..defaults }
}

/// Runs the tables that are tuned for the recall, even where the complete way would be cheaper, with several
/// seeds: on average they find the promised share, no run is far below, and every pair is exact.
fn keeps_the_promise(what: &str, items: &Items, limit: f64) {
    let found = |strategy, seed| -> Vec<ClosePair> {
        let settings = settings(items, limit, strategy, seed);
        let matches = Search::new(&settings).pairs(MemoryItems::new(items.clone())).unwrap();
        let mut found = Vec::new();
        let row = |a, b, value| {
            found.push(ClosePair { a, b, value });
            Ok(())
        };
        matches.each(row).unwrap();
        found
    };
    let all = found(Strategy::Exact, 0);
    assert!(all.len() > 1000, "{what}: {} pairs", all.len());
    let mut recalls = Vec::new();
    for seed in 1..=SEEDS {
        let some = found(Strategy::Approximate, seed);
        let mut rest = all.iter();
        assert!(some.iter().all(|pair| rest.any(|other| other == pair)), "{what}: a pair too many");
        recalls.push(some.len() as f64 / all.len() as f64);
    }
    let mean = recalls.iter().sum::<f64>() / SEEDS as f64;
    let least = recalls.iter().copied().fold(1.0, f64::min);
    eprintln!("{what}: {} pairs, recall {mean:.4} on average, {least:.4} at least", all.len());
    // Most pairs are closer than the limit, so their mean chance lies above the promise. Over 60 seeds the recall of a run had a
    // mean of 0.9708 or more and a standard deviation of 0.0125 or less: both limits are at least 4.6 of these away, which
    // fails for one choice of seeds in 10,000, all cases together. The seeds are fixed.
    assert!(mean >= RECALL && least >= 0.92, "{what}: {recalls:?}");
}

fn sketches(vectors: &Vectors) -> Items {
    let bits = Hyperplanes::new(vectors, Normals::Gaussian, 77).sketches(256).unwrap();
    Items::Bits(bits, Form::Distance, 1.0)
}

#[test]
fn the_promise_is_kept_on_sift() {
    let Some(vectors) = load("vectors/sift_5k/base.npy") else { return };
    keeps_the_promise("sift, l2", &Items::Vectors(vectors.clone(), VectorMeasure::L2), 200.0);
    keeps_the_promise(
        "sift, cosine",
        &Items::Vectors(vectors.clone(), VectorMeasure::Cosine),
        0.92,
    );
    keeps_the_promise("sift, l1", &Items::Vectors(vectors.clone(), VectorMeasure::L1), 1600.0);
    keeps_the_promise("sift, 256 bits", &sketches(&vectors), 30.0);
}

#[test]
fn the_promise_is_kept_on_fashion() {
    let Some(vectors) = load("vectors/fashion_8k.npy") else { return };
    keeps_the_promise("fashion, l2", &Items::Vectors(vectors.clone(), VectorMeasure::L2), 900.0);
    keeps_the_promise(
        "fashion, cosine",
        &Items::Vectors(vectors.clone(), VectorMeasure::Cosine),
        0.97,
    );
    keeps_the_promise("fashion, 256 bits", &sketches(&vectors), 16.0);
}
