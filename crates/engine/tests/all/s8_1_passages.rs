//! Passages of two texts: equal outside their gaps, nothing left out, wherever they stand.

use nearkin_engine::passages::{Passage, Run, Words, find};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn passages(a: &str, b: &str, least: usize) -> Vec<Passage> {
    find(&Words::of(a), &Words::of(b), least)
}

/// The texts of both sides of every passage.
fn sides<'a>(a: &'a str, b: &'a str, least: usize) -> Vec<[&'a str; 2]> {
    let words = [Words::of(a), Words::of(b)];
    let sides = |passage: &Passage| {
        let [x, y] = passage.spans();
        [&a[words[0].span(x)], &b[words[1].span(y)]]
    };
    find(&words[0], &words[1], least).iter().map(sides).collect()
}

/// Words that stand nowhere else.
fn block(name: &str, words: usize) -> String {
    (0..words).map(|i| format!("{name}{i} ")).collect()
}

#[test]
fn moved_blocks_are_found() {
    let [p, q, r, s] = [("p", 30), ("q", 12), ("r", 7), ("s", 4)].map(|(x, n)| block(x, n));
    let a = format!("{p}{q}{r}{s}");
    let b = format!("{s}other {r}{q}{p}");
    let found: Vec<Vec<Run>> =
        passages(&a, &b, 5).iter().map(|passage| passage.runs().to_vec()).collect();
    // Four words of s are too few.
    let run = |at, words| vec![Run { at, words }];
    assert_eq!(found, [run([0, 24], 30), run([30, 12], 12), run([42, 5], 7)]);
}

#[test]
fn changed_words_are_gaps() {
    let a = "Drivers will be sent round by the ring road, which adds considerably more time, the authority said.";
    let b = "“DRIVERS will be sent round by a narrow ring road, which adds much time, the authority said";
    let found = passages(a, b, 5);
    assert_eq!(found.len(), 1);
    let words = [Words::of(a), Words::of(b)];
    let differ: Vec<[&str; 2]> =
        found[0].gaps().map(|[x, y]| [&a[words[0].span(x)], &b[words[1].span(y)]]).collect();
    assert_eq!(differ, [["the", "a narrow"], ["considerably more", "much"]]);
    assert_eq!(found[0].words(), 14);
    assert_eq!(found[0].spans(), [0..17, 0..17]);
}

#[test]
fn a_gap_wider_than_what_follows_is_not_bridged() {
    let start = block("x", 8);
    let a = format!("{start} one two three four of the end");
    let b = format!("{start} five six seven eight of the");
    assert_eq!(sides(&a, &b, 5), [[start.trim(); 2]]);
}

#[test]
fn chinese_and_japanese_are_compared_by_characters() {
    let a = "港口大桥将于三月关闭六周。工程师发现两座桥墩有裂缝。";
    let b = "记者获悉,工程师发现两座石墩有裂缝。另外,港口大桥将于三月关闭六周!";
    let expected = [
        ["港口大桥将于三月关闭六周", "港口大桥将于三月关闭六周"],
        ["工程师发现两座桥墩有裂缝", "工程师发现两座石墩有裂缝"],
    ];
    assert_eq!(sides(a, b, 5), expected);
    assert_eq!(
        sides("犬が走って帰った。", "猫と犬が走って帰る。", 5),
        [["犬が走って帰", "犬が走って帰"]]
    );
}

#[test]
fn empty_short_and_identical_texts() {
    for (a, b) in
        [("", ""), ("", "a b c d e f"), ("a b c d e f", ""), ("😀 😀", "😀 😀"), ("x", "y")]
    {
        assert_eq!(passages(a, b, 5), [], "{a:?} {b:?}");
    }
    let text = block("w", 1000);
    assert_eq!(passages(&text, &text, 5)[0].runs(), [Run { at: [0, 0], words: 1000 }]);
    assert_eq!(
        sides("😀 Hello,\nworld 😀", "hello   WORLD", 5),
        [["Hello,\nworld", "hello   WORLD"]]
    );
    assert_eq!(sides("hello world", "I say: hello world, hello!", 5), [["hello world"; 2]]);
}

#[test]
fn repeats_are_matched_one_by_one() {
    let p = block("p", 10);
    let a = format!("{p} x1 x2 x3 x4 x5 x6 x7 {p} x11 x12 x13 x14 x15 x16 x17 {p}");
    let b = format!("{p} y1 y2 y3 y4 y5 y6 y7 {p}");
    let at: Vec<[usize; 2]> = passages(&a, &b, 5).iter().map(|found| found.runs()[0].at).collect();
    assert_eq!(at, [[0, 0], [17, 17]]);
}

#[test]
fn many_repeats_of_one_phrase_take_no_longer_than_other_words() {
    // By pairs of places each of these would take 10¹¹ steps or more.
    let equal = "again ".repeat(1_000_000);
    assert_eq!(passages(&equal, &equal, 5)[0].runs(), [Run { at: [0, 0], words: 1_000_000 }]);
    let mixed = "again again again again again again again again once ".repeat(60_000);
    check(&equal[..600 * 1000], &mixed, 5, false);
    check(&mixed, &equal, 5, false);
    let phrase = "in the middle of the night ";
    let [x, y] = ["", "some "].map(|between| {
        (0..100_000).map(|i| format!("{phrase}{between}w{i} v{i} ")).collect::<String>()
    });
    assert_eq!(passages(&x, &y, 5).iter().map(Passage::words).sum::<usize>(), 800_000);
}

/// What must be so of any two texts: all passages are real, none overlaps another, none could be longer; and where
/// that can be looked at pair by pair, nothing is left.
fn check(a: &str, b: &str, least: usize, pair_by_pair: bool) {
    let texts = [a.to_lowercase(), b.to_lowercase()];
    let words = texts.each_ref().map(|text| text.split_whitespace().collect::<Vec<_>>());
    let least = least.min(words[0].len()).min(words[1].len());
    let mut taken = words.each_ref().map(|words| vec![false; words.len()]);
    let found = passages(a, b, least);
    for passage in &found {
        assert!(passage.runs().iter().any(|run| run.words >= least), "{passage:?}");
        for run in passage.runs() {
            let [x, y] = [0, 1].map(|side| &words[side][run.at[side]..][..run.words]);
            assert_eq!(x, y, "{passage:?}");
        }
        for [x, y] in passage.gaps() {
            assert!(x.len() <= 6 && y.len() <= 6 && x.len() + y.len() > 0, "{passage:?}");
        }
        for (side, span) in passage.spans().into_iter().enumerate() {
            assert!(taken[side][span.clone()].iter().all(|taken| !taken), "{passage:?} overlaps");
            taken[side][span].fill(true);
        }
    }
    assert!(found.is_sorted_by(|x, y| x.words() >= y.words()));
    let free = |side: usize, at: usize| taken[side].get(at).is_some_and(|taken| !taken);
    for spans in found.iter().map(Passage::spans) {
        let [x, y] = [spans[0].end, spans[1].end];
        assert!(!(free(0, x) && free(1, y) && words[0][x] == words[1][y]), "longer at its end");
        let [x, y] = [0, 1].map(|side| spans[side].start.wrapping_sub(1));
        assert!(!(free(0, x) && free(1, y) && words[0][x] == words[1][y]), "longer at its start");
    }
    if !pair_by_pair || least == 0 {
        return;
    }
    let left = |side: usize| {
        let (words, taken) = (&words[side], &taken[side]);
        let whole =
            (0..=words.len() - least).filter(|&at| taken[at..at + least].iter().all(|t| !t));
        whole.map(move |at| &words[at..at + least]).collect::<Vec<_>>()
    };
    for x in left(0) {
        assert!(!left(1).contains(&x), "{x:?} is left in {a:?} and {b:?}");
    }
}

/// Greedy tiling as it is defined: the longest run of words that are left in both, again and again.
fn longest_first(a: &[u8], b: &[u8], least: usize) -> usize {
    let mut taken = [vec![false; a.len()], vec![false; b.len()]];
    let mut covered = 0;
    loop {
        let mut best = (0, 0, 0);
        for i in 0..a.len() {
            for j in 0..b.len() {
                let same = |n: &usize| {
                    let (x, y) = (i + n, j + n);
                    x < a.len() && y < b.len() && a[x] == b[y] && !taken[0][x] && !taken[1][y]
                };
                let run = (0..).take_while(same).count();
                if run > best.0 {
                    best = (run, i, j);
                }
            }
        }
        let (run, i, j) = best;
        if run < least {
            return covered;
        }
        covered += run;
        taken[0][i..i + run].fill(true);
        taken[1][j..j + run].fill(true);
    }
}

fn text(words: &[u8]) -> String {
    words.iter().map(|word| format!("w{word} ")).collect()
}

fn config(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(8), failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn any_two_texts(
        a in vec(0u8..4, 0..60), b in vec(0u8..4, 0..60), least in 1usize..7, more in 0u8..3,
    ) {
        // With few different words everything is repeated; with more, hardly anything.
        let spread = |words: Vec<u8>| -> Vec<u8> {
            words.iter().enumerate().map(|(i, &word)| word + 4 * (i as u8 % (1 + more * 3))).collect()
        };
        check(&text(&spread(a)), &text(&spread(b)), least, true);
    }

    #[test]
    fn blocks_in_any_order_with_changes(
        order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(), changed in vec(0usize..160, 0..8),
    ) {
        // Eight blocks of twenty words each, moved, and a few words changed.
        let block = |b: usize| (0..20).map(move |i| format!("b{b}w{i} "));
        let a: String = (0..8).flat_map(block).collect();
        let mut b: Vec<String> = order.iter().copied().flat_map(block).collect();
        for &at in &changed {
            b[at] = "CHANGED ".to_owned();
        }
        let b = b.concat();
        check(&a, &b, 5, true);
        let covered: usize = passages(&a, &b, 5).iter().map(Passage::words).sum();
        // A changed word costs itself, and at most four words that it cuts off on either side.
        prop_assert!(covered >= 160 - 9 * changed.len(), "{covered}");
    }
}

#[test]
fn it_covers_about_as_much_as_the_longest_first() {
    let mut state = 7u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut covered, mut greedy) = (0, 0);
    for _ in 0..300 {
        let kinds = 2 + draw(6);
        let [a, b] = [0, 1].map(|_| (0..40).map(|_| draw(kinds) as u8).collect::<Vec<u8>>());
        greedy += longest_first(&a, &b, 3);
        covered += passages(&text(&a), &text(&b), 3).iter().map(Passage::words).sum::<usize>();
    }
    assert!(greedy > 3000, "{greedy}");
    assert!(covered * 100 >= greedy * 98, "{covered} words, longest first {greedy}");
}
