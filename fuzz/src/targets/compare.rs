//! Two texts, shown side by side.

use nearkin_cli::engine::{ComparisonView, compare as told};
use nearkin_engine::options::Options;
use serde_json::Value;

use super::choices;

const OPTIONS: [&str; 8] = [
    "{}",
    r#"{"shingle":"words:1"}"#,
    r#"{"shingle":"chars:9"}"#,
    r#"{"shingle":"chars:1","ignore_case":true,"space":"drop"}"#,
    r#"{"shingle":"stopwords"}"#,
    r#"{"normal_form":"nfkc"}"#,
    r#"{"shingle":"words:3","hash_bits":"32"}"#,
    r#"{"shingle":"chars:3","normal_form":"nfc","space":"keep"}"#,
];

/// Every number fits, and nothing of a text reaches the terminal that it should not.
pub(crate) fn compare(data: &[u8]) {
    let ([flags], data) = choices(data);
    let texts = String::from_utf8_lossy(data);
    let (a, b) = texts.split_once('\u{1}').unwrap_or((&texts, &texts));
    let options = Options::from_json(OPTIONS[usize::from(flags & 7)]).expect("good options");
    let passages = flags & 8 > 0 && options.normal_form.is_none();
    let least_words = (flags & 16 > 0).then_some(u32::from(flags >> 5) + 1);
    let view = |json| ComparisonView { json, passages, least_words, ..ComparisonView::default() };
    let told = |json, texts| told(&options, view(json), ["a", "b"], texts).expect("good options");
    let facts: Value = serde_json::from_str(&told(true, [a, b])).expect("JSON");
    let turned: Value = serde_json::from_str(&told(true, [b, a])).expect("JSON");
    for name in ["jaccard", "bag", "bag_sum"] {
        let value = facts[name].as_f64().expect("a number");
        assert!((0.0..=1.0).contains(&value), "{name} is {value}");
        assert_eq!(facts[name], turned[name], "{name} is the same from both sides");
    }
    for name in ["edit", "edit_mutation", "hamming", "l1"] {
        assert_eq!(facts[name], turned[name], "{name} is the same from both sides");
    }
    if a == b {
        assert_eq!(facts["edit"], 0);
        let any = facts["shingles"]["a"].as_u64() > Some(0);
        assert_eq!(facts["jaccard"].as_f64(), Some(if any { 1.0 } else { 0.0 }));
    }
    let text = told(false, [a, b]);
    let strange = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!text.contains(strange), "a control character: {text:?}");
}
