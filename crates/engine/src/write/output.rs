//! A file that appears whole or not at all.
//!
//! Bytes go to a temporary file beside the target, packed in blocks where the target's name ends in `.gz` or
//! `.zst`; [`Output::finish`] writes it to disk and renames it. What is not a regular file (standard
//! output, a pipe, `/dev/null`) is written directly.

use crate::{
    Error, Result,
    read::format::{Compression, by_extension},
};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
};
use tempfile::NamedTempFile;

use super::{
    blocks::{Block, Method},
    disk_sync::DiskSync,
    formulas::{FormulaMarker, Formulas},
    json_array::ArrayMaker,
    packers::{Packers, Resources, Turns},
    shard_folder::ShardFolder,
    table::output_format,
};

const BUFFER: usize = 256 << 10;

/// Where results go.
pub struct Output {
    name: PathBuf,
    /// Where the temporary file goes in the end; unlike `name`, never a link.
    target: PathBuf,
    sink: Sink,
    formulas: Option<FormulaMarker>,
    array: Option<ArrayMaker>,
}

enum Sink {
    Plain(BufWriter<RawSink>),
    Packed(PackedSink),
}

/// Blocks that are packed, and then written in order.
struct PackedSink {
    raw: RawSink,
    method: Method,
    /// The block that is being filled.
    open: Block,
    packers: Packers<Block, io::Result<Block>>,
    /// Blocks that were written.
    spare: Vec<Block>,
    is_empty: bool,
}

enum RawSink {
    Temporary(NamedTempFile, DiskSync),
    /// A file of a folder that is temporary as a whole.
    Shard(File, DiskSync),
    Direct(File),
    Stdout(io::Stdout),
}

impl Output {
    /// Creates the output for a path; `None` and `-` are standard output.
    pub fn create(target: Option<&Path>) -> Result<Self> {
        let Some(path) = target.filter(|path| path.as_os_str() != "-") else {
            check_stdout()?;
            let name = PathBuf::from("<stdout>");
            let sink = Sink::Plain(buffered(RawSink::Stdout(io::stdout())));
            return Ok(Self { target: name.clone(), name, sink, formulas: None, array: None });
        };
        // Through a link, so that the link stays and its file is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let raw = open(&target).map_err(|error| cannot_create(path, &target, &error))?;
        Ok(Self {
            name: path.to_path_buf(),
            target,
            sink: Sink::new(raw, by_extension(path).1),
            formulas: None,
            array: None,
        })
    }

    /// Creates a file in a folder of shards.
    pub(super) fn shard(
        folder: &ShardFolder,
        path: &Path,
        compression: Compression,
    ) -> Result<Self> {
        let name = folder.name_of(path);
        let file = folder.file(path).map_err(|error| cannot_write(&name, &error))?;
        let sink = Sink::new(RawSink::Shard(file, DiskSync::default()), compression);
        Ok(Self { target: name.clone(), name, sink, formulas: None, array: None })
    }

    /// Packs on several threads. To be said before the first byte.
    pub fn share(&mut self, resources: Resources) {
        if let Sink::Packed(sink) = &mut self.sink {
            sink.packers.share(resources, sink.method.most_memory());
        }
    }

    /// If threads pack: the turns of whoever makes what is written.
    pub(super) fn turns(&self) -> Option<Turns> {
        match &self.sink {
            Sink::Plain(_) => None,
            Sink::Packed(sink) => sink.packers.turns(),
        }
    }

    /// Writes everything to disk, under a temporary name still.
    pub fn ready(mut self) -> Result<CompleteOutput> {
        if let Some(mut formulas) = self.formulas.take() {
            self.put(formulas.rest())?;
        }
        if let Some(array) = self.array.take() {
            self.put(array.end())?;
        }
        let Self { name, target, sink, .. } = self;
        let flush = || -> io::Result<Option<NamedTempFile>> {
            let raw = match sink {
                Sink::Plain(plain) => plain.into_inner().map_err(io::IntoInnerError::into_error)?,
                Sink::Packed(packed) => packed.finish()?,
            };
            match raw {
                RawSink::Temporary(file, early) => {
                    early.finish()?;
                    file.as_file().sync_all()?;
                    Ok(Some(file))
                }
                RawSink::Shard(file, early) => {
                    early.finish()?;
                    file.sync_all()?;
                    Ok(None)
                }
                RawSink::Direct(_) => Ok(None),
                RawSink::Stdout(mut stdout) => stdout.flush().map(|()| None),
            }
        };
        let file = flush().map_err(|error| cannot_write(&name, &error))?;
        Ok(CompleteOutput(match file {
            Some(file) => Complete::File { name, target, file },
            None => Complete::Written,
        }))
    }

    /// Writes everything out; the file appears under its name now.
    pub fn finish(self) -> Result<()> {
        self.ready()?.appear()
    }

    /// What to call it in messages.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Writes these bytes; an error names the file.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(mut array) = self.array.take() {
            let written = array.each(bytes, |piece| self.write_all(piece));
            self.array = Some(array);
            return written.map_err(|error| cannot_write(&self.name, &error));
        }
        let Some(mut formulas) = self.formulas.take() else {
            return self.write_all(bytes).map_err(|error| cannot_write(&self.name, &error));
        };
        let written = self.write_all(formulas.mark(bytes));
        self.formulas = Some(formulas);
        written.map_err(|error| cannot_write(&self.name, &error))
    }

    /// From now on, lines of JSON are put, and become the elements of one array.
    pub(super) fn put_elements(&mut self) {
        self.array = Some(ArrayMaker::default());
    }

    /// From now on, rows with this delimiter are put, and this is done with formulas in them.
    pub(super) fn put_rows(&mut self, delimiter: u8, formulas: Formulas) {
        self.formulas = (formulas == Formulas::Marked).then(|| FormulaMarker::new(delimiter));
    }
}

/// An output that is complete and only has to appear: with several outputs, none appears before all are
/// complete.
#[must_use = "the output does not appear without a call to appear"]
#[derive(Debug)]
pub struct CompleteOutput(Complete);

#[derive(Debug)]
enum Complete {
    /// It was written in its place.
    Written,
    File {
        name: PathBuf,
        target: PathBuf,
        file: NamedTempFile,
    },
    Folder(ShardFolder),
}

impl CompleteOutput {
    pub(super) fn folder(folder: ShardFolder) -> Self {
        Self(Complete::Folder(folder))
    }

    /// The file or folder appears under its name now.
    pub fn appear(self) -> Result<()> {
        match self.0 {
            Complete::Written => Ok(()),
            Complete::File { name, target, file } => {
                file.persist(&target).map_err(|error| cannot_write(&name, &error.error))?;
                Ok(())
            }
            Complete::Folder(folder) => folder.appear(),
        }
    }
}

/// Checks that records or a table can be written under this name, before the work starts: that the folder exists,
/// and that the name tells the format.
pub fn check_table(target: &Path) -> Result<()> {
    check(target)?;
    output_format(Some(target), None).map(|_| ())
}

/// Checks that standard output is open: what is written there would be lost.
pub fn check_stdout() -> Result<()> {
    if !nearkin_kernels::stdout_was_closed() {
        return Ok(());
    }
    let error = Error::file("<stdout>", "is closed, so the output would be lost");
    Err(error.or("leave it open").or("send it to a file"))
}

/// Checks that a file of this name can be created.
pub fn check(target: &Path) -> Result<()> {
    let special = fs::metadata(target).is_ok_and(|it| !it.is_file() && !it.is_dir());
    if !special {
        drop(Output::create(Some(target))?);
    }
    Ok(())
}

/// Whether something was written where it cannot be taken back.
static PARTLY_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Whether an output has got something that does not appear as a whole: standard output, a pipe or a device.
pub fn is_partly_written() -> bool {
    PARTLY_WRITTEN.load(Ordering::Relaxed)
}

/// Temporary files that are there now.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file or folder is there from now on.
pub(super) fn keep_in_mind(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
}

/// A temporary file or folder is there no more.
pub(super) fn forget(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other != path);
}

/// Removes the temporary files of unfinished outputs, for a program that has to end at once.
pub fn remove_temporary_files() {
    // The thread that ends the program may be the one that holds the list.
    for _ in 0..1000 {
        let files = match TEMPORARY.try_lock() {
            Ok(files) => files,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                continue;
            }
        };
        for file in files.iter() {
            let _ = if file.is_dir() { fs::remove_dir_all(file) } else { fs::remove_file(file) };
        }
        return;
    }
}

impl PackedSink {
    fn new(raw: RawSink, method: Method) -> Self {
        let (open, packers) = (Block::new(method), Packers::new(Block::pack));
        Self { raw, method, open, packers, spare: Vec::new(), is_empty: true }
    }

    fn pack_open(&mut self) -> io::Result<()> {
        let next = self.spare.pop().unwrap_or_else(|| Block::new(self.method));
        self.packers.give(std::mem::replace(&mut self.open, next));
        self.is_empty = false;
        while let Some(block) = self.packers.take() {
            let block = block?;
            self.raw.write_all(block.packed())?;
            self.spare.push(block);
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<RawSink> {
        // Nothing, too, is a file that can be unpacked. The last block is packed here, while threads pack those before it.
        let last =
            (!self.open.is_empty() || self.is_empty).then(|| self.open.pack()).transpose()?;
        while let Some(block) = self.packers.take_last() {
            self.raw.write_all(block?.packed())?;
        }
        if let Some(block) = last {
            self.raw.write_all(block.packed())?;
        }
        Ok(self.raw)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Plain(sink) => sink.write(bytes),
            Sink::Packed(sink) => {
                let count = sink.open.fill(bytes);
                if sink.open.is_full() {
                    sink.pack_open()?;
                }
                Ok(count)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(sink) => sink.flush(),
            // A block that is cut here would make the bytes depend on when that is.
            Sink::Packed(_) => Ok(()),
        }
    }
}

impl Sink {
    fn new(raw: RawSink, compression: Compression) -> Self {
        match Method::of(compression) {
            None => Self::Plain(buffered(raw)),
            Some(method) => Self::Packed(PackedSink::new(raw, method)),
        }
    }
}

impl Write for RawSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Temporary(file, early) => {
                let count = file.as_file_mut().write(bytes)?;
                early.written(file.as_file(), count);
                Ok(count)
            }
            Self::Shard(file, early) => {
                let count = file.write(bytes)?;
                early.written(file, count);
                Ok(count)
            }
            Self::Direct(file) => {
                PARTLY_WRITTEN.store(true, Ordering::Relaxed);
                file.write(bytes)
            }
            Self::Stdout(stdout) => {
                PARTLY_WRITTEN.store(true, Ordering::Relaxed);
                stdout.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Temporary(..) | Self::Shard(..) | Self::Direct(_) => Ok(()),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

fn buffered(raw: RawSink) -> BufWriter<RawSink> {
    BufWriter::with_capacity(BUFFER, raw)
}

fn open(target: &Path) -> io::Result<RawSink> {
    let existing = fs::metadata(target).ok();
    if let Some(existing) = &existing {
        if existing.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !existing.is_file() {
            return OpenOptions::new().write(true).open(target).map(RawSink::Direct);
        }
    }
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&name).suffix(".part");
    // What a plain create gives, less the umask; tempfile alone would keep others out.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = loop {
        let file = builder.tempfile_in(folder_of(target))?;
        // A run that finds the file unlocked knows that nobody writes it any more, and removes it. That may have
        // happened in the moment before the lock.
        let _ = file.as_file().try_lock();
        if file.path().exists() {
            break file;
        }
    };
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    remove_leftovers(folder_of(target), &name);
    keep_in_mind(file.path());
    Ok(RawSink::Temporary(file, DiskSync::default()))
}

/// Removes temporary files of this output that killed runs left behind.
pub(super) fn remove_leftovers(folder: &Path, prefix: &std::ffi::OsStr) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        let random = random.and_then(|rest| rest.strip_suffix(b".part"));
        let ours = random.is_some_and(|random| {
            random.len() == 6 && random.iter().all(u8::is_ascii_alphanumeric)
        });
        if !ours || !File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            continue;
        }
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_file() => fs::remove_file(entry.path()),
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),
            _ => Ok(()), // a link is not followed
        };
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(super) fn cannot_create(path: &Path, target: &Path, error: &io::Error) -> Error {
    let folder = folder_of(target);
    let what = if error.kind() == io::ErrorKind::IsADirectory {
        "is a folder; name a file in it".to_owned()
    } else if !folder.exists() {
        format!("the folder {} does not exist; create it first", folder.display())
    } else {
        format!("cannot be created: {}; choose another place", plain(error))
    };
    Error::file(path, what)
}

/// The error for an output that cannot be written.
pub(super) fn cannot_write(name: &Path, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Error::Closed;
    }
    let what = format!("cannot write: {}; make room or choose another place", plain(error));
    Error::file(name, what)
}

/// The message without the operating system's number.
fn plain(error: &io::Error) -> String {
    let message = error.to_string();
    message.split(" (os error").next().unwrap_or_default().to_owned()
}
