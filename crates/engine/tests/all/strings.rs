//! The complete join of strings, against comparing everything with everything.

use crate::common::data::data;
use nearkin_engine::item::Strings;
use nearkin_engine::join::strings::{self, JoinCounts};
use nearkin_engine::measure::{edit, hamming};
use nearkin_engine::search::{Items, MemoryItems, Search};
use nearkin_engine::settings::Settings;
use nearkin_engine::space::{
    ClosePair, JoinQuery, Space, StringMeasure, StringSpace, sorted_pairs,
};
use nearkin_engine::{Error, Result};

const MEASURES: [StringMeasure; 3] =
    [StringMeasure::InsertDelete, StringMeasure::Mutation, StringMeasure::Hamming];

fn never() -> bool {
    false
}

fn joined(
    space: &StringSpace,
    limit: f64,
    split: Option<u32>,
) -> Result<(Vec<ClosePair>, JoinCounts)> {
    let join = JoinQuery { limit, split, stopped: &never };
    sorted_pairs(|found| strings::join(space, &join, found))
}

/// The distance by the plain functions, which know of no limit.
fn plain(measure: StringMeasure, x: &str, y: &str) -> f64 {
    let [a, b] = [x, y].map(|text| text.chars().collect::<Vec<_>>());
    match measure {
        StringMeasure::InsertDelete => edit::distance(&a, &b) as f64,
        StringMeasure::Mutation => edit::mutation_distance(&a, &b) as f64,
        StringMeasure::Hamming => hamming::distance(&a, &b).map_or(f64::INFINITY, |d| d as f64),
    }
}

fn every_pair<S: AsRef<str>>(
    texts: &[S],
    measure: StringMeasure,
    limit: f64,
    split: Option<u32>,
) -> Vec<ClosePair> {
    let mut found = Vec::new();
    for (a, x) in texts.iter().enumerate() {
        for (b, y) in texts.iter().enumerate().skip(a + 1) {
            let value = plain(measure, x.as_ref(), y.as_ref());
            let crosses = split.is_none_or(|split| a < split as usize && b >= split as usize);
            if crosses && value <= limit {
                found.push(ClosePair { a: a as u32, b: b as u32, value });
            }
        }
    }
    found
}

fn closer(pairs: &[ClosePair], limit: f64) -> Vec<ClosePair> {
    pairs.iter().filter(|pair| pair.value <= limit).copied().collect()
}

/// A small generator, so that every run tries the same strings (Steele, Lea and Flood 2014).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn string(&mut self, letters: &[char], longest: usize) -> String {
        (0..self.below(longest + 1)).map(|_| letters[self.below(letters.len())]).collect()
    }
}

#[test]
fn s1_5_join_is_complete_on_small_alphabets() {
    let alphabets: [&[char]; 4] =
        [&['a', 'b'], &['a', 'b', 'c'], &['x', 'é', 'ÿ', 'z'], &['a', '京', '😀']];
    let mut draw = Draw(1);
    let mut pairs = 0;
    for round in 0..240 {
        let letters = alphabets[round % 4];
        let count = draw.below(60);
        let longest = 2 + draw.below(11);
        let texts: Vec<String> = (0..count).map(|_| draw.string(letters, longest)).collect();
        let split = (round % 3 == 0).then(|| draw.below(count + 1) as u32);
        for measure in MEASURES {
            let space = StringSpace::new(texts.iter().collect(), measure);
            let all = every_pair(&texts, measure, 4.0, split);
            for limit in 0..=4 {
                let (found, _) = joined(&space, limit.into(), split).unwrap();
                let expected = closer(&all, limit.into());
                assert_eq!(found, expected, "{measure:?} {limit} {split:?} {texts:?}");
                pairs += found.len();
            }
        }
    }
    assert!(pairs > 100_000, "only {pairs} pairs were tried");
}

/// Strings of one length by the hundred, so that substrings are looked up instead of comparing all, with
/// edits that fall on borders of segments and between swapped characters.
#[test]
fn s1_5_join_is_complete_on_strings_a_few_edits_apart() {
    let mut draw = Draw(2);
    for round in 0..12 {
        let letters: &[char] = if round % 2 == 0 { &['a', 'b'] } else { &['a', 'b', 'c', 'ж'] };
        let length = 8 + draw.below(20);
        let mut texts = Vec::new();
        for _ in 0..12 {
            let seed: Vec<char> = (0..length).map(|_| letters[draw.below(letters.len())]).collect();
            for _ in 0..25 {
                let mut text = seed.clone();
                for _ in 0..draw.below(5) {
                    let at = draw.below(text.len() - 1);
                    match draw.below(4) {
                        0 => drop(text.remove(at)),
                        1 => text.insert(at, letters[draw.below(letters.len())]),
                        2 => text.swap(at, at + 1),
                        _ => text[at] = letters[draw.below(letters.len())],
                    }
                }
                texts.push(String::from_iter(text));
            }
        }
        for measure in MEASURES {
            let space = StringSpace::new(texts.iter().collect(), measure);
            let all = every_pair(&texts, measure, 4.0, None);
            for limit in 1..=4 {
                let (found, _) = joined(&space, limit.into(), None).unwrap();
                let expected = closer(&all, limit.into());
                assert_eq!(found, expected, "{measure:?} {limit} {texts:?}");
            }
        }
    }
}

#[test]
fn s1_5_space_gives_the_distance_or_nothing() {
    let texts = ["abcde", "acfdeg", "aba", "bab", "CA", "ABC", "", "日本語", "日語本"];
    for measure in MEASURES {
        let space = StringSpace::new(texts.iter().collect(), measure);
        for (a, x) in texts.iter().enumerate() {
            for (b, y) in texts.iter().enumerate() {
                let value = plain(measure, x, y);
                assert_eq!(space.value(a as u32, b as u32), value, "{measure:?} {x} {y}");
                for limit in [-1.0, 0.0, 0.5, 1.0, 2.0, 2.9, 3.0, 9.0, f64::INFINITY] {
                    let reaching = space.reaching(a as u32, b as u32, limit);
                    assert_eq!(reaching, (value <= limit).then_some(value), "{x} {y} {limit}");
                }
            }
        }
    }
}

#[test]
fn copies_are_compared_once_and_their_pairs_made_on_demand() {
    let texts = (0..2_000_000).map(|i| if i % 2 == 0 { "kitten" } else { "sitten" });
    let items = Items::Strings(texts.collect(), StringMeasure::Mutation);
    let settings = Settings { within: Some(1.0), ..Settings::default() };
    let matches = Search::new(&settings).pairs(MemoryItems::new(items)).unwrap();
    assert_eq!((matches.stats.distinct, matches.stats.similar), (2, 1));
    let rows = matches.rows();
    let mut found = Vec::new();
    let row = |a, b, value| {
        found.push((a, b, value));
        Ok(())
    };
    assert_eq!(rows.pairs(1_999_997..2_000_000, row).unwrap(), 3);
    let expected = [(1_999_997, 1_999_998, 1.0), (1_999_997, 1_999_999, 0.0)];
    assert_eq!(found[..2], expected);
    assert_eq!(rows.pairs(0..1, |_, _, _| Ok(())).unwrap(), 1_999_999);
}

#[test]
fn copies_are_paired_as_comparing_all_does() {
    let mut texts = vec!["one"; 300];
    texts.extend(vec!["two"; 200]);
    texts.extend(vec!["too"; 100]);
    let space = StringSpace::new(texts.iter().collect(), StringMeasure::InsertDelete);
    for split in [None, Some(0), Some(350), Some(600)] {
        let found = joined(&space, 2.0, split).unwrap().0;
        assert_eq!(found, every_pair(&texts, StringMeasure::InsertDelete, 2.0, split));
    }
}

#[test]
fn a_limit_that_is_none_is_an_error_and_any_other_works() {
    let space =
        StringSpace::new(["a", "b", "long string"].iter().collect(), StringMeasure::Mutation);
    for limit in [-1.0, f64::NAN] {
        assert!(matches!(joined(&space, limit, None), Err(Error::Parameter { .. })));
    }
    assert_eq!(joined(&space, f64::INFINITY, None).unwrap().0.len(), 3);
    assert_eq!(joined(&space, 1.9, None).unwrap().0.len(), 1);
    let nothing = StringSpace::new(Strings::default(), StringMeasure::Mutation);
    assert_eq!(joined(&nothing, 2.0, None).unwrap().0, []);
    let stopped = JoinQuery { limit: 1.0, split: None, stopped: &|| true };
    assert!(matches!(strings::join(&space, &stopped, &|_| Ok(())), Err(Error::Interrupted)));
}

/// The values of some columns of the persons of FEBRL, and the names and streets of restaurants.
fn records() -> Option<Vec<Vec<String>>> {
    let folder = data("records")?;
    let column = |path: &str, separator: char, place: usize| -> Vec<String> {
        let path = folder.join(path);
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().skip(1);
        lines.filter_map(|line| Some(line.split(separator).nth(place)?.trim().to_owned())).collect()
    };
    Some(vec![
        column("febrl/dataset3.csv", ',', 1),
        column("febrl/dataset3.csv", ',', 2),
        column("febrl/dataset3.csv", ',', 4),
        column("D1_restaurants/rest2.csv", '|', 1),
        column("D1_restaurants/rest2.csv", '|', 3),
    ])
}

#[test]
fn s1_5_join_is_complete_on_names_and_addresses() {
    for texts in records().into_iter().flatten() {
        // A fifth of the records, which is enough to be compared one by one.
        let texts: Vec<String> = texts.into_iter().step_by(5).collect();
        for measure in MEASURES {
            let space = StringSpace::new(texts.iter().collect(), measure);
            let all = every_pair(&texts, measure, 3.0, None);
            for limit in 0..=3 {
                let (found, counts) = joined(&space, limit.into(), None).unwrap();
                let expected = closer(&all, limit.into());
                assert_eq!(found, expected, "{measure:?} {limit}");
                assert!(counts.candidates < counts.distinct * counts.distinct / 2 + 1);
            }
        }
    }
}
