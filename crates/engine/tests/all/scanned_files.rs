//! The main job on files: chunks and the second reading change nothing.

#![cfg(feature = "files")]

use std::fs;
use std::path::PathBuf;

use nearkin_engine::read::{Input, OnError, ReadOptions};
use nearkin_engine::search::{Search, SourceItems};
use nearkin_engine::settings::Settings;

/// Versions of a few texts, one word more each, with a broken line and a blank one among them.
fn lines() -> String {
    let mut lines = String::new();
    for i in 0..400 {
        let words: Vec<String> =
            (0..60).map(|w| format!("w{}", (i / 8) * 1000 + w + (i % 8))).collect();
        lines += &format!("{{\"id\":\"d{i}\",\"text\":\"{}\"}}\n", words.join(" "));
        match i % 50 {
            7 => lines += "broken\n",
            9 => lines += "\n",
            11 => lines += "{\"id\":\"d3\",\"text\":\"an id that was there before\"}\n",
            _ => {}
        }
    }
    lines
}

fn rows(path: &PathBuf, chunk_bytes: usize, memory: usize) -> Vec<(u32, u32, f64)> {
    let options = ReadOptions { chunk_bytes, on_error: OnError::Skip, ..ReadOptions::default() };
    let input = Input::open(std::slice::from_ref(path), options).unwrap();
    let settings = Settings { memory, skip_duplicate_ids: true, ..Settings::default() };
    let similar = Search::new(&settings).pairs(SourceItems::new(&input)).unwrap();
    let mut rows = Vec::new();
    similar
        .each(|a, b, similarity| {
            rows.push((a, b, similarity));
            Ok(())
        })
        .unwrap();
    rows
}

#[test]
fn chunks_and_memory_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("in.jsonl");
    fs::write(&plain, lines()).unwrap();
    let packed = folder.path().join("in.jsonl.zst");
    fs::write(&packed, zstd::encode_all(lines().as_bytes(), 1).unwrap()).unwrap();
    let expected = rows(&plain, 4 << 20, usize::MAX);
    assert!(expected.len() > 300);
    for path in [&plain, &packed] {
        for chunk_bytes in [1, 1000, 20_000, 4 << 20] {
            for memory in [0, 200_000, usize::MAX] {
                assert_eq!(rows(path, chunk_bytes, memory), expected, "{chunk_bytes} {memory}");
            }
        }
    }
}
