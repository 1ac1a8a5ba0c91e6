//! The hash of a piece of text, over its UTF-8 bytes, eight at a time.
//!
//! The values are part of every stored sketch: changing them is a change of format.

/// Bytes that must follow a piece in its buffer, so that sixteen can be read at once anywhere.
pub const PADDING: usize = 16;

const START: u64 = 0x9e37_79b9_7f4a_7c15;
const STEP: u64 = 0xd6e8_feb8_6659_fd93;

/// Multiplies to 128 bits and folds the halves together.
#[inline(always)]
fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// Hashes `padded[start..end]`; [`PADDING`] readable bytes follow `start`, however short the piece is.
///
/// # Panics
/// When they do not.
#[inline(always)]
pub fn hash_padded(padded: &[u8], start: usize, end: usize) -> u64 {
    let load =
        |at: usize| u64::from_le_bytes(*padded[at..].first_chunk().expect("padding follows"));
    hash_loaded(load, start, end)
}

/// [`hash_padded`] for any way of reading the eight bytes at a place.
///
/// Up to sixteen bytes, which is nearly every word, take the same steps whatever their number: a branch on
/// the length would be guessed wrong too often.
#[inline(always)]
pub(crate) fn hash_loaded(load: impl Fn(usize) -> u64, start: usize, end: usize) -> u64 {
    let mut hash = START ^ (end - start) as u64;
    let mut at = start;
    while end - at > 16 {
        hash = fold_multiply(hash ^ load(at), STEP);
        at += 8;
    }
    let rest = end - at;
    let low = load(at) & MASKS[rest + 8];
    let high = load(at + 8) & MASKS[rest];
    fold_multiply(fold_multiply(hash ^ low, STEP) ^ high, STEP)
}

/// Which bits of eight bytes belong to a piece that has this many bytes, and eight more.
const MASKS: [u64; 25] = {
    let mut masks = [0; 25];
    let mut bytes = 0;
    while bytes < 25 {
        masks[bytes] = match bytes {
            ..9 => 0,
            9..16 => (1 << (8 * (bytes - 8))) - 1,
            _ => u64::MAX,
        };
        bytes += 1;
    }
    masks
};

/// Appends the keys of the bands of `rows` values each that a sketch is cut into: the hash of the values and
/// of the band's number.
///
/// Two values at a time, and one multiplication for both. Bands do not wait for each other, so a processor
/// works at several as it is.
///
/// # Panics
/// When `rows` is 0.
pub fn band_keys(sketch: &[u32], rows: usize, keys: &mut Vec<u64>) {
    let bands = sketch.chunks_exact(rows).enumerate();
    keys.extend(bands.map(|(band, values)| {
        let (pairs, last) = values.as_chunks::<2>();
        let start = fold_multiply(START ^ band as u64, STEP);
        let key = pairs.iter().fold(start, |key, &[a, b]| {
            fold_multiply(key ^ (u64::from(a) | u64::from(b) << 32), STEP)
        });
        last.iter().fold(key, |key, &value| fold_multiply(key ^ u64::from(value), STEP))
    }));
}

/// Scrambles a value so that every bit of it depends on every bit.
#[inline(always)]
pub fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(STEP);
    let value = (value ^ (value >> 32)).wrapping_mul(STEP);
    value ^ (value >> 32)
}
