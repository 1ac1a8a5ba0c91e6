//! AES by tables, for processors that have no instructions for it (FIPS 197).

/// Sixteen bytes: a block of AES, a round key, or two numbers of 64 bits with the lowest byte first.
pub type Block = [u8; 16];

/// A round but for its key: every byte through the S-box, rows shifted, and columns mixed unless it is the last round.
pub(crate) fn round(x: Block, key: Block) -> Block {
    let mut out = [0; 16];
    for column in 0..4 {
        let of = |row: usize| COLUMNS[usize::from(x[(4 * column + 5 * row) % 16])];
        let mixed = of(0) ^ of(1).rotate_left(8) ^ of(2).rotate_left(16) ^ of(3).rotate_left(24);
        out[4 * column..][..4].copy_from_slice(&mixed.to_le_bytes());
    }
    xor(out, key)
}

/// The last round.
pub(crate) fn last_round(x: Block, key: Block) -> Block {
    let shifted: Block = std::array::from_fn(|at| SBOX[usize::from(x[5 * at % 16])]);
    xor(shifted, key)
}

pub(crate) fn xor(a: Block, b: Block) -> Block {
    (u128::from_le_bytes(a) ^ u128::from_le_bytes(b)).to_le_bytes()
}

/// The eleven round keys of a key of AES-128.
pub(crate) fn round_keys(key: Block) -> [Block; 11] {
    let mut words = [[0u8; 4]; 44];
    words[..4].copy_from_slice(key.as_chunks().0);
    let mut constant = 1;
    for at in 4..44 {
        let mut word = words[at - 1];
        if at % 4 == 0 {
            word.rotate_left(1);
            word = word.map(|byte| SBOX[usize::from(byte)]);
            word[0] ^= constant;
            constant = double(constant);
        }
        words[at] = std::array::from_fn(|i| word[i] ^ words[at - 4][i]);
    }
    let mut keys = [[0; 16]; 11];
    for (key, words) in keys.iter_mut().zip(words.as_chunks::<4>().0) {
        key.copy_from_slice(words.as_flattened());
    }
    keys
}

/// Times x in the field of AES: polynomials over bits modulo x⁸ + x⁴ + x³ + x + 1.
const fn double(byte: u8) -> u8 {
    (byte << 1) ^ ((byte >> 7) * 0x1b)
}

const SBOX: [u8; 256] = {
    let mut sbox = [0; 256];
    // 3 generates the field: p runs through its powers, q through their inverses.
    let (mut p, mut q) = (1u8, 1u8);
    loop {
        p ^= double(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        q ^= (q >> 7) * 0x09;
        let turned = q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4);
        sbox[p as usize] = turned ^ 0x63;
        if p == 1 {
            break;
        }
    }
    sbox[0] = 0x63;
    sbox
};

/// What a byte in the first row adds to its column.
static COLUMNS: [u32; 256] = {
    let mut columns = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let s = SBOX[byte];
        columns[byte] = u32::from_le_bytes([double(s), s, s, double(s) ^ s]);
        byte += 1;
    }
    columns
};

#[cfg(test)]
mod tests {
    use super::*;

    fn block(hex: &str) -> Block {
        u128::from_str_radix(hex, 16).unwrap().to_be_bytes()
    }

    /// Appendices A.1 and B of FIPS 197, and C.1.
    #[test]
    fn the_examples_of_the_standard() {
        let keys = round_keys(block("2b7e151628aed2a6abf7158809cf4f3c"));
        assert_eq!(keys[1], block("a0fafe1788542cb123a339392a6c7605"));
        assert_eq!(keys[10], block("d014f9a8c9ee2589e13f0cc8b6630ca6"));
        for (key, text, cipher) in [
            (
                "2b7e151628aed2a6abf7158809cf4f3c",
                "3243f6a8885a308d313198a2e0370734",
                "3925841d02dc09fbdc118597196a0b32",
            ),
            (
                "000102030405060708090a0b0c0d0e0f",
                "00112233445566778899aabbccddeeff",
                "69c4e0d86a7b0430d8cdb78070b4c55a",
            ),
        ] {
            let keys = round_keys(block(key));
            let x = keys[1..10].iter().fold(xor(block(text), keys[0]), |x, &key| round(x, key));
            assert_eq!(last_round(x, keys[10]), block(cipher));
        }
    }
}
