//! `--and-or` with every family of functions, and estimates by signatures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::common::Place;

type Pairs = BTreeMap<(u64, u64), f64>;

fn pairs(output: &str, value: &str) -> Pairs {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a JSON line");
        let id = |key: &str| row[key].as_u64().expect("a position");
        ((id("a"), id("b")), row[value].as_f64().expect("a number"))
    };
    output.lines().map(row).collect()
}

fn found(place: &Place, line: &str) -> Pairs {
    pairs(&place.ok(&format!("pairs {line} -q")).stdout, "similarity")
}

/// Numbers that look random, the same in every run.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// Texts in families of four, which share some words of a line.
fn texts() -> String {
    let mut draw = numbers(3);
    let mut text = String::new();
    for family in 0..40 {
        let own: Vec<String> = (0..12).map(|_| format!("w{}", draw(400))).collect();
        for _ in 0..4 {
            let word =
                |word: &String| if draw(4) == 0 { format!("x{}", draw(200)) } else { word.clone() };
            let words: Vec<String> = own.iter().map(word).collect();
            writeln!(text, "{} f{family}", words.join(" ")).expect("a string");
        }
    }
    text
}

/// Of each pair found exactly, the chance of the expression follows from its angle. Over 30 seeds, the number found is within
/// five standard errors of their sum, which chance passes in fewer than one of a million tests.
#[test]
fn s6_6_document_vectors_by_hyperplanes_as_the_angle_predicts() {
    let place = Place::new();
    place.write("texts.txt", texts());
    let exact = found(&place, "texts.txt --measure cosine -t 0.4");
    assert!(exact.len() > 100, "{}", exact.len());
    let chance = |cosine: f64| {
        let p = 1.0 - cosine.clamp(-1.0, 1.0).acos().to_degrees() / 180.0;
        1.0 - (1.0 - p.powi(6)).powi(5)
    };
    let predicted: f64 = exact.values().map(|&cosine| chance(cosine)).sum();
    assert!(predicted < 0.9 * exact.len() as f64, "some must be missed: {predicted}");
    let counts: Vec<f64> = (1..=30)
        .map(|seed| {
            let line = format!(
                "texts.txt --measure cosine -t 0.4 --and-or or(5,and(6,hyperplane)) --seed {seed}"
            );
            let some = found(&place, &line);
            for (pair, value) in &some {
                assert_eq!(exact.get(pair), Some(value), "every reported pair is exact");
            }
            some.len() as f64
        })
        .collect();
    let mean = counts.iter().sum::<f64>() / 30.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 29.0;
    let error = (variance / 30.0).sqrt();
    assert!(
        (mean - predicted).abs() < 5.0 * error,
        "{mean} found, {predicted} predicted ± {error}"
    );
    let told = place
        .ok("pairs texts.txt --measure cosine -t 0.4 --and-or or(5,and(6,hyperplane)) -o x.csv")
        .stderr;
    assert!(told.contains("promised: a pair at just 0.4 is found with chance"), "{told}");
}

#[test]
fn s5_2_equal_fields_beside_other_functions() {
    let place = Place::new();
    let mut draw = numbers(11);
    let (mut lines, mut years) = (String::new(), Vec::new());
    for at in 0..120 {
        let size = 5 + draw(3);
        let items: BTreeSet<String> = (0..size).map(|_| format!("e{}", draw(12))).collect();
        let year = [Some(1990), Some(1991), Some(1992), None][draw(4) as usize];
        let copies = if at % 10 == 0 { 4 } else { 1 };
        for copy in 0..copies {
            // Copies of one year, of another, and of none.
            let year = if copy == 2 { Some(1990) } else { year };
            let record = serde_json::json!({ "items": items, "year": year });
            writeln!(lines, "{record}").expect("a string");
            years.push(year);
        }
    }
    place.write("sets.jsonl", lines);
    let exact = found(&place, "sets.jsonl --as set -t 0.5 --exact");
    let same =
        |a: u64, b: u64| years[a as usize].is_some() && years[a as usize] == years[b as usize];
    let expected: Pairs = exact
        .iter()
        .filter(|((a, b), _)| same(*a, *b))
        .map(|(pair, value)| (*pair, *value))
        .collect();
    assert!(!expected.is_empty() && expected.len() < exact.len());
    // A pair of similarity 0.5 has no minhash of 64 in common once in 10¹⁹ times.
    let line = "sets.jsonl --as set -t 0.5 --and-or and(equal(year),or(64,minhash))";
    assert_eq!(found(&place, line), expected);
    let told = place.ok(&format!("pairs {line} -o x.csv --stats stats.json")).stderr;
    assert!(told.contains("that agrees in year is found with chance"), "{told}");
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    assert_eq!(stats["recall"]["audited"]["recall"], 1.0, "{stats}");
    // Another field, another kind of item, a field that is not there.
    place.write(
        "names.csv",
        "id,string,city\\n1,abcde,x\\n2,abcd,x\\n3,abcdf,y\\n".replace("\\n", "\n"),
    );
    place.fails(
        "pairs names.csv --as string --within 2 --and-or equal(city)",
        &["searched completely"],
    );
    place.fails(
        "pairs sets.jsonl --as set --and-or and(equal(yaer),minhash)",
        &["equal(yaer)", "none has this one"],
    );
    place.write("table.csv", "who,what\na,x\n");
    place.fails(
        "pairs table.csv --group who --element what --and-or and(equal(x),minhash)",
        &["equal(x)", "no fields"],
    );
    place.write("points.jsonl", "{\"vector\": [1, 2], \"c\": 1}\n{\"vector\": [1, 2.1], \"c\": 1}\n{\"vector\": [1, 2.1], \"c\": 2}\n");
    let line =
        "points.jsonl --as vector --measure cosine -t 0.9 --and-or and(equal(c),or(9,hyperplane))";
    assert_eq!(found(&place, line).keys().collect::<Vec<_>>(), [&(0, 1)]);
}

/// Prints on a grid of 1,000 squares: a square is filled with chance 0.2, and where one print of a finger has a minutia,
/// another has it with chance 0.8.
fn prints(fingers: usize) -> String {
    let mut draw = numbers(5);
    let mut text = String::new();
    for _ in 0..fingers {
        let first: Vec<bool> = (0..1000).map(|_| draw(1000) < 200).collect();
        // A square that the first has not is filled so often that a fifth of all are.
        let second = first.iter().map(|&filled| draw(1000) < if filled { 800 } else { 50 });
        for print in [first.clone(), second.collect()] {
            let squares =
                (0..1000).filter(|&square| print[square]).map(|square| square.to_string());
            writeln!(text, "{}", squares.collect::<Vec<_>>().join(" ")).expect("a string");
        }
    }
    text
}

/// The library predicts .978 and .063 for the grid (`over_grid`). Of 300 mates the share that is met has a standard error
/// of .0085, and of strangers, who share prints, about .002; five of them are allowed.
#[test]
fn s8_4_functions_of_three_squares_from_the_command_line() {
    let place = Place::new();
    let fingers = 300;
    place.write("prints.txt", prints(fingers));
    let line = "prints.txt --as set -t 0.4 --and-or or(1024,squares) --stats stats.json";
    let found = found(&place, line);
    let mates = found.keys().filter(|(a, b)| a / 2 == b / 2).count();
    assert_eq!(mates, found.len(), "nobody else is that similar");
    let rate = mates as f64 / fingers as f64;
    assert!((rate - 0.978).abs() < 0.043, "{rate}");
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    let compared = stats["verified"].as_f64().expect("a number") - mates as f64;
    let prints = 2.0 * fingers as f64;
    let strangers = compared / (prints * (prints - 1.0) / 2.0 - fingers as f64);
    assert!((strangers - 0.063).abs() < 0.01, "{strangers}");
    // Two groups: fewer strangers, about one of 209.
    place.ok(&format!(
        "pairs {} -q",
        line.replace("or(1024,squares)", "and(2,or(1024,squares(3)))")
    ));
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    let compared = stats["verified"].as_f64().expect("a number");
    let looked_at = compared / (prints * (prints - 1.0) / 2.0);
    assert!((0.003..0.0085).contains(&looked_at), "{looked_at}");
    place.fails("pairs prints.txt --as set --and-or squares(0)", &["squares is 0"]);
    place.fails("pairs prints.txt --as set --and-or squares(1.5)", &["whole number"]);
    place.fails("pairs prints.txt --as set --and-or hyperplane", &["minhash, squares"]);
    let plan = place.ok("plan prints.txt --as set -t 0.4 --and-or or(1024,squares)").stdout;
    assert!(plan.contains("tables:   or(1024, squares)"), "{plan}");
}

#[test]
fn s4_6_estimates_are_marked_as_such() {
    let place = Place::new();
    place.write("sets.txt", "a b c d\na b c d\na b c d e\nx y\n");
    let run = place.ok("pairs sets.txt --as set -t 0.5 --estimate=100 --stats stats.json");
    let told = pairs(&run.stdout, "estimate");
    assert_eq!(told.keys().copied().collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
    assert_eq!(told[&(0, 1)], 1.0);
    // 0.8 in truth: five standard errors of √(0.8 · 0.2 / 100).
    assert!((told[&(0, 2)] - 0.8).abs() < 0.2, "{}", told[&(0, 2)]);
    assert!((told[&(0, 2)] * 100.0).fract() < 1e-9, "a share of 100 functions");
    assert!(run.stderr.contains("estimated: nothing was compared"), "{}", run.stderr);
    assert!(run.stderr.contains("standard error of 0.0500 at 0.5"), "{}", run.stderr);
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    assert_eq!((&stats["way"], &stats["estimate"]["functions"]), (&"estimate".into(), &100.into()));
    assert_eq!(stats["recall"]["promised"], Value::Null);
    let csv = place.ok("top sets.txt --as set --estimate -k 1 -q -o top.csv");
    assert_eq!(csv.stdout, "");
    assert!(
        place.read("top.csv").starts_with("a,b,estimate\n0,1,1.0\n"),
        "{}",
        place.read("top.csv")
    );
    place.fails("pairs sets.txt --as set --measure dice --estimate", &["--measure is dice"]);
    place.fails("pairs sets.txt --as set --measure containment --estimate", &["--measure"]);
    place.fails("pairs sets.txt --as set -t 0 --estimate", &["--threshold", "above 0"]);
    place.fails("pairs sets.txt --as bits --estimate", &["--estimate"]);
    for flags in ["--exact", "--recall 0.9", "--within 0.5", "--and-or minhash"] {
        let code = place.run(&format!("pairs sets.txt --as set --estimate {flags}")).code;
        assert_eq!(code, Some(2), "{flags}");
    }
    assert_eq!(place.run("pairs sets.txt --as set --estimate=0").code, Some(2));
}

/// Estimates of many pairs: their mean error is none, and their mean square that of the binomial.
#[test]
fn s4_6_estimates_have_the_error_that_is_told() {
    let place = Place::new();
    let mut draw = numbers(17);
    let mut text = String::new();
    for _ in 0..200 {
        let line: BTreeSet<u64> = (0..30).map(|_| draw(60)).collect();
        writeln!(text, "{}", line.iter().map(u64::to_string).collect::<Vec<_>>().join(" "))
            .expect("a string");
    }
    place.write("sets.txt", &text);
    let exact = found(&place, "sets.txt --as set -t 0.01");
    let told =
        pairs(&place.ok("pairs sets.txt --as set -t 0.01 --estimate=64 -q").stdout, "estimate");
    let errors: Vec<(f64, f64)> = exact
        .iter()
        .filter(|(_, similarity)| **similarity > 0.15)
        .map(|(pair, similarity)| {
            let expected = similarity * (1.0 - similarity) / 64.0;
            (told.get(pair).copied().unwrap_or(0.0) - similarity, expected)
        })
        .collect();
    assert!(errors.len() > 10_000, "{}", errors.len());
    let all = errors.len() as f64;
    // Pairs share functions, so their errors go together; 64 functions are 64 draws of them.
    let mean = errors.iter().map(|(error, _)| error).sum::<f64>() / all;
    assert!(mean.abs() < 0.02, "{mean}");
    let square = errors.iter().map(|(error, _)| error * error).sum::<f64>() / all;
    let expected = errors.iter().map(|(_, expected)| expected).sum::<f64>() / all;
    assert!((square / expected - 1.0).abs() < 0.2, "{square} beside {expected}");
}

#[test]
fn s5_1_sensitive_in_the_scale_of_the_measure() {
    let place = Place::new();
    let plan = |line: &str| -> Value {
        serde_json::from_str(&place.ok(&format!("plan {line} --json")).stdout).expect("JSON")
    };
    let close = |found: &Value, expected: f64| {
        let found = found.as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    };
    // Hyperplanes: 1 − degrees / 180.
    let told = plan(
        "--as vector --measure cosine --and-or or(4,and(2,hyperplane)) --sensitive 30,90 --at 45,90",
    );
    close(&told["sensitive"]["one"]["p1"], 1.0 - 30.0 / 180.0);
    close(&told["sensitive"]["one"]["p2"], 0.5);
    close(&told["sensitive"]["all"]["p2"], 1.0 - (1.0f64 - 0.25).powi(4));
    close(&told["curve"][0]["p"], 1.0 - (1.0 - (0.75f64).powi(2)).powi(4));
    // Lines of width a: at least 1/2 within a/2, at most 1/3 from 2a on.
    let told = plan("--as vector --and-or line(4) --sensitive 2,8");
    let one = &told["sensitive"]["one"];
    assert!(one["p1"].as_f64() >= Some(0.5) && one["p2"].as_f64() <= Some(1.0 / 3.0), "{one}");
    // Bits need items to know how many there are.
    place.write("bits.txt", "10101010\n10101011\n01010101\n");
    let told = plan(
        "bits.txt --as bits --digits binary --within 1 --and-or or(3,and(2,bits)) --sensitive 1,4",
    );
    close(&told["sensitive"]["one"]["p1"], 7.0 / 8.0);
    close(&told["sensitive"]["all"]["p2"], 1.0 - (1.0f64 - 0.25).powi(3));
    let text =
        place.ok("plan --as vector --measure cosine --and-or hyperplane --sensitive 20,70").stdout;
    assert!(
        text.contains("angle in degrees") && text.contains("(20, 70, 0.8889, 0.6111)"),
        "{text}"
    );
    for (line, parts) in [
        ("--as bits --and-or bits --sensitive 1,4", vec!["INPUT"]),
        ("--as vector --and-or line --sensitive 1,4", vec!["line(WIDTH)"]),
        (
            "--as vector --measure cosine --and-or hyperplane --sensitive 20,270",
            vec!["--sensitive is 270", "180"],
        ),
        ("--and-or minhash --sensitive 0.2,3", vec!["--sensitive is 3", "0 to 1"]),
        ("--as vector --within 3", vec!["INPUT", "--and-or"]),
        ("--as vector --measure cosine --and-or minhash", vec!["hyperplane"]),
    ] {
        place.fails(&format!("plan {line}"), &parts);
    }
}

/// The optimum by trying every n, and the rates of n-way ORs as their formulas have them.
#[test]
fn s8_10_how_many_functions_are_best() {
    let place = Place::new();
    for (p1, p2) in [(0.004096, 0.000064), (0.0256, 0.0016), (0.5, 0.4), (0.9, 0.01)] {
        let errors = |n: i32| (1.0f64 - p1).powi(n) + 1.0 - (1.0f64 - p2).powi(n);
        let best = (1..5000).min_by(|&a, &b| errors(a).total_cmp(&errors(b))).expect("a number");
        let told = place.ok(&format!("plan --best-or {p1},{p2} --json")).stdout;
        let told: Value = serde_json::from_str(&told).expect("JSON");
        assert_eq!(told["best_or"], best, "{p1} {p2}");
        let sum =
            told["missed"].as_f64().expect("a number") + told["wasted"].as_f64().expect("a number");
        assert!((sum - errors(best)).abs() < 1e-9, "{sum}");
    }
    let text = place.ok("plan --best-or 0.004096,0.000064").stdout;
    assert!(text.contains("or(1030, function) errs least"), "{text}");
    // Exercise 3.8.3: of functions of two squares, 1 − (1 − 0.04²)ⁿ of strangers meet, and (1 − 0.16²)ⁿ of mates do not.
    for n in [64, 256] {
        let line = format!("plan --and-or or({n},squares(2)) --at 0.0016,0.0256 --json");
        let told: Value = serde_json::from_str(&place.ok(&line).stdout).expect("JSON");
        let p = |at: usize| told["curve"][at]["p"].as_f64().expect("a number");
        assert!((p(0) - (1.0 - (1.0f64 - 0.0016).powi(n))).abs() < 1e-12);
        assert!((1.0 - p(1) - (1.0f64 - 0.0256).powi(n)).abs() < 1e-12);
    }
    for wrong in ["0.1,0.2", "0.5", "1,0.5", "0.5,0", "x,y"] {
        assert_eq!(place.run(&format!("plan --best-or {wrong}")).code, Some(2), "{wrong}");
    }
}

#[test]
fn s2_11_minutiae_become_squares() {
    let place = Place::new();
    // Squares of 10, four by three; (31, 15) is less than 2 from the square to its left.
    place.write(
        "prints.jsonl",
        "{\"id\": \"a\", \"minutiae\": [[5, 5, 90, \"E\"], [31, 15]]}\n\
         {\"id\": \"b\", \"minutiae\": [[5, 5], [35, 15.5], [400, 2]]}\n\
         {\"id\": \"c\", \"minutiae\": [[25, 25]]}\n{\"id\": \"d\", \"minutiae\": []}\n",
    );
    // {0, 6, 7} and {0, 7}.
    let row = "{\"a\":\"a\",\"b\":\"b\",\"similarity\":0.6666666666666666}\n";
    for way in ["", "--and-or or(64,squares(2))", "--and-or or(64,minhash)"] {
        let line = format!("pairs prints.jsonl --grid 4x3:10:2 -t 0.5 -q {way}");
        assert_eq!(place.ok(&line).stdout, row, "{way}");
    }
    // Without a margin they are the same two squares.
    let same = place.ok("pairs prints.jsonl --grid 4x3:10 -t 0.5 -q").stdout;
    assert!(same.contains("\"similarity\":1.0"), "{same}");
    let top = place.ok("top prints.jsonl --grid 4x3:10:2 -k 1 -q").stdout;
    assert_eq!(top.lines().count(), 2, "{top}");
    place.ok("dedup prints.jsonl --grid 4x3:10 -t 0.9 -o kept.jsonl -q");
    assert_eq!(place.read("kept.jsonl").lines().count(), 3, "as they came, one of a and b");
    place.write("bad.jsonl", "{\"minutiae\": [[1, 2]]}\n{\"minutiae\": [[1]]}\n");
    place.fails("pairs bad.jsonl --grid 4x3:10", &["bad.jsonl:2", "point 1", "[[44, 359]"]);
    place.write("worse.jsonl", "{\"minutiae\": \"x\"}\n");
    place.fails("pairs worse.jsonl --grid 4x3:10", &["worse.jsonl:1", "no list of points"]);
    place.fails("pairs prints.jsonl --grid 4x3:10 --as bag", &["--as is bag", "set"]);
    place.fails("compare --in prints.jsonl a b --grid 4x3:10", &["--grid"]);
    for wrong in ["4x3", "4:10", "0x3:10", "4x3:0", "4x3:10:6", "4x3:10:2:1", "axb:1"] {
        assert_eq!(
            place.run(&format!("pairs prints.jsonl --grid {wrong}")).code,
            Some(2),
            "{wrong}"
        );
    }
}
