//! Shingles of k characters (Mining of Massive Datasets, 3.2.1).
//!
//! Characters are Unicode scalar values, not bytes, so that Chinese or accented text is cut where a
//! reader would cut it. A text shorter than k is its one shingle; an empty one, or one of white space
//! alone, has none.

use nearkin_kernels::{HashKey, PADDING, hash_pieces};

use super::fold::{Case, Whitespace, fold_case};

/// Appends the hash of every run of `k` characters.
pub(super) fn shingle(
    text: &str,
    k: usize,
    case: Case,
    space: Whitespace,
    key: &HashKey,
    folded: &mut Vec<u8>,
    out: &mut Vec<u64>,
) {
    fold_case(text, case, folded);
    fold_space(folded, space);
    let end = folded.len();
    let blank = space != Whitespace::Keep && folded[..] == *b" ";
    if end == 0 || blank {
        return;
    }
    let ascii = folded.is_ascii();
    folded.resize(end + PADDING, 0);
    if ascii {
        let last = end.saturating_sub(k);
        hash_runs((0..=last).map(|start| [start, (start + k).min(end)]), key, folded, out);
    } else {
        hash_runs(unicode_runs(folded, end, k), key, folded, out);
    }
}

/// A text as its characters are cut.
pub(super) fn folded(text: &str, case: Case, space: Whitespace) -> String {
    let mut folded = Vec::new();
    fold_case(text, case, &mut folded);
    fold_space(&mut folded, space);
    String::from_utf8(folded).expect("folding keeps UTF-8")
}

/// Appends the hashes of runs, given where each begins and ends. None begins before those that come earlier.
fn hash_runs(
    mut runs: impl Iterator<Item = [usize; 2]>,
    key: &HashKey,
    folded: &[u8],
    out: &mut Vec<u64>,
) {
    /// Runs that are hashed together: they lie close to each other.
    const TOGETHER: usize = 256;
    let mut pieces = [[0; 2]; TOGETHER];
    while let Some([origin, end]) = runs.next() {
        pieces[0] = [0, (end - origin) as u32];
        let mut count = 1;
        for (piece, [start, end]) in pieces[1..].iter_mut().zip(&mut runs) {
            *piece = [(start - origin) as u32, (end - origin) as u32];
            count += 1;
        }
        hash_pieces(key, &folded[origin..], &pieces[..count], out);
    }
}

/// Two hands over the text, `k` characters apart.
fn unicode_runs(folded: &[u8], end: usize, k: usize) -> impl Iterator<Item = [usize; 2]> {
    let next = move |at: usize| at + character_length(folded[at]);
    let first = (0..k).fold(0, |head, _| if head < end { next(head) } else { head });
    std::iter::successors(Some([0, first]), move |&[tail, head]| {
        (head < end).then(|| [next(tail), next(head)])
    })
}

/// Bytes of the character that starts with this byte.
fn character_length(first: u8) -> usize {
    match first {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

/// Folds or drops white space in place.
fn fold_space(text: &mut Vec<u8>, space: Whitespace) {
    if space == Whitespace::Keep {
        return;
    }
    let whole = String::from_utf8(std::mem::take(text)).expect("folding case keeps UTF-8");
    let mut bytes = Vec::with_capacity(whole.len() + PADDING);
    let mut in_space = false;
    for c in whole.chars() {
        if !c.is_whitespace() {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        } else if space == Whitespace::Fold && !in_space {
            bytes.push(b' ');
        }
        in_space = c.is_whitespace();
    }
    *text = bytes;
}
