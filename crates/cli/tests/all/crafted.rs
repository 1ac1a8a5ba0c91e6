//! Collections that somebody made to deceive.

use crate::common::{Place, record};

/// Words, and others with the same hash under the function of 0.1, which multiplied by known numbers: each took some ten
/// million tries. A text of such twins had the shingles of the text of the words.
const TWINS: [(&str, &str); 35] = [
    ("the", "ye0epd0y8soc1qy3"),
    ("bridge", "ndzhq2mh6nk0bjp_"),
    ("over", "e22amke0w_tip8zp"),
    ("harbour", "1tzsdtnlsu7y26th"),
    ("will", "n1xyl2cx57f8kctr"),
    ("be", "cqznld252q_i6t74"),
    ("closed", "zmlmzc15jonrbmct"),
    ("until", "25dvd3wj2_vqvgno"),
    ("monday", "lzbrraox065fxcj8"),
    ("because", "cvg1xuyl5a145ql0"),
    ("a", "3vzcuurc07tes80p"),
    ("ship", "zuieyyvoxwczywfd"),
    ("has", "ymd55sxie_xhbmcl"),
    ("damaged", "gu1zlndavs_it1ko"),
    ("one", "nd022h5mlsvzb677"),
    ("of", "itxxonrthamljiho"),
    ("its", "2s04e0xn5g9lcimm"),
    ("pillars", "khj2see4t3vrvlgn"),
    ("said", "jhxkuacnzqowis1g"),
    ("mayor", "as4t0awv2m717xaq"),
    ("yesterday", "ndggonpjam6su4nn"),
    ("engineers", "ln1pzkkzh07np74i"),
    ("are", "ydolxk5ng1o_ep5c"),
    ("now", "ob3dz5skw652wh_z"),
    ("looking", "4wis5lqarhj3_cxh"),
    ("at", "dxkux0yn8dc00hpk"),
    ("damage", "co1d5m3g9vn8cu0e"),
    ("while", "c24f4adize63umxp"),
    ("ferries", "v5eoun03v6967_oi"),
    ("carry", "fb5tew45ywne25x0"),
    ("people", "0wo45ldp6udm0boo"),
    ("across", "m4j0xvr1qw02yiei"),
    ("water", "0psfosnzd7g88me_"),
    ("every", "vfdecz3laco1j4dm"),
    ("hour", "vy0oogeaqq3m8hg0"),
];

/// The words as a text, or their twins.
fn texts() -> [String; 2] {
    let words: Vec<&str> = TWINS.iter().map(|twin| twin.0).collect();
    let twins: Vec<&str> = TWINS.iter().map(|twin| twin.1).collect();
    [words.join(" "), twins.join(" ")]
}

fn collection(place: &Place) {
    let [article, gibberish] = texts();
    // The gibberish comes first, so that it would be kept.
    place.write("in.jsonl", record("gibberish", &gibberish) + &record("article", &article));
}

#[test]
fn gibberish_of_twins_is_not_similar_to_an_article() {
    let place = Place::new();
    collection(&place);
    for shingle in ["words:1", "words:2", "words:3", "words:5", "words:7", "chars:12", "stopwords"]
    {
        for measure in ["jaccard", "bag", "dice", "containment"] {
            let rest = format!("--shingle {shingle} --measure {measure} -t 0.01 --exact");
            let pairs = place.ok(&format!("pairs in.jsonl {rest}")).stdout;
            assert_eq!(pairs, "", "{rest}");
        }
    }
}

#[test]
fn dedup_does_not_remove_an_article_for_gibberish() {
    let place = Place::new();
    collection(&place);
    for way in ["--exact", "--approximate", "--approximate --seed 7"] {
        place.ok(&format!("dedup in.jsonl -o out.jsonl {way}"));
        assert_eq!(place.read("out.jsonl"), place.read("in.jsonl"), "{way}");
    }
}

#[test]
fn passages_and_comparisons_tell_twins_from_words() {
    let place = Place::new();
    let [article, gibberish] = texts();
    place.write("a.txt", article);
    place.write("b.txt", gibberish);
    let told: serde_json::Value =
        serde_json::from_str(&place.ok("compare a.txt b.txt --json").stdout).unwrap();
    assert_eq!(told["jaccard"], 0.0, "{told}");
    assert_eq!(told["passages"], serde_json::json!([]), "{told}");
}

#[test]
fn sets_of_twins_are_not_similar_to_sets_of_strings() {
    let place = Place::new();
    let [words, twins] = texts();
    place.write("sets.txt", format!("{words}\n{twins}\n"));
    for seed in [1, 2] {
        let rest = format!("--as set -t 0.01 --exact --seed {seed}");
        assert_eq!(place.ok(&format!("pairs sets.txt {rest}")).stdout, "");
    }
}

/// What is exact is the same with any key.
#[test]
fn another_seed_gives_the_same_exact_pairs() {
    let place = Place::new();
    let [article, _] = texts();
    let changed = article.replacen("harbour", "river", 1);
    let all = [&article, &changed, &article, &changed.to_uppercase(), &"ferry".to_string()];
    let records: Vec<String> =
        all.iter().enumerate().map(|(at, text)| record(&at.to_string(), text)).collect();
    place.write("in.jsonl", records.concat());
    for shingle in ["words:3", "words:1", "chars:5", "stopwords"] {
        let pairs = |seed: u64| {
            let rest = format!("--shingle {shingle} --ignore-case -t 0.3 --exact --seed {seed}");
            let rest = if shingle.starts_with("chars") {
                rest
            } else {
                rest.replace("--ignore-case ", "")
            };
            place.ok(&format!("pairs in.jsonl {rest}")).stdout
        };
        let first = pairs(1);
        assert_eq!(first.lines().count(), 6, "{first}");
        assert_eq!(pairs(2), first);
        assert_eq!(pairs(u64::MAX), first);
    }
}
