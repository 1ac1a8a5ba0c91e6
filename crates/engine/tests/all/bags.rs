//! S1.2: bags with counts of any size, against comparing all of them by the definition.

use std::collections::BTreeMap;

use nearkin_engine::cluster::{Keep, Linkage};
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::item::{Bags, Texts};
use nearkin_engine::matches::Matches;
use nearkin_engine::search::{ItemNames, Items, MemoryItems, Search, SourceItems};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::shingle::{Shingling, elements};
use nearkin_engine::space::Form;
use nearkin_engine::verify::Measure;

type Bag = BTreeMap<u64, u64>;

/// How large counts are.
#[derive(Clone, Copy, Debug)]
enum Counts {
    /// Up to a few.
    Small,
    /// Each size from 1 to 10⁹ as often as the others.
    Mixed,
    /// Around 10⁹.
    Large,
}

impl Counts {
    fn draw(self, random: &mut SplitMix) -> u64 {
        match self {
            Self::Small => 1 + random.below(4),
            Self::Mixed => {
                let most = 10u64.pow(random.below(10) as u32);
                1 + random.below(most)
            }
            Self::Large => 900_000_000 + random.below(100_000_000),
        }
    }
}

/// Bags of up to 12 of so many elements, most of them close to an earlier one; with copies and empty ones.
fn bags(count: usize, elements: u64, counts: Counts, random: &mut SplitMix) -> Vec<Bag> {
    let mut all: Vec<Bag> = Vec::new();
    for item in 0..count {
        let size = random.below(12) as usize;
        let fresh: Bag = (0..size).map(|_| (random.below(elements), counts.draw(random))).collect();
        let mut bag = match item % 3 {
            0 => fresh,
            _ => all[random.below(item as u64) as usize].clone(),
        };
        for _ in 0..random.below(4) {
            let element = random.below(elements);
            match random.below(3) {
                0 => _ = bag.remove(&element),
                1 => _ = bag.insert(element, counts.draw(random)),
                _ => bag.values_mut().for_each(|count| *count += *count / (2 + element)),
            }
        }
        all.push(bag);
    }
    all
}

/// The measure as it is defined: nothing for empty bags.
fn value(measure: Measure, form: Form, a: &Bag, b: &Bag) -> Option<f64> {
    let common = a.iter().filter_map(|(element, x)| b.get(element).map(|y| (*x).min(*y)));
    let shared: u128 = common.map(u128::from).sum();
    let both: u128 = a.values().chain(b.values()).copied().map(u128::from).sum();
    let of = if measure == Measure::BagSum { both } else { both - shared };
    (!a.is_empty() && !b.is_empty()).then(|| match form {
        Form::Similarity => shared as f64 / of as f64,
        Form::Distance => (of - shared) as f64 / of as f64,
    })
}

type Found = Vec<(u32, u32, f64)>;

fn brute_force(
    bags: &[Bag],
    (measure, form, limit): (Measure, Form, f64),
    split: Option<usize>,
) -> Found {
    let mut found = Found::new();
    for (a, first) in bags.iter().enumerate() {
        for (b, second) in bags.iter().enumerate().skip(a + 1) {
            if split.is_some_and(|split| (a < split) == (b < split)) {
                continue;
            }
            let value = value(measure, form, first, second);
            let value = value.filter(|&value| !form.closer(limit, value));
            found.extend(value.map(|value| (a as u32, (b - split.unwrap_or(0)) as u32, value)));
        }
    }
    found.sort_unstable_by_key(|pair| (pair.0, pair.1));
    found
}

fn items(bags: &[Bag], measure: Measure, form: Form, split: Option<usize>) -> MemoryItems {
    let mut all = Bags::default();
    for bag in bags {
        all.push(&bag.iter().map(|(&element, &count)| (element, count)).collect::<Vec<_>>())
            .unwrap();
    }
    let names = match split {
        None => vec![ItemNames::positions(bags.len())],
        Some(split) => [split, bags.len() - split].map(ItemNames::positions).into(),
    };
    MemoryItems::named(Items::Bags(all, measure, form), names).unwrap()
}

fn settings((measure, form, limit): (Measure, Form, f64), threads: usize) -> Settings {
    let within = (form == Form::Distance).then_some(limit);
    Settings { measure, threshold: limit, within, threads, ..Settings::default() }
}

fn rows(matches: &Matches) -> Found {
    let mut found = Found::new();
    let row = |a, b, value| {
        found.push((a, b, value));
        Ok(())
    };
    matches.each(row).unwrap();
    found.sort_unstable_by_key(|pair| (pair.0, pair.1));
    found
}

const LIMITS: [(Measure, Form, f64); 8] = [
    (Measure::Bag, Form::Similarity, 0.8),
    (Measure::Bag, Form::Similarity, 0.3),
    (Measure::Bag, Form::Similarity, 1.0),
    (Measure::Bag, Form::Distance, 0.0),
    (Measure::Bag, Form::Distance, 0.25),
    (Measure::Bag, Form::Distance, 0.99),
    (Measure::BagSum, Form::Similarity, 0.444),
    (Measure::BagSum, Form::Similarity, 0.1),
];

#[test]
fn bags_with_any_counts_have_the_pairs_of_brute_force() {
    let random = &mut SplitMix::new(12);
    let mut pairs = 0;
    for counts in [Counts::Small, Counts::Mixed, Counts::Large] {
        for elements in [5, 40, 4000] {
            let bags = bags(300, elements, counts, random);
            for query in LIMITS {
                for split in [None, Some(120)] {
                    let expected = brute_force(&bags, query, split);
                    pairs += expected.len();
                    for threads in [1, 4] {
                        let settings = settings(query, threads);
                        let items = items(&bags, query.0, query.1, split);
                        let matches = Search::new(&settings).pairs(items).unwrap();
                        assert_eq!(rows(&matches), expected, "{counts:?} {elements} {query:?}");
                    }
                }
            }
        }
    }
    assert!(pairs > 20_000, "{pairs}");
}

#[test]
fn the_closest_bags_and_their_groups_are_those_of_brute_force() {
    let random = &mut SplitMix::new(5);
    let bags = bags(200, 60, Counts::Mixed, random);
    for query in LIMITS {
        let settings = settings(query, 2);
        let all = brute_force(&bags, query, None);
        let items = || items(&bags, query.0, query.1, None);
        let matches = Search::new(&settings).closest(items(), 3).unwrap();
        let mut found = Found::new();
        let row = |a, b, value| {
            found.push((a, b, value));
            Ok(())
        };
        matches.closest(3, row).unwrap();
        let mut expected = Found::new();
        for item in 0..bags.len() as u32 {
            let both = all.iter().flat_map(|&(a, b, value)| [(a, b, value), (b, a, value)]);
            let mut own: Found = both.filter(|pair| pair.0 == item).collect();
            own.sort_by(|x, y| query.1.order(x.2, y.2).then(x.1.cmp(&y.1)));
            expected.extend(own.into_iter().take(3));
        }
        assert_eq!(found, expected, "{query:?}");

        // The first of each group is kept: each item goes to the first kept one that is similar.
        let groups = Search::new(&settings).dedup(items(), &Keep::First, Linkage::Stars).unwrap();
        let mut kept: Vec<u32> = Vec::new();
        for item in 0..bags.len() as u32 {
            let is_similar = |&kept: &u32| all.iter().any(|pair| (pair.0, pair.1) == (kept, item));
            if !kept.iter().any(is_similar) {
                kept.push(item);
            }
        }
        let found: Vec<u32> = (0..bags.len() as u32).filter(|&item| groups.is_kept(item)).collect();
        assert_eq!(found, kept, "{query:?}");
    }
}

/// Bags as lists of elements that come as often as they are counted: another way, with other code.
#[test]
fn small_counts_have_the_pairs_that_copies_have() {
    let random = &mut SplitMix::new(77);
    let bags = bags(400, 30, Counts::Small, random);
    let list = |bag: &Bag| {
        let mut text = String::new();
        elements::start_list(&mut text);
        bag.iter().for_each(|(element, &count)| {
            elements::push_element(&mut text, &element.to_string(), count as u32);
        });
        text
    };
    let lists: Vec<String> = bags.iter().map(list).collect();
    for query in LIMITS {
        let shingling = Shingling::elements();
        let settings = Settings { shingling, strategy: Strategy::Exact, ..settings(query, 2) };
        let copies = Search::new(&settings).pairs(SourceItems::new(&Texts(&lists))).unwrap();
        let weighed = Search::new(&settings).pairs(items(&bags, query.0, query.1, None)).unwrap();
        assert_eq!(rows(&weighed), rows(&copies), "{query:?}");
        assert!(!rows(&copies).is_empty());
    }
}

#[test]
fn bags_that_make_no_sense_are_refused() {
    let mut bags = Bags::default();
    for (wrong, part) in [
        (vec![(2, 1), (1, 1)], "ascending"),
        (vec![(1, 1), (1, 1)], "ascending"),
        (vec![(1, 0)], "at least 1"),
        (vec![(1, u64::MAX), (2, 1)], "below 2^64"),
    ] {
        let message = bags.push(&wrong).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
    assert!(bags.is_empty());
    // The largest there are.
    let largest = [(1, u64::MAX - 1), (2, 1)];
    bags.push(&largest).unwrap();
    bags.push(&largest[..1]).unwrap();
    let items = MemoryItems::new(Items::Bags(bags, Measure::Bag, Form::Similarity));
    let settings = settings((Measure::Bag, Form::Similarity, 0.5), 1);
    assert_eq!(rows(&Search::new(&settings).pairs(items).unwrap()), [(0, 1, 1.0)]);
}
