//! The lessons of `docs/course`, each done from its first line to its last: every command is run, and prints what the page
//! shows.

use std::fs;

use crate::common::Place;
use crate::page;

/// How many commands a lesson has; it fails where one prints something else than the page has behind it.
fn commands_of(path: &str) -> usize {
    let lesson = page::read(path);
    let place = Place::new();
    copy_examples(&place);
    let mut count = 0;
    let mut printed = String::new();
    for block in page::blocks(&lesson) {
        match block.info.split_once(' ') {
            None if block.info == "sh" => {
                printed = "\n".to_owned();
                for words in page::commands(block.text) {
                    let outcome = place.ok_words(&words);
                    printed += &(outcome.stdout + &outcome.stderr);
                    count += 1;
                }
            }
            None if block.info.is_empty() => see(path, block.text, &printed),
            Some(("text", name)) => {
                place.write(name, block.text);
            }
            _ => panic!("{path}: a block of {:?}", block.info),
        }
    }
    count
}

/// Stretches of whole lines, with `…` for what is left out between them, stand in `printed` one behind the other.
fn see(path: &str, shown: &str, printed: &str) {
    let mut rest = printed;
    for stretch in shown.split("…\n").filter(|stretch| !stretch.is_empty()) {
        let stretch = format!("\n{stretch}");
        let at = rest
            .find(&stretch)
            .unwrap_or_else(|| panic!("{path} shows{stretch}\nprinted, from there on:{rest}"));
        rest = &rest[at + stretch.len() - 1..];
    }
}

fn copy_examples(place: &Place) {
    for folder in ["examples/news", "examples/mirrors", "examples/data"] {
        for entry in fs::read_dir(page::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            place.write(&format!("{folder}/{name}"), fs::read(&path).unwrap());
        }
    }
}

#[test]
fn course_of_seven_lessons_prints_what_it_shows() {
    let index = page::read("docs/course/README.md");
    let mut lessons: Vec<String> = fs::read_dir(page::root().join("docs/course"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    lessons.sort();
    assert_eq!(lessons.len(), 7);
    for (i, name) in lessons.iter().enumerate() {
        assert!(
            name.starts_with(&format!("{}-", i + 1)) && index.contains(&format!("({name})")),
            "{name}"
        );
        let next = lessons.get(i + 1).map(|next| format!("({next})"));
        let path = format!("docs/course/{name}");
        assert!(
            next.is_none_or(|next| page::read(&path).contains(&next)),
            "{name} leads to no other"
        );
        assert!(commands_of(&path) >= 5, "{name} has hardly a command");
    }
}
