//! `nearkin hosts`: mirrors from URLs, from pages, from links.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::common::Place;
use crate::data::data;
use serde_json::{Value, json};

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mirrors").join(name)
}

/// The paths of a small site, in letters only.
fn paths() -> Vec<String> {
    let word = |number: usize| {
        [number / 26, number % 26].map(|digit| char::from(b'a' + digit as u8)).iter().collect()
    };
    let word: &dyn Fn(usize) -> String = &word;
    (0..40).map(|n| format!("/docs/{}/{}.html", word(n), word(n + 100))).collect()
}

/// Two hosts with the same paths, and one with others.
fn two_mirrors() -> String {
    let mut urls = String::new();
    for path in paths() {
        let _ = writeln!(urls, "http://a.example{path}");
        let _ = writeln!(urls, "https://b.example:8080{path}");
        let _ = writeln!(urls, "http://c.example/x{path}");
    }
    urls
}

/// What the guide shows of the shipped example.
#[test]
fn s8_6_the_example_gives_the_figures_of_the_guide() {
    let place = Place::new();
    let [urls, pages, links] = ["urls.txt", "pages.jsonl", "links.tsv"].map(example);
    let line = format!(
        "hosts {} --pages {} --links {} --contracted left.tsv --folds folds.csv --stats stats.json",
        urls.display(),
        pages.display(),
        links.display()
    );
    let outcome = place.ok(&line);
    let row = |[a, b]: [&str; 2], similarity: f64, counts: [u64; 6], verdict: &str, merged: u64| {
        json!({
            "a": a, "b": b, "similarity": similarity,
            "a_urls": counts[0], "b_urls": counts[1], "shared_paths": counts[2],
            "pages_compared": counts[3], "pages_same": counts[4], "pages_alike": counts[5],
            "verdict": verdict, "pages_merged": merged,
        })
    };
    let expected = [
        row(
            ["mirror.pier.example", "docs.harbour.example"],
            0.59375,
            [31, 26, 22, 32, 32, 32],
            "identical",
            37,
        ),
        row(
            ["buoys.example", "sails.example"],
            61.0 / 87.0,
            [20, 19, 16, 24, 0, 0],
            "different",
            0,
        ),
        row(
            ["wiki.tide.example", "wiki-old.tide.example"],
            19.0 / 27.0,
            [25, 21, 19, 27, 18, 18],
            "partial",
            0,
        ),
    ];
    assert_eq!(rows(&outcome.stdout), expected);
    assert_eq!(
        place.read("folds.csv"),
        "host,into,pages,merged\nmirror.pier.example,docs.harbour.example,37,37\n"
    );
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    assert_eq!((&stats["hosts"], &stats["judged"]), (&json!(18), &json!(12)));
    assert_eq!(stats["links"]["rounds"], json!([32, 4, 1]));
    // Half of the links, and a row of names; the site that is left is the one with as many pages that came first.
    let left = place.read("left.tsv");
    assert_eq!(left.lines().count(), 111);
    assert!(!left.contains("mirror.pier.example"));
    let guide = fs::read_to_string(example("../../docs/mirrors.md")).expect("the guide");
    let funnel = outcome.stderr.rsplit_once("; took").expect("the last line").0;
    assert!(guide.contains(funnel), "{funnel}");
    for line in outcome.stdout.lines() {
        assert!(guide.contains(line), "{line}");
    }
}

#[test]
fn lists_come_in_many_forms() {
    let place = Place::new();
    let urls = two_mirrors();
    let table = |row: &dyn Fn(&str) -> String| urls.lines().map(row).collect::<String>();
    place.write("urls.txt", &urls);
    place.write("urls.jsonl", table(&|url| format!("{}\n", json!({ "n": 1, "url": url }))));
    place.write("other.jsonl", table(&|url| format!("{}\n", json!({ "link": { "to": url } }))));
    place.write("urls.csv", format!("n,url\n{}", table(&|url| format!("1,{url}\n"))));
    // Without a row of names, the first column that has a URL.
    place.write("bare.tsv", table(&|url| format!("1\t{url}\thttp://z.example/\n")));
    place.write("marked.txt", format!("\u{feff}{}", urls.replace('\n', "\r\n\r\n")));
    let expected = place.ok("hosts urls.txt").stdout;
    let found = rows(&expected);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0],
        json!({
            "a": "a.example", "b": "b.example:8080", "similarity": 1.0,
            "a_urls": 40, "b_urls": 40, "shared_paths": 40,
        })
    );
    for line in [
        "hosts urls.jsonl",
        "hosts other.jsonl --url link.to",
        "hosts urls.csv",
        "hosts bare.tsv",
        "hosts bare.tsv --url 2",
        "hosts marked.txt",
        "hosts urls.txt urls.csv",
        "hosts urls.txt --threads 1",
    ] {
        assert_eq!(place.ok(line).stdout, expected, "{line}");
    }
    assert_eq!(place.run_with("hosts -", urls.as_bytes()).stdout, expected);
    let jsonl = place.read("urls.jsonl");
    assert_eq!(place.run_with("hosts - --format jsonl", jsonl.as_bytes()).stdout, expected);
    place.ok("hosts urls.txt -o pairs.parquet");
    place.ok("hosts urls.txt -o pairs.csv");
    assert_eq!(
        place.read("pairs.csv"),
        "a,b,similarity,a_urls,b_urls,shared_paths\na.example,b.example:8080,1.0,40,40,40\n"
    );
    let back = place.ok("pairs pairs.parquet --text b --id a");
    assert!(back.stderr.contains("1  items read"), "{}", back.stderr);
}

#[test]
fn thresholds_and_least_numbers_decide_who_is_reported() {
    let place = Place::new();
    // Of forty pages, b has the last thirty and a the first thirty: twenty of forty shared.
    let paths = paths();
    let urls = |host: &str, paths: &[String]| {
        paths.iter().map(|path| format!("http://{host}.example{path}\n")).collect::<String>()
    };
    place.write("urls.txt", urls("a", &paths[..30]) + &urls("b", &paths[10..]));
    assert_eq!(rows(&place.ok("hosts urls.txt").stdout)[0]["similarity"], 0.5);
    let count = |flags: &str| rows(&place.ok(&format!("hosts urls.txt {flags}")).stdout).len();
    assert_eq!(count("-t 0.5"), 1);
    assert_eq!(count("-t 0.51"), 0);
    assert_eq!((count("--least-urls 30"), count("--least-urls 31")), (1, 0));
    // Two shingles a path.
    assert_eq!((count("--least-shingles 60"), count("--least-shingles 61")), (1, 0));
}

#[test]
fn what_is_no_url_ends_the_run_or_is_counted() {
    let place = Place::new();
    let urls = two_mirrors();
    place.write("urls.txt", format!("{urls}mailto:joe@example.org\n{urls}http://\n"));
    place.fails("hosts urls.txt -o out.csv", &["urls.txt:121: `mailto:joe@example.org` is no URL"]);
    let outcome = place.ok("hosts urls.txt --on-error skip --stats stats.json");
    assert!(outcome.stderr.contains("2  records skipped"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("skipped: urls.txt:242: "), "{}", outcome.stderr);
    assert_eq!(rows(&outcome.stdout).len(), 1);
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    assert_eq!((&stats["urls"], &stats["skipped"]), (&json!(240), &json!(2)));
}

#[test]
fn empty_lists_have_no_mirrors() {
    let place = Place::new();
    place.write("none.txt", "");
    place.write("blank.txt", "\n\n  \n");
    place.write("none.tsv", "");
    for line in ["hosts none.txt", "hosts blank.txt", "hosts none.tsv", "hosts -"] {
        let outcome = place.ok(line);
        assert_eq!(outcome.stdout, "", "{line}");
        assert!(outcome.stderr.contains("0  URLs read"), "{line}: {}", outcome.stderr);
    }
    place.write("urls.txt", two_mirrors());
    let found = rows(&place.ok("hosts urls.txt --pages none.tsv --links none.tsv").stdout);
    assert_eq!((&found[0]["verdict"], &found[0]["pages_merged"]), (&json!("unchecked"), &json!(0)));
}

#[test]
fn mistakes_are_told_in_one_line() {
    let place = Place::new();
    place.write("urls.txt", two_mirrors());
    place.write("urls.csv", "id,link\n1,http://a.example/\n");
    place.write("pages.jsonl", "{\"url\": \"http://a.example/docs\", \"text\": \"one\"}\n");
    place.write("bad.jsonl", "{\"url\": \"here\", \"text\": \"one\"}\n");
    place.write("links.tsv", "http://a.example/\thttp://b.example/\nhttp://a.example/\tnone\n");
    fs::create_dir(place.path("folder")).expect("a folder");
    for (flags, parts) in [
        ("nowhere.txt", &["nowhere.txt", "does not exist"][..]),
        ("folder", &["folder", "name the files"]),
        ("urls.csv", &["urls.csv", "no column `url`", "`link`", "--url"]),
        ("pages.jsonl --url address", &["pages.jsonl:1: no field `address`", "--url"]),
        ("urls.txt --pages nowhere.jsonl", &["nowhere.jsonl"]),
        ("urls.txt --pages urls.txt", &["urls.txt: lines of text have no fields"]),
        ("urls.txt --pages pages.jsonl --text body", &["pages.jsonl:1: no field `body`", "--text"]),
        ("urls.txt --pages pages.jsonl --url link", &["pages.jsonl:1: no field `link`", "--url"]),
        ("urls.txt --pages bad.jsonl", &["bad.jsonl:1: `here` is no URL"]),
        ("urls.txt --links nowhere.tsv", &["nowhere.tsv"]),
        ("urls.txt --links links.tsv", &["links.tsv:2: `none` is no URL", "--on-error skip"]),
        ("urls.txt --links links.tsv --link-fields from,to", &["links.tsv", "no column `from`"]),
        ("urls.txt --links pages.jsonl", &["pages.jsonl:1: no field `source`"]),
        ("urls.txt -t 0", &["--threshold is 0", "above 0"]),
        ("urls.txt --alike 7", &["--alike is 7"]),
        ("- --pages -", &["read once"]),
        ("urls.txt -o urls.txt", &["given twice"]),
        ("urls.txt --links links.tsv --folds x.csv --contracted x.csv", &["given twice"]),
        ("urls.txt -o nowhere/x.csv", &["nowhere", "does not exist"]),
        ("urls.txt --links links.tsv --folds folds.doc", &["folds.doc", "format"]),
    ] {
        place.fails(&format!("hosts {flags}"), parts);
    }
    for wrong in ["", "urls.txt --folds x.csv", "urls.txt --links links.tsv --link-fields one"] {
        assert_eq!(place.run(&format!("hosts {wrong}")).code, Some(2), "{wrong}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    place.write("urls.txt", two_mirrors());
    place.write("links.tsv", "http://a.example/\thttp://b.example/\n");
    for flags in ["-o /dev/full", "--links links.tsv --contracted /dev/full"] {
        place.fails(&format!("hosts urls.txt {flags}"), &["/dev/full", "No space left"]);
    }
}

/// Pages at the same path, by their texts.
#[test]
fn pages_tell_mirrors_from_hosts_of_one_software() {
    let place = Place::new();
    place.write("urls.txt", two_mirrors());
    let text = |host: &str, path: &str| {
        (0..30).map(|n| format!("{host}{path}{n}")).collect::<Vec<_>>().join(" ")
    };
    let write = |name: &str, b: &dyn Fn(usize, &str) -> String| {
        let page = |url: String, text: String| format!("{}\n", json!({ "url": url, "text": text }));
        let of_path = |(n, path): (usize, &String)| {
            let first = page(format!("http://A.example{path}"), text("", path));
            first + &page(format!("http://b.example:8080{path}"), b(n, path))
        };
        place.write(name, paths().iter().enumerate().map(of_path).collect::<String>());
    };
    let checked = |flags: &str| {
        let row = rows(&place.ok(&format!("hosts urls.txt {flags}")).stdout).remove(0);
        let count = |name: &str| row[name].as_u64().expect("a count");
        let counts = ["pages_compared", "pages_same", "pages_alike"].map(count);
        (counts, row["verdict"].as_str().expect("a verdict").to_owned())
    };
    write("same.jsonl", &|_, path| text("", path));
    assert_eq!(checked("--pages same.jsonl"), ([40, 40, 40], "identical".to_owned()));
    assert_eq!(checked("--pages same.jsonl --most-pages 7"), ([7, 7, 7], "identical".to_owned()));
    write("near.jsonl", &|_, path| text("", path) + " and a last word");
    assert_eq!(checked("--pages near.jsonl"), ([40, 0, 40], "similar".to_owned()));
    assert_eq!(checked("--pages near.jsonl --alike 0.97"), ([40, 0, 0], "different".to_owned()));
    write("half.jsonl", &|n, path| text(if n % 2 == 0 { "" } else { "other" }, path));
    assert_eq!(checked("--pages half.jsonl"), ([40, 20, 20], "partial".to_owned()));
    write("other.jsonl", &|_, path| text("other", path));
    assert_eq!(checked("--pages other.jsonl"), ([40, 0, 0], "different".to_owned()));
    // A page without words is compared with nothing.
    write("empty.jsonl", &|n, path| if n < 2 { text("", path) } else { "…".to_owned() });
    assert_eq!(checked("--pages empty.jsonl"), ([2, 2, 2], "unchecked".to_owned()));
}

/// Links by themselves, in every form.
#[test]
fn links_fold_a_site_from_its_leaves_up() {
    let place = Place::new();
    place.write("urls.txt", two_mirrors());
    let mut links = Vec::new();
    for host in ["http://a.example", "http://b.example:8080"] {
        for target in ["x/1", "x/2", "x/3"] {
            links.push([format!("{host}/leaf"), format!("http://{target}")]);
        }
        for target in ["/leaf", "/other", "/more"] {
            let target = if target == "/leaf" {
                format!("{host}/leaf")
            } else {
                format!("http://x{target}")
            };
            links.push([format!("{host}/"), target]);
        }
    }
    let table = |between: &str| -> String {
        links.iter().map(|[from, to]| format!("{from}{between}{to}\n")).collect()
    };
    place.write("bare.tsv", table("\t"));
    place.write("bare.txt", format!("# from and to\n{}", table("  ")));
    place.write("named.csv", format!("source,target\n{}", table(",")));
    let turned = links.iter().map(|[from, to]| format!("{to},{from},7\n")).collect::<String>();
    place.write("turned.csv", format!("to,from,weight\n{turned}"));
    let object =
        |[from, to]: &[String; 2]| format!("{}\n", json!({ "target": to, "source": from }));
    place.write("links.jsonl", links.iter().map(object).collect::<String>());
    for flags in
        ["bare.tsv", "bare.txt", "named.csv", "turned.csv --link-fields from,to", "links.jsonl"]
    {
        let outcome = place.ok(&format!(
            "hosts urls.txt --links {flags} --contracted left.csv --folds folds.jsonl --stats stats.json"
        ));
        assert_eq!(rows(&outcome.stdout)[0]["pages_merged"], 2, "{flags}");
        let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
        assert_eq!(stats["links"]["rounds"], json!([1, 1]), "{flags}");
        assert_eq!(
            rows(&place.read("folds.jsonl")),
            [json!({ "host": "b.example:8080", "into": "a.example", "pages": 2, "merged": 2 })]
        );
        let left = place.read("left.csv");
        assert_eq!(left.lines().next(), Some("source,target"));
        assert_eq!(left.lines().count(), 7, "{left}");
    }
    let outcome = place.ok("hosts urls.txt --links bare.tsv --least-links 4");
    assert!(outcome.stderr.contains("0  pages merged"), "{}", outcome.stderr);
}

/// Three hosts that mirror one archive at three dates, among 22,145 others.
#[test]
fn s8_6_three_real_mirrors_among_other_hosts() {
    let (Some(mirrors), Some(others)) = (data("urls/mirrors.tsv.gz"), data("urls/urls.txt.gz"))
    else {
        return;
    };
    let place = Place::new();
    let mut mixed = Vec::new();
    for path in [mirrors, others] {
        let packed = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut text = String::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip data");
        mixed.extend(
            text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()),
        );
    }
    mixed.sort_unstable_by_key(|url| url.bytes().rev().collect::<Vec<_>>());
    place.write("mixed.txt", mixed.join("\n"));
    let outcome = place.ok("hosts mixed.txt --on-error skip --stats stats.json");
    let mut found: Vec<[String; 2]> = rows(&outcome.stdout)
        .iter()
        .map(|row| {
            let mut pair = ["a", "b"].map(|side| row[side].as_str().expect("a host").to_owned());
            pair.sort_unstable();
            pair
        })
        .collect();
    found.sort_unstable();
    let of = |hosts: [&str; 2]| hosts.map(|host| format!("{host}.mirror.example"));
    let truth = [["bookworm", "bullseye"], ["bookworm", "trixie"], ["bullseye", "trixie"]].map(of);
    assert_eq!(found, truth);
    let stats: Value = serde_json::from_str(&place.read("stats.json")).expect("JSON");
    assert!(stats["hosts"].as_u64().expect("a count") > 1000, "{stats}");
}
