//! Row S7.1: identical items, found by a look at a few positions before whole contents are read.

use std::sync::atomic::{AtomicUsize, Ordering};

use nearkin_engine::Result;
use nearkin_engine::candidates::identical::{fingerprint, glance, groups};
use nearkin_engine::cluster::{Keep, Linkage};
use nearkin_engine::item::{Batch, ChunkNumber, Lane, Lanes, SkipChunk, Source, Texts};
use nearkin_engine::search::{Search, SourceItems};
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::shingle::default_key;

/// Documents that begin and end alike and differ in the middle.
fn framed(middle: &str) -> String {
    format!("{}{middle}{}", "the same beginning ".repeat(50), " the same end".repeat(50))
}

#[test]
fn s7_1_identical_items_are_grouped() {
    let items = ["a", "b", "a", "", "c", "b", "", "a"];
    let (same, _) = groups(&items);
    assert_eq!(same, [vec![0, 2, 7], vec![1, 5], vec![3, 6]]);
    assert!(groups::<&str>(&[]).0.is_empty());
}

#[test]
fn s7_1_every_byte_is_read_only_when_needed() {
    // A thousand different lengths: nothing has to be read, whatever the frames.
    let items: Vec<String> = (0..1000).map(|i| framed(&"x".repeat(i))).collect();
    assert_eq!(groups(&items), (vec![], 0));
    // Same lengths, random contents: a glance at 16 of 64 letters tells them apart. Two agree in a
    // glance with chance 26⁻¹⁰ at most (positions may repeat), 5·10⁵ pairs: below 10⁻⁸.
    let letters = |seed: u64| -> String {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut letter = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(b'a' + (state % 26) as u8)
        };
        (0..64).map(|_| letter()).collect()
    };
    let mut items: Vec<String> = (1..=1000).map(letters).collect();
    assert_eq!(groups(&items), (vec![], 0));
    // One copy: just the two are read.
    items.push(items[500].clone());
    assert_eq!(groups(&items), (vec![vec![500, 1000]], 2));
}

#[test]
fn s7_1_what_a_glance_cannot_tell_the_whole_content_does() {
    // One of 10,000 bytes differs: most glances miss it, the whole content does not.
    let base = vec![b'a'; 10_000];
    let items: Vec<Vec<u8>> = (0..50)
        .map(|i| {
            let mut item = base.clone();
            item[i * 199] = b'b';
            item
        })
        .collect();
    assert!(items.iter().filter(|item| glance(item) == glance(&base)).count() > 25);
    assert!(groups(&items).0.is_empty());
    let print = |item: &[u8]| fingerprint(default_key(), item);
    assert!(items.iter().all(|item| print(item) != print(&base)));
}

/// A collection that is another from the second scan on.
struct Changing<'a> {
    texts: [Texts<'a, &'static str>; 2],
    scans: AtomicUsize,
}

impl Source for Changing<'_> {
    type Chunk = (usize, <Texts<'static, &'static str> as Source>::Chunk);

    fn bytes(&self) -> u64 {
        self.texts[0].bytes()
    }

    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, Self::Chunk> {
        let which = self.scans.fetch_add(1, Ordering::Relaxed).min(1);
        Box::new(self.texts[which].lanes(skip).map(move |lane| Lane {
            chunks: Box::new(lane.chunks.map(move |chunk| Ok((which, chunk?)))),
            is_cheap: lane.is_cheap,
        }))
    }

    fn place(&self, chunk: &Self::Chunk) -> (ChunkNumber, u64) {
        self.texts[chunk.0].place(&chunk.1)
    }

    fn decode<'a>(
        &'a self,
        chunk: &'a Self::Chunk,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Batch<'a>> {
        self.texts[chunk.0].decode(&chunk.1, wanted)
    }
}

/// A fingerprint alone does not make a copy: here the second text is another when the bytes are compared, as that of a text
/// with the fingerprint of an earlier one would be.
#[test]
fn a_text_is_removed_as_a_copy_only_if_its_bytes_are_the_same() {
    let first = ["one text", "another", "one text", "one text"];
    for (later, is_copy) in [
        (first, true),
        (["one text", "another", "one text", "ONE text"], false),
        (["one text!", "another", "one text", "one text"], false),
        // Not a copy, so nobody looks.
        (["one text", "yet another", "one text", "one text"], true),
    ] {
        for threads in [1, 3] {
            let source = Changing { texts: [Texts(&first), Texts(&later)], scans: 0.into() };
            let settings = Settings { threads, strategy: Strategy::Exact, ..Settings::default() };
            let kept = Search::new(&settings).dedup(
                SourceItems::new(&source),
                &Keep::First,
                Linkage::Stars,
            );
            match is_copy {
                true => assert_eq!(kept.unwrap().stats.identical, 2),
                false => {
                    let error = kept.err().expect("an error").to_string();
                    assert!(
                        error.contains("differs from an earlier one") && error.contains("seed")
                    );
                }
            }
        }
    }
}
