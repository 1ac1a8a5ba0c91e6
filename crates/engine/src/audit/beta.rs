//! The beta distribution: what Clopper and Pearson's interval and Student's t are made of.

/// The x at which the distribution function of Beta(a, b) reaches `probability`, for positive a and b. By Newton's steps, and
/// by halves where those lead out of what is known.
pub(super) fn quantile(probability: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let scale = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    let mut x = a / (a + b);
    // Halves alone tell all the digits that matter in sixty steps.
    for _ in 0..100 {
        let above = distribution(x, a, b, scale) - probability;
        *(if above < 0.0 { &mut low } else { &mut high }) = x;
        let density = (scale + (a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p()).exp();
        let step = x - above / density;
        let next = if step > low && step < high { step } else { 0.5 * (low + high) };
        let moved = (next - x).abs();
        x = next;
        if moved <= 1e-14 * x {
            break;
        }
    }
    x
}

/// The two-sided 95 % point of Student's t: if T has `freedom` degrees of freedom, then
/// freedom / (freedom + T²) is Beta(freedom / 2, 1/2).
pub(super) fn student(freedom: f64) -> f64 {
    let x = quantile(0.05, 0.5 * freedom, 0.5);
    (freedom * (1.0 - x) / x).sqrt()
}

/// The regularised incomplete beta function; `scale` is the logarithm of what it is divided by, Γ(a) Γ(b) / Γ(a + b),
/// turned over.
fn distribution(x: f64, a: f64, b: f64, scale: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let scale = scale + a * x.ln() + b * (-x).ln_1p();
    // The fraction converges fast on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        scale.exp() * fraction(x, a, b) / a
    } else {
        1.0 - scale.exp() * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction 1 / (1 + d₁ / (1 + d₂ / (1 + …))) of the incomplete beta function
/// (Abramowitz and Stegun, 26.5.8), from the front by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut c, mut d) = (1.0, f64::INFINITY, 1.0);
    // The number of terms grows with the root of a + b: some tens of thousands at 10⁹.
    for term in 1..200_000 {
        let m = f64::from(term / 2);
        let coefficient = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / away(1.0 + coefficient * d);
        c = away(1.0 + coefficient / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// ln Γ(x) for x > 0, by Stirling's series from 12 on.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 12.0 {
        shift += x.ln();
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scipy 1.17 (`special.betaincinv`, `stats.t.ppf`).
    #[test]
    fn quantiles_are_scipys() {
        for (probability, a, b, expected) in [
            (0.025, 0.3, 0.7, 7.600535816840e-06),
            (0.025, 1.0, 1.0, 2.500000000000e-02),
            (0.975, 1.0, 350.0, 1.048430803198e-02),
            (0.025, 349.0, 1.0, 9.894858094548e-01),
            (0.975, 12.5, 88.25, 1.947499175068e-01),
            (0.025, 4481.2, 709.8, 8.537865342956e-01),
            (0.975, 0.01, 5.0, 1.038688723886e-02),
            (0.025, 1000000.0, 2.5, 9.999935837744e-01),
            (0.975, 500000000.0, 500000000.0, 5.000309897516e-01),
            (0.05, 3.25, 0.5, 5.297640323105e-01),
            (0.025, 999999000.0, 1001.0, 9.999989360479e-01),
        ] {
            let found = quantile(probability, a, b);
            assert!(
                (found - expected).abs() < 1e-9 * expected.max(1e-3),
                "{a} {b}: {found} for {expected}"
            );
        }
    }

    #[test]
    fn students_t_is_scipys() {
        for (freedom, expected) in [
            (1.0, 12.7062047362),
            (2.0, 4.3026527297),
            (7.5, 2.3330396269),
            (30.0, 2.0422724563),
            (349.0, 1.9667845566),
            (13121.0, 1.9601448005),
        ] {
            assert!((student(freedom) - expected).abs() < 1e-7 * expected, "{freedom}");
        }
    }
}
