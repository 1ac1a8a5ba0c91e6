//! The work of a run beside the number of its items.

use crate::common::Place;
use crate::memory::collection;

/// Families of four texts, which have nothing in common with those of other families. So each item has at most three others to
/// meet, which makes 1.5 pairs per item; and the first two changed versions are at 111/121 and 106/126 or more of the first,
/// above 0.8, which makes 0.5 (less one in a hundred, which may be missed).
#[test]
fn s9_1_work_grows_as_the_number_of_items() {
    for items in [1_000, 4_000, 16_000] {
        let place = Place::new();
        place.write("in.jsonl", collection(items / 4));
        place.ok("pairs in.jsonl --approximate -q -o out.csv --stats stats.json");
        let stats: serde_json::Value = serde_json::from_str(&place.read("stats.json")).unwrap();
        let per_item = |what: &str| stats[what].as_f64().unwrap() / items as f64;
        assert_eq!(per_item("items"), 1.0);
        for work in ["candidates", "verified"] {
            assert!((0.49..=1.5).contains(&per_item(work)), "{work}: {} per item", per_item(work));
        }
    }
}
