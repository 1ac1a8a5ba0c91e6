//! SHA-1 (FIPS 180-4) of many short messages, as signatures of other programs are made from.
//!
//! A message of up to 55 bytes is one block, and so are most words and shingles. Several of them go through the rounds side
//! by side, each in its own lane. The lanes are arrays, which the compiler turns into registers where the machine has them.

use std::array;

/// A word of the state or the message of each lane.
type Lanes<const L: usize> = [u32; L];

const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
/// The longest message that leaves room for its end and its length in a block.
const ONE_BLOCK: usize = 55;

#[inline(always)]
fn sum<const L: usize>(x: Lanes<L>, y: Lanes<L>) -> Lanes<L> {
    array::from_fn(|lane| x[lane].wrapping_add(y[lane]))
}

#[inline(always)]
fn turned<const L: usize>(x: Lanes<L>, bits: u32) -> Lanes<L> {
    array::from_fn(|lane| x[lane].rotate_left(bits))
}

/// A round with its function of three words and its constant.
#[inline(always)]
fn round<const L: usize>(
    state: &mut [Lanes<L>; 5],
    word: Lanes<L>,
    constant: u32,
    f: impl Fn(u32, u32, u32) -> u32,
) {
    let [a, b, c, d, e] = *state;
    let chosen = array::from_fn(|lane| f(b[lane], c[lane], d[lane]).wrapping_add(constant));
    let next = sum(sum(turned(a, 5), chosen), sum(e, word));
    *state = [next, a, turned(b, 30), c, d];
}

/// Word `t` of the schedule, which goes round in sixteen places.
#[inline(always)]
fn scheduled<const L: usize>(words: &mut [Lanes<L>; 16], t: usize) -> Lanes<L> {
    if t >= 16 {
        let word = array::from_fn(|lane| {
            let at = |back: usize| words[(t - back) % 16][lane];
            (at(3) ^ at(8) ^ at(14) ^ at(16)).rotate_left(1)
        });
        words[t % 16] = word;
    }
    words[t % 16]
}

const CONSTANTS: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

#[inline(always)]
fn choice(x: u32, y: u32, z: u32) -> u32 {
    z ^ (x & (y ^ z))
}

#[inline(always)]
fn parity(x: u32, y: u32, z: u32) -> u32 {
    x ^ y ^ z
}

#[inline(always)]
fn majority(x: u32, y: u32, z: u32) -> u32 {
    (x & y) | (z & (x | y))
}

/// The state after one more block of each lane.
#[inline(always)]
fn compress<const L: usize>(before: [Lanes<L>; 5], mut words: [Lanes<L>; 16]) -> [Lanes<L>; 5] {
    let mut state = before;
    for t in 0..20 {
        let word = scheduled(&mut words, t);
        round(&mut state, word, CONSTANTS[0], choice);
    }
    for t in 20..40 {
        let word = scheduled(&mut words, t);
        round(&mut state, word, CONSTANTS[1], parity);
    }
    for t in 40..60 {
        let word = scheduled(&mut words, t);
        round(&mut state, word, CONSTANTS[2], majority);
    }
    for t in 60..80 {
        let word = scheduled(&mut words, t);
        round(&mut state, word, CONSTANTS[3], parity);
    }
    array::from_fn(|i| sum(before[i], state[i]))
}

/// [`compress`] for one lane, with the rounds written out: the words then stay in registers, and a message takes a
/// fifth of the time that it takes in loops. Many lanes are faster in loops, of which the compiler makes vectors.
#[rustfmt::skip]
#[inline(always)]
fn compress_alone(before: [Lanes<1>; 5], mut words: [Lanes<1>; 16]) -> [Lanes<1>; 5] {
    macro_rules! rounds {
        ($state:ident, $words:ident, $constant:expr, $f:ident; $($t:literal)*) => {
            $(
                let word = scheduled(&mut $words, $t);
                round(&mut $state, word, $constant, $f);
            )*
        };
    }
    let mut state = before;
    rounds!(state, words, CONSTANTS[0], choice; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    rounds!(state, words, CONSTANTS[1], parity; 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39);
    rounds!(state, words, CONSTANTS[2], majority; 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59);
    rounds!(state, words, CONSTANTS[3], parity; 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79);
    array::from_fn(|i| sum(before[i], state[i]))
}

/// The first eight bytes of a digest as a number, the first byte lowest.
#[inline(always)]
fn prefix<const L: usize>(state: &[Lanes<L>; 5], lane: usize) -> u64 {
    u64::from(state[0][lane].swap_bytes()) | u64::from(state[1][lane].swap_bytes()) << 32
}

/// The last block of a message that has these bytes in it and `length` in all.
#[inline(always)]
fn last_block(rest: &[u8], length: usize) -> [u8; 64] {
    let mut block = [0; 64];
    block[..rest.len()].copy_from_slice(rest);
    block[rest.len()] = 0x80;
    block[56..].copy_from_slice(&(8 * length as u64).to_be_bytes());
    block
}

#[inline(always)]
fn words_of(block: &[u8; 64]) -> [Lanes<1>; 16] {
    let (words, _) = block.as_chunks::<4>();
    array::from_fn(|i| [u32::from_be_bytes(words[i])])
}

/// The first eight bytes of the SHA-1 digest of a message, as a number whose lowest byte is the first.
pub fn sha1_prefix(message: &[u8]) -> u64 {
    alone(message)
}

/// One message of any length.
fn alone(message: &[u8]) -> u64 {
    let (blocks, rest) = message.as_chunks::<64>();
    let mut state = START.map(|word| [word]);
    for block in blocks {
        state = compress_alone(state, words_of(block));
    }
    if rest.len() <= ONE_BLOCK {
        state = compress_alone(state, words_of(&last_block(rest, message.len())));
    } else {
        let mut block = [0; 64];
        block[..rest.len()].copy_from_slice(rest);
        block[rest.len()] = 0x80;
        state = compress_alone(state, words_of(&block));
        let mut end = last_block(&[], message.len());
        end[0] = 0;
        state = compress_alone(state, words_of(&end));
    }
    prefix(&state, 0)
}

/// Up to `L` messages of one block each.
#[inline(always)]
fn together<const L: usize>(messages: &[&[u8]], places: &[usize], out: &mut [u64]) {
    let mut words = [[0; L]; 16];
    for (lane, &place) in places.iter().enumerate().take(L) {
        let block = last_block(messages[place], messages[place].len());
        for (words, word) in words.iter_mut().zip(words_of(&block)) {
            words[lane] = word[0];
        }
    }
    let state = compress(START.map(|word| [word; L]), words);
    for (lane, &place) in places.iter().enumerate().take(L) {
        out[place] = prefix(&state, lane);
    }
}

#[inline(always)]
fn prefixes<const L: usize>(messages: &[&[u8]], out: &mut Vec<u64>) {
    let start = out.len();
    out.resize(start + messages.len(), 0);
    let out = &mut out[start..];
    let mut places = [0; L];
    let mut waiting = 0;
    for (place, message) in messages.iter().enumerate() {
        if L == 1 || message.len() > ONE_BLOCK {
            out[place] = alone(message);
            continue;
        }
        places[waiting] = place;
        waiting += 1;
        if waiting == L {
            together::<L>(messages, &places, out);
            waiting = 0;
        }
    }
    // All lanes take as long as two or three messages alone.
    if waiting > 2 {
        together::<L>(messages, &places[..waiting], out);
    } else {
        places[..waiting].iter().for_each(|&place| out[place] = alone(messages[place]));
    }
}

/// See [`crate::sha1_prefixes`].
pub fn sha1_prefixes(messages: &[&[u8]], out: &mut Vec<u64>) {
    prefixes::<1>(messages, out);
}

/// [`sha1_prefixes`], eight messages at a time.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    /// See [`crate::sha1_prefixes`].
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(crate) fn sha1_prefixes(messages: &[&[u8]], out: &mut Vec<u64>) {
        super::prefixes::<8>(messages, out);
    }
}

/// [`sha1_prefixes`], sixteen messages at a time.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512 {
    /// See [`crate::sha1_prefixes`].
    #[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) fn sha1_prefixes(messages: &[&[u8]], out: &mut Vec<u64>) {
        super::prefixes::<16>(messages, out);
    }
}
