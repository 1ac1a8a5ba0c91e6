//! Runs the command as a user would, in a folder of its own.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A folder for one test, removed with it.
pub struct Place(tempfile::TempDir);

/// What the command did.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, content).expect("a written file");
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Names of all files in the folder.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("a name in UTF-8");
        let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }

    /// Runs `nearkin` with the words of `line` as arguments.
    pub fn run(&self, line: &str) -> Outcome {
        self.run_with(line, b"")
    }

    /// The same with standard input.
    pub fn run_with(&self, line: &str, input: &[u8]) -> Outcome {
        self.run_words(line.split_whitespace(), input)
    }

    /// Runs `nearkin` with these arguments, which may have blanks in them.
    pub fn run_words(&self, words: impl IntoIterator<Item: AsRef<OsStr>>, input: &[u8]) -> Outcome {
        let mut child = Command::new(env!("CARGO_BIN_EXE_nearkin"))
            .args(words)
            .current_dir(self.0.path())
            .env_remove("COLUMNS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = child.stdin.take().expect("standard input");
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || {
            let _ = stdin.write_all(&input); // the command may end without reading it
        });
        let output = child.wait_with_output().expect("the command ends");
        feeder.join().expect("the feeder ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output in UTF-8");
        Outcome {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Runs and expects success.
    pub fn ok(&self, line: &str) -> Outcome {
        self.ok_words(line.split_whitespace())
    }

    /// The same with arguments that may have blanks in them.
    pub fn ok_words(
        &self,
        words: impl IntoIterator<Item: AsRef<OsStr>> + Clone + Debug,
    ) -> Outcome {
        let outcome = self.run_words(words.clone(), b"");
        assert_eq!(outcome.code, Some(0), "nearkin {words:?}\n{}", outcome.stderr);
        outcome
    }

    /// Runs and expects exit 1, one line of error that contains all of `parts`, nothing on standard
    /// output, and no file that was not there before.
    pub fn fails(&self, line: &str, parts: &[&str]) {
        let before = self.files();
        let outcome = self.run(line);
        assert_eq!(outcome.code, Some(1), "nearkin {line}\n{outcome:?}");
        let errors: Vec<&str> = outcome.stderr.lines().collect();
        assert_eq!(errors.len(), 1, "one line: {:?}", outcome.stderr);
        assert!(errors[0].starts_with("error: "), "{}", errors[0]);
        for part in parts {
            assert!(errors[0].contains(part), "{:?} is not in {:?}", part, errors[0]);
        }
        assert_eq!(outcome.stdout, "");
        assert_eq!(self.files(), before, "nothing is left behind");
    }
}

/// A JSON line.
pub fn record(id: &str, text: &str) -> String {
    format!("{}\n", serde_json::json!({ "id": id, "text": text }))
}

/// Three records: the second nearly the first, the third something else.
pub fn three() -> String {
    let words = |n: usize| (0..n).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
    [
        record("a", &words(100)),
        record("b", &words(99)),
        record("c", "something else altogether here now"),
    ]
    .concat()
}
