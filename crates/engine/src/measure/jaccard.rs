//! Jaccard similarity of sets: the part of their union that they share.
//!
//! Sets come in as sorted slices without repeats, so that one walk along both finds what they
//! share, without hashing or memory. Minhashing estimates this number and prefix filtering bounds
//! it; here it is exact. From Jaccard, "The distribution of the flora in the alpine zone" (1912).
//!
//! Two empty sets are equal, so their similarity is 1 and their distance 0; an empty set and any
//! other have similarity 0.

use std::cmp::Ordering;

/// The share of the union that lies in both sets, from 0 to 1. Two empty sets: 1.
///
/// Both slices must be sorted and free of repeats; anything else gives a meaningless number.
pub fn similarity<T: Ord>(a: &[T], b: &[T]) -> f64 {
    from_counts(shared(a, b), a.len(), b.len())
}

/// 1 − [`similarity`]. It obeys the four axioms of a distance.
pub fn distance<T: Ord>(a: &[T], b: &[T]) -> f64 {
    1.0 - similarity(a, b)
}

/// How many elements lie in both sets, given as sorted slices without repeats.
pub fn shared<T: Ord>(a: &[T], b: &[T]) -> usize {
    debug_assert!(a.is_sorted_by(|x, y| x < y), "the first set must be sorted, without repeats");
    debug_assert!(b.is_sorted_by(|x, y| x < y), "the second set must be sorted, without repeats");
    matched(a, b)
}

/// [`similarity`] of two sets of `a` and `b` elements, `shared` of them in both.
pub fn from_counts(shared: usize, a: usize, b: usize) -> f64 {
    debug_assert!(shared <= a.min(b), "{shared} shared elements in sets of {a} and {b}");
    let union = a + b - shared;
    if union == 0 { 1.0 } else { shared as f64 / union as f64 }
}

/// Pairs off equal elements of two sorted slices and counts the pairs. An element that stands m
/// times in one and n times in the other counts min(m, n) times, as bags need it.
pub(super) fn matched<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut pairs) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        // Adding comparisons instead of branching on them: which side is behind is unpredictable.
        let order = a[i].cmp(&b[j]);
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
        pairs += usize::from(order == Ordering::Equal);
    }
    pairs
}
