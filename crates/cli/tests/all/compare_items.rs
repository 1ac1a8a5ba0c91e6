//! `nearkin compare` of sets, bags, vectors, bits, strings, answers and records.

use serde_json::{Value, json};

use crate::common::Place;

fn compared(place: &Place, line: &str) -> Value {
    serde_json::from_str(&place.ok(&format!("compare {line} --json")).stdout).expect("JSON")
}

fn close(found: &Value, expected: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn s1_1_sets_of_a_collection_and_as_they_are_typed() {
    let place = Place::new();
    // Columns 10111 and 10011 of a characteristic matrix: 3 shared of 4.
    place.write("sets.jsonl", "{\"id\":\"S\",\"items\":[\"a\",\"c\",\"d\",\"e\"]}\n{\"id\":\"T\",\"items\":[\"a\",\"d\",\"e\"]}\n");
    place.write("S.txt", "a c d e\n");
    place.write("T.txt", "a d e\n");
    for line in ["--in sets.jsonl S T --as set", "S.txt T.txt --as set"] {
        let found = compared(&place, line);
        close(&found["jaccard"], 0.75);
        close(&found["dice"], 6.0 / 7.0);
        close(&found["containment"], 1.0);
        close(&found["cosine"], 3.0 / 12f64.sqrt());
        assert_eq!((&found["overlap"], &found["hamming"]), (&json!(3), &json!(1)));
        assert_eq!(found["shared"], json!(["a", "d", "e"]));
        assert_eq!((&found["only_a"], &found["only_b"]), (&json!(["c"]), &json!([])));
    }
    let text = place.ok("compare --in sets.jsonl S T --as set").stdout;
    assert!(text.contains("0.750000  3 of 4 elements shared"), "{text}");
    place.write("T.txt", "\n");
    close(&compared(&place, "S.txt T.txt --as set")["jaccard"], 0.0);
}

#[test]
fn s1_2_bags_by_sum_and_by_maximum() {
    let place = Place::new();
    place.write("a.txt", "a a a b\n");
    place.write("b.txt", "a a b b c\n");
    let found = compared(&place, "a.txt b.txt --as bag");
    close(&found["bag_sum"], 1.0 / 3.0);
    close(&found["bag"], 0.5);
    // As sets {a, b} and {a, b, c}.
    close(&found["jaccard"], 2.0 / 3.0);
}

#[test]
fn s1_3_and_s1_4_vectors() {
    let place = Place::new();
    let found = compared(&place, "--as vector 2,7 6,4");
    close(&found["l2"], 5.0);
    close(&found["l1"], 7.0);
    close(&found["l_inf"], 4.0);
    close(&compared(&place, "--as vector [1,2,-1] [2,1,1]")["angle"], 60.0);
    // A vector of zeros has no direction, and is no error.
    let zero = compared(&place, "--as vector 0,0 3,4");
    assert_eq!(zero["angle"], Value::Null);
    close(&zero["l2"], 5.0);
    let text = place.ok("compare --as vector 0,0 3,4").stdout;
    assert!(text.contains("no direction"), "{text}");
    place.fails("compare --as vector 1,2 1,2,3", &["3 components", "2"]);
    place.fails("compare --as vector 1,2 1,x", &["x"]);
}

#[test]
fn s1_5_strings_and_s1_6_bits() {
    let place = Place::new();
    for (a, b, edits) in [("abcde", "acfdeg", 3), ("aba", "bab", 2), ("abcde", "bcduve", 3)] {
        assert_eq!(compared(&place, &format!("--as string {a} {b}"))["edit"], json!(edits));
    }
    let found = compared(&place, "--as string abcde acfdeg");
    assert_eq!((&found["common"], &found["hamming"]), (&json!(4), &Value::Null)); // acde
    assert_eq!(compared(&place, "--as string karolin kathrin")["hamming"], json!(3));
    // One swap, or a delete and an insert.
    let swapped = compared(&place, "--as string ab ba");
    assert_eq!((&swapped["edit"], &swapped["damerau"]), (&json!(2), &json!(1)));
    for (a, b, differ) in [("10101", "11110", 3), ("1011101", "1001001", 2)] {
        let found = compared(&place, &format!("--as bits --digits binary {a} {b}"));
        assert_eq!(found["hamming"], json!(differ));
        close(&found["similarity"], 1.0 - f64::from(differ) / a.len() as f64);
    }
    place.fails("compare --as bits --digits binary 101 1011", &["4 bits"]);
}

#[test]
fn s2_10_answers_with_gaps() {
    let place = Place::new();
    place.write(
        "users.csv",
        "id,Il Fornaio,Straits Cafe,Ming's,Zao\nJill,yes,,no,yes\nJoe,yes,no,yes,\nAmy,no,no,,\n",
    );
    let found = compared(&place, "--in users.csv Jill Joe --as answers");
    // Ming's differs, and each has answered one that the other has not.
    close(&found["hamming"], 2.0);
    assert_eq!((&found["agree"], &found["both_answered"]), (&json!(1), &json!(2)));
    assert_eq!(found["differ"]["Ming's"], json!([false, true]));
    assert_eq!(found["differ"]["Zao"], json!([true, null]));
    let pairs = place.ok("pairs users.csv --as answers --within 9 -q").stdout;
    assert!(pairs.contains("\"a\":\"Jill\",\"b\":\"Joe\",\"distance\":2.0"), "{pairs}");
    place.fails("compare Jill Joe --as answers", &["--in"]);
}

#[test]
fn records_are_compared_field_by_field() {
    let place = Place::new();
    place.write("shops.csv", "id,name,street,phone,floor\n1,Art's Deli,12224 Ventura Blvd,,3\n2,Arts Deli,12224 Ventura Blvd,818-762,5\n");
    let found = compared(&place, "--in shops.csv 1 2 --fields all");
    let fields = &found["fields"];
    assert_eq!((&found["equal"], &fields["street"]["equal"]), (&json!(1), &json!(true)));
    assert_eq!(fields["name"]["edit"], json!(1));
    // {art, s, deli} and {arts, deli}.
    close(&fields["name"]["jaccard"], 0.25);
    close(&fields["floor"]["difference"], 2.0);
    assert_eq!(fields["phone"]["a"], Value::Null);
    let some = compared(&place, "--in shops.csv 1 2 --fields name,phone");
    assert_eq!(some["fields"].as_object().map(serde_json::Map::len), Some(2));
    place.fails("compare --in shops.csv 1 2 --fields nam", &["--fields is nam", "name"]);
    place.fails("compare --in shops.csv 1 9 --fields all", &["no item has the id `9`"]);
}

/// All ways to choose `count` of the first `of` numbers, as bits.
fn choices(of: u32, count: u32) -> Vec<u32> {
    (0..1u32 << of).filter(|set| set.count_ones() == count).collect()
}

#[test]
fn s1_8_what_chance_alone_gives() {
    let place = Place::new();
    for (universe, a, b) in [(6u32, 3u32, 3u32), (7, 2, 5), (8, 4, 4), (5, 5, 2), (9, 1, 6)] {
        // Over all pairs of sets of these sizes, one by one.
        let (mut sum, mut pairs, mut as_many) = (0.0, 0u32, 0u32);
        let typed = |size: u32, from: u32| -> String {
            (from..from + size).map(|e| format!("e{e}")).collect::<Vec<_>>().join(" ")
        };
        // Typed sets share what the second has below `a`.
        let from = if a + b > universe { universe - b } else { a - 1 };
        let shared = (a.saturating_sub(from)).min(b);
        for x in choices(universe, a) {
            for y in choices(universe, b) {
                sum += f64::from((x & y).count_ones()) / f64::from((x | y).count_ones());
                as_many += u32::from((x & y).count_ones() >= shared);
                pairs += 1;
            }
        }
        place.write("a.txt", typed(a, 0));
        place.write("b.txt", typed(b, from));
        let found = compared(&place, &format!("a.txt b.txt --as set --expected={universe}"));
        assert_eq!(found["overlap"], json!(shared));
        close(&found["expected"]["jaccard"], sum / f64::from(pairs));
        close(&found["chance"], f64::from(as_many) / f64::from(pairs));
        if a == b {
            // m / (2n − m), the answer to 3.3.4's shorter way.
            let (m, n) = (f64::from(a), f64::from(universe));
            close(&found["expected"]["approximation"], m / (2.0 * n - m));
        }
    }
    // For large sets both agree: 1000 of 100,000 each.
    let all =
        |from: usize| (from..from + 1000).map(|e| e.to_string()).collect::<Vec<_>>().join(" ");
    place.write("a.txt", all(0));
    place.write("b.txt", all(990));
    let found = compared(&place, "a.txt b.txt --as set --expected=100000");
    let expected = found["expected"]["jaccard"].as_f64().expect("a number");
    assert!((expected - 1000.0 / 199_000.0).abs() < 2e-5, "{expected}");
    // Ten shared elements are what is to be expected.
    close(&found["expected"]["shared"], 10.0);
    let chance = found["chance"].as_f64().expect("a number");
    assert!((0.5..0.6).contains(&chance), "{chance}");
}

#[test]
fn s1_8_the_universe_of_a_collection() {
    let place = Place::new();
    place.write("sets.jsonl", "{\"id\":1,\"items\":[\"a\",\"b\"]}\n{\"id\":2,\"items\":[\"b\",\"c\"]}\n{\"id\":3,\"items\":[\"d\"]}\n");
    let found = compared(&place, "--in sets.jsonl 1 2 --as set --expected");
    assert_eq!(found["expected"]["universe"], json!(4));
    // Of 36 pairs of sets of two of four, 6 are equal and 24 share one element: (6 + 24/3) / 36.
    close(&found["expected"]["jaccard"], 14.0 / 36.0);
    place.write("texts.jsonl", "{\"id\":1,\"text\":\"a b c\"}\n{\"id\":2,\"text\":\"b c d\"}\n");
    let found = compared(&place, "--in texts.jsonl 1 2 --shingle words:1 --expected");
    assert_eq!(found["expected"]["universe"], json!(4));
    let text =
        place.ok("compare --in texts.jsonl 1 2 --shingle words:1 --expected --no-diff").stdout;
    assert!(text.contains("expected by chance, of 4 elements"), "{text}");
    place.fails(
        "compare --in sets.jsonl 1 2 --as set --expected=1",
        &["--expected is 1", "at least 2"],
    );
    place.write("a.txt", "a b");
    place.fails("compare a.txt a.txt --as set --expected", &["--expected", "number of elements"]);
    place.fails("compare --as vector 1,2 2,3 --expected=9", &["--expected", "left out"]);
    assert_eq!(place.run("compare a.txt a.txt --as set --expected=many").code, Some(2));
}

#[test]
fn what_only_texts_have_is_refused_for_others() {
    let place = Place::new();
    place.write("a.txt", "a b");
    for (flags, name) in [
        ("--passages", "--passages"),
        ("--least-words 2", "--least-words"),
        ("--no-diff", "--no-diff"),
        ("--shingle words:2", "--shingle"),
    ] {
        place.fails(&format!("compare a.txt a.txt --as set {flags}"), &[name]);
    }
    place.fails("compare a.txt a.txt --fields all", &["--in"]);
}

#[test]
fn sets_that_are_typed_with_commas_are_told_apart_from_those_meant() {
    let place = Place::new();
    let text = place.ok("compare --as set 1,2,3 2,4").stdout;
    assert!(text.contains("1 element\n") && text.contains("put blanks between elements"), "{text}");
    let text = place.ok_words(["compare", "--as", "set", "1 2 3", "2 4"]).stdout;
    assert!(!text.contains("put blanks between elements"), "{text}");
}
