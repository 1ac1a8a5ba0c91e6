//! Where records stand: the file and the line of each, by position.
//!
//! Records of one file whose lines follow each other as their positions do are one run, so a file of a line per record takes
//! as much memory as a record.

use std::path::{Path, PathBuf};

/// Where records stand. What is asked for must have been put in.
#[derive(Debug, Clone, Default)]
pub struct RecordPlaces {
    files: Vec<PathBuf>,
    runs: Vec<PlaceRun>,
}

#[derive(Debug, Clone, Copy)]
struct PlaceRun {
    position: u32,
    file: u32,
    line: u64,
}

impl RecordPlaces {
    /// The record at a position, behind all that were put in, stands on a line of a file.
    pub(crate) fn push(&mut self, position: u32, file: &Path, line: u64) {
        if self.files.last().is_none_or(|last| last != file) {
            self.files.push(file.to_path_buf());
        }
        let file = self.files.len() as u32 - 1;
        let follows = self.runs.last().is_some_and(|run| {
            let since = u64::from(position - run.position);
            run.file == file && run.line + since == line
        });
        if !follows {
            self.runs.push(PlaceRun { position, file, line });
        }
    }

    /// The file of a record, and its line or row there, from 1.
    pub fn get(&self, position: u32) -> Option<(&Path, u64)> {
        let after = self.runs.partition_point(|run| run.position <= position);
        let run = self.runs[..after].last()?;
        let line = run.line + u64::from(position - run.position);
        Some((&self.files[run.file as usize], line))
    }

    /// Those of another collection as well, whose positions start here.
    pub(crate) fn extend(&mut self, start: u32, others: &Self) {
        let files = self.files.len() as u32;
        self.files.extend(others.files.iter().cloned());
        self.runs.extend(others.runs.iter().map(|run| PlaceRun {
            position: start + run.position,
            file: files + run.file,
            ..*run
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_follow_each_other_are_one_run() {
        let mut places = RecordPlaces::default();
        let all = [(0, "a", 1), (1, "a", 2), (3, "a", 4), (4, "a", 6), (5, "b", 7), (9, "b", 11)];
        all.iter().for_each(|&(position, file, line)| places.push(position, Path::new(file), line));
        assert_eq!(places.runs.len(), 3);
        let mut both = RecordPlaces::default();
        both.extend(0, &places);
        both.extend(20, &places);
        for (position, file, line) in all {
            assert_eq!(places.get(position), Some((Path::new(file), line)));
            assert_eq!(both.get(position + 20), Some((Path::new(file), line)));
        }
        assert_eq!(RecordPlaces::default().get(0), None);
    }
}
