//! `nearkin show`: the figures and exercises of *Mining of Massive Datasets*, and of three courses on the subject, by the
//! command. What the book prints stands here as it is printed; other answers are worked out here, in another way.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::common::Place;

/// The four sets of figure 3.2.
const FOUR: &str = "S1=a,d S2=c S3=b,d,e S4=a,c,d";
/// The three sets of figure 3.5, by their rows from 0.
const THREE: &str = "S1=4,5,6 S2=3,4,5 S3=2,3,4 --universe 0..7";

/// What a step shows, as JSON.
struct Shown(Value);

fn show(line: &str) -> Shown {
    show_in(&Place::new(), line)
}

fn show_in(place: &Place, line: &str) -> Shown {
    Shown(serde_json::from_str(&place.ok(&format!("show {line} --json")).stdout).unwrap())
}

impl Shown {
    fn table(&self, name: &str) -> &Value {
        let tables = self.0["tables"].as_array().unwrap();
        tables
            .iter()
            .find(|table| table["name"] == name)
            .unwrap_or_else(|| panic!("{name}: {}", self.0))
    }

    /// The rows of a table without its first columns.
    fn rows(&self, name: &str, skipped: usize) -> Value {
        let rows = self.table(name)["rows"].as_array().unwrap();
        rows.iter().map(|row| Value::from(row.as_array().unwrap()[skipped..].to_vec())).collect()
    }

    fn column(&self, name: &str, column: &str) -> Vec<Value> {
        let table = self.table(name);
        let columns = table["columns"].as_array().unwrap();
        let at = columns.iter().position(|known| known == column);
        let at = at.unwrap_or_else(|| panic!("{column}: {columns:?}"));
        table["rows"].as_array().unwrap().iter().map(|row| row[at].clone()).collect()
    }

    fn numbers(&self, name: &str, column: &str) -> Vec<f64> {
        self.column(name, column).iter().map(|cell| cell.as_f64().unwrap()).collect()
    }

    fn texts(&self, name: &str, column: &str) -> Vec<String> {
        self.column(name, column).iter().map(|cell| cell.as_str().unwrap().to_owned()).collect()
    }
}

fn close(values: &[f64], expected: &[f64]) {
    assert_eq!(values.len(), expected.len(), "{values:?}");
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-9, "{values:?}");
    }
}

// --- shingles -------------------------------------------------------------------------------------------

#[test]
fn s2_1_shingles_are_shown_with_who_has_them() {
    let shown = show("shingles abcdabd abcd --shingle chars:2");
    // Example 3.3: ab bc cd da bd, of which ab comes twice.
    assert_eq!(shown.texts("shingles", "shingle"), ["ab", "bc", "cd", "da", "bd"]);
    assert_eq!(shown.numbers("shingles", "D1"), [2.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(shown.numbers("shingles", "D2"), [1.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(shown.numbers("shingles", "in how many"), [2.0, 2.0, 2.0, 1.0, 1.0]);
    // Exercise 3.2.3: n − k + 1 of n characters.
    assert_eq!(shown.numbers("texts", "shingles"), [6.0, 3.0]);
    let hashes: BTreeSet<String> = shown.texts("shingles", "hash").into_iter().collect();
    assert_eq!(hashes.len(), 5);
}

#[test]
fn s2_1_and_s2_6_first_sentence_of_a_section() {
    let place = Place::new();
    let sentence = "The most effective way to represent documents as sets, for the purpose of identifying lexically similar \
        documents is to construct from the document the set of short strings that appear within it.";
    place.write("one.txt", sentence);
    let threes = show_in(&place, "shingles --in one.txt --shingle chars:3");
    // Exercise 3.2.1.
    let first = ["The", "he ", "e m", " mo", "mos", "ost", "st ", "t e", " ef", "eff"];
    assert_eq!(threes.texts("shingles", "shingle")[..10], first);
    // Exercise 3.2.2: words of three letters or fewer start a shingle.
    let words: Vec<String> = sentence
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let short: BTreeSet<&str> =
        words.iter().filter(|word| word.len() <= 3).map(|word| &**word).collect();
    place.write("short.txt", short.iter().copied().collect::<Vec<_>>().join(" "));
    let mut expected: Vec<String> =
        words.windows(3).filter(|w| w[0].len() <= 3).map(|w| w.join(" ")).collect();
    let shown = show_in(&place, "shingles --in one.txt --shingle stopwords --stop-words short.txt");
    assert_eq!(expected[..3], ["the most effective", "way to represent", "to represent documents"]);
    expected.dedup();
    assert_eq!(shown.texts("shingles", "shingle"), expected);
}

#[test]
fn s2_7_shingles_of_hosts_and_paths() {
    let line = "shingles --urls www6.infoseek.com /cellblock16/inmates/dilbert/personal/foo.htm";
    let expected = [
        "www",
        "infoseek",
        "com",
        "(cellblock,inmates,0)",
        "(inmates,dilbert,1)",
        "(dilbert,personal,2)",
        "(personal,foo,3)",
    ];
    assert_eq!(show(line).texts("shingles", "shingle"), expected);
}

// --- matrix and signatures ------------------------------------------------------------------------------

#[test]
fn s3_9_the_characteristic_matrix() {
    let shown = show(&format!("matrix {FOUR} --permutation b,e,a,d,c"));
    // Figure 3.2.
    let figure = json!([
        ["a", 1, 0, 0, 1],
        ["b", 0, 0, 1, 0],
        ["c", 0, 1, 0, 1],
        ["d", 1, 0, 1, 1],
        ["e", 0, 0, 1, 0]
    ]);
    assert_eq!(shown.rows("matrix", 0), figure);
    // Figure 3.3.
    let permuted = json!([
        ["b", 0, 0, 1, 0],
        ["e", 0, 0, 1, 0],
        ["a", 1, 0, 0, 1],
        ["d", 1, 0, 1, 1],
        ["c", 0, 1, 0, 1]
    ]);
    assert_eq!(shown.rows("permuted", 0), permuted);
    // Exercise 3.3.1 (a): S1S2, S1S3, S1S4, S2S3, S2S4, S3S4.
    close(&shown.numbers("pairs", "Jaccard"), &[0.0, 0.25, 2.0 / 3.0, 0.0, 1.0 / 3.0, 0.2]);
    // Texts become columns too, here by their 2-shingles: ab bc ca, and ab bc cd.
    let texts = show("matrix abca abcd --shingle chars:2");
    assert_eq!(
        texts.rows("matrix", 0),
        json!([["ab", 1, 1], ["bc", 1, 1], ["ca", 1, 0], ["cd", 0, 1]])
    );
}

#[test]
fn s3_1_minhashes_by_a_permutation() {
    for order in ["b,e,a,d,c", "beadc"] {
        let shown = show(&format!("signatures {FOUR} --permutation {order}"));
        // Example 3.7: a, c, b, a.
        assert_eq!(shown.rows("elements", 1), json!([["a", "c", "b", "a"]]));
        assert_eq!(shown.rows("signatures", 1), json!([[3, 5, 1, 3]]));
    }
}

#[test]
fn s3_1_all_120_orders_agree_as_often_as_sets_are_similar() {
    // Exercise 3.3.1 (b).
    let shown = show(&format!("estimate {FOUR} --all-permutations"));
    let truth = [0.0, 0.25, 2.0 / 3.0, 0.0, 1.0 / 3.0, 0.2];
    close(&shown.numbers("pairs", "col/col"), &truth);
    close(&shown.numbers("pairs", "sig/sig"), &truth);
    assert_eq!(shown.numbers("pairs", "equal"), truth.map(|s| (s * 120.0).round()));
    // Exercise 3.3.6: cyclic orders are not enough; {0} and {0, 1} of three rows agree in two of three.
    let cyclic = show("estimate A=0 B=0,1 --universe 0..2 --cyclic");
    close(&cyclic.numbers("pairs", "sig/sig"), &[2.0 / 3.0]);
    close(&cyclic.numbers("pairs", "col/col"), &[0.5]);
}

#[test]
fn s3_2_functions_are_traced_row_by_row() {
    let shown = show(&format!("signatures {FOUR} --functions x+1mod5,3x+1mod5"));
    // Figure 3.4.
    assert_eq!(shown.column("matrix", "x+1mod5"), [1, 2, 3, 4, 0].map(Value::from));
    assert_eq!(shown.column("matrix", "3x+1mod5"), [1, 4, 2, 0, 3].map(Value::from));
    // The matrices of example 3.8, one after the other.
    let trace = json!([
        ["∞", "∞", "∞", "∞"],
        ["∞", "∞", "∞", "∞"],
        [1, "∞", "∞", 1],
        [1, "∞", "∞", 1],
        [1, "∞", 2, 1],
        [1, "∞", 4, 1],
        [1, 3, 2, 1],
        [1, 2, 4, 1],
        [1, 3, 2, 1],
        [0, 2, 0, 0],
        [1, 3, 0, 1],
        [0, 2, 0, 0]
    ]);
    assert_eq!(shown.rows("trace", 2), trace);
    assert_eq!(shown.rows("signatures", 1), json!([[1, 3, 0, 1], [0, 2, 0, 0]]));
    // "We guess that SIM(S1, S4) = 1.0", half of the rows for S1 and S3, 0 for S1 and S2.
    let estimates = shown.numbers("pairs", "sig/sig");
    assert_eq!([estimates[2], estimates[1], estimates[0]], [1.0, 0.5, 0.0]);
}

/// Signatures by the definition: the least value of any element.
fn least(sets: &[&[i64]], function: impl Fn(i64) -> i64) -> Vec<i64> {
    sets.iter().map(|set| set.iter().map(|&x| function(x)).min().unwrap()).collect()
}

#[test]
fn s3_2_more_functions_and_which_are_permutations() {
    // Exercise 3.3.2.
    let four: [&[i64]; 4] = [&[0, 3], &[2], &[1, 3, 4], &[0, 2, 3]];
    let shown = show(&format!("signatures {FOUR} --functions 2x+4mod5,3x-1mod5"));
    let expected = json!([least(&four, |x| (2 * x + 4) % 5), least(&four, |x| (3 * x + 4) % 5)]);
    assert_eq!(shown.rows("signatures", 1), expected);
    // Exercise 3.3.3, the matrix of figure 3.6.
    let six: [&[i64]; 4] = [&[2, 5], &[0, 1], &[3, 4], &[0, 2, 4]];
    let line = "S1=2,5 S2=0,1 S3=3,4 S4=0,2,4 --functions 2x+1mod6,3x+2mod6,5x+2mod6";
    let shown = show(&format!("signatures {line}"));
    let functions = [|x| (2 * x + 1) % 6, |x| (3 * x + 2) % 6, |x| (5 * x + 2) % 6];
    let expected: Vec<Vec<i64>> = functions.iter().map(|f| least(&six, f)).collect();
    assert_eq!(shown.rows("signatures", 1), json!(expected));
    let is_one = functions.map(|f| (0..6).map(f).collect::<BTreeSet<i64>>().len() == 6);
    assert_eq!(is_one, [false, false, true]);
    assert_eq!(shown.texts("functions", "a permutation"), ["no", "no", "yes"]);
    // (c): the truth is 0, 0, 1/4, 0, 1/4, 1/4.
    close(&shown.numbers("pairs", "col/col"), &[0.0, 0.0, 0.25, 0.0, 0.25, 0.25]);
    let agree =
        |a: usize, b: usize| expected.iter().filter(|row| row[a] == row[b]).count() as f64 / 3.0;
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(|(a, b)| agree(a, b));
    close(&shown.numbers("pairs", "sig/sig"), &pairs);
}

#[test]
fn s3_9_signature_matrices_of_the_slides() {
    // A row of places for each permutation, as the slides have them.
    let shown = show(
        "signatures C1=3,6 C2=1,4,6 C3=1,2,7 C4=2,4,5 --universe 1..7 --places 1,2,3,4,5,6,7 --places 7,6,5,4,3,2,1 \
         --places 6,3,1,7,2,5,4",
    );
    assert_eq!(shown.rows("signatures", 1), json!([[3, 1, 1, 2], [2, 2, 1, 3], [1, 5, 3, 2]]));
    let shown = show(
        "signatures C1=1,2,6,7 C2=3,4,5 C3=1,6,7 C4=2,3,4,5 --universe 1..7 --places 2,3,7,6,1,5,4 --places 4,2,1,3,6,7,5 \
         --places 3,4,7,2,6,1,5",
    );
    assert_eq!(shown.rows("signatures", 1), json!([[2, 1, 2, 1], [2, 1, 4, 1], [1, 2, 1, 2]]));
    // "Store row indexes."
    let rows = json!([["1", "5", "1", "5"], ["2", "3", "1", "3"], ["6", "4", "6", "4"]]);
    assert_eq!(shown.rows("elements", 1), rows);
    // 1-3, 2-4, 1-2, 3-4: col/col .75 .75 0 0, sig/sig .67 1.00 0 0.
    let names = |column: &str| shown.texts("pairs", column);
    let pair = |a: &str, b: &str| {
        let at =
            names("a").iter().zip(names("b")).position(|(x, y)| (&**x, &*y) == (a, b)).unwrap();
        [shown.numbers("pairs", "col/col")[at], shown.numbers("pairs", "sig/sig")[at]]
    };
    close(&pair("C1", "C3"), &[0.75, 2.0 / 3.0]);
    close(&pair("C2", "C4"), &[0.75, 1.0]);
    close(&pair("C1", "C2"), &[0.0, 0.0]);
    close(&pair("C3", "C4"), &[0.0, 0.0]);
}

#[test]
fn s3_4_truncated_scans_have_gaps() {
    // The first two of beadc are b and e, which S3 alone has.
    let shown = show(&format!("signatures {FOUR} --permutation b,e,a,d,c --truncate 2"));
    assert_eq!(shown.rows("signatures", 1), json!([["∞", "∞", 1, "∞"]]));
    // Two ∞ are no evidence, one ∞ is unequal: S1S2 and S1S4 say nothing, S1S3 differ.
    assert_eq!(shown.column("pairs", "sig/sig")[..3], [Value::Null, json!(0.0), Value::Null]);
    assert_eq!(shown.numbers("pairs", "both ∞"), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    // Over all orders the estimate stays that of the whole scan.
    let all = show(&format!("estimate {FOUR} --all-permutations --truncate 2"));
    close(&all.numbers("pairs", "sig/sig"), &[0.0, 0.25, 2.0 / 3.0, 0.0, 1.0 / 3.0, 0.2]);
}

#[test]
fn s3_5_one_permutation_with_groups() {
    let shown = show(&format!("signatures {THREE} --groups 2"));
    // Figure 3.5, and example 3.9: 1/2, 1/5, 1/2 are expected as 1/3, 1/6, 1/2.
    assert_eq!(shown.column("matrix", "S2"), [0, 0, 0, 1, 1, 1, 0, 0].map(Value::from));
    close(&shown.numbers("groups", "Jaccard"), &[0.5, 0.2, 0.5]);
    close(&shown.numbers("groups", "expected"), &[1.0 / 3.0, 1.0 / 6.0, 0.5]);
    close(&shown.numbers("groups", "0 to 3"), &[0.0, 0.0, 0.5]);
    close(&shown.numbers("groups", "4 to 7"), &[2.0 / 3.0, 1.0 / 3.0, 0.5]);
    // In the order of the rows: S1 has none of the first four.
    assert_eq!(shown.rows("signatures", 1), json!([["∞", 4, 3], [5, 5, 5]]));
    // Exercise 3.3.9: the mean may exceed the similarity.
    let more = show("signatures A=0,4,5 B=0,6,7 --universe 0..7 --groups 2");
    assert_eq!(
        (more.numbers("groups", "expected"), more.numbers("groups", "Jaccard")),
        (vec![0.5], vec![0.2])
    );
}

#[test]
fn s3_9_the_engines_sketch_estimates_too() {
    // Sets of 90 and 90 with 60 in common: 1/2. Off by five standard errors of 400 values once in 1.7 million seeds.
    let place = Place::new();
    let list =
        |from: usize| (from..from + 90).map(|x| format!("w{x}")).collect::<Vec<_>>().join(" ");
    place.write("sets.txt", format!("{}\n{}\n{}\n", list(0), list(30), list(1000)));
    let shown = show_in(&place, "estimate --in sets.txt --as set --values 400");
    assert_eq!(shown.numbers("pairs", "col/col"), [0.5, 0.0, 0.0]);
    let error = shown.numbers("pairs", "standard error");
    close(&error, &[(0.25f64 / 400.0).sqrt(), 0.0, 0.0]);
    let estimates = shown.numbers("pairs", "sig/sig");
    assert!((estimates[0] - 0.5).abs() < 5.0 * error[0], "{estimates:?}");
    assert_eq!(estimates[1..], [0.0, 0.0]);
    let names = show_in(&place, "estimate --in sets.txt --as set 2 0");
    assert_eq!(
        (names.texts("pairs", "a"), names.texts("pairs", "b")),
        (vec!["2".into()], vec!["0".into()])
    );
}

// --- buckets --------------------------------------------------------------------------------------------

#[test]
fn s4_1_figure_3_7_as_buckets() {
    let line =
        "buckets --signatures c1=1,3,0 c2=0,2,1 c3=0,1,3 c4=0,2,1 c5=2,2,1 --bands 1 --rows 3";
    let shown = show(line);
    assert_eq!(shown.rows("buckets", 0), json!([[1, "0,2,1", 2, "c2 c4"]]));
    let met = shown.texts("pairs", "candidate").into_iter().filter(|is| is == "yes");
    assert_eq!(met.count(), 1);
}

#[test]
fn s4_1_bands_of_functions_by_hand() {
    let shown = show(&format!("buckets {FOUR} --functions x+1mod5,3x+1mod5 --bands 2 --rows 1"));
    // Signatures 1,0 3,2 0,0 1,0: S1 and S4 meet in both bands, S1 and S3, S3 and S4 in the second.
    assert_eq!(shown.numbers("pairs", "bands shared"), [0.0, 1.0, 2.0, 0.0, 0.0, 1.0]);
    let chance = |s: f64| 1.0 - (1.0 - s).powi(2);
    let truth = [0.0, 0.25, 2.0 / 3.0, 0.0, 1.0 / 3.0, 0.2].map(chance);
    close(&shown.numbers("pairs", "chance to meet"), &truth);
}

#[test]
fn s4_1_buckets_of_copies_and_strangers() {
    let place = Place::new();
    place.write("sets.txt", "a b c d\nd c b a\nx y z\n");
    let shown = show_in(&place, "buckets --in sets.txt --as set --bands 7 --rows 3");
    assert_eq!(shown.numbers("pairs", "bands shared"), [7.0, 0.0, 0.0]);
    close(&shown.numbers("pairs", "chance to meet"), &[1.0, 0.0, 0.0]);
    assert_eq!(shown.table("buckets")["rows"].as_array().unwrap().len(), 7);
}

// --- sketches of vectors --------------------------------------------------------------------------------

#[test]
fn s6_2_the_sketches_of_example_3_22() {
    let shown =
        show("sketch x=3,4,5,6 y=4,3,2,1 --normal 1,-1,1,1 --normal -1,1,-1,1 --normal 1,1,-1,-1");
    assert_eq!(shown.column("products", "x"), [10.0, 2.0, -4.0].map(Value::from));
    assert_eq!(shown.texts("sketch", "x"), ["+1", "+1", "-1"]);
    assert_eq!(shown.texts("sketch", "y"), ["+1", "-1", "+1"]);
    close(&shown.numbers("pairs", "share"), &[1.0 / 3.0]);
    close(&shown.numbers("pairs", "estimated angle"), &[120.0]);
    assert!((shown.numbers("pairs", "cosine")[0] - 0.7875).abs() < 5e-5);
    assert_eq!(shown.numbers("pairs", "angle")[0].round(), 38.0);
    // All sixteen: four have another sign for x than for y, 45 degrees.
    let all = show("sketch x=3,4,5,6 y=4,3,2,1 --all-signs");
    assert_eq!(
        (all.numbers("pairs", "equal"), all.numbers("pairs", "of")),
        (vec![12.0], vec![16.0])
    );
    close(&all.numbers("pairs", "estimated angle"), &[45.0]);
}

/// Exercises 3.7.2 and 3.7.3, with products of 0 on the positive side.
#[test]
fn s6_2_sketches_of_exercises_3_7_2_and_3_7_3() {
    let items = "a=2,3,4,5 b=-2,3,-4,5 c=2,-3,4,-5";
    let vectors = [[2, 3, 4, 5], [-2, 3, -4, 5], [2, -3, 4, -5]];
    let four = [[1, 1, 1, -1], [1, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, 1]];
    let all: Vec<[i32; 4]> = (0..16)
        .map(|bits| [0, 1, 2, 3].map(|at| if bits >> at & 1 == 1 { 1 } else { -1 }))
        .collect();
    let side = |v: &[i32; 4], x: &[i32; 4]| v.iter().zip(x).map(|(a, b)| a * b).sum::<i32>() >= 0;
    let estimated = |normals: &[[i32; 4]]| -> Vec<f64> {
        let pairs = [(0, 1), (0, 2), (1, 2)];
        let differ = |(a, b): (usize, usize)| {
            normals.iter().filter(|v| side(v, &vectors[a]) != side(v, &vectors[b])).count()
        };
        pairs.iter().map(|&pair| 180.0 * differ(pair) as f64 / normals.len() as f64).collect()
    };
    let normals = "--normal 1,1,1,-1 --normal 1,1,-1,1 --normal 1,-1,1,1 --normal -1,1,1,1";
    let shown = show(&format!("sketch {items} {normals}"));
    assert_eq!(shown.texts("sketch", "a"), ["+1", "+1", "+1", "+1"]);
    assert_eq!(shown.texts("sketch", "b"), ["-1", "+1", "-1", "+1"]);
    assert_eq!(shown.texts("sketch", "c"), ["+1", "-1", "+1", "-1"]);
    close(&shown.numbers("pairs", "estimated angle"), &estimated(&four));
    // cos = 14/54 and −14/54, and −1.
    let degrees = |cosine: f64| cosine.acos().to_degrees();
    close(&shown.numbers("pairs", "angle"), &[degrees(14.0 / 54.0), degrees(-14.0 / 54.0), 180.0]);
    let shown = show(&format!("sketch {items} --all-signs"));
    close(&shown.numbers("pairs", "estimated angle"), &estimated(&all));
}

#[test]
fn s6_3_points_in_buckets_of_exercise_3_7_5() {
    let shown = show("sketch p1=1,2,3 p2=0,2,4 p3=4,3,2 --axes --width 1 --width 2");
    assert_eq!(
        shown.rows("buckets", 2),
        json!([
            ["[1, 2)", "[0, 1)", "[4, 5)"],
            ["[2, 3)", "[2, 3)", "[3, 4)"],
            ["[3, 4)", "[4, 5)", "[2, 3)"],
            ["[0, 2)", "[0, 2)", "[4, 6)"],
            ["[2, 4)", "[2, 4)", "[2, 4)"],
            ["[2, 4)", "[4, 6)", "[2, 4)"]
        ])
    );
    // (c): p1 and p2 for a = 1; all pairs for a = 2.
    assert_eq!(shown.texts("pairs", "candidate"), ["yes", "no", "no", "yes", "yes", "yes"]);
    // (d), by hand: the second coordinates of p1 and p2 are equal. 2 and 3 share a bucket for a > 3, and for 3/2 < a ≤ 2;
    // the other coordinates, 1 and 4, 0 and 4, 2 and 4, for a > 4.
    let widths = ["all", "1.5 < a ≤ 2, a > 3", "1.5 < a ≤ 2, a > 3"];
    assert_eq!(shown.texts("widths", "widths"), widths);
}

// --- strings and prefixes -------------------------------------------------------------------------------

#[test]
fn s7_2_strings_in_an_order_of_the_symbols() {
    // Example 3.25, and exercise 3.9.1: vowels first, then consonants from the last.
    let shown = show("prefix --letters dab --order abcdefghijklmnopqrstuvwxyz");
    assert_eq!(shown.texts("strings", "string"), ["abd"]);
    let shown = show("prefix --letters qwerty asdfghjui --order aeiouzyxwvtsrqpnmlkjhgfdcb");
    assert_eq!(shown.texts("strings", "string"), ["eywtrq", "aiusjhgfd"]);
    // Rarest first: c is in one set, a in two, b in three.
    let shown = show("prefix b,a,c a,b b");
    assert_eq!(shown.texts("strings", "string"), ["cab", "ab", "b"]);
}

#[test]
fn s7_3_and_s7_4_sizes_and_prefixes() {
    let sizes = |length: usize, threshold: f64| {
        let shown = show(&format!("prefix --length {length} -t {threshold}"));
        let number = |column: &str| shown.numbers("strings", column)[0] as usize;
        (number("shortest"), number("longest"), number("symbols in the prefix"))
    };
    // Example 3.26: 9 with up to 10, 8 with 8. Example 3.27: 9 symbols have a prefix of 1, 10 to 19 of 2, 20 to 29 of 3.
    assert_eq!((sizes(9, 0.9).1, sizes(8, 0.9).1), (10, 8));
    assert_eq!([9, 10, 19, 20, 29].map(|length| sizes(length, 0.9).2), [1, 2, 2, 3, 3]);
    // Exercises 3.9.2 and 3.9.3.
    assert_eq!(
        [0.85, 0.95, 0.98].map(|j| (sizes(20, j).0, sizes(20, j).1)),
        [(17, 23), (19, 21), (20, 20)]
    );
    assert_eq!([0.85, 0.95].map(|j| sizes(15, j).2), [3, 1]);
    // (c): 11/15 < J ≤ 12/15.
    assert_eq!([0.733, 0.734, 0.8, 0.801].map(|j| sizes(15, j).2), [5, 4, 4, 3]);
}

#[test]
fn s7_5_symbols_and_positions_of_example_3_28() {
    let shown = show("prefix --letters acdefghijk -t 0.9 --order abcdefghijk");
    assert_eq!(shown.texts("positions", "buckets"), ["(a, 1) (a, 2)", "(c, 1)"]);
    // Example 3.29: indexed under (a, 1, 9) and (c, 2, 8).
    assert_eq!(shown.rows("index", 1), json!([["a", 1, 9], ["c", 2, 8]]));
    // Exercise 3.9.4: 12 symbols. (L − i + 1)/(L + j − 1) ≥ J in whole numbers.
    for (threshold, percent) in [(0.75, 75), (0.95, 95)] {
        let shown = show(&format!("prefix --length 12 -t {threshold}"));
        let last =
            |i: usize| (1..12).rev().find(|j| 100 * (13 - i) >= percent * (11 + j)).unwrap_or(0);
        let prefix = (100 - percent) * 12 / 100 + 1;
        let expected: Vec<f64> = (1..=prefix).map(|i| last(i) as f64).collect();
        assert_eq!(shown.numbers("positions", "j up to"), expected);
    }
}

/// (i, q, j) of a pyramid that is shown.
fn marks(shown: &Shown) -> Vec<(u64, u64, usize)> {
    let rows = shown.rows("pyramid", 1);
    let rows = rows.as_array().unwrap().iter().map(|row| row.as_array().unwrap());
    rows.flat_map(|row| {
        let marked = row[3..].iter().enumerate().filter(|(_, cell)| **cell == "x");
        let (i, q) = (row[0].as_u64().unwrap(), row[2].as_u64().unwrap());
        marked.map(move |(at, _)| (i, q, at + 1)).collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn s7_6_and_s7_9_the_pyramid_of_figure_3_16() {
    let shown = show("prefix --letters acdefghijk -t 0.8 --order abcdefghijk");
    let figure: [(u64, u64, &[usize]); 9] = [
        (1, 7, &[1]),
        (1, 8, &[1, 2]),
        (1, 9, &[1, 2, 3]),
        (1, 10, &[1, 2]),
        (1, 11, &[1]),
        (2, 7, &[1]),
        (2, 8, &[1, 2]),
        (2, 9, &[1]),
        (3, 7, &[1]),
    ];
    let expected: Vec<_> =
        figure.iter().flat_map(|&(i, q, all)| all.iter().map(move |&j| (i, q, j))).collect();
    assert_eq!(marks(&shown), expected);
    assert_eq!(
        shown.texts("pyramid", "symbol")[..9],
        ["a", "a", "a", "a", "a", "c", "c", "c", "d"]
    );
}

#[test]
fn s7_6_triples_of_exercise_3_9_6() {
    for (threshold, tenths) in [(0.8, 8), (0.9, 9)] {
        let shown = show(&format!("prefix --length 20 -t {threshold}"));
        let mut expected = Vec::new();
        for i in 1..=(10 - tenths) * 20 / 10 + 1 {
            let p = 20 - i;
            for q in 0..40 {
                for j in 1..40 {
                    let (above, below) =
                        if p >= q { (q + 1, 19 + j) } else { (21 - i, i + j - 1 + q) };
                    if 10 * above >= tenths * below {
                        expected.push((i, q, j as usize));
                    }
                }
            }
        }
        assert_eq!(marks(&shown), expected, "{threshold}");
    }
}

/// Sets of letters whose counts all differ, so that there is one order by rarity: letter k is in k + 4 of 30 sets. Three sets
/// in a row get much the same letters.
fn sets_with_one_order() -> Vec<BTreeSet<char>> {
    let mut state = 17u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) % below
    };
    let mut sets = vec![BTreeSet::new(); 30];
    for (k, letter) in ('a'..='z').enumerate() {
        let base: Vec<u64> = (0..10).map(|_| draw(100)).collect();
        let mut order: Vec<(u64, usize)> =
            (0..30).map(|set| (base[set / 3] + draw(20), set)).collect();
        order.sort_unstable();
        order[..k + 4].iter().for_each(|&(_, set)| _ = sets[set].insert(letter));
    }
    sets
}

/// What the book counts, by its formulas and no others.
fn counts_of_the_book(sets: &[BTreeSet<char>], percent: usize) -> Vec<usize> {
    let mut strings: Vec<Vec<char>> = sets
        .iter()
        .map(|set| set.iter().copied().collect())
        .filter(|set: &Vec<char>| !set.is_empty())
        .collect();
    strings.sort_by_key(Vec::len);
    let prefix = |s: &[char]| (100 - percent) * s.len() / 100 + 1;
    let mut counts = vec![0; 7];
    for (at, s) in strings.iter().enumerate() {
        for t in &strings[..at] {
            let length = 100 * t.len() >= percent * s.len();
            let shared: Vec<(usize, usize)> = (0..prefix(s))
                .filter_map(|i| Some((i + 1, t[..prefix(t)].iter().position(|x| *x == s[i])? + 1)))
                .collect();
            // (L − i + 1)/(L + j − 1) ≥ J for one of the buckets in which the two are.
            let position =
                shared.iter().any(|(i, j)| 100 * (s.len() - i + 1) >= percent * (s.len() + j - 1));
            let suffix = shared.iter().any(|&(i, j)| {
                let (p, q) = (s.len() - i, t.len() - j);
                let (above, below) = if p >= q {
                    (q + 1, s.len() + j - 1)
                } else {
                    (s.len() - i + 1, i + j - 1 + q)
                };
                100 * above >= percent * below
            });
            let both = s.iter().filter(|x| t.contains(x)).count();
            let similar = 100 * both >= percent * (s.len() + t.len() - both);
            let met = !shared.is_empty();
            let tests =
                [true, length, met, length && met, length && position, length && suffix, similar];
            counts.iter_mut().zip(tests).for_each(|(count, test)| *count += usize::from(test));
        }
    }
    counts
}

#[test]
fn s7_9_what_each_filter_lets_through_is_what_the_book_counts() {
    let place = Place::new();
    let sets = sets_with_one_order();
    let words =
        |set: &BTreeSet<char>| set.iter().map(char::to_string).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = sets.iter().map(words).collect();
    // Copies would be folded by `pairs` and counted by `show`.
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), sets.len());
    place.write("sets.txt", lines.join("\n"));
    for percent in [50, 70, 80] {
        let expected = counts_of_the_book(&sets, percent);
        assert!(expected.windows(2).any(|two| two[0] > two[1]), "{expected:?}");
        let threshold = percent as f64 / 100.0;
        let shown =
            show_in(&place, &format!("prefix --in sets.txt --as set --first 30 -t {threshold}"));
        let names = shown.texts("filters", "filters");
        let book = shown.column("filters", "pairs compared by the book");
        let count = |name: &str| {
            let at = names.iter().position(|known| known == name).unwrap();
            book[at].as_u64().unwrap() as usize
        };
        let filters = [
            "none",
            "length",
            "prefix",
            "length,prefix",
            "length,prefix,position",
            "length,prefix,position,suffix",
        ];
        assert_eq!(filters.map(count), expected[..6]);
        assert_eq!(count("similar"), expected[6]);
        // A run with these filters counts the same; with by-size it looks at no more.
        for (filters, expected) in filters.iter().zip(&expected) {
            let run = |filters: &str| {
                place.ok(&format!(
                    "pairs sets.txt --as set -t {threshold} --exact --filters {filters} -o out.csv --stats stats.json"
                ));
                let stats: Value = serde_json::from_str(&place.read("stats.json")).unwrap();
                (stats["candidates"].as_u64().unwrap() as usize, place.read("out.csv"))
            };
            let (candidates, pairs) = run(filters);
            assert_eq!(candidates, *expected, "{filters} at {threshold}");
            if filters.contains("prefix") {
                let (fewer, same) = run(&format!("{filters},by-size"));
                assert!(fewer <= candidates && same == pairs, "{filters} at {threshold}");
            }
        }
    }
}

#[test]
fn s7_5_where_random_strings_can_meet() {
    // Exercise 3.9.5. j ≤ (0.1 · L − i + 1.9)/0.9: up to 2 for i = 1 and L = 9, and as far for L = 10, where i = 2 has j = 1.
    // A string of length 9 is indexed under its first symbol alone, so two of them meet by that one.
    let shown = show("prefix --length 9 -t 0.9");
    assert_eq!(shown.texts("positions", "buckets"), ["(s1, 1) (s1, 2)"]);
    assert_eq!(shown.rows("index", 1), json!([["s1", 1, 8]]));
    let shown = show("prefix --length 10 -t 0.9");
    assert_eq!(shown.texts("positions", "buckets"), ["(s1, 1) (s1, 2)", "(s2, 1)"]);
}

// --- families, perfect hashing, copies -------------------------------------------------------------------

#[test]
fn s3_3_how_far_families_are_from_min_wise() {
    let shown = show("family --size 8 --values 500");
    let by_name: BTreeMap<String, f64> =
        shown.texts("families", "family").into_iter().zip(shown.numbers("families", "ε")).collect();
    assert_eq!((by_name["all orders"], by_name["recursive halving"]), (0.0, 0.0));
    assert_eq!(shown.numbers("families", "orders"), [40_320.0, 840.0, 42.0, 8.0]);
    assert!(by_name["ax + b mod n"] > 0.0 && by_name["cyclic orders"] > by_name["ax + b mod n"]);
    // x + 1 and 3x + 1 alone: of {1, 2} the element 1 comes first under one and 2 under the other; some set has an element
    // that is never first, and another that always is.
    let own = show("family --functions x+1mod5,3x+1mod5");
    let value = |f: usize, x: usize| [x + 1, 3 * x + 1][f] % 5;
    let mut worst = 0f64;
    for set in 1..32usize {
        let members: Vec<usize> = (0..5).filter(|x| set >> x & 1 == 1).collect();
        for &x in &members {
            let first =
                (0..2).filter(|&f| members.iter().all(|&y| value(f, x) <= value(f, y))).count();
            worst = worst.max((first as f64 / 2.0 * members.len() as f64 - 1.0).abs());
        }
    }
    close(&own.numbers("families", "ε"), &[worst]);
}

#[test]
fn s7_8_every_key_has_a_slot_of_its_own() {
    let shown = show("perfect 10,22,37,40,52,60,70,72,75");
    let slots: BTreeSet<u64> =
        shown.numbers("keys", "slot").into_iter().map(|slot| slot as u64).collect();
    assert_eq!(slots.len(), 9);
    // A bucket of b keys has b² slots.
    let mut sizes = BTreeMap::new();
    shown
        .numbers("keys", "bucket")
        .iter()
        .for_each(|&bucket| *sizes.entry(bucket as u64).or_insert(0) += 1);
    let of = shown
        .numbers("keys", "bucket")
        .into_iter()
        .zip(shown.numbers("keys", "slots of the bucket"));
    of.for_each(|(bucket, slots)| {
        assert_eq!(slots as usize, sizes[&(bucket as u64)] * sizes[&(bucket as u64)])
    });
    let all: usize = sizes.values().map(|size: &usize| size * size).sum();
    assert_eq!(shown.numbers("space", "slots"), [all as f64]);
    assert!(all <= 4 * 9);
}

/// A hundred points at random in 16 dimensions, far from each other, each with another 0.99 away in a direction of its own.
fn pairs_of_points() -> Vec<Vec<f64>> {
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    let mut points = Vec::new();
    for _ in 0..100 {
        let point: Vec<f64> = (0..16).map(|_| 100.0 * draw()).collect();
        let turn: Vec<f64> = (0..16).map(|_| draw()).collect();
        let length = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
        let other = point.iter().zip(&turn).map(|(x, turn)| x + 0.99 * turn / length).collect();
        points.extend([point, other]);
    }
    points
}

#[test]
fn s6_5_the_index_of_near_neighbours() {
    let place = Place::new();
    let points = pairs_of_points();
    let lines: String = points.iter().map(|point| format!("{{\"vector\": {point:?}}}\n")).collect();
    place.write("points.jsonl", lines);
    let shown = show_in(&place, "near --in points.jsonl --first 200 --within 1 --factor 2");
    let index = |column: &str| shown.numbers("index", column)[0];
    assert_eq!((index("n"), index("r"), index("c·r")), (200.0, 1.0, 2.0));
    let (p1, p2) = (index("P1"), index("P2"));
    assert!(0.0 < p2 && p2 < p1 && p1 < 1.0);
    close(&[index("ρ"), index("n^ρ")], &[p1.ln() / p2.ln(), 200f64.powf(p1.ln() / p2.ln())]);
    assert_eq!(index("k"), (200f64.ln() / -p2.ln()).ceil());
    assert_eq!(index("L"), p1.powf(-index("k")).ceil());
    assert_eq!(index("2L"), 2.0 * index("L"));
    // Every item has one other within r, and none more within c·r; it finds that one or none.
    assert_eq!(shown.numbers("queries", "within r"), [1.0; 200]);
    assert_eq!(shown.numbers("queries", "within c·r"), [1.0; 200]);
    let found = shown.column("queries", "found");
    let partners = (0..200).map(|item: usize| json!((item ^ 1).to_string()));
    let right = found.iter().zip(partners).filter(|(found, partner)| *found == partner).count();
    assert_eq!(right, found.iter().filter(|found| !found.is_null()).count());
    let far = shown.numbers("queries", "far items looked at");
    assert!(far.iter().all(|&far| far <= index("2L") + 1.0), "{far:?}");
    assert_eq!(shown.numbers("success", "items with another within r"), [200.0]);
    assert_eq!(shown.numbers("success", "found one within c·r"), [right as f64]);
    close(&shown.numbers("success", "share"), &[right as f64 / 200.0]);
    // A pair is missed with a chance of at most 1/e: fewer than half of a hundred are found with one of 0.3 % (binomial).
    assert!(right >= 100, "{right}");
}

#[test]
fn s6_5_near_directions() {
    // P = 1 − angle/180: 0.9 and 0.8, so k = ln 3 / ln 1.25 = 4.92, and L = 0.9^−5 = 1.69.
    let shown = show("near 1,0 1,0.1 0,1 --measure cosine --within 18 --factor 2");
    close(&shown.numbers("index", "P1"), &[0.9]);
    close(&shown.numbers("index", "P2"), &[0.8]);
    close(&shown.numbers("index", "ρ"), &[0.9f64.ln() / 0.8f64.ln()]);
    assert_eq!((shown.numbers("index", "k"), shown.numbers("index", "L")), (vec![5.0], vec![2.0]));
    // atan 0.1 is 5.7 degrees; the third is 84 and more from both.
    assert_eq!(shown.numbers("queries", "within r"), [1.0, 1.0, 0.0]);
    let place = Place::new();
    for (line, told) in [
        ("1,0 0,1", "within"),
        ("1,0 0,1 --within 0", "above 0"),
        ("1,0 0,1 --within 10 --factor 1", "above 1"),
        ("1,0 0,1,2 --within 10", "2 components"),
        ("1,0 0,1 --within 10 --measure l1", "l2 or cosine"),
        ("1,0 0,1 --within 90 --factor 3 --measure cosine", "smaller than at r"),
        ("1,0 --within 10", "at least 2"),
    ] {
        place.fails(&format!("show near {line}"), &[told]);
    }
}

#[test]
fn s7_1_copies_by_a_first_look() {
    let place = Place::new();
    place.write(
        "texts.txt",
        "the same line\nanother line\nthe same line\na third one of its own length\n",
    );
    let shown = show_in(&place, "identical --in texts.txt");
    assert_eq!(shown.texts("items", "read whole"), ["yes", "no", "yes", "no"]);
    assert_eq!(
        shown.column("items", "same as"),
        [Value::Null, Value::Null, json!("0"), Value::Null]
    );
}

// --- forms, files, mistakes ------------------------------------------------------------------------------

#[test]
fn tables_are_printed_as_text_and_for_latex() {
    let place = Place::new();
    let text = place.ok("show matrix S1=a,d S2=d").stdout;
    assert!(
        text.starts_with(
            "Characteristic matrix\n  element  S1  S2\n  a         1   0\n  d         1   1\n"
        ),
        "{text}"
    );
    let latex = place.ok("show matrix S1=a_b S2=d --latex").stdout;
    assert!(
        latex.contains(
            "\\begin{tabular}{lrr}\n\\hline\nelement & S1 & S2 \\\\\n\\hline\na\\_b & 1 & 0 \\\\\n"
        ),
        "{latex}"
    );
    let short = place.ok("show matrix S1=a,b,c,d --most 2").stdout;
    assert!(short.contains("… and 2 more"), "{short}");
}

#[test]
fn pictures_are_drawn_of_estimates_and_buckets() {
    let place = Place::new();
    place.ok(&format!("show estimate {FOUR} --plot truth.svg"));
    assert!(place.read("truth.svg").starts_with("<svg"));
    place.ok(&format!("show buckets {FOUR} --bands 4 --rows 2 --plot buckets.png"));
    assert_eq!(std::fs::read(place.path("buckets.png")).unwrap()[1..4], *b"PNG");
    place.fails(&format!("show buckets {FOUR} --plot buckets.gif"), &[".svg or .png"]);
    place.fails("show estimate --signatures 1,2 1,3 --plot x.svg", &["--plot", "no sets"]);
}

#[test]
fn mistakes_are_told_in_one_line() {
    let place = Place::new();
    place.write("sets.txt", "a b\n");
    place.write("dots.txt", "...\n!!\n");
    for (line, parts) in [
        ("shingles --in dots.txt", &["words:5", "none of the texts has one"][..]),
        ("estimate --in dots.txt", &["words:5", "texts without any"]),
        ("signatures S1=a,d S2=c --permutation a,c", &["`d` is missing"]),
        ("signatures S1=a,d S2=c --permutation a,c,c,d", &["`c` comes twice"]),
        ("signatures S1=a,d S2=c --permutation a,c,x", &["`x` is none of them", "a, c, d"]),
        ("signatures S1=a,d S2=c --places 1,2", &["3 numbers"]),
        ("signatures S1=a,d S2=c --places 1,2,2", &["each of 1 to 3 once"]),
        ("signatures S1=a,d S2=c --functions x+1mod2", &["modulus of 3 or more"]),
        ("signatures S1=a,d S2=c --functions y+1mod5", &["3x+1 mod 5"]),
        ("signatures S1=a,d S2=c --functions x+1mod5 --permutation a,c,d", &["does not go with"]),
        ("signatures S1=a,d S2=c --truncate 2", &["--permutation is required with --truncate"]),
        ("signatures S1=a,d S2=c --groups 9", &["--groups is 9", "from 1 to 3"]),
        ("signatures S1=a,d --universe a,b", &["--universe", "`d`"]),
        ("estimate S1=a,d", &["number of items is 1", "at least 2"]),
        ("estimate --all-permutations S1=a,b,c,d,e,f,g,h,i S2=a", &["at most 8"]),
        ("buckets --signatures 1,2,3 1,2", &["S2 with 2", "3 values"]),
        ("buckets --signatures 1,2,3 1,2,4 --bands 2 --rows 2", &["signatures of 3 values"]),
        ("sketch 1,2,3 1,2", &["x2 with 2 components", "of 3 components"]),
        ("sketch 1,2,3 --normal 1,2", &["normal 1,2 with 2 components"]),
        ("sketch 1,b", &["numbers with commas"]),
        ("sketch 1,2 --axes", &["--width is required"]),
        ("sketch 1,2 --axes --width 0", &["--width is 0", "above 0"]),
        ("prefix", &["--length is required"]),
        ("prefix a,b -t 80", &["--threshold is 80", "0.8"]),
        ("prefix a,b --order a,c", &["`b` is missing"]),
        ("family --functions 2x+1mod6", &["a permutation of 0 to 5"]),
        ("family --size 40", &["--size is 40"]),
        ("matrix sets.txt", &["--in sets.txt"]),
        ("matrix --in sets.txt 7", &["sets.txt", "no item has the id `7`"]),
        ("matrix --as vector --in sets.txt", &["--as is vector"]),
    ] {
        place.fails(&format!("show {line}"), parts);
    }
    let outcome = place.run("show signatures S1=abd S2=acd");
    assert!(
        outcome.stdout.contains("If letters are elements, ask for `letters`."),
        "{}",
        outcome.stdout
    );
}
