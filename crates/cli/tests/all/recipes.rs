//! The commands of `docs/recipes.md`, each run as it stands, and the mistakes that are easily made with them.

use std::fs;

use crate::common::{Place, record};
use crate::page;

/// The commands of a recipe, by the words of its heading.
fn commands(recipe: &str) -> Vec<Vec<String>> {
    let page = page::read("docs/recipes.md");
    let section = page.split("\n## ").find(|section| section.starts_with(recipe));
    let section = section.unwrap_or_else(|| panic!("no recipe is called {recipe}"));
    let blocks = page::blocks(section).into_iter().filter(|block| block.info == "sh");
    blocks.flat_map(|block| page::commands(block.text)).collect()
}

/// Runs a recipe; what the commands said on standard output and standard error.
fn cook(place: &Place, recipe: &str) -> [String; 2] {
    let outcomes: Vec<_> = commands(recipe).iter().map(|words| place.ok_words(words)).collect();
    assert!(!outcomes.is_empty(), "{recipe} has no command");
    let all = |part: fn(&crate::common::Outcome) -> &str| outcomes.iter().map(part).collect();
    [all(|it| &it.stdout), all(|it| &it.stderr)]
}

/// So many different words, from this one on.
fn words(from: usize, count: usize) -> String {
    (from..from + count).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ")
}

fn ids(lines: &str) -> Vec<String> {
    let id = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["id"].as_str().unwrap().to_owned()
    };
    lines.lines().map(id).collect()
}

#[test]
fn every_recipe_is_tested() {
    let page = page::read("docs/recipes.md");
    let here = include_str!("recipes.rs");
    let cooked: Vec<&str> =
        here.split("cook(&place, \"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    for heading in page.lines().filter_map(|line| line.strip_prefix("## ")) {
        let is_cooked = cooked.iter().any(|start| heading.starts_with(start));
        assert!(is_cooked, "no test cooks {heading:?}");
    }
}

#[test]
fn shards_come_back_and_the_preferred_source_stays() {
    let place = Place::new();
    let line = |id: &str, source: &str, text: &str| {
        format!("{}\n", serde_json::json!({ "id": id, "source": source, "text": text }))
    };
    let first = line("web", "web", &words(0, 100)) + &line("own", "web", &words(500, 50));
    place.write("corpus/2023/a.jsonl", first);
    place.write("corpus/2024/b.jsonl", line("wiki", "wiki", &words(0, 99)));
    cook(&place, "Deduplicate shards");
    assert_eq!(ids(&place.read("kept/2023/a.jsonl")), ["own"]);
    assert_eq!(ids(&place.read("kept/2024/b.jsonl")), ["wiki"]);
    let gone = place.read("gone.csv");
    let rows: Vec<&str> = gone.lines().collect();
    assert_eq!(rows[0], "id,file,line,kept,kept_file,kept_line,similarity,reason,source");
    // 95 of 96 shingles are in both.
    assert!(rows[1].starts_with("web,corpus/2023/a.jsonl,1,wiki,corpus/2024/b.jsonl,1,0.98958"));
    assert!(rows[1].ends_with(",similar,web"), "{}", rows[1]);
    assert_eq!(rows.len(), 2);
}

#[test]
fn tomorrow_is_compared_with_what_was_kept() {
    let place = Place::new();
    place.write("kept/old.csv", format!("id,lang,text\nold,en,{}\n", words(0, 100)));
    let new = [
        record("seen", &words(0, 99)),
        record("first", &words(200, 80)),
        record("again", &words(200, 79)),
    ];
    place.write("tomorrow.jsonl", new.concat());
    cook(&place, "Add tomorrow");
    assert_eq!(ids(&place.read("new.jsonl")), ["first"]);
    let gone = place.read("gone.csv");
    let told: Vec<&str> = gone.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!(told, ["seen", "again"]);
}

#[test]
fn mistakes_with_two_collections_get_a_clear_line() {
    let place = Place::new();
    place.write("kept/old.jsonl", record("old", &words(0, 50)));
    place.write("new.jsonl", record("new", &words(100, 50)));
    place.write("empty.jsonl", "");
    place.fails(
        "dedup new.jsonl --against new.jsonl -o out.jsonl",
        &["new.jsonl: is in the new collection and in the old one"],
    );
    place.fails("dedup new.jsonl --against kept/ -o out.jsonl --text body", &["body", "--text"]);
    place.fails(
        "dedup new.jsonl --against kept/ -o kept/old.jsonl",
        &["a file of the collection in --against"],
    );
    place.write("in/new.jsonl", record("new", &words(100, 50)));
    place.fails(
        "dedup in/ --against kept/ -o in/out.jsonl",
        &["in/out.jsonl", "which is the input"],
    );
    place.ok("dedup in/ --against kept/ -o kept/tomorrow.jsonl");
    assert_eq!(ids(&place.read("kept/tomorrow.jsonl")), ["new"]);
    let outcome = place.ok("dedup new.jsonl --against empty.jsonl -o out.jsonl");
    assert!(outcome.stderr.contains("warning: "), "{}", outcome.stderr);
}

#[test]
fn test_items_are_kept_out_or_cut_out() {
    let place = Place::new();
    let question = words(0, 20);
    let asked = format!("{} {} {}", words(100, 15), question.to_uppercase(), words(200, 15));
    let train = record("seen", &asked) + &record("clean", &words(300, 60));
    place.write("train/a.jsonl", train);
    place.write(
        "test.jsonl",
        format!("{}\n", serde_json::json!({ "id": "q", "question": question })),
    );
    cook(&place, "Keep test items out");
    assert_eq!(ids(&place.read("clean/a.jsonl")), ["clean"]);
    let who = place.read("who.csv");
    assert!(who.lines().nth(1).unwrap().starts_with("seen,q,20,"), "{who}");
    let cut = place.read("cut/a.jsonl");
    assert_eq!(ids(&cut), ["seen", "clean"]);
    let left: serde_json::Value = serde_json::from_str(cut.lines().next().unwrap()).unwrap();
    assert_eq!(left["text"], format!("{} {}", words(100, 15), words(200, 15)));
}

#[test]
fn boilerplate_is_removed_and_passages_stay_once() {
    let place = Place::new();
    let passage = words(0, 60);
    let page = |id: &str, own: usize, middle: &str| {
        record(id, &format!("Home Products Contact\n{}\n{middle}", words(own, 20)))
    };
    let pages =
        [page("a", 1000, &passage), page("b", 2000, &passage), page("c", 3000, "nothing else")];
    place.write("pages.jsonl", pages.concat());
    cook(&place, "Remove boilerplate");
    let last = place.read("final.jsonl");
    let texts: Vec<String> = last
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|page| page["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts[0], format!("{}\n{passage}", words(1000, 20)));
    assert_eq!(texts[1].trim_end(), words(2000, 20));
    assert_eq!(texts[2], format!("{}\nnothing else", words(3000, 20)));
    assert_eq!(place.read("gone.jsonl").lines().count(), 3);
}

#[test]
fn copied_code_is_listed_with_its_passages() {
    let place = Place::new();
    let code = |from: usize| {
        (from..from + 40)
            .map(|i| format!("def f{i}(a{i}):\n    return a{i} + {i}\n"))
            .collect::<String>()
    };
    place.write("src/one.py", code(0));
    place.write("src/two.py", code(1));
    place.write("src/made.py", code(0));
    place.write("src/notes.md", code(0));
    place.write("src/.gitignore", "made.py\n");
    let [shown, _] = cook(&place, "Find copied code");
    assert!(shown.contains("one.py") && shown.contains("two.py"), "{shown}");
    // Of 40 functions of six words each, 39 are in both: the passage begins with the second of one.py.
    assert!(shown.contains("234 words, lines 3–80 and 1–78: def f1(a1)"), "{shown}");
    assert!(!shown.contains("made.py") && !shown.contains("notes.md"), "{shown}");
}

#[test]
fn chinese_needs_no_setting() {
    let place = Place::new();
    let text = "昨天下午，市图书馆宣布将延长周末的开放时间，以便更多的读者能够在工作之余借阅图书。";
    let lines = [
        record("a", text),
        record("b", &text.replace("昨天", "今天")),
        record("c", "港口的新桥明年春天开始施工，预计需要两年时间才能完成全部工程并且通车。"),
    ];
    place.write("zh.jsonl", lines.concat());
    cook(&place, "Chinese");
    assert_eq!(ids(&place.read("kept.jsonl")), ["a", "c"]);
}

#[test]
fn rows_of_embeddings_stay_as_they_came() {
    let place = Place::new();
    let rows: [[f32; 4]; 3] = [[1.0, 0.0, 0.0, 0.5], [0.99, 0.01, 0.0, 0.5], [0.0, 1.0, 1.0, 0.0]];
    let npy = |rows: &[[f32; 4]]| {
        let shape = format!("({}, 4)", rows.len());
        let mut head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        head += &" ".repeat(64 - (11 + head.len()) % 64);
        head.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((head.len() as u16).to_le_bytes());
        bytes.extend(head.bytes());
        bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
        bytes
    };
    place.write("emb.npy", npy(&rows));
    cook(&place, "Deduplicate embeddings");
    let kept = fs::read(place.path("kept.npy")).unwrap();
    let whole = npy(&[rows[0], rows[2]]);
    assert!(kept.ends_with(&whole[whole.len() - 32..]));
    let groups = place.read("groups.csv");
    assert_eq!(
        groups.lines().map(|row| row.split(',').next().unwrap()).collect::<Vec<_>>(),
        ["id", "0", "1"]
    );
}

#[test]
fn a_spreadsheet_gets_typing_errors_and_no_formulas() {
    let place = Place::new();
    let table = "customer;name\n=1+1;Jane Smith\nc2;Jane Smiht\nc3;Somebody Else\n";
    place.write("customers.csv", table);
    cook(&place, "A table");
    assert_eq!(place.read("pairs.csv"), "a,b,distance\n'=1+1,c2,1.0\n");
}
