//! `dedup` of vectors, bits, strings, answers and tf-idf: what is kept, in which form, and what is refused.

use crate::common::Place;
use serde_json::Value;

/// An `.npy` file of two-dimensional points, as NumPy writes it.
fn npy(kind: &str, points: &[[f32; 2]]) -> Vec<u8> {
    let shape = points.len();
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}, 2), }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{text:<117}\n").as_bytes());
    for value in points.iter().flatten() {
        match kind {
            "<f4" => file.extend(value.to_le_bytes()),
            _ => file.extend(f64::from(*value).to_le_bytes()),
        }
    }
    file
}

const POINTS: [[f32; 2]; 6] =
    [[1.0, 0.0], [0.0, 1.0], [2.0, 0.1], [1.0, 0.0], [-1.0, 0.0], [0.1, 3.0]];

#[test]
fn fields_of_a_file_that_has_none_are_refused() {
    let place = Place::new();
    place.write("emb.npy", npy("<f4", &POINTS));
    for option in ["id", "text"] {
        let parts = ["emb.npy: ", "hold vectors alone, no fields; leave out --", option];
        place.fails(&format!("pairs emb.npy --as vector --within 1 --{option} name"), &parts);
    }
}

#[test]
fn clusters_of_sets_within_a_distance_told_a_similarity() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"text\":[\"a\",\"b\",\"c\"]}\n{\"text\":[\"a\",\"b\",\"d\"]}\n{\"text\":[]}\n",
    );
    let sets = "dedup in.jsonl --as set --clusters c.csv";
    let outcome = place.ok(&format!("{sets} --measure hamming --within 2"));
    let clusters = "id,cluster,kept,distance\n0,0,true,0.0\n1,0,false,2.0\n2,2,true,0.0\n";
    assert_eq!(place.read("c.csv"), clusters);
    assert!(outcome.stderr.contains("each within 2 of one that is kept"), "{}", outcome.stderr);
    // Two of four elements are in one set only.
    place.ok(&format!("{sets} --measure jaccard --within 0.5"));
    assert_eq!(place.read("c.csv"), clusters.replace("2.0", "0.5"));
}

#[test]
fn vectors_of_an_npy_file_are_kept_as_they_came() {
    let place = Place::new();
    for kind in ["<f4", "<f8"] {
        place.write("emb.npy", npy(kind, &POINTS));
        let line = "dedup emb.npy --as vector --measure cosine -t 0.9 -o kept.npy --clusters c.csv \
                    --stats s.json";
        let outcome = place.ok(line);
        let kept = npy(kind, &[POINTS[0], POINTS[1], POINTS[4]]);
        assert_eq!(std::fs::read(place.path("kept.npy")).unwrap(), kept, "{kind}");
        let clusters = place.read("c.csv");
        let lines: Vec<&str> = clusters.lines().collect();
        assert_eq!(lines[0], "id,cluster,kept,similarity");
        assert_eq!(lines[1], "0,0,true,1.0");
        assert!(lines[3].starts_with("2,0,false,0.998"), "{}", lines[3]);
        assert_eq!(lines[4], "3,0,false,1.0");
        let stats: Value = serde_json::from_str(&place.read("s.json")).unwrap();
        assert_eq!((&stats["items"], &stats["kept"]), (&6.into(), &3.into()));
        assert_eq!((&stats["clusters"], &stats["identical"]), (&2.into(), &1.into()));
        assert_eq!((&stats["way"], &stats["measure"]), (&"exact".into(), &"cosine".into()));
        assert!(outcome.stderr.contains("3  items kept"), "{}", outcome.stderr);
    }
    let mut fvecs = Vec::new();
    for point in POINTS {
        fvecs.extend(2u32.to_le_bytes());
        point.iter().for_each(|value| fvecs.extend(value.to_le_bytes()));
    }
    place.write("emb.fvecs", &fvecs);
    place.ok("dedup emb.fvecs --as vector --measure cosine -t 0.9 -o kept.fvecs");
    let kept = [&fvecs[..24], &fvecs[48..60]].concat();
    assert_eq!(std::fs::read(place.path("kept.fvecs")).unwrap(), kept);
}

#[test]
fn records_of_every_kind_keep_their_fields() {
    let place = Place::new();
    place.write(
        "v.jsonl",
        "{\"id\":\"a\",\"vector\":[0,0],\"score\":1}\n{\"id\":\"b\",\"vector\":[0,1],\"score\":3}\n\
         {\"id\":\"c\",\"vector\":[9,9],\"score\":2}\n",
    );
    let line =
        "dedup v.jsonl --as vector --within 1 --keep max:score -o kept.jsonl --clusters c.jsonl";
    place.ok(line);
    let kept = "{\"id\":\"b\",\"vector\":[0,1],\"score\":3}\n{\"id\":\"c\",\"vector\":[9,9],\"score\":2}\n";
    assert_eq!(place.read("kept.jsonl"), kept);
    let first = "{\"id\":\"a\",\"cluster\":\"b\",\"kept\":false,\"distance\":1.0}";
    assert_eq!(place.read("c.jsonl").lines().next(), Some(first));
    place.write("b.csv", "id,bits,note\nx,1011,one\ny,1010,two\nz,0100,three\n");
    place.ok("dedup b.csv --as bits --within 1 -o kept.csv");
    assert_eq!(place.read("kept.csv"), "id,bits,note\nx,1011,one\nz,0100,three\n");
    // Empty lines are similar to nothing, and so are kept.
    place.write("s.txt", "kitten\nmitten\n\n\nkittens\ndog\n");
    place.ok("dedup s.txt --as string --measure damerau --within 1 -o kept.txt");
    assert_eq!(place.read("kept.txt"), "kitten\n\n\ndog\n");
    let longest = "dedup s.txt --as string --measure damerau --within 1 --keep longest -o kept.txt";
    place.ok(longest);
    assert_eq!(place.read("kept.txt"), "mitten\n\n\nkittens\ndog\n");
    place.ok(&format!("{longest} --chains"));
    assert_eq!(place.read("kept.txt"), "\n\nkittens\ndog\n");
    place.write("t.txt", "red green blue\nblue green red\nyellow\nred green blue cyan\n");
    place.ok("dedup t.txt --measure cosine -t 0.99 -o kept.txt");
    assert_eq!(place.read("kept.txt"), "red green blue\nyellow\nred green blue cyan\n");
    place.write("q.csv", "id,one,two,three\nA,yes,no,yes\nB,yes,no,\nC,no,yes,no\n");
    place.ok("dedup q.csv --as answers --within 0.5 -o kept.csv");
    assert_eq!(place.read("kept.csv"), "id,one,two,three\nA,yes,no,yes\nC,no,yes,no\n");
}

/// Standard input is kept, so that the records can be copied: the same bytes as from a file.
#[test]
fn items_of_standard_input_are_those_of_a_file() {
    let vectors =
        "{\"id\":1,\"vector\":[0,0]}\n{\"id\":2,\"vector\":[0,1]}\n{\"id\":3,\"vector\":[9,9]}\n";
    let answers = "id,one,two,three\nA,yes,no,yes\nB,yes,no,\nC,no,yes,no\n";
    let jobs: [(&str, &[u8], &str); 7] = [
        ("jsonl", vectors.as_bytes(), "--as vector --within 1"),
        ("txt", b"0 0\n0 1\n9 9\n", "--as vector --within 1"),
        ("csv", b"id,bits,note\nx,1011,one\ny,1010,two\nz,0100,three\n", "--as bits --within 1"),
        ("txt", b"kitten\nmitten\n\nkittens\ndog\n", "--as string --within 2 --keep longest"),
        ("csv", answers.as_bytes(), "--as answers --within 0.5"),
        ("txt", b"red green blue\nblue green red\nyellow\n", "--measure cosine -t 0.99"),
        ("npy", &npy("<f4", &POINTS), "--as vector --measure cosine -t 0.9"),
    ];
    let place = Place::new();
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    for (format, input, options) in jobs {
        let of = |input: &str, output: &str| {
            let rest = format!("--format {format} {options} --temp . --clusters c.csv --quiet");
            format!("dedup {input} {rest} {output}")
        };
        place.write(&format!("in.{format}"), input);
        place.ok(&of(&format!("in.{format}"), &format!("-o file.{format}")));
        let clusters = read("c.csv");
        let outcome = place.run_with(&of("-", &format!("-o piped.{format}")), input);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{format} {options}");
        let kept = read(&format!("piped.{format}"));
        assert_eq!(kept, read(&format!("file.{format}")), "{format} {options}");
        assert!(kept.len() < input.len());
        assert_eq!(read("c.csv"), clusters, "{format} {options}");
        if format != "npy" {
            let line = |input: &str| format!("dedup {input} --format {format} {options} --quiet");
            let piped = place.run_with(&line("-"), input);
            assert_eq!(piped.stdout, place.ok(&line(&format!("in.{format}"))).stdout, "{options}");
            assert!(!piped.stdout.is_empty());
        }
    }
    // A pipe that has a name.
    let line = "dedup /dev/stdin --format txt --as vector --within 1 -o kept.txt";
    assert_eq!(place.run_with(line, b"0 0\n0 1\n9 9\n").code, Some(0));
    assert_eq!(place.read("kept.txt"), "0 0\n9 9\n");
    let line = "dedup - --as vector --within 1 --on-error skip -o kept.jsonl";
    let bad = place.run_with(&line.replace("--on-error skip ", ""), b"{\"vector\":\"?\"}\n");
    assert!(bad.stderr.starts_with("error: <stdin>:1: "), "{}", bad.stderr);
    assert_eq!(place.run_with(line, b"").code, Some(0));
    assert_eq!(place.read("kept.jsonl"), "");
}

#[test]
fn skipped_vectors_keep_their_places() {
    let place = Place::new();
    place.write(
        "v.jsonl",
        "{\"vector\":[1,0]}\n{\"vector\":\"?\"}\n{\"vector\":[1,0]}\n{\"vector\":[0,5]}\n",
    );
    place.ok("dedup v.jsonl --as vector --within 1 --on-error skip -o kept.jsonl --clusters c.csv");
    assert_eq!(place.read("kept.jsonl"), "{\"vector\":[1,0]}\n{\"vector\":[0,5]}\n");
    assert_eq!(
        place.read("c.csv"),
        "id,cluster,kept,distance\n0,0,true,0.0\n2,0,false,0.0\n3,3,true,0.0\n"
    );
}

#[test]
fn what_cannot_be_is_refused_before_the_search() {
    let place = Place::new();
    place.write("emb.npy", npy("<f4", &POINTS));
    let of = |rest: &str| format!("dedup emb.npy --as vector --measure cosine -t 0.9 {rest}");
    place.fails(&of("-o kept.jsonl"), &["kept.jsonl", ".npy"]);
    place.fails(&of(""), &["standard output", ".npy"]);
    place.fails(&of("-o kept.npy --keep max:score"), &["emb.npy", "no fields", "--keep first"]);
    place.fails(&of("-o kept.npy --keep longest"), &["--keep", "equally long"]);
    place.write("v.jsonl", "{\"vector\":[1,0]}\n");
    place.fails(&of("v.jsonl -o kept.npy"), &["v.jsonl", ".npy"]);
    place.fails("dedup - - --as string -o out.txt", &["<stdin>", "more than once"]);
    place.fails("dedup v.jsonl --as vector --within 1 --keep max:score -o k.jsonl", &["score"]);
}
