//! Shingles of k characters (Mining of Massive Datasets, 3.2.1).
//!
//! Characters are Unicode scalar values, not bytes, so that Chinese or accented text is cut where a
//! reader would cut it. A text shorter than k is its one shingle; an empty one, or one of white space
//! alone, has none.

use nearkin_kernels::{PADDING, hash_padded};

use super::fold::{Case, Whitespace, fold_case};

/// Appends the hash of every run of `k` characters.
pub(super) fn shingle(
    text: &str,
    k: usize,
    case: Case,
    space: Whitespace,
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
        out.extend((0..=last).map(|start| hash_padded(folded, start, (start + k).min(end))));
    } else {
        shingle_unicode(folded, end, k, out);
    }
}

/// Two hands over the text, `k` characters apart.
fn shingle_unicode(folded: &[u8], end: usize, k: usize, out: &mut Vec<u64>) {
    let next = |at: usize| at + character_length(folded[at]);
    let mut head = 0;
    for _ in 0..k {
        if head < end {
            head = next(head);
        }
    }
    let mut tail = 0;
    out.push(hash_padded(folded, tail, head));
    while head < end {
        head = next(head);
        tail = next(tail);
        out.push(hash_padded(folded, tail, head));
    }
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
