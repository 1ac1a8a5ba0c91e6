//! The hash of a piece of text, over its UTF-8 bytes.
//!
//! The values are part of every stored sketch: changing them is a change of format.

use nearkin_kernels::{PADDING, hash_padded};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The 64-bit hash of a string of bytes: what a token's shingle is made from.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut padded = Vec::with_capacity(bytes.len() + PADDING);
    padded.extend_from_slice(bytes);
    padded.resize(bytes.len() + PADDING, 0);
    hash_padded(&padded, 0, bytes.len())
}

/// The hash of a text without shingles. It is by another function than that of shingles, so it is no shingle of another text.
pub(super) fn hash_whole(text: &str) -> u64 {
    const SEED: u64 = 0x776f_6c65_7465_7874;
    xxh3_64_with_seed(text.as_bytes(), SEED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_and_neighbours_do_not_reach_the_hash() {
        let text = b"the quick brown fox jumps over 12345678 dogs............";
        for start in 0..20 {
            for end in start..text.len() - PADDING {
                assert_eq!(hash_padded(text, start, end), hash_bytes(&text[start..end]));
            }
        }
    }

    #[test]
    fn zero_bytes_and_length_count() {
        let pieces: [&[u8]; 5] = [b"", b"\0", b"\0\0", b"\0\0\0\0\0\0\0\0", b"\0\0\0\0\0\0\0\0\0"];
        for (i, a) in pieces.iter().enumerate() {
            for b in &pieces[..i] {
                assert_ne!(hash_bytes(a), hash_bytes(b));
            }
        }
    }

    #[test]
    fn one_changed_bit_changes_half_the_hash() {
        // For an ideal hash the mean of 88 counts, each with σ = 4, is within 2.4 (5.6 σ of the mean)
        // of 32 but for a chance below 1e-7.
        let text = *b"eleven char";
        let whole = hash_bytes(&text);
        let mut flipped = 0;
        for bit in 0..88 {
            let mut other = text;
            other[bit / 8] ^= 1 << (bit % 8);
            flipped += (hash_bytes(&other) ^ whole).count_ones();
        }
        let mean = f64::from(flipped) / 88.0;
        assert!((mean - 32.0).abs() < 2.4, "mean of flipped bits {mean}");
    }
}
