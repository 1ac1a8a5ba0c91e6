//! The README's first command does what the README says.

use crate::common::Place;
use crate::page;

#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let readme = page::read("README.md");
    let shown = readme
        .split("```\n  24  items read")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    // The last line has the time in it.
    let shown = format!("  24  items read{}", shown.rsplit_once("; took").unwrap().0);
    let place = Place::new();
    let news = page::root().join("examples/news");
    let outcome = place.ok(&format!("dedup {} -o kept.jsonl", news.display()));
    assert!(outcome.stderr.starts_with(&shown), "{}\n{shown}", outcome.stderr);
    assert_eq!(place.read("kept.jsonl").lines().count(), 17);
}
