//! An order of points in which neighbours are near each other.
//!
//! The points are halved where they spread most, and the halves again, as in a k-d tree (Bentley 1975), until
//! no more than a tile is left.

use nearkin_kernels::TILE;

/// The numbers of the points in such an order; every [`TILE`] of them are a cell, the last maybe with fewer.
pub(crate) fn order(points: &[f32], dimension: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..(points.len() / dimension) as u32).collect();
    halve(points, dimension, &mut order);
    order
}

fn halve(points: &[f32], dimension: usize, order: &mut [u32]) {
    let tiles = order.len().div_ceil(TILE);
    if tiles < 2 {
        return;
    }
    let axis = widest(points, dimension, order);
    let key = |item: u32| (points[item as usize * dimension + axis], item);
    let middle = tiles / 2 * TILE;
    order.select_nth_unstable_by(middle, |&a, &b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    let (low, high) = order.split_at_mut(middle);
    rayon::join(|| halve(points, dimension, low), || halve(points, dimension, high));
}

/// The component that varies most.
fn widest(points: &[f32], dimension: usize, items: &[u32]) -> usize {
    let (mut sums, mut squares) = (vec![0.0; dimension], vec![0.0; dimension]);
    for &item in items {
        let point = &points[item as usize * dimension..][..dimension];
        for (axis, &x) in point.iter().enumerate() {
            sums[axis] += f64::from(x);
            squares[axis] += f64::from(x) * f64::from(x);
        }
    }
    let variance = |axis: usize| squares[axis] - sums[axis] * sums[axis] / items.len() as f64;
    (0..dimension).max_by(|&a, &b| variance(a).total_cmp(&variance(b))).unwrap_or(0)
}
