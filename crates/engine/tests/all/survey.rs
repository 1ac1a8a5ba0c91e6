//! What is said of a collection before a run, against what is true of it.

use nearkin_engine::amplify::Bands;
use nearkin_engine::item::Texts;
use nearkin_engine::measure::jaccard;
use nearkin_engine::plan::{Survey, sample, survey};
use nearkin_engine::settings::Settings;

/// 1,200 texts: families of one to six, the later members with more words changed, and 30 copies of one.
fn texts() -> Vec<String> {
    let mut state = 88_172_645_463_325_252u64;
    let mut below = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let mut texts = vec!["the same notice stands in front of thirty of the texts".to_owned(); 30];
    while texts.len() < 1200 {
        let mut words: Vec<u64> = (0..60).map(|_| below(3000)).collect();
        for _ in 0..=below(6) {
            texts.push(words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" "));
            for _ in 0..2 {
                words[below(60) as usize] = below(3000);
            }
        }
    }
    texts
}

fn look(texts: &[String], drawn: usize, settings: &Settings) -> Survey {
    let source = Texts(texts);
    let sample = sample(&source, drawn, settings.seed).unwrap();
    survey(&source, &sample, settings).unwrap()
}

/// Similarities of all pairs.
fn all_pairs(texts: &[String], settings: &Settings) -> Vec<f64> {
    let sets: Vec<Vec<u64>> = texts.iter().map(|text| settings.elements(text)).collect();
    let pairs = (0..sets.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| jaccard::similarity(&sets[a], &sets[b])).collect()
}

#[test]
fn every_item_against_every_other_is_the_truth() {
    let (texts, settings) = (texts(), Settings { threshold: 0.5, ..Settings::default() });
    let bands = Bands { count: 20, rows: 5 };
    let pairs = all_pairs(&texts, &settings);
    let survey = look(&texts, 5000, &settings);
    assert!(survey.is_complete());
    let forecast = survey.forecast(&|s| bands.probability(s));
    let similar = pairs.iter().filter(|&&s| s >= 0.5).count();
    assert!(similar > 1000);
    assert!((forecast.similar.value - similar as f64).abs() < 1e-6);
    assert!(forecast.similar.error < 1e-6 && forecast.candidates.error < 1e-6);
    let truth = bands.expected(&pairs, 0.5);
    for (forecast, truth) in [
        (forecast.missed, truth.missed),
        (forecast.wasted, truth.wasted),
        (forecast.candidates, truth.candidates),
    ] {
        // Similarities are rounded to steps of a thousandth, and the curve's slope is below 3.6.
        assert!((forecast.value - truth).abs() < 0.02 * truth, "{forecast:?} {truth}");
    }
    let histogram = survey.histogram(20);
    for (part, &count) in histogram.iter().enumerate() {
        let truth = pairs.iter().filter(|&&s| s > 0.0 && ((s * 20.0) as usize).min(19) == part);
        assert!((count - truth.count() as f64).abs() < 1e-6);
    }
}

/// Over 200 seeds: the mean is the truth within four of its own standard errors (chance to fail without a
/// bug 10⁻⁴), and the errors stated are as large as those seen, within a quarter (200 errors tell their
/// spread to 5 %).
#[test]
fn a_sample_is_right_on_average_and_knows_how_far_off_it_is() {
    let texts = texts();
    let truth =
        all_pairs(&texts, &Settings::default()).iter().filter(|&&s| s >= 0.8).count() as f64;
    let (mut off, mut square, mut stated) = (0.0, 0.0, 0.0);
    let seeds = 200;
    for seed in 1..=seeds {
        let settings = Settings { seed, ..Settings::default() };
        let similar = look(&texts, 200, &settings).forecast(&|s| s).similar;
        off += similar.value - truth;
        square += (similar.value - truth).powi(2);
        stated += similar.error.powi(2);
    }
    let n = seeds as f64;
    let spread = (square / n).sqrt();
    assert!((off / n).abs() < 4.0 * spread / n.sqrt(), "{} off {truth}", off / n);
    let ratio = (stated / n).sqrt() / spread;
    assert!((0.75..1.25).contains(&ratio), "stated {ratio} times what was seen");
}

#[test]
fn nothing_and_next_to_nothing_can_be_looked_at() {
    let settings = Settings::default();
    for texts in [vec![], vec!["one".to_owned()], vec![String::new(), String::new()]] {
        let forecast = look(&texts, 10, &settings).forecast(&|s| s);
        assert_eq!((forecast.similar.value, forecast.candidates.value), (0.0, 0.0));
    }
}

/// Beyond some million records those compared with are drawn as well; 600,000 pairs of twins. One estimate in
/// 10,000 is four standard errors off, and the seed is fixed.
#[test]
fn of_millions_some_are_compared() {
    let texts: Vec<String> =
        (0..1_200_000).map(|n| format!("twins number {} have nothing to say", n / 2)).collect();
    let survey = look(&texts, 1000, &Settings::default());
    assert!((1_040_000..1_060_000).contains(&survey.compared), "{}", survey.compared);
    let similar = survey.forecast(&|s| s).similar;
    assert!((similar.value - 600_000.0).abs() < 4.0 * similar.error, "{similar:?}");
    // One in eight twins is not among those compared: 600,000·√(0.126 / 0.874 / 1000).
    assert!((4_000.0..12_000.0).contains(&similar.error), "{similar:?}");
}

#[test]
fn threads_change_nothing() {
    let texts = texts();
    let counts = [1, 4].map(|threads| {
        look(&texts, 100, &Settings { threads, ..Settings::default() }).histogram(1000)
    });
    assert_eq!(counts[0], counts[1]);
}
