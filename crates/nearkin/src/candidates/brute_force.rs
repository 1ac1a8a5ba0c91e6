//! The oracle: everything is a candidate. Quadratic, complete, and what every other source is tested
//! against.

/// Every pair of `items` items, in order.
pub fn pairs(items: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..items).flat_map(move |a| (a + 1..items).map(move |b| (a, b)))
}
