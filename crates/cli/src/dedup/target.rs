//! Where the kept records go: a file, standard output, or a folder of files.

use std::path::Path;

use nearkin_engine::read::Input;
use nearkin_engine::settings::Settings;
use nearkin_engine::write::{self, CompleteOutput, Formulas, KeptRecords};
use nearkin_engine::{Error, Result};

use super::RecordSource;

/// Where the kept records go.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum KeptTarget<'a> {
    /// Nowhere: the caller asks for them later, or wants only the groups.
    #[default]
    Nowhere,
    Stdout,
    File(&'a Path),
    /// A folder with a file for each of the input, or files of this size.
    Shards(&'a Path, Option<usize>),
}

impl<'a> KeptTarget<'a> {
    /// A folder that is there, or a name that ends in a slash, is for shards.
    pub(crate) fn of(path: &'a Path) -> Self {
        let has_slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if has_slash || path.is_dir() { Self::Shards(path, None) } else { Self::File(path) }
    }

    /// In files of this size, if there is one.
    pub(crate) fn cut(self, size: Option<usize>) -> Result<Self> {
        match (self, size) {
            (_, None) => Ok(self),
            (Self::Shards(folder, _), size) => Ok(Self::Shards(folder, size)),
            (_, Some(size)) => {
                let must = "left out, or -o the name of a folder, with a / at its end";
                Err(Error::parameter("shard_size", size, must))
            }
        }
    }

    pub(crate) fn path(self) -> Option<&'a Path> {
        match self {
            Self::File(path) | Self::Shards(path, _) => Some(path),
            Self::Nowhere | Self::Stdout => None,
        }
    }

    pub(crate) fn file(self) -> Option<&'a Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Nowhere | Self::Stdout | Self::Shards(..) => None,
        }
    }

    /// Writes the records of an input that are kept.
    pub(crate) fn write(
        self,
        input: &Input,
        kept: KeptRecords<'_>,
        formulas: Formulas,
        settings: &Settings,
        advance: &mut (dyn FnMut(u64) -> Result<()> + Send),
    ) -> Result<CompleteOutput> {
        let resources = settings.into();
        match self {
            Self::Shards(folder, None) => {
                write::shards(input, folder, kept, formulas, settings.threads, advance)
            }
            Self::Shards(folder, Some(size)) => {
                write::even_shards(input, folder, size, kept, formulas, resources, advance)
            }
            _ => write::records(input, self.file(), kept, formulas, resources, advance),
        }
    }

    /// Refuses a folder that cannot be made, or for which this input has no shards, before the work.
    pub(crate) fn check_shards(self, source: &RecordSource) -> Result<()> {
        let Self::Shards(folder, _) = self else { return Ok(()) };
        write::check_folder(folder)?;
        match source {
            RecordSource::Records(source) => source.input().check_shards(),
            RecordSource::Vectors(_) => Err(Error::file(
                folder,
                "is a folder, and vectors are written to one file; name it",
            )),
        }
    }
}
