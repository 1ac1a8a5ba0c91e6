//! Which format a file has: the user says so, or the end of its name does.

use crate::{Error, Result};
use std::{fmt, path::Path, str::FromStr};

/// How records are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values, with a header row unless said otherwise.
    Csv,
    /// Tab-separated values with a header row, quoted like CSV.
    Tsv,
    /// One item per line.
    Txt,
    /// A folder in which each file is one document.
    Folder,
    /// An array of NumPy with one vector per row.
    Npy,
    /// Vectors of 32-bit floats, each after its dimension.
    Fvecs,
    /// Vectors of bytes, each after its dimension.
    Bvecs,
    /// Vectors of 32-bit whole numbers, each after its dimension.
    Ivecs,
}

const NAMES: [(&str, Format); 10] = [
    ("jsonl", Format::Jsonl),
    ("parquet", Format::Parquet),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("txt", Format::Txt),
    ("folder", Format::Folder),
    ("npy", Format::Npy),
    ("fvecs", Format::Fvecs),
    ("bvecs", Format::Bvecs),
    ("ivecs", Format::Ivecs),
];

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let name = if name == "ndjson" { "jsonl" } else { name };
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let must = "jsonl, parquet, csv, tsv, txt, folder, npy, fvecs, bvecs or ivecs";
            Error::parameter("format", name, must)
        })
    }
}

impl Format {
    /// Whether it holds vectors and nothing else.
    pub(crate) fn is_vectors(self) -> bool {
        matches!(self, Self::Npy | Self::Fvecs | Self::Bvecs | Self::Ivecs)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let found = NAMES.iter().find(|(_, format)| format == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

/// How a file's bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Plain,
    Gzip,
    Zstd,
}

impl Compression {
    /// Known by the first bytes of the data, none of which may start UTF-8 text.
    pub(super) fn sniff(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// What the end of a file's name says: its format where it is a known one, and its compression.
pub(crate) fn by_extension(path: &Path) -> (Option<Format>, Compression) {
    let Some(name) = path.file_name() else { return (None, Compression::Plain) };
    let name = name.to_string_lossy().to_ascii_lowercase();
    let (stem, compression) = if let Some(stem) = name.strip_suffix(".gz") {
        (stem, Compression::Gzip)
    } else if let Some(stem) = name.strip_suffix(".zst") {
        (stem, Compression::Zstd)
    } else {
        (name.as_str(), Compression::Plain)
    };
    let format = stem.rsplit_once('.').and_then(|(_, extension)| extension.parse().ok());
    (format.filter(|format| *format != Format::Folder), compression)
}
