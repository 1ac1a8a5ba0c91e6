//! Vectors, bit strings and strings from every kind of file, and what bad ones get.
#![cfg(feature = "files")]

use crate::common::data::data;
use crate::common::files::{files, gz, options, parquet, paths, zst};
use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeListArray, Float32Array, Float64Array, Int32Array,
    LargeListArray, ListArray, StringArray,
    builder::FixedSizeBinaryBuilder,
    types::{Float32Type, Float64Type, Int16Type, Int64Type},
};
use arrow_schema::{DataType, Field};
use nearkin_engine::item::Id;
use nearkin_engine::read::{
    Digits, Format, Grouping, Groups, NamedItems, OnError, Ratings, ReadOptions, Shape, Weight,
    load_answers, load_bits, load_sets, load_strings, load_vectors,
};
use nearkin_engine::shingle::{Shingling, elements::each_element};
use nearkin_engine::{Result, item::Vectors};
use std::sync::Arc;
use tempfile::TempDir;

fn vector_options() -> ReadOptions {
    ReadOptions { rather: vec!["vector".into(), "embedding".into()], ..options() }
}

fn vectors(dir: &TempDir, names: &[&str]) -> Result<NamedItems<Vectors>> {
    load_vectors(&paths(dir, names), &vector_options())
}

fn rows(vectors: &Vectors) -> Vec<Vec<f32>> {
    (0..vectors.len()).map(|index| vectors.get(index).to_vec()).collect()
}

/// An array as `numpy.save` writes it.
fn npy(version: u8, kind: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    match version {
        1 => file.extend((header.len() as u16).to_le_bytes()),
        _ => file.extend((header.len() as u32).to_le_bytes()),
    }
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn fvecs(rows: &[&[f32]]) -> Vec<u8> {
    let row = |row: &&[f32]| [(row.len() as i32).to_le_bytes().to_vec(), floats(row)].concat();
    rows.iter().flat_map(row).collect()
}

const TRUTH: [[f32; 3]; 2] = [[1.0, 2.5, -3.0], [0.0, 4.0, 5.5]];

fn failure(result: Result<impl std::fmt::Debug>, dir: &TempDir) -> String {
    let error = result.expect_err("reading should fail").to_string();
    assert!(!error.contains('\n'), "more than a line: {error}");
    error.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn vectors_of_every_format_are_the_same() {
    let flat = TRUTH.concat();
    let doubles: Vec<u8> = flat.iter().flat_map(|value| f64::from(*value).to_be_bytes()).collect();
    let columns = [1.0, 0.0, 2.5, 4.0, -3.0, 5.5];
    let lists = |rows: [[f32; 3]; 2]| rows.map(|row| Some(row.map(Some).to_vec()));
    let list: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists(TRUTH)));
    let wide = TRUTH.map(|row| Some(row.map(|value| Some(f64::from(value))).to_vec()));
    let large: ArrayRef = Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>(wide));
    let field = Arc::new(Field::new("item", DataType::Float64, true));
    let values = Float64Array::from_iter_values(flat.iter().map(|value| f64::from(*value)));
    let fixed: ArrayRef =
        Arc::new(FixedSizeListArray::try_new(field, 3, Arc::new(values), None).unwrap());
    let text: ArrayRef = Arc::new(StringArray::from(vec!["1 2.5 -3", "[0, 4, 5.5]"]));
    let dir = files(&[
        ("a.npy", &npy(1, "<f4", "False", "(2, 3)", &floats(&flat))),
        ("b.npy", &npy(2, ">f8", "False", "(2, 3)", &doubles)),
        ("c.npy", &npy(3, "<f4", "True", "(2, 3)", &floats(&columns))),
        ("d.npy.gz", &gz(&npy(1, "<f4", "False", "(2, 3)", &floats(&flat)))),
        ("e.npy.zst", &zst(&npy(1, "<f4", "True", "(2, 3)", &floats(&columns)))),
        ("a.fvecs", &fvecs(&[&TRUTH[0], &TRUTH[1]])),
        ("b.fvecs.gz", &gz(&fvecs(&[&TRUTH[0], &TRUTH[1]]))),
        ("a.jsonl", b"{\"vector\": [1, 2.5, -3]}\n\n{\"vector\": [0, 4e0, 5.5]}\n"),
        ("b.jsonl", b"{\"embedding\": [1, 2.5, -3.0]}\n{\"embedding\": \"0 4 5.5\"}\n"),
        ("c.jsonl.zst", &zst(b"{\"text\": [1, 2.5, -3]}\n{\"text\": [0, 4, 5.5]}\n")),
        ("a.csv", b"vector,x\n\"[1, 2.5, -3]\",a\n0;4;5.5,b\n"),
        ("a.tsv", b"x\tvector\n\t1,2.5,-3\n\t0 4 5.5\n"),
        ("a.txt", b"1 2.5 -3\n0,4, 5.5\n"),
        ("a.parquet", &parquet(vec![("vector", list)], 1)),
        ("b.parquet", &parquet(vec![("vector", large)], 2)),
        ("c.parquet", &parquet(vec![("vector", fixed)], 2)),
        ("d.parquet", &parquet(vec![("embedding", text)], 2)),
    ]);
    for name in [
        "a.npy",
        "b.npy",
        "c.npy",
        "d.npy.gz",
        "e.npy.zst",
        "a.fvecs",
        "b.fvecs.gz",
        "a.jsonl",
        "b.jsonl",
        "c.jsonl.zst",
        "a.csv",
        "a.tsv",
        "a.txt",
        "a.parquet",
        "b.parquet",
        "c.parquet",
        "d.parquet",
    ] {
        let loaded = vectors(&dir, &[name]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(rows(&loaded.items), TRUTH, "{name}");
        assert_eq!(loaded.names.ids(), None, "{name}");
        assert_eq!(loaded.names.id(1), Id::Int(1), "{name}");
    }
    let all = vectors(&dir, &["a.npy", "a.jsonl", "a.parquet"]).unwrap();
    assert_eq!(all.items.len(), 6);
    assert_eq!(all.names.id(5), Id::Int(5));
    let (path, line) = all.names.place(3);
    assert_eq!((path, line), (dir.path().join("a.jsonl").as_path(), 3));
    assert_eq!(all.names.place(5), (dir.path().join("a.parquet").as_path(), 2));
    let empty = files(&[("a.jsonl", b""), ("a.npy", &npy(1, "<f4", "False", "(0, 3)", b""))]);
    assert!(vectors(&empty, &["a.jsonl", "a.npy"]).unwrap().items.is_empty());
}

#[test]
fn whole_numbers_and_bytes_are_vectors() {
    let bytes = [3i32.to_le_bytes().to_vec(), vec![1, 2, 255]].concat();
    let numbers = [[2, 7, -1]; 2].map(|row| row.map(i32::to_le_bytes).concat()).concat();
    let lists = [Some(vec![Some(1), Some(2), Some(-3)])];
    let small: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int16Type, _, _>(lists));
    let dir = files(&[
        ("a.bvecs", &bytes),
        ("a.ivecs", &numbers),
        ("a.npy", &npy(1, "|u1", "False", "(1, 3)", &[1, 2, 255])),
        ("b.npy", &npy(1, "|b1", "False", "(1, 3)", &[1, 0, 1])),
        ("a.parquet", &parquet(vec![("vector", small)], 1)),
    ]);
    assert_eq!(rows(&vectors(&dir, &["a.bvecs"]).unwrap().items), [[1.0, 2.0, 255.0]]);
    assert_eq!(rows(&vectors(&dir, &["a.ivecs"]).unwrap().items), [[7.0, -1.0]; 2]);
    assert_eq!(rows(&vectors(&dir, &["a.npy"]).unwrap().items), [[1.0, 2.0, 255.0]]);
    assert_eq!(rows(&vectors(&dir, &["b.npy"]).unwrap().items), [[1.0, 0.0, 1.0]]);
    assert_eq!(rows(&vectors(&dir, &["a.parquet"]).unwrap().items), [[1.0, 2.0, -3.0]]);
}

#[test]
fn ids_come_as_they_do_for_texts() {
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1)])]);
    let columns: Vec<(&str, ArrayRef)> =
        vec![("id", Arc::new(Int32Array::from(vec![9]))), ("vector", Arc::new(list))];
    let dir = files(&[
        ("a.jsonl", b"{\"id\": \"x\", \"vector\": [1]}\n{\"id\": 7, \"vector\": [2]}\n"),
        ("a.csv", b"id,vector\n007,3\n"),
        ("a.parquet", &parquet(columns, 1)),
        ("a.txt", b"4\n"),
        ("twice.jsonl", b"{\"id\": 1, \"vector\": [1]}\n{\"id\": 1, \"vector\": [2]}\n"),
    ]);
    let loaded = vectors(&dir, &["a.jsonl", "a.csv", "a.parquet"]).unwrap();
    let text = |id: &str| Id::Text(id.into());
    assert_eq!(loaded.names.ids().unwrap(), [text("x"), Id::Int(7), text("007"), Id::Int(9)]);
    assert!(!loaded.names.ids_are_numbers());
    let what = failure(vectors(&dir, &["a.jsonl", "a.txt"]), &dir);
    assert!(
        what.starts_with("a.txt: its items and those before it do not both have ids"),
        "{what}"
    );
    let what = failure(vectors(&dir, &["a.txt", "a.jsonl"]), &dir);
    assert!(what.starts_with("a.jsonl: its items"), "{what}");
    let what = failure(vectors(&dir, &["twice.jsonl"]), &dir);
    assert!(what.starts_with("twice.jsonl:2: the id \"1\" was there before"), "{what}");
    let positions = ReadOptions { positions: true, ..vector_options() };
    let loaded = load_vectors(&paths(&dir, &["a.jsonl", "a.txt"]), &positions).unwrap();
    assert_eq!(loaded.names.id(2), Id::Int(2));
}

#[test]
fn bad_vectors_are_told_with_file_and_line() {
    let nan = npy(1, "<f4", "False", "(2, 2)", &floats(&[1.0, 2.0, f32::NAN, 4.0]));
    let ragged = fvecs(&[&[1.0, 2.0], &[1.0, 2.0, 3.0]]);
    let lists = [Some(vec![Some(1.0), None])];
    let holed: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists));
    let texts: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>([
        Some(vec![Some(1.0)]),
        None,
    ]));
    let dates: ArrayRef = Arc::new(Float32Array::from(vec![1.0]));
    let dir = files(&[
        ("ragged.jsonl", b"{\"vector\": [1, 2, 3, 4]}\n{\"vector\": [1, 2, 3]}\n"),
        ("nan.jsonl", b"{\"vector\": [1]}\n{\"vector\": [NaN]}\n"),
        ("minus.jsonl", b"{\"vector\": [-Infinity]}\n"),
        ("text.jsonl", b"{\"vector\": [1, \"a\"]}\n"),
        ("nested.jsonl", b"{\"vector\": [[1], [2]]}\n"),
        ("object.jsonl", b"{\"vector\": {\"a\": 1}}\n"),
        ("number.jsonl", b"{\"vector\": 1}\n"),
        ("null.jsonl", b"{\"vector\": null}\n"),
        ("empty.jsonl", b"{\"vector\": []}\n"),
        ("without.jsonl", b"{\"body\": [1]}\n"),
        ("nan.npy", &nan),
        ("ragged.fvecs", &ragged),
        ("nan.txt", b"1 2\n1 nan\n"),
        ("word.txt", b"1 2\n1 two\n"),
        ("holed.parquet", &parquet(vec![("vector", holed)], 1)),
        ("null.parquet", &parquet(vec![("vector", texts)], 2)),
        ("flat.parquet", &parquet(vec![("vector", dates)], 1)),
        ("flat.npy", &npy(1, "<f4", "False", "(4,)", &floats(&[1.0; 4]))),
        ("object.npy", &npy(1, "|O", "False", "(1, 1)", b"")),
        ("more.npy", &npy(1, "<f4", "False", "(1, 1)", &floats(&[1.0; 2]))),
        ("huge.npy", &npy(1, "<f4", "False", "(1000000000, 1000000)", b"1234")),
        ("huge.npy.gz", &gz(&npy(1, "<f4", "False", "(1000000000, 1000000)", b"1234"))),
        ("huge.fvecs", &[i32::MAX.to_le_bytes(), [0; 4]].concat()),
        ("huge.fvecs.gz", &gz(&[i32::MAX.to_le_bytes(), [0; 4]].concat())),
        ("minus.fvecs", &(-3i32).to_le_bytes()),
        ("text.npy", b"1 2 3 4 5 6 7 8"),
        ("folder/a.txt", b"1"),
    ]);
    for (name, part) in [
        ("ragged.jsonl", "ragged.jsonl:2: vector has 3 components, those before 4; "),
        ("nan.jsonl", "nan.jsonl:2: not valid JSON at column 13: JSON has no NaN"),
        ("minus.jsonl", "minus.jsonl:1: not valid JSON"),
        ("text.jsonl", "text.jsonl:1: component 2 is `\"a\"`, not a number"),
        ("nested.jsonl", "nested.jsonl:1: component 1 is `[1]`, not a number"),
        ("object.jsonl", "object.jsonl:1: component 1 is `{\"a\":`, not a number"),
        ("number.jsonl", "number.jsonl:1: field `vector` is a whole number, not a list"),
        ("null.jsonl", "null.jsonl:1: field `vector` is null, not a list"),
        ("empty.jsonl", "empty.jsonl:1: a vector without components"),
        ("without.jsonl", "without.jsonl:1: no field `text`; it has `body`"),
        ("nan.npy", "nan.npy:2: component 1 is NaN; components must be finite"),
        ("ragged.fvecs", "ragged.fvecs:2: vector has 3 components, those before 2"),
        ("nan.txt", "nan.txt:2: component 2 is NaN"),
        ("word.txt", "word.txt:2: component 2 is `two`"),
        ("holed.parquet", "holed.parquet:1: component 2 is null"),
        ("null.parquet", "null.parquet:2: column `vector` is null"),
        ("flat.parquet", "flat.parquet: column `vector` is Float32, not lists of numbers"),
        ("flat.npy", "flat.npy: holds an array of 1 dimensions"),
        ("object.npy", "object.npy: holds values of type |O"),
        ("more.npy", "more.npy: has 8 bytes of data where its header promises 4"),
        ("huge.npy", "huge.npy: has 4 bytes of data where its header promises 4000000000000000"),
        ("huge.npy.gz", "huge.npy.gz: has 4 bytes of data where"),
        ("huge.fvecs", "huge.fvecs:1: a vector of 2147483647 components, more than the file has"),
        ("huge.fvecs.gz", "huge.fvecs.gz:1: the file ends in the middle of a vector"),
        ("minus.fvecs", "minus.fvecs:1: a vector of -3 components"),
        ("text.npy", "text.npy: is not an .npy file"),
        ("folder", "folder: is a folder"),
        ("nowhere.npy", "nowhere.npy: does not exist"),
    ] {
        let what = failure(vectors(&dir, &[name]), &dir);
        assert!(what.starts_with(part), "{name}: {what}");
    }
    let skip = ReadOptions { on_error: OnError::Skip, ..vector_options() };
    for (name, kept) in [
        ("ragged.jsonl", 1),
        ("nan.jsonl", 1),
        ("nan.npy", 1),
        ("ragged.fvecs", 1),
        ("nan.txt", 1),
        ("empty.jsonl", 0),
        ("null.parquet", 1),
    ] {
        let loaded = load_vectors(&paths(&dir, &[name]), &skip).unwrap();
        assert_eq!((loaded.items.len(), loaded.names.skipped.len()), (kept, 1), "{name}");
    }
    // Positions of those behind a record that was left out stay what they are.
    let loaded = load_vectors(&paths(&dir, &["nan.npy", "nan.txt"]), &skip).unwrap();
    assert_eq!([loaded.names.id(0), loaded.names.id(1)], [Id::Int(0), Id::Int(2)]);
}

/// Whatever is cut off: an error, or for rows one after the other those that are whole.
#[test]
fn every_beginning_of_a_file_is_an_error_or_right() {
    let flat = TRUTH.concat();
    let packed = gz(&npy(1, "<f4", "False", "(2, 3)", &floats(&flat)));
    for (name, whole) in [
        ("a.npy", npy(1, "<f4", "False", "(2, 3)", &floats(&flat))),
        ("b.npy", npy(2, "<f4", "True", "(2, 3)", &floats(&flat))),
        ("c.npy.gz", packed),
        ("a.fvecs", fvecs(&[&TRUTH[0], &TRUTH[1]])),
        ("a.bvecs", [[2, 0, 0, 0, 7, 8], [2, 0, 0, 0, 9, 1]].concat()),
    ] {
        for length in 0..whole.len() {
            let dir = files(&[(name, &whole[..length])]);
            if let Ok(loaded) = vectors(&dir, &[name]) {
                let each = whole.len() / 2;
                assert!(!name.contains("npy") && length.is_multiple_of(each), "{name} {length}");
                assert_eq!(loaded.items.len(), length / each, "{name} {length}");
            }
        }
    }
}

/// A changed byte anywhere may change what is read; it may not end the program, nor
/// leave half a vector or a value that is no number.
#[test]
fn flipped_bytes_do_no_harm() {
    let flat = TRUTH.concat();
    for (name, whole) in [
        ("a.npy", npy(1, "<f4", "False", "(2, 3)", &floats(&flat))),
        ("a.npy.gz", gz(&npy(1, "<f4", "True", "(2, 3)", &floats(&flat)))),
        ("a.fvecs", fvecs(&[&TRUTH[0], &TRUTH[1]])),
    ] {
        let mut read = 0;
        for at in 0..whole.len() {
            for flip in [1, 0x80, 0xff] {
                let mut broken = whole.clone();
                broken[at] ^= flip;
                let dir = files(&[(name, &broken)]);
                if let Ok(NamedItems { items, .. }) = vectors(&dir, &[name]) {
                    assert_eq!(
                        items.values().len(),
                        items.len() * items.dimension(),
                        "{name} {at}"
                    );
                    assert!(items.values().iter().all(|x| x.is_finite()), "{name} {at}");
                    read += 1;
                }
            }
        }
        // Some bytes are numbers, and any number will do.
        assert!(read > 0 || name.ends_with("gz"), "{name}");
    }
}

#[test]
fn bits_of_every_format_are_the_same() {
    let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&[0x8f, 0x01], &[0, 0xff]]));
    let mut fixed = FixedSizeBinaryBuilder::new(2);
    [[0x8f, 0x01], [0, 0xff]].iter().for_each(|row| fixed.append_value(row).unwrap());
    let fixed: ArrayRef = Arc::new(fixed.finish());
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["8f01", "00ff"]));
    let flags = "1000 1111 0000_0001\n0000 0000 1111 1111\n";
    let list = |text: &str| {
        let digits: Vec<&str> = text.split("").filter(|c| !c.is_empty()).collect();
        format!("{{\"bits\": [{}]}}\n", digits.join(", "))
    };
    let lists = [list("1000111100000001"), list("0000000011111111")].concat();
    let booleans: Vec<u8> =
        flags.bytes().filter(|byte| byte.is_ascii_digit()).map(|digit| digit - b'0').collect();
    let dir = files(&[
        ("a.txt", flags.as_bytes()),
        ("b.txt", b"8f01\n00FF\n"),
        ("c.txt", b"0x8f01\n0x00ff\n"),
        ("a.jsonl", lists.as_bytes()),
        ("b.jsonl", b"{\"bits\": \"8f01\"}\n{\"bits\": \"00ff\"}\n"),
        ("a.csv", b"bits\n8f01\n00ff\n"),
        ("a.npy", &npy(1, "|u1", "False", "(2, 2)", &[0x8f, 1, 0, 0xff])),
        ("b.npy", &npy(1, "|b1", "False", "(2, 16)", &booleans)),
        ("a.bvecs", &[2, 0, 0, 0, 0x8f, 1, 2, 0, 0, 0, 0, 0xff]),
        ("a.parquet", &parquet(vec![("bits", bytes)], 1)),
        ("b.parquet", &parquet(vec![("bits", fixed)], 1)),
        ("c.parquet", &parquet(vec![("bits", texts)], 1)),
        ("floats.npy", &npy(1, "<f4", "False", "(1, 1)", &floats(&[1.0]))),
        ("mixed.txt", b"0110\n01f0\n"),
        ("mixed2.txt", b"01f0\n0110\n"),
        ("unequal.txt", b"0110\n011\n"),
        ("other.txt", b"01x0\n"),
        ("empty.txt", b"\n"),
        ("number.jsonl", b"{\"bits\": 12}\n"),
        ("two.jsonl", b"{\"bits\": [0, 2]}\n"),
    ]);
    let options = ReadOptions { rather: vec!["bits".into()], ..options() };
    let load = |name, digits| load_bits(&paths(&dir, &[name]), &options, digits);
    for name in [
        "a.txt",
        "b.txt",
        "c.txt",
        "a.jsonl",
        "b.jsonl",
        "a.csv",
        "a.npy",
        "b.npy",
        "a.bvecs",
        "a.parquet",
        "b.parquet",
        "c.parquet",
    ] {
        let bits = load(name, Digits::Told).unwrap_or_else(|error| panic!("{name}: {error}")).items;
        assert_eq!((bits.len(), bits.length()), (2, 16), "{name}");
        let set: Vec<usize> = (0..16).filter(|place| bits.bit(0, *place)).collect();
        assert_eq!(set, [0, 4, 5, 6, 7, 15], "{name}");
        assert_eq!((0..16).filter(|place| bits.bit(1, *place)).min(), Some(8), "{name}");
    }
    for (name, part) in [
        ("mixed.txt", "mixed.txt:2: hexadecimal digits, and those before were read as bits"),
        ("mixed2.txt", "mixed2.txt:2: only 0 and 1, and those before have hexadecimal digits"),
        ("unequal.txt", "unequal.txt:2: 3 bits, those before have 4"),
        ("other.txt", "other.txt:1: `x` in a bit string"),
        ("empty.txt", "empty.txt:1: an empty bit string"),
        ("number.jsonl", "number.jsonl:1: field `bits` is a whole number, not a list"),
        ("two.jsonl", "two.jsonl:1: component 2 is `2`, not 0 or 1"),
        ("floats.npy", "floats.npy:1: numbers that are no bytes"),
    ] {
        let what = failure(load(name, Digits::Told), &dir);
        assert!(what.starts_with(part), "{name}: {what}");
    }
    assert_eq!(load("mixed.txt", Digits::Hex).unwrap().items.length(), 16);
    assert!(load("unequal.txt", Digits::Hex).is_err());
}

#[test]
fn strings_are_texts() {
    let dir = files(&[
        ("a.csv", "id,name\n1,\"Ann, of é\"\n2,\n".as_bytes()),
        ("a.txt", b"one\ntwo\n"),
        ("vectors.npy", b""),
    ]);
    let options = ReadOptions { text: "name".into(), ..options() };
    let loaded = load_strings(&paths(&dir, &["a.csv"]), &options).unwrap();
    assert_eq!(loaded.items, ["Ann, of é", ""]);
    assert_eq!(loaded.names.id(1), Id::Text("2".into()));
    assert_eq!(loaded.names.place(1).1, 3);
    let csv = ReadOptions { format: Some(Format::Txt), ..options };
    let lines = load_strings(&paths(&dir, &["a.txt"]), &csv).unwrap();
    assert_eq!(lines.items, ["one", "two"]);
}

/// Lists of a Parquet column, counts of a map, and lists in texts, as elements.
#[test]
fn parquet_lists_are_sets() {
    use arrow_array::builder::{
        Float32Builder, Int32Builder, ListBuilder, MapBuilder, StringBuilder,
    };
    let mut words = ListBuilder::new(StringBuilder::new());
    words.append_value([Some("red wine"), Some("7")]);
    words.append_value([] as [Option<&str>; 0]);
    let mut numbers = ListBuilder::new(Float32Builder::new());
    numbers.append_value([Some(7.0), Some(0.1)]);
    numbers.append_value([Some(-0.0)]);
    let mut counts = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for (key, count) in [("a", 2), ("b", 0)] {
        counts.keys().append_value(key);
        counts.values().append_value(count);
    }
    counts.append(true).unwrap();
    counts.append(true).unwrap();
    let texts = StringArray::from(vec!["[\"red wine\", 7]", "a b"]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("words", Arc::new(words.finish())),
        ("numbers", Arc::new(numbers.finish())),
        ("counts", Arc::new(counts.finish())),
        ("texts", Arc::new(texts)),
        ("whole", Arc::new(Int32Array::from(vec![1, 2]))),
    ];
    let dir = files(&[("a.parquet", &parquet(columns, 1))]);
    let elements = |text: &str| {
        let read = ReadOptions { text: text.into(), shape: Shape::Elements, ..options() };
        let loaded = load_strings(&paths(&dir, &["a.parquet"]), &read)?;
        let list = |text: &String| {
            let mut list = Vec::new();
            each_element(text, |element, count| list.push(format!("{element}×{count}")));
            list.join(" ")
        };
        Ok::<_, nearkin_engine::Error>(loaded.items.iter().map(list).collect::<Vec<_>>())
    };
    assert_eq!(elements("words").unwrap(), ["red wine×1 7×1", ""]);
    assert_eq!(elements("numbers").unwrap(), ["7×1 0.1×1", "0×1"]);
    assert_eq!(elements("counts").unwrap(), ["a×2", ""]);
    assert_eq!(elements("texts").unwrap(), ["red wine×1 7×1", "a×1 b×1"]);
    let what = failure(elements("whole"), &dir);
    assert!(what.starts_with("a.parquet: column `whole` is Int32, not lists or text"), "{what}");
}

/// The rows of a table in Parquet, grouped.
#[test]
fn parquet_tables_are_grouped() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("user", Arc::new(Int32Array::from(vec![7, 8, 7]))),
        ("film", Arc::new(StringArray::from(vec!["a", "a", "b"]))),
        ("stars", Arc::new(Float64Array::from(vec![2.0, 1.0, 3.0]))),
    ];
    let dir = files(&[("a.parquet", &parquet(columns, 2))]);
    let weight = Weight::Rating("stars".into(), Ratings::Stars);
    let grouping =
        Grouping { group: "user".into(), element: "film".into(), weight, element_groups: None };
    let groups = Groups::read(&paths(&dir, &["a.parquet"]), &options(), &grouping).unwrap();
    let shingling = Shingling::elements();
    let sets = load_sets(&groups, &shingling, true, OnError::Stop).unwrap();
    assert_eq!(sets.names.ids().unwrap(), [Id::Int(7), Id::Int(8)]);
    assert_eq!([sets.items.get(0).len(), sets.items.get(1).len()], [5, 1]);
    let once = load_sets(&groups, &shingling, false, OnError::Stop).unwrap();
    assert_eq!(once.items.get(0), shingling.set("a b"));
    assert!(
        groups.is_row_kept(1, |group| group == 1) && !groups.is_row_kept(2, |group| group == 1)
    );
}

/// Who answers like Dave, from the table of restaurants: a gap counts half.
#[test]
fn s2_10_answers_with_gaps() {
    let table = "user,Brahma Bull,Spaghetti House,Mango,Il Fornaio,Zao,Ming's,Ramona's,Straits,Homma's\n\
                 Alice,,Yes,No,Yes,,,,No,\n\
                 Bob,,Yes,,,,No,,No,\n\
                 Cindy,,,,Yes,No,,,No,\n\
                 Dave,No,,,No,Yes,Yes,,,Yes\n\
                 Estie,,,,No,Yes,Yes,,Yes,\n\
                 Fred,No,,,,,,No,,\n";
    let json: String = table
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let answers: Vec<&str> = cells[1..]
                .iter()
                .map(|cell| match *cell {
                    "Yes" => "true",
                    "No" => "0",
                    _ => "null",
                })
                .collect();
            format!("{{\"user\": \"{}\", \"likes\": [{}]}}\n", cells[0], answers.join(", "))
        })
        .collect();
    let dir = files(&[
        ("a.csv", table.as_bytes()),
        ("a.jsonl", json.as_bytes()),
        ("bad.csv", b"user,a\nx,yes\ny,maybe\n"),
    ]);
    let options = ReadOptions { id: Some("user".into()), ..options() };
    for name in ["a.csv", "a.jsonl"] {
        let answers = load_answers(&paths(&dir, &[name]), &options, None).unwrap();
        let (bits, names) = (&answers.records.items, &answers.records.names);
        assert_eq!((bits.len(), bits.length(), answers.questions.len()), (6, 18, 9));
        let distance = |a: usize, b: usize| {
            let differ = bits.get(a).iter().zip(bits.get(b)).map(|(x, y)| (x ^ y).count_ones());
            f64::from(differ.sum::<u32>()) / 2.0
        };
        // By hand: Dave and Alice disagree on Il Fornaio, and one of them has a gap in seven places.
        let dave = 3;
        assert_eq!(names.id(dave), Id::Text("Dave".into()));
        let all: Vec<f64> = (0..6).map(|other| distance(dave, other)).collect();
        assert_eq!(all, [4.5, 4.0, 4.0, 0.0, 1.5, 2.5], "{name}");
    }
    let some = ["Zao".to_owned(), "Ming's".to_owned()];
    let answers = load_answers(&paths(&dir, &["a.csv"]), &options, Some(&some)).unwrap();
    assert_eq!((answers.records.items.length(), answers.questions), (4, some.to_vec()));
    let wrong = ["Zoo".to_owned()];
    let what = failure(load_answers(&paths(&dir, &["a.csv"]), &options, Some(&wrong)), &dir);
    assert!(what.starts_with("`questions` is Zoo; it must be a column"), "{what}");
    let what = failure(load_answers(&paths(&dir, &["bad.csv"]), &options, None), &dir);
    assert!(what.starts_with("bad.csv:3: question `a` is answered with `maybe`"), "{what}");
    let skip = ReadOptions { on_error: OnError::Skip, ..options };
    let answers = load_answers(&paths(&dir, &["bad.csv"]), &skip, None).unwrap().records;
    assert_eq!((answers.items.len(), answers.names.skipped.len()), (1, 1));
}

#[test]
fn the_real_vectors() {
    let Some(folder) = data("vectors") else { return };
    let path = |name: &str| vec![folder.join(name)];
    for (name, count, dimension) in [
        ("fashion_8k.npy", 8000, 784),
        ("sift_5k/base.npy", 4500, 128),
        ("sift_5k/query.npy", 500, 128),
        ("sift_5k/gt_l2_dist.npy", 500, 100),
    ] {
        let loaded = load_vectors(&path(name), &vector_options()).unwrap().items;
        assert_eq!((loaded.len(), loaded.dimension()), (count, dimension), "{name}");
    }
    // The truth beside them says how far the nearest are, squared.
    let load = |name| load_vectors(&path(name), &vector_options()).unwrap().items;
    let (base, queries) = (load("sift_5k/base.npy"), load("sift_5k/query.npy"));
    let (nearest, distance) = (load("sift_5k/gt_l2_idx.npy"), load("sift_5k/gt_l2_dist.npy"));
    for query in 0..queries.len() {
        let other = base.get(nearest.get(query)[0] as usize);
        let squares = queries.get(query).iter().zip(other).map(|(a, b)| (a - b) * (a - b));
        assert_eq!(squares.sum::<f32>(), distance.get(query)[0], "{query}");
    }
}
