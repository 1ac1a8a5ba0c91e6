//! Texts that have few words, or words without blanks between them.

use crate::common::{Place, record};
use serde_json::Value;

/// Lines of JSON with these texts, numbered.
fn lines(texts: impl Iterator<Item = String>) -> String {
    texts.enumerate().map(|(id, text)| record(&id.to_string(), &text)).collect()
}

fn stats(place: &Place) -> Value {
    serde_json::from_str(&place.read("s.json")).unwrap()
}

#[test]
fn titles_of_five_words_are_not_said_to_be_searched_completely() {
    let place = Place::new();
    place.write("titles.jsonl", lines((0..40).map(|n| format!("late frost halves crop {n}"))));
    let outcome = place.ok("pairs titles.jsonl -o p.csv --stats s.json");
    let warning = "40 of 40 texts have at most 5 words: each is one shingle, so almost only equal texts match; \
                   pass --shingle words:2 or chars:5";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    assert_eq!(stats(&place)["short"], 40);
    let outcome = place.ok("pairs titles.jsonl -o p.csv -t 0.5 --shingle words:2 --stats s.json");
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    assert_eq!((&stats(&place)["short"], &stats(&place)["pairs"]), (&0.into(), &780.into()));
}

#[test]
fn texts_without_words_are_counted() {
    let place = Place::new();
    let text =
        |n: i32| if n % 2 == 0 { "?!".repeat(n as usize + 1) } else { format!("a b c d e f {n}") };
    place.write("signs.jsonl", lines((0..20).map(text)));
    let outcome = place.ok("pairs signs.jsonl -o p.csv");
    let warning = "10 of 20 texts have no words, so only equal texts match; pass --shingle chars:5";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
}

/// No advice on shingles helps texts without a character.
#[test]
fn empty_texts_are_counted_apart() {
    let place = Place::new();
    let text = |n: i32| if n % 2 == 0 { String::new() } else { format!("a b c d e f {n}") };
    place.write("gaps.jsonl", lines((0..20).map(text)));
    let outcome = place.ok("pairs gaps.jsonl -o p.csv --stats s.json");
    let warning = "10 of 20 texts are empty, and are similar to nothing\n";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    let stats = stats(&place);
    assert_eq!((&stats["empty"], &stats["unshingled"]), (&10.into(), &0.into()));
}

/// None of their words is an English stop word, so they have no shingle.
#[test]
fn identical_german_texts_are_a_pair_under_stop_words() {
    let place = Place::new();
    let german = "Wer andern eine Grube gräbt, fällt selbst hinein.";
    let texts = [german, "Morgenstund hat Gold im Mund.", german, ""];
    place.write("de.jsonl", lines(texts.iter().map(|text| (*text).to_owned())));
    place.write("de.txt", german);
    let ways = [
        "--exact",
        "--bands 3 --rows 2",
        "--and-or or(8,minhash)",
        "--measure bag",
        "--measure containment",
        "--measure overlap -t 1",
        "--measure cosine",
    ];
    for way in ways {
        let rows = place.ok(&format!("pairs de.jsonl --shingle stopwords --format jsonl {way}"));
        let row = "{\"a\":\"0\",\"b\":\"2\",\"similarity\":1.0}\n";
        assert_eq!(rows.stdout, row, "{way}\n{}", rows.stderr);
    }
    let told = place.ok("dedup de.jsonl --shingle stopwords -o kept.jsonl --stats s.json").stderr;
    assert_eq!(place.read("kept.jsonl").lines().count(), 3);
    let warning = "3 of 4 texts have no stop word, so only equal texts match; \
                   give the stop words of their language with --stop-words, or pass --shingle words:5";
    assert!(told.contains(warning), "{told}");
    let closest = place.ok("top de.jsonl --shingle stopwords -k 3").stdout;
    assert_eq!(closest.lines().count(), 2, "{closest}");
    let compared = place.ok("compare de.txt de.txt --shingle stopwords --json").stdout;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!((&compared["jaccard"], &compared["bag"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn empty_texts_are_similar_to_nothing_in_a_comparison_too() {
    let place = Place::new();
    place.write("empty.txt", "");
    place.write("dots.txt", "...");
    for (a, b, similarity) in
        [("empty", "empty", 0.0), ("dots", "empty", 0.0), ("dots", "dots", 1.0)]
    {
        let told = place.ok(&format!("compare {a}.txt {b}.txt --json")).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["jaccard"], similarity, "{a} {b}");
        assert_eq!(told["containment"], serde_json::json!([similarity, similarity]));
    }
}

#[test]
fn prose_with_a_few_short_texts_is_nothing_to_warn_of() {
    let place = Place::new();
    let text =
        |n: i32| if n == 7 { "in short".to_owned() } else { format!("a b c d e f g h i {n}") };
    place.write("prose.jsonl", lines((0..40).map(text)));
    let outcome = place.ok("pairs prose.jsonl -o p.csv --stats s.json");
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    assert_eq!(stats(&place)["short"], 1);
}

/// Copies are counted too, at any number of threads: which of them a thread has just seen is left to chance.
#[test]
fn short_texts_are_counted_the_same_at_any_number_of_threads() {
    let place = Place::new();
    place.write("titles.jsonl", lines((0..5000).map(|n| format!("title number {}", n % 50))));
    for threads in [1, 2, 8] {
        place.ok(&format!("pairs titles.jsonl -o p.csv --threads {threads} --stats s.json"));
        assert_eq!(stats(&place)["short"], 5000, "{threads} threads");
    }
}

/// One character of 80 differs, so that 5 of the 76 shingles of each do.
#[test]
fn nearly_identical_chinese_texts_are_found() {
    let place = Place::new();
    // Each text has ideographs of its own, without a blank.
    let text = |n: u32| -> String {
        let own = |at: u32| char::from_u32(0x4e00 + n / 2 * 80 + at).unwrap();
        (0..80).map(|at| if n % 2 == 1 && at == 40 { '新' } else { own(at) }).collect()
    };
    place.write("zh.jsonl", lines((0..200).map(text)));
    let outcome = place.ok("pairs zh.jsonl -o p.csv --exact --stats s.json");
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    assert_eq!(stats(&place)["pairs"], 100);
    let similarity = 71.0 / 81.0;
    assert!(place.read("p.csv").lines().nth(1).unwrap().ends_with(&format!("{similarity}")));
}

/// Wording of the Universal Declaration of Human Rights, of several articles each, in Chinese, Japanese and Thai.
const ARTICLES: [(&str, [&str; 3]); 3] = [
    (
        "zh",
        [
            "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。人人有资格享有本宣言所载的一切权利和自由，\
             不分种族、肤色、性别、语言、宗教、政治或其他见解。",
            "任何人不得加以酷刑，或施以残忍的、不人道的或侮辱性的待遇或刑罚。人人在任何地方有权被承认在法律前的人格。\
             任何人不得加以任意逮捕、拘禁或放逐。",
            "法律之前人人平等，并有权享受法律的平等保护，不受任何歧视。人人有权享受平等保护，以免受违反本宣言的任何歧视行为以及煽动\
             这种歧视的任何行为之害。",
        ],
    ),
    (
        "ja",
        [
            "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、\
             互いに同胞の精神をもって行動しなければならない。",
            "何人も、拷問又は残虐な、非人道的な若しくは屈辱的な取扱若しくは刑罰を受けることはない。すべて人は、いかなる場所においても、\
             法の下において、人として認められる権利を有する。",
            "すべての人は、法の下において平等であり、また、いかなる差別もなしに法の平等な保護を受ける権利を有する。すべての人は、\
             この宣言に違反するいかなる差別に対しても平等な保護を受ける権利を有する。",
        ],
    ),
    (
        "th",
        [
            "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
            "บุคคลใดจะถูกทรมาน หรือได้รับผลปฏิบัติหรือการลงโทษที่โหดร้ายผิดมนุษยธรรมหรือต่ำช้าไม่ได้ ทุกคนมีสิทธิที่จะได้รับการยอมรับว่าเป็นบุคคลตามกฎหมายในทุกแห่งหน",
            "ทุกคนเสมอกันตามกฎหมาย และมีสิทธิที่จะได้รับความคุ้มครองของกฎหมายเท่าเทียมกัน โดยปราศจากการเลือกปฏิบัติใด ๆ ทุกคนมีสิทธิที่จะได้รับความคุ้มครองเท่าเทียมกัน",
        ],
    ),
];

/// A text and two like it: a letter in the middle is another one, and the last sentence has lost its end.
fn edited(text: &str) -> [String; 3] {
    let mut letters: Vec<char> = text.chars().collect();
    let (middle, end) = (letters.len() / 2, letters.len() - 4);
    let shorter = letters[..end].iter().collect();
    // The first letter stands for another one: of the same script, so that it is a word of its own.
    letters[middle] = letters[0];
    [text.to_owned(), letters.iter().collect(), shorter]
}

#[test]
fn nearly_identical_prose_in_chinese_japanese_and_thai_is_found() {
    let place = Place::new();
    for (language, articles) in ARTICLES {
        let file = format!("{language}.jsonl");
        place.write(&file, lines(articles.iter().flat_map(|article| edited(article))));
        for way in ["", "--approximate"] {
            let outcome = place.ok(&format!("pairs {file} {way} -o p.csv --stats s.json"));
            assert!(!outcome.stderr.contains("warning"), "{language}: {}", outcome.stderr);
            let rows = place.read("p.csv");
            let pairs: Vec<(u32, u32)> = rows.lines().skip(1).map(pair_of).collect();
            // Each with its two edits. These differ twice, in some articles too often.
            for first in [0, 3, 6] {
                assert!(pairs.contains(&(first, first + 1)), "{language} {way}\n{rows}");
                assert!(pairs.contains(&(first, first + 2)), "{language} {way}\n{rows}");
            }
            assert!(pairs.iter().all(|(a, b)| a / 3 == b / 3), "{language} {way}\n{rows}");
        }
    }
}

fn pair_of(row: &str) -> (u32, u32) {
    let mut ids = row.split(',').map(|id| id.trim_matches('"').parse().unwrap_or(u32::MAX));
    (ids.next().unwrap(), ids.next().unwrap())
}

#[test]
fn titles_of_five_letters_in_chinese_japanese_and_thai_are_said_to_be_short() {
    let place = Place::new();
    for (language, articles) in ARTICLES {
        let title = |article: &&str| article.chars().take(5).collect::<String>();
        place.write("titles.jsonl", lines(articles.iter().map(title)));
        let told = place.ok("pairs titles.jsonl -o p.csv").stderr;
        assert!(told.contains("3 of 3 texts have at most 5 words"), "{language}: {told}");
    }
}

#[test]
fn a_plan_knows_short_texts_and_leaves_other_items_alone() {
    let place = Place::new();
    place.write("titles.jsonl", lines((0..40).map(|n| format!("late frost halves crop {n}"))));
    let told = place.ok("plan titles.jsonl").stdout.replace('\n', " ");
    assert!(told.contains("40 of 40 texts have at most 5 words"), "{told}");
    let corpus: Value = serde_json::from_str(&place.ok("plan titles.jsonl --json").stdout).unwrap();
    assert_eq!((&corpus["corpus"]["short"], &corpus["corpus"]["empty"]), (&40.into(), &0.into()));
    place.write("tags.txt", "a b\nb c\n");
    let told = place.ok("plan tags.txt --as set").stdout;
    assert!(!told.contains("shingle"), "{told}");
}

#[test]
fn short_texts_that_are_skipped_do_not_count() {
    let place = Place::new();
    let again = record("1", "in short").repeat(50);
    place.write("in.jsonl", record("1", "in short") + &record("2", "a b c d e f g h") + &again);
    place.ok("pairs in.jsonl -o p.csv --on-error skip --stats s.json");
    let stats = stats(&place);
    assert_eq!((&stats["items"], &stats["short"]), (&2.into(), &1.into()));
}
