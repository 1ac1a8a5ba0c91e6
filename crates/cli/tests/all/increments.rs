//! `dedup --against`: a collection grows another one, of which everything stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;

use serde_json::{Value, json};

use crate::common::Place;
use crate::data::data;

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % end
    }
}

/// A kind of small items, and when a kept one stands for another.
struct Kind {
    field: &'static str,
    flags: &'static str,
    item: fn(&mut Random) -> Value,
    stands_for: fn(&Value, &Value) -> bool,
    /// Where larger items come first: how large one is.
    size: fn(&Value) -> usize,
}

fn elements(set: &Value) -> BTreeSet<u64> {
    set.as_array().unwrap().iter().map(|element| element.as_u64().unwrap()).collect()
}

fn shared(a: &Value, b: &Value) -> (usize, usize, usize) {
    let (a, b) = (elements(a), elements(b));
    (a.intersection(&b).count(), a.len(), b.len())
}

fn small_set(random: &mut Random) -> Value {
    let set: BTreeSet<u64> = (0..random.below(7)).map(|_| random.below(9)).collect();
    json!(set)
}

/// Inserts and deletes that make one of the other.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let same = if x == y { row[j] } else { usize::MAX };
            next.push(same.min(row[j + 1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row[b.len()]
}

const KINDS: [Kind; 6] = [
    Kind {
        field: "set",
        flags: "--as set -t 0.5",
        item: small_set,
        stands_for: |kept, item| {
            let (both, a, b) = shared(kept, item);
            both > 0 && 2 * both >= a + b - both
        },
        size: |_| 0,
    },
    Kind {
        field: "set",
        flags: "--as set --measure containment -t 0.75",
        item: small_set,
        stands_for: |kept, item| {
            let (both, a, b) = shared(kept, item);
            both > 0 && a >= b && 4 * both >= 3 * b
        },
        size: |set| elements(set).len(),
    },
    Kind {
        field: "items",
        flags: "--as bag --measure bag -t 0.5",
        item: |random| {
            let counts = (0..random.below(4))
                .map(|_| (random.below(5).to_string(), json!(1 + random.below(3))));
            Value::Object(counts.collect())
        },
        stands_for: |kept, item| {
            let (kept, item) = (kept.as_object().unwrap(), item.as_object().unwrap());
            let names: BTreeSet<&String> = kept.keys().chain(item.keys()).collect();
            let count = |bag: &serde_json::Map<String, Value>, name: &String| {
                bag.get(name).map_or(0, |count| count.as_u64().unwrap())
            };
            let sum = |of: fn(u64, u64) -> u64| -> u64 {
                names.iter().map(|name| of(count(kept, name), count(item, name))).sum()
            };
            let (least, most) = (sum(u64::min), sum(u64::max));
            most > 0 && 2 * least >= most
        },
        size: |_| 0,
    },
    Kind {
        field: "string",
        flags: "--as string --within 2",
        item: |random| {
            let letter = |random: &mut Random| if random.below(2) == 0 { 'a' } else { 'b' };
            json!((0..random.below(7)).map(|_| letter(random)).collect::<String>())
        },
        stands_for: |kept, item| {
            let (kept, item) = (kept.as_str().unwrap(), item.as_str().unwrap());
            !kept.is_empty() && !item.is_empty() && edits(kept, item) <= 2
        },
        size: |_| 0,
    },
    Kind {
        field: "vector",
        flags: "--as vector --within 1.5",
        item: |random| json!([random.below(5), random.below(5)]),
        stands_for: |kept, item| {
            let apart = |at: usize| kept[at].as_f64().unwrap() - item[at].as_f64().unwrap();
            apart(0).powi(2) + apart(1).powi(2) <= 2.25
        },
        size: |_| 0,
    },
    Kind {
        field: "bits",
        flags: "--as bits --within 1",
        item: |random| json!(format!("{:07b}", random.below(128))),
        stands_for: |kept, item| {
            let (kept, item) = (kept.as_str().unwrap(), item.as_str().unwrap());
            kept.bytes().zip(item.bytes()).filter(|(a, b)| a != b).count() <= 1
        },
        size: |_| 0,
    },
];

/// For each new item the old or new one that may stand for it; itself if it is kept.
fn model(kind: &Kind, new: &[Value], old: &[Value], merit: &[u64]) -> Vec<Vec<(bool, usize)>> {
    let mut order: Vec<usize> = (0..new.len()).collect();
    order.sort_by_key(|&at| (usize::MAX - (kind.size)(&new[at]), u64::MAX - merit[at]));
    let (mut kept, mut stands) = (Vec::<usize>::new(), vec![Vec::new(); new.len()]);
    for at in order {
        let of_old = (0..old.len()).filter(|&it| (kind.stands_for)(&old[it], &new[at]));
        stands[at] = of_old.map(|it| (true, it)).collect();
        let first = kept.iter().find(|&&it| (kind.stands_for)(&new[it], &new[at]));
        if stands[at].is_empty() {
            stands[at] = vec![(false, *first.unwrap_or(&at))];
        }
        if stands[at] == [(false, at)] {
            kept.push(at);
        }
    }
    stands
}

fn lines(field: &str, prefix: &str, items: &[Value], merit: &[u64]) -> String {
    let line = |(at, item): (usize, &Value)| {
        let record = json!({"id": format!("{prefix}{at}"), field: item, "m": merit.get(at)});
        format!("{record}\n")
    };
    items.iter().enumerate().map(line).collect()
}

#[test]
fn growing_a_collection_equals_brute_force() {
    for seed in 0..25 {
        for (number, kind) in KINDS.iter().enumerate() {
            let mut random = Random(100 * seed + number as u64);
            let mut items = |most: u64| -> Vec<Value> {
                let count = 1 + random.below(most);
                (0..count).map(|_| (kind.item)(&mut random)).collect()
            };
            let (new, old) = (items(12), items(25));
            let merit: Vec<u64> = new.iter().map(|_| random.below(3)).collect();
            let place = Place::new();
            place.write("new.jsonl", lines(kind.field, "n", &new, &merit));
            place.write("old.jsonl", lines(kind.field, "o", &old, &[]));
            let resources = ["", "--threads 1", "--memory 16M --threads 4"][seed as usize % 3];
            place.ok(&format!(
                "dedup new.jsonl --against old.jsonl --exact --keep max:m {} {resources} -o kept.jsonl --clusters \
                 c.jsonl --removed r.jsonl",
                kind.flags
            ));
            let expected = model(kind, &new, &old, &merit);
            let rows = |name: &str| -> Vec<Value> {
                place.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
            };
            let mut removed = 0;
            for (at, row) in rows("c.jsonl").iter().enumerate() {
                let told = (row["old"].as_bool().unwrap(), row["cluster"].as_str().unwrap());
                let name = |&(is_old, it): &(bool, usize)| {
                    (is_old, format!("{}{it}", if is_old { "o" } else { "n" }))
                };
                // The first one in any case; a copy of an old item has that one.
                let fits = expected[at].iter().map(name).position(|it| (it.0, &*it.1) == told);
                let is_copy = told.0 && {
                    let it: usize = told.1[1..].parse().unwrap();
                    old[it] == new[at]
                };
                assert!(
                    fits == Some(0) || fits.is_some() && is_copy,
                    "{seed} {} {row}",
                    kind.flags
                );
                removed += usize::from(told != (false, &*format!("n{at}")));
            }
            assert_eq!(rows("kept.jsonl").len() + removed, new.len(), "{seed} {}", kind.flags);
            for row in rows("r.jsonl") {
                let line = |id: &Value| id.as_str().unwrap()[1..].parse::<u64>().unwrap() + 1;
                assert_eq!(
                    (&row["file"], row["line"].as_u64()),
                    (&json!("new.jsonl"), Some(line(&row["id"])))
                );
                let of_old = row["kept"].as_str().unwrap().starts_with('o');
                let file = if of_old { "old.jsonl" } else { "new.jsonl" };
                assert_eq!(
                    (&row["kept_file"], row["kept_line"].as_u64()),
                    (&json!(file), Some(line(&row["kept"])))
                );
            }
            assert_eq!(rows("r.jsonl").len(), removed);
        }
    }
}

#[test]
fn chains_with_an_old_item_lose_all_new_ones() {
    let place = Place::new();
    // Each differs from the next by one letter; the last two stand apart.
    place.write("old.txt", "aaaa\nzzzz\n");
    place.write("new.txt", "aaab\naabb\nabbb\nqqqq\nqqqr\n");
    let of = |flags: &str| {
        let line = "dedup new.txt --against old.txt --as string --within 2";
        place.ok(&format!("{line} {flags} --removed r.csv -o kept.txt"));
        (place.read("kept.txt"), place.read("r.csv"))
    };
    assert_eq!(of("").0, "aabb\nqqqq\n");
    let (kept, removed) = of("--chains");
    assert_eq!(kept, "qqqq\n");
    assert_eq!(
        removed,
        "id,file,line,kept,kept_file,kept_line,distance,reason\n\
         0,new.txt,1,0,old.txt,1,2.0,similar\n\
         1,new.txt,2,0,old.txt,1,4.0,chain\n\
         2,new.txt,3,0,old.txt,1,6.0,chain\n\
         4,new.txt,5,3,new.txt,4,2.0,similar\n"
    );
}

#[test]
fn mistakes_in_what_is_grown_are_named() {
    let place = Place::new();
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let new =
        [line("a", "one two three four five six"), line("b", "seven eight nine ten eleven twelve")];
    place.write("new.jsonl", new.concat());
    place.write("old.csv", "id,text,more\na,one two three four five six,x\n");
    place.write("empty.jsonl", "");
    place.write("other.jsonl", "{\"body\":\"x\"}\n");
    place.write("kept/a.jsonl", new[0].clone());
    for (rest, parts) in [
        ("--against new.jsonl", vec!["new.jsonl: is in the new collection and in the old one"]),
        ("--against ./new.jsonl", vec!["as ./new.jsonl, in the old one"]),
        ("--against .", vec!["in the old one"]),
        ("--against old.csv -o old.csv", vec!["old.csv: is given twice"]),
        (
            "--against kept -o kept/a.jsonl",
            vec!["kept/a.jsonl: is a file of the collection in --against"],
        ),
        ("--against other.jsonl", vec!["other.jsonl:1: no field `text`; it has `body`"]),
        ("--against none.jsonl", vec!["none.jsonl: does not exist"]),
    ] {
        place.fails(&format!("dedup new.jsonl {rest}"), &parts);
    }
    place.fails("dedup kept -o kept/b.jsonl", &["kept/b.jsonl: would be in", "is the input"]);
    place.fails("dedup - --against -", &["on both sides"]);
    // Another format, other fields, and an id that is in both.
    let outcome = place.ok("dedup new.jsonl --against old.csv --clusters c.csv -o kept/b.jsonl");
    assert!(outcome.stderr.contains("1  of them in --against, where all stay"), "{outcome:?}");
    assert_eq!(place.read("kept/b.jsonl"), new[1]);
    assert_eq!(
        place.read("c.csv"),
        "id,cluster,kept,similarity,old\na,a,false,1.0,true\nb,b,true,1.0,false\n"
    );
    let empty = place.ok("dedup new.jsonl --against empty.jsonl");
    assert_eq!(empty.stdout, new.concat());
    assert!(empty.stderr.contains("warning: the old collection has no items"), "{empty:?}");
    let nothing = place.ok("dedup empty.jsonl --against new.jsonl");
    assert!(nothing.stderr.contains("warning: the new collection has no items"), "{nothing:?}");
    place.write("again.jsonl", new.concat());
    let all = place.ok("dedup again.jsonl --against new.jsonl -o none.jsonl");
    assert!(all.stderr.contains("warning: nothing of the new collection is left"), "{all:?}");
    assert_eq!(place.read("none.jsonl"), "");
    // Ids are unique in each collection.
    place.write("twice.jsonl", new[0].repeat(2));
    place.fails("dedup new.jsonl --against twice.jsonl", &["twice.jsonl:2", "\"a\""]);
}

#[test]
fn removed_records_come_with_their_fields() {
    let place = Place::new();
    let text = "one two three four five six";
    let lines = [
        format!("{{\"id\":1,\"text\":\"{text}\"}}\n\n"),
        format!(
            "{{\"id\":2,\"text\":\"{text}\",\"title\":\"A, \\\"b\\\"\",\"meta\":{{\"n\":[1,2.50]}}}}\n"
        ),
        format!("{{\"id\":3,\"text\":\"{text} seven\",\"title\":null}}\n"),
        "{\"id\":4,\"text\":\"another text that is alone here\"}\n".to_owned(),
    ];
    place.write("in.jsonl", lines.concat());
    let of = |file: &str| {
        let line = "dedup in.jsonl -t 0.5 --removed-fields title,meta.n -q --removed";
        assert_eq!(place.ok(&format!("{line} {file}")).stdout, "");
        place.read(file)
    };
    let similarity = 2.0 / 3.0;
    assert_eq!(
        of("r.jsonl"),
        format!(
            "{{\"id\":2,\"file\":\"in.jsonl\",\"line\":3,\"kept\":1,\"kept_file\":\"in.jsonl\",\"kept_line\":1,\
             \"similarity\":1.0,\"reason\":\"identical\",\"title\":\"A, \\\"b\\\"\",\"meta.n\":[1,2.50]}}\n\
             {{\"id\":3,\"file\":\"in.jsonl\",\"line\":4,\"kept\":1,\"kept_file\":\"in.jsonl\",\"kept_line\":1,\
             \"similarity\":{similarity},\"reason\":\"similar\",\"title\":null,\"meta.n\":null}}\n"
        )
    );
    assert_eq!(
        of("r.csv"),
        format!(
            "id,file,line,kept,kept_file,kept_line,similarity,reason,title,meta.n\n\
             2,in.jsonl,3,1,in.jsonl,1,1.0,identical,\"A, \"\"b\"\"\",\"[1,2.50]\"\n\
             3,in.jsonl,4,1,in.jsonl,1,{similarity},similar,,\n"
        )
    );
    let one = "dedup in.jsonl -t 0.5 --clusters c.csv --clusters-from";
    let ids = |from: u32| {
        place.ok(&format!("{one} {from}"));
        place.read("c.csv").lines().skip(1).map(|row| row[..1].to_owned()).collect::<String>()
    };
    assert_eq!(
        (ids(1), ids(2), ids(3), ids(4)),
        ("1234".into(), "123".into(), "123".into(), String::new())
    );
    let wrong = "dedup in.jsonl -t 0.5 -o k.jsonl --removed r.csv --removed-fields";
    let told = place.ok(&format!("{wrong} titel")).stderr;
    for part in ["warning: no removed record has a field `titel`", "`id`, `meta`, `text`, `title`"]
    {
        assert!(told.contains(part), "{told}");
    }
    place.fails(&format!("{wrong} kept"), &["--removed-fields is kept"]);
    let contained = "dedup in.jsonl --measure containment -t 1 --removed r.csv -q";
    place.ok(contained);
    let reasons: Vec<String> = place
        .read("r.csv")
        .lines()
        .skip(1)
        .map(|row| row.rsplit(',').next().unwrap().to_owned())
        .collect();
    assert_eq!(reasons, ["contained", "contained"]);
}

type Pairs = BTreeMap<String, Vec<String>>;

/// Who is similar to whom.
fn partners(name: &str) -> Option<Pairs> {
    let mut partners = Pairs::new();
    for line in unpacked(name)?.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        for (a, b) in [(parts[0], parts[1]), (parts[1], parts[0])] {
            partners.entry(a.to_owned()).or_default().push(b.to_owned());
        }
    }
    Some(partners)
}

fn unpacked(name: &str) -> Option<String> {
    let packed = fs::read(data(name)?).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip data");
    Some(text)
}

/// A tenth of a collection grows the rest. What stays and what goes is compared with the list of all similar pairs.
///
/// Bands find a pair at just the threshold with a chance of 0.99, and more similar ones more surely. Seeds are fixed, so these tests give the
/// same figures at every run.
fn check(name: &str, list: &str, threshold: f64) {
    let Some(partners) = partners(list) else { return };
    let Some(all) = unpacked(name) else { return };
    for seed in 0..10 {
        let mut random = Random(seed);
        let (new, old): (Vec<&str>, Vec<&str>) = all.lines().partition(|_| random.below(10) == 0);
        let id = |line: &str| -> String {
            let record: Value = serde_json::from_str(line).unwrap();
            record["id"].as_str().unwrap().to_owned()
        };
        let place = Place::new();
        place.write("new.jsonl", new.join("\n"));
        place.write("old.jsonl", old.join("\n"));
        let old: BTreeSet<String> = old.iter().map(|line| id(line)).collect();
        let new: Vec<String> = new.iter().map(|line| id(line)).collect();
        let none = Vec::new();
        let of = |id: &String| partners.get(id).unwrap_or(&none);
        for way in ["--exact", "--approximate"] {
            let line =
                format!("dedup new.jsonl --against old.jsonl -t {threshold} --seed {}", seed + 1);
            place.ok(&format!("{line} {way} -o kept.jsonl"));
            let kept: BTreeSet<String> = place.read("kept.jsonl").lines().map(id).collect();
            let stays = |id: &String| old.contains(id) || kept.contains(id);
            let (mut found, mut missed) = (0, 0);
            for item in &new {
                let similar = of(item).iter().filter(|other| stays(other)).count();
                if kept.contains(item) {
                    missed += similar;
                } else {
                    assert!(similar > 0, "{item} is removed, and nothing that stays is similar");
                    found += similar;
                }
            }
            let share = found as f64 / (found + missed) as f64;
            if way == "--exact" {
                assert_eq!(missed, 0, "{name} {seed}");
                // One by one, in their order.
                let mut expected = BTreeSet::new();
                for item in &new {
                    if !of(item).iter().any(|it| old.contains(it) || expected.contains(it)) {
                        expected.insert(item.clone());
                    }
                }
                assert!(kept == expected, "{name} {seed}");
            }
            assert!(share >= 0.99, "{name} {seed} {way}: {share}");
        }
    }
}

#[test]
fn licences_grow() {
    check("text/licences.jsonl.gz", "text/licences.words5.alone.t80.tsv.gz", 0.8);
}

#[test]
fn man_pages_grow() {
    check("text/man.jsonl.gz", "text/man.words5.alone.t50.tsv.gz", 0.5);
}

#[test]
fn source_files_grow() {
    check("text/crates.jsonl.gz", "text/crates.words5.alone.t50.tsv.gz", 0.5);
}

#[test]
fn the_old_collection_may_name_its_fields_otherwise() {
    let place = Place::new();
    let words =
        |from: usize| (from..from + 30).map(|at| format!("w{at}")).collect::<Vec<_>>().join(" ");
    place.write("old.csv", format!("number;body\no1;{}\no2;{}\n", words(0), words(50)));
    let new = [words(50), words(100), words(200)].map(|text| json!({"id": "n", "text": text}));
    let new: String = (0..)
        .zip(new)
        .map(|(at, mut it)| {
            it["id"] = json!(format!("n{at}"));
            format!("{it}\n")
        })
        .collect();
    place.write("new.jsonl", &new);
    let fields = "--against old.csv --against-text body --against-id number";
    place.ok(&format!("dedup new.jsonl {fields} -o left.jsonl --removed gone.jsonl"));
    let left = new.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
    assert_eq!(place.read("left.jsonl"), left);
    let gone: Value = serde_json::from_str(&place.read("gone.jsonl")).unwrap();
    assert_eq!(
        (&gone["id"], &gone["kept"], &gone["kept_line"]),
        (&json!("n0"), &json!("o2"), &json!(3))
    );
    // The same where items are in memory, and between two collections.
    place.ok(&format!(
        "dedup new.jsonl --as string --measure edit --within 0 {fields} -o again.jsonl"
    ));
    assert_eq!(place.read("again.jsonl"), left);
    assert_eq!(
        place.ok(&format!("pairs new.jsonl {fields}")).stdout,
        "{\"a\":\"n0\",\"b\":\"o2\",\"similarity\":1.0}\n"
    );
    // Sets, of which INPUT has those of the field `text`.
    place.write("old.jsonl", "{\"id\": 7, \"tags\": [1, 2, 3]}\n");
    place.write("sets.jsonl", "{\"id\": 8, \"text\": [1, 2, 3]}\n{\"id\": 9, \"text\": [4]}\n");
    for way in ["", "--and-or or(9,minhash)"] {
        let pairs = place.ok(&format!(
            "pairs sets.jsonl --as set --text text {way} --against old.jsonl --against-text tags"
        ));
        assert_eq!(pairs.stdout, "{\"a\":8,\"b\":7,\"similarity\":1.0}\n");
    }
    // Mistakes name the option that is wrong.
    place.fails("dedup new.jsonl --against old.csv -o x.jsonl", &["old.csv", "--against-text"]);
    place.fails(
        "dedup new.jsonl --against old.csv --against-text boby -o x.jsonl",
        &["boby", "--against-text"],
    );
    place.fails("dedup new.jsonl --against-text body -o x.jsonl", &["--against"]);
}

#[test]
fn a_small_collection_is_searched_in_a_large_one_as_the_other_way_round() {
    // Sides of very different sizes take a way of their own; the same pairs come out, by brute force.
    let place = Place::new();
    let mut random = Random(7);
    let mut set =
        || -> BTreeSet<u64> { (0..3 + random.below(5)).map(|_| random.below(12)).collect() };
    let few: Vec<BTreeSet<u64>> = (0..12).map(|_| set()).collect();
    let many: Vec<BTreeSet<u64>> = (0..600).map(|_| set()).collect();
    let lines = |sets: &[BTreeSet<u64>]| -> String {
        sets.iter()
            .enumerate()
            .map(|(at, set)| format!("{}\n", json!({"id": at, "set": set})))
            .collect()
    };
    place.write("few.jsonl", lines(&few));
    place.write("many.jsonl", lines(&many));
    let mut expected = BTreeSet::new();
    for (a, one) in few.iter().enumerate() {
        for (b, other) in many.iter().enumerate() {
            let shared = one.intersection(other).count();
            if 2 * shared >= one.len() + other.len() - shared {
                expected.insert((a as u64, b as u64));
            }
        }
    }
    assert!(expected.len() > 100);
    for (line, turned) in
        [("few.jsonl --against many.jsonl", false), ("many.jsonl --against few.jsonl", true)]
    {
        let found = place.ok(&format!("pairs {line} --as set -t 0.5 --exact")).stdout;
        let pair = |line: &str| {
            let row: Value = serde_json::from_str(line).unwrap();
            let [a, b] = ["a", "b"].map(|side| row[side].as_u64().unwrap());
            if turned { (b, a) } else { (a, b) }
        };
        assert_eq!(found.lines().map(pair).collect::<BTreeSet<_>>(), expected, "{line}");
        assert_eq!(found.lines().count(), expected.len());
    }
}
