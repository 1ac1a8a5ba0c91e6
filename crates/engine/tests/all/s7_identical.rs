//! Row S7.1: identical items, found by a look at a few positions before whole contents are read.

use nearkin_engine::candidates::identical::{fingerprint, glance, groups};

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
    assert!(items.iter().all(|item| fingerprint(item) != fingerprint(&base)));
}
