//! Where the kept records go: a file, standard output, or a folder of files.

use std::path::Path;

use nearkin_engine::{Error, write};

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
    pub(super) fn cut(self, size: Option<usize>) -> nearkin_engine::Result<Self> {
        match (self, size) {
            (_, None) => Ok(self),
            (Self::Shards(folder, _), size) => Ok(Self::Shards(folder, size)),
            (_, Some(size)) => {
                let must = "left out, or -o the name of a folder, with a / at its end";
                Err(Error::parameter("shard_size", size, must))
            }
        }
    }

    pub(super) fn path(self) -> Option<&'a Path> {
        match self {
            Self::File(path) | Self::Shards(path, _) => Some(path),
            Self::Nowhere | Self::Stdout => None,
        }
    }

    pub(super) fn file(self) -> Option<&'a Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Nowhere | Self::Stdout | Self::Shards(..) => None,
        }
    }

    /// Refuses a folder that cannot be made, or for which this input has no shards, before the work.
    pub(super) fn check_shards(self, source: &RecordSource) -> nearkin_engine::Result<()> {
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
