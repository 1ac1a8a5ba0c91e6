//! The chances that random lines and hyperplanes agree on two points, as functions of their distance.
//!
//! Two points at distance c, projected on a line cut into stretches of width w at a random place, fall into the
//! same stretch with probability 1 − t/w when their projections are t ≤ w apart. What is left is the distribution
//! of t = c·|X|, where X is the line's random component along the way between the points:
//!
//! - normal components ([`gaussian_line`]; X is normal) and Cauchy components ([`cauchy_line`]; X is Cauchy, c is
//!   the L1 distance): Datar, Immorlica, Indyk and Mirrokni, *Locality-sensitive hashing scheme based on p-stable
//!   distributions*, 2004;
//! - a line of uniformly random direction in d dimensions ([`unit_line`]), of which *Mining of Massive Datasets*,
//!   3.7.4, draws the case of two; X has density proportional to (1 − x²)^((d−3)/2).

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, PI};

/// The chance that a line with normal components agrees on points at this Euclidean distance.
///
/// 1 − 2Φ(−w/c) − √(2/π)·(c/w)·(1 − exp(−w²/2c²))
pub fn gaussian_line(distance: f64, width: f64) -> f64 {
    if distance <= 0.0 {
        return 1.0;
    }
    let u = width / distance;
    if u < 0.01 {
        // The terms above cancel; this series is then right to 10⁻¹⁰ of its value.
        return u / (2.0 * PI).sqrt() * (1.0 - u * u / 12.0);
    }
    let lost = (2.0 / PI).sqrt() / u * -(-u * u / 2.0).exp_m1();
    (1.0 - 2.0 * normal_below(-u) - lost).clamp(0.0, 1.0)
}

/// The chance that a line with Cauchy components agrees on points at this L1 distance.
///
/// (2/π)·arctan(w/c) − (c/πw)·ln(1 + (w/c)²)
pub fn cauchy_line(distance: f64, width: f64) -> f64 {
    if distance <= 0.0 {
        return 1.0;
    }
    let u = width / distance;
    (FRAC_2_PI * u.atan() - (u * u).ln_1p() / (PI * u)).clamp(0.0, 1.0)
}

/// The chance that a line of uniformly random direction in `dimension` dimensions agrees on points at this
/// Euclidean distance.
///
/// With x = sin φ: ∫ cos^(d−2) φ · (1 − (c/w) sin φ) dφ from 0 to where c·sin φ = w, over ∫ cos^(d−2) φ dφ up to π/2.
pub fn unit_line(distance: f64, width: f64, dimension: usize) -> f64 {
    if distance <= 0.0 {
        return 1.0;
    }
    let ratio = distance / width;
    if dimension <= 1 {
        return (1.0 - ratio).max(0.0);
    }
    let end = (1.0 / ratio).min(1.0).asin();
    let power = dimension as f64 - 2.0;
    let sine = (1.0 - end.cos().powf(power + 1.0)) / (power + 1.0);
    let whole = cosine_power(FRAC_PI_2, power);
    ((cosine_power(end, power) - ratio * sine) / whole).clamp(0.0, 1.0)
}

/// The chance that the component of a uniformly random direction along a given one is below `x`.
pub(super) fn unit_below(x: f64, dimension: usize) -> f64 {
    if dimension <= 1 {
        return if x <= -1.0 {
            0.0
        } else if x <= 1.0 {
            0.5
        } else {
            1.0
        };
    }
    let power = dimension as f64 - 2.0;
    let part = cosine_power(x.clamp(-1.0, 1.0).abs().asin(), power);
    0.5 + 0.5 * x.signum() * part / cosine_power(FRAC_PI_2, power)
}

/// The chance that a hyperplane through the origin does not part vectors at this angle, in degrees.
pub fn hyperplane(degrees: f64) -> f64 {
    (1.0 - degrees / 180.0).clamp(0.0, 1.0)
}

/// The distance at which a chance that falls with the distance reaches `probability`: the largest, within
/// 10⁻¹² of it, at which the chance is not below. Infinite where the chance never falls that low.
pub fn distance_at(probability: f64, chance: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1e-300;
    while chance(high) >= probability {
        high *= 2.0;
        if high > 1e300 {
            return f64::INFINITY;
        }
    }
    let mut low = high / 2.0;
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if chance(middle) >= probability { low = middle } else { high = middle }
    }
    low
}

/// Φ(x), the chance that a standard normal number is below x, with a relative error below 10⁻¹³.
pub fn normal_below(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
    if x.abs() < 3.0 {
        // ½ + φ(x)·(x + x³/3 + x⁵/(3·5) + …)
        let (mut sum, mut term, mut odd) = (x, x, 1.0);
        while f64::abs(term) > 1e-17 * f64::abs(sum) {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        return 0.5 + density * sum;
    }
    // Laplace's continued fraction for the tail: φ(x) / (x + 1/(x + 2/(x + 3/(x + …))))
    let y = x.abs();
    let fraction = (1..=80).rev().fold(y, |below, i| y + f64::from(i) / below);
    let tail = density / fraction;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// The x for which [`normal_below`] is `probability`, which is above 0 and below 1.
///
/// Newton's steps from 0: Φ bends downwards above 0, so that they never overshoot, and upwards below.
pub(super) fn normal_at(probability: f64) -> f64 {
    let mut x = 0.0f64;
    for _ in 0..60 {
        let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
        let step = (probability - normal_below(x)) / density;
        x += step;
        if step.abs() < 1e-10 {
            break;
        }
    }
    x
}

/// ∫ cos^power φ dφ from 0 to `end` ≤ π/2, by Gauss and Legendre with five points in each of 16 parts.
fn cosine_power(end: f64, power: f64) -> f64 {
    const PLACES: [f64; 3] = [0.0, 0.538_469_310_105_683_1, 0.906_179_845_938_664];
    const WEIGHTS: [f64; 3] =
        [0.568_888_888_888_888_9, 0.478_628_670_499_366_5, 0.236_926_885_056_189_1];
    const PARTS: u32 = 16;
    // Beyond this the integrand is below 10⁻¹⁸ of what it is at 0.
    let end = end.min((83.0 / power.max(1e-9)).sqrt());
    let half = end / f64::from(2 * PARTS);
    let at = |x: f64| x.cos().max(0.0).powf(power);
    let part = |i: u32| {
        let middle = half * f64::from(2 * i + 1);
        let sides = |j: usize| at(middle - half * PLACES[j]) + at(middle + half * PLACES[j]);
        WEIGHTS[0] * at(middle) + WEIGHTS[1] * sides(1) + WEIGHTS[2] * sides(2)
    };
    half * (0..PARTS).map(part).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_has_its_known_values() {
        let known = [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-1.959_963_984_540_054, 0.025),
            (-2.999_999, 0.001_349_902_463_484_986),
            (-3.0, 0.001_349_898_031_630_094_6),
            (-8.0, 6.220_960_574_271_785e-16),
        ];
        for (x, below) in known {
            assert!((normal_below(x) / below - 1.0).abs() < 1e-12, "{x}: {}", normal_below(x));
            assert!((normal_at(below) - x).abs() < 1e-8, "{x}");
        }
    }

    /// Wallis: ∫ cosⁿ from 0 to π/2 is (n − 1)/n times that of n − 2.
    #[test]
    fn powers_of_the_cosine_are_integrated() {
        let (mut even, mut odd) = (FRAC_PI_2, 1.0);
        for n in 0..2000u32 {
            let known = if n % 2 == 0 { even } else { odd };
            let found = cosine_power(FRAC_PI_2, f64::from(n));
            assert!((found / known - 1.0).abs() < 1e-11, "{n}: {found} {known}");
            let next = f64::from(n + 1) / f64::from(n + 2);
            if n % 2 == 0 { even *= next } else { odd *= next }
        }
    }

    /// In many dimensions a component is nearly normal with variance 1/d.
    #[test]
    fn directions_become_normal_in_many_dimensions() {
        for ratio in [0.1, 0.5, 1.0, 3.0, 20.0] {
            let unit = unit_line(ratio * 1000.0, 1000.0 / 1e6f64.sqrt(), 1_000_000);
            let normal = gaussian_line(ratio * 1000.0, 1000.0);
            assert!((unit - normal).abs() < 1e-6, "{ratio}: {unit} {normal}");
        }
        let x = 0.7 / 1e6f64.sqrt();
        assert!((unit_below(x, 1_000_000) - normal_below(0.7)).abs() < 1e-6);
    }

    #[test]
    fn the_series_meets_the_formula() {
        let (a, b) = (gaussian_line(1.0, 0.009_999_999), gaussian_line(1.0, 0.010_000_001));
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
        for p in [0.01, 0.3, 0.9, 0.999] {
            let distance = distance_at(p, |c| gaussian_line(c, 4.0));
            assert!((gaussian_line(distance, 4.0) - p).abs() < 1e-9, "{p}");
        }
        assert_eq!(distance_at(0.0, |c| gaussian_line(c, 4.0)), f64::INFINITY);
    }
}
