//! Text to words and shingles, and strings of JSON.

use proptest::collection::vec;
use proptest::prelude::*;

use super::definition;
use crate::*;

/// Bytes of which many are letters, and some are not ASCII.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![b'A'..=b'z', b'A'..=b'z', b' '..=b'@', any::<u8>()];
    vec(byte, 0..1500)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_versions_lower_and_class_bytes_alike(text in text(), lower: bool) {
        let room = |fill: u8| {
            let blocks = text.len() / 64 + 1;
            (vec![fill; 64 * blocks + PADDING], vec![WordMask::default(); blocks])
        };
        let (mut copy, mut masks) = room(0);
        let ascii = scalar::lower_blocks(&text, lower, &mut copy, &mut masks);
        for (name, version) in versions::lower_blocks() {
            let (mut other_copy, mut other_masks) = room(b'x');
            let other_ascii = version(&text, lower, &mut other_copy, &mut other_masks);
            prop_assert_eq!(ascii, other_ascii, "{}", name);
            prop_assert_eq!(&copy, &other_copy, "{}", name);
            prop_assert_eq!(&masks, &other_masks, "{}", name);
        }
    }

    #[test]
    fn all_versions_hash_every_word(text in text(), seed: u64) {
        let (mut padded, mut masks) = (Vec::new(), Vec::new());
        lower_words(&text, true, &mut padded, &mut masks);
        if seed % 4 == 0 {
            // Very long words, and very many.
            masks.iter_mut().for_each(|mask| mask.word |= seed);
        }
        let inside = |at: usize| at < 64 * masks.len() && masks[at / 64].word >> (at % 64) & 1 == 1;
        let mut words = Vec::new();
        let mut start = 0;
        for at in 0..64 * masks.len() {
            if inside(at) && (at == 0 || !inside(at - 1)) {
                start = at;
            }
            if !inside(at) && at > 0 && inside(at - 1) {
                words.push([start as u32, at as u32]);
            }
        }
        let key = HashKey::new(seed);
        let pieces = words.iter().map(|&[start, end]| &padded[start as usize..end as usize]);
        let expected: Vec<u64> = pieces.clone().map(|word| definition::piece(seed, word)).collect();
        for (name, version) in versions::hash_words() {
            let mut tokens = vec![7];
            version(&key, &padded, &masks, &mut tokens);
            prop_assert_eq!(&tokens[1..], &expected[..], "{}", name);
        }
        for (name, version) in versions::hash_pieces() {
            let mut hashes = vec![7];
            version(&key, &padded, &words, &mut hashes);
            prop_assert_eq!(&hashes[1..], &expected[..], "{}", name);
        }
        for (name, version) in versions::hash_piece() {
            let hashes: Vec<u64> = pieces.clone().map(|word| version(&key, word)).collect();
            prop_assert_eq!(&hashes, &expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_hash_whole_texts(text in text(), seed: u64) {
        let expected = definition::fingerprint(seed, &text);
        for (name, version) in versions::fingerprint() {
            prop_assert_eq!(version(&HashKey::new(seed), &text), expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_hash_every_shingle(
        tokens in vec(any::<u64>(), 0..700),
        k in 1usize..80,
        usual in 0usize..8,
        seed: u64,
    ) {
        let k = if usual > 0 { usual } else { k };
        let expected: Vec<u64> =
            tokens.windows(k).map(|words| definition::shingle(seed, words)).collect();
        for (name, version) in versions::shingle() {
            let mut out = vec![7];
            version(&HashKey::new(seed), &tokens, k, &mut out);
            prop_assert_eq!(&out[1..], &expected[..], "{}", name);
        }
    }

    #[test]
    fn all_versions_join_every_window(
        words in vec(any::<[u64; 2]>(), 0..200),
        k in 1usize..80,
        usual in 0usize..8,
        seed: u64,
    ) {
        let k = if usual > 0 { usual } else { k };
        let expected: Vec<[u64; 2]> =
            words.windows(k).map(|words| definition::joined_window(seed, words)).collect();
        for (name, version) in versions::join_windows() {
            let mut out = vec![[7, 7]];
            version(&HashKey::new(seed), &words, k, &mut out);
            prop_assert_eq!(&out[1..], &expected[..], "{}", name);
        }
    }

    #[test]
    fn all_versions_undo_escapes(
        parts in vec(
            prop_oneof![
                6 => "[ -!#-\\[\\]-~é]{0,90}".prop_map(String::into_bytes),
                6 => "\\\\[\"\\\\/bfnrt]".prop_map(String::into_bytes),
                1 => "\\\\[u0x]|\"|[\\x00-\\x1f]".prop_map(String::into_bytes),
            ],
            0..30,
        ),
        cut in 0usize..3,
    ) {
        let mut text = parts.concat();
        text.truncate(text.len() - cut.min(text.len()));
        let (mut expected, mut at) = (b"before".to_vec(), 0);
        loop {
            match text[at..] {
                [b'\\', escape, ..] if let Some(meaning) = meaning(escape) => {
                    expected.push(meaning);
                    at += 2;
                }
                [] | [b'"' | b'\\' | ..0x20, ..] => break,
                [byte, ..] => {
                    expected.push(byte);
                    at += 1;
                }
            }
        }
        for (name, version) in versions::unescape() {
            let mut out = b"before".to_vec();
            prop_assert_eq!(version(&text, &mut out), at, "{}", name);
            prop_assert_eq!(&out, &expected, "{}", name);
        }
    }

    #[test]
    fn all_versions_find_where_a_string_ends(
        plain in vec(0x23u8..0x5b, 0..200),
        special in any::<u8>(),
        rest in vec(any::<u8>(), 0..80),
    ) {
        let mut text = plain;
        text.push(special);
        text.extend(rest);
        for start in 0..text.len().min(40) {
            let text = &text[start..];
            for (name, version) in versions::string_special() {
                prop_assert_eq!(version(text), scalar::string_special(text), "{}", name);
            }
        }
    }
}

#[test]
fn every_byte_is_classed_and_lowered() {
    let text: Vec<u8> = (0..=255).collect();
    for (name, version) in versions::lower_blocks() {
        let (mut padded, mut masks) = (vec![0; 5 * 64 + PADDING], vec![WordMask::default(); 5]);
        assert!(!version(&text, true, &mut padded, &mut masks));
        for (at, byte) in text.iter().enumerate() {
            let bit = |mask: u64| mask >> (at % 64) & 1 == 1;
            let mask = masks[at / 64];
            assert_eq!(padded[at], byte.to_ascii_lowercase(), "{name}: {byte:#x}");
            assert_eq!(
                bit(mask.word),
                byte.is_ascii_alphanumeric() || *byte == b'_',
                "{name}: {byte:#x}"
            );
            assert_eq!(bit(mask.other), !byte.is_ascii(), "{name}: {byte:#x}");
        }
    }
}
