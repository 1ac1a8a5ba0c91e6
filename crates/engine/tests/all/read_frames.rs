//! Packed files of many frames or members are cut where these end, and read the same as plain ones.

use crate::common::files::{all, files, gz, options, paths, zst};
use nearkin_engine::item::Source;
use nearkin_engine::read::{Input, ItemLimit, OnError, ReadOptions};
use proptest::prelude::*;
use std::io::Write;

/// Frames that state their size.
fn frames(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().flat_map(|part| zstd::bulk::compress(part, 1).unwrap()).collect()
}

/// Members that say how long they are, by the field `IG` or, as bgzip writes it, by `BC`.
fn members(parts: &[&[u8]], field: &[u8; 2]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        let extra: &[u8] =
            if field == b"IG" { b"xy\x01\0zIG\x04\0\0\0\0\0" } else { b"BC\x02\0\0\0" };
        let mut gz =
            flate2::GzBuilder::new().extra(extra).write(Vec::new(), flate2::Compression::fast());
        gz.write_all(part).unwrap();
        let mut member = gz.finish().unwrap();
        let length = member.len() as u32;
        // The value is the last of the extra field, which begins with the twelfth byte.
        let end = 12 + extra.len();
        match field {
            b"IG" => member[end - 4..end].copy_from_slice(&length.to_le_bytes()),
            _ => member[end - 2..end].copy_from_slice(&(length as u16 - 1).to_le_bytes()),
        }
        out.extend(member);
    }
    out
}

/// How many chunks a file has.
fn chunks(input: &Input) -> usize {
    Source::scan(input, &|_| false).count()
}

#[test]
fn each_frame_is_a_chunk_of_its_own() {
    let lines: Vec<String> =
        (0..40).map(|n| format!("{{\"id\":{n},\"text\":\"{}\"}}\n", "word ".repeat(n))).collect();
    let text = lines.concat();
    // Cut in the middle of lines, and at their ends.
    let middle: Vec<&[u8]> = text.as_bytes().chunks(300).collect();
    let ends: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
    let dir = files(&[
        ("plain.jsonl", text.as_bytes()),
        ("middle.jsonl.zst", &frames(&middle)),
        ("ends.jsonl.zst", &frames(&ends)),
        ("middle.jsonl.gz", &members(&middle, b"IG")),
        ("ends.jsonl.gz", &members(&ends, b"BC")),
    ]);
    let open = |name: &str| {
        Input::open(&paths(&dir, &[name]), ReadOptions { chunk_bytes: 100, ..options() }).unwrap()
    };
    let plain = all(&open("plain.jsonl")).unwrap();
    assert_eq!(plain.len(), 40);
    for name in ["middle.jsonl.zst", "ends.jsonl.zst", "middle.jsonl.gz", "ends.jsonl.gz"] {
        let input = open(name);
        assert_eq!(all(&input).unwrap(), plain, "{name}");
        assert!(chunks(&input) >= 10, "{name}: {}", chunks(&input));
    }
    assert_eq!(chunks(&open("middle.jsonl.zst")), middle.len());
}

#[test]
fn what_is_kept_unpacked_is_read_once_and_is_the_same() {
    let text: String = (0..500).map(|n| format!("{{\"text\":\"line {n}\"}}\n")).collect();
    let parts: Vec<&[u8]> = text.as_bytes().chunks(900).collect();
    let dir = files(&[
        ("one.jsonl.zst", &zst(text.as_bytes())),
        ("one.jsonl.gz", &gz(text.as_bytes())),
        ("frames.jsonl.zst", &frames(&parts)),
        ("members.jsonl.gz", &members(&parts, b"IG")),
    ]);
    for name in ["one.jsonl.zst", "one.jsonl.gz", "frames.jsonl.zst", "members.jsonl.gz"] {
        let open = || {
            let options = ReadOptions { chunk_bytes: 1000, ..options() };
            Input::open(&paths(&dir, &[name]), options).unwrap()
        };
        let expected = all(&open()).unwrap();
        // What the scans of one `all` unpack, and those of another one behind it.
        let unpacked = |room: usize| {
            let input = open();
            assert!(input.keep_unpacked(room), "{name} is packed");
            let mut unpacked = [0; 2];
            for unpacked in &mut unpacked {
                let before = input.traffic().unpacked;
                assert_eq!(all(&input).unwrap(), expected, "{name}, room for {room}");
                *unpacked = input.traffic().unpacked - before;
            }
            unpacked
        };
        let without = unpacked(0);
        assert!(without.iter().all(|&bytes| bytes >= 2 * text.len() as u64), "{name}: {without:?}");
        let [first, second] = unpacked(1 << 20);
        assert!(first < without[0], "{name}: {first} bytes were unpacked");
        assert!(second < 100, "{name}: {second} bytes were unpacked again");
        // A part is kept.
        for room in [1, 1500, 5000] {
            unpacked(room);
        }
    }
}

#[test]
fn frames_larger_than_there_is_room_for_are_read_as_a_stream() {
    let text: String = (0..2000).map(|n| format!("{{\"text\":\"line {n}\"}}\n")).collect();
    let parts: Vec<&[u8]> = text.as_bytes().chunks(20_000).collect();
    let dir = files(&[("x.jsonl.zst", &frames(&parts))]);
    let count = |most: usize, threads: usize| {
        let max_item = ItemLimit::new(most, usize::MAX / 2, 1, threads);
        let options = ReadOptions { chunk_bytes: 1000, max_item, ..options() };
        let input = Input::open(&paths(&dir, &["x.jsonl.zst"]), options).unwrap();
        assert_eq!(all(&input).unwrap().len(), 2000);
        chunks(&input)
    };
    assert_eq!(count(1 << 20, 1), parts.len());
    assert!(count(1 << 20, 100) > parts.len());
}

#[test]
fn damage_in_any_frame_is_an_error_or_the_same_text() {
    let text: String = (0..60).map(|n| format!("{{\"text\":\"some line {n}\"}}\n")).collect();
    let parts: Vec<&[u8]> = text.as_bytes().chunks(200).collect();
    let whole = files(&[("x.jsonl", text.as_bytes())]);
    let expected = all(&Input::open(&paths(&whole, &["x.jsonl"]), options()).unwrap()).unwrap();
    for (name, packed) in
        [("x.jsonl.gz", members(&parts, b"IG")), ("y.jsonl.gz", members(&parts, b"BC"))]
    {
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x55;
            let dir = files(&[(name, &damaged)]);
            let options = ReadOptions { chunk_bytes: 100, ..options() };
            let read = Input::open(&paths(&dir, &[name]), options).and_then(|input| all(&input));
            // A time stamp or a flag that nobody reads may change.
            if let Ok(read) = read {
                assert_eq!(read, expected, "{name}, byte {at}");
            }
        }
        for length in 0..packed.len() {
            let dir = files(&[(name, &packed[..length])]);
            let options = ReadOptions { chunk_bytes: 100, ..options() };
            let read = Input::open(&paths(&dir, &[name]), options).and_then(|input| all(&input));
            // What ends with a member is a whole file of fewer lines, the last of which may be cut.
            if let Ok(read) = read {
                assert!(
                    read.len() < expected.len() && read[..] == expected[..read.len()],
                    "{name}, {length}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn lines_are_the_same_however_they_are_cut(
        body in "(\u{feff})?[ab\r\n]{0,60}",
        sizes in proptest::collection::vec(1_usize..12, 1..8),
        chunk_bytes in 1_usize..20,
    ) {
        let mut rest = body.as_bytes();
        let mut parts = Vec::new();
        for size in sizes.iter().cycle() {
            let (part, behind) = rest.split_at((*size).min(rest.len()));
            parts.push(part);
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        let dir = files(&[
            ("x.txt", body.as_bytes()),
            ("x.txt.zst", &frames(&parts)),
            ("x.txt.gz", &members(&parts, b"IG")),
            ("whole.txt.zst", &frames(&[body.as_bytes()])),
        ]);
        let read = |name: &str| {
            let options = ReadOptions { chunk_bytes, on_error: OnError::Skip, ..options() };
            all(&Input::open(&paths(&dir, &[name]), options).unwrap()).unwrap()
        };
        let expected = read("whole.txt.zst");
        prop_assert_eq!(&read("x.txt"), &expected);
        prop_assert_eq!(&read("x.txt.zst"), &expected);
        prop_assert_eq!(&read("x.txt.gz"), &expected);
    }
}
