//! How long each version of each kernel takes on this machine: the best of many runs, in nanoseconds a unit.

use std::hint::black_box;
use std::time::Instant;

use nearkin_kernels::{HashKey, PADDING, Throw, WordMask, panels_of, scramble, versions};

/// Prints the time of each version, given how it is called once and how many units a call has.
macro_rules! measure {
    ($kernel:ident, $unit:literal, $units:expr, |$version:ident| $call:expr) => {
        for (name, $version) in versions::$kernel() {
            let mut best = f64::MAX;
            for _ in 0..200 {
                let start = Instant::now();
                for _ in 0..20 {
                    black_box($call);
                }
                best = best.min(start.elapsed().as_secs_f64() / 20.0);
            }
            let each = best * 1e9 / $units as f64;
            println!("{:16} {name:8} {each:8.3} ns a {}", stringify!($kernel), $unit);
        }
    };
}

/// Words of 1 to 12 letters, with a blank or two and some capitals between.
fn prose(bytes: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut state = 1;
    while text.len() < bytes {
        state = scramble(state + 1);
        let letters = (0..1 + state % 12).map(|i| b'a' + (state >> (5 * i) & 15) as u8);
        text.extend(letters);
        text.extend_from_slice(if state >> 60 == 0 { b". A " } else { b" " });
    }
    text.truncate(bytes);
    text
}

fn numbers(count: u64, salt: u64) -> Vec<u64> {
    (0..count).map(|i| scramble(i + salt)).collect()
}

fn floats(count: usize, salt: u64) -> Vec<f32> {
    numbers(count as u64, salt).iter().map(|&x| (x >> 40) as f32 / 1e6 - 8.0).collect()
}

fn vectors() {
    for dimension in [32, 128, 784] {
        let (a, b) = (floats(dimension, 0), floats(dimension, 1 << 40));
        measure!(dot, "component", dimension, |f| f(black_box(&a), &b));
        measure!(squared_distance, "component", dimension, |f| f(black_box(&a), &b));
        measure!(absolute_distance, "component", dimension, |f| f(black_box(&a), &b));
    }
    for (rows, dimension, vectors) in [(1, 784, 512), (60, 784, 128), (60, 32, 512)] {
        let (a, b) = (floats(rows * dimension, 0), floats(vectors * dimension, 1 << 40));
        let (panels, mut out) = (panels_of(&b, dimension), vec![0.0; rows * vectors]);
        let terms = rows * dimension * vectors;
        measure!(dot_block, "term", terms, |f| f(black_box(&a), dimension, &panels, &mut out));
    }
    let values = floats(4096, 0);
    let mut places = Vec::new();
    measure!(places_at_most, "value", values.len(), |f| {
        places.clear();
        f(&values, -7.9, &mut places);
    });
}

fn texts() {
    let (text, key) = (prose(6000), HashKey::new(1));
    let blocks = text.len() / 64 + 1;
    let (mut padded, mut masks) =
        (vec![0; 64 * blocks + PADDING], vec![WordMask::default(); blocks]);
    measure!(lower_blocks, "byte", text.len(), |f| f(&text, true, &mut padded, &mut masks));
    let mut tokens = Vec::new();
    nearkin_kernels::hash_words(&key, &padded, &masks, &mut tokens);
    let words = tokens.len();
    measure!(hash_words, "word", words, |f| {
        tokens.clear();
        f(&key, &padded, &masks, &mut tokens);
    });
    measure!(fingerprint, "byte", text.len(), |f| f(&key, black_box(&text)));
    let mut shingles = Vec::new();
    for k in [1, 2, 5, 9, 13] {
        measure!(shingle, "shingle", words, |f| {
            shingles.clear();
            f(&key, &tokens, k, &mut shingles);
        });
    }
}

fn throws() {
    let throw = Throw { key: 7, factors: [0x9e37_79b1, 0x85eb_ca6b], groups: 96 };
    for count in [300, 3000] {
        let elements = numbers(count, 0);
        measure!(throw_all, "element", count, |f| {
            let mut values = [u32::MAX; 96];
            f(&throw, &elements, &mut values);
            values
        });
    }
    for count in [1, 10, 100, 300] {
        let elements = numbers(count, 0);
        measure!(fill_open, "set", 1, |f| {
            let mut values = [u32::MAX; 96];
            f(&throw, &elements, &mut values);
            values
        });
    }
    let (keys, elements) = (numbers(128, 1 << 40), numbers(300, 0));
    measure!(minima, "value", keys.len() * elements.len(), |f| {
        let mut values = [u64::MAX; 128];
        f(&keys, &elements, &mut values);
        values
    });
}

fn lists() {
    for count in [200, 2000] {
        let sorted = |salt| {
            let mut set = numbers(count / 3 * 2, 0);
            set.extend(numbers(count / 3, salt));
            set.sort_unstable();
            set
        };
        let (a, b) = (sorted(1 << 40), sorted(1 << 41));
        measure!(shared_at_least, "element", a.len(), |f| f(&a, &b, 0));
    }
    for words in [4, 64] {
        let (a, b) = (numbers(words, 0), numbers(words, 1 << 40));
        measure!(hamming, "call", 1, |f| f(black_box(&a), &b));
    }
    for bytes in [100, 256, 300] {
        let (a, b) = (vec![7; bytes], prose(bytes));
        measure!(equal_bytes, "call", 1, |f| f(black_box(&a), &b));
    }
    for bytes in [20, 1000] {
        let text = vec![b'x'; bytes];
        measure!(string_special, "call", 1, |f| f(black_box(&text)));
    }
}

fn main() {
    texts();
    throws();
    lists();
    vectors();
}
