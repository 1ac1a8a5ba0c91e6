//! Tables: long ones that make sets, answers, records with all fields; and CSV that is written and read again.

use arrow_array::cast::AsArray;
use nearkin_engine::item::Source;
use nearkin_engine::read::{
    Format, Grouping, Groups, Input, OnError, Ratings, ReadOptions, RecordBody, Weight, each_link,
    load_answers, load_records,
};

use super::{check_message, choices, file};

fn options(flags: u8) -> ReadOptions {
    let format = [Format::Csv, Format::Jsonl, Format::Tsv, Format::Csv][usize::from(flags & 3)];
    ReadOptions {
        format: Some(format),
        header: flags & 4 == 0,
        on_error: if flags & 8 > 0 { OnError::Stop } else { OnError::Skip },
        ..ReadOptions::default()
    }
}

/// Rows that make sets and bags, and edges of a graph.
pub(crate) fn groups(data: &[u8]) {
    let ([flags], data) = choices(data);
    let options = options(flags);
    let path = file(0, data);
    let count = || "3".to_owned();
    let weight = match flags >> 4 & 7 {
        0 => Weight::Once,
        1 => Weight::Count(count()),
        2 => Weight::Rating(count(), Ratings::Drop(3.0)),
        3 => Weight::Rating(count(), Ratings::Likes(3.0)),
        4 => Weight::Rating(count(), Ratings::Stars),
        5 => Weight::Edge { directed: true },
        6 => Weight::Edge { directed: false },
        _ => {
            let read = each_link(&path.into(), &options, &|| false, &mut |_, _| Ok(()));
            return read.map_or_else(|error| check_message(&error), drop);
        }
    };
    let grouping =
        Grouping { group: "1".to_owned(), element: "2".to_owned(), weight, element_groups: None };
    let groups = match Groups::read(&[path], &options, &grouping) {
        Ok(groups) => groups,
        Err(error) => return check_message(&error),
    };
    for number in groups.scan(&|_| false) {
        let number = number.expect("it is in memory");
        if let Ok(batch) = groups.decode(&number, &|_| true) {
            (0..batch.items.len()).for_each(|at| drop(batch.text(at).to_owned()));
        }
    }
}

/// Answers, and records with all their fields.
pub(crate) fn records(data: &[u8]) {
    let ([flags], data) = choices(data);
    let (options, path) = (options(flags), file(0, data));
    if flags & 0x10 > 0 {
        match load_answers(&[path], &options, None) {
            Ok(answers) => assert!(answers.records.items.len() <= data.len()),
            Err(error) => check_message(&error),
        }
        return;
    }
    match load_records(&[path.into()], &options, &|| false) {
        Ok(records) => assert!(records.names.len() <= data.len()),
        Err(error) => check_message(&error),
    }
}

/// Cells that are written as CSV are read as they were, and those of Parquet are the same.
pub(crate) fn csv_round_trip(data: &[u8]) {
    let ([flags], data) = choices(data);
    let texts = String::from_utf8_lossy(data);
    let cells: Vec<&str> = texts.split('\u{1}').collect();
    let mut lines = String::new();
    for row in cells.chunks(2) {
        let [text, other] = [row[0], row.get(1).copied().unwrap_or_default()];
        lines += &format!("{{\"text\":{},\"other\":{}}}\n", escaped(text), escaped(other));
    }
    let format = if flags & 1 > 0 { Format::Tsv } else { Format::Csv };
    let from = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
    let input = Input::open(&[file(0, lines.as_bytes())], from).expect("good JSON");
    check_columns(&input, &cells);
    let to = input.record_format(format, &|_| true).expect("they have the same keys");
    let nearkin_engine::read::RecordFormat::Delimited { header, .. } = &to else {
        panic!("{to:?}");
    };
    let mut table = header.clone();
    for chunk in input.scan() {
        let chunk = chunk.expect("it is in memory");
        let copied = input.copy(&chunk, &|_| true, &to).expect("strings fit into cells");
        match &copied.body {
            RecordBody::Bytes(bytes) => table.extend_from_slice(bytes),
            body => body.pieces(&chunk).for_each(|piece| table.extend_from_slice(piece)),
        }
    }
    for (column, name) in ["text", "other"].into_iter().enumerate() {
        let options = ReadOptions {
            format: Some(format),
            text: name.to_owned(),
            chunk_bytes: 9,
            ..ReadOptions::default()
        };
        let input = Input::open(&[file(1, &table)], options).expect("good CSV");
        let mut read = Vec::new();
        for chunk in input.scan() {
            let batch = input.decode(&chunk.expect("good CSV"), &|_| true).expect("good CSV");
            read.extend((0..batch.items.len()).map(|at| batch.text(at).to_owned()));
        }
        let written = cells.chunks(2).map(|row| row.get(column).copied().unwrap_or_default());
        assert_eq!(read, written.collect::<Vec<_>>(), "{}", String::from_utf8_lossy(&table));
    }
}

/// A JSON string in which everything beyond ASCII is escaped.
fn escaped(text: &str) -> String {
    let mut json = String::new();
    for c in serde_json::Value::from(text).to_string().chars() {
        match c.is_ascii() {
            true => json.push(c),
            false => {
                let units = c.encode_utf16(&mut [0; 2]).to_vec();
                units.iter().for_each(|unit| json += &format!("\\u{unit:04x}"));
            }
        }
    }
    json
}

fn check_columns(input: &Input, cells: &[&str]) {
    let to = input.record_format(Format::Parquet, &|_| true).expect("they have the same keys");
    let mut texts = Vec::new();
    for chunk in input.scan() {
        let copied = input.copy(&chunk.expect("it is in memory"), &|_| true, &to);
        let RecordBody::Batch(batch) = copied.expect("strings fit into columns").body else {
            panic!("columns are a batch");
        };
        let column = batch.column_by_name("text").expect("it was given").as_string::<i32>();
        texts.extend(column.iter().map(|text| text.unwrap_or_default().to_owned()));
    }
    assert_eq!(texts, cells.chunks(2).map(|row| row[0]).collect::<Vec<_>>());
}
