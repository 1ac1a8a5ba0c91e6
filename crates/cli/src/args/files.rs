//! Which files inputs are, whatever they are called.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use nearkin_engine::options::Options;
use nearkin_engine::read::{Place, files_of};
use nearkin_engine::{Error, Result};

/// Files by where they really are, with the names they were given.
#[derive(Debug, Default)]
pub(crate) struct RealFiles(BTreeMap<PathBuf, PathBuf>);

impl FromIterator<(PathBuf, PathBuf)> for RealFiles {
    fn from_iter<T: IntoIterator<Item = (PathBuf, PathBuf)>>(files: T) -> Self {
        Self(files.into_iter().map(|(file, real)| (real, file)).collect())
    }
}

impl RealFiles {
    /// The file that has a part in common with this one: it, or a folder of documents above or below.
    pub(crate) fn shared(&self, real: &Path) -> Option<&Path> {
        let above = real.ancestors().find_map(|above| self.0.get(above));
        let next = self.0.range(real.to_owned()..).next();
        let below = || next.filter(|(other, _)| other.starts_with(real)).map(|(_, file)| file);
        above.or_else(below).map(PathBuf::as_path)
    }
}

/// The files behind these places, as they were named and where they are.
pub(crate) fn real_files(options: &Options, places: &[Place]) -> Result<Vec<(PathBuf, PathBuf)>> {
    let files = files_of(places, &options.read_options())?;
    let real = |file: PathBuf| fs::canonicalize(&file).map(|real| (file, real)).ok();
    Ok(files.into_iter().filter_map(real).collect())
}

/// Refuses a file that is given twice: each of its records would be there twice.
pub(crate) fn check_once(options: &Options, places: &[Place]) -> Result<()> {
    let mut known = RealFiles::default();
    for (file, real) in real_files(options, places)? {
        if let Some(other) = known.shared(&real) {
            let what = match other == file {
                true => "is given twice, so each of its records would be there twice".to_owned(),
                false => format!(
                    "is given twice, also as {}, so each of its records would be there twice",
                    other.display()
                ),
            };
            return Err(Error::file(file, format!("{what}; name it once")));
        }
        known.0.insert(real, file);
    }
    Ok(())
}
