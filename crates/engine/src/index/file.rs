//! An index in one file.
//!
//! A file holds a mark, the version of the format, the settings of the index, the id and the elements of each item, and a
//! checksum of all that. Keys and sketches are not stored: making them again is about as fast as reading them, and the file
//! stays readable when they change. All numbers are little-endian.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3Default;

use super::{Index, IndexRecord};
use crate::amplify::Bands;
use crate::item::Id;
use crate::parallel::in_pool;
use crate::settings::{Settings, Strategy};
use crate::shingle::{Case, HashBits, NormalForm, Shingling, StopWords, Unit, Whitespace};
use crate::verify::Measure;
use crate::{Error, Result};

/// What a file begins with.
const MARK: &[u8; 8] = b"NEARKINX";

/// Changes when the meaning of what follows changes.
const VERSION: u32 = 2;

impl Index {
    /// Writes the index to a file, which appears under its name when it is complete.
    ///
    /// # Errors
    /// When the file cannot be written, or the shingling has a tokenizer of the caller's own.
    pub fn save(&self, path: &Path) -> Result<()> {
        let failed = |error: io::Error| {
            Error::file(path, format!("cannot be written: {error}; choose another place"))
        };
        check_tokenizer(&self.settings.shingling)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".nearkin-index-").suffix(".part");
        // What a plain create gives, less the umask; tempfile alone would keep others out.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
        let mut writer = BufWriter::with_capacity(1 << 20, file.as_file());
        self.write(&mut writer).map_err(failed)?;
        writer.flush().map_err(failed)?;
        drop(writer);
        file.as_file().sync_all().map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// The bytes that [`save`](Self::save) writes.
    ///
    /// # Errors
    /// When the shingling has a tokenizer of the caller's own.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        check_tokenizer(&self.settings.shingling)?;
        let mut bytes = Vec::new();
        let failed = |error| Error::file("memory", format!("{error}"));
        self.write(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// The index that [`save`](Self::save) wrote. It works with as many threads as there are; see
    /// [`with_threads`](Self::with_threads).
    ///
    /// # Errors
    /// When the file cannot be read, is no index, was written by a newer version or is damaged.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |what: String| Error::file(path, what);
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (meta, file) =
            opened.map_err(|error| failed(format!("cannot be read: {error}; check the name")))?;
        if !meta.is_file() {
            return Err(failed("is no file; name one that an index was saved to".into()));
        }
        read(BufReader::with_capacity(1 << 20, file), meta.len())
            .map_err(|wrong| failed(wrong.what()))
    }

    /// The index whose bytes these are.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read(bytes, bytes.len() as u64)
            .map_err(|wrong| Error::file("the saved index", wrong.what()))
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut out = ChecksumStream { inner: to, sum: Xxh3Default::new() };
        out.write_all(MARK)?;
        out.write_all(&VERSION.to_le_bytes())?;
        write_settings(&self.settings, &mut out)?;
        put(&mut out, self.live as u64)?;
        let mut bytes = Vec::new();
        for slot in self.items() {
            bytes.clear();
            write_id(&slot.id, &mut bytes)?;
            let elements = self.search.layout.body(&slot.record).elements;
            put(&mut bytes, elements.len() as u64)?;
            elements.iter().for_each(|element| bytes.extend(element.to_le_bytes()));
            out.write_all(&bytes)?;
        }
        let sum = out.sum.digest();
        out.inner.write_all(&sum.to_le_bytes())
    }
}

fn check_tokenizer(shingling: &Shingling) -> Result<()> {
    match &shingling.tokenizer {
        None => Ok(()),
        Some(own) => {
            let must = "left out of an index that is saved: code cannot be written to a file";
            Err(Error::parameter("tokenizer", format!("{own:?}"), must))
        }
    }
}

/// Why a file cannot be used.
enum FileFault {
    Foreign,
    Newer(u32),
    Older(u32),
    Damaged(&'static str),
    Io(io::Error),
    Refused(Error),
}

impl FileFault {
    fn what(self) -> String {
        match self {
            Self::Foreign => {
                "is no index of nearkin; name a file that an index was saved to".into()
            }
            Self::Newer(version) => format!(
                "has version {version} of the format, and this nearkin reads {VERSION}; use a newer nearkin, or \
                 build the index again"
            ),
            Self::Older(version) => format!(
                "has version {version} of the format, whose hashes are no longer used; build the index again"
            ),
            Self::Damaged(how) => format!("is damaged: {how}; save or build the index again"),
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Self::Damaged("it ends too early").what()
            }
            Self::Io(error) => format!("cannot be read: {error}; check the disk"),
            Self::Refused(error) => format!("is damaged: {error}; save or build the index again"),
        }
    }
}

impl From<io::Error> for FileFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What is read, or why it cannot be.
type FileResult<T> = Result<T, FileFault>;

/// Reads and writes through a checksum.
struct ChecksumStream<T> {
    inner: T,
    sum: Xxh3Default,
}

impl<W: Write> Write for ChecksumStream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// What is read of a file, and how much of it is left before the checksum.
struct IndexReader<R> {
    from: ChecksumStream<R>,
    left: u64,
}

impl<R: Read> IndexReader<R> {
    fn fill(&mut self, bytes: &mut [u8]) -> FileResult<()> {
        let length = bytes.len() as u64;
        self.left = self.left.checked_sub(length).ok_or(FileFault::Damaged("it ends too early"))?;
        self.from.inner.read_exact(bytes)?;
        self.from.sum.update(bytes);
        Ok(())
    }

    fn number(&mut self) -> FileResult<u64> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn byte(&mut self) -> FileResult<u8> {
        let mut byte = [0];
        self.fill(&mut byte)?;
        Ok(byte[0])
    }

    fn float(&mut self) -> FileResult<f64> {
        Ok(f64::from_bits(self.number()?))
    }

    /// Reads a count of things that take at least `bytes` bytes each; an error if the file has no room for them.
    fn count(&mut self, bytes: u64) -> FileResult<usize> {
        let count = self.number()?;
        let fits = count.checked_mul(bytes).is_some_and(|bytes| bytes <= self.left);
        fits.then_some(count as usize).ok_or(FileFault::Damaged("it ends too early"))
    }

    fn text(&mut self) -> FileResult<String> {
        let mut bytes = vec![0; self.count(1)?];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| FileFault::Damaged("a text is no UTF-8"))
    }

    fn numbers(&mut self) -> FileResult<Vec<u64>> {
        let mut bytes = vec![0; 8 * self.count(8)?];
        self.fill(&mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect())
    }

    fn id(&mut self) -> FileResult<Id> {
        match self.byte()? {
            0 => Ok(Id::Int(self.number()? as i64)),
            1 => Ok(Id::Text(self.text()?.into())),
            _ => Err(FileFault::Damaged("an id is neither a number nor a text")),
        }
    }

    fn settings(&mut self) -> FileResult<Settings> {
        let shingling = self.shingling()?;
        let measure = self.text()?;
        let measure = MEASURES.into_iter().find(|known| known.name() == measure);
        let measure = measure.ok_or(FileFault::Damaged("its measure is unknown"))?;
        let (is_distance, limit) = (self.byte()? != 0, self.float()?);
        let (recall, seed) = (self.float()?, self.number()?);
        let [count, rows] =
            [self.number()?, self.number()?].map(|n| n.min(u64::from(u32::MAX)) as usize);
        // Its stop words are hashed with this key already.
        let key = Shingling::default().with_seed(seed).key;
        Ok(Settings {
            shingling: Shingling { key, ..shingling },
            measure,
            threshold: if is_distance { Settings::default().threshold } else { limit },
            within: is_distance.then_some(limit),
            recall,
            strategy: match count {
                0 => Strategy::Cheapest,
                _ => Strategy::Bands(Bands { count, rows }),
            },
            seed,
            ..Settings::default()
        })
    }

    fn shingling(&mut self) -> FileResult<Shingling> {
        let name = self.text()?;
        let mut shingling: Shingling = name.parse().map_err(FileFault::Refused)?;
        let unknown = || FileFault::Damaged("its shingling is unknown");
        shingling.case = *CASES.get(usize::from(self.byte()?)).ok_or_else(unknown)?;
        shingling.space = *SPACES.get(usize::from(self.byte()?)).ok_or_else(unknown)?;
        shingling.normal_form = *FORMS.get(usize::from(self.byte()?)).ok_or_else(unknown)?;
        shingling.bits = *BITS.get(usize::from(self.byte()?)).ok_or_else(unknown)?;
        let words = self.numbers()?;
        if let Unit::StopWords(list) = &mut shingling.unit {
            *list = Arc::new(StopWords::of_hashes(words));
        }
        Ok(shingling)
    }
}

// In the order of their numbers in a file.
const CASES: [Case; 2] = [Case::Fold, Case::Keep];
const SPACES: [Whitespace; 3] = [Whitespace::Fold, Whitespace::Drop, Whitespace::Keep];
const FORMS: [Option<NormalForm>; 3] = [None, Some(NormalForm::Nfc), Some(NormalForm::Nfkc)];
const BITS: [HashBits; 2] = [HashBits::ThirtyTwo, HashBits::SixtyFour];
const MEASURES: [Measure; 4] = [Measure::Jaccard, Measure::Bag, Measure::BagSum, Measure::Dice];

fn put(out: &mut impl Write, number: u64) -> io::Result<()> {
    out.write_all(&number.to_le_bytes())
}

fn put_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    put(out, text.len() as u64)?;
    out.write_all(text.as_bytes())
}

fn write_id(id: &Id, out: &mut impl Write) -> io::Result<()> {
    match id {
        Id::Int(number) => {
            out.write_all(&[0])?;
            put(out, *number as u64)
        }
        Id::Text(text) => {
            out.write_all(&[1])?;
            put_text(out, text)
        }
    }
}

fn write_settings(settings: &Settings, out: &mut impl Write) -> io::Result<()> {
    fn place<T: PartialEq>(known: &[T], one: &T) -> u8 {
        known.iter().position(|other| other == one).unwrap_or(known.len()) as u8
    }
    let Settings { shingling, measure, threshold, within, recall, strategy, seed, .. } = settings;
    put_text(out, &shingling.to_string())?;
    out.write_all(&[
        place(&CASES, &shingling.case),
        place(&SPACES, &shingling.space),
        place(&FORMS, &shingling.normal_form),
        place(&BITS, &shingling.bits),
    ])?;
    let words = match &shingling.unit {
        Unit::StopWords(list) => list.hashes(),
        _ => Vec::new(),
    };
    put(out, words.len() as u64)?;
    words.iter().try_for_each(|&word| put(out, word))?;
    put_text(out, measure.name())?;
    out.write_all(&[u8::from(within.is_some())])?;
    put(out, within.unwrap_or(*threshold).to_bits())?;
    put(out, recall.to_bits())?;
    put(out, *seed)?;
    let (count, rows) = strategy.bands().map_or((0, 0), |bands| (bands.count, bands.rows));
    put(out, count as u64)?;
    put(out, rows as u64)
}

fn read(from: impl Read, length: u64) -> FileResult<Index> {
    let left = length.checked_sub(8).ok_or(FileFault::Foreign)?;
    let mut input =
        IndexReader { from: ChecksumStream { inner: from, sum: Xxh3Default::new() }, left };
    let mut mark = [0; 8];
    input.fill(&mut mark).map_err(|_| FileFault::Foreign)?;
    if mark != *MARK {
        return Err(FileFault::Foreign);
    }
    let mut version = [0; 4];
    input.fill(&mut version)?;
    match u32::from_le_bytes(version) {
        VERSION => {}
        version if version < VERSION => return Err(FileFault::Older(version)),
        version => return Err(FileFault::Newer(version)),
    }
    let settings = input.settings()?;
    // An item takes at least the two numbers that say how long it is, and a byte.
    let count = input.count(17)?;
    let mut items = Vec::new();
    for _ in 0..count {
        let (id, elements) = (input.id()?, input.numbers()?);
        if !elements.is_sorted_by(|a, b| a < b) {
            return Err(FileFault::Damaged("elements are not in order"));
        }
        items.push((id, elements));
    }
    if input.left > 0 {
        return Err(FileFault::Damaged("it is longer than it says"));
    }
    let mut sum = [0; 8];
    input.from.inner.read_exact(&mut sum)?;
    if u64::from_le_bytes(sum) != input.from.sum.digest() {
        return Err(FileFault::Damaged("its checksum is wrong"));
    }
    fill(settings, items).map_err(FileFault::Refused)
}

/// An index of these sets.
fn fill(settings: Settings, items: Vec<(Id, Vec<u64>)>) -> Result<Index> {
    let mut index = Index::with_key(settings)?;
    in_pool(index.settings.threads, || {
        let search = &index.search;
        let record = |(id, elements): (Id, Vec<u64>)| (id, search.record(&elements));
        let (ids, records): (Vec<Id>, Vec<IndexRecord>) = items.into_par_iter().map(record).unzip();
        index.check_all_new(&ids)?;
        index.insert_many(ids, records);
        Ok(())
    })?;
    Ok(index)
}
