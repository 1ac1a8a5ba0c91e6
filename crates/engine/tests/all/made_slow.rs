//! Collections that somebody made to be slow: what is compared grows with the items, not with their square.

use nearkin_engine::cluster::{Deduplication, Keep, Linkage};
use nearkin_engine::item::Texts;
use nearkin_engine::search::{Search, SourceItems};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::shingle::Shingling;

/// More than a bucket may have before it is looked at whether its members are similar.
const FORMS: usize = 5000;

/// Forms of 174 words with 28 of one's own: any two are 174/230 similar, which is below 0.8. Every tenth has 26 of the 28
/// from the one before it, and is 200/204 similar to that.
fn forms() -> Vec<String> {
    let word = |form: usize, at: usize| match (form % 10, at) {
        (_, 0..174) => format!("w{at}"),
        (9, 174..200) => format!("f{}w{at}", form - 1),
        _ => format!("f{form}w{at}"),
    };
    let form = |form: usize| (0..202).map(|at| word(form, at)).collect::<Vec<_>>().join(" ");
    (0..FORMS).map(form).collect()
}

fn settings(strategy: Strategy, threads: usize, memory: usize) -> Settings {
    let shingling = Shingling::words(1);
    Settings { shingling, strategy, threads, memory, ..Settings::default() }
}

fn dedup(texts: &[String], settings: &Settings, linkage: Linkage) -> Deduplication {
    let texts = Texts(texts);
    Search::new(settings).dedup(SourceItems::new(&texts), &Keep::First, linkage).unwrap()
}

const MEMORY: [usize; 2] = [1 << 30, 16 << 20];

/// A similar pair shares no key of any table in one of 10¹⁴ cases.
#[test]
fn pairs_of_forms_just_below_the_threshold_are_not_all_compared() {
    let texts = forms();
    let expected: Vec<(u32, u32, f64)> =
        (9..FORMS as u32).step_by(10).map(|b| (b - 1, b, 200.0 / 204.0)).collect();
    for (threads, memory) in [(1, MEMORY[0]), (3, MEMORY[1])] {
        let settings = settings(Strategy::Approximate, threads, memory);
        let similar = Search::new(&settings).pairs(SourceItems::new(&Texts(&texts))).unwrap();
        let mut found = Vec::new();
        let add = |a, b, value| {
            found.push((a, b, value));
            Ok(())
        };
        similar.each(add).unwrap();
        assert_eq!(found, expected);
        // Of 12 million pairs, nearly all share a key.
        assert!(similar.stats.verified < 2_000_000, "{:?}", similar.stats);
    }
}

#[test]
fn dedup_of_forms_just_below_the_threshold_does_not_compare_all() {
    let texts = forms();
    for linkage in [Linkage::Stars, Linkage::Chains] {
        for (threads, memory) in [(1, MEMORY[0]), (3, MEMORY[1])] {
            let settings = settings(Strategy::Approximate, threads, memory);
            let result = dedup(&texts, &settings, linkage);
            let kept = |at: u32| if at % 10 == 9 { at - 1 } else { at };
            assert!((0..FORMS as u32).all(|at| result.cluster(at).unwrap().0 == kept(at)));
            assert!(result.stats.verified < 2_000_000, "{:?}", result.stats);
        }
    }
}

/// Members of eight families in turn, of 45 words of 46 and one that the next seven have too. Those of a family share 44
/// words of 48 or more, and those of two families 37 of 55 at most.
fn families(count: usize) -> Vec<String> {
    let word = |text: usize, at: usize| match at {
        0..36 => format!("w{at}"),
        _ => format!("f{}w{at}", text % 8),
    };
    let text = |text: usize| {
        let left_out = text / 8 % 46;
        let words = (0..46).filter(|&at| at != left_out).map(|at| word(text, at));
        words.chain([format!("n{}", text / 8)]).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(text).collect()
}

/// A member shares a key of none of the tables with any of the others of its family in one of 10¹⁴ cases or fewer.
#[test]
fn dedup_of_families_that_are_close_does_not_look_at_all_pairs() {
    // Of 18, 72 and 288 million pairs, nearly all share a key.
    for (count, most) in [(6_000, 4_000_000), (12_000, 8_000_000), (24_000, 16_000_000)] {
        let texts = families(count);
        for threads in [1, 3] {
            let settings = settings(Strategy::Approximate, threads, MEMORY[0]);
            let result = dedup(&texts, &settings, Linkage::Stars);
            assert!((0..count as u32).all(|at| result.cluster(at).unwrap().0 == at % 8));
            assert!(result.stats.candidates < most, "{count}: {:?}", result.stats);
        }
    }
}

#[test]
fn dedup_of_forms_just_below_the_threshold_goes_the_exact_way() {
    let texts = forms();
    let result = dedup(&texts, &settings(Strategy::Cheapest, 1, MEMORY[0]), Linkage::Stars);
    assert!(result.stats.plan.is_exact(), "{:?}", result.stats.plan);
    assert_eq!(result.stats.kept, Some(FORMS as u64 - FORMS as u64 / 10));
}
