//! The collection that INPUT grows: what of it may not be given twice, written over or left empty.

use std::fs;
use std::path::{Path, PathBuf};

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
    let old = real_files(options, against)?;
    for (file, real) in real_files(options, inputs)? {
        // A folder of documents is one input.
        let holds =
            |(_, other): &&(PathBuf, PathBuf)| real.starts_with(other) || other.starts_with(&real);
        if let Some((other, _)) = old.iter().find(holds) {
            let what = match other == &file {
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

/// Refuses outputs that would replace a file of the old collection, and those in a folder that is INPUT.
pub(super) fn check_targets(
    options: &Options,
    (inputs, against): (&[Place], &[Place]),
    targets: &[Option<&Path>],
) -> Result<()> {
    let old = real_files(options, against)?;
    let folders: Vec<PathBuf> = inputs
        .iter()
        .filter_map(Place::path)
        .filter(|path| path.is_dir())
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect();
    for target in targets.iter().copied().flatten().filter(|path| path.as_os_str() != "-") {
        if let Ok(real) = fs::canonicalize(target)
            && old.iter().any(|(_, old)| real.is_file() && real.starts_with(old))
        {
            let what = "is a file of the old collection, which is never written; name another file";
            return Err(Error::file(target, what));
        }
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = fs::canonicalize(parent.unwrap_or(Path::new("."))).unwrap_or_default();
        if let Some(folder) = folders.iter().find(|folder| parent.starts_with(folder)) {
            let what = format!(
                "would be in {}, which is the input, and the next run would read it; write it elsewhere",
                folder.display()
            );
            return Err(Error::file(target, what));
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
