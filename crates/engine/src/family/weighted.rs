//! Bags as sets, so that everything made for sets works for bags.
//!
//! A bag comes in, a set with one element for each copy goes out. The second copy of x is a different element from the
//! first, and the same element in every bag. Intersection and union of such sets count min and max of the copies, so
//! their Jaccard similarity is that of the bags with the union by maximum. (The expansion is that of Haveliwala, Gionis
//! and Indyk 2000; the two bag similarities are those of *Mining of Massive Datasets*, 3.1.3.) With J = Σmin / Σmax, the
//! similarity with the union by sum is Σmin / (Σmin + Σmax) = J / (1 + J): the same order of pairs on another scale.

use super::hash::mix64;

/// Replaces the i-th copy of x (from 0) by an element of its own, in the order of the bag. The first
/// copy stays x itself, so a bag without repetitions is the set it looks like. `out` is cleared
/// first.
///
/// Equal elements must stand together, as they do in a sorted bag.
pub fn numbered(sorted_bag: &[u64], out: &mut Vec<u64>) {
    out.clear();
    out.reserve(sorted_bag.len());
    for copies in sorted_bag.chunk_by(|a, b| a == b) {
        out.push(copies[0]);
        out.extend((1..copies.len()).map(|copy| mix64(copies[0], copy as u64)));
    }
}

/// The bag similarity with the union by sum, from the one by maximum: J / (1 + J).
pub fn sum_from_max(by_max: f64) -> f64 {
    by_max / (1.0 + by_max)
}

/// The bag similarity with the union by maximum, from the one by sum: S / (1 − S) for S up to ½,
/// the largest there is.
pub fn max_from_sum(by_sum: f64) -> f64 {
    by_sum / (1.0 - by_sum)
}
