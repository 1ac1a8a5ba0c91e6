//! Components of vectors, summed and compared; see the files `float` and `tiles`.

use crate::float;
use crate::tiles::{self, TILE};

/// See [`crate::dot`].
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<[f32; 16], float::Product>(a, b)
}

/// See [`crate::squared_distance`].
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<[f32; 16], float::Square>(a, b)
}

/// See [`crate::absolute_distance`].
pub fn absolute_distance(a: &[f32], b: &[f32]) -> f32 {
    float::pair::<[f32; 16], float::Difference>(a, b)
}

/// See [`crate::dot_block`].
pub fn dot_block(rows: &[f32], dimension: usize, panels: &[f32], out: &mut [f32]) {
    float::many::<[f32; 16], float::Product, 2>(rows, dimension, panels, out);
}

/// See [`crate::places_at_most`].
pub fn places_at_most(values: &[f32], limit: f32, places: &mut Vec<u32>) {
    float::at_most::<[f32; 16]>(values, limit, places);
}

/// See [`crate::near_point`].
pub fn near_point(tile: &[f32], point: &[f32], limit: f32) -> u64 {
    tiles::near_point::<[f32; 16]>(tile, point, limit)
}

/// See [`crate::near_box`].
pub fn near_box(tile: &[f32], centre: &[f32], half: &[f32], limit: f32) -> u64 {
    tiles::near_box::<[f32; 16]>(tile, centre, half, limit)
}

/// See [`crate::add_squares`].
pub fn add_squares(point: &[f32], rows: &[f32], which: u64, sums: &mut [f32; TILE]) {
    tiles::add_squares::<[f32; 16]>(point, rows, which, sums);
}

/// See [`crate::near_bits`].
pub fn near_bits(one: &[u64], many: &[u64], limit: u64) -> u64 {
    tiles::near_bits(one, many, limit)
}
