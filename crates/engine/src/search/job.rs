//! Going on where an earlier run was stopped.
//!
//! A [`Job`] is a folder for one run and those that go on with it. After a stage whose result is worth it,
//! the result is saved there, under a name that appears when all is written; a run that finds it takes it up
//! instead of doing the work. The folder of a job that is finished is removed.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use xxhash_rust::xxh3::xxh3_128;

use crate::cluster::Clustering;
use crate::error::{Advice, Error, Result};
use crate::matches::SimilarGroups;
use crate::observe::Stage;
use crate::spill::{self, Loader, Saver, Temp};

/// What a stage hands to the next, and what a run that goes on can take up instead of doing the stage again.
pub(super) trait StageResult {
    /// Gets ready to be saved; false where it is not worth it.
    fn settle(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Saves it.
    fn save(&self, save: &mut Saver) -> Result<()>;
}

impl StageResult for SimilarGroups {
    fn save(&self, save: &mut Saver) -> Result<()> {
        self.save(save)
    }
}

impl StageResult for Clustering {
    fn save(&self, save: &mut Saver) -> Result<()> {
        self.save(save)
    }
}

/// A folder that runs with the same purpose share, one at a time.
#[derive(Debug)]
pub struct Job {
    temp: Temp,
    /// What it is for and of which input, in every file that it saves.
    identity: String,
    _lock: File,
}

impl Job {
    /// Opens the job of this purpose in `temp`: `purpose` names everything that decides the result, and
    /// `input` is what tells whether the input has changed, which makes what was saved worthless.
    pub fn open(temp: &Path, purpose: &str, input: &str) -> Result<Self> {
        let named = format!("{} {} {purpose}", env!("CARGO_PKG_VERSION"), FORMAT);
        // Hidden, so that it is no document where the folder is an input.
        let name = format!(".nearkin-{:016x}", xxh3_128(named.as_bytes()) as u64);
        let folder = temp.join(name);
        let failed = |error: io::Error| Temp::passing(temp.to_owned()).failed(&error);
        match DirBuilder::new().mode(OWN).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => {}
        }
        check_own(&folder)?;
        let path = folder.join("lock");
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let error = Error::file(folder, "is in use by a run with the same arguments");
                return Err(error
                    .or("wait for it")
                    .or(Advice::with("temp", "name another folder")));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // A run that ended in between may have taken the folder with it.
        let same =
            |there: fs::Metadata| lock.metadata().is_ok_and(|ours| ours.ino() == there.ino());
        if !fs::metadata(&path).is_ok_and(same) {
            return Self::open(temp, purpose, input);
        }
        let seen = folder.join("input");
        let input = format!("{named}\n{input}");
        let identity = format!("{:032x}", xxh3_128(input.as_bytes()));
        if fs::read_to_string(&seen).is_ok_and(|before| before == input) {
            return Ok(Self { temp: Temp::lasting(folder), identity, _lock: lock });
        }
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.file_name().is_some_and(|name| name != "lock") {
                fs::remove_file(path).map_err(failed)?;
            }
        }
        fs::write(&seen, input).map_err(failed)?;
        Ok(Self { temp: Temp::lasting(folder), identity, _lock: lock })
    }

    fn folder(&self) -> &Path {
        self.temp.folder()
    }

    /// Where its temporary files go.
    pub(crate) fn temp(&self) -> Temp {
        self.temp.clone()
    }

    /// The job is done: nothing of it stays.
    pub fn finish(&self) {
        // What cannot be removed does no harm, and the result is there.
        let _ = fs::remove_dir_all(self.folder());
    }

    /// Saves what `write` writes under a name.
    pub(crate) fn save(
        &self,
        name: &str,
        write: impl FnOnce(&mut Saver) -> Result<()>,
    ) -> Result<()> {
        spill::save(&self.folder().join(name), &self.temp, |save| {
            save.text(&self.identity)?;
            write(save)
        })
    }

    /// Removes what has this name.
    pub(super) fn forget(&self, name: &str) {
        // What cannot be removed now is removed with the folder.
        let _ = fs::remove_file(self.folder().join(name));
    }

    /// What was saved under a name, if it is there, whole, and of this job.
    pub(crate) fn load<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut Loader) -> Option<T>,
    ) -> Option<T> {
        spill::load(&self.folder().join(name), &self.temp, |load| {
            (load.text()? == self.identity).then(|| read(load))?
        })
    }
}

impl Drop for Job {
    /// A job of which nothing was saved leaves nothing behind, and another only what was saved.
    fn drop(&mut self) {
        let is_saved = |stage: Stage| self.folder().join(stage.name()).exists();
        if ![Stage::Candidates, Stage::Load, Stage::Verify].into_iter().any(is_saved) {
            return self.finish();
        }
        if !is_saved(Stage::Load) {
            self.forget(RECORDS);
        }
        for stage in [Stage::Candidates, Stage::Load, Stage::Verify] {
            self.forget(&format!("{}.part", stage.name()));
        }
    }
}

/// The mode of a folder that is nobody else's affair.
const OWN: u32 = 0o700;

/// An error unless a folder is one that nobody else could have prepared: others may write where it is, and its name can
/// be guessed.
fn check_own(folder: &Path) -> Result<()> {
    let problem = match fs::symlink_metadata(folder) {
        Ok(there) if !there.is_dir() => "is no folder",
        Ok(there) if there.uid() != rustix::process::geteuid().as_raw() => {
            "belongs to somebody else"
        }
        Ok(there) if there.mode() & 0o022 != 0 => "can be written by others",
        Ok(there) if there.mode() & 0o777 == OWN => return Ok(()),
        Ok(_) => {
            let own = fs::set_permissions(folder, fs::Permissions::from_mode(OWN));
            return own.map_err(|error| Error::file(folder, error.to_string()));
        }
        Err(error) => return Err(Error::file(folder, error.to_string())),
    };
    let error = Error::file(folder, format!("{problem}: temporary files are not kept there"));
    Err(error.or("remove it").or(Advice::with("temp", "name another folder")))
}

/// Which start of the system this is. Files that were not brought to the disk are as they were left only while it
/// is the same.
pub(super) fn start_of_system() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Changes when what is saved changes its meaning.
const FORMAT: u32 = 12;

/// The name of the file with the records of candidates.
pub(super) const RECORDS: &str = "records";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_comes_back_unless_it_was_damaged_or_the_input_changed() {
        let temp = tempfile::tempdir().unwrap();
        let open = |input| Job::open(temp.path(), "a run", input).unwrap();
        let load = |job: &Job| {
            job.load("verify", |load| {
                let numbers: Vec<u32> = load.numbers()?;
                Some((load.number()?, numbers, load.text()?))
            })
        };
        let job = open("one");
        assert!(Job::open(temp.path(), "a run", "one").is_err(), "one at a time");
        assert_eq!(load(&job), None);
        job.save("verify", |save| {
            save.numbers(&[1u32, 2, 3])?;
            save.number(7)?;
            save.text("é")
        })
        .unwrap();
        let saved = Some((7, vec![1, 2, 3], "é".to_owned()));
        assert_eq!(load(&job), saved);
        drop(job);
        assert_eq!(load(&open("one")), saved);
        assert_eq!(load(&open("two")), None);
        let job = open("two");
        job.save("verify", |save| save.numbers(&[1u32, 2, 3])).unwrap();
        let path = job.folder().join("verify");
        let mut bytes = fs::read(&path).unwrap();
        bytes[9] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(load(&job), None);
        job.finish();
        assert!(fs::read_dir(temp.path()).unwrap().next().is_none());
    }

    #[test]
    fn a_stage_file_copied_from_another_job_was_accepted() {
        let temp = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "another"]
            .map(|purpose| Job::open(temp.path(), purpose, "the same input").unwrap());
        one.save("verify", |save| save.number(7)).unwrap();
        fs::copy(one.folder().join("verify"), other.folder().join("verify")).unwrap();
        assert_eq!(one.load("verify", Loader::number), Some(7));
        assert_eq!(other.load("verify", Loader::number), None);
    }

    #[test]
    fn a_link_in_a_shared_folder_emptied_the_folder_it_led_to() {
        let temp = tempfile::tempdir().unwrap();
        let open = || Job::open(temp.path(), "a run", "input");
        let job = open().unwrap();
        let folder = job.folder().to_owned();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        job.finish();
        drop(job);
        let victim = temp.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("precious"), "text").unwrap();
        std::os::unix::fs::symlink(&victim, &folder).unwrap();
        let message = open().unwrap_err().to_string();
        assert!(message.contains("is no folder: temporary files are not kept there"), "{message}");
        fs::remove_file(&folder).unwrap();
        // A folder that others can write to may hold anything.
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(open().unwrap_err().to_string().contains("can be written by others"));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(victim.join("precious"), folder.join("lock")).unwrap();
        assert!(open().is_err(), "a lock that is a link");
        assert_eq!(fs::read_to_string(victim.join("precious")).unwrap(), "text");
    }
}
