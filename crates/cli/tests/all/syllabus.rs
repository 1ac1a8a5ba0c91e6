//! `docs/syllabus.md`: every topic has a command that is one, a Python call, and tests that are there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::Place;
use crate::page;

/// How many topics the sections have.
const TOPICS: [usize; 9] = [8, 13, 9, 6, 3, 6, 9, 11, 3];

/// What stands in backquotes behind `- Command:`, `- Python:` and `- Test:` of a topic.
struct Topic {
    title: String,
    lines: BTreeMap<String, Vec<String>>,
}

impl Topic {
    fn row(&self) -> &str {
        self.title.split(' ').next().unwrap()
    }

    fn quoted(&self, what: &str) -> &[String] {
        self.lines.get(what).map_or(&[], Vec::as_slice)
    }
}

fn topics() -> Vec<Topic> {
    let page = page::read("docs/syllabus.md");
    let topics = page.split("\n### ").skip(1).map(|text| text.split("\n## ").next().unwrap());
    topics.map(topic).collect()
}

fn topic(text: &str) -> Topic {
    let fields = text.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    let quoted = |line: &str| line.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Topic {
        title: text.lines().next().unwrap().to_owned(),
        lines: fields.map(|(what, line)| (what.to_owned(), quoted(line))).collect(),
    }
}

#[test]
fn syllabus_has_every_topic_in_its_order() {
    let expected: Vec<String> = (1..)
        .zip(TOPICS)
        .flat_map(|(section, count)| (1..=count).map(move |row| format!("S{section}.{row}")))
        .collect();
    let topics = topics();
    assert_eq!(topics.iter().map(Topic::row).collect::<Vec<_>>(), expected);
    for topic in &topics {
        for what in ["Command", "Python", "Test"] {
            assert!(!topic.quoted(what).is_empty(), "{} has no line {what}", topic.title);
        }
    }
}

/// Commands that name files of the repository run; others are at least understood: a file that is not there is status 1, a word
/// that is no option is 2.
#[test]
fn syllabus_commands_are_commands() {
    let place = Place::new();
    for topic in topics() {
        for line in topic.quoted("Command").iter().filter(|line| line.starts_with("nearkin ")) {
            let at_home = |word: String| {
                if word.starts_with("examples/") {
                    page::root().join(word).display().to_string()
                } else {
                    word
                }
            };
            let words: Vec<String> = page::arguments(line).into_iter().map(at_home).collect();
            let outcome = place.run_words(&words, b"");
            let is_missing = |words: &&str| outcome.stderr.contains(*words);
            let needs_a_file = outcome.code == Some(1)
                && ["does not exist", "No such file"].iter().any(is_missing);
            assert!(
                outcome.code == Some(0) || needs_a_file,
                "{}: {line}\n{}",
                topic.row(),
                outcome.stderr
            );
        }
    }
}

#[test]
fn syllabus_tests_are_there_and_named_by_their_topic() {
    let mut sources = String::new();
    read_sources(&page::root().join("crates"), &mut sources);
    read_sources(&page::root().join("python/tests"), &mut sources);
    for topic in topics() {
        let name = topic.row().to_lowercase().replace('.', "_") + "_";
        for test in topic.quoted("Test") {
            let is_there = [format!("fn {test}("), format!("def {test}(")]
                .iter()
                .any(|head| sources.contains(head));
            assert!(is_there, "{}: there is no test {test}", topic.title);
            assert!(
                format!("{test}_").contains(&name),
                "{}: {test} is named otherwise",
                topic.title
            );
        }
    }
}

fn read_sources(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|end| end == "rs" || end == "py");
        if path.is_dir() && !path.ends_with("target") {
            read_sources(&path, sources);
        } else if is_source {
            *sources += &fs::read_to_string(&path).unwrap();
        }
    }
}
