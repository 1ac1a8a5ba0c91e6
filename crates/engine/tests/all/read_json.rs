//! Files of JSON: objects on lines, or one array of them.
#![cfg(feature = "files")]

use crate::common::files::{Seen, all, failure, files, gz, options, paths, read, read_with};
use nearkin_engine::item::{Id, Source};
use nearkin_engine::read::{Format, Input, ItemLimit, OnError, ReadOptions};
use proptest::prelude::*;

const PRETTY: &[u8] = b"\n[\n  {\n    \"id\": 1,\n    \"text\": \"a, ] \\\" }\"\n  },\n\n  {\n    \"id\": 2,\n    \"text\": \"b\"\n  }\n]\n";

fn seen(texts: &[(i64, &str)]) -> Vec<Seen> {
    let seen = |((id, text), at): (&(i64, &str), _)| (at, Some(Id::Int(*id)), (*text).to_owned());
    texts.iter().zip(0..).map(seen).collect()
}

fn of(content: impl AsRef<[u8]>) -> String {
    failure(&files(&[("x.json", content.as_ref())]), &["x.json"], options())
}

#[test]
fn lines_and_arrays_are_told_apart() {
    let expected = seen(&[(1, "a, ] \" }"), (2, "b")]);
    let flat = br#"[{"id":1,"text":"a, ] \" }"},{"id":2,"text":"b"}]"#;
    let lines = b"{\"id\":1,\"text\":\"a, ] \\\" }\"}\n{\"id\":2,\"text\":\"b\"}\n";
    for content in [PRETTY, flat, lines] {
        let dir = files(&[("x.json", content), ("x.json.gz", &gz(content))]);
        assert_eq!(read(&dir, &["x.json"]), expected);
        assert_eq!(read(&dir, &["x.json.gz"]), expected);
    }
    let bom = [b"\xef\xbb\xbf", PRETTY].concat();
    assert_eq!(read(&files(&[("x.json", &bom)]), &["x.json"]), expected);
}

#[test]
fn arrays_without_elements_and_empty_files_have_no_records() {
    for content in ["", " \n", "[]", " [ \n ] \n"] {
        assert_eq!(read(&files(&[("x.json", content.as_bytes())]), &["x.json"]), []);
    }
}

#[test]
fn an_error_names_the_line_of_the_damage() {
    let cases = [
        (
            "[\n {\"text\": \"a\"},\n {\n  \"text\": \"b\" 1\n }\n]",
            "x.json:4: not valid JSON: expected `,` or `}` at column 15; fix it, or set `on_error` to skip",
        ),
        (
            "[{\"text\": \"a\"}, {\"text\" \"b\"}]",
            "x.json:1: not valid JSON: expected `:` at column 9 of the element; fix it, or set `on_error` to skip",
        ),
        (
            "[\n{\"text\": \"a\"},\n\n\"b\"\n]",
            "x.json:4: a string where a JSON object is needed; write {\"text\": …}, or set `on_error` to skip",
        ),
        (
            "[\n{\"text\": \"a\"},\n\n{\"body\": \"b\"}\n]",
            "x.json:4: no field `text`; it has `body`: name the text field with `text`",
        ),
        (
            "[\n{\"text\": \"a\"},\n,{\"text\": \"b\"}]",
            "x.json:3: an element of the array is missing before the comma; remove the comma",
        ),
        (
            "[\n{\"text\": \"a\"}]\n\n{\"text\": \"b\"}\n",
            "x.json:4: something follows the end of the array; a file has one array: remove what follows",
        ),
        (
            "[\n{\"text\": \"a\nb\"}\n]",
            "x.json:2: not valid JSON: control character (\\u0000-\\u001F) found while parsing a string at column 11 of the \
             element; fix it, or set `on_error` to skip",
        ),
    ];
    for (content, message) in cases {
        assert_eq!(of(content), message, "{content}");
    }
}

#[test]
fn an_array_that_is_cut_off_is_an_error_even_when_bad_records_are_skipped() {
    let whole = "[\n{\"text\": \"a\"},\n{\"text\": \"b\"}\n]";
    for end in 1..whole.len() {
        let dir = files(&[("x.json", &whole.as_bytes()[..end])]);
        for chunk_bytes in [3, 20, 1 << 20] {
            let options = ReadOptions { on_error: OnError::Skip, chunk_bytes, ..options() };
            let error = failure(&dir, &["x.json"], options);
            let line = if end <= 2 { 2 } else { 2 + u32::from(end > 16) };
            assert!(error.contains(": the array is not closed: "), "{end}: {error}");
            assert!(end < 3 || error.starts_with(&format!("x.json:{line}:")), "{end}: {error}");
        }
    }
}

#[test]
fn bad_elements_are_skipped() {
    let content = "[{\"text\":\"a\"},\n 7,\n {\"text\":1},\n{\"text\":\"b\"}]";
    let options = ReadOptions { on_error: OnError::Skip, ..options() };
    let dir = files(&[("x.json", content.as_bytes())]);
    let input = Input::open(&paths(&dir, &["x.json"]), options).unwrap();
    let chunk = input.scan().next().unwrap().unwrap();
    let batch = input.decode(&chunk, &|_| true).unwrap();
    assert_eq!((batch.items.len(), batch.bad.len(), batch.records), (2, 2, 4));
    assert_eq!(batch.items.iter().map(|item| item.line).collect::<Vec<_>>(), [1, 4]);
    let told: Vec<String> = batch.bad.iter().map(|error| error.to_string()).collect();
    assert!(told[0].contains("x.json:2: ") && told[1].contains("x.json:3: "), "{told:?}");
}

#[test]
fn an_element_that_is_too_large_is_left_out_and_never_held() {
    let long = "x".repeat(50_000);
    let content = format!("[{{\"text\":\"a\"}},\n{{\"text\":\"{long}\"}},\n{{\"text\":\"b\"}}]");
    let dir = files(&[("x.json", content.as_bytes())]);
    let max_item = ItemLimit::new(10_000, 1 << 30, 1, 1);
    let skip = ReadOptions { on_error: OnError::Skip, chunk_bytes: 100, max_item, ..options() };
    let read = read_with(&dir, &["x.json"], skip.clone()).unwrap();
    assert_eq!(read, [(0, None, "a".to_owned()), (2, None, "b".to_owned())]);
    let error = failure(&dir, &["x.json"], ReadOptions { on_error: OnError::Stop, ..skip });
    assert!(error.starts_with("x.json:2: has 50,0"), "{error}");
}

#[test]
fn one_object_over_many_lines_is_neither() {
    assert_eq!(
        of("\n{\n  \"text\": \"a\"\n}\n"),
        "x.json:2: is a JSON object over several lines, neither one object per line nor an array of objects; write one \
         object per line, or an array of objects, or set `format` to folder"
    );
    // On one line, it is a record.
    assert_eq!(read(&files(&[("x.json", b"{\"text\":\"a\"}")]), &["x.json"]).len(), 1);
}

#[test]
fn lines_that_begin_an_array_are_told_how_to_read_it() {
    let dir = files(&[("x.jsonl", PRETTY)]);
    assert_eq!(
        failure(&dir, &["x.jsonl"], options()),
        "x.jsonl:2: a JSON array begins here, and every line must be one JSON object; set `format` to json, or set \
         `on_error` to skip"
    );
    let options = ReadOptions { format: Some(Format::Json), ..options() };
    assert_eq!(read_with(&dir, &["x.jsonl"], options).unwrap().len(), 2);
}

proptest! {
    /// The same records come out of lines and of an array, in chunks of any size, and on the same lines where each element
    /// has one.
    #[test]
    fn arrays_are_read_as_lines_are(
        texts in proptest::collection::vec("[a-c\\[\\]{},\"\\\\\\n ]{0,12}", 0..12),
        chunk_bytes in 2usize..60,
    ) {
        let object = |text: &String| serde_json::json!({ "text": text, "x": [1, { "y": "]" }] });
        let objects: Vec<String> = texts.iter().map(|text| object(text).to_string()).collect();
        let lines: String = objects.iter().map(|it| format!("{it}\n")).collect();
        let array = format!("[{}]", objects.join(",\n"));
        let values: Vec<_> = texts.iter().map(object).collect();
        let pretty = serde_json::to_string_pretty(&values).unwrap();
        let dir = files(&[
            ("lines.jsonl", lines.as_bytes()),
            ("array.json", array.as_bytes()),
            ("pretty.json", pretty.as_bytes()),
        ]);
        let read = |name: &str| {
            let options = ReadOptions { chunk_bytes, ..options() };
            let input = Input::open(&paths(&dir, &[name]), options).unwrap();
            let read = all(&input).unwrap();
            prop_assert_eq!(&all(&input).unwrap(), &read, "a second scan");
            let mut lines = Vec::new();
            for chunk in Source::scan(&input, &|_| false) {
                let chunk = chunk.unwrap();
                let before = input.lines_before(chunk.number).unwrap();
                let batch = input.decode(&chunk, &|_| true).unwrap();
                lines.extend(batch.items.iter().map(|item| before + item.line));
            }
            Ok((read, lines))
        };
        let (plain, lines) = read("lines.jsonl")?;
        let (array, array_lines) = read("array.json")?;
        let (pretty, _) = read("pretty.json")?;
        prop_assert_eq!(&array, &plain);
        prop_assert_eq!(pretty, plain);
        prop_assert_eq!(array_lines, lines);
    }
}

#[test]
fn a_line_end_within_a_number_or_a_word_does_not_join_its_parts() {
    for element in ["1\n2", "1\n  2", "tr\nue", "-\n5", "1.\n5"] {
        let dir =
            files(&[("x.json", format!("[{{\"text\": \"t\", \"n\": {element}}}]").as_bytes())]);
        let error = failure(&dir, &["x.json"], options());
        assert!(error.contains("not valid JSON"), "{element}: {error}");
    }
}
