//! Which format a file has: the user says so, or the end of its name does. How it is packed, its first bytes say.

use crate::{Error, Result, error::Problem};
use std::{fmt, path::Path, str::FromStr};

/// How records are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// JSON objects, one per line or in one array, which the file says.
    Json,
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

const NAMES: [(&str, Format); 11] = [
    ("jsonl", Format::Jsonl),
    ("json", Format::Json),
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
        let name = match name {
            "ndjson" => "jsonl",
            "pq" => "parquet",
            _ => name,
        };
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let must = "jsonl, json, parquet, csv, tsv, txt, folder, npy, fvecs, bvecs or ivecs";
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

/// Packings that are known and not read: their first bytes, their names, and what unpacks them.
const OTHERS: [(&[u8], &str, &str); 7] = [
    (b"\xfd7zXZ\0", "xz", "xz -d"),
    (b"BZh", "bzip2", "bzip2 -d"),
    (b"PK\x03\x04", "zip", "unzip"),
    (b"PK\x05\x06", "zip", "unzip"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -d"),
    (b"\x1f\x9d", "compress", "gzip -d"),
];

/// How many bytes of a file tell its packing.
pub(super) const PACKING_BYTES: usize = 512;

impl Compression {
    /// Known by the first bytes of the data, none of which may start UTF-8 text.
    pub(super) fn sniff(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            // A skippable frame, with which parallel packers begin.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// Told by the first bytes of a file, whatever its name says. A file that is named as packed and is neither packed nor
    /// text stays what it is named, and is found damaged when it is unpacked.
    ///
    /// # Errors
    /// When it is packed in a way that is not read.
    pub(super) fn tell(start: &[u8], named: Self) -> Result<Self, Problem> {
        match Self::sniff(start) {
            Self::Plain => {}
            packed => return Ok(packed),
        }
        if let Some((_, kind, unpack)) = OTHERS.iter().find(|(magic, ..)| is_packed(start, magic)) {
            let what = format!("is packed with {kind}, which is not read");
            let advice = format!("unpack it first (`{unpack}`)");
            return Err(Problem::new(what).or(advice).or("pack it with gzip or zstd"));
        }
        let is_empty_or_binary = start.is_empty() || start.iter().copied().any(is_binary);
        let is_known = start.starts_with(PARQUET) || start.starts_with(b"\x93NUMPY");
        Ok(if is_empty_or_binary && !is_known { named } else { Self::Plain })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Whether a file begins with these bytes, as packers write them.
fn is_packed(start: &[u8], magic: &[u8]) -> bool {
    let Some(rest) = start.strip_prefix(magic) else { return false };
    match magic {
        // A digit, and the sign of the first block or of the end: a text may begin with these letters.
        b"BZh" => {
            let signs: [&[u8]; 2] = [b"1AY&SY", b"\x17rE8P\x90"];
            rest.first().is_some_and(u8::is_ascii_digit)
                && signs.iter().any(|sign| rest[1..].starts_with(sign))
        }
        _ => true,
    }
}

/// Whether a byte is a control character that texts do not have.
fn is_binary(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b)
}

/// The first and the last bytes of a Parquet file.
pub(super) const PARQUET: &[u8] = b"PAR1";

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
