//! Bands and expressions find the share of pairs that they promise, for small sets and for many rows too.

use nearkin_engine::amplify::Bands;
use nearkin_engine::index::Index;
use nearkin_engine::item::{Id, Sets, Texts};
use nearkin_engine::search::{Items, MemoryItems, Search, SourceItems};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::shingle::Shingling;
use nearkin_engine::space::Form;
use nearkin_engine::verify::Measure;

use crate::common::expressions::expression;

/// Pairs in a collection.
const PAIRS: u32 = 3000;
const SEEDS: u64 = 3;

/// Pairs of sets with `shared` of `union` elements in common: the items 2n and 2n + 1. No two pairs share an element.
#[derive(Clone, Copy)]
struct Collection {
    shared: u32,
    union: u32,
}

impl Collection {
    fn similarity(self) -> f64 {
        f64::from(self.shared) / f64::from(self.union)
    }

    /// The elements of an item: the shared ones, and half of the others.
    fn set(self, item: u32) -> impl Iterator<Item = u64> {
        let middle = self.shared + (self.union - self.shared) / 2;
        let own = if item.is_multiple_of(2) { self.shared..middle } else { middle..self.union };
        (0..self.shared).chain(own).map(move |n| u64::from(item / 2 * self.union + n))
    }

    fn texts(self) -> Vec<String> {
        let text = |item| self.set(item).map(|n| format!("w{n} ")).collect();
        (0..2 * PAIRS).map(text).collect()
    }

    fn settings(self, strategy: Strategy, seed: u64) -> Settings {
        // A little below, so that rounding loses no pair.
        let threshold = self.similarity() - 1e-9;
        let shingling = Shingling::words(1);
        Settings { threshold, strategy, seed, shingling, audit: Some(0), ..Settings::default() }
    }

    /// Fails where fewer pairs are found than this chance promises, by more than four standard errors: once in 30,000
    /// choices of seeds for a promise that is kept exactly. Seeds are fixed.
    fn check(self, what: &str, chance: f64, found: impl Fn(u64) -> u64) {
        let all = f64::from(PAIRS) * SEEDS as f64;
        let share = (1..=SEEDS).map(found).sum::<u64>() as f64 / all;
        let error = (chance * (1.0 - chance) / all).sqrt();
        let Self { shared, union } = self;
        assert!(
            share >= chance - 4.0 * error,
            "{what}, {shared} of {union}: {share:.4} found, {chance:.4} promised"
        );
    }
}

const CELLS: [(Collection, usize, usize); 12] = [
    (Collection { shared: 54, union: 60 }, 1, 32),
    (Collection { shared: 1, union: 5 }, 3, 2),
    (Collection { shared: 4, union: 5 }, 2, 8),
    (Collection { shared: 1, union: 2 }, 1, 2),
    (Collection { shared: 9, union: 10 }, 1, 3),
    (Collection { shared: 36, union: 40 }, 2, 8),
    (Collection { shared: 16, union: 20 }, 1, 16),
    (Collection { shared: 10, union: 20 }, 8, 4),
    (Collection { shared: 8, union: 10 }, 16, 6),
    (Collection { shared: 80, union: 100 }, 16, 6),
    (Collection { shared: 90, union: 100 }, 11, 10),
    (Collection { shared: 180, union: 200 }, 3, 24),
];

#[test]
fn bands_find_what_they_promise_where_many_values_must_agree() {
    for (collection, count, rows) in CELLS {
        let (texts, bands) = (collection.texts(), Bands::new(count, rows).unwrap());
        let chance = bands.probability(collection.similarity());
        collection.check("bands", chance, |seed| {
            let settings = collection.settings(Strategy::Bands(bands), seed);
            let matches = Search::new(&settings).pairs(SourceItems::new(&Texts(&texts))).unwrap();
            matches.each(|_, _, _| Ok(())).unwrap()
        });
    }
}

#[test]
fn an_index_finds_what_it_promises_where_many_values_must_agree() {
    for (collection, count, rows) in CELLS {
        let (texts, bands) = (collection.texts(), Bands::new(count, rows).unwrap());
        let chance = bands.probability(collection.similarity());
        collection.check("an index", chance, |seed| {
            let settings = collection.settings(Strategy::Bands(bands), seed);
            let mut index = Index::new(settings).unwrap();
            let mut found = 0;
            for (item, text) in texts.iter().enumerate() {
                found += index.query(text.as_str(), None).len() as u64;
                index.add(Id::Int(item as i64), text.as_str()).unwrap();
            }
            found
        });
    }
}

#[test]
fn an_expression_finds_what_it_promises_where_many_values_must_agree() {
    for (collection, count, rows) in CELLS {
        let tables = expression(&format!("or({count}, and({rows}, minhash))"));
        let chance = Bands::new(count, rows).unwrap().probability(collection.similarity());
        let mut sets = Sets::default();
        (0..2 * PAIRS).for_each(|item| sets.push(&collection.set(item).collect::<Vec<_>>()));
        collection.check("an expression", chance, |seed| {
            let strategy = Strategy::Tables { expression: tables.clone(), probes: 1 };
            let settings = collection.settings(strategy, seed);
            let items = Items::Sets(sets.clone(), Measure::Jaccard, Form::Similarity);
            let matches = Search::new(&settings).pairs(MemoryItems::new(items)).unwrap();
            matches.each(|_, _, _| Ok(())).unwrap()
        });
    }
}
