//! Files of records: read in one piece and in small ones, twice, and copied to every format.

use std::io::{Read, Write};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use nearkin_engine::item::{Batch, Id, KeepValues};
use nearkin_engine::read::{Format, Input, OnError, ReadOptions, RecordBody, RecordFormat, Shape};
use nearkin_engine::{Error, Result};

use super::{check_message, choices, file};

pub(crate) fn jsonl(data: &[u8]) {
    let ([flags], data) = choices(data);
    any_size(data, &chosen(flags, Format::Jsonl));
}

/// Lines or an array, which the data says, in UTF-8 or in an encoding.
pub(crate) fn json_array(data: &[u8]) {
    let ([flags, encoding], data) = choices(data);
    let encoding = ["utf-16le", "windows-1252", "shift_jis"].get(usize::from(encoding));
    let encoding = encoding.map(|name| name.parse().expect("the name of an encoding"));
    any_size(data, &ReadOptions { encoding, ..chosen(flags, Format::Json) });
}

pub(crate) fn txt(data: &[u8]) {
    let ([flags], data) = choices(data);
    any_size(data, &chosen(flags, Format::Txt));
}

pub(crate) fn csv(data: &[u8]) {
    let ([flags, delimiter], data) = choices(data);
    let delimiter = ["", ";", "::", "\t", "é", "|"].get(usize::from(delimiter)).copied();
    let format = if flags & 0x80 > 0 { Format::Tsv } else { Format::Csv };
    let options = ReadOptions {
        delimiter: delimiter.filter(|it| !it.is_empty()).map(str::to_owned),
        header: flags & 0x40 == 0,
        text: if flags & 0x40 == 0 { "text" } else { "2" }.to_owned(),
        ..chosen(flags, format)
    };
    any_size(data, &options);
}

pub(crate) fn parquet(data: &[u8]) {
    let ([flags], data) = choices(data);
    any_size(data, &chosen(flags, Format::Parquet));
}

/// What is packed here must be what is read; what is broken must be an error or what another program unpacks.
pub(crate) fn packed(data: &[u8]) {
    let ([flags, cut], data) = choices(data);
    let options = chosen(flags & 0x0f, Format::Jsonl);
    if flags & 0x10 == 0 {
        let read = records(&file(0, data), &options);
        if data.starts_with(&[0x1f, 0x8b]) && read.is_ok() {
            let mut plain = Vec::new();
            MultiGzDecoder::new(data).read_to_end(&mut plain).expect("it was read");
            assert_eq!(read, records(&file(1, &plain), &options), "what another program unpacks");
        }
        return;
    }
    // What looks packed is unpacked, but once.
    if data.starts_with(&[0x1f, 0x8b]) || data.starts_with(&[0x28, 0xb5]) {
        return;
    }
    // Members one behind the other, and data that may be cut short.
    let (first, second) = data.split_at(usize::from(cut).min(data.len()));
    let pack = |bytes: &[u8]| match flags & 0x20 {
        0 => {
            let mut packing = GzEncoder::new(Vec::new(), Compression::fast());
            packing.write_all(bytes).and_then(|()| packing.finish()).expect("memory")
        }
        _ => zstd::encode_all(bytes, 1).expect("memory"),
    };
    let packed = [pack(first), pack(second)].concat();
    let whole = records(&file(0, &packed), &options);
    match (&whole, &records(&file(1, data), &options)) {
        // A text may begin like a file of another kind.
        (_, Err(error)) if is_of_another_kind(&error.to_string()) => return,
        (Ok(whole), Ok(plain)) => assert_eq!(whole, plain, "packed and plain"),
        (whole, plain) => assert_eq!(whole.is_ok(), plain.is_ok(), "{whole:?} {plain:?}"),
    }
    let short = &packed[..packed.len() - usize::from(cut).clamp(1, packed.len())];
    if let Err(error) = records(&file(0, short), &options) {
        check_message(&error);
    }
}

/// Options that the bits of a byte choose.
pub(crate) fn chosen(flags: u8, format: Format) -> ReadOptions {
    ReadOptions {
        id: (flags & 1 > 0).then(|| "id".to_owned()),
        values: if flags & 2 > 0 { vec!["n".to_owned(), "m".to_owned()] } else { Vec::new() },
        positions: flags & 4 > 0 && flags & 1 == 0,
        on_error: if flags & 8 > 0 { OnError::Stop } else { OnError::Skip },
        shape: [Shape::Text, Shape::Elements, Shape::Value, Shape::Text]
            [usize::from(flags >> 4 & 3)],
        format: Some(format),
        ..ReadOptions::default()
    }
}

/// What is read of a record.
type ReadRecord = (String, Option<Id>, KeepValues, u64);

/// All records of a file, by two scans that must agree.
fn records(path: &std::path::Path, options: &ReadOptions) -> Result<Vec<ReadRecord>> {
    let input = Input::open(&[path.to_path_buf()], options.clone())?;
    let first = scan(&input)?;
    let second = scan(&input)?;
    assert!(format!("{first:?}") == format!("{second:?}"), "two scans");
    Ok(first)
}

fn scan(input: &Input) -> Result<Vec<ReadRecord>> {
    let mut records = Vec::new();
    for chunk in input.scan() {
        let batch: Batch = input.decode(&chunk?, &|_| true)?;
        assert_eq!(batch.items.len() + batch.bad.len(), batch.records as usize, "good and bad");
        batch.bad.iter().for_each(check_message);
        for (at, item) in batch.items.iter().enumerate() {
            let text = batch.text(at).to_owned();
            records.push((text, item.id.clone(), item.values.clone(), item.line));
        }
    }
    Ok(records)
}

/// Chunks of any size give the same records, and whatever can be read can be copied.
fn any_size(data: &[u8], options: &ReadOptions) {
    let path = file(0, data);
    let read = records(&path, options);
    let small = records(&path, &ReadOptions { chunk_bytes: 7, ..options.clone() });
    // Of several errors, which one comes first may differ. NaN is a value, and not equal to itself.
    assert_eq!(read.is_ok(), small.is_ok(), "{read:?} {small:?}");
    if read.is_ok() {
        assert_eq!(format!("{read:?}"), format!("{small:?}"), "chunks of another size");
    }
    let read = match read {
        Ok(read) => read,
        Err(error) => return check_message(&error),
    };
    let input = Input::open(&[path], options.clone()).expect("it was opened before");
    for format in [Format::Jsonl, Format::Csv, Format::Txt, Format::Parquet] {
        match copied(&input, format) {
            Ok(Some(count)) => assert!(count >= read.len(), "{format}: {count} of {}", read.len()),
            Ok(None) => {}
            Err(error) => check_message(&error),
        }
    }
}

/// How many records are copied, where they are columns or lines.
fn copied(input: &Input, format: Format) -> Result<Option<usize>, Error> {
    let to = input.record_format(format, &|_| true)?;
    let mut count = 0;
    for chunk in input.scan() {
        let chunk = chunk?;
        let copied = input.copy(&chunk, &|_| true, &to)?;
        count += copied.records as usize;
        match (&copied.body, &to) {
            (RecordBody::Batch(batch), _) => assert_eq!(batch.num_rows(), copied.records as usize),
            (body, RecordFormat::Jsonl) => {
                for line in body
                    .pieces(&chunk)
                    .collect::<Vec<_>>()
                    .concat()
                    .split_inclusive(|it| *it == b'\n')
                {
                    assert!(line.ends_with(b"\n"), "a line without its end");
                }
            }
            (body, _) => body.pieces(&chunk).for_each(drop),
        }
    }
    Ok(Some(count))
}

/// Whether an error says that a file begins like one of a packing that is not read, like Parquet, or like UTF-16.
pub(super) fn is_of_another_kind(error: &str) -> bool {
    ["which is not read", "is a Parquet file", "looks like UTF-16"]
        .iter()
        .any(|part| error.contains(part))
}
