//! A corpus in many files: read side by side, and given back as a tree of the same files.

use std::fs;
use std::io::{Read, Write};

use crate::common::{Place, record};

/// The words of a text from the `from`th on.
fn words(from: usize, count: usize) -> String {
    (from..from + count).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" ")
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn unpacked(place: &Place, name: &str) -> String {
    let bytes = fs::read(place.path(name)).unwrap();
    let mut text = String::new();
    match name.rsplit('.').next() {
        Some("gz") => {
            flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        }
        Some("zst") => text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap(),
        _ => text = String::from_utf8(bytes).unwrap(),
    }
    text
}

/// Shards of all kinds below the folder `in`; the second text of each is a near-copy of the first text of `in/a.jsonl`.
fn corpus() -> Place {
    let place = Place::new();
    let shard = |n: usize| {
        record(&format!("own{n}"), &words(1000 * n, 200))
            + &record(&format!("copy{n}"), &words(0, 195 + n % 5))
    };
    place.write("in/a.jsonl", shard(0));
    place.write("in/b/b.jsonl.gz", gz(shard(1).as_bytes()));
    place.write("in/b/c.jsonl.zst", zstd::encode_all(shard(2).as_bytes(), 3).unwrap());
    place.write("in/empty.jsonl", "");
    place.write("in/z/only-copies.jsonl", record("copy9", &words(0, 198)));
    place.write("in/_SUCCESS", "");
    place.write(
        "in/t.csv",
        format!("id,text\nown4,\"{}\"\ncopy4,{}\n", words(4000, 200), words(0, 199)),
    );
    place
}

#[test]
fn a_tree_of_shards_comes_back_as_a_tree_of_shards() {
    let place = corpus();
    for threads in [1, 2, 7] {
        let outcome = place.ok(&format!("dedup in -o kept/ --threads {threads}"));
        assert!(outcome.stderr.contains("9  items read"), "{}", outcome.stderr);
        let own = |n: usize| record(&format!("own{n}"), &words(1000 * n, 200));
        assert_eq!(unpacked(&place, "kept/a.jsonl"), own(0));
        assert_eq!(unpacked(&place, "kept/b/b.jsonl.gz"), own(1));
        assert_eq!(unpacked(&place, "kept/b/c.jsonl.zst"), own(2));
        assert_eq!(unpacked(&place, "kept/empty.jsonl"), "");
        assert_eq!(unpacked(&place, "kept/z/only-copies.jsonl"), "");
        assert_eq!(
            unpacked(&place, "kept/t.csv"),
            format!("id,text\nown4,\"{}\"\n", words(4000, 200))
        );
        assert_eq!(place.files(), ["in", "kept"], "nothing else is left");
        assert!(!place.exists("kept/_SUCCESS"));
        // What was read from a folder is read from its files.
        let files = "in/a.jsonl in/b/b.jsonl.gz in/b/c.jsonl.zst in/empty.jsonl in/t.csv in/z/only-copies.jsonl";
        place.ok(&format!("dedup {files} -o again/ --threads {threads} -q"));
        assert_eq!(
            fs::read(place.path("again/b/b.jsonl.gz")).unwrap(),
            fs::read(place.path("kept/b/b.jsonl.gz")).unwrap()
        );
        for folder in ["kept", "again"] {
            fs::remove_dir_all(place.path(folder)).unwrap();
        }
    }
}

#[test]
fn files_of_one_folder_lie_in_the_folder_of_shards() {
    let place = corpus();
    place.ok("dedup in/b/b.jsonl.gz in/b/c.jsonl.zst -o kept/ -q");
    assert!(place.exists("kept/b.jsonl.gz") && place.exists("kept/c.jsonl.zst"));
    fs::create_dir(place.path("there")).unwrap();
    place.ok("dedup in/a.jsonl -o there -q");
    assert_eq!(unpacked(&place, "there/a.jsonl"), record("own0", &words(0, 200)));
}

#[test]
fn parquet_shards_keep_their_own_columns() {
    let place = corpus();
    place.ok("dedup in/a.jsonl -o one.parquet -q");
    fs::create_dir(place.path("p")).unwrap();
    fs::rename(place.path("one.parquet"), place.path("p/one.parquet")).unwrap();
    place.write("p/two.jsonl", record("x", &words(0, 199)) + &record("y", &words(7000, 50)));
    place.ok("dedup p -o kept/ -q");
    place.ok("dedup kept/one.parquet -o one.jsonl -q");
    assert_eq!(place.read("one.jsonl"), record("own0", &words(0, 200)));
    assert_eq!(unpacked(&place, "kept/two.jsonl"), record("y", &words(7000, 50)));
}

#[test]
fn a_folder_that_cannot_hold_the_shards_is_refused_before_the_work() {
    let place = corpus();
    place.write("full/x", "x");
    place.fails("dedup in -o full/", &["full", "is not empty", "name a new folder"]);
    place.fails("dedup in -o in/", &["is not empty"]);
    place.fails("dedup in -o full/x/", &["is a file"]);
    place.fails("dedup in -o no/such/", &["the folder no does not exist"]);
    place.fails("dedup in/a.jsonl ./in/a.jsonl --positions -o kept/", &["is given twice"]);
    let outcome = place.run_with("dedup - -o kept/", record("a", "b").as_bytes());
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("has no path"), "{}", outcome.stderr);
    place.write("docs/a", "one two three");
    place.fails("dedup docs -o kept/", &["documents", "name an output file"]);
}

#[test]
fn a_folder_with_shards_and_documents_asks_which() {
    let place = corpus();
    place.write("in/readme.md", "not a record");
    place.fails("dedup in -o kept/", &["a.jsonl", "readme.md", "--format jsonl or folder"]);
    place.ok("dedup in --format jsonl -o kept/ -q");
    assert!(place.exists("kept/b/c.jsonl.zst") && !place.exists("kept/t.csv"));
    place.fails("pairs in --format parquet", &["without a .parquet file"]);
}

#[test]
fn a_broken_shard_is_named_and_nothing_is_written() {
    let place = corpus();
    let whole = fs::read(place.path("in/b/b.jsonl.gz")).unwrap();
    place.write("in/b/b.jsonl.gz", &whole[..whole.len() / 2]);
    for threads in [1, 4] {
        place.fails(
            &format!("dedup in -o kept/ --threads {threads}"),
            &["in/b/b.jsonl.gz", "truncated"],
        );
    }
    place.write("in/b/b.jsonl.gz", gz(b"{\"id\":\"x\",\"text\":\"fine\"}\nrubbish\n"));
    for threads in [1, 4] {
        place.fails(&format!("dedup in -o kept/ --threads {threads}"), &["in/b/b.jsonl.gz:2:"]);
    }
    let outcome = place.ok("dedup in -o kept/ --on-error skip");
    assert!(outcome.stderr.contains("in/b/b.jsonl.gz:2:"), "{}", outcome.stderr);
    assert_eq!(unpacked(&place, "kept/b/b.jsonl.gz"), "{\"id\":\"x\",\"text\":\"fine\"}\n");
    place.write("in/z/z.jsonl", "rubbish\n".repeat(12));
    let outcome = place.ok("dedup in -o again/ --on-error skip --stats s.json");
    for count in ["skipped: 1 in in/b/b.jsonl.gz\n", "skipped: 12 in in/z/z.jsonl\n"] {
        assert!(outcome.stderr.contains(count), "{}", outcome.stderr);
    }
    let stats: serde_json::Value = serde_json::from_str(&place.read("s.json")).unwrap();
    let counts = serde_json::json!({ "in/b/b.jsonl.gz": 1, "in/z/z.jsonl": 12 });
    assert_eq!(stats["skipped_in"], counts);
}

#[test]
fn lines_in_errors_are_those_of_the_file_in_any_chunk() {
    // Three chunks of half a megabyte; the bad line is in the last.
    let place = Place::new();
    let mut lines = String::new();
    for n in 0..3000 {
        lines += &record(&n.to_string(), &words(n, 60));
    }
    assert!(lines.len() > 1 << 20);
    place.write("in.jsonl", lines + "rubbish\n");
    for threads in [1, 3] {
        place.fails(&format!("pairs in.jsonl --threads {threads}"), &["in.jsonl:3001:"]);
        let outcome =
            place.ok(&format!("pairs in.jsonl --threads {threads} --on-error skip -o o.csv"));
        assert!(outcome.stderr.contains("in.jsonl:3001:"), "{}", outcome.stderr);
    }
}

#[test]
fn even_shards_are_the_same_however_the_input_was_split() {
    let place = Place::new();
    let records: Vec<String> =
        (0..50).map(|n| record(&n.to_string(), &words(100 * n, 20 + n % 30))).collect();
    place.write("one/all.jsonl", records.concat());
    for (n, part) in records.chunks(7).enumerate() {
        // The last line of a file may have no end.
        place.write(&format!("many/{n}.jsonl"), part.concat().trim_end());
    }
    place.ok("dedup one -o a/ --shard-size 2K -q");
    place.ok("dedup many -o b/ --shard-size 2K -q --threads 3");
    let parts = |folder: &str| {
        let mut parts: Vec<_> = fs::read_dir(place.path(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        parts.sort();
        parts
    };
    assert_eq!(parts("a"), parts("b"));
    assert!(parts("a").len() > 4 && parts("a")[0] == "part-00000.jsonl", "{:?}", parts("a"));
    let mut whole = String::new();
    for part in parts("a") {
        let text = place.read(&format!("a/{}", part.display()));
        assert_eq!(place.read(&format!("b/{}", part.display())), text);
        assert!(text.len() <= 2048 && text.ends_with('\n'), "{}", text.len());
        whole += &text;
    }
    assert_eq!(whole, records.concat());
}

#[test]
fn even_shards_of_tables_are_whole_rows() {
    let place = Place::new();
    // Line ends within quotes end no record.
    let row = |n: usize| format!("{n},\"{}\n{}\"\n", words(100 * n, 30), words(100 * n + 50, 30));
    place.write("in.csv", format!("id,text\n{}", (0..30).map(row).collect::<String>()));
    place.ok("dedup in.csv -o csv/ --shard-size 1K -q");
    place.ok("dedup in.csv -o in.parquet -q");
    place.ok("dedup in.parquet -o parquet/ --shard-size 1K -q");
    for (folder, kind) in [("csv", "csv"), ("parquet", "parquet")] {
        let count = fs::read_dir(place.path(folder)).unwrap().count();
        assert!(count > 8, "{count}");
        let part = format!("{folder}/part-00003.{kind}");
        let outcome = place.ok(&format!("dedup {part} -o /dev/null --format {kind}"));
        assert!(!outcome.stderr.contains(" 0  items read"), "{}", outcome.stderr);
        place.ok(&format!("dedup {folder} -o {folder}.jsonl -q"));
    }
    place.ok("dedup in.csv -o in.jsonl -q");
    assert_eq!(place.read("csv.jsonl"), place.read("in.jsonl"));
    assert_eq!(place.read("parquet.jsonl"), place.read("in.jsonl"));
}

#[test]
fn even_shards_need_a_folder_and_one_format() {
    let place = corpus();
    place.fails("dedup in -o kept/ --shard-size 1K", &["in", "has another format"]);
    place.fails("dedup in -o kept.jsonl --shard-size 1K", &["--shard-size", "folder"]);
}
