//! `nearkin overlap`: against a model that looks everywhere, and what it says.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Value, json};

use crate::common::{Place, record};

/// A text, its words as they are compared, and which bytes each is.
struct Text {
    text: String,
    words: Vec<String>,
    places: Vec<Range<usize>>,
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % most as u64) as usize
    }
}

/// Words with their form and what stands between them changed at random.
fn written(words: Vec<String>, dice: &mut Dice) -> Text {
    const BETWEEN: [&str; 8] = [" ", "  ", ", ", ".\n", "\r\n", " — ", "\t“", "-"];
    let (mut text, mut places) = (String::new(), Vec::new());
    for word in &words {
        text.push_str(BETWEEN[dice.below(BETWEEN.len())]);
        let start = text.len();
        match dice.below(3) {
            0 => text.push_str(&word.to_uppercase()),
            _ => text.push_str(word),
        }
        places.push(start..text.len());
    }
    Text { text, words, places }
}

fn random_text(vocabulary: usize, longest: usize, dice: &mut Dice) -> Text {
    let words = (0..dice.below(longest + 1))
        .map(|_| ["na", "été", "犬", "x_1", "b"][dice.below(vocabulary)]);
    written(words.map(str::to_owned).collect(), dice)
}

/// train, test, and bytes of either.
type Row = (usize, usize, Range<usize>, Range<usize>);

/// The stretches of one text in another, by the definition: no stretch can be longer, and of all these the fewest that have
/// every shared window, from left to right.
fn stretches(train: &Text, test: &Text, least: usize) -> Vec<(Range<usize>, usize)> {
    let first = |range: &Range<usize>| {
        test.words.windows(range.len()).position(|it| *it == train.words[range.clone()])
    };
    let count = train.words.len();
    let mut longest: Vec<Range<usize>> = Vec::new();
    for start in 0..count {
        let ends = (start + least..=count).take_while(|&end| first(&(start..end)).is_some());
        let Some(end) = ends.last() else { continue };
        if longest.last().is_none_or(|last| last.end < end) {
            longest.push(start..end);
        }
    }
    let mut chosen: Vec<Range<usize>> = Vec::new();
    for window in 0..(count + 1).saturating_sub(least) {
        let has = |it: &&Range<usize>| it.start <= window && window + least <= it.end;
        if !chosen.iter().any(|it| has(&it)) {
            chosen.extend(longest.iter().rev().find(has).cloned());
        }
    }
    chosen.into_iter().map(|it| (it.clone(), first(&it).unwrap())).collect()
}

fn model(train: &[Text], tests: &[Text], least: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (a, text) in train.iter().enumerate() {
        for (b, test) in tests.iter().enumerate() {
            for (words, at) in stretches(text, test, least) {
                let bytes = |text: &Text, words: Range<usize>| {
                    text.places[words.start].start..text.places[words.end - 1].end
                };
                let place = bytes(test, at..at + words.len());
                rows.push((a, b, bytes(text, words), place));
            }
        }
    }
    rows
}

fn lines(texts: &[Text]) -> String {
    let line = |text: &Text| format!("{}\n", json!({ "text": text.text }));
    texts.iter().map(line).collect()
}

fn rows(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let number = |key: &str| row[key].as_u64().unwrap() as usize;
        let range = |at: &str, length: &str| number(at)..number(at) + number(length);
        let (train, test) =
            (range("train_offset", "train_length"), range("test_offset", "test_length"));
        (number("train"), number("test"), train, test)
    };
    text.lines().map(row).collect()
}

#[test]
fn stretches_are_those_of_a_model_that_looks_everywhere() {
    let mut dice = Dice(11);
    for round in 0..24 {
        let (vocabulary, longest) = (1 + dice.below(5), 4 + dice.below(40));
        let least = 1 + dice.below(6);
        let mut texts = |count| -> Vec<Text> {
            (0..count).map(|_| random_text(vocabulary, longest, &mut dice)).collect()
        };
        let (train, tests) = (texts(60), texts(12));
        let place = Place::new();
        place.write("train.jsonl", lines(&train));
        place.write("test.jsonl", lines(&tests));
        let flags =
            format!("--words {least} --most-tests 100 --report-pairs pairs.jsonl -o left.jsonl");
        place.ok(&format!("overlap train.jsonl --against test.jsonl {flags}"));
        let expected = model(&train, &tests, least);
        assert_eq!(rows(&place.read("pairs.jsonl")), expected, "round {round}");
        // What is left is every other text as it came.
        let overlapping: BTreeSet<usize> = expected.iter().map(|row| row.0).collect();
        let all = lines(&train);
        let left = all.lines().enumerate().filter(|(at, _)| !overlapping.contains(at));
        let left: String = left.map(|(_, line)| format!("{line}\n")).collect();
        assert_eq!(place.read("left.jsonl"), left, "round {round}");
    }
}

#[test]
fn shares_are_those_of_a_model_that_counts() {
    let mut dice = Dice(12);
    for round in 0..12 {
        let (vocabulary, least) = (2 + dice.below(4), 1 + dice.below(4));
        let mut texts = |count, longest| -> Vec<Text> {
            (0..count).map(|_| random_text(vocabulary, longest, &mut dice)).collect()
        };
        let (train, tests) = (texts(60, 60), texts(20, 12));
        let place = Place::new();
        place.write("train.jsonl", lines(&train));
        place.write("test.jsonl", lines(&tests));
        let windows = |text: &Text| -> BTreeSet<Vec<String>> {
            text.words.windows(least).map(<[String]>::to_vec).collect()
        };
        for share in [0.3, 0.5, 0.8, 1.0] {
            let flags = format!(
                "--words {least} --share {share} --report-pairs pairs.jsonl --stats s.json"
            );
            place.ok(&format!("overlap train.jsonl --against test.jsonl {flags}"));
            let (mut expected, mut found) = (BTreeSet::new(), BTreeSet::new());
            for (a, text) in train.iter().enumerate() {
                for (b, test) in tests.iter().enumerate() {
                    let (have, all) = (windows(text), windows(test));
                    let both = have.intersection(&all).count();
                    if !all.is_empty() && both as f64 >= share * all.len() as f64 - 1e-9 {
                        expected.insert((a, b, format!("{:.6}", both as f64 / all.len() as f64)));
                        found.insert(b);
                    }
                }
            }
            let row = |line: &str| {
                let row: Value = serde_json::from_str(line).unwrap();
                let number = |key: &str| row[key].as_u64().unwrap() as usize;
                (number("train"), number("test"), format!("{:.6}", row["share"].as_f64().unwrap()))
            };
            let told: BTreeSet<_> = place.read("pairs.jsonl").lines().map(row).collect();
            assert_eq!(told, expected, "round {round}, share {share}");
            let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
            assert_eq!(stats["tests"]["found"], found.len());
        }
    }
}

/// A text of other words than any other.
fn other_words(name: &str, count: usize) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let _ = write!(text, "{name}{at} ");
        text
    })
}

/// Ten documents; the fourth has words 5 to 24 of the second test item, in another form.
fn planted() -> Place {
    let place = Place::new();
    let test = |at: usize| other_words(&format!("q{at}w"), 30);
    let passage =
        test(1).split(' ').skip(5).take(20).collect::<Vec<_>>().join(",\n").to_uppercase();
    let train = |at: usize| match at {
        3 => format!("{} {passage}! {}", other_words("before", 4), other_words("after", 4)),
        _ => other_words(&format!("t{at}w"), 40),
    };
    let of = |name: &str, count, text: &dyn Fn(usize) -> String| -> String {
        (0..count).map(|at| record(&format!("{name}{at}"), &text(at))).collect()
    };
    place.write("train.jsonl", of("t", 10, &train));
    place.write("test.jsonl", of("q", 3, &test));
    place
}

#[test]
fn without_an_output_the_overlaps_are_listed() {
    let place = planted();
    let outcome = place.ok("overlap train.jsonl --against test.jsonl");
    let passage: Vec<String> = (5..25).map(|at| format!("Q1W{at}")).collect();
    let passage = passage.join(", ");
    assert_eq!(
        outcome.stdout,
        format!(
            "1 of 10 training documents overlap with 1 of 3 test items

t3 (train.jsonl:4): 20 of 28 words
  20 of them in q1 (test.jsonl:2)
  “{passage}”
"
        )
    );
    let told = outcome.stderr;
    let told = told.split("; took").next().unwrap();
    assert_eq!(
        told,
        "   3  test items read
  10  training documents read
   1  test items found in training documents
   1  training documents overlap with them
   9  training documents without an overlap
  an overlap is at least 13 words in a row; none is missed"
    );
    // One word more than the passage has.
    let outcome = place.ok("overlap train.jsonl --against test.jsonl --words 21");
    assert!(outcome.stdout.starts_with("0 of 10 training documents"), "{}", outcome.stdout);
}

#[test]
fn rows_say_who_overlaps_with_whom_and_where() {
    let place = planted();
    place.ok("overlap train.jsonl --against test.jsonl --report-pairs pairs.csv --removed gone.jsonl -o left.parquet");
    let pairs = place.read("pairs.csv");
    let (names, row) = pairs.split_once('\n').unwrap();
    assert_eq!(
        names,
        "train,test,words,train_file,train_line,train_offset,train_length,test_file,test_line,test_offset,test_length,passage"
    );
    // Four words and blanks come before, and one more blank; five words of the test item.
    assert!(
        row.starts_with("t3,q1,20,train.jsonl,4,33,133,test.jsonl,2,25,114,\"Q1W5,\nQ1W6,"),
        "{row}"
    );
    assert_eq!(
        place.read("gone.jsonl"),
        "{\"id\":\"t3\",\"file\":\"train.jsonl\",\"line\":4,\"test\":\"q1\",\"test_file\":\"test.jsonl\",\
         \"test_line\":2,\"words\":20,\"reason\":\"contaminated\"}\n"
    );
    let again = place.ok("overlap left.parquet --against test.jsonl --quiet").stdout;
    assert_eq!(again, "0 of 9 training documents overlap with 0 of 3 test items\n");
}

#[test]
fn stretches_are_cut_out_of_documents() {
    let place = planted();
    place.ok("overlap train.jsonl --against test.jsonl -o cut.jsonl --cut --removed cut.csv");
    let (train, cut) = (place.read("train.jsonl"), place.read("cut.jsonl"));
    let lines: Vec<(&str, &str)> = train.lines().zip(cut.lines()).collect();
    assert_eq!(lines.len(), 10);
    assert!(lines.iter().enumerate().all(|(at, (before, after))| (before == after) == (at != 3)));
    // Two blanks were before the passage, and none behind it.
    let text = format!("{} ! {}", other_words("before", 4), other_words("after", 4));
    assert_eq!(lines[3].1, record("t3", &text).trim_end());
    assert!(place.read("cut.csv").ends_with(",20,cut\n"));
    let told = place.ok("overlap cut.jsonl --against test.jsonl");
    assert!(told.stdout.starts_with("0 of 10 training documents overlap"), "{}", told.stdout);
    let wrong = place.run("overlap train.jsonl --against test.jsonl --cut");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("--output"), "{}", wrong.stderr);
}

#[test]
fn cuts_of_many_chunks_and_formats_leave_the_other_words() {
    let place = Place::new();
    let mut dice = Dice(14);
    let tests: Vec<Text> = (0..20)
        .map(|at| written((0..30).map(|word| format!("q{at}w{word}")).collect(), &mut dice))
        .collect();
    let mut expected = Vec::new();
    let train: Vec<Text> = (0..9000)
        .map(|at| {
            let mut words: Vec<String> = (0..60).map(|word| format!("t{at}w{word}")).collect();
            expected.push(words.clone());
            if dice.below(3) == 0 {
                let from = &tests[dice.below(20)].words;
                words.splice(30..30, from[..13 + dice.below(10)].iter().cloned());
            }
            written(words, &mut dice)
        })
        .collect();
    place.write("train.jsonl", lines(&train));
    place.write("test.jsonl", lines(&tests));
    place.ok("overlap train.jsonl --against test.jsonl -o train.parquet --words 1000 --quiet");
    place.ok("overlap train.jsonl --against test.jsonl -o train.csv --words 1000 --quiet");
    for (input, output) in [
        ("train.jsonl", "a.jsonl --threads 1"),
        ("train.jsonl", "b.jsonl --threads 3 --memory 24M"),
        ("train.parquet", "c.jsonl"),
        ("train.csv", "d.jsonl"),
    ] {
        place.ok(&format!("overlap {input} --against test.jsonl --cut --quiet -o {output}"));
        let output = output.split(' ').next().unwrap();
        let words = |line: &str| -> Vec<String> {
            let record: Value = serde_json::from_str(line).unwrap();
            let text = record["text"].as_str().unwrap().to_lowercase();
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        let found: Vec<Vec<String>> = place.read(output).lines().map(words).collect();
        assert!(found == expected, "{input}");
    }
    assert_eq!(place.read("a.jsonl"), place.read("b.jsonl"));
}

#[test]
fn shards_come_back_as_shards() {
    let place = planted();
    let train = place.read("train.jsonl");
    let (first, second) = train.split_at(train.match_indices('\n').nth(4).unwrap().0 + 1);
    place.write("in/a.jsonl", first);
    place.write("in/sub/b.jsonl", second);
    place.ok("overlap in/ --against test.jsonl -o out/");
    assert_eq!(place.read("out/a.jsonl").lines().count(), 4);
    assert_eq!(place.read("out/sub/b.jsonl"), second);
    // In place of the input.
    place.ok("overlap train.jsonl --against test.jsonl -o train.jsonl");
    assert_eq!(place.read("train.jsonl").lines().count(), 9);
}

#[test]
fn the_bytes_are_the_same_at_any_number_of_threads_and_memory() {
    let place = Place::new();
    let mut dice = Dice(13);
    let words = |count: usize, dice: &mut Dice| -> Vec<String> {
        (0..count).map(|_| format!("w{}", dice.below(3000))).collect()
    };
    let tests: Vec<Vec<String>> = (0..200).map(|_| words(60, &mut dice)).collect();
    let train: Vec<Text> = (0..6000)
        .map(|_| {
            let mut text = words(150, &mut dice);
            if dice.below(4) == 0 {
                let from = &tests[dice.below(200)];
                text.splice(20..20, from[..13 + dice.below(40)].iter().cloned());
            }
            written(text, &mut dice)
        })
        .collect();
    place.write("train.jsonl", lines(&train));
    let tests: Vec<Text> = tests.into_iter().map(|words| written(words, &mut dice)).collect();
    place.write("test.jsonl", lines(&tests));
    let mut all = Vec::new();
    for flags in ["--threads 1", "--threads 2 --memory 16M", "--threads 8 --memory 64M"] {
        let outputs = "-o left.jsonl --report-pairs pairs.csv --removed gone.csv --quiet";
        place.ok(&format!("overlap train.jsonl --against test.jsonl {outputs} {flags}"));
        let names = ["left.jsonl", "pairs.csv", "gone.csv"];
        let listing = place.ok(&format!("overlap train.jsonl --against test.jsonl {flags}")).stdout;
        all.push((names.map(|name| place.read(name)), listing));
    }
    assert!(all[0].0[2].lines().count() > 1000);
    assert!(all.iter().all(|it| *it == all[0]));
}

#[test]
fn a_stretch_of_many_test_items_names_the_first() {
    let place = Place::new();
    let notice = other_words("notice", 20);
    let test = |at: usize| {
        record(&at.to_string(), &format!("{notice} {}", other_words(&format!("q{at}w"), 30)))
    };
    place.write("test.jsonl", (0..500).map(test).collect::<String>());
    let rare = other_words("q400w", 30);
    place.write(
        "train.jsonl",
        [record("a", &notice), record("b", &format!("{notice} {rare}"))].concat(),
    );
    let line = "overlap train.jsonl --against test.jsonl --report-pairs p.csv --stats s.json";
    let told = place.ok(line).stderr;
    assert!(
        told.contains(
            "2  of them share a stretch with more than 10 test items, of which the first are named"
        ),
        "{told}"
    );
    let pairs = place.read("p.csv");
    let tests = |id: &str| -> Vec<usize> {
        let mine = pairs.lines().filter_map(|line| line.strip_prefix(&format!("{id},")));
        mine.map(|line| line.split(',').next().unwrap().parse().unwrap()).collect()
    };
    assert_eq!(tests("a"), (0..10).collect::<Vec<_>>());
    // What only one item has names that item.
    assert_eq!(tests("b"), (0..10).chain([400]).collect::<Vec<_>>());
    // All are counted.
    let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
    assert_eq!(stats["tests"]["found"], 500);
    place.ok(&format!("{line} --most-tests 1000"));
    assert_eq!(place.read("p.csv").lines().count(), 1 + 2 * 500);
}

#[test]
fn words_are_those_of_the_language() {
    let place = Place::new();
    // Every character is a word; emoji are none.
    let chinese = "港口大桥将于三月关闭六周";
    place.write(
        "test.jsonl",
        [record("zh", chinese), record("none", "😀 … 😀"), record("empty", "")].concat(),
    );
    let train = format!("记者获悉,港口大桥 将于三月😀关闭六周! {}", other_words("x", 20));
    place.write(
        "train.jsonl",
        [record("a", &train), record("empty", ""), record("short", "港口")].concat(),
    );
    let outcome = place.ok("overlap train.jsonl --against test.jsonl --words 12");
    assert!(
        outcome
            .stdout
            .contains("  12 of them in zh (test.jsonl:1)\n  “港口大桥 将于三月😀关闭六周”"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stderr.contains("warning: 2 of 3 test items have no word, and cannot be found; name the field with their text with --test-text"), "{}", outcome.stderr);
    let outcome = place.ok("overlap train.jsonl --against test.jsonl");
    assert!(outcome.stderr.contains("warning: 3 of 3 test items have fewer than 13 words, and cannot be found; pass --words 8"), "{}", outcome.stderr);
}

#[test]
fn test_items_have_fields_of_their_own() {
    let place = planted();
    let text = other_words("q1w", 30);
    place.write("quiz.csv", format!("number,question\n7,{text}\n"));
    let line = "overlap train.jsonl --against quiz.csv --test-text question --test-id number";
    assert!(place.ok(line).stdout.contains("20 of them in 7 (quiz.csv:2)"));
    place.fails("overlap train.jsonl --against quiz.csv", &["quiz.csv", "text", "--test-text"]);
    place.fails(
        "overlap train.jsonl --against quiz.csv --test-text answer",
        &["quiz.csv", "answer", "--test-text"],
    );
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let place = Place::new();
    let text = other_words("w", 20).replace(' ', "\u{1b}[2J");
    place.write("test.jsonl", record("q\u{7}", &text));
    place.write("train.jsonl", record("t\u{1b}", &text));
    let shown = place.ok("overlap train.jsonl --against test.jsonl").stdout;
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
    assert!(shown.contains("t\\u{1b}") && shown.contains("w0\\u{1b}[2Jw1"), "{shown}");
}

#[test]
fn mistakes_are_told_in_one_line() {
    let place = planted();
    place.write("in/a.jsonl", place.read("train.jsonl"));
    place.write("in/test.jsonl", place.read("test.jsonl"));
    let both = "is on both sides, and every document would overlap with itself";
    place.fails("overlap train.jsonl --against train.jsonl", &["train.jsonl", both]);
    place.fails("overlap in/ --against in/test.jsonl", &["in/test.jsonl", both]);
    place.fails("overlap in/a.jsonl --against in", &["in", both]);
    let against = "overlap train.jsonl --against test.jsonl";
    place
        .fails("overlap train.jsonl --against missing.jsonl", &["missing.jsonl", "does not exist"]);
    place.fails("overlap - --against -", &["standard input is read once"]);
    place.fails(&format!("{against} --words 0"), &["--words is 0", "from 1 to 1000"]);
    place.fails(&format!("{against} --share 1.5"), &["--share is 1.5", "above 0 and at most 1"]);
    place.fails(&format!("{against} --most-tests 0"), &["--most-tests is 0", "at least 1"]);
    place.fails(&format!("{against} --as vector"), &["--as is vector", "text"]);
    place.fails(&format!("{against} --text body"), &["body", "--text"]);
    place.fails(&format!("{against} -o test.jsonl"), &["test.jsonl", "is given twice"]);
    place.fails(&format!("{against} --removed train.jsonl"), &["train.jsonl", "is given twice"]);
    place.fails(
        &format!("{against} --removed a.csv --report-pairs a.csv"),
        &["a.csv", "is given twice"],
    );
    place.fails(&format!("{against} -o in/"), &["in/", "is not empty"]);
    place.fails(&format!("{against} -o left.doc"), &["left.doc"]);
    place.write("broken.jsonl", "{\"text\": \"a b c\"}\n{\"text\": 5\n");
    place.fails("overlap train.jsonl --against broken.jsonl", &["broken.jsonl:2"]);
    place.fails("overlap broken.jsonl --against test.jsonl -o left.jsonl", &["broken.jsonl:2"]);
    let told =
        place.ok("overlap broken.jsonl --against test.jsonl -o left.jsonl --on-error skip").stderr;
    assert!(told.contains("skipped: broken.jsonl:2"), "{told}");
    assert_eq!(place.read("left.jsonl"), "{\"text\": \"a b c\"}\n");
}

#[test]
fn nothing_to_compare_is_told() {
    let place = planted();
    place.write("empty.jsonl", "");
    let told = place.ok("overlap train.jsonl --against empty.jsonl").stderr;
    assert!(told.contains("warning: there are no test items: the input has no record; check that it is the right file"), "{told}");
    let told = place.ok("overlap empty.jsonl --against test.jsonl").stderr;
    assert!(told.contains("warning: there are no training documents"), "{told}");
    // A copy under another name.
    place.write("copy.jsonl", place.read("train.jsonl"));
    let told = place.ok("overlap train.jsonl --against copy.jsonl").stderr;
    assert!(told.contains("warning: 10 of 10 training documents overlap"), "{told}");
}

#[test]
fn too_many_test_items_for_the_memory_are_refused() {
    let place = planted();
    let tests: String = (0..4000)
        .map(|at| record(&at.to_string(), &other_words(&format!("q{at}w"), 100)))
        .collect();
    place.write("large.jsonl", tests);
    place.fails(
        "overlap train.jsonl --against large.jsonl --memory 16M",
        &["--memory is 16 MB", "at least", "held in memory"],
    );
    place.ok("overlap train.jsonl --against large.jsonl --memory 256M");
}
