//! S4.5: the recall of a run, measured on a random sample of its items.

use nearkin_engine::audit::{Audit, Recall};
use nearkin_engine::family::hash::SplitMix;

/// An audit of items that have so many partners and found so many of them, all in one band.
fn audit(items: &[(u64, u64)], population: u64) -> Audit {
    let mut audit = Audit::new(0.8, population);
    for &(partners, found) in items {
        audit.item((0..partners).map(|at| (0.82, at < found)));
    }
    audit
}

fn assert_interval(found: Option<Recall>, recall: f64, low: f64, high: f64) {
    let found = found.expect("there are pairs");
    let interval = found.interval.expect("there is an interval");
    for (found, expected) in [(found.recall, recall), (interval.0, low), (interval.1, high)] {
        assert!((found - expected).abs() < 1e-7, "{found} for {expected}");
    }
}

/// A second implementation, in Python with scipy 1.17, gave these numbers.
#[test]
fn s4_5_the_interval_is_that_of_a_second_implementation() {
    let same = [(3, 3), (1, 1), (0, 0), (0, 0), (2, 2)];
    assert_interval(audit(&same, 40).overall(), 1.0, 0.002359535, 1.0);

    let singles: Vec<_> = (0..50).map(|at| (1, u64::from(at < 45))).collect();
    assert_interval(audit(&singles, 1000).overall(), 0.9, 0.781963920, 0.966693900);

    let mut heavy = vec![(499, 499), (499, 480), (499, 430)];
    heavy.extend((0..200).map(|at| (1, u64::from(at < 195))));
    heavy.extend([(0, 0); 100]);
    assert_interval(audit(&heavy, 30_000).overall(), 0.945197407, 0.790381001, 0.995679544);

    let poor = [(7, 0), (9, 1), (2, 0), (2, 0), (1, 0)].repeat(20);
    assert_interval(audit(&poor, 120).overall(), 0.047619048, 0.039361593, 0.057027110);

    assert_interval(audit(&[(4, 0); 30], 500).overall(), 0.0, 0.0, 0.118262053);

    let few = [(60, 60), (55, 54), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1), (1, 0)];
    assert_interval(audit(&few, 9).overall(), 0.983870968, 0.964282960, 0.994330916);
}

#[test]
fn s4_5_a_sample_of_everything_leaves_nothing_to_chance() {
    let items = [(3, 2), (1, 1), (0, 0), (2, 1)];
    for population in [4, 3, 0] {
        assert_interval(audit(&items, population).overall(), 4.0 / 6.0, 4.0 / 6.0, 4.0 / 6.0);
    }
}

#[test]
fn s4_5_one_item_with_partners_tells_next_to_nothing() {
    let found = audit(&[(500, 400), (0, 0)], 1000).overall().expect("there are pairs");
    assert!(found.interval.is_some_and(|(low, high)| low < 0.05 && high > 0.99), "{found:?}");
}

#[test]
fn s4_5_no_partners_no_recall() {
    let audit = audit(&[(0, 0); 10], 1000);
    assert_eq!(audit.overall(), None);
    assert!(audit.bands().is_empty());
    assert_eq!(audit.items(), Some(10));
}

#[test]
fn s4_5_bands_end_at_multiples_of_a_twentieth() {
    let mut audit = Audit::new(0.82, 1000);
    // The first is below the threshold by rounding only.
    let similarities = [0.82 - 1e-16, 0.849_999, 0.85, 0.9, 0.949_999, 1.0];
    audit.item(similarities.into_iter().map(|similarity| (similarity, similarity != 0.9)));
    let bands: Vec<_> = audit
        .bands()
        .into_iter()
        .map(|(range, recall)| (range.start, range.end, recall.pairs, recall.found))
        .collect();
    assert_eq!(
        bands,
        [(0.82, 0.85, 2, 2), (0.85, 0.9, 1, 1), (0.9, 0.95, 2, 1), (0.95, 1.0, 1, 1)]
    );
    assert_eq!(audit.overall().map(|recall| (recall.pairs, recall.found)), Some((6, 5)));
}

#[test]
fn s4_5_bands_of_few_pairs_have_no_interval() {
    for (partners, is_told) in [(29, false), (30, true)] {
        let audit = audit(&[(partners, partners)], 1000);
        assert_eq!(audit.bands()[0].1.interval.is_some(), is_told);
        assert!(audit.overall().expect("there are pairs").interval.is_some());
    }
}

#[test]
fn s4_5_every_multiple_of_a_twentieth_starts_its_band() {
    for twentieth in 0..20 {
        let mut audit = Audit::new(0.0, 1000);
        let start = f64::from(twentieth) / 20.0;
        audit.item([(start, true), (start.next_down().max(0.0), true)].into_iter());
        let bands = audit.bands();
        assert_eq!(bands[bands.len() - 1].0, start..f64::from(twentieth + 1) / 20.0);
        assert_eq!(bands.len(), if twentieth == 0 { 1 } else { 2 });
    }
}

#[test]
fn s4_5_similarities_out_of_range_are_counted_not_lost() {
    let mut audit = Audit::new(0.5, 1000);
    audit.item([(f64::NAN, true), (-3.0, true), (7.0, false)].into_iter());
    assert_eq!(audit.overall().map(|recall| recall.pairs), Some(3));
    let pairs: u64 = audit.bands().iter().map(|(_, recall)| recall.pairs).sum();
    assert_eq!(pairs, 3);
}

/// A collection in clusters and a run of bands over it: for each item, partners and those found.
/// A cluster has at least c members with chance 1 / c, so that a few clusters have most of the pairs.
/// A row of a member's sketch is its cluster's with chance √s and its own otherwise: two members
/// agree in a row with chance s, and a member with an odd sketch is missed by many.
fn run(items: usize, bands: usize, rows: usize, draw: &mut SplitMix) -> Vec<(u64, u64)> {
    let kept = (0.85f64.sqrt() * 2f64.powi(64)) as u64;
    let mut counts = Vec::with_capacity(items);
    while counts.len() < items {
        let size = (items as u64 / 10).min(u64::MAX / draw.draw().max(1)) as usize;
        // A band holds a member in its cluster's bucket where no row is its own.
        let buckets: Vec<u64> = (0..size)
            .map(|_| {
                (0..bands).fold(0, |all, band| {
                    let plain = (0..rows).fold(true, |plain, _| plain & (draw.draw() < kept));
                    all | u64::from(plain) << band
                })
            })
            .collect();
        for &own in &buckets {
            let found = buckets.iter().filter(|&&other| own & other != 0).count();
            // An item is no partner of its own.
            counts.push((size as u64 - 1, (found - usize::from(own != 0)) as u64));
        }
    }
    counts.truncate(items);
    counts
}

/// A simple random sample without replacement.
fn sample(items: &mut [(u64, u64)], size: usize, draw: &mut SplitMix) -> Vec<(u64, u64)> {
    for at in 0..size {
        let other = at + draw.below((items.len() - at) as u64) as usize;
        items.swap(at, other);
    }
    items[..size].to_vec()
}

/// How many of `trials` intervals hold the recall of the run they were sampled from.
fn held(trials: usize, bands: usize, rows: usize, seed: u64) -> usize {
    let mut draw = SplitMix::new(seed);
    let trial = |_: &usize| {
        let mut items = run(4000, bands, rows, &mut draw);
        let (pairs, found) = items.iter().fold((0, 0), |sum, x| (sum.0 + x.0, sum.1 + x.1));
        let truth = found as f64 / pairs as f64;
        let drawn = sample(&mut items, 500, &mut draw);
        let recall = audit(&drawn, 4000).overall().expect("500 items have partners");
        recall.interval.is_some_and(|(low, high)| low <= truth && truth <= high)
    };
    (0..trials).filter(trial).count()
}

/// Each trial draws its own collection, run and sample. Over 4,000 other trials 0.946 held; fewer than
/// 0.915 of 1,000 then have a chance of 10⁻⁵. Taking pairs for independent holds in 0.2.
#[test]
fn s4_5_the_interval_holds_for_weak_plans() {
    let held = held(1000, 4, 6, 1);
    assert!(held >= 915, "{held} of 1,000");
}

/// As above with 0.930 of 4,000, and a chance of 10⁻⁴ for fewer than 0.9. Taking pairs for
/// independent holds in 0.5.
#[test]
fn s4_5_the_interval_holds_for_strong_plans() {
    let held = held(1000, 12, 6, 2);
    assert!(held >= 900, "{held} of 1,000");
}
