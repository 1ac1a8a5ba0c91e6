//! One point against 64: which of them are near?
//!
//! A tile holds 64 points component by component: the first components of all, then the second, and so on. An
//! answer is a word with a bit for each point. That is how most of the pairs of a large collection are ruled
//! out, by a few components of each point.

use crate::float::Sixteen;

/// Points of a tile.
pub const TILE: usize = 64;

/// A bit for each point of the tile whose squared distance is at most `limit`.
#[inline(always)]
pub(crate) fn near_point<V: Sixteen>(tile: &[f32], point: &[f32], limit: f32) -> u64 {
    near::<V>(tile, point.len(), limit, |row, x| {
        let difference = x.minus(V::all(point[row]));
        (difference, difference)
    })
}

/// A bit for each point of the tile whose squared distance to a box is at most `limit`.
#[inline(always)]
pub(crate) fn near_box<V: Sixteen>(tile: &[f32], centre: &[f32], half: &[f32], limit: f32) -> u64 {
    assert_eq!(centre.len(), half.len(), "a box of one dimension");
    // Twice what lies outside is o + |o|, because what lies inside is below 0.
    near::<V>(tile, centre.len(), 4.0 * limit, |row, x| {
        let outside = x.minus(V::all(centre[row])).absolute().minus(V::all(half[row]));
        let twice = outside.plus(outside.absolute());
        (twice, twice)
    })
}

#[inline(always)]
fn near<V: Sixteen>(
    tile: &[f32],
    rows: usize,
    limit: f32,
    factors: impl Fn(usize, V) -> (V, V),
) -> u64 {
    let quarters = tile.as_chunks::<16>().0;
    assert_eq!((quarters.len(), tile.len()), (4 * rows, TILE * rows), "a tile of that dimension");
    let mut sums = [V::all(0.0); 4];
    for (row, quarters) in quarters.as_chunks::<4>().0.iter().enumerate() {
        for (quarter, sum) in quarters.iter().zip(&mut sums) {
            let (a, b) = factors(row, V::load(quarter));
            *sum = a.times_plus(b, *sum);
        }
    }
    let limit = V::all(limit);
    let bits = sums.map(|sum| u64::from(sum.at_most(limit)));
    bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
}

/// Adds to the sums that have a bit in `which` the squared distances of their rows to the point.
#[inline(always)]
pub(crate) fn add_squares<V: Sixteen>(
    point: &[f32],
    rows: &[f32],
    which: u64,
    sums: &mut [f32; TILE],
) {
    let (point, rest) = point.as_chunks::<16>();
    let rows = rows.as_chunks::<16>().0;
    assert!(rest.is_empty() && !point.is_empty(), "a multiple of 16 components");
    assert_eq!(rows.len(), TILE * point.len(), "a row for each of the points of a tile");
    let mut left = which;
    while left != 0 {
        let number = left.trailing_zeros() as usize;
        left &= left - 1;
        let mut sum = V::all(0.0);
        for (a, b) in point.iter().zip(&rows[number * point.len()..]) {
            let difference = V::load(a).minus(V::load(b));
            sum = difference.times_plus(difference, sum);
        }
        let mut lanes = [0.0; 16];
        sum.store(&mut lanes);
        sums[number] += crate::float::folded(lanes);
    }
}

/// A bit for each of up to 64 bit strings that differ in at most `limit` bits.
#[inline(always)]
pub(crate) fn near_bits(one: &[u64], many: &[u64], limit: u64) -> u64 {
    assert!(!one.is_empty() && many.len().is_multiple_of(one.len()), "whole bit strings");
    assert!(many.len() <= TILE * one.len(), "at most as many as a word has bits");
    // With the number of words known beforehand it takes half as long or less.
    match one.len() {
        1 => near_of::<1>(one, many, limit),
        2 => near_of::<2>(one, many, limit),
        4 => near_of::<4>(one, many, limit),
        _ => {
            let others = many.chunks_exact(one.len());
            others.enumerate().fold(0, |near, (at, other)| near | is_near(one, other, limit) << at)
        }
    }
}

#[inline(always)]
fn near_of<const W: usize>(one: &[u64], many: &[u64], limit: u64) -> u64 {
    let one: &[u64; W] = one.as_array().expect("so many words");
    let others = many.as_chunks::<W>().0.iter().enumerate();
    others.fold(0, |near, (at, other)| near | is_near(one, other, limit) << at)
}

/// 1 if two bit strings differ in at most `limit` bits, otherwise 0.
#[inline(always)]
fn is_near(one: &[u64], other: &[u64], limit: u64) -> u64 {
    let differing = one.iter().zip(other).map(|(x, y)| u64::from((x ^ y).count_ones()));
    u64::from(differing.sum::<u64>() <= limit)
}
