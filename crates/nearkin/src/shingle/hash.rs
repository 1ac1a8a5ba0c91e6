//! The hash of a piece of text, over its UTF-8 bytes, eight at a time.
//!
//! The values are part of every stored sketch: changing them is a change of format.

/// Bytes that must follow a piece in its buffer, so that sixteen can be read at once anywhere.
pub(super) const PADDING: usize = 16;

const START: u64 = 0x9e37_79b9_7f4a_7c15;
const STEP: u64 = 0xd6e8_feb8_6659_fd93;

/// Multiplies to 128 bits and folds the halves together.
#[inline(always)]
pub(super) fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// Hashes `padded[start..end]`; [`PADDING`] readable bytes follow `start`, however short the piece is.
///
/// Up to sixteen bytes, which is nearly every word, take the same steps whatever their number: a branch on
/// the length would be guessed wrong too often.
#[inline(always)]
pub(super) fn hash_padded(padded: &[u8], start: usize, end: usize) -> u64 {
    let mut hash = START ^ (end - start) as u64;
    let mut at = start;
    while end - at > 16 {
        hash = fold_multiply(hash ^ load(padded, at), STEP);
        at += 8;
    }
    let rest = (end - at) as u32;
    let low = load(padded, at) & mask(rest);
    let high = load(padded, at + 8) & mask(rest.saturating_sub(8));
    fold_multiply(fold_multiply(hash ^ low, STEP) ^ high, STEP)
}

#[inline(always)]
fn load(padded: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*padded[at..].first_chunk().expect("padding follows"))
}

/// The lowest `bytes` bytes, or all eight.
#[inline(always)]
fn mask(bytes: u32) -> u64 {
    // Two shifts, for one by all 64 bits would be none.
    let missing = 8 * 8u32.saturating_sub(bytes);
    u64::MAX >> (missing / 2) >> (missing - missing / 2)
}

/// The 64-bit hash of a string of bytes: what a token's shingle is made from.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut padded = Vec::with_capacity(bytes.len() + PADDING);
    padded.extend_from_slice(bytes);
    padded.resize(bytes.len() + PADDING, 0);
    hash_padded(&padded, 0, bytes.len())
}

/// Scrambles a value so that every bit of it depends on every bit.
#[inline(always)]
pub(super) fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    value ^ (value >> 32)
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
