//! Items in memory: pairs and the closest of each, by either way, against comparing everything.

use nearkin_engine::LEAST_MEMORY;
use nearkin_engine::amplify::Expression;
use nearkin_engine::cluster::{Keep, Linkage};
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::item::{Bags, Bits, Sets, Sparse, Strings, Vectors};
use nearkin_engine::matches::{Matches, Stats};
use nearkin_engine::observe::Observer;
use nearkin_engine::plan::{Plan, Way};
use nearkin_engine::search::{ItemNames, Items, MemoryItems, Search};
use nearkin_engine::settings::{Goal, Settings, Strategy};
use nearkin_engine::space::{
    BagSpace, BitSpace, ClosePair, Form, SetSpace, SignatureSpace, Space, SparseMeasure,
    SparseSpace, StringMeasure, StringSpace, VectorMeasure, VectorSpace,
};
use nearkin_engine::verify::Measure;

const DIMENSION: usize = 24;

/// Ten points around each of some centres, further and further out, with copies of some.
fn vectors(count: usize, seed: u64) -> Vectors {
    let mut random = SplitMix::new(seed);
    let mut uniform = move || random.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0;
    let clusters = count / 10;
    let centres: Vec<f32> = (0..clusters * DIMENSION).map(|_| 4.0 * uniform()).collect();
    let mut values = Vec::new();
    for item in 0..count {
        if item % 23 == 22 {
            values.extend_from_within(values.len() - 10 * DIMENSION..values.len() - 9 * DIMENSION);
            continue;
        }
        let spread = 0.1 + 0.1 * (item / clusters) as f32;
        let centre = &centres[item % clusters * DIMENSION..][..DIMENSION];
        values.extend(centre.iter().map(|&at| at + spread * uniform()));
    }
    Vectors::new(DIMENSION, values).unwrap()
}

/// Eight strings around each of some, with more and more bits turned.
fn bits(count: usize, seed: u64) -> Bits {
    let mut random = SplitMix::new(seed);
    let mut bits = Bits::new(100).unwrap();
    let clusters = count / 8;
    let centres: Vec<[u64; 2]> = (0..clusters).map(|_| [random.draw(), random.draw()]).collect();
    for item in 0..count {
        let mut words = centres[item % clusters];
        for _ in 0..2 * (item / clusters) {
            let place = random.below(100) as usize;
            words[place / 64] ^= 1 << (place % 64);
        }
        bits.push(&words).unwrap();
    }
    bits
}

/// What is looked for.
#[derive(Clone)]
struct Query {
    limit: f64,
    strategy: Strategy,
    seed: u64,
    split: Option<u32>,
    audit: Option<usize>,
}

impl Query {
    fn settings(&self, form: Form) -> Settings {
        let (threshold, within) = match form {
            Form::Similarity => (self.limit, None),
            Form::Distance => (0.0, Some(self.limit)),
        };
        Settings {
            threshold,
            within,
            recall: 0.95,
            strategy: self.strategy.clone(),
            seed: self.seed,
            audit: self.audit,
            memory: usize::MAX,
            ..Settings::default()
        }
    }

    /// The items as one collection, or as two.
    fn items(&self, items: &Items) -> MemoryItems {
        let names = match self.split {
            None => vec![ItemNames::positions(items.len())],
            Some(split) => {
                [split as usize, items.len() - split as usize].map(ItemNames::positions).into()
            }
        };
        MemoryItems::named(items.clone(), names).unwrap()
    }
}

/// The pairs that were found, positions counted over both collections.
struct Pairs {
    found: Vec<ClosePair>,
    stats: Stats,
}

fn rows(matches: &Matches, k: Option<usize>) -> Vec<ClosePair> {
    let from = matches.collection.split().unwrap_or(0);
    let mut found = Vec::new();
    let row = |a, b, value| {
        found.push(ClosePair { a, b: b + from, value });
        Ok(())
    };
    match k {
        None => matches.each(row).unwrap(),
        Some(k) => matches.closest(k, row).unwrap(),
    };
    found
}

fn pairs(items: &Items, query: &Query) -> nearkin_engine::Result<Pairs> {
    let settings = query.settings(items.form());
    let matches = Search::new(&settings).pairs(query.items(items))?;
    Ok(Pairs { found: rows(&matches, None), stats: matches.stats })
}

fn closest(items: &Items, k: usize, split: Option<u32>, limit: Option<f64>) -> Vec<ClosePair> {
    let none = match items.form() {
        Form::Similarity => f64::NEG_INFINITY,
        Form::Distance => f64::INFINITY,
    };
    let query = search(limit.unwrap_or(none), Strategy::Cheapest, 1, split);
    let settings = query.settings(items.form());
    let matches = Search::new(&settings).closest(query.items(items), k).unwrap();
    rows(&matches, Some(k))
}

fn plan(items: &Items, query: &Query) -> Plan {
    let settings = query.settings(items.form());
    Search::new(&settings).plan(query.items(items), Goal::Pairs).unwrap().unwrap()
}

fn tables(expression: Expression) -> Strategy {
    Strategy::Tables { expression, probes: 1 }
}

fn search(limit: f64, strategy: Strategy, seed: u64, split: Option<u32>) -> Query {
    Query { limit, strategy, seed, split, audit: None }
}

/// Every pair that reaches the limit.
fn all(space: &dyn Space, limit: f64, split: Option<u32>) -> Vec<ClosePair> {
    let count = space.len() as u32;
    let (end, from) = (split.unwrap_or(count), |a: u32| split.unwrap_or(a + 1));
    (0..end)
        .flat_map(|a| (from(a)..count).map(move |b| (a, b)))
        .map(|(a, b)| ClosePair { a, b, value: space.value(a, b) })
        .filter(|found| !space.form().closer(limit, found.value))
        .collect()
}

/// The closest of each by sorting everything.
fn top(space: &dyn Space, k: usize, split: Option<u32>) -> Vec<ClosePair> {
    let count = space.len() as u32;
    let mut rows = Vec::new();
    for a in 0..split.unwrap_or(count) {
        let others = (split.unwrap_or(0)..count).filter(|&b| b != a);
        let mut row: Vec<ClosePair> =
            others.map(|b| ClosePair { a, b, value: space.value(a.min(b), a.max(b)) }).collect();
        row.sort_by(|x, y| {
            let order = x.value.total_cmp(&y.value);
            let order = if space.form() == Form::Distance { order } else { order.reverse() };
            order.then(x.b.cmp(&y.b))
        });
        row.truncate(k);
        rows.extend(row);
    }
    rows
}

#[test]
fn the_complete_way_finds_every_pair_and_the_closest() {
    let measures = [
        (VectorMeasure::L2, 2.0),
        (VectorMeasure::L1, 8.0),
        (VectorMeasure::LInf, 0.8),
        (VectorMeasure::Lr(3.0), 1.2),
        (VectorMeasure::Cosine, 0.98),
        (VectorMeasure::Angle, 12.0),
    ];
    let vectors = vectors(1500, 1);
    for (measure, limit) in measures {
        let space = VectorSpace::new(&vectors, measure).unwrap();
        let items = Items::Vectors(vectors.clone(), measure);
        for split in [None, Some(500)] {
            let found = pairs(&items, &search(limit, Strategy::Exact, 1, split)).unwrap();
            let expected = all(&space, limit, split);
            assert!(expected.len() > 100, "{measure:?}: {} pairs", expected.len());
            assert_eq!(found.found, expected, "{measure:?} {split:?}");
            assert_eq!(found.stats.plan.recall, 1.0);
            assert_eq!(closest(&items, 4, split, None), top(&space, 4, split), "{measure:?}");
        }
    }
    let bits = bits(1000, 2);
    for (form, limit) in [(Form::Distance, 9.0), (Form::Similarity, 0.9)] {
        let space = BitSpace::new(&bits, form, 1.0).unwrap();
        let items = Items::Bits(bits.clone(), form, 1.0);
        for split in [None, Some(300)] {
            let found = pairs(&items, &search(limit, Strategy::Exact, 1, split)).unwrap();
            let expected = all(&space, limit, split);
            assert_eq!(found.found, expected);
            assert!(expected.len() > 200);
            assert_eq!(closest(&items, 5, split, None), top(&space, 5, split));
        }
    }
}

/// Runs an expression with several seeds and compares what it finds with what its curve says.
fn recall_follows_the_curve(items: &Items, space: &dyn Space, limit: f64, expression: &str) {
    follows_the_curve(items, &all(space, limit, None), limit, expression);
}

fn follows_the_curve(items: &Items, expected: &[ClosePair], limit: f64, expression: &str) {
    let expression: Expression = expression.parse().unwrap();
    let (mut found, mut promised) = (0, 0.0);
    const SEEDS: u64 = 20;
    for seed in 0..SEEDS {
        let result = pairs(items, &search(limit, tables(expression.clone()), seed, None)).unwrap();
        let pairs = result.found;
        assert!(pairs.iter().all(|pair| expected.contains(pair)), "no pair that is not close");
        found += pairs.len();
        promised = result.stats.plan.recall;
        assert_eq!(result.stats.plan.way, Way::Tables);
    }
    // A pair at the limit is found with the promised chance and closer ones with a higher one, so the share
    // found is above the promise; it falls short of it by 0.02 in less than one of a thousand choices of
    // seeds, and these are fixed.
    let share = found as f64 / (SEEDS * expected.len() as u64) as f64;
    assert!(promised > 0.5 && share > promised - 0.02, "{share} of {promised} promised");
}

#[test]
fn tables_find_at_least_what_was_promised() {
    let points = vectors(600, 3);
    for (measure, limit, expression) in [
        (VectorMeasure::L2, 2.0, "or(8, and(4, line))"),
        (VectorMeasure::L2, 2.0, "and(2, or(6, and(2, line(9))))"),
        (VectorMeasure::L2, 2.0, "or(and(4, line(9)), and(4, line(12)), and(5, line(15)))"),
        (VectorMeasure::L1, 8.0, "or(12, and(3, line))"),
        (VectorMeasure::Cosine, 0.98, "or(10, and(8, hyperplane))"),
        (VectorMeasure::Angle, 12.0, "and(or(4, and(4, hyperplane)), or(6, and(5, signs)))"),
    ] {
        let space = VectorSpace::new(&points, measure).unwrap();
        let items = Items::Vectors(points.clone(), measure);
        recall_follows_the_curve(&items, &space, limit, expression);
    }
    let mut random = SplitMix::new(6);
    let mut sets = Sets::default();
    let base: Vec<Vec<u64>> =
        (0..60).map(|_| (0..40).map(|_| random.below(1 << 40)).collect()).collect();
    for item in 0..600 {
        let mut set = base[item % 60].clone();
        (0..item / 60).for_each(|at| set[at] = random.below(1 << 40));
        set.sort_unstable();
        set.dedup();
        sets.push(&set);
    }
    sets.push(&[]);
    sets.push(&[]);
    for (measure, limit) in [(Measure::Jaccard, 0.6), (Measure::BagSum, 0.375)] {
        let items = Items::Sets(sets.clone(), measure, Form::Similarity);
        let all = pairs(&items, &search(limit, Strategy::Exact, 1, None)).unwrap();
        let expected = all.found;
        assert!(expected.len() > 1000 && expected.iter().all(|found| found.b < 600));
        follows_the_curve(&items, &expected, limit, "and(or(6, and(3, minhash)), or(4, minhash))");
    }
    let strings = bits(600, 4);
    let space = BitSpace::new(&strings, Form::Distance, 1.0).unwrap();
    let items = Items::Bits(strings.clone(), Form::Distance, 1.0);
    recall_follows_the_curve(&items, &space, 9.0, "or(6, and(8, bits))");
}

#[test]
fn tables_are_taken_where_they_cost_less_and_keep_the_promise() {
    // Ten points around each of many centres in the cube: by L1 the centres are far apart, by L2 hardly farther than
    // the limit, so that bounds do not help.
    let mut random = SplitMix::new(8);
    let mut uniform = move || random.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0;
    let mut values = Vec::new();
    for _ in 0..800 {
        let centre: Vec<f32> = (0..64).map(|_| uniform()).collect();
        for at in 0..10 {
            let spread = 0.02 * (at + 4) as f32;
            values.extend(centre.iter().map(|x| x + spread * uniform()));
        }
    }
    let points = Vectors::new(64, values).unwrap();
    let space = VectorSpace::new(&points, VectorMeasure::L1).unwrap();
    let expected = all(&space, 7.0, None);
    assert!(expected.len() > 5000, "{}", expected.len());
    let items = Items::Vectors(points.clone(), VectorMeasure::L1);
    let mut found = 0;
    for seed in 1..=5 {
        let result = pairs(&items, &search(7.0, Strategy::Cheapest, seed, None)).unwrap();
        assert_eq!(result.stats.plan.way, Way::Tables);
        assert_eq!(result.stats.plan.recall, 0.95);
        let plan = result.stats.plan;
        let costs = (plan.exact.unwrap(), plan.tables.unwrap().cost.unwrap());
        assert!(costs.0.seconds > costs.1.seconds);
        found += result.found.len();
    }
    // Most pairs are well within the limit. Over 60 seeds the recall of a run had a mean of 0.983 and a standard deviation of
    // 0.0098, so the mean of five is below the promise in fewer than one choice of seeds in a billion.
    let share = found as f64 / (5 * expected.len()) as f64;
    assert!(share >= 0.95, "{share}");
}

#[test]
fn limits_that_single_precision_cannot_tell_are_searched_completely() {
    let mut values = vectors(2000, 9).values().to_vec();
    values.iter_mut().for_each(|value| *value += 1000.0);
    let points = Vectors::new(DIMENSION, values).unwrap();
    let space = VectorSpace::new(&points, VectorMeasure::L1).unwrap();
    let items = Items::Vectors(points.clone(), VectorMeasure::L1);
    for limit in [0.0, 1e-3, f64::INFINITY] {
        let result = pairs(&items, &search(limit, Strategy::Cheapest, 1, Some(40))).unwrap();
        assert_eq!(result.stats.plan.way, Way::Exact, "{limit}");
        assert_eq!(result.found.len(), all(&space, limit, Some(40)).len());
    }
    let narrow = tables("or(2, line(0.001))".parse().unwrap());
    let refused = pairs(&items, &search(1e-3, narrow, 1, None)).err().unwrap().to_string();
    assert!(refused.contains("width"), "{refused}");
}

#[test]
fn one_vector_far_out_hides_no_pair() {
    let mut values = vectors(3000, 10).values().to_vec();
    values[2777 * DIMENSION] = 1e21;
    let points = Vectors::new(DIMENSION, values).unwrap();
    let space = VectorSpace::new(&points, VectorMeasure::L2).unwrap();
    let items = Items::Vectors(points.clone(), VectorMeasure::L2);
    let result = pairs(&items, &search(2.0, Strategy::Exact, 1, None)).unwrap();
    let expected = all(&space, 2.0, None);
    assert_eq!(result.found, expected);
    assert!(expected.len() > 1000);
}

#[test]
fn a_hundred_thousand_copies_take_no_longer_than_one() {
    let mut values = vec![1.0f32; 100_000 * 8];
    values.extend([2.0; 8]);
    let vectors = Vectors::new(8, values).unwrap();
    let items = Items::Vectors(vectors, VectorMeasure::L2);
    let settings = search(0.5, Strategy::Cheapest, 1, None).settings(Form::Distance);
    let matches = Search::new(&settings).pairs(MemoryItems::new(items.clone())).unwrap();
    assert_eq!(matches.stats.distinct, 2);
    let mut near = Vec::new();
    let rows = matches.rows();
    let row = |_, b, _| {
        near.push(b);
        Ok(())
    };
    assert_eq!(rows.pairs(99_997..99_999, row).unwrap(), 3);
    assert_eq!(near, [99_998, 99_999, 99_999]);
    assert_eq!(rows.pairs(5..6, |_, _, _| Ok(())).unwrap(), 99_994);
    let found = closest(&items, 2, None, None);
    let of = |item: u32| -> Vec<(u32, f64)> {
        found.iter().filter(|found| found.a == item).map(|found| (found.b, found.value)).collect()
    };
    assert_eq!(of(0), [(1, 0.0), (2, 0.0)]);
    assert_eq!(of(70_000), [(0, 0.0), (1, 0.0)]);
    assert_eq!(of(100_000), [(0, 8f64.sqrt()), (1, 8f64.sqrt())]);
}

#[test]
fn the_closest_strings_are_those_of_comparing_all() {
    let mut random = SplitMix::new(12);
    let mut strings = Strings::default();
    for item in 0..300 {
        let length = 3 + random.below(if item % 10 == 0 { 30 } else { 9 });
        let text: String = (0..length).map(|_| char::from(b'a' + random.below(3) as u8)).collect();
        (0..1 + item / 290).for_each(|_| strings.push(&text));
    }
    for measure in [StringMeasure::InsertDelete, StringMeasure::Mutation] {
        let space = StringSpace::new(strings.clone(), measure);
        for (split, limit) in [(None, None), (Some(120), None), (None, Some(2.0))] {
            let mut expected = top(&space, 3, split);
            expected.retain(|found| limit.is_none_or(|limit| found.value <= limit));
            let items = Items::Strings(strings.clone(), measure);
            assert_eq!(closest(&items, 3, split, limit), expected, "{measure:?} {limit:?}");
        }
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let items = Items::Vectors(vectors(100, 5), VectorMeasure::LInf);
    let refused = |items: &Items, limit, way| {
        pairs(items, &search(limit, way, 1, None)).err().unwrap().to_string()
    };
    assert!(refused(&items, 1.0, tables("or(2, line)".parse().unwrap())).contains("line"));
    assert!(refused(&items, f64::NAN, Strategy::Cheapest).contains("limit"));
    let zero = Vectors::new(2, vec![1.0, 1.0, 0.0, 0.0]).unwrap();
    let zero = Items::Vectors(zero, VectorMeasure::Cosine);
    assert!(refused(&zero, 0.9, Strategy::Cheapest).contains("zeros"));
    let none = Items::Vectors(Vectors::default(), VectorMeasure::L2);
    assert_eq!(pairs(&none, &search(1.0, Strategy::Cheapest, 1, None)).unwrap().found, []);
}

/// Tables with probes, against their promise; as [`recall_follows_the_curve`].
fn probes_keep_the_promise(
    items: &Items,
    space: &dyn Space,
    limit: f64,
    tables: &str,
    probes: usize,
) {
    let expression: Expression = tables.parse().unwrap();
    for split in [None, Some(200)] {
        let expected = all(space, limit, split);
        let (mut found, mut promised) = (0, 0.0);
        const SEEDS: u64 = 20;
        for seed in 0..SEEDS {
            let way = Strategy::Tables { expression: expression.clone(), probes };
            let result = pairs(items, &search(limit, way, seed, split)).unwrap();
            let pairs = result.found;
            let mut rest = expected.iter();
            assert!(pairs.iter().all(|pair| rest.any(|other| other == pair)), "once and in order");
            found += pairs.len();
            promised = result.stats.plan.recall;
            assert_eq!(result.stats.plan.tables.unwrap().probes, probes);
        }
        let share = found as f64 / (SEEDS * expected.len() as u64) as f64;
        assert!(promised > 0.5 && share > promised - 0.02, "{share} of {promised} promised");
    }
}

#[test]
fn probes_find_at_least_what_was_promised() {
    let points = vectors(600, 3);
    for (measure, limit, tables, probes) in [
        (VectorMeasure::L2, 2.0, "or(2, and(6, line))", 8),
        (VectorMeasure::L2, 2.0, "or(3, and(5, line(3)))", 30),
        (VectorMeasure::L1, 8.0, "or(6, and(3, line))", 4),
        (VectorMeasure::Cosine, 0.98, "or(3, and(10, hyperplane))", 8),
        (VectorMeasure::Angle, 12.0, "and(5, hyperplane)", 6),
    ] {
        let space = VectorSpace::new(&points, measure).unwrap();
        let items = Items::Vectors(points.clone(), measure);
        probes_keep_the_promise(&items, &space, limit, tables, probes);
    }
    let strings = bits(600, 4);
    let space = BitSpace::new(&strings, Form::Distance, 1.0).unwrap();
    let items = Items::Bits(strings.clone(), Form::Distance, 1.0);
    probes_keep_the_promise(&items, &space, 9.0, "or(3, and(10, bits))", 12);
}

/// Stops at once.
struct Stop;

impl Observer for Stop {
    fn stopped(&self) -> bool {
        true
    }
}

/// Items of each kind that are nearly all alike, and a limit that most pairs reach.
fn much_alike() -> Vec<(Items, f64)> {
    const COUNT: usize = 1100;
    let mut random = SplitMix::new(11);
    let values = (0..COUNT * DIMENSION).map(|_| random.below(1000) as f32 / 1000.0).collect();
    let vectors = Vectors::new(DIMENSION, values).unwrap();
    let mut bits = Bits::new(100).unwrap();
    let mut strings = Strings::default();
    let mut sparse = Sparse::default();
    let mut sets = Sets::default();
    let mut bags = Bags::default();
    for item in 0..COUNT {
        bits.push(&[1 << (item % 40), 1 << (item / 40)]).unwrap();
        strings.push(&format!("the same {item:04}"));
        sparse.push(&[(0, 1.0), (1 + item as u32, 0.2)]).unwrap();
        sets.push(&(0..9).chain([9 + item as u64]).collect::<Vec<u64>>());
        bags.push(&[(0, 9_000_000_000), (1 + item as u64, 1_000_000_000)]).unwrap();
    }
    vec![
        (Items::Vectors(vectors.clone(), VectorMeasure::L2), 2.0),
        (Items::Vectors(vectors.clone(), VectorMeasure::L1), 8.0),
        (Items::Vectors(vectors, VectorMeasure::Cosine), 0.7),
        (Items::Bits(bits, Form::Distance, 1.0), 4.0),
        (Items::Strings(strings, StringMeasure::Mutation), 3.0),
        (Items::Sparse(sparse, SparseMeasure::Cosine), 0.9),
        (Items::Sets(sets, Measure::Jaccard, Form::Similarity), 0.8),
        (Items::Bags(bags, Measure::Bag, Form::Similarity), 0.8),
    ]
}

fn space_of<R>(items: &Items, with: impl FnOnce(&dyn Space) -> R) -> R {
    match items.clone() {
        Items::Vectors(vectors, measure) => with(&VectorSpace::new(&vectors, measure).unwrap()),
        Items::Bits(bits, form, scale) => with(&BitSpace::new(&bits, form, scale).unwrap()),
        Items::Sets(sets, measure, form) => with(&SetSpace::new(&sets, measure, form)),
        Items::Bags(bags, measure, form) => with(&BagSpace::new(&bags, measure, form)),
        Items::Strings(strings, measure) => with(&StringSpace::new(strings, measure)),
        Items::Sparse(vectors, measure) => with(&SparseSpace::new(vectors, measure)),
        Items::Signatures(signatures) => with(&SignatureSpace::new(&signatures)),
    }
}

/// A pair takes 32 bytes until it is in lists, and there is one megabyte for all of them.
#[test]
fn more_pairs_than_memory_holds_are_those_of_brute_force() {
    for (items, limit) in much_alike() {
        for split in [None, Some(400)] {
            let expected = space_of(&items, |space| all(space, limit, split));
            assert!(expected.len() > 100_000, "{} pairs", expected.len());
            let query = search(limit, Strategy::Exact, 1, split);
            for (threads, memory) in [(1, LEAST_MEMORY), (5, LEAST_MEMORY), (5, usize::MAX)] {
                let settings = Settings { threads, memory, ..query.settings(items.form()) };
                let matches = Search::new(&settings).pairs(query.items(&items)).unwrap();
                assert!(rows(&matches, None) == expected, "{split:?} {threads} {memory}");
                assert_eq!(matches.stats.similar, expected.len() as u64);
            }
        }
    }
}

/// Pairs that meet in several tables come once, and count once, whether they are listed or only connected.
#[test]
fn more_pairs_by_tables_than_memory_holds_come_once() {
    let (items, limit) = much_alike().swap_remove(0);
    for (text, probes) in [("or(6, and(4, line(8)))", 8), ("or(6, and(4, line(8)))", 1)] {
        let way = Strategy::Tables { expression: text.parse().unwrap(), probes };
        let query = search(limit, way, 7, None);
        let with = |memory| {
            let settings = Settings { memory, ..query.settings(Form::Distance) };
            let matches = Search::new(&settings).pairs(query.items(&items)).unwrap();
            let keep = (&Keep::First, Linkage::Chains);
            let kept = Search::new(&settings).dedup(query.items(&items), keep.0, keep.1).unwrap();
            assert_eq!(kept.stats.similar, matches.stats.similar);
            assert_eq!(kept.stats.kept, Some(1));
            (rows(&matches, None), matches.stats.similar)
        };
        let (found, similar) = with(LEAST_MEMORY);
        assert!(found.len() > 300_000 && found.is_sorted_by_key(|pair| (pair.a, pair.b)));
        assert!(found.windows(2).all(|two| (two[0].a, two[0].b) != (two[1].a, two[1].b)));
        assert_eq!(similar, found.len() as u64);
        assert!(with(usize::MAX) == (found, similar));
    }
}

/// The number of threads changes nothing.
#[test]
fn probes_find_the_same_with_any_number_of_threads() {
    let items = Items::Vectors(vectors(900, 6), VectorMeasure::L2);
    let expression: Expression = "or(3, and(6, line))".parse().unwrap();
    let way = Strategy::Tables { expression, probes: 16 };
    let query = search(2.0, way, 7, None);
    let with = |threads| -> Vec<ClosePair> {
        let settings = Settings { threads, ..query.settings(Form::Distance) };
        rows(&Search::new(&settings).pairs(query.items(&items)).unwrap(), None)
    };
    assert!(!with(1).is_empty());
    assert_eq!(with(1), with(5));
    let settings = query.settings(Form::Distance);
    assert!(Search::new(&settings).observed(&Stop).pairs(query.items(&items)).is_err());
    let expression: Expression = "and(2, or(2, line))".parse().unwrap();
    let nested = Strategy::Tables { expression, probes: 4 };
    assert!(pairs(&items, &search(2.0, nested, 7, None)).is_err());
}

/// With many components functions are what costs, and probes take their place; few items are not worth the thought.
#[test]
fn probes_are_planned_where_they_cost_less() {
    let planned = |count: usize, dimension: usize| {
        let mut random = SplitMix::new(9);
        let mut uniform = || random.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0;
        let values = (0..count * dimension).map(|_| uniform()).collect();
        let vectors = Vectors::new(dimension, values).unwrap();
        let items = Items::Vectors(vectors, VectorMeasure::L2);
        let limit = 0.5 * (dimension as f64).sqrt();
        plan(&items, &search(limit, Strategy::Cheapest, 1, None)).tables.unwrap()
    };
    let many = planned(16_000, 800);
    assert!(many.probes > 1 && many.curve.iter().any(|point| point.1 >= 0.95), "{many:?}");
    let (expression, probes) = (many.expression.clone(), many.probes);
    assert_eq!(many.strategy(), Strategy::Tables { expression, probes });
    assert_eq!(planned(500, 8).probes, 1);
}

#[test]
fn an_audit_of_everything_is_the_recall() {
    let vectors = vectors(1500, 4);
    let space = VectorSpace::new(&vectors, VectorMeasure::L2).unwrap();
    let items = Items::Vectors(vectors.clone(), VectorMeasure::L2);
    let weak: Expression = "or(3, and(6, line(4)))".parse().unwrap();
    for split in [None, Some(500)] {
        let expected = all(&space, 2.0, split).len() as f64;
        let by_tables = search(2.0, tables(weak.clone()), 3, split);
        let found = pairs(&items, &Query { audit: Some(usize::MAX), ..by_tables.clone() }).unwrap();
        let recall = found.stats.audit.and_then(|audit| audit.overall()).unwrap();
        let share = found.found.len() as f64 / expected;
        assert!(share < 0.9, "a weak expression misses some: {share}");
        assert!((recall.recall - share).abs() < 1e-12, "{recall:?}");
        assert!(recall.interval.is_some_and(|(low, high)| low == high), "{recall:?}");
        let few = pairs(&items, &by_tables).unwrap().stats.audit.unwrap();
        assert!(few.items().is_some_and(|items| (10..500).contains(&items)));
        assert!(
            pairs(&items, &Query { audit: Some(0), ..by_tables }).unwrap().stats.audit.is_none()
        );
    }
    assert!(pairs(&items, &search(2.0, Strategy::Exact, 3, None)).unwrap().stats.audit.is_none());
}
