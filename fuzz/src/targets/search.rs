//! Whole searches of a few texts, against every pair compared by the definition.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use nearkin_cli::engine;
use nearkin_engine::observe::NoObserver;
use nearkin_engine::options::{Goal, Options};
use nearkin_engine::shingle::{Scratch, Shingling};

use super::files::is_of_another_kind;
use super::{choices, file};

const MEASURES: [&str; 4] = ["jaccard", "dice", "containment", "bag"];
const SHINGLES: [&str; 4] = ["words:1", "words:2", "chars:2", "chars:5"];
const THRESHOLDS: [f64; 4] = [0.25, 0.5, 0.8, 1.0];
/// More texts only take time.
const MOST: usize = 64;

/// Pairs with their similarities.
type Pairs = BTreeMap<(usize, usize), f64>;

/// Texts, one per line: an exact search finds the pairs that there are, and one by bands only such.
pub(crate) fn search(data: &[u8]) {
    let ([flags], data) = choices(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let texts: Vec<&str> =
        text.split_terminator('\n').map(|it| it.strip_suffix('\r').unwrap_or(it)).collect();
    if texts.len() > MOST {
        return;
    }
    let two_bits = |at: u8| usize::from(flags >> at & 3);
    let (measure, shingle) = (MEASURES[two_bits(0)], SHINGLES[two_bits(2)]);
    let threshold = THRESHOLDS[two_bits(4)];
    let by_bands = flags & 0x40 > 0 && measure != "containment";
    let way = if by_bands { r#""approximate":true,"audit":0"# } else { r#""exact":true"# };
    let options = format!(
        r#"{{"format":"txt","measure":"{measure}","shingle":"{shingle}","threshold":{threshold},"threads":1,{way}}}"#
    );
    let options = Options::from_json(&options).expect("good options");
    let input = [file(0, data).into()];
    let told = engine::search(Goal::Pairs, &options, &input, &[], &NoObserver);
    let ((_, batches), _) = match told {
        Ok(told) => told,
        Err(error) => {
            // A text may begin like a file of another kind.
            return assert!(is_of_another_kind(&format!("{error:?}")), "{error:?}");
        }
    };
    let mut found = Pairs::new();
    for batch in &batches {
        let [a, b] = [0, 1].map(|at| batch.column(at).as_primitive::<Int64Type>());
        let similarity = batch.column(2).as_primitive::<Float64Type>();
        for row in 0..batch.num_rows() {
            let pair = (a.value(row) as usize, b.value(row) as usize);
            assert!(found.insert(pair, similarity.value(row)).is_none(), "{pair:?} twice");
        }
    }
    let mut truth = pairs(&texts, measure, &shingle.parse().expect("a shingling"), threshold);
    if by_bands {
        truth.retain(|pair, _| found.contains_key(pair));
    }
    assert_eq!(found, truth, "{measure} of {shingle} from {threshold}: {texts:?}");
}

fn pairs(texts: &[&str], measure: &str, shingling: &Shingling, threshold: f64) -> Pairs {
    let bags: Vec<BTreeMap<u64, u32>> = texts
        .iter()
        .map(|text| {
            let mut elements = Vec::new();
            shingling.shingle_or_whole(text, &mut Scratch::default(), &mut elements);
            let mut bag = BTreeMap::new();
            for element in elements {
                let count = bag.entry(element).or_default();
                *count = if measure == "bag" { *count + 1 } else { 1 };
            }
            bag
        })
        .collect();
    let size = |bag: &BTreeMap<u64, u32>| f64::from(bag.values().sum::<u32>());
    let mut pairs = Pairs::new();
    for (at, a) in bags.iter().enumerate() {
        for (other, b) in bags.iter().enumerate().skip(at + 1) {
            let shared = a.iter().map(|(element, &n)| n.min(b.get(element).copied().unwrap_or(0)));
            let shared = f64::from(shared.sum::<u32>());
            let similarity = match measure {
                "dice" => 2.0 * shared / (size(a) + size(b)),
                "containment" => shared / size(a).min(size(b)),
                _ => shared / (size(a) + size(b) - shared),
            };
            if !a.is_empty() && !b.is_empty() && similarity >= threshold {
                pairs.insert((at, other), similarity);
            }
        }
    }
    pairs
}
