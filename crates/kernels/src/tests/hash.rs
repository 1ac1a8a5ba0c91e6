//! What the hashes must be besides the same everywhere.

use super::definition;
use crate::*;

/// What is stored depends on these values: with others, an index or a sketch from before would match nothing. They were
/// computed by `openssl enc -aes-128-ecb` and an exclusive or.
#[test]
fn short_pieces_have_the_hashes_of_stored_sketches() {
    for (word, hash) in [
        ("", 15498283247825423349),
        ("nearkin", 11620380914531570818),
        ("a word of 15 ch", 14101131098895755669),
    ] {
        assert_eq!(hash_piece(&HashKey::new(1), word.as_bytes()), hash, "{word}");
        assert_eq!(definition::piece(1, word.as_bytes()), hash, "{word}");
    }
}

/// Fifteen letters are the longest short piece.
#[test]
fn zero_bytes_and_length_count() {
    let key = HashKey::new(1);
    let mut all = Vec::new();
    for length in 0..100 {
        all.push(hash_piece(&key, &vec![0; length]));
        all.push(hash_piece(&key, &vec![15; length + 1]));
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 200);
}

/// Of 64 bits each flips with chance ½: over 64 · n tries the mean is within 6 σ = 6 · √(16 / n) of 32 but for a
/// chance of 2e-9. Nothing here is random; it fails or it does not.
fn is_avalanche(flips: &[u64], what: &str) {
    let mean =
        flips.iter().map(|bits| f64::from(bits.count_ones())).sum::<f64>() / flips.len() as f64;
    assert!((mean - 32.0).abs() < 6.0 * (16.0 / flips.len() as f64).sqrt(), "{what}: {mean}");
    for bit in 0..64 {
        let share =
            flips.iter().filter(|flip| *flip >> bit & 1 == 1).count() as f64 / flips.len() as f64;
        let allowed = 6.0 * (0.25 / flips.len() as f64).sqrt();
        assert!((share - 0.5).abs() < allowed, "{what}, bit {bit}: {share}");
    }
}

#[test]
fn every_bit_of_a_piece_flips_half_of_the_hash() {
    let key = HashKey::new(1);
    for length in [1usize, 7, 15, 16, 17, 40] {
        let mut flips = Vec::new();
        for tried in 0..1000u64 {
            let mut piece: Vec<u8> =
                (0..length as u64).map(|at| scramble(tried << 8 | at) as u8).collect();
            let before = hash_piece(&key, &piece);
            let bit = scramble(tried) as usize % (8 * length);
            piece[bit / 8] ^= 1 << (bit % 8);
            flips.push(before ^ hash_piece(&key, &piece));
        }
        is_avalanche(&flips, &format!("{length} bytes"));
    }
}

#[test]
fn every_bit_of_a_word_flips_half_of_the_shingle() {
    let key = HashKey::new(1);
    for k in [2usize, 3, 4, 5, 6, 7, 12, 13, 40] {
        for word in 0..k {
            let flips: Vec<u64> = (0..1000u64)
                .map(|tried| {
                    let mut tokens: Vec<u64> =
                        (0..k as u64).map(|at| scramble(tried << 8 | at)).collect();
                    let before = combine(&key, &tokens);
                    tokens[word] ^= 1 << (tried % 64);
                    before ^ combine(&key, &tokens)
                })
                .collect();
            is_avalanche(&flips, &format!("word {word} of {k}"));
        }
    }
}

#[test]
fn every_bit_of_a_text_flips_half_of_the_fingerprint() {
    let key = HashKey::new(1);
    for length in [1usize, 16, 64, 65, 300] {
        let mut flips = Vec::new();
        for tried in 0..1000u64 {
            let mut text: Vec<u8> =
                (0..length as u64).map(|at| scramble(tried << 16 | at) as u8).collect();
            let before = fingerprint(&key, &text);
            let bit = scramble(tried) as usize % (8 * length);
            text[bit / 8] ^= 1 << (bit % 8);
            let flip = before ^ fingerprint(&key, &text);
            flips.extend([flip as u64, (flip >> 64) as u64]);
        }
        is_avalanche(&flips, &format!("{length} bytes"));
    }
}

#[test]
fn the_seed_moves_every_hash() {
    let keys = [HashKey::new(1), HashKey::new(2)];
    let tokens = [3, 4, 5, 6, 7, 8];
    for k in 2..6 {
        assert_ne!(combine(&keys[0], &tokens[..k]), combine(&keys[1], &tokens[..k]));
    }
    for text in ["", "a", "sixteen letters.", "and many more letters than sixteen of them"] {
        let [one, other] = [&keys[0], &keys[1]].map(|key| hash_piece(key, text.as_bytes()));
        assert_ne!(one, other);
        let [one, other] = [&keys[0], &keys[1]].map(|key| fingerprint(key, text.as_bytes()));
        assert_ne!(one, other);
    }
}

/// The former hash was two products of 64 bits by a known number, folded, one for the first eight bytes and one for the
/// rest, which can be undone: these have the same.
#[test]
fn twins_of_the_invertible_hash_are_different_words() {
    let key = HashKey::new(1);
    for (word, twin) in TWINS {
        assert_eq!(former(word), former(twin));
        assert_ne!(hash_piece(&key, word.as_bytes()), hash_piece(&key, twin.as_bytes()));
    }
}

/// Words, and others that had the same hash.
const TWINS: [(&str, &str); 4] = [
    ("the", "ye0epd0y8soc1qy3"),
    ("bridge", "ndzhq2mh6nk0bjp_"),
    ("over", "e22amke0w_tip8zp"),
    ("harbour", "1tzsdtnlsu7y26th"),
];

/// The former hash of up to 16 bytes.
fn former(word: &str) -> u64 {
    const STEP: u64 = 0xd6e8_feb8_6659_fd93;
    let fold = |x: u64| {
        let product = u128::from(x) * u128::from(STEP);
        (product >> 64) as u64 ^ product as u64
    };
    let mut bytes = [0; 16];
    bytes[..word.len()].copy_from_slice(word.as_bytes());
    let [low, high] = [0, 8].map(|at| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap()));
    let start = 0x9e37_79b9_7f4a_7c15 ^ word.len() as u64;
    fold(fold(start ^ low) ^ high)
}
