//! The collection that INPUT grows: what of it may not be given twice, written over or left empty.

use nearkin_engine::error::{Advice, Problem};
use nearkin_engine::matches::Stats;
use nearkin_engine::read::Place;
use nearkin_engine::{Error, Result, options::Options};

use crate::args::{RealFiles, real_files};

/// Refuses an input that is a part of both collections: all of it would be removed.
pub(super) fn check_apart(options: &Options, inputs: &[Place], against: &[Place]) -> Result<()> {
    if [inputs, against].iter().all(|places| places.iter().any(Place::is_stdin)) {
        let must = "on one: standard input is read once";
        return Err(Error::parameter("-", "on both sides", must));
    }
    let old: RealFiles = real_files(options, against)?.into_iter().collect();
    for (file, real) in real_files(options, inputs)? {
        if let Some(other) = old.shared(&real) {
            let what = match other == file {
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
