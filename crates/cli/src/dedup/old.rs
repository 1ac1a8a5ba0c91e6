//! The collection that INPUT grows: what of it may not be given twice, written over or left empty.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use nearkin_engine::error::{Advice, Problem};
use nearkin_engine::matches::Stats;
use nearkin_engine::read::{Place, files_of};
use nearkin_engine::{Error, Result, options::Options};

/// Refuses an input that is a part of both collections: all of it would be removed.
pub(super) fn check_apart(options: &Options, inputs: &[Place], against: &[Place]) -> Result<()> {
    if [inputs, against].iter().all(|places| places.iter().any(Place::is_stdin)) {
        let must = "on one: standard input is read once";
        return Err(Error::parameter("-", "on both sides", must));
    }
    let old: BTreeMap<PathBuf, PathBuf> =
        real_files(options, against)?.into_iter().map(|(file, real)| (real, file)).collect();
    for (file, real) in real_files(options, inputs)? {
        // A folder of documents is one input.
        let above = real.ancestors().find_map(|above| old.get(above));
        let below = || old.range(real.clone()..).next().filter(|(old, _)| old.starts_with(&real));
        if let Some(other) = above.or_else(|| below().map(|(_, file)| file)) {
            let what = match *other == file {
                true => "is in the new collection and in the old one".to_owned(),
                false => {
                    format!("is in the new collection and, as {}, in the old one", other.display())
                }
            };
            let problem = Problem::new(format!("{what}: nothing of it would be left"));
            return Err(Error::file(file, problem.or("give the new records alone")));
        }
    }
    Ok(())
}

/// The files behind these places, as they were named and where they are.
fn real_files(options: &Options, places: &[Place]) -> Result<Vec<(PathBuf, PathBuf)>> {
    let files = files_of(places, &options.read_options())?;
    let real = |file: PathBuf| fs::canonicalize(&file).map(|real| (file, real)).ok();
    Ok(files.into_iter().filter_map(real).collect())
}

/// Warnings about a collection that was to grow another one.
pub(super) fn warning(stats: &Stats) -> Option<Problem> {
    let new = stats.items - stats.old?;
    match (stats.old?, new, stats.kept?) {
        (_, 0, _) if stats.items > 0 => {
            let what = "the new collection has no items, so nothing was compared with the old one";
            Some(Problem::new(what).or("check that it is the right file"))
        }
        (0, _, _) => {
            let what =
                "the old collection has no items, so the new one was compared with itself alone";
            Some(Problem::new(what).or("check that it is the right file"))
        }
        (_, _, 0) if new > 0 => {
            let what = "nothing of the new collection is left: all of it is similar to the old one";
            let check = "check that it is not a part of the old one";
            Some(
                Problem::new(what)
                    .or(check)
                    .or(Advice::with("threshold", "ask for more similarity")),
            )
        }
        _ => None,
    }
}
