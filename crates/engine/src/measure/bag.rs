//! Jaccard similarity of bags: sets that remember how often each element occurs.
//!
//! Bags come in as sorted slices with repeats. An element that one bag holds m times and the other
//! n times is shared min(m, n) times; how often it stands in the union is a choice, [`Union`].
//! Both choices are in Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", 3.1.3.
//!
//! Only [`Union::Max`] has a distance. With [`Union::Sum`] even equal bags reach no more than 1/2,
//! so 1 − similarity is never zero; and 1 − 2·similarity, which is (the Bray–Curtis, or Dice,
//! dissimilarity), breaks the triangle inequality: {a} and {b} are 1 apart, yet each is only 1/3
//! from {a, b}.

use super::jaccard;

/// How often an element stands in the union of a bag that holds it m times and one that holds it
/// n times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Union {
    /// m + n times, as SQL's `UNION ALL` has it. Similarity goes from 0 to 1/2.
    Sum,
    /// max(m, n) times. Similarity goes from 0 to 1, and for bags without repeats it is that of
    /// sets.
    Max,
}

/// The share of the union that lies in both bags. Two empty bags get what any two equal bags get:
/// 1/2 by [`Union::Sum`], 1 by [`Union::Max`].
///
/// Both slices must be sorted; anything else gives a meaningless number.
pub fn similarity<T: Ord>(a: &[T], b: &[T], union: Union) -> f64 {
    let (shared, total) = (shared(a, b), a.len() + b.len());
    match union {
        Union::Max => jaccard::from_counts(shared, a.len(), b.len()),
        Union::Sum if total == 0 => 0.5,
        Union::Sum => shared as f64 / total as f64,
    }
}

/// 1 − [`similarity`] by [`Union::Max`], the one form that obeys the four axioms of a distance.
pub fn distance<T: Ord>(a: &[T], b: &[T]) -> f64 {
    1.0 - similarity(a, b, Union::Max)
}

/// How many elements lie in both bags, repeats counted, given as sorted slices.
pub fn shared<T: Ord>(a: &[T], b: &[T]) -> usize {
    debug_assert!(a.is_sorted(), "the first bag must be sorted");
    debug_assert!(b.is_sorted(), "the second bag must be sorted");
    jaccard::matched(a, b)
}
