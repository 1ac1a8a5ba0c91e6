//! How a run goes and what it leaves behind.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use nearkin_engine::options::Options;
use nearkin_engine::read::Place;
use nearkin_engine::write::{self, Formulas};
use nearkin_engine::{Error, Result};

use super::{Fill, size};

/// How a run goes and what it leaves behind.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct RunArgs {
    /// Write counts, times and memory as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) stats: Option<PathBuf>,
    /// Write an apostrophe before texts in .csv and .tsv that a spreadsheet takes for formulas
    ///
    /// These texts begin with = + - @, a tab or a carriage return, and are no numbers. Without this option, all is written
    /// as it is.
    #[arg(long)]
    no_formulas: bool,
    /// Print no progress and no summary; warnings are printed all the same
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Memory to use, such as 512M or 4G [default: half of what is free]
    ///
    /// What does not fit goes to files in --temp. The result is the same.
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Resources")]
    memory: Option<usize>,
    #[command(flatten)]
    temp: TempArgs,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Resources")]
    threads: Option<u16>,
}

/// Where temporary files go.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct TempArgs {
    /// Folder for temporary files [default: the system's]
    ///
    /// With this option, a run that was stopped continues when you start it again with the same arguments.
    #[arg(long, value_name = "DIR")]
    temp: Option<PathBuf>,
}

impl Fill for TempArgs {
    fn fill(&self, options: &mut Options) {
        options.temp.clone_from(&self.temp);
    }
}

impl Fill for RunArgs {
    fn fill(&self, options: &mut Options) {
        options.memory = self.memory;
        options.threads = self.threads.map(usize::from);
        self.temp.fill(options);
    }
}

impl RunArgs {
    /// What to do with formulas in CSV.
    pub(crate) fn formulas(&self) -> Formulas {
        if self.no_formulas { Formulas::Marked } else { Formulas::Kept }
    }

    /// Refuses outputs that cannot be made, that are the same file, or that are one of `inputs`; hours
    /// later would be late to hear of it.
    pub(crate) fn check(&self, tables: &[Option<&Path>], inputs: &[&Place]) -> Result<()> {
        self.check_all(tables, &[], inputs)
    }

    /// Like `check`, with outputs that are no tables.
    pub(crate) fn check_all(
        &self,
        tables: &[Option<&Path>],
        others: &[Option<&Path>],
        inputs: &[&Place],
    ) -> Result<()> {
        let others: Vec<Option<&Path>> =
            others.iter().copied().chain([self.stats.as_deref()]).collect();
        check_outputs(tables, &others, inputs)
    }
}

/// Refuses outputs that cannot be made, that are the same file, or that are one of `inputs`.
pub(crate) fn check_outputs(
    tables: &[Option<&Path>],
    others: &[Option<&Path>],
    inputs: &[&Place],
) -> Result<()> {
    let is_file = |path: &&Path| path.as_os_str() != "-";
    let tables = || tables.iter().copied().flatten().filter(is_file);
    let others = || others.iter().copied().flatten().filter(is_file);
    tables().try_for_each(write::check_table)?;
    others().try_for_each(write::check)?;
    let paths = inputs.iter().filter_map(|place| place.path());
    let mut taken: Vec<PathBuf> = paths.filter_map(lies_at).collect();
    for target in tables().chain(others()) {
        let Some(place) = lies_at(target) else { continue };
        if taken.contains(&place) {
            let what = "is given twice, as an output and as an input or another output";
            return Err(Error::file(target, what).or("give each output a name of its own"));
        }
        taken.push(place);
    }
    Ok(())
}

/// Refuses outputs that would replace a file that is only read, and those in a folder that is an input.
pub(crate) fn check_folders(
    inputs: &[Place],
    only_read: &[Place],
    targets: &[Option<&Path>],
) -> Result<()> {
    let real = |place: &Place| fs::canonicalize(place.path().filter(|_| !place.is_stdin())?).ok();
    let only_read: Vec<PathBuf> = only_read.iter().filter_map(real).collect();
    let folders: Vec<PathBuf> = inputs.iter().filter_map(real).filter(|it| it.is_dir()).collect();
    for target in targets.iter().copied().flatten().filter(|path| path.as_os_str() != "-") {
        if let Ok(real) = fs::canonicalize(target)
            && real.is_file()
            && only_read.iter().any(|place| real.starts_with(place))
        {
            let what = "is a file of the collection in --against, which is never written; name another file";
            return Err(Error::file(target, what));
        }
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = fs::canonicalize(parent.unwrap_or(Path::new("."))).unwrap_or_default();
        let own = fs::canonicalize(target).unwrap_or_default();
        let holds = |folder: &&PathBuf| parent.starts_with(folder) || own == **folder;
        if let Some(folder) = folders.iter().find(holds) {
            let what = format!(
                "would be in {}, which is the input, and the next run would read it; write it elsewhere",
                folder.display()
            );
            return Err(Error::file(target, what));
        }
    }
    Ok(())
}

/// Refuses a plot that cannot be drawn, before the work.
pub(crate) fn check_plot(path: &Path) -> Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !["svg", "png"].contains(&extension.to_lowercase().as_str()) {
        return Err(Error::parameter("plot", path.display(), "a file that ends in .svg or .png"));
    }
    if cfg!(not(feature = "plot")) {
        let must = "left out: this nearkin was built without the feature plot";
        return Err(Error::parameter("plot", path.display(), must));
    }
    Ok(())
}

/// Where a file lies or will lie; none for what is no regular file.
fn lies_at(path: &Path) -> Option<PathBuf> {
    match fs::canonicalize(path) {
        Ok(place) => place.is_file().then_some(place),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
            Some(folder.join(path.file_name()?))
        }
    }
}
