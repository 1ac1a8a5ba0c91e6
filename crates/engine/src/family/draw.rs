//! Random numbers that belong to a coordinate and a function, drawn when they are asked for.
//!
//! A coordinate, a function's number and a seed come in; a number goes out, always the same one. So a function of
//! vectors with any number of coordinates (words by their hashes, for example) needs no table, and a function of a few
//! hundred coordinates can be kept as a table that says the same. The numbers decide which items share a bucket, so they
//! must not depend on the machine: only operations are used that IEEE 754 fixes to the last bit, and the logarithm is
//! our own.
//!
//! Normal numbers come from the polar method (Marsaglia and Bray 1964).

use super::hash::{SplitMix, mix64};

/// +1 or −1, each with probability ½.
pub fn sign(coordinate: u64, function: u64, seed: u64) -> f32 {
    if word(coordinate, function, seed) >> 63 == 0 { 1.0 } else { -1.0 }
}

/// A number from the standard normal distribution.
pub fn gaussian(coordinate: u64, function: u64, seed: u64) -> f32 {
    let (x, _, square) = in_disc(coordinate, function, seed);
    (x * (-2.0 * ln(square) / square).sqrt()) as f32
}

/// A number from the standard Cauchy distribution: the slope to a random point of a disc.
pub fn cauchy(coordinate: u64, function: u64, seed: u64) -> f32 {
    let (x, y, _) = in_disc(coordinate, function, seed);
    // The slope is not finite in f32 where x is next to nothing: once in 10³⁸ draws.
    ((y / x) as f32).clamp(f32::MIN, f32::MAX)
}

/// A number from 0 up to, not including, 1, that belongs to a function alone.
pub fn fraction(function: u64, seed: u64) -> f64 {
    // Another seed than that of the coordinates, so that it is independent of their numbers.
    unit(mix64(function, seed ^ 0x6f66_6673_6574))
}

/// A place in 0..`places` that belongs to a function alone.
pub(crate) fn place(function: u64, seed: u64, places: u64) -> u64 {
    ((u128::from(mix64(function, seed)) * u128::from(places)) >> 64) as u64
}

fn word(coordinate: u64, function: u64, seed: u64) -> u64 {
    mix64(coordinate, mix64(function, seed))
}

/// The upper 53 bits as a fraction.
pub(crate) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

/// A random point of the unit disc without its centre, and its squared distance from it.
fn in_disc(coordinate: u64, function: u64, seed: u64) -> (f64, f64, f64) {
    let mut words = SplitMix::new(word(coordinate, function, seed));
    loop {
        // Neither is ever 0: half a step is added.
        let mut side = || 2.0 * unit(words.draw()) - 1.0 + 1.0 / (1u64 << 53) as f64;
        let (x, y) = (side(), side());
        let square = x * x + y * y;
        if square < 1.0 {
            return (x, y, square);
        }
    }
}

/// The natural logarithm of a positive normal number, within two units of the last place.
///
/// With x = 2^e · m, m near 1, and t = (m − 1) / (m + 1): ln x = e·ln 2 + 2·(t + t³/3 + t⁵/5 + …)
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if m > std::f64::consts::SQRT_2 {
        m /= 2.0;
        exponent += 1;
    }
    let t = (m - 1.0) / (m + 1.0);
    // |t| ≤ 0.172, so that the term after these is below 10⁻¹⁸.
    const ODD: [f64; 12] = [23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0];
    let square = t * t;
    let series = ODD.iter().fold(0.0, |sum, odd| sum * square + 1.0 / odd);
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * t * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_right() {
        let mut words = SplitMix::new(3);
        for _ in 0..10_000 {
            let x = unit(words.draw()) * 2.0 + 1e-12;
            assert!((ln(x) - x.ln()).abs() <= 1e-15 * x.ln().abs().max(0.3), "{x}");
        }
        assert_eq!(ln(1.0), 0.0);
    }

    /// Tables and stored sketches depend on these.
    #[test]
    fn values_are_pinned() {
        let drawn = [0, 1, u64::MAX].map(|x| (sign(x, 5, 7), gaussian(x, 5, 7), cauchy(x, 5, 7)));
        assert_eq!(drawn, PINNED);
    }

    const PINNED: [(f32, f32, f32); 3] = [
        (-1.0, -0.749_654_4, 2.297_268),
        (-1.0, -2.153_247_6, -0.066_672_28),
        (1.0, -0.363_851_04, 0.838_934_84),
    ];

    /// Moments of 10⁶ normal numbers: mean, variance and kurtosis within 5 standard errors (1, √2 and √96
    /// over 1000), which chance passes in fewer than 2 of 10⁶ seeds; quartiles of the Cauchy numbers are ±1.
    #[test]
    fn numbers_have_their_distribution() {
        let n = 1_000_000u64;
        let (mut sums, mut inside) = ([0.0; 4], 0.0);
        for i in 0..n {
            let x = f64::from(gaussian(i % 1000, i / 1000, 1));
            for (sum, power) in sums.iter_mut().zip([x, x * x, x * x * x, x * x * x * x]) {
                *sum += power / n as f64;
            }
            inside += f64::from(u8::from(cauchy(i % 1000, i / 1000, 1).abs() < 1.0)) / n as f64;
        }
        assert!(sums[0].abs() < 0.005 && (sums[1] - 1.0).abs() < 0.0071, "{sums:?}");
        assert!((sums[3] - 3.0).abs() < 0.049, "{sums:?}");
        assert!((inside - 0.5).abs() < 0.0025, "{inside}");
    }
}
