//! How many bands of how many rows datasketch would take for a threshold.
//!
//! It weighs two areas under the curve 1 − (1 − s^r)^b, that of pairs found below the threshold and that of pairs
//! missed above it, and takes the first of all b and r whose sum is smallest. Where a weight is 0 or the threshold at
//! an end, many sums are nearly or exactly alike, and which is the first depends on how the areas are summed to the
//! last bit. So they are summed as there: by the Gauss–Kronrod rule of 21 points, halving the worst part until the
//! error is small enough (QUADPACK: Piessens, de Doncker-Kapenga, Überhuber and Kahaner 1983).

use pyo3::prelude::*;

/// Bands and rows of the smallest weighted sum of errors.
#[pyfunction]
pub(crate) fn best_bands(
    py: Python<'_>,
    threshold: f64,
    num_perm: usize,
    false_positive_weight: f64,
    false_negative_weight: f64,
) -> (usize, usize) {
    py.detach(|| {
        let mut best = (0, 0);
        let mut least = f64::INFINITY;
        for bands in 1..=num_perm {
            for rows in 1..=num_perm / bands {
                let (b, r) = (bands as f64, rows as f64);
                let missed = |s: f64| (1.0 - s.powf(r)).powf(b);
                let found_below = integral(0.0, threshold, |s| 1.0 - missed(s));
                let missed_above = integral(threshold, 1.0, |s| 1.0 - (1.0 - missed(s)));
                let error =
                    found_below * false_positive_weight + missed_above * false_negative_weight;
                if error < least {
                    least = error;
                    best = (bands, rows);
                }
            }
        }
        best
    })
}

/// The error that an integral may have, absolute or of its value.
const TOLERANCE: f64 = 1.49e-8;
const PARTS: usize = 50;

/// A part of an integral: its ends, its value and how wrong that may be.
#[derive(Clone, Copy)]
struct Part {
    from: f64,
    to: f64,
    value: f64,
    error: f64,
    /// How far the function is from its mean, summed.
    spread: f64,
}

fn integral(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let first = part(from, to, &f);
    let mut parts = vec![first];
    let (mut value, mut error) = (first.value, first.error);
    let enough = |value: f64, error: f64| error <= TOLERANCE.max(TOLERANCE * value.abs());
    // An error that is all of the spread says only that the rule of ten points saw nothing.
    let mut done = error == 0.0 || error != first.spread && enough(value, error);
    while !done && parts.len() < PARTS {
        let worst = (1..parts.len())
            .fold(0, |worst, i| if parts[i].error > parts[worst].error { i } else { worst });
        let whole = parts[worst];
        let middle = 0.5 * (whole.from + whole.to);
        let (left, right) = (part(whole.from, middle, &f), part(middle, whole.to, &f));
        error += left.error + right.error - whole.error;
        // The worse half takes the place of the whole, the other the last: the order of the sum below.
        let (worse, other) = if right.error > left.error { (right, left) } else { (left, right) };
        parts[worst] = worse;
        parts.push(other);
        value = parts.iter().map(|part| part.value).sum();
        done = enough(value, error);
    }
    value
}

/// Points of the Kronrod rule from the end to the middle; every other is one of Gauss's.
const POINTS: [f64; 11] = [
    0.995_657_163_025_808_1,
    0.973_906_528_517_171_7,
    0.930_157_491_355_708_2,
    0.865_063_366_688_984_5,
    0.780_817_726_586_416_9,
    0.679_409_568_299_024_4,
    0.562_757_134_668_604_7,
    0.433_395_394_129_247_2,
    0.294_392_862_701_460_2,
    0.148_874_338_981_631_22,
    0.0,
];
const WEIGHTS: [f64; 11] = [
    0.011_694_638_867_371_874,
    0.032_558_162_307_964_725,
    0.054_755_896_574_351_995,
    0.075_039_674_810_919_96,
    0.093_125_454_583_697_6,
    0.109_387_158_802_297_64,
    0.123_491_976_262_065_84,
    0.134_709_217_311_473_34,
    0.142_775_938_577_060_09,
    0.147_739_104_901_338_49,
    0.149_445_554_002_916_9,
];
const GAUSS_WEIGHTS: [f64; 5] = [
    0.066_671_344_308_688_14,
    0.149_451_349_150_580_6,
    0.219_086_362_515_982_04,
    0.269_266_719_309_996_35,
    0.295_524_224_714_752_87,
];

/// The integral over a part, by the rule of 21 points, and its error by comparison with that of ten.
fn part(from: f64, to: f64, f: impl Fn(f64) -> f64) -> Part {
    let (centre, half) = (0.5 * (from + to), 0.5 * (to - from));
    let at_centre = f(centre);
    let mut pairs = [(0.0, 0.0); 10];
    let (mut gauss, mut kronrod) = (0.0, WEIGHTS[10] * at_centre);
    let mut absolute = kronrod.abs();
    // Gauss's points first: sums depend on the order.
    for i in (1..10).step_by(2).chain((0..10).step_by(2)) {
        let offset = half * POINTS[i];
        let (below, above) = (f(centre - offset), f(centre + offset));
        pairs[i] = (below, above);
        if i % 2 == 1 {
            gauss += GAUSS_WEIGHTS[i / 2] * (below + above);
        }
        kronrod += WEIGHTS[i] * (below + above);
        absolute += WEIGHTS[i] * (below.abs() + above.abs());
    }
    let mean = 0.5 * kronrod;
    let mut spread = WEIGHTS[10] * (at_centre - mean).abs();
    for (weight, (below, above)) in WEIGHTS.iter().zip(pairs) {
        spread += weight * ((below - mean).abs() + (above - mean).abs());
    }
    let (absolute, spread) = (absolute * half.abs(), spread * half.abs());
    let mut error = ((kronrod - gauss) * half).abs();
    if spread != 0.0 && error != 0.0 {
        error = spread * (200.0 * error / spread).powf(1.5).min(1.0);
    }
    if absolute > f64::MIN_POSITIVE / (50.0 * f64::EPSILON) {
        error = error.max(50.0 * f64::EPSILON * absolute);
    }
    Part { from, to, value: kronrod * half, error, spread }
}
