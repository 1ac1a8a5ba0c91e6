//! Sets and bags: from lists, from lines, from long tables, from edges.

#![allow(clippy::print_stderr)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use crate::common::Place;
use crate::data::data;
use serde_json::Value;

type Pairs = BTreeMap<(String, String), f64>;

fn pairs(output: &str) -> Pairs {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a JSON line");
        let id = |key: &str| match &row[key] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        ((id("a"), id("b")), rounded(row["similarity"].as_f64().expect("a number")))
    };
    output.lines().map(row).collect()
}

/// The parser of these tests may be off in the last digit.
fn rounded(value: f64) -> f64 {
    (value * 1e12).round() / 1e12
}

fn found(place: &Place, line: &str) -> Pairs {
    pairs(&place.ok(&format!("pairs {line} --recall 0.9999 -q")).stdout)
}

fn expected(rows: &[(&str, &str, f64)]) -> Pairs {
    rows.iter().map(|(a, b, value)| ((a.to_string(), b.to_string()), rounded(*value))).collect()
}

#[test]
fn lists_lines_and_cells_are_sets() {
    let place = Place::new();
    place.write(
        "a.jsonl",
        "{\"id\": \"x\", \"items\": [\"red wine\", 7, true, 7]}\n\
         {\"id\": \"y\", \"items\": [\"red wine\", \"7\", \"bread\"]}\n\
         {\"id\": \"z\", \"items\": []}\n\
         {\"id\": \"w\", \"items\": []}\n",
    );
    place.write(
        "a.csv",
        "id,set\nx,\"[\"\"red wine\"\", 7, true]\"\ny,\"[\"\"red wine\"\",7,\"\"bread\"\"]\"\n",
    );
    place.write("a.txt", "wine 7 true\n7 bread wine\n");
    let half = expected(&[("x", "y", 0.5)]);
    assert_eq!(found(&place, "a.jsonl --as set -t 0.4"), half);
    assert_eq!(found(&place, "a.csv --as set -t 0.4"), half);
    assert_eq!(found(&place, "a.txt --as set -t 0.4"), expected(&[("0", "1", 0.5)]));
    place.write("b.jsonl", "{\"id\": \"q\", \"items\": [\"red wine\", 7, \"bread\"]}\n");
    let against = found(&place, "a.jsonl --against b.jsonl --as set -t 0.4");
    assert_eq!(against, expected(&[("x", "q", 0.5), ("y", "q", 1.0)]));
    let kept = place.ok("dedup a.jsonl --as set -t 0.4 --keep longest -o kept.jsonl");
    assert_eq!(kept.stdout, "");
    assert!(place.read("kept.jsonl").starts_with("{\"id\": \"x\""));
    assert_eq!(place.read("kept.jsonl").lines().count(), 3);
}

#[test]
fn bags_count_repeats() {
    let place = Place::new();
    place.write(
        "a.jsonl",
        "{\"items\": [\"a\", \"a\", \"b\"]}\n{\"items\": {\"a\": 1, \"b\": 1, \"c\": 0}}\n",
    );
    assert_eq!(found(&place, "a.jsonl --as bag -t 0.3"), expected(&[("0", "1", 2.0 / 3.0)]));
    let sum = found(&place, "a.jsonl --as bag --measure bag-sum -t 0.3");
    assert_eq!(sum, expected(&[("0", "1", 0.4)]));
    assert_eq!(found(&place, "a.jsonl --as set -t 0.3"), expected(&[("0", "1", 1.0)]));
}

#[test]
fn what_is_no_set_is_told_with_file_and_line() {
    let place = Place::new();
    place.write("null.jsonl", "{\"items\": [1]}\n{\"items\": [null]}\n");
    place.write("nested.jsonl", "{\"items\": [[1]]}\n");
    place.write("number.jsonl", "{\"items\": 3}\n");
    place.write("minus.jsonl", "{\"items\": {\"a\": -2}}\n");
    place.write("part.jsonl", "{\"items\": {\"a\": 0.5}}\n");
    place.write("open.csv", "items\n\"[1, 2\"\n");
    place.fails("pairs null.jsonl --as set", &["null.jsonl:2: field `items`: an element is null"]);
    place.fails("pairs nested.jsonl --as set", &["nested.jsonl:1: ", "an element is a list"]);
    place.fails(
        "pairs number.jsonl --as set",
        &["number.jsonl:1: field `items` is a whole number, not a list"],
    );
    place.fails("pairs minus.jsonl --as bag", &["minus.jsonl:1: ", "counts cannot be negative"]);
    place.fails("pairs part.jsonl --as bag", &["part.jsonl:1: ", "must be whole numbers"]);
    place.fails("pairs open.csv --as set", &["open.csv:2: ", "EOF while parsing"]);
    place.fails("pairs minus.jsonl --as set --measure bag", &["--measure", "--as bag"]);
    place.fails("pairs minus.jsonl --as set --shingle words:3", &["--shingle", "left out"]);
    let skipped = place.ok("pairs null.jsonl --as set --on-error skip");
    assert_eq!(skipped.stdout, "");
}

/// A table of three customers; the films A and B are rated by all.
const RATED: &str = "who,film,stars\n\
                     u,A,5\nu,B,1\nu,C,4\n\
                     v,A,4\nv,B,5\nv,C,4\n\
                     w,A,1\nw,B,5\n";

#[test]
fn s2_8_ratings_are_used_in_three_ways() {
    let place = Place::new();
    place.write("r.csv", RATED);
    let table = "r.csv --group who --element film";
    // All three rated A and B, u and v also C.
    assert_eq!(
        found(&place, &format!("{table} -t 0.1")),
        expected(&[("u", "v", 1.0), ("u", "w", 2.0 / 3.0), ("v", "w", 2.0 / 3.0)])
    );
    // u = {A, C}, v = {A, B, C}, w = {B}.
    assert_eq!(
        found(&place, &format!("{table} --rating stars --ratings drop:3 -t 0.1")),
        expected(&[("u", "v", 2.0 / 3.0), ("v", "w", 1.0 / 3.0)])
    );
    // u = {A+, B-, C+}, v = {A+, B+, C+}, w = {A-, B+}.
    assert_eq!(
        found(&place, &format!("{table} --rating stars --ratings likes:3 -t 0.1")),
        expected(&[("u", "v", 0.5), ("v", "w", 0.25)])
    );
    // Minima over maxima: u and v 4+1+4 of 5+5+4, u and w 1+1+0 of 5+5+4, v and w 1+5+0 of 4+5+4.
    assert_eq!(
        found(&place, &format!("{table} --rating stars --ratings stars -t 0.1")),
        expected(&[("u", "v", 9.0 / 14.0), ("u", "w", 2.0 / 14.0), ("v", "w", 6.0 / 13.0)])
    );
    // The same from other kinds of tables.
    let dat = RATED.split_once('\n').unwrap().1.replace(',', "::");
    place.write("r.dat", &dat);
    let json: String = dat
        .lines()
        .map(|line| {
            let parts: Vec<&str> = line.split("::").collect();
            format!("{{\"s\": {}, \"f\": \"{}\", \"u\": \"{}\"}}\n", parts[2], parts[1], parts[0])
        })
        .collect();
    place.write("r.jsonl", json);
    let stars = found(&place, &format!("{table} --rating stars --ratings stars -t 0.1"));
    let rest = "--ratings stars -t 0.1";
    for other in [
        "r.dat --format csv --delimiter :: --no-header --group 1 --element 2 --rating 3",
        "r.jsonl --group u --element f --rating s",
        "r.csv --group 1 --element 2 --count 3 -t 0.1",
    ] {
        let rest = if other.contains("--count") { "" } else { rest };
        assert_eq!(found(&place, &format!("{other} {rest}")), stars, "{other}");
    }
}

/// Ann and Ben bought different books, each one of fantasy and one on cooking.
const BOUGHT: &str =
    "customer,book\nann,Dune\nann,Emma\nann,Soups\nben,Hobbit\nben,Breads\ncy,Emma\n";
const BOOKS: &str = "book,kind\nDune,fantasy\nHobbit,fantasy\nSoups,cooking\nBreads,cooking\n";

#[test]
fn s2_13_books_of_one_kind_are_one_element() {
    let place = Place::new();
    place.write("bought.csv", BOUGHT);
    place.write("kinds.csv", BOOKS);
    let table = "bought.csv --group customer --element book -t 0.1";
    // Ann and Ben have no book in common; Ann and Cy have one of three.
    assert_eq!(found(&place, table), expected(&[("ann", "cy", 1.0 / 3.0)]));
    // Ann has {fantasy, Emma, cooking}, Ben {fantasy, cooking}, and Cy Emma, which has no kind.
    let grouped = format!("{table} --element-groups kinds.csv");
    let kinds = expected(&[("ann", "ben", 2.0 / 3.0), ("ann", "cy", 1.0 / 3.0)]);
    assert_eq!(found(&place, &grouped), kinds);
    // The same without a row of names, and with tabs.
    place.write("kinds.tsv", BOOKS.split_once('\n').unwrap().1.replace(',', "\t"));
    assert_eq!(found(&place, &grouped.replace("kinds.csv", "kinds.tsv")), kinds);
    // As bags: two books of fantasy are two.
    place.write("counted.csv", "c,b,n\nann,Dune,1\nann,Hobbit,2\nben,Hobbit,1\nben,Soups,1\n");
    let bags = "counted.csv --group c --element b --count n -t 0.1 --element-groups kinds.csv";
    assert_eq!(found(&place, bags), expected(&[("ann", "ben", 1.0 / 4.0)]));
    // A kind that one liked and the other hated: different elements. Ratings below 3 do not count at all with drop.
    place.write("rated.csv", "c,b,n\nann,Dune,5\nann,Soups,4\nben,Hobbit,1\nben,Breads,3\n");
    let rated = "rated.csv --group c --element b --rating n -t 0.1 --element-groups kinds.csv";
    let likes = found(&place, &format!("{rated} --ratings likes:3"));
    assert_eq!(likes, expected(&[("ann", "ben", 1.0 / 3.0)]));
    let drops = found(&place, &format!("{rated} --ratings drop:3"));
    assert_eq!(drops, expected(&[("ann", "ben", 1.0 / 2.0)]));
}

#[test]
fn tables_of_kinds_that_cannot_be_used_are_told() {
    let place = Place::new();
    place.write("bought.csv", BOUGHT);
    let table = "pairs bought.csv --group customer --element book -t 0.1 --element-groups";
    place.write("kinds.csv", format!("{BOOKS}Dune,fantasy\nDune,classics\n"));
    place.fails(
        &format!("{table} kinds.csv"),
        &["kinds.csv:7: `Dune` is in the group `classics`, and by line 2 in `fantasy`"],
    );
    place.write("one.csv", "Dune\n");
    place.fails(&format!("{table} one.csv"), &["one.csv: no column `2`"]);
    place.fails(&format!("{table} none.csv"), &["none.csv"]);
    place.write("other.csv", "Ulysses,classics\n");
    let outcome = place.ok(&format!("{table} other.csv"));
    assert!(outcome.stderr.contains("none of the elements has a group"), "{}", outcome.stderr);
    let usage = place.run("pairs bought.csv --element-groups kinds.csv");
    assert_eq!(usage.code, Some(2), "{}", usage.stderr);
    let usage =
        place.run("pairs bought.csv --edges --element-groups kinds.csv --group 1 --element 2");
    assert_eq!(usage.code, Some(2), "{}", usage.stderr);
}

#[test]
fn tables_of_groups_are_deduplicated_by_rows() {
    let place = Place::new();
    place.write("r.csv", RATED);
    place.ok("dedup r.csv --group who --element film -t 0.9 -o kept.csv --clusters c.csv");
    assert_eq!(place.read("kept.csv"), "who,film,stars\nu,A,5\nu,B,1\nu,C,4\nw,A,1\nw,B,5\n");
    assert_eq!(place.read("c.csv").lines().nth(2), Some("v,u,false,1.0"));
}

#[test]
fn bad_rows_are_told_with_file_and_line() {
    let place = Place::new();
    place.write("r.csv", "who,film,stars\nu,A,5\nu,B,-1\nv,A,1.5\nv,B,many\n");
    let table = "pairs r.csv --group who --element film";
    place.fails(&format!("{table} --count stars"), &["r.csv:3: element `B` occurs -1 times"]);
    place.fails(
        &format!("{table} --rating film --ratings drop:3"),
        &["r.csv:2: column `film` is `A`, not a number"],
    );
    place.fails(&format!("{table}x"), &["r.csv: no column `filmx`; it has `who`, `film`, `stars`"]);
    let all = place.ok(&format!("{table} --count stars --on-error skip -t 0.1"));
    assert!(all.stderr.contains('3'), "{}", all.stderr);
    place.fails(
        &format!("{table} --rating stars --ratings stars --as set"),
        &["--as is set; it must be bag"],
    );
    place.write("short.txt", "1 2\n3\n");
    place.fails("pairs short.txt --edges", &["short.txt:2: 1 fields, and column 2 is asked for"]);
    let usage = place.run("pairs r.csv --group who");
    assert_eq!(usage.code, Some(2));
}

#[test]
fn s2_9_nodes_are_their_neighbours() {
    let place = Place::new();
    place.write("g.txt", "# from to\n1 2\n1 3\n4 2\n4 3\n4 5\n\n5 1\n");
    // 1: {2, 3, 5}, 2: {1, 4}, 3: {1, 4}, 4: {2, 3, 5}, 5: {4, 1}.
    assert_eq!(
        found(&place, "g.txt --edges -t 0.5"),
        expected(&[("1", "4", 1.0), ("2", "3", 1.0), ("2", "5", 1.0), ("3", "5", 1.0)])
    );
    // 1: {2, 3}, 4: {2, 3, 5}, 5: {1}.
    assert_eq!(found(&place, "g.txt --edges=directed -t 0.5"), expected(&[("1", "4", 2.0 / 3.0)]));
    place.write("g.csv", "from,to,when\n1,2,x\n1,3,x\n4,2,x\n4,3,x\n4,5,x\n5,1,x\n");
    assert_eq!(found(&place, "g.csv --edges -t 0.9").len(), 4);
    place.write("g.jsonl", "{\"from\": 1, \"to\": 2}\n{\"from\": 3, \"to\": 2}\n");
    let both = found(&place, "g.jsonl --edges --group from --element to -t 0.9");
    assert_eq!(both, expected(&[("1", "3", 1.0)]));
    place.fails("pairs g.jsonl --edges", &["g.jsonl:1: no field `1`; it has `from`, `to`"]);
}

/// Truth by another program; there, baskets with the same elements stand once, by their first line.
#[test]
fn baskets_at_06() {
    let Some(truth) = data("sets/amazon_video_users.join_0.6.tsv") else { return };
    let truth: Pairs = fs::read_to_string(truth)
        .expect("the truth")
        .lines()
        .map(|line| {
            let parts: Vec<&str> = line.split('\t').collect();
            let (a, b): (u32, u32) = (parts[0].parse().unwrap(), parts[1].parse().unwrap());
            let pair = (a.min(b).to_string(), a.max(b).to_string());
            (pair, parts[2].parse().expect("a similarity"))
        })
        .collect();
    let input = data("sets/amazon_video_users.txt").expect("the sets");
    let place = Place::new();
    let found = found(&place, &format!("{} --as set -t 0.6", input.display()));
    let mut first: BTreeMap<BTreeSet<String>, usize> = BTreeMap::new();
    let text = fs::read_to_string(input).expect("the sets");
    let stands: Vec<bool> = text
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let set = line.split_whitespace().map(str::to_owned).collect();
            *first.entry(set).or_insert(number) == number
        })
        .collect();
    let once: Pairs = found
        .into_iter()
        .filter(|((a, b), _)| [a, b].iter().all(|id| stands[id.parse::<usize>().unwrap()]))
        .collect();
    // At a recall of 0.9999 for each of 26 pairs, one is missing in fewer than three of a thousand runs;
    // the seed is fixed.
    assert_eq!(once.keys().collect::<Vec<_>>(), truth.keys().collect::<Vec<_>>());
    for (pair, similarity) in &truth {
        assert!((once[pair] - similarity).abs() < 1e-6, "{pair:?}");
    }
}

/// Every film that a user rated, and the stars as bags, by bands, against comparing all with all.
#[test]
fn s8_5_ratings_at_02() {
    let Some(path) = data("ratings/ratings.dat") else { return };
    let text = fs::read_to_string(&path).expect("the ratings");
    let (mut users, mut films) = (BTreeMap::new(), BTreeMap::new());
    let rows: Vec<(&str, &str, u64)> = text
        .lines()
        .map(|line| {
            let parts: Vec<&str> = line.split("::").collect();
            (parts[0], parts[1], parts[2].parse().expect("stars"))
        })
        .collect();
    for (user, film, _) in &rows {
        let next = users.len();
        users.entry(*user).or_insert(next);
        let next = films.len();
        films.entry(*film).or_insert(next);
    }
    let table =
        format!("{} --format csv --delimiter :: --no-header --group 1 --element 2", path.display());
    for (flags, stars, sum) in [
        ("-t 0.2", false, false),
        ("--rating 3 --ratings stars -t 0.2", true, false),
        ("--rating 3 --ratings stars --measure bag-sum -t 0.2", true, true),
    ] {
        let rows = rows
            .iter()
            .map(|(user, film, given)| (users[user], films[film], if stars { *given } else { 1 }));
        let truth = similar(rows, users.len(), films.len(), sum, 0.2);
        let place = Place::new();
        let mut shares = Vec::new();
        for seed in 1..=3 {
            let bands = format!("--approximate --recall 0.95 --seed {seed}");
            place.ok(&format!("pairs {table} {flags} {bands} -q -o out.csv"));
            let mut found = 0;
            for line in place.read("out.csv").lines().skip(1) {
                let parts: Vec<&str> = line.split(',').collect();
                let (a, b) = (users[parts[0]], users[parts[1]]);
                let similarity: f64 = parts[2].parse().expect("a similarity");
                let value = truth.get(&(a.min(b), a.max(b))).expect("a similar pair");
                assert!((similarity - value).abs() < 1e-12, "{line}: {value}");
                found += 1;
            }
            shares.push(f64::from(found) / truth.len() as f64);
        }
        // Seen were 0.9855 to 0.9957, with a standard deviation of 0.003: some ten of these are between that and either limit.
        eprintln!("ratings {flags}: recall {shares:.4?} of {}", truth.len());
        assert!(shares.iter().sum::<f64>() / 3.0 >= 0.95, "{flags}: {shares:?}");
        assert!(shares.iter().all(|&share| share >= 0.92), "{flags}: {shares:?}");
    }
}

/// Every pair of users at or above a similarity, by going through all that rated a film.
fn similar(
    rows: impl Iterator<Item = (usize, usize, u64)>,
    users: usize,
    films: usize,
    sum: bool,
    threshold: f64,
) -> HashMap<(usize, usize), f64> {
    let mut rated = vec![Vec::new(); users];
    let mut raters = vec![Vec::new(); films];
    let mut sizes = vec![0; users];
    for (user, film, count) in rows {
        rated[user].push((film, count));
        raters[film].push((user, count));
        sizes[user] += count;
    }
    let mut all = HashMap::new();
    let mut shared = vec![0; users];
    for a in 0..users {
        shared.fill(0);
        for (film, count) in &rated[a] {
            for (b, other) in raters[*film].iter().filter(|(b, _)| *b > a) {
                shared[*b] += count.min(other);
            }
        }
        for (b, shared) in shared.iter().enumerate().filter(|(_, shared)| **shared > 0) {
            let union = sizes[a] + sizes[b] - if sum { 0 } else { *shared };
            let similarity = *shared as f64 / union as f64;
            if similarity >= threshold {
                all.insert((a, b), similarity);
            }
        }
    }
    all
}

#[test]
fn bags_with_counts_of_millions_are_compared_by_their_counts() {
    let place = Place::new();
    let rows = [
        ("x", "{\"a\":1000000,\"b\":2000000}"),
        ("y", "{\"b\":1000000,\"a\":1000000}"),
        ("z", "{\"a\":3000000000}"),
        ("w", "{\"a\":3000000000,\"c\":1000000000}"),
        ("copy", "{\"b\":2000000,\"a\":1000000}"),
        ("empty", "{}"),
    ];
    let line = |(id, bag): &(&str, &str)| format!("{{\"id\":\"{id}\",\"items\":{bag}}}\n");
    let lines: Vec<String> = rows.iter().map(line).collect();
    place.write("in.jsonl", lines.concat());
    place.write("a.jsonl", lines[..2].concat());
    place.write("b.jsonl", lines[2..].concat());
    // Minima over maxima: 1 + 1 of 1 + 2 millions, and 3 of 3 + 1 thousand millions.
    let two_thirds = 2.0 / 3.0;
    let (xy, xcopy, ycopy) =
        (("x", "y", two_thirds), ("x", "copy", 1.0), ("y", "copy", two_thirds));
    let all = expected(&[xy, xcopy, ycopy, ("z", "w", 0.75)]);
    let bags = "in.jsonl --as bag --memory 32M";
    for way in ["", "--exact", "--threads 1", "--threads 3"] {
        let outcome = place.ok(&format!("pairs {bags} -t 0.6 {way}"));
        assert_eq!(pairs(&outcome.stdout), all, "{way}");
        assert!(outcome.stderr.contains("found by an exact search, which misses none"));
    }
    // By sum, minima over everything.
    let by_sum = expected(&[("x", "y", 0.4), ("x", "copy", 0.5), ("y", "copy", 0.4)]);
    let outcome = place.ok(&format!("pairs {bags} --measure bag-sum -t 0.39 -q"));
    let mut expected_by_sum = by_sum;
    expected_by_sum.insert(("z".into(), "w".into()), rounded(3.0 / 7.0));
    assert_eq!(pairs(&outcome.stdout), expected_by_sum);
    let within = place.ok(&format!("pairs {bags} --within 0.25 -q")).stdout;
    let rows = "{\"a\":\"x\",\"b\":\"copy\",\"distance\":0.0}\n{\"a\":\"z\",\"b\":\"w\",\"distance\":0.25}\n";
    assert_eq!(within, rows);
    let against = place.ok("pairs a.jsonl --against b.jsonl --as bag -t 0.6 -q").stdout;
    assert_eq!(pairs(&against), expected(&[xcopy, ycopy]));
    let top = place.ok(&format!("top {bags} -k 1 -q")).stdout;
    let closest =
        [xcopy, ("y", "x", two_thirds), ("z", "w", 0.75), ("w", "z", 0.75), ("copy", "x", 1.0)];
    assert_eq!(pairs(&top), expected(&closest));
    let outcome =
        place.ok(&format!("dedup {bags} -t 0.6 -o kept.jsonl --clusters c.csv --stats s.json"));
    assert_eq!(place.read("kept.jsonl"), [&*lines[0], &*lines[2], &*lines[5]].concat());
    let clusters = "id,cluster,kept,similarity\nx,x,true,1.0\ny,x,false,0.6666666666666666\nz,z,true,1.0\n\
                    w,z,false,0.75\ncopy,x,false,1.0\nempty,empty,true,1.0\n";
    assert_eq!(place.read("c.csv"), clusters);
    assert!(outcome.stderr.contains("found by an exact search, which misses none"));
    let stats: Value = serde_json::from_str(&place.read("s.json")).expect("JSON");
    assert_eq!((&stats["kept"], &stats["way"]), (&Value::from(3), &Value::from("exact")));
    // In a set an element is there or not.
    let sets = expected(&[("x", "y", 1.0), xcopy, ("y", "copy", 1.0)]);
    assert_eq!(found(&place, "in.jsonl --as bag --measure jaccard -t 0.6 --memory 32M"), sets);
}

#[test]
fn bad_bags_are_told_or_skipped_where_counts_are_large() {
    let place = Place::new();
    let large = "{\"id\":1,\"items\":{\"a\":4000000000}}\n";
    let lines = [large, "{\"id\":2,\"items\":{\"a\":5000000000}}\n", "{\"id\":3}\n", large];
    place.write("in.jsonl", lines.concat());
    place.fails("pairs in.jsonl --as bag", &["in.jsonl:2: ", "counts go up to 4294967295"]);
    let outcome = place.ok("dedup in.jsonl --as bag --on-error skip --stats s.json");
    assert_eq!(outcome.stdout, large);
    let stats: Value = serde_json::from_str(&place.read("s.json")).expect("JSON");
    assert_eq!((&stats["items"], &stats["skipped"]), (&Value::from(1), &Value::from(3)));
    place.write("in.jsonl", [large, large].concat());
    place.fails(
        "pairs in.jsonl --as bag",
        &["in.jsonl:2: the id \"1\" was there before, at in.jsonl:1"],
    );
}

#[test]
fn which_bags_are_searched_by_their_counts_does_not_depend_on_where_these_are() {
    let place = Place::new();
    let line = |id: usize, counts: &str| format!("{{\"id\":{id},\"items\":{{{counts}}}}}\n");
    let mut lines: Vec<String> =
        (0..3000).map(|id| line(id, &format!("\"a{}\":3,\"b\":1", id / 2))).collect();
    // One bag with so large a count that copies would take much memory, first or last.
    lines.push(line(3000, "\"c\":4000000000"));
    let last = lines.concat();
    lines.rotate_right(1);
    place.write("first.jsonl", lines.concat());
    place.write("last.jsonl", &last);
    let all = (0..1500).map(|at| ((2 * at).to_string(), (2 * at + 1).to_string(), 1.0));
    let all: Pairs = all.map(|(a, b, value)| ((a, b), value)).collect();
    for name in ["first.jsonl", "last.jsonl", "- --format jsonl"] {
        for options in ["", "--threads 1 --memory 24M", "--temp ."] {
            let line = format!("pairs {name} --as bag {options} --stats s.json");
            let input = if name.starts_with('-') { last.as_bytes() } else { b"" };
            let outcome = place.run_with(&line, input);
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            assert_eq!(pairs(&outcome.stdout), all, "{line}");
            let stats: Value = serde_json::from_str(&place.read("s.json")).expect("JSON");
            assert_eq!(stats["way"], "exact");
        }
    }
}
