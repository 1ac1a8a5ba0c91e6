//! Options as JSON: what Python sends, and what Spark's executors get.

use serde_json::{Map, Value};

use super::Options;
use crate::{Error, Result};

/// The keys of the JSON object, in order.
const NAMES: &[&str] = &[
    "text",
    "id",
    "positions",
    "format",
    "include",
    "exclude",
    "no_ignore",
    "encoding",
    "delimiter",
    "no_header",
    "on_error",
    "as",
    "group",
    "element",
    "count",
    "rating",
    "ratings",
    "element_groups",
    "edges",
    "questions",
    "grid",
    "digits",
    "measure",
    "threshold",
    "within",
    "at_most",
    "at_least",
    "recall",
    "exact",
    "approximate",
    "filters",
    "audit",
    "bands",
    "rows",
    "seed",
    "and_or",
    "estimate",
    "probes",
    "shingle",
    "ignore_case",
    "space",
    "normal_form",
    "stop_words",
    "hash_bits",
    "threads",
    "memory",
    "max_item",
    "temp",
    "keep",
    "chains",
    "no_chains",
    "k",
    "against_text",
    "against_id",
    "words",
    "share",
    "most_tests",
    "test_text",
    "test_id",
];

impl Options {
    /// Reads a JSON object. Keys with null or false are as if they were not there.
    ///
    /// # Errors
    /// When it is no object, has an unknown key, or a value that an option cannot have.
    pub fn from_json(text: &str) -> Result<Self> {
        let object: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
            Error::parameter("options", text, format!("a JSON object: {error}"))
        })?;
        let whole = serde_json::from_value(Value::Object(object.clone()));
        // One at a time, to know which one it is.
        whole.map_err(|error| {
            let wrong = object.into_iter().find_map(|(key, value)| wrong_value(key, value).err());
            wrong.unwrap_or_else(|| Error::parameter("options", text, error.to_string()))
        })
    }

    /// The options that were given, as a JSON object.
    pub fn to_json(&self) -> String {
        let mut object = match serde_json::to_value(self) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(), // never: every option has a form
        };
        object.retain(|_, value| !matches!(value, Value::Null | Value::Bool(false)));
        Value::Object(object).to_string()
    }
}

/// An error where a key or its value cannot be used.
fn wrong_value(key: String, value: Value) -> Result<()> {
    let Some(name) = NAMES.iter().find(|name| **name == key) else {
        return Err(Error::parameter("options", format!("{key:?}"), "one that there is"));
    };
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let one = Value::Object(Map::from_iter([(key, value)]));
    match serde_json::from_value::<Options>(one) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let must = match text.rsplit_once(", expected ").map_or(&*text, |(_, must)| must) {
                "usize" | "u64" => "a whole number",
                "a boolean" => "true or false",
                "a string" => "a text",
                must => must,
            };
            Err(Error::parameter(name, shown, must))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Edges, Goal, ItemKind, MeasureName};
    use crate::read::{Format, OnError};
    use crate::shingle::HashBits;

    /// One of everything that may be given.
    const ALL: &str = r#"{
        "text": "body", "id": "key", "positions": true, "format": "csv", "include": ["*.py", "src/**"],
        "exclude": ["*.pyc"], "no_ignore": true, "encoding": "windows-1252", "delimiter": "::", "no_header": true,
        "on_error": "skip", "as": "bag", "group": "who", "element": "what", "count": "often", "rating": "stars",
        "ratings": "likes:3.5", "element_groups": "kinds.csv", "edges": "directed", "questions": ["q1", "q 2"], "grid": "10x18:30:5", "digits": "hex",
        "measure": "bag-sum", "threshold": 0.25, "within": "inf", "at_most": 0.75, "at_least": 2.0, "recall": 0.9, "exact": true,
        "approximate": true, "filters": "length,prefix", "audit": 0, "bands": 20, "rows": 5, "seed": 7,
        "and_or": "or(20, and(5, minhash))", "estimate": 100, "probes": 3, "shingle": "chars:9", "ignore_case": true,
        "space": "drop", "normal_form": "nfkc", "stop_words": "words.txt", "hash_bits": "32", "threads": 2,
        "memory": 33554432, "max_item": 4096, "temp": "/tmp", "keep": "max:date", "chains": true, "no_chains": true, "k": 3,
        "against_text": "prose", "against_id": "nr", "words": 8, "share": 0.5, "most_tests": 2, "test_text": "question", "test_id": "number"
    }"#;

    #[test]
    fn what_was_given_comes_back() {
        let options = Options::from_json(ALL).unwrap();
        assert_eq!(options.kind, Some(ItemKind::Bag));
        assert_eq!(options.within, Some(f64::INFINITY));
        assert_eq!(options.measure, Some(MeasureName::BagSum));
        let given: Value = serde_json::from_str(ALL).unwrap();
        let again: Value = serde_json::from_str(&options.to_json()).unwrap();
        assert_eq!(again, given);
        assert_eq!(Options::from_json(&options.to_json()).unwrap(), options);
        assert_eq!(Options::default().to_json(), "{}");
        assert_eq!(Options::from_json("{}").unwrap(), Options::default());
    }

    #[test]
    fn a_long_number_came_back_as_its_neighbour() {
        for within in ["6.266666665999999e75", "1.0663217222769008e19", "0.1"] {
            let options = Options::from_json(&format!("{{\"within\": {within}}}")).unwrap();
            assert_eq!(options.within, Some(within.parse().unwrap()));
            assert_eq!(Options::from_json(&options.to_json()).unwrap(), options);
        }
    }

    #[test]
    fn all_keys_are_known_by_name() {
        let Value::Object(object) = serde_json::to_value(Options::default()).unwrap() else {
            panic!("an object");
        };
        assert_eq!(object.keys().collect::<Vec<_>>(), NAMES);
        let Value::Object(object) = serde_json::from_str(ALL).unwrap() else {
            panic!("an object");
        };
        assert_eq!(object.keys().collect::<Vec<_>>(), NAMES);
    }

    #[test]
    fn values_are_taken_as_people_write_them() {
        let text = r#"{"threshold": "0.5", "within": null, "edges": true, "questions": "a,b",
            "filters": ["length", "prefix"], "hash_bits": 32, "memory": "4G", "exact": false, "format": "ndjson",
            "on_error": "stop", "measure": "l1.5"}"#;
        let options = Options::from_json(text).unwrap();
        assert_eq!((options.threshold, options.within), (Some(0.5), None));
        assert_eq!(options.edges, Some(Edges::Both));
        assert_eq!(options.questions, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(options.filters.unwrap().to_string(), "length,prefix");
        assert_eq!(options.hash_bits, Some(HashBits::ThirtyTwo));
        assert_eq!(options.memory, Some(4 << 30));
        assert_eq!((options.format, options.on_error), (Some(Format::Jsonl), Some(OnError::Stop)));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (text, message) in [
            (r#"{"treshold": 0.5}"#, "treshold"),
            (r#"{"threshold": "x"}"#, "`threshold` is x; it must be a number"),
            (r#"{"threshold": true}"#, "`threshold` is true; it must be a number"),
            (r#"{"threshold": {}}"#, "`threshold` is {}; it must be a number"),
            (r#"{"bands": -1}"#, "`bands` is -1; it must be a whole number"),
            (r#"{"bands": 1.5}"#, "`bands` is 1.5; it must be a whole number"),
            (r#"{"exact": 1}"#, "`exact` is 1; it must be true or false"),
            (r#"{"text": 1}"#, "`text` is 1; it must be a text"),
            (r#"{"space": "wide"}"#, "`space` is wide; it must be fold, drop or keep"),
            (r#"{"as": "words"}"#, "`as` is words; it must be text, set"),
            (r#"{"measure": "near"}"#, "`measure` is near; it must be jaccard"),
            (r#"{"memory": "1M"}"#, "`memory` is 1M; it must be at least"),
            (r#"{"keep": "last"}"#, "`keep` is last; it must be first, longest"),
            (r#"{"and_or": "or("}"#, "`and_or` is or("),
            (r#"{"questions": [1]}"#, "`questions` is [1]; it must be"),
            (r#"["exact"]"#, "JSON object"),
        ] {
            let told = Options::from_json(text).unwrap_err().to_string();
            assert!(told.contains(message), "{told}");
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_str::<Options>(r#"{"treshold": 0.5}"#).is_err());
    }

    #[test]
    fn contradictions_are_told_before_anything_runs() {
        let options = Options::from_json(r#"{"exact": true, "recall": 0.5}"#).unwrap();
        let told = options.settings(Goal::Pairs).unwrap_err().to_string();
        assert!(told.contains("recall") && told.contains("exact"), "{told}");
    }
}
