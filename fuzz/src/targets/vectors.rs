//! Vectors, bits and strings, from files of their own and from texts.

use nearkin_engine::read::{
    Digits, Format, OnError, ReadOptions, load_bits, load_directions, load_strings, load_vectors,
};

use super::{check_message, choices, file};

const FILES: [Format; 4] = [Format::Npy, Format::Fvecs, Format::Bvecs, Format::Ivecs];
const TEXTS: [Format; 4] = [Format::Txt, Format::Jsonl, Format::Csv, Format::Parquet];

fn options(flags: u8, formats: [Format; 4]) -> ReadOptions {
    ReadOptions {
        format: Some(formats[usize::from(flags & 3)]),
        on_error: if flags & 4 > 0 { OnError::Stop } else { OnError::Skip },
        chunk_bytes: if flags & 8 > 0 { 7 } else { 1 << 16 },
        ..ReadOptions::default()
    }
}

pub(crate) fn vector_files(data: &[u8]) {
    let ([flags], data) = choices(data);
    let options = options(flags, FILES);
    match flags & 0x10 {
        0 => all_vectors(data, &options),
        _ => all_bits(data, &options, Digits::Told),
    }
}

pub(crate) fn vectors(data: &[u8]) {
    let ([flags], data) = choices(data);
    all_vectors(data, &options(flags, TEXTS));
}

pub(crate) fn bits(data: &[u8]) {
    let ([flags], data) = choices(data);
    let options = options(flags, TEXTS);
    match flags >> 4 & 3 {
        0 => all_bits(data, &options, Digits::Told),
        1 => all_bits(data, &options, Digits::Binary),
        2 => all_bits(data, &options, Digits::Hex),
        _ => match load_strings(&[file(0, data)], &options) {
            Ok(read) => assert_eq!(read.items.len(), read.names.len()),
            Err(error) => check_message(&error),
        },
    }
}

fn all_vectors(data: &[u8], options: &ReadOptions) {
    let path = file(0, data);
    let directions = load_directions(std::slice::from_ref(&path), options);
    match load_vectors(&[path], options) {
        Ok(read) => {
            assert_eq!(read.items.len(), read.names.len(), "vectors and their names");
            let numbers = (0..read.items.len()).flat_map(|at| read.items.get(at));
            assert!(numbers.into_iter().all(|number| number.is_finite()), "a number that is none");
            // Where bad records are skipped, a vector of zeros may be the one whose length the others must have.
            if let (OnError::Stop, Ok(directions)) = (options.on_error, directions) {
                assert_eq!(directions.items.len(), read.items.len(), "directions");
            }
        }
        Err(error) => {
            check_message(&error);
            assert!(directions.is_err(), "directions of what cannot be read");
        }
    }
}

fn all_bits(data: &[u8], options: &ReadOptions, digits: Digits) {
    match load_bits(&[file(0, data)], options, digits) {
        Ok(read) => assert_eq!(read.items.len(), read.names.len(), "bits and their names"),
        Err(error) => check_message(&error),
    }
}
