//! The angle between two vectors, and its cosine.
//!
//! Vectors count as directions: a vector and its positive multiples are the same item. The angle is
//! the distance, as it obeys the four axioms and 1 − cosine does not; random hyperplanes separate
//! two vectors with a probability in proportion to it. A vector of zeros has no direction and is an
//! error, as are components that are NaN or infinite.
//!
//! The arc cosine loses half of all digits where vectors are nearly parallel, which is where
//! near-duplicates are; the angle is therefore taken by W. Kahan's formula, from "How Futile are
//! Mindless Assessments of Roundoff" (2006), section 12.

use super::{all_finite, same_length, sum_terms};
use crate::{Error, Result};

/// The cosine of the angle between two vectors, from −1 to 1; exactly 1 for equal vectors.
pub fn similarity<T: Copy + Into<f64>>(a: &[T], b: &[T]) -> Result<f64> {
    let (of_a, of_b) = lengths(a, b)?;
    let dot = if of_a.scale == 1.0 && of_b.scale == 1.0 {
        sum_terms(a, b, |x, y| x * y)
    } else {
        sum_terms(a, b, |x, y| (x / of_a.scale) * (y / of_b.scale))
    };
    // One root of the product, not a product of roots: for a = b it is the dot product to the bit.
    Ok((dot / (of_a.squares * of_b.squares).sqrt()).clamp(-1.0, 1.0))
}

/// The angle between two vectors in degrees, from 0 to 180; exactly 0 for equal vectors.
pub fn angle_degrees<T: Copy + Into<f64>>(a: &[T], b: &[T]) -> Result<f64> {
    let (of_a, of_b) = lengths(a, b)?;
    let (root_a, root_b) = (of_a.squares.sqrt(), of_b.squares.sqrt());
    // With u = a/|a| and v = b/|b|: angle = 2·atan2(|u − v|, |u + v|)
    let squares = |sign: f64| {
        sum_terms(a, b, |x, y| {
            let side = x / of_a.scale / root_a + sign * (y / of_b.scale / root_b);
            side * side
        })
    };
    Ok((2.0 * squares(-1.0).sqrt().atan2(squares(1.0).sqrt())).to_degrees())
}

/// A vector's length, as scale · √squares.
struct Length {
    scale: f64,
    squares: f64,
}

fn lengths<T: Copy + Into<f64>>(a: &[T], b: &[T]) -> Result<(Length, Length)> {
    same_length(a, b)?;
    let of_a = length(a, "the first vector", "a component of the first vector")?;
    Ok((of_a, length(b, "the second vector", "a component of the second vector")?))
}

fn length<T: Copy + Into<f64>>(v: &[T], name: &'static str, part: &'static str) -> Result<Length> {
    let squares = sum_terms(v, v, |x, _| x * x);
    // Within this range the product of two such sums neither overflows nor loses digits.
    if (1e-140..1e140).contains(&squares) {
        return Ok(Length { scale: 1.0, squares });
    }
    all_finite(part, v)?;
    let scale = v.iter().map(|&x| x.into().abs()).fold(0.0, f64::max);
    if scale == 0.0 {
        let must = "non-zero, for without a length it has no direction: leave such items out";
        return Err(Error::parameter(name, "all zeros", must));
    }
    Ok(Length { scale, squares: sum_terms(v, v, |x, _| (x / scale) * (x / scale)) })
}
