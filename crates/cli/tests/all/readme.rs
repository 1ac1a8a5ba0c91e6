//! The README's first command does what the README says.

use std::fs;
use std::path::Path;

use crate::common::Place;

#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown = readme
        .split("```\n  24  items read")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    // The last line has the time in it.
    let shown = format!("  24  items read{}", shown.rsplit_once("; took").unwrap().0);
    let place = Place::new();
    let news = root.join("examples/news");
    let outcome = place.ok(&format!("dedup {} -o kept.jsonl", news.display()));
    assert!(outcome.stderr.starts_with(&shown), "{}\n{shown}", outcome.stderr);
    assert_eq!(place.read("kept.jsonl").lines().count(), 17);
}
