//! The hash of a piece of text, over its UTF-8 bytes.
//!
//! The values are part of every stored sketch: changing them is a change of format.

use std::sync::{Arc, LazyLock};

use nearkin_kernels::{HashKey, fingerprint, hash_piece};

/// The seed of hashes where nobody gives another.
pub const DEFAULT_SEED: u64 = 1;

static DEFAULT_KEY: LazyLock<Arc<HashKey>> = LazyLock::new(|| Arc::new(HashKey::new(DEFAULT_SEED)));

/// What everything is hashed with unless a run has another seed.
pub fn default_key() -> &'static Arc<HashKey> {
    &DEFAULT_KEY
}

/// The 64-bit hash of a string of bytes with the [default key](default_key): what a token's shingle is made from.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    hash_piece(default_key(), bytes)
}

/// The hash of a text without shingles. It is by another function than that of shingles, so it is no shingle of another text.
pub(super) fn hash_whole(key: &HashKey, text: &str) -> u64 {
    (fingerprint(key, text.as_bytes()) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

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
