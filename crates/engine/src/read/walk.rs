//! The files of a folder and of the folders below it.
//!
//! Names that start with a dot are passed over. A link to a file stands for the file; a link to a folder is not followed, so
//! that nothing is read twice and no loop is walked. Globs of the user leave files out, and so may `.gitignore` files; who
//! asks decides whether these count.

use std::{
    fs::{self, Metadata},
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use walkdir::{DirEntry, WalkDir};

use super::rereadable::unreadable;
use crate::error::{Error, Result};

/// Which files of a folder count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FolderFilter {
    /// Globs: only files that one of them matches. All, if there are none.
    pub include: Vec<String>,
    /// Globs of files and folders that are left out.
    pub exclude: Vec<String>,
    /// Whether documents count that a `.gitignore` file names.
    pub no_ignore: bool,
}

/// What is in a folder.
#[derive(Debug, Default)]
pub(super) struct FolderFiles {
    /// In the order of their paths' bytes.
    pub(super) files: Vec<FolderFile>,
    /// Files and folders that globs left out.
    pub(super) excluded: u64,
    /// Links to what is not there.
    pub(super) dead_links: Vec<PathBuf>,
}

#[derive(Debug)]
pub(super) struct FolderFile {
    pub(super) path: PathBuf,
    pub(super) metadata: Metadata,
    /// Whether a `.gitignore` file names it, or a folder in which it is.
    pub(super) is_ignored: bool,
    /// Whether its name, or that of a folder in which it is, begins with `_`: among files of records, these are notes of those
    /// who wrote the others.
    pub(super) is_note: bool,
}

/// Goes through a folder.
///
/// # Errors
/// When a folder or a file cannot be read, and when a glob makes no sense.
pub(super) fn walk(folder: &Path, filter: &FolderFilter) -> Result<FolderFiles> {
    let globs = Globs::new(folder, filter)?;
    let mut ignored = Ignored::new(folder);
    let mut found = FolderFiles::default();
    let mut entries = WalkDir::new(folder).into_iter();
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_path_buf();
            unreadable(&path, &error.into())
        })?;
        let (path, depth) = (entry.path(), entry.depth());
        let is_folder = entry.file_type().is_dir();
        let is_hidden = depth > 0 && starts_with(&entry, b".");
        let is_excluded = depth > 0 && globs.exclude(path, is_folder);
        if is_hidden || is_excluded {
            found.excluded += u64::from(!is_hidden);
            if is_folder {
                entries.skip_current_dir();
            }
            continue;
        }
        let is_ignored = depth > 0 && ignored.has(path, depth, is_folder);
        let is_note = ignored.is_in_notes(depth) || depth > 0 && starts_with(&entry, b"_");
        if is_folder {
            ignored.enter(path, depth, is_ignored, is_note);
            continue;
        }
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(_) if entry.path_is_symlink() => {
                found.dead_links.push(entry.into_path());
                continue;
            }
            Err(error) => return Err(unreadable(path, &error)),
        };
        if depth == 0 || !metadata.is_file() {
            continue;
        }
        if !globs.include(path) {
            found.excluded += 1;
            continue;
        }
        found.files.push(FolderFile { path: entry.into_path(), metadata, is_ignored, is_note });
    }
    let bytes = |file: &FolderFile| file.path.as_os_str().as_encoded_bytes().to_vec();
    found.files.sort_by_cached_key(bytes);
    Ok(found)
}

fn starts_with(entry: &DirEntry, sign: &[u8]) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(sign)
}

/// The globs of the user, which mean what they do in a `.gitignore` file: `*.py` in every folder, `/src` in the first alone.
struct Globs {
    include: Option<Gitignore>,
    exclude: Gitignore,
}

impl Globs {
    fn new(folder: &Path, filter: &FolderFilter) -> Result<Self> {
        let include = globs(folder, "include", &filter.include)?;
        Ok(Self {
            include: (!filter.include.is_empty()).then_some(include),
            exclude: globs(folder, "exclude", &filter.exclude)?,
        })
    }

    fn include(&self, path: &Path) -> bool {
        self.include
            .as_ref()
            .is_none_or(|globs| globs.matched_path_or_any_parents(path, false).is_ignore())
    }

    fn exclude(&self, path: &Path, is_folder: bool) -> bool {
        self.exclude.matched(path, is_folder).is_ignore()
    }
}

fn globs(folder: &Path, option: &'static str, globs: &[String]) -> Result<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    let wrong = |glob: &str, error: ignore::Error| {
        let must = format!("a glob, such as '*.py' or 'src/**': {error}");
        Error::parameter(option, glob, must)
    };
    for glob in globs {
        builder.add_line(None, glob).map_err(|error| wrong(glob, error))?;
    }
    builder.build().map_err(|error| wrong(&globs.join(" "), error))
}

/// What the `.gitignore` files say on the way from the first folder to the one that is walked.
struct Ignored {
    folder: PathBuf,
    /// The folder from the root of the file system.
    whole: PathBuf,
    /// Those of the repository that the folder is in, above the folder.
    above: Vec<Gitignore>,
    levels: Vec<IgnoreLevel>,
}

struct IgnoreLevel {
    rules: Gitignore,
    is_ignored: bool,
    is_note: bool,
}

impl Ignored {
    fn new(folder: &Path) -> Self {
        let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        let is_repository = |path: &&Path| path.join(".git").exists();
        let above = match whole.ancestors().find(is_repository) {
            Some(repository) => {
                let inside = |path: &&Path| path.starts_with(repository);
                whole.ancestors().skip(1).take_while(inside).map(rules_of).collect()
            }
            None => Vec::new(),
        };
        Self { folder: folder.to_path_buf(), whole, above, levels: Vec::new() }
    }

    fn whole(&self, path: &Path) -> PathBuf {
        self.whole.join(path.strip_prefix(&self.folder).unwrap_or(path))
    }

    /// What follows is in this folder, until another of its depth is entered.
    fn enter(&mut self, path: &Path, depth: usize, is_ignored: bool, is_note: bool) {
        self.levels.truncate(depth);
        let rules = rules_of(&self.whole(path));
        self.levels.push(IgnoreLevel { rules, is_ignored, is_note });
    }

    fn is_in_notes(&self, depth: usize) -> bool {
        depth > 0 && self.levels.get(depth - 1).is_some_and(|level| level.is_note)
    }

    /// Whether a file or folder is named. The nearest rule decides.
    fn has(&mut self, path: &Path, depth: usize, is_folder: bool) -> bool {
        self.levels.truncate(depth);
        if self.levels.last().is_some_and(|level| level.is_ignored) {
            return true;
        }
        let path = self.whole(path);
        let levels = self.levels.iter().rev().map(|level| &level.rules);
        let decided =
            levels.chain(&self.above).find_map(|rules| match rules.matched(&path, is_folder) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            });
        decided.unwrap_or(false)
    }
}

/// The rules of the `.gitignore` file in a folder. A rule that makes no sense is none, as for git.
fn rules_of(folder: &Path) -> Gitignore {
    let file = folder.join(".gitignore");
    if !file.is_file() {
        return Gitignore::empty();
    }
    let mut builder = GitignoreBuilder::new(folder);
    builder.add(file);
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
