//! Texts that stand for lists: the elements of a set or a bag, each hashed as it is.
//!
//! A text is cut at white space, upper and lower case differ, and nothing is normalised: elements are names,
//! not words. Elements with blanks in them, and elements with counts, come as a *list text*: U+001F first,
//! and then for each element its length in bytes, `*` and its count where it is not 1, `:` and the element.
//! The readers write lists so ([`push_element`]); to the rest of the pipeline they are texts like others.
//!
//! An element is its text: what a table writes as `7` and a list as `7` or `"7"` is the same element.

use std::fmt::Write;

use nearkin_kernels::{HashKey, hash_piece};

/// What a list text begins with.
const MARK: char = '\u{1f}';

/// The most often that a bag may hold one element.
const MOST: u32 = u32::MAX;

/// How often an element occurs.
///
/// # Errors
/// When it cannot be so often: what a count must be.
pub fn checked_count(number: f64) -> Result<u32, String> {
    if number < 0.0 {
        return Err("counts cannot be negative".into());
    }
    if number > f64::from(MOST) {
        return Err(format!("counts go up to {MOST}: scale them down"));
    }
    // Not a number is not whole either.
    if number.fract() != 0.0 {
        return Err("counts must be whole numbers: round or scale them".into());
    }
    Ok(number as u32)
}

/// Starts a list text at the end of `text`: the empty list.
pub fn start_list(text: &mut String) {
    text.push(MARK);
}

/// Appends an element to the list text at the end of `text`, as often as `count` says.
pub fn push_element(text: &mut String, element: &str, count: u32) {
    // Writing to a string cannot fail.
    let _ = match count {
        0 => return,
        1 => write!(text, "{}:", element.len()),
        _ => write!(text, "{}*{count}:", element.len()),
    };
    text.push_str(element);
}

/// Appends a text that is to be cut at white space, so that it is not taken for a list text.
pub fn push_plain(text: &mut String, plain: &str) {
    if plain.starts_with(MARK) {
        text.push(' ');
    }
    text.push_str(plain);
}

/// Calls `each` with every element and its count.
pub fn each_element<'a>(text: &'a str, mut each: impl FnMut(&'a str, u32)) {
    let Some(mut rest) = text.strip_prefix(MARK) else {
        text.split_whitespace().for_each(|element| each(element, 1));
        return;
    };
    while !rest.is_empty() {
        // What no reader wrote is one element, so that nothing is lost.
        let (element, count, after) = first(rest).unwrap_or((rest, 1, ""));
        each(element, count);
        rest = after;
    }
}

/// The first element of a list text's rest, its count, and what comes after it.
fn first(rest: &str) -> Option<(&str, u32, &str)> {
    let (head, after) = rest.split_once(':')?;
    let (length, count) = match head.split_once('*') {
        Some((length, count)) => (length, count.parse().ok()?),
        None => (head, 1),
    };
    let (element, after) = after.split_at_checked(length.parse().ok()?)?;
    Some((element, count, after))
}

/// Appends the hash of every element, as often as it occurs.
pub(super) fn shingle(text: &str, key: &HashKey, out: &mut Vec<u64>) {
    each_hash(text, key, |hash, count| out.extend(std::iter::repeat_n(hash, count as usize)));
}

/// Calls `each` with the hash of every element and its count.
pub(super) fn each_hash(text: &str, key: &HashKey, mut each: impl FnMut(u64, u32)) {
    each_element(text, |element, count| each(hash_piece(key, element.as_bytes()), count));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Shingling, hash_bytes};
    use super::*;

    fn elements(text: &str) -> Vec<(String, u32)> {
        let mut all = Vec::new();
        each_element(text, |element, count| all.push((element.to_owned(), count)));
        all
    }

    #[test]
    fn plain_texts_are_cut_at_white_space() {
        assert_eq!(elements(" b\ta  B\u{a0}a\n").len(), 4);
        assert_eq!(elements(""), []);
        let shingling = Shingling::elements();
        assert_eq!(shingling.set("b a b"), shingling.set("a b"));
        assert_eq!(shingling.bag("b a b").len(), 3);
        assert!(shingling.set("a").contains(&hash_bytes(b"a")));
        assert_ne!(shingling.set("a"), shingling.set("A"));
    }

    #[test]
    fn what_no_reader_wrote_is_kept_whole() {
        for text in ["\u{1f}a b", "\u{1f}9:short", "\u{1f}1:é", "\u{1f}1*x:a", "\u{1f}:"] {
            assert_eq!(elements(text).len(), 1, "{text:?}");
        }
        let mut plain = String::new();
        push_plain(&mut plain, "\u{1f}1:a 1:b");
        assert_eq!(elements(&plain).len(), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_list_comes_back_as_it_was(list in proptest::collection::vec((any::<String>(), 0u32..4), 0..9)) {
            let mut text = String::new();
            start_list(&mut text);
            list.iter().for_each(|(element, count)| push_element(&mut text, element, *count));
            let there: Vec<_> = list.into_iter().filter(|(_, count)| *count > 0).collect();
            prop_assert_eq!(elements(&text), there.clone());
            let mut hashes = Vec::new();
            for (element, count) in &there {
                hashes.extend(vec![hash_bytes(element.as_bytes()); *count as usize]);
            }
            hashes.sort_unstable();
            prop_assert_eq!(Shingling::elements().bag(&text), hashes);
        }
    }
}
