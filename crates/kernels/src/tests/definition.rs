//! The hashes as their definition says, step by step, with AES as FIPS 197 writes it: bytes in a field, no tables.

/// Sixteen bytes.
type Block = [u8; 16];

/// A product in the field of 2⁸ elements of AES.
fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b > 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = if a & 0x80 > 0 { a << 1 ^ 0x1b } else { a << 1 };
        b >>= 1;
    }
    product
}

/// The inverse in the field, a to the power of 254, through the affine map.
fn substitute(a: u8) -> u8 {
    let inverse = (0..254).fold(1, |power, _| times(power, a));
    let turned = |by: u32| inverse.rotate_left(by);
    inverse ^ turned(1) ^ turned(2) ^ turned(3) ^ turned(4) ^ 0x63
}

/// [`substitute`], worked out once.
fn sbox(a: u8) -> u8 {
    static BOX: std::sync::LazyLock<Vec<u8>> =
        std::sync::LazyLock::new(|| (0..=255).map(substitute).collect());
    BOX[usize::from(a)]
}

fn add(a: Block, b: Block) -> Block {
    std::array::from_fn(|at| a[at] ^ b[at])
}

/// Bytes through the S-box, and row r turned by r columns to the left. Columns are four bytes in a row.
fn substituted(x: Block) -> Block {
    std::array::from_fn(|at| {
        let (column, row) = (at / 4, at % 4);
        sbox(x[4 * ((column + row) % 4) + row])
    })
}

fn round(x: Block, key: Block) -> Block {
    let y = substituted(x);
    let mixed = std::array::from_fn(|at| {
        let (column, row) = (at / 4, at % 4);
        let of = |below: usize| y[4 * column + (row + below) % 4];
        times(of(0), 2) ^ times(of(1), 3) ^ of(2) ^ of(3)
    });
    add(mixed, key)
}

fn round_keys(seed: u64, name: &[u8; 8]) -> Vec<Block> {
    let mut words: Vec<[u8; 4]> = Vec::new();
    let key = [seed.to_le_bytes(), *name].concat();
    words.extend(key.as_chunks::<4>().0);
    let mut constant = 1;
    for at in 4..44 {
        let mut word = words[at - 1];
        if at % 4 == 0 {
            let [a, b, c, d] = word;
            word = [sbox(b) ^ constant, sbox(c), sbox(d), sbox(a)];
            constant = times(constant, 2);
        }
        let before = words[at - 4];
        words.push(std::array::from_fn(|i| word[i] ^ before[i]));
    }
    words.chunks(4).map(|four| four.concat().try_into().unwrap()).collect()
}

/// E(x) = AES(x) ⊕ x.
fn encrypted(seed: u64, x: Block) -> Block {
    let keys = round_keys(seed, b"nearkin1");
    let y = keys[1..10].iter().fold(add(x, keys[0]), |y, &key| round(y, key));
    add(add(substituted(y), keys[10]), x)
}

/// Four rounds by round keys from this one on, the first with something added.
fn four_rounds(seed: u64, from: usize, added: u64, x: Block) -> Block {
    let mut keys = round_keys(seed, b"nearkin2");
    keys[from] = add(keys[from], (added as u128).to_le_bytes());
    add(keys[from..from + 4].iter().fold(x, |x, &key| round(x, key)), x)
}

fn joined(seed: u64, a: Block, b: Block) -> Block {
    four_rounds(seed, 1, 0, round(a, b))
}

fn low(x: Block) -> u64 {
    u64::from_le_bytes(*x.first_chunk().unwrap())
}

/// Blocks of a text, the last filled up with zeros.
fn blocks(text: &[u8]) -> impl Iterator<Item = Block> {
    text.chunks(16).map(|part| {
        let mut block = [0; 16];
        block[..part.len()].copy_from_slice(part);
        block
    })
}

fn numbers(low: u64, high: u64) -> Block {
    [low.to_le_bytes(), high.to_le_bytes()].concat().try_into().unwrap()
}

pub(super) fn piece(seed: u64, piece: &[u8]) -> u64 {
    if piece.len() < 16 {
        let mut block = blocks(piece).next().unwrap_or_default();
        block[15] = piece.len() as u8;
        return low(encrypted(seed, block));
    }
    let start = numbers(piece.len() as u64, 0);
    low(blocks(piece).fold(start, |state, block| joined(seed, state, encrypted(seed, block))))
}

pub(super) fn fingerprint(seed: u64, text: &[u8]) -> u128 {
    let mut lanes: Vec<Block> = (0..4).map(|lane| numbers(text.len() as u64, lane)).collect();
    let filled = text.len().next_multiple_of(64) / 16;
    let all = blocks(text).chain(std::iter::repeat([0; 16])).take(filled);
    for (i, block) in all.enumerate() {
        lanes[i % 4] = joined(seed, lanes[i % 4], encrypted(seed, block));
    }
    let [one, other] = [0, 2].map(|lane| joined(seed, lanes[lane], lanes[lane + 1]));
    u128::from_le_bytes(joined(seed, one, other))
}

pub(super) fn shingle(seed: u64, tokens: &[u64]) -> u64 {
    let k = tokens.len();
    let pair = |at: usize| numbers(tokens[at], tokens[at + 1]);
    let x = match k {
        1 => return tokens[0],
        2 => pair(0),
        _ => {
            let mut words = 2;
            let mut windows: Vec<Block> =
                (0..k - 1).map(|at| four_rounds(seed, 1, 0, pair(at))).collect();
            while 3 * words < k {
                let next = windows.iter().zip(&windows[words..]);
                windows = next.map(|(&a, &b)| joined(seed, a, b)).collect();
                words *= 2;
            }
            let (start, last) = (windows[0], windows[k - words]);
            match k > 2 * words {
                true => round(round(start, windows[words]), last),
                false => round(start, last),
            }
        }
    };
    low(four_rounds(seed, 5, k as u64, x))
}

pub(super) fn joined_window(seed: u64, words: &[[u64; 2]]) -> [u64; 2] {
    let mut half = 1;
    let mut windows: Vec<Block> = words.iter().map(|&[a, b]| numbers(a, b)).collect();
    while 2 * half <= words.len() {
        let next = windows.iter().zip(&windows[half..]);
        windows = next.map(|(&a, &b)| joined(seed, a, b)).collect();
        half *= 2;
    }
    let all = round(windows[0], windows[words.len() - half]);
    let all = four_rounds(seed, 5, words.len() as u64, all);
    [low(all), u64::from_le_bytes(*all.last_chunk().unwrap())]
}
