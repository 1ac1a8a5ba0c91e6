//! Pages of `docs/` with commands in them.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page by its path in the repository.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A fenced block: the words behind its fence, and its lines.
pub struct Block<'a> {
    pub info: &'a str,
    pub text: &'a str,
}

/// The fenced blocks of a page or a section, in their order.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced
        .map(|block| block.split_once('\n').unwrap())
        .map(|(info, text)| Block { info, text })
        .collect()
}

/// The arguments of each command of a block, without `nearkin`.
pub fn commands(block: &str) -> Vec<Vec<String>> {
    block.lines().map(arguments).collect()
}

/// The arguments of one command line, as a shell takes it apart: blanks part words, but not between single quotes.
pub fn arguments(line: &str) -> Vec<String> {
    let rest = line.strip_prefix("nearkin ").unwrap_or_else(|| panic!("no command: {line}"));
    let mut words: Vec<String> = Vec::new();
    let mut goes_on = false;
    for (i, piece) in rest.split('\'').enumerate() {
        if i % 2 == 1 {
            if !goes_on {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(piece);
            goes_on = true;
            continue;
        }
        let mut parts = piece.split_whitespace();
        if goes_on && !piece.starts_with(char::is_whitespace) {
            words.last_mut().unwrap().push_str(parts.next().unwrap_or_default());
        }
        words.extend(parts.map(str::to_owned));
        goes_on = !piece.is_empty() && !piece.ends_with(char::is_whitespace);
    }
    assert!(!line.contains(['"', '#', '\\']), "write a simpler command: {line}");
    words
}

#[test]
fn commands_are_taken_apart_as_by_a_shell() {
    let line = "nearkin a --keep 'prefer:x=y,z|longest' -c=--'two words'then 'x y'";
    assert_eq!(
        arguments(line),
        ["a", "--keep", "prefer:x=y,z|longest", "-c=--two wordsthen", "x y"]
    );
}
