//! `nearkin match` as a user runs it: what it writes, what it says of bad rules, and what it finds in real tables.

#![allow(clippy::print_stderr)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Place;
use crate::data::data;
use serde_json::Value;

const A: &str = "id,name,street,phone
1,Bill Jones,12 Main Street,555-1234
2,Ann Smith,7 Hill Road,555-9999
3,Carl Meyer,1 Lake Lane,
";
const B: &str = "id,name,street,phone
x,William Jones,12 Main St.,555 1234
y,Ann Smyth,7 Hill Rd,555-9998
z,Zoe Miller,99 Far Away,555-0000
w,Ann Smith,,555-9999
";
const RULES: &str = "threshold = 150
candidates = [\"phone\", \"name ~ 0.3\"]

[fields.name]
tables = [\"nicknames\"]
lost_at = 5

[fields.street]
distance = \"words\"
tables = [\"abbreviations\"]

[fields.phone]
lost_at = 3
";

fn place() -> Place {
    let place = Place::new();
    place.write("a.csv", A);
    place.write("b.csv", B);
    place.write("match.toml", RULES);
    place
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

#[test]
fn a_match_says_why() {
    let place = place();
    let outcome = place.ok("match a.csv b.csv -c match.toml");
    let rows = lines(&outcome.stdout);
    let ids: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["a"].as_str().unwrap(), row["b"].as_str().unwrap())).collect();
    assert_eq!(ids, [("1", "x"), ("2", "y")]);
    // Bill is William but for a letter of five that may be wrong: 100 − 100 · (1/5)².
    assert_eq!(rows[0]["name"], 96.0);
    assert_eq!(rows[0]["phone"], 100.0);
    let street = rows[0]["street"].as_f64().expect("a number");
    assert!((90.0..100.0).contains(&street), "{street}");
    let sum: f64 = ["name", "street", "phone"].iter().map(|it| rows[0][it].as_f64().unwrap()).sum();
    assert!((sum - rows[0]["score"].as_f64().unwrap()).abs() < 1e-9);
    // One digit of three that may be wrong: 100 − 100 · (1/3)².
    assert_eq!(rows[1]["phone"], 88.89);
    assert!(
        outcome.stderr.contains("pairs taken, each record in at most one"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_record_may_match_several_where_the_rules_say_so() {
    let place = place();
    place.write("match.toml", format!("match = \"all\"\n{RULES}"));
    let rows = lines(&place.ok("match a.csv b.csv -c match.toml").stdout);
    let ids: Vec<String> = rows.iter().map(|row| format!("{} {}", row["a"], row["b"])).collect();
    assert_eq!(ids, ["\"1\" \"x\"", "\"2\" \"y\"", "\"2\" \"w\""]);
    // A missing value adds nothing.
    assert_eq!((&rows[2]["street"], &rows[2]["score"]), (&Value::Null, &Value::from(200.0)));
}

#[test]
fn values_can_be_seen_beside_their_points() {
    let place = place();
    place.ok("match a.csv b.csv -c match.toml --values -o out.csv");
    let out = place.read("out.csv");
    let rows: Vec<&str> = out.lines().collect();
    assert_eq!(
        rows[0],
        "a,b,score,name,street,phone,name_a,street_a,phone_a,name_b,street_b,phone_b"
    );
    assert!(
        rows[1].ends_with(",Bill Jones,12 Main Street,555-1234,William Jones,12 Main St.,555 1234")
    );
}

#[test]
fn one_table_falls_into_clusters() {
    let place = place();
    let both = format!("{A}{}", B.split_once('\n').expect("a header").1);
    place.write("all.csv", both);
    place.ok("match all.csv -c match.toml -o pairs.csv --clusters who.csv");
    assert_eq!(place.read("who.csv"), "id,cluster\n1,1\n2,2\n3,3\nx,1\ny,2\nz,z\nw,2\n");
    let pairs = place.read("pairs.csv");
    let pairs: Vec<&str> = pairs.lines().collect();
    assert_eq!(pairs[0], "a,b,score,name,street,phone");
    let ids = pairs[1..].iter().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(","));
    assert_eq!(ids.collect::<Vec<_>>(), ["1,x", "2,y", "2,w", "y,w"]);
    // A part that is missing is an empty cell.
    assert!(pairs[3].starts_with("2,w,200.0,100.0,,100.0"), "{}", pairs[3]);
}

#[test]
fn every_format_and_every_number_of_threads_gives_the_same() {
    let place = place();
    let json = |text: &str| {
        let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = rows.next().expect("a header");
        let object = |row: Vec<&str>| {
            let fields = names.iter().zip(&row).filter(|(_, value)| !value.is_empty());
            let fields = fields.map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
            Value::Object(fields.collect()).to_string() + "\n"
        };
        rows.map(object).collect::<String>()
    };
    place.write("a.jsonl", json(A));
    place.write("b.jsonl", json(B));
    let expected = place.ok("match a.csv b.csv -c match.toml --threads 1").stdout;
    for line in
        ["match a.jsonl b.jsonl -c match.toml", "match a.csv b.jsonl -c match.toml --threads 2"]
    {
        assert_eq!(place.ok(line).stdout, expected, "{line}");
    }
    let piped = place.run_with("match - b.csv --format csv -c match.toml", A.as_bytes());
    assert_eq!(piped.stdout, expected);
    place.ok("match a.csv b.csv -c match.toml -o out.parquet --stats stats.json");
    assert!(place.exists("out.parquet"));
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    assert_eq!((&stats["pairs"], &stats["match"]), (&Value::from(2), &Value::from("one-to-one")));
    assert_eq!(stats["records"], serde_json::json!([3, 4]));
    assert_eq!(stats["candidates_by_rule"][0]["rule"], "phone");
}

#[test]
fn what_is_wrong_is_said_in_a_line() {
    let place = place();
    let cases = [
        ("match a.csv b.csv", 2, "--config"),
        ("match a.csv b.csv -c none.toml", 1, "none.toml: cannot read"),
        ("match no.csv b.csv -c match.toml", 1, "no.csv"),
        ("match - - -c match.toml", 1, "standard input is read once"),
        (
            "match a.csv b.csv -c match.toml --clusters c.csv",
            1,
            "match one-to-one, and clusters are for one table",
        ),
        ("match a.csv b.csv -c match.toml --shares s.csv", 1, "the rules given a [check]"),
        ("match a.csv b.csv -c match.toml --plot p.svg", 1, "the rules given a [check]"),
        ("match a.csv b.csv -c match.toml -o a.csv", 1, "is given twice"),
        ("match a.csv b.csv -c match.toml -o out.txt", 1, "out.txt"),
        ("match a.csv b.csv -c match.toml --suggest", 2, "cannot be used with"),
        ("match a.csv b.csv --suggest -o a.csv", 1, "a.csv: is given twice"),
        ("match a.csv b.csv -c match.toml -o x.csv --stats x.csv", 1, "x.csv: is given twice"),
    ];
    for (line, code, why) in cases {
        let outcome = place.run(line);
        assert_eq!(outcome.code, Some(code), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(why), "{line}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "{line}");
    }
    let rules = [
        (RULES.replace("\"phone\"", "\"fone\""), "bad.toml:2: `fone` is none of the fields"),
        (RULES.replace("lost_at = 5", "lost_at = -5"), "bad.toml:6: lost_at must be"),
        (RULES.replace("threshold = 150", "treshold = 150"), "bad.toml:1: unknown key `treshold`"),
        (RULES.replace("threshold = 150\n", ""), "bad.toml:1: no threshold"),
        (
            RULES.replace("[fields.name]", "[fields.name]\ncolumn = \"surname\""),
            "a.csv: no column `surname`, which the rules name: it has name, street, phone",
        ),
        (RULES.replace("[fields.name]", "[fields.name"), "bad.toml:4: "),
        (RULES.replace("150", "1500"), "threshold is 1500; it must be at most 300"),
        (RULES.replace("= 5", "= \"5\""), "bad.toml:6: lost_at must be"),
        (
            RULES.replace("150", "\"x\""),
            "bad.toml:1: invalid type: string \"x\", expected a number",
        ),
        ("candidates = []\nthreshold = 1\n[fields.name]\n".to_owned(), "bad.toml:1: no candidates"),
        (String::new(), "bad.toml:1: missing `candidates`"),
    ];
    for (text, why) in rules {
        place.write("bad.toml", text);
        let outcome = place.run("match a.csv b.csv -c bad.toml -o out.csv");
        assert_eq!(outcome.code, Some(1), "{why}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(why), "{why}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.trim_end().lines().count(), 1, "{}", outcome.stderr);
        assert!(!place.exists("out.csv"));
    }
}

#[test]
fn empty_and_broken_tables_are_no_surprise() {
    let place = place();
    place.write("empty.csv", "id,name,street,phone\n");
    assert_eq!(place.ok("match a.csv empty.csv -c match.toml").stdout, "");
    place.write("broken.csv", format!("{B}v,Ann\n"));
    let outcome = place.run("match a.csv broken.csv -c match.toml");
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("broken.csv:6: 2 fields"), "{}", outcome.stderr);
    let skipped = place.ok("match a.csv broken.csv -c match.toml --on-error skip");
    assert_eq!(lines(&skipped.stdout).len(), 2);
    assert!(skipped.stderr.contains("1  records skipped"), "{}", skipped.stderr);
    let outcome = place.run("match a.csv b.csv --suggest");
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("nothing to suggest"), "{}", outcome.stderr);
}

#[test]
fn shares_come_as_a_table_and_a_picture() {
    let place = Place::new();
    // A hundred persons twice, the second time a few days later, and a namesake of each at any time.
    let mut text = String::from("id,name,phone,made\n");
    for person in 0..100u32 {
        let day = |day: u32| format!("2020-{:02}-{:02}", 1 + day % 336 / 28, 1 + day % 28);
        let name =
            format!("{} {}", ["ann", "bob", "cy", "dee"][person as usize % 4], person * 37 % 100);
        let first = person * 53 % 330;
        for (copy, at, phone) in
            [(0, first, person), (1, first + 3, person), (2, person * 91 % 330, 900 + person)]
        {
            text.push_str(&format!("{person}-{copy},{name},{phone},{}\n", day(at)));
        }
    }
    place.write("people.csv", text);
    place.write(
        "match.toml",
        "match = \"all\"\ncandidates = [\"name\"]\n[fields.name]\n[fields.phone]\ndistance = \"equal\"\n\
         [check]\ncolumn = \"made\"\ndistance = \"days\"\n",
    );
    let outcome = place.ok(
        "match people.csv -c match.toml -o out.csv --shares shares.csv --plot shares.svg --stats s.json",
    );
    assert_eq!(place.read("out.csv").lines().count(), 1 + 100);
    let shares = place.read("shares.csv");
    let rows: Vec<Vec<f64>> = shares
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    assert_eq!(shares.lines().next(), Some("from,to,pairs,mean,share,error"));
    // Namesakes score 100 and are strangers; the others score 200 and are three days apart.
    let [strangers, same] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((strangers[0], strangers[2], same[0], same[2]), (100.0, 200.0, 200.0, 100.0));
    // A month has more than 28 days, so that three days are now and then some more.
    assert!((3.0..4.0).contains(&same[3]) && same[4] == 1.0 && strangers[4] < 0.2, "{rows:?}");
    assert!(place.read("shares.svg").contains("How many pairs of a score are true matches"));
    let stats: Value = serde_json::from_str(&place.read("s.json")).expect("JSON");
    assert_eq!(stats["threshold"], 200.0);
    assert!(outcome.stderr.contains("share of true matches"), "{}", outcome.stderr);
}

/// Introductions of the first table, and signups of the second, as in 3.8.3 of the book: of true pairs 10 days later on
/// average, of random ones that are 0 to 90 days later 45. So x = 45 − 35·f.
#[test]
fn s8_11_days_with_a_sign_say_how_many_pairs_are_true() {
    let place = Place::new();
    let date = |day: u32| {
        let (year, day) = (2001 + day / 336, day % 336);
        format!("{year}-{:02}-{:02}", 1 + day / 28, 1 + day % 28)
    };
    let mut draw = Draw(5);
    let (mut a, mut b) =
        (String::from("id,name,phone,made\n"), String::from("id,name,phone,made\n"));
    let mut true_days = Vec::new();
    for person in 0..400u32 {
        let first = draw.below(1500) as u32;
        a.push_str(&format!("{person},name{person},{person},{}\n", date(200 + first)));
        // The same name and telephone, up to 20 days later; and a stranger with the name alone, at any time.
        let later = draw.below(21) as u32;
        b.push_str(&format!("{person}-t,name{person},{person},{}\n", date(200 + first + later)));
        b.push_str(&format!(
            "{person}-s,name{person},x{person},{}\n",
            date(draw.below(1900) as u32)
        ));
        true_days.push(later);
    }
    place.write("a.csv", a);
    place.write("b.csv", b);
    let rules = "match = \"all\"\ncandidates = [\"name\"]\n[fields.name]\n[fields.phone]\ndistance = \"equal\"\n\
                 [check]\ncolumn = \"made\"\ndistance = \"days\"\n";
    place.write("match.toml", format!("{rules}window = [0, 90]\n"));
    let outcome =
        place.ok("match a.csv b.csv -c match.toml -o out.csv --shares s.csv --stats s.json");
    let stats: Value = serde_json::from_str(&place.read("s.json")).expect("JSON");
    let (random, certain) =
        (stats["shares"]["random"].as_f64(), stats["shares"]["certain"].as_f64());
    let (random, certain) = (random.expect("a mean"), certain.expect("a mean"));
    // Of 100,000 random pairs about 4,600 lie in the window: five standard errors of 26/√4600 = 0.39 days.
    assert!((random - 45.0).abs() < 2.5, "{random}");
    // Days of the calendar are up to 31 a month, and these dates have 28: at most three more.
    let mean = f64::from(true_days.iter().sum::<u32>()) / 400.0;
    assert!(certain >= mean && certain < mean + 3.0, "{certain} {mean}");
    let rows: Vec<Vec<f64>> = place
        .read("s.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    let [strangers, same] = &rows[..] else { panic!("{rows:?}") };
    // All true pairs are in the window, and about one in twenty of the strangers.
    assert!(same[2] == 400.0 && strangers[2] < 60.0, "{rows:?}");
    // Few strangers: their mean is off by up to five standard errors of 26/√n.
    assert!((strangers[3] - 45.0).abs() < 5.0 * 26.0 / strangers[2].sqrt(), "{rows:?}");
    assert_eq!(stats["threshold"], 200.0);
    assert!(outcome.stderr.contains("share of true matches"), "{}", outcome.stderr);
    // With the tables exchanged, the days have a minus; the shares are the same.
    place.write("back.toml", format!("{rules}window = [-90, 0]\n"));
    place.ok("match b.csv a.csv -c back.toml -o back.csv --shares back-s.csv");
    let back: Vec<f64> = place
        .read("back-s.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(3).and_then(|cell| cell.parse().ok()).expect("a mean"))
        .collect();
    assert_eq!(back, [-strangers[3], -same[3]]);
    // One table has no first and second.
    place.fails(
        "match a.csv -c match.toml",
        &["match.toml:9: a window has days from the first table"],
    );
}

#[test]
fn shares_are_the_same_at_any_number_of_threads() {
    // Every key twice, with notes that differ in a word; distances are fractions, and their sums depend on the order.
    let place = Place::new();
    let words = ["red", "green", "blue", "garden", "mill", "house", "river"];
    let mut text = String::from("id,group,key,note\n");
    for row in 0..3000usize {
        let key = row % 1500;
        let note =
            [words[key % 7], words[key / 7 % 7], words[key / 49 % 7], words[row / 1500]].join(" ");
        text.push_str(&format!("{row},{},{key},{note}\n", key % 15));
    }
    place.write("many.csv", text);
    place.write(
        "match.toml",
        "match = \"all\"\nthreshold = 50\ncandidates = [\"group\"]\n[fields.group]\npoints = 0\n[fields.key]\n\
         distance = \"equal\"\n[check]\ncolumn = \"note\"\ndistance = \"words\"\n",
    );
    for threads in [1, 2, 8] {
        let out = format!("-o m{threads}.csv --shares s{threads}.csv --threads {threads}");
        place.ok(&format!("match many.csv -c match.toml {out}"));
        assert_eq!(place.read(&format!("m{threads}.csv")).lines().count(), 1 + 1500);
        assert_eq!(place.read(&format!("s{threads}.csv")), place.read("s1.csv"), "{threads}");
    }
    assert_eq!(place.read("s1.csv").lines().count(), 1 + 2);
}

/// Numbers that look random and are the same on every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// A name of three syllables: 8,000 there are.
    fn name(&mut self) -> String {
        const SYLLABLES: [&str; 20] = [
            "ba", "con", "der", "fi", "gul", "hen", "jo", "ka", "lin", "mor", "ne", "os", "par",
            "qui", "ris", "sta", "tu", "val", "wes", "zo",
        ];
        (0..3).map(|_| SYLLABLES[self.below(20) as usize]).collect()
    }
}

/// Customers of two systems: names in one column and in two, telephones and dates written differently, other names of
/// columns. The first 800 rows of both are the same customers, with errors.
fn customers() -> [String; 2] {
    let mut draw = Draw(25);
    let mut a = "id,FullName,Phone,DOB,City,ZIP\n".to_owned();
    let mut b = "id,first_name,last_name,telephone,birthday,town,postal\n".to_owned();
    let towns: Vec<(String, u64)> =
        (0..60).map(|town| (draw.name(), 10_000 + town * 137)).collect();
    for row in 0..2600u64 {
        let (first, mut last) = (draw.name(), draw.name());
        let phone =
            format!("{:03}{:03}{:04}", 200 + draw.below(700), draw.below(1000), draw.below(10_000));
        let (year, month, day) = (1930 + draw.below(70), 1 + draw.below(12), 1 + draw.below(28));
        let (town, zip) = &towns[draw.below(60) as usize];
        if row < 2000 {
            let phone = format!("({}) {}-{}", &phone[..3], &phone[3..6], &phone[6..]);
            a += &format!("{row},{first} {last},{phone},{year}-{month:02}-{day:02},{town},{zip}\n");
        }
        if !(800..2000).contains(&row) {
            // One of eight has an error in the name, and one of ten no telephone.
            if draw.below(8) == 0 {
                last.insert(2, 'x');
            }
            let phone = if draw.below(10) == 0 { "" } else { &phone };
            b += &format!("{row},{first},{last},{phone},{month:02}/{day:02}/{year},{town},{zip}\n");
        }
    }
    [a, b]
}

#[test]
fn columns_that_are_written_differently_go_together() {
    let place = Place::new();
    let [a, b] = customers();
    place.write("a.csv", a);
    place.write("b.csv", b);
    place.ok("match a.csv b.csv --suggest -o match.toml");
    let rules = place.read("match.toml");
    assert!(rules.contains("first_name + last_name"), "{rules}");
    let outcome = place.ok("match a.csv b.csv -c match.toml -o out.jsonl --values");
    let rows = lines(&place.read("out.jsonl"));
    let right = rows.iter().filter(|row| row["a"] == row["b"]).count();
    assert!(right as f64 >= 0.97 * 800.0, "{right} of 800");
    assert!(right as f64 >= 0.97 * rows.len() as f64, "{right} of {}", rows.len());
    // What the run says of itself is true within five of a hundred.
    let said: f64 = rows.iter().map(|row| row["probability"].as_f64().expect("one")).sum();
    assert!((said - right as f64).abs() < 0.05 * rows.len() as f64, "{said} of {right}");
    assert!(outcome.stderr.contains("of the matches are true"), "{}", outcome.stderr);
    assert!(rows[0]["FullName_b"].as_str().expect("a name").contains(' '), "{}", rows[0]);
}

#[test]
fn tables_without_a_common_record_get_a_warning() {
    // The customers of the second table who are not in the first, and columns that were mixed.
    let [a, b] = customers();
    let rows = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (rows(&a), rows(&b));
    let others: Vec<&str> = std::iter::once(&b[0]).chain(&b[801..]).map(String::as_str).collect();
    let cells: Vec<Vec<&str>> = a[1..].iter().map(|row| row.split(',').collect()).collect();
    let mixed = (0..cells.len()).map(|row| {
        let cell = |column: usize| cells[(row + column * 331 + 7) % cells.len()][column];
        (0..6).map(cell).collect::<Vec<_>>().join(",")
    });
    let mixed: Vec<String> = std::iter::once(a[0].clone()).chain(mixed).collect();
    let halves = [
        a[..1000].join("\n"),
        others.join("\n"),
        [&mixed[..1], &mixed[1400..]].concat().join("\n"),
    ];
    for second in &halves[1..] {
        let place = Place::new();
        place.write("a.csv", &halves[0]);
        place.write("b.csv", second);
        let outcome = place.run("match a.csv b.csv --suggest -o match.toml");
        if outcome.code == Some(0) {
            assert!(outcome.stderr.contains("warning:"), "{}", outcome.stderr);
            let outcome = place.ok("match a.csv b.csv -c match.toml -o out.jsonl");
            assert!(outcome.stderr.contains("warning:"), "{}", outcome.stderr);
        } else {
            assert!(outcome.stderr.contains("nothing to suggest"), "{}", outcome.stderr);
        }
    }
}

/// Books of a catalogue, of which one in twelve is there twice. Half of them have other editions, with a number, a year and
/// pages of their own.
fn books(editions: u64) -> String {
    let mut draw = Draw(7);
    let mut table = "id,title,author,isbn,pages\n".to_owned();
    let mut id = 0;
    for work in 0..1500u64 {
        let title = [draw.name(), draw.name(), draw.name()].join(" ");
        let author = format!("{} {}", draw.name(), draw.name());
        for _ in 0..1 + (work % 2) * (editions - 1) {
            let isbn = format!("{:05}{:05}", draw.below(100_000), draw.below(100_000));
            let pages = 60 + draw.below(800);
            table += &format!("{id},{title},{author},{isbn},{pages}\n");
            id += 1;
            if draw.below(12) == 0 {
                let title = title.replacen('a', "e", 1);
                table += &format!("{id},{title},{author},978-{isbn},{pages}\n");
                id += 1;
            }
        }
    }
    table
}

#[test]
fn editions_that_are_taken_for_one_book_get_a_warning() {
    let place = Place::new();
    place.write("books.csv", books(3));
    let outcome = place.ok("match books.csv --suggest -o match.toml --stats suggest.json");
    // Of the pairs that are alike in title and author, nine of ten and more are two editions.
    assert!(outcome.stderr.contains("`isbn` differs in 9"), "{}", outcome.stderr);
    let outcome = place.ok("match books.csv -c match.toml -o out.csv --stats match.json");
    assert!(outcome.stderr.contains("`isbn` differs in 9"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("and the warnings do not hold"), "{}", outcome.stderr);
    for stats in ["suggest.json", "match.json"] {
        let stats: serde_json::Value = serde_json::from_str(&place.read(stats)).expect("JSON");
        let warnings = stats["warnings"].as_array().expect("a list");
        let of_isbn = |it: &&serde_json::Value| it.as_str().is_some_and(|it| it.contains("`isbn`"));
        assert_eq!(warnings.iter().filter(of_isbn).count(), 1, "{stats}");
    }
    // Without editions what is alike is the same, and there is nothing to warn of.
    place.write("books.csv", books(1));
    let outcome = place.ok("match books.csv --suggest -o match.toml");
    assert!(!outcome.stderr.contains("differs in"), "{}", outcome.stderr);
}

// Real tables.

type Pairs = BTreeSet<(String, String)>;

/// A set of tables, how they are matched, and what F1 is to be reached by the rules and by suggested ones.
struct Case {
    name: &'static str,
    tables: &'static [&'static str],
    flags: &'static str,
    least: f64,
    suggested: f64,
}

const CASES: [Case; 6] = [
    Case {
        name: "restaurants",
        tables: &["D1_restaurants/rest1.csv", "D1_restaurants/rest2.csv"],
        flags: "--delimiter |",
        // Of some 113 restaurants that are in both tables the list of matches has 89: all but one are found, and more.
        least: 0.87,
        suggested: 0.85,
    },
    Case {
        name: "dblp_acm",
        tables: &["D4_dblp_acm/dblp.csv", "D4_dblp_acm/acm.csv"],
        flags: "--delimiter %",
        least: 0.98,
        suggested: 0.98,
    },
    Case {
        name: "abt_buy",
        tables: &["D2_abt_buy/abt.csv", "D2_abt_buy/buy.csv"],
        flags: "--delimiter |",
        least: 0.785,
        suggested: 0.68,
    },
    Case {
        name: "febrl",
        tables: &["febrl/dataset4a.csv", "febrl/dataset4b.csv"],
        flags: "--id rec_id",
        least: 0.99,
        suggested: 0.99,
    },
    Case {
        name: "fake_1000",
        tables: &["fake_1000/fake_1000.csv"],
        flags: "--id unique_id",
        least: 0.915,
        suggested: 0.96,
    },
    Case {
        name: "cora",
        tables: &["dirty_cora/cora.csv"],
        flags: "--delimiter |",
        least: 0.845,
        suggested: 0.82,
    },
];

fn records(name: &str) -> Option<PathBuf> {
    data(&format!("records/{name}"))
}

fn rows(path: &Path, delimiter: char) -> Vec<Vec<String>> {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cell = |cell: &str| cell.trim().to_owned();
    text.lines().map(|line| line.split(delimiter).map(cell).collect()).collect()
}

/// Every pair of ids with the same key.
fn same_key(rows: &[(String, String)]) -> Pairs {
    let mut by_key: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    rows.iter().for_each(|(key, id)| by_key.entry(key).or_default().push(id));
    let mut pairs = Pairs::new();
    for ids in by_key.values() {
        for (at, a) in ids.iter().enumerate() {
            pairs.extend(ids[at + 1..].iter().map(|b| ordered(a, b)));
        }
    }
    pairs
}

fn ordered(a: &str, b: &str) -> (String, String) {
    (a.min(b).to_owned(), a.max(b).to_owned())
}

fn gold(case: &Case) -> Pairs {
    let pair = |row: &Vec<String>| (row[0].clone(), row[1].clone());
    let listed = |name: &str, delimiter| {
        rows(&records(name).expect("the tables are there"), delimiter)[1..]
            .iter()
            .map(pair)
            .collect()
    };
    match case.name {
        "restaurants" => listed("D1_restaurants/gt.csv", '|'),
        "abt_buy" => listed("D2_abt_buy/gt.csv", '|'),
        "dblp_acm" => listed("D4_dblp_acm/gt.csv", '%'),
        "cora" => {
            let rows = rows(&records("dirty_cora/cora_gt.csv").expect("the tables are there"), '|');
            rows.iter().map(|row| ordered(&row[0], &row[1])).collect()
        }
        "fake_1000" => {
            let path = records("fake_1000/fake_1000.csv").expect("the tables are there");
            let of = |row: &Vec<String>| (row.last().expect("a cluster").clone(), row[0].clone());
            same_key(&rows(&path, ',')[1..].iter().map(of).collect::<Vec<_>>())
        }
        _ => {
            // rec-561-dup-0 is rec-561-org
            let side = |name: &str| -> BTreeMap<String, String> {
                let rows = rows(&records(name).expect("the tables are there"), ',');
                let key = |id: &str| id.split('-').nth(1).expect("a number").to_owned();
                rows[1..].iter().map(|row| (key(&row[0]), row[0].clone())).collect()
            };
            let (a, b) = (side("febrl/dataset4a.csv"), side("febrl/dataset4b.csv"));
            b.into_iter().filter_map(|(key, b)| Some((a.get(&key)?.clone(), b))).collect()
        }
    }
}

/// Runs the rules and says what was found.
fn found(place: &Place, case: &Case, rules: &str) -> Pairs {
    let tables: Vec<String> = tables(case);
    let flags = case.flags;
    place.ok(&format!("match {} {flags} -c {rules} -o out.jsonl -q", tables.join(" ")));
    let row = |row: &Value| {
        let text = |key: &str| match &row[key] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (text("a"), text("b"))
    };
    let pairs = lines(&place.read("out.jsonl"));
    let pairs = pairs.iter().map(row);
    match case.tables.len() {
        1 => pairs.map(|(a, b)| ordered(&a, &b)).collect(),
        _ => pairs.collect(),
    }
}

fn tables(case: &Case) -> Vec<String> {
    let path = |name: &&str| records(name).expect("the tables are there").display().to_string();
    case.tables.iter().map(path).collect()
}

fn f1(found: &Pairs, gold: &Pairs) -> f64 {
    2.0 * found.intersection(gold).count() as f64 / (found.len() + gold.len()) as f64
}

#[test]
fn s8_3_real_tables_are_matched() {
    for case in &CASES {
        if records(case.tables[0]).is_none() {
            return;
        }
        let place = Place::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/match");
        let rules = folder.join(format!("{}.toml", case.name)).display().to_string();
        let gold = gold(case);
        let found = found(&place, case, &rules);
        let reached = f1(&found, &gold);
        eprintln!("{}: F1 {reached:.4}", case.name);
        assert!(reached >= case.least, "{}: {reached}", case.name);
    }
}

#[test]
fn s8_3_rules_are_suggested_from_the_tables_alone() {
    for case in &CASES {
        if records(case.tables[0]).is_none() {
            return;
        }
        let place = Place::new();
        let tables = tables(case).join(" ");
        place.ok(&format!("match {tables} {} --suggest -o match.toml", case.flags));
        let reached = f1(&found(&place, case, "match.toml"), &gold(case));
        eprintln!("{}: F1 {reached:.4} by suggested rules", case.name);
        assert!(reached >= case.suggested, "{}: {reached}", case.name);
    }
}

/// The list of matches of the restaurants is not complete: what is found besides has the same telephone.
#[test]
fn s8_3_restaurants_that_are_not_listed_have_one_telephone() {
    let case = &CASES[0];
    if records(case.tables[0]).is_none() {
        return;
    }
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/match");
    let rules = folder.join("restaurants.toml").display().to_string();
    let (gold, found) = (gold(case), found(&place, case, &rules));
    let phones = |name: &str| -> BTreeMap<String, String> {
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect();
        let rows = rows(&records(name).expect("the tables are there"), '|');
        rows[1..].iter().map(|row| (row[0].clone(), digits(&row[2]))).collect()
    };
    let (a, b) = (phones(case.tables[0]), phones(case.tables[1]));
    let listed: BTreeSet<&String> = gold.iter().map(|pair| &pair.0).collect();
    let beside: Vec<_> = found.difference(&gold).filter(|pair| !listed.contains(&pair.0)).collect();
    assert_eq!(beside.len(), 24);
    for (first, second) in beside {
        assert!(a[first].len() == 10 && a[first] == b[second], "{first} {second}");
    }
}
