//! S8.8: groups for every kind of item in memory, against comparing everything and joining what is similar.

use nearkin_engine::cluster::{Deduplication, Keep, Linkage, UnionFind};
use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::item::{Bags, Bits, Id, Sets, Sparse, Strings, Value, Vectors};
use nearkin_engine::search::{ItemNames, Items, MemoryItems, Search};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::space::{
    BagSpace, BitSpace, Form, SetSpace, SignatureSpace, Space, SparseMeasure, SparseSpace,
    StringMeasure, StringSpace, VectorMeasure, VectorSpace,
};
use nearkin_engine::verify::Measure;

/// Items in clusters of six, the sixth a copy of the first.
const CLUSTERS: usize = 60;

fn vectors(random: &mut SplitMix) -> Vectors {
    let mut uniform = move || random.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0;
    let mut values = Vec::new();
    for _ in 0..CLUSTERS {
        let centre: Vec<f32> = (0..12).map(|_| 5.0 * uniform()).collect();
        for at in 0..5 {
            values.extend(centre.iter().map(|x| x + 0.15 * at as f32 * uniform()));
        }
        values.extend_from_within(values.len() - 60..values.len() - 48);
    }
    Vectors::new(12, values).unwrap()
}

fn bits(random: &mut SplitMix) -> Bits {
    let mut bits = Bits::new(96).unwrap();
    for _ in 0..CLUSTERS {
        let centre = [random.draw(), random.draw() & 0xffff_ffff];
        for at in [0, 1, 2, 3, 4, 0] {
            let mut words = centre;
            (0..3 * at).for_each(|_| words[0] ^= 1 << random.below(64));
            bits.push(&words).unwrap();
        }
    }
    bits
}

fn strings(random: &mut SplitMix) -> Strings {
    let mut strings = Strings::default();
    for _ in 0..CLUSTERS {
        let word: Vec<char> = (0..9).map(|_| char::from(b'a' + random.below(5) as u8)).collect();
        for at in [0, 1, 2, 1, 2, 0] {
            let mut word = word.clone();
            (0..at).for_each(|_| word[random.below(9) as usize] = 'x');
            strings.push(&word.iter().collect::<String>());
        }
    }
    strings.push("");
    strings.push("");
    strings
}

fn sets(random: &mut SplitMix) -> Sets {
    let mut sets = Sets::default();
    for _ in 0..CLUSTERS {
        let base: Vec<u64> = (0..20).map(|_| random.below(1 << 40)).collect();
        for at in [0, 1, 3, 5, 7, 0] {
            let mut set = base.clone();
            (0..at).for_each(|place| set[place] = random.below(1 << 40));
            set.sort_unstable();
            sets.push(&set);
        }
    }
    sets.push(&[]);
    sets.push(&[]);
    sets
}

fn bags(random: &mut SplitMix) -> Bags {
    let mut bags = Bags::default();
    for cluster in 0..CLUSTERS as u64 {
        let base: Vec<(u64, u64)> = (0..9).map(|at| (9 * cluster + at, 1 << (3 * at))).collect();
        for at in [0, 1, 2, 3, 4, 0] {
            let mut bag = base.clone();
            bag[8].1 += at * (1 << 22) + if at > 0 { random.below(1 << 20) } else { 0 };
            bags.push(&bag).unwrap();
        }
    }
    bags.push(&[]).unwrap();
    bags.push(&[]).unwrap();
    bags
}

fn sparse(random: &mut SplitMix) -> Sparse {
    let mut sparse = Sparse::default();
    for cluster in 0..CLUSTERS as u32 {
        for at in [0, 1, 2, 3, 4, 0] {
            let weight = |d: u32| 1.0 + if at > 0 { random_weight(random, at) } else { d as f32 };
            let dimensions = (0..8u32).map(|d| 40 * cluster + d + u32::from(at > 2) * (d % 2));
            let mut vector: Vec<(u32, f32)> = dimensions.zip((0..8).map(weight)).collect();
            vector.dedup_by_key(|entry| entry.0);
            sparse.push(&vector).unwrap();
        }
    }
    sparse
}

fn random_weight(random: &mut SplitMix, at: u32) -> f32 {
    random.below(u64::from(at) * 10) as f32 / 10.0
}

/// Every kind, a limit, and which items are similar to nothing.
fn kinds() -> Vec<(Items, f64)> {
    let random = &mut SplitMix::new(17);
    vec![
        (Items::Vectors(vectors(random), VectorMeasure::L2), 1.6),
        (Items::Vectors(vectors(random), VectorMeasure::Cosine), 0.99),
        (Items::Vectors(vectors(random), VectorMeasure::LInf), 0.6),
        (Items::Bits(bits(random), Form::Distance, 1.0), 7.0),
        (Items::Bits(bits(random), Form::Similarity, 1.0), 0.93),
        (Items::Strings(strings(random), StringMeasure::Mutation), 2.0),
        (Items::Strings(strings(random), StringMeasure::InsertDelete), 2.0),
        (Items::Sets(sets(random), Measure::Jaccard, Form::Similarity), 0.6),
        (Items::Bags(bags(random), Measure::Bag, Form::Similarity), 0.7),
        (Items::Bags(bags(random), Measure::Bag, Form::Distance), 0.35),
        (Items::Sparse(sparse(random), SparseMeasure::Cosine), 0.95),
    ]
}

/// The similarity or distance of all pairs, and whether an item is similar to nothing.
type Values = (Vec<Vec<f64>>, Vec<bool>);

fn values(items: &Items) -> Values {
    let all = |space: &dyn Space| {
        let count = space.len() as u32;
        let row = |a: u32| (0..count).map(|b| space.value(a.min(b), a.max(b))).collect();
        (0..count).map(row).collect::<Vec<Vec<f64>>>()
    };
    let nobody = vec![false; items.len()];
    match items.clone() {
        Items::Vectors(vectors, measure) => {
            (all(&VectorSpace::new(&vectors, measure).unwrap()), nobody)
        }
        Items::Bits(bits, form, scale) => {
            (all(&BitSpace::new(&bits, form, scale).unwrap()), nobody)
        }
        Items::Sets(sets, measure, form) => {
            let empty = (0..sets.len()).map(|set| sets.get(set).is_empty()).collect();
            (all(&SetSpace::new(&sets, measure, form)), empty)
        }
        Items::Bags(bags, measure, form) => {
            let empty = (0..bags.len()).map(|bag| bags.get(bag).is_empty()).collect();
            (all(&BagSpace::new(&bags, measure, form)), empty)
        }
        Items::Strings(strings, measure) => {
            let empty = (0..strings.len()).map(|item| strings.length(item) == 0).collect();
            (all(&StringSpace::new(strings, measure)), empty)
        }
        Items::Sparse(vectors, measure) => (all(&SparseSpace::new(vectors, measure)), nobody),
        Items::Signatures(signatures) => (all(&SignatureSpace::new(&signatures)), nobody),
    }
}

/// Merits that do not follow the order of the items.
fn merit(item: usize) -> i128 {
    (item * 7919 % 101) as i128
}

/// Who stands for whom, by comparing all; the item with the largest merit is kept, or the first.
fn expected(items: &Items, limit: f64, by_merit: bool, linkage: Linkage) -> Vec<u32> {
    let (values, nothing) = values(items);
    let count = items.len();
    let similar = |a: usize, b: usize| {
        !nothing[a] && !nothing[b] && !items.form().closer(limit, values[a][b])
    };
    let mut order: Vec<usize> = (0..count).collect();
    if by_merit {
        order.sort_by_key(|&item| (-merit(item), item));
    }
    let mut stands_for = vec![u32::MAX; count];
    match linkage {
        Linkage::Stars => {
            for &item in &order {
                if stands_for[item] == u32::MAX {
                    stands_for[item] = item as u32;
                    let free = |b: &usize| stands_for[*b] == u32::MAX && similar(item, *b);
                    let members: Vec<usize> = (0..count).filter(free).collect();
                    members.into_iter().for_each(|b| stands_for[b] = item as u32);
                }
            }
        }
        Linkage::Chains => {
            let mut sets = UnionFind::new(count);
            for a in 0..count {
                (0..a).filter(|&b| similar(a, b)).for_each(|b| sets.join(a as u32, b as u32));
            }
            for &item in order.iter().rev() {
                // The most preferred comes last, and stays.
                let root = sets.find(item as u32);
                stands_for[root as usize] = item as u32;
            }
            let kept = stands_for.clone();
            (0..count).for_each(|item| stands_for[item] = kept[sets.find(item as u32) as usize]);
        }
    }
    stands_for
}

fn settings(form: Form, limit: f64) -> Settings {
    let (threshold, within) = match form {
        Form::Similarity => (limit, None),
        Form::Distance => (0.0, Some(limit)),
    };
    Settings { threshold, within, strategy: Strategy::Exact, ..Settings::default() }
}

fn run(items: &Items, settings: &Settings, by_merit: bool, linkage: Linkage) -> Deduplication {
    let count = items.len();
    let names = ItemNames {
        ids: Some((0..count as i64).map(|item| Id::Int(1000 + item)).collect()),
        values: Some((0..count).map(|item| vec![Some(Value::Int(merit(item)))]).collect()),
        ..ItemNames::positions(count)
    };
    let keep = if by_merit { Keep::Max("merit".into()) } else { Keep::First };
    let items = MemoryItems::named(items.clone(), vec![names]).unwrap();
    Search::new(settings).dedup(items, &keep, linkage).unwrap()
}

#[test]
fn s8_8_groups_of_every_kind_equal_brute_force() {
    for (items, limit) in kinds() {
        let settings = settings(items.form(), limit);
        for (by_merit, linkage) in [
            (false, Linkage::Chains),
            (true, Linkage::Chains),
            (false, Linkage::Stars),
            (true, Linkage::Stars),
        ] {
            let found = run(&items, &settings, by_merit, linkage);
            let kept: Vec<u32> = found.clusters().map(|cluster| cluster.unwrap().0).collect();
            let what = format!("{:?} {by_merit} {linkage:?}", items.form());
            assert_eq!(kept, expected(&items, limit, by_merit, linkage), "{what}");
            let count = (0u32..).zip(&kept).filter(|(item, kept)| item == *kept).count();
            assert!(count > CLUSTERS / 2 && count < items.len() - CLUSTERS, "{what}: {count}");
            assert_eq!(found.stats.kept, Some(count as u64));
            assert_eq!(found.collection.ids().get(7).unwrap(), Id::Int(1007));
            // What is reported is the exact value of the two.
            let (values, nothing) = values(&items);
            for (item, cluster) in found.clusters().enumerate() {
                let (kept, value) = cluster.unwrap();
                assert!(nothing[item] || value == values[item][kept as usize], "{what}: {item}");
            }
        }
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    for (items, limit) in kinds() {
        let clusters = |threads, memory| {
            let settings = Settings { threads, memory, ..settings(items.form(), limit) };
            let found = run(&items, &settings, true, Linkage::Stars);
            found.clusters().collect::<Vec<_>>()
        };
        let one = clusters(1, usize::MAX);
        assert_eq!(clusters(4, usize::MAX), one);
        assert_eq!(clusters(2, 1 << 20), one);
    }
}

/// Tables that miss some: nothing is grouped that is not connected, and the audit of all items is what was found.
#[test]
fn an_approximate_run_is_audited() {
    let random = &mut SplitMix::new(23);
    let items = Items::Vectors(vectors(random), VectorMeasure::L2);
    let expression = "or(2, and(5, line(3)))".parse().unwrap();
    let settings = Settings {
        strategy: Strategy::Tables { expression, probes: 1 },
        audit: Some(usize::MAX),
        ..settings(Form::Distance, 1.6)
    };
    let found = run(&items, &settings, false, Linkage::Chains);
    let all = expected(&items, 1.6, false, Linkage::Chains);
    let kept: Vec<u32> = found.clusters().map(|cluster| cluster.unwrap().0).collect();
    for (item, &kept) in kept.iter().enumerate() {
        assert_eq!(all[item], all[kept as usize], "{item} and {kept} are not connected");
    }
    let recall = found.stats.audit.and_then(|audit| audit.overall()).unwrap();
    let (values, _) = values(&items);
    let close = |a: usize, b: usize| a != b && values[a][b] <= 1.6;
    let count = items.len();
    let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
    // Itself, or what is identical to it; two copies are never both kept.
    let is_kept = |item: usize| values[item][kept[item] as usize] == 0.0;
    let are_copies = |a: usize, b: usize| values[a][b] == 0.0;
    let (mut true_pairs, mut not_both) = (0, 0);
    for (a, b) in pairs.filter(|&(a, b)| close(a, b)) {
        true_pairs += 1;
        not_both += u64::from(are_copies(a, b) || !(is_kept(a) && is_kept(b)));
    }
    assert_eq!((recall.pairs, recall.found), (true_pairs, not_both));
    assert!(recall.recall < 1.0, "a weak expression misses some");
}
