//! How many functions an estimate needs, and how many an OR should have.
//!
//! The precision wanted comes in, the number of functions goes out. With k functions the number of
//! agreements of a pair is binomial, and Chernoff's bound for falling below (1 − δ) of the mean is
//! exp(−δ²·k·s/2); it is below ε for every similarity s ≥ c when k > 2·ln(1/ε) / (δ²·c).

use crate::{Error, Result};

/// The smallest whole number of functions with which a pair of similarity s ≥ `c` is estimated at
/// (1 − `delta`)·s or more with a probability of at least 1 − `epsilon`.
///
/// # Errors
/// When `delta` or `epsilon` is not between 0 and 1, `c` is not above 0 and at most 1, or the
/// number passes 2³².
pub fn functions_needed(delta: f64, epsilon: f64, c: f64) -> Result<usize> {
    for (name, value) in [("delta", delta), ("epsilon", epsilon)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(Error::parameter(name, value, "above 0 and below 1"));
        }
    }
    if !(c > 0.0 && c <= 1.0) {
        return Err(Error::parameter("c", c, "above 0 and at most 1"));
    }
    let bound = 2.0 * (1.0 / epsilon).ln() / (delta * delta * c);
    if bound >= f64::from(u32::MAX) {
        let must = "larger (or c or epsilon must): this takes more than 2^32 functions";
        return Err(Error::parameter("delta", delta, must));
    }
    Ok(bound.floor() as usize + 1)
}

/// The number n of functions for which the OR of n errs least: its misses and its false candidates,
/// (1 − p1)ⁿ + 1 − (1 − p2)ⁿ, are fewest together. `p1` is the chance that one function agrees on a pair that belongs
/// together, `p2` that it does on another (*Mining of Massive Datasets*, exercise 3.8.5).
///
/// With a = −ln(1 − p1) and b = −ln(1 − p2) the sum falls up to n = ln(a/b) / (a − b), and rises from there on.
///
/// # Errors
/// When not 0 < `p2` < `p1` < 1.
pub fn best_or(p1: f64, p2: f64) -> Result<usize> {
    if !(p1 > 0.0 && p1 < 1.0) {
        return Err(Error::parameter("p1", p1, "above 0 and below 1"));
    }
    if !(p2 > 0.0 && p2 < p1) {
        return Err(Error::parameter("p2", p2, format!("above 0 and below p1, {p1}")));
    }
    let (a, b) = (-(-p1).ln_1p(), -(-p2).ln_1p());
    let least = ((a / b).ln() / (a - b)).floor().max(1.0);
    let errors = |n: f64| (-a * n).exp() - (-b * n).exp_m1();
    let best = if errors(least + 1.0) < errors(least) { least + 1.0 } else { least };
    Ok(best as usize)
}
